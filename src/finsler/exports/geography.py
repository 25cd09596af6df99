"""A map on the globe: points where they really are, with their heights, as GeoJSON and as a frame of geopandas."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from finsler.data.places import Places, places
from finsler.data.provenance import listed
from finsler.errors import InputError, MissingExtraError
from finsler.exports.columns import plain_values, point_columns

WGS84 = "EPSG:4326"  # longitude and latitude in degrees: the only system that GeoJSON knows (RFC 7946)


def geographic_places(attributes: Any) -> Places:
    """Longitude and latitude of the points, or an error that says how to give them."""
    found = places(attributes)
    if found is None or not found.geographic:
        there = f"; its attributes are {listed([*attributes])}" if attributes else ""
        plane = " x and y are no degrees: name them lon and lat if they are." if found is not None else ""
        raise InputError(
            f"a map on the globe needs the longitude and latitude of its points, in degrees: attributes lon and lat{there}."
            f"{plane} Give them with --attributes FILE, or with_attributes({{'lon': ..., 'lat': ...}})."
        )
    return found


def degrees_east(x: np.ndarray) -> np.ndarray:
    """Longitudes from -180 to 180, which is what GeoJSON wants; those up to 360 are turned."""
    return np.where(x > 180, x - 360, x)


def geojson(embedding: Any) -> str:
    """Text of a GeoJSON file: a point each, without geometry where its place is not known."""
    at = geographic_places(embedding.attributes)
    lon, lat, known = degrees_east(at.x).tolist(), at.y.tolist(), at.known.tolist()
    columns = {name: plain_values(values) for name, values in point_columns(embedding).items()}
    features = []
    for k in range(embedding.n_points):
        label = k if embedding.labels is None else embedding.labels[k]
        label = label if isinstance(label, str | int | float) else str(label)
        geometry = {"type": "Point", "coordinates": [lon[k], lat[k]]} if known[k] else None
        properties = {"label": label, **{name: values[k] for name, values in columns.items()}}
        features.append({"type": "Feature", "geometry": geometry, "properties": properties})
    return (
        json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, indent=0) + "\n"
    )


def route_geojson(route: Any) -> str:
    """Text of a GeoJSON file of a route: a line each for the way there and the way back, with its length and its nodes."""
    at = geographic_places(route.graph.attributes)
    lon, lat = degrees_east(at.x), at.y
    features = []
    for name, way in zip(("there", "back"), route.ways, strict=False):
        nodes = way.nodes[at.known[way.nodes]]
        lines = lines_on_globe(lon[nodes], lat[nodes])
        shape: dict[str, Any] | None = {"type": "MultiLineString", "coordinates": lines}
        if len(lines) == 1:
            shape = {"type": "LineString", "coordinates": lines[0]}
        if len(nodes) < 2:  # a line has two ends
            shape = {"type": "Point", "coordinates": lines[0][0]} if len(nodes) else None
        labels = [label if isinstance(label, str | int | float) else str(label) for label in way.labels]
        properties = {"way": name, "from": labels[0], "to": labels[-1], "length": way.length, "nodes": labels}
        features.append({"type": "Feature", "geometry": shape, "properties": properties})
    return (
        json.dumps({"type": "FeatureCollection", "features": features}, ensure_ascii=False, indent=0) + "\n"
    )


def lines_on_globe(lon: np.ndarray, lat: np.ndarray) -> list[list[list[float]]]:
    """A line through places, cut where it crosses the meridian of 180 degrees, as RFC 7946 asks.

    Examples
    --------
    >>> lines_on_globe(np.array([170.0, -170.0]), np.array([0.0, 10.0]))
    [[[170.0, 0.0], [180.0, 5.0]], [[-180.0, 5.0], [-170.0, 10.0]]]
    """
    lines: list[list[list[float]]] = [[]]
    for k, (x, y) in enumerate(zip(lon.tolist(), lat.tolist(), strict=True)):
        if k and abs(x - lon[k - 1]) > 180:
            edge = 180.0 if lon[k - 1] > 0 else -180.0
            step = x - lon[k - 1] + 2 * edge  # the short way round
            share = (edge - lon[k - 1]) / step if step else 0.0
            cross = float(lat[k - 1] + share * (y - lat[k - 1]))
            lines[-1].append([edge, cross])
            lines.append([[-edge, cross]])
        lines[-1].append([x, y])
    return lines


def to_geopandas(embedding: Any) -> Any:
    """Map as a frame of geopandas; see :meth:`finsler.Embedding.to_geopandas`."""
    try:
        import geopandas
    except ImportError as error:
        raise MissingExtraError("to_geopandas needs geopandas: pip install 'finsler[geo]'.") from error
    at = geographic_places(embedding.attributes)
    frame = embedding.to_frame()
    spots = geopandas.points_from_xy(degrees_east(at.x), at.y)
    spots = [spot if known else None for spot, known in zip(spots, at.known, strict=True)]
    return geopandas.GeoDataFrame(frame, geometry=spots, crs=WGS84)
