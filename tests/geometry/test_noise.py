"""`finsler.geometry.noise` against all signs, loops and the moments of other programs."""

import itertools

import numpy as np
import pytest

from finsler import randers_distances
from finsler.geometry import noise
from finsler.geometry.asymmetry import asymmetry_shown
from finsler.geometry.pairs import Pairs, survey

from helpers import random_dissimilarities, spiral


def shares_of_all_signs(D, W):
    """Share that follows heights for every pattern of signs, by least squares."""
    n, W = len(D), np.ones_like(D) if W is None else np.where(np.isfinite(D), W, 0.0)
    known = [(i, j) for i, j in itertools.combinations(range(n), 2) if W[i, j] > 0 and W[j, i] > 0]
    c = np.array([2 * W[i, j] * W[j, i] / (W[i, j] + W[j, i]) for i, j in known])
    A = np.array([(D[i, j] - D[j, i]) / 2 for i, j in known])
    B = np.array([np.eye(n)[j] - np.eye(n)[i] for i, j in known]) * np.sqrt(c)[:, None]
    found = []
    for signs in itertools.product([1, -1], repeat=len(A)):
        a = np.sqrt(c) * A * signs
        rest = a - B @ np.linalg.lstsq(B, a, rcond=None)[0]
        found.append(1 - rest @ rest / (a @ a))
    return np.array(found)


@pytest.mark.parametrize(("n", "unknown", "weighted"), [(5, 0.0, False), (5, 0.0, True), (6, 0.4, True)])
def test_all_signs_of_few_pairs(n, unknown, weighted):
    D, W = random_dissimilarities(n, 3, unknown, weighted)
    pairs = Pairs.of(D, W)
    found = survey(pairs)
    null, expected = noise.heights_null(pairs, found, 0.0), shares_of_all_signs(D, W)
    assert null.observed == pytest.approx(expected[0])
    assert null.p == pytest.approx((expected >= expected[0] - 1e-9).mean())
    assert null.noise == pytest.approx(expected.mean())
    assert noise.noise_level(pairs, found) == pytest.approx(expected.mean())
    assert noise.exact_moments(noise.SkewPairs.of(pairs)) == pytest.approx((expected.mean(), expected.var()))
    assert sorted(null.values) == pytest.approx(sorted(expected[1:]), abs=1e-12)


def test_reference_values():
    # Published in the specification of the tests, computed by another program.
    Q = spiral() ** 2
    pairs = Pairs.of(Q)
    null = noise.heights_null(pairs, survey(pairs), 0.0)
    assert null.observed == pytest.approx(0.812285, abs=1e-6)
    assert (null.p, null.noise) == (0.001, pytest.approx(0.1))
    known = noise.SkewPairs.of(pairs)
    assert noise.exact_moments(known)[1] ** 0.5 == pytest.approx(0.035813, abs=1e-6)
    assert noise.circles_null(known).observed == pytest.approx(0.439248, abs=1e-6)


@pytest.mark.parametrize(("unknown", "weighted"), [(0.0, False), (0.5, False), (0.2, True)])
def test_moments_beyond_the_drawn_ones(monkeypatch, unknown, weighted):
    D, W = random_dissimilarities(80, 5, unknown, weighted)
    pairs = Pairs.of(D, W)
    found = survey(pairs)
    drawn = noise.heights_null(pairs, found, 0.0)
    monkeypatch.setattr(noise, "DRAWN", 10)
    moments = noise.heights_null(pairs, found, drawn.observed)
    assert moments.noise == pytest.approx(drawn.noise, rel=0.02)
    assert moments.spread == pytest.approx(drawn.spread, rel=0.12)
    assert moments.p == pytest.approx(drawn.p, abs=0.06)
    for scale in (1e-100, 1e100):
        far = Pairs.of(scale * D, W)
        assert noise.heights_null(far, survey(far), drawn.observed).p == pytest.approx(moments.p)
    if not weighted and not unknown:
        exact = noise.exact_moments(noise.SkewPairs.of(pairs))
        assert (moments.noise, moments.spread**2) == pytest.approx(exact)


def test_the_largest_circle_by_iterations(monkeypatch):
    D, W = random_dissimilarities(30, 6, 0.1, True)
    known = noise.SkewPairs.of(Pairs.of(D, W))
    dense = noise.circles_null(known, n_flips=20)
    R = noise.without_heights(known, known.A[None])[0] * np.sqrt(known.c)
    s = np.linalg.svd(known.matrix(R) * np.sign(np.arange(30) - np.arange(30)[:, None]), compute_uv=False)
    assert dense.observed == pytest.approx((s[0] ** 2 + s[1] ** 2) / (s**2).sum())
    monkeypatch.setattr(noise, "EXACT_EIGEN", 5)
    assert noise.circles_null(known, n_flips=20).values == pytest.approx(dense.values, rel=1e-4)


def test_flips_are_seeded():
    D, _ = random_dissimilarities(12, 7)
    pairs = Pairs.of(D)
    same, other = (noise.heights_null(pairs, survey(pairs), 0.0, seed=seed).values for seed in (0, 1))
    assert (same == noise.heights_null(pairs, survey(pairs), 0.0).values).all()
    assert (same != other).any()


def test_level_of_the_height_test():
    rng, rejected = np.random.default_rng(0), 0
    for _ in range(300):
        D = randers_distances(rng.normal(size=(10, 2)), drift=0.0)
        D = np.abs(D * (1 + 0.2 * rng.standard_t(3, size=D.shape)))
        np.fill_diagonal(D, 0)
        pairs = Pairs.of(D)
        rejected += noise.heights_null(pairs, survey(pairs), 0.0, n_flips=99).p <= 0.05
    assert 5 <= rejected <= 26  # 15 expected; these are its 99.8 % limits


def test_a_map_tells_the_noise_level():
    D, W = random_dissimilarities(12, 8, 0.2, True)
    shown = asymmetry_shown(D, W, np.zeros(12))
    assert shown.noise == noise.noise_level(Pairs.of(D, W), survey(Pairs.of(D, W)))
    assert f"noise alone: {100 * shown.noise:.3g} %" in str(shown)
    assert asymmetry_shown(D, W, np.zeros(12), rows=np.arange(6)).noise is None
