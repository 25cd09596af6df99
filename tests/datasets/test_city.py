import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components

from finsler.datasets.city import make_city


def test_every_crossing_reaches_every_other_and_arcs_join_neighbors():
    city = make_city(900, random_state=3)
    assert connected_components(city.graph, directed=True, connection="strong")[0] == 1
    rows, columns = city.graph.nonzero()
    assert (np.abs(city.points[rows] - city.points[columns]).sum(axis=1) == 1).all()
    assert (city.graph.data == 1).all()


def test_one_way_streets_have_arcs_in_one_direction_only():
    open_city = make_city(2500, one_way=0, closed=0, closed_uphill=0)
    assert open_city.graph.nnz == 4 * 50 * 49
    city = make_city(2500, one_way=0.5, closed=0, closed_uphill=0)
    both_ways = (city.graph.multiply(city.graph.T)).nnz
    assert (
        0.2 < (city.graph.nnz - both_ways) / city.graph.nnz < 0.5
    )  # of three arcs a pair of streets, one is single


def test_closures_make_climbing_longer():
    city = make_city(2500, one_way=0, closed=0, closed_uphill=0.4)
    rows, columns = city.graph.nonzero()
    step = (city.points[columns] - city.points[rows])[:, 1]
    up, down = np.count_nonzero(step > 0), np.count_nonzero(step < 0)
    assert 0.5 < up / down < 0.7


def test_slope_gives_lengths():
    city = make_city(400, slope=0.25)
    rows, columns = city.graph.nonzero()
    step = (city.points[columns] - city.points[rows])[:, 1]
    np.testing.assert_allclose(city.graph.data, 1 + 0.25 * step)


def test_seeds():
    a, b, c = (make_city(400, random_state=s) for s in (1, 1, 2))
    assert (a.graph != b.graph).nnz == 0
    assert a.graph.shape != c.graph.shape or (a.graph != c.graph).nnz > 0


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n": 3}, "n must be"),
        ({"n": 10.5}, "n must be"),
        ({"one_way": 1.5}, "one_way"),
        ({"closed": 1}, "closed"),
        ({"slope": -0.1}, "slope"),
    ],
)
def test_bad_options(options, match):
    with pytest.raises(ValueError, match=match):
        make_city(**options)
