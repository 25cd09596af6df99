"""Probabilities that are probabilities: from scores, held-out arcs, and the number of arcs that a graph lacks.

The population is stated: an ordered pair of different nodes, drawn at random among those that are **not** observed arcs.
How many of them are arcs all the same no model can know; it is an assumption, ``missing_share``: of the true arcs this share
is missing from the graph, each as likely as any other. A graph of E observed arcs then lacks ``E s / (1 - s)``. Of the
arcs that are missing, those whose reverse is observed are as frequent as arcs of reciprocal pairs among the observed ones.

So there are two groups of pairs, those whose reverse arc is not observed and those whose reverse arc is. In each the
log odds rise with the score, along a line with bends at quartiles of the scores of held-out arcs. Slopes are fitted to
held-out arcs against other pairs, random ones and ends of two steps, weighted to the population; intercepts make the
probabilities of a group add up to the number of arcs that it is expected to lack.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import expit, xlogy

from finsler.graphs.arc_set import ArcSet, Integers, arcs_of_keys
from finsler.learn.features import adjacency
from finsler.learn.neighbors import shared

Array = NDArray[np.floating[Any]]
Score = Callable[[Any], Array]

POPULATION = "a random ordered pair of different nodes that is not an observed arc"
SAMPLE = 200_000  # pairs of a group that stand for all of it
BINS = 8  # of the reliability curve
LARGEST_LOG_ODDS = 35.0  # a probability below 1 and above 0 in double precision
FEWEST_FOR_BENDS = 40  # held-out arcs
# On slopes of standardized scores, in held-out arcs: keeps them finite where all arcs score higher.
RIDGE = 1e-2


class Line(NamedTuple):
    """A line with bends: slopes of its parts, which are not below 0, and the bends between them."""

    slopes: Array
    bends: Array

    def __call__(self, scores: Array) -> Array:
        """Heights of the line, 0 at the first bend or, without bends, at 0."""
        return np.asarray(_parts(scores, self.bends) @ self.slopes)


def _parts(scores: Array, bends: Array) -> Array:
    """How far a score is along each part of a line: columns that add up to the score, less the first bend."""
    if not len(bends):
        return scores[:, None]
    columns = [np.clip(scores, low, high) - low for low, high in pairwise([*bends, np.inf])]
    return np.column_stack([np.minimum(scores, bends[0]) - bends[0], *columns])


@dataclass(frozen=True, eq=False)
class Calibration:
    """Log odds from scores: ``lines[g](score) + intercepts[g]``; group g = 1 if the reverse arc is observed."""

    lines: list[Line]
    intercepts: Array

    def probabilities(self, scores: Array, reverse: NDArray[np.bool_]) -> Array:
        """Probability of an arc for each pair, from its score and whether its reverse arc is observed."""
        log_odds = np.empty(len(scores))
        for g in (0, 1):
            here = reverse == bool(g)
            log_odds[here] = self.lines[g](scores[here]) + self.intercepts[g]
        return np.asarray(expit(_clipped(log_odds)))


class Group(NamedTuple):
    """Pairs that stand for those of a group that are not observed arcs, how many they are, and the arcs it lacks."""

    pairs: Integers
    size: float
    weights: Array  # how many each stands for: they add up to the size
    missing: float


class Examples(NamedTuple):
    """Scores of held-out arcs and of other pairs, and what each of them weighs in the population."""

    scores: Array
    arcs: NDArray[np.bool_]
    weights: Array

    def part(self, chosen: NDArray[np.bool_]) -> Examples:
        """Some of them, at the same total weights of arcs and of pairs."""
        weights = self.weights.copy()
        for kind in (self.arcs, ~self.arcs):
            here = kind & chosen
            weights[here] *= weights[kind].sum() / max(weights[here].sum(), 1e-300)
        return Examples(self.scores[chosen], self.arcs[chosen], weights[chosen])


def missing_arcs(arcs: Integers, n: int, share: float) -> tuple[Array, Array]:
    """Sizes of the two groups of pairs that are no observed arcs, and how many arcs each lacks if ``share`` are missing."""
    reciprocal = int(ArcSet(arcs, n).contains(arcs[:, ::-1]).sum())
    backward = len(arcs) - reciprocal  # pairs whose reverse arc alone is observed
    sizes = np.array([n * (n - 1.0) - len(arcs) - backward, float(backward)])
    odds = share / (1 - share)
    # Half an arc where there is none (Jeffreys): that no pair is reciprocal does not prove that none can be.
    found = min(max(reciprocal, 0.5) * odds, float(backward))
    return sizes, np.minimum([len(arcs) * odds - found, found], sizes)


def largest_share(arcs: Integers, n: int) -> float:
    """Share of missing arcs that would explain every arc without its reverse as what is left of a reciprocal pair.

    If more are missing, each as likely as any other, the graph must have more such arcs than it has. 1 where there are no
    such arcs, as in undirected graphs, or no others.
    """
    reciprocal = int(ArcSet(arcs, n).contains(arcs[:, ::-1]).sum())
    backward = len(arcs) - reciprocal
    return backward / len(arcs) if backward and reciprocal else 1.0


def about_missing(report: dict[str, Any]) -> str:
    """What to say of a missing share with which the graph should have more arcs without a reverse than it has; else ""."""
    share, largest = report["missing_share"], report["largest_share"]
    if share <= largest:
        return ""
    return (
        f"missing_share={share:g} is more than the graph allows, nearly all of whose arcs have a reverse: if arcs are "
        f"missing one by one, at most {100 * largest:.2g} % are. All arcs without a reverse are taken for pairs of "
        "which the other arc is missing; give a smaller share to have them told apart."
    )


def groups(
    arcs: Integers, n: int, share: float, rng: np.random.Generator, without: Integers | None = None
) -> list[Group]:
    """Samples of both groups; ``without`` are further pairs that are left out of them, such as held-out arcs."""
    observed = ArcSet(arcs, n)
    left_out = observed if without is None else ArcSet(np.concatenate([arcs, without]), n)
    sizes, missing = missing_arcs(arcs, n, share)
    chances: Array
    if n * n <= 2 * SAMPLE:
        drawn, chances = arcs_of_keys(np.arange(n * n), n), np.ones(n * n)
    else:
        drawn, chances = near_and_random_pairs(arcs, n, SAMPLE, rng)
    free = (drawn[:, 0] != drawn[:, 1]) & ~left_out.contains(drawn) & ~observed.contains(drawn[:, ::-1])
    backward = arcs[:, ::-1]
    backward = backward[~left_out.contains(backward)]
    if len(backward) > SAMPLE:
        backward = backward[rng.permutation(len(backward))[:SAMPLE]]
    return [
        Group(pairs, float(size), size * weights / max(weights.sum(), 1e-300), float(lacks))
        for pairs, weights, size, lacks in zip(
            (drawn[free], backward), (1 / chances[free], np.ones(len(backward))), sizes, missing, strict=True
        )
    ]


def near_and_random_pairs(
    arcs: Integers, n: int, count: int, rng: np.random.Generator
) -> tuple[Integers, Array]:
    """Ordered pairs, half of them random and half the ends of two steps along arcs, whichever way these run.

    And how likely each was to be drawn, in whichever half: pairs two steps apart are few, and most of the arcs that are
    missing are among them, so that random pairs alone would let one stand for thousands of them.
    """
    near = adjacency(arcs, n, "both")
    degree = np.diff(near.indptr)
    starts = np.flatnonzero(degree)
    if not len(starts):
        return rng.integers(0, n, size=(count, 2)), np.full(count, 1 / n**2)

    def step(nodes: Integers) -> Integers:
        return near.indices[near.indptr[nodes] + (rng.random(len(nodes)) * degree[nodes]).astype(np.int64)]

    walked = starts[rng.integers(0, len(starts), size=count // 2)].astype(np.int64)
    ends = step(step(walked)).astype(np.int64)
    drawn = np.concatenate(
        [
            np.column_stack([walked, ends])[: count // 4],
            np.column_stack([ends, walked])[count // 4 :],
            rng.integers(0, n, size=(count - count // 2, 2)),
        ]
    )
    # By way of k, from i: 1 / (starts) 1 / degree_i 1 / degree_k.
    weighted = sparse.csr_array(near @ sparse.diags_array(1 / np.maximum(degree, 1)))
    inverse = 1 / np.maximum(degree, 1)
    either = (inverse[drawn[:, 0]] + inverse[drawn[:, 1]]) / 2
    walk = shared(weighted, near, drawn) * either / len(starts)
    return drawn, (walk + 1 / n**2) / 2


def fit_lines(
    score: Score, arcs: Integers, held_out: Integers, n: int, share: float, rng: np.random.Generator
) -> tuple[list[Line], dict[str, Any]]:
    """Lines of both groups, and how good the probabilities are on pairs that the lines were not fitted to.

    Parameters
    ----------
    score : callable
        Of ordered pairs; made from ``arcs`` alone.
    held_out : integer array of shape (H, 2)
        Arcs that the score does not know.
    """
    observed = ArcSet(arcs, n)
    of_group = observed.contains(held_out[:, ::-1])
    lines: list[Line] = []
    tested = []
    for g, group in enumerate(groups(arcs, n, share, rng, held_out)):
        positive = held_out[of_group == bool(g)]
        if not len(positive) or not len(group.pairs) or not 0 < group.missing < group.size:
            # Nothing to learn, or to learn from: as where the reverse arc is not observed.
            lines.append(lines[0] if lines else Line(np.zeros(1), np.empty(0)))
            continue
        scores = np.concatenate([score(positive), score(group.pairs)])
        is_arc = np.arange(len(scores)) < len(positive)
        weights = np.concatenate(
            [
                np.full(len(positive), group.missing / len(positive)),
                group.weights * (1 - group.missing / group.size),
            ]
        )
        examples = Examples(scores, is_arc, weights)
        lines.append(weighted_logistic(examples, _bends(examples))[0])
        tested.append(_predicted_by_halves(examples, rng))
    return lines, _report(tested)


def weighted_logistic(examples: Examples, bends: Array) -> tuple[Line, float]:
    """Line and intercept of the log odds by weighted maximum likelihood; no slope is below 0."""
    x, y, weights = examples
    parts = _parts(x, bends)
    spread = np.where(parts.std(axis=0) > 0, parts.std(axis=0), 1.0)
    Z = parts / spread
    w = weights * (y.sum() / weights[y].sum())  # a held-out arc weighs one
    share = np.average(y, weights=weights)

    def loss(at: Array) -> tuple[float, Array]:
        log_odds = Z @ at[:-1] + at[-1]
        off = w * (expit(log_odds) - y)
        value = w @ (np.logaddexp(0, log_odds) - y * log_odds) + RIDGE / 2 * (at[:-1] @ at[:-1])
        return float(value), np.append(off @ Z + RIDGE * at[:-1], off.sum())

    # From a line through the arcs' mean, in units in which the derivatives of all numbers are about as large.
    start = np.append(np.zeros(Z.shape[1]), np.log(share / (1 - share)))
    bounds = [(0.0, None)] * Z.shape[1] + [(None, None)]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    line = Line(found[:-1] / spread, bends)
    return line, _intercept(line(x), weights, float(weights[y].sum()))


def _bends(examples: Examples) -> Array:
    """Quartiles of the scores of arcs, if they are enough for lines with bends."""
    scores = examples.scores[examples.arcs]
    return (
        np.unique(np.quantile(scores, [0.25, 0.5, 0.75])) if len(scores) >= FEWEST_FOR_BENDS else np.empty(0)
    )


def fit_intercepts(
    score: Score, lines: list[Line], known: Integers, n: int, share: float, rng: np.random.Generator
) -> Calibration:
    """Intercepts with which the probabilities of the pairs that are no arcs of a graph add up to what it lacks."""
    found = np.zeros(2)
    for g, group in enumerate(groups(known, n, share, rng)):
        if len(group.pairs):
            found[g] = _intercept(lines[g](score(group.pairs)), group.weights, group.missing)
    return Calibration(lines, found)


def _intercept(scores: Array, weights: Array, wanted: float) -> float:
    """Number to add to log odds so that the weighted probabilities add up to the sum that is wanted, by bisection."""
    total = float(weights.sum())
    if not total > wanted > 0:
        return LARGEST_LOG_ODDS if wanted > 0 else -LARGEST_LOG_ODDS - float(scores.max(initial=0.0))
    usual = np.log(wanted / (total - wanted))
    low, high = usual - float(scores.max()), usual - float(scores.min())
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if weights @ expit(scores + middle) < wanted else (low, middle)
    return (low + high) / 2


def _clipped(log_odds: Array) -> Array:
    return np.clip(log_odds, -LARGEST_LOG_ODDS, LARGEST_LOG_ODDS)


def _predicted_by_halves(examples: Examples, rng: np.random.Generator) -> tuple[Array, Examples]:
    """Probabilities of examples, those of each half fitted to the other half."""
    first = np.empty(len(examples.scores), dtype=bool)
    for kind in (examples.arcs, ~examples.arcs):
        first[kind] = rng.permutation(int(kind.sum())) % 2 == 0
    found = np.empty(len(examples.scores))
    for half in (first, ~first):
        others = examples.part(~half)
        if others.arcs.all() or not others.arcs.any():
            others = examples  # a single arc, or a single pair without one: it must be predicted by itself
        line, intercept = weighted_logistic(others, _bends(others))
        found[half] = expit(_clipped(line(examples.scores[half]) + intercept))
    return found, examples


def _report(tested: list[tuple[Array, Examples]]) -> dict[str, Any]:
    """Brier score, log loss and reliability curve in the population, beside those of the same chance for all pairs."""
    if not tested:
        return {}
    p = np.concatenate([found for found, _ in tested])
    y = np.concatenate([examples.arcs for _, examples in tested])
    weights = np.concatenate([examples.weights for _, examples in tested])
    share = float(np.average(y, weights=weights))
    order = np.argsort(p, kind="stable")
    expected = np.cumsum((weights * p)[order])
    bins = np.minimum((expected / expected[-1] * BINS).astype(int), BINS - 1)
    filled = np.unique(bins)
    pairs, predicted, arcs = (
        np.bincount(bins, values[order], BINS)[filled] for values in (weights, weights * p, weights * y)
    )
    return {
        "brier": float(np.average((p - y) ** 2, weights=weights)),
        "brier_of_chance": share * (1 - share),
        "log_loss": float(np.average(-xlogy(y, p) - xlogy(1.0 - y, 1 - p), weights=weights)),
        "log_loss_of_chance": float(-xlogy(share, share) - xlogy(1 - share, 1 - share)),
        "reliability": {
            "predicted": (predicted / pairs).tolist(),
            "observed": (arcs / pairs).tolist(),
            "pairs": pairs.tolist(),
        },
        "held_out_arcs": int(y.sum()),
    }
