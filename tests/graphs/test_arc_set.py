"""Lists of arcs, and sets of them."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finsler.graphs.arc_set import ArcSet, arc_keys, arcs_of_keys, check_arcs, simple_arcs


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
    stored, queries = (arcs_of_keys(np.array(keys, dtype=np.int64), 10) for keys in (present, asked))
    assert ArcSet(stored, 10).contains(queries).tolist() == [key in set(present) for key in asked]
    np.testing.assert_array_equal(arc_keys(queries, 10), asked)


def test_bad_arcs():
    with pytest.raises(ValueError, match="non-empty"):
        simple_arcs(np.empty((0, 2), dtype=int))
    with pytest.raises(ValueError, match="dtype float64"):
        check_arcs([[0.0, 1.0]], 3)
    with pytest.raises(ValueError, match="no arcs between different nodes"):
        simple_arcs(np.array([[1, 1]]))
    with pytest.raises(ValueError, match=r"arc 1 joins \[0, -1\] \(1 of 2"):
        simple_arcs(np.array([[0, 1], [0, -1]]))
    with pytest.raises(ValueError, match="n_nodes=5, but the graph has 2 nodes"):
        simple_arcs(nx.DiGraph([(0, 1)]), 5)
