"""Tables from files: what they hold, and where they are wrong."""

import gzip
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finsler import embed_graph, embed_matrix
from finsler._read import read_bytes
from finsler.data import readers
from finsler.data.point_tables import read_new_rows
from finsler.data.readers import fast_text
from finsler.data.tables import read_table
from finsler.data.where import parse_where, rows_where
from finsler.errors import InputError
from finsler.graphs.readers import open_file


def table(content, *args, **options):
    return read_table(io.BytesIO(content.encode()), *args, **options)


@pytest.mark.parametrize(
    "content",
    [
        ",A,B\nA,0,1.5\nB,2,0\n",
        "A,B\n0,1.5\n2,0\n",
        "A,0,1.5\nB,2,0\n",
        "A B\nA 0 1.5\nB 2 0\n",
        "to;A;B\nA;0;1,5\nB;2,0;0\n",
        "# km\n\tA\tB\nA\t\t1.5\nB\t2\t\n",
        '"","A","B"\n"A",0,1.5\n"B",2,0\n',
    ],
)
def test_matrices(content):
    found = table(content, "matrix")
    assert found.labels == ["A", "B"]
    np.testing.assert_array_equal(np.nan_to_num(found.values), [[0, 1.5], [2, 0]])


def test_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.eye(3, dtype=np.float32))
    assert read_table(tmp_path / "a.npy").values.dtype == np.float32
    np.savez(tmp_path / "a.npz", D=np.eye(2), labels=["a", "b"])
    assert read_table(tmp_path / "a.npz").labels == ["a", "b"]
    np.savez(tmp_path / "b.npz", json=np.eye(2))
    with pytest.raises(InputError, match="a saved map"):
        read_table(tmp_path / "b.npz")
    with pytest.raises(InputError, match="kind='points'"):
        read_table(tmp_path / "a.npy", "points")
    (tmp_path / "junk.npz").write_bytes(b"PK\x03\x04junk")
    with pytest.raises(InputError, match=r"junk\.npz cannot be read"):
        read_table(tmp_path / "junk.npz")


TIMES = (
    "year,Origin,Destination,Seconds\n2019,a,b,1\n2020,a,b,2\n2020,b,a,3\n2020,b,c,4\n2020,c,a,5\n2020,c,b,\n"
)


def test_pairs():
    found = table(TIMES, "pairs", where="year=2020")
    assert (found.source.tolist(), found.target.tolist()) == (list("abbcc"), list("bacab"))
    np.testing.assert_array_equal(found.values, [2, 3, 4, 5, np.nan])
    facts = found.provenance
    assert facts.columns == {"source": "Origin", "target": "Destination", "value": "Seconds"}
    assert "5 of 6 rows" in facts.remarks[0]
    assert found.describe().startswith(
        "stdin: 4 pairs of 3 places, 2 ordered pairs missing. year=2020 keeps 5 of 6 rows."
    )
    with pytest.raises(InputError, match="holds no arcs or pairs"):
        table(TIMES, "pairs", where={"year": 1999})
    with pytest.raises(InputError, match="where='month' is not a column"):
        table(TIMES, "pairs", where="month=3")


def test_what_was_decided_is_said():
    rng = np.random.default_rng(0)
    rows = [
        f"p{i},p{j},{rng.uniform(1, 2)}"
        for i in range(12)
        for j in range(12)
        if i != j and rng.random() < 0.6
    ]
    found = table("from,to,minutes\n" + "\n".join(rows))
    assert found.kind == found.provenance.kind == "pairs"
    assert "kind edges" in found.describe()
    assert table("from,to,minutes\n" + "\n".join(rows), "edges").provenance.remarks == ()
    ring = table("from,to,minutes\n" + "\n".join(f"{i},{(i + 1) % 30},1" for i in range(30)))
    assert ring.kind == "edges"
    assert "kind pairs" in ring.describe()
    assert ring.source.dtype == np.int64


@pytest.mark.parametrize("name", ["flow", "trips", "VALUE", "n"])
def test_flows_need_a_similarity(name):
    content = f"from,to,{name}\na,b,1\nb,a,9\nb,c,1\nc,a,2\n"
    for kind in ("auto", "pairs", "edges"):
        with pytest.raises(InputError, match="similarity"):
            table(content, kind)
    assert table(content, similarity="gravity").kind == "pairs"
    assert table(content, "edges", value=name).values.tolist() == [1, 9, 1, 2]


def test_edges_without_lengths():
    found = table("a b\nb c\nc a\n")
    assert (found.kind, found.values, found.provenance.counts_arcs) == ("edges", None, True)
    with pytest.raises(InputError, match="pairs need values"):
        table("a b\nb c\nc a\n", "pairs")
    with pytest.raises(InputError, match="row 3, column 2: a node is missing"):
        table("from,to\na,b\nb,\n")


def test_points():
    content = "name,x,y,u,v,depth,kind\nA,0,1,0.5,0,7,sea\nB,1,1,0.5,0,,lake\n"
    found = table(content)
    assert (found.kind, found.labels, found.columns, found.vector_kind) == (
        "points",
        ["A", "B"],
        ["x", "y"],
        "current",
    )
    np.testing.assert_array_equal(found.attributes["depth"], [7, np.nan])
    assert found.attributes["kind"].tolist() == ["sea", "lake"]
    with pytest.raises(InputError, match='row 3, column "y"'):
        table(content.replace("B,1,1", "B,1,inf"))
    assert table(content.replace("B,1,1", "B,1,nan")).provenance.left_out == ("B",)
    with pytest.raises(InputError, match="no points below"):
        table("x,y,u,v\n")


@pytest.mark.parametrize(
    ("args", "options", "words"),
    [
        (["graph"], {}, "kind"),
        (["matrix"], {"where": "a=1"}, "for pairs and edges"),
        (["edges"], {"similarity": "rank"}, "similarity"),
        (["pairs"], {"where": "year"}, "where must be like"),
        (["pairs"], {"delimiter": "ab"}, "delimiter"),
    ],
)
def test_options_that_do_not_go_together(args, options, words):
    with pytest.raises(InputError, match=words):
        table("from,to,km\na,b,1\n", *args, **options)


def test_unknown_suffixes(tmp_path):
    (tmp_path / "a.xyz").write_text("from,to,km\na,b,1\n")
    with pytest.raises(InputError, match=r"the suffix \.xyz"):
        read_table(tmp_path / "a.xyz")
    assert read_table(tmp_path / "a.xyz", "edges").values.tolist() == [1]
    (tmp_path / "a.mtx").write_text("%%\n")
    with pytest.raises(InputError, match=r"a\.mtx: the first line"):
        read_table(tmp_path / "a.mtx")


def test_a_format_is_a_line_in_the_table_of_formats(tmp_path, monkeypatch):
    """A reader that is added there serves recipes, commands and messages."""

    def read_numbers(path):
        lines = read_bytes(path).splitlines()
        return readers.Matrix(np.array([[float(x) for x in line.split()] for line in lines]), ["a", "b"])

    def read_ring(path):
        n = int(read_bytes(path))
        return readers.GraphFile({"src": np.arange(n), "dst": (np.arange(n) + 1) % n, "n_nodes": n})

    monkeypatch.setitem(readers.FORMATS, ".nums", read_numbers)
    monkeypatch.setitem(readers.FORMATS, ".ring", read_ring)
    (tmp_path / "a.nums").write_text("0 1\n2 0\n")
    (tmp_path / "a.ring.gz").write_bytes(gzip.compress(b"7"))
    assert embed_matrix(tmp_path / "a.nums", alpha=0.1).labels == ["a", "b"]
    assert embed_graph(tmp_path / "a.ring.gz", alpha=0.1).n_points == 7
    assert open_file(tmp_path / "a.nums").kind == "matrix"
    assert open_file(tmp_path / "a.ring.gz").graph.n_arcs == 7
    assert "graph" in read_table(tmp_path / "a.ring.gz").describe()
    for options, word in (
        ({"header": True}, "header"),
        ({"source": "from"}, "source"),
        ({"where": "x=1"}, "where"),
    ):
        with pytest.raises(InputError, match=f"{word} is for text files"):
            read_table(tmp_path / "a.nums", **options)
    (tmp_path / "b.nums").write_text("0 one\n")
    with pytest.raises(InputError, match=r"b\.nums cannot be read as \.nums"):
        read_table(tmp_path / "b.nums")
    (tmp_path / "a.xyz").write_text("")
    with pytest.raises(InputError, match=r"known are .*\.nums"):
        read_table(tmp_path / "a.xyz")


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ("aaa,bbb\nx,y\ny,z\nz,x\n", True),
        ("aaa,y\nx,y\ny,z\nz,x\n", False),
        ("citing,cited\nx,y\ny,z\nz,x\n", False),
        ("source,target\nx,y\ny,z\nz,x\n", False),
        ("aaa,bbb\nx,y\n", False),  # too short to tell
    ],
)
def test_a_first_row_that_may_be_a_header_is_told(lines, told):
    """Its names stand nowhere else, and no name of a column is known."""
    table = read_table(io.BytesIO(lines.encode()), "edges")
    assert any("is read as an arc" in remark for remark in table.provenance.remarks) == told
    assert ("citing" in table.source) is False


def test_rows_where():
    assert parse_where(["a=1", "b = x=y"]) == {"a": ["1"], "b": ["x=y"]}
    kept, _ = rows_where({"a": [1.0, "1", 2, "x"]}, {"a": [1, "x"]})
    assert kept.tolist() == [0, 1, 3]


@settings(max_examples=60)
@given(
    st.lists(
        st.text("abcäöü .,'", min_size=1, max_size=5).map(str.strip).filter(bool),
        min_size=4,
        max_size=6,
        unique=True,
    ),
    st.sampled_from(",;\t"),
    st.booleans(),
    st.randoms(use_true_random=False),
)
def test_matrices_survive(labels, delimiter, quickly, random):
    n = len(labels)
    values = np.array([[0 if i == j else random.uniform(0, 1e6) for j in range(n)] for i in range(n)])
    labels = [f"p{label}" for label in labels]
    lines = [
        ["", *labels],
        *([label, *map(repr, row)] for label, row in zip(labels, values.tolist(), strict=True)),
    ]
    quote = '"' if any(delimiter in label for label in labels) else ""
    content = "\n".join(delimiter.join(f"{quote}{cell}{quote}" for cell in line) for line in lines)
    old = fast_text.LOADED
    fast_text.LOADED = 0 if quickly else old
    try:
        found = table(content)
    finally:
        fast_text.LOADED = old
    assert (found.kind, found.labels) == ("matrix", labels)
    np.testing.assert_array_equal(found.values, values)


HASHED = {
    "pairs": "from,to,minutes\na,b,1\n#python,b,2\n b,a,3\n%c,a,1\n",
    "edges": "a,b,1\n#python,b,2\nb,a,3\n%c,a,1\n",
    "points": "name,x,y,u,v\na,0,0,1,1\n  #b,0,1,1,1\nc,1,1,0,0\n%d,1,1,1,1\n",
}


@pytest.mark.parametrize("kind", ["pairs", "edges", "points"])
def test_rows_that_look_like_comments_are_counted(kind):
    """They were skipped without a word: a label may begin so."""
    table = read_table(io.BytesIO(HASHED[kind].encode()), kind)
    assert table.provenance.n_comments == 2
    assert "2 rows below the first" in table.describe()
    assert "2 rows below the first" in " ".join(table.provenance.sentences())
    quoted = (
        HASHED[kind]
        .replace("#python", '"#python"')
        .replace("%c", '"%c"')
        .replace("  #b", '"#b"')
        .replace("%d", '"%d"')
    )
    assert read_table(io.BytesIO(quoted.encode()), kind).provenance.n_comments == 0


def test_comments_above_the_table_are_comments(tmp_path):
    text = "# made by hand\n% in 2020\na,b,1\nb,a,2\n"
    assert read_table(io.BytesIO(text.encode()), "pairs").provenance.n_comments == 0


@pytest.mark.parametrize("entry", ["embed_matrix", "embed_graph", "embed_pairs"])
def test_the_count_of_skipped_rows_stays_with_the_map(entry, tmp_path):
    import finsler

    rows = "a,b,1\nb,a,2\n#x,a,3\nb,c,1\nc,a,2\nc,b,4\na,c,3\n"
    path = tmp_path / "table.csv"
    path.write_text(",A,B\nA,0,1\n# B\nB,2,0\n" if entry == "embed_matrix" else rows)
    found = getattr(finsler, entry)(path, alpha=0.1)
    assert found.provenance.n_comments == 1
    found.save(tmp_path / "map.npz")
    assert finsler.Embedding.load(tmp_path / "map.npz").provenance == found.provenance


def test_skipped_rows_of_tables_about_points_are_said():
    table = io.BytesIO(b"new,A,B\nQ,2,1\n#R,3,1\n")
    with pytest.warns(UserWarning, match="stdin: 1 row below"):
        rows = read_new_rows(table, None, ["A", "B"], 2)
    assert rows.labels == ["Q"]


def test_arcs_between_numbered_nodes_without_lengths(tmp_path):
    for n in (1, 2, 5000):  # many are read at once, as whole numbers
        file = tmp_path / f"ring{n}.csv"
        file.write_text("from,to\n" + "".join(f"{i},{(i + 1) % n}\n" for i in range(n)))
        table = read_table(file)
        assert table.kind == "edges"
        np.testing.assert_array_equal(table.source, np.arange(n))
    (tmp_path / "plain.txt").write_text("".join(f"{i} {i + 1}\n" for i in range(5000)))
    assert read_table(tmp_path / "plain.txt").target[-1] == 5000
