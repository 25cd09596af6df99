"""What the trained networks share: inputs, sparse products in PyTorch, and a training that is watched."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import numpy as np
from scipy import sparse

from finsler.learn.model import torch, torch_threads

from published.sight import Array, Logit, Sight, Watch

Inputs = Literal["degrees", "features", "identity"]


def inputs_of(sight: Sight, inputs: Inputs) -> Any:
    """Inputs of the nodes: log-degrees, or features as a sparse tensor with rows of length 1; None for free vectors."""
    if inputs == "degrees":
        return torch.as_tensor(sight.log_degrees)
    if inputs == "identity":
        return None
    if sight.features is None:
        raise ValueError("inputs='features', but the graph has none.")
    X = sparse.csr_array(sight.features).astype(np.float32)
    length = np.sqrt(np.maximum((X * X).sum(axis=1), 1e-12))
    return as_tensor(sparse.csr_array(sparse.diags_array(1 / length) @ X))


def as_tensor(matrix: Any) -> Any:
    """Sparse matrix as a CSR tensor."""
    M = sparse.csr_array(matrix).astype(np.float32)
    rows, columns = (torch.as_tensor(index.astype(np.int32)) for index in (M.indptr, M.indices))
    return torch.sparse_csr_tensor(rows, columns, torch.as_tensor(M.data), size=M.shape)


class Propagate(torch.autograd.Function):
    """Sparse matrix times dense one; the transpose, which the gradient needs, is made once and kept."""

    @staticmethod
    def forward(ctx: Any, matrix: Any, turned: Any, x: Any) -> Any:
        """Product."""
        ctx.turned = turned
        return matrix @ x

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        """Gradient by the dense factor."""
        return None, None, ctx.turned @ gradients[0]


class Operator:
    """A constant sparse matrix that is applied to tensors with gradients."""

    def __init__(self, matrix: Any):
        self.matrix, self.turned = as_tensor(matrix), as_tensor(sparse.csr_array(matrix).T)

    def __call__(self, x: Any) -> Any:
        """Product with a dense tensor."""
        return Propagate.apply(self.matrix, self.turned, x)


class FirstLayer(torch.nn.Module):
    """Linear map of inputs, or of free vectors, one for each node (``inputs=None``)."""

    def __init__(self, inputs: Any, n_nodes: int, width: int):
        super().__init__()
        self.inputs = inputs if inputs is None or inputs.layout != torch.sparse_csr else operator_of(inputs)
        size = n_nodes if inputs is None else inputs.shape[1]
        bound = (6.0 / (size + width)) ** 0.5
        self.weight = torch.nn.Parameter((2 * torch.rand(size, width) - 1) * bound)
        self.bias = torch.nn.Parameter(torch.zeros(width))

    def forward(self) -> Any:
        """Vectors of all nodes."""
        if self.inputs is None:
            return self.weight + self.bias
        product = self.inputs(self.weight) if callable(self.inputs) else self.inputs @ self.weight
        return product + self.bias


def operator_of(tensor: Any) -> Operator:
    """Operator of a sparse CSR tensor."""
    matrix = sparse.csr_array(
        (tensor.values().numpy(), tensor.col_indices().numpy(), tensor.crow_indices().numpy()),
        shape=tuple(tensor.shape),
    )
    return Operator(matrix)


def train(
    sight: Sight,
    parameters: Any,
    step: Callable[[np.random.Generator], Any],
    state: Callable[[], Logit],
    *,
    learning_rate: float,
    weight_decay: float = 0.0,
    epochs: int = 200,
    every: int = 5,
    patience: int = 50,
    seed: int = 0,
    tasks: tuple[str, ...] = ("direction", "existence"),
    clip: float | None = None,
    modules: tuple[Any, ...] = (),
) -> Watch:
    """Adam on the loss that `step` gives for an epoch; every few epochs `state` gives a logit that is scored.

    Modules are put into training mode for a step and out of it for a state.
    """
    parameters = list(parameters)
    optimizer = torch.optim.Adam(parameters, lr=learning_rate, weight_decay=weight_decay)
    watch, rng = Watch(sight.validation, patience, tasks), np.random.default_rng([seed, 1])
    for epoch in range(1, epochs + 1):
        for module in modules:
            module.train()
        optimizer.zero_grad(set_to_none=True)
        step(rng).backward()
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimizer.step()
        if epoch % every == 0 or epoch == epochs:
            for module in modules:
                module.eval()
            with torch.no_grad():
                watch.see(epoch, state())
        if watch.done:
            break
    return watch


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Let torch draw from a seed for a while, on one thread; the caller's random numbers are left alone.

    Several threads add the gradients of a node in an order that changes from run to run.
    """
    with torch.random.fork_rng(devices=[]), torch_threads(1):
        torch.manual_seed(seed)
        yield


def pair_tensor(pairs: Array) -> Any:
    """Pairs of nodes as a tensor."""
    return torch.as_tensor(np.ascontiguousarray(pairs))
