"""Where the sparse solver starts: a map of the pivots, then one of some nodes among them, then all nodes.

The pivots are few, so that their map costs next to nothing; it is found by the dense solver, alpha with it.
A few thousand random nodes then put the pivots where the whole graph wants them. Every node at last is placed by its
distances to the pivots.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from finsler._memory import require_memory
from finsler._runtime import Progress, map_blocks
from finsler.data.matrix import Dissimilarities
from finsler.graphs.paths import shortest_paths
from finsler.graphs.pivots import PivotDistances, Relayed, blocks, relayed_pairs
from finsler.kernels import sparse as kernels
from finsler.kernels.paths import minplus
from finsler.solvers.drift import frame_of
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.smacof import smacof
from finsler.solvers.solution import Solution
from finsler.solvers.sparse.checkpoint import State
from finsler.solvers.sparse.problem import ERROR, ArcPairs, SparseProblem
from finsler.solvers.start import ONE_WAY_ALPHA

Array = NDArray[Any]

SAMPLE = 4000  # nodes of the coarse map, at least 20 a pivot
FILLED = 0.05  # weight, in the map of the pivots, of pairs that no path joins
RIDGE = 1e-3  # of the first guess: directions in which the pivots hardly differ are not trusted
ROUNDS = 12  # of the coarse map, each of `EPOCH` iterations
EPOCH = 10
LOST = 0.5  # share of pairs without a path from which on the start follows arcs whichever way they point
SEEN = 0.05  # share of the pivots that a node must see to be placed by them alone, then
STARTS = 400  # points that the maps of the pivots have together: more starts where there are few pivots, at least 4
PARTNERS = 64  # random partners of each node
MANY = 10_000  # nodes beyond which they would cost more than they are worth


def pivot_map(
    data: PivotDistances, m: int, alpha: float | str, power: int, seed: int, either_way: Array | None = None,
    init: str = "classical",
) -> Solution:  # fmt: skip
    """Map of the pivots by the dense solver; pairs without a path are guessed and weigh little.

    ``either_way`` (h, h), if given, holds distances along arcs whichever way they point.
    """
    D = data.between()
    both = np.where(np.isfinite(D) & np.isfinite(D.T), (D + D.T) / 2, np.minimum(D, D.T))
    mass = np.maximum(data.mass_ahead, data.mass_behind) + 1
    with np.errstate(divide="ignore"):
        W = np.sqrt(np.outer(mass, mass)) * (D ** -float(power) if power else 1.0)
    W[~np.isfinite(W)] = 0.0
    known = np.isfinite(D) & (W > 0)
    one_way = alpha == "auto" and not np.triu(known & known.T, 1).any()
    if known.sum() != D.size - len(D):
        guess = _completed(both, data) if either_way is None else _finite(np.minimum(both, either_way))
        W = np.where(known, W, FILLED * (W[known].mean() if known.any() else 1.0))
        D = np.where(np.isfinite(D), D, guess)
    np.fill_diagonal(W, 0.0)
    np.fill_diagonal(D, 0.0)
    if one_way:  # what was filled in looks symmetric, but no pair that is known tells so
        alpha = ONE_WAY_ALPHA
    solution = smacof(
        Dissimilarities(D, W), m, alpha, init=init, n_init=max(4, STARTS // data.n_pivots), max_iter=200, tol=1e-5,
        random_state=seed, n_jobs=1, verbose=False,
    )  # fmt: skip
    return replace(solution, alpha_source="one_way") if one_way else solution


def _completed(S: Array, data: PivotDistances) -> Array:
    """Distances between pivots that no path joins: by way of a node tied to both, and so on."""
    some = np.linspace(0, data.n_nodes - 1, min(data.n_nodes, SAMPLE)).astype(int)
    ties = np.minimum(data.out_of[some].astype(float), data.into[some])
    ties[ties >= data.far] = np.inf
    met = np.empty(S.shape)
    minplus(np.ascontiguousarray(ties.T), ties, met)
    S = np.minimum(S, met)
    np.fill_diagonal(S, 0.0)
    for _ in range((len(S) - 1).bit_length()):  # each time over twice as many steps
        minplus(S, S.copy(), met)
        S, met = met, S
    return _finite(S)


def _finite(S: Array) -> Array:
    """Put twice the largest distance where there is none."""
    known = np.isfinite(S)
    return np.where(known, S, 2 * S[known].max(initial=0.0) or 1.0)


def paths_either_way(data: PivotDistances, arcs: ArcPairs, n_jobs: int | None) -> Array:
    """Distances (N, h) from the pivots along arcs whichever way they point."""
    n = data.n_nodes
    need = f"Distances between {n:,} nodes and {data.n_pivots} pivots"
    require_memory(4.0 * data.n_pivots * n, need, "Use fewer pivots.")
    ways = (arcs.leaving, arcs.entering)
    tails = np.concatenate([np.repeat(np.arange(n), np.diff(indptr)) for indptr, _, _ in ways])
    heads, lengths = (np.concatenate([way[k] for way in ways]) for k in (1, 2))
    both = coo_array((lengths, (tails, heads)), shape=(n, n))  # of parallel arcs the shortest counts
    return shortest_paths(both, data.pivots, dtype=np.float32, n_jobs=n_jobs, verbose=False).T


def place_by_pivots(
    data: PivotDistances, P: Array, rng: np.random.RandomState, arcs: ArcPairs | None = None,
    n_jobs: int | None = None, either_way: Array | None = None,
) -> Array:  # fmt: skip
    """Coordinates of all nodes from their distances to the pivots, which are at ``P`` (h, m).

    Nodes that see few pivots are placed by their distances ``either_way`` (N, h) instead, if given, or by their neighbors.
    """
    n, m = data.n_nodes, P.shape[1]
    X, known = np.empty((n, m)), np.empty(n, np.int32)
    PT = np.ascontiguousarray(P.T)
    mass = data.mass_ahead + data.mass_behind + 1.0
    soft = data.radius**2 + 1e-6 * float((P**2).sum(axis=1).mean())

    def place(out_of: Array, into: Array, far: float, X: Array, known: Array) -> None:
        def task(_: int, start: int, stop: int) -> None:
            kernels.trilaterate_block(out_of, into, far, mass, soft, PT, RIDGE, start, stop, X, known)

        map_blocks(task, blocks(len(X)), n_jobs)

    place(data.out_of, data.into, data.far, X, known)
    if either_way is not None:
        few = np.flatnonzero(known <= SEEN * data.n_pivots)
        far = float(np.finfo(np.float32).max)
        rows, places, seen = np.minimum(either_way[few], far), np.empty((len(few), m)), known[few]
        place(rows, rows, far, places, seen)
        X[few], known[few] = places, seen
    if arcs is not None:
        _from_neighbors(X, known == 0, arcs)
    # Nodes that few pivots see sit on top of them, where no direction is any better than another.
    loose = np.flatnonzero(known <= m)
    if len(loose):
        region, mean = data.region[loose], data.radius.mean()
        size = np.maximum(np.where(region >= 0, data.radius[np.maximum(region, 0)], mean), mean)
        X[loose] += 0.3 * size[:, None] * rng.standard_normal((len(loose), m))
    X[data.pivots] = P
    return X


def _from_neighbors(X: Array, lost: Array, arcs: ArcPairs) -> None:
    """Put nodes that no pivot sees at the mean of their neighbors, from the nearest ones outwards."""
    for _ in range(64):
        if not lost.any():
            return
        total, count = np.zeros_like(X), np.zeros(len(X))
        for indptr, indices, _lengths in (arcs.leaving, arcs.entering):
            tail = np.repeat(np.arange(len(X)), np.diff(indptr))
            use = lost[tail] & ~lost[indices]
            np.add.at(count, tail[use], 1)
            np.add.at(total, tail[use], X[indices[use]])
        found = count > 0
        if not found.any():
            return
        X[found] = total[found] / count[found, None]
        lost &= ~found


def partners(
    data: PivotDistances, power: int, rng: np.random.RandomState, n_jobs: int | None
) -> Relayed | None:
    """Random partners of the nodes, if there are not too many nodes and the guesses are good.

    Weights that fall with the distance ask for good short distances, and guesses are best for long ones.
    """
    if data.n_nodes > MANY or data.n_pivots == data.n_nodes or power > 0:
        return None
    found = relayed_pairs(data, PARTNERS, rng, n_jobs)
    return found if found.error < ERROR else None


def subset(data: PivotDistances, nodes: Array) -> PivotDistances:
    """Distances of some nodes only; the pivots must be the first of them."""
    return replace(
        data,
        pivots=np.arange(data.n_pivots),
        out_of=np.ascontiguousarray(data.out_of[nodes]),
        into=np.ascontiguousarray(data.into[nodes]),
        region=data.region[nodes],
    )


def coarse_to_fine(
    whole: SparseProblem, m: int, alpha: float | str, *, init: str, rng: np.random.RandomState, deadline: float,
    progress: Progress,
) -> State:  # fmt: skip
    """Start of the sparse solver for all nodes; Ctrl-C goes on to the caller, for there is no map yet."""
    data, arcs, power, n_jobs = whole.data, whole.arcs, whole.power, whole.n_jobs
    progress.update("map of the pivots")
    weak: Array | None = None
    if arcs is not None and data.n_unreachable > LOST * 2 * data.out_of.size:
        weak = paths_either_way(data, arcs, n_jobs)
    first = pivot_map(
        data, m, alpha, power, int(rng.randint(2**31 - 1)), None if weak is None else weak[data.pivots], init
    )
    if first.status == "interrupted":
        raise KeyboardInterrupt
    omega, P = first.drift, first.coordinates
    others = np.setdiff1d(np.arange(data.n_nodes), data.pivots)
    count = min(len(others), max(SAMPLE, 20 * data.n_pivots))
    nodes = np.concatenate([data.pivots, np.sort(rng.choice(others, count, replace=False))])
    part = subset(data, nodes)
    X = place_by_pivots(part, P, rng, n_jobs=n_jobs, either_way=None if weak is None else weak[nodes])
    relayed = partners(part, power, rng, n_jobs)
    problem = SparseProblem(
        part, power=power, bound=whole.bound, theta=1.0, fine=True, relayed=relayed, n_jobs=n_jobs
    )
    fitted = first.alpha_source != "given" and first.alpha > 0
    rule = StopRule(EPOCH, 1e-5, deadline=deadline, unit=problem.unit)
    n_passes = 0
    last = np.inf
    for k in range(ROUNDS):
        progress.update(f"coarse map, round {k + 1}")
        run = majorize(problem, X, omega, rule)
        if run.status == "interrupted":
            raise KeyboardInterrupt
        X = run.coordinates
        n_passes += run.n_passes
        if fitted:
            omega = problem.fit_drift(X, omega)
            Q = frame_of(omega)
            X, omega = X @ Q, omega @ Q
        if run.status in ("converged", "time_limit") or run.stress > (1 - 1e-3 * problem.unit) * last:
            break
        last = run.stress
    progress.update("placing all nodes")
    P = X[: data.n_pivots]
    X = place_by_pivots(data, P, rng, arcs, n_jobs, weak)
    X[nodes] = run.coordinates if not fitted else run.coordinates @ Q
    return State(X, omega, [], n_passes, first.alpha_source)
