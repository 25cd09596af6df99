"""The backend of data that are not in memory: what the solver asks, put as passes over panels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import cached_property
from finsler.data.matrix import Dissimilarities, raise_if_unconnected
from finsler.data.provenance import Provenance
from finsler.errors import InputError
from finsler.geometry.asymmetry import Shown, shown_by
from finsler.geometry.components import pair_components
from finsler.geometry.pairs import AsymmetryShown, Rows
from finsler.geometry.randers import drift_vector
from finsler.geometry.stress import axes_first
from finsler.solvers.backends import passes
from finsler.solvers.backends.memory import Backend, MemoryBackend
from finsler.solvers.backends.passes import Panels
from finsler.solvers.krylov import krylov_eigenpairs
from finsler.solvers.placement import place
from finsler.solvers.problem import Parts, Problem, UniformProblem, WeightedProblem
from finsler.solvers.start import (
    DENSE_EIGEN,
    DoublyCentered,
    Evidence,
    Gram,
    gaussian_points,
    sampled_points,
    scaled_eigenvectors,
)
from finsler.solvers.swirl.field import Field
from finsler.solvers.swirl.problem import UniformSwirlProblem, WeightedSwirlProblem, at_points

Array = NDArray[np.floating[Any]]

# Data with weights or gaps: where the panels may be gathered the start is that of the in-memory solver; where not, a
# map of some of the points is made in memory and the others are placed into it.
LANDMARKS = 200
PLACED = 250  # points placed at a time
ROWS = 40  # points whose pairs tell how much of the asymmetry a map shows


class PanelBackend(Backend):
    """Dissimilarities in panels, of which only (n, m) arrays come here."""

    def __init__(self, panels: Panels, provenance: Provenance):
        self.panels, self.provenance = panels, provenance
        self.n_points = n = panels.n_points
        self.weighted = panels.weighted
        if self.weighted:
            self._require_connected()
            sums = panels.sum(passes.weights_pass)
            self.degrees = sums[0]
            self.total = panels.unit * float(sums[1].sum())
            self.n_pairs = float(sums[3].sum())
            self._mean_square = float(sums[2].sum()) / max(self.n_pairs, 1.0)
        else:
            drop, squares = panels.sum(passes.skew_pass, skew=True)
            h = drop / n
            h -= h.mean()
            residual = float(panels.sum(passes.residual_pass, h, skew=True).sum())
            self.total = float(squares.sum())
            self._mean_square = self.total / n / max(n - 1, 1)
            self.parts = Parts(h, residual, self.total)
            self.n_pairs, self.skew_square = float(n * (n - 1)), self.parts.skew_square

    @property
    def length(self) -> float:
        """Quadratic mean of the dissimilarities, whatever their weights."""
        return float(np.sqrt(self._mean_square))

    @property
    def heaviest(self) -> float:
        """Largest weight; 1 without weights."""
        return float(self.panels.unit)

    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift, or with one that is fitted."""
        if self.weighted:
            return WeightedProblem(self.panels, fixed_drift, self.degrees)
        return UniformProblem(self.panels, self.parts, fixed_drift)

    def swirl_problem(self, radius: float, fixed_drift: Array | None, geodesic: bool) -> Problem:
        """Stress of maps whose drift turns, limited by ``radius``."""
        if self.weighted:
            return WeightedSwirlProblem(self.panels, radius, fixed_drift, self.degrees, geodesic)
        return UniformSwirlProblem(self.panels, self.parts, radius, fixed_drift, geodesic)

    def evidence(self) -> Evidence:
        """Evidence of a drift; where pairs are missing or weighted, from the landmarks."""
        if self.weighted:
            return self._landmarks.evidence()
        h, residual, square = self.parts.h, self.parts.skew_residual, self.parts.symmetric_square
        sample = sampled_points(self.n_points)
        S, A = self._among(sample)
        sample_h = h[sample] - h[sample].mean()
        return Evidence(h, square, residual <= 1e-20 * square, False, S, sample_h, S + A)

    def gram_and_heights(self) -> tuple[Gram, Array]:
        """Doubly centered symmetric part, and heights of the skew part, of complete data."""
        return self._gram, self.parts.h

    def classical(self, n_components: int, alpha: float) -> Array:
        """Start from the closed form; with weights or gaps, of the landmarks, among which the others are placed."""
        if self.weighted:
            return self._placed(n_components, alpha, self._landmarks.classical(n_components, alpha))
        return super().classical(n_components, alpha)

    def isomap(self, n_components: int) -> Array:
        """Start from classical scaling of the symmetric part; with weights or gaps likewise."""
        if self.weighted:
            return self._placed(n_components, 0.0, self._landmarks.isomap(n_components))
        return super().isomap(n_components)

    def random(self, n_components: int, rng: np.random.RandomState) -> Array:
        """Gaussian points as far apart on average as the data."""
        return gaussian_points(self.n_points, n_components, self.length, rng)

    def point_stress(
        self, X: Array, drift: Array, swirl: Array | None = None, geodesic: bool = False
    ) -> Array:
        """Stress of each point of a map: half of every pair at either end."""
        skew = not self.weighted
        if swirl is None:
            found = self.panels.sum(passes.misfit_pass, axes_first(X), X @ drift, skew=skew)[0]
        else:
            at = at_points(X, Field(drift, swirl, geodesic))
            found = self.panels.sum(passes.swirl_misfit_pass, axes_first(X), *at, skew=skew)[0]
        return np.asarray(self.panels.unit / 2 * found)

    def _among(self, points: NDArray[np.intp]) -> tuple[Array, Array]:
        """Symmetric and skew part between some points."""
        found = self.panels.each(passes.among, points, skew=True)
        S, A = np.concatenate([part for _, part in found], axis=1)
        return S + S.T, A - A.T

    @cached_property
    def _gram(self) -> DoublyCentered | PanelGram:
        if self.n_points <= DENSE_EIGEN:
            return DoublyCentered.of(self._among(np.arange(self.n_points))[0], 1)
        return PanelGram(self.panels)

    @cached_property
    def _landmark_points(self) -> NDArray[np.intp]:
        n = self.n_points
        if n <= LANDMARKS or self.panels.gather:
            return np.arange(n)
        return np.sort(np.random.default_rng(0).permutation(n)[:LANDMARKS])

    def asymmetry_shown(self, shown: Shown) -> AsymmetryShown:
        """How much of the asymmetry a map shows, from the pairs of some points."""
        points = np.sort(np.random.default_rng(0).permutation(self.n_points)[:ROWS])
        found, unit = self._columns(points), self.panels.unit
        weights = (unit * found[3], unit * found[2]) if self.weighted else None
        return shown_by(Rows(points, found[1], found[0], weights), shown)

    def _columns(self, points: NDArray[np.intp]) -> Array:
        """Of D to the points, D from them, and the weights so, if any: a row for each point."""
        found = self.panels.each(passes.columns, points, skew=True)
        out = np.zeros((len(found[0][1][0]), len(points), self.n_points), dtype=found[0][1][0].dtype)
        for first, (across, along) in found:
            rows = slice(first, first + across.shape[2])
            out[:, :, rows] += across
            out[:, (points >= rows.start) & (points < rows.stop), first:] += along
        return out

    @cached_property
    def _landmark_columns(self) -> Array:
        return self._columns(self._landmark_points)

    @cached_property
    def _landmarks(self) -> MemoryBackend:
        to_points, _, weights, _ = self._landmark_columns[:, :, self._landmark_points].astype(float)
        data = Dissimilarities(
            np.ascontiguousarray(to_points.T), np.ascontiguousarray(weights.T) * self.panels.unit
        )
        try:
            return MemoryBackend(data, 1)
        except ValueError as error:
            raise InputError(
                f"Too few pairs are known for a start from {len(data.matrix)} landmarks. Use init='random' (and give "
                "alpha), or coordinates to start from."
            ) from error

    def _placed(self, n_components: int, alpha: float, X: Array) -> Array:
        """Map of all points from a start of the landmarks."""
        from finsler.solvers.smacof import smacof

        chosen = self._landmark_points
        if len(chosen) == self.n_points:
            return X
        solution = smacof(self._landmarks, n_components, alpha, init=X, verbose=False)
        everyone = np.broadcast_to(solution.coordinates.mean(axis=0), (self.n_points, n_components)).copy()
        for start in range(0, self.n_points, PLACED):
            some = self._landmark_columns[:, :, start : start + PLACED].astype(float)
            to_points, from_points, w_to, w_from = some.transpose(0, 2, 1)
            known = ((w_to > 0) | (w_from > 0)).any(axis=1)
            if known.any():
                everyone[start : start + PLACED][known] = place(  # a bound "at least b" is taken for b
                    solution.coordinates, drift_vector(alpha, n_components), tol=1e-6,
                    to_fitted=np.where(w_to > 0, np.abs(to_points), np.nan)[known],
                    from_fitted=np.where(w_from > 0, np.abs(from_points), np.nan)[known],
                ).coordinates  # fmt: skip
        everyone[chosen] = solution.coordinates
        return everyone

    def _require_connected(self) -> None:
        groups = self.panels.each(passes.groups)
        parts = ((first + np.arange(len(group)), first + group) for first, group in groups)
        raise_if_unconnected(pair_components(self.n_points, parts), str)


class PanelGram:
    """``G0 = -1/2 J S^2 J`` as an operator: a pass over the panels serves several vectors."""

    def __init__(self, panels: Panels):
        self.panels, self.n = panels, panels.n_points
        means = panels.sum(passes.squares_pass, np.ones((1, self.n)))[0] / self.n
        self.trace = float(means.sum()) / 2

    def leading(self, k: int, minus: Array | None = None) -> Array:
        """Coordinates from the k leading eigenvectors of ``G0 - minus minus'``; negative eigenvalues give zeros."""

        def apply(V: Array) -> Array:
            centered = V - V.mean(axis=0)
            image = self.panels.sum(passes.squares_pass, np.ascontiguousarray(centered.T)).T
            image = -0.5 * (image - image.mean(axis=0))
            return image if minus is None else image - np.outer(minus, minus @ V)

        values, vectors, _ = krylov_eigenpairs(apply, self.n, k)
        return scaled_eigenvectors(values, vectors, k)
