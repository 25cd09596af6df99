"""Train the candidates of a graph, choose one on the validation pairs, and complete it to an ensemble."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import Progress
from finsler.errors import InputError
from finsler.learn.backend import torch
from finsler.learn.crossfit import N_COLUMNS, Curriculum, cross_fit
from finsler.learn.decoder import FermiDirac
from finsler.learn.encoders import DirectCoordinates, FeatureEncoder, LinkModel
from finsler.learn.fitted import FittedModel, mean_logits
from finsler.learn.heights import springrank
from finsler.learn.optimizers import OPTIMIZERS
from finsler.learn.parallel import my_part
from finsler.learn.sampling import ArcSet, Lesson
from finsler.learn.selection import candidates, size_options
from finsler.learn.tasks import LinkTasks, score_links
from finsler.learn.training import Checkpoint, Trainer, TrainingOptions, TrainingRecord, mean_score

Array = NDArray[np.floating[Any]]
Integers = NDArray[np.integer[Any]]

INPUT_BYTES = 2e9  # memory for the inputs of all folds together; a large graph gets fewer folds


@dataclass(frozen=True)
class Settings:
    """Hyper-parameters of `finsler.learn.links.LinkPredictor`, where they are described."""

    n_components: int = 64
    encoder: str = "auto"
    layers: int = 1
    width: int = 128
    dropout: float = 0.3
    input_dropout: float = 0.2
    alpha: float | None = None
    radius: float | None = None
    temperature: float | None = None
    node_radii: bool = True
    ensemble: bool = True
    folds: int = 6
    ppr_rank: int = 64
    text_rank: int = 128
    hops: int = 2
    epochs: int | None = None
    batch_size: int | None = None
    learning_rate: float | None = None
    weight_decay: float = 1e-4
    optimizer: str = "adam"
    negatives: int = 4
    reversed_share: float = 1 / 3
    direction_weight: float = 0.3
    patience: int = 20

    def __post_init__(self) -> None:
        least = {
            "n_components": 1,
            "width": 1,
            "folds": 1,
            "ppr_rank": 1,
            "text_rank": 1,
            "negatives": 1,
            "patience": 1,
        }
        for name, bound in {**least, "layers": 0, "hops": 0, "epochs": 1, "batch_size": 1}.items():
            value = getattr(self, name)
            if value is None and name in ("epochs", "batch_size"):
                continue
            if not isinstance(value, Integral) or value < bound:
                raise InputError(f"{name} must be a whole number from {bound} on; found {value!r}.")
        for name in ("dropout", "input_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise InputError(f"{name} must be in [0, 1); found {getattr(self, name)!r}.")
        if not 0 <= self.reversed_share <= 1:
            raise InputError(f"reversed_share must be in [0, 1]; found {self.reversed_share!r}.")
        if self.learning_rate is not None and not self.learning_rate > 0:
            raise InputError(f"learning_rate must be above 0; found {self.learning_rate!r}.")
        if self.optimizer not in OPTIMIZERS:
            raise InputError(
                f"optimizer must be one of {', '.join(map(repr, OPTIMIZERS))}; found {self.optimizer!r}."
            )


@dataclass(frozen=True, eq=False)
class Problem:
    """What there is to learn from.

    Attributes
    ----------
    arcs : integer array of shape (E, 2)
        Arcs to learn.
    known : integer array of shape (F, 2)
        Arcs from which inputs for prediction are computed: those to learn, and those that validate, unless the latter
        came from outside.
    n_nodes : int
    features : array of shape (n, d) or None
        Dense factors of the node features.
    validation : LinkTasks or None
    """

    arcs: Integers
    known: Integers
    n_nodes: int
    features: Array | None
    validation: LinkTasks | None


class Member(NamedTuple):
    """A trained model as it was validated and as it predicts, and its validation score."""

    validated: FittedModel
    predicts: FittedModel
    score: float


@dataclass
class Fit:
    """Outcome: the models to average, how they came about, and the scores of all candidates."""

    models: list[FittedModel] = field(default_factory=list)
    kind: str = ""
    scores: dict[str, float] = field(default_factory=dict)
    records: dict[str, TrainingRecord] = field(default_factory=dict)
    status: str = "finished"


class Fitter:
    """Trains the members one after the other; each has a checkpoint of its own.

    Parameters
    ----------
    problem : Problem
    settings : Settings
    seed : int
    device : str
    folder : path or None
        Where checkpoints are kept.
    fingerprint : str
        Whose checkpoints they are.
    checkpoint_every : float
        Seconds between checkpoints.
    time_limit : float or None
        For all members together.
    n_jobs : int, optional
        Threads for the inputs.
    verbose : bool or "auto"
    """

    def __init__(
        self,
        problem: Problem,
        settings: Settings,
        *,
        seed: int,
        device: str = "cpu",
        folder: Path | None = None,
        fingerprint: str = "",
        checkpoint_every: float = 30.0,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        verbose: bool | int | str = "auto",
    ):
        self.problem, self.settings, self.seed, self.device = problem, settings, seed, device
        self.folder, self.fingerprint, self.checkpoint_every = folder, fingerprint, checkpoint_every
        self.deadline = None if time_limit is None else time.perf_counter() + time_limit
        self.n_jobs, self.verbose = n_jobs, verbose
        self.observed = ArcSet(problem.arcs, problem.n_nodes)
        self.outcome = Fit()
        self._curriculum: Curriculum | None = None
        self._trained: dict[str, Member] = {}

    def run(self) -> Fit:
        """Train, choose, complete."""
        problem, settings, outcome = self.problem, self.settings, self.outcome
        n_pairs = len(np.unique(np.sort(problem.arcs, axis=1), axis=0))
        kinds = candidates(settings.encoder, problem.n_nodes, n_pairs, problem.features is not None)
        if problem.validation is None:
            kinds = kinds[:1]  # nothing to choose by
        elif np.isnan(mean_score(score_links(problem.validation, lambda pairs: np.zeros(len(pairs))))):
            kinds = kinds[:1]  # every pair that validates is reciprocal: no task is left
        try:
            for kind in kinds:
                self.train(kind, layers=0 if settings.ensemble else settings.layers)
                if self.over():
                    break
            outcome.kind = self._best_kind()
            if settings.ensemble and settings.layers and outcome.kind != "direct" and not self.over():
                self.train(outcome.kind, layers=settings.layers)
        except KeyboardInterrupt:  # between two trainings, while inputs are computed
            outcome.status = "interrupted"
            if not self._trained:
                raise
            outcome.kind = self._best_kind()
        members = [member for name, member in self._trained.items() if name.split()[0] == outcome.kind]
        members.sort(key=lambda member: -member.score)
        outcome.models = [member.predicts for member in members]
        if problem.validation is not None and len(members) > 1:
            validated = [member.validated for member in members]
            scores = score_links(problem.validation, lambda pairs: mean_logits(validated, pairs))
            outcome.scores[f"{outcome.kind} ensemble"] = mean_score(scores)
        return outcome

    def _best_kind(self) -> str:
        """Kind with the best score; the first, if none has one."""
        scores = self.outcome.scores
        return max(scores, key=lambda kind: -np.inf if np.isnan(scores[kind]) else scores[kind])

    def over(self) -> bool:
        """Whether the training was stopped, or the time is up."""
        if (
            self.outcome.status == "finished"
            and self.deadline is not None
            and time.perf_counter() > self.deadline
        ):
            self.outcome.status = "time_limit"
        return self.outcome.status != "finished"

    def train(self, kind: str, layers: int) -> None:
        """Train one member, and note its score."""
        outcome = self.outcome
        name = kind if kind == "direct" else f"{kind} {layers}"
        direct = kind == "direct"
        lessons, inputs, final = self._lessons(kind)
        options = self._options(direct, len(lessons))
        model = self._model(inputs, layers, options.seed)
        shard, reduce = my_part()
        trainer = Trainer(
            model,
            lessons,
            self.observed,
            options,
            inputs=inputs,
            validation=self.problem.validation,
            device=self.device,
            shard=shard,
            reduce=reduce,
        )
        left = None if self.deadline is None else max(self.deadline - time.perf_counter(), 0.0)
        progress = Progress(f"LinkPredictor, {name}", self.verbose)
        record = trainer.fit(checkpoint=self._checkpoint(name), time_limit=left, progress=progress)
        progress.close(f"{record.status}, validation {record.best_score:.2f} at epoch {record.best_epoch}")
        validated = FittedModel.of(model, trainer.places(inputs))
        # The inputs of the validation must not know its pairs; those of the predictions may.
        predicts = validated if final is inputs else FittedModel.of(model, trainer.places(final))
        self._trained[name] = Member(validated, predicts, record.best_score)
        outcome.records[name] = record
        outcome.scores.setdefault(kind, record.best_score)
        if record.status in ("time_limit", "interrupted"):
            outcome.status = record.status

    def _lessons(self, kind: str) -> tuple[list[Lesson], torch.Tensor | None, torch.Tensor | None]:
        """Lessons, and inputs for validation and prediction; those of encoders are computed once for all members."""
        problem, settings = self.problem, self.settings
        if kind == "direct":
            return [Lesson(problem.arcs)], None, None
        if self._curriculum is None:
            progress = Progress("LinkPredictor", self.verbose)
            self._curriculum = cross_fit(
                problem.arcs,
                problem.n_nodes,
                problem.features,
                n_folds=self._folds(),
                rank=settings.ppr_rank,
                hops=settings.hops,
                known=problem.known,
                rng=np.random.default_rng([self.seed, 1]),
                n_jobs=self.n_jobs,
                watch=progress.update,
            )
            progress.close("inputs computed")
        found = self._curriculum
        if kind == "structure" and problem.features is not None:
            found = found.without_features(N_COLUMNS + settings.ppr_rank)
        return found.lessons, found.inputs, found.final

    def _folds(self) -> int:
        """Folds that were asked for, or as many as keep their inputs within two gigabytes."""
        problem, settings = self.problem, self.settings
        width = N_COLUMNS + settings.ppr_rank
        if problem.features is not None:
            width += problem.features.shape[1] * (settings.hops + 1)
        most = int(INPUT_BYTES // (4 * width * problem.n_nodes)) - 1
        return min(settings.folds, max(most, 2))

    def _model(self, inputs: torch.Tensor | None, layers: int, seed: int) -> LinkModel:
        settings = self.settings
        decoder = FermiDirac(
            0.75 if settings.alpha is None else settings.alpha,
            settings.radius or 2.0,
            settings.temperature or 1.0,
            learn_alpha=settings.alpha is None,
            learn_radius=settings.radius is None,
            learn_temperature=settings.temperature is None,
        )
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            if inputs is not None:
                encoder: Any = FeatureEncoder(
                    inputs.shape[1],
                    settings.n_components,
                    layers=layers,
                    width=settings.width,
                    dropout=settings.dropout,
                    input_dropout=settings.input_dropout,
                    radii=settings.node_radii,
                )
            else:
                heights = springrank(self.problem.arcs, self.problem.n_nodes)
                heights = (heights - heights.mean()) / max(float(heights.std()), 1e-9)
                encoder = DirectCoordinates(heights, settings.n_components, radii=settings.node_radii)
        return LinkModel(encoder, decoder)

    def _options(self, direct: bool, n_lessons: int) -> TrainingOptions:
        settings = self.settings
        size: dict[str, Any] = size_options(len(self.problem.arcs), n_lessons)
        if settings.epochs is not None:
            size |= {"epochs": settings.epochs, "evaluate_every": max(1, settings.epochs // 20)}
        if settings.batch_size is not None:
            size["batch_size"] = settings.batch_size
        rate = settings.learning_rate
        return TrainingOptions(
            **size,
            learning_rate=rate if rate is not None else (2e-2 if direct else 3e-3),
            weight_decay=0.0 if direct else settings.weight_decay,
            number_rate=2e-2 if direct else 6e-2,
            optimizer=settings.optimizer,
            negatives=settings.negatives,
            reversed_share=settings.reversed_share,
            direction_weight=settings.direction_weight,
            patience=settings.patience,
            seed=self.seed,
        )

    def _checkpoint(self, name: str) -> Checkpoint | None:
        if self.folder is None:
            return None
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self.folder / f"{name.replace(' ', '-')}.pt"
        return Checkpoint(path, self.fingerprint, self.checkpoint_every)
