"""Stress of a map: how far its Randers distances are from the data.

    stress(X) = sum over ordered pairs of w_ij (d_ij - D_ij)^2

``D`` is from row to column; ``weights`` of None means 1 for every pair off the diagonal. Where a weight is 0,
``D`` may be NaN or inf. A negative entry ``-b``, with a weight, is a bound "at least b": it costs only where the map is
closer than b.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments
from finsler._runtime import map_blocks
from finsler.errors import InputError
from finsler.geometry.randers import Array, drift_vector, randers_distance_blocks
from finsler.geometry.swirl import drift_at, swirl_matrix
from finsler.kernels.swirl import stress_of_points as swirl_stress_of_points
from finsler.kernels.tiles import stress_of_points

PAIRS_OF_A_ROW = 64  # to begin a row takes about as long as so many pairs
BLOCKS = 16  # of rows; fixed, so that sums are added in the same order whatever the number of threads


def _arrays(X: Any, D: Any, weights: Any) -> tuple[Any, Any, Any]:
    X, D, weights = np.asarray(X, dtype=float), _floats(D), None if weights is None else _floats(weights)
    if X.ndim != 2 or X.shape[1] == 0:
        raise InputError(f"X must be a 2-D array, a row per point, got shape {X.shape}.", argument="X")
    if D.shape != (len(X), len(X)):
        raise InputError(
            f"X of shape {X.shape} needs D of shape ({len(X)}, {len(X)}), got {D.shape}.", argument="D"
        )
    if weights is not None and weights.shape != D.shape:
        raise InputError(
            f"weights must have the shape of D, {D.shape}, got {weights.shape}.", argument="weights"
        )
    return X, D, weights


def _floats(values: Any) -> Array:
    values = np.asarray(values)
    return values if np.issubdtype(values.dtype, np.floating) else values.astype(float)


def axes_first(X: Array) -> Array:
    """Coordinates as the kernels read them: one contiguous row per axis, at least three rows."""
    XT = np.zeros((max(3, X.shape[1]), len(X)))
    XT[: X.shape[1]] = X.T
    return XT


@lru_cache(maxsize=64)
def triangle_edges(n: int, blocks: int, rows: int | None = None) -> NDArray[np.intp]:
    """Edges of blocks that take about as long, of the first ``rows`` rows of an upper triangle of n."""
    rows = n if rows is None else rows
    blocks = max(1, min(blocks, rows // 32))
    width = n + PAIRS_OF_A_ROW
    cost = rows * (width - rows / 2) * np.arange(blocks + 1) / blocks
    edges = np.round(width - np.sqrt(np.maximum(width * width - 2 * cost, 0))).astype(np.intp)
    edges.flags.writeable = False  # they are kept
    return edges


def point_stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    swirl: float | ArrayLike | None = None, geodesic: bool = False, n_jobs: int | None = None,
) -> Array:  # fmt: skip
    """Stress of each point: half of every pair goes to either end, and they sum to the stress."""
    points, data, w = _arrays(X, D, weights)
    n, uniform, m = len(points), w is None, points.shape[1]
    omega = drift_vector(drift, m, below_one=swirl is None)
    height = points @ omega
    XT = axes_first(points)
    w = data[:0] if uniform else w
    K = None if swirl is None else swirl_matrix(swirl, m)
    OT = XT if K is None else axes_first(drift_at(points, omega, K))
    kappa = abs(float(K[1, 0])) if K is not None and geodesic else 0.0
    edges = triangle_edges(n, BLOCKS) if K is None else np.linspace(0, n, min(n, BLOCKS) + 1).astype(int)
    found = np.zeros((len(edges) - 1, n))

    def task(block: int, start: int, stop: int) -> None:
        if K is None:
            stress_of_points(data, w, XT, height, uniform, start, stop, found[block])
        else:
            swirl_stress_of_points(data, w, XT, OT, height, kappa, uniform, start, stop, found[block])

    map_blocks(task, edges, n_jobs if n > 300 else 1)
    return np.asarray(found.sum(axis=0) / 2)


def raw_stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    swirl: float | ArrayLike | None = None, geodesic: bool = False, n_jobs: int | None = None,
) -> float:  # fmt: skip
    """Raw stress of the map ``X``, the sum above; `drift`, `swirl` and `geodesic` as in ``randers_distances``."""
    check_arguments(raw_stress, locals())
    return float(
        point_stress(X, D, weights, drift=drift, swirl=swirl, geodesic=geodesic, n_jobs=n_jobs).sum()
    )


def normalized_stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    swirl: float | ArrayLike | None = None, geodesic: bool = False,
) -> float:  # fmt: skip
    """Root of ``sum w (d - D)^2 / sum w D^2``: 0 is a perfect map, and the scale of D does not matter.

    Examples
    --------
    >>> normalized_stress([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5).__round__(4)
    0.3162
    """
    check_arguments(normalized_stress, locals())
    X, D, weights = _arrays(X, D, weights)
    total = total_square(D, weights)
    raw = raw_stress(X, D, weights, drift=drift, swirl=swirl, geodesic=geodesic)
    return float(np.sqrt(raw / total)) if total > 0 else 0.0


def stress1(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    swirl: float | ArrayLike | None = None, geodesic: bool = False,
) -> float:  # fmt: skip
    """Kruskal's stress-1 of the map ``X``: the normalized stress at the scale of D that suits the map best; bounds left out.

    Examples
    --------
    >>> round(stress1([[0.0], [1.0]], [[0.0, 3.0], [1.0, 0.0]], drift=0.5), 6)
    0.0
    """
    check_arguments(stress1, locals())
    points, data, w = _arrays(X, D, weights)

    def rows() -> Iterator[tuple[Array, Array, Array]]:
        for start, stop, d in randers_distance_blocks(points, drift=drift, swirl=swirl, geodesic=geodesic):
            known = (
                np.ones(d.shape, dtype=bool) if w is None else (w[start:stop] > 0) & (data[start:stop] >= 0)
            )
            known[np.arange(stop - start), np.arange(start, stop)] = False
            values = data[start:stop][known].astype(float)
            yield d[known], values, np.ones(len(values)) if w is None else w[start:stop][known].astype(float)

    products = np.array([(v @ (d * d), v @ (d * D), v @ (D * D)) for d, D, v in rows()]).sum(axis=0)
    if not (products[0] > 0 and products[2] > 0):
        return 0.0
    slope = products[1] / products[2]
    # The same as 1 - (sum w d D)^2 / (sum w d^2 sum w D^2), without its cancellation.
    return float(np.sqrt(sum(v @ (d - slope * D) ** 2 for d, D, v in rows()) / products[0]))


def total_square(D: Any, weights: Any = None) -> float:
    """``sum w D^2`` over the ordered pairs off the diagonal, bounds left out."""
    D = np.asarray(D)
    total = 0.0
    for i in range(len(D)):
        row = D[i].astype(float)
        if weights is None:
            row[i] = 0.0
            total += float(row @ row)
        else:
            w = np.asarray(weights[i], dtype=float)
            known = (w > 0) & (row >= 0)
            known[i] = False
            with np.errstate(over="ignore"):  # whoever asks refuses a sum that is no number
                total += float(w[known] @ row[known] ** 2)
    return total
