"""The older models of asymmetric data, fitted to the same pairs, so that ours can be judged beside them."""

from __future__ import annotations

from finsler.models.compare import Comparison, ModelRecord, compare_models

__all__ = ["Comparison", "ModelRecord", "compare_models"]
