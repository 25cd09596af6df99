import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.spatial import KDTree

from finsler import embed_graph
from finsler.datasets import make_binary_tree, make_city, make_exact_randers
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import normalized_stress, raw_stress
from finsler.graphs.digraph import Digraph, as_digraph, largest_component
from finsler.graphs.distances import graph_distances
from finsler.graphs.pivots import pivot_distances, relayed_pairs
from finsler.graphs.readers import read_graph
from finsler.solvers.smacof import smacof
from finsler.solvers.sparse.problem import ArcPairs, PairStream, SparseProblem, StreamedProblem
from finsler.solvers.sparse.solver import sparse_smacof
from finsler.solvers.sparse.start import _completed, paths_either_way

from helpers import real_file, slow_distance


def map_graph(graph, n_components=2, alpha="auto", **options):
    return embed_graph(graph, n_components=n_components, alpha=alpha, method="sparse", **options)


def city(n=400, **options):
    return as_digraph(make_city(n, **options).graph)


def one_way_graph(seed=0, n=40):
    """A digraph in one piece in which many pairs have a path one way only."""
    rng = np.random.default_rng(seed)
    tree = [(int(rng.integers(k)), k) for k in range(1, n)]
    more = [tuple(map(int, rng.choice(n, 2, replace=False))) for _ in range(12)]
    return as_digraph(sorted({*tree, *more}))


def slow_sparse_stress(problem, X, omega):
    """The same sum, pair by pair."""
    data, power = problem.data, problem.power
    total = 0.0

    def term(d, D, w, soft=None):
        if data.far <= D:
            if problem.bound == 0:
                return 0.0
            weight = w / (problem.bound**2 + (soft or 0.0)) ** (power / 2) if power else w
            return weight * min(0.0, d - problem.bound) ** 2
        if power and D == 0:
            return 0.0
        return (w / (D * D + (soft or 0.0)) ** (power / 2) if power else w) * (d - D) ** 2

    for p, node in enumerate(data.pivots):
        for i in range(data.n_nodes):
            times = 1.0
            if not problem.hold:
                hits = np.flatnonzero(data.pivots == i)
                times += float(problem.times[hits[0]]) if len(hits) else 0.0
            there = slow_distance(X[i], X[node], omega)
            back = slow_distance(X[node], X[i], omega)
            soft = float(problem.soft[p])
            total += times * term(there, float(data.out_of[i, p]), float(problem.ahead[p]), soft)
            total += times * term(back, float(data.into[i, p]), float(problem.behind[p]), soft)
    if problem.arcs is not None:
        indptr, indices, lengths = problem.arcs.leaving
        for i in range(data.n_nodes):
            for a in range(indptr[i], indptr[i + 1]):
                w = problem.arc_weight / float(lengths[a]) ** power
                total += w * (slow_distance(X[i], X[indices[a]], omega) - lengths[a]) ** 2
    if problem.relayed is not None:
        for i, row in enumerate(problem.relayed.partner):
            for k, j in enumerate(row):
                D = float(problem.relayed.there[i, k])
                if j != i and (D > 0 or (D == 0 and not power)):
                    w = problem.partner_weight / D**power
                    total += w * (slow_distance(X[i], X[j], omega) - D) ** 2
    return total


CASES = [
    {"power": 0},
    {"power": 1},
    {"power": 2},
    {"power": 0, "bound": 9.0},
    {"power": 2, "bound": 9.0},
    {"power": 0, "relayed": True},
    {"power": 2, "relayed": True},
    {"power": 0, "hold": True},
]


def problem_of(case, graph, alpha=0.4, m=3, fine=True):
    data = pivot_distances(graph, 6)
    options = dict(case)
    if options.pop("relayed", False):
        options["relayed"] = relayed_pairs(data, 3, np.random.RandomState(1))
    omega = np.zeros(m)
    omega[-1] = alpha
    problem = SparseProblem(data, ArcPairs.of(graph, True), among=3.0, fine=fine, **options)
    return problem, np.random.default_rng(0).normal(size=(graph.n_nodes, m)) * 3, omega


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_stress_and_force_are_those_of_the_pairs(case, m):
    problem, X, omega = problem_of(case, one_way_graph(), m=m)
    now = problem.evaluate(X, omega)
    assert now.stress == pytest.approx(slow_sparse_stress(problem, X, omega), rel=1e-9)
    # The step is a force over a curvature: the stress falls along it at the rate that the force tells.
    tiny = 1e-6
    slope = (problem.evaluate(X + tiny * now.step, omega).stress - now.stress) / tiny
    assert -now.decrease * 2 == pytest.approx(slope, rel=1e-3)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("alpha", [0.0, 0.7, 0.95])
def test_no_step_goes_uphill_not_even_one_almost_twice_as_long(case, alpha):
    problem, X, omega = problem_of(case, one_way_graph(3), alpha=alpha)
    for _ in range(30):
        now = problem.evaluate(X, omega)
        after = problem.evaluate(X + now.step, omega)
        assert after.stress <= now.stress - now.decrease * (1 - 1e-6) + 1e-9 * now.stress
        X = X + 1.9 * now.step
        assert problem.evaluate(X, omega).stress <= now.stress * (1 + 1e-12)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), alpha=st.floats(0, 0.9), power=st.sampled_from([0, 1, 2]))
def test_single_precision_is_close(seed, alpha, power):
    graph = one_way_graph(seed)
    fine, X, omega = problem_of({"power": power}, graph, alpha)
    coarse, _, _ = problem_of({"power": power}, graph, alpha, fine=False)
    a, b = fine.evaluate(X, omega), coarse.evaluate(X, omega)
    assert b.stress == pytest.approx(a.stress, rel=1e-4)
    np.testing.assert_allclose(b.step, a.step, atol=1e-4 * np.abs(a.step).max())


@pytest.mark.parametrize("bound", [0.0, 9.0])
def test_the_drift_is_the_least_squares_one(bound):
    problem, X, omega = problem_of({"power": 1, "bound": bound, "hold": True}, one_way_graph(), alpha=0.3)
    problem.arcs = None
    found = problem.fit_drift(X, omega)
    if bound == 0:
        best = problem.evaluate(X, found).stress
        rng = np.random.default_rng(0)
        for _ in range(20):
            assert problem.evaluate(X, found + 0.01 * rng.normal(size=3)).stress >= best
    else:  # bounds make it a majorization: it must not rise
        assert problem.evaluate(X, found).stress <= problem.evaluate(X, omega).stress


def stream_of(problem):
    """The pairs of a sparse problem, as a stream of ordered pairs."""
    data = problem.data
    i, p = np.indices(data.out_of.shape).reshape(2, -1)
    j = data.pivots[p]
    chunks = []
    for D, w, rows, columns in ((data.out_of, problem.ahead, i, j), (data.into, problem.behind, j, i)):
        D = D.reshape(-1).astype(float)
        chunks.append((rows, columns, np.where(data.far <= D, np.nan, D), w[p].astype(float)))
    indptr, indices, lengths = problem.arcs.leaving
    tails = np.repeat(np.arange(data.n_nodes), np.diff(indptr))
    weights = np.full(len(tails), problem.arc_weight)
    return PairStream(data.n_nodes, [*chunks, (tails, indices, lengths.astype(float), weights)])


def test_a_stream_of_the_same_pairs_has_the_same_stress():
    problem, X, omega = problem_of({"power": 0, "hold": True}, one_way_graph())
    streamed = StreamedProblem(stream_of(problem))
    assert streamed.evaluate(X, omega).stress == pytest.approx(problem.evaluate(X, omega).stress, rel=1e-9)
    assert streamed.square == pytest.approx(problem.square, rel=1e-9)
    np.testing.assert_allclose(streamed.fit_drift(X, omega)[:2], problem.fit_drift(X, omega)[:2], atol=0.2)


def test_a_stream_of_exact_data_is_solved_with_its_drift():
    data = make_exact_randers(60, 2, alpha=0.4, random_state=0)
    i, j = np.nonzero(np.random.default_rng(1).random((60, 60)) < 0.7)
    stream = PairStream(
        60, [(i[k::3], j[k::3], data.distances[i, j][k::3], np.ones(len(i[k::3]))) for k in range(3)]
    )
    solution = sparse_smacof(stream, 2, "auto", init="random", tol=1e-9, max_iter=3000, random_state=2)
    assert solution.stress < 1e-4 * solution.total
    assert solution.alpha == pytest.approx(0.4, abs=0.02)


def test_a_bound_in_a_stream_costs_only_where_the_map_is_closer():
    omega, X = np.zeros(1), np.array([[0.0], [2.0]])
    for bound, expected in ((1.0, 0.0), (3.0, 1.0)):
        problem = StreamedProblem(PairStream(2, [([0], [1], [-bound], [1.0])]))
        assert problem.evaluate(X, omega).stress == pytest.approx(expected)


@pytest.mark.parametrize("weighting", ["uniform", "inverse-square"])
def test_the_same_numbers_for_any_number_of_threads(weighting):
    graph = city(12_000)
    maps = []
    for n_jobs in (1, 2, 5):
        data = pivot_distances(graph, 12, n_jobs=n_jobs)
        arcs = ArcPairs.of(graph, True)
        options = {"weighting": weighting, "max_iter": 4, "random_state": 0}
        maps.append(sparse_smacof(data, 2, arcs=arcs, n_jobs=n_jobs, **options))
    for other in maps[1:]:
        np.testing.assert_array_equal(maps[0].coordinates, other.coordinates)
        np.testing.assert_array_equal(maps[0].history, other.history)


def test_history_never_rises_and_the_stress_is_that_of_the_map():
    graph = city(900)
    data = pivot_distances(graph, 20)
    solution = sparse_smacof(data, 3, 0.2, arcs=ArcPairs.of(graph, True), weighting="inverse-square")
    assert (np.diff(solution.history) <= 0).all()
    assert solution.stress == pytest.approx(solution.history[-1], rel=1e-9)
    assert solution.per_point.sum() == pytest.approx(1.0)
    assert solution.drift.tolist() == [0, 0, 0.2]
    np.testing.assert_allclose(solution.coordinates.mean(axis=0), 0, atol=1e-9)


def ratio_to_dense(graph, n_pivots=50, n_seeds=1):
    """Stress over all pairs of sparse maps, the mean over seeds, over that of the dense solver."""
    data = graph_distances(graph)
    dense = smacof(data, 2, "auto", max_iter=300, tol=1e-6)
    maps = [map_graph(graph, 2, n_pivots=n_pivots, random_state=seed) for seed in range(n_seeds)]
    return (
        np.mean([raw_stress(f.coordinates, data.matrix, data.weights, drift=f.drift) for f in maps])
        / dense.stress
    )


def test_as_good_as_all_pairs_on_a_city():
    assert ratio_to_dense(city(900)) < 1.1


def test_as_good_as_all_pairs_on_the_tree():
    assert ratio_to_dense(as_digraph(make_binary_tree(6).graph)) < 1.1


def test_nearly_as_good_as_all_pairs_on_a_graph_of_hubs():
    # As airlines fly: each place has connections to the three nearest hubs, most of them both ways, and hubs to hubs.
    rng = np.random.default_rng(0)
    points, hubs = rng.random((600, 2)), rng.choice(600, 40, replace=False)
    near = hubs[KDTree(points[hubs]).query(points, 3)[1]].ravel()
    there = np.column_stack([np.repeat(np.arange(600), 3), near])
    between = np.stack(np.meshgrid(hubs, hubs), axis=-1).reshape(-1, 2)
    parts = [there, there[rng.random(len(there)) < 0.9][:, ::-1], between[rng.random(len(between)) < 0.3]]
    arcs = np.unique(np.concatenate(parts), axis=0)
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    graph = largest_component(as_digraph((arcs[:, 0], arcs[:, 1])))
    assert ratio_to_dense(graph, n_seeds=3) < 1.2  # few lengths, many ties: harder than streets


@pytest.mark.filterwarnings("ignore:The graph was simplified")
@pytest.mark.parametrize("name", ["road_berlin", "openflights"])
def test_as_good_as_all_pairs_on_real_graphs(name):
    graph = largest_component(read_graph(real_file(f"graphs/{name}.npz"), weight=None))
    assert ratio_to_dense(graph, n_seeds=3) < 1.1


@pytest.mark.parametrize("seed", range(3))
def test_where_hardly_any_pair_has_a_path_arcs_hold_the_map_together(seed):
    # Arcs between near points, from one of three classes to a later one: a path has two arcs at most.
    rng = np.random.default_rng(seed)
    points = rng.random((700, 2))
    near = KDTree(points).query(points, 5)[1][:, 1:].ravel()
    pairs = np.column_stack([np.repeat(np.arange(700), 4), near])
    pairs = pairs[pairs[:, 0] % 3 < pairs[:, 1] % 3]
    graph = largest_component(as_digraph((pairs[:, 0], pairs[:, 1])), "weak")
    D = graph_distances(graph, unreachable="mask")
    assert D.weights.mean() < 0.05
    found = map_graph(graph, 2, 0.3, n_pivots=50, random_state=seed)
    # Without a start that follows arcs whichever way they point it is 1 or more, that of all points in one place.
    assert normalized_stress(found.coordinates, D.matrix, D.weights, drift=found.drift) < 0.4


def test_hinge_keeps_unreachable_pairs_apart():
    graph = one_way_graph(1, n=60)
    D = graph_distances(graph, unreachable="mask")
    apart = (D.weights == 0) & ~np.eye(60, dtype=bool)
    masked, hinged = (
        randers_distances(found.coordinates, drift=0.3)[apart]
        for found in (
            map_graph(graph, 2, 0.3, n_pivots=30, unreachable=policy, random_state=0)
            for policy in ("mask", "hinge")
        )
    )
    far = float(np.nanmax(np.where(D.weights > 0, D.matrix, np.nan)))
    assert np.mean(hinged < far / 2) < 0.5 * np.mean(masked < far / 2)


def test_callback_time_limit_and_iterations_end_it_with_a_map():
    graph = city(900)
    data, arcs = pivot_distances(graph, 10), None
    seen = []
    seconds = []
    stopped = sparse_smacof(
        data,
        2,
        0.1,
        arcs=arcs,
        init="random",
        callback=lambda it: seconds.append(it.seconds) or seen.append(it.n_iter) or len(seen) == 13,
    )
    assert stopped.status == "stopped"
    assert seen == list(range(1, 14))  # counted on over the epochs
    assert seconds == sorted(seconds)
    assert stopped.n_iter == 13
    assert sparse_smacof(data, 2, 0.1, init="random", max_iter=12, tol=0).status == "max_iter"
    late = sparse_smacof(
        data,
        2,
        0.1,
        init="random",
        tol=0,
        max_iter=10_000,
        time_limit=0.2,
        callback=lambda it: time.sleep(0.01),
    )
    assert late.status == "time_limit"
    assert np.isfinite(late.coordinates).all()


def test_ctrl_c_keeps_the_best_so_far():
    data = pivot_distances(city(900), 10)

    def interrupt(iteration):
        if iteration.n_iter == 3:
            raise KeyboardInterrupt

    solution = sparse_smacof(data, 2, 0.1, init="random", callback=interrupt)
    assert solution.status == "interrupted"
    assert np.isfinite(solution.coordinates).all()


CHILD = """
import sys, time
from finsler import embed_graph
from finsler.datasets import make_city
from finsler.graphs.digraph import as_digraph
from finsler.graphs.pivots import pivot_distances
from finsler.solvers.sparse.solver import sparse_smacof
import numpy as np
data = pivot_distances(as_digraph(make_city(400).graph), 10, n_jobs=1)
pause = float(sys.argv[3])
solution = sparse_smacof(data, 2, "auto", init="random", max_iter=60, tol=0, checkpoint=sys.argv[1], checkpoint_seconds=0,
                         random_state=0, n_jobs=1, callback=lambda it: time.sleep(pause))
np.savez(sys.argv[2], X=solution.coordinates, history=solution.history, drift=solution.drift)
"""


def test_killed_at_random_moments_it_goes_on_to_the_same_result(tmp_path):
    def run(name, pause, kill_after=None):
        target = tmp_path / f"{name}.npz"
        command = [sys.executable, "-c", CHILD, str(tmp_path / f"{name}.state.npz"), str(target), str(pause)]
        child = subprocess.Popen(command, env=os.environ)
        if kill_after is not None:
            state = tmp_path / f"{name}.state.npz"
            before = state.stat().st_mtime_ns if state.exists() else None
            while child.poll() is None and (not state.exists() or state.stat().st_mtime_ns == before):
                time.sleep(0.005)  # until it has written at least one more state
            time.sleep(kill_after)
            child.send_signal(signal.SIGKILL)
        child.wait(600)
        return target

    whole = np.load(run("whole", 0.0))
    rng = np.random.default_rng()
    kills = rng.uniform(0, 0.1, size=2)
    target = tmp_path / "killed.npz"
    for seconds in kills:
        if target.exists():
            break
        run("killed", 0.005, seconds)
    resumed = np.load(run("killed", 0.0))
    for name in ("X", "history", "drift"):
        np.testing.assert_array_equal(resumed[name], whole[name], err_msg=f"killed after {kills}")


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    data = pivot_distances(city(400), 5)
    path = tmp_path / "state.npz"
    options = {"init": "random", "checkpoint": path, "checkpoint_seconds": 0, "max_iter": 12, "tol": 0}
    options["random_state"] = 0
    sparse_smacof(data, 2, 0.2, **options)
    with pytest.raises(ValueError, match=r"of another run: its alpha is 0\.2, here it is 0\.3"):
        sparse_smacof(data, 2, 0.3, **options)
    with pytest.raises(ValueError, match="integer random_state"):
        sparse_smacof(data, 2, 0.2, **{**options, "random_state": None})
    with pytest.raises(ValueError, match="one start"):
        sparse_smacof(data, 2, 0.2, n_init=2, **options)
    with pytest.raises(FileNotFoundError, match="no folder"):
        sparse_smacof(data, 2, 0.2, random_state=0, checkpoint=tmp_path / "none" / "state.npz")


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"weighting": "cubic"}, "weighting must be"),
        ({"init": "pivots"}, "init must be"),
        ({"bound": -1.0}, "bound must be"),
        ({"alpha": 1.0}, "alpha must be"),
        ({"n_components": 0}, "n_components must be at least 1"),
        ({"tol": -1}, "tol must be"),
    ],
)
def test_bad_options(options, match):
    data = pivot_distances(city(100), 4)
    with pytest.raises(ValueError, match=match):
        sparse_smacof(data, **options)


def test_lengths_of_any_size_give_the_same_map():
    graph = city(400, slope=0.3)
    small, large = (
        map_graph(Digraph(csr_array(graph.matrix * c)), 2, 0.3, n_pivots=20, random_state=0)
        for c in (1e-9, 1e9)
    )
    np.testing.assert_allclose(small.coordinates * 1e9, large.coordinates * 1e-9, rtol=1e-5, atol=1e-5)
    assert small.stress * 1e18 == pytest.approx(large.stress * 1e-18, rel=1e-5)
    assert small.normalized_stress == pytest.approx(large.normalized_stress, rel=1e-5)


def test_labels_and_the_largest_part():
    arcs = [("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("x", "y")]
    found = map_graph(as_digraph(arcs), 2, 0.2, unreachable="largest", n_pivots=3)
    assert found.labels == ["a", "b", "c"]
    assert "left out" in " ".join(found.provenance.sentences())
    with pytest.raises(ValueError, match="no common map"):
        map_graph(as_digraph(arcs))
    with pytest.raises(ValueError, match="have no path"):
        map_graph(as_digraph(arcs[:4]), unreachable="raise", n_pivots=4)


def test_a_graph_without_ways_back_is_not_called_symmetric():
    tree = as_digraph([(k, k // 2) for k in range(2, 60)])  # every arc leads up, none back
    found = map_graph(tree, n_pivots=10, random_state=0)
    assert found.alpha_source == "one_way"
    assert found.alpha > 0


def test_ctrl_c_in_the_coarse_map_is_not_lost(monkeypatch):
    data, whole = pivot_distances(city(400), 10), SparseProblem.evaluate
    calls = []

    def evaluate(self, X, omega):
        calls.append(len(X))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return whole(self, X, omega)

    monkeypatch.setattr(SparseProblem, "evaluate", evaluate)
    with pytest.raises(KeyboardInterrupt):
        sparse_smacof(data, 2, 0.1)
    assert len(calls) == 3


def test_a_start_that_the_time_limit_cut_short_is_not_kept(tmp_path):
    data = pivot_distances(city(400), 10)
    path = tmp_path / "state.npz"
    options = {"time_limit": 1e-6, "checkpoint": path, "checkpoint_seconds": 0, "random_state": 0}
    late = sparse_smacof(data, 2, 0.1, **options)
    assert late.status == "time_limit"
    assert np.isfinite(late.coordinates).all()
    assert not path.exists()


def test_a_checkpoint_takes_numbers_of_numpy_and_refuses_what_is_damaged(tmp_path):
    data = pivot_distances(city(400), 5)
    path = tmp_path / "state.npz"
    options = {"init": "random", "checkpoint": path, "checkpoint_seconds": 0, "max_iter": 12, "tol": 0}
    options["random_state"] = 0
    first = sparse_smacof(data, np.int64(2), np.float32(0.25), **options)
    again = sparse_smacof(data, 2, 0.25, **options)
    np.testing.assert_array_equal(first.coordinates, again.coordinates)
    path.write_bytes(path.read_bytes()[:500])
    with pytest.raises(ValueError, match=r"damaged.*remove the file"):
        sparse_smacof(data, 2, 0.25, **options)
    with pytest.raises(ValueError, match="checkpoint_seconds must be a number"):
        sparse_smacof(data, 2, 0.25, **{**options, "checkpoint_seconds": np.nan})


def full_stream(D):
    i, j = np.nonzero(~np.eye(len(D), dtype=bool))
    return PairStream(len(D), [(i, j, D[i, j], np.ones(len(i)))])


def test_a_checkpoint_of_another_stream_is_refused(tmp_path):
    D = make_exact_randers(12, n_components=2, alpha=0.3, random_state=0).distances
    options = {"checkpoint": tmp_path / "state.npz", "checkpoint_seconds": 0, "max_iter": 12, "tol": 0}
    options["random_state"] = 0
    sparse_smacof(full_stream(D), 2, 0.3, **options)
    for other in (2 * D, D[::-1, ::-1]):
        with pytest.raises(ValueError, match="of another run: its pairs is"):
            sparse_smacof(full_stream(other), 2, 0.3, **options)


def test_a_stream_must_be_the_same_at_every_pass_and_hold_something():
    D = make_exact_randers(12, n_components=2, alpha=0.3, random_state=0).distances
    used_up = iter(full_stream(D))
    with pytest.raises(ValueError, match="the first had 132 pairs, this one 0"):
        sparse_smacof(PairStream(12, lambda: used_up))
    with pytest.raises(ValueError, match="no pair of two points"):
        sparse_smacof(PairStream(3, [([0, 1], [1, 2], [np.nan, 1.0], [1.0, 0.0])]))
    for scale in (0.0, 1e-200, 1e200):
        with pytest.raises(ValueError, match="ordinary magnitudes"):
            sparse_smacof(full_stream(scale * D))
    with pytest.raises(TypeError, match="pairs must be PivotDistances or a PairStream, got ndarray"):
        sparse_smacof(D)


@pytest.mark.parametrize("length", [0.0, 1e-200, 1e200])
def test_lengths_without_a_scale_are_refused(length):
    graph = Digraph(csr_array(([length, length, length], ([0, 1, 2], [1, 2, 0])), shape=(3, 3)))
    with pytest.raises(ValueError, match="mean length of an arc"):
        map_graph(graph)


def test_too_few_nodes_or_pivots():
    with pytest.raises(ValueError, match=r"only one node to map.*3 points were left out"):
        map_graph(as_digraph([(0, 1), (1, 2), (2, 3)]), unreachable="largest")
    with pytest.raises(ValueError, match=r"1 pivots .* at least 2 pivots"):
        sparse_smacof(pivot_distances(city(100), 1))


@pytest.mark.parametrize("option", [{"bound": 2.0}, {"weighting": "inverse"}])
def test_options_of_pivots_are_refused_for_a_stream(option):
    stream = PairStream(3, [([0, 1], [1, 2], [1.0, 1.0], [1.0, 1.0])])
    with pytest.raises(ValueError, match="go with pivots"):
        sparse_smacof(stream, 2, 0.1, init="random", **option)


def test_more_dimensions_than_points_are_refused():
    with pytest.raises(ValueError, match="n_components must be at most the number of points, 100"):
        sparse_smacof(pivot_distances(city(100), 10), 101)


def test_paths_either_way_take_the_shorter_way_and_arcs_of_length_zero():
    graph = as_digraph(([0, 1, 1], [1, 0, 2], [5.0, 3.0, 0.0]))
    data = pivot_distances(graph, 3)
    found = paths_either_way(data, ArcPairs.of(graph, False), 1)
    expected = np.array([[0, 3, 3], [3, 0, 0], [3, 0, 0]])
    np.testing.assert_array_equal(found, expected[:, data.pivots])


def test_several_starts_keep_the_best_and_the_first_is_that_of_one():
    graph = city(400)
    data = pivot_distances(graph, 8)
    options = {"arcs": ArcPairs.of(graph, True), "random_state": 1, "max_iter": 8, "tol": 0.0}
    one = sparse_smacof(data, 2, 0.1, init="random", **options)
    four = sparse_smacof(data, 2, 0.1, init="random", n_init=4, **options)
    assert four.stress < one.stress
    assert four.n_passes > one.n_passes
    first = []
    sparse_smacof(
        data, 2, 0.1, init="random", n_init=4, callback=lambda it: first.append(it.stress), **options
    )
    assert first[:8] == one.history[1:].tolist()


def test_every_start_that_the_dense_solver_knows_is_known():
    graph = city(400)
    data, arcs = pivot_distances(graph, 10), ArcPairs.of(graph, True)
    cloud = np.random.default_rng(0).normal(size=(graph.n_nodes, 2))
    for init in ("classical", "isomap", "random", cloud):
        for accelerate in (True, False):
            found = sparse_smacof(
                data, 2, 0.1, arcs=arcs, init=init, random_state=0, accelerate=accelerate, max_iter=30
            )
            assert (np.diff(found.history) <= 0).all()


def test_ways_between_pivots_keep_distances_of_zero_and_below_any_tolerance():
    nowhere = np.full((4, 4), 1e30, np.float32)
    data = replace(
        pivot_distances(as_digraph([(0, 1), (1, 2), (2, 3), (3, 0)]), 4),
        out_of=nowhere,
        into=nowhere,
        far=1e30,
    )
    inf = np.inf
    S = np.array([[0, 0, inf, inf], [0, 0, 1e-9, inf], [inf, 1e-9, 0, 2], [inf, inf, 2, 0]])
    np.testing.assert_allclose(_completed(S, data)[0], [0, 0, 1e-9, 2 + 1e-9], rtol=1e-15)
