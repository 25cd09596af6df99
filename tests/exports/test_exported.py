"""What people take out of a map: routes along the digraph behind it, and the pairs that it shows worst."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from finsler import Embedding, embed_graph, embed_matrix, embed_points
from finsler.errors import InputError, UnknownLabelError

from helpers import incomplete_map, noisy_map, slow_distance

LANES = [("dam", "mill", 1.0), ("mill", "port", 1.0), ("port", "bank", 1.5), ("bank", "dam", 1.5)]


def test_routes_are_those_of_the_graph_behind_the_map(tmp_path):
    found = embed_graph(LANES)
    route = found.route("dam", "port")
    assert (route.labels, route.length) == (["dam", "mill", "port"], 2.0)
    assert (route.back.labels, route.back.length) == (["port", "bank", "dam"], 3.0)
    assert route.embedding is found
    assert found.data.matrix[found.index("dam"), found.index("port")] == route.length
    again = Embedding.load(found.save(tmp_path / "map.npz")).route("dam", "port")
    assert again.labels == route.labels


def test_routes_pass_nodes_that_are_not_on_the_map_and_may_end_there():
    found = embed_graph(LANES, nodes=["port", "dam"], alpha=0.2)
    assert found.route("dam", "port").labels == ["dam", "mill", "port"]
    assert found.route(1, 0).labels == ["dam", "mill", "port"]  # points by number, as everywhere
    assert found.route("bank", "mill").labels == ["bank", "dam", "mill"]
    with pytest.raises(UnknownLabelError, match="'pier'"):
        found.route("pier", "dam")


def test_where_a_map_counts_arcs_its_routes_have_the_fewest():
    arcs = [("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 9.0), ("c", "a", 1.0)]
    assert embed_graph(arcs, alpha=0.2).route("a", "c").labels == ["a", "b", "c"]
    fewest = embed_graph(arcs, hops=True, alpha=0.2).route("a", "c")
    assert (fewest.labels, fewest.length) == (["a", "c"], 1.0)


def test_ways_in_a_current_take_their_time():
    lane = embed_points([[0.0], [0.5], [1.0]], current=[1 / 3], n_neighbors=1, n_components=2)
    route = lane.route(0, 2)
    assert route.labels == [0, 1, 2]
    assert (route.length, route.back.length) == (pytest.approx(0.75), pytest.approx(1.5))


def test_maps_without_a_graph_have_no_routes():
    with pytest.raises(InputError, match="no graph or field is behind it"):
        embed_matrix([[0, 3], [2, 0]], alpha=0.2).route(0, 1)


def all_misfits(found):
    """Every ordered pair with its part in the stress, the slow way."""
    data, rows = found.data, []
    for i, j in itertools.permutations(range(found.n_points), 2):
        weight = 1.0 if data.weights is None else data.weights[i, j]
        value = data.matrix[i, j]
        if weight == 0 or not np.isfinite(value):
            continue
        far = slow_distance(found.coordinates[i], found.coordinates[j], found.drift)
        error = far - value if value >= 0 else min(far + value, 0.0)
        rows.append((weight * error**2, i, j, abs(value), far, value < 0))
    return sorted(rows, reverse=True)


@pytest.mark.parametrize("make", [noisy_map, incomplete_map])
def test_worst_pairs_against_all_pairs(make):
    found = make()
    expected = all_misfits(found)
    total = sum(row[0] for row in expected)
    assert total == pytest.approx(found.stress)
    worst = found.worst_pairs(7)
    assert [(pair.source, pair.target) for pair in worst] == [(i, j) for _, i, j, *_ in expected[:7]]
    for pair, (part, _, _, value, far, bound) in zip(worst, expected, strict=False):
        assert (pair.in_data, pair.bound) == (value, bound)
        assert pair.on_map == pytest.approx(far)
        assert pair.residual == pytest.approx(far - value)
        assert pair.share == pytest.approx(part / total)
    everything = found.worst_pairs(10_000)
    assert len(everything) == sum(row[0] > 1e-18 for row in expected)
    assert sum(pair.share for pair in everything) == pytest.approx(1.0)


def test_worst_pairs_bear_labels_and_an_exact_map_has_none():
    exact = embed_matrix([[0, 3], [2, 0]], labels=["A", "B"], alpha=0.2)
    assert exact.worst_pairs() == []
    found = noisy_map(labels=[f"p{i}" for i in range(12)])
    assert found.worst_pairs(1)[0].source.startswith("p")


def test_worst_pairs_need_the_data():
    with pytest.raises(InputError, match="carries none"):
        replace(noisy_map(), data=None).worst_pairs()
