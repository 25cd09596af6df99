"""The dense solver and the shortest paths on Dask, most of it on two worker processes."""

import os
import signal
import sys

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, random_array

from finsler import FinslerMDS, randers_distances
from finsler.graphs import dask_shortest_paths, paths
from finsler.solvers.backends import panels as panels_module
from finsler.solvers.backends.dask import dask_backend

from helpers import random_problem

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")
distributed_dask = pytest.importorskip("distributed")

KINDS = ["uniform", "symmetric", "asymmetric", "missing", "hinge"]


def noisy_problem(kind, n=130, m=3, drift=0.4, seed=0):
    """Data that a map fits up to noise, with weights of a kind; for "hinge" some are inf."""
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, m)), drift=drift) * rng.uniform(0.9, 1.1, size=(n, n))
    if kind == "hinge":
        D[rng.random((n, n)) < 0.1] = np.inf
        W = None
    else:
        _, shape, W = random_problem(seed, n=n, kind=kind)
        D = np.where(np.isfinite(shape), D, np.nan)
    np.fill_diagonal(D, 0)
    return D, W


@pytest.fixture(scope="module")
def client():
    with (
        distributed_dask.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        distributed_dask.Client(cluster) as client,
    ):
        yield client


def policy(kind):
    return {"missing": "mask", "hinge": "hinge"}.get(kind, "raise")


@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_give_the_map_of_the_in_memory_solver(client, kind):
    D, W = noisy_problem(kind)
    mds = FinslerMDS(3, alpha="auto" if kind in ("uniform", "missing") else 0.3, missing=policy(kind))
    here = mds.fit(D, weights=W)
    there = FinslerMDS(**mds.get_params()).fit(
        da.from_array(D, chunks=(40, 70)), weights=None if W is None else da.from_array(W, chunks=50)
    )
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-6)
    assert there.alpha_ == pytest.approx(here.alpha_, abs=1e-8)
    assert there.stress_ == pytest.approx(here.stress_, rel=1e-9)
    assert there.stress_per_point_ == pytest.approx(here.stress_per_point_, abs=1e-9)
    assert there.n_features_in_ == len(D)
    assert there.result_.data is None
    assert (there.result_.provenance.backend, there.result_.provenance.n_panels) == ("dask", 4)


@pytest.mark.parametrize("kind", ["symmetric", "asymmetric"])
def test_weights_too_many_to_gather_are_solved_for_on_the_workers(monkeypatch, kind):
    monkeypatch.setattr("finsler.solvers.problem.FACTORIZE", 10)
    D, W = noisy_problem(kind, n=90)
    here = FinslerMDS(2, alpha=0.3).fit(D, weights=W)
    with dask.config.set(scheduler="synchronous"):
        there = FinslerMDS(2, alpha=0.3).fit(da.from_array(D, chunks=30), weights=W)
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-6)


def test_starts_run_in_parallel_and_give_what_they_give_in_turn(client):
    D, _ = noisy_problem("uniform", n=80)
    mds = FinslerMDS(2, alpha=0.3, n_init=3, init="random", random_state=5, tol=1e-4)
    seen = set()

    def callback(iteration):
        import threading

        seen.add(threading.current_thread().name)

    here = mds.fit(D)
    there = FinslerMDS(**{**mds.get_params(), "callback": callback}).fit(da.from_array(D, chunks=40))
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-6)
    assert there.n_iter_ == here.n_iter_
    assert len(seen) == 3


def test_a_callback_stops_all_parallel_starts(client):
    D, _ = noisy_problem("uniform", n=80)
    mds = FinslerMDS(
        2, alpha=0.3, n_init=2, init="random", random_state=5, callback=lambda it: it.n_iter >= 2
    )
    assert mds.fit(da.from_array(D, chunks=80)).status_ == "stopped"
    assert mds.n_iter_ <= 3


def test_only_coordinates_and_forces_travel_between_passes(client):
    n, m, rounds = 640, 3, 5
    D, _ = noisy_problem("uniform", n=n, m=m)
    backend = dask_backend(da.from_array(D, chunks=(80, n)))
    problem = backend.problem(np.array([0.0, 0.0, 0.3]))
    X = backend.random(m, np.random.RandomState(0))
    problem.evaluate(X, np.zeros(m))

    def received(dask_worker):
        return sum(entry["total"] for entry in dask_worker.transfer_incoming_log)

    def total():
        return sum(client.run(received).values())

    before = total()
    for _ in range(rounds):
        problem.evaluate(X, np.zeros(m))
    per_pass = (total() - before) / rounds
    panels = len(backend.panels.firsts)
    assert panels == 8
    # Coordinates to the other worker, and the results of all panels in case none is added up where it was made.
    assert per_pass <= 1.2 * 8 * n * (m + panels * (m + 1))
    assert 4 * per_pass < D.nbytes
    prefixes = client.run_on_scheduler(lambda dask_scheduler: list(dask_scheduler.task_prefixes))
    assert {"finsler-uniform-pass", "finsler-coordinates", "finsler-add-up", "finsler-panel"} <= set(prefixes)


def test_shortest_paths_stay_on_the_workers_and_can_be_mapped(client):
    rng = np.random.default_rng(3)
    n = 150
    arcs = random_array((n, n), density=0.05, rng=rng, format="csr")
    arcs = csr_array(arcs + coo_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n))))
    expected = paths.shortest_paths(arcs)
    D = dask_shortest_paths(arcs, chunks=40).persist()
    assert D.chunks == ((40, 40, 40, 30), (n,))
    assert np.array_equal(D.compute(), expected)
    holders = {worker for found in client.who_has(D).values() for worker in found}
    assert len(holders) == 2
    mds = FinslerMDS(2, alpha=0.2, tol=1e-3)
    here = mds.fit_transform(expected)
    assert mds.fit_transform(D) == pytest.approx(here, abs=1e-6)


def test_a_worker_that_dies_costs_time_not_the_result(client):
    n = 200
    D, W = noisy_problem("asymmetric", n=n)
    victim = next(iter(client.run(os.getpid).values()))
    alive = os.getpid()
    killed = []

    def kill_once(iteration):
        assert victim != alive
        if iteration.n_iter == 3 and not killed:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    here = FinslerMDS(3, alpha=0.3).fit(D, weights=W)
    mds = FinslerMDS(3, alpha=0.3, callback=kill_once)
    there = mds.fit(da.from_array(D, chunks=50), weights=da.from_array(W, chunks=50))
    assert killed
    assert here.n_iter_ > 4
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-6)
    assert there.n_iter_ == here.n_iter_


@pytest.fixture
def no_client():
    with dask.config.set(scheduler="synchronous"):
        yield


def test_works_without_a_client(no_client):
    D, _ = noisy_problem("uniform", n=100)
    here = FinslerMDS(2).fit(D.astype(np.float32))
    there = FinslerMDS(2).fit(da.from_array(D.astype(np.float32), chunks=50))
    assert there.embedding_ == pytest.approx(here.embedding_, abs=1e-5)
    assert not dask_backend(da.from_array(D, chunks=50)).runs_in_parallel


def test_many_points_with_gaps_start_from_landmarks(no_client, monkeypatch):
    monkeypatch.setattr("finsler.solvers.backends.dask.GATHERED", 50)
    monkeypatch.setattr(panels_module, "LANDMARKS", 40)
    D, _ = noisy_problem("hinge", n=150)
    D[~np.isfinite(D)] = np.nan
    blocks = da.from_array(D, chunks=60)
    X = dask_backend(blocks, missing="mask").classical(3, 0.4)
    start = FinslerMDS(3, alpha=0.4, missing="mask", init=X, max_iter=500).fit(D)
    assert start.history_[0] < 4 * start.stress_  # the noise alone leaves most of that
    for init in ("classical", "isomap"):
        fitted = FinslerMDS(3, missing="mask", init=init).fit(blocks)
        assert fitted.stress_ == pytest.approx(start.stress_, rel=1e-2)
        assert fitted.alpha_ == pytest.approx(0.4, abs=0.02)


def test_pivots_both_ways(no_client):
    arcs = random_array((60, 60), density=0.1, rng=np.random.default_rng(0), format="csr")
    from_pivots, to_pivots = (
        dask_shortest_paths(arcs, [5, 50, 7], chunks=2, reverse=reverse) for reverse in (False, True)
    )
    everything = paths.shortest_paths(arcs)
    assert np.array_equal(from_pivots.compute(), everything[[5, 50, 7]])
    assert np.allclose(to_pivots.compute(), everything[:, [5, 50, 7]].T)
    assert dask_shortest_paths(arcs, []).compute().shape == (0, 60)


def test_weights_may_be_lists(no_client):
    D, _ = noisy_problem("uniform", n=30)
    weights = 1 + np.arange(900).reshape(30, 30) % 7
    lists, arrays = (
        FinslerMDS(alpha=0.2).fit(da.from_array(D, chunks=15), weights=w) for w in (weights.tolist(), weights)
    )
    np.testing.assert_array_equal(lists.embedding_, arrays.embedding_)


def test_bad_input_is_refused_where_the_user_sees_it(no_client):
    D, _ = noisy_problem("uniform", n=40)
    bad = D.copy()
    bad[37, 4] = -1.0
    with pytest.raises(ValueError, match="from 37 to 4 it is -1"):
        FinslerMDS().fit(da.from_array(bad, chunks=20))
    bad[37, 4] = np.nan
    with pytest.raises(ValueError, match=r"from 37 to 4 it is nan.*missing='mask'"):
        FinslerMDS().fit(da.from_array(bad, chunks=20))
    with pytest.raises(ValueError, match="diagonal of X must be zero: from 0 to itself it is 1"):
        FinslerMDS().fit(da.from_array(D + np.eye(40), chunks=20))
    with pytest.raises(ValueError, match=r"square matrix .* got shape \(40, 20\)"):
        FinslerMDS().fit(da.from_array(D[:, :20], chunks=20))
    with pytest.raises(TypeError, match="must hold numbers"):
        FinslerMDS().fit(da.from_array(D.astype(complex), chunks=20))
    with pytest.raises(ValueError, match="weights must have the shape of D"):
        FinslerMDS().fit(da.from_array(D, chunks=20), weights=np.ones((4, 4)))
    with pytest.raises(ValueError, match="non-negative; from 1 to 2 it is -3"):
        FinslerMDS().fit(da.from_array(D, chunks=20), weights=_with(np.ones((40, 40)), (1, 2), -3))
    with pytest.raises(TypeError, match="weights are a Dask array and X is not"):
        FinslerMDS().fit(D, weights=da.ones((40, 40)))
    with pytest.raises(ValueError, match="missing must be"):
        FinslerMDS(missing="no").fit(da.from_array(D, chunks=20))
    apart = np.ones((40, 40))
    apart[:10, 10:] = apart[10:, :10] = 0
    with pytest.raises(ValueError, match="2 unconnected groups"):
        FinslerMDS().fit(da.from_array(D, chunks=20), weights=apart)
    with pytest.raises(ValueError, match=r"sources must be in 0\.\.39"):
        dask_shortest_paths(csr_array(D), [3, 40])
    with pytest.raises(ValueError, match="chunks must be at least 1"):
        dask_shortest_paths(csr_array(D), chunks=0)


def _with(array, place, value):
    array[place] = value
    return array


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    with pytest.raises(ImportError, match=r"pip install 'finsler\[distributed\]'"):
        dask_shortest_paths(csr_array((3, 3)))


@pytest.mark.parametrize("swirl", [True, "geodesic"])
@pytest.mark.parametrize("kind", ["uniform", "asymmetric"])
def test_maps_whose_drift_turns(kind, swirl):
    rng = np.random.default_rng(0)
    D, W = randers_distances(rng.normal(size=(60, 2)), drift=0.1, swirl=0.1), None
    D = D * rng.uniform(0.95, 1.05, size=D.shape)
    np.fill_diagonal(D, 0)
    if kind != "uniform":
        W = rng.uniform(0.5, 1.5, D.shape)
    here = FinslerMDS(swirl=swirl).fit(D, weights=W)
    blocks = [None if values is None else da.from_array(values, chunks=(20, 60)) for values in (D, W)]
    there = FinslerMDS(swirl=swirl).fit(blocks[0], weights=blocks[1])
    assert there.normalized_stress_ == pytest.approx(here.normalized_stress_, rel=1e-4)
    np.testing.assert_allclose(there.swirl_, here.swirl_, atol=1e-3)
    assert there.result_.asymmetry_shown().share == pytest.approx(
        here.result_.asymmetry_shown().share, abs=0.2
    )
