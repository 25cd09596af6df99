"""Optimizers: Adam with decoupled weight decay, and steepest descent in the Randers metric.

Stochastic gradient descent on a manifold steps along the gradient *in its metric*. With the Randers norm
``F(v) = ||v|| + w.v`` the differential g of the loss is a covector, and the direction of steepest descent is the Legendre
transform of -g: the vector ``F*(-g) dF*(-g)``, where ``F*(g) = sup {g.v : F(v) = 1}`` is the dual norm

    ``F*(g) = (sqrt(lam |g|^2 + (w.g)^2) - w.g) / lam``,  ``lam = 1 - |w|^2``,

and ``dF*`` its gradient. A step down the drift is cheap and gets longer, a step up is dear and gets shorter. The space is
flat, so the retraction is the addition. At alpha = 0 it is ordinary stochastic gradient descent.
"""

from __future__ import annotations

from finsler.errors import InputError
from finsler.learn.backend import torch

OPTIMIZERS = ("adam", "randers-sgd")


def dual_norm(g: torch.Tensor, alpha: torch.Tensor | float) -> torch.Tensor:
    """Dual of the Randers norm of covectors, along the last axis.

    Examples
    --------
    >>> dual_norm(torch.tensor([[0.0, 3.0], [0.0, -3.0]]), 0.5)
    tensor([2., 6.])
    """
    lam, drift = 1 - alpha**2, alpha * g[..., -1]
    return ((lam * g.square().sum(-1) + drift**2).sqrt() - drift) / lam


def steepest_ascent(g: torch.Tensor, alpha: torch.Tensor | float) -> torch.Tensor:
    """Legendre transform of covectors: the vectors ``v`` with ``F(v) = F*(g)`` and ``g.v = F*(g)^2``.

    Examples
    --------
    >>> steepest_ascent(torch.tensor([0.0, 3.0]), 0.5)
    tensor([0.0000, 1.3333])
    """
    lam, drift = 1 - alpha**2, alpha * g[..., -1:]
    root = (lam * g.square().sum(-1, keepdim=True) + drift**2).sqrt()
    along = torch.zeros_like(g)
    along[..., -1:] = 1.0
    slope = (lam * g + alpha * drift * along) / root.clamp_min(torch.finfo(g.dtype).tiny) - alpha * along
    return (root - drift) / lam * slope / lam


def randers_flow(points: torch.Tensor, alpha: torch.Tensor | float) -> torch.Tensor:
    """The same points, whose gradient is turned into the steepest ascent of the Randers metric on its way back.

    What produced the points (free coordinates or an encoder) then moves so that they follow the metric's descent.
    """
    if not points.requires_grad:
        return points
    fixed = alpha.detach() if isinstance(alpha, torch.Tensor) else alpha
    passed = points.view_as(points)
    passed.register_hook(lambda g: -steepest_ascent(-g, fixed))
    return passed


def make_optimizer(
    name: str,
    model: torch.nn.Module,
    *,
    learning_rate: float,
    weight_decay: float = 0.0,
    number_rate: float | None = None,
) -> torch.optim.Optimizer:
    """Optimizer by name; matrices decay, single numbers and biases do not.

    Parameters
    ----------
    name : {"adam", "randers-sgd"}
    model : torch module
    learning_rate : float
        Of matrices and biases.
    weight_decay : float
        Of matrices.
    number_rate : float, optional
        Learning rate of single numbers: drift, radius, temperature, scale of the heights. They have further to go than
        a weight. The same as the others by default.

    Returns
    -------
    torch.optim.Optimizer
        Each group of parameters keeps its rate as "highest", for schedules.
    """
    if name not in OPTIMIZERS:
        raise InputError(f"optimizer must be one of {', '.join(map(repr, OPTIMIZERS))}; found {name!r}.")
    learned = [p for p in model.parameters() if p.requires_grad]
    number_rate = learning_rate if number_rate is None else number_rate
    groups = [
        {"params": [p for p in learned if p.ndim > 1], "weight_decay": weight_decay, "lr": learning_rate},
        {"params": [p for p in learned if p.ndim == 1], "weight_decay": 0.0, "lr": learning_rate},
        {"params": [p for p in learned if p.ndim == 0], "weight_decay": 0.0, "lr": number_rate},
    ]
    groups = [{**group, "highest": group["lr"]} for group in groups if group["params"]]
    if name == "adam":
        return torch.optim.AdamW(groups)
    return torch.optim.SGD(groups, momentum=0.9)
