"""Finsler SMACOF: maps by majorization, for any weights, with a given or a fitted drift."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from finsler._runtime import Progress
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, check_count
from finsler.geometry.randers import drift_vector
from finsler.solvers.backends.memory import Backend, MemoryBackend
from finsler.solvers.drift import flatness
from finsler.solvers.majorize import EARLY, Run, StopRule, majorize, run_in_turn, run_side_by_side
from finsler.solvers.options import SolverOptions, check_swirl, checked
from finsler.solvers.problem import Problem
from finsler.solvers.solution import Solution, solution_of
from finsler.solvers.start import AlphaGuess, check_alpha, guess_alpha
from finsler.solvers.swirl.solver import fit_swirl

Array = NDArray[np.floating[Any]]

# Up to this many points a fitted drift is also tried from the start "isomap", which knows no alpha: it costs little, and now
# and then the closed form leads into a worse valley than the map without a drift.
SECOND_START = 500
UNCLEAR_ITERATIONS = 100  # iterations that fit an alpha which the data hardly determine: a long, flat valley


def smacof(
    data: Dissimilarities | Backend,
    n_components: int = 2,
    alpha: float | str = "auto",
    **options: Unpack[SolverOptions],
) -> Solution:
    """Minimize the Finsler stress.

    Parameters
    ----------
    data : Dissimilarities or Backend
        From row to column, with weights if any; or a backend of data that are not in memory.
    n_components, alpha
        As in :class:`~finsler.estimators.mds.FinslerMDS`.
    **options
        `SolverOptions` of `finsler.solvers.options`; what they mean, :class:`~finsler.estimators.mds.FinslerMDS` tells.

    Returns
    -------
    Solution

    Examples
    --------
    >>> from finsler.geometry.randers import randers_distances
    >>> from finsler.data.matrix import as_dissimilarities
    >>> D = randers_distances(np.random.default_rng(0).normal(size=(20, 2)), drift=0.4)
    >>> solution = smacof(as_dissimilarities(D), alpha="auto")
    >>> solution.status, round(solution.alpha, 6)
    ('converged', 0.4)
    """
    began = time.perf_counter()
    given_alpha = check_alpha(alpha)
    check_count("n_components", n_components)
    given = checked("smacof", options, SolverOptions)
    swirl = check_swirl(given["swirl"], n_components)
    backend = data if isinstance(data, Backend) else MemoryBackend(data, given["n_jobs"])
    start: Any = given["init"]
    if not isinstance(start, str):
        start = given_start(start, backend.n_points, n_components, backend.total)
    guess = (
        AlphaGuess(given_alpha, "given")
        if given_alpha is not None
        else guess_alpha(backend.evidence(), n_components)
    )
    omega = drift_vector(guess.alpha, n_components)
    problem = backend.problem(None if guess.fitted else omega)
    kinds: list[str | Array] = [start, *["random"] * (given["n_init"] - 1)]
    if guess.fitted and isinstance(start, str) and start == "classical" and backend.n_points <= SECOND_START:
        kinds.insert(1, "isomap")
    progress = Progress("Finsler SMACOF", given["verbose"])
    run_from = partial(
        _minimize, omega=omega, unclear=guess.source in ("one_way", "unclear"), progress=progress,
        accelerate=given["accelerate"],
        stop=StopRule.of(given, began, exact=backend.total * (4 * np.finfo(float).eps) ** 2),
    )  # fmt: skip
    run_all = run_side_by_side if backend.runs_in_parallel and len(kinds) > 1 else run_in_turn
    rng = check_random_state(given["random_state"])
    starts = _starts(kinds, backend, problem, omega, rng)
    runs = run_all(run_from, problem, starts, given["callback"])
    best = min(runs, key=lambda run: run.stress)
    ended = next((run for run in runs if run.status in EARLY), best)
    omega, geodesic, choice, n_passes = best.omega, False, None, sum(run.n_passes for run in runs)
    if swirl:
        fitted = fit_swirl(
            backend, replace(best, status=ended.status), swirl,
            fixed_drift=None if given_alpha is None else drift_vector(given_alpha, n_components),
            starts=_starts(_swirl_starts(kinds, backend.n_points), backend, problem, omega, rng),
            run_from=partial(_minimize_swirl, run_from, given["callback"], 1e-15 * (backend.skew_square or 0.0)),
        )  # fmt: skip
        best, field, choice, more = fitted
        omega, geodesic = field.packed, field.geodesic
        n_passes += sum(run.n_passes for run in more)
        ended = ended if ended.status in EARLY else best
    progress.close(ended.message)
    return solution_of(
        backend, best.coordinates, omega, history=best.history, n_iter=best.n_iter,
        n_passes=n_passes, status=ended.status, message=ended.message, geodesic=geodesic, swirl_choice=choice,
        seconds=time.perf_counter() - began, alpha_source=guess.source,
    )  # fmt: skip


def _minimize_swirl(
    run_from: Any, callback: Any, rounding: float, problem: Problem, X0: Array, omega: Array
) -> Run:
    """Run from one start of a map whose drift turns; its stress is a difference of sums, with their ``rounding``."""
    stop = run_from.keywords["stop"]
    stop = replace(stop, exact=max(stop.exact, rounding))
    run: Run = run_from(problem, X0, omega=omega, unclear=False, callback=callback, stop=stop)
    return run


def _swirl_starts(kinds: Sequence[str | Array], n_points: int) -> list[str | Array]:
    """Starts of a map whose drift turns beside the canonical map: without heights, and those that were asked for."""
    further = [kind for kind in kinds if not isinstance(kind, str) or kind == "random"]
    return further if len(further) == len(kinds) or n_points > SECOND_START else ["isomap", *further]


def _starts(
    kinds: Sequence[str | Array], backend: Backend, problem: Problem, omega: Array, rng: np.random.RandomState
) -> Iterator[Array]:
    """Make the starts one after the other, as they are asked for."""
    m, alpha = len(omega), float(np.linalg.norm(omega))
    for kind in kinds:
        if not isinstance(kind, str):
            X = kind
        elif kind == "classical":
            X = backend.classical(m, alpha)
        elif kind == "isomap":
            X = backend.isomap(m)
        else:
            X = backend.random(m, rng)
        yield _leave_subspace(X, problem, omega, backend.total, rng)


def _minimize(
    problem: Problem, X0: Array, *, omega: Array, unclear: bool, stop: StopRule, **options: Any
) -> Run:
    """Run the loop from one start. A drift that the data hardly determine is fitted for a while, then held."""
    if not unclear:
        return majorize(problem, X0, omega, stop, **options)
    short = replace(stop, max_iter=min(stop.max_iter, UNCLEAR_ITERATIONS))
    first = majorize(problem, X0, omega, short, **options)
    if first.status != "max_iter" or stop.max_iter <= UNCLEAR_ITERATIONS:
        return first
    held = copy.copy(problem)
    held.fixed_drift = first.omega
    rest = replace(stop, max_iter=stop.max_iter - first.n_iter)
    second = majorize(held, first.coordinates, first.omega, rest, **options)
    return replace(
        second,
        history=first.history + second.history[1:],
        n_iter=first.n_iter + second.n_iter,
        n_passes=first.n_passes + second.n_passes,
    )


def _leave_subspace(
    X: Array, problem: Problem, omega: Array, total: float, rng: np.random.RandomState
) -> Array:
    """Nudge a start that lies in a hyperplane, unless it fits the data already: majorization would never leave it."""
    if len(X) <= X.shape[1] or total == 0 or flatness(X) > 1e-6:
        return X
    if problem.evaluate(X, omega).stress <= 1e-12 * total:
        return X
    size = np.sqrt((X**2).mean()) or np.sqrt(total) / len(X)
    return X + 1e-3 * size * rng.standard_normal(X.shape)


def given_start(init: ArrayLike, n: int, m: int, total: float) -> Array:
    """Start that was given as an array, checked."""
    X = np.array(init, dtype=float)
    if X.shape != (n, m):
        raise InputError(f"init must have a row per point, a column per dimension, {(n, m)}; got {X.shape}.")
    if not np.isfinite(X).all():
        raise InputError(f"init is not finite in row {int(np.argmax(~np.isfinite(X).all(axis=1)))}.")
    X -= X.mean(axis=0)
    size, expected = np.abs(X).max(), np.sqrt(total) / n
    if size > 0 and not 1e-6 < expected / size < 1e6:  # so far off that squares would lose all digits
        X *= expected / size
    return X
