"""The best map by default: many starts of few points, the order on a line, and what the result says of it."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from finsler import Embedding, FinslerMDS, randers_distances
from finsler.data.matrix import Dissimilarities
from finsler.solvers import scouting
from finsler.solvers.scouting import n_descents, scout
from finsler.solvers.smacof import smacof

from helpers import random_problem, slow_gradient, slow_stress

KINDS = ["uniform", "symmetric", "asymmetric", "missing", "hinge"]


def solve(D, W, m, alpha, **options):
    return smacof(Dissimilarities(D, W), m, alpha, **options)


def least_of_many(D, W, m, alpha, starts):
    """Least stress of an optimizer of its own, from random starts."""
    omega = np.append(np.zeros(m - 1), alpha)
    rng, n = np.random.default_rng(0), len(D)

    def objective(z):
        X = z.reshape(n, m)
        return slow_stress(X, D, W, omega), slow_gradient(X, D, W, omega).ravel()

    return min(
        minimize(objective, rng.normal(size=n * m), jac=True, method="L-BFGS-B").fun for _ in range(starts)
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2])
def test_the_default_is_as_good_as_many_starts_of_another_optimizer(kind, m):
    for seed in range(2):
        _, D, W = random_problem(seed, n=7, m=m, kind=kind)
        found = solve(D, W, m, 0.2)
        assert found.stress <= 1.001 * least_of_many(D, W, m, 0.2, starts=12)
        assert found.n_starts > 1
        assert 1 <= found.n_same <= found.n_starts


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.3, "auto"])
def test_it_is_no_worse_than_a_single_start(kind, m, alpha):
    for seed in range(4):
        _, D, W = random_problem(seed, n=10, m=m, kind=kind)
        found = solve(D, W, m, alpha)
        assert found.stress <= 1.001 * solve(D, W, m, alpha, n_init=1).stress
        assert found.stress == pytest.approx(slow_stress(found.coordinates, D, W, found.drift), rel=1e-9)
        assert (np.diff(found.history) <= 0).all()
        assert found.n_iter == len(found.history) - 1 <= 500


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 3])
def test_a_fitted_drift_ends_no_higher_than_none(kind, m):
    for seed in range(6):
        _, D, W = random_problem(seed, n=12, m=m, kind=kind)
        assert solve(D, W, m, "auto").stress <= 1.0001 * solve(D, W, m, 0.0).stress


@pytest.mark.parametrize("kind", ["uniform", "asymmetric"])
@pytest.mark.parametrize("m", [1, 2])
@pytest.mark.parametrize("alpha", [0.3, "auto"])
def test_order_unit_weights_and_direction_do_not_matter(kind, m, alpha):
    _, D, W = random_problem(1, n=11, m=m, kind=kind)
    W = 1 - np.eye(11) if W is None else W
    order = np.random.default_rng(3).permutation(11)
    plain = solve(D, W, m, alpha, tol=1e-12, max_iter=3000)
    for other, weights, expected in (
        (D[np.ix_(order, order)], W[np.ix_(order, order)], plain.coordinates[order]),
        (1e-5 * D, W, 1e-5 * plain.coordinates),
        (D, 1e4 * W, plain.coordinates),
        (D.T, W.T, plain.coordinates * np.append(np.ones(m - 1), -1)),
    ):
        found = solve(other, weights, m, alpha, tol=1e-12, max_iter=3000).coordinates
        np.testing.assert_allclose(found, expected, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("m", [1, 2, 4])
def test_any_number_of_threads_gives_the_same_numbers_every_time(kind, m):
    _, D, W = random_problem(2, n=23, m=m, kind=kind)
    runs = [solve(D, W, m, "auto", n_jobs=jobs) for jobs in (1, 2, 5, 2)]
    for run in runs[1:]:
        np.testing.assert_array_equal(run.coordinates, runs[0].coordinates)
        assert (run.n_starts, run.n_same) == (runs[0].n_starts, runs[0].n_same)


def test_a_seed_decides_where_there_is_one():
    _, D, _ = random_problem(0, n=60, m=2)
    one, other = (solve(D, None, 2, 0.2, random_state=seed) for seed in (1, 2))
    assert one.stress != other.stress  # of 60 random points there are too many maps to find the same
    assert solve(D, None, 2, 0.2, random_state=1).stress == one.stress


def test_a_given_start_is_the_only_one():
    X, D, _ = random_problem(0, n=12, m=2)
    given, single = (solve(D, None, 2, 0.2, init=X, n_init=n) for n in ("auto", 1))
    np.testing.assert_array_equal(given.coordinates, single.coordinates)
    assert given.n_starts == given.n_same == 1


def test_exact_data_need_one_start():
    X = np.random.default_rng(0).normal(size=(20, 2))
    found = FinslerMDS(2, alpha=0.4).fit(randers_distances(X, drift=0.4))
    assert found.n_starts_ == found.n_same_ == 1


def test_the_budget_is_kept():
    for n in (3, 10, 30, 100, 200, 300):
        for weighted in (False, True):
            count = n_descents(n, 2, weighted)
            pairs = n * (n - 1) // 2
            assert (1 + weighted) * count * scouting.PASSES * pairs <= scouting.BUDGET
            assert count <= scouting.MOST
    assert n_descents(500, 2, False) == 0
    assert n_descents(2, 2, False) == 0


def test_time_runs_out_while_scouting():
    _, D, _ = random_problem(0, n=40, m=2)
    found = solve(D, None, 2, 0.2, time_limit=1e-6)
    assert found.status == "time_limit"
    assert found.n_starts == 1
    assert np.isfinite(found.stress)


def test_ctrl_c_while_a_start_is_made_keeps_the_map_before(monkeypatch):
    _, D, _ = random_problem(0, n=400, m=2)
    from finsler.solvers.backends.memory import MemoryBackend

    def interrupted(self, n_components):
        raise KeyboardInterrupt

    monkeypatch.setattr(MemoryBackend, "isomap", interrupted)
    found = solve(D, None, 2, 0.2)
    assert found.status == "interrupted"
    assert found.stress < solve(D, None, 2, 0.2, n_init=1, max_iter=1).stress


@pytest.mark.parametrize("bad", [0, -1, 1.5, "many", None])
def test_bad_numbers_of_starts(bad):
    with pytest.raises(ValueError, match="n_init"):
        solve(*random_problem(0)[1:], 2, 0.2, n_init=bad)


# --- what the result says -------------------------------------------------------------------------------------


def test_the_result_says_how_many_starts_it_took(tmp_path):
    _, D, _ = random_problem(4, n=9, m=2)
    mds = FinslerMDS(2, alpha=0.2).fit(D)
    map_ = mds.result_
    assert (map_.n_starts, map_.n_same) == (mds.n_starts_, mds.n_same_)
    assert f"Best of {map_.n_starts} starts; " in map_.summary()
    assert f"{map_.n_same} of them ended at this map" in map_.summary()
    again = Embedding.load(map_.save(tmp_path / "map.npz"))
    assert (again.n_starts, again.n_same) == (map_.n_starts, map_.n_same)
    assert "starts" not in FinslerMDS(2, alpha=0.2, n_init=1).fit(D).result_.summary()


# --- on a line ------------------------------------------------------------------------------------------------


def best_order(D, W, alpha):
    """Least stress on a line, by trying all orders: each is a least squares with signs known."""
    n = len(D)
    W = 1 - np.eye(n) if W is None else W
    D = np.where(W > 0, D, 0.0)
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j and W[i, j] > 0]
    target = np.array([np.sqrt(W[i, j]) * D[i, j] for i, j in pairs])
    best = np.inf
    for order in itertools.permutations(range(n)):
        place = np.argsort(order)
        A = np.zeros((len(pairs), n))
        for row, (i, j) in enumerate(pairs):
            factor = 1 + alpha if place[j] > place[i] else -(1 - alpha)
            A[row, j], A[row, i] = np.sqrt(W[i, j]) * factor, -np.sqrt(W[i, j]) * factor
        x = np.linalg.lstsq(A, target, rcond=None)[0]
        best = min(best, float(((A @ x - target) ** 2).sum()))
    return best


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "asymmetric", "missing"])
@pytest.mark.parametrize("every", [7, 0])
def test_on_a_line_the_best_order_is_found(kind, every, monkeypatch):
    monkeypatch.setattr(scouting, "EVERY_ORDER", every)
    for seed in range(3):
        _, D, W = random_problem(seed, n=6, m=1, kind=kind)
        found = solve(D, W, 1, 0.3)
        assert found.stress == pytest.approx(best_order(D, W, 0.3), rel=1e-6)


def test_a_line_of_many_points_is_put_in_order():
    rng = np.random.default_rng(0)
    x = rng.uniform(size=60)
    D = np.abs(x[:, None] - x[None]) * rng.uniform(0.9, 1.1, (60, 60))
    np.fill_diagonal(D, 0)
    found = solve(D, None, 1, "auto").coordinates[:, 0]
    assert abs(np.corrcoef(found, x)[0, 1]) > 0.999


def test_rounding_at_the_end_of_a_descent_is_no_iteration(monkeypatch):
    """Where the quick descents end, their own sum of the stress may differ from the solver's by a bit."""
    D = random_problem(3, n=7, m=3)[1]
    runs = []
    for bit in (0.0, 1e-15, -1e-15):

        def scouted(*given, bit=bit, **more):
            found, n_passes = scout(*given, **more)
            return [
                replace(one, history=(*one.history[:-1], one.history[-1] * (1 + bit))) for one in found
            ], n_passes

        monkeypatch.setattr("finsler.solvers.search.scout", scouted)
        runs.append(solve(D, None, 3, 0.3, max_iter=4))
    assert len({run.n_iter for run in runs}) == 1
    assert len({run.coordinates.tobytes() for run in runs}) == 1
