"""Pure functions on arrays: Randers distances, stress, heights, asymmetry.

What is not listed here is internal: `pairs` (ordered pairs by tiles and rows, and what some rows tell of all) and
`components` (which points are connected).
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "randers": ["drift_vector", "randers_distances", "randers_norm", "check_randers", "zermelo_metric"],
        "stress": ["raw_stress", "normalized_stress", "stress1"],
        "scaling": ["Scaling"],
        "disparities": ["Transformation"],
        "heights": ["gradient_heights", "local_extrema"],
        "asymmetry": ["asymmetry_shown"],
        "pairs": ["AsymmetryShown"],
    },
)
