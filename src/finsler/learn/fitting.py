"""Fit a graph: compute the inputs of encoders, train the candidates, choose one, and complete it to an ensemble.

Cross-fitting: learn to predict arcs from inputs that do not know them. The inputs (heights, factors, propagated features)
are computed from arcs. An encoder that is trained on the arcs which its inputs were computed from learns to read them off,
and is lost on arcs that are new. So the arcs are dealt into folds; the inputs of a fold are computed **without** it, and
its arcs are what is learned from them. For prediction, the inputs are computed from all known arcs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import Progress
from finsler.graphs.arc_set import ArcSet, Integers, neighbor_pairs
from finsler.learn.features import choose_ridge, log_ppr_factors, neighbor_average, spring_heights, unit_rows
from finsler.learn.model import (
    DirectCoordinates,
    FeatureEncoder,
    FermiDirac,
    FittedModel,
    LinkModel,
    mean_logits,
    torch,
)
from finsler.learn.options import LinkOptions, candidates, schedule
from finsler.learn.tasks import LinkTasks, mean_score, score_links
from finsler.learn.training import Checkpoint, Lesson, Trainer

Array = NDArray[np.floating[Any]]

INPUT_BYTES = 2e9  # memory for the inputs of all folds together; a large graph gets fewer folds
N_COLUMNS = 3  # single columns of the inputs: height and two degrees
BLOCK_SIZE = 3.0  # root mean square norm of the rows of each block of inputs, against 1 for a single column


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

    @cached_property
    def pairs(self) -> tuple[Integers, Integers]:
        """Unordered pairs of neighbors, and the position among them of each arc."""
        return neighbor_pairs(self.arcs, self.n_nodes)

    @cached_property
    def ridge(self) -> float:
        """Ridge of the heights."""
        return choose_ridge(self.arcs, self.n_nodes)


def node_inputs(
    arcs: Integers, n: int, features: Array | None, *, rank: int, hops: int, ridge: float, n_jobs: int | None
) -> list[Array]:
    """What is known about the nodes, in blocks.

    The first has single columns: SpringRank height, log(1 + out-degree), log(1 + in-degree). Then factors of log-PPR,
    padded with zeros up to ``rank`` columns, and with features these, and their averages over 1, 2, ... hops.
    """
    degrees = [np.log1p(np.bincount(arcs[:, k], minlength=n)) for k in (0, 1)]
    columns = np.column_stack([spring_heights(arcs, n, ridge), *degrees])
    source, _ = log_ppr_factors(arcs, n, rank, n_jobs=n_jobs)
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
    n_jobs: int | None = None,
    watch: Callable[[str], None] = lambda _: None,
) -> Curriculum:
    """Inputs and lessons of an encoder, in ``options.folds`` folds or as many as keep their inputs within two gigabytes."""
    arcs, n, features = problem.arcs, problem.n_nodes, problem.features
    rank, hops, ridge = options.ppr_rank, options.hops, problem.ridge

    def blocks(some: Integers) -> list[Array]:
        return node_inputs(some, n, features, rank=rank, hops=hops, ridge=ridge, n_jobs=n_jobs)

    watch("inputs of all arcs")
    whole = blocks(arcs)
    scale = InputScale(whole)

    def computed_from(some: Integers) -> torch.Tensor:
        columns, factors, *rest = blocks(some)
        return scale([columns, align(factors, whole[1]), *rest])

    inputs = scale(whole)
    final = inputs if np.array_equal(problem.known, arcs) else computed_from(problem.known)
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
        lessons.append(Lesson(arcs[fold == k], computed_from(arcs[fold != k])))
    return Curriculum(lessons, inputs, final)


class Member(NamedTuple):
    """A trained model as it was validated and as it predicts, and its validation score."""

    validated: FittedModel
    predicts: FittedModel
    score: float


@dataclass
class Outcome:
    """The models to average, how they came about, the scores of all candidates, and the course of each training."""

    models: list[FittedModel] = field(default_factory=list)
    kind: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    history: dict[str, list[dict[str, float]]] = field(default_factory=dict)
    status: str = "finished"


@dataclass(eq=False)
class Fitter:
    """Trains the members one after the other; each has a checkpoint of its own in the folder.

    The parameters are those of `LinkPredictor`; the time limit is for all members together.
    """

    problem: Problem
    options: LinkOptions
    n_components: int
    encoder: str
    alpha: float | None
    epochs: int | None
    seed: int
    device: str = "cpu"
    folder: Path | None = None
    fingerprint: str = ""
    time_limit: float | None = None
    callback: Callable[[dict[str, Any]], Any] | None = None
    n_jobs: int | None = None
    verbose: bool | int | str = False

    def __post_init__(self) -> None:
        self.deadline = np.inf if self.time_limit is None else time.perf_counter() + self.time_limit
        self.observed = ArcSet(self.problem.arcs, self.problem.n_nodes)
        self.outcome = Outcome()
        self._curriculum: Curriculum | None = None
        self._trained: dict[str, Member] = {}

    def run(self) -> Outcome:
        """Train, choose, complete."""
        problem, options, outcome = self.problem, self.options, self.outcome
        kinds = candidates(self.encoder, problem.n_nodes, len(problem.pairs[0]), problem.features is not None)
        tasks = problem.validation
        if tasks is None or np.isnan(mean_score(score_links(tasks, lambda pairs: np.zeros(len(pairs))))):
            kinds = kinds[:1]  # nothing to choose by: no pairs that validate, or all of them are reciprocal
        try:
            for kind in kinds:
                self.train(kind, layers=0 if options.ensemble else options.layers)
                if self.over():
                    break
            outcome.kind = self._best_kind()
            if options.ensemble and options.layers and outcome.kind != "direct" and not self.over():
                self.train(outcome.kind, layers=options.layers)
        except KeyboardInterrupt:  # between two trainings, while inputs are computed
            outcome.status = "interrupted"
            if not self._trained:
                raise
            outcome.kind = self._best_kind()
        members = [member for name, member in self._trained.items() if name.split()[0] == outcome.kind]
        members.sort(key=lambda member: -member.score)
        outcome.models = [member.predicts for member in members]
        if tasks is not None and len(members) > 1:
            validated = [member.validated for member in members]
            scores = score_links(tasks, lambda pairs: mean_logits(validated, pairs))
            outcome.scores[f"{outcome.kind} ensemble"] = mean_score(scores)
        return outcome

    def _best_kind(self) -> str:
        """Kind with the best score; the first, if none has one."""
        scores = self.outcome.scores
        return max(scores, key=lambda kind: -np.inf if np.isnan(scores[kind]) else scores[kind])

    def over(self) -> bool:
        """Whether the training was stopped, or the time is up."""
        if self.outcome.status == "finished" and time.perf_counter() > self.deadline:
            self.outcome.status = "time_limit"
        return self.outcome.status != "finished"

    def train(self, kind: str, layers: int) -> None:
        """Train one member, and note its score."""
        outcome, direct = self.outcome, kind == "direct"
        name = kind if direct else f"{kind} {layers}"
        lessons, inputs, final = self._lessons(kind)
        n_arcs = len(self.problem.arcs)
        model = self._model(inputs, layers)
        trainer = Trainer(
            model,
            lessons,
            self.observed,
            schedule(self.options, self.epochs, n_arcs=n_arcs, n_lessons=len(lessons), direct=direct),
            self.options,
            seed=self.seed,
            inputs=inputs,
            validation=self.problem.validation,
            device=self.device,
        )
        progress = Progress(f"LinkPredictor, {name}", self.verbose)
        ask = self.callback
        record = trainer.fit(
            checkpoint=self._checkpoint(name),
            deadline=self.deadline,
            callback=None if ask is None else lambda found: ask({"model": name, **found}),
            watch=progress.update,
        )
        progress.close(f"{record.status}, validation {record.best_score:.2f} at epoch {record.best_epoch}")
        validated = FittedModel.of(model, trainer.places(inputs))
        predicts = validated if final is inputs else FittedModel.of(model, trainer.places(final))
        self._trained[name] = Member(validated, predicts, record.best_score)
        outcome.history[name] = record.history
        outcome.scores.setdefault(kind, record.best_score)
        if record.status in ("time_limit", "interrupted", "stopped"):
            outcome.status = record.status

    def _lessons(self, kind: str) -> Curriculum:
        """Lessons and inputs; those of encoders are computed once for all members."""
        if kind == "direct":
            return Curriculum([Lesson(self.problem.arcs)], None, None)
        if self._curriculum is None:
            progress = Progress("LinkPredictor", self.verbose)
            rng = np.random.default_rng([self.seed, 1])
            self._curriculum = cross_fit(
                self.problem, self.options, rng, n_jobs=self.n_jobs, watch=progress.update
            )
            progress.close("inputs computed")
        if kind == "structure" and self.problem.features is not None:
            return self._curriculum.without_features(N_COLUMNS + self.options.ppr_rank)
        return self._curriculum

    def _model(self, inputs: torch.Tensor | None, layers: int) -> LinkModel:
        options = self.options
        decoder = FermiDirac(self.alpha, options.radius, options.temperature)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(self.seed)
            if inputs is not None:
                encoder: Any = FeatureEncoder(
                    inputs.shape[1],
                    self.n_components,
                    layers=layers,
                    width=options.width,
                    dropout=options.dropout,
                    input_dropout=options.input_dropout,
                    radii=options.node_radii,
                )
            else:
                problem = self.problem
                heights = spring_heights(problem.arcs, problem.n_nodes, problem.ridge)
                heights = (heights - heights.mean()) / max(float(heights.std()), 1e-9)
                encoder = DirectCoordinates(heights, self.n_components, radii=options.node_radii)
        return LinkModel(encoder, decoder)

    def _checkpoint(self, name: str) -> Checkpoint | None:
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        return Checkpoint(self.folder / f"{name.replace(' ', '-')}.pt", self.fingerprint)
