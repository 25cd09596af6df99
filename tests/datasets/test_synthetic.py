"""The generators of the paper's data, against formulas worked out another way."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.sparse.csgraph import connected_components, shortest_path

from finsler.datasets.synthetic import (
    make_binary_tree,
    make_city,
    make_exact_randers,
    make_river,
    make_sea,
    make_swiss_roll,
)


def roll(t, y):
    """The surface itself, written independently of the generator."""
    return np.stack([t * np.cos(t), y, t * np.sin(t)], axis=-1)


class TestSwissRoll:
    def test_points_lie_on_the_roll(self):
        data = make_swiss_roll(500, random_state=1)
        assert data.points.shape == data.drift.shape == (500, 3)
        assert_allclose(data.points, roll(data.t, data.coordinates[:, 0]), atol=1e-12)
        assert 1.5 * np.pi <= data.t.min() < 1.55 * np.pi
        assert 4.45 * np.pi < data.t.max() <= 4.5 * np.pi
        assert 0 <= data.coordinates[:, 0].min() < 0.5
        assert 19.5 < data.coordinates[:, 0].max() <= 20

    def test_points_are_those_of_the_published_seed(self):
        u = np.random.RandomState(1).rand(3000, 2)
        expected = roll(u[:, 0] * 3 * np.pi + 1.5 * np.pi, u[:, 1] * 20)
        assert_allclose(make_swiss_roll(random_state=1).points, expected, atol=1e-12)

    def test_drift_is_the_tangent_along_growing_t(self):
        data = make_swiss_roll(200, alpha=0.4, random_state=2)
        y, step = data.coordinates[:, 0], 1e-5
        tangent = (roll(data.t + step, y) - roll(data.t - step, y)) / (2 * step)
        tangent *= 0.4 / np.linalg.norm(tangent, axis=1, keepdims=True)
        assert_allclose(data.drift, tangent, atol=1e-9)

    @pytest.mark.parametrize("alpha", [0.0, 0.3, 0.99])
    def test_drift_has_norm_alpha(self, alpha):
        data = make_swiss_roll(50, alpha=alpha)
        assert_allclose(np.linalg.norm(data.drift, axis=1), alpha, rtol=1e-12)
        assert data.alpha == alpha

    def test_second_coordinate_is_the_arc_length(self):
        data = make_swiss_roll(20, random_state=3)
        # The speed of (t cos t, t sin t) by finite differences, integrated numerically.
        speed = lambda t: np.linalg.norm(roll(t + 1e-6, 0.0) - roll(t - 1e-6, 0.0)) / 2e-6  # noqa: E731
        expected = [quad(speed, 0, t)[0] for t in data.t]
        assert_allclose(data.coordinates[:, 1], expected, rtol=1e-7)

    def test_hole_counts_of_the_paper(self):
        data = make_swiss_roll(2000, alpha=0.5, hole=True, random_state=3)
        assert data.points.shape == (1675, 3)
        assert data.boundary.shape == (1675,)
        assert data.boundary.sum() == 174
        assert "1675" in data.DESCR
        assert "174" in data.DESCR

    @pytest.mark.parametrize("seed", range(5))
    def test_hole_is_empty_and_only_the_hole(self, seed):
        full = make_swiss_roll(2000, random_state=seed)
        data = make_swiss_roll(2000, hole=True, random_state=seed)
        along = (full.t - 1.5 * np.pi) / (3 * np.pi)
        across = full.coordinates[:, 0] / 20
        hole = (along > 0.1) & (along < 0.9) & (across > 0.4) & (across < 0.6)
        assert_array_equal(data.kept, ~hole)
        # 84 % of the area is left; five standard deviations of a binomial count.
        assert abs(data.kept.sum() - 1680) < 5 * np.sqrt(2000 * 0.84 * 0.16)

    def test_full_roll_comes_along(self):
        full = make_swiss_roll(800, alpha=0.5, random_state=4)
        data = make_swiss_roll(800, alpha=0.5, hole=True, random_state=4)
        for name in ("points", "drift", "coordinates"):
            assert_array_equal(data[f"full_{name}"], full[name])
            assert_array_equal(data[name], full[name][data.kept])
        assert_array_equal(data.t, full.t[data.kept])

    def test_boundary_by_brute_force(self):
        data = make_swiss_roll(600, hole=True, random_state=5)
        distance = np.linalg.norm(data.full_points[:, None] - data.full_points[None], axis=-1)
        np.fill_diagonal(distance, np.inf)
        expected = [
            any(not data.kept[j] for j in np.argsort(distance[i])[:7]) for i in np.flatnonzero(data.kept)
        ]
        assert_array_equal(data.boundary, expected)
        assert data.boundary.any()

    def test_tiny_rolls(self):
        assert make_swiss_roll(1).points.shape == (1, 3)
        lone = make_swiss_roll(1, hole=True, random_state=1)
        assert lone.points.shape == (1, 3)
        assert not lone.boundary.any()
        seeds = [
            s
            for s in range(50)
            if 0.1 < (u := np.random.RandomState(s).rand(2))[0] < 0.9 and 0.4 < u[1] < 0.6
        ]
        with pytest.raises(ValueError, match="every point fell into the hole"):
            make_swiss_roll(1, hole=True, random_state=seeds[0])


class TestCurrents:
    def test_sea_by_hand(self):
        data = make_sea(300, nu=2.0, alpha=0.5, random_state=0)
        free = np.array(
            [
                (np.sin(2 * x) + np.cos(2 * y), np.cos(2 * x) - np.sin(2 * y))
                for x, y in data.points  # the paper's formula, point by point
            ]
        )
        speeds = [np.hypot(*v) for v in free]
        assert_allclose(data.current, 0.5 * free / max(speeds), rtol=1e-12)
        assert_allclose(np.linalg.norm(data.current, axis=1).max(), 0.5, rtol=1e-12)
        assert data.points.shape == (300, 2)
        assert 0 <= data.points.min() < 0.3
        assert 9.7 < data.points.max() <= 10

    @pytest.mark.parametrize("nu", [2.0, 0.7, 0.0])
    def test_sea_divergence_by_finite_differences(self, nu):
        data = make_sea(100, nu=nu, alpha=0.4, random_state=1)

        def free(p):
            return np.stack(
                [
                    np.sin(nu * p[:, 0]) + np.cos(nu * p[:, 1]),
                    np.cos(nu * p[:, 0]) - np.sin(nu * p[:, 1]),
                ],
                1,
            )

        scale = 0.4 / np.linalg.norm(free(data.points), axis=1).max()
        step = 1e-5
        divergence = sum(
            (free(data.points + step * e)[:, k] - free(data.points - step * e)[:, k]) / (2 * step)
            for k, e in enumerate(np.eye(2))
        )
        assert_allclose(data.divergence, scale * divergence, atol=1e-8)

    def test_river(self):
        data = make_river(random_state=2)
        assert data.points.shape == (1000, 2)
        assert (data.points.max(axis=0) <= [10, 1]).all()
        assert data.points[:, 0].max() > 9.5
        assert data.points[:, 1].max() > 0.95
        width = data.points[:, 1]
        expected = np.where(width < 0.5, 2 * width, 2 - 2 * width)  # a tent: 0 at the banks, 1 in the middle
        assert_allclose(data.current[:, 0], 0.2 * expected / expected.max(), rtol=1e-12)
        assert (data.current[:, 1] == 0).all()

    @pytest.mark.parametrize("make", [make_sea, make_river])
    def test_no_current_without_alpha(self, make):
        assert (make(10, alpha=0.0).current == 0).all()
        assert_allclose(np.linalg.norm(make(1, alpha=0.3).current), 0.3)

    @pytest.mark.parametrize("nu", [np.nan, np.inf])
    def test_sea_needs_a_finite_frequency(self, nu):
        with pytest.raises(ValueError, match="nu must be a"):
            make_sea(10, nu=nu)


class TestBinaryTree:
    @pytest.mark.parametrize("depth", [0, 1, 2, 4])
    def test_arcs_by_brute_force(self, depth):
        data = make_binary_tree(depth)
        n = 2 ** (depth + 1) - 1
        level = [int(np.log2(i + 1)) for i in range(n)]
        expected = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                if i != j and level[i] == level[j]:
                    expected[i, j] = 0.1
                elif j in (2 * i + 1, 2 * i + 2):
                    expected[i, j], expected[j, i] = 0.5, 1.5
        assert_array_equal(data.graph.toarray(), expected)
        assert data.graph.nnz == np.count_nonzero(expected)
        assert_array_equal(data.depth, level)
        assert_array_equal(data.parent, [(i - 1) // 2 for i in range(n)])
        assert data.parent[0] == -1

    def test_the_papers_tree(self):
        data = make_binary_tree()
        assert data.graph.shape == (255, 255)
        shortest = shortest_path(data.graph)
        # By hand: the levels in between, and 0.1 for one step sideways unless one is above the other.
        for i, j in np.random.default_rng(0).integers(255, size=(500, 2)):
            low, high = int(max(i, j)) + 1, int(min(i, j)) + 1  # counted from 1, the node above k is k // 2
            while low.bit_length() > high.bit_length():
                low //= 2
            levels = data.depth[j] - data.depth[i]
            expected = (0.5 * levels if levels > 0 else -1.5 * levels) + (0 if low == high else 0.1)
            assert shortest[i, j] == pytest.approx(expected)


class TestExactRanders:
    @pytest.mark.parametrize("n_components", [1, 2, 5])
    def test_distances_by_a_loop(self, n_components):
        data = make_exact_randers(15, n_components, alpha=0.7, random_state=1)
        assert data.points.shape == (15, n_components)
        for i, x in enumerate(data.points):
            for j, y in enumerate(data.points):
                expected = np.sqrt(((y - x) ** 2).sum()) + 0.7 * (y[-1] - x[-1])
                assert data.distances[i, j] == pytest.approx(expected, abs=1e-12)

    def test_is_a_quasimetric_that_climbs_at_a_price(self):
        data = make_exact_randers(30, 3, alpha=0.9)
        D, up = data.distances, data.points[:, -1]
        assert (np.diag(D) == 0).all()
        assert (D[~np.eye(30, dtype=bool)] > 0).all()
        assert (D[:, None, :] <= D[:, :, None] + D[None, :, :] + 1e-12).all()
        assert_array_equal(D > D.T, up[None, :] > up[:, None])


MAKERS = [make_swiss_roll, make_sea, make_river, make_exact_randers]


@pytest.mark.parametrize("make", MAKERS)
def test_seeds(make):
    first, again, other = (make(40, random_state=s) for s in (7, 7, 8))
    assert_array_equal(first.points, again.points)
    assert (first.points != other.points).all()
    generator = np.random.RandomState(7)
    assert_array_equal(make(40, random_state=generator).points, first.points)
    assert (make(40, random_state=generator).points != first.points).all()  # the stream goes on


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("alpha", [-0.1, 1.0, 1.5, np.nan])
def test_bad_alpha(make, alpha):
    with pytest.raises(ValueError, match=rf"alpha must be .*got {alpha}"):
        make(10, alpha=alpha)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n_samples", [0, -3, 2.5, True, None])
def test_bad_n_samples(make, n_samples):
    with pytest.raises(ValueError, match=rf"n_samples must be .*got {n_samples}"):
        make(n_samples)


def test_bad_shapes():
    with pytest.raises(ValueError, match=r"n_components must be .*got 0"):
        make_exact_randers(10, 0)
    with pytest.raises(ValueError, match=r"depth must be .*got -1"):
        make_binary_tree(-1)
    with pytest.raises(ValueError, match=r"depth must be .*got 1\.5"):
        make_binary_tree(1.5)


@pytest.mark.parametrize("make", [*MAKERS, make_binary_tree])
def test_describes_itself(make):
    data = make(5)
    assert isinstance(data.DESCR, str)
    assert "5" in data.DESCR


def test_every_crossing_reaches_every_other_and_arcs_join_neighbors():
    city = make_city(900, random_state=3)
    assert connected_components(city.graph, directed=True, connection="strong")[0] == 1
    rows, columns = city.graph.nonzero()
    assert (np.abs(city.points[rows] - city.points[columns]).sum(axis=1) == 1).all()
    assert (city.graph.data == 1).all()


def test_one_way_streets_have_arcs_in_one_direction_only():
    open_city = make_city(2500, one_way=0, closed=0, closed_uphill=0)
    assert open_city.graph.nnz == 4 * 50 * 49
    city = make_city(2500, one_way=0.5, closed=0, closed_uphill=0)
    both_ways = (city.graph.multiply(city.graph.T)).nnz
    assert (
        0.2 < (city.graph.nnz - both_ways) / city.graph.nnz < 0.5
    )  # of three arcs a pair of streets, one is single


def test_closures_make_climbing_longer():
    city = make_city(2500, one_way=0, closed=0, closed_uphill=0.4)
    rows, columns = city.graph.nonzero()
    step = (city.points[columns] - city.points[rows])[:, 1]
    up, down = np.count_nonzero(step > 0), np.count_nonzero(step < 0)
    assert 0.5 < up / down < 0.7


def test_slope_gives_lengths():
    city = make_city(400, slope=0.25)
    rows, columns = city.graph.nonzero()
    step = (city.points[columns] - city.points[rows])[:, 1]
    np.testing.assert_allclose(city.graph.data, 1 + 0.25 * step)


def test_cities_by_seed():
    a, b, c = (make_city(400, random_state=s) for s in (1, 1, 2))
    assert (a.graph != b.graph).nnz == 0
    assert a.graph.shape != c.graph.shape or (a.graph != c.graph).nnz > 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n": 3}, "n must be"),
        ({"n": 10.5}, "n must be"),
        ({"one_way": 1.5}, "one_way"),
        ({"closed": 1}, "closed"),
        ({"slope": -0.1}, "slope"),
    ],
)
def test_bad_cities(options, match):
    with pytest.raises(ValueError, match=match):
        make_city(**options)
