"""Quick descents from many starts, for few points: the whole loop is compiled, for calls from Python would cost more.

The step is that of `finsler.solvers.problem` with one curvature for all axes, ``L(p + 2 alpha |q|)`` times
``I + omega omega'``, which is at least the exact one, so that it still majorizes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import uniform_any, uniform_three, weighted, weighted_drift

RELAX = 1.9  # as in solvers.majorize
MOMENTUM = 0.8  # at most this share of the move before is carried on
RIDGE = 4e-4  # share of the second moment below which a direction gets hardly any drift: FLAT of solvers.drift, squared


# Loops rather than calls of NumPy: these would take many times longer to compile, and to call for so few points.


@njit(**OPTIONS)
def _dot(a, b):
    total = 0.0
    for j in range(len(a)):
        total += a[j] * b[j]
    return total


@njit(**OPTIONS)
def solve_in_place(A, b):
    """Solve ``A x = b`` for a symmetric positive definite ``A``, which is overwritten; x goes into ``b``."""
    m = len(b)
    for a in range(m):
        for c in range(a + 1, m):
            factor = A[c, a] / A[a, a]
            for k in range(a + 1, m):
                A[c, k] -= factor * A[a, k]
            b[c] -= factor * b[a]
    for a in range(m - 1, -1, -1):
        for k in range(a + 1, m):
            b[a] -= A[a, k] * b[k]
        b[a] /= A[a, a]


@njit(**OPTIONS)
def _fit_drift(XT, image, right, largest, moment, omega):
    """Solve ``(X' image) omega = X' right`` with a touch of ridge, for an omega not longer than ``largest``."""
    m, trace = len(omega), 0.0
    for a in range(m):
        for b in range(m):
            moment[a, b] = _dot(XT[a], image[b])
        trace += moment[a, a]
    if trace > 0.0:
        for a in range(m):
            omega[a] = _dot(XT[a], right)
            moment[a, a] += RIDGE * trace
        solve_in_place(moment, omega)
        norm = np.sqrt(_dot(omega, omega))
        if norm > largest:
            for a in range(m):
                omega[a] *= largest / norm


@njit(**OPTIONS)
def _climb(XT, omega, height):
    """``X @ omega``."""
    for j in range(len(height)):
        height[j] = 0.0
    for a in range(len(omega)):
        for j in range(len(height)):
            height[j] += omega[a] * XT[a, j]


@njit(**OPTIONS)
def _clear(force, lift, rows):
    for j in range(len(lift)):
        lift[j] = 0.0
        rows[j] = 0.0
        for a in range(force.shape[0]):
            force[a, j] = 0.0


@njit(**OPTIONS)
def _evaluate(uniform, D, DT, W, WT, h, residual, XT, omega, largest, force, lift, rows, height, moment):
    """Stress at centered ``XT``, and its force; see ``UniformProblem`` and ``WeightedProblem``."""
    m, n = len(omega), XT.shape[1]
    if largest > 0.0 and uniform:
        _fit_drift(XT, XT, h, largest, moment, omega)
    elif largest > 0.0:
        _climb(XT, omega, height)
        _clear(force, lift, rows)
        weighted_drift(D, DT, W, WT, XT, height, 0, n, force, lift)
        _fit_drift(XT, force, lift, largest, moment, omega)
    _climb(XT, omega, height)
    _clear(force, lift, rows)
    stress = 0.0
    if uniform:
        if XT.shape[0] == 3:
            uniform_three(D, XT, 0, n, force, rows)
        else:
            uniform_any(D, XT, 0, n, force, rows)
        stress = 2.0 * residual
        for j in range(n):
            skew = h[j] - height[j]
            lift[j] = n * skew
            stress += 2.0 * (rows[j] + n * skew * skew)
    else:
        weighted(D, DT, W, WT, XT, height, 0, n, force, lift, rows)
        for j in range(n):
            stress += rows[j]
    for a in range(m):
        for j in range(n):
            force[a, j] += omega[a] * lift[j]
    return stress


@njit(**OPTIONS)
def _step(inverse, force, omega, step):
    """``inverse @ force`` on each axis, shortened along the drift; returns what it takes off the stress at least.

    An empty ``inverse`` stands for that of uniform weights, ``1/n`` on centered data.
    """
    m, n = len(omega), force.shape[1]
    shorter = 1.0 + _dot(omega, omega)
    for a in range(m):
        for j in range(n):
            step[a, j] = force[a, j] / n if len(inverse) == 0 else _dot(inverse[j], force[a])
    decrease = 0.0
    for j in range(n):
        along = 0.0
        for a in range(m):
            along += omega[a] * step[a, j]
        for a in range(m):
            step[a, j] -= omega[a] * along / shorter
            decrease += 2.0 * step[a, j] * force[a, j]
    return decrease


@njit(**OPTIONS)
def descend(uniform, D, DT, W, WT, h, residual, inverse, XT, omega, largest, tol, history):
    """Majorize from centered ``XT`` (at least three rows, those beyond the dimension of ``omega`` zero), in place.

    Never goes uphill. With ``uniform`` weights ``D`` is the symmetric part, ``h`` and ``residual`` are the heights of the
    skew part and what they leave, and ``DT``, ``W`` and ``WT`` are not read; else ``inverse`` is that of the curvature of
    the weights. With ``largest`` above 0 the drift is fitted, up to that length. The stress at the start and after each
    iteration goes into ``history``, as many as fit in. Returns how many there are, and the number of passes.
    """
    m, (k, n) = len(omega), XT.shape
    force, step, moment = np.zeros((k, n)), np.zeros((k, n)), np.zeros((m, m))
    height, lift, rows = np.zeros(n), np.zeros(n), np.zeros(n)
    before, trial, drift = XT.copy(), XT.copy(), omega.copy()
    stress, decrease, carried, used, n_iter = np.inf, 0.0, 0, 0, 0
    while used == 0 or (n_iter < len(history) and decrease > tol * stress):
        # The first time round there is no step yet, and `trial` is the start.
        share, value = min(MOMENTUM, carried / (carried + 3.0)), np.inf
        for _ in range(2):
            if used > 0:
                for a in range(m):
                    for j in range(n):
                        trial[a, j] = XT[a, j] + RELAX * step[a, j] + share * (XT[a, j] - before[a, j])
            drift[:] = omega
            value = _evaluate(
                uniform, D, DT, W, WT, h, residual, trial, drift, largest, force, lift, rows, height, moment
            )
            used += 1
            if value <= stress or share == 0.0:
                break
            share, carried = 0.0, -1  # uphill: without what was carried, which cannot rise but by rounding
        if not value <= stress:
            break
        carried += 1
        stress = value
        history[n_iter] = value
        n_iter += 1
        omega[:] = drift
        for a in range(m):
            for j in range(n):
                before[a, j] = XT[a, j]
                XT[a, j] = trial[a, j]
        decrease = _step(inverse, force, omega, step)
    return n_iter, used
