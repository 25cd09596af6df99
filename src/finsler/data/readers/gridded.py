"""Gridded fields: a current or a wind on rows and columns, from netCDF files and xarray Datasets, by the CF conventions.

Nothing is loaded before it is known to fit, and then one step of time after the other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler._read import guarded, require_file
from finsler.data.provenance import listed
from finsler.errors import InputError, InputTypeError, MissingExtraError

Array = NDArray[Any]

ENGINES = {b"\x89HDF": "h5netcdf", b"CDF\x01": "scipy", b"CDF\x02": "scipy"}  # by the first four bytes
# Pairs of names, earlier ones win: standard names first, then what variables are usually called.
STANDARD = (
    ("eastward_sea_water_velocity", "northward_sea_water_velocity"),
    ("surface_eastward_sea_water_velocity", "surface_northward_sea_water_velocity"),
    ("surface_geostrophic_eastward_sea_water_velocity", "surface_geostrophic_northward_sea_water_velocity"),
    ("geostrophic_eastward_sea_water_velocity", "geostrophic_northward_sea_water_velocity"),
    ("sea_water_x_velocity", "sea_water_y_velocity"),
    ("eastward_sea_ice_velocity", "northward_sea_ice_velocity"),
    ("eastward_wind", "northward_wind"),
    ("x_wind", "y_wind"),
)
USUAL = (
    ("uo", "vo"), ("utotal", "vtotal"), ("ugos", "vgos"), ("u10", "v10"), ("water_u", "water_v"), ("u", "v"),
    ("u_current", "v_current"), ("uwnd", "vwnd"), ("vozocrtx", "vomecrty"),
)  # fmt: skip
EAST = r"degrees?_?(east|e)"  # as units of longitude
NORTH = r"degrees?_?(north|n)"
TIMES = ("time", "t", "valid_time", "time_counter", "month", "season", "date")
# What coordinate a dimension is: its standard names, axis, and usual names.
AXES: dict[str, tuple[tuple[str, ...], str, tuple[str, ...]]] = {
    "x": (("longitude", "projection_x_coordinate"), "X", ("lon", "longitude", "x", "xc", "easting")),
    "y": (("latitude", "projection_y_coordinate"), "Y", ("lat", "latitude", "y", "yc", "northing")),
}
METERS = {"m": 1.0, "meter": 1.0, "meters": 1.0, "metre": 1.0, "metres": 1.0, "km": 1e3, "kilometer": 1e3}
SPEEDS = {  # meters per second
    **dict.fromkeys(
        ("m s-1", "m/s", "m s**-1", "m s^-1", "m.s-1", "meter second-1", "meters/second", "ms-1"), 1.0
    ),
    **dict.fromkeys(("meter/second", "meter s-1", "metres per second", "meters per second", "m sec-1"), 1.0),
    **dict.fromkeys(("cm s-1", "cm/s", "cm s**-1", "cm.s-1", "centimeter/second"), 0.01),
    **dict.fromkeys(("km h-1", "km/h", "km hr-1"), 1 / 3.6),
    **dict.fromkeys(("knot", "knots", "kt", "kts"), 1852 / 3600),
}


@dataclass(frozen=True, eq=False)
class GriddedField:
    """Vectors on rows and columns; made by :func:`read_field`."""

    x: Array  #: Coordinates of the columns, rising.
    y: Array  #: Coordinates of the rows, rising.
    u: Array  #: (rows, columns): along x; NaN on land, as v.
    v: Array  #: The same along y.
    names: tuple[str, str, str, str]  #: Of x, y, u and v.
    degrees: bool  #: Whether x and y are longitude and latitude.
    wraps: bool  #: Whether the last column is next to the first: longitudes all round the globe.
    meters: float | None  #: Meters to a unit of x and y; None if that is not known, or they are degrees.
    pace: float | None  #: Meters per second to a unit of u and v; None if that is not known.
    units: str  #: Of u and v, in the words of the file.
    source: str
    remarks: tuple[str, ...]  #: What was chosen, in words.

    @property
    def sea(self) -> Array:
        """Cells in which there is a vector."""
        return np.isfinite(self.u)


def read_field(
    dataset: Any, u: str | None = None, v: str | None = None, at: Mapping[str, Any] | None = None
) -> GriddedField:
    """Read a field of vectors, two variables of a netCDF file or of an xarray Dataset.

    Parameters
    ----------
    dataset : xarray.Dataset, or path of a netCDF file
    u, v : str, optional
        Variables, along x (to the east) and y (to the north); by default those whose standard names, or names, say so.
    at : dict, optional
        Which step to take along a further dimension, by its name: a value of its coordinate, of which the nearest is taken,
        "first", "last" or "mean". By default the mean over time and the first of all others.
    """
    if at is not None and not isinstance(at, Mapping):
        raise InputTypeError(
            f"must be a dictionary such as {{'depth': 0}}, got {type(at).__name__}.", argument="at"
        )
    if isinstance(dataset, str | os.PathLike):
        with opened(dataset) as file:
            return _field(file, u, v, at or {}, Path(dataset).name)
    if not (hasattr(dataset, "data_vars") and hasattr(dataset, "coords")):
        raise InputTypeError(
            f"must be an xarray Dataset or the path of a netCDF file, got {type(dataset).__name__}.",
            argument="dataset",
        )
    return _field(dataset, u, v, at or {}, "Dataset")


@contextmanager
def opened(path: str | os.PathLike[str]) -> Iterator[Any]:
    """Dataset of a netCDF file, of which nothing is loaded yet; whatever goes wrong with it names the file."""
    try:
        import h5netcdf  # noqa: F401  # of the extra, too
        import xarray
    except ImportError as error:
        raise MissingExtraError(
            f"netCDF files need xarray and h5netcdf: pip install 'finsler[field]' ({error})."
        ) from error
    require_file(path)
    with guarded(path, "netCDF"):
        with open(path, "rb") as file:
            begin = file.read(4)
        if begin.startswith(b"\x1f\x8b"):
            raise InputError("it is packed; unpack it first (gunzip).")
        if begin not in ENGINES:
            raise InputError("it does not begin as a netCDF file does (netCDF-4, or netCDF-3 classic).")
        options: dict[str, Any] = {"engine": ENGINES[begin], "cache": False}
        try:
            dataset = xarray.open_dataset(path, **options)
        except (ValueError, OverflowError, ImportError) as error:
            if "time" not in str(error) and "calendar" not in str(error):
                raise
            dataset = xarray.open_dataset(path, decode_times=False, **options)  # times stay numbers
        with dataset:
            yield dataset


def _field(dataset: Any, u: str | None, v: str | None, at: Mapping[str, Any], source: str) -> GriddedField:
    names = vector_names(dataset, u, v)
    parts = [dataset[name] for name in names]
    if parts[0].dims != parts[1].dims or parts[0].shape != parts[1].shape:
        raise InputError(
            f"{names[0]} {parts[0].sizes} and {names[1]} {parts[1].sizes} are not on the same grid; bring both to the "
            "centers of the cells first."
        )
    for name, part in zip(names, parts, strict=True):
        if part.dtype.kind not in "biuf":
            raise InputError(f"{name} holds {part.dtype}, not numbers.")
    x, y = (_axis_of(dataset, parts[0], kind) for kind in ("x", "y"))
    cells = float(parts[0].sizes[x]) * float(parts[0].sizes[y])
    require_memory(
        12 * 8 * cells, f"The field of {cells:,.0f} cells", "Take a part of it: dataset.isel(...) of xarray."
    )
    chosen, over, remarks = _steps(dataset, parts[0], {x, y}, at)
    values = [_mean(part.isel(chosen).transpose(*over, y, x), over) for part in parts]
    land = ~(np.isfinite(values[0]) & np.isfinite(values[1]))
    for value in values:
        value[land] = np.nan
    degrees = [_is_degrees(dataset[name], of) for name, of in ((x, EAST), (y, NORTH))]
    columns, rows = (_coordinates(dataset[name]) for name in (x, y))
    for name, column in ((x, columns), (y, rows)):
        if len(np.unique(column)) < len(column):
            raise InputError(f"two entries of its coordinate {name} are the same.")
    order = np.argsort(columns)
    columns, values = columns[order], [value[:, order] for value in values]
    wraps = False
    if all(degrees):
        if np.abs(rows).max() > 90:
            raise InputError(f"its latitudes {y} reach {rows[np.argmax(np.abs(rows))]:g}.")
        columns, values, wraps = _round_the_globe(columns, values)
    upward = np.argsort(rows)
    lengths = {str(dataset[name].attrs.get("units", "")).strip().lower() for name in (x, y)}
    units = str(parts[0].attrs.get("units", "")).strip()
    if units != str(parts[1].attrs.get("units", "")).strip():
        raise InputError(f"{names[0]} is in {units or 'no unit'}, {names[1]} is not.")
    return GriddedField(
        columns, rows[upward], values[0][upward], values[1][upward], (x, y, *names), all(degrees), wraps,
        METERS.get(lengths.pop()) if len(lengths) == 1 and not any(degrees) else None, SPEEDS.get(units.lower()), units,
        source, tuple(remarks),
    )  # fmt: skip


def vector_names(dataset: Any, u: str | None, v: str | None) -> tuple[str, str]:
    """Names of the two variables: those that are given, or those whose standard names or names say so."""
    known = [str(name) for name in dataset.data_vars]
    if u is not None or v is not None:
        for argument, name in (("u", u), ("v", v)):
            if name not in known:
                raise InputError(
                    f"must name a variable, as the other one does: {listed(known)}; got {name!r}.",
                    argument=argument,
                )
        if u == v:
            raise InputError(f"must name another variable than u; both are {u!r}.", argument="v")
        return str(u), str(v)
    standard = {str(dataset[name].attrs.get("standard_name", "")): name for name in reversed(known)}
    for pair in STANDARD:
        if all(name in standard for name in pair):
            return standard[pair[0]], standard[pair[1]]
    lower = {name.lower(): name for name in reversed(known)}
    for pair in USUAL:
        if all(name in lower for name in pair):
            return lower[pair[0]], lower[pair[1]]
    raise InputError(
        f"no two variables are known to be a current or a wind by standard_name or name; there are {listed(known)}. Say "
        "which, by u and v.",
        argument="u",
    )


def _axis_of(dataset: Any, part: Any, kind: str) -> str:
    """Dimension along x or y."""
    standard, axis, usual = AXES[kind]
    known = [name for name in part.dims if name in dataset.coords and dataset[name].ndim == 1]
    about = {str(name): dataset[name].attrs for name in known}
    units = EAST if kind == "x" else NORTH
    for is_it in (
        lambda name: re.fullmatch(units, str(about[name].get("units", "")).strip().lower()),
        lambda name: about[name].get("standard_name") in standard,
        lambda name: about[name].get("axis") == axis,
        lambda name: name.lower() in usual,
    ):
        found = [name for name in about if is_it(name)]
        if len(found) == 1:
            return found[0]
    two = [str(name) for name in dataset.coords if dataset[name].ndim == 2]
    why = (
        f" {listed(two)} have two dimensions, a curved grid: bring it to rows and columns first."
        if two
        else ""
    )
    raise InputError(
        f"none of the dimensions {listed([str(d) for d in part.dims])} of {part.name} has a coordinate that is known to be "
        f"{'longitude or x' if kind == 'x' else 'latitude or y'}.{why}"
    )


def _is_degrees(coordinate: Any, units: str) -> bool:
    unit = str(coordinate.attrs.get("units", "")).strip().lower()
    names = ("lon", "longitude", "lat", "latitude")
    return bool(
        re.fullmatch(units, unit)
        or coordinate.attrs.get("standard_name") in ("longitude", "latitude")
        or (unit in ("", "degrees", "degree") and str(coordinate.name).lower() in names)
    )


def _coordinates(coordinate: Any) -> Array:
    values = np.asarray(coordinate.values)
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all():
        raise InputError(f"its coordinate {coordinate.name} holds something else than finite numbers.")
    return values.astype(float)


def _round_the_globe(x: Array, values: list[Array]) -> tuple[Array, list[Array], bool]:
    """Columns without one that is there twice, at 0 and at 360; and whether they go all round."""
    if len(x) < 3:
        return x, values, False
    step = float(np.median(np.diff(x)))
    if x[-1] - x[0] > 360 + step / 2:
        raise InputError(f"its longitudes span {x[-1] - x[0]:g} degrees.")
    if x[-1] - x[0] > 360 - step / 2:
        x, values = x[:-1], [value[:, :-1] for value in values]
    return x, values, bool(abs(360 - (x[-1] - x[0]) - step) < step / 2)


def _steps(
    dataset: Any, part: Any, grid: set[str], at: Mapping[str, Any]
) -> tuple[dict[str, int], list[str], list[str]]:
    """Positions along further dimensions, dimensions to take the mean over, and what was chosen, in words."""
    further = [str(name) for name in part.dims if name not in grid]
    for name in at:
        if name not in further:
            raise InputError(
                f"{name!r} is no further dimension of {part.name}; there are {listed(further) or 'none'}.",
                argument="at",
            )
    chosen: dict[str, int] = {}
    over, said = [], []
    for name in further:
        size = part.sizes[name]
        if not size:
            raise InputError(f"its dimension {name} has no entries.")
        steps = dataset[name] if name in dataset.coords else None
        asked = at.get(name, "mean" if _is_time(name, steps) else "first")
        if isinstance(asked, str) and asked == "mean":
            over.append(name)
            if size > 1:
                said.append(f"The mean over {size:,} steps of {name}.")
            continue
        chosen[name] = _position(name, size, steps, asked)
        if size > 1:
            where = chosen[name] + 1 if steps is None else _word(steps.values[chosen[name]])
            why = "" if name in at else ", the first"
            said.append(f"{name} is {where}{why} of {size:,}.")
    return chosen, over, said


def _is_time(name: str, steps: Any) -> bool:
    if name.lower() in TIMES:
        return True
    if steps is None:
        return False
    marks = steps.attrs
    dated = steps.dtype.kind == "M" or " since " in str(marks.get("units", ""))
    return dated or marks.get("standard_name") == "time" or marks.get("axis") == "T"


def _position(name: str, size: int, steps: Any, asked: Any) -> int:
    """Position that is asked for along a dimension: the nearest value of its coordinate."""
    if isinstance(asked, str) and asked in ("first", "last"):
        return 0 if asked == "first" else size - 1
    try:
        values = np.arange(size) if steps is None else np.asarray(steps.values)
        if values.dtype.kind == "M":
            asked = np.datetime64(asked)
            gaps = np.abs((values - asked) / np.timedelta64(1, "s"))
        elif values.dtype.kind in "biuf":
            gaps = np.abs(values.astype(float) - float(asked))
        else:
            gaps = np.array([0.0 if str(value) == str(asked) else np.nan for value in values.tolist()])
        return int(np.nanargmin(gaps))
    except (TypeError, ValueError):
        known = [] if steps is None else [_word(value) for value in steps.values[:3]]
        raise InputError(
            f"{name}={asked!r} is not among its values ({listed(known)} ...), nor 'first', 'last' or 'mean'.",
            argument="at",
        ) from None


def _word(value: Any) -> str:
    if isinstance(value, np.datetime64):
        return str(np.datetime_as_string(value, unit="s")).removesuffix("T00:00:00")
    return f"{value:g}" if isinstance(value, float | np.floating) else f"{value}"


def _mean(part: Any, over: list[str]) -> Array:
    """Mean over some dimensions of the values that are there, one step after the other."""
    sums = np.zeros(part.shape[len(over) :])
    counts = np.zeros(sums.shape, np.int32)
    for step in product(*(range(part.sizes[name]) for name in over)):
        values = np.asarray(part.isel(dict(zip(over, step, strict=True))).values, dtype=float)
        known = np.isfinite(values)
        sums[known] += values[known]
        counts += known
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
