"""Training of a link model: batches with their negatives, the loss, epochs; it can be watched, stopped and resumed.

Negatives are drawn among all pairs that are not **observed** arcs. A held-out arc may thus be drawn as a negative, as
rarely as any other pair: to spare it would need the knowledge that it exists.

Every epoch draws its random numbers from the seed and its own number alone. A run that resumes from a checkpoint, written
between two epochs, therefore repeats exactly what the run that was killed would have done, and the random numbers of the
caller are left alone.

Several processes, for those who outgrow one: every process holds the whole model and draws the same batches; each works on
its part of every batch, and the gradients are summed before the step. So all take the same steps, which are those of one
process up to rounding (dropout apart: every part draws its own). Start them with torch's own launcher, and join them
before fitting::

    # train.py, run by: torchrun --nproc-per-node 2 train.py
    torch.distributed.init_process_group("gloo")
    LinkPredictor(random_state=0).fit("arcs.csv")
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import operator
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from finsler._io import write_atomically
from finsler._memory import require_memory
from finsler.errors import InputError
from finsler.graphs.arc_set import ArcSet, Integers
from finsler.learn.model import LinkModel, Places, torch
from finsler.learn.optimizers import make_optimizer, randers_flow
from finsler.learn.options import LinkOptions, Schedule
from finsler.learn.tasks import LinkTasks, mean_score, score_links

CHECKPOINT_FORMAT = 3
CHECKPOINT_SECONDS = 30.0  # between two checkpoints


class Lesson(NamedTuple):
    """Arcs to learn, and the inputs from which to predict them (None for direct coordinates)."""

    arcs: Integers
    inputs: Any = None


class Batch(NamedTuple):
    """Arcs and pairs that are not arcs; shards of a batch keep the counts of the whole."""

    arcs: Integers
    one_way: NDArray[np.bool_]  # arcs whose reverse is no arc: it is a negative
    random: Integers  # random pairs that are no arcs
    counts: tuple[int, int, int]  # arcs, one-way arcs, random pairs in the whole batch, for the means

    def shard(self, rank: int, size: int) -> Batch:
        """Every ``size``-th part of the batch; the losses of the parts sum to that of the whole."""
        some = slice(rank, None, size)
        return Batch(self.arcs[some], self.one_way[some], self.random[some], self.counts)

    def pairs(self) -> Integers:
        """Arcs, reversed one-way arcs and random pairs in one array."""
        return np.concatenate([self.arcs, self.arcs[self.one_way][:, ::-1], self.random])


def draw_batches(
    lessons: list[Lesson], observed: ArcSet, batch_size: int, negatives: int, rng: np.random.Generator
) -> Iterator[tuple[Lesson, Batch]]:
    """One epoch: every arc of every lesson once, in random order, with fresh random negatives.

    Of the ``negatives`` random pairs drawn per arc, those that are loops or observed arcs are thrown away.
    """
    for k in rng.permutation(len(lessons)):
        lesson = lessons[k]
        n_batches = -(-len(lesson.arcs) // batch_size)
        order = rng.permutation(len(lesson.arcs))
        for b in range(n_batches):
            arcs = lesson.arcs[order[b::n_batches]]
            one_way = ~observed.contains(arcs[:, ::-1])
            random = rng.integers(0, observed.n_nodes, size=(negatives * len(arcs), 2))
            random = random[(random[:, 0] != random[:, 1]) & ~observed.contains(random)]
            yield lesson, Batch(arcs, one_way, random, (len(arcs), int(one_way.sum()), len(random)))


def link_loss(
    logits: torch.Tensor, batch: Batch, reversed_share: float, direction_weight: float
) -> torch.Tensor:
    """Loss of a batch, or the part of it that a shard contributes, from the logits of ``batch.pairs()``.

    ``mean_arcs -log p + s mean_reversed -log(1 - p) + (1 - s) mean_random -log(1 - p) + w mean_one-way -log q``, where
    ``q = sigmoid(logit_ij - logit_ji)`` is the probability that the arc runs its way, s the share of reversed negatives
    and w the weight of direction. The means are over the whole batch, so the losses of its shards, and their gradients,
    sum to those of the whole.
    """
    softplus = torch.nn.functional.softplus
    n_arcs, n_one_way, n_random = (max(count, 1) for count in batch.counts)
    here = len(batch.arcs)
    one_way = torch.as_tensor(batch.one_way, device=logits.device)
    back_end = here + int(batch.one_way.sum())
    arcs, back, random = logits[:here], logits[here:back_end], logits[back_end:]
    return (
        softplus(-arcs).sum() / n_arcs
        + reversed_share * softplus(back).sum() / n_one_way
        + (1 - reversed_share) * softplus(random).sum() / n_random
        + direction_weight * softplus(back - arcs[one_way]).sum() / n_one_way
    )


@dataclass
class TrainingRecord:
    """What happened: epoch, loss and validation scores at each evaluation, and the best of them.

    The best score is the mean of the validation scores of the model that was kept, NaN without validation; the status
    is "finished", "patience", "time_limit", "stopped" or "interrupted".
    """

    history: list[dict[str, float]] = field(default_factory=list)
    best_epoch: int = -1
    best_score: float = -math.inf
    status: str = "finished"


def fingerprint(
    arcs: Integers,
    known: Integers,
    n: int,
    features: Any,
    tasks: LinkTasks | None,
    settings: dict[str, Any],
    seed: int,
) -> str:
    """Short digest of all that decides the outcome of a training: arcs to learn, all that are known, and what validates."""
    digest = hashlib.sha256(json.dumps([n, seed, settings], default=asdict).encode())
    parts: list[Any] = [arcs, known]
    if features is not None:
        parts += [features.data, features.indices, features.indptr] if issparse(features) else [features]
    if tasks is not None:
        for task in (tasks.direction, tasks.existence_mixed, tasks.existence_random):
            parts += [task.pairs, task.labels]
    for part in map(np.ascontiguousarray, parts):
        digest.update(f"{part.dtype} {part.shape}".encode())
        digest.update(part.tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Checkpoint:
    """File that keeps the state of a training, and the fingerprint of graph, features and options that it belongs to."""

    path: Path
    fingerprint: str

    def read(self) -> dict[str, Any] | None:
        """State that was written, or None."""
        if not self.path.exists():
            return None
        try:
            size = os.path.getsize(self.path)
            require_memory(2.0 * size, f"The checkpoint {str(self.path)!r}", "Train a smaller model.")
            state: dict[str, Any] = torch.load(self.path, map_location="cpu", weights_only=True)
            version, fingerprint = state["format"], state["fingerprint"]
        except (OSError, MemoryError):
            raise
        except Exception as error:
            raise self.damaged() from error
        if version != CHECKPOINT_FORMAT:
            raise InputError(f"{str(self.path)!r} is of format {version}; this is {CHECKPOINT_FORMAT}.")
        if fingerprint != self.fingerprint:
            raise InputError(
                f"{str(self.path)!r} is a checkpoint of another graph, other features or other options. Give "
                "another path, or remove it to start anew."
            )
        return state

    def damaged(self) -> InputError:
        """Error about a file that is no state to go on from."""
        return InputError(
            f"{str(self.path)!r} is not a checkpoint of finsler, or is damaged. Give another path, or remove it."
        )

    def write(self, state: dict[str, Any]) -> None:
        """Replace the file, whole or not at all."""
        record = {"format": CHECKPOINT_FORMAT, "fingerprint": self.fingerprint, **state}
        whole = (
            io.BytesIO()
        )  # a signal that ends the process must not pass through the writer of PyTorch, which loses it
        torch.save(record, whole)
        write_atomically(self.path, lambda file: file.write(whole.getbuffer()))


class Trainer:
    """Fits a `LinkModel` to lessons, by mini-batches, and keeps the state that scored best on the validation, or the last.

    ``observed`` are all arcs that training may know of, which random negatives avoid; ``inputs`` those for evaluation. With
    ``start_counts`` the untrained model is kept if no later one is better.
    """

    def __init__(
        self,
        model: LinkModel,
        lessons: list[Lesson],
        observed: ArcSet,
        plan: Schedule,
        options: LinkOptions,
        *,
        seed: int = 0,
        inputs: torch.Tensor | None = None,
        validation: LinkTasks | None = None,
        device: str = "cpu",
        start_counts: bool = False,
    ):
        self.model = model.to(device)
        self.lessons = [Lesson(lesson.arcs, _to(lesson.inputs, device)) for lesson in lessons]
        self.observed, self.plan, self.options, self.seed = observed, plan, options, seed
        self.inputs, self.validation, self.device = _to(inputs, device), validation, device
        self.start_counts = start_counts
        self.rank, self.n_processes = _processes()
        self.optimizer = make_optimizer(options.optimizer, model, plan)
        self.record = TrainingRecord()
        self._best: dict[str, torch.Tensor] | None = None
        self._epoch = 0

    def batch_loss(self, lesson: Lesson, batch: Batch) -> torch.Tensor:
        """Loss of a batch or shard, with gradients."""
        pairs = batch.pairs()
        at = torch.as_tensor(np.ascontiguousarray(pairs), device=self.device)
        nodes = None
        if 2 * len(pairs) < self.observed.n_nodes:  # place only the nodes that take part
            nodes, at = torch.unique(at, return_inverse=True)
        places, options = self.model.encoder(lesson.inputs, nodes), self.options
        if options.optimizer == "randers-sgd":
            places = Places(randers_flow(places.points, self.model.decoder.alpha()), places.radii)
        logits = self.model.logits(places, at)
        return link_loss(logits, batch, options.reversed_share, options.direction_weight)

    def step(self, lesson: Lesson, batch: Batch) -> float:
        """One step of the optimizer; the loss of the whole batch if this process has all of it."""
        self.optimizer.zero_grad()
        loss = self.batch_loss(lesson, batch.shard(self.rank, self.n_processes))
        loss.backward()
        if self.n_processes > 1:
            _sum_gradients(self.model)
        self.optimizer.step()
        return float(loss.detach())

    def run_epoch(self, deadline: float, watch: Callable[[float, float], None]) -> float:
        """All arcs once; mean loss of the batches. Raises `TimeoutError` between two batches after the deadline."""
        lessons, size = self.lessons, self.plan.batch_size
        losses: list[float] = []
        total = sum(-(-len(lesson.arcs) // size) for lesson in lessons)
        rng = np.random.default_rng([self.seed, self._epoch])
        self.model.train()
        with _seeded(int(rng.integers(2**62)), self.device):
            for lesson, batch in draw_batches(lessons, self.observed, size, self.options.negatives, rng):
                done = (self._epoch + len(losses) / total) / self.plan.epochs
                self.optimizer.share = one_cycle(done)
                losses.append(self.step(lesson, batch))
                watch(done, losses[-1])
                if time.perf_counter() > deadline:
                    raise TimeoutError
        self._epoch += 1
        return float(np.mean(losses))

    @torch.no_grad()
    def places(self, inputs: torch.Tensor | None) -> Places:
        """Where the present model puts all nodes, given their inputs."""
        self.model.eval()
        return self.model.encoder(_to(inputs, self.device))

    @torch.no_grad()
    def evaluate(self, loss: float) -> dict[str, float]:
        """Score the present model on the validation, note it, and keep the model if it is the best so far."""
        places = self.places(self.inputs)

        def logits(pairs: np.ndarray) -> np.ndarray:
            at = torch.as_tensor(np.ascontiguousarray(pairs), device=self.device)
            return self.model.logits(places, at).double().cpu().numpy()

        scores = {} if self.validation is None else score_links(self.validation, logits)
        score, record = mean_score(scores), self.record
        record.history.append({"epoch": self._epoch, "loss": loss, **scores})
        # Better beyond rounding; without scores, the last is kept.
        if self._best is None or not score <= record.best_score + 1e-9:
            record.best_score, record.best_epoch = score, self._epoch
            self._best = deepcopy(self.model.state_dict())
        return record.history[-1]

    def fit(
        self,
        *,
        checkpoint: Checkpoint | None = None,
        deadline: float = math.inf,
        callback: Callable[[dict[str, float]], Any] | None = None,
        watch: Callable[[str], None] = lambda _: None,
    ) -> TrainingRecord:
        """Train until done, and leave the best model in place.

        Ctrl-C, the deadline (on `time.perf_counter`), and a callback that returns True after an evaluation, end the
        training early; what was best until then is kept, and the status says why.
        """
        if self.n_processes > 1 and deadline < math.inf:
            raise InputError("time_limit needs a single process: several would not stop at the same step.")
        self.resume(checkpoint)
        if self.rank:
            checkpoint = None  # of several processes, the first keeps it
        written, loss, record = time.perf_counter(), math.nan, self.record
        # After a whole epoch, for what goes on from there ends with the same numbers.
        last: dict[str, Any] | None = None
        if self.start_counts and self.validation is not None and self._best is None:
            self.evaluate(loss)
            record.history.clear()

        def tell(done: float, now: float) -> None:
            best = "-" if self._best is None else f"{record.best_score:.2f}"
            watch(f"{100 * done:.0f} %, loss {now:.4f}, validation {best}")

        try:
            while self._epoch < self.plan.epochs and record.status == "finished":
                loss = self.run_epoch(deadline, tell)
                if self._epoch == self.plan.epochs or self._epoch % self.plan.evaluate_every == 0:
                    found = self.evaluate(loss)
                    if callback is not None and callback(found):
                        record.status = "stopped"
                    elif self._epoch - record.best_epoch >= self.options.patience * self.plan.evaluate_every:
                        record.status = "patience"
                if checkpoint is not None and record.status == "finished":
                    last = deepcopy(self.state())
                    if time.perf_counter() - written >= CHECKPOINT_SECONDS:
                        checkpoint.write(last)
                        written = time.perf_counter()
        except (KeyboardInterrupt, TimeoutError) as stop:
            record.status = "time_limit" if isinstance(stop, TimeoutError) else "interrupted"
            self.evaluate(loss)
        if checkpoint is not None and record.status in ("finished", "patience"):
            checkpoint.write(self.state())
        elif checkpoint is not None and last is not None:
            checkpoint.write(last)
        if self._best is not None:
            self.model.load_state_dict(self._best)
        return record

    def state(self) -> dict[str, Any]:
        """All that a later run needs to go on exactly from here."""
        model, optimizer = self.model.state_dict(), self.optimizer.state_dict()
        state = {"epoch": self._epoch, "model": model, "optimizer": optimizer, "best": self._best}
        return {**state, "record": dict(vars(self.record))}

    def resume(self, checkpoint: Checkpoint | None) -> None:
        """Take up the state of a checkpoint, if there is one."""
        state = None if checkpoint is None else checkpoint.read()
        if checkpoint is None or state is None:
            return
        try:
            if state["best"] is not None:
                self.model.load_state_dict(state["best"])
            self.model.load_state_dict(state["model"])
            self.optimizer.load_state_dict(state["optimizer"])
            self._best, self._epoch = state["best"], operator.index(state["epoch"])
            self.record = record = TrainingRecord(**state["record"])
            numbers = [record.best_epoch, record.best_score, *(entry["epoch"] for entry in record.history)]
            if not all(isinstance(number, int | float) for number in numbers):
                raise ValueError("its record is not one")
            if not all(torch.isfinite(p).all() for p in self.model.parameters()):
                raise ValueError("it holds numbers that are not finite")
        except Exception as error:  # what PyTorch makes of a damaged state
            raise checkpoint.damaged() from error


def one_cycle(done: float) -> float:
    """Learning rate, as a share of the highest, when a share of the training is done."""
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


def _processes() -> tuple[int, int]:
    """Number of this process, and how many train together."""
    distributed = torch.distributed
    if not (distributed.is_available() and distributed.is_initialized()):
        return 0, 1
    return distributed.get_rank(), distributed.get_world_size()


def _sum_gradients(model: torch.nn.Module) -> None:
    """Replace the gradients of the parameters by their sums over all processes, in one message."""
    parameters = [p for p in model.parameters() if p.requires_grad]
    for p in parameters:
        if p.grad is None:  # a part without such pairs
            p.grad = torch.zeros_like(p)
    flat = torch.cat([p.grad.reshape(-1) for p in parameters])
    torch.distributed.all_reduce(flat)
    start = 0
    for p in parameters:
        p.grad.copy_(flat[start : start + p.numel()].view_as(p))
        start += p.numel()
