"""Which points are connected: of a sparse graph, of a dense matrix, of pairs that come in parts.

Everything that asks this asks here. Components are numbered by their first points: 0 is that of point 0.
SciPy's search is for sparse graphs only: of a dense matrix it would drop entries below 1e-8.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.intp]
Linked = Callable[[int, Integers], NDArray[np.bool_]]  # which of some points are linked with a point


def graph_components(graph: Any, connection: str = "weak") -> Integers:
    """Component of each node of a sparse graph, in which every stored entry is an arc, a stored zero too.

    A "weak" connection is one whatever the directions of the arcs; in a "strong" one each node reaches each other one.
    """
    # Here, for what only looks at a map is fast without it.
    from scipy.sparse.csgraph import connected_components

    return _by_first(connected_components(graph, directed=True, connection=connection)[1])


def matrix_components(weights: NDArray[Any]) -> Integers:
    """Component of each point when pairs with a positive weight, in either direction, are connected."""
    return linked_components(
        len(weights), lambda i, others: (weights[i, others] > 0) | (weights[others, i] > 0)
    )


def linked_components(n: int, linked: Linked) -> Integers:
    """Component of each of n points by a symmetric relation: ``linked(i, others)`` says who of some is linked with i."""
    component, others, count = np.full(n, -1, dtype=np.intp), np.arange(n), 0
    while others.size:
        found = reached(int(others[0]), others[1:], linked)
        component[found] = count
        others, count = others[component[others] < 0], count + 1
    return component


def reached(start: int, others: Integers, linked: Linked) -> list[int]:
    """Start, and those of the others that it reaches by steps to points that are linked; it stops when it has all."""
    queue = [start]
    for i in queue:
        if not others.size:
            break
        step = linked(i, others)
        queue.extend(others[step].tolist())
        others = others[~step]
    return queue


def pair_components(n: int, parts: Iterable[tuple[NDArray[Any], NDArray[Any]]]) -> Integers:
    """Component of each of n points, where pairs ``(i, j)`` that come in parts, as arrays, are connected.

    Only one part is held at a time.
    """
    from scipy.sparse import coo_array

    everyone, component = np.arange(n), np.arange(n)
    for i, j in parts:
        # The first point of each component so far, whose points lead to it.
        first = np.unique(component, return_index=True)[1]
        ends = np.concatenate([everyone, i]), np.concatenate([first[component], j])
        component = graph_components(coo_array((np.ones(len(ends[0]), bool), ends), shape=(n, n)))
    return component


def largest_component(component: Integers) -> Integers:
    """Positions of the points of the largest component; among those of one size, of the first."""
    return np.flatnonzero(component == np.argmax(np.bincount(component)))


def _by_first(component: NDArray[Any]) -> Integers:
    """Number components by their first points."""
    _, first, component = np.unique(component, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[component]
