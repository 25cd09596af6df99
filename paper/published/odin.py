"""ODIN (Yoo, Lee, Shin, Kim, WWW 2023): interest, authority and hub factors, told apart by the degrees of negatives.

A link to the *less* popular of two targets speaks of interest; a link to the more popular one may be due to its popularity.
Written as described: the released trainer passes its arguments in another order and never sees an arc as a positive.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from finsler.learn.model import torch

from published.networks import pair_tensor, seeded
from published.sight import Array, Logits, Sight, Watch, linear_readout, product_logit

FACTORS = 3  # interest, authority, hub


def odin(
    sight: Sight,
    *,
    seed: int = 0,
    readout: Literal["product", "linear"] = "product",
    dim: int = 20,
    k: int = 4,
    weight: float = 0.5,
    learning_rate: float = 1e-2,
    epochs: int = 50,
    batch: int = 512,
    every: int = 5,
) -> Logits:
    """Train the factors; the score is their inner product, or a logistic regression on the vectors of the two nodes."""
    rng = np.random.default_rng([seed, 2])
    samplers = [DegreeSampler(sight.in_degree), DegreeSampler(sight.out_degree)]
    with seeded(seed):
        bound = dim**-0.5
        tables = [
            torch.nn.Parameter((2 * torch.rand(sight.n_nodes, FACTORS, dim) - 1) * bound) for _ in range(2)
        ]
        optimizer = torch.optim.Adam(
            tables, lr=learning_rate, betas=(0.5, 0.99), amsgrad=True, weight_decay=5e-8
        )
        watch = Watch(sight.validation, patience=epochs)
        for epoch in range(1, epochs + 1):
            order = rng.permutation(len(sight.arcs))
            for start in range(0, len(order), batch):
                arcs = sight.arcs[order[start : start + batch]]
                optimizer.zero_grad(set_to_none=True)
                loss(tables, sight, arcs, samplers, k, weight, rng).backward()
                optimizer.step()
            if epoch % every == 0 or epoch == epochs:
                s, t = (table.detach().numpy().reshape(sight.n_nodes, -1).copy() for table in tables)
                if readout == "product":
                    watch.see(epoch, product_logit(s, t))
    if readout == "product":
        return watch.logits()
    both = np.hstack([s, t])
    return linear_readout(both, both, sight, seed)


class DegreeSampler:
    """Draws nodes of strictly greater or smaller degree than given ones."""

    def __init__(self, degree: Array):
        self.order = np.argsort(degree, kind="stable")
        self.sorted, self.degree = degree[self.order], degree

    def draw(self, nodes: Array, greater: Array, rng: np.random.Generator) -> Array:
        """Node of greater (or smaller) degree for each; where there is none, one of the other side, or any at all."""
        n, d = len(self.order), self.degree[nodes]
        below, above = np.searchsorted(self.sorted, d, "left"), np.searchsorted(self.sorted, d, "right")
        greater = np.where(above == n, False, np.where(below == 0, True, greater))
        low, high = np.where(greater, above, 0), np.where(greater, n, below)
        high = np.where(high <= low, n, high)
        low = np.where(high <= low, 0, low)
        return self.order[low + (rng.random(len(nodes)) * (high - low)).astype(np.int64)]


def negatives(
    sight: Sight, arcs: Array, side: int, sampler: DegreeSampler, k: int, rng: np.random.Generator
) -> Array:
    """``k`` other ends for each arc (`side` 1: targets), by turns of greater and smaller degree; no observed arcs."""
    repeated = np.repeat(arcs, k, axis=0)
    greater = np.arange(len(repeated)) % 2 == 0
    drawn = sampler.draw(repeated[:, side], greater, rng)
    for _ in range(10):  # the few that are arcs, or the other end itself, are drawn again
        pairs = repeated.copy()
        pairs[:, side] = drawn
        bad = np.flatnonzero(sight.observed.contains(pairs) | (pairs[:, 0] == pairs[:, 1]))
        if not bad.size:
            break
        drawn[bad] = sampler.draw(repeated[bad, side], greater[bad], rng)
    return drawn


def loss(
    tables: list[Any], sight: Sight, arcs: Array, samplers: list[DegreeSampler], k: int, weight: float,
    rng: np.random.Generator,
) -> Any:  # fmt: skip
    """Pairwise ranking of arcs before non-arcs, and of the factors by the degrees of the negatives."""
    total = 0.0
    for side, degree, role in ((1, sight.in_degree, 1), (0, sight.out_degree, 2)):
        other = negatives(sight, arcs, side, samplers[1 - side], k, rng)
        pairs = np.repeat(arcs, k, axis=0)
        wrong = pairs.copy()
        wrong[:, side] = other
        difference = products(tables, pairs) - products(tables, wrong)  # (pairs, factors)
        total = total + ranked(difference.sum(1)).mean()
        smaller = torch.as_tensor((degree[other] < degree[pairs[:, side]]).astype(np.float32))
        greater = torch.as_tensor((degree[other] > degree[pairs[:, side]]).astype(np.float32))
        popular = smaller * ranked(difference[:, role]) + greater * ranked(-difference[:, role])
        others = [f for f in range(FACTORS) if f != role]
        total = total + weight * (popular + greater * sum(ranked(difference[:, f]) for f in others)).mean()
    return total


def products(tables: list[Any], pairs: Array) -> Any:
    """Products of the three factors of pairs, shape (pairs, 3)."""
    ends = pair_tensor(pairs)
    return (tables[0][ends[:, 0]] * tables[1][ends[:, 1]]).sum(2)


def ranked(difference: Any) -> Any:
    """-log sigmoid."""
    return torch.nn.functional.softplus(-difference)
