"""Placing single points among fixed ones, by damped Gauss-Newton (Levenberg-Marquardt) steps.

With one free point the problem has only m unknowns, so an m x m system per step is cheap and converges in a few
steps where majorization would take hundreds.
"""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import TINY


@njit(**OPTIONS)
def _linearize(there, back, w_there, w_back, X, omega, y, gradient, hessian):
    """Stress of a point at ``y``, half its gradient, and half its Hessian without the curvature of the distances."""
    n, m = X.shape
    slope = np.empty(m)
    gradient[:] = 0.0
    hessian[:] = 0.0
    total = 0.0
    for j in range(n):
        if w_there[j] == 0.0 and w_back[j] == 0.0:
            continue
        e = TINY
        a = 0.0
        for axis in range(m):
            u = X[j, axis] - y[axis]
            e += u * u
            a += omega[axis] * u
        e = np.sqrt(e)
        for way in range(2):
            # way 0 from y to X[j], way 1 from X[j] to y
            sign = 1.0 - 2.0 * way
            w = w_back[j] if way else w_there[j]
            if w == 0.0:
                continue
            r = e + sign * a - (back[j] if way else there[j])
            total += w * r * r
            for axis in range(m):
                slope[axis] = -(X[j, axis] - y[axis]) / e - sign * omega[axis]
            for k in range(m):
                gradient[k] += w * r * slope[k]
                for l in range(k + 1):  # noqa: E741
                    hessian[k, l] += w * slope[k] * slope[l]
    for k in range(m):
        for l in range(k):  # noqa: E741
            hessian[l, k] = hessian[k, l]
    return total


@njit(**OPTIONS)
def place_rows(to, back, w_to, w_back, X, omega, starts, max_iter, tol, start, stop, places, stress, n_iter):
    """Place rows ``start:stop`` of new points, each from every one of its ``starts`` (rows, k, m), and keep the best."""
    m = X.shape[1]
    gradient, hessian = np.empty(m), np.empty((m, m))
    next_gradient, next_hessian = np.empty(m), np.empty((m, m))
    damped = np.empty((m, m))
    for i in range(start, stop):
        stress[i] = np.inf
        for k in range(starts.shape[1]):
            y = starts[i, k].copy()
            value = _linearize(to[i], back[i], w_to[i], w_back[i], X, omega, y, gradient, hessian)
            damping = 1e-3
            for iteration in range(max_iter):
                scale = TINY
                for axis in range(m):
                    scale += hessian[axis, axis]
                damped[:] = hessian
                for axis in range(m):
                    damped[axis, axis] += damping * scale / m
                step = np.linalg.solve(damped, -gradient)
                promised = 0.0
                for axis in range(m):
                    promised -= gradient[axis] * step[axis]
                if not promised > tol * value:
                    break
                after = _linearize(
                    to[i], back[i], w_to[i], w_back[i], X, omega, y + step, next_gradient, next_hessian
                )  # fmt: skip
                n_iter[i] = max(n_iter[i], iteration + 1)
                if after < value:
                    y += step
                    value = after
                    gradient[:] = next_gradient
                    hessian[:] = next_hessian
                    damping = max(damping / 10, 1e-12)
                else:
                    damping *= 10
                    if damping > 1e12:
                        break
            if value < stress[i]:
                stress[i] = value
                places[i] = y
