"""Distortion, mean average precision and the symmetric floor, against loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from finsler.graphs import scores as digraph
from finsler.graphs.digraph import as_digraph
from finsler.graphs.paths import shortest_paths
from finsler.graphs.scores import digraph_scores, symmetric_floor
from finsler.kernels.digraphs import distortions

from helpers import real_file, slow_distance


def random_map(seed, n=14, m=3, ties=False):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 2, size=(n, m)).astype(float) if ties else rng.normal(size=(n, m))
    arcs = np.argwhere(rng.random((n, n)) < 0.2)
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    omega = rng.normal(size=m)
    return X, 0.7 * omega / np.linalg.norm(omega), arcs


def slow_hops(arcs, n):
    D = np.full((n, n), np.inf)
    np.fill_diagonal(D, 0)
    for i, j in arcs:
        D[i, j] = 1
    for k in range(n):
        D = np.minimum(D, D[:, k, None] + D[None, k, :])
    return D


def slow_distortion(X, omega, D, rows=None):
    squares, relatives = [], []
    for row, i in enumerate(range(len(X)) if rows is None else rows):
        for j in range(len(X)):
            if i != j and np.isfinite(D[row, j]):
                d = slow_distance(X[i], X[j], omega)
                squares.append((d - D[row, j]) ** 2 / D[row, j])
                relatives.append(abs(d - D[row, j]) / D[row, j])
    return np.mean(squares), np.mean(relatives), len(squares)


def slow_map(X, omega, arcs, D=None):
    """Sort all other nodes, or those at a finite D, neighbors last among equals; average the precision at neighbors."""
    precisions = []
    for u in range(len(X)):
        neighbors = {j for i, j in arcs if i == u}
        if not neighbors:
            continue
        # the rounding makes points that coincide tie, whatever the order of the sums
        order = sorted(
            (round(slow_distance(X[u], X[v], omega), 12), v in neighbors)
            for v in range(len(X))
            if v != u and (D is None or np.isfinite(D[u, v]))
        )
        hits, total = 0, 0.0
        for place, (_, is_neighbor) in enumerate(order, start=1):
            if is_neighbor:
                hits += 1
                total += hits / place
        precisions.append(total / hits)
    return np.mean(precisions)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_loops(seed, ties):
    X, omega, arcs = random_map(seed, ties=ties)
    found = digraph_scores(X, omega, arcs)
    D = slow_hops(arcs, len(X))
    B, C, count = slow_distortion(X, omega, D)
    assert found.n_pairs == count
    np.testing.assert_allclose([found.B, found.C], [B, C], rtol=1e-12)
    np.testing.assert_allclose(found.MAP, slow_map(X, omega, arcs), rtol=1e-12)
    np.testing.assert_allclose(found.MAP_reachable, slow_map(X, omega, arcs, D), rtol=1e-12)


def test_nodes_out_of_reach_count_among_all_only():
    """Node 3 lies between 0 and its neighbor, and no path leads there."""
    X = np.array([[0.0], [2.0], [3.0], [1.0]])
    scores = digraph_scores(X, 0.0, np.array([[0, 1], [1, 2]]))
    assert scores.MAP == (1 / 2 + 1 / 2) / 2  # from node 1, node 3 is as near as its neighbor
    assert scores.MAP_reachable == 1.0


def test_unknown_distances_do_not_count():
    X, omega, arcs = random_map(4)
    D = slow_hops(arcs, len(X))
    D[2, 5] = np.nan
    squared, relative, counted = np.empty((3, len(X)))
    distortions(X, X @ omega, np.arange(len(X)), D, squared, relative, counted)
    B, C, count = slow_distortion(X, omega, D)
    assert counted.sum() == count
    np.testing.assert_allclose([squared.sum() / count, relative.sum() / count], [B, C], rtol=1e-12)


def test_ties_are_pessimistic():
    """Of 5 nodes in one point each neighbor comes after the three others: 1/4, and 2 in 4 for the second of two."""
    arcs = np.array([[0, 1]])
    assert digraph_scores(np.zeros((5, 2)), 0.3, arcs).MAP == 1 / 4
    arcs = np.array([[0, 1], [0, 2]])
    assert digraph_scores(np.zeros((5, 2)), 0.3, arcs).MAP == (1 / 3 + 2 / 4) / 2


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.booleans())
def test_map_of_any_small_graph(seed, ties):
    X, omega, arcs = random_map(seed, n=7, m=2, ties=ties)
    if len(arcs):
        D = slow_hops(arcs, len(X))
        found = digraph_scores(X, omega, arcs)
        expected = slow_map(X, omega, arcs), slow_map(X, omega, arcs, D)
        np.testing.assert_allclose((found.MAP, found.MAP_reachable), expected, rtol=1e-12)


def test_direction_of_drift_and_arcs_matters():
    """A chain that goes down is ranked perfectly where down is near, and the reversed arcs are not."""
    X = -np.arange(6.0)[:, None]
    arcs = np.column_stack([np.arange(5), np.arange(1, 6)])
    assert digraph_scores(X, 0.5, arcs).MAP == 1.0
    assert digraph_scores(X, 0.5, arcs[:, ::-1]).MAP < 0.9


def test_all_scores_at_once_without_a_square_matrix(monkeypatch):
    X, omega, arcs = random_map(1, n=30)
    whole = digraph_scores(X, omega, arcs)
    monkeypatch.setattr(digraph, "BLOCK_SIZE", 100)  # three sources at a time
    scores = digraph_scores(X, omega, arcs)
    np.testing.assert_allclose([scores.B, scores.C, scores.MAP], [whole.B, whole.C, whole.MAP], rtol=1e-12)
    assert scores.n_pairs == whole.n_pairs
    assert scores.n_sources == len(np.unique(arcs[:, 0]))
    assert scores.B_error == scores.C_error == scores.MAP_error == 0


def test_results_do_not_depend_on_threads_and_graph_kind():
    X, omega, arcs = random_map(2, n=40)
    arcs = np.concatenate([arcs, [[39, 0], [0, 39]]])  # every node number occurs
    one = digraph_scores(X, omega, arcs, n_jobs=1)
    assert one == digraph_scores(X, omega, arcs, n_jobs=3)
    assert one == digraph_scores(
        X, omega, as_digraph((arcs[:, 0], arcs[:, 1]), labels=range(40), duplicates="min")
    )


def test_sampled_scores_and_their_errors():
    """Over many samples the estimates scatter around the full scores as much as the errors say."""
    X, omega, arcs = random_map(3, n=120)
    full = digraph_scores(X, omega, arcs, n_jobs=1)
    samples = [
        digraph_scores(X, omega, arcs, n_sources=40, random_state=seed, n_jobs=1) for seed in range(60)
    ]
    assert samples[0] != samples[1]
    assert samples[0] == digraph_scores(X, omega, arcs, n_sources=40, random_state=0, n_jobs=1)
    for name in ("B", "C", "MAP"):
        estimates = np.array([getattr(s, name) for s in samples])
        errors = np.array([getattr(s, name + "_error") for s in samples])
        assert abs(estimates.mean() - getattr(full, name)) < 4 * estimates.std() / np.sqrt(60)
        assert 0.7 < estimates.std() / errors.mean() < 1.4
    everything = digraph_scores(X, omega, arcs, n_sources=10_000)
    assert everything == full


def test_floor_is_the_best_of_any_symmetric_matrix():
    rng = np.random.default_rng(5)
    D = rng.integers(1, 6, size=(6, 6)).astype(float)
    D[0, 1] = D[3, 4] = D[4, 3] = np.inf
    np.fill_diagonal(D, 0)
    total = count = 0.0
    for i in range(6):
        for j in range(i):
            ways = [D[i, j], D[j, i]]
            count += np.isfinite(ways).sum()
            if np.isfinite(ways).all():
                total += minimize_scalar(lambda d, w=ways: sum((d - x) ** 2 / x for x in w)).fun
    np.testing.assert_allclose(symmetric_floor(D), total / count, rtol=1e-8)


def test_no_euclidean_map_beats_the_floor(monkeypatch):
    X, _, arcs = random_map(8, n=25)
    D = slow_hops(arcs, 25)
    whole = symmetric_floor(D)
    assert 0 < whole < digraph_scores(X * 2, 0.0, arcs).B
    monkeypatch.setattr(digraph, "BLOCK_SIZE", 60)  # two rows at a time
    np.testing.assert_allclose(symmetric_floor(D), whole, rtol=1e-13)


def test_floor_of_chameleon():
    with np.load(real_file("graphs/chameleon.npz")) as stored:
        graph = as_digraph(
            (stored["src"][stored["src"] != stored["dst"]], stored["dst"][stored["src"] != stored["dst"]])
        )
    assert symmetric_floor(shortest_paths(graph.matrix)) == pytest.approx(0.098, abs=5e-4)


class TestErrors:
    X = np.zeros((3, 2))

    def test_shapes(self):
        with pytest.raises(ValueError, match="D must be square"):
            symmetric_floor(np.ones((2, 3)))
        with pytest.raises(ValueError, match="one point per row"):
            digraph_scores(np.zeros(3), 0.1, np.array([[0, 1]]))

    def test_nothing_to_average(self):
        with pytest.raises(ValueError, match="no reachable pair"):
            symmetric_floor(np.where(np.eye(3) > 0, 0, np.inf))

    def test_zero_distances(self):
        D = np.ones((3, 3))
        D[1, 2] = 0
        with pytest.raises(ValueError, match="row 1, column 2 is 0"):
            symmetric_floor(D)

    def test_bad_maps(self):
        with pytest.raises(ValueError, match="row 1 is not"):
            digraph_scores([[0.0, 1], [np.nan, 0], [0, 0]], 0.1, np.array([[0, 1]]))
        with pytest.raises(ValueError, match="norm"):
            digraph_scores(self.X, 1.0, np.array([[0, 1]]))
        with pytest.raises(ValueError, match="X has 3 rows and the graph has 2 nodes"):
            digraph_scores(self.X, 0.1, [("a", "b")])
        with pytest.raises(ValueError, match=r"arcs must join nodes 0\.\.2; arc 1 joins \[0, 3\]"):
            digraph_scores(self.X, 0.1, np.array([[0, 1], [0, 3]]))
        with pytest.raises(ValueError, match="n_sources"):
            digraph_scores(self.X, 0.1, np.array([[0, 1]]), n_sources=0)
