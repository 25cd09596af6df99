from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from finsler.graphs.digraph import as_digraph

from helpers import slow_distance

torch = pytest.importorskip("torch")

from finsler.learn.digraph_objective import RankedStress, hop_counts  # noqa: E402


def random_graph(seed, n=14, density=0.15):
    rng = np.random.default_rng(seed)
    arcs = rng.random((n, n)) < density
    np.fill_diagonal(arcs, False)
    arcs[0, 1] = True
    return as_digraph(csr_array(arcs.astype(float)))


def problem(seed, n=14, m=3, density=0.15):
    graph = random_graph(seed, n, density)
    sources = np.flatnonzero(np.diff(graph.matrix.indptr))
    X = np.random.default_rng(seed + 100).normal(size=(n, m)) * 1.5
    return graph, sources, hop_counts(graph, sources, n_jobs=1), X


def slow_objective(graph, X, alpha, ranking_weight, temperature):
    """The formulas with loops and without any care for overflow."""
    n = len(X)
    omega = np.zeros(X.shape[1])
    omega[-1] = alpha
    arcs = graph.matrix.toarray() > 0
    D = shortest_path(graph.matrix, unweighted=True)
    errors, rankings = [], []
    for u in range(n):
        d = [slow_distance(X[u], X[v], omega) for v in range(n)]
        errors += [(d[v] - D[u, v]) ** 2 / D[u, v] for v in range(n) if v != u and np.isfinite(D[u, v])]
        if arcs[u].any():
            Z = sum(np.exp(-d[w] / temperature) for w in range(n) if w != u and not arcs[u, w])
            terms = []
            for v in np.flatnonzero(arcs[u]):
                likeness = np.exp(-d[v] / temperature)
                terms.append(-np.log(likeness / (likeness + Z)))
            rankings.append(np.mean(terms))
    return np.mean(errors) + ranking_weight * np.mean(rankings), np.mean(errors), np.mean(rankings)


def objective(counts, sources, temperature=0.4, dtype=torch.float64, n_jobs=1, block_rows=5):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("finsler.learn.digraph_objective.CPU_PAIRS", block_rows * counts.shape[1])
        return RankedStress(counts, sources, 0.3, temperature, dtype=dtype, n_jobs=n_jobs)


@pytest.fixture(params=[True, False], ids=["whole blocks", "list of pairs"])
def dense(request, monkeypatch):
    """Run with either way of keeping the hop counts."""
    monkeypatch.setattr("finsler.learn.digraph_objective.SPARSE", 0.0 if request.param else 1.0)
    return request.param


def test_value_is_that_of_the_formulas(dense):
    graph, sources, counts, X = problem(3, n=16)
    F = objective(counts, sources)
    assert F.dense is dense
    found = F(torch.from_numpy(X), 0.6)
    expected = slow_objective(graph, X, 0.6, 0.3, 0.4)
    np.testing.assert_allclose((found.value, found.distortion, found.ranking), expected, rtol=1e-9)


@pytest.mark.usefixtures("dense")
def test_gradient_is_that_of_finite_differences():
    _, sources, counts, X = problem(5, n=12)
    F = objective(counts, sources)
    alpha, step = 0.7, 1e-5
    found = F(torch.from_numpy(X), alpha)
    numeric = np.empty_like(X)
    for place in np.ndindex(X.shape):
        shifted = X.copy()
        shifted[place] += step
        up = F(torch.from_numpy(shifted), alpha).value
        shifted[place] -= 2 * step
        numeric[place] = (up - F(torch.from_numpy(shifted), alpha).value) / (2 * step)
    np.testing.assert_allclose(found.gradient.numpy(), numeric, rtol=1e-5, atol=1e-8)
    by_alpha = (F(torch.from_numpy(X), alpha + step).value - F(torch.from_numpy(X), alpha - step).value) / (
        2 * step
    )
    assert found.alpha_gradient == pytest.approx(by_alpha, rel=1e-6)


@pytest.mark.usefixtures("dense")
def test_single_precision_suffices():
    _, sources, counts, X = problem(8, n=60, m=5, density=0.05)
    X = torch.from_numpy(X * 3)
    exact = objective(counts, sources, temperature=0.1)(X, 0.95)
    quick = objective(counts, sources, temperature=0.1, dtype=torch.float32)(X, 0.95)
    assert quick.value == pytest.approx(exact.value, rel=1e-5)
    assert float((quick.gradient - exact.gradient).norm() / exact.gradient.norm()) < 1e-4


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_coincident_points_have_finite_gradients(dtype):
    _, sources, counts, X = problem(1)
    X[3] = X[7] = X[0]
    for points in (X, np.zeros_like(X)):
        found = objective(counts, sources, dtype=dtype)(torch.from_numpy(points), 0.5)
        assert np.isfinite(found.value)
        assert torch.isfinite(found.gradient).all()


def test_coincident_points_feel_only_the_drift():
    """Two nodes at one place: the norm has no direction there, and the height pulls with alpha."""
    counts = np.array([[0, 1]], dtype=np.uint8)
    found = objective(counts, np.array([0]))(torch.zeros(2, 2), 0.5)
    np.testing.assert_allclose(found.gradient.numpy(), [[0.0, 1.0], [0.0, -1.0]], atol=1e-6)


def test_a_node_linked_to_all_others_has_nothing_to_rank():
    graph = as_digraph(([0, 0, 0, 1], [1, 2, 3, 2]))
    sources = np.array([0, 1])
    X = torch.tensor([[0.0, 0.0], [1.0, 0.5], [0.3, 2.0], [2.0, 1.0]])
    found = objective(hop_counts(graph, sources, 1), sources)(X, 0.3)
    only = slow_objective(as_digraph(graph.matrix), X.double().numpy(), 0.3, 0.3, 0.4)
    assert found.ranking == pytest.approx(only[2], rel=1e-9)
    assert torch.isfinite(found.gradient).all()


def test_far_neighbors_and_near_strangers_do_not_overflow():
    counts = np.array([[0, 1, 255]], dtype=np.uint8)
    for neighbor, stranger in ((1e4, 1e-3), (1e-3, 1e4)):
        X = torch.tensor([[0.0, 0.0], [neighbor, 0.0], [-stranger, 0.0]])
        found = objective(counts, np.array([0]), temperature=0.1, dtype=torch.float32)(X, 0.0)
        assert found.ranking == pytest.approx(max(neighbor - stranger, 0) / 0.1, rel=1e-2, abs=1e-6)
        assert torch.isfinite(found.gradient).all()


def test_blocks_add_up_and_threads_change_nothing():
    _, sources, counts, X = problem(4, n=50, density=0.08)
    X = torch.from_numpy(X)
    whole = objective(counts, sources, block_rows=3, n_jobs=1)
    found = whole(X, 0.4)
    at_once = objective(counts, sources, block_rows=50, n_jobs=1)(X, 0.4)
    assert at_once.value == pytest.approx(found.value, rel=1e-12)
    np.testing.assert_allclose(at_once.gradient.numpy(), found.gradient.numpy(), atol=1e-12)
    threaded = objective(counts, sources, block_rows=3, n_jobs=3)(X, 0.4)
    assert threaded.value == found.value
    assert bool((threaded.gradient == found.gradient).all())


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6), alpha=st.floats(0, 0.99))
def test_invariance(seed, alpha):
    """A shift, a turn about the vertical and another order of the nodes change nothing."""
    graph, sources, counts, X = problem(seed % 50, n=9)
    F = objective(counts, sources)
    value = F(torch.from_numpy(X), alpha).value
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
    moved = X.copy()
    moved[:, :2] = X[:, :2] @ turn
    moved += rng.normal(size=3) * 5
    assert F(torch.from_numpy(moved), alpha).value == pytest.approx(value, rel=1e-8)
    order = rng.permutation(9)
    mixed = as_digraph(csr_array(graph.matrix.toarray()[np.ix_(order, order)]))
    few = np.flatnonzero(np.diff(mixed.matrix.indptr))
    other = objective(hop_counts(mixed, few, 1), few)(torch.from_numpy(X[order]), alpha).value
    assert other == pytest.approx(value, rel=1e-8)


@pytest.mark.usefixtures("dense")
def test_node_curvature_counts_the_terms_of_each_node():
    graph, sources, counts, _ = problem(6, n=12, density=0.12)
    D = shortest_path(graph.matrix, unweighted=True)
    np.fill_diagonal(D, np.inf)
    weights = 1 / D
    arcs = (graph.matrix.toarray() > 0) / np.maximum(graph.matrix.toarray().sum(1), 1)[:, None]
    arcs /= len(sources)
    expected = 2 * (weights.sum(0) + weights.sum(1)) / np.isfinite(D).sum() + 0.3 / 0.4 * (
        arcs.sum(0) + arcs.sum(1)
    )
    np.testing.assert_allclose(objective(counts, sources).node_curvature().numpy(), expected, rtol=1e-9)


def test_hop_counts_are_small_integers():
    graph = random_graph(9)
    sources = np.arange(14)
    D = shortest_path(graph.matrix, unweighted=True)
    counts = hop_counts(graph, sources, 1)
    assert counts.dtype == np.uint8
    np.testing.assert_array_equal(counts, np.where(np.isfinite(D), D, 255))


def test_hop_counts_of_a_long_path_need_more_room(monkeypatch):
    monkeypatch.setattr("finsler.learn.digraph_objective.COUNTS_AT_ONCE", 300 * 40)
    graph = as_digraph((np.arange(299), np.arange(1, 300)))
    counts = hop_counts(graph, np.arange(299)[::-1].copy(), 1)
    assert counts.dtype == np.int16
    rows, columns = np.arange(299)[::-1, None], np.arange(300)[None]
    np.testing.assert_array_equal(counts, np.where(columns >= rows, columns - rows, 32767))
    F = RankedStress(counts, np.arange(299)[::-1].copy(), 0.1, 0.1, n_jobs=1)
    X = np.zeros((300, 2))
    X[:, 1] = np.arange(300)
    assert F(torch.from_numpy(X), 0.0).distortion == pytest.approx(0, abs=1e-6)
