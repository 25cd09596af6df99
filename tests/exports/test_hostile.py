"""Labels and attributes that were not meant for files: what is written can be read again, or is refused in a sentence."""

import json
from xml.dom import minidom

import networkx as nx
import numpy as np
import pytest

from finsler import InputError, embed_graph
from finsler.exports import WRITERS, write_export
from finsler.graphs import read_graph

LABELS = {
    "control": ["\x00a", "\x01a", "c"],  # XML can hold neither, and both became the same id
    "surrogates": ["\ud800", "\udc00x", "c"],
    "markup": ["<a&\"'>", "]]>", "<!--"],
    "lines": ["a\nb", "a\r\nb", "a b"],
    "mixed": [1, "1", 2],
    "truth": [True, "True", 2],
    "huge": [10**400, 1, 2],
    "tuples": [("a", 1), ("a", 2), "c"],
    "blanks": ["", " ", "  "],
    "numbered": ["0: 1", "1", "1 "],
}
PLACES = {"lon": [1.0, 2.0, 3.0], "lat": [1.0, 2.0, 3.0]}


def town(names=("a", "b", "c")):
    a, b, c = names
    arcs = [(a, b, 1.0), (b, c, 2.0), (c, a, 1.5), (c, b, 0.5)]
    return embed_graph(arcs, alpha=0.2).with_attributes(PLACES)


def check_files(mapped, folder):
    """Every format can be parsed, and those of networks hold all nodes and arcs."""
    for suffix in WRITERS:
        path = write_export(mapped, folder / f"map{suffix}")
        text = path.read_text(encoding="utf-8")
        if "json" in suffix:
            json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
        else:
            minidom.parseString(text.encode())
        if suffix != ".geojson":
            found = read_graph(path)
            assert (found.n_nodes, found.n_arcs) == (3, 4), suffix
    read = [nx.read_gexf(folder / "map.gexf"), nx.read_graphml(folder / "map.graphml")]
    record = json.loads((folder / "map.json").read_text(encoding="utf-8"))
    for graph in (*read, nx.node_link_graph(record, edges="edges")):
        assert (graph.number_of_nodes(), graph.number_of_edges()) == (3, 4)


@pytest.mark.parametrize("kind", LABELS)
def test_labels(kind, tmp_path):
    mapped = town(LABELS[kind])
    check_files(mapped, tmp_path)
    for backend in ("pandas", "polars", "pyarrow"):
        assert len(mapped.to_frame(backend)) == 3
    assert mapped.to_networkx().number_of_edges() == 4


ATTRIBUTES = {
    "id": ["x", "y", "z"],  # took the place of the ids of node-link JSON
    "label": [1, 2, 3],
    "long doubles": np.array([1, 2, 3], np.longdouble),
    "spans": np.array([1, 2, 3], "m8[s]"),
    "days": np.array(["2020-01-01"] * 3, "M8[D]"),
    "huge": [10**400, 1, 2],
    "longer": [10**5000, 1, 2],
    "infinite": [np.inf, -np.inf, np.nan],
    "unsigned": np.array([2**64 - 1, 1, 2], np.uint64),
    "words": ["\ud800", "\x00", "x" * 100_000],
    "objects": [[1], {2: 3}, None],
    "\x00<": [1, 2, 3],
}


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name, tmp_path):
    mapped = town().with_attributes({name: ATTRIBUTES[name]})
    check_files(mapped, tmp_path)
    for backend in ("pandas", "polars", "pyarrow"):
        assert len(mapped.to_frame(backend)) == 3


def test_arrays_of_several_columns_are_refused():
    with pytest.raises(InputError, match=r"columns\['v'\] is an array of the shape \(3, 2\)"):
        town().with_attributes({"v": np.ones((3, 2))})


def test_names_of_attributes_are_shortened_in_errors():
    mapped = embed_graph([("a", "b"), ("b", "a")], alpha=0.2).with_attributes({"n" * 100_000: [1, 2]})
    with pytest.raises(InputError) as caught:
        write_export(mapped, "map.geojson")
    assert len(str(caught.value)) < 1000
