"""What remains of a trained model: where the nodes are, and the numbers of the decoder. Plain numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.learn.encoders import LinkModel, Places

Array = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

BLOCK = 1 << 18  # pairs at a time


@dataclass(frozen=True, eq=False)
class FittedModel:
    """Nodes in Randers space and a Fermi-Dirac decoder.

    Attributes
    ----------
    points : array of shape (n, m)
    radii : array of shape (n, 2)
        Own radii (out, in) of the nodes; zeros in the paper's decoder.
    alpha, radius, temperature : float

    Examples
    --------
    >>> model = FittedModel(np.array([[0.0, 0.0], [3.0, 4.0]]), np.zeros((2, 2)), 0.5, 25.0, 2.0)
    >>> model.logits(np.array([[0, 1], [1, 0]]))
    array([-12.,   8.])
    """

    points: Array
    radii: Array
    alpha: float
    radius: float
    temperature: float

    @classmethod
    def of(cls, model: LinkModel, places: Places) -> FittedModel:
        """Take places and decoder out of PyTorch."""
        points = places.points.detach().cpu().numpy().astype(np.float64)
        radii = np.zeros((len(points), 2))
        if places.radii is not None:
            radii = places.radii.detach().cpu().numpy().astype(np.float64)
        decoder = model.decoder
        return cls(
            points - points.mean(axis=0),
            radii,
            float(decoder.drift().detach()),
            float(decoder.log_radius.detach().exp()),
            float(decoder.log_temperature.detach().exp()),
        )

    def logits(self, pairs: Integers) -> Array:
        """Logits of arcs from the first to the second node of each pair."""
        found = np.empty(len(pairs))
        for start in range(0, len(pairs), BLOCK):
            i, j = pairs[start : start + BLOCK, 0], pairs[start : start + BLOCK, 1]
            step = self.points[j] - self.points[i]
            distance = np.sqrt((step**2).sum(axis=1)) + self.alpha * step[:, -1]
            reach = self.radius + self.radii[i, 0] + self.radii[j, 1]
            found[start : start + BLOCK] = (reach - distance**2) / self.temperature
        return found


def mean_logits(models: list[FittedModel], pairs: Integers) -> Array:
    """Logits of an ensemble: the mean of those of its members."""
    return np.asarray(np.mean([model.logits(pairs) for model in models], axis=0))
