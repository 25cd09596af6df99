"""One pass over the pairs of the sparse stress of maps whose drift turns: the kernels of `finsler.kernels.sparse` for them.

``OX`` (N, m) holds the drift ``omega_i = w + K x_i`` at each node and ``OP`` (m, h) that at the pivots; ``alpha`` is the
largest norm of any. A pair costs ``f(e) + omega_i . u``, and pushes i along ``omega_j`` and j along ``omega_i``. With
``kappa > 0`` (in the plane) ways are arcs, see `finsler.kernels.dense.arc`; else f(e) = e.
"""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import arc


@njit(**OPTIONS)
def _entry(value, mass, soft, far, bound, power):
    """Distance and weight of a pair with a pivot, and whether it is a bound; without a path and a bound it weighs 0."""
    none = value >= far
    d = bound if none else value
    w = mass
    if power == 1:
        w = w / np.sqrt(d * d + soft)
    elif power == 2:
        w = w / (d * d + soft)
    if (power > 0 and d == 0) or (none and bound == 0):
        w = mass * 0
    return d, w, none


@njit(**OPTIONS)
def _chords(P, x, o, f, a):
    """Squared distances of the pivots from x, into ``f``, and ``o . (P - x)``, into ``a``."""
    f[:] = P.dtype.type(1e-30)
    a[:] = P.dtype.type(0)
    for k in range(len(x)):
        xk, ok, Pk = x[k], o[k], P[k]
        for p in range(len(f)):
            u = Pk[p] - xk
            f[p] += u * u
            a[p] += ok * u


@njit(**OPTIONS)
def _costs(f, kappa, slope):
    """From squared distances, in place, the costs f(e), and ``f'(e)/e``."""
    for p in range(len(f)):
        e = np.sqrt(f[p])
        if kappa > 0:
            cost, rise, _ = arc(e, kappa)
            f[p], slope[p] = cost, rise / e
        else:
            f[p], slope[p] = e, 1 / e


@njit(**OPTIONS)
def pivot_block(
    out_of, into, far, bound, ahead, behind, soft, power, P, OP, X, OX, alpha, kappa, start, stop, force, curve, pull, press
):  # fmt: skip
    """Pairs of the nodes ``start:stop`` with all pivots, as ``sparse.pivot_block``; ``pull`` (m, h) holds whole forces."""
    m, h = P.shape
    kind = P.dtype.type
    half, zero = kind(0.5), kind(0)
    limit, least, steep, bent = kind(far), kind(bound), kind(alpha), kind(kappa)
    f, a, c, g = np.empty(h, P.dtype), np.empty(h, P.dtype), np.empty(h, P.dtype), np.empty(h, P.dtype)
    x, o = np.empty(m, P.dtype), np.empty(m, P.dtype)
    total, square = 0.0, 0.0
    for i in range(start, stop):
        for k in range(m):
            x[k], o[k] = kind(X[i, k]), kind(OX[i, k])
        _chords(P, x, o, f, a)
        _costs(f, bent, c)
        row, col = out_of[i], into[i]
        misfit, size, across, along = zero, zero, zero, zero
        for p in range(h):
            d1, w1, no1 = _entry(kind(row[p]), ahead[p], soft[p], limit, least, power)
            d2, w2, no2 = _entry(kind(col[p]), behind[p], soft[p], limit, least, power)
            r1, r2 = f[p] + a[p] - d1, f[p] - a[p] - d2
            r1 = zero if no1 and (least == zero or r1 > zero) else r1
            r2 = zero if no2 and (least == zero or r2 > zero) else r2
            misfit += w1 * r1 * r1 + w2 * r2 * r2
            size += w1 * (zero if no1 else d1 * d1) + w2 * (zero if no2 else d2 * d2)
            c[p] *= -half * (w1 * r1 + w2 * r2)
            g[p] = -half * (w1 * r1 - w2 * r2)
            both = half * (w1 + w2)
            bend = both + steep * abs(w1 - w2)
            across += bend
            along += both
            press[0, p] += bend
            press[1, p] += both
        for k in range(m):
            xk, ok, Pk, Ok, pk = x[k], o[k], P[k], OP[k], pull[k]
            push = zero
            for p in range(h):
                u = c[p] * (Pk[p] - xk)
                push -= u + g[p] * Ok[p]
                pk[p] += u + g[p] * ok
            force[i, k] = push
        curve[0, i], curve[1, i], curve[2, i] = across, along, misfit
        total += misfit
        square += size
    return total, square


@njit(**OPTIONS)
def pivot_rows(
    out_of, into, far, bound, ahead, behind, soft, power, P, OP, X, OX, alpha, kappa, times, force, curve, pull, press
):  # fmt: skip
    """The pairs of pivots with each other: rows of `pivot_block` that count ``times[p]`` times."""
    total, square = 0.0, 0.0
    for p in range(len(times)):
        a, b = ahead * times[p], behind * times[p]
        part = pivot_block(
            out_of, into, far, bound, a, b, soft, power, P, OP, X, OX, alpha, kappa, p, p + 1, force, curve, pull, press
        )  # fmt: skip
        total += part[0]
        square += part[1]
    return total, square


@njit(**OPTIONS)
def _way(X, OX, i, j, kappa):
    """Cost f, ``f'(e)/e`` and skew part of the way from i to j."""
    e2, a = 1e-30, 0.0
    for k in range(X.shape[1]):
        u = X[j, k] - X[i, k]
        e2 += u * u
        a += OX[i, k] * u
    e = np.sqrt(e2)
    if kappa > 0.0:
        f, rise, _ = arc(e, kappa)
        return f, rise / e, a
    return e, 1.0 / e, a


@njit(**OPTIONS)
def partner_block(partner, there, weight, power, X, OX, alpha, kappa, start, stop, force, curve):
    """Pairs of the nodes ``start:stop`` with partners, as ``sparse.partner_block``."""
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
            f, slope, a = _way(X, OX, i, j, kappa)
            r1, r2 = f + a - d1, f - a - d2
            misfit = 0.5 * (w1 * r1 * r1 + w2 * r2 * r2)  # its other half comes with the partner
            total += misfit
            curve[2, i] += misfit
            square += 0.5 * (w1 * d1 * d1 + w2 * d2 * d2)
            c = 0.5 * (w1 * r1 + w2 * r2) * slope
            g = 0.5 * (w1 * r1 - w2 * r2)
            for q in range(X.shape[1]):
                force[i, q] += c * (X[j, q] - X[i, q]) + g * OX[j, q]
            bend = 0.5 * (w1 + w2)
            curve[0, i] += 2.0 * (bend + alpha * abs(w1 - w2))
            curve[1, i] += 2.0 * bend
    return total, square


@njit(**OPTIONS)
def arc_block(
    indptr, indices, lengths, power, weight, outward, X, OX, alpha, kappa, start, stop, force, curve
):
    """Arcs that leave or enter the nodes ``start:stop``, as ``sparse.arc_block``."""
    total, square = 0.0, 0.0
    for i in range(start, stop):
        for t in range(indptr[i], indptr[i + 1]):
            j, length = indices[t], lengths[t]
            if power > 0 and length == 0.0:
                continue
            w = weight if power == 0 else weight / length if power == 1 else weight / (length * length)
            f, slope, a = _way(X, OX, i, j, kappa)
            r = f + (a if outward else -a) - length
            total += w * r * r
            curve[2, i] += 0.5 * w * r * r
            square += w * length * length
            c = 0.5 * w * r * slope
            g = 0.5 * w * r if outward else -0.5 * w * r
            for k in range(X.shape[1]):
                force[i, k] += c * (X[j, k] - X[i, k]) + g * OX[j, k]
            curve[0, i] += w * (1.0 + 2.0 * alpha)
            curve[1, i] += w
    return total, square


@njit(**OPTIONS)
def _add_terms(phi, e, w1, w2, y1, y2, kappa, sign, sums):
    """Add both ways of a pair to the least squares for the field: phi its factors, ``y = D - f`` for either way.

    ``sums`` as in ``swirl.weighted_field``, from the second on: lower triangle of H, then b. For arcs the last unknown
    changes f as well.
    """
    k = len(phi)
    both, odd, tilt = w1 + w2, w1 * y1 - w2 * y2, 0.0
    if kappa > 0.0:
        _, _, turned = arc(e, kappa)
        tilt = sign * turned
        y1, y2 = y1 + tilt * sign * kappa, y2 + tilt * sign * kappa
        odd = w1 * y1 - w2 * y2
    at = 0
    for p in range(k):
        for q in range(p + 1):
            sums[at] += both * phi[p] * phi[q]
            at += 1
    for p in range(k):
        sums[at + p] += odd * phi[p]
    if kappa > 0.0:
        last = (k - 1) * k // 2
        for p in range(k - 1):
            sums[last + p] += (w1 - w2) * tilt * phi[p]
        sums[last + k - 1] += 2.0 * (w1 - w2) * tilt * phi[k - 1] + both * tilt * tilt
        sums[at + k - 1] += (w1 * y1 + w2 * y2) * tilt


@njit(**OPTIONS)
def _factors(x, y, phi):
    """``phi = (u, x_a y_b - x_b y_a)`` of the way from x to y, into ``phi``; returns its length."""
    m, row, e2 = len(x), len(x), 0.0
    for a in range(m):
        phi[a] = y[a] - x[a]
        e2 += phi[a] * phi[a]
        for b in range(a + 1, m):
            phi[row] = x[a] * y[b] - x[b] * y[a]
            row += 1
    return np.sqrt(e2)


@njit(**OPTIONS)
def field_block(
    out_of, into, far, bound, ahead, behind, soft, power, P, X, OX, kappa, sign, start, stop, sums
):
    """Least squares for the drift field over the pairs of the nodes ``start:stop`` with the pivots at ``P`` (m, h).

    Adds to ``sums`` as `_add_terms` does, all pivots at a time.
    """
    m, h = P.shape
    k = m + m * (m - 1) // 2
    phi, f, a = np.empty((k, h)), np.empty(h), np.empty(h)
    both, odd, even = np.empty(h), np.empty(h), np.empty(h)
    tilt, part = np.zeros(h), np.zeros(h)
    corner = k * (k + 1) // 2  # where b begins
    for i in range(start, stop):
        f[:] = 1e-30
        a[:] = 0.0
        row = m
        for p in range(m):
            xp, op, Pp = X[i, p], OX[i, p], P[p]
            for j in range(h):
                u = Pp[j] - xp
                phi[p, j] = u
                f[j] += u * u
                a[j] += op * u
            for q in range(p + 1, m):
                xq, Pq = X[i, q], P[q]
                for j in range(h):
                    phi[row, j] = xp * Pq[j] - xq * Pp[j]
                row += 1
        for j in range(h):
            f[j] = np.sqrt(f[j])
            if kappa > 0.0:
                f[j], _, turned = arc(f[j], kappa)
                tilt[j] = sign * turned
        for j in range(h):
            d1, w1, no1 = _entry(
                np.float64(out_of[i, j]), np.float64(ahead[j]), np.float64(soft[j]), far, bound, power
            )
            d2, w2, no2 = _entry(
                np.float64(into[i, j]), np.float64(behind[j]), np.float64(soft[j]), far, bound, power
            )
            # A bound that is kept asks for nothing; f is linear in the last unknown, about its value so far.
            y1 = (max(d1, f[j] + a[j]) if no1 else d1) - f[j] + tilt[j] * sign * kappa
            y2 = (max(d2, f[j] - a[j]) if no2 else d2) - f[j] + tilt[j] * sign * kappa
            both[j], part[j] = w1 + w2, (w1 - w2) * tilt[j]
            odd[j], even[j] = w1 * y1 - w2 * y2, w1 * y1 + w2 * y2
        at = 0
        for p in range(k):
            total = 0.0
            for j in range(h):
                total += odd[j] * phi[p, j]
            sums[corner + p] += total
            for q in range(p + 1):
                total = 0.0
                for j in range(h):
                    total += both[j] * phi[p, j] * phi[q, j]
                sums[at] += total
                at += 1
        if kappa > 0.0:
            for p in range(k):
                total = 0.0
                for j in range(h):
                    total += part[j] * phi[p, j]
                sums[corner - k + p] += total if p < k - 1 else 2.0 * total
            square, pull = 0.0, 0.0
            for j in range(h):
                square += both[j] * tilt[j] * tilt[j]
                pull += even[j] * tilt[j]
            sums[corner - 1] += square
            sums[corner + k - 1] += pull


@njit(**OPTIONS)
def chunk(rows, columns, D, W, X, OX, alpha, kappa, sign, force, curve, sums):
    """Ordered pairs from ``rows`` to ``columns``, as ``sparse.chunk``; terms for the field go to ``sums``."""
    m = X.shape[1]
    phi = np.empty(m + m * (m - 1) // 2)
    total, square = 0.0, 0.0
    for t in range(len(rows)):
        i, j, w, d = rows[t], columns[t], W[t], D[t]
        if not w > 0.0:
            continue
        f, slope, a = _way(X, OX, i, j, kappa)
        if d >= 0.0:
            square += w * d * d
        else:
            d = max(-d, f + a)
        r = f + a - d
        total += w * r * r
        e = _factors(X[i], X[j], phi)
        _add_terms(phi, e, w, 0.0, d - f, 0.0, kappa, sign, sums)
        g = -0.5 * w * r
        for k in range(m):
            push = g * slope * phi[k]
            force[j, k] += push + g * OX[i, k]
            force[i, k] -= push + g * OX[j, k]
        for end in (i, j):
            curve[0, end] += w * (1.0 + 2.0 * alpha)
            curve[1, end] += w
            curve[2, end] += 0.5 * w * r * r
    return total, square
