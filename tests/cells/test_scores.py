"""Scores of velocities on a picture, against loops that say the same in other words."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from finsler.cells import (
    cross_boundary_correctness,
    in_cluster_coherence,
    transition_probabilities,
    velocities_on_map,
)
from finsler.datasets import make_differentiation
from finsler.errors import InputError
from finsler.graphs import neighborhood_graph


def cosine(a, b):
    size = np.sqrt(a @ a) * np.sqrt(b @ b)
    return a @ b / size if size > 0 else 0.0


@pytest.fixture(scope="module")
def case():
    rng = np.random.default_rng(5)
    X, V = rng.normal(size=(40, 3)), rng.normal(size=(40, 3))
    V[4] = 0.0
    X[7] = X[8]
    near = csr_array(rng.uniform(size=(40, 40)) < 0.2)
    names = rng.choice(["a", "b", "c"], 40)
    return X, V, near, names


def test_direction_correctness_by_loops(case):
    X, V, near, names = case
    transitions = [("a", "b"), ("b", "c"), ("c", "nowhere")]
    found = cross_boundary_correctness(X, V, names, transitions, near)
    expected, cells = {}, 0
    A = near.toarray()
    for a, b in transitions:
        by_cell = []
        for i in range(40):
            steps = [cosine(X[j] - X[i], V[i]) for j in range(40) if A[i, j] and j != i and names[j] == b]
            if names[i] == a and steps:
                by_cell.append(np.mean(steps))
        if by_cell:
            expected[a, b] = np.mean(by_cell)
            cells += len(by_cell)
    assert found.by_group == pytest.approx(expected)
    assert {*found.by_group} == {("a", "b"), ("b", "c")}
    assert found.mean == pytest.approx(np.mean([*expected.values()]))
    assert found.n_cells == cells
    turned = cross_boundary_correctness(X, -V, names, transitions, near)
    assert turned.mean == pytest.approx(-found.mean)


def test_coherence_by_loops(case):
    _, V, near, names = case
    found = in_cluster_coherence(V, names, near)
    A = near.toarray()
    for name in "abc":
        by_cell = []
        for i in np.flatnonzero(names == name):
            same = [cosine(V[i], V[j]) for j in range(40) if A[i, j] and j != i and names[j] == name]
            if same:
                by_cell.append(np.mean(same))
        assert found.by_group[name] == pytest.approx(np.mean(by_cell))
    assert in_cluster_coherence(np.ones((40, 2)), names, near).mean == pytest.approx(1.0)


def test_arrows_and_transitions_by_loops(case):
    X, V, _, _ = case
    P = transition_probabilities(X, V, n_neighbors=6, scale=3.0)
    near = neighborhood_graph(X, n_neighbors=6)
    assert np.allclose(P.sum(axis=1), 1)
    arrows = velocities_on_map(X[:, :2], P)
    for i in range(40):
        own = near[[i]].tocoo().col  # stored zeros are neighbors, too
        weight = np.array([np.exp(3 * cosine(X[j] - X[i], V[i])) for j in own])
        p = weight / weight.sum()
        assert np.allclose(P[[i]].toarray()[0, own], p)
        arrow = np.zeros(2)
        for j, share in zip(own, p, strict=True):
            step = X[j, :2] - X[i, :2]
            if np.any(step):
                arrow += (share - 1 / len(own)) * step / np.sqrt(step @ step)
        assert np.allclose(arrows[i], arrow)


def test_true_velocities_point_into_the_fates():
    cells = make_differentiation(300)
    near = neighborhood_graph(cells.points, n_neighbors=15)
    score = cross_boundary_correctness(cells.points, cells.current, cells.clusters, cells.transitions, near)
    assert {*score.by_group} == {*cells.transitions}
    assert min(score.by_group.values()) > 0.3
    assert in_cluster_coherence(cells.current, cells.clusters, near).mean > 0.8


def test_what_does_not_go_together_is_refused(case):
    X, V, near, names = case
    with pytest.raises(
        InputError, match="clusters must name the cluster of each of 40 cells, as velocities has rows; got 3"
    ):
        in_cluster_coherence(V, ["a", "b", "c"], near)
    with pytest.raises(InputError, match="neighbors must be a sparse matrix of shape"):
        cross_boundary_correctness(X, V, names, [("a", "b")], near.toarray())
    with pytest.raises(InputError, match="transitions must hold pairs"):
        cross_boundary_correctness(X, V, names, ["ab!"], near)
    with pytest.raises(InputError, match="velocities must have the shape"):
        transition_probabilities(X, V[:, :2])
