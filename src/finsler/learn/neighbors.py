"""What stands between two nodes: the reverse arc, and neighbors that they share on the way or at the ends.

Adamic and Adar: Friends and neighbors on the Web, Social Networks 25 (2003): rare neighbors say more.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from finsler.graphs.arc_set import ArcSet, Integers
from finsler.kernels import rows as kernels
from finsler.learn.features import adjacency

Array = NDArray[np.floating[Any]]
Direction = Literal["out", "in", "both"]

# Columns of `PairFeatures` after the reverse arc: arcs i -> k -> j, i -> k <- j, i <- k -> j, i <- k <- j.
WAYS: dict[str, tuple[Direction, Direction]] = {
    "path": ("out", "in"),
    "same_targets": ("out", "out"),
    "same_sources": ("in", "in"),
    "path_back": ("in", "out"),
}
FEATURES = ("reverse_arc", *WAYS)


def rarity(arcs: Integers, n: int) -> Array:
    """Weight of a node between two others, ``1 / log(its number of neighbors)``."""
    # Who lies between two nodes has two neighbors, or the same one twice: the logarithm of 1 is never wanted.
    return np.asarray(1 / np.log(np.maximum(adjacency(arcs, n, "both").sum(axis=1), 2)))


def shared(left: sparse.csr_array, right: sparse.csr_array, pairs: Integers) -> Array:
    """Products of row i of one matrix and row j of another, for each pair (i, j)."""
    found = np.empty(len(pairs))
    for matrix in (left, right):
        matrix.sort_indices()
    sides = (part for matrix in (left, right) for part in (matrix.indptr, matrix.indices, matrix.data))
    kernels.row_products(*sides, *np.ascontiguousarray(pairs.T, dtype=np.int64), found)
    return found


class PairFeatures:
    """Numbers of ordered pairs (i, j), from the arcs that may be seen.

    Whether there is an arc j -> i, and ``log(1 + sum of the rarity of k)`` over the nodes k between i and j, for each of the
    four ways of `WAYS`: directed Adamic-Adar scores. None of them depends on the arc i -> j itself.
    """

    def __init__(self, arcs: Integers, n: int):
        self.arcs = ArcSet(arcs, n)
        weights = sparse.diags_array(rarity(arcs, n))
        sides = {way: adjacency(arcs, n, way) for way in ("out", "in")}
        self._sides = sides
        self._weighted = {way: sparse.csr_array(side @ weights) for way, side in sides.items()}

    def __call__(self, pairs: Integers) -> Array:
        """Features of the pairs, shape (P, 5), in the order of `FEATURES`."""
        reverse = self.arcs.contains(pairs[:, ::-1]).astype(float)
        return np.column_stack([reverse, *(self.way(name, pairs) for name in WAYS)])

    def way(self, name: str, pairs: Integers) -> Array:
        """One column of them: a way of `WAYS`."""
        first, second = WAYS[name]
        return np.log1p(shared(self._weighted[first], self._sides[second], pairs))
