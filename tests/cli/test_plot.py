"""``finsler plot``."""

import pytest

pytest.importorskip("typer")

from helpers import done, mistake


def test_plot(flights, tmp_path):
    folder, _ = flights
    done(
        "plot",
        folder / "map.npz",
        "--out",
        tmp_path / "a.png",
        "--out",
        tmp_path / "a.csv",
        "--title",
        "West is up",
    )
    assert (tmp_path / "a.png").exists()
    assert (tmp_path / "a.csv").read_text() == (folder / "map.csv").read_text()
    assert "see --attributes" in mistake(
        "plot", folder / "map.npz", "--out", tmp_path / "b.png", "--color", "x"
    )
    (tmp_path / "more.csv").write_text("label,x\nJFK,1\n")
    options = ["--attributes", tmp_path / "more.csv", "--out", tmp_path / "b.png"]
    assert "No row is labeled" in mistake("plot", folder / "map.npz", *options)
    assert "say where to draw it" in mistake("plot", folder / "map.npz")
    assert "is not a file that finsler saved" in mistake(
        "plot", folder / "times.csv", "--out", tmp_path / "c.png"
    )
    assert "There is no file" in mistake("plot", folder / "nothing.npz", "--out", tmp_path / "c.png")
