"""Passes in single precision change no result: stress, history, bits, and where they end."""

import numpy as np
import pytest

from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import raw_stress
from finsler.solvers import problem as problems
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.problem import Evaluation, Problem
from finsler.solvers.smacof import smacof


def data(kind, n=300, seed=0):
    rng = np.random.default_rng(seed)
    if kind == "ring":
        gap = np.abs(np.arange(n)[:, None] - np.arange(n))
        return np.minimum(gap, n - gap).astype(float)
    if kind == "grid":
        at = np.stack(np.divmod(np.arange(n), 20), axis=1)
        return np.abs(at[:, None] - at[None]).sum(axis=2).astype(float)
    if kind == "heavy":
        D = np.triu(np.exp(2 * rng.normal(size=(n, n))), 1)
        return D + D.T
    noise = {"rough": 0.5, "noisy": 0.1, "fine": 1e-3, "exact": 0.0}[kind]
    D = randers_distances(rng.normal(size=(n, 3)), drift=0.4) * rng.uniform(1 - noise, 1 + noise, size=(n, n))
    np.fill_diagonal(D, 0)
    return D


KINDS = ["rough", "noisy", "fine", "exact", "ring", "grid", "heavy"]


@pytest.fixture
def in_double(monkeypatch):
    """Solve in double precision throughout."""

    def solve(*args, **options):
        with monkeypatch.context() as patch:
            patch.setattr(problems, "SINGLE_FROM", np.inf)
            return smacof(*args, **options)

    return solve


@pytest.mark.parametrize("kind", KINDS)
def test_an_estimate_is_right_to_the_rounding_that_it_names(kind):
    D = data(kind)
    omega = np.array([0.0, 0.0, 0.3])
    problem = MemoryBackend(as_dissimilarities(D), 1).problem(omega)
    path = [np.random.default_rng(1).normal(size=(len(D), 3)) * D.mean()]
    smacof(as_dissimilarities(D), 3, 0.3, init=path[0], callback=lambda at: path.append(at.coordinates))
    for X in path[:: max(1, len(path) // 10)]:
        exact, estimate = problem.evaluate(X, omega), problem.estimate(X, omega)
        assert exact.rounding == 0 < estimate.rounding
        assert abs(estimate.stress - exact.stress) <= estimate.rounding
        assert estimate.decrease == pytest.approx(exact.decrease, rel=1e-3, abs=estimate.rounding)


@pytest.mark.parametrize("start", ["random", "classical"])
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "exact"])
def test_the_stress_is_that_of_double_precision(kind, start, in_double):
    problem = as_dissimilarities(data(kind))
    options = {"init": start, "n_init": 1, "random_state": 3, "tol": 1e-9, "max_iter": 2000}
    fast, slow = smacof(problem, 3, 0.3, **options), in_double(problem, 3, 0.3, **options)
    assert fast.stress == pytest.approx(slow.stress, rel=1e-6)
    assert fast.status == slow.status
    assert (np.diff(fast.history) <= 0).all()
    assert fast.history[-1] == pytest.approx(fast.stress, rel=1e-12)
    assert fast.history[0] == pytest.approx(slow.history[0], rel=1e-5)


@pytest.mark.parametrize("start", ["random", "classical"])
def test_exact_data_are_fitted_to_the_last_digit(start):
    solution = smacof(
        as_dissimilarities(data("exact")), 3, 0.4, init=start, random_state=0, max_iter=2000, tol=0
    )
    assert solution.stress < 1e-20 * solution.total


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_another_power_of_two_gives_the_same_bits(dtype):
    D = data("noisy").astype(dtype)
    powers = [-400, 300] if dtype is np.float64 else [-40, 50]
    start = np.random.default_rng(0).normal(size=(len(D), 3))
    plain = smacof(Dissimilarities(D), 3, 0.3, init=start)
    for power in powers:
        unit = dtype(2.0**power)
        other = smacof(Dissimilarities(D * unit), 3, 0.3, init=start * 2.0**power)
        assert (other.coordinates == plain.coordinates * 2.0**power).all()
        assert (other.history == plain.history * 4.0**power).all()


def test_any_number_of_threads_gives_the_same_bits():
    D = as_dissimilarities(data("noisy", n=900))
    one, two, three = (
        smacof(D, 3, "auto", init="random", n_init=1, random_state=0, n_jobs=n) for n in (1, 2, 3)
    )
    assert (one.history == two.history).all()
    assert (one.history == three.history).all()
    assert (one.coordinates == two.coordinates).all()
    assert (one.coordinates == three.coordinates).all()


@pytest.mark.parametrize(
    "options", [{"max_iter": 0}, {"max_iter": 4}, {"callback": lambda at: at.n_iter == 5}]
)
def test_a_run_that_ends_far_from_a_solution_ends_in_double_precision(options):
    D = data("noisy")
    solution = smacof(as_dissimilarities(D), 3, 0.3, init="random", n_init=1, random_state=0, **options)
    assert len(solution.history) == solution.n_iter + 1
    exact = raw_stress(solution.coordinates, D, drift=0.3)
    assert solution.history[-1] == pytest.approx(exact, rel=1e-13)


def test_most_passes_from_a_random_start_are_in_single_precision(monkeypatch):
    passes = []
    for name in ("evaluate", "estimate"):
        original = getattr(problems.UniformProblem, name)

        def counted(self, X, omega, name=name, original=original):
            passes.append(name)
            return original(self, X, omega)

        monkeypatch.setattr(problems.UniformProblem, name, counted)
    solution = smacof(
        as_dissimilarities(data("noisy", n=600)), 3, 0.3, init="random", n_init=1, random_state=0
    )
    assert len(passes) == solution.n_passes
    assert passes.count("estimate") > 0.8 * len(passes)
    switch = passes.index("evaluate")
    assert set(passes[switch:]) == {"evaluate"}


class Coarse(Problem):
    """A problem whose estimates are wrong by up to the rounding that they name: high, low, high, ..."""

    def __init__(self, problem, share):
        self.problem, self.share = problem, share
        self.n_points, self.fixed_drift = problem.n_points, problem.fixed_drift
        self.taken, self.sign = [], 1.0

    def evaluate(self, X, omega):
        return self.problem.evaluate(X, omega)

    def estimate(self, X, omega):
        exact = self.problem.evaluate(X, omega)
        rounding, self.sign = self.share * exact.stress, -self.sign
        self.taken.append(exact.stress)
        return Evaluation(
            exact.stress + 0.5 * self.sign * rounding, exact.step, exact.decrease, exact.omega, rounding
        )


@pytest.mark.parametrize("share", [1e-1, 1e-3, 1e-5])
@pytest.mark.parametrize("accelerate", [True, False])
def test_no_step_goes_uphill_whatever_the_rounding(share, accelerate):
    D = data("noisy", n=40)
    omega = np.array([0.0, 0.0, 0.3])
    problem = Coarse(MemoryBackend(as_dissimilarities(D), 1).problem(omega), share)
    start, seen = np.random.default_rng(5).normal(size=(40, 3)), []
    run = majorize(
        problem, start, omega, StopRule(500, 1e-9), accelerate=accelerate,
        callback=lambda at: seen.append(problem.problem.evaluate(at.coordinates, omega).stress),
    )  # fmt: skip
    assert run.status == "converged"
    assert (np.diff(seen) <= 0).all()
    assert (np.diff(run.history) <= 0).all()
    assert run.stress == problem.problem.evaluate(run.coordinates, omega).stress
    assert 1 < len(problem.taken) < run.n_passes
