"""Components against a plain search over all pairs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from finsler.geometry.components import (
    graph_components,
    largest_component,
    linked_components,
    matrix_components,
    pair_components,
    reached,
)


def by_hand(links, strong=False):
    """Components of a boolean matrix, by its reflexive and transitive closure."""
    n = len(links)
    reach = np.eye(n, dtype=bool) | links
    if not strong:
        reach |= reach.T
    for k in range(n):
        reach |= reach[:, k : k + 1] & reach[k]
    same = reach & reach.T
    firsts = same.argmax(axis=1)
    return np.searchsorted(np.unique(firsts), firsts)


@st.composite
def links(draw):
    n = draw(st.integers(1, 9))
    density = draw(st.sampled_from([0.05, 0.15, 0.4]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return rng.uniform(size=(n, n)) < density


@given(links())
@settings(max_examples=60)
def test_all_ways_agree_with_a_plain_search(joined):
    n = len(joined)
    rows, columns = np.nonzero(joined)
    graph = coo_array((np.zeros(len(rows)), (rows, columns)), shape=(n, n))  # a stored zero is an arc
    weak = by_hand(joined)
    np.testing.assert_array_equal(graph_components(graph), weak)
    np.testing.assert_array_equal(graph_components(csr_array(graph), "strong"), by_hand(joined, strong=True))
    np.testing.assert_array_equal(matrix_components(joined * 1e-300), weak)  # no weight is too small
    parts = [(rows[k::3], columns[k::3]) for k in range(3)]
    np.testing.assert_array_equal(pair_components(n, parts), weak)
    both = joined & joined.T
    np.testing.assert_array_equal(linked_components(n, lambda i, others: both[i, others]), by_hand(both))


def test_the_search_stops_when_everyone_is_found():
    asked = []

    def linked(i, others):
        asked.append(i)
        return np.ones(len(others), bool)

    assert linked_components(1000, linked).max() == 0
    assert asked == [0]
    assert reached(5, np.array([2, 7]), lambda i, others: others == 7) == [5, 7]


def test_the_largest_component_is_the_first_of_its_size():
    assert largest_component(np.array([0, 1, 1, 2, 2])).tolist() == [1, 2]
    assert largest_component(graph_components(csr_array((3, 3)))).tolist() == [0]


def test_a_nan_is_no_weight():
    with np.errstate(invalid="raise"):
        assert matrix_components(np.full((2, 2), np.nan)).tolist() == [0, 1]


@pytest.mark.parametrize("n", [0, 1])
def test_few_points(n):
    assert matrix_components(np.zeros((n, n))).tolist() == list(range(n))
    assert pair_components(n, []).tolist() == list(range(n))
