"""The stress of maps whose drift turns: force by differences, the quartic bound, and runs that never rise."""

import numpy as np
import pytest

from finsler.data.matrix import Dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.swirl.field import Field, field_of, map_radius
from finsler.solvers.swirl.problem import Skew, first_minimum, quartic_bound


def slow_stress(X, D, W, field, geodesic=False):
    """Stress at a field, by the formula; a negative D is a bound."""
    w = field[0] - field[1:] @ X.mean(axis=0)  # the drift of a field is the one at the middle
    d = randers_distances(X, drift=w, swirl=field[1:], geodesic=geodesic)
    r = np.where(D >= 0, d - D, np.minimum(d + D, 0))
    W = 1 - np.eye(len(X)) if W is None else np.where(np.eye(len(X)), 0, W)
    return float((W * r**2).sum())


def noisy(rng, n, m, noise=0.2):
    """Random data with a swirl, and a map that is off."""
    X = rng.normal(size=(n, m))
    field = field_of(rng.normal(size=m + m * (m - 1) // 2) * 0.1, m)
    D = randers_distances(X, drift=field[0], swirl=field[1:]) * rng.lognormal(sigma=noise, size=(n, n))
    np.fill_diagonal(D, 0)
    return D, X + 0.3 * rng.normal(size=(n, m)), field


def weights_of(kind, D, rng):
    n = len(D)
    if kind == "missing":
        W = (rng.uniform(size=(n, n)) > 0.3).astype(float)
    elif kind == "one-way":
        W = np.triu(np.ones((n, n)), 1)
        swap = np.triu(rng.uniform(size=(n, n)) > 0.5, 1)
        W = np.where(swap, 0, W) + np.where(swap, 1.0, 0).T
    elif kind == "wild":
        W = 10 ** rng.uniform(-1, 1, size=(n, n))
    elif kind == "inverse-square":
        W = 1 / np.where(D > 0, D, 1) ** 2
    elif kind == "hinge":
        W = np.ones((n, n))
        far = rng.uniform(size=(n, n)) < 0.2
        D[far] = -np.abs(D[far]) * rng.uniform(0.5, 1.5, size=far.sum())
    else:
        return None
    np.fill_diagonal(W, 0)
    np.fill_diagonal(D, 0)
    return W


KINDS = ("uniform", "missing", "one-way", "wild", "inverse-square", "hinge")


def problem_of(D, W, X, geodesic=False, drift=None):
    return MemoryBackend(Dissimilarities(D, W), 1).swirl_problem(1.05 * map_radius(X), drift, geodesic)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
def test_the_stress_is_that_of_the_distances_and_the_step_goes_along_the_force(kind, m):
    rng = np.random.default_rng(3)
    D, X, field = noisy(rng, 14, m)
    W = weights_of(kind, D, rng)
    problem = problem_of(D, W, X)
    now = problem.evaluate(X, field)
    assert now.stress == pytest.approx(slow_stress(X, D, W, now.omega), rel=1e-10)
    assert now.stress <= slow_stress(X, D, W, field) * (1 + 1e-12)
    # The field is the best: its derivative by the points is that of the stress at the field. Along the step
    # the stress falls by -2 <force, step> per unit, and decrease is about that.
    h = 1e-6
    slope = (
        slow_stress(X + h * now.step, D, W, now.omega) - slow_stress(X - h * now.step, D, W, now.omega)
    ) / (2 * h)
    assert slope < 0
    if kind != "uniform":
        assert slope == pytest.approx(-2 * now.decrease, rel=1e-4)


@pytest.mark.parametrize("m", [2, 3])
def test_force_of_uniform_weights_by_differences(m):
    rng = np.random.default_rng(0)
    D, X, field = noisy(rng, 9, m)
    X = X - X.mean(axis=0)
    problem = problem_of(D, None, X)
    now = problem.evaluate(X, field)
    S, A = (D + D.T) / 2, (D - D.T) / 2
    skew = Skew(X.T, A.mean(axis=0))
    skew.times((A @ X).T)
    u = X[None] - X[:, None]
    e = np.linalg.norm(u, axis=2) + np.eye(len(X))
    pull = (((S - e) / e * (1 - np.eye(len(X))))[..., None] * u).sum(axis=0)
    force = pull + skew.force(now.omega).T
    for i in range(len(X)):
        for k in range(m):
            step = np.zeros_like(X)
            step[i, k] = 1e-6
            # A shift of one point moves the middle, where the drift is told; hold the field in space.
            there = _stress_in_space(X + step, D, now.omega, X) - _stress_in_space(X - step, D, now.omega, X)
            assert force[i, k] == pytest.approx(-there / 2e-6 / 4, rel=1e-4, abs=1e-6)


def _stress_in_space(Y, D, field, X):
    drift = field[0] - field[1:] @ X.mean(axis=0)
    d = randers_distances(Y, drift=drift, swirl=field[1:])
    return float(((d - D) ** 2)[~np.eye(len(Y), dtype=bool)].sum())


@pytest.mark.parametrize("m", [2, 3, 4])
def test_the_quartic_lies_above_the_stress_and_its_minimum_is_a_decrease(m):
    for seed in range(20):
        rng = np.random.default_rng(seed)
        D, X, field = noisy(rng, 12, m, noise=0.5)
        X = X - X.mean(axis=0)
        A = (D - D.T) / 2
        skew = Skew(X.T, A.mean(axis=0))
        skew.times((A @ X).T)
        J = np.eye(12) - 1 / 12
        rest = float(((J @ A @ J) ** 2).sum())
        Z = rng.normal(size=X.shape)
        Z -= Z.mean(axis=0)
        # Any direction will do: the force along it, by differences.
        at = slow_stress(X, D, None, field)
        h = 1e-5
        along = -(slow_stress(X + h * Z, D, None, field) - slow_stress(X - h * Z, D, None, field)) / (8 * h)
        q = quartic_bound(X.T, Z.T, Z.T * (along / (Z**2).sum()), field, rest)
        for t in rng.uniform(0, 3, size=20):
            half = (slow_stress(X + t * Z, D, None, field) - at) / 2
            assert half <= np.polyval(q, t) + 1e-6 * at
        if along > 0:
            t = first_minimum(q)
            assert t > 0
            assert np.polyval(q, t) < 0


@pytest.mark.parametrize("geodesic", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_no_run_rises(kind, geodesic):
    for seed in range(10 if not geodesic else 5):
        rng = np.random.default_rng(seed)
        m = 2 if geodesic else 2 + seed % 2
        D, X, _field = noisy(rng, 20, m, noise=0.4)
        W = weights_of(kind, D, rng)
        start = rng.normal(size=X.shape) * 2 if seed % 3 == 0 else X
        problem = problem_of(D, W, X, geodesic)
        run = majorize(problem, start, np.zeros((m + 1, m)), StopRule(60, 1e-9))
        assert (np.diff(run.history) <= 1e-9 * run.history[0]).all()
        final = slow_stress(run.coordinates, D, W, run.omega, geodesic)
        assert run.stress == pytest.approx(final, rel=1e-7)
        assert run.history[-1] < run.history[0]


@pytest.mark.slow
@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_none_of_many_runs_rises(kind, accelerate):
    for seed in range(17):
        rng = np.random.default_rng([seed, accelerate])
        m, geodesic = 2 + seed % 3, seed % 9 == 3
        D, X, _ = noisy(rng, 20, m, noise=0.4)
        W = weights_of(kind, D, rng)
        start = rng.normal(size=X.shape) * 2 if seed % 3 == 0 else X
        problem = problem_of(D, W, X, geodesic and m == 2)
        run = majorize(problem, start, np.zeros((m + 1, m)), StopRule(100, 1e-8), accelerate=accelerate)
        assert (np.diff(run.history) <= 1e-12 * run.history[0]).all()


@pytest.mark.parametrize("kind", ["uniform", "wild", "hinge"])
def test_a_given_drift_stays_and_the_swirl_keeps_the_limit(kind):
    rng = np.random.default_rng(1)
    D, X, _field = noisy(rng, 20, 2, noise=0.8)
    W = weights_of(kind, D, rng)
    drift = np.array([0.0, 0.6])
    problem = problem_of(D, W, X, drift=drift)
    run = majorize(problem, X, np.zeros((3, 2)), StopRule(40, 1e-9))
    np.testing.assert_array_equal(run.omega[0], drift)
    assert abs(run.omega[2, 0]) * 1.05 * map_radius(X) <= 0.999 - 0.6 + 1e-9
    assert (np.diff(run.history) <= 0).all()


def test_the_curvature_is_factorized_once_while_the_drift_hardly_changes(monkeypatch):
    from finsler.solvers.swirl.problem import WeightedSwirlProblem

    rng = np.random.default_rng(0)
    D, X, _ = noisy(rng, 20, 2)
    W = weights_of("wild", D, rng)
    made = []
    factorize = WeightedSwirlProblem._factorized
    monkeypatch.setattr(
        WeightedSwirlProblem, "_factorized", lambda self, a: made.append(a) or factorize(self, a)
    )
    for drift in (None, np.array([0.0, 0.1])):
        made.clear()
        run = majorize(problem_of(D, W, X, drift=drift), X, np.zeros((3, 2)), StopRule(30, 1e-12))
        assert run.n_iter > 10
        assert len(made) <= 5


def test_fields_pack_and_unpack():
    field = Field(np.array([0.1, 0.2]), np.array([[0.0, -0.3], [0.3, 0.0]]), True)
    again = Field.unpacked(field.packed, True)
    np.testing.assert_array_equal(again.swirl, field.swirl)
    assert again.kappa == 0.3
    assert Field(np.zeros(2)).packed.shape == (2,)
