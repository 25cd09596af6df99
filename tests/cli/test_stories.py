"""From the files that people hold to what they need, each in at most three commands."""

import csv
import json

import numpy as np
import pytest

from finsler.geometry.randers import randers_distances

from helpers import done

LABELS = ["Amsterdam", "Berlin", "Cairo", "Delhi", "Essen", "Faro", "Genoa", "Havana"]


@pytest.fixture
def table():
    """Hours between places, up costs more; and where the places are."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(8, 2))
    D = randers_distances(X, drift=0.3) * rng.uniform(0.95, 1.05, (8, 8))
    np.fill_diagonal(D, 0)
    return D.round(3), rng.uniform([-20, 30], [40, 60], (8, 2)).round(4)


def test_a_table_of_osrm_becomes_a_page_with_the_worst_pairs(table, tmp_path):
    D, places = table
    stops = [
        {"name": name, "location": at, "hint": "x", "distance": 1.2}
        for name, at in zip(LABELS, places.tolist(), strict=True)
    ]
    durations = [[None if (i, j) == (2, 5) else D[i, j] for j in range(8)] for i in range(8)]
    answer = {"code": "Ok", "durations": durations, "sources": stops, "destinations": stops}
    (tmp_path / "osrm.json").write_text(json.dumps(answer))
    page, worst = tmp_path / "map.html", tmp_path / "worst.csv"
    said = done("embed", tmp_path / "osrm.json", "--missing", "mask", "--out", page, "--worst", worst).stderr
    assert "1 ordered pair without" in said
    rows = list(csv.DictReader(worst.read_text().splitlines()))
    assert {row["source"] for row in rows} <= {*LABELS}
    assert ("Cairo", "Faro") not in {(row["source"], row["target"]) for row in rows}
    shares = [float(row["share"]) for row in rows]
    assert shares == sorted(shares, reverse=True)
    text = page.read_text(encoding="utf-8")
    assert all(name in text for name in LABELS)
    assert '"worst"' in text


def test_a_sheet_of_excel_becomes_geojson(table, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    D, places = table
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "hours"
    for row in [[None, *LABELS], *([name, *values] for name, values in zip(LABELS, D.tolist(), strict=True))]:
        sheet.append(row)
    towns = book.create_sheet("towns")
    for row in [
        ["town", "lon", "lat"],
        *([name, *at] for name, at in zip(LABELS, places.tolist(), strict=True)),
    ]:
        towns.append(row)
    book.save(tmp_path / "hours.xlsx")
    lines = [
        "town,lon,lat",
        *(f"{name},{x},{y}" for name, (x, y) in zip(LABELS, places.tolist(), strict=True)),
    ]
    (tmp_path / "towns.csv").write_text("\n".join(lines))
    out = tmp_path / "map.geojson"
    done(
        "embed",
        tmp_path / "hours.xlsx",
        "--sheet",
        "hours",
        "--attributes",
        tmp_path / "towns.csv",
        "--out",
        out,
    )
    features = json.loads(out.read_text())["features"]
    assert [feature["properties"]["label"] for feature in features] == LABELS
    assert [feature["geometry"]["coordinates"] for feature in features] == places.tolist()
    assert all(isinstance(feature["properties"]["height"], float) for feature in features)


def test_graphml_becomes_gexf_that_networkx_opens(tmp_path):
    networkx = pytest.importorskip("networkx")
    G = networkx.gn_graph(40, seed=2, create_using=networkx.DiGraph)
    G.add_edges_from([(0, k) for k in range(3, 40, 5)])
    networkx.set_node_attributes(G, {node: f"dept {node % 3}" for node in G}, "dept")
    G = networkx.relabel_nodes(G, {node: f"n{node}" for node in G})
    networkx.write_graphml(G, tmp_path / "calls.graphml")
    out = tmp_path / "calls.gexf"
    done("embed", tmp_path / "calls.graphml", "--unreachable", "hinge", "--alpha", "0.3", "--out", out)
    H = networkx.read_gexf(out)
    assert H.is_directed()
    assert {(H.nodes[a]["label"], H.nodes[b]["label"]) for a, b in H.edges} == {*G.edges}
    for _, about in H.nodes(data=True):
        assert about["dept"] == G.nodes[about["label"]]["dept"]
    nodes = [about for _, about in H.nodes(data=True)]
    height, drawn = ([about["height"] for about in nodes], [about["viz"]["position"]["y"] for about in nodes])
    assert np.corrcoef(height, drawn)[0, 1] == pytest.approx(1.0)  # drawn in units of its own, up is up


def test_a_long_table_of_flows_becomes_a_page(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{year};{a};{b};{int(rng.integers(5, 900))}"
        for year in (2019, 2020)
        for a in LABELS
        for b in LABELS
        if a != b
    ]
    (tmp_path / "flows.csv").write_text("year;origin;destination;trips\n" + "\n".join(rows))
    page = tmp_path / "flows.html"
    said = done(
        "embed", tmp_path / "flows.csv", "--similarity", "gravity", "--where", "year=2020", "--out", page
    ).stderr
    assert "'gravity'" in said
    assert all(name in page.read_text(encoding="utf-8") for name in LABELS)


def test_points_in_a_current_become_a_route_there_and_back(tmp_path):
    x, y = (axis.ravel() for axis in np.meshgrid(np.arange(12.0), np.arange(5.0), indexing="ij"))
    u = 0.6 * (1 - ((y - 2) / 2.5) ** 2)  # fast in the middle
    lines = [
        "label,x,y,u,v",
        *(f"p{i},{a},{b},{c},0" for i, (a, b, c) in enumerate(zip(x, y, u, strict=True))),
    ]
    (tmp_path / "river.csv").write_text("\n".join(lines))
    done("embed", tmp_path / "river.csv", "--dim", "2", "--out", tmp_path / "river.npz")
    ends = ("p2", "p57")  # both in the middle, where the current is fast
    outs = ("--out", tmp_path / "route.png", "--out", tmp_path / "route.csv")
    done("route", tmp_path / "river.npz", *ends, *outs)
    rows = list(csv.DictReader((tmp_path / "route.csv").read_text().splitlines()))
    middle = {way: [abs(float(r["y"]) - 2) for r in rows if r["way"] == way] for way in ("there", "back")}
    length = {way: max(float(r["length"]) for r in rows if r["way"] == way) for way in middle}
    assert max(middle["there"]) == 0  # down the middle
    assert max(middle["back"]) == 2  # along the bank
    assert length["back"] > 1.5 * length["there"]


def test_netcdf_becomes_a_route_there_and_back(tmp_path):
    xarray = pytest.importorskip("xarray")
    lat, lon = np.linspace(30, 40, 11), np.linspace(-60, -40, 21)
    speed = np.repeat(1.2 * np.exp(-(((lat - 35) / 1.5) ** 2))[:, None], 21, axis=1)  # a jet to the east
    speed[:2, 9:12] = np.nan  # land
    axes = ("time", "latitude", "longitude")
    names = {"uo": "eastward_sea_water_velocity", "vo": "northward_sea_water_velocity"}
    values = {"uo": speed[None], "vo": 0 * speed[None]}
    fields = {v: (axes, values[v], {"standard_name": names[v], "units": "m s-1"}) for v in values}
    where = {
        "time": [np.datetime64("2020-01-01", "ns")],
        "latitude": ("latitude", lat, {"standard_name": "latitude", "units": "degrees_north"}),
        "longitude": ("longitude", lon, {"standard_name": "longitude", "units": "degrees_east"}),
    }
    xarray.Dataset(fields, coords=where).to_netcdf(tmp_path / "currents.nc")
    done("embed", tmp_path / "currents.nc", "--speed", "2", "--dim", "2", "--out", tmp_path / "sea.npz")
    outs = (
        "--out",
        tmp_path / "route.png",
        "--out",
        tmp_path / "route.csv",
        "--out",
        tmp_path / "route.geojson",
    )
    said = done("route", tmp_path / "sea.npz", "35N 58W", "35N 42W", *outs).stdout.splitlines()
    assert " hours, " in said[0]
    assert " hours, " in said[1]
    rows = list(csv.DictReader((tmp_path / "route.csv").read_text().splitlines()))
    off = {way: max(abs(float(r["lat"]) - 35) for r in rows if r["way"] == way) for way in ("there", "back")}
    hours = {way: max(float(r["length"]) for r in rows if r["way"] == way) for way in off}
    assert off["there"] == 0  # with the jet
    assert off["back"] >= 2  # round it
    assert hours["back"] > 1.5 * hours["there"]
    there, back = json.loads((tmp_path / "route.geojson").read_text())["features"]
    assert there["geometry"]["coordinates"][0] == [-58, 35]
    assert back["geometry"]["coordinates"][-1] == [-58, 35]
