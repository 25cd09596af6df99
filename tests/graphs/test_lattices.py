"""Lattices: ways that are hardly too long, none over land, and times that follow the current along an edge."""

import numpy as np
import pytest

import finsler
from finsler import FinslerIsomap, embed_points
from finsler.data.fields import RandersField, randers_field
from finsler.data.located import RADIUS, on_sphere
from finsler.geometry.randers import randers_norm, zermelo_metric
from finsler.graphs.lattices import Lattice, find_lattice, lattice_edges
from finsler.graphs.neighbors import geodesic_distances, neighborhood_graph
from finsler.graphs.paths import shortest_paths


def square(n, width=1.0, height=1.0):
    return np.stack(np.meshgrid(width * np.arange(n), height * np.arange(n)), axis=-1).reshape(-1, 2)


def excess(points, current):
    """By how much travel times on the lattice are above the exact ones of Zermelo, relative, over all pairs."""
    D = geodesic_distances(points, current=current, verbose=False).matrix
    steps = points[None] - points[:, None]
    p, q = steps @ np.asarray(current), 1 - np.dot(current, current)
    exact = (np.sqrt(p * p + q * (steps**2).sum(axis=-1)) - p) / q
    apart = ~np.eye(len(points), dtype=bool)
    return D[apart] / exact[apart] - 1


def test_times_without_a_current_are_hardly_too_long():
    found = excess(square(30), (0.0, 0.0))
    assert found.min() > -1e-9
    assert np.median(found) < 0.003  # 0.05 with 10 neighbors
    assert found.max() < 0.008
    knn = geodesic_distances(square(30), n_neighbors=10, verbose=False).matrix
    straight = np.linalg.norm(square(30)[:, None] - square(30), axis=2)
    far = straight > 0
    assert np.median(knn[far] / straight[far]) > 1.04


@pytest.mark.parametrize(
    "current", [(0.3, 0.1), (0.42, 0.42), (0.1, -0.59), (0.8, 0.0), (-0.74, 0.3), (0.64, -0.64), (0.35, 0.88)]
)
def test_times_in_a_constant_current_are_within_two_percent_of_the_exact_ones(current):
    found = excess(square(30, 2.0, 2.0), current)
    assert found.min() > -1e-9
    assert np.median(found) < 0.005
    assert found.max() < 0.02


@pytest.mark.parametrize("height", [0.2, 1.7, 4.0])
def test_long_cells_have_as_many_directions(height):
    assert np.median(excess(square(20, 1.0, height), (0.2, 0.3))) < 0.01


def test_directions_are_closer_only_in_rows_of_a_strong_current():
    sea = np.ones((20, 12), bool)
    sharp = np.zeros((20, 12, 2))
    sharp[7, 3] = 0.9, 0.0
    field = RandersField(*zermelo_metric(sharp.reshape(-1, 2)))
    lattice = Lattice(sea, *np.ones((2, 1, 1))).suited(field)
    assert [len(offsets) for offsets in lattice.stencils] == [40] * 7 + [72] + [40] * 12
    assert lattice.detour(field).most == pytest.approx(0.0157, rel=0.2)  # at that node
    assert Lattice(sea, *np.ones((2, 1, 1))).detour(field).most > 0.04


@pytest.mark.parametrize("pace", [0.3, 0.85])
def test_the_bias_is_estimated_and_said(pace):
    found = embed_points(square(12), current=(pace, 0.0), solver="classical")
    real = excess(square(30), (pace, 0.0))
    facts = found.provenance
    assert facts.detour == pytest.approx(np.median(real), rel=0.3, abs=1e-3)
    assert facts.most_detour == pytest.approx(real.max(), rel=0.1)
    assert any(f"{facts.detour:.1%} too long in the median" in sentence for sentence in found.sentences())
    elsewhere = embed_points(
        np.random.default_rng(0).uniform(size=(50, 2)), current=(0.3, 0.0), solver="classical"
    )
    assert elsewhere.provenance.detour == 0


def globe(lon, lat):
    """Longitudes and latitudes of a lattice, shuffled."""
    places = np.stack(np.meshgrid(lon, lat), axis=-1).reshape(-1, 2)
    return np.random.default_rng(0).permutation(places)


@pytest.mark.parametrize("first", [-20.0, 170.0, -180.0])
def test_longitudes_and_latitudes_are_a_lattice_too(first):
    """Without a current: ways are great circles, also across the date line."""
    places = globe(first + 2 * np.arange(15), 30 + 2 * np.arange(12))
    places[:, 0] = (places[:, 0] + 180) % 360 - 180
    X, _ = on_sphere(places, None)
    found = find_lattice(X)
    assert found.lattice.present.shape == (12, 15)
    assert not found.lattice.wraps
    D = geodesic_distances(X, verbose=False).matrix
    far = RADIUS * np.arccos(np.clip(X @ X.T / RADIUS**2, -1, 1))
    apart = far > 4e5
    ratio = D[apart] / far[apart] - 1
    assert np.median(np.abs(ratio)) < 0.004  # with 10 neighbors, .05
    assert np.abs(ratio).max() < 0.012


def test_the_current_on_a_lattice_of_the_globe_is_that_of_the_same_field_in_a_file():
    xarray = pytest.importorskip("xarray")
    lon, lat = np.arange(-10.0, 20.0, 2), np.arange(40.0, 60.0, 2)
    rng = np.random.default_rng(1)
    u, v = 0.6 * rng.uniform(-1, 1, (2, len(lat), len(lon)))
    axes = {"lat": ("lat", lat, {"units": "degrees_north"}), "lon": ("lon", lon, {"units": "degrees_east"})}
    data = xarray.Dataset(
        {"u": (("lat", "lon"), u, {"units": "m s-1"}), "v": (("lat", "lon"), v, {"units": "m s-1"})}, axes
    )
    field = finsler.embed_field(data, speed=1.0, solver="classical")
    places = np.stack(np.meshgrid(lon, lat), axis=-1).reshape(-1, 2)
    current = np.column_stack([u.ravel(), v.ravel()])
    points = embed_points(places, current=current, speed=1.0, coordinates="sphere", solver="classical")
    np.testing.assert_allclose(points.data.matrix, 3600 * field.data.matrix, rtol=1e-9)
    assert points.provenance.detour == pytest.approx(field.provenance.detour, rel=1e-6)


def test_a_lattice_all_round_the_globe_wraps_and_one_at_a_pole_is_none():
    X, _ = on_sphere(globe(np.arange(0.0, 360, 10), np.arange(-20.0, 21, 10)), None)
    assert find_lattice(X).lattice.wraps
    assert find_lattice(on_sphere(globe(np.arange(0.0, 90, 10), np.arange(50.0, 91, 10)), None)[0]) is None
    assert find_lattice(np.random.default_rng(0).normal(size=(100, 3))) is None


def crosses_land(sea, start, end):
    """Whether a straight way between two cells runs through land, by walking along it; corners do not count."""
    places = np.asarray(start) + np.linspace(0, 1, 1001)[:, None] * (np.asarray(end) - start)
    inside = (np.abs(places - np.floor(places) - 0.5) > 1e-3).all(axis=1)  # not on a line between cells
    columns, rows = np.round(places[inside]).astype(int).T
    return not sea[rows, columns].all()


def test_no_edge_crosses_land_and_no_other_is_missing():
    sea = np.random.default_rng(1).uniform(size=(14, 17)) > 0.15
    lattice = Lattice(sea, np.ones((1, 1)), np.ones((1, 1)))
    edges = lattice_edges(lattice, RandersField()).tocoo()
    rows, columns = np.nonzero(sea)
    places = np.column_stack([columns, rows])
    joined = set()
    for i, j in zip(edges.row, edges.col, strict=True):
        assert not crosses_land(sea, places[i], places[j])
        joined.add((int(i), int(j)))
    assert joined == {(j, i) for i, j in joined}
    for i, (x, y) in enumerate(places):  # where all cells around are sea, the whole stencil is there
        around = sea[y - 1 : y + 2, x - 1 : x + 2]
        if around.shape == (3, 3) and around.all():
            near = {tuple(places[j] - places[i]) for a, j in joined if a == i}
            assert {(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)} - {(0, 0)} <= near


def test_a_wall_is_walked_around_and_its_corners_are_not_cut():
    sea = np.ones((9, 9), bool)
    sea[4, :8] = False  # a strait one cell wide, at the right
    lattice = Lattice(sea, np.ones((1, 1)), np.ones((1, 1)))
    D = shortest_paths(lattice_edges(lattice, RandersField()), verbose=False)
    number = lattice.number
    assert D[number[3, 0], number[5, 0]] == pytest.approx(2 * 8 + 2, rel=0.05)
    assert D[number[3, 0], number[5, 0]] > 2 * np.hypot(7.5, 1)
    sea[4, 8] = False
    sea[3, 7] = False
    closed = lattice_edges(Lattice(sea, *np.ones((2, 1, 1))), RandersField())
    assert np.isinf(shortest_paths(closed, verbose=False)).any()


def test_land_between_the_nodes_of_a_thinned_grid_counts():
    sea = np.ones((9, 30), bool)
    sea[:, 12] = False  # a wall one cell wide, which every third column misses
    lattices = [Lattice(sea, *np.ones((2, 1, 1)), stride) for stride in (1, 3)]
    whole, thin = (shortest_paths(lattice_edges(one, RandersField()), verbose=False) for one in lattices)
    assert np.isinf(whole).any()
    nodes = np.ones((3, 10), bool)
    left = (np.arange(10) * 3 + 1 < 12)[None] & nodes
    apart = left.ravel()[:, None] != left.ravel()
    assert (np.isinf(thin) == apart).all()


def test_columns_that_wrap_around_are_neighbors():
    sea = np.ones((6, 24), bool)
    ring = Lattice(sea, *np.ones((2, 1, 1)), wraps=True)
    D = shortest_paths(lattice_edges(ring, RandersField()), verbose=False).reshape(6, 24, 6, 24)
    np.testing.assert_allclose(D[2, 0, 2], np.minimum(np.arange(24), 24 - np.arange(24)), atol=1e-9)
    np.testing.assert_allclose(D, np.roll(D, (5, 5), axis=(1, 3)), atol=1e-9)  # no column is special


def swirling(points):
    """A smooth current that varies on the scale of a few cells."""
    x, y = points.T
    return 0.5 * np.column_stack([np.sin(0.35 * y), np.cos(0.3 * x)])


def test_edges_are_measured_along_themselves():
    points = square(16)
    edges = _edges(points)
    rows, columns = edges.coords
    t = np.linspace(0, 1, 201)
    true = np.zeros(len(rows))
    for k in t:
        M, omega = zermelo_metric(swirling(points[rows] + k * (points[columns] - points[rows])))
        true += randers_norm(points[columns] - points[rows], M, omega) / len(t)
    long = np.abs(points[columns] - points[rows]).max(axis=1) > 2
    along = np.abs(edges.data / true - 1)
    M, omega = zermelo_metric(swirling(points))
    ends = sum(randers_norm(points[columns] - points[rows], M[at], omega[at]) for at in (rows, columns)) / 2
    by_ends = np.abs(ends / true - 1)
    assert 3 * along[long].mean() < by_ends[long].mean()
    assert along[long].mean() < 0.01


def _edges(points):
    found = find_lattice(points)
    field = randers_field(points, current=swirling(points)).take(found.order)
    return found.in_order_of_points(lattice_edges(found.lattice, field)).tocoo()


def test_the_order_of_the_points_does_not_matter():
    points, order = square(7), np.random.default_rng(0).permutation(49)
    one = geodesic_distances(points, current=swirling(points), verbose=False).matrix
    two = geodesic_distances(points[order], current=swirling(points)[order], verbose=False).matrix
    np.testing.assert_allclose(two, one[np.ix_(order, order)], rtol=1e-12)


def test_what_is_no_lattice_is_joined_to_ten_neighbors():
    rng = np.random.default_rng(0)
    for points in (
        rng.uniform(size=(80, 2)),
        square(9) + 0.1 * rng.uniform(size=(81, 2)),
        rng.uniform(size=(60, 3)),
    ):
        assert find_lattice(points) is None
        same = neighborhood_graph(points) != neighborhood_graph(points, n_neighbors=10)
        assert same.nnz == 0
    turned = square(9) @ np.array([[0.8, 0.6], [-0.6, 0.8]])
    assert find_lattice(turned) is None
    assert neighborhood_graph(square(9), n_neighbors=4).nnz < neighborhood_graph(square(9)).nnz


def test_gaps_that_cut_a_lattice_apart_leave_the_ten_nearest():
    points = square(10)
    cut = points[points[:, 0] != 5]
    assert (neighborhood_graph(cut) != neighborhood_graph(cut, n_neighbors=10)).nnz == 0
    hole = points[~((np.abs(points - 4.5) < 2).all(axis=1))]
    D = geodesic_distances(hole, verbose=False).matrix
    a, b = (int(np.flatnonzero((hole == place).all(axis=1))[0]) for place in ((2, 4), (7, 4)))
    assert D[a, b] > 6.4  # round the hole, not over it


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_lattice_is_found_at_any_scale(scale, dtype):
    points = ((square(25, 0.1, 0.3) + (3.7, -11.1)) * scale).astype(dtype).astype(float)
    assert find_lattice(points).lattice.present.shape == (25, 25)


def test_isomap_places_points_between_the_nodes():
    isomap = FinslerIsomap(2, alpha=0.0).fit(square(8))
    placed = isomap.transform([[3.5, 3.5]])
    assert np.linalg.norm(placed - isomap.embedding_[[27, 28, 35, 36]].mean(axis=0)) < 0.1
