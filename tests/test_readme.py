"""The README's code runs, and its figures are those of the run."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import finsler

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_quick_start_runs(tmp_path, monkeypatch, capsys):
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) >= 3
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)  # our own file
    flights = names["flights"]
    # The comments of the first block quote these numbers.
    for a, b in (("JFK", "LAX"), ("LAX", "JFK")):
        quoted = re.search(rf'flights.distance\("{a}", "{b}"\)\s+# ([\d.]+) on the map', README)
        assert quoted is not None
        assert f"{flights.distance(a, b):.1f}" == quoted[1]
    assert (tmp_path / "flights.npz").exists()
    assert "follows heights" in capsys.readouterr().out


def test_caption_quotes_the_map():
    example = finsler.load_flight_hours()
    assert f"between {len(example.codes)} airports" in README
    flight_map = finsler.embed_matrix(example.hours, labels=example.codes)
    quoted = re.search(r"measures ([\d.]+) hours; the same line\s+back measures (\d+\.\d+)", README)
    assert quoted is not None
    assert quoted[1] == f"{flight_map.distance('JFK', 'LAX'):.1f}"
    assert quoted[2] == f"{flight_map.distance('LAX', 'JFK'):.1f}"


def script_of_docs(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_tables_of_speed_are_of_the_last_runs(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    text = (ROOT / "docs" / "speed.md").read_text(encoding="utf-8")
    assert script_of_docs("speed_tables").renewed(text) == text, (
        "figures have changed: python docs/speed_tables.py"
    )
    assert text.count("| ---") >= 9


def test_tables_are_of_the_last_runs():
    script = script_of_docs("readme_tables")
    assert script.renewed(README) == README, "figures have changed: python docs/readme_tables.py"
    best = re.findall(r"^\| \*\*Randers map, ours\*\*.*", README, flags=re.MULTILINE)
    assert len(best) == 1
    assert len(re.findall(r"\d\.\d{4}", best[0])) == len(script.TABLES) == 6


def test_a_newcomer_maps_a_csv(tmp_path, monkeypatch, capsys):
    """The samples of files and the commands below them, as they stand."""
    pytest.importorskip("typer")
    from finsler.cli import main

    times, flows = re.findall(r"```text\n(.*?)```", README, flags=re.DOTALL)
    commands = re.findall(r"^finsler (.+?) *#", README, flags=re.MULTILINE)
    assert [words.split()[0] for words in commands] == ["report", "embed", "distance", "compare", "embed"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "times.csv").write_text(times, encoding="utf-8")
    (tmp_path / "flows.csv").write_text(flows, encoding="utf-8")
    for words in commands:
        assert main(shlex.split(words)) == 0, words
    printed = capsys.readouterr()
    for words in ("follows heights", "Randers map (ours)", "Cairo"):
        assert words in printed.out
    assert "6 pairs of 3 places" in printed.err
    for page in ("map.html", "flows.html"):
        assert (tmp_path / page).stat().st_size > 10_000


def test_links_lead_somewhere():
    targets = re.findall(r"\]\((?!https?:)([^)#]+)", README)
    assert len(targets) > 10
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_demo_writes_what_it_says(tmp_path):
    run = subprocess.run(
        [sys.executable, ROOT / "examples" / "01_flight_hours.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "JFK -> LAX" in run.stdout
    for name in ("flight_hours.png", "flight_hours.csv", "flight_hours.npz"):
        assert name in run.stdout
        assert (tmp_path / "output" / name).stat().st_size > 1000
    assert (tmp_path / "output" / "flight_hours.png").read_bytes().startswith(b"\x89PNG")


def test_two_commands_are_there():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in re.findall(r"^make (\w+)", README, flags=re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, flags=re.MULTILINE)
    assert "make test" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
