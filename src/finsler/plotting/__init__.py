"""Pictures of maps, of the data behind them and of the fit (``pip install 'finsler[plot]'``).

Functions draw with matplotlib on the Axes that ``ax`` names, or on a new figure, and return the Axes; they never choose
a backend and never call ``show``. ``explore`` writes a page for the browser. What is not listed here is internal.
A new name goes here, into ``__init__.pyi`` and into docs/api.rst.
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "maps": ["plot_map", "unit_ball"],
        "explorer": ["explore"],
        "fields": ["plot_field", "plot_height"],
        "places": ["plot_places"],
        "routes": ["plot_route"],
        "residuals": ["plot_residuals"],
        "models": ["plot_model"],
        "diagnostics": ["plot_shepard", "plot_asymmetry", "plot_heatmaps"],
        "stress": ["plot_stress_per_point", "plot_history", "plot_scree"],
        "inference": [
            "plot_null",
            "plot_confidence",
            "plot_alignment",
            "plot_dimensions",
            "plot_cross_validation",
            "plot_series",
        ],
    },
)
