"""Does single precision on the way change where the solver ends? Both ways side by side, on random problems and data sets.

    python benchmarks/precision.py [--json PATH] [--problems 100] [--seed 0]

Each problem is solved from one start, by passes in single precision while these are enough, and in double precision
throughout. Of each: stress over that of double precision minus 1, whether the history is monotone, the largest error of an
estimated stress over the rounding that it names, and whether one, two and three threads gave the same bits.
Problems that end apart by more than 1e-6 are solved again to a tolerance a hundred times smaller: do they still? And in
double precision alone, with data that are changed in their last bits: do these ends lie apart as far?
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from finsler.data.matrix import as_dissimilarities
from finsler.datasets import load_flight_hours, make_gyre, make_ring_road
from finsler.geometry.randers import randers_distances
from finsler.solvers import problem as problems
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.smacof import smacof

OPTIONS = {"n_init": 1, "tol": 1e-9, "max_iter": 3000}
FINER = {"tol": 1e-11, "max_iter": 20000}
LAST_BITS, CHANGES = 1e-15, 10  # relative size of a change of the data, and how many are tried


def random_problem(seed: int) -> tuple[str, np.ndarray, int, float, dict]:
    """Dissimilarities of one of several kinds, a dimension, a drift, and a start."""
    rng = np.random.default_rng(seed)
    n, m, alpha = int(rng.integers(60, 500)), int(rng.integers(2, 4)), float(rng.choice([0.0, 0.2, 0.5, 0.9]))
    kind = rng.choice(["noise", "fine", "tail", "city", "steps"])
    D = randers_distances(rng.normal(size=(n, 3)), drift=alpha)
    if kind == "city":
        at = rng.integers(0, 20, size=(n, 2))
        D = np.abs(at[:, None] - at[None]).sum(axis=2) + 0.5
    elif kind == "steps":
        D = np.ceil(3 * D)
    else:
        width = {"noise": 0.3, "fine": 1e-3, "tail": 1.5}[kind]
        D = D * np.exp(width * rng.normal(size=(n, n)))
    D = np.asarray(D, dtype=float)
    np.fill_diagonal(D, 0)
    start = {"init": str(rng.choice(["random", "classical"])), "random_state": seed}
    return f"{kind}, N = {n}, m = {m}, alpha = {alpha}", D, m, alpha, start


def data_sets() -> list[tuple[str, np.ndarray, int, float, dict]]:
    """Tables that come with the package."""
    starts = ({"init": "classical"}, {"init": "random", "random_state": 0})
    tables = [
        ("flight hours", load_flight_hours().hours),
        ("gyre", make_gyre(150).times),
        ("ring road", make_ring_road(72).costs),
    ]
    return [(name, np.asarray(D, dtype=float), 2, 0.1, start) for name, D in tables for start in starts]


def solve(D: np.ndarray, m: int, alpha: float, single: bool, n_jobs: int = 1, **options):
    """Solution with passes in single precision for any number of points, or without."""
    before, problems.SINGLE_FROM = problems.SINGLE_FROM, 0 if single else 10**9
    try:
        return smacof(as_dissimilarities(D), m, alpha, n_jobs=n_jobs, **{**OPTIONS, **options})
    finally:
        problems.SINGLE_FROM = before


def worst_estimate(D: np.ndarray, m: int, alpha: float, options: dict) -> float:
    """Largest error of an estimate on the way, over the rounding that it names."""
    omega, path = np.append(np.zeros(m - 1), alpha), []
    problem = MemoryBackend(as_dissimilarities(D), 1).problem(omega)
    solve(D, m, alpha, False, callback=lambda at: path.append(at.coordinates), **options)
    before, problems.SINGLE_FROM = problems.SINGLE_FROM, 0
    worst = 0.0
    for X in path[:: max(1, len(path) // 8)]:
        exact, estimate = problem.evaluate(X, omega), problem.estimate(X, omega)
        worst = max(worst, abs(estimate.stress - exact.stress) / estimate.rounding)
    problems.SINGLE_FROM = before
    return worst


def above(stress: float, usual: float) -> float:
    """By how much of the usual stress another one is above it; 0 where the usual one is exactly 0."""
    return stress / usual - 1 if usual > 0 else 0.0


def compared(name: str, D: np.ndarray, m: int, alpha: float, options: dict) -> dict:
    """One problem both ways."""
    fast, slow = solve(D, m, alpha, True, **options), solve(D, m, alpha, False, **options)
    threads = [solve(D, m, alpha, True, n, **options) for n in (2, 3)]
    return {
        "problem": name, "start": options["init"], "normalized_stress": slow.normalized_stress,
        "stress_ratio_minus_1": above(fast.stress, slow.stress),
        "passes": [fast.n_passes, slow.n_passes], "monotone": bool((np.diff(fast.history) <= 0).all()),
        "same_bits_with_threads": all((other.coordinates == fast.coordinates).all() for other in threads),
        "error_over_rounding": worst_estimate(D, m, alpha, options),
    }  # fmt: skip


def apart(name: str, D: np.ndarray, m: int, alpha: float, options: dict, difference: float) -> dict:
    """More of a problem that ends apart: what a finer tolerance does, and what changes of the last bits do."""
    finer = {**options, **FINER}
    fast, slow = solve(D, m, alpha, True, **finer), solve(D, m, alpha, False, **finer)
    usual, rng = solve(D, m, alpha, False, **options).stress, np.random.default_rng(0)
    changed = (D * (1 + LAST_BITS * rng.normal(size=D.shape)) for _ in range(CHANGES))
    ends = [above(solve(E, m, alpha, False, **options).stress, usual) for E in changed]
    return {
        "problem": name, "start": options["init"],
        "tol": {str(OPTIONS["tol"]): difference, str(FINER["tol"]): above(fast.stress, slow.stress)},
        "double_precision_with_last_bits_changed": [min(ends), max(ends)],
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, default=Path(__file__).with_name("precision.json"))
    parser.add_argument("--problems", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    cases = data_sets() + [random_problem(options.seed + k) for k in range(options.problems)]
    rows = [compared(*case) for case in cases]
    off = np.abs([row["stress_ratio_minus_1"] for row in rows])
    summary = {
        "problems": len(rows), "largest_difference": float(off.max()), "above_1e-6": int((off > 1e-6).sum()),
        "not_monotone": sum(not row["monotone"] for row in rows),
        "other_bits_with_threads": sum(not row["same_bits_with_threads"] for row in rows),
        "largest_error_over_rounding": max(row["error_over_rounding"] for row in rows),
    }  # fmt: skip
    differences = [
        apart(*case, row["stress_ratio_minus_1"])
        for row, case in zip(rows, cases, strict=True)
        if abs(row["stress_ratio_minus_1"]) > 1e-6
    ]
    print(json.dumps(differences, indent=1))
    print(json.dumps(summary, indent=1))
    options.json.write_text(
        json.dumps({"summary": summary, "differences": differences, "problems": rows}, indent=1) + "\n",
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
