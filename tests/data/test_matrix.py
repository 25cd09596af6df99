import numpy as np
import pandas as pd
import pytest

from finsler.data.matrix import as_dissimilarities
from finsler.data.provenance import Provenance
from finsler.errors import InputError

GOOD = np.array([[0.0, 1.0, 2.0], [1.5, 0.0, 1.0], [2.5, 1.2, 0.0]])


def changed(i, j, value, base=GOOD):
    D = base.copy()
    D[i, j] = value
    return D


def test_what_is_right_is_kept_as_it_is():
    data = as_dissimilarities(GOOD)
    assert data.matrix is GOOD
    assert data.weights is None
    assert data.labels is None
    assert as_dissimilarities(data) is data


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [("float32", "float32"), ("float64", "float64"), ("int64", "float64"), ("float16", "float32")],
)
def test_dtypes(dtype, kept):
    assert as_dissimilarities((2 * GOOD).astype(dtype)).matrix.dtype == kept


def test_numbers_in_an_object_array_are_numbers():
    np.testing.assert_array_equal(as_dissimilarities(GOOD.astype(object)).matrix, GOOD)


BAD = [
    (np.zeros((2, 3)), {}, ValueError, r"square.*\(2, 3\)"),
    (np.zeros(4), {}, ValueError, r"square.*\(4,\)"),
    (np.zeros((0, 0)), {}, ValueError, "empty"),
    (changed(1, 2, -3.0), {}, ValueError, r"Negative.*from 1 to 2 it is -3"),
    (changed(1, 2, np.nan), {}, ValueError, r"NaN.*from 1 to 2.*missing='mask'"),
    (changed(2, 0, np.inf), {}, ValueError, r"infinity: from 2 to 0 it is inf"),
    (changed(1, 1, 0.5), {}, ValueError, r"diagonal.*from 1 to itself it is 0.5"),
    (changed(1, 1, 0.5), {"labels": ["a", "b", "c"]}, ValueError, r"from 1 \('b'\) to itself"),
    (GOOD * [[1.0], [0.0], [1.0]], {}, ValueError, r"Row 1 of D is all zero"),
    (GOOD * 1e200, {}, ValueError, "rescale"),
    (GOOD, {"weights": -np.ones((3, 3))}, ValueError, r"weights.*non-negative; from 0 to 0 it is -1"),
    (GOOD, {"weights": changed(0, 2, np.nan)}, ValueError, r"weights must be finite.*from 0 to 2 it is nan"),
    (
        GOOD,
        {"weights": np.ones((2, 2))},
        ValueError,
        r"weights must have the shape of D, \(3, 3\), got \(2, 2\)",
    ),
    (GOOD, {"labels": ["a"]}, ValueError, "labels must have one entry per point: 3, got 1"),
    (GOOD, {"missing": "drop"}, ValueError, "missing must be"),
    (GOOD, {"far": 2.0}, ValueError, "far=2.0 goes with missing='hinge'"),
    (GOOD, {"missing": "hinge", "far": -1.0}, ValueError, "far must be"),
    (GOOD + 1j, {}, ValueError, "Complex data not supported"),
    (np.array([[0, "x"], [1, 0]], dtype=object), {}, TypeError, r"row 0, column 1 holds 'x'"),
    (np.array([["0", "b"], ["1", "0"]]), {}, TypeError, r"row 0, column 1 holds"),
    (np.array([["2020-01-01"]], dtype="datetime64"), {}, TypeError, "numbers, got dtype"),
]


@pytest.mark.parametrize(("D", "options", "error", "match"), BAD)
def test_bad_input_is_named_located_and_left_alone(D, options, error, match):
    before = D.copy()
    with pytest.raises(error, match=match):
        as_dissimilarities(D, **options)
    np.testing.assert_array_equal(D, before)


def test_a_sparse_matrix_is_explained():
    from scipy.sparse import csr_array

    with pytest.raises(TypeError, match="sparse"):
        as_dissimilarities(csr_array(GOOD))


def test_a_cell_of_a_frame_is_located_by_its_labels():
    frame = pd.DataFrame(GOOD, index=list("abc"), columns=list("abc")).astype(object)
    frame.loc["b", "c"] = "n/a"
    with pytest.raises(TypeError, match=r"row 1 \('b'\), column 2 \('c'\) holds 'n/a'"):
        as_dissimilarities(frame)


def test_frame_labels_are_kept_and_checked():
    labels = ["x", "y", "z"]
    frame = pd.DataFrame(GOOD, index=labels, columns=labels)
    assert as_dissimilarities(frame).labels == labels
    assert as_dissimilarities(pd.DataFrame(GOOD, columns=labels)).labels == labels
    assert as_dissimilarities(pd.DataFrame(GOOD, index=labels)).labels == labels
    with pytest.raises(ValueError, match=r"different orders.*row 0 is 'x', column 0 is 'z'"):
        as_dissimilarities(frame[["z", "y", "x"]])
    with pytest.raises(ValueError, match="different labels"):
        as_dissimilarities(frame.rename(columns={"x": "other"}))


def test_masked_pairs_get_weight_zero_one_way_only():
    data = as_dissimilarities(changed(0, 1, np.nan, changed(2, 0, np.inf)), missing="mask")
    np.testing.assert_array_equal(data.weights, [[0, 0, 1], [1, 0, 1], [0, 1, 0]])
    weighted = as_dissimilarities(changed(0, 1, np.nan), np.full((3, 3), 2.0), missing="mask")
    np.testing.assert_array_equal(weighted.weights, [[0, 0, 2], [2, 0, 2], [2, 2, 0]])


def test_hinge_keeps_unreachable_pairs_as_bounds():
    D = changed(0, 1, np.nan, changed(2, 0, np.inf))
    data = as_dissimilarities(D, missing="hinge")
    np.testing.assert_array_equal(data.weights, [[0, 0, 1], [1, 0, 1], [1, 1, 0]])
    assert data.matrix[2, 0] == -2.0
    assert as_dissimilarities(D, missing="hinge", far=9.0).matrix[2, 0] == -9.0
    assert D[2, 0] == np.inf


def test_a_nan_where_the_weight_is_zero_is_no_harm():
    weights = np.ones((3, 3))
    weights[0, 1] = 0
    data = as_dissimilarities(changed(0, 1, np.nan), weights)
    assert data.weights[0, 1] == 0


def test_a_nan_diagonal_is_fine_when_masked():
    data = as_dissimilarities(changed(1, 1, np.nan), missing="mask")
    assert data.weights is None


def test_a_diagonal_of_rounding_errors_counts_as_zero():
    assert as_dissimilarities(changed(1, 1, 1e-9)).n_points == 3


def test_groups_without_a_common_pair_are_listed():
    W = np.zeros((5, 5))
    W[0, 1] = W[2, 1] = W[3, 4] = 1
    data = as_dissimilarities(np.ones((5, 5)) - np.eye(5), W, labels=list("abcde"))
    with pytest.raises(ValueError, match=r"2 unconnected groups \(sizes 3, 2\).*3 \('d'\), 4 \('e'\)"):
        data.require_connected()


def test_dissimilarities_bring_their_own_weights():
    with pytest.raises(ValueError, match="carry their own"):
        as_dissimilarities(as_dissimilarities(GOOD), np.ones((3, 3)))


def test_the_diagonal_can_be_ignored_and_an_empty_one_is_fine():
    D = changed(1, 1, 7.0)
    np.testing.assert_array_equal(as_dissimilarities(D, diagonal="ignore").matrix, GOOD)
    assert D[1, 1] == 7.0
    for nothing in (np.nan, np.inf):  # refused with missing="raise", although no pair is missing
        data = as_dissimilarities(changed(0, 0, nothing))
        np.testing.assert_array_equal(data.matrix, GOOD)
        assert data.weights is None
    with pytest.raises(InputError, match="diagonal of D"):  # the empty one does not excuse the other
        as_dissimilarities(changed(2, 2, 3.0, changed(0, 0, np.nan)))


def test_what_is_missing_is_a_fact():
    D = changed(0, 1, np.nan, changed(2, 0, np.inf))
    masked = as_dissimilarities(D, missing="mask").provenance
    assert (masked.n_missing, masked.n_unreachable, masked.policy) == (1, 1, "mask")
    weights = np.ones((3, 3))
    weights[0, 1] = 0  # says that the pair does not count
    weighted = as_dissimilarities(D, weights, missing="hinge").provenance
    assert (weighted.n_missing, weighted.n_unreachable, weighted.policy) == (0, 1, "hinge")
    assert as_dissimilarities(GOOD, missing="mask").provenance == Provenance()


def test_a_path_is_no_matrix():
    with pytest.raises(InputError, match=r"D is the path 'times\.csv'"):
        as_dissimilarities("times.csv")


def test_negative_values_are_shifted_where_that_is_asked_for():
    D = np.array([[0.0, -2.0, 1.0], [3.0, 0.0, np.nan], [0.5, 2.0, 0.0]])
    data = as_dissimilarities(D, missing="mask", negative="shift")
    assert data.provenance.shift == pytest.approx(2.05)
    np.testing.assert_allclose(data.matrix[0], [0.0, 0.05, 3.05])
    assert D[0, 1] == -2.0
    assert data.weights[1, 2] == 0
    unharmed = as_dissimilarities(np.abs(D), missing="mask", negative="shift")
    assert unharmed.provenance.shift == 0.0
    W = np.where(D < 0, 0.0, 1.0)  # what does not count is not looked at
    assert as_dissimilarities(D, W, missing="mask", negative="shift").provenance.shift == 0.0
    with pytest.raises(InputError, match="negative"):
        as_dissimilarities(D, negative="keep")
