"""The Swiss roll with a hole (the paper's experiment): wormhole weights recover the sheet, uniform weights do not."""

import numpy as np
import pytest

from finsler.data.matrix import Dissimilarities
from finsler.datasets import make_swiss_roll
from finsler.graphs.neighbors import geodesic_distances
from finsler.graphs.wormholes import consistency_weights
from finsler.solvers.smacof import smacof

SHORT = 3.0  # pairs closer than this are kept whatever the criterion says


@pytest.fixture(scope="module")
def roll():
    data = make_swiss_roll(2000, alpha=0.5, hole=True, random_state=3)
    field = {"n_neighbors": 15, "rule": "start"}  # the paper's rule
    data.D = geodesic_distances(data.points, drift=data.drift, **field).matrix
    data.D_full = geodesic_distances(data.full_points, drift=data.full_drift, **field).matrix
    data.D_full = data.D_full[np.ix_(data.kept, data.kept)]
    return data


def correlation(X, Y):
    """Squared Procrustes correlation: 1 when X is Y but for shift, rotation, reflection and scale."""
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    return np.linalg.svd(X.T @ Y, compute_uv=False).sum() ** 2 / ((X**2).sum() * (Y**2).sum())


def test_the_pure_criterion_raises_no_false_alarm(roll):
    certified = consistency_weights(roll.D, roll.points, roll.boundary, bound=0.5) > 0
    share = certified.mean()
    assert 0.05 < share < 0.2
    wrong = 1.01 * roll.D_full < roll.D
    assert wrong.mean() > 0.4, "many pairs are longer round the hole, or this test shows nothing"
    assert not (certified & wrong).any()


@pytest.mark.parametrize("symmetric", [True, False])
def test_wormhole_weights_recover_the_sheet(roll, symmetric):
    weights = consistency_weights(
        roll.D, roll.points, roll.boundary, bound=0.5, symmetric=symmetric, keep=SHORT
    )
    solution = smacof(Dissimilarities(roll.D, weights), 2, 0.5, max_iter=2000)
    assert correlation(solution.coordinates, roll.coordinates) >= 0.9998


def test_uniform_weights_do_not(roll):
    solution = smacof(Dissimilarities(roll.D), 2, 0.5)
    assert 0.75 < correlation(solution.coordinates, roll.coordinates) < 0.85
