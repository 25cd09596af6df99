"""What is made of both directions of a pair, against loops over the definitions."""

import numpy as np

from finsler.geometry.heights import skew_flow
from finsler.geometry.pairs import Pairs, survey
from finsler.kernels.panels import complete

from helpers import random_problem


def test_what_is_known_of_a_pair_beside_its_heights():
    n = 70
    _, D, W = random_problem(1, n=n, kind="missing")
    D = np.where(np.random.default_rng(1).random((n, n)) < 0.1, -D, D)  # bounds
    D = np.where(W > 0, D, np.nan)
    h = np.random.default_rng(2).normal(size=n)
    S = np.empty((n, n))
    known = [complete(D, W, h, start, start + 35, S) for start in (0, 35)]
    want = np.full((n, n), np.inf)
    for i in range(n):
        want[i, i] = 0.0
        for j in range(n):
            there, back = abs(D[i, j]) - (h[j] - h[i]), abs(D[j, i]) - (h[i] - h[j])
            if i != j and W[i, j] > 0 and W[j, i] > 0:
                want[i, j] = (there + back) / 2
            elif i != j and W[i, j] > 0:
                want[i, j] = want[j, i] = max(there, np.finfo(float).tiny)
    np.testing.assert_allclose(S, want, rtol=1e-12)
    assert all(known) == bool(np.isfinite(want).all())
    assert complete(D[:1, :1], W[:1, :1], h[:1], 0, 1, S[:1, :1])


def test_the_skew_part_is_added_up_as_by_the_survey():
    for kind in ("uniform", "asymmetric", "missing"):
        _, D, W = random_problem(3, n=140, kind=kind)
        pairs = Pairs.of(D if W is None else np.where(W > 0, D, np.inf), W, 1)
        found, want = skew_flow(pairs, fill=True), survey(pairs)
        np.testing.assert_allclose(found.flow, want.flow, atol=1e-12 * np.abs(want.flow).max())
        assert found.both == want.both
        assert found.uniform == want.uniform
        np.testing.assert_allclose(found.c_range, want.c_range)
        c = np.vstack([np.hstack([c for _, _, c in rows.skew()]) for rows in [pairs.rows(slice(None))]])
        np.testing.assert_allclose(found.weights, c, rtol=1e-14)
        assert skew_flow(pairs).weights.size == 0
