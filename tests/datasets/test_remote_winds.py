"""Winds, airports and the flight times computed from them, without a network.

Small files of the publishers' formats are made here; their own files are looked for as in test_remote.py.
"""

import hashlib
import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.io import netcdf_file

from finsler.datasets import remote
from finsler.datasets import remote as winds
from finsler.datasets.flights import make_flight_hours
from finsler.datasets.remote import fetch_flight_hours, fetch_winds

from helpers import REAL_DATA, real_file

RAW = Path(os.environ.get("FINSLER_DATA") or REAL_DATA / "raw")


@pytest.fixture
def offline(monkeypatch):
    """Read the publishers' files, where they are; nothing is downloaded from a folder."""
    for name in ("eraint_uvz.nc", "airports.dat"):
        if not (RAW / name).is_file():
            real_file(f"raw/{name}")
    monkeypatch.setenv("FINSLER_DATA", str(RAW))


def packed_winds(path):
    """Winds as ERA-Interim packs them: whole numbers with a scale and an offset; u = lat + level/100, v = lon + month."""
    axes = {"month": [1, 7], "level": [200, 500, 850]}
    axes |= {"latitude": np.arange(90.0, -91, -30), "longitude": np.arange(-180.0, 180, 60)}
    month, level, lat, lon = np.meshgrid(*axes.values(), indexing="ij")
    with netcdf_file(path, "w") as file:
        for name, values in axes.items():
            file.createDimension(name, len(values))
            file.createVariable(name, "i4" if name in ("month", "level") else "f4", (name,))[:] = values
        for name, values in (("u", lat + level / 100), ("v", lon + month)):
            variable = file.createVariable(name, "i2", tuple(axes))
            variable.scale_factor, variable.add_offset = 0.5, 10.0
            variable[:] = np.round((values - 10) / 0.5)


@pytest.fixture
def published(tmp_path, monkeypatch):
    """Small files in the publishers' formats, registered in place of theirs."""
    packed_winds(tmp_path / "eraint_uvz.nc")
    places = {"ATL": (33.6, -84.4), "LAX": (33.9, -118.4), "ORD": (42.0, -87.9), "DFW": (32.9, -97.0)}
    rows = [
        f'{k},"{c} International","City of {c}","United States","{c}","K{c}",{lat},{lon},9,-5,"A","tz","airport","x"'
        for k, (c, (lat, lon)) in enumerate(places.items())
    ]
    (tmp_path / "airports.dat").write_text("\n".join(rows))
    for name in ("eraint_uvz.nc", "airports.dat"):
        content = (tmp_path / name).read_bytes()
        file = remote.RemoteFile(f"o/r/c/{name}", len(content), hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(remote.FILES, name, file)
    monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
    return places


@pytest.mark.usefixtures("published")
class TestFormats:
    @pytest.mark.parametrize(("month", "number"), [("january", 1), ("july", 7)])
    @pytest.mark.parametrize("level", [200, 500, 850])
    def test_winds_are_unpacked(self, month, number, level):
        east, north = fetch_winds(month, level=level)(30.0, -60.0)
        assert_allclose(
            np.ravel([east, north]), [3.6 * (30 + level / 100), 3.6 * (-60 + number)], atol=3.6 * 0.25
        )

    def test_airports_and_hours(self, published):
        data = fetch_flight_hours(n_airports=4)
        assert data.codes == list(published)
        assert (data.cities[1], data.countries[1]) == ("City of LAX", "United States")
        assert_allclose(np.column_stack([data.latitude, data.longitude]), list(published.values()))
        wind = fetch_winds()
        assert_allclose(data.hours, make_flight_hours(data.latitude, data.longitude, wind=wind))
        assert (np.diag(data.hours) == 0).all()
        assert "not observed" in data.DESCR
        assert "july" in fetch_flight_hours("july", n_airports=2).DESCR

    def test_arguments(self):
        with pytest.raises(ValueError, match=r"month must be .*'may'"):
            fetch_flight_hours("may")
        with pytest.raises(ValueError, match=r"level=300 is not in the file; choose from \[200, 500, 850\]"):
            fetch_flight_hours(level=300)
        with pytest.raises(ValueError, match=r"region must be .*'moon'"):
            fetch_flight_hours(region="moon")
        for n in (1, 63, 2.5):
            with pytest.raises(ValueError, match=rf"n_airports must be .*got {n}"):
                fetch_flight_hours(n_airports=n)


class TestWindOnGlobe:
    """A field given by a formula that bilinear interpolation reproduces, but for the seam at 180 degrees."""

    latitude = np.arange(90.0, -91, -30)
    longitude = np.arange(-180.0, 180, 60)

    def wind(self, east=None):
        lat, lon = np.meshgrid(self.latitude, self.longitude, indexing="ij")
        return winds._wind_on_globe(
            self.latitude, self.longitude, lat + lon if east is None else east, lat * lon
        )

    def test_inside_a_cell(self):
        lat, lon = np.array([[10.0, -80.0]]), np.array([[33.0, -179.0]])
        east, north = self.wind()(lat, lon)
        assert_allclose(east, lat + lon)
        assert_allclose(north, lat * lon)

    def test_wraps_around(self):
        # Between 120 and 180 = -180 the value runs from lat + 120 to lat - 180.
        for longitude in (150.0, -210.0, 510.0):
            assert_allclose(self.wind()(30.0, longitude)[0], 30 + (120 - 180) / 2)
        for longitude in (-180.0, 180.0, 540.0):
            assert_allclose(self.wind()(30.0, longitude)[0], -150)

    def test_poles_and_pickling(self):
        wind = pickle.loads(pickle.dumps(self.wind()))
        assert_allclose(wind([90.0, -90.0], 60.0)[0], [150, -30])

    def test_missing_values_are_refused(self):
        east = np.zeros((self.latitude.size, self.longitude.size))
        east[2, 3] = np.nan
        with pytest.raises(ValueError, match="missing at 1 values"):
            self.wind(east)


@pytest.mark.usefixtures("offline")
class TestFlights:
    @pytest.mark.parametrize(("month", "m"), [("january", 0), ("july", 1)])
    def test_winds_by_hand(self, month, m):
        with netcdf_file(RAW / "eraint_uvz.nc", mmap=False) as file:
            for level, k in ((200, 0), (850, 2)):
                i, j = 60, 140  # 45 N, 75 W
                assert (file.variables["latitude"][i], file.variables["longitude"][j]) == (45, -75)
                expected = [
                    (float(v[m, k, i, j]) * v.scale_factor + v.add_offset) * 3.6
                    for v in (file.variables["u"], file.variables["v"])
                ]
                assert_allclose(np.ravel(fetch_winds(month, level=level)(45.0, -75.0)), expected, rtol=1e-9)

    def test_the_jet_stream(self):
        wind = fetch_winds("january")
        east, _ = wind(np.full(360, 35.0), np.arange(360.0))
        assert 200 < east.max() < 300  # over Japan
        assert 120 < np.argmax(east) < 170
        assert fetch_winds("july")(np.full(360, 35.0), np.arange(360.0))[0].mean() < east.mean() / 2

    def test_north_america(self):
        data = fetch_flight_hours()
        assert data.hours.shape == (62, 62)
        assert (np.diag(data.hours) == 0).all()
        i, j = data.codes.index("JFK"), data.codes.index("LAX")
        assert (data.cities[i], data.countries[i]) == ("New York", "United States")
        assert_allclose([data.latitude[i], data.longitude[i]], [40.64, -73.78], atol=0.01)
        # Timetables have about 6:20 west and 5:20 east with taxi and climb.
        assert 5.0 < data.hours[i, j] < 5.7
        assert 4.0 < data.hours[j, i] < 4.5
        july = fetch_flight_hours("july").hours
        gap = abs(july - july.T).sum() / abs(data.hours - data.hours.T).sum()
        assert 0.2 < gap < 0.6  # the jet is weaker in summer
        assert "january" in data.DESCR
        assert "not observed" in data.DESCR

    def test_world(self):
        data = fetch_flight_hours(region="world", n_airports=12)
        assert " ".join(data.codes) == "ATL GRU LHR JNB PEK SYD LAX BOG CDG CAI DXB MEL"
        assert np.isfinite(data.hours).all()
        assert (data.hours[~np.eye(12, dtype=bool)] > 0).all()

    def test_every_airport_is_known(self):
        codes = winds._airport_codes("world", None)
        assert len(codes) == len(set(codes)) == 160
        text = (RAW / "airports.dat").read_text(encoding="utf-8")
        assert all(f',"{code}",' in text for code in codes)
