"""``finsler diagnose`` and ``--worst``."""

import csv
import re

import numpy as np
import pytest

from finsler import Embedding

from helpers import done, mistake

PICTURES = ("shepard", "asymmetry", "residuals", "heatmaps", "stress_per_point", "scree")


def table(path):
    return list(csv.DictReader(path.read_text().splitlines()))


@pytest.fixture
def saved(small, tmp_path):
    done("embed", small, "--out", tmp_path / "map.npz", "-q")
    return tmp_path / "map.npz"


def test_a_folder_of_pictures_and_the_worst_pairs(saved, tmp_path):
    result = done("diagnose", saved, "--out", tmp_path / "look")
    assert {path.name for path in (tmp_path / "look").iterdir()} == {
        "worst_pairs.csv",
        *(f"{n}.png" for n in PICTURES),
    }
    assert "Left out" not in result.stderr
    rows, worst = table(tmp_path / "look" / "worst_pairs.csv"), Embedding.load(saved).worst_pairs()
    assert [(row["source"], row["target"]) for row in rows] == [(pair.source, pair.target) for pair in worst]
    np.testing.assert_array_equal([float(row["residual"]) for row in rows], [pair.residual for pair in worst])
    assert "--force" in mistake("diagnose", saved, "--out", tmp_path / "look")
    done("diagnose", saved, "--out", tmp_path / "look", "--force", "--no-scree", "-q")


def test_what_needs_the_data_is_left_out_and_said(small, tmp_path):
    done("embed", small, "--out", tmp_path / "bare.npz", "--no-keep-data", "-q")
    result = done("diagnose", tmp_path / "bare.npz", "--out", tmp_path / "look", "--format", "svg")
    assert [path.name for path in (tmp_path / "look").iterdir()] == ["stress_per_point.svg"]
    assert re.findall(r"Left out: (\w+)\.", result.stderr) == [
        name for name in PICTURES if name != "stress_per_point"
    ]
    assert "carries none" in mistake("diagnose", tmp_path / "bare.npz", "--worst", tmp_path / "pairs.csv")


def test_where_to_write_is_checked_first(saved, tmp_path):
    assert "--out" in mistake("diagnose", saved)
    assert "make it first" in mistake("diagnose", saved, "--out", tmp_path / "no" / "look")
    assert "is a file" in mistake("diagnose", saved, "--out", saved)
    assert "--format" in mistake("diagnose", saved, "--out", tmp_path / "look", "--format", "gif")
    assert mistake("diagnose", saved, "--worst", tmp_path / "pairs.txt").startswith("--worst")


def test_embed_writes_the_worst_pairs_too(small, tmp_path):
    done("embed", small, "--out", tmp_path / "map.csv", "--worst", tmp_path / "pairs.csv", "-q")
    rows = table(tmp_path / "pairs.csv")
    assert sum(float(row["share"]) for row in rows) == pytest.approx(1)
    assert {*rows[0]} == {"source", "target", "in_data", "on_map", "residual", "share", "bound"}
    assert mistake("embed", small, "--out", "-", "--worst", small).startswith("--worst")


def test_pictures_of_the_older_models(small, tmp_path):
    done("compare", small, "--out", tmp_path / "models.svg", "--n-init", "1", "-q")
    text = (tmp_path / "models.svg").read_text()
    assert "Gower bimension" in text
    assert "drift vectors" in text


def test_words_stay_words_in_pdf_and_svg(saved, tmp_path):
    done("plot", saved, "--out", tmp_path / "map.pdf", "--out", tmp_path / "map.svg", "-q")
    fonts = set(
        re.findall(rb"/Subtype /(Type0|Type3|TrueType|CIDFontType2)", (tmp_path / "map.pdf").read_bytes())
    )
    assert b"CIDFontType2" in fonts  # TrueType, embedded whole or in part
    assert b"Type3" not in fonts
    assert b"/FontFile2" in (tmp_path / "map.pdf").read_bytes()
    assert re.search(r"<text[^>]*>height \(up costs more\)", (tmp_path / "map.svg").read_text())
