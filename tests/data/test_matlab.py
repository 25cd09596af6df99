"""MATLAB files: our reader against SciPy's, on sound files; and files at which SciPy's ends the process."""

import io

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.sparse import csc_array

from finsler.data.readers.matlab import parse_mat
from finsler.errors import InputError


def saved(packed, **found):
    file = io.BytesIO()
    savemat(file, found, do_compression=packed)
    return file.getvalue()


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "?", ">f8"])
def test_matrices_of_numbers(kind, packed):
    D = np.random.default_rng(0).uniform(0, 100, (5, 5)).astype(kind)
    data = saved(packed, D=D, v=np.ones(3), words="hello", nested={"a": D})
    found, labels = parse_mat(data, None)
    np.testing.assert_array_equal(found, loadmat(io.BytesIO(data))["D"])
    assert labels is None


@pytest.mark.parametrize("packed", [False, True])
def test_sparse_matrices(packed):
    A = csc_array(np.array([[0, 2.5, 0], [1, 0, 0], [0, 3, 4]]))
    np.testing.assert_array_equal(parse_mat(saved(packed, A=A), "A")[0].toarray(), A.toarray())


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("names", [["a", "bc", "Zürich"], ["东京", "x", "y"]])
def test_labels_in_cells_and_in_rows_of_characters(names, packed):
    D = np.arange(9.0).reshape(3, 3)
    for labels in (np.array(names, dtype=object), np.array(names)):
        assert parse_mat(saved(packed, D=D, labels=labels), None)[1] == names


@pytest.mark.parametrize("size", [0, 100, 127, 140, 200, 260])
def test_files_that_are_cut_short(size):
    with pytest.raises(InputError):
        parse_mat(saved(False, D=np.eye(4))[:size], None)


def test_wrong_tags_end_in_errors_and_not_in_the_end_of_the_process():
    """SciPy's reader of such files ended in a segmentation fault."""
    rng, refused = np.random.default_rng(0), 0
    seeds = [
        saved(packed, D=np.eye(4), labels=np.array(list("abcd"), dtype=object)) for packed in (False, True)
    ]
    seeds.append(saved(False, A=csc_array(np.eye(4))))
    for case in range(3000):
        data = bytearray(seeds[case % len(seeds)])
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(124, len(data)))] = int(rng.integers(256))
        try:
            parse_mat(bytes(data), None)
        except (InputError, MemoryError):
            refused += 1
    assert refused > 500


@pytest.mark.parametrize("value", [0, 14, 21, 255])
def test_one_wrong_byte_anywhere(value):
    """A type of elements that there is not, at the indices of a sparse matrix, was the one that ended the process."""
    sound = saved(False, A=csc_array(np.eye(4)))
    said = []
    for at in range(124, len(sound)):
        data = bytearray(sound)
        data[at] = value
        try:
            parse_mat(bytes(data), None)
        except InputError as error:
            said.append(str(error))
    assert said
    assert all(len(text.splitlines()) == 1 for text in said)


def old(order="<", **found):
    """A file of level 4; SciPy writes its own order of bytes only."""
    file = io.BytesIO()
    savemat(file, found, format="4")
    if order == "<":
        return file.getvalue()
    data, at, out = file.getvalue(), 0, b""
    while at < len(data):
        code, rows, columns, _, length = np.frombuffer(data, "<i4", 5, at).tolist()
        start = at + 20 + length
        kind = "<" + ("f8", "f4", "i4", "i2", "u2", "u1")[code // 10]
        values = np.frombuffer(data, kind, rows * columns, start)
        out += np.array([code + 1000, rows, columns, 0, length], ">i4").tobytes()
        out += data[at + 20 : start] + values.astype(kind.replace("<", ">")).tobytes()
        at = start + values.nbytes
    return out


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", ["f8", "f4", "i4", "i2", "u2", "u1"])
def test_matrices_of_level_4(kind, order):
    D = np.random.default_rng(0).uniform(0, 100, (5, 5)).astype(kind)
    names = np.array(["Aachen", "B", "C", "D", "E"])
    data = old(order, v=np.ones(3), D=D, names=names)
    found, labels = parse_mat(data, None)
    np.testing.assert_array_equal(found, loadmat(io.BytesIO(data))["D"])
    assert labels == names.tolist()


@pytest.mark.parametrize("order", ["<", ">"])
def test_sparse_matrices_of_level_4(order):
    A = csc_array(np.array([[0, 2.5, 0, 0], [1, 0, 0, 0], [0, 3, 4, 0], [0, 0, 0, 0]]))
    np.testing.assert_array_equal(parse_mat(old(order, A=A), None)[0].toarray(), A.toarray())


def test_wrong_bytes_of_level_4_end_in_one_line():
    rng, said = np.random.default_rng(0), []
    seeds = [old(D=np.eye(4), labels=np.array(list("abcd"))), old(A=csc_array(np.eye(4)))]
    for case in range(2000):
        data = bytearray(seeds[case % len(seeds)])
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
        try:
            parse_mat(bytes(data[: int(rng.integers(1, len(data) + 1))]), None)
        except (InputError, MemoryError) as error:
            said.append(str(error))
    assert len(said) > 500
    assert all(len(text.splitlines()) == 1 for text in said)
