"""Maps as networks: what is written is read again by networkx and by our own readers."""

import json

import igraph
import networkx as nx
import numpy as np
import pytest

from finsler import Embedding, embed_graph, embed_matrix
from finsler.exports import write_export
from finsler.exports.network import map_network
from finsler.graphs import as_digraph, read_graph

ARCS = [
    ("a", "b", 2.5),
    ("b", "c", 1.0),
    ("c", "a", 4.0),
    ("c", "b", 1.5),
    ("b", "d & <e>", 3.0),
    ("d & <e>", "a", 0.0),
]
ODD = ['the "Hub"', "東京", "bell\x07", "tab\there", "<&>'"]


@pytest.fixture(scope="module")
def town():
    G = nx.DiGraph()
    G.add_weighted_edges_from(ARCS, weight="travel_time")
    nx.set_node_attributes(G, {"a": "north", "b": "south"}, "dept")
    nx.set_node_attributes(G, {"a": 3, "b": 4, "c": 2, "d & <e>": 1}, "street_count")
    return G, embed_graph(G, alpha=0.3, random_state=0)


def about(embedding, label):
    i = embedding.index(label)
    return {
        "x1": embedding.coordinates[i, 0],
        "height": embedding.height[i],
        "stress_share": embedding.stress_per_point[i],
    }


def test_attributes_of_networkx_nodes():
    G = nx.DiGraph([("a", "b"), ("b", "a"), ("b", "c"), ("c", "a")])
    G.nodes["a"].update(x=1, street_count=3, ref="A1", mixed=1, tall=True)
    G.nodes["b"].update(x=2.5, street_count=4, mixed="two", tall=False)
    G.nodes["c"].update(x=0, tall=True)
    found = as_digraph(G).attributes
    np.testing.assert_array_equal(found["x"], [1, 2.5, 0])
    np.testing.assert_array_equal(found["street_count"], [3, 4, np.nan])
    assert found["ref"].tolist() == ["A1", "", ""]
    assert found["mixed"].tolist() == ["1", "two", ""]
    assert found["tall"].dtype == bool
    mapped = embed_graph(G, unreachable="largest")
    assert mapped.attributes["ref"].tolist() == ["A1", "", ""]


def test_attributes_of_igraph_vertices():
    g = igraph.Graph(3, [(0, 1), (1, 2), (2, 0)], directed=True)
    g.vs["name"], g.vs["x"], g.vs["dept"] = ["u", "v", "w"], [0.5, 1.5, None], ["p", "q", "p"]
    found = as_digraph(g)
    assert found.labels == ["u", "v", "w"]
    assert set(found.attributes) == {"x", "dept"}
    np.testing.assert_array_equal(found.attributes["x"], [0.5, 1.5, np.nan])


@pytest.mark.parametrize(("crs", "degrees"), [("epsg:4326", True), ("EPSG:32633", False), (None, False)])
def test_places_of_osmnx(tmp_path, crs, degrees):
    # A graph as OSMnx makes it: x and y of the nodes, length of the edges, the reference system at the graph.
    G = nx.MultiDiGraph(crs=crs) if crs else nx.MultiDiGraph()
    for node, (x, y) in {101: (13.37, 52.51), 102: (13.38, 52.52), 103: (13.39, 52.51)}.items():
        G.add_node(node, x=x, y=y, street_count=3)
    for u, v in [(101, 102), (102, 101), (102, 103), (103, 101)]:
        G.add_edge(u, v, length=100.0 + v, osmid=7, oneway=False, lanes="2", highway="residential")
    saved = G.copy()  # its save_graphml writes all of it as text
    for about in [
        saved.graph,
        *(d for _, d in saved.nodes(data=True)),
        *(d for *_, d in saved.edges(data=True)),
    ]:
        about.update({key: str(value) for key, value in about.items()})
    nx.write_graphml(saved, tmp_path / "city.graphml")
    for graph in (as_digraph(G), read_graph(tmp_path / "city.graphml")):
        assert sorted(graph.matrix.data) == [201.0, 201.0, 202.0, 203.0]
        assert {"x", "y", "street_count"} <= set(graph.attributes)
        assert ("lon" in graph.attributes) == degrees
        if degrees:
            np.testing.assert_array_equal(graph.attributes["lat"], [52.51, 52.52, 52.51])


def test_to_networkx_without_a_graph(town):
    G, found = town
    H = found.to_networkx()
    assert set(H.nodes) == set(G.nodes)
    assert {(u, v): d["length"] for u, v, d in H.edges(data=True)} == {(u, v): w for u, v, w in ARCS}
    assert {k: H.nodes["a"][k] for k in ("x1", "height", "stress_share")} == pytest.approx(about(found, "a"))
    assert H.nodes["a"]["dept"] == "north"
    assert "dept" not in H.nodes["c"]
    assert set(embed_matrix([[0, 1], [2, 0]], labels=["p", "q"], alpha=0.2).to_networkx()) == {"p", "q"}


def test_to_networkx_of_a_graph_is_a_copy(town):
    G, found = town
    H = found.to_networkx(G, store_pos_as="pos")
    assert "height" not in G.nodes["a"]
    assert H.edges["a", "b"] == {"travel_time": 2.5}
    np.testing.assert_array_equal(H.nodes["b"]["pos"], found.coordinates[found.index("b")])
    larger = G.copy()
    larger.add_edge("z", "a", travel_time=1.0)
    assert "height" not in found.to_networkx(larger).nodes["z"]
    with pytest.raises(ValueError, match=r"G: .*'d & <e>'"):
        found.to_networkx(G.subgraph(["a", "b", "c"]))
    with pytest.raises(ValueError, match="networkx"):
        found.to_networkx([1, 2])


def test_nodes_that_are_not_on_the_map_are_there_without_a_place(town):
    G, _ = town
    H = embed_graph(G, nodes=["c", "a"], alpha=0.2).to_networkx()
    assert set(H) == set(G)
    assert "height" in H.nodes["c"]
    assert "height" not in H.nodes["b"]
    assert H.number_of_edges() == len(ARCS)


READERS = {
    ".gexf": lambda path: nx.read_gexf(path, relabel=True),
    ".graphml": nx.read_graphml,
    ".json": lambda path: nx.node_link_graph(json.loads(path.read_text(encoding="utf-8")), edges="edges"),
}


@pytest.mark.parametrize("suffix", READERS)
def test_networkx_reads_what_is_written(town, tmp_path, suffix):
    G, found = town
    H = READERS[suffix](write_export(found, tmp_path / f"map{suffix}"))
    assert H.is_directed()
    assert set(H) == set(G)
    assert {(u, v): d["length"] for u, v, d in H.edges(data=True)} == {(u, v): w for u, v, w in ARCS}
    for node in G:
        assert {k: H.nodes[node][k] for k in about(found, node)} == about(found, node)
        assert H.nodes[node]["street_count"] == G.nodes[node]["street_count"]
        assert H.nodes[node].get("dept") == G.nodes[node].get("dept")


@pytest.mark.parametrize("suffix", READERS)
def test_our_readers_read_what_is_written(town, tmp_path, suffix):
    _, found = town
    path = write_export(found, tmp_path / f"map{suffix}")
    again = read_graph(path)
    behind = found.network.graph
    order = [again.labels.index(name) for name in behind.labels]
    np.testing.assert_array_equal(again.matrix.toarray()[np.ix_(order, order)], behind.matrix.toarray())
    np.testing.assert_array_equal(again.attributes["height"][order], found.height)
    mapped = embed_graph(path, alpha=0.3, random_state=0)
    assert mapped.normalized_stress == pytest.approx(found.normalized_stress, abs=1e-9)
    assert "height_given" in mapped.to_frame()


def test_gephi_finds_places(town, tmp_path):
    _, found = town
    H = nx.read_gexf(write_export(found, tmp_path / "map.gexf"), relabel=True)
    at = np.array([[H.nodes[v]["viz"]["position"][k] for k in "xyz"] for v in found.labels])
    assert np.ptp(at, axis=0).max() == pytest.approx(1000)
    X = found.coordinates - found.coordinates.mean(axis=0)
    np.testing.assert_allclose(at[:, :2] * (np.ptp(X, axis=0).max() / 1000), X, atol=1e-9)
    solid = embed_graph(found.network.graph, n_components=3, alpha=0.3, random_state=0)
    H = nx.read_gexf(write_export(solid, tmp_path / "solid.gexf"), relabel=True)
    up = np.array([H.nodes[v]["viz"]["position"]["y"] for v in solid.labels])
    assert np.corrcoef(up, solid.height)[0, 1] == pytest.approx(1)


@pytest.mark.parametrize("suffix", READERS)
def test_odd_labels(tmp_path, suffix):
    D = np.abs(np.arange(5)[:, None] - np.arange(5)) + np.triu(np.ones((5, 5)), 1)
    found = embed_matrix(D, labels=ODD).with_attributes({"odd": ODD})
    H = READERS[suffix](write_export(found, tmp_path / f"map{suffix}"))
    kept = [name.replace("\x07", "\ufffd") if suffix != ".json" else name for name in ODD]
    assert list(H) == kept
    assert [H.nodes[name]["odd"] for name in H] == kept


def test_labels_that_are_written_alike(tmp_path):
    found = embed_matrix([[0, 1, 2], [2, 0, 1], [1, 1, 0]], labels=[1, "1", (2, 3)])
    assert len({*map_network(found).written_names()}) == 3
    assert len(nx.read_graphml(write_export(found, tmp_path / "map.graphml"))) == 3
    assert len(READERS[".json"](write_export(found, tmp_path / "map.json"))) == 3


def test_a_saved_map_keeps_its_network(town, tmp_path):
    _, found = town
    again = Embedding.load(found.save(tmp_path / "map.npz"))
    assert set(again.to_networkx().edges) == set(found.to_networkx().edges)
    assert again.to_networkx().nodes["a"] == found.to_networkx().nodes["a"]
