"""``finsler compare``: what it prints, writes and refuses."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
from finsler.cli import output
from finsler.data.similarities import dissimilarities_from
from finsler.models import compare_models

from helpers import done, mistake, python, run

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


# A real Ctrl-C when a model begins.
INTERRUPTED = """
import os, signal, sys
from finsler.cli import main
from finsler.models.compare import MODELS

fit = MODELS[{name!r}].fit

def interrupted(*args):
    os.kill(os.getpid(), signal.SIGINT)
    return fit(*args)

MODELS[{name!r}] = MODELS[{name!r}]._replace(fit=interrupted)
sys.exit(main({args!r}))
"""
no_sigint = pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")


def interrupted(name, *args):
    return python(INTERRUPTED.format(name=name, args=["compare", *map(str, args)]))


@no_sigint
def test_ctrl_c_prints_and_writes_the_table_so_far(times, tmp_path):
    outs = [tmp_path / f"table{suffix}" for suffix in (".md", ".json", ".png")]
    result = interrupted("slide", times, *(arg for out in outs for arg in ("--out", out)))
    assert result.returncode == 130, result.stderr
    assert "Traceback" not in result.stderr
    said = result.stderr.splitlines()
    missing = (
        "slide vector; hill-climbing; radius-distance; Gower bimension; drift vectors; drift vectors, fitted"
    )
    assert f"finsler: warning: The comparison stopped early: it was interrupted. Not run: {missing}." in said
    assert any("table.png: not drawn" in line for line in said)
    assert said[-1] == "finsler: stopped by Ctrl-C; what was found so far was written."
    for text in (result.stdout, outs[0].read_text()):
        assert f"stopped by Ctrl-C, not run: {missing}" in " ".join(text.split())
        assert "Randers map with swirl, arcs (ours)" in text
    found = json.loads(outs[1].read_text())
    assert found["status"] == "interrupted"
    assert found["not_run"] == ["slide", "hill", "radius", "gower", "drift", "drift-fitted"]
    assert len(found["models"]) == 5
    assert not outs[2].exists()


@no_sigint
def test_ctrl_c_while_the_last_pictures_models_are_there_draws_them(times, tmp_path):
    picture = tmp_path / "models.svg"
    result = interrupted("drift-fitted", times, "--out", picture, "--json")
    assert result.returncode == 130, result.stderr
    assert json.loads(result.stdout)["not_run"] == ["drift-fitted"]
    assert "not drawn" not in result.stderr
    assert picture.stat().st_size


@no_sigint
def test_ctrl_c_before_a_model_is_there_writes_nothing(times, tmp_path):
    result = interrupted("symmetric", times, "--out", tmp_path / "table.md")
    assert (result.returncode, result.stdout) == (130, "")
    assert result.stderr.splitlines()[-1] == "finsler: stopped by Ctrl-C; nothing more was written."
    assert not (tmp_path / "table.md").exists()


def test_a_time_limit_prints_and_writes_the_table_so_far(times, tmp_path):
    out, picture = tmp_path / "table.md", tmp_path / "models.png"
    result = compared(times, "--time-limit", 1e-9, "--out", out)
    for text in (result.stdout, out.read_text()):
        assert "not run, for time: symmetrized Isomap; Randers map (ours); " in " ".join(text.split())
    assert "Not run: symmetrized Isomap" in result.stderr
    result = run("compare", times, "--time-limit", 1e-9, "--out", out, "--force", "--out", picture)
    assert result.exit_code == 2
    assert result.stderr.splitlines()[-1].startswith(f"finsler: --time-limit: {picture}: not drawn")
    assert "not run, for time" in result.stdout
    assert not picture.exists()


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
    assert "Not counted: starting up, reading the file" in " ".join(text.replace("│", " ").split())
    assert "Ctrl-C" in text
