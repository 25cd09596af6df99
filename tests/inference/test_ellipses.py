"""Ellipses in closed form against the same with the whole Jacobian, reference values and simulation."""

import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from finsler import embed_graph, embed_matrix, randers_distances
from finsler.datasets import make_city
from finsler.errors import InputError
from finsler.inference import confidence
from finsler.inference.alignment import best_motion
from finsler.inference.ellipses import _curvatures, _inverse, _residuals

from helpers import random_dissimilarities, spiral


def slow(embedding, fitted, curved=True):
    """Covariance of coordinates and drift, with derivatives by finite differences and all of it written out."""
    X, n, m = embedding.coordinates, *embedding.coordinates.shape
    D, W = embedding.data.matrix, embedding.data.weights
    W = np.ones((n, n)) if W is None else W
    pairs = [(i, j) for i in range(n) for j in range(n) if i != j and W[i, j] > 0]

    def distances(x):
        Y, omega = x[: n * m].reshape(n, m), x[n * m :] if fitted else embedding.drift
        d = randers_distances(Y, drift=omega)
        return np.array([d[p] for p in pairs])

    x = np.concatenate([X.ravel(), embedding.drift]) if fitted else X.ravel()
    J = np.array([(distances(x + e) - distances(x - e)) / 2e-6 for e in 1e-6 * np.eye(len(x))]).T
    w, r = np.array([W[p] for p in pairs]), np.array([D[p] for p in pairs]) - distances(x)
    H = J.T @ (w[:, None] * J)
    Q = np.linalg.svd(H)[0][:, : np.linalg.matrix_rank(H, tol=1e-6 * H.max())]
    if curved:
        target = np.array([D[p] for p in pairs])

        def stress(x):
            return w @ (target - distances(x)) ** 2

        steps = 1e-4 * np.eye(len(x))
        H = np.array([
            [stress(x + a + b) - stress(x + a - b) - stress(x - a + b) + stress(x - a - b) for a in steps] for b in steps
        ]) / 8e-8  # fmt: skip
    G = Q @ np.linalg.inv(Q.T @ H @ Q) @ Q.T
    leverage = w * np.einsum("ka,ab,kb->k", J, G, J)
    s = (w * r / np.maximum(1 - leverage, 0.05))[:, None] * J
    scores = {}
    for (i, j), one in zip(pairs, s, strict=True):
        scores[frozenset((i, j))] = scores.get(frozenset((i, j)), 0) + one
    C = G @ sum(np.outer(one, one) for one in scores.values()) @ G
    # Rotations of the points are taken out, the drift turned along.
    T = np.eye(n * m + m, len(x))
    for a, b in combinations(range(m), 2):
        S = np.zeros((m, m))
        S[a, b], S[b, a] = 1, -1
        assert m == 2, "one rotation only"
        turn = ((X - X.mean(axis=0)) @ S).ravel()
        angle = turn / (turn @ turn)
        T[: n * m, : n * m] -= np.outer(turn, angle)
        T[n * m :, : n * m] -= np.outer(embedding.drift @ S, angle)
    return T @ C @ T.T


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", ["auto", 0.3])
def test_derivatives_by_differences_give_the_same(weighted, alpha):
    D = spiral(9)
    W = np.random.default_rng(0).uniform(0.5, 1.5, D.shape) if weighted else None
    if weighted:
        W[0, 1] = 0.0
    embedding = embed_matrix(D, weights=W, alpha=alpha)
    found, C = confidence(embedding), slow(embedding, alpha == "auto")
    for i in range(9):
        block = slice(2 * i, 2 * i + 2)
        np.testing.assert_allclose(found.covariance[i], C[block, block], rtol=1e-4, atol=1e-8)
    assert (found.alpha_se is None) == (alpha == 0.3)
    if alpha == "auto":
        assert found.alpha_se == pytest.approx(np.sqrt(C[-1, -1]), rel=1e-4)
    assert found.tilt_se == pytest.approx(np.degrees(np.sqrt(C[-2, -2])) / embedding.alpha, rel=1e-4)


def test_reference_values_without_curvature():
    """Values of a program of its own, which leaves out second derivatives: with them, the tests above hold."""
    embedding = embed_matrix(spiral(), tol=1e-10)
    C = slow(embedding, fitted=True, curved=False)
    assert embedding.alpha == pytest.approx(0.399358, abs=1e-5)
    assert embedding.normalized_stress == pytest.approx(0.137700, abs=1e-6)
    assert np.sqrt(C[-1, -1]) == pytest.approx(0.011658, abs=2e-6)
    assert np.degrees(np.sqrt(C[-2, -2])) / embedding.alpha == pytest.approx(1.816, abs=1e-3)
    expected = [[0.064373, 0.006736], [0.006736, 0.027235]]
    np.testing.assert_allclose(np.abs(C[38:40, 38:40]), expected, atol=5e-6)
    found = confidence(embedding)
    assert found.alpha_se == pytest.approx(0.011658, rel=0.1)
    np.testing.assert_allclose(np.abs(found.covariance[19]), expected, rtol=0.2, atol=2e-3)


def test_refits_move_as_the_curvature_says():
    """A changed entry of D moves the map by H+ w J': the derivative that all of it rests on, by fitting again."""
    D, step = spiral(8) * np.random.default_rng(0).lognormal(sigma=0.2, size=(8, 8)), 3e-3
    embedding = embed_matrix(D, tol=1e-14, max_iter=10_000)
    of = _residuals(embedding)
    G = _inverse(*_curvatures(of, True))
    for i, j in ((0, 1), (5, 2), (3, 7)):
        moved = []
        for sign in (1, -1):
            E = D.copy()
            E[i, j] += sign * step
            again = embed_matrix(E, init=embedding.coordinates, tol=1e-14, max_iter=10_000)
            moved.append(randers_distances(again.coordinates, drift=again.drift))
        J = np.zeros((8, 2))
        J[j], J[i] = of.g[i, j], -of.g[i, j]
        change = G @ np.concatenate([J.ravel(), of.u[i, j]])
        x, omega = change[:16].reshape(8, 2), change[16:]
        expected = np.einsum("ijk,ijk->ij", of.g, x[None] - x[:, None]) + of.u @ omega
        np.testing.assert_allclose((moved[0] - moved[1]) / (2 * step), expected, atol=5e-4)


def test_a_map_that_is_at_no_minimum_is_refused():
    D = spiral(8)
    found = embed_matrix(D)
    X = np.random.default_rng(0).normal(size=(8, 2))
    with pytest.raises(InputError, match="minimum"):
        confidence(replace(found, coordinates=X - X.mean(axis=0)))


@pytest.mark.parametrize("scale", [1e-50, 1e7, 1e50])
def test_scale_and_order_of_points(scale):
    D, order = spiral(10), np.random.default_rng(0).permutation(10)
    one = confidence(embed_matrix(D, tol=1e-12))
    scaled = confidence(embed_matrix(scale * D[np.ix_(order, order)], tol=1e-12))
    np.testing.assert_allclose(scaled.half_axes / scale, one.half_axes[order], rtol=1e-3)
    assert scaled.alpha_se == pytest.approx(one.alpha_se, rel=1e-3)


def test_coverage():
    held, close, rng = 0, 0, np.random.default_rng(0)
    X = rng.normal(size=(12, 2))
    d = randers_distances(X, drift=0.4)
    for _ in range(60):
        result = embed_matrix(d * np.where(np.eye(12), 1, 1 + 0.1 * rng.normal(size=d.shape)))
        found = confidence(result)
        held += found.covers(best_motion(result.coordinates, X, free=True, scaled=False)(X)).sum()
        close += abs(result.alpha - 0.4) <= 1.96 * found.alpha_se
    assert 0.9 <= held / 720 <= 0.985
    assert close >= 51


def test_three_dimensions_and_one():
    D, _ = random_dissimilarities(12, 2)
    for m in (1, 3):
        found = confidence(embed_matrix(D, n_components=m, alpha=0.2))
        assert found.half_axes.shape == (12, m)
        assert (found.half_axes > 0).all()
        assert (found.tilt_se is None) == (m == 1)


def test_result():
    found = confidence(embed_matrix(spiral(), labels=[f"p{i}" for i in range(20)]))
    assert "least sure: p" in str(found)
    assert re.search(r"alpha = 0.399\d ± 0.012", str(found))
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert record["alpha_se"] == found.alpha_se
    assert len(record["half_axes"]) == 20
    wider = confidence(found.embedding, level=0.99)
    assert wider.radius > found.radius
    assert found.covers(found.embedding.coordinates).all()


def test_maps_of_disparities_are_refused():
    with pytest.raises(InputError, match=r"ratio.*replicates"):
        confidence(embed_matrix(spiral(), scaling="ordinal"))


def test_what_is_refused():
    embedding = embed_matrix(spiral(8))
    with pytest.raises(InputError, match="level"):
        confidence(embedding, level=95)
    with pytest.raises(InputError, match="data"):
        confidence(replace(embedding, data=None))
    with pytest.raises(InputError, match="too few"):
        confidence(embed_matrix(spiral(4), n_components=3, alpha=0.2))
    with pytest.raises(InputError, match="lengths of shortest paths"):
        confidence(embed_graph(make_city(30).graph))
    with pytest.raises(InputError, match="swirl"):
        confidence(embed_matrix(spiral(8), swirl=True))
    with pytest.raises(InputError, match="least stress"):
        confidence(embed_matrix(spiral(8), solver="classical", alpha=0.3))
    D = spiral(8)
    D[0, 1] = np.inf
    with pytest.raises(InputError, match="hinge"):
        confidence(embed_matrix(D, missing="hinge"))


def test_ellipses_as_numbers_lie_on_their_rim():
    found = confidence(embed_matrix(spiral(12), verbose=False))
    for one, C in zip(json.loads(json.dumps(found.ellipses)), found.covariance, strict=True):
        for t in (0.0, 0.7, 2.0):
            turn = np.array([np.cos(t), np.sin(t)]) * one["half_axes"]
            step = turn @ np.array(one["axes"])
            assert step @ np.linalg.inv(C) @ step == pytest.approx(found.radius**2)
        assert one["half_axes"][0] >= one["half_axes"][1]
    assert [one["center"] for one in found.ellipses] == found.embedding.coordinates.tolist()
