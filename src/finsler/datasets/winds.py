"""Flight times between real airports in real winds, downloaded once (see `finsler.datasets.remote`)."""

from __future__ import annotations

import csv
from functools import partial
from itertools import zip_longest
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import RegularGridInterpolator
from scipy.io import netcdf_file
from sklearn.utils import Bunch

from finsler.datasets.flights import AIRSPEED, Wind, make_flight_hours
from finsler.datasets.remote import FILES, Folder, fetch_file
from finsler.errors import InputError, check_choice

# Large airports by continent, roughly from the busiest down.
_AIRPORTS = {
    "north-america": "ATL LAX ORD DFW DEN JFK SFO SEA YYZ MEX MIA LAS MCO EWR CLT PHX IAH BOS MSP FLL DTW "
    "PHL LGA BWI SLC SAN IAD TPA MDW PDX DAL STL HOU BNA AUS OAK MSY RDU SJC SNA MCI SMF IND CLE PIT SAT CMH "
    "ANC YVR YUL YYC YEG YOW YWG YHZ CUN GDL MTY TIJ PTY HAV SJU",
    "south-america": "GRU BOG EZE LIM SCL GIG BSB UIO CCS MVD VVI REC",
    "europe": "LHR CDG AMS FRA IST MAD BCN MUC FCO LGW DME ZRH CPH OSL ARN VIE LIS DUB BRU HEL ATH WAW PRG "
    "BUD MAN KEF KBP LED",
    "africa": "JNB CAI CPT CMN ADD NBO LOS ALG TUN DKR ACC DAR LAD MRU",
    "asia": "PEK DXB HND HKG ICN SIN BKK DEL PVG CGK KUL BOM CAN NRT MNL TPE DOH KIX JED RUH TLV IKA KHI DAC "
    "CMB ALA TAS OVB VVO KTM HAN SGN CTU URC",
    "oceania": "SYD MEL AKL BNE PER HNL NAN PPT GUM CHC",
}
_MONTHS = {"january": 1, "july": 7}


def fetch_winds(month: str = "january", *, level: int = 200, cache_dir: Folder = None) -> Wind:
    """Monthly mean winds of the ERA-Interim reanalysis, as a function of the place.

    Parameters
    ----------
    month : {"january", "july"}, default="january"
        The month.
    level : {200, 500, 850}, default=200
        Pressure in hPa: about 12, 5.5 and 1.5 km high. Airliners cruise near 200.
    cache_dir : path or None, default=None
        As in :func:`~finsler.datasets.fetch_graph`.

    Returns
    -------
    wind : callable
        ``wind(latitude, longitude) -> (east, north)`` in km/h, bilinear on a grid of 0.75 degrees that wraps
        around, as :func:`~finsler.datasets.make_flight_hours` takes it.
    """
    check_choice("month", month, _MONTHS)
    path = fetch_file("eraint_uvz.nc", cache_dir=cache_dir)
    # maskandscale applies the scale, the offset and the missing values of the packed integers.
    with netcdf_file(path, mmap=False, maskandscale=True) as file:

        def get(name: str) -> NDArray[np.float64]:
            return np.ma.filled(file.variables[name][:].astype(float), np.nan)

        months, levels, latitude, longitude = map(get, ("month", "level", "latitude", "longitude"))
        if level not in levels:
            raise InputError(
                f"level={level!r} is not in the file; choose from {levels.astype(int).tolist()} hPa."
            )
        m, k = np.flatnonzero(months == _MONTHS[month])[0], np.flatnonzero(levels == level)[0]
        east, north = (3.6 * get(name)[m, k] for name in ("u", "v"))  # m/s to km/h
    return _wind_on_globe(latitude, longitude, east, north)


def fetch_flight_hours(
    month: str = "january",
    *,
    region: str = "north-america",
    level: int = 200,
    n_airports: int | None = None,
    cache_dir: Folder = None,
) -> Bunch:
    """Hours of flight between large airports in the mean winds of a month.

    Winds and airports are real; the hours are computed along great circles, without taxi, climb or approach,
    by :func:`~finsler.datasets.make_flight_hours`.

    Parameters
    ----------
    month : {"january", "july"}, default="january"
        Month of the winds. The jet stream is strong in the winter of each hemisphere.
    region : str, default="north-america"
        "world" or a continent: "north-america" (with the Caribbean), "south-america", "europe", "africa",
        "asia" or "oceania".
    level : {200, 500, 850}, default=200
        Pressure level of the winds in hPa.
    n_airports : int or None, default=None
        Only the first of the list, which runs roughly from the busiest down and, for the world, takes the
        continents in turn. None is all: 62 in North America, 160 in the world.
    cache_dir : path or None, default=None
        As in :func:`~finsler.datasets.fetch_graph`.

    Returns
    -------
    data : sklearn.utils.Bunch
        hours : ndarray of shape (n, n)
            Hours from the airport of the row to the airport of the column; the diagonal is zero.
        codes, names, cities, countries : list of str
            IATA codes, and what OpenFlights says of the airports.
        latitude, longitude : ndarray of shape (n,)
            Degrees, north and east positive.
        DESCR : str
            What the data are, and from where.
    """
    codes = _airport_codes(region, n_airports)
    wind = fetch_winds(month, level=level, cache_dir=cache_dir)
    # Columns: id, name, city, country, IATA, ICAO, latitude, longitude, ...
    with fetch_file("airports.dat", cache_dir=cache_dir).open(encoding="utf-8", newline="") as file:
        rows = {row[4]: row for row in csv.reader(file)}
    columns = list(zip(*(rows[code] for code in codes), strict=True))
    latitude, longitude = np.array(columns[6:8], dtype=float)
    return Bunch(
        hours=make_flight_hours(latitude, longitude, wind=wind),
        codes=codes,
        names=list(columns[1]),
        cities=list(columns[2]),
        countries=list(columns[3]),
        latitude=latitude,
        longitude=longitude,
        DESCR=f"Flight hours between {len(codes)} airports ({region}), great circles, {AIRSPEED:g} km/h.\n\n"
        f"Winds: ERA-Interim (ECMWF), {month} mean at {level} hPa. Airports: OpenFlights (ODbL 1.0).\n"
        "The hours are computed, not observed, and hold no fixed time for taxi, climb or approach.\n"
        f"Source: {FILES['eraint_uvz.nc'].url}\nSource: {FILES['airports.dat'].url}\n",
    )


def _airport_codes(region: str, n_airports: int | None) -> list[str]:
    lists = {name: codes.split() for name, codes in _AIRPORTS.items()}
    lists["world"] = [code for turn in zip_longest(*lists.values()) for code in turn if code is not None]
    check_choice("region", region, lists)
    codes = lists[region]
    n = len(codes) if n_airports is None else n_airports
    if not isinstance(n, Integral) or not 2 <= n <= len(codes):
        raise InputError(
            f"n_airports must be an integer from 2 to {len(codes)} for region={region!r}, or None; got {n!r}."
        )
    return codes[:n]


def _wind_on_globe(
    latitude: NDArray[Any], longitude: NDArray[Any], east: NDArray[Any], north: NDArray[Any]
) -> Wind:
    """Bilinear interpolation. Latitudes descend; longitudes ascend and stop short of a full circle."""
    field = np.stack([east, north], axis=-1)
    if not np.isfinite(field).all():
        raise InputError(
            f"the wind is missing at {np.count_nonzero(~np.isfinite(field))} values of the grid."
        )
    field = np.concatenate([field, field[:, :1]], axis=1)[::-1]  # the first meridian again closes the circle
    return partial(
        _wind_at, RegularGridInterpolator((latitude[::-1], np.append(longitude, longitude[0] + 360)), field)
    )


def _wind_at(field: Any, latitude: ArrayLike, longitude: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    west = field.grid[1][0]
    wrapped = west + (np.asarray(longitude, dtype=float) - west) % 360.0
    wind = field(np.stack(np.broadcast_arrays(latitude, wrapped), axis=-1))
    return wind[..., 0], wind[..., 1]
