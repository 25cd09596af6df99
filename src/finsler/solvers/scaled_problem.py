"""Stress with disparities in the place of the data, as the majorization loop sees it.

The disparities are refitted at every pass, before the drift: the bound that the loop minimizes is built with those of the
present map, and those of the next map can only be nearer to it, so that the stress still never rises.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist, pdist

from finsler._memory import require_memory
from finsler._runtime import map_blocks
from finsler.geometry.disparities import Cone, targets
from finsler.geometry.stress import axes_first, triangle_edges
from finsler.kernels.codes import coded, sum_by_code
from finsler.solvers.backends import passes
from finsler.solvers.backends.passes import MemoryPanels
from finsler.solvers.drift import best_drift
from finsler.solvers.problem import (
    Evaluation,
    Parts,
    Problem,
    UniformProblem,
    WeightedProblem,
    conjugate_gradients,
    split,
)

Array = NDArray[np.floating[Any]]

DIRECT = 128  # points up to which changing weights are factorized at each pass


def scaled_problem(
    cone: Cone, size: float, fixed_drift: Array | None, n_jobs: int | None, parts: Parts | None
) -> Problem:
    """Problem of a cone; ``size`` is ``sum w D^2``, and ``parts`` those of complete data with uniform weights."""
    pairs = cone.pairs
    if cone.scaling.conditional == "parts":
        assert parts is not None
        return PartsProblem(cone, parts, fixed_drift, n_jobs)
    if pairs.weights is None and not cone.scaling.by_group:
        if cone.tied:
            return CodedProblem(cone, size, fixed_drift, n_jobs)
        return CompleteProblem(cone, size, fixed_drift, n_jobs)
    return PairProblem(cone, size, fixed_drift, n_jobs)


class CodedProblem(Problem):
    """Complete data, uniform weights, one function, and a disparity for each code: two passes and no matrix of disparities.

    With ``A`` the skew part of the disparities and ``h = A.mean(axis=0)``, sums of ``(A_ij - a_ij)^2`` over pairs at two
    drifts differ by n times the difference of ``||h - omega X||^2``, so that the drift may change after the pass.
    """

    def __init__(self, cone: Cone, size: float, fixed_drift: Array | None, n_jobs: int | None):
        self.cone, self.size, self.fixed_drift = cone, size, fixed_drift
        self.n_points = n = cone.pairs.n_points
        self.n_jobs = n_jobs if n > passes.SMALL else 1
        self.n_codes = len(cone.weights)
        small = self.n_codes <= np.iinfo(np.uint16).max + 1
        require_memory(
            (4.0 if small else 8.0) * n * n, f"Codes of the pairs of {n} points", "Use fewer points."
        )
        self.there = np.zeros((n, n), dtype=np.uint16 if small else np.uint32)
        self.there.ravel()[cone.pairs.at] = cone.blocks.codes
        self.back = np.ascontiguousarray(self.there.T)
        self.edges = triangle_edges(n, passes.BLOCKS)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Two passes over the pairs: sums by code, then force and stress."""
        n, m = X.shape
        axes = X.T
        centered = axes - axes.mean(axis=1, keepdims=True)
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        XT, height, table = axes_first(X), omega @ axes, self._table(X, omega)
        out = np.zeros((len(self.edges) - 1, len(XT) + 2, n))

        def task(b: int, start: int, stop: int) -> None:
            coded(self.there, self.back, table, XT, height, start, stop, out[b, :-2], out[b, -2], out[b, -1])

        map_blocks(task, self.edges, self.n_jobs)
        found = out.sum(axis=0)
        h = found[-2] / n
        before = h - omega @ centered
        if self.fixed_drift is None:
            omega = best_drift(centered @ centered.T, centered @ h)
        skew = h - omega @ centered
        stress = 2 * (found[-1].sum() + n * (skew @ skew - before @ before))
        upwards = omega[:, None]
        force = found[:m] + (n * upwards) * skew
        step = (force - upwards * (omega @ force / (1 + omega @ omega))) / n
        return Evaluation(max(float(stress), 0.0), step.T, 2 * float(np.vdot(step, force)), omega)

    def _table(self, X: Array, omega: Array) -> Array:
        """Disparity of each code."""
        XT, height = axes_first(X), omega @ X.T
        sums = np.zeros((len(self.edges) - 1, self.n_codes))

        def task(b: int, start: int, stop: int) -> None:
            sum_by_code(self.there, self.back, XT, height, start, stop, sums[b])

        map_blocks(task, self.edges, self.n_jobs)
        P = self.cone.table(sums.sum(axis=0))
        square = float(self.cone.weights @ P**2)
        return P * np.sqrt(self.size / square) if square > 0 else P


def distances(X: Array, omega: Array) -> Array:
    """All distances on a map, from row to column."""
    height = X @ omega
    return cdist(X, X) + (height[None, :] - height[:, None])


class CompleteProblem(Problem):
    """Complete data, uniform weights, one function; every pair has a disparity of its own."""

    def __init__(self, cone: Cone, size: float, fixed_drift: Array | None, n_jobs: int | None):
        n = cone.pairs.n_points
        require_memory(32.0 * n * n, f"Disparities of the pairs of {n} points", "Use fewer points.")
        self.cone, self.size, self.fixed_drift, self.n_points = cone, size, fixed_drift, n
        self._T = np.zeros((n, n))
        self._panels = MemoryPanels((np.zeros((n, n)),), 1.0, n_jobs)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Disparities, their symmetric and skew part, and the pass of uniform weights."""
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        at, T = self.cone.pairs.at, self._T
        T.ravel()[at] = targets(self.cone, distances(X, omega).ravel()[at], self.size).values
        _, parts = split(T, 1, self._panels)
        return UniformProblem(self._panels, parts, self.fixed_drift).evaluate(X, omega)


class PartsProblem(Problem):
    """Disparities of the symmetric part only; the skew part is left as it is."""

    def __init__(self, cone: Cone, parts: Parts, fixed_drift: Array | None, n_jobs: int | None):
        n = cone.pairs.n_points
        self.cone, self.parts, self.fixed_drift, self.n_points = cone, parts, fixed_drift, n
        self.size = cone.pairs.size
        self._S = np.zeros((n, n))
        self._panels = MemoryPanels((self._S,), 1.0, n_jobs)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Disparities of the Euclidean part, and the pass of uniform weights."""
        self._S.ravel()[self.cone.pairs.at] = targets(self.cone, pdist(X), self.size).values
        return UniformProblem(self._panels, self.parts, self.fixed_drift).evaluate(X, omega)


class PairProblem(Problem):
    """Any weights and gaps; disparities, and where each group has its own also the weights, change at each pass."""

    def __init__(self, cone: Cone, size: float, fixed_drift: Array | None, n_jobs: int | None):
        pairs, n = cone.pairs, cone.pairs.n_points
        require_memory(
            48.0 * n * n, f"Disparities and weights of the pairs of {n} points", "Use fewer points."
        )
        self.cone, self.size, self.fixed_drift, self.n_points = cone, size, fixed_drift, n
        T, W = np.zeros((n, n)), np.zeros((n, n))
        self._unit = float(pairs.w.max(initial=0.0)) or 1.0
        W.ravel()[pairs.at] = pairs.w / self._unit
        self._panel = T, T.copy(), W, np.ascontiguousarray(W.T)
        kind = ChangingWeights if cone.scaling.by_group else WeightedProblem
        self._weighted = kind(MemoryPanels(self._panel, self._unit, n_jobs), fixed_drift)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Disparities, then the passes of weighted data."""
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        T, TT, W, WT = self._panel
        at = self.cone.pairs.at
        found = targets(self.cone, distances(X, omega).ravel()[at], self.size)
        T.ravel()[at] = found.values
        TT[:] = T.T
        if self.cone.scaling.by_group:
            W.ravel()[at] = found.weights / self._unit
            WT[:] = W.T
        self._weighted.fixed_drift = self.fixed_drift
        return self._weighted.evaluate(X, omega)


class ChangingWeights(WeightedProblem):
    """Weights that change at each pass, so that factors of the curvature are of no use for the next."""

    def _curvature_solver(self, alpha: float) -> Callable[[Array], Array]:
        W, WT = self.panels.weights()
        p = (W + WT) / 2
        across = p + alpha * np.abs(W - WT)
        if self.n_points > DIRECT:
            diagonal = across.sum(axis=1)[:, None]

            def apply(step: Array) -> Array:
                XT = np.ascontiguousarray(step.T)
                return self.panels.sum(passes.curvature_pass, XT, alpha, len(XT) - 1).T

            return lambda force: _centered(conjugate_gradients(apply, force, lambda r: r / diagonal))
        sides, last = _grounded(across), _grounded(across + alpha**2 * p)

        def solve(force: Array) -> Array:
            step = np.linalg.solve(last, force)
            if force.shape[1] > 1:
                step[:, :-1] = np.linalg.solve(sides, force[:, :-1])
            return _centered(step)

        return solve


def _centered(step: Array) -> Array:
    return np.asarray(step - step.mean(axis=0))


def _grounded(pair_weights: Array) -> Array:
    """Laplacian whose null space, the constants, is lifted to the size of its diagonal."""
    degree = pair_weights.sum(axis=1)
    return np.diag(degree) - pair_weights + (degree.mean() or 1.0) / len(degree)
