"""Inputs of encoders, computed from arcs, and the folds in which arcs are learned from inputs that do not know them.

Cross-fitting: the inputs (heights, factors, propagated features) are computed from arcs. An encoder that is trained on the
arcs which its inputs were computed from learns to read them off, and is lost on arcs that are new. So the arcs are dealt
into folds; the inputs of a fold are computed **without** it, and its arcs are what is learned from them. What is the same
for all nodes, one ridge of the heights, shifts, scales, and the rotation onto the factors of all arcs, is taken from all of
them. For prediction, the inputs are computed from all known arcs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import cached_property
from finsler.graphs.arc_set import Integers, neighbor_pairs
from finsler.learn.features import choose_ridge, log_ppr_factors, neighbor_average, spring_heights, unit_rows
from finsler.learn.model import torch
from finsler.learn.options import LinkOptions
from finsler.learn.tasks import LinkTasks
from finsler.learn.training import Lesson

Array = NDArray[np.floating[Any]]

INPUT_BYTES = 2e9  # memory for the inputs of all folds together; a large graph gets fewer folds
N_COLUMNS = 3  # single columns of the inputs: height and two degrees
BLOCK_SIZE = 3.0  # root mean square norm of the rows of each block of inputs, against 1 for a single column


class Sketch(NamedTuple):
    """What needs no training: SpringRank heights, and factors of log-PPR on both sides."""

    heights: Array
    source: Array
    target: Array


@dataclass(frozen=True, eq=False)
class Problem:
    """What there is to learn from.

    ``known`` are the arcs from which inputs for prediction are computed: those to learn, and those that validate, unless
    the latter came from outside.
    """

    arcs: Integers  # to learn: sorted, distinct, no loops
    known: Integers
    n_nodes: int
    features: Array | None = None  # dense factors
    validation: LinkTasks | None = None
    held_out: Integers = field(
        default_factory=lambda: np.empty((0, 2), np.int64)
    )  # arcs that no score has seen
    rank: int = 64  # factors of log-PPR that are computed
    n_jobs: int | None = None

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """Unordered pairs of neighbors, and the position among them of each arc."""
        return neighbor_pairs(self.arcs, self.n_nodes)

    @cached_property
    def ridge(self) -> float:
        """Ridge of the heights."""
        return choose_ridge(self.arcs, self.n_nodes)

    def sketch_of(self, arcs: Integers) -> Sketch:
        """Heights and factors from some arcs."""
        n = self.n_nodes
        factors = log_ppr_factors(arcs, n, self.rank, n_jobs=self.n_jobs)
        return Sketch(spring_heights(arcs, n, self.ridge), *factors)

    @cached_property
    def sketch(self) -> Sketch:
        """From the arcs to learn."""
        return self.sketch_of(self.arcs)

    @cached_property
    def known_sketch(self) -> Sketch:
        """From all known arcs."""
        return self.sketch if np.array_equal(self.known, self.arcs) else self.sketch_of(self.known)


def node_inputs(
    arcs: Integers, n: int, features: Array | None, sketch: Sketch, *, rank: int, hops: int
) -> list[Array]:
    """What is known about the nodes, in blocks.

    The first has single columns: SpringRank height, log(1 + out-degree), log(1 + in-degree). Then factors of log-PPR,
    padded with zeros up to ``rank`` columns, and with features these, and their averages over 1, 2, ... hops.
    """
    degrees = [np.log1p(np.bincount(arcs[:, k], minlength=n)) for k in (0, 1)]
    columns = np.column_stack([sketch.heights, *degrees])
    source = sketch.source[:, :rank]
    blocks = [columns, np.pad(unit_rows(source), ((0, 0), (0, rank - source.shape[1])))]
    if features is not None:
        average, reached = neighbor_average(arcs, n), features
        for hop in range(hops + 1):
            reached = average @ reached if hop else reached
            # The length of a mean says how many were averaged, which the degrees say better.
            blocks.append(unit_rows(reached).astype(np.float32))
    return blocks


def align(factors: Array, reference: Array) -> Array:
    """Rotate factors, which are unique only up to a rotation, onto those of another fold."""
    left, _, right = np.linalg.svd(factors.T @ reference)
    return np.asarray(factors @ (left @ right))


class InputScale:
    """Shift and scale of some inputs, which can then be applied to those of every fold."""

    def __init__(self, blocks: list[Array]):
        columns, *rest = blocks
        self.center, self.spread = columns.mean(0), columns.std(0) + 1e-9
        centers = [block.mean(0) for block in rest]
        sizes = [np.sqrt(((block - c) ** 2).sum(1).mean()) for block, c in zip(rest, centers, strict=True)]
        self.rest = [(c, BLOCK_SIZE / max(float(s), 1e-9)) for c, s in zip(centers, sizes, strict=True)]

    def __call__(self, blocks: list[Array]) -> torch.Tensor:
        """One matrix with the height in column 0."""
        columns, *rest = blocks
        parts = [(columns - self.center) / self.spread]
        parts += [(block - c) * scale for block, (c, scale) in zip(rest, self.rest, strict=True)]
        return torch.as_tensor(np.concatenate(parts, axis=1), dtype=torch.float32)


class Curriculum(NamedTuple):
    """What an encoder learns from: the folds, and inputs for validation and for prediction.

    The inputs for the validation are computed from the arcs to learn and no others, as they must not know its pairs;
    those for prediction from all known arcs, those that validated included.
    """

    lessons: list[Lesson]
    inputs: Any  # tensors, or None for direct coordinates
    final: Any

    def without_features(self, width: int) -> Curriculum:
        """The same with the first ``width`` columns alone: structure without features."""
        lessons = [Lesson(arcs, inputs[:, :width]) for arcs, inputs in self.lessons]
        return Curriculum(lessons, self.inputs[:, :width], self.final[:, :width])


def cross_fit(
    problem: Problem,
    options: LinkOptions,
    rng: np.random.Generator,
    *,
    watch: Callable[[str], None] = lambda _: None,
) -> Curriculum:
    """Inputs and lessons of an encoder, in ``options.folds`` folds or as many as keep their inputs within two gigabytes."""
    arcs, n, features = problem.arcs, problem.n_nodes, problem.features

    def blocks(some: Integers, sketch: Sketch) -> list[Array]:
        return node_inputs(some, n, features, sketch, rank=options.ppr_rank, hops=options.hops)

    watch("inputs of all arcs")
    whole = blocks(arcs, problem.sketch)
    scale = InputScale(whole)

    def computed_from(some: Integers, sketch: Sketch) -> torch.Tensor:
        columns, factors, *rest = blocks(some, sketch)
        return scale([columns, align(factors, whole[1]), *rest])

    inputs = scale(whole)
    final = (
        inputs if np.array_equal(problem.known, arcs) else computed_from(problem.known, problem.known_sketch)
    )
    within_memory = int(INPUT_BYTES // (4 * inputs.shape[1] * n)) - 1
    # No fold may be empty, nor all there is.
    pairs, pair = problem.pairs
    n_folds = max(1, min(options.folds, max(within_memory, 2), len(pairs) // 2))
    if n_folds == 1:
        return Curriculum([Lesson(arcs, inputs)], inputs, final)
    fold = (rng.permutation(len(pairs)) % n_folds)[pair]  # both arcs of a reciprocal pair are in the same
    lessons = []
    for k in range(n_folds):
        watch(f"inputs of fold {k + 1} of {n_folds}")
        rest = arcs[fold != k]
        lessons.append(Lesson(arcs[fold == k], computed_from(rest, problem.sketch_of(rest))))
    return Curriculum(lessons, inputs, final)
