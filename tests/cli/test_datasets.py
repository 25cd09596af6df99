"""``finsler datasets``."""

import json

import numpy as np
import pytest

pytest.importorskip("typer")
from finsler.data.tables import read_table
from finsler.datasets import load_flight_hours
from finsler.graphs.readers import open_file

from helpers import done, mistake, real_file


def test_datasets(tmp_path, monkeypatch):
    lines = done("datasets", "list").stdout.splitlines()
    assert any(line.startswith("cora ") for line in lines)
    assert set(json.loads(done("datasets", "list", "--json").stdout)) == {line.split()[0] for line in lines}
    done("datasets", "fetch", "flight-hours", "--out", tmp_path / "hours.csv")
    example, table = load_flight_hours(), read_table(tmp_path / "hours.csv")
    assert table.labels == example.codes
    np.testing.assert_array_equal(table.values, example.hours)
    assert done("datasets", "fetch", "flight-hours").stdout == (tmp_path / "hours.csv").read_text()
    assert "Did you mean 'cora'" in mistake("datasets", "fetch", "coral")
    assert "exists already" in mistake("datasets", "fetch", "flight-hours", "--out", tmp_path / "hours.csv")
    assert "known are .csv" in mistake("datasets", "fetch", "flight-hours", "--out", tmp_path / "hours.npz")
    assert "as it was published" in mistake("datasets", "fetch", "cora.zip", "--out", tmp_path / "cora.csv")
    monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
    assert "there is no file cora.zip in it" in mistake("datasets", "fetch", "cora")


def test_datasets_as_edges(tmp_path, monkeypatch):
    raw = real_file("raw/cora.zip").parent
    monkeypatch.setenv("FINSLER_DATA", str(raw))
    assert done("datasets", "fetch", "cora").stdout == f"{raw / 'cora.zip'}\n"
    done("datasets", "fetch", "cora", "--out", tmp_path / "cora.csv")
    assert open_file(tmp_path / "cora.csv").graph.n_arcs == 5429
