"""``finsler demo``: the flight example, from the table to the page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finsler.cli import options as opt
from finsler.cli.errors import say
from finsler.errors import InputError

EXAMPLES = opt.examples("finsler demo", "finsler demo flights --force")
TITLE = "Flight hours between 64 airports: west is up, and going up takes longer"


def demo(
    folder: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Where to write.")] = Path(
        "finsler-demo"
    ),
    force: opt.Force = False,
    quiet: opt.Quiet = False,
) -> None:
    """Map the flight hours between 64 airports, where a westerly jet makes the way west the longer one."""
    import numpy as np

    from finsler.cli import output
    from finsler.datasets.flights import load_flight_hours
    from finsler.recipes import embed_matrix
    from finsler.report import asymmetry_report

    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder} is a file; name a folder.")
    if not folder.parent.is_dir():
        raise InputError(f"there is no folder {folder.parent} to make {folder.name} in.")
    suffixes = [suffix for suffix in (".csv", ".npz", ".png", ".html") if output.available(suffix)]
    outs = [folder / f"flight_map{suffix}" for suffix in suffixes]
    hours = folder / "flight_hours.csv"
    existing = [path for path in (hours, *outs) if path.exists()]
    if existing and not force:
        raise InputError(f"{existing[0]} exists already; --force replaces it.")
    folder.mkdir(exist_ok=True)
    flights = load_flight_hours()
    output.write_text(hours, output.matrix_csv(flights.hours, flights.codes))
    if not quiet:
        say(f"{asymmetry_report(flights.hours, labels=flights.codes)}\n")
    result = embed_matrix(flights.hours, labels=flights.codes, verbose=False if quiet else "auto")
    if not quiet:
        say(result.summary())
    about = {"longitude": flights.longitude, "latitude": flights.latitude, "city": np.array(flights.cities)}
    targets = output.plan([str(path) for path in outs], force=True)
    output.write(targets, result, attributes=about, color="longitude", title=TITLE, quiet=quiet)
    if len(suffixes) < 4:
        say("Pictures and pages need more: pip install 'finsler[plot]'")
    if not quiet:
        say(
            f"Now try:\n  finsler distance {folder / 'flight_map.npz'} JFK LAX\n  finsler embed {hours} --out my_map.csv"
        )
