"""Check the cost model of docs/scaling.md: time per pair of each kind of pass, at several sizes.

    python benchmarks/bench_scaling.py --json benchmarks/bench_scaling.json

One thread, float32, three dimensions; the least processor time of several passes, so that other work on the machine
counts as little as it can. The model says that a kind of pass takes the same time per unordered pair at every size.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from finsler.data.matrix import as_dissimilarities
from finsler.data.memmap import MemmapDissimilarities
from finsler.data.provenance import Provenance
from finsler.geometry.stress import axes_first
from finsler.solvers.backends import passes
from finsler.solvers.backends.memmap import MemmapPanels
from finsler.solvers.backends.memory import MemoryBackend


def matrix(n: int) -> np.ndarray:
    points = np.random.default_rng(0).normal(size=(n, 3)) * [3.0, 2.0, 1.0]
    D = np.empty((n, n), np.float32)
    for i in range(n):
        u = points - points[i]
        D[i] = (np.sqrt((u * u).sum(axis=1)) + 0.4 * u[:, -1]) * np.random.default_rng([1, i]).uniform(
            0.9, 1.1, n
        )
        D[i, i] = 0.0
    return D


def least(task: Any, repeat: int) -> float:
    task()
    times = []
    for _ in range(repeat):
        began = time.process_time()
        task()
        times.append(time.process_time() - began)
    return min(times)


def only_cut(first: int, panel: tuple[np.ndarray, ...], n_jobs: int | None, n: int) -> np.ndarray:
    return np.zeros((1, n - first))


def measure(n: int, repeat: int) -> dict[str, float]:
    D = matrix(n)
    pairs = n * (n - 1) / 2
    X = np.random.default_rng(2).normal(size=(n, 3))
    XT, height = axes_first(X), 0.4 * X[:, -1]
    V = np.random.default_rng(3).normal(size=(8, n))
    drift = np.array([0.0, 0.0, 0.4])
    seconds = {}
    problem = MemoryBackend(as_dissimilarities(D), 1).problem(drift)
    seconds["in memory: pass"] = least(lambda: problem.evaluate(X, drift), repeat)
    budget = 4.0 * n * n / 4 + 1600.0 * n  # panels take a quarter of the size of the matrix
    plain = MemmapPanels(MemmapDissimilarities(D, None, False, 1.0, 0.0, Provenance()), budget, 1, False)
    seconds["out of core: cut the panels"] = least(lambda: plain.sum(only_cut, n), repeat)
    seconds["out of core: pass"] = least(lambda: plain.sum(passes.uniform_pass, XT), repeat)
    seconds["out of core: 8 vectors of the closed form"] = least(
        lambda: plain.sum(passes.squares_pass, V), repeat
    )
    gaps = MemmapPanels(
        MemmapDissimilarities(D, None, True, 1.0, 0.0, Provenance()), 2 * budget + 6400.0 * n, 1, False
    )
    seconds["out of core with gaps: pass"] = least(lambda: gaps.sum(passes.weighted_pass, XT, height), repeat)
    seconds["out of core with gaps: solver pass"] = least(
        lambda: gaps.sum(passes.curvature_pass, X.T.copy(), 0.4), repeat
    )
    return {name: 1e9 * value / pairs for name, value in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 2000, 4000, 8000])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    found = {}
    for n in options.points:
        print(f"{n} points ...", file=sys.stderr, flush=True)
        found[n] = measure(n, options.repeat)
    print("ns per unordered pair".ljust(46), *(f"{n:>8}" for n in found), "  exponent of n")
    for name in next(iter(found.values())):
        each = np.array([found[n][name] for n in found])
        exponent = 2 + np.polyfit(np.log(list(found)), np.log(each), 1)[0]
        print(name.ljust(46), *(f"{value:8.2f}" for value in each), f"{exponent:12.2f}")
    if options.json:
        record = {"machine": platform.machine(), "ns_per_pair": found}
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
