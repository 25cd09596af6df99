"""Placing new points into a fitted map, each by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._runtime import map_blocks
from finsler.data.frames import labeled
from finsler.data.matrix import LARGEST, as_float_array
from finsler.errors import InputError
from finsler.geometry.randers import drift_vector
from finsler.geometry.swirl import drift_at, swirl_matrix
from finsler.kernels.dense import place_rows

Array = NDArray[np.floating[Any]]

STARTS = 6  # nearest fitted points that a new point starts from
GAPS = 50  # between fitted points on a line, at most


@dataclass(frozen=True, eq=False)
class Placement:
    """New points in a map."""

    coordinates: Array  #: One row per new point.
    stress: Array  #: Sum of squared errors of each.
    misfit: Array  #: Root of its share in the sum of squares of the point's dissimilarities: 0 is perfect.
    converged: bool  #: Whether all were placed within `max_iter` iterations.


def place(
    X: ArrayLike,
    drift: float | ArrayLike,
    *,
    swirl: ArrayLike | None = None,
    geodesic: bool = False,
    to_fitted: ArrayLike | None = None,
    from_fitted: ArrayLike | None = None,
    max_iter: int = 1000,
    tol: float = 1e-12,
    n_jobs: int | None = None,
) -> Placement:
    """Place new points where their dissimilarities to and/or from the fitted ones are met best.

    Each new point is placed by itself: the others, and their order, do not matter.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Fitted coordinates, which stay.
    drift : float or array-like of shape (m,)
        Drift of the map, on the last axis; beside a swirl, the drift at the origin.
    swirl, geodesic : array-like of shape (m, m), bool
        Swirl of the map, if its drift turns, and whether its ways are arcs; see `finsler.geometry.swirl`.
    to_fitted, from_fitted : array-like of shape (k, n), optional
        Dissimilarities *from* each new point *to* each fitted one, and *from* each fitted point *to* each new one, also
        one row per new point; NaN where unknown.
    max_iter, tol : int, float
        Limits per point; ``tol`` is relative to its stress.
    n_jobs : int, optional
        Threads; None means all.

    Returns
    -------
    Placement

    Examples
    --------
    >>> from finsler.geometry.randers import randers_distances
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 3.0], [2.0, 2.0]])
    >>> new = np.array([[1.0, 1.0]])
    >>> place(X, 0.3, to_fitted=randers_distances(new, X, drift=0.3)).coordinates.round(6)
    array([[1., 1.]])
    """
    X = np.ascontiguousarray(X, dtype=float)
    if X.ndim != 2:
        raise InputError(f"X must be a 2-D array of fitted coordinates, got {X.ndim} dimension(s).")
    if not np.isfinite(X).all():
        raise InputError(f"X is not finite in row {int(np.argmax(~np.isfinite(X).all(axis=1)))}.")
    m = X.shape[1]
    w = drift_vector(drift, m, below_one=swirl is None)
    K = None if swirl is None else swirl_matrix(swirl, m)
    if K is None and w[:-1].any():
        raise InputError("The drift of a map must lie on its last axis.")
    omega, kappa = drift_at(X, w, K), abs(float(K[1, 0])) if K is not None and geodesic else 0.0
    there, back = _both_ways(to_fitted, from_fitted, len(X))
    w_there, w_back = np.isfinite(there).astype(float), np.isfinite(back).astype(float)
    blind = np.flatnonzero(w_there.sum(axis=1) + w_back.sum(axis=1) == 0)
    if blind.size:
        raise InputError(f"Row {blind[0]} of the new points has no known dissimilarity to be placed by.")
    there, back = np.where(w_there > 0, there, 0.0), np.where(w_back > 0, back, 0.0)
    starts, k = _starts(X, there, back, w_there, w_back), len(there)
    places, stress, n_iter = starts[:, 0].copy(), np.empty(k), np.zeros(k, dtype=np.int64)

    def task(_: int, start: int, stop: int) -> None:
        place_rows(
            there, back, w_there, w_back, X, omega, kappa, starts, max_iter, tol, start, stop, places, stress, n_iter
        )  # fmt: skip

    map_blocks(task, np.linspace(0, k, min(k, 32) + 1).astype(int), n_jobs)
    squares = (there**2).sum(axis=1) + (back**2).sum(axis=1)
    misfit = np.sqrt(stress / np.where(squares > 0, squares, 1.0))
    return Placement(places, stress, misfit, bool((n_iter < max_iter).all()))


def _both_ways(to_fitted: Any, from_fitted: Any, n: int) -> tuple[Array, Array]:
    """Dissimilarities to and from the fitted points, checked; NaN where they were not given."""
    if to_fitted is None and from_fitted is None:
        raise InputError("Give to_fitted, from_fitted, or both: new points are placed by dissimilarities.")
    if to_fitted is None:
        back = _rows(from_fitted, n, "from_fitted")
        return np.full(back.shape, np.nan), back
    there = _rows(to_fitted, n, "to_fitted")
    back = np.full(there.shape, np.nan) if from_fitted is None else _rows(from_fitted, n, "from_fitted")
    if there.shape != back.shape:
        raise InputError(f"to_fitted and from_fitted must have the same shape: {there.shape}, {back.shape}.")
    return there, back


def _rows(values: ArrayLike, n: int, name: str) -> Array:
    rows = as_float_array(labeled(values), name).astype(float, copy=False)
    if rows.ndim == 1 and len(rows) == n:
        raise InputError(
            f"{name} must have one row per new point. Reshape your data with {name}.reshape(1, -1) if it is one point."
        )
    if rows.ndim != 2 or rows.shape[1] != n:
        raise InputError(
            f"{name} must have one row per new point and one column per fitted point: expected (k, {n}), got {rows.shape}."
        )
    if (rows < 0).any():
        i, j = np.argwhere(rows < 0)[0]
        raise InputError(f"{name} is negative in row {i}, column {j}: {rows[i, j]}.")
    largest = np.where(np.isfinite(rows), rows, 0).max(initial=0.0)
    if largest > LARGEST:
        raise InputError(f"The largest entry of {name} is {largest:g}; rescale to ordinary magnitudes.")
    return np.ascontiguousarray(rows)


def _starts(X: Array, there: Array, back: Array, w_there: Array, w_back: Array) -> Array:
    """Starts for each new point: the fitted points nearest to it, the middle of the map, and places all around it.

    These are on either side along each axis, as far out as the point is from the others on average: few points, or few
    that are known, leave a place on the wrong side. A new point at no distance from a fitted one starts only there: it *is*
    that point.
    """
    known = w_there + w_back
    mean = np.where(known > 0, (there + back) / np.where(known > 0, known, 1), np.inf)
    nearest = np.argsort(mean, axis=1, kind="stable")[:, : min(STARTS, len(X))]
    far = np.where(known > 0, mean, 0).sum(axis=1) / np.maximum((known > 0).sum(axis=1), 1)
    sides = np.vstack([np.zeros(X.shape[1]), np.eye(X.shape[1]), -np.eye(X.shape[1])])
    around = X.mean(axis=0) + far[:, None, None] * sides
    starts = np.concatenate([X[nearest], around], axis=1)
    if X.shape[1] == 1:  # on a line every gap between fitted points, and beyond them, may hold the best place
        x = np.sort(X[:, 0])
        between = np.concatenate([[2 * x[0] - x[-1]], (x[1:] + x[:-1]) / 2, [2 * x[-1] - x[0]]])
        gaps = between[np.linspace(0, len(x), min(len(x) + 1, GAPS)).astype(int)]
        starts = np.concatenate([starts, np.broadcast_to(gaps[:, None], (len(mean), len(gaps), 1))], axis=1)
    closest = np.take_along_axis(mean, nearest[:, :1], axis=1)[:, 0]
    same = closest <= 1e-9 * np.where(np.isfinite(mean), mean, 0).max(axis=1)
    starts[same] = starts[same, :1]
    return starts
