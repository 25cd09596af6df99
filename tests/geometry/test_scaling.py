import numpy as np
import pytest
from scipy.stats import rankdata

from finsler.errors import InputError
from finsler.geometry import scaling
from finsler.geometry.scaling import Scaling, blocks_of, data_pairs, midranks, tied_blocks

from helpers import random_dissimilarities


def pairs_of(D, W=None, **options):
    return data_pairs(np.asarray(D, dtype=float), W, Scaling("ordinal", **options))


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"kind": "nominal"}, "scaling"),
        ({"ties": "tertiary"}, "ties must be 'primary' or 'secondary'"),
        ({"conditional": "cell"}, "conditional"),
        ({"degree": 0}, "spline_degree"),
        ({"knots": -1}, "spline_knots"),
    ],
)
def test_words_without_a_meaning_are_refused_by_name(bad, named):
    with pytest.raises(InputError, match=named):
        Scaling(**bad)


def test_what_is_metric_and_what_may_be_shifted():
    assert Scaling().metric
    assert Scaling(conditional="parts").metric
    assert not Scaling(conditional="row").metric
    assert not Scaling("interval").metric
    assert (Scaling().negative, Scaling("spline").negative) == ("raise", "shift")


def test_pairs_that_count():
    D, W = random_dissimilarities(9, 0, unknown=0.4, weighted=True)
    W[~np.isfinite(D)] = 0
    pairs = pairs_of(D, W)
    i, j = np.divmod(pairs.at, 9)
    known = (W > 0) & ~np.eye(9, dtype=bool)
    assert known[i, j].all()
    assert len(i) == known.sum()
    np.testing.assert_array_equal(pairs.values, D[i, j])
    np.testing.assert_array_equal(pairs.weights, W[i, j])
    assert pairs.size == pytest.approx((W[known] * D[known] ** 2).sum())
    np.testing.assert_array_equal(pairs_of(D, W, conditional="row").group, i)
    np.testing.assert_array_equal(pairs_of(D, W, conditional="column").group, j)


def test_parts_are_means_of_both_ways_and_need_all_pairs():
    D, _W = random_dissimilarities(6, 1)
    pairs = pairs_of(D, conditional="parts")
    np.testing.assert_allclose(pairs.values, ((D + D.T) / 2)[np.triu_indices(6, 1)])
    with pytest.raises(InputError, match="conditional"):
        pairs_of(D, np.ones((6, 6)), conditional="parts")


def test_bounds_go_with_ordinal_scaling_only():
    D, W = np.array([[0, 2, -3.0], [1, 0, 2], [2, 3, 0]]), np.ones((3, 3))
    pairs = pairs_of(D, W)
    assert pairs.unreachable.sum() == 1
    assert (pairs.values > 0).all()
    blocks = tied_blocks(pairs)
    assert blocks.codes[pairs.unreachable] == blocks.codes.max()
    assert blocks.counts[-1] == 1
    with pytest.raises(InputError, match="scaling"):
        data_pairs(D, W, Scaling("interval"))


def test_ties_up_to_rounding():
    """Means of both directions of whole percents are equal in truth and differ by rounding."""
    rng = np.random.default_rng(0)
    D = np.round(rng.uniform(0.1, 1, (30, 30)), 2)
    S = (D + D.T) / 2 + 1e-16
    S += rng.uniform(-1e-13, 1e-13, S.shape)
    codes = tied_blocks(pairs_of(S)).codes
    exact = tied_blocks(pairs_of(np.round(S, 4))).codes
    np.testing.assert_array_equal(codes, exact)


def test_ties_of_single_precision():
    rng = np.random.default_rng(0)
    D = np.round(rng.uniform(0.1, 1, (30, 30)), 2).astype(np.float32)
    S = (D + D.T) / np.float32(2)
    exact = tied_blocks(pairs_of(np.round((D.astype(float) + D.T) / 2, 4))).codes
    found = tied_blocks(data_pairs(S, None, Scaling("ordinal"))).codes
    np.testing.assert_array_equal(found, exact)
    assert tied_blocks(pairs_of(S)).codes.max() > exact.max()  # in double precision they would be told apart


def test_a_chain_of_small_steps_is_no_tie():
    D = np.zeros((3, 3))
    D[~np.eye(3, dtype=bool)] = 1 + 0.6e-9 * np.arange(6)
    assert tied_blocks(pairs_of(D)).counts.tolist() == [2, 2, 2]


@pytest.mark.parametrize("conditional", ["matrix", "row", "column"])
def test_midranks(conditional):
    D = np.round(4 * random_dissimilarities(12, 3)[0])
    np.fill_diagonal(D, 0)
    pairs = pairs_of(D, conditional=conditional)
    found = midranks(tied_blocks(pairs))
    group = np.zeros(len(found)) if pairs.group is None else pairs.group
    for g in np.unique(group):
        np.testing.assert_allclose(found[group == g], rankdata(pairs.values[group == g]))


def test_each_row_has_its_own_tolerance():
    D = np.array([[0, 1e-12, 2e-12], [1.0, 0, 1.0], [3e5, 4e5, 0]])
    blocks = tied_blocks(pairs_of(D, conditional="row"))
    assert blocks.counts.tolist() == [1, 1, 2, 1, 1]


def test_bins_keep_the_order_and_are_narrow(monkeypatch):
    monkeypatch.setattr(scaling, "MANY", 1000)
    monkeypatch.setattr(scaling, "BINS", 64)
    D = np.random.default_rng(0).lognormal(size=(60, 60))
    pairs = pairs_of(D)
    blocks = blocks_of(pairs, Scaling("ordinal"))
    assert 64 < blocks.n_bins == len(blocks.values) <= 128
    assert blocks.counts.sum() == len(pairs.at)
    assert (blocks.counts > 0).all()
    order = np.argsort(pairs.values)
    assert (np.diff(blocks.codes[order]) >= 0).all()
    assert np.abs(blocks.values[blocks.codes] - pairs.values).max() <= np.ptp(pairs.values) / 64
    assert blocks.counts.max() <= len(pairs.at) / 64 + 2
    np.testing.assert_allclose(np.bincount(blocks.codes, pairs.values) / blocks.counts, blocks.values)


def test_many_pairs_with_real_ties_are_not_put_into_bins(monkeypatch):
    monkeypatch.setattr(scaling, "MANY", 1000)
    D = np.random.default_rng(0).integers(1, 50, size=(60, 60))
    blocks = blocks_of(pairs_of(D), Scaling("ordinal"))
    assert blocks.n_bins == 0
    assert len(blocks.values) == 49
