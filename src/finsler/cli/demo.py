"""The demonstration, and the example data, for the command line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from finsler.cli import output as cli_output
from finsler.cli.errors import Mistake, say
from finsler.data.labels import suggestion
from finsler.datasets.flights import load_flight_hours
from finsler.datasets.remote import FILES, GRAPHS, fetch_file, fetch_graph
from finsler.geometry.asymmetry import asymmetry_report
from finsler.recipes import embed_matrix

_MATRICES = {
    "flight-hours": "Hours between 64 North American airports in a westerly jet. Comes with finsler.",
    "flight-times": "Hours between 62 airports in the mean winds of a January. Downloads winds and airports.",
}


def write_demo(folder: Path, *, force: bool, quiet: bool) -> None:
    """Embed the flight example and write data, map, pictures and page to a folder, which is made if need be."""
    if folder.exists() and not folder.is_dir():
        raise Mistake(f"{folder} is a file; name a folder.")
    if not folder.parent.is_dir():
        raise Mistake(f"there is no folder {folder.parent} to make {folder.name} in.")
    suffixes = [suffix for suffix in (".csv", ".npz", ".png", ".html") if cli_output.available(suffix)]
    outs = [folder / f"flight_map{suffix}" for suffix in suffixes]
    hours = folder / "flight_hours.csv"
    existing = [path for path in (hours, *outs) if path.exists()]
    if existing and not force:
        raise Mistake(f"{existing[0]} exists already; --force replaces it.")
    folder.mkdir(exist_ok=True)
    flights = load_flight_hours()
    cli_output.write_text(hours, cli_output.matrix_csv(flights.hours, flights.codes))
    if not quiet:
        say(f"{asymmetry_report(flights.hours, labels=flights.codes)}\n")
    result = embed_matrix(flights.hours, labels=flights.codes, verbose=False if quiet else "auto")
    # The height is settled by the data, left and right are not: put the north to the right, as on a map turned west-up.
    if np.corrcoef(result.coordinates[:, 0], flights.latitude)[0, 1] < 0:
        result = replace(result, coordinates=result.coordinates * [-1, 1])
    if not quiet:
        say(result.summary())
    cli_output.write(
        cli_output.plan([str(path) for path in outs], force=True),
        result,
        attributes={
            "longitude": flights.longitude,
            "latitude": flights.latitude,
            "city": np.array(flights.cities),
        },
        color="longitude",
        title="Flight hours between 64 airports: west is up, and going up takes longer",
        quiet=quiet,
    )
    if len(suffixes) < 4:
        say("Pictures and pages need more: pip install 'finsler[plot]'")
    if not quiet:
        say(
            f"Now try:\n  finsler distance {folder / 'flight_map.npz'} JFK LAX\n  finsler embed {hours} --out my_map.csv"
        )


def descriptions() -> dict[str, str]:
    """One line for each name that :func:`fetch` knows."""
    graphs = {name: facts.about.splitlines()[0] for name, facts in GRAPHS.items()}
    files = {name: f"The file, {file.size / 1e6:.2g} MB, from {file.url}" for name, file in FILES.items()}
    return {**_MATRICES, **graphs, **files}


def fetch(name: str, out: str | None, *, force: bool, quiet: bool) -> None:
    """Write example data as CSV, or print where its files are kept."""
    known = descriptions()
    if name not in known:
        raise Mistake(f"{name!r} is not in the list (finsler datasets list).{suggestion(name, list(known))}")
    if name in FILES and out is not None:
        raise Mistake(f"{name} is a file as it was published; --out is for data sets.")
    if name in FILES or (name in GRAPHS and out is None):
        for file in GRAPHS[name].files if name in GRAPHS else (name,):
            print(fetch_file(file))
        return
    target = cli_output.plan([out or "-"], force=force, known=(".csv",))[0]
    cli_output.write_text(target.path, _arcs_csv(name) if name in GRAPHS else _hours_csv(name))
    if target.path is not None and not quiet:
        say(f"Written: {target.path}")


def _hours_csv(name: str) -> str:
    if name == "flight-hours":
        data: Any = load_flight_hours()
    else:
        from finsler.datasets.winds import fetch_flight_times

        data = fetch_flight_times()
    return cli_output.matrix_csv(data.hours, data.codes)


def _arcs_csv(name: str) -> str:
    data = fetch_graph(name)
    arcs, labels = data.graph.tocoo(), np.asarray(data.labels)
    pairs = zip(labels[arcs.row].tolist(), labels[arcs.col].tolist(), strict=True)
    return cli_output.csv_text([["source", "target"], *pairs])
