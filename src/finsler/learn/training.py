"""Training that can be watched, stopped and resumed.

Every epoch draws its random numbers from the seed and its own number alone. A run that resumes from a checkpoint, written
between two epochs, therefore repeats exactly what the run that was killed would have done, and the random numbers of the
caller are left alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from finsler._io import write_atomically
from finsler._runtime import Progress
from finsler.errors import InputError
from finsler.learn.backend import torch
from finsler.learn.encoders import LinkModel, Places
from finsler.learn.losses import link_loss
from finsler.learn.optimizers import make_optimizer, randers_flow
from finsler.learn.sampling import ArcSet, Batch, Lesson, draw_batches
from finsler.learn.tasks import LinkTasks, score_links

CHECKPOINT_FORMAT = 1


@dataclass(frozen=True)
class TrainingOptions:
    """How to train; the defaults are those of `finsler.learn.links.LinkPredictor`.

    Attributes
    ----------
    epochs, batch_size : int
        Passes over the arcs; most arcs in a step.
    learning_rate : float
        Highest rate: it rises during the first tenth of the training and then falls along a cosine to zero.
    weight_decay : float
    number_rate : float
        Highest rate of the single numbers: drift, radius, temperature.
    optimizer : {"adam", "randers-sgd"}
    negatives : int
        Random pairs per arc.
    reversed_share, direction_weight : float
        See `finsler.learn.losses.link_loss`.
    evaluate_every : int
        Epochs between looks at the validation score.
    patience : int
        Evaluations without a better score after which training stops.
    seed : int
    """

    epochs: int = 40
    batch_size: int = 1024
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    number_rate: float = 0.06
    optimizer: str = "adam"
    negatives: int = 4
    reversed_share: float = 1 / 3
    direction_weight: float = 0.3
    evaluate_every: int = 2
    patience: int = 20
    seed: int = 0


@dataclass
class TrainingRecord:
    """What happened.

    Attributes
    ----------
    history : list of dict
        Epoch, loss and validation scores at each evaluation.
    best_epoch : int
    best_score : float
        Mean of the three validation scores of the model that was kept; NaN without validation.
    status : {"finished", "patience", "time_limit", "interrupted"}
    """

    history: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = -1
    best_score: float = -math.inf
    status: str = "finished"


@dataclass(frozen=True)
class Checkpoint:
    """Where to keep the state of a training, and whose training it is.

    Attributes
    ----------
    path : path of the file
    fingerprint : str
        Of graph, features and options: a checkpoint of another training is refused.
    every : float
        Seconds between writes; 0 writes after every epoch.
    """

    path: Path
    fingerprint: str
    every: float = 30.0

    def read(self) -> dict[str, Any] | None:
        """State that was written, or None."""
        if not self.path.exists():
            return None
        try:
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            version, fingerprint = state["format"], state["fingerprint"]
        except Exception as error:
            raise InputError(f"{str(self.path)!r} is not a checkpoint of finsler, or is damaged.") from error
        if version != CHECKPOINT_FORMAT:
            raise InputError(
                f"{str(self.path)!r} is a checkpoint of format {version}; this is {CHECKPOINT_FORMAT}."
            )
        if fingerprint != self.fingerprint:
            raise InputError(
                f"{str(self.path)!r} is a checkpoint of another graph, other features or other options. Give "
                "another path, or remove it to start anew."
            )
        return state

    def write(self, state: dict[str, Any]) -> None:
        """Replace the file, whole or not at all."""
        record = {"format": CHECKPOINT_FORMAT, "fingerprint": self.fingerprint, **state}
        write_atomically(self.path, lambda file: torch.save(record, file))


class Trainer:
    """Fits a `LinkModel` to lessons, by mini-batches, and keeps the state that scored best on the validation.

    Parameters
    ----------
    model : LinkModel
    lessons : list of Lesson
        Arcs to learn with the inputs to learn them from.
    observed : ArcSet
        All arcs that training may know of; random negatives avoid them.
    options : TrainingOptions
    inputs : tensor or None
        Inputs for evaluation and prediction.
    validation : LinkTasks or None
        Without it the last state is kept.
    device : str
    shard : tuple (rank, size)
        Part of every batch that this process works on.
    reduce : callable, optional
        Called with the model between the backward pass and the step; sums gradients over processes.
    """

    def __init__(
        self,
        model: LinkModel,
        lessons: list[Lesson],
        observed: ArcSet,
        options: TrainingOptions,
        *,
        inputs: torch.Tensor | None = None,
        validation: LinkTasks | None = None,
        device: str = "cpu",
        shard: tuple[int, int] = (0, 1),
        reduce: Callable[[torch.nn.Module], None] | None = None,
    ):
        self.model = model.to(device)
        self.lessons = [Lesson(lesson.arcs, _to(lesson.inputs, device)) for lesson in lessons]
        self.observed = observed
        self.options = options
        self.inputs = _to(inputs, device)
        self.validation = validation
        self.device = device
        self.shard = shard
        self.writes = shard[0] == 0  # of several processes, the first keeps the checkpoint
        self.reduce = reduce
        self.optimizer = make_optimizer(
            options.optimizer,
            model,
            learning_rate=options.learning_rate,
            weight_decay=options.weight_decay,
            number_rate=options.number_rate,
        )
        self.record = TrainingRecord()
        self._best: dict[str, torch.Tensor] | None = None
        self._epoch = 0

    def batch_loss(self, lesson: Lesson, batch: Batch) -> torch.Tensor:
        """Loss of a batch or shard, with gradients."""
        pairs, _ = batch.pairs()
        at = torch.as_tensor(np.ascontiguousarray(pairs), device=self.device)
        nodes = None
        if 2 * len(pairs) < self.observed.n_nodes:  # place only the nodes that take part
            nodes, at = torch.unique(at, return_inverse=True)
        places = self.model.encoder(lesson.inputs, nodes)
        if self.options.optimizer == "randers-sgd":
            places = Places(randers_flow(places.points, self.model.decoder.drift()), places.radii)
        return link_loss(
            self.model.logits(places, at),
            batch,
            reversed_share=self.options.reversed_share,
            direction_weight=self.options.direction_weight,
        )

    def step(self, lesson: Lesson, batch: Batch) -> float:
        """One step of the optimizer; the loss of the whole batch if this process has all of it."""
        self.optimizer.zero_grad(set_to_none=True)
        loss = self.batch_loss(lesson, batch.shard(*self.shard))
        loss.backward()
        if self.reduce is not None:
            self.reduce(self.model)
        self.optimizer.step()
        return float(loss.detach())

    def run_epoch(
        self, deadline: float = math.inf, watch: Callable[[float, float], None] | None = None
    ) -> float:
        """All arcs once; mean loss of the batches. Raises `TimeoutError` between two batches after the deadline."""
        options, total = self.options, self.batches_per_epoch()
        rng = np.random.default_rng([options.seed, self._epoch])
        losses: list[float] = []
        self.model.train()
        with _seeded(int(rng.integers(2**62)), self.device):
            for lesson, batch in draw_batches(
                self.lessons,
                self.observed,
                batch_size=options.batch_size,
                negatives=options.negatives,
                rng=rng,
            ):
                done = (self._epoch + len(losses) / total) / options.epochs
                for group in self.optimizer.param_groups:
                    group["lr"] = group["highest"] * one_cycle(done)
                losses.append(self.step(lesson, batch))
                if watch is not None:
                    watch(done, losses[-1])
                if time.perf_counter() > deadline:
                    raise TimeoutError
        self._epoch += 1
        return float(np.mean(losses))

    def batches_per_epoch(self) -> int:
        """Steps in an epoch."""
        return sum(-(-len(lesson.arcs) // self.options.batch_size) for lesson in self.lessons)

    @torch.no_grad()
    def places(self, inputs: torch.Tensor | None) -> Places:
        """Where the present model puts all nodes, given their inputs."""
        self.model.eval()
        return self.model.encoder(_to(inputs, self.device))

    @torch.no_grad()
    def evaluate(self, loss: float) -> float:
        """Score the present model on the validation, note it, and keep the model if it is the best so far."""
        places = self.places(self.inputs)
        scores: dict[str, float] = {}
        if self.validation is not None:
            scores = score_links(self.validation, lambda pairs: self._logits(places, pairs))
        score = mean_score(scores)
        self.record.history.append({"epoch": self._epoch, "loss": loss, **scores})
        if self._best is None or not score <= self.record.best_score:  # without scores, the last is kept
            self.record.best_score, self.record.best_epoch = score, self._epoch
            self._best = deepcopy(self.model.state_dict())
        return score

    def fit(
        self,
        *,
        checkpoint: Checkpoint | None = None,
        time_limit: float | None = None,
        progress: Progress | None = None,
    ) -> TrainingRecord:
        """Train until done, and leave the best model in place.

        Ctrl-C and the time limit end the training early; what was best until then is kept, and the status says why.
        """
        deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
        if self.shard[1] > 1 and time_limit is not None:
            raise InputError("time_limit needs a single process: several would not stop at the same step.")
        self.resume(checkpoint)
        written, loss = time.perf_counter(), math.nan
        best = "-" if self._best is None else f"{self.record.best_score:.2f}"

        def watch(done: float, now: float) -> None:
            if progress is not None:
                progress.update(f"{100 * done:.0f} %, loss {now:.4f}, validation {best}")

        try:
            while self._epoch < self.options.epochs:
                loss = self.run_epoch(deadline, watch)
                last = self._epoch == self.options.epochs
                if last or self._epoch % self.options.evaluate_every == 0:
                    self.evaluate(loss)
                    best = f"{self.record.best_score:.2f}"
                    behind = (self._epoch - self.record.best_epoch) / self.options.evaluate_every
                    if behind >= self.options.patience:
                        self.record.status = "patience"
                        break
                if (
                    checkpoint is not None
                    and self.writes
                    and time.perf_counter() - written >= checkpoint.every
                ):
                    checkpoint.write(self.state())
                    written = time.perf_counter()
        except (KeyboardInterrupt, TimeoutError) as stop:
            self.record.status = "time_limit" if isinstance(stop, TimeoutError) else "interrupted"
            self.evaluate(loss)
        if checkpoint is not None and self.writes and self.record.status in ("finished", "patience"):
            checkpoint.write(self.state())
        if self._best is not None:
            self.model.load_state_dict(self._best)
        return self.record

    def state(self) -> dict[str, Any]:
        """All that a later run needs to go on exactly from here."""
        record = self.record
        return {
            "epoch": self._epoch,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "best": self._best,
            "best_epoch": record.best_epoch,
            "best_score": record.best_score,
            "history": record.history,
            "status": record.status,
        }

    def resume(self, checkpoint: Checkpoint | None) -> None:
        """Take up the state of a checkpoint, if there is one."""
        state = None if checkpoint is None else checkpoint.read()
        if state is None:
            return
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self._best, self._epoch = state["best"], state["epoch"]
        self.record = TrainingRecord(
            state["history"], state["best_epoch"], state["best_score"], state["status"]
        )
        if state["status"] == "patience":  # that training had ended
            self._epoch = self.options.epochs

    def _logits(self, places: Places, pairs: np.ndarray) -> np.ndarray:
        at = torch.as_tensor(np.ascontiguousarray(pairs), device=self.device)
        return self.model.logits(places, at).double().cpu().numpy()


def mean_score(scores: dict[str, float]) -> float:
    """Mean of the scores of the tasks that have any pairs; NaN if none has.

    Examples
    --------
    >>> mean_score({"direction": 90.0, "existence_mixed": 80.0, "existence_random": float("nan")})
    85.0
    """
    known = [value for value in scores.values() if math.isfinite(value)]
    return float(np.mean(known)) if known else math.nan


def one_cycle(done: float) -> float:
    """Learning rate, as a share of the highest, when a share of the training is done.

    Examples
    --------
    >>> [round(one_cycle(x), 3) for x in (0.0, 0.05, 0.1, 0.55, 1.0)]
    [0.04, 0.52, 1.0, 0.5, 0.0]
    """
    rise = 0.1
    if done < rise:
        return 0.04 + 0.96 * done / rise
    return 0.5 * (1 + math.cos(math.pi * (done - rise) / (1 - rise)))


def _to(tensor: torch.Tensor | None, device: str) -> torch.Tensor | None:
    return None if tensor is None else tensor.to(device)


@contextmanager
def _seeded(seed: int, device: str) -> Iterator[None]:
    """Seed torch for a while, and give the caller's random numbers back."""
    devices = [torch.device(device)] if torch.device(device).type == "cuda" else []
    with torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield
