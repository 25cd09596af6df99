"""Local maxima and minima on a graph, by brute force."""

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, random_array

from finsler.geometry.heights import local_extrema


def slow_extrema(h, graph, hops):
    """Plateaus by flooding, each compared with all that lies within reach of its points."""
    n = len(h)
    near = [set() for _ in range(n)]
    for i, j in zip(*graph.nonzero(), strict=True):
        near[i].add(int(j))
        near[j].add(int(i))
    reach = []
    for i in range(n):
        ball = {i}
        for _ in range(hops):
            ball |= {k for j in ball for k in near[j]}
        reach.append({j for j in ball - {i} if not np.isnan(h[j])})
    maxima, minima, seen = [], [], set()
    for i in range(n):
        if i in seen or np.isnan(h[i]):
            continue
        plateau, queue = {i}, [i]
        while queue:
            for j in reach[queue.pop()]:
                if h[j] == h[i] and j not in plateau:
                    plateau.add(j)
                    queue.append(j)
        seen |= plateau
        around = [h[j] for k in plateau for j in reach[k] if j not in plateau]
        if around and max(around) < h[i]:
            maxima.append(i)
        if around and min(around) > h[i]:
            minima.append(i)
    return sorted(maxima, key=lambda k: (-h[k], k)), sorted(minima, key=lambda k: (h[k], k))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_local_extrema_by_brute_force(seed, hops):
    rng = np.random.default_rng(seed)
    graph = random_array((40, 40), density=0.04, rng=rng)
    h = rng.integers(0, 6, 40).astype(float) if seed % 2 else rng.normal(size=40)
    h[rng.random(40) < 0.1] = np.nan
    found = local_extrema(h, graph, hops=hops)
    maxima, minima = slow_extrema(h, graph, hops)
    assert found.maxima.tolist() == maxima
    assert found.minima.tolist() == minima


def test_local_extrema_of_odd_graphs():
    loop = coo_array(([1.0, 0.0], ([0, 1], [0, 2])), shape=(3, 3))
    maxima, minima = local_extrema([5.0, 1.0, 2.0], loop)
    assert (maxima.tolist(), minima.tolist()) == ([2], [1]), "a stored zero joins, a loop does not"
    for h, graph, error, match in (
        (np.zeros((2, 2)), csr_array((2, 2)), ValueError, "one number per point"),
        (np.zeros(3), csr_array((2, 2)), ValueError, "each of the 3 points"),
        (np.zeros(2), np.zeros((2, 2)), TypeError, "scipy sparse array, got ndarray"),
    ):
        with pytest.raises(error, match=match):
            local_extrema(h, graph)
    with pytest.raises(ValueError, match="hops must be at least 1"):
        local_extrema(np.zeros(2), csr_array((2, 2)), hops=0)
