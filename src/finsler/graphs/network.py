"""The digraph behind a map: whose shortest paths its distances are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from finsler.graphs.digraph import Digraph


class Network(NamedTuple):
    """A digraph and which of its nodes are the points of a map.

    Examples
    --------
    >>> from finsler import embed_graph
    >>> streets = [("a", "b", 1), ("b", "c", 1), ("c", "a", 2), ("c", "b", 1), ("b", "a", 1)]
    >>> embed_graph(streets, nodes=["c", "a"]).network.nodes.tolist()
    [2, 0]
    """

    graph: Digraph  #: Its arcs carry their lengths, its nodes their attributes.
    nodes: NDArray[np.intp]  #: The node of each point of the map; there may be more nodes than points.

    @classmethod
    def whole(cls, graph: Digraph) -> Network:
        """Network whose nodes are the points of the map, in the same order."""
        return cls(graph, np.arange(graph.n_nodes))

    @property
    def attributes(self) -> dict[str, NDArray[Any]]:
        """What is known of the points of the map."""
        return {name: values[self.nodes] for name, values in self.graph.attributes.items()}

    def counted(self) -> Digraph:
        """The digraph with every arc as long as any other: ways then have the fewest arcs."""
        old = self.graph.matrix
        ones = csr_array((np.ones_like(old.data), old.indices, old.indptr), shape=old.shape)
        return replace(self.graph, matrix=ones)

    def knowing(self, about: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """What is known of all nodes, with more about those that are points of the map; NaN or no word for the others.

        Examples
        --------
        >>> from finsler.graphs import as_digraph
        >>> Network(as_digraph([("a", "b"), ("b", "c")]), np.array([2, 0])).knowing({"lon": np.array([7.0, 8.0])})
        {'lon': array([ 8., nan,  7.])}
        """
        known = dict(self.graph.attributes)
        for name, values in about.items():
            numbers = values.dtype.kind in "biuf"
            whole = np.full(self.graph.n_nodes, np.nan if numbers else "", dtype=float if numbers else object)
            if name in known and (known[name].dtype.kind in "biuf") == numbers:
                whole[:] = known[name]
            whole[self.nodes] = values
            known[name] = whole if numbers else whole.astype(str)
        return known

    def among(self, points: NDArray[np.intp]) -> Network:
        """Network of a map of some of the points, given by their places; the graph stays whole."""
        return Network(self.graph, self.nodes[points])
