import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from finsler.geometry import randers
from finsler.geometry.randers import (
    check_randers,
    drift_vector,
    length_bound,
    randers_distance_blocks,
    randers_distances,
    randers_norm,
    zermelo_metric,
)

from helpers import slow_distance


@pytest.mark.parametrize("m", [1, 2, 3, 7])
def test_distances_agree_with_a_loop(m):
    rng = np.random.default_rng(m)
    X, Y = rng.normal(size=(6, m)), rng.normal(size=(4, m))
    omega = rng.normal(size=m)
    omega *= 0.7 / np.linalg.norm(omega)
    d = randers_distances(X, Y, drift=omega)
    expected = [[slow_distance(x, y, omega) for y in Y] for x in X]
    np.testing.assert_allclose(d, expected, rtol=1e-13)


def test_going_up_costs_more():
    d = randers_distances([[0.0, 0.0], [0.0, 2.0]], drift=0.5)
    assert d[0, 1] == 3.0
    assert d[1, 0] == 1.0


def test_randers_distance_is_a_quasi_metric():
    rng = np.random.default_rng(0)
    d = randers_distances(rng.normal(size=(30, 3)), drift=0.9)
    assert (d[~np.eye(30, dtype=bool)] > 0).all()
    assert (d[:, None, :] <= d[:, :, None] + d[None, :, :] + 1e-12).all()
    ratio = d[~np.eye(30, dtype=bool)] / d.T[~np.eye(30, dtype=bool)]
    assert ratio.max() <= 1.9 / 0.1 + 1e-9


def test_blocks_are_the_rows_of_the_whole(monkeypatch):
    monkeypatch.setattr(randers, "CELLS", 5 * 23)
    X = np.random.default_rng(0).normal(size=(23, 2))
    whole = randers_distances(X, drift=0.4)
    seen = []
    for start, stop, block in randers_distance_blocks(X, drift=0.4):
        np.testing.assert_array_equal(block, whole[start:stop])
        seen += range(start, stop)
    assert seen == list(range(23))


def test_equal_points_are_at_distance_zero():
    X = np.full((3, 2), 0.1)
    assert (randers_distances(X, drift=0.5) == 0).all()


@pytest.mark.parametrize("drift", [1.0, -1.5, [0.8, 0.8], np.nan])
def test_a_drift_of_norm_one_or_more_is_refused(drift):
    with pytest.raises(ValueError, match="norm"):
        drift_vector(drift, 2)


def test_shapes_are_checked():
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        drift_vector([0.1, 0.1], 3)
    with pytest.raises(ValueError, match="same space"):
        randers_distances(np.zeros((2, 2)), np.zeros((2, 3)), drift=0.1)
    with pytest.raises(ValueError, match="2-D"):
        randers_distances(np.zeros(3), drift=0.1)


def test_norm_of_a_general_metric():
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    u, omega = np.array([1.0, -2.0]), np.array([0.3, 0.2])
    expected = np.sqrt(u @ M @ u) + omega @ u
    assert randers_norm(u, M, omega) == pytest.approx(expected, rel=1e-14)
    many = randers_norm(np.stack([u, 2 * u]), np.stack([M, M]), np.stack([omega, omega]))
    np.testing.assert_allclose(many, [expected, 2 * expected])


def test_admissibility_means_that_every_step_costs_something():
    M = np.array([[2.0, 0.5], [0.5, 1.0]])
    angles = np.linspace(0, 2 * np.pi, 2000)
    steps = np.column_stack([np.cos(angles), np.sin(angles)])
    for scale in (0.99, 1.01):
        omega = np.array([1.0, 0.3])
        omega *= scale / np.sqrt(omega @ np.linalg.solve(M, omega))
        if scale < 1:
            check_randers(M, omega)
            assert randers_norm(steps, M, omega).min() > 0
        else:
            assert randers_norm(steps, M, omega).min() < 0
            with pytest.raises(ValueError, match="below 1"):
                check_randers(M, omega)


def test_bad_metrics_are_refused():
    with pytest.raises(ValueError, match="positive definite"):
        check_randers([[1.0, 0.0], [0.0, -1.0]], [0.0, 0.1])
    with pytest.raises(ValueError, match="positive definite"):
        check_randers([[1.0, 0.3], [0.0, 1.0]], [0.0, 0.1])
    with pytest.raises(ValueError, match="not finite at point 1"):
        check_randers(None, [[0.0, 0.1], [0.0, np.nan]])
    with pytest.raises(ValueError, match=r"\(2, 2\)"):
        check_randers(np.eye(3), [0.0, 0.1])


@pytest.mark.parametrize("seed", range(5))
def test_zermelo_solves_the_navigation_equation(seed):
    """Travel time F along u is the root of ||u/F - v||_M = 1."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    M = root @ root.T + np.eye(3)
    v = rng.normal(size=3)
    v *= 0.8 / np.sqrt(v @ M @ v)
    M_v, omega_v = zermelo_metric(v, M)
    check_randers(M_v, omega_v)
    for u in rng.normal(size=(5, 3)):

        def excess(time, u=u):
            w = u / time - v
            return np.sqrt(w @ M @ w) - 1

        time = brentq(excess, 1e-9, 1e9, xtol=1e-15, rtol=1e-14)
        assert randers_norm(u, M_v, omega_v) == pytest.approx(time, rel=1e-9)


def test_zermelo_of_many_points_and_of_still_water():
    v = np.array([[0.3, 0.0], [0.0, 0.0]])
    M_v, omega_v = zermelo_metric(v)
    assert M_v.shape == (2, 2, 2)
    np.testing.assert_array_equal(M_v[1], np.eye(2))
    np.testing.assert_array_equal(omega_v[1], 0)


def test_a_current_stronger_than_the_boat_is_explained():
    with pytest.raises(ValueError, match=r"as strong as the boat.*1 of 2 points.*point 1"):
        zermelo_metric([[0.3, 0.0], [0.9, 0.9]])


def directions(m, count, seed=0):
    if m == 2:
        angle = np.linspace(0, 2 * np.pi, count, endpoint=False)
        return np.column_stack([np.cos(angle), np.sin(angle)])
    u = np.random.default_rng(seed).normal(size=(count, m))
    return u / np.linalg.norm(u, axis=1, keepdims=True)


def random_metric(rng, m, strength):
    A = rng.normal(size=(m, m))
    M = A @ A.T + 0.05 * np.eye(m)
    omega = rng.normal(size=m)
    return M, strength * omega / np.sqrt(omega @ np.linalg.solve(M, omega))


@pytest.mark.parametrize("strength", [0.0, 0.3, 0.9, 0.999])
def test_length_bound_in_the_plane_against_dense_directions(strength):
    rng = np.random.default_rng(1)
    u = directions(2, 200_000)
    for _ in range(20):
        M, omega = random_metric(rng, 2, strength)
        sampled = randers_norm(u, M, omega).min()
        assert sampled * (1 - 1e-5) <= length_bound(M, omega) <= sampled * (1 + 1e-12)


@pytest.mark.parametrize("m", [3, 5])
def test_length_bound_in_space_is_below_all_directions_and_reached(m):
    rng = np.random.default_rng(2)
    for _ in range(5):
        M, omega = random_metric(rng, m, 0.7)
        bound = length_bound(M, omega)
        u = directions(m, 50_000)
        cost = randers_norm(u, M, omega)
        assert (cost >= bound * (1 - 1e-12)).all()
        descent = minimize(
            lambda v, M, w: randers_norm(v, M, w) / np.linalg.norm(v), u[np.argmin(cost)], (M, omega)
        )
        assert descent.fun == pytest.approx(bound, rel=1e-8)


def test_length_bound_in_closed_form():
    assert length_bound() == 1
    assert length_bound(omega=[0.6, 0.0]) == pytest.approx(0.4)
    assert length_bound(omega=[[0.1, 0.0], [0.3, 0.4]]) == pytest.approx(0.5)
    assert length_bound(np.eye(3), [0.0, 0.0, 0.6]) == pytest.approx(0.4)
    assert length_bound(np.diag([9.0, 4.0])) == pytest.approx(2)
    # The hard case: no drift along the cheapest axis, so that mu = lambda_min; the best direction is tilted.
    M, omega = np.diag([1.0, 4.0]), np.array([0.0, 0.5])
    assert length_bound(M, omega) == pytest.approx(np.sqrt(1 - 0.5**2 / (4 - 1)), rel=1e-12)
    sampled = randers_norm(directions(2, 10**6), M, omega).min()
    assert length_bound(M, omega) == pytest.approx(sampled, rel=1e-9)
    # A field of metrics under one drift, and one metric with a field of drifts: the least counts.
    assert length_bound([np.diag([9.0, 4.0]), M], omega) == length_bound(M, omega)
    assert length_bound(M, [[0.0, 0.1], omega, [0.01, 0.0]]) == length_bound(M, omega)


def test_length_bound_scales_and_turns_with_the_metric():
    rng = np.random.default_rng(5)
    M, omega = random_metric(rng, 4, 0.8)
    Q = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    assert length_bound(Q @ M @ Q.T, Q @ omega) == pytest.approx(length_bound(M, omega), rel=1e-9)
    assert length_bound(1e6 * M, 1e3 * omega) == pytest.approx(1e3 * length_bound(M, omega), rel=1e-9)


def test_length_bound_refuses_what_is_no_metric():
    with pytest.raises(ValueError, match="omega must have a norm below 1"):
        length_bound(omega=[[0.0, 0.3], [1.0, 0.3]])
    with pytest.raises(ValueError, match="positive definite"):
        length_bound(M=[[1.0, 0.0], [0.0, -1.0]])
    with pytest.raises(ValueError, match="empty"):
        length_bound(omega=np.empty((0, 2)))
