"""Stress of a map: how far its Randers distances are from the data.

    stress(X) = sum over ordered pairs of w_ij (d_ij - D_ij)^2

``D`` is from row to column; ``weights`` of None means 1 for every pair off the diagonal. Where a weight is 0,
``D`` may be NaN or inf. A negative entry ``-b``, with a weight, is a bound "at least b": it costs only where the map is
closer than b.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from finsler._runtime import map_blocks
from finsler.errors import InputError
from finsler.geometry.randers import Array, drift_vector
from finsler.kernels.dense import ordered_stress


def _arrays(X: Any, D: Any, weights: Any) -> tuple[Any, Any, Any]:
    X = np.asarray(X, dtype=float)
    D = np.asarray(D)
    if not np.issubdtype(D.dtype, np.floating):
        D = D.astype(float)
    if X.ndim != 2 or D.shape != (len(X), len(X)):
        raise InputError(f"X of shape {X.shape} needs D of shape ({len(X)}, {len(X)}), got {D.shape}.")
    if weights is not None:
        weights = np.asarray(weights)
        if not np.issubdtype(weights.dtype, np.floating):
            weights = weights.astype(float)
        if weights.shape != D.shape:
            raise InputError(f"weights must have the shape of D, {D.shape}, got {weights.shape}.")
    return X, D, weights


def axes_first(X: Array) -> Array:
    """Coordinates as the kernels read them: one contiguous row per axis, at least three rows."""
    XT = np.zeros((max(3, X.shape[1]), len(X)))
    XT[: X.shape[1]] = X.T
    return XT


def _leaving_and_arriving(
    X: Any, D: Any, weights: Any, drift: float | ArrayLike, n_jobs: int | None
) -> tuple[Array, Array]:
    """Stress of the ways from each point, and of the ways to each point."""
    points, data, w = _arrays(X, D, weights)
    n = len(points)
    height = points @ drift_vector(drift, points.shape[1])
    XT = axes_first(points)
    edges = np.linspace(0, n, min(n, 16) + 1).astype(int)
    leaving, arriving = np.zeros(n), np.zeros((len(edges) - 1, n))
    uniform = w is None

    def task(block: int, start: int, stop: int) -> None:
        ordered_stress(
            data, data[:0] if uniform else w, XT, height, uniform, start, stop, leaving, arriving[block]
        )

    map_blocks(task, edges, n_jobs if n > 300 else 1)
    return leaving, arriving.sum(axis=0)


def raw_stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    n_jobs: int | None = None,
) -> float:  # fmt: skip
    """Raw stress of the map ``X``, the sum above.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Coordinates.
    D : array-like of shape (n, n)
        Dissimilarities from row to column.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair; all 1 by default.
    drift : float or array-like of shape (m,)
        ``alpha`` on the last axis, or the whole vector.
    n_jobs : int, optional
        Threads; all cores by default.

    Examples
    --------
    >>> raw_stress([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5)
    0.5
    """
    return float(_leaving_and_arriving(X, D, weights, drift, n_jobs)[0].sum())


def normalized_stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike
) -> float:
    """Root of ``sum w (d - D)^2 / sum w D^2``: 0 is a perfect map, and the scale of D does not matter.

    Examples
    --------
    >>> normalized_stress([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5).__round__(4)
    0.3162
    """
    total = total_square(D, weights)
    return float(np.sqrt(raw_stress(X, D, weights, drift=drift) / total)) if total > 0 else 0.0


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
            total += float(w[known] @ row[known] ** 2)
    return total


def stress_per_point(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike
) -> Array:
    """Share of each point in the stress: half of every pair goes to either end, and the shares sum to 1.

    A perfect map has all shares 0.

    Examples
    --------
    >>> stress_per_point([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5)
    array([0.5, 0.5])
    """
    shares = point_stress(X, D, weights, drift=drift)
    total = shares.sum()
    return shares / total if total > 0 else shares


def point_stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    n_jobs: int | None = None,
) -> Array:  # fmt: skip
    """Stress of each point: half of every pair goes to either end, and they sum to the stress.

    Examples
    --------
    >>> point_stress([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5)
    array([0.25, 0.25])
    """
    leaving, arriving = _leaving_and_arriving(X, D, weights, drift, n_jobs)
    return (leaving + arriving) / 2
