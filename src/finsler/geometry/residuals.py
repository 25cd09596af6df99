"""Which ordered pairs a map gets wrong, and by how much: the pairs with the largest part in its stress."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.randers import randers_distance_blocks

Array = NDArray[Any]

ROUNDING = 1e-18  # a part in the stress below this share of the largest squared dissimilarity is rounding


class Misfits(NamedTuple):
    """Ordered pairs, those with the largest part in the stress first."""

    start: NDArray[np.intp]  #: Where each begins.
    end: NDArray[np.intp]  #: Where it ends.
    value: Array  #: Its dissimilarity; a negative one is a bound, "at least".
    distance: Array  #: On the map.
    part: Array  #: Its part in the stress: weight times squared error.
    total: float  #: The stress of all pairs that were looked at.


def worst_pairs(
    X: Array,
    D: Array,
    weights: Array | None,
    top: int,
    *,
    among: NDArray[np.intp] | None = None,
    **metric: Any,
) -> Misfits:
    """Ordered pairs with the largest part in the stress, ties by their numbers; those that only rounding parts are none.

    Parameters
    ----------
    X : ndarray of shape (n, m)
        Coordinates; `metric` is the drift, and the swirl if there is one.
    D, weights : ndarray of shape (n, n)
        Checked dissimilarities, see :mod:`finsler.data.matrix`.
    top : int
        How many.
    among : ndarray of shape (k,), optional
        Only pairs of these points, whose positions here are then the numbers of the result.

    Examples
    --------
    >>> found = worst_pairs(np.array([[0.0], [1.0], [3.0]]), np.array([[0, 1, 2], [1, 0, 2], [3, 2, 0]]), None, 5, drift=0.0)
    >>> list(zip(found.start.tolist(), found.end.tolist(), found.part.tolist())), found.total
    ([(0, 2, 1.0)], 1.0)
    """
    shown = np.arange(len(X)) if among is None else among
    best, total, largest = np.empty((0, 5)), 0.0, 0.0
    for first, last, distance in randers_distance_blocks(X[shown], **metric):
        values, W = known_block(D, weights, shown[first:last], shown)
        values[W == 0] = 0.0
        misfit = np.where(values < 0, np.minimum(distance + values, 0.0), distance - values)
        part = W * misfit**2
        total += float(part.sum())
        few = min(top, part.size)
        chosen = np.argpartition(part.ravel(), -few)[-few:]
        i, j = np.divmod(chosen, len(shown))
        more = np.column_stack([part[i, j], first + i, j, values[i, j], distance[i, j]])
        best = np.vstack([best, more])
        best = best[np.lexsort((best[:, 2], best[:, 1], -best[:, 0]))][:top]
        largest = max(largest, float((W * values**2).max()))
    best = best[best[:, 0] > ROUNDING * largest]
    part, start, end, value, distance = best.T
    return Misfits(start.astype(np.intp), end.astype(np.intp), value, distance, part, total)


def known_block(D: Array, weights: Array | None, rows: Array, columns: Array) -> tuple[Array, Array]:
    """Dissimilarities and weights of a block; weight 0 where the value is unknown, and on the diagonal."""
    values = D[np.ix_(rows, columns)].astype(float)
    W = np.ones_like(values) if weights is None else weights[np.ix_(rows, columns)].astype(float)
    W[~np.isfinite(values) | (rows[:, None] == columns[None, :])] = 0.0
    return values, W
