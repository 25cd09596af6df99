"""Networks and geography from the command line."""

import json

import networkx as nx
import pytest

pytest.importorskip("typer")
import finsler
from finsler.data.tables import read_table

from helpers import done, mistake


@pytest.fixture
def city(tmp_path):
    G = nx.DiGraph()
    G.add_weighted_edges_from(
        [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 2.5), ("b", "a", 1.5)], weight="minutes"
    )
    nx.set_node_attributes(G, {"a": 13.4, "b": 13.5, "c": 13.3}, "lon")
    nx.set_node_attributes(G, {"a": 52.5, "b": 52.4, "c": 52.6}, "lat")
    nx.set_node_attributes(G, {"a": "p", "b": "q", "c": "p"}, "dept")
    nx.write_graphml(G, tmp_path / "city.graphml")
    return tmp_path


def test_from_graphml_to_gexf_and_geojson(city):
    names = ("map.gexf", "map.graphml", "map.json", "map.geojson", "map.csv", "map.npz")
    outs = [part for name in names for part in ("--out", city / name)]
    result = done("embed", city / "city.graphml", "--alpha", "0.2", *outs)
    assert all(name in result.stderr for name in names)
    found = finsler.Embedding.load(city / "map.npz")
    H = nx.read_gexf(city / "map.gexf", relabel=True)
    assert H.nodes["a"]["height"] == found.height[0]
    assert H.nodes["a"]["dept"] == "p"
    assert H.nodes["a"]["viz"]["position"]["x"] != 0
    assert H.edges["c", "a"]["length"] == 2.5
    features = json.loads((city / "map.geojson").read_text())["features"]
    assert features[0]["geometry"]["coordinates"] == [13.4, 52.5]
    table = (city / "map.csv").read_text().splitlines()
    assert table[0] == "label,x1,height,stress_share,lon,lat,dept"
    assert table[1].endswith(",13.4,52.5,p")
    assert read_table(city / "map.graphml").kind == "edges"
    again = done("plot", city / "map.npz", "--out", city / "again.gexf")
    assert "again.gexf" in again.stderr
    assert (city / "again.gexf").read_text() == (city / "map.gexf").read_text()


def test_geojson_without_places_is_refused_before_the_work_begins(small, monkeypatch):
    from finsler.cli import inputs

    monkeypatch.setattr(inputs, "find_map", lambda *_: pytest.fail("it began to work"))
    assert "lon and lat" in mistake("embed", small, "--out", small.with_suffix(".geojson"))


def test_geojson_of_a_saved_map_without_places_is_refused(small):
    done("embed", small, "--out", small.with_suffix(".npz"))
    line = mistake("plot", small.with_suffix(".npz"), "--out", small.with_suffix(".geojson"))
    assert "--attributes" in line


def test_the_command_line_knows_all_formats_of_exports():
    from finsler.cli.output import EXPORTS
    from finsler.exports import WRITERS

    assert {*EXPORTS} == {*WRITERS}
