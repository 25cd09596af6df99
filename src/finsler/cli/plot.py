"""``finsler plot``: pictures and pages of a saved map."""

from __future__ import annotations

from typing import Any

from finsler.cli import options as opt

EXAMPLES = opt.examples(
    "finsler plot map.npz --out map.png",
    "finsler plot map.npz --attributes towns.csv --color region --out map.html",
)


def plot(
    map_file: opt.MapFile,
    out: opt.Outs = None,
    force: opt.Force = False,
    attributes: opt.Attributes = None,
    color: opt.Color = None,
    title: opt.Title = None,
    encoding: opt.Encoding = None,
    quiet: opt.Quiet = False,
) -> None:
    """Draw a saved map, as a picture or as a page to explore."""
    from finsler.cli import output
    from finsler.data.point_tables import read_attributes
    from finsler.embedding import Embedding

    targets = output.plan(out, force=force, inputs=[map_file, attributes])
    embedding = Embedding.load(map_file)
    about: dict[str, Any] = {}
    if attributes is not None:
        about = read_attributes(attributes, embedding.labels, embedding.n_points, encoding=encoding)
    output.check_color(color, about)
    output.write(targets, embedding, attributes=about, color=color, title=title, quiet=quiet)
