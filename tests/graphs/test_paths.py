"""Shortest paths against Bellman and Ford in plain Python, and against SciPy."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from finsler import _memory as memory
from finsler import _runtime as runtime
from finsler.graphs import paths as front
from finsler.graphs.digraph import as_digraph
from finsler.graphs.paths import shortest_paths
from finsler.kernels import paths as kernels

KINDS = ["lanes", "buckets", "heap"]


def bellman_ford(n, rows, cols, weights, source):
    distance = [np.inf] * n
    distance[source] = 0.0
    for _ in range(n):
        for i, j, w in zip(rows, cols, weights, strict=True):
            distance[j] = min(distance[j], distance[i] + w)
    return distance


def least_of_parallel(graph):
    """The same graph with one arc a pair, the shortest, as SciPy wants it."""
    entries = graph.tocoo()
    best: dict[tuple[int, int], float] = {}
    for i, j, w in zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True):
        best[i, j] = min(w, best.get((i, j), np.inf))
    pairs = np.array(list(best), dtype=int).reshape(-1, 2)
    return sparse.csr_array((list(best.values()), (pairs[:, 0], pairs[:, 1])), shape=graph.shape)


def random_graph(n=300, degree=6, seed=0, weights="uniform"):
    rng = np.random.default_rng(seed)
    m = n * degree
    values = {
        "uniform": rng.uniform(0.1, 1, m),
        "exponential": rng.exponential(size=m),
        "integers": rng.integers(0, 4, m).astype(float),
        "zeros": np.zeros(m),
        "wide": 10.0 ** rng.uniform(-150, 150, m),
        "denormal": 5e-324 * rng.integers(0, 9, m),
        "huge": 1e306 * rng.uniform(0, 1, m),
        "heavy": rng.pareto(0.5, m),
        "some infinite": np.where(rng.random(m) < 0.2, np.inf, rng.random(m)),
    }[weights]
    pairs = rng.permutation(n * n)[:m]
    return sparse.csr_array((values, (pairs // n, pairs % n)), shape=(n, n))


def neighbors(n=400, seed=0):
    """A plane with streets to the 6 nearest, longer upwards: what buckets are made for."""
    points = np.random.default_rng(seed).random((n, 2))
    step = points[None] - points[:, None]
    length = np.sqrt((step**2).sum(2))
    near = np.argsort(length, axis=1)[:, 1:7]
    rows, cols = np.repeat(np.arange(n), 6), near.ravel()
    return sparse.csr_array(((length + 0.4 * step[:, :, 1])[rows, cols], (rows, cols)), shape=(n, n))


@pytest.fixture
def only(monkeypatch):
    """Make the front use one of its methods, on graphs of any size."""

    def choose(kind):
        monkeypatch.setattr(front, "MANY", 1 if kind == "lanes" else 10**9)
        monkeypatch.setattr(front, "MOST_BUCKETS", 0 if kind == "heap" else 1 << 18)

    return choose


@st.composite
def digraphs(draw):
    n = draw(st.integers(1, 40))
    node = st.integers(0, n - 1)
    length = st.one_of(st.just(0.0), st.just(1.0), st.floats(0, 10), st.floats(0, 1e-6))
    arcs = draw(st.lists(st.tuples(node, node, length), max_size=4 * n))  # loops, parallel arcs, lone nodes
    rows, cols, weights = (list(part) for part in zip(*arcs, strict=True)) if arcs else ([], [], [])
    sources = draw(st.lists(node, min_size=1, max_size=20))
    return n, rows, cols, weights, sources


@settings(max_examples=150)
@given(digraphs(), st.sampled_from(KINDS))
def test_small_digraphs_against_bellman_ford_and_scipy(digraph, kind):
    n, rows, cols, weights, sources = digraph
    graph = sparse.coo_array((np.array(weights, float), (rows, cols)), shape=(n, n))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(front, "MANY", 1 if kind == "lanes" else 10**9)
        patch.setattr(front, "MOST_BUCKETS", 0 if kind == "heap" else 1 << 18)
        found = shortest_paths(graph, sources, method="dijkstra", n_jobs=1)
        hops = shortest_paths(graph, sources, method="bfs", n_jobs=1)
    expected = [bellman_ford(n, rows, cols, weights, s) for s in sources]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, dijkstra(least_of_parallel(graph), indices=sources))
    np.testing.assert_array_equal(hops, [bellman_ford(n, rows, cols, [1.0] * len(rows), s) for s in sources])


@pytest.mark.parametrize("kind", [*KINDS, "auto"])
@pytest.mark.parametrize(
    "weights",
    ["uniform", "exponential", "integers", "zeros", "wide", "denormal", "huge", "heavy", "some infinite"],
)
def test_every_method_on_every_kind_of_weights(only, kind, weights):
    graph = random_graph(weights=weights)
    if kind != "auto":
        only(kind)
    np.testing.assert_array_equal(shortest_paths(graph), dijkstra(graph))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [2.0**-900, 2.0**40, 2.0**900])
def test_scaling_the_lengths_scales_the_distances(only, kind, factor):
    only(kind)
    graph = neighbors()
    np.testing.assert_array_equal(shortest_paths(graph * factor), shortest_paths(graph) * factor)


@pytest.mark.parametrize("kind", KINDS)
def test_a_graph_like_a_plane(only, kind):
    only(kind)
    graph = neighbors()
    np.testing.assert_array_equal(shortest_paths(graph), dijkstra(graph))


@pytest.mark.parametrize("kind", KINDS)
def test_dense_and_long_graphs(only, kind):
    only(kind)
    rng = np.random.default_rng(3)
    dense = sparse.csr_array(rng.uniform(0.01, 1, (120, 120)))
    np.testing.assert_array_equal(shortest_paths(dense), dijkstra(dense))
    chain = sparse.diags_array(rng.uniform(0.01, 1, 499), offsets=1, shape=(500, 500)).tocsr()
    np.testing.assert_array_equal(shortest_paths(chain), dijkstra(chain))


def test_the_methods_are_the_ones_meant(only, monkeypatch):
    """The choices that the tests above rely on are really made."""
    seen = []

    def wheel(*args):
        seen.append("lanes" if args[8].ndim == 2 else "buckets")
        return kernels.wheel(*args)

    def heap(*args):
        seen.append("heap")
        return kernels.heap(*args)

    spy = SimpleNamespace(wheel=wheel, heap=heap, gather=kernels.gather, LANES=kernels.LANES)
    monkeypatch.setattr(front, "kernels", spy)
    for kind in KINDS:
        only(kind)
        seen.clear()
        shortest_paths(neighbors(), n_jobs=1)
        assert seen[0] == kind


def test_weights_that_do_not_suit_buckets_end_in_the_heap(monkeypatch):
    """Most arcs are long, the paths run over very short ones: one bucket holds them all."""
    rng = np.random.default_rng(0)
    n = 200
    lengths = np.where(rng.random((n, n)) < 0.3, 10.0 ** rng.uniform(-9, -5, (n, n)), 1.0)
    graph = sparse.csr_array(lengths)
    rows = []

    def heap(*args):
        rows.append(len(args[5]))
        return kernels.heap(*args)

    spy = SimpleNamespace(wheel=kernels.wheel, heap=heap, gather=kernels.gather, LANES=kernels.LANES)
    monkeypatch.setattr(front, "kernels", spy)
    np.testing.assert_array_equal(shortest_paths(graph), dijkstra(graph))
    assert sum(rows) > n / 2


def test_lanes_hand_over_to_single_rows_when_sources_are_far_apart():
    graph = neighbors(2000)
    indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.uint32)
    starts = np.random.default_rng(0).permutation(2000)[:64].astype(np.uint32)
    place = np.arange(2000, dtype=np.uint32)
    out = np.full((64, 2000), -1.0)
    args = (indptr, indices, graph.data, place, 1e300, starts, np.arange(64), out)
    done = kernels.wheel(*args, np.empty((2000, kernels.LANES)), 4 / np.median(graph.data), 128)
    assert done % kernels.LANES == 0
    assert 0 < done < 64
    np.testing.assert_array_equal(out[:done], dijkstra(graph, indices=starts[:done]))
    assert np.all(out[done:] == -1)


def test_gather_is_a_permutation_that_brings_near_ones_together():
    graph = neighbors(2000)
    starts = np.random.default_rng(0).integers(0, 2000, 500).astype(np.uint32)  # with repetitions
    order = kernels.gather(graph.indptr.astype(np.int64), graph.indices.astype(np.uint32), starts, 64)
    assert sorted(order) == list(range(500))
    points = np.random.default_rng(0).random((2000, 2))[starts]

    def spread(batches):
        return np.mean([np.ptp(points[batch], axis=0).mean() for batch in batches])

    regular = spread(order[:496].reshape(-1, kernels.LANES))
    assert regular < 0.5 * spread(np.arange(496).reshape(-1, kernels.LANES))


@pytest.mark.parametrize("method", ["dijkstra", "bfs"])
def test_threads_give_the_same_bits(method):
    graph = random_graph(n=700, weights="exponential")
    one = shortest_paths(graph, method=method, n_jobs=1)
    for n_jobs in (2, 3, None):
        np.testing.assert_array_equal(one, shortest_paths(graph, method=method, n_jobs=n_jobs))


def test_bfs_against_scipy_and_auto_takes_it_for_unit_lengths(monkeypatch):
    graph = random_graph(degree=2)
    expected = dijkstra(graph, unweighted=True)
    np.testing.assert_array_equal(shortest_paths(graph, method="bfs"), expected)
    unit = graph.copy()
    unit.data[:] = 1
    np.testing.assert_array_equal(shortest_paths(unit, method="dijkstra"), expected)
    monkeypatch.setattr(front, "kernels", SimpleNamespace(hops=kernels.hops, LANES=kernels.LANES))
    np.testing.assert_array_equal(shortest_paths(unit), expected)
    np.testing.assert_array_equal(shortest_paths(unit.astype(bool)), expected)


def test_bfs_does_not_look_at_the_lengths():
    graph = sparse.csr_array(([-1.0, np.nan], ([0, 1], [1, 2])), shape=(3, 3))
    np.testing.assert_array_equal(shortest_paths(graph, 0, method="bfs"), [[0, 1, 2]])


@pytest.mark.parametrize("kind", [*KINDS, "bfs"])
def test_limit(only, kind):
    only(kind)
    graph = neighbors()
    method = "bfs" if kind == "bfs" else "dijkstra"
    full = shortest_paths(graph, method=method)
    for limit in (0, np.median(full), full.max()):
        expected = np.where(full <= limit, full, np.inf)
        np.testing.assert_array_equal(shortest_paths(graph, method=method, limit=limit), expected)


def test_float32_is_the_rounded_float64():
    graph = neighbors()
    single = shortest_paths(graph, dtype=np.float32)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, shortest_paths(graph), rtol=1e-7)


@pytest.mark.parametrize("count", [5, 100])
def test_sources_in_any_order_and_repeated(count):
    graph = random_graph()
    sources = np.random.default_rng(1).integers(0, 300, count)
    sources[-1] = sources[0]
    np.testing.assert_array_equal(shortest_paths(graph, sources), dijkstra(graph)[sources])
    np.testing.assert_array_equal(shortest_paths(graph, sources.tolist()), dijkstra(graph)[sources])


def test_one_source_and_none():
    graph = random_graph()
    np.testing.assert_array_equal(shortest_paths(graph, 7), dijkstra(graph)[[7]])
    assert shortest_paths(graph, []).shape == (0, 300)


@pytest.mark.parametrize("method", ["auto", "dijkstra", "bfs"])
def test_graphs_with_nothing_in_them(method):
    np.testing.assert_array_equal(shortest_paths(sparse.csr_array((1, 1)), method=method), [[0]])
    assert shortest_paths(sparse.csr_array((0, 0)), method=method).shape == (0, 0)
    alone = shortest_paths(sparse.csr_array((50, 50)), method=method)
    np.testing.assert_array_equal(alone, np.where(np.eye(50, dtype=bool), 0, np.inf))


@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_formats_keep_stored_zeros_and_are_not_modified(make):
    graph = make(random_graph(weights="integers"))
    names = ["row", "col", "data"] if graph.format == "coo" else ["indptr", "indices", "data"]
    before = [getattr(graph, name).copy() for name in names]
    for name in names:
        getattr(graph, name).flags.writeable = False
    np.testing.assert_array_equal(shortest_paths(graph), dijkstra(random_graph(weights="integers")))
    for name, copy in zip(names, before, strict=True):
        np.testing.assert_array_equal(getattr(graph, name), copy)


def test_lists_of_lists_and_dictionaries_of_keys():
    expected = shortest_paths(random_graph(n=40))
    for kind in ("lil", "dok"):
        np.testing.assert_array_equal(shortest_paths(random_graph(n=40).asformat(kind)), expected)


def test_unsorted_csr_with_parallel_arcs_and_spare_room():
    graph = sparse.csr_array((4, 4))
    graph.indptr = np.array([0, 3, 4, 4, 4])
    graph.indices = np.array([2, 1, 1, 3, 99, 99])
    graph.data = np.array([5.0, 3.0, 2.0, 1.0, -1.0, np.nan])
    np.testing.assert_array_equal(shortest_paths(graph, [0]), [[0, 2, 5, 3]])


@pytest.mark.parametrize("dtype", [np.int32, np.uint8, np.bool_, np.float32, np.int64])
def test_types_of_lengths(dtype):
    graph = random_graph(weights="integers").astype(dtype)
    np.testing.assert_array_equal(shortest_paths(graph), dijkstra(graph.astype(float)))


def test_out_array_is_filled_and_returned():
    graph = random_graph()
    for dtype in (np.float32, np.float64):
        out = np.full((300, 300), -1, dtype)
        assert shortest_paths(graph, out=out) is out
        np.testing.assert_array_equal(out, dijkstra(graph).astype(dtype))


@pytest.mark.parametrize("as_text", [True, False])
def test_out_file(tmp_path, as_text):
    path = tmp_path / "distances.npy"
    path.write_bytes(b"an older file")
    graph = random_graph()
    result = shortest_paths(graph, dtype=np.float32, out=str(path) if as_text else path)
    assert isinstance(result, np.memmap)
    assert not result.flags.writeable
    expected = dijkstra(graph).astype(np.float32)
    np.testing.assert_array_equal(result, expected)
    np.testing.assert_array_equal(np.load(path), expected)
    assert list(tmp_path.iterdir()) == [path]


def test_out_file_without_rows(tmp_path):
    assert shortest_paths(random_graph(), [], out=tmp_path / "none.npy").shape == (0, 300)


class Interruption:
    """Stand in for `Progress.update`, and stop at the second call."""

    def __init__(self, error):
        self.calls, self.error = 0, error

    def __call__(self, text):
        self.calls += 1
        if self.calls >= 2:
            raise self.error


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError])
@pytest.mark.parametrize("older", [None, b"an older file"])
def test_nothing_is_left_of_an_interrupted_file(tmp_path, monkeypatch, n_jobs, error, older):
    path = tmp_path / "distances.npy"
    if older:
        path.write_bytes(older)
    interruption = Interruption(error)
    monkeypatch.setattr(runtime.Progress, "update", lambda self, text: interruption(text))
    with pytest.raises(error):
        shortest_paths(random_graph(n=1000), out=path, n_jobs=n_jobs)
    assert interruption.calls >= 2
    assert list(tmp_path.iterdir()) == ([path] if older else [])
    assert not older or path.read_bytes() == older


def test_a_full_disk_is_noticed_first(tmp_path, monkeypatch):
    monkeypatch.setattr(front.shutil, "disk_usage", lambda folder: SimpleNamespace(free=1000))
    with pytest.raises(OSError, match="needs 720 kB and its disk has 1 kB free"):
        shortest_paths(random_graph(), out=tmp_path / "distances.npy")
    assert list(tmp_path.iterdir()) == []


def test_memory_is_estimated_first_and_a_file_needs_less(tmp_path, monkeypatch):
    graph = random_graph(n=1000)
    monkeypatch.setattr(memory, "NEGLIGIBLE", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 4_000_000)
    with pytest.raises(MemoryError, match=r'1000 and 1000 nodes needs about .* out="distances.npy"'):
        shortest_paths(graph)
    assert shortest_paths(graph, out=tmp_path / "distances.npy").shape == (1000, 1000)


def test_progress_line(capsys):
    shortest_paths(random_graph(n=1000), verbose=True)
    assert "shortest paths: 1000 of 1000 rows" in capsys.readouterr().err
    shortest_paths(random_graph(n=1000), verbose=False)
    assert capsys.readouterr().err == ""


def graph_with(value):
    return sparse.csr_array(([1.0, value, 1.0], ([0, 1, 2], [2, 0, 1])), shape=(3, 3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((np.ones((3, 3)),), TypeError, r"graph must be .* scipy sparse matrix, found ndarray"),
        ((sparse.csr_array((2, 3)),), ValueError, r"square.*\(2, 3\)"),
        ((sparse.coo_array(np.ones(3)),), ValueError, r"square.*\(3,\)"),
        ((graph_with(-2.0),), ValueError, r"length -2\.0 from node 1 to node 0"),
        ((graph_with(np.nan),), ValueError, r"length nan from node 1 to node 0"),
        ((graph_with(-np.inf),), ValueError, r"length -inf from node 1 to node 0"),
        ((graph_with(1j),), TypeError, r"real numbers, found complex128"),
        ((sparse.eye_array(3),), ValueError, r"DIA format"),
        ((sparse.bsr_array(np.ones((4, 4))),), ValueError, r"BSR format"),
        ((graph_with(1.0), [0, 3]), ValueError, r"0\.\.2: sources\[1\] is 3"),
        ((graph_with(1.0), [-1]), ValueError, r"sources\[0\] is -1"),
        ((graph_with(1.0), [True, False, True]), TypeError, r"integers.*bool.*flatnonzero"),
        ((graph_with(1.0), [0.5]), TypeError, r"integers.*float64"),
        ((graph_with(1.0), [[0, 1]]), TypeError, r"shape \(1, 2\)"),
    ],
)
def test_bad_graphs_and_sources(arguments, error, message):
    with pytest.raises(error, match=message):
        shortest_paths(*arguments)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"method": "floyd"}, ValueError, r"'floyd'"),
        ({"limit": -1}, ValueError, r"limit.*-1"),
        ({"limit": np.nan}, ValueError, r"limit.*nan"),
        ({"dtype": np.int32}, TypeError, r"dtype must be float32 or float64"),
        ({"out": np.empty((3, 2))}, ValueError, r"shape \(3, 3\), found float64 of shape \(3, 2\)"),
        ({"out": np.empty((3, 3)), "dtype": np.float32}, ValueError, r"float32 array .* found float64"),
        ({"out": np.empty((3, 3), order="F")}, ValueError, r"C-contiguous"),
        ({"out": np.empty((3, 3), int)}, TypeError, r"found int64"),
        ({"out": "distances.csv"}, ValueError, r"\.npy file, got 'distances\.csv'"),
        ({"out": 3}, ValueError, r"out must be an array, text, a path or None, got 3"),
        ({"out": "no/such/folder/distances.npy"}, FileNotFoundError, r"no/such/folder"),
        ({"n_jobs": 0}, ValueError, r"n_jobs=0"),
    ],
)
def test_bad_options(options, error, message):
    with pytest.raises(error, match=message):
        shortest_paths(graph_with(1.0), **options)


@pytest.mark.parametrize("broken", ["column", "negative", "pointers"])
def test_broken_csr_does_not_reach_the_kernels(broken):
    graph = graph_with(1.0)
    if broken == "column":
        graph.indices[0] = 3
    elif broken == "negative":
        graph.indices[0] = -1
    else:
        graph.indptr[1] = 3
        graph.indptr[2] = 1
    with pytest.raises(ValueError, match="not a valid CSR matrix"):
        shortest_paths(graph)


def test_paths_to_the_sources():
    rng = np.random.default_rng(3)
    graph = sparse.random_array((40, 40), density=0.1, rng=rng, format="csr")
    twice = sparse.coo_array(([5.0, 2.0, 1.0], ([0, 0, 1], [1, 1, 2])), shape=(3, 3))  # the shorter counts
    for arcs, sources in ((graph, [7, 3, 7]), (graph.tocsc(), [0]), (twice, [2, 1])):
        everything = shortest_paths(arcs)
        np.testing.assert_allclose(shortest_paths(arcs, sources, reverse=True), everything[:, sources].T)
        hops = shortest_paths(arcs, method="bfs")[:, sources].T
        np.testing.assert_array_equal(shortest_paths(arcs, sources, reverse=True, method="bfs"), hops)
    digraph = as_digraph(sparse.triu(graph, 1))
    np.testing.assert_allclose(
        shortest_paths(digraph, [30], reverse=True)[0], shortest_paths(digraph.matrix)[:, 30]
    )
