import numpy as np
import pytest
from scipy.sparse.csgraph import dijkstra

from finsler.datasets import make_city
from finsler.geometry.asymmetry import asymmetry_report
from finsler.geometry.heights import gradient_heights
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import normalized_stress
from finsler.graphs.digraph import as_digraph
from finsler.graphs.distances import graph_distances
from finsler.graphs.sampled import (
    Estimate,
    fitted_heights,
    sample_rows,
    sampled_asymmetry,
    sampled_scores,
)


@pytest.fixture(scope="module")
def town():
    graph = as_digraph(make_city(300, slope=0.2).graph)
    X = np.random.default_rng(0).normal(size=(graph.n_nodes, 2)) * 5
    return graph, graph_distances(graph), X, np.array([0.0, 0.3])


@pytest.mark.parametrize("weighting", ["uniform", "inverse", "inverse-square"])
def test_with_all_rows_the_numbers_are_the_dense_ones(town, weighting):
    graph, _, X, drift = town
    data = graph_distances(graph, weighting=weighting)
    scores = sampled_scores(X, drift, sample_rows(graph, graph.n_nodes), weighting=weighting)
    assert scores.normalized_stress.value == pytest.approx(
        normalized_stress(X, data.matrix, data.weights, drift=drift), rel=1e-5
    )
    assert scores.normalized_stress.error == 0  # nothing is left to chance
    report = asymmetry_report(data.matrix)
    assert scores.asymmetry.asymmetry.value == pytest.approx(report.asymmetry, rel=1e-5)
    assert scores.asymmetry.gradient_share.value == pytest.approx(report.gradient_share, rel=1e-4)
    assert scores.asymmetry.reachable.value == 1
    assert scores.asymmetry.one_way.value == 0


def test_sign_and_explained_share_against_loops(town):
    graph, data, X, drift = town
    D, d = data.matrix, randers_distances(X, drift=drift)
    A, a = (D - D.T) / 2, (d - d.T) / 2
    unequal = np.abs(A) > 1e-6 * D
    scores = sampled_scores(X, drift, sample_rows(graph, graph.n_nodes))
    assert scores.sign_accuracy.value == pytest.approx((np.sign(A) == np.sign(a))[unequal].mean(), rel=1e-6)
    assert scores.explained.value == pytest.approx(1 - ((A - a) ** 2).sum() / (A**2).sum(), rel=1e-4)


def test_one_way_pairs_count_as_in_the_report():
    graph = as_digraph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (5, 0)])
    D = dijkstra(graph.matrix)
    report = asymmetry_report(D)
    found = sampled_asymmetry(sample_rows(graph, 6))
    assert found.one_way.value == pytest.approx(report.one_way / 15)
    assert found.reachable.value == pytest.approx(report.n_pairs / 30)
    assert found.asymmetry.value == pytest.approx(report.asymmetry, rel=1e-6)
    assert found.gradient_share.value == pytest.approx(report.gradient_share, abs=1e-5)


def test_heights_of_all_rows_are_those_of_hodge_rank():
    D = np.random.default_rng(0).uniform(1, 2, size=(12, 12))
    D[0, 5] = D[7, 3] = np.nan
    np.fill_diagonal(D, np.nan)
    h, g = fitted_heights((D - D.T) / 2)
    np.fill_diagonal(D, 0)
    expected = gradient_heights(D)
    np.testing.assert_allclose(h - h.mean(), expected - expected.mean(), atol=1e-5)
    np.testing.assert_allclose(g - g.mean(), h - h.mean(), atol=1e-5)


def test_error_bars_cover_the_truth(town):
    graph, data, X, drift = town
    truth = normalized_stress(X, data.matrix, drift=drift)
    inside = 0
    for seed in range(40):
        found = sampled_scores(X, drift, sample_rows(graph, 25, random_state=seed)).normalized_stress
        inside += abs(found.value - truth) <= 2 * found.error
    assert inside >= 32  # about 38 of 40 are expected


def test_gradient_share_of_other_rows_is_close_to_the_dense_one():
    graph = as_digraph(make_city(900, slope=0.3).graph)
    dense = asymmetry_report(graph_distances(graph).matrix).gradient_share
    found = sampled_asymmetry(sample_rows(graph, 40, random_state=1)).gradient_share
    assert found.value == pytest.approx(dense, abs=max(0.03, 3 * found.error))


def test_a_perfect_map_has_no_error_and_a_symmetric_graph_says_so():
    path = as_digraph(([0, 1, 1, 2], [1, 0, 2, 1]))
    scores = sampled_scores(np.array([[0.0], [1.0], [2.0]]), np.zeros(1), sample_rows(path, 3))
    assert scores.normalized_stress == Estimate(0.0, 0.0)
    assert np.isnan(scores.sign_accuracy.value)
    assert "symmetric" in scores.asymmetry.verdict
    assert "0 ± 0" in str(scores)
    assert scores.to_dict()["normalized_stress"] == {"value": 0.0, "error": 0.0}


def test_rows_leave_out_pivots_and_refuse_nonsense(town):
    graph = town[0]
    some = sample_rows(graph, 20, exclude=np.arange(100))
    assert some.sources.min() >= 100
    with pytest.raises(ValueError, match="every node is excluded"):
        sample_rows(graph, 5, exclude=np.arange(graph.n_nodes))
    with pytest.raises(ValueError, match="n_sources must be at least 1"):
        sample_rows(graph, 0)
    with pytest.raises(ValueError, match="X must have the shape"):
        sampled_scores(np.zeros((3, 2)), np.zeros(2), some)
    with pytest.raises(ValueError, match="weighting must be one of"):
        sampled_scores(town[2], town[3], some, weighting="cubic")


def test_a_graph_without_ways_back():
    found = sampled_asymmetry(sample_rows(as_digraph([(0, 1), (1, 2)]), 3))
    assert "nothing tells" in found.verdict
    assert found.one_way.value == 1
