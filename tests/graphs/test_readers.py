"""Digraphs from files: every format gives the same graph, and a broken file says where it is broken."""

from __future__ import annotations

import builtins
import csv
import gzip
import io

import networkx as nx
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.io import mmwrite

from finsler.embedding import Embedding
from finsler.graphs.digraph import as_digraph
from finsler.graphs.readers import open_file, read_graph
from finsler.recipes import embed_graph

from helpers import done, real_file

LABELS = ["Zürich", 'the "Hub"', "Paris, France", "# 東京", "two\n# lines"]
ARCS = [(0, 1, 2.5), (1, 0, 4.0), (1, 2, 0.0), (2, 3, 1.0), (3, 0, 7.25), (0, 4, 0.1)]


def lengths(graph):
    """Lengths by pair of names; an arc of length zero is there, an absent arc is not."""
    entries = graph.matrix.tocoo()
    names = graph.nodes
    return {(names[i], names[j]): w for i, j, w in zip(entries.row, entries.col, entries.data, strict=True)}


EXPECTED = {(LABELS[i], LABELS[j]): w for i, j, w in ARCS}


def matrix():
    rows, columns, values = zip(*ARCS, strict=True)
    return sparse.csr_array(sparse.coo_array((values, (rows, columns)), shape=(5, 5)))


def write_table(path, rows, delimiter=",", header=("source", "target", "weight")):
    """Rows as the csv module writes them, all text quoted."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    writer.writerows(([header] if header else []) + rows)
    data = text.getvalue().encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def write_graph(path):
    """The example in the format that the suffix asks for; labels are returned where the format has none."""
    rows = [(LABELS[i], LABELS[j], w) for i, j, w in ARCS]
    name = path.name.removesuffix(".gz")
    if name.endswith(".csv"):
        write_table(path, rows)
    elif name.endswith((".tsv", ".txt")):
        write_table(path, rows, "\t")
    elif name.endswith(".mtx"):
        with gzip.open(path, "wb") if path.suffix == ".gz" else open(path, "wb") as file:
            mmwrite(file, matrix(), precision=17)
        return LABELS
    elif name.endswith(".graphml"):
        graph = nx.DiGraph()
        graph.add_nodes_from(LABELS)
        graph.add_weighted_edges_from(rows)
        nx.write_graphml(graph, path)
    elif name == "scipy.npz":
        sparse.save_npz(path, matrix())
        return LABELS
    elif name == "arrays.npz":
        src, dst, weight = zip(*ARCS, strict=True)
        np.savez(path, src=src, dst=dst, weight=weight, n_nodes=5, node_labels=LABELS)
    return None


NAMES = ["a.csv", "a.csv.gz", "A.CSV", "a.tsv", "a.txt", "a.tsv.gz", "a.mtx", "a.mtx.gz", "a.graphml"]
NAMES += ["a.graphml.gz", "scipy.npz", "arrays.npz"]


@pytest.mark.parametrize("name", NAMES)
def test_every_format_gives_the_same_digraph(name, tmp_path):
    path = tmp_path / name.lower()
    labels = write_graph(path)
    path = path.rename(tmp_path / name)
    before = path.read_bytes()
    for graph in (read_graph(path, labels=labels), as_digraph(str(path), labels=labels)):
        assert graph.labels == LABELS
        assert lengths(graph) == EXPECTED
        assert graph.matrix.has_canonical_format
        assert graph.weighted
    hops = read_graph(path, labels=labels, weight=None)
    assert set(lengths(hops)) == set(EXPECTED)
    assert not hops.weighted
    assert path.read_bytes() == before


# --- text files ---------------------------------------------------------------------------------------------


def read_text(tmp_path, text, name="arcs.txt", **options):
    path = tmp_path / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_graph(path, **options)


@pytest.mark.parametrize(
    "text",
    [
        "a,b,1\nb,c,2\n",
        "a;b;1\nb;c;2",
        "a\tb\t1\r\nb\tc\t2\r\n",
        "a\tb\t1\rb\tc\t2\r",
        "a b 1\nb c 2\n",
        "  a   b \t 1 \n\n b  c  2\n",
        "a, b, 1\n b ,c,2.0\n",
        "# a comment, with; delimiters\n% another\n\na,b,1\n# between\nb,c,2e0\n",
        "\ufeffa,b,1\nb,c,2\n",
        "https://snap.stanford.edu/data/x.html\n# From To\na b 1\nb c 2\n",
        "source,target,weight\na,b,1\nb,c,2\n",
        "weight;to;from\n1;b;a\n2;c;b\n",
        "minutes;to;from\n1;b;a\n2;c;b\n",
        "Start Stop Minutes\na b 1\nb c 2\n",
        ",source,target,weight\n0,a,b,1\n1,b,c,2\n",
        '"a" "b" 1\n"b" "c" 2\n',
        "From\tTo\tLength\tNote\na\tb\t1\t\nb\tc\t2\tslow\n",
    ],
)
def test_text_files_are_understood(tmp_path, text):
    graph = read_text(tmp_path, text)
    assert graph.labels == (["a", "b", "c"])
    assert lengths(graph) == {("a", "b"): 1.0, ("b", "c"): 2.0}


@pytest.mark.parametrize("header", ["", "from;to;km\n", "source;target;weight\n", "a1;b1;km, about\n"])
@pytest.mark.parametrize("delimiter", [";", "\t", " ", "|"])
def test_decimal_commas_are_not_delimiters(tmp_path, header, delimiter):
    """Lines of a;b;1,5 are cut as consistently by the comma: into the nodes 'a;b;1' and '5'."""
    text = (header + "a;b;1,5\nb;c;2,25\nc;a;,5\n").replace(";", delimiter)
    if delimiter == " ":
        text = text.replace("km, about", "km_about")
    graph = read_text(tmp_path, text)
    assert lengths(graph) == {("a", "b"): 1.5, ("b", "c"): 2.25, ("c", "a"): 0.5}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("id1,id2\n30,10\n10,20\n", [10, 20, 30]),
        ("30 10\n10 20\n", [10, 20, 30]),
        ("2 1\n1 0\n", None),
        ("# FromNodeId\tToNodeId\n3466\t937\n", [937, 3466]),
        ("-1,5\n5,3\n", [-1, 3, 5]),
        ("007,7\n", ["007", "7"]),
        ("1.0,2.0\n", ["1.0", "2.0"]),
        ("1_0,2_0\n", ["1_0", "2_0"]),
        ("x1,3\n3,4\n", ["x1", "3", "4"]),
        ("New York,Los Angeles\nLos Angeles,Rome\n", ["New York", "Los Angeles", "Rome"]),
        ("99999999999999999999,1\n", ["99999999999999999999", "1"]),
    ],
)
def test_names_of_nodes(tmp_path, text, labels):
    graph = read_text(tmp_path, text, "arcs.csv")
    found = graph.labels if labels != ["99999999999999999999", "1"] else list(map(str, graph.labels))
    assert found == labels
    assert not graph.weighted


def test_only_an_address_alone_on_the_first_line_is_skipped(tmp_path):
    assert read_text(tmp_path, "http://a.org/ http://b.org/\n").labels == ["http://a.org/", "http://b.org/"]
    assert read_text(tmp_path, "http://a.org,http://b.org\n").labels == ["http://a.org", "http://b.org"]
    assert read_text(tmp_path, "http://a|http://b\n", delimiter="|").labels == ["http://a", "http://b"]
    with pytest.raises(ValueError, match="row 3 has 3 columns, where most have 2"):
        read_text(tmp_path, "http://a.org\na b\na b c\n")
    with pytest.raises(ValueError, match="row 2 has 1 columns"):
        read_text(tmp_path, "a b\nhttp://a.org\n")
    with pytest.raises(ValueError, match="holds no rows"):
        read_text(tmp_path, "http://a.org\n")


def test_options_of_text_files(tmp_path):
    text = "a|b|x|5\nb|c|y|6\n"
    graph = read_text(tmp_path, text, delimiter="|", weight=3)
    assert lengths(graph) == {("a", "b"): 5.0, ("b", "c"): 6.0}
    graph = read_text(tmp_path, text, delimiter="|", source=1, target=2, weight=None)
    assert graph.labels == ["b", "x", "c", "y"]
    named = "u,v,when,how long\na,b,5,9\nb,c,6,8\n"
    graph = read_text(tmp_path, named, source="v", target="u", weight="how long")
    assert lengths(graph) == {("b", "a"): 9.0, ("c", "b"): 8.0}
    graph = as_digraph(tmp_path / "arcs.txt", source="v", target="u", weight="when")
    assert lengths(graph) == {("b", "a"): 5.0, ("c", "b"): 6.0}
    assert read_text(tmp_path, "page link\na b\n", header=True).labels == ["a", "b"]
    assert read_text(tmp_path, "source target\na b\n", header=False).labels == ["source", "target", "a", "b"]
    assert read_text(tmp_path, "a b\n", "data.unknown", kind="arcs").labels == ["a", "b"]
    assert read_text(tmp_path, "Zürich Bern\n".encode("latin-1"), encoding="latin-1").labels == [
        "Zürich",
        "Bern",
    ]
    assert read_text(tmp_path, "x, y z\n", delimiter=" ", weight=None).labels == ["x,", "y"]


def test_labels_given_with_a_file(tmp_path):
    assert read_text(tmp_path, "0 2\n", labels=["a", "b", "c"]).nodes == ["a", "b", "c"]
    assert lengths(read_text(tmp_path, "0 2\n", labels=["a", "b", "c"])) == {("a", "c"): 1.0}
    assert lengths(read_text(tmp_path, "1 2\n", labels=["1", "2", "3"])) == {("1", "2"): 1.0}
    assert read_text(tmp_path, "1 2\n", labels=range(4)).n_nodes == 4
    with pytest.raises(ValueError, match=r"arcs\.txt: labels: No node is labeled 'q'"):
        read_text(tmp_path, "a q\n", labels=["a"])


def test_directions_duplicates_and_loops(tmp_path):
    text = "a,b,3\na,b,2\nb,b,1\nb,c,1\n"
    with pytest.warns(UserWarning, match="dropped 1 self-loop, merged 1 repeated arc") as caught:
        graph = read_text(tmp_path, text)
    assert caught[0].filename.endswith("test_readers.py")
    assert lengths(graph) == {("a", "b"): 2.0, ("b", "c"): 1.0}
    with pytest.warns(UserWarning, match="1 self-loop") as caught:
        as_digraph(tmp_path / "arcs.txt")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(UserWarning, match="1 self-loop"):
        graph = read_text(tmp_path, text, duplicates="sum", directed=False)
    assert lengths(graph) == {("a", "b"): 5.0, ("b", "a"): 5.0, ("b", "c"): 1.0, ("c", "b"): 1.0}
    with pytest.raises(ValueError, match="from 'a' to 'b' was given before"):
        read_text(tmp_path, text, duplicates="raise")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("\n\n", "is empty"),
        ("# only\n% comments\n", "holds no rows"),
        ("source,target\n", "holds no arcs"),
        ("# c\nfrom,to,km\na,b,1\n\na,c,far\n", "row 5, column \"km\": 'far' is not a number"),
        ("a,b,x\na,c,2\n", "row 1, column 3: 'x' is not a number"),
        ("a;b;1,5\na;c;2.5\n", "mixes decimal points and commas: '1,5' in row 1"),
        ("a,b,1\na,c,\n", "from 'a' to 'c' has nan"),
        ("a,b,1\na,c,1_0\n", "row 2, column 3: '1_0' is not a number"),
        ('from,to,km\n"a\nb",c,1\nc,d,x\n', 'row 4, column "km"'),
        ("a,b,1\na,c,2\n# c\na,d\n", "row 4 has 2 columns, where most have 3"),
        ("a b\nb c 7\n", "row 2 has 3 columns, where most have 2"),
        ("a,b\n,c\n", "row 2, column 1: a node is missing"),
        ("a,b\nc,\n", "row 2, column 2: a node is missing"),
        ('a,b\n"c,d\n', "row 2: unexpected end of data"),
        ("alone\nalone\n", "needs two columns"),
        ("a,b,1,2\nb,c,3,4\n", "weight: which column"),
        ("a,b,-1\n", "from 'a' to 'b' has -1.0"),
        ("1,2,nan\n", "from 1 to 2 has nan"),
        ("1,2,inf\n", "from 1 to 2 has inf"),
    ],
)
def test_broken_text_files(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path, text)


def test_errors_name_the_file(tmp_path):
    with pytest.raises(ValueError, match=r"here\.csv: row 1"):
        read_text(tmp_path, "1,2,x\n2,3,4\n", "here.csv")
    with pytest.raises(ValueError, match="weight='w' is not a column; the columns are"):
        read_text(tmp_path, "a,b,1\n", weight="w")
    with pytest.raises(ValueError, match="source=7 is not a column"):
        read_text(tmp_path, "a,b,1\n", source=7, target=1)
    with pytest.raises(ValueError, match="give encoding="):
        read_text(tmp_path, "Zürich Bern\n".encode("latin-1"))
    assert read_text(tmp_path, "a,b\n", "plain.csv.gz").labels == [
        "a",
        "b",
    ]  # unpacked by someone, not renamed
    with pytest.raises(ValueError, match=r"cut\.csv\.gz cannot be read as .* gzip"):
        read_text(tmp_path, gzip.compress(b"a,b\n" * 1000)[:-12], "cut.csv.gz")


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(FileNotFoundError, match="There is no file"):
        read_graph(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_graph(tmp_path)
    with pytest.raises(FileNotFoundError):
        as_digraph("none.csv")
    with pytest.raises(ValueError, match=r"known are \.csv \.tsv .* \.npz"):
        read_text(tmp_path, "a b\n", "arcs.ods")
    with pytest.raises(ValueError, match="kind='adjacency'"):
        read_text(tmp_path, "a b\n", kind="adjacency")
    write_graph(tmp_path / "a.mtx")
    with pytest.raises(ValueError, match="header is for text files"):
        read_graph(tmp_path / "a.mtx", header=True)


# --- wrong before: both entries ------------------------------------------------------------------------------------


def ring(n=12):
    return [(f"n{i}", f"n{(i + 1) % n}", 1.5 + i / 4) for i in range(n)]


@pytest.mark.parametrize("header", ["", "from;to;minutes\n"])
def test_decimal_commas_through_both_entries(tmp_path, header):
    """Wrong before: nodes 'a;b;1' and '5' without a header, refused with one."""
    path = tmp_path / "streets.csv"
    path.write_text(header + "".join(f"{i};{j};{w}\n".replace(".", ",") for i, j, w in ring()))
    expected = embed_graph(ring(), random_state=0)
    found = embed_graph(path, random_state=0)
    assert found.labels == expected.labels
    np.testing.assert_array_equal(found.coordinates, expected.coordinates)
    done("embed", path, "--out", tmp_path / "map.npz")
    saved = Embedding.load(tmp_path / "map.npz")
    assert saved.labels == expected.labels
    np.testing.assert_allclose(saved.coordinates, expected.coordinates, atol=1e-12)


def test_open_file(tmp_path):
    write_graph(tmp_path / "a.mtx")
    write_graph(tmp_path / "scipy.npz")
    write_graph(tmp_path / "a.csv")
    for name in ("a.mtx", "scipy.npz", "a.csv"):
        table = open_file(tmp_path / name)
        assert (table.kind, table.graph.n_arcs) == ("edges", 6)
        assert table.describe().startswith(f"{name}: edges of a digraph with 5 nodes")
        with pytest.raises(ValueError, match=r"matrix|square"):
            open_file(tmp_path / name, "matrix")
    np.save(tmp_path / "m.npy", np.eye(3))
    assert open_file(tmp_path / "m.npy").kind == "matrix"
    (tmp_path / "p.csv").write_text("o,d,min\na,b,1\nb,a,2\nb,c,3\nc,b,4\na,c,9\n")
    pairs = open_file(tmp_path / "p.csv")
    assert (pairs.kind, pairs.graph) == ("pairs", None)
    assert open_file(tmp_path / "p.csv", "edges").graph.n_arcs == 5
    (tmp_path / "bad.csv").write_text("from,to,km\na,b,-1\nb,a,2\n")
    with pytest.raises(ValueError, match=r"bad\.csv: .*'a' to 'b'"):
        open_file(tmp_path / "bad.csv", "edges")


# --- Matrix Market ------------------------------------------------------------------------------------------


def test_matrix_market(tmp_path):
    head = "%%MatrixMarket matrix coordinate "
    graph = read_text(tmp_path, head + "pattern general\n3 3 2\n1 2\n3 1\n", "a.mtx")
    assert lengths(graph) == {(0, 1): 1.0, (2, 0): 1.0}
    assert not graph.weighted
    graph = read_text(tmp_path, head + "real symmetric\n3 3 2\n2 1 2.5\n3 1 0\n", "a.mtx")
    assert lengths(graph) == {(0, 1): 2.5, (1, 0): 2.5, (0, 2): 0.0, (2, 0): 0.0}
    graph = read_text(tmp_path, head + "pattern symmetric\n2 2 1\n2 1\n", "a.mtx")
    assert lengths(graph) == {(0, 1): 1.0, (1, 0): 1.0}
    graph = read_text(tmp_path, "%%MatrixMarket matrix array real general\n2 2\n0\n3\n4\n0\n", "a.mtx")
    assert lengths(graph) == {(1, 0): 3.0, (0, 1): 4.0}
    with pytest.warns(UserWarning, match="1 self-loop, merged 1 repeated"):
        graph = read_text(tmp_path, head + "integer general\n2 2 3\n1 1 5\n1 2 5\n1 2 4\n", "a.mtx")
    assert lengths(graph) == {(0, 1): 4.0}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("%%MatrixMarket matrix coordinate real general\n2 3 1\n1 2 1\n", "must be square"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 x\n", r"a\.mtx"),
        ("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 3 1\n", r"a\.mtx"),
        ("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 3\n", "from 0 to 1 has -3"),
        ("%%MatrixMarket matrix coordinate complex general\n2 2 1\n2 1 3 1\n", "complex"),
        ("1,2\n", r"a\.mtx"),
    ],
)
def test_broken_matrix_market(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_text(tmp_path, text, "a.mtx")


# --- GraphML ------------------------------------------------------------------------------------------------


def test_graphml(tmp_path):
    path = tmp_path / "a.graphml"
    graph = nx.Graph()
    graph.add_edge("b", "a", weight=2.0, minutes=3)
    graph.add_edge("a", "c", weight=0.0, minutes=4)
    nx.write_graphml(graph, path)
    expected = {("b", "a"): 2.0, ("a", "b"): 2.0, ("a", "c"): 0.0, ("c", "a"): 0.0}
    assert lengths(read_graph(path)) == expected
    assert lengths(read_graph(path, weight="minutes"))["c", "a"] == 4.0
    with pytest.raises(ValueError, match="is undirected"):
        read_graph(path, directed=True)
    graph.add_edge("a", "d", minutes=5)
    nx.write_graphml(graph, path)
    with pytest.raises(ValueError, match=r"a\.graphml: weight='weight': the edge from 'a' to 'd'"):
        read_graph(path)
    multi = nx.MultiDiGraph()
    multi.add_weighted_edges_from([("a", "b", 3.0), ("a", "b", 2.0)])
    nx.write_graphml(multi, path)
    with pytest.warns(UserWarning, match="merged 1 repeated"):
        assert lengths(read_graph(path)) == {("a", "b"): 2.0}
    for text in ("<graphml", "<html></html>", "no xml"):
        with pytest.raises(ValueError, match=r"a\.graphml"):
            read_text(tmp_path, text, "a.graphml")


GRAPHML = """<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="w" for="edge" attr.name="length" attr.type="double"><default>7</default></key>
<graph edgedefault="directed"><node id="a"/><node id="b">%s</node>
<edge source="a" target="b"><data key="w">2</data></edge><edge source="b" target="a"/></graph>%s</graphml>"""


def test_graphml_needs_no_networkx_and_knows_defaults(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *args, **kwargs):
        if name.startswith("networkx"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", refuse)
    graph = read_text(tmp_path, GRAPHML % ("", ""), "a.graphml")
    assert lengths(graph) == {("a", "b"): 2.0, ("b", "a"): 7.0}
    assert graph.provenance.n_graphs_skipped == 0


INNER = '<graph edgedefault="directed"><node id="b1"/><node id="b2"/><edge source="b1" target="b2"/></graph>'


def test_further_and_nested_graphs_are_counted(tmp_path):
    """Dropped without a word before."""
    path = tmp_path / "a.graphml"
    path.write_text(GRAPHML % (INNER, "<graph/><graph><node id='z'/></graph>"))
    assert read_graph(path).provenance.n_graphs_skipped == 3
    assert "3 further or nested graphs" in open_file(path).describe()
    assert "3 further or nested graphs" in done("embed", path, "--out", tmp_path / "map.npz").stderr
    facts = Embedding.load(tmp_path / "map.npz").provenance
    assert facts.n_graphs_skipped == 3
    group = GRAPHML.replace('id="b"', 'id="b" yfiles.foldertype="group"') % (INNER, "")
    graph = read_text(tmp_path, group, "b.graphml")
    assert (graph.labels, graph.provenance.n_graphs_skipped) == (["a", "b", "b1", "b2"], 0)


# --- npz ----------------------------------------------------------------------------------------------------


def test_npz_arrays(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, src=[0, 1], dst=[1, 3], n_nodes=5, time=[2.0, 3.0])
    graph = read_graph(path)
    assert (graph.n_nodes, graph.labels, graph.weighted) == (5, None, False)
    assert lengths(read_graph(path, weight="time")) == {(0, 1): 2.0, (1, 3): 3.0}
    assert lengths(read_graph(path, labels=list("abcde"))) == {("a", "b"): 1.0, ("b", "d"): 1.0}
    assert lengths(read_graph(path, labels=[10, 11, 12, 13, 14])) == {(10, 11): 1.0, (11, 13): 1.0}
    with pytest.raises(ValueError, match="weight='km' is not among its arrays"):
        read_graph(path, weight="km")
    with pytest.raises(ValueError, match="labels has 2 names for 5 nodes"):
        read_graph(path, labels=["a", "b"])


def test_broken_npz(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, src=[0, 1], dst=[1, 5], n_nodes=5)
    with pytest.raises(ValueError, match="labels: No node is labeled 5"):
        read_graph(path)
    np.savez(path, src=[0, 1], dst=[1], n_nodes=5)
    with pytest.raises(ValueError, match="differ in size"):
        read_graph(path)
    np.savez(path, src=[0, 1], dst=[1, 0])
    with pytest.raises(ValueError, match="src, dst and n_nodes; found 'src', 'dst'"):
        read_graph(path)
    with open(path, "wb") as file:
        np.save(file, np.eye(3))
    with pytest.raises(ValueError, match=r"a\.npz cannot be read"):
        read_graph(path)
    for data in (b"PK\x03\x04 cut short", b"nothing like it"):
        with pytest.raises(ValueError, match=r"a\.npz"):
            read_text(tmp_path, data, "a.npz")


class Explosive:
    """Something whose unpickling would be noticed."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was executed",))


def test_nothing_pickled_is_loaded(tmp_path):
    path = tmp_path / "a.npz"
    bomb = np.array([Explosive()], dtype=object)
    np.savez(path, src=bomb, dst=[0], n_nodes=2)
    with pytest.raises(ValueError, match=r"a\.npz: .*pickled"):
        read_graph(path)
    np.savez(path, format=bomb, shape=bomb, data=bomb)
    with pytest.raises(ValueError, match=r"a\.npz: .*pickled"):
        read_graph(path)


# --- round trips and real files -----------------------------------------------------------------------------

word = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
word = word.map(str.strip).filter(bool)


def graphs_on(nodes):
    pairs = st.tuples(nodes, nodes).filter(lambda pair: pair[0] != pair[1])
    return st.dictionaries(pairs, st.floats(0, 1e9), min_size=1, max_size=12)


# Text does not tell the name "7" from the number 7, so not all names may look like numbers.
names = graphs_on(word).filter(
    lambda arcs: any(not node.lstrip("-").isdigit() for pair in arcs for node in pair)
)
random_graphs = st.one_of(graphs_on(st.integers(-9, 99)), names)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(random_graphs, st.sampled_from([",", ";", "\t"]), st.booleans(), st.sampled_from(["", ".gz"]))
def test_random_digraphs_survive_text_files(tmp_path, arcs, delimiter, header, gz):
    path = tmp_path / f"random.csv{gz}"
    rows = [(u, v, w) for (u, v), w in arcs.items()]
    write_table(path, rows, delimiter, ("source", "target", "weight") if header else None)
    expected = as_digraph(rows)
    graph = read_graph(path, delimiter=delimiter, header=header)
    assert graph.labels == expected.labels
    np.testing.assert_array_equal(graph.matrix.indices, expected.matrix.indices)
    np.testing.assert_array_equal(graph.matrix.indptr, expected.matrix.indptr)
    np.testing.assert_array_equal(graph.matrix.data, expected.matrix.data)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(random_graphs, st.sampled_from(["mtx", "npz", "arrays"]))
def test_random_digraphs_survive_binary_files(tmp_path, arcs, form):
    graph = as_digraph([(u, v, w) for (u, v), w in arcs.items()])
    path = tmp_path / ("random.mtx" if form == "mtx" else "random.npz")
    entries = graph.matrix.tocoo()
    if form == "mtx":
        mmwrite(path, graph.matrix, precision=17, symmetry="general")
    elif form == "npz":
        sparse.save_npz(path, graph.matrix)
    else:
        np.savez(path, src=entries.row, dst=entries.col, weight=entries.data, n_nodes=graph.n_nodes)
    assert lengths(read_graph(path, labels=graph.nodes)) == lengths(graph)


def published(folder):
    """A graph with 5 self-loops as publishers ship them: a CSV with names of columns, arrays, and SNAP's text."""
    arcs = np.argwhere(np.random.default_rng(0).random((40, 40)) < 0.1)
    arcs = np.concatenate([arcs[arcs[:, 0] != arcs[:, 1]], np.column_stack([np.arange(5), np.arange(5)])])
    write_table(folder / "edges.csv", arcs.tolist(), header=("id1", "id2"))
    np.savez(
        folder / "edges.npz", src=arcs[:, 0], dst=arcs[:, 1], n_nodes=40, length=np.arange(len(arcs)) + 1.0
    )
    rows = "\n".join(f"{i + 7}\t{j + 7}" for i, j in arcs)
    (folder / "snap.txt").write_text(f"https://example.org/graph\n# Nodes: 40\n# From\tTo\n{rows}\n")
    return len(arcs) - 5


def test_published_files(tmp_path):
    n_arcs = published(tmp_path)
    with pytest.warns(UserWarning, match="dropped 5 self-loops"):
        text = read_graph(tmp_path / "edges.csv")
    with pytest.warns(UserWarning, match="dropped 5 self-loops"):
        arrays = read_graph(tmp_path / "edges.npz", weight=None)
    assert text.describe() == arrays.describe()
    assert (text.n_nodes, text.n_arcs, text.labels) == (40, n_arcs, None)
    assert lengths(text) == lengths(arrays)
    with pytest.warns(UserWarning, match="dropped 5 self-loops"):
        lengthy = read_graph(tmp_path / "edges.npz", weight="length")
    assert (lengthy.n_arcs, lengthy.weighted) == (n_arcs, True)
    with pytest.warns(UserWarning, match="dropped 5 self-loops"):
        snap = read_graph(tmp_path / "snap.txt")  # its first line is an address
    assert (snap.n_nodes, snap.n_arcs, snap.weighted) == (40, n_arcs, False)
    write_table(tmp_path / "matrix.csv", np.eye(9).tolist(), header=None)
    with pytest.raises(ValueError, match="A square table is a matrix"):
        read_graph(tmp_path / "matrix.csv")


def test_real_files():
    with pytest.warns(UserWarning, match="dropped 50 self-loops"):
        text = read_graph(real_file("raw/chameleon_edges.csv"))
    with pytest.warns(UserWarning, match="dropped 50 self-loops"):
        arrays = read_graph(real_file("graphs/chameleon.npz"))
    assert text.describe() == arrays.describe()
    assert (text.n_nodes, text.n_arcs, text.labels) == (2277, 36051, None)
    assert lengths(text) == lengths(arrays)
    berlin = read_graph(real_file("graphs/road_berlin.npz"), weight="length")
    assert (berlin.n_nodes, berlin.n_arcs, berlin.weighted) == (877, 1410, True)
    with pytest.warns(UserWarning, match="dropped 12 self-loops"):
        grqc = read_graph(real_file("raw/ca-GrQc.txt"))  # its first line is an address
    assert (grqc.n_nodes, grqc.n_arcs, grqc.weighted) == (5242, 28968, False)
    with pytest.raises(ValueError, match="A square table is a matrix"):
        read_graph(real_file("proximities/morse.csv"))
