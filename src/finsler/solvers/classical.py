"""Classical Finsler scaling: the map in closed form, exact when the data are exactly Randers.

With ``S`` and ``A`` the symmetric and skew part of ``D``: heights ``h = A.mean(axis=0)`` and ``z = h / alpha`` on
the last axis, and the other axes by classical scaling of what the heights leave,
``G = -1/2 J (S^2 - (z_i - z_j)^2) J`` with ``J = I - 11'/n``. Since ``-1/2 J (z_i - z_j)^2 J = z z'`` for centered z,
``G`` is that of ordinary classical scaling minus ``z z'``.
"""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from finsler._runtime import map_blocks
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError
from finsler.geometry.randers import drift_vector
from finsler.geometry.stress import raw_stress
from finsler.kernels.dense import squares_times
from finsler.solvers.solution import Solution
from finsler.solvers.symmetric_and_skew import split

Array = NDArray[np.floating[Any]]

DENSE_EIGEN = 600  # up to this many points a full eigendecomposition is quickest


def classical(
    data: Dissimilarities, n_components: int = 2, alpha: float = 0.5, *, n_jobs: int | None = None
) -> Solution:
    """Closed form for complete data with uniform weights.

    Parameters
    ----------
    data : Dissimilarities
        Complete, without weights.
    n_components : int
        Dimension of the map.
    alpha : float
        Drift, in [0, 1). At 0 this is ordinary classical scaling of the symmetrized data.
    n_jobs : int, optional
        Threads for the final stress.

    Examples
    --------
    >>> from finsler.geometry.randers import randers_distances
    >>> from finsler.data.matrix import as_dissimilarities
    >>> D = randers_distances([[0, 0], [3, 1], [1, 4], [2, 2]], drift=0.4)
    >>> solution = classical(as_dissimilarities(D), n_components=2, alpha=0.4)
    >>> bool(solution.stress < 1e-20)
    True
    """
    began = time.perf_counter()
    if data.weights is not None:
        raise InputError("The closed form needs complete data with uniform weights; use smacof.")
    omega = drift_vector(alpha, n_components)
    parts = split(data.matrix, n_jobs)
    X = closed_form(parts.S, parts.h, n_components, alpha, n_jobs)
    value = raw_stress(X, data.matrix, drift=omega, n_jobs=n_jobs)
    return Solution(
        X, omega, value, np.array([value]), 0, 0, "closed_form", "Closed form.", time.perf_counter() - began
    )


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
    # Fix the signs, which an eigensolver leaves open: the entry of largest size is positive.
    top = np.abs(vectors).argmax(axis=0)
    vectors = vectors * np.where(vectors[top, np.arange(len(top))] < 0, -1.0, 1.0)
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
                values, vectors = eigsh(
                    LinearOperator((n, n), matvec=matvec, dtype=float), k=possible, which="LA", v0=v0
                )
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
