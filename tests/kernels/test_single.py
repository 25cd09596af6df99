"""The pass in single precision against that in double precision."""

import numpy as np
import pytest

from finsler.kernels import dense, single

from helpers import random_problem


def both(S, XT, start, stop, scale=1.0):
    """Force and stress of some rows: in double precision of ``scale S``, and in single."""
    n = XT.shape[1]
    exact, exact_stress = np.zeros((3, n)), np.zeros(n)
    dense.uniform_three(S * scale, XT, start, stop, exact, exact_stress)
    force, stress = np.zeros((3, n), dtype=np.float32), np.zeros(n)
    single.uniform_three(
        S, S.dtype.type(scale), XT.astype(np.float32), start, stop, force, stress
    )  # fmt: skip
    return exact, exact_stress, force, stress


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("n", "start", "stop"), [(5, 0, 5), (37, 3, 20), (130, 0, 130), (1100, 0, 9), (1100, 1093, 1100)]
)
def test_a_pass_in_single_precision_is_that_in_double_to_seven_digits(dtype, n, start, stop):
    X, D, _ = random_problem(n, n=n, m=3)
    S = ((D + D.T) / 2).astype(dtype)
    exact, exact_stress, force, stress = both(S, np.ascontiguousarray(X.T), start, stop, scale=0.5)
    size = np.abs(exact).max()
    np.testing.assert_allclose(force, exact, atol=3e-6 * size + 1e-6 * n)
    np.testing.assert_allclose(stress, exact_stress, rtol=2e-5, atol=1e-6)
    assert (stress[:start] == 0).all()
    assert (stress[stop:] == 0).all()


def test_points_on_one_spot_pull_at_each_other_in_no_direction():
    XT = np.zeros((3, 40))
    XT[0, 20:] = 1.0
    S = np.ones((40, 40))
    exact, exact_stress, force, stress = both(S, XT, 0, 40)
    assert np.isfinite(force).all()
    np.testing.assert_allclose(force, exact, atol=1e-5)
    np.testing.assert_allclose(stress, exact_stress, rtol=1e-6)


def test_rows_are_rounded_above_the_diagonal():
    S = np.random.default_rng(0).random((9, 9))
    out = np.full((9, 9), np.float32(-1))
    single.round_rows(S, 4.0, 2, 6, out)
    rows, columns = np.triu_indices(9, 1)
    inside = (rows >= 2) & (rows < 6)
    assert (
        out[rows[inside], columns[inside]] == (4 * S[rows[inside], columns[inside]]).astype(np.float32)
    ).all()
    assert (out < 0).sum() == 81 - inside.sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "start", "stop"), [(5, 0, 5), (37, 3, 20), (1100, 0, 1100)])
def test_squares_times_vectors(dtype, n, start, stop):
    rng = np.random.default_rng(n)
    S, V = rng.random((n, n)).astype(dtype), rng.normal(size=(3, n))
    squares = np.triu(S, 1).astype(float) ** 2
    squares[:start] = squares[stop:] = 0.0
    want = 0.25 * V @ (squares + squares.T)
    out = np.zeros((3, n), dtype=np.float32)
    single.squares_times(S, dtype(0.5), V.astype(np.float32), start, stop, out)
    np.testing.assert_allclose(out, want, atol=3e-6 * np.abs(want).max())
