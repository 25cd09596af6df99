"""Files are checked before anything is read, and written whole or not at all."""

import os
from pathlib import Path

import pytest

pytest.importorskip("typer")
import finsler
from finsler.cli import inputs
from finsler.cli import output as cli_output

from helpers import done, mistake


@pytest.mark.parametrize("out", ["map.gif", "no/map.npz", "small.csv", "old.npz", "map.png", "map.html"])
def test_outputs_are_checked_before_anything_is_read(small, monkeypatch, out):
    monkeypatch.chdir(small.parent)
    Path("old.npz").touch()
    monkeypatch.setattr(cli_output, "find_spec", lambda name: None)  # neither matplotlib nor plotly
    monkeypatch.setattr(inputs, "read", lambda *_: pytest.fail("it began to work"))
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
