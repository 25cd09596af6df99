"""Layouts as networkx has them."""

import networkx as nx
import numpy as np
import pytest

import finsler

QUICK = {"n_init": 1}


@pytest.fixture(scope="module")
def streams():
    return nx.balanced_tree(2, 3, create_using=nx.DiGraph)


def test_conventions_are_those_of_networkx(streams):
    ours, theirs = finsler.layout(streams, **QUICK), nx.kamada_kawai_layout(streams)
    for positions in (ours, theirs):
        X = np.array([*positions.values()])
        assert list(positions) == list(streams)
        np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
        assert np.abs(X).max() == pytest.approx(1)
    moved = finsler.layout(streams, scale=3, center=[10, -5], **QUICK)
    for node in streams:
        np.testing.assert_allclose(moved[node], 3 * ours[node] + [10, -5])
    assert finsler.layout(streams, dim=3, **QUICK)[0].shape == (3,)
    assert finsler.layout(streams, dim=1, **QUICK)[0].shape == (1,)
    nx.draw_networkx(streams, ours)


def test_positions_are_stored(streams):
    G = streams.copy()
    positions = finsler.layout(G, store_pos_as="pos", **QUICK)
    assert all(G.nodes[node]["pos"] is positions[node] for node in G)
    assert finsler.layout(streams, store_pos_as=None, **QUICK).keys() == positions.keys()
    assert "pos" not in streams.nodes[0]


def test_arcs_of_a_tree_point_down(streams):
    positions = finsler.layout(streams, **QUICK)
    assert all(positions[u][1] > positions[v][1] for u, v in streams.edges)


def test_units_of_the_lengths_are_kept_without_a_scale():
    G = nx.DiGraph()
    G.add_weighted_edges_from([("a", "b", 3.0), ("b", "a", 3.0)])
    apart = finsler.layout(G, scale=None, dim=1)
    assert abs(apart["a"] - apart["b"]) == pytest.approx(3)
    assert abs(finsler.layout(G, scale=None, dim=1, weight=None)["a"] - 0.5) == pytest.approx(0)


def test_parts_lie_side_by_side():
    parts = [nx.cycle_graph(6), nx.path_graph(4), nx.path_graph(2), nx.empty_graph(2)]
    G = nx.disjoint_union_all([part.to_directed() for part in parts])
    positions = np.array([*finsler.layout(G, **QUICK).values()])
    assert np.isfinite(positions).all()
    part = np.repeat(np.arange(5), [6, 4, 2, 1, 1])
    boxes = [(positions[part == k].min(axis=0), positions[part == k].max(axis=0)) for k in range(5)]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[i + 1 :]:
            assert ((other_low > high) | (other_high < low)).any()


def test_small_graphs():
    assert finsler.layout(nx.DiGraph()) == {}
    alone = nx.DiGraph()
    alone.add_node("a")
    np.testing.assert_array_equal(finsler.layout(alone, center=[1, 2])["a"], [1, 2])
    pair = finsler.layout(nx.DiGraph([("up", "down")]))
    assert pair["up"][1] > pair["down"][1]


@pytest.mark.parametrize(
    ("argument", "value"),
    [("center", [1, 2, 3]), ("dim", 0), ("scale", -1.0), ("unreachable", "raise"), ("alpha", 2.0)],
)
def test_what_cannot_be_used_is_refused_by_name(streams, argument, value):
    with pytest.raises(ValueError, match=argument) as refused:
        finsler.layout(streams, **{argument: value})
    assert refused.value.argument in (argument, None)
