"""A map as a network: its points, and those nodes behind it that are not on it, with the arcs that are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.labels import LabelIndex
from finsler.errors import InputError, MissingExtraError
from finsler.exports.columns import plain_values, point_columns
from finsler.exports.xml_text import speakable

LENGTH = "length"  # what arcs call theirs


@dataclass(frozen=True, eq=False)
class MapNetwork:
    """Nodes with what is known of them, and arcs between their numbers."""

    names: list[Any]
    columns: dict[str, NDArray[Any]]  #: Of the points of the map.
    points: list[int | None]  #: The point of each node, None for nodes that are not on the map.
    sources: NDArray[np.intp]
    targets: NDArray[np.intp]
    lengths: NDArray[np.float64]

    def about(self) -> list[dict[str, Any]]:
        """What is known of each node."""
        columns = {name: plain_values(values) for name, values in self.columns.items()}
        return [
            {}
            if point is None
            else {name: values[point] for name, values in columns.items() if values[point] is not None}
            for point in self.points
        ]

    def written_names(self) -> list[str]:
        """Names as text, each its own: numbers of the nodes, if two are written the same way."""
        written = [speakable(name) for name in self.names]
        return (
            written if len({*written}) == len(written) else [f"{k}: {text}" for k, text in enumerate(written)]
        )


def map_network(embedding: Any) -> MapNetwork:
    """Network behind a map; without one, its points and no arcs."""
    n, network = embedding.n_points, embedding.network
    columns = point_columns(embedding)
    names = list(range(n)) if embedding.labels is None else list(embedding.labels)
    if network is None:
        none = np.empty(0, dtype=np.intp)
        return MapNetwork(names, columns, list(range(n)), none, none, np.empty(0))
    points: list[int | None] = [None] * network.graph.n_nodes
    for point, node in enumerate(network.nodes.tolist()):
        points[node] = point
    every = [
        node if point is None else names[point]
        for node, point in zip(network.graph.nodes, points, strict=True)
    ]
    arcs = network.graph.matrix.tocoo()
    return MapNetwork(every, columns, points, arcs.row, arcs.col, arcs.data)


def to_networkx(embedding: Any, G: Any = None, store_pos_as: str | None = None) -> Any:
    """Map as a graph of networkx; see :meth:`finsler.Embedding.to_networkx`."""
    try:
        import networkx as nx
    except ImportError as error:
        raise MissingExtraError("to_networkx needs networkx: pip install 'finsler[graph]'.") from error
    found = map_network(embedding)
    if G is None:
        graph = nx.DiGraph()
        graph.add_nodes_from(found.names)
        ends = zip(found.sources.tolist(), found.targets.tolist(), found.lengths.tolist(), strict=True)
        graph.add_edges_from((found.names[i], found.names[j], {LENGTH: length}) for i, j, length in ends)
        nodes = found.names
    else:
        if not hasattr(G, "nodes") or not hasattr(G, "is_directed"):
            raise InputError(f"must be a graph of networkx, got {type(G).__name__}.", argument="G")
        graph = G.copy()
        known = LabelIndex(list(G), len(G), "node of G")
        nodes = [
            None if point is None else known.label(known.position(name, "G", exact=True))
            for name, point in zip(found.names, found.points, strict=True)
        ]
    for node, point, about in zip(nodes, found.points, found.about(), strict=True):
        if point is not None:
            graph.nodes[node].update(about)
            if store_pos_as is not None:
                graph.nodes[node][store_pos_as] = embedding.coordinates[point].copy()
    return graph
