"""Broken files of every format that is read, made here and the same each time; and ways to break more.

``python tests/fuzz/corpus.py FOLDER`` writes them all. `seeds` are sound files, `broken` are those that people and disks
break in known ways, `mutated` breaks a sound one at random.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import sys
import zipfile
from pathlib import Path

import numpy as np
from scipy.io import mmwrite
from scipy.sparse import csr_array, save_npz

sys.path.insert(0, str(Path(__file__).parent))
from corpus_formats import SUFFIXES, format_broken, format_seeds

D = np.array([[0, 3, 4, 5], [2, 0, 2, 4], [4, 3, 0, 2], [5, 4, 3, 0.0]])
TURN = np.array([[0, 0.1], [-0.1, 0]])
LABELS = ["A", "B", "C", "D"]
GRAPHML = """<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="edge" attr.name="length" attr.type="double"/><key id="d1" for="node" attr.name="n" attr.type="int"/>
<graph id="G" edgedefault="directed"><node id="a"><data key="d1">1</data></node><node id="b"/><node id="c"/>
<edge source="a" target="b"><data key="d0">1.5</data></edge><edge source="b" target="c"><data key="d0">2</data></edge>
<edge source="c" target="a"><data key="d0">3</data></edge><edge source="b" target="a"><data key="d0">4</data></edge>
</graph></graphml>"""
FACTS = {
    "unit": "h",
    "stress": 1.0, "normalized_stress": 0.1, "n_iter": 3, "n_starts": 1, "n_same": 1, "status": "converged", "message": "Done.",
    "alpha_source": "fitted", "labels": LABELS, "provenance": {"kind": "matrix", "columns": {"value": "min"}},
    "shown": {"share": 0.5, "error": 0.0, "n_rows": None, "available": 0.9}, "held_out": None, "data_dropped": False, "geodesic": False, "swirl_choice": None,
}  # fmt: skip


def saved(write) -> bytes:
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def npy(array) -> bytes:
    return saved(lambda file: np.save(file, array))


def npz(compress=False, **arrays) -> bytes:
    return saved(lambda file: (np.savez_compressed if compress else np.savez)(file, **arrays))


def archive(kind, record, **arrays) -> bytes:
    """A file as finsler saves it."""
    header = json.dumps({"kind": kind, "format": 1, **record}).encode()
    return npz(json=np.frombuffer(header, np.uint8), **arrays)


def saved_map(changes=None, **arrays) -> bytes:
    X = np.random.default_rng(0).normal(size=(4, 2))
    parts = {
        "coordinates": X,
        "drift": np.array([0, 0.3]),
        "stress_per_point": np.full(4, 0.25),
        "data_matrix": D,
    }
    parts |= arrays
    return archive(
        "embedding", {**FACTS, **(changes or {})}, **{k: v for k, v in parts.items() if v is not None}
    )


def saved_network(changes=None, attributes=None, **arrays) -> bytes:
    """A map with the digraph behind it, of a node more than it has points, and attributes of both."""
    graph = csr_array(
        np.array([[0, 3, 0, 5, 0], [2, 0, 2, 0, 1], [0, 3, 0, 2, 0], [5, 0, 3, 0, 0], [1, 0, 0, 0, 0.0]])
    )
    parts = {
        "network_nodes": np.arange(4), "network_indptr": graph.indptr.astype(np.int64), "network_lengths": graph.data,
        "network_indices": graph.indices.astype(np.int64), "attribute_0": np.array([1.0, 2, 3, np.nan]),
        "attribute_1": np.array([50.0, 51, 52, 53]), "node_attribute_0": np.arange(5),
    }  # fmt: skip
    record = {
        "attributes": [["lon", None], ["lat", None], ["kind", ["x", "", "é", "<"]]]
        if attributes is None
        else attributes,
        "network": {"labels": [*LABELS, "E"], "attributes": [["streets", None]], **(changes or {})},
    }
    return saved_map(record, **(parts | arrays))


def saved_model(changes=None, **arrays) -> bytes:
    X = np.random.default_rng(1).normal(size=(4, 3))
    record = {
        "labels": LABELS, "members": ["direct"], "encoder": "direct", "candidates": {"direct": 70.0}, "status": "finished",
        "scores": {"direction": 70.0, "calibration": {"missing_share": 0.1}},
        "history": {"direct": [{"epoch": 1, "loss": 0.5}]}, "provenance": {}, "options": None,
        "parameters": {"n_components": 3, "encoder": "auto", "alpha": "auto", "random_state": 0},
    }  # fmt: skip
    parts = {"points0": X, "radii0": np.zeros((4, 2)), "decoder0": np.array([0.2, 1.0, 0.5, 2.0])}
    parts |= {
        "lines": np.array([[0.0, 1.0, 0.0, 1.0]]),
        "reversed_share": np.array([1 / 3]),
        "correction": np.array([1.0, 0, 0, 0, 0]),
        "intercepts": np.zeros(2),
    }
    for g in (0, 1):
        parts |= {f"slopes{g}": np.ones(2), f"bends{g}": np.zeros(1)}
    parts |= {"known": np.array([[0, 1], [1, 2]]), **arrays}
    return archive("link predictor", {**record, **(changes or {})}, **parts)


def saved_state(changes=None, **arrays) -> bytes:
    """A checkpoint of the sparse solver."""
    record = {"problem": {"n_points": 4, "n_components": 2}, "n_passes": 3, "alpha_source": "fitted"}
    parts = {"coordinates": D[:, :2], "omega": np.array([0, 0.3]), "history": np.array([3.0, 2.0])}
    return archive("checkpoint", {**record, **(changes or {})}, **{**parts, **arrays})


def zipped(members, method=zipfile.ZIP_STORED) -> bytes:
    def write(file):
        with zipfile.ZipFile(file, "w", method) as packed:
            for name, data in members.items():
                packed.writestr(zipfile.ZipInfo(name), data, method)

    return saved(write)


def with_header(text, body=b"", version=1) -> bytes:
    """An array whose header says what we like."""
    header = text if isinstance(text, bytes) else text.encode()
    size = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + size + header + body


def market(banner, body) -> bytes:
    return f"%%MatrixMarket matrix {banner}\n{body}".encode()


def seeds() -> dict[str, bytes]:
    """Sound files of every format, by name."""
    graph = csr_array(D)
    matrix = ",A,B,C,D\n" + "".join(
        f"{label},{','.join(map(str, row))}\n" for label, row in zip(LABELS, D.tolist(), strict=True)
    )
    coo = graph.tocoo()
    listed = saved(lambda file: mmwrite(file, coo))
    points = "name,x,y,u,v,depth\n" + "".join(
        f"p{i},{i % 5},{i * i % 7},0.3,0.{i % 3},{i}\n" for i in range(12)
    )
    sparse = {
        kind: saved(lambda f, k=kind: save_npz(f, graph.asformat(k)))
        for kind in ("csr", "csc", "coo", "bsr", "dia")
    }
    return {
        "matrix.csv": matrix.encode(),
        "matrix.csv.gz": gzip.compress(matrix.encode(), mtime=0),
        "comma.csv": matrix.replace(",", ";").replace(".0", ",5").replace("0,5", "0").encode(),
        "utf16.csv": matrix.encode("utf-16"),
        "pairs.csv": b"from,to,minutes\na,b,1\nb,a,2\nb,c,3\nc,b,4\na,c,9\nc,a,7\n",
        "arcs.txt": b"# a comment\n1 2 0.5\n2 3 1.5\n3 1 2\n1 3 4\n2 1 1\n",
        "quoted.csv": b'source,target,weight\n"a, b",c,1\n"c","a, b",2\n"#d",c,3\n',
        "points.csv": points.encode(),
        "matrix.npy": npy(D),
        "float32.npy": npy(np.asfortranarray(D, dtype=np.float32)),
        "whole.npy": npy(D.astype(np.int16)),
        "matrix.npz": npz(D=D, labels=np.array(LABELS)),
        "packed.npz": npz(True, D=D),
        **{f"{kind}.npz": data for kind, data in sparse.items()},
        "arcs.npz": npz(
            src=[0, 1, 2], dst=[1, 2, 0], n_nodes=3, weight=[1.0, 2.0, 3.0], node_labels=["a", "b", "c"]
        ),
        "chunk.npz": npz(i=[0, 1], j=[1, 2], D=[2.0, 3.0], w=[1.0, 0.5]),
        "graph.mtx": listed,
        "graph.mtx.gz": gzip.compress(listed, mtime=0),
        "pattern.mtx": market("coordinate pattern symmetric", "3 3 3\n2 1\n3 1\n3 2\n"),
        "array.mtx": market("array real general", "2 2\n0\n3\n4\n0\n"),
        "lower.mtx": market("array integer symmetric", "2 2\n0\n3\n0\n"),
        "graph.graphml": GRAPHML.encode(),
        "graph.graphml.gz": gzip.compress(GRAPHML.encode(), mtime=0),
        "map.npz": saved_map(),
        "bare.npz": saved_map({"labels": None, "shown": None}, data_matrix=None, misfit=np.array([0.1])),
        "swirl.npz": saved_map(
            {"geodesic": True, "swirl_choice": {"chosen": True, "reason": "given"}}, swirl=TURN
        ),
        "network.npz": saved_network(),
        "model.npz": saved_model(),
        "state.npz": saved_state(),
        **format_seeds(),
    }


LONG = "9" * 20_000


def broken() -> dict[str, bytes]:
    """Files that are broken in ways that have been seen."""
    sound = seeds()
    files = {f"cut-{k}-{name}": data[: len(data) * k // 4] for name, data in sound.items() for k in (1, 2, 3)}
    files |= {f"last-{name}": data[:-1] for name, data in sound.items()}
    files |= {f"more-{name}": data + b"\0\1\2 more" for name, data in sound.items()}
    suffixes = (".csv", ".csv.gz", ".npy", ".npz", ".mtx", ".mtx.gz", ".graphml", ".txt", *SUFFIXES)
    junk = {
        "zero": b"\0" * 300,
        "high": b"\xff" * 300,
        "line": b"hello\n",
        "gz": gzip.compress(b"x", mtime=0),
    }
    files |= format_broken()
    junk |= {"magic": b"\x93NUMPY", "zip": b"PK\x03\x04", "gzhead": b"\x1f\x8b\x08", "nul": b"a,b\nc\0,d\n"}
    files |= {f"junk-{kind}{suffix}": data for suffix in suffixes for kind, data in junk.items()}
    for name in ("matrix.csv", "matrix.npy", "map.npz", "graph.mtx", "graph.graphml"):  # by the wrong suffix
        files |= {f"wrong-{name}{suffix}": sound[name] for suffix in suffixes}
    return files | _arrays() | _archives() | _markets() | _graphs() | _texts() | _saved()


def _arrays() -> dict[str, bytes]:
    body = D.tobytes()

    def header(shape, kind="<f8", order=False):
        return with_header(f"{{'descr': {kind!r}, 'fortran_order': {order}, 'shape': {shape}, }}\n", body)

    texts = [
        "(4, 5)",
        "(4, 3)",
        "(-4, -4)",
        "(2**60, 2**60)",
        f"({LONG[:400]}, 4)",
        "(True, 16)",
        "(1.5, 2)",
        "()",
        "(0, 0)",
    ]
    files = {
        f"shape-{k}.npy": header(shape) for k, shape in enumerate([*texts, f"({'1, ' * 40}16)", "4", "None"])
    }
    files["shape-huge.npy"] = header("(1000000, 1000000)")
    kinds = [
        "|O",
        "|V8",
        ">f8",
        "<c16",
        "<U2",
        "|S8",
        "|b1",
        "<M8[s]",
        "<f16",
        "x",
        "<f4, <f4",
        "<U999999999",
        "|V0",
        "<U0",
    ]
    files |= {f"kind-{k}.npy": header("(4, 4)", kind) for k, kind in enumerate(kinds)}
    heads = [
        "{",
        "{'descr': '<f8'}",
        "(" * 9000,
        "-" * 9000 + "1",
        "[" * 200,
        "{" * 200,
        "\\N{",
        "'" * 50,
        "1()",
        "f''",
    ]
    files |= {f"head-{k}.npy": with_header(text, body) for k, text in enumerate(heads)}
    files |= {f"version-{v}.npy": with_header("{}", body, version=v) for v in (0, 2, 3, 9)}
    files["text.npy"] = npy(np.array([["a", "b"], ["c", "d"]]))
    files["code.npz"] = npz(D=D, labels=np.frombuffer(b"\xff\xff\xff\xff" * 4, "<U1"))
    files["half.npz"] = npz(D=D, labels=np.array(["\ud800", "b", "c", "d"]))
    files["nan.npy"], files["negative.npy"] = npy(np.full((3, 3), np.nan)), npy(-D)
    files["bool.npy"] = npy(np.frombuffer(bytes(range(16)), bool).reshape(4, 4))
    files["object.npy"] = saved(lambda file: np.save(file, np.array([{}]), allow_pickle=True))
    return files


def _archives() -> dict[str, bytes]:
    one = npy(D)
    files = {
        "lzma.npz": zipped({"D.npy": one}, zipfile.ZIP_LZMA),
        "bzip2.npz": zipped({"D.npy": one}, zipfile.ZIP_BZIP2),
        "nothing.npz": zipped({}),
        "folder.npz": zipped({"D/": b""}),
        "unnamed.npz": zipped({"": one}),
        "text.npz": zipped({"readme.txt": b"hello"}),
        "bomb.npz": zipped(
            {"D.npy": with_header("{'descr': '|u1', 'fortran_order': False, 'shape': (1<<20,), }")}
        ),
        "zeros.npz": npz(True, D=np.zeros((1500, 1500))),
        "mixed.npz": npz(format="csr", shape=[2, 2], data=[1.0], src=[0], dst=[1], n_nodes=2),
        "labels.npz": npz(D=D, labels=np.arange(3)),
        "square.npz": npz(D=D, labels=np.eye(2)),
        "objects.npz": npz(D=np.array([{}, 1], dtype=object)),
    }
    sound = zipped({"D.npy": one})
    for place, value, what in (
        (6, 1, "encrypted"),
        (8, 99, "method"),
        (18, 255, "small"),
        (22, 255, "large"),
        (14, 9, "crc"),
    ):
        data = bytearray(sound)
        for start in (0, data.index(b"PK\x01\x02") + 2):  # in the local header, and in the directory
            data[start + place] = value
        files[f"{what}.npz"] = bytes(data)
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as packed:
        packed.writestr(zipfile.ZipInfo("D.npy"), one)
        packed.NameToInfo.clear()
        packed.writestr(zipfile.ZipInfo("D.npy"), npy(D * 2))
    files["twice.npz"] = twice.getvalue()
    graph = csr_array(D)
    parts = {"format": np.array(b"csr"), "shape": np.array([4, 4]), "data": graph.data}
    parts |= {"indices": graph.indices, "indptr": graph.indptr}
    wrong = {
        "indices": [
            graph.indices + 9,
            -graph.indices,
            graph.indices[:3],
            graph.indices.astype(float),
            np.eye(2),
        ],
        "indptr": [
            graph.indptr + 1,
            graph.indptr[::-1].copy(),
            graph.indptr[:2],
            graph.indptr * 1000,
            np.zeros(0, int),
        ],
        "shape": [
            np.array([4]),
            np.array([10**12, 10**12]),
            np.array([-4, 4]),
            np.array([4, 5]),
            np.array([4.0, 4.0]),
        ],
        "format": [
            np.array(b"lil"),
            np.array("\ud800"),
            np.array([b"csr", b"csr"]),
            np.array(3),
            np.array(b"\xff"),
            np.array(b"coo"),
        ],
        "data": [
            graph.data.astype(str),
            graph.data * np.nan,
            graph.data[:2],
            np.zeros((2, 2)),
            graph.data.astype(complex),
        ],
    }
    for name, values in wrong.items():
        files |= {f"sparse-{name}-{k}.npz": npz(**{**parts, name: value}) for k, value in enumerate(values)}
        files[f"sparse-without-{name}.npz"] = npz(
            **{key: value for key, value in parts.items() if key != name}
        )
    arcs = {"src": np.array([0, 1]), "dst": np.array([1, 0]), "n_nodes": np.array(2)}
    odd = [
        np.array(10**15),
        np.array(-3),
        np.array([2, 2]),
        np.array("x"),
        np.array(2.5),
        np.array(2**63, np.uint64),
        np.zeros(0),
    ]
    for name in arcs:
        files |= {f"arcs-{name}-{k}.npz": npz(**{**arcs, name: value}) for k, value in enumerate(odd)}
    files["arcs-weight.npz"] = npz(**arcs, weight=["a", "b"])
    files["arcs-labels.npz"] = npz(**arcs, node_labels=np.zeros((2, 2)))
    return files


def _markets() -> dict[str, bytes]:
    good = "coordinate real general"
    bodies = [
        "", "\n", "3\n", "3 3\n", "3 3 1 1\n", "3 3 -1\n", f"3 3 {LONG}\n", f"{LONG} {LONG} 1\n1 1 1\n", "3 3 2\n1 2 3\n",
        "3 3 1\n1 2\n", "3 3 1\n1 2 3 4\n", "3 3 1\n0 1 1\n", "3 3 1\n4 1 1\n", "3 3 1\n1.5 1 1\n", f"3 3 1\n{LONG} 1 1\n",
        f"3 3 1\n1 2 {LONG}\n", "3 3 1\n1 2 x\n", "3 3 1\n1 2 nan\n", "3 3 1\n1 2 -inf\n", "3 3 1\n1 2 0x1p3\n", "3 3 0\n",
        "3 3 1\n\n\n1 2 3\n", "% c\n3 3 1\n1 2 3\n% c\n", "999999999999999 999999999999999 1\n1 1 1\n", "3 3 1\n1 2 3\n4 5\n",
        "3 3 1\n1\x002 3\n", "3 3 1\n1 2 1e999\n", "0 0 0\n", "3 3 999999999999\n1 2 3\n", "3 3 1\r1 2 3\r", "%" * 50_000,
    ]  # fmt: skip
    files = {f"body-{k}.mtx": market(good, body) for k, body in enumerate(bodies)}
    banners = [
        "", "coordinate", "coordinate real", "coordinate text general", "vector real general", "array pattern general",
        "coordinate complex general", "coordinate real hermitian", "coordinate real skew-symmetric", "array real symmetric",
        "array complex general", "x" * 5000, "coordinate real general extra", "\0", "COORDINATE REAL GENERAL", "array real general",
    ]  # fmt: skip
    files |= {f"banner-{k}.mtx": market(banner, "2 2 1\n2 1 3\n") for k, banner in enumerate(banners)}
    files |= {
        f"dense-{k}.mtx": market("array real symmetric", body)
        for k, body in enumerate(["2 2\n1\n", "2 2\n" + "1\n" * 9])
    }
    files["dense-huge.mtx"] = market("array real general", "99999999 99999999\n1\n")
    files["vectors.mtx"] = b"%%MatrixMarket vector coordinate real general\n3 1\n1 2\n"
    files["latin.mtx"] = market(good, "3 3 1\n1 2 \xe9\n")
    return files


def _graphs() -> dict[str, bytes]:
    def graph(inside, keys="", kind="directed", more=""):
        space = 'xmlns="http://graphml.graphdrawing.org/xmlns"'
        return f'<graphml {space}>{keys}<graph edgedefault="{kind}">{inside}</graph>{more}</graphml>'.encode()

    nodes, edge = '<node id="a"/><node id="b"/>', '<edge source="a" target="b"/>'
    key = '<key id="d" for="edge" attr.name="weight" attr.type="{}"/>'

    def weighed(kind, text):
        return graph(
            f'{nodes}<edge source="a" target="b"><data key="d">{text}</data></edge>', key.format(kind)
        )

    kinds = ["int", "long", "float", "double", "boolean", "string", "complex", "", "\u00e9"]
    texts = ["1", "", "x", "true", "maybe", LONG, "nan", "-1", "1e999", " 2 ", "<b/>", "1_0"]
    files = {
        f"type-{i}-{k}.graphml": weighed(kind, text)
        for i, kind in enumerate(kinds)
        for k, text in enumerate(texts)
    }
    odd = {
        "nothing": graph(""), "nodes": graph(nodes), "noid": graph("<node/>" + edge), "noend": graph(nodes + "<edge/>"),
        "twice": graph(nodes + nodes + edge), "mixed": graph(nodes + edge.replace("/>", ' directed="false"/>')),
        "hyper": graph(nodes + "<hyperedge/>"), "port": graph('<node id="a"><port name="p"/></node>' + edge),
        "long": graph(f'<node id="{LONG}"/><node id="b"/><edge id="{LONG}" source="{LONG}" target="b"/>'),
        "nokey": graph(f'{nodes}<edge source="a" target="b"><data key="zz">1</data></edge>'),
        "noname": graph(nodes + edge, '<key id="d" for="edge"/>'), "keyless": graph(nodes + edge, "<key/>"),
        "several": graph(nodes + edge, more="<graph/>" * 3), "kind": graph(nodes + edge, kind="both"),
        "nested": graph('<node id="a"><graph>' * 300 + "</graph></node>" * 300 + edge),
        "deep": graph("<x>" * 100_000 + "</x>" * 100_000 + nodes + edge),
        "groups": graph('<node id="a" yfiles.foldertype="group"/>' + edge),
        "default": graph(nodes + edge, '<key id="d" for="edge" attr.name="weight"><default/></key>'),
        "plain": b'<graphml><graph edgedefault="directed"><node id="a"/><edge source="a" target="b"/></graph></graphml>',
        "entity": b'<!DOCTYPE g [<!ENTITY a "aaaa">]><graphml>&a;</graphml>',
        "system": b'<!DOCTYPE g [<!ENTITY a SYSTEM "file:///etc/passwd">]><graphml>&a;</graphml>',
        "unknown": b'<?xml version="1.0" encoding="klingon"?><graphml/>', "other": b"<html><body/></html>",
        "utf7": b'<?xml version="1.0" encoding="utf-7"?><graphml/>', "control": graph('<node id="&#1;"/>' + edge),
        "ebcdic": b'<?xml version="1.0" encoding="cp037"?>' + '<!DOCTYPE g [<!ENTITY a "a">]><g>&a;</g>'.encode("cp037"),
    }  # fmt: skip
    return files | {f"{name}.graphml": data for name, data in odd.items()}


def _texts() -> dict[str, bytes]:
    def text(cells):
        return cells.encode("utf-8", "surrogatepass")

    rows = {
        "digits": f"0,{LONG}\n1,0\n", "nodes": f"{LONG},1,2\n1,{LONG},3\n", "quote": 'a,b,"c\n1,2,3\n', "quotes": '"' * 9999,
        "uneven": "a,b,c\n1,2\n", "wide": "a," * 9999 + "\n" + "1," * 9999, "empty": "\n\n\n", "comments": "# a\n# b\n",
        "commas": ",,,\n,,,\n", "marks": ";;\n1,5;2.5;3\n", "twice": ",A,A\nA,0,1\nA,1,0\n", "order": ",A,B\nB,0,1\nA,1,0\n",
        "surrogate": "a,b,1\n\ud800,b,2\n", "control": "a\x01,b,1\nb,a\x1b,2\n", "cr": "a,b,1\rb,a,2\r", "bom": "\ufeff\ufeffa,b,1\n",
        "exponent": "0,1e999\n1e-999,0\n", "signs": "0,+-1\n1,0\n", "infinity": "0,∞\ninf,0\n", "python": "0,1_0\n1,0\n",
        "points": "x,y,u,v\n1,2,3\n", "columns": "x,y,u\n1,2,3\n", "same": "x,y,u,v\n" + "0,0,0,0\n" * 5, "nan": "0,nan\nnan,0\n",
        "zero": "0,0\n0,0\n", "one": "0\n", "blank": " ", "tabs": "\t\t\t\n\t\t\t\n", "arabic": "0,٣\n٣,0\n", "header": "from,to,km\n",
        "hash": "name,A,B\nA,0,1\n#B,2,0\n", "loops": "a,a,1\nb,b,2\n", "minus": "from,to,km\na,b,-1\nb,a,2\n",
    }  # fmt: skip
    files = {f"cells-{name}.csv": text(cells) for name, cells in rows.items()}
    for encoding in ("utf-16", "utf-16-be", "utf-32", "latin-1", "cp037"):
        files[f"in-{encoding}.csv"] = "source,target,län\na,b,1\nb,a,2\n".encode(encoding)
    return files | {"odd16.csv": b"\xff\xfea\0b", "zeros.csv.gz": gzip.compress(bytes(10**6), mtime=0)}


def _saved() -> dict[str, bytes]:
    """Maps and models in which one part is not what it was."""
    values = {
        "labels": [["A"], "ABCD", [[1], 2, 3, 4], 5, {"a": 1}, [LONG] * 3], "stress": ["x", float("nan"), [1], 10**400, None, -1.0],
        "n_iter": [1.5, "x", None, True], "status": [None, 5, ["x"]], "message": [None, 3], "alpha_source": ["x", 1, None],
        "provenance": [5, {"columns": 3}, {"remarks": "x"}, {"n_missing": "x"}, {"left_out": 3}, {"columns": {"a": 1}}, None],
        "shown": [5, {"share": "x"}, {"x": 1}, [1], {"share": float("nan")}], "held_out": [5, {}, {"n_sources": 1}],
        "data_dropped": [None, "x"], "geodesic": [None, 3], "swirl_choice": [3, {}, {"chosen": True, "reason": "x"}], "format": [99, "x", None, -1.5], "kind": ["model", None, ["x"]],
    }  # fmt: skip
    files = {
        f"map-{name}-{k}.npz": saved_map({name: v}) for name, vs in values.items() for k, v in enumerate(vs)
    }
    X, nan = np.eye(4)[:, :2], np.full((4, 2), np.nan)
    arrays = {
        "coordinates": [nan, X[:3], X[0], X.astype(int), X.astype(str), np.zeros((0, 2)), np.zeros((4, 0)), None],
        "drift": [[0, 5.0], [0, -0.1], [0.3, 0.1], [0, np.nan], [0.1], [[0, 0.1]], [0, 1.0], None],
        "stress_per_point": [np.ones(3), np.full(4, np.inf), None], "misfit": [np.ones(9), [np.nan], [-1.0], [[1.0]]],
        "data_matrix": [D[:3], D * np.nan, -D, D.astype(int), D.astype(str)],
        "swirl": [np.eye(2), TURN * np.nan, TURN[:1], TURN.astype(str)], "data_weights": [D[:3], D * np.nan, -D, D.astype(str)], "json": [np.zeros(3), np.zeros((2, 2), np.uint8)],
    }  # fmt: skip
    for name, wrong in arrays.items():
        for k, value in enumerate(wrong):
            changed = None if value is None else np.asarray(value)
            if name == "json":
                files[f"map-json-{k}.npz"] = npz(json=changed, coordinates=X)
            else:
                files[f"map-{name}-array-{k}.npz"] = saved_map(**{name: changed})
    for k, header in enumerate(
        [b"", b"5", b"[]", b"{", b"{" * 100_000, b'{"kind": ' + LONG.encode() + b"}", b"\xff"]
    ):
        files[f"header-{k}.npz"] = npz(json=np.frombuffer(header, np.uint8), coordinates=X)
    changes = [
        {"labels": value}
        for value in (5, ["A"], [[1], 2, 3, 4, 5], [None] * 5, ["A"] * 5, {"a": 1}, [{}, 1, 2, 3, 4])
    ]
    changes += [
        {"attributes": value}
        for value in (5, [5], [["a"]], [["a", 5]], [["a", ["x"]]], [[5, None]], [["a", None], ["b", None]])
    ]
    files |= {f"network-{k}.npz": saved_network(change) for k, change in enumerate(changes)}
    columns = [5, [["a", ["x"] * 3]], [["a", [1, 2, 3, 4]]], [["a", None]] * 9, [[None, None]], {"a": 1}]
    files |= {f"columns-{k}.npz": saved_network(attributes=value) for k, value in enumerate(columns)}
    indptr, many = np.array([0, 2, 5, 7, 9, 10]), np.full(10, 2**40)
    arrays = {
        "network_nodes": [np.arange(3), np.zeros(4, int), np.arange(4) + 2, np.arange(4.0), -np.arange(4), many[:4]],
        "network_indptr": [indptr[:3], indptr[::-1], indptr * 0, indptr + 1, many[:6], np.array([0]), indptr.astype(float)],
        "network_indices": [many, np.zeros(10, int), np.arange(10) - 5, np.arange(3), np.full(10, 4.0), np.full(10, "x")],
        "network_lengths": [np.full(10, np.nan), -np.ones(10), np.ones(9), np.full(10, np.inf), np.full(10, "x"), np.ones((10, 1))],
        "attribute_0": [np.ones(3), np.array(list("abcd")), np.ones((4, 2)), np.ones(4, complex), np.float64(1)],
        "node_attribute_0": [np.ones(4), np.array(list("abcde")), np.ones((5, 1))],
    }  # fmt: skip
    files |= {
        f"network-{name}-{k}.npz": saved_network(**{name: value})
        for name, wrong in arrays.items()
        for k, value in enumerate(wrong)
    }
    files["network-none.npz"] = saved_map({"network": 5})
    parts = {
        "members": [0, [], [5], ["x"] * 99, "x", 10**30], "candidates": [[], {"a": "x"}, None], "labels": [["A"]], "options": [{"x": 1}, {"width": -1}, 5], "parameters": [{"x": 1}, None],
        "history": [{"a": 5}, [], {"a": [{}]}], "scores": [[], {"a": "x"}, {"calibration": 5}], "encoder": [None], "provenance": [3],
    }  # fmt: skip
    files |= {
        f"model-{name}-{k}.npz": saved_model({name: v})
        for name, vs in parts.items()
        for k, v in enumerate(vs)
    }
    wrong = {
        "points0": nan,
        "radii0": np.zeros((3, 2)),
        "decoder0": np.array([5.0, 1, 1, 2]),
        "lines": np.array([1.0, 0.0]),
        "reversed_share": np.array([1.5]),
        "correction": np.array([np.nan, 0, 0, 0, 0]),
        "intercepts": np.zeros(3),
        "slopes0": np.array([-1.0, 1.0]),
        "slopes1": np.ones(3),
        "bends0": np.array([np.inf]),
        "known": np.array([[0, 99]]),
    }
    files |= {f"model-{name}.npz": saved_model(**{name: value}) for name, value in wrong.items()}
    parts = {"problem": [None, {}, {"n_points": 3}], "n_passes": ["x"], "alpha_source": ["x", None]}
    files |= {
        f"state-{name}-{k}.npz": saved_state({name: v})
        for name, vs in parts.items()
        for k, v in enumerate(vs)
    }
    wrong = {"coordinates": nan, "omega": np.array([0, 1.5]), "history": np.array(["x"])}
    return files | {f"state-{name}.npz": saved_state(**{name: value}) for name, value in wrong.items()}


TOKENS = [b"9" * 500, b"-1", b"1e999", b"nan", b"inf", b"\0", b"\xff", b'"', b",", b";", b"\n", b"\r", b"\t", b"#", b"%", b"<", b">",
          b"&#0;", b"()", b"2**99", b"None", b"\xed\xa0\x80", b"\xe2\x88\x9e", b"<graph>", b"PK\x01\x02", b"'|O'"]  # fmt: skip


def mutated(data: bytes, rng: np.random.Generator, other: bytes = b"") -> bytes:
    """Break a file at random: bytes, pieces, words; within the arrays of an archive, too, whose checksums then are right."""
    if data[:2] == b"PK" and rng.random() < 0.7:
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as packed:
                members = {name: packed.read(name) for name in packed.namelist()}
        except Exception:
            return _broken_bytes(data, rng, other)
        name = str(rng.choice(list(members)))
        if rng.random() < 0.15:
            members.pop(name)
        elif rng.random() < 0.15:
            members[name] = members[str(rng.choice(list(members)))]
        else:
            members[name] = _broken_bytes(members[name], rng, other)
        return zipped(members, int(rng.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])))
    if data[:2] == b"\x1f\x8b" and rng.random() < 0.5:
        return gzip.compress(_broken_bytes(gzip.decompress(data), rng, other), mtime=0)
    return _broken_bytes(data, rng, other)


def _broken_bytes(data: bytes, rng: np.random.Generator, other: bytes) -> bytes:
    changed = bytearray(data)
    for _ in range(int(rng.integers(1, 4))):
        at, to = sorted(rng.integers(0, len(changed) + 1, 2).tolist())
        kind = int(rng.integers(8))
        if kind == 0:
            changed = changed[:at]
        elif kind == 1 and changed:
            changed[min(at, len(changed) - 1)] = int(rng.integers(256))
        elif kind == 2 and changed:
            changed[min(at, len(changed) - 1)] ^= 1 << int(rng.integers(8))
        elif kind == 3:
            changed[at : min(to, at + 40)] = b""
        elif kind == 4:
            changed[at:at] = changed[at : min(to, at + 400)]
        elif kind == 5:
            changed[at:at] = TOKENS[int(rng.integers(len(TOKENS)))]
        elif kind == 6:  # a number becomes another one
            digits = [k for k, c in enumerate(changed) if 48 <= c <= 57]
            if digits:
                k = digits[int(rng.integers(len(digits)))]
                changed[k : k + 1] = (
                    TOKENS[int(rng.integers(5))] if rng.random() < 0.5 else b"%d" % rng.integers(10**6)
                )
        elif other:
            start = int(rng.integers(len(other)))
            changed[at:at] = other[start : start + int(rng.integers(1, 200))]
    return bytes(changed)


def write_all(folder: Path) -> list[Path]:
    """Write all broken files into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    paths, sound, unsound = [], seeds(), broken()
    assert not {*sound} & {*unsound}
    for name, data in (sound | unsound).items():
        paths.append(folder / name)
        paths[-1].write_bytes(data)
    return paths


if __name__ == "__main__":
    print(f"{len(write_all(Path(sys.argv[1])))} files")
