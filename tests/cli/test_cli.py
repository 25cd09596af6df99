"""The command line: what it writes, what it says, and the code it ends with."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
import finsler
from finsler.cli import data as cli_data
from finsler.cli import main
from finsler.cli import output as cli_output
from finsler.cli.errors import explain
from finsler.data.tables import read_table
from finsler.datasets import load_flight_hours
from finsler.errors import InputError
from finsler.recipes import embed_graph, embed_matrix, embed_points

from helpers import done, mistake, run, shell

COMMANDS = [
    "embed",
    "report",
    "compare",
    "learn",
    "predict",
    "place",
    "distance",
    "plot",
    "demo",
]
COMMANDS += ["datasets list", "datasets fetch"]
SMALL = ",A,B,C,D\nA,0,3,4,5\nB,2,0,2,4\nC,4,3,0,2\nD,5,4,3,0\n"


@pytest.fixture
def small(tmp_path):
    (tmp_path / "small.csv").write_text(SMALL)
    return tmp_path / "small.csv"


@pytest.fixture(scope="session")
def flights(tmp_path_factory):
    """The flight example as CSV, its map in all formats, and what was said meanwhile."""
    folder = tmp_path_factory.mktemp("flights")
    example = load_flight_hours()
    (folder / "times.csv").write_text(cli_output.matrix_csv(example.hours, example.codes))
    outs = [part for s in ("csv", "npz", "png", "svg", "pdf") for part in ("--out", folder / f"map.{s}")]
    return folder, done("embed", folder / "times.csv", *outs)


# --- help ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_examples(command):
    result = done(*command.split(), "--help")
    assert f"Usage: finsler {command}".strip() in result.stdout.replace("root", "finsler")
    assert "Examples:" in result.stdout
    assert f"finsler {command}".strip() in result.stdout


def test_version_and_no_command():
    assert done("--version").stdout == f"finsler {finsler.__version__}\n"
    assert "embed" in done().stdout


def test_help_loads_nothing_heavy():
    code = (
        "import sys\nfrom finsler.cli import main\ncode = main(['embed', '--help'])\n"
        "print(code, [m for m in ('numpy', 'numba', 'sklearn', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "0 []"


# --- embed -----------------------------------------------------------------------------------------------------


def test_the_flight_example(flights):
    folder, result = flights
    said = result.stderr.splitlines()
    assert said[0] == "times.csv: a 64 x 64 matrix with labels"
    assert said[1].startswith("64 points in 2 dimensions, alpha = 0.0974")
    assert said[-1].startswith("Written: ")
    assert result.stdout == ""
    example = load_flight_hours()
    expected = embed_matrix(example.hours, labels=example.codes)
    found = finsler.Embedding.load(folder / "map.npz")
    np.testing.assert_allclose(found.coordinates, expected.coordinates, rtol=0, atol=1e-9)
    assert found.labels == example.codes
    with open(folder / "map.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    assert header == ["label", "x1", "height", "stress_share"]
    assert [row[0] for row in rows] == example.codes
    np.testing.assert_array_equal(np.array([row[1:3] for row in rows], dtype=float), found.coordinates)
    assert sum(float(row[3]) for row in rows) == pytest.approx(1)
    assert (folder / "map.png").read_bytes().startswith(b"\x89PNG")
    assert (folder / "map.pdf").read_bytes().startswith(b"%PDF")
    assert "<svg" in (folder / "map.svg").read_text()


def test_a_page_with_attributes(tmp_path, monkeypatch):
    explorer = pytest.importorskip("finsler.plotting.explorer")
    seen = {}

    def explore(embedding, path, *, attributes=None, title=None):
        seen.update(attributes, title=title, n=embedding.n_points)
        Path(path).write_text("<html>")

    monkeypatch.setattr(explorer, "explore", explore)
    (tmp_path / "small.csv").write_text(SMALL)
    (tmp_path / "more.csv").write_text("name,area,kind\nD,4,x\nC,3,x\nB,2,y\nA,1,y\nE,5,z\n")
    done(
        "embed", tmp_path / "small.csv", "--attributes", tmp_path / "more.csv", "--title", "Towns",
        "--out", tmp_path / "map.html", "--out", tmp_path / "map.png", "--color", "kind",
    )  # fmt: skip
    assert seen["area"].tolist() == [1, 2, 3, 4]
    assert seen["kind"].tolist() == ["y", "y", "x", "x"]
    assert (seen["title"], seen["n"]) == ("Towns", 4)
    assert (tmp_path / "map.html").exists()
    assert (tmp_path / "map.png").exists()


def test_the_real_page(small):
    pytest.importorskip("plotly")
    done("embed", small, "--out", small.with_suffix(".html"))
    assert "<html" in small.with_suffix(".html").read_text(encoding="utf-8")


def test_stdin_and_stdout():
    result = done("embed", "-", "--out", "-", input=SMALL)
    assert result.stderr.startswith("stdin: a 4 x 4 matrix with labels\n")
    rows = list(csv.reader(io.StringIO(result.stdout)))
    assert rows[0] == ["label", "x1", "height", "stress_share"]
    assert [row[0] for row in rows[1:]] == ["A", "B", "C", "D"]


def test_json_and_quiet(small):
    result = done("embed", small, "--json", "--quiet", "--out", small.with_suffix(".npz"))
    record = json.loads(result.stdout)
    assert result.stderr == ""
    assert (record["kind"], record["points"], record["dimension"]) == ("matrix", 4, 2)
    assert record["status"] == "converged"
    assert record["outputs"] == [str(small.with_suffix(".npz"))]
    assert record["alpha"] == finsler.Embedding.load(small.with_suffix(".npz")).alpha


def test_options_reach_the_solver(small):
    values = read_table(small).values

    def record(*options):
        return json.loads(done("embed", small, "--json", "-q", *options).stdout)

    assert record("--alpha", "0.25")["alpha"] == 0.25
    assert record("--dim", "3")["dimension"] == 3
    closed = record("--solver", "classical", "--alpha", "0.3")
    assert (closed["status"], closed["alpha"]) == ("closed_form", 0.3)
    assert record("--solver", "classical")["alpha"] > 0
    start = record("--init", "random", "--random-state", "7", "--max-iter", "0", "--alpha", "0.1")
    assert start["status"] == "max_iter"
    assert (
        start["stress"]
        == record("--init", "random", "--random-state", "7", "--max-iter", "0", "--alpha", "0.1")["stress"]
    )
    assert (
        start["stress"]
        != record("--init", "random", "--random-state", "8", "--max-iter", "0", "--alpha", "0.1")["stress"]
    )
    for name, power in (("inverse", 1), ("inverse-square", 2)):
        weights = np.where(np.eye(4), 0, np.where(np.eye(4), 1, values) ** -power)
        assert record("--weighting", name)["stress"] == pytest.approx(
            embed_matrix(values, weights=weights).stress
        )


def test_weights_from_a_file(small):
    values, file = read_table(small).values, small.with_name("w.csv")
    weights = np.arange(16.0).reshape(4, 4) + 1
    expected = embed_matrix(values, weights=weights).stress
    order = [2, 0, 3, 1]
    for text in (
        cli_output.matrix_csv(weights[np.ix_(order, order)], [*"CADB"]),  # found by label
        "\n".join(",".join(map(str, row)) for row in weights),  # or in order
    ):
        file.write_text(text)
        found = done("embed", small, "--weights", file, "--json", "-q").stdout
        assert json.loads(found)["stress"] == pytest.approx(expected)
    file.write_text(SMALL.replace("A,0,3", "A,,3"))  # its diagonal means nothing
    done("embed", small, "--weights", file, "--json")
    file.write_text("0,1\n1,0\n")
    assert "weights for 2 points, where the data have 4" in mistake(
        "embed", small, "--weights", file, "--json"
    )
    file.write_text(cli_output.matrix_csv(-weights, [*"ABCD"]))
    assert "finite and not negative; from 0 ('A')" in mistake("embed", small, "--weights", file, "--json")
    file.write_text(cli_output.matrix_csv(weights, [*"ABCE"]))
    assert "No row is labeled" in mistake("embed", small, "--weights", file, "--json")
    assert "There is no file inverted" in mistake("embed", small, "--weights", "inverted", "--json")
    both = mistake("embed", small, "--weights", file, "--weighting", "inverse", "--json")
    assert both.startswith("--weighting: ")


def test_a_map_tells_how_much_asymmetry_it_shows(small):
    rng = np.random.default_rng(0)
    X, h = rng.uniform(0, 10, (12, 2)), rng.uniform(0, 2, 12)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    D += np.clip(
        h - h[:, None], -0.9 * D, 0.9 * D
    )  # a plane with hills: heights are no direction in the plane
    small.write_text(cli_output.matrix_csv(D, [*"ABCDEFGHIJKL"]))
    best = f"{100 * finsler.asymmetry_report(D).gradient_share:.3g} % can be shown"
    said = {dim: done("embed", small, "--dim", dim, "--out", "-").stderr.splitlines()[-1] for dim in (2, 3)}
    assert said[2].endswith(f"up to {best}: try n_components=3")
    assert said[3].endswith(f"up to {best}")
    small.write_text(cli_output.matrix_csv(D + D.T, [*"ABCDEFGHIJKL"]))
    assert "asymmetry" not in done("embed", small, "--out", "-").stderr


def test_missing_values(small):
    small.write_text(SMALL.replace("A,0,3", "A,,").replace("5,4,3", "5,4,inf"))
    line = mistake("embed", small, "--out", "-")
    assert (
        "contains NaN or infinity: from 0 ('A') to 1 ('B') it is nan, which stands for an empty cell" in line
    )
    assert "missing='mask'" in line
    D = [[0, np.nan, 4, 5], [2, 0, 2, 4], [4, 3, 0, 2], [5, 4, np.inf, 0]]
    for missing in ("mask", "hinge"):
        found = json.loads(done("embed", small, "--missing", missing, "--json").stdout)
        assert found["stress"] == pytest.approx(embed_matrix(D, missing=missing).stress)


def test_edges(tmp_path):
    arcs = [
        ("a", "b", 1),
        ("b", "c", 1.5),
        ("c", "d", 1),
        ("d", "a", 3),
        ("a", "c", 2),
        ("c", "a", 2),
        ("e", "a", 1),
    ]
    file = tmp_path / "streets.csv"
    file.write_text("from,to,minutes\n" + "\n".join(",".join(map(str, arc)) for arc in arcs))
    npz = tmp_path / "map.npz"
    for options, arguments in (
        ([], {}),
        (["--hops"], {"hops": True}),
        (["--unreachable", "largest"], {"unreachable": "largest"}),
        (
            ["--unreachable", "largest", "--connection", "weak"],
            {"unreachable": "largest", "connection": "weak"},
        ),
        (
            ["--unreachable", "hinge", "--weighting", "inverse"],
            {"unreachable": "hinge", "weighting": "inverse"},
        ),
    ):
        result = done("embed", file, "--alpha", "0.3", *options, "--out", npz, "--force")
        expected = embed_graph(arcs, alpha=0.3, random_state=0, **arguments)
        found = finsler.Embedding.load(npz)
        assert found.labels == expected.labels
        assert found.message == expected.message
        np.testing.assert_allclose(found.coordinates, expected.coordinates, atol=1e-9)
    assert result.stderr.startswith("streets.csv: edges of a digraph with 5 nodes, 7 arcs, lengths 1 to 3\n")
    assert "4 ordered pairs without a path" in result.stderr
    assert "unreachable='mask'" in mistake("embed", file, "--unreachable", "raise", "--json")
    piped = done("embed", "-", "--out", "-", "--alpha", "0.3", input=file.read_text())
    assert len(piped.stdout.splitlines()) == 6


def test_warnings_are_lines():
    result = done("embed", "-", "--kind", "edges", "--out", "-", "-q", input="a,a\na,b\nb,c\nc,a\n")
    assert result.stderr == "finsler: warning: The graph was simplified: dropped 1 self-loop.\n"
    unfinished = done("embed", "-", "--out", "-", "-q", "--max-iter", "0", "--init", "random", input=SMALL)
    assert unfinished.stderr.startswith("finsler: warning: It reached max_iter = 0")


@pytest.fixture
def sea(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 2))
    rows = [f"p{i},{x!r},{y!r},0.3,{-0.1 * y!r},{i % 3}" for i, (x, y) in enumerate(X.tolist())]
    (tmp_path / "sea.csv").write_text("name,x,y,u,v,depth\n" + "\n".join(rows))
    return tmp_path / "sea.csv", X, np.column_stack([np.full(60, 0.3), -0.1 * X[:, 1]])


def test_points(sea):
    file, X, current = sea
    npz, png = file.with_suffix(".npz"), file.with_suffix(".png")
    result = done("embed", file, "--out", npz, "--out", png, "--color", "depth", "--n-neighbors", "6")
    said = "sea.csv: 60 points in 2 dimensions (x, y), with a current at each, attributes depth\n"
    assert result.stderr.startswith(said)
    expected = embed_points(X, current=current, n_neighbors=6)
    found = finsler.Embedding.load(npz)
    np.testing.assert_allclose(found.coordinates, expected.coordinates, atol=1e-7)
    assert found.labels == [f"p{i}" for i in range(60)]
    assert png.exists()


def test_points_in_two_pieces_keep_labels_and_attributes(sea, monkeypatch):
    file, _, _ = sea
    lines = file.read_text().splitlines()
    far = [f"q{i},{50 + i},50,0,0,{9}" for i in range(3)]
    file.write_text("\n".join([lines[0], *far, *lines[1:]]))
    line = mistake("embed", file, "--n-neighbors", "2", "--json")
    assert "unreachable='largest'" in line
    seen = {}
    monkeypatch.setattr(
        cli_output, "_draw", lambda e, path, attributes, color, title: seen.update(attributes, e=e)
    )
    options = ["--n-neighbors", "2", "--unreachable", "largest", "--color", "depth"]
    done("embed", file, *options, "--out", file.with_suffix(".png"))
    labels = seen["e"].labels
    assert 3 < len(labels) < 60
    assert seen["depth"].tolist() == [int(label[1:]) % 3 for label in labels]
    assert "raise or largest" in mistake("embed", file, "--unreachable", "mask", "--json")


def test_similarities(proximities):
    morse, erasmus = proximities / "morse.csv", proximities / "erasmus_2012.csv"
    line = mistake("embed", morse, "--out", "-")
    assert "from 'A' to itself it is 0.08" in line
    assert "--diagonal ignore" in line
    assert "--similarity gravity" in line
    assert len(done("embed", morse, "--out", "-", "--diagonal", "ignore").stdout.splitlines()) == 37
    from finsler.data.similarities import dissimilarities_from

    counts = read_table(erasmus).values
    for transform in ("gravity", "rank"):
        record = json.loads(done("embed", erasmus, "--similarity", transform, "--json").stdout)
        expected = embed_matrix(dissimilarities_from(counts, transform=transform), missing="mask")
        assert record["stress"] == pytest.approx(expected.stress)
        assert "121 ordered pairs without a value, left out." in record["message"]
    full = json.loads(
        done("embed", erasmus, "--similarity", "gravity", "--zeros", "pseudocount", "--json").stdout
    )
    assert "zero" not in full["message"]
    assert mistake("embed", erasmus, "--zeros", "keep", "--json").startswith(
        "--zeros: goes with --similarity"
    )
    assert "transition or linear" in mistake(
        "embed", erasmus, "--similarity", "rank", "--diagonal", "use", "--json"
    )
    assert "positive on the diagonal" in mistake(
        "embed", erasmus, "--similarity", "linear", "--diagonal", "use", "--json"
    )
    few = "," + ",".join("ABCD") + "\nA,9,1,1,0\nB,1,9,1,0\nC,1,1,9,0\nD,0,0,0,9\n"
    assert "Nothing goes from 3 ('D')" in mistake(
        "embed", "-", "--similarity", "gravity", "--json", input=few
    )


def test_a_tour(proximities, tmp_path):
    result = done("embed", proximities / "atsp_ftv170.csv", "--out", tmp_path / "tour.npz")
    assert result.stderr.startswith("atsp_ftv170.csv: a 171 x 171 matrix with labels\n")
    assert finsler.Embedding.load(tmp_path / "tour.npz").n_points == 171


# --- report, distance, plot ------------------------------------------------------------------------------------


def test_report(flights, tmp_path):
    folder, _ = flights
    example = load_flight_hours()
    expected = finsler.asymmetry_report(example.hours, labels=example.codes)
    assert done("report", folder / "times.csv").stdout == f"{expected}\n"
    assert json.loads(done("report", folder / "times.csv", "--json", "-q").stdout) == expected.to_dict()
    pieces = done("report", "-", "--kind", "edges", input="a,b\nb,a\nc,d\n").stdout
    assert "no: 2 groups" in pieces


def test_report_of_points_and_counts(sea, small):
    assert "Asymmetry of 60 points" in done("report", sea[0]).stdout
    small.write_text(SMALL.replace("A,0", "A,7"))  # the diagonal does not matter here
    assert "Asymmetry of 4 points" in done("report", small).stdout
    assert "Asymmetry of 4 points" in done("report", small, "--similarity", "rank").stdout


def test_distance(flights):
    folder, _ = flights
    lines = done("distance", folder / "map.npz", "JFK", "LAX").stdout.splitlines()
    flight_map = finsler.Embedding.load(folder / "map.npz")
    assert lines == [
        f"JFK -> LAX  {flight_map.distance('JFK', 'LAX'):.6g}  (5.25376 in the data)",
        f"LAX -> JFK  {flight_map.distance('LAX', 'JFK'):.6g}  (4.21491 in the data)",
    ]
    record = json.loads(done("distance", folder / "map.npz", "LAX", "JFK", "--json").stdout)
    assert record["there"]["on_map"] == pytest.approx(flight_map.distance("LAX", "JFK"))
    assert record["back"]["in_data"] == pytest.approx(5.25376, abs=1e-5)
    assert "'LAXX'. Did you mean 'LAX'?" in mistake("distance", folder / "map.npz", "JFK", "LAXX")
    assert "'lax'. Did you mean 'LAX'?" in mistake("distance", folder / "map.npz", "JFK", "lax")


def test_distance_by_number_where_there_are_no_labels(tmp_path):
    (tmp_path / "m.csv").write_text("0,3,4,9\n2,0,2,9\n4,3,0,\n1,1,1,0\n")
    done("embed", tmp_path / "m.csv", "--missing", "mask", "--out", tmp_path / "m.npz")
    lines = done("distance", tmp_path / "m.npz", "2", "3").stdout.splitlines()
    assert "in the data" not in lines[0]  # it is missing there
    assert lines[1].endswith("(1 in the data)")
    assert "'4'" in mistake("distance", tmp_path / "m.npz", "1", "4")


def test_plot(flights, tmp_path):
    folder, _ = flights
    done(
        "plot",
        folder / "map.npz",
        "--out",
        tmp_path / "a.png",
        "--out",
        tmp_path / "a.csv",
        "--title",
        "West is up",
    )
    assert (tmp_path / "a.png").exists()
    assert (tmp_path / "a.csv").read_text() == (folder / "map.csv").read_text()
    assert "see --attributes" in mistake(
        "plot", folder / "map.npz", "--out", tmp_path / "b.png", "--color", "x"
    )
    (tmp_path / "more.csv").write_text("label,x\nJFK,1\n")
    options = ["--attributes", tmp_path / "more.csv", "--out", tmp_path / "b.png"]
    assert "No row is labeled" in mistake("plot", folder / "map.npz", *options)
    assert "say where to draw it" in mistake("plot", folder / "map.npz")
    assert "is not a file that finsler saved" in mistake(
        "plot", folder / "times.csv", "--out", tmp_path / "c.png"
    )
    assert "There is no file" in mistake("plot", folder / "nothing.npz", "--out", tmp_path / "c.png")


# --- place -----------------------------------------------------------------------------------------------------


@pytest.fixture
def newcomers(tmp_path):
    """A map without two airports, and files of their hours to and from the others, with columns in any order."""
    example = load_flight_hours()
    codes, D = example.codes, example.hours
    old, new = list(range(2, 64)), [0, 1]
    flight_map = embed_matrix(D[np.ix_(old, old)], labels=codes[2:])
    flight_map.save(tmp_path / "map.npz")
    turned = old[::-1]
    for name, values in (("to", D[np.ix_(new, turned)]), ("from", D[np.ix_(turned, new)].T)):
        rows = [["airport", *(codes[j] for j in turned)]]
        rows += [[codes[i], *row] for i, row in zip(new, values.tolist(), strict=True)]
        (tmp_path / f"{name}.csv").write_text(cli_output.csv_text(rows))
    return tmp_path, flight_map, D[np.ix_(new, old)], D[np.ix_(old, new)].T


def test_place(newcomers):
    folder, flight_map, to_fitted, from_fitted = newcomers
    args = ["place", folder / "map.npz"]
    for files, arguments in (
        ([folder / "to.csv"], {"to_fitted": to_fitted}),
        (["--from", folder / "from.csv"], {"from_fitted": from_fitted}),
        (
            [folder / "to.csv", "--from", folder / "from.csv"],
            {"to_fitted": to_fitted, "from_fitted": from_fitted},
        ),
    ):
        header, *rows = csv.reader(io.StringIO(done(*args, *files, "--out", "-").stdout))
        assert header == ["label", "x1", "height", "misfit"]
        assert [row[0] for row in rows] == load_flight_hours().codes[:2]
        expected = flight_map.place(**arguments)
        np.testing.assert_allclose(np.array([row[1:3] for row in rows], dtype=float), expected)
    assert all(0 < float(row[3]) < 0.1 for row in rows)
    done(*args, folder / "to.csv", "--out", folder / "all.npz", "--out", folder / "all.png")
    whole = finsler.Embedding.load(folder / "all.npz")
    assert whole.labels == [*flight_map.labels, *load_flight_hours().codes[:2]]
    assert "2 points were placed into it later" in whole.message
    np.testing.assert_allclose(whole.coordinates[-2:], flight_map.place(to_fitted=to_fitted))


def test_place_with_few_columns_or_none_named(newcomers):
    folder, flight_map, to_fitted, _ = newcomers
    args = ["place", folder / "map.npz", "-", "--out", "-"]
    codes = flight_map.labels
    few = f"{codes[5]},{codes[9]},{codes[20]}\n1,2,\n2,1,1\n"
    known = np.full((2, 62), np.nan)
    known[0, [5, 9]], known[1, [5, 9, 20]] = (1, 2), (2, 1, 1)
    rows = list(csv.reader(io.StringIO(done(*args, input=few).stdout)))
    assert [row[0] for row in rows[1:]] == ["new 1", "new 2"]
    np.testing.assert_allclose(
        np.array([row[1:3] for row in rows[1:]], dtype=float), flight_map.place(to_fitted=known)
    )
    plain = "\n".join(",".join(map(repr, row)) for row in to_fitted.tolist())
    bare = list(csv.reader(io.StringIO(done(*args, input=plain).stdout)))
    np.testing.assert_allclose(
        np.array([row[1:3] for row in bare[1:]], dtype=float), flight_map.place(to_fitted=to_fitted)
    )


def test_place_refuses(newcomers):
    folder, flight_map, _, _ = newcomers
    args = ["place", folder / "map.npz"]
    first = flight_map.labels[0]
    assert "give NEW.csv" in mistake(*args)
    line = mistake(*args, "-", input=f"new,{first}X\nQ,1\n")
    assert f"'{first}X'. Did you mean" in line
    assert f"'{first}' has the label of a point" in mistake(*args, "-", input=f"new,{first}\n{first},1\n")
    assert "3 columns without names, where the map has 62" in mistake(*args, "-", input="1,2,3\n")
    assert "holds no points" in mistake(*args, "-", input=f"new,{first}\n")
    assert f"row 2, column \"{first}\": 'x' is not a number" in mistake(
        *args, "-", input=f"new,{first}\nQ,x\n"
    )
    (folder / "other.csv").write_text(f"new,{first}\nQ,1\nR,2\n")
    assert "their labels differ" in mistake(*args, folder / "to.csv", "--from", folder / "other.csv")
    assert "has no known dissimilarity" in mistake(
        *args, "-", input=f"new,{first},{flight_map.labels[1]}\nQ,,\nR,1,1\n"
    )


# --- demo, data sets -------------------------------------------------------------------------------------------


def test_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(cli_output._NEEDS, ".html", "a_package_that_is_not_there")  # pages are slow
    result = done("demo")
    for name in ("flight_hours.csv", "flight_map.csv", "flight_map.npz", "flight_map.png"):
        assert (tmp_path / "finsler-demo" / name).stat().st_size > 1000
    assert "pip install 'finsler[plot]'" in result.stderr
    # What it proposes to try works.
    for line in re.findall(r"^  finsler (.*)", result.stderr, flags=re.MULTILINE):
        done(*line.split())
    assert "exists already; --force" in mistake("demo")
    done("demo", "--force", "--quiet")
    assert "is a file; name a folder" in mistake("demo", "my_map.csv")
    assert "there is no folder" in mistake("demo", "a/b/c")


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


def test_datasets_as_edges(proximities, tmp_path, monkeypatch):
    raw = proximities.parent / "raw"
    if not (raw / "cora.zip").exists():
        pytest.skip("the raw files are not beside this checkout")
    monkeypatch.setenv("FINSLER_DATA", str(raw))
    assert done("datasets", "fetch", "cora").stdout == f"{raw / 'cora.zip'}\n"
    done("datasets", "fetch", "cora", "--out", tmp_path / "cora.csv")
    assert read_table(tmp_path / "cora.csv").graph.n_arcs == 5429


# --- mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SMALL.replace("B,2,0,2", "B,2,0,oops"), "small.csv: row 3, column \"C\": 'oops' is not a number; write plain"),
        (SMALL.replace("B,2,0,2", 'B,2,0,"1,5"'), "'1,5' is not a number; commas separate the cells"),
        (SMALL.replace("B,2,0,2,4", "B,2,0,2"), "small.csv: row 3 has 4 columns, where most have 5."),
        (SMALL.replace("\nB", "\nX"), "rows and columns carry different labels: number 2 is 'X' among the rows"),
        (SMALL.replace("D,5,4,3,0\n", ""), "a matrix must be square"),
        (SMALL.replace("2,4", "-2,4"), "Negative values in data passed to small.csv: from 1 ('B') to 2 ('C')"),
        (SMALL.replace("B,2,0,2,4", "B,,,,"), "contains NaN or infinity"),
        ("", "small.csv is empty."),
        ("a,b,c,d\ne,f,g,h\n", "kind='matrix'"),
        ("id,a,b,km,min\n1,x,y,3,9\n2,y,x,4,8\n", "weight= one of"),
        ("a,b\nc,d\n", "unreachable='largest'"),
        ("x,y,u,v\n0,0,2,0\n1,1,0,0\n2,0,0,0\n", "current"),
        ("x,y,u,v\n0,0,0,0\n", "points need neighbors"),
        ("source,target,length\na,b,-1\nb,a,2\n", "weight=None"),
        ("0,1\n1,0\n".replace("1", "1e200"), "rescale to ordinary magnitudes"),
    ],
)  # fmt: skip
def test_data_that_are_wrong(small, text, words):
    small.write_text(text)
    if text.startswith("id,"):
        assert words in mistake("embed", small, "--kind", "edges", "--out", "-")
    else:
        assert words in mistake("embed", small, "--out", "-")


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["embed", "nothing.csv", "--out", "-"], "There is no file nothing.csv."),
        (["embed", ".", "--out", "-", "--kind", "matrix"], ". is a folder, not a file."),
        (["embed", "small.csv"], "--out: say where to write the map"),
        (["embed", "small.csv", "--out", "map.gif"], "the suffix .gif is not known; known are .html .png .svg .pdf .csv"),
        (["embed", "small.csv", "--out", "map"], "the suffix (none) is not known"),
        (["embed", "small.csv", "--out", "a.npz", "--out", "./a.npz"], "--out: ./a.npz is given twice"),
        (["embed", "small.csv", "--out", "-", "--out", "-"], "--out: - is given twice"),
        (["embed", "small.csv", "--out", "no/where/a.npz"], "there is no folder no/where"),
        (["embed", "small.csv", "--out", "small.csv", "--force"], "it is a file that is read"),
        (["embed", "small.csv", "--out", "old.npz"], "--out: old.npz: it exists already; --force replaces it."),
        (["embed", "small.csv", "--out", "folder.npz"], "is a folder; name a file"),
        (["embed", "small.csv", "--out", "-", "--json"], "both write to stdout"),
        (["embed", "small.csv", "--json", "--kind", "graph"], "'graph' is not one of auto, matrix, edges, points. Try"),
        (["embed", "small.csv", "--json", "--alpha", "1.5"], "'1.5' is neither auto nor a number"),
        (["embed", "small.csv", "--json", "--dim", "0"], "--n-components"),
        (["embed", "small.csv", "--json", "--dim", "9"], "n_components=9 needs at least as many points"),
        (["embed", "small.csv", "--json", "--dim", "9", "--solver", "classical"], "--n-components: needs at least as many"),
        (["embed", "small.csv", "--json", "--hops"], "--hops: goes with edges; small.csv is read as matrix."),
        (["embed", "small.csv", "--json", "--unreachable", "mask"], "--unreachable: goes with edges and points"),
        (["embed", "small.csv", "--json", "--n-neighbors", "3"], "--n-neighbors: goes with points"),
        (["embed", "small.csv", "--json", "--diagonal", "use"], "--diagonal: use goes with"),
        (["embed", "small.csv", "--json", "--color", "depth"], "--color: 'depth' is not an attribute"),
        (["embed", "small.csv", "--json", "--weighting", "inverse", "--solver", "classical"], "--solver: classical needs"),
        (["embed", "small.csv", "--json", "--kind", "points"], "points need columns x, y"),
        (["embed", "small.csv", "--json", "--kind", "edges"], "not a list of arcs"),
        (["embed", "small.csv", "--json", "--time-limit", "0"], "time_limit"),
        (["embed", "small.csv", "--json", "--encoding", "klingon"], "not text in KLINGON"),
        (["embed", "old.npz", "--json"], "it is a saved map"),
        (["report", "small.csv", "--hops"], "--hops: goes with edges"),
        (["report", "edges.txt", "--unreachable", "mask"], "does not go with a report of edges"),
        (["embed"], "Missing argument 'FILE'. Try 'finsler embed --help'."),
        (["embed", "small.csv", "--nothing"], "--nothing"),
        (["embd"], "No such command 'embd'"),
        (["--nothing"], "--nothing"),
        (["distance", "old.npz", "A"], "Missing argument 'B'"),
    ],
)  # fmt: skip
def test_what_the_user_got_wrong(small, monkeypatch, args, words):
    monkeypatch.chdir(small.parent)
    embed_matrix(read_table(small).values, labels=[*"ABCD"]).save("old.npz")
    before = Path("old.npz").read_bytes()
    Path("folder.npz").mkdir()
    Path("edges.txt").write_text("a b\nb a\n")
    assert words in mistake(*args).replace("root", "finsler")
    assert Path("old.npz").read_bytes() == before
    assert sorted(os.listdir()) == ["edges.txt", "folder.npz", "old.npz", "small.csv"]


@pytest.mark.parametrize("out", ["map.gif", "no/map.npz", "small.csv", "old.npz", "map.png", "map.html"])
def test_outputs_are_checked_before_anything_is_read(small, monkeypatch, out):
    monkeypatch.chdir(small.parent)
    Path("old.npz").touch()
    monkeypatch.setattr(cli_output, "find_spec", lambda name: None)  # neither matplotlib nor plotly
    monkeypatch.setattr(cli_data, "read_input", lambda *_: pytest.fail("it began to work"))
    line = mistake("embed", small, "--out", out)
    if out in ("map.png", "map.html"):
        needed = {"map.png": "matplotlib", "map.html": "plotly"}[out]
        assert line == f"--out: {out}: it needs {needed}: pip install 'finsler[plot]'"


@pytest.mark.skipif(getattr(os, "geteuid", lambda: 0)() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written_to(small):
    small.parent.chmod(0o500)
    try:
        assert "cannot be written to" in mistake("embed", small, "--out", small.parent / "map.npz")
    finally:
        small.parent.chmod(0o700)


def test_one_output_that_fails_does_not_take_the_others_along(small, monkeypatch):
    monkeypatch.chdir(small.parent)

    def full(*_):
        raise OSError(28, "No space left on device", "map.png")

    monkeypatch.setattr(cli_output, "_draw", full)
    line = mistake("embed", small, "--out", "map.png", "--out", "map.npz", "--out", "map.csv")
    assert line == "map.png: No space left on device."
    assert Path("map.npz").exists()
    assert Path("map.csv").exists()


def test_force_replaces(small):
    small.with_suffix(".npz").write_text("old")
    done("embed", small, "--out", small.with_suffix(".npz"), "--force")
    assert finsler.Embedding.load(small.with_suffix(".npz")).n_points == 4


def test_too_large_for_memory_is_one_line(small, monkeypatch):
    def solve(*_):
        raise MemoryError("A matrix of that size needs 3 TB.")

    monkeypatch.setattr(cli_data, "solve", solve)
    assert mistake("embed", small, "--json") == "A matrix of that size needs 3 TB."


# --- bugs ------------------------------------------------------------------------------------------------------


def look_up(*_):
    return {}["a bug"]


def broadcast(*_):
    return np.ones(2) + np.ones(3)


@pytest.mark.parametrize("bug", [look_up, broadcast])
def test_bugs_keep_their_traceback(small, monkeypatch, bug):
    monkeypatch.setattr(cli_data, "solve", bug)
    result = run("embed", small, "--json")
    assert result.exit_code == 1
    assert isinstance(result.exception, KeyError | ValueError)


def test_an_error_is_one_line_that_starts_with_the_option_to_blame():
    def caught(function, *args):
        with pytest.raises(Exception) as info:
            function(*args)
        return info.value

    assert explain(InputError("two\nlines")) == "two lines"
    assert explain(caught(open, "/nothing")) == "There is no file /nothing."
    assert explain(caught(open, "/")) == "/: Is a directory."
    assert explain(MemoryError()) == "There is not enough memory."
    blamed = InputError("must be at least 1, got 0.", argument="n_init")
    assert str(blamed) == "n_init must be at least 1, got 0."
    assert explain(blamed, {"n_init": "--n-init"}) == "--n-init: must be at least 1, got 0."
    assert explain(blamed, {"tol": "--tol"}) == str(blamed)


# --- processes -------------------------------------------------------------------------------------------------


def test_exit_codes_of_a_process(small, tmp_path):
    good = shell("embed", "-", "--out", "-", input=SMALL)
    assert (good.returncode, good.stdout.count("\n")) == (0, 5)
    assert good.stderr.startswith("stdin: a 4 x 4 matrix with labels\n")
    bad = shell("embed", tmp_path / "nothing.csv", "--out", "-")
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == f"finsler: There is no file {tmp_path / 'nothing.csv'}.\n"
    code = (
        "import sys, finsler.cli.data, finsler.cli as cli\n"
        "finsler.cli.data.solve = lambda *_: {}['a bug']\n"
        f"sys.exit(cli.main(['embed', {str(small)!r}, '--json']))"
    )
    bug = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert bug.returncode == 1
    assert "Traceback" in bug.stderr
    assert "KeyError: 'a bug'" in bug.stderr


def test_main_returns_the_code(capsys):
    assert main(["--version"]) == 0
    assert main(["distance", "nothing.npz", "A", "B"]) == 2
    assert "There is no file nothing.npz" in capsys.readouterr().err


def interrupted(module, name, when, args):
    """Run the command in a process that sends itself a real Ctrl-C when a function is called for the n-th time."""
    code = f"""
import os, signal, sys
import {module} as module
from finsler.cli import main
kept, calls = getattr({name.rpartition(".")[0] or "module"}, {name.rpartition(".")[2]!r}), 0
def watched(*args, **options):
    global calls
    calls += 1
    if calls == {when}:
        os.kill(os.getpid(), signal.SIGINT)
    return kept(*args, **options)
{"" if "." in name else "module."}{name} = watched
sys.exit(main({[str(arg) for arg in args]!r}))
"""
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)


def test_ctrl_c_writes_the_best_map_so_far(flights, tmp_path):
    folder, _ = flights
    outs = ["--out", tmp_path / "map.npz", "--out", tmp_path / "map.csv"]
    args = ["embed", folder / "times.csv", "--init", "random", *outs]
    result = interrupted("finsler._runtime", "module.Progress.update", 4, args)
    assert result.returncode == 130, result.stderr
    assert "interrupted: Ctrl-C after" in result.stderr
    assert "stopped by Ctrl-C; what was found so far was written." in result.stderr
    assert "Traceback" not in result.stderr
    found = finsler.Embedding.load(tmp_path / "map.npz")
    assert found.status == "interrupted"
    assert found.n_iter == 3
    assert (tmp_path / "map.csv").read_text().count("\n") == 65


def test_ctrl_c_at_any_other_time_leaves_nothing(flights, tmp_path):
    folder, _ = flights
    args = ["embed", folder / "times.csv", "--out", tmp_path / "map.npz"]
    for module, name in (("finsler.cli.data", "prepare"), ("finsler.embedding", "save_archive")):
        result = interrupted(module, name, 1, args)
        assert result.returncode == 130
        assert result.stderr.splitlines()[-1] == "finsler: stopped by Ctrl-C; nothing more was written."
        assert "Traceback" not in result.stderr
        assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(signal, "SIGPIPE"), reason="no pipes that break")
def test_a_reader_that_has_enough():
    command = [sys.executable, "-m", "finsler.cli", "datasets", "fetch", "flight-hours"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def test_without_typer_it_says_what_to_install():
    code = (
        "import sys\nfrom importlib import util\nfind = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name in ('typer', 'rich') else find(name, *rest)\n"
        "import finsler.cli\nsys.exit(finsler.cli.main(['--help']))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.returncode == 2
    assert result.stderr == "finsler: the command line needs typer and rich: pip install 'finsler[cli]'\n"
