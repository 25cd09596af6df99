"""One line from a gridded field to a map: currents and winds in netCDF files and xarray Datasets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Unpack

from finsler._arguments import check_arguments
from finsler.data.readers.gridded import read_field
from finsler.embedding import Embedding
from finsler.errors import check_choice
from finsler.graphs.gridded import field_graph, require_one_sea
from finsler.recipes import GraphOptions, embed_graph
from finsler.solvers.options import check_names


def embed_field(
    dataset: Any,
    u: str | None = None,
    v: str | None = None,
    *,
    speed: float | str,
    at: Mapping[str, Any] | None = None,
    sample: int | str = "auto",
    coordinates: str = "auto",
    unreachable: str = "largest",
    n_components: int = 3,
    alpha: float | str = 0.5,
    weighting: str = "uniform",
    method: str = "auto",
    n_pivots: int | None = None,
    **options: Unpack[GraphOptions],
) -> Embedding:
    """Map a current or a wind on rows and columns by the travel times of a boat in it.

    Every cell with a current is a node, joined to others in some 40 directions if no land lies between: cells without a
    current (NaN), of which an edge touches none, not even at a corner. An edge takes the time of a boat that steers as well
    as one can, measured along it wherever it crosses a row or column, by the trapezoidal rule. Ways along edges are hardly
    longer than straight ones; by how much is estimated and told.

    Parameters
    ----------
    dataset : xarray.Dataset, or path of a netCDF file
        By the CF conventions: rows and columns are coordinates of one dimension each, called or described as longitude
        and latitude (degrees_east, degrees_north), or x and y. Longitudes all round the globe are joined at both ends.
    u, v : str, optional
        Variables with the current to the east (along x) and north (along y). By default those with a known standard_name
        (eastward_sea_water_velocity, eastward_wind ...) or name (uo and vo, u10 and v10, ugos and vgos, u and v ...).
    speed : float or "auto"
        Speed of the boat, in the units of `u`, above that of every current; "auto" is the speed of which the fastest current
        has 60 %, which is said.
    at : dict, optional
        What to take along further dimensions, such as ``{"depth": 0, "time": "2020-01-15"}``: the step nearest to a
        value, "first", "last", or "mean". By default the mean over time, and the first step of all others, which is said.
    sample : int or "auto"
        Take every so-many-th row and column, with the mean current of the cells around; land counts cell by cell. "auto"
        leaves at most 5,000 nodes, and says so; 1 takes all.
    coordinates : {"auto", "plane", "sphere"}
        Where longitudes and latitudes are: on the globe (as "auto" takes them), or on a plane, which makes degrees lengths.
    unreachable : {"largest", "raise"}
        If land parts the sea: map its largest part and name the nodes that are left out, or refuse.
    n_components, alpha
        As of :func:`~finsler.embed_points`.
    weighting, method, n_pivots, **options
        As of :func:`~finsler.embed_graph`.

    Returns
    -------
    Embedding
        Distances are times in hours, where the units of the file are known. Its attributes hold the coordinates (lon and
        lat, or x and y) and the current of each point, ``network`` the graph of all ways, so that ``route`` finds
        the fastest one, and :meth:`~finsler.Embedding.to_dataset` puts the map back on rows and columns.

    Examples
    --------
    >>> import numpy as np, xarray
    >>> from finsler import embed_field
    >>> lat, lon = np.linspace(40, 45, 6), np.linspace(-10, 0, 11)
    >>> east = xarray.DataArray(np.full((6, 11), 0.5), {"lat": lat, "lon": lon}, ("lat", "lon"), attrs={"units": "m s-1"})
    >>> bay = embed_field(xarray.Dataset({"uo": east, "vo": 0 * east}), speed=2)
    >>> route = bay.route("42N 10W", "42N 0E")
    >>> bool(1.5 < route.back.length / route.length < 1.7)  # (2 + 0.5) / (2 - 0.5) along a parallel
    True
    """
    check_names("embed_field", options, GraphOptions)
    check_arguments(embed_field, locals(), besides=("dataset", "at"))
    check_choice("unreachable", unreachable, ("largest", "raise"))
    field = read_field(dataset, u, v, at)
    graph = field_graph(field, speed=speed, sample=sample, coordinates=coordinates)
    if unreachable == "raise":
        require_one_sea(graph)
    found = embed_graph(
        graph,
        unreachable=unreachable,
        n_components=n_components,
        alpha=alpha,
        weighting=weighting,
        method=method,
        n_pivots=n_pivots,
        **options,
    )
    return replace(found, unit=graph.provenance.columns.get("unit", ""))
