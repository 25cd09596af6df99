"""Places of nodes: free, linear, multi-layer; inputs and folds of the cross-fitting."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from finsler.learn.crossfit import align, cross_fit, deal_folds, node_inputs  # noqa: E402
from finsler.learn.decoder import FermiDirac  # noqa: E402
from finsler.learn.encoders import DirectCoordinates, FeatureEncoder, LinkModel  # noqa: E402
from finsler.learn.fitted import FittedModel, mean_logits  # noqa: E402
from finsler.learn.selection import candidates  # noqa: E402


def random_arcs(seed=0, n=40, degree=4):
    rng = np.random.default_rng(seed)
    arcs = {(i, int(j)) for i in range(1, n) for j in rng.choice(i, min(i, degree), replace=False)}
    return np.array(sorted(arcs)), n


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
    with pytest.raises(ValueError, match="needs inputs"):
        encoder(None)


def test_dropout_is_on_only_in_training():
    encoder = FeatureEncoder(6, 3, layers=1, width=64, dropout=0.5, input_dropout=0.5)
    inputs = torch.ones(4, 6)
    assert not torch.equal(encoder(inputs).points, encoder(inputs).points)
    encoder.eval()
    assert torch.equal(encoder(inputs).points, encoder(inputs).points)


def test_fitted_model_gives_the_logits_of_torch():
    torch.manual_seed(1)
    model = LinkModel(DirectCoordinates(np.arange(9.0), 3), FermiDirac(0.4, 3.0, 0.7))
    model.encoder.radii.data.normal_()
    pairs = np.array([[0, 1], [8, 2], [3, 3]])
    expected = model.logits(model.encoder(None), torch.tensor(pairs)).detach().numpy()
    fitted = FittedModel.of(model, model.encoder(None))
    assert np.allclose(fitted.logits(pairs), expected, atol=1e-4)
    assert np.allclose(fitted.points.mean(axis=0), 0)
    assert np.allclose(mean_logits([fitted, fitted], pairs), fitted.logits(pairs))


def test_folds_keep_reciprocal_arcs_together_and_are_even():
    arcs, n = random_arcs()
    both = np.concatenate([arcs, arcs[::3, ::-1]])
    fold = deal_folds(both, n, 5, np.random.default_rng(0))
    assert np.ptp(np.bincount(fold[: len(arcs)])) <= 1
    assert np.array_equal(fold[: len(arcs) : 3], fold[len(arcs) :])


def test_align_undoes_a_rotation_and_is_one():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4))
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert np.allclose(align(X @ turn, X), X)
    other = rng.normal(size=(20, 4))
    assert np.allclose(align(other, X) @ align(other, X).T, other @ other.T)  # lengths and angles stay


def test_cross_fitting_computes_inputs_without_the_fold():
    arcs, n = random_arcs()
    features = np.random.default_rng(0).normal(size=(n, 5))
    options = {"n_folds": 3, "rank": 4, "hops": 1}
    found = cross_fit(arcs, n, features, **options, rng=np.random.default_rng(0))
    assert sorted(p for lesson in found.lessons for p in lesson.arcs.tolist()) == arcs.tolist()
    assert found.inputs.shape == (n, 3 + 4 + 2 * 5)
    whole = node_inputs(arcs, n, features, rank=4, hops=1, ridge=1.0)
    for lesson in found.lessons:
        rest = np.array([p for p in arcs.tolist() if p not in lesson.arcs.tolist()])
        degrees = np.log1p(np.bincount(rest[:, 0], minlength=n))  # column 1 counts the other arcs only
        column = whole.columns[:, 1]
        assert np.allclose(lesson.inputs[:, 1], (degrees - column.mean()) / column.std(), atol=1e-5)
    assert found.without_features(7).inputs.shape == (n, 7)


def test_inputs_of_a_fold_do_not_depend_on_its_arcs():
    """Leak proof: change the arcs of one fold, keep the rest, and the inputs from which they are learned stay."""
    arcs, n = random_arcs()
    hidden, rest = arcs[:10], arcs[10:]
    options = {"rank": 4, "hops": 1, "ridge": 1.0}
    features = np.random.default_rng(0).normal(size=(n, 5))
    once = node_inputs(rest, n, features, **options)
    fold = np.where(np.arange(len(arcs)) < 10, 0, 1)
    again = node_inputs(np.concatenate([hidden[:, ::-1], rest])[fold == 1], n, features, **options)
    assert np.array_equal(once.columns, again.columns)
    assert np.array_equal(once.factors, again.factors)
    leaked = node_inputs(arcs, n, features, **options)
    assert not np.allclose(once.columns, leaked.columns)  # the test can fail


def test_tiny_graphs_get_fewer_folds():
    arcs = np.array([[0, 1], [1, 2]])
    found = cross_fit(arcs, 3, n_folds=6, rank=8, rng=np.random.default_rng(0))
    assert len(found.lessons) == 1
    assert found.inputs.shape == (3, 11)


def test_candidates_follow_the_stated_rules():
    assert candidates("auto", 5_242, 11_000, False) == ["structure", "direct"]
    assert candidates("auto", 5_201, 160_000, False) == ["direct"]  # dense
    assert candidates("auto", 169_343, 930_000, False) == ["direct"]  # large
    assert candidates("auto", 169_343, 930_000, True)[0] == "features"
    with pytest.raises(ValueError, match="fit got no features"):
        candidates("features", 10, 10, False)
    with pytest.raises(ValueError, match="encoder must be 'auto' or one of"):
        candidates("gnn", 10, 10, False)


def test_inputs_for_validation_do_not_know_its_pairs():
    """With arcs held out by `fit` itself, the validation scores must be those of inputs without them."""
    arcs, n = random_arcs()
    hidden, rest = arcs[:12], arcs[12:]
    options = {"n_folds": 2, "rank": 4}
    alone = cross_fit(rest, n, **options, rng=np.random.default_rng(0))
    found = cross_fit(rest, n, known=arcs, **options, rng=np.random.default_rng(0))
    assert torch.equal(alone.inputs, found.inputs)
    assert not torch.allclose(found.final, found.inputs)
    degrees = np.log1p(np.bincount(arcs[:, 0], minlength=n)) - np.log1p(np.bincount(rest[:, 0], minlength=n))
    assert set(hidden[:, 0]) == set(np.flatnonzero((found.final - found.inputs)[:, 1].abs() > 1e-6).tolist())
    assert np.flatnonzero(degrees).size == len(set(hidden[:, 0]))
