"""Scores of several maps, corrections by neighbors, and features of pairs against loops."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from finsler.graphs.arc_set import ArcSet
from finsler.learn import LinkTasks, PairTask
from finsler.learn.blend import FEWEST_ARCS, HeldOut, LinkScore, Odds, corrected
from finsler.learn.heights import LearnedDirection, Paths
from finsler.learn.model import FittedModel
from finsler.learn.neighbors import FEATURES, PairFeatures
from finsler.learn.tasks import held_out_arcs, hide_single_arcs, roc_auc


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


@pytest.mark.parametrize("with_learned", [False, True])
@pytest.mark.parametrize("share", [0.0, 1 / 3, 1.0])
def test_score_is_the_formula_written_out(share, with_learned):
    n = 20
    arcs, _ = random_arcs(n)
    models = maps(n)
    weights = np.array([1.0, 0.5, 0.0, -0.2, 0.1])
    neighbors = PairFeatures(arcs, n)
    lines = np.array([[2.0, 0.3, 1.0, 0.7], [0.5, -0.1, -1.0, 0.4]])
    learned = None
    if with_learned:
        learned = LearnedDirection(
            np.random.default_rng(1).normal(size=n), np.array([0.2, 0.7]), Paths(arcs, n)
        )
    score = LinkScore(models, lines, share, weights, neighbors, learned)
    for i, j in [(0, 1), (5, 3), (7, 19)]:
        there, back = np.array([[i, j]]), np.array([[j, i]])
        u, v = ([model.logits(pair)[0] for model in models] for pair in (there, back))
        R = np.mean([p * u[k] + q * v[k] + c for k, (p, q, c, _) in enumerate(lines)])
        D = np.mean([e * (u[k] - v[k]) for k, (*_, e) in enumerate(lines)])
        if learned is not None:
            D = 0.2 * D + 0.8 * learned(there)[0]
        added, added_back = (neighbors(pair)[0] @ weights for pair in (there, back))
        expected = -np.log((1 - share) * np.exp(-R) + share * np.exp(-D)) + added
        assert score(there)[0] == pytest.approx(expected)
        more = added - added_back if learned is None else 0.0
        assert score.direction(there)[0] == pytest.approx(D + more)
    plain = LinkScore.mean(models)
    assert np.allclose(plain(arcs), np.mean([model.logits(arcs) for model in models], axis=0))
    assert np.allclose(plain.direction(arcs), plain(arcs) - plain(arcs[:, ::-1]))


class Known:
    """Stands for a map: logits z + w there and z - w back, with numbers z = z of the pair and w = -w of its reverse."""

    def __init__(self, pairs, z, w):
        self.found = {tuple(p): values for p, *values in zip(pairs.tolist(), z, w, strict=True)}
        self.found |= {(j, i): [z, -w] for (i, j), (z, w) in self.found.items()}

    def both_logits(self, pairs):
        z, w = np.array([self.found[tuple(p)] for p in pairs.tolist()]).T
        return z + w, z - w

    def logits(self, pairs):
        return self.both_logits(pairs)[0]


def test_scores_of_chance_spread_as_is_said():
    """A thousand times numbers that say nothing, about the pairs of two tasks of other shares of arcs."""
    rng = np.random.default_rng(0)
    asked = [PairTask(np.zeros((60, 2), dtype=int), np.arange(60) < arcs) for arcs in (30, 12)]
    held = HeldOut(LinkTasks(asked[0], asked[1], asked[1]), *[np.empty((0, 2), int)] * 4, 0.0)
    told = held.chance_spread()
    assert set(told) == {"direction", "existence_mixed", "existence_random"}
    for task, name in zip(asked, ("direction", "existence_mixed"), strict=True):
        found = [100 * roc_auc(task.labels, rng.normal(size=60)) for _ in range(1000)]
        assert np.std(found) == pytest.approx(told[name], rel=0.1)


def normal_populations(n_arcs, n_random=20_000, seed=0):
    """Arcs z, w ~ N(1, 1), random pairs z ~ N(-1, 1), w ~ N(0, 1): the log odds are known."""
    rng = np.random.default_rng(seed)
    n = 4 * n_random
    nodes = np.arange(2 * (n_arcs + n_random)).reshape(-1, 2)  # no two pairs have a node in common
    z = rng.normal(size=len(nodes)) + np.where(np.arange(len(nodes)) < n_arcs, 1, -1)
    w = rng.normal(size=len(nodes)) + np.where(np.arange(len(nodes)) < n_arcs, 1, 0)
    arcs, random = nodes[:n_arcs], nodes[n_arcs:]
    empty = arcs[:0]
    held = HeldOut(tasks_about(arcs, random), arcs, random, empty, empty, 0.0)
    return held, n, Known(nodes, z, w)


def test_lines_are_the_log_odds_of_known_populations():
    """Of normal numbers: R = 2 z + w - 1/2, D = 2 w; with u = z + w and v = z - w, R = 3/2 u + 1/2 v - 1/2 and D = u - v."""
    held, n, model = normal_populations(20_000)
    odds = Odds(held, n, 1 / 3)
    assert odds.reversed_share == 1 / 3
    assert odds.lines(model) == pytest.approx([1.5, 0.5, -0.5, 1.0], abs=0.06)


def test_the_mixture_tells_arcs_from_both_kinds_of_negatives_better_than_any_sum():
    """It is the likelihood ratio, which no other score beats: not R, not D, nor any sum of the two."""
    held, n, model = normal_populations(8000)
    odds = Odds(held, n, 1 / 3)
    lines = odds.lines(model)[None]
    negatives = np.concatenate([held.arcs[4000:6000, ::-1], held.random[:4000]])
    pairs = np.concatenate([held.arcs[:4000], negatives])
    labels = np.arange(len(pairs)) < 4000

    def area(score):
        return roc_auc(labels, score)

    mixed = area(LinkScore.mixture([model], lines, odds.reversed_share)(pairs))
    R, D = LinkScore.mixture([model], lines, 0.0)(pairs), LinkScore.mixture([model], lines, 1.0)(pairs)
    assert mixed > max(area(share * R + (1 - share) * D) for share in np.linspace(0, 1, 11)) + 0.002
    assert mixed > area(model.logits(pairs)) + 0.002


def test_few_arcs_give_a_line_in_one_logit():
    held, n, model = normal_populations(FEWEST_ARCS - 1)
    odds = Odds(held, n, 1 / 3)
    p, q, _, e = odds.lines(model)
    assert (q, odds.reversed_share) == (0.0, 0.0)
    assert p == e > 0
    assert Odds(normal_populations(FEWEST_ARCS)[0], n, 1 / 3).reversed_share == 1 / 3


def test_arcs_that_are_answered_say_nothing_of_the_direction():
    """Held out both ways, or with the reverse arc observed, an arc's reverse is no negative."""
    held, n, _ = normal_populations(FEWEST_ARCS)
    both = replace(held, arcs=np.concatenate([held.arcs, held.arcs[:1, ::-1]]))
    observed = replace(held, alone=held.arcs[:1])
    for changed in (both, observed):
        assert Odds(changed, n, 1 / 3).reversed_share == 0.0  # one too few are left
    for lacking in ("arcs", "random"):
        nothing = replace(held, **{lacking: held.arcs[:0]})
        assert Odds(nothing, n, 1 / 3).lines(None).tolist() == [1, 0, 0, 1]


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
    assert not plain_score.correction.any()


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
