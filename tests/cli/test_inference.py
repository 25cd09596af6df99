"""``finsler test``, ``dims``, ``confidence``, ``align`` and ``embed --like``."""

import json

import numpy as np
import pytest

pytest.importorskip("typer")
import finsler
from finsler.cli.output import matrix_csv
from finsler.inference import asymmetry_test, compare_maps, confidence, fit_test

from helpers import done, mistake, spiral

LABELS = [f"p{i}" for i in range(12)]


@pytest.fixture
def times(tmp_path):
    path = tmp_path / "times.csv"
    path.write_text(matrix_csv(spiral(12), LABELS))
    return path


@pytest.fixture
def maps(tmp_path):
    found = [finsler.embed_matrix(d, labels=LABELS) for d in (spiral(12), spiral(12) ** 1.1)]
    for name, one in zip(("a.npz", "b.npz"), found, strict=True):
        one.save(tmp_path / name)
    return [tmp_path / "a.npz", tmp_path / "b.npz"], found


def test_tests_of_a_table(times):
    result = done("test", times, "--n-permutations", 19)
    expected = asymmetry_test(spiral(12), n_components=2)
    assert result.stdout.startswith(str(expected))
    assert str(fit_test(spiral(12), n_permutations=19)) in result.stdout
    record = json.loads(done("test", times, "--n-permutations", 0, "--json", "-q").stdout)
    assert record["asymmetry"]["heights"]["p_value"] == expected.heights.p_value
    assert "fit" not in record


def test_tests_of_counts(tmp_path):
    counts = np.random.default_rng(0).poisson(9, (6, 6))
    path = tmp_path / "moves.csv"
    path.write_text(matrix_csv(counts.astype(float), LABELS[:6]))
    assert str(asymmetry_test(counts=counts)) in done("test", path, "--counts").stdout


def test_symmetric_data_still_have_their_fit_tested(tmp_path):
    path = tmp_path / "even.csv"
    path.write_text(matrix_csv(spiral(8) + spiral(8).T, LABELS[:8]))
    out = done("test", path, "--n-permutations", 19).stdout
    assert "symmetric" in out
    assert "stress-1 in 2 dimensions" in out


def test_what_can_be_tested_is_tested(tmp_path):
    path = tmp_path / "four.csv"
    path.write_text(matrix_csv(spiral(4), list("abcd")))
    out = done("test", path).stdout
    assert "heights: " in out
    assert "Not tested, fit: D must have at least 5 points" in out
    path = tmp_path / "three.csv"
    path.write_text(matrix_csv(spiral(3), list("abc")))
    assert "too few pairs with two unequal ways, 3" in mistake("test", path)


def test_lengths_of_paths_are_refused(tmp_path):
    path = tmp_path / "roads.csv"
    path.write_text(
        "from,to,minutes\n" + "".join(f"a{i},a{(i + k) % 9},{k}\n" for i in range(9) for k in (1, 2))
    )
    assert "lengths of shortest paths" in mistake("test", path)
    assert "lengths of shortest paths" in mistake("dims", path)


@pytest.mark.parametrize("command", ["test", "dims"])
def test_points_and_fields_are_told_so_before_a_speed_is_asked_for(tmp_path, command):
    points = tmp_path / "points.csv"
    points.write_text("lon,lat,u,v\n" + "".join(f"{i},{i % 3},0.1,{i}\n" for i in range(9)))
    assert "is read as points: it gives lengths of shortest paths" in mistake(command, points)
    xarray = pytest.importorskip("xarray")
    axes = {"y": np.arange(4.0), "x": np.arange(5.0)}
    calm = (("y", "x"), np.zeros((4, 5)))
    xarray.Dataset({"u": calm, "v": calm}, axes).to_netcdf(tmp_path / "field.nc", engine="h5netcdf")
    said = mistake(command, tmp_path / "field.nc")
    assert "is read as field: it gives lengths of shortest paths" in said
    assert "speed" not in said


def test_dimensions(times, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "dims.png"
    result = done("dims", times, "--max-dim", 2, "--n-permutations", 2, "--n-folds", 6, "--out", picture)
    assert "Error on held-out pairs (6 folds)" in result.stdout
    assert picture.stat().st_size > 1000
    record = json.loads(done("dims", times, "--max-dim", 1, "--n-permutations", 0, "--json", "-q").stdout)
    assert record["dims"]["cross_validation"]["table"][0]["n_components"] == 1


def test_how_sure_a_map_is(maps, tmp_path):
    pytest.importorskip("matplotlib")
    (path, _), (a, _) = maps
    picture, page = tmp_path / "sure.png", tmp_path / "sure.html"
    assert done("confidence", path, "--out", picture, "--out", page).stdout == f"{confidence(a)}\n"
    assert picture.stat().st_size > 1000
    assert '"confidence": {"level": 0.95' in page.read_text(encoding="utf-8")
    assert "it exists already" in mistake("confidence", path, "--out", page)
    record = json.loads(done("confidence", path, "--level", 0.5, "--json").stdout)["confidence"]
    assert record["alpha_se"] == pytest.approx(confidence(a).alpha_se)
    assert record["ellipses"][3]["half_axes"] == pytest.approx(confidence(a, level=0.5).half_axes[3].tolist())
    assert "between 0 and 1" in mistake("confidence", path, "--level", 1)
    a.save(tmp_path / "bare.npz", with_data=False)
    assert "needs the data" in mistake("confidence", tmp_path / "bare.npz")
    finsler.embed_matrix(spiral(12), scaling="ordinal").save(tmp_path / "order.npz")
    assert "Ellipses are for ratio scaling" in mistake("confidence", tmp_path / "order.npz")


def test_two_maps(maps, tmp_path):
    pytest.importorskip("matplotlib")
    paths, (a, b) = maps
    outs = tmp_path / "overlay.png", tmp_path / "moved.npz"
    result = done("align", *paths, *(word for out in outs for word in ("--out", out)))
    assert result.stdout == f"{compare_maps(a, b)}\n"
    moved = finsler.Embedding.load(outs[1])
    np.testing.assert_allclose(moved.coordinates, b.align(a).coordinates)
    assert outs[0].stat().st_size > 1000
    record = json.loads(done("align", *paths, "--drift", "free", "--n-permutations", 0, "--json").stdout)
    assert record["alignment"]["drift"] == "free"
    assert record["alignment"]["p_value"] is None


def test_a_map_like_another(times, maps, tmp_path):
    paths, (a, _) = maps
    turned = finsler.Embedding.load(paths[0])
    object.__setattr__(turned, "coordinates", turned.coordinates * [-1, 1])
    turned.save(paths[1])
    done("embed", times, "--like", paths[1], "--out", tmp_path / "c.npz", "-q")
    found = finsler.Embedding.load(tmp_path / "c.npz")
    np.testing.assert_allclose(found.coordinates, turned.coordinates, atol=1e-6)
    assert np.abs(found.coordinates - a.coordinates).max() > 0.1
    assert "2 and 3 dimensions" in mistake(
        "embed", times, "--dim", 3, "--like", paths[1], "--out", "-"
    ).replace("3 and 2", "2 and 3")
