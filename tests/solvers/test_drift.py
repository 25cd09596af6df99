import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from finsler.geometry.randers import randers_distances
from finsler.solvers.drift import ALPHA_MAX, axis_signs, best_drift, flatness, frame_of, upright


@pytest.mark.parametrize("seed", range(10))
def test_best_drift_agrees_with_a_general_optimizer(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    M = root @ root.T + 0.5 * np.eye(3)
    moment = rng.normal(size=3) * (4.0 if seed % 2 else 0.1)
    found = best_drift(M, moment)

    def cost(w):
        return w @ M @ w - 2 * moment @ w

    inside = {"type": "ineq", "fun": lambda w: ALPHA_MAX**2 - w @ w}
    oracle = minimize(cost, np.zeros(3), constraints=[inside], method="SLSQP", options={"ftol": 1e-14})
    assert np.linalg.norm(found) <= ALPHA_MAX + 1e-12
    assert cost(found) <= cost(oracle.x) + 1e-7
    assert (np.linalg.norm(found) > ALPHA_MAX - 1e-9) == (seed % 2 == 1)


def test_a_direction_that_the_points_do_not_use_gets_no_drift():
    omega = best_drift(np.diag([1.0, 1e-9]), np.array([0.2, 1e-9]))
    np.testing.assert_allclose(omega, [0.2, 0.0], atol=1e-12)


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=6))
def test_the_frame_is_orthogonal_and_stands_upright(values):
    omega = np.array(values)
    Q = frame_of(omega)
    m = len(omega)
    np.testing.assert_allclose(Q.T @ Q, np.eye(m), atol=1e-7)
    upright = np.zeros(m)
    upright[-1] = np.linalg.norm(omega)
    np.testing.assert_allclose(omega @ Q, upright, atol=1e-7)


def test_flatness():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 3))
    assert flatness(X) > 0.5
    X[:, 2] = X[:, 0] - X[:, 1]
    assert flatness(X) < 1e-12
    assert flatness(np.zeros((5, 2))) == 0


def turned(X, seed, keep_height):
    """The same points shifted, and turned and mirrored at random."""
    rng = np.random.default_rng(seed)
    m = X.shape[1]
    Q = np.eye(m)
    free = m - 1 if keep_height else m
    Q[:free, :free] = np.linalg.qr(rng.normal(size=(free, free)))[0]
    return X @ Q + rng.normal(size=m)


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 0.4])
def test_maps_that_differ_by_a_motion_stand_upright_the_same(m, alpha):
    for seed in range(20):
        X = np.random.default_rng(seed).normal(size=(15, m))
        omega = np.append(np.zeros(m - 1), alpha)
        plain, drift = upright(X, omega)
        np.testing.assert_allclose(
            randers_distances(plain, drift=drift), randers_distances(X, drift=omega), atol=1e-12
        )
        np.testing.assert_allclose(upright(turned(X, seed, alpha > 0), omega)[0], plain, atol=1e-9)
        order = np.random.default_rng(seed).permutation(15)
        np.testing.assert_allclose(upright(X[order], omega)[0], plain[order], atol=1e-9)
        free = plain[:, : m - (alpha > 0)]
        spread = (free**2).sum(axis=0)
        assert (np.diff(spread) <= 0).all()
        np.testing.assert_allclose(free.T @ free, np.diag(spread), atol=1e-9)


def test_noise_does_not_turn_a_symmetric_map():
    """Corners of a square, whose variances tie and whose cubes cancel, in three dimensions."""
    square = np.array([[1, 0, 0.3], [0, 1, 0.1], [-1, 0, 0.5], [0, -1, 0.2]])
    plain, _ = upright(square, np.array([0, 0, 0.5]))
    for seed in range(20):
        noise = 1e-5 * np.random.default_rng(seed).normal(size=square.shape)
        other, _ = upright(turned(square + noise, seed, True), np.array([0, 0, 0.5]))
        np.testing.assert_allclose(other, plain, atol=1e-4)


def test_signs_of_axes():
    rng = np.random.default_rng(0)
    X = rng.gamma(2.0, size=(50, 3)) - 2.0  # long tails upwards
    np.testing.assert_array_equal(axis_signs(X * [1, -1, 1e150]), [1, -1, 1])
    ties = np.array([[-1.0], [0.5], [-0.5], [1.0 + 1e-9]])
    assert axis_signs(ties) == -1  # the first among the largest
    assert axis_signs(np.zeros((3, 1))) == 1
