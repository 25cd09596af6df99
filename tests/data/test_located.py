"""Points under the names that people use; the speed of the boat; degrees are never taken for lengths unasked."""

import numpy as np
import pytest

from finsler import Embedding, embed_points
from finsler.data.columns import point_columns
from finsler.data.located import FASTEST, RADIUS, located
from finsler.data.tables import read_table
from finsler.errors import InputError

from helpers import done, mistake


def sea(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, 2)), rng.uniform(-0.3, 0.3, (n, 2))


def as_csv(path, header, *columns):
    rows = [
        header,
        *(",".join(map(str, row)) for row in np.column_stack([c.astype(object) for c in columns])),
    ]
    path.write_text("\n".join(rows))
    return path


@pytest.mark.parametrize(
    ("header", "coordinates", "vectors"),
    [
        (["x", "y", "u", "v"], [0, 1], [2, 3]),
        (["lat", "lon", "u", "v"], [0, 1], [3, 2]),
        (["Longitude", "Latitude", "v", "u", "depth"], [0, 1], [3, 2]),
        (["PC1", "PC2", "PC3", "V1", "V2", "V3"], [0, 1, 2], [3, 4, 5]),
        (["cell", "UMAP_1", "UMAP_2", "velocity_1", "velocity_2"], [1, 2], [3, 4]),
        (["x1", "x2", "v2", "v1"], [0, 1], [3, 2]),
    ],
)
def test_names_that_people_use(header, coordinates, vectors):
    found = point_columns(header)
    assert (found.coordinates, found.vectors, found.vector_kind) == (coordinates, vectors, "current")


def test_velocities_of_other_axes_are_none():
    assert point_columns(["x1", "x2", "v1"]).vector_kind is None
    assert point_columns(["lon", "lat"]).coordinates == [0, 1]
    assert point_columns(["PC1", "PC2", "v"]).vector_kind is None


@pytest.mark.parametrize("header", ["x,y,u,v", "PC1,PC2,V1,V2"])
def test_the_same_map_by_every_way_in(tmp_path, header):
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    X, V = sea()
    known = embed_points(X, current=V, alpha=0.2)
    path = as_csv(tmp_path / "sea.csv", header, X, V)
    names = header.split(",")
    values = dict(zip(names, np.column_stack([X, V]).T, strict=True))
    for given in (path, pl.DataFrame(values), pd.DataFrame(values)):
        np.testing.assert_allclose(embed_points(given, alpha=0.2).coordinates, known.coordinates, atol=1e-7)
    labeled = pd.DataFrame(values, index=[f"p{i}" for i in range(40)])
    assert embed_points(labeled, alpha=0.2).labels[3] == "p3"


def test_points_that_lack_a_number_are_left_out_and_named(tmp_path):
    X, V = sea()
    names = np.array([f"p{i}" for i in range(40)])
    gaps = V.copy()
    gaps[7, 1] = gaps[9, 0] = np.nan
    path = as_csv(tmp_path / "sea.csv", "name,x,y,u,v,depth", names, X, gaps, np.arange(40))
    table = read_table(path)
    assert table.provenance.left_out == ("p7", "p9")
    assert len(table.labels) == len(table.attributes["depth"]) == 38
    assert table.attributes["depth"][7] == 8
    kept = np.delete(np.arange(40), [7, 9])
    known = embed_points(X[kept], current=V[kept], alpha=0.2)
    found = embed_points(path, alpha=0.2)
    assert found.provenance.left_out == ("p7", "p9")
    np.testing.assert_allclose(found.coordinates, known.coordinates, atol=1e-7)
    result = done("embed", path, "--alpha", "0.2", "--color", "depth", "--out", tmp_path / "map.npz")
    assert "2 points were left out: 'p7', 'p9'" in result.stderr
    assert Embedding.load(tmp_path / "map.npz").labels == found.labels
    plain = as_csv(tmp_path / "plain.csv", "x,y,u,v", X, gaps)
    assert read_table(plain).provenance.left_out == ("row 9", "row 11")
    nothing = as_csv(tmp_path / "none.csv", "x,y,u,v", X, np.full((40, 2), np.nan))
    with pytest.raises(InputError, match="no point has all its coordinates"):
        read_table(nothing)


def test_the_speed_of_the_boat_gives_times():
    """A lane of 100 in a current of 1: a boat of speed 3 needs 100 / 4 down and 100 / 2 up."""
    lane = np.linspace(0, 100, 11)[:, None]
    found = embed_points(lane, current=[1.0], speed=3, n_neighbors=2, n_components=2)
    assert found.distance(0, 10) == pytest.approx(25, rel=1e-3)
    assert found.distance(10, 0) == pytest.approx(50, rel=1e-3)
    with pytest.raises(InputError, match="speed must be a number above that of the fastest vector, 1"):
        embed_points(lane, current=[1.0], speed=0.5)
    with pytest.raises(InputError, match="speed goes with a current"):
        embed_points(lane, speed=2)
    with pytest.raises(InputError, match="speed goes with a current, not with a drift"):
        embed_points(lane, drift=[0.5], speed=2)
    with pytest.raises(InputError, match="speed"):
        embed_points(lane, current=lambda x: x, speed=2)


def test_speed_auto_is_documented_and_said():
    X, V = sea()
    fastest = np.linalg.norm(V, axis=1).max()
    found = located(X, V, speed="auto")
    assert np.linalg.norm(found.vectors, axis=1).max() == pytest.approx(FASTEST)
    np.testing.assert_allclose(found.points, X * FASTEST / fastest)
    result = embed_points(X, current=1000 * V, speed="auto", alpha=0.2)
    assert any("60 %" in sentence for sentence in result.sentences())
    with pytest.raises(InputError, match="speed auto needs vectors"):
        located(X, 0 * V, speed="auto")


def test_degrees_ask_what_they_are(tmp_path):
    X, V = sea()
    path = as_csv(tmp_path / "sea.csv", "lon,lat,u,v", 10 * X, V)
    with pytest.raises(InputError, match=r"degrees.*coordinates.*sphere"):
        embed_points(path)
    assert "--coordinates" in mistake("embed", path, "--out", "-")
    pd = pytest.importorskip("pandas")
    with pytest.raises(InputError, match="degrees"):
        embed_points(pd.DataFrame(X, columns=["lon", "lat"]), current=V)
    flat = embed_points(path, coordinates="plane", alpha=0.2)
    np.testing.assert_allclose(
        flat.coordinates, embed_points(10 * X, current=V, alpha=0.2).coordinates, atol=1e-6
    )
    globe = embed_points(path, coordinates="sphere", speed=2, alpha=0.2)
    assert any("sphere" in sentence for sentence in globe.sentences())
    options = ["--coordinates", "sphere", "--speed", "2", "--alpha", "0.2", "--out", tmp_path / "map.npz"]
    done("embed", path, *options)
    np.testing.assert_allclose(
        Embedding.load(tmp_path / "map.npz").coordinates,
        globe.coordinates,
        rtol=1e-6,
        atol=1e-3 * RADIUS * 1e-6,
    )


def test_places_and_vectors_on_the_sphere():
    degrees = np.array([[0.0, 0.0], [90.0, 0.0], [30.0, 60.0], [0.0, 90.0]])
    found = located(degrees, np.tile([3.0, 4.0], (4, 1)), coordinates="sphere")
    np.testing.assert_allclose(np.linalg.norm(found.points, axis=1), RADIUS)
    np.testing.assert_allclose(np.linalg.norm(found.vectors, axis=1), 5)
    np.testing.assert_allclose((found.points * found.vectors).sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(found.vectors[0], [0, 3, 4])
    swapped = located(
        degrees[:, ::-1], np.tile([4.0, 3.0], (4, 1)), names=["lat", "lon"], coordinates="sphere"
    )
    np.testing.assert_allclose(swapped.vectors, found.vectors)
    # Half a degree to the north, by a boat of 10 m/s in a current of 4 m/s that way.
    way = located(
        np.array([[5.0, 50.0], [5.0, 50.5]]), np.array([[0.0, 4.0]] * 2), coordinates="sphere", speed=10
    )
    seconds = np.linalg.norm(np.diff(way.points, axis=0)) / (1 + np.linalg.norm(way.vectors[0]))
    assert seconds == pytest.approx(np.radians(0.5) * RADIUS / 14, rel=1e-5)
    with pytest.raises(InputError, match="latitude 100"):
        located(np.array([[0.0, 100.0]]), None, coordinates="sphere")
    with pytest.raises(InputError, match="coordinates sphere takes longitude and latitude"):
        located(np.zeros((2, 3)), None, coordinates="sphere")


def test_infinite_coordinates_are_refused(tmp_path):
    path = as_csv(tmp_path / "sea.csv", "x,y,u,v", np.array([[0.0, np.inf]]), np.zeros((1, 2)))
    with pytest.raises(InputError, match='row 2, column "y"'):
        read_table(path)
