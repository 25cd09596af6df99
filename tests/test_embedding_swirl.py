"""What a map with a swirl tells: distances, center, axis, kappa, words; placed points, files, pictures."""

import json

import numpy as np
import pytest

from finsler import Embedding, embed_matrix
from finsler.datasets import make_gyre
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances
from finsler.solvers.placement import place
from finsler.solvers.swirl.choice import turning


@pytest.fixture(scope="module")
def sea():
    return make_gyre(50)


@pytest.fixture(scope="module", params=[True, "geodesic"])
def gyre(request, sea):
    return embed_matrix(sea.times, swirl=request.param, labels=[f"p{i}" for i in range(50)])


def test_distances_and_facts(gyre, sea):
    d = gyre.distances()
    assert gyre.distance("p3", "p7") == pytest.approx(d[3, 7])
    assert gyre.distance("p7", "p3") == pytest.approx(d[7, 3])
    assert gyre.geodesic == (gyre.swirl_choice is not None and gyre.geodesic)
    np.testing.assert_allclose(gyre.both_ways([3, 7], [7, 3]), [[d[3, 7], d[7, 3]], [d[7, 3], d[3, 7]]])
    np.testing.assert_allclose(gyre.drift_at(gyre.center), 0, atol=1e-12)
    assert gyre.drift_at().shape == (50, 2)
    assert gyre.kappa > 0.2
    assert gyre.axis is None
    assert np.sqrt(((d - sea.times) ** 2).sum() / (sea.times**2).sum()) == pytest.approx(
        gyre.normalized_stress
    )
    assert gyre.asymmetry_shown().share > 0.9
    assert "costs" in gyre.summary()
    assert "counterclockwise" in gyre.summary()
    assert "kappa" in repr(gyre)


def test_heights_only_where_they_mean_something(gyre):
    assert not gyre.has_height
    with pytest.raises(InputError, match="swirl"):
        _ = gyre.height
    plain = embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]])
    assert plain.has_height
    assert plain.swirl is None
    assert plain.kappa is None
    assert plain.center is None
    assert plain.axis is None
    np.testing.assert_array_equal(plain.drift_at(), np.tile(plain.drift, (3, 1)))
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    leaning = embed_matrix(randers_distances(X, drift=0.4, swirl=0.01), swirl=True)
    assert leaning.has_height
    np.testing.assert_allclose(leaning.drift[:-1], 0, atol=1e-9)
    assert leaning.height.shape == (30,)


def test_frame_of_pandas(gyre):
    pytest.importorskip("pandas")
    assert list(gyre.to_frame().columns) == ["x1", "x2", "stress_share"]


def test_saved_and_loaded(gyre, tmp_path):
    again = Embedding.load(gyre.save(tmp_path / "map.npz"))
    np.testing.assert_array_equal(again.swirl, gyre.swirl)
    np.testing.assert_array_equal(again.distances(), gyre.distances())
    assert again.geodesic == gyre.geodesic
    assert again.swirl_choice == gyre.swirl_choice
    assert again.summary() == gyre.summary()


@pytest.mark.parametrize("geodesic", [False, True])
@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("ways", ["to", "from", "both"])
def test_exact_places_come_back(m, ways, geodesic):
    if geodesic and m == 3:
        pytest.skip("arcs are for the plane")
    rng = np.random.default_rng(m)
    X, new = rng.normal(size=(30, m)), rng.normal(size=(4, m))
    K = rng.normal(size=(m, m)) * 0.06
    metric = {"drift": rng.normal(size=m) * 0.1, "swirl": K - K.T, "geodesic": geodesic}
    to = randers_distances(new, X, **metric) if ways != "from" else None
    back = randers_distances(X, new, **metric).T if ways != "to" else None
    found = place(X, **metric, to_fitted=to, from_fitted=back)
    np.testing.assert_allclose(found.coordinates, new, atol=1e-6)


def test_new_points_and_the_page(gyre, sea, tmp_path):
    larger = gyre.with_points(to_fitted=sea.times[:2], from_fitted=sea.times[:, :2].T, labels=["a", "b"])
    assert larger.n_points == 52
    np.testing.assert_allclose(larger.distances()[:50, :50], gyre.distances())
    pytest.importorskip("matplotlib")
    ax = gyre.plot()
    assert "counterclockwise" in ax.get_title()
    pytest.importorskip("plotly")
    text = gyre.explore(tmp_path / "map.html").read_text(encoding="utf-8")
    record = json.loads(text.split('id="record"')[1].split(">", 1)[1].split("</script>")[0])
    assert record["swirl"] == gyre.swirl.tolist()
    assert record["geodesic"] == gyre.geodesic


def test_words():
    circle = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    J = np.array([[0.0, -1.0], [1.0, 0.0]])
    assert "counterclockwise costs 3 times" in turning(circle, np.zeros(2), 0.5 * J)[0]
    assert "center clockwise costs 3 times" in turning(circle, np.zeros(2), -0.5 * J)[0]
    assert "arcs" in turning(circle, np.zeros(2), 0.5 * J, True)[-1]
    assert "far outside" in turning(circle, np.array([0.0, 0.4]), 0.01 * J)[0]
    assert "does not turn" in turning(circle, np.array([0.0, 0.5]), 0 * J)[0]
    ball = np.vstack([np.eye(3), -np.eye(3)])
    K = np.zeros((3, 3))
    K[:2, :2] = 0.2 * J
    lines = turning(ball, np.array([0.0, 0.0, 0.1]), K)
    assert "axis" in lines[0]
    assert "up costs 1.22 times down" in lines[1]
