"""Sparse Finsler stress: maps of graphs too large for all pairs, or of pairs that come in chunks."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from finsler._runtime import Progress
from finsler.errors import InputError, InputTypeError
from finsler.geometry.randers import drift_vector
from finsler.graphs.distances import WEIGHTINGS
from finsler.graphs.pivots import PivotDistances
from finsler.solvers.drift import frame_of
from finsler.solvers.majorize import Callback, Run, majorize
from finsler.solvers.smacof import ONE_WAY_ALPHA, check_options, given_start, number
from finsler.solvers.solution import Solution
from finsler.solvers.sparse.checkpoint import Checkpoint, State
from finsler.solvers.sparse.problem import ArcPairs, PairProblem, SparseProblem, StreamedProblem
from finsler.solvers.sparse.start import EPOCH, SAMPLE, coarse_to_fine, partners
from finsler.solvers.sparse.stream import PairStream

Array = NDArray[Any]

MEMORY = 3  # earlier steps that the acceleration combines: they are as large as the map
PIVOT_TOL, STREAM_TOL = 3e-4, 1e-5
SETTLED = 1e-4  # the fitted drift has settled when it moves by less


def sparse_smacof(
    pairs: PivotDistances | PairStream,
    n_components: int = 2,
    alpha: float | str = "auto",
    *,
    arcs: ArcPairs | None = None,
    weighting: str = "uniform",
    bound: float = 0.0,
    init: str | ArrayLike = "pivots",
    max_iter: int = 200,
    tol: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callback | None = None,
    time_limit: float | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = 30.0,
    verbose: bool | int | str = "auto",
) -> Solution:
    """Minimize the Finsler stress over some of the pairs.

    Parameters
    ----------
    pairs : PivotDistances or PairStream
        Every node with some pivots, see :func:`~finsler.graphs.pivots.pivot_distances`; or any pairs in chunks.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Drift, or "auto" to fit it to the data.
    arcs : ArcPairs, optional
        Arcs of the graph, which count beside the pivots; only with `PivotDistances`.
    weighting : {"uniform", "inverse", "inverse-square"}
        Weight of a pair at distance d: 1, 1/d or 1/d^2. The pairs of a stream carry their own weights.
    bound : float
        Pairs of a node and a pivot without a path are left out (0), or kept at least so far apart.
    init : {"pivots", "random"} or array-like of shape (n, n_components)
        Start: a map of the pivots from which all nodes are placed, random points (the only choice of the two for
        a stream), or given ones.
    max_iter : int
        Iterations at most.
    tol : float, optional
        It has converged when the next step is sure to lower the stress by less than this share of it: by default 3e-4
        with pivots, which stand for the other pairs so roughly that a finer minimum is no better a map, and 1e-5 for a
        stream.
    random_state : int, RandomState instance or None
        Seed of the coarse map's nodes and of random starts.
    n_jobs : int, optional
        Threads; all cores by default. The numbers do not depend on it.
    callback : callable, optional
        Called with an :class:`~finsler.solvers.solution.Iteration` after each iteration; returning True stops the run.
    time_limit : float, optional
        Seconds after which the best map so far is returned.
    checkpoint : path-like, optional
        File that the run writes its state to and, where it exists, goes on from, to the same result as if it had never
        been stopped. Needs an integer `random_state`.
    checkpoint_seconds : float
        Time between two writes, at least.
    verbose : bool, int or "auto"
        Progress line.

    Returns
    -------
    Solution
        Its ``stress`` is the sum over the pairs, in which each pivot weighs as much as its region: an estimate of
        the stress over all pairs. ``total`` is the sum of squares that goes with it.

    Examples
    --------
    >>> from finsler.datasets.city import make_city
    >>> from finsler.graphs.digraph import as_digraph
    >>> from finsler.graphs.pivots import pivot_distances
    >>> city = as_digraph(make_city(400).graph)
    >>> solution = sparse_smacof(pivot_distances(city, 20), arcs=ArcPairs.of(city, hops=True))
    >>> solution.status, bool(solution.stress < 0.03 * solution.total)
    ('converged', True)
    """
    began = time.perf_counter()
    if not isinstance(pairs, PivotDistances | PairStream):
        raise InputTypeError(f"pairs must be PivotDistances or a PairStream, got {type(pairs).__name__}.")
    if tol is None:
        tol = STREAM_TOL if isinstance(pairs, PairStream) else PIVOT_TOL
    check_options(n_components, 1, max_iter, tol, time_limit)
    n = pairs.n_points if isinstance(pairs, PairStream) else pairs.n_nodes
    if n_components > n:
        raise InputError(f"n_components must be at most the number of points, {n}; got {n_components}.")
    if weighting not in WEIGHTINGS:
        raise InputError(f"weighting must be one of {', '.join(map(repr, WEIGHTINGS))}, got {weighting!r}.")
    if isinstance(init, str) and init not in ("pivots", "random"):
        raise InputError(f"init must be 'pivots', 'random' or an array, got {init!r}.")
    if not 0 <= bound < np.inf:
        raise InputError(f"bound must be a number that is not negative, got {bound!r}.")
    deadline = np.inf if time_limit is None else began + time_limit
    progress = Progress("sparse stress", verbose)
    fixed = None if alpha == "auto" else number(alpha)
    power = int(WEIGHTINGS[weighting])
    rng = check_random_state(random_state)
    if checkpoint is not None and not isinstance(random_state, int | np.integer):
        raise InputError(f"checkpoint needs an integer random_state, got {random_state!r}.")
    problem: PairProblem
    if isinstance(pairs, PairStream):
        if arcs is not None or bound or weighting != "uniform":
            raise InputError(
                "arcs, bound and weighting go with pivots: the pairs of a stream carry their own weights, and a negative "
                "distance is a bound."
            )
        problem = StreamedProblem(pairs, None)
        seen = {"n_points": pairs.n_points, "pairs": _first_look(problem, n_components)}
    elif pairs.n_pivots < 2 or not pairs.largest > 0:
        raise InputError(
            f"pairs has {pairs.n_nodes} nodes, {pairs.n_pivots} pivots and a largest distance of {pairs.largest:g}; a map "
            "takes at least 2 pivots, and distances above 0."
        )
    else:
        seen = _about_pivots(pairs, arcs)
    file = state = None
    if checkpoint is not None:
        given = init if isinstance(init, str) else float(np.asarray(init, dtype=float).sum())
        about = {
            "n_components": int(n_components),
            "alpha": "auto" if fixed is None else fixed,
            "weighting": weighting,
            "bound": float(bound),
            "init": given,
            "seed": int(random_state),
            **seen,
        }
        file = Checkpoint(checkpoint, about, checkpoint_seconds)
        state = file.load()
    if not isinstance(pairs, PairStream):
        relayed = partners(pairs, power, check_random_state(random_state), n_jobs)
        # The pivots of a large map stand where the coarse map has put them; in a small one they follow the arcs as well.
        hold = isinstance(init, str) and init == "pivots" and pairs.n_nodes > SAMPLE
        problem = SparseProblem(
            pairs, None, arcs, power=power, bound=bound, hold=hold, relayed=relayed, n_jobs=n_jobs
        )
    if state is None:
        state = _start(problem, n_components, fixed, init, rng, deadline, progress, n_jobs)
    state, run = _epochs(
        problem, state, fitted=fixed is None, max_iter=max_iter, tol=tol, deadline=deadline, callback=callback,
        progress=progress, file=file, began=began,
    )  # fmt: skip
    progress.close(run.message)
    X = (run.coordinates - run.coordinates.mean(axis=0)) @ frame_of(run.omega)
    drift = drift_vector(float(np.linalg.norm(run.omega)), n_components)
    final = problem.evaluate(X, drift)
    assert problem.per_point is not None
    return Solution(
        coordinates=X,
        drift=drift,
        stress=final.stress,
        history=np.array(state.history),
        n_iter=run.n_iter,
        n_passes=state.n_passes + 1,
        status=run.status,
        message=run.message,
        seconds=time.perf_counter() - began,
        alpha_identifiable=state.clear,
        note=state.note,
        total=problem.square,
        per_point=problem.per_point / (problem.per_point.sum() or 1.0),
    )


def _epochs(
    problem: PairProblem,
    state: State,
    *,
    fitted: bool,
    max_iter: int,
    tol: float,
    deadline: float,
    callback: Callback | None,
    progress: Progress,
    file: Checkpoint | None,
    began: float,
) -> tuple[State, Run]:
    """Run the loop a few iterations at a time.

    Between two epochs the acceleration forgets and a fitted drift is fitted anew, so that the coordinates and the drift
    are all that a run has to know to go on.
    """
    # A drift that the data hardly determine stays as the coarse map found it.
    fitted = fitted and state.clear is not False and bool(np.any(state.omega))
    while True:
        # The time limit may have cut the start short, from where another run would not come to the same map.
        if file is not None and time.perf_counter() < deadline:
            file.save(state)
        done = max(len(state.history) - 1, 0)
        run = majorize(
            problem, state.coordinates, state.omega, max_iter=min(max_iter, done - done % EPOCH + EPOCH),
            tol=tol, unit=problem.unit, exact=0.0, accelerate=True, deadline=deadline, callback=callback, progress=progress,
            memory=MEMORY, done=done, began=began,
        )  # fmt: skip
        history = state.history + run.history[1:] if state.history else run.history
        state = replace(state, history=history, n_passes=state.n_passes + run.n_passes)
        goes_on = run.status == "max_iter" and run.n_iter < max_iter
        if not goes_on and run.status != "converged":
            return state, run
        state.coordinates, state.omega = run.coordinates, run.omega
        if run.status == "converged" and (not fitted or run.n_iter >= max_iter):
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


def _start(
    problem: PairProblem,
    m: int,
    alpha: float | None,
    init: str | ArrayLike,
    rng: np.random.RandomState,
    deadline: float,
    progress: Progress,
    n_jobs: int | None,
) -> State:
    """State before the first iteration."""
    n = problem.n_points
    if isinstance(problem, SparseProblem) and isinstance(init, str) and init == "pivots":
        start = coarse_to_fine(
            problem.data, m, "auto" if alpha is None else alpha, problem.arcs, power=problem.power, bound=problem.bound,
            rng=rng, deadline=deadline, n_jobs=n_jobs, progress=progress,
        )  # fmt: skip
        return State(start.coordinates, start.omega, [], start.n_passes, start.clear, start.note)
    omega = drift_vector(ONE_WAY_ALPHA if alpha is None else alpha, m)
    if isinstance(init, str):
        cloud = rng.standard_normal((n, m))
        return State(cloud * _spread(problem, cloud, omega), omega, [], 3, None, "")
    problem.evaluate(np.zeros((n, m)), omega)  # tells the size of the data
    X = given_start(init, n, m, problem.square)
    assert X is not None, "init is no word here"
    return State(X, omega, [], 1, None, "")


def _spread(problem: PairProblem, X: Array, omega: Array) -> float:
    """Size at which random points are about as far apart as the data say, from the stress at three sizes."""
    # stress(c X) = a c^2 - 2 b c + total, whatever X; so two values give the best c.
    total = problem.evaluate(X * 0.0, omega).stress
    one = problem.evaluate(X, omega).stress
    two = problem.evaluate(2 * X, omega).stress
    a = (two - 2 * one + total) / 2
    b = (4 * one - two - 3 * total) / -4
    return float(b / a) if a > 0 and b > 0 else 1.0


def _first_look(problem: PairProblem, m: int) -> float:
    """Read a stream once, so that bad chunks show before the work; a number that tells it from other streams."""
    X = np.random.RandomState(0).standard_normal((problem.n_points, m))
    mark = problem.evaluate(X, np.zeros(m)).stress
    if not (np.isfinite(mark) and problem.square > 0):
        raise InputError(
            f"The sum of w D^2 over the pairs is {problem.square:g}; it takes some D above 0, of ordinary magnitudes."
        )
    return mark


def _about_pivots(pairs: PivotDistances, arcs: ArcPairs | None) -> dict[str, Any]:
    """What a checkpoint must agree with."""
    some = slice(None, None, max(1, pairs.n_nodes // 100_000))
    return {
        "n_points": pairs.n_nodes,
        "arcs": arcs is not None,
        "pivots": pairs.pivots.tolist(),
        "distances": float(pairs.out_of[some].sum(dtype=float) + 2 * pairs.into[some].sum(dtype=float)),
    }
