"""Peaks and pits of a height over a neighborhood graph: where a current springs up, and where it gathers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse

from finsler.errors import InputError, InputTypeError
from finsler.geometry.components import graph_components


class Extrema(NamedTuple):
    """Indices of the local maxima, highest first, and of the local minima, lowest first."""

    maxima: NDArray[np.intp]
    minima: NDArray[np.intp]


def local_extrema(height: ArrayLike, graph: Any, *, hops: int = 1) -> Extrema:
    """Find the points that are higher, or lower, than all their neighbors.

    Neighbors of equal height form a plateau, which is judged as a whole and reported by its first point. A plateau with
    no neighbor outside (an isolated point, a flat component) is neither.

    Parameters
    ----------
    height : array-like of shape (n,)
        Where it is NaN, a point neither is an extremum nor hinders one.
    graph : scipy sparse array of shape (n, n)
        Each stored entry, zero too, makes its row and its column neighbors of each other.
    hops : int
        Compare with all points within this many steps; more leave fewer, more prominent extrema.

    Returns
    -------
    Extrema
        ``(maxima, minima)``, arrays of indices.

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> path = diags_array([1.0, 1.0, 1.0, 1.0], offsets=1, shape=(5, 5))
    >>> maxima, minima = local_extrema([0.0, 2.0, 1.0, 1.0, 3.0], path)
    >>> maxima.tolist(), minima.tolist()
    ([4, 1], [0, 2])
    """
    values = np.asarray(height, dtype=float)
    if values.ndim != 1:
        raise InputError(f"height must hold one number per point, got shape {values.shape}.")
    n = len(values)
    if not issparse(graph):
        raise InputTypeError(f"graph must be a scipy sparse array, got {type(graph).__name__}.")
    if graph.shape != (n, n):
        raise InputError(f"graph must have a row and a column for each of the {n} points, got {graph.shape}.")
    if hops < 1:
        raise InputError(f"hops must be at least 1, got {hops}.")
    rows, columns = _neighbors(graph, ~np.isnan(values), hops)
    level = values[rows] == values[columns]
    flat = coo_array((np.ones(level.sum()), (rows[level], columns[level])), shape=(n, n))
    plateau = graph_components(flat)
    rises, falls = np.zeros((2, n), dtype=bool)  # whether the plateau has a higher, and a lower neighbor
    rises[plateau[rows[values[columns] > values[rows]]]] = True
    falls[plateau[rows[values[columns] < values[rows]]]] = True
    first = np.unique(plateau, return_index=True)[1]
    maxima, minima = first[(falls & ~rises)[: len(first)]], first[(rises & ~falls)[: len(first)]]
    highest, lowest = np.argsort(-values[maxima], kind="stable"), np.argsort(values[minima], kind="stable")
    return Extrema(maxima[highest], minima[lowest])


def _neighbors(graph: Any, known: NDArray[np.bool_], hops: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ordered pairs of different points within some steps of each other, unknown heights left out."""
    stored = graph.tocoo()
    pattern = csr_array((np.ones(stored.nnz, dtype=bool), (stored.row, stored.col)), shape=graph.shape)
    pattern = pattern + pattern.T
    reach = pattern
    for _ in range(hops - 1):
        reach = reach + reach @ pattern
    pairs = reach.tocoo()
    kept = (pairs.row != pairs.col) & known[pairs.row] & known[pairs.col]
    return pairs.row[kept], pairs.col[kept]
