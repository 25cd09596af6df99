"""Arcs as plain arrays of node numbers, and looking them up."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler.errors import InputError
from finsler.graphs.digraph import Digraph, as_digraph

Integers = NDArray[np.integer[Any]]


def simple_arcs(graph: Any, n_nodes: int | None = None) -> tuple[Integers, int]:
    """Arcs of a graph without self-loops and repetitions, sorted, and the number of nodes.

    Parameters
    ----------
    graph : Digraph, integer array of shape (E, 2), or anything that `finsler.graphs.digraph.as_digraph` takes
        An integer array lists arcs between nodes 0..n_nodes-1, some of which may have none; its self-loops and
        repetitions are left out silently. Lengths of arcs do not matter.
    n_nodes : int, optional
        Number of nodes, for an array of arcs; by default the largest number in it, plus one.

    Examples
    --------
    >>> arcs, n = simple_arcs(np.array([[2, 0], [1, 1], [0, 1], [2, 0]]))
    >>> arcs.tolist(), n
    ([[0, 1], [2, 0]], 3)
    """
    if isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.shape[1] == 2 and graph.dtype.kind in "iu":
        arcs = graph.astype(np.int64)
        if arcs.size == 0:
            raise InputError("The graph has no arcs.")
        n = int(arcs.max()) + 1 if n_nodes is None else int(n_nodes)
        outside = np.flatnonzero((arcs.min(axis=1) < 0) | (arcs.max(axis=1) >= n))
        if outside.size:
            raise InputError(
                f"Arcs must join nodes 0..{n - 1}; arc {outside[0]} joins {arcs[outside[0]].tolist()} "
                f"({outside.size} of {len(arcs)} are outside)."
            )
    else:
        digraph = graph if isinstance(graph, Digraph) else as_digraph(graph, weight=None)
        n = digraph.n_nodes
        if n_nodes is not None and n_nodes != n:
            raise InputError(f"n_nodes={n_nodes}, but the graph has {n} nodes; leave n_nodes out.")
        matrix = digraph.matrix.tocoo()
        arcs = np.column_stack([matrix.row, matrix.col]).astype(np.int64)
    keys = np.unique(arc_keys(arcs[arcs[:, 0] != arcs[:, 1]], n))
    if not keys.size:
        raise InputError("The graph has no arcs between different nodes.")
    return keyed_arcs(keys, n), n


def check_arcs(arcs: ArrayLike, n_nodes: int) -> NDArray[np.int64]:
    """Arcs as an integer array of shape (E, 2), refused unless they join nodes 0..n_nodes-1.

    Examples
    --------
    >>> check_arcs([(0, 1), (1, 2)], 3).shape
    (2, 2)
    """
    pairs = np.asarray(arcs)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise InputError(
            f"arcs must be a non-empty integer array of shape (E, 2), from and to; found shape {pairs.shape}, "
            f"dtype {pairs.dtype}."
        )
    if pairs.min() < 0 or pairs.max() >= n_nodes:
        raise InputError(
            f"arcs must join nodes 0..{n_nodes - 1}; found numbers from {pairs.min()} to {pairs.max()}."
        )
    return pairs.astype(np.int64)


def arc_keys(pairs: Integers, n_nodes: int) -> Integers:
    """One number for each ordered pair of nodes, increasing with the first node and then the second.

    Examples
    --------
    >>> arc_keys(np.array([[0, 1], [2, 0]]), 10)
    array([ 1, 20])
    """
    return pairs[:, 0] * np.int64(n_nodes) + pairs[:, 1]


def keyed_arcs(keys: Integers, n_nodes: int) -> Integers:
    """Ordered pairs of nodes of some `arc_keys`.

    Examples
    --------
    >>> keyed_arcs(np.array([1, 20]), 10).tolist()
    [[0, 1], [2, 0]]
    """
    return np.column_stack([keys // n_nodes, keys % n_nodes])


def among_keys(sorted_keys: Integers, keys: Integers) -> NDArray[np.bool_]:
    """Which keys are among the sorted ones.

    Examples
    --------
    >>> among_keys(np.array([1, 20]), np.array([20, 21, 1]))
    array([ True, False,  True])
    """
    if not len(sorted_keys):
        return np.zeros(len(keys), dtype=bool)
    place = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    return np.asarray(sorted_keys[place] == keys)
