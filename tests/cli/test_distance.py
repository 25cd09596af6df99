"""``finsler distance``."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("typer")
import finsler

from helpers import done, mistake


def test_distance(flights):
    folder, _ = flights
    lines = done("distance", folder / "map.npz", "JFK", "LAX").stdout.splitlines()
    flight_map = finsler.Embedding.load(folder / "map.npz")
    assert lines == [
        f"JFK -> LAX  {flight_map.distance('JFK', 'LAX'):.6g}  (5.25376 in the data)",
        f"LAX -> JFK  {flight_map.distance('LAX', 'JFK'):.6g}  (4.21491 in the data)",
    ]
    record = json.loads(done("distance", folder / "map.npz", "LAX", "JFK", "--json").stdout)
    assert record["there"]["on_map"] == pytest.approx(flight_map.distance("LAX", "JFK"))
    assert record["back"]["in_data"] == pytest.approx(5.25376, abs=1e-5)
    assert "'LAXX'. Did you mean 'LAX'?" in mistake("distance", folder / "map.npz", "JFK", "LAXX")
    assert "'lax'. Did you mean 'LAX'?" in mistake("distance", folder / "map.npz", "JFK", "lax")


def test_distance_by_number_where_there_are_no_labels(tmp_path):
    (tmp_path / "m.csv").write_text("0,3,4,9\n2,0,2,9\n4,3,0,\n1,1,1,0\n")
    done("embed", tmp_path / "m.csv", "--missing", "mask", "--out", tmp_path / "m.npz")
    lines = done("distance", tmp_path / "m.npz", "2", "3").stdout.splitlines()
    assert "in the data" not in lines[0]  # it is missing there
    assert lines[1].endswith("(1 in the data)")
    assert "'4'" in mistake("distance", tmp_path / "m.npz", "1", "4")


def test_measuring_imports_only_numpy(small):
    done("embed", small, "--out", small.with_suffix(".npz"))
    code = (
        "import sys\nfrom finsler.cli import main\n"
        f"code = main(['distance', {str(small.with_suffix('.npz'))!r}, 'A', 'B'])\n"
        "print(code, [m for m in ('scipy', 'numba', 'sklearn', 'joblib', 'pandas', 'matplotlib') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.splitlines()[-1] == "0 []"


def test_units_are_kept_and_told(small, tmp_path):
    done("embed", small, "--unit", "minutes", "--out", tmp_path / "m.npz", "--out", tmp_path / "m.html")
    assert finsler.Embedding.load(tmp_path / "m.npz").unit == "minutes"
    assert '"unit": "minutes"' in (tmp_path / "m.html").read_text(encoding="utf-8")
    for line in done("distance", tmp_path / "m.npz", "A", "B").stdout.splitlines():
        assert " minutes  (" in line
    done("plot", tmp_path / "m.npz", "--unit", "hours", "--out", tmp_path / "h.html")
    assert '"unit": "hours"' in (tmp_path / "h.html").read_text(encoding="utf-8")
