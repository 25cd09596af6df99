"""Optimizers: the steps of PyTorch's own, and the descent in the Randers metric."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import slow_distance

torch = pytest.importorskip("torch")

from finsler.learn.optimizers import make_optimizer, randers_flow, steepest_ascent  # noqa: E402
from finsler.learn.options import Schedule  # noqa: E402

numbers = st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 3))
PLAN = Schedule(1, 1, 1, 0.05, 0.2, 0.1)  # rates .05 and, for single numbers, .2; decay .1


class Model(torch.nn.Module):
    """A matrix, a vector and a number, and a loss without a minimum at the start."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(3)
        self.matrix = torch.nn.Parameter(torch.randn(4, 3))
        self.vector = torch.nn.Parameter(torch.randn(3))
        self.number = torch.nn.Parameter(torch.tensor(0.5))
        self.unused = torch.nn.Parameter(torch.ones(2))
        self.fixed = torch.nn.Parameter(torch.ones(2), requires_grad=False)

    def forward(self, k):
        return ((self.matrix @ self.vector - k).square() * self.number.exp()).sum()

    def values(self):
        return [p.detach().clone() for p in self.parameters()]


@pytest.mark.parametrize("name", ["adam", "randers-sgd"])
def test_steps_are_those_of_torch(name):
    """The numbers of torch.optim's AdamW, and SGD with momentum: matrices decay, numbers have a rate of their own."""
    ours, theirs = Model(), Model()
    optimizer = make_optimizer(name, ours, PLAN)
    groups = [
        {"params": [theirs.matrix], "lr": 0.05, "weight_decay": 0.1},
        {"params": [theirs.vector, theirs.unused], "lr": 0.05, "weight_decay": 0.0},
        {"params": [theirs.number], "lr": 0.2, "weight_decay": 0.0},
    ]
    rates = [group["lr"] for group in groups]
    reference = torch.optim.AdamW(groups) if name == "adam" else torch.optim.SGD(groups, momentum=0.9)
    for k in range(8):
        optimizer.share = share = 0.01 + 0.01 * k
        for group, rate in zip(reference.param_groups, rates, strict=True):
            group["lr"] = rate * share
        for model, steps in ((ours, optimizer), (theirs, reference)):
            steps.zero_grad()
            model(k).backward()
            steps.step()
        for one, other in zip(ours.values(), theirs.values(), strict=True):
            assert torch.allclose(one, other, rtol=1e-6, atol=1e-7)
    assert not torch.equal(ours.matrix, Model().matrix)
    assert torch.equal(ours.unused, torch.ones(2))


def test_a_state_that_is_taken_up_goes_on_the_same_way():
    whole, first, second = Model(), Model(), Model()

    def train(model, optimizer, steps):
        for k in steps:
            optimizer.zero_grad()
            model(k).backward()
            optimizer.step()

    train(whole, make_optimizer("adam", whole, PLAN), range(6))
    before = make_optimizer("adam", first, PLAN)
    train(first, before, range(3))
    second.load_state_dict(first.state_dict())
    after = make_optimizer("adam", second, PLAN)
    after.load_state_dict(before.state_dict())
    train(second, after, range(3, 6))
    assert all(torch.equal(p, q) for p, q in zip(whole.values(), second.values(), strict=True))
    with pytest.raises(ValueError, match=r"zip|another model"):
        after.load_state_dict(make_optimizer("adam", torch.nn.Linear(2, 2), PLAN).state_dict())


def test_a_fit_does_not_import_the_compiler_of_torch():
    """It takes seconds, more than a small graph."""
    code = (
        "import sys; from finsler import LinkPredictor; arcs = [(i, (i + s) % 30) for i in range(30) for s in (1, 2, 5)];"
        "LinkPredictor(4, epochs=2, random_state=0, n_jobs=1).fit(arcs); sys.exit('torch._dynamo' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(st.lists(numbers, min_size=3, max_size=3), st.floats(-0.9, 0.9))
def test_steepest_ascent_is_the_legendre_transform(g, alpha):
    """Of all vectors of its length, it is the one on which g is largest; g(v) = F*(g)^2 = F(v)^2."""
    covector = torch.tensor(g, dtype=torch.float64)
    v = steepest_ascent(covector, alpha)
    lam, drift = 1 - alpha**2, alpha * g[-1]
    dual = (np.sqrt(lam * np.dot(g, g) + drift**2) - drift) / lam
    assert slow_distance([0, 0, 0], v.tolist(), [0, 0, alpha]) == pytest.approx(dual, abs=1e-9)
    assert float(covector @ v) == pytest.approx(dual**2, abs=1e-9)
    rng = np.random.default_rng(0)
    for u in rng.normal(size=(50, 3)):  # the dual norm is a supremum
        assert np.dot(g, u) <= dual * slow_distance([0, 0, 0], u, [0, 0, alpha]) + 1e-9


def test_steepest_ascent_at_alpha_zero_is_the_gradient_and_zero_stays():
    g = torch.tensor([[1.0, -2.0], [0.0, 0.0]])
    assert torch.allclose(steepest_ascent(g, 0.0), g)
    assert torch.isfinite(steepest_ascent(g, 0.7)).all()


def test_randers_descent_of_points():
    """One step moves points along the metric's descent: less far up than down for the same slope."""
    points = torch.nn.Parameter(torch.zeros(2, 2))
    slope = torch.tensor([[0.0, 1.0], [0.0, -1.0]])  # the first should come down, the second go up
    (randers_flow(points, torch.tensor(0.5)) * slope).sum().backward()
    module = torch.nn.Module()
    module.points = points
    make_optimizer("randers-sgd", module, Schedule(1, 1, 1, 1.0, 1.0, 0.0)).step()
    assert points[:, 1].tolist() == pytest.approx([-4.0, 4 / 9])  # 1/(1-a)^2 and 1/(1+a)^2
