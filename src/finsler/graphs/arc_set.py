"""Arcs as plain arrays of node numbers, and sets of arcs that can be asked for pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import named
from finsler._memory import require_memory
from finsler.errors import InputError, check_count
from finsler.graphs.digraph import Digraph, as_digraph

Integers = NDArray[np.integer[Any]]
PER_NODE = 64  # bytes of the counts, orders and components that graphs keep per node


class ArcSet:
    """Arcs that can be asked whether they contain a pair, many pairs at once."""

    def __init__(self, arcs: Integers, n_nodes: int):
        self.n_nodes = n_nodes
        self._keys = np.sort(arc_keys(arcs, n_nodes))

    def contains(self, pairs: Integers) -> NDArray[np.bool_]:
        """Which of the ordered pairs are among the arcs."""
        if not len(self._keys):
            return np.zeros(len(pairs), dtype=bool)
        keys = arc_keys(pairs, self.n_nodes)
        place = np.minimum(np.searchsorted(self._keys, keys), len(self._keys) - 1)
        return np.asarray(self._keys[place] == keys)


def arc_keys(pairs: Integers, n_nodes: int) -> Integers:
    """One number for each ordered pair of nodes, increasing with the first node and then the second."""
    return pairs[:, 0] * np.int64(n_nodes) + pairs[:, 1]


def arcs_of_keys(keys: Integers, n_nodes: int) -> Integers:
    """Ordered pairs of nodes of some `arc_keys`."""
    return np.column_stack([keys // n_nodes, keys % n_nodes])


def neighbor_pairs(arcs: Integers, n_nodes: int) -> tuple[Integers, Integers]:
    """Unordered pairs of neighbors, sorted, the smaller node first, and the position among them of each arc."""
    keys, of_arc = np.unique(arc_keys(np.sort(arcs, axis=1), n_nodes), return_inverse=True)
    return arcs_of_keys(keys, n_nodes), of_arc.reshape(-1)


def simple_arcs(graph: Any, n_nodes: int | None = None) -> tuple[Integers, int]:
    """Arcs of a graph without self-loops and repetitions, sorted, and the number of nodes; lengths do not matter.

    It takes what `finsler.graphs.digraph.as_digraph` does; but an integer array of shape (E, 2) lists arcs between nodes
    0..n_nodes-1, some of which may have none; the last is by default the largest number in it.
    """
    if n_nodes is not None:
        check_count("n_nodes", n_nodes)
    if isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] == 2 and graph.dtype.kind in "iu":
        n = int(graph.max(initial=-1)) + 1 if n_nodes is None else int(n_nodes)
        arcs = check_arcs(graph, n)
    else:
        digraph = graph if isinstance(graph, Digraph) else as_digraph(graph, weight=None)
        n = digraph.n_nodes
        if n_nodes is not None and n_nodes != n:
            raise InputError(
                f"n_nodes={n_nodes}, but the graph has {n} nodes; leave n_nodes out.", argument="n_nodes"
            )
        matrix = digraph.matrix.tocoo()
        arcs = np.column_stack([matrix.row, matrix.col]).astype(np.int64)
    keys = np.unique(arc_keys(arcs[arcs[:, 0] != arcs[:, 1]], n))
    if not keys.size:
        raise InputError("The graph has no arcs between different nodes.")
    return arcs_of_keys(keys, n), n


def check_arcs(arcs: ArrayLike, n_nodes: int) -> NDArray[np.int64]:
    """Arcs as an integer array of shape (E, 2), refused unless they join nodes 0..n_nodes-1."""
    try:
        pairs = np.asarray(arcs)
    except ValueError as error:  # rows of different lengths
        raise named(error, "arcs") from error
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise InputError(
            f"arcs must be a non-empty integer array of shape (E, 2), from and to; found shape {pairs.shape}, "
            f"dtype {pairs.dtype}."
        )
    check_count("n_nodes", n_nodes)
    require_memory(PER_NODE * n_nodes, f"a graph of n_nodes = {n_nodes:,}", "Use fewer nodes.")
    outside = np.flatnonzero((pairs.min(axis=1) < 0) | (pairs.max(axis=1) >= n_nodes))
    if outside.size:
        raise InputError(
            f"arcs must join nodes 0..{n_nodes - 1}; arc {outside[0]} joins {pairs[outside[0]].tolist()} "
            f"({outside.size} of {len(pairs)} are outside). Are there as many nodes (n_nodes), or points?",
            argument="arcs",
        )
    return pairs.astype(np.int64)
