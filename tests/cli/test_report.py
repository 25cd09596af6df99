"""``finsler report``."""

import json

import pytest

pytest.importorskip("typer")
import finsler
from finsler.datasets import load_flight_hours

from helpers import SMALL, done, mistake


def test_report(flights, tmp_path):
    folder, _ = flights
    example = load_flight_hours()
    expected = finsler.asymmetry_report(example.hours, labels=example.codes)
    assert done("report", folder / "times.csv").stdout == f"{expected}\n"
    assert json.loads(done("report", folder / "times.csv", "--json", "-q").stdout) == expected.to_dict()
    pieces = done("report", "-", "--kind", "edges", input="a,b\nb,a\nc,d\n").stdout
    assert "no: 2 groups" in pieces


def test_report_of_points_and_counts(sea, small):
    assert "Asymmetry of 60 points" in done("report", sea[0]).stdout
    small.write_text(SMALL.replace("A,0", "A,7"))
    assert "diagonal" in mistake("report", small)  # was taken, with --diagonal check, too
    assert mistake("report", small, "--diagonal", "check") == mistake("embed", small, "--out", "-")
    assert "Asymmetry of 4 points" in done("report", small, "--diagonal", "ignore").stdout
    assert "Asymmetry of 4 points" in done("report", small, "--similarity", "rank").stdout


def test_a_sampled_report(small):
    small.write_text("from,to\n" + "".join(f"{i},{(i + k) % 40}\n" for i in range(40) for k in (1, 3)))
    assert "from and to 7 points" in done("report", small, "--sample", 7).stdout
    assert mistake("report", small, "--sample", 3).startswith("--sample: must be at least 4")
