"""One pass over the pairs of the sparse stress, node by node: stress, force and curvature.

Notation of `finsler.kernels.dense`: half-weights, so that the stress counts each ordered pair once and the force is
minus half of the gradient of half of the stress. Pairs of a node and the pivots are read row by row; the pivots, and
what they are pulled by, stay in the first-level cache. Types of coordinates and forces follow those of ``P``: float32
takes half the time and is enough for maps of more than some thousand nodes.
"""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS


@njit(**OPTIONS)
def _squares(P, x, e2):
    """Squared distances of the pivots from x, into ``e2``."""
    e2[:] = P.dtype.type(1e-30)
    for k in range(len(x)):
        xk, Pk = x[k], P[k]
        for p in range(len(e2)):
            u = Pk[p] - xk
            e2[p] += u * u


@njit(**OPTIONS)
def _forces(P, x, c, up, omega, force, pull):
    """Force of the pivots on x, into ``force``, and of x on the pivots, added to ``pull``."""
    for k in range(len(x)):
        xk, Pk, pk = x[k], P[k], pull[k]
        push = P.dtype.type(0)
        for p in range(len(c)):
            f = c[p] * (Pk[p] - xk)
            push -= f
            pk[p] += f
        force[k] = push + up * P.dtype.type(omega[k])


@njit(**OPTIONS)
def pivot_block(
    out_of, into, far, bound, ahead, behind, soft, power, P, lift, X, omega, start, stop, force, curve, pull, press
):  # fmt: skip
    """Pairs of the nodes ``start:stop`` with all pivots.

    ``P`` (m, h) are the pivots and ``lift = omega . P``; ``X`` (N, m). A pair weighs ``ahead[p]`` (from the node to
    the pivot) or ``behind[p]`` over ``(D^2 + soft[p])^(power/2)``. Entries ``>= far`` have no path: they weigh
    nothing if ``bound`` is 0; else they are bounds, "at least ``bound``".

    Sets ``force`` (N, m) and ``curve`` (3, N): the curvature across the drift, what is added along it, and the stress of
    the node; adds to ``pull`` (m + 1, h), forces on the pivots with the lift last, and ``press`` (2, h), their curvature.
    Returns the stress and the weighted sum of squared distances.
    """
    m, h = P.shape
    kind = P.dtype.type
    half, zero = kind(0.5), kind(0)
    limit, least, alpha = kind(far), kind(bound), kind(np.sqrt(np.sum(omega * omega)))
    e2, c, g = np.empty(h, P.dtype), np.empty(h, P.dtype), np.empty(h, P.dtype)
    x = np.empty(m, P.dtype)
    total, square = 0.0, 0.0
    for i in range(start, stop):
        height = zero
        for k in range(m):
            x[k] = kind(X[i, k])
            height += kind(omega[k]) * x[k]
        _squares(P, x, e2)
        row, col = out_of[i], into[i]
        misfit, size, across, along, up = zero, zero, zero, zero, zero
        for p in range(h):
            e = np.sqrt(e2[p])
            a = lift[p] - height
            d1, d2 = kind(row[p]), kind(col[p])
            no1, no2 = d1 >= limit, d2 >= limit
            d1, d2 = least if no1 else d1, least if no2 else d2
            w1, w2 = ahead[p], behind[p]
            if power == 1:
                w1, w2 = w1 / np.sqrt(d1 * d1 + soft[p]), w2 / np.sqrt(d2 * d2 + soft[p])
            elif power == 2:
                w1, w2 = w1 / (d1 * d1 + soft[p]), w2 / (d2 * d2 + soft[p])
            if power > 0:  # the pivot itself
                w1, w2 = zero if d1 == zero else w1, zero if d2 == zero else w2
            r1, r2 = e + a - d1, e - a - d2
            # A bound that is kept costs nothing; without a bound neither does a pair without a path.
            r1 = zero if no1 and (least == zero or r1 > zero) else r1
            r2 = zero if no2 and (least == zero or r2 > zero) else r2
            w1 = zero if no1 and least == zero else w1
            w2 = zero if no2 and least == zero else w2
            misfit += w1 * r1 * r1 + w2 * r2 * r2
            size += w1 * (zero if no1 else d1 * d1) + w2 * (zero if no2 else d2 * d2)
            c[p] = -half * (w1 * r1 + w2 * r2) / e
            g[p] = -half * (w1 * r1 - w2 * r2)
            up -= g[p]
            both = half * (w1 + w2)
            bend = both + alpha * abs(w1 - w2)
            across += bend
            along += both
            pull[m, p] += g[p]
            press[0, p] += bend
            press[1, p] += both
        _forces(P, x, c, up, omega, force[i], pull)
        curve[0, i], curve[1, i], curve[2, i] = across, along, misfit
        total += misfit
        square += size
    return total, square


@njit(**OPTIONS)
def pivot_rows(
    out_of, into, far, bound, ahead, behind, soft, power, P, lift, X, omega, times, force, curve, pull, press
):
    """The pairs of pivots with each other: rows of `pivot_block` that count ``times[p]`` times."""
    total, square = 0.0, 0.0
    for p in range(len(times)):
        a, b = ahead * times[p], behind * times[p]
        part = pivot_block(
            out_of, into, far, bound, a, b, soft, power, P, lift, X, omega, p, p + 1, force, curve, pull, press
        )  # fmt: skip
        total += part[0]
        square += part[1]
    return total, square


@njit(**OPTIONS)
def partner_block(partner, there, weight, power, X, omega, start, stop, force, curve):
    """Pairs of the nodes ``start:stop`` with partners; of pair k, ``partner[partner[i, k], k] == i``.

    ``there[i, k]`` is the distance from the node to its partner, negative if unknown; its weight is
    ``weight / there^power``. Adds to ``force`` and ``curve`` as `arc_block` does; returns stress and sum of squares.
    """
    m = X.shape[1]
    alpha = np.sqrt(np.sum(omega * omega))
    total, square = 0.0, 0.0
    for i in range(start, stop):
        for k in range(partner.shape[1]):
            j = partner[i, k]
            d1, d2 = np.float64(there[i, k]), np.float64(there[j, k])
            if j == i:
                continue
            w1, w2 = weight if d1 >= 0.0 else 0.0, weight if d2 >= 0.0 else 0.0
            if power > 0:
                w1 = w1 / d1**power if d1 > 0.0 else 0.0
                w2 = w2 / d2**power if d2 > 0.0 else 0.0
            e2, a = 1e-30, 0.0
            for q in range(m):
                u = X[j, q] - X[i, q]
                e2 += u * u
                a += omega[q] * u
            e = np.sqrt(e2)
            r1, r2 = e + a - d1, e - a - d2
            misfit = 0.5 * (w1 * r1 * r1 + w2 * r2 * r2)  # its other half comes with the partner
            total += misfit
            curve[2, i] += misfit
            square += 0.5 * (w1 * d1 * d1 + w2 * d2 * d2)
            c = 0.5 * (w1 * r1 + w2 * r2) / e
            g = 0.5 * (w1 * r1 - w2 * r2)
            for q in range(m):
                force[i, q] += c * (X[j, q] - X[i, q]) + g * omega[q]
            bend = 0.5 * (w1 + w2)
            curve[0, i] += 2.0 * (bend + alpha * abs(w1 - w2))
            curve[1, i] += 2.0 * bend
    return total, square


@njit(**OPTIONS)
def arc_block(indptr, indices, lengths, power, weight, outward, X, omega, start, stop, force, curve):
    """Arcs that leave (or, if not ``outward``, that enter) the nodes ``start:stop``; weights ``weight/length^power``.

    Adds to ``force`` and ``curve``, twice the curvature: the other end moves as well, and
    ``||s - t||^2 <= 2 ||s||^2 + 2 ||t||^2``. Returns the stress and the weighted sum of squared lengths.
    """
    m = X.shape[1]
    alpha = np.sqrt(np.sum(omega * omega))
    total, square = 0.0, 0.0
    for i in range(start, stop):
        for arc in range(indptr[i], indptr[i + 1]):
            j, length = indices[arc], lengths[arc]
            if power > 0 and length == 0.0:
                continue
            w = weight if power == 0 else weight / length if power == 1 else weight / (length * length)
            e2, a = 1e-30, 0.0
            for k in range(m):
                u = X[j, k] - X[i, k]
                e2 += u * u
                a += omega[k] * u
            e = np.sqrt(e2)
            r = e + (a if outward else -a) - length
            total += w * r * r
            curve[2, i] += 0.5 * w * r * r
            square += w * length * length
            c = 0.5 * w * r / e
            g = 0.5 * w * r if outward else -0.5 * w * r
            for k in range(m):
                force[i, k] += c * (X[j, k] - X[i, k]) + g * omega[k]
            curve[0, i] += w * (1.0 + 2.0 * alpha)
            curve[1, i] += w
    return total, square


@njit(**OPTIONS)
def drift_block(
    out_of, into, far, bound, ahead, behind, soft, power, P, X, omega, start, stop, second, moment
):
    """Least squares for the drift over the pairs of the nodes ``start:stop`` with all pivots.

    Adds ``sum w u u'`` to ``second`` (m, m) and ``sum w (D - e) u`` to ``moment`` (m,), with u from the node to the
    pivot for the way there, and from the pivot to the node for the way back.
    """
    m, h = P.shape
    U, e2, both, odd = np.empty((m, h)), np.empty(h), np.empty(h), np.empty(h)
    for i in range(start, stop):
        e2[:] = 0.0
        odd[:] = 0.0  # here: the difference in height, below: the pull along u
        for k in range(m):
            for p in range(h):
                U[k, p] = P[k, p] - X[i, k]
                e2[p] += U[k, p] * U[k, p]
                odd[p] += omega[k] * U[k, p]
        for p in range(h):
            e, a = np.sqrt(e2[p]), odd[p]
            d1, d2 = np.float64(out_of[i, p]), np.float64(into[i, p])
            w1, w2 = np.float64(ahead[p]), np.float64(behind[p])
            w1 = 0.0 if d1 >= far and bound == 0.0 else w1
            w2 = 0.0 if d2 >= far and bound == 0.0 else w2
            d1 = max(bound, e + a) if d1 >= far else d1
            d2 = max(bound, e - a) if d2 >= far else d2
            if power == 2:
                w1, w2 = w1 / (d1 * d1 + soft[p]), w2 / (d2 * d2 + soft[p])
            elif power == 1:
                w1, w2 = w1 / np.sqrt(d1 * d1 + soft[p]), w2 / np.sqrt(d2 * d2 + soft[p])
            if power > 0:
                w1, w2 = 0.0 if d1 == 0.0 else w1, 0.0 if d2 == 0.0 else w2
            both[p] = w1 + w2
            odd[p] = w1 * (d1 - e) - w2 * (d2 - e)
        for k in range(m):
            Uk = U[k]
            total = 0.0
            for p in range(h):
                total += odd[p] * Uk[p]
            moment[k] += total
            for q in range(k + 1):
                Uq = U[q]
                total = 0.0
                for p in range(h):
                    total += both[p] * Uk[p] * Uq[p]
                second[k, q] += total
                if q < k:
                    second[q, k] += total


@njit(**OPTIONS)
def trilaterate_block(out_of, into, far, mass, soft, P, ridge, start, stop, X, known):
    """First guess of the nodes ``start:stop`` from their distances S to pivots at ``P`` (m, h), into ``X`` (N, m).

    Least squares for ``S_p^2 = ||x - P_p||^2``, linear once the means over the pivots are taken out, with weights
    ``mass / (S^2 + soft)``; S is the mean of both ways, or the one there is. ``known[i]`` counts the pivots with any.
    """
    m, h = P.shape
    S, w = np.empty(h), np.empty(h)
    center, step, A = np.empty(m), np.empty(m), np.empty((m, m))
    for i in range(start, stop):
        total, count = 0.0, 0
        for p in range(h):
            a, b = np.float64(out_of[i, p]), np.float64(into[i, p])
            there, back = a < far, b < far
            S[p] = 0.5 * (a + b) if there and back else (a if there else b)
            w[p] = mass[p] / (S[p] * S[p] + soft[p]) if there or back else 0.0
            S[p] = S[p] if there or back else 0.0
            total += w[p]
            count += there or back
        known[i] = count
        if total == 0.0:
            X[i] = 0.0
            continue
        mean, widest = 0.0, 0.0
        for k in range(m):
            sum_k = 0.0
            for p in range(h):
                sum_k += w[p] * P[k, p]
            center[k] = sum_k / total
        for p in range(h):
            widest = max(widest, S[p])
            square = S[p] * S[p]
            for k in range(m):
                square -= (P[k, p] - center[k]) ** 2
            S[p] = square
            mean += w[p] * square / total
        trace = 0.0
        for k in range(m):
            sum_k = 0.0
            for p in range(h):
                sum_k -= 0.5 * w[p] * (P[k, p] - center[k]) * (S[p] - mean)
            step[k] = sum_k
            for q in range(k + 1):
                sum_k = 0.0
                for p in range(h):
                    sum_k += w[p] * (P[k, p] - center[k]) * (P[q, p] - center[q])
                A[k, q] = sum_k
                A[q, k] = sum_k
            trace += A[k, k]
        if trace > 0.0:
            for k in range(m):
                A[k, k] += ridge * trace
            for k in range(m):  # elimination; A is positive definite
                for q in range(k + 1, m):
                    f = A[q, k] / A[k, k]
                    for j in range(k, m):
                        A[q, j] -= f * A[k, j]
                    step[q] -= f * step[k]
            for k in range(m - 1, -1, -1):
                for q in range(k + 1, m):
                    step[k] -= A[k, q] * step[q]
                step[k] /= A[k, k]
        else:
            step[:] = 0.0
        size = np.sqrt(np.sum(step * step))
        shrink = min(1.0, 2.0 * widest / size) if size > 0.0 else 1.0
        for k in range(m):
            X[i, k] = center[k] + shrink * step[k]


@njit(**OPTIONS)
def chunk(rows, columns, D, W, X, omega, force, curve, second, moment):
    """Ordered pairs from ``rows`` to ``columns``; a negative D is a bound, "at least -D".

    Adds to ``force`` (N, m) and to ``curve`` (3, N) as `arc_block` does, and the terms of the least squares for the
    drift to ``second`` (m, m) and ``moment`` (m,). Returns the stress and the weighted sum of squares, bounds left out.
    """
    m = X.shape[1]
    alpha = np.sqrt(np.sum(omega * omega))
    u = np.empty(m)
    total, square = 0.0, 0.0
    for t in range(len(rows)):
        i, j, w, d = rows[t], columns[t], W[t], D[t]
        if not w > 0.0:
            continue
        e2, a = 1e-300, 0.0
        for k in range(m):
            u[k] = X[j, k] - X[i, k]
            e2 += u[k] * u[k]
            a += omega[k] * u[k]
        e = np.sqrt(e2)
        if d >= 0.0:
            square += w * d * d
        else:
            d = max(-d, e + a)
        r = e + a - d
        total += w * r * r
        g = -0.5 * w * r
        for k in range(m):
            push = g * (u[k] / e + omega[k])
            force[j, k] += push
            force[i, k] -= push
            moment[k] += w * (d - e) * u[k]
            for q in range(m):
                second[k, q] += w * u[k] * u[q]
        for end in (i, j):
            curve[0, end] += w * (1.0 + 2.0 * alpha)
            curve[1, end] += w
            curve[2, end] += 0.5 * w * r * r
    return total, square
