"""New points in a saved map, as a table and as a larger map."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.cli.errors import Mistake
from finsler.cli.output import coordinates_csv
from finsler.embedding import Embedding
from finsler.solvers.placement import place

Rows = tuple[list[str] | None, NDArray[Any]]


class Placed(NamedTuple):
    """New points: their labels, a CSV of them, the map with them, and who in it is new."""

    labels: list[str]
    table: str
    whole: Embedding
    groups: NDArray[Any]


def place_points(embedding: Embedding, there: Rows | None, back: Rows | None) -> Placed:
    """Place points by their values to (``there``) and from (``back``) the points of the map.

    The misfit of a point is the root of its stress over the squares of its values: 0 is perfect.
    """
    to_fitted, from_fitted = (None if rows is None else rows[1] for rows in (there, back))
    names = [rows[0] for rows in (there, back) if rows is not None and rows[0] is not None]
    if len(names) == 2 and names[0] != names[1]:
        raise Mistake(
            "NEW.csv and --from must hold the same new points in the same order; their labels differ."
        )
    if to_fitted is not None and from_fitted is not None and len(to_fitted) != len(from_fitted):
        raise Mistake(f"NEW.csv has {len(to_fitted)} new points, the file of --from {len(from_fitted)}.")
    solution = place(embedding.coordinates, embedding.drift, to_fitted=to_fitted, from_fitted=from_fitted)
    k = len(solution.coordinates)
    labels = names[0] if names else [f"new {i + 1}" for i in range(k)]
    fitted = list(range(embedding.n_points)) if embedding.labels is None else embedding.labels
    if again := {str(label) for label in fitted} & set(labels):
        raise Mistake(
            f"the new point {min(again)!r} has the label of a point of the map; call it something else."
        )
    squares = sum(
        np.nansum(np.where(np.isfinite(v), v, 0) ** 2, axis=1)
        for v in (to_fitted, from_fitted)
        if v is not None
    )
    misfit = np.sqrt(solution.history / np.where(squares > 0, squares, 1))
    whole = replace(
        embedding,
        coordinates=np.vstack([embedding.coordinates, solution.coordinates]),
        labels=[*fitted, *labels],
        stress_per_point=np.concatenate([embedding.stress_per_point, np.zeros(k)]),
        message=f"{embedding.message} {k} points were placed into it later; stress and shares are those of the others.",
        data=None,
    )
    groups = np.array(["map"] * embedding.n_points + ["new"] * k)
    return Placed(labels, coordinates_csv(labels, solution.coordinates, "misfit", misfit), whole, groups)
