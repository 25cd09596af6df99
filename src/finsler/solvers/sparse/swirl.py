"""The sparse stress of maps whose drift turns, and its solver, which goes on from the canonical map.

Passes are those of `finsler.solvers.sparse.problem` with ``omega_i = w + K x_i`` at node i. Here the drift of a field is the
one **at the origin** of the coordinates, so that it does not change while points move. It is fitted between some iterations,
as the drift is, and kept if the stress falls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks
from finsler.geometry.swirl import drift_at
from finsler.kernels import sparse_swirl as kernels
from finsler.solvers.majorize import EARLY, Run, StopRule, majorize
from finsler.solvers.problem import Evaluation
from finsler.solvers.sparse.problem import PairProblem, SparseProblem, StreamedProblem
from finsler.solvers.swirl.choice import SwirlChoice
from finsler.solvers.swirl.field import MARGIN, Field, best_field, map_radius
from finsler.solvers.swirl.problem import normal_equations
from finsler.solvers.swirl.solver import judged

Array = NDArray[Any]

EPOCH = 10  # iterations between two fits of the field
SETTLED = 1e-4  # the field has settled when the drift at the rim moves by less
HALVINGS = 3  # of a change of the field that raises the stress


class _Turning(NamedTuple):
    """A field at the nodes, as the kernels take it."""

    at_nodes: Array
    alpha: float
    kappa: float
    sign: float


class SwirlPass:
    """What both kinds of sparse problems with a swirl share."""

    bounded = False
    radius: float
    held_drift: Array | None  # at the middle of the map, if it is given
    geodesic: bool

    def turning(self, X: Array, field: Array) -> _Turning:
        """Drift at the nodes, its largest norm, and the curvature of arcs."""
        at_nodes = np.ascontiguousarray(drift_at(X, field[0], field[1:]))
        turn = float(field[2, 0]) if self.geodesic else 0.0
        return _Turning(
            at_nodes, float(np.sqrt((at_nodes**2).sum(axis=1).max())), abs(turn), float(np.sign(turn))
        )

    def best_field(self, sums: Array, X: Array) -> Array:
        """Field from the terms of its least squares about the middle of the map; its drift at the origin."""
        m, middle = X.shape[1], X.mean(axis=0)
        H, b = normal_equations(sums, m)
        field = best_field(H, b, m, self.radius, drift=self.held_drift, arcs=self.geodesic)
        return np.vstack([field[0] - field[1:] @ middle, field[1:]])

    def unknowns(self, m: int) -> int:
        """Length of the sums for the field."""
        k = m + m * (m - 1) // 2
        return k * (k + 3) // 2


def _step(force: Array, curve: Array, alpha: float, held: bool) -> Array:
    """Every node by its force over its own curvature, that of a drift of norm alpha on all axes.

    To shift the map in its field is to change the drift at its middle: where that is ``held``, the middle stays.
    """
    bend = np.maximum(curve[0] + alpha**2 * curve[1], np.finfo(float).tiny)[:, None]
    if held:
        force = force - (force / bend).sum(axis=0) / (1 / bend).sum()
    return np.asarray(force / bend)


class SparseSwirlProblem(SwirlPass, SparseProblem):
    """Pairs of every node with the pivots, and the arcs."""

    def __init__(self, plain: SparseProblem, radius: float, held_drift: Array | None, geodesic: bool):
        super().__init__(
            plain.data, plain.given_arcs, power=plain.power, bound=plain.bound, relayed=plain.relayed, n_jobs=plain.n_jobs
        )  # fmt: skip
        self.radius, self.held_drift, self.geodesic = radius, held_drift, geodesic
        finite = 2 * plain.data.out_of.size - plain.data.n_unreachable
        self.n_pairs = float(finite + (0 if self.arcs is None else len(self.arcs.leaving[1])))

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs."""
        (n, m), data = X.shape, self.data
        turning = self.turning(X, omega)
        at = turning[:3]
        P = np.ascontiguousarray(X[data.pivots].T.astype(self.kind))
        OP = np.ascontiguousarray(turning.at_nodes[data.pivots].T.astype(self.kind))
        n_blocks = len(self.edges) - 1
        force, curve = np.empty((n, m)), np.empty((3, n))
        pull = np.zeros((n_blocks, m, data.n_pivots), self.kind)
        press = np.zeros((n_blocks, 2, data.n_pivots), self.kind)
        X = np.ascontiguousarray(X)

        def task(block: int, start: int, stop: int) -> Array:
            here = X, *at, start, stop, force, curve
            sums = np.array(
                kernels.pivot_block(
                    data.out_of, data.into, *self.rule, P, OP, *here, pull[block], press[block]
                )
            )
            curve[:2, start:stop] *= 1 + self.theta
            if self.relayed is not None:
                partner, there = self.relayed.partner, self.relayed.there
                sums += kernels.partner_block(partner, there, self.partner_weight, self.power, *here)
            if self.arcs is not None:
                sums += kernels.arc_block(*self.arcs.leaving, self.power, self.arc_weight, True, *here)
                kernels.arc_block(*self.arcs.entering, self.power, self.arc_weight, False, *here)
            return sums

        sums = np.sum(map_blocks(task, self.edges, self.n_jobs), axis=0)
        force[data.pivots] += pull.sum(axis=0, dtype=float).T
        curve[:2, data.pivots] += (1 + 1 / self.theta) * press.sum(axis=0, dtype=float)
        # The pairs of pivots with each other.
        own, bend = np.empty((data.n_pivots, m)), np.empty((3, data.n_pivots))
        pulled, pressed = np.zeros((m, data.n_pivots), self.kind), np.zeros((2, data.n_pivots), self.kind)
        pivots = X[data.pivots], np.ascontiguousarray(turning.at_nodes[data.pivots]), *at[1:]
        sums += kernels.pivot_rows(
            *self.rows, *self.rule, P, OP, *pivots, self.times, own, bend, pulled, pressed
        )
        force[data.pivots] += own + pulled.T
        curve[:2, data.pivots] += 2 * (bend[:2] + pressed)
        self.square, self.per_point = float(sums[1]), curve[2]
        step = _step(force, curve, turning.alpha, self.held_drift is not None)
        return Evaluation(float(sums[0]), step, 2 * float(np.vdot(step, force)), omega)

    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Field that fits the pairs with the pivots best, the points staying where they are."""
        data, turning = self.data, self.turning(X, omega)
        centered = np.ascontiguousarray(X - X.mean(axis=0))
        P = np.ascontiguousarray(centered[data.pivots].T)
        sums = np.zeros((len(self.edges) - 1, self.unknowns(X.shape[1])))

        def task(block: int, start: int, stop: int) -> None:
            kernels.field_block(
                data.out_of, data.into, *self.rule, P, centered, turning.at_nodes, turning.kappa, turning.sign, start, stop,
                sums[block],
            )  # fmt: skip

        map_blocks(task, self.edges, self.n_jobs)
        return self.best_field(sums.sum(axis=0), X)


class StreamedSwirlProblem(SwirlPass, StreamedProblem):
    """Any ordered pairs, read chunk by chunk at every pass."""

    def __init__(self, plain: StreamedProblem, radius: float, held_drift: Array | None, geodesic: bool):
        super().__init__(plain.stream)
        self.radius, self.held_drift, self.geodesic = radius, held_drift, geodesic
        self._n_pairs, self._sums = plain._n_pairs, np.empty(0)

    @property
    def n_pairs(self) -> float:
        """Number of pairs."""
        return float(self._n_pairs or 1)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the chunks."""
        n, m = X.shape
        # About the middle, for the terms of the least squares.
        centered, turning = np.ascontiguousarray(X - X.mean(axis=0)), self.turning(X, omega)
        force, curve, terms = np.zeros((n, m)), np.zeros((3, n)), np.zeros(self.unknowns(m))
        sums, n_pairs = np.zeros(2), 0
        for rows, columns, D, W in self.stream:
            sums += kernels.chunk(rows, columns, D, W, centered, *turning, force, curve, terms)
            n_pairs += len(rows)
        self._require_the_same(n_pairs)
        self.square, self.per_point, self._sums = float(sums[1]), curve[2], terms
        step = _step(force, curve, turning.alpha, self.held_drift is not None)
        return Evaluation(float(sums[0]), step, 2 * float(np.vdot(step, force)), omega)

    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Field that fits the pairs best."""
        self.evaluate(X, omega)
        return self.best_field(self._sums, X)


def swirl_problem(plain: PairProblem, radius: float, held_drift: Array | None, geodesic: bool) -> Any:
    """The same pairs for maps whose drift turns."""
    kind: Any = SparseSwirlProblem if isinstance(plain, SparseProblem) else StreamedSwirlProblem
    return kind(plain, radius, held_drift, geodesic)


def go_on_with_swirl(
    plain: PairProblem, canonical: Run, swirl: bool | str, held_drift: Array | None, stop: StopRule,
    options: dict[str, Any],
) -> tuple[Run, Field, SwirlChoice, Any]:  # fmt: skip
    """Fit a swirl from the end of a canonical run.

    Returns the run that is kept, with history and passes of this part only; its field, whose drift is at the middle; what
    was found; and the problem in which the stress was measured.
    """
    X, m = canonical.coordinates, canonical.coordinates.shape[1]
    without = Field(canonical.omega)
    if m < 2 or canonical.status in EARLY:
        return canonical, without, SwirlChoice(False, "one_dimension" if m < 2 else "ended"), plain
    radius = MARGIN * map_radius(X)
    problem = swirl_problem(plain, radius, held_drift, False)
    start = np.vstack([canonical.omega, np.zeros((m, m))])
    before = problem.evaluate(X, start).stress
    run = _epochs(problem, X, start, before, stop, options)
    if swirl == "geodesic" and run.status not in EARLY:
        problem = swirl_problem(plain, radius, held_drift, True)
        straight = run
        first = problem.evaluate(straight.coordinates, straight.omega).stress
        run = _epochs(problem, straight.coordinates, straight.omega, first, stop, options)
        if run.stress > before:
            run = _epochs(problem, X, start, before, stop, options)
        run = replace(run, n_passes=run.n_passes + straight.n_passes)
    measured = _Measured(problem.square, problem.n_pairs)
    choice = judged(measured, replace(canonical, stress=before), run, 0.0, m, swirl == "auto")
    if not choice.chosen:
        passes = canonical.n_passes + run.n_passes
        return replace(canonical, n_passes=passes), without, choice, plain
    middle = run.coordinates.mean(axis=0)
    field = Field(run.omega[0] + run.omega[1:] @ middle, run.omega[1:], swirl == "geodesic")
    return run, field, choice, problem


class _Measured(NamedTuple):
    """What a swirl is judged by."""

    total: float
    n_pairs: float
    skew_square: float | None = None


def _epochs(
    problem: Any, X: Array, field: Array, stress: float, stop: StopRule, options: dict[str, Any]
) -> Run:
    """Fit the field and iterate in turn, until neither moves; ``stress`` is that of the start."""
    history: list[float] = []
    n_passes, n_iter = 1, 0
    while True:
        moved, fitted = 0.0, problem.fit_drift(X, field)
        for _ in range(HALVINGS):
            after = problem.evaluate(X, fitted).stress
            n_passes += 2
            if after <= stress:
                change = fitted - field
                moved = float(np.linalg.norm(change[0] + change[1:] @ X.mean(axis=0)))
                moved += problem.radius * float(np.linalg.norm(change[1:])) / np.sqrt(2)
                field = fitted
                break
            fitted = (fitted + field) / 2
        epoch = replace(stop, max_iter=min(stop.max_iter, n_iter + EPOCH), unit=problem.unit)
        run = majorize(problem, X, field, epoch, done=n_iter, **options)
        X, stress, n_iter = run.coordinates, run.stress, run.n_iter
        history += run.history[bool(history) :]
        n_passes += run.n_passes
        run = replace(run, history=history, n_passes=n_passes)
        if run.status != "max_iter" and not (run.status == "converged" and moved >= SETTLED):
            return run
        if run.n_iter >= stop.max_iter:
            return run
