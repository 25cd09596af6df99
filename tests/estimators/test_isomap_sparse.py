"""Points too many for all pairs: the same keywords, a map by pivots, and new points placed by these."""

import numpy as np
import pytest

from finsler import Embedding, FinslerIsomap, embed_points
from finsler.datasets import make_sea
from finsler.errors import InputError
from finsler.graphs.distances import sample_rows, sampled_scores


@pytest.fixture(scope="module")
def sea():
    return make_sea(900, random_state=0)


def held_out(found):
    """Stress on rows that neither map was made from in particular."""
    rows = sample_rows(found.network.graph, 60, random_state=1, verbose=False)
    return sampled_scores(found.coordinates, found.drift, rows).normalized_stress.value


def test_a_sparse_map_fits_nearly_as_well_as_a_dense_one(sea):
    dense, sparse = (
        embed_points(sea.points, current=sea.current, method=method, random_state=0)
        for method in ("dense", "sparse")
    )
    assert held_out(sparse) < 1.1 * held_out(dense)
    assert (dense.provenance.method, sparse.provenance.method) == ("dense", "sparse")
    assert (dense.provenance.n_pivots, sparse.provenance.n_pivots) == (0, 100)
    assert sparse.data is None
    assert sparse.held_out.n_sources == 20
    assert sparse.provenance.kind == dense.provenance.kind == "points"
    assert np.corrcoef(dense.height, sparse.height)[0, 1] > 0.98


@pytest.mark.slow
def test_held_out_stress_at_5000_points():
    sea = make_sea(5000, random_state=0)
    dense, sparse = (
        embed_points(sea.points, current=sea.current, method=method, random_state=0)
        for method in ("dense", "sparse")
    )
    assert held_out(sparse) < 1.1 * held_out(dense)


def test_the_method_is_chosen_by_size(sea, monkeypatch):
    assert embed_points(sea.points[:300], solver="classical").provenance.method == "dense"
    monkeypatch.setattr("finsler.graphs.distances.DENSE_NODES", 200)
    found = embed_points(sea.points[:300], current=sea.current[:300], random_state=0, n_pivots=30)
    assert (found.provenance.method, found.provenance.n_pivots, found.provenance.chosen) == (
        "sparse",
        30,
        True,
    )
    assert "A sparse map by arcs and 30 pivots, chosen for the number of nodes." in found.sentences()
    assert embed_points(sea.points[:300], solver="classical").provenance.method == "dense"


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"method": "sparse", "weights": np.ones((900, 900))}, "weights goes with method='dense'"),
        ({"method": "sparse", "solver": "classical"}, "solver='classical' goes with method='dense'"),
        ({"method": "dense", "n_pivots": 5}, "n_pivots goes with method='sparse'"),
        ({"method": "some"}, "method must be"),
        ({"method": "sparse", "n_pivots": 1}, "n_pivots must be"),
        ({"method": "sparse", "max_iter": -1}, "max_iter must be"),
    ],
)
def test_what_a_method_does_not_support_is_refused_by_method(sea, options, word):
    with pytest.raises(InputError, match=word):
        embed_points(sea.points, current=sea.current, **options)


def test_attributes_labels_and_the_graph_go_with_a_sparse_map(sea, tmp_path):
    labels = [f"buoy {i}" for i in range(900)]
    found = embed_points(sea.points, current=sea.current, labels=labels, method="sparse", random_state=0)
    assert found.labels == labels
    np.testing.assert_array_equal(found.attributes["x"], sea.points[:, 0])
    again = Embedding.load(found.save(tmp_path / "map.npz"))
    route = again.network.graph.route("buoy 0", "buoy 1")
    D = FinslerIsomap(solver="classical").fit(sea.points, current=sea.current).dist_matrix_
    assert route.length == pytest.approx(D[0, 1])
    assert route.back.length == pytest.approx(D[1, 0])


def test_points_in_pieces_keep_the_largest(sea):
    points = np.vstack([sea.points, sea.points[:40] + 1000])
    with pytest.raises(InputError, match="in 2 pieces"):
        embed_points(points, method="sparse")
    isomap = FinslerIsomap(unreachable="largest", method="sparse", random_state=0)
    with pytest.warns(UserWarning, match="40 points outside the largest"):
        rows = isomap.fit_transform(points)
    assert np.isnan(rows[900:]).all()
    assert isomap.result_.provenance.left_out == tuple(range(900, 940))
    assert isomap.result_.labels == list(range(900))


def test_new_points_are_placed_by_the_pivots(sea):
    isomap = FinslerIsomap(3, method="sparse", random_state=0).fit(sea.points, current=sea.current)
    assert not hasattr(isomap, "dist_matrix_")
    placed = isomap.transform(sea.points[:50], current=sea.current[:50])
    spread = np.linalg.norm(isomap.embedding_.std(axis=0))
    assert np.linalg.norm(placed - isomap.embedding_[:50], axis=1).mean() < 0.05 * spread
    isomap.set_params(method="dense").fit(sea.points[:100], current=sea.current[:100])
    assert not hasattr(isomap, "pivot_distances_")
    assert isomap.dist_matrix_.shape == (100, 100)


def test_limits_of_iterations_are_those_of_the_method_unless_given(sea):
    usual = FinslerIsomap(method="sparse", random_state=0).fit(sea.points, current=sea.current)
    fine = FinslerIsomap(method="sparse", random_state=0, tol=1e-9, max_iter=400).fit(
        sea.points, current=sea.current
    )
    assert "tol = 0.0003" in usual.message_
    assert fine.n_iter_ > usual.n_iter_
