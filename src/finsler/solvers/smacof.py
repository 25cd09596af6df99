"""Finsler SMACOF: maps by majorization, for any weights, with a given or a fitted drift."""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from functools import partial
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._runtime import Progress
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, check_count
from finsler.geometry.randers import drift_vector
from finsler.solvers.backends.memory import Backend, MemoryBackend, require_magnitude
from finsler.solvers.majorize import EARLY, Run, Start, StopRule, majorize, run_in_turn, run_side_by_side
from finsler.solvers.options import DEFAULTS, SolverOptions, check_swirl, checked
from finsler.solvers.problem import Problem, UniformProblem, WeightedProblem
from finsler.solvers.search import Search
from finsler.solvers.solution import Solution, solution_of
from finsler.solvers.stacked import parted
from finsler.solvers.start import AlphaGuess, check_alpha, guess_alpha
from finsler.solvers.swirl.solver import fit_swirl

Array = NDArray[np.floating[Any]]

UNCLEAR_ITERATIONS = 100  # iterations that fit an alpha which the data hardly determine: a long, flat valley
PARTINGS = 10  # times that a run goes on after points on one spot were parted


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
    require_magnitude(backend)
    start: Any = given["init"]
    if not isinstance(start, str):
        start = given_start(start, backend.n_points, n_components, backend.length)
    guess = (
        AlphaGuess(given_alpha, "given")
        if given_alpha is not None
        else guess_alpha(backend.evidence(), n_components)
    )
    omega = drift_vector(guess.alpha, n_components)
    problem = backend.problem(None if guess.fitted else omega)
    progress = Progress("Finsler SMACOF", given["verbose"])
    stop = StopRule.of(given, began, exact=backend.total * (4 * np.finfo(float).eps) ** 2)
    run_from = partial(
        _minimize, omega=omega, unclear=guess.source in ("one_way", "unclear"), progress=progress,
        accelerate=given["accelerate"], stop=stop,
    )  # fmt: skip
    search = Search(backend, problem, start, omega, stop, given)
    run_all = run_side_by_side if backend.runs_in_parallel and len(search.kinds) > 1 else run_in_turn
    enough = stop.exact if search.auto else -np.inf
    runs = run_all(run_from, problem, search.starts(), given["callback"], enough)
    best = min(runs, key=lambda run: run.stress)
    ended = search.ended(runs, best)
    facts = search.tally(runs, best)
    omega, geodesic, choice, n_passes = best.omega, False, None, facts.pop("n_passes")
    if swirl:
        fitted = fit_swirl(
            backend, replace(best, status=ended.status), swirl,
            fixed_drift=None if given_alpha is None else drift_vector(given_alpha, n_components),
            starts=(search.made(kind) for kind in search.swirl_kinds()),
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
        seconds=time.perf_counter() - began, alpha_source=guess.source, **facts,
    )  # fmt: skip


def refitted(
    data: Dissimilarities, X: Array, omega: Array, *, fitted: bool, unclear: bool = False, tol: float = 1e-5
) -> tuple[Array, Array, float]:
    """Map and drift of least stress, from a map and a drift nearby: what resampled data change in them.

    Parameters
    ----------
    data : Dissimilarities
        From row to column.
    X, omega : ndarray of shape (n, m) and (m,)
        Map and drift to start from.
    fitted : bool
        Whether the drift is fitted.
    unclear : bool
        Whether the data hardly determine it.
    tol : float
        As in :class:`~finsler.estimators.mds.FinslerMDS`.

    Returns
    -------
    X, omega : ndarray
        Not turned upright.
    stress : float
        Of this map.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C: half a refit is none.
    """
    backend = MemoryBackend(data, 1)
    problem = backend.problem(None if fitted else omega)
    stop = StopRule(DEFAULTS["max_iter"], tol, exact=backend.total * (4 * np.finfo(float).eps) ** 2)
    run = _minimize(problem, Start(X - X.mean(axis=0)), omega=omega, unclear=unclear, stop=stop)
    if run.status == "interrupted":
        raise KeyboardInterrupt
    return run.coordinates, run.omega, run.stress


def _minimize_swirl(
    run_from: Any, callback: Any, rounding: float, problem: Problem, X0: Array, omega: Array
) -> Run:
    """Run from one start of a map whose drift turns; its stress is a difference of sums, with their ``rounding``."""
    stop = run_from.keywords["stop"]
    stop = replace(stop, exact=max(stop.exact, rounding))
    run: Run = run_from(problem, Start(X0), omega=omega, unclear=False, callback=callback, stop=stop)
    return run


def _minimize(
    problem: Problem, start: Start, *, omega: Array, unclear: bool, stop: StopRule, **options: Any
) -> Run:
    """Run the loop from one start. A drift that the data hardly determine is fitted for a while, then held."""
    if not unclear:
        return _settle(problem, start, omega, stop, **options)
    fitting = len(start.past) + UNCLEAR_ITERATIONS
    short = replace(stop, max_iter=min(stop.max_iter, fitting))
    first = _settle(problem, start, omega, short, **options)
    if first.status != "max_iter" or stop.max_iter <= fitting:
        return first
    held = copy.copy(problem)
    held.fixed_drift = first.omega
    rest = replace(stop, max_iter=stop.max_iter - first.n_iter)
    return _joined(first, _settle(held, Start(first.coordinates), first.omega, rest, **options))


def _settle(problem: Problem, start: Start, omega: Array, stop: StopRule, **options: Any) -> Run:
    """Run the loop; where it ends with points on one spot that the data hold apart, part them and run on."""
    run = majorize(problem, start.coordinates, omega, stop, past=start.past, **options)
    if not isinstance(problem, UniformProblem | WeightedProblem):
        return run
    for _ in range(PARTINGS):
        if run.status != "converged" or run.stress <= stop.exact or run.n_iter >= stop.max_iter:
            return run
        X, n_passes = parted(problem, run.coordinates, run.omega, run.stress)
        run = replace(run, n_passes=run.n_passes + n_passes)
        if X is None:
            return run
        rest = replace(stop, max_iter=stop.max_iter - run.n_iter)
        run = _joined(run, majorize(problem, X, run.omega, rest, **options))
    return run


def _joined(first: Run, second: Run) -> Run:
    """Two runs, the second from where the first ended, as one."""
    return replace(
        second,
        history=first.history + second.history[1:],
        n_iter=first.n_iter + second.n_iter,
        n_passes=first.n_passes + second.n_passes,
    )


def given_start(init: ArrayLike, n: int, m: int, length: float) -> Array:
    """Start that was given as an array, checked; ``length`` is that of the data, whatever their weights."""
    X = np.array(init, dtype=float)
    if X.shape != (n, m):
        raise InputError(
            f"init must have a row per point, a column per dimension, {(n, m)}; got {X.shape}.",
            argument="init",
        )
    if not np.isfinite(X).all():
        row = int(np.argmax(~np.isfinite(X).all(axis=1)))
        raise InputError(f"init is not finite in row {row}.", argument="init")
    size = np.abs(X).max()
    if size > 0 and length > 0 and not 1e-6 < length / size < 1e6:  # squares would lose all digits
        X = X / size * length
    return X - X.mean(axis=0)
