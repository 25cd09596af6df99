"""Link what docstrings call by its module, ``finsler.estimators.mds.FinslerMDS``, to the page of ``finsler.FinslerMDS``."""

from __future__ import annotations

import pkgutil
from functools import cache
from importlib import import_module
from typing import Any

import finsler


@cache
def aliases() -> dict[str, list[str]]:
    """The full name of everything that a package exports, to the names under which it does."""
    found: dict[str, list[str]] = {}
    inside = [f"finsler.{module.name}" for module in pkgutil.iter_modules(finsler.__path__) if module.ispkg]
    for package in map(import_module, ["finsler", *inside]):
        for name in getattr(package, "__all__", ()):
            thing = getattr(package, name)
            if hasattr(thing, "__qualname__"):
                found.setdefault(f"{thing.__module__}.{name}", []).append(f"{package.__name__}.{name}")
    return found


def _resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    target = node.get("reftarget", "")
    python = env.get_domain("py")
    for full, public in aliases().items():
        if target == full or target.startswith(f"{full}."):
            for name in public:
                wanted = name + target[len(full) :]
                link = python.resolve_xref(env, node["refdoc"], app.builder, "obj", wanted, node, content)
                if link is not None:
                    return link
    return None


def setup(app: Any) -> dict[str, bool]:
    """Ask `_resolve` about references that Sphinx cannot resolve."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
