"""A pass of the solver against the definitions: stress by a loop, force by its gradient."""

from itertools import pairwise

import numpy as np
import pytest

from finsler.data.matrix import Dissimilarities
from finsler.geometry.stress import PAIRS_OF_A_ROW, triangle_edges
from finsler.kernels import dense
from finsler.solvers import problem as problems
from finsler.solvers.backends import passes
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.problem import conjugate_gradients, split

from helpers import random_problem, slow_gradient, slow_stress


def make(D, W, omega, n_jobs=None):
    return MemoryBackend(Dissimilarities(D, W), n_jobs).problem(omega)


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "asymmetric", "missing", "hinge"])
@pytest.mark.parametrize("m", [1, 2, 3, 4, 6])
def test_a_pass_gives_the_stress_and_a_step_along_the_force(kind, m):
    X, D, W = random_problem(m, n=37, m=m, kind=kind)
    omega = np.zeros(m)
    omega[-1] = 0.6
    out = make(D, W, omega).evaluate(X, omega)
    assert out.stress == pytest.approx(slow_stress(X, D, W, omega), rel=1e-12)
    force = -slow_gradient(X, D, W, omega) / 4
    assert out.decrease == pytest.approx(2 * np.vdot(out.step, force), rel=1e-9)
    # V step = force, with V written out from the definition.
    weight = np.ones_like(D) if W is None else W
    p, q = (weight + weight.T) / 2, (weight - weight.T) / 2
    across, along = p + 2 * 0.6 * np.abs(q), 0.36 * p

    def laplacian(a):
        a = a - np.diag(np.diag(a))
        return np.diag(a.sum(1)) - a

    np.testing.assert_allclose(laplacian(across) @ out.step[:, :-1], force[:, :-1], atol=1e-9)
    np.testing.assert_allclose(laplacian(across + along) @ out.step[:, -1], force[:, -1], atol=1e-9)


@pytest.mark.parametrize("kind", ["uniform", "symmetric", "asymmetric", "missing", "hinge"])
def test_the_step_takes_off_what_it_promises(kind):
    for seed in range(20):
        X, D, W = random_problem(seed, n=15, m=2, kind=kind)
        omega = np.array([0.0, 0.9])
        problem = make(D, W, omega)
        before = problem.evaluate(X, omega)
        after = problem.evaluate(X + before.step, omega)
        assert before.decrease >= 0
        assert before.stress - after.stress >= before.decrease * (1 - 1e-9)


@pytest.mark.parametrize("kind", ["uniform", "asymmetric", "missing"])
def test_any_direction_of_the_drift_is_the_last_axis_turned(kind):
    X, D, W = random_problem(1, n=20, m=3, kind=kind)
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    omega = np.array([0.0, 0.0, 0.7])
    straight = make(D, W, omega).evaluate(X, omega)
    turned = make(D, W, omega @ turn).evaluate(X @ turn, omega @ turn)
    assert turned.stress == pytest.approx(straight.stress, rel=1e-12)
    np.testing.assert_allclose(turned.step, straight.step @ turn, atol=1e-10)


@pytest.mark.parametrize("n", [401, 700])
@pytest.mark.parametrize("kind", ["uniform", "asymmetric"])
def test_threads_do_not_change_a_bit(n, kind):
    X, D, W = random_problem(2, n=n, m=3, kind=kind)
    omega = np.array([0.0, 0.0, 0.5])
    results = [make(D, W, omega, jobs).evaluate(X, omega) for jobs in (1, 2, 5)]
    for other in results[1:]:
        assert other.stress == results[0].stress
        np.testing.assert_array_equal(other.step, results[0].step)


def test_float32_data_are_read_as_they_are():
    X, D, _ = random_problem(0, n=50, m=3)
    omega = np.array([0.0, 0.0, 0.5])
    single = make(D.astype(np.float32), None, omega)
    assert single.panels.panel[0].dtype == np.float32
    assert single.evaluate(X, omega).stress == pytest.approx(slow_stress(X, D, None, omega), rel=1e-6)


def test_coincident_points_give_a_finite_step():
    _, D, W = random_problem(0, n=10, m=2, kind="asymmetric")
    omega = np.array([0.0, 0.5])
    for weights in (None, W):
        out = make(D, weights, omega).evaluate(np.zeros((10, 2)), omega)
        assert np.isfinite(out.step).all()
        assert out.stress == pytest.approx(slow_stress(np.zeros((10, 2)), D, weights, omega))


def test_matrix_free_steps_equal_factorized_ones(monkeypatch):
    X, D, W = random_problem(4, n=60, m=3, kind="missing")
    omega = np.array([0.0, 0.0, 0.8])
    factorized = make(D, W, omega).evaluate(X, omega)
    monkeypatch.setattr(problems, "DIRECT", 0)
    free = make(D, W, omega).evaluate(X, omega)
    assert not (free.step == factorized.step).all()
    np.testing.assert_allclose(free.step, factorized.step, atol=1e-3 * np.abs(factorized.step).max())
    assert factorized.decrease * (1 - 1e-6) <= free.decrease <= factorized.decrease * (1 + 1e-6)


@pytest.mark.parametrize("fitted", [False, True])
def test_weights_are_factorized_when_products_have_cost_as_much(fitted, monkeypatch):
    X, D, W = random_problem(4, n=60, m=3, kind="missing")
    monkeypatch.setattr(problems, "DIRECT", 0)
    monkeypatch.setattr(problems, "PATIENCE", 0.1)
    factors, products = [], []
    original = problems.WeightedProblem._factorized
    monkeypatch.setattr(
        problems.WeightedProblem, "_factorized",
        lambda self, alpha: factors.append(self._n_products) or original(self, alpha),
    )  # fmt: skip
    omega = np.array([0.0, 0.0, 0.8])
    problem = make(D, W, None if fitted else omega)
    for _ in range(6):
        now = problem.evaluate(X, omega)
        X, omega = X + now.step, now.omega
        products.append(problem._n_products)
    assert len(factors) == 1
    assert factors[0] >= 6
    assert fitted or products[-1] == factors[0]


def test_factors_of_another_drift_precondition(monkeypatch):
    X, D, W = random_problem(4, n=60, m=3, kind="asymmetric")
    problem = make(D, W, None)
    omega = np.array([0.0, 0.0, 0.8])
    problem._curvature_solver(0.3)
    monkeypatch.setattr(problems, "DIRECT", 0)
    force = problem.panels.sum(passes.weighted_pass, np.ascontiguousarray(X.T), X @ omega)[:3].T
    near = problem._curvature_solver(0.34)(force)
    exact = make(D, W, np.array([0.0, 0.0, 0.35]))._curvature_solver(0.35)(force)
    np.testing.assert_allclose(near, exact, atol=1e-3 * np.abs(exact).max())
    assert problem._n_products <= 6


@pytest.mark.parametrize(
    ("weights", "dtype", "kept"),
    [([0, 3], np.float64, np.int8), ([0, 1, 2], np.float64, np.float32), ([0, 1, 3], np.float64, np.float64),
     ([0, 1, 3], np.float32, np.float32), ([0, 3], np.float32, np.int8)],
)  # fmt: skip
def test_weights_are_kept_in_few_bytes_and_to_the_last_digit(weights, dtype, kept):
    rng = np.random.default_rng(0)
    D = rng.random((30, 30)).astype(dtype)
    W = rng.choice(weights, size=(30, 30), p=[0.2, *[0.8 / (len(weights) - 1)] * (len(weights) - 1)]).astype(
        float
    )
    W[np.arange(29), np.arange(1, 30)] = weights[-1]
    _, _, there, back = make(D, W, None).panels.panel
    assert there.dtype == back.dtype == kept
    np.testing.assert_array_equal(there, (W / max(weights)).astype(kept if kept != np.int8 else float))
    np.testing.assert_array_equal(back, there.T)


def test_conjugate_gradients_solve():
    rng = np.random.default_rng(0)
    root = rng.normal(size=(30, 30))
    M = root @ root.T + 5 * np.eye(30)
    b = rng.normal(size=(30, 4))
    diagonal = np.diag(M)[:, None]
    x = conjugate_gradients(lambda v: M @ v, b, lambda r: r / diagonal, tol=1e-12)
    np.testing.assert_allclose(M @ x, b, atol=1e-9)
    rough = conjugate_gradients(lambda v: M @ v, b, lambda r: r / diagonal, max_iter=3)
    np.testing.assert_allclose((rough * (M @ rough)).sum(axis=0), (rough * b).sum(axis=0), rtol=1e-12)


def test_the_curvature_is_that_of_its_definition():
    rng = np.random.default_rng(0)
    W, X = rng.random((37, 37)) * (rng.random((37, 37)) < 0.7), rng.normal(size=(37, 3))
    np.fill_diagonal(W, 0)
    p, q = (W + W.T) / 2, (W - W.T) / 2
    across = p + 2 * 0.4 * np.abs(q)
    want = [laplacian(a) @ X for a in (across, across + 0.16 * p)]
    for unit in (1.0, 1e-60):
        panel = (W, W, W, np.ascontiguousarray(W.T))
        got = passes.curvature_pass(0, panel, 1, unit * np.ascontiguousarray(X.T), 0.4, 2) / unit
        np.testing.assert_allclose(got[:2], want[0].T[:2], atol=1e-5)
        np.testing.assert_allclose(got[2], want[1].T[2], atol=1e-5)


def laplacian(a):
    return np.diag(a.sum(1)) - a


@pytest.mark.parametrize("n", [1, 2, 31, 64, 65, 1000, 5001])
def test_blocks_cover_all_rows_and_share_the_work(n):
    edges = triangle_edges(n, 16)
    assert edges[0] == 0
    assert edges[-1] == n
    assert (np.diff(edges) > 0).all()
    if n >= 1000:
        cost = [sum(n - 1 - i + PAIRS_OF_A_ROW for i in range(a, b)) for a, b in pairwise(edges)]
        assert max(cost) < 1.1 * min(cost)


@pytest.mark.parametrize("n", [1, 2, 63, 64, 65, 137, 512, 513, 600])
@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("kind", ["random", "float32", "columns first", "wild first row"])
def test_parts_of_the_data(n, n_jobs, kind):
    D = np.random.default_rng(n).random((n, n))
    if kind == "wild first row":  # from which heights are guessed
        D[0] *= 1e4
    np.fill_diagonal(D, 0)
    given = {"float32": D.astype(np.float32), "columns first": np.asfortranarray(D)}.get(kind, D)
    D = given.astype(float)
    panels, parts = split(given, n_jobs)
    S, A = (D + D.T) / 2, (D - D.T) / 2
    np.testing.assert_allclose(
        np.triu(panels.panel[0], 1), np.triu(S, 1), rtol=1e-15 if given.itemsize == 8 else 1e-7
    )
    np.testing.assert_allclose(parts.h, A.mean(axis=0), atol=1e-15 * max(1.0, A.max()))
    rest = A - (parts.h[None, :] - parts.h[:, None])
    assert parts.skew_residual == pytest.approx((rest**2).sum() / 2, rel=1e-11, abs=1e-15)
    assert parts.total == pytest.approx((D**2).sum())
    assert parts.symmetric_square == pytest.approx((S**2).sum())


def test_heights_alone_leave_nothing_of_the_skew_part():
    rng = np.random.default_rng(0)
    D = 5.0 + rng.random((300, 1)) - rng.random((300, 1)).T
    S, h = (D + D.T) / 2, rng.normal(size=300)
    D = S + h[None, :] - h[:, None]
    np.fill_diagonal(D, 0)
    _, parts = split(D)
    np.testing.assert_allclose(parts.h, h - h.mean(), atol=1e-14)
    assert parts.skew_residual < 1e-27 * parts.total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [40, 133, 700])
def test_panels_in_memory_hold_the_same_pairs_as_one_matrix(n, dtype, monkeypatch):
    D = np.random.default_rng(n).random((n, n)).astype(dtype)
    np.fill_diagonal(D, 0)
    X, omega = np.random.default_rng(1).normal(size=(n, 3)), np.array([0.0, 0.0, 0.4])
    whole = MemoryBackend(Dissimilarities(D), 1)
    monkeypatch.setattr(passes, "CUT_FROM", 2)
    cut = [MemoryBackend(Dissimilarities(D), n_jobs) for n_jobs in (1, 2, 3)]
    held = sum(panel[0].size for _, panel in cut[0].problem(omega).panels.panels)
    assert held == passes.numbers_held(n)
    assert held < n * n or n == 40  # so few points stay together
    for backend in cut:
        np.testing.assert_allclose(backend.classical(3, 0.4), whole.classical(3, 0.4), atol=1e-6)
        for kind in ("evaluate", "estimate"):
            one, other = (
                getattr(whole.problem(omega), kind)(X, omega),
                getattr(backend.problem(omega), kind)(X, omega),
            )
            rel = 1e-13 if kind == "evaluate" else 1e-5
            assert other.stress == pytest.approx(one.stress, rel=rel)
            np.testing.assert_allclose(other.step, one.step, atol=rel * 10)
        swirl = np.vstack([omega, 0.1 * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])])
        stresses = [b.swirl_problem(2.0, None, False).evaluate(X, swirl).stress for b in (whole, backend)]
        assert stresses[1] == pytest.approx(stresses[0], rel=1e-12)
        again = backend.problem(omega).estimate(X, omega)
        assert (again.step == cut[0].problem(omega).estimate(X, omega).step).all()


@pytest.mark.parametrize("kind", ["gaps", "one-way gaps", "same both ways", "any"])
@pytest.mark.parametrize("n", [40, 133, 300])
def test_panels_with_weights_hold_the_same_pairs_as_one_matrix(n, kind, monkeypatch):
    rng = np.random.default_rng(n)
    D, W = rng.random((n, n)) + 0.1, rng.random((n, n)) * 7
    D[rng.random((n, n)) < 0.1] *= -1  # bounds
    if kind != "any":
        W = W + W.T if kind == "same both ways" else (W > 1).astype(float)
        W = np.minimum(W, W.T) if kind == "gaps" else W
    D[W == 0] = np.nan
    np.fill_diagonal(D, 0)
    np.fill_diagonal(W, 0)
    X, omega = rng.normal(size=(n, 3)), np.array([0.0, 0.0, 0.4])
    data = Dissimilarities(D, W)
    monkeypatch.setattr(passes, "POINTS_OF_A_PANEL", 1000)
    whole = MemoryBackend(data, 1)
    one = [whole.problem(drift).evaluate(X, omega) for drift in (omega, None)]
    monkeypatch.setattr(passes, "POINTS_OF_A_PANEL", 10)
    first = None
    for n_jobs in (1, 2, 3):
        backend = MemoryBackend(data, n_jobs)
        panels = backend.problem(omega).panels
        assert sum(panel[3].size for _, panel in panels.panels) == passes.numbers_held(n, weighted=True)
        assert len(panels.panels) > 1 or n == 40  # so few points stay together
        kinds = {panel[2].dtype for _, panel in panels.panels}
        assert kinds == {np.dtype(np.int8 if "gaps" in kind else np.float64)}
        for there, back in zip(panels.weights(), whole.problem(omega).panels.weights(), strict=True):
            np.testing.assert_array_equal(there, back)
        for drift, expected in zip((omega, None), one, strict=True):
            found = backend.problem(drift).evaluate(X, omega)
            assert found.stress == pytest.approx(expected.stress, rel=1e-12)
            np.testing.assert_allclose(found.step, expected.step, atol=1e-9)
        swirl = np.vstack([omega, 0.1 * np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 0]])])
        stresses = [b.swirl_problem(2.0, None, False).evaluate(X, swirl).stress for b in (whole, backend)]
        assert stresses[1] == pytest.approx(stresses[0], rel=1e-12)
        first = found if first is None else first
        assert (found.step == first.step).all()


@pytest.mark.parametrize("weights", [np.float64, np.float32, np.int8])
@pytest.mark.parametrize(
    ("n", "start", "stop"), [(2, 0, 2), (3, 0, 3), (40, 0, 40), (41, 0, 41), (300, 7, 20), (300, 290, 300)]
)
def test_two_rows_at_a_time_are_the_pass_of_one(weights, n, start, stop):
    rng = np.random.default_rng(n)
    D, W = (
        rng.random((n, n)),
        rng.random((n, n)).astype(weights) if weights != np.int8 else rng.integers(0, 2, (n, n), np.int8),
    )
    D[rng.random((n, n)) < 0.1] *= -1  # bounds
    XT, height = rng.normal(size=(3, n)), rng.normal(size=n)
    found = []
    for kernel in (dense.weighted, dense.weighted_three):
        out = np.zeros((5, n))
        kernel(D, D.T.copy(), W, W.T.copy(), XT, height, start, stop, out[:3], out[3], out[4])
        found.append(out)
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("size", [1e-110, 1.0, 1e110])
def test_several_points_on_one_spot_push_each_other_nowhere(size):
    n = 9
    D, X = np.full((n, n), size), np.random.default_rng(0).normal(size=(n, 3)) * size
    np.fill_diagonal(D, 0)
    X[2:6] = X[2]
    for W in (None, np.full((n, n), 0.5) + np.triu(np.full((n, n), 0.5))):
        found = make(D, W, np.zeros(3)).evaluate(X, np.zeros(3))
        assert np.isfinite(found.step).all()
        np.testing.assert_allclose(found.step[2:6] - found.step[2], 0, atol=1e-9 * size)
