"""``finsler plot``."""

import json
import re

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
    assert "points have no row" in mistake("plot", folder / "map.npz", *options)
    assert "say where" in mistake("plot", folder / "map.npz")
    assert "is not a file that finsler saved" in mistake(
        "plot", folder / "times.csv", "--out", tmp_path / "c.png"
    )
    assert "There is no file" in mistake("plot", folder / "nothing.npz", "--out", tmp_path / "c.png")


def test_the_page_opens_with_the_color_asked_for(flights, tmp_path):
    pytest.importorskip("plotly")
    folder, _ = flights
    labels = [row.split(",")[0] for row in (folder / "map.csv").read_text().splitlines()[1:]]
    rows = [f"{label},{'ab'[k % 2]}" for k, label in enumerate(labels)]
    (tmp_path / "kinds.csv").write_text("\n".join(["label,kind", *rows]))
    options = ["--attributes", tmp_path / "kinds.csv", "--color", "kind", "--out", tmp_path / "kinds.html"]
    done("plot", folder / "map.npz", *options)
    text = (tmp_path / "kinds.html").read_text()
    record = json.loads(re.search('id="record">(.*?)</script>', text, re.DOTALL)[1])
    assert record["columns"][record["start"]]["name"] == "kind"
