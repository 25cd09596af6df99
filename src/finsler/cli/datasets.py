"""``finsler datasets`` and ``finsler demo``: the example data, listed, written, and mapped."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from finsler.cli import options as opt
from finsler.cli.output import say
from finsler.errors import InputError

LIST_EXAMPLES = opt.examples("finsler datasets list")
FETCH_EXAMPLES = opt.examples(
    "finsler datasets fetch cora                     prints where the files are",
    "finsler datasets fetch cora --out cora.csv      writes edges that finsler embed reads",
    "finsler datasets fetch flight-hours --out times.csv",
)
# Name -> function of finsler.datasets that gives ``hours`` and ``codes``, and what it is.
MATRICES = {
    "flight-hours": (
        "load_flight_hours",
        "Hours between 64 North American airports in a westerly jet. Comes with finsler.",
    ),
    "flight-times": (
        "fetch_flight_hours",
        "Hours between 62 airports in the mean winds of a January. Downloads winds and airports.",
    ),
}
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from the list.", show_default=False)]
Out = Annotated[
    str | None, typer.Option("--out", "-o", metavar="FILE.csv", help="Write it as CSV; - is stdout.")
]


def list_datasets(json: opt.Json = False) -> None:
    """List the example data."""
    from finsler.cli import output

    known = descriptions()
    if json:
        output.print_json(known)
        return
    width = max(map(len, known))
    for name, text in known.items():
        print(f"{name:<{width}}  {text}")


def fetch(name: Name, out: Out = None, force: opt.Force = False, quiet: opt.Quiet = False) -> None:
    """Get example data: downloaded once, checked, and kept in the user's cache."""
    from finsler.cli import output
    from finsler.data.labels import suggestion
    from finsler.datasets.remote import FILES, GRAPHS, fetch_file

    known = descriptions()
    if name not in known:
        raise InputError(f"{name!r} is not in the list (finsler datasets list).{suggestion(name, known)}")
    if name in FILES and out is not None:
        raise InputError(f"{name} is a file as it was published.", argument="out")
    if name in FILES or (name in GRAPHS and out is None):
        for file in GRAPHS[name].files if name in GRAPHS else (name,):
            print(fetch_file(file))
        return
    target = output.plan([out or "-"], force=force, known=(".csv",))[0]
    output.write_text(target.path, _csv(name))
    if target.path is not None and not quiet:
        say(f"Written: {target.path}")


def descriptions() -> dict[str, str]:
    """One line for each name that :func:`fetch` knows."""
    from finsler.datasets.remote import FILES, GRAPHS

    graphs = {name: facts.about.splitlines()[0] for name, facts in GRAPHS.items()}
    files = {name: f"The file, {file.size / 1e6:.2g} MB, from {file.url}" for name, file in FILES.items()}
    matrices = {name: text for name, (_, text) in MATRICES.items()}
    return {**matrices, **graphs, **files}


def _csv(name: str) -> str:
    """Hours between airports as a matrix, or the arcs of a graph."""
    import numpy as np

    from finsler import datasets
    from finsler.cli import output

    if name in MATRICES:
        data = getattr(datasets, MATRICES[name][0])()
        return output.matrix_csv(data.hours, data.codes)
    found = datasets.fetch_graph(name)
    arcs, labels = found.graph.tocoo(), np.asarray(found.labels)
    pairs = zip(labels[arcs.row].tolist(), labels[arcs.col].tolist(), strict=True)
    return output.csv_text([["source", "target"], *pairs])


DEMO_EXAMPLES = opt.examples("finsler demo", "finsler demo flights --force")
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
    output.write(targets, result.with_attributes(about), color="longitude", title=TITLE, quiet=True)
    if len(suffixes) < 4:
        say("Pictures and pages need more: pip install 'finsler[plot]'")
    if not quiet:
        say(f"Written: {', '.join(map(str, (hours, *outs)))}")
        say(
            f"Now try:\n  finsler distance {folder / 'flight_map.npz'} JFK LAX\n  finsler embed {hours} --out my_map.csv"
        )
