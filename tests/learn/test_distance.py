"""The Randers distance of PyTorch, the decoder, the loss: against numpy and finite differences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers import slow_distance

torch = pytest.importorskip("torch")

from finsler.learn.decoder import FermiDirac  # noqa: E402
from finsler.learn.distance import Drift, randers_distance  # noqa: E402
from finsler.learn.losses import link_loss  # noqa: E402
from finsler.learn.optimizers import dual_norm, make_optimizer, randers_flow, steepest_ascent  # noqa: E402
from finsler.learn.sampling import ArcSet, Batch, Lesson, draw_batches  # noqa: E402


def doubles(rng, *shape):
    return torch.tensor(rng.normal(size=shape), dtype=torch.float64, requires_grad=True)


def test_distance_equals_the_slow_one():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 6, 3))
    found = randers_distance(torch.tensor(x), torch.tensor(y), 0.7)
    assert np.allclose(found, [slow_distance(a, b, [0, 0, 0.7]) for a, b in zip(x, y, strict=True)])


def test_gradient_of_the_distance():
    rng = np.random.default_rng(1)
    alpha = torch.tensor(0.6, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(randers_distance, (doubles(rng, 5, 3), doubles(rng, 5, 3), alpha))


def test_points_that_meet_have_a_finite_gradient():
    x = torch.zeros(2, 3, requires_grad=True)
    y = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], requires_grad=True)
    d = randers_distance(x, y, 0.5)
    assert d.tolist() == [0.0, 1.0]
    d.sum().backward()
    assert x.grad.tolist() == [[0.0, 0.0, -0.5], [-1.0, 0.0, -0.5]]  # of the meeting points, only the drift's
    decoder = FermiDirac()
    x.grad = None
    decoder(x, y).sum().backward()
    assert torch.isfinite(x.grad).all()
    assert all(torch.isfinite(p.grad) for p in decoder.parameters())


@pytest.mark.parametrize("alpha", [0.0, -0.4, 0.99])
def test_drift_starts_where_it_is_told(alpha):
    drift = Drift(alpha, learn=False)
    assert drift().item() == pytest.approx(alpha, abs=1e-5)
    assert not any(p.requires_grad for p in drift.parameters())


def test_drift_stays_below_one():
    drift = Drift(0.9)
    drift.raw.data += 100.0
    assert drift().item() < 1.0
    with pytest.raises(ValueError, match="alpha must be between"):
        Drift(1.0)


def test_decoder_is_the_fermi_dirac_formula_and_differentiable():
    rng = np.random.default_rng(2)
    decoder = FermiDirac(0.3, 4.0, 0.5).double()
    x, y, out, into = doubles(rng, 4, 3), doubles(rng, 4, 3), doubles(rng, 4), doubles(rng, 4)
    p = torch.sigmoid(decoder(x, y, out, into)).detach().numpy()
    for k in range(4):
        d = slow_distance(x[k].tolist(), y[k].tolist(), [0, 0, 0.3])
        r = 4.0 + out[k].item() + into[k].item()
        assert p[k] == pytest.approx(1 / (1 + np.exp((d**2 - r) / 0.5)), rel=1e-5)
    assert torch.autograd.gradcheck(decoder, (x, y, out, into))


@pytest.mark.parametrize("name", ["radius", "temperature"])
def test_decoder_refuses_what_is_not_positive(name):
    with pytest.raises(ValueError, match=f"{name} must be positive; found -1"):
        FermiDirac(**{name: -1.0})


def a_batch():
    arcs = np.array([[0, 1], [1, 0], [2, 1], [3, 2]])
    one_way = np.array([False, False, True, True])
    return Batch(arcs, one_way, np.array([[0, 3], [1, 3], [0, 2]]), (4, 2, 3))


def test_loss_equals_the_formula_written_out():
    batch = a_batch()
    pairs, n_back = batch.pairs()
    assert n_back == 2
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
    found = link_loss(torch.tensor(logits), batch, reversed_share=0.25, direction_weight=0.6)
    assert float(found) == pytest.approx(expected)


def test_gradient_of_the_loss():
    logits = doubles(np.random.default_rng(4), 9)
    assert torch.autograd.gradcheck(lambda z: link_loss(z, a_batch()), (logits,))


def test_losses_of_shards_sum_to_that_of_the_batch():
    batch = a_batch()
    score = {tuple(pair): 0.3 * pair[0] - 0.7 * pair[1] for pair in batch.pairs()[0].tolist()}

    def loss(part):
        return float(link_loss(torch.tensor([score[tuple(p)] for p in part.pairs()[0].tolist()]), part))

    assert loss(batch) == pytest.approx(sum(loss(batch.shard(k, 3)) for k in range(3)), rel=1e-6)


def test_batches_hold_every_arc_once_and_only_true_negatives():
    rng = np.random.default_rng(5)
    arcs = np.array(sorted({tuple(p) for p in rng.integers(0, 30, (120, 2)).tolist() if p[0] != p[1]}))
    known = {tuple(p) for p in arcs.tolist()}
    lessons = [Lesson(arcs[::2]), Lesson(arcs[1::2]), Lesson(arcs[:0])]
    seen = []
    for lesson, batch in draw_batches(lessons, ArcSet(arcs, 30), batch_size=16, negatives=3, rng=rng):
        assert len(batch.arcs) <= 16
        assert {tuple(p) for p in batch.arcs.tolist()} <= {tuple(p) for p in lesson.arcs.tolist()}
        assert batch.one_way.tolist() == [(j, i) not in known for i, j in batch.arcs.tolist()]
        assert not {tuple(p) for p in batch.random.tolist()} & known
        assert (batch.random[:, 0] != batch.random[:, 1]).all()
        assert batch.counts == (len(batch.arcs), batch.one_way.sum(), len(batch.random))
        seen += batch.arcs.tolist()
    assert sorted(seen) == arcs.tolist()


numbers = st.floats(-5, 5, allow_nan=False).map(lambda x: round(x, 3))


@given(st.lists(numbers, min_size=3, max_size=3), st.floats(-0.9, 0.9))
def test_steepest_ascent_is_the_legendre_transform(g, alpha):
    """Of all vectors of its length, it is the one on which g is largest; g(v) = F*(g)^2 = F(v)^2."""
    covector = torch.tensor(g, dtype=torch.float64)
    v = steepest_ascent(covector, alpha)
    dual = float(dual_norm(covector, alpha))
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
    make_optimizer("randers-sgd", module, learning_rate=1.0).step()
    assert points[:, 1].tolist() == pytest.approx([-4.0, 4 / 9])  # 1/(1-a)^2 and 1/(1+a)^2
    with pytest.raises(ValueError, match="optimizer must be one of 'adam', 'randers-sgd'; found 'sgd'"):
        make_optimizer("sgd", module, learning_rate=1.0)
