"""Digraphs from objects: every kind of input gives the same graph, or says what is wrong with it."""

from __future__ import annotations

import copy
import subprocess
import sys

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from finsler.errors import InputError
from finsler.graphs.digraph import Digraph, as_digraph, largest_component

# Labels that break naive readers, and an arc of length zero.
LABELS = ["Zürich", 'the "Hub"', "Paris, France", "東京"]
ARCS = [(0, 1, 2.5), (1, 0, 4.0), (1, 2, 0.0), (2, 3, 1.0), (3, 0, 7.25)]
SOURCE = [LABELS[i] for i, _, _ in ARCS]
TARGET = [LABELS[j] for _, j, _ in ARCS]
LENGTH = [w for _, _, w in ARCS]


def dense(arcs=ARCS, n=4):
    """Absent arcs are NaN, so that length zero is told from no arc."""
    matrix = np.full((n, n), np.nan)
    for i, j, w in arcs:
        matrix[i, j] = w
    return matrix


def lengths(graph):
    """The stored entries of a digraph, in the form of `dense`."""
    matrix = np.full((graph.n_nodes,) * 2, np.nan)
    entries = graph.matrix.tocoo()
    matrix[entries.row, entries.col] = entries.data
    return matrix


def assert_same(graph, expected=None, labels=LABELS):
    np.testing.assert_array_equal(lengths(graph), dense() if expected is None else expected)
    assert graph.labels == labels
    assert isinstance(graph.matrix, sparse.csr_array)
    assert graph.matrix.dtype == np.float64
    assert graph.matrix.has_canonical_format


def as_networkx(kind=nx.DiGraph):
    graph = kind()
    graph.add_nodes_from(LABELS)
    graph.add_weighted_edges_from(zip(SOURCE, TARGET, LENGTH, strict=True))
    return graph


def as_igraph():
    graph = igraph.Graph(n=4, edges=[(i, j) for i, j, _ in ARCS], directed=True)
    graph.vs["name"] = LABELS
    graph.es["weight"] = LENGTH
    return graph


def as_sparse(form="csr"):
    rows, columns, values = map(np.array, zip(*ARCS, strict=True))
    return sparse.coo_array((values, (rows, columns)), shape=(4, 4)).asformat(form)


FRAME = pd.DataFrame({"target": TARGET, "note": "x", "weight": LENGTH, "source": SOURCE})
SAME = {
    "networkx": (as_networkx(), {}),
    "networkx multi": (as_networkx(nx.MultiDiGraph), {}),
    "igraph": (as_igraph(), {}),
    "csr_array": (as_sparse(), {"labels": LABELS}),
    "coo_matrix": (sparse.coo_matrix(as_sparse("coo")), {"labels": np.array(LABELS)}),
    "csc_array": (as_sparse("csc"), {"labels": tuple(LABELS)}),
    "pandas by name": (FRAME, {}),
    "pandas by argument": (
        FRAME.rename(columns={"source": "u", "target": "v", "weight": "t"}),
        {"source": "u", "target": "v", "weight": "t"},
    ),
    "pandas by order": (pd.DataFrame({"u": SOURCE, "v": TARGET, "t": LENGTH}), {}),
    "pandas categories": (FRAME.astype({"source": "category", "target": "category"}), {}),
    "pandas nullable": (FRAME.astype({"weight": "Float64", "source": "string"}), {}),
    "tuple of lists": ((SOURCE, TARGET, LENGTH), {}),
    "tuple of arrays": ((np.array(SOURCE), np.array(TARGET, dtype=object), np.array(LENGTH)), {}),
    "tuple with positions": (tuple(map(np.array, zip(*ARCS, strict=True))), {"labels": LABELS}),
    "list of tuples": (list(zip(SOURCE, TARGET, LENGTH, strict=True)), {}),
    "object array": (np.array(list(zip(SOURCE, TARGET, LENGTH, strict=True)), dtype=object), {}),
    "text array": (np.array(list(zip(SOURCE, TARGET, map(str, LENGTH), strict=True))), {}),
    "float array": (np.array(ARCS), {"labels": LABELS}),
}


@pytest.mark.parametrize("name", SAME)
def test_every_input_gives_the_same_digraph(name):
    graph, options = SAME[name]
    assert_same(as_digraph(graph, **options))


def test_nothing_is_modified_or_shared():
    for graph, options in SAME.values():
        before = copy.deepcopy(graph)
        result = as_digraph(graph, **options)
        result.matrix.data[:] = -1
        if result.labels:
            result.labels[:] = ["changed"] * 4
        assert_same(as_digraph(graph, **options))
        if isinstance(graph, np.ndarray):
            np.testing.assert_array_equal(graph, before)
        if isinstance(graph, pd.DataFrame):
            pd.testing.assert_frame_equal(graph, before)
        if sparse.issparse(graph):
            np.testing.assert_array_equal(graph.tocoo().data, before.tocoo().data)


def test_optional_packages_are_not_imported():
    code = (
        "import sys, scipy.sparse, finsler.graphs.digraph as g\n"
        "g.as_digraph(([0, 1], [1, 0])), g.as_digraph(scipy.sparse.eye(5, k=1))\n"
        "assert not {'networkx', 'igraph', 'pandas'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_a_digraph_says():
    graph = as_digraph(FRAME)
    assert (graph.n_nodes, graph.n_arcs, graph.weighted) == (4, 5, True)
    assert repr(graph) == graph.describe() == "Digraph: 4 nodes, 5 arcs, lengths 0 to 7.25 (weight)"
    assert as_digraph(([0], [1])).describe() == "Digraph: 2 nodes, 1 arc, unweighted"
    with pytest.raises(AttributeError):
        graph.weighted = False


# --- shapes of graphs ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arcs", "n"),
    [
        ([(0, j) for j in range(1, 6)], 6),
        ([(i, (i + 1) % 5) for i in range(5)], 5),
        ([(i, j) for i in range(5) for j in range(i + 1, 5)], 5),
        ([(0, 1), (1, 0), (2, 3)], 4),
        ([(0, 1)], 2),
    ],
    ids=["star", "cycle", "DAG", "two components", "single edge"],
)
def test_small_graphs(arcs, n):
    expected = dense([(i, j, 1.0) for i, j in arcs], n)
    source, target = zip(*arcs, strict=True)
    ones = sparse.coo_array((np.ones(len(arcs), bool), (source, target)), shape=(n, n))
    for graph in (nx.DiGraph(arcs), igraph.Graph(arcs, directed=True), ones, (source, target), arcs):
        result = as_digraph(graph, labels=range(n) if isinstance(graph, list | tuple) else None)
        if result.labels is not None:  # networkx keeps the order in which nodes were added
            result = result.subgraph([result.labels.index(i) for i in range(n)])
        assert_same(result, expected, None)
        assert not result.weighted


@pytest.mark.parametrize(
    "graph",
    [nx.DiGraph(), igraph.Graph(), sparse.csr_array((0, 0)), ([], []), [], np.zeros((0, 2)), FRAME[:0]],
)
def test_no_nodes(graph):
    with pytest.raises(ValueError, match="no nodes"):
        as_digraph(graph)


def test_one_node():
    lone = nx.DiGraph()
    lone.add_node("a")
    graph = as_digraph(lone)
    assert (graph.n_nodes, graph.n_arcs, graph.labels) == (1, 0, ["a"])
    assert as_digraph(sparse.csr_array((1, 1))).describe() == "Digraph: 1 node, 0 arcs, unweighted"
    with pytest.warns(UserWarning, match="1 self-loop"):
        assert as_digraph([("a", "a")]).n_nodes == 1


def test_nodes_without_arcs():
    with pytest.raises(ValueError, match="5 nodes and no arcs"):
        as_digraph(nx.empty_graph(5))
    with pytest.raises(ValueError, match=r"2 nodes and no arcs between different nodes \(2 self-loops\)"):
        as_digraph(np.eye(2), kind="adjacency")


# --- order of the nodes and labels --------------------------------------------------------------------------


def test_integers_are_sorted_and_text_comes_by_first_appearance():
    assert as_digraph(([30, 10], [20, 30])).labels == [10, 20, 30]
    assert as_digraph([(2, 1), (1, 0)]).labels is None
    assert as_digraph([("c", "a"), ("b", "c")]).labels == ["c", "a", "b"]
    assert as_digraph([(7, "a"), ("b", 7)]).labels == [7, "a", "b"]
    assert as_digraph([((0, 1), (1, 1)), ((1, 1), (0, 0))]).labels == [(0, 1), (1, 1), (0, 0)]
    assert as_digraph(nx.DiGraph([(3, 1), (1, 2)])).labels == [3, 1, 2]
    assert as_digraph(([2.0, 5.0], [5.0, 9.0])).labels == [2, 5, 9]
    assert as_digraph((np.array([1, 2**64 - 1], dtype=np.uint64), [2, 1])).labels == [1, 2, 2**64 - 1]
    assert as_digraph(([3, 1], [1, 2])).nodes == [1, 2, 3]


def test_labels_of_a_list_of_arcs_are_its_nodes():
    graph = as_digraph([("b", "a")], labels=["a", "lone", "b"])
    assert_same(graph, dense([(2, 0, 1.0)], 3), ["a", "lone", "b"])
    assert as_digraph([(0, 3)], labels=range(6)).n_nodes == 6
    assert_same(as_digraph([(20, 10)], labels=[20, 5, 10]), dense([(0, 2, 1.0)], 3), [20, 5, 10])
    assert_same(as_digraph([(2, 0)], labels=["x", "y", "z"]), dense([(2, 0, 1.0)], 3), ["x", "y", "z"])
    with pytest.raises(ValueError, match="labels: No node is labeled 'c'"):
        as_digraph([("a", "c")], labels=["a", "b"])
    with pytest.raises(ValueError, match="labels: There is no node 3"):
        as_digraph([(0, 3)], labels=["a", "b", "c"])
    with pytest.raises(ValueError, match="labels: There is no node -1"):
        as_digraph([(0, -1)], labels=["a", "b", "c"])


def test_bad_labels():
    with pytest.raises(ValueError, match="labels has 3 names for 4 nodes"):
        as_digraph(as_sparse(), labels=["a", "b", "c"])
    with pytest.raises(ValueError, match="'a' is repeated"):
        as_digraph(as_sparse(), labels=["a", "b", "c", "a"])
    with pytest.raises(TypeError, match="labels must be a list or None, got 'abcd'"):
        as_digraph(as_sparse(), labels="abcd")
    twins = igraph.Graph([(0, 1)], directed=True)
    twins.vs["name"] = ["a", "a"]
    with pytest.raises(ValueError, match="'a' is repeated"):
        as_digraph(twins)
    assert as_digraph(twins, labels=["a", "b"]).labels == ["a", "b"]
    assert as_digraph(as_networkx(), labels=list("abcd")).labels == list("abcd")


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (([0, 1], [1, None]), ValueError, r"target\[1\] is missing"),
        ((["a", float("nan")], ["b", "c"]), ValueError, r"source\[1\] is missing"),
        (pd.DataFrame({"source": [1, None], "target": [2, 3]}), ValueError, r"source\[1\] is nan"),
        (pd.DataFrame({"source": ["a", pd.NA], "target": ["b", "c"]}, dtype="string"), ValueError, "missing"),
        (([0.5], [1]), ValueError, r"source\[0\] is 0.5"),
        (([["a"]], [1]), TypeError, "hashable"),
        (("ab", "cd"), TypeError, "source must be a sequence"),
        ((3, 4), TypeError, "source must be a sequence"),
        ((np.zeros((2, 2)), [1, 2]), ValueError, "one dimension"),
        (([0, 1], [1]), ValueError, r"differ in size: \[2, 1\]"),
        (([0, 1], [1, 0], [1.0]), ValueError, r"differ in size: \[2, 2, 1\]"),
        ([("a", "b"), ("b", "c", 1)], ValueError, "holds tuples"),
        ([("a",)], ValueError, "holds tuples"),
        ([["a", "b"]], ValueError, "holds tuples"),
        (["ab"], ValueError, "holds tuples"),
        (sparse.csr_array((2, 3)), ValueError, "must be square"),
        (np.zeros(4), ValueError, r"found \(4,\)"),
        (np.zeros((2, 9), int), ValueError, r"found \(2, 9\)"),
        (np.ma.masked_array(np.ones((4, 4))), TypeError, "masked"),
        (pd.DataFrame({"source": ["a"]}), ValueError, "two columns"),
        (3.5, TypeError, "graph is a float"),
        (None, TypeError, "graph is a NoneType"),
        ({"a": ["b"]}, TypeError, "graph is a dict"),
        (pd.Series([1, 2]), TypeError, "graph is a Series"),
    ],
)
def test_bad_graphs(graph, error, message):
    with pytest.raises(error, match=message):
        as_digraph(graph)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "edges"}, "kind must be"),
        ({"duplicates": "first"}, "duplicates must be"),
        ({"directed": "yes"}, "directed must be"),
        ({"weight": "time"}, "weight='time' names an attribute"),
        ({"source": "u", "target": "v"}, "name columns of a table"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(ValueError, match=message):
        as_digraph([(0, 1)], **options)


# --- lengths ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf, -np.inf])
def test_bad_lengths_are_refused_by_name(bad):
    arcs = [("a", "b", 1.0), ("b", "c", bad)]
    source, target, values = zip(*arcs, strict=True)
    named = nx.DiGraph()
    named.add_weighted_edges_from(arcs)
    matrix = np.zeros((4, 4))
    matrix[1, 2] = bad
    for graph, labels in [
        (arcs, None),
        ((source, target, values), None),
        (named, None),
        (matrix, list("abcd")),
    ]:
        with pytest.raises(ValueError, match="from 'b' to 'c' has"):
            as_digraph(graph, labels=labels)
    assert not as_digraph(arcs, weight=None).weighted


@pytest.mark.parametrize("bad", ["far", None, pd.NA, 1j, [1.0]])
def test_lengths_that_are_not_numbers(bad):
    with pytest.raises(ValueError, match=r"length of the arc from 'b' to 'c' is .*, not a number"):
        as_digraph([("a", "b", 1.0), ("b", "c", bad)])


def test_attributes_of_edges():
    graph = nx.DiGraph()
    graph.add_edge("a", "b", minutes=3, kind="road")
    graph.add_edge("b", "c", kind="road")
    for weight in ("auto", "minutes"):
        with pytest.raises(ValueError, match=r"'minutes'.* from 'b' to 'c' .*\['kind'\]; 1 of 2"):
            as_digraph(graph, weight=weight)
    with pytest.raises(ValueError, match="'road', not a number"):
        as_digraph(graph, weight="kind")
    graph["b"]["c"]["minutes"] = 5
    np.testing.assert_array_equal(as_digraph(graph, weight="minutes").matrix.data, [3, 5])
    graph["a"]["b"]["weight"] = 9
    with pytest.raises(ValueError, match="weight='weight'"):
        as_digraph(graph)
    assert not as_digraph(graph, weight=None).weighted

    other = as_igraph()
    other.es["minutes"] = [1, 2, 3, 4, None]
    with pytest.raises(ValueError, match="from '東京' to 'Zürich' is None"):
        as_digraph(other, weight="minutes")
    with pytest.raises(
        ValueError, match=r"weight='hours' is no edge attribute; the graph has \['weight', 'min"
    ):
        as_digraph(other, weight="hours")
    assert not as_digraph(other, weight=None).weighted


def test_columns_of_a_table():
    wide = FRAME.rename(columns={"weight": "w"})
    with pytest.raises(ValueError, match="weight: which column"):
        as_digraph(wide)
    assert not as_digraph(wide, weight=None).weighted
    assert_same(as_digraph(wide, weight="w"))
    assert_same(as_digraph(wide, source=3, target=0, weight=2))
    with pytest.raises(ValueError, match="weight='x' is not a column"):
        as_digraph(wide, weight="x")
    with pytest.raises(ValueError, match="give both source and target"):
        as_digraph(wide, source="source")
    with pytest.raises(ValueError, match="same column"):
        as_digraph(wide, source="source", target="source")
    with pytest.raises(ValueError, match="is 'x', not a number"):
        as_digraph(FRAME[["source", "target", "note"]])


def test_matrices():
    stored = np.array([[0, 2.5, 0, 0], [4, 0, 3, 0], [0, 0, 0, 1], [7, 0, 0, 0]])
    expected = np.where(stored == 0, np.nan, stored)
    assert_same(as_digraph(stored), expected, None)
    assert_same(as_digraph(stored, labels=LABELS), expected)
    table = pd.DataFrame(stored, index=LABELS, columns=LABELS)
    assert_same(as_digraph(table, kind="adjacency"), expected)
    with pytest.raises(ValueError, match="labels of the rows of the table"):
        as_digraph(table.rename(index={"Zürich": "Z"}), kind="adjacency")
    hops = as_digraph(stored > 0)
    assert_same(hops, np.where(stored == 0, np.nan, 1.0), None)
    assert not hops.weighted
    flags = sparse.coo_array(([True, False, True], ([0, 1, 2], [1, 2, 0])))
    assert_same(as_digraph(flags), dense([(0, 1, 1.0), (2, 0, 1.0)], 3), None)
    stored[0, 0] = np.nan  # a diagonal says nothing about arcs
    with pytest.warns(UserWarning, match="1 self-loop"):
        assert_same(as_digraph(stored), expected, None)


def test_zeros_that_fill_up_blocks_are_no_arcs():
    blocks = sparse.bsr_array(
        np.array([[0, 1.0, 0, 0], [0, 0, 2, 0], [0, 0, 0, 3], [4, 0, 0, 0]]), blocksize=(2, 2)
    )
    with pytest.raises(ValueError, match="BSR"):
        as_digraph(blocks)
    stored = blocks.tocsr()
    stored.eliminate_zeros()
    assert as_digraph(stored).n_arcs == 4


@pytest.mark.parametrize("n", [2, 3])
def test_a_small_array_is_ambiguous(n):
    array = np.arange(n * n).reshape(n, n) + 1
    with pytest.raises(ValueError, match="kind='adjacency' or kind='arcs'"):
        as_digraph(array)
    with pytest.warns(UserWarning, match="self-loop"):
        assert as_digraph(array, kind="adjacency").n_nodes == n
    assert as_digraph(array, kind="arcs").n_arcs == n
    pairs = np.array([[0, 1], [1, 2], [2, 3], [3, 0]])[:, [0, 1, 1, 1]]
    assert as_digraph(pairs[:, :2]).n_arcs == 4
    with pytest.raises(ValueError, match=r"found \(4, 4\)"):
        as_digraph(pairs, kind="arcs")


# --- self-loops, duplicates, directions ---------------------------------------------------------------------

PARALLEL = [
    ("a", "b", 3.0),
    ("a", "b", 2.0),
    ("b", "a", 5.0),
    ("b", "b", 9.0),
    ("a", "b", 4.0),
    ("c", "a", 1.0),
]


@pytest.mark.parametrize(("duplicates", "length"), [("min", 2.0), ("max", 4.0), ("sum", 9.0)])
def test_self_loops_and_parallel_arcs(duplicates, length):
    multi = nx.MultiDiGraph()
    multi.add_weighted_edges_from(PARALLEL)
    twice = igraph.Graph.TupleList(PARALLEL, directed=True, weights=True)
    codes = {"a": 0, "b": 1, "c": 2}
    entries = [(codes[u], codes[v], w) for u, v, w in PARALLEL]
    rows, columns, values = zip(*entries, strict=True)
    matrix = sparse.coo_array((values, (rows, columns)), shape=(3, 3))
    for graph, labels in [(PARALLEL, None), (multi, None), (twice, None), (matrix, ["a", "b", "c"])]:
        with pytest.warns(UserWarning, match="dropped 1 self-loop, merged 2 repeated arcs") as caught:
            result = as_digraph(graph, duplicates=duplicates, labels=labels)
        assert caught[0].filename == __file__
        assert_same(result, dense([(0, 1, length), (1, 0, 5.0), (2, 0, 1.0)], 3), ["a", "b", "c"])
        assert (result.provenance.n_self_loops, result.provenance.n_duplicates) == (1, 2)
        assert result.provenance.aggregate == duplicates
    assert result.describe().endswith("1 self-loop dropped, 2 duplicates merged")


def test_duplicates_may_be_refused():
    with pytest.raises(ValueError, match=r"the arc from 'a' to 'b' was given before \(2 such arcs\)"):
        as_digraph(PARALLEL, duplicates="raise")
    assert as_digraph(FRAME, duplicates="raise").provenance.n_duplicates == 0


def test_undirected_graphs_have_arcs_both_ways():
    edges = [("a", "b", 2.0), ("b", "c", 0.0)]
    expected = dense([(0, 1, 2.0), (1, 0, 2.0), (1, 2, 0.0), (2, 1, 0.0)], 3)
    graph = nx.Graph()
    graph.add_weighted_edges_from(edges)
    same = igraph.Graph.TupleList(edges, weights=True)
    for undirected in (graph, nx.MultiGraph(graph), same):
        assert_same(as_digraph(undirected), expected, ["a", "b", "c"])
        with pytest.raises(ValueError, match="directed=True, but the graph is undirected"):
            as_digraph(undirected, directed=True)
    assert_same(as_digraph(edges, directed=False), expected, ["a", "b", "c"])
    assert_same(as_digraph(as_digraph(edges), directed=False), expected, ["a", "b", "c"])
    with pytest.warns(UserWarning, match="merged 1 repeated arc "):
        both = as_digraph([*edges, ("b", "a", 1.5)], directed=False)
    assert_same(both, np.where(expected == 2, 1.5, expected), ["a", "b", "c"])
    with pytest.raises(ValueError, match="the arc from 'b' to 'a' was given before"):
        as_digraph([*edges, ("b", "a", 1.5)], directed=False, duplicates="raise")


def test_an_undirected_self_loop_counts_once():
    with pytest.warns(UserWarning, match="dropped 1 self-loop\\."):
        assert as_digraph(nx.Graph([(0, 0), (0, 1)])).provenance.n_self_loops == 1
    with pytest.warns(UserWarning, match="dropped 1 self-loop\\."):
        assert as_digraph(igraph.Graph([(0, 0), (0, 1)])).provenance.n_self_loops == 1


def test_a_digraph_is_returned_as_is():
    graph = as_digraph(FRAME)
    assert as_digraph(graph) is graph
    assert as_digraph(graph, directed=True) is graph
    hops = as_digraph(graph, weight=None)
    assert hops.labels == LABELS
    assert (hops.n_arcs, hops.weighted) == (5, False)
    assert as_digraph(graph, labels=list("abcd")).labels == list("abcd")


# --- parts of a graph ---------------------------------------------------------------------------------------


def test_subgraph():
    graph = as_digraph(FRAME)
    part = graph.subgraph([2, 1])
    assert_same(part, dense([(1, 0, 0.0)], 2), [LABELS[2], LABELS[1]])
    assert part.provenance.left_out == (LABELS[0], LABELS[3])
    assert_same(graph, dense())
    mask = np.array([True, True, False, False])
    assert_same(graph.subgraph(mask), dense()[:2, :2], LABELS[:2])
    star = as_digraph([("hub", "a", 1.0), ("hub", "b", 2.0)]).subgraph([2, 1, 0])
    assert_same(star, dense([(2, 1, 1.0), (2, 0, 2.0)], 3), ["b", "a", "hub"])
    bare = as_digraph(([0, 1, 2], [1, 2, 0]))
    assert bare.subgraph([0, 1]).labels is None
    assert bare.subgraph([2, 0]).labels == [2, 0]
    assert (
        bare.subgraph([2, 0]).subgraph([0]).describe()
        == "Digraph: 1 node, 0 arcs, unweighted, 2 nodes left out"
    )


@pytest.mark.parametrize(
    ("indices", "error"),
    [([], ValueError), ([0, 0], ValueError), ([4], ValueError), ([-1], ValueError), ([0.0], ValueError)]
    + [([[0, 1]], ValueError), ([True, False], ValueError), (["a"], ValueError)],
)
def test_bad_subgraph(indices, error):
    with pytest.raises(error, match="indices must"):
        as_digraph(FRAME).subgraph(indices)


def test_largest_component():
    arcs = [("a", "b"), ("c", "d"), ("d", "e"), ("e", "c"), ("e", "f"), ("b", "a")]
    strong = largest_component(as_digraph(arcs))
    assert (strong.labels, strong.n_arcs, len(strong.provenance.left_out)) == (["c", "d", "e"], 3, 3)
    assert strong.describe().endswith("3 nodes left out")
    weak = largest_component(as_digraph(arcs), "weak")
    assert (weak.labels, weak.n_arcs, len(weak.provenance.left_out)) == (["c", "d", "e", "f"], 4, 2)
    whole = as_digraph(FRAME)
    assert_same(largest_component(whole))
    assert largest_component(whole) is whole
    with pytest.raises(ValueError, match="connection must be"):
        largest_component(whole, "both")


def test_arcs_of_length_zero_connect():
    ring = as_digraph(([0, 1, 2], [1, 2, 0], [0.0, 0.0, 0.0]))
    assert largest_component(ring).n_nodes == largest_component(ring, "weak").n_nodes == 3


def test_of_equal_components_the_first_is_kept():
    arcs = [("a", "b"), ("b", "a"), ("a", "c"), ("c", "d"), ("d", "c")]
    assert largest_component(as_digraph(arcs)).labels == ["a", "b"]
    assert largest_component(as_digraph(arcs[::-1])).labels == ["d", "c"]
    assert largest_component(as_digraph([("x", "y"), ("y", "z")])).labels == ["x"]


# --- random graphs ------------------------------------------------------------------------------------------

names = st.one_of(
    st.integers(-50, 50), st.text(min_size=1, max_size=3), st.tuples(st.integers(0, 3), st.booleans())
)
random_arcs = st.dictionaries(
    st.tuples(names, names).filter(lambda pair: pair[0] != pair[1]),
    st.floats(0, 1e6),
    min_size=1,
    max_size=20,
)


@given(random_arcs)
def test_random_lists_of_arcs(arcs):
    rows = [(u, v, w) for (u, v), w in arcs.items()]
    graph = as_digraph(rows)
    entries = graph.matrix.tocoo()
    found = {
        (graph.nodes[i], graph.nodes[j]): w
        for i, j, w in zip(entries.row, entries.col, entries.data, strict=True)
    }
    assert found == arcs
    peer = nx.DiGraph()
    peer.add_weighted_edges_from(rows)
    same = as_digraph(peer)
    order = [same.nodes.index(node) for node in graph.nodes]
    np.testing.assert_array_equal(lengths(same.subgraph(order)), lengths(graph))
    reached = dict(nx.all_pairs_dijkstra_path_length(peer))
    expected = [[reached[u].get(v, np.inf) for v in graph.nodes] for u in graph.nodes]
    np.testing.assert_allclose(dijkstra(graph.matrix), expected)


@given(random_arcs, st.sampled_from(["strong", "weak"]))
def test_random_components(arcs, connection):
    graph = as_digraph(list(arcs))
    peer = nx.DiGraph(list(arcs))
    components = (
        nx.strongly_connected_components(peer)
        if connection == "strong"
        else nx.weakly_connected_components(peer)
    )
    part = largest_component(graph, connection)
    assert part.n_nodes == max(map(len, components))
    assert part.n_arcs == peer.subgraph(part.nodes).number_of_edges()
    assert part.n_nodes + len(part.provenance.left_out) == graph.n_nodes
    assert isinstance(part, Digraph)


@pytest.mark.parametrize("digits", [400, 5000])
def test_lengths_of_hundreds_of_digits_are_refused_in_a_line(digits):
    with pytest.raises(InputError) as error:
        as_digraph([("a", "b", 1), ("b", "a", 10**digits)])
    assert len(str(error.value)) < 400
