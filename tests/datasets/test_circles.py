import numpy as np
import pytest

from finsler.datasets import make_gyre, make_ring_road
from finsler.errors import InputError


def test_with_the_water_it_is_faster():
    sea = make_gyre(40, speed=0.4)
    assert np.linalg.norm(sea.points, axis=1).max() <= 1
    np.testing.assert_allclose(np.linalg.norm(sea.current, axis=1), 0.4 * np.linalg.norm(sea.points, axis=1))
    x, y = sea.points.T
    ahead = (
        x[:, None] * y[None, :] - y[:, None] * x[None, :] > 0.3
    )  # counterclockwise, and far from the middle
    assert (sea.times < sea.times.T)[ahead].mean() > 0.99
    np.testing.assert_array_equal(make_gyre(40, speed=0.4).times, sea.times)
    still = make_gyre(20, speed=0.0)
    np.testing.assert_allclose(still.times, still.times.T)
    with pytest.raises(InputError, match="speed"):
        make_gyre(5, speed=1.0)


def test_a_ring_road():
    town = make_ring_road(12, n_spokes=4, against=3.0)
    assert len(town.points) == 12 + 4 * 3 + 1
    assert town.costs[0, 1] == 1
    assert town.costs[1, 0] == 3
    assert town.costs[0, -1] == pytest.approx(1.3 * 12 / (2 * np.pi))
    for bad in ({"n_spokes": 5}, {"against": 0.0}):
        with pytest.raises(InputError, match=next(iter(bad))):
            make_ring_road(12, **bad)
