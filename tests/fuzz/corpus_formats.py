"""Sound files of the formats beside text and arrays, and how people and disks break them; `corpus` adds them to its own."""

from __future__ import annotations

import io
import json
from importlib.util import find_spec

import numpy as np
from scipy.io import savemat
from scipy.sparse import csr_array

D = np.array([[0, 3, 4, 5], [2, 0, 2, 4], [4, 3, 0, 2], [5, 4, 3, 0.0]])
LABELS = ["A", "B", "C", "D"]
SUFFIXES = (".gexf", ".gml", ".net", ".json", ".atsp", ".mat", ".xlsx", ".parquet", ".feather")
GEXF = """<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://gexf.net/1.3" version="1.3"><graph defaultedgetype="directed">
<attributes class="node"><attribute id="0" title="dept" type="string"><default>Law</default></attribute></attributes>
<nodes><node id="1" label="a"><attvalues><attvalue for="0" value="Arts"/></attvalues></node><node id="2" label="b"/></nodes>
<edges><edge source="1" target="2" weight="2"/><edge source="2" target="3" type="mutual"/></edges></graph></gexf>"""
GML = """graph [ directed 1 node [ id 1 label "a" ] node [ id 2 label "b" ]
 edge [ source 1 target 2 weight 2.5 ] edge [ source 2 target 1 weight 1 ] ]"""
NET = '*Vertices 3\n1 "a" 0.1 0.2\n2 "b"\n3 "c"\n*Arcs\n1 2 2\n2 3 1\n*Edges\n1 3 4\n'
ATSP = (
    "NAME: t\nTYPE: ATSP\nDIMENSION: 3\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n"
    "EDGE_WEIGHT_SECTION\n9999 3 5\n4 9999 2\n6 1 9999\nEOF\n"
)
PLACES = [{"name": name, "location": [8.0 + k, 50.0]} for k, name in enumerate(LABELS)]
OSRM = {"code": "Ok", "durations": [[*row] for row in D.tolist()], "sources": PLACES, "destinations": PLACES}
VALHALLA = {"sources_to_targets": [[{"time": t, "distance": t} for t in row] for row in D.tolist()]}
LINKS = {
    "directed": True,
    "nodes": [{"id": "a", "dept": "Law"}, {"id": "b"}],
    "links": [{"source": "a", "target": "b", "weight": 2}, {"source": "b", "target": "a", "weight": 1}],
}


def mat(**variables) -> bytes:
    file = io.BytesIO()
    savemat(file, variables, do_compression=bool(variables.pop("packed", False)))
    return file.getvalue()


def xlsx() -> bytes:
    import openpyxl

    book = openpyxl.Workbook()
    for row in [["", *LABELS], *([name, *row] for name, row in zip(LABELS, D.tolist(), strict=True))]:
        book.active.append(row)
    book.create_sheet("Notes").append(["x"])
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def arrow() -> dict[str, bytes]:
    import pyarrow
    from pyarrow import feather, parquet

    table = pyarrow.table({"from": LABELS, **{name: D[:, k] for k, name in enumerate(LABELS)}})
    files = {}
    for name, write in (("times.parquet", parquet.write_table), ("times.feather", feather.write_feather)):
        file = io.BytesIO()
        write(table, file)
        files[name] = file.getvalue()
    return files


def format_seeds() -> dict[str, bytes]:
    """Sound files, by name; those whose packages are not there are left out."""
    files = {
        "graph.gexf": GEXF.encode(),
        "graph.gml": GML.encode(),
        "graph.net": NET.encode(),
        "small.atsp": ATSP.encode(),
        "osrm.json": json.dumps(OSRM).encode(),
        "valhalla.json": json.dumps(VALHALLA).encode(),
        "links.json": json.dumps(LINKS).encode(),
        "times.mat": mat(D=D, labels=np.array(LABELS, dtype=object)),
        "packed.mat": mat(D=D, packed=True),
        "arcs.mat": mat(A=csr_array(D)),
    }
    if find_spec("openpyxl"):
        files["times.xlsx"] = xlsx()
    if find_spec("pyarrow"):
        files |= arrow()
    return files


def format_broken() -> dict[str, bytes]:
    """Files that are broken in ways that have been seen, or should be expected."""
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><gexf><graph>&b;</graph></gexf>'
    deep = "[" * 100_000
    return {
        "entities.gexf": bomb.encode(),
        "twice.gexf": GEXF.replace('id="2"', 'id="1"').encode(),
        "key.gexf": GEXF.replace('for="0"', 'for="7"').encode(),
        "dynamic.gexf": GEXF.replace("<graph ", '<graph mode="dynamic" ').encode(),
        "weight.gexf": GEXF.replace('weight="2"', 'weight="heavy"').encode(),
        "deep.gml": ("graph " + "[ a " * 5000).encode(),
        "open.gml": GML[:-1].encode(),
        "latin.gml": GML.replace('"a"', '"ä"').encode("latin-1"),
        "many.net": b"*Vertices 999999999\n",
        "two-mode.net": b"*Vertices 5 2\n*Edges\n1 3\n",
        "text.net": NET.replace("1 2 2", "1 2 two").encode(),
        "matrix.net": b"*Vertices 2\n*Matrix\n0 x\n1 0\n",
        "deep.json": deep.encode(),
        "deep2.json": ('{"nodes": ' * 50_000).encode(),
        "huge.json": b'{"durations": [[0, 1e999], [1, 0]]}',
        "nan.json": b'{"durations": [[0, NaN], [-Infinity, 0]]}',
        "digits.json": b'{"durations": [[0, ' + b"9" * 5000 + b"], [1, 0]]}",
        "string.json": b'"durations"',
        "error.json": b'{"code": "InvalidUrl", "message": "Query string malformed"}',
        "long.atsp": ATSP.replace("DIMENSION: 3", "DIMENSION: 999999").encode(),
        "word.atsp": ATSP.replace(" 5\n", " five\n").encode(),
        "negative.atsp": ATSP.replace(" 5\n", " -5\n").encode(),
        "struct.mat": mat(s={"a": 1.0}),
        "text.mat": mat(t="hello"),
        "line.mat": mat(v=np.ones(4)),
        "complex.mat": mat(D=D + 1j),
        "shape.mat": mat(D=np.ones((2, 2, 2))),
        **crashing(),
    }


def crashing() -> dict[str, bytes]:
    """Files at which compiled readers, left alone, end the process: indices and offsets beyond what is there."""
    good = csr_array(D).tocsc().indices.astype("<i4").tobytes()
    files = {"beyond.mat": mat(A=csr_array(D)).replace(good, good[:-4] + np.int32(99_999_999).tobytes())}
    if find_spec("pyarrow"):
        import pyarrow
        from pyarrow import feather

        file = io.BytesIO()
        feather.write_feather(pyarrow.table({"from": LABELS, "to": LABELS}), file, compression="uncompressed")
        offsets = np.arange(5, dtype="<i4").tobytes()
        bad = offsets[:-4] + np.int32(2_000_000_000).tobytes()
        files["beyond.feather"] = file.getvalue().replace(offsets, bad)
    return files
