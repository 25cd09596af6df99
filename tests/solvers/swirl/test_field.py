"""The drift field from the data: least squares, its limit, and the frame that it gives a map."""

import numpy as np
import pytest
from scipy.optimize import minimize

from finsler.geometry.randers import randers_distances
from finsler.geometry.swirl import skew_part
from finsler.solvers.swirl.field import (
    LIMIT,
    Field,
    best_field,
    field_of,
    heights_lead,
    turned_upright,
    unknowns,
)
from finsler.solvers.swirl.problem import Skew


def least_squares(rng, m, size):
    k = m + m * (m - 1) // 2
    root = rng.normal(size=(k, k))
    return root @ root.T + 0.3 * np.eye(k), rng.normal(size=k) * size


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("seed", range(8))
def test_the_limit_against_a_general_optimizer(seed, m):
    rng = np.random.default_rng(seed)
    H, b = least_squares(rng, m, 3.0 if seed % 2 else 0.1)
    radius = 10 ** rng.uniform(-1, 1)

    def cost(theta):
        return theta @ H @ theta - 2 * b @ theta

    def room(theta):
        return (
            LIMIT - np.sqrt((theta[:m] ** 2).sum() + 1e-16) - radius * np.sqrt((theta[m:] ** 2).sum() + 1e-16)
        )

    theta = unknowns(best_field(H, b, m, radius))
    assert room(theta) > -1e-7
    starts = [np.zeros(len(b)), rng.normal(size=len(b)) * 0.01, theta * 0.9]
    ends = [
        minimize(
            cost, x, constraints=[{"type": "ineq", "fun": room}], method="SLSQP", options={"ftol": 1e-14}
        ).x
        for x in starts
    ]
    # The optimizer may give up outside of the limit, depending on the last bit of what BLAS adds up.
    oracle = min(cost(x) for x in ends if room(x) > -1e-7)
    assert cost(theta) <= oracle + 1e-6 * abs(oracle)


def test_a_given_drift_leaves_the_swirl_what_the_limit_leaves():
    H, b = least_squares(np.random.default_rng(0), 2, 50.0)
    drift = np.array([0.3, 0.4])
    field = best_field(H, b, 2, 2.0, drift=drift)
    np.testing.assert_array_equal(field[0], drift)
    assert 2.0 * abs(field[2, 0]) == pytest.approx(LIMIT - 0.5)


def test_arcs_are_limited_to_half():
    H, b = np.eye(3), np.array([0.0, 0.9, 5.0])
    field = best_field(H, b, 2, 2.0, arcs=True)
    assert 2.0 * abs(field[2, 0]) == pytest.approx(0.5)
    assert np.linalg.norm(field[0]) == pytest.approx(LIMIT - 0.5)


def test_the_field_so_far_is_kept_if_the_new_one_is_no_better():
    H, b = least_squares(np.random.default_rng(0), 2, 5.0)
    best = best_field(H, b, 2, 1.0)
    assert best_field(H, b, 2, 1.0, so_far=best) is best or np.allclose(
        best_field(H, b, 2, 1.0, so_far=best), best
    )


def test_points_without_extent_have_no_field():
    np.testing.assert_array_equal(best_field(np.zeros((3, 3)), np.zeros(3), 2, 0.0), np.zeros((3, 2)))


@pytest.mark.parametrize("m", [2, 3])
def test_of_the_skew_part_the_free_field_shows_its_projection(m):
    """P A P, with P the projector on the span of 1 and X."""
    rng = np.random.default_rng(m)
    X = rng.normal(size=(12, m))
    X -= X.mean(axis=0)
    A = rng.normal(size=(12, 12)) * 0.01
    A -= A.T
    skew = Skew(X.T, A.mean(axis=0))
    skew.times((A @ X).T)
    field = best_field(*skew.normal_equations(), m, np.linalg.norm(X, axis=1).max())
    Z = np.column_stack([np.ones(12), X])
    P = Z @ np.linalg.pinv(Z)
    np.testing.assert_allclose(skew_part(X, X, field[0], field[1:]), P @ A @ P, atol=1e-12)


@pytest.mark.parametrize("geodesic", [False, True])
@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("lead", [True, False])
def test_the_same_map_in_another_frame_is_given_in_the_same_frame(m, lead, geodesic):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(30, m)) ** 3 * np.arange(m, 0, -1)
    X -= X.mean(axis=0)
    theta = rng.normal(size=m + m * (m - 1) // 2) * 0.01
    theta[m:] *= 1e-3 if lead else 1.0
    theta[:m] *= 1.0 if lead else 1e-2
    field = field_of(theta, m)
    first, one = turned_upright(X, Field(field[0], field[1:], geodesic))
    Q = np.linalg.qr(rng.normal(size=(m, m)))[0]
    second, two = turned_upright(X @ Q, Field(field[0] @ Q, Q.T @ field[1:] @ Q, geodesic))
    np.testing.assert_allclose(first, second, atol=1e-8)
    np.testing.assert_allclose(one.drift, two.drift, atol=1e-9)
    np.testing.assert_allclose(one.swirl, two.swirl, atol=1e-9)
    assert heights_lead(X, field[0], field[1:]) == lead
    assert one.swirl[1, 0] >= 0
    if lead:
        np.testing.assert_allclose(one.drift[:-1], 0, atol=1e-12)
        assert one.drift[-1] > 0
    elif m == 3:
        np.testing.assert_allclose(one.swirl[2], 0, atol=1e-12)
        assert one.drift[2] >= 0
    if m == 2 or not geodesic:
        there = randers_distances(X, drift=field[0], swirl=field[1:], geodesic=geodesic)
        np.testing.assert_allclose(
            randers_distances(first, drift=one.drift, swirl=one.swirl, geodesic=geodesic), there, atol=1e-10
        )
