"""A pass over the pairs of a dense problem, panel by panel: the same kernels in memory, on a file and on Dask.

A panel of the rows ``first <= i < last`` holds what belongs to the pairs (i, j) with ``j > i``: the symmetric part and,
where it is asked for, the skew part of complete data; or both directions of D and of the weights. A *pass* applies one of
the functions below to every panel and adds up what they return: arrays with a column for each point from ``first`` on.
Whoever keeps the panels (:class:`Panels`) needs to know no more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import wraps
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks
from finsler.geometry.stress import triangle_edges
from finsler.kernels import dense, single, swirl
from finsler.kernels import panels as kernels

Array = NDArray[np.floating[Any]]
Panel = tuple[Array, ...]
PanelFunction = Callable[
    ..., Any
]  # of the first point, the panel, the threads to use, and what the pass is about

# Points up to which a pass is too short to be worth handing to threads, in double and in single precision.
SMALL, SMALL_SINGLE = 700, 1200
# Blocks of a panel, and rows of a block at least: the same ones, so that sums are added in the same order, whatever the
# number of threads.
BLOCKS, ROWS_OF_A_BLOCK = 8, 100
ALONE = 0  # number of threads of a panel that is one of many: it is a single block
# From this many points on pairs in memory are cut into so many panels: memory that is never touched costs nothing, and the
# first touch of what is costs more than a pass.
CUT_FROM, PANELS = 8000, 32
# With weights a panel has four arrays, and fewer points are worth cutting: as many to a panel, where there are two at least.
POINTS_OF_A_PANEL = 250


class Panels(ABC):
    """Keeper of the panels of one data set."""

    n_points: int
    weighted: bool
    """Whether a panel is (D, D', W, W'), or (S,), or (S, A) where the skew part is asked for."""
    unit: float = 1.0
    """Weight that counts as 1."""
    factorize: bool
    """Whether the weights are so few that they may be gathered and factorized."""
    gather: bool
    """Whether there are so few points that a start with weights or gaps may be made from all of them."""

    @abstractmethod
    def each(self, function: PanelFunction, *args: Any, skew: bool = False) -> list[tuple[int, Any]]:
        """First point and ``function(first, panel, n_jobs, *args)`` of every panel, in order."""

    @abstractmethod
    def sum(self, function: PanelFunction, *args: Any, skew: bool = False) -> Array:
        """Sum of the results over all panels, each put where its first point is."""

    def weights(self) -> tuple[Array, Array]:
        """All weights, there and back."""
        found = self.each(weights_among, np.arange(self.n_points))
        there, back = np.concatenate([part for _, part in found], axis=1)
        return there + back.T, there.T + back


class MemoryPanels(Panels):
    """All pairs in one panel, or in several, a thread for each, in which little stands beside the pairs."""

    def __init__(
        self,
        panel: Panel,
        unit: float = 1.0,
        n_jobs: int | None = None,
        others: Sequence[tuple[int, Panel]] = (),
    ):
        self.panel, self.unit, self.n_jobs = panel, unit, n_jobs
        self.panels = [(0, panel), *others]
        self.n_points, self.weighted = panel[0].shape[1], len(panel) == 4
        self.factorize = self.gather = True

    @classmethod
    def empty(cls, n: int, dtype: Any, n_jobs: int | None) -> MemoryPanels:
        """Panels of a symmetric matrix, to be filled."""
        edges = panel_edges(n)
        panels = [(i, (np.empty((j - i, n - i), dtype=dtype),)) for i, j in pairwise(edges.tolist())]
        return cls(panels[0][1], 1.0, n_jobs, panels[1:])

    def each(self, function: PanelFunction, *args: Any, skew: bool = False) -> list[tuple[int, Any]]:
        """First point and ``function(first, panel, n_jobs, *args)`` of every panel, in order."""
        if len(self.panels) == 1:
            return [(0, function(0, self.panel, self.n_jobs, *args))]

        def task(k: int, *_: int) -> tuple[int, Any]:
            first, panel = self.panels[k]
            return first, function(first, panel, ALONE, *args)

        return map_blocks(task, range(len(self.panels) + 1), self.n_jobs)

    def sum(self, function: PanelFunction, *args: Any, skew: bool = False) -> Array:
        """Sum of the results over all panels, each put where its first point is."""
        (_, total), *rest = self.each(function, *args)
        for first, values in rest:
            total[:, first:] += values
        return np.asarray(total)

    def weights(self) -> tuple[Array, Array]:
        """All weights, there and back."""
        if len(self.panels) == 1:
            return self.panel[2], self.panel[3]
        W = np.empty((self.n_points, self.n_points), dtype=self.panel[2].dtype)
        for first, (_, _, there, back) in self.panels:
            W[first : first + len(there), first:] = there
            W[first:, first : first + len(back)] = back.T
        return W, W.T


def add_up(parts: list[tuple[int, Array]], n_points: int) -> tuple[int, Array]:
    """Add results of panels; a result covers the points from its first one on."""
    first = min(start for start, _ in parts)
    total = np.zeros((len(parts[0][1]), n_points - first))
    for start, values in parts:
        total[:, start - first :] += values
    return first, total


def panel_edges(n: int, weighted: bool = False) -> NDArray[np.intp]:
    """Edges of the panels of n points in memory."""
    count = min(n // POINTS_OF_A_PANEL, PANELS) if weighted else PANELS if n >= CUT_FROM else 1
    return triangle_edges(n, count) if count > 1 else np.array([0, n])


def numbers_held(n: int, weighted: bool = False) -> float:
    """Numbers in one array of all panels of n points in memory: little more than half of a matrix if there are many."""
    edges = panel_edges(n, weighted)
    return float((np.diff(edges) * (n - edges[:-1]).astype(float)).sum())


def _block_edges(rows: int, width: int, n_jobs: int | None) -> NDArray[np.intp]:
    """Edges of the blocks of a panel."""
    return triangle_edges(width, 1 if n_jobs == ALONE else min(BLOCKS, rows // ROWS_OF_A_BLOCK), rows)


def panel_pass(n_rows: Callable[..., int]) -> Callable[[Callable[..., None]], PanelFunction]:
    """Make a pass of a function that adds some rows of a panel to ``out``, whose number of rows is ``n_rows(*args)``.

    Of arrays among the arguments, the columns from the panel's first point on are taken.
    """

    def decorate(add_rows: Callable[..., None]) -> PanelFunction:
        @wraps(add_rows)
        def run(first: int, panel: Panel, n_jobs: int | None, *args: Any) -> Array:
            rows, width = panel[0].shape
            local = [np.ascontiguousarray(a[..., first:]) if isinstance(a, np.ndarray) else a for a in args]
            edges = _block_edges(rows, width, n_jobs)
            out = np.zeros((len(edges) - 1, n_rows(*args), width))
            map_blocks(
                lambda b, start, stop: add_rows(panel, out[b], start, stop, *local), edges,
                n_jobs if width > SMALL else 1,
            )  # fmt: skip
            return np.asarray(out.sum(axis=0))

        return run

    return decorate


@panel_pass(lambda XT: len(XT) + 1)
def uniform_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array) -> None:
    """Force on each axis, and in the last row the sum of ``(e - S)^2`` of each row of the panel."""
    kernel = dense.uniform_three if len(XT) == 3 else dense.uniform_any
    kernel(panel[0], XT, start, stop, out[:-1], out[-1])


def single_pass(first: int, panel: Panel, n_jobs: int | None, XT: Array, scale: float | None) -> Array:
    """`uniform_pass` in single precision, of data ``scale S`` in the unit of the three axes ``XT``; returns float64."""
    rows, width = panel[0].shape
    local = np.ascontiguousarray(XT[:, first:], dtype=np.float32)
    edges = _in_fours(_block_edges(rows, width, n_jobs))
    force = np.zeros((len(edges) - 1, 3, width), dtype=np.float32)
    out = np.empty((4, width))
    stress = out[-1]
    stress[:] = 0
    factor = None if scale is None else panel[0].dtype.type(scale)

    def task(b: int, start: int, stop: int) -> None:
        single.uniform_three(panel[0], factor, local, start, stop, force[b], stress)

    map_blocks(task, edges, n_jobs if width > SMALL_SINGLE else 1)
    single.add_blocks(force, out)
    return out


@panel_pass(lambda XT, height: len(XT) + 2)
def weighted_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array, height: Array) -> None:
    """Force on each axis, force along the drift, and the stress of each row."""
    kernel = dense.weighted_three if len(XT) == 3 else dense.weighted
    kernel(*panel, XT, height, start, stop, out[:-2], out[-2], out[-1])


@panel_pass(lambda XT, height: len(XT) + 1)
def drift_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array, height: Array) -> None:
    """``L(p) X`` on each axis, and the pull of the data along the drift."""
    dense.weighted_drift(*panel, XT, height, start, stop, out[:-1], out[-1])


def curvature_pass(
    first: int, panel: Panel, n_jobs: int | None, XT: Array, alpha: float, across: int
) -> Array:
    """Curvature of the majorizer times a step, an axis in each row; the first ``across`` ones lie across the drift.

    In single precision, in units of a power of two near the step: steps of any accuracy lower the stress.
    """
    return _in_single(
        panel, n_jobs, XT[:, first:],
        lambda local, start, stop, out: single.curvature(panel[2], panel[3], local, alpha, across, start, stop, out),
    )  # fmt: skip


def _in_single(panel: Panel, n_jobs: int | None, VT: Array, add_rows: Callable[..., None]) -> Array:
    """Linear pass in single precision: vectors, a row each, in units of a power of two near them; float64 comes out."""
    rows, width = panel[0].shape
    unit = 2.0 ** float(np.frexp(np.abs(VT).max(initial=0.0))[1])
    local = np.ascontiguousarray(VT / unit, dtype=np.float32)
    edges = _in_fours(_block_edges(rows, width, n_jobs))
    out = np.zeros((len(edges) - 1, len(VT), width), dtype=np.float32)
    map_blocks(
        lambda b, start, stop: add_rows(local, start, stop, out[b]), edges, n_jobs if width > SMALL_SINGLE else 1
    )  # fmt: skip
    return np.asarray(unit * out.sum(axis=0, dtype=float))


def _in_fours(edges: NDArray[np.intp]) -> NDArray[np.intp]:
    """Edges of blocks of whole groups of four rows, as the kernels of single precision take them."""
    return np.append(edges[:-1] // 4 * 4, edges[-1])


@panel_pass(lambda VT: len(VT))
def squares_pass(panel: Panel, out: Array, start: int, stop: int, VT: Array) -> None:
    """``S^2 v`` for the rows v of ``VT``."""
    kernels.squares_times(panel[0], VT, start, stop, out)


def single_squares_pass(first: int, panel: Panel, n_jobs: int | None, VT: Array, scale: float) -> Array:
    """`squares_pass` in single precision, of ``scale S``."""
    return _in_single(
        panel, n_jobs, VT[:, first:],
        lambda local, start, stop, out: single.squares_times(panel[0], panel[0].dtype.type(scale), local, start, stop, out),
    )  # fmt: skip


@panel_pass(lambda: 2)
def skew_pass(panel: Panel, out: Array, start: int, stop: int) -> None:
    """Sum of ``A_ij`` over i for each j, and the sum of squares of D of each row."""
    out[1, start] = kernels.skew_sums(*panel, start, stop, out[0])


@panel_pass(lambda h: 1)
def residual_pass(panel: Panel, out: Array, start: int, stop: int, h: Array) -> None:
    """What the heights leave of the skew part."""
    out[0, start] = kernels.skew_residual(panel[1], h, start, stop)


@panel_pass(lambda XT, height: 1)
def misfit_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array, height: Array) -> None:
    """Stress of the pairs of each point, in units of the weights: each pair counts at both ends."""
    uniform = len(panel) == 2
    arrays = (*panel, panel[0][:0], panel[0][:0]) if uniform else panel
    kernels.misfit(*arrays, uniform, XT, height, start, stop, out[0])


@panel_pass(lambda XT, m: len(XT) + m + 1)
def swirl_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array, m: int) -> None:
    """Skew part times each of m axes, force on each, and the sum of ``(e - S)^2`` of each row of the panel."""
    kernel = dense.uniform_three if len(XT) == 3 else dense.uniform_any
    kernel(panel[0], XT, start, stop, out[m:-1], out[-1])
    swirl.skew_times(panel[1], XT[:m], start, stop, out[:m])


@panel_pass(lambda VT: len(VT))
def skew_times_pass(panel: Panel, out: Array, start: int, stop: int, VT: Array) -> None:
    """``A v`` for the rows v of ``VT``."""
    swirl.skew_times(panel[1], VT, start, stop, out)


@panel_pass(lambda XT, m, kappa: len(XT) + m + 3)
def swirl_arc_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array, m: int, kappa: float) -> None:
    """`swirl_pass` for arcs; the last three rows are the sums of ``uniform_arc``."""
    swirl.uniform_arc(panel[0], XT, kappa, start, stop, out[m:-3], out[-3:])
    swirl.skew_times(panel[1], XT[:m], start, stop, out[:m])


@panel_pass(lambda XT, kappa: len(XT) + 3)
def arc_pass(panel: Panel, out: Array, start: int, stop: int, XT: Array, kappa: float) -> None:
    """`uniform_pass` for arcs; the last three rows are the sums of ``uniform_arc``."""
    swirl.uniform_arc(panel[0], XT, kappa, start, stop, out[:-3], out[-3:])


@panel_pass(lambda XT, OT, height, kappa: len(XT) + 1)
def weighted_swirl_pass(
    panel: Panel, out: Array, start: int, stop: int, XT: Array, OT: Array, height: Array, kappa: float
) -> None:
    """Force on each axis, and the stress of each row."""
    swirl.weighted(*panel, XT, OT, height, kappa, start, stop, out[:-1], out[-1])


@panel_pass(lambda XT, OT, height, kappa, sign, m: 1 + _unknowns(m) * (_unknowns(m) + 3) // 2)
def field_pass(
    panel: Panel, out: Array, start: int, stop: int, XT: Array, OT: Array, height: Array, kappa: float, sign: float, m: int
) -> None:  # fmt: skip
    """Stress, and the terms of the least squares for the drift field, in sums over the panel."""
    sums = np.zeros(len(out))
    swirl.weighted_field(*panel, XT, OT, height, kappa, sign, m, start, stop, sums)
    out[:, start] = sums


def _unknowns(m: int) -> int:
    """Numbers of a drift field in m dimensions."""
    return m + m * (m - 1) // 2


@panel_pass(lambda XT, OT, height, kappa: 1)
def swirl_misfit_pass(
    panel: Panel, out: Array, start: int, stop: int, XT: Array, OT: Array, height: Array, kappa: float
) -> None:
    """`misfit_pass` of a map whose drift turns."""
    uniform = len(panel) == 2
    arrays = (*panel, panel[0][:0], panel[0][:0]) if uniform else panel
    swirl.misfit(*arrays, uniform, XT, OT, height, kappa, start, stop, out[0])


@panel_pass(lambda: 4)
def weights_pass(panel: Panel, out: Array, start: int, stop: int) -> None:
    """Weight at each point; then sums over the panel: ``w D^2``, squares of what is known, and how many are known."""
    out[1, start], out[2, start], out[3, start] = kernels.weight_sums(*panel, start, stop, out[0])


def groups(first: int, panel: Panel, n_jobs: int | None) -> NDArray[np.intp]:
    """Smallest number, counted from ``first``, in the group of each point when the panel's pairs connect."""
    group = np.arange(panel[0].shape[1])
    kernels.join(panel[2], panel[3], group)
    return group


def among(first: int, panel: Panel, n_jobs: int | None, points: NDArray[np.intp]) -> Array:
    """Entries between sorted ``points``: for each array of the panel a row for every point in it, 0 for smaller ones."""
    mine = points[(points >= first) & (points < first + len(panel[0]))] - first
    out = np.zeros((len(panel), len(mine), len(points)))
    for k, p in enumerate(mine):
        later = points > p + first
        for a, values in enumerate(panel):
            out[a, k, later] = values[p, points[later] - first]
    return out


def upper_rows(first: int, panel: Panel, n_jobs: int | None) -> Array:
    """Symmetric part of the panel, 0 elsewhere."""
    return np.triu(panel[0], 1).astype(float)


def weights_among(first: int, panel: Panel, n_jobs: int | None, points: NDArray[np.intp]) -> Array:
    """Weights between sorted ``points``, there and back."""
    return among(first, panel[2:], n_jobs, points)


def columns(first: int, panel: Panel, n_jobs: int | None, points: NDArray[np.intp]) -> tuple[Array, Array]:
    """Entries (D, D', W, W'), or (D, D'), with one of the sorted ``points`` at an end, as seen from the other end.

    First those of the panel's rows with every point, then those of the points among the rows with everyone: in the row
    of the point D and D' have changed roles. 0 for pairs that are in other panels.
    """
    rows, width = panel[0].shape
    local = points - first
    across = np.zeros((len(panel), len(points), rows), dtype=panel[0].dtype)
    for k, p in enumerate(local):
        if p > 0:
            across[:, k, : min(p, rows)] = _directions([values[: min(p, rows), p] for values in panel])
    mine = local[(local >= 0) & (local < rows)]
    along = np.zeros((len(panel), len(mine), width), dtype=panel[0].dtype)
    for k, p in enumerate(mine):
        there = _directions([values[p, p + 1 :] for values in panel])
        along[:, k, p + 1 :] = [there[a ^ 1] for a in range(len(panel))]
    return across, along


def _directions(values: list[Array]) -> list[Array]:
    """Both directions of D and of the weights; D from S and A."""
    return values if len(values) == 4 else [values[0] + values[1], values[0] - values[1]]


# Passes of the iterations, which show a progress line of their own.
ITERATED = (
    uniform_pass, single_pass, weighted_pass, drift_pass, curvature_pass, swirl_pass, swirl_arc_pass, arc_pass,
    weighted_swirl_pass, field_pass,
)  # fmt: skip
