"""Majorization node by node, or random pairs with annealing? Which is sooner at a given stress on held-out rows.

    python benchmarks/compare_sparse_solvers.py [--nodes 90000] [--pivots 100] [--json PATH]

Both start from the same place (all nodes put by their distances to the pivots of the coarse map) and see the same
pairs with the same weights 1/d^2 and the same drift, on one thread. The stochastic steps follow Zheng, Pawar and
Goodman (2018), for the Randers distance: with r = d - D and g = u/e + omega, u moves by -mu r g / ||g||^2, half to each
end, mu = min(1, w eta), eta falling from 1/least w to 0.1/largest w over the epochs. CPU seconds; scoring is not counted.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np
from numba import njit

from finsler._runtime import Progress
from finsler.datasets import make_city
from finsler.graphs.digraph import Digraph
from finsler.graphs.distances import sample_rows, sampled_scores
from finsler.graphs.pivots import pivot_distances
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.sparse.problem import ArcPairs, SparseProblem
from finsler.solvers.sparse.start import coarse_to_fine, place_by_pivots


@njit(cache=True, error_model="numpy")
def epoch(X, pivots, out_of, into, ahead, behind, soft, omega, eta, order):
    """One step for every pair of a node and a pivot, both ways, in random order of nodes and of pivots."""
    m = X.shape[1]
    u = np.empty(m)
    for i in order:
        first = np.random.randint(len(pivots))  # noqa: NPY002
        for t in range(len(pivots)):
            p = (first + t) % len(pivots)
            j = pivots[p]
            if i == j:
                continue
            for way in range(2):
                D = np.float64(out_of[i, p] if way == 0 else into[i, p])
                w = np.float64(ahead[p] if way == 0 else behind[p]) / (D * D + soft[p])
                sign = 1.0 if way == 0 else -1.0
                e2, a = 1e-30, 0.0
                for k in range(m):
                    u[k] = sign * (X[j, k] - X[i, k])
                    e2 += u[k] * u[k]
                    a += omega[k] * u[k]
                e = np.sqrt(e2)
                norm = 0.0
                for k in range(m):
                    u[k] = u[k] / e + omega[k]
                    norm += u[k] * u[k]
                move = 0.5 * min(1.0, w * eta) * (e + a - D) / norm * sign
                for k in range(m):
                    X[i, k] += move * u[k]
                    X[j, k] -= move * u[k]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=90_000)
    parser.add_argument("--pivots", type=int, default=100)
    parser.add_argument("--epochs", type=int, nargs="+", default=[5, 15, 30])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    graph = Digraph(make_city(options.nodes).graph)
    data = pivot_distances(graph, options.pivots, n_jobs=1)
    arcs = ArcPairs.of(graph, True)
    rows = sample_rows(graph, 10, exclude=data.pivots, n_jobs=1)
    problem = SparseProblem(data, arcs, power=2, hold=True, n_jobs=1)
    start = coarse_to_fine(
        problem, 2, "auto", init="classical", rng=np.random.RandomState(0),
        deadline=np.inf, progress=Progress("", False),
    )  # fmt: skip
    X0, omega = (
        place_by_pivots(data, start.coordinates[data.pivots], np.random.RandomState(0), arcs, 1),
        start.omega,
    )
    problem.evaluate(X0, omega)  # compiles the kernels
    free = SparseProblem(data, arcs, power=2, n_jobs=1)

    def score(X: np.ndarray) -> float:
        return sampled_scores(X, omega, rows, weighting="inverse-square").normalized_stress.value ** 2

    problem.evaluate(X0, omega)  # compiles
    epoch(
        X0[:5].copy(),
        np.arange(2),
        data.out_of,
        data.into,
        free.ahead,
        free.behind,
        free.soft,
        omega,
        0.0,
        np.arange(1),
    )
    record: dict = {
        "nodes": graph.n_nodes,
        "pivots": options.pivots,
        "start": score(X0),
        "majorization": [],
        "stochastic": [],
    }
    spent, began, maps = 0.0, time.process_time(), []

    def keep(iteration):
        maps.append((iteration.n_iter, time.process_time() - began, iteration.coordinates))

    majorize(problem, X0, omega, StopRule(20, 1e-6), callback=keep, memory=3)
    for n_iter, seconds, X in maps:
        record["majorization"].append({"iterations": n_iter, "seconds": seconds, "held_out": score(X)})
    weights = np.concatenate(
        [(free.ahead / (d.astype(float) ** 2 + free.soft)).ravel() for d in (data.out_of[:1000],)]
    )
    for epochs in options.epochs:
        X, rng = X0.copy(), np.random.default_rng(0)
        np.random.seed(0)  # noqa: NPY002
        most, least = 1 / weights.min(), 0.1 / weights.max()
        spent = 0.0
        for k in range(epochs):
            eta = most * (least / most) ** (k / max(epochs - 1, 1))
            order = rng.permutation(graph.n_nodes)
            began = time.process_time()
            epoch(
                X, data.pivots, data.out_of, data.into, free.ahead, free.behind, free.soft, omega, eta, order
            )
            spent += time.process_time() - began
        record["stochastic"].append({"epochs": epochs, "seconds": spent, "held_out": score(X)})
    print(
        f"{graph.n_nodes:,} nodes, {options.pivots} pivots, squared held-out stress {record['start']:.5f} at the start"
    )
    for r in record["majorization"]:
        print(f"  majorization {r['iterations']:3d} iterations  {r['seconds']:7.2f} s  {r['held_out']:.5f}")
    for r in record["stochastic"]:
        print(f"  stochastic   {r['epochs']:3d} epochs      {r['seconds']:7.2f} s  {r['held_out']:.5f}")
    if options.json:
        options.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
