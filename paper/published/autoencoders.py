"""Autoencoders of digraphs: DiGAE, SDGAE, Gravity GAE; and free vectors with biases, which is the simplest of them.

Loss: the mean of -log p over observed arcs and of -log(1 - p) over as many pairs that are no observed arcs, new in every
epoch: uniform ones, as published, or mixed, a third of them reversed arcs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from scipy import sparse

from finsler.learn.model import torch

from published.networks import FirstLayer, Inputs, Operator, inputs_of, pair_tensor, seeded, train
from published.sight import Array, Logit, Logits, Sight, product_logit

Negatives = Literal["uniform", "mixed"]


def digae(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: Inputs = "degrees",
    layers: int = 2,
    alpha: float = 0.4,
    beta: float = 0.2,
    hidden: int = 64,
    dim: int = 32,
    learning_rate: float = 0.01,
    weight_decay: float = 5e-4,
    epochs: int = 200,
    negatives: Negatives = "uniform",
) -> Logits:
    """DiGAE (Kollias et al., AAAI 2022): source and target vectors, each passed along arcs; p = sigmoid(s_i . t_j).

    ``P_S = D_out^-alpha (A + I) D_in^-beta`` carries to sources, ``P_T = D_in^-alpha (A + I)' D_out^-beta`` to targets. With
    two layers ``S = P_S(relu(P_T(X W1 + b1)) W2 + b2)`` and ``T = P_T(relu(P_S(X W3 + b3)) W4 + b4)``; with one
    ``S = P_S(X W1 + b1)``, ``T = P_T(X W2 + b2)``. The best epoch is chosen on the validation pairs.
    """
    to_source, to_target = propagation(sight.adjacency, alpha, beta)
    with seeded(seed):
        X, n = inputs_of(sight, inputs), sight.n_nodes
        width = hidden if layers == 2 else dim
        first = [FirstLayer(X, n, width) for _ in range(2)]
        second = [torch.nn.Linear(hidden, dim) for _ in range(2)] if layers == 2 else []

        def encode() -> tuple[Any, Any]:
            if layers == 1:
                return to_source(first[0]()), to_target(first[1]())
            return (
                to_source(second[0](torch.relu(to_target(first[0]())))),
                to_target(second[1](torch.relu(to_source(first[1]())))),
            )

        modules = torch.nn.ModuleList([*first, *second])
        return _train_product(sight, modules, encode, seed, learning_rate, weight_decay, epochs, negatives)


def propagation(A: Any, alpha: float, beta: float) -> tuple[Operator, Operator]:
    """P_S and P_T of DiGAE: alpha belongs to the node that receives, beta to the one that sends."""
    loops = sparse.csr_array(A + sparse.eye_array(A.shape[0]))
    out, into = loops.sum(axis=1), loops.sum(axis=0)
    power = lambda d, p: sparse.diags_array(np.asarray(d, dtype=float) ** -p)  # noqa: E731
    return (
        Operator(power(out, alpha) @ loops @ power(into, beta)),
        Operator(power(into, alpha) @ sparse.csr_array(loops.T) @ power(out, beta)),
    )


def bilinear(
    sight: Sight, *, seed: int = 0, dim: int = 32, learning_rate: float = 0.02, weight_decay: float = 1e-3, epochs: int = 300
) -> Logits:  # fmt: skip
    """Free vectors and biases, s_i . t_j + b_i + c_j (DistMult or ComplEx with one relation), mixed negatives."""
    n = sight.n_nodes
    with seeded(seed):
        table = torch.nn.ParameterList([torch.nn.Parameter(0.1 * torch.randn(n, dim + 1)) for _ in range(2)])
        one = torch.ones(n, 1)

        def encode() -> tuple[Any, Any]:
            s, t = table
            return torch.cat([s, one], 1), torch.cat([t[:, :-1], one, t[:, -1:]], 1)

        return _train_product(sight, table, encode, seed, learning_rate, weight_decay, epochs, "mixed")


def sdgae(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: Inputs = "degrees",
    hops: int = 3,
    dim: int = 64,
    learning_rate: float = 0.01,
    weight_decay: float = 5e-4,
    epochs: int = 300,
    dropout: float = 0.5,
) -> Logits:
    """SDGAE (He et al., 2025): ``S <- S + w_k Â T, T <- T + v_k Â' S`` at once, Â symmetrically normalized, learned w and v.

    S and T start as two small networks of the inputs; an arc is decided by a network of the product of s_i and t_j, entry
    by entry.
    """
    onward, back = propagation(sight.adjacency, 0.5, 0.5)
    with seeded(seed):
        X, n = inputs_of(sight, inputs), sight.n_nodes
        first = [FirstLayer(X, n, dim) for _ in range(2)]
        second = [torch.nn.Linear(dim, dim) for _ in range(2)]
        drop = torch.nn.Dropout(dropout)
        decoder = torch.nn.Sequential(
            torch.nn.Linear(dim, dim), torch.nn.ReLU(), torch.nn.Dropout(dropout), torch.nn.Linear(dim, 1)
        )
        weights = torch.nn.Parameter(torch.ones(2, hops))
        modules = torch.nn.ModuleList([*first, *second, drop, decoder])

        def encode() -> tuple[Any, Any]:
            s, t = (last(drop(torch.relu(start()))) for start, last in zip(first, second, strict=True))
            for k in range(hops):
                s, t = s + weights[0, k] * onward(t), t + weights[1, k] * back(s)
            return s, t

        def scored(s: Any, t: Any, pairs: Any) -> Any:
            return decoder(s[pairs[:, 0]] * t[pairs[:, 1]])[:, 0]

        return _train_decoder(
            sight, modules, [weights], encode, scored, seed, learning_rate, weight_decay, epochs, "uniform"
        )


def gravity(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: Inputs = "degrees",
    pull: float = 1.0,
    hidden: int = 64,
    dim: int = 32,
    learning_rate: float = 0.01,
    epochs: int = 200,
) -> Logits:
    """Gravity GAE (Salha et al., 2019): logit = mass_j - pull log |z_i - z_j|^2, with two layers of graph convolution.

    The nearest relative of a Randers decoder: the mass plays the part of the height.
    """
    A = sparse.csr_array(sight.adjacency + sparse.eye_array(sight.n_nodes))
    convolve = Operator(sparse.diags_array(1 / A.sum(axis=1)) @ A)
    with seeded(seed):
        first = FirstLayer(inputs_of(sight, inputs), sight.n_nodes, hidden)
        second = torch.nn.Linear(hidden, dim + 1)

        def encode() -> tuple[Any, Any]:
            z = convolve(second(torch.relu(convolve(first()))))
            return z, z

        def scored(s: Any, t: Any, pairs: Any) -> Any:
            start, end = s[pairs[:, 0]], t[pairs[:, 1]]
            square = (start[:, :-1] - end[:, :-1]).square().sum(1)
            return end[:, -1] - pull * torch.log(square + 1e-4)

        modules = torch.nn.ModuleList([first, second])
        return _train_decoder(sight, modules, [], encode, scored, seed, learning_rate, 0.0, epochs, "uniform")


def _loss(sight: Sight, scored: Callable[[Any], Any], rng: np.random.Generator, negatives: Negatives) -> Any:
    count = len(sight.arcs)
    drawn = sight.non_arcs(count, rng) if negatives == "uniform" else sight.mixed_negatives(count, rng)
    softplus = torch.nn.functional.softplus
    return softplus(-scored(pair_tensor(sight.arcs))).mean() + softplus(scored(pair_tensor(drawn))).mean()


def _train_decoder(
    sight: Sight, modules: Any, more: list[Any], encode: Callable[[], tuple[Any, Any]],
    scored: Callable[[Any, Any, Any], Any], seed: int, learning_rate: float, weight_decay: float, epochs: int,
    negatives: Negatives,
) -> Logits:  # fmt: skip
    def step(rng: np.random.Generator) -> Any:
        s, t = encode()
        return _loss(sight, lambda pairs: scored(s, t, pairs), rng, negatives)

    def state() -> Logit:
        s, t = encode()
        # The decoder changes with the training, so that its answers to the few pairs that are asked are kept as it is now.
        kept = {name: value.clone() for name, value in modules.state_dict().items()}

        def logit(pairs: Array) -> Array:
            now = {name: value.clone() for name, value in modules.state_dict().items()}
            modules.load_state_dict(kept)
            modules.eval()
            with torch.no_grad():
                found = scored(s, t, pair_tensor(pairs)).double().numpy()
            modules.load_state_dict(now)
            return found

        return logit

    watch = train(
        sight, [*modules.parameters(), *more], step, state, learning_rate=learning_rate, weight_decay=weight_decay,
        epochs=epochs, seed=seed, modules=(modules,),
    )  # fmt: skip
    return watch.logits()


def _train_product(
    sight: Sight, modules: Any, encode: Callable[[], tuple[Any, Any]], seed: int, learning_rate: float, weight_decay: float,
    epochs: int, negatives: Negatives,
) -> Logits:  # fmt: skip
    def step(rng: np.random.Generator) -> Any:
        s, t = encode()
        return _loss(sight, lambda pairs: (s[pairs[:, 0]] * t[pairs[:, 1]]).sum(1), rng, negatives)

    def state() -> Logit:
        s, t = encode()
        return product_logit(s.detach().numpy().copy(), t.detach().numpy().copy())

    watch = train(
        sight, modules.parameters(), step, state, learning_rate=learning_rate, weight_decay=weight_decay, epochs=epochs,
        seed=seed,
    )  # fmt: skip
    return watch.logits()
