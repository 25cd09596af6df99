"""Which attribute of the arcs is their length: taken if it is clear, and said; refused if it is not."""

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import pytest

from finsler.errors import InputError
from finsler.graphs.arcs import choose_attribute
from finsler.graphs.digraph import as_digraph
from finsler.graphs.distances import graph_distances
from finsler.graphs.readers import read_graph
from finsler.recipes import embed_graph

ARCS = [("a", "b", 2.5), ("b", "c", 1.0), ("c", "a", 4.0), ("b", "a", 6.0)]
D = [[0, 2.5, 3.5], [5, 0, 1], [4, 6.5, 0]]  # lengths of the shortest paths


def with_attribute(kind, name, values=None):
    """The arcs with one attribute, in the hands of several packages."""
    values = [length for *_, length in ARCS] if values is None else values
    if kind == "networkx":
        graph = nx.MultiDiGraph()
        for (u, v, _), value in zip(ARCS, values, strict=True):
            graph.add_edge(u, v, **{name: value, "osmid": [1, 2], "highway": "residential", "lanes": 2})
        return graph
    if kind == "igraph":
        graph = igraph.Graph.TupleList([arc[:2] for arc in ARCS], directed=True)
        graph.es[name], graph.es["highway"] = values, ["residential"] * len(ARCS)
        return graph
    frame = pd.DataFrame([arc[:2] for arc in ARCS], columns=["u", "v"])
    return frame.assign(highway="residential", **{name: values})


KINDS = ("networkx", "igraph", "pandas")
NAMES = ("length", "travel_time", "distance", "cost", "time", "duration", "minutes", "Travel_Time", "LENGTH")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMES)
def test_the_only_length_is_taken_and_said(kind, name):
    data = graph_distances(with_attribute(kind, name))
    np.testing.assert_array_equal(data.matrix, D)
    assert data.provenance.columns["value"] == name
    assert not data.provenance.counts_arcs
    assert name in " ".join(data.provenance.sentences())


@pytest.mark.parametrize("kind", KINDS)
def test_text_that_is_a_number_is_a_number(kind):
    graph = with_attribute(kind, "minutes", ["2.5", "1", "4e0", "6"])
    np.testing.assert_array_equal(graph_distances(graph).matrix, D)
    for bad in ("far", "1_0", "2,5", "", None):
        graph = with_attribute(kind, "minutes", ["2.5", bad, "4.0", "6"])
        with pytest.raises(InputError, match="from 'b' to 'c'"):
            graph_distances(graph)


def test_graphml_that_keeps_numbers_as_text(tmp_path):
    path = tmp_path / "roads.graphml"
    arcs = [(u, v, {"travel_time": f"{w}", "name": f"{u}{v}"}) for u, v, w in ARCS]
    nx.write_graphml(nx.MultiDiGraph(arcs), path)
    assert 'attr.type="string"' in path.read_text()
    for read in (read_graph, as_digraph):
        graph = read(path)
        assert graph.provenance.columns == {"value": "travel_time"}
        assert graph.provenance.source == "roads.graphml"
    np.testing.assert_array_equal(graph_distances(path).matrix, D)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_graphml_with_entities_is_refused(tmp_path, encoding):
    path = tmp_path / "bomb.graphml"
    text = (
        f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE g [<!ENTITY a "aaaa">]><graphml>&a;</graphml>'
    )
    path.write_bytes(text.encode(encoding))
    with pytest.raises(InputError, match=r"bomb\.graphml.*entities"):
        read_graph(path)


@pytest.mark.parametrize("kind", KINDS)
def test_several_lengths_are_refused_with_their_names(kind):
    graph = with_attribute(kind, "length")
    if kind == "networkx":
        nx.set_edge_attributes(graph, 3.0, "travel_time")
    elif kind == "igraph":
        graph.es["travel_time"] = 3.0
    else:
        graph["travel_time"] = 3.0
    with pytest.raises(InputError, match=r"'length', .*'travel_time'") as caught:
        graph_distances(graph)
    assert "weight" in str(caught.value)
    np.testing.assert_array_equal(graph_distances(graph, weight="length").matrix, D)
    assert graph_distances(graph, weight="travel_time").matrix[0, 1] == 3
    assert graph_distances(graph, weight=None).provenance.counts_arcs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["flow", "count", "trips", "Volume"])
def test_a_flow_is_no_length(kind, name):
    graph = with_attribute(kind, name)
    with pytest.raises(InputError, match="similarity"):
        graph_distances(graph)
    np.testing.assert_array_equal(graph_distances(graph, weight=name).matrix, D)


@pytest.mark.parametrize("kind", ["networkx", "igraph"])
def test_without_a_length_every_arc_counts_as_one_and_this_is_said(kind):
    data = graph_distances(with_attribute(kind, "color"))
    np.testing.assert_array_equal(data.matrix, [[0, 1, 2], [1, 0, 1], [1, 2, 0]])
    assert data.provenance.counts_arcs
    assert "Every arc counts as one." in data.provenance.sentences()
    hops = graph_distances(with_attribute(kind, "length"), hops=True)
    assert hops.provenance.counts_arcs
    assert "value" not in hops.provenance.columns


def test_a_length_that_all_arcs_have_goes_before_one_that_some_have():
    assert choose_attribute({"length": 5, "duration": 2}, 5) == "length"
    assert choose_attribute({"length": 5, "Weight": 5}, 5) == "Weight"
    assert choose_attribute({"length": 5, "trips": 5}, 5) == "length"
    assert choose_attribute({"speed_kph": 5, "osmid": 5, "geometry": 2}, 5) is None
    assert choose_attribute({}, 0) is None


def test_parallel_streets_are_merged_and_counted():
    graph = with_attribute("networkx", "length")
    graph.add_edge("a", "b", length=9.0)
    graph.add_edge("a", "a", length=1.0)
    with pytest.warns(UserWarning, match="1 self-loop"):
        data = graph_distances(graph)
    np.testing.assert_array_equal(data.matrix, D)
    facts = data.provenance
    assert (facts.n_duplicates, facts.aggregate, facts.n_self_loops) == (1, "min", 1)
    assert facts.source == "MultiDiGraph"


def test_a_digraph_read_again_keeps_its_facts():
    graph = as_digraph(with_attribute("networkx", "minutes"))
    again = as_digraph(graph, labels=["x", "y", "z"])
    assert again.provenance.columns == {"value": "minutes"}
    assert again.provenance.source == "MultiDiGraph"
    counted = as_digraph(graph, weight=None).provenance
    assert counted.counts_arcs
    assert "value" not in counted.columns


def test_a_map_says_what_its_lengths_are(tmp_path):
    graph = with_attribute("networkx", "travel_time")
    path = tmp_path / "roads.graphml"
    nx.write_graphml(nx.MultiDiGraph([(u, v, {"travel_time": f"{w}"}) for u, v, w in ARCS]), path)
    for given in (graph, path):
        found = embed_graph(given, alpha=0.3)
        assert found.provenance.columns["value"] == "travel_time"
        assert "travel_time" in found.summary()
    nx.set_edge_attributes(graph, 7.0, "length")
    with pytest.raises(InputError, match="weight"):
        embed_graph(graph, alpha=0.3)
    assert embed_graph(graph, weight="length", alpha=0.3).provenance.columns["value"] == "length"
    assert "Every arc counts as one." in embed_graph(graph, weight=None, alpha=0.3).summary()
    assert "Every arc counts as one." in embed_graph(with_attribute("igraph", "color"), alpha=0.3).summary()
