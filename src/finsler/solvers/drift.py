"""The drift from the data: the stress is a least squares in omega once the points are given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

Array = NDArray[np.floating[Any]]

# Largest drift that alpha="auto" may choose: at 1 the way down is free and the metric is none.
ALPHA_MAX = 0.999

# A map whose thinnest direction is below this share of its widest uses only m - 1 dimensions. A drift across
# the sheet then changes no distance, so any alpha above a smallest one fits alike and that smallest one is taken.
FLAT = 0.02


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
    """Orthogonal matrix Q, close to the identity, whose last column points along ``omega``: ``X @ Q`` stands upright.

    Examples
    --------
    >>> Q = frame_of(np.array([0.6, 0.0, 0.0]))
    >>> (np.array([0.6, 0.0, 0.0]) @ Q).round(12)
    array([0. , 0. , 0.6])
    """
    m = len(omega)
    norm = np.linalg.norm(omega)
    if norm == 0:
        return np.eye(m)
    up = omega / norm
    last = np.zeros(m)
    last[-1] = 1.0
    if up[-1] < -1 + 1e-12:  # straight down: mirror the last axis
        mirror = np.eye(m)
        mirror[-1, -1] = -1.0
        return mirror
    # Rotation in the plane of `up` and the last axis; every other direction stays.
    both = up + last
    return np.eye(m) - np.outer(both, both) / (1 + up[-1]) + 2 * np.outer(up, last)
