"""Gridded fields: netCDF files as data centers write them, read by the CF conventions; land, the globe, and travel times."""

import json
import warnings
from dataclasses import replace

import numpy as np
import pytest

from finsler import Embedding, InputError, embed_field, embed_points
from finsler.data.located import RADIUS
from finsler.data.readers.gridded import read_field
from finsler.graphs.gridded import field_graph
from finsler.graphs.paths import shortest_paths

from helpers import done, mistake, real_file

xarray = pytest.importorskip("xarray")

EAST = {"standard_name": "longitude", "units": "degrees_east", "axis": "X"}
NORTH = {"standard_name": "latitude", "units": "degrees_north", "axis": "Y"}


def bay(shape=(9, 12), step=0.5, land=True):
    """A file as the Copernicus Marine Service writes them: time, depth, latitude, longitude; packed in two bytes."""
    lat, lon = 40 + step * np.arange(shape[0]), -12 + step * np.arange(shape[1])
    x, y = np.meshgrid(np.linspace(0, 1, shape[1]), np.linspace(0, 1, shape[0]))
    u, v = 0.8 * np.sin(np.pi * y), 0.4 * np.cos(2 * np.pi * x)
    if land:
        u[3:6, 4:7] = v[3:6, 4:7] = np.nan
    times = np.array(["2020-01-01", "2020-01-02", "2020-01-03"], "datetime64[ns]")
    factor = np.array([1.0, 0.5, 0.3])[:, None, None, None] * np.array([1.0, 0.5])[:, None, None]
    dims = ("time", "depth", "latitude", "longitude")
    about = {"units": "m s-1", "long_name": "velocity"}
    return xarray.Dataset(
        {
            "thetao": (dims, 10 + 0 * factor * u, {"standard_name": "sea_water_potential_temperature"}),
            "uo": (dims, factor * u, {"standard_name": "eastward_sea_water_velocity", **about}),
            "vo": (dims, factor * v, {"standard_name": "northward_sea_water_velocity", **about}),
        },
        {
            "time": ("time", times, {"standard_name": "time", "axis": "T"}),
            "depth": (
                "depth",
                np.array([0.494, 9.57], "f4"),
                {"standard_name": "depth", "units": "m", "positive": "down"},
            ),
            "latitude": ("latitude", lat.astype("f4"), NORTH),
            "longitude": ("longitude", lon.astype("f4"), EAST),
        },
        {"Conventions": "CF-1.6"},
    )


PACKED = {name: {"dtype": "i2", "scale_factor": 0.0005, "_FillValue": -32767} for name in ("uo", "vo")}


@pytest.fixture(params=["h5netcdf", "scipy"])
def file(request, tmp_path):
    path = tmp_path / "currents.nc"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bay().to_netcdf(path, engine=request.param, encoding=PACKED)
    return path


# --- reading --------------------------------------------------------------------------------------------------


def test_a_file_of_either_netcdf_format_is_read_as_its_conventions_say(file):
    field, whole = read_field(file), bay()
    assert field.names == ("longitude", "latitude", "uo", "vo")
    assert (field.degrees, field.wraps, field.pace, field.units, field.source) == (
        True,
        False,
        1.0,
        "m s-1",
        "currents.nc",
    )
    mean = whole["uo"].isel(depth=0).mean("time").values
    np.testing.assert_allclose(field.u, mean, atol=3e-4)  # packed to steps of .0005
    assert np.isnan(field.u).sum() == np.isnan(field.v).sum() == 9
    assert field.remarks == ("The mean over 3 steps of time.", "depth is 0.494, the first of 2.")


@pytest.mark.parametrize(
    ("at", "expected", "said"),
    [
        ({"time": "2020-01-02"}, lambda u: u.isel(time=1, depth=0), "time is 2020-01-02 of 3."),
        ({"time": "last", "depth": 8}, lambda u: u.isel(time=2, depth=1), "depth is 9.57 of 2."),
        ({"depth": "mean"}, lambda u: u.mean(["time", "depth"]), "The mean over 2 steps of depth."),
    ],
)
def test_steps_along_time_and_depth_are_chosen_and_said(at, expected, said):
    field = read_field(bay(), at=at)
    np.testing.assert_allclose(field.u, expected(bay()["uo"]).values, rtol=1e-12)
    assert said in field.remarks


def plain(u, v, x=("lon", {}), y=("lat", {}), names=("u", "v"), units="m/s", values=None):
    n = np.shape(u)
    rows, columns = (np.arange(float(n[0])), np.arange(float(n[1]))) if values is None else values
    return xarray.Dataset(
        {
            name: ((y[0], x[0]), np.asarray(part, float), {"units": units})
            for name, part in zip(names, (u, v), strict=True)
        },
        {x[0]: (x[0], columns, x[1]), y[0]: (y[0], rows, y[1])},
    )


@pytest.mark.parametrize(
    "names", [("uo", "vo"), ("u10", "v10"), ("ugos", "vgos"), ("U", "V"), ("water_u", "water_v")]
)
def test_variables_are_known_by_their_usual_names(names):
    found = read_field(plain(np.ones((3, 4)), np.zeros((3, 4)), names=names))
    assert found.names[2:] == names
    assert (found.u == 1).all()


def test_one_variable_is_not_both_parts():
    with pytest.raises(InputError, match="both are 'uo'") as caught:
        embed_field(bay(), "uo", "uo", speed=2)
    assert caught.value.argument == "v"


def test_standard_names_come_before_names():
    dataset = plain(np.ones((3, 4)), np.zeros((3, 4)))
    dataset["a"] = (("lat", "lon"), np.full((3, 4), 2.0), {"standard_name": "eastward_wind"})
    dataset["b"] = (("lat", "lon"), np.full((3, 4), 3.0), {"standard_name": "northward_wind"})
    assert read_field(dataset).names[2:] == ("a", "b")
    assert read_field(dataset, "u", "v").names[2:] == ("u", "v")


def test_rows_and_columns_are_put_in_order_whatever_the_file_has():
    u = np.arange(12.0).reshape(3, 4)
    field = read_field(plain(u, -u, values=([5.0, 4.0, 3.0], [0.0, 1.0, -2.0, -1.0])))
    assert field.y.tolist() == [3, 4, 5]
    assert field.x.tolist() == [-2, -1, 0, 1]
    assert field.u.tolist() == [[10, 11, 8, 9], [6, 7, 4, 5], [2, 3, 0, 1]]
    turned = plain(u.T, -u.T, x=("lat", {}), y=("lon", {}), values=([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.0]))
    assert read_field(turned).u.tolist() == u.tolist()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda d: (
                d.rename(uo="a", vo="b").assign({n: d[n].drop_attrs() for n in ()}).pipe(lambda e: _bare(e))
            ),
            "Say which",
        ),
        (lambda d: d.drop_vars("latitude"), "longitude or x|latitude or y"),
        (
            lambda d: d.assign(vo=d["vo"].isel(latitude=slice(0, 5)).rename(latitude="lat2")),
            "not on the same grid",
        ),
        (lambda d: d.assign_coords(latitude=np.linspace(60, 100, 9)), "latitudes"),
        (lambda d: d.assign_coords(longitude=np.r_[0.0, 0.0, np.arange(10.0)]), "are the same"),
        (lambda d: d.assign_coords(longitude=40.0 * np.arange(12)), "span 440 degrees"),
    ],
)
def test_files_that_are_no_field_on_rows_and_columns_are_refused(change, words):
    dataset = change(bay())
    for name, about in (("latitude", NORTH), ("longitude", EAST)):
        if name in dataset.coords:
            dataset[name].attrs.update(about)
    with pytest.raises(InputError, match=words):
        read_field(dataset)


def _bare(dataset):
    for name in dataset.data_vars:
        dataset[name].attrs.pop("standard_name", None)
    return dataset


def test_curved_grids_are_told_what_to_do():
    grid = np.ones((3, 4))
    dataset = xarray.Dataset(
        {"u": (("j", "i"), grid), "v": (("j", "i"), grid)},
        {"nav_lon": (("j", "i"), grid, {"units": "degrees_east"}), "nav_lat": (("j", "i"), grid)},
    )
    with pytest.raises(InputError, match="a curved grid"):
        read_field(dataset)


@pytest.mark.parametrize("what", [None, 3, np.zeros((3, 3)), [1, 2]])
def test_what_is_no_dataset_is_refused(what):
    with pytest.raises(InputError, match="must be an xarray Dataset or the path of a netCDF file"):
        embed_field(what, speed=1)


def test_damaged_files_are_refused_in_one_line(file):
    whole = file.read_bytes()
    messages = []
    for part in np.linspace(0, 0.98, 25):
        file.write_bytes(whole[: int(part * len(whole))])
        try:
            read_field(file)
        except InputError as error:
            messages.append(str(error))
    assert len(messages) >= 20  # what stands before the end may be whole
    assert all(text.startswith("currents.nc") and "\n" not in text for text in messages)
    file.write_bytes(b"\x1f\x8b" + whole)
    with pytest.raises(InputError, match="unpack it first"):
        read_field(file)
    file.write_bytes(b"not a netCDF file at all")
    with pytest.raises(InputError, match="does not begin as a netCDF file does"):
        read_field(file)


def test_a_field_that_does_not_fit_in_memory_is_refused_before_it_is_read(tmp_path):
    h5netcdf = pytest.importorskip("h5netcdf")
    path, n = tmp_path / "huge.nc", 400_000
    with h5netcdf.File(path, "w") as file:
        file.dimensions = {"lat": n, "lon": n}
        for name, units in (("lat", "degrees_north"), ("lon", "degrees_east")):
            file.create_variable(name, (name,), float, chunks=(n,)).attrs["units"] = units
        for name in ("uo", "vo"):  # of which no chunk is ever written
            file.create_variable(name, ("lat", "lon"), "f4", chunks=(100, 100))
    assert path.stat().st_size < 10_000_000
    with pytest.raises(MemoryError, match="The field of 160,000,000,000 cells needs about"):
        read_field(path)


# --- travel times ---------------------------------------------------------------------------------------------


def places(graph):
    lon, lat = np.radians([graph.attributes["lon"], graph.attributes["lat"]])
    return np.column_stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


@pytest.mark.parametrize("lat", [0, 45, 70])
def test_times_on_the_globe_are_those_of_great_circles(lat):
    rows, columns = lat + 0.5 * np.arange(-12, 13), 0.5 * np.arange(40)
    still = plain(np.zeros((25, 40)), np.zeros((25, 40)), values=(rows, columns))
    graph = field_graph(read_field(still), speed=2.0)
    D = shortest_paths(graph, verbose=False) * 3600
    X = places(graph)
    exact = RADIUS * 2 * np.arcsin(np.clip(np.linalg.norm(X[:, None] - X, axis=2) / 2, 0, 1)) / 2.0
    far = exact > 0
    excess = D[far] / exact[far] - 1
    assert np.median(excess) < 0.005
    assert excess.max() < 0.02
    assert excess.min() > -1e-3
    assert graph.provenance.detour == pytest.approx(np.median(excess), abs=0.002)


def test_a_current_to_the_east_helps_to_the_east():
    wind = plain(
        np.full((7, 30), 3.0), np.zeros((7, 30)), values=(np.arange(-3.0, 4), np.arange(30.0)), units="cm s-1"
    )
    graph = field_graph(read_field(wind), speed=10.0)  # centimeters per second, too
    route = graph.route("0N 0E", "0N 29E")
    length = RADIUS * np.radians(29)
    assert route.length == pytest.approx(length / 0.13 / 3600)
    assert route.back.length == pytest.approx(length / 0.07 / 3600)


@pytest.mark.parametrize(("units", "unit"), [("m s-1", 1.0), ("knots", 1852 / 3600), ("km/h", 1 / 3.6)])
def test_units_of_speed_and_length_are_converted(units, unit):
    flow = plain(
        np.full((3, 4), 0.5), np.zeros((3, 4)), ("x", {"units": "km"}), ("y", {"units": "km"}), units=units
    )
    found = embed_field(flow, speed=1.0)
    assert found.route("0, 1", "3, 1").length == pytest.approx(3000 / (1.5 * unit) / 3600)
    assert "Lengths are travel times in hours." in found.sentences()
    assert found.unit == "hours"
    odd = plain(np.full((3, 4), 0.5), np.zeros((3, 4)), ("x", {}), ("y", {}), units="furlong per fortnight")
    found = embed_field(odd, speed=1.0)
    assert found.route("0, 1", "3, 1").length == pytest.approx(2.0)
    assert found.unit == ""
    assert any("they were not converted" in sentence for sentence in found.sentences())


def test_longitudes_all_round_the_globe_are_neighbors():
    for columns in (np.arange(0, 360, 10.0), np.arange(-180, 180, 10.0), np.arange(0, 361, 10.0)):
        n = len(columns)
        globe = plain(np.zeros((5, n)), np.zeros((5, n)), values=(np.arange(-20, 21, 10.0), columns))
        field = read_field(globe)
        assert field.wraps
        assert len(field.x) == 36
        graph = field_graph(field, speed=1.0)
        ends = ("0N 0E", "0N 350E") if columns[0] == 0 else ("0N 180W", "0N 170E")
        assert graph.route(*ends).length * 3600 == pytest.approx(RADIUS * np.radians(10))
    with pytest.raises(InputError, match="must divide the 36 columns"):
        field_graph(field, speed=1.0, sample=5)
    part = plain(
        np.zeros((5, 20)), np.zeros((5, 20)), values=(np.arange(-20, 21, 10.0), np.arange(0, 200, 10.0))
    )
    assert not read_field(part).wraps


def test_no_way_leads_over_land_and_seas_apart_are_left_out():
    dataset = bay(land=False)
    for name in ("uo", "vo"):
        dataset[name][..., 5] = np.nan  # a wall: two seas, of five and six columns
    found = embed_field(dataset, speed=3.0)
    assert found.n_points == 9 * 6
    assert len(found.provenance.left_out) == 9 * 5
    assert (found.attributes["lon"] > -9.5).all()
    assert any("45 points were left out" in sentence for sentence in found.sentences())
    with pytest.raises(InputError, match="Land parts the sea into 2 parts"):
        embed_field(dataset, speed=3.0, unreachable="raise")


def test_every_nth_row_is_taken_with_the_mean_current_and_the_land_of_all_cells():
    rng = np.random.default_rng(0)
    u = rng.uniform(-0.3, 0.3, (30, 31))
    u[:, 16] = np.nan
    flow = plain(u, 0 * u, ("x", {}), ("y", {}))
    graph = field_graph(read_field(flow), speed=1.0, sample=3)
    at = {label: k for k, label in enumerate(graph.labels)}
    assert graph.attributes["u"][at["4, 7"]] == pytest.approx(u[6:9, 3:6].mean())
    assert graph.attributes["u"][at["13, 1"]] == pytest.approx(u[0:3, 12:15].mean())
    ends = shortest_paths(graph, verbose=False)
    left = graph.attributes["x"] < 16
    assert (np.isinf(ends) == (left[:, None] != left)).all()
    assert any("Every 3rd row and column was taken" in remark for remark in graph.provenance.remarks)


def test_large_fields_are_thinned_unless_asked_otherwise(monkeypatch):
    monkeypatch.setattr("finsler.graphs.gridded.MOST_NODES", 40)
    found = embed_field(bay(), speed=2)
    assert found.n_points <= 40
    assert any("Every 2nd row and column" in sentence for sentence in found.sentences())
    assert embed_field(bay(), speed=2, sample=1).n_points == 9 * 12 - 9


@pytest.mark.parametrize("speed", [0.5, 0.1, "1"])
def test_a_boat_that_is_too_slow_is_told_where(speed):
    dataset = bay().isel(time=0, depth=0)
    if speed == "1":
        assert embed_field(dataset, speed=speed).n_points == 99  # as the command line gives it
        return
    with pytest.raises(
        InputError, match=r"fastest current, 0\.\d+ m s-1 at 42N 12W, or auto; \d+ of 99 nodes"
    ):
        embed_field(dataset, speed=speed)


@pytest.mark.parametrize("speed", [0, -1, "fast", np.nan, None])
def test_what_is_no_speed_is_refused(speed):
    with pytest.raises(InputError, match="speed"):
        embed_field(bay(), speed=speed)


def test_speed_auto_is_that_of_points():
    found = embed_field(bay(), speed="auto")
    paces = np.hypot(found.attributes["u"], found.attributes["v"])
    assert any(
        f"The speed was set to {paces.max() / 0.6:.4g} m s-1" in sentence for sentence in found.sentences()
    )


def test_a_field_and_its_points_have_the_same_map():
    dataset = plain(
        0.3 * np.ones((8, 9)), np.outer(np.linspace(-0.3, 0.3, 8), np.ones(9)), ("x", {}), ("y", {})
    )
    field = embed_field(dataset, speed=1.0)
    x, y = np.meshgrid(np.arange(9.0), np.arange(8.0))
    current = np.column_stack([dataset["u"].values.ravel(), dataset["v"].values.ravel()])
    points = embed_points(np.column_stack([x.ravel(), y.ravel()]), current=current)
    np.testing.assert_allclose(field.data.matrix, points.data.matrix, rtol=1e-12)
    np.testing.assert_allclose(field.coordinates, points.coordinates, atol=1e-6)


# --- what comes out -------------------------------------------------------------------------------------------


def test_the_map_goes_back_on_the_grid(tmp_path):
    found = embed_field(bay(), speed=2)
    grid = found.to_dataset()
    assert grid["height"].dims == ("lat", "lon")
    assert grid["lon"].attrs["units"] == "degrees_east"
    np.testing.assert_allclose(grid["lat"], bay()["latitude"])
    mean = bay()["uo"].isel(depth=0).mean("time")
    np.testing.assert_allclose(grid["u"], mean.values, rtol=1e-9)
    assert (np.isnan(grid["height"].values) == np.isnan(mean.values)).all()
    k = found.index("41N 11W")
    assert float(grid["height"].sel(lat=41, lon=-11)) == found.height[k]
    grid.to_netcdf(tmp_path / "map.nc", engine="h5netcdf")
    assert set(xarray.open_dataset(tmp_path / "map.nc", engine="h5netcdf")) >= {
        "height",
        "x1",
        "x2",
        "stress_share",
    }
    again = Embedding.load(found.save(tmp_path / "map.npz")).to_dataset()
    xarray.testing.assert_identical(again, grid)


def test_points_that_are_on_no_grid_have_no_dataset():
    rng = np.random.default_rng(0)
    with pytest.raises(InputError, match="do not lie on rows and columns"):
        embed_points(rng.uniform(size=(300, 2)), solver="classical").to_dataset()
    with pytest.raises(InputError, match="needs the place of each point"):
        embed_points(rng.uniform(size=(30, 4)), solver="classical").to_dataset()


def test_neighborhoods_in_a_field_are_drawn_only_if_asked_for():
    pytest.importorskip("matplotlib")
    from finsler.plotting.arcs import arcs_of

    found = embed_field(plain(np.full((3, 4), 0.2), np.zeros((3, 4))), speed=1)
    assert not len(arcs_of(found, "auto").pairs)
    assert len(arcs_of(found, True).pairs) == found.network.graph.n_arcs > 0


def test_large_fields_are_sparse():
    found = embed_field(bay((25, 26)), speed=2, method="sparse", n_pivots=40, random_state=0)
    assert found.provenance.method == "sparse"
    assert found.held_out.normalized_stress.value < 0.2
    assert found.route(found.labels[0], found.labels[-1]).length > 0


def test_from_a_file_to_the_route_there_and_back_on_the_command_line(file, tmp_path):
    out = tmp_path / "map.npz"
    said = done("embed", file, "--speed", 2, "--out", out, "--out", tmp_path / "map.html").stderr
    assert "a gridded field of uo, vo, 99 nodes" in said
    assert said.count("The mean over 3 steps of time.") == 1
    assert "too long in the median" in said
    routed = json.loads(done("route", out, "42N 12W", "42N 7W", "--json").stdout)
    map_ = Embedding.load(out)
    assert map_.unit == "hours"
    again = embed_field(file, speed=2)
    np.testing.assert_allclose(map_.coordinates, again.coordinates, atol=1e-9)
    assert map_.route("42N 12W", "42N 7W").length == again.route("42N 12W", "42N 7W").length
    assert json.dumps(routed)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], "--speed"),
        (["--speed", "0.2"], "fastest current"),
        (["--speed", "2", "--u", "uo"], "v must name a variable"),
        (["--speed", "2", "--at", "depth"], "NAME=VALUE"),
        (["--speed", "2", "--at", "level=2"], "no further dimension"),
        (["--speed", "2", "--at", "time=yesterday"], "is not among its values"),
        (["--speed", "2", "--n-neighbors", "5"], "goes with points"),
        (["--speed", "2", "--hops"], "goes with edges"),
        (["--speed", "2", "--kind", "points"], "holds field, not points"),
        (["--speed", "2", "--unreachable", "hinge"], "unreachable"),
        (["--speed", "2", "--sample", "0"], "sample"),
    ],
)
def test_mistakes_on_the_command_line(file, options, words):
    assert words in mistake("embed", file, "--out", "-", *options)


def test_a_truncated_file_on_the_command_line(file):
    file.write_bytes(file.read_bytes()[:900])
    assert "currents.nc cannot be read as netCDF" in mistake("embed", file, "--speed", 2, "--out", "-")


def test_a_report_of_a_field(file):
    assert "asymmetry" in done("report", file, "--speed", 2).stdout


# --- a real file ----------------------------------------------------------------------------------------------


def test_the_jet_stream_in_a_classic_file():
    """ERA-Interim, netCDF-3: winds all round the globe and from pole to pole, which are rows of one place each."""
    path = real_file("raw/eraint_uvz.nc")
    field = read_field(path, at={"month": 1, "level": 200})
    assert field.names == ("longitude", "latitude", "u", "v")
    assert field.wraps
    assert field.pace == 1.0  # "m s**-1"
    assert (field.y[0], field.y[-1]) == (-90, 90)
    graph = field_graph(field, speed=250, sample=5)
    lon, lat = graph.attributes["lon"], graph.attributes["lat"]

    def near(a, b):
        return graph.labels[int(np.argmin((lat - a) ** 2 + (lon - b) ** 2))]

    route = graph.route(near(40.6, -73.8), near(33.9, -118.4))  # New York to Los Angeles, against the wind
    assert 1.15 < route.length / route.back.length < 1.5
    over = graph.route(near(45, -178), near(45, 178))  # across the date line
    assert over.length * 250 * 3600 < 1.3 * RADIUS * np.radians(9) * np.cos(np.radians(45))
    whole = field_graph(read_field(path, at={"month": 1, "level": 200}), speed=250, sample=20)
    assert (whole.matrix.data >= 0).all()


def test_poles_are_one_place():
    still = read_field(real_file("raw/eraint_uvz.nc"), at={"month": 1, "level": 200})
    still = replace(still, u=0 * still.u[::8, ::8], v=0 * still.v[::8, ::8], x=still.x[::8], y=still.y[::8])
    graph = field_graph(still, speed=1.0, sample=1)
    assert graph.route("90N 180W", "90N 0E").length == 0
    across = graph.route("72N 180W", "72N 0E").length * 3600  # over the pole
    assert across == pytest.approx(RADIUS * np.radians(36), rel=0.01)
