"""The majorization loop, plain or accelerated, never uphill; and runs from several starts."""

from __future__ import annotations

import contextvars
import copy
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Event, Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import Progress
from finsler.kernels.steps import combine, products, remember
from finsler.solvers.options import SolverOptions
from finsler.solvers.problem import Evaluation, Problem
from finsler.solvers.solution import Iteration

Array = NDArray[np.floating[Any]]
Callback = Callable[[Iteration], Any]

MEMORY = 8  # earlier steps that the acceleration combines
RELAX = 1.9  # a step up to twice as long still lies below the majorizer's start, so it cannot go uphill
CALM = 0.02  # mixing begins when an iteration lowers the stress by less than this share
EARLY = ("interrupted", "stopped", "time_limit")  # ways to end that leave no time for another start
ROUNDING = 1e-13  # share of the stress that a shortened step must promise to be worth trying
INTERRUPTED = "Ctrl-C; this is the best so far."
MOMENTUM = 0.6  # at most this share of the move before is added to a step that is not mixed


@dataclass(frozen=True, eq=False)
class Run:
    """One run of the loop from one start."""

    coordinates: Array
    omega: Array
    stress: float
    history: list[float]
    n_iter: int
    n_passes: int
    status: str
    message: str


@dataclass(frozen=True, eq=False)
class Start:
    """Where a run starts."""

    coordinates: Array
    past: tuple[float, ...] = ()  #: Stress on the way there, if a descent led there.


RunFrom = Callable[..., Run]  # of a problem, a start, and the callback


class Acceleration:
    """Anderson's acceleration of the map ``X -> X + RELAX * step(X)``.

    Near a solution the map is nearly linear, so the combination of the last steps that is smallest points to where
    the steps vanish. Far from it the combination misleads: until the stress falls slowly, and for a while after a
    combination that went uphill, the relaxed step is taken instead, with a share of the move before that grows from
    step to step as in Nesterov's method (on the long way from a random start, a third fewer passes). The loop accepts
    a combined or carried point only if the stress does not rise.
    """

    def __init__(self, memory: int = MEMORY) -> None:
        self.memory = memory
        self._last: tuple[Array, Array] | None = None  # the point before, and its step
        # Differences of relaxed points and of steps, a row each, the oldest overwritten; and the products of the latter.
        self._dY = self._dF = np.empty((0, 0))
        self._gram = np.empty((0, 0))
        self._count = 0
        self._rest = 0  # iterations until combining is tried again
        self._next_rest = 2
        self._last_stress = np.inf
        self._carried = 0  # steps in a row that carried momentum

    def propose(self, X: Array, now: Evaluation) -> tuple[Array, str]:
        """Next point, and its kind: ``"mixed"`` and ``"carried"`` may go uphill, ``"relaxed"`` cannot."""
        before, self._last = self._last, (X, now.step)
        if before is not None and before[0] is X:
            before = None
        if before is not None:
            self._remember(X, now.step, *before)
        calm = self._last_stress - now.stress <= CALM * now.stress
        self._last_stress = now.stress
        self._rest -= 1
        if self._count == 0 or not calm or self._rest >= 0:
            relaxed = X + RELAX * now.step
            if before is None or self._carried < 0:
                self._carried = 0
                return relaxed, "relaxed"
            self._carried += 1
            share = min(MOMENTUM, (self._carried - 1) / (self._carried + 2))
            return relaxed + share * (X - before[0]), "carried"
        held = min(self._count, self.memory)
        gram, along = self._gram[:held, :held].copy(), np.empty(held)
        step = _flat(now.step)
        products(self._dF, step, along)
        # A touch of ridge: differences of steps become nearly parallel close to the solution.
        gram.flat[:: held + 1] += 1e-12 * np.trace(gram) + np.finfo(float).tiny
        try:
            mix = np.linalg.solve(gram, along)
        except np.linalg.LinAlgError:
            return X + RELAX * now.step, "relaxed"
        mixed = np.empty(X.size)
        combine(_flat(X), step, RELAX, self._dY, mix, mixed)
        return mixed.reshape(X.T.shape).T, "mixed"

    def _remember(self, X: Array, step: Array, last_X: Array, last_step: Array) -> None:
        """Add a pair of differences, and its products with the others."""
        if self._dF.shape[1] != X.size:
            self._dY, self._dF = np.zeros((2, self.memory, X.size))
            self._gram = np.zeros((self.memory, self.memory))
        row = self._count % self.memory
        remember(_flat(X), _flat(last_X), _flat(step), _flat(last_step), RELAX, self._dY[row], self._dF[row])
        products(self._dF, self._dF[row], self._gram[row])
        self._gram[:, row] = self._gram[row]
        self._count += 1

    def accepted(self, kind: str) -> None:
        """Note that a proposal went downhill."""
        if kind == "mixed":
            self._next_rest = 2

    def rejected(self, kind: str) -> None:
        """Note that a proposal went uphill. After a combination, forget the past and wait longer each time in a row."""
        if kind == "carried":
            self._carried = -1  # the next step goes without
            return
        self._count = 0
        self._rest = self._next_rest
        self._next_rest *= 2


def _flat(X: Array) -> Array:
    """One axis after the other, which in the loop is how they lie in memory."""
    return X.T.ravel()


@dataclass(frozen=True)
class StopRule:
    """When the loop ends of itself."""

    max_iter: int  #: Iterations at most.
    tol: float  #: Converged when the next plain step is sure to take off less than this share of the stress.
    exact: float = 0.0  #: Stress that counts as 0, to rounding.
    deadline: float = np.inf  #: Value of ``time.perf_counter`` at which to end.
    unit: float = 1.0  #: Share of the stress that ``tol`` is meant for.

    @classmethod
    def of(cls, options: SolverOptions, began: float, exact: float = 0.0) -> StopRule:
        """Rule that the options of a solver ask for, which began at this value of ``time.perf_counter``."""
        limit = options["time_limit"]
        return cls(options["max_iter"], options["tol"], exact, np.inf if limit is None else began + limit)

    def reached(self, now: Evaluation, n_iter: int) -> tuple[str, str] | None:
        """Status and message, if it is time to end."""
        if now.stress <= self.exact:
            return "converged", f"The map fits the data to rounding after {n_iter} iterations."
        if now.decrease <= self.tol * self.unit * now.stress:
            change = f"less than tol = {self.tol:g} (relative)"
            return "converged", f"The stress changes by {change} after {n_iter} iterations."
        if n_iter >= self.max_iter:
            return "max_iter", f"It reached max_iter = {self.max_iter} before tol = {self.tol:g}."
        if time.perf_counter() >= self.deadline:
            return "time_limit", f"The time limit came after {n_iter} iterations."
        return None


def majorize(
    problem: Problem,
    start: Array,
    omega: Array,
    stop: StopRule,
    *,
    accelerate: bool = True,
    callback: Callback | None = None,
    progress: Progress | None = None,
    memory: int = MEMORY,
    done: int = 0,
    past: Sequence[float] = (),
    began: float | None = None,
) -> Run:
    """Minimize a problem from one start.

    Ends as the rule says, when the callback returns True, or at Ctrl-C; in every case with the best point so far.

    Passes are in single precision as long as a step takes more off the stress than rounding may have changed of it, where
    the problem has such passes: a step is then taken only if the stress falls by more than that. From there on, and for
    whatever is returned, they are in double precision. Entries of the history before that are right to their rounding.

    ``memory`` earlier steps are combined where it accelerates. Iterations are counted from ``done`` on, and seconds from
    ``began`` (a ``time.perf_counter`` value) or now. ``past`` is the history of the descent that led to the start, of which
    what lies above the stress there is kept and counted.
    """
    began = time.perf_counter() if began is None else began
    acceleration = Acceleration(memory) if accelerate else None
    # An axis after the other: so are steps, and sums of them run along the points.
    X = np.asfortranarray(start)
    history: list[float] = []
    n_passes, told = 0, done  # iterations that the callback knows of
    now: Evaluation | None = None
    look = problem.estimate

    def evaluate(X: Array, omega: Array) -> Evaluation:
        nonlocal n_passes
        n_passes += 1
        return look(X, omega)

    def in_double(estimated: Evaluation) -> Evaluation:
        """Evaluate the map so far in double precision, and go on so."""
        nonlocal look
        look = problem.evaluate
        exact = evaluate(X, estimated.omega)
        # What was estimated so far is right to rounding; within it, nothing was below what came later.
        history[:] = [max(stress, exact.stress) for stress in history[:-1]] + [exact.stress]
        return exact

    def end(status: str, message: str) -> Run:
        nonlocal now
        if now is not None and now.rounding > 0:
            now = in_double(now)
        at, stress = (omega, np.inf) if now is None else (now.omega, now.stress)
        return Run(X, at, stress, history, done + max(len(history) - 1, 0), n_passes, status, message)

    try:
        now = evaluate(X, omega)
        # What the descent has at its end is `now`, to rounding, which must not count as an iteration.
        history += [stress for stress in past if stress > (1 + ROUNDING) * now.stress] + [now.stress]
        while True:
            n_iter = done + len(history) - 1
            if now.rounding > 0 and (
                not now.decrease > now.rounding or stop.reached(now, n_iter) is not None
            ):
                now = in_double(now)
            if progress is not None:
                progress.update(f"iteration {n_iter}, stress {now.stress:.6g}")
            if callback is not None and n_iter > told:
                told = n_iter
                info = Iteration.of(
                    n_iter, now.stress, X.copy(), now.omega.copy(), time.perf_counter() - began
                )
                if callback(info):
                    return end("stopped", f"The callback stopped it after {n_iter} iterations.")
            if (reached := stop.reached(now, n_iter)) is not None:
                return end(*reached)
            found = _downhill(problem, evaluate, acceleration, X, now)
            if found is not None:
                X, now = found
                history.append(now.stress)
            elif now.rounding > 0:
                now = in_double(now)
            else:
                return end("converged", f"The stress stands still to rounding after {n_iter} iterations.")
    except KeyboardInterrupt:
        n_iter = done + max(len(history) - 1, 0)
        return end("interrupted", f"Ctrl-C after {n_iter} iterations; this is the best so far.")


def _downhill(
    problem: Problem,
    evaluate: Callable[[Array, Array], Evaluation],
    acceleration: Acceleration | None,
    X: Array,
    now: Evaluation,
) -> tuple[Array, Evaluation] | None:
    """Next point, lower by more than rounding, and what is found there; None if the stress falls by no more than that."""
    most, share = now.stress - now.rounding, 1.0 if acceleration is None else RELAX
    candidate, kind = (X + now.step, "plain") if acceleration is None else acceleration.propose(X, now)
    after = evaluate(candidate, now.omega)
    if acceleration is not None and after.stress <= most:
        acceleration.accepted(kind)
    elif acceleration is not None and kind in ("mixed", "carried"):
        acceleration.rejected(kind)
        candidate = X + share * now.step
        after = evaluate(candidate, now.omega)
    # Where it is proved, a relaxed step cannot rise but by rounding; elsewhere it is shortened.
    while not (problem.bounded or after.stress <= most) and share * now.decrease > ROUNDING * now.stress:
        share /= 2
        candidate = X + share * now.step
        after = evaluate(candidate, now.omega)
    return (candidate, after) if after.stress <= most else None


def run_in_turn(
    run_from: RunFrom,
    problem: Problem,
    starts: Iterable[Start],
    callback: Callback | None,
    enough: float = -np.inf,
) -> list[Run]:
    """Run from one start after the other, until one ends early or its stress is low ``enough``."""
    runs: list[Run] = []
    try:
        for start in starts:
            runs.append(run_from(problem, start, callback=callback))
            if runs[-1].status in EARLY or runs[-1].stress <= enough:
                break
    except KeyboardInterrupt:  # while another start was made
        if not runs:
            raise
        runs[-1] = replace(runs[-1], status="interrupted", message=INTERRUPTED)
    return runs


def run_side_by_side(
    run_from: RunFrom,
    problem: Problem,
    starts: Iterable[Start],
    callback: Callback | None,
    enough: float = -np.inf,
) -> list[Run]:
    """Run from all starts at once, for problems whose passes are computed elsewhere: a thread drives each run.

    Results do not depend on which is first. Ctrl-C, or a callback that returns True, ends all of them after their
    iteration.
    """
    stop, one_at_a_time = Event(), Lock()
    interrupted = False

    def after_each(iteration: Iteration) -> bool:
        if callback is not None and not stop.is_set():
            with one_at_a_time:
                if callback(iteration):
                    stop.set()
        return stop.is_set()

    def drive(start: Start) -> Run:
        return run_from(copy.copy(problem), start, callback=after_each)

    every = list(starts)
    with ThreadPoolExecutor(max_workers=len(every), thread_name_prefix="finsler-start") as threads:
        # A thread starts without the context of its maker, in which Dask keeps the active client.
        tasks = [threads.submit(contextvars.copy_context().run, drive, start) for start in every]
        try:
            runs = [task.result() for task in tasks]
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
            runs = [task.result() for task in tasks]
        except BaseException:
            stop.set()
            raise
    if interrupted:
        runs = [
            replace(run, status="interrupted", message=INTERRUPTED) if run.status == "stopped" else run
            for run in runs
        ]
    return runs
