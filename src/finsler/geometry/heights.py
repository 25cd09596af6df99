"""Heights that explain as much of the asymmetry as heights can (HodgeRank): the one Laplacian least squares.

A Randers map shows `A_ij = (D_ij - D_ji) / 2` as a difference of heights `h_j - h_i`: a gradient, which never
runs in circles. HodgeRank (Jiang, Lim, Yao and Ye, Math. Program. 127, 2011) splits A into its best gradient
and a cyclic rest. The weight of a pair in that split: the stress leaves the symmetric part S_ij free, and

    min over S of  w_ij (S + a - D_ij)^2 + w_ji (S - a - D_ji)^2  =  4 w_ij w_ji / (w_ij + w_ji) (a - A_ij)^2

so c_ij = 2 w_ij w_ji / (w_ij + w_ji), the harmonic mean of the two weights: 1 if both are 1, 0 if one is
unknown. The heights solve L(c) h = flow, where L(c) is the graph's Laplacian and flow_j = sum over i of c_ij A_ij.

`gradient_heights` solves it for a matrix, `heights_of_rows` for some rows of one, `heights_of_pairs` for a list of
pairs; all by the conjugate gradients at the end of this file.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import coo_array, csr_array, issparse
from scipy.sparse.linalg import LinearOperator, cg

from finsler._arguments import check_arguments
from finsler._runtime import map_blocks
from finsler.errors import InputError, InputTypeError, check_count
from finsler.geometry.components import graph_components, matrix_components
from finsler.geometry.pairs import Array, Pairs, Rows, Survey
from finsler.kernels.panels import skew_weights

DENSE = 0.25  # share of the pairs known both ways from which their weights are kept as a dense matrix
# Relative residual of the heights to stop at, and how many times more goes without a warning.
SOLVED, SILENT = 1e-14, 1e3


def gradient_heights(D: ArrayLike, weights: ArrayLike | None = None, *, n_jobs: int | None = None) -> Array:
    """Heights whose differences h_j - h_i come nearest to the skew part (D_ij - D_ji) / 2 (HodgeRank).

    The arrays are checked ones, see `finsler.geometry.pairs`. Heights have the mean 0 on each connected component of the
    pairs known both ways; they do not depend on `n_jobs`.
    """
    check_arguments(gradient_heights, locals())
    pairs = Pairs.of(D, weights, n_jobs)
    return solve_heights(pairs, skew_flow(pairs))


class SkewFlow(NamedTuple):
    """Of the pairs known both ways, what heights are found from; a `Survey` has it, too."""

    flow: Array  #: For each point, the sum of c A that runs into it.
    both: int  #: Number of ordered pairs.
    c_range: tuple[float, float]  #: The least and the largest c.
    weights: Array  #: All c, or none.

    @property
    def uniform(self) -> bool:
        """Whether all pairs are known both ways and weigh the same."""
        n = len(self.flow)
        return self.both == n * (n - 1) and (self.c_range[0] == self.c_range[1] or n < 2)


def skew_flow(pairs: Pairs, fill: bool = False) -> SkewFlow:
    """Add up the skew part of all pairs, by their weights c, which are kept if asked for."""
    n = pairs.n_points
    flow, weights = np.zeros(n), np.empty((n, n) if fill else (0, 0))
    W = pairs.D[:0] if pairs.W is None else pairs.W

    def task(_: int, start: int, stop: int) -> tuple[int, float, float]:
        return skew_weights(pairs.D, W, pairs.W is not None, pairs.unit, start, stop, flow, weights)

    found = np.array(map_blocks(task, np.linspace(0, n, 2 + n // 256).astype(int), pairs.n_jobs))
    return SkewFlow(
        flow, int(found[:, 0].sum()), (float(found[:, 1].min()), float(found[:, 2].max())), weights
    )


def solve_heights(pairs: Pairs, found: Survey | SkewFlow) -> Array:
    """Solve L(c) h = flow, with mean 0 on each component of the pairs known both ways."""
    n = pairs.n_points
    if found.uniform:  # The closed form A.mean(axis=0).
        return found.flow / (n * found.c_range[1]) if n > 1 else found.flow
    if found.both > DENSE * n * n:
        return solve_laplacian(skew_flow(pairs, fill=True).weights, found.flow)
    return solve_laplacian(sparse.vstack(pairs.map(_weight_rows), format="csr"), found.flow)


def heights_of_rows(rows: Rows) -> tuple[Array, NDArray[np.intp]]:
    """Heights with the least ``sum c_sj (h_j - h_s - A_sj)^2`` over the pairs of some rows, and the group of each point.

    Points that are no source hang on the sources only: with those of the sources given, the height of such a point is
    the mean of ``h_s + A_sj`` by its weights. Put in, this leaves a Laplacian of as many points as there are sources.
    Heights have the mean 0 on each group of points that pairs known both ways connect.
    """
    sources, n, k = rows.sources, rows.n_points, len(rows.sources)
    place = np.full(n, -1)
    place[sources] = np.arange(k)
    weights, flow = np.zeros((k, k)), np.zeros(k)
    degree, arriving = np.zeros(n), np.zeros(n)
    for there, A, c in rows.skew():
        inner = place[there]
        flow -= (c * A).sum(axis=1)
        degree[there], arriving[there] = c.sum(axis=0), (c * A).sum(axis=0)
        weights[:, inner[inner >= 0]] += c[:, inner >= 0]
        weights[inner[inner >= 0]] += c[:, inner >= 0].T
        share = np.divide(c, degree[there], out=np.zeros_like(c), where=(inner < 0) & (degree[there] > 0))
        weights += share @ c.T
        flow += share @ arriving[there]
    h, group = np.zeros(n), np.full(n, -1)
    h[sources] = solve_laplacian(weights, flow + arriving[sources])
    group[sources] = matrix_components(weights)
    for there, _, c in rows.skew():
        outer = np.flatnonzero((place[there] < 0) & (degree[there] > 0))
        at = there.start + outer
        h[at] = (h[sources] @ c[:, outer] + arriving[at]) / degree[at]
        group[at] = group[sources[np.argmax(c[:, outer] > 0, axis=0)]]
    alone = group < 0
    group[alone] = k + np.arange(np.count_nonzero(alone))
    return h - (np.bincount(group, h) / np.maximum(np.bincount(group), 1))[group], group


def heights_of_pairs(
    i: Array, j: Array, skew: Array, weights: Array, n: int, *, ridge: float = 0.0, tol: float = SOLVED
) -> Array:
    """Heights with the least ``sum c (h_j - h_i - A)^2 + ridge sum h^2`` over a list of pairs i, j."""
    there = sparse.csr_array((weights, (i, j)), shape=(n, n))
    flow = np.zeros(n)  # numpy counts no pairs at all in integers
    flow += np.bincount(j, weights * skew, n)
    flow -= np.bincount(i, weights * skew, n)
    return solve_laplacian(there + there.T, flow, ridge=ridge, tol=tol)


def solve_laplacian(weights: Any, flow: Array, *, ridge: float = 0.0, tol: float = SOLVED) -> Array:
    """Solve ``(L(c) + ridge) h = flow`` for symmetric weights c, dense or sparse.

    Without ridge the heights have the mean 0 on each component.
    """
    degree = np.asarray(weights.sum(axis=1)).ravel() + ridge
    components = graph_components if sparse.issparse(weights) else matrix_components
    group = None if ridge else components(weights)
    return _solve(lambda x: degree * x - weights @ x, flow, degree, group, tol)


def _weight_rows(rows: Rows) -> Any:
    """Weights c of a block of rows."""
    return sparse.csr_array(np.hstack([c for _, _, c in rows.skew()]))


def _solve(
    multiply: Callable[[Array], Array], flow: Array, degree: Array, group: Array | None, tol: float
) -> Array:
    """Solve by conjugate gradients, scaled so that points of small weight are served as well.

    They run to scipy's own tolerance, and again on what is left. With groups, that must sum to 0 on each, beyond
    rounding: nothing else can be solved for.
    """
    degree = np.where(degree > 0, degree, 1.0)
    n, scale, norm = len(flow), 1 / np.sqrt(degree), np.inf
    scaled = LinearOperator((n, n), lambda x: scale * multiply(scale * x.ravel()), dtype=np.float64)

    def without_mean(x: Array, mass: Array) -> Array:
        return x if group is None else x - (np.bincount(group, x * mass) / np.bincount(group, mass))[group]

    h, left = np.zeros(n), without_mean(flow / degree, degree)  # What is left is kept in units of heights.
    first = size = float(np.abs(left).max())
    while size > tol * first:
        step = scale * cg(scaled, left / scale, rtol=1e-5, atol=0.0, maxiter=max(10 * n, 1000))[0]
        better = without_mean(h + step, np.ones(n))
        still = without_mean((flow - multiply(better)) / degree, degree)
        sizes = float(np.abs(still).max()), float(np.linalg.norm(still / scale))
        if not (sizes[0] < 0.5 * size or sizes[1] < 0.5 * norm):
            break
        h, left, (size, norm) = better, still, sizes
    if size > SILENT * tol * first:
        text = f"The heights solve their equations to {size / first:.1e} only: weights span too wide a range."
        warnings.warn(text, RuntimeWarning, stacklevel=4)
    return h


# Peaks and pits of a height over a neighborhood graph: where a current springs up, and where it gathers.


class Extrema(NamedTuple):
    """Indices of the local maxima, highest first, and of the local minima, lowest first."""

    maxima: NDArray[np.intp]
    minima: NDArray[np.intp]


def local_extrema(height: ArrayLike, graph: Any, *, hops: int = 1) -> Extrema:
    """Find the points that are higher, or lower, than all their neighbors.

    Neighbors of equal height form a plateau, which is judged as a whole and reported by its first point. A plateau with
    no neighbor outside (an isolated point, a flat component) is neither.

    Parameters
    ----------
    height : array-like of shape (n,)
        Where it is NaN, a point neither is an extremum nor hinders one.
    graph : scipy sparse array of shape (n, n)
        Each stored entry, zero too, makes its row and its column neighbors of each other.
    hops : int
        Compare with all points within this many steps; more leave fewer, more prominent extrema.

    Returns
    -------
    Extrema
        ``(maxima, minima)``, arrays of indices.

    Examples
    --------
    >>> from scipy.sparse import diags_array
    >>> path = diags_array([1.0, 1.0, 1.0, 1.0], offsets=1, shape=(5, 5))
    >>> maxima, minima = local_extrema([0.0, 2.0, 1.0, 1.0, 3.0], path)
    >>> maxima.tolist(), minima.tolist()
    ([4, 1], [0, 2])
    """
    check_arguments(local_extrema, locals())
    values = np.asarray(height, dtype=float)
    if values.ndim != 1:
        raise InputError(f"height must hold one number per point, got shape {values.shape}.")
    n = len(values)
    if not issparse(graph):
        raise InputTypeError(f"graph must be a scipy sparse array, got {type(graph).__name__}.")
    if graph.shape != (n, n):
        raise InputError(
            f"graph must have a row and a column for each of the {n} points of height, got {graph.shape}.",
            argument="graph",
        )
    check_count("hops", hops)
    rows, columns = _neighbors(
        graph, ~np.isnan(values), min(hops, n)
    )  # no way between different points is longer
    level = values[rows] == values[columns]
    flat = coo_array((np.ones(level.sum()), (rows[level], columns[level])), shape=(n, n))
    plateau = graph_components(flat)
    rises, falls = np.zeros((2, n), dtype=bool)  # whether the plateau has a higher, and a lower neighbor
    rises[plateau[rows[values[columns] > values[rows]]]] = True
    falls[plateau[rows[values[columns] < values[rows]]]] = True
    first = np.unique(plateau, return_index=True)[1]
    maxima, minima = first[(falls & ~rises)[: len(first)]], first[(rises & ~falls)[: len(first)]]
    highest, lowest = np.argsort(-values[maxima], kind="stable"), np.argsort(values[minima], kind="stable")
    return Extrema(maxima[highest], minima[lowest])


def _neighbors(graph: Any, known: NDArray[np.bool_], hops: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ordered pairs of different points within some steps of each other, unknown heights left out."""
    stored = graph.tocoo()
    pattern = csr_array((np.ones(stored.nnz, dtype=bool), (stored.row, stored.col)), shape=graph.shape)
    pattern = pattern + pattern.T
    reach = pattern
    for _ in range(hops - 1):
        reach = reach + reach @ pattern
    pairs = reach.tocoo()
    kept = (pairs.row != pairs.col) & known[pairs.row] & known[pairs.col]
    return pairs.row[kept], pairs.col[kept]
