"""Registered files and the graphs read from them, without a network.

Small files of the publishers' formats are made here. Their own files, of which some have no license, are looked for in the
folder that FINSLER_DATA names, or with the other real data; without them those tests are skipped.
"""

import gzip
import hashlib
import json
import os
import pickle
import re
import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array, save_npz

from finsler.datasets import remote
from finsler.datasets.remote import FILES, GRAPHS, fetch_file, fetch_graph
from finsler.errors import InputError

from helpers import REAL_DATA, real_file

RAW = Path(os.environ.get("FINSLER_DATA") or REAL_DATA / "raw")

needs_raw = pytest.mark.skipif(
    not all((RAW / name).is_file() for name in FILES),
    reason="extra check on the publishers' files: not shipped, for their licenses; set FINSLER_DATA to their folder",
)
NAMES = list(GRAPHS)


@pytest.fixture
def offline(monkeypatch):
    """Read the publishers' files; any attempt to download fails the test."""
    monkeypatch.setenv("FINSLER_DATA", str(RAW))
    monkeypatch.setattr(remote, "_download", lambda *a, **k: pytest.fail("tried to download"))


@pytest.fixture
def small(monkeypatch):
    """Replace the registry by one small file; downloads are not retried."""
    content = b"a small file\n" * 100
    file = remote.RemoteFile("owner/name/commit/small.txt", len(content), hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(remote, "FILES", {"small.txt": file})
    monkeypatch.setattr(remote, "_RETRIES", 0)
    monkeypatch.delenv("FINSLER_DATA", raising=False)
    return content


class Server:
    """A pooch downloader that writes the given bytes, and then perhaps fails."""

    def __init__(self, content, error=None):
        self.content, self.error, self.urls = content, error, []

    def __call__(self, url, output_file, pooch):
        self.urls.append(url)
        Path(output_file).write_bytes(self.content)
        if self.error is not None:
            raise self.error


class TestRegistry:
    def test_addresses_are_pinned(self):
        for name, file in FILES.items():
            assert re.fullmatch(
                r"https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{40}/(.+/)?" + re.escape(name),
                file.url,
            )
            assert re.fullmatch("[0-9a-f]{64}", file.sha256)
            assert file.size > 0
        assert {f for facts in GRAPHS.values() for f in facts.files} < set(FILES)

    @pytest.mark.skipif(
        not (RAW / "sources.json").is_file(), reason="extra check on the list of the publishers' files"
    )
    def test_agrees_with_the_list_of_sources(self):
        sources = json.loads((RAW / "sources.json").read_text())
        assert {s["file"]: (s["url"], s["sha256"], s["bytes"]) for s in sources} == {
            name: (file.url, file.sha256, file.size) for name, file in FILES.items()
        }

    @pytest.mark.parametrize("fetch", [fetch_file, fetch_graph])
    def test_unknown_names(self, fetch):
        with pytest.raises(ValueError, match=r"name must be 'cora.*'nonesuch'"):
            fetch("nonesuch")

    def test_no_way_out_of_the_folder(self, monkeypatch, tmp_path):
        monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
        with pytest.raises(ValueError, match="name must be"):
            fetch_file("../cora.zip")


class TestDownload:
    def test_once(self, small, tmp_path):
        server = Server(small)
        path = remote._download("small.txt", tmp_path / "cache", server)
        assert path == tmp_path / "cache" / "small.txt"
        assert path.read_bytes() == small
        assert server.urls == ["https://raw.githubusercontent.com/owner/name/commit/small.txt"]
        assert remote._download("small.txt", tmp_path / "cache", server) == path
        assert len(server.urls) == 1
        assert fetch_file("small.txt", cache_dir=tmp_path / "cache") == path  # cached: no network

    def test_into_the_users_cache(self, small, tmp_path, monkeypatch):
        monkeypatch.setattr("pooch.os_cache", lambda project: tmp_path / project)
        assert remote._download("small.txt", None, Server(small)) == tmp_path / "finsler" / "small.txt"

    @pytest.mark.parametrize("damage", [lambda b: b[:-10], lambda b: b"X" + b[1:], lambda b: b""])
    def test_damaged_cache_is_fetched_again(self, small, tmp_path, damage):
        (tmp_path / "small.txt").write_bytes(damage(small))
        server = Server(small)
        assert remote._download("small.txt", tmp_path, server).read_bytes() == small
        assert len(server.urls) == 1

    @pytest.mark.parametrize(
        "error", [ConnectionResetError("the line went dead"), KeyboardInterrupt(), MemoryError()]
    )
    def test_interrupted_download_leaves_nothing(self, small, tmp_path, error):
        expected = OSError if isinstance(error, OSError) else type(error)
        with pytest.raises(expected):
            remote._download("small.txt", tmp_path, Server(small[:50], error))
        assert list(tmp_path.iterdir()) == []

    def test_failed_download_says_what_to_do(self, small, tmp_path):
        with pytest.raises(OSError, match=r"commit/small\.txt \(TimeoutError: too slow\).*set FINSLER_DATA"):
            remote._download("small.txt", tmp_path, Server(b"", TimeoutError("too slow")))

    def test_failed_download_keeps_nothing_of_a_damaged_cache_for_use(self, small, tmp_path):
        (tmp_path / "small.txt").write_bytes(small[:-1])
        with pytest.raises(OSError, match="could not download"):
            remote._download("small.txt", tmp_path, Server(small[:50], ConnectionError("gone")))
        assert [p.name for p in tmp_path.iterdir()] == ["small.txt"]  # still refused at the next call:
        with pytest.raises(OSError, match="could not download"):
            remote._download("small.txt", tmp_path, Server(small[:50], ConnectionError("gone")))

    def test_wrong_content_is_refused(self, small, tmp_path):
        with pytest.raises(
            InputError, match=r"small\.txt.*does not match.*expected sha256:\w{64} but got \w{64}"
        ):
            remote._download("small.txt", tmp_path, Server(small[:-1]))
        assert list(tmp_path.iterdir()) == []

    def test_retries(self, small, tmp_path, monkeypatch):
        monkeypatch.setattr(remote, "_RETRIES", 1)
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        server = Server(small[:-1])

        def second_time_lucky(url, output_file, pooch):
            server(url, output_file, pooch)
            server.content = small

        assert remote._download("small.txt", tmp_path, second_time_lucky).read_bytes() == small
        assert len(server.urls) == 2

    def test_without_pooch(self, small, tmp_path, monkeypatch):
        monkeypatch.setitem(sys.modules, "pooch", None)
        with pytest.raises(ImportError, match=re.escape("pip install 'finsler[data]'")):
            fetch_file("small.txt", cache_dir=tmp_path)


class TestOffline:
    def test_reads_the_folder_without_pooch(self, small, tmp_path, monkeypatch):
        monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
        monkeypatch.setitem(sys.modules, "pooch", None)
        (tmp_path / "small.txt").write_bytes(small)
        assert fetch_file("small.txt", cache_dir="/nowhere") == tmp_path / "small.txt"

    def test_missing_file(self, small, tmp_path, monkeypatch):
        monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
        with pytest.raises(
            FileNotFoundError, match=rf"{re.escape(str(tmp_path))}.*no file small\.txt.*https://"
        ):
            fetch_file("small.txt")

    @pytest.mark.parametrize("damage", [lambda b: b[:-10], lambda b: b"X" + b[1:], lambda b: b""])
    def test_damaged_file_is_refused(self, small, tmp_path, monkeypatch, damage):
        monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
        bad = damage(small)
        (tmp_path / "small.txt").write_bytes(bad)
        with pytest.raises(ValueError, match=r"small\.txt is not the registered file") as caught:
            fetch_file("small.txt")
        for content in (small, bad):
            assert hashlib.sha256(content).hexdigest() in str(caught.value)
            assert f"({len(content)} bytes)" in str(caught.value)
        assert (tmp_path / "small.txt").read_bytes() == bad  # the user's folder is left alone

    def test_empty_variable_is_no_folder(self, small, tmp_path, monkeypatch):
        monkeypatch.setenv("FINSLER_DATA", "")
        (tmp_path / "small.txt").write_bytes(small)
        assert fetch_file("small.txt", cache_dir=tmp_path) == tmp_path / "small.txt"

    def test_a_truncated_graph_is_refused(self, published):
        file = published / "chameleon_edges.csv"
        whole = file.read_bytes()
        file.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 1])  # one arc short
        with pytest.raises(ValueError, match="not the registered file"):
            fetch_graph("chameleon")


def linqs(path, arcs, n, n_content):
    """Papers named p0, p1, ...; rows of content are name, words, class, those of cites cited and citing; and a pickle."""
    rows = [f"{100 + i}\t{i % 2}\t1\t{(i + 1) % 2}\tclass {i % 3}" for i in range(n_content)]
    cites = [f"{100 + j}\t{100 + i}" for i, j in arcs]
    with ZipFile(path, "w") as archive:
        archive.writestr(f"{path.stem}/{path.stem}.content", "\n".join(rows) + "\n")
        archive.writestr(f"{path.stem}/{path.stem}.cites", "\n".join(cites) + "\n")
        archive.writestr(f"{path.stem}/{path.stem}.graph", pickle.dumps({"never": "read"}))


ARCS = [(0, 1), (1, 0), (2, 1), (3, 3), (4, 0), (5, 2), (5, 4)]  # one self-loop, one pair both ways


@pytest.fixture
def published(tmp_path, monkeypatch):
    """A folder of small files in the publishers' formats, registered in place of theirs."""
    linqs(tmp_path / "cora.zip", ARCS, 6, 6)
    linqs(tmp_path / "citeseer.zip", ARCS, 6, 5)  # the last paper is only cited, or cites
    rows = "\n".join(f"{i + 7}\t{j + 7}" for i, j in ARCS)
    (tmp_path / "ca-GrQc.txt").write_text(f"http://example.org\n# Nodes: 6\n{rows}\n")
    rows = "\n".join(f"{i},{j}" for i, j in ARCS)
    for name in ("chameleon", "squirrel"):
        (tmp_path / f"{name}_edges.csv").write_text(f"id1,id2\n{rows}\n")
    save_npz(tmp_path / "adj_full.npz", csr_array((np.ones(7), np.transpose(ARCS)), shape=(6, 6)))
    years = [2010, 2013, 2014, 2016, 2018, 2019]
    (tmp_path / "node_year.csv.gz").write_bytes(gzip.compress("\n".join(map(str, years)).encode()))
    for name in {file for facts in GRAPHS.values() for file in facts.files}:
        content = (tmp_path / name).read_bytes()
        file = remote.RemoteFile(f"o/r/c/{name}", len(content), hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(remote.FILES, name, file)
    for name, facts in GRAPHS.items():
        monkeypatch.setitem(remote.GRAPHS, name, facts._replace(counts=(6, 7, 1, 1)))
    monkeypatch.setenv("FINSLER_DATA", str(tmp_path))
    monkeypatch.setattr(remote, "_download", lambda *a, **k: pytest.fail("tried to download"))
    return tmp_path


@pytest.mark.usefixtures("published")
class TestFormats:
    @pytest.mark.parametrize("name", NAMES)
    def test_arcs(self, name):
        data = fetch_graph(name)
        arcs = data.graph.tocoo()
        assert sorted(zip(arcs.row.tolist(), arcs.col.tolist(), strict=True)) == sorted(ARCS)
        assert (data.graph.data == 1).all()
        assert (data.n_nodes, data.n_arcs, data.self_loops, data.reciprocal_pairs) == (6, 7, 1, 1)
        assert "1 are self-loops" in data.DESCR
        first = {"cora": 100, "citeseer": "100", "grqc": 7}.get(name, 0)
        assert data.labels[0] == first

    def test_papers_have_classes_and_words(self):
        data = fetch_graph("cora")
        assert data.y.tolist() == [0, 1, 2, 0, 1, 2]
        assert data.label_names == ["class 0", "class 1", "class 2"]
        np.testing.assert_array_equal(data.features.toarray()[:2], [[0, 1, 1], [1, 1, 0]])

    def test_papers_without_content_come_last(self):
        data = fetch_graph("citeseer")
        assert data.y.tolist() == [0, 1, 2, 0, 1, -1]
        assert data.features[5:].nnz == 0

    def test_classes_are_the_years(self):
        data = fetch_graph("arxiv_year")  # the other spelling
        assert data.y.tolist() == [0, 0, 1, 2, 3, 4]
        assert len(data.label_names) == 5

    def test_a_graph_read_wrongly_is_refused(self, monkeypatch):
        monkeypatch.setitem(remote.GRAPHS, "cora", remote.GRAPHS["cora"]._replace(counts=(6, 7, 2, 1)))
        with pytest.raises(RuntimeError, match=r"\(6, 7, 1, 1\), expected \(6, 7, 2, 1\)"):
            fetch_graph("cora")

    @pytest.mark.parametrize("name", ["citeseer", "arxiv-year"])
    def test_nothing_is_unpickled(self, name, monkeypatch):
        allowed, members = [], []
        load, read = np.load, remote.ZipFile.read
        for function in ("load", "loads", "Unpickler"):
            monkeypatch.setattr(pickle, function, lambda *a, **k: pytest.fail("unpickled something"))
        monkeypatch.setattr(
            np, "load", lambda *a, **k: allowed.append(k.get("allow_pickle", False)) or load(*a, **k)
        )
        monkeypatch.setattr(
            remote.ZipFile, "read", lambda self, name, *a: members.append(name) or read(self, name, *a)
        )
        fetch_graph(name)
        assert allowed == ([False] if name == "arxiv-year" else [])
        assert [Path(member).suffix for member in members] == (
            [".content", ".cites"] if name == "citeseer" else []
        )

    def test_from_the_cache(self, published, tmp_path, monkeypatch):
        monkeypatch.undo()
        monkeypatch.delenv("FINSLER_DATA", raising=False)
        content = (published / "cora.zip").read_bytes()
        file = remote.RemoteFile("o/r/c/cora.zip", len(content), hashlib.sha256(content).hexdigest())
        monkeypatch.setitem(remote.FILES, "cora.zip", file)
        monkeypatch.setitem(remote.GRAPHS, "cora", GRAPHS["cora"]._replace(counts=(6, 7, 1, 1)))
        assert fetch_graph("cora", cache_dir=tmp_path).n_arcs == 7


@needs_raw
@pytest.mark.usefixtures("offline")
class TestGraphs:
    @pytest.mark.parametrize("name", NAMES)
    def test_against_the_independent_conversion(self, name):
        path = real_file(f"graphs/{name.replace('-', '_')}.npz")
        data = fetch_graph(name)
        with np.load(path, allow_pickle=False) as archive:
            oracle = dict(archive)
        n = int(oracle["n_nodes"])
        names = oracle.get("orig_id", np.arange(n)).tolist()
        assert sorted(data.labels.tolist()) == sorted(names)
        order = {label: i for i, label in enumerate(names)}
        at = np.array([order[label] for label in data.labels.tolist()])  # our node -> the oracle's
        arcs = data.graph.tocoo()
        found = np.sort(at[arcs.row] * n + at[arcs.col])
        assert_array_equal(found, np.sort(oracle["src"].astype(np.int64) * n + oracle["dst"]))
        assert (np.diff(found) > 0).all()  # no arc twice
        assert len(found) == data.n_arcs == data.graph.nnz
        if data.y is not None:
            assert_array_equal(data.y, oracle["y"][at])
        if "label_names" in oracle:
            assert data.label_names == oracle["label_names"].tolist()
        if data.features is not None:
            dense = np.zeros(oracle["feat_shape"], dtype=bool)
            for i, row in enumerate(np.split(oracle["feat_indices"], oracle["feat_indptr"][1:-1])):
                dense[i, row] = True
            assert_array_equal(data.features.toarray(), dense[at])
        if data.year is not None:
            assert_array_equal(data.year, oracle["year"][at])

    @pytest.mark.parametrize("name", ["cora", "citeseer", "grqc", "chameleon"])
    def test_counts_by_sets(self, name):
        data = fetch_graph(name)
        arcs = data.graph.tocoo()
        arcs = set(zip(arcs.row.tolist(), arcs.col.tolist(), strict=True))
        loops = sum(i == j for i, j in arcs)
        both = sum(i < j and (j, i) in arcs for i, j in arcs)
        assert (data.n_nodes, data.n_arcs, data.self_loops, data.reciprocal_pairs) == GRAPHS[name].counts
        assert (len(arcs), loops, both) == GRAPHS[name].counts[1:]
        assert (data.graph.data == 1).all()
        assert data.graph.shape == (data.n_nodes, data.n_nodes)
        assert f"{loops} are self-loops" in data.DESCR

    def test_citations_point_from_the_citing_paper(self):
        # First row of cora.cites is "35 1033": 1033 cites 35.
        data = fetch_graph("cora")
        cited, citing = (int(np.flatnonzero(data.labels == p)[0]) for p in (35, 1033))
        assert data.graph[citing, cited] == 1
        assert data.graph[cited, citing] == 0
        assert data.graph.sum(axis=0).max() == 166  # the most cited; nobody cites that many
        assert data.graph.sum(axis=1).max() == 5

    def test_citeseer_papers_without_content_come_last(self):
        data = fetch_graph("citeseer")
        assert (data.y[-15:] == -1).all()
        assert (data.y[:-15] >= 0).all()
        assert data.features[-15:].nnz == 0
        assert (data.features[:-15].sum(axis=1) > 0).sum() == 3312

    def test_arxiv_classes_are_the_years(self):
        data = fetch_graph("arxiv_year")  # the other spelling
        assert np.bincount(data.y).tolist() == [31971, 21189, 37781, 29799, 48603]
        spans = [(0, 2013), (2014, 2015), (2016, 2017), (2018, 2018), (2019, 9999)]
        assert data.label_names == ["to 2013", "2014-2015", "2016-2017", "2018", "from 2019"]
        for c, (first, last) in enumerate(spans):
            assert_array_equal(data.y == c, (data.year >= first) & (data.year <= last))
        arcs = data.graph.tocoo()
        assert (data.year[arcs.row] >= data.year[arcs.col]).mean() > 0.98  # one cites the past


def test_repeated_arcs_are_noticed():
    graph = remote._adjacency([(0, 1), (0, 1), (1, 2)], 3)
    assert graph.nnz == 2  # so the count of arcs differs from that of the rows
    assert (graph.data == 1).all()
