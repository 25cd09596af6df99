"""Command line, recipe and estimator give the same map for every kind of input."""

import numpy as np
import pytest

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


def graph_file(folder):
    networkx = pytest.importorskip("networkx")
    arcs, estimator, labels = roads()
    graph = networkx.DiGraph()
    graph.add_weighted_edges_from(arcs)
    path = folder / "roads.graphml"
    networkx.write_graphml(graph, path)
    return path, embed_graph(graph, alpha=ALPHA), estimator, labels


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


@pytest.mark.parametrize("make", [matrix_text, matrix_array, pairs_text, edges_text, graph_file, points_text])
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
