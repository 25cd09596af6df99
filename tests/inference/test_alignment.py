"""Procrustes with the drift kept, against brute force and reference values; PROTEST; `Embedding.align`."""

import json

import numpy as np
import pytest
from scipy.optimize import minimize

from finsler import embed_matrix, randers_distances
from finsler.errors import InputError
from finsler.inference import compare_maps, procrustes
from finsler.inference.alignment import aligned_series, aligned_to, protest

from helpers import random_dissimilarities, spiral


def two_maps(n=12, m=3, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, m)), rng.normal(size=(n, m)) + 3


def test_reference_values():
    X, turn = spiral(points=True), np.radians(30)
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    Y = X @ R + 0.1 * np.sin(np.arange(20))[:, None]
    kept, free = procrustes(X, Y), procrustes(X, Y, drift="free")
    assert (kept.r, kept.scale) == (pytest.approx(0.865390, abs=1e-6), pytest.approx(0.864018, abs=1e-6))
    assert free.r == pytest.approx(0.999528, abs=1e-6)
    assert free.angle == pytest.approx(30, abs=0.1)


@pytest.mark.parametrize("drift", ["kept", "free"])
def test_no_motion_is_better(drift):
    A, B = two_maps()
    found = procrustes(A, B, drift=drift)
    best = ((found.image - A) ** 2).sum()
    centered = A - A.mean(axis=0)
    assert best == pytest.approx((centered**2).sum() * (1 - found.r**2))
    np.testing.assert_allclose(found.image, found.scale * B @ found.rotation + found.shift)
    np.testing.assert_allclose(found.rotation @ found.rotation.T, np.eye(3), atol=1e-12)
    if drift == "kept":
        assert found.rotation[-1, -1] == 1
        assert (found.rotation[-1, :-1] == 0).all()
    rng, mirror = np.random.default_rng(1), np.diag([-1.0, 1.0, 1.0])

    def turned(angles):
        a, b, c = angles if drift == "free" else (angles[0], 0.0, 0.0)
        out = np.eye(3)
        for (k, m), angle in zip(((0, 1), (0, 2), (1, 2)), (a, b, c), strict=True):
            T = np.eye(3)
            T[k, k] = T[m, m] = np.cos(angle)
            T[k, m], T[m, k] = -np.sin(angle), np.sin(angle)
            out = out @ T
        return out

    def loss(x, flip):
        return ((x[0] * B @ (mirror if flip else np.eye(3)) @ turned(x[1:4]) + x[4:] - A) ** 2).sum()

    for flip in (False, True):
        for _ in range(6):
            tried = minimize(loss, rng.normal(size=7), args=(flip,))
            assert tried.fun >= best - 1e-6 or tried.x[0] < 0


def test_one_dimension():
    A, B = np.array([[0.0], [1.0], [3.0]]), np.array([[1.0], [3.0], [7.0]])
    assert procrustes(A, B).r == pytest.approx(1)
    assert procrustes(A, -B).r == pytest.approx(-1)  # up stays up
    assert procrustes(A, -B, drift="free").r == pytest.approx(1)


def test_points_are_matched_by_labels():
    D = spiral(12)
    a = embed_matrix(D, labels=list("abcdefghijkl"))
    order = np.array([3, 1, 4, 0, 5, 9, 2, 6, 8, 7])
    b = embed_matrix(2 * D[np.ix_(order, order)], labels=[*"abcdefghijkl"[:0], *(a.labels[i] for i in order)])
    found = compare_maps(a, b, n_permutations=99)
    assert found.r > 0.99
    assert found.labels == [label for label in a.labels if label in b.labels]
    assert found.n_only == (2, 0)
    assert found.scale == pytest.approx(0.5, rel=0.05)
    assert (found.drift, found.p_value) == ("kept", 0.01)
    assert "2 on one map only" in str(found)
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["p_value"] == 0.01
    assert len(record["moves"]) == 10
    assert compare_maps(a, embed_matrix(D, labels=a.labels, alpha=0), n_permutations=0).drift == "free"


def test_alignment_changes_no_distance():
    D, _ = random_dissimilarities(10, 5)
    a, b = embed_matrix(D, n_components=3, alpha=0.3), embed_matrix(D * 1.01, n_components=3, alpha=0.3)
    moved = b.align(a)
    np.testing.assert_allclose(moved.distances(), b.distances(), atol=1e-9)
    before, after = (((x.coordinates - a.coordinates) ** 2).sum() for x in (b, moved))
    assert after <= before + 1e-9
    mirrored = embed_matrix(D, n_components=3, alpha=0.3)
    object.__setattr__(mirrored, "coordinates", mirrored.coordinates * [-1, 1, 1] + 2)
    np.testing.assert_allclose(mirrored.align(a).coordinates, a.coordinates, atol=1e-6)
    series = aligned_series([a, b, mirrored])
    np.testing.assert_allclose(series[2].coordinates, a.coordinates, atol=0.05)


@pytest.mark.parametrize("drift", ["kept", "free"])
def test_protest_by_hand_and_its_level(drift):
    A, B = two_maps(8, 2)
    found = protest(A, B, drift, 20, 0)
    rng = np.random.default_rng(0)
    null = [procrustes(A, B[rng.permutation(8)], drift=drift).r for _ in range(20)]
    assert found.null == pytest.approx(null)
    assert found.statistic == pytest.approx(procrustes(A, B, drift=drift).r)
    rejected = sum(protest(*two_maps(10, 2, seed), drift, 99, seed).significant for seed in range(300))
    assert 4 <= rejected <= 28  # 15 expected


def test_a_drift_that_turns_is_moved_along():
    X = np.random.default_rng(0).uniform(-1, 1, size=(12, 2))
    D = randers_distances(X, drift=[0.1, 0.2], swirl=0.5)
    found, like = embed_matrix(D, swirl=True), embed_matrix(D, alpha=0.0)
    moved = found.align(like)
    assert np.abs(moved.coordinates - found.coordinates).max() > 0.01
    np.testing.assert_allclose(moved.distances(), found.distances(), atol=1e-9)
    assert compare_maps(found, like, n_permutations=0).drift == "free"


def test_what_cannot_be_compared():
    with pytest.raises(InputError, match="on one spot"):
        protest(np.zeros((6, 2)), np.eye(6, 2), "kept", 19, 0)
    D, _ = random_dissimilarities(6, 1)
    a = embed_matrix(D, labels=list("abcdef"))
    with pytest.raises(InputError, match="dimensions"):
        compare_maps(a, embed_matrix(D, n_components=3))
    with pytest.raises(InputError, match="share 0"):
        compare_maps(a, embed_matrix(D, labels=list("uvwxyz")))
    with pytest.raises(InputError, match="labels"):
        compare_maps(a, embed_matrix(D[:5, :5]))
    with pytest.raises(InputError, match="at least 4 points"):
        compare_maps(embed_matrix(D[:3, :3]), embed_matrix(D[:3, :3].T))
    with pytest.raises(InputError, match="drift"):
        procrustes(a.coordinates, a.coordinates, drift="loose")
    with pytest.raises(InputError, match="finite"):
        procrustes([[0.0, np.nan], [1, 2]], [[0.0, 1], [1, 2]])


def test_a_map_with_a_swirl_is_moved_with_its_drift():
    from finsler.datasets import make_gyre

    sea = make_gyre(30)
    turning, other = embed_matrix(sea.times, swirl=True), embed_matrix(sea.times.T, swirl=True)
    moved = aligned_to(turning, other)
    np.testing.assert_allclose(moved.distances(), turning.distances(), atol=1e-9)
    assert (
        np.abs(moved.coordinates - other.coordinates).max()
        < np.abs(turning.coordinates - other.coordinates).max()
    )
    assert moved.kappa == pytest.approx(-other.kappa, rel=1e-3)  # the same places, the other way round
    assert compare_maps(turning, other, n_permutations=0).drift == "free"
