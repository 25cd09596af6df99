"""The symmetric and the skew part of complete data, which the closed form and uniform SMACOF share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks, require_memory
from finsler.kernels.dense import symmetrize

Array = NDArray[np.floating[Any]]

# Blocks of rows per pass. Fixed, so that sums are added in the same order whatever the number of threads.
BLOCKS = 8


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of ``D`` for uniform weights.

    Attributes
    ----------
    S : ndarray of shape (n, n)
        ``(D + D')/2``.
    h : ndarray of shape (n,)
        Centered heights that fit the skew part best, ``A.mean(axis=0)`` with ``A = (D - D')/2``.
    skew_residual : float
        What they leave of it, ``sum over i < j of (A_ij - h_j + h_i)^2``.
    total : float
        Sum of squares of D.
    """

    S: Array
    h: Array
    skew_residual: float
    total: float


def split(D: Array, n_jobs: int | None = None) -> Parts:
    """Split complete dissimilarities into their parts.

    Examples
    --------
    >>> parts = split(np.array([[0.0, 3.0], [1.0, 0.0]]))
    >>> parts.S[0, 1], parts.h
    (np.float64(2.0), array([-0.5,  0.5]))
    """
    n = len(D)
    require_memory(
        D.itemsize * n * n, f"A symmetrized copy of D for {n} points", "Use float32, or fewer points."
    )

    def margins(_: int, start: int, stop: int) -> tuple[Array, Array]:
        rows = D[start:stop]
        return rows.sum(axis=1, dtype=float), rows.sum(axis=0, dtype=float)

    # Blocks of a megabyte or so: the second sum then finds the rows in cache.
    out, into = zip(*map_blocks(margins, np.linspace(0, n, max(2, n // 64)).astype(int), n_jobs), strict=True)
    h = (np.sum(into, axis=0) - np.concatenate(out)) / (2 * n)
    h -= h.mean()
    S = np.empty((n, n), dtype=D.dtype)

    def task(_: int, start: int, stop: int) -> tuple[float, float]:
        return symmetrize(D, h, start, stop, S)

    sums = np.array(map_blocks(task, triangle_edges(n, BLOCKS), n_jobs)).sum(axis=0)
    return Parts(S, h, float(sums[0]), float(sums[1]))


def triangle_edges(n: int, blocks: int) -> NDArray[np.intp]:
    """Edges of blocks of rows of an upper triangle with about as many pairs in each.

    Examples
    --------
    >>> triangle_edges(200, 4)
    array([  0,  27,  59, 100, 200])
    """
    blocks = max(1, min(blocks, n // 32))
    return np.round(n * (1 - np.sqrt(1 - np.arange(blocks + 1) / blocks))).astype(np.intp)
