"""Pictures of maps, of the data behind them and of the fit, with matplotlib (``pip install 'finsler[plot]'``).

Functions draw on the Axes that ``ax`` names, or on a new figure, and return the Axes. They never choose a backend and
never call ``show``. The names below are imported when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

_MODULES = {
    "plot_map": "finsler.plotting.static",
    "unit_ball": "finsler.plotting.static",
    "plot_field": "finsler.plotting.fields",
    "plot_height": "finsler.plotting.fields",
    "plot_shepard": "finsler.plotting.diagnostics",
    "plot_asymmetry": "finsler.plotting.diagnostics",
    "plot_heatmaps": "finsler.plotting.diagnostics",
    "plot_stress_per_point": "finsler.plotting.fits",
    "plot_history": "finsler.plotting.fits",
    "plot_scree": "finsler.plotting.fits",
}

__all__ = list(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'finsler.plotting' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
