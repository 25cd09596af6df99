"""Maps of asymmetric data, on which going up costs more than coming down.

The names below are imported when first used, so that ``import finsler`` stays fast; `__init__.pyi` shows them to
editors and type checkers.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_MODULES = {
    "FinslerMDS": "finsler.estimators.mds",
    "FinslerIsomap": "finsler.estimators.isomap",
    "Embedding": "finsler.embedding",
    "embed_matrix": "finsler.recipes",
    "embed_graph": "finsler.recipes",
    "embed_points": "finsler.recipes",
    "asymmetry_report": "finsler.geometry.asymmetry",
    "randers_distances": "finsler.geometry.randers",
    "compare_models": "finsler.models.compare",
    "LinkPredictor": "finsler.learn.links",
    "DigraphEmbedding": "finsler.learn.digraph",
    "load_flight_hours": "finsler.datasets.flights",
    "InputError": "finsler.errors",
}

__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'finsler' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
