"""Cross-fitting: learn to predict arcs from inputs that do not know them.

Structural inputs (heights, factors, propagated features) are computed from arcs. An encoder that is trained on the arcs
which its inputs were computed from learns to read them off, and is lost on arcs that are new. So the arcs are dealt into
folds; the inputs of a fold are computed **without** it, and its arcs are what is learned from them. For prediction, the
inputs are computed from all known arcs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.learn.backend import torch
from finsler.learn.heights import choose_ridge, springrank
from finsler.learn.sampling import Lesson
from finsler.learn.structure import log_ppr_factors, propagate, unit_rows

Array = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

N_COLUMNS = 3  # single columns of the inputs: height and two degrees
BLOCK_SIZE = 3.0  # root mean square norm of the rows of each block of inputs, against 1 for a single column


@dataclass(frozen=True, eq=False)
class NodeInputs:
    """What is known about nodes: single columns (height, log degrees), and blocks (factors, features).

    Attributes
    ----------
    columns : array of shape (n, 3)
        SpringRank height, log(1 + out-degree), log(1 + in-degree).
    factors : array of shape (n, rank)
        Of the logarithm of the personalised PageRank.
    features : list of arrays of shape (n, d)
        Own features, and those propagated over 1, 2, ... arcs.
    """

    columns: Array
    factors: Array
    features: list[Array]


def node_inputs(
    arcs: Integers,
    n_nodes: int,
    features: Array | None,
    *,
    rank: int,
    hops: int,
    ridge: float,
    n_jobs: int | None = None,
) -> NodeInputs:
    """Compute the inputs from arcs, and from features if there are any."""
    degrees = [np.log1p(np.bincount(arcs[:, k], minlength=n_nodes)) for k in (0, 1)]
    spread: list[Array] = []
    reached: Any = features
    for hop in range(0 if features is None else hops + 1):
        if hop:
            reached = propagate(reached, arcs, n_nodes)
        # The length of a mean says how many were averaged, which the degrees say better.
        spread.append(unit_rows(reached).astype(np.float32))
    source, _ = log_ppr_factors(arcs, n_nodes, rank, n_jobs=n_jobs, verbose=False)
    return NodeInputs(
        columns=np.column_stack([springrank(arcs, n_nodes, ridge=ridge), *degrees]),
        factors=_padded(unit_rows(source), rank),
        features=spread,
    )


def _padded(factors: Array, rank: int) -> Array:
    """Factors with columns of zeros for those that the graph does not have."""
    return np.pad(factors, ((0, 0), (0, rank - factors.shape[1])))


def align(factors: Array, reference: Array) -> Array:
    """Rotate factors, which are unique only up to a rotation, onto those of another fold.

    Examples
    --------
    >>> X = np.array([[1.0, 2.0], [0.0, 1.0], [3.0, -1.0]])
    >>> np.allclose(align(X @ [[0.0, -1.0], [1.0, 0.0]], X), X)
    True
    """
    left, _, right = np.linalg.svd(factors.T @ reference)
    return np.asarray(factors @ (left @ right))


def deal_folds(arcs: Integers, n_nodes: int, n_folds: int, rng: np.random.Generator) -> Integers:
    """Fold of each arc; both arcs of a reciprocal pair are in the same.

    Examples
    --------
    >>> arcs = np.array([[0, 1], [1, 0], [1, 2], [2, 3], [3, 0]])
    >>> fold = deal_folds(arcs, 4, 2, np.random.default_rng(0))
    >>> bool(fold[0] == fold[1]), np.bincount(fold[1:]).tolist()
    (True, [2, 2])
    """
    ends = np.sort(arcs, axis=1)
    _, pair = np.unique(ends[:, 0] * np.int64(n_nodes) + ends[:, 1], return_inverse=True)
    pair = pair.reshape(-1)
    return np.asarray((rng.permutation(pair.max() + 1) % n_folds)[pair])


class InputScale:
    """Shift and scale of the inputs for prediction, applied to those of every fold."""

    def __init__(self, inputs: NodeInputs):
        self.center, self.spread = inputs.columns.mean(0), inputs.columns.std(0) + 1e-9
        self.blocks = []
        for block in [inputs.factors, *inputs.features]:
            center = block.mean(0)
            size = np.sqrt(((block - center) ** 2).sum(1).mean())
            self.blocks.append((center, BLOCK_SIZE / max(float(size), 1e-9)))

    def __call__(self, inputs: NodeInputs) -> torch.Tensor:
        """One matrix with the height in column 0."""
        parts = [(inputs.columns - self.center) / self.spread]
        given = [inputs.factors, *inputs.features]
        parts += [
            (block - center) * scale for block, (center, scale) in zip(given, self.blocks, strict=False)
        ]
        return torch.as_tensor(np.concatenate(parts, axis=1), dtype=torch.float32)


@dataclass(frozen=True, eq=False)
class Curriculum:
    """What an encoder learns from.

    Attributes
    ----------
    lessons : list of Lesson
        Folds to train on.
    inputs : tensor
        Computed from all arcs to learn and no others: for the validation, whose pairs they must not know.
    final : tensor
        Computed from all known arcs, those that validated included: for prediction.
    """

    lessons: list[Lesson]
    inputs: torch.Tensor
    final: torch.Tensor

    def without_features(self, width: int) -> Curriculum:
        """The same with the first ``width`` columns alone: structure without features."""
        lessons = [Lesson(x.arcs, None if x.inputs is None else x.inputs[:, :width]) for x in self.lessons]
        return Curriculum(lessons, self.inputs[:, :width], self.final[:, :width])


def cross_fit(
    arcs: Integers,
    n_nodes: int,
    features: Array | None = None,
    *,
    n_folds: int = 6,
    rank: int = 64,
    hops: int = 2,
    known: Integers | None = None,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    watch: Callable[[str], None] | None = None,
) -> Curriculum:
    """Inputs and lessons of an encoder.

    Parameters
    ----------
    arcs : integer array of shape (E, 2)
        Arcs to learn.
    n_nodes : int
    features : array of shape (n, d), optional
        Dense features, for example of `finsler.learn.structure.text_factors`.
    n_folds : int
        1 learns from the inputs of all arcs, without cross-fitting.
    rank : int
        Number of log-PPR factors.
    hops : int
        How far features are propagated.
    known : integer array, optional
        Arcs from which the inputs for prediction are computed; those to learn by default.
    rng : numpy Generator
    n_jobs : int, optional
        Threads; the result does not depend on it.
    watch : callable, optional
        Told what is being done.
    """
    tell = watch or (lambda _: None)
    options: dict[str, Any] = {
        "rank": rank,
        "hops": hops,
        "ridge": choose_ridge(arcs, n_nodes),
        "n_jobs": n_jobs,
    }
    tell("inputs of all arcs")
    whole = node_inputs(arcs, n_nodes, features, **options)
    scale = InputScale(whole)

    def computed_from(some: Integers) -> torch.Tensor:
        part = node_inputs(some, n_nodes, features, **options)
        return scale(NodeInputs(part.columns, align(part.factors, whole.factors), part.features))

    inputs = scale(whole)
    final = inputs if known is None or np.array_equal(known, arcs) else computed_from(known)
    n_pairs = len(np.unique(np.sort(arcs, axis=1), axis=0))
    n_folds = max(1, min(n_folds, n_pairs // 2))  # no fold may be empty, nor all there is
    if n_folds == 1:
        return Curriculum([Lesson(arcs, inputs)], inputs, final)
    fold = deal_folds(arcs, n_nodes, n_folds, rng)
    lessons = []
    for k in range(n_folds):
        tell(f"inputs of fold {k + 1} of {n_folds}")
        lessons.append(Lesson(arcs[fold == k], computed_from(arcs[fold != k])))
    return Curriculum(lessons, inputs, final)
