import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import finsler._memory
from finsler import FinslerMDS, embed_matrix, load_flight_hours
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import point_stress, raw_stress


@pytest.fixture
def exact():
    X = np.random.default_rng(0).normal(size=(30, 2))
    return X, randers_distances(X, drift=0.4)


def test_fit_sets_what_it_promises(exact):
    _, D = exact
    noisy = D * np.random.default_rng(1).uniform(0.9, 1.1, size=D.shape)
    mds = FinslerMDS(alpha=0.4).fit(noisy)
    assert mds.embedding_.shape == (30, 2)
    assert mds.stress_ == pytest.approx(raw_stress(mds.embedding_, noisy, drift=0.4))
    assert mds.normalized_stress_ == pytest.approx(np.sqrt(mds.stress_ / (noisy**2).sum()))
    shares = point_stress(mds.embedding_, noisy, drift=0.4) / mds.stress_
    np.testing.assert_allclose(mds.stress_per_point_, shares)
    assert mds.alpha_ == 0.4
    np.testing.assert_array_equal(mds.omega_, [0, 0.4])
    assert len(mds.history_) == mds.n_iter_ + 1
    assert mds.status_ == "converged"
    assert mds.n_features_in_ == 30
    assert mds.result_.coordinates is mds.embedding_


def test_transform_gives_fitted_points_back_and_places_new_ones(exact):
    _, D = exact
    mds = FinslerMDS(alpha=0.4).fit(D[:25, :25])
    np.testing.assert_allclose(
        mds.transform(D[:25, :25], from_fitted=D[:25, :25].T), mds.embedding_, atol=1e-6
    )
    new = mds.transform(D[25:, :25], from_fitted=D[:25, 25:].T)
    whole = np.vstack([mds.embedding_, new])
    np.testing.assert_allclose(randers_distances(whole, drift=0.4), D, atol=1e-6)
    one_way = mds.transform(D[25:, :25])
    np.testing.assert_allclose(one_way, new, atol=1e-5)


def test_a_callable_metric_is_called_both_ways():
    points = np.random.default_rng(0).normal(size=(15, 2))

    def wind(a, b, strength):
        return float(np.linalg.norm(b - a) + strength * (b - a)[0])

    mds = FinslerMDS(metric=wind, metric_params={"strength": 0.3}, alpha=0.3).fit(points)
    assert mds.stress_ < 1e-18
    assert mds.result_.distance(0, 1) == pytest.approx(wind(points[0], points[1], 0.3))
    new = mds.transform(points[:3] + 0.1)
    d = randers_distances(new, mds.embedding_, drift=0.3)
    expected = [[wind(a, b, 0.3) for b in points] for a in points[:3] + 0.1]
    np.testing.assert_allclose(d, expected, atol=1e-6)
    with pytest.raises(ValueError, match="from_fitted goes with"):
        mds.transform(points, from_fitted=np.ones((15, 15)))


def test_in_a_pipeline_with_clone_and_set_output():
    points = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 4)), index=[f"p{i}" for i in range(20)])
    points.columns = list("abcd")
    pipe = make_pipeline(StandardScaler(), FinslerMDS(metric="euclidean", alpha=0.0))
    pipe.set_output(transform="pandas")
    out = clone(pipe).fit_transform(points)
    assert list(out.index) == list(points.index)
    assert list(out.columns) == ["finslermds0", "finslermds1"]
    assert out.shape == (20, 2)


def test_labels_of_a_frame_reach_the_map(exact):
    _, D = exact
    labels = [f"town {i}" for i in range(30)]
    frame = pd.DataFrame(D, index=labels, columns=labels)
    mds = FinslerMDS(alpha=0.4).set_output(transform="pandas")
    out = mds.fit_transform(frame)
    assert list(out.index) == labels
    assert mds.result_.distance("town 3", "town 9") == pytest.approx(D[3, 9], abs=1e-6)
    assert list(mds.feature_names_in_) == labels


def test_weights_and_missing_pairs(exact):
    _, D = exact
    gaps = D.copy()
    gaps[3, 5] = np.nan
    gaps[9, 1] = np.inf
    with pytest.raises(ValueError, match="missing='mask'"):
        FinslerMDS().fit(gaps)
    mds = FinslerMDS(alpha=0.4, missing="mask").fit(gaps)
    assert mds.result_.distance(3, 5) == pytest.approx(D[3, 5], abs=1e-6)
    wrong = D.copy()
    wrong[3, 5] = 100
    weights = np.ones_like(D)
    weights[3, 5] = 0
    assert FinslerMDS(alpha=0.4).fit(wrong, weights=weights).stress_ < 1e-15
    with pytest.raises(ValueError, match="NaN or infinity at"):
        FinslerMDS(alpha=0.4).fit(D).transform(gaps[:10])
    row = FinslerMDS(alpha=0.4, missing="mask").fit(D).transform(gaps[3:4])
    assert np.isfinite(row).all()


def test_warnings_are_given_when_due(exact):
    _, D = exact
    noisy = D * np.random.default_rng(1).uniform(0.5, 1.5, size=D.shape)
    with pytest.warns(ConvergenceWarning, match="max_iter = 2"):
        FinslerMDS(alpha=0.4, max_iter=2).fit(noisy)
    with pytest.warns(UserWarning, match="hardly determine alpha"):
        FinslerMDS(3).fit(D)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alpha": 1.0}, "alpha must"),
        ({"n_components": 31}, "n_components = 31 needs at least as many points; X has n_samples = 30"),
        ({"init": "best"}, "init must"),
        ({"missing": "ignore"}, "missing must"),
        ({"n_jobs": 0}, "n_jobs=0"),
    ],
)
def test_bad_parameters(exact, options, match):
    D = np.tile(exact[1], (20, 20)) + 1 - np.eye(600) if "n_jobs" in options else exact[1]
    before = D.copy()
    with pytest.raises(ValueError, match=match):
        FinslerMDS(**options).fit(D)
    np.testing.assert_array_equal(D, before)


def test_wrong_shapes_in_transform(exact):
    _, D = exact
    mds = FinslerMDS(alpha=0.4).fit(D)
    with pytest.raises(ValueError, match="29 features"):
        mds.transform(D[:5, :29])
    with pytest.raises(ValueError, match="same shape"):
        mds.transform(D[:5], from_fitted=D[:4])
    with pytest.raises(ValueError, match="Reshape"):
        mds.transform(D[0])
    with pytest.raises(NotFittedError):
        FinslerMDS().transform(D)


def test_what_does_not_fit_in_memory_is_refused_before_it_is_allocated(exact, monkeypatch):
    monkeypatch.setattr(finsler._memory, "NEGLIGIBLE", 0)
    monkeypatch.setattr(finsler._memory, "available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match=r"30 points needs about 7.2 kB and 1e\+03 B is|1 kB is"):
        FinslerMDS(alpha=0.4).fit(exact[1])


def test_the_flight_example_beats_every_fixed_alpha():
    hours = load_flight_hours().hours
    auto = FinslerMDS().fit(hours)
    fixed = [FinslerMDS(alpha=a).fit(hours).stress_ for a in np.arange(0.1, 1.0, 0.1)]
    assert auto.stress_ < min(fixed)
    assert auto.normalized_stress_ < 0.02


def test_embed_matrix_is_the_same_in_one_line(exact):
    _, D = exact
    embedding = embed_matrix(D, alpha=0.4, labels=range(100, 130))
    np.testing.assert_array_equal(embedding.coordinates, FinslerMDS(alpha=0.4).fit(D).embedding_)
    assert embedding.distance(100, 105) == pytest.approx(D[0, 5], abs=1e-6)


@pytest.mark.parametrize(
    "X", [np.full((4, 2), np.nan), np.zeros((0, 2)), [["a", "b"], ["c", "d"]], np.ones(3)]
)
def test_what_scikit_learn_refuses_is_an_error_of_the_input(X):
    with pytest.raises(InputError):
        FinslerMDS(metric="cityblock").fit(X)
    with pytest.raises(InputError, match="metric"):
        FinslerMDS(metric="taxi").fit(np.eye(3))
