"""Slide vector, radius-distance and hill-climbing: against loops, finite differences, exact data, and what R published."""

import threading
import time
from functools import partial

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from finsler.data.matrix import as_dissimilarities
from finsler.data.tables import read_table
from finsler.geometry.heights import gradient_heights
from finsler.geometry.randers import randers_distances
from finsler.models import joint
from finsler.models.joint import (
    HillClimbing,
    RadiusDistance,
    SlideVectorProblem,
    fit_jointly,
    minimize_slide,
    radius_distance,
    slide_distances,
    slide_vector,
    stress_and_gradient,
)
from finsler.models.symmetric import Observations, Settings, differences, symmetric_mds

from helpers import random_problem, real_file

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


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.extra)
@pytest.mark.parametrize("kind", KINDS)
def test_stress_and_gradient(model, kind):
    X, D, W = random_problem(4, n=6, m=2, kind=kind)
    observed = observe(D, W)
    extra = np.random.default_rng(0).normal(size=6 if model.extra == "radii" else 2)
    theta = np.concatenate([X.ravel(), extra])
    value, by_points, by_extra = stress_and_gradient(model, observed, X, extra)
    assert value == pytest.approx(slow_stress(theta, model, observed, 6, 2))
    numerical = approx_fprime(theta, slow_stress, 1e-7, model, observed, 6, 2)
    np.testing.assert_allclose(np.concatenate([by_points.ravel(), by_extra]), numerical, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.extra)
@pytest.mark.parametrize("kind", KINDS)
def test_the_start_is_the_best_for_its_map(model, kind):
    X, D, W = random_problem(6, n=8, m=2, kind=kind)
    observed = observe(D, W)
    by_extra = stress_and_gradient(model, observed, X, model.start(X, observed))[2]
    assert np.abs(by_extra).max() < 1e-9


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.extra)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_exact_data_are_recovered(model, m):
    rng = np.random.default_rng(10 + m)
    X = rng.normal(size=(10, m)) * 3 if m > 1 else 2 * np.arange(10.0)[:, None]  # far enough apart
    extra = 0.1 * rng.normal(size=10 if model.extra == "radii" else m)
    D = model.distances(*differences(X), extra)
    assert (D[~np.eye(10, dtype=bool)] > 0).all()
    observed = observe(D)
    settings = Settings(n_components=m, n_init=8)
    fit = fit_jointly(model, observed, settings, symmetric_mds(observed, settings))
    assert observed.normalized_stress(fit.distances) < 1e-5
    assert fit.status == "converged"


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.extra)
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


def slow_slide_stress(theta, D, W, m):
    theta = np.reshape(theta, (-1, m))
    X, z = theta[:-1], theta[-1]
    total = 0.0
    for i in range(len(X)):
        for j in range(len(X)):
            if W[i, j] > 0:
                total += W[i, j] * (np.sqrt(sum((X[i] - X[j] + z) ** 2)) - D[i, j]) ** 2
    return total


@pytest.mark.parametrize("seed", range(2))
def test_towns_made_asymmetric_as_a_general_minimizer_has_them(seed):
    # As the English towns were made: distances and a linear skew part; the diagonal weighs, too.
    rng = np.random.default_rng(seed)
    D = differences(150 * rng.normal(size=(8, 2)))[1] + 5 * np.subtract.outer(np.arange(8.0), np.arange(8.0))
    D, W = np.abs(D) * (1 - np.eye(8)), np.ones((8, 8))
    start = 150 * rng.normal(size=(8, 2))
    X, z, value, status = minimize_slide(SlideVectorProblem(D, W), start, Settings(tol=1e-13, max_iter=5000))
    assert status == "converged"
    assert value == pytest.approx(slow_slide_stress(np.vstack([X, z]), D, W, 2), rel=1e-9)
    theta = np.vstack([X, z]).ravel()
    general = minimize(
        lambda t: slow_slide_stress(t, D, W, 2) / value, theta, method="BFGS", options={"gtol": 1e-7}
    )
    assert general.fun == pytest.approx(1.0, abs=1e-6), "there is no way down from it"


def test_english_towns_as_in_the_vignette_of_the_r_package_asymmetry():
    # "Visualizing Asymmetry", vignette of the R package asymmetry, chunk englishtownsdecomp: the squares of the residuals
    # of slidevector(Englishtowns, ndim = 2) are 1643.222 + 1292.155 = 2935.377. R weighs the diagonal, too.
    D = read_table(real_file("proximities/english_towns.csv"), "matrix").values.astype(float)
    problem = SlideVectorProblem(D, np.ones((8, 8)))
    start = np.random.default_rng(0).normal(size=(8, 2)) * 150
    X, z, stress, status = minimize_slide(problem, start, Settings(tol=1e-13, max_iter=5000))
    assert status == "converged"
    residual = D - slide_distances(X, z)
    assert stress == pytest.approx(2935.377, abs=5e-4)
    assert np.sum((residual + residual.T) ** 2) / 4 == pytest.approx(1643.222, rel=1e-5)
    assert np.sum((residual - residual.T) ** 2) / 4 == pytest.approx(1292.155, rel=1e-5)


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "asymmetric", "missing"])
def test_slide_stress_and_step(kind):
    X, D, W = random_problem(3, n=7, m=2, kind=kind)
    observed = observe(D, W)
    theta = np.vstack([X, [[0.4, -0.2]]])
    problem = SlideVectorProblem(observed.D, observed.W)
    now = problem.evaluate(theta, np.zeros(0))
    assert now.stress == pytest.approx(slow_slide_stress(theta, observed.D, observed.W, 2))
    # The step is V^-1 times minus half the gradient, with V from its definition.
    n = len(X)
    V = np.zeros((n + 1, n + 1))
    for i in range(n):
        for j in range(n):
            a = np.zeros(n + 1)
            a[i] += 1
            a[j] -= 1
            a[n] = 1
            V += observed.W[i, j] * np.outer(a, a)
    gradient = approx_fprime(theta.ravel(), slow_slide_stress, 1e-7, observed.D, observed.W, 2).reshape(-1, 2)
    np.testing.assert_allclose(V @ now.step, -gradient / 2, atol=1e-4)
    assert now.decrease == pytest.approx(-float(np.vdot(gradient, now.step)) / 2, rel=1e-4)


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing"])
@pytest.mark.parametrize("length", [1.0, 1.9])
def test_slide_steps_never_go_uphill(kind, length):
    X, D, W = random_problem(5, n=10, m=2, kind=kind)
    observed = observe(D, W)
    problem = SlideVectorProblem(observed.D, observed.W)
    theta = np.vstack([X, [[0.0, 0.0]]])
    now = problem.evaluate(theta, np.zeros(0))
    for _ in range(60):
        theta = theta + length * now.step
        after = problem.evaluate(theta, np.zeros(0))
        assert after.stress <= now.stress * (1 + 1e-12)
        if length == 1:
            assert after.stress <= now.stress - now.decrease + 1e-9
        now = after


@pytest.mark.parametrize("m", [1, 2, 3])
def test_slide_exact_data_are_recovered(m):
    rng = np.random.default_rng(m)
    X, z = rng.normal(size=(12, m)), np.full(m, 0.2)
    D = slide_distances(X, z)
    np.fill_diagonal(D, 0)
    observed = observe(D)
    settings = Settings(n_components=m, n_init=6, tol=1e-14, max_iter=5000)
    fit = slide_vector(observed, settings, symmetric_mds(observed, settings))
    assert observed.normalized_stress(fit.distances) < 1e-5
    assert np.linalg.norm(fit.parameters["slide"]) == pytest.approx(np.linalg.norm(z), rel=1e-3)
    np.testing.assert_allclose(fit.distances, D, atol=1e-4)


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing"])
def test_slide_the_fit_is_stationary(kind):
    _, D, W = random_problem(8, n=8, m=2, kind=kind)
    observed = observe(D, W)
    settings = Settings(n_init=2, tol=1e-14, max_iter=20000)
    fit = slide_vector(observed, settings, symmetric_mds(observed, settings))
    theta = np.vstack([fit.parameters["coordinates"], fit.parameters["slide"]])
    gradient = approx_fprime(theta.ravel(), slow_slide_stress, 1e-7, observed.D, observed.W, 2)
    assert np.abs(gradient).max() < 1e-3 * slow_slide_stress(theta.ravel(), observed.D, observed.W, 2)


def test_slide_it_is_symmetric_where_the_data_are():
    _, D, _ = random_problem(1, n=9, m=2)
    observed = observe(D + D.T)
    base = symmetric_mds(observed, Settings())
    fit = slide_vector(observed, Settings(), base)
    assert np.linalg.norm(fit.parameters["slide"]) < 1e-6
    assert observed.stress(fit.distances) == pytest.approx(observed.stress(base.distances), rel=1e-6)


@pytest.mark.parametrize("kind", ["uniform", "symmetric"])
def test_radii_in_closed_form_are_those_of_quasi_newton_steps(kind):
    _, D, W = random_problem(3, n=9, m=2, kind=kind)
    observed, settings = observe(D, W), Settings(2, 1, 5000, 1e-12)
    base = symmetric_mds(observed, settings)
    closed = radius_distance(observed, settings, base)
    steps = fit_jointly(RadiusDistance(), observed, settings, base)
    assert observed.stress(closed.distances) <= observed.stress(steps.distances) * (1 + 1e-6)
    np.testing.assert_allclose(closed.distances, steps.distances, atol=1e-3)


def test_ctrl_c_ends_the_starts_of_other_threads():
    _, D, _ = random_problem(1, n=6, m=2)
    began, heard = threading.Event(), []

    def run(start, ended):
        if threading.current_thread() is threading.main_thread():
            assert began.wait(300)
            raise KeyboardInterrupt
        began.set()
        until = time.monotonic() + 300
        while not ended() and time.monotonic() < until:
            time.sleep(0.001)
        heard.append(ended())

    with pytest.raises(KeyboardInterrupt):
        joint.from_all_starts(
            run, observe(D), Settings(2, 2, n_jobs=2), symmetric_mds(observe(D), Settings(2))
        )
    assert heard == [True]


@pytest.mark.parametrize("fit", [slide_vector, partial(fit_jointly, HillClimbing())])
def test_a_start_that_is_ended_takes_no_further_step(monkeypatch, fit):
    _, D, _ = random_problem(1, n=12, m=2)
    observed = observe(D)
    base = symmetric_mds(observed, Settings(2))
    one = fit(observed, Settings(2, max_iter=1), base)
    start = base.parameters["coordinates"]
    monkeypatch.setattr(joint, "from_all_starts", lambda run, *_: [run(start, lambda: True)])
    ended = fit(observed, Settings(2, max_iter=1000), base)
    np.testing.assert_array_equal(ended.distances, one.distances)
