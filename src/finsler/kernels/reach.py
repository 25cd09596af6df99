"""The transitive closure of a digraph without circles, a bit for each pair of nodes; `finsler.graphs.reach` calls it."""

from __future__ import annotations

import numpy as np
from numba import njit

from finsler.kernels import OPTIONS


@njit(**OPTIONS)
def closure(indptr, indices, ahead):
    """Set bit q of row p where q can be reached from p, which p itself can; ``ahead`` comes as zeros.

    Depth first: a node is done when all that it leads to are, and then its row is theirs together.
    """
    n = indptr.size - 1
    arc = indptr[:-1].copy()
    stack = np.empty(n, np.int64)
    seen = np.zeros(n, np.bool_)
    for root in range(n):
        if seen[root]:
            continue
        seen[root] = True
        stack[0] = root
        depth = 1
        while depth > 0:
            p = stack[depth - 1]
            if arc[p] < indptr[p + 1]:
                q = indices[arc[p]]
                arc[p] += 1
                if not seen[q]:
                    seen[q] = True
                    stack[depth] = q
                    depth += 1
                continue
            for a in range(indptr[p], indptr[p + 1]):
                for word in range(ahead.shape[1]):
                    ahead[p, word] |= ahead[indices[a], word]
            ahead[p, p >> 6] |= np.uint64(1) << np.uint64(p & 63)
            depth -= 1


@njit(**OPTIONS)
def count_reached(ahead, sizes, forward, backward):
    """Add up the sizes of the nodes that each node reaches, and of those that reach it, itself included."""
    for p in range(ahead.shape[0]):
        for word in range(ahead.shape[1]):
            bits = ahead[p, word]
            q = 64 * word
            while bits != np.uint64(0):
                if bits & np.uint64(1):
                    forward[p] += sizes[q]
                    backward[q] += sizes[p]
                bits >>= np.uint64(1)
                q += 1
