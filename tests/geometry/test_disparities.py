from itertools import permutations, product

import numpy as np
import pytest
from scipy.optimize import nnls

from finsler.geometry.disparities import (
    Cone,
    Transformation,
    kruskal,
    rising_splines,
    targets,
    transformations,
)
from finsler.geometry.scaling import CONDITIONS, KINDS, TIES, Scaling, data_pairs


def problem(seed, n=7, tied=True, weighted=True, **options):
    """Cone and distances."""
    rng = np.random.default_rng(seed)
    D = rng.uniform(0.5, 3, (n, n))
    D = np.round(2 * D) if tied else D
    W = rng.uniform(0.2, 2, (n, n)) * (rng.random((n, n)) < 0.8) if weighted else None
    pairs = data_pairs(D, W, Scaling(**options))
    return Cone(pairs, Scaling(**options)), rng.uniform(0.1, 3, len(pairs.at))


def oracle(values, w, d, scaling):
    """Projection by non-negative least squares on the edges of the cone, for one group with ties kept."""
    distinct = np.unique(values)
    columns = {
        "ratio": lambda: values[:, None],
        "interval": lambda: np.column_stack([np.ones(len(values)), values - values.min()]),
        "ordinal": lambda: (values[:, None] >= distinct).astype(float),
        "spline": lambda: rising_splines(distinct, scaling.degree, scaling.knots)[
            np.searchsorted(distinct, values)
        ],
    }[scaling.kind]()
    root = np.sqrt(w)
    return columns @ nnls(columns * root[:, None], d * root)[0]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("conditional", ["matrix", "row", "column"])
@pytest.mark.parametrize("kind", KINDS)
def test_projection_is_that_of_non_negative_least_squares(kind, conditional, seed):
    cone, d = problem(seed, kind=kind, ties="secondary", conditional=conditional, weighted=seed % 2 == 0)
    pairs, P = cone.pairs, cone.project(d)
    group = np.zeros(len(d)) if pairs.group is None else pairs.group
    for g in np.unique(group):
        mine = group == g
        expected = oracle(pairs.values[mine], pairs.w[mine], d[mine], cone.scaling)
        np.testing.assert_allclose(P[mine], expected, atol=1e-9)
    assert (P >= 0).all()


def test_broken_ties_take_the_best_order_within_each_tie():
    rng = np.random.default_rng(5)
    D = np.zeros((3, 3))
    D[~np.eye(3, dtype=bool)] = [1, 1, 1, 2, 2, 2]
    W = rng.uniform(0.5, 2, (3, 3))
    pairs = data_pairs(D, W, Scaling("ordinal"))
    cone, d = Cone(pairs, Scaling("ordinal")), rng.uniform(0, 1, 6)
    found = float(pairs.w @ (cone.project(d) - d) ** 2)
    least = np.inf
    for low, high in product(permutations(range(3)), permutations(range(3, 6))):
        ranks = np.empty(6)
        ranks[[*low, *high]] = np.arange(6)
        P = oracle(ranks, pairs.w, d, Scaling("ordinal"))
        least = min(least, float(pairs.w @ (P - d) ** 2))
    assert found == pytest.approx(least, rel=1e-9)


def test_pairs_without_a_value_lie_above_all_others_and_are_not_tied():
    rng = np.random.default_rng(1)
    D = np.round(rng.uniform(1, 4, (6, 6)))
    D[rng.random((6, 6)) < 0.3] = -4.0
    for ties in TIES:
        pairs = data_pairs(D, np.ones((6, 6)), Scaling("ordinal", ties))
        cone, d = Cone(pairs, Scaling("ordinal", ties)), rng.uniform(1, 2, len(pairs.at))
        far = pairs.unreachable
        P = cone.project(np.where(far, d + 10, d))
        np.testing.assert_allclose(P[far], d[far] + 10)  # far enough: they stay where they are
        P = cone.project(d)
        assert P[far].min() >= P[~far].max() - 1e-12
        if ties == "secondary":
            for value in np.unique(pairs.values[~far]):
                assert np.ptp(P[~far & (pairs.values == value)]) < 1e-12


@pytest.mark.parametrize("conditional", CONDITIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_stress_of_the_targets_and_lies_below_it_elsewhere(kind, conditional):
    cone, d = problem(2, kind=kind, conditional=conditional, weighted=conditional != "parts")
    size = cone.pairs.size
    found = targets(cone, d, size)
    assert found.loss == pytest.approx(
        float(found.weights @ (d - found.values) ** 2), rel=1e-9, abs=1e-9 * size
    )
    rng = np.random.default_rng(3)
    for step in (1e-3, 0.1, 1.0):
        other = np.abs(d + step * rng.normal(size=len(d)))
        bound = float(found.weights @ (other - found.values) ** 2)
        assert targets(cone, other, size).loss <= bound + 1e-9 * size


def test_disparities_have_the_size_of_the_data():
    cone, d = problem(4, kind="ordinal")
    found = targets(cone, d, cone.pairs.size)
    assert float(cone.pairs.w @ found.values**2) == pytest.approx(cone.pairs.size)


def test_stress1_is_kruskals_at_the_best_scale():
    rng = np.random.default_rng(0)
    d, dhat, w = rng.uniform(1, 2, (3, 20))
    best = min(
        np.sqrt(w @ (d - c * dhat) ** 2 / (w @ d**2)) for c in np.linspace(0.5, 2, 20001)
    )  # at the best scale of the disparities
    assert kruskal(d, dhat, w) == pytest.approx(best, rel=1e-6)
    assert kruskal(d, dhat, w) == pytest.approx(
        np.sqrt(1 - (w @ (d * dhat)) ** 2 / (w @ d**2 * (w @ dhat**2)))
    )
    assert kruskal(d, 3 * d) < 1e-15
    assert kruskal(np.zeros(3), np.zeros(3)) == 0


def test_splines_rise_and_reach_from_0_to_1():
    B = rising_splines(np.linspace(2, 5, 40), 3, 4)
    assert B.shape == (40, 8)
    assert (np.diff(B, axis=0) >= -1e-12).all()
    np.testing.assert_allclose(B[0], [1, *[0] * 7], atol=1e-12)
    np.testing.assert_allclose(B[-1], 1)
    assert rising_splines(np.full(3, 2.0), 2, 2).shape == (3, 1)


@pytest.mark.parametrize("ties", TIES)
def test_transformations_pass_through_the_disparities(ties):
    cone, d = problem(6, kind="ordinal", ties=ties, conditional="matrix")
    T = targets(cone, d, cone.pairs.size).values
    (function,) = transformations(cone, T)
    assert (np.diff(function.x) >= 0).all()
    assert (np.diff(function.y) >= -1e-12).all()
    for value in np.unique(cone.pairs.values):
        mine = cone.pairs.values == value
        np.testing.assert_allclose(function(value), T[mine].mean())
        if ties == "primary":
            np.testing.assert_allclose(np.sort(function.y[function.x == value]), np.sort(T[mine]))


def test_a_function_for_each_row():
    cone, d = problem(7, kind="interval", conditional="row", tied=False)
    T = targets(cone, d, cone.pairs.size).values
    functions = transformations(cone, T)
    assert len(functions) == 7
    for g, function in enumerate(functions):
        mine = cone.pairs.group == g
        np.testing.assert_allclose(function(cone.pairs.values[mine]), T[mine])


def test_new_values_are_interpolated_clamped_and_nan_stays():
    function = Transformation(np.array([1.0, 3.0]), np.array([0.5, 2.5]))
    np.testing.assert_array_equal(function([0, 2, 9, np.nan, np.inf]), [0.5, 1.5, 2.5, np.nan, np.inf])
