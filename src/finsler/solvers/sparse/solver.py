"""Sparse Finsler stress: maps of graphs too large for all pairs, or of pairs that come in chunks.

A `Plan` says what the map is to be, a `Job` of what.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import as_random_state
from finsler._runtime import Progress
from finsler.errors import InputError, InputTypeError, check_choice, check_count
from finsler.geometry.pairs import AlphaSource, SampledScores
from finsler.geometry.randers import drift_vector
from finsler.graphs.distances import WEIGHTINGS, sample_rows, sampled_scores
from finsler.graphs.pivots import PivotDistances, PivotGraph
from finsler.solvers.drift import frame_of
from finsler.solvers.majorize import EARLY, Run, StopRule, majorize
from finsler.solvers.options import (
    PIVOT_DEFAULTS,
    STREAM_DEFAULTS,
    EveryOption,
    SparseOptions,
    check_swirl,
    checked,
)
from finsler.solvers.smacof import given_start
from finsler.solvers.solution import Solution
from finsler.solvers.sparse.checkpoint import Checkpoint, State
from finsler.solvers.sparse.problem import ArcPairs, PairProblem, PairStream, SparseProblem, StreamedProblem
from finsler.solvers.sparse.start import EPOCH, SAMPLE, coarse_to_fine, partners
from finsler.solvers.sparse.swirl import go_on_with_swirl
from finsler.solvers.start import ONE_WAY_ALPHA, check_alpha, identifiable
from finsler.solvers.swirl.field import Field, turned_upright

Array = NDArray[Any]

MEMORY = 3  # earlier steps that the acceleration combines: they are as large as the map
HELD_OUT = 20  # rows that a map is scored on
SETTLED = 1e-4  # the fitted drift has settled when it moves by less


def sparse_smacof(
    pairs: PivotDistances | PairStream,
    n_components: int = 2,
    alpha: float | str = "auto",
    *,
    arcs: ArcPairs | None = None,
    weighting: str = "uniform",
    bound: float = 0.0,
    **options: Unpack[SparseOptions],
) -> Solution:
    """Minimize the Finsler stress over some of the pairs.

    Parameters
    ----------
    pairs : PivotDistances or PairStream
        Every node with some pivots, see :func:`~finsler.graphs.pivots.pivot_distances`; or any pairs in chunks.
    arcs : ArcPairs, optional
        Arcs of the graph, which count beside the pivots; only with `PivotDistances`.
    weighting : {"uniform", "inverse", "inverse-square"}
        Weight of a pair at distance d: 1, 1/d or 1/d^2. The pairs of a stream carry their own weights.
    bound : float
        Pairs of a node and a pivot without a path are left out (0), or kept at least so far apart.
    n_components, alpha
        As in :class:`~finsler.estimators.mds.FinslerMDS`.
    **options
        `SparseOptions` of `finsler.solvers.options`, as in :class:`~finsler.estimators.mds.FinslerMDS`, except:

        * ``init``: a map of the pivots, itself started so, from which all nodes are placed; random points, which a
          stream always starts from; or given ones. With ``n_init`` above 1 it is drawn anew each time; "auto" is 1.
        * ``max_iter`` and ``tol`` are coarser by default.
        * ``checkpoint``, ``checkpoint_seconds``: file that the run writes its state to, so many seconds apart at least,
          and goes on from where it exists, to the same result as if it had never been stopped. Needs an integer
          ``random_state`` and one start.

    Returns
    -------
    Solution
        Its ``stress`` is the sum over the pairs, in which each pivot weighs as much as its region: an estimate of
        the stress over all pairs. ``total`` is the sum of squares that goes with it.
    """
    defaults = STREAM_DEFAULTS if isinstance(pairs, PairStream) else PIVOT_DEFAULTS
    plan = Plan.of("sparse_smacof", n_components, alpha, weighting, options, defaults)
    if not 0 <= bound < np.inf:
        raise InputError(f"bound must be a number that is not negative, got {bound!r}.")
    return solve(Job(pairs, plan, arcs, bound))


@dataclass(frozen=True, eq=False)
class Plan:
    """What a sparse map is asked to be, checked before distances are computed, which may take long."""

    m: int
    alpha: float | None  #: None: to be fitted.
    weighting: str
    options: SparseOptions  #: All of them.

    @property
    def running(self) -> dict[str, Any]:
        """Options that what is measured on graphs takes, too."""
        return {name: self.options.get(name) for name in ("random_state", "n_jobs", "verbose")}

    @classmethod
    def of(
        cls, function: str, n_components: int, alpha: float | str, weighting: str, options: SparseOptions,
        defaults: EveryOption = PIVOT_DEFAULTS,
    ) -> Plan:  # fmt: skip
        """Plan that the arguments of a function ask for."""
        check_choice("weighting", weighting, WEIGHTINGS)
        m, every = (
            check_count("n_components", n_components),
            checked(function, options, SparseOptions, defaults),
        )
        check_swirl(every["swirl"], m)
        if every["n_init"] == "auto":  # many pairs, and a coarse map that itself takes several starts
            every["n_init"] = 1
        return cls(m, check_alpha(alpha), weighting, every)


def solve(job: Job) -> Solution:
    """Minimize the stress that a job is about."""
    began = time.perf_counter()
    given = job.plan.options
    _check_pairs(job)
    stop, progress = StopRule.of(given, began), Progress("sparse stress", given["verbose"])
    problem, mark = job.problem()
    file, rng = None, as_random_state(given["random_state"])
    if given["checkpoint"] is not None:
        file = Checkpoint(given["checkpoint"], job.about(mark), given["checkpoint_seconds"])
    loop = {name: given[name] for name in ("accelerate", "callback")} | {"progress": progress, "began": began}
    runs: list[tuple[State, Run]] = []
    while len(runs) < int(given["n_init"]) and (not runs or runs[-1][1].status not in EARLY):
        state = (None if file is None else file.load()) or job.start(problem, rng, stop.deadline, progress)
        runs.append(_epochs(problem, state, job.plan.alpha is None, stop, file, loop))
    state, run = min(runs, key=lambda pair: pair[1].stress)
    ended = runs[-1][1] if runs[-1][1].status in EARLY else run
    history, n_passes, field, choice = (
        state.history,
        sum(each.n_passes for each, _ in runs),
        Field(run.omega),
        None,
    )
    if given["swirl"]:
        run, field, choice, problem = go_on_with_swirl(
            problem, replace(run, status=ended.status, n_passes=0), given["swirl"], job.given_drift, stop,
            {**loop, "memory": MEMORY},
        )  # fmt: skip
        history, n_passes = (run.history if choice.chosen else history), n_passes + run.n_passes
        ended = ended if ended.status in EARLY else run
    progress.close(ended.message)
    X, field = turned_upright(run.coordinates, field)
    final = problem.evaluate(X, field.packed)
    return Solution(
        coordinates=X, drift=field.drift, stress=final.stress, total=problem.square,
        per_point=problem.per_point / (problem.per_point.sum() or 1.0), history=np.array(history), n_iter=run.n_iter,
        n_passes=n_passes + 1, status=ended.status, message=ended.message, seconds=time.perf_counter() - began,
        alpha_source=state.alpha_source, swirl=field.swirl, geodesic=field.geodesic, swirl_choice=choice,
        n_starts=len(runs),
    )  # fmt: skip


def _check_pairs(job: Job) -> None:
    pairs, m = job.pairs, job.plan.m
    if isinstance(pairs, PairStream):
        n = pairs.n_points
        if job.arcs is not None or job.bound or job.plan.weighting != "uniform":
            raise InputError(
                "arcs, bound and weighting go with pivots: the pairs of a stream carry their own weights, and a negative "
                "distance is a bound."
            )
    elif isinstance(pairs, PivotDistances):
        n = pairs.n_nodes
        if pairs.n_pivots < 2 or not pairs.largest > 0:
            raise InputError(
                f"pairs has {n} nodes, {pairs.n_pivots} pivots and a largest distance of {pairs.largest:g}; a map takes at "
                "least 2 pivots, and distances above 0."
            )
    else:
        raise InputTypeError(f"pairs must be PivotDistances or a PairStream, got {type(pairs).__name__}.")
    if m > n:
        raise InputError(f"n_components must be at most the number of points, {n}; got {m}.")


@dataclass(frozen=True, eq=False)
class Job:
    """What a run is about."""

    pairs: PivotDistances | PairStream
    plan: Plan
    arcs: ArcPairs | None
    bound: float

    @property
    def given_drift(self) -> Array | None:
        """Drift, if alpha is given."""
        return None if self.plan.alpha is None else drift_vector(self.plan.alpha, self.plan.m)

    @property
    def init(self) -> str | ArrayLike:
        """Where it starts."""
        return self.plan.options["init"]

    @property
    def coarse(self) -> bool:
        """Whether it starts from a coarse map."""
        return isinstance(self.pairs, PivotDistances) and isinstance(self.init, str) and self.init != "random"

    def problem(self) -> tuple[PairProblem, dict[str, Any]]:
        """The stress, and what tells these pairs from others."""
        if isinstance(self.pairs, PairStream):
            streamed = StreamedProblem(self.pairs)
            return streamed, {"n_points": self.pairs.n_points, "pairs": _first_look(streamed, self.plan.m)}
        power, n_jobs = int(WEIGHTINGS[self.plan.weighting]), self.plan.options["n_jobs"]
        relayed = partners(self.pairs, power, as_random_state(self.plan.options["random_state"]), n_jobs)
        # The pivots of a large map stand where the coarse map has put them; in a small one they follow the arcs as well.
        hold = self.coarse and self.pairs.n_nodes > SAMPLE
        problem = SparseProblem(
            self.pairs, self.arcs, power=power, bound=self.bound, hold=hold, relayed=relayed, n_jobs=n_jobs
        )  # fmt: skip
        out_of, into = (
            part[:: max(1, len(part) // 100_000)] for part in (self.pairs.out_of, self.pairs.into)
        )
        return problem, {
            "n_points": self.pairs.n_nodes,
            "arcs": self.arcs is not None,
            "pivots": self.pairs.pivots.tolist(),
            "distances": float(out_of.sum(dtype=float) + 2 * into.sum(dtype=float)),
        }

    def about(self, mark: dict[str, Any]) -> dict[str, Any]:
        """What a checkpoint must agree with."""
        plan = self.plan
        random_state, n_init = plan.options["random_state"], plan.options["n_init"]
        if not isinstance(random_state, int | np.integer):
            raise InputError(f"checkpoint needs an integer random_state, got {random_state!r}.")
        if n_init != 1:
            raise InputError(f"checkpoint goes with one start, got n_init={n_init}.")
        given = self.init if isinstance(self.init, str) else float(np.asarray(self.init, dtype=float).sum())
        return {
            "n_components": plan.m, "alpha": "auto" if plan.alpha is None else plan.alpha, "weighting": plan.weighting,
            "bound": float(self.bound), "init": given, "random_state": int(random_state), **mark,
        }  # fmt: skip

    def start(
        self, problem: PairProblem, rng: np.random.RandomState, deadline: float, progress: Progress
    ) -> State:
        """State before the first iteration."""
        n, m, alpha = problem.n_points, self.plan.m, self.plan.alpha
        if isinstance(problem, SparseProblem) and self.coarse:
            return coarse_to_fine(
                problem, m, "auto" if alpha is None else alpha, init=str(self.init), rng=rng,
                deadline=deadline, progress=progress,
            )  # fmt: skip
        source: AlphaSource = "fitted" if alpha is None else "given"
        omega = drift_vector(ONE_WAY_ALPHA if alpha is None else alpha, m)
        if isinstance(self.init, str):
            cloud = rng.standard_normal((n, m))
            return State(cloud * _spread(problem, cloud, omega), omega, [], 3, source)
        cloud = np.random.RandomState(0).standard_normal((n, m))  # tells the length of the data
        return State(given_start(self.init, n, m, _spread(problem, cloud, omega)), omega, [], 3, source)


def _epochs(
    problem: PairProblem, state: State, fitted: bool, stop: StopRule, file: Checkpoint | None, options: dict[str, Any]
) -> tuple[State, Run]:  # fmt: skip
    """Run the loop a few iterations at a time.

    Between two epochs the acceleration forgets and a fitted drift is fitted anew, so that the coordinates and the drift
    are all that a run has to know to go on.
    """
    # A drift that the data hardly determine stays as the coarse map found it.
    fitted = fitted and identifiable(state.alpha_source) is not False and bool(np.any(state.omega))
    while True:
        # The time limit may have cut the start short, from where another run would not come to the same map.
        if file is not None and time.perf_counter() < stop.deadline:
            file.save(state)
        done = max(len(state.history) - 1, 0)
        epoch = replace(stop, max_iter=min(stop.max_iter, done - done % EPOCH + EPOCH), unit=problem.unit)
        run = majorize(problem, state.coordinates, state.omega, epoch, memory=MEMORY, done=done, **options)
        history = state.history + run.history[1:] if state.history else run.history
        state = replace(state, history=history, n_passes=state.n_passes + run.n_passes)
        goes_on = run.status == "max_iter" and run.n_iter < stop.max_iter
        if not goes_on and run.status != "converged":
            return state, run
        state.coordinates, state.omega = run.coordinates, run.omega
        if run.status == "converged" and (not fitted or run.n_iter >= stop.max_iter):
            return state, run
        if fitted:
            try:
                omega = problem.fit_drift(state.coordinates, state.omega)
            except KeyboardInterrupt:
                message = f"Ctrl-C after {run.n_iter} iterations; this is the best so far."
                return state, replace(run, status="interrupted", message=message)
            state.n_passes += 1
            moved = float(np.linalg.norm(omega - state.omega))
            Q = frame_of(omega)
            state.coordinates, state.omega = state.coordinates @ Q, omega @ Q
            if run.status == "converged" and moved < SETTLED:
                return state, replace(run, coordinates=state.coordinates, omega=state.omega)


MOST_SIZES = 100  # tried to find that of the data


def _spread(problem: PairProblem, X: Array, omega: Array) -> float:
    """Size at which random points are about as far apart as the data say, from the stress at three sizes."""
    # stress(c X) = a c^2 - 2 b c + total, whatever X; so two values give the best c.
    total = problem.evaluate(X * 0.0, omega).stress
    size, one = 1.0, problem.evaluate(X, omega).stress
    for _ in range(
        MOST_SIZES
    ):  # until a map of this size differs from none, and not by more than rounding can tell
        if one > 16 * total > 0:
            size *= 2.0 ** round(math.log2(total / one) / 2)
        elif abs(one - total) < 1e-3 * total:
            size *= 2.0**10
        else:
            break
        one = problem.evaluate(size * X, omega).stress
    two = problem.evaluate(2 * size * X, omega).stress
    a = (two - 2 * one + total) / 2
    b = (4 * one - two - 3 * total) / -4
    return size * float(b / a) if a > 0 and b > 0 else size


def _first_look(problem: PairProblem, m: int) -> float:
    """Read a stream once, so that bad chunks show before the work; a number that tells it from other streams."""
    X = np.random.RandomState(0).standard_normal((problem.n_points, m))
    mark = problem.evaluate(X, np.zeros(m)).stress
    if not (np.isfinite(mark) and problem.square > 0):
        raise InputError(
            f"The sum of w D^2 over the pairs is {problem.square:g}; it takes some D above 0, of ordinary magnitudes."
        )
    return mark


def map_graph(data: PivotGraph, plan: Plan) -> tuple[Solution, SampledScores]:
    """Map a digraph by its arcs and the distances from and to some pivots, and score it on rows of other nodes.

    Examples
    --------
    >>> from finsler.graphs.digraph import as_digraph
    >>> from finsler.graphs.pivots import pivot_graph
    >>> plan = Plan.of("map_graph", 1, 0.2, "uniform", {"random_state": 0})
    >>> solution, scores = map_graph(pivot_graph(as_digraph([(0, 1), (1, 0)]), 2), plan)
    >>> solution.coordinates.shape, scores.n_sources
    ((2, 1), 2)
    """
    job = Job(data.pivots, plan, ArcPairs.of(data.scaled, data.hops), data.bound)
    solution = _in_units(solve(job), data.unit, WEIGHTINGS[plan.weighting])
    exclude: Any = [] if data.pivots.n_pivots == data.graph.n_nodes else data.pivots.pivots
    rows = sample_rows(data.graph, HELD_OUT, hops=data.hops, exclude=exclude, **plan.running)
    metric: dict[str, Any] = {"swirl": solution.swirl, "geodesic": solution.geodesic}
    X, drift = solution.coordinates, solution.drift
    return solution, sampled_scores(X, drift, rows, **metric, weighting=plan.weighting)


def _in_units(solution: Solution, unit: float, power: float) -> Solution:
    """The map in other units of length; a pair at distance d weighs ``1/d^power``."""
    square = unit ** (2 - power)
    return replace(
        solution,
        coordinates=solution.coordinates * unit,
        swirl=None if solution.swirl is None else solution.swirl / unit,
        stress=solution.stress * square,
        history=solution.history * square,
        total=solution.total * square,
    )
