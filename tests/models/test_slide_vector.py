"""The slide-vector model: against loops, exact data, finite differences and a figure that R published."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from finsler.data.matrix import as_dissimilarities
from finsler.data.tables import read_table
from finsler.models.common import Observations, Settings, differences
from finsler.models.scaling import symmetric_mds
from finsler.models.slide_vector import SlideVectorProblem, minimize_slide, slide_distances, slide_vector

from helpers import random_problem, real_file


def observe(D, W=None):
    return Observations.of(as_dissimilarities(D, W, missing="mask"))


def slow_stress(theta, D, W, m):
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
    assert value == pytest.approx(slow_stress(np.vstack([X, z]), D, W, 2), rel=1e-9)
    theta = np.vstack([X, z]).ravel()
    general = minimize(
        lambda t: slow_stress(t, D, W, 2) / value, theta, method="BFGS", options={"gtol": 1e-7}
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
def test_stress_and_step(kind):
    X, D, W = random_problem(3, n=7, m=2, kind=kind)
    observed = observe(D, W)
    theta = np.vstack([X, [[0.4, -0.2]]])
    problem = SlideVectorProblem(observed.D, observed.W)
    now = problem.evaluate(theta, np.zeros(0))
    assert now.stress == pytest.approx(slow_stress(theta, observed.D, observed.W, 2))
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
    gradient = approx_fprime(theta.ravel(), slow_stress, 1e-7, observed.D, observed.W, 2).reshape(-1, 2)
    np.testing.assert_allclose(V @ now.step, -gradient / 2, atol=1e-4)
    assert now.decrease == pytest.approx(-float(np.vdot(gradient, now.step)) / 2, rel=1e-4)


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing"])
@pytest.mark.parametrize("length", [1.0, 1.9])
def test_steps_never_go_uphill(kind, length):
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
def test_exact_data_are_recovered(m):
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
def test_the_fit_is_stationary(kind):
    _, D, W = random_problem(8, n=8, m=2, kind=kind)
    observed = observe(D, W)
    settings = Settings(n_init=2, tol=1e-14, max_iter=20000)
    fit = slide_vector(observed, settings, symmetric_mds(observed, settings))
    theta = np.vstack([fit.parameters["coordinates"], fit.parameters["slide"]])
    gradient = approx_fprime(theta.ravel(), slow_stress, 1e-7, observed.D, observed.W, 2)
    assert np.abs(gradient).max() < 1e-3 * slow_stress(theta.ravel(), observed.D, observed.W, 2)


def test_it_is_symmetric_where_the_data_are():
    _, D, _ = random_problem(1, n=9, m=2)
    observed = observe(D + D.T)
    base = symmetric_mds(observed, Settings())
    fit = slide_vector(observed, Settings(), base)
    assert np.linalg.norm(fit.parameters["slide"]) < 1e-6
    assert observed.stress(fit.distances) == pytest.approx(observed.stress(base.distances), rel=1e-6)
