"""Where the pairs of a dense problem live, and what the solver asks of that place.

One kernel, three backends: all rows in memory (:class:`MemoryBackend`), chunks of a memory-mapped file
(`finsler.solvers.backends.memmap`), blocks on the workers of a Dask cluster (`finsler.solvers.backends.dask`). The
solver sees none of this.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler._runtime import cached_property, map_blocks
from finsler.data.matrix import Dissimilarities
from finsler.data.provenance import Provenance
from finsler.errors import InputError
from finsler.geometry.asymmetry import Shown
from finsler.geometry.pairs import AsymmetryShown
from finsler.geometry.stress import point_stress, total_square, triangle_edges
from finsler.kernels.single import round_rows
from finsler.solvers.backends.passes import BLOCKS, MemoryPanels, numbers_held, panel_edges
from finsler.solvers.problem import Parts, Problem, UniformProblem, WeightedProblem, split
from finsler.solvers.start import (
    DoublyCentered,
    Evidence,
    Gram,
    closed_form_of,
    complete_parts,
    isomap_of,
    random_points,
    sampled_points,
    typical_length,
)
from finsler.solvers.swirl.problem import UniformSwirlProblem, WeightedSwirlProblem

Array = NDArray[np.floating[Any]]

SMALLEST_TOTAL = 1e-270  # so that even the stress of a map that fits to rounding has digits


def working_bytes(n_points: int, itemsize: int, weighted: bool) -> float:
    """Bytes that the in-memory solver needs beside data with ``itemsize`` bytes a number.

    Complete data: the symmetric part, and of float64 data a float32 copy of it. With weights or gaps: both directions of
    the data and of the weights (which take a byte where they are 0 or 1, and as many as the data at most) for half of the
    pairs each, which is two matrices for many points; and the completed symmetric part that the start is made of.
    """
    single = 4 if itemsize > 4 else 0
    if not weighted:
        return (itemsize + single) * numbers_held(n_points)
    return 4.0 * itemsize * numbers_held(n_points, weighted=True) + 8 * float(n_points) ** 2


def _compact_type(weights: Array, unit: float, dtype: np.dtype[Any]) -> type[np.number[Any]]:
    """Type of weights over their unit: a byte where they are 0 or 1, else float32 if that holds them or is the data's."""
    for kind in (np.int8, np.float32):
        rows = (row / unit for row in weights)
        if dtype == kind or all((row.astype(kind) == row).all() for row in rows):
            return kind
    return np.float64


class Backend(ABC):
    """A dense problem, wherever its pairs are."""

    n_points: int
    weighted: bool
    """Whether there are weights, or pairs that are not known."""
    total: float
    """Sum ``w D^2`` over ordered pairs, bounds left out."""
    n_pairs: float
    """Number of ordered pairs with a weight."""
    skew_square: float | None = None
    """Sum of squares of the skew part of complete data without weights."""
    labels: list[Any] | None = None
    provenance: Provenance = Provenance()
    data: Dissimilarities | None = None
    runs_in_parallel: bool = False
    """Whether runs from several starts gain from being driven at the same time."""

    @property
    @abstractmethod
    def length(self) -> float:
        """Quadratic mean of the dissimilarities, whatever their weights."""

    @property
    @abstractmethod
    def heaviest(self) -> float:
        """Largest weight; 1 without weights."""

    @abstractmethod
    def evidence(self) -> Evidence:
        """Evidence of a drift."""

    @abstractmethod
    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift, or with one that is fitted."""

    @abstractmethod
    def swirl_problem(self, radius: float, fixed_drift: Array | None, geodesic: bool) -> Problem:
        """Stress of maps whose drift turns, limited by ``radius``; see `finsler.solvers.swirl`."""

    @abstractmethod
    def gram_and_heights(self) -> tuple[Gram, Array]:
        """Doubly centered symmetric part, and heights of the skew part; completed where they have gaps."""

    def classical(self, n_components: int, alpha: float) -> Array:
        """Start from the closed form, on data completed where they have gaps."""
        return closed_form_of(*self.gram_and_heights(), n_components, alpha)

    def isomap(self, n_components: int) -> Array:
        """Start from classical scaling of the symmetric part, the asymmetry climbing the last axis."""
        return isomap_of(*self.gram_and_heights(), n_components)

    @abstractmethod
    def random(self, n_components: int, rng: np.random.RandomState) -> Array:
        """Gaussian points as far apart on average as the data."""

    @abstractmethod
    def point_stress(
        self, X: Array, drift: Array, swirl: Array | None = None, geodesic: bool = False
    ) -> Array:
        """Stress of each point of a map: half of every pair at either end."""

    def asymmetry_shown(self, shown: Shown) -> AsymmetryShown | None:
        """How much of the asymmetry a map shows, if the data are where only some rows of them can be looked at."""
        return None


def require_magnitude(backend: Backend) -> None:
    """Raise ``ValueError`` if weights are so large or small that sums of ``w D^2`` leave the range of floats."""
    most = 1 / SMALLEST_TOTAL
    heavy = backend.weighted and not backend.heaviest * backend.length * backend.length < most
    if heavy or (backend.weighted and not (backend.total == 0 or SMALLEST_TOTAL < backend.total < most)):
        raise InputError(
            f"The largest of the weights is {backend.heaviest:g}, and the sum of w D^2 {backend.total:g}, of which nothing "
            "can be computed; rescale the weights to ordinary magnitudes, which changes no map.",
            argument="weights",
        )


class MemoryBackend(Backend):
    """Data in memory, with working copies beside them."""

    data: Dissimilarities

    def __init__(self, data: Dissimilarities, n_jobs: int | None = None):
        data.require_connected()
        self.data, self.labels, self.provenance = data, data.labels, data.provenance
        self.n_points, self.weighted, self.n_jobs = data.n_points, data.weights is not None, n_jobs
        need, n = working_bytes(self.n_points, data.matrix.itemsize, self.weighted), self.n_points
        require_memory(need, f"Working copies of the pairs of {n} points", "Use float32, or fewer points.")
        self._symmetric: MemoryPanels | None = None
        self._parts: Parts | None = None
        if not self.weighted:
            panels = MemoryPanels.empty(n, data.matrix.dtype, n_jobs)
            self._symmetric, self._parts = split(data.matrix, n_jobs, panels)
        if self._parts is None:
            assert data.weights is not None
            self.total = total_square(data.matrix, data.weights)
            self.n_pairs = float(np.count_nonzero(data.weights) - np.count_nonzero(np.diagonal(data.weights)))
        else:
            self.total, self.n_pairs = self._parts.total, float(n * (n - 1))
            self.skew_square = self._parts.skew_square

    @cached_property
    def length(self) -> float:
        """Quadratic mean of the dissimilarities, whatever their weights."""
        if self.data.weights is None:  # the sum of squares is known
            return float(np.sqrt(self.total / max(self.n_pairs, 1.0)))
        return typical_length(self.data)

    @property
    def heaviest(self) -> float:
        """Largest weight; 1 without weights."""
        return 1.0 if self.data.weights is None else float(np.max(self.data.weights, initial=0.0))

    @cached_property
    def _completed(self) -> tuple[Array, Array]:
        """Symmetric part and heights of the skew part of data with weights, with gaps filled in."""
        return complete_parts(self.data, self.n_jobs)

    def evidence(self) -> Evidence:
        """Evidence of a drift."""
        sample, W = sampled_points(self.n_points), self.data.weights
        some = np.ix_(sample, sample)
        if self._parts is not None:
            h, square, D = self._parts.h, self._parts.symmetric_square, self.data.matrix[some].astype(float)
            symmetric, one_way = self._parts.skew_residual <= 1e-20 * square, False
            S, sample_h = (D + D.T) / 2, h[sample] - h[sample].mean()
        else:
            assert W is not None
            everything, h = self._completed
            square, symmetric, one_way = (
                float(np.vdot(everything, everything)),
                True,
                bool(((W > 0) & (W.T == 0)).any()),
            )
            S, sample_h = everything[some], h[sample] - h[sample].mean()
            D = S + (sample_h[None, :] - sample_h[:, None])
        return Evidence(h, square, symmetric, one_way, S, sample_h, D)

    def gram_and_heights(self) -> tuple[Gram, Array]:
        """Doubly centered symmetric part, and heights of the skew part; completed where they have gaps."""
        if self._parts is None:
            S, h = self._completed
            return DoublyCentered.of(S, self.n_jobs), h
        assert self._symmetric is not None
        return DoublyCentered(self._symmetric, self._parts.symmetric_square), self._parts.h

    def random(self, n_components: int, rng: np.random.RandomState) -> Array:
        """Gaussian points as far apart on average as the data."""
        return random_points(self.data, n_components, rng)

    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift, or with one that is fitted."""
        if self._parts is None:
            return WeightedProblem(self._weighted_panels, fixed_drift)
        assert self._symmetric is not None
        rounded = None if self.data.matrix.dtype == np.float32 else lambda: self._rounded
        return UniformProblem(self._symmetric, self._parts, fixed_drift, rounded)

    @cached_property
    def _rounded(self) -> MemoryPanels:
        """Float32 copy of the symmetric part in its unit."""
        assert self._parts is not None
        assert self._symmetric is not None
        scale = 1 / self._parts.unit

        def rounded(S: Array) -> Array:
            out = np.empty(S.shape, dtype=np.float32)
            edges = triangle_edges(S.shape[1], BLOCKS, len(S))
            map_blocks(lambda _, start, stop: round_rows(S, scale, start, stop, out), edges, self.n_jobs)
            return out

        panels = [(first, (rounded(panel[0]),)) for first, panel in self._symmetric.panels]
        return MemoryPanels(panels[0][1], 1.0, self.n_jobs, panels[1:])

    def swirl_problem(self, radius: float, fixed_drift: Array | None, geodesic: bool) -> Problem:
        """Stress of maps whose drift turns, limited by ``radius``."""
        if self._parts is None:
            return WeightedSwirlProblem(self._weighted_panels, radius, fixed_drift, geodesic=geodesic)
        return UniformSwirlProblem(self._both_parts, self._parts, radius, fixed_drift, geodesic)

    @cached_property
    def _both_parts(self) -> MemoryPanels:
        """Symmetric part and skew part ``(D - D')/2``."""
        assert self._symmetric is not None
        D, n = self.data.matrix, self.n_points
        require_memory(
            D.itemsize * numbers_held(n), f"The skew part of D for {n} points", "Use float32 or fewer points."
        )

        def beside(first: int, S: Array) -> tuple[Array, Array]:
            last = first + len(S)
            A = np.subtract(D[first:last, first:], D[first:, first:last].T, dtype=D.dtype)
            A *= 0.5
            return S, A

        panels = [(first, beside(first, panel[0])) for first, panel in self._symmetric.panels]
        return MemoryPanels(panels[0][1], 1.0, self.n_jobs, panels[1:])

    @cached_property
    def _weighted_panels(self) -> MemoryPanels:
        """Both directions of the data and of the weights, those of a pair side by side, in units of the largest weight."""
        D, weights = self.data.matrix, self.data.weights
        assert weights is not None
        unit = float(np.max(weights, initial=0.0)) or 1.0  # weights of any magnitude give the same map
        kind = _compact_type(weights, unit, D.dtype)
        same = all((weights[i, i:] == weights[i:, i]).all() for i in range(self.n_points))

        def held(d: Array, w: Array) -> tuple[Array, Array]:
            W = np.ascontiguousarray(np.divide(w, unit, dtype=float).astype(kind))
            return np.ascontiguousarray(np.where(W > 0, d, 0), dtype=D.dtype), W

        def panel(first: int, last: int) -> tuple[Array, Array, Array, Array]:
            there, W = held(D[first:last, first:], weights[first:last, first:])
            back, WT = held(D[first:, first:last].T, weights[first:, first:last].T)
            return there, back, W, W if same else WT

        edges = panel_edges(self.n_points, weighted=True).tolist()
        panels = [(first, panel(first, last)) for first, last in pairwise(edges)]
        return MemoryPanels(panels[0][1], unit, self.n_jobs, panels[1:])

    def point_stress(
        self, X: Array, drift: Array, swirl: Array | None = None, geodesic: bool = False
    ) -> Array:
        """Stress of each point of a map: half of every pair at either end."""
        return point_stress(
            X, self.data.matrix, self.data.weights, drift=drift, swirl=swirl, geodesic=geodesic, n_jobs=self.n_jobs
        )  # fmt: skip
