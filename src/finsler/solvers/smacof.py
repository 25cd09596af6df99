"""Finsler SMACOF: maps by majorization, for any weights, with a given or a fitted drift."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from sklearn.utils import check_random_state

from finsler._runtime import Progress, single_blas_thread
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, InputTypeError
from finsler.geometry.randers import drift_vector
from finsler.geometry.stress import raw_stress
from finsler.solvers.backends.memory import Backend, Evidence, MemoryBackend
from finsler.solvers.classical import closed_form
from finsler.solvers.drift import ALPHA_MAX, flatness, frame_of
from finsler.solvers.majorize import Callback, Run, majorize
from finsler.solvers.problem import Problem
from finsler.solvers.restarts import run_side_by_side
from finsler.solvers.solution import Solution

Array = NDArray[np.floating[Any]]

# alpha counts as determined by the data if the stress of the closed form is more than this share above its least
# value at an alpha halfway to 1.
CLEAR_RISE = 0.1
ONE_WAY_ALPHA = 0.3  # where the fit starts when no pair is known both ways
ONE_WAY_NOTE = "The drift rests on pairs known one way only."
EARLY = ("interrupted", "stopped", "time_limit")  # ways to end that leave no time for another start
# Up to this many points a fitted drift is also tried from the start "isomap", which knows no alpha: it costs little, and now
# and then the closed form leads into a worse valley than the map without a drift.
SECOND_START = 500
UNCLEAR_ITERATIONS = 100  # iterations that fit an alpha which the data hardly determine: a long, flat valley


def smacof(
    data: Dissimilarities | Backend,
    n_components: int = 2,
    alpha: float | str = 0.5,
    *,
    init: str | ArrayLike = "classical",
    n_init: int = 1,
    max_iter: int = 500,
    tol: float = 1e-7,
    accelerate: bool = True,
    random_state: Any = None,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    time_limit: float | None = None,
    verbose: bool | int | str = "auto",
) -> Solution:
    """Minimize the Finsler stress.

    Parameters
    ----------
    data : Dissimilarities or Backend
        From row to column, with weights if any; or a backend of data that are not in memory.
    n_components : int
        Dimension of the map, at least 1.
    alpha : float in [0, 1) or "auto"
        Drift, or "auto" to fit it to the data.
    init : {"classical", "isomap", "random"} or array-like of shape (n, n_components)
        Start: the closed form, classical scaling of the symmetric part, random points, or given ones.
    n_init : int
        Number of starts; those after the first are random. The best is kept. A drift that is fitted to few points is
        tried from both "classical" and "isomap" where the first is asked for.
    max_iter : int
        Iterations per start.
    tol : float
        A run has converged when the next step is sure to lower the stress by less than this share of it.
    accelerate : bool
        Use Anderson acceleration (never uphill) or plain majorization.
    random_state : int, RandomState instance or None
        Seed of random starts.
    n_jobs : int, optional
        Threads; all cores by default. The numbers do not depend on it.
    callback : callable, optional
        Called with an :class:`~finsler.solvers.solution.Iteration` after each iteration; returning True stops the run.
    time_limit : float, optional
        Seconds after which the best map so far is returned.
    verbose : bool, int or "auto"
        Progress line: "auto" shows one on a terminal after two seconds.

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
    check_options(n_components, n_init, max_iter, tol, time_limit)
    backend = data if isinstance(data, Backend) else MemoryBackend(data, n_jobs)
    rng = check_random_state(random_state)
    total = backend.total
    given = given_start(init, backend.n_points, n_components, total)

    clear: bool | None = None
    note = ""
    if alpha == "auto":
        start_alpha, clear, note = _choose_alpha(backend.evidence(), n_components)
    else:
        start_alpha = number(alpha)
    omega = drift_vector(start_alpha, n_components)
    fitted = clear is not None and start_alpha > 0
    problem = backend.problem(None if fitted else omega)

    kinds = [init if isinstance(init, str) else "given"] + ["random"] * (n_init - 1)
    if fitted and kinds[0] == "classical" and backend.n_points <= SECOND_START:
        kinds.insert(1, "isomap")

    def starts() -> Iterator[Array]:
        for kind in kinds:
            if kind == "classical":
                X0 = backend.classical(n_components, start_alpha)
            elif kind == "isomap":
                X0 = backend.isomap(n_components)
            elif given is not None and kind == "given":
                X0 = given
            else:
                X0 = backend.random(n_components, rng)
            yield _leave_subspace(X0, problem, omega, total, rng)

    progress = Progress("Finsler SMACOF", verbose)
    run_from = partial(
        _minimize, omega=omega, clear=clear, max_iter=max_iter, tol=tol,
        exact=total * (4 * np.finfo(float).eps) ** 2, accelerate=accelerate,
        deadline=np.inf if time_limit is None else began + time_limit, progress=progress,
    )  # fmt: skip
    if backend.runs_in_parallel and len(kinds) > 1:
        runs = run_side_by_side(run_from, problem, list(starts()), callback)
    else:
        runs = _run_in_turn(run_from, problem, starts(), callback)
    best = min(runs, key=lambda run: run.stress)
    ended = next((run for run in runs if run.status in EARLY), best)
    best = replace(best, status=ended.status, message=ended.message) if ended is not best else best
    progress.close(best.message)

    X = (best.coordinates - best.coordinates.mean(axis=0)) @ frame_of(best.omega)
    drift = drift_vector(float(np.linalg.norm(best.omega)), n_components)
    value = backend.stress(X, drift)
    return Solution(
        coordinates=X,
        drift=drift,
        stress=value,
        history=np.array(best.history),
        n_iter=best.n_iter,
        n_passes=sum(run.n_passes for run in runs),
        status=best.status,
        message=best.message,
        seconds=time.perf_counter() - began,
        alpha_identifiable=clear,
        note=note,
    )


def _run_in_turn(
    run_from: Callable[..., Run], problem: Problem, starts: Iterator[Array], callback: Callback | None
) -> list[Run]:
    """Run from one start after the other, until one ends early."""
    runs: list[Run] = []
    for X0 in starts:
        runs.append(run_from(problem, X0, callback=callback))
        if runs[-1].status in EARLY:
            break
    return runs


def _minimize(
    problem: Problem, X0: Array, omega: Array, clear: bool | None, *, max_iter: int, **options: Any
) -> Run:
    """Run the loop from one start. A drift that the data hardly determine is fitted for a while, then held."""
    if clear is not False:
        return majorize(problem, X0, omega, max_iter=max_iter, **options)
    first = majorize(problem, X0, omega, max_iter=min(max_iter, UNCLEAR_ITERATIONS), **options)
    if first.status != "max_iter" or max_iter <= UNCLEAR_ITERATIONS:
        return first
    held = copy.copy(problem)
    held.fixed_drift = first.omega
    second = majorize(held, first.coordinates, first.omega, max_iter=max_iter - first.n_iter, **options)
    return replace(
        second,
        history=first.history + second.history[1:],
        n_iter=first.n_iter + second.n_iter,
        n_passes=first.n_passes + second.n_passes,
    )


def _choose_alpha(evidence: Evidence, n_components: int) -> tuple[float, bool, str]:
    """Alpha to start from, whether the data determine it, and a note if they do not.

    The stress of the closed form as a function of alpha costs little. Where it does not rise towards 1, as for a sheet
    that lies in a hyperplane and may be tilted at will, the smallest value that fits about as well as the best is taken.
    """
    if evidence.h @ evidence.h <= 1e-24 * evidence.square / len(evidence.h):
        if not evidence.one_way:
            why = (
                "The data are symmetric"
                if evidence.symmetric
                else "The asymmetry runs in circles, which no heights show"
            )
            return 0.0, True, f"{why}, so alpha is 0."
        # No pair known both ways tells of asymmetry, but pairs known one way still pull at the drift.
        return ONE_WAY_ALPHA, False, ONE_WAY_NOTE
    S, h, D = evidence.sample_S, evidence.sample_h, evidence.sample_D

    def profile(alpha: float) -> float:
        return raw_stress(closed_form(S, h, n_components, alpha, 1), D, drift=alpha, n_jobs=1)

    grid = np.concatenate([[1e-4], np.linspace(0.02, 0.98, 13), [ALPHA_MAX]])
    with single_blas_thread():  # threads only get in the way of matrices this small
        values = [profile(a) for a in grid]
        k = int(np.argmin(values))
        bounds = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
        found = minimize_scalar(profile, bounds=bounds, method="bounded", options={"xatol": 1e-8})
        alpha, least = (
            (float(found.x), float(found.fun)) if found.fun <= values[k] else (float(grid[k]), values[k])
        )
        enough = (1 + CLEAR_RISE) * least + 1e-20 * float(np.vdot(D, D))
        if profile((1 + alpha) / 2) > enough:
            return alpha, True, ""
        low, smallest = 0.0, alpha
        while smallest - low > 1e-3:
            middle = (low + smallest) / 2
            low, smallest = (low, middle) if profile(middle) <= enough else (middle, smallest)
    return smallest, False, (
        f"The data hardly determine alpha: values from about {smallest:.2g} up to 1 fit about equally well, as is so "
        f"when the points hardly use all {n_components} dimensions. Give alpha to choose another."
    )  # fmt: skip


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


def given_start(init: str | ArrayLike, n: int, m: int, total: float) -> Array | None:
    """Start that was given as an array, checked; None if a start is named."""
    if isinstance(init, str):
        if init not in ("classical", "isomap", "random"):
            raise InputError(f"init must be 'classical', 'isomap', 'random' or an array, got {init!r}.")
        return None
    X = np.array(init, dtype=float)
    if X.shape != (n, m):
        raise InputError(
            f"init must have one row per point and one column per dimension, ({n}, {m}); got {X.shape}."
        )
    if not np.isfinite(X).all():
        raise InputError(f"init is not finite in row {int(np.argmax(~np.isfinite(X).all(axis=1)))}.")
    X -= X.mean(axis=0)
    size, expected = np.abs(X).max(), np.sqrt(total) / n
    if size > 0 and not 1e-6 < expected / size < 1e6:  # so far off that squares would lose all digits
        X *= expected / size
    return X


def number(alpha: Any) -> float:
    """Drift that was given as a number, checked."""
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < 1:
        raise InputError(f"alpha must be a number in [0, 1) or 'auto', got {alpha!r}.")
    return float(alpha)


def check_options(n_components: Any, n_init: Any, max_iter: Any, tol: Any, time_limit: Any) -> None:
    """Refuse options that have no meaning."""
    for name, value, least in (
        ("n_components", n_components, 1),
        ("n_init", n_init, 1),
        ("max_iter", max_iter, 0),
    ):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise InputTypeError(f"{name} must be a whole number, got {value!r}.")
        if value < least:
            raise InputError(f"{name} must be at least {least}, got {value}.")
    if not isinstance(tol, Real) or not float(tol) >= 0:
        raise InputError(f"tol must be a number that is not negative, got {tol!r}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise InputError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
