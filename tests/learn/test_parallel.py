"""Two processes take the steps of one."""

import os

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from finsler.learn.decoder import FermiDirac  # noqa: E402
from finsler.learn.encoders import DirectCoordinates, LinkModel  # noqa: E402
from finsler.learn.parallel import my_part  # noqa: E402
from finsler.learn.sampling import ArcSet, Lesson  # noqa: E402
from finsler.learn.training import Trainer, TrainingOptions  # noqa: E402

N = 40


def train():
    """Weights after a few epochs, with the part of the work that falls to this process."""
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    arcs = np.array([(i, j) for i in range(2, N) for j in rng.choice(i, min(i, 3), replace=False)])
    torch.manual_seed(0)
    model = LinkModel(DirectCoordinates(np.linspace(1, -1, N), 4), FermiDirac(0.5, 2.0, 1.0))
    shard, reduce = my_part()
    options = TrainingOptions(epochs=5, batch_size=32, learning_rate=0.05)
    Trainer(model, [Lesson(arcs)], ArcSet(arcs, N), options, shard=shard, reduce=reduce).fit()
    return {name: value.numpy().copy() for name, value in model.state_dict().items()}


def work(rank, folder):
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    np.savez(f"{folder}/weights{rank}.npz", **train())
    try:
        torch.distributed.barrier()
    finally:
        os._exit(0)  # the files are written; gloo's threads now and then abort an orderly exit


def test_two_processes_agree_with_one(tmp_path):
    assert my_part() == ((0, 1), None)
    alone = train()
    torch.multiprocessing.spawn(work, (str(tmp_path),), nprocs=2)
    first, second = (dict(np.load(tmp_path / f"weights{rank}.npz")) for rank in (0, 1))
    for name, value in alone.items():
        assert np.array_equal(first[name], second[name])
        assert np.allclose(first[name], value, rtol=1e-4, atol=1e-5)
    start = DirectCoordinates(np.linspace(1, -1, N), 4).points.detach().numpy()[:, -1]
    assert np.abs(alone["encoder.points"][:, -1] - start).max() > 0.05  # something was learned
