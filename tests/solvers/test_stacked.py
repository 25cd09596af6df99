"""Points on one spot that the data hold apart are no minimum, and are not taken for one."""

import numpy as np
import pytest

from finsler.data.matrix import Dissimilarities
from finsler.solvers.smacof import smacof

from helpers import random_problem, slow_stress


def stacked(X, D, W):
    """Pairs of points on one spot that the data hold apart."""
    gaps = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    held = np.abs(D) * (1 if W is None else W)
    close = gaps <= 1e-6 * np.sqrt((X**2).sum(axis=1).mean())
    return [(i, j) for i, j in np.argwhere(np.triu(close, 1)) if held[i, j] + held[j, i] > 0]


def assert_no_move_helps(solution, D, W):
    """Move either of two points on one spot some way in some directions: the stress must not fall."""
    X, rng = solution.coordinates, np.random.default_rng(0)
    size = np.sqrt((X**2).sum(axis=1).mean())
    for pair in stacked(X, D, W):
        for point in pair:
            for step in (1e-3, 1e-2, 1e-1):
                moved = X.copy()
                way = rng.normal(size=X.shape[1])
                moved[point] += step * size * way / np.linalg.norm(way)
                assert slow_stress(moved, D, W, solution.drift) >= (1 - 1e-9) * solution.stress


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "asymmetric", "missing", "hinge"])
@pytest.mark.parametrize("m", [1, 2, 3])
@pytest.mark.parametrize("alpha", [0.0, 0.4, "auto"])
def test_a_start_with_points_on_one_spot_is_left(kind, m, alpha):
    """Majorization alone keeps them there for ever."""
    X, D, W = random_problem(0, n=10, m=m, kind=kind)
    D = np.where(np.isnan(D), 0, D)
    X[7] = X[4] = X[3]
    solution = smacof(Dissimilarities(D, W), m, alpha, init=X, max_iter=3000)
    assert solution.status == "converged"
    assert stacked(solution.coordinates, D, W) == []
    assert (np.diff(solution.history) <= 0).all()
    assert solution.n_iter == len(solution.history) - 1


@pytest.mark.parametrize("n_init", [1, "auto"])
def test_the_unit_of_equidistant_points_does_not_decide(n_init):
    for n in (4, 8, 16, 40):
        found = []
        for unit in (1.0, 3.7, 1e-3, 5280.0):
            D = unit * (1 - np.eye(n))
            solution = smacof(Dissimilarities(D), 2, 0.0, n_init=n_init)
            assert_no_move_helps(solution, D, None)
            assert stacked(solution.coordinates, D, None) == []
            found.append(solution.normalized_stress)
        assert max(found) < 1.001 * min(found) or n_init == 1
        assert max(found) < 0.43


@pytest.mark.parametrize("n_init", [1, "auto"])
def test_hop_distances(n_init):
    networkx = pytest.importorskip("networkx")
    graphs = [networkx.les_miserables_graph()]
    graphs += [networkx.random_labeled_tree(12 + seed, seed=seed) for seed in range(12)]
    for graph in graphs:
        D = np.array(networkx.floyd_warshall_numpy(graph, weight=None))
        solution = smacof(Dissimilarities(D), 2, 0.0, n_init=n_init)
        assert_no_move_helps(solution, D, None)


def test_points_that_belong_on_one_spot_stay_there():
    X, _, _ = random_problem(0, n=12, m=2)
    X[5] = X[2]
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)) * np.random.default_rng(0).uniform(0.9, 1.1, 12)
    D = (D + D.T) / 2
    D[5], D[:, 5] = D[2], D[:, 2]
    D[5, 5] = D[2, 5] = D[5, 2] = 0
    found = smacof(Dissimilarities(D), 2, 0.0, init=X).coordinates
    np.testing.assert_allclose(found[5], found[2], atol=1e-9)
