"""NERD (Khosla, Leonhardt, Nejdl, Anand, 2019): skip-gram with negative sampling on walks that alternate between roles.

A source walk goes hub -> authority <- hub -> authority ...: along an arc, then back along another that enters the same node.
The vector of its first hub learns to have large products with the target vectors of the authorities that it meets, and small
ones with those of random nodes. A target walk is the same with the roles exchanged. The method is written as it is
described: every neighbor may be drawn, and every walk has negatives of its own.
"""

# ruff: noqa: NPY002 (the generator that numba compiles)

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
from numba import njit
from scipy import sparse

from published.sight import Array, Logits, Sight, Watch, linear_readout, product_logit

LAST = 1e6  # what ranks pairs with an untrained vector below all others


def nerd(
    sight: Sight,
    *,
    seed: int = 0,
    readout: Literal["product", "raw product", "linear"] = "product",
    dim: int = 128,
    walks_per_arc: int = 30,
    walk_size: int = 3,
    negatives: int = 5,
    joint: bool = False,
    learning_rate: float = 0.025,
) -> Logits:
    """Vectors of NERD, and a score from them.

    "product" is s_i . t_j, with pairs last whose s_i or t_j never was trained, because i has no observed arc out or j none
    in: their product is near 0, which is above that of most trained pairs. "raw product" leaves them there. "linear" is a
    logistic regression on the two vectors.
    """
    source, target = vectors(
        sight, dim=dim, n_walks=walks_per_arc * len(sight.arcs), walk_size=walk_size, negatives=negatives,
        joint=joint, learning_rate=learning_rate, seed=seed,
    )  # fmt: skip
    if readout == "linear":
        return linear_readout(source, target, sight, seed)
    product = product_logit(source, target)
    untrained = (sight.out_degree == 0, sight.in_degree == 0)

    def logit(pairs: Array) -> Array:
        last = untrained[0][pairs[:, 0]] | untrained[1][pairs[:, 1]]
        return product(pairs) - LAST * (last & (readout == "product"))

    watch = Watch(sight.validation, patience=1)
    watch.see(0, logit)
    return watch.logits()


def vectors(
    sight: Sight, *, dim: int, n_walks: int, walk_size: int, negatives: int, joint: bool, learning_rate: float, seed: int
) -> tuple[Array, Array]:  # fmt: skip
    """Source and target vectors after so many walks; sequential, so that a seed gives the same."""
    rng = np.random.default_rng(seed)
    source = ((rng.random((sight.n_nodes, dim)) - 0.5) / dim).astype(np.float32)
    target = np.zeros((sight.n_nodes, dim), dtype=np.float32)
    out = sparse.csr_array(sight.adjacency)
    into = sparse.csr_array(out.T)
    weights = [cumulative_weights(degree) for degree in (sight.out_degree, sight.in_degree)]
    _train(
        source, target, out.indptr, out.indices, into.indptr, into.indices, sight.arcs[:, 0].copy(), sight.arcs[:, 1].copy(),
        *weights, n_walks, walk_size, negatives, joint, learning_rate, seed,
    )  # fmt: skip
    return source, target


def cumulative_weights(degree: Array) -> Array:
    """Of the nodes as negatives: d^0.75, summed up to 1."""
    weights = np.cumsum(degree**0.75)
    return weights / weights[-1]


@njit(cache=True)
def draw_node(cumulative: Any) -> int:
    """A node by its weight."""
    return np.searchsorted(cumulative, np.random.random())


@njit(cache=True)
def draw_walk(
    start: int,
    role: int,
    size: int,
    indptr: Any,
    indices: Any,
    back_indptr: Any,
    back_indices: Any,
    walk: Any,
) -> None:
    """Walk of 2 * size nodes into `walk`, which alternates: forward along an arc, then backward along another.

    For role 0 forward is along arcs, for role 1 against them.
    """
    walk[0] = start
    for k in range(1, 2 * size):
        at = walk[k - 1]
        ahead = (k % 2 == 1) == (role == 0)
        if ahead:
            walk[k] = indices[indptr[at] + np.random.randint(0, indptr[at + 1] - indptr[at])]
        else:
            walk[k] = back_indices[
                back_indptr[at] + np.random.randint(0, back_indptr[at + 1] - back_indptr[at])
            ]


@njit(cache=True, fastmath=True)
def _learn(
    u: Any, context: Any, positive: int, cumulative: Any, n_negatives: int, rate: float, change: Any
) -> None:
    """One positive context and its negatives: contexts move at once, the change of the input is gathered."""
    for k in range(n_negatives + 1):
        v = positive if k == 0 else draw_node(cumulative)
        if k > 0 and v == positive:
            continue
        product = 0.0
        for c in range(len(u)):
            product += u[c] * context[v, c]
        step = rate * ((1.0 if k == 0 else 0.0) - 1 / (1 + math.exp(-product)))
        for c in range(len(u)):
            change[c] += step * context[v, c]
            context[v, c] += step * u[c]


@njit(cache=True)
def _train(
    source: Any, target: Any, indptr: Any, indices: Any, back_indptr: Any, back_indices: Any, tails: Any, heads: Any,
    out_weight: Any, in_weight: Any, n_walks: int, size: int, n_negatives: int, joint: bool, rate: float, seed: int,
) -> None:  # fmt: skip
    np.random.seed(seed)
    walk = np.zeros(2 * size, dtype=np.int64)
    change = np.zeros(source.shape[1], dtype=np.float32)
    for w in range(n_walks):
        present = rate * max(1 - w / n_walks, 1e-4)
        role = np.random.randint(0, 2)
        arc = np.random.randint(0, len(tails))
        start = tails[arc] if role == 0 else heads[arc]  # in proportion to its degree
        draw_walk(start, role, size, indptr, indices, back_indptr, back_indices, walk)
        own, other = (source, target) if role == 0 else (target, source)
        own_weight, other_weight = (out_weight, in_weight) if role == 0 else (in_weight, out_weight)
        u = own[start].copy()
        change[:] = 0
        for k in range(1, 2 * size, 2):
            _learn(u, other, walk[k], other_weight, n_negatives, present, change)
        if joint:
            for k in range(2, 2 * size, 2):
                if walk[k] != start:
                    _learn(u, own, walk[k], own_weight, n_negatives, present, change)
        for c in range(len(u)):
            own[start, c] += change[c]
