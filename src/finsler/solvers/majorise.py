"""The majorisation loop: plain or accelerated, never uphill."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.runtime import Progress
from finsler.solvers.problem import Evaluation, Problem
from finsler.solvers.solution import Iteration

Array = NDArray[np.floating[Any]]
Callback = Callable[[Iteration], Any]

MEMORY = 8  # earlier steps that the acceleration combines


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


class Anderson:
    """Anderson acceleration of the map ``X -> X + step(X)``.

    Near a solution the map is nearly linear, so the combination of the last steps that is smallest points to where
    the steps vanish. The loop accepts the proposed point only if the stress does not rise.
    """

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Start anew, when the past has proved a bad guide."""
        self._X: list[Array] = []
        self._steps: list[Array] = []

    def propose(self, X: Array, step: Array) -> Array:
        """Next point from the current one, its plain step and those remembered."""
        self._X.append(X)
        self._steps.append(step)
        if len(self._X) == 1:
            return X + step
        del self._X[: -MEMORY - 1], self._steps[: -MEMORY - 1]
        dX = np.stack([(b - a).ravel() for a, b in pairwise(self._X)])
        dF = np.stack([(b - a).ravel() for a, b in pairwise(self._steps)])
        gram = dF @ dF.T
        # A touch of ridge: differences of steps become nearly parallel close to the solution.
        gram[np.diag_indices_from(gram)] += 1e-12 * np.trace(gram) + np.finfo(float).tiny
        try:
            mix = np.linalg.solve(gram, dF @ step.ravel())
        except np.linalg.LinAlgError:
            return X + step
        return X + step - (mix @ (dX + dF)).reshape(X.shape)


def majorise(
    problem: Problem,
    start: Array,
    omega: Array,
    *,
    max_iter: int,
    tol: float,
    exact: float,
    accelerate: bool,
    deadline: float,
    callback: Callback | None,
    progress: Progress,
) -> Run:
    """Minimise a problem from one start.

    Stops when the next plain step is sure to take off less than ``tol`` times the stress, when the stress is below
    ``exact`` (rounding), at ``max_iter`` iterations, at the ``deadline`` (a ``time.perf_counter`` value), when the callback
    returns True, or at Ctrl-C; in every case with the best point so far.
    """
    began = time.perf_counter()
    anderson = Anderson()
    X = start
    history: list[float] = []
    n_passes = 0
    now: Evaluation | None = None

    def evaluate(X: Array, omega: Array) -> Evaluation:
        nonlocal n_passes
        n_passes += 1
        return problem.evaluate(X, omega)

    def end(status: str, message: str) -> Run:
        stress = np.inf if now is None else now.stress
        return Run(
            X,
            omega if now is None else now.omega,
            stress,
            history,
            max(len(history) - 1, 0),
            n_passes,
            status,
            message,
        )

    try:
        now = evaluate(X, omega)
        history.append(now.stress)
        while True:
            n_iter = len(history) - 1
            progress.update(f"iteration {n_iter}, stress {now.stress:.6g}")
            if callback is not None and n_iter > 0:
                info = Iteration(n_iter, now.stress, X.copy(), now.omega.copy(), time.perf_counter() - began)
                if callback(info):
                    return end("stopped", f"The callback stopped it after {n_iter} iterations.")
            if now.stress <= exact:
                return end("converged", f"The map fits the data to rounding after {n_iter} iterations.")
            if now.decrease <= tol * now.stress:
                return end(
                    "converged",
                    f"The stress changes by less than tol = {tol:g} (relative) after {n_iter} iterations.",
                )
            if n_iter >= max_iter:
                return end(
                    "max_iter", f"It reached max_iter = {max_iter} before the tolerance tol = {tol:g}."
                )
            if time.perf_counter() >= deadline:
                return end("time_limit", f"The time limit came after {n_iter} iterations.")
            candidate = anderson.propose(X, now.step) if accelerate else X + now.step
            after = evaluate(candidate, now.omega)
            if accelerate and not after.stress <= now.stress:
                anderson.forget()
                candidate = X + now.step
                after = evaluate(candidate, now.omega)
            if not after.stress <= now.stress:  # a plain step cannot rise but by rounding
                return end("converged", f"The stress stands still to rounding after {n_iter} iterations.")
            X, now = candidate, after
            history.append(now.stress)
    except KeyboardInterrupt:
        return end(
            "interrupted", f"Ctrl-C after {max(len(history) - 1, 0)} iterations; this is the best so far."
        )
