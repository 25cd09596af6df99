"""Rivals on the same splits: cells are kept, settings are chosen on validation, the table is made from files."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from finsler.graphs.digraph import as_digraph
from finsler.learn.tasks import split_links

import rivals
import rivals_table
from published import METHODS


@pytest.fixture
def small(monkeypatch):
    rng = np.random.default_rng(0)
    arcs = np.array([(i, j) for i in range(90) for j in range(i // 2) if rng.random() < 0.2])
    graph = as_digraph((arcs[:, 0], arcs[:, 1]))
    monkeypatch.setattr(rivals, "link_data", lambda name: (graph, None))
    return graph


def test_cells_are_run_once_and_settings_frozen(small, tmp_path, monkeypatch):
    table = rivals.run_rivals(["cora"], ["degree_regression", "hope"], [0, 1], tmp_path, verbose=False)
    text = table.read_text(encoding="utf-8")
    assert "logistic regression on degrees +" in text
    files = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert files == [f"{m}-cora-split{k}.json" for m in ("degree_regression", "hope") for k in (0, 1)]
    chosen = json.loads((tmp_path / "settings" / "hope-cora.json").read_text())
    assert len(chosen["tried"]) == len(rivals.grid(METHODS["hope"])) == 6
    cell = json.loads((tmp_path / "results" / "hope-cora-split1.json").read_text())
    assert cell["settings"] == chosen["chosen"]

    def again(*_, **__):
        raise AssertionError("was run before")

    monkeypatch.setattr(type(METHODS["hope"]), "__call__", again)
    assert (
        rivals.run_rivals(["cora"], ["degree_regression", "hope"], [0, 1], tmp_path, verbose=False) == table
    )


def test_the_best_of_the_grid_by_validation_is_chosen(small, tmp_path):
    split = split_links(small)
    chosen = rivals.choose_settings("strap", "cora", split, None, tmp_path)
    tried = json.loads((tmp_path / "strap-cora.json").read_text())["tried"]
    score = {
        t["settings"]["dim"]: t["validation"]["direction"] + t["validation"]["existence_mixed"] for t in tried
    }
    assert score[chosen["dim"]] == max(score.values())


def test_the_row_that_leaks_has_the_settings_of_the_clean_one(small, tmp_path):
    chosen, grid = {"learning_rate": 0.5, "fusion": True}, METHODS["duplex"].grid
    (tmp_path / "duplex-cora.json").write_text(json.dumps({"grid": grid, "chosen": chosen, "tried": []}))
    found = rivals.choose_settings("duplex_leak", "cora", split_links(small), None, tmp_path)
    assert found == chosen
    assert [path.name for path in tmp_path.iterdir()] == ["duplex-cora.json"]


def test_a_row_that_sees_test_arcs_is_in_italics():
    cell = {
        "method": "duplex_leak", "graph": "cora", "split": 0, "seconds": 1.0, "peak_memory_mb": 5,
        "test": {"existence_mixed": 90.0, "existence_random": 91.0, "direction": 92.0},
    }  # fmt: skip
    table = rivals_table.table_markdown([cell])
    assert "| *DUPLEX as released: held-out arcs visible* | *90.0* |" in table
    assert "| as DUPLEX |" in table


def test_the_papers_figures_have_a_row():
    assert set(rivals_table.PAPER) <= set(METHODS)


def _cells(scores):
    """Our cells and those of one rival with the given direction scores, by split."""
    task = lambda value: {"existence_mixed": 90.0, "existence_random": 90.0, "direction": value}  # noqa: E731
    ours = [
        {"cell": {"graph": "cora", "forest": "random", "split": k}, "test": task(own), "seconds": 1.0,
         "baselines": {"springrank": task(50.0)}}
        for k, (own, _) in enumerate(scores)
    ]  # fmt: skip
    theirs = [
        {
            "method": "hope",
            "graph": "cora",
            "split": k,
            "seconds": 1.0,
            "peak_memory_mb": 5,
            "test": task(other),
        }
        for k, (_, other) in enumerate(scores)
    ]
    return rivals_table.rows_of("cora", theirs, ours)


@pytest.mark.parametrize(
    ("scores", "word"),
    [
        ([(95.0, 90.0), (96.0, 91.0)], "(HOPE) is 5.00 ± 0.00 below on 2 splits"),
        ([(90.0, 95.0), (91.0, 96.0)], "(HOPE) is 5.00 ± 0.00 **above** on 2 splits"),
        ([(90.0, 95.0), (96.0, 91.0)], "(HOPE) is level (0.00 ± 5.00 below on 2 splits)"),
    ],
)
def test_the_table_says_who_is_ahead(scores, word):
    assert word in rivals_table.verdict("direction", _cells(scores))


@pytest.mark.parametrize(
    ("gap", "words"),
    [
        (0.04, "is level (0.04 ± 0.00 above on 2 splits)"),
        (0.06, "is 0.06 ± 0.00 **above** on 2 splits"),
        (-0.001, "is level (0.00 ± 0.00 below on 2 splits)"),
    ],
)
def test_small_gaps_are_printed_as_they_are(gap, words):
    assert words in rivals_table.verdict("direction", _cells([(90.0, 90 + gap), (91.0, 91 + gap)]))


def test_the_distance_is_compared_where_both_rows_are_there():
    rows = _cells([(95.0, 90.0), (96.0, 90.0)])
    assert rivals_table.comparisons("cora", rows) == []
    rows[-1].key = "randers"
    assert rivals_table.comparisons("cora", rows) == [
        "| Cora | our default less Randers | 2 | +0.00 ± 0.00 | +0.00 ± 0.00 | +5.50 ± 0.50 |"
    ]


def test_what_was_not_run_says_what_is_known_of_its_time():
    results = [
        {"method": name, "graph": "squirrel", "split": 0, "seconds": 60.0}
        for name in ("nerd", "nerd_raw", "magnet")
    ]
    (line,) = rivals_table.absences("arxiv-year", results)
    assert "NERD, inner product (5, given up after 20)" in line
    assert "untrained vectors as they are (the same training)" in line
    assert "MagNet, degrees (5)" in line
    assert "several times too few" in line


def test_a_row_that_sees_test_arcs_beats_nobody():
    rows = _cells([(95.0, 90.0)])
    rows.append(rivals_table.Row("leak", {0: {"direction": 99.0}}, leaks=True))
    assert "(HOPE) is 5.00 ± 0.00 below on 1 split" in rivals_table.verdict("direction", rows)
