"""Files of AnnData: written by anndata, read for maps; damaged ones refused in a line."""

import gzip
import shutil
import warnings
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import finsler
from finsler.datasets import make_differentiation
from finsler.errors import InputError
from finsler.graphs import open_file, read_graph

anndata = pytest.importorskip("anndata")
pd = pytest.importorskip("pandas")
h5py = pytest.importorskip("h5py")

CELLS = make_differentiation(90, random_state=2)


@contextmanager
def plain_text():
    """Text as anndata can write it: some of its versions do not know that of pandas 3."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the option is to go once they do
        try:
            context = pd.option_context("future.infer_string", False)
        except pd.errors.OptionError:
            context = nullcontext()
        with context:
            yield


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    file = tmp_path_factory.mktemp("cells") / "cells.h5ad"
    rng = np.random.default_rng(0)
    with plain_text():
        made = anndata.AnnData(
            CELLS.spliced.astype(np.float32),
            obs={
                "clusters": pd.Categorical(CELLS.clusters),
                "time": CELLS.time,
                "doublet": rng.random(90) < 0.1,
            },
            obsm={"X_pca": CELLS.points, "velocity_pca": CELLS.current},
            obsp={"T_fwd": csr_matrix(rng.random((90, 90)) * (rng.random((90, 90)) < 0.3))},
        )
        made.obs_names = [f"c{i}" for i in range(90)]
        finsler.cells.embed(made, key_added="before")  # what embed writes can be written and read
        made.write_h5ad(file)
    return file


def test_what_embed_writes_survives_the_file(path):
    made = anndata.read_h5ad(path)
    facts = made.uns["before"]
    assert made.obsm["X_before"].shape == (90, 2)
    assert np.array_equal(made.obs["before_height"], made.obsm["X_before"][:, -1])
    assert facts["params"]["source"] == "velocity_pca"
    assert 0 < facts["alpha"] < 1
    assert "straight up costs" in facts["summary"]


def test_a_file_gives_the_map_of_its_object(path):
    made = anndata.read_h5ad(path)
    chart = finsler.cells.find_map(made)
    again = finsler.embed_graph(path, random_state=0)
    assert np.array_equal(chart.coordinates, again.coordinates)
    assert again.labels == [f"c{i}" for i in range(90)]
    assert again.attributes["clusters"].tolist() == CELLS.clusters.tolist()
    assert again.attributes["doublet"].dtype == bool
    assert "obsm['velocity_pca']" in " ".join(again.sentences())


def test_another_source_by_its_key(path):
    assert "T_fwd" in open_file(path, variable="T_fwd").graph.provenance.remarks[0]
    with pytest.raises(InputError, match=r"cells.h5ad: source 'T_bwd' is no key"):
        open_file(path, variable="T_bwd")
    with pytest.raises(InputError, match="weight"):
        read_graph(path, weight="length")


def test_a_packed_file(path, tmp_path):
    packed = tmp_path / "cells.h5ad.gz"
    with open(path, "rb") as plain, gzip.open(packed, "wb") as file:
        shutil.copyfileobj(plain, file)
    assert read_graph(packed).n_nodes == 90


def test_from_the_command_line_to_a_page(path, tmp_path, capsys, monkeypatch):
    pytest.importorskip("typer")
    pytest.importorskip("plotly")
    from finsler.cli import main

    monkeypatch.chdir(tmp_path)
    assert main(["embed", str(path), "--out", "map.html", "--color", "clusters"]) == 0
    said = capsys.readouterr()
    assert "90 nodes" in said.err + said.out
    assert "Which way cells go is told by the velocities" in said.err + said.out
    page = (tmp_path / "map.html").read_text(encoding="utf-8")
    assert "fate A" in page
    assert "progenitor" in page


def test_damaged_files_are_refused_in_a_line(path, tmp_path, capsys):
    pytest.importorskip("typer")
    from finsler.cli import main

    whole = path.read_bytes()
    rng = np.random.default_rng(1)
    cases = {
        "cut": whole[: len(whole) // 2],
        "start": whole[:500],
        "noise": rng.bytes(2000),
        "text": b"from,to\na,b\n",
        "empty": b"",
        "zeros": whole[:2000] + bytes(len(whole) - 2000),
    }
    for name, data in cases.items():
        file = tmp_path / f"{name}.h5ad"
        file.write_bytes(data)
        assert main(["embed", str(file), "--out", str(tmp_path / "map.npz")]) == 2, name
        lines = capsys.readouterr().err.strip().splitlines()
        assert len(lines) == 1, (name, lines)
        assert f"{name}.h5ad" in lines[0]
    with h5py.File(tmp_path / "other.h5ad", "w") as file:
        file["x"] = [1, 2, 3]
    with pytest.raises(InputError, match=r"other.h5ad: it is no AnnData: it has no part obs, only x"):
        read_graph(tmp_path / "other.h5ad")


def test_files_without_anything_about_directions_say_what_to_compute(tmp_path):
    with plain_text():
        anndata.AnnData(CELLS.spliced.astype(np.float32), obsm={"X_pca": CELLS.points}).write_h5ad(
            tmp_path / "flat.h5ad"
        )
    with pytest.raises(InputError, match=r"flat.h5ad: adata has none of obsm\['velocity_pca'\]"):
        read_graph(tmp_path / "flat.h5ad")
