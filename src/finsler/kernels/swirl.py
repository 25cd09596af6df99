"""One pass over a block of rows of a dense problem whose drift turns; notation of `finsler.kernels.dense`.

With ``omega_i = w + K x_i`` the skew part of a pair is ``a_ij = omega_i . (x_j - x_i)``, and its force on j is
``g_ij omega_i`` (on i ``-g_ij omega_j``). ``OT`` holds the omega_i, an axis in each row like ``XT``, and ``height`` the
``omega_i . x_i``, which are ``w . x_i`` as K is skew. With ``kappa > 0`` (in the plane) ways are arcs: the cost f(e) of
`finsler.geometry.swirl` stands for e.
"""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import CHUNK, _push, _squared_distances, arc


@njit(**OPTIONS)
def _ways(XT, OT, height, kappa, i, first, count, f, slope, a):
    """Cost without its skew part, ``f'(e)/e`` and skew part of the ways from i to a chunk of points."""
    _squared_distances(XT, i, first, count, f)
    for j in range(count):
        a[j] = -height[i]
    for axis in range(XT.shape[0]):
        x, o = XT[axis, first : first + count], OT[axis, i]
        for j in range(count):
            a[j] += o * x[j]
    if kappa > 0.0:
        for j in range(count):
            e = np.sqrt(f[j])
            f[j], rise, _ = arc(e, kappa)
            slope[j] = rise / e
    else:
        for j in range(count):
            f[j] = np.sqrt(f[j])
            slope[j] = 1.0 / f[j]


@njit(**OPTIONS)
def _turn(OT, i, first, count, g, force):
    """Add ``g[j] omega_i`` to the force of ``first + j`` and take ``g[j] omega_j`` from that of i, for a chunk."""
    for axis in range(OT.shape[0]):
        o, oi, to = OT[axis, first : first + count], OT[axis, i], force[axis, first : first + count]
        total = 0.0
        for j in range(count):
            to[j] += g[j] * oi
            total -= g[j] * o[j]
        force[axis, i] += total


@njit(**OPTIONS)
def skew_times(A, VT, start, stop, out):
    """Add ``A v`` to ``out`` for the vectors ``v`` that are the rows of ``VT``; of A only ``j > i`` is read.

    Two rows at a time, so that the sums of j are loaded and stored once for both.
    """
    n = VT.shape[1]
    i = start
    while i < stop:
        k = i + 1 if i + 1 < stop else i
        if k > i:
            for q in range(len(VT)):
                out[q, i] += A[i, k] * VT[q, k]
                out[q, k] -= A[i, k] * VT[q, i]
        for first in range(k + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            one, two = A[i, first : first + count], A[k, first : first + count]
            for q in range(len(VT)):
                v, to = VT[q, first : first + count], out[q, first : first + count]
                vi, vk = VT[q, i], VT[q, k] if k > i else 0.0
                mine, other = 0.0, 0.0
                for j in range(count):
                    mine += one[j] * v[j]
                    other += two[j] * v[j]
                    to[j] -= one[j] * vi + two[j] * vk
                out[q, i] += mine
                if k > i:
                    out[q, k] += other
        i = k + 1


@njit(**OPTIONS)
def uniform_arc(S, XT, kappa, start, stop, force, sums):
    """Do the job of ``dense.uniform_any`` with f(e) for e; ``sums[:, i]`` are those of the pairs of row i.

    They are ``(S - f)^2``, ``(S - f) df/dkappa`` and ``(df/dkappa)^2``.
    """
    n = XT.shape[1]
    e2, c = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        misfit, pull, bend = 0.0, 0.0, 0.0
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            s = S[i, first : first + count]
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                e = np.sqrt(e2[j])
                f, rise, tilt = arc(e, kappa)
                r = s[j] - f
                misfit += r * r
                pull += r * tilt
                bend += tilt * tilt
                c[j] = r * rise / e
            _push(XT, i, first, count, c, force)
        sums[0, i], sums[1, i], sums[2, i] = misfit, pull, bend


@njit(**OPTIONS)
def weighted(D, DT, W, WT, XT, OT, height, kappa, start, stop, force, stress):
    """Any weights, as ``dense.weighted``: adds the whole force to ``force``; ``stress[i]`` is that of the pairs of row i."""
    n = XT.shape[1]
    f, c, a = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    g = np.empty(CHUNK)
    for i in range(start, stop):
        total = 0.0
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            there, back = D[i, first : first + count], DT[i, first : first + count]
            w_there, w_back = W[i, first : first + count], WT[i, first : first + count]
            _ways(XT, OT, height, kappa, i, first, count, f, c, a)
            for j in range(count):
                ahead, behind = f[j] + a[j], f[j] - a[j]
                d1 = there[j] if there[j] >= 0.0 else max(-there[j], ahead)
                d2 = back[j] if back[j] >= 0.0 else max(-back[j], behind)
                w1, w2 = w_there[j], w_back[j]
                r1, r2 = ahead - d1, behind - d2
                total += w1 * r1 * r1 + w2 * r2 * r2
                c[j] *= -0.5 * (w1 * r1 + w2 * r2)
                g[j] = -0.5 * (w1 * r1 - w2 * r2)
            _push(XT, i, first, count, c, force)
            _turn(OT, i, first, count, g, force)
        stress[i] = total


@njit(**OPTIONS)
def weighted_field(D, DT, W, WT, XT, OT, height, kappa, sign, m, start, stop, sums):
    """Least squares for the drift field at fixed points, over the pairs of the rows ``start:stop``.

    The unknowns are w and the ``B_ab``, a < b, of ``B = K'``; their factors in a_ij, ``phi = (u, x_ia x_jb - x_ib x_ja)``.
    Adds to ``sums``: the stress at the field so far; the lower triangle of ``sum w phi phi'``, row by row; and
    ``sum w (D - e) phi``. For arcs the last unknown, whose sign so far is ``sign``, changes f as well: f is linear in it to
    first order (Gauss and Newton).
    """
    n = XT.shape[1]
    k = m + m * (m - 1) // 2
    f, c, a = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    phi, both, odd = np.empty((k, CHUNK)), np.empty(CHUNK), np.empty(CHUNK)
    even, tilt, part = np.zeros(CHUNK), np.zeros(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            there, back = D[i, first : first + count], DT[i, first : first + count]
            w_there, w_back = W[i, first : first + count], WT[i, first : first + count]
            _ways(XT, OT, height, kappa, i, first, count, f, c, a)
            row = m
            for p in range(m):
                x, xi = XT[p, first : first + count], XT[p, i]
                for j in range(count):
                    phi[p, j] = x[j] - xi
                for q in range(p + 1, m):
                    y, yi = XT[q, first : first + count], XT[q, i]
                    for j in range(count):
                        phi[row, j] = xi * y[j] - yi * x[j]
                    row += 1
            total = 0.0
            for j in range(count):
                ahead, behind = f[j] + a[j], f[j] - a[j]
                d1 = there[j] if there[j] >= 0.0 else max(-there[j], ahead)
                d2 = back[j] if back[j] >= 0.0 else max(-back[j], behind)
                w1, w2 = w_there[j], w_back[j]
                total += w1 * (ahead - d1) ** 2 + w2 * (behind - d2) ** 2
                both[j] = w1 + w2
                odd[j] = w1 * (d1 - f[j]) - w2 * (d2 - f[j])
                even[j] = w1 * (d1 - f[j]) + w2 * (d2 - f[j])
            sums[0] += total
            if kappa > 0.0:
                for j in range(count):
                    u, v = phi[0, j], phi[1, j]
                    _, _, turned = arc(np.sqrt(u * u + v * v), kappa)
                    tilt[j] = sign * turned
                    part[j] = (w_there[j] - w_back[j]) * tilt[j]
                    # With f linearized about the kappa so far, D - f + kappa df/dkappa stands for D - f.
                    odd[j] += part[j] * sign * kappa
                    even[j] += both[j] * tilt[j] * sign * kappa
            at = 1
            for p in range(k):
                for q in range(p + 1):
                    total = 0.0
                    for j in range(count):
                        total += both[j] * phi[p, j] * phi[q, j]
                    sums[at] += total
                    at += 1
            for p in range(k):
                total = 0.0
                for j in range(count):
                    total += odd[j] * phi[p, j]
                sums[at + p] += total
            if kappa > 0.0:
                last = 1 + (k - 1) * k // 2
                for p in range(k):
                    total = 0.0
                    for j in range(count):
                        total += part[j] * phi[p, j]
                    sums[last + p] += total if p < k - 1 else 2.0 * total
                square, pull = 0.0, 0.0
                for j in range(count):
                    square += both[j] * tilt[j] * tilt[j]
                    pull += even[j] * tilt[j]
                sums[last + k - 1] += square
                sums[at + k - 1] += pull


@njit(**OPTIONS)
def stress_of_points(D, W, XT, OT, height, kappa, uniform, start, stop, out):
    """Add the stress of the ways from some rows to ``out`` at either end, as ``tiles.stress_of_points``."""
    n = XT.shape[1]
    f, c, a = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        total = 0.0
        for low, high in ((0, i), (i + 1, n)):
            for first in range(low, high, CHUNK):
                count = min(CHUNK, high - first)
                d = D[i, first : first + count]
                to = out[first : first + count]
                _ways(XT, OT, height, kappa, i, first, count, f, c, a)
                for j in range(count):
                    w = 1.0 if uniform else W[i, first + j]
                    if w > 0.0:
                        distance = f[j] + a[j]
                        r = distance - (d[j] if d[j] >= 0.0 else max(-d[j], distance))
                        total += w * r * r
                        to[j] += w * r * r
        out[i] += total


@njit(**OPTIONS)
def misfit(D, DT, W, WT, uniform, XT, OT, height, kappa, start, stop, out):
    """Add the stress of both ways of a pair to ``out`` at either end, as ``panels.misfit``."""
    width = XT.shape[1]
    f, c, a = np.empty(CHUNK), np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        mine = 0.0
        for first in range(i + 1, width, CHUNK):
            count = min(CHUNK, width - first)
            _ways(XT, OT, height, kappa, i, first, count, f, c, a)
            for j in range(count):
                d, b = np.float64(D[i, first + j]), np.float64(DT[i, first + j])
                w1, w2 = 1.0, 1.0
                if uniform:
                    d, b = d + b, d - b
                else:
                    w1, w2 = np.float64(W[i, first + j]), np.float64(WT[i, first + j])
                ahead, behind = f[j] + a[j], f[j] - a[j]
                r1, r2 = ahead - d, behind - b
                if not uniform:  # a negative entry is a bound, "at least -d"
                    r1 = r1 if d >= 0.0 else min(ahead + d, 0.0)
                    r2 = r2 if b >= 0.0 else min(behind + b, 0.0)
                both = w1 * r1 * r1 + w2 * r2 * r2
                out[first + j] += both
                mine += both
        out[i] += mine
