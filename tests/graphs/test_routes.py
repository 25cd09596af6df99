"""Routes: the fastest way there and back, against all ways of small digraphs."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from finsler.errors import InputError, UnknownLabelError
from finsler.graphs import Digraph, as_digraph
from finsler.graphs.paths import shortest_paths


def all_ways(graph, start, end):
    """Every way without a repeated node, as its length and its nodes."""
    lengths = {(i, j): value for i, j, value in zip(*_arcs(graph), strict=True)}
    others = [node for node in range(graph.n_nodes) if node not in (start, end)]
    for size in range(len(others) + 1):
        for between in itertools.permutations(others, size):
            nodes = (start, *between, end)
            steps = [*itertools.pairwise(nodes)]
            if all(step in lengths for step in steps):
                yield sum(lengths[step] for step in steps), nodes


def _arcs(graph):
    entries = graph.matrix.tocoo()
    return entries.row.tolist(), entries.col.tolist(), entries.data.tolist()


def random_digraph(seed, n=6, high=4):
    """Whole lengths from 0 on, so that there are ties and arcs that cost nothing."""
    rng = np.random.default_rng(seed)
    rows, columns = np.nonzero((rng.uniform(size=(n, n)) < 0.45) & ~np.eye(n, dtype=bool))
    return Digraph(csr_array((rng.integers(0, high, rows.size).astype(float), (rows, columns)), shape=(n, n)))


@pytest.mark.parametrize("seed", range(12))
def test_the_route_is_the_best_of_all_ways_and_of_these_the_one_with_the_fewest_arcs(seed):
    graph = random_digraph(seed)
    for start, end in itertools.permutations(range(graph.n_nodes), 2):
        ways = sorted(all_ways(graph, start, end), key=lambda way: (way[0], len(way[1])))
        back = list(all_ways(graph, end, start))
        if not ways:
            with pytest.raises(InputError, match=f"from {start} to {end}"):
                graph.route(start, end)
            continue
        found = graph.route(start, end)
        best, fewest = ways[0][0], len(ways[0][1])
        assert found.length == best
        assert len(found.nodes) == fewest
        assert (best, tuple(found.nodes)) in ways
        assert (found.back is None) == (not back)
        assert found.back is None or found.back.length == min(back)[0]


def test_lengths_along_the_route_are_those_of_its_arcs():
    graph = random_digraph(3, n=40, high=9).scaled(0.1)  # sums of tenths are rounded
    found = graph.route(0, 17)
    arcs = graph.matrix[found.nodes[:-1], found.nodes[1:]]
    np.testing.assert_allclose(np.diff(found.along), arcs, rtol=1e-12)
    assert found.length == shortest_paths(graph, [0])[0, 17]
    assert found.along[0] == 0


def test_arcs_that_cost_nothing_are_arcs_and_make_no_circles():
    graph = as_digraph([("a", "b", 0.0), ("b", "a", 0.0), ("b", "c", 0.0), ("c", "b", 0.0), ("c", "d", 1.0)])
    found = graph.route("a", "d")
    assert found.labels == ["a", "b", "c", "d"]
    assert found.along.tolist() == [0, 0, 0, 1]
    assert found.back is None


def test_of_several_ways_of_one_length_the_first_nodes_are_taken():
    arcs = [(0, 3, 1.0), (0, 1, 1.0), (0, 2, 1.0), (3, 4, 1.0), (2, 4, 1.0), (1, 4, 1.0)]
    assert as_digraph(arcs).route(0, 4).labels == [0, 1, 4]
    assert as_digraph(arcs[::-1]).route(0, 4).labels == [0, 1, 4]


def test_from_a_node_to_itself_it_stays_there():
    found = as_digraph([("a", "b", 2.0)]).route("a", "a")
    assert (found.labels, found.length, found.back.labels) == (["a"], 0.0, ["a"])
    assert "0 arcs" in found.summary()


def test_no_way_names_both_ends_and_says_whether_there_is_one_back():
    graph = as_digraph([("a", "b", 2.0), ("c", "d", 1.0)])
    with pytest.raises(InputError, match=r"'b' to 'a'.* back.* 2"):
        graph.route("b", "a")
    with pytest.raises(InputError, match="'a' to 'd', nor back"):
        graph.route("a", "d")
    with pytest.raises(UnknownLabelError, match="'e'"):
        graph.route("a", "e")


def test_a_one_way_street_says_that_no_way_leads_back():
    found = as_digraph([("a", "b", 2.0)]).route("a", "b")
    assert found.back is None
    assert "No way leads back from 'b' to 'a'" in found.summary()
    assert "no way back" in repr(found)


def test_summary_compares_both_ways():
    graph = as_digraph(
        [("a", "m", 1), ("m", "b", 1), ("b", "k", 2), ("k", "a", 2), ("k", "m", 9), ("m", "k", 9)]
    )
    lines = graph.route("a", "b").summary().splitlines()
    assert lines[0].startswith("a -> b  2, 2 arcs: a, m, b")
    assert lines[1].startswith("b -> a  4, 2 arcs: b, k, a")
    assert "2 times as long" in lines[2]
    assert "0 of the 1 node" in lines[2]


def test_long_routes_are_cut_in_the_summary_and_whole_in_the_frame():
    graph = as_digraph([(i, i + 1, 1.0) for i in range(50)] + [(50, 0, 2.0)])
    found = graph.route(0, 50)
    assert "39 more" in found.summary()
    frame = found.to_frame()
    assert list(frame.columns)[:4] == ["way", "step", "node", "length"]
    assert len(frame) == 51 + 2
    assert frame[frame.way == "back"].node.tolist() == [50, 0]
    assert found.to_frame(backend="polars").shape == frame.shape
