"""``finsler place``: new points in a saved map, as a table and as a larger map."""

from __future__ import annotations

from typing import Annotated

import typer

from finsler.cli import options as opt
from finsler.cli.errors import say
from finsler.errors import InputError

EXAMPLES = opt.examples(
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
        whole,
        attributes={"placed": groups},
        color="placed",
        title=title,
        placed=len(new),
        quiet=quiet,
    )
