"""Simulated cells obey the model they are made from."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from finsler.datasets import differentiation, make_differentiation
from finsler.datasets.differentiation import BETA, FATE, STAGE
from finsler.errors import InputError


def test_expression_is_the_solution_of_the_model():
    rng = np.random.default_rng(0)
    genes, n = 4, 9
    start, rates = rng.uniform(1, 10, genes), rng.uniform(1, 10, (4, genes))
    gamma = rng.uniform(0.8, 2, genes)
    time = np.concatenate(
        [[0.0, STAGE, 2 * STAGE, 2 * STAGE + FATE], rng.uniform(0, 2 * STAGE + FATE, n - 4)]
    )
    fate = rng.integers(2, size=n)
    u, s = differentiation._expression(time, fate, start, rates, gamma)
    for cell in range(n):

        def slope(t, y, cell=cell):
            a = rates[0 if t < STAGE else 1 if t < 2 * STAGE else 2 + fate[cell]]
            return np.concatenate([a - BETA * y[:genes], BETA * y[:genes] - gamma * y[genes:]])

        y = np.concatenate([start / BETA, start / gamma])
        end = solve_ivp(slope, (0, max(time[cell], 1e-9)), y, rtol=1e-8, atol=1e-10, max_step=0.01).y[:, -1]
        assert np.allclose(np.concatenate([u[cell], s[cell]]), end, atol=0.02)


def test_velocity_is_the_slope_of_the_spliced_rna():
    quiet = make_differentiation(50, n_genes=30, noise=0.0, random_state=3)
    rng = np.random.RandomState(3)
    names = 5
    rates = np.where(rng.uniform(size=(names, 30)) < 0.3, 10.0, 1.0)
    start = np.where(rng.uniform(size=30) < 0.3, 10.0, 1.0)
    gamma = rng.uniform(0.8, 2.0, size=30)
    time = rng.uniform(0, 3.5, size=50)
    fate = rng.randint(3, size=50)
    assert np.allclose(time, quiet.time)
    h = 1e-6
    inside = np.abs((time + h) % 1 - time % 1 - h) < 1e-9
    later = differentiation._expression(time + h, fate, start, rates, gamma)[1]
    now = differentiation._expression(time, fate, start, rates, gamma)[1]
    assert np.allclose(now, quiet.spliced)
    assert np.allclose(((later - now) / h)[inside], quiet.velocity[inside], atol=1e-3)


def test_components_are_principal_and_velocities_lie_along_them():
    cells = make_differentiation(120, n_components=5)
    assert np.allclose(cells.points.mean(axis=0), 0)
    covariance = np.cov(cells.points.T)
    assert np.allclose(covariance, np.diag(np.diag(covariance)), atol=1e-8 * covariance.max())
    assert np.all(np.diff(np.diag(covariance)) < 0)
    moved = cells.spliced + 1e-3 * cells.velocity - cells.spliced.mean(axis=0)
    axes = np.linalg.lstsq(cells.spliced - cells.spliced.mean(axis=0), cells.points, rcond=None)[0]
    assert np.allclose(moved @ axes, cells.points + 1e-3 * cells.current, atol=1e-6)


def test_same_seed_same_cells():
    a, b, c = make_differentiation(20), make_differentiation(20), make_differentiation(20, random_state=1)
    assert np.array_equal(a.points, b.points)
    assert not np.array_equal(a.points, c.points)
    assert {*make_differentiation(200, n_fates=1).clusters} == {"stem", "progenitor", "fate A"}


def test_sizes_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="n_components must be at most 10"):
        make_differentiation(10)
    with pytest.raises(InputError, match="noise"):
        make_differentiation(30, noise=-1)
