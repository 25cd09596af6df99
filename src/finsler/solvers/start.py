"""Where a solver starts: closed form, Isomap-like, random, or given coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks, require_memory
from finsler.data.matrix import Dissimilarities
from finsler.geometry.heights import gradient_heights
from finsler.kernels.completion import dense_dijkstra, fill_from_landmarks
from finsler.solvers.classical import DoublyCentered, Gram, closed_form
from finsler.solvers.drift import frame_of
from finsler.solvers.symmetric_and_skew import Parts

Array = NDArray[np.floating[Any]]

LANDMARKS = 64


class Initializer:
    """Makes starts for one data set; what several starts share is computed once."""

    def __init__(self, data: Dissimilarities, parts: Parts | None, n_jobs: int | None = None):
        self.data = data
        self.n_jobs = n_jobs
        self._symmetric_and_heights = None if parts is None else (parts.S, parts.h)

    @property
    def parts(self) -> tuple[Array, Array]:
        """Symmetric part and heights of the skew part, with gaps filled in."""
        if self._symmetric_and_heights is None:
            self._symmetric_and_heights = complete_parts(self.data, self.n_jobs)
        return self._symmetric_and_heights

    def classical(self, n_components: int, alpha: float) -> Array:
        """Closed form, on data completed where they have gaps."""
        S, h = self.parts
        return closed_form(S, h, n_components, alpha, self.n_jobs)

    def isomap(self, n_components: int) -> Array:
        """Classical scaling of the symmetric part, turned so that the asymmetry climbs the last axis."""
        S, h = self.parts
        return isomap_of(DoublyCentered(S, self.n_jobs), h, n_components)

    def random(self, n_components: int, rng: np.random.RandomState) -> Array:
        """Gaussian points as far apart on average as the data."""
        D, W = self.data.matrix, self.data.weights
        if W is None:
            scale = np.sqrt(
                np.mean([float(row @ row) for row in D.astype(float, copy=False)]) / max(len(D) - 1, 1)
            )
        else:
            square = sum(float(np.vdot(row[w > 0], row[w > 0])) for row, w in zip(D, W, strict=True))
            scale = np.sqrt(square / max(int((W > 0).sum() - (np.diagonal(W) > 0).sum()), 1))
        return gaussian_points(len(D), n_components, scale, rng)


def isomap_of(gram: Gram, h: Array, n_components: int) -> Array:
    """Classical scaling, turned so that the heights ``h`` climb the last axis."""
    X = gram.leading(n_components)
    direction = np.linalg.lstsq(X, h, rcond=1e-6)[0]
    return X @ frame_of(direction)


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
    require_memory(
        16.0 * n * n, f"The completed dissimilarities of {n} points", "Use init='random', or fewer points."
    )
    D = np.abs(D)  # a bound "at least b" is taken for b
    h = gradient_heights(D, W, n_jobs=n_jobs)
    known = W > 0
    S = np.full((n, n), np.inf)
    straight = np.where(known, D, np.inf) - (h[None, :] - h[:, None])
    both = known & known.T
    one_way = known & ~known.T
    floor = np.finfo(float).tiny
    S[one_way] = np.maximum(straight[one_way], floor)
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
