"""Tables of every data frame package go in wherever a table is taken, with their labels, and give the same map."""

import numpy as np
import pytest

from finsler import FinslerIsomap, FinslerMDS, embed_graph, embed_matrix, embed_pairs, embed_points
from finsler.data.attributes import in_order
from finsler.data.frames import labeled, made_frame
from finsler.data.similarities import dissimilarities_from
from finsler.datasets import load_flight_hours
from finsler.errors import InputError
from finsler.graphs.digraph import as_digraph
from finsler.rectangular import embed_rectangular

pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
pa, xr = pytest.importorskip("pyarrow"), pytest.importorskip("xarray")

HOURS = load_flight_hours().hours[:9, :9]
NAMES = [str(code) for code in load_flight_hours().codes[:9]]
PACKAGES = ("pandas", "polars", "lazy", "pyarrow", "xarray")
FRAMES = PACKAGES[:-1]


def table(package, values, rows, columns, label="from"):
    """Numbers with labels of rows and columns, as people hold them in a package."""
    values = np.asarray(values)
    if package == "pandas":
        return pd.DataFrame(values, index=rows, columns=columns)
    if package == "xarray":
        return xr.DataArray(values, coords={label: rows, "to": columns}, dims=(label, "to"))
    held = {label: rows, **{name: values[:, k] for k, name in enumerate(columns)}}
    if package == "pyarrow":
        return pa.table(held)
    frame = pl.DataFrame(held)
    return frame.lazy() if package == "lazy" else frame


def assert_same(found, known):
    """The same map, but for the order in which a package keeps its cells, and sums add up."""
    np.testing.assert_allclose(found, known, rtol=0, atol=1e-9)


def long(package, columns):
    """A long table."""
    made = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
    return pl.DataFrame(columns).lazy() if package == "lazy" else made[package](columns)


@pytest.mark.parametrize("package", PACKAGES)
def test_a_matrix_gives_the_same_map(package):
    D, W = table(package, HOURS, NAMES, NAMES), table(package, 1 + HOURS % 1, NAMES, NAMES)
    known = embed_matrix(HOURS, weights=1 + HOURS % 1, labels=NAMES, alpha=0.1)
    found = embed_matrix(D, weights=W, alpha=0.1)
    assert found.labels == NAMES
    assert_same(found.coordinates, known.coordinates)
    assert_same(FinslerMDS(alpha=0.1).fit(D, weights=W).embedding_, known.coordinates)


@pytest.mark.parametrize("package", PACKAGES)
def test_gaps_stay_gaps(package):
    D = HOURS.copy()
    D[2, 3] = np.nan
    found = embed_matrix(table(package, D, NAMES, NAMES), missing="mask", alpha=0.1)
    assert found.provenance.n_missing == 1
    if package in ("polars", "pyarrow"):
        whole = {
            "from": NAMES,
            **{name: [None if v != v else v for v in D[:, k]] for k, name in enumerate(NAMES)},
        }
        again = embed_matrix(long(package, whole), missing="mask", alpha=0.1)
        assert_same(again.coordinates, found.coordinates)


@pytest.mark.parametrize("package", PACKAGES)
def test_pairs_give_the_same_map(package):
    columns = {
        "origin": [a for a in NAMES for b in NAMES if a != b],
        "destination": [b for a in NAMES for b in NAMES if a != b],
        "hours": [HOURS[i, j] for i in range(9) for j in range(9) if i != j],
    }
    known = embed_pairs(columns, alpha=0.1)
    if package == "xarray":
        coords = {"origin": NAMES, "destination": NAMES}
        held = xr.DataArray(HOURS, coords=coords, dims=tuple(coords), name="hours")
    else:
        held = long(package, columns)
    found = embed_pairs(held, alpha=0.1)
    assert found.labels == NAMES
    assert found.provenance.columns["value"] == "hours"
    assert_same(found.coordinates, known.coordinates)


@pytest.mark.parametrize("package", PACKAGES)
def test_arcs_give_the_same_graph(package):
    arcs = [("a", "b", 1.0), ("b", "c", 2.0), ("c", "a", 3.0), ("b", "a", 2.5)]
    known = as_digraph(arcs)
    if package == "xarray":
        held = np.full((3, 3), np.nan)
        for i, j, length in arcs:
            held["abc".index(i), "abc".index(j)] = length
        coords = {"from": list("abc"), "to": list("abc")}
        frame = xr.DataArray(held, coords=coords, dims=("from", "to"), name="minutes")
    else:
        frame = long(
            package, dict(zip(("from", "to", "minutes"), map(list, zip(*arcs, strict=True)), strict=True))
        )
    found = as_digraph(frame)
    assert found.labels == ["a", "b", "c"]
    np.testing.assert_array_equal(found.matrix.toarray(), known.matrix.toarray())
    assert_same(embed_graph(frame, alpha=0.1).coordinates, embed_graph(arcs, alpha=0.1).coordinates)


@pytest.mark.parametrize("package", PACKAGES)
def test_an_adjacency_table_is_a_graph(package):
    A = [[0, 1.0, 0], [0, 0, 2.0], [3.0, 0, 0]]
    found = as_digraph(table(package, A, list("abc"), list("abc")), kind="adjacency")
    assert found.labels == ["a", "b", "c"]
    np.testing.assert_array_equal(found.matrix.toarray(), A)
    with pytest.raises(InputError, match="adjacency"):
        as_digraph(table(package, A, list("abc"), list("abd")), kind="adjacency")


@pytest.mark.parametrize("package", PACKAGES)
def test_points_give_the_same_map(package):
    rng = np.random.default_rng(0)
    X, V = rng.random((30, 2)), rng.uniform(-0.3, 0.3, (30, 2))
    names = [f"p{i}" for i in range(30)]
    points, current = table(package, X, names, ["x", "y"]), table(package, V, names, ["u", "v"])
    known = embed_points(X, current=V, labels=names, alpha=0.2)
    found = embed_points(points, current=current, alpha=0.2)
    assert found.labels == names
    assert_same(found.coordinates, known.coordinates)
    isomap = FinslerIsomap(alpha=0.2).fit(points, current=current)
    placed = isomap.transform(table(package, X[:3], names[:3], ["x", "y"]))
    np.testing.assert_allclose(placed, FinslerIsomap(alpha=0.2).fit(X, current=V).transform(X[:3]))
    turned = table(package, V[::-1], names[::-1], ["u", "v"])
    with pytest.raises(InputError, match="current and points carry different labels"):
        embed_points(points, current=turned, alpha=0.2)


@pytest.mark.parametrize("package", PACKAGES)
def test_new_points_are_placed(package):
    known = embed_matrix(HOURS[:8, :8], labels=NAMES[:8], alpha=0.1)
    there, back = HOURS[8:, :8], HOURS[:8, 8:].T
    tables = [table(package, values, NAMES[8:], NAMES[:8]) for values in (there, back)]
    found = known.with_points(to_fitted=tables[0], from_fitted=tables[1])
    assert found.labels == NAMES
    places = known.place(to_fitted=there, from_fitted=back)
    assert_same(found.coordinates[8:], places)
    assert_same(known.place(to_fitted=tables[0], from_fitted=tables[1]), places)
    mds = FinslerMDS(alpha=0.1).fit(table(package, HOURS[:8, :8], NAMES[:8], NAMES[:8]))
    np.testing.assert_allclose(mds.transform(tables[0], from_fitted=tables[1]), places, atol=1e-12)
    turned = table(package, there[:, ::-1], NAMES[8:], NAMES[7::-1])
    with pytest.raises(InputError, match="to_fitted"):
        known.place(to_fitted=turned)


@pytest.mark.parametrize("package", PACKAGES)
def test_counts_become_a_table_of_the_same_package(package):
    counts = np.random.default_rng(1).integers(1, 90, (6, 6))
    names = list("abcdef")
    found = labeled(dissimilarities_from(table(package, counts, names, names), transform="gravity"))
    held = found if package == "pandas" else found.values
    np.testing.assert_allclose(held, dissimilarities_from(counts, transform="gravity"))
    assert list(found.index) == list(found.columns) == names


@pytest.mark.parametrize("package", PACKAGES)
def test_rows_and_columns_of_a_rectangular_table_keep_their_names(package):
    found = embed_rectangular(
        table(package, [[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]], list("abc"), ["toast", "muffin"])
    )
    assert found.labels == ["a", "b", "c", "toast", "muffin"]


@pytest.mark.parametrize("package", ["polars", "lazy", "pyarrow"])
def test_attributes_are_found_by_their_labels(package):
    frame = long(package, {"area": [3, 1, 2], "name": ["c", "a", "b"], "kind": ["hill", "lake", "town"]})
    found = in_order(frame, ["a", "b", "c"], "attributes")
    assert found == {"area": [1, 2, 3], "kind": ["lake", "town", "hill"]}
    assert in_order(frame, None, "attributes")["area"] == [3, 1, 2]
    with pytest.raises(InputError, match="attributes has no row for 'd'"):
        in_order(frame, ["a", "d"], "attributes")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_a_map_as_a_frame(backend):
    found = embed_matrix(HOURS, labels=NAMES, alpha=0.1)
    frame = found.to_frame(backend=backend)
    assert type(frame).__module__.startswith(backend)
    again = labeled(frame)
    assert list(again.index) == NAMES
    np.testing.assert_array_equal(np.asarray(again)[:, :2], found.coordinates)


def test_an_unknown_backend_is_named():
    with pytest.raises(InputError, match="backend must be 'pandas', 'polars' or 'pyarrow', got 'excel'"):
        made_frame({"x": [1]}, "excel", None)


def test_frames_without_labels():
    """Names that a package made up are none; names of columns alone name the points of a matrix."""
    assert embed_matrix(pl.DataFrame(HOURS), alpha=0.1).labels is None
    assert embed_matrix(pl.DataFrame(HOURS, schema=NAMES), alpha=0.1).labels == NAMES
    assert embed_matrix(xr.DataArray(HOURS, dims=("i", "j")), alpha=0.1).labels is None
    assert embed_matrix(xr.DataArray(HOURS, dims=("i", "j"), coords={"j": NAMES}), alpha=0.1).labels == NAMES


def test_numbers_are_labels_where_they_name_the_columns():
    """A first column of numbers is data, unless it holds the very names of the others."""
    held = {"from": [7, 8, 9], "7": [0.0, 1.0, 2.0], "8": [2.0, 0.0, 1.0], "9": [1.0, 3.0, 0.0]}
    for frame in (pd.DataFrame(held), pl.DataFrame(held), pa.table(held)):
        found = embed_matrix(frame, alpha=0.1)
        assert found.labels == [7, 8, 9]
    points = pl.DataFrame({"x": [0.0, 1.0, 2.0], "y": [1.0, 0.0, 1.0]})
    assert labeled(points).index is None


def test_a_pandas_frame_read_without_its_index():
    frame = pd.DataFrame(HOURS, index=NAMES, columns=NAMES).rename_axis("from").reset_index()
    found = embed_matrix(frame, alpha=0.1)
    assert found.labels == NAMES


def test_text_among_the_numbers_is_located():
    frame = pl.DataFrame({"from": ["a", "b"], "a": ["0", "x"], "b": ["1", "0"]})
    with pytest.raises(InputError, match=r"row 1 \('b'\), column 0 \('a'\) holds 'x'"):
        embed_matrix(frame)


def test_pairs_of_labels_in_any_frame():
    from finsler.data.labels import LabelIndex

    points = LabelIndex(["a", "b", "c"], 3)
    for frame in (pl.DataFrame, pa.table, pd.DataFrame):
        assert points.pairs(frame({"from": ["a", "c"], "to": ["b", "a"]})).tolist() == [[0, 1], [2, 0]]
        assert LabelIndex(None, 3).pairs(frame({"from": [0, 2], "to": [1, 0]})).tolist() == [[0, 1], [2, 0]]


def test_the_table_itself_is_left_alone():
    frame = pl.DataFrame({"from": NAMES, **{name: HOURS[:, k] for k, name in enumerate(NAMES)}})
    before = frame.clone()
    embed_matrix(frame, alpha=0.1)
    assert frame.equals(before)
