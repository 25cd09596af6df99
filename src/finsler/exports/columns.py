"""What is known of the points of a map, as columns: where they are on it, how well they fit, and their attributes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Columns = dict[str, NDArray[Any]]


def coordinate_names(embedding: Any) -> list[str]:
    """Names of the axes of a map: x1, x2, ... and height, if it has one."""
    m = embedding.n_components
    return [
        *(f"x{k + 1}" for k in range(m - 1)),
        "height" if embedding.has_height else f"x{m}",
    ]


def map_columns(embedding: Any) -> Columns:
    """Coordinates of the points by the names of the axes, and ``stress_share``."""
    columns = dict(zip(coordinate_names(embedding), embedding.coordinates.T, strict=True))
    return {**columns, "stress_share": embedding.stress_per_point}


def point_columns(embedding: Any) -> Columns:
    """Columns of the map and the attributes of its points; one that is called like a column of the map gets a ``_given``.

    Examples
    --------
    >>> import finsler
    >>> towns = finsler.embed_matrix([[0, 3], [2, 0]], alpha=0.2).with_attributes({"height": [7, 8], "dept": ["x", "y"]})
    >>> list(point_columns(towns))
    ['x1', 'height', 'stress_share', 'height_given', 'dept']
    """
    columns = map_columns(embedding)
    for name, values in embedding.attributes.items():
        while name in (*columns, "label"):
            name += "_given"
        columns[name] = values
    return columns


def plain_values(values: NDArray[Any]) -> list[Any]:
    """Values of a column as plain Python, None where there is none: NaN, infinite, or no word."""
    if values.dtype.kind == "f":
        return [value if np.isfinite(value) else None for value in values.tolist()]
    return [None if value == "" else value for value in values.tolist()]
