"""`finsler.geometry.heights` against explicit equations and dense least squares."""

import itertools

import numpy as np
import pytest
from scipy.sparse import csr_array

from finsler.geometry import heights, pairs
from finsler.geometry.asymmetry import asymmetry_shown
from finsler.geometry.heights import gradient_heights, heights_of_pairs, heights_of_rows, solve_laplacian
from finsler.geometry.pairs import Pairs

from helpers import random_dissimilarities, skew_equations


def least_squares(i, j, A, c, n, ridge=0.0):
    """Heights by dense least squares, of least norm: of mean 0 on each group of points."""
    matrix = np.sqrt(c)[:, None] * (np.eye(n)[j] - np.eye(n)[i])
    matrix, goals = np.vstack([matrix, np.sqrt(ridge) * np.eye(n)]), np.append(np.sqrt(c) * A, np.zeros(n))
    return np.linalg.lstsq(matrix, goals, rcond=1e-12)[0]


@pytest.fixture(params=["default", "dense", "sparse"])
def path(request, monkeypatch):
    """Each way through the code that depends on size."""
    if request.param != "default":
        monkeypatch.setattr(pairs, "BLOCK", 7)
        monkeypatch.setattr(pairs, "CELLS", 50)
        monkeypatch.setattr(heights, "DENSE", 0.0 if request.param == "dense" else 1.0)


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("unknown", [0.0, 0.4])
def test_heights_are_the_least_squares_solution(weighted, unknown):
    D, W = random_dissimilarities(30, 1, unknown, weighted)
    rows, values = skew_equations(D, W)
    expected = np.linalg.lstsq(rows, values, rcond=None)[0]  # Of least norm, hence of mean 0.
    h = gradient_heights(D, W)
    np.testing.assert_allclose(h, expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    residual = values - rows @ h
    # Pythagoras: the gradient and the rest are orthogonal.
    assert values @ values == pytest.approx((rows @ h) @ (rows @ h) + residual @ residual, rel=1e-12)
    shown = asymmetry_shown(D, W, h)
    assert shown.share == pytest.approx(1 - residual @ residual / (values @ values), rel=1e-12)
    assert shown.available == pytest.approx(shown.share, rel=1e-12)


def test_uniform_heights_are_column_means():
    D, _ = random_dissimilarities(40, 2)
    np.fill_diagonal(D, 0)
    expected = ((D - D.T) / 2).mean(axis=0)
    np.testing.assert_allclose(gradient_heights(D), expected, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(gradient_heights(D, np.full_like(D, 0.3)), expected, rtol=1e-12, atol=1e-15)


def test_uniform_heights_use_no_solver(monkeypatch):
    monkeypatch.setattr(heights, "cg", None)
    gradient_heights(random_dissimilarities(9, 3)[0])
    with pytest.raises(TypeError):
        gradient_heights(*random_dissimilarities(9, 3, weighted=True))


@pytest.mark.usefixtures("path")
def test_each_component_has_its_own_mean_zero():
    D = np.full((9, 9), np.nan)
    h = np.array([3.0, 5, 4, 100, 107, 0, 0, 0, 0])
    for group in ([0, 1, 2], [3, 4]):
        for i, j in itertools.permutations(group, 2):
            D[i, j] = 20 + h[j] - h[i]
    D[5, 6] = 3.0  # One way only: says nothing about heights.
    np.testing.assert_allclose(gradient_heights(D), [-1, 1, 0, -3.5, 3.5, 0, 0, 0, 0], atol=1e-13)


@pytest.mark.usefixtures("path")
def test_weights_of_very_different_size():
    # Two groups, one of weights 1e-20: each has the heights that it has alone.
    parts = [random_dissimilarities(8, seed, weighted=True) for seed in (20, 21)]
    D, W = np.full((16, 16), np.nan), np.zeros((16, 16))
    for k, (part, weights) in enumerate(parts):
        rows = slice(8 * k, 8 * k + 8)
        D[rows, rows], W[rows, rows] = part, weights * 1e-20**k
    expected = np.concatenate([gradient_heights(*part) for part in parts])
    np.testing.assert_allclose(gradient_heights(D, W), expected, rtol=0, atol=1e-13)
    # One group that hangs on the other by a pair of weight 1e-9: it moves as a whole.
    D[0, 8], D[8, 0], W[0, 8], W[8, 0] = 3.0, 1.0, 1e-9, 1e-9
    h = gradient_heights(D, np.where(W > 0, np.maximum(W, 1e-9 * W.max()), 0))
    assert h[8] - h[0] == pytest.approx(1.0, rel=1e-7)


def test_a_long_chain_is_solved_accurately():
    n = 400
    rng = np.random.default_rng(4)
    D, i = np.full((n, n), np.nan), np.arange(n - 1)
    D[i, i + 1], D[i + 1, i] = rng.uniform(1, 3, n - 1), 1.0
    expected = np.concatenate([[0], np.cumsum((D[i, i + 1] - 1) / 2)])
    expected -= expected.mean()
    np.testing.assert_allclose(gradient_heights(D), expected, rtol=0, atol=1e-10 * np.ptp(expected))


@pytest.mark.parametrize("seed", [2, 30, 34])
def test_rounding_outside_the_range_of_the_laplacian_is_left_alone(seed, monkeypatch):
    # Once the heights are solved to rounding, what is left does not sum to 0, which no heights can make up for:
    # conjugate gradients broke down on that sum, and ran on without an end in sight at N = 5000.
    monkeypatch.setattr(heights, "DENSE", 0.0)
    rng = np.random.default_rng(seed)
    D, _ = rng.random((20, 20)) + 1, rng.random((20, 20))
    W = 10.0 ** rng.uniform(-8, 0, (20, 20))
    rows, values = skew_equations(D, W)
    expected = np.linalg.lstsq(rows, values, rcond=1e-14)[0]
    np.testing.assert_allclose(gradient_heights(D, W), expected, rtol=0, atol=1e-12)


def test_heights_that_are_not_solved_warn(monkeypatch):
    monkeypatch.setattr(heights, "cg", lambda matrix, b, **_: (np.zeros_like(b), 1))
    with pytest.warns(RuntimeWarning, match=r"solve their equations to 1\.0e\+00 only"):
        gradient_heights(*random_dissimilarities(9, 3, weighted=True))


@pytest.mark.parametrize("sources", [list(range(14)), [3, 0, 7], [2]])
@pytest.mark.parametrize("weighted", [False, True])
def test_heights_of_rows_are_least_squares(sources, weighted, monkeypatch):
    monkeypatch.setattr(pairs, "CELLS", 20)  # several blocks of points
    D, W = random_dissimilarities(14, 5, 0.3, weighted)
    known = np.isfinite(D) & ((np.ones_like(D) if W is None else W) > 0) & ~np.eye(14, dtype=bool)
    i, j = np.nonzero(known & known.T & np.isin(np.arange(14), sources)[:, None])
    c = np.ones(len(i)) if W is None else 2 / (1 / W[i, j] + 1 / W[j, i])
    h, group = heights_of_rows(Pairs.of(D, W).rows(np.array(sources)))
    np.testing.assert_allclose(h, least_squares(i, j, (D[i, j] - D[j, i]) / 2, c, 14), atol=1e-12)
    assert (group[i] == group[j]).all()
    if len(sources) == 14:
        np.testing.assert_allclose(h, gradient_heights(D, W), atol=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 2.0])
def test_heights_of_a_list_of_pairs_are_least_squares(ridge):
    rng = np.random.default_rng(6)
    i, j = rng.integers(0, 12, (2, 40))
    i, j = i[i != j], j[i != j]
    A, c = rng.normal(size=len(i)), rng.uniform(0.1, 2, len(i))
    found = heights_of_pairs(i, j, A, c, 12, ridge=ridge)
    np.testing.assert_allclose(found, least_squares(i, j, A, c, 12, ridge), atol=1e-11)


def test_dense_and_sparse_laplacians_agree():
    rng = np.random.default_rng(7)
    c = rng.random((9, 9)) * (rng.random((9, 9)) < 0.4)
    c, flow = c + c.T, rng.normal(size=9)
    flow -= flow.mean()
    np.testing.assert_allclose(solve_laplacian(c, flow), solve_laplacian(csr_array(c), flow), atol=1e-12)


def test_bounds_and_the_diagonal_tell_nothing():
    D, W = random_dissimilarities(10, 14, 0.2, True)
    expected = gradient_heights(np.where(D > 1.5, np.nan, D), W)
    D = np.where(D > 1.5, -D, D)
    np.fill_diagonal(D, [np.nan, np.inf, -1, 1e308, 0] * 2)
    np.fill_diagonal(W, [np.nan, np.inf, -1, 1e300, 0] * 2)
    np.testing.assert_array_equal(gradient_heights(D, W), expected)


def test_shapes_must_agree():
    with pytest.raises(ValueError, match="D must be square"):
        gradient_heights(np.ones((3, 4)))
    with pytest.raises(ValueError, match="weights"):
        gradient_heights(np.ones((3, 3)), np.ones((2, 2)))
