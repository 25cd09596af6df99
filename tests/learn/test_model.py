"""Distance, decoder and encoders in PyTorch: against numpy and finite differences."""

from dataclasses import replace

import numpy as np
import pytest

from helpers import slow_distance

torch = pytest.importorskip("torch")

from finsler.learn.blend import LinkScore  # noqa: E402
from finsler.learn.model import (  # noqa: E402
    DirectCoordinates,
    Dropout,
    FeatureEncoder,
    FermiDirac,
    FittedModel,
    LinkModel,
    randers_distance,
)


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
    assert torch.autograd.gradcheck(
        randers_distance, (doubles(rng, 5, 1, 3), doubles(rng, 4, 3), alpha)
    )  # all pairs


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


@pytest.mark.parametrize("alpha", [0.0, 0.4, 0.99])
def test_numbers_are_learned_or_fixed_where_they_are_told(alpha):
    decoder = FermiDirac(alpha, radius=3.0)
    assert decoder.alpha().item() == pytest.approx(alpha, abs=1e-5)
    assert decoder.log_radius.exp().item() == pytest.approx(3.0, rel=1e-6)
    learned = {name for name, p in decoder.named_parameters() if p.requires_grad}
    assert learned == {"log_temperature"}


def test_a_learned_drift_stays_below_one():
    decoder = FermiDirac()
    decoder.raw_alpha.data += 100.0
    assert decoder.alpha().item() < 1.0


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


def test_direct_coordinates_start_at_the_heights():
    heights = np.linspace(-1, 1, 7)
    places = DirectCoordinates(heights, 4)(None)
    assert places.points.shape == (7, 4)
    assert np.allclose(places.points[:, -1].detach(), heights)
    assert not places.radii.any()
    some = DirectCoordinates(heights, 4, radii=False)(None, torch.tensor([6, 0]))
    assert np.allclose(some.points[:, -1].detach(), [1, -1])
    assert some.radii is None


@pytest.mark.parametrize("layers", [0, 1, 3])
def test_encoder_has_its_layers_and_adds_the_height(layers):
    torch.manual_seed(0)
    encoder = FeatureEncoder(6, 3, layers=layers, width=5).eval()
    assert sum(isinstance(part, torch.nn.Linear) for part in encoder.body) == layers
    inputs = torch.randn(8, 6)
    before = encoder(inputs).points
    encoder.height_scale.data += 2.0
    after = encoder(inputs).points
    assert torch.allclose(after[:, -1] - before[:, -1], 2 * inputs[:, 0], atol=1e-6)
    assert torch.equal(after[:, :-1], before[:, :-1])
    nodes = torch.tensor([5, 2])
    assert torch.allclose(encoder(inputs, nodes).points, after[nodes], atol=1e-6)


def test_dropout_is_on_only_in_training():
    encoder = FeatureEncoder(6, 3, layers=1, width=64, dropout=0.5, input_dropout=0.5)
    inputs = torch.ones(4, 6)
    assert not torch.equal(encoder(inputs).points, encoder(inputs).points)
    encoder.eval()
    assert torch.equal(encoder(inputs).points, encoder(inputs).points)


def test_dropout_keeps_the_mean_and_drops_its_share():
    torch.manual_seed(0)
    dropped = Dropout(0.25)(torch.ones(301, 101))
    assert dropped.unique().tolist() == [0.0, pytest.approx(4 / 3)]
    assert float((dropped == 0).float().mean()) == pytest.approx(0.25, abs=0.01)
    assert float(dropped.mean()) == pytest.approx(1, abs=0.01)
    assert torch.isfinite(Dropout(0.9999)(torch.ones(50))).all()


def test_a_decoder_starts_where_it_is_told_and_keeps_what_is_fixed():
    decoder = FermiDirac(None, None, 0.7)
    decoder.start_at(0.9, 2.5, 0.3)
    assert float(decoder.alpha().detach()) == pytest.approx(0.9)
    assert float(decoder.log_radius.exp().detach()) == pytest.approx(2.5)
    assert float(decoder.log_temperature.exp().detach()) == pytest.approx(0.7)


def test_fitted_model_gives_the_logits_of_torch():
    torch.manual_seed(1)
    model = LinkModel(DirectCoordinates(np.arange(9.0), 3), FermiDirac(0.4, 3.0, 0.7))
    model.encoder.radii.data.normal_()
    pairs = np.array([[0, 1], [8, 2], [3, 3]])
    expected = model.logits(model.encoder(None), torch.tensor(pairs)).detach().numpy()
    fitted = FittedModel.of(model, model.encoder(None))
    assert np.allclose(fitted.logits(pairs), expected, atol=1e-4)
    assert np.allclose(fitted.points.mean(axis=0), 0)
    assert np.allclose(LinkScore.mean([fitted, fitted])(pairs), fitted.logits(pairs))
    there, back = fitted.both_logits(pairs)
    assert np.array_equal(there, fitted.logits(pairs))
    assert np.allclose(back, fitted.logits(pairs[:, ::-1]))
    step = fitted.points[pairs[:, 1]] - fitted.points[pairs[:, 0]]
    distance = np.linalg.norm(step, axis=1) + fitted.alpha * step[:, -1]
    reach = fitted.radius + fitted.radii[pairs[:, 0], 0] + fitted.radii[pairs[:, 1], 1]
    assert np.allclose(replace(fitted, power=1).logits(pairs), (reach - distance) / fitted.temperature)


def test_a_drift_that_was_learned_to_point_down_is_turned_up():
    model = LinkModel(DirectCoordinates(np.arange(9.0), 3), FermiDirac())
    model.decoder.raw_alpha.data.fill_(-0.5)
    pairs = np.array([[0, 1], [8, 2]])
    expected = model.logits(model.encoder(None), torch.tensor(pairs)).detach().numpy()
    fitted = FittedModel.of(model, model.encoder(None))
    assert fitted.alpha > 0
    assert np.allclose(fitted.logits(pairs), expected, atol=1e-4)
