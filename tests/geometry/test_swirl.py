"""Drifts that turn: line integrals, gauge, canonical form, arcs, and when they are distances."""

import itertools

import numpy as np
import pytest
from scipy.optimize import minimize

from finsler.errors import InputError
from finsler.geometry.randers import randers_distance_blocks, randers_distances
from finsler.geometry.swirl import (
    arc_cost,
    canonical_form,
    drift_at,
    largest_drift,
    obeys_triangles,
    skew_part,
    swirl_matrix,
)


def random_field(rng, m, size=0.1):
    K = rng.normal(size=(m, m)) * size
    return rng.normal(size=m) * size, K - K.T


@pytest.mark.parametrize("m", [2, 3, 4])
def test_distances_are_the_length_and_the_line_integral_of_the_drift(m):
    rng = np.random.default_rng(m)
    X, (w, K) = rng.normal(size=(6, m)), random_field(rng, m)
    d = randers_distances(X, drift=w, swirl=K)
    for i, j in itertools.permutations(range(6), 2):
        t = (np.arange(200) + 0.5) / 200
        way = X[i] + t[:, None] * (X[j] - X[i])
        integral = (drift_at(way, w, K) @ (X[j] - X[i])).mean()
        assert d[i, j] == pytest.approx(np.linalg.norm(X[j] - X[i]) + integral, rel=1e-12)
    blocks = [block for _, _, block in randers_distance_blocks(X, drift=w, swirl=K)]
    np.testing.assert_array_equal(np.vstack(blocks), d)


def test_in_the_plane_there_minus_back_is_four_kappa_times_the_area():
    X = np.random.default_rng(0).normal(size=(5, 2))
    d = randers_distances(X, drift=np.zeros(2), swirl=0.3)
    for i, j in itertools.permutations(range(5), 2):
        area = (X[i, 0] * X[j, 1] - X[i, 1] * X[j, 0]) / 2  # positive counterclockwise
        assert d[i, j] - d[j, i] == pytest.approx(4 * 0.3 * area, abs=1e-12)


@pytest.mark.parametrize("m", [2, 3])
def test_shifts_and_turns_change_no_distance(m):
    rng = np.random.default_rng(m)
    X, (w, K) = rng.normal(size=(8, m)), random_field(rng, m)
    d = randers_distances(X, drift=w, swirl=K)
    c, Q = rng.normal(size=m), np.linalg.qr(rng.normal(size=(m, m)))[0]  # a mirror as often as not
    np.testing.assert_allclose(randers_distances(X - c, drift=w + K @ c, swirl=K), d, atol=1e-13)
    np.testing.assert_allclose(randers_distances(X @ Q, drift=w @ Q, swirl=Q.T @ K @ Q), d, atol=1e-13)
    far = 1e6 * np.ones(m)
    np.testing.assert_allclose(randers_distances(X - far, drift=w + K @ far, swirl=K), d, rtol=1e-8)


def test_without_a_swirl_nothing_changes():
    X = np.random.default_rng(0).normal(size=(7, 3))
    plain = randers_distances(X, drift=[0.1, 0.2, 0.3])
    np.testing.assert_allclose(
        randers_distances(X, drift=[0.1, 0.2, 0.3], swirl=np.zeros((3, 3))), plain, atol=1e-14
    )
    np.testing.assert_allclose(
        randers_distances(X[:, :2], drift=0.1, swirl=0.0, geodesic=True),
        randers_distances(X[:, :2], drift=0.1),
    )
    np.testing.assert_array_equal(drift_at(X, [0.1, 0.2, 0.3]), np.tile([0.1, 0.2, 0.3], (7, 1)))


@pytest.mark.parametrize("m", [2, 3, 4, 5])
def test_canonical_form(m):
    rng = np.random.default_rng(m)
    w, K = random_field(rng, m)
    screw = canonical_form(w, K)
    np.testing.assert_allclose(drift_at(screw.center, w, K), screw.beta, atol=1e-12)
    np.testing.assert_allclose(K @ screw.beta, 0, atol=1e-12)
    np.testing.assert_allclose(screw.center, -np.linalg.pinv(K) @ w, atol=1e-12)
    for kappa, (p, q) in zip(screw.kappas, screw.planes, strict=True):
        np.testing.assert_allclose(K @ p, kappa * q, atol=1e-12)
        np.testing.assert_allclose(K @ q, -kappa * p, atol=1e-12)
    assert (np.diff(screw.kappas) <= 0).all()
    if m == 3:
        np.testing.assert_allclose(
            np.cross(screw.kappas[0] * screw.axis, [1, 2, 3]), K @ [1, 2, 3], atol=1e-12
        )
    else:
        assert screw.axis is None
    assert canonical_form(w, np.zeros((m, m))) is None


@pytest.mark.parametrize("ends", [(0, 1), (1, 0)])
def test_the_arc_is_the_cheapest_way(ends):
    kappa = 0.4
    x, y = np.array([[0.3, -0.2], [1.6, 0.7]])[list(ends)]
    w, K = np.array([0.05, -0.1]), swirl_matrix(kappa, 2)
    normal = np.array([x[1] - y[1], y[0] - x[0]])

    def cost(bulge):
        way = x + np.linspace(0, 1, len(bulge) + 2)[:, None] * (y - x)
        way[1:-1] += bulge[:, None] * normal
        step = np.diff(way, axis=0)
        return np.linalg.norm(step, axis=1).sum() + (drift_at(way[:-1], w, K) * step).sum()

    found = minimize(cost, np.zeros(30), method="BFGS", options={"gtol": 1e-7})
    arc = randers_distances([x], [y], drift=w, swirl=K, geodesic=True)[0, 0]
    assert found.fun == pytest.approx(arc, rel=3e-4)
    assert found.fun < cost(np.zeros(30)) - 0.01


def test_the_cost_of_arcs_is_smooth():
    kappa, e = 0.5, np.linspace(0, 3, 3001)
    f = arc_cost(e, kappa)
    slope = np.diff(f) / np.diff(e)
    middle = (e[1:] + e[:-1]) / 2
    np.testing.assert_allclose(slope, np.sqrt(np.maximum(1 - (kappa * middle) ** 2, 0)), atol=2e-2)
    assert f[0] == 0
    np.testing.assert_allclose(arc_cost(e, 0.0), e)
    np.testing.assert_allclose(arc_cost([1e-4, 1e-3, 2e-3], 1.0), arc_cost([1e-4, 1e-3, 2e-3], -1.0))
    assert arc_cost(0.0019999, 0.5) == pytest.approx(arc_cost(0.0020001, 0.5), rel=2e-4)


def violations(d):
    n = len(d)
    return sum(d[i, k] > d[i, j] + d[j, k] + 1e-12 for i, j, k in itertools.permutations(range(n), 3))


def test_arcs_obey_the_triangle_inequality_and_straight_ways_do_not():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 2))
    X = X[np.linalg.norm(X, axis=1) < 1]
    w, K = np.zeros(2), swirl_matrix(0.5 / np.linalg.norm(X - X.mean(axis=0), axis=1).max(), 2)
    assert obeys_triangles(X, w, K, geodesic=True)
    assert not obeys_triangles(X, w, K)
    assert violations(randers_distances(X, drift=w, swirl=K, geodesic=True)) == 0
    straight = randers_distances(X, drift=w, swirl=K)
    assert violations(straight) > 0
    assert (straight >= randers_distances(X, drift=w, swirl=K, geodesic=True) - 1e-12).all()
    assert obeys_triangles(X, [0.0, 0.9])
    assert not obeys_triangles(X, w, 1.5 * K, geodesic=True)
    assert not obeys_triangles(X, [0.0, 0.9], K, geodesic=True)


def test_distances_are_positive_where_the_drift_is_below_1_at_the_points():
    rng = np.random.default_rng(1)
    X, (w, K) = rng.normal(size=(50, 3)), random_field(rng, 3)
    size = largest_drift(X, w, K)
    d = randers_distances(X, drift=w / size * 0.999, swirl=K / size * 0.999)
    assert (d[~np.eye(50, dtype=bool)] > 0).all()


def test_what_has_no_meaning_is_refused():
    for swirl in (np.eye(2), [[0, np.nan], [np.nan, 0]], np.zeros((3, 3))):
        with pytest.raises(InputError, match="swirl"):
            swirl_matrix(swirl, 2)
    with pytest.raises(InputError, match="swirl"):
        swirl_matrix(0.3, 3)
    with pytest.raises(InputError, match="geodesic"):
        randers_distances(np.zeros((2, 3)), drift=0.1, swirl=np.zeros((3, 3)), geodesic=True)
    with pytest.raises(InputError, match="norm"):
        randers_distances(np.zeros((2, 2)), drift=1.5)


def test_skew_part_of_blocks():
    rng = np.random.default_rng(0)
    X, (w, K) = rng.normal(size=(9, 3)), random_field(rng, 3)
    a = skew_part(X, X, w, K)
    np.testing.assert_allclose(a, -a.T, atol=1e-13)
    np.testing.assert_allclose(skew_part(X[2:5], X[4:], w, K), a[2:5, 4:], atol=1e-13)
