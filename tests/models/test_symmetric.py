"""Drift vectors and Gower's bimensions: against loops, least squares spelled out, and numpy's decompositions."""

import numpy as np
import pytest
from scipy.optimize import minimize

from finsler.data.matrix import as_dissimilarities
from finsler.models import symmetric
from finsler.models.symmetric import (
    Fit,
    Observations,
    Settings,
    bimensions,
    differences,
    drift_vectors,
    gower,
    symmetric_mds,
)

from helpers import random_problem

KINDS = ["uniform", "symmetric", "asymmetric", "missing"]


def observe(D, W=None):
    return Observations.of(as_dissimilarities(D, W, missing="mask"))


def a_map(X):
    return Fit(differences(X)[1], {"coordinates": X}, 0, "converged", symmetric=True)


def unit(x, y):
    return (y - x) / np.linalg.norm(y - x)


@pytest.mark.parametrize("kind", KINDS)
def test_skew_targets_are_what_the_map_leaves_over(kind):
    X, D, W = random_problem(1, n=6, m=2, kind=kind)
    observed = observe(D, W)
    E = differences(X)[1]
    t, k = observed.skew_targets(E)
    np.testing.assert_allclose(t, -t.T)
    a = np.random.default_rng(0).normal(size=(6, 6))
    a, b = a - a.T, np.zeros((6, 6))
    change = observed.stress(E + a) - observed.stress(E + b)
    assert change == pytest.approx(np.sum(k * ((a - t) ** 2 - (b - t) ** 2)) / 2)
    if kind in ("uniform", "symmetric"):
        off = k > 0
        np.testing.assert_allclose(t[off], ((D - D.T) / 2)[off])


def test_arrows_are_the_means_of_their_pulls():
    X, D, _ = random_problem(2, n=7, m=2)
    observed = observe(D)
    fit = drift_vectors(observed, Settings(), a_map(X))
    n, A = len(X), (D - D.T) / 2
    means = np.array(
        [np.mean([A[i, j] * unit(X[i], X[j]) for j in range(n) if j != i], axis=0) for i in range(n)]
    )
    arrows = fit.parameters["arrows"]
    s = np.vdot(arrows, means) / np.vdot(means, means)
    np.testing.assert_allclose(arrows, s * means, atol=1e-12)
    for i, j in [(0, 1), (1, 0), (4, 2)]:
        expected = np.linalg.norm(X[j] - X[i]) + (arrows[i] + arrows[j]) @ unit(X[i], X[j]) / 2
        assert fit.distances[i, j] == pytest.approx(expected)
    # The one number is that of least squares.
    skew = fit.distances - differences(X)[1]
    for other in (0.99, 1.01):
        assert observed.stress(differences(X)[1] + other * skew) > observed.stress(fit.distances)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_fitted_arrows_solve_the_least_squares_spelled_out(kind, m):
    X, D, W = random_problem(3, n=7, m=m, kind=kind)
    observed = observe(D, W)
    fit = drift_vectors(observed, Settings(n_components=m), a_map(X), fitted=True)
    rows, goals = [], []
    for i in range(7):
        for j in range(7):
            w = np.sqrt(observed.W[i, j])
            if w > 0:
                row = np.zeros((7, m))
                row[i] = row[j] = unit(X[i], X[j]) / 2
                rows.append(w * row.ravel())
                goals.append(w * (observed.D[i, j] - np.linalg.norm(X[j] - X[i])))
    arrows, *_ = np.linalg.lstsq(np.array(rows), np.array(goals), rcond=1e-10)
    rest = np.sum((np.array(rows) @ arrows - np.array(goals)) ** 2)
    assert observed.stress(fit.distances) == pytest.approx(rest)
    np.testing.assert_allclose(fit.parameters["arrows"].ravel(), arrows, atol=1e-7)


@pytest.mark.parametrize("kind", KINDS)
def test_fitted_arrows_are_never_worse_than_the_means_and_these_than_nothing(kind):
    X, D, W = random_problem(9, n=10, m=2, kind=kind)
    observed = observe(D, W)
    fits = [drift_vectors(observed, Settings(), a_map(X), fitted=fitted) for fitted in (True, False)]
    stresses = [observed.stress(fit.distances) for fit in fits]
    assert stresses[0] < stresses[1] < observed.stress(differences(X)[1])


def test_arrows_show_what_runs_in_circles():
    angle = np.linspace(0, 2 * np.pi, 12, endpoint=False)
    X = 3 * np.column_stack([np.cos(angle), np.sin(angle)])
    swirl = 0.2 * np.column_stack([-np.sin(angle), np.cos(angle)])
    D = np.array(
        [[0 if i == j else np.linalg.norm(X[j] - X[i]) + (swirl[i] + swirl[j]) @ unit(X[i], X[j]) / 2
          for j in range(12)] for i in range(12)]
    )  # fmt: skip
    observed, settings = observe(D), Settings(tol=1e-13)
    base = symmetric_mds(observed, settings)
    assert observed.normalized_stress(base.distances) > 0.02
    assert observed.normalized_stress(drift_vectors(observed, settings, base, fitted=True).distances) < 1e-5
    assert observed.normalized_stress(drift_vectors(observed, settings, base).distances) < 1e-5


def test_bimensions_are_the_largest_singular_planes():
    rng = np.random.default_rng(0)
    T = rng.normal(size=(9, 9))
    T = T - T.T
    u, s, vt = np.linalg.svd(T)
    for r in (1, 2, 3, 4):
        P, Q, status = bimensions(T, np.ones((9, 9)), r)
        assert status == "converged"
        np.testing.assert_allclose(P @ Q.T - Q @ P.T, (u[:, : 2 * r] * s[: 2 * r]) @ vt[: 2 * r], atol=1e-10)
    # Columns of a plane are orthogonal, and their squares are its singular value.
    P, Q, _ = bimensions(T, np.ones((9, 9)), 2)
    np.testing.assert_allclose(np.hstack([P, Q]).T @ np.hstack([P, Q]), np.diag(s[[0, 2, 0, 2]]), atol=1e-10)


@pytest.mark.parametrize("kind", ["symmetric", "missing"])
def test_bimensions_with_weights_reach_what_a_general_minimizer_reaches(kind):
    _, D, W = random_problem(5, n=8, kind=kind)
    k = (W + W.T) * ((W > 0) & (W.T > 0))
    T = np.where(k > 0, np.nan_to_num(D) - np.nan_to_num(D).T, 0.0)

    def loss(theta):
        P, Q = theta.reshape(2, 8, 1)
        return np.sum(k * (P @ Q.T - Q @ P.T - T) ** 2)

    P, Q, status = bimensions(T, k)
    assert status == "converged"
    found = loss(np.concatenate([P.ravel(), Q.ravel()]))
    rng = np.random.default_rng(1)
    best = min(minimize(loss, rng.normal(size=16)).fun for _ in range(6))
    assert found <= best * 1.001


def test_planted_bimension_is_found_through_gaps():
    rng = np.random.default_rng(2)
    p, q = rng.normal(size=(2, 15, 1))
    T = p @ q.T - q @ p.T
    k = (rng.random((15, 15)) < 0.8).astype(float)
    k = np.minimum(k, k.T)
    P, Q, _ = bimensions(np.where(k > 0, T, 0.0), k)
    np.testing.assert_allclose(P @ Q.T - Q @ P.T, T, atol=0.01 * np.abs(T).max())


def test_gower_adds_to_the_map_what_the_singular_values_say():
    _, D, _ = random_problem(6, n=9)
    observed = observe(D)
    for m, planes in ((1, 1), (2, 1), (3, 1), (4, 2)):
        settings = Settings(n_components=m)
        base = symmetric_mds(observed, settings)
        fit = gower(observed, settings, base)
        s = np.linalg.svd((D - D.T) / 2, compute_uv=False)
        taken = np.sum(s[: 2 * planes] ** 2)
        assert observed.stress(fit.distances) == pytest.approx(observed.stress(base.distances) - taken)
        rank = 2 * planes
        assert fit.n_parameters - base.n_parameters == rank * (9 - rank) + rank * (rank - 1) // 2


def test_all_of_a_small_skew_part_counts_as_many_numbers_as_it_has():
    # Four points have 6 skew numbers; two planes are all of them.
    _, D, _ = random_problem(6, n=4)
    observed, settings = observe(D), Settings(n_components=4)
    base = symmetric_mds(observed, settings)
    fit = gower(observed, settings, base)
    np.testing.assert_allclose(fit.distances - fit.distances.T, D - D.T, atol=1e-10)
    assert fit.n_parameters - base.n_parameters == 6


def test_planes_of_many_points_are_those_of_all_singular_values(monkeypatch):
    T = np.random.default_rng(0).normal(size=(40, 40))
    T = T - T.T
    P, Q = symmetric._planes(T, 2)
    monkeypatch.setattr(symmetric, "ITERATED_FROM", 10)
    p, q = symmetric._planes(T, 2)
    np.testing.assert_allclose(p @ q.T - q @ p.T, P @ Q.T - Q @ P.T, atol=1e-9)
