"""Link what docstrings call by its home, ``finsler.estimators.mds.FinslerMDS``, to the page of ``finsler.FinslerMDS``."""

from __future__ import annotations

from typing import Any

import finsler
import finsler.plotting


def _aliases() -> dict[str, str]:
    doors = {"finsler": finsler._MODULES, "finsler.plotting": finsler.plotting._MODULES}
    return {
        f"{home}.{name}": f"{door}.{name}" for door, homes in doors.items() for name, home in homes.items()
    }


def _resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    target = node.get("reftarget", "")
    for home, public in _aliases().items():
        if target == home or target.startswith(f"{home}."):
            name = public + target[len(home) :]
            python = env.get_domain("py")
            return python.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, content)
    return None


def setup(app: Any) -> dict[str, bool]:
    """Ask `_resolve` about references that Sphinx cannot resolve."""
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
