"""Training: learns, repeats itself, stops, resumes exactly."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from finsler.graphs.arc_set import ArcSet

torch = pytest.importorskip("torch")

from finsler.learn import training  # noqa: E402
from finsler.learn.model import DirectCoordinates, FeatureEncoder, FermiDirac, LinkModel  # noqa: E402
from finsler.learn.options import LinkOptions, Schedule  # noqa: E402
from finsler.learn.tasks import split_links  # noqa: E402
from finsler.learn.training import (  # noqa: E402
    Batch,
    Checkpoint,
    Lesson,
    Trainer,
    draw_batches,
    link_loss,
    one_cycle,
)

N = 60
TASKS = ("direction", "existence_mixed", "existence_random")


def make_split():
    rng = np.random.default_rng(0)
    arcs = np.array([(i, j) for i in range(N) for j in rng.choice(i, min(i, 5), replace=False)])
    return split_links(arcs, n_nodes=N)


def make_trainer(split=None, *, encoder="direct", validate=True, seed=0, options=None, **plan):
    split = make_split() if split is None else split
    torch.manual_seed(0)
    inputs = None
    if encoder == "direct":
        part = DirectCoordinates(np.zeros(N), 4)
    else:
        inputs = torch.randn(N, 6)
        part = FeatureEncoder(6, 4, layers=1, width=8, dropout=0.3)
    model = LinkModel(part, FermiDirac())
    usual = Schedule(12, 64, 2, learning_rate=0.05, number_rate=0.06, weight_decay=1e-4)
    return Trainer(
        model,
        [Lesson(split.observed, inputs)],
        ArcSet(split.observed, N),
        usual._replace(**plan),
        LinkOptions(**(options or {})),
        seed=seed,
        inputs=inputs,
        validation=split.validation if validate else None,
    )


def weights(trainer):
    return {name: value.clone() for name, value in trainer.model.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def test_training_lowers_the_loss_and_keeps_the_best_epoch():
    trainer = make_trainer(epochs=40)
    record = trainer.fit()
    assert record.status == "finished"
    assert record.history[-1]["loss"] < 0.5 * record.history[0]["loss"]
    means = [np.mean([h[t] for t in TASKS]) for h in record.history]
    assert record.best_score == pytest.approx(max(means))
    assert record.best_epoch == record.history[int(np.argmax(means))]["epoch"]
    again = trainer.evaluate(0.0)  # the model left in place is that one
    assert np.mean([again[t] for t in TASKS]) == pytest.approx(max(means))


@pytest.mark.parametrize("encoder", ["direct", "mlp"])
def test_same_seed_same_weights_whatever_the_callers_random_numbers(encoder):
    first, second = make_trainer(encoder=encoder), make_trainer(encoder=encoder)
    first.fit()
    torch.manual_seed(99)
    before = torch.get_rng_state()
    second.fit()
    assert same(weights(first), weights(second))
    assert torch.equal(torch.get_rng_state(), before)
    third = make_trainer(encoder=encoder, seed=1)
    third.fit()
    assert not same(weights(first), weights(third))


def test_without_validation_the_last_epoch_is_kept():
    trainer = make_trainer(validate=False)
    record = trainer.fit()
    assert record.best_epoch == 12
    assert np.isnan(record.best_score)


def test_patience_ends_a_training_that_does_not_improve():
    record = make_trainer(learning_rate=1e-12, evaluate_every=1, options={"patience": 2}).fit()
    assert record.status == "patience"
    assert len(record.history) == 3


def test_time_limit_keeps_the_best_so_far():
    trainer = make_trainer(epochs=100_000)
    record = trainer.fit(deadline=time.perf_counter() + 0.05)
    assert record.status == "time_limit"
    assert np.isfinite(record.best_score)


def test_interrupt_keeps_the_best_so_far():
    trainer = make_trainer(epochs=100)
    steps = []
    original = trainer.step

    def step(lesson, batch):
        steps.append(1)
        if len(steps) == 30:
            raise KeyboardInterrupt
        return original(lesson, batch)

    trainer.step = step
    record = trainer.fit()
    assert record.status == "interrupted"
    assert len(record.history) > 1
    assert np.isfinite(record.best_score)


class Stop(Exception):
    pass


def test_resume_ends_with_the_same_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    whole = make_trainer(encoder="mlp")
    whole.fit()
    checkpoint = Checkpoint(tmp_path / "state.pt", "graph")
    broken = make_trainer(encoder="mlp")
    evaluate = broken.evaluate

    def fail_at_epoch_8(loss):
        if broken._epoch == 8:
            raise Stop
        return evaluate(loss)

    broken.evaluate = fail_at_epoch_8
    with pytest.raises(Stop):
        broken.fit(checkpoint=checkpoint)
    assert not list(tmp_path.glob("*.tmp"))
    resumed = make_trainer(encoder="mlp")
    record = resumed.fit(checkpoint=checkpoint)
    assert [h["epoch"] for h in record.history] == [2, 4, 6, 8, 10, 12]
    assert record.history == whole.record.history
    assert same(weights(whole), weights(resumed))
    again = make_trainer(encoder="mlp")  # a finished training is not repeated
    again.step = None
    again.fit(checkpoint=checkpoint)
    assert same(weights(whole), weights(again))


def test_a_training_that_is_stopped_goes_on_from_its_last_whole_epoch(tmp_path):
    """After Ctrl-C in the middle of one, at the time limit or by a callback, however short it was."""
    whole = make_trainer(encoder="mlp")
    whole.fit()
    for how in ("interrupted", "time_limit", "stopped"):
        checkpoint = Checkpoint(tmp_path / f"{how}.pt", "graph")
        broken = make_trainer(encoder="mlp")
        step = broken.step

        def stop(*args, broken=broken, step=step, how=how):
            if broken._epoch == 5 and how != "stopped":
                raise KeyboardInterrupt if how == "interrupted" else TimeoutError
            return step(*args)

        broken.step = stop
        record = broken.fit(
            checkpoint=checkpoint, callback=lambda found, how=how: how == "stopped" and found["epoch"] >= 5
        )
        assert record.status == how
        state = torch.load(tmp_path / f"{how}.pt", weights_only=True)
        assert 4 <= state["epoch"] <= 5
        resumed = make_trainer(encoder="mlp")
        resumed.fit(checkpoint=checkpoint)
        assert same(weights(whole), weights(resumed))


KILLED = """
import sys
sys.path[:0] = [{tests!r}, {folder!r}]
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_training import Checkpoint, make_trainer, training
training.CHECKPOINT_SECONDS = 0.0
trainer = make_trainer(epochs=30)
run = trainer.run_epoch
def slow(*args):
    import time
    time.sleep(0.05)
    return run(*args)
trainer.run_epoch = slow
trainer.fit(checkpoint=Checkpoint(Path({path!r}), "graph"))
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no SIGKILL on this system")
def test_a_killed_training_resumes_with_the_same_weights(tmp_path):
    path = tmp_path / "state.pt"
    here = Path(__file__).parent
    code = KILLED.format(tests=str(here.parent), folder=str(here), path=str(path))
    child = subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "OMP_NUM_THREADS": "1"})
    try:
        deadline = time.monotonic() + 120
        while not path.exists() and child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        assert child.poll() is None, "the training ended before it could be killed"
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        child.wait()
    state = torch.load(path, weights_only=True)
    assert 0 < state["epoch"] < 30
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        resumed, whole = make_trainer(epochs=30), make_trainer(epochs=30)
        resumed.fit(checkpoint=Checkpoint(path, "graph"))
        whole.fit()
    finally:
        torch.set_num_threads(before)
    assert same(weights(whole), weights(resumed))


def test_a_checkpoint_of_something_else_is_refused(tmp_path):
    path = tmp_path / "state.pt"
    make_trainer().fit(checkpoint=Checkpoint(path, "one graph"))
    with pytest.raises(ValueError, match="checkpoint of another graph"):
        make_trainer().fit(checkpoint=Checkpoint(path, "other graph"))
    path.write_bytes(b"nonsense")
    with pytest.raises(ValueError, match="not a checkpoint of finsler, or is damaged"):
        make_trainer().fit(checkpoint=Checkpoint(path, "one graph"))


def test_a_checkpoint_cannot_execute_anything(tmp_path):
    class Evil:
        def __reduce__(self):
            return os.mkdir, (str(tmp_path / "executed"),)

    path = tmp_path / "state.pt"
    torch.save({"format": training.CHECKPOINT_FORMAT, "fingerprint": Evil()}, path)
    with pytest.raises(ValueError, match="not a checkpoint"):
        Checkpoint(path, "graph").read()
    assert not (tmp_path / "executed").exists()


def test_small_batches_place_only_their_nodes():
    """The two ways to place the nodes of a batch give the same loss."""
    split = make_split()
    trainer = make_trainer(split, encoder="mlp")
    trainer.model.eval()
    arcs = split.observed[:4]
    batch = Batch(arcs, np.ones(4, bool), np.array([[0, 9], [5, 7]]), (4, 4, 2))
    lesson = trainer.lessons[0]
    few = trainer.batch_loss(lesson, batch).item()
    trainer.observed.n_nodes = 1  # now 2 x pairs exceeds the nodes, and all are placed
    assert trainer.batch_loss(lesson, batch).item() == pytest.approx(few, rel=1e-5)


def test_randers_sgd_trains_too():
    record = make_trainer(
        options={"optimizer": "randers-sgd"}, epochs=40, learning_rate=0.5, number_rate=0.01
    ).fit()
    assert record.history[-1]["loss"] < record.history[0]["loss"]


def test_rate_rises_and_falls():
    rates = [one_cycle(x) for x in np.linspace(0, 1, 101)]
    assert np.argmax(rates) == 10
    assert rates[-1] == pytest.approx(0, abs=1e-12)
    assert min(rates) >= 0


def test_a_callback_sees_evaluations_and_can_stop(tmp_path, monkeypatch):
    monkeypatch.setattr(training, "CHECKPOINT_SECONDS", 0.0)
    seen, checkpoint = [], Checkpoint(tmp_path / "state.pt", "graph")
    record = make_trainer().fit(
        callback=lambda found: seen.append(found) or len(seen) == 2, checkpoint=checkpoint
    )
    assert record.status == "stopped"
    assert seen == record.history
    assert [found["epoch"] for found in seen] == [2, 4]
    resumed, whole = make_trainer(), make_trainer()  # what was stopped can go on
    resumed.fit(checkpoint=checkpoint)
    whole.fit()
    assert same(weights(whole), weights(resumed))


def a_batch():
    arcs = np.array([[0, 1], [1, 0], [2, 1], [3, 2]])
    one_way = np.array([False, False, True, True])
    return Batch(arcs, one_way, np.array([[0, 3], [1, 3], [0, 2]]), (4, 2, 3))


def test_loss_equals_the_formula_written_out():
    batch = a_batch()
    pairs = batch.pairs()
    assert pairs[4:6].tolist() == [[1, 2], [2, 3]]
    logits = np.random.default_rng(3).normal(size=len(pairs))

    def cost(z):
        return np.log1p(np.exp(z))

    expected = (
        np.mean([cost(-z) for z in logits[:4]])
        + 0.25 * np.mean([cost(z) for z in logits[4:6]])
        + 0.75 * np.mean([cost(z) for z in logits[6:]])
        + 0.6 * np.mean([cost(-(logits[2] - logits[4])), cost(-(logits[3] - logits[5]))])
    )
    found = link_loss(torch.tensor(logits), batch, 0.25, 0.6)
    assert float(found) == pytest.approx(expected)


def test_gradient_of_the_loss():
    logits = torch.tensor(np.random.default_rng(4).normal(size=9), requires_grad=True)
    assert torch.autograd.gradcheck(lambda z: link_loss(z, a_batch(), 1 / 3, 0.3), (logits,))


def test_losses_of_shards_sum_to_that_of_the_batch():
    batch = a_batch()
    score = {tuple(pair): 0.3 * pair[0] - 0.7 * pair[1] for pair in batch.pairs().tolist()}

    def loss(part):
        return float(
            link_loss(torch.tensor([score[tuple(p)] for p in part.pairs().tolist()]), part, 1 / 3, 0.3)
        )

    assert loss(batch) == pytest.approx(sum(loss(batch.shard(k, 3)) for k in range(3)), rel=1e-6)


def test_batches_hold_every_arc_once_and_only_true_negatives():
    rng = np.random.default_rng(5)
    arcs = np.array(sorted({tuple(p) for p in rng.integers(0, 30, (120, 2)).tolist() if p[0] != p[1]}))
    known = {tuple(p) for p in arcs.tolist()}
    lessons = [Lesson(arcs[::2]), Lesson(arcs[1::2]), Lesson(arcs[:0])]
    seen = []
    for lesson, batch in draw_batches(lessons, ArcSet(arcs, 30), 16, 3, rng):
        assert len(batch.arcs) <= 16
        assert {tuple(p) for p in batch.arcs.tolist()} <= {tuple(p) for p in lesson.arcs.tolist()}
        assert batch.one_way.tolist() == [(j, i) not in known for i, j in batch.arcs.tolist()]
        assert not {tuple(p) for p in batch.random.tolist()} & known
        assert (batch.random[:, 0] != batch.random[:, 1]).all()
        assert batch.counts == (len(batch.arcs), batch.one_way.sum(), len(batch.random))
        seen += batch.arcs.tolist()
    assert sorted(seen) == arcs.tolist()


def train_part():
    """Weights after a few epochs, with the part of the work that falls to this process."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = LinkModel(DirectCoordinates(np.linspace(1, -1, N), 4), FermiDirac())
    arcs = make_split().observed
    plan = Schedule(5, 32, 2, learning_rate=0.05, number_rate=0.06, weight_decay=0.0)
    Trainer(model, [Lesson(arcs)], ArcSet(arcs, N), plan, LinkOptions()).fit()
    return {name: value.numpy().copy() for name, value in model.state_dict().items()}


def work(rank, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    np.savez(f"{folder}/weights{rank}.npz", **train_part())
    try:
        torch.distributed.barrier()
    finally:
        os._exit(0)  # the files are written; gloo's threads now and then abort an orderly exit


def test_two_processes_take_the_steps_of_one(tmp_path):
    before = torch.get_num_threads()
    alone = train_part()
    torch.set_num_threads(before)
    torch.multiprocessing.spawn(work, (str(tmp_path),), nprocs=2)
    first, second = (dict(np.load(tmp_path / f"weights{rank}.npz")) for rank in (0, 1))
    for name, value in alone.items():
        assert np.array_equal(first[name], second[name])
        assert np.allclose(first[name], value, rtol=1e-4, atol=1e-5)
    assert (
        np.abs(alone["encoder.points"][:, -1] - np.linspace(1, -1, N)).max() > 0.05
    )  # something was learned
