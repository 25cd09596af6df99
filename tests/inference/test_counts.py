"""Tests of counts against formulas, an optimizer and simulation."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import chi2

from finsler.inference import asymmetry_test


def table(n=6, slope=0.0, size=8, seed=0):
    rng = np.random.default_rng(seed)
    h = slope * np.arange(n)
    return rng.poisson(size * np.exp(h[:, None] - h))


def test_by_formulas_and_an_optimizer():
    n = table(slope=0.2)
    found = asymmetry_test(counts=n).counts
    i, j = np.triu_indices(6, 1)
    there, back = n[i, j], n[j, i]
    bowker = ((there - back) ** 2 / (there + back)).sum()
    assert found.symmetry.statistic == pytest.approx(bowker)
    assert found.symmetry.p_value == pytest.approx(chi2.sf(bowker, 15))

    def likelihood(h):
        p = expit(h[i] - h[j])
        return -(there * np.log(p) + back * np.log(1 - p)).sum()

    best = minimize(likelihood, np.zeros(6), tol=1e-12)
    np.testing.assert_allclose(found.scores, best.x - best.x.mean(), atol=1e-4)
    assert found.heights.statistic == pytest.approx(2 * (likelihood(np.zeros(6)) - best.fun), rel=1e-8)
    p = expit(best.x[i] - best.x[j])
    pearson = ((there - (there + back) * p) ** 2 / ((there + back) * p * (1 - p))).sum()
    assert found.circles.statistic == pytest.approx(pearson, rel=1e-5)
    assert found.degrees_of_freedom == {"symmetry": 15, "heights": 5, "circles": 10}
    assert found.scores[-1] > found.scores[0]  # few come to what is high


def test_empty_pairs_groups_and_points_that_always_win():
    n = np.zeros((6, 6), dtype=int)
    n[0, 1], n[1, 0], n[1, 2], n[2, 0] = 5, 3, 4, 2
    n[3, 4], n[4, 3], n[4, 5], n[5, 4] = 4, 4, 2, 7  # another group
    found = asymmetry_test(counts=n).counts
    assert found.degrees_of_freedom == {"symmetry": 5, "heights": 4, "circles": 1}
    assert all(np.isfinite(test.statistic) and 0 < test.p_value <= 1 for test in found.tests)
    assert np.isfinite(found.scores).all()


def test_verdict_and_summary():
    sloped, even = asymmetry_test(counts=table(slope=0.3)), asymmetry_test(counts=table(seed=1))
    assert "use a Randers map" in sloped.verdict
    assert "alpha = 0" in even.verdict
    assert "Bradley-Terry" in str(sloped)
    assert sloped.to_dict()["counts"]["degrees_of_freedom"]["heights"] == 5


def test_levels():
    rejected = np.zeros(3)
    for seed in range(200):
        even, sloped = (asymmetry_test(counts=table(8, slope, 5, seed)).counts for slope in (0.0, 0.1))
        rejected += [even.symmetry.significant, even.heights.significant, sloped.circles.significant]
    assert (rejected <= 22).all()  # 10 expected; 22 has a chance of 1 in 2,000
    assert (rejected >= 1).all()
