"""Link what docstrings call by its module, ``finsler.estimators.mds.FinslerMDS``, to the page of ``finsler.FinslerMDS``."""

from __future__ import annotations

from typing import Any

import finsler
import finsler.datasets
import finsler.plotting


def _aliases() -> dict[str, str]:
    """Public name of what is defined in an internal module, by its full name there."""
    aliases = {}
    for package in (finsler.plotting, finsler.datasets, finsler):  # the shortest name wins
        for name in package.__all__:
            module = getattr(getattr(package, name), "__module__", None)
            if module:
                aliases[f"{module}.{name}"] = f"{package.__name__}.{name}"
    return aliases


def _resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    target = node.get("reftarget", "")
    for full, public in _aliases().items():
        if target == full or target.startswith(f"{full}."):
            name = public + target[len(full) :]
            python = env.get_domain("py")
            return python.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
    return None


def setup(app: Any) -> dict[str, bool]:
    """Ask `_resolve` about references that Sphinx cannot resolve."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
