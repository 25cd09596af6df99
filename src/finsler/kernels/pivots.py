"""Distances between all nodes and a few pivots, kept node by node."""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS, STRICT


@njit(**OPTIONS)
def into_columns(rows, start, stop, first, out):
    """Copy ``rows`` (k, N) into the columns ``first : first + k`` of ``out`` (N, h), for nodes ``start:stop``."""
    for i in range(start, stop):
        for p in range(rows.shape[0]):
            out[i, first + p] = rows[p, i]


@njit(**OPTIONS)
def closer(ahead, back, far, start, stop, apart):
    """Lower ``apart`` to the distance of a pivot: the mean of both ways, or the one there is."""
    for i in range(start, stop):
        a, b = np.float64(ahead[i]), np.float64(back[i])
        if a < far or b < far:
            d = 0.5 * (a + b) if a < far and b < far else min(a, b)
            if d < apart[i]:
                apart[i] = d


@njit(**STRICT)
def share(out_of, into, far, start, stop, ahead, behind, spread, region):
    """Share the nodes ``start:stop`` out among the pivots, the nearest taking most: ``1/S^4``, scaled to 1.

    S is the mean of the ways there and back, or the one there is; a pivot without any gets nothing. Adds a node's shares
    to ``ahead`` where the pivot reaches it, to ``behind`` where it reaches the pivot, and ``share S^2`` to
    ``spread``; ``region[i]`` is the nearest pivot, -1 if there is none.
    """
    h = out_of.shape[1]
    S, part = np.empty(h), np.empty(h)
    for i in range(start, stop):
        best, where = np.inf, -1
        for p in range(h):
            a, b = np.float64(out_of[i, p]), np.float64(into[i, p])
            S[p] = 0.5 * (a + b) if a < far and b < far else (min(a, b) if a < far or b < far else np.inf)
            if S[p] < best:
                best, where = S[p], p
        region[i] = where
        if where < 0:
            continue
        total = 0.0
        for p in range(h):
            # The square of the ratio to the nearest; a node at a pivot belongs to it alone, as do all ties.
            ratio = best / S[p] if S[p] > best else 1.0
            square = ratio * ratio
            part[p] = square * square
            total += part[p]
        for p in range(h):
            portion = part[p] / total
            if portion > 0.0:
                ahead[p] += portion if into[i, p] < far else 0.0
                behind[p] += portion if out_of[i, p] < far else 0.0
                spread[p] += portion * S[p] * S[p]


@njit(**OPTIONS)
def bounds(out_of, into, far, i, j, skip_i, skip_j):
    """Bounds that the triangle inequality sets through the pivots for the way from i to j, least first.

    ``skip_i`` and ``skip_j`` are numbers of pivots to leave out. The upper bound is ``2 far`` where no pivot lies
    between.
    """
    h = out_of.shape[1]
    low, high = np.float32(0), np.float32(2 * far)
    limit = np.float32(far)
    for p in range(h):
        a, b = np.float32(out_of[i, p]), np.float32(into[i, p])
        c, d = np.float32(out_of[j, p]), np.float32(into[j, p])
        use = p != skip_i and p != skip_j
        through = a + d if use and a < limit and d < limit else np.float32(2 * far)
        high = min(high, through)
        before = a - c if use and a < limit and c < limit else np.float32(0)
        after = d - b if use and d < limit and b < limit else np.float32(0)
        low = max(low, max(before, after))
    return low, high


@njit(**OPTIONS)
def relay_block(out_of, into, far, rule, partner, start, stop, there):
    """Guess the ways from the nodes ``start:stop`` to their partners: ``rule . (1, low, high)``, within these bounds.

    ``there[i, k]`` becomes -1 where no pivot lies between.
    """
    for i in range(start, stop):
        for k in range(partner.shape[1]):
            low, high = bounds(out_of, into, far, i, partner[i, k], -1, -1)
            guess = min(max(rule[0] + rule[1] * low + rule[2] * high, low), high)
            there[i, k] = guess if high < far else -1.0


@njit(**OPTIONS)
def calibrate(out_of, into, far, pivots, rows):
    """Bounds of the ways between pivots, told by the other pivots: columns low, high, and the distance."""
    h = len(pivots)
    count = 0
    for p in range(h):
        for q in range(h):
            d = np.float64(out_of[pivots[p], q])
            if p != q and d < far:
                low, high = bounds(out_of, into, far, pivots[p], pivots[q], p, q)
                if high < far:
                    rows[count, 0], rows[count, 1], rows[count, 2] = low, high, d
                    count += 1
    return count
