"""Scores of a map of a digraph, one source after the other: distances to all nodes, errors, places of the neighbors."""

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS


@njit(**OPTIONS)
def _distances(X, height, source, out):
    """Distances from ``source`` to every point; ``height`` holds omega . x. Equal points get equal distances."""
    for v in range(X.shape[0]):
        square = 0.0
        for k in range(X.shape[1]):
            step = X[v, k] - X[source, k]
            square += step * step
        out[v] = np.sqrt(square) + (height[v] - height[source])


@njit(**OPTIONS)
def distortions(X, height, sources, D, squared, relative, counted):
    """Sums over the nodes that each source reaches of (d - D)^2 / D and |d - D| / D, and how many it reaches.

    ``D[i, v]`` is the distance from ``sources[i]`` to v; inf and NaN do not count, nor does the source itself.
    """
    d = np.empty(X.shape[0])
    for i in range(sources.size):
        source = sources[i]
        _distances(X, height, source, d)
        total = absolute = 0.0
        count = 0
        for v in range(d.size):
            there = D[i, v]
            if v != source and there < np.inf:  # false for NaN
                error = d[v] - there
                total += error * error / there
                absolute += abs(error) / there
                count += 1
        squared[i], relative[i], counted[i] = total, absolute, count


@njit(**OPTIONS)
def average_precisions(X, height, indptr, indices, sources, out):
    """Average precision of the out-neighbors of each source among all nodes by distance, ties pessimistic.

    Nothing is sorted but the neighbors: every other node is counted at the first neighbor that is not nearer.
    """
    n = X.shape[0]
    d = np.empty(n)
    for i in range(sources.size):
        source = sources[i]
        _distances(X, height, source, d)
        neighbors = indices[indptr[source] : indptr[source + 1]]
        near = np.sort(d[neighbors])
        d[neighbors] = np.inf
        d[source] = np.inf
        farthest = near[near.size - 1]
        arriving = np.zeros(near.size, np.int64)
        for v in range(n):
            if d[v] <= farthest:
                low, high = 0, near.size - 1  # the first neighbor at d[v] or farther is within low..high
                while low < high:
                    middle = (low + high) // 2
                    if near[middle] < d[v]:
                        low = middle + 1
                    else:
                        high = middle
                arriving[low] += 1
        total = 0.0
        before = 0  # others that are as near as this neighbor, or nearer
        for a in range(near.size):
            before += arriving[a]
            total += (a + 1) / (a + 1 + before)
        out[i] = total / near.size
