"""Tables: what they are, and that nothing in them is lost or taken for something else."""

import csv
import gzip
import io
import re
import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import sparse

from finsler.cli.errors import explain
from finsler.inputs.graph_files import read_graph
from finsler.inputs.tables import SUFFIXES, Text, detect, point_columns, read_table


def read(text, kind="auto", **options):
    return read_table(io.BytesIO(text.encode() if isinstance(text, str) else text), kind, **options)


# --- matrices --------------------------------------------------------------------------------------------------

LABELLED = ",JFK,LAX,MIA\nJFK,0,5.3,2.6\nLAX,4.2,0,3.7\nMIA,2.4,4.5,0\n"
HOURS = [[0, 5.3, 2.6], [4.2, 0, 3.7], [2.4, 4.5, 0]]
NAMES = ["JFK", "LAX", "MIA"]


@pytest.mark.parametrize(
    "text",
    [
        LABELLED,
        LABELLED.replace(",JFK,LAX", "from,JFK,LAX", 1),
        LABELLED.replace(",JFK,LAX", "JFK,LAX", 1),  # as R writes it
        LABELLED.replace(",", "\t"),
        LABELLED.replace(",", ";"),
        LABELLED.replace(",", "|"),
        LABELLED.replace(",JFK,LAX", "-,JFK,LAX", 1).replace(",", "  "),
        LABELLED.replace(",", ";").replace(".", ","),
        LABELLED.replace(",", "\t").replace(".", ","),
        LABELLED.replace("\n", ",\n"),  # a delimiter at the end of each row
        LABELLED.replace("\n", ",,\n") + ",,,,,\n,,,,,\n",  # and rows of them, as Excel does
        LABELLED.replace("\n", "\r\n"),
        LABELLED.replace("\n", "\r"),
        "\ufeff" + LABELLED,
        LABELLED.rstrip(),
        "# hours\n\n" + LABELLED.replace("LAX,4", "# a comment\nLAX,4"),
        re.sub(r"[^,\n]+", lambda cell: f'"{cell[0]}"', LABELLED),
        LABELLED.replace(",", " , "),
    ],
)
def test_a_labelled_matrix_however_it_is_written(text):
    table = read(text)
    assert (table.kind, table.labels) == ("matrix", NAMES)
    np.testing.assert_array_equal(table.values, HOURS)
    assert table.describe() == "stdin: a 3 x 3 matrix with labels"


def test_labels_in_the_first_row_or_column_only_or_nowhere():
    rows = [line.split(",") for line in LABELLED.split()]
    for kept, labels in (
        ([row[1:] for row in rows], NAMES),
        (rows[1:], NAMES),
        ([row[1:] for row in rows[1:]], None),
    ):
        table = read("\n".join(",".join(row) for row in kept))
        assert (table.kind, table.labels) == ("matrix", labels)
        np.testing.assert_array_equal(table.values, HOURS)
    assert "without labels" in table.describe()


def test_labels_that_are_numbers():
    for corner in ("", "id"):
        table = read(f"{corner},1,2,3,4\n1,0,5,6,7\n2,8,0,9,1\n3,2,3,0,4\n4,5,6,7,0\n")
        assert table.labels == ["1", "2", "3", "4"]
        np.testing.assert_array_equal(table.values[0], [0, 5, 6, 7])
    header_only = read("0,1,2,3\n0,5,6,7\n8,0,9,1\n2,3,0,4\n5,6,7,0\n")
    assert header_only.labels == ["0", "1", "2", "3"]


def test_empty_cells_are_missing_on_the_diagonal_too():
    table = read(",A,B,C\nA,,1,NA\nB,n/a,,2\nC,inf,∞,\n")
    np.testing.assert_array_equal(
        table.values, [[np.nan, 1, np.nan], [np.nan, np.nan, 2], [np.inf, np.inf, np.nan]]
    )
    assert table.describe().endswith(", 2 values missing")
    plain = read(",5,3,1\n2,,3,4\n4,1,,2\n9,9,9,\n")
    assert plain.labels is None
    assert plain.values.shape == (4, 4)


def test_a_point_that_nobody_reaches_keeps_its_column():
    table = read(",A,B,C\nA,,1,\nB,1,,\nC,1,1,\n")
    assert table.labels == ["A", "B", "C"]
    assert np.isnan(table.values[:, 2]).all()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("#x\n" + LABELLED.replace("3.7", "oops"), 'row 4, column "MIA": \'oops\' is not a number'),
        ("0,1,2,3\n1,0,x,3\n1,2,0,3\n1,2,3,0", "row 2, column 3: 'x' is not a number"),
        (LABELLED.replace("4.2", "4_2"), "'4_2' is not a number"),
        (LABELLED.replace("4.2", '"4,2"'), "'4,2' is not a number, because commas cut the cells"),
        (LABELLED.replace(",4.5", ""), "row 4 has 3 columns, where most have 4"),
        (LABELLED.replace("0,3.7", "0,3.7,8"), "row 3 has 5 columns, where most have 4"),
        (LABELLED.replace("MIA,2.4,4.5,0\n", ""), "must be square.* 2 rows and 3 columns of numbers besides"),
        ("0,1,2,3,4\n1,0,2,3,4\n", "must be square.* 2 rows and 5 columns of numbers.$"),
        (LABELLED.replace("\nLAX", "\nLAS"), "carry different labels: number 2 is 'LAS' among the rows and 'LAX'"),
        (",A,B\nB,0,1\nA,1,0\n", "the same labels in different orders: number 1 is 'B'"),
        (",A,A\nA,0,1\nA,1,0\n", "the label 'A' is given 2 times"),
        (LABELLED.replace(",", ";").replace("5.3", "5,3"), "mixes decimal points and commas: '5,3' in row 2, column"),
        ("", "stdin is empty"),
        ("  \n\n", "stdin is empty"),
        ("# nothing\n", "stdin holds no rows"),
        ('a,"b\n', "row 1: unexpected end of data"),
        (b"\x00\x01\x02PK", "is not a text file. Export it as CSV"),
        (b",M\xfcnchen\nM\xfcnchen,0\n", "is not text in UTF-8.*encoding="),
        (b"\x1f\x8bnothing", "is not a whole gzip file"),
        ("a,b,c,d\ne,f,g,h\n", "neither a square matrix of numbers, nor edges"),
    ],
)  # fmt: skip
def test_what_is_wrong_and_where(text, message):
    with pytest.raises(ValueError, match=message):
        read(text)


def test_encodings():
    text = ",Köln,Łódź\nKöln,0,1.5\nŁódź,2,0\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        assert read(text.encode(encoding)).labels == ["Köln", "Łódź"]
    western = text.replace("Łódź", "Orléans")
    assert read(western.encode("cp1252"), encoding="cp1252").labels == ["Köln", "Orléans"]
    with pytest.raises(ValueError, match="not text in ROT"):
        read(text, encoding="rot")


def test_gzip_by_content(tmp_path):
    (tmp_path / "m.csv.gz").write_bytes(gzip.compress(LABELLED.encode()))
    assert read_table(tmp_path / "m.csv.gz").labels == NAMES
    assert read(gzip.compress(LABELLED.encode())).labels == NAMES


LABEL = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp"), exclude_characters="\x85"),
    min_size=1,
    max_size=8,
).map(str.strip)


@settings(max_examples=150, deadline=None)
@given(
    labels=st.lists(LABEL.filter(bool), min_size=4, max_size=9, unique=True),
    numbers=st.data(),
    delimiter=st.sampled_from(",;\t|"),
    comma=st.booleans(),
    ends=st.sampled_from(["\n", "\r\n"]),
    mark=st.booleans(),
)
def test_written_and_read_again_it_is_the_same(labels, numbers, delimiter, comma, ends, mark):
    """Quoted labels may hold anything; they are only taken for labels if some are not numbers."""
    assume(
        sum(not re.fullmatch(r"[-+\d.,eE]*|nan|na|n/a|null|none|inf", label, re.I) for label in labels) > 2
    )
    n = len(labels)
    cell = st.none() | st.floats(0, 1e12) | st.integers(0, 1000) | st.just(np.inf)
    values = [[numbers.draw(cell) for _ in range(n)] for _ in range(n)]
    assume(sum(v is not None for row in values for v in row) > n)

    def written(value):
        text = "" if value is None else repr(value)
        return text.replace(".", ",") if comma and delimiter != "," else text

    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator=ends)
    writer.writerow(["", *labels])
    writer.writerows([label, *map(written, row)] for label, row in zip(labels, values, strict=True))
    table = read(("\ufeff" if mark else "") + buffer.getvalue(), "matrix")
    assert table.labels == labels
    expected = [[np.nan if v is None else float(v) for v in row] for row in values]
    np.testing.assert_array_equal(table.values, expected)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_junk_is_refused_in_words(data):
    """Whatever the bytes are, the only errors are those that are written for people."""
    told = "it was read"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            read(data)
        except Exception as error:
            told = explain(error)
    assert told


# --- arrays of numpy -------------------------------------------------------------------------------------------


def test_numpy_files(tmp_path):
    D = np.array(HOURS)
    np.save(tmp_path / "a.npy", D.astype(np.float32))
    np.savez(tmp_path / "b.npz", hours=D)
    np.savez(tmp_path / "c.npz", hours=D, labels=NAMES)
    assert read_table(tmp_path / "a.npy").values.dtype == np.float32
    np.testing.assert_array_equal(read_table(tmp_path / "b.npz").values, D)
    assert read_table(tmp_path / "c.npz").labels == NAMES


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"a": np.eye(2), "b": np.eye(2)}, "one matrix was expected"),
        ({"a": np.ones((2, 3))}, "square matrix of numbers was expected; found shape"),
        ({"a": np.array([["x"]])}, "square matrix of numbers was expected"),
        ({"a": np.eye(2), "labels": np.array(["x"])}, "1 labels for 2 rows"),
        ({"a": np.array([{}])}, "cannot be read as .npz: Object arrays cannot be loaded"),
        ({"json": np.zeros(3, np.uint8)}, "a saved map"),
    ],
)
def test_numpy_files_that_are_no_matrix(tmp_path, arrays, message):
    np.savez(tmp_path / "a.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        read_table(tmp_path / "a.npz")


# --- edges -----------------------------------------------------------------------------------------------------


def same_graph(a, b):
    assert a.labels == b.labels
    assert a.weighted == b.weighted
    np.testing.assert_array_equal(a.matrix.toarray(), b.matrix.toarray())


@pytest.mark.parametrize(
    "text",
    [
        "from,to,minutes\nhome,work,25\nwork,home,40\n",
        "a b\nb c\nc a\n",
        "a b 1\nb c 2.5\nc a 3\n",
        "% matrix\n1\t2\n2\t3\n3\t1\n",
        "0,1,5\n1,2,3\n2,1,4\n",
        "https://example.org/x\n# SNAP\n0 1\n1 2\n",
        "weight;source;target\n1.5;A;B\n2;B;A\n",
        "007,1\n1,2\n",
        "u,v,w\na,b,3\nb,c,4\n",
        '"New York","Los Angeles",5\n"Los Angeles","New York",4\n',
        "-1 -2\n-2 5\n",
    ],
)
def test_edges_are_read_as_the_library_reads_them(tmp_path, text):
    (tmp_path / "g.txt").write_text(text)
    table = read_table(tmp_path / "g.txt")
    assert table.kind == "edges"
    same_graph(table.graph, read_graph(tmp_path / "g.txt"))


NODE = st.sampled_from(["a", "b", "New York", "x y", "ö", "17", "3", "q,r", "p;q"])


@settings(max_examples=80, deadline=None)
@given(
    arcs=st.lists(st.tuples(NODE, NODE, st.floats(0.01, 1e6)), min_size=4, max_size=20),
    delimiter=st.sampled_from(",;\t"),
    header=st.booleans(),
)
def test_edges_written_and_read_again(tmp_path_factory, arcs, delimiter, header):
    assume(any(a != b for a, b, _ in arcs))
    path = tmp_path_factory.mktemp("edges") / "g.csv"
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([["source", "target", "length"]] * header + [list(arc) for arc in arcs])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # repeated arcs and self-loops
        same_graph(read_table(path, "edges").graph, read_graph(path, delimiter=delimiter, header=header))


def test_edges_with_decimal_commas_and_chosen_columns():
    assert read("von;nach;minuten\nA;B;1,5\nB;A;2\n").graph.matrix.toarray().tolist() == [[0, 1.5], [2, 0]]
    text = "id,a,b,km,min\n1,x,y,3,9\n2,y,x,4,8\n"
    assert read(text, columns=["a", "b", "min"]).graph.matrix.max() == 9
    assert not read(text, columns=["a", "b"]).graph.weighted
    for columns, message in (
        (["a", "c"], "'c' is not a column"),
        (["a"], "source, target and possibly length"),
    ):
        with pytest.raises(ValueError, match=message):
            read(text, columns=columns)
    with pytest.raises(ValueError, match="which column holds the lengths"):
        read(text, "edges")
    with pytest.raises(ValueError, match="columns are those of edges"):
        read(LABELLED, "matrix", columns=["a", "b"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b,1\nb,,2\n", "row 2, column 2: a node is missing"),
        ("from,to,km\na,b,1\nb,a,x\n", "row 3, column \"km\": 'x' is not a number"),
        ("a,b,1\nb,a,-2\n", "stdin: Lengths must be finite and not negative"),
        ("a,b,1\nb,a\n", "row 2 has 2 columns"),
    ],
)
def test_edges_that_are_wrong(text, message):
    with pytest.raises(ValueError, match=message):
        read(text, "edges")


def test_graph_files(tmp_path):
    S = sparse.csr_array([[0, 2.0], [3.0, 0]])
    sparse.save_npz(tmp_path / "g.npz", S)
    from scipy.io import mmwrite

    mmwrite(tmp_path / "g.mtx", S)
    for name in ("g.npz", "g.mtx"):
        table = read_table(tmp_path / name)
        assert table.kind == "edges"
        assert table.graph.n_arcs == 2
        with pytest.raises(ValueError, match="holds edges, not matrix as kind='matrix' says"):
            read_table(tmp_path / name, "matrix")


# --- points ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("header", "axes", "kind"),
    [
        ("x,y,current_x,current_y", ["x", "y"], "current"),
        ("x,y,drift_x,drift_y", ["x", "y"], "drift"),
        ("X,Y,Drift_X,Drift_Y", ["X", "Y"], "drift"),
        ("x,y,dx,dy", ["x", "y"], "drift"),
        ("x,y,u,v", ["x", "y"], "current"),
        ("u,v,x,y", ["x", "y"], "current"),
        ("pc1,pc2,current_pc1,current_pc2", ["pc1", "pc2"], "current"),
        ("u,v,drift_u,drift_v", ["u", "v"], "drift"),
    ],
)
def test_columns_of_points(header, axes, kind):
    rows = "0,1,2,3\n4,5,6,7\n8,9,10,11\n"
    table = read(f"{header}\n{rows}")
    assert (table.kind, table.columns, table.vector_kind, table.labels) == ("points", axes, kind, None)
    numbers = np.arange(12.0).reshape(3, 4)
    at = [header.split(",").index(axis) for axis in axes]
    np.testing.assert_array_equal(table.values, numbers[:, at])
    np.testing.assert_array_equal(table.vectors, numbers[:, [k for k in range(4) if k not in at]])


def test_labels_and_attributes_of_points():
    table = read("depth,name,y,x,v,u,kind\n3,A,0,1,.2,.1,deep\n,B,1,2,.2,.1,\n")
    assert table.labels == ["A", "B"]
    np.testing.assert_array_equal(table.values, [[0, 1], [1, 2]])  # in the order of the columns
    np.testing.assert_array_equal(table.vectors, [[0.2, 0.1], [0.2, 0.1]])
    assert list(table.attributes) == ["depth", "kind"]
    np.testing.assert_array_equal(table.attributes["depth"], [3, np.nan])
    assert table.attributes["kind"].tolist() == ["deep", ""]
    assert (
        table.describe()
        == "stdin: 2 points in 2 dimensions (y, x), with a current at each, attributes depth, kind"
    )
    unnamed = read(",x,dx\nA,0,1\nB,1,1\n", "points")
    assert unnamed.labels == ["A", "B"]


def test_points_without_a_field_must_be_asked_for():
    for header in ("x,y,z,colour", "x,y,z,w"):
        table = read(f"{header}\n0,0,0,1\n1,1,1,2\n", "points")
        assert (table.columns, table.vectors) == (["x", "y", "z"], None)
        assert "without a drift or current, attributes" in table.describe()


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("x,y,drift_x,k", "the column 'y' has no drift_y; write 0"),
        ("x,k,drift_x,drift_y", "there is a drift along 'y', but no column 'y'"),
        ("x,y,drift_x,current_y", "a drift and of a current"),
        ("x,x,dx,dx", "the column 'x' is repeated"),
        ("a,b,c,d", "points need columns x, y"),
    ],
)
def test_columns_of_points_that_are_wrong(header, message):
    with pytest.raises(ValueError, match=message):
        read(f"{header}\n1,2,3,4\n", "points")
    with pytest.raises(ValueError, match=message):
        point_columns(header.split(","))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("1,2,,4", "row 3, column \"u\": '', but points need finite numbers there"),
        ("1,inf,3,4", "row 3, column \"y\": 'inf', but"),
        ("1,2,west,4", "row 3, column \"u\": 'west' is not a number"),
    ],
)
def test_points_that_are_wrong(row, message):
    with pytest.raises(ValueError, match=message):
        read(f"x,y,u,v\n0,0,0,0\n{row}\n")
    with pytest.raises(ValueError, match="no points below it"):
        read("x,y,u,v\n", "points")


# --- the door --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "kind"),
    [
        (["0,1", "2,0"], "matrix"),
        (["1,2", "2,1"], "edges"),
        (["0,1,2", "1,0,2", "1,2,0"], "matrix"),
        (["0,1,5", "1,2,3", "2,0,4"], "edges"),
        (["1,2,3", "2,3,4", "3,1,2", "1,3,3"], "edges"),
        ([",head,tail", "head,0,1", "tail,2,0"], "matrix"),  # names of columns of edges, but labels
        (["source,target,weight", "0,1,5", "1,0,3"], "edges"),
        (["a,b,1", "b,c,2", "c,a,3"], "edges"),
        (["a,b", "b,a"], "edges"),
        (["u,v,w", "a,b,3", "b,c,4", "c,a,5"], "edges"),
        (["x,y,w", "a,b,3", "b,c,4", "c,a,5"], "edges"),
        ([",a,b,c,d", "a,0,1,2,3", "b,1,0,2,x"], "matrix"),
    ],
)
def test_detect(rows, kind):
    assert detect([row.split(",") for row in rows]) == kind


def test_real_matrices(proximities):
    sizes = {"morse": 36, "erasmus_2012": 33, "atsp_ftv170": 171, "english_towns": 8}
    for name, n in sizes.items():
        table = read_table(proximities / f"{name}.csv")
        assert table.describe() == f"{name}.csv: a {n} x {n} matrix with labels"
        with open(proximities / f"{name}.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.reader(file))
        assert table.labels == rows[0][1:]
        np.testing.assert_array_equal(table.values, np.array([row[1:] for row in rows[1:]], dtype=float))


def test_files_that_are_not_there_or_not_known(tmp_path):
    with pytest.raises(FileNotFoundError, match=re.escape(f"There is no file {tmp_path / 'a.csv'}")):
        read_table(tmp_path / "a.csv")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        read_table(tmp_path, "matrix")
    (tmp_path / "a.csv").touch()
    with pytest.raises(ValueError, match=r"a\.csv is empty"):
        read_table(tmp_path / "a.csv")
    (tmp_path / "a.xlsx").write_bytes(b"PK\x03\x04\0\0")
    with pytest.raises(ValueError, match=r"suffix \.xlsx is not known; known are .*\.csv"):
        read_table(tmp_path / "a.xlsx")
    with pytest.raises(ValueError, match="not a text file"):
        read_table(tmp_path / "a.xlsx", "matrix")
    (tmp_path / "hours.data").write_text(LABELLED)
    assert read_table(tmp_path / "hours.data", "matrix").labels == NAMES
    with pytest.raises(ValueError, match="kind must be one of auto, matrix, edges, points"):
        read_table(tmp_path / "hours.data", "graph")
    assert set(SUFFIXES) >= {".csv", ".npy", ".npz", ".mtx"}


def test_rows_keep_the_number_of_their_line():
    text = Text(b'# one\n\na,"two\nlines",1\nb,c,2\n', "t")
    assert list(text.rows()) == [(3, ["a", "two\nlines", "1"]), (5, ["b", "c", "2"])]
