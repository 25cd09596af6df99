"""Finding a map of a digraph: warm start in more dimensions, continuation of the drift, then everything free.

A start at random ends in poor local minima, the more so the fewer dimensions there are, and a drift that is free from the
start collapses to 0. So the map begins with up to `EXTRA_AXES` additional axes and a drift that is raised step by step; a
growing penalty then presses the additional axes flat while the rest adjusts; at last all coordinates and the drift are
free. A Euclidean map goes the same way with alpha = 0, so that both geometries get the same effort.

In fewer than `ROOM` dimensions a strong drift tears the map apart on the way, and so do many additional axes. There the
drift is raised less and waits until these axes are gone, and there are no more of them than the map has itself.

Nodes take part in very different numbers of pairs. Coordinates are therefore scaled by the square root of the curvature
that each node contributes, which L-BFGS cannot learn from a few dozen steps.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor

from finsler._runtime import Progress
from finsler.learn.digraph_objective import RankedStress, one_torch_thread
from finsler.learn.digraph_sampled import SampledRankedStress
from finsler.learn.lbfgs import minimize

LARGEST_ALPHA = 0.999
EDGE = 1 - 1e-9  # share of it that tanh can reach
EXTRA_AXES = 5
ROOM = 5  # dimensions from which on the drift can be strong from the beginning
WARM, SQUEEZE = 0.3, 0.3  # shares of the iterations; the rest is for the last stage
RENEW_EVERY = 10  # iterations after which a sample of negatives follows the map
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
ENDINGS = {
    "converged": "The objective stopped falling.",
    "max_iter": "The iterations were used up; more may improve the map.",
    "time_limit": "The time was used up; more may improve the map.",
    "interrupted": "Interrupted: this is the best map so far.",
}


def drift_schedule(n_components: int, alpha: float | None) -> tuple[float, ...]:
    """Values of alpha on the way to ``alpha``, or to where it is set free (None).

    Examples
    --------
    >>> drift_schedule(10, None), drift_schedule(10, 0.6), drift_schedule(2, None)
    ((0.5, 0.9, 0.97), (0.5, 0.6, 0.6), (0.25, 0.5, 0.5))
    """
    values = (0.5, 0.9, 0.97) if n_components >= ROOM else (0.25, 0.5, 0.5)
    return values if alpha is None else tuple(min(value, alpha) for value in values)


@dataclass
class DigraphFit:
    """A map of a digraph as it was found.

    Attributes
    ----------
    coordinates : Tensor of shape (N, m)
        Centered; the last axis is the one along which going up costs more.
    alpha : float
        Strength of the drift, 0 <= alpha < 1.
    value, distortion, ranking : float
        Objective and its two parts.
    history : list of float
        Objective after each iteration; it rises where a stage changes the drift or presses axes flat.
    n_iter, n_evaluations : int
        Iterations, and evaluations of the objective.
    status, message : str
        How it ended.
    seconds : float
        Wall-clock time.
    """

    coordinates: Tensor
    alpha: float
    value: float = math.nan
    distortion: float = math.nan
    ranking: float = math.nan
    history: list[float] = field(default_factory=list)
    n_iter: int = 0
    n_evaluations: int = 0
    status: str = "max_iter"
    message: str = ""
    seconds: float = 0.0


class _Run:
    """State that the stages share: the map so far, the drift, and what is left of iterations and time."""

    def __init__(
        self,
        objective: RankedStress | SampledRankedStress,
        start: Tensor,
        max_iter: int,
        tol: float,
        time_limit: float | None,
        verbose: bool | int | str,
    ):
        self.objective = objective
        self.X = start
        self.alpha = 0.0
        self.tol = tol
        self.max_iter = max_iter
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
        last = {"value": math.nan}

        def split(z: Tensor) -> tuple[Tensor, float]:
            X = z[: n * m].view(n, m) * self.scale
            return X, (LARGEST_ALPHA * math.tanh(float(z[-1])) if free else self.alpha)

        def function(z: Tensor) -> tuple[float, Tensor]:
            X, alpha = split(z)
            found = self.objective(X, alpha)
            self.n_evaluations += 1
            last["value"] = found.value
            value, gradient = found.value, found.gradient
            if flat:
                value += penalty * float(X[:, :flat].square().sum()) / n
                gradient[:, :flat] += 2 * penalty / n * X[:, :flat]
            gradient = (gradient * self.scale).reshape(-1)
            if not free:
                return value, gradient
            slope = found.alpha_gradient * (LARGEST_ALPHA - alpha * alpha / LARGEST_ALPHA)
            return value, torch.cat([gradient, gradient.new_tensor([slope])])

        def callback(_: int, __: float, z: Tensor) -> bool:
            self.X, self.alpha = split(z)  # an interrupt keeps what was accepted last
            self.history.append(last["value"])
            self.progress.update(
                f"iteration {len(self.history)} of {self.max_iter}, objective {last['value']:.5f}, "
                f"alpha {self.alpha:.3f}"
            )
            return self.seconds() > until * self.time_limit

        z = (self.X / self.scale).reshape(-1)
        if free:
            t = math.atanh(max(-EDGE, min(self.alpha / LARGEST_ALPHA, EDGE)))
            z = torch.cat([z, z.new_tensor([t])])
        left = max(0, round(until * self.max_iter) - len(self.history))
        return minimize(
            function, z, max_iter=left, tol=self.tol, callback=callback, renew=self._renew(split)
        ).converged

    def _renew(self, split: Callable[[Tensor], tuple[Tensor, float]]) -> Callable[[int, Tensor], bool] | None:
        """What keeps an objective of sampled pairs up to date."""
        objective = self.objective
        if isinstance(objective, RankedStress):
            return None

        def renew(iteration: int, z: Tensor) -> bool:
            if iteration % RENEW_EVERY:
                return False
            objective.renew(*split(z))
            return True

        return renew

    def turn(self, keep: int) -> None:
        """Turn the horizontal axes to principal ones, the narrowest first, so that the first can be pressed flat."""
        X = self.X - self.X.mean(0)
        _, axes = torch.linalg.eigh(X[:, :-1].T @ X[:, :-1])
        self.X = torch.cat([X[:, :-1] @ axes, X[:, -1:]], 1)[:, -keep:]


def fit_digraph(
    objective: RankedStress | SampledRankedStress,
    n_components: int,
    *,
    alpha: float | None = None,
    max_iter: int = 400,
    tol: float = 1e-6,
    seed: int = 0,
    time_limit: float | None = None,
    verbose: bool | int | str = "auto",
    start: Tensor | None = None,
) -> DigraphFit:
    """Minimize the objective.

    Parameters
    ----------
    objective : RankedStress or SampledRankedStress
        What to minimize.
    n_components : int
        Dimension of the map.
    alpha : float, optional
        Strength of the drift, 0 for a Euclidean map; fitted if not given.
    max_iter : int
        Iterations over all stages.
    tol : float
        Relative decrease per iteration below which a stage ends.
    seed : int
        Of the random start.
    time_limit : float, optional
        Seconds after which the best map so far is taken; the stages share it like the iterations.
    verbose : bool, int or "auto"
        Progress line.
    start : Tensor of shape (N, n_components), optional
        Coordinates to begin with; the first two stages are then left out.

    Returns
    -------
    DigraphFit
    """
    extra = min(EXTRA_AXES, n_components)
    lifted = n_components + extra
    if start is None:
        random = torch.Generator().manual_seed(seed)
        X = torch.randn(objective.n_nodes, lifted, generator=random, dtype=torch.float64) / math.sqrt(lifted)
    else:
        X = start.to(torch.float64)
    run = _Run(objective, X.to(objective.device), max_iter, tol, time_limit, verbose)
    schedule = drift_schedule(n_components, alpha)
    run.alpha = schedule[-1] if alpha is None else alpha
    free = alpha is None
    status = "interrupted"
    try:
        with one_torch_thread():
            if start is None:
                for k, value in enumerate(schedule):
                    run.alpha = value
                    run.stage(WARM * (k + 1) / len(schedule))
                if alpha is not None:
                    run.alpha = alpha
                run.turn(lifted)
                for k, penalty in enumerate(PENALTIES):
                    run.stage(
                        WARM + SQUEEZE * (k + 1) / len(PENALTIES),
                        free=free and n_components >= ROOM,
                        flat=extra,
                        penalty=penalty,
                    )
                run.X = run.X[:, extra:]
            status = "converged" if run.stage(1.0, free=free) else "max_iter"
            if run.seconds() > run.time_limit:
                status = "time_limit"
    except KeyboardInterrupt:
        if run.X.shape[1] > n_components:
            run.turn(n_components)
    return _finish(run, status)


def _finish(run: _Run, status: str) -> DigraphFit:
    X = run.X - run.X.mean(0)
    if run.alpha < 0:  # the same map, upside down
        X[:, -1] *= -1
    found = run.objective(X, abs(run.alpha))
    run.progress.close(f"{status} after {len(run.history)} iterations, objective {found.value:.5f}")
    return DigraphFit(
        coordinates=X,
        alpha=abs(run.alpha),
        value=found.value,
        distortion=found.distortion,
        ranking=found.ranking,
        history=run.history,
        n_iter=len(run.history),
        n_evaluations=run.n_evaluations,
        status=status,
        message=ENDINGS[status],
        seconds=run.seconds(),
    )
