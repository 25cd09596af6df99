"""The objective over sampled pairs: against the one over all pairs, brute force, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from finsler.graphs.digraph import as_digraph
from finsler.graphs.paths import shortest_paths

torch = pytest.importorskip("torch")

from finsler.learn import digraph_sampled  # noqa: E402
from finsler.learn.digraph import DigraphEmbedding  # noqa: E402
from finsler.learn.digraph_objective import RankedStress, hop_counts  # noqa: E402
from finsler.learn.digraph_sampled import SampledRankedStress  # noqa: E402

quiet = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def citations(n=250, cites=4, seed=0):
    """Each node has arcs to earlier ones that are near to it in a hidden plane; a few arcs run back."""
    rng = np.random.default_rng(seed)
    places = rng.random((n, 2))
    arcs = [
        (i, j)
        for i in range(1, n)
        for j in np.argsort(np.linalg.norm(places[:i] - places[i], axis=1) + 0.2 * rng.random(i))[:cites]
    ]
    arcs += [(j, i) for i, j in arcs[:: n // 10]]
    tails, heads = np.unique(arcs, axis=0).T
    return as_digraph(csr_array((np.ones(len(tails)), (tails, heads)), shape=(n, n)))


def sources_of(graph):
    return np.flatnonzero(np.diff(graph.matrix.indptr))


def sampled(graph, **options):
    options = {"n_jobs": 1, "dtype": np.float64, **options}
    return SampledRankedStress(graph, sources_of(graph), 0.1, 0.2, **options)


def some_map(graph, m=3, seed=1):
    return torch.from_numpy(2 * np.random.default_rng(seed).normal(size=(graph.n_nodes, m)))


def test_a_sample_of_everything_is_the_whole_objective():
    graph = citations()
    sources = sources_of(graph)
    X = some_map(graph)
    F = sampled(graph, n_pairs=10**6, near=graph.n_nodes, others=0)
    F.renew(X, 0.5)
    found = F(X, 0.5)
    G = RankedStress(hop_counts(graph, sources, 1), sources, 0.1, 0.2, dtype=torch.float64, n_jobs=1)
    whole = G(X, 0.5)
    assert found.value == pytest.approx(whole.value, rel=1e-9)
    assert found.distortion == pytest.approx(whole.distortion, rel=1e-9)
    assert found.ranking == pytest.approx(whole.ranking, rel=1e-9)
    assert found.alpha_gradient == pytest.approx(whole.alpha_gradient, rel=1e-6)
    np.testing.assert_allclose(found.gradient.numpy(), whole.gradient.numpy(), atol=1e-8)
    np.testing.assert_allclose(F.node_curvature().numpy(), G.node_curvature().numpy(), rtol=1e-10)


@pytest.mark.parametrize(("near", "others"), [(6, 0), (6, 5)])
def test_gradients_against_finite_differences(near, others):
    graph = citations(60)
    X = some_map(graph)
    F = sampled(graph, n_pairs=5, near=near, others=others)
    F.renew(X, 0.6)
    found = F(X, 0.6)
    step = 1e-5
    rng = np.random.default_rng(0)
    for _ in range(12):
        i, k = rng.integers(60), rng.integers(3)
        there = torch.zeros_like(X)
        there[i, k] = step
        slope = (F(X + there, 0.6).value - F(X - there, 0.6).value) / (2 * step)
        assert float(found.gradient[i, k]) == pytest.approx(slope, rel=1e-4, abs=1e-7)
    slope = (F(X, 0.6 + step).value - F(X, 0.6 - step).value) / (2 * step)
    assert found.alpha_gradient == pytest.approx(slope, rel=1e-5)


def test_single_precision_is_near_enough():
    graph = citations()
    X = some_map(graph)
    single, double = (sampled(graph, dtype=dtype) for dtype in (np.float32, np.float64))
    for F in (single, double):
        F.renew(X, 0.9)
    ours, exact = single(X, 0.9), double(X, 0.9)
    assert ours.value == pytest.approx(exact.value, rel=1e-5)
    scale = float(exact.gradient.abs().max())
    np.testing.assert_allclose(ours.gradient.numpy(), exact.gradient.numpy(), atol=1e-4 * scale)


def test_sampled_pairs_have_their_distances_and_stand_for_all():
    graph = citations()
    F = sampled(graph, n_pairs=40)
    D = shortest_paths(graph.matrix, method="bfs", verbose=False)
    tails, heads, hops = F._pairs
    tails, heads = F.order[tails], F.order[heads]
    np.testing.assert_array_equal(hops, D[tails, heads])
    assert len(np.unique(tails * graph.n_nodes + heads)) == len(tails)  # none twice
    far = (np.isfinite(D) & (D > 1)).sum(axis=1)
    counts = np.bincount(tails, minlength=graph.n_nodes)
    assert (counts >= np.minimum(far, digraph_sampled.LEAST_PAIRS)).all()
    assert len(tails) < 0.8 * far.sum()
    weights = np.empty(graph.n_nodes)
    weights[F.order] = F._pair_weights
    np.testing.assert_allclose(counts * weights, far * F._arc_weight)
    assert 1 / F._arc_weight == pytest.approx((np.isfinite(D) & (D > 0)).sum())


def test_the_distortion_of_samples_is_right_in_the_mean():
    graph = citations()
    sources = sources_of(graph)
    X = some_map(graph)
    whole = RankedStress(hop_counts(graph, sources, 1), sources, 0.1, 0.2, dtype=torch.float64, n_jobs=1)
    found = [sampled(graph, n_pairs=33, seed=seed)(X, 0.5).distortion for seed in range(40)]
    error = np.std(found) / np.sqrt(len(found))
    assert error < 0.01 * np.mean(found)
    assert abs(np.mean(found) - whole(X, 0.5).distortion) < 4 * error


@pytest.mark.parametrize("alpha", [0.0, 0.9])
def test_the_nearest_strangers(alpha, monkeypatch):
    """All of them where everything is looked at, and nearly all where a quarter is."""
    graph = citations(600)
    X = some_map(graph, 4)
    arcs = graph.matrix.toarray() > 0
    difference = X.numpy()[None] - X.numpy()[:, None]
    d = np.linalg.norm(difference, axis=2) + alpha * difference[:, :, -1]
    d[arcs | np.eye(600, dtype=bool)] = np.inf
    F = sampled(graph, near=20)

    def found():
        F.renew(X, alpha)
        return {
            int(F.order[u]): set(F.order[row].tolist()) for u, row in zip(F.sources, F._near, strict=True)
        }

    expected = {int(u): set(np.argsort(d[u])[:20].tolist()) for u in sources_of(graph)}
    assert found() == expected
    monkeypatch.setattr(digraph_sampled, "LEAST_LOOKS", 150)
    some = found()
    recall = np.mean([len(some[u] & expected[u]) / 20 for u in expected])
    assert 0.6 < recall < 1


def test_other_negatives_are_strangers_too():
    graph = citations(60)
    F = sampled(graph, near=5, others=300)
    F.renew(some_map(graph), 0.3)
    arcs = graph.matrix.toarray() > 0
    for row, u in enumerate(F.order[F.sources]):
        drawn = F._others[row]
        allowed = set(np.flatnonzero(~arcs[u]).tolist()) - {u} - set(F.order[F._near[row]].tolist())
        assert set(F.order[drawn[drawn >= 0]].tolist()) <= allowed
        assert abs((drawn >= 0).mean() - len(allowed) / 60) < 0.15  # what is left out is not drawn again


@quiet
@pytest.mark.parametrize("alpha", [0.0, "auto"])
def test_samples_lead_nearly_to_the_map_of_all_pairs(alpha):
    graph = citations(500, 5)
    options = {"n_components": 5, "alpha": alpha, "random_state": 0, "n_jobs": 1, "max_iter": 150}
    whole = DigraphEmbedding(**options).fit(graph).scores()
    fitted = DigraphEmbedding(**options, n_pairs=32).fit(graph)
    scores = fitted.scores()
    assert scores.B < 1.25 * whole.B
    assert scores.MAP > whole.MAP - 0.05
    assert fitted.result_.stress is None  # of all pairs, which nobody computed


@quiet
def test_without_ranking_all_reachable_pairs_are_a_list():
    """The list gives the objective of the rows, and a fit takes it, with nothing to renew."""
    graph = citations(60)
    sources = sources_of(graph)
    rows = RankedStress(hop_counts(graph, sources, 1), sources, 0.0, 0.1, dtype=torch.float64, n_jobs=1)
    pairs = SampledRankedStress(graph, sources, 0.0, 0.1, n_pairs=graph.n_nodes, dtype=np.float64)
    X = some_map(graph)
    assert not pairs.renew(X, 0.4)
    assert pairs._near.size == pairs._others.size == 0
    expected, found = rows(X, 0.4), pairs(X, 0.4)
    assert found.value == pytest.approx(expected.value, rel=1e-10)
    np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-10)
    fitted = DigraphEmbedding(3, ranking_weight=0, max_iter=60, random_state=0, verbose=False).fit(graph)
    assert fitted.objective_ == pytest.approx(fitted.scores().B, rel=1e-10)
