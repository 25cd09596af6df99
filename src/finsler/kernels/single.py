"""One pass over a block of rows of a dense problem with single-precision arithmetic: half the bytes, twice the lanes.

Far from a solution a step moves points by far more than the rounding of seven digits. Coordinates and data come in units
of a power of two near the length of the data, so that squares neither overflow nor vanish whatever the unit of the data, and
data in another such unit give the same bits. Sums of ``SPAN`` pairs are float32; these are added up in float64, and the
forces of a block of rows, of which the caller adds up several, stay float32.

Ordinary ``1/sqrt(x)`` in float32 becomes an approximate reciprocal root and a Newton step, so that a pair costs neither a
square root nor a division.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

SPAN = 4096  # pairs of a row whose sums are float32, in each of the lanes of a vector
CHUNK = (
    1024  # the same where coefficients of four rows stand in between: small enough for the first-level cache
)
ONE = np.float32(1.0)
NONE = np.float32(0.0)
TINY = np.float32(1e-30)  # keeps the division finite where points coincide; float32 has no 1e-300


@njit(**OPTIONS)
def round_rows(S, scale, start, stop, out):
    """Fill ``out[i, j] = scale S[i, j]`` for the pairs ``i < j`` of some rows."""
    for i in range(start, stop):
        row, to = S[i, i + 1 :], out[i, i + 1 :]
        for j in range(len(row)):
            to[j] = np.float32(row[j] * scale)


@njit(**OPTIONS)
def uniform_three(S, scale, XT, start, stop, force, stress):
    """Do the job of ``dense.uniform_three`` on data ``scale S``, in the unit of the float32 coordinates ``XT`` (3, N).

    A scale of None means 1, and is compiled without the product. ``force`` (3, N) is float32, ``stress`` float64.
    Four rows at a time; pairs among them, and of the last rows of the block, come one by one.
    """
    n, i = XT.shape[1], start
    while i < stop:
        rows = min(4, stop - i)
        first = i + 4 if rows == 4 else n
        for k in range(i, i + rows):
            for j in range(k + 1, first):
                _pair(S, scale, XT, k, j, force, stress)
        for low in range(first, n, SPAN):
            _four_rows(S, scale, XT, i, low, min(low + SPAN, n), force, stress)
        i += rows


@njit(**OPTIONS)
def add_blocks(force, out):
    """Fill the first rows of ``out`` (float64) with the sums of the forces of all blocks, one after the other."""
    for axis in range(force.shape[1]):
        to = out[axis]
        to[:] = 0.0
        for b in range(len(force)):
            row = force[b, axis]
            for j in range(len(row)):
                to[j] += row[j]


@njit(**OPTIONS)
def _scaled(s, scale):
    return np.float32(s) if scale is None else np.float32(s * scale)


@njit(**OPTIONS)
def _pair(S, scale, XT, i, j, force, stress):
    u, v, w = XT[0, j] - XT[0, i], XT[1, j] - XT[1, i], XT[2, j] - XT[2, i]
    e = np.sqrt(u * u + v * v + w * w + TINY)
    r = _scaled(S[i, j], scale) - e
    stress[i] += r * r
    c = r / e
    _take(force, i, c * u, c * v, c * w)
    _take(force, j, -c * u, -c * v, -c * w)


@njit(**OPTIONS)
def _four_rows(S, scale, XT, i, low, high, force, stress):
    """Pairs of the rows ``i:i + 4`` with up to ``SPAN`` points: the force of j is loaded and stored once for all four."""
    x, y, z = XT[0, low:high], XT[1, low:high], XT[2, low:high]
    fx, fy, fz = force[0, low:high], force[1, low:high], force[2, low:high]
    s0, s1, s2, s3 = S[i, low:high], S[i + 1, low:high], S[i + 2, low:high], S[i + 3, low:high]
    x0, y0, z0, x1, y1, z1 = XT[0, i], XT[1, i], XT[2, i], XT[0, i + 1], XT[1, i + 1], XT[2, i + 1]
    x2, y2, z2, x3, y3, z3 = (
        XT[0, i + 2],
        XT[1, i + 2],
        XT[2, i + 2],
        XT[0, i + 3],
        XT[1, i + 3],
        XT[2, i + 3],
    )
    t0, t1, t2, t3 = NONE, NONE, NONE, NONE
    ax, ay, az, bx, by, bz = NONE, NONE, NONE, NONE, NONE, NONE
    cx, cy, cz, dx, dy, dz = NONE, NONE, NONE, NONE, NONE, NONE
    for j in range(high - low):
        u0, v0, w0 = x[j] - x0, y[j] - y0, z[j] - z0
        u1, v1, w1 = x[j] - x1, y[j] - y1, z[j] - z1
        u2, v2, w2 = x[j] - x2, y[j] - y2, z[j] - z2
        u3, v3, w3 = x[j] - x3, y[j] - y3, z[j] - z3
        q0, q1 = u0 * u0 + v0 * v0 + w0 * w0 + TINY, u1 * u1 + v1 * v1 + w1 * w1 + TINY
        q2, q3 = u2 * u2 + v2 * v2 + w2 * w2 + TINY, u3 * u3 + v3 * v3 + w3 * w3 + TINY
        i0, i1, i2, i3 = ONE / np.sqrt(q0), ONE / np.sqrt(q1), ONE / np.sqrt(q2), ONE / np.sqrt(q3)
        r0, r1 = _scaled(s0[j], scale) - q0 * i0, _scaled(s1[j], scale) - q1 * i1
        r2, r3 = _scaled(s2[j], scale) - q2 * i2, _scaled(s3[j], scale) - q3 * i3
        t0, t1, t2, t3 = t0 + r0 * r0, t1 + r1 * r1, t2 + r2 * r2, t3 + r3 * r3
        c0, c1, c2, c3 = r0 * i0, r1 * i1, r2 * i2, r3 * i3
        u0, v0, w0 = c0 * u0, c0 * v0, c0 * w0
        u1, v1, w1 = c1 * u1, c1 * v1, c1 * w1
        u2, v2, w2 = c2 * u2, c2 * v2, c2 * w2
        u3, v3, w3 = c3 * u3, c3 * v3, c3 * w3
        ax, ay, az = ax + u0, ay + v0, az + w0
        bx, by, bz = bx + u1, by + v1, bz + w1
        cx, cy, cz = cx + u2, cy + v2, cz + w2
        dx, dy, dz = dx + u3, dy + v3, dz + w3
        fx[j] += (u0 + u1) + (u2 + u3)
        fy[j] += (v0 + v1) + (v2 + v3)
        fz[j] += (w0 + w1) + (w2 + w3)
    stress[i] += t0
    stress[i + 1] += t1
    stress[i + 2] += t2
    stress[i + 3] += t3
    _take(force, i, ax, ay, az)
    _take(force, i + 1, bx, by, bz)
    _take(force, i + 2, cx, cy, cz)
    _take(force, i + 3, dx, dy, dz)


@njit(**OPTIONS)
def _take(force, i, x, y, z):
    force[0, i] -= x
    force[1, i] -= y
    force[2, i] -= z


@njit(**OPTIONS)
def curvature(W, WT, XT, alpha, across, start, stop, out):
    """Apply the curvature of the majorizer: ``L(p + 2 alpha |q|)``, plus ``alpha^2 L(p)`` on the rows from ``across`` on.

    ``XT`` and ``out`` are float32 with an axis in each row; weights are at most 1. Four rows at a time.
    """
    n, one, more = XT.shape[1], np.float32(alpha), np.float32(alpha * alpha)
    half = np.float32(0.5)
    c, c_last = np.empty((4, CHUNK), dtype=np.float32), np.empty((4, CHUNK), dtype=np.float32)
    for i in range(start, stop, 4):
        rows = min(4, stop - i)
        c[rows:] = NONE
        c_last[rows:] = NONE
        for low in range(i + 1, n, CHUNK):
            high = min(low + CHUNK, n)
            for k in range(rows):
                there, back, to, last = W[i + k, low:high], WT[i + k, low:high], c[k], c_last[k]
                for j in range(high - low):
                    p = half * (np.float32(there[j]) + np.float32(back[j]))
                    to[j] = p + one * abs(np.float32(there[j]) - np.float32(back[j]))
                    last[j] = to[j] + more * p
                for j in range(
                    low, min(i + k + 1, high)
                ):  # pairs of the four rows that belong to another of them
                    to[j - low] = NONE
                    last[j - low] = NONE
            for axis in range(len(XT)):
                _push_four(XT[axis], i, rows, low, high, c if axis < across else c_last, out[axis])


@njit(**OPTIONS)
def _push_four(x, i, rows, low, high, c, out):
    """Add ``c (x_j - x_i)`` to ``out[j]`` and take it from ``out[i]``, for up to four rows i."""
    c0, c1, c2, c3, xs, to = c[0], c[1], c[2], c[3], x[low:high], out[low:high]
    last = i + rows - 1
    x0, x1, x2, x3 = x[i], x[min(i + 1, last)], x[min(i + 2, last)], x[last]
    a0, a1, a2, a3 = NONE, NONE, NONE, NONE
    for j in range(high - low):
        u0, u1 = c0[j] * (xs[j] - x0), c1[j] * (xs[j] - x1)
        u2, u3 = c2[j] * (xs[j] - x2), c3[j] * (xs[j] - x3)
        a0, a1, a2, a3 = a0 + u0, a1 + u1, a2 + u2, a3 + u3
        to[j] += (u0 + u1) + (u2 + u3)
    sums = (a0, a1, a2, a3)
    for k in range(rows):
        out[i + k] -= sums[k]


@njit(**OPTIONS)
def squares_times(S, scale, VT, start, stop, out):
    """Add ``(scale S)^2 v`` to ``out`` for the float32 vectors v in the rows of ``VT``; only ``j > i`` of S is read."""
    n = VT.shape[1]
    squares = np.empty((4, CHUNK), dtype=np.float32)
    for i in range(start, stop, 4):
        rows = min(4, stop - i)
        squares[rows:] = NONE
        for low in range(i + 1, n, CHUNK):
            high = min(low + CHUNK, n)
            for k in range(rows):
                row, to = S[i + k, low:high], squares[k]
                for j in range(high - low):
                    s = np.float32(row[j] * scale)
                    to[j] = s * s
                for j in range(low, min(i + k + 1, high)):
                    to[j - low] = NONE
            for k in range(len(VT)):
                _exchange_four(squares, VT[k], i, rows, low, high, out[k])


@njit(**OPTIONS)
def _exchange_four(c, v, i, rows, low, high, out):
    """Add ``c v_i`` to ``out[j]`` and ``c v_j`` to ``out[i]``, for up to four rows i."""
    c0, c1, c2, c3, there, to = c[0], c[1], c[2], c[3], v[low:high], out[low:high]
    last = i + rows - 1
    v0, v1, v2, v3 = v[i], v[min(i + 1, last)], v[min(i + 2, last)], v[last]
    a0, a1, a2, a3 = NONE, NONE, NONE, NONE
    for j in range(high - low):
        a0, a1, a2, a3 = (
            a0 + c0[j] * there[j],
            a1 + c1[j] * there[j],
            a2 + c2[j] * there[j],
            a3 + c3[j] * there[j],
        )
        to[j] += (c0[j] * v0 + c1[j] * v1) + (c2[j] * v2 + c3[j] * v3)
    sums = (a0, a1, a2, a3)
    for k in range(rows):
        out[i + k] += sums[k]
