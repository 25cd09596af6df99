"""The score of a `LinkPredictor`: one map or several, and what the pairs' neighbors add to it.

An arc has to be told from two kinds of pairs that are no arcs: random ones, which are mostly far apart, and reversed arcs,
which are near but lead up. A map gives two numbers, the logit from i to j and the one back, and from them two log odds: R,
of an arc against a random pair, and D, of an arc against its reverse. Where a share s of the negatives are reversed arcs, as
in the training, the log odds of an arc are ``-log((1 - s) exp(-R) + s exp(-D))``: about the smaller of the two. A pair that
is surely linked is then judged by its direction alone, and a very steep one by its distance, which no single logit does.

Maps that were trained differently, or not at all, err differently: R and D are the means of those of the members. Where a
direction can be learned for itself, it makes four fifths of D (`finsler.learn.heights`, up to 20,000 nodes). Which maps take
part, and whether a correction by the reverse arc and by common neighbors is added, is decided by validation scores.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from finsler._runtime import cached_property
from finsler.graphs.arc_set import ArcSet, Integers
from finsler.learn.heights import LearnedDirection
from finsler.learn.model import FittedModel
from finsler.learn.neighbors import FEATURES, PairFeatures
from finsler.learn.tasks import LinkTasks, PairTask, mean_score, roc_auc, score_links

Array = NDArray[np.floating[Any]]

CORRECTION_GAIN = 0.1  # points of the mean score that a correction must gain to be used
CORRECTION_FOLDS = 5  # of held-out pairs, in which a correction is learned without those that it is judged by
# Arcs held out, to learn a correction from, or what tells arcs from their reverses, and to compare inputs.
FEWEST_ARCS = 50
FEWEST_ALONE = 30  # of them with an observed reverse arc, to judge by these as well
CORRECTION_RIDGE = 0.02  # per held-out arc, on the weights of standardized features: keeps them small
LEARNED_SHARE = 0.8  # of the log odds of a direction
RANDOM_PAIRS = 20_000  # that stand for pairs without an arc


@dataclass(frozen=True, eq=False)
class LinkScore:
    """Log odds of an arc by the maps together, and a linear correction by `PairFeatures`.

    With the logits u from i to j and v back, a map says ``R = p u + q v + c`` and ``D = e (u - v)``. With p = e = 1, q = c =
    0 and no reversed arcs among the negatives the score is the mean logit. Where a direction was ``learned``, it makes
    `LEARNED_SHARE` of D.
    """

    members: list[FittedModel]
    lines: Array  # (members, 4): p, q, c, e
    reversed_share: float  # of the negatives
    correction: Array  # a weight for each of `FEATURES`; zeros are none
    neighbors: PairFeatures | None = None  # of the arcs that may be seen; needed for a correction
    learned: LearnedDirection | None = None  # for the direction alone

    @classmethod
    def mean(cls, members: list[FittedModel]) -> LinkScore:
        """Plain mean of the logits."""
        return cls(members, np.tile([1.0, 0.0, 0.0, 1.0], (len(members), 1)), 0.0, np.zeros(len(FEATURES)))

    @classmethod
    def mixture(
        cls,
        members: list[FittedModel],
        lines: Array,
        reversed_share: float,
        learned: LearnedDirection | None = None,
    ) -> LinkScore:
        """Without a correction."""
        return cls(members, lines, reversed_share, np.zeros(len(FEATURES)), learned=learned)

    def __call__(self, pairs: Integers) -> Array:
        """Scores of ordered pairs."""
        share = self.reversed_share
        apart, steep = np.zeros(len(pairs)), np.zeros(len(pairs))
        for model, (p, q, c, e) in zip(self.members, self.lines, strict=True):
            there, back = model.both_logits(pairs)
            apart += p * there + q * back + c
            steep += e * (there - back)
        found = apart / len(self.members)
        if share:
            weights = np.array([[1 - share], [share]])
            found = -logsumexp([-found, -self._steepness(steep, pairs)], axis=0, b=weights)
        return np.asarray(found + self._corrections(pairs))

    def direction(self, pairs: Integers) -> Array:
        """Log odds that the arc between the two nodes of a pair runs from the first to the second, if there is one.

        What is learned for the direction alone knows of the paths between them. Without it the correction counts here, too.
        """
        steep = np.zeros(len(pairs))
        for model, slope in zip(self.members, self.lines[:, 3], strict=True):
            there, back = model.both_logits(pairs)
            steep += slope * (there - back)
        if self.learned is not None:
            return np.asarray(self._steepness(steep, pairs))
        corrections = self._corrections(pairs) - self._corrections(pairs[:, ::-1])
        return np.asarray(self._steepness(steep, pairs) + corrections)

    def _steepness(self, steep: Array, pairs: Integers) -> Array:
        """Log odds of the direction, from the sum of those of the maps."""
        mean = steep / len(self.members)
        if self.learned is None:
            return mean
        return (1 - LEARNED_SHARE) * mean + LEARNED_SHARE * self.learned(pairs)

    def _corrections(self, pairs: Integers) -> Any:
        if self.neighbors is None or not self.correction.any():
            return 0.0
        return self.neighbors(pairs) @ self.correction


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What choices are made by: tasks, arcs that were held out (those of the tasks among them), and random pairs.

    ``alone`` are the held-out arcs whose reverse is observed, as arcs are missing in practice, and ``backward`` are reversed
    observed arcs that are no arcs: what such an arc has to be told from.
    """

    tasks: LinkTasks
    arcs: Integers
    random: Integers
    backward: Integers
    alone: Integers
    backward_share: float  # of pairs without an arc

    @classmethod
    def draw(
        cls, tasks: LinkTasks, arcs: Integers, observed: ArcSet, known: Integers, rng: np.random.Generator
    ) -> HeldOut:
        """Draw the pairs without an arc; ``known`` are all arcs, the held-out ones included."""
        n = observed.n_nodes
        every = ArcSet(np.concatenate([known, arcs]), n)
        random = rng.integers(0, n, size=(RANDOM_PAIRS, 2))
        random = random[(random[:, 0] != random[:, 1]) & ~every.contains(random)]
        backward = known[observed.contains(known)][:, ::-1]
        backward = backward[~every.contains(backward)]
        share = len(backward) / max(n * (n - 1) - len(known), 1)
        backward = backward[rng.permutation(len(backward))[:RANDOM_PAIRS]]
        return cls(tasks, arcs, random, backward, arcs[observed.contains(arcs[:, ::-1])], share)

    @cached_property
    def reciprocal(self) -> PairTask | None:
        """Arcs that were held out alone, to be told from reversed arcs and random pairs; None if they are few."""
        if len(self.alone) < FEWEST_ALONE or not len(self.backward):
            return None
        pairs = np.concatenate([self.alone, self.backward, self.random[: 2 * len(self.backward)]])
        return PairTask(pairs, np.arange(len(pairs)) < len(self.alone))

    def scores(
        self, score: Callable[[Any], Array], direction: Callable[[Any], Array] | None = None
    ) -> dict[str, float]:
        """Scores of the tasks and, where arcs were held out alone, of telling these from reversed arcs and random pairs."""
        found, reciprocal = score_links(self.tasks, score, direction), self.reciprocal
        if reciprocal is not None:
            found["existence_reciprocal"] = 100 * roc_auc(reciprocal.labels, score(reciprocal.pairs))
        return found

    def _asked(self) -> dict[str, PairTask]:
        """The tasks by name."""
        asked = {
            "direction": self.tasks.direction,
            "existence_mixed": self.tasks.existence_mixed,
            "existence_random": self.tasks.existence_random,
            "existence_reciprocal": self.reciprocal,
        }
        return {name: task for name, task in asked.items() if task is not None}

    def counts(self) -> dict[str, int]:
        """How many pairs each task asks about."""
        return {name: len(task.pairs) for name, task in self._asked().items()}

    def chance_spread(self) -> dict[str, float]:
        """Standard deviation of the score of each task, in percent, where scores say nothing (Mann and Whitney)."""
        found = {}
        for name, task in self._asked().items():
            arcs, others = int(task.labels.sum()), int((~task.labels).sum())
            if arcs and others:
                found[name] = 100 * float(np.sqrt((arcs + others + 1) / (12 * arcs * others)))
        return found

    def mean(self, score: Callable[[Any], Array], direction: Callable[[Any], Array] | None = None) -> float:
        """Mean of the scores; that of arcs held out alone counts by their number against the pairs of the tasks."""
        found = self.scores(score, direction)
        reciprocal = found.pop("existence_reciprocal", None)
        tasks = mean_score(found)
        if reciprocal is None:
            return tasks
        counts = (len(self.tasks.direction.pairs), len(self.alone))
        return float(np.average([np.nan_to_num(tasks), reciprocal], weights=counts))


class Odds:
    """From the logits of a map to log odds, by held-out arcs against random pairs and against their reverses.

    With fewer than 50 arcs, or one-way arcs, there is too little to tell the two apart: R is then a line in one logit.
    """

    def __init__(self, held_out: HeldOut, n: int, reversed_share: float):
        arcs, back = held_out.arcs, held_out.arcs[:, ::-1]
        answered = ArcSet(np.concatenate([arcs, held_out.alone[:, ::-1]]), n).contains(back)
        self._arcs, self._random, self._one_way = arcs, held_out.random, ~answered
        self.enough = int(self._one_way.sum()) >= FEWEST_ARCS
        self.reversed_share = reversed_share if self.enough else 0.0

    def lines(self, model: FittedModel) -> Array:
        """The four numbers p, q, c, e of `LinkScore`."""
        if not len(self._arcs) or not len(self._random):
            return np.array([1.0, 0.0, 0.0, 1.0])
        (u, v), (x, y) = (model.both_logits(pairs) for pairs in (self._arcs, self._random))
        if not self.enough:
            slope, intercept = log_odds_line(u, x)
            return np.array([slope, 0.0, intercept, slope])
        columns = np.concatenate([np.column_stack([u + v, u - v]), np.column_stack([x + y, x - y])])
        (near, down), intercept = _log_odds(columns, len(u))
        return np.array([near + down, near - down, intercept, _direction_slope((u - v)[self._one_way])])


def log_odds_line(positive: Array, negative: Array) -> tuple[float, float]:
    """Slope and intercept of the log odds of one score; arcs and random pairs weigh the same."""
    (slope,), intercept = _log_odds(np.concatenate([positive, negative])[:, None], len(positive))
    return float(slope), intercept


def _log_odds(columns: Array, n_positive: int) -> tuple[Array, float]:
    """Slopes, which are above 0, and intercept of the log odds; the first rows are positive and weigh as the others do."""
    center, spread = columns.mean(axis=0), columns.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    labels = np.arange(len(columns)) < n_positive
    weights = _even([columns[:n_positive], columns[n_positive:]])
    fit = LogisticRegression(C=100.0).fit((columns - center) / spread, labels, sample_weight=weights)
    slopes = np.maximum(fit.coef_[0], 1e-3) / spread
    return slopes, float(fit.intercept_[0] - slopes @ center)


def _direction_slope(differences: Array) -> float:
    """Slope of the log odds of the direction, from the differences of logits there and back of one-way arcs."""
    spread = float(np.sqrt(np.mean(differences**2))) or 1.0
    both = np.concatenate([differences, -differences])[:, None] / spread
    labels = np.arange(len(both)) < len(differences)
    fit = LogisticRegression(C=100.0, fit_intercept=False).fit(both, labels)
    return max(float(fit.coef_[0, 0]), 1e-3) / spread


def _even(groups: list[Any], shares: tuple[float, ...] = (0.5, 0.5)) -> Array:
    """Weights with which groups of examples have these shares of as many as there are in the first."""
    total = 2 * len(groups[0])
    return np.concatenate(
        [np.full(len(g), total * share / max(len(g), 1)) for g, share in zip(groups, shares, strict=True)]
    )


def corrected(score: LinkScore, held_out: HeldOut, neighbors: PairFeatures) -> tuple[LinkScore, float, float]:
    """Score with a correction by the reverse arc and common neighbors, if it gains; and the mean scores without and with it.

    The correction is a logistic regression on top of the score, of held-out arcs against their reverses (a third of the
    weight, as in the training) and random pairs, among which reversed observed arcs have the share that they have of all
    pairs. It is judged by cross-validation: each pair is scored by what was learned without it.
    """
    plain = held_out.mean(score, score.direction)
    if len(held_out.arcs) < FEWEST_ARCS:
        return score, plain, float("nan")
    arcs = held_out.arcs
    reverses = arcs[:, ::-1][~ArcSet(arcs, neighbors.arcs.n_nodes).contains(arcs[:, ::-1])]
    reverses = reverses[~neighbors.arcs.contains(reverses)]
    parts = [arcs, reverses, held_out.random, held_out.backward]
    pairs = np.concatenate(parts)
    rare = held_out.backward_share
    labels = np.arange(len(pairs)) < len(arcs)
    weights = _even(parts, (1 / 2, 1 / 6, (1 - rare) / 3, rare / 3))
    base, columns = score(pairs), neighbors(pairs)
    n = neighbors.arcs.n_nodes
    # Pairs in both orders belong to the same fold, so that no answer is known from its reverse.
    fold = _fold(pairs, n)

    def learned(chosen: NDArray[np.bool_]) -> Array:
        return _offset_logistic(base[chosen], columns[chosen], labels[chosen], weights[chosen])

    by_fold = np.array([learned(fold != k) for k in range(CORRECTION_FOLDS)])

    def added(asked: Integers) -> Array:
        return np.asarray((neighbors(asked) * by_fold[_fold(asked, n)]).sum(axis=1))

    def direction(asked: Integers) -> Array:
        known = score.direction(asked)
        return known if score.learned is not None else known + added(asked) - added(asked[:, ::-1])

    gained = held_out.mean(lambda asked: score(asked) + added(asked), direction)
    if not gained > plain + CORRECTION_GAIN:
        return score, plain, gained
    everything = learned(np.ones(len(pairs), dtype=bool))
    return replace(score, correction=everything, neighbors=neighbors), plain, gained


def _fold(pairs: Integers, n: int) -> Integers:
    """A fold for each unordered pair: a hash of its nodes."""
    low, high = pairs.min(axis=1).astype(np.uint64), pairs.max(axis=1).astype(np.uint64)
    mixed = (low * np.uint64(n) + high) * np.uint64(0x9E3779B97F4A7C15)
    return ((mixed >> np.uint64(40)) % np.uint64(CORRECTION_FOLDS)).astype(np.int64)


def _offset_logistic(base: Array, columns: Array, labels: NDArray[np.bool_], weights: Array) -> Array:
    """Weights of columns in the log odds ``a base + b + columns w``, with a ridge, in units of the base: w / a."""
    spread = columns.std(axis=0)
    base_unit = base.std() / 100 or 1.0  # so small that the ridge leaves the weight of the base alone
    X = np.column_stack([base / base_unit, columns / np.where(spread > 0, spread, 1.0)])
    ridge = CORRECTION_RIDGE * labels.sum()
    fit = LogisticRegression(C=1 / ridge, max_iter=500).fit(X - X.mean(axis=0), labels, sample_weight=weights)
    # A base that says nothing has no weight to compare with; it then counts a tenth of a logit per standard deviation.
    slope = max(fit.coef_[0, 0] / base_unit, 0.1 / (base.std() or 1.0))
    return np.asarray(fit.coef_[0, 1:] / np.where(spread > 0, spread, 1.0) / slope)
