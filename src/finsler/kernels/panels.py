"""Loops over a panel: the pairs ``i < j`` of some rows, cut out of a matrix in memory, in a file or on a cluster.

A panel of the rows ``first <= i < last`` holds, in row ``i - first`` and column ``j - first``, the values of the
pair (i, j) for ``j > i``; what stands elsewhere means nothing. On such an array, with coordinates from ``first`` on, the
kernels of `finsler.kernels.dense` run as they are.

Here panels are filled from ``there``, whose entry ``[i, j]`` is the way from i to j, and ``back``, whose ``[j, i]`` is the
way from j to i. For a matrix in memory or in a file both are the matrix itself, read at ``first``; elsewhere they are
the cut-outs, read at 0. Tiles keep the transposed reads in the cache.
"""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import CHUNK, _squared_distances

TILE = 64  # side of the tiles of a transpose: two of them fit in the first-level cache
LEAST = np.finfo(np.float64).tiny


@njit(**OPTIONS)
def fold(there, back, first, start, stop, symmetric, skew):
    """Fill rows ``start:stop`` of the panels of ``(D + D')/2`` and, unless it has no rows, ``(D - D')/2``."""
    width = symmetric.shape[1]
    both = len(skew) > 0
    for i0 in range(start, stop, TILE):
        for j0 in range(i0, width, TILE):
            for i in range(i0, min(i0 + TILE, stop)):
                for j in range(max(j0, i + 1), min(j0 + TILE, width)):
                    d, b = np.float64(there[first + i, first + j]), np.float64(back[first + j, first + i])
                    symmetric[i, j] = (d + b) * 0.5
                    if both:
                        skew[i, j] = (d - b) * 0.5


@njit(**OPTIONS)
def fold_weighted(there, back, w_there, w_back, weighted, unit, far, first, start, stop, D, DT, W, WT):
    """Fill rows ``start:stop`` of the panels of D, its transpose, the weights and theirs.

    Weights are divided by ``unit``, and 1 if not ``weighted``. NaN weighs 0, and so does inf unless ``far`` is positive:
    then it becomes the bound ``-far``.
    """
    width = D.shape[1]
    for i0 in range(start, stop, TILE):
        for j0 in range(i0, width, TILE):
            for i in range(i0, min(i0 + TILE, stop)):
                for j in range(max(j0, i + 1), min(j0 + TILE, width)):
                    w = w_there[first + i, first + j] / unit if weighted else 1.0
                    D[i, j], W[i, j] = _known(np.float64(there[first + i, first + j]), w, far)
                    w = w_back[first + j, first + i] / unit if weighted else 1.0
                    DT[i, j], WT[i, j] = _known(np.float64(back[first + j, first + i]), w, far)


@njit(**OPTIONS)
def _known(d, w, far):
    d = -far if d == np.inf and far > 0.0 else d
    return (d, w) if np.isfinite(d) and w != 0.0 else (0.0, 0.0)


@njit(**OPTIONS)
def skew_weights(D, W, weighted, unit, start, stop, flow, C):
    """Weights ``c = 2 w w' / (w + w')`` of pairs known both ways, into ``C`` if it has rows, and ``flow[i] = sum c A_ji``.

    Weights are divided by ``unit``, and 1 if not ``weighted``. Returns their number, and the least and largest c.
    """
    n, count, least, most = len(D), 0, np.inf, 0.0
    fill = len(C) > 0
    for i0 in range(start, stop, TILE):
        for j0 in range(0, n, TILE):
            for i in range(i0, min(i0 + TILE, stop)):
                total = 0.0
                for j in range(j0, min(j0 + TILE, n)):
                    there, back = np.float64(D[i, j]), np.float64(D[j, i])
                    w = np.float64(W[i, j]) / unit if weighted else 1.0
                    v = np.float64(W[j, i]) / unit if weighted else 1.0
                    known = i != j and w > 0.0 and v > 0.0 and 0.0 <= there < np.inf and 0.0 <= back < np.inf
                    c = 2.0 * w * (v / (w + v)) if known else 0.0
                    if known:
                        total += c * (0.5 * (back - there))
                        count += 1
                        least, most = min(least, c), max(most, c)
                    if fill:
                        C[i, j] = c
                flow[i] += total
    return count, least, most


@njit(**OPTIONS)
def complete(D, W, h, start, stop, S):
    """Fill rows ``start:stop`` of a symmetric part, and the columns: what is known of a pair beside ``h_j - h_i``, else inf.

    Sizes of D count. A pair known one way only is positive. Returns whether all pairs were known.
    """
    n, known = len(D), True
    for i0 in range(start, stop, TILE):
        for j0 in range(i0, n, TILE):
            for i in range(i0, min(i0 + TILE, stop)):
                for j in range(max(j0, i + 1), min(j0 + TILE, n)):
                    rise = h[j] - h[i]
                    there, back = abs(np.float64(D[i, j])) - rise, abs(np.float64(D[j, i])) + rise
                    s = np.inf
                    if W[i, j] > 0.0 and W[j, i] > 0.0:
                        s = (there + back) * 0.5
                    elif W[i, j] > 0.0:
                        s = max(there, LEAST)
                    elif W[j, i] > 0.0:
                        s = max(back, LEAST)
                    else:
                        known = False
                    S[i, j] = s
                    S[j, i] = s
    for i in range(start, stop):
        S[i, i] = 0.0
    return known


@njit(**OPTIONS)
def skew_sums(symmetric, skew, start, stop, drop):
    """Add ``A_ij`` to ``drop[j]`` and take it from ``drop[i]``; return the sum of squares of D."""
    total = 0.0
    width = symmetric.shape[1]
    for i in range(start, stop):
        s, a, to = symmetric[i, i + 1 :], skew[i, i + 1 :], drop[i + 1 :]
        part, mine = 0.0, 0.0
        for j in range(width - i - 1):
            value, other = np.float64(a[j]), np.float64(s[j])
            part += value * value + other * other
            to[j] += value
            mine -= value
        drop[i] += mine
        total += 2.0 * part
    return total


@njit(**OPTIONS)
def skew_residual(skew, h, start, stop):
    """Sum ``(A_ij - h_j + h_i)^2``, what the heights leave of the skew part."""
    total = 0.0
    width = skew.shape[1]
    for i in range(start, stop):
        part = 0.0
        for j in range(i + 1, width):
            r = np.float64(skew[i, j]) - (h[j] - h[i])
            part += r * r
        total += part
    return total


@njit(**OPTIONS)
def squares_times(symmetric, VT, start, stop, out):
    """Add ``S^2 v`` to ``out`` for the vectors ``v`` that are the rows of ``VT``."""
    width = VT.shape[1]
    squares = np.empty(CHUNK)
    for i in range(start, stop):
        for first in range(i + 1, width, CHUNK):
            count = min(CHUNK, width - first)
            row = symmetric[i, first : first + count]
            for j in range(count):
                s = np.float64(row[j])
                squares[j] = s * s
            for k in range(len(VT)):
                v, to, mine, vi = VT[k, first : first + count], out[k, first : first + count], 0.0, VT[k, i]
                for j in range(count):
                    mine += squares[j] * v[j]
                    to[j] += squares[j] * vi
                out[k, i] += mine


@njit(**OPTIONS)
def misfit(D, DT, W, WT, uniform, XT, height, start, stop, out):
    """Add the stress of both ways of a pair to ``out`` at either end. ``uniform``: no weights, S and A for D and DT."""
    width = XT.shape[1]
    e2 = np.empty(CHUNK)
    for i in range(start, stop):
        mine = 0.0
        for first in range(i + 1, width, CHUNK):
            count = min(CHUNK, width - first)
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                d, b = np.float64(D[i, first + j]), np.float64(DT[i, first + j])
                w1, w2 = 1.0, 1.0
                if uniform:
                    d, b = d + b, d - b
                else:
                    w1, w2 = np.float64(W[i, first + j]), np.float64(WT[i, first + j])
                e, a = np.sqrt(e2[j]), height[first + j] - height[i]
                r1, r2 = e + a - d, e - a - b
                if not uniform:  # a negative entry is a bound, "at least -d"
                    r1 = r1 if d >= 0.0 else min(e + a + d, 0.0)
                    r2 = r2 if b >= 0.0 else min(e - a + b, 0.0)
                both = w1 * r1 * r1 + w2 * r2 * r2
                out[first + j] += both
                mine += both
        out[i] += mine


@njit(**OPTIONS)
def weight_sums(D, DT, W, WT, start, stop, degree):
    """Add ``(w_ij + w_ji)/2`` to ``degree`` at both ends. Of the ordered pairs with a weight, return the sum ``w D^2``
    without bounds, the sum ``D^2``, and the number.
    """
    total, square, count = 0.0, 0.0, 0
    for i in range(start, stop):
        mine = 0.0
        for j in range(i + 1, D.shape[1]):
            w1, w2 = np.float64(W[i, j]), np.float64(WT[i, j])
            d, b = np.float64(D[i, j]), np.float64(DT[i, j])  # 0 where there is no weight
            degree[j] += 0.5 * (w1 + w2)
            mine += 0.5 * (w1 + w2)
            count += int(w1 > 0.0) + int(w2 > 0.0)
            square += d * d + b * b
            total += (w1 * d * d if d >= 0.0 else 0.0) + (w2 * b * b if b >= 0.0 else 0.0)
        degree[i] += mine
    return total, square, count


@njit(**OPTIONS)
def join(W, WT, group):
    """Unite the groups of all pairs with a weight: ``group[i]`` becomes the smallest number in the group of i.

    On the way ``group[i]`` points to some smaller number of the group, or to i.
    """
    for i in range(len(W)):
        a = i
        while group[a] != a:
            a = group[a]
        for j in range(i + 1, W.shape[1]):
            if W[i, j] > 0.0 or WT[i, j] > 0.0:
                b = j
                while group[b] != b:
                    group[b] = group[group[b]]
                    b = group[b]
                if a < b:
                    group[b] = a
                elif b < a:
                    group[a] = b
                    a = b
    for i in range(len(group)):
        group[i] = group[group[i]]
