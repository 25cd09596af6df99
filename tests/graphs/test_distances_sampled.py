import numpy as np
import pytest

from finsler.datasets import make_city
from finsler.geometry.asymmetry import asymmetry_shown
from finsler.geometry.pairs import Estimate
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import normalized_stress
from finsler.graphs.digraph import as_digraph
from finsler.graphs.distances import graph_distances, sample_rows, sampled_scores


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


def test_sign_and_share_shown_against_loops(town):
    graph, data, X, drift = town
    D, d = data.matrix, randers_distances(X, drift=drift)
    A, a = (D - D.T) / 2, (d - d.T) / 2
    unequal = np.abs(A) > 1e-6 * D
    scores = sampled_scores(X, drift, sample_rows(graph, graph.n_nodes))
    assert scores.sign_accuracy.value == pytest.approx((np.sign(A) == np.sign(a))[unequal].mean(), rel=1e-6)
    shown = scores.asymmetry_shown
    assert shown.share == pytest.approx(1 - ((A - a) ** 2).sum() / (A**2).sum(), rel=1e-4)
    assert shown.available == pytest.approx(asymmetry_shown(D, None, X @ drift).available, rel=1e-4)
    assert (shown.error, shown.n_rows) == (0, None)


def test_error_bars_cover_the_truth(town):
    graph, data, X, drift = town
    truth = normalized_stress(X, data.matrix, drift=drift)
    inside = 0
    for seed in range(40):
        found = sampled_scores(X, drift, sample_rows(graph, 25, random_state=seed)).normalized_stress
        inside += abs(found.value - truth) <= 2 * found.error
    assert inside >= 32  # about 38 of 40 are expected


def test_a_perfect_map_has_no_error_and_a_symmetric_graph_says_so():
    path = as_digraph(([0, 1, 1, 2], [1, 0, 2, 1]))
    scores = sampled_scores(np.array([[0.0], [1.0], [2.0]]), np.zeros(1), sample_rows(path, 3))
    assert scores.normalized_stress == Estimate(0.0, 0.0)
    assert scores.sign_accuracy.value is None
    assert scores.asymmetry_shown.share is None
    assert "symmetric" in str(scores)
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
    with pytest.raises(ValueError, match="X must have shape"):
        sampled_scores(np.zeros((3, 2)), np.zeros(2), some)
    with pytest.raises(ValueError, match="weighting"):
        sampled_scores(town[2], town[3], some, weighting="cubic")


def test_a_graph_without_ways_back():
    scores = sampled_scores(
        np.arange(3.0)[:, None], np.zeros(1), sample_rows(as_digraph([(0, 1), (1, 2)]), 3)
    )
    assert scores.asymmetry_shown.share is None
    assert scores.normalized_stress.value == 0
