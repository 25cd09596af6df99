"""Columns by the names that people give them."""

import io

import pytest

from finsler.data.columns import (
    END_COLUMNS,
    FLOWS,
    LENGTHS,
    canonical,
    choose_columns,
    find_ends,
    point_columns,
)
from finsler.data.tables import read_table
from finsler.errors import InputError


@pytest.mark.parametrize("ends", END_COLUMNS)
@pytest.mark.parametrize("spell", [str, str.upper, str.title])
def test_both_ends_are_known(ends, spell):
    names = ["year", *map(spell, ends), "minutes"]
    assert choose_columns(names) == (1, 2, 3)
    assert choose_columns([*names[::-1]])[:2] == (2, 1)


def test_words_of_different_pairs():
    assert find_ends(["origin", "dest"]) == (0, 1)
    assert find_ends(["to", "i", "from", "j"]) == (2, 0)
    assert find_ends(["i", "d"]) is None
    assert find_ends(["i", "j"], letters=False) is None


@pytest.mark.parametrize(
    "name",
    ["Seconds", "Travel Time (min)", "duration_s", "dist_km", "COST", "travel_time_p50"],
)
def test_lengths_are_known(name):
    assert choose_columns(["from", "to", "note", name]).value == 3


@pytest.mark.parametrize(
    "name", ["flow", "Count", "n", "TRIPS", "volume", "trade", "value", "strength", "probability"]
)
def test_flows_are_never_taken_for_lengths(name):
    names = ["origin", "destination", name]
    with pytest.raises(InputError, match=r"similarity to gravity.*value to " + repr(name)):
        choose_columns(names)
    with pytest.raises(InputError, match="weight"):
        choose_columns(names, word="weight")
    assert choose_columns(names, value=name) == (0, 1, 2)
    assert choose_columns(names, similarity=True) == (0, 1, 2)
    assert choose_columns([*names, "minutes"]) == (0, 1, 3)
    assert choose_columns([*names, "minutes"], similarity=True) == (0, 1, 2)


def test_known_names_are_spelled_as_they_are_compared():
    assert not LENGTHS & FLOWS
    for name in (*LENGTHS, *FLOWS, *(name for pair in END_COLUMNS for name in pair)):
        assert canonical(name) == name


def test_what_is_not_clear_is_refused():
    with pytest.raises(InputError, match=r"value= one of \['travel_time', 'length'\]"):
        choose_columns(["u", "v", "travel_time", "length"])
    assert choose_columns(["u", "v", "travel_time", "weight"]).value == 3
    with pytest.raises(InputError, match="which column"):
        choose_columns(["from", "to", "a", "b"])
    with pytest.raises(InputError, match="source, target: which columns"):
        choose_columns(["id", "a", "b", "km"])
    with pytest.raises(InputError, match="both source and target"):
        choose_columns(["a", "b"], source="a")
    with pytest.raises(InputError, match="same column"):
        choose_columns(["a", "b"], source="a", target="a")
    with pytest.raises(InputError, match="value='z' is not a column"):
        choose_columns(["a", "b", "c"], value="z")
    assert choose_columns(["", "a", "b", "km"], source="A", target="B") == (1, 2, 3)
    assert choose_columns(range(3)) == (0, 1, 2)
    assert choose_columns(["a", "b"]) == (0, 1, None)


def test_points():
    assert point_columns(["x", "y", "drift_x", "drift_y", "kind"]) == ([0, 1], [2, 3], "drift", None)
    for names, words in (
        (["x", "x"], "repeated"),
        (["x", "drift_x", "current_x"], "one of the two"),
        (["x", "drift_y"], "no column 'y'"),
        (["x", "y", "current_x"], "no current_y"),
        (["a"], "points need columns"),
    ):
        with pytest.raises(InputError, match=words):
            point_columns(names)


@pytest.mark.parametrize("kind", ["auto", "matrix", "edges", "points"])
def test_a_header_of_very_many_columns_is_refused_soon(kind):
    """Names were looked up in lists: some 500,000 columns, 2 MB, took hours."""
    cells = "\n".join(",".join(f"{letter}{i}" for i in range(150_000)) for letter in "ab")
    with pytest.raises(InputError, match="stdin"):
        read_table(io.BytesIO(cells.encode()), kind)
    axes = [f"x{i}" for i in range(20_000)]
    names = [*axes, *(f"drift_{axis}" for axis in axes)]
    assert len(point_columns(names).vectors) == 20_000
