"""Tables that are written at random, with any delimiter, decimal mark, quotes and labels, are read back as they were."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finsler.cli.output import csv_text, matrix_csv
from finsler.data.readers import fast_text
from finsler.data.readers.text import Text
from finsler.data.tables import nodes_from_text, read_table

pandas = pytest.importorskip("pandas")  # large files are parsed by it

# Names as people write them, and worse; a letter first, so that they are no numbers.
NAMES = st.builds(
    lambda first, rest: (first + rest).strip(),
    st.sampled_from("pqüЖ東"),
    st.text(alphabet="ab ä#%\"'._-,;\t|é東0123", max_size=6),
)
NUMBERS = st.floats(0, 1e12, allow_nan=False) | st.integers(0, 10**9).map(float) | st.just(math.nan)


@st.composite
def written(draw):
    """How a table is written: delimiter, decimal mark, line ends, what is quoted."""
    delimiter = draw(st.sampled_from(",;\t|"))
    decimal = "." if delimiter == "," else draw(st.sampled_from(".,"))
    quoting = draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    return delimiter, decimal, draw(st.sampled_from(["\n", "\r\n"])), quoting


def text_of(rows, style):
    delimiter, decimal, line_end, quoting = style
    out = io.StringIO()
    plain = csv.writer(out, delimiter=delimiter, lineterminator=line_end, quoting=quoting)
    full = csv.writer(out, delimiter=delimiter, lineterminator=line_end, quoting=csv.QUOTE_ALL)
    for row in rows:
        cells = [_cell(value, decimal) for value in row]
        (full if cells[0].lstrip()[:1] in ("#", "%") else plain).writerow(cells)
    return out.getvalue()


def _cell(value, decimal):
    if isinstance(value, str):
        return value
    return "" if math.isnan(value) else repr(value).replace(".", decimal)


def read(content, kind, *, quickly):
    old = fast_text.LOADED
    fast_text.LOADED = 0 if quickly else old
    try:
        return read_table(io.BytesIO(content.encode()), kind)
    finally:
        fast_text.LOADED = old


@settings(max_examples=60)
@given(st.lists(NAMES, min_size=3, max_size=6, unique=True), written(), st.booleans(), st.data())
def test_matrices(labels, style, quickly, data):
    n = len(labels)
    values = np.array([data.draw(st.lists(NUMBERS, min_size=n, max_size=n)) for _ in labels])
    np.fill_diagonal(values, 0.0)
    rows = [["", *labels], *([label, *row] for label, row in zip(labels, values.tolist(), strict=True))]
    found = read(text_of(rows, style), "matrix", quickly=quickly)
    assert found.labels == labels
    np.testing.assert_array_equal(found.values, values)


@settings(max_examples=60)
@given(st.lists(st.tuples(NAMES, NAMES, NUMBERS), min_size=3, max_size=9), written(), st.booleans())
def test_long_tables(rows, style, quickly):
    content = text_of([["from", "to", "minutes"], *rows], style)
    found = read(content, "pairs", quickly=quickly)
    assert list(zip(found.source, found.target, strict=True)) == [(a, b) for a, b, _ in rows]
    np.testing.assert_array_equal(found.values, [value for *_, value in rows])


@settings(max_examples=40)
@given(st.lists(NAMES, min_size=3, max_size=6, unique=True), st.data())
def test_what_the_command_line_writes(labels, data):
    n = len(labels)
    values = np.array([data.draw(st.lists(NUMBERS, min_size=n, max_size=n)) for _ in labels])
    np.fill_diagonal(values, 0.0)
    found = read(matrix_csv(values, labels), "matrix", quickly=False)
    assert found.labels == labels
    np.testing.assert_array_equal(found.values, values)
    pairs = read(csv_text([["from", "to", "minutes"], [labels[0], labels[1], 2.5]]), "pairs", quickly=False)
    assert (pairs.source.tolist(), pairs.target.tolist()) == ([labels[0]], [labels[1]])


# What is and what is not an integer as Python writes it, and what blanks around it do.
WHOLE = st.integers(-(10**18) + 1, 10**18 - 1).map(str) | st.integers(-9, 120).map(str)
ODD = st.sampled_from(
    [
        "007",
        "+7",
        "-0",
        "1_000",
        "1e3",
        "2.0",
        str(10**18),
        "-" + "9" * 19,
        " 12",
        "12 ",
        "x",
        "٣",
        "--1",
        "-",
    ]
)


@settings(max_examples=150)
@given(
    st.lists(st.tuples(WHOLE, WHOLE), min_size=4, max_size=12),
    st.none() | ODD,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["from,to", "to,from,minutes", "minutes,from,to"]),
    st.booleans(),
)
def test_names_of_nodes_are_the_same_however_large_the_file_is(ends, odd, line_end, header, last):
    if odd is not None:
        ends[len(ends) // 2] = (odd, ends[0][1]) if last else (ends[0][0], odd)
    columns = header.split(",")
    lines = [header]
    for a, b in ends:
        cells = {"from": a, "to": b, "minutes": "1.5"}
        lines.append(",".join(cells[name] for name in columns))
    content = line_end.join(lines) + line_end * last
    found = read(content, "edges", quickly=True)
    expected = nodes_from_text([a.strip() for a, _ in ends], [b.strip() for _, b in ends])
    for column, values in zip((found.source, found.target), expected, strict=True):
        assert column.dtype == values.dtype
        assert column.tolist() == values.tolist()


def test_integers_are_found_without_text(monkeypatch):
    monkeypatch.setattr(fast_text, "LOADED", 0)
    found = Text(b"from,to\n12,-7\n0,123456789012345678\n", "t")
    assert [column.tolist() for column in found.whole_numbers([0, 1], True)] == [
        [12, 0],
        [-7, 123456789012345678],
    ]
    assert Text(b"from,to\n12,-7\n01,3\n", "t").whole_numbers([0, 1], True) is None


@pytest.mark.parametrize("kind", ["int64", "int32", "uint64", "float64", "str"])
def test_names_of_nodes_in_columns(tmp_path, kind):
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"from": [3, 10, 3], "to": [10, 3, 4], "minutes": [1.0, 2.0, 3.5]})
    frame = frame.astype({"from": kind, "to": kind})
    frame.to_parquet(tmp_path / "arcs.parquet")
    found = read_table(tmp_path / "arcs.parquet", "edges")
    assert found.source.dtype == np.int64
    assert found.source.tolist() == [3, 10, 3]
    assert found.target.tolist() == [10, 3, 4]
    large = frame.assign(**{"from": np.array([10**18, 1, 2], dtype="uint64")})
    large.to_parquet(tmp_path / "large.parquet")
    assert read_table(tmp_path / "large.parquet", "edges").source.tolist() == [str(10**18), "1", "2"]
