"""Files of every format beside text: what they hold comes in as it should, and wrong ones are refused in one line."""

import json
import sys

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_array

from finsler import embed_graph, embed_matrix, embed_pairs
from finsler.data.point_tables import read_attributes, read_new_rows
from finsler.data.readers import EXTRAS, FORMATS
from finsler.data.tables import read_table
from finsler.errors import InputError, MissingExtraError
from finsler.graphs.readers import open_file, read_graph

from helpers import done, mistake

D = np.array([[0, 3, 4.5, 5], [2, 0, 2, 4], [4, 3, 0, 2], [5, 4, 3, 0]])
NAMES = ["Ulm", "Bonn", "Köln", "Trier"]
PLACES = [
    {"name": name, "location": [8.0 + k, 50.0 + k], "hint": "x", "distance": 1.5}
    for k, name in enumerate(NAMES)
]


def written(tmp_path, name, data):
    path = tmp_path / name
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def as_json(tmp_path, record, name="table.json"):
    return written(tmp_path, name, json.dumps(record))


def book(path, sheets):
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    made.remove(made.active)
    for title, rows in sheets.items():
        page = made.create_sheet(title)
        for row in rows:
            page.append(row)
    made.save(path)
    return path


def with_labels(values=D):
    return [["", *NAMES], *([name, *row] for name, row in zip(NAMES, values.tolist(), strict=True))]


# --- Excel --------------------------------------------------------------------------------------------------------


def test_a_sheet_of_excel(tmp_path):
    path = book(tmp_path / "times.xlsx", {"Times": with_labels(), "Notes": [["made by hand"], ["in May"]]})
    table = read_table(path)
    assert (table.kind, table.labels) == ("matrix", NAMES)
    np.testing.assert_array_equal(table.values, D)
    assert "'Times'" in table.describe()
    assert "'Notes'" in table.describe()
    assert embed_matrix(path, sheet="Times", alpha=0.1).labels == NAMES
    np.testing.assert_array_equal(read_table(path, sheet=0).values, D)
    with pytest.raises(InputError, match=r"sheet 'Time' is not there; the sheets are 'Times', 'Notes'"):
        read_table(path, sheet="Time")


def test_excel_cells_of_all_kinds(tmp_path):
    """Empty and text cells are missing or located by the row of the sheet; labels may be numbers or begin with #."""
    rows = [["from", "to", "minutes"], ["#1", 7, 3.25], [7, "#1", None], ["a\nb", 7, 2], [7, "a\nb", 4]]
    path = book(tmp_path / "pairs.xlsx", {"S": rows})
    table = read_table(path, "pairs")
    assert table.source.tolist() == ["#1", "7", "a b", "7"]
    np.testing.assert_array_equal(table.values, [3.25, np.nan, 2, 4])
    rows[2][2] = "soon"
    path = book(tmp_path / "pairs.xlsx", {"S": rows})
    with pytest.raises(InputError, match=r"pairs\.xlsx: row 3.*'soon' is not a number"):
        read_table(path, "pairs")


def test_pairs_of_excel(tmp_path):
    pairs = [(NAMES[i], NAMES[j], D[i, j]) for i, j in zip(*np.nonzero(D), strict=True)]
    rows = [["from", "to", "minutes"], *pairs]
    path = book(tmp_path / "pairs.xlsx", {"A": [["nothing"]], "B": rows})
    found = embed_pairs(path, sheet="B", alpha=0.1)
    np.testing.assert_allclose(found.coordinates, embed_matrix(D, alpha=0.1).coordinates, atol=1e-9)


# --- Parquet and Feather ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_matrix_by_columns(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(D, index=NAMES, columns=NAMES)
    path = tmp_path / f"times.{suffix}"
    (frame.to_parquet if suffix == "parquet" else frame.rename_axis("from").reset_index().to_feather)(path)
    table = read_table(path)
    assert (table.kind, table.labels) == ("matrix", NAMES)
    np.testing.assert_array_equal(table.values, D)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_long_table_by_columns(tmp_path, suffix):
    pytest.importorskip("pyarrow")
    pl = pytest.importorskip("polars")
    i, j = np.nonzero(~np.eye(4, dtype=bool))
    frame = pl.DataFrame({"year": 2020, "from": i, "to": j, "minutes": D[i, j]})
    path = tmp_path / f"pairs.{suffix}"
    (frame.write_parquet if suffix == "parquet" else frame.write_ipc)(path)
    table = read_table(path, "pairs", where="year=2020")
    np.testing.assert_array_equal(table.source, i)
    assert table.source.dtype.kind == "i"
    np.testing.assert_array_equal(table.values, D[i, j])
    assert table.provenance.columns["value"] == "minutes"


def test_points_by_columns(tmp_path):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(
        {
            "name": ["a", "b", "c"],
            "x": [0.0, 1, 2],
            "y": [0, 1, 0],
            "u": 0.5,
            "v": 0.0,
            "depth": [1.5, None, 3],
        }
    )
    frame.write_parquet(tmp_path / "sea.parquet")
    table = read_table(tmp_path / "sea.parquet")
    assert (table.kind, table.labels, table.vector_kind) == ("points", ["a", "b", "c"], "current")
    np.testing.assert_array_equal(table.attributes["depth"], [1.5, np.nan, 3])


def test_text_among_numbers_of_a_column_is_located(tmp_path):
    pl = pytest.importorskip("polars")
    pl.DataFrame({"from": ["a", "b"], "to": ["b", "a"], "km": ["3", "far"]}).write_parquet(
        tmp_path / "p.parquet"
    )
    with pytest.raises(InputError, match=r'p\.parquet: row 3, column "km": \'far\' is not a number'):
        read_table(tmp_path / "p.parquet", "pairs")


# --- MATLAB and TSPLIB --------------------------------------------------------------------------------------------


def test_a_matrix_of_matlab(tmp_path):
    path = tmp_path / "times.mat"
    savemat(path, {"D": D, "v": np.ones(4), "labels": np.array(NAMES, dtype=object)})
    table = read_table(path)
    assert table.labels == NAMES
    np.testing.assert_array_equal(table.values, D)
    savemat(path, {"D": D, "E": 2 * D})
    np.testing.assert_array_equal(read_table(path, variable="E").values, 2 * D)
    with pytest.raises(
        InputError, match=r"times\.mat: which matrix\? Give variable=, of 'D 4 x 4', 'E 4 x 4'"
    ):
        read_table(path)
    with pytest.raises(InputError, match="variable 'F' is no matrix"):
        read_table(path, variable="F")
    savemat(path, {"A": csr_array(D)})
    assert read_graph(path).n_arcs == 12


def test_matlab_of_version_7_3(tmp_path):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "times.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        file["D"] = D.T
    with open(path, "r+b") as file:
        file.write(b"MATLAB 7.3 MAT-file".ljust(512))
    np.testing.assert_array_equal(read_table(path).values, D)


ATSP = """NAME: small
TYPE: ATSP
COMMENT: made by hand
DIMENSION: 3
EDGE_WEIGHT_TYPE: EXPLICIT
EDGE_WEIGHT_FORMAT: FULL_MATRIX
EDGE_WEIGHT_SECTION
 9999 3 5 4
 9999 2 6
 1 9999
EOF
"""


def test_a_problem_of_tsplib(tmp_path):
    table = read_table(written(tmp_path, "small.atsp", ATSP))
    np.testing.assert_array_equal(table.values, [[0, 3, 5], [4, 0, 2], [6, 1, 0]])
    assert table.labels == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("FULL_MATRIX", "UPPER_ROW", "EDGE_WEIGHT_FORMAT"),
        ("EXPLICIT", "EUC_2D", "EXPLICIT"),
        ("DIMENSION: 3", "DIMENSION: 4", "DIMENSION 4 asks for 16"),
        (" 1 9999\nEOF\n", "", "7 weights"),
        ("DIMENSION: 3", "", "DIMENSION"),
    ],
)
def test_other_problems_of_tsplib_are_refused(tmp_path, old, new, said):
    with pytest.raises(InputError, match=said):
        read_table(written(tmp_path, "small.atsp", ATSP.replace(old, new)))


# --- routing services ---------------------------------------------------------------------------------------------


def test_a_table_of_osrm(tmp_path):
    durations = D.tolist()
    durations[0][3] = None
    record = {
        "code": "Ok",
        "durations": durations,
        "distances": (9 * D).tolist(),
        "sources": PLACES,
        "destinations": PLACES,
    }
    path = as_json(tmp_path, record)
    table = read_table(path)
    assert table.labels == NAMES
    assert table.values[0, 3] == np.inf
    np.testing.assert_array_equal(table.attributes["lon"], [8, 9, 10, 11])
    np.testing.assert_array_equal(table.attributes["lat"], [50, 51, 52, 53])
    found = embed_matrix(path, missing="mask", alpha=0.1)
    assert found.provenance.n_unreachable == 1
    assert found.provenance.columns == {"value": "durations"}
    np.testing.assert_array_equal(read_table(path, variable="distances").values, 9 * D)
    with pytest.raises(InputError, match="'speeds'"):
        read_table(path, variable="speeds")


def test_what_osrm_estimated_is_told(tmp_path):
    record = {"code": "Ok", "durations": D.tolist(), "sources": PLACES, "destinations": PLACES}
    said = read_table(as_json(tmp_path, {**record, "fallback_speed_cells": [[0, 1], [2, 3]]})).describe()
    assert "2 values without a route: estimated by OSRM" in said
    assert "estimated" not in read_table(as_json(tmp_path, {**record, "fallback_speed_cells": []})).describe()


def test_a_table_of_openrouteservice(tmp_path):
    """Names are there for some places only: then they are an attribute."""
    places = [{"location": [k, 50 + k], "snapped_distance": 3.0} for k in range(4)]
    places[1]["name"] = "Hauptstraße"
    record = {
        "durations": D.tolist(),
        "sources": places,
        "destinations": places,
        "metadata": {"service": "matrix"},
    }
    table = read_table(as_json(tmp_path, record))
    assert table.labels is None
    assert table.attributes["name"].tolist() == ["", "Hauptstraße", "", ""]
    np.testing.assert_array_equal(table.attributes["lon"], [0, 1, 2, 3])


@pytest.mark.parametrize("nested", [True, False])
def test_a_table_of_valhalla(tmp_path, nested):
    rows = [
        [{"from_index": i, "to_index": j, "time": D[i, j], "distance": 9 * D[i, j]} for j in range(4)]
        for i in range(4)
    ]
    rows[1][0]["time"] = None
    spots = [{"lon": 8.0 + k, "lat": 50.0} for k in range(4)]
    record = {
        "sources_to_targets": rows,
        "sources": [spots] if nested else spots,
        "targets": [spots] if nested else spots,
    }
    table = read_table(as_json(tmp_path, {**record, "units": "kilometers"}))
    assert table.values[1, 0] == np.inf
    assert table.provenance.columns == {"value": "time"}
    np.testing.assert_array_equal(table.attributes["lon"], [8, 9, 10, 11])
    short = {"sources_to_targets": {"durations": D.tolist(), "distances": D.tolist()}}
    np.testing.assert_array_equal(read_table(as_json(tmp_path, short)).values, D)


OTHER = [{"location": [1, 2]}] * 4
ROUTING = {
    "an error": ({"code": "NoTable", "message": "none"}, "NoTable"),
    "nothing": ({"code": "Ok"}, "durations"),
    "rectangular": ({"durations": D[:2].tolist()}, "embed_rectangular"),
    "other places": (
        {"durations": D.tolist(), "sources": PLACES, "destinations": OTHER},
        "embed_rectangular",
    ),
    "text": ({"durations": [[0, "x"], [1, 0]]}, "row 1, column 2: 'x'"),
    "ragged": ({"durations": [[0, 1], [1]]}, "differ in size"),
    "a list": ([1, 2], "OSRM"),
    "cells that are none": ({"sources_to_targets": [[3]]}, "sources_to_targets"),
}


@pytest.mark.parametrize("case", ROUTING)
def test_other_json_is_refused(tmp_path, case):
    record, said = ROUTING[case]
    with pytest.raises(InputError, match=rf"table\.json: .*{said}"):
        read_table(as_json(tmp_path, record))


# --- graphs -------------------------------------------------------------------------------------------------------

ARCS = [("Anna", "Ben", 1.5), ("Ben", "Cleo", 2.0), ("Cleo", "Anna", 3.0), ("Ben", "Anna", 4.0)]
DEPT = {"Anna": "Law", "Ben": "Law", "Cleo": "Arts"}


def social():
    networkx = pytest.importorskip("networkx")
    graph = networkx.DiGraph()
    for name, dept in DEPT.items():
        graph.add_node(name, dept=dept, age=30.5)
    graph.add_weighted_edges_from(ARCS)
    return networkx, graph


def write_as(suffix, folder):
    networkx, graph = social()
    path = folder / f"social.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps(networkx.node_link_data(graph)))
    else:
        name = {"net": "pajek"}.get(suffix, suffix)
        for node in graph if suffix == "net" else ():
            graph.nodes[node].clear()
        getattr(networkx, f"write_{name}")(graph, path)
    return path


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml", "net", "json"])
def test_graphs_that_networkx_wrote(tmp_path, suffix):
    path = write_as(suffix, tmp_path)
    graph = read_graph(path)
    assert sorted(graph.labels) == ["Anna", "Ben", "Cleo"]
    found = {(a, b): graph.matrix[graph.index.position(a), graph.index.position(b)] for a, b, _ in ARCS}
    assert found == {(a, b): length for a, b, length in ARCS}
    assert graph.n_arcs == 4
    table = open_file(path)
    if suffix != "net":
        about = dict(zip(table.graph.nodes, table.attributes["dept"].tolist(), strict=True))
        assert about == DEPT
        np.testing.assert_array_equal(table.attributes["age"], [30.5] * 3)


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "json"])
def test_a_map_can_be_colored_by_attributes_of_nodes(tmp_path, suffix):
    path = write_as(suffix, tmp_path)
    page = tmp_path / "map.html"
    done("embed", path, "--color", "dept", "--out", page)
    assert "Arts" in page.read_text()


@pytest.mark.parametrize("suffix", ["graphml", "gexf", "gml", "net", "json"])
def test_undirected_graphs_run_both_ways(tmp_path, suffix):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    graph.add_weighted_edges_from(ARCS[:3])
    path = tmp_path / f"g.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps(networkx.node_link_data(graph)))
    else:
        getattr(networkx, f"write_{'pajek' if suffix == 'net' else suffix}")(graph, path)
    assert read_graph(path).n_arcs == 6


GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="undirected">
<attributes class="node"><attribute id="0" title="frog" type="boolean"><default>true</default></attribute></attributes>
<nodes><node id="n1" label="Gephi"/><node id="n2" label="Webatlas"><attvalues><attvalue for="0" value="false"/></attvalues>
</node><node id="n3" label="Gephi"/></nodes>
<edges><edge source="n1" target="n2" weight="2"/><edge source="n2" target="n3" type="directed"/></edges></graph></gexf>"""


def test_gexf_as_gephi_writes_it(tmp_path):
    """Labels that are not distinct are an attribute; undirected edges beside directed ones run both ways."""
    path = written(tmp_path, "web.gexf", GEXF)
    table = open_file(path)
    assert table.graph.labels == ["n1", "n2", "n3"]
    assert table.attributes["label"].tolist() == ["Gephi", "Webatlas", "Gephi"]
    assert table.attributes["frog"].tolist() == ["true", "false", "true"]
    np.testing.assert_array_equal(table.graph.matrix.toarray(), [[0, 2, 0], [2, 0, 1], [0, 0, 0]])


PAJEK = """*Network of friends
% a comment
*Vertices 3
1 "Anna B." 0.1 0.5 0.5 ic Red
2 "Ben"
3
*Arcs :1 "likes"
1 2 2.5
2 3
*Edges
1 3 4
"""


def test_pajek_with_arcs_and_edges(tmp_path):
    table = open_file(written(tmp_path, "friends.net", PAJEK))
    assert table.graph.labels == ["Anna B.", "Ben", "3"]
    np.testing.assert_array_equal(table.graph.matrix.toarray(), [[0, 2.5, 4], [0, 0, 1], [4, 0, 0]])
    np.testing.assert_array_equal(table.attributes["x"], [0.1, np.nan, np.nan])
    lists = "*Vertices 3\n*Arcslist\n1 2 3\n*Matrix\n0 0 0\n1 0 0\n0 7 0\n"
    graph = read_graph(written(tmp_path, "lists.net", lists))
    assert graph.n_arcs == 4


def test_nodes_and_links_of_d3(tmp_path):
    nodes = [{"name": "a", "group": 1}, {"name": "b", "group": 2}]
    record = {"directed": True, "nodes": nodes, "links": [{"source": 0, "target": 1}]}
    table = open_file(as_json(tmp_path, record))
    assert table.graph.labels == ["a", "b"]
    np.testing.assert_array_equal(table.attributes["group"], [1, 2])


def test_gml_written_by_hand(tmp_path):
    text = """Creator "x &amp; y"
graph [
  # two
  directed 1 node [ id 7 label "a" graphics [ x 1 ] ] node [ id 9 label "b" ]
  edge [ source 7 target 9 length 2.5 ] edge [ source 9 target 7 length 1 ] ]"""
    graph = read_graph(written(tmp_path, "g.gml", text))
    assert graph.labels == ["a", "b"]
    np.testing.assert_array_equal(graph.matrix.toarray(), [[0, 2.5], [1, 0]])


BROKEN = {
    "g.gexf": [
        "<gexf>",
        "<gexf/>",
        GEXF.replace('id="n2"', 'id="n1"'),
        GEXF.replace('for="0"', 'for="9"'),
        GEXF[:200],
    ],
    "g.gml": [
        "graph [",
        "graph 3",
        "nothing",
        "graph [ node [ ] ]",
        "graph [ node [ id 1 ] node [ id 1 ] ]",
        "] [",
    ],
    "g.net": [
        "1 2",
        "*Vertices x",
        "*Vertices 2 1\n",
        "*Vertices 2\n*Arcs\n1 5\n",
        "*Vertices 1\n7 a\n",
        "*Bla",
    ],
    "g.json": ["{", "", '{"nodes": [], "links": 3}', '{"nodes": [{"id": [1]}], "links": []}'],
    "g.mat": ["MATLAB 5.0", "x" * 600],
    "g.xlsx": ["PK", "x"],
    "g.parquet": ["PAR1", "PAR1xxxxPAR1"],
    "g.feather": ["ARROW1", "FEA1"],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in BROKEN.items() for text in texts])
def test_broken_files_are_refused_in_one_line(tmp_path, name, text):
    path = written(tmp_path, name, text)
    with pytest.raises((InputError, MissingExtraError), match=r"g\.") as error:
        open_file(path)
    assert len(str(error.value).splitlines()) == 1


# --- all formats --------------------------------------------------------------------------------------------------


def test_what_is_about_points_is_read_from_any_table(tmp_path):
    path = book(
        tmp_path / "about.xlsx", {"S": [["name", "people", "kind"], ["B", 12, "town"], ["A", 7.5, "lake"]]}
    )
    found = read_attributes(path, ["A", "B"], 2)
    assert (found["people"].tolist(), found["kind"].tolist()) == ([7.5, 12], ["lake", "town"])
    pl = pytest.importorskip("polars")
    pl.DataFrame({"new": ["Q"], "B": [2.0], "A": [1]}).write_parquet(tmp_path / "new.parquet")
    rows = read_new_rows(tmp_path / "new.parquet", None, ["A", "B", "C"], 3)
    assert rows.labels == ["Q"]
    np.testing.assert_array_equal(rows.to_fitted, [[1, 2, np.nan]])
    with pytest.raises(InputError, match=r"g\.json holds a graph; a table was expected"):
        read_attributes(as_json(tmp_path, {"nodes": [{"id": 1}], "links": []}, "g.json"), ["A"], 1)


@pytest.mark.parametrize(
    ("option", "suffixes"), [("sheet", [".xlsx"]), ("variable", [".json", ".mat", ".h5ad"])]
)
def test_options_of_some_formats_are_refused_elsewhere(tmp_path, option, suffixes):
    path = written(tmp_path, "t.csv", "0,1\n1,0\n")
    with pytest.raises(InputError, match=rf"{option} is for {' and '.join(suffixes)} files"):
        read_table(path, **{option: "x"})


@pytest.mark.parametrize(
    ("suffix", "package"),
    [(".xlsx", "openpyxl"), (".parquet", "pyarrow"), (".feather", "pyarrow"), (".h5ad", "anndata")],
)
def test_a_missing_package_is_named_with_its_extra(tmp_path, monkeypatch, suffix, package):
    monkeypatch.setitem(sys.modules, package, None)
    monkeypatch.setitem(sys.modules, f"{package}.io", None)
    with pytest.raises(MissingExtraError, match=rf"t{suffix}.*{package}.*finsler\[{EXTRAS[suffix]}\]"):
        read_table(written(tmp_path, f"t{suffix}", "x"))


def test_unknown_suffixes_say_what_is_known(tmp_path):
    with pytest.raises(
        InputError, match=r"\.ods is not known.*\.xlsx.*finsler\[files\].*\.h5ad.*finsler\[cells\]"
    ):
        read_table(written(tmp_path, "t.ods", "x"))
    assert {*EXTRAS} <= {*FORMATS}


def test_formats_on_the_command_line(tmp_path):
    path = book(tmp_path / "times.xlsx", {"Notes": [["x"]], "Times": with_labels()})
    done("embed", path, "--sheet", "Times", "--out", tmp_path / "map.csv")
    assert (tmp_path / "map.csv").read_text().startswith("label")
    assert "sheet" in mistake("embed", path, "--sheet", "Tims", "--out", tmp_path / "x.csv")
    route = as_json(
        tmp_path, {"code": "Ok", "durations": D.tolist(), "sources": PLACES, "destinations": PLACES}
    )
    done("embed", route, "--color", "lat", "--out", tmp_path / "map.html")
    assert embed_graph(write_as("gexf", tmp_path), alpha=0.1).labels == ["Anna", "Ben", "Cleo"]
