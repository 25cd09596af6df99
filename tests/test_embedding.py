import json
import pickle
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from finsler import Embedding, embed_graph, embed_matrix
from finsler.data.provenance import Provenance
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances

matplotlib.use("agg")


@pytest.fixture
def embedding():
    X = np.random.default_rng(0).normal(size=(8, 3))
    labels = ["JFK", "LAX", 3, 2, "<b>", "", "ü", "x y"]
    return embed_matrix(randers_distances(X, drift=0.3), n_components=3, alpha=0.3, labels=labels)


def test_distance_by_label_and_by_number(embedding):
    d = embedding.distances()
    assert embedding.distance("JFK", "LAX") == pytest.approx(d[0, 1], rel=1e-12)
    assert embedding.distance(3, "JFK") == pytest.approx(d[2, 0], rel=1e-12)
    assert embedding.distance(np.int64(3), np.str_("JFK")) == embedding.distance(3, "JFK")
    with pytest.raises(KeyError, match="No point is labeled 0"):  # numbers are labels here, so 0 is none
        embedding.distance(0, "LAX")
    plain = replace(embedding, labels=list("abcdefgh"))
    assert plain.distance(0, "b") == plain.distance("a", "b") == pytest.approx(d[0, 1], rel=1e-12)
    assert plain.distance(-1, 0) == pytest.approx(d[7, 0], rel=1e-12)
    twins = replace(embedding, labels=list("aabcdefg"))
    with pytest.raises(KeyError, match="2 points are labeled 'a': positions 0, 1"):
        twins.distance("a", "b")


def test_an_unknown_point_gets_a_hint(embedding):
    with pytest.raises(KeyError, match=r"No point is labeled 'JFX'. Did you mean 'JFK'"):
        embedding.distance("JFX", "LAX")
    towns = replace(embedding, labels=["Titisee, Neustadt", *"bcdefgh"])
    with pytest.raises(KeyError, match="Did you mean 'Titisee, Neustadt'"):
        towns.distance("titisee", "b")
    with pytest.raises(KeyError, match="points 0 to 7"):
        replace(embedding, labels=None).distance(99, 0)
    with pytest.raises(KeyError):
        embedding.distance(True, 0)


def test_frame(embedding):
    frame = embedding.to_frame()
    assert list(frame.columns) == ["x1", "x2", "height", "stress_share"]
    assert list(frame.index) == embedding.labels
    np.testing.assert_array_equal(frame["height"], embedding.height)
    assert isinstance(frame, pd.DataFrame)


def test_summary_says_what_matters(embedding):
    text = embedding.summary()
    assert "8 points in 3 dimensions, alpha = 0.3" in text
    assert "straight up costs 1.857 times" in text
    assert "converged" in text
    assert "8 points in 3-D" in repr(embedding)


def test_a_learned_map_has_no_stress_to_boast_of(embedding):
    learned = replace(embedding, stress=None, normalized_stress=None)
    assert "stress" not in learned.summary()
    assert "stress" not in repr(learned)
    assert "converged" in learned.summary()
    assert "normalized stress" in embedding.summary()


def test_save_and_load(embedding, tmp_path):
    path = embedding.save(tmp_path / "map.npz")
    back = Embedding.load(path)
    np.testing.assert_array_equal(back.coordinates, embedding.coordinates)
    np.testing.assert_array_equal(back.drift, embedding.drift)
    np.testing.assert_array_equal(back.stress_per_point, embedding.stress_per_point)
    for name in ("labels", "stress", "normalized_stress", "n_iter", "status", "message"):
        assert getattr(back, name) == getattr(embedding, name)
    np.testing.assert_array_equal(back.data.matrix, embedding.data.matrix)
    assert back.data.weights is None
    assert Embedding.load(embedding.save(path, with_data=False)).data is None
    assert [p.name for p in tmp_path.iterdir()] == ["map.npz"]


def test_saving_keeps_the_old_file_when_it_fails(embedding, tmp_path):
    path = embedding.save(tmp_path / "map.npz")
    before = path.read_bytes()
    odd = embed_matrix([[0, 1], [2, 0]], alpha=0.3, labels=[("a", 1), ("b", 2)])
    with pytest.raises(TypeError, match="cannot be saved"):
        odd.save(path)
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["map.npz"]
    with pytest.raises(FileNotFoundError, match="no folder"):
        embedding.save(tmp_path / "nowhere" / "map.npz")


def test_numpy_labels_are_saved_as_plain_ones(tmp_path):
    embedding = embed_matrix([[0, 1], [2, 0]], alpha=0.3, labels=np.array([10, 20]))
    assert Embedding.load(embedding.save(tmp_path / "m.npz")).labels == [10, 20]


def test_foreign_files_are_refused_and_never_unpickled(embedding, tmp_path):
    text = tmp_path / "text.npz"
    text.write_text("not an archive")
    with pytest.raises(ValueError, match="not a file that finsler saved"):
        Embedding.load(text)
    evil = tmp_path / "evil.npz"
    np.savez(evil, json=np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(ValueError, match="not a file that finsler saved"):
        Embedding.load(evil)
    raw = tmp_path / "raw.npz"
    raw.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(ValueError, match="not a file"):
        Embedding.load(raw)
    with pytest.raises(FileNotFoundError):
        Embedding.load(tmp_path / "absent.npz")
    for change, match in (({"format": 99}, "newer finsler"), ({"kind": "model"}, "holds a saved model")):
        header = {"kind": "embedding", "format": 1, **change}
        other = tmp_path / "other.npz"
        np.savez(other, json=np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
        with pytest.raises(ValueError, match=match):
            Embedding.load(other)
    part = tmp_path / "part.npz"
    np.savez(part, json=np.frombuffer(b'{"kind": "embedding", "format": 1}', dtype=np.uint8))
    with pytest.raises(ValueError, match=r"part.*coordinates"):
        Embedding.load(part)


def test_placing_new_points(embedding):
    d = embedding.distances()
    placed = embedding.place(to_fitted=d[:2], from_fitted=d[:, :2].T)
    np.testing.assert_allclose(placed, embedding.coordinates[:2], atol=1e-8)


# --- how much of the asymmetry it shows -----------------------------------------------------------------------


def noisy_map(n, **options):
    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(n, 2)), drift=0.4) * rng.uniform(0.9, 1.1, size=(n, n))
    return embed_matrix(D, alpha=0.4, max_iter=5, tol=1e-2, **options)


def test_the_asymmetry_shown_is_that_of_all_pairs_of_a_small_map(tmp_path):
    found = noisy_map(40)
    shown = found.asymmetry_shown()
    D, d = found.data.matrix, found.distances()
    A, a = (D - D.T) / 2, (d - d.T) / 2
    assert shown.share == pytest.approx(1 - ((A - a) ** 2).sum() / (A**2).sum())
    assert shown.n_rows is None
    assert shown.share <= shown.available <= 1
    assert f"{100 * shown.share:.3g} %" in found.summary()


def test_beyond_some_thousand_points_it_is_said_from_a_sample(monkeypatch):
    """Above 1,000 points nothing was said."""
    monkeypatch.setattr("finsler.solvers.scaled_map.ALL_PAIRS", 100)
    monkeypatch.setattr("finsler.solvers.scaled_map.ROWS", 60)
    few, many = noisy_map(100).asymmetry_shown(), noisy_map(300)
    assert few.n_rows is None
    shown = many.asymmetry_shown()
    assert shown.n_rows == 60
    assert 0 < shown.error < 0.05
    assert "from 60 rows" in many.summary()
    monkeypatch.undo()
    whole = replace(many).asymmetry_shown()
    assert abs(whole.share - shown.share) < 4 * shown.error


def test_what_is_shown_survives_without_the_data(tmp_path, monkeypatch):
    """Above 1,000 points the data were left out of the file without a word."""
    monkeypatch.setattr("finsler.map_file.WITH_DATA", 20)
    found = noisy_map(40)
    with pytest.warns(UserWarning, match="data of 40 points are not in"):
        path = found.save(tmp_path / "map.npz")
    back = Embedding.load(path)
    assert back.data is None
    assert back.asymmetry_shown() == pytest.approx(found.asymmetry_shown(), nan_ok=True)
    assert "not kept in the file" in back.summary()
    kept = Embedding.load(found.save(path, with_data=True))
    assert kept.data is not None
    assert "not kept" not in kept.summary()
    assert Embedding.load(found.save(path, with_data=False)).data_dropped  # asked for, so there is no warning


def test_facts_survive_saving(embedding, tmp_path):
    facts = Provenance("m.csv", "matrix", {"value": "hours"}, n_missing=3, left_out=("Z", ("a", 1)))
    found = replace(embedding, provenance=facts, alpha_source="unclear")
    back = Embedding.load(found.save(tmp_path / "map.npz"))
    assert back.alpha_source == "unclear"
    assert back.alpha_identifiable is False
    assert back.provenance.columns == {"value": "hours"}
    assert back.provenance.n_missing == 3
    assert len(back.provenance.left_out) == 2
    assert "2 points were left out" in back.summary()
    assert "hardly determine alpha" in back.summary()


def test_a_sparse_map_is_saved_with_its_scores(tmp_path):
    found = embed_graph(make_city(400).graph, method="sparse", n_pivots=10, random_state=0)
    back = Embedding.load(found.save(tmp_path / "map.npz"))
    assert back.held_out == found.held_out
    assert back.asymmetry_shown() == found.asymmetry_shown()
    assert back.summary() == found.summary()


# --- new points -----------------------------------------------------------------------------------------------


def test_a_map_with_new_points(embedding, tmp_path):
    d = embedding.distances()
    new = pd.DataFrame(1.2 * d[:2], index=["p", "q"], columns=embedding.labels)
    larger = embedding.with_points(to_fitted=new)
    assert larger.labels == [*embedding.labels, "p", "q"]
    np.testing.assert_array_equal(larger.coordinates[:8], embedding.coordinates)
    np.testing.assert_array_equal(larger.coordinates[8:], embedding.place(to_fitted=new))
    assert (larger.misfit > 0).all()
    assert larger.stress_per_point[8:].tolist() == [0, 0]
    assert "2 points were placed into it later" in larger.summary()
    assert larger.asymmetry_shown() == embedding.asymmetry_shown()
    again = larger.with_points(to_fitted=larger.distances()[:1])
    assert again.labels[-1] == "new 1"
    assert again.misfit.shape == (3,)
    back = Embedding.load(again.save(tmp_path / "map.npz"))
    np.testing.assert_array_equal(back.misfit, again.misfit)
    for labels, match in ((["JFK"], "is a point of the map"), (["a", "b"], "labels must have one entry")):
        with pytest.raises(InputError, match=match):
            embedding.with_points(to_fitted=d[:1], labels=labels)
    with pytest.raises(InputError, match="same new points"):
        embedding.with_points(to_fitted=new, from_fitted=new.set_axis(["p", "r"]))


def test_attributes_and_the_network_survive_saving(tmp_path):
    roads = four_places()
    found = embed_graph(roads, nodes=["c", "a", "d"]).with_attributes(
        {"kind": ["x", None, "y"], "size": [1, None, 3]}
    )
    back = Embedding.load(found.save(tmp_path / "map.npz"))
    assert list(back.attributes) == ["kind", "size"]
    assert back.attributes["kind"].tolist() == ["x", "", "y"]
    np.testing.assert_array_equal(back.attributes["size"], [1, np.nan, 3])
    assert back.network.nodes.tolist() == [2, 0, 3]
    assert back.network.graph.labels == ["a", "b", "c", "d"]
    assert (back.network.graph.matrix != found.network.graph.matrix).nnz == 0
    assert Embedding.load(found.save(tmp_path / "map.npz", with_data=False)).network is None


def test_a_damaged_network_is_refused(tmp_path):
    found = embed_graph(four_places())
    found.save(tmp_path / "map.npz")
    arrays = dict(np.load(tmp_path / "map.npz"))
    for name, wrong in [
        ("network_nodes", np.array([0, 1, 2, 9])),
        ("network_indices", np.array([7] * len(arrays["network_indices"]))),
        ("network_indptr", arrays["network_indptr"][::-1].copy()),
        ("network_lengths", -arrays["network_lengths"]),
        ("network_lengths", arrays["network_lengths"][:-1]),
    ]:
        np.savez(tmp_path / "bad.npz", **{**arrays, name: wrong})
        with pytest.raises(InputError, match="network"):
            Embedding.load(tmp_path / "bad.npz")


def four_places():
    """Arcs of four places, each reached from each."""
    return [
        ("a", "b", 1.0),
        ("b", "c", 2.0),
        ("c", "d", 1.5),
        ("d", "a", 3.0),
        ("c", "a", 2.5),
        ("b", "a", 1.0),
    ]


def test_new_points_have_no_attributes(tmp_path):
    found = embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]]).with_attributes(
        {"n": [1, 2, 3], "kind": list("xyz")}
    )
    larger = found.with_points(to_fitted=[[2, 2, 3]])
    np.testing.assert_array_equal(larger.attributes["n"], [1, 2, 3, np.nan])
    assert larger.attributes["kind"].tolist() == ["x", "y", "z", ""]
