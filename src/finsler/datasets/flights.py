"""Flight times over North America under an idealized westerly jet: the way west is the slow one.

Nothing is downloaded: the airports are typed below and the hours are computed from a wind model on each call.

The model. An aircraft follows the great circle at a constant airspeed V. On a short leg of length L, with
wind c along the track and x across it, part of the airspeed is spent on holding the track against x (the wind
triangle, which is Zermelo's relation on a straight track), and the ground speed is

    g = c + sqrt(V^2 - x^2),        hours = sum over the legs of L / g.

Since 1 / g = (sqrt(V^2 - x^2) - c) / (V^2 - c^2 - x^2), this is exactly a Randers metric: a symmetric
part, less a part linear in the direction of flight, which changes sign on the way back.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments, check_number
from finsler._memory import require_memory
from finsler.errors import InputError, check_count

if TYPE_CHECKING:
    from sklearn.utils import Bunch

Wind: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64]], tuple[ArrayLike, ArrayLike]]

EARTH_RADIUS = 6371.0088  # km, the mean radius of the Earth (IUGG)
FASTEST = 1e9  # km/h: light's speed; beyond, squares say nothing
AIRSPEED = 850.0  # km/h, cruise of an ordinary jet airliner
JET_PEAK = 100.0  # km/h; the one tuned number: New York - Los Angeles is then an hour longer than the return
JET_LATITUDE = 42.0  # degrees north, the axis of the jet
JET_WIDTH = 13.0  # degrees, standard deviation of the Gaussian profile
LEGS = 64  # of about 105 km at most here; the hours are within 1e-5 (relative) of those with very short legs

# fmt: off
# IATA code, city, latitude and longitude in degrees (north and east positive).
_AIRPORTS: tuple[tuple[str, str, float, float], ...] = (
    # United States
    ("ABQ", "Albuquerque", 35.0402, -106.6092),   ("ANC", "Anchorage", 61.1744, -149.9964),
    ("ATL", "Atlanta", 33.6367, -84.4281),        ("BIL", "Billings", 45.8077, -108.5429),
    ("BIS", "Bismarck", 46.7727, -100.7460),      ("BNA", "Nashville", 36.1245, -86.6782),
    ("BOI", "Boise", 43.5644, -116.2228),         ("BOS", "Boston", 42.3643, -71.0052),
    ("CLT", "Charlotte", 35.2140, -80.9431),      ("DEN", "Denver", 39.8617, -104.6731),
    ("DFW", "Dallas", 32.8968, -97.0380),         ("DTW", "Detroit", 42.2124, -83.3534),
    ("ELP", "El Paso", 31.8072, -106.3781),       ("FAI", "Fairbanks", 64.8151, -147.8561),
    ("IAD", "Washington", 38.9445, -77.4558),     ("IAH", "Houston", 29.9844, -95.3414),
    ("JAX", "Jacksonville", 30.4941, -81.6879),   ("JFK", "New York", 40.6398, -73.7789),
    ("LAS", "Las Vegas", 36.0801, -115.1522),     ("LAX", "Los Angeles", 33.9425, -118.4081),
    ("MCI", "Kansas City", 39.2976, -94.7139),    ("MEM", "Memphis", 35.0424, -89.9767),
    ("MIA", "Miami", 25.7932, -80.2906),          ("MSP", "Minneapolis", 44.8820, -93.2218),
    ("MSY", "New Orleans", 29.9934, -90.2580),    ("OKC", "Oklahoma City", 35.3931, -97.6007),
    ("OMA", "Omaha", 41.3032, -95.8941),          ("ORD", "Chicago", 41.9786, -87.9048),
    ("PDX", "Portland", 45.5887, -122.5975),      ("PHX", "Phoenix", 33.4343, -112.0116),
    ("PIT", "Pittsburgh", 40.4915, -80.2329),     ("RNO", "Reno", 39.4991, -119.7681),
    ("SAN", "San Diego", 32.7336, -117.1897),     ("SAT", "San Antonio", 29.5337, -98.4698),
    ("SEA", "Seattle", 47.4490, -122.3093),       ("SFO", "San Francisco", 37.6190, -122.3749),
    ("SLC", "Salt Lake City", 40.7884, -111.9778),("STL", "St. Louis", 38.7487, -90.3700),
    ("TPA", "Tampa", 27.9755, -82.5332),
    # Canada
    ("YEG", "Edmonton", 53.3097, -113.5797),      ("YFB", "Iqaluit", 63.7564, -68.5558),
    ("YHZ", "Halifax", 44.8808, -63.5086),        ("YQB", "Quebec", 46.7911, -71.3933),
    ("YQR", "Regina", 50.4319, -104.6658),        ("YUL", "Montreal", 45.4706, -73.7408),
    ("YVR", "Vancouver", 49.1939, -123.1844),     ("YWG", "Winnipeg", 49.9100, -97.2399),
    ("YXY", "Whitehorse", 60.7096, -135.0674),    ("YYC", "Calgary", 51.1139, -114.0203),
    ("YYQ", "Churchill", 58.7392, -94.0650),      ("YYT", "St. John's", 47.6186, -52.7519),
    ("YYZ", "Toronto", 43.6772, -79.6306),        ("YZF", "Yellowknife", 62.4628, -114.4403),
    # Mexico
    ("ACA", "Acapulco", 16.7571, -99.7540),       ("CUN", "Cancun", 21.0365, -86.8771),
    ("CUU", "Chihuahua", 28.7029, -105.9646),     ("GDL", "Guadalajara", 20.5218, -103.3112),
    ("HMO", "Hermosillo", 29.0959, -111.0479),    ("MEX", "Mexico City", 19.4363, -99.0721),
    ("MID", "Merida", 20.9370, -89.6577),         ("MTY", "Monterrey", 25.7785, -100.1069),
    ("OAX", "Oaxaca", 16.9999, -96.7266),         ("SJD", "San Jose del Cabo", 23.1518, -109.7211),
    ("TGZ", "Tuxtla Gutierrez", 16.5636, -93.0225),
)
# fmt: on

_DESCR = f"""\
Flight hours between {len(_AIRPORTS)} North American airports under an idealized westerly jet.

hours[i, j] is the time in the air from airport i to airport j, along the great circle, at an airspeed of
{AIRSPEED:g} km/h in a purely eastward wind that depends on the latitude only:
{JET_PEAK:g} km/h at {JET_LATITUDE:g} N, falling off as a Gaussian of standard deviation {JET_WIDTH:g} degrees.
Westbound is always slower.

The hours are computed, not observed. They hold no fixed time for taxi, climb or approach, so that
the diagonal is zero and short flights are short. Airport positions are facts, rounded to four decimals.
"""


def jet_wind(latitude: ArrayLike, longitude: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Idealized westerly jet, in km/h towards the east and the north: it depends on the latitude, in degrees, only."""
    lat, lon = np.broadcast_arrays(np.asarray(latitude, float), np.asarray(longitude, float))
    east = JET_PEAK * np.exp(-0.5 * ((lat - JET_LATITUDE) / JET_WIDTH) ** 2)
    return east, np.zeros(lon.shape)


def make_flight_hours(
    latitude: ArrayLike,
    longitude: ArrayLike,
    *,
    airspeed: float = AIRSPEED,
    wind: Wind | None = None,
    legs: int = LEGS,
) -> NDArray[np.float64]:
    """Hours of flight between all pairs of places, there and back, along great circles in a wind.

    Each great circle is cut into `legs` equal legs; on each, the wind at the middle of the leg and the wind
    triangle give the ground speed ``c + sqrt(airspeed**2 - x**2)``, with ``c`` the wind along the track and
    ``x`` across it.

    Parameters
    ----------
    latitude, longitude : array-like of shape (n,)
        Places in degrees, north and east positive; longitudes from -180 to 180 or from 0 to 360. No two may be
        antipodal: no single great circle would join them.
    airspeed : float, default=850
        Speed through the air in km/h.
    wind : callable or None, default=None
        ``wind(latitude, longitude) -> (east, north)``: arrays of positions in degrees (longitudes from
        -180 to 180) to wind components in km/h, each of the same shape as the positions or a scalar. It is
        called once for each place but the last, and must be finite and slower than the airspeed. None is an
        idealized westerly jet; for still air give ``lambda lat, lon: (0, 0)``.
    legs : int, default=64
        Legs of each route. More of them follow a wind with finer detail.

    Returns
    -------
    hours : ndarray of shape (n, n)
        ``hours[i, j]`` is the time from place i to place j: row = from, column = to. The diagonal is zero.

    Notes
    -----
    No fixed time for taxi, climb and approach is added: `hours` is the length of the route measured by the
    wind metric alone. The route is the great circle and not the fastest one, so a detour through a third
    place with a better wind can be a little faster: the triangle inequality fails by up to 0.4 % in
    :func:`load_flight_hours`.

    Examples
    --------
    Along the equator with a steady wind from the west of 100 km/h, at 900 km/h:

    >>> from finsler.datasets import make_flight_hours
    >>> hours = make_flight_hours([0, 0], [0, 36], airspeed=900, wind=lambda lat, lon: (100, 0))
    >>> hours.round(3)
    array([[0.   , 4.003],
           [5.004, 0.   ]])
    """
    check_arguments(make_flight_hours, locals())
    lat, lon = _check_positions(latitude, longitude)
    check_number("airspeed", airspeed, 0.0, FASTEST, open_ends=True)
    legs = check_count("legs", legs)
    wind = jet_wind if wind is None else wind
    if not callable(wind):
        raise InputError(
            "wind must be None or a function (latitude, longitude) -> (east, north) in km/h; "
            f"got {type(wind).__name__}."
        )
    # A row of the triangle holds about twenty arrays of a number per leg at once.
    require_memory(160.0 * lat.size * legs, f"legs = {legs:,} of each route", "Use fewer legs.")
    phi, lam = np.radians(lat), np.radians(lon)
    unit = np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=1)
    hours = np.zeros((lat.size, lat.size))
    # One row of the upper triangle at a time: there and back share the route, and memory stays at n x legs.
    for i in range(lat.size - 1):
        there, back = _hours_from(unit, i, float(airspeed), wind, legs)
        hours[i, i + 1 :], hours[i + 1 :, i] = there, back
    return hours


def _hours_from(
    unit: NDArray[np.float64], i: int, airspeed: float, wind: Wind, legs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Hours from place i to those that follow it, and back; the places are points of the unit sphere."""
    start, ends = unit[i], unit[i + 1 :]
    normal = np.cross(start, ends)
    sine, cosine = np.linalg.norm(normal, axis=1), ends @ start
    antipodal = np.flatnonzero((sine < 1e-9) & (cosine < 0))
    if antipodal.size:
        raise InputError(
            f"places {i} and {i + 1 + antipodal[0]} are antipodal, so no single great circle joins them; "
            "move or remove one of them."
        )
    angle = np.arctan2(sine, cosine)  # accurate at any distance, unlike arccos of the cosine
    # The route is cos(t) start + sin(t) ahead; for two equal places ahead is 0, and so is the angle.
    ahead = (np.cross(normal, start) / np.where(sine > 0, sine, 1.0)[:, None])[:, None, :]
    t = angle[:, None] * (np.arange(legs) + 0.5) / legs  # the middles of the legs
    cos_t, sin_t = np.cos(t)[..., None], np.sin(t)[..., None]
    along, across = _wind_on_track(
        cos_t * start + sin_t * ahead, cos_t * ahead - sin_t * start, wind, airspeed
    )
    held = np.sqrt(airspeed**2 - across**2)  # airspeed left once the track is held
    leg = EARTH_RADIUS * angle / legs
    return leg * (1 / (held + along)).sum(axis=1), leg * (1 / (held - along)).sum(axis=1)


def load_flight_hours() -> Bunch:
    """Flight hours between 64 North American airports under an idealized westerly jet.

    The hours are computed by :func:`make_flight_hours` from a wind model, not observed, and hold no fixed time for
    taxi, climb or approach. New York to Los Angeles takes an hour longer than the return.
    Nothing is downloaded.

    Returns
    -------
    data : sklearn.utils.Bunch
        Fresh arrays at each call, with the attributes

        hours : ndarray of shape (64, 64)
            Hours from the airport of the row to the airport of the column; the diagonal is zero.
        codes : list of str
            IATA codes.
        cities : list of str
            The cities served.
        latitude, longitude : ndarray of shape (64,)
            Degrees, north and east positive.
        DESCR : str
            What the data are.

    Examples
    --------
    >>> from finsler.datasets import load_flight_hours
    >>> data = load_flight_hours()
    >>> data.hours.shape
    (64, 64)
    >>> new_york, los_angeles = data.codes.index("JFK"), data.codes.index("LAX")
    >>> west, east = data.hours[new_york, los_angeles], data.hours[los_angeles, new_york]
    >>> print(f"{west:.2f} h west, {east:.2f} h east")
    5.25 h west, 4.21 h east
    """
    from sklearn.utils import Bunch  # here, because importing it takes longer than computing the hours

    codes, cities, *places = map(list, zip(*_AIRPORTS, strict=True))
    latitude, longitude = map(np.array, places)
    hours = make_flight_hours(latitude, longitude)
    return Bunch(
        hours=hours, codes=codes, cities=cities, latitude=latitude, longitude=longitude, DESCR=_DESCR
    )


def _check_positions(
    latitude: ArrayLike, longitude: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Two float vectors of the same length, in range."""
    lat, lon = np.asarray(latitude, dtype=float), np.asarray(longitude, dtype=float)
    if lat.ndim != 1 or lon.shape != lat.shape:
        raise InputError(
            "latitude and longitude must be two vectors of the same length; "
            f"got shapes {lat.shape} and {lon.shape}."
        )
    for name, values, low, high in (("latitude", lat, -90, 90), ("longitude", lon, -180, 360)):
        wrong = np.flatnonzero(~((values >= low) & (values <= high)))  # catches NaN too
        if wrong.size:
            raise InputError(
                f"{name} must be in degrees from {low} to {high}; "
                f"got {values[wrong[0]]} at position {wrong[0]} ({wrong.size} such value(s)). "
                "Check the units, and that latitude and longitude are not swapped."
            )
    return lat, lon


def _wind_on_track(
    points: NDArray[np.float64], tangents: NDArray[np.float64], wind: Wind, airspeed: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Wind along and across a track, given by points of the unit sphere and its unit tangents there."""
    x, y, z = np.moveaxis(points, -1, 0)
    rho = np.hypot(x, y)
    lam = np.arctan2(y, x)
    lat, lon = np.degrees(np.arctan2(z, rho)), np.degrees(lam)
    answer: Any = wind(lat, lon)
    try:
        east, north = (np.broadcast_to(np.asarray(part, dtype=float), lat.shape) for part in answer)
    except (TypeError, ValueError) as error:
        raise InputError(
            "wind must return a pair (east, north), each a number or an array of the shape of the latitudes "
            f"it is given, here {lat.shape}."
        ) from error
    speed = np.hypot(east, north)
    wrong = np.argwhere(~(speed < airspeed))  # catches NaN too
    if wrong.size:
        where = tuple(wrong[0])
        place = f"at latitude {lat[where]:.2f}, longitude {lon[where]:.2f}"
        if not np.isfinite(speed[where]):
            raise InputError(
                f"wind is not finite ({speed[where]}) {place}; fill the gaps of the wind field, for example "
                "by interpolation."
            )
        raise InputError(
            f"wind must be slower than the airspeed, or a flight against it never arrives; got a wind of "
            f"{speed[where]:.1f} km/h for an airspeed of {airspeed:.1f} km/h {place}. Raise airspeed, or "
            "check that the wind is in km/h."
        )
    # Local east is (-sin lam, cos lam, 0) and north (-z cos lam, -z sin lam, rho): finite at the poles too.
    cos_lam, sin_lam = np.cos(lam), np.sin(lam)
    tx, ty, tz = np.moveaxis(tangents, -1, 0)
    to_east = cos_lam * ty - sin_lam * tx
    to_north = rho * tz - z * (cos_lam * tx + sin_lam * ty)
    return east * to_east + north * to_north, east * to_north - north * to_east
