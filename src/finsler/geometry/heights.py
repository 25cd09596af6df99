"""Heights that explain as much of the asymmetry as heights can (HodgeRank).

A Randers map shows `A_ij = (D_ij - D_ji) / 2` as a difference of heights `h_j - h_i`: a gradient, which never
runs in circles. HodgeRank (Jiang, Lim, Yao and Ye, Math. Program. 127, 2011) splits A into its best gradient
and a cyclic rest. The weight of a pair in that split: the stress leaves the symmetric part S_ij free, and

    min over S of  w_ij (S + a - D_ij)^2 + w_ji (S - a - D_ji)^2  =  4 w_ij w_ji / (w_ij + w_ji) (a - A_ij)^2

so c_ij = 2 w_ij w_ji / (w_ij + w_ji), the harmonic mean of the two weights: 1 if both are 1, 0 if one is
unknown. The heights solve L(c) h = flow, where L(c) is the graph's Laplacian and flow_j = sum over i of c_ij A_ij.
"""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from finsler.geometry.pairs import Pairs, Survey, check_pairs, components, survey
from finsler.kernels import asymmetry as kernels

# Pairs a point up to which the Laplacian is kept in memory.
SPARSE_PAIRS = 512
# Relative residuals of the heights: to stop at, and to stay silent at.
SOLVED, GOOD_ENOUGH = 1e-14, 1e-11


def gradient_heights(D: Any, weights: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
    """Heights whose differences h_j - h_i come nearest to the skew part (D_ij - D_ji) / 2 (HodgeRank).

    Parameters
    ----------
    D : array-like of shape (n_points, n_points)
        ``D[i, j]`` is the dissimilarity from i to j; NaN is missing, inf unreachable, the diagonal ignored.
    weights : array-like of the same shape, optional
        Weight of each ordered pair, 0 for unknown. A pair counts if it is known both ways, with the harmonic
        mean of its two weights.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_points,)
        Heights, of mean 0 on each connected component of the pairs known both ways.

    Examples
    --------
    >>> gradient_heights([[0, 3, 5], [1, 0, 3], [1, 1, 0]])
    array([-1.,  0.,  1.])
    """
    pairs = check_pairs(D, weights, None, n_jobs)
    return solve_heights(pairs, survey(pairs))


def solve_heights(pairs: Pairs, found: Survey) -> np.ndarray:
    """Solve L(c) h = flow, with mean 0 on each component of the pairs known both ways."""
    n = pairs.n
    if found.both == n * (n - 1) and found.least == found.most:  # The closed form A.mean(axis=0).
        return found.flow * (pairs.unit / (n * found.most))
    if found.both <= 2 * SPARSE_PAIRS * n:
        weights = sparse.vstack(pairs.map(partial(_weight_rows, pairs)), format="csr")
        matrix, patience = sparse.diags_array(found.degree, format="csr") - weights, 10 * n
    else:
        multiply = partial(_times_laplacian, pairs)
        matrix, patience = LinearOperator((n, n), matvec=multiply, dtype=np.float64), 1000
    degree = np.where(found.degree > 0, found.degree, 1.0)
    return pairs.unit * _solve(matrix, found.flow, degree, components(pairs, "both"), patience)


def _weight_rows(pairs: Pairs, start: int, stop: int) -> sparse.csr_array:
    """Weights c of a block of rows."""
    tiles = (kernels.pair_weights(*tile[2:]) for _, tile in pairs.tiles(start, stop))
    return sparse.hstack([sparse.csr_array(c) for c in tiles], format="csr")


def _times_laplacian(pairs: Pairs, x: np.ndarray) -> np.ndarray:
    """Multiply L(c) x from the tiles, each read once for both of its blocks of points."""
    x = np.ascontiguousarray(x.ravel())

    def task(start: int, stop: int) -> np.ndarray:
        part = np.zeros(pairs.n)
        for columns, tile in pairs.tiles(start, stop, first=start):
            if columns.start == start:  # Here each pair comes twice.
                tile[2] = np.triu(tile[2])
            kernels.laplacian(*tile[2:], x[start:stop], x[columns], part[start:stop], part[columns])
        return part

    return np.sum(pairs.map(task), axis=0)


def _solve(
    matrix: Any, flow: np.ndarray, degree: np.ndarray, component: np.ndarray, patience: int
) -> np.ndarray:
    """Solve a Laplacian by conjugate gradients, scaled so that points of small weight are served as well.

    They run to scipy's own tolerance (whose name depends on the version), and again on what is left. That must
    sum to 0 on each component, beyond rounding: nothing else can be solved for.
    """
    n, scale, norm = len(flow), 1 / np.sqrt(degree), np.inf
    scaled = LinearOperator((n, n), lambda x: scale * (matrix @ (scale * x.ravel())), dtype=np.float64)

    def without_mean(x: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return x - (np.bincount(component, x * mass) / np.bincount(component, mass))[component]

    h, left = np.zeros(n), without_mean(flow / degree, degree)  # What is left is kept in units of heights.
    first = size = float(np.abs(left).max())
    while size > SOLVED * first:
        step = scale * cg(scaled, left / scale, atol=0.0, maxiter=patience)[0]
        better = without_mean(h + step, np.ones(n))
        still = without_mean((flow - matrix @ better) / degree, degree)
        sizes = float(np.abs(still).max()), float(np.linalg.norm(still / scale))
        if not (sizes[0] < 0.5 * size or sizes[1] < 0.5 * norm):
            break
        h, left, (size, norm) = better, still, sizes
    if size > GOOD_ENOUGH * first:
        text = f"The heights solve their equations to {size / first:.1e} only: weights span too wide a range."
        warnings.warn(text, RuntimeWarning, stacklevel=4)
    return h
