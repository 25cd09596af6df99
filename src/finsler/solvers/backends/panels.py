"""A dense problem in panels: some rows of the upper triangle at a time, with the kernels of the in-memory solver.

A panel of the rows ``first <= i < last`` holds what belongs to the pairs (i, j) with ``j > i``: the symmetric part and,
where it is asked for, the skew part of complete data; or both directions of D and of the weights. A *pass* applies one of
the functions below to every panel and adds up what they return: arrays with a column for each point from ``first`` on.
Whoever keeps the panels (:class:`Panels`) needs to know no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks
from finsler.kernels import dense
from finsler.kernels import panels as kernels
from finsler.solvers.problem import SMALL, UniformProblem, WeightedProblem
from finsler.solvers.symmetric_and_skew import BLOCKS, Parts

Array = NDArray[np.floating[Any]]
# Of the first point, the arrays of the panel, the threads to use, and what the pass is about.
PanelFunction = Callable[..., Any]


class Panels(ABC):
    """Keeper of the panels of one data set."""

    n_points: int
    weighted: bool
    """Whether a panel is (D, D', W, W'), or (S,), or (S, A) where the skew part is asked for."""
    unit: float
    """Weight that counts as 1."""
    factorize: bool
    """Whether the weights are so few that they may be gathered and factorized."""
    gather: bool
    """Whether there are so few points that a start with weights or gaps may be made from all of them."""

    @abstractmethod
    def each(self, function: PanelFunction, *args: Any, skew: bool = False) -> list[tuple[int, Any]]:
        """First point and ``function(first, arrays, n_jobs, *args)`` of every panel, in order."""

    @abstractmethod
    def sum(self, function: PanelFunction, *args: Any, skew: bool = False) -> Array:
        """Sum of the results over all panels, each put where its first point is."""


def add_up(parts: list[tuple[int, Array]], n_points: int) -> tuple[int, Array]:
    """Add results of panels; a result covers the points from its first one on."""
    first = min(start for start, _ in parts)
    total = np.zeros((len(parts[0][1]), n_points - first))
    for start, values in parts:
        total[:, start - first :] += values
    return first, total


def _in_blocks(
    task: Callable[[Array, int, int], None], shape: tuple[int, int], rows: int, n_jobs: int | None
) -> Array:
    """Sum of arrays of the given shape, each filled by ``task(array, start, stop)`` for some rows of a panel."""
    blocks = max(1, min(BLOCKS, rows // 32))
    out = np.zeros((blocks, *shape))

    def block(b: int, start: int, stop: int) -> None:
        task(out[b], start, stop)

    map_blocks(block, np.linspace(0, rows, blocks + 1).astype(int), n_jobs if shape[1] > SMALL else 1)
    return np.asarray(out.sum(axis=0))


def uniform_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None, XT: Array) -> Array:
    """Force on each axis, and in the last row the sum of ``(e - S)^2`` of each row of the panel."""
    XT = np.ascontiguousarray(XT[:, first:])
    kernel = dense.uniform_three if len(XT) == 3 else dense.uniform_any

    def task(out: Array, start: int, stop: int) -> None:
        kernel(panel[0], XT, start, stop, out[:-1], out[-1])

    return _in_blocks(task, (len(XT) + 1, XT.shape[1]), len(panel[0]), n_jobs)


def weighted_pass(
    first: int, panel: tuple[Array, ...], n_jobs: int | None, XT: Array, height: Array
) -> Array:
    """Force on each axis, force along the drift, and the stress of each row."""
    XT, height = np.ascontiguousarray(XT[:, first:]), np.ascontiguousarray(height[first:])

    def task(out: Array, start: int, stop: int) -> None:
        dense.weighted(*panel, XT, height, start, stop, out[:-2], out[-2], out[-1])

    return _in_blocks(task, (len(XT) + 2, XT.shape[1]), len(panel[0]), n_jobs)


def drift_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None, XT: Array, height: Array) -> Array:
    """``L(p) X`` on each axis, and the pull of the data along the drift."""
    XT, height = np.ascontiguousarray(XT[:, first:]), np.ascontiguousarray(height[first:])

    def task(out: Array, start: int, stop: int) -> None:
        dense.weighted_drift(*panel, XT, height, start, stop, out[:-1], out[-1])

    return _in_blocks(task, (len(XT) + 1, XT.shape[1]), len(panel[0]), n_jobs)


def curvature_pass(
    first: int, panel: tuple[Array, ...], n_jobs: int | None, XT: Array, alpha: float
) -> Array:
    """Curvature of the majorizer times a step, an axis in each row."""
    XT = np.ascontiguousarray(XT[:, first:])

    def task(out: Array, start: int, stop: int) -> None:
        dense.curvature(panel[2], panel[3], XT, alpha, start, stop, out)

    return _in_blocks(task, XT.shape, len(panel[0]), n_jobs)


def squares_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None, VT: Array) -> Array:
    """``S^2 v`` for the rows v of ``VT``."""
    VT = np.ascontiguousarray(VT[:, first:])

    def task(out: Array, start: int, stop: int) -> None:
        kernels.squares_times(panel[0], VT, start, stop, out)

    return _in_blocks(task, VT.shape, len(panel[0]), n_jobs)


def skew_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None) -> Array:
    """Sum of ``A_ij`` over i for each j, and the sum of squares of D of each row."""

    def task(out: Array, start: int, stop: int) -> None:
        out[1, start] = kernels.skew_sums(*panel, start, stop, out[0])

    return _in_blocks(task, (2, panel[0].shape[1]), len(panel[0]), n_jobs)


def residual_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None, h: Array) -> Array:
    """What the heights leave of the skew part."""
    h = np.ascontiguousarray(h[first:])

    def task(out: Array, start: int, stop: int) -> None:
        out[0, start] = kernels.skew_residual(panel[1], h, start, stop)

    return _in_blocks(task, (1, len(h)), len(panel[0]), n_jobs)


def misfit_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None, XT: Array, height: Array) -> Array:
    """Stress of the pairs of each point, in units of the weights: each pair counts at both ends."""
    XT, height = np.ascontiguousarray(XT[:, first:]), np.ascontiguousarray(height[first:])
    uniform = len(panel) == 2
    arrays = (*panel, panel[0][:0], panel[0][:0]) if uniform else panel

    def task(out: Array, start: int, stop: int) -> None:
        kernels.misfit(*arrays, uniform, XT, height, start, stop, out[0])

    return _in_blocks(task, (1, XT.shape[1]), len(panel[0]), n_jobs)


def weights_pass(first: int, panel: tuple[Array, ...], n_jobs: int | None) -> Array:
    """Weight at each point; then sums over the panel: ``w D^2``, squares of what is known, and how many are known."""

    def task(out: Array, start: int, stop: int) -> None:
        out[1, start], out[2, start], out[3, start] = kernels.weight_sums(*panel, start, stop, out[0])

    return _in_blocks(task, (4, panel[0].shape[1]), len(panel[0]), n_jobs)


def groups(first: int, panel: tuple[Array, ...], n_jobs: int | None) -> NDArray[np.intp]:
    """Smallest number, counted from ``first``, in the group of each point when the panel's pairs connect."""
    group = np.arange(panel[0].shape[1])
    kernels.join(panel[2], panel[3], group)
    return group


def among(first: int, panel: tuple[Array, ...], n_jobs: int | None, points: NDArray[np.intp]) -> Array:
    """Entries between sorted ``points``: for each array of the panel a row for every point in it, 0 for smaller ones."""
    mine = points[(points >= first) & (points < first + len(panel[0]))] - first
    out = np.zeros((len(panel), len(mine), len(points)))
    for k, p in enumerate(mine):
        later = points > p + first
        for a, values in enumerate(panel):
            out[a, k, later] = values[p, points[later] - first]
    return out


def weights_among(
    first: int, panel: tuple[Array, ...], n_jobs: int | None, points: NDArray[np.intp]
) -> Array:
    """Weights between sorted ``points``, there and back."""
    return among(first, panel[2:], n_jobs, points)


def columns(
    first: int, panel: tuple[Array, ...], n_jobs: int | None, points: NDArray[np.intp]
) -> tuple[Array, Array]:
    """Entries (D, D', W, W') with one of the sorted ``points`` at an end, as seen from the other end.

    First those of the panel's rows with every point, then those of the points among the rows with everyone: in the row
    of the point D and D' have changed roles. 0 for pairs that are in other panels.
    """
    rows, width = panel[0].shape
    local = points - first
    across = np.zeros((len(panel), len(points), rows), dtype=panel[0].dtype)
    for k, p in enumerate(local):
        if p > 0:
            for a, values in enumerate(panel):
                across[a, k, : min(p, rows)] = values[: min(p, rows), p]
    mine = local[(local >= 0) & (local < rows)]
    along = np.zeros((len(panel), len(mine), width), dtype=panel[0].dtype)
    for k, p in enumerate(mine):
        for a, b in ((0, 1), (1, 0), (2, 3), (3, 2)):
            along[a, k, p + 1 :] = panel[b][p, p + 1 :]
    return across, along


# Passes of the iterations, which show a progress line of their own.
ITERATED = (uniform_pass, weighted_pass, drift_pass, curvature_pass)


class PanelUniformProblem(UniformProblem):
    """All weights 1, the symmetric part in panels."""

    def __init__(self, panels: Panels, parts: Parts, fixed_drift: Array | None):
        self.panels, self.parts, self.fixed_drift = panels, parts, fixed_drift
        self.n_points = panels.n_points

    def _symmetric_pass(self, XT: Array) -> tuple[Array, float]:
        found = self.panels.sum(uniform_pass, XT)
        return found[:-1], float(found[-1].sum())


class PanelWeightedProblem(WeightedProblem):
    """Any weights, in panels; unless they are few, the curvature is solved without being formed."""

    def __init__(self, panels: Panels, degrees: Array, fixed_drift: Array | None):
        self.panels, self.degrees, self.fixed_drift = panels, degrees, fixed_drift
        self.n_points, self.unit = panels.n_points, panels.unit
        self.factorize = panels.factorize
        self._solve, self._solve_alpha = None, -1.0

    def _pass(self, XT: Array, height: Array) -> tuple[Array, Array, float]:
        found = self.panels.sum(weighted_pass, XT, height)
        return found[:-2], found[-2], float(found[-1].sum())

    def _drift_pass(self, XT: Array, height: Array) -> tuple[Array, Array]:
        found = self.panels.sum(drift_pass, XT, height)
        return found[:-1], found[-1]

    def _curvature_pass(self, XT: Array, alpha: float) -> Array:
        return self.panels.sum(curvature_pass, XT, alpha)

    def _degrees(self) -> Array:
        return self.degrees

    def _factorized(self, alpha: float) -> Callable[[Array], Array]:
        everyone = np.arange(self.n_points)
        found = self.panels.each(weights_among, everyone)
        there, back = np.concatenate([part for _, part in found], axis=1)
        self.W, self.WT = there + back.T, there.T + back
        self.symmetric_weights = bool((self.W == self.WT).all())
        try:
            return super()._factorized(alpha)
        finally:
            del self.W, self.WT
