"""Finsler SMACOF: maps by majorisation, for any weights, with a given or a fitted drift."""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import minimize_scalar
from sklearn.utils import check_random_state

from finsler.geometry.randers import drift_vector
from finsler.geometry.stress import stress as full_stress
from finsler.geometry.stress import total_square
from finsler.inputs.dissimilarities import Dissimilarities
from finsler.runtime import Progress, single_blas_thread
from finsler.solvers.classical import closed_form
from finsler.solvers.drift import ALPHA_MAX, flatness, frame_of
from finsler.solvers.initial import Initialiser
from finsler.solvers.majorise import Callback, Run, majorise
from finsler.solvers.parts import split
from finsler.solvers.problem import Problem, UniformProblem, WeightedProblem
from finsler.solvers.solution import Solution

Array = NDArray[np.floating[Any]]

# alpha counts as determined by the data if the stress of the closed form is more than this share above its least
# value at an alpha halfway to 1.
CLEAR_RISE = 0.1
PROFILE_POINTS = 250  # points on which that is judged
ONE_WAY_ALPHA = 0.3  # where the fit starts when no pair is known both ways
UNCLEAR_ITERATIONS = 100  # iterations that fit an alpha which the data hardly determine: a long, flat valley


def smacof(
    data: Dissimilarities,
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
    """Minimise the Finsler stress.

    Parameters
    ----------
    data : Dissimilarities
        From row to column, with weights if any.
    n_components : int
        Dimension of the map, at least 1.
    alpha : float in [0, 1) or "auto"
        Drift, or "auto" to fit it to the data.
    init : {"classical", "isomap", "random"} or array-like of shape (n, n_components)
        Start: the closed form, classical scaling of the symmetric part, random points, or given ones.
    n_init : int
        Number of starts; those after the first are random. The best is kept.
    max_iter : int
        Iterations per start.
    tol : float
        A run has converged when the next step is sure to lower the stress by less than this share of it.
    accelerate : bool
        Use Anderson acceleration (never uphill) or plain majorisation.
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
    >>> from finsler.inputs.dissimilarities import as_dissimilarities
    >>> D = randers_distances(np.random.default_rng(0).normal(size=(20, 2)), drift=0.4)
    >>> solution = smacof(as_dissimilarities(D), alpha="auto")
    >>> solution.status, round(solution.alpha, 6)
    ('converged', 0.4)
    """
    began = time.perf_counter()
    check_options(n_components, n_init, max_iter, tol, time_limit)
    data.require_connected()
    rng = check_random_state(random_state)
    parts = split(data.matrix, n_jobs) if data.weights is None else None
    starts = Initialiser(data, n_components, parts, n_jobs)
    total = total_square(data.matrix, data.weights) if parts is None else parts.total
    given = given_start(init, data.n_points, n_components, total)

    clear: bool | None = None
    note = ""
    if alpha == "auto":
        start_alpha, clear, note = _choose_alpha(data, starts)
    else:
        start_alpha = number(alpha)
    omega = drift_vector(start_alpha, n_components)
    fitted = clear is not None and start_alpha > 0
    fixed_drift = None if fitted else omega
    problem: Problem
    if parts is not None:
        problem = UniformProblem(parts, fixed_drift, n_jobs)
    else:
        problem = WeightedProblem(data, fixed_drift, n_jobs)

    progress = Progress("Finsler SMACOF", verbose)
    deadline = np.inf if time_limit is None else began + time_limit
    best: Run | None = None
    n_passes = 0
    for k in range(n_init):
        if given is not None and k == 0:
            X0 = given
        elif k == 0 and isinstance(init, str) and init == "classical":
            X0 = starts.classical(start_alpha)
        elif k == 0 and isinstance(init, str) and init == "isomap":
            X0 = starts.isomap()
        else:
            X0 = starts.random(rng)
        X0 = _leave_subspace(X0, problem, omega, total, rng)
        run = _minimise(
            problem, X0, omega, clear, max_iter=max_iter, tol=tol, exact=total * (4 * np.finfo(float).eps) ** 2,
            accelerate=accelerate, deadline=deadline, callback=callback, progress=progress,
        )  # fmt: skip
        n_passes += run.n_passes
        if best is None or run.stress < best.stress:
            best = run
        if run.status in ("interrupted", "stopped", "time_limit"):
            if run is not best:
                best = replace(best, status=run.status, message=run.message)
            break
    assert best is not None
    progress.close(best.message)

    X = (best.coordinates - best.coordinates.mean(axis=0)) @ frame_of(best.omega)
    drift = drift_vector(float(np.linalg.norm(best.omega)), n_components)
    value = full_stress(X, data.matrix, data.weights, drift=drift, n_jobs=n_jobs)
    return Solution(
        coordinates=X,
        drift=drift,
        stress=value,
        history=np.array(best.history),
        n_iter=best.n_iter,
        n_passes=n_passes,
        status=best.status,
        message=best.message,
        seconds=time.perf_counter() - began,
        alpha_identifiable=clear,
        note=note,
    )


def _minimise(
    problem: Problem, X0: Array, omega: Array, clear: bool | None, *, max_iter: int, **options: Any
) -> Run:
    """Run the loop from one start. A drift that the data hardly determine is fitted for a while, then held."""
    if clear is not False:
        return majorise(problem, X0, omega, max_iter=max_iter, **options)
    first = majorise(problem, X0, omega, max_iter=min(max_iter, UNCLEAR_ITERATIONS), **options)
    if first.status != "max_iter" or max_iter <= UNCLEAR_ITERATIONS:
        return first
    held = copy.copy(problem)
    held.fixed_drift = first.omega
    second = majorise(held, first.coordinates, first.omega, max_iter=max_iter - first.n_iter, **options)
    return replace(
        second,
        history=first.history + second.history[1:],
        n_iter=first.n_iter + second.n_iter,
        n_passes=first.n_passes + second.n_passes,
    )


def _choose_alpha(data: Dissimilarities, starts: Initialiser) -> tuple[float, bool, str]:
    """Alpha to start from, whether the data determine it, and a note if they do not.

    The stress of the closed form as a function of alpha costs little. Where it does not rise towards 1, as for a sheet
    that lies in a hyperplane and may be tilted at will, the smallest value that fits about as well as the best is taken.
    """
    S, h = starts.parts
    n = data.n_points
    square = float(np.einsum("ij,ij->", S, S, dtype=float))  # of float32 data, too
    if h @ h <= 1e-24 * square / n:
        W = data.weights
        if W is None or not ((W > 0) & (W.T == 0)).any():
            symmetric = starts.skew_residual is None or starts.skew_residual <= 1e-20 * square
            why = (
                "The data are symmetric"
                if symmetric
                else "The asymmetry runs in circles, which no heights show"
            )
            return 0.0, True, f"{why}, so alpha is 0."
        # No pair known both ways tells of asymmetry, but pairs known one way still pull at the drift.
        return ONE_WAY_ALPHA, False, "The drift rests on pairs known one way only."
    sample = np.sort(np.random.default_rng(0).permutation(n)[:PROFILE_POINTS])
    S, h = S[np.ix_(sample, sample)], h[sample] - h[sample].mean()
    D = S + (h[None, :] - h[:, None])
    if data.weights is None:
        D = data.matrix[np.ix_(sample, sample)].astype(float)

    def profile(alpha: float) -> float:
        return full_stress(closed_form(S, h, starts.n_components, alpha, 1), D, drift=alpha, n_jobs=1)

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
        f"when the points hardly use all {starts.n_components} dimensions. Give alpha to choose another."
    )  # fmt: skip


def _leave_subspace(
    X: Array, problem: Problem, omega: Array, total: float, rng: np.random.RandomState
) -> Array:
    """Nudge a start that lies in a hyperplane, unless it fits the data already: majorisation would never leave it."""
    if len(X) <= X.shape[1] or total == 0 or flatness(X) > 1e-6:
        return X
    if problem.evaluate(X, omega).stress <= 1e-12 * total:
        return X
    size = np.sqrt((X**2).mean()) or np.sqrt(total) / len(X)
    return X + 1e-3 * size * rng.standard_normal(X.shape)


def given_start(init: str | ArrayLike, n: int, m: int, total: float) -> Array | None:
    """Coordinates that the user gave to start from, checked; None if ``init`` is a word."""
    if isinstance(init, str):
        if init not in ("classical", "isomap", "random"):
            raise ValueError(f"init must be 'classical', 'isomap', 'random' or an array, got {init!r}.")
        return None
    X = np.array(init, dtype=float)
    if X.shape != (n, m):
        raise ValueError(
            f"init must have one row per point and one column per dimension, ({n}, {m}); got {X.shape}."
        )
    if not np.isfinite(X).all():
        raise ValueError(f"init is not finite in row {int(np.argmax(~np.isfinite(X).all(axis=1)))}.")
    X -= X.mean(axis=0)
    size, expected = np.abs(X).max(), np.sqrt(total) / n
    if size > 0 and not 1e-6 < expected / size < 1e6:  # so far off that squares would lose all digits
        X *= expected / size
    return X


def number(alpha: Any) -> float:
    """Check an alpha that is not "auto"."""
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < 1:
        raise ValueError(f"alpha must be a number in [0, 1) or 'auto', got {alpha!r}.")
    return float(alpha)


def check_options(n_components: Any, n_init: Any, max_iter: Any, tol: Any, time_limit: Any) -> None:
    """Raise ``ValueError`` or ``TypeError`` for options that make no sense."""
    for name, value, least in (
        ("n_components", n_components, 1),
        ("n_init", n_init, 1),
        ("max_iter", max_iter, 0),
    ):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise TypeError(f"{name} must be a whole number, got {value!r}.")
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}.")
    if not isinstance(tol, Real) or not float(tol) >= 0:
        raise ValueError(f"tol must be a number that is not negative, got {tol!r}.")
    if time_limit is not None and not (isinstance(time_limit, Real) and float(time_limit) > 0):
        raise ValueError(f"time_limit must be a positive number of seconds, got {time_limit!r}.")
