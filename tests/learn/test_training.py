"""Training: learns, repeats itself, stops, resumes exactly."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from finsler.learn.decoder import FermiDirac  # noqa: E402
from finsler.learn.encoders import DirectCoordinates, FeatureEncoder, LinkModel  # noqa: E402
from finsler.learn.sampling import ArcSet, Lesson  # noqa: E402
from finsler.learn.tasks import split_links  # noqa: E402
from finsler.learn.training import Checkpoint, Trainer, TrainingOptions, one_cycle  # noqa: E402

N = 60


def make_split():
    rng = np.random.default_rng(0)
    arcs = np.array([(i, j) for i in range(N) for j in rng.choice(i, min(i, 5), replace=False)])
    return split_links(arcs, seed=0, n_nodes=N)


def make_trainer(split=None, *, encoder="direct", validate=True, **options):
    split = make_split() if split is None else split
    torch.manual_seed(0)
    inputs = None
    if encoder == "direct":
        part = DirectCoordinates(np.zeros(N), 4)
    else:
        inputs = torch.randn(N, 6)
        part = FeatureEncoder(6, 4, layers=1, width=8, dropout=0.3)
    model = LinkModel(part, FermiDirac())
    settings = {"epochs": 12, "batch_size": 64, "learning_rate": 0.05, "evaluate_every": 2, **options}
    return Trainer(
        model,
        [Lesson(split.observed, inputs)],
        ArcSet(split.observed, N),
        TrainingOptions(**settings),
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
    means = [
        np.mean([h[t] for t in ("direction", "existence_mixed", "existence_random")]) for h in record.history
    ]
    assert record.best_score == pytest.approx(max(means))
    assert record.best_epoch == record.history[int(np.argmax(means))]["epoch"]
    assert trainer.evaluate(0.0) == pytest.approx(max(means))  # the model left in place is that one


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
    record = make_trainer(learning_rate=1e-12, patience=2, evaluate_every=1).fit()
    assert record.status == "patience"
    assert len(record.history) == 3


def test_time_limit_keeps_the_best_so_far():
    trainer = make_trainer(epochs=100_000)
    record = trainer.fit(time_limit=0.05)
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


def test_resume_ends_with_the_same_weights(tmp_path):
    whole = make_trainer(encoder="mlp")
    whole.fit()
    checkpoint = Checkpoint(tmp_path / "state.pt", "graph", every=0.0)
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


KILLED = """
import sys
sys.path[:0] = [{tests!r}, {folder!r}]
import torch
torch.set_num_threads(1)
from pathlib import Path
from test_training import Checkpoint, make_trainer
trainer = make_trainer(epochs=30)
run = trainer.run_epoch
def slow(*args):
    import time
    time.sleep(0.05)
    return run(*args)
trainer.run_epoch = slow
trainer.fit(checkpoint=Checkpoint(Path({path!r}), "graph", every=0.0))
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
    torch.save({"format": 1, "fingerprint": Evil()}, path)
    with pytest.raises(ValueError, match="not a checkpoint"):
        Checkpoint(path, "graph").read()
    assert not (tmp_path / "executed").exists()


def test_small_batches_place_only_their_nodes():
    """The two ways to place the nodes of a batch give the same loss."""
    split = make_split()
    trainer = make_trainer(split, encoder="mlp")
    trainer.model.eval()
    from finsler.learn.sampling import Batch

    arcs = split.observed[:4]
    batch = Batch(arcs, np.ones(4, bool), np.array([[0, 9], [5, 7]]), (4, 4, 2))
    lesson = trainer.lessons[0]
    few = trainer.batch_loss(lesson, batch).item()
    trainer.observed.n_nodes = 1  # now 2 x pairs exceeds the nodes, and all are placed
    assert trainer.batch_loss(lesson, batch).item() == pytest.approx(few, rel=1e-5)


def test_randers_sgd_trains_too():
    record = make_trainer(optimizer="randers-sgd", epochs=40, learning_rate=0.5, number_rate=0.01).fit()
    assert record.history[-1]["loss"] < record.history[0]["loss"]


def test_rate_rises_and_falls():
    rates = [one_cycle(x) for x in np.linspace(0, 1, 101)]
    assert np.argmax(rates) == 10
    assert rates[-1] == pytest.approx(0, abs=1e-12)
    assert min(rates) >= 0
