"""Loops over pairs whose data are codes: numbers of the tie, bin or distinct value that a dissimilarity belongs to.

``there[i, j]`` is the code of the way from i to j and ``back[i, j]`` that of the way back; only ``j > i`` is read. What a
scaling makes of the distances on a map is then a table with an entry for each code, and no matrix of disparities is needed.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS
from finsler.kernels.dense import CHUNK, _push, _squared_distances

FEW = 16  # members of a block up to which an insertion sort is the quickest


@njit(**OPTIONS)
def sum_by_code(there, back, XT, height, start, stop, sums):
    """Add the distances on the map, ``e + a`` there and ``e - a`` back, to ``sums`` by their codes."""
    n = XT.shape[1]
    e2 = np.empty(CHUNK)
    for i in range(start, stop):
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            c1, c2, h = (
                there[i, first : first + count],
                back[i, first : first + count],
                height[first : first + count],
            )
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                e2[j] = np.sqrt(e2[j])
            for j in range(count):
                a = h[j] - height[i]
                sums[c1[j]] += e2[j] + a
                sums[c2[j]] += e2[j] - a


@njit(**OPTIONS)
def coded(there, back, table, XT, height, start, stop, force, skew, stress):
    """Uniform weights, the dissimilarities being ``table[code]``; height is ``X @ omega``.

    Adds the symmetric part of the force to ``force`` (m, N), and the skew part A of the table to ``skew`` (N,), so that in
    the end ``skew[j] = sum_i A_ij``; ``stress[i]`` is the sum over ``j > i`` of ``(S - e)^2 + (A - a)^2``.
    """
    n = XT.shape[1]
    e2, c = np.empty(CHUNK), np.empty(CHUNK)
    for i in range(start, stop):
        total, skew_i = 0.0, 0.0
        for first in range(i + 1, n, CHUNK):
            count = min(CHUNK, n - first)
            c1, c2, h = (
                there[i, first : first + count],
                back[i, first : first + count],
                height[first : first + count],
            )
            to = skew[first : first + count]
            _squared_distances(XT, i, first, count, e2)
            for j in range(count):
                t1, t2 = table[c1[j]], table[c2[j]]
                e = np.sqrt(e2[j])
                half = 0.5 * (t1 - t2)
                r, s = 0.5 * (t1 + t2) - e, half - (h[j] - height[i])
                total += r * r + s * s
                c[j] = r / e
                to[j] += half
                skew_i -= half
            _push(XT, i, first, count, c, force)
        skew[i] += skew_i
        stress[i] = total


@njit(**OPTIONS)
def sort_within(values, edges, order):
    """Make ``order`` that of rising ``values`` inside each block ``edges[b]:edges[b + 1]``; blocks stay where they are."""
    for b in range(len(edges) - 1):
        low, high = edges[b], edges[b + 1]
        if high - low > FEW:
            mine = order[low:high].copy()
            order[low:high] = mine[np.argsort(values[mine])]
            continue
        for k in range(low + 1, high):  # most ties are of two or three pairs: insertion, without arrays
            pair, at = order[k], k
            while at > low and values[order[at - 1]] > values[pair]:
                order[at] = order[at - 1]
                at -= 1
            order[at] = pair
