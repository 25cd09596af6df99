"""The dense solver and the shortest paths on Dask (``pip install 'finsler[distributed]'``).

``FinslerMDS().fit(D)`` comes here by itself when ``D`` is a Dask array. Whatever client is active is used, or Dask's default
scheduler without one. The names below are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "shortest_paths": "finsler.graphs.dask_paths",
    "pivot_distances": "finsler.graphs.dask_paths",
    "dask_backend": "finsler.solvers.backends.dask",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'finsler.solvers.backends' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
