"""Commands that take a saved map: ``finsler distance``, ``finsler place``, ``finsler plot``."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from finsler.cli import options as opt
from finsler.cli.output import say
from finsler.errors import InputError

if TYPE_CHECKING:
    from finsler.embedding import Embedding

DISTANCE_EXAMPLES = opt.examples(
    "finsler distance map.npz JFK LAX", "finsler distance map.npz JFK LAX --json"
)


def distance(
    map_file: opt.MapFile,
    a: Annotated[str, typer.Argument(metavar="A", help="A point, by its label.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", show_default=False)],
    json: opt.Json = False,
) -> None:
    """Measure the distance between two points both ways, on the map and in the data if they were saved with it."""
    from finsler.cli import output
    from finsler.data.labels import LabelIndex
    from finsler.embedding import Embedding

    embedding = Embedding.load(map_file)
    points = LabelIndex(embedding.labels, embedding.n_points)
    i, j = points.from_text(a), points.from_text(b)
    on_map = [embedding.distance(points.label(k), points.label(m)) for k, m in ((i, j), (j, i))]
    in_data = [_datum(embedding, i, j), _datum(embedding, j, i)]
    there, back = ({"on_map": d, "in_data": known} for d, known in zip(on_map, in_data, strict=True))
    if json:
        output.print_json({"from": a, "to": b, "there": there, "back": back})
        return
    of = f" {embedding.unit}" if embedding.unit else ""
    for start, end, way in ((a, b, there), (b, a, back)):
        known = "" if way["in_data"] is None else f"  ({way['in_data']:.6g} in the data)"
        print(f"{start} -> {end}  {way['on_map']:.6g}{of}{known}")


def _datum(embedding: Embedding, i: int, j: int) -> float | None:
    """Dissimilarity from i to j, if it is known and was kept; a bound (negative) is none."""
    data = embedding.data
    if data is None or i == j or (data.weights is not None and data.weights[i, j] == 0):
        return None
    return float(data.matrix[i, j]) if data.matrix[i, j] >= 0 else None


PLACE_EXAMPLES = opt.examples(
    "finsler place map.npz new.csv --out new_places.csv      a row per new point: its values to the points of the map",
    "finsler place map.npz new.csv --from back.csv --out both.html      and from the points of the map to it",
    "finsler place map.npz new.csv --out larger.npz --out -",
)
ToFitted = Annotated[
    str | None,
    typer.Argument(
        metavar="[NEW.csv]",
        help="A row per new point, a column per point of the map: values from row to column.",
    ),
]
FromFitted = Annotated[
    str | None,
    typer.Option(
        "--from-fitted",
        "--from",
        metavar="FILE",
        help="The same for the other direction: values from column to row.",
    ),
]


def place(
    map_file: opt.MapFile,
    to_fitted: ToFitted = None,
    from_fitted: FromFitted = None,
    out: opt.Outs = None,
    force: opt.Force = False,
    title: opt.Title = None,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
) -> None:
    """Place new points into a saved map.

    CSV gets the new points: label, x1, ..., height, misfit (0 is perfect). All other files get the whole map with them.
    """
    import numpy as np

    from finsler.cli import output
    from finsler.data.point_tables import read_new_rows
    from finsler.embedding import Embedding

    if to_fitted is None and from_fitted is None:
        raise InputError("give NEW.csv, --from FILE or both: new points need values to be placed by.")
    targets = output.plan(out or ["-"], force=force, inputs=[map_file, to_fitted, from_fitted])
    embedding = Embedding.load(map_file)
    n = embedding.n_points
    rows = read_new_rows(
        opt.stdin_or(to_fitted), opt.stdin_or(from_fitted), embedding.labels, n, encoding=encoding
    )
    whole = embedding.with_points(to_fitted=rows.to_fitted, from_fitted=rows.from_fitted, labels=rows.labels)
    new = (whole.labels or [])[n:]
    if not quiet:
        say(f"{len(new)} new point{'s' * (len(new) > 1)} among {n}: {', '.join(map(str, new[:8]))}")
    groups = np.array(["map"] * n + ["new"] * len(new))
    output.write(
        targets,
        whole.with_attributes({"placed": groups}),
        color="placed",
        title=title,
        placed=len(new),
        quiet=quiet,
    )


PLOT_EXAMPLES = opt.examples(
    "finsler plot map.npz --out map.png",
    "finsler plot map.npz --attributes towns.csv --color region --out map.html",
    "finsler plot map.npz --attributes towns.csv --places --out where.png",
)
Places = Annotated[
    bool,
    opt.option(
        opt.OUTPUT, "In pictures, points where they really are: lon and lat, or x and y.", False, "--places"
    ),
]


def plot(
    map_file: opt.MapFile,
    out: opt.Outs = None,
    force: opt.Force = False,
    attributes: opt.Attributes = None,
    color: opt.Color = None,
    arcs: opt.Arcs = None,
    places: Places = False,
    title: opt.Title = None,
    unit: opt.Unit = None,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
) -> None:
    """Draw a saved map, as a picture or as a page to explore; or write it in another format."""
    from finsler.cli import output
    from finsler.data.point_tables import read_attributes
    from finsler.embedding import Embedding

    targets = output.plan(out, force=force, inputs=[map_file, attributes])
    embedding = Embedding.load(map_file)
    embedding = embedding if unit is None else replace(embedding, unit=unit)
    if attributes is not None:
        about = read_attributes(attributes, embedding.labels, embedding.n_points, encoding=encoding)
        embedding = embedding.with_attributes(about)
    output.check_color(color, embedding.attributes)
    output.check_places(targets, embedding.attributes)
    output.write(targets, embedding, color=color, title=title, quiet=quiet, arcs=arcs, places=places)
