"""One pass over a block of rows of a dense problem: stress and force.

Every kernel walks the unordered pairs ``i < j`` of the rows ``start <= i < stop`` once. With ``u = x_j - x_i``,
``e = ||u||``, ``a = omega . u`` and half-weights (so that uniform weights are 1)

    p = (w_ij + w_ji)/2   q = (w_ij - w_ji)/2   t = (w_ij D_ij + w_ji D_ji)/2   s = (w_ij D_ij - w_ji D_ji)/2

half of the stress is ``const + sum p (e^2 + a^2) + 2 q e a - 2 t e - 2 s a``. Its *force*, minus half its
gradient, is the sum over pairs of ``+c u + g omega`` at j and the opposite at i, with

    c = (t - q a)/e - p        g = s - q e - p a

A pair of coincident points has no direction: ``TINY`` keeps the division finite and ``u = 0`` makes the product 0.

Coordinates come as ``XT``, one row per axis and at least three rows (pad with zeros), so that the loops over j
read and write contiguous memory. Each block adds to force arrays of its own; the caller sums blocks in order.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

TINY = 1e-300
CHUNK = 256  # pairs handled at a time in any dimension: small enough for the first-level cache


@njit(**OPTIONS)
def uniform_three(S, XT, start, stop, force, stress):
    """Uniform weights in up to three dimensions; ``S`` symmetric, only ``j > i`` is read.

    Adds the symmetric part of the force to ``force`` (3, N) and returns in ``stress[i]`` the sum of ``(e - S)^2``.
    Two rows at a time, so that the force of j is loaded and stored once for both.
    """
    n = XT.shape[1]
    i = start
    while i < stop:
        k = i + 1 if i + 1 < stop else i
        first = k + 1
        x, y, z = XT[0, first:], XT[1, first:], XT[2, first:]
        fx, fy, fz = force[0, first:], force[1, first:], force[2, first:]
        si, sk = S[i, first:], S[k, first:]
        xi, yi, zi = XT[0, i], XT[1, i], XT[2, i]
        xk, yk, zk = XT[0, k], XT[1, k], XT[2, k]
        sum_i, ax, ay, az = 0.0, 0.0, 0.0, 0.0
        sum_k, bx, by, bz = 0.0, 0.0, 0.0, 0.0
        if k > i:
            for j in range(n - first):
                u, v, w = x[j] - xi, y[j] - yi, z[j] - zi
                u2, v2, w2 = x[j] - xk, y[j] - yk, z[j] - zk
                e = np.sqrt(u * u + v * v + w * w + TINY)
                e2 = np.sqrt(u2 * u2 + v2 * v2 + w2 * w2 + TINY)
                both = 1.0 / (e * e2)  # one division serves two pairs: 1/e = e2 * both
                r = si[j] - e
                sum_i += r * r
                c = r * e2 * both
                u, v, w = c * u, c * v, c * w
                ax, ay, az = ax - u, ay - v, az - w
                r = sk[j] - e2
                sum_k += r * r
                c = r * e * both
                u2, v2, w2 = c * u2, c * v2, c * w2
                bx, by, bz = bx - u2, by - v2, bz - w2
                fx[j] += u + u2
                fy[j] += v + v2
                fz[j] += w + w2
            u, v, w = xk - xi, yk - yi, zk - zi
            e = np.sqrt(u * u + v * v + w * w + TINY)
            r = S[i, k] - e
            sum_i += r * r
            c = r / e
            ax, ay, az = ax - c * u, ay - c * v, az - c * w
            bx, by, bz = bx + c * u, by + c * v, bz + c * w
            force[0, k] += bx
            force[1, k] += by
            force[2, k] += bz
            stress[k] = sum_k
        else:
            for j in range(n - first):
                u, v, w = x[j] - xi, y[j] - yi, z[j] - zi
                e = np.sqrt(u * u + v * v + w * w + TINY)
                r = si[j] - e
                sum_i += r * r
                c = r / e
                u, v, w = c * u, c * v, c * w
                ax, ay, az = ax - u, ay - v, az - w
                fx[j] += u
                fy[j] += v
                fz[j] += w
        force[0, i] += ax
        force[1, i] += ay
        force[2, i] += az
        stress[i] = sum_i
        i = k + 1


@njit(**OPTIONS)
def _squared_distances(XT, i, first, count, squares):
    """``squares[j] = ||x_{first + j} - x_i||^2 + TINY`` for a chunk."""
    x, y, z = XT[0, first : first + count], XT[1, first : first + count], XT[2, first : first + count]
    xi, yi, zi = XT[0, i], XT[1, i], XT[2, i]
    for j in range(count):
        u, v, w = x[j] - xi, y[j] - yi, z[j] - zi
        squares[j] = u * u + v * v + w * w + TINY
    for axis in range(3, XT.shape[0]):
        x, xi = XT[axis, first : first + count], XT[axis, i]
        for j in range(count):
            u = x[j] - xi
            squares[j] += u * u


@njit(**OPTIONS)
def _push(XT, i, first, count, c, force):
    """Add ``c[j] u`` to the force of ``first + j`` and take it from that of i, for a chunk."""
    for axis in range(XT.shape[0]):
        x, xi, f = XT[axis, first : first + count], XT[axis, i], force[axis, first : first + count]
        total = 0.0
        for j in range(count):
            u = c[j] * (x[j] - xi)
            f[j] += u
            total -= u
        force[axis, i] += total


@njit(**OPTIONS)
def uniform_any(S, XT, start, stop, force, stress):
    """Do the job of ``uniform_three`` in any dimension."""
    n = XT.shape[1]
    e2, c = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        total = 0.0
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            s = S[i, first : first + count]
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                e = np.sqrt(e2[j])
                r = s[j] - e
                total += r * r
                c[j] = r / e
            _push(XT, i, first, count, c, force)
        stress[i] = total


@njit(**OPTIONS)
def weighted(D, DT, W, WT, XT, height, start, stop, force, lift, stress):
    """Any weights: ``D[i, j]`` from i to j, ``DT[i, j] = D[j, i]``, and so for ``W``; height is ``X @ omega``.

    Adds ``c u`` to ``force`` (m, N) and ``g`` to ``lift`` (N,), the force along omega; ``stress[i]`` is the stress of
    the pairs of row i. A negative ``D`` is a hinge: "at least ``-D``", which pulls nothing when the map is farther.
    """
    n = XT.shape[1]
    e2, c = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        total, lift_i = 0.0, 0.0
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            there, back = D[i, first : first + count], DT[i, first : first + count]
            w_there, w_back = W[i, first : first + count], WT[i, first : first + count]
            h, up = height[first : first + count], lift[first : first + count]
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                e = np.sqrt(e2[j])
                a = h[j] - height[i]
                d1 = there[j] if there[j] >= 0.0 else max(-there[j], e + a)
                d2 = back[j] if back[j] >= 0.0 else max(-back[j], e - a)
                w1, w2 = w_there[j], w_back[j]
                r1, r2 = e + a - d1, e - a - d2
                total += w1 * r1 * r1 + w2 * r2 * r2
                # With r = d - D: t - q a - p e = -(w1 r1 + w2 r2)/2 and s - q e - p a = -(w1 r1 - w2 r2)/2,
                # the same numbers without the cancellation.
                c[j] = -0.5 * (w1 * r1 + w2 * r2) / e
                g = -0.5 * (w1 * r1 - w2 * r2)
                up[j] += g
                lift_i -= g
            _push(XT, i, first, count, c, force)
        lift[i] += lift_i
        stress[i] = total


@njit(**OPTIONS)
def weighted_three(D, DT, W, WT, XT, height, start, stop, force, lift, stress):
    """Do the job of ``weighted`` in up to three dimensions, two rows at a time: one division serves two pairs."""
    n, i = XT.shape[1], start
    while i < stop:
        first = i + 2 if i + 1 < stop else n
        for j in range(i + 1, first):
            _weighted_pair(D, DT, W, WT, XT, height, i, j, force, lift, stress)
        if first < n:
            _weighted_rows(D, DT, W, WT, XT, height, i, force, lift, stress)
        i += 2


@njit(**OPTIONS)
def _beyond(distance, d):
    """How far a distance is beyond d; beyond a bound, nothing."""
    return distance - d if d >= 0.0 else min(distance + d, 0.0)


@njit(**OPTIONS)
def _weighted_pair(D, DT, W, WT, XT, height, i, j, force, lift, stress):
    u, v, w = XT[0, j] - XT[0, i], XT[1, j] - XT[1, i], XT[2, j] - XT[2, i]
    e, a = np.sqrt(u * u + v * v + w * w + TINY), height[j] - height[i]
    r1, r2 = _beyond(e + a, D[i, j]), _beyond(e - a, DT[i, j])
    p1, p2 = W[i, j] * r1, WT[i, j] * r2
    stress[i] += p1 * r1 + p2 * r2
    c, g = -0.5 * (p1 + p2) / e, -0.5 * (p1 - p2)
    for at, sign in ((i, -1.0), (j, 1.0)):
        force[0, at] += sign * c * u
        force[1, at] += sign * c * v
        force[2, at] += sign * c * w
        lift[at] += sign * g


@njit(**OPTIONS)
def _weighted_rows(D, DT, W, WT, XT, height, i, force, lift, stress):
    """Pairs of the rows i and ``k = i + 1`` with all points after them."""
    k = i + 1
    x, y, z, h = XT[0, k + 1 :], XT[1, k + 1 :], XT[2, k + 1 :], height[k + 1 :]
    fx, fy, fz, up = force[0, k + 1 :], force[1, k + 1 :], force[2, k + 1 :], lift[k + 1 :]
    there_i, back_i, w_there_i, w_back_i = D[i, k + 1 :], DT[i, k + 1 :], W[i, k + 1 :], WT[i, k + 1 :]
    there_k, back_k, w_there_k, w_back_k = D[k, k + 1 :], DT[k, k + 1 :], W[k, k + 1 :], WT[k, k + 1 :]
    xi, yi, zi, hi = XT[0, i], XT[1, i], XT[2, i], height[i]
    xk, yk, zk, hk = XT[0, k], XT[1, k], XT[2, k], height[k]
    sum_i, ax, ay, az, lift_i = 0.0, 0.0, 0.0, 0.0, 0.0
    sum_k, bx, by, bz, lift_k = 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(len(x)):
        u, v, w = x[j] - xi, y[j] - yi, z[j] - zi
        u2, v2, w2 = x[j] - xk, y[j] - yk, z[j] - zk
        e = np.sqrt(u * u + v * v + w * w + TINY)
        e2 = np.sqrt(u2 * u2 + v2 * v2 + w2 * w2 + TINY)
        both = -0.5 / (e * e2)
        a = h[j] - hi
        r1, r2 = _beyond(e + a, there_i[j]), _beyond(e - a, back_i[j])
        p1, p2 = w_there_i[j] * r1, w_back_i[j] * r2
        sum_i += p1 * r1 + p2 * r2
        c, g = (p1 + p2) * e2 * both, -0.5 * (p1 - p2)
        u, v, w = c * u, c * v, c * w
        ax, ay, az, lift_i = ax - u, ay - v, az - w, lift_i - g
        a = h[j] - hk
        r1, r2 = _beyond(e2 + a, there_k[j]), _beyond(e2 - a, back_k[j])
        p1, p2 = w_there_k[j] * r1, w_back_k[j] * r2
        sum_k += p1 * r1 + p2 * r2
        c, g2 = (p1 + p2) * e * both, -0.5 * (p1 - p2)
        u2, v2, w2 = c * u2, c * v2, c * w2
        bx, by, bz, lift_k = bx - u2, by - v2, bz - w2, lift_k - g2
        fx[j] += u + u2
        fy[j] += v + v2
        fz[j] += w + w2
        up[j] += g + g2
    force[0, i] += ax
    force[1, i] += ay
    force[2, i] += az
    force[0, k] += bx
    force[1, k] += by
    force[2, k] += bz
    lift[i] += lift_i
    lift[k] += lift_k
    stress[i] += sum_i
    stress[k] += sum_k


@njit(**OPTIONS)
def weighted_drift(D, DT, W, WT, XT, height, start, stop, laplacian, pull):
    """Terms of the least squares for the drift at fixed points, ``(X' L(p) X) omega = X' pull``.

    Adds ``L(p) X`` to ``laplacian`` (m, N) and ``sum_i s_ij - q_ij e_ij`` to ``pull`` (N,).
    """
    n = XT.shape[1]
    e2, c = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        pull_i = 0.0
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            there, back = D[i, first : first + count], DT[i, first : first + count]
            w_there, w_back = W[i, first : first + count], WT[i, first : first + count]
            h, pulls = height[first : first + count], pull[first : first + count]
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                e = np.sqrt(e2[j])
                a = h[j] - height[i]
                d1 = there[j] if there[j] >= 0.0 else max(-there[j], e + a)
                d2 = back[j] if back[j] >= 0.0 else max(-back[j], e - a)
                w1, w2 = w_there[j], w_back[j]
                c[j] = 0.5 * (w1 + w2)
                g = 0.5 * (w1 * (d1 - e) - w2 * (d2 - e))
                pulls[j] += g
                pull_i -= g
            _push(XT, i, first, count, c, laplacian)
        pull[i] += pull_i


# asin(y) = y + y z P(z)/Q(z) with z = y^2 <= 1/4 (fdlibm); sums and selects alone, which vector instructions can do.
P0, P1, P2 = 1.66666666666666657415e-01, -3.25565818622400915405e-01, 2.01212532134862925881e-01
P3, P4, P5 = -4.00555345006794114027e-02, 7.91534994289814532176e-04, 3.47933107596021167570e-05
Q1, Q2 = -2.40339491173441421878e00, 2.02094576023350569471e00
Q3, Q4 = -6.88283971605453293030e-01, 7.70381505559019352791e-02
HALF_PI = np.pi / 2
SERIES = 1e-2  # below this kappa e, the first terms of the cost in powers of it are exact to rounding


@njit(**OPTIONS)
def arc(e, kappa):
    """Cost f of a chord e (see `finsler.geometry.swirl`), its slope ``f'(e)``, and ``df/dkappa``."""
    t = kappa * e
    t = t if t < 1.0 else 1.0
    s = t * t
    root = np.sqrt(1.0 - s)
    z = 0.5 * (1.0 - t) if t > 0.5 else s  # asin t = pi/2 - 2 asin sqrt((1 - t)/2)
    y = np.sqrt(z)
    y += (
        y
        * z
        * (P0 + z * (P1 + z * (P2 + z * (P3 + z * (P4 + z * P5)))))
        / (1.0 + z * (Q1 + z * (Q2 + z * (Q3 + z * Q4))))
    )
    angle = HALF_PI - 2.0 * y if t > 0.5 else y
    exact = 0.5 * (angle + t * root) / kappa
    series = e * (1.0 - s * (1.0 / 6.0 + s * (1.0 / 40.0 + s / 112.0)))
    f = series if t < SERIES else exact
    first = -e * e * t * (1.0 / 3.0 + s * (0.1 + s * (3.0 / 56.0)))
    tilt = first if t < SERIES else (e * root - f) / kappa
    return f, root, tilt


# Placing single points among fixed ones, by damped Gauss-Newton (Levenberg-Marquardt) steps.
#
# With one free point the problem has only m unknowns, so an m x m system per step is cheap and converges in a few
# steps where majorization would take hundreds.


@njit(**OPTIONS)
def _linearize(there, back, w_there, w_back, X, omega, kappa, y, gradient, hessian):
    """Stress of a point at ``y``, half its gradient, and half its Hessian without the curvature of the distances.

    ``omega[j]`` is the drift at ``X[j]``: where it turns, the skew part is still ``omega_j . (x_j - y)``. With ``kappa > 0``
    ways are arcs.
    """
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
            a += omega[j, axis] * u
        e = np.sqrt(e)
        cost, rise = e, 1.0
        if kappa > 0.0:
            cost, rise, _ = arc(e, kappa)
        for way in range(2):
            # way 0 from y to X[j], way 1 from X[j] to y
            sign = 1.0 - 2.0 * way
            w = w_back[j] if way else w_there[j]
            if w == 0.0:
                continue
            r = cost + sign * a - (back[j] if way else there[j])
            total += w * r * r
            for axis in range(m):
                slope[axis] = -(X[j, axis] - y[axis]) / e * rise - sign * omega[j, axis]
            for k in range(m):
                gradient[k] += w * r * slope[k]
                for l in range(k + 1):  # noqa: E741
                    hessian[k, l] += w * slope[k] * slope[l]
    for k in range(m):
        for l in range(k):  # noqa: E741
            hessian[l, k] = hessian[k, l]
    return total


@njit(**OPTIONS)
def place_rows(
    to, back, w_to, w_back, X, omega, kappa, starts, max_iter, tol, start, stop, places, stress, n_iter
):  # fmt: skip
    """Place rows ``start:stop`` of new points, each from every one of its ``starts`` (rows, k, m), and keep the best."""
    m = X.shape[1]
    gradient, hessian = np.empty(m), np.empty((m, m))
    next_gradient, next_hessian = np.empty(m), np.empty((m, m))
    damped = np.empty((m, m))
    for i in range(start, stop):
        stress[i] = np.inf
        for k in range(starts.shape[1]):
            y = starts[i, k].copy()
            value = _linearize(to[i], back[i], w_to[i], w_back[i], X, omega, kappa, y, gradient, hessian)
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
                    to[i], back[i], w_to[i], w_back[i], X, omega, kappa, y + step, next_gradient, next_hessian
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
