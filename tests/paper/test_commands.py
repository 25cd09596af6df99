"""The commands of the paper's figures and tables: what is asked for is what runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
import as_described
import figures
import rivals
import table1
import table2

PAPER = Path(figures.__file__).parent


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """The arguments that the runs were called with, which write a table and do nothing else."""
    calls = []

    def run(*given, **options):
        calls.append((*given, options))
        path = tmp_path / "table.md"
        path.write_text("the table\n")
        return path

    monkeypatch.setattr(table1, "run_table1", run)
    monkeypatch.setattr(table2, "run_table2", run)
    return calls


def test_options_reach_the_tables(asked, capsys):
    table1.main(["--graphs", "cora", "grqc", "--dims", "2", "5", "--n-jobs", "1"])
    assert "the table" in capsys.readouterr().out
    table2.main(
        ["--graphs", "cora", "--splits", "10", "11", "--forests", "index", "--out", "here", "--quiet"]
    )
    table2.main(["--quiet"])
    assert capsys.readouterr().out == ""
    first, second, third = asked
    assert first[-1].items() >= {"graphs": ["cora", "grqc"], "dims": [2, 5], "n_jobs": 1}.items()
    assert second == (["cora"], [10, 11], ["index"], Path("here"), {"n_jobs": None, "verbose": False})
    assert third[:3] == (tuple(table2.NAMES), table2.SPLITS, ("random",))


def test_a_configuration_lists_groups_of_cells(asked):
    config = PAPER / "results" / "table1" / "config.json"
    table1.main(["--config", str(config), "--out", "here", "--quiet"])
    groups = [options for (options,) in asked]
    more = json.loads(config.read_text(encoding="utf-8"))["more"]
    assert len(groups) == 1 + len(more)
    for changes, group in zip([{}, *more], groups, strict=True):
        assert {"out": Path("here"), **changes}.items() <= group.items()
        assert group["temperature"] == 0.1  # of the first group


def test_every_cell_of_the_published_configuration_is_there(monkeypatch, capsys):
    """The table beside the results is what the command writes, without running anything."""
    folder = PAPER / "results" / "table1"
    monkeypatch.setattr(table1, "table_graph", lambda name: pytest.fail(f"{name} would be run"))
    written = {}
    monkeypatch.setattr(table1, "write_text", lambda path, text: written.update({path: text}))
    table1.main(["--config", str(folder / "config.json"), "--out", str(folder), "--quiet"])
    assert written == {folder / "table1.md": (folder / "table1.md").read_text(encoding="utf-8")}


@pytest.mark.parametrize("folder", ["table2", "table2/fresh"])
def test_the_second_table_is_that_of_its_cells(folder):
    out = PAPER / "results" / folder
    described = table2.read_results(out.parent / "as_described" / "results")
    table = (out / "table2.md").read_text(encoding="utf-8")
    assert table2.table_markdown(table2.read_results(out / "results"), described) == table


def test_the_table_as_described_is_that_of_its_cells(monkeypatch):
    out = PAPER / "results" / "as_described"
    monkeypatch.setattr(as_described, "write_text", lambda path, text: text)
    assert as_described.write_table(out) == (out / "as_described.md").read_text(encoding="utf-8")


def test_the_table_of_rivals_is_that_of_its_cells(monkeypatch):
    """And so is each of the settings files: what was not searched says where it comes from."""
    out = PAPER / "results" / "rivals"
    monkeypatch.setattr(rivals, "write_text", lambda path, text: text)
    assert rivals.write_table(out) == (out / "rivals.md").read_text(encoding="utf-8")
    for path in (out / "settings").glob("*.json"):
        kept = json.loads(path.read_text(encoding="utf-8"))
        assert ("tried" in kept) != ("taken_from" in kept), path.name


@pytest.mark.parametrize(
    ("main", "words", "message"),
    [
        (table1.main, ["--splits", "3"], "--splits"),
        (table1.main, ["--dims", "two"], "--dims"),
        (table1.main, ["--graphs", "pubmed"], "--graphs"),
        (table2.main, ["--forests", "oak"], "--forests"),
        (figures.main, ["fig9"], "there are fig1"),
    ],
)
def test_wrong_arguments_are_named(main, words, message, asked, capsys):
    with pytest.raises(SystemExit):
        main(words)
    assert message in capsys.readouterr().err
    assert not asked


def test_figures_are_drawn_by_name(monkeypatch, tmp_path, capsys):
    drawn = []
    monkeypatch.setattr(
        figures, "reproduce", lambda name, out: drawn.append((name, out)) or ("a.png", "a.json")
    )
    figures.main(["fig4", "fig8", "--out", str(tmp_path)])
    assert drawn == [("fig4", tmp_path), ("fig8", tmp_path)]
    figures.main([])
    assert [name for name, _ in drawn[2:]] == list(figures.FIGURES)
    assert "fig7: The symmetric Swiss roll" in capsys.readouterr().out


@pytest.mark.parametrize("script", sorted(path.name for path in PAPER.glob("*.py")))
def test_scripts_run_from_anywhere(script, tmp_path):
    """As `python paper/NAME.py --help`, with nothing of `paper` in the path."""
    path = os.pathsep.join(p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if Path(p) != PAPER)
    done = subprocess.run(
        [sys.executable, PAPER / script, "--help"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("usage:" in done.stdout) == (script not in ("cells.py", "rivals_table.py", "river.py"))
