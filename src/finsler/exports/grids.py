"""A map back on rows and columns, as an xarray Dataset: of a gridded field, or of points that lie on a lattice."""

from __future__ import annotations

from typing import Any

import numpy as np

from finsler.data.places import places
from finsler.errors import InputError, MissingExtraError
from finsler.exports.columns import point_columns

EMPTIEST = 100  # cells to a point at most: points that fill so few are on no grid
# What the CF conventions say of the coordinates.
ABOUT = {
    "lon": {"standard_name": "longitude", "units": "degrees_east", "axis": "X"},
    "lat": {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"},
    "x": {"axis": "X"},
    "y": {"axis": "Y"},
}


def to_dataset(embedding: Any) -> Any:
    """Map as an xarray Dataset; see :meth:`finsler.Embedding.to_dataset`."""
    try:
        import xarray
    except ImportError as error:
        raise MissingExtraError("to_dataset needs xarray: pip install 'finsler[field]'.") from error
    at = places(embedding.attributes)
    if at is None or not at.known.all():
        raise InputError(
            "a Dataset needs the place of each point: attributes lon and lat, or x and y, as maps of fields have them."
        )
    (x, column), (y, row) = (np.unique(part, return_inverse=True) for part in (at.x, at.y))
    cells = row.astype(np.int64) * len(x) + column
    if len(x) * len(y) > EMPTIEST * len(cells) or len(np.unique(cells)) < len(cells):
        raise InputError(
            f"the {len(cells):,} points do not lie on rows and columns: there are {len(x):,} values of {at.names[0]} and "
            f"{len(y):,} of {at.names[1]}."
        )
    names = ("lon", "lat") if at.geographic else ("x", "y")
    dims = names[::-1]
    variables = {}
    for name, values in point_columns(embedding).items():
        if values.dtype.kind in "biuf" and name not in at.names:
            grid = np.full(len(x) * len(y), np.nan)
            grid[cells] = values
            variables[name] = (dims, grid.reshape(len(y), len(x)))
    coordinates = {name: (name, values, ABOUT[name]) for name, values in zip(names, (x, y), strict=True)}
    about = {"Conventions": "CF-1.8", "alpha": embedding.alpha, "comment": " ".join(embedding.sentences())}
    return xarray.Dataset(variables, coordinates, about)
