"""Table 2: cells are files, a run can be continued, the table says what it must."""

import json

import numpy as np
import pytest

pytest.importorskip("torch")

from finsler.graphs.digraph import as_digraph

import table2
from table2 import Cell, run_cell, run_table2, table_markdown


@pytest.fixture
def small(monkeypatch):
    """Two small graphs under known names, and a quick model."""
    rng = np.random.default_rng(0)
    arcs = np.array([(i, int(j)) for i in range(80) for j in rng.choice(i, min(i, 5), replace=False)])
    words = rng.random((80, 12)) < 0.3
    loaded = []

    def data(name):
        loaded.append(name)
        return as_digraph(arcs, kind="arcs"), words if name == "cora" else None

    monkeypatch.setattr(table2, "link_data", data)
    from finsler.learn import links

    class Quick(links.LinkPredictor):
        def __init__(self, *, epochs=2, random_state=None, n_jobs=None, device="cpu", verbose=False):
            options = links.LinkOptions(folds=2, ppr_rank=4, feature_rank=4)
            super().__init__(
                4,
                epochs=epochs,
                random_state=random_state,
                n_jobs=1,
                device=device,
                verbose=False,
                options=options,
            )

    monkeypatch.setattr(links, "LinkPredictor", Quick)
    return loaded


def test_a_run_can_be_continued_and_repeats_its_numbers(small, tmp_path):
    run_table2(["cora"], [0], out=tmp_path, verbose=False)
    first = (tmp_path / "results" / "cora-random-split0.json").read_text()
    path = run_table2(["cora", "grqc"], [0, 1], out=tmp_path, verbose=False)
    assert small == ["cora", "cora", "grqc"]
    names = sorted(p.name for p in (tmp_path / "results").iterdir())
    assert names == [f"{g}-random-split{k}.json" for g in ("cora", "grqc") for k in (0, 1)]
    assert (tmp_path / "results" / "cora-random-split0.json").read_text() == first
    result = json.loads(first)
    assert set(result["test"]) == {"direction", "existence_mixed", "existence_random"}
    assert "closed_form_features" in result["baselines"]  # Cora has features
    other = run_table2(["cora"], [0], out=tmp_path / "again", verbose=False).parent / "results"
    again = json.loads((other / "cora-random-split0.json").read_text())
    assert again["test"] == result["test"]
    text = path.read_text(encoding="utf-8")
    assert "| **Cora**, random | 2 | **finsler** |" in text
    assert "Gr-QC (synthetic)" in text
    assert "the paper's method | 95.2" in text
    for part in ("**Protocol.**", "**Data.**", "SpringRank", "degree product", "Adamic-Adar", "80 nodes"):
        assert part in text


def test_other_settings_are_not_mixed(small, tmp_path):
    cell = Cell("grqc", "index", 3)
    assert cell.name == "grqc-index-split3"
    run_cell(cell, tmp_path)
    with pytest.raises(ValueError, match="holds a run with other settings"):
        run_cell(cell, tmp_path, epochs=3)
    with pytest.raises(ValueError, match="graph='pubmed' is not a known graph"):
        Cell("pubmed", "random", 0)


def test_table_averages_over_splits():
    def result(split, value):
        scores = dict.fromkeys(("direction", "existence_mixed", "existence_random"), value)
        return {
            "cell": {"graph": "cora", "forest": "random", "split": split},
            "test": scores, "baselines": {"springrank": scores}, "seconds": 2.0,
            "graph": {"n_nodes": 9, "n_arcs": 8, "observed": 7, "test_pairs": 2},
        }  # fmt: skip

    text = table_markdown([result(0, 90.0), result(1, 92.0)])
    assert "| **Cora**, random | 2 | **finsler** | **91.0 ± 1.4** |" in text
    assert "SpringRank | 91.0 ± 1.4" in text
    assert "| | | the paper's method | 95.2 | | 95.1 | |" in text
    assert "| **Cora**, random | 1 | **finsler** | **90.0** |" in table_markdown([result(0, 90.0)])


def test_a_cell_runs_from_a_graph_to_a_file(tmp_path):
    graph = as_digraph([(i, (i + step) % 40) for i in range(40) for step in (1, 2, 5)])
    cell = Cell("cora", "random", 0)
    found = run_cell(
        cell, tmp_path, graph=graph, n_jobs=1, verbose=False, n_components=4, epochs=2, encoder="direct"
    )
    assert json.loads((tmp_path / f"{cell.name}.json").read_text()) == found
    assert set(found["test"]) == set(table2.TASKS)
    assert set(table2.BASELINES) - set(found["baselines"]) == {"closed_form_features"}
