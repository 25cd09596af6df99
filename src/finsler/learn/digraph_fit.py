"""Finding a map of a digraph: warm start in more dimensions, continuation of the drift, then everything free.

A start at random ends in poor local minima, the more so the fewer dimensions there are, and a drift that is free from the
start collapses to 0. So the map begins with up to `EXTRA_AXES` additional axes and a drift that is raised step by step; a
growing penalty then presses the additional axes flat while the rest adjusts; at last all coordinates and the drift are
free. A Euclidean map goes the same way with alpha = 0, so that both geometries get the same effort.

In fewer than `STRONG_DRIFT_FROM` dimensions a strong drift tears the map apart on the way, and so do many additional axes.
There the drift is raised less and waits until these axes are gone, and there are no more of them than the map has itself.

Nodes take part in very different numbers of pairs. Coordinates are therefore scaled by the square root of the curvature
that each node contributes, which L-BFGS cannot learn from a few dozen steps.
"""

from __future__ import annotations

import math
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from finsler._runtime import Progress
from finsler.learn.digraph_objective import RankedStress
from finsler.learn.digraph_sampled import SampledRankedStress
from finsler.learn.digraph_stress import DenseStress
from finsler.learn.model import LARGEST_ALPHA, torch, torch_threads

Objective = RankedStress | SampledRankedStress | DenseStress
Function = Callable[[torch.Tensor], tuple[float, torch.Tensor]]
Pairs = deque[tuple[torch.Tensor, torch.Tensor, float]]  # steps, changes of the gradient, and their products

EDGE = 1 - 1e-9  # share of it that tanh can reach
EXTRA_AXES = 5
STRONG_DRIFT_FROM = 5  # dimensions: with fewer, a drift that is strong from the beginning does harm
WARM, SQUEEZE = 0.3, 0.3  # shares of the iterations; the rest is for the last stage
RENEW_EVERY = 10  # iterations after which a sample of negatives follows the map
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
# L-BFGS: least decrease, largest slope left and trials of the line search; steps kept; iterations that tol is measured on.
SUFFICIENT_DECREASE, CURVATURE, MOST_TRIALS, MEMORY, PATIENCE = 1e-4, 0.9, 15, 20, 10
TINY = sys.float_info.min  # least number that has all its digits
ENDINGS = {
    "converged": "The objective stopped falling.",
    "max_iter": "The iterations were used up; more may improve the map.",
    "time_limit": "The time was used up; more may improve the map.",
    "interrupted": "Interrupted: this is the best map so far.",
}


def drift_schedule(n_components: int, alpha: float | None) -> tuple[float, ...]:
    """Values of alpha on the way to ``alpha``, or to where it is set free (None)."""
    values = (0.5, 0.9, 0.97) if n_components >= STRONG_DRIFT_FROM else (0.25, 0.5, 0.5)
    return values if alpha is None else tuple(min(value, alpha) for value in values)


@dataclass
class DigraphFit:
    """A map of a digraph as it was found; the last axis is the one along which going up costs more."""

    coordinates: torch.Tensor  # centered
    alpha: float
    value: float  # of the objective
    history: list[
        float
    ]  # after each iteration; it rises where a stage changes the drift or presses axes flat
    n_evaluations: int
    status: str
    message: str


class _Run:
    """State that the stages share: the map so far, the drift, and what is left of iterations and time."""

    def __init__(
        self,
        objective: Objective,
        start: torch.Tensor,
        max_iter: int,
        tol: float,
        time_limit: Any,
        verbose: Any,
    ):
        self.objective, self.X, self.alpha = objective, start, 0.0
        self.max_iter, self.tol = max_iter, tol
        self.time_limit = math.inf if time_limit is None else time_limit
        self.began = time.perf_counter()
        self.history: list[float] = []
        self.n_evaluations = 0
        self.progress = Progress("digraph embedding", verbose)
        curvature = objective.node_curvature()
        scale = (curvature + 0.05 * curvature.mean()).rsqrt()
        self.scale = (scale / scale.mean())[:, None]

    def seconds(self) -> float:
        return time.perf_counter() - self.began

    def stage(self, until: float, *, free: bool = False, flat: int = 0, penalty: float = 0.0) -> bool:
        """Minimize until a share of the budget is used; tells whether the objective stopped falling.

        With ``free`` alpha is an unknown too, as ``LARGEST_ALPHA * tanh(t)``. The first ``flat`` axes cost
        ``penalty`` times their mean square.
        """
        n, m = self.X.shape
        last = math.nan

        def split(z: torch.Tensor) -> tuple[torch.Tensor, float]:
            X = z[: n * m].view(n, m) * self.scale
            return X, (LARGEST_ALPHA * math.tanh(float(z[-1])) if free else self.alpha)

        def function(z: torch.Tensor) -> tuple[float, torch.Tensor]:
            nonlocal last
            X, alpha = split(z)
            found = self.objective(X, alpha)
            self.n_evaluations += 1
            last = value = found.value
            gradient = found.gradient
            if flat:
                value += penalty * float(X[:, :flat].square().sum()) / n
                gradient[:, :flat] += 2 * penalty / n * X[:, :flat]
            gradient = (gradient * self.scale).reshape(-1)
            if not free:
                return value, gradient
            slope = found.alpha_gradient * (LARGEST_ALPHA - alpha * alpha / LARGEST_ALPHA)
            return value, torch.cat([gradient, gradient.new_tensor([slope])])

        def callback(_: float, z: torch.Tensor) -> bool:
            self.X, self.alpha = split(z)  # an interrupt keeps what was accepted last
            self.history.append(last)
            done = f"iteration {len(self.history)} of {self.max_iter}"
            self.progress.update(f"{done}, objective {last:.5f}, alpha {self.alpha:.3f}")
            return self.seconds() > until * self.time_limit

        def renew(iteration: int, z: torch.Tensor) -> bool:
            return iteration % RENEW_EVERY == 0 and self.objective.renew(*split(z))

        z = (self.X / self.scale).reshape(-1)
        if free:
            t = math.atanh(max(-EDGE, min(self.alpha / LARGEST_ALPHA, EDGE)))
            z = torch.cat([z, z.new_tensor([t])])
        left = max(0, round(until * self.max_iter) - len(self.history))
        found = minimize(function, z, max_iter=left, tol=self.tol, callback=callback, renew=renew)
        return found.converged

    def turn(self, keep: int) -> None:
        """Turn the horizontal axes to principal ones, the narrowest first, so that the first can be pressed flat."""
        X = self.X - self.X.mean(0)
        _, axes = torch.linalg.eigh(X[:, :-1].T @ X[:, :-1])
        self.X = torch.cat([X[:, :-1] @ axes, X[:, -1:]], 1)[:, -keep:]


def fit_digraph(
    objective: Objective,
    n_components: int,
    *,
    alpha: float | None,
    max_iter: int,
    tol: float,
    seed: int,
    time_limit: float | None,
    verbose: bool | int | str,
) -> DigraphFit:
    """Minimize the objective; the parameters are those of `DigraphEmbedding`, alpha=None fits it.

    The stages share the time limit like the iterations.
    """
    extra = min(EXTRA_AXES, n_components)
    lifted = n_components + extra
    random = torch.Generator().manual_seed(seed)
    X = torch.randn(objective.n_nodes, lifted, generator=random, dtype=torch.float64) / math.sqrt(lifted)
    run = _Run(objective, X.to(objective.device), max_iter, tol, time_limit, verbose)
    schedule, free = drift_schedule(n_components, alpha), alpha is None
    status = "interrupted"
    try:
        with torch_threads(1):  # blocks run in threads of their own; torch's would wait for each other
            for k, value in enumerate(schedule):
                run.alpha = value
                run.stage(WARM * (k + 1) / len(schedule))
            if alpha is not None:
                run.alpha = alpha
            run.turn(lifted)
            early = free and n_components >= STRONG_DRIFT_FROM
            for k, penalty in enumerate(PENALTIES):
                until = WARM + SQUEEZE * (k + 1) / len(PENALTIES)
                run.stage(until, free=early, flat=extra, penalty=penalty)
            run.X = run.X[:, extra:]
            status = "converged" if run.stage(1.0, free=free) else "max_iter"
            if run.seconds() > run.time_limit:
                status = "time_limit"
    except KeyboardInterrupt:
        if run.X.shape[1] > n_components:
            run.turn(n_components)
    X = run.X - run.X.mean(0)
    if run.alpha < 0:  # the same map, upside down
        X[:, -1] *= -1
    found = objective(X, abs(run.alpha)).value
    run.progress.close(f"{status} after {len(run.history)} iterations, objective {found:.5f}")
    return DigraphFit(X, abs(run.alpha), found, run.history, run.n_evaluations, status, ENDINGS[status])


class Minimum(NamedTuple):
    """Best point found, function there, and whether the function stopped falling."""

    point: torch.Tensor
    value: float
    converged: bool


def minimize(
    function: Function,
    start: torch.Tensor,
    *,
    max_iter: int,
    tol: float,
    callback: Callable[[float, torch.Tensor], bool] = lambda _, __: False,
    renew: Callable[[int, torch.Tensor], bool] = lambda _, __: False,
) -> Minimum:
    """Minimize a smooth function of a vector, which returns its value and gradient, by L-BFGS, on any device.

    Nocedal and Wright, Numerical Optimization, algorithm 7.4; the line search finds a step with the weak Wolfe conditions
    by bisection (Lewis and Overton, 2013), which also copes with the kinks of distances at coincident points. It is here,
    and not torch's own, because it can be stopped after any iteration with the best point so far.

    It ends when ten iterations together lower the value by less than ``10 tol`` of itself, or if ``callback``, called
    after each iteration with the value and the point, returns True. ``renew`` is called with the number of an iteration
    and the point before it begins; True says that the function has become a slightly different one: it is evaluated
    anew, and what is known of its curvature is kept.
    """
    x = start.clone()
    value, gradient = function(x)
    pairs: Pairs = deque(maxlen=MEMORY)
    values = [value]
    iteration = 0
    while iteration < max_iter:
        if renew(iteration, x):
            value, gradient = function(x)
            values = [value]
        direction = _direction(gradient, pairs)
        slope = float(gradient @ direction)
        step, new_value, new_gradient = 0.0, math.inf, gradient
        if slope < 0:
            step, new_value, new_gradient = _search(function, x, value, direction, slope)
        if not new_value < value:
            if not pairs:
                return Minimum(x, value, True)
            pairs.clear()  # once more along the gradient before giving up
            continue
        moved, change = step * direction, new_gradient - gradient
        product, square = float(moved @ change), float(change @ change)
        # Near an exact fit gradients fall until their squares leave the range of floats and say nothing any more.
        if square > TINY and product > max(TINY, 1e-10 * float(moved.norm()) * math.sqrt(square)):
            pairs.append((moved, change, product))
        x, value, gradient = x + moved, new_value, new_gradient
        values.append(value)
        iteration += 1
        if callback(value, x):
            return Minimum(x, value, False)
        if len(values) > PATIENCE and values[-1 - PATIENCE] - value < PATIENCE * tol * abs(value):
            return Minimum(x, value, True)
    return Minimum(x, value, False)


def _direction(gradient: torch.Tensor, pairs: Pairs) -> torch.Tensor:
    """Minus the inverse Hessian, as the pairs show it, times the gradient."""
    if not pairs:
        # The first step moves coordinates by 0.1 in the mean: function and scale are unknown yet.
        norm = float(gradient.norm())
        return gradient * (-0.1 * gradient.numel() ** 0.5 / norm if norm > 0 else 0.0)
    direction = gradient.clone()
    factors = []
    for moved, change, product in reversed(pairs):
        factor = float(moved @ direction) / product
        direction -= factor * change
        factors.append(factor)
    _, change, product = pairs[-1]
    direction *= product / float(change @ change)
    for (moved, change, product), factor in zip(pairs, reversed(factors), strict=True):
        direction += (factor - float(change @ direction) / product) * moved
    return direction.neg_()


def _search(
    function: Function, x: torch.Tensor, value: float, direction: torch.Tensor, slope: float
) -> tuple[float, float, torch.Tensor]:
    """Step with the weak Wolfe conditions: doubled or bisected until it decreases enough and is not too short."""
    low, high, step = 0.0, math.inf, 1.0
    best = (0.0, math.inf, x)
    for _ in range(MOST_TRIALS):
        new_value, new_gradient = function(x + step * direction)
        if not new_value <= value + SUFFICIENT_DECREASE * step * slope:  # NaN counts as too far
            high = step
        else:
            best = (step, new_value, new_gradient)
            if float(new_gradient @ direction) >= CURVATURE * slope:
                break
            low = step
        step = (low + high) / 2 if high < math.inf else 2 * step
    return best
