"""Ordinal, interval and spline scaling: maps whose distances agree with a rising function of the data.

Starts are metric maps, of the data and of their ranks: the stress of disparities has more valleys than that of the data, and
the deepest may be heaps of coincident points, which are told apart and passed over.

A drift that is fitted along with the disparities is too weak: noise in the data flattens the function, and differences
between the two directions of a pair with it. So alpha is found once more in the reverse direction, by how well distances
``e + alpha dz`` predict the data: free of that bias, as the error is then where the noise is.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression, minimize_scalar
from scipy.spatial.distance import pdist
from sklearn.utils import check_random_state

from finsler._memory import require_memory
from finsler._runtime import Progress
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, check_count
from finsler.geometry.disparities import Cone, Transformation, kruskal, targets, transformations
from finsler.geometry.pairs import AlphaSource
from finsler.geometry.randers import drift_vector
from finsler.geometry.scaling import ScaledFacts, Scaling, data_pairs, midranks
from finsler.solvers.backends.memory import Backend, MemoryBackend
from finsler.solvers.drift import upright
from finsler.solvers.majorize import EARLY, Run, StopRule, majorize
from finsler.solvers.options import SolverOptions, checked
from finsler.solvers.problem import Parts, Problem, split
from finsler.solvers.scaled_problem import distances, scaled_problem
from finsler.solvers.scouting import SAME
from finsler.solvers.search import SECOND_START
from finsler.solvers.smacof import UNCLEAR_ITERATIONS, given_start, smacof
from finsler.solvers.solution import Solution, solution_of
from finsler.solvers.start import AlphaGuess, check_alpha, guess_alpha

Array = NDArray[np.floating[Any]]

EXACT = 1e-10  # stress, as a share of the size, at which a map has the order of the data
RANDOM_ITERATIONS = 100  # metric iterations that make a start of random points
SAMPLE = 60_000  # pairs on which alpha is found in reverse
LARGEST_ALPHA = 0.98
WINDOW = 0.1  # on either side of the best alpha of a grid, in which alpha is found closer
FEW_ROWS = 20  # points below which rows that are scaled by themselves do not tell alpha
LEVELS = 3  # a map with so few different disparities is degenerate,
HEAPED = 0.05  # and so is one with more than this share of its pairs
NEAR = 0.01  # nearer to each other than this share of the mean distance


# Bytes that an ordered pair takes at the peak of a fit, as measured: the pairs in order, their disparities and those before.
ORDERED_BYTES = {False: 110.0, True: 190.0}  # by whether there are weights or gaps


class ScaledData:
    """Data with a scaling: the cone, and how maps are measured by it."""

    def __init__(self, data: Dissimilarities, scaling: Scaling, n_jobs: int | None = None):
        n = data.n_points
        each = ORDERED_BYTES[data.weights is not None]
        require_memory(
            each * n * n, f"The pairs of {n} points in order", "Use fewer points, or scaling='ratio'."
        )
        self.data, self.scaling, self.n_jobs = data, scaling, n_jobs
        self.pairs = data_pairs(data.matrix, data.weights, scaling)
        self.cone = Cone(self.pairs, scaling)
        self.parts: Parts | None = split(data.matrix, n_jobs)[1] if scaling.conditional == "parts" else None
        self.total = self.pairs.size if self.parts is None else self.parts.total

    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift, or with one that is fitted."""
        return scaled_problem(self.cone, self.total, fixed_drift, self.n_jobs, self.parts)

    def measure(self, X: Array, drift: Array) -> Fitted:
        """Disparities at a map, and how far from them it is."""
        return Fitted(self, X, drift)

    def point_stress(
        self, X: Array, drift: Array, swirl: Array | None = None, geodesic: bool = False
    ) -> Array:
        """Stress of the pairs of each point: half of every pair at either end. There is no swirl beside disparities."""
        squares = self.measure(X, drift).residuals()
        return np.asarray((squares.sum(axis=0) + squares.sum(axis=1)) / 2)

    def to_scale(self, X: Array, drift: Array) -> Array:
        """The map in the size of the data, where the stress leaves the size open."""
        if not self.scaling.by_group:
            return X
        square = float(self.pairs.w @ distances(X, drift).ravel()[self.pairs.at] ** 2)
        return X * np.sqrt(self.total / square) if square > 0 else X

    def ranks(self) -> Dissimilarities:
        """Ranks of the data in the size of the data, a metric map of which is a start."""
        pairs, rank = self.pairs, midranks(self.cone.blocks)
        bound = pairs.unreachable
        counts = np.ones(len(rank), dtype=bool) if bound is None else ~bound
        square = float((pairs.w * rank**2)[counts].sum())
        rank = rank * np.sqrt(pairs.size / square) if square > 0 else rank
        image = np.zeros(self.data.matrix.shape)
        image.ravel()[pairs.at] = rank if bound is None else np.where(bound, -rank, rank)
        if self.parts is not None:
            D = self.data.matrix.astype(float)
            image = image + image.T + (D - D.T) / 2
        return replace(self.data, matrix=image)


class Fitted:
    """A map beside its disparities."""

    def __init__(self, scaled: ScaledData, X: Array, drift: Array):
        self.scaled, self.X, self.drift = scaled, X, drift
        # Where only the symmetric part is scaled, its disparities are to agree with the distances without the drift.
        self.d = pdist(X) if scaled.parts is not None else distances(X, drift).ravel()[scaled.pairs.at]
        self.targets = targets(scaled.cone, self.d, scaled.pairs.size)

    def disparities(self) -> Array:
        """Disparities as a matrix; NaN where there are none."""
        n = len(self.X)
        full = np.full((n, n), np.nan)
        full.ravel()[self.scaled.pairs.at] = self.targets.values
        if (
            self.scaled.parts is not None
        ):  # the mean of both ways is scaled, their difference is left as it is
            upper = np.triu(np.nan_to_num(full), 1)
            D = self.scaled.data.matrix.astype(float)
            full = upper + upper.T + (D - D.T) / 2
        np.fill_diagonal(full, 0.0)
        return full

    def transformations(self) -> list[Transformation]:
        """Functions from data to disparities, one for each group."""
        return transformations(self.scaled.cone, self.targets.values)

    def residuals(self) -> Array:
        """Weighted squared residuals of all ordered pairs, which sum to the stress."""
        if self.scaled.parts is not None:
            return np.asarray((distances(self.X, self.drift) - self.disparities()) ** 2)
        out = np.zeros((len(self.X), len(self.X)))
        out.ravel()[self.scaled.pairs.at] = self.targets.weights * (self.d - self.targets.values) ** 2
        return out

    def stress1(self) -> float:
        """Kruskal's stress-1; for rows or columns the root of its mean square over them."""
        if self.scaled.scaling.by_group:
            return float(np.sqrt(max(self.targets.loss, 0.0) / (self.scaled.total or 1.0)))
        if self.scaled.parts is not None:
            away = ~np.eye(len(self.X), dtype=bool)
            return kruskal(distances(self.X, self.drift)[away], self.disparities()[away])
        return kruskal(self.d, self.targets.values, self.scaled.pairs.weights)

    def levels(self) -> int:
        """Number of different disparities."""
        values = np.sort(self.targets.values[self.scaled.cone.members])
        return 1 + int(np.count_nonzero(np.diff(values) > 1e-6 * values[-1])) if len(values) else 0

    def degenerate(self) -> bool:
        """Whether the points have fallen into heaps, which have whatever order they are asked for."""
        scaled = self.scaled
        if scaled.scaling.kind != "ordinal" or not len(self.d):
            return False
        if self.levels() <= LEVELS < len(scaled.cone.blocks.values):
            return True
        e, values = pdist(self.X), scaled.pairs.values
        heaped = float((e < NEAR * np.sqrt((e**2).mean())).mean())
        least = float((values <= values.min() + 1e-9 * np.abs(values).max()).mean())
        return heaped > max(HEAPED, least)


class Start(NamedTuple):
    """Where a run begins, and how the computation of that ended."""

    X: Array
    omega: Array
    source: AlphaSource = "fitted"
    status: str = ""
    message: str = ""
    n_passes: int = 0
    image: Backend | None = None  # that it is a metric map of, not from random points

    @classmethod
    def after(cls, run: Run) -> Start:
        """Go on from where a run ended, if it did not end early."""
        return cls(run.coordinates, run.omega, status=run.status, message=run.message)


@dataclass(frozen=True, eq=False)
class Starts:
    """Metric maps of the data and of their ranks, from which the disparities are fitted."""

    images: tuple[Backend, ...]
    n_components: int
    alpha: float | str
    deadline: float
    options: SolverOptions

    def metric(self, image: Backend, **changes: Any) -> Start:
        """Metric map of an image of the data."""
        left = None if np.isinf(self.deadline) else max(self.deadline - time.perf_counter(), 1e-3)
        options: Any = {"alpha": self.alpha, "n_init": 1, **self.options, "time_limit": left, **changes}
        found = smacof(image, self.n_components, **options)
        facts = found.alpha_source, found.status, found.message, found.n_passes
        own = isinstance(changes.get("init", ""), str)
        return Start(found.coordinates, found.drift, *facts, image=image if own else None)

    def __call__(self, init: str | Array, n_init: int, rng: np.random.RandomState) -> Iterator[Start]:
        """Those asked for: a given one alone, or one of each image; then random ones for each image in turn."""
        data = self.images[0]
        if isinstance(init, str):
            for image in self.images:
                yield self.metric(image, init=init, random_state=rng)
        else:
            alpha = check_alpha(self.alpha)
            guess = (
                guess_alpha(data.evidence(), self.n_components)
                if alpha is None
                else AlphaGuess(alpha, "given")
            )
            yield Start(init, drift_vector(guess.alpha, self.n_components), guess.source)
        for k in range(n_init - 1):
            points = data.random(self.n_components, rng)
            yield self.metric(self.images[k % 2], init=points, max_iter=RANDOM_ITERATIONS)


def scaled_smacof(
    data: Dissimilarities | Backend,
    scaling: Scaling,
    n_components: int = 2,
    alpha: float | str = "auto",
    **options: Unpack[SolverOptions],
) -> Solution:
    """Minimize the Finsler stress of disparities.

    Parameters
    ----------
    data : Dissimilarities or Backend
        From row to column, in memory.
    scaling : Scaling
        How data become disparities.
    n_components, alpha
        As in :class:`~finsler.estimators.mds.FinslerMDS`.
    **options
        `SolverOptions` of `finsler.solvers.options`. Starts are metric maps of the data and of their ranks, and
        ``n_init - 1`` more from random points; "auto" is 1.

    Returns
    -------
    Solution
        Stress and shares are those of the disparities; ``scaled`` tells the rest.

    Examples
    --------
    >>> from finsler.geometry.randers import randers_distances
    >>> from finsler.data.matrix import as_dissimilarities
    >>> D = randers_distances(np.random.default_rng(0).normal(size=(20, 2)), drift=0.4)
    >>> found = scaled_smacof(as_dissimilarities(D**3), Scaling("ordinal"))
    >>> round(found.alpha, 2), found.scaled.stress1 < 1e-3
    (0.4, True)
    """
    began = time.perf_counter()
    given_alpha = check_alpha(alpha)
    check_count("n_components", n_components)
    given = checked("scaled_smacof", options, SolverOptions)
    if given["swirl"]:
        raise InputError("goes with scaling='ratio'.", argument="swirl")
    n_jobs, start = given["n_jobs"], given["init"]
    backend = MemoryBackend(data, n_jobs) if isinstance(data, Dissimilarities) else data
    if backend.data is None:
        raise InputError(f"= {scaling.kind!r} needs the pairs in memory.", argument="scaling")
    if not isinstance(start, str):
        start = given_start(start, backend.n_points, n_components, backend.length)
    scaled = ScaledData(backend.data, scaling, n_jobs)
    stop = StopRule.of(given, began, exact=EXACT * scaled.total)
    metric: SolverOptions = {
        "n_init": 1, "verbose": False, "tol": given["tol"], "max_iter": given["max_iter"],
        "accelerate": given["accelerate"],
    }  # fmt: skip
    images = backend, MemoryBackend(scaled.ranks(), n_jobs)
    starts = Starts(images, n_components, alpha, stop.deadline, metric)
    progress = Progress(f"Finsler SMACOF, {scaling.kind}", given["verbose"])
    run_from = partial(
        majorize, accelerate=given["accelerate"], progress=progress, callback=given["callback"]
    )
    search = Search(scaled, given_alpha, stop, run_from)
    n_init = 1 if isinstance(given["n_init"], str) else given["n_init"]  # "auto": those of data and ranks
    for begin in starts(start, n_init, check_random_state(given["random_state"])):
        if not search.add(begin, starts):
            break
    solution = search.solution(began)
    progress.close(solution.message)
    return solution


class Search:
    """Runs from several starts: the best sound one, and then alpha in reverse."""

    def __init__(self, scaled: ScaledData, given: float | None, stop: StopRule, run_from: Any):
        self.scaled, self.given, self.stop, self.run_from = scaled, given, stop, run_from
        self.runs: list[Run] = []
        self.sound: list[bool] = []
        self.n_passes = 0
        self.few_rows = scaled.scaling.by_group and scaled.data.n_points < FEW_ROWS
        self.source: AlphaSource = "given"
        self.free: Problem | None = None

    def add(self, begin: Start, starts: Starts) -> bool:
        """Run from a start; False if that ended early, which leaves no time for another one."""
        if self.free is None:
            # Symmetric data have no drift, whatever disparities of broken ties could gain by one.
            symmetric = begin.source == "symmetric"
            held = self.given is not None or symmetric
            self.source = "given" if self.given is not None else "symmetric" if symmetric else "fitted"
            self.free = self.scaled.problem(begin.omega if held else None)
        run = self._keep(self.free, begin)
        small = self.free.fixed_drift is None and self.free.n_points <= SECOND_START
        if begin.image is not None and small and run.status not in EARLY:
            # From the map without a drift as well: the larger model must not end above the smaller.
            flat = starts.metric(begin.image, alpha=0.0)
            level = self._run(self.scaled.problem(np.zeros(len(begin.omega))), flat)
            run = self._keep(self.free, Start.after(level))
        return run.status not in EARLY

    def _keep(self, problem: Problem, begin: Start) -> Run:
        run = self._run(problem, begin)
        self.runs.append(run)
        self.sound.append(not self.scaled.measure(run.coordinates, run.omega).degenerate())
        return run

    def _run(self, problem: Problem, begin: Start, max_iter: int | None = None) -> Run:
        """Run from a start; from one that ended early, only to measure it."""
        stop = self.stop if max_iter is None else replace(self.stop, max_iter=max_iter)
        unclear = self.few_rows and problem.fixed_drift is None and stop.max_iter > UNCLEAR_ITERATIONS
        if begin.status in EARLY:
            run: Run = self.run_from(problem, begin.X, begin.omega, replace(stop, max_iter=0))
            run = replace(run, status=begin.status, message=begin.message)
        elif unclear:
            # Any alpha will do: it is fitted for a while, then held, as where the data themselves hardly tell it.
            first = self._run(problem, begin, UNCLEAR_ITERATIONS)
            if first.status != "max_iter":
                return first
            return self._run(
                self.scaled.problem(first.omega), Start.after(first), stop.max_iter - first.n_iter
            )
        else:
            run = self.run_from(problem, begin.X, begin.omega, stop)
        self.n_passes += begin.n_passes + run.n_passes
        return run

    def solution(self, began: float) -> Solution:
        """Best sound run, at the alpha that the data say."""
        scaled = self.scaled
        runs = [run for run, sound in zip(self.runs, self.sound, strict=True) if sound] or self.runs
        best = min(runs, key=lambda run: run.stress)
        n_same = sum(run.stress <= (1 + SAME) * best.stress + self.stop.exact for run in runs)
        ended = next((run for run in self.runs if run.status in EARLY), best)
        facts: dict[str, Any] = {}
        final = best
        free = self.source == "fitted" and scaled.parts is None and scaled.scaling.kind != "ratio"
        if free and best.omega.any():
            facts["alpha_least_stress"] = float(np.linalg.norm(best.omega))
            facts["stress1_least_stress"] = scaled.measure(best.coordinates, best.omega).stress1()
            X, drift = upright(best.coordinates, best.omega)
            held = drift_vector(reversed_alpha(scaled, X), len(drift))
            final = self._run(scaled.problem(held), Start.after(replace(ended, coordinates=X, omega=held)))
            ended = ended if final.status == "converged" else final
        message = ended.message
        if (
            ended.status == "converged" and final.stress <= self.stop.exact
        ):  # not to rounding, as the loop says
            message = f"Distances agree with the disparities after {final.n_iter} iterations."
        X = scaled.to_scale(final.coordinates, final.omega)
        solution = solution_of(
            scaled, X, final.omega, history=final.history, n_iter=final.n_iter, n_passes=self.n_passes,
            status=ended.status, message=message, seconds=time.perf_counter() - began, alpha_source=self.source,
            n_starts=len(self.runs), n_same=n_same,
        )  # fmt: skip
        measured = scaled.measure(solution.coordinates, solution.drift)
        facts["few_rows"] = self.source == "fitted" and self.few_rows
        facts["degenerate"], facts["levels"] = measured.degenerate(), measured.levels()
        facts["n_bins"] = scaled.cone.blocks.n_bins
        return replace(solution, scaled=ScaledFacts(scaled.scaling, measured.stress1(), **facts))


def reversed_alpha(scaled: ScaledData, X: Array) -> float:
    """Alpha at which the distances of an upright map predict the data best.

    For ordinal and spline scaling: the ranks of the data, by isotonic regression on the order of the distances; for interval
    scaling: the data, by a straight line.
    """
    pairs = scaled.pairs
    chosen = np.arange(len(pairs.at))
    if len(chosen) > SAMPLE:
        chosen = np.sort(np.random.default_rng(0).choice(len(chosen), SAMPLE, replace=False))
    i, j = np.divmod(pairs.at[chosen], pairs.n_points)
    e = np.sqrt(((X[j] - X[i]) ** 2).sum(axis=1))
    dz = X[j, -1] - X[i, -1]
    w = pairs.w[chosen]
    group = None if pairs.group is None else pairs.group[chosen]
    if scaled.scaling.kind == "interval":
        loss = partial(
            _unexplained, pairs.values[chosen], w, np.zeros(len(e), dtype=int) if group is None else group
        )
    else:
        rank = midranks(scaled.cone.blocks)[chosen]
        if group is not None:  # ranks of a group lie above those of the group before
            rank = rank + group * (rank.max() + 1.0)
        loss = partial(_disorder, rank, w, group)

    def at(alpha: float) -> float:
        return loss(e + alpha * dz)

    grid = np.linspace(0.0, LARGEST_ALPHA, 25)
    alpha = float(grid[np.argmin([at(a) for a in grid])])
    low, high = max(alpha - WINDOW, 0.0), min(alpha + WINDOW, LARGEST_ALPHA)
    if scaled.scaling.kind == "interval":
        return float(minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 1e-8}).x)
    # The order of distances changes in jumps, so that the least value is a matter of chance: a parabola looks through them.
    near = np.linspace(low, high, 21)
    bend, slope, _ = np.polyfit(near - alpha, [at(a) for a in near], 2)
    return float(np.clip(alpha - slope / (2 * bend), low, high)) if bend > 0 else alpha


def _disorder(rank: Array, w: Array, group: NDArray[np.intp] | None, d: Array) -> float:
    """What isotonic regression on the order of d leaves of the ranks."""
    order = np.argsort(d, kind="stable") if group is None else np.lexsort((d, group))
    rest = rank[order] - isotonic_regression(rank[order], weights=w[order]).x
    return float(w[order] @ rest**2)


def _unexplained(values: Array, w: Array, group: NDArray[np.intp], d: Array) -> float:
    """What straight lines on d leave of the values, one for each group, as a share of their variance, summed."""

    def total(x: Array) -> Array:
        return np.asarray(np.bincount(group, w * x), dtype=float)

    n = total(np.ones(len(d)))
    n = np.where(n > 0, n, 1.0)
    x, y = d - (total(d) / n)[group], values - (total(values) / n)[group]
    xx, yy, xy = total(x * x), total(y * y), total(x * y)
    square = np.where((xx > 0) & (yy > 0), xx * yy, np.inf)
    return float((n * (1 - xy**2 / square)).sum())
