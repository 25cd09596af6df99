"""Who can be reached from whom, against a search from every node."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from finsler.graphs.reach import Reach


def reached_from(arcs, n, start):
    """Nodes that a walk along the arcs comes to, by a plain search."""
    seen, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        for i, j in arcs.tolist():
            if i == node and j not in seen:
                seen.add(j)
                waiting.append(j)
    return seen


def all_pairs(n):
    return np.argwhere(np.ones((n, n), dtype=bool))


@given(st.integers(1, 25), st.integers(0, 60), st.integers(0, 10**6))
def test_pairs_and_counts_are_those_of_a_search(n, count, seed):
    arcs = np.random.default_rng(seed).integers(n, size=(count, 2))
    reach = Reach(arcs, n)
    expected = np.zeros((n, n), dtype=bool)
    for start in range(n):
        expected[start, list(reached_from(arcs, n, start))] = True
    assert np.array_equal(reach.contains(all_pairs(n)).reshape(n, n), expected)
    assert np.array_equal(reach.ahead, expected.sum(axis=1) - 1)
    assert np.array_equal(reach.behind, expected.sum(axis=0) - 1)


@pytest.mark.parametrize("n", [63, 64, 65, 200])
def test_words_of_bits_end_where_they_should(n):
    """A chain with a circle at its end: numbers of parts around multiples of 64."""
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    arcs = np.concatenate([chain[::-1], [[n - 1, n - 3]]])
    reach = Reach(arcs, n)
    i, j = all_pairs(n).T
    assert np.array_equal(reach.contains(all_pairs(n)), (i <= j) | (np.minimum(i, j) >= n - 3))
    assert reach.ahead[0] == n - 1
    assert reach.behind[0] == 0


def test_a_chain_longer_than_python_recurses():
    n = 5000
    order = np.random.default_rng(0).permutation(n)
    reach = Reach(np.column_stack([order[:-1], order[1:]]), n)
    assert np.array_equal(reach.ahead[order], np.arange(n)[::-1])
