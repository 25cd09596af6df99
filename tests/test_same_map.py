"""Command line, recipe and estimator give the same map for every kind of input."""

import json

import numpy as np
import pytest
from scipy.io import savemat

pytest.importorskip("typer")
from finsler import (
    Embedding,
    FinslerIsomap,
    FinslerMDS,
    embed_graph,
    embed_matrix,
    embed_pairs,
    embed_points,
)
from finsler.cli.output import csv_text, matrix_csv
from finsler.datasets import load_flight_hours
from finsler.graphs.digraph import as_digraph
from finsler.graphs.distances import graph_distances

from helpers import done

ALPHA = 0.2


def matrix_text(folder):
    flights = load_flight_hours()
    D, labels = flights.hours[:12, :12], flights.codes[:12]
    path = folder / "times.csv"
    path.write_text(matrix_csv(D, labels))
    return path, embed_matrix(path, alpha=ALPHA), FinslerMDS(alpha=ALPHA).fit(D), labels


def matrix_array(folder):
    D = load_flight_hours().hours[:12, :12]
    path = folder / "times.npy"
    np.save(path, D)
    return path, embed_matrix(path, alpha=ALPHA), FinslerMDS(alpha=ALPHA).fit(D), None


def matrix_of(write):
    """The same matrix in a file of another format."""

    def make(folder):
        flights = load_flight_hours()
        D, labels = flights.hours[:12, :12], [str(code) for code in flights.codes[:12]]
        path = write(folder, D, labels)
        return path, embed_matrix(path, alpha=ALPHA), FinslerMDS(alpha=ALPHA).fit(D), labels

    make.__name__ = write.__name__
    return make


@matrix_of
def matrix_excel(folder, D, labels):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in [["", *labels], *([label, *row] for label, row in zip(labels, D.tolist(), strict=True))]:
        book.active.append(row)
    book.save(folder / "times.xlsx")
    return folder / "times.xlsx"


@matrix_of
def matrix_parquet(folder, D, labels):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    columns = {label: D[:, k] for k, label in enumerate(labels)}
    parquet.write_table(pyarrow.table({"from": labels, **columns}), folder / "times.parquet")
    return folder / "times.parquet"


@matrix_of
def matrix_matlab(folder, D, labels):
    savemat(folder / "times.mat", {"D": D, "labels": np.array(labels, dtype=object)})
    return folder / "times.mat"


@matrix_of
def matrix_routing(folder, D, labels):
    places = [{"name": label, "location": [k, 50.0]} for k, label in enumerate(labels)]
    record = {"code": "Ok", "durations": D.tolist(), "sources": places, "destinations": places}
    (folder / "table.json").write_text(json.dumps(record))
    return folder / "table.json"


def pairs_text(folder):
    flights = load_flight_hours()
    D, labels = flights.hours[:12, :12], flights.codes[:12]
    rows = [(a, b, D[i, j]) for i, a in enumerate(labels) for j, b in enumerate(labels) if i != j]
    path = folder / "hours.csv"
    path.write_text(csv_text([["origin", "destination", "hours"], *rows]))
    return path, embed_pairs(path, alpha=ALPHA), FinslerMDS(alpha=ALPHA).fit(D), labels


def roads():
    arcs = [(f"r{i}", f"r{(i + step) % 12}", 1.0 + (i * step) % 4) for i in range(12) for step in (1, 3, 5)]
    data = graph_distances(as_digraph(arcs))
    return arcs, FinslerMDS(alpha=ALPHA).fit(data), data.labels


def edges_text(folder):
    arcs, estimator, labels = roads()
    path = folder / "roads.csv"
    path.write_text(csv_text([["from", "to", "minutes"], *arcs]))
    return path, embed_graph(path, alpha=ALPHA), estimator, labels


def graph_file(suffix):
    def make(folder):
        networkx = pytest.importorskip("networkx")
        arcs, estimator, labels = roads()
        graph = networkx.DiGraph()
        graph.add_weighted_edges_from(arcs)
        path = folder / f"roads.{suffix}"
        if suffix == "json":
            path.write_text(json.dumps(networkx.node_link_data(graph)))
        else:
            getattr(networkx, f"write_{'pajek' if suffix == 'net' else suffix}")(graph, path)
        return path, embed_graph(graph, alpha=ALPHA), estimator, labels

    make.__name__ = f"graph_{suffix}"
    return make


def points_text(folder):
    rng = np.random.default_rng(0)
    X = rng.random((40, 2))
    current = np.column_stack([np.full(40, 0.3), -0.1 * X[:, 1]])
    labels = [f"p{i}" for i in range(40)]
    rows = [[label, *x, *u] for label, x, u in zip(labels, X.tolist(), current.tolist(), strict=True)]
    path = folder / "sea.csv"
    path.write_text(csv_text([["name", "x", "y", "u", "v"], *rows]))
    estimator = FinslerIsomap(alpha=ALPHA).fit(X, current=current)
    return path, embed_points(X, current=current, labels=labels, alpha=ALPHA), estimator, labels


GRAPHS = [graph_file(suffix) for suffix in ("graphml", "gexf", "gml", "net", "json")]
MATRICES = [matrix_text, matrix_array, matrix_excel, matrix_parquet, matrix_matlab, matrix_routing]


@pytest.mark.parametrize("make", [*MATRICES, pairs_text, edges_text, *GRAPHS, points_text])
def test_same_map(make, tmp_path):
    path, recipe, estimator, labels = make(tmp_path)
    done("embed", path, "--alpha", ALPHA, "--out", tmp_path / "map.npz")
    command = Embedding.load(tmp_path / "map.npz")
    assert command.labels == recipe.labels
    order = slice(None)
    if labels is not None:  # a file may name its nodes in another order
        assert sorted(command.labels) == sorted(labels)
        order = [command.labels.index(label) for label in labels]
    np.testing.assert_allclose(command.coordinates, recipe.coordinates, rtol=0, atol=1e-9)
    np.testing.assert_allclose(command.coordinates[order], estimator.embedding_, rtol=0, atol=1e-7)
    assert command.stress == pytest.approx(recipe.stress, abs=1e-12)
    assert command.stress == pytest.approx(estimator.stress_, abs=1e-9)
    assert command.alpha == recipe.alpha == estimator.alpha_ == ALPHA
