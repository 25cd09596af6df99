"""``finsler place``: new points in a saved map, as a table and as a larger map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from finsler.cli import options as opt
from finsler.cli.errors import say
from finsler.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from finsler.embedding import Embedding

EXAMPLES = opt.examples(
    "finsler place map.npz new.csv --out new_places.csv      a row per new point: its values to the points of the map",
    "finsler place map.npz new.csv --from back.csv --out both.html      and from the points of the map to it",
    "finsler place map.npz new.csv --out larger.npz --out -",
)
New = Annotated[
    str | None,
    typer.Argument(
        metavar="[NEW.csv]",
        help="A row per new point, a column per point of the map: values from row to column.",
    ),
]
Back = Annotated[
    str | None,
    typer.Option(
        "--from", metavar="FILE", help="The same for the other direction: values from column to row."
    ),
]


def place(
    map_file: opt.MapFile,
    new: New = None,
    back: Back = None,
    out: opt.Outs = None,
    force: opt.Force = False,
    title: opt.Title = None,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
) -> None:
    """Place new points into a saved map.

    CSV gets the new points: label, x1, ..., height, misfit (0 is perfect). All other files get the whole map with them.
    """
    from finsler.cli import output
    from finsler.data.point_tables import read_new_rows
    from finsler.embedding import Embedding

    if new is None and back is None:
        raise InputError("give NEW.csv, --from FILE or both: new points need values to be placed by.")
    targets = output.plan(out or ["-"], force=force, inputs=[map_file, new, back])
    embedding = Embedding.load(map_file)
    points = embedding.labels, embedding.n_points
    there, here = (
        None if f is None else read_new_rows(opt.stdin_or(f), *points, encoding=encoding) for f in (new, back)
    )
    placed = place_points(embedding, there, here)
    if not quiet:
        word = "new point" if len(placed.labels) == 1 else "new points"
        say(f"{len(placed.labels)} {word} among {embedding.n_points}: {', '.join(placed.labels[:8])}")
    output.write(
        targets, placed.whole, attributes={"placed": placed.groups}, color="placed", title=title, table=placed.table,
        quiet=quiet,
    )  # fmt: skip


Rows = tuple["list[str] | None", "NDArray[Any]"]


class Placed(NamedTuple):
    """New points: their labels, a CSV of them, the map with them, and who in it is new."""

    labels: list[str]
    table: str
    whole: Embedding
    groups: NDArray[Any]


def place_points(embedding: Embedding, there: Rows | None, back: Rows | None) -> Placed:
    """Place points by their values to (``there``) and from (``back``) the points of the map."""
    import numpy as np

    from finsler.cli.output import coordinates_csv

    to_fitted, from_fitted = (None if rows is None else rows[1] for rows in (there, back))
    names = [rows[0] for rows in (there, back) if rows is not None and rows[0] is not None]
    if len(names) == 2 and names[0] != names[1]:
        raise InputError(
            "NEW.csv and --from must hold the same new points in the same order; their labels differ."
        )
    if to_fitted is not None and from_fitted is not None and len(to_fitted) != len(from_fitted):
        raise InputError(f"NEW.csv has {len(to_fitted)} new points, the file of --from {len(from_fitted)}.")
    whole = embedding.with_points(
        to_fitted=to_fitted, from_fitted=from_fitted, labels=names[0] if names else None
    )
    assert whole.labels is not None
    assert whole.misfit is not None
    n, k = embedding.n_points, whole.n_points - embedding.n_points
    table = coordinates_csv(whole.labels[n:], whole.coordinates[n:], "misfit", whole.misfit[-k:])
    return Placed(whole.labels[n:], table, whole, np.array(["map"] * n + ["new"] * k))
