"""`finsler.geometry.asymmetry` and `finsler.geometry.pairs` against plain loops."""

import numpy as np
import pytest

from finsler.geometry.asymmetry import asymmetry_shown, gradient_share
from finsler.geometry.heights import gradient_heights
from finsler.geometry.pairs import Estimate, Pairs, ratio_of_rows, survey


def data_with_bounds(n=14, seed=0, unknown=0.2, weighted=True):
    rng = np.random.default_rng(seed)
    D = rng.uniform(0.5, 2.0, (n, n))
    D[rng.random((n, n)) < unknown] = np.nan
    D[rng.random((n, n)) < unknown / 3] = np.inf
    D[rng.random((n, n)) < unknown / 3] = -1.0  # a bound
    return D, rng.uniform(0.1, 3.0, (n, n)) if weighted else None


def slow_pairs(D, W, rows=None):
    """Ordered pairs of some rows that are known both ways: (i, j, A, c)."""
    n = len(D)
    W = np.ones((n, n)) if W is None else W
    for i in range(n) if rows is None else rows:
        for j in range(n):
            if i != j and all(np.isfinite(D[p]) and D[p] >= 0 and W[p] > 0 for p in ((i, j), (j, i))):
                yield i, j, (D[i, j] - D[j, i]) / 2, 2 / (1 / W[i, j] + 1 / W[j, i])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rows", [None, [5, 1, 8, 2, 13]])
def test_share_against_loops(weighted, rows):
    D, W = data_with_bounds(weighted=weighted)
    h = np.random.default_rng(1).normal(size=14) / 5
    pairs = list(slow_pairs(D, W, rows))
    square = sum(c * A**2 for _, _, A, c in pairs)
    found = asymmetry_shown(D, W, h, rows=rows)
    assert found.share == pytest.approx(1 - sum(c * (A - h[j] + h[i]) ** 2 for i, j, A, c in pairs) / square)
    assert found.n_rows == (None if rows is None else 5)
    d = np.abs(h - h[:, None]) + np.random.default_rng(2).random((14, 14))
    told = sum(c * (A - (d[i, j] - d[j, i]) / 2) ** 2 for i, j, A, c in pairs)
    assert asymmetry_shown(D, W, d, rows=rows).share == pytest.approx(1 - told / square)
    if rows is None:
        best = gradient_heights(D, W)
        missed = sum(c * (A - best[j] + best[i]) ** 2 for i, j, A, c in pairs)
        assert found.available == pytest.approx(1 - missed / square)
        assert found.error == 0
        everyone = asymmetry_shown(D, W, h, rows=np.arange(14))
        assert everyone[:2] == pytest.approx(found[:2])
        assert everyone.available == pytest.approx(found.available)


def test_symmetric_data_have_nothing_to_show():
    S = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    assert asymmetry_shown(S, None, np.arange(5)).share is None
    assert asymmetry_shown(S, None, np.arange(5), rows=[0, 2]).share is None


def test_error_bars_of_the_share_cover_the_truth():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 2))
    D = np.linalg.norm(X[:, None] - X, axis=2) * rng.uniform(1, 1.3, (150, 150)) + 0.4 * (X[:, 1] - X[:, 1:])
    h = 0.3 * X[:, 1]
    truth = asymmetry_shown(D, None, h)
    inside = near = 0
    for _ in range(40):
        found = asymmetry_shown(D, None, h, rows=rng.choice(150, 30, replace=False))
        inside += abs(found.share - truth.share) <= 2 * found.error
        near += abs(found.available - truth.available) < 0.05
    assert inside >= 33
    assert near >= 38


def test_what_is_shown_can_be_shown():
    """Heights of half of few rows, tried on the others, fall short of those of the map, which are heights, too."""
    rng = np.random.default_rng(5)
    h = rng.normal(size=400)
    D = 10 + h[None] - h[:, None] + 6 * rng.normal(size=(400, 400))
    for k in range(10):
        rows = rng.choice(400, 6, replace=False)
        found = asymmetry_shown(D, None, h, rows=rows)
        assert found.available >= found.share
        short = Pairs.of(D).rows(rows)
        assert gradient_share(short, survey(short)).value < found.share, k


def test_chance_follows_no_heights():
    # Noise has a share 2 / n by fit; tried on other rows it is about 0, on either side.
    D = np.random.default_rng(4).uniform(1, 2, (200, 200))
    rows = Pairs.of(D).rows(np.arange(0, 200, 5))
    found = gradient_share(rows, survey(rows))
    assert found.value < 2 * found.error
    assert asymmetry_shown(D, None, np.zeros(200), rows=np.arange(3)).available is None  # too few to try


def test_ratio_of_all_rows_has_no_error():
    assert ratio_of_rows(np.array([1.0, 2.0]), np.array([2.0, 2.0]), 2) == Estimate(0.75, 0.0)
    assert ratio_of_rows(np.array([1.0]), np.array([2.0]), 2) == Estimate(0.5, None)
    assert ratio_of_rows(np.zeros(2), np.zeros(2), 2) == Estimate(None, None)


def test_a_survey_of_all_rows_is_that_of_all_pairs(monkeypatch):
    monkeypatch.setattr("finsler.geometry.pairs.CELLS", 50)  # several blocks of points
    monkeypatch.setattr("finsler.geometry.pairs.BLOCK", 5)
    D, W = data_with_bounds(unknown=0.4)
    pairs = Pairs.of(D, W)
    found, everyone = survey(pairs.rows(np.arange(14))), survey(pairs)
    for one, other in zip(found[:5], everyone[:5], strict=True):
        assert one == other
    assert everyone.looked_at == 14 * 13
    assert found.known_share == pytest.approx(everyone.known_share)
    assert found.asymmetry == pytest.approx(everyone.asymmetry)
    assert everyone.known_share == pytest.approx((everyone.known / (14 * 13), 0.0))
    np.testing.assert_allclose(found.flow, everyone.flow)
    np.testing.assert_array_equal(np.sort(found.ratios), np.sort(everyone.ratios))
    assert found.widest == everyone.widest
    i, j, there, back = found.widest
    assert (there, back) == (D[i, j], D[j, i])


def test_pairs_of_some_rows_are_counted_once(monkeypatch):
    D, W = data_with_bounds(unknown=0.4)
    sources = [3, 11, 6]
    rows = Pairs.of(D, W).rows(np.array(sources))
    found = survey(rows)
    ordered = [(i, j) for i in range(14) for j in range(14) if i != j and (i in sources or j in sources)]
    known = {p for p in ordered if np.isfinite(D[p]) and D[p] >= 0}
    assert found.looked_at == len(ordered)
    assert found.known == len(known)
    assert found.unreachable == sum(bool(np.isinf(D[p]) or D[p] < 0) for p in ordered)
    assert found.one_way == sum((j, i) not in known for i, j in known)
    assert found.both == sum((j, i) in known for i, j in known) == 2 * len(found.ratios)
    monkeypatch.setattr("finsler.geometry.pairs.RATIOS", 10)
    some = survey(rows).ratios
    assert len(some) < len(found.ratios)
    assert some.max() == found.ratios.max()
