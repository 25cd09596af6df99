import numpy as np
import pytest

from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import normalized_stress, point_stress, raw_stress

from helpers import random_problem, slow_distance, slow_gradient, slow_stress

KINDS = ["uniform", "symmetric", "asymmetric", "missing", "hinge"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 3, 5])
def test_stress_agrees_with_a_loop(kind, m):
    X, D, W = random_problem(m, m=m, kind=kind)
    omega = np.random.default_rng(m).normal(size=m) * 0.2
    expected = slow_stress(X, D, W, omega)
    assert raw_stress(X, D, W, drift=omega) == pytest.approx(expected, rel=1e-12)
    weight = np.ones_like(D) if W is None else W
    total = sum(
        weight[i, j] * D[i, j] ** 2 for i in range(12) for j in range(12) if weight[i, j] > 0 and D[i, j] > 0
    )
    assert normalized_stress(X, D, W, drift=omega) == pytest.approx(np.sqrt(expected / total), rel=1e-12)


def test_exact_data_have_no_stress_and_the_diagonal_does_not_count():
    X = np.random.default_rng(0).normal(size=(10, 2))
    D = randers_distances(X, drift=0.6)
    np.fill_diagonal(D, 5.0)
    assert raw_stress(X, D, drift=0.6) < 1e-25
    assert raw_stress(X, D, drift=0.5) > 0.1


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_change_the_numbers(n_jobs):
    X, D, W = random_problem(0, n=500, kind="asymmetric")
    assert raw_stress(X, D, W, drift=0.5, n_jobs=n_jobs) == raw_stress(X, D, W, drift=0.5, n_jobs=1)


@pytest.mark.parametrize("kind", KINDS)
def test_stress_of_points_shares_every_pair_between_its_ends(kind):
    X, D, W = random_problem(5, kind=kind)
    omega = np.array([0.0, 0.0, 0.5])
    weight = np.ones_like(D) if W is None else W
    shares = np.zeros(len(X))
    for i in range(len(X)):
        for j in range(len(X)):
            if i != j and weight[i, j] > 0:
                d = slow_distance(X[i], X[j], omega)
                misfit = d - D[i, j] if D[i, j] >= 0 else min(d + D[i, j], 0)
                term = weight[i, j] * misfit**2
                shares[i] += term / 2
                shares[j] += term / 2
    np.testing.assert_allclose(point_stress(X, D, W, drift=omega), shares, rtol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_the_gradient_of_other_tests_agrees_with_finite_differences(kind, m):
    X, D, W = random_problem(7, n=8, m=m, kind=kind)
    omega = np.zeros(m)
    omega[-1] = 0.6
    gradient = slow_gradient(X, D, W, omega)
    step = 1e-6
    for i in range(len(X)):
        for axis in range(m):
            moved = X.copy()
            moved[i, axis] += step
            up = slow_stress(moved, D, W, omega)
            moved[i, axis] -= 2 * step
            down = slow_stress(moved, D, W, omega)
            assert gradient[i, axis] == pytest.approx((up - down) / (2 * step), rel=1e-5, abs=1e-5)


def test_integer_data_are_accepted_and_wrong_shapes_are_not():
    assert raw_stress([[0.0], [1.0]], [[0, 2], [1, 0]], drift=0.5) == 0.5
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        raw_stress(np.zeros((2, 1)), np.zeros((3, 3)), drift=0.5)
    with pytest.raises(ValueError, match="weights must have the shape of D"):
        raw_stress(np.zeros((2, 1)), np.zeros((2, 2)), np.ones((3, 3)), drift=0.5)
