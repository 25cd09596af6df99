"""Maps of cells: what AnnData objects hold becomes travel times, and the map is written back."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from scipy.stats import spearmanr

import finsler
from finsler.data.located import FASTEST
from finsler.datasets import make_differentiation
from finsler.errors import InputError
from finsler.geometry.randers import randers_norm, zermelo_metric
from finsler.graphs.cells import boat_time, cell_arcs, times_of
from finsler.graphs.digraph import assemble

anndata = pytest.importorskip("anndata")


def cosines_of(X, V, near):
    """Cosines of steps to neighbors with the velocity at their start, split by sign as scVelo keeps them."""
    C = np.zeros((len(X), len(X)))
    for i, row in enumerate(near):
        for j in row:
            u = X[j] - X[i]
            C[i, j] = u @ V[i] / (np.linalg.norm(u) * np.linalg.norm(V[i]))
    return csr_matrix(np.clip(C, 0, 1)), csr_matrix(np.clip(C, -1, 0))


def nearest(X, k):
    return np.argsort(np.linalg.norm(X[:, None] - X[None], axis=2), axis=1)[:, 1 : k + 1]


@pytest.fixture(scope="module")
def cells():
    return make_differentiation(220, random_state=1)


@pytest.fixture
def adata(cells):
    """All three sources, under the names that scVelo and CellRank give them."""
    near = nearest(cells.points, 15)
    positive, negative = cosines_of(cells.points, cells.current, near)
    joined = np.zeros((len(near), len(near)), dtype=bool)
    np.put_along_axis(joined, near, True, axis=1)
    both = [np.flatnonzero(row) for row in joined | joined.T]  # CellRank's neighbors are joined both ways
    weight = np.exp(4 * sum(part.toarray() for part in cosines_of(cells.points, cells.current, both)))
    weight[~(joined | joined.T)] = 0
    T = csr_matrix(weight / weight.sum(axis=1, keepdims=True))
    made = anndata.AnnData(
        obsm={"X_pca": cells.points.copy(), "velocity_pca": cells.current.copy()},
        obsp={"T_fwd": T},
        uns={"velocity_graph": positive, "velocity_graph_neg": negative},
    )
    made.obs_names = [f"cell {i}" for i in range(len(cells.time))]
    made.obs["clusters"] = cells.clusters
    made.obs["time"] = cells.time
    return made


@pytest.mark.parametrize("source", ["auto", "velocity_pca", "T_fwd", "velocity_graph"])
def test_stem_cells_are_on_top_and_fates_are_valleys(cells, adata, source):
    chart = finsler.cells.find_map(adata, source=source)
    assert chart.labels == list(adata.obs_names)
    assert spearmanr(chart.height, cells.time)[0] < -0.97
    late = {
        name: chart.height[(cells.clusters == name) & (cells.time > 3)]
        for name in ("fate A", "fate B", "fate C")
    }
    assert all(
        heights.max() < chart.height[cells.clusters == "progenitor"].min() for heights in late.values()
    )
    across = [np.median(chart.coordinates[(cells.clusters == name) & (cells.time > 3), 0]) for name in late]
    gaps = np.diff(np.sort(across))
    assert gaps.min() > 0.1 * np.ptp(chart.coordinates[:, 0])  # three valleys, not one
    stem, fate = int(np.argmin(cells.time)), int(np.argmax(cells.time))
    assert chart.distance(stem, fate) < chart.distance(fate, stem)


def test_velocities_turned_round_turn_the_map_over(cells, adata):
    adata.obsm["velocity_pca"] = -cells.current
    assert spearmanr(finsler.cells.find_map(adata).height, cells.time)[0] > 0.97


def test_the_first_source_that_is_there_is_taken_and_said(adata):
    chart = finsler.cells.find_map(adata)
    said = " ".join(chart.sentences())
    assert "obsm['velocity_pca']" in said
    assert "there are also obsp['T_fwd'], uns['velocity_graph']" in said
    assert "30 nearest" in said
    assert "speed was set to" in said
    del adata.obsm["velocity_pca"]
    said = " ".join(finsler.cells.find_map(adata).sentences())
    assert "told by the transition probabilities obsp['T_fwd']" in said
    assert "there is also uns['velocity_graph']" in said
    del adata.obsp["T_fwd"]
    assert "told by the cosines uns['velocity_graph']" in " ".join(finsler.cells.find_map(adata).sentences())
    del adata.uns["velocity_graph"]
    with pytest.raises(InputError, match=r"adata has none of obsm\['velocity_pca'\], obsp\['T_fwd'\]"):
        finsler.cells.find_map(adata)


def test_velocities_are_a_current_along_the_basis(cells, adata):
    graph = assemble(cell_arcs(adata, n_neighbors=12), None, "min")
    boat = np.linalg.norm(cells.current, axis=1).max() / FASTEST
    data = finsler.graphs.geodesic_distances(
        cells.points / boat, current=cells.current / boat, n_neighbors=12
    )
    assert np.allclose(finsler.graphs.shortest_paths(graph), data.matrix)
    twice = cell_arcs(adata, n_neighbors=12, speed=2 * boat)
    assert np.median(twice.lengths) < 0.6 * np.median(graph.matrix.data)


def test_time_of_a_boat_is_that_of_the_zermelo_metric():
    rng = np.random.default_rng(0)
    u = rng.normal(size=(50, 3))
    v = rng.normal(size=(50, 3))
    v *= 0.45 / np.linalg.norm(v, axis=1)[:, None]
    M, omega = zermelo_metric(v)
    length = np.linalg.norm(u, axis=1)
    cosine = (u * v).sum(axis=1) / (length * 0.45)
    found = boat_time(length, cosine, 0.45)
    assert np.allclose(found, randers_norm(u, M, omega))
    assert np.allclose(np.linalg.norm(u - v * found[:, None], axis=1), found)


def test_times_by_cosines_are_those_of_both_ends():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(12, 3))
    C = rng.uniform(-1, 1, (12, 12)) * (rng.uniform(size=(12, 12)) < 0.4)
    np.fill_diagonal(C, 0.7)
    found = times_of(X, csr_array(C)).toarray()
    for i in range(12):
        for j in range(12):
            said = []
            d = np.linalg.norm(X[i] - X[j])
            if i != j and C[i, j] != 0:
                said.append(boat_time(d, C[i, j]))
            if i != j and C[j, i] != 0:
                said.append(boat_time(d, -C[j, i]))
            assert np.isclose(found[i, j], np.mean(said) if said else 0.0), (i, j)


def test_times_by_transitions_follow_the_net_share():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 2))
    P = rng.uniform(size=(9, 9)) * (rng.uniform(size=(9, 9)) < 0.5)
    P[0, 1], P[1, 0], P[2, 3], P[3, 2] = 0.4, 0.0, 0.3, 0.3  # no way back; as much as there
    made = anndata.AnnData(obsm={"X_pca": X}, obsp={"T_fwd": csr_matrix(P)})
    for matrix in (csr_matrix(P), P):
        made.obsp["T_fwd"] = matrix
        arcs = cell_arcs(made)
        found = {(i, j): t for i, j, t in zip(arcs.rows, arcs.columns, arcs.lengths, strict=True)}
        for i in range(9):
            for j in range(9):
                if i == j or P[i, j] + P[j, i] == 0:
                    assert (i, j) not in found
                    continue
                share = (P[i, j] - P[j, i]) / (P[i, j] + P[j, i])
                assert np.isclose(found[i, j], boat_time(np.linalg.norm(X[i] - X[j]), share))
    one_way = ((P > 0) & (P.T == 0) & ~np.eye(9, dtype=bool)).sum()
    pairs = ((P + P.T > 0) & ~np.eye(9, dtype=bool)).sum() // 2
    assert f"{one_way} of {pairs} pairs have a transition one way only" in arcs.remarks[-1]
    assert np.isclose(found[0, 1] / np.linalg.norm(X[1] - X[0]), 1 / 1.6)  # with all of the current
    assert np.isclose(found[1, 0] / np.linalg.norm(X[1] - X[0]), 1 / 0.4)  # against all of it


def test_the_map_is_written_where_scanpy_looks_for_it(cells, adata):
    before = adata.copy()
    assert finsler.cells.embed(adata, key_added="hill", n_components=3) is None
    chart = finsler.cells.find_map(before, n_components=3)
    assert np.array_equal(adata.obsm["X_hill"], chart.coordinates)
    assert np.array_equal(adata.obs["hill_height"], chart.height)
    facts = adata.uns["hill"]
    assert facts["alpha"] == chart.alpha
    assert facts["normalized_stress"] == chart.normalized_stress
    assert facts["asymmetry_shown"] == chart.asymmetry_shown().share
    assert (facts["params"]["source"], facts["params"]["slot"]) == ("velocity_pca", "obsm")
    assert facts["summary"] == chart.summary()
    assert {*adata.obsm} - {*before.obsm} == {"X_hill"}
    assert {*adata.uns} - {*before.uns} == {"hill"}
    assert np.array_equal(adata.obsm["X_pca"], cells.points)
    assert np.array_equal(adata.obsm["velocity_pca"], cells.current)


def test_a_copy_leaves_the_object_as_it_was(adata):
    made = finsler.cells.embed(adata, copy=True)
    assert "X_finsler" in made.obsm
    assert "X_finsler" not in adata.obsm
    assert "finsler_height" not in adata.obs


def test_attributes_of_the_map_are_the_columns_of_obs(cells, adata):
    chart = finsler.cells.find_map(adata)
    assert chart.attributes["clusters"].tolist() == cells.clusters.tolist()
    assert np.array_equal(chart.attributes["time"], cells.time)


def test_cells_without_velocity_are_left_out_and_named(adata):
    adata.obsm["velocity_pca"][[3, 7]] = np.nan
    chart = finsler.cells.find_map(adata)
    assert chart.n_points == 218
    assert chart.provenance.left_out == ("cell 3", "cell 7")
    assert len(chart.attributes["clusters"]) == 218
    finsler.cells.embed(adata)
    lost = np.isnan(adata.obsm["X_finsler"]).all(axis=1)
    assert np.flatnonzero(lost).tolist() == [3, 7]
    assert np.array_equal(np.isnan(adata.obs["finsler_height"]), lost)
    assert np.array_equal(adata.obsm["X_finsler"][4], chart.coordinates[3])


def test_many_cells_make_a_sparse_map():
    many = make_differentiation(6000, n_genes=40, random_state=0)
    adata = anndata.AnnData(obsm={"X_pca": many.points, "velocity_pca": many.current})
    chart = finsler.cells.find_map(adata, n_neighbors=15)
    assert chart.provenance.method == "sparse"
    assert spearmanr(chart.height, many.time)[0] < -0.95
    assert chart.held_out is not None


@pytest.mark.parametrize(
    ("change", "options", "said"),
    [
        (lambda a: a.obsm.pop("X_pca"), {}, r"basis 'pca': there is no obsm\['X_pca'\]"),
        (
            lambda a: None,
            {"source": "T_bwd"},
            r"source 'T_bwd' is no key of obsm, obsp or uns; there are 'X_pca'",
        ),
        (lambda a: None, {"source": "T_fwd", "speed": 3.0}, "speed goes with velocities in obsm"),
        (lambda a: a.uns.update(velocity_graph=np.eye(5)), {"source": "velocity_graph"}, "for 220 cells"),
        (
            lambda a: a.uns.update(velocity_graph=5 * a.uns["velocity_graph"]),
            {"source": "velocity_graph"},
            "must hold cosines",
        ),
        (lambda a: a.obsp.update(T_fwd=-a.obsp["T_fwd"]), {"source": "T_fwd"}, "must hold probabilities"),
        (lambda a: a.obsp.update(T_fwd=a.obsp["T_fwd"] * np.nan), {"source": "T_fwd"}, "NaN or infinity"),
        (lambda a: a.obsm.update(velocity_pca=a.obsm["velocity_pca"][:, :3]), {}, "basis"),
        (lambda a: a.obsm.update(velocity_pca=0 * a.obsm["velocity_pca"]), {}, "not all zero"),
        (lambda a: setattr(a, "obs_names", ["x"] * 220), {}, "obs_names_make_unique"),
        (lambda a: None, {"n_neighbours": 3}, "has no option 'n_neighbours'"),
    ],
)
@pytest.mark.filterwarnings("ignore:Observation names are not unique")
def test_what_cannot_be_used_is_said_in_a_line(adata, change, options, said):
    change(adata)
    with pytest.raises(InputError, match=said):
        finsler.cells.embed(adata, **options)
    assert "X_finsler" not in adata.obsm


def test_what_is_no_anndata_is_refused():
    with pytest.raises(InputError, match="adata must be an AnnData object, got ndarray"):
        finsler.cells.embed(np.eye(3))


def test_scanpy_draws_the_map(adata):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other packages about each other
        sc = pytest.importorskip("scanpy", reason="scanpy is not installed: pip install scanpy")
        finsler.cells.embed(adata)
        ax = sc.pl.embedding(adata, basis="finsler", color="clusters", show=False)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("finsler1", "finsler2")
    drawn = np.vstack([part.get_offsets() for part in ax.collections if len(part.get_offsets())])
    assert {tuple(p) for p in drawn.round(6)} == {tuple(p) for p in adata.obsm["X_finsler"].round(6)}
