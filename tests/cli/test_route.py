"""``finsler route``."""

import csv
import json

import pytest

from helpers import done, mistake

EDGES = "from,to,minutes\ndam,mill,1\nmill,port,1\nport,bank,1.5\nbank,dam,1.5\n"
TOWNS = "label,lon,lat\ndam,179,1\nmill,179.5,2\nport,-179,3\nbank,178,2\n"


@pytest.fixture(scope="module")
def lanes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("lanes")
    (folder / "lanes.csv").write_text(EDGES)
    (folder / "towns.csv").write_text(TOWNS)
    done("embed", folder / "lanes.csv", "--attributes", folder / "towns.csv", "--out", folder / "map.npz")
    return folder


def test_both_ways_are_printed(lanes):
    lines = done("route", lanes / "map.npz", "dam", "port").stdout.splitlines()
    assert lines[0] == "dam -> port  2, 2 arcs: dam, mill, port"
    assert lines[1] == "port -> dam  3, 2 arcs: port, bank, dam"
    record = json.loads(done("route", lanes / "map.npz", "dam", "port", "--json").stdout)
    assert record["there"] == {"nodes": ["dam", "mill", "port"], "length": 2.0, "length_to_node": [0, 1, 2]}
    assert record["back"]["length"] == 3


def test_a_table_of_the_nodes(lanes, tmp_path):
    done("route", lanes / "map.npz", "dam", "port", "--out", tmp_path / "route.csv")
    rows = list(csv.DictReader((tmp_path / "route.csv").read_text().splitlines()))
    assert [(row["way"], row["node"], float(row["length"])) for row in rows] == [
        ("there", "dam", 0), ("there", "mill", 1), ("there", "port", 2),
        ("back", "port", 0), ("back", "bank", 1.5), ("back", "dam", 3),
    ]  # fmt: skip
    assert float(rows[1]["lon"]) == 179.5
    assert done("route", lanes / "map.npz", "dam", "port", "--out", "-").stdout.startswith(
        "way,step,node,length"
    )


def test_lines_for_a_geographic_program(lanes, tmp_path):
    done("route", lanes / "map.npz", "dam", "port", "--out", tmp_path / "route.geojson")
    there, back = json.loads((tmp_path / "route.geojson").read_text())["features"]
    assert there["properties"]["nodes"] == ["dam", "mill", "port"]
    assert back["properties"]["length"] == 3
    assert there["geometry"]["type"] == "MultiLineString"  # over the date line
    (first, second) = there["geometry"]["coordinates"]
    assert first[:2] == [[179, 1], [179.5, 2]]
    assert first[-1] == [180, pytest.approx(2 + 1 / 3)]
    assert second == [[-180, pytest.approx(2 + 1 / 3)], [-179, 3]]


def test_pictures(lanes, tmp_path):
    done(
        "route",
        lanes / "map.npz",
        "dam",
        "port",
        "--out",
        tmp_path / "route.png",
        "--out",
        tmp_path / "r.svg",
    )
    assert (tmp_path / "route.png").read_bytes().startswith(b"\x89PNG")
    text = (tmp_path / "r.svg").read_text()
    assert "Where the points are" in text
    done("plot", lanes / "map.npz", "--places", "--no-arcs", "--out", tmp_path / "where.png")
    assert (tmp_path / "where.png").is_file()


def test_places_from_another_table(lanes, tmp_path):
    done("embed", lanes / "lanes.csv", "--out", tmp_path / "bare.npz")
    said = mistake("route", tmp_path / "bare.npz", "dam", "port", "--out", tmp_path / "route.geojson")
    assert "lon and lat" in said
    given = ("--attributes", lanes / "towns.csv", "--out", tmp_path / "route.geojson")
    done("route", tmp_path / "bare.npz", "dam", "port", *given)
    assert len(json.loads((tmp_path / "route.geojson").read_text())["features"]) == 2


def test_mistakes(lanes, small, tmp_path):
    assert "'pier'" in mistake("route", lanes / "map.npz", "pier", "port")
    done("embed", small, "--out", tmp_path / "small.npz")
    assert "no graph or field is behind it" in mistake("route", tmp_path / "small.npz", "A", "B")
    assert "--out" in mistake("route", lanes / "map.npz", "dam", "port", "--out", tmp_path / "route.html")
    assert "does not know where" in mistake(
        "plot", tmp_path / "small.npz", "--places", "--out", tmp_path / "x.png"
    )
