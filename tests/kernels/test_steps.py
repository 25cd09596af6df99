"""Vectors of an iteration against the formulas in numpy."""

from __future__ import annotations

import numpy as np
import pytest

from finsler.kernels.steps import CHUNK, combine, products, remember, uniform_step


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("alpha", [0.0, 0.6])
@pytest.mark.parametrize("unit", [1.0, 8.0])
def test_step_of_uniform_weights_solves_for_the_force(m, alpha, unit):
    rng = np.random.default_rng(m)
    n = 37
    pull, XT, h = rng.normal(size=(m + 2, n)), rng.normal(size=(m, n)), rng.normal(size=n)
    omega = rng.normal(size=m)
    omega *= alpha / np.linalg.norm(omega)
    step = np.empty((m, n))
    square, product = uniform_step(pull, unit, XT, h, omega, step)
    skew = h - omega @ XT
    force = unit * pull[:m] + n * np.outer(omega, skew)
    expected = np.linalg.solve(n * (np.eye(m) + np.outer(omega, omega)), force)
    np.testing.assert_allclose(step, expected, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose([square, product], [skew @ skew, (force * expected).sum()], rtol=1e-12)


@pytest.mark.parametrize("n", [1, 7, CHUNK, 2 * CHUNK + 3])
def test_earlier_steps_are_remembered_and_combined(n):
    rng = np.random.default_rng(n)
    x, last_x, step, last_step = rng.normal(size=(4, n))
    moved, turned = rng.normal(size=(2, 4, n))
    remember(x, last_x, step, last_step, 1.9, moved[2], turned[2])
    np.testing.assert_allclose(turned[2], step - last_step, rtol=1e-15)
    np.testing.assert_allclose(moved[2], x + 1.9 * step - last_x - 1.9 * last_step, rtol=1e-12, atol=1e-14)
    found = np.full(4, np.nan)
    products(turned, step, found[:3])  # of the first three, as many as there is room for
    np.testing.assert_allclose(found[:3], turned[:3] @ step, rtol=1e-12, atol=1e-12)
    assert np.isnan(found[3])
    mix, mixed = rng.normal(size=3), np.empty(n)
    combine(x, step, 1.9, moved, mix, mixed)
    np.testing.assert_allclose(mixed, x + 1.9 * step - mix @ moved[:3], rtol=1e-12, atol=1e-12)
