"""The stress of all pairs by whole rows: against a loop over pairs, finite differences, and the list of reachable pairs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from finsler.graphs.digraph import as_digraph
from finsler.graphs.paths import shortest_paths

torch = pytest.importorskip("torch")

from finsler.kernels import digraphs as kernels  # noqa: E402
from finsler.learn.digraph import DigraphEmbedding  # noqa: E402
from finsler.learn.digraph_objective import hop_counts  # noqa: E402
from finsler.learn.digraph_sampled import SampledRankedStress  # noqa: E402
from finsler.learn.digraph_stress import DenseStress  # noqa: E402

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def web(n=40, arcs=110, seed=0):
    """Random arcs: much can be reached, not everything, and some nodes have no arc out."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(n, size=(arcs, 2))
    ends = np.unique(ends[(ends[:, 0] != ends[:, 1]) & (ends[:, 0] >= 3)], axis=0)
    return as_digraph(csr_array((np.ones(len(ends)), tuple(ends.T)), shape=(n, n)))


def sources_of(graph):
    return np.flatnonzero(np.diff(graph.matrix.indptr))


def dense(graph, **options):
    sources = sources_of(graph)
    options = {"n_jobs": 1, "dtype": np.float64, **options}
    return DenseStress(hop_counts(graph, sources, 1), sources, **options)


def some_map(graph, m=3, seed=1):
    return torch.from_numpy(2 * np.random.default_rng(seed).normal(size=(graph.n_nodes, m)))


def by_loop(graph, X, alpha):
    D = shortest_paths(graph.matrix, method="bfs", verbose=False)
    terms = []
    for i in range(len(X)):
        for j in range(len(X)):
            if i != j and np.isfinite(D[i, j]):
                d = np.linalg.norm(X[j] - X[i]) + alpha * (X[j, -1] - X[i, -1])
                terms.append((d - D[i, j]) ** 2 / D[i, j])
    assert len(X) < len(terms) < len(X) ** 2 - len(X)
    return np.mean(terms)


def test_value_against_a_loop_and_gradients_against_finite_differences():
    graph = web()
    F, X, step = dense(graph), some_map(graph), 1e-5
    found = F(X, 0.6)
    assert found.value == found.distortion == pytest.approx(by_loop(graph, X.numpy(), 0.6), rel=1e-12)
    assert found.ranking == 0
    for i in range(0, graph.n_nodes, 3):
        for k in range(3):
            there = torch.zeros_like(X)
            there[i, k] = step
            slope = (F(X + there, 0.6).value - F(X - there, 0.6).value) / (2 * step)
            assert float(found.gradient[i, k]) == pytest.approx(slope, rel=1e-6, abs=1e-9)
    slope = (F(X, 0.6 + step).value - F(X, 0.6 - step).value) / (2 * step)
    assert found.alpha_gradient == pytest.approx(slope, rel=1e-7)


@pytest.mark.parametrize("m", [1, 2, 9])
@pytest.mark.parametrize("n", [40, kernels.NODES_AT_ONCE + 16])  # the last block of nodes is not full
def test_rows_and_a_list_of_all_pairs_agree(m, n):
    graph = web(n, 3 * n, seed=m)
    X, sources = some_map(graph, m), sources_of(graph)
    rows = dense(graph)
    pairs = SampledRankedStress(graph, sources, 0.0, 0.1, n_pairs=n, dtype=np.float64, n_jobs=1)
    found, expected = rows(X, 0.7), pairs(X, 0.7)
    assert found.value == pytest.approx(expected.value, rel=1e-10)
    assert found.alpha_gradient == pytest.approx(expected.alpha_gradient, rel=1e-8)
    scale = float(expected.gradient.abs().max())
    np.testing.assert_allclose(found.gradient.numpy(), expected.gradient.numpy(), atol=1e-10 * scale)
    np.testing.assert_allclose(rows.node_curvature().numpy(), pairs.node_curvature().numpy(), rtol=1e-10)
    assert rows.renew(X, 0.7) is False


def test_single_precision_is_near_enough():
    graph = web(300, 900)
    X = some_map(graph)
    ours, exact = dense(graph, dtype=np.float32)(X, 0.999), dense(graph)(X, 0.999)
    assert ours.value == pytest.approx(exact.value, rel=1e-6)
    scale = float(exact.gradient.abs().max())
    np.testing.assert_allclose(ours.gradient.numpy(), exact.gradient.numpy(), atol=1e-5 * scale)


def test_hop_counts_beyond_a_byte():
    n = 300
    path = as_digraph([(k, k + 1) for k in range(n - 1)])
    X = some_map(path)
    assert dense(path)(X, 0.5).value == pytest.approx(by_loop(path, X.numpy(), 0.5), rel=1e-12)


@quiet
def test_threads_do_not_change_the_map_and_the_estimator_chooses_rows(monkeypatch):
    used = []
    original = DenseStress.__call__
    monkeypatch.setattr(DenseStress, "__call__", lambda self, *a: used.append(1) or original(self, *a))
    graph = web(120, 400)
    options = {"ranking_weight": 0, "max_iter": 60, "random_state": 0, "verbose": False}
    one, two = (DigraphEmbedding(3, n_jobs=jobs, **options).fit(graph) for jobs in (1, 2))
    assert used
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    assert one.objective_ == pytest.approx(one.scores().B, rel=1e-9)


@quiet
def test_where_little_can_be_reached_a_list_is_kept(monkeypatch):
    monkeypatch.setattr(DenseStress, "__init__", None)
    star = [(0, k) for k in range(1, 30)] + [(k, k + 1) for k in range(30, 60, 2)]
    fitted = DigraphEmbedding(2, ranking_weight=0, max_iter=40, random_state=0, verbose=False).fit(star)
    assert fitted.objective_ == pytest.approx(fitted.scores().B, rel=1e-9)
