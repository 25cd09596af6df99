"""The Swiss roll of the paper, with the figures that the mathematics page of the project expects."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.neighbors import kneighbors_graph

from finsler.data.matrix import as_dissimilarities
from finsler.datasets import make_swiss_roll
from finsler.solvers.classical import classical
from finsler.solvers.smacof import smacof


def roll_distances(n, alpha=0.3, seed=1):
    """Graph distances as in the paper, and from its seed: the drift is taken at the start of an edge."""
    roll = make_swiss_roll(n, alpha=alpha, random_state=seed)
    near = kneighbors_graph(roll.points, 10)
    i, j = (near + near.T).nonzero()
    u = roll.points[j] - roll.points[i]
    length = np.linalg.norm(u, axis=1) + (roll.drift[i] * u).sum(axis=1)
    return dijkstra(csr_array((length, (i, j)), shape=(n, n)))


@pytest.mark.parametrize("init", ["classical", "isomap", "random"])
def test_one_thousand_points(init):
    D = roll_distances(1000)
    solution = smacof(as_dissimilarities(D), 3, 0.5, init=init, random_state=0)
    assert solution.stress / (D**2).sum() <= 9.12e-5
    assert solution.status == "converged"


def test_three_thousand_points_in_few_passes():
    D = roll_distances(3000)
    data = as_dissimilarities(D)
    start = classical(data, 3, 0.5)
    solution = smacof(data, 3, 0.5)
    assert solution.stress / (D**2).sum() <= 3.40e-5
    assert solution.stress < start.stress
    assert solution.n_passes < 40
