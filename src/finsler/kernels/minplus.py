"""Min-plus product: the cheapest way from i to j through one of a few stops."""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS

# A strip of columns stays in the first-level cache (2 x 4 rows of 512 doubles) while the stops go by.
STRIP = 512


@njit(**OPTIONS)
def minplus(A, B, out):
    """Write ``out[i, j] = min over k of A[i, k] + B[k, j]``; inf (no way) is allowed, NaN is not.

    ``B`` and ``out`` have contiguous rows: the inner loop is one vector add and one vector min per stop, and
    four stops share a load and a store of ``out``.
    """
    n_stops, n_columns = B.shape
    whole = n_stops - n_stops % 4
    for first in range(0, n_columns, STRIP):
        last = min(first + STRIP, n_columns)
        for i in range(len(A)):
            row = out[i, first:last]
            row[:] = np.inf
            for k in range(0, whole, 4):
                a, b, c, d = A[i, k], A[i, k + 1], A[i, k + 2], A[i, k + 3]
                p, q = B[k, first:last], B[k + 1, first:last]
                r, s = B[k + 2, first:last], B[k + 3, first:last]
                for j in range(last - first):
                    row[j] = min(row[j], min(min(a + p[j], b + q[j]), min(c + r[j], d + s[j])))
            for k in range(whole, n_stops):
                a, p = A[i, k], B[k, first:last]
                for j in range(last - first):
                    row[j] = min(row[j], a + p[j])
