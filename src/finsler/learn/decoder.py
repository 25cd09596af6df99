"""The Fermi-Dirac decoder: how likely an arc is, given the Randers distance of its ends.

``p(i -> j) = 1 / (1 + exp((d(x_i, x_j)^2 - r_ij) / t))``. In the paper the radius ``r_ij = r`` is the same for all pairs.
Here a node may have two radii of its own, ``r_ij = r + out_i + in_j``: how far it reaches out and from how far it is
reached, so that hubs need not sit close to everything. With ``radii=None`` it is the paper's decoder.
"""

from __future__ import annotations

import math

from finsler.errors import InputError
from finsler.learn.backend import torch
from finsler.learn.distance import Drift, randers_distance


class FermiDirac(torch.nn.Module):
    """Logit of an arc from its ends.

    Parameters
    ----------
    alpha : float
        Strength of the drift, or its start.
    radius, temperature : float
        ``r > 0`` and ``t > 0`` of the decoder, or their starts; learned on a logarithmic scale, which keeps the sign.
    learn_alpha, learn_radius, learn_temperature : bool

    Examples
    --------
    >>> decoder = FermiDirac(alpha=0.5, radius=25.0, temperature=2.0)
    >>> x, y = torch.tensor([[0.0, 0.0]]), torch.tensor([[3.0, 4.0]])
    >>> round(decoder(x, y).item(), 4), round(decoder(y, x).item(), 4)
    (-12.0, 8.0)
    """

    def __init__(
        self,
        alpha: float = 0.75,
        radius: float = 2.0,
        temperature: float = 1.0,
        *,
        learn_alpha: bool = True,
        learn_radius: bool = True,
        learn_temperature: bool = True,
    ):
        super().__init__()
        for name, value in (("radius", radius), ("temperature", temperature)):
            if not (value > 0 and math.isfinite(value)):
                raise InputError(f"{name} must be positive; found {value}.")
        self.drift = Drift(alpha, learn=learn_alpha)
        self.log_radius = torch.nn.Parameter(torch.tensor(math.log(radius)), requires_grad=learn_radius)
        self.log_temperature = torch.nn.Parameter(
            torch.tensor(math.log(temperature)), requires_grad=learn_temperature
        )

    def forward(
        self,
        x: torch.Tensor,
        y: torch.Tensor,
        out_radius: torch.Tensor | float = 0.0,
        in_radius: torch.Tensor | float = 0.0,
    ) -> torch.Tensor:
        """Logits of arcs from x to y."""
        square = randers_distance(x, y, self.drift()).square()
        return (self.log_radius.exp() + out_radius + in_radius - square) / self.log_temperature.exp()
