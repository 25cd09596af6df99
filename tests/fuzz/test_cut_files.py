"""Files of every format that end too early are refused in one line; and a road network as OSMnx writes it."""

import json
import sys
from pathlib import Path

import networkx as nx
import pytest

from finsler.errors import InputError
from finsler.graphs.readers import open_file

sys.path.insert(0, str(Path(__file__).parent))
from corpus_formats import format_seeds
from helpers import done, mistake

SEEDS = {
    name: data for name, data in format_seeds().items() if not name.endswith(".net")
}  # fewer arcs are arcs, too


@pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("name", SEEDS)
def test_what_ends_too_early_is_refused_in_one_line(tmp_path, name, share):
    open_file(_written(tmp_path, name, SEEDS[name]))  # as it is, it is read
    data = SEEDS[name]
    path = _written(tmp_path, f"cut-{name}", data[: int(share * len(data))])
    with pytest.raises(InputError) as refused:
        open_file(path)
    assert "\n" not in str(refused.value)
    assert f"cut-{name}" in str(refused.value)


def _written(folder, name, data):
    (folder / name).write_bytes(data)
    return folder / name


def test_a_road_network_as_osmnx_writes_it(tmp_path):
    """Its ``save_graphml`` writes every attribute as text, the reference system at the graph, ways as WKT."""
    G = nx.MultiDiGraph(crs="epsg:4326", simplified="True")
    places = [(13.1, 52.1), (13.2, 52.1), (13.2, 52.2), (13.1, 52.2), (13.15, 52.25)]
    for k, (x, y) in enumerate(places):
        G.add_node(1000 + k, x=str(x), y=str(y), street_count="3")
    for k, (a, b) in enumerate([(0, 1), (1, 2), (2, 3), (3, 0), (1, 0), (2, 1), (3, 4), (4, 2)]):
        about = {"osmid": "[4, 7]", "length": str(100.5 + k), "travel_time": str(10.0 + k), "oneway": "False"}
        G.add_edge(1000 + a, 1000 + b, geometry="LINESTRING (13.1 52.1, 13.2 52.1)", **about)
    nx.write_graphml(G, tmp_path / "roads.graphml")
    assert "'travel_time'" in mistake("embed", tmp_path / "roads.graphml", "--out", tmp_path / "map.csv")
    given = ("--weight", "travel_time", "--out", tmp_path / "map.geojson", "--out", tmp_path / "map.npz")
    done("embed", tmp_path / "roads.graphml", *given)
    features = json.loads((tmp_path / "map.geojson").read_text())["features"]
    assert [tuple(feature["geometry"]["coordinates"]) for feature in features] == places
    assert done("route", tmp_path / "map.npz", 1000, 1002).stdout.startswith("1000 -> 1002  21, 2 arcs")
