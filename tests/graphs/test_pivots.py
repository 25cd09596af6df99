import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.sparse.csgraph import dijkstra

from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.pivots import pivot_distances, relayed_pairs
from finsler.solvers.sparse.problem import PairStream


def random_digraph(seed, n=60, weighted=True):
    graph = random_array((n, n), density=0.03, rng=np.random.default_rng(seed), format="csr")
    graph.setdiag(0)
    graph.eliminate_zeros()
    if not weighted:
        graph.data[:] = 1.0
    return as_digraph(graph)


def expected(graph, data):
    D = dijkstra(graph.matrix)
    return D[:, data.pivots], D[data.pivots].T


@pytest.mark.parametrize("weighted", [False, True])
def test_distances_are_those_of_scipy_with_gaps_where_there_is_no_path(weighted):
    graph = random_digraph(0, weighted=weighted)
    data = pivot_distances(graph, 13)
    assert len(set(data.pivots.tolist())) == 13
    assert data.out_of.dtype == (np.float32 if weighted else np.uint8)
    for found, true in zip((data.out_of, data.into), expected(graph, data), strict=True):
        assert np.isinf(true).any()
        known = np.isfinite(true)
        np.testing.assert_allclose(found[known], true[known], rtol=1e-6)
        assert (found[~known] >= data.far).all()
    assert data.n_unreachable == sum(np.isinf(true).sum() for true in expected(graph, data))
    assert data.largest == pytest.approx(max(t[np.isfinite(t)].max() for t in expected(graph, data)))


def test_long_paths_need_two_bytes():
    n = 300
    path = as_digraph(([*range(n - 1), *range(1, n)], [*range(1, n), *range(n - 1)]))
    data = pivot_distances(path, 4)
    assert data.out_of.dtype == np.uint16
    np.testing.assert_array_equal(data.out_of, np.abs(np.arange(n)[:, None] - data.pivots[None, :]))


def test_hops_of_a_weighted_graph():
    graph = random_digraph(1)
    data = pivot_distances(graph, 5, hops=True)
    true = dijkstra(graph.matrix, unweighted=True)[:, data.pivots]
    known = np.isfinite(true)
    np.testing.assert_array_equal(data.out_of[known], true[known])


def test_masses_add_up_to_the_nodes_and_ties_are_shared():
    graph = Digraph(make_city(400).graph)
    data = pivot_distances(graph, 10)
    assert data.mass_ahead.sum() == pytest.approx(graph.n_nodes)
    assert data.mass_behind.sum() == pytest.approx(graph.n_nodes)
    S = (data.out_of.astype(float) + data.into) / 2
    np.testing.assert_array_equal(S[np.arange(len(S)), data.region], S.min(axis=1))
    star = as_digraph([(0, k) for k in range(1, 9)] + [(k, 0) for k in range(1, 9)])
    masses = pivot_distances(star, 9)
    np.testing.assert_allclose(masses.mass_ahead, 1.0)


def test_the_same_for_any_number_of_threads_and_for_a_seed():
    graph = Digraph(make_city(6000).graph)
    one, two = (pivot_distances(graph, 20, n_jobs=k, random_state=5) for k in (1, 3))
    for name in ("pivots", "out_of", "into", "mass_ahead", "radius"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert (pivot_distances(graph, 20, random_state=6).pivots != one.pivots).any()


def test_more_pivots_than_nodes():
    ring = as_digraph([(0, 1), (1, 2), (2, 0)])
    assert sorted(pivot_distances(ring, 100).pivots.tolist()) == [0, 1, 2]


def test_bad_number_of_pivots():
    with pytest.raises(ValueError, match="n_pivots must be at least 1, got 0"):
        pivot_distances(as_digraph([(0, 1), (1, 0)]), 0)


def test_guessed_distances_lie_near_the_true_ones_and_partners_are_mutual():
    graph = Digraph(make_city(900).graph)
    data = pivot_distances(graph, 30)
    relayed = relayed_pairs(data, 7, np.random.RandomState(0))
    n = graph.n_nodes
    for k in range(7):
        np.testing.assert_array_equal(relayed.partner[relayed.partner[:, k], k], np.arange(n))
    D = dijkstra(graph.matrix)
    true = D[np.arange(n)[:, None], relayed.partner]
    use = relayed.partner != np.arange(n)[:, None]
    error = np.sqrt(((relayed.there - true)[use] ** 2).sum() / (true[use] ** 2).sum())
    assert error < 0.05
    assert error < 2 * relayed.error + 0.01


def test_no_guess_where_no_pivot_lies_between():
    graph = as_digraph([(0, 1), (1, 2), (2, 3)])  # a one-way street
    data = pivot_distances(graph, 1, random_state=0)
    relayed = relayed_pairs(data, 5, np.random.RandomState(0))
    D = dijkstra(graph.matrix)
    for i in range(4):
        for k, j in enumerate(relayed.partner[i]):
            through = D[i, data.pivots[0]] + D[data.pivots[0], j]
            assert (relayed.there[i, k] == -1) == np.isinf(through)


def test_streams_check_their_chunks():
    good = ([0, 1], [1, 2], [1.0, np.inf], [1.0, 1.0])
    assert [len(i) for i, *_ in PairStream(3, lambda: iter([good, good]))] == [1, 1]
    for chunk, match in (
        (([0, 1], [1], [1.0], [1.0]), "one length"),
        (([0], [3], [1.0], [1.0]), r"j in chunk 0 must be within 0\.\.2"),
        (([0], [1], [1.0], [-1.0]), r"w\[0\] is -1"),
        (([0], [1], [1.0]), "four arrays"),
    ):
        with pytest.raises(ValueError, match=match):
            list(PairStream(3, [chunk]))
    with pytest.raises(TypeError, match="whole numbers"):
        list(PairStream(3, [([0.5], [1], [1.0], [1.0])]))
    with pytest.raises(TypeError, match="used up after one pass"):
        PairStream(3, iter([good]))
    with pytest.raises(TypeError, match="chunks must be a list of chunks"):
        list(PairStream(3, lambda: None))
    for n_points in (0, 2.5, "3"):
        with pytest.raises(ValueError, match="n_points must be a whole number"):
            PairStream(n_points, [good])


def test_streams_from_files(tmp_path):
    np.savez(tmp_path / "a.npz", i=[0], j=[1], D=[2.0])
    np.savez(tmp_path / "b.npz", i=[1], j=[2], D=[3.0], w=[0.5])
    chunks = list(PairStream.from_files(3, [tmp_path / "a.npz", tmp_path / "b.npz"]))
    assert [(c[2].tolist(), c[3].tolist()) for c in chunks] == [([2.0], [1.0]), ([3.0], [0.5])]
    np.savez(tmp_path / "c.npz", i=[0])
    with pytest.raises(ValueError, match="has no array 'j'"):
        list(PairStream.from_files(3, [tmp_path / "c.npz"]))
    with pytest.raises(FileNotFoundError, match="no file"):
        PairStream.from_files(3, [tmp_path / "none.npz"])
    (tmp_path / "d.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:100])
    np.save(tmp_path / "e.npy", np.ones(3))
    for name in ("d.npz", "e.npy"):
        with pytest.raises(ValueError, match=f"{name} cannot be read as .npz"):
            list(PairStream.from_files(3, [tmp_path / name]))
    with pytest.raises(TypeError, match="paths must be a list of files"):
        PairStream.from_files(3, str(tmp_path / "a.npz"))


def test_a_digraph_is_checked_when_it_is_made_and_trusted_afterwards(monkeypatch):
    checked = []
    monkeypatch.setattr("finsler.graphs.digraph.check_matrix", lambda *_: checked.append("made"))
    monkeypatch.setattr("finsler.graphs.paths._checked_arcs", lambda *_: checked.append("again"))
    graph = random_digraph(0)
    pivot_distances(graph, 30)
    assert checked == ["made"]
    assert graph.arcs is graph.arcs
    assert graph.reversed_arcs is graph.reversed_arcs


@pytest.mark.parametrize(
    ("matrix", "labels", "message"),
    [
        (np.zeros((2, 2)), None, "CSR"),
        (csr_array((2, 3)), None, "square"),
        (csr_array(np.array([[0, 1], [1, 0]])), None, "float64"),
        (csr_array(np.array([[0, -1.0], [1, 0]])), None, "negative"),
        (csr_array(np.array([[0, np.nan], [1, 0]])), None, "negative"),
        (csr_array(np.array([[0, np.inf], [1, 0]])), None, "finite"),
        (csr_array(np.array([[2.0, 1.0], [1, 0]])), None, "itself"),
        (csr_array(np.array([[0, 1.0], [1, 0]])), ["a"], "labels"),
        (csr_array(([1.0, 2.0], [1, 1], [0, 2, 2]), shape=(2, 2)), None, "twice"),
    ],
)
def test_what_is_no_matrix_of_lengths_makes_no_digraph(matrix, labels, message):
    with pytest.raises(InputError, match=message):
        Digraph(matrix, labels)
