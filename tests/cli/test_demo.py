"""``finsler demo``."""

import re

import pytest

pytest.importorskip("typer")
from finsler.cli import output as cli_output

from helpers import done, mistake


def test_demo(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(cli_output._NEEDS, ".html", "a_package_that_is_not_there")  # pages are slow
    result = done("demo")
    for name in ("flight_hours.csv", "flight_map.csv", "flight_map.npz", "flight_map.png"):
        assert (tmp_path / "finsler-demo" / name).stat().st_size > 1000
        assert name in result.stderr.partition("Written: ")[2].partition("\n")[0]
    assert "pip install 'finsler[plot]'" in result.stderr
    # What it proposes to try works.
    for line in re.findall(r"^  finsler (.*)", result.stderr, flags=re.MULTILINE):
        done(*line.split())
    assert "exists already; --force" in mistake("demo")
    done("demo", "--force", "--quiet")
    assert "is a file; name a folder" in mistake("demo", "my_map.csv")
    assert "there is no folder" in mistake("demo", "a/b/c")
