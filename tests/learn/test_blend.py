"""Scores of several maps, corrections by neighbors, and features of pairs against loops."""

import numpy as np
import pytest

pytest.importorskip("torch")

from finsler.graphs.arc_set import ArcSet
from finsler.learn import LinkTasks, PairTask
from finsler.learn.blend import HeldOut, LinkScore, corrected, scaled
from finsler.learn.model import FittedModel
from finsler.learn.neighbors import FEATURES, PairFeatures
from finsler.learn.tasks import held_out_arcs, hide_single_arcs


def random_arcs(n=30, share=0.15, seed=0):
    there = np.random.default_rng(seed).random((n, n)) < share
    np.fill_diagonal(there, False)
    return np.argwhere(there), there


def test_features_of_pairs_are_those_of_a_loop():
    n = 12
    arcs, there = random_arcs(n, 0.3)
    pairs = np.argwhere(~np.eye(n, dtype=bool))
    degree = (there | there.T).sum(axis=1)
    found = PairFeatures(arcs, n)(pairs)
    for (i, j), row in zip(pairs.tolist(), found, strict=True):
        between = dict.fromkeys(FEATURES[1:], 0.0)
        for k in range(n):
            rare = 1 / np.log(max(degree[k], 2))
            between["path"] += rare * (there[i, k] and there[k, j])
            between["same_targets"] += rare * (there[i, k] and there[j, k])
            between["same_sources"] += rare * (there[k, i] and there[k, j])
            between["path_back"] += rare * (there[k, i] and there[j, k])
        assert np.allclose(row, [there[j, i], *np.log1p(list(between.values()))])


def test_features_of_a_pair_do_not_depend_on_its_own_arc():
    arcs, _ = random_arcs()
    rest = PairFeatures(arcs[1:], 30)(arcs[:1])
    whole = PairFeatures(arcs, 30)(arcs[:1])
    assert np.array_equal(rest[:, 0], whole[:, 0])
    # Only the degrees of its ends change, which are not between them.
    assert np.allclose(rest, whole)


def maps(n, members=2, seed=0):
    rng = np.random.default_rng(seed)
    return [
        FittedModel(rng.normal(size=(n, 3)), rng.normal(size=(n, 2)), 0.5, 1.0 + k, 0.5 + k)
        for k in range(members)
    ]


def tasks_about(arcs, others):
    pairs = np.concatenate([arcs, others])
    labels = np.arange(len(pairs)) < len(arcs)
    shown = np.arange(len(arcs)) % 2 == 0
    way = PairTask(np.where(shown[:, None], arcs, arcs[:, ::-1]), shown)
    return LinkTasks(way, PairTask(pairs, labels), PairTask(pairs, labels))


def test_score_is_the_mean_of_scaled_logits_and_the_correction():
    n = 20
    arcs, _ = random_arcs(n)
    models = maps(n)
    pairs = np.array([[0, 1], [5, 3], [7, 19]])
    weights = np.array([1.0, 0.5, 0.0, -0.2, 0.1])
    neighbors = PairFeatures(arcs, n)
    score = LinkScore(models, np.array([[2.0, 1.0], [0.5, -1.0]]), weights, neighbors)
    expected = [
        (2 * models[0].logits(p[None])[0] + 1 + 0.5 * models[1].logits(p[None])[0] - 1) / 2
        + neighbors(p[None])[0] @ weights
        for p in pairs
    ]
    assert np.allclose(score(pairs), expected)


def test_scales_do_not_change_the_order_of_a_map():
    n = 60
    arcs, there = random_arcs(n)
    others = np.argwhere(~there & ~np.eye(n, dtype=bool))[:200]
    held = HeldOut.draw(
        tasks_about(arcs[:80], others), arcs[:80], ArcSet(arcs[80:], n), arcs, np.random.default_rng(0)
    )
    score = scaled(maps(n), held)
    assert (score.scale[:, 0] > 0).all()
    one = scaled(maps(n, 1), held)
    assert one.scale.tolist() == [[1.0, 0.0]]  # a single map is left alone


def reciprocal_graph(n=150, seed=0):
    """Arcs at random, of which four fifths are answered: only the reverse arc tells anything."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(rng.random((n, n)) < 0.08, 1))
    both = rng.random(len(pairs)) < 0.8
    first = np.where(rng.random(len(pairs))[:, None] < 0.5, pairs, pairs[:, ::-1])
    return np.unique(np.concatenate([first, first[both][:, ::-1]]), axis=0), n


def test_the_reverse_arc_is_used_where_it_tells_something_and_only_there():
    known, n = reciprocal_graph()
    rng = np.random.default_rng(1)
    arcs, hidden = hide_single_arcs(known, n, 0.3, rng)
    one_way = known[~ArcSet(known, n).contains(known[:, ::-1])][:40]
    arcs = arcs[~ArcSet(one_way, n).contains(arcs)]
    free = rng.integers(0, n, size=(400, 2))
    free = free[
        (free[:, 0] != free[:, 1])
        & ~ArcSet(known, n).contains(free)
        & ~ArcSet(known, n).contains(free[:, ::-1])
    ]
    tasks = tasks_about(one_way, free)
    held = HeldOut.draw(tasks, np.concatenate([hidden, one_way]), ArcSet(arcs, n), known, rng)
    assert len(held.alone) == len(hidden)
    score = LinkScore.mean(maps(n, 1))  # knows nothing
    better, plain, gained = corrected(score, held, PairFeatures(arcs, n))
    assert gained > plain + 3
    assert better.correction[0] > 2 * np.abs(better.correction[1:]).max()
    assert held.scores(better)["existence_reciprocal"] > 80
    # Arcs that are thrown away from a random graph: nothing to gain, so nothing is used.
    noise = np.argwhere(rng.random((n, n)) < 0.08)
    noise = noise[noise[:, 0] != noise[:, 1]]
    aside = np.arange(len(noise)) % 8 == 0
    held = HeldOut.draw(tasks_about(noise[aside], free), noise[aside], ArcSet(noise[~aside], n), noise, rng)
    plain_score, *_ = corrected(score, held, PairFeatures(noise[~aside], n))
    assert not plain_score.correction[0] > 0.5


def test_single_arcs_are_hidden_from_reciprocal_pairs_only():
    known, n = reciprocal_graph()
    rest, hidden = hide_single_arcs(known, n, 0.25, np.random.default_rng(0))
    there = ArcSet(known, n)
    n_both = there.contains(known[:, ::-1]).sum() // 2
    assert len(hidden) == round(0.25 * n_both)
    assert len(rest) + len(hidden) == len(known)
    assert ArcSet(rest, n).contains(hidden[:, ::-1]).all()


def test_arcs_of_tasks_are_found_in_their_true_order():
    arcs = np.array([[0, 1], [2, 1], [3, 4], [5, 0]])
    found = held_out_arcs(tasks_about(arcs, np.array([[8, 9]])))
    assert found.tolist() == sorted(arcs.tolist())
