"""Where points really are: the columns about them that say so, by the names that people give them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Pairs of names, the first found counts; letters of either case.
GEOGRAPHIC = (("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"), ("long", "lat"))
PLANE = (("x", "y"),)


class Places(NamedTuple):
    """Where points are: on the globe in degrees, or on a plane."""

    x: NDArray[np.float64]  #: Longitude if `geographic`.
    y: NDArray[np.float64]  #: Latitude if `geographic`.
    geographic: bool
    names: tuple[str, str]  #: Of the two columns.

    @property
    def known(self) -> NDArray[np.bool_]:
        """Of which points both are known."""
        return np.isfinite(self.x) & np.isfinite(self.y)


def is_degrees(crs: Any) -> bool:
    """Whether a coordinate reference system, as graphs of OSMnx name theirs, is longitude and latitude.

    Examples
    --------
    >>> is_degrees("epsg:4326"), is_degrees("EPSG:32633"), is_degrees(None)
    (True, False, False)
    """
    word = str(crs).strip().lower().replace(" ", "")
    return word.endswith(("epsg:4326", "epsg::4326", "crs84")) or word in ("4326", "wgs84")


def places(attributes: Mapping[str, Any]) -> Places | None:
    """Columns lon and lat, or longitude and latitude, else x and y, if there are any and they are numbers.

    Columns of degrees must be degrees, -180 to 360 and -90 to 90, to count as such.

    Examples
    --------
    >>> found = places({"Lat": [52.5, 48.9], "Lon": [13.4, 2.4], "people": [3.6, 2.1]})
    >>> found.x.tolist(), found.geographic, found.names
    ([13.4, 2.4], True, ('Lon', 'Lat'))
    """
    names = {str(name).strip().lower(): name for name in reversed(list(attributes))}
    for pair in (*GEOGRAPHIC, *PLANE):
        if not all(name in names for name in pair):
            continue
        columns = [np.asarray(attributes[names[name]]) for name in pair]
        if any(column.dtype.kind not in "biuf" for column in columns):
            continue
        x, y = (column.astype(np.float64) for column in columns)
        if not (np.isfinite(x) & np.isfinite(y)).any():
            continue
        geographic = pair in GEOGRAPHIC
        if geographic and (np.nanmax(np.abs(y)) > 90 or np.nanmin(x) < -180 or np.nanmax(x) > 360):
            continue
        return Places(x, y, geographic, (str(names[pair[0]]), str(names[pair[1]])))
    return None
