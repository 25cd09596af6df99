"""Maps on a line: which point comes after which. Once the order is given, the stress is a least squares.

With ``u = x_j - x_i > 0`` for i before j, the pair costs ``w_ij ((1 + a) u - D_ij)^2 + w_ji ((1 - a) u - D_ji)^2``, that is
``c u^2 - 2 b u`` and a constant, with

    c_ij = w_ij (1 + a)^2 + w_ji (1 - a)^2        b_ij = w_ij (1 + a) D_ij + w_ji (1 - a) D_ji

The points of least stress solve ``L(c) x = r``, where ``r_j`` is the sum of ``b_ij`` over the i before j minus that of
``b_jk`` over the k after j, and the stress is ``sum w D^2 - r.x``. The solution need not keep to the order: then its true
stress is still lower. Descents cannot pass one point through another, so the order is searched. Two neighbors i, j that
change places change r by ``(b_ij + b_ji) v`` with ``v = e_i - e_j``, and L by ``(c_ji - c_ij) v v'``, so that the stress
follows at once from ``v' L^-1 v`` and ``v' x``.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

BETTER = 1e-9  # share of the stress that an order must be better by


@njit(**OPTIONS)
def _invert(A, inverse):
    """Invert a symmetric positive definite matrix, which is overwritten, by Gauss and Jordan's elimination."""
    n = len(A)
    for i in range(n):
        for j in range(n):
            inverse[i, j] = 1.0 if i == j else 0.0
    for p in range(n):
        pivot = 1.0 / A[p, p]
        for j in range(n):
            A[p, j] *= pivot
            inverse[p, j] *= pivot
        for i in range(n):
            factor = A[i, p]
            if i != p and factor != 0.0:
                for j in range(n):
                    A[i, j] -= factor * A[p, j]
                    inverse[i, j] -= factor * inverse[p, j]


@njit(**OPTIONS)
def solve_order(D, W, alpha, order, C, B, P, x):
    """Fill the coefficients, the inverse ``P`` of ``L(c)`` and the points ``x`` of an order; return its stress."""
    n = len(order)
    above, below = 1.0 + alpha, 1.0 - alpha
    square, trace = 0.0, 0.0
    for i in range(n):
        for j in range(n):
            C[i, j] = W[i, j] * above**2 + W[j, i] * below**2
            B[i, j] = W[i, j] * above * D[i, j] + W[j, i] * below * D[j, i]
            square += W[i, j] * D[i, j] ** 2
    L, r = np.zeros((n, n)), np.zeros(n)
    for p in range(n):
        i = order[p]
        for q in range(p + 1, n):
            j = order[q]
            c = C[i, j]
            L[i, j] = -c
            L[j, i] = -c
            L[i, i] += c
            L[j, j] += c
            trace += 2.0 * c
            r[j] += B[i, j]
            r[i] -= B[i, j]
    for i in range(n):
        for j in range(n):
            L[i, j] += trace / (n * n)
    _invert(L, P)
    value = square
    for i in range(n):
        x[i] = 0.0
        for j in range(n):
            x[i] += P[i, j] * r[j]
        value -= r[i] * x[i]
    return value


@njit(**OPTIONS)
def _swap(order, place, C, B, P, x, Pv):
    """Let the neighbors at ``place`` and after it change places; return what that adds to the stress. ``Pv`` is scratch."""
    i, j = order[place], order[place + 1]
    order[place], order[place + 1] = j, i
    beta, delta = B[i, j] + B[j, i], C[j, i] - C[i, j]
    s, vx = P[i, i] + P[j, j] - 2.0 * P[i, j], x[i] - x[j]
    move = beta - delta * (vx + beta * s) / (1.0 + delta * s)
    for k in range(len(x)):
        Pv[k] = P[i, k] - P[j, k]
        x[k] += move * Pv[k]
    if delta != 0.0:
        factor = delta / (1.0 + delta * s)
        for k in range(len(x)):
            for l in range(len(x)):  # noqa: E741
                P[k, l] -= factor * Pv[k] * Pv[l]
    return -(move * vx + beta * (vx + move * s))


@njit(**OPTIONS)
def _move_points(order, value, C, B, P, x, Pv):
    """Take out each point and put it where the stress is least; return the stress, and whether it fell."""
    n, fell = len(order), False
    for point in range(n):
        place = 0
        while order[place] != point:
            place += 1
        first, best, goal = place, value, place
        limit = value - BETTER * abs(value)
        while place > 0:
            place -= 1
            value += _swap(order, place, C, B, P, x, Pv)
            if value < min(best, limit):
                best, goal = value, place
        while place < n - 1:
            value += _swap(order, place, C, B, P, x, Pv)
            place += 1
            if place > first and value < min(best, limit):
                best, goal = value, place
        while place > goal:
            place -= 1
            value += _swap(order, place, C, B, P, x, Pv)
        fell = fell or goal != first
    return value, fell


@njit(**OPTIONS)
def _every_order(order, value, C, B, P, x, Pv):
    """Go through all orders by changes of neighbors (Steinhaus, Johnson, Trotter), and put the best into ``order``."""
    n = len(order)
    best, kept = value, order.copy()
    numbers, ways = np.arange(n), -np.ones(n, dtype=np.int64)  # numbers of the places, and where each moves
    while True:
        chosen, place = -1, -1
        for p in range(n):
            q = p + ways[numbers[p]]
            if 0 <= q < n and numbers[q] < numbers[p] and numbers[p] > chosen:
                chosen, place = numbers[p], p
        if chosen < 0:
            order[:] = kept
            return best
        other = place + ways[chosen]
        value += _swap(order, min(place, other), C, B, P, x, Pv)
        numbers[place], numbers[other] = numbers[other], chosen
        for number in range(chosen + 1, n):
            ways[number] = -ways[number]
        if value < best - BETTER * abs(best):
            best = value
            kept[:] = order


@njit(**OPTIONS)
def _fit_alpha(D, W, x, alpha, largest):
    """Drift of least stress on given points."""
    above, below = 0.0, 0.0
    for i in range(len(x)):
        for j in range(len(x)):
            u = x[j] - x[i]
            above += W[i, j] * (D[i, j] - abs(u)) * u
            below += W[i, j] * u * u
    return min(max(above / below, -largest), largest) if below > 0.0 else alpha


@njit(**OPTIONS)
def search_order(D, W, alpha, largest, every, order, x, history):
    """Move single points along the order until that lowers the stress no more; ``every`` tries all orders.

    With ``largest`` above 0 the drift is fitted between rounds, up to that size. ``order`` and ``x`` are filled in place.
    The stress at the beginning and after each round goes into ``history``. Returns the drift, and the number of rounds.
    """
    n = len(order)
    C, B, P, Pv = np.empty((n, n)), np.empty((n, n)), np.empty((n, n)), np.empty(n)
    value = solve_order(D, W, alpha, order, C, B, P, x)
    history[0] = value
    rounds = 0
    for k in range(1, len(history)):
        fell, before = False, value
        if every:
            _every_order(order, value, C, B, P, x, Pv)
        else:
            value, fell = _move_points(order, value, C, B, P, x, Pv)
        value = solve_order(D, W, alpha, order, C, B, P, x)
        if largest > 0.0:
            alpha = _fit_alpha(D, W, x, alpha, largest)
            value = solve_order(D, W, alpha, order, C, B, P, x)
        history[k], rounds = value, k
        if not fell and value >= before - BETTER * abs(before):
            break
    return alpha, rounds
