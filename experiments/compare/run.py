"""Run ``finsler compare`` on six tables and put the results into `results.json`, `results.md` and `docs/models.md`.

    python experiments/compare/run.py --data FOLDER

FOLDER holds morse.csv, erasmus_2012.csv, atsp_ftv170.csv and english_towns.csv: square matrices with labels, from row to
column. The flight hours come with the library, those of the world with winds and airports that it downloads.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from importlib.metadata import version
from pathlib import Path

import pandas as pd

from finsler import __version__
from finsler._io import write_atomically
from finsler.cli import main
from finsler.datasets import fetch_flight_hours

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "models.md"
BEGIN, END = "<!-- begin: made by experiments/compare/run.py -->", "<!-- end -->"
# Title, file, options, and what the values are.
CASES = {
    "flight_hours": (
        "Flight hours",
        [],
        "hours between 64 North American airports under a westerly jet (`finsler datasets fetch flight-hours`)",
    ),
    "world_flights": (
        "World flights",
        [],
        'hours between 160 airports in the mean winds of a January (`fetch_flight_hours("january", region="world")`)',
    ),
    "english_towns": (
        "English towns",
        [],
        "road miles between 8 towns, made asymmetric by adding a linear skew part (Constantine and Gower 1978)",
    ),
    "atsp_ftv170": ("Delivery tour", [], "travel costs between 171 locations, TSPLIB's instance ftv170"),
    "erasmus_2012": (
        "Erasmus",
        ["--similarity", "gravity"],
        "students between 33 countries in 2012-13; counts n turned into dissimilarities by the gravity transform, zero "
        "counts left out",
    ),
    "morse": (
        "Morse code",
        ["--diagonal", "ignore"],
        "1 - the share of listeners who took signal i followed by signal j for the same (Rothkopf 1957)",
    ),
}
DIMENSIONS = (2, 3)


def command(name: str, dims: int, starts: int) -> list[str]:
    """What follows ``finsler``, but for where the file is."""
    return ["compare", f"{name}.csv", *CASES[name][1], "--n-components", str(dims), "--n-init", str(starts)]


def run(folder: Path, starts: int) -> dict[str, dict[str, dict]]:
    """Compare on every table at every dimension."""
    results: dict[str, dict[str, dict]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        hours, world = Path(scratch) / "flight_hours.csv", Path(scratch) / "world_flights.csv"
        assert main(["datasets", "fetch", "flight-hours", "--out", str(hours), "--quiet"]) == 0
        flights = fetch_flight_hours("january", region="world")
        pd.DataFrame(flights.hours, flights.codes, flights.codes).to_csv(world)
        for name in CASES:
            file = {"flight_hours": hours, "world_flights": world}.get(name, folder / f"{name}.csv")
            results[name] = {}
            for dims in DIMENSIONS:
                outs = [Path(scratch) / f"{name}{dims}{suffix}" for suffix in (".json", ".md")]
                words = command(name, dims, starts)
                words[1] = str(file)
                code = main([*words, *(w for out in outs for w in ("--out", str(out)))])
                if code:
                    raise SystemExit(code)
                found = json.loads(outs[0].read_text())
                found["command"] = "finsler " + " ".join(command(name, dims, starts))
                found["markdown"] = outs[1].read_text().strip()
                results[name][str(dims)] = found
    return results


def pages(results: dict[str, dict[str, dict]]) -> str:
    """The tables as Markdown: in full in the plane, the stress alone beyond."""
    parts = []
    for name, (title, _, text) in CASES.items():
        plane = results[name]["2"]
        parts += [
            f"### {title}",
            f"{text[0].upper()}{text[1:]}.",
            f"    {plane['command']}",
            plane["markdown"],
        ]
    parts += [
        "### In three dimensions",
        "Normalized stress with `--n-components 3`, the least of each column in bold.",
    ]
    columns = {name: {m["name"]: m for m in results[name]["3"]["models"]} for name in CASES}
    order = [m["name"] for m in results["flight_hours"]["3"]["models"]]
    rows = [
        "| model | " + " | ".join(CASES[name][0].lower() for name in CASES) + " |",
        "|---" + "|---:" * len(CASES) + "|",
    ]
    for model in order:
        cells = [columns["flight_hours"][model]["model"]]
        for name in CASES:
            values = {key: m["normalized_stress"] for key, m in columns[name].items()}
            cell = f"{values[model]:.4f}"
            cells.append(f"**{cell}**" if values[model] == min(values.values()) else cell)
        rows.append("| " + " | ".join(cells) + " |")
    return "\n\n".join([*parts, "\n".join(rows)])


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    write_atomically(path, lambda file: file.write(text.encode()) and None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the four CSV files")
    parser.add_argument("--n-init", type=int, default=20, help="starts of every model")
    given = parser.parse_args()
    found = run(given.data, given.n_init)
    about = {
        "command": f"python experiments/compare/run.py --data FOLDER --n-init {given.n_init}",
        "finsler": __version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
    }
    tables = pages(found)
    for cases in found.values():
        for case in cases.values():
            del case["markdown"]
    write(HERE / "results.json", json.dumps({"about": about, "results": found}, indent=1) + "\n")
    origin = f"Made by `{about['command']}`; what the columns are stands in docs/models.md."
    write(HERE / "results.md", f"# The older models beside ours\n\n{origin}\n\n{tables}\n")
    if PAGE.exists():
        before, rest = PAGE.read_text().split(BEGIN)
        write(PAGE, f"{before}{BEGIN}\n\n{tables}\n\n{END}{rest.split(END)[1]}")
