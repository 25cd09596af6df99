"""`finsler.graphs.neighbors` against plain loops, scikit-learn's Isomap, and fields whose geodesics are known."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix
from scipy.sparse.csgraph import dijkstra
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsTransformer, RadiusNeighborsTransformer

from finsler.data.fields import randers_field
from finsler.geometry.randers import randers_norm, zermelo_metric
from finsler.graphs.neighbors import (
    RandersField,
    extend_geodesics,
    geodesic_distances,
    neighborhood_graph,
    randers_edges,
)
from finsler.graphs.paths import shortest_paths
from finsler.solvers.smacof import smacof


def plane(n, seed=0, side=1.0, d=2):
    return np.random.default_rng(seed).uniform(-side, side, size=(n, d))


def two_islands(n=12):
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(size=(n, 2)), 100 + rng.normal(size=(n - 4, 2))])


def one_odd(value):
    """Vectors for 30 points, all zero but that of point 4."""
    vectors = np.zeros((30, 2))
    vectors[4, 1] = value
    return vectors


def pairs(graph):
    entries = coo_array(graph)
    return set(zip(entries.row.tolist(), entries.col.tolist(), strict=True))


# ---------------------------------------------------------------- who is joined to whom


def test_neighbors_against_loops():
    X = plane(40, d=3)
    E = np.linalg.norm(X[:, None] - X, axis=2)
    graph = neighborhood_graph(X, n_neighbors=4)
    expected = set()
    for i in range(40):
        for j in np.argsort(E[i])[1:5].tolist():
            expected |= {(i, j), (j, i)}
    assert pairs(graph) == expected
    np.testing.assert_allclose(graph.toarray(), np.where(graph.toarray() > 0, E, 0), rtol=1e-14)
    near = neighborhood_graph(X, radius=0.7)
    assert pairs(near) == {(i, j) for i in range(40) for j in range(40) if i != j and E[i, j] <= 0.7}
    assert (near != near.T).nnz == 0


@pytest.mark.parametrize("how", [{"n_neighbors": 3}, {"radius": 0.4}])
def test_points_that_coincide_stay_joined(how):
    X = np.repeat(plane(20), 2, axis=0)
    graph = neighborhood_graph(X, **how)
    assert graph.nnz == len(pairs(graph))
    assert all((2 * i, 2 * i + 1) in pairs(graph) for i in range(20))
    assert not any((i, i) in pairs(graph) for i in range(40))
    edges = randers_edges(X, graph, randers_field(X, drift=[0.3, 0.0]))
    assert pairs(edges) == pairs(graph)
    D = geodesic_distances(X, drift=[0.3, 0.0], radius=1.0).matrix
    assert D[0, 1] == D[1, 0] == 0
    # They stay joined too when a piece is cut out, and through a transformer's stored zeros.
    far = np.concatenate([X, [[50.0, 50.0], [50.0, 50.0]]])
    with pytest.warns(UserWarning, match="2 points outside the largest"):
        cut = geodesic_distances(far, drift=[0.3, 0.0], radius=1.0, unreachable="largest")
    np.testing.assert_array_equal(cut.matrix, D)
    found = neighborhood_graph(X, graph=KNeighborsTransformer(n_neighbors=3))
    assert all((2 * i, 2 * i + 1) in pairs(found) for i in range(20))


def test_graphs_from_elsewhere():
    X = plane(30)
    own = neighborhood_graph(X, n_neighbors=5)
    transformer = KNeighborsTransformer(n_neighbors=5)
    np.testing.assert_array_equal(neighborhood_graph(X, graph=transformer).toarray(), own.toarray())
    assert not hasattr(transformer, "n_features_in_")  # the one given is not fitted
    within = RadiusNeighborsTransformer(radius=0.6)
    expected = neighborhood_graph(X, radius=0.6).toarray()
    np.testing.assert_array_equal(neighborhood_graph(X, graph=within).toarray(), expected)
    # Only who is joined matters, in either direction; a stored False joins nobody.
    one_way = csr_matrix((np.array([True, False]), ([0, 4], [3, 5])), shape=(30, 30))
    assert pairs(neighborhood_graph(X, graph=one_way)) == {(0, 3), (3, 0)}
    with_loop = csr_array((np.array([7.0, 0.0]), ([2, 2], [2, 9])), shape=(30, 30))
    assert pairs(neighborhood_graph(X, graph=with_loop)) == {(2, 9), (9, 2)}


@pytest.mark.parametrize(
    ("options", "error", "match"),
    [
        ({"n_neighbors": 30}, ValueError, "n_neighbors=30 needs more points than that: n_samples = 30. Use at most 29"),
        ({"n_neighbors": 0}, ValueError, "n_neighbors must be at least 1"),
        ({"n_neighbors": 2.5}, ValueError, "n_neighbors must be a whole number"),
        ({"radius": 0.0}, ValueError, "radius must be positive"),
        ({"radius": np.nan}, ValueError, "radius must be a number"),
        ({"radius": 1.0, "graph": csr_array((30, 30))}, ValueError, "radius or graph, not both"),
        ({"graph": csr_array((30, 29))}, ValueError, r"shape \(30, 30\).*got \(30, 29\)"),
        ({"graph": np.ones((30, 30))}, TypeError, "scipy sparse matrix.*found ndarray"),
    ],
)  # fmt: skip
def test_bad_neighborhoods(options, error, match):
    with pytest.raises(error, match=match):
        neighborhood_graph(plane(30), **options)


@pytest.mark.parametrize(
    ("points", "match"),
    [
        ([1.0, 2.0], "2-D array"),
        (np.empty((0, 2)), "2-D array"),
        ([[0.0, np.nan], [1.0, 2.0]], r"NaN or infinity at point 0 \(1 of 2"),
        ([["a", "b"]], None),
    ],
)
def test_bad_points(points, match):
    with pytest.raises((ValueError, TypeError), match=match):
        geodesic_distances(points, n_neighbors=1)


# ---------------------------------------------------------------- how edges are measured


def fields(X):
    """Every way to give a field, with M and omega as they should come out."""
    n, d = X.shape
    rng = np.random.default_rng(1)
    w = rng.uniform(-0.5, 0.5, size=(n, d))
    root = rng.normal(size=(n, d, d))
    M = np.eye(d) + root @ root.transpose(0, 2, 1)
    eye = np.broadcast_to(np.eye(d), (n, d, d))
    return [
        ({}, eye, 0 * w),
        ({"drift": w}, eye, w),
        ({"drift": lambda points: 0.3 * np.sin(points)}, eye, 0.3 * np.sin(X)),
        ({"drift": w[0]}, eye, np.tile(w[0], (n, 1))),
        ({"current": w}, *zermelo_metric(w)),
        ({"current": w, "zermelo": "first-order"}, eye, -w),
        ({"current": lambda points: 0.3 * np.cos(points)}, *zermelo_metric(0.3 * np.cos(X))),
        ({"metric": (M, w)}, M, w),
        ({"metric": (M[0], w[0])}, np.broadcast_to(M[0], M.shape), np.tile(w[0], (n, 1))),
        ({"metric": (None, w)}, eye, w),
        ({"metric": (M, None)}, M, 0 * w),
        ({"metric": lambda points: (M[0], 0.3 * np.sin(points))}, np.broadcast_to(M[0], M.shape), 0.3 * np.sin(X)),
    ]  # fmt: skip


@pytest.mark.parametrize("case", range(12))
@pytest.mark.parametrize("rule", ["average", "start"])
def test_edges_against_loops(case, rule):
    X = plane(25, d=3)
    given, M, omega = fields(X)[case]
    graph = neighborhood_graph(X, n_neighbors=4)
    edges = randers_edges(X, graph, randers_field(X, **given), rule)
    assert pairs(edges) == pairs(graph)
    for i, j in pairs(graph):
        ends = [i, j] if rule == "average" else [i]
        expected = np.mean(
            [np.sqrt((X[j] - X[i]) @ M[k] @ (X[j] - X[i])) + omega[k] @ (X[j] - X[i]) for k in ends]
        )
        assert edges[i, j] == pytest.approx(expected, rel=1e-12)


def test_blocks_of_edges_change_nothing(monkeypatch):
    X = plane(60, d=3)
    graph = neighborhood_graph(X, n_neighbors=4)
    field = randers_field(X, current=0.4 * np.sin(X))
    whole = randers_edges(X, graph, field).toarray()
    monkeypatch.setattr("finsler.graphs.neighbors.BLOCK", 20)
    np.testing.assert_array_equal(randers_edges(X, graph, field).toarray(), whole)


def test_a_drift_of_nearly_one_gives_no_negative_length():
    steps = np.random.default_rng(0).normal(size=(10000, 2))
    against = -steps / np.linalg.norm(steps, axis=1, keepdims=True)
    steps, against = (part[np.einsum("ij,ij->i", against, against) < 1] for part in (steps, against))
    n = len(steps)
    assert randers_norm(steps, omega=against).min() < 0  # by rounding
    graph = csr_array((np.ones(n), (np.arange(n), n + np.arange(n))), shape=(2 * n, 2 * n))
    points, drift = np.concatenate([0 * steps, steps]), np.concatenate([against, against])
    assert randers_edges(points, graph, randers_field(points, drift=drift)).data.min() == 0


def known_answer(slope, phi, rule, n=1000, n_neighbors=15):
    """Root mean square error of distances with the drift grad phi: in all, and that which the rule alone adds.

    A path from x to y then costs its length plus ``phi(y) - phi(x)``, so straight lines are shortest.
    """
    X = plane(n)
    graph = neighborhood_graph(X, n_neighbors=n_neighbors)
    straight, height = np.linalg.norm(X[:, None] - X, axis=2), phi(X)
    exact = straight + height - height[:, None]
    entries = graph.tocoo()
    rise = height[entries.col] - height[entries.row]
    best = shortest_paths(csr_array((entries.data + rise, (entries.row, entries.col)), shape=graph.shape))
    found = shortest_paths(randers_edges(X, graph, randers_field(X, drift=slope), rule))
    far = straight > 0.3
    return tuple(float(np.sqrt(np.mean((found[far] / other[far] - 1) ** 2))) for other in (exact, best))


@pytest.mark.parametrize(
    ("slope", "phi", "worst"),
    [
        (lambda X: 0.6 * X, lambda X: 0.3 * (X**2).sum(axis=1), 1e-12),
        (lambda X: -0.6 * X, lambda X: -0.3 * (X**2).sum(axis=1), 1e-12),
        (lambda X: -0.7 * np.sin(6 * X) * [1, 0], lambda X: 0.7 / 6 * np.cos(6 * X[:, 0]), 0.01),
    ],
    ids=["bowl", "dome", "wave"],
)
def test_the_average_of_both_ends_is_the_better_rule(slope, phi, worst):
    average, average_alone = known_answer(slope, phi, "average")
    start, start_alone = known_answer(slope, phi, "start")
    print(f"average {average:.4f} ({average_alone:.4f} of the rule), start {start:.4f} ({start_alone:.4f})")
    assert average_alone <= worst  # the field of a bowl is linear, and the average of its ends exact
    assert start_alone > 0.03
    assert start_alone > 5 * average_alone
    assert average < 0.05


def test_without_an_error_that_cancels_another_start_is_worse_on_the_whole():
    """Paths zigzag, which is too long; in a bowl the start's error is negative and hides it, in a dome it adds up."""
    both = [
        np.mean([known_answer(lambda X, s=s: s * 0.6 * X, lambda X, s=s: s * 0.3 * (X**2).sum(1), rule)[0] for s in (1, -1)])
        for rule in ("average", "start")
    ]  # fmt: skip
    assert both[0] < both[1]


def test_rules_agree_in_a_constant_wind():
    X = plane(300)
    average, start = (
        geodesic_distances(X, current=[0.5, 0.2], rule=rule).matrix for rule in ("average", "start")
    )
    np.testing.assert_allclose(average, start, rtol=1e-12)


def test_the_opposite_drift_swaps_there_and_back():
    X = plane(200)
    drift = 0.5 * np.sin(3 * X)
    forth, back = (geodesic_distances(X, drift=sign * drift).matrix for sign in (1, -1))
    np.testing.assert_allclose(forth, back.T, rtol=1e-12)
    start = geodesic_distances(X, drift=drift, rule="start").matrix
    assert np.abs(start / np.where(start > 0, back.T, 1) - 1)[start > 0].max() > 1e-3  # only by the average


# ---------------------------------------------------------------- distances


def test_distances_in_a_constant_wind_converge_to_zermelo():
    """Mean error of travel times with k = 3 log N neighbors; a path is never faster than the straight line."""
    wind = np.array([0.5, 0.2])
    errors = []
    for n in (500, 2000, 8000):
        X = plane(n, side=0.5)
        edges = randers_edges(
            X, neighborhood_graph(X, n_neighbors=round(3 * np.log(n))), randers_field(X, current=wind)
        )
        sources = np.arange(20)
        times = shortest_paths(edges, sources)
        steps = X - X[sources][:, None]
        far = np.linalg.norm(steps, axis=2) > 0.2
        ratio = times[far] / randers_norm(steps, *zermelo_metric(wind))[far]
        assert ratio.min() > 1 - 1e-12
        errors.append(float(ratio.mean() - 1))
    print(f"N = 500, 2000, 8000: {np.round(errors, 4)}")
    assert errors[0] > 1.4 * errors[1] > 1.4**2 * errors[2]
    assert errors[2] < 0.01


def test_without_a_field_distances_are_those_of_isomap():
    X = plane(150, d=3)
    for zero in ({}, {"drift": np.zeros((150, 3))}, {"current": np.zeros(3)}):
        D = geodesic_distances(X, n_neighbors=7, **zero).matrix
        np.testing.assert_allclose(D, Isomap(n_neighbors=7).fit(X).dist_matrix_, rtol=1e-10, atol=1e-10)


def test_distances_are_shortest_paths_over_the_edges():
    X = plane(120)
    drift = 0.6 * np.cos(4 * X) / np.sqrt(2)
    edges = randers_edges(X, neighborhood_graph(X, n_neighbors=6), randers_field(X, drift=drift))
    data = geodesic_distances(X, drift=drift, n_neighbors=6)
    np.testing.assert_allclose(data.matrix, dijkstra(edges), rtol=1e-13)
    assert data.weights is None
    assert data.labels is None


def test_threads_dtype_and_out(tmp_path):
    X = plane(200)
    drift = 0.5 * np.sin(X)
    one = geodesic_distances(X, drift=drift, n_jobs=1).matrix
    np.testing.assert_array_equal(geodesic_distances(X, drift=drift, n_jobs=3).matrix, one)
    single = geodesic_distances(X, drift=drift, dtype=np.float32).matrix
    assert single.dtype == np.float32
    np.testing.assert_array_equal(single, one.astype(np.float32))
    room = np.empty((200, 200))
    assert geodesic_distances(X, drift=drift, out=room).matrix is room
    np.testing.assert_array_equal(room, one)
    filed = geodesic_distances(X, drift=drift, out=tmp_path / "D.npy").matrix
    np.testing.assert_array_equal(filed, one)


def test_inputs_are_not_modified():
    X, drift = plane(50), 0.3 * plane(50, seed=1)
    graph = neighborhood_graph(X)
    before = X.copy(), drift.copy(), graph.toarray()
    geodesic_distances(X, drift=drift, graph=graph)
    for now, then in zip((X, drift, graph.toarray()), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_labels():
    frame = pd.DataFrame(two_islands(), index=[f"cell {i}" for i in range(20)])
    assert geodesic_distances(frame, radius=500).labels == list(frame.index)
    with pytest.warns(UserWarning, match="left out"):
        assert geodesic_distances(frame, n_neighbors=5, unreachable="largest").labels == list(
            frame.index[:12]
        )
    drift = pd.DataFrame(np.zeros((20, 2)), index=frame.index[::-1])
    with pytest.raises(ValueError, match="drift and points carry different labels"):
        geodesic_distances(frame, drift=drift, radius=500)
    np.testing.assert_array_equal(
        geodesic_distances(frame, drift=drift[::-1], radius=500).matrix,
        geodesic_distances(frame, radius=500).matrix,
    )


def test_pieces():
    X = two_islands()[np.random.default_rng(1).permutation(20)]
    with pytest.raises(
        ValueError, match=r"20 points is in 2 pieces \(of 12, 8 points\).*n_neighbors=5.*'largest'"
    ):
        geodesic_distances(X, n_neighbors=5)
    with pytest.raises(ValueError, match="radius=9"):
        geodesic_distances(X, radius=9)
    with pytest.raises(ValueError, match="the given graph"):
        geodesic_distances(X, graph=neighborhood_graph(X, n_neighbors=5))
    with pytest.raises(ValueError, match="unreachable must be"):
        geodesic_distances(X, unreachable="repair")
    small = np.flatnonzero(X[:, 0] > 50)
    masked = geodesic_distances(X, n_neighbors=5, unreachable="mask")
    assert np.isinf(masked.matrix).sum() == (masked.weights == 0).sum() - 20 == 2 * 12 * 8
    with pytest.raises(ValueError, match="no common frame"):
        smacof(masked)
    with pytest.warns(
        UserWarning, match="2 pieces .of 12, 8 points.: 8 points outside the largest are left out"
    ):
        largest = geodesic_distances(X, n_neighbors=5, unreachable="largest")
    assert "left out" in " ".join(largest.provenance.sentences())
    assert largest.labels == np.setdiff1d(np.arange(20), small).tolist()
    np.testing.assert_array_equal(largest.matrix, masked.matrix[np.ix_(largest.labels, largest.labels)])


@pytest.mark.parametrize(
    ("given", "error", "match"),
    [
        ({"drift": np.zeros((29, 2))}, ValueError, r"drift must have shape \(30, 2\).*got shape \(29, 2\)"),
        ({"drift": np.zeros((30, 3))}, ValueError, r"drift must have shape \(30, 2\)"),
        ({"drift": lambda X: X[:5]}, ValueError, r"got shape \(5, 2\) from the function"),
        ({"drift": one_odd(np.nan)}, ValueError, r"drift is not finite at point 4 \(1 of"),
        ({"current": one_odd(np.inf)}, ValueError, "current is not finite at point 4"),
        ({"drift": [["x", "y"]] * 30}, TypeError, "drift must hold numbers"),
        ({"drift": one_odd(1.2)}, ValueError, r"1.2 at point 4 \(1 of 30.*scale it down"),
        ({"drift": [0.0, 1.0]}, ValueError, "The drift is no Randers metric"),
        ({"current": [0.0, 1.0]}, ValueError, "as strong as the boat.*units of the boat's speed"),
        ({"current": [0.0, 1.0], "zermelo": "first-order"}, ValueError, "as strong as the boat"),
        ({"drift": [0.1, 0], "current": [0.1, 0]}, ValueError, "found drift and current"),
        ({"drift": [0.1, 0], "metric": (None, None)}, ValueError, "found drift and metric"),
        ({"metric": np.eye(2)[0]}, ValueError, r"pair \(M, omega\) or give one, got ndarray"),
        ({"metric": (np.eye(3), None)}, ValueError, r"M of metric must have shape \(30, 2, 2\)"),
        ({"metric": (np.full((2, 2), np.nan), None)}, ValueError, "M of metric is not finite at point 0"),
        ({"metric": (-np.eye(2), None)}, ValueError, "positive definite.*correct M"),
        ({"metric": (0.25 * np.eye(2), [0.6, 0])}, ValueError, "1.2 at point 0.*omega down"),
        ({"zermelo": "second-order"}, ValueError, "zermelo must be"),
        ({"rule": "end"}, ValueError, "rule must be 'average' or 'start', got 'end'"),
    ],
)  # fmt: skip
def test_bad_fields(given, error, match):
    with pytest.raises(error, match=match):
        geodesic_distances(plane(30), **given)


def test_metrics_that_do_not_fit_in_memory_are_refused(monkeypatch):
    monkeypatch.setattr("finsler._memory.NEGLIGIBLE", 0)
    monkeypatch.setattr("finsler._memory.available_memory", lambda: 1000)
    with pytest.raises(MemoryError, match="Reduce the dimension"):
        randers_field(plane(30), current=np.zeros((30, 2)))


# ---------------------------------------------------------------- new points


@pytest.mark.parametrize("rule", ["average", "start"])
@pytest.mark.parametrize("known", [True, False])
def test_new_points_against_loops(rule, known):
    X, new = plane(60), plane(5, seed=1)
    drift, there = 0.5 * np.sin(3 * X), 0.5 * np.sin(3 * new)
    D = geodesic_distances(X, drift=drift, rule=rule).matrix
    field = randers_field(X, drift=drift)
    new_field = randers_field(new, drift=there) if known else None
    to, back = extend_geodesics(new, X, D, D.T, field, new_field, n_neighbors=4, rule=rule)
    for q in range(5):
        near = np.argsort(np.linalg.norm(X - new[q], axis=1))[:4]
        own = there[q] if known else drift[near[0]]

        def length(step, start, end):
            omega = (start + end) / 2 if rule == "average" else start
            return np.linalg.norm(step) + omega @ step

        for j in range(60):
            out = [length(X[a] - new[q], own, drift[a]) + D[a, j] for a in near]
            home = [D[j, a] + length(new[q] - X[a], drift[a], own) for a in near]
            assert to[q, j] == pytest.approx(min(out), rel=1e-12)
            assert back[q, j] == pytest.approx(min(home), rel=1e-12)


def test_fitted_points_as_new_ones_have_the_fitted_distances():
    X = plane(80)
    drift = 0.5 * np.sin(3 * X)
    D = geodesic_distances(X, drift=drift).matrix
    to, back = extend_geodesics(X, X, D, D.T, randers_field(X, drift=drift))
    np.testing.assert_allclose(to, D, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(back, D.T, rtol=1e-12, atol=1e-14)


def test_a_new_point_far_from_all_is_refused():
    X = plane(30)
    D = geodesic_distances(X).matrix
    with pytest.raises(ValueError, match=r"Point 1 of X has no fitted point near it \(1 of 2"):
        extend_geodesics([[0.0, 0.0], [9.0, 9.0]], X, D, D.T, RandersField(), radius=0.5)
