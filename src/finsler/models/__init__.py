"""The older models of asymmetric data, fitted to the same pairs, so that ours can be judged beside them.

What is not listed here is internal.
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__, {"compare": ["compare_models", "Comparison", "ModelRecord"]}
)
