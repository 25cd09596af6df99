"""One pass over the pairs of the older models: stress and gradient of radius-distance, hill-climbing and slide vector.

`finsler.models.joint` calls them and has the formulas. Coordinates come as rows of axes, ``P[k, i]``, so that the loops over
the points j run along memory; a row of pairs at a time stays in the cache. A pass takes one thread: the starts of a fit run
side by side instead, and no sum depends on how many threads there are.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS, STRICT


@njit(**OPTIONS)
def _dot(a, b):
    """Sum of products. Loops that only read may be reordered: no address has a say in how."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * b[j]
    return total


@njit(**OPTIONS)
def _moment(a, b, origin):
    """Sum of ``a (b - origin)``."""
    total = 0.0
    for j in range(a.size):
        total += a[j] * (b[j] - origin)
    return total


@njit(**STRICT)
def _lengths(P, i, shift, out):
    """``||x_j - x_i - shift||`` for all j."""
    m, n = P.shape
    out[:] = 0.0
    for k in range(m):
        origin = P[k, i] + shift[k]
        for j in range(n):
            step = P[k, j] - origin
            out[j] += step * step
    for j in range(n):
        out[j] = np.sqrt(out[j])


@njit(**STRICT)
def radius_pass(P, radii, D, W, by_points, by_radii):
    """Stress of ``e_ij - r_i + r_j``; adds its derivatives by the points and the radii."""
    m, n = P.shape
    e, misfit, slope, pull = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    ones, still = np.ones(n), np.zeros(m)
    stress = 0.0
    for i in range(n):
        _lengths(P, i, still, e)
        for j in range(n):
            misfit[j] = e[j] + radii[j] - radii[i] - D[i, j]
            slope[j] = 2.0 * W[i, j] * misfit[j]
            by_radii[j] += slope[j]
            pull[j] = slope[j] / e[j] if e[j] > 0.0 else 0.0
        stress += 0.5 * _dot(slope, misfit)
        by_radii[i] -= _dot(slope, ones)
        for k in range(m):
            origin = P[k, i]
            for j in range(n):
                by_points[k, j] += pull[j] * (P[k, j] - origin)
            by_points[k, i] -= _moment(pull, P[k], origin)
    return stress


@njit(**STRICT)
def hill_pass(P, slope, D, W, by_points, by_slope):
    """Stress of ``e_ij + z . u_ij / e_ij``, z the slope; adds its derivatives by the points and by z.

    The climb ``c = z . u / e`` turns with the step as ``(z - c u / e) / e``.
    """
    m, n = P.shape
    e, climb, misfit, pull = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    forward, factor, ones, still = np.empty(n), np.empty(n), np.ones(n), np.zeros(m)
    stress = 0.0
    for i in range(n):
        _lengths(P, i, still, e)
        climb[:] = 0.0
        for k in range(m):
            origin, ahead = P[k, i], slope[k]
            for j in range(n):
                climb[j] += ahead * (P[k, j] - origin)
        for j in range(n):
            over = 1.0 / e[j] if e[j] > 0.0 else 0.0
            up = climb[j] * over
            misfit[j] = e[j] + up - D[i, j]
            pull[j] = 2.0 * W[i, j] * misfit[j]
            forward[j] = pull[j] * over
            factor[j] = forward[j] * (1.0 - up * over)
        stress += 0.5 * _dot(pull, misfit)
        total = _dot(forward, ones)
        for k in range(m):
            origin, ahead = P[k, i], slope[k]
            for j in range(n):
                by_points[k, j] += factor[j] * (P[k, j] - origin) + forward[j] * ahead
            by_points[k, i] -= _moment(factor, P[k], origin) + ahead * total
            by_slope[k] += _moment(forward, P[k], origin)
    return stress


@njit(**STRICT)
def slide_pass(P, z, D, W, force):
    """Stress of ``||x_i - x_j + z||``; adds minus half its derivatives by the points, and by z in the last column."""
    m, n = P.shape
    d, misfit, weighted, pull = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    stress = 0.0
    for i in range(n):
        _lengths(P, i, z, d)
        for j in range(n):
            misfit[j] = d[j] - D[i, j]
            weighted[j] = W[i, j] * misfit[j]
            pull[j] = weighted[j] / d[j] if d[j] > 0.0 else 0.0
        stress += _dot(weighted, misfit)
        for k in range(m):
            origin = P[k, i] + z[k]
            for j in range(n):
                force[k, j] -= pull[j] * (P[k, j] - origin)
            total = _moment(pull, P[k], origin)
            force[k, i] += total
            force[k, n] += total
    return stress
