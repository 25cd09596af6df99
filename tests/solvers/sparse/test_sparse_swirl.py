"""Maps whose drift turns from some of the pairs: streams agree with all pairs, pivots with what they stand for."""

import numpy as np
import pytest

from finsler import embed_graph
from finsler.data.matrix import as_dissimilarities
from finsler.datasets import make_gyre, make_ring_road
from finsler.geometry.randers import randers_distances
from finsler.graphs.pivots import pivot_distances
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.smacof import smacof
from finsler.solvers.sparse.problem import ArcPairs, PairStream, SparseProblem, StreamedProblem
from finsler.solvers.sparse.solver import sparse_smacof
from finsler.solvers.sparse.swirl import swirl_problem


def stream_of(D, W=None):
    i, j = np.nonzero(~np.eye(len(D), dtype=bool))
    w = np.ones(len(i)) if W is None else W[i, j]
    return PairStream(
        len(D), [(i[:99], j[:99], D[i[:99], j[:99]], w[:99]), (i[99:], j[99:], D[i[99:], j[99:]], w[99:])]
    )


@pytest.mark.parametrize("swirl", [True, "geodesic", "auto"])
def test_a_stream_of_all_pairs_gives_the_dense_map(swirl):
    D = make_gyre(60).times
    dense = smacof(as_dissimilarities(D), 2, swirl=swirl, verbose=False)
    found = sparse_smacof(stream_of(D), 2, swirl=swirl, random_state=0, tol=1e-8, verbose=False)
    assert found.normalized_stress == pytest.approx(dense.normalized_stress, rel=1e-3)
    assert found.swirl[1, 0] == pytest.approx(dense.swirl[1, 0], rel=1e-2)
    assert found.geodesic == dense.geodesic


def field_at_origin(rng, m, X):
    K = rng.normal(size=(m, m)) * 0.05
    return np.vstack([rng.normal(size=m) * 0.1, K - K.T])


@pytest.mark.parametrize("geodesic", [False, True])
def test_a_stream_has_the_stress_of_its_pairs_and_a_force_that_is_its_slope(geodesic):
    rng = np.random.default_rng(0)
    m = 2 if geodesic else 3
    X = rng.normal(size=(15, m))
    D = randers_distances(X, drift=0.1) * rng.lognormal(sigma=0.2, size=(15, 15))
    D[0, 1:4] *= -1  # bounds
    W = rng.uniform(0, 1, D.shape)
    problem = swirl_problem(StreamedProblem(stream_of(D, W)), 5.0, None, geodesic)
    field = field_at_origin(rng, m, X)

    def stress(Y, field=field):
        d = randers_distances(Y, drift=field[0], swirl=field[1:], geodesic=geodesic)
        r = np.where(D >= 0, d - D, np.minimum(d + D, 0))
        return float((W * r**2)[~np.eye(15, dtype=bool)].sum())

    now = problem.evaluate(X, field)
    assert now.stress == pytest.approx(stress(X), rel=1e-10)
    slope = (stress(X + 1e-6 * now.step) - stress(X - 1e-6 * now.step)) / 2e-6
    assert slope == pytest.approx(-2 * now.decrease, rel=1e-3)
    fitted = problem.fit_drift(X, field)
    if not geodesic:
        for _ in range(5):
            assert (
                stress(X, fitted) <= stress(X, fitted + 1e-3 * (field_at_origin(rng, m, X) - fitted)) + 1e-9
            )
    run = majorize(problem, X, fitted, StopRule(50, 1e-9))
    assert (np.diff(run.history) <= 0).all()


@pytest.mark.parametrize("power", [0, 1, 2])
@pytest.mark.parametrize("geodesic", [False, True])
def test_pivots_partners_and_arcs_without_a_swirl_are_the_canonical_ones(power, geodesic):
    town = make_ring_road(24, n_spokes=6).graph
    from finsler.graphs.digraph import as_digraph

    graph = as_digraph(town)
    data = pivot_distances(graph, 12, random_state=0, verbose=False)
    plain = SparseProblem(data, ArcPairs.of(graph, False), power=power)
    X = np.random.default_rng(0).normal(size=(graph.n_nodes, 2)) * 5
    omega = np.array([0.1, 0.3])
    expected = plain.evaluate(X, omega)
    problem = swirl_problem(plain, 10.0, None, geodesic)
    found = problem.evaluate(X, np.vstack([omega, np.zeros((2, 2))]))
    assert found.stress == pytest.approx(expected.stress, rel=1e-6)
    assert problem.square == pytest.approx(plain.square, rel=1e-6)
    field = np.vstack([omega, [[0, -0.02], [0.02, 0]]])
    now = problem.evaluate(X, field)
    h = 1e-6
    slope = (
        problem.evaluate(X + h * now.step, field).stress - problem.evaluate(X - h * now.step, field).stress
    ) / (2 * h)
    assert slope == pytest.approx(-2 * now.decrease, rel=1e-3)
    # As the pivots are all nodes, the field is the best one.
    everyone = pivot_distances(graph, graph.n_nodes, random_state=0, verbose=False)
    whole = swirl_problem(SparseProblem(everyone, power=power), 10.0, None, False)
    fitted = whole.fit_drift(X, field)
    best = whole.evaluate(X, fitted).stress
    for seed in range(5):
        other = field_at_origin(np.random.default_rng(seed), 2, X)
        assert best <= whole.evaluate(X, fitted + 1e-3 * (other - fitted)).stress * (1 + 1e-9)


@pytest.mark.parametrize("swirl", [True, "geodesic", "auto"])
def test_a_graph_by_pivots(swirl):
    town = make_ring_road(48, n_spokes=12).graph
    options = {"method": "sparse", "n_pivots": 30, "random_state": 0, "verbose": False}
    plain = embed_graph(town, **options)
    found = embed_graph(town, swirl=swirl, **options)
    assert found.kappa > 0
    assert found.normalized_stress < 0.85 * plain.normalized_stress
    assert found.held_out.normalized_stress.value < 0.9 * plain.held_out.normalized_stress.value
    assert found.held_out.asymmetry_shown.share > 0.5
    fixed = embed_graph(town, alpha=0.2, swirl=True, **options)
    assert fixed.alpha == pytest.approx(0.2)


def test_units_of_length_do_not_matter():
    town = make_ring_road(24, n_spokes=6).graph
    options = {"method": "sparse", "n_pivots": 15, "random_state": 0, "swirl": True, "verbose": False}
    once, large = embed_graph(town, **options), embed_graph(town * 1000, **options)
    assert large.kappa == pytest.approx(once.kappa / 1000, rel=1e-4)
    assert large.normalized_stress == pytest.approx(once.normalized_stress, rel=1e-5)
