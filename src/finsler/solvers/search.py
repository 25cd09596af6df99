"""Where the dense solver starts, and how often: the starts of a run, made one after the other, and what became of them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import as_random_state
from finsler.solvers.backends.memory import Backend
from finsler.solvers.drift import flatness
from finsler.solvers.majorize import EARLY, Run, Start, StopRule
from finsler.solvers.options import SolverOptions
from finsler.solvers.problem import Problem, UniformProblem, WeightedProblem
from finsler.solvers.scouting import KEPT, SAME, Found, n_descents, scout

Array = NDArray[np.floating[Any]]

# Up to this many points the starts "classical" and "isomap", which knows no alpha, are both tried: it costs little, and now
# and then the closed form leads into a worse valley than the map without a drift.
SECOND_START = 500
CONTEST = 0.01  # maps that are worse than the best by no more than this share get a run of the solver, too


class Search:
    """The starts of a solver, made one after the other as they are asked for, and what became of them.

    With ``n_init="auto"`` few points are scouted: the solver starts from the best maps that quick descents found, from the
    usual starts and from random ones. More points take the usual starts.
    """

    def __init__(
        self,
        backend: Backend,
        problem: Problem,
        first: str | Array,
        omega: Array,
        stop: StopRule,
        options: SolverOptions,
    ):
        assert isinstance(problem, UniformProblem | WeightedProblem)
        self.backend, self.problem, self.omega = backend, problem, omega
        self.stop, self.n_jobs = stop, options["n_jobs"]
        fitted, n_init, seed = problem.fixed_drift is None, options["n_init"], options["random_state"]
        self.auto = n_init == "auto" and isinstance(first, str)
        # Without a seed the quick descents are the same every time: same data, same map.
        fixed = self.auto and seed is None and first != "random"
        self.rng = as_random_state(0 if fixed else seed)
        self.kinds: list[str | Array] = [first]
        other = {"classical": "isomap", "isomap": "classical"}.get(first) if isinstance(first, str) else None
        if other and backend.n_points <= SECOND_START and (self.auto or (fitted and first == "classical")):
            self.kinds.append(other)
        if not self.auto and n_init != "auto":
            self.kinds += ["random"] * (int(n_init) - 1)
        self.scouted: list[Found] | None = None
        self.n_passes = 0
        self.cut_short = False

    def starts(self) -> Iterator[Start]:
        """Make the starts."""
        n, m, weighted = self.backend.n_points, len(self.omega), isinstance(self.problem, WeightedProblem)
        scouting = self.auto and n_descents(n, m, weighted) > 0
        if not scouting or self.stop.max_iter == 0 or self.backend.total == 0:
            yield from (Start(self.made(kind)) for kind in self.kinds)
            return
        usual = []
        for kind in self.kinds:
            usual.append(self.made(kind))
            if self.problem.evaluate(usual[-1], self.omega).stress <= self.stop.exact:
                self.kinds = [kind]
                yield Start(usual[-1])
                return
        self.scouted, self.n_passes = scout(
            self.problem, usual, self._flat(usual), self.omega, self.rng, nothing=self._nothing, n_jobs=self.n_jobs,
            max_iter=self.stop.max_iter, deadline=self.stop.deadline,
        )  # fmt: skip
        self.cut_short = time.perf_counter() >= self.stop.deadline
        for k, found in enumerate(self.scouted[:KEPT]):
            if k == 0 or found.stress <= (1 + CONTEST) * self.scouted[0].stress:
                yield Start(found.coordinates, found.history)

    def _flat(self, usual: list[Array]) -> list[Array]:
        """Usual starts as they are without a drift: only the closed form knows of it."""
        if self.problem.fixed_drift is not None:
            return []
        m = len(self.omega)
        return [
            self.backend.classical(m, 0.0) if kind == "classical" else X
            for kind, X in zip(self.kinds, usual, strict=True)
        ]

    def made(self, kind: str | Array) -> Array:
        """Make one start."""
        m, alpha = len(self.omega), float(np.linalg.norm(self.omega))
        if not isinstance(kind, str):
            X = kind
        elif kind == "classical":
            X = self.backend.classical(m, alpha)
        elif kind == "isomap":
            X = self.backend.isomap(m)
        else:
            X = self.backend.random(m, self.rng)
        return _leave_subspace(X, self.problem, self.omega, self.backend, self.rng)

    @property
    def _nothing(self) -> float:
        return 1e-9 * self.backend.total

    def swirl_kinds(self) -> list[str | Array]:
        """Starts of a map whose drift turns beside the canonical map: without heights, and those that were asked for."""
        further = [kind for kind in self.kinds if not isinstance(kind, str) or kind == "random"]
        if len(further) == len(self.kinds) or self.backend.n_points > SECOND_START:
            return further
        return ["isomap", *further]

    def ended(self, runs: Sequence[Run], best: Run) -> Run:
        """The run that tells how the search ended: one that ended early, or the best."""
        if self.cut_short and all(run.status not in EARLY for run in runs):
            return replace(
                best, status="time_limit", message="The time limit came before all starts were tried."
            )
        return next((run for run in runs if run.status in EARLY), best)

    def tally(self, runs: Sequence[Run], best: Run) -> dict[str, int]:
        """Number of starts, of those that ended at the best map, and of all passes."""
        counts = [1] * len(runs) if self.scouted is None else [found.count for found in self.scouted]
        enough = (1 + SAME) * best.stress + self._nothing
        same = sum(count for count, run in zip(counts, runs, strict=False) if run.stress <= enough)
        n_passes = self.n_passes + sum(run.n_passes for run in runs)
        return {"n_starts": sum(counts), "n_same": max(same, 1), "n_passes": n_passes}


def _leave_subspace(
    X: Array, problem: Problem, omega: Array, backend: Backend, rng: np.random.RandomState
) -> Array:
    """Nudge a start that lies in a hyperplane, unless it fits the data already: majorization would never leave it."""
    if len(X) <= X.shape[1] or backend.total == 0 or flatness(X) > 1e-6:
        return X
    if problem.evaluate(X, omega).stress <= 1e-12 * backend.total:
        return X
    size = np.sqrt((X**2).mean()) or backend.length
    return X + 1e-3 * size * rng.standard_normal(X.shape)
