"""No command does the same work twice: one file is parsed once, data are checked once, one report at most."""

import numpy as np
import pytest

pytest.importorskip("typer")
from finsler.cli.output import csv_text, matrix_csv

from helpers import calls, done

# What may run once at most for each file that a command reads.
ONCE = {
    "finsler.data.readers.text.read_text",
    "finsler.data.readers.text.Text.read",
    "finsler.data.tables.read_table",
    "finsler.data.matrix.check_rows",
    "finsler.report.asymmetry_report",
    "finsler.geometry.asymmetry.asymmetry_shown",
    "finsler.graphs.paths.shortest_paths",
    "finsler.solvers.smacof.smacof",
    "finsler.embedding.Embedding.load",
}


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    D = rng.uniform(1, 2, (12, 12)) * (1 - np.eye(12))
    labels = [f"p{i}" for i in range(12)]
    (tmp_path / "matrix.csv").write_text(matrix_csv(D, labels))
    pairs = [(a, b, D[i, j]) for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
    (tmp_path / "pairs.csv").write_text(csv_text([["from", "to", "hours"], *pairs]))
    arcs = [(f"p{i}", f"p{(i + k) % 12}", 1 + i % 3) for i in range(12) for k in (1, 2, 5)]
    (tmp_path / "edges.csv").write_text(csv_text([["from", "to", "minutes"], *arcs]))
    points = [[*rng.random(2).tolist(), 0.2, 0.1] for _ in range(30)]
    (tmp_path / "points.csv").write_text(csv_text([["x", "y", "u", "v"], *points]))
    return tmp_path


@pytest.mark.parametrize("kind", ["matrix", "pairs", "edges", "points"])
@pytest.mark.parametrize("command", ["embed", "report", "compare"])
def test_once(files, command, kind):
    args = [command, files / f"{kind}.csv", "--kind", kind]
    if command == "embed":
        pytest.importorskip("plotly")
        args += [part for suffix in ("html", "npz", "csv") for part in ("--out", files / f"map.{suffix}")]
    if command == "compare":
        args += ["--n-init", 1, "--max-iter", 5]
    counts = calls(done, *args)
    many = {name: counts[name] for name in ONCE if counts[name] > 1}
    if command == "compare":  # maps, measures and paths of each model
        many = {
            name: n
            for name, n in many.items()
            if not name.endswith(("smacof", "asymmetry_shown", "shortest_paths"))
        }
    assert not many
    assert counts["finsler.data.tables.read_table"] == 1
