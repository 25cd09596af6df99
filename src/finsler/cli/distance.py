"""``finsler distance``: two points of a saved map, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from finsler.cli import options as opt

if TYPE_CHECKING:
    from finsler.embedding import Embedding

EXAMPLES = opt.examples("finsler distance map.npz JFK LAX", "finsler distance map.npz JFK LAX --json")


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
    for start, end, way in ((a, b, there), (b, a, back)):
        known = "" if way["in_data"] is None else f"  ({way['in_data']:.6g} in the data)"
        print(f"{start} -> {end}  {way['on_map']:.6g}{known}")


def _datum(embedding: Embedding, i: int, j: int) -> float | None:
    """Dissimilarity from i to j, if it is known and was kept; a bound (negative) is none."""
    data = embedding.data
    if data is None or i == j or (data.weights is not None and data.weights[i, j] == 0):
        return None
    return float(data.matrix[i, j]) if data.matrix[i, j] >= 0 else None
