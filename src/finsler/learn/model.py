"""The model of a `LinkPredictor`: where nodes are in Randers space, and how likely an arc is there.

Distance
    The canonical Randers distance, the same as in `finsler.geometry.randers`, with gradients:
    ``d(x, y) = ||y - x|| + alpha (y - x)[last]``.
Decoder
    Fermi-Dirac: ``p(i -> j) = 1 / (1 + exp((d(x_i, x_j)^2 - r_ij) / t))``. In the paper the radius ``r_ij = r`` is the
    same for all pairs. Here a node may have two radii of its own, ``r_ij = r + out_i + in_j``: how far it reaches out and
    from how far it is reached, so that hubs need not sit close to everything.
Encoders
    From nodes to points: free coordinates, or a linear or multi-layer function of what is known about a node.

PyTorch is imported here, or an error says how to get it; the modules of this package that need it take it from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import cpu_count
from finsler.errors import InputError, MissingExtraError, one_line
from finsler.geometry.randers import drift_vector
from finsler.solvers.drift import upright

try:
    import torch
except ImportError as error:
    raise MissingExtraError("Learning needs PyTorch: pip install 'finsler[learn]'.") from error

Array = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

LARGEST_ALPHA = 0.999  # the distance is positive for |alpha| < 1; float32 would round a tanh to 1
ALPHA, RADIUS, TEMPERATURE = 0.75, 2.0, 1.0  # where the numbers of a decoder start, if they are learned
SPREAD = 0.1  # standard deviation of free coordinates at the start; that of the heights is 1
BLOCK = 1 << 12  # pairs whose logits are computed at a time: their steps stay near the processor


def check_device(device: str) -> None:
    """Refuse a device that torch does not know, or that is not here."""
    try:
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError, NotImplementedError) as error:
        raise InputError(
            f"device={device!r} cannot be used here, say 'cpu': {one_line(str(error))[:200]}",
            argument="device",
        ) from error


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Let torch use so many threads for a while; not more than there are cores, for which it makes them at once."""
    before = torch.get_num_threads()
    torch.set_num_threads(min(count, cpu_count()))
    try:
        yield
    finally:
        torch.set_num_threads(before)


def randers_distance(x: torch.Tensor, y: torch.Tensor, alpha: torch.Tensor | float) -> torch.Tensor:
    """Distance **from x to y**, along the last axis of the tensors, whose shapes may broadcast.

    The norm has no gradient where x = y; there it is taken as zero, the smallest of its subgradients, so that points
    which meet do not poison a training with NaN.
    """
    return _RandersDistance.apply(x, y, torch.as_tensor(alpha, dtype=x.dtype, device=x.device))


class _RandersDistance(torch.autograd.Function):
    """Its gradient written out: half of the passes over the coordinates of all pairs that PyTorch would find by itself."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, y: torch.Tensor, alpha: torch.Tensor) -> torch.Tensor:
        step = y - x
        length = torch.linalg.vector_norm(step, dim=-1)
        ctx.save_for_backward(step, length, alpha)
        ctx.shapes = x.shape, y.shape
        return length + alpha * step[..., -1]

    @staticmethod
    def backward(ctx: Any, *grads: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        (g,) = grads
        step, length, alpha = ctx.saved_tensors
        along = step * (g / length.masked_fill(length == 0, torch.inf))[..., None]
        along[..., -1] += alpha * g
        there, here = (_summed(part, shape) for part, shape in zip((-along, along), ctx.shapes, strict=True))
        return there, here, (g * step[..., -1]).sum()


def _summed(grad: torch.Tensor, shape: torch.Size) -> torch.Tensor:
    """Sum over the axes along which a tensor of this shape was repeated."""
    return grad if grad.shape == shape else grad.sum_to_size(shape)


class FermiDirac(torch.nn.Module):
    """Logit of an arc from its ends; each of the three numbers is fixed at the value given, or learned.

    Alpha is learned as ``LARGEST_ALPHA tanh(raw)``, so that it stays below one; radius and temperature, which are above
    0, on a logarithmic scale, which keeps the sign.
    """

    def __init__(
        self, alpha: float | None = None, radius: float | None = None, temperature: float | None = None
    ):
        super().__init__()

        def number(start: float, given: float | None, raw: Any) -> torch.nn.Parameter:
            value = torch.tensor(float(start if given is None else given))
            return torch.nn.Parameter(raw(value), requires_grad=given is None)

        self.raw_alpha = number(ALPHA, alpha, lambda value: torch.atanh(value / LARGEST_ALPHA))
        self.log_radius = number(RADIUS, radius, torch.log)
        self.log_temperature = number(TEMPERATURE, temperature, torch.log)

    @torch.no_grad()
    def start_at(self, alpha: float, radius: float, temperature: float) -> None:
        """Let the numbers that are learned start here."""
        starts = (torch.atanh(torch.tensor(alpha / LARGEST_ALPHA)), math.log(radius), math.log(temperature))
        for number, value in zip(
            (self.raw_alpha, self.log_radius, self.log_temperature), starts, strict=True
        ):
            if number.requires_grad:
                number.fill_(value)

    def alpha(self) -> torch.Tensor:
        """Present strength of the drift."""
        return LARGEST_ALPHA * torch.tanh(self.raw_alpha)

    def forward(
        self,
        x: torch.Tensor,
        y: torch.Tensor,
        out_radius: torch.Tensor | float = 0.0,
        in_radius: torch.Tensor | float = 0.0,
    ) -> torch.Tensor:
        """Logits of arcs from x to y."""
        square = randers_distance(x, y, self.alpha()).square()
        return (self.log_radius.exp() + out_radius + in_radius - square) / self.log_temperature.exp()


class Places(NamedTuple):
    """Points of nodes, shape (n, m), and their own radii (out, in), shape (n, 2), or None."""

    points: torch.Tensor
    radii: torch.Tensor | None


class DirectCoordinates(torch.nn.Module):
    """Every node has coordinates and, with ``radii``, radii of its own.

    The last coordinate starts at ``heights``, the first ones at ``location``, the others are noise.
    """

    def __init__(
        self, heights: Array, n_components: int, *, location: Array | None = None, radii: bool = True
    ):
        super().__init__()
        points = SPREAD * torch.randn(len(heights), n_components)
        if location is not None:
            points[:, : location.shape[1]] = torch.as_tensor(location, dtype=torch.float32)
        points[:, -1] = torch.as_tensor(np.asarray(heights), dtype=torch.float32)
        self.points = torch.nn.Parameter(points)
        self.radii = torch.nn.Parameter(torch.zeros(len(heights), 2)) if radii else None

    def forward(self, inputs: torch.Tensor | None, nodes: torch.Tensor | None = None) -> Places:
        """Places of some nodes, or of all; there are no inputs."""
        if nodes is None:
            return Places(self.points, self.radii)
        return Places(_rows(self.points, nodes), None if self.radii is None else _rows(self.radii, nodes))


class Dropout(torch.nn.Module):
    """Zeros instead of a share of the numbers, in steps of 1/256, from random bytes.

    PyTorch draws a number for each of them, which took half of the time of a training.
    """

    def __init__(self, share: float):
        super().__init__()
        self.dropped = min(round(256 * share), 255)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The rest, scaled up to the same mean, in training; all of it otherwise."""
        if not self.training or not self.dropped:
            return x
        words = torch.randint(-(2**63), 2**63 - 1, (-(-x.numel() // 8),), device=x.device)
        kept = words.view(torch.uint8)[: x.numel()].view(x.shape) >= self.dropped
        return x * kept.to(x.dtype).mul_(256 / (256 - self.dropped))


class FeatureEncoder(torch.nn.Module):
    """Points as a linear (``layers=0``) or multi-layer function of the inputs of a node.

    Column 0 of the inputs is a first guess of the height (SpringRank). It joins the last coordinate directly, times a
    learned scale; the other inputs may correct it.
    """

    def __init__(
        self,
        n_inputs: int,
        n_components: int,
        *,
        layers: int = 0,
        width: int = 0,
        dropout: float = 0.0,
        input_dropout: float = 0.0,
        radii: bool = True,
    ):
        super().__init__()
        parts: list[torch.nn.Module] = [Dropout(input_dropout)]
        size = n_inputs
        for _ in range(layers):
            parts += [torch.nn.Linear(size, width), torch.nn.ReLU(), Dropout(dropout)]
            size = width
        self.body = torch.nn.Sequential(*parts)
        self.place = torch.nn.Linear(size, n_components)
        torch.nn.init.zeros_(self.place.bias)
        self.height_scale = torch.nn.Parameter(torch.tensor(1.0))
        self.radii = torch.nn.Linear(size, 2) if radii else None
        if self.radii is not None:  # start as the paper's decoder
            torch.nn.init.zeros_(self.radii.weight)
            torch.nn.init.zeros_(self.radii.bias)

    def forward(self, inputs: torch.Tensor, nodes: torch.Tensor | None = None) -> Places:
        """Places of some nodes, or of all rows of the inputs."""
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


@dataclass(frozen=True, eq=False)
class FittedModel:
    """What remains of a model, in plain numpy: nodes in Randers space and a decoder, ``(r_ij - d^power) / t``.

    The power is 2 in the Fermi-Dirac decoder, and 1 in the closed form, whose score is the distance itself.
    """

    points: Array
    radii: Array  # (out, in) of each node; zeros in the paper's decoder
    alpha: float
    radius: float
    temperature: float
    power: int = 2

    @classmethod
    def of(cls, model: LinkModel, places: Places) -> FittedModel:
        """Take places and decoder out of PyTorch, and put the map into the frame that all maps are given in."""
        points = places.points.detach().cpu().numpy().astype(np.float64)
        radii = np.zeros((len(points), 2))
        if places.radii is not None:
            radii = places.radii.detach().cpu().numpy().astype(np.float64)
        decoder = model.decoder
        numbers = (decoder.alpha(), decoder.log_radius.exp(), decoder.log_temperature.exp())
        alpha, radius, temperature = (float(number.detach()) for number in numbers)
        points, _ = upright(points, drift_vector(alpha, points.shape[1]))
        return cls(points, radii, abs(alpha), radius, temperature)

    def logits(self, pairs: Integers) -> Array:
        """Logits of arcs from the first to the second node of each pair."""
        return self._logits(pairs, back=False)[0]

    def both_logits(self, pairs: Integers) -> tuple[Array, Array]:
        """Logits of arcs from the first to the second node of each pair, and back."""
        there, back = self._logits(pairs, back=True)
        return there, back

    def _logits(self, pairs: Integers, back: bool) -> list[Array]:
        found: list[Array] = [np.empty(len(pairs)) for _ in range(1 + back)]
        for start in range(0, len(pairs), BLOCK):
            i, j = pairs[start : start + BLOCK, 0], pairs[start : start + BLOCK, 1]
            step = self.points[j] - self.points[i]
            length, rise = np.sqrt(np.einsum("ij,ij->i", step, step)), self.alpha * step[:, -1]
            for logits, (a, b, distance) in zip(
                found, ((i, j, length + rise), (j, i, length - rise)), strict=False
            ):
                reach = self.radius + self.radii[a, 0] + self.radii[b, 1]
                logits[start : start + BLOCK] = (reach - distance**self.power) / self.temperature
        return found
