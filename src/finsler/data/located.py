"""Points with a current as solvers take them: in the plane or on the sphere, and in units of the boat's speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.data.attributes import Columns
from finsler.data.columns import degree_columns
from finsler.data.fields import as_points
from finsler.data.frames import labeled
from finsler.data.labels import point_labels
from finsler.data.matrix import as_float_array
from finsler.data.point_tables import point_table
from finsler.errors import InputError, check_choice

RADIUS = 6_371_008.8  # meters: the mean radius of the earth
FASTEST = 0.6  # share of the speed that speed="auto" gives the fastest vector
COORDINATES = ("auto", "plane", "sphere")

Array = NDArray[Any]


class Located(NamedTuple):
    """Points, their vectors, and what was done to them in words."""

    points: Array
    vectors: Array | None
    remarks: tuple[str, ...]


def located(
    points: Array,
    vectors: Array | None,
    *,
    names: Sequence[str] = (),
    speed: float | str | None = None,
    coordinates: str = "auto",
) -> Located:
    """Put points where their coordinates mean, and divide lengths by the speed of the boat, so that steps take time.

    A boat of speed s in a current c needs the time t with ``||u - c t|| = s t`` for a step u; that is the step u / s of a
    boat of speed 1 in the current c / s.

    Parameters
    ----------
    points, vectors : ndarray of shape (n, d)
        Coordinates, and the current at each point, along the same axes (on the sphere: east and north).
    names : sequence of str
        Of the coordinates. Longitude and latitude are degrees and no lengths: `coordinates` must say what they are.
    speed : float or "auto", optional
        Speed of the boat, in the units of the vectors; "auto" is the speed of which the fastest vector has 60 %. By
        default the vectors are shares of the speed.
    coordinates : {"auto", "plane", "sphere"}
        Lengths along axes, or longitude and latitude in degrees, which become places in space, in meters; "auto" refuses
        columns of degrees.

    Examples
    --------
    >>> found = located(np.array([[0.0, 0.0], [90.0, 0.0]]), np.array([[1.0, 0.0], [2.0, 0.0]]), coordinates="sphere")
    >>> (found.points / RADIUS).round(9) + 0.0
    array([[1., 0., 0.],
           [0., 1., 0.]])
    """
    check_choice("coordinates", coordinates, COORDINATES)
    remarks = []
    degrees = degree_columns(names)
    if degrees is not None and coordinates == "auto":
        raise InputError(
            f"{names[degrees[0]]} and {names[degrees[1]]} are degrees, not lengths. Set coordinates to sphere: places "
            "on the globe, in meters, with vectors to the east and north in meters per second, say; or to plane.",
            argument="coordinates",
        )
    if coordinates == "sphere":
        if points.shape[1] != 2:
            raise InputError(
                f"sphere takes longitude and latitude, got {points.shape[1]} axes.", argument="coordinates"
            )
        order = [0, 1] if degrees is None else [*degrees]
        points, vectors = on_sphere(points[:, order], None if vectors is None else vectors[:, order])
        remarks.append("Longitude and latitude became places on the sphere, in meters.")
    if speed is None:
        return Located(points, vectors, tuple(remarks))
    if vectors is None:
        raise InputError("goes with a current.", argument="speed")
    boat = boat_speed(vectors, speed)
    if speed == "auto":
        remarks.append(
            f"The speed was set to {boat:.4g}: the fastest current has {100 * FASTEST:.0f} % of it."
        )
    return Located(points / boat, vectors / boat, tuple(remarks))


def boat_speed(vectors: Array, speed: float | str) -> float:
    """Speed of the boat, which must be faster than every vector."""
    fastest = float(np.linalg.norm(vectors, axis=1).max(initial=0.0))
    if speed == "auto":
        if fastest == 0:
            raise InputError("auto needs vectors that are not all zero.", argument="speed")
        return fastest / FASTEST
    try:
        boat = float(speed)
    except (TypeError, ValueError):
        boat = np.nan
    if not fastest < boat < np.inf:
        raise InputError(
            f"must be a number above that of the fastest vector, {fastest:.4g}, or auto; got {speed!r}.",
            argument="speed",
        )
    return boat


def on_sphere(degrees: Array, vectors: Array | None) -> tuple[Array, Array | None]:
    """Places in space, in meters, from longitude and latitude; and vectors there, from those to the east and north."""
    bad = np.flatnonzero((np.abs(degrees[:, 1]) > 90) | (np.abs(degrees[:, 0]) > 360))
    if bad.size:
        raise InputError(
            f"sphere: longitude {degrees[bad[0], 0]:g}, latitude {degrees[bad[0], 1]:g} (point {bad[0]}) is nowhere.",
            argument="coordinates",
        )
    lon, lat = np.radians(degrees).T
    up = np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    if vectors is None:
        return RADIUS * up, None
    east = np.column_stack([-np.sin(lon), np.cos(lon), np.zeros(len(lon))])
    north = np.column_stack([-np.sin(lat) * np.cos(lon), -np.sin(lat) * np.sin(lon), np.cos(lat)])
    return RADIUS * up, vectors[:, :1] * east + vectors[:, 1:] * north


class Given(NamedTuple):
    """Points with their vectors and labels, and facts about where they come from."""

    points: Any
    drift: Any
    current: Any
    labels: Sequence[Any] | None
    facts: dict[str, Any]
    attributes: (
        Columns  #: Where the points are, by the names of the coordinates, and what else is known of them.
    )


def given_points(
    points: Any, drift: Any, current: Any, metric: Any, labels: Any, speed: Any, coordinates: str
) -> Given:
    """Points with their vectors, from wherever they stand; on the sphere and in units of the speed, if that is asked for."""
    facts: dict[str, Any] = {}
    table = point_table(points) if drift is None and current is None and metric is None else None
    if table is not None:
        facts = {"source": table.name, "left_out": table.provenance.left_out}
        labels = table.labels if labels is None else labels
        points, names = np.asarray(table.values), table.columns
        drift, current = (
            table.vectors if table.vector_kind == kind else None for kind in ("drift", "current")
        )
    else:
        points = labeled(points)
        own = getattr(points, "columns", None)
        names = [] if own is None else [str(name) for name in own]
    about = _coordinates(points, names, coordinates) | ({} if table is None else table.attributes)
    about = _vectors(points, drift, current) | about
    if speed is None and coordinates == "auto" and degree_columns(names) is None:
        return Given(points, drift, current, labels, facts, about)
    asked = "coordinates" if speed is None else "speed"
    if metric is not None or callable(current) or callable(drift):
        raise InputError("goes with vectors at the points.", argument=asked)
    if drift is not None and (speed is not None or coordinates == "sphere"):
        raise InputError("goes with a current, not with a drift.", argument=asked)
    labels = point_labels(labeled(points)) if labels is None else labels
    X = as_points(points)
    vectors = (
        None if current is None else np.broadcast_to(as_float_array(labeled(current), "current"), X.shape)
    )
    found = located(X, vectors, names=names, speed=speed, coordinates=coordinates)
    if found.remarks:
        facts["remarks"] = found.remarks
    return Given(found.points, drift, found.vectors, labels, facts, about)


def _coordinates(points: Any, names: Sequence[str], coordinates: str) -> Columns:
    """Coordinates as columns about the points, if they are places: named, or of up to three dimensions."""
    values = np.asarray(points)
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        return {}  # whoever takes the points says what is wrong with them
    d = values.shape[1]
    if len(names) != d:
        names = ("lon", "lat") if coordinates == "sphere" and d == 2 else ("x", "y", "z")[:d]
    return {name: values[:, k] for k, name in enumerate(names)} if len(names) == d <= 3 else {}


def _vectors(points: Any, drift: Any, current: Any) -> Columns:
    """Vectors as columns about points of up to three dimensions, so that pictures can show them."""
    shape = np.shape(points)
    columns: Columns = {}
    for given, names in ((current, ("u", "v", "w")), (drift, ("drift_x", "drift_y", "drift_z"))):
        if given is None or callable(given) or len(shape) != 2 or shape[1] > 3:
            continue
        try:
            values = np.asarray(given)
        except ValueError:  # rows of different lengths, which whoever takes them refuses
            continue
        if values.dtype.kind in "biuf" and values.shape in (shape, shape[1:]):
            columns |= dict(zip(names, np.broadcast_to(values, shape).T, strict=False))
    return columns
