"""Maps on the globe."""

import json

import numpy as np
import pytest

from finsler import embed_matrix
from finsler.exports import write_export

TOWNS = {
    "lon": [13.4, 2.35, 359.9],
    "lat": [52.5, 48.85, 51.5],
    "people": [3.6, 2.1, np.nan],
    "land": ["D", "F", ""],
}


@pytest.fixture(scope="module")
def towns():
    return embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["B", "P", "L"]).with_attributes(TOWNS)


def test_geojson(towns, tmp_path):
    record = json.loads(write_export(towns, tmp_path / "map.geojson").read_text(encoding="utf-8"))
    assert record["type"] == "FeatureCollection"
    first, _, last = record["features"]
    assert first["type"] == "Feature"
    assert first["geometry"] == {"type": "Point", "coordinates": [13.4, 52.5]}
    assert first["properties"]["label"] == "B"
    assert first["properties"]["height"] == towns.height[0]
    assert first["properties"]["stress_share"] == towns.stress_per_point[0]
    assert first["properties"]["people"] == 3.6
    assert last["geometry"]["coordinates"][0] == pytest.approx(-0.1)
    assert last["properties"]["people"] is None
    assert last["properties"]["land"] is None


def test_points_of_unknown_place_have_no_geometry(tmp_path):
    found = embed_matrix([[0, 3], [2, 0]], alpha=0.2).with_attributes(
        {"lon": [1.0, np.nan], "lat": [2.0, 3.0]}
    )
    record = json.loads(write_export(found, tmp_path / "map.geojson").read_text())
    assert [feature["geometry"] is None for feature in record["features"]] == [False, True]
    assert record["features"][0]["properties"]["label"] == 0


@pytest.mark.parametrize(
    "attributes", [{}, {"x": [1.0, 2.0], "y": [3.0, 4.0]}, {"lon": [1.0, 2.0], "lat": [100.0, 4.0]}]
)
def test_maps_without_longitude_and_latitude_are_refused(tmp_path, attributes):
    found = embed_matrix([[0, 3], [2, 0]], alpha=0.2).with_attributes(attributes)
    with pytest.raises(ValueError, match="lon and lat"):
        write_export(found, tmp_path / "map.geojson")
    assert not (tmp_path / "map.geojson").exists()


def test_frames_have_the_attributes(towns):
    frame = towns.to_frame()
    assert list(frame) == ["x1", "height", "stress_share", *TOWNS]
    assert frame.loc["P", "people"] == 2.1
    assert towns.to_frame(backend="polars").columns == ["label", "x1", "height", "stress_share", *TOWNS]


def test_geopandas(towns, tmp_path):
    geopandas = pytest.importorskip("geopandas")
    frame = towns.to_geopandas()
    assert frame.crs.to_epsg() == 4326
    assert frame.loc["B", "geometry"].x == 13.4
    np.testing.assert_array_equal(frame["height"], towns.height)
    again = geopandas.read_file(write_export(towns, tmp_path / "map.geojson"))
    np.testing.assert_allclose(again["height"], towns.height)
    assert again.geometry.iloc[1].y == 48.85
