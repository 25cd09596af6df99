"""The dense solver and the shortest paths on Dask (``pip install 'finsler[distributed]'``).

``FinslerMDS().fit(D)`` comes here by itself when ``D`` is a Dask array. Whatever client is active is used, or Dask's default
scheduler without one. The names below are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_HOME = {
    "shortest_paths": "finsler.distributed.paths",
    "pivot_distances": "finsler.distributed.paths",
    "dask_home": "finsler.distributed.home",
}

__all__ = list(_HOME)


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'finsler.distributed' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
