"""Text tables: how they are written is found out, and every parser gives the same numbers."""

import csv
import gzip
import io
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finsler.data.readers import fast_text
from finsler.data.readers.text import Text, is_number, read_text
from finsler.data.tables import read_table
from finsler.errors import InputError

PACKAGES = ["pandas", "polars", "pyarrow"]


def text(content, **options):
    return read_text(io.BytesIO(content.encode() if isinstance(content, str) else content), **options)


@pytest.mark.parametrize(
    ("content", "delimiter"),
    [
        ("a,b,1\nb,c,2\n", ","),
        ("a;b;1,5\nb;c;2,5\n", ";"),
        ("a;b;1,5\nb;c;2\n", ";"),
        ("from;to;km\na;b;1,5\nb;c;2,5\n", ";"),
        ("from, say;to;km\na;b;1,5\nb;c;2,5\n", ";"),
        ("a\tb\t1,5\nb\tc\t2,5\n", "\t"),
        ("a b 1,5\nb c 2,5\n", " "),
        ("a;b;1,5\n", ";"),
        ("1,5;2,5\n3,5;4,5\n", ";"),
        ("0 1,5 2\n1,5 0 3\n2 3 0\n", " "),
        ("stop 1,5\nstop 2,7\n", ","),
        ("New York,Los Angeles\nLos Angeles,Rome\n", ","),
        ("1, 2, 3\n4, 5, 6\n", ","),
        ("x;y,1\nz;w,2\n", ","),  # lists in a cell: what the comma leaves over is no number
        ("  a   b \t 1 \n\n b  c  2\n", " "),
        ("a|b|1\nb|c|2\n", "|"),
        ("from\tto\tmin\na\tb\t1\na\tb 0\t\n", "\t"),  # blanks cut all lines alike, too
        ("from\tto\tmin\na\tb ;\t\na\tb\t\na\tb 0\t\n", "\t"),
        ("from\tto\tmin\na\tb;\t0\na\tb;\t\na\tb;\t\n", "\t"),
        ("x\ty\t1 2 3 4\nz\tw\t5 6 7 8\n", " "),
        ("1,5 2,5\n3,5 4,5\n", " "),
    ],
)
def test_delimiters(content, delimiter):
    assert text(content).delimiter == delimiter


def test_rows_know_their_lines():
    found = text("# note\n\n,A,B\nA,0,1\n% note\nB,2,0\n,,\n")
    assert list(found.rows()) == [(3, ["", "A", "B"]), (4, ["A", "0", "1"]), (6, ["B", "2", "0"])]
    assert (found.n_rows, found.width) == (3, 3)
    assert text('a,"b\n# no comment",1\nc,d,2\n').n_rows == 2
    assert text("a;b;1;\nc;d;2;\n").width == 3
    assert text("http://snap.org\na b\n").n_rows == 1


@pytest.mark.parametrize(
    ("content", "encoding"),
    [
        ("Zürich;1\nBern;2\n".encode("utf-16"), None),
        ("\ufeffZürich;1\nBern;2\n".encode(), None),
        ("Zürich;1\nBern;2\n".encode("cp1252"), "cp1252"),
        (gzip.compress("Zürich;1\nBern;2\n".encode(), mtime=0), None),
        ("Zürich;1\rBern;2\r".encode(), None),
    ],
)
def test_encodings(content, encoding):
    assert text(content, encoding=encoding).read([0], [1], False)[0] == [["Zürich", "Bern"]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"# c\n", "holds no rows"),
        ("Zürich;1\n".encode("cp1252"), "encoding="),
        (b"PK\x03\x04\0\0", "not a text file"),
        (gzip.compress(b"a;b\n" * 99, mtime=0)[:-9], "gzip"),
    ],
)
def test_what_is_no_text(content, words):
    with pytest.raises(InputError, match=words):
        text(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,1\nb,x\n", "row 2, column 2: 'x' is not a number; write plain"),
        ('a,1\nb,"1,5"\n', "commas separate the cells"),
        ("a;1,5\nb;2.5\n", "mixes decimal points and commas: '1,5' in row 1, column 2 and '2.5' in row 2"),
        ("a;1.5\nb;2,5\n", "mixes"),
        ("a,1\nb,1_0\n", "'1_0' is not a number"),
        ("a,1\nb,１\n", "is not a number"),
        ("a,1\nb," + "1" * 101 + "\n", "is not a number"),
        ("a,1\nb\n", "row 2 has 1 columns, where most have 2"),
        ("a,1\nb,2,3\n", "row 2 has 3 columns"),
        ('a,1\n"b,2\n', "row 2"),
    ],
)
def test_what_is_no_number(content, words):
    with pytest.raises(InputError, match=words):
        text(content).read([0], [1], False)


def test_long_cells_take_no_time():
    start = time.process_time()
    for cell in (
        "1" * 10**6,
        "1" * 10**6 + "x",
        "0" * 10**6 + ".",
        ",".join("1" * 10**5),
        "e" * 10**6,
        '"' * 10**5,
    ):
        assert not is_number(cell)
        try:
            found = text(f"a;b;c\nd;e;{cell}\n" * 3)
            found.read([0], [found.width - 1], False)
        except InputError:
            pass
    assert time.process_time() - start < 5


# --- the fast parsers ----------------------------------------------------------------------------------------------


@pytest.fixture
def always(monkeypatch):
    """Parsers pay for any table."""
    monkeypatch.setattr(fast_text, "NOT_LOADED", 0)
    monkeypatch.setattr(fast_text, "LOADED", 0)


cells = st.one_of(
    st.floats().map(repr),
    st.floats(0, 1000).map(lambda x: f"{x:.3f}"),
    st.integers(-(10**18), 10**18).map(str),
    st.sampled_from(
        [
            "",
            "NA",
            "n/a",
            "nan",
            "-nan",
            "NULL",
            "None",
            "inf",
            "-Infinity",
            "+1.5",
            "1.",
            ".5",
            "1e5",
            "1E-400",
            "1e400",
        ]
    ),
    st.sampled_from(
        [" 2", "3 ", "4.5\x0b", "∞", "1_0", "0x1F", "True", "1d5", "x", "１", "1,5", "-", "nan(1)", "00012"]
    ),
)
labels = st.sampled_from(["a", "NA", "b c", "ü", "007", " d", "e ", "1.50", "#", "% f"])


def outcome(found, *columns):
    try:
        texts, numbers = found.read(*columns)
    except InputError as error:
        return str(error)
    return texts, numbers.tobytes() if not np.isnan(numbers).any() else numbers.tolist()


@pytest.mark.parametrize("package", PACKAGES)
def test_parsers_agree(package, monkeypatch):
    pytest.importorskip(package)
    monkeypatch.setattr(fast_text, "PARSERS", {package: fast_text.PARSERS[package]})
    calls = []

    @settings(max_examples=250)
    @given(
        st.lists(st.tuples(labels, cells, cells), min_size=1, max_size=5),
        st.sampled_from([",", ";", "\t", "|", " "]),
        st.sampled_from(["\n", "\r\n"]),
        st.booleans(),
        st.booleans(),
    )
    def check(rows, delimiter, end, header, commas):
        lines = [delimiter.join(row) for row in rows]
        if commas:
            lines = [line.replace(".", ",") for line in lines]
        content = end.join([delimiter.join("lxy")] * header + lines) + end
        results = []
        for size in (10**9, 0):
            monkeypatch.setattr(fast_text, "LOADED", size)
            monkeypatch.setattr(fast_text, "NOT_LOADED", size)
            try:
                found = Text(content.encode(), "t", None, delimiter)
                results.append((found.n_rows, outcome(found, [0], range(1, found.width), header)))
                calls.append(found._grid is not None)
            except InputError as error:
                results.append(str(error))
        assert repr(results[0]) == repr(results[1])

    check()
    assert sum(calls) > 20


@pytest.mark.parametrize("package", PACKAGES)
def test_parsers_read_what_is_plain(package, monkeypatch, always):
    pytest.importorskip(package)
    monkeypatch.setattr(fast_text, "PARSERS", {package: fast_text.PARSERS[package]})
    values = np.random.default_rng(0).normal(size=(30, 7)) * 10.0 ** np.arange(-9, 12, 3)
    rows = [
        f"p{i};" + ";".join(repr(x).replace(".", ",") for x in row) for i, row in enumerate(values.tolist())
    ]
    found = text("# c\nname;" + ";".join("abcdefg") + "\n" + "\n".join(rows))
    assert found.n_rows == 31
    direct = found._grid.numbers([7, 1, 2], ",", True)
    np.testing.assert_array_equal(direct, values[:, [6, 0, 1]])
    texts, numbers = found.read([0], range(1, 8), True)
    np.testing.assert_array_equal(numbers, values)
    assert texts == [[f"p{i}" for i in range(30)]]


@pytest.mark.parametrize(
    "content",
    [
        'a,"1"\nb,2\n',  # quotes
        "a,1\n# c\nb,2\n",
        "a,1\n\nb,2\n",
        "a,1\nb\n",
        "a,1\nb,2,\n",
        "a,1\rb,2\r",
        "a,1\n,,\nb,2\n",
        "a,1\nb," + "1" * 101,
    ],
)
def test_what_is_more_than_cells_is_read_cell_by_cell(content, always):
    assert Text(content.encode(), "t", None, ",")._grid is None


def test_small_tables_do_not_load_pandas(tmp_path):
    (tmp_path / "small.csv").write_text(",A,B\nA,0,1\nB,2,0\n")
    code = (
        "import sys\nfrom finsler.data.tables import read_table\n"
        f"read_table({str(tmp_path / 'small.csv')!r})\nprint([m for m in {PACKAGES} if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "[]\n"


# --- round trips ---------------------------------------------------------------------------------------------------

word = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=6)
word = word.map(str.strip).filter(bool)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(word, st.floats(allow_nan=False), st.floats(0, 9)), min_size=2, max_size=8),
    st.sampled_from([",", ";", "\t", "|"]),
    st.sampled_from(["utf-8", "utf-16"]),
    st.booleans(),
)
def test_tables_survive(rows, delimiter, encoding, commas):
    commas &= delimiter != ","
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    for name, *numbers in rows:
        writer.writerow([name, *(repr(x).replace(".", ",") if commas else repr(x) for x in numbers)])
    found = text(file.getvalue().encode(encoding), delimiter=delimiter)
    texts, numbers = found.read([0], [1, 2], False)
    assert texts[0] == [name for name, *_ in rows]
    np.testing.assert_array_equal(numbers, [row[1:] for row in rows])


def test_decimal_commas_beside_a_name_with_a_comma():
    """The comma was taken for the delimiter: it cuts most rows into more numbers."""
    text = Text(b"from;to;minutes\np;q;1,5\nq;p;2,5\np;p, r;0,5\np, r;p;\n", "t")
    assert text.delimiter == ";"
    assert text.read([0, 1], [2], True)[0][1] == ["q", "p", "p, r", "p"]


MATRIX = ",Aachen,Bonn,Köln\nAachen,0,2,3\nBonn,4,0,6\nKöln,7,8,0\n"


@pytest.mark.parametrize("title", ["Hours of 2024", "Hours\n\nby train", "Hours,,,", "\n# so\n,,Hours,"])
def test_titles_above_a_table_are_left_out_and_told(tmp_path, title):
    path = tmp_path / "hours.csv"
    path.write_text(f"{title}\n{MATRIX}", encoding="utf-8")
    table = read_table(path)
    assert table.labels == ["Aachen", "Bonn", "Köln"]
    np.testing.assert_array_equal(table.values, [[0, 2, 3], [4, 0, 6], [7, 8, 0]])
    assert "Above the table stands 'Hours" in table.describe()
    path.write_text(f"{title}\n{MATRIX.replace('8', 'x')}", encoding="utf-8")
    with pytest.raises(
        InputError, match=rf"row {title.count(chr(10)) + 5}, column .*'x'"
    ):  # as lines of the file
        read_table(path)


@pytest.mark.parametrize("text", ["A,,,\nB,1,2,3\nC,1,2,3\nD,4,5,6\n", "a\nb,1\nc,2,3\n"])
def test_a_row_without_numbers_is_no_title(text):
    assert Text(text.encode(), "t").head[0][1][0] in "Aa"
