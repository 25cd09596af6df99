"""What must not change the map: order, scale, direction of the data, threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.solvers.smacof import smacof

from helpers import random_problem

seeds = st.integers(0, 10_000)
kinds = st.sampled_from(["uniform", "symmetric", "asymmetric", "missing", "hinge"])
alphas = st.sampled_from([0.0, 0.2, 0.7, 0.95])
dimensions = st.integers(1, 4)
gentle = settings(max_examples=40)


def solve(D, W, m, alpha, start, **options):
    options = {"max_iter": 10, "tol": 0.0, **options}
    return smacof(Dissimilarities(D, W), m, alpha, init=start, random_state=0, **options)


def start_for(seed, n, m):
    return np.random.default_rng(seed + 1).normal(size=(n, m))


@gentle
@given(seeds, kinds, alphas, dimensions, st.booleans())
def test_the_stress_never_rises(seed, kind, alpha, m, accelerate):
    _, D, W = random_problem(seed, n=10, m=m, kind=kind)
    solution = solve(D, W, m, alpha, start_for(seed, 10, m), accelerate=accelerate, max_iter=40)
    assert (np.diff(solution.history) <= 0).all()


@gentle
@given(seeds, kinds, alphas, dimensions, st.integers(-40, 40))
def test_scaling_the_data_scales_the_map(seed, kind, alpha, m, power):
    _, D, W = random_problem(seed, n=10, m=m, kind=kind)
    start, c = start_for(seed, 10, m), 10.0**power
    plain = solve(D, W, m, alpha, start)
    scaled = solve(c * D, W, m, alpha, c * start)
    np.testing.assert_allclose(scaled.coordinates, c * plain.coordinates, rtol=1e-4, atol=1e-5 * c)
    assert scaled.stress == pytest.approx(c**2 * plain.stress, rel=1e-6)


@gentle
@given(seeds, kinds, st.sampled_from([0.0, 0.5, "auto"]), dimensions, st.integers(-6, 6))
def test_scaling_the_weights_changes_nothing(seed, kind, alpha, m, power):
    _, D, W = random_problem(seed, n=10, m=m, kind=kind)
    W = np.ones((10, 10)) if W is None else W
    start = start_for(seed, 10, m)
    plain, scaled = solve(D, W, m, alpha, start), solve(D, 10.0**power * W, m, alpha, start)
    assert scaled.stress == pytest.approx(10.0**power * plain.stress, rel=1e-5)


@gentle
@given(seeds, kinds, alphas, dimensions)
def test_permuting_the_points_permutes_the_map(seed, kind, alpha, m):
    _, D, W = random_problem(seed, n=10, m=m, kind=kind)
    start = start_for(seed, 10, m)
    order = np.random.default_rng(seed).permutation(10)
    plain = solve(D, W, m, alpha, start)
    W_mixed = None if W is None else W[np.ix_(order, order)]
    mixed = solve(D[np.ix_(order, order)], W_mixed, m, alpha, start[order])
    np.testing.assert_allclose(mixed.coordinates, plain.coordinates[order], atol=1e-5)


@gentle
@given(seeds, kinds, alphas, dimensions)
def test_transposing_the_data_mirrors_the_height(seed, kind, alpha, m):
    _, D, W = random_problem(seed, n=10, m=m, kind=kind)
    start = start_for(seed, 10, m)
    mirror = np.ones(m)
    mirror[-1] = -1 if alpha else 1  # without a drift no axis is the height
    plain = solve(D, W, m, alpha, start)
    turned = solve(D.T, None if W is None else W.T, m, alpha, start * mirror)
    np.testing.assert_allclose(turned.coordinates, plain.coordinates * mirror, atol=1e-5)


@pytest.mark.parametrize("init", ["classical", "isomap"])
@pytest.mark.parametrize("alpha", [0.4, "auto"])
def test_the_usual_starts_respect_order_scale_and_direction(init, alpha):
    points, _, _ = random_problem(0, n=25, m=2)
    from finsler.geometry.randers import randers_distances

    D = randers_distances(points, drift=0.4) * np.random.default_rng(0).uniform(0.9, 1.1, size=(25, 25))
    order = np.random.default_rng(1).permutation(25)
    plain = smacof(as_dissimilarities(D), 2, alpha, init=init, tol=1e-13)
    for other, expected in (
        (D[np.ix_(order, order)], plain.coordinates[order]),
        (4 * D, 4 * plain.coordinates),
        (D.T, plain.coordinates * [1, -1]),
    ):
        found = smacof(as_dissimilarities(other), 2, alpha, init=init, tol=1e-13).coordinates
        np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["uniform", "missing"])
@pytest.mark.parametrize("alpha", [0.5, "auto"])
def test_any_number_of_threads_gives_the_same_numbers(kind, alpha):
    _, D, W = random_problem(0, n=450, m=3, kind=kind)
    data = as_dissimilarities(D, W)
    runs = [smacof(data, 3, alpha, n_jobs=jobs, max_iter=5).coordinates for jobs in (1, 2, 7)]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[0], runs[2])
