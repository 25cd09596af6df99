"""Each bug once found, so that it is not made again."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from threadpoolctl import threadpool_info

from finsler import Embedding, FinslerMDS, embed_graph, embed_matrix, embed_points
from finsler.data.matrix import as_dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.graphs.paths import shortest_paths
from finsler.solvers.drift import best_drift
from finsler.solvers.placement import place
from finsler.solvers.smacof import smacof


@pytest.fixture
def D():
    return randers_distances(np.random.default_rng(0).normal(size=(6, 2)), drift=0.4)


@pytest.mark.parametrize("n", [3, 7, 18, 50, 200])
def test_equidistant_points_have_a_map(n):
    """LAPACK's subset driver returned no eigenvectors at all for equal eigenvalues."""
    embedding = embed_matrix(1 - np.eye(n), alpha=0.0)
    assert np.isfinite(embedding.coordinates).all()
    assert embedding.normalized_stress < 0.5


def test_a_hub_and_a_complete_graph_have_a_map():
    hub = np.full((12, 12), 5.0)
    hub[0], hub[:, 0] = 1, 9
    np.fill_diagonal(hub, 0)
    assert embed_matrix(hub, alpha=0.5).normalized_stress < 0.5
    ring = [(i, j) for i in range(20) for j in range(20) if i != j]
    assert embed_graph(ring, alpha=0.0).n_points == 20


@pytest.mark.parametrize("scale", [1e-90, 1e-9, 1.0, 1e9, 1e90])
def test_a_fitted_drift_does_not_depend_on_units(scale):
    rng = np.random.default_rng(10)
    D = rng.exponential(size=(5, 5)) ** 3
    np.fill_diagonal(D, 0)
    one, other = (smacof(as_dissimilarities(c * D), 2, "auto", max_iter=50, tol=0) for c in (1.0, scale))
    assert other.stress == pytest.approx(scale**2 * one.stress, rel=1e-3)
    assert other.alpha == pytest.approx(one.alpha, abs=1e-3)


def test_best_drift_of_nothing_is_nothing():
    np.testing.assert_array_equal(best_drift(np.zeros((2, 2)), np.zeros(2)), 0)


def test_masked_arrays_keep_their_mask(D):
    bad = np.eye(6)[::-1] > 0
    masked = np.ma.masked_array(np.where(bad, 999, D), mask=bad)
    assert embed_matrix(masked, missing="mask", alpha=0.4).normalized_stress < 1e-6
    with pytest.raises(ValueError, match="NaN"):
        embed_matrix(masked)
    weights = np.ma.masked_array(np.ones((6, 6)), mask=bad)
    assert embed_matrix(np.where(bad, 999, D), weights=weights, alpha=0.4).normalized_stress < 1e-6


def test_a_nan_diagonal_does_not_matter_when_masked(D):
    np.fill_diagonal(D, np.nan)
    weights = np.ones((6, 6))
    np.fill_diagonal(weights, np.nan)
    assert embed_matrix(D, missing="mask", alpha=0.4).normalized_stress < 1e-6
    assert embed_matrix(D, weights=weights, missing="mask", alpha=0.4).normalized_stress < 1e-6


@pytest.mark.parametrize("scale", [1e-25, 1e18, 1e25])
def test_float32_data_of_any_size_are_squared_in_float64(scale):
    D = randers_distances(np.random.default_rng(0).normal(size=(40, 2)), drift=0.4)
    single = embed_matrix((D * scale).astype(np.float32))
    assert single.alpha == pytest.approx(0.4, abs=1e-3)


def test_a_given_start_goes_with_random_ones(D):
    start = np.random.default_rng(0).normal(size=(6, 2))
    assert embed_matrix(D, init=start, n_init=3, alpha=0.4, random_state=0).normalized_stress < 0.1


@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1e20, 1e50])
def test_a_start_of_another_scale_is_rescaled(D, scale):
    start = np.random.default_rng(0).normal(size=(6, 2))
    embedding = embed_matrix(D, init=scale * start + 1e3 * scale, alpha=0.4, max_iter=3000)
    assert embedding.normalized_stress < 0.5
    assert np.abs(embedding.coordinates).max() < 10 * D.max()


def test_weights_of_many_magnitudes(D):
    weights = np.ones((6, 6))
    weights[0, 1] = 1e30
    assert np.isfinite(embed_matrix(D, weights=weights, alpha=0.4).stress)
    bridge = np.zeros((6, 6))
    bridge[:3, :3] = bridge[3:, 3:] = 1
    bridge[0, 3] = 1e-16
    assert np.isfinite(embed_matrix(D, weights=bridge, alpha=0.4).coordinates).all()
    assert embed_matrix(D, weights=np.full((6, 6), 1e-150), alpha=0.4).normalized_stress < 1e-6


def test_threads_leave_blas_as_it_was():
    before = [pool["num_threads"] for pool in threadpool_info()]
    D = randers_distances(np.random.default_rng(3).normal(size=(60, 2)), drift=0.4)
    threads = [threading.Thread(target=lambda: FinslerMDS().fit(D)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [pool["num_threads"] for pool in threadpool_info()][: len(before)] == before


def test_labels_of_frames_are_compared(D):
    names = list("abcdef")
    frame = pd.DataFrame(D, index=names, columns=names)
    weights = pd.DataFrame(np.ones((6, 6)), index=names[::-1], columns=names[::-1])
    with pytest.raises(ValueError, match="labels of weights"):
        embed_matrix(frame, weights=weights)
    embedding = embed_matrix(frame, alpha=0.4)
    with pytest.raises(ValueError, match="columns of to_fitted are not the labels"):
        embedding.place(to_fitted=frame[names[::-1]])
    mds = FinslerMDS(alpha=0.4).fit(frame)
    with pytest.raises(ValueError, match="columns of from_fitted"):
        mds.transform(frame[:2], from_fitted=frame.T[names[::-1]][:2])


def test_numbers_as_labels_survive_a_csv_file(D, tmp_path):
    names = range(101, 107)
    pd.DataFrame(D, index=names, columns=names).to_csv(tmp_path / "t.csv")
    embedding = embed_matrix(pd.read_csv(tmp_path / "t.csv", index_col=0), alpha=0.4)
    assert embedding.distance(101, 102) == pytest.approx(D[0, 1], abs=1e-6)


def test_files_as_excel_writes_them(D, tmp_path):
    names = ["Müllheim", "Titisee, Neustadt", *"cdef"]
    frame = pd.DataFrame(D, index=names, columns=names)
    for encoding, told in (("utf-8-sig", None), ("cp1252", "cp1252")):
        frame.to_csv(tmp_path / "t.csv", sep=";", decimal=",", encoding=encoding)
        embedding = embed_matrix(tmp_path / "t.csv", alpha=0.4, encoding=told)
        assert embedding.distance(*names[:2]) == pytest.approx(D[0, 1], abs=1e-6)
    with pytest.raises(ValueError, match="give encoding=, perhaps 'cp1252'"):
        embed_matrix(tmp_path / "t.csv")
    with pytest.raises(TypeError, match=r"read_csv\(..., decimal=','\)"):
        embed_matrix(pd.read_csv(tmp_path / "t.csv", sep=";", index_col=0, encoding="cp1252"))
    frame.to_csv(tmp_path / "t.csv")
    assert embed_matrix(pd.read_csv(tmp_path / "t.csv"), alpha=0.4).labels == names  # from the first column


def test_numpy_labels_are_found_and_saved(D, tmp_path):
    embedding = embed_matrix(D, labels=np.array([5, 4, 3, 2, 1, 0]), alpha=0.4)
    again = Embedding.load(embedding.save(tmp_path / "m.npz"))
    assert embedding.distance(5, 4) == again.distance(5, 4) == pytest.approx(D[0, 1], abs=1e-6)
    assert embed_matrix(D, labels=np.array(list("abcdef")), alpha=0.4).distance("a", "b") > 0


def test_metric_params_count_for_euclidean_too():
    points = np.random.default_rng(0).normal(size=(12, 2))
    plain = FinslerMDS(metric="euclidean").fit(points)
    with pytest.raises(TypeError):
        FinslerMDS(metric="euclidean", metric_params={"nonsense": 1}).fit(points)
    assert plain.stress_ < 1e-10


def test_bounds_need_something_finite():
    D = np.where(np.eye(3) > 0, 0, np.inf)
    with pytest.raises(ValueError, match="far="):
        embed_matrix(D, missing="hinge")
    D[0, 1] = -np.inf
    with pytest.raises(ValueError, match="-inf from 0 to 1"):
        embed_matrix(D, missing="mask")


def test_a_pure_cycle_is_not_called_symmetric():
    assert embed_matrix([[0, 1, 2], [2, 0, 1], [1, 2, 0]]).alpha_source == "cyclic"


def test_a_failed_fit_changes_nothing(D):
    mds = FinslerMDS(alpha=0.4).fit(D)
    with pytest.raises(ValueError, match="Negative"):
        mds.fit(-D[:5, :5])
    assert mds.transform(D[:1]).shape == (1, 2)


def test_hops_do_not_pass_arcs_of_infinite_length():
    graph = csr_array(([1.0, np.inf], ([0, 1], [1, 2])), shape=(3, 3))
    np.testing.assert_array_equal(shortest_paths(graph, [0], method="bfs"), [[0, 1, np.inf]])


def test_placing_by_absurd_numbers_is_refused():
    X = np.arange(12.0).reshape(6, 2)
    with pytest.raises(ValueError, match="rescale"):
        place(X, 0.3, to_fitted=np.full((3, 6), 1e200))
    with pytest.raises(ValueError, match="X is not finite in row 2"):
        place(np.where(np.arange(12).reshape(6, 2) == 4, np.nan, X), 0.3, to_fitted=np.ones((1, 6)))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_components": 2.0}, "n_components must be a whole number"),
        ({"n_components": "2"}, "n_components must be a whole number"),
        ({"max_iter": None}, "max_iter must be a whole number"),
        ({"n_init": 1.5}, "n_init must be a whole number"),
        ({"n_jobs": "2"}, "n_jobs must be a whole number"),
        ({"tol": None}, "tol must be a number"),
        ({"alpha": None}, "alpha must be a number"),
        ({"alpha": [0.3]}, "alpha must be a number"),
    ],
)
def test_parameters_of_the_wrong_type(options, match):
    big = randers_distances(np.random.default_rng(0).normal(size=(450, 2)), drift=0.4)
    with pytest.raises((TypeError, ValueError), match=match):
        embed_matrix(big, **options)


def test_pandas_nullable_numbers_and_ragged_lists():
    frame = pd.DataFrame({"a": [0, 2], "b": [1, pd.NA]}, dtype="Int64", index=["a", "b"])
    assert embed_matrix(frame, missing="mask", alpha=0.5).distance("a", "b") == pytest.approx(1, abs=1e-6)
    with pytest.raises(ValueError, match="rectangular"):
        embed_matrix([[0, 1], [1]])


def test_a_matrix_is_read_from_a_file(D, tmp_path):
    names = [f"town {i}" for i in range(6)]
    pd.DataFrame(D, index=names, columns=names).to_csv(tmp_path / "times.csv")
    for path in (tmp_path / "times.csv", str(tmp_path / "times.csv")):
        embedding = embed_matrix(path, alpha=0.4)
        assert embedding.distance("town 0", "town 1") == pytest.approx(D[0, 1], abs=1e-6)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        embed_matrix(tmp_path / "nowhere.csv")


def test_a_page_must_be_called_html(D, tmp_path):
    with pytest.raises(ValueError, match=r"ends in .html, not 'map.png'"):
        embed_matrix(D, alpha=0.4).explore(tmp_path / "map.png")
    assert not list(tmp_path.iterdir())


def test_a_file_of_another_kind_is_not_called_pickled(tmp_path):
    (tmp_path / "map.csv").write_text("label,x1,height\nA,0,0\n")
    with pytest.raises(ValueError, match=r"maps are saved as .npz"):
        Embedding.load(tmp_path / "map.csv")


def test_sparse_points_are_refused_by_name():
    """Their length is ambiguous, which SciPy says in a TypeError."""
    with pytest.raises(ValueError, match="dense data is required"):
        embed_points(csr_array(np.eye(8)))


@pytest.mark.parametrize("lengths", [np.float64(3), np.ones((2, 3))])
def test_lengths_of_arcs_in_a_file_are_one_column(lengths, tmp_path):
    np.savez(tmp_path / "arcs.npz", src=[0, 1], dst=[1, 0], weight=lengths, n_nodes=2)
    with pytest.raises(ValueError, match=r"arcs.npz: the lengths of arcs are one number for each"):
        embed_graph(tmp_path / "arcs.npz")


def test_a_weight_that_overflows_is_refused_without_a_warning(D):
    W = np.ones(D.shape)
    W[0, 1] = 1.7e308
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="rescale the weights"):
            embed_matrix(D * 1e17, weights=W)


def test_lengths_of_arcs_whose_sum_overflows_are_refused_without_a_warning():
    arcs = [(0, 1, 1.7e308), (1, 2, 1.7e308), (2, 0, 1.0), (1, 0, 1.0), (2, 1, 1.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        with pytest.raises(ValueError, match="rescale"):
            embed_graph(arcs, method="sparse", n_pivots=2)
