"""What a drift that turns costs: a pass of the dense solver, and of the sparse one, beside the canonical ones.

Passes, and whole runs of the sparse solver, in processor time on one thread, when all is compiled.

python benchmarks/bench_swirl.py [--json benchmarks/bench_swirl.json] [--nodes 100000]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from finsler.data.matrix import as_dissimilarities
from finsler.datasets import make_city
from finsler.geometry.randers import randers_distances
from finsler.graphs.digraph import as_digraph
from finsler.graphs.pivots import pivot_distances
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.sparse.problem import ArcPairs, SparseProblem
from finsler.solvers.sparse.solver import sparse_smacof
from finsler.solvers.sparse.swirl import swirl_problem
from finsler.solvers.swirl.field import map_radius

REPEATS = 25


def best_of(task: Callable[[], Any], repeats: int = REPEATS) -> float:
    """Least seconds of processor time of several calls: ratios hold on a busy machine, too."""
    task()
    times = []
    for _ in range(repeats):
        began = time.process_time()
        task()
        times.append(time.process_time() - began)
    return min(times)


def dense(n: int, m: int, weighted: bool = False, dtype: Any = float) -> dict[str, float]:
    """Milliseconds of a pass: canonical, straight ways with a swirl, arcs."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    K = np.zeros((m, m))
    K[0, 1], K[1, 0] = -0.05, 0.05
    D = randers_distances(X, drift=0.1, swirl=K) * rng.uniform(0.95, 1.05, size=(n, n))
    np.fill_diagonal(D, 0)
    W = rng.uniform(0.5, 1.5, D.shape).astype(dtype) if weighted else None
    backend = MemoryBackend(as_dissimilarities(D.astype(dtype), W), n_jobs=1)
    field = np.vstack([np.full(m, 0.05), K])
    found = {}
    for name, problem, omega in (
        ("canonical", backend.problem(None), field[0]),
        ("swirl", backend.swirl_problem(map_radius(X), None, False), field),
        ("arcs", backend.swirl_problem(map_radius(X), None, True) if m == 2 else None, field),
    ):
        if problem is not None:
            found[name] = 1e3 * best_of(
                lambda problem=problem, omega=omega: problem.evaluate(X, omega), 5 if weighted else REPEATS
            )
    return found


def sparse(nodes: int) -> dict[str, float]:
    """Milliseconds of a pass, and seconds of a whole run, with 100 pivots."""
    graph = as_digraph(make_city(nodes).graph)
    data = pivot_distances(graph, 100, hops=True, random_state=0, verbose=False)
    arcs = ArcPairs.of(graph, True)
    plain = SparseProblem(data, arcs, n_jobs=1)
    turning = swirl_problem(plain, 1e3, None, False)
    X = np.random.default_rng(0).normal(size=(graph.n_nodes, 2)) * 100
    omega = np.array([0.0, 0.1])
    found = {
        "canonical": 1e3 * best_of(lambda: plain.evaluate(X, omega), 5),
        "swirl": 1e3 * best_of(lambda: turning.evaluate(X, np.vstack([omega, [[0, -1e-4], [1e-4, 0]]])), 5),
    }
    for name, swirl in (("run", False), ("run with swirl", True)):
        run = partial(sparse_smacof, data, 2, arcs=arcs, swirl=swirl, random_state=0, n_jobs=1, verbose=False)
        found[name] = best_of(run, 3)
    return found


def main() -> None:
    """Measure, print and save."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", type=Path)
    parser.add_argument("--nodes", type=int, default=100_000)
    options = parser.parse_args()
    record = {
        "pass, N = 2000, m = 2, milliseconds": dense(2000, 2),
        "pass, N = 2000, m = 3, milliseconds": dense(2000, 3),
        "pass, N = 2000, m = 3, float32, milliseconds": dense(2000, 3, dtype=np.float32),
        "pass, N = 500, m = 2, weights, milliseconds": dense(500, 2, weighted=True),
        f"sparse, {options.nodes} nodes, 100 pivots; pass in milliseconds, run in seconds": sparse(
            options.nodes
        ),
    }
    for name, values in record.items():
        first = values["canonical"]
        print(
            name,
            {k: round(v, 3) for k, v in values.items()},
            f"swirl/canonical {values['swirl'] / first:.2f}",
        )
    if options.json is not None:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
