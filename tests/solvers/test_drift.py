import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from finsler.solvers.drift import ALPHA_MAX, best_drift, flatness, frame_of


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
