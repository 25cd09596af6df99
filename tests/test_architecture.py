"""The page "Architecture" is true: its list of modules, and the walks through the code, which are traced."""

import importlib.util
import re
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_layers_and_modules_are_those_of_the_code():
    spec = importlib.util.spec_from_file_location("module_list", ROOT / "docs" / "module_list.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.renewed(PAGE) == PAGE, "modules have changed: python docs/module_list.py"


def test_the_places_to_add_things_exist():
    table = PAGE.split("## Where do I add")[1].split("\n## ")[0]
    rows = [line.split("|") for line in table.splitlines() if line.startswith("| ")][1:]
    assert len(rows) >= 10
    for _, _, file, functions, _ in rows:
        (name,) = re.findall(r"`([\w/.]+)`", file)
        text = (ROOT / "src" / "finsler" / name).read_text(encoding="utf-8")
        first, *_ = functions.split(":")
        words = re.findall(r"`(\w+)`", first.split(";")[0])
        assert len(words) > 0
        assert [word for word in words if not re.search(rf"\b{word}\b", text)] == [], name
        for module in re.findall(r"`(\w+/\w+)`", functions):
            place = ROOT / "src" / "finsler" / module
            assert place.is_dir() or place.with_suffix(".py").is_file(), module


def calls_of(action):
    """Every call of a function of ours while an action runs, in any thread, as ``package.module.function``."""
    calls = []

    def note(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("finsler."):
            calls.append(f"{module.removeprefix('finsler.')}.{frame.f_code.co_qualname}")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def walk(title):
    """The functions that the page lists under a title."""
    chapter = PAGE.split(f"### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return re.findall(r"^\d+\. `([\w.]+)`", chapter, flags=re.MULTILINE)


def follow(title, action, once):
    """See that the listed functions are called in this order, and each of `once` a single time."""
    action()  # imports are done, kernels compiled
    calls = calls_of(action)
    listed = walk(title)
    assert len(listed) > 8
    assert [name for name in listed if name not in calls] == []
    first = [calls.index(name) for name in listed]
    assert first == sorted(first), sorted(zip(first, listed, strict=True))
    packages = [name.split(".")[0] for name in listed[1:]]
    crossed = [b for a, b in zip([None, *packages], packages, strict=False) if a != b]
    assert len(crossed) == len(set(crossed)), f"a package is crossed twice: {crossed}"
    counts = Counter(calls)
    assert {name: counts[name] for name in once} == dict.fromkeys(once, 1)


def test_from_a_csv_file_to_a_page(tmp_path, monkeypatch):
    pytest.importorskip("typer")
    pytest.importorskip("plotly")
    from finsler.cli import main

    monkeypatch.chdir(tmp_path)
    labels = [f"p{i}" for i in range(12)]
    D = np.abs(np.subtract.outer(np.arange(12), np.arange(12))) * 1.0
    D[np.triu_indices(12)] *= 1.3
    rows = [",".join([label, *map(str, row)]) for label, row in zip(labels, D, strict=True)]
    Path("times.csv").write_text("\n".join([",".join(["", *labels]), *rows]) + "\n", encoding="utf-8")

    def embed():
        assert main(["embed", "times.csv", "--out", "map.html", "--force"]) == 0

    once = (
        "graphs.readers.open_file", "data.tables.read_table", "data.readers.text.read_text",
        "data.readers.text.Text.__init__", "data.columns.detect", "data.tables._matrix",
        "data.matrix.as_float_array", "data.matrix.check_square", "data.matrix.check_rows",
        "data.matrix.Dissimilarities.require_connected", "estimators.mds.FinslerMDS.fit", "solvers.smacof.smacof",
        "solvers.solution.solution_of", "embedding.Embedding.from_solution", "geometry.asymmetry.asymmetry_shown",
        "plotting.explorer.explore", "report.asymmetry_report", "_io.write_atomically",
    )  # fmt: skip
    follow("From a CSV file to a page", embed, once)


def test_a_large_graph():
    import finsler

    graph = finsler.datasets.make_city(6000).graph
    once = (
        "graphs.digraph._arcs_of", "graphs.digraph.assemble", "graphs.digraph.check_matrix",
        "solvers.sparse.solver.Plan.of", "graphs.pivots.pivot_graph", "graphs.distances.require_one_piece",
        "graphs.pivots.pivot_distances", "solvers.sparse.solver.map_graph", "solvers.sparse.solver.solve",
        "solvers.sparse.problem.ArcPairs.of", "embedding.Embedding.from_solution",
    )  # fmt: skip
    follow("A large graph", lambda: finsler.embed_graph(graph, random_state=0), once)


def test_links_to_be_predicted():
    pytest.importorskip("torch")
    import finsler

    arcs = [(f"p{i}", f"p{j}") for i in range(60) for j in {i // 2, i // 3, i - 1} if 0 <= j < i]

    def predict():
        model = finsler.LinkPredictor(n_components=4, epochs=2, random_state=0).fit(arcs)
        model.predict_proba([("p59", "p3")])

    once = (
        "graphs.digraph.as_digraph", "graphs.digraph._arcs_of", "graphs.digraph.assemble",
        "graphs.digraph.check_matrix", "graphs.arc_set.simple_arcs", "data.labels.LabelIndex.__init__",
        "learn.tasks.split_arcs", "learn.fitting.Fitter.run", "learn.inputs.cross_fit",
    )  # fmt: skip
    follow("Links to be predicted", predict, once)
