"""Heights that are learned from what is known about the nodes: which way does an arc run?

The encoders of `finsler.learn.model` learn places and directions at once, from the same inputs. Of the direction alone there
is more to be had from them: with ``P(i -> j | one arc) = sigmoid(h_i - h_j)`` and ``h = X w``, a logistic regression on the
differences of inputs of one-way arcs, which has one minimum. Beside the inputs of encoders it sees the mean height of the
neighbors of a node, and the mean of theirs. As in their training, the inputs of an arc are those of its fold, computed
without it: `h_i - h_j` is then a log odds, not too sure of itself.

Where an encoder takes part in a score, half of the log odds of a direction are those of the maps, and half are these.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from finsler.graphs.arc_set import ArcSet, Integers
from finsler.learn.features import adjacency
from finsler.learn.inputs import BLOCK_SIZE, N_COLUMNS, Curriculum, Problem

Array = NDArray[np.floating[Any]]

STRENGTH = 0.06  # C of the regression: the ridge on weights of standardized columns and of blocks of unit length is 1 / C
MOST_ARCS = 50_000  # that are learned from


def learned_heights(
    problem: Problem, curriculum: Curriculum, rng: np.random.Generator
) -> tuple[Array, Array] | None:
    """Heights from the arcs to learn, to validate with, and from all known arcs, to predict with.

    None where the inputs know the arcs that they are to predict (one fold), or where all arcs run both ways.
    """
    if len(curriculum.lessons) < 2:
        return None
    n, observed = problem.n_nodes, ArcSet(problem.arcs, problem.n_nodes)
    share = min(1.0, MOST_ARCS / len(problem.arcs))
    steps = []
    for arcs, inputs in curriculum.lessons:
        rest = problem.arcs[~ArcSet(arcs, n).contains(problem.arcs)]
        columns = height_columns(rest, n, inputs)
        one_way = arcs[~observed.contains(arcs[:, ::-1])]
        if share < 1:
            one_way = one_way[rng.random(len(one_way)) < share]
        steps.append(columns[one_way[:, 0]] - columns[one_way[:, 1]])
    weights = direction_weights(np.concatenate(steps))
    if weights is None:
        return None
    heights = height_columns(problem.arcs, n, curriculum.inputs) @ weights
    if curriculum.final is curriculum.inputs:
        return heights, heights
    return heights, height_columns(problem.known, n, curriculum.final) @ weights


def height_columns(arcs: Integers, n: int, inputs: Any) -> Array:
    """What heights are linear in: the inputs that were computed from these arcs, and mean heights one and two steps away."""
    columns = inputs.numpy().astype(np.float64)
    columns[:, N_COLUMNS:] /= BLOCK_SIZE
    graph = adjacency(arcs, n, "both")
    degree = np.maximum(graph.sum(axis=1), 1)
    nearby = (graph @ columns[:, 0]) / degree
    return np.column_stack([nearby, (graph @ nearby) / degree, columns])


def direction_weights(steps: Array) -> Array | None:
    """Weights w with which ``sigmoid(step @ w)`` is the probability that an arc runs its way; of arcs."""
    if len(steps) < 2:
        return None
    # The regression wants both answers: every other arc is shown reversed, which changes nothing in its likelihood.
    shown = np.arange(len(steps)) % 2 == 0
    steps = np.where(shown[:, None], steps, -steps)
    fit = LogisticRegression(C=STRENGTH, fit_intercept=False, max_iter=500).fit(steps, shown)
    return np.asarray(fit.coef_[0])
