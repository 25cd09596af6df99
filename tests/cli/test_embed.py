"""``finsler embed``: what it reads, finds, says and refuses."""

import csv
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")
import finsler
from finsler import Embedding
from finsler.cli import inputs
from finsler.cli import output as cli_output
from finsler.data.tables import read_table
from finsler.datasets import load_flight_hours, make_city
from finsler.geometry.randers import randers_distances
from finsler.recipes import embed_graph, embed_matrix, embed_pairs, embed_points

from helpers import SMALL, confusions, done, flows, mistake, real_file, spiral, tour


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

    def explore(embedding, path, *, color=None, title=None):
        seen.update(embedding.attributes, color=color, title=title, n=embedding.n_points)
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
    assert (seen["color"], seen["title"], seen["n"]) == ("kind", "Towns", 4)
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
    assert "weights for 2 points, where there are 4" in mistake("embed", small, "--weights", file, "--json")
    file.write_text(cli_output.matrix_csv(-weights, [*"ABCD"]))
    assert "finite and non-negative; from 0 ('A')" in mistake("embed", small, "--weights", file, "--json")
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
    best = f"{100 * finsler.asymmetry_report(D).gradient_share:.3g} % can be shown (noise alone: 16.7 %)"
    lines = {dim: done("embed", small, "--dim", dim, "--out", "-").stderr.splitlines() for dim in (2, 3)}
    said = {dim: next(line for line in lines[dim] if "asymmetry shown" in line) for dim in (2, 3)}
    assert said[2].endswith(f"up to {best}: try 3 dimensions")
    assert said[3].endswith(f"up to {best}")
    small.write_text(cli_output.matrix_csv(D + D.T, [*"ABCDEFGHIJKL"]))
    assert "the data are symmetric" in done("embed", small, "--out", "-").stderr


def test_missing_values(small):
    small.write_text(SMALL.replace("A,0,3", "A,,").replace("5,4,3", "5,4,inf"))
    line = mistake("embed", small, "--out", "-")
    assert (
        "contains NaN or infinity: from 0 ('A') to 1 ('B') it is nan, which stands for an empty cell" in line
    )
    assert "--missing mask" in line
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
            ["--unreachable", "hinge", "--connection", "weak"],
            {"unreachable": "hinge", "connection": "weak"},
        ),
        (
            ["--unreachable", "hinge", "--weighting", "inverse"],
            {"unreachable": "hinge", "weighting": "inverse"},
        ),
    ):
        result = done("embed", file, "--kind", "edges", "--alpha", "0.3", *options, "--out", npz, "--force")
        expected = embed_graph(file, alpha=0.3, random_state=0, **arguments)
        found = finsler.Embedding.load(npz)
        assert found.labels == expected.labels
        assert found.message == expected.message
        np.testing.assert_allclose(found.coordinates, expected.coordinates, atol=1e-9)
    said = "streets.csv: edges of a digraph with 5 nodes, 7 arcs, lengths 1 to 3 (minutes)"
    assert result.stderr.startswith(said + "\n")
    assert done("embed", file, "--out", "-").stderr.startswith(said + ". Taken for edges")
    assert "4 ordered pairs without a path" in result.stderr
    assert "--unreachable mask" in mistake("embed", file, "--unreachable", "raise", "--json")
    piped = done("embed", "-", "--out", "-", "--alpha", "0.3", input=file.read_text())
    assert len(piped.stdout.splitlines()) == 6


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
    assert "--unreachable largest" in line
    options = ["--n-neighbors", "2", "--unreachable", "largest", "--color", "depth"]
    done("embed", file, *options, "--out", file.with_suffix(".npz"))
    found = Embedding.load(file.with_suffix(".npz"))
    labels = found.labels
    assert 3 < len(labels) < 60
    assert found.attributes["depth"].tolist() == [int(label[1:]) % 3 for label in labels]
    assert "'raise' or 'largest'" in mistake("embed", file, "--unreachable", "mask", "--json")


@pytest.mark.parametrize("real", [False, True])
def test_similarities(tmp_path, real):
    morse, erasmus = tmp_path / "confusions.csv", tmp_path / "flows.csv"
    if real:
        morse, erasmus = (real_file(f"proximities/{name}.csv") for name in ("morse", "erasmus_2012"))
    else:
        letters = [chr(ord("A") + k) for k in range(36)]
        morse.write_text(cli_output.matrix_csv(confusions(36), letters))
        erasmus.write_text(cli_output.matrix_csv(flows(33, zeros=121)[0], [f"c{k}" for k in range(33)]))
    line = mistake("embed", morse, "--out", "-")
    assert f"from 0 ('A') to itself it is {0.08 if real else 0.12}" in line
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


@pytest.mark.parametrize("real", [False, True])
def test_a_tour(tmp_path, real):
    file = real_file("proximities/atsp_ftv170.csv") if real else tmp_path / "tour.csv"
    if not real:
        file.write_text(cli_output.matrix_csv(tour(171), range(171)))
    result = done("embed", file, "--out", tmp_path / "tour.npz")
    assert result.stderr.startswith(f"{file.name}: a 171 x 171 matrix with labels\n")
    assert finsler.Embedding.load(tmp_path / "tour.npz").n_points == 171


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
        ("a,b,c,d\ne,f,g,h\n", "--kind matrix"),
        ("id,a,b,km,min\n1,x,y,3,9\n2,y,x,4,8\n", "source, target: which columns"),
        ("a,b\nc,d\n", "--connection weak"),
        ("x,y,u,v\n0,0,2,0\n1,1,0,0\n2,0,0,0\n", "current"),
        ("x,y,u,v\n0,0,0,0\n", "two points"),
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
        (["embed", "small.csv"], "--out: say where to write"),
        (["embed", "small.csv", "--out", "map.gif"], "the suffix .gif is not known; known are .html .png .svg .pdf .csv"),
        (["embed", "small.csv", "--out", "map"], "the suffix (none) is not known"),
        (["embed", "small.csv", "--out", "a.npz", "--out", "./a.npz"], "--out: ./a.npz is given twice"),
        (["embed", "small.csv", "--out", "-", "--out", "-"], "--out: - is given twice"),
        (["embed", "small.csv", "--out", "no/where/a.npz"], "there is no folder no/where"),
        (["embed", "small.csv", "--out", "small.csv", "--force"], "it is a file that is read"),
        (["embed", "small.csv", "--out", "old.npz"], "--out: old.npz: it exists already; --force replaces it."),
        (["embed", "small.csv", "--out", "folder.npz"], "is a folder; name a file"),
        (["embed", "small.csv", "--out", "-", "--json"], "both write to stdout"),
        (["embed", "small.csv", "--json", "--kind", "graph"], "is not one of auto, matrix, pairs, edges, points, field."),
        (["embed", "small.csv", "--json", "--alpha", "1.5"], "'1.5' is neither auto nor a number"),
        (["embed", "small.csv", "--json", "--dim", "0"], "--n-components"),
        (["embed", "small.csv", "--json", "--dim", "9"], "--n-components: 9 needs at least as many"),
        (["embed", "small.csv", "--json", "--dim", "9", "--solver", "classical"], "--n-components: 9 needs"),
        (["embed", "small.csv", "--json", "--hops"], "--hops: goes with edges; small.csv is read as matrix."),
        (["embed", "small.csv", "--json", "--unreachable", "mask"], "--unreachable: must be 'raise' or 'largest'"),
        (["embed", "small.csv", "--json", "--n-neighbors", "3"], "--n-neighbors: goes with points"),
        (["embed", "small.csv", "--json", "--diagonal", "use"], "--diagonal: must be"),
        (["embed", "small.csv", "--json", "--color", "depth"], "--color: 'depth' is not an attribute"),
        (["embed", "small.csv", "--json", "--weighting", "inverse", "--solver", "classical"], "--solver: 'classical' needs"),
        (["embed", "small.csv", "--json", "--kind", "points"], "points need columns x, y"),
        (["embed", "small.csv", "--json", "--kind", "edges"], "not a list of arcs"),
        (["embed", "small.csv", "--json", "--time-limit", "0"], "time-limit"),
        (["embed", "small.csv", "--json", "--encoding", "klingon"], "not text in KLINGON"),
        (["embed", "old.npz", "--json"], "is a saved map"),
        (["report", "small.csv", "--hops"], "--hops: goes with edges"),
        (["report", "edges.txt", "--unreachable", "mask"], "does not go with a report of edges"),
        (["embed"], "Missing argument 'FILE'. Try 'finsler embed --help'."),
        (["embed", "small.csv", "--nothing"], "--nothing"),
        (["embed", "small.csv", "--dim", "0", "--json"], "equal to 1. Try"),
        (["embed", "edges.txt", "--json", "--method", "dense", "--n-pivots", "3"], "--n-pivots: goes with --method"),
        (["embed", "edges.txt", "--json", "--weights", "small.csv", "--n-pivots", "3"], "goes without weights"),
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


def test_too_large_for_memory_is_one_line(small, monkeypatch):
    def solve(*_):
        raise MemoryError("A matrix of that size needs 3 TB.")

    monkeypatch.setattr(inputs, "find_map", solve)
    assert mistake("embed", small, "--json") == "A matrix of that size needs 3 TB."


@pytest.fixture
def arcs(tmp_path):
    """A city as a list of arcs."""
    rows, columns = make_city(400).graph.nonzero()
    path = tmp_path / "city.csv"
    lines = ["from,to", *(f"{a},{b}" for a, b in zip(rows, columns, strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_sparse_map_with_its_held_out_score(arcs, tmp_path):
    out = tmp_path / "map.npz"
    result = done("embed", arcs, "--method", "sparse", "--n-pivots", 20, "--out", out, "--json")
    record = json.loads(result.stdout)
    assert record["held_out"]["n_sources"] == 20
    assert 0 < record["held_out"]["normalized_stress"]["value"] < 0.3
    assert "20 rows that it was not made from" in result.stderr
    assert Embedding.load(out).n_points == record["points"]


def test_large_graphs_are_sparse_and_say_so(arcs, tmp_path, monkeypatch):
    monkeypatch.setattr("finsler.graphs.distances.DENSE_NODES", 100)
    monkeypatch.setattr("finsler.graphs.distances.DENSE_NODES", 100)
    said = done("embed", arcs, "--out", tmp_path / "map.csv", "--n-pivots", 20).stderr
    assert "sparse map" in said
    assert "20 pivots" in said
    assert len(np.genfromtxt(tmp_path / "map.csv", delimiter=",", names=True)) > 380
    monkeypatch.setattr("finsler.report.DENSE_NODES", 100)
    assert json.loads(done("report", arcs, "--json").stdout)["n_rows"] == 50
    done("embed", arcs, "--method", "dense", "--out", tmp_path / "d.csv", "--max-iter", 2)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--method", "sparse", "--solver", "classical"], "--solver classical goes with --method dense"),
        (["--method", "sparse", "--weights", "w.csv"], "--weights: goes with --method dense"),
        (["--method", "quick"], "is not one of"),
    ],
)
def test_options_that_do_not_go_together(arcs, tmp_path, options, words):
    assert words in mistake("embed", arcs, "--out", tmp_path / "map.csv", *options)


def test_a_matrix_has_no_pivots(small):
    line = mistake("embed", small, "--method", "sparse", "--json")
    assert line.startswith("--method: goes with edges")


TRADE = "year,exporter,importer,trade\n" + "".join(
    f"{year},{a},{b},{(year - 2000) * (1 + 3 * i + j)}\n"
    for year in (2019, 2020)
    for i, a in enumerate("ABCDE")
    for j, b in enumerate("ABCDE")
    if a != b
)


def test_pairs(tmp_path):
    file, npz = tmp_path / "trade.csv", tmp_path / "map.npz"
    file.write_text(TRADE)
    line = mistake("embed", file, "--kind", "pairs", "--where", "year=2020", "--json")
    assert "similarity" in line  # trade is a flow: more is nearer
    given = ["--kind", "pairs", "--similarity", "gravity"]
    line = mistake("embed", file, *given, "--json")
    assert "aggregate" in line  # two years of each
    for options, arguments in (
        (["--where", "year=2020"], {"where": "year=2020"}),
        (["--aggregate", "mean"], {"aggregate": "mean"}),
        (["--value", "trade", "--aggregate", "sum"], {"value": "trade", "aggregate": "sum"}),
    ):
        done("embed", file, *given, *options, "--out", npz, "--force")
        expected = embed_pairs(file, similarity="gravity", random_state=0, **arguments)
        found = Embedding.load(npz)
        assert found.labels == expected.labels
        np.testing.assert_allclose(found.coordinates, expected.coordinates, atol=1e-9)
        assert found.provenance.similarity == "gravity"
    assert mistake("embed", file, "--kind", "matrix", "--aggregate", "sum", "--json")


def test_keeping_the_data(small):
    npz = small.with_suffix(".npz")
    done("embed", small, "--out", npz)
    assert Embedding.load(npz).data is not None
    done("embed", small, "--out", npz, "--force", "--no-keep-data")
    kept = Embedding.load(npz)
    assert kept.data is None
    assert kept.asymmetry_shown() is not None  # found out before


def test_what_is_left_out_beyond_a_thousand_points_is_said(tmp_path):
    """Neither the asymmetry shown nor that the data were not kept was said above 1,000 points."""
    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(1001, 2)), drift=0.4)
    np.save(tmp_path / "D.npy", D)
    given = ["embed", tmp_path / "D.npy", "--alpha", 0.4, "--max-iter", 2, "--out", tmp_path / "map.npz"]
    said = done(*given).stderr
    assert "asymmetry shown: " in said
    assert "data of 1,001 points are not in" in said
    assert "--keep-data" in said
    assert Embedding.load(tmp_path / "map.npz").data is None
    assert "are not in" not in done(*given, "--force", "--keep-data").stderr
    assert Embedding.load(tmp_path / "map.npz").data is not None


@pytest.mark.parametrize("command", [["embed", "--out", "-"], ["compare"]])
def test_what_a_table_is_taken_for_is_said_once(tmp_path, command):
    """Before: by the line about the file, and again below the map."""
    file = tmp_path / "minutes.csv"
    file.write_text("from,to,minutes\na,b,1\nb,c,2\nc,a,1\nb,a,2\nc,b,4\na,c,2\n")
    assert done(*command, file).stderr.count("Taken for measured pairs") == 1


def test_scalings(tmp_path):
    D = np.where(np.eye(20), 0, spiral() ** 2 - 3)
    np.savetxt(tmp_path / "ratings.csv", D, delimiter=",")
    result = done(
        "embed", tmp_path / "ratings.csv", "--scaling", "ordinal", "--ties", "secondary", "--conditional", "row",
        "--alpha", "0.4", "--json", "--out", tmp_path / "map.npz",
    )  # fmt: skip
    record = json.loads(result.stdout)
    assert record["scaled"]["scaling"] == {
        "kind": "ordinal", "ties": "secondary", "conditional": "row", "degree": 2, "knots": 2
    }  # fmt: skip
    assert "stress-1 (Kruskal)" in result.stderr
    assert "was added to every dissimilarity" in result.stderr
    found = Embedding.load(tmp_path / "map.npz")
    expected = embed_matrix(
        D, scaling="ordinal", ties="secondary", conditional="row", alpha=0.4, random_state=0
    )
    np.testing.assert_allclose(found.coordinates, expected.coordinates)


def test_scalings_go_with_tables_of_dissimilarities(tmp_path):
    (tmp_path / "arcs.csv").write_text("source,target,length\na,b,1\nb,a,2\n")
    said = mistake(
        "embed", tmp_path / "arcs.csv", "--kind", "edges", "--scaling", "ordinal", "--out", tmp_path / "x.npz"
    )
    assert "--scaling" in said
    pairs = tmp_path / "pairs.csv"
    pairs.write_text("from,to,seconds\na,b,1\nb,a,2\nb,c,4\nc,a,-3\n")
    done(
        "embed",
        pairs,
        "--kind",
        "pairs",
        "--scaling",
        "interval",
        "--alpha",
        "0",
        "--out",
        tmp_path / "x.npz",
    )


def test_a_swirl_is_asked_for_and_told(tmp_path):
    from finsler.datasets import make_gyre

    file = tmp_path / "sea.npy"
    np.save(file, make_gyre(25).times)
    result = done("embed", file, "--swirl", "geodesic", "--out", tmp_path / "map.npz", "--json")
    assert json.loads(result.stdout)["kappa"] > 0
    assert "counterclockwise" in result.stderr
    assert Embedding.load(tmp_path / "map.npz").geodesic
    auto = done("embed", file, "--swirl", "auto", "--out", tmp_path / "auto.csv")
    assert "The drift turns" in auto.stderr
    assert (tmp_path / "auto.csv").read_text().startswith("label,x1,x2,stress_share")
    assert "swirl" in mistake("embed", file, "--swirl", "maybe")
