import numpy as np
import pytest

from finsler.geometry.stress import axes_first
from finsler.kernels.codes import coded, sort_within, sum_by_code

from helpers import slow_distance


def case(n=40, m=3, n_codes=25, dtype=np.uint16):
    rng = np.random.default_rng(n + m)
    X, omega = rng.normal(size=(n, m)), np.append(np.zeros(m - 1), 0.4)
    codes = rng.integers(0, n_codes, (n, n)).astype(dtype)
    d = np.array([[slow_distance(x, y, omega) for y in X] for x in X])
    return X, omega, codes, np.ascontiguousarray(codes.T), d


@pytest.mark.parametrize("dtype", [np.uint16, np.uint32])
@pytest.mark.parametrize("m", [1, 2, 5])
def test_sums_by_code(m, dtype):
    X, omega, there, back, d = case(m=m, dtype=dtype)
    sums = np.zeros(25)
    for start, stop in ((0, 13), (13, 40)):  # blocks add up
        sum_by_code(there, back, axes_first(X), X @ omega, start, stop, sums)
    away = ~np.eye(40, dtype=bool)
    np.testing.assert_allclose(sums, np.bincount(there[away], d[away], minlength=25))


@pytest.mark.parametrize("m", [1, 2, 5])
def test_force_and_stress_of_a_table(m):
    X, omega, there, back, d = case(m=m)
    table = np.random.default_rng(0).uniform(0.5, 3, 25)
    XT, n = axes_first(X), len(X)
    out = np.zeros((len(XT) + 2, n))
    coded(there, back, table, XT, X @ omega, 0, n, out[:-2], out[-2], out[-1])
    T = table[there]
    np.fill_diagonal(T, 0)
    S, A = (T + T.T) / 2, (T - T.T) / 2
    e, a = (d + d.T) / 2, (d - d.T) / 2
    np.testing.assert_allclose(out[-1].sum(), ((S - e) ** 2 + (A - a) ** 2).sum() / 2)
    np.testing.assert_allclose(out[-2], A.sum(axis=0), atol=1e-10)
    pull = np.where(np.eye(n), 0, (S - e) / np.where(np.eye(n), 1, e))
    force = np.einsum("ij,ijk->jk", pull, X[None] - X[:, None])
    np.testing.assert_allclose(out[:m].T, force, atol=1e-10)


def test_sorting_within_blocks():
    values = np.array([3.0, 1.0, 2.0, 9.0, 0.0, 5.0])
    order = np.array([0, 1, 2, 3, 4, 5])
    sort_within(values, np.array([0, 3, 4, 6]), order)
    assert order.tolist() == [1, 2, 0, 3, 4, 5]


def test_sorting_within_blocks_of_all_sizes():
    """Few members are sorted by insertion, many as NumPy sorts."""
    rng = np.random.default_rng(1)
    edges = np.concatenate([[0], np.cumsum(np.arange(40))])
    values, order = rng.random(edges[-1]), rng.permutation(edges[-1])
    expected = [part[np.argsort(values[part])] for part in np.split(order, edges[1:-1])]
    sort_within(values, edges, order)
    np.testing.assert_array_equal(order, np.concatenate(expected))
