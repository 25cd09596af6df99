from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from finsler.learn.digraph_fit import drift_schedule, minimize  # noqa: E402


def rosenbrock(x):
    a, b = float(x[0]), float(x[1])
    gradient = torch.tensor([-2 * (1 - a) - 400 * a * (b - a * a), 200 * (b - a * a)], dtype=torch.float64)
    return (1 - a) ** 2 + 100 * (b - a * a) ** 2, gradient


def test_a_bent_valley():
    start = torch.tensor([-1.2, 1.0], dtype=torch.float64)
    found = minimize(rosenbrock, start, max_iter=200, tol=1e-12)
    torch.testing.assert_close(found.point, torch.ones(2, dtype=torch.float64), atol=1e-5, rtol=0)
    assert found.value == rosenbrock(found.point)[0]
    assert start.tolist() == [-1.2, 1.0]


def test_a_badly_scaled_bowl_takes_few_iterations():
    scales = torch.logspace(0, 2, 30, dtype=torch.float64)
    calls = []

    def function(x):
        calls.append(x)
        return 1 + float((scales * x) @ x), 2 * scales * x

    found = minimize(function, torch.ones(30, dtype=torch.float64), max_iter=150, tol=1e-6)
    assert found.value < 1 + 1e-6
    assert found.converged
    assert len(calls) < 200


def test_the_kink_of_a_norm():
    """|x| + |y|/2 has no gradient at its minimum; the search must not fail there."""

    def function(x):
        return float(x[0].abs() + x[1].abs() / 2), torch.stack([x[0].sign(), x[1].sign() / 2])

    found = minimize(function, torch.tensor([1.3, -0.7], dtype=torch.float64), max_iter=100, tol=1e-6)
    assert found.value < 0.05


def test_steps_into_nan_are_taken_back():
    def function(x):  # defined for x > 0 only
        return float(x[0] - x[0].log()), 1 - 1 / x

    found = minimize(function, torch.tensor([0.01], dtype=torch.float64), max_iter=50, tol=1e-12)
    assert float(found.point[0]) == pytest.approx(1, abs=1e-4)


def test_at_a_minimum_nothing_happens():
    calls = []
    found = minimize(
        lambda x: calls.append(x) or (float(x @ x), 2 * x),
        torch.zeros(3),
        max_iter=10,
        tol=1e-6,
        callback=lambda *_: pytest.fail("an iteration"),
    )
    assert found.converged
    assert len(calls) == 1


def test_a_callback_can_end_it_with_what_it_saw():
    seen = []

    def callback(value, point):
        seen.append((value, point))
        return len(seen) == 3

    start = torch.tensor([-1.2, 1.0], dtype=torch.float64)
    found = minimize(rosenbrock, start, max_iter=50, tol=1e-6, callback=callback)
    assert (len(seen), found.converged) == (3, False)
    assert found.value == seen[-1][0]
    assert bool((found.point == seen[-1][1]).all())


def test_values_never_rise_and_iterations_end():
    values = []
    found = minimize(
        rosenbrock,
        torch.tensor([-1.2, 1.0], dtype=torch.float64),
        max_iter=7,
        tol=1e-6,
        callback=lambda value, _: bool(values.append(value)),
    )
    assert values == sorted(values, reverse=True)
    assert (len(values), found.converged) == (7, False)


def test_a_function_that_changes_on_the_way_is_evaluated_anew():
    """A bowl whose middle moves after every third iteration, ever less: the end is where it stays."""
    scales = torch.logspace(0, 1, 8, dtype=torch.float64)
    middle = torch.zeros(8, dtype=torch.float64)
    moves = []

    def renew(iteration, _):
        if iteration % 3 or iteration > 9:
            return False
        moves.append(iteration)
        middle.copy_(torch.full((8,), 2.0 + 0.5 ** len(moves)))
        return True

    found = minimize(
        lambda x: (1 + float((scales * (x - middle)) @ (x - middle)), 2 * scales * (x - middle)),
        torch.ones(8, dtype=torch.float64),
        max_iter=60,
        tol=1e-6,
        renew=renew,
    )
    assert moves == [0, 3, 6, 9]
    torch.testing.assert_close(found.point, middle, atol=1e-2, rtol=0)
    assert found.value == pytest.approx(
        1, abs=1e-3
    )  # of the last function, though an earlier one was lower on the way


def test_schedules_end_at_the_drift_that_was_asked_for():
    assert drift_schedule(10, None) == (0.5, 0.9, 0.97)
    for m in (2, 10):
        for alpha in (0.0, 0.4, 0.99):
            schedule = drift_schedule(m, alpha)
            assert max(schedule) <= alpha
            assert list(schedule) == sorted(schedule)


@pytest.mark.parametrize("power", [2, 3, 8])
def test_a_minimum_of_zero_is_reached_without_dividing_by_it(power):
    """Gradients fall until their squares underflow: what they say of the curvature is 0 / 0."""

    def function(x):
        return float((x.abs() ** power).sum()), power * x.abs() ** (power - 1) * x.sign()

    found = minimize(function, torch.tensor([1.0, -2.0], dtype=torch.float64), max_iter=5000, tol=0.0)
    assert found.value < 1e-20
    assert torch.isfinite(found.point).all()
