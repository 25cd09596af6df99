"""DUPLEX (Ke, Yu, Li, Zhang, ICML 2024): complex vectors a exp(i theta) whose products are to be the Hermitian adjacency.

Two graph attention networks, one for amplitudes and one for phases, pass messages along the observed arcs, both ways; a
message against an arc has the weight -1 in the phase. The released code passes them along all arcs, those held out for
validation and test too: a `Sight` with `hidden_arcs` does the same, to explain published figures, and never counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from finsler.learn.model import torch

from published.networks import inputs_of, pair_tensor, seeded, train
from published.sight import Array, Logit, Logits, Sight

SLOPE = 0.2  # of the leaky attention
LEAST = -1e30  # below every attention
# Points (R, I) of the four classes: reversed, forward, both ways, none.
CLASSES = ((0.0, -1.0), (0.0, 1.0), (1.0, 0.0), (0.0, 0.0))


class Messages:
    """Message edges by their receivers: sender, receiver, weight in the phase; both ways along each arc, and loops."""

    def __init__(self, arcs: Array, n_nodes: int):
        loops = np.arange(n_nodes)
        sender = np.concatenate([arcs[:, 0], arcs[:, 1], loops])
        receiver = np.concatenate([arcs[:, 1], arcs[:, 0], loops])
        sign = np.repeat(np.array([1, -1, 1], dtype=np.float32), [len(arcs), len(arcs), n_nodes])
        order = np.argsort(receiver, kind="stable")
        self.sender, self.receiver, self.phase = sender[order], receiver[order], sign[order]
        self.amplitude = np.ones_like(self.phase)
        self.starts = np.searchsorted(self.receiver, np.arange(n_nodes + 1))


@njit(cache=True, fastmath=True)
def _attend(
    h: Any, left: Any, right: Any, starts: Any, sender: Any, weight: Any, share: Any, out: Any
) -> None:
    """Shares of the messages (softmax over those that a node receives) and their weighted sums, into `share` and `out`."""
    for r in range(len(starts) - 1):
        top = LEAST  # no infinity, which fastmath takes for impossible
        for k in range(starts[r], starts[r + 1]):
            e = left[sender[k]] + right[r]
            share[k] = e if e > 0 else SLOPE * e
            top = max(top, share[k])
        total = 0.0
        for k in range(starts[r], starts[r + 1]):
            share[k] = math.exp(share[k] - top)
            total += share[k]
        for k in range(starts[r], starts[r + 1]):
            share[k] /= total
            factor, s = share[k] * weight[k], sender[k]
            for c in range(h.shape[1]):
                out[r, c] += factor * h[s, c]


@njit(cache=True, fastmath=True)
def _attend_back(
    h: Any, left: Any, right: Any, starts: Any, sender: Any, weight: Any, share: Any, gradient: Any,
    by_h: Any, by_left: Any, by_right: Any,
) -> None:  # fmt: skip
    """Gradients by the vectors and by both parts of the attention, added to the last three."""
    by_share = np.empty_like(share)
    for r in range(len(starts) - 1):
        mean = 0.0
        for k in range(starts[r], starts[r + 1]):
            s, factor, product = sender[k], share[k] * weight[k], np.float32(0.0)
            for c in range(h.shape[1]):
                product += gradient[r, c] * h[s, c]
                by_h[s, c] += factor * gradient[r, c]
            by_share[k] = weight[k] * product
            mean += share[k] * by_share[k]
        for k in range(starts[r], starts[r + 1]):
            s = sender[k]
            by_e = share[k] * (by_share[k] - mean) * (1 if left[s] + right[r] > 0 else SLOPE)
            by_left[s] += by_e
            by_right[r] += by_e


class Attend(torch.autograd.Function):
    """Softmax of leaky(left of the sender + right of the receiver), then weighted sums: no tensor of messages x width."""

    @staticmethod
    def forward(ctx: Any, h: Any, left: Any, right: Any, messages: Messages, weight: Array) -> Any:
        """New vectors of all nodes."""
        arrays = tuple(x.detach().numpy() for x in (h, left, right))
        share, out = np.empty(len(messages.sender), dtype=np.float32), np.zeros_like(arrays[0])
        _attend(*arrays, messages.starts, messages.sender, weight, share, out)
        ctx.kept = arrays, messages, weight, share
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients by vectors and attention."""
        arrays, messages, weight, share = ctx.kept
        found = tuple(np.zeros_like(x) for x in arrays)
        given = gradients[0].contiguous().numpy()
        _attend_back(*arrays, messages.starts, messages.sender, weight, share, given, *found)
        return (*(torch.from_numpy(x) for x in found), None, None)


class Attention(torch.nn.Module):
    """One head of graph attention; messages are weighted after the softmax."""

    def __init__(self, n_inputs: int, width: int):
        super().__init__()
        self.map = torch.nn.Linear(n_inputs, width, bias=False)
        self.left, self.right = (torch.nn.Parameter(torch.randn(width) / width**0.5) for _ in range(2))
        self.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self, x: Any, messages: Messages, weight: Array) -> Any:
        """New vectors of all nodes; `weight` of each message."""
        h = self.map(x)
        return Attend.apply(h, h @ self.left, h @ self.right, messages, weight) + self.bias


class Encoder(torch.nn.Module):
    """Amplitudes and phases by three layers each, which may be joined in the middle one."""

    def __init__(self, n_inputs: int, width: int, fusion: bool, dropout: float):
        super().__init__()
        sizes = [n_inputs, width, width]
        self.amplitude = torch.nn.ModuleList([Attention(size, width) for size in sizes])
        self.phase = torch.nn.ModuleList([Attention(size, width) for size in sizes])
        self.crossed = torch.nn.ModuleList([Attention(width, width) for _ in range(2)]) if fusion else None
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, a: Any, theta: Any, messages: Messages) -> tuple[Any, Any]:
        """Amplitudes and phases of all nodes."""
        for k in range(3):
            new_a, new_theta = (
                self.amplitude[k](a, messages, messages.amplitude),
                self.phase[k](theta, messages, messages.phase),
            )
            if k == 1 and self.crossed is not None:
                new_a = new_a + self.crossed[0](theta, messages, messages.amplitude)
                new_theta = new_theta + self.crossed[1](a, messages, messages.phase)
            a, theta = new_a, new_theta
            if k < 2:
                a, theta = (self.dropout(torch.relu(x)) for x in (a, theta))
        return a, theta


def duplex(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: str = "random",
    width: int = 64,
    fusion: bool = False,
    learning_rate: float = 1e-3,
    epochs: int = 400,
    weight: float = 0.1,
    decay: float = 1e-2,
    dropout: float = 0.5,
    every: int = 10,
    patience: int = 100,
) -> Logits:
    """Train DUPLEX; inputs are fixed random vectors, as published, or features or degrees of the nodes."""
    seen = sight.arcs if sight.hidden_arcs is None else np.concatenate([sight.arcs, sight.hidden_arcs])
    messages = Messages(seen, sight.n_nodes)
    with seeded(seed):
        if inputs == "random":
            start = [torch.randn(sight.n_nodes, 128) for _ in range(2)]
        else:
            given = inputs_of(sight, inputs)  # type: ignore[arg-type]
            given = given.to_dense() if given.layout == torch.sparse_csr else given
            start = [given, given]
        encoder = Encoder(start[0].shape[1], width, fusion, dropout)
        strength = [weight / (1 - decay)]

        def step(rng: np.random.Generator) -> Any:
            strength[0] *= 1 - decay
            pairs, classes = examples(sight, rng)
            R, imaginary, C = products(*encoder(*start, messages), pair_tensor(pairs))
            points = torch.tensor(CLASSES)
            distance = (
                (R[:, None] - points[:, 0]).square() + (imaginary[:, None] - points[:, 1]).square() + 1e-8
            ).sqrt()
            told = torch.nn.functional.cross_entropy(-distance, torch.as_tensor(classes))
            linked = torch.as_tensor((classes < 3).astype(np.float32))
            return told + strength[0] * torch.nn.functional.binary_cross_entropy_with_logits(C, linked)

        def state() -> Logit:
            a, theta = (x.detach().numpy().copy() for x in encoder(*start, messages))
            return lambda pairs: logit_of(a, theta, pairs)

        watch = train(
            sight, encoder.parameters(), step, state, learning_rate=learning_rate, epochs=epochs, every=every,
            patience=patience, seed=seed, clip=1.0, modules=(encoder,),
        )  # fmt: skip
    return watch.logits()


def examples(sight: Sight, rng: np.random.Generator) -> tuple[Array, Array]:
    """Pairs and their classes: one-way arcs, half of them reversed; reciprocal pairs once; half as many non-arcs."""
    one_way = rng.permutation(sight.one_way)
    half = len(one_way) // 2
    both = sight.arcs[sight.observed.contains(sight.arcs[:, ::-1]) & (sight.arcs[:, 0] < sight.arcs[:, 1])]
    none = sight.non_arcs(half, rng, either_way=True)
    parts = (one_way[:half, ::-1], one_way[half:], both, none)
    return np.concatenate(parts), np.repeat(np.arange(4), [len(part) for part in parts])


def products(a: Any, theta: Any, pairs: Any) -> tuple[Any, Any, Any]:
    """R = sum a_u a_v cos(theta_u - theta_v), I the same with the sine, C = a_u . a_v.

    Sines and cosines are those of nodes, which are fewer than pairs: with a exp(i theta) = p + i q R is p_u p_v + q_u q_v
    and I is q_u p_v - p_u q_v.
    """
    return PairProducts.apply(a * theta.cos(), a * theta.sin(), a, pairs)


class PairProducts(torch.autograd.Function):
    """The three products of pairs from p, q and a of their nodes: no tensor of pairs x width."""

    @staticmethod
    def forward(ctx: Any, p: Any, q: Any, a: Any, pairs: Any) -> Any:
        """R, I and C."""
        ctx.kept = tuple(x.detach().numpy() for x in (p, q, a, pairs))
        out = np.empty((3, len(pairs)), dtype=ctx.kept[0].dtype)
        _multiply(*ctx.kept, out)
        return tuple(torch.from_numpy(row) for row in out)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradients by p, q and a."""
        found = tuple(np.zeros_like(x) for x in ctx.kept[:3])
        _multiply_back(*ctx.kept, *(g.contiguous().numpy() for g in gradients), *found)
        return (*(torch.from_numpy(x) for x in found), None)


@njit(cache=True, fastmath=True)
def _multiply(p: Any, q: Any, a: Any, pairs: Any, out: Any) -> None:
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        real = imaginary = size = out.dtype.type(0)
        for c in range(p.shape[1]):
            real += p[i, c] * p[j, c] + q[i, c] * q[j, c]
            imaginary += q[i, c] * p[j, c] - p[i, c] * q[j, c]
            size += a[i, c] * a[j, c]
        out[0, k], out[1, k], out[2, k] = real, imaginary, size


@njit(cache=True, fastmath=True)
def _multiply_back(
    p: Any, q: Any, a: Any, pairs: Any, by_real: Any, by_imaginary: Any, by_size: Any, by_p: Any, by_q: Any, by_a: Any
) -> None:  # fmt: skip
    for k in range(len(pairs)):
        i, j = pairs[k, 0], pairs[k, 1]
        r, t, s = by_real[k], by_imaginary[k], by_size[k]
        for c in range(p.shape[1]):
            by_p[i, c] += r * p[j, c] - t * q[j, c]
            by_q[i, c] += r * q[j, c] + t * p[j, c]
            by_a[i, c] += s * a[j, c]
        for c in range(p.shape[1]):  # not in one loop with the other end, so that it can be in vectors
            by_p[j, c] += r * p[i, c] + t * q[i, c]
            by_q[j, c] += r * q[i, c] - t * p[i, c]
            by_a[j, c] += s * a[i, c]


def logit_of(a: Array, theta: Array, pairs: Array) -> Array:
    """log(p_forward + p_both) - log(p_reversed + p_none), p = softmax of minus the L1 distances to the classes' points."""
    i, j = pairs[:, 0], pairs[:, 1]
    size, turn = (a[i] * a[j]).astype(float), (theta[i] - theta[j]).astype(float)
    R, imaginary = (size * np.cos(turn)).sum(1), (size * np.sin(turn)).sum(1)
    e = [-(np.abs(R - r) + np.abs(imaginary - v)) for r, v in CLASSES]
    return np.logaddexp(e[1], e[2]) - np.logaddexp(e[0], e[3])
