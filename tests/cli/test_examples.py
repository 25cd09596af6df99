"""The examples of the help run, on small files of the names that they use."""

import json
import re
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("matplotlib")
pytest.importorskip("plotly")
pytest.importorskip("networkx")
pytest.importorskip("xarray")
pytest.importorskip("h5netcdf")
import networkx
import typer
import xarray as xr
from scipy.sparse import csr_array, save_npz

from finsler.cli.app import app
from finsler.cli.output import csv_text, matrix_csv
from finsler.datasets import load_flight_hours
from finsler.recipes import embed_graph, embed_matrix

from helpers import done

ROOT = typer.main.get_command(app)
GROUPS = [ROOT, *ROOT.commands.values(), *ROOT.commands["datasets"].commands.values()]


def examples(command):
    lines = [line.strip().replace("\\[", "[") for line in (command.epilog or "").split("\n")]
    return [re.split(r"\s{4,}", line)[0] for line in lines if "finsler" in line]


EXAMPLES = list(dict.fromkeys(line for command in GROUPS for line in examples(command)))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of all the names that the examples use."""
    folder, rng = tmp_path_factory.mktemp("examples"), np.random.default_rng(0)
    flights = load_flight_hours()
    codes, hours = flights.codes, flights.hours
    kept = sorted({*range(10), codes.index("JFK"), codes.index("LAX")})
    labels, D = [codes[i] for i in kept], hours[np.ix_(kept, kept)]
    n = len(kept)
    (folder / "times.csv").write_text(matrix_csv(D, labels))
    embed_matrix(D, labels=labels).save(folder / "map.npz")
    embed_matrix(D**1.1, labels=labels).save(folder / "other.npz")
    (folder / "towns.csv").write_text(
        csv_text(
            [
                ["label", "region", "lon", "lat"],
                *([label, label[0], -80.0 - i, 40.0 + i % 3] for i, label in enumerate(labels)),
            ]
        )
    )
    for name in ("new", "back"):
        (folder / f"{name}.csv").write_text(csv_text([["", *labels], ["here", *(D[0] + 1).tolist()]]))
    arcs = [(i, (i + step) % 30) for i in range(30) for step in (1, 4, 7)]
    roads = [["from", "to", "minutes"], *([f"r{i}", f"r{j}", 1 + (i * j) % 5] for i, j in arcs)]
    (folder / "roads.csv").write_text(csv_text(roads))
    streets = networkx.DiGraph()
    names = ["Dam", "Port", *(f"r{i}" for i in range(2, 30))]
    for i, name in enumerate(names):
        streets.add_node(name, lon=10 + i / 100, lat=50 + (i * i % 7) / 100)
    streets.add_weighted_edges_from(
        [(names[i], names[j], 1.0 + (i * j) % 5) for i, j in arcs], weight="travel_time"
    )
    networkx.write_graphml(streets, folder / "roads.graphml")
    embed_graph(streets).save(folder / "roads.npz")
    stops = [{"name": label, "location": [8.0 + i / 10, 47.0 + i % 4 / 10]} for i, label in enumerate(labels)]
    record = {"code": "Ok", "durations": D.tolist(), "sources": stops, "destinations": stops}
    (folder / "osrm.json").write_text(json.dumps(record))
    lon = ("lon", np.linspace(0, 5, 8), {"units": "degrees_east"})
    lat = ("lat", np.linspace(50, 53, 7), {"units": "degrees_north"})
    flow = {
        name: (("lat", "lon"), np.full((7, 8), speed), {"units": "m/s"})
        for name, speed in (("uo", 0.5), ("vo", 0.1))
    }
    xr.Dataset(flow, coords={"lon": lon, "lat": lat}).to_netcdf(folder / "currents.nc", engine="h5netcdf")
    (folder / "web.csv").write_text(csv_text([["source", "target"], *([f"w{i}", f"w{j}"] for i, j in arcs)]))
    cited = [(i, int(j)) for i in range(4, 40) for j in rng.choice(i, 3, replace=False)]
    citations = [["from", "to"], *([f"paper-{i}", f"paper-{j}"] for i, j in cited)]
    (folder / "citations.csv").write_text(csv_text(citations))
    save_npz(folder / "words.npz", csr_array((rng.random((40, 12)) < 0.3).astype(float)))
    (folder / "pairs.csv").write_text("from,to\npaper-17,paper-2\npaper-9,paper-30\n")
    sea = [[*rng.random(2).tolist(), 0.2, 0.1, i % 4] for i in range(40)]
    (folder / "sea.csv").write_text(csv_text([["x", "y", "u", "v", "depth"], *sea]))
    counts = rng.integers(5, 90, (n, n)).astype(float)
    (folder / "moves.csv").write_text(matrix_csv(counts, labels))
    trade = [
        [2019 + k, a, b, counts[i, j]]
        for k in (0, 1)
        for i, a in enumerate(labels)
        for j, b in enumerate(labels)
        if i != j
    ]
    (folder / "trade.csv").write_text(csv_text([["year", "exporter", "importer", "trade"], *trade]))
    (folder / "morse.csv").write_text(matrix_csv(1 / counts + np.eye(n), labels))
    return folder


@pytest.mark.parametrize("line", EXAMPLES)
def test_example(line, folder, monkeypatch):
    if " cora" in line:
        pytest.skip("Cora must be downloaded")
    if " learn " in line or " predict " in line:
        pytest.importorskip("torch")
    monkeypatch.chdir(folder)
    if " predict " in line and not (folder / "model.npz").exists():
        done("learn", "citations.csv", "--epochs", 2, "--dim", 4, "--n-jobs", 1, "--out", "model.npz", "-q")
    before, _, after = line.partition("finsler ")
    text = (folder / before.split()[1]).read_text() if before else None
    words = re.split(r" [|>] ", after)[0].split()
    if {"--out", "--worst"} & {*words}:
        words.append("--force")
    done(*words, input=text)
    for option, path in pairwise(words):
        if option == "--out" and path != "-":
            assert (folder / path).stat().st_size > 0
