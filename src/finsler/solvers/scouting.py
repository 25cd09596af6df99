"""Where to start: quick descents from many random points, of which the best few are worth a run of the solver.

A map of few points has many local minima, and a descent takes a fraction of a millisecond. So a fixed budget of pair
evaluations is spent on finding a good one: a hundred descents for twenty points, two dozen for a hundred, none beyond some
three hundred. On a line, where no point can pass another one, the order is searched instead (`finsler.kernels.seriation`).

The random points go to the points of the data in an order that the data give, and climb where these do: data in another
order, unit or direction find the same maps.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks, single_blas_thread
from finsler.kernels.scouting import descend
from finsler.kernels.seriation import search_order
from finsler.solvers.backends import passes
from finsler.solvers.drift import ALPHA_MAX, frame_of
from finsler.solvers.problem import UniformProblem, WeightedProblem
from finsler.solvers.start import gaussian_points

Array = NDArray[np.floating[Any]]

BUDGET = 20_000_000  # pair evaluations of all descents together: some hundredths of a second
MOST, FEWEST = 100, 4  # descents at most, and how many are worth beginning with
PASSES, ROUGH = 150, 1e-5  # iterations of a descent at most, and its tolerance
TRIED, MORE_PASSES, FINE = 6, 450, 1e-8  # maps that the descent goes on from, how far, and how finely
KEPT = 3  # maps that are worth a run of the solver, or of a descent with a drift, at most
SAME = 1e-3  # maps whose stress differs by less than this share count as the same one
EVERY_ORDER = 7  # points on a line up to which all orders are tried
ROUNDS = 50  # times at most that every point is moved along a line
REVISIONS = 4  # searches for an order at most, where some pairs are bounds
BARELY = 1e-6  # share of its weight at which a bound that holds counts in such a search
SWEEPS = 6  # times that every point is moved along a line, about, until no move pays


@dataclass(frozen=True, eq=False)
class Found:
    """A map that descents ended at."""

    stress: float
    coordinates: Array
    omega: Array
    history: tuple[
        float, ...
    ] = ()  #: Stress at the start of the best of these descents, and after each iteration.
    count: int = 1  #: Descents that ended there.


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of a dense problem of few points, gathered from wherever they are.

    The points are in the order of their mean dissimilarities, whatever their order in the data.
    """

    order: NDArray[np.intp]  #: Of the data's points.
    uniform: bool  #: Whether all weights are 1; then D is the symmetric part, and the skew part is that of the heights.
    D: Array  #: Both directions, and their weights in units of the largest. Negative: at least so far.
    DT: Array
    W: Array
    WT: Array
    h: Array  #: Heights of the skew part, or how much farther it is to a point than from it.
    residual: float  #: What heights leave of the skew part.
    unit: float  #: Weight that counts as 1.

    @classmethod
    def of(cls, problem: UniformProblem | WeightedProblem) -> Pairs:
        """Gather the pairs of a problem."""
        n, panels = problem.n_points, problem.panels
        found = panels.each(passes.among, np.arange(n))
        parts = np.concatenate([part for _, part in found], axis=1).astype(float)
        if isinstance(problem, UniformProblem):
            S, none = parts[0] + parts[0].T, np.empty((0, 0))
            order = _ranks(S.mean(axis=1))
            S, h = np.ascontiguousarray(S[np.ix_(order, order)]), np.ascontiguousarray(problem.parts.h[order])
            return cls(order, True, S, none, none, none, h, problem.parts.skew_residual, panels.unit)
        D, W = parts[0] + parts[1].T, parts[2] + parts[3].T
        pull = W * np.abs(D)
        order = _ranks((pull + pull.T).sum(axis=1) / (W + W.T).sum(axis=1))
        D, W, pull = (np.ascontiguousarray(values[np.ix_(order, order)]) for values in (D, W, pull))
        DT, WT = np.ascontiguousarray(D.T), np.ascontiguousarray(W.T)
        h = pull.sum(axis=0) - pull.sum(axis=1)
        return cls(order, False, D, DT, W, WT, h, 0.0, panels.unit)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.D)

    def scale(self) -> float:
        """Quadratic mean of the dissimilarities that are known."""
        known = ~np.eye(self.n_points, dtype=bool) if self.uniform else self.W > 0
        return float(np.sqrt((self.D[known] ** 2).mean()))

    def on_a_line(self) -> tuple[Array, Array]:
        """Dissimilarities and weights as the search for an order takes them, negative for bounds."""
        if not self.uniform:
            return self.D, self.W
        # The stress knows the skew part only by its heights.
        return self.D + (self.h[None, :] - self.h[:, None]), 1.0 - np.eye(self.n_points)

    def bounds(self) -> NDArray[np.bool_]:
        """Which dissimilarities are bounds."""
        return (self.D < 0) & (not self.uniform)

    def inverse_curvature(self, alpha: float) -> Array:
        """Pseudo-inverse of ``L(p + 2 alpha |q|)``; empty for uniform weights, which need none."""
        if self.uniform:
            return np.empty((0, 0))
        n = self.n_points
        L = -((self.W + self.WT) / 2 + alpha * np.abs(self.W - self.WT))
        np.fill_diagonal(L, 0.0)
        degree = -L.sum(axis=1)
        np.fill_diagonal(L, degree)
        lift = degree.mean() / n
        with single_blas_thread():
            inverse = np.linalg.inv(L + lift)
        return np.ascontiguousarray(inverse - 1 / (lift * n * n))


def _ranks(sizes: Array) -> NDArray[np.intp]:
    """Order of sizes; rounding must not decide between equal ones."""
    return np.argsort(np.round(sizes / (sizes.max() or 1.0), 9), kind="stable")


def n_descents(n_points: int, n_components: int, weighted: bool) -> int:
    """Number of random starts that the budget allows; a pass over weighted pairs counts twice.

    Examples
    --------
    >>> [n_descents(n, 2, False) for n in (20, 100, 200, 500)]
    [100, 26, 6, 0]
    """
    n = n_points
    if n < 3:
        return 0
    if n_components == 1:
        # A sweep lets each point change places with all others, twice on average; that updates n numbers, or n^2.
        one = SWEEPS * 2 * n**3 * (n if weighted else 1)
        return min(MOST, max(BUDGET // one, int(one <= 5 * BUDGET)))
    affordable = min(MOST, BUDGET // ((1 + weighted) * PASSES * max(n * (n - 1) // 2, 1)))
    return affordable if affordable >= FEWEST else 0


class Scouts:
    """Descents over some pairs, with a drift that is held at its start, or fitted."""

    def __init__(self, pairs: Pairs, fitted: bool, alpha: float, n_jobs: int | None, deadline: float):
        self.pairs, self.n_jobs, self.deadline = pairs, n_jobs, deadline
        self.largest = ALPHA_MAX if fitted else 0.0
        self.inverse = pairs.inverse_curvature(1.0 if fitted else alpha)
        self.n_passes = 0

    def maps(self, starts: list[Found], max_iter: int, nothing: float) -> list[Found]:
        """Different maps that the starts lead to, the best first; ``nothing`` is a stress that counts as 0."""
        if starts[0].coordinates.shape[1] == 1:
            return together(self.search_orders(starts), nothing)
        quick = min(PASSES, (max_iter + 1) // 2)
        found = together(self.descend(starts, quick, ROUGH), nothing)
        more = min(MORE_PASSES, max_iter // 2 - quick)  # half of the iterations are left to the solver
        if more > 0:
            found = together([*self.descend(found[:TRIED], more, FINE), *found[TRIED:]], nothing)
        return found

    def descend(self, starts: list[Found], n_iter: int, tol: float) -> list[Found]:
        """Descend from each start by so many iterations at most."""
        pairs, m = self.pairs, len(starts[0].omega)

        def one(start: Found) -> tuple[Found, int]:
            XT, omega = np.zeros((max(m, 3), pairs.n_points)), start.omega.copy()
            XT[:m], history = start.coordinates.T, np.empty(n_iter + 1)
            known, used = descend(
                pairs.uniform, pairs.D, pairs.DT, pairs.W, pairs.WT, pairs.h, pairs.residual, self.inverse, XT, omega,
                self.largest, tol, history,
            )  # fmt: skip
            return self._end(start, XT[:m].T.copy(), omega, history[:known]), used

        return self._each(one, starts)

    def search_orders(self, starts: list[Found]) -> list[Found]:
        """Search the order of points on a line from that of each start; all orders of very few points are tried.

        Bounds that hold where a search begins hardly count in it: at the start, and where the search before ended.
        """
        pairs = self.pairs
        D, W = pairs.on_a_line()
        bounds = pairs.bounds()
        D = np.where(bounds, -D, D)
        every = pairs.n_points <= EVERY_ORDER and not bounds.any()

        def misses(x: Array, alpha: float) -> tuple[Array, NDArray[np.bool_]]:
            u = x[None, :] - x[:, None]
            miss = np.abs(u) + alpha * u - D
            return miss, bounds & (miss > 0)

        def one(start: Found) -> tuple[Found, int]:
            x, order = np.empty(pairs.n_points), np.argsort(start.coordinates[:, 0], kind="stable")
            alpha, history = float(start.omega[0]), np.empty(ROUNDS + 1)
            if not bounds.any():
                alpha, rounds = search_order(D, W, alpha, self.largest, every, order, x, history)
                history = history[: rounds + 1] + 2 * pairs.residual
                return self._end(start, x[:, None], np.array([alpha]), history), rounds
            holds, stresses = misses(start.coordinates[:, 0], alpha)[1], [np.inf]
            best, n_rounds = (x, alpha), 0
            for _ in range(REVISIONS):
                weights = np.where(holds, BARELY * W, W)
                alpha, rounds = search_order(D, weights, alpha, self.largest, False, order, x, history)
                n_rounds += rounds
                miss, holds = misses(x, alpha)
                stresses.append(float((np.where(holds, 0.0, W) * miss**2).sum()))
                if stresses[-1] > (1 - 1e-9) * stresses[-2]:
                    stresses.pop()
                    break
                best = x.copy(), alpha
            return self._end(start, best[0][:, None], np.array([best[1]]), np.array(stresses[1:])), n_rounds

        with single_blas_thread():
            return self._each(one, starts)

    def _end(self, start: Found, X: Array, omega: Array, history: Array) -> Found:
        past = start.history[:-1] + tuple((self.pairs.unit * history).tolist())
        return replace(start, stress=past[-1], coordinates=X, omega=omega, history=past)

    def _each(self, one: Callable[[Found], tuple[Found, int]], starts: list[Found]) -> list[Found]:
        """Apply to each start while there is time; to the first in any case."""

        def some(_: int, start: int, stop: int) -> list[tuple[Found, int]]:
            late = max(start, 1)
            return [
                one(starts[k]) for k in range(start, stop) if k < late or time.perf_counter() < self.deadline
            ]

        blocks = map_blocks(
            some, np.linspace(0, len(starts), min(len(starts), 8) + 1).astype(int), self.n_jobs
        )
        results = [result for block in blocks for result in block]
        self.n_passes += sum(used for _, used in results)
        return [found for found, _ in results]


def scout(
    problem: UniformProblem | WeightedProblem,
    usual: list[Array],
    flat: list[Array],
    omega: Array,
    rng: np.random.RandomState,
    *,
    nothing: float,
    n_jobs: int | None = None,
    max_iter: int = PASSES,
    deadline: float = np.inf,
) -> tuple[list[Found], int]:
    """Different maps that descents from the ``usual`` starts and from random ones end at, the best first; and the passes.

    Where the drift is fitted it begins at ``omega``, and the best maps without a drift are starts, too: those that the same
    random starts and the usual ones without a drift, ``flat``, lead to. So a fitted drift ends no higher than none. The
    last axis of the maps is the drift. ``nothing`` is a stress that counts as 0.
    """
    n, m, fitted = problem.n_points, len(omega), problem.fixed_drift is None
    pairs = Pairs.of(problem)
    alone = m == 1 and n <= EVERY_ORDER and not pairs.bounds().any()  # all orders are tried from any start
    count = 0 if alone else n_descents(n, m, isinstance(problem, WeightedProblem))
    random = random_starts(pairs, m, count, rng)
    usual, flat = ([X[pairs.order] - X.mean(axis=0) for X in made] for made in (usual, flat))
    starts = [Found(np.inf, X, omega) for X in [*usual, *random]]
    n_passes = 0
    if fitted:
        held = Scouts(pairs, False, 0.0, n_jobs, deadline)
        without = held.maps([Found(np.inf, X, 0 * omega) for X in [*flat, *random]], max_iter, nothing)
        starts += [replace(found, count=0, history=()) for found in without[:KEPT]]
        n_passes = held.n_passes
    scouts = Scouts(pairs, fitted, float(np.linalg.norm(omega)), n_jobs, deadline)
    found = scouts.maps(starts, max_iter, nothing)
    place = np.argsort(pairs.order)
    turned = ((one.coordinates @ frame_of(one.omega) if fitted else one.coordinates)[place] for one in found)
    found = [replace(one, coordinates=X) for one, X in zip(found, turned, strict=True)]
    return found, n_passes + scouts.n_passes


def together(found: list[Found], nothing: float) -> list[Found]:
    """Put descents that ended at the same map together, the best map first; ``nothing`` is a stress that counts as 0."""
    kept: list[Found] = []
    for one in sorted(found, key=lambda one: one.stress):
        if kept and one.stress <= (1 + SAME) * kept[-1].stress + nothing:
            kept[-1] = replace(kept[-1], count=kept[-1].count + one.count)
        else:
            kept.append(one)
    return kept


def random_starts(pairs: Pairs, m: int, count: int, rng: np.random.RandomState) -> list[Array]:
    """Gaussian points as far apart on average as the data, which climb where these do."""
    scale = pairs.scale()
    starts: list[Array] = []
    for _ in range(count):
        X = gaussian_points(pairs.n_points, m, scale, rng)
        X -= X.mean(axis=0)
        if X[:, -1] @ pairs.h < 0:
            X[:, -1] *= -1
        starts.append(X)
    return starts
