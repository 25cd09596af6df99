"""Which way does an arc run? Heights that are learned for the direction alone, and who can be reached from whom.

The maps of `finsler.learn.model` learn places and directions at once. Of the direction alone more is to be had:

* Bradley and Terry's model, ``P(i -> j | one arc) = sigmoid(h_i - h_j)`` with ``h = X b + u``: a part that is linear in the
  features of the nodes, and one of each node's own. Both have a ridge, so that a node of few arcs is placed by its features
  and one of many by its arcs (`bradley_terry`).
* SpringRank heights, the means of both kinds of heights over neighbors and over theirs, numbers of arcs in and out, and of
  nodes that can be reached and that reach a node.
* Whether a directed path leads from i to j, or back. In a citation graph an arc against a path would close a circle.

A logistic regression weighs them, on arcs that what it sees does not know: the arcs are dealt into folds, and what is
known of an arc is computed without its fold. Its answers are log odds, not too sure of themselves.

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

from finsler.graphs.arc_set import ArcSet, Integers
from finsler.graphs.reach import Reach
from finsler.learn.features import adjacency, spring_heights, unit_rows
from finsler.learn.inputs import Problem

Array = NDArray[np.floating[Any]]

FOLDS = 6
FEWEST_ARCS = 50  # that run one way only, to learn from
OWN_RIDGE, FEATURE_RIDGE = (
    0.1,
    0.3,
)  # of the two parts of Bradley and Terry's heights; features have rows of length 1
STRENGTH = 0.1  # C of the regression: the ridge on weights of columns of root mean square 1 is 1 / C
PATH = 2.0  # size of a path beside them


@dataclass(frozen=True, eq=False)
class LearnedDirection:
    """Log odds of a direction: ``h_i - h_j``, and a number more or less where a path leads from i to j, or back."""

    heights: Array
    path_weight: float
    reach: Reach

    def __call__(self, pairs: Integers) -> Array:
        """Log odds that the arc between the two nodes of a pair runs from the first to the second."""
        steps = self.heights[pairs[:, 0]] - self.heights[pairs[:, 1]]
        return np.asarray(steps + self.path_weight * path_difference(self.reach, pairs))


def path_difference(reach: Reach, pairs: Integers) -> Array:
    """1 where a path leads from the first node to the second alone, -1 where one leads back alone, else 0."""
    there, back = reach.contains(pairs), reach.contains(pairs[:, ::-1])
    return there.astype(float) - back.astype(float)


def learned_direction(
    problem: Problem, rng: np.random.Generator
) -> tuple[LearnedDirection, LearnedDirection] | None:
    """What is learned from the arcs to learn, to validate with; and with all known arcs, to predict with.

    None where there are too few arcs to learn from, or where all run both ways.
    """
    arcs, n, (pairs, pair) = problem.arcs, problem.n_nodes, problem.pairs
    one_way = ~ArcSet(arcs, n).contains(arcs[:, ::-1])
    if one_way.sum() < FEWEST_ARCS:
        return None
    fold = (rng.permutation(len(pairs)) % FOLDS)[pair]  # both arcs of a reciprocal pair are in the same
    steps = []
    for k in range(FOLDS):
        steps.append(Knowledge.of(problem, arcs[fold != k]).steps(arcs[(fold == k) & one_way]))
    weights = direction_weights(np.concatenate(steps))

    def learned(known: Integers) -> LearnedDirection:
        knowledge = Knowledge.of(problem, known)
        return LearnedDirection(knowledge.columns @ weights[:-1], float(weights[-1]), knowledge.reach)

    validating = learned(arcs)
    return validating, validating if np.array_equal(problem.known, arcs) else learned(problem.known)


class Knowledge(NamedTuple):
    """What some arcs tell of the nodes: a row for each, and who can be reached."""

    columns: Array
    reach: Reach

    @classmethod
    def of(cls, problem: Problem, arcs: Integers) -> Knowledge:
        """Compute it from these arcs, and from no others of the problem."""
        n = problem.n_nodes
        graph = adjacency(arcs, n, "both")
        degree = np.maximum(graph.sum(axis=1), 1)
        reach = Reach(arcs, n)
        counts = [
            np.bincount(arcs[:, 0], minlength=n),
            np.bincount(arcs[:, 1], minlength=n),
            reach.ahead,
            reach.behind,
        ]
        columns = [np.log1p(count) for count in counts]
        for heights in (spring_heights(arcs, n, problem.ridge), bradley_terry(arcs, n, problem.features)):
            nearby = (graph @ heights) / degree
            columns += [heights, nearby, (graph @ nearby) / degree]
        return cls(np.column_stack(columns), reach)

    def steps(self, pairs: Integers) -> Array:
        """Differences of the columns of the two nodes of each pair, and of the paths between them."""
        differences = self.columns[pairs[:, 0]] - self.columns[pairs[:, 1]]
        return np.column_stack([differences, path_difference(self.reach, pairs)])


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

    The ridge is on weights of columns of root mean square 1, that of the last one, the paths, apart: it counts `PATH`.
    """
    scale = np.sqrt(np.mean(steps**2, axis=0))
    scale = np.append(np.where(scale > 0, scale, 1.0)[:-1], 1 / PATH)
    # The regression wants both answers: every other arc is shown reversed, which changes nothing in its likelihood.
    shown = np.arange(len(steps)) % 2 == 0
    steps = np.where(shown[:, None], steps, -steps) / scale
    fit = LogisticRegression(C=STRENGTH, fit_intercept=False, max_iter=500).fit(steps, shown)
    return np.asarray(fit.coef_[0] / scale)
