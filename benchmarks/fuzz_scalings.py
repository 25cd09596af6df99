"""Steps of all scalings on random problems: does the stress ever rise, and is the promised decrease kept?

    python benchmarks/fuzz_scalings.py --runs 1000

Each run draws data (with or without ties), weights, gaps, bounds, a scaling, a condition, a given or fitted drift and a
random start, and takes some plain and some relaxed steps. The loop of the solver would refuse a rise; here it is counted.
"""

from __future__ import annotations

import argparse
from collections import Counter
from typing import NamedTuple

import numpy as np

from finsler.data.matrix import Dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.geometry.scaling import CONDITIONS, KINDS, TIES, Scaling
from finsler.solvers.drift import FLAT, flatness
from finsler.solvers.majorize import RELAX
from finsler.solvers.nonmetric import ScaledData

ROUNDING = 1e-11  # of the size of the data


class Case(NamedTuple):
    """A problem and a start."""

    scaled: ScaledData
    X: np.ndarray
    omega: np.ndarray
    fixed: bool
    words: str


def draw(seed: int) -> Case:
    """A random problem and a random start."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 16)), int(rng.integers(1, 4))
    scaling = Scaling(
        str(rng.choice(KINDS)), str(rng.choice(TIES)), str(rng.choice(CONDITIONS)), int(rng.integers(1, 4)),
        int(rng.integers(0, 4)),
    )  # fmt: skip
    D = randers_distances(rng.normal(size=(n, m)), drift=rng.uniform(0, 0.7)) ** rng.uniform(0.3, 2.5)
    D *= np.exp(rng.uniform(0, 0.6) * rng.normal(size=D.shape))
    if rng.random() < 0.5:
        D = np.round(4 * D / D.mean()) + (D > 0)  # ties
    np.fill_diagonal(D, 0)
    kind = (
        "uniform"
        if scaling.conditional == "parts"
        else str(rng.choice(["uniform", "symmetric", "any", "gaps", "bounds"]))
    )
    W = None if kind == "uniform" else rng.uniform(0.1, 3, (n, n))
    if W is not None:
        W = W + W.T if kind == "symmetric" else W
        if kind == "gaps":
            W[rng.random((n, n)) < 0.3] = 0
        if kind == "bounds" and scaling.kind == "ordinal":
            D = np.where(rng.random((n, n)) < 0.2, -D.max(), D)
        ring = np.arange(n), (np.arange(n) + 1) % n
        W[ring] = 1.0
        np.fill_diagonal(W, 0)
    omega = rng.normal(size=m)
    omega *= rng.uniform(0, 0.95) / np.linalg.norm(omega)
    X = rng.normal(size=(n, m)) * float(rng.choice([0.1, 1.0, 10.0]))
    fixed = bool(rng.random() < 0.5)
    words = f"{scaling}, {kind}, drift {'given' if fixed else 'fitted'}"
    return Case(ScaledData(Dissimilarities(D, W), scaling, 1), X, omega, fixed, words)


def rises(case: Case, steps: int = 12) -> tuple[float, float]:
    """Largest rise of the stress in a step, and largest shortfall of its decrease, as shares of the size of the data."""
    problem = case.scaled.problem(case.omega if case.fixed else None)
    X, now = case.X, problem.evaluate(case.X, case.omega)
    worst, short = 0.0, 0.0
    for k in range(steps):
        relaxed = k % 2 == 1
        X = X + (RELAX if relaxed else 1.0) * now.step
        if not case.fixed and flatness(X) < 2 * FLAT:
            break  # a fitted drift across a sheet is dropped, which is no step of the majorization
        after = problem.evaluate(X, now.omega)
        worst = max(worst, (after.stress - now.stress) / case.scaled.total)
        if not relaxed:
            short = max(short, (after.stress - (now.stress - now.decrease)) / case.scaled.total)
        now = after
    return worst, short


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    args = parser.parse_args()
    kinds, bad = Counter(), []
    worst = short = 0.0
    for seed in range(args.first, args.first + args.runs):
        case = draw(seed)
        rise, lack = rises(case)
        kinds[case.scaled.scaling.kind, case.scaled.scaling.conditional] += 1
        worst, short = max(worst, rise), max(short, lack)
        if max(rise, lack) > ROUNDING:
            bad.append(f"seed {seed}: {case.words}: rise {rise:.1e}, shortfall {lack:.1e}")
    print("\n".join(bad))
    print(", ".join(f"{' by '.join(key)} {count}" for key, count in sorted(kinds.items())))
    print(
        f"{args.runs} runs: largest rise {worst:.1e}, largest shortfall {short:.1e} of the size; {len(bad)} beyond rounding"
    )


if __name__ == "__main__":
    main()
