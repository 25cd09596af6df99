"""Maps of cells in AnnData objects: stem cells on top, fates as valleys (``pip install 'finsler[cells]'``).

Going up costs more, so cells flow down. AnnData is only asked for what it holds; no package of single cells is imported.
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "maps": ["embed", "find_map"],
        "scores": [
            "FlowScores",
            "cross_boundary_correctness",
            "in_cluster_coherence",
            "transition_probabilities",
            "velocities_on_map",
        ],
    },
)
