import json

import numpy as np
import pytest

from finsler import Embedding
from finsler.cli.app import run
from finsler.datasets import make_city


@pytest.fixture
def arcs(tmp_path):
    """A city as a list of arcs."""
    rows, columns = make_city(400).graph.nonzero()
    path = tmp_path / "city.csv"
    lines = ["from,to", *(f"{a},{b}" for a, b in zip(rows, columns, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_sparse_map_with_its_held_out_score(arcs, tmp_path, capsys):
    out = tmp_path / "map.npz"
    code = run(["embed", str(arcs), "--method", "sparse", "--n-pivots", "20", "--out", str(out), "--json"])
    shown = capsys.readouterr()
    assert code == 0
    record = json.loads(shown.out)
    assert record["held_out"]["n_sources"] == 20
    assert 0 < record["held_out"]["normalized_stress"]["value"] < 0.3
    assert "Held-out rows: 20" in shown.err
    assert Embedding.load(out).n_points == record["points"]


def test_large_graphs_are_sparse_and_say_so(arcs, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("finsler.cli.sparse.DENSE_NODES", 100)
    assert run(["embed", str(arcs), "--out", str(tmp_path / "map.csv"), "--n-pivots", "20"]) == 0
    assert "so it is a sparse map, with 20 pivots" in capsys.readouterr().err
    table = np.genfromtxt(tmp_path / "map.csv", delimiter=",", names=True)
    assert len(table) > 380
    assert run(["report", str(arcs), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_sources"] == 50
    assert (
        run(["embed", str(arcs), "--method", "dense", "--out", str(tmp_path / "d.csv"), "--max-iter", "2"])
        == 0
    )


def test_a_sampled_report(arcs, capsys):
    assert run(["report", str(arcs), "--sample", "7"]) == 0
    assert "7 of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "match"),
    [
        (["--n-pivots", "5"], "--n-pivots: goes with --method sparse"),
        (["--method", "sparse", "--solver", "classical"], "--solver: goes with --method dense"),
        (["--method", "sparse", "--n-init", "3"], "--n-init: goes with --method dense"),
        (["--method", "sparse", "--weights", "w.csv"], "--weights: goes with --method dense"),
        (["--method", "quick"], "is not one of"),
    ],
)
def test_options_that_do_not_go_together(arcs, tmp_path, capsys, options, match):
    assert run(["embed", str(arcs), "--out", str(tmp_path / "map.csv"), *options]) == 2
    assert match in capsys.readouterr().err


def test_a_matrix_has_no_pivots(tmp_path, capsys):
    path = tmp_path / "m.csv"
    path.write_text(",a,b\na,0,1\nb,2,0\n")
    assert run(["embed", str(path), "--method", "sparse", "--out", str(tmp_path / "map.csv")]) == 2
    assert "--method: sparse goes with edges" in capsys.readouterr().err
    assert run(["report", str(path), "--sample", "3"]) == 2
    assert "--sample: goes with edges" in capsys.readouterr().err
