"""Maps whose drift turns: exact data come back, the canonical map is never beaten by itself, and "auto" chooses well."""

import numpy as np
import pytest

from finsler import FinslerIsomap, FinslerMDS, embed_matrix
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.memmap import as_memmap_dissimilarities
from finsler.data.tables import read_table
from finsler.datasets import load_flight_hours, make_gyre, make_ring_road
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import normalized_stress
from finsler.geometry.swirl import canonical_form, largest_drift
from finsler.solvers.backends.memmap import BESIDE, memmap_backend
from finsler.solvers.classical import classical
from finsler.solvers.smacof import smacof
from finsler.solvers.swirl.field import field_of

from helpers import real_file


def exact(m, along, n=100, seed=0):
    """Points, drift, swirl and distances; ``along``: with a drift along the axis (in the plane: at all)."""
    rng = np.random.default_rng([m, seed])
    X = rng.normal(size=(n, m))
    K = field_of(np.append(np.zeros(m), rng.normal(size=m * (m - 1) // 2) * 0.07), m)[1:]
    w = rng.normal(size=m) * 0.1
    if not along:
        w = w - canonical_form(w, K).beta if m == 3 else np.zeros(m)
    return X, w, K, randers_distances(X, drift=w, swirl=K)


@pytest.mark.parametrize("init", ["classical", "random"])
@pytest.mark.parametrize("along", [False, True])
@pytest.mark.parametrize("m", [2, 3])
def test_exact_data_are_recovered(m, along, init):
    X, w, K, D = exact(m, along)
    found = smacof(
        as_dissimilarities(D),
        m,
        swirl=True,
        init=init,
        random_state=0,
        tol=1e-12,
        max_iter=2000,
        verbose=False,
    )
    assert found.stress <= 1e-10 * found.total
    np.testing.assert_allclose(
        randers_distances(found.coordinates, drift=found.drift, swirl=found.swirl), D, atol=1e-4
    )
    true, fitted = canonical_form(w, K), canonical_form(found.drift, found.swirl)
    assert fitted.kappas[0] == pytest.approx(true.kappas[0], rel=1e-4)
    assert np.linalg.norm(fitted.beta) == pytest.approx(np.linalg.norm(true.beta), abs=1e-4)
    np.testing.assert_allclose(fitted.radii(found.coordinates), true.radii(X), atol=1e-3)
    assert (np.diff(found.history) <= 1e-12 * found.total).all()
    assert found.swirl_choice.reason == "given"
    assert found.swirl_choice.stress_without > 0.01


def test_exact_arcs_are_recovered():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(60, 2))
    D = randers_distances(X, drift=[0.02, 0.05], swirl=0.3, geodesic=True)
    found = smacof(as_dissimilarities(D), 2, swirl="geodesic", tol=1e-13, max_iter=5000, verbose=False)
    assert found.geodesic
    assert found.stress <= 1e-9 * found.total
    assert found.swirl[1, 0] == pytest.approx(0.3, abs=1e-3)
    straight = smacof(as_dissimilarities(D), 2, swirl=True, verbose=False)
    assert straight.stress > 100 * found.stress


@pytest.mark.parametrize("m", [2, 3])
def test_the_closed_form_is_exact(m):
    D = exact(m, True)[3]
    found = classical(as_dissimilarities(D), m, swirl=True)
    assert found.stress <= 1e-20 * found.total
    assert found.status == "closed_form"
    plain = classical(as_dissimilarities(D), m)
    assert classical(as_dissimilarities(D), m, swirl="auto").swirl is not None
    assert plain.swirl is None
    assert plain.stress > 1e-4 * plain.total


NAMED = {
    "gyre": lambda: make_gyre(60, random_state=1).times,
    "ring": lambda: make_ring_road(24, n_spokes=6).costs,
    "flights": lambda: load_flight_hours().hours,
    "noise": lambda: np.random.default_rng(0).uniform(1, 2, (20, 20)) * (1 - np.eye(20)),
}


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("name", NAMED)
def test_with_a_swirl_the_stress_is_at_most_the_canonical_one(name, m):
    data = as_dissimilarities(NAMED[name]())
    canonical = smacof(data, m, verbose=False)
    for swirl in (True, "geodesic") if m == 2 else (True,):
        found = smacof(data, m, swirl=swirl, verbose=False)
        assert found.stress <= canonical.stress * (1 + 1e-9)
        assert largest_drift(found.coordinates, found.drift, found.swirl) < 1
        assert found.swirl_choice.stress_with == pytest.approx(found.normalized_stress, rel=1e-6)
        assert found.normalized_stress == pytest.approx(
            normalized_stress(
                found.coordinates, data.matrix, drift=found.drift, swirl=found.swirl, geodesic=found.geodesic
            )
        )
        assert (np.diff(found.history) <= 1e-12 * found.history[0]).all()


# Tables of which the first number is the normalized stress in the plane, the second that in space, with a swirl at most.
REAL = {
    "english_towns": (0.0184, 0.0131),
    "morse": (0.3045, 0.2112),
    "atsp_ftv170": (0.1623, 0.1183),
    "road_friedrichshain": (0.1522, 0.1188),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", REAL)
def test_real_tables(name):
    table = read_table(real_file(f"proximities/{name}.csv"), kind="matrix")
    data = as_dissimilarities(table.values, missing="mask", diagonal="ignore")
    for m, limit in zip((2, 3), REAL[name], strict=True):
        canonical, found = (smacof(data, m, swirl=swirl, verbose=False) for swirl in (False, True))
        assert found.normalized_stress <= min(limit, canonical.normalized_stress * (1 + 1e-9))


def test_numbers_of_the_gyre_and_the_ring_road():
    gyre, ring = as_dissimilarities(make_gyre().times), as_dissimilarities(make_ring_road().costs)
    for data, limits in ((gyre, (0.0562, 0.0351)), (ring, (0.1529, 0.1338))):
        for swirl, limit in zip((True, "geodesic"), limits, strict=True):
            assert smacof(data, 2, swirl=swirl, verbose=False).normalized_stress <= limit
    assert (
        smacof(as_dissimilarities(load_flight_hours().hours), 3, swirl=True, verbose=False).normalized_stress
        <= 0.0119
    )


@pytest.mark.parametrize("alpha", [0.0, 0.3])
def test_a_given_alpha_is_kept(alpha):
    data = as_dissimilarities(make_gyre(40).times)
    found = smacof(data, 2, alpha, swirl=True, verbose=False)
    assert found.alpha == pytest.approx(alpha)
    assert found.stress <= smacof(data, 2, alpha, verbose=False).stress


def test_auto_finds_a_gyre_and_leaves_noise_alone():
    found = smacof(as_dissimilarities(make_gyre(40).times), 2, swirl="auto", verbose=False)
    assert found.swirl is not None
    assert found.swirl_choice.reason == "better"
    assert found.swirl_choice.bic_gain > 0
    assert found.swirl_choice.share > 0.8
    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(40, 2)), drift=0.2) * rng.normal(1, 0.05, (40, 40))
    np.fill_diagonal(D, 0)
    plain, auto = (smacof(as_dissimilarities(D), 2, swirl=s, verbose=False) for s in (False, "auto"))
    assert auto.swirl is None
    assert auto.swirl_choice.reason == "not_better"
    np.testing.assert_array_equal(auto.coordinates, plain.coordinates)
    assert auto.stress == plain.stress
    line = smacof(as_dissimilarities(D), 1, swirl="auto", verbose=False)
    assert line.swirl_choice.reason == "one_dimension"


def test_the_error_of_kappa():
    """As told: s / sqrt(det G) in the plane, and about what fits to fresh noise scatter by."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    clean = randers_distances(X, drift=0.05, swirl=0.05)
    kappas, errors = [], []
    for _ in range(20):
        D = clean * rng.normal(1, 0.05, clean.shape)
        found = smacof(as_dissimilarities(D), 2, swirl=True, verbose=False)
        kappas.append(found.swirl[1, 0])
        errors.append(found.swirl_choice.kappa_error)
    assert np.mean(kappas) == pytest.approx(0.05, abs=0.005)
    assert 0.5 < np.std(kappas) / np.mean(errors) < 2


def test_weights_missing_pairs_and_bounds():
    _X, _w, K, D = exact(2, True, n=40)
    rng = np.random.default_rng(0)
    W = rng.uniform(0.5, 2, D.shape)
    W[rng.uniform(size=D.shape) < 0.3] = 0
    np.fill_diagonal(W, 0)
    found = smacof(Dissimilarities(D, W), 2, swirl=True, tol=1e-13, max_iter=5000, verbose=False)
    assert found.stress <= 1e-8 * found.total
    assert abs(found.swirl[1, 0]) == pytest.approx(abs(K[1, 0]), rel=1e-3)
    holes = np.where(rng.uniform(size=D.shape) < 0.1, np.inf, D)
    np.fill_diagonal(holes, 0)
    hinge = as_dissimilarities(holes, missing="hinge")
    plain, turned = (smacof(hinge, 2, swirl=s, verbose=False) for s in (False, True))
    assert turned.stress < plain.stress


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("swirl", [True, "geodesic"])
def test_out_of_core_gives_the_same_map(swirl, weighted):
    D = make_gyre(80).times
    n = len(D)
    W = np.random.default_rng(0).uniform(0.5, 1.5, D.shape) if weighted else None
    budget = 8.0 * BESIDE * n + 8.0 * 2 * n * (20 if weighted else 10)
    backend = memmap_backend(as_memmap_dissimilarities(D, W), budget, 1)
    assert len(backend.panels.edges) > 3
    inside = smacof(
        as_dissimilarities(D, W), 2, swirl=swirl, init="random", random_state=0, tol=1e-9, verbose=False
    )
    outside = smacof(backend, 2, swirl=swirl, init="random", random_state=0, tol=1e-9, verbose=False)
    assert outside.normalized_stress == pytest.approx(inside.normalized_stress, rel=1e-4)
    assert outside.swirl[1, 0] == pytest.approx(inside.swirl[1, 0], rel=1e-3)


def test_float32_data():
    D = make_gyre(60).times
    double, single = (
        smacof(as_dissimilarities(D.astype(t)), 2, swirl=True, verbose=False) for t in ("f8", "f4")
    )
    assert single.normalized_stress == pytest.approx(double.normalized_stress, rel=1e-4)


def test_callbacks_and_limits_reach_the_swirl():
    data, seen = as_dissimilarities(make_gyre(40).times), []
    smacof(data, 2, swirl=True, callback=lambda it: seen.append(it.swirl) or False, verbose=False)
    assert seen[0] is None  # first the canonical map
    assert seen[-1].shape == (2, 2)
    stopped = smacof(data, 2, swirl=True, callback=lambda it: it.swirl is not None, verbose=False)
    assert stopped.status == "stopped"
    early = smacof(data, 2, swirl=True, callback=lambda it: True, verbose=False)
    assert early.swirl is None
    assert early.swirl_choice.reason == "ended"
    plain = smacof(data, 2, swirl=True, accelerate=False, max_iter=3000, verbose=False)
    assert plain.normalized_stress == pytest.approx(
        smacof(data, 2, swirl=True, verbose=False).normalized_stress, rel=1e-3
    )


def test_scale_and_order_of_the_data_do_not_matter():
    D = make_gyre(40).times
    once, large = (smacof(as_dissimilarities(D * c), 2, swirl=True, verbose=False) for c in (1, 1e6))
    np.testing.assert_allclose(large.coordinates, 1e6 * once.coordinates, rtol=1e-5, atol=1e2)
    np.testing.assert_allclose(large.swirl, once.swirl / 1e6, rtol=1e-5)
    order = np.random.default_rng(0).permutation(40)
    other = smacof(as_dissimilarities(D[np.ix_(order, order)]), 2, swirl=True, verbose=False)
    np.testing.assert_allclose(other.coordinates, once.coordinates[order], atol=1e-3)


def test_what_has_no_meaning_is_refused():
    D = make_gyre(10).times
    for bad in ("yes", 1, None, 0.5):
        with pytest.raises(InputError, match="swirl"):
            embed_matrix(D, swirl=bad)
    with pytest.raises(InputError, match="swirl"):
        embed_matrix(D, n_components=1, swirl=True)
    with pytest.raises(InputError, match="swirl"):
        embed_matrix(D, n_components=3, swirl="geodesic")


def test_estimators():
    sea = make_gyre(60)
    mds = FinslerMDS(swirl="geodesic").fit(sea.times)
    assert mds.swirl_ is mds.result_.swirl
    assert mds.result_.geodesic
    placed = mds.transform(sea.times[:5], from_fitted=sea.times[:, :5].T)
    np.testing.assert_allclose(placed, mds.embedding_[:5], atol=0.2)
    isomap = FinslerIsomap(2, alpha="auto", swirl=True, n_neighbors=8).fit(sea.points, current=sea.current)
    assert isomap.result_.kappa > 0.2
    assert isomap.transform(sea.points[:3]).shape == (3, 2)
