"""MagNet and DiGCN, plain and with inception, as they come with torch-geometric-signed-directed, trained on our splits.

One network is trained for direction and one for existence, as the authors of MagNet did; the epoch with the best
validation score counts. All of them put a linear layer on the joined vectors of the two nodes: logit(i, j) = a(i) + b(j) has
no term in the pair, so that one encoding with 2 n pairs answers all others.

The package is imported when a function is called; it works with any torch that `finsler.learn` does.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse

from finsler.learn.features import feature_factors
from finsler.learn.model import torch

from published.networks import Inputs, Operator, inputs_of, pair_tensor, seeded, train
from published.sight import Array, Logit, Logits, Sight, training_pairs

Network = Callable[[], tuple[Any, Callable[[Any], Any]]]


def magnet(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: Inputs = "degrees",
    hidden: int = 16,
    q: float = 0.25,
    learning_rate: float = 5e-3,
    epochs: int = 500,
    patience: int = 100,
) -> Logits:
    """MagNet (Zhang et al., NeurIPS 2021): convolutions with a Hermitian Laplacian whose phases show directions.

    `q` is the charge of the magnetic Laplacian: 0 ignores directions, 0.25 shows them best.
    """
    networks = _package("nn.directed")
    arcs, X = pair_tensor(sight.arcs.T), _dense(sight, inputs)

    def network() -> tuple[Any, Callable[[Any], Any]]:
        model = networks.MagNet_link_prediction(
            num_features=X.shape[1], hidden=hidden, q=q, K=1, label_dim=2, layer=2, dropout=0.5, cached=True
        )
        return by_products(model), lambda pairs: model(X, X, arcs, pairs)

    return _train(sight, network, learning_rate, epochs, patience, seed)


def digcn(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: Inputs = "degrees",
    hidden: int = 64,
    teleport: float = 0.1,
    learning_rate: float = 1e-2,
    epochs: int = 500,
    patience: int = 100,
) -> Logits:
    """DiGCN (Tong et al., NeurIPS 2020) without inception: convolutions weighted by PageRank.

    Its operator is symmetric: directions enter through degrees as inputs only.
    """
    networks = _package("nn.directed")
    X = _dense(sight, inputs)
    arcs, strength = _package("utils.directed").cal_fast_appr(
        teleport, pair_tensor(sight.arcs.T), sight.n_nodes, torch.float32
    )

    def network() -> tuple[Any, Callable[[Any], Any]]:
        model = networks.DiGCN_link_prediction(
            num_features=X.shape[1], hidden=hidden, label_dim=2, dropout=0.5
        )
        return by_products(model), lambda pairs: model(X, arcs, pairs, strength)

    return _train(sight, network, learning_rate, epochs, patience, seed)


def digcn_inception(
    sight: Sight,
    *,
    seed: int = 0,
    inputs: Inputs = "degrees",
    hidden: int = 32,
    teleport: float = 0.1,
    learning_rate: float = 1e-2,
    epochs: int = 300,
    patience: int = 60,
) -> Logits:
    """DiGCN with inception blocks: also neighbors of second order. The package forms them densely, n x n."""
    networks, tools = _package("nn.directed"), _package("utils.directed")
    X, ends = _dense(sight, inputs), pair_tensor(sight.arcs.T)
    arcs, strength = tools.cal_fast_appr(teleport, ends, sight.n_nodes, torch.float32)
    second, second_strength = tools.get_second_directed_adj(ends, sight.n_nodes, torch.float32)

    def network() -> tuple[Any, Callable[[Any], Any]]:
        model = networks.DiGCN_Inception_Block_link_prediction(
            num_features=X.shape[1], hidden=hidden, label_dim=2, dropout=0.5
        )
        return by_products(model), lambda pairs: model(X, (arcs, second), pairs, (strength, second_strength))

    return _train(sight, network, learning_rate, epochs, patience, seed)


def by_products(model: Any) -> Any:
    """Let the convolutions of a network pass messages by a sparse product, which is made once.

    The package gathers a row for each arc and adds them up, which gives the same and takes a hundred times as long.
    """
    for part in model.modules():
        if hasattr(part, "propagate"):
            part.propagate = _Product(part.flow, part.update)
    return model


class _Product:
    """Takes the place of `propagate` of a convolution: real or complex weights of arcs times the vectors of nodes."""

    def __init__(self, flow: str, update: Callable[[Any], Any]):
        self.flow, self.update, self.operators = flow, update, {}

    def __call__(self, arcs: Any, *, x: Any, norm: Any, size: Any = None) -> Any:
        if not self.operators:
            ends = arcs.numpy() if self.flow == "target_to_source" else arcs.numpy()[::-1]
            for kind in ("real", "imag") if norm.is_complex() else ("real",):
                values = getattr(norm.detach(), kind).numpy()
                self.operators[kind] = Operator(
                    sparse.csr_array((values, tuple(ends)), shape=(len(x), len(x)))
                )
        if not norm.is_complex():
            return self.update(self.operators["real"](x))
        both = torch.cat([x.real, x.imag], 1)
        (real, cross), (turned, back) = (self.operators[kind](both).chunk(2, 1) for kind in ("real", "imag"))
        return self.update(torch.complex(real - back, cross + turned))


def _package(module: str) -> Any:
    try:
        return import_module(f"torch_geometric_signed_directed.{module}")
    except ImportError as missing:
        raise ImportError(
            "MagNet and DiGCN come with the package torch-geometric-signed-directed, which is not installed: "
            "pip install 'torch-geometric-signed-directed>=1.2'"
        ) from missing


def _dense(sight: Sight, inputs: Inputs) -> Any:
    """Inputs as a dense tensor; of features the first singular vectors, because the package passes them along arcs whole."""
    if inputs == "features" and sight.features is not None:
        return torch.as_tensor(feature_factors(sight.features, random_state=0).astype(np.float32))
    return inputs_of(sight, inputs)


def _train(
    sight: Sight, network: Network, learning_rate: float, epochs: int, patience: int, seed: int
) -> Logits:
    """One network for direction and one for existence, each stopped by its validation score."""
    found: dict[str, Logit] = {}
    for task in ("direction", "existence"):
        with seeded(seed):
            examples = training_pairs(sight, task, np.random.default_rng(seed))  # type: ignore[arg-type]
            pairs, labels = pair_tensor(examples.pairs), torch.as_tensor(examples.labels.astype(np.int64))
            model, forward = network()

            def step(_: Any, forward: Any = forward, pairs: Any = pairs, labels: Any = labels) -> Any:
                return torch.nn.functional.nll_loss(forward(pairs), labels)

            watch = train(
                sight, model.parameters(), step, lambda forward=forward: additive_logit(forward, sight.n_nodes),
                learning_rate=learning_rate, weight_decay=5e-4, epochs=epochs, every=5, patience=patience, seed=seed,
                tasks=(task,), modules=(model,),
            )  # fmt: skip
        found[task] = getattr(watch.logits(), task)
    return Logits(**found)


def additive_logit(forward: Callable[[Any], Any], n: int) -> Logit:
    """Logit of all pairs from one encoding: logit(i, j) = logit(i, 0) + logit(0, j) - logit(0, 0)."""
    nodes, zeros = torch.arange(n), torch.zeros(n, dtype=torch.long)
    chance = forward(torch.cat([torch.stack([nodes, zeros], 1), torch.stack([zeros, nodes], 1)]))
    values = (chance[:, 1] - chance[:, 0]).double().numpy()
    first, second = values[:n], values[n:] - values[0]

    def logit(pairs: Array) -> Array:
        return first[pairs[:, 0]] + second[pairs[:, 1]]

    return logit
