"""What is learned for the direction alone: formulas, known answers, and no arc that tells of itself."""

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.optimize import minimize  # noqa: E402

from finsler.learn import heights as learning  # noqa: E402
from finsler.learn.features import spring_heights  # noqa: E402
from finsler.learn.heights import (  # noqa: E402
    FEATURE_RIDGE,
    OWN_RIDGE,
    PATH_SIZE,
    WEIGHT_RIDGE,
    Knowledge,
    LearnedDirection,
    Paths,
    bradley_terry,
    direction_weights,
    learned_direction,
)
from finsler.learn.inputs import Problem  # noqa: E402


def ordered_arcs(arcs):
    return arcs[np.lexsort(arcs.T[::-1])]


def cited(n=300, degree=4, seed=0, sharpness=2.0):
    """Arcs whose direction has log odds ``sharpness * (x_i - x_j)`` for one of the features x."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 3))
    pairs = np.unique(np.sort(rng.integers(n, size=(n * degree, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    x = features[:, 0]
    there = rng.random(len(pairs)) < 1 / (1 + np.exp(-sharpness * (x[pairs[:, 0]] - x[pairs[:, 1]])))
    return ordered_arcs(np.where(there[:, None], pairs, pairs[:, ::-1])), features


def learned(problem, seed=0):
    return learned_direction(problem, np.random.default_rng(seed))


def same(one, other):
    return np.allclose(one.heights, other.heights) and np.allclose(one.path_weights, other.path_weights)


def test_weights_are_the_minimum_of_the_ridged_likelihood():
    """Against a general optimizer, with all arcs shown their way: reversing some of them must not matter."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(80, 4)) * [1, 0.1, 20, 1] + [0.5, -0.02, 0.0, 0.3]
    sizes = np.append(np.sqrt((steps[:, :3] ** 2).sum(axis=0) / 80), 1 / PATH_SIZE)

    def loss(w):
        return np.logaddexp(0, -steps / sizes @ w).sum() + WEIGHT_RIDGE * w @ w / 2

    expected = minimize(loss, np.zeros(4), tol=1e-10).x / sizes
    assert direction_weights(steps) == pytest.approx(expected, rel=0.01, abs=1e-3)
    assert np.abs(expected).max() > 0.3


def test_a_column_that_says_nothing_is_left_out():
    steps = np.random.default_rng(0).normal(size=(80, 3)) + 0.5
    steps[:, 1] = 0
    weights = direction_weights(steps)
    assert weights[1] == 0
    assert np.isfinite(weights).all()


def test_all_nodes_of_a_graph_that_reach_each_other():
    """Whatever is the same for all nodes, and not in the folds, must not decide."""
    rng = np.random.default_rng(0)
    arcs, _ = cited(60, 10)
    circle = np.column_stack([np.arange(60), np.roll(np.arange(60), -1)])
    arcs = np.unique(np.concatenate([arcs, circle]), axis=0)
    found, _ = learned(Problem(arcs, arcs, 60))
    assert len(set(found.paths.reach.ahead)) == 1
    assert np.abs(found(rng.integers(60, size=(100, 2)))).max() < 20


@pytest.mark.parametrize("with_features", [True, False])
def test_bradley_terry_is_the_minimum_of_the_loss_written_out(with_features):
    """Against a general optimizer without gradients of ours."""
    rng = np.random.default_rng(0)
    n = 8
    arcs = np.array([(i, j) for i, j in rng.integers(n, size=(25, 2)) if i != j])
    features = rng.normal(size=(n, 2)) if with_features else None

    def heights(unknown):
        if features is None:
            return unknown[:n]
        rows = [row / np.sqrt(row @ row) for row in features]
        return np.array([unknown[i] + rows[i] @ unknown[n:] for i in range(n)])

    def loss(unknown):
        h = heights(unknown)
        likelihood = sum(np.log(1 + np.exp(h[j] - h[i])) for i, j in arcs)
        own, shared = unknown[:n], unknown[n:]
        return likelihood + OWN_RIDGE / 2 * own @ own + FEATURE_RIDGE / 2 * shared @ shared

    expected = heights(minimize(loss, np.zeros(n + 2 * with_features), tol=1e-9).x)
    assert bradley_terry(arcs, n, features) == pytest.approx(expected, abs=1e-3)


def test_columns_written_out():
    arcs = np.array([[0, 1], [1, 0], [1, 2], [3, 1]])
    problem = Problem(arcs, arcs, 5)
    found = Knowledge.of(problem, arcs).columns
    assert np.allclose(found[:, 0], np.log1p([1, 2, 0, 1, 0]))  # arcs out
    assert np.allclose(found[:, 1], np.log1p([1, 2, 1, 0, 0]))  # arcs in
    assert np.allclose(found[:, 2], np.log1p([2, 2, 0, 3, 0]))  # reaches: 0 and 1 each other, and 2
    assert np.allclose(found[:, 3], np.log1p([2, 2, 3, 0, 0]))
    for at, h in ((4, spring_heights(arcs, 5, problem.ridge)), (7, bradley_terry(arcs, 5))):
        # Neighbors of 1 are 0 (both ways, counted once), 2 and 3. Node 4 has none.
        near = (h[0] + h[2] + h[3]) / 3
        assert np.allclose(found[:, at], h)
        assert np.allclose(found[:, at + 1], [h[1], near, h[1], h[1], 0])
        assert np.allclose(found[:, at + 2], [near, h[1], near, near, 0])
    assert found.shape == (5, 10)


def test_paths_one_way_count_and_those_both_ways_do_not():
    arcs = np.array([[0, 1], [1, 2], [2, 1], [2, 3]])
    paths = Paths(arcs, 5)
    pairs = np.array([[0, 3], [3, 0], [1, 2], [0, 4], [1, 3], [0, 2]])
    rarity = 1 / np.log(2)  # of nodes 1 and 2, which have two neighbors
    short = np.log1p(rarity) * np.array([0, 0, 0, 0, 1, 1])
    expected = np.column_stack([short, [1, -1, 0, 0, 1, 1]])
    assert np.allclose(paths.differences(pairs), expected)
    assert np.allclose(paths.differences(pairs[:, ::-1]), -expected)
    direction = LearnedDirection(np.array([1.0, 2.0, 4.0, 7.0, 0.0]), np.array([2.0, 0.5]), paths)
    steps = np.array([1 - 7, 7 - 1, 2 - 4, 1, 2 - 7, 1 - 4])
    assert np.allclose(direction(pairs), steps + 2 * short + 0.5 * expected[:, 1])


def test_circles_are_told_by_what_stands_between():
    """Arcs i -> i + 1 .. 12 of a ring: all nodes are of one height and reach each other."""
    rng = np.random.default_rng(0)
    n = 150
    pairs = np.array([(i, (i + step) % n) for i in range(n) for step in range(1, 13) if rng.random() < 0.5])
    hidden = rng.random(len(pairs)) < 0.15
    arcs = ordered_arcs(pairs[~hidden])
    found, _ = learned(Problem(arcs, arcs, n))
    asked = pairs[hidden]
    assert np.mean(found(asked) > 0) > 0.85
    assert np.mean(replace(found, path_weights=np.zeros(2))(asked) > 0) < 0.65


def test_heights_find_the_feature_that_decides():
    arcs, features = cited()
    found, _ = learned(Problem(arcs, arcs, len(features), features))
    assert np.corrcoef(found.heights, features[:, 0])[0, 1] > 0.8
    unseen, _ = cited(seed=1)
    plain, _ = learned(Problem(arcs, arcs, len(features)))
    x = features[:, 0]
    right = np.sign(x[unseen[:, 0]] - x[unseen[:, 1]])
    told = [np.mean(np.sign(one(unseen)) == right) for one in (found, plain)]
    assert told[0] > told[1] + 0.02


def test_paths_count_where_arcs_never_run_against_them():
    """Arcs of an order, close by: reversed, a good part of them would close a circle."""
    rng = np.random.default_rng(0)
    n = 200
    pairs = np.array(
        [(i, min(i + int(step), n - 1)) for i in range(n - 1) for step in rng.integers(1, 9, size=4)]
    )
    pairs = np.unique(pairs[pairs[:, 0] < pairs[:, 1]], axis=0)
    hidden = rng.random(len(pairs)) < 0.2
    arcs = pairs[~hidden]
    found, _ = learned(Problem(arcs, arcs, n))
    asked = pairs[hidden]
    joined = found.paths.reach.contains(asked)
    assert 0.3 < joined.mean() < 0.95
    assert not found.paths.reach.contains(asked[:, ::-1]).any()
    told, by_heights = found(asked) > 0, replace(found, path_weights=np.zeros(2))(asked) > 0
    assert told[joined].all()
    assert not by_heights[joined].all()
    assert np.array_equal(told[~joined], by_heights[~joined])


def test_directions_that_nothing_decides_are_not_sure_of_themselves():
    """Log odds of arcs that were not seen are small, and right half of the time; those of heights that know them are not."""
    arcs, features = cited(sharpness=0.0)
    hidden = np.random.default_rng(1).random(len(arcs)) < 0.2
    rest = arcs[~hidden]
    problem = Problem(rest, rest, len(features), features)
    found, _ = learned(problem)
    unseen = found(arcs[hidden])
    knowing = Knowledge.of(problem, rest)
    steps = knowing.steps(rest)
    leaked = steps @ direction_weights(steps)
    assert np.abs(unseen).mean() < 0.3 * np.abs(leaked).mean()
    assert 0.4 < np.mean(unseen > 0) < 0.6


def test_what_validates_knows_the_arcs_to_learn_alone():
    arcs, features = cited()
    hidden, rest = arcs[::10], np.delete(arcs, np.s_[::10], axis=0)
    n = len(features)
    alone, again = learned(Problem(rest, rest, n, features))
    validating, predicting = learned(Problem(rest, arcs, n, features))
    assert again is alone
    assert same(validating, alone)
    assert not np.allclose(predicting.heights, alone.heights)
    turned = ordered_arcs(np.concatenate([rest, hidden[:, ::-1]]))
    assert same(learned(Problem(rest, turned, n, features))[0], alone)


def test_no_fold_is_seen_by_what_is_asked_about_it(monkeypatch):
    arcs, features = cited(100)
    problem, seen = Problem(arcs, arcs, 100, features), []
    of = Knowledge.of.__func__

    class Watched(Knowledge):
        def steps(self, pairs):
            seen[-1] += (pairs,)
            return super().steps(pairs)

    def watch(cls, problem, some):
        seen.append((some,))
        return of(Watched, problem, some)

    monkeypatch.setattr(Knowledge, "of", classmethod(watch))
    learned(problem)
    asked = [pair for pair in seen if len(pair) == 2]
    assert len(asked) == learning.FOLDS
    for known, pairs in asked:
        both = {tuple(sorted(pair)) for pair in known.tolist()}
        assert not both & {tuple(sorted(pair)) for pair in pairs.tolist()}
    assert sum(len(pairs) for _, pairs in asked) == len(arcs)


def test_nothing_is_learned_from_few_arcs_or_where_every_arc_runs_both_ways():
    arcs = np.array([[0, 1], [1, 2]])
    assert learned(Problem(arcs, arcs, 3)) is None
    arcs, features = cited(60)
    both = np.unique(np.concatenate([arcs, arcs[:, ::-1]]), axis=0)
    assert learned(Problem(both, both, 60, features)) is None
    assert learned(Problem(arcs, arcs, 60, features)) is not None


@pytest.mark.parametrize("beyond", [learning.FEWEST_ONE_WAY - 1, learning.FEWEST_ONE_WAY])
def test_nearly_a_tree_is_too_little(beyond):
    """Two trees, and so many arcs more than they need."""
    rng = np.random.default_rng(0)
    n = 400
    trees = np.array([(i, i - 2 * rng.integers(1, i // 2 + 1)) for i in range(2, n)])
    taken = {tuple(sorted(pair)) for pair in trees.tolist()}
    more = []
    while len(more) < beyond:
        i, j = sorted(int(k) for k in 2 * rng.integers(n // 2, size=2))
        if i != j and (i, j) not in taken:
            taken.add((i, j))
            more.append((j, i))
    arcs = ordered_arcs(np.concatenate([trees, more]))
    assert (learned(Problem(arcs, arcs, n)) is None) == (beyond < learning.FEWEST_ONE_WAY)


def test_lengths_of_feature_rows_do_not_matter():
    arcs, features = cited(100)
    one, _ = learned(Problem(arcs, arcs, 100, features))
    other, _ = learned(Problem(arcs, arcs, 100, 7.0 * features))
    assert same(one, other)
