"""`asymmetry_test` against reference values, least squares and simulation; and what it refuses."""

import itertools
import json

import numpy as np
import pytest

from finsler import embed_graph, randers_distances
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.geometry.noise import SkewPairs
from finsler.geometry.pairs import Pairs
from finsler.inference import asymmetry_test
from finsler.inference.asymmetry import drift_null, symmetric_map

from helpers import random_dissimilarities, spiral


def noisy_map(n=10, alpha=0.0, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, 2)), drift=alpha)
    return np.where(np.eye(n), 0.0, D * rng.lognormal(sigma=noise, size=D.shape))


def test_reference_values():
    found = asymmetry_test(spiral(), n_components=2)
    assert found.heights.statistic == pytest.approx(0.892265, abs=1e-6)
    assert found.drift.statistic == pytest.approx(0.887819, abs=1e-5)
    assert asymmetry_test(spiral() ** 2).circles.statistic == pytest.approx(0.439248, abs=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
def test_share_of_a_drift_by_least_squares(weighted):
    D, W = random_dissimilarities(9, 3, 0.2, weighted)
    X = np.random.default_rng(0).normal(size=(9, 2))
    known = SkewPairs.of(Pairs.of(D, W))
    B, root = (X[known.j] - X[known.i]) * np.sqrt(known.c)[:, None], np.sqrt(known.c) * known.A
    rest = root - B @ np.linalg.lstsq(B, root, rcond=None)[0]
    null = drift_null(known, X, 49, 0)
    assert null.observed == pytest.approx(1 - rest @ rest / (root @ root))
    assert null.noise == pytest.approx(drift_null(known, X, 4000, 1).values.mean(), rel=0.05)


def test_the_map_does_not_know_the_signs():
    from finsler.data.matrix import as_dissimilarities

    D, W = random_dissimilarities(9, 4, 0.0, True)
    X = symmetric_map(as_dissimilarities(D, W), 2)
    np.testing.assert_allclose(symmetric_map(as_dissimilarities(D.T, W.T), 2), X, atol=1e-8)


def test_a_drift_is_found_and_noise_is_not():
    sloped, noise = (asymmetry_test(noisy_map(15, alpha), n_components=2) for alpha in (0.4, 0.0))
    assert sloped.drift.significant
    assert "use a Randers map" in sloped.verdict
    assert not noise.drift.significant
    assert "may be noise: nothing here speaks against a symmetric map (alpha = 0)" in noise.verdict
    assert "One table cannot tell circles" in noise.verdict


def test_results_are_seeded_and_plain():
    D = noisy_map()
    found, again, other = (asymmetry_test(D, n_components=2, n_flips=99, random_state=s) for s in (0, 0, 1))
    assert (found.heights.null == again.heights.null).all()
    assert (found.heights.null != other.heights.null).any()
    assert found.heights.p_value == (1 + (found.heights.null >= found.heights.statistic).sum()) / 100
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["drift"]["p_value"] == found.drift.p_value
    assert record["verdict"] == found.verdict
    assert str(found) == found.summary()
    fresh = asymmetry_test(D, random_state=None).heights.random_state
    assert asymmetry_test(D, random_state=fresh).heights.random_state == fresh


def test_replicates_separate_circles_from_noise():
    rng, turn = np.random.default_rng(0), 2 * np.pi * np.arange(8) / 8
    S = 5 + rng.uniform(size=(8, 8))
    circle = (S + S.T) / 2 + 0.3 * np.sin(turn - turn[:, None])
    tables = [np.where(np.eye(8), 0.0, circle + 0.5 * rng.normal(size=(8, 8))) for _ in range(10)]
    found = asymmetry_test(replicates=tables)
    assert found.replicated_circles.significant
    assert "runs in circles" in found.verdict
    A = np.array([(t - t.T)[np.triu_indices(8, 1)] / 2 for t in tables])
    mean = A.mean(axis=0)
    assert found.replicates.statistic == pytest.approx(mean @ mean / (A**2).sum(axis=1).mean())
    signs = np.array(list(itertools.product([1, -1], repeat=10)))
    flipped = ((signs @ A / 10) ** 2).sum(axis=1)
    assert found.replicates.p_value == pytest.approx((flipped >= mean @ mean * (1 - 1e-9)).mean())
    assert found.replicates.n_draws == 0  # all signs were tried


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({}, "one of D, counts and replicates"),
        ({"D": [[0, 1, 2], [1, 0, 3], [2, 3, 0]]}, "symmetric"),
        ({"D": [[0, 1, 2], [2, 0, 3], [1, 4, 0]]}, "too few"),
        ({"D": [[0, np.nan, 2], [1, 0, np.nan], [np.nan, 3, 0]]}, "both ways"),
        ({"replicates": [noisy_map()] * 5}, "replicates"),
        ({"replicates": [noisy_map(9)] * 5 + [noisy_map(10)]}, "replicates"),
        ({"counts": [[0, 0.5, 1], [2, 0, 3], [1, 4, 0]]}, "counts"),
        ({"counts": [[0, 5, 0], [0, 0, 0], [0, 0, 0]]}, "counts"),
        ({"D": noisy_map(), "random_state": -1}, "random_state"),
        ({"D": noisy_map(), "n_flips": 0}, "n_flips"),
    ],
)
def test_what_it_refuses(options, word):
    with pytest.raises(InputError, match=word) as caught:
        asymmetry_test(**options)
    assert "\n" not in str(caught.value)


def test_lengths_of_paths_are_refused():
    town = embed_graph(make_city(30).graph)
    with pytest.raises(InputError, match="lengths of shortest paths"):
        asymmetry_test(town.data)
