import json
import pickle
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from finsler import Embedding, embed_matrix
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
    with pytest.raises(ValueError, match="not a complete saved map"):
        Embedding.load(part)


def test_placing_new_points(embedding):
    d = embedding.distances()
    placed = embedding.place(to_fitted=d[:2], from_fitted=d[:, :2].T)
    np.testing.assert_allclose(placed, embedding.coordinates[:2], atol=1e-8)
