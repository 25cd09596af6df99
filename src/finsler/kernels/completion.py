"""Loops that fill in missing symmetric dissimilarities from landmarks."""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS


@njit(**OPTIONS)
def dense_dijkstra(S, source, distance):
    """Shortest path lengths from ``source`` over the finite entries of the dense symmetric matrix ``S``."""
    n = len(S)
    done = np.zeros(n, dtype=np.bool_)
    distance[:] = np.inf
    distance[source] = 0.0
    for _ in range(n):
        best, nearest = np.inf, -1
        for j in range(n):
            if not done[j] and distance[j] < best:
                best, nearest = distance[j], j
        if nearest < 0:
            return
        done[nearest] = True
        row = S[nearest]
        for j in range(n):
            distance[j] = min(distance[j], best + row[j])


@njit(**OPTIONS)
def fill_from_landmarks(S, landmarks, start, stop):
    """Replace infinite entries by the middle of the bounds that the triangle inequality gives.

    ``landmarks[l, i]`` is the distance between landmark l and point i.
    """
    for i in range(start, stop):
        for j in range(len(S)):
            if S[i, j] == np.inf:
                upper, lower = np.inf, 0.0
                for l in range(len(landmarks)):  # noqa: E741
                    upper = min(upper, landmarks[l, i] + landmarks[l, j])
                    lower = max(lower, abs(landmarks[l, i] - landmarks[l, j]))
                S[i, j] = 0.5 * (upper + lower)
