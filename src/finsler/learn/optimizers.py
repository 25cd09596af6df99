"""Optimizers of a link model: Adam, and the gradient descent that follows the Randers metric.

Those of PyTorch import its compiler when the first of them is made, which takes longer than the training of a small graph.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from finsler.learn.model import torch
from finsler.learn.options import Schedule

MOMENTUM, FORGETTING, SMALLEST = 0.9, 0.999, 1e-8  # Adam's beta_1, beta_2 and epsilon


class Group(NamedTuple):
    """Parameters with the same highest rate and decay."""

    parameters: list[torch.nn.Parameter]
    rate: float
    decay: float


class Optimizer:
    """Steps of AdamW (Loshchilov and Hutter, 2019), or of gradient descent with momentum.

    ``share`` is the present rate as a share of the highest. A parameter without a gradient is left alone.
    """

    def __init__(self, groups: list[Group], adam: bool = True):
        self.groups, self.adam, self.share = groups, adam, 1.0
        self._taken = 0
        self._moments: list[list[torch.Tensor]] = [
            [torch.zeros_like(p) for _ in range(2 if adam else 1)]
            for group in groups
            for p in group.parameters
        ]

    def zero_grad(self) -> None:
        """Forget the gradients."""
        for group in self.groups:
            for p in group.parameters:
                p.grad = None

    @torch.no_grad()
    def step(self) -> None:
        """Move the parameters by one step."""
        self._taken += 1
        moments = iter(self._moments)
        for group in self.groups:
            rate = group.rate * self.share
            for p in group.parameters:
                kept = next(moments)
                if p.grad is None:
                    continue
                if self.adam:
                    self._adam(p, p.grad, kept, rate, group.decay)
                else:
                    p.sub_(kept[0].mul_(MOMENTUM).add_(p.grad).add_(p, alpha=group.decay), alpha=rate)

    def _adam(
        self, p: torch.Tensor, grad: torch.Tensor, kept: list[torch.Tensor], rate: float, decay: float
    ) -> None:
        mean, square = kept
        p.mul_(1 - rate * decay)
        mean.lerp_(grad, 1 - MOMENTUM)
        square.mul_(FORGETTING).addcmul_(grad, grad, value=1 - FORGETTING)
        # Both moments start at zero; this makes up for it.
        spread = square.sqrt().div_(math.sqrt(1 - FORGETTING**self._taken)).add_(SMALLEST)
        p.addcdiv_(mean, spread, value=-rate / (1 - MOMENTUM**self._taken))

    def state_dict(self) -> dict[str, Any]:
        """What a later run needs to go on from here."""
        return {"taken": self._taken, "moments": self._moments}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Take up a state; the shapes must be those of the parameters."""
        for mine, kept in zip(self._moments, state["moments"], strict=True):
            for moment, found in zip(mine, kept, strict=True):
                if moment.shape != found.shape:
                    raise ValueError("it belongs to another model")
                moment.copy_(found)
        self._taken = int(state["taken"])


def make_optimizer(name: str, model: torch.nn.Module, plan: Schedule) -> Optimizer:
    """Adam, or the gradient descent that `randers_flow` turns into that of the Randers metric.

    Matrices decay, single numbers and biases do not. The single numbers (drift, radius, temperature, scale of the
    heights) have further to go than a weight and a rate of their own.
    """
    learned = [p for p in model.parameters() if p.requires_grad]
    groups = [
        Group([p for p in learned if p.ndim > 1], plan.learning_rate, plan.weight_decay),
        Group([p for p in learned if p.ndim == 1], plan.learning_rate, 0.0),
        Group([p for p in learned if p.ndim == 0], plan.number_rate, 0.0),
    ]
    return Optimizer(groups, adam=name == "adam")


def steepest_ascent(g: torch.Tensor, alpha: torch.Tensor | float) -> torch.Tensor:
    """Legendre transform of covectors: the vectors ``v`` with ``F(v) = F*(g)`` and ``g.v = F*(g)^2``.

    Descent on a manifold goes along the gradient *in its metric*. With the Randers norm ``F(v) = ||v|| + w.v`` the
    differential g of the loss is a covector, and its direction of steepest ascent is ``F*(g) dF*(g)``, where
    ``F*(g) = sup {g.v : F(v) = 1} = (sqrt(lam |g|^2 + (w.g)^2) - w.g) / lam``, ``lam = 1 - |w|^2``, is the dual norm.
    A step down the drift costs little and gets longer, a step up gets shorter. At alpha = 0 it is the gradient.
    """
    lam, drift = 1 - alpha**2, alpha * g[..., -1:]
    root = (lam * g.square().sum(-1, keepdim=True) + drift**2).sqrt()
    along = torch.zeros_like(g)
    along[..., -1:] = 1.0
    slope = (lam * g + alpha * drift * along) / root.clamp_min(torch.finfo(g.dtype).tiny) - alpha * along
    return (root - drift) / lam * slope / lam


def randers_flow(points: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
    """The same points, whose gradient is turned into the steepest ascent of the Randers metric on its way back.

    What produced the points (free coordinates or an encoder) then moves so that they follow the metric's descent. The
    space is flat, so the retraction is the addition.
    """
    if not points.requires_grad:
        return points
    fixed, passed = alpha.detach(), points.view_as(points)
    passed.register_hook(lambda g: -steepest_ascent(-g, fixed))
    return passed
