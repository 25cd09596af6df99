"""Symmetrized scaling and Isomap: against our solver on the symmetrized matrix, and scikit-learn."""

import numpy as np
import pytest
from sklearn.manifold import Isomap

from finsler.data.matrix import as_dissimilarities
from finsler.models.symmetric import (
    Observations,
    Settings,
    differences,
    free_coordinates,
    symmetric_isomap,
    symmetric_mds,
)

from helpers import random_problem


def observe(D, W=None):
    return Observations.of(as_dissimilarities(D, W, missing="mask"))


def test_scaling_is_that_of_the_symmetric_part():
    _, D, _ = random_problem(0, n=10)
    settings = Settings(tol=1e-12)
    fit = symmetric_mds(observe(D), settings)
    other = symmetric_mds(observe((D + D.T) / 2), settings)
    np.testing.assert_allclose(fit.distances, other.distances, atol=1e-4)
    np.testing.assert_allclose(fit.distances, fit.distances.T)


def test_observed_stress_is_over_known_ordered_pairs():
    X, D, W = random_problem(1, n=7, m=2, kind="missing")
    observed, E = observe(D, W), differences(X)[1]
    slow = sum(
        W[i, j] * (np.linalg.norm(X[i] - X[j]) - D[i, j]) ** 2
        for i in range(7)
        for j in range(7)
        if i != j and W[i, j] > 0
    )
    unit = W[~np.eye(7, dtype=bool)].max()  # weights are in units of the largest
    assert unit * observed.stress(E) == pytest.approx(slow)
    total = sum(W[i, j] * D[i, j] ** 2 for i in range(7) for j in range(7) if i != j and W[i, j] > 0)
    assert observed.normalized_stress(E) == pytest.approx(np.sqrt(slow / total))


@pytest.mark.parametrize("n_neighbors", [4, 8, 29])
def test_isomap_is_that_of_scikit_learn(n_neighbors):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.uniform(0, 5, size=(30, 2)), 0.1 * rng.normal(size=30)])
    skew = np.subtract.outer(X[:, 0], X[:, 0]) * 0.1
    S = differences(X)[1]
    theirs = Isomap(n_neighbors=n_neighbors, n_components=2, metric="precomputed").fit_transform(S)
    fit = symmetric_isomap(observe(S + skew), Settings(), n_neighbors)
    np.testing.assert_allclose(fit.distances, differences(theirs)[1], atol=1e-6)


def test_isomap_takes_the_way_that_is_known():
    S = differences(np.random.default_rng(1).normal(size=(8, 2)))[1]
    D = S.copy()
    D[2, 5] = np.nan
    fit = symmetric_isomap(observe(D), Settings(), 7)
    np.testing.assert_allclose(fit.distances, S, atol=1e-9)


def test_isomap_joins_pieces_by_more_neighbors():
    x = np.concatenate([np.arange(5.0), 100 + np.arange(5.0)])[:, None]
    D = differences(x)[1]
    fit = symmetric_isomap(observe(D), Settings(n_components=1), 2)
    assert np.isfinite(fit.distances).all()
    np.testing.assert_allclose(fit.distances, D, rtol=1e-6)


@pytest.mark.parametrize("unit", [1e-12, 1e-60, 1e12])
def test_isomap_does_not_depend_on_the_unit(unit):
    D = differences(np.random.default_rng(2).normal(size=(20, 3)))[1]
    D[3] = D[4]
    D[:, 3] = D[:, 4]
    D[3, 4] = D[4, 3] = D[3, 3] = 0.0  # two points on one spot: the arc between them has length 0
    plain, scaled = (symmetric_isomap(observe(D * u), Settings(), 5).distances for u in (1.0, unit))
    np.testing.assert_allclose(scaled / unit, plain, atol=1e-9)
    assert plain[3, 4] < 1e-6


@pytest.mark.parametrize(("n", "m", "free"), [(8, 2, 13), (8, 1, 7), (10, 3, 24), (3, 2, 3), (4, 5, 6)])
def test_free_numbers(n, m, free):
    # The rank of the distances' derivatives at a generic map is the number of free coordinates.
    X = np.random.default_rng(0).normal(size=(n, m))
    rows = []
    for i in range(n):
        for j in range(i):
            row = np.zeros((n, m))
            row[i], row[j] = X[i] - X[j], X[j] - X[i]
            rows.append(row.ravel())
    assert np.linalg.matrix_rank(np.array(rows)) == free == free_coordinates(n, m)
