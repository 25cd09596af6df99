"""Labels: every point is found by its name, in one place."""

import numpy as np
import pytest

from finsler.data.labels import LabelIndex, suggestion
from finsler.errors import InputError, UnknownLabelError


def test_labels_are_found_by_value():
    index = LabelIndex(["a", 3, (1, 2), True, np.int64(7), 2.5], 6)
    assert [index.position(x) for x in ("a", 3, (1, 2), True, 7, 2.5)] == list(range(6))
    assert index.position(np.int32(3)) == 1
    assert index.position(3.0) == 1
    assert index.positions(["a", np.str_("a"), 7]).tolist() == [0, 0, 4]
    assert [index.label(i) for i in (0, 2)] == ["a", (1, 2)]
    assert index.name(0) == "0 ('a')"
    assert len(index) == 6


def test_a_bool_is_no_number():
    index = LabelIndex([0, 1], 2)
    for unknown in (True, False, np.True_):
        with pytest.raises(UnknownLabelError):
            index.position(unknown)
    with pytest.raises(UnknownLabelError):
        LabelIndex([True, False], 2).position(2)
    assert LabelIndex([True, False], 2).position(0) == 0  # no label is a number, so it is the position
    with pytest.raises(UnknownLabelError):
        LabelIndex(None, 2).position(True)


def test_without_labels_positions_are_labels():
    index = LabelIndex(None, 3)
    assert [index.position(i) for i in (0, 2, -1, -3, np.int8(1))] == [0, 2, 2, 0, 1]
    assert index.name(2) == "2"
    assert index.label(np.int64(2)) == 2
    for unknown in (3, -4, "0", 1.5, None, [1]):
        with pytest.raises(UnknownLabelError):
            index.position(unknown)


def test_numbers_are_positions_only_where_no_label_is_a_number():
    assert LabelIndex(["a", "b"], 2).position(-1) == 1
    assert LabelIndex(["a", "b"], 2).find(1) is None
    with pytest.raises(UnknownLabelError, match="No point is labeled 0"):
        LabelIndex([1, 2], 2).position(0)


def test_duplicates_matter_only_when_asked_for():
    index = LabelIndex(["a", "b", "a", "a"], 4, "node")
    assert index.position("b") == 1
    with pytest.raises(UnknownLabelError, match=r"3 nodes are labeled 'a': positions 0, 2, ..."):
        index.position("a")
    assert index.position(2) == 2


def test_unknown_labels_name_what_is_like_them_and_where_they_stood():
    index = LabelIndex(["Titisee, Neustadt", "Ulm"], 2, "town")
    with pytest.raises(
        UnknownLabelError, match=r"^row 4: No town is labeled 'neustadt'. Did you mean 'Titisee, Neu"
    ):
        index.position("neustadt", "row 4")
    with pytest.raises(KeyError):
        index.position(["Ulm"])  # what cannot be hashed is no label
    assert suggestion("x", ["Ulm"]) == ""
    assert suggestion("node-7", [f"node{i}" for i in range(30_000)]).startswith(" Did you mean 'node7'")


def test_text_finds_the_label_that_is_written_so():
    index = LabelIndex([3, "4", 4, None, 2.5], 5)
    assert [index.from_text(text) for text in ("3", "4", "None", "2.5")] == [0, 1, 3, 4]
    assert index.find_text("5") is None
    with pytest.raises(UnknownLabelError, match=r"^here: "):
        index.from_text("03", "here")
    assert LabelIndex(None, 12).from_text("11") == 11
    for unknown in ("12", "-1", "1.0", "01", "²"):
        assert LabelIndex(None, 12).find_text(unknown) is None


def test_pairs_by_label():
    index = LabelIndex(["a", "b"], 2)
    assert index.pairs([("a", "b"), ["b", "b"]]).tolist() == [[0, 1], [1, 1]]
    assert index.pairs(np.array([["b", "a"]])).tolist() == [[1, 0]]
    assert LabelIndex(None, 3).pairs(np.array([[0, 2]], dtype=np.uint8)).tolist() == [[0, 2]]
    assert index.pairs([]).shape == (0, 2)
    for bad in (["ab"], [("a",)], np.zeros(3), np.zeros((2, 3)), [3]):
        with pytest.raises(InputError, match="pairs"):
            index.pairs(bad)
    with pytest.raises(UnknownLabelError, match=r"pairs, row 1: \[0, -1\]"):
        LabelIndex(None, 3).pairs(np.array([[0, 1], [0, -1]]))


def test_as_many_labels_as_points():
    with pytest.raises(InputError, match="labels"):
        LabelIndex(["a"], 2)


@pytest.mark.parametrize(
    ("columns", "swapped"),
    [(["from", "to"], False), (["to", "from"], True), (["a", "b"], False), (["destination", "origin"], True)],
)
def test_columns_of_pairs_go_by_their_names(columns, swapped):
    frame = pytest.importorskip("pandas").DataFrame([["x", "y"], ["y", "z"]], columns=columns)
    found = LabelIndex(["x", "y", "z"], 3).pairs(frame)
    assert found.tolist() == ([[1, 0], [2, 1]] if swapped else [[0, 1], [1, 2]])
    frame["weight"] = 1.0
    if columns != ["a", "b"]:
        assert LabelIndex(["x", "y", "z"], 3).pairs(frame).tolist() == found.tolist()
