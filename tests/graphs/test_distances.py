import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra

from finsler import embed_graph
from finsler.graphs.distances import graph_distances

igraph = pytest.importorskip("igraph")
nx = pytest.importorskip("networkx")

CYCLE = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 4.0)]
inf = np.inf


def test_a_cycle():
    data = graph_distances(CYCLE)
    np.testing.assert_array_equal(data.matrix, [[0, 1, 3], [6, 0, 2], [4, 5, 0]])
    assert data.weights is None
    assert not data.provenance.sentences()
    np.testing.assert_array_equal(graph_distances(CYCLE, hops=True).matrix, [[0, 1, 2], [2, 0, 1], [1, 2, 0]])


def test_a_star_out_of_its_center():
    arcs = [("hub", leaf) for leaf in "abc"]
    data = graph_distances(arcs)
    np.testing.assert_array_equal(data.weights, [[0, 1, 1, 1]] + 3 * [[0, 0, 0, 0]])
    assert data.provenance.n_unreachable == 9
    assert "9 ordered pairs without a path, left out." in data.provenance.sentences()
    with pytest.warns(UserWarning, match="rests on pairs known one way only"):
        star = embed_graph(arcs)
    for leaf in "abc":
        assert star.distance("hub", leaf) == pytest.approx(1, abs=1e-6)
    assert "9 ordered pairs without a path" in star.summary()


def test_a_dag_keeps_its_one_way_pairs():
    arcs = [(0, 1), (1, 2), (0, 3), (3, 2)]
    data = graph_distances(arcs)
    expected = np.array([[0, 1, 2, 1], [inf, 0, 1, inf], [inf, inf, 0, inf], [inf, inf, 1, 0]])
    np.testing.assert_array_equal(data.matrix, expected)
    np.testing.assert_array_equal(data.weights, np.isfinite(expected) & ~np.eye(4, dtype=bool))
    with pytest.warns(UserWarning, match="rests on pairs known one way only"):
        dag = embed_graph(arcs, random_state=0)
    assert dag.normalized_stress < 0.05
    assert dag.distance(0, 2) == pytest.approx(2, abs=0.1)


def test_a_dag_with_bounds_falls_from_its_source():
    """With unreachable pairs kept far, going against the arcs must cost more: sinks lie low."""
    arcs = [(i, i + 1) for i in range(6)]
    data = graph_distances(arcs, unreachable="hinge")
    assert data.matrix[5, 0] == -6
    assert graph_distances(arcs, unreachable="hinge", far=20.0).matrix[5, 0] == -20
    path = embed_graph(arcs, unreachable="hinge", alpha=0.5, random_state=0)
    assert np.corrcoef(path.height, np.arange(7))[0, 1] < -0.9
    assert path.distance(6, 0) > path.distance(0, 6)


def test_a_single_arc_and_two_nodes():
    data = graph_distances([("a", "b", 3.0)])
    np.testing.assert_array_equal(data.matrix, [[0, 3], [inf, 0]])
    pair = embed_graph([("a", "b", 3.0)], alpha=0.3)
    assert pair.distance("a", "b") == pytest.approx(3)


def test_one_node_and_none():
    one = nx.DiGraph()
    one.add_node("alone")
    data = graph_distances(one)
    assert data.labels == ["alone"]
    assert data.matrix.shape == (1, 1)
    with pytest.raises(ValueError, match=r"no nodes|empty"):
        graph_distances(nx.DiGraph())


def test_two_parts_have_no_common_map():
    arcs = [("a", "b"), ("b", "a"), ("c", "d"), ("d", "c"), ("d", "e")]
    with pytest.raises(
        ValueError, match=r"2 parts .*3 of 5 nodes.*Outside the largest: 'a', 'b'.*connection='weak'"
    ):
        embed_graph(arcs)
    strong = graph_distances(arcs, unreachable="largest")
    assert strong.labels == ["a", "b"]
    assert strong.provenance.left_out == ("c", "d", "e")
    weak = graph_distances(arcs, unreachable="largest", connection="weak")
    assert weak.labels == ["c", "d", "e"]
    assert weak.provenance.n_unreachable == 2


def test_raise_names_a_pair():
    with pytest.raises(ValueError, match=r"3 of 6 ordered pairs have no path, for example from 'b' to 'a'"):
        graph_distances([("a", "b"), ("a", "c"), ("b", "c")], unreachable="raise")


def test_self_loops_and_parallel_arcs_are_reported():
    arcs = [("a", "a", 1.0), ("a", "b", 5.0), ("a", "b", 2.0), ("b", "a", 1.0)]
    with pytest.warns(UserWarning, match=r"self-loop|duplicate"):
        data = graph_distances(arcs)
    np.testing.assert_array_equal(data.matrix, [[0, 2], [1, 0]])


def test_every_kind_of_input_gives_the_same_distances(tmp_path):
    arcs = pd.DataFrame(CYCLE + [("a", "d", 0.5), ("d", "c", 0.25)], columns=["source", "target", "weight"])
    names = ["a", "b", "c", "d"]
    g = nx.from_pandas_edgelist(arcs, edge_attr="weight", create_using=nx.DiGraph)
    ig = igraph.Graph.TupleList(arcs.itertuples(index=False), directed=True, edge_attrs=["weight"])
    place = {name: i for i, name in enumerate(names)}
    rows, columns = arcs["source"].map(place), arcs["target"].map(place)
    sparse = csr_array(coo_array((arcs["weight"], (rows, columns)), shape=(4, 4)))
    file = tmp_path / "arcs.csv.gz"
    arcs.to_csv(file, index=False)
    graphml = tmp_path / "arcs.graphml"
    nx.write_graphml(g, graphml)
    expected = dijkstra(sparse)
    inputs = {
        "networkx": (g, {}), "igraph": (ig, {}), "scipy": (sparse, {"labels": names}), "pandas": (arcs, {}),
        "file": (file, {}), "graphml": (graphml, {}),
        "arrays": ((rows.to_numpy(), columns.to_numpy(), arcs["weight"].to_numpy()), {"labels": names}),
    }  # fmt: skip
    for kind, (graph, reading) in inputs.items():
        data = graph_distances(graph, **reading)
        assert data.labels is not None, kind
        order = [data.labels.index(name) for name in names]
        np.testing.assert_array_equal(data.matrix[np.ix_(order, order)], expected, err_msg=kind)


def test_chosen_nodes_use_paths_through_the_others():
    data = graph_distances(CYCLE, nodes=["c", "b"])
    assert data.labels == ["c", "b"]
    np.testing.assert_array_equal(data.matrix, [[0, 5], [2, 0]])
    with pytest.raises(ValueError, match=r"nodes: .*'x'"):
        graph_distances(CYCLE, nodes=["x"])
    with pytest.raises(ValueError, match="once"):
        graph_distances(CYCLE, nodes=["a", "a"])


def test_weightings():
    data = graph_distances(CYCLE, weighting="inverse-square")
    np.testing.assert_allclose(data.weights, [[0, 1, 1 / 9], [1 / 36, 0, 1 / 4], [1 / 16, 1 / 25, 0]])
    dag = graph_distances([(0, 1, 2.0), (1, 2, 1.0)], weighting="inverse")
    np.testing.assert_allclose(dag.weights, [[0, 0.5, 1 / 3], [0, 0, 1], [0, 0, 0]])
    with pytest.raises(ValueError, match="needs distances above 0; from 0 "):
        graph_distances([("a", "b", 0.0), ("b", "c", 1.0), ("c", "a", 1.0)], weighting="inverse")


@pytest.mark.parametrize("choice", ["unreachable", "connection", "weighting"])
def test_bad_choices(choice):
    with pytest.raises(ValueError, match=f"{choice} must be"):
        graph_distances(CYCLE, **{choice: "other"})


def test_bad_lengths():
    with pytest.raises(ValueError, match="-1"):
        graph_distances([("a", "b", -1.0)])
    with pytest.raises(ValueError, match=r"nan|NaN"):
        graph_distances([("a", "b", np.nan)])
