"""Distances between all nodes and a few pivots, kept node by node."""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

FAR = np.uint16(65535)  # hops of a node that was not reached


@njit(**OPTIONS)
def hops_row(indptr, indices, start, row, queue):
    """Hops from ``start`` along the arcs into ``row`` (uint16), breadth first; FAR where there is no path.

    Labels of two bytes, because they stay in the cache of a core for a million nodes. Returns the number of nodes
    reached, or -1 if a path is too long for the labels.
    """
    row[:] = FAR
    row[start] = 0
    queue[0], first, last = start, 0, 1
    while first < last:
        u = queue[first]
        first += 1
        label = row[u] + np.uint16(1)
        if label == FAR:
            return -1
        for a in range(indptr[u], indptr[u + 1]):
            v = indices[a]
            if row[v] == FAR:
                row[v] = label
                queue[last] = v
                last += 1
    return last


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


@njit(**OPTIONS)
def nearest(out_of, into, far, start, stop, region, reach):
    """Pivot whose region a node is in, the one at the least mean of the ways there and back.

    A way that does not exist (``>= far``) is left out; nodes with no way at all get the region -1. ``reach`` is set to
    the distance so measured.
    """
    for i in range(start, stop):
        best, where = np.inf, -1
        for p in range(out_of.shape[1]):
            a, b = np.float64(out_of[i, p]), np.float64(into[i, p])
            if a >= far:
                # A pivot that is tied to the node one way only comes after any that is tied both ways.
                d = b + far
            elif b >= far:
                d = a + far
            else:
                d = 0.5 * (a + b)
            if d < best and not (a >= far and b >= far):
                best, where = d, p
        region[i] = where
        reach[i] = best if best < far else best - far
