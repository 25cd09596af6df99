"""Stress of a map: how far its Randers distances are from the data.

    stress(X) = sum over ordered pairs of w_ij (d_ij - D_ij)^2

``D`` is from row to column; ``weights`` of None means 1 for every pair off the diagonal. Where a weight is 0,
``D`` may be NaN or inf. A negative entry ``-b``, with a weight, is a bound "at least b": it costs only where the map is
closer than b.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from finsler._runtime import map_blocks
from finsler.errors import InputError
from finsler.geometry.randers import Array, drift_vector, randers_distances
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


def _misfit(distance: Array, data: Array) -> Array:
    """``d - D``, or for a bound what the map falls short of it."""
    return distance - np.where(data < 0, np.maximum(-data, distance), data)


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


def stress(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike,
    n_jobs: int | None = None,
) -> float:  # fmt: skip
    """Finsler stress of the map ``X``.

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
    >>> stress([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5)
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
    return float(np.sqrt(stress(X, D, weights, drift=drift) / total)) if total > 0 else 0.0


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


@dataclass(frozen=True)
class StressSplit:
    """Parts of the stress; they add up to ``total``.

    ``symmetric`` is the misfit of ``(d_ij + d_ji)/2``, ``skew`` that of ``(d_ij - d_ji)/2``, both over the pairs known
    both ways; ``cross`` is their product, zero unless the two directions weigh differently; ``one_way`` is the stress
    of pairs known in one direction only, which cannot be split.
    """

    symmetric: float
    skew: float
    cross: float
    one_way: float

    @property
    def total(self) -> float:
        """Sum of the parts."""
        return self.symmetric + self.skew + self.cross + self.one_way


def stress_split(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike
) -> StressSplit:
    """Split the stress into the misfit of the symmetric and of the skew part of the data.

    Examples
    --------
    >>> stress_split([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5)
    StressSplit(symmetric=0.5, skew=0.0, cross=0.0, one_way=0.0)
    """
    points, data, w = _arrays(X, D, weights)
    omega = drift_vector(drift, points.shape[1])
    parts = np.zeros(4)
    for i in range(len(points) - 1):
        later = slice(i + 1, None)
        there = _misfit(randers_distances(points[i : i + 1], points[later], drift=omega)[0], data[i, later])
        back = _misfit(randers_distances(points[later], points[i : i + 1], drift=omega)[:, 0], data[later, i])
        w1 = np.ones(len(there)) if w is None else w[i, later].astype(float)
        w2 = np.ones(len(there)) if w is None else w[later, i].astype(float)
        both = (w1 > 0) & (w2 > 0)
        even, odd = (there[both] + back[both]) / 2, (there[both] - back[both]) / 2
        p, q = w1[both] + w2[both], w1[both] - w2[both]
        only1, only2 = (w1 > 0) & ~both, (w2 > 0) & ~both
        parts += (
            p @ even**2,
            p @ odd**2,
            2 * (q @ (even * odd)),
            w1[only1] @ there[only1] ** 2 + w2[only2] @ back[only2] ** 2,
        )
    return StressSplit(*parts.tolist())


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
    leaving, arriving = _leaving_and_arriving(X, D, weights, drift, None)
    shares = (leaving + arriving) / 2
    total = shares.sum()
    return shares / total if total > 0 else shares


def stress_gradient(
    X: ArrayLike, D: ArrayLike, weights: ArrayLike | None = None, *, drift: float | ArrayLike
) -> Array:
    """Gradient of the stress with respect to the coordinates.

    At coincident points ``||x_j - x_i||`` has no gradient; the middle one of its subgradients, 0, is taken.

    Examples
    --------
    >>> stress_gradient([[0.0], [1.0]], [[0.0, 2.0], [1.0, 0.0]], drift=0.5)
    array([[ 2.],
           [-2.]])
    """
    points, data, w = _arrays(X, D, weights)
    omega = drift_vector(drift, points.shape[1])
    gradient = np.zeros_like(points)
    for i in range(len(points)):
        u = points - points[i]
        e = np.sqrt((u**2).sum(1))
        residual = _misfit(e + u @ omega, data[i])
        if w is not None:
            residual = np.where(w[i] > 0, w[i] * residual, 0.0)
        residual[i] = 0.0
        direction = u / np.where(e > 0, e, 1)[:, None] + omega
        pull = 2 * residual[:, None] * direction
        gradient += pull
        gradient[i] -= pull.sum(0)
    return gradient
