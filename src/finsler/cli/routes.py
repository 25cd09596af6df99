"""``finsler route``: the fastest way between two points of a saved map, there and back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from finsler.cli import options as opt
from finsler.cli.output import PICTURES

if TYPE_CHECKING:
    from finsler.embedding import Embedding
    from finsler.graphs.routes import Route

EXAMPLES = opt.examples(
    "finsler route roads.npz Dam Port",
    "finsler route roads.npz Dam Port --out route.png --out route.geojson",
    "finsler route roads.npz Dam Port --out - > route.csv",
)
_OUT = "Where to: .png .svg .pdf, .csv, .geojson, or - (CSV). Repeatable."
Outs = Annotated[list[str] | None, opt.option(opt.OUTPUT, _OUT, False, "--out", "-o", metavar="PATH")]
Attributes = Annotated[
    str | None,
    opt.option(opt.OUTPUT, "Table with the places of points: label, lon, lat or x, y.", metavar="FILE"),
]


def route(
    map_file: opt.MapFile,
    a: Annotated[str, typer.Argument(metavar="A", help="Where it begins, by its label.", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", help="Where it ends.", show_default=False)],
    out: Outs = None,
    force: opt.Force = False,
    attributes: Attributes = None,
    title: opt.Title = None,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
    json: opt.Json = False,
) -> None:
    """Find the fastest way from A to B and the way back, along the graph or the field behind a map.

    Pictures show both ways where the points really are, if the map knows it
    (lon and lat, or x and y), and on the map. CSV has a row per node of each
    way; GeoJSON a line each.
    """
    from finsler.cli import output
    from finsler.data.point_tables import read_attributes
    from finsler.embedding import Embedding

    known = (*PICTURES, ".csv", ".geojson")
    targets = (
        output.plan(out, force=force, inputs=[map_file, attributes], known=known, json=json) if out else []
    )
    embedding = Embedding.load(map_file)
    if attributes is not None:
        about = read_attributes(attributes, embedding.labels, embedding.n_points, encoding=encoding)
        embedding = embedding.with_attributes(about)
    found = embedding.route(_end(embedding, a), _end(embedding, b))
    for path, suffix in targets:
        _write(found, path, suffix, title)
    if json:
        output.print_json(_record(found))
    elif not any(path is None for path, _ in targets):
        print(found.summary())
    written = [str(path) for path, _ in targets if path is not None]
    if written and not quiet:
        output.say(f"Written: {', '.join(written)}")


def _end(embedding: Embedding, text: str) -> Any:
    """Label of a point of the map, or of a node behind it, that is written so."""
    from finsler.data.labels import LabelIndex

    points = LabelIndex(embedding.labels, embedding.n_points)
    graph = None if embedding.network is None else embedding.network.graph
    if (
        points.find_text(text) is None
        and graph is not None
        and (node := graph.index.find_text(text)) is not None
    ):
        return graph.index.label(node)
    return points.label(points.from_text(text))


def _write(found: Route, path: Path | None, suffix: str, title: str | None) -> None:
    from finsler.cli import output
    from finsler.data.places import places
    from finsler.exports.geography import route_geojson

    if suffix == ".csv":
        columns = found.columns()
        output.write_text(path, output.csv_text([list(columns), *zip(*columns.values(), strict=True)]))
    elif suffix == ".geojson":
        output.write_text(path, route_geojson(found))
    else:
        assert path is not None
        both = places(found.graph.attributes) is not None and found.embedding.n_components == 2
        output.draw(path, lambda: output.figure_of(found.plot(on="both" if both else "auto", title=title)))


def _record(found: Route) -> dict[str, Any]:
    """Both ways as plain Python."""
    ways = [
        {"nodes": way.labels, "length": way.length, "length_to_node": way.along.tolist()}
        for way in found.ways
    ]
    return {"from": found.labels[0], "to": found.labels[-1], "there": ways[0], "back": (ways + [None])[1]}
