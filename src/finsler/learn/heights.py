"""Which way does an arc run? Heights that are learned for the direction alone, and what leads from one node to another.

The maps of `finsler.learn.model` learn places and directions at once. Of the direction alone more is to be had:

* Bradley and Terry's model, ``P(i -> j | one arc) = sigmoid(h_i - h_j)`` with ``h = X b + u``: a part that is linear in the
  features of the nodes, and one of each node's own. Both have a ridge, so that a node of few arcs is placed by its features
  and one of many by its arcs (`bradley_terry`).
* SpringRank heights, the means of both kinds of heights over neighbors and over theirs, numbers of arcs in and out, and of
  nodes that can be reached and that reach a node.
* Paths from i to j, and back: whether there is one, and how many of two arcs (`Paths`). Where arcs run in circles these know
  what no heights can show; in a citation graph an arc against a path would close a circle, and there are none.

A logistic regression weighs them, on arcs that what it sees does not know: the arcs are dealt into folds, and what is
known of an arc is computed without its fold (but for the ridge of SpringRank). Its answers are log odds, not too sure of
themselves. Nothing is learned from graphs that are nearly trees: without its fold an arc of a tree joins nothing.

References
----------
Bradley, Terry: Rank analysis of incomplete block designs, Biometrika 39 (1952).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression

from finsler.geometry.components import graph_components
from finsler.graphs.arc_set import ArcSet, Integers
from finsler.graphs.reach import Reach
from finsler.learn.features import adjacency, spring_heights, unit_rows
from finsler.learn.inputs import Problem
from finsler.learn.neighbors import PairFeatures

Array = NDArray[np.floating[Any]]

FOLDS = 6
# To learn from: arcs that run one way only, and pairs of neighbors beyond those of a spanning forest.
FEWEST_ONE_WAY = 50
# Of the two parts of Bradley and Terry's heights, each node's own and that of the features, whose rows have length 1.
OWN_RIDGE, FEATURE_RIDGE = 0.1, 0.3
WEIGHT_RIDGE = 10.0  # of the regression, on weights of columns of root mean square 1
# Size of the column of paths beside those, whatever its root mean square: rare paths are sure signs.
PATH_SIZE = 2.0


class Paths:
    """Directed paths between nodes, from the arcs that may be seen."""

    def __init__(self, arcs: Integers, n_nodes: int):
        self.reach, self._neighbors = Reach(arcs, n_nodes), PairFeatures(arcs, n_nodes)

    def differences(self, pairs: Integers) -> Array:
        """What leads there beyond what leads back: paths of two arcs, as `PairFeatures` counts them, and if any does."""
        back = pairs[:, ::-1]
        short = self._neighbors.way("path", pairs) - self._neighbors.way("path", back)
        joined = self.reach.contains(pairs).astype(float) - self.reach.contains(back)
        return np.column_stack([short, joined])


@dataclass(frozen=True, eq=False)
class LearnedDirection:
    """Log odds of a direction: ``h_i - h_j``, and what the paths between the two nodes add."""

    heights: Array
    path_weights: Array  # of the columns of `Paths.differences`
    paths: Paths

    def __call__(self, pairs: Integers) -> Array:
        """Log odds that the arc between the two nodes of a pair runs from the first to the second."""
        steps = self.heights[pairs[:, 0]] - self.heights[pairs[:, 1]]
        return np.asarray(steps + self.paths.differences(pairs) @ self.path_weights)


def learned_direction(
    problem: Problem, rng: np.random.Generator
) -> tuple[LearnedDirection, LearnedDirection] | None:
    """What is learned from the arcs to learn, to validate with; and with all known arcs, to predict with.

    None where there are too few arcs to learn from, where all run both ways, or the graph is nearly a tree.
    """
    arcs, n, (pairs, pair) = problem.arcs, problem.n_nodes, problem.pairs
    one_way = ~ArcSet(arcs, n).contains(arcs[:, ::-1])
    in_forest = n - 1 - graph_components(adjacency(arcs, n, "both")).max()
    if min(one_way.sum(), len(pairs) - in_forest) < FEWEST_ONE_WAY:
        return None
    fold = (rng.permutation(len(pairs)) % FOLDS)[pair]  # both arcs of a reciprocal pair are in the same
    steps = []
    for k in range(FOLDS):
        steps.append(Knowledge.of(problem, arcs[fold != k]).steps(arcs[(fold == k) & one_way]))
    weights = direction_weights(np.concatenate(steps))

    def learned(known: Integers) -> LearnedDirection:
        knowledge = Knowledge.of(problem, known)
        return LearnedDirection(knowledge.columns @ weights[:-2], weights[-2:], knowledge.paths)

    validating = learned(arcs)
    return validating, validating if np.array_equal(problem.known, arcs) else learned(problem.known)


class Knowledge(NamedTuple):
    """What some arcs tell of the nodes: a row for each, and the paths between them."""

    columns: Array
    paths: Paths

    @classmethod
    def of(cls, problem: Problem, arcs: Integers) -> Knowledge:
        """Compute it from these arcs, and from no others of the problem."""
        n = problem.n_nodes
        graph = adjacency(arcs, n, "both")
        degree = np.maximum(graph.sum(axis=1), 1)
        paths = Paths(arcs, n)
        counts = [
            np.bincount(arcs[:, 0], minlength=n),
            np.bincount(arcs[:, 1], minlength=n),
            paths.reach.ahead,
            paths.reach.behind,
        ]
        columns = [np.log1p(count) for count in counts]
        for heights in (spring_heights(arcs, n, problem.ridge), bradley_terry(arcs, n, problem.features)):
            nearby = (graph @ heights) / degree
            columns += [heights, nearby, (graph @ nearby) / degree]
        return cls(np.column_stack(columns), paths)

    def steps(self, pairs: Integers) -> Array:
        """Differences of the columns of the two nodes of each pair, and of the paths between them."""
        differences = self.columns[pairs[:, 0]] - self.columns[pairs[:, 1]]
        return np.column_stack([differences, self.paths.differences(pairs)])


def bradley_terry(arcs: Integers, n: int, features: Array | None = None) -> Array:
    """Heights h = X b + u with which the arcs are likely: ``sum log(1 + exp(h_j - h_i)) + ridges`` is least.

    The ridges are ``OWN_RIDGE |u|^2 / 2`` and ``FEATURE_RIDGE |b|^2 / 2``; rows of X are scaled to length 1.
    """
    tails, heads = arcs[:, 0], arcs[:, 1]
    X = np.zeros((n, 0)) if features is None else unit_rows(features)

    def loss(unknown: Array) -> tuple[float, Array]:
        u, b = unknown[:n], unknown[n:]
        h = u + X @ b
        drop = h[tails] - h[heads]
        wrong = 1 / (1 + np.exp(np.minimum(drop, 500)))
        slope = np.bincount(heads, wrong, n) - np.bincount(tails, wrong, n)
        value = np.logaddexp(0, -drop).sum() + (OWN_RIDGE * u @ u + FEATURE_RIDGE * b @ b) / 2
        return float(value), np.concatenate([slope + OWN_RIDGE * u, X.T @ slope + FEATURE_RIDGE * b])

    found = minimize(loss, np.zeros(n + X.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 200}).x
    return np.asarray(found[:n] + X @ found[n:])


def direction_weights(steps: Array) -> Array:
    """Weights w with which ``sigmoid(step @ w)`` is the probability that an arc runs its way; of arcs.

    The ridge is on weights of columns of root mean square 1, but for the last one, whether there is a path, see `PATH_SIZE`.
    """
    scale = np.sqrt(np.mean(steps**2, axis=0))
    scale = np.append(np.where(scale > 0, scale, 1.0)[:-1], 1 / PATH_SIZE)
    # The regression wants both answers: every other arc is shown reversed, which changes nothing in its likelihood.
    shown = np.arange(len(steps)) % 2 == 0
    steps = np.where(shown[:, None], steps, -steps) / scale
    fit = LogisticRegression(C=1 / WEIGHT_RIDGE, fit_intercept=False, max_iter=500).fit(steps, shown)
    return np.asarray(fit.coef_[0] / scale)
