"""The drift from the data, and the frame that it gives a map.

Once the points are given, the stress is a least squares in omega.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from finsler.geometry.randers import drift_vector

Array = NDArray[np.floating[Any]]

# Largest drift that alpha="auto" may choose: at 1 the way down is free and the metric is none.
ALPHA_MAX = 0.999

# A map whose thinnest direction is below this share of its widest uses only m - 1 dimensions. A drift across
# the sheet then changes no distance, so any alpha above a smallest one fits alike and that smallest one is taken.
FLAT = 0.02

# Below this share, what would decide how an axis lies is taken for noise: the solvers' tolerances leave about as much.
NEAR_TIE = 1e-3


def best_drift(second_moment: Array, moment: Array) -> Array:
    """Minimize ``omega' M omega - 2 moment . omega`` over ``||omega|| <= ALPHA_MAX``.

    ``M`` is the (m, m) ``second_moment`` of the differences. Directions that the points hardly use (see ``FLAT``)
    get no drift.

    Examples
    --------
    >>> best_drift(np.eye(2), np.array([0.3, 0.4]))
    array([0.3, 0.4])
    >>> np.linalg.norm(best_drift(np.eye(2), np.array([3.0, 4.0]))).round(6)
    np.float64(0.999)
    """
    scale = float(np.abs(second_moment).max())
    if not scale > 0:
        return np.zeros(len(moment))
    values, vectors = np.linalg.eigh(
        second_moment / scale
    )  # in units of the data, so that tolerances are relative
    moment = moment / scale
    used = values > FLAT**2 * values[-1]
    components = np.where(used, vectors.T @ moment, 0.0)
    values = np.where(used, values, 1.0)
    omega = components / values
    if np.linalg.norm(omega) > ALPHA_MAX:
        # On the boundary, omega = (M + lambda I)^-1 moment with the lambda > 0 that gives it the right norm.
        upper = 1.001 * float(np.linalg.norm(components)) / ALPHA_MAX
        shift = brentq(lambda shift: np.linalg.norm(components / (values + shift)) - ALPHA_MAX, 0.0, upper)
        omega = components / (values + shift)
        omega *= ALPHA_MAX / np.linalg.norm(omega)
    return np.asarray(vectors @ omega)


def flatness(X: Array) -> float:
    """Thickness of a set of points over its width, from the singular values: 0 for points in a hyperplane."""
    singular = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)
    return (
        float(singular[X.shape[1] - 1] / singular[0])
        if len(singular) >= X.shape[1] and singular[0] > 0
        else 0.0
    )


def frame_of(omega: Array) -> Array:
    """Orthogonal matrix Q, close to the identity, whose last column points along ``omega``: ``X @ Q`` stands upright."""
    m = len(omega)
    norm = np.linalg.norm(omega)
    if norm == 0:
        return np.eye(m)
    up = omega / norm
    last = np.zeros(m)
    last[-1] = 1.0
    if up[-1] < 0:  # mirror the last axis first: turning around far would lose digits
        mirror = 1 - 2 * last
        return mirror[:, None] * frame_of(up * mirror)
    # Rotation in the plane of `up` and the last axis; every other direction stays.
    both = up + last
    return np.eye(m) - np.outer(both, both) / (1 + up[-1]) + 2 * np.outer(up, last)


def upright(X: Array, omega: Array) -> tuple[Array, Array]:
    """The same map, and its drift, in the one frame that all maps are given in: same data, same picture.

    Distances do not tell shifts, turns about the drift and mirrors apart. So a map is centered, and its drift lies on the
    last axis and points up. The other axes (without a drift: all) are the principal ones, the widest first, and each
    points where :func:`axis_signs` says.

    Examples
    --------
    >>> X, drift = upright(np.array([[0.0, 3.0], [1.0, 0.0], [0.0, 0.0]]), np.array([-0.5, 0.0]))
    >>> X.round(6), drift
    (array([[ 2.      ,  0.333333],
           [-1.      , -0.666667],
           [-1.      ,  0.333333]]), array([0. , 0.5]))
    """
    m = X.shape[1]
    X = (X - X.mean(axis=0)) @ frame_of(omega)
    alpha = float(np.linalg.norm(omega))
    free = m - 1 if alpha > 0 else m
    X[:, :free] = principal_axes(X[:, :free])[0]
    return X, drift_vector(alpha, m)


def axis_signs(X: Array) -> Array:
    """Sign of each column: that of the sum of cubes, where points reach far out.

    In columns that are (nearly) symmetric it is the sign of the largest entry, the first one among near ties.
    """
    size = np.abs(X)
    largest = size.max(axis=0, initial=0.0)
    unit = X / np.where(largest > 0, largest, 1.0)
    third = unit * unit * unit
    cubes, all_cubes = third.sum(axis=0), np.abs(third).sum(axis=0)
    first = np.argmax(size >= (1 - NEAR_TIE) * largest, axis=0)
    deciding = np.where(np.abs(cubes) > NEAR_TIE * all_cubes, cubes, X[first, np.arange(X.shape[1])])
    return np.where(deciding < 0, -1.0, 1.0)


def principal_axes(X: Array) -> tuple[Array, Array]:
    """Centered points on their principal axes, and the orthogonal matrix that turns them there.

    Where variances nearly tie, the farthest point lies on the first of these axes, the farthest from that one in the plane
    of the first two, and so on.
    """
    scale, turn = np.abs(X).max(initial=0.0), np.eye(X.shape[1])
    if not scale > 0:
        return X, turn
    values, vectors = np.linalg.eigh((X / scale).T @ (X / scale))
    values, turn = values[::-1], vectors[:, ::-1].copy()
    X = X @ vectors[:, ::-1]
    ties = np.flatnonzero(np.diff(values) < -NEAR_TIE * values[:-1]) + 1
    for block in np.split(np.arange(X.shape[1]), ties):
        for k in range(len(block) - 1):
            rest = X[:, block[k:]]
            square = (rest**2).sum(axis=1)
            first = int(np.argmax(square >= (1 - NEAR_TIE) * square.max()))
            Q = frame_of(rest[first])[:, ::-1]
            X[:, block[k:]] = rest @ Q
            turn[:, block[k:]] = turn[:, block[k:]] @ Q
    signs = axis_signs(X)
    return X * signs, turn * signs
