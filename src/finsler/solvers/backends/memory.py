"""Where the pairs of a dense problem live, and what the solver asks of that place.

One kernel, three backends: all rows in memory (:class:`MemoryBackend`), chunks of a memory-mapped file
(`finsler.solvers.backends.memmap`), blocks on the workers of a Dask cluster (`finsler.solvers.backends.dask`). The
solver sees none of this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.matrix import Dissimilarities
from finsler.data.provenance import Provenance
from finsler.geometry.stress import point_stress, total_square
from finsler.solvers.alpha import Evidence, sampled_points
from finsler.solvers.problem import Problem, UniformProblem, WeightedProblem
from finsler.solvers.start import Initializer
from finsler.solvers.symmetric_and_skew import split

Array = NDArray[np.floating[Any]]


class Backend(ABC):
    """A dense problem, wherever its pairs are."""

    n_points: int
    weighted: bool
    """Whether there are weights, or pairs that are not known."""
    total: float
    """Sum ``w D^2`` over ordered pairs, bounds left out."""
    labels: list[Any] | None = None
    provenance: Provenance = Provenance()
    data: Dissimilarities | None = None
    runs_in_parallel: bool = False
    """Whether runs from several starts gain from being driven at the same time."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """Evidence of a drift."""

    @abstractmethod
    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift, or with one that is fitted."""

    @abstractmethod
    def classical(self, n_components: int, alpha: float) -> Array:
        """Start from the closed form, on data completed where they have gaps."""

    @abstractmethod
    def isomap(self, n_components: int) -> Array:
        """Start from classical scaling of the symmetric part, the asymmetry climbing the last axis."""

    @abstractmethod
    def random(self, n_components: int, rng: np.random.RandomState) -> Array:
        """Gaussian points as far apart on average as the data."""

    @abstractmethod
    def point_stress(self, X: Array, drift: Array) -> Array:
        """Stress of each point of a map: half of every pair at either end."""


class MemoryBackend(Backend):
    """Data in memory, with working copies beside them."""

    def __init__(self, data: Dissimilarities, n_jobs: int | None = None):
        data.require_connected()
        self.data, self.labels, self.provenance = data, data.labels, data.provenance
        self.n_points, self.weighted, self.n_jobs = data.n_points, data.weights is not None, n_jobs
        self._parts = split(data.matrix, n_jobs) if data.weights is None else None
        self._starts = Initializer(data, self._parts, n_jobs)
        if self._parts is None:
            self.total = total_square(data.matrix, data.weights)
        else:
            self.total = self._parts.total

    def evidence(self) -> Evidence:
        """Evidence of a drift."""
        assert self.data is not None
        S, h = self._starts.parts
        W = self.data.weights
        square = float(np.einsum("ij,ij->", S, S, dtype=float))  # of float32 data, too
        sample = sampled_points(self.n_points)
        sample_S, sample_h = S[np.ix_(sample, sample)], h[sample] - h[sample].mean()
        if W is None:
            sample_D = self.data.matrix[np.ix_(sample, sample)].astype(float)
        else:
            sample_D = sample_S + (sample_h[None, :] - sample_h[:, None])
        return Evidence(
            h=h,
            square=square,
            symmetric=self._parts is None or self._parts.skew_residual <= 1e-20 * square,
            one_way=W is not None and bool(((W > 0) & (W.T == 0)).any()),
            sample_S=sample_S,
            sample_h=sample_h,
            sample_D=sample_D,
        )

    def classical(self, n_components: int, alpha: float) -> Array:
        """Start from the closed form, on data completed where they have gaps."""
        return self._starts.classical(n_components, alpha)

    def isomap(self, n_components: int) -> Array:
        """Start from classical scaling of the symmetric part, the asymmetry climbing the last axis."""
        return self._starts.isomap(n_components)

    def random(self, n_components: int, rng: np.random.RandomState) -> Array:
        """Gaussian points as far apart on average as the data."""
        return self._starts.random(n_components, rng)

    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift, or with one that is fitted."""
        assert self.data is not None
        if self._parts is not None:
            return UniformProblem(self._parts, fixed_drift, self.n_jobs)
        return WeightedProblem(self.data, fixed_drift, self.n_jobs)

    def point_stress(self, X: Array, drift: Array) -> Array:
        """Stress of each point of a map: half of every pair at either end."""
        assert self.data is not None
        return point_stress(X, self.data.matrix, self.data.weights, drift=drift, n_jobs=self.n_jobs)
