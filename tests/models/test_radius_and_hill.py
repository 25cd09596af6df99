"""Radius-distance and hill-climbing: against loops, finite differences, exact data, and each other."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime

from finsler.data.matrix import as_dissimilarities
from finsler.geometry.heights import gradient_heights
from finsler.geometry.randers import randers_distances
from finsler.models.common import Observations, Settings, differences
from finsler.models.radius_and_hill import HillClimbing, RadiusDistance, fit_jointly, stress_and_gradient
from finsler.models.scaling import symmetric_mds

from helpers import random_problem

KINDS = ["uniform", "symmetric", "asymmetric", "missing"]
MODELS = [RadiusDistance(), HillClimbing()]


def observe(D, W=None):
    return Observations.of(as_dissimilarities(D, W, missing="mask"))


def slow_distance(model, x, y, extra, i, j):
    length = np.sqrt(sum((b - a) ** 2 for a, b in zip(x, y, strict=True)))
    if isinstance(model, RadiusDistance):
        return length - extra[i] + extra[j]
    return length + sum(s * (b - a) for s, a, b in zip(extra, x, y, strict=True)) / length


def slow_stress(theta, model, observed, n, m):
    X, extra = theta[: n * m].reshape(n, m), theta[n * m :]
    return sum(
        observed.W[i, j] * (slow_distance(model, X[i], X[j], extra, i, j) - observed.D[i, j]) ** 2
        for i in range(n)
        for j in range(n)
        if observed.W[i, j] > 0
    )


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("kind", KINDS)
def test_stress_and_gradient(model, kind):
    X, D, W = random_problem(4, n=6, m=2, kind=kind)
    observed = observe(D, W)
    extra = np.random.default_rng(0).normal(size=6 if model.name == "radius-distance" else 2)
    theta = np.concatenate([X.ravel(), extra])
    value, by_points, by_extra = stress_and_gradient(model, observed, X, extra)
    assert value == pytest.approx(slow_stress(theta, model, observed, 6, 2))
    numerical = approx_fprime(theta, slow_stress, 1e-7, model, observed, 6, 2)
    np.testing.assert_allclose(np.concatenate([by_points.ravel(), by_extra]), numerical, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("kind", KINDS)
def test_the_start_is_the_best_for_its_map(model, kind):
    X, D, W = random_problem(6, n=8, m=2, kind=kind)
    observed = observe(D, W)
    by_extra = stress_and_gradient(model, observed, X, model.start(X, observed))[2]
    assert np.abs(by_extra).max() < 1e-9


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_exact_data_are_recovered(model, m):
    rng = np.random.default_rng(10 + m)
    X = rng.normal(size=(10, m)) * 3 if m > 1 else 2 * np.arange(10.0)[:, None]  # far enough apart
    extra = 0.1 * rng.normal(size=10 if model.name == "radius-distance" else m)
    D = model.distances(*differences(X), extra)
    assert (D[~np.eye(10, dtype=bool)] > 0).all()
    observed = observe(D)
    settings = Settings(n_components=m, n_init=8)
    fit = fit_jointly(model, observed, settings, symmetric_mds(observed, settings))
    assert observed.normalized_stress(fit.distances) < 1e-5
    assert fit.status == "converged"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
@pytest.mark.parametrize("kind", KINDS)
def test_the_fit_is_stationary_and_below_its_start(model, kind):
    _, D, W = random_problem(7, n=9, m=2, kind=kind)
    observed = observe(D, W)
    settings = Settings(max_iter=5000)
    base = symmetric_mds(observed, settings)
    fit = fit_jointly(model, observed, settings, base)
    X = fit.parameters["coordinates"]
    extra = fit.parameters["radii" if isinstance(model, RadiusDistance) else "slope"]
    value, by_points, by_extra = stress_and_gradient(model, observed, X, extra)
    assert value == pytest.approx(observed.stress(fit.distances))
    assert max(np.abs(by_points).max(), np.abs(by_extra).max()) < 1e-3 * value
    start = base.parameters["coordinates"]
    assert value <= stress_and_gradient(model, observed, start, model.start(start, observed))[0]
    assert value < observed.stress(base.distances)


def test_radii_are_heights_beside_the_symmetric_map_if_weights_are_equal():
    _, D, _ = random_problem(2, n=10)
    observed, settings = observe(D), Settings(tol=1e-13)
    base = symmetric_mds(observed, settings)
    fit = fit_jointly(RadiusDistance(), observed, settings, base)
    h = gradient_heights(D)
    np.testing.assert_allclose(fit.parameters["radii"], h - h.min(), atol=1e-5)
    A = (D - D.T) / 2
    expected = observed.stress(base.distances) - np.sum(A**2) + np.sum((A - (h[None, :] - h[:, None])) ** 2)
    assert observed.stress(fit.distances) == pytest.approx(expected, rel=1e-6)


def test_a_randers_map_is_a_radius_distance_model():
    X = np.random.default_rng(3).normal(size=(9, 3))
    np.testing.assert_allclose(
        RadiusDistance().distances(*differences(X), 0.3 * X[:, -1]),
        randers_distances(X, drift=0.3),
        atol=1e-12,
    )


def test_the_climb_does_not_grow_with_the_way():
    X = np.array([[0.0, 0.0], [0.0, 1.0], [0.0, 10.0], [5.0, 0.0]])
    d = HillClimbing().distances(*differences(X), np.array([0.0, 0.4]))
    np.testing.assert_allclose(d[0], [0.0, 1.4, 10.4, 5.0])
    np.testing.assert_allclose(d[:, 0], [0.0, 0.6, 9.6, 5.0])


def test_points_that_coincide_do_no_harm():
    D = np.array([[0, 0.0, 2, 1], [0, 0, 2, 1], [1, 1, 0, 1], [3, 3, 1, 0]])
    observed, settings = observe(D), Settings()
    for model in MODELS:
        fit = fit_jointly(model, observed, settings, symmetric_mds(observed, settings))
        assert np.isfinite(fit.distances).all()
