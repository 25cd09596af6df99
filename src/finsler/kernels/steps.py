"""Vectors of an iteration between two passes: few numbers a point, for which calls of numpy cost more than arithmetic.

Rows are contiguous, an axis or an earlier step each, and loops run along them.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

CHUNK = 512  # numbers of a combination that stay in the first-level cache


@njit(**OPTIONS)
def uniform_step(pull, unit, XT, h, omega, step):
    """Fill the step of a problem with uniform weights, from the pull of its symmetric part in some unit.

    The force is ``unit pull + n omega (h - omega . x)``, the step ``(I + omega omega')^-1 force / n``, with the inverse
    ``I - omega omega' / (1 + alpha^2)``. Returns the sum of ``(h - omega . x)^2``, and of the force times the step.
    """
    m, n = len(omega), len(h)
    skew, along = h.copy(), np.zeros(n)
    norm, square, product = 0.0, 0.0, 0.0
    for axis in range(m):
        w, x, p = omega[axis], XT[axis], pull[axis]
        norm += w * w
        if w != 0.0:
            for j in range(n):
                skew[j] -= w * x[j]
                along[j] += w * unit * p[j]
    for j in range(n):
        square += skew[j] * skew[j]
        along[j] = (along[j] + n * norm * skew[j]) / (1 + norm)
    for axis in range(m):
        w, p, to = omega[axis], pull[axis], step[axis]
        for j in range(n):
            force = unit * p[j] + n * w * skew[j]
            to[j] = (force - w * along[j]) / n
            product += to[j] * force
    return square, product


@njit(**OPTIONS)
def remember(x, last_x, step, last_step, relax, moved, turned):
    """Fill what changed since the last point: of the step, and of the point that ``relax`` times the step leads to."""
    for j in range(len(x)):
        turned[j] = step[j] - last_step[j]
        moved[j] = (x[j] - last_x[j]) + relax * turned[j]


@njit(**OPTIONS)
def products(rows, v, out):
    """Fill the products of rows with a vector."""
    for k in range(len(out)):
        row, total = rows[k], 0.0
        for j in range(len(v)):
            total += row[j] * v[j]
        out[k] = total


@njit(**OPTIONS)
def combine(x, step, relax, rows, mix, out):
    """Fill ``x + relax step - mix . rows``."""
    for low in range(0, len(x), CHUNK):
        high = min(low + CHUNK, len(x))
        a, b, to = x[low:high], step[low:high], out[low:high]
        for j in range(high - low):
            to[j] = a[j] + relax * b[j]
        for k in range(len(mix)):
            row, c = rows[k, low:high], mix[k]
            for j in range(high - low):
                to[j] -= c * row[j]
