"""Who can be reached from whom along the arcs of a digraph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from finsler._memory import require_memory
from finsler.geometry.components import graph_components
from finsler.graphs.arc_set import Integers
from finsler.kernels.reach import closure, count_reached


class Reach:
    """All pairs of nodes that a directed path joins: a bit for each pair of strongly connected parts.

    Attributes
    ----------
    ahead, behind : ndarray of shape (n_nodes,)
        How many other nodes can be reached from each, and from how many others it can be reached.

    Examples
    --------
    >>> reach = Reach(np.array([[0, 1], [1, 2], [2, 1], [2, 3]]), 5)
    >>> reach.contains(np.array([[0, 3], [3, 0], [2, 1], [0, 4]]))
    array([ True, False,  True, False])
    >>> reach.ahead, reach.behind
    (array([3, 2, 2, 0, 0]), array([0, 2, 2, 3, 0]))
    """

    def __init__(self, arcs: Integers, n_nodes: int):
        ones = np.ones(len(arcs), dtype=bool)
        graph = coo_array((ones, (arcs[:, 0], arcs[:, 1])), shape=(n_nodes, n_nodes))
        self._part = graph_components(graph.tocsr(), "strong")
        count = int(self._part.max(initial=-1)) + 1
        ends = self._part[arcs]
        ends = ends[ends[:, 0] != ends[:, 1]]
        between = coo_array((np.ones(len(ends), dtype=bool), tuple(ends.T)), shape=(count, count)).tocsr()
        words = (count + 63) // 64
        require_memory(8.0 * count * words, f"paths between {count:,} parts", "Use a graph of fewer nodes.")
        self._ahead = np.zeros((count, words), dtype=np.uint64)
        closure(between.indptr, between.indices, self._ahead)
        sizes = np.bincount(self._part, minlength=count)
        forward, backward = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
        count_reached(self._ahead, sizes, forward, backward)
        self.ahead, self.behind = forward[self._part] - 1, backward[self._part] - 1

    def contains(self, pairs: Integers) -> NDArray[np.bool_]:
        """Which of the ordered pairs (i, j) are joined by a path from i to j; a node reaches itself."""
        start, end = self._part[pairs[:, 0]].astype(np.int64), self._part[pairs[:, 1]].astype(np.uint64)
        found: Any = self._ahead[start, end >> np.uint64(6)] >> (end & np.uint64(63))
        return np.asarray(found & np.uint64(1), dtype=bool)
