"""A bow-tie: a few nodes that lead into a core, and a fan that leads out of it."""

import networkx as nx
import numpy as np
import pytest

from finsler import embed_graph
from finsler.graphs import as_digraph, graph_distances
from finsler.graphs.bow_tie import bow_tie


def arcs_of_bow_tie(seed=0, n_above=4, n_core=30, n_below=40):
    """Arcs between nodes t0 ... above, c0 ... in a ring with chords, b0 ... in a tree below."""
    rng = np.random.default_rng(seed)
    ring = [(f"c{i}", f"c{(i + step) % n_core}") for i in range(n_core) for step in (1, -1)]
    chords = [(f"c{i}", f"c{(i + int(rng.integers(2, n_core - 1))) % n_core}") for i in range(n_core)]
    into = [(f"t{i}", f"c{j}") for i in range(n_above) for j in rng.choice(n_core, 3, replace=False)]
    out = [(f"c{rng.integers(n_core)}" if k < 10 else f"b{rng.integers(k)}", f"b{k}") for k in range(n_below)]
    return [*ring, *chords, *into, *out]


LOOSE = [("x", "y"), ("y", "z")]


def ranges(embedding):
    """Lowest and highest point of each kind."""
    heights = {kind: [] for kind in "tcb"}
    for name, height in zip(embedding.labels, embedding.height, strict=True):
        heights[name[0]].append(height)
    return {kind: (min(found), max(found)) for kind, found in heights.items()}


def test_parts_are_those_that_networkx_finds():
    rng = np.random.default_rng(0)
    for _ in range(20):
        graph = nx.gnp_random_graph(40, 0.04, seed=int(rng.integers(10**6)), directed=True)
        parts = sorted(nx.strongly_connected_components(graph), key=lambda part: (-len(part), min(part)))
        core = parts[0]
        below = nx.descendants(graph, min(core)) - core
        above = nx.ancestors(graph, min(core)) - core
        found = bow_tie(as_digraph(graph).matrix)
        assert found == (len(above), len(core), len(below), 40 - len(core) - len(below) - len(above))


def test_arcs_of_length_zero_lead_on():
    assert bow_tie(
        as_digraph([("a", "b", 0.0), ("b", "c", 1.0), ("c", "d", 2.0), ("d", "b", 0.0)]).matrix
    ) == (1, 3, 0, 0)


@pytest.mark.filterwarnings("ignore:.*max_iter")
@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_hinge_shows_it_from_the_top_to_the_bottom(method):
    options = {"method": method, "unreachable": "hinge", "connection": "weak", "max_iter": 200, "n_init": 1}
    options["random_state"] = 0
    found = embed_graph([*LOOSE, *arcs_of_bow_tie()], **options)
    height = ranges(found)
    assert height["t"][0] > height["c"][1]
    assert height["c"][0] > np.median(found.height[[name[0] == "b" for name in found.labels]])
    if method == "dense":
        assert height["c"][0] > height["b"][1]
    assert found.provenance.left_out == ("x", "y", "z")
    assert not found.provenance.bow_tie


@pytest.mark.filterwarnings("ignore:.*max_iter")
@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_maps_that_hide_it_say_so(method):
    found = embed_graph(arcs_of_bow_tie(), method=method, max_iter=5, n_init=1)
    assert found.provenance.bow_tie == (4, 30, 40, 0)
    assert "unreachable='hinge'" in found.summary()


def test_a_cycle_with_a_tail_of_few_is_no_bow_tie():
    assert not graph_distances([("a", "b"), ("b", "a"), ("b", "c")]).provenance.bow_tie


def test_refusals_of_parts_advise_it():
    with pytest.raises(ValueError, match=r"4 above a core of 30.*unreachable='hinge', connection='weak'"):
        graph_distances([*LOOSE, *arcs_of_bow_tie()])
    with pytest.raises(ValueError, match="parts") as refused:
        graph_distances([("a", "b"), ("c", "d")])
    assert "bow-tie" not in str(refused.value)


def test_connection_goes_with_every_policy():
    arcs = [("a", "b"), ("b", "a"), ("b", "c"), ("x", "y")]
    for policy in ("mask", "hinge", "largest"):
        data = graph_distances(arcs, unreachable=policy, connection="weak")
        assert data.labels == ["a", "b", "c"]
        assert data.provenance.left_out == ("x", "y")
        assert (data.matrix < 0).any() == (policy == "hinge")
        strong = graph_distances(arcs, unreachable=policy, connection="strong")
        assert strong.labels == ["a", "b"]
    with pytest.raises(ValueError, match="no path"):
        graph_distances(arcs, unreachable="raise", connection="weak")
