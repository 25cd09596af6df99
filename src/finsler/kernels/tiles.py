"""Both directions of a pair side by side: tiles of a matrix beside those of its transpose.

Reading ``D[j, i]`` along j touches another line of memory at each step, and in a large matrix another page. So the tile
across the diagonal is turned into a buffer that stays in the cache, eight of its rows at a time, and read along its rows.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import _squared_distances

ROWS, COLUMNS = (
    64,
    512,
)  # of a tile: long rows, which are fetched ahead; turned it fits in the second-level cache
PAD = 8  # numbers between rows of a turned tile, so that they do not fall onto the same lines of the cache


@njit(**OPTIONS)
def _turn(D, i0, i1, j0, j1, out):
    """``out[i - i0, j - j0] = D[j, i]``."""
    whole = j0 + (j1 - j0) // 8 * 8
    for k in range(j0, whole, 8):
        a, b, c, d = D[k, i0:i1], D[k + 1, i0:i1], D[k + 2, i0:i1], D[k + 3, i0:i1]
        e, f, g, h = D[k + 4, i0:i1], D[k + 5, i0:i1], D[k + 6, i0:i1], D[k + 7, i0:i1]
        for i in range(i1 - i0):
            to = out[i, k - j0 : k - j0 + 8]
            to[0], to[1], to[2], to[3] = a[i], b[i], c[i], d[i]
            to[4], to[5], to[6], to[7] = e[i], f[i], g[i], h[i]
    for j in range(whole, j1):
        for i in range(i1 - i0):
            out[i, j - j0] = D[j, i0 + i]


@njit(**OPTIONS)
def symmetrize(D, guess, corner, start, stop, S, pull):
    """Fill ``(D + D')/2`` at the pairs ``i < j`` of some rows, and look at what heights leave of the skew part.

    ``S[0, 0]`` belongs to the point ``corner``. With ``B_ij = (D_ij - D_ji)/2 - (g_j - g_i)`` beside guessed heights g,
    ``pull[j]`` gets the sum of ``B_ij`` over all i, as far as the pairs are here.
    Returns the sums over pairs of ``B^2`` and of ``D_ij^2 + D_ji^2``.
    """
    n = len(D)
    turned = np.empty((ROWS, COLUMNS + PAD), dtype=D.dtype)
    residual, square = 0.0, 0.0
    for i0 in range(start, stop, ROWS):
        i1 = min(i0 + ROWS, stop)
        for j0 in range(i0, n, COLUMNS):
            j1 = min(j0 + COLUMNS, n)
            _turn(D, i0, i1, j0, j1, turned)
            for i in range(i0, i1):
                first = max(j0, i + 1)
                there, back = D[i, first:j1], turned[i - i0, first - j0 : j1 - j0]
                to = S[i - corner, first - corner : j1 - corner]
                g, pulls = guess[first:j1], pull[first:j1]
                mine, part, both = 0.0, 0.0, 0.0
                for j in range(j1 - first):
                    d, b = np.float64(there[j]), np.float64(back[j])
                    to[j] = (d + b) * 0.5
                    r = (d - b) * 0.5 - (g[j] - guess[i])
                    pulls[j] += r
                    mine += r
                    part += r * r
                    both += d * d + b * b
                pull[i] -= mine
                residual += part
                square += both
    return residual, square


@njit(**OPTIONS)
def stress_of_points(D, W, XT, height, uniform, start, stop, out):
    """Add ``w_ij (d_ij - D_ij)^2 + w_ji (d_ji - D_ji)^2`` to ``out`` at either end of the pairs ``i < j`` of some rows.

    Rows as the user gave them: NaN and inf may stand where w = 0. A negative D is a hinge, as in ``dense.weighted``.
    """
    n = len(D)
    turned = np.empty((ROWS, COLUMNS + PAD), dtype=D.dtype)
    turned_w = np.empty((0 if uniform else ROWS, COLUMNS + PAD), dtype=W.dtype)
    e2 = np.empty(COLUMNS)
    for i0 in range(start, stop, ROWS):
        i1 = min(i0 + ROWS, stop)
        for j0 in range(i0, n, COLUMNS):
            j1 = min(j0 + COLUMNS, n)
            _turn(D, i0, i1, j0, j1, turned)
            if not uniform:
                _turn(W, i0, i1, j0, j1, turned_w)
            for i in range(i0, min(i1, j1 - 1)):
                first = max(j0, i + 1)
                count = j1 - first
                there, back = D[i, first:j1], turned[i - i0, first - j0 : j1 - j0]
                h, to = height[first:j1], out[first:j1]
                _squared_distances(XT, i, first, count, e2)
                mine = 0.0
                if uniform:
                    for j in range(count):
                        e, a = np.sqrt(e2[j]), h[j] - height[i]
                        r1, r2 = e + a - there[j], e - a - back[j]
                        both = r1 * r1 + r2 * r2
                        to[j] += both
                        mine += both
                else:
                    w_there, w_back = W[i, first:j1], turned_w[i - i0, first - j0 : j1 - j0]
                    for j in range(count):
                        e, a = np.sqrt(e2[j]), h[j] - height[i]
                        both = _miss(e + a, there[j], w_there[j]) + _miss(e - a, back[j], w_back[j])
                        to[j] += both
                        mine += both
                out[i] += mine


@njit(**OPTIONS)
def _miss(distance, d, w):
    """``w (distance - d)^2``, of a bound if it is broken; 0 where nothing counts."""
    r = distance - (d if d >= 0.0 else max(-d, distance))
    return w * r * r if w > 0.0 else 0.0
