"""Area under the ROC curve, and lists of arcs."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from finsler.graphs.arc_keys import among_keys, arc_keys, keyed_arcs, simple_arcs
from finsler.learn.scores import roc_auc


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40))
def test_auc_is_that_of_scikit_learn(examples):
    labels, scores = map(np.array, zip(*examples, strict=True))
    if labels.all() or not labels.any():
        assert np.isnan(roc_auc(labels, scores))
    else:
        assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_auc_counts_pairs_in_order():
    rng = np.random.default_rng(0)
    labels, scores = rng.random(50) < 0.4, rng.integers(0, 9, 50) * 1.0
    wins = [(p > q) + 0.5 * (p == q) for p in scores[labels] for q in scores[~labels]]
    assert roc_auc(labels, scores) == pytest.approx(np.mean(wins))
    assert roc_auc([True, False], [np.inf, -np.inf]) == 1


def test_auc_refuses_what_it_cannot_rank():
    with pytest.raises(ValueError, match="entry 1 is NaN"):
        roc_auc([True, False], [0.0, np.nan])
    with pytest.raises(ValueError, match=r"found shapes \(2,\), \(3,\)"):
        roc_auc([True, False], [0.0, 1.0, 2.0])


def test_arcs_of_graphs_and_arrays():
    graph = nx.DiGraph([("a", "b"), ("c", "a")])
    arcs, n = simple_arcs(graph)
    assert arcs.tolist() == [[0, 1], [2, 0]]
    assert n == 3
    arcs, n = simple_arcs(np.array([[4, 4], [1, 0], [1, 0]], dtype=np.int32), 7)
    assert arcs.tolist() == [[1, 0]]
    assert n == 7


@given(st.lists(st.integers(0, 99), max_size=30), st.lists(st.integers(0, 99), max_size=30))
def test_keys_find_their_arcs(present, asked):
    stored = np.unique(np.array(present, dtype=np.int64))
    queries = np.array(asked, dtype=np.int64)
    assert among_keys(stored, queries).tolist() == [key in set(present) for key in asked]
    np.testing.assert_array_equal(arc_keys(keyed_arcs(queries, 10), 10), queries)


def test_bad_arcs():
    with pytest.raises(ValueError, match="no arcs"):
        simple_arcs(np.empty((0, 2), dtype=int))
    with pytest.raises(ValueError, match="no arcs between different nodes"):
        simple_arcs(np.array([[1, 1]]))
    with pytest.raises(ValueError, match=r"arc 1 joins \[0, -1\] \(1 of 2"):
        simple_arcs(np.array([[0, 1], [0, -1]]))
    with pytest.raises(ValueError, match="n_nodes=5, but the graph has 2 nodes"):
        simple_arcs(nx.DiGraph([(0, 1)]), 5)
