"""The paper's tables from the command line: what is asked for is what runs, and what is there is not run again."""

import json
from pathlib import Path

import pytest

from helpers import done, mistake

pytest.importorskip("torch")
import table1
import table2


@pytest.fixture
def asked(monkeypatch, tmp_path):
    calls = []

    def run(graphs, *rest, **options):
        calls.append((graphs, *rest))
        path = tmp_path / "table.md"
        path.write_text("the table\n")
        return path

    monkeypatch.setattr(table1, "run_table1", run)
    monkeypatch.setattr(table2, "run_table2", run)
    return calls


def test_options_reach_the_tables(asked):
    assert "the table" in done("reproduce", "table1", "--graphs", "cora,grqc", "--dims", "2, 5").stdout
    done("reproduce", "table2", "--splits", "2", "--out", "here", "--quiet")
    done(
        "reproduce", "table2", "--graphs", "cora", "--splits", "10-12", "--forests", "random,index", "--quiet"
    )
    assert asked[0] == (["cora", "grqc"], [2, 5], Path("table1"))
    assert asked[1] == (list(table2.NAMES), [0, 1], ["random"], Path("here"))
    assert asked[2] == (["cora"], [10, 11, 12], ["random", "index"], Path("table2"))


def test_wrong_options_are_told(asked):
    assert "--splits has no meaning for table1" in mistake("reproduce", "table1", "--splits", 3)
    assert "--dims has no meaning for table2" in mistake("reproduce", "table2", "--dims", 3)
    assert "whole numbers" in mistake("reproduce", "table1", "--dims", "two")
    assert "a range, such as" in mistake("reproduce", "table2", "--splits", "some")
    assert "holds no split" in mistake("reproduce", "table2", "--splits", "5-4")
    assert "neither random nor index" in mistake("reproduce", "table2", "--forests", "oak")
    assert "are for table1 and table2" in mistake("reproduce", "fig2", "--dims", 3)
    assert not asked


def result(graph, split, score, seconds=1.0):
    scores = dict.fromkeys(table2.TASKS, score)
    return {
        "cell": {"graph": graph, "forest": "random", "split": split}, "options": {}, "test": scores,
        "baselines": {"springrank": scores}, "seconds": seconds,
        "graph": {"n_nodes": 5, "n_arcs": 6, "observed": 4, "test_pairs": 1},
    }  # fmt: skip


def test_means_and_deviations_of_table_2():
    text = table2.table_markdown(
        [result("cora", 0, 90.0), result("cora", 1, 94.0, 3.0), result("squirrel", 0, 99.0)]
    )
    assert (
        "| **Cora**, random | 2 | **finsler** | **92.0 ± 2.8** | **92.0 ± 2.8** | **92.0 ± 2.8** | 2 |"
        in text
    )
    assert "| **Squirrel**, random | 1 | **finsler** | **99.0** |" in text
    assert "| | | the paper's method | 95.2 | | 95.1 | |" in text


def test_cells_that_are_there_are_not_run_again(tmp_path):
    (tmp_path / "results").mkdir()
    kept = tmp_path / "results" / "cora-random-split0.json"
    kept.write_text(json.dumps(result("cora", 0, 90.0)))
    assert "90.0" in table2.run_table2(["cora"], [0], out=tmp_path, verbose=False).read_text()
    with pytest.raises(ValueError, match="other options"):
        table2.run_cell(table2.Cell("cora", "random", 0), tmp_path / "results", n_components=3)


def test_a_cell_runs_from_a_graph_to_a_file(tmp_path):
    from finsler.graphs.digraph import as_digraph

    graph = as_digraph([(i, (i + step) % 40) for i in range(40) for step in (1, 2, 5)])
    cell = table2.Cell("cora", "random", 0)
    found = table2.run_cell(
        cell, tmp_path, graph=graph, n_jobs=1, verbose=False, n_components=4, epochs=2, encoder="direct"
    )
    assert json.loads((tmp_path / f"{cell.name}.json").read_text()) == found
    assert set(found["test"]) == set(table2.TASKS)
    assert set(table2.BASELINES) - set(found["baselines"]) == {"closed_form_features"}
    with pytest.raises(ValueError, match="choose from cora"):
        table2.Cell("core", "random", 0)
