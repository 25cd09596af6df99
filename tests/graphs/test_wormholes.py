"""`finsler.graphs.wormholes` against plain loops, dense directions, and a roll whose hole is known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array, csr_matrix
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import kneighbors_graph

from finsler.datasets import make_swiss_roll
from finsler.geometry.randers import length_bound, randers_distances
from finsler.graphs.wormholes import consistency_weights, find_boundary
from finsler.kernels.paths import STRIP, minplus

BOUND = 0.3


def detours(n=14, seed=0):
    """Distances that exceed BOUND times the straight lines by random factors, the points, and a boundary."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(n, 3))
    D = randers_distances(points, drift=0.5) * rng.uniform(1.0, 4.0, size=(n, n))
    return D, points, rng.permutation(n)[:4]


def slow_thresholds(D, points, boundary, criterion, bound):
    n = len(D)
    K = np.full((n, n), np.inf)
    for i in range(n):
        for j in range(n):
            for b in boundary:
                for c in boundary:
                    across = bound * np.linalg.norm(points[b] - points[c]) if criterion == "wormhole" else 0.0
                    K[i, j] = min(K[i, j], D[i, b] + across + D[c, j])
    return K


def slow_weights(D, K, soft, symmetric):
    n = len(D)
    c = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if i != j:
                consistent = D[i, j] <= K[i, j] * (1 + 1e-12)
                c[i, j] = 1.0 if consistent else (K[i, j] / D[i, j] if soft else 0.0)
    return np.sqrt(c * c.T) if symmetric else c


@pytest.mark.parametrize("criterion", ["wormhole", "intrinsic"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("symmetric", [False, True])
def test_against_loops(criterion, soft, symmetric):
    for seed in range(5):
        D, points, boundary = detours(seed=seed)
        options = {"criterion": criterion, "bound": BOUND, "soft": soft, "symmetric": symmetric}
        found = consistency_weights(D, points, boundary, **options)
        K = slow_thresholds(D, points, boundary, criterion, BOUND)
        np.testing.assert_allclose(found, slow_weights(D, K, soft, symmetric), rtol=1e-12)
        assert 0 < np.count_nonzero(found == 1) < D.size - len(D)  # both kinds of pairs occur


def test_the_second_leg_runs_from_the_boundary_to_the_end():
    # From 0 into the hole at 1, and out of it at 2 to 3: cheap that way round, dear the other.
    D = np.array([[0, 1, 9, 9], [9, 0, 9, 9], [9, 9, 0, 1], [9, 9, 9, 0]], dtype=float)
    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    weights = consistency_weights(D, points, [1, 2], soft=True, symmetric=False)
    assert weights[0, 3] == pytest.approx((1 + 1 + 1) / 9)
    assert weights[3, 0] == 1  # 9 + 0 + 9 > 9
    turned = consistency_weights(D.T, points, [1, 2], soft=True, symmetric=False)
    np.testing.assert_allclose(turned, weights.T)


@settings(max_examples=60)
@given(seed=st.integers(0, 10**6), bound=st.floats(0, BOUND), soft=st.booleans(), symmetric=st.booleans())
def test_weights_are_shares_and_the_intrinsic_criterion_is_the_stricter(seed, bound, soft, symmetric):
    D, points, boundary = detours(seed=seed)
    options = {"soft": soft, "symmetric": symmetric}
    wormhole = consistency_weights(D, points, boundary, bound=bound, **options)
    intrinsic = consistency_weights(D, None, boundary, criterion="intrinsic", **options)
    for weights in (wormhole, intrinsic):
        assert weights.min() >= 0
        assert weights.max() <= 1
        assert not np.diagonal(weights).any()
    assert (intrinsic <= wormhole).all()
    if symmetric:
        np.testing.assert_array_equal(wormhole, wormhole.T)
    if bound == 0:
        np.testing.assert_array_equal(wormhole, intrinsic)


def test_ways_along_the_boundary_are_consistent_in_spite_of_rounding():
    # On a line every way from 0 to the end passes all boundary points: K = D up to the order of additions.
    place = np.cumsum(np.random.default_rng(0).uniform(size=60))
    D = np.abs(place[:, None] - place)
    for dtype in (np.float64, np.float32):
        weights = consistency_weights(D.astype(dtype), place[:, None], np.arange(5, 55))
        assert weights.dtype == dtype
        assert weights.sum() == 60 * 59


def test_float32_order_and_threads_do_not_matter():
    D, points, boundary = detours(200, seed=3)
    boundary = np.arange(0, 200, 3)
    expected = consistency_weights(D, points, boundary, bound=BOUND, soft=True, n_jobs=1)
    for other in (np.asfortranarray(D), D.tolist()):
        found = consistency_weights(
            other, points, np.isin(np.arange(200), boundary), bound=BOUND, soft=True, n_jobs=3
        )
        np.testing.assert_array_equal(found, expected)
    single = consistency_weights(D.astype(np.float32), points, boundary[::-1], bound=BOUND, soft=True)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-5)


def test_unreachable_pairs_and_equal_points():
    D = np.array([[0, 0, 2, np.inf], [0, 0, 2, np.inf], [2, 2, 0, np.inf], [np.inf, np.inf, 3, 0]])
    points = np.zeros((4, 2))
    weights = consistency_weights(D, points, [2], symmetric=False, soft=True, keep=100.0)
    np.testing.assert_array_equal(weights, [[0, 1, 1, 0], [1, 0, 1, 0], [1, 1, 0, 0], [0, 0, 1, 0]])
    assert not consistency_weights(D, points, [2], keep=np.ones((4, 4), dtype=bool), symmetric=False)[
        :, 3
    ].any()
    # A mutual weight needs both ways, and there is no way back from 3.
    for keep in (None, 100.0):
        mutual = consistency_weights(D, points, [2], keep=keep)
        np.testing.assert_array_equal(mutual, np.pad(1 - np.eye(3), (0, 1)))


def test_what_D_has_on_its_diagonal_does_not_matter():
    D, points, boundary = detours()
    expected = consistency_weights(D, points, boundary, bound=BOUND, soft=True)
    np.fill_diagonal(D, np.nan)
    np.testing.assert_array_equal(consistency_weights(D, points, boundary, bound=BOUND, soft=True), expected)


def test_pairs_to_keep():
    D, points, boundary = detours()
    options = {"points": points, "boundary": boundary, "bound": BOUND}
    plain = consistency_weights(D, symmetric=False, **options)
    i, j = np.argwhere((plain == 0) & (plain.T == 0) & ~np.eye(len(D), dtype=bool))[0]
    mask = np.zeros(D.shape, dtype=bool)
    mask[i, j] = True
    stored_zero = csr_array((np.zeros(1), ([i], [j])), shape=D.shape)
    stored_false = csr_matrix((np.array([True, False]), ([i, j], [j, i])), shape=D.shape)
    for keep in (mask, stored_zero, stored_false):
        found = consistency_weights(D, keep=keep, symmetric=False, **options)
        assert np.argwhere(found != plain).tolist() == [[i, j]]
        mutual = consistency_weights(D, keep=keep, **options)
        assert mutual[i, j] == mutual[j, i] == 1
    radius = float(np.median(D))
    found = consistency_weights(D, keep=radius, symmetric=False, **options)
    np.testing.assert_array_equal(found, np.where((radius > D) & ~np.eye(len(D), dtype=bool), 1, plain))


GOOD, POINTS, RIM = detours()


def changed(i, j, value):
    D = GOOD.copy()
    D[i, j] = value
    return D


BAD = [
    ({"D": GOOD[:3]}, r"square"),
    ({"D": changed(1, 2, np.nan)}, r"NaN from 1 to 2.*use inf"),
    ({"D": changed(1, 2, -1)}, r"Negative.*from 1 to 2"),
    ({"D": changed(2, 2, 1.0)}, r"diagonal"),
    ({"boundary": None}, r"boundary is needed.*find_boundary"),
    ({"boundary": []}, r"boundary is empty"),
    ({"boundary": np.zeros(14, dtype=bool)}, r"boundary is empty"),
    ({"boundary": np.ones(13, dtype=bool)}, r"shape \(14,\).*shape \(13,\)"),
    ({"boundary": [3, 14]}, r"between 0 and 13"),
    ({"boundary": [-1]}, r"between 0 and 13"),
    ({"boundary": [[1]]}, r"boundary .*shape \(1, 1\)"),
    ({"boundary": [0.5]}, r"indices .*found float64"),
    ({"points": None}, r"points is needed.*intrinsic"),
    ({"points": POINTS[:5]}, r"each of the 14 points of D, got 5"),
    ({"points": POINTS[:, 0]}, r"got shape \(14,\)"),
    ({"points": np.where(np.arange(14)[:, None] == 4, np.nan, POINTS)}, r"points .* at point 4"),
    ({"bound": -0.1}, r"bound must be"),
    ({"bound": np.inf}, r"bound must be"),
    ({"bound": 5.0}, r"bound=5 is too large: from boundary point \d+ to \d+.*length_bound"),
    ({"criterion": "euclid"}, r"criterion must be 'wormhole' or 'intrinsic', got 'euclid'"),
    ({"keep": 0.0}, r"keep must be a number above 0"),
    ({"keep": True}, r"boolean mask of shape \(14, 14\); got bool"),
    ({"keep": GOOD}, r"dtype float64"),
    ({"keep": np.ones((3, 3), dtype=bool)}, r"shape \(3, 3\)"),
]


@pytest.mark.parametrize(("change", "match"), BAD)
def test_bad_input_is_named(change, match):
    arguments = {"D": GOOD, "points": POINTS, "boundary": RIM, "bound": BOUND} | change
    with pytest.raises(ValueError, match=match):
        consistency_weights(**arguments)


def test_the_bound_that_the_error_names_is_accepted():
    with pytest.raises(ValueError, match="at most") as error:
        consistency_weights(GOOD, POINTS, RIM, bound=5.0)
    largest = float(str(error.value).rsplit(" ", 1)[1].rstrip("."))
    consistency_weights(GOOD, POINTS, RIM, bound=largest)
    with pytest.raises(ValueError, match="too large"):
        consistency_weights(GOOD, POINTS, RIM, bound=1.001 * largest)


def test_inputs_are_left_alone():
    D, points, boundary = detours()
    mask = np.eye(len(D), k=1, dtype=bool)
    before = D.copy(), points.copy(), boundary.copy(), mask.copy()
    consistency_weights(D, points, boundary, bound=BOUND, keep=mask)
    for kept, now in zip(before, (D, points, boundary, mask), strict=True):
        np.testing.assert_array_equal(kept, now)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "shape", [(3, 1, 5), (2, 4, STRIP), (5, 7, 2 * STRIP + 3), (1, 3, 1), (2, 9, STRIP + 1)]
)
def test_minplus(shape, dtype):
    n, b, k = shape
    rng = np.random.default_rng(0)
    A, B = rng.random((n, b)).astype(dtype), rng.random((b, k)).astype(dtype)
    A[0, 0] = B[-1, -1] = np.inf
    out = np.full((n, k), np.nan, dtype)
    minplus(A, B, out)
    np.testing.assert_array_equal(out, (A[:, :, None] + B[None]).min(axis=1))


# The roll with a hole: what the criterion promises, against the distances of the roll without the hole.


def roll_distances(points, drift):
    graph = kneighbors_graph(points, 15, mode="distance")
    graph = graph.maximum(graph.T).tocoo()
    step = points[graph.col] - points[graph.row]
    graph.data = graph.data + np.einsum("ij,ij->i", drift[graph.row], step)
    return dijkstra(graph.tocsr())


@pytest.fixture(scope="module")
def roll():
    data = make_swiss_roll(2000, alpha=0.5, hole=True, random_state=3)
    data.D = roll_distances(data.points, data.drift)
    full = roll_distances(data.full_points, data.full_drift)[np.ix_(data.kept, data.kept)]
    np.fill_diagonal(full, 1)
    data.excess = data.D / full - 1
    return data


def test_no_false_alarm_on_the_roll_with_a_hole(roll):
    n = len(roll.D)
    bound = length_bound(omega=roll.full_drift)
    assert bound == pytest.approx(0.5)
    assert np.sum(roll.excess > 0.01) / (n * (n - 1)) == pytest.approx(0.46, abs=0.005)  # the hole matters
    # (symmetric, share of the pairs kept, largest excess of D over the full roll among them)
    for symmetric, share, worst in ((False, 0.149, 0.0082), (True, 0.0745, 0.0)):
        kept = consistency_weights(roll.D, roll.points, roll.boundary, bound=bound, symmetric=symmetric) > 0
        assert kept.sum() / (n * (n - 1)) == pytest.approx(share, abs=0.001)
        assert roll.excess[kept].max() <= worst + 1e-4
    intrinsic = consistency_weights(roll.D, None, roll.boundary, criterion="intrinsic", symmetric=False) > 0
    assert intrinsic.sum() / (n * (n - 1)) == pytest.approx(0.0776, abs=0.001)
    assert roll.excess[intrinsic].max() <= 1e-12


def test_too_large_a_bound_is_noticed(roll):
    with pytest.raises(ValueError, match="bound=1 is too large"):
        consistency_weights(roll.D, roll.points, roll.boundary)


def test_short_pairs_on_the_roll_are_consistent_up_to_discretization(roll):
    weights = consistency_weights(roll.D, roll.points, roll.boundary, bound=0.5, keep=3.0)
    # Every point has a partner; without `keep` boundary points have few.
    assert (weights > 0).any(axis=1).all()
    assert np.mean(roll.excess[weights > 0] > 0.02) < 0.003


def test_the_boundary_found_on_the_roll_is_safe(roll):
    found = find_boundary(roll.points)
    kept = consistency_weights(roll.D, roll.points, found, bound=0.5) > 0
    assert kept.mean() == pytest.approx(0.0245, abs=0.003)  # fewer: the outer rim counts as a rim
    assert np.mean(roll.excess[kept] > 0.01) < 0.001


# find_boundary


def disc_with_hole(seed, n=4000):
    """Points, their distances to the nearer rim, and the spacing of the sample."""
    points = np.random.default_rng(seed).uniform(-1, 1, size=(3 * n, 2))
    radius = np.linalg.norm(points, axis=1)
    points = points[(radius < 1) & (radius > 0.4)][:n]
    radius = np.linalg.norm(points, axis=1)
    return points, np.minimum(1 - radius, radius - 0.4), np.sqrt(np.pi * (1 - 0.4**2) / n)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("surface", ["flat", "bowl", "far away"])
def test_rims_of_a_disc_with_a_hole(seed, surface):
    points, depth, spacing = disc_with_hole(seed)
    height = 0.5 * np.sum(points**2, axis=1) if surface == "bowl" else np.zeros(len(points))
    points = np.column_stack([points, height])
    if surface == "far away":
        points = 1e3 * points + 1e6
    found = find_boundary(points)
    inner = np.linalg.norm(points[:, :2] / (1e3 if surface == "far away" else 1), axis=1) < 0.7
    at_rim, inside = depth < 0.5 * spacing, depth > 1.5 * spacing
    assert found[at_rim].mean() > 0.92
    assert found[inside].mean() < 0.02
    assert np.mean(depth[found] < 1.5 * spacing) > 0.84  # precision
    if surface != "far away":
        assert found[at_rim & inner].mean() > 0.88  # the hole's own rim


def test_rims_in_one_and_three_dimensions():
    rng = np.random.default_rng(0)
    angle = np.sort(rng.uniform(0, 4, size=500))
    ends = np.flatnonzero(find_boundary(np.column_stack([np.cos(angle), np.sin(angle)]), n_dimensions=1))
    assert {0, 499} <= set(ends)
    assert np.mean((ends >= 10) & (ends < 490)) < 0.2  # chance gaps
    ball = rng.uniform(-1, 1, size=(12_000, 3))
    ball = ball[np.linalg.norm(ball, axis=1) < 1][:5000]
    depth, spacing = 1 - np.linalg.norm(ball, axis=1), (4 / 3 * np.pi / 5000) ** (1 / 3)
    found = find_boundary(ball, 30, n_dimensions=3)
    assert found[depth < 0.5 * spacing].mean() > 0.95
    assert found[depth > 1.5 * spacing].mean() < 0.01


def test_a_sphere_has_no_rim_and_equal_points_do_no_harm():
    u = np.random.default_rng(0).normal(size=(3000, 3))
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    assert find_boundary(u).mean() < 0.03
    assert not find_boundary(np.zeros((30, 2))).any()


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"points": np.zeros(5)}, r"2-D array.*got shape \(5,\)"),
        ({"points": np.full((30, 2), np.nan)}, r"points .* at point 0"),
        ({"n_dimensions": 3}, r"n_dimensions must be in 1\.\.2"),
        ({"n_neighbors": 2}, r"n_neighbors must be in 3\.\.29; got 2"),
        ({"n_neighbors": 30}, r"n_neighbors must be in 3\.\.29"),
        ({"threshold": 1.0}, "threshold must be between 0 and 1"),
    ],
)
def test_find_boundary_refuses_bad_input(options, match):
    arguments = {"points": np.random.default_rng(0).random((30, 2))} | options
    with pytest.raises(ValueError, match=match):
        find_boundary(**arguments)
