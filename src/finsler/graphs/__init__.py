"""Digraphs: read, measured by shortest paths, taken apart, made from points.

What is not listed here is internal: `arcs` (lists of arcs from objects in memory), `arc_set` (arcs as arrays of node
numbers).
"""

from finsler._lazy import exports

__all__, __getattr__, __dir__ = exports(
    __name__,
    {
        "digraph": ["Digraph", "as_digraph", "largest_component"],
        "readers": ["open_file", "read_graph"],
        "distances": ["graph_distances"],
        "paths": ["shortest_paths", "dask_shortest_paths"],
        "routes": ["Route"],
        "pivots": ["PivotDistances", "pivot_distances"],
        "neighbors": ["neighborhood_graph", "geodesic_distances"],
        "wormholes": ["consistency_weights", "find_boundary"],
        "scores": ["digraph_scores", "symmetric_floor"],
    },
)
