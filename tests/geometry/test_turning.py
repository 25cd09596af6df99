"""What turns before there is a map: exact data, oracles, noise, gaps and weights."""

import numpy as np
import pytest

from finsler.geometry.pairs import Pairs
from finsler.geometry.randers import randers_distances
from finsler.geometry.turning import turning_shares


@pytest.mark.parametrize("m", [2, 3])
def test_of_exact_data_all_but_the_heights_turns(m):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(25, m))
    K = rng.normal(size=(m, m)) * 0.05
    w = rng.normal(size=m) * 0.1
    D = randers_distances(X, drift=w, swirl=K - K.T)
    A = (D - D.T) / 2
    h = A.mean(axis=0)
    heights = 2 * 25 * (h @ h) / (A**2).sum()
    found = {each.n_components: each for each in turning_shares(Pairs.of(D))}
    assert found[m].share == pytest.approx(1 - heights, abs=1e-9)
    assert found[m].most == pytest.approx(1 - heights, abs=1e-9)
    assert found[m].p == 0.001
    assert found[m].stands_out


def test_against_the_formula_for_uniform_weights():
    """<T, G^-1 T G^-1> / |A|^2 on classical scaling, and Gower's first bimension."""
    rng = np.random.default_rng(0)
    D = rng.uniform(1, 2, (20, 20))
    np.fill_diagonal(D, 0)
    S, A = (D + D.T) / 2, (D - D.T) / 2
    J = np.eye(20) - 1 / 20
    values, vectors = np.linalg.eigh(-0.5 * J @ S**2 @ J)
    first = np.linalg.svd(J @ A @ J, compute_uv=False)[:2]
    for found in turning_shares(Pairs.of(D)):
        m = found.n_components
        X = vectors[:, ::-1][:, :m] * np.sqrt(values[::-1][:m])
        T, G = X.T @ A @ X, np.linalg.inv(X.T @ X)
        assert found.share == pytest.approx((T * (G @ T @ G)).sum() / (A**2).sum(), rel=1e-9)
        assert found.most == pytest.approx((first**2).sum() / (A**2).sum(), rel=1e-9)
        assert not found.stands_out
        draws = []
        for _ in range(300):
            signs = np.triu(rng.choice([-1, 1], (20, 20)), 1)
            B = A * (signs + signs.T)
            T = X.T @ B @ X
            draws.append((T * (G @ T @ G)).sum() / (A**2).sum())
        assert found.noise == pytest.approx(np.mean(draws), rel=0.3)
        assert found.p == pytest.approx(np.mean(np.array(draws) >= found.share), abs=0.1)


def test_weights_and_gaps():
    rng = np.random.default_rng(0)
    D = randers_distances(rng.normal(size=(30, 2)), drift=0.1, swirl=0.1)
    W = rng.uniform(0.5, 2, D.shape)
    gaps = np.triu(rng.uniform(size=D.shape) < 0.2, 1)
    W[gaps | gaps.T] = 0
    plane = turning_shares(Pairs.of(D, W))[0]
    assert plane.share > 0.5
    assert plane.p == 0.001
    paths = turning_shares(Pairs.of(D, W), test=False)[0]
    assert paths.noise is None
    assert paths.p is None
    assert paths.stands_out
    scaled = turning_shares(Pairs.of(1e-100 * D, 1e200 * W))[0]
    assert scaled.share == pytest.approx(plane.share)


def test_where_nothing_can_turn():
    D = randers_distances(np.random.default_rng(0).normal(size=(10, 2)), drift=0.3)
    assert turning_shares(Pairs.of(D)) == ()
    assert turning_shares(Pairs.of(D[:4, :4])) == ()
    assert turning_shares(Pairs.of(D).rows([0, 1])) == ()
