from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.utils import Bunch

from finsler.graphs.digraph import as_digraph
from finsler.graphs.paths import shortest_paths
from finsler.graphs.scores import DigraphScores, digraph_scores, symmetric_floor

import table1
from helpers import real_file
from table1 import Cell, graph_facts, run_cell, run_table1, table_markdown

pytest.importorskip("torch")


@pytest.fixture
def small(monkeypatch):
    """A graph of 40 nodes takes the place of Cora; counts how often it is asked for."""
    rng = np.random.default_rng(0)
    arcs = rng.random((40, 40)) < 0.06
    np.fill_diagonal(arcs, False)
    graph = as_digraph(csr_array(arcs.astype(float)))
    asked = []

    def load(name):
        asked.append(name)
        return graph

    monkeypatch.setattr(table1, "table_graph", load)
    return graph, asked


def run(out, **options):
    return run_table1(["cora"], [2, 3], out, max_iter=30, n_jobs=1, verbose=False, **options)


def test_cells_are_run_once_and_the_table_written(small, tmp_path):
    _, asked = small
    table = run(tmp_path)
    files = sorted((tmp_path / "results").glob("*.json"))
    assert len(files) == 4
    assert asked == ["cora"]
    times = [file.stat().st_mtime_ns for file in files]
    assert run(tmp_path) == table
    assert asked == ["cora"]
    assert [file.stat().st_mtime_ns for file in files] == times
    files[0].unlink()
    run(tmp_path)
    assert len(list((tmp_path / "results").glob("*.json"))) == 4
    text = table.read_text(encoding="utf-8")
    assert "(0.426 / 0.574)" in text  # the paper's Euclidean Cora at m = 2
    assert text.count("| Cora |") == 2
    assert "40 nodes" in text
    assert list(tmp_path.rglob("*.tmp")) == []


def test_a_result_says_what_was_done_and_is_repeatable(small, tmp_path):
    cell = Cell("cora", 3, "finsler", 0.06, 0.1, seed=4, max_iter=30)
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    result = run_cell(cell, tmp_path / "a", n_jobs=1, verbose=False)
    assert result["cell"] == asdict(cell)
    assert result["alpha"] > 0
    assert result["n_iter"] == 30
    assert set(result["scores"]) == set(asdict(DigraphScores(*([0] * 10))))
    again = run_cell(cell, tmp_path / "b", n_jobs=2, verbose=False)
    for key in ("scores", "alpha", "objective", "n_evaluations"):
        assert again[key] == result[key]
    assert json.loads((tmp_path / "a" / f"{cell.name}.json").read_text()) == result


def test_the_euclidean_cell_has_no_drift(small, tmp_path):
    result = run_cell(Cell("cora", 2, "euclidean", 0.06, 0.1, max_iter=20), tmp_path, n_jobs=1, verbose=False)
    assert result["alpha"] == 0
    assert result["scores"]["B"] > result["graph"]["symmetric_floor"]


def test_other_settings_under_the_same_name_are_refused(small, tmp_path):
    run(tmp_path)
    with pytest.raises(ValueError, match="other settings"):
        run_table1(["cora"], [2], tmp_path, max_iter=31, n_jobs=1, verbose=False)


def test_an_interrupted_cell_leaves_nothing(small, tmp_path, monkeypatch):
    from finsler.learn.digraph_objective import RankedStress

    def interrupt(*_):
        raise KeyboardInterrupt

    evaluate, calls = RankedStress.__call__, []

    def fails_at_ten(self, *arguments):
        calls.append(1)
        return interrupt() if len(calls) == 10 else evaluate(self, *arguments)

    monkeypatch.setattr(RankedStress, "__call__", fails_at_ten)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path)
    assert list((tmp_path / "results").iterdir()) == []


@pytest.mark.parametrize(
    ("options", "message"),
    [({"graph": "pubmed"}, "graph='pubmed' is not a known graph"), ({"geometry": "taxi"}, "geometry='taxi'")],
)
def test_unknown_cells(options, message):
    with pytest.raises(ValueError, match=message):
        Cell(
            **{"graph": "cora", "n_components": 2, "geometry": "finsler", **options},
            ranking_weight=1,
            temperature=1,
        )


def test_a_bad_graph_is_refused_before_any_work(tmp_path):
    with pytest.raises(ValueError, match="known graph"):
        run_table1(["cora", "corra"], [2], tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_sampled_scores_are_shown_with_their_errors():
    scores = asdict(DigraphScores(0.2, 0.1, 0.5, 0.7, 0.01, 0.001, 0.02, 0.03, 2000, 10))
    text = table_markdown([a_result(Cell("arxiv-year", 10, "finsler", 0.06, 0.1), scores)])
    assert "0.200 ± 0.010 / 0.500 ± 0.020 / 0.700 ± 0.030" in text
    assert "(0.136 / 0.927)" in text


def a_result(cell, scores, objective=1.0):
    facts = {"n_nodes": 5, "n_arcs": 7}
    return {"cell": asdict(cell), "scores": scores, "objective": objective, "alpha": 0.9, "graph": facts}


def test_the_best_of_several_starts_is_shown_and_counted_by_both_definitions():
    def cell(seed):
        return Cell("cora", 5, "finsler", 0.0, 0.1, seed=seed)

    good = asdict(DigraphScores(0.1, 0.1, 0.5, 0.95, *[0.0] * 4, 10, 10))  # the paper: 0.106 / 0.922
    bad = asdict(DigraphScores(0.3, 0.1, 0.99, 0.99, *[0.0] * 4, 10, 10))
    text = table_markdown([a_result(cell(0), bad, 2.0), a_result(cell(1), good, 1.0)])
    assert "| 2 |" in text
    assert "0.1000 / 0.5000 / 0.9500" in text
    assert "0.3000" not in text
    assert "lambda 0, MAP among all nodes: 0 of 1\n" in text
    assert "lambda 0, MAP among reachable nodes: 1 of 1: Cora 5" in text


def test_cells_are_counted_once_whatever_lambda_meets_the_paper():
    scores = [
        asdict(DigraphScores(B, 0.1, MAP, 0.95, *[0.0] * 4, 10, 10)) for B, MAP in ((0.1, 0.5), (0.09, 0.93))
    ]
    del scores[1]["MAP_reachable"]  # of an earlier run; it is never below the MAP among all nodes
    cells = [Cell("cora", 5, "finsler", weight, 0.1) for weight in (0.0, 0.04)]
    text = table_markdown([a_result(cell, some) for cell, some in zip(cells, scores, strict=True)])
    assert "lambda 0.04, MAP among reachable nodes: at least 1 of 1: Cora 5\n" in text
    assert "any lambda, MAP among all nodes: 1 of 1: Cora 5\n" in text
    assert "any lambda, MAP among reachable nodes: at least 1 of 1: Cora 5\n" in text


def test_facts_of_a_graph():
    graph = as_digraph(([0, 1, 2, 1], [1, 2, 0, 0]))
    facts = graph_facts("cora", graph, 1)
    D = shortest_paths(graph.matrix, method="bfs")
    assert facts["reachable_pairs"] == 6
    assert facts["symmetric_floor"] == symmetric_floor(D)
    assert "symmetric_floor" not in graph_facts("arxiv-year", graph, 1)


def test_pairs_without_directions_get_them_from_the_order_of_their_nodes(monkeypatch):
    both = (np.random.default_rng(0).random((30, 30)) < 0.1).astype(float)
    both = np.maximum(both, both.T)  # with self-loops, as Gr-QC has them
    monkeypatch.setattr(table1, "fetch_graph", lambda name: Bunch(graph=csr_array(both)))
    arcs = table1.table_graph("grqc").matrix.tocoo()
    assert (arcs.row < arcs.col).all()
    assert arcs.nnz == np.count_nonzero(np.triu(both, 1))
    assert table1.table_graph("citeseer").n_arcs == np.count_nonzero(both - np.diag(np.diag(both)))


def test_gr_qc_gets_directions_from_the_order_of_its_nodes(monkeypatch):
    files = [real_file(f"raw/{name}") for name in ("ca-GrQc.txt", "citeseer.zip")]
    monkeypatch.setenv("FINSLER_DATA", str(files[0].parent))
    graph = table1.table_graph("grqc")
    assert (graph.n_nodes, graph.n_arcs) == (5242, 14484)
    arcs = graph.matrix.tocoo()
    assert (arcs.row < arcs.col).all()
    assert table1.table_graph("citeseer").n_arcs == 4608  # without self-loops


def test_scores_in_a_result_are_those_of_the_evaluation(small, tmp_path, monkeypatch):
    """The numbers do not come from the objective, which computes in single precision."""
    graph, _ = small
    seen = {}
    from finsler.learn.digraph import DigraphEmbedding

    fit = DigraphEmbedding.fit

    def remember(self, *arguments, **options):
        seen["fitted"] = fit(self, *arguments, **options)
        return seen["fitted"]

    monkeypatch.setattr(DigraphEmbedding, "fit", remember)
    result = run_cell(Cell("cora", 2, "finsler", 0.06, 0.1, max_iter=20), tmp_path, n_jobs=1, verbose=False)
    fitted = seen["fitted"]
    assert result["scores"] == asdict(digraph_scores(fitted.embedding_, fitted.alpha_, graph))
