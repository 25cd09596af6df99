"""Where a solver starts: closed form, Isomap-like, random, or given coordinates.

The closed form (classical Finsler scaling) is exact when the data are exactly Randers. With ``S`` and ``A`` the symmetric
and skew part of ``D``: heights ``h = A.mean(axis=0)`` and ``z = h / alpha`` on the last axis, and the other axes by
classical scaling of what the heights leave, ``G = -1/2 J (S^2 - (z_i - z_j)^2) J`` with ``J = I - 11'/n``. Since
``-1/2 J (z_i - z_j)^2 J = z z'`` for centered z, ``G`` is that of ordinary classical scaling minus ``z z'``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from finsler._runtime import map_blocks, require_memory
from finsler.data.matrix import Dissimilarities
from finsler.geometry.heights import gradient_heights
from finsler.kernels.dense import squares_times
from finsler.kernels.paths import dense_dijkstra, fill_from_landmarks
from finsler.solvers.drift import axis_signs, frame_of

Array = NDArray[np.floating[Any]]

LANDMARKS = 64
DENSE_EIGEN = 600  # up to this many points a full eigendecomposition is quickest


def isomap_of(gram: Gram, h: Array, n_components: int) -> Array:
    """Classical scaling, turned so that the heights ``h`` climb the last axis."""
    X = gram.leading(n_components)
    direction = np.linalg.lstsq(X, h, rcond=1e-6)[0]
    return X @ frame_of(direction)


def random_points(data: Dissimilarities, n_components: int, rng: np.random.RandomState) -> Array:
    """Gaussian points as far apart on average as the data."""
    known = ~np.eye(data.n_points, dtype=bool) if data.weights is None else data.weights > 0
    count = int(np.count_nonzero(known)) - int(np.count_nonzero(np.diagonal(known)))
    rows = (row[w].astype(float) for row, w in zip(data.matrix, known, strict=True))
    scale = np.sqrt(sum(float(row @ row) for row in rows) / max(count, 1))
    return gaussian_points(data.n_points, n_components, scale, rng)


def gaussian_points(n: int, n_components: int, scale: float, rng: np.random.RandomState) -> Array:
    """Random points whose distances are ``scale`` in the quadratic mean."""
    return rng.standard_normal((n, n_components)) * scale / np.sqrt(2 * n_components)


def complete_parts(data: Dissimilarities, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Symmetric part ``S`` and heights ``h``, so that ``D_ij`` is about ``S_ij + h_j - h_i``; guessed where unknown.

    A pair known one way only gives ``S_ij = D_ij - (h_j - h_i)``. Pairs not known at all get the middle of the bounds that
    the triangle inequality sets through landmarks.
    """
    D, W = data.matrix, data.weights
    assert W is not None, "complete data with uniform weights have nothing to fill in"
    n = len(D)
    require_memory(16.0 * n * n, f"Completed data of {n} points", "Use init='random', or fewer points.")
    D = np.abs(D)  # a bound "at least b" is taken for b
    h = gradient_heights(D, W, n_jobs=n_jobs)
    known = W > 0
    both, one_way = known & known.T, known & ~known.T
    S = np.full((n, n), np.inf)
    straight = np.where(known, D, np.inf) - (h[None, :] - h[:, None])
    S[one_way] = np.maximum(straight[one_way], np.finfo(float).tiny)
    S.T[one_way] = S[one_way]
    S[both] = (straight[both] + straight.T[both]) / 2
    np.fill_diagonal(S, 0.0)
    if np.isinf(S).any():
        _fill(S, n_jobs)
    return S, h


def _fill(S: Array, n_jobs: int | None) -> None:
    n = len(S)
    landmarks = np.empty((min(n, LANDMARKS), n))
    nearest = np.full(n, np.inf)
    source = 0
    for row in landmarks:
        dense_dijkstra(S, source, row)
        nearest = np.minimum(nearest, row)
        source = int(np.argmax(nearest))  # the point farthest from all landmarks so far comes next

    def task(_: int, start: int, stop: int) -> None:
        fill_from_landmarks(S, landmarks, start, stop)

    map_blocks(task, np.linspace(0, n, min(n, 16) + 1).astype(int), n_jobs)


class Gram(Protocol):
    """``G0 = -1/2 J S^2 J``, wherever S is."""

    trace: float

    def leading(self, k: int, minus: Array | None = None) -> Array:
        """Coordinates from the k leading eigenvectors of ``G0 - minus minus'``; negative eigenvalues give zeros."""


def closed_form(S: Array, h: Array, n_components: int, alpha: float, n_jobs: int | None = None) -> Array:
    """Coordinates from the symmetric part and the heights ``h`` of the skew part."""
    return closed_form_of(DoublyCentered(S, n_jobs), h, n_components, alpha)


def closed_form_of(gram: Gram, h: Array, n_components: int, alpha: float) -> Array:
    """Coordinates from the doubly centered symmetric part and the heights ``h`` of the skew part."""
    n = len(h)
    X = np.zeros((n, n_components))
    if n == 1:
        return X
    if alpha == 0:
        return gram.leading(n_components)
    z = h / alpha
    # In exact data |z_i - z_j| <= S_ij. An alpha too small for the data breaks that; keep z within it on average.
    widest = np.sqrt(gram.trace / (z @ z)) if z @ z > gram.trace else 1.0
    z = z * widest
    X[:, -1] = z
    if n_components > 1:
        X[:, :-1] = gram.leading(n_components - 1, minus=z)
    return X


def scaled_eigenvectors(values: Array, vectors: Array, k: int) -> Array:
    """Coordinates from the k largest eigenvalues, the largest first; negative and absent ones give zeros."""
    order = np.argsort(values)[::-1][:k]
    values, vectors = values[order], vectors[:, order]
    vectors = vectors * axis_signs(vectors)  # which an eigensolver leaves open
    X = np.zeros((len(vectors), k))
    X[:, : len(order)] = vectors * np.sqrt(np.maximum(values, 0))
    return X


class DoublyCentered:
    """``G0 = -1/2 J S^2 J``, formed only for a few hundred points."""

    def __init__(self, S: Array, n_jobs: int | None = None):
        self.n = len(S)
        self.S = S
        self.n_jobs = n_jobs if self.n > DENSE_EIGEN else 1
        self._row_means = self._squares_times(np.ones(self.n)) / self.n
        self.trace = float(self._row_means.sum()) / 2

    def leading(self, k: int, minus: Array | None = None) -> Array:
        """Coordinates from the k leading eigenvectors of ``G0 - minus minus'``; negative eigenvalues give zeros."""
        n, possible = self.n, min(k, self.n)
        if n <= DENSE_EIGEN or possible >= n - 1:
            values, vectors = eigh(self._formed(minus), subset_by_index=(n - possible, n - 1))
        else:
            rank_one = np.zeros(n) if minus is None else minus

            def matvec(v: Array) -> Array:
                v = np.ravel(v)
                image = self._squares_times(v - v.mean())
                return -0.5 * (image - image.mean()) - rank_one * (rank_one @ v)

            # A fixed, generic start vector: the result must not depend on a global random state.
            v0 = np.random.default_rng(0).standard_normal(n)
            try:
                operator = LinearOperator((n, n), matvec=matvec, dtype=float)
                values, vectors = eigsh(operator, k=possible, which="LA", v0=v0)
            except ArpackNoConvergence:
                values, vectors = eigh(self._formed(minus), subset_by_index=(n - possible, n - 1))
        if len(values) < possible:  # LAPACK's subset drivers lose equal eigenvalues, as of equidistant points
            values, vectors = eigh(self._formed(minus))
        return scaled_eigenvectors(values, vectors, k)

    def _squares_times(self, v: Array) -> Array:
        out = np.empty(self.n)

        def task(_: int, start: int, stop: int) -> None:
            squares_times(self.S, v, start, stop, out)

        map_blocks(task, np.linspace(0, self.n, 9).astype(int), self.n_jobs)
        return out

    def _formed(self, minus: Array | None) -> Array:
        G = self.S.astype(float) ** 2
        G -= self._row_means[:, None]
        G -= self._row_means[None, :]
        G += self._row_means.mean()
        G *= -0.5
        return G if minus is None else G - np.outer(minus, minus)
