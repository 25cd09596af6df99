"""Weights for a manifold with missing parts: only pairs whose distance the missing parts cannot change.

Distances ``D`` measured on a sheet with holes are too long where the true way leads through a hole. Such a
way leaves the sheet at a boundary point b1 and comes back at a boundary point b2, so it is at least

    K_ij = min over b1, b2 of  D[i, b1] + bound * ||x_b1 - x_b2|| + D[b2, j]

long, where every path costs at least `bound` times its Euclidean length. If ``D_ij <= K_ij``, no way through
a hole is shorter, and the pair is *consistent*. The middle leg is a straight line through space: a wormhole.

The criterion alone certifies almost no pair that involves a boundary point, and so leaves the weights in several pieces,
which have no common frame. Short pairs are consistent up to discretization: pass them as `keep`. On a sample the guarantee
holds up to the spacing of the boundary points, since a way may cross the rim between two of them; superfluous ones only
cost pairs. Soft weights leave much weight on wrong distances: on the Swiss roll with a hole the squared Procrustes
correlation of the map with the truth is 0.80 without weights, 0.83 with soft and 0.99996 with hard ones.

References
----------
Rosman, Bronstein, Bronstein, Kimmel: Nonlinear dimensionality reduction by topologically constrained
isometric embedding, IJCV 89 (2010): middle leg 0 ("TCIE").
Bracha, Dagès, Kimmel: Wormhole loss for partial shape matching, NeurIPS 2024: Riemannian manifolds.
Dagès et al.: Finsler Multi-Dimensional Scaling, CVPR 2025: Finsler manifolds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from finsler._arguments import check_arguments, check_number, named
from finsler._memory import require_memory
from finsler._runtime import Progress, map_blocks
from finsler.data.fields import as_points
from finsler.data.matrix import LARGEST, Array, as_dissimilarities
from finsler.errors import InputError, check_choice
from finsler.kernels.paths import minplus

BLOCK_ROWS = 64


def consistency_weights(
    D: ArrayLike,
    points: ArrayLike | None = None,
    boundary: ArrayLike | None = None,
    *,
    criterion: str = "wormhole",
    bound: float = 1.0,
    soft: bool = False,
    symmetric: bool = True,
    keep: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> Array:
    """Weight 1 for the pairs whose distance no missing part of the manifold can shorten, 0 for the others.

    Parameters
    ----------
    D : array-like of shape (n, n)
        Shortest path distances on the sampled manifold, from row to column. inf (unreachable) gets weight 0.
    points : array-like of shape (n, m), optional
        Where the points lie in space. Needed by the wormhole criterion.
    boundary : array-like of bool of shape (n,), or of int
        Points at the rims of the missing parts, as a mask or as indices; :func:`find_boundary` finds them.
    criterion : {"wormhole", "intrinsic"}
        "wormhole" counts the straight line between boundary points; "intrinsic" counts nothing between
        them, needs no `points`, and keeps fewer pairs.
    bound : float, default=1.0
        The least cost of a step per Euclidean length: 1 for Euclidean lengths, ``1 - alpha`` for a drift of
        norm alpha; :func:`~finsler.geometry.randers.length_bound` computes it for a field of metrics. It must
        hold on the whole manifold, in the missing parts too.
    soft : bool, default=False
        Give an inconsistent pair the weight ``K_ij / D_ij < 1`` in place of 0.
    symmetric : bool, default=True
        Replace the weights by ``sqrt(c_ij c_ji)``: a pair counts if it is consistent both ways.
    keep : bool array or sparse matrix of shape (n, n), or float, optional
        Pairs that get weight 1 whatever the criterion says: a mask, the stored entries of a sparse matrix
        (such as the neighborhood graph), or a radius, which keeps ``D_ij < keep``. With ``symmetric=True``
        a pair kept one way is kept both ways, if both are reachable.
    n_jobs, verbose
        Threads (the result does not depend on them), and the progress line.

    Returns
    -------
    ndarray of shape (n, n)
        Weights in [0, 1] with a zero diagonal, float32 if `D` is, float64 otherwise.

    Examples
    --------
    Six stops of a circular tour of length 6, of which the last leg, from 5 back to 0, is missing. The
    distances 0 to 5 and 0 to 4 are too long now, and 0 to 3 (just) is not.

    >>> import numpy as np
    >>> stop = np.arange(6)
    >>> D = np.abs(stop[:, None] - stop).astype(float)
    >>> angle = np.pi / 3 * stop
    >>> points = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> consistency_weights(D, points, boundary=[0, 5])[0]
    array([0., 1., 1., 1., 0., 0.])
    >>> consistency_weights(D, points, boundary=[0, 5], soft=True)[0].round(2)
    array([0. , 1. , 1. , 1. , 0.5, 0.2])
    """
    check_arguments(consistency_weights, locals(), besides=("D", "points"))
    check_choice("criterion", criterion, ("wormhole", "intrinsic"))
    matrix = _path_lengths(D)
    n = len(matrix)
    rim = _boundary_indices(boundary, n)
    kept = _kept_pairs(keep, matrix)
    require_memory(matrix.itemsize * float(n) * n, f"A weight matrix for {n} points", "Use fewer points.")
    across = None if criterion == "intrinsic" else _straight_lengths(points, matrix, rim, bound)
    progress = Progress("Consistent pairs", verbose)
    weights = _certified(matrix, rim, across, soft, n_jobs, progress)
    if symmetric:
        _symmetrize(weights)
    if kept is not None:
        reachable = np.isfinite(matrix)
        if symmetric:
            kept, reachable = kept | kept.T, reachable & reachable.T
        weights[kept & reachable] = 1
    np.fill_diagonal(weights, 0)
    progress.close(f"{np.count_nonzero(weights == 1) / max(n * (n - 1), 1):.1%} of the pairs")
    return weights


def _certified(
    D: Array, rim: NDArray[np.intp], across: Array | None, soft: bool, n_jobs: int | None, progress: Progress
) -> Array:
    """Weight of each pair by two min-plus products, O(n b^2 + n^2 b); ``across`` is the middle leg, None for 0."""
    n = len(D)
    there, back = np.array(D[:, rim], order="C"), np.array(D[rim], order="C")
    there[rim, range(len(rim))] = back[range(len(rim)), rim] = 0  # whatever D has on its diagonal
    if across is None:
        there, back = there.min(axis=1, keepdims=True), back.min(axis=0, keepdims=True)
        across = np.zeros((1, 1), D.dtype)
    weights = np.empty(D.shape, D.dtype)

    def task(_: int, start: int, stop: int) -> None:
        landed, rows = np.empty_like(there[start:stop]), weights[start:stop]
        minplus(there[start:stop], across, landed)
        minplus(landed, back, rows)
        # D and the threshold may be sums along the same path, added in different orders.
        consistent = rows * (1 + 64 * np.finfo(rows.dtype).eps) >= D[start:stop]
        if soft:
            with np.errstate(divide="ignore", invalid="ignore"):
                rows /= D[start:stop]
            rows[consistent] = 1
        else:
            rows[:] = consistent
        rows[np.isinf(D[start:stop])] = 0
        progress.update(f"rows up to {stop} of {n}")

    map_blocks(task, [*range(0, n, BLOCK_ROWS), n], n_jobs)
    return weights


def find_boundary(
    points: ArrayLike, n_neighbors: int = 20, *, n_dimensions: int = 2, threshold: float = 0.4
) -> NDArray[np.bool_]:
    """Mask of the points at the rim of a sampled manifold, found from the sample alone.

    Around each point, the nearest neighbors are projected on their principal plane (local PCA). Inside the manifold they lie
    all around; at a rim they lie to one side. A point is at the rim if, on the side that faces away from their centroid, no
    neighbor reaches farther than `threshold` times the distance to the farthest one: the rim is nearer than that.

    The sample must have about the same density in every direction. More neighbors tell rims from chance gaps; but the
    neighborhood, nearly ``sqrt(n_neighbors)`` spacings wide at the rim of a surface, must not reach across a hole.

    All rims are found: those of holes and the outer one, which matters only if the full manifold goes on beyond it. To take
    it for the rim of a missing part is safe, but certifies fewer pairs: leave it out if the manifold ends there.

    Of 4000 uniform points on a disc with a hole, 94 to 98 % of those within half a spacing of a rim are found, and at most
    1.6 % of those 1.5 spacings away (six samples). On the Swiss roll with a hole, the boundary found certifies 2.5 % of the
    pairs (the given one 7.5 %), none off by more than 0.1 %; with ``symmetric=False`` 6.8 % (14.9 %), of which 0.03 % are
    off by more than 1 %.
    """
    check_arguments(find_boundary, locals(), besides=("points",))
    X = as_points(points)
    n, m = X.shape
    if not 1 <= n_dimensions <= m:
        raise InputError(f"n_dimensions must be in 1..{m}, the columns of points; got {n_dimensions}.")
    if not n_dimensions < n_neighbors < n:
        raise InputError(f"n_neighbors must be in {n_dimensions + 1}..{n - 1}; got {n_neighbors}.")
    if not 0 < threshold < 1:
        raise InputError(f"threshold must be between 0 and 1, got {threshold}.")
    # The point itself is among them, a step of length 0.
    near: NDArray[np.intp] = np.asarray(KDTree(X).query(X, k=n_neighbors + 1)[1])
    rim = np.empty(n, dtype=bool)
    for start in range(0, n, 1024):
        rows = slice(start, start + 1024)
        steps = X[near[rows]] - X[rows, None]
        axes = np.linalg.svd(steps - steps.mean(axis=1, keepdims=True), full_matrices=False)[2]
        steps = np.einsum("ikm,idm->ikd", steps, axes[:, :n_dimensions])
        inward = steps.mean(axis=1)
        reach = np.max(-np.einsum("ikd,id->ik", steps, inward), axis=1)
        farthest = np.linalg.norm(steps, axis=2).max(axis=1)
        rim[rows] = reach < threshold * farthest * np.linalg.norm(inward, axis=1)
    return rim


def _path_lengths(D: ArrayLike) -> Array:
    """Checked matrix of distances; inf may occur, NaN may not."""
    data = as_dissimilarities(D, missing="mask")
    if data.provenance.n_missing:
        i, j = np.argwhere(np.isnan(data.matrix) & ~np.eye(data.n_points, dtype=bool))[0]
        raise InputError(
            f"D is NaN from {data.name(i)} to {data.name(j)}. Consistency is about shortest paths, which are known for "
            "every pair; use inf where there is no path."
        )
    return data.matrix


def _boundary_indices(boundary: ArrayLike | None, n: int) -> NDArray[np.intp]:
    if boundary is None:
        raise InputError("boundary is needed: a mask or indices. find_boundary(points) finds one.")
    given = np.asarray(boundary)
    mask = given.dtype == bool and given.shape == (n,)
    numbers = given.ndim == 1 and (given.dtype.kind in "iu" or not given.size)
    if not mask and not (numbers and ((given >= 0) & (given < n)).all()):
        raise InputError(
            f"boundary must be a mask of shape ({n},) or a list of indices between 0 and {n - 1}; found {given.dtype} of "
            f"shape {given.shape}."
        )
    rim = np.flatnonzero(given) if mask else np.unique(given.astype(np.intp))
    if rim.size == 0:
        raise InputError("boundary is empty. Without missing parts every pair is consistent: use no weights.")
    return rim


def _straight_lengths(points: ArrayLike | None, D: Array, rim: NDArray[np.intp], bound: float) -> Array:
    """Least costs between boundary points: `bound` times the straight line."""
    check_number("bound", bound, 0.0, LARGEST)
    if points is None:
        raise InputError("points is needed for criterion='wormhole'. Pass it, or use criterion='intrinsic'.")
    X = as_points(points)
    if len(X) != len(D):
        raise InputError(f"points must have one row for each of the {len(D)} points of D, got {len(X)}.")
    X = X[rim]
    straight = cdist(X, X)
    known = D[np.ix_(rim, rim)]
    if (known < bound * straight * (1 - 1e-5)).any():
        ratio = np.divide(known, straight, out=np.full(straight.shape, np.inf), where=straight > 0)
        a, b = divmod(int(np.argmin(ratio)), len(ratio))
        raise InputError(
            f"bound={bound:g} is too large: from boundary point {rim[a]} to {rim[b]} D is {known[a, b]:.6g}, "
            f"less than bound times their distance {straight[a, b]:.6g}. See geometry.randers.length_bound; the "
            f"bound is at most {ratio[a, b]:.6g}."
        )
    return (bound * straight).astype(D.dtype)


def _kept_pairs(keep: Any, D: Array) -> NDArray[np.bool_] | None:
    if keep is None:
        return None
    if isinstance(keep, int | float | np.number) and not isinstance(keep, bool):
        return np.asarray(check_number("keep", keep, 0.0, open_ends=True) > D)
    if hasattr(keep, "tocoo"):
        stored = keep.tocoo()
        mask = np.zeros(stored.shape, dtype=bool)
        # A stored zero is an arc of length zero, but a stored False is no.
        mask[stored.row, stored.col] = stored.data if stored.dtype == bool else True
    else:
        try:
            mask = np.asarray(keep)
        except ValueError as error:  # rows of different lengths
            raise named(error, "keep") from error
    if mask.dtype != bool or mask.shape != D.shape:
        raise InputError(
            f"keep must be a radius, a sparse matrix or a boolean mask of shape {D.shape}; got "
            f"{type(keep).__name__} of shape {mask.shape} and dtype {mask.dtype}."
        )
    return mask


def _symmetrize(weights: Array) -> None:
    """Replace each weight by its geometric mean with that of the way back, in place."""
    for start in range(0, len(weights), 512):
        rows = slice(start, start + 512)
        mutual = np.sqrt(weights[rows, start:] * weights[start:, rows].T)
        weights[rows, start:] = mutual
        weights[start:, rows] = mutual.T
