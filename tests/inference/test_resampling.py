"""Bootstrap of replicates and counts, jackknife."""

import json
import sys
from dataclasses import replace

import numpy as np
import pytest

from finsler import embed_graph, embed_matrix, randers_distances
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.inference import asymmetry_test, bootstrap, bootstrap_counts, confidence, jackknife, resampling
from finsler.inference.alignment import best_motion
from finsler.solvers.smacof import refitted

from helpers import spiral


def replicates(k, seed=0, noise=0.2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2))
    d = randers_distances(X, drift=0.3)
    return X, [d * (1 + noise * rng.uniform(-1, 1, size=d.shape)) for _ in range(k)]


def test_replicates():
    _, tables = replicates(8)
    found = bootstrap(tables, n_draws=60, labels=list("abcdefgh"))
    assert found.method == "replicates"
    assert found.embedding.labels == list("abcdefgh")
    assert 0 < found.alpha_se < 0.1
    assert 0 < found.tilt_se < 20
    again = bootstrap(tables, n_draws=60)
    np.testing.assert_array_equal(again.covariance, found.covariance)
    more = bootstrap([t for t in tables for _ in range(4)], n_draws=60)
    assert np.median(more.half_axes) < np.median(found.half_axes)
    assert bootstrap(tables, n_draws=5, alpha=0.3).alpha_se is None


@pytest.mark.filterwarnings("ignore:.*hardly determine alpha")
def test_coverage_of_replicates():
    held = 0
    for seed in range(8):
        X, tables = replicates(6, seed, 0.3)
        found = bootstrap(tables, n_draws=40)
        held += found.covers(best_motion(found.embedding.coordinates, X, free=True)(X)).sum()
    assert 0.88 <= held / 64 <= 1.0


def test_counts():
    rng = np.random.default_rng(0)
    shares = np.exp(-randers_distances(rng.normal(size=(7, 2)), drift=0.2))
    few, many = (bootstrap_counts(np.round(size * shares), n_draws=30) for size in (30, 3000))
    ratio = np.median(few.half_axes) / np.median(many.half_axes)
    assert 5 < ratio < 20  # the root of 100, as far as 30 draws tell
    table = bootstrap_counts(np.round(300 * shares), by="table", similarity="gravity", n_draws=10)
    assert table.method == "counts"
    assert table.covariance.shape == (7, 2, 2)


def test_refits_of_counts_search_for_the_best_map_and_their_mean_move_counts(monkeypatch):
    counts = np.random.default_rng(0).poisson(50, size=(6, 6))
    monkeypatch.setattr(resampling, "refitted", lambda data, X, omega, **_: (X, omega, np.inf))
    assert bootstrap_counts(counts, n_draws=4).half_axes.min() > 1e-3  # not the map that all draws start from
    move = np.random.default_rng(1).normal(scale=1e-4, size=(6, 2))
    monkeypatch.setattr(resampling, "refitted", lambda data, X, omega, **_: (X + move, omega, -np.inf))
    found = bootstrap_counts(counts, n_draws=4)
    X = found.embedding.coordinates
    apart = np.linalg.norm(best_motion(X, X + move, free=True)(X + move) - X, axis=1)
    assert found.half_axes[:, 0] == pytest.approx(np.sqrt(5.991465) * apart, rel=1e-6)


def test_ctrl_c_ends_all_refits(monkeypatch):
    module = sys.modules[refitted.__module__]
    real = module._minimize
    monkeypatch.setattr(module, "_minimize", lambda *a, **k: replace(real(*a, **k), status="interrupted"))
    with pytest.raises(KeyboardInterrupt):
        bootstrap_counts(np.random.default_rng(0).poisson(50, size=(6, 6)), n_draws=3)


def test_replicates_are_complete_tables_of_the_same_points():
    pandas = pytest.importorskip("pandas")
    D = spiral(6)
    gap = D.copy()
    gap[0, 1] = np.nan
    names = list("abcdef")
    frame = pandas.DataFrame(D, names, names)
    for function in (bootstrap, lambda tables: asymmetry_test(replicates=tables)):
        with pytest.raises(InputError, match="complete tables: number 2 of them"):
            function([D, D, gap, D, D, D])
        with pytest.raises(InputError, match="the same points, in the same order"):
            function([frame] * 5 + [frame.loc[names[::-1], names[::-1]]])
        with pytest.raises(InputError, match="the same points"):
            function([D] * 5 + [spiral(5)])
        assert function([frame] * 6) is not None


def test_a_direction_that_is_not_determined_is_said_so():
    D = spiral(8) * np.random.default_rng(0).lognormal(sigma=0.05, size=(8, 8))
    found = confidence(embed_matrix(D))
    assert "direction of the drift: ±" in str(found)
    assert "direction of the drift: not determined" in str(replace(found, tilt_se=125.0))
    assert str(found).endswith("all this holds if the errors of different pairs are independent")


@pytest.mark.filterwarnings("ignore:.*hardly determine alpha")
def test_jackknife():
    found = jackknife(embed_matrix(spiral() ** 2, alpha="auto"))
    assert found.stability == pytest.approx(0.99815, abs=2e-5)  # a published value
    assert found.influence.shape == found.alphas.shape == (20,)
    assert "Stability" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["stability"] == found.stability
    assert jackknife(embed_matrix(spiral() ** 2, scaling="ordinal")).stability == pytest.approx(
        0.99968, abs=2e-4
    )
    exact = jackknife(embed_matrix(randers_distances(spiral(points=True), drift=0.3), labels=range(20)))
    assert exact.stability == pytest.approx(1, abs=1e-6)
    assert jackknife(embed_graph(make_city(20).graph, alpha=0.2)).alphas == pytest.approx(0.2)


def test_what_is_refused():
    with pytest.raises(InputError, match="between different points"):
        bootstrap_counts(7 * np.eye(5))
    _, tables = replicates(5)
    with pytest.raises(InputError, match="replicates"):
        bootstrap(tables[:4])
    with pytest.raises(InputError, match="same points"):
        bootstrap([*tables, tables[0][:5, :5]])
    with pytest.raises(InputError, match="counts"):
        bootstrap_counts(tables[0])
    with pytest.raises(InputError, match="by must"):
        bootstrap_counts(np.ones((4, 4)), by="cell")
    with pytest.raises(InputError, match="too few"):
        jackknife(embed_matrix(spiral(4)))
    with pytest.raises(InputError, match="data"):
        jackknife(replace(embed_matrix(spiral(6)), data=None))
