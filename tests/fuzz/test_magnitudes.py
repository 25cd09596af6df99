"""Numbers at the ends of what floats can hold: right answers, or a refusal that names the argument."""

from __future__ import annotations

import numpy as np
import pytest

from finsler import FinslerMDS, InputError, embed_matrix, randers_distances
from finsler.solvers.placement import place

X = np.random.default_rng(0).normal(size=(12, 2))
D = randers_distances(X, drift=0.3)


@pytest.mark.parametrize("unit", [1e25, 1e-25, 1e30])
def test_single_precision_is_left_where_squares_would_overflow(unit):
    found = embed_matrix((D * unit).astype(np.float32), alpha=0.3)
    assert found.normalized_stress < 1e-5
    np.testing.assert_allclose(found.distances() / unit, D, atol=1e-4)


@pytest.mark.parametrize("unit", [1e300, 1e-300, 5e-324])
def test_absurd_magnitudes_of_data(unit):
    with pytest.raises(InputError, match="rescale") as caught:
        embed_matrix(np.where(np.eye(4), 0, unit))
    assert caught.value.argument == "D"


@pytest.mark.parametrize("unit", [1e300, 1e-300, 5e-324])
def test_absurd_magnitudes_of_weights(unit):
    with pytest.raises(InputError, match="rescale the weights") as caught:
        embed_matrix(D, weights=np.full(D.shape, unit))
    assert caught.value.argument == "weights"


@pytest.mark.parametrize("unit", [2.0**-60, 1e-12, 1e12, 2.0**200])
@pytest.mark.parametrize(
    "start", [X, np.zeros((12, 2)), X[:, :1] * [1.0, 0.0], "classical", "isomap", "random"]
)
def test_starts_do_not_depend_on_the_unit_of_the_weights(start, unit):
    # A given or flat start was scaled by sqrt(sum w D^2), which is no length.
    W = np.random.default_rng(1).uniform(0.5, 1, D.shape)
    noisy = D * np.random.default_rng(2).uniform(0.8, 1.2, D.shape)
    # A single start: after five iterations, rounding may decide which of several is ahead.
    options = {"alpha": 0.3, "init": start, "max_iter": 5, "tol": 0.0, "random_state": 0, "n_init": 1}
    with pytest.warns(UserWarning, match="max_iter"):
        plain, scaled = (FinslerMDS(**options).fit(noisy, weights=W * c).embedding_ for c in (1.0, unit))
    np.testing.assert_allclose(scaled, plain, atol=1e-9)


def test_one_point_with_weights():
    found = FinslerMDS(1, alpha=0.2).fit([[0.0]], weights=[[1.0]])
    assert found.embedding_.tolist() == [[0.0]]


@pytest.mark.parametrize("unit", [2.0**-40, 2.0**60])
def test_placing_does_not_depend_on_the_unit(unit):
    rows = randers_distances([[0.3, 0.4]], X, drift=0.3)
    plain = place(X, 0.3, to_fitted=rows).coordinates
    np.testing.assert_array_equal(place(X * unit, 0.3, to_fitted=rows * unit).coordinates, unit * plain)
