"""One line from data to a map, whatever the data, and the same map by every way in."""

import numpy as np
import pandas as pd
import pytest

from finsler import FinslerMDS, embed_graph, embed_matrix, embed_points, load_flight_hours
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances
from finsler.graphs.digraph import as_digraph

from helpers import done


@pytest.fixture
def city():
    return as_digraph(make_city(400).graph)


@pytest.fixture
def large(monkeypatch):
    """Graphs of more than 100 nodes are large here."""
    monkeypatch.setattr("finsler.graphs.distances.DENSE_NODES", 100)


# --- the same map by every way in -----------------------------------------------------------------------------


def test_demo_recipe_estimator_and_command_line_give_the_same_picture(tmp_path):
    flights = load_flight_hours()
    recipe = embed_matrix(flights.hours, labels=flights.codes).coordinates
    estimator = FinslerMDS().fit(pd.DataFrame(flights.hours, flights.codes, flights.codes)).embedding_
    done("demo", tmp_path / "demo")
    done("embed", tmp_path / "demo" / "flight_hours.csv", "--out", tmp_path / "map.csv")
    size = np.abs(recipe).max()
    np.testing.assert_allclose(estimator, recipe, atol=1e-9)
    for file in (tmp_path / "demo" / "flight_map.csv", tmp_path / "map.csv"):
        found = pd.read_csv(file, index_col=0)
        assert list(found.index) == flights.codes
        np.testing.assert_allclose(found[["x1", "height"]].to_numpy(), recipe, atol=1e-3 * size)


@pytest.mark.parametrize("init", ["classical", "isomap", "random"])
def test_every_start_gives_the_same_picture(init):
    X = np.random.default_rng(3).gamma(2.0, size=(40, 3))
    D = randers_distances(X, drift=0.3) * np.random.default_rng(0).uniform(0.98, 1.02, size=(40, 40))
    expected = embed_matrix(D, n_components=3, alpha=0.3, tol=1e-12).coordinates
    found = embed_matrix(D, n_components=3, alpha=0.3, init=init, n_init=4, random_state=1, tol=1e-12)
    np.testing.assert_allclose(found.coordinates, expected, atol=1e-2 * np.abs(expected).max())


def test_the_closed_form_and_the_iterations_show_the_same_side():
    hours = load_flight_hours().hours
    iterated, closed = embed_matrix(hours), embed_matrix(hours, solver="classical")
    assert closed.status == "closed_form"
    assert closed.alpha == pytest.approx(iterated.alpha, abs=0.1)
    assert np.corrcoef(iterated.coordinates[:, 0], closed.coordinates[:, 0])[0, 1] > 0.9
    with pytest.raises(InputError, match="solver"):
        embed_matrix(hours, solver="classical", weights=np.ones(hours.shape))
    with pytest.raises(InputError, match="solver must be"):
        embed_matrix(hours, solver="quick")


# --- graphs ---------------------------------------------------------------------------------------------------


def test_the_method_is_chosen_by_size_and_is_a_fact_of_the_result(city, large):
    chosen = embed_graph(city, n_pivots=20, random_state=0)
    facts = chosen.provenance
    assert (facts.method, facts.chosen, facts.n_pivots) == ("sparse", True, 20)
    assert "20 pivots" in chosen.summary()
    dense = embed_graph(city, method="dense")
    assert (dense.provenance.method, dense.provenance.chosen) == ("dense", False)
    assert dense.data is not None
    forced = embed_graph(city, method="sparse", n_pivots=20, random_state=0)
    assert not forced.provenance.chosen
    np.testing.assert_array_equal(forced.coordinates, chosen.coordinates)


def test_keywords_do_not_depend_on_the_size_of_the_graph(city, large):
    """Beyond 5,000 nodes n_init raised, and random_state and labels had other defaults."""
    small = city.subgraph(np.arange(60))
    options = {
        "n_init": 2,
        "init": "isomap",
        "max_iter": 20,
        "tol": 1e-3,
        "accelerate": True,
        "time_limit": 60.0,
    }
    options |= {
        "callback": None,
        "random_state": 0,
        "n_jobs": 1,
        "verbose": False,
        "solver": "smacof",
        "n_pivots": 10,
    }
    maps = [embed_graph(graph, unreachable="largest", **options) for graph in (small, city)]
    assert [found.provenance.method for found in maps] == ["dense", "sparse"]
    unlabeled = [
        embed_graph(graph, hops=True, n_pivots=10) for graph in (as_digraph(([0, 1, 2], [1, 2, 0])), city)
    ]
    assert [found.labels for found in unlabeled] == [None, None]
    assert unlabeled[1].distance(3, 5) >= 0


@pytest.mark.parametrize("method", ["dense", "sparse"])
def test_without_a_random_state_every_method_draws_anew(city, method):
    """The sparse map had random_state=0, the dense one None."""
    options = {"method": method, "unreachable": "largest", "init": "random", "alpha": 0.1, "tol": 0.5}
    if method == "sparse":
        options["n_pivots"] = 10
    maps = []
    for seed in (0, 0, 1):
        np.random.seed(seed)  # noqa: NPY002 - None is numpy's global state, as in scikit-learn
        maps.append(embed_graph(city, **options).coordinates)
    np.testing.assert_array_equal(maps[0], maps[1])
    assert not np.allclose(maps[0], maps[2])


def test_what_a_method_does_not_support_is_refused_by_method(city, large, monkeypatch):
    monkeypatch.setattr("finsler.graphs.pivots.pivot_distances", None)  # before the distances are computed
    for options, name in (
        ({"nodes": [0, 1]}, "nodes"),
        ({"solver": "classical"}, "solver"),
        ({"n_pivots": 1}, "n_pivots"),
        ({"n_pivots": 2.5}, "n_pivots"),
        ({"weighting": "cubic"}, "weighting"),
        ({"far": 3.0}, "far"),
        ({"far": 0, "unreachable": "hinge"}, "far"),
        ({"n_components": 0}, "n_components"),
        ({"n_init": 0}, "n_init"),
        ({"bound": 3.0}, "bound"),
    ):
        with pytest.raises(InputError, match=name):
            embed_graph(city, method="sparse", **options)
    for method in ("auto", "dense"):
        with pytest.raises(InputError, match="checkpoint goes with method='sparse'"):
            embed_graph(city, method=method, checkpoint="state.npz")
    with pytest.raises(InputError, match="method must be"):
        embed_graph(city, method="quick")


def test_pivots_that_do_not_count_are_told(city):
    """Before: n_pivots was ignored without a word where all pairs were taken."""
    small = city.subgraph(np.arange(60))
    dense = embed_graph(small, unreachable="largest", n_pivots=10)
    assert "n_pivots" in " ".join(dense.sentences())
    assert "n_pivots" not in " ".join(embed_graph(small, unreachable="largest").sentences())
    with pytest.raises(InputError, match="n_pivots goes with method='sparse'"):
        embed_graph(small, method="dense", n_pivots=10)


def test_some_nodes_and_the_closed_form_are_dense_whatever_the_size(city, large):
    assert embed_graph(city, nodes=[0, 5, 9], alpha=0.2).n_points == 3
    closed = embed_graph(city, unreachable="largest", solver="classical")
    assert (closed.status, closed.provenance.method) == ("closed_form", "dense")


def test_an_option_that_does_not_exist_is_named_with_a_hint(city):
    for recipe, data in (
        (embed_graph, city),
        (embed_matrix, np.zeros((2, 2))),
        (embed_points, np.zeros((2, 2))),
    ):
        with pytest.raises(InputError, match=r"no option 'n_int'.*n_init"):
            recipe(data, n_int=3)


def test_how_to_read_a_graph_is_said_by_keywords():
    arcs = pd.DataFrame(
        {"a": ["x", "y", "z"], "b": ["y", "z", "x"], "minutes": [1.0, 2.0, 3.0], "meters": [9.0, 9.0, 9.0]}
    )
    found = embed_graph(arcs, source="a", target="b", weight="minutes", alpha=0.2)
    assert found.labels == ["x", "y", "z"]
    assert found.data.matrix[0].tolist() == [0, 1, 3]
    both = embed_graph(arcs, source="a", target="b", weight="minutes", directed=False, alpha=0.0)
    assert both.data.matrix[0].tolist() == [0, 1, 3]
    assert both.data.matrix[1].tolist() == [1, 0, 2]
    again = pd.concat([arcs, arcs.assign(minutes=5.0)])
    with pytest.raises(InputError, match="duplicates"):
        embed_graph(again, source="a", target="b", weight="minutes", duplicates="raise")


def test_a_sparse_map_says_how_well_it_does_on_other_pairs(city, tmp_path):
    found = embed_graph(city, method="sparse", n_pivots=20, random_state=0)
    assert found.held_out.n_sources == 20
    shown = found.asymmetry_shown()
    assert shown.n_rows == 20
    assert "20 rows" in found.summary()


# --- points ---------------------------------------------------------------------------------------------------


def test_labels_of_points():
    points = np.random.default_rng(0).uniform(size=(30, 2))
    options = {"drift": [0.2, 0.0], "n_components": 2, "alpha": 0.3}
    named = embed_points(points, labels=[f"p{i}" for i in range(30)], **options)
    assert named.labels[7] == "p7"
    np.testing.assert_array_equal(named.coordinates, embed_points(points, **options).coordinates)
    assert named.provenance.kind == "points"
    with pytest.raises(InputError, match="labels"):
        embed_points(points, labels=["a"], **options)
