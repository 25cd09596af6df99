"""Heights, locations and spread features, against dense linear algebra."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer

from finsler.data.labels import LabelIndex
from finsler.learn import features
from finsler.learn.features import (
    choose_ridge,
    feature_factors,
    log_ppr_factors,
    neighbor_average,
    node_features,
    spring_heights,
    unit_rows,
)
from finsler.learn.tasks import score_links, split_links


def random_arcs(seed, n=25, degree=3.0):
    rng = np.random.default_rng(seed)
    arcs = np.argwhere(rng.random((n, n)) < degree / n)
    return arcs[arcs[:, 0] != arcs[:, 1]]


def springrank(arcs, n, ridge=None):
    arcs = np.asarray(arcs)
    return spring_heights(arcs, n, choose_ridge(arcs, n) if ridge is None else ridge)


def slow_springrank(arcs, n, ridge):
    """One row per spring and one per node, by least squares."""
    rows, wanted = [], []
    for u, v in arcs:
        row = np.zeros(n)
        row[u], row[v] = 1, -1
        rows.append(row)
        wanted.append(1.0)
    rows += list(np.sqrt(ridge) * np.eye(n))
    wanted += [0.0] * n
    return np.linalg.lstsq(np.array(rows), np.array(wanted), rcond=None)[0]


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([1e-3, 0.3, 1.0, 10.0]))
def test_springrank_is_least_squares(seed, ridge):
    arcs = random_arcs(seed)
    arcs = np.concatenate([arcs, arcs[:5]])  # repetitions count
    found = springrank(arcs, 25, ridge=ridge)
    expected = slow_springrank(arcs, 25, ridge)
    np.testing.assert_allclose(found, expected, atol=1e-7 * max(1, np.abs(expected).max()))


def test_springrank_goes_down_along_arcs():
    chain = np.column_stack([np.arange(9), np.arange(1, 10)])
    np.testing.assert_allclose(np.diff(springrank(chain, 10, ridge=1e-8)), -1, atol=1e-5)
    up = springrank(chain[:, ::-1], 10, ridge=1e-8)
    np.testing.assert_allclose(np.diff(up), 1, atol=1e-5)


def test_springrank_of_lonely_nodes_and_balanced_pairs():
    heights = springrank([[0, 1], [1, 0]], 3)
    np.testing.assert_allclose(heights, 0, atol=1e-12)


def slow_direction_auc(heights, arcs):
    drops = [heights[u] - heights[v] for u, v in arcs]
    return np.mean([(a > -b) + 0.5 * (a == -b) for a in drops for b in drops])


def test_ridge_is_chosen_by_what_it_predicts():
    """A strong ridge levels a long chain, where only a weak one sees which end is up."""
    rng = np.random.default_rng(0)
    chain = np.unique([(i, i + rng.integers(1, 6)) for i in range(400) for _ in range(4)], axis=0)
    assert choose_ridge(chain, 406) < 0.1
    split = split_links(chain, n_nodes=406)
    strong, chosen = springrank(split.observed, 406, ridge=1.0), springrank(split.observed, 406)
    hidden = split.test.direction.pairs[split.test.direction.labels]
    assert slow_direction_auc(chosen, hidden) > 0.95 > slow_direction_auc(strong, hidden) + 0.1
    np.testing.assert_array_equal(
        chosen, springrank(split.observed, 406, ridge=choose_ridge(split.observed, 406))
    )


def test_strong_ridge_is_kept_where_it_does_as_well():
    hubs = np.array(
        [(i, j) for i in range(40, 200) for j in np.random.default_rng(i).choice(40, 3, replace=False)]
    )
    assert choose_ridge(hubs, 200) == 1.0
    assert choose_ridge(random_arcs(0), 25) == 1.0  # too small to ask


def test_random_orientation_has_no_direction():
    """Where directions are coin tosses, heights predict the held-out ones no better than another coin."""
    rng = np.random.default_rng(0)
    arcs = random_arcs(1, n=800, degree=6)
    pairs = np.unique(np.sort(arcs, axis=1), axis=0)
    scores = []
    for seed in range(4):
        toss = rng.random(len(pairs)) < 0.5
        split = split_links(np.where(toss[:, None], pairs, pairs[:, ::-1]), random_state=seed, n_nodes=800)
        heights = springrank(split.observed, 800)
        scores.append(score_links(split.test, lambda p, h=heights: h[p[:, 0]] - h[p[:, 1]])["direction"])
    # about 340 pairs a split: one split has a standard error near 3
    assert abs(np.mean(scores) - 50) < 5


def slow_log_ppr(arcs, n, damping, steps, floor):
    A = np.zeros((n, n))
    for i, j in arcs:
        A[i, j] = A[j, i] = 1
    degree = A.sum(axis=1)
    P = A / np.where(degree > 0, degree, 1)[:, None]
    total = sum((1 - damping) * np.linalg.matrix_power(damping * P, k) for k in range(steps + 1))
    return np.log(np.maximum(total / floor, 1))


def test_full_factors_rebuild_log_ppr():
    arcs = random_arcs(2)
    expected = slow_log_ppr(arcs, 25, 0.8, 7, 1e-4)
    source, target = log_ppr_factors(arcs, 25, 25, damping=0.8, steps=7, floor=1e-4, n_jobs=1)
    np.testing.assert_allclose(source @ target.T, expected, atol=2e-4 * expected.max())
    assert np.abs(expected - expected.T).max() > 1  # the test would notice a transposed result


def test_truncated_factors_are_the_best_of_their_rank():
    arcs = random_arcs(3, n=40, degree=4)
    M = slow_log_ppr(arcs, 40, 0.9, 10, 1e-5)
    source, target = log_ppr_factors(arcs, 40, 5, damping=0.9, steps=10, floor=1e-5)
    assert source.shape == target.shape == (40, 5)
    left_over = np.linalg.svd(M, compute_uv=False)[5:]
    assert np.linalg.norm(M - source @ target.T) < 1.01 * np.linalg.norm(left_over)


def test_landmarks_approximate_all_nodes():
    """Nyström's formula with half of the nodes: exact between landmarks at full rank, near elsewhere."""
    arcs = random_arcs(4, n=60, degree=5)
    options = {"damping": 0.9, "steps": 10, "floor": 1e-4}
    M = slow_log_ppr(arcs, 60, **options)
    source, target = log_ppr_factors(arcs, 60, 30, n_landmarks=30, random_state=1, **options)
    landmarks = np.sort(np.random.default_rng(1).permutation(60)[:30])
    rebuilt = source @ target.T
    np.testing.assert_allclose(rebuilt[landmarks], M[landmarks], atol=0.01 * M.max())
    np.testing.assert_allclose(rebuilt[:, landmarks], M[:, landmarks], atol=0.01 * M.max())
    rest = np.setdiff1d(np.arange(60), landmarks)
    centered = M[np.ix_(rest, rest)] - M.mean()
    for k in (30, 60):
        s, t = log_ppr_factors(arcs, 60, 6, n_landmarks=k, **options)
        assert np.linalg.norm((s @ t.T - M)[np.ix_(rest, rest)]) < np.linalg.norm(centered)


def test_factors_are_the_same_for_any_threads_and_seed_decides(monkeypatch):
    monkeypatch.setattr(features, "BLOCK", 4)
    arcs = random_arcs(5, n=50)
    one = log_ppr_factors(arcs, 50, 8, n_landmarks=20, random_state=3, n_jobs=1)
    many = log_ppr_factors(arcs, 50, 8, n_landmarks=20, random_state=3, n_jobs=3)
    other = log_ppr_factors(arcs, 50, 8, n_landmarks=20, random_state=4, n_jobs=1)
    np.testing.assert_array_equal(one, many)
    assert not np.allclose(one[0], other[0])


def test_budget_limits_landmarks(monkeypatch):
    monkeypatch.setattr(features, "WALK_BUDGET", 0)
    monkeypatch.setattr(features, "FEWEST_LANDMARKS", 7)
    source, _ = log_ppr_factors(random_arcs(6), 25, 20)
    assert source.shape[1] <= 7


def test_nodes_without_arcs_have_a_location():
    source, target = log_ppr_factors(np.array([[0, 1]]), 4, 4)
    assert np.isfinite(source).all()
    M = source @ target.T
    assert M[2, 2] > 1
    np.testing.assert_allclose([M[2, 0], M[2, 3], M[0, 2]], 0, atol=1e-4)


def test_neighbor_average_is_that_of_loops():
    arcs = np.concatenate([random_arcs(7), [[0, 1], [1, 0], [0, 1]]])
    arcs = np.concatenate([arcs, arcs[:4]])  # repetitions count once
    X = np.random.default_rng(0).normal(size=(26, 3))
    linked = {tuple(a) for a in arcs.tolist()}
    near = {k: {j for j in range(26) if j == k or (j, k) in linked or (k, j) in linked} for k in range(26)}
    expected = [sum(X[j] / np.sqrt(len(near[i]) * len(near[j])) for j in near[i]) for i in range(26)]
    np.testing.assert_allclose(neighbor_average(arcs, 26) @ X, expected, atol=1e-12)


def test_factors_of_words_keep_the_angles_of_tf_idf():
    rng = np.random.default_rng(1)
    counts = (rng.random((30, 12)) < 0.3).astype(float)
    counts[4] = 0
    words = TfidfTransformer().fit_transform(counts)
    for given_as in (counts, sparse.csr_matrix(counts), sparse.csr_array(counts)):
        X = feature_factors(given_as, 12)
        np.testing.assert_allclose(X @ X.T, (words @ words.T).toarray(), atol=1e-8)
    assert feature_factors(counts, 5).shape == (30, 5)


def test_other_features_are_standardized():
    X = np.random.default_rng(2).normal(size=(40, 6)) * [1, 10, 100, 1, 1, 0] + 5
    Z = feature_factors(X - 50, 6)
    standard = (X - X.mean(0)) / np.where(X.std(0) > 1e-9, X.std(0), 1)
    np.testing.assert_allclose(Z @ Z.T, standard @ standard.T, atol=1e-8)


def test_unit_rows():
    rows = unit_rows(np.random.default_rng(0).normal(size=(5, 3)))
    np.testing.assert_allclose((rows**2).sum(axis=1), 1)


def test_structure_sees_arcs_and_nothing_else():
    """The functions ask for arcs, a number of nodes and features: there is no way in for a held-out pair."""
    for function in (spring_heights, choose_ridge, log_ppr_factors, neighbor_average):
        parameters = inspect.signature(function).parameters.items()
        required = {name for name, p in parameters if p.default is inspect.Parameter.empty}
        assert required <= {"arcs", "n", "rank", "ridge"}


def test_no_held_out_direction_reaches_the_inputs():
    """Turning every held-out arc round changes the answers asked for, and nothing that a model is given."""
    arcs = random_arcs(9, n=80, degree=5)
    split = split_links(arcs, n_nodes=80)
    hidden = np.concatenate([split.test_pairs, split.validation_pairs])
    hidden = {tuple(p) for p in np.concatenate([hidden, hidden[:, ::-1]]).tolist()}
    turned = np.array([(v, u) if (u, v) in hidden else (u, v) for u, v in arcs.tolist()])
    other = split_links(turned, n_nodes=80)
    assert (split.test.direction.labels == other.test.direction.labels).all()
    np.testing.assert_array_equal(split.test.direction.pairs, other.test.direction.pairs[:, ::-1])
    for make in (
        lambda s: springrank(s.observed, 80),
        lambda s: log_ppr_factors(s.observed, 80, 8, n_jobs=1),
        lambda s: neighbor_average(s.observed, 80).toarray(),
    ):
        np.testing.assert_array_equal(make(split), make(other))
    assert not np.allclose(springrank(arcs, 80), springrank(turned, 80))  # the whole graphs do differ


class TestErrors:
    @pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix])
    def test_features(self, wrap):
        with pytest.raises(ValueError, match=r"\(4, features\), a row for each node; found \(3, 2\)"):
            node_features(wrap(np.ones((3, 2))), LabelIndex(None, 4))
        with pytest.raises(ValueError, match="those of node 2 are not"):
            node_features(wrap([[1.0, 0], [0, 1], [np.nan, 1]]), LabelIndex(None, 3))
