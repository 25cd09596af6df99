"""`asymmetry_shown` and the heights of rows and pairs, against plain loops and dense least squares."""

import numpy as np
import pytest

from finsler.geometry.asymmetry import asymmetry_shown
from finsler.geometry.estimates import Estimate, gradient_share_of_rows, ratio_of_rows
from finsler.geometry.heights import gradient_heights, heights_of_pairs, heights_of_rows, solve_laplacian
from finsler.geometry.pairs import Pairs


def random_data(n=14, seed=0, unknown=0.2, weighted=True):
    rng = np.random.default_rng(seed)
    D = rng.uniform(0.5, 2.0, (n, n))
    D[rng.random((n, n)) < unknown] = np.nan
    D[rng.random((n, n)) < unknown / 3] = np.inf
    D[rng.random((n, n)) < unknown / 3] = -1.0  # a bound
    return D, rng.uniform(0.1, 3.0, (n, n)) if weighted else None


def slow_pairs(D, W, rows=None):
    """Ordered pairs of some rows that are known both ways: (i, j, A, c)."""
    n = len(D)
    W = np.ones((n, n)) if W is None else W
    for i in range(n) if rows is None else rows:
        for j in range(n):
            if i != j and all(np.isfinite(D[p]) and D[p] >= 0 and W[p] > 0 for p in ((i, j), (j, i))):
                yield i, j, (D[i, j] - D[j, i]) / 2, 2 / (1 / W[i, j] + 1 / W[j, i])


def slow_heights(pairs, n, ridge=0.0):
    """Dense least squares, of least norm."""
    matrix, goals = [], []
    for i, j, A, c in pairs:
        row = np.zeros(n)
        row[j], row[i] = np.sqrt(c), -np.sqrt(c)
        matrix.append(row)
        goals.append(np.sqrt(c) * A)
    matrix = np.vstack([*matrix, np.sqrt(ridge) * np.eye(n)])
    return np.linalg.lstsq(matrix, np.append(goals, np.zeros(n)), rcond=1e-12)[0]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [None, [5, 1, 8, 2, 13]])
def test_share_against_loops(weighted, rows):
    D, W = random_data(weighted=weighted)
    h = np.random.default_rng(1).normal(size=14) / 5
    pairs = list(slow_pairs(D, W, rows))
    square = sum(c * A**2 for _, _, A, c in pairs)
    found = asymmetry_shown(D, W, h, rows=rows)
    assert found.share == pytest.approx(1 - sum(c * (A - h[j] + h[i]) ** 2 for i, j, A, c in pairs) / square)
    assert found.n_rows == (None if rows is None else 5)
    d = np.abs(h - h[:, None]) + np.random.default_rng(2).random((14, 14))
    told = sum(c * (A - (d[i, j] - d[j, i]) / 2) ** 2 for i, j, A, c in pairs)
    assert asymmetry_shown(D, W, d, rows=rows).share == pytest.approx(1 - told / square)
    if rows is None:
        best = slow_heights(pairs, 14)
        missed = sum(c * (A - best[j] + best[i]) ** 2 for i, j, A, c in pairs)
        assert found.available == pytest.approx(1 - missed / square)
        assert found.error == 0
        everyone = asymmetry_shown(D, W, h, rows=np.arange(14))
        assert everyone[:2] == pytest.approx(found[:2])
        assert everyone.available == pytest.approx(found.available)


def test_symmetric_data_have_nothing_to_show():
    S = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    assert asymmetry_shown(S, None, np.arange(5)).share is None
    assert asymmetry_shown(S, None, np.arange(5), rows=[0, 2]).share is None


def test_error_bars_of_the_share_cover_the_truth():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2) * rng.uniform(1, 1.3, (150, 150)) + 0.4 * (X[:, 1] - X[:, 1:])
    h = 0.3 * X[:, 1]
    truth = asymmetry_shown(D, None, h)
    inside = near = 0
    for _ in range(40):
        found = asymmetry_shown(D, None, h, rows=rng.choice(150, 30, replace=False))
        inside += abs(found.share - truth.share) <= 2 * found.error
        near += abs(found.available - truth.available) < 0.05
    assert inside >= 33
    assert near >= 38


def test_chance_follows_no_heights():
    # Noise has a share 2 / n by fit; tried on other rows it is about 0, on either side.
    D = np.random.default_rng(4).uniform(1, 2, (200, 200))
    rows = Pairs.of(D).rows(np.arange(0, 200, 5))
    found = gradient_share_of_rows(rows)
    assert found.value < 2 * found.error
    assert asymmetry_shown(D, None, np.zeros(200), rows=np.arange(3)).available is None  # too few to try


@pytest.mark.parametrize("sources", [list(range(14)), [3, 0, 7], [2]])
@pytest.mark.parametrize("weighted", [False, True])
def test_heights_of_rows_are_least_squares(sources, weighted, monkeypatch):
    monkeypatch.setattr("finsler.geometry.pairs.CELLS", 20)  # several blocks of points
    D, W = random_data(seed=5, weighted=weighted)
    h, group = heights_of_rows(Pairs.of(D, W).rows(np.array(sources)))
    expected = slow_heights(slow_pairs(D, W, sources), 14)  # of least norm: mean 0 on each group
    np.testing.assert_allclose(h, expected, atol=1e-12)
    for i, j, _, _ in slow_pairs(D, W, sources):
        assert group[i] == group[j]
    if len(sources) == 14:
        np.testing.assert_allclose(h, gradient_heights(D, W), atol=1e-12)


@pytest.mark.parametrize("ridge", [0.0, 1e-3, 2.0])
def test_heights_of_a_list_of_pairs_are_least_squares(ridge):
    rng = np.random.default_rng(6)
    i, j = rng.integers(0, 12, (2, 40))
    i, j = i[i != j], j[i != j]
    A, c = rng.normal(size=len(i)), rng.uniform(0.1, 2, len(i))
    expected = slow_heights(zip(i, j, A, c, strict=True), 12, ridge)
    np.testing.assert_allclose(heights_of_pairs(i, j, A, c, 12, ridge=ridge), expected, atol=1e-11)


def test_dense_and_sparse_laplacians_agree():
    rng = np.random.default_rng(7)
    c = rng.random((9, 9)) * (rng.random((9, 9)) < 0.4)
    c = c + c.T
    from scipy.sparse import csr_array

    flow = rng.normal(size=9)
    flow -= flow.mean()
    np.testing.assert_allclose(solve_laplacian(c, flow), solve_laplacian(csr_array(c), flow), atol=1e-12)


def test_ratio_of_all_rows_has_no_error():
    assert ratio_of_rows(np.array([1.0, 2.0]), np.array([2.0, 2.0]), 2) == Estimate(0.75, 0.0)
    assert ratio_of_rows(np.array([1.0]), np.array([2.0]), 2) == Estimate(0.5, None)
    assert ratio_of_rows(np.zeros(2), np.zeros(2), 2) == Estimate(None, None)
