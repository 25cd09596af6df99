"""``finsler compare``: what it prints, writes and refuses."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
from finsler.cli import output
from finsler.data.similarities import dissimilarities_from
from finsler.models import compare_models

from helpers import done, mistake

TIMES = ",A,B,C,D,E\nA,0,3,4,5,6\nB,2,0,2,4,5\nC,4,3,0,2,3\nD,5,4,3,0,2\nE,5,6,4,1,0\n"
VALUES = np.array([[float(x) for x in line.split(",")[1:]] for line in TIMES.split()[1:]])
FLOWS = ",A,B,C,D\nA,9,30,4,5\nB,20,7,2,0\nC,4,3,5,20\nD,5,4,31,6\n"


def compared(*args, input=None):
    return done("compare", *args, input=input)


def refused(*args, input=None):
    return mistake("compare", *args, input=input)


@pytest.fixture
def times(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text(TIMES)
    return path


def test_where_no_progress_line_can_be_shown_each_model_gets_one(times, monkeypatch):
    monkeypatch.setattr(output, "PIPED_AFTER", 0.0)
    said = compared(times).stderr.splitlines()
    assert len(said) == 12
    assert said[1].startswith("symmetrized MDS: ")
    assert compared(times, "--quiet").stderr == ""


def test_it_prints_one_table_and_the_verdict(times, monkeypatch):
    monkeypatch.setattr(output, "PIPED_AFTER", float("inf"))
    result = compared(times)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("5 points in 2 dimensions, 20 ordered pairs")
    names = ["symmetrized MDS", "symmetrized Isomap", "Randers map (ours)",
             "Randers map with swirl (ours)", "Randers map with swirl, arcs (ours)", "slide vector", "hill-climbing",
             "radius-distance", "Gower bimension", "drift vectors", "drift vectors, fitted"]  # fmt: skip
    assert sorted(line.split("  ")[0].strip().rstrip("*") for line in lines[3:14]) == sorted(names)
    verdict = " ".join(lines[14:])
    assert verdict.endswith(compare_models(VALUES, models=["symmetric"], n_init=1, verbose=False).verdict)
    assert result.stderr == "times.csv: a 5 x 5 matrix with labels\n"
    assert compared(times, "--quiet").stderr == ""


def test_json_is_that_of_the_library(times):
    found = json.loads(
        compared(times, "--json", "--n-components", 3, "--random-state", 5, "--n-init", 2).stdout
    )
    table = compare_models(VALUES, 3, random_state=5, n_init=2, verbose=False)
    assert found["n_components"] == 3
    assert found["random_state"] == 5
    assert found["input"] == "times.csv"
    assert found["verdict"] == table.verdict
    for model in found["models"]:
        record = table[model["name"]]
        assert model["normalized_stress"] == pytest.approx(record.normalized_stress, abs=1e-9)
        assert model["sign_accuracy"] == record.sign_accuracy
        assert model["n_parameters"] == record.n_parameters


def test_it_writes_files(times, tmp_path):
    outs = [tmp_path / f"table{suffix}" for suffix in (".json", ".md", ".txt")]
    args = [arg for out in outs for arg in ("--out", out)]
    printed = compared(times, *args).stdout
    assert outs[2].read_text() == printed
    assert outs[1].read_text().count("\n|") == 13
    assert [m["model"] for m in json.loads(outs[0].read_text())["models"]]
    assert "exists already" in refused(times, *args)
    compared(times, *args, "--force")


def test_it_reads_what_embed_reads(tmp_path):
    edges = tmp_path / "roads.csv"
    edges.write_text("source,target,length\na,b,1\nb,c,2\nc,a,3\nc,d,1\nd,a,2\nb,a,4\n")
    assert "4 points" in compared(edges).stdout
    flows = tmp_path / "flows.csv"
    flows.write_text(FLOWS)
    found = json.loads(compared(flows, "--similarity", "gravity", "--json").stdout)
    counts = np.array([[float(x) for x in line.split(",")[1:]] for line in FLOWS.split()[1:]])
    table = compare_models(dissimilarities_from(counts), missing="mask", verbose=False)
    assert found["n_pairs"] == table.n_pairs == 11
    for model in found["models"]:
        expected = table[model["name"]].normalized_stress
        assert model["normalized_stress"] == pytest.approx(expected, abs=1e-9)
    assert "11 ordered pairs" in compared("-", "--similarity", "gravity", input=FLOWS).stdout


def test_weights(times):
    plain, weighted = (
        json.loads(compared(times, "--json", "--weighting", weights).stdout)
        for weights in ("uniform", "inverse-square")
    )
    stress = [{m["name"]: m["normalized_stress"] for m in t["models"]}["randers"] for t in (plain, weighted)]
    W = 1 / np.where(VALUES > 0, VALUES, np.inf) ** 2
    expected = compare_models(VALUES, weights=W, verbose=False)["randers"].normalized_stress
    assert stress[1] == pytest.approx(expected, abs=1e-9)
    assert stress[1] != pytest.approx(stress[0], rel=1e-3)


def test_mistakes(times, tmp_path):
    assert refused(tmp_path / "none.csv").startswith("There is no file")
    assert "use mask" in refused(times, "--missing", "hinge")
    assert "use mask" in refused(times, "--unreachable", "hinge")
    assert "table goes to stdout anyway" in refused(times, "--out", "-")
    assert "known are .json .md .txt .png" in refused(times, "--out", tmp_path / "x.csv")
    assert "--n-components" in refused(times, "--n-components", 0)
    assert "2 points" in refused("-", input=",A,B\nA,0,1\nB,2,0\n")


def test_the_page_of_the_models_shows_the_last_run():
    root = Path(__file__).resolve().parents[2]
    folder = root / "experiments" / "compare"
    spec = importlib.util.spec_from_file_location("run_compare", folder / "run.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (root / "docs" / "models.md").read_text(encoding="utf-8")
    results = (folder / "results.md").read_text(encoding="utf-8")
    tables = page.split(script.BEGIN)[1].split(script.END)[0].strip()
    assert tables == results.split("\n\n", 2)[2].strip()
    records = json.loads((folder / "results.json").read_text(encoding="utf-8"))["results"]
    assert list(records) == list(script.CASES)
    chapters = tables.split("\n### ")
    assert len(chapters) == len(records) + 1
    for chapter, (name, runs) in zip(chapters, records.items(), strict=False):
        assert f"    {runs['2']['command']}\n" in chapter
        for model in runs["2"]["models"]:
            row = next(line for line in chapter.splitlines() if line.startswith(f"| {model['model']} |"))
            assert f"{model['normalized_stress']:.4f}" in row, (name, row)
            assert f"| {model['n_parameters']} |" in row, (name, row)
        assert chapters[-1].count(f"{runs['3']['models'][0]['normalized_stress']:.4f}"), name


def test_the_help_is_there():
    text = compared("--help").stdout
    assert "finsler compare times.csv" in text
    assert "--n-components" in text
