"""`FinslerMDS` with a scaling: fitted attributes, warnings, new points, what is refused."""

import warnings

import numpy as np
import pytest

from finsler import FinslerMDS, embed_graph, embed_matrix, embed_pairs
from finsler.data.matrix import as_dissimilarities
from finsler.errors import InputError, InputTypeError
from finsler.geometry.randers import randers_distances
from finsler.solvers.smacof import smacof

from helpers import spiral

Q = spiral() ** 2


def test_ratio_is_the_metric_solver_bit_for_bit():
    D = spiral()
    plain = smacof(as_dissimilarities(D))
    for options in (
        {},
        {"scaling": "ratio"},
        {"scaling": "ratio", "conditional": "parts", "ties": "secondary"},
    ):
        mds = FinslerMDS(**options).fit(D)
        np.testing.assert_array_equal(mds.embedding_, plain.coordinates)
        assert (mds.stress_, mds.alpha_, mds.n_iter_) == (plain.stress, plain.alpha, plain.n_iter)
        assert mds.result_.scaled is None


def test_attributes_of_ratio_maps():
    D = spiral()
    mds = FinslerMDS(alpha=0.4).fit(D)
    np.testing.assert_array_equal(mds.disparities_, D)
    assert mds.stress1_ == pytest.approx(mds.normalized_stress_, rel=1e-6)
    assert mds.alpha_least_stress_ == mds.alpha_ == 0.4
    assert mds.degenerate_ is False
    np.testing.assert_allclose(mds.transformation_(D[0, 1:]), D[0, 1:], rtol=1e-9)


def test_attributes_of_ordinal_maps():
    mds = FinslerMDS(scaling="ordinal").fit(Q)
    d = randers_distances(mds.embedding_, drift=mds.omega_)
    assert ((d - mds.disparities_) ** 2).sum() == pytest.approx(mds.stress_)
    assert mds.stress1_ == pytest.approx(mds.normalized_stress_, rel=1e-5)
    assert mds.alpha_least_stress_ == pytest.approx(0.348, abs=1e-3)
    assert mds.alpha_ > mds.alpha_least_stress_
    away = ~np.eye(20, dtype=bool)
    order = np.argsort(Q[away])
    assert (np.diff(mds.disparities_[away][order]) >= -1e-9).all()
    np.testing.assert_allclose(mds.transformation_(Q[away]), mds.disparities_[away], rtol=1e-9)


def test_a_function_for_each_row():
    mds = FinslerMDS(alpha=0.4, scaling="interval", conditional="row").fit(Q)
    assert len(mds.transformation_) == 20
    for i, function in enumerate(mds.transformation_):
        others = np.arange(20) != i
        np.testing.assert_allclose(function(Q[i, others]), mds.disparities_[i, others])


def test_new_points_are_placed_by_the_same_function():
    X = np.random.default_rng(0).normal(size=(40, 2))
    D = randers_distances(X, drift=0.4) ** 2
    for scaling in ("ordinal", "spline"):
        mds = FinslerMDS(alpha=0.4, scaling=scaling).fit(D[:35, :35])
        placed = mds.transform(D[35:, :35], from_fitted=D[:35, 35:].T)
        every = FinslerMDS(alpha=0.4, scaling="ordinal").fit(D)
        size = np.sqrt((mds.embedding_**2).sum() / (every.embedding_[:35] ** 2).sum())
        shift = every.embedding_[:35].mean(axis=0)
        sides = np.sign((mds.embedding_ * every.embedding_[:35]).sum(axis=0))
        wanted = (every.embedding_[35:] - shift) * size * sides
        np.testing.assert_allclose(placed, wanted, atol=0.1 * np.abs(mds.embedding_).max())


def test_new_points_of_shifted_data_and_unknown_values():
    D = np.where(np.eye(20), 0, Q - 3)
    mds = FinslerMDS(alpha=0.4, scaling="ordinal", missing="mask").fit(D)
    values = Q[Q > 0]
    assert mds.result_.provenance.shift == pytest.approx(3 - values.min() + 0.01 * np.ptp(values))
    rows = D[:2].copy()
    rows[0, 0], rows[1, 1] = np.nan, np.nan
    again = mds.transform(rows)
    assert np.isfinite(again).all()
    unshifted = FinslerMDS(alpha=0.4, scaling="ordinal", missing="mask").fit(Q)
    rows = Q[:2].copy()
    rows[0, 0], rows[1, 1] = np.nan, np.nan
    size = np.sqrt((mds.embedding_**2).sum() / (unshifted.embedding_**2).sum())
    np.testing.assert_allclose(again, size * unshifted.transform(rows), atol=0.02 * np.abs(again).max())


def test_rows_leave_no_function_for_new_points():
    mds = FinslerMDS(alpha=0.4, scaling="ordinal", conditional="row").fit(Q)
    with pytest.raises(InputError, match="conditional"):
        mds.transform(Q[:1])


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"scaling": "nominal"}, "scaling"),
        ({"scaling": "ordinal", "ties": "tertiary"}, "ties"),
        ({"scaling": "ordinal", "conditional": "cell"}, "conditional"),
        ({"scaling": "spline", "spline_degree": 0}, "spline_degree"),
        ({"scaling": "ordinal", "solver": "classical"}, "scaling"),
        ({"scaling": "ordinal", "swirl": True}, "swirl"),
    ],
)
def test_what_has_no_meaning_is_refused(bad, named):
    with pytest.raises(InputError, match=named):
        FinslerMDS(**bad).fit(Q)
    with pytest.raises(InputError, match=named):
        embed_matrix(Q, **bad)


def test_negative_data_are_refused_where_zero_means_something():
    D = np.where(np.eye(20), 0, Q - 3)
    with pytest.raises(InputError, match="Negative"):
        embed_matrix(D)
    with pytest.raises(InputError, match="Negative"):
        embed_matrix(D, conditional="row")
    found = embed_matrix(D, scaling="interval")
    np.testing.assert_allclose(found.data.matrix[0, 1], D[0, 1] + found.provenance.shift)
    assert "added" in " ".join(found.sentences())
    assert found.alpha == pytest.approx(embed_matrix(Q, scaling="interval").alpha, abs=1e-3)


def test_pairs_and_files_that_are_not_in_memory(tmp_path):
    pairs = [(i, j, Q[i, j] - 3) for i in range(20) for j in range(20) if i != j]
    found = embed_pairs(pairs, scaling="ordinal", alpha=0.3)
    assert found.stress1 == pytest.approx(0.118188, abs=1e-5)
    assert found.provenance.shift > 0
    np.save(tmp_path / "Q.npy", spiral(300))
    with pytest.raises(InputError, match=r"scaling.*memory"):
        embed_matrix(tmp_path / "Q.npy", scaling="ordinal", memory_budget=600_000)
    with pytest.raises(InputTypeError, match="scaling"):
        embed_graph([("a", "b", 1.0), ("b", "a", 2.0)], scaling="ordinal")


def test_heaps_and_few_rows_are_warned_of():
    which = np.arange(12) % 2
    D = np.random.default_rng(0).uniform(1, 2, (12, 12)) + 100 * (which[:, None] != which)
    np.fill_diagonal(D, 0)
    with pytest.warns(UserWarning, match="collapsed"):
        mds = FinslerMDS(alpha=0, scaling="ordinal").fit(D)
    assert mds.degenerate_
    with pytest.warns(UserWarning, match="alpha"):
        FinslerMDS(scaling="ordinal", conditional="row").fit(Q[:10, :10])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        FinslerMDS(scaling="ordinal").fit(Q)
