"""Heights for the direction, learned from inputs: formulas, known answers, and no arc that tells of itself."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from scipy.optimize import minimize  # noqa: E402

from finsler.learn import heights as learned  # noqa: E402
from finsler.learn.heights import STRENGTH, direction_weights, height_columns, learned_heights  # noqa: E402
from finsler.learn.inputs import BLOCK_SIZE, N_COLUMNS, Problem, cross_fit  # noqa: E402
from finsler.learn.options import LinkOptions  # noqa: E402

OPTIONS = LinkOptions(folds=4, ppr_rank=4, hops=1)


def cited(n=300, degree=4, seed=0, sharpness=2.0):
    """Arcs whose direction has log odds ``sharpness * (x_i - x_j)`` for one of the features x."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(n, 3))
    pairs = np.unique(np.sort(rng.integers(n, size=(n * degree, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    x = features[:, 0]
    there = rng.random(len(pairs)) < 1 / (1 + np.exp(-sharpness * (x[pairs[:, 0]] - x[pairs[:, 1]])))
    arcs = np.where(there[:, None], pairs, pairs[:, ::-1])
    return arcs[np.lexsort(arcs.T[::-1])], features


def heights_of(problem, seed=0):
    rng = np.random.default_rng(seed)
    return learned_heights(problem, cross_fit(problem, OPTIONS, rng), rng)


def test_weights_are_the_minimum_of_the_ridged_likelihood():
    """Against a general optimizer, with all arcs shown their way: reversing some of them must not matter."""
    rng = np.random.default_rng(0)
    steps = rng.normal(size=(80, 3)) + [0.5, -0.2, 0.0]

    def loss(w):
        return STRENGTH * np.logaddexp(0, -steps @ w).sum() + w @ w / 2

    expected = minimize(loss, np.zeros(3), tol=1e-10).x
    assert direction_weights(steps) == pytest.approx(expected, abs=1e-3)
    assert np.abs(expected).max() > 0.3


def test_columns_are_inputs_and_mean_heights_of_neighbors_and_of_theirs():
    arcs = np.array([[0, 1], [1, 0], [1, 2], [3, 1]])
    inputs = torch.as_tensor(np.random.default_rng(0).normal(size=(5, N_COLUMNS + 2)))
    x = inputs.numpy()
    # Neighbors of 1 are 0 (both ways, counted once), 2 and 3. Node 4 has none.
    near = (x[0, 0] + x[2, 0] + x[3, 0]) / 3
    nearby = [x[1, 0], near, x[1, 0], x[1, 0], 0]
    further = [near, x[1, 0], near, near, 0]
    expected = np.column_stack([nearby, further, x[:, :N_COLUMNS], x[:, N_COLUMNS:] / BLOCK_SIZE])
    assert np.allclose(height_columns(arcs, 5, inputs), expected)
    assert np.array_equal(inputs.numpy(), x)


def test_heights_find_the_feature_that_decides():
    arcs, features = cited()
    found, _ = heights_of(Problem(arcs, arcs, len(features), features))
    assert np.corrcoef(found, features[:, 0])[0, 1] > 0.9


def test_heights_of_directions_that_nothing_decides_are_small():
    """Log odds must not be sure of themselves where nothing is sure; those of inputs that know the arcs would be."""
    arcs, features = cited(sharpness=0.0)
    problem = Problem(arcs, arcs, len(features), features)
    found, _ = heights_of(problem)
    step = found[arcs[:, 0]] - found[arcs[:, 1]]
    curriculum = cross_fit(problem, OPTIONS, np.random.default_rng(0))
    leaking = height_columns(arcs, len(features), curriculum.inputs)
    leaked = leaking @ direction_weights(leaking[arcs[:, 0]] - leaking[arcs[:, 1]])
    assert np.abs(step).mean() < 0.6 * np.abs(leaked[arcs[:, 0]] - leaked[arcs[:, 1]]).mean()


def test_heights_to_validate_with_know_the_arcs_to_learn_alone():
    arcs, features = cited()
    hidden, rest = arcs[::10], np.delete(arcs, np.s_[::10], axis=0)
    n = len(features)
    alone, same = heights_of(Problem(rest, rest, n, features))
    validating, predicting = heights_of(Problem(rest, arcs, n, features))
    assert same is alone
    assert np.allclose(validating, alone)
    assert not np.allclose(predicting, alone)
    turned = np.concatenate([rest, hidden[:, ::-1]])
    turned = turned[np.lexsort(turned.T[::-1])]
    assert np.allclose(heights_of(Problem(rest, turned, n, features))[0], alone)


def test_no_heights_where_inputs_know_the_arcs_or_every_arc_runs_both_ways():
    arcs = np.array([[0, 1], [1, 2]])
    assert heights_of(Problem(arcs, arcs, 3)) is None
    arcs, features = cited(60)
    both = np.unique(np.concatenate([arcs, arcs[:, ::-1]]), axis=0)
    assert heights_of(Problem(both, both, 60, features)) is None


def test_large_graphs_are_learned_from_a_sample(monkeypatch):
    arcs, features = cited()
    problem = Problem(arcs, arcs, len(features), features)
    whole, _ = heights_of(problem)
    seen = []

    def weights(steps):
        seen.append(len(steps))
        return direction_weights(steps)

    monkeypatch.setattr(learned, "MOST_ARCS", len(arcs) // 2)
    monkeypatch.setattr(learned, "direction_weights", weights)
    some, _ = heights_of(problem)
    assert 0.4 * len(arcs) < seen[0] < 0.6 * len(arcs)
    assert np.corrcoef(some, whole)[0, 1] > 0.8
