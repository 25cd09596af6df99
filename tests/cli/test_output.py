"""Files are checked before anything is read, and written whole or not at all."""

import os
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("typer")
import finsler
from finsler.cli import inputs
from finsler.cli import output as cli_output

from helpers import done, made_map, mistake


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

    monkeypatch.setattr(cli_output, "draw", full)
    line = mistake("embed", small, "--out", "map.png", "--out", "map.npz", "--out", "map.csv")
    assert line == "map.png: No space left on device."
    assert Path("map.npz").exists()
    assert Path("map.csv").exists()


def test_force_replaces(small):
    small.with_suffix(".npz").write_text("old")
    done("embed", small, "--out", small.with_suffix(".npz"), "--force")
    assert finsler.Embedding.load(small.with_suffix(".npz")).n_points == 4


ODD = ["\ud800 half", "bell\x07", "nul\0", "esc\x1b[31m", "\ufffe", "family 👩‍👧", "tab\there", "<&>\"'"]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("suffix", ["npz", "csv", "html", "svg", "png", "pdf"])
def test_labels_that_utf8_or_xml_cannot_say_are_written_everywhere(suffix, tmp_path):
    """UnicodeEncodeError, or a picture that no browser opens, before."""
    if suffix != "csv":
        pytest.importorskip("matplotlib")
        pytest.importorskip("plotly")
    rng = np.random.default_rng(0)
    embedding = made_map(rng.normal(size=(len(ODD), 2)), labels=ODD)
    path = tmp_path / f"map.{suffix}"
    words = np.array(ODD, dtype=object)
    target = cli_output.Target(path, path.suffix)
    cli_output.write(
        [target], embedding.with_attributes({ODD[0]: words}), color=ODD[0], title=ODD[1], quiet=True
    )
    if suffix == "npz":
        assert finsler.Embedding.load(path).labels == ODD
    elif suffix == "svg":
        ElementTree.parse(path)
    elif suffix == "csv":
        text = path.read_text(encoding="utf-8")
        assert r"\ud800 half" in text
        assert "family 👩‍👧" in text
    elif suffix == "html":
        assert r"\ud800 half" in path.read_text(encoding="utf-8")
    else:
        assert path.stat().st_size > 1000


def test_a_report_prints_labels_that_the_terminal_cannot_show(tmp_path):
    labels = np.array(["\ud800", "B", "C"])
    np.savez(tmp_path / "odd.npz", D=np.array([[0, 1, 2], [2, 0, 3], [9, 5, 0.0]]), labels=labels)
    assert done("report", tmp_path / "odd.npz").stdout
    done("embed", tmp_path / "odd.npz", "--out", tmp_path / "odd.csv", "--json")


@pytest.mark.skipif(os.name != "posix", reason="links of POSIX")
def test_a_dangling_link_is_replaced_only_by_force(small, tmp_path):
    """It was written through without a word: the link stands for a file that its owner expects elsewhere."""
    link = tmp_path / "link.csv"
    link.symlink_to(tmp_path / "elsewhere.csv")
    assert "exists already" in mistake("embed", small, "--out", link)
    assert not (tmp_path / "elsewhere.csv").exists()
    done("embed", small, "--out", link, "--force")
    assert link.is_symlink()
    assert (tmp_path / "elsewhere.csv").exists()
    loop = tmp_path / "loop.csv"
    loop.symlink_to(loop)
    assert "loop.csv" in mistake("embed", small, "--out", loop)
    lost = tmp_path / "lost.csv"
    lost.symlink_to(tmp_path / "nowhere" / "map.csv")
    assert "nowhere" in mistake("embed", small, "--out", lost, "--force", "--quiet")
