"""Where the time of a sparse map goes, and how near its pass is to the limits of the machine.

    python benchmarks/profile_sparse.py [--json PATH] [--nodes N]

A city of one-way streets and a scale-free graph, one thread, processor time: distances from and to the pivots, the start
from coarse to fine, the loop, and scoring on held-out rows. Then one pass by itself: time of a pair of a node and a pivot
(both ways), beside what reading its distances and doing its arithmetic would take at least.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from bench_sparse import scale_free
from limits import limits

import finsler
from finsler.datasets import make_city
from finsler.graphs import pivots
from finsler.graphs.digraph import as_digraph
from finsler.solvers.sparse import solver

STAGES = {
    "distances of the pivots": (pivots, "pivot_distances"),
    "pairs relayed by pivots": (solver, "partners"),
    "start, coarse to fine": (solver, "coarse_to_fine"),
    "loop": (solver, "majorize"),
    "held-out rows": (solver, "sample_rows"),
}
OPERATIONS = (
    52  # of a pair of a node and a pivot in three dimensions, both ways, beside a root and a division
)


def staged(task: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """Result of a task, and processor seconds of each stage; what is left is "other"."""
    spent, kept = dict.fromkeys(STAGES, 0.0), {}

    def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **options: Any) -> Any:
            began = time.process_time()
            try:
                return function(*args, **options)
            finally:
                spent[name] += time.process_time() - began

        return run

    for name, (module, function) in STAGES.items():
        kept[name] = getattr(module, function)
        setattr(module, function, timed(name, kept[name]))
    try:
        began = time.process_time()
        result = task()
        spent["other"] = time.process_time() - began - sum(spent.values())
    finally:
        for name, (module, function) in STAGES.items():
            setattr(module, function, kept[name])
    return result, spent


def one_pass(graph: Any, m: int) -> dict[str, float]:
    """A pass over the pairs of all nodes and pivots, by itself."""
    data = pivots.pivot_graph(graph, 100, n_jobs=1, random_state=0)
    plan = solver.Plan.of("map_graph", m, 0.3, "uniform", {"random_state": 0, "n_jobs": 1})
    problem, _ = solver.Job(data.pivots, plan, None, data.bound).problem()
    X, omega = np.random.default_rng(0).normal(size=(problem.n_points, m)), np.append(np.zeros(m - 1), 0.3)
    seconds = []
    for _ in range(7):
        began = time.process_time()
        problem.evaluate(X, omega)
        seconds.append(time.process_time() - began)
    pairs = float(data.pivots.n_nodes * data.pivots.n_pivots)
    limit, least = limits(1), min(seconds[1:])
    arithmetic = max(OPERATIONS / limit["single_operations"], 1 / limit["single_roots"])
    size = data.pivots.out_of.itemsize + data.pivots.into.itemsize
    return {
        "nodes": data.pivots.n_nodes, "pivots": data.pivots.n_pivots, "ns_per_pair": 1e9 * least / pairs,
        "share_of_bandwidth": pairs * size / least / limit["bandwidth"],
        "share_of_arithmetic": arithmetic * pairs / least,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--nodes", type=int, default=100_000)
    given = parser.parse_args()
    graphs = {"city": as_digraph(make_city(given.nodes).graph), "scale-free": scale_free(given.nodes)}
    found = []
    for name, graph in graphs.items():
        options: dict[str, Any] = {"method": "sparse", "n_jobs": 1, "random_state": 0, "verbose": False}
        staged(
            lambda graph=graph, options=options: finsler.embed_graph(graph, max_iter=2, **options)
        )  # compiles
        result, spent = staged(lambda graph=graph, options=options: finsler.embed_graph(graph, **options))
        found.append(
            {"graph": name, "nodes": len(result.coordinates), "seconds": spent, "pass": one_pass(graph, 3)}
        )
        print(json.dumps(found[-1], indent=1))
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
