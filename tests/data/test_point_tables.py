import io

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from finsler.data.labels import LabelIndex
from finsler.data.point_tables import (
    read_attributes,
    read_features,
    read_label_pairs,
    read_new_rows,
    read_weights,
)
from finsler.errors import InputError, UnknownLabelError

LABELS = ["A", "B", "C"]


def text(lines):
    return io.BytesIO(lines.encode())


def test_attributes_are_found_by_label_or_in_order():
    table = "name,area,kind\nC,3,x\nA,1,y\nB,,y\n"
    found = read_attributes(text(table), LABELS, 3)
    np.testing.assert_array_equal(found["area"], [1, np.nan, 3])
    assert found["kind"].tolist() == ["y", "y", "x"]
    assert read_attributes(text("h\n5\n6\n"), None, 2)["h"].tolist() == [5, 6]
    with pytest.raises(InputError, match="2 rows for 3 points"):
        read_attributes(text("h\n5\n6\n"), None, 3)
    with pytest.raises(UnknownLabelError, match="'D'"):
        read_attributes(text(table), list("ABCD"), 4)


def test_features(tmp_path):
    (tmp_path / "f.csv").write_text("name,x,y\nB,3,4\nA,1,2\n")
    np.testing.assert_array_equal(read_features(tmp_path / "f.csv", ["A", "B"], 2), [[1, 2], [3, 4]])
    np.save(tmp_path / "f.npy", np.eye(3))
    assert read_features(tmp_path / "f.npy", None, 3).shape == (3, 3)
    save_npz(tmp_path / "f.npz", csr_array(np.eye(3)))
    assert read_features(tmp_path / "f.npz", None, 3).nnz == 3


@pytest.mark.parametrize("name", ["f.npy", "f.npz", "words.csv", "labels.csv", "dense.npz", "objects.npy"])
def test_features_that_cannot_be_read(tmp_path, name):
    (tmp_path / "f.npy").write_bytes(b"junk")
    (tmp_path / "f.npz").write_bytes(b"PK\x03\x04junk")
    (tmp_path / "words.csv").write_text("name,topic\nA,maths\n")
    (tmp_path / "labels.csv").write_text("name\nA\n")
    np.savez(tmp_path / "dense.npz", a=np.eye(2))
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(InputError, match=name):
        read_features(tmp_path / name, ["A"], 1)


def test_new_rows():
    found = read_new_rows(text("new,C,A\nQ,2,1\nR,,4\n"), None, LABELS, 3)
    assert found.labels == ["Q", "R"]
    assert found.from_fitted is None
    np.testing.assert_array_equal(found.to_fitted, [[1, np.nan, 2], [4, np.nan, np.nan]])
    bare = read_new_rows(text("1,2,3\n4,5,6\n"), text("new,A\nQ,1\nR,2\n"), LABELS, 3)
    assert bare.labels == ["Q", "R"]
    np.testing.assert_array_equal(bare.to_fitted, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(bare.from_fitted[:, 0], [1, 2])
    assert read_new_rows(text("Q,1,2,3\n"), None, LABELS, 3).labels == ["Q"]
    assert read_new_rows(None, text("C,A\n2,1\n"), LABELS, 3).labels is None
    for there, back in (("new,A\nQ,1\n", "new,A\nR,1\n"), ("1,2,3\n", "1,2,3\n4,5,6\n")):
        with pytest.raises(InputError, match="from_fitted"):
            read_new_rows(text(there), text(back), LABELS, 3)


@pytest.mark.parametrize(
    ("lines", "words"),
    [
        ("new,D\nQ,1\n", "'D'"),
        ("new,A,A\nQ,1,2\n", "given 2 times"),
        ("1,2\n", "2 columns without names"),
        ("new,A\n", "holds no points"),
        ("hello\nworld\n", "holds no points"),
        ("new,A\nQ,1\nQ,2\n", "given 2 times"),
        ("new,A\nQ,x\n", "'x' is not a number"),
    ],
)
def test_new_rows_that_are_wrong(lines, words):
    with pytest.raises(InputError, match=words):
        read_new_rows(text(lines), None, LABELS, 3)


def test_label_pairs():
    nodes = LabelIndex(["a", "b"], 2, "node")
    assert read_label_pairs(text("a,b\nb,a\n"), nodes) == [("a", "b"), ("b", "a")]
    assert read_label_pairs(text("from,to,note\nb,a,x\n"), nodes) == [("b", "a")]
    assert read_label_pairs(text("note,to,from\nx,a,b\n"), nodes) == [("b", "a")]  # as lists of arcs are read
    assert read_label_pairs(text("target,source\nb,a\na,b\n"), nodes) == [("a", "b"), ("b", "a")]
    for lines, words in (("a\nb\n", "two columns"), ("from,to\n", "no pairs"), ("a,c\n", "'c'")):
        with pytest.raises(InputError, match=words):
            read_label_pairs(text(lines), nodes)


def test_a_first_row_of_label_pairs_that_may_be_misspelled_is_told():
    nodes = LabelIndex(["a", "b"], 2, "node")
    with pytest.warns(UserWarning, match="'A' and 'B', names no node"):
        assert read_label_pairs(text("A,B\nb,a\n"), nodes) == [("b", "a")]


def test_points_without_a_row_are_counted():
    with pytest.raises(InputError, match=r"3 of 4 points have no row: .*'B'.*'D'"):
        read_attributes(text("name,area\nA,1\n"), list("ABCD"), 4)
    with pytest.raises(InputError, match="Did you mean"):
        read_attributes(text("name,area\nA1,1\nB2,2\n"), ["A1", "B"], 2)


def test_rows_of_other_points_are_told():
    with pytest.warns(UserWarning, match="1 of 3 rows are of other points"):
        found = read_attributes(text("name,area\nQ,9\nB,2\nA,1\n"), ["A", "B"], 2)
    assert found["area"].tolist() == [1, 2]


def test_weights(tmp_path):
    file = tmp_path / "w.csv"
    file.write_text(",B,A\nB,9,2\nA,3,\n")
    np.testing.assert_array_equal(read_weights(file, ["A", "B"], 2), [[0, 3], [2, 0]])
    np.testing.assert_array_equal(read_weights(file, None, 2), [[0, 2], [3, 0]])
    with pytest.raises(InputError, match="for 2 points, where there are 3"):
        read_weights(file, None, 3)
    with pytest.raises(UnknownLabelError, match="'C'"):
        read_weights(file, ["A", "C"], 2)
    file.write_text(",B,A\nB,9,2\nA,-3,\n")
    with pytest.raises(InputError, match="'A'"):
        read_weights(file, ["A", "B"], 2)
