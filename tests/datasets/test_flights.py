"""Flight hours: against haversine lengths, closed forms, a brute-force wind triangle and a line integral."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from sklearn.utils import Bunch

from finsler.datasets import flights
from finsler.datasets.flights import AIRSPEED, EARTH_RADIUS, jet_wind, load_flight_hours, make_flight_hours


def still(lat, lon):
    return 0.0, 0.0


def swirl(lat, lon):
    """A wind with both components, that depends on both coordinates."""
    return 120 * np.cos(np.radians(2 * lat + lon)), 90 * np.sin(np.radians(lat - 3 * lon))


@pytest.fixture
def places():
    rng = np.random.default_rng(0)
    return np.degrees(np.arcsin(rng.uniform(-1, 1, 12))), rng.uniform(-180, 180, 12)


@pytest.fixture(scope="module")
def data():
    return load_flight_hours()


def haversine(lat1, lon1, lat2, lon2):
    lat1, lon1, lat2, lon2 = map(math.radians, (lat1, lon1, lat2, lon2))
    a = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * EARTH_RADIUS * math.asin(math.sqrt(a))


# --- geometry: no wind


def test_still_air_gives_the_haversine_length(places):
    lat, lon = places
    km = make_flight_hours(lat, lon, airspeed=700, wind=still) * 700
    expected = [[haversine(*p, *q) for q in np.c_[lat, lon]] for p in np.c_[lat, lon]]
    np.testing.assert_allclose(km, expected, rtol=1e-10, atol=1e-6)


def test_still_air_is_exactly_symmetric(places):
    hours = make_flight_hours(*places, wind=still)
    np.testing.assert_array_equal(hours, hours.T)


def test_published_length_new_york_to_los_angeles(data):
    # 2475 miles (3983 km) on the ellipsoid, in airline tables; the sphere is within half a per cent of it.
    i, j = data.codes.index("JFK"), data.codes.index("LAX")
    km = AIRSPEED * make_flight_hours(data.latitude[[i, j]], data.longitude[[i, j]], wind=still)[0, 1]
    assert km == pytest.approx(3983, rel=0.005)


def test_short_distances_keep_their_digits():
    # one metre along a meridian: arccos of the dot product would lose half the digits
    step = math.degrees(1e-3 / EARTH_RADIUS)
    km = AIRSPEED * make_flight_hours([45, 45 + step], [10, 10], wind=still)[0, 1]
    assert km == pytest.approx(1e-3, rel=1e-7)


def test_same_place_twice_is_zero_hours_away():
    hours = make_flight_hours([40, 40, 50], [-70, -70, -70])
    assert hours[0, 1] == hours[1, 0] == 0
    np.testing.assert_allclose(hours[0], hours[1], rtol=1e-14)


def test_longitudes_may_wrap():
    np.testing.assert_allclose(
        make_flight_hours([40, 20, -5], [-74, -118, 179], wind=swirl),
        make_flight_hours([40, 20, -5], [286, 242, 179], wind=swirl),
        rtol=1e-9,
    )


# --- wind: closed forms


@pytest.mark.parametrize("speed", [-200.0, 35.0, 600.0])
def test_steady_wind_along_the_equator(speed):
    lon = [10, 70, 150]
    hours = make_flight_hours([0, 0, 0], lon, airspeed=800, wind=lambda lat, lon: (speed, 0))
    for i in range(3):
        for j in range(3):
            length = EARTH_RADIUS * math.radians(abs(lon[i] - lon[j]))
            ground = 800 + speed if lon[j] > lon[i] else 800 - speed
            assert hours[i, j] == pytest.approx(length / ground, rel=1e-12)


def test_side_wind_on_a_meridian_costs_the_same_both_ways():
    hours = make_flight_hours([10, 60], [-90, -90], airspeed=800, wind=lambda lat, lon: (480, 0))
    # a 3-4-5 triangle: 800 through the air, 480 across, 640 over the ground
    assert hours[0, 1] == pytest.approx(EARTH_RADIUS * math.radians(50) / 640, rel=1e-12)
    assert hours[0, 1] == pytest.approx(hours[1, 0], rel=1e-12)


def test_wind_from_the_south_helps_northward():
    hours = make_flight_hours([10, 60], [-90, -90], airspeed=800, wind=lambda lat, lon: (0, 100))
    length = EARTH_RADIUS * math.radians(50)
    assert hours[0, 1] == pytest.approx(length / 900, rel=1e-12)
    assert hours[1, 0] == pytest.approx(length / 700, rel=1e-12)


def test_over_the_pole():
    # up one meridian and down the opposite one: a wind to the north helps, then hinders
    hours = make_flight_hours([70, 80], [0, 180], airspeed=800, wind=lambda lat, lon: (0, 100), legs=300)
    up, down = (EARTH_RADIUS * math.radians(d) for d in (20, 10))
    assert hours[0, 1] == pytest.approx(up / 900 + down / 700, rel=1e-12)
    assert hours[1, 0] == pytest.approx(down / 900 + up / 700, rel=1e-12)


# --- wind: brute force


def brute_force_hours(lat1, lon1, lat2, lon2, airspeed, wind, legs):
    """Leg by leg with navigation formulas; the ground speed by a root search on the wind triangle."""
    total = haversine(lat1, lon1, lat2, lon2)
    delta = total / EARTH_RADIUS
    f1, l1, f2, l2 = map(math.radians, (lat1, lon1, lat2, lon2))
    hours = 0.0
    for k in range(legs):
        s = (k + 0.5) / legs
        a, b = math.sin((1 - s) * delta) / math.sin(delta), math.sin(s * delta) / math.sin(delta)
        x = a * math.cos(f1) * math.cos(l1) + b * math.cos(f2) * math.cos(l2)
        y = a * math.cos(f1) * math.sin(l1) + b * math.cos(f2) * math.sin(l2)
        z = a * math.sin(f1) + b * math.sin(f2)
        f, lam = math.atan2(z, math.hypot(x, y)), math.atan2(y, x)
        bearing = math.atan2(
            math.sin(l2 - lam) * math.cos(f2),
            math.cos(f) * math.sin(f2) - math.sin(f) * math.cos(f2) * math.cos(l2 - lam),
        )
        east, north = (float(v) for v in wind(math.degrees(f), math.degrees(lam)))
        ground_east, ground_north = math.sin(bearing), math.cos(bearing)

        def excess(g, east=east, north=north, ge=ground_east, gn=ground_north):
            return math.hypot(g * ge - east, g * gn - north) - airspeed  # ground - wind = air

        hours += total / legs / brentq(excess, 0.0, 3 * airspeed, xtol=1e-10)
    return hours


@pytest.mark.parametrize(("wind", "legs"), [(swirl, 1), (swirl, 7), (jet_wind, 16)])
def test_brute_force_wind_triangle(places, wind, legs):
    lat, lon = places[0][:6], places[1][:6]
    hours = make_flight_hours(lat, lon, airspeed=500, wind=wind, legs=legs)
    for i in range(6):
        assert hours[i, i] == 0
        for j in range(6):
            if i != j:
                expected = brute_force_hours(lat[i], lon[i], lat[j], lon[j], 500, wind, legs)
                assert hours[i, j] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("start", "end"), [("JFK", "LAX"), ("SEA", "MIA"), ("ANC", "CUN"), ("YFB", "MEX")])
def test_asymmetry_is_the_line_integral_of_the_randers_form(data, start, end):
    # (hours there - hours back) / 2 = - integral of wind . dx / (V^2 - |wind|^2): for an eastward wind, an
    # integral over the longitude, along the great circle in the form latitude(longitude).
    i, j = data.codes.index(start), data.codes.index(end)
    f1, f2, l1, l2 = np.radians([*data.latitude[[i, j]], *data.longitude[[i, j]]])

    def form(lam):
        tangent = (math.tan(f1) * math.sin(l2 - lam) + math.tan(f2) * math.sin(lam - l1)) / math.sin(l2 - l1)
        f = math.atan(tangent)
        w = flights.JET_PEAK * math.exp(
            -(((math.degrees(f) - flights.JET_LATITUDE) / flights.JET_WIDTH) ** 2) / 2
        )
        return -w * EARTH_RADIUS * math.cos(f) / (AIRSPEED**2 - w**2)

    expected, _ = quad(form, l1, l2)
    assert (data.hours[i, j] - data.hours[j, i]) / 2 == pytest.approx(expected, rel=1e-4)


def test_turning_the_wind_around_transposes(places):
    back = make_flight_hours(*places, wind=lambda lat, lon: tuple(-v for v in swirl(lat, lon)))
    np.testing.assert_allclose(back, make_flight_hours(*places, wind=swirl).T, rtol=1e-13)


def test_order_of_the_places_does_not_matter(places):
    order = np.random.default_rng(1).permutation(12)
    lat, lon = places
    hours = make_flight_hours(lat, lon, wind=swirl)
    np.testing.assert_allclose(
        make_flight_hours(lat[order], lon[order], wind=swirl), hours[np.ix_(order, order)], rtol=1e-11
    )


def test_default_wind_is_the_jet(places):
    np.testing.assert_array_equal(make_flight_hours(*places), make_flight_hours(*places, wind=jet_wind))


@pytest.mark.parametrize("n", [0, 1])
def test_too_few_places_for_a_flight(n):
    np.testing.assert_array_equal(make_flight_hours([40.0] * n, [-70.0] * n), np.zeros((n, n)))


def test_inputs_are_not_modified(places):
    lat, lon = (p.copy() for p in places)
    make_flight_hours(lat, lon)
    np.testing.assert_array_equal(lat, places[0])
    np.testing.assert_array_equal(lon, places[1])


# --- bad inputs


@pytest.mark.parametrize(
    ("lat", "lon", "options", "message"),
    [
        ([40, 91], [0, 1], {}, r"latitude must be in degrees from -90 to 90; got 91\.0 at position 1"),
        ([40, np.nan], [0, 1], {}, r"latitude .* got nan at position 1"),
        (
            [40, 41],
            [-181, 1],
            {},
            r"longitude must be in degrees from -180 to 360; got -181\.0 at position 0",
        ),
        ([40, 41], [0, 1, 2], {}, r"same length; got shapes \(2,\) and \(3,\)"),
        ([[40, 41]], [[0, 1]], {}, r"two vectors .* got shapes \(1, 2\)"),
        ([30, -30], [10, -170], {}, r"places 0 and 1 are antipodal"),
        ([40, 41], [0, 1], {"airspeed": 0}, r"airspeed must be a number above 0"),
        ([40, 41], [0, 1], {"airspeed": np.nan}, r"airspeed .* got nan"),
        ([40, 41], [0, 1], {"airspeed": "fast"}, r"airspeed .* got 'fast'"),
        ([40, 41], [0, 1], {"legs": 0}, "legs .* got 0"),
        ([40, 41], [0, 1], {"legs": 2.5}, r"legs .* got 2\.5"),
        ([40, 41], [0, 1], {"wind": 30.0}, r"wind must be None or a function .* got float"),
    ],
)
def test_bad_inputs(lat, lon, options, message):
    with pytest.raises(ValueError, match=message):
        make_flight_hours(lat, lon, **options)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            (300, 400),
            r"slower than the airspeed.* wind of 500\.0 km/h for an airspeed of 500\.0 km/h at latitude 0",
        ),
        ((0, -900), r"slower than the airspeed.* wind of 900\.0"),
        ((np.nan, 0), r"wind is not finite \(nan\) at latitude 0\.00, longitude"),
        ((0, np.inf), r"wind is not finite \(inf\)"),
        (12.0, r"wind must return a pair"),
        ((1, 2, 3), r"wind must return a pair"),
        ((np.zeros(5), 0), r"wind must return a pair .* here \(1, 64\)"),
    ],
)
def test_bad_winds(answer, message):
    with pytest.raises(ValueError, match=message):
        make_flight_hours([0, 0], [0, 50], airspeed=500, wind=lambda lat, lon: answer)


# --- the data set


def test_new_york_to_los_angeles_takes_an_hour_longer_than_the_return(data):
    i, j = data.codes.index("JFK"), data.codes.index("LAX")
    assert 5.0 < data.hours[i, j] < 5.6
    assert 0.8 < data.hours[i, j] - data.hours[j, i] < 1.2


def test_every_westbound_flight_is_slower(data):
    # the easting of a great circle keeps its sign all along, so this holds at any latitudes
    eastbound = data.longitude[:, None] < data.longitude[None, :]
    assert eastbound.sum() == len(data.codes) * (len(data.codes) - 1) // 2
    assert np.all(data.hours[eastbound] < data.hours.T[eastbound])


def test_shape_and_labels(data):
    n = len(data.codes)
    assert isinstance(data, Bunch)
    assert 50 <= n <= 70
    assert data.hours.shape == (n, n)
    assert data.hours.dtype == data.latitude.dtype == data.longitude.dtype == np.float64
    assert data.latitude.shape == data.longitude.shape == (n,)
    assert len(data.cities) == n
    assert len(set(data.codes)) == len(set(data.cities)) == n
    assert all(len(code) == 3 and code.isascii() and code.isupper() for code in data.codes)
    assert isinstance(data.DESCR, str)
    assert f"{n} North American airports" in data.DESCR
    assert "{" not in data.DESCR
    assert str(n) in load_flight_hours.__doc__


def test_airports_span_north_america(data):
    assert np.all(data.longitude < -50)
    assert np.all(data.longitude > -155)  # Honolulu is at -158
    assert np.all((data.latitude > 15) & (data.latitude < 66))
    assert np.ptp(data.longitude) > 80
    assert np.ptp(data.latitude) > 40


@pytest.mark.parametrize(
    ("code", "city", "latitude", "longitude"),
    [
        ("ORD", "Chicago", 41.98, -87.90),
        ("MEX", "Mexico City", 19.44, -99.07),
        ("YVR", "Vancouver", 49.19, -123.18),
    ],
)
def test_labels_belong_to_their_rows(data, code, city, latitude, longitude):
    i = data.codes.index(code)
    assert data.cities[i] == city
    assert data.latitude[i] == pytest.approx(latitude, abs=0.02)
    assert data.longitude[i] == pytest.approx(longitude, abs=0.02)


def test_values_are_plausible(data):
    np.testing.assert_array_equal(np.diag(data.hours), 0)
    off = data.hours[~np.eye(len(data.codes), dtype=bool)]
    assert np.all((off > 0.15) & (off < 9.5))
    assert off.max() > 7
    there, back = data.hours, data.hours.T
    upper = np.triu_indices_from(there, 1)
    # |there - back| / (there + back) is at most wind / airspeed
    ratio = np.abs(there - back)[upper] / (there + back)[upper]
    assert ratio.max() < flights.JET_PEAK / AIRSPEED + 1e-12


def test_legs_are_short_enough(data):
    fine = make_flight_hours(data.latitude, data.longitude, legs=1024)
    np.testing.assert_allclose(data.hours, fine, rtol=1e-5)


def test_each_load_is_fresh(data):
    first = load_flight_hours()
    for name in ("hours", "latitude", "longitude"):
        first[name][:] = -1.0
    first.codes[0] = first.cities[0] = "?"
    second = load_flight_hours()
    for name in ("hours", "latitude", "longitude"):
        np.testing.assert_array_equal(second[name], data[name])
    assert second.codes == data.codes
    assert second.cities == data.cities


def test_jet_is_a_westerly_that_peaks_on_its_axis():
    lat = np.linspace(-90, 90, 721)
    east, north = jet_wind(lat, 0.0)
    assert np.all(east > 0)
    assert np.all(north == 0)
    assert lat[east.argmax()] == flights.JET_LATITUDE
    assert east.max() == flights.JET_PEAK
    assert jet_wind(42 + 13, 0.0)[0] == pytest.approx(flights.JET_PEAK * math.exp(-0.5))
