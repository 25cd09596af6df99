"""Measured pairs: a matrix, no paths, and nothing done silently."""

import numpy as np
import pytest

from finsler.data.pairs import AGGREGATES, pairs_to_dissimilarities, place_codes
from finsler.data.similarities import dissimilarities_from
from finsler.data.tables import read_table
from finsler.embedding import Embedding
from finsler.errors import InputError, InputTypeError
from finsler.recipes import embed_matrix, embed_pairs

from helpers import done, mistake

ROWS = [("a", "b", 3.0), ("b", "a", 4.0), ("b", "c", 1.0), ("c", "a", 2.0), ("c", "b", 2.5)]
MATRIX = np.array([[0, 3, np.nan], [4, 0, 1], [2, 2.5, 0]])
COLUMNS = dict(zip(("orig", "dest", "Minutes"), map(list, zip(*ROWS, strict=True)), strict=True))


def frames():
    yield "tuples", lambda tmp_path: ROWS
    yield "dict", lambda tmp_path: COLUMNS
    yield "arrays", lambda tmp_path: {name: np.array(column) for name, column in COLUMNS.items()}
    for package, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
        yield package, lambda tmp_path, p=package, m=make: getattr(pytest.importorskip(p), m)(COLUMNS)

    def file(tmp_path):
        (tmp_path / "times.csv").write_text(
            "orig;dest;Minutes\n" + "".join(f"{i};{j};{v}\n".replace(".", ",") for i, j, v in ROWS)
        )
        return tmp_path / "times.csv"

    yield "file", file
    yield "table", lambda tmp_path: read_table(file(tmp_path), "pairs")


@pytest.mark.parametrize("make", [pytest.param(make, id=name) for name, make in frames()])
def test_every_table_gives_the_same_matrix(make, tmp_path):
    data = pairs_to_dissimilarities(make(tmp_path))
    np.testing.assert_array_equal(data.matrix, MATRIX)
    np.testing.assert_array_equal(data.weights > 0, [[0, 1, 0], [1, 0, 1], [1, 1, 0]])
    assert data.labels == ["a", "b", "c"]
    assert (data.provenance.kind, data.provenance.n_missing, data.provenance.policy) == ("pairs", 1, "mask")


def test_absent_pairs_are_not_filled_with_paths():
    """Wrong before: a long table was taken for arcs, so that every pair was known."""
    found = embed_pairs(COLUMNS, alpha=0.2)
    assert (found.provenance.kind, found.provenance.n_missing) == ("pairs", 1)
    expected = embed_matrix(MATRIX, labels=list("abc"), missing="mask", alpha=0.2)
    np.testing.assert_array_equal(found.coordinates, expected.coordinates)
    with pytest.raises(InputError, match="missing='mask'"):
        embed_pairs(COLUMNS, missing="raise")


def test_repeated_pairs():
    rows = [*ROWS, ("c", "b", 4.5), ("a", "b", 5.0), ("a", "b", np.nan)]
    with pytest.raises(InputError, match=r"from 'c' to 'b' .*rows: 2.*aggregate"):
        pairs_to_dissimilarities(rows)
    for aggregate, value in (
        ("mean", 4),
        ("sum", 8),
        ("min", 3),
        ("max", 5),
        ("median", 4),
        ("first", 3),
        ("last", 5),
    ):
        data = pairs_to_dissimilarities(rows, aggregate=aggregate)
        assert data.matrix[0, 1] == value
        assert (data.provenance.n_duplicates, data.provenance.aggregate) == (2, aggregate)
    assert len(AGGREGATES) == 7
    with pytest.raises(InputError, match="aggregate"):
        pairs_to_dissimilarities(rows, aggregate="mode")


def test_pairs_of_a_place_with_itself():
    assert pairs_to_dissimilarities([*ROWS, ("a", "a", 0.0)]).provenance.remarks == ()
    data = pairs_to_dissimilarities([*ROWS, ("a", "a", 7.0)])
    assert data.matrix[0, 0] == 0
    assert "1 place" in data.provenance.remarks[0]
    with pytest.raises(InputError, match="diagonal"):
        pairs_to_dissimilarities([*ROWS, ("a", "a", 7.0)], diagonal="check")


def test_similarities():
    counts = np.array([[9, 40, 10, 5], [20, 0, 7, 0], [5, 15, 0, 6], [8, 1, 2, 0.0]])
    rows = [(i, j, counts[i, j]) for i in range(4) for j in range(4) if counts[i, j]]
    for similarity in ("gravity", "transition", "rank", "linear"):
        data = pairs_to_dissimilarities(rows, similarity=similarity)
        np.testing.assert_array_equal(data.matrix, dissimilarities_from(counts, transform=similarity))
        assert (data.provenance.similarity, data.provenance.n_missing) == (similarity, 1)
    full = pairs_to_dissimilarities(rows, similarity="gravity", zeros="pseudocount")
    assert full.provenance.n_missing == 0
    kept = pairs_to_dissimilarities(rows, similarity="gravity", zeros="keep", missing="hinge")
    assert (kept.provenance.n_unreachable, kept.provenance.policy) == (1, "hinge")
    used = pairs_to_dissimilarities(
        [*rows, (1, 1, 50.0), (2, 2, 50.0), (3, 3, 50.0), (0, 0, 41.0)],
        similarity="linear", diagonal="use", aggregate="sum",
    )  # fmt: skip
    assert used.matrix[0, 1] == 1 - 40 / 50
    with pytest.raises(InputError, match="'bob'"):
        pairs_to_dissimilarities(
            [("ann", "bob", 3.0), ("eve", "bob", 3.0), ("ann", "eve", 3.0)], similarity="gravity"
        )
    for options in ({"zeros": "keep"}, {"diagonal": "use"}, {"similarity": "rank", "diagonal": "use"}):
        with pytest.raises(InputError):
            pairs_to_dissimilarities(rows, **options)


def test_where():
    table = {**COLUMNS, "year": [2019, 2020, 2020, 2020, 2020]}
    data = pairs_to_dissimilarities(table, where={"year": 2020})
    assert data.labels == ["b", "a", "c"]
    assert data.provenance.remarks == ("year=2020 keeps 4 of 5 rows.",)
    assert pairs_to_dissimilarities(table, where="year=2020").labels == data.labels
    with pytest.raises(InputError, match="no pairs"):
        pairs_to_dissimilarities(table, where="year=1999")


def test_infinite_pairs():
    data = pairs_to_dissimilarities([*ROWS, ("a", "c", np.inf)], missing="hinge")
    assert data.matrix[0, 2] == -4
    assert data.provenance.n_unreachable == 1


def test_places():
    codes, places = place_codes(np.array([30, 10]), np.array([10, 20]))
    assert (codes.tolist(), places) == ([[2, 0], [0, 1]], [10, 20, 30])
    assert place_codes(np.array(["b", 1], dtype=object), np.array([1, "b"], dtype=object))[1] == ["b", 1]


@pytest.mark.parametrize(
    ("table", "error", "words"),
    [
        ([], InputError, "list of tuples"),
        ([("a", "b")], InputError, "list of tuples"),
        (7, InputTypeError, "table is a int"),
        ({"from": ["a"], "to": ["b", "c"], "km": [1]}, InputError, "differ in size"),
        ({"from": ["a"], "to": ["b"]}, InputError, "value"),
        ({"from": ["a"], "to": [None], "km": [1]}, InputError, "'to'"),
        ({"from": ["a"], "to": ["b"], "km": ["far"]}, InputTypeError, "'km'.*row 0 holds 'far'"),
        ({"from": ["a"], "to": ["b"], "trips": [3]}, InputError, "similarity"),
        ([(["a"], "b", 1.0)], InputTypeError, "hashable"),
        ([("a", "b", -1.0), ("b", "a", 1.0)], InputError, "Negative"),
    ],
)
def test_what_is_wrong_is_named(table, error, words):
    with pytest.raises(error, match=words):
        embed_pairs(table)


def test_options_are_those_of_a_matrix():
    assert embed_pairs(ROWS, alpha=0.2, solver="smacof", random_state=1).n_points == 3
    with pytest.raises(InputTypeError, match="n_pivots"):
        embed_pairs(ROWS, n_pivots=3)


def test_tables_of_another_kind(tmp_path):
    (tmp_path / "m.csv").write_text(",A,B\nA,0,1\nB,2,0\n")
    with pytest.raises(InputError, match="holds matrix"):
        embed_pairs(read_table(tmp_path / "m.csv"))


def test_the_command_line_does_not_fill_gaps(tmp_path):
    """Wrong before: arcs of a road, gaps filled with shortest paths, "pairs known 100 %"."""
    rng = np.random.default_rng(0)
    rows = [(i, j, 1 + rng.random()) for i in range(15) for j in range(15) if i != j and rng.random() < 0.6]
    file = tmp_path / "times.csv"
    file.write_text("Origin,Destination,Seconds\n" + "".join(f"p{i},p{j},{v}\n" for i, j, v in rows))
    result = done("report", file)
    assert f"{len(rows)} pairs of 15 places, {15 * 14 - len(rows)} ordered pairs missing" in result.stderr
    assert "100 %" not in result.stdout.splitlines()[1]
    done("embed", file, "--out", tmp_path / "map.npz")
    found = Embedding.load(tmp_path / "map.npz")
    np.testing.assert_allclose(found.coordinates, embed_pairs(file, random_state=0).coordinates, atol=1e-12)
    assert found.provenance.n_missing == 15 * 14 - len(rows)
    assert found.provenance.columns["value"] == "Seconds"
    file.write_text(file.read_text().replace("Seconds", "trips"))
    assert "similarity" in mistake("embed", file, "--out", "-")
    done("embed", file, "--similarity", "rank", "--out", "-")


def test_a_value_of_hundreds_of_digits_is_refused_in_a_line():
    with pytest.raises(InputTypeError) as error:
        embed_pairs([("a", "b", 10**5000), ("b", "a", 1.0)])
    assert "an integer of" in str(error.value)
