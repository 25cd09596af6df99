"""Maps of asymmetric data, on which going up costs more than coming down.

The names below are imported when first used, so that ``import finsler`` stays fast; `__init__.pyi` shows them to
editors and type checkers.
"""

from finsler._lazy import exports

__version__ = "0.1.0"

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "estimators.mds": ["FinslerMDS"],
        "estimators.isomap": ["FinslerIsomap"],
        "embedding": ["Embedding"],
        "fields": ["embed_field"],
        "recipes": ["embed_matrix", "embed_pairs", "embed_graph", "embed_points"],
        "layouts": ["layout"],
        "rectangular": ["embed_rectangular"],
        "report": ["asymmetry_report"],
        "inference.asymmetry": ["asymmetry_test"],
        "inference.ellipses": ["confidence"],
        "inference.alignment": ["compare_maps"],
        "inference.series": ["embed_series"],
        "geometry.randers": ["randers_distances"],
        "models.compare": ["compare_models"],
        "learn.links": ["LinkPredictor"],
        "learn.digraph": ["DigraphEmbedding"],
        "datasets.flights": ["load_flight_hours"],
        "errors": ["InputError"],
    },
    subpackages=["cells", "datasets", "graphs", "inference", "learn", "models", "plotting"],
)
