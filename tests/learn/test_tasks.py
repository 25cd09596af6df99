"""Splits of links: what is held out stays hidden, the forest stays whole, and tasks ask what they say."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import roc_auc_score

from finsler.graphs.digraph import as_digraph
from finsler.learn.tasks import LinkTasks, PairTask, roc_auc, score_links, spanning_forest, split_links

from helpers import real_file


def random_arcs(seed, n=60, degree=4.0, reciprocal=0.2):
    rng = np.random.default_rng(seed)
    arcs = np.argwhere(rng.random((n, n)) < degree / n)
    arcs = arcs[arcs[:, 0] != arcs[:, 1]]
    both = arcs[rng.random(len(arcs)) < reciprocal]
    return np.unique(np.concatenate([arcs, both[:, ::-1]]), axis=0)


def unordered(arcs):
    return {(min(i, j), max(i, j)) for i, j in np.asarray(arcs).tolist()}


def slow_kruskal(pairs, n, order):
    parent = list(range(n))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    kept = np.zeros(len(pairs), dtype=bool)
    for place in np.argsort(order):
        i, j = (root(k) for k in pairs[place])
        if i != j:
            parent[i] = j
            kept[place] = True
    return kept


def n_components(arcs, n):
    graph = coo_array((np.ones(len(arcs)), (arcs[:, 0], arcs[:, 1])), shape=(n, n))
    return connected_components(graph, connection="weak")[0]


@pytest.mark.parametrize("forest", ["random", "index"])
@pytest.mark.parametrize("seed", range(3))
def test_nothing_leaks(seed, forest):
    """No held-out pair, in either direction, is among the observed arcs; observed and held out make the whole graph."""
    arcs = random_arcs(seed)
    split = split_links(arcs, random_state=seed, forest=forest, n_nodes=60)
    observed, test, validation = (
        unordered(a) for a in (split.observed, split.test_pairs, split.validation_pairs)
    )
    assert not observed & test
    assert not observed & validation
    assert not test & validation
    assert observed | test | validation == unordered(arcs)
    kept = {tuple(a) for a in arcs.tolist() if (min(a), max(a)) in observed}
    assert {tuple(a) for a in split.observed.tolist()} == kept  # both arcs of a reciprocal pair, or none


@pytest.mark.parametrize("forest", ["random", "index"])
def test_fractions_and_connection(forest):
    arcs = random_arcs(7, n=200)
    n_pairs = len(unordered(arcs))
    split = split_links(arcs, random_state=3, forest=forest)
    assert len(split.test_pairs) == round(0.15 * n_pairs)
    assert len(split.validation_pairs) == round(0.05 * (n_pairs - len(split.test_pairs)))
    assert n_components(split.observed, 200) == n_components(arcs, 200)


@pytest.mark.parametrize("order", ["random", "index"])
@pytest.mark.parametrize("seed", range(3))
def test_forest_is_that_of_kruskal(seed, order):
    pairs = np.array(sorted(unordered(random_arcs(seed, degree=3))))
    ranks = np.arange(len(pairs)) if order == "index" else np.random.default_rng(seed).permutation(len(pairs))
    np.testing.assert_array_equal(spanning_forest(pairs, 60, ranks), slow_kruskal(pairs, 60, ranks))


def test_index_forest_is_never_held_out():
    arcs = random_arcs(4)
    pairs = np.array(sorted(unordered(arcs)))
    forest = pairs[slow_kruskal(pairs, 60, np.arange(len(pairs)))]
    for seed in range(5):
        split = split_links(arcs, random_state=seed, forest="index", n_nodes=60)
        assert unordered(forest) <= unordered(split.observed)
    random = [unordered(split_links(arcs, random_state=seed, n_nodes=60).observed) for seed in range(5)]
    assert not all(unordered(forest) <= observed for observed in random)


@pytest.mark.parametrize("part", ["test", "validation"])
@pytest.mark.parametrize("seed", range(3))
def test_tasks_ask_what_they_say(seed, part):
    arcs = random_arcs(seed, n=150, degree=6)
    there = {tuple(a) for a in arcs.tolist()}
    split = split_links(arcs, random_state=seed)
    tasks, held_out = getattr(split, part), unordered(getattr(split, part + "_pairs"))
    one_way = {p for p in held_out if not (p in there and p[::-1] in there)}

    shown = [tuple(p) for p in tasks.direction.pairs.tolist()]
    assert len(shown) == len(one_way)
    assert unordered(shown) == one_way
    assert [p in there for p in shown] == tasks.direction.labels.tolist()
    assert tasks.direction.labels.sum() == -(-len(shown) // 2)

    true_order = {p for p in shown if p in there}
    for task in (tasks.existence_mixed, tasks.existence_random):
        positives = [tuple(p) for p in task.pairs[task.labels].tolist()]
        negatives = [tuple(p) for p in task.pairs[~task.labels].tolist()]
        assert set(positives) == true_order
        assert len(positives) == len(true_order) == len(negatives) == len(set(negatives))
        assert not set(negatives) & there
        empty = [p for p in negatives if p[::-1] not in there]
        assert all(i != j for i, j in empty)
        backward = {p for p in negatives if p[::-1] in there}
        assert backward <= {p for p in shown if p not in there}
        if task is tasks.existence_random:
            assert not backward


def test_about_a_third_of_the_mixed_negatives_is_reversed():
    arcs = random_arcs(0, n=600, degree=8, reciprocal=0)
    tasks = split_links(arcs).test
    negatives = tasks.existence_mixed.pairs[~tasks.existence_mixed.labels]
    reversed_ones = {tuple(p) for p in arcs[:, ::-1].tolist()}
    assert 0.27 < np.mean([tuple(p) in reversed_ones for p in negatives.tolist()]) < 0.40


def test_pairs_without_arcs_are_uniform():
    """Every ordered pair without an arc is drawn about equally often."""
    arcs = np.array([(i, (i + step) % 15) for i in range(15) for step in (1, 2, 4)])
    counts = np.zeros((15, 15))
    for seed in range(1000):
        task = split_links(arcs, random_state=seed).test.existence_random
        np.add.at(counts, tuple(task.pairs[~task.labels].T), 1)
    neighbors = np.zeros((15, 15), dtype=bool)
    neighbors[tuple(arcs.T)] = True
    free = ~(neighbors | neighbors.T | np.eye(15, dtype=bool))
    assert counts[~free].sum() == 0
    expected = counts.sum() / free.sum()
    chi_square = ((counts[free] - expected) ** 2 / expected).sum()
    assert chi_square < free.sum() + 5 * np.sqrt(2 * free.sum())


def test_same_seed_same_split_whatever_the_input():
    arcs = random_arcs(1)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(60))
    graph.add_edges_from(map(tuple, arcs.tolist()))
    splits = [
        split_links(arcs, random_state=5, n_nodes=60),
        split_links(np.concatenate([arcs[::-1], arcs[:3], [[2, 2]]]), random_state=5, n_nodes=60),
        split_links(graph, random_state=5),
        split_links(as_digraph(graph), random_state=5),
    ]
    for split in splits[1:]:
        np.testing.assert_array_equal(split.observed, splits[0].observed)
        np.testing.assert_array_equal(split.test.existence_mixed.pairs, splits[0].test.existence_mixed.pairs)
        np.testing.assert_array_equal(split.validation.direction.pairs, splits[0].validation.direction.pairs)
    assert not np.array_equal(split_links(arcs, random_state=6, n_nodes=60).test_pairs, splits[0].test_pairs)


@settings(max_examples=20)
@given(st.integers(0, 10**6), st.floats(2.5, 9), st.floats(0, 1))
def test_any_graph_splits_cleanly(seed, degree, reciprocal):
    arcs = random_arcs(seed, n=40, degree=degree, reciprocal=reciprocal)
    split = split_links(arcs, random_state=seed, n_nodes=40)
    assert not unordered(split.observed) & (unordered(split.test_pairs) | unordered(split.validation_pairs))
    assert n_components(split.observed, 40) == n_components(arcs, 40)


def test_scores_of_known_models():
    arcs = random_arcs(2, n=150, degree=6)
    tasks = split_links(arcs, random_state=0).test
    known = np.zeros((150, 150))
    known[tuple(arcs.T)] = 1
    perfect = score_links(tasks, lambda pairs: known[pairs[:, 0], pairs[:, 1]])
    assert perfect == {"direction": 100.0, "existence_mixed": 100.0, "existence_random": 100.0}
    symmetric = score_links(tasks, lambda pairs: np.maximum(known, known.T)[pairs[:, 0], pairs[:, 1]])
    assert symmetric["direction"] == 50
    assert symmetric["existence_random"] == 100
    assert 75 < symmetric["existence_mixed"] < 90
    assert score_links(tasks, lambda pairs: -known[pairs[:, 0], pairs[:, 1]])["direction"] == 0


def test_direction_is_scored_by_the_difference_of_both_ways():
    """A score that grows with the first node's number in both directions is not fooled by it."""
    task = PairTask(np.array([[9, 1], [1, 2]]), np.array([False, True]))
    tasks = LinkTasks(task, task, task)
    scores = score_links(tasks, lambda pairs: 10.0 * pairs.sum(axis=1) + (pairs[:, 0] < pairs[:, 1]))
    assert scores["direction"] == 100
    assert scores["existence_mixed"] == 0


def test_a_graph_of_reciprocal_pairs_has_no_direction():
    arcs = random_arcs(3)
    both = np.unique(np.concatenate([arcs, arcs[:, ::-1]]), axis=0)
    split = split_links(both, n_nodes=60)
    assert len(split.test.direction.labels) == 0
    scores = score_links(split.test, lambda pairs: np.zeros(len(pairs)))
    assert np.isnan(scores["direction"])


def test_dense_graph_lists_what_is_left():
    """Of 36 free ordered pairs 28 are wanted: they are listed, not drawn one by one until all are found."""
    arcs = np.array([(i, j) for i in range(14) for j in range(i) if (i + j) % 5])
    split = split_links(arcs, test_fraction=0.3, validation_fraction=0.12)
    assert len(split.test_pairs) + len(split.validation_pairs) == 28
    task = split.test.existence_random
    assert len({tuple(p) for p in task.pairs[~task.labels].tolist()}) == (~task.labels).sum()
    with pytest.raises(ValueError, match="too dense to split"):
        split_links(np.array([(i, j) for i in range(14) for j in range(i)]))


def test_bad_requests():
    arcs = random_arcs(0)
    with pytest.raises(ValueError, match="forest must be 'random' or 'index'"):
        split_links(arcs, forest="tree")
    with pytest.raises(ValueError, match=r"test_fraction must be in \[0, 1\)"):
        split_links(arcs, test_fraction=1.5)
    with pytest.raises(ValueError, match=r"too small or too sparse to split: test_fraction=0\.9"):
        split_links(arcs, test_fraction=0.9)
    with pytest.raises(ValueError, match="too small or too sparse"):
        split_links(np.array([[0, 1], [1, 2], [2, 3]]))  # a tree
    with pytest.raises(ValueError, match="arcs must be a non-empty"):
        split_links(np.empty((0, 2), dtype=int))
    with pytest.raises(ValueError, match=r"one number per pair, \(\d+,\); found shape \(\d+, 2\)"):
        score_links(split_links(arcs).test, lambda pairs: pairs)
    with pytest.raises(ValueError, match=r"direction must return one number per pair"):
        score_links(split_links(arcs).test, lambda pairs: pairs[:, 0], lambda pairs: pairs)


def test_a_model_may_answer_the_direction_by_itself():
    tasks = split_links(random_arcs(0)).test
    known = {tuple(pair) for pair in random_arcs(0).tolist()}

    def right(pairs):
        return np.array([float(tuple(pair) in known) for pair in pairs.tolist()])

    plain = score_links(tasks, lambda pairs: -right(pairs))
    found = score_links(tasks, lambda pairs: -right(pairs), right)
    assert plain["direction"] == 0
    assert found == {**plain, "direction": 100.0}


def test_no_validation_on_request():
    split = split_links(random_arcs(0), validation_fraction=0)
    assert len(split.validation_pairs) == len(split.validation.direction.labels) == 0
    assert np.isnan(score_links(split.validation, lambda pairs: pairs[:, 0])["existence_mixed"])


@pytest.mark.parametrize("name", ["cora", "citeseer"])
def test_real_graphs(name):
    with np.load(real_file(f"graphs/{name}.npz")) as stored:
        arcs, n = np.column_stack([stored["src"], stored["dst"]]), int(stored["n_nodes"])
    pairs = {"cora": 5278, "citeseer": 4552}[name]
    split = split_links(arcs, n_nodes=n)
    assert len(split.test_pairs) == round(0.15 * pairs)
    assert n_components(split.observed, n) == {"cora": 78, "citeseer": 438}[name]


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=40))
def test_auc_is_that_of_scikit_learn_and_nan_where_that_is_undefined(examples):
    labels, scores = map(np.array, zip(*examples, strict=True))
    if labels.all() or not labels.any():
        assert np.isnan(roc_auc(labels, scores))
    else:
        assert roc_auc(labels, scores) == pytest.approx(roc_auc_score(labels, scores), abs=1e-12)


def test_auc_counts_pairs_in_order_infinite_scores_too():
    rng = np.random.default_rng(0)
    labels, scores = rng.random(50) < 0.4, rng.integers(0, 9, 50) * 1.0
    scores[:4] = [np.inf, -np.inf, np.inf, -np.inf]
    wins = [(p > q) + 0.5 * (p == q) for p in scores[labels] for q in scores[~labels]]
    assert roc_auc(labels, scores) == pytest.approx(np.mean(wins))
    with pytest.raises(ValueError, match="entry 1 is NaN"):
        roc_auc(np.array([True, False]), np.array([0.0, np.nan]))
