"""What a method may see of a split, how it is watched while it trains, and how it is scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.data.labels import LabelIndex
from finsler.graphs.arc_set import ArcSet, arcs_of_keys
from finsler.learn.features import adjacency, node_features
from finsler.learn.tasks import LinkSplit, LinkTasks, PairTask, held_out_arcs, score_links

Array = NDArray[Any]
Logit = Callable[[Array], Array]


class Logits(NamedTuple):
    """Scores of ordered pairs, higher where an arc is more likely: one for each task, as methods choose their epochs."""

    direction: Logit
    existence: Logit

    def scores(self, tasks: LinkTasks) -> dict[str, float]:
        """Areas under ROC curves, times 100."""
        return score_links(tasks, self.existence, self.direction)


@dataclass(frozen=True, eq=False)
class Sight:
    """The observed arcs, features of the nodes, and the pairs that validate; nothing of the test."""

    n_nodes: int
    arcs: Array
    validation: LinkTasks
    features: Any = None
    hidden_arcs: Array | None = None  #: Arcs held out, only for the row that shows what a leak gives.

    @classmethod
    def of(cls, split: LinkSplit, features: Any = None, *, leak: bool = False) -> Sight:
        """What a split shows."""
        values = node_features(features, LabelIndex(None, split.n_nodes, "node"))
        return cls(split.n_nodes, split.observed, split.validation, values, held_out(split) if leak else None)

    @cached_property
    def observed(self) -> ArcSet:
        """The arcs as a set."""
        return ArcSet(self.arcs, self.n_nodes)

    @cached_property
    def out_degree(self) -> Array:
        """Observed arcs that leave each node."""
        return np.bincount(self.arcs[:, 0], minlength=self.n_nodes)

    @cached_property
    def in_degree(self) -> Array:
        """Observed arcs that enter each node."""
        return np.bincount(self.arcs[:, 1], minlength=self.n_nodes)

    @cached_property
    def log_degrees(self) -> Array:
        """Logarithms of 1 + in- and out-degree."""
        return np.log1p(np.column_stack([self.in_degree, self.out_degree])).astype(np.float32)

    @cached_property
    def adjacency(self) -> Any:
        """Observed arcs as a sparse matrix, 1 from row to column."""
        return adjacency(self.arcs, self.n_nodes, "out")

    @cached_property
    def one_way(self) -> Array:
        """Observed arcs whose reverse is not observed."""
        return self.arcs[~self.observed.contains(self.arcs[:, ::-1])]

    def non_arcs(self, count: int, rng: np.random.Generator, *, either_way: bool = False) -> Array:
        """Random ordered pairs that are no observed arcs (nor their reverses, if asked), with repetition."""
        found: list[Array] = []
        while (wanted := count - sum(map(len, found))) > 0:
            drawn = rng.integers(0, self.n_nodes, size=(wanted + wanted // 8 + 8, 2))
            known = self.observed.contains(drawn)
            if either_way:
                known |= self.observed.contains(drawn[:, ::-1])
            found.append(drawn[~known & (drawn[:, 0] != drawn[:, 1])][:wanted])
        return np.concatenate(found) if found else np.empty((0, 2), dtype=np.int64)

    def mixed_negatives(self, count: int, rng: np.random.Generator) -> Array:
        """A third reversed one-way arcs, the others random."""
        turned = self.one_way[:, ::-1]
        turned = turned[rng.permutation(len(turned))[: count // 3]]
        return np.concatenate([turned, self.non_arcs(count - len(turned), rng)])


def held_out(split: LinkSplit) -> Array:
    """All arcs that are not observed, of validation and test: those asked about, and both of each reciprocal pair."""
    one_way = np.concatenate([held_out_arcs(tasks) for tasks in (split.validation, split.test)])
    pairs = np.concatenate([split.validation_pairs, split.test_pairs])  # the smaller node first
    both = pairs[~ArcSet(np.sort(one_way, axis=1), split.n_nodes).contains(pairs)]
    return np.concatenate([one_way, both, both[:, ::-1]])


def training_pairs(
    sight: Sight, task: Literal["direction", "existence"], rng: np.random.Generator
) -> PairTask:
    """Examples to train on, from observed arcs alone: arcs against reversed ones and, for existence, pairs without arc.

    For existence the negatives are drawn as in the mixed task: a third reversed, two thirds without an *observed* arc.
    """
    n, observed, one_way = sight.n_nodes, sight.observed, sight.one_way
    if task == "direction":
        positives, negatives = one_way, one_way[:, ::-1]
    else:
        positives = sight.arcs
        reversed_ones = rng.permutation(one_way[:, ::-1])[: len(positives) // 3]
        wanted = len(positives) - len(reversed_ones)
        drawn = np.unique(rng.integers(0, n * n, size=2 * wanted + 100))
        ends = arcs_of_keys(drawn, n)
        neighbors = observed.contains(ends) | observed.contains(ends[:, ::-1])
        ends = ends[~neighbors & (ends[:, 0] != ends[:, 1])]
        negatives = np.concatenate([reversed_ones, rng.permutation(ends)[:wanted]])
    pairs = np.concatenate([positives, negatives])
    return PairTask(pairs, np.arange(len(pairs)) < len(positives))


@dataclass(eq=False)
class Watch:
    """The best state of a training for each task, by the validation pairs; `done` once neither has gained for long."""

    validation: LinkTasks
    patience: int
    tasks: tuple[str, ...] = ("direction", "existence")
    best: dict[str, tuple[float, int, Logit]] = field(default_factory=dict)
    epoch: int = 0

    def see(self, epoch: int, logit: Logit) -> None:
        """Score a state, whose logit must not change any more, and keep it where it is the best so far."""
        self.epoch = epoch
        found = score_links(self.validation, logit)
        for task in self.tasks:
            score = found["direction" if task == "direction" else "existence_mixed"]
            if task not in self.best or score > self.best[task][0]:
                self.best[task] = (score, epoch, logit)

    @property
    def done(self) -> bool:
        """Whether no task has gained for `patience` epochs."""
        return (
            bool(self.best) and self.epoch - max(epoch for _, epoch, _ in self.best.values()) >= self.patience
        )

    def logits(self) -> Logits:
        """The best states; where only one task was watched, it answers both."""
        kept = {task: logit for task, (_, _, logit) in self.best.items()}
        other = next(iter(kept.values()))
        return Logits(kept.get("direction", other), kept.get("existence", other))


def linear_readout(
    source: Array, target: Array, sight: Sight, seed: int, strengths: tuple[float, ...] = (0.01, 0.1, 1.0)
) -> Logits:
    """Logistic regression on the concatenated vectors of a pair, one for each task; its strength by the validation pairs.

    The logit is a(i) + b(j): it has no term in the pair.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    watched: dict[str, Watch] = {}
    for task in ("direction", "existence"):
        examples = training_pairs(sight, task, np.random.default_rng(seed))  # type: ignore[arg-type]
        scale = StandardScaler()
        X = scale.fit_transform(np.hstack([source[examples.pairs[:, 0]], target[examples.pairs[:, 1]]]))
        watched[task] = Watch(sight.validation, patience=1, tasks=(task,))
        for k, C in enumerate(strengths):
            fitted = LogisticRegression(C=C, max_iter=1000).fit(X, examples.labels)

            def logit(pairs: Array, fitted: Any = fitted, scale: Any = scale) -> Array:
                return fitted.decision_function(
                    scale.transform(np.hstack([source[pairs[:, 0]], target[pairs[:, 1]]]))
                )

            watched[task].see(k, logit)
    return Logits(watched["direction"].logits().direction, watched["existence"].logits().existence)


def product_logit(source: Array, target: Array) -> Logit:
    """Inner product of the source vector of the first and the target vector of the second node."""

    def logit(pairs: Array) -> Array:
        return np.einsum("pk,pk->p", source[pairs[:, 0]], target[pairs[:, 1]]).astype(float)

    return logit
