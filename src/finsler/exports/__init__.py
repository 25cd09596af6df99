"""Maps as other programs take them: networks (GEXF, GraphML, node-link JSON, networkx), geography (GeoJSON, geopandas).

A new format is a module here and a line in `WRITERS`; the command line chooses by the suffix.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from finsler._io import utf8, write_atomically
from finsler.exports.geography import geojson
from finsler.exports.gexf import gexf
from finsler.exports.graphml import graphml
from finsler.exports.node_link import node_link

# What makes the text of a file, by its suffix.
WRITERS: dict[str, Callable[[Any], str]] = {
    ".gexf": gexf,
    ".graphml": graphml,
    ".json": node_link,
    ".geojson": geojson,
}


def write_export(embedding: Any, path: str | os.PathLike[str]) -> Path:
    """Write a map in the format that the suffix of the path names, whole or not at all."""
    text = WRITERS[Path(path).suffix.lower()](embedding)
    return write_atomically(path, lambda file: file.write(utf8(text)))
