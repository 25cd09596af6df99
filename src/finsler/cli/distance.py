"""``finsler distance``: two points of a saved map, both ways."""

from __future__ import annotations

from typing import Annotated

import typer

from finsler.cli import options as opt

EXAMPLES = opt.examples("finsler distance map.npz JFK LAX", "finsler distance map.npz JFK LAX --json")


def distance(
    map_file: opt.MapFile,
    a: Annotated[str, typer.Argument(metavar="A", help="A point, by its label.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.", show_default=False)],
    json: opt.Json = False,
) -> None:
    """Measure the distance between two points both ways, on the map and in the data if they were saved with it."""
    from finsler.cli import data, output
    from finsler.data.labels import LabelIndex
    from finsler.embedding import Embedding

    embedding = Embedding.load(map_file)
    points = LabelIndex(embedding.labels, embedding.n_points)
    i, j = points.from_text(a), points.from_text(b)
    there, back = data.both_ways(embedding, i, j)
    if json:
        names = ("on_map", "in_data")
        ways = {"there": dict(zip(names, there, strict=True)), "back": dict(zip(names, back, strict=True))}
        output.print_json({"from": a, "to": b, **ways})
        return
    for start, end, (value, datum) in ((a, b, there), (b, a, back)):
        print(f"{start} -> {end}  {value:.6g}" + ("" if datum is None else f"  ({datum:.6g} in the data)"))
