"""From nodes to points: free coordinates, or a linear or multi-layer encoder of what is known about a node.

Column 0 of the inputs of an encoder is a first guess of the height (SpringRank, see `finsler.learn.structure`). It joins
the last coordinate directly, times a learned scale; the other inputs may correct it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.errors import InputError
from finsler.learn.backend import torch
from finsler.learn.decoder import FermiDirac


class Places(NamedTuple):
    """Points of nodes, shape (n, m), and their own radii (out, in), shape (n, 2), or None."""

    points: torch.Tensor
    radii: torch.Tensor | None


class DirectCoordinates(torch.nn.Module):
    """Every node has coordinates and radii of its own.

    Parameters
    ----------
    heights : array of shape (n,)
        First guess of the last coordinate, standardized.
    n_components : int
        Dimension of the space.
    radii : bool
        Whether nodes have radii of their own.
    spread : float
        Standard deviation of the other coordinates at the start.
    """

    def __init__(
        self,
        heights: NDArray[np.floating],
        n_components: int,
        *,
        radii: bool = True,
        spread: float = 0.1,
        generator: torch.Generator | None = None,
    ):
        super().__init__()
        points = spread * torch.randn(len(heights), n_components, generator=generator)
        points[:, -1] = torch.as_tensor(np.asarray(heights), dtype=torch.float32)
        self.points = torch.nn.Parameter(points)
        self.radii = torch.nn.Parameter(torch.zeros(len(heights), 2)) if radii else None

    def forward(self, inputs: torch.Tensor | None, nodes: torch.Tensor | None = None) -> Places:
        """Places of some nodes, or of all; there are no inputs."""
        if nodes is None:
            return Places(self.points, self.radii)
        return Places(_rows(self.points, nodes), None if self.radii is None else _rows(self.radii, nodes))


class FeatureEncoder(torch.nn.Module):
    """Points as a linear (``layers=0``) or multi-layer function of the inputs of a node.

    Parameters
    ----------
    n_inputs, n_components : int
        Columns of the inputs, dimension of the space.
    layers, width : int
        Hidden layers (ReLU) and their width.
    dropout, input_dropout : float
        Probability of dropping a hidden unit, and an input.
    radii : bool
        Whether the encoder also gives the nodes' own radii.

    Examples
    --------
    >>> encoder = FeatureEncoder(5, 3, layers=1, width=8)
    >>> encoder(torch.zeros(4, 5)).points.shape
    torch.Size([4, 3])
    """

    def __init__(
        self,
        n_inputs: int,
        n_components: int,
        *,
        layers: int = 0,
        width: int = 128,
        dropout: float = 0.0,
        input_dropout: float = 0.0,
        radii: bool = True,
    ):
        super().__init__()
        parts: list[torch.nn.Module] = [torch.nn.Dropout(input_dropout)]
        size = n_inputs
        for _ in range(layers):
            parts += [torch.nn.Linear(size, width), torch.nn.ReLU(), torch.nn.Dropout(dropout)]
            size = width
        self.body = torch.nn.Sequential(*parts)
        self.place = torch.nn.Linear(size, n_components)
        torch.nn.init.zeros_(self.place.bias)
        self.height_scale = torch.nn.Parameter(torch.tensor(1.0))
        self.radii = torch.nn.Linear(size, 2) if radii else None
        if self.radii is not None:  # start as the paper's decoder
            torch.nn.init.zeros_(self.radii.weight)
            torch.nn.init.zeros_(self.radii.bias)

    def forward(self, inputs: torch.Tensor | None, nodes: torch.Tensor | None = None) -> Places:
        """Places of some nodes, or of all rows of the inputs."""
        if inputs is None:
            raise InputError("An encoder needs inputs.")
        given = inputs if nodes is None else inputs[nodes]
        hidden = self.body(given)
        points = self.place(hidden)
        heights = points[:, -1] + self.height_scale * given[:, 0]
        points = torch.cat([points[:, :-1], heights[:, None]], dim=1)
        return Places(points, None if self.radii is None else self.radii(hidden))


class LinkModel(torch.nn.Module):
    """An encoder and a decoder: logits of arcs between nodes."""

    def __init__(self, encoder: DirectCoordinates | FeatureEncoder, decoder: FermiDirac):
        super().__init__()
        self.encoder = encoder
        self.decoder = decoder

    def logits(self, places: Places, pairs: torch.Tensor) -> torch.Tensor:
        """Logits of arcs ``pairs[:, 0] -> pairs[:, 1]``, numbered as the rows of the places."""
        ends = [_rows(places.points, pairs[:, k]) for k in (0, 1)]
        if places.radii is None:
            return self.decoder(*ends)
        out_radius, in_radius = (places.radii[:, k : k + 1] for k in (0, 1))
        return self.decoder(*ends, _rows(out_radius, pairs[:, 0])[:, 0], _rows(in_radius, pairs[:, 1])[:, 0])


def _rows(table: torch.Tensor, at: torch.Tensor) -> torch.Tensor:
    # The gradient of an embedding is summed row by row in one order, whatever the number of threads; that of plain
    # indexing is not.
    return torch.nn.functional.embedding(at, table)
