import numpy as np
import pytest
from scipy.optimize import minimize

from finsler.geometry.randers import randers_distances
from finsler.solvers.placement import place

from helpers import slow_distance


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X, new = rng.normal(size=(40, 3)), 1.5 * rng.normal(size=(15, 3))
    return X, new


@pytest.mark.parametrize("alpha", [0.0, 0.4, 0.9])
@pytest.mark.parametrize("ways", ["to", "from", "both"])
def test_exact_dissimilarities_give_the_exact_place(problem, alpha, ways):
    X, new = problem
    given = {}
    if ways in ("to", "both"):
        given["to_fitted"] = randers_distances(new, X, drift=alpha)
    if ways in ("from", "both"):
        given["from_fitted"] = randers_distances(X, new, drift=alpha).T
    solution = place(X, alpha, **given)
    np.testing.assert_allclose(solution.coordinates, new, atol=1e-7)
    assert solution.converged
    assert solution.misfit.max() < 1e-6


def test_inexact_dissimilarities_give_a_minimum(problem):
    X, new = problem
    rng = np.random.default_rng(1)
    omega = np.array([0, 0, 0.5])
    to = randers_distances(new, X, drift=0.5) * rng.uniform(0.7, 1.3, size=(15, 40))
    back = randers_distances(X, new, drift=0.5).T * rng.uniform(0.7, 1.3, size=(15, 40))
    to[3, 5] = np.nan
    back[3, 7:] = np.inf
    solution = place(X, omega, to_fitted=to, from_fitted=back)
    for i in range(15):

        def cost(y, i=i):
            total = 0.0
            for j in range(40):
                if np.isfinite(to[i, j]):
                    total += (slow_distance(y, X[j], omega) - to[i, j]) ** 2
                if np.isfinite(back[i, j]):
                    total += (slow_distance(X[j], y, omega) - back[i, j]) ** 2
            return total

        assert solution.stress[i] == pytest.approx(cost(solution.coordinates[i]), rel=1e-9)
        oracle = minimize(cost, new[i], method="BFGS", options={"gtol": 1e-9})
        assert solution.stress[i] <= oracle.fun * (1 + 1e-6)


def test_each_row_is_placed_by_itself(problem):
    X, new = problem
    to = randers_distances(new, X, drift=0.5) * 1.1
    together = place(X, 0.5, to_fitted=to).coordinates
    for n_jobs in (1, 3):
        alone = np.concatenate(
            [place(X, 0.5, to_fitted=row[None], n_jobs=n_jobs).coordinates for row in to[::-1]]
        )
        np.testing.assert_array_equal(alone[::-1], together)


def test_a_point_of_the_map_is_placed_on_itself(problem):
    X, _ = problem
    D = randers_distances(X, drift=0.5)
    np.testing.assert_allclose(place(X, 0.5, to_fitted=D, from_fitted=D.T).coordinates, X, atol=1e-10)


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "Give to_fitted"),
        ({"to_fitted": np.ones((2, 39))}, r"expected \(k, 40\), got \(2, 39\)"),
        ({"to_fitted": np.ones(40)}, "Reshape your data"),
        ({"to_fitted": -np.ones((2, 40))}, "negative in row 0, column 0"),
        ({"to_fitted": np.full((2, 40), np.nan)}, "Row 0 of the new points has no known"),
        ({"to_fitted": np.ones((2, 40)), "from_fitted": np.ones((3, 40))}, "same shape"),
    ],
)
def test_bad_input(problem, given, match):
    with pytest.raises(ValueError, match=match):
        place(problem[0], 0.5, **given)


def test_the_drift_must_stand_upright(problem):
    with pytest.raises(ValueError, match="last axis"):
        place(problem[0], [0.5, 0.0, 0.0], to_fitted=np.ones((1, 40)))


def test_places_are_as_good_as_the_best_on_a_grid():
    """From the nearest points and the middle alone, 1 % of such points ended on the wrong side."""
    worse = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        n, m = int(rng.integers(4, 25)), 1 + seed % 2
        X, omega = rng.normal(size=(n, m)), np.append(np.zeros(m - 1), 0.2)
        if m == 1:
            to = rng.uniform(0.2, 3, (50, n))
            grid = np.linspace(-8, 8, 801)[:, None]
        else:
            to = randers_distances(rng.normal(size=(50, m)), X, drift=omega) * rng.uniform(0.6, 1.4, (50, n))
            to[rng.random((50, n)) < 0.4] = np.nan
            to[:, 0] = 1
            grid = np.stack(np.meshgrid(*[np.linspace(-4, 4, 61)] * 2), axis=-1).reshape(-1, 2)
        misses = randers_distances(grid, X, drift=omega)[None] - to[:, None]
        best = np.nansum(misses**2, axis=2).min(axis=1)
        worse += int((place(X, omega, to_fitted=to).stress > 1.05 * best).sum())
    assert worse <= 2  # of 2,000
