"""The sparse map from ten thousand to ten million nodes: seconds, memory, and the score on held-out rows.

    python benchmarks/scale_sparse.py [--nodes 10000 100000 1000000] [--pivots 100] [--dim 2 3] [--json PATH]

Each size and dimension runs in a process of its own, so that the peak memory is its own. "ratio" is the time of the
layout over the time of the pivot distances, in the same run. The machine may be busy: compare ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np


def measure(nodes: int, pivots: int, dim: int, held_out: int, jobs: int | None) -> dict:
    """One city, one map."""
    from finsler.datasets import make_city
    from finsler.graphs.digraph import Digraph
    from finsler.graphs.distances import sample_rows, sampled_scores
    from finsler.graphs.pivots import pivot_distances
    from finsler.solvers.sparse.problem import ArcPairs
    from finsler.solvers.sparse.solver import sparse_smacof

    small = Digraph(make_city(20_000).graph)  # compiles every kernel
    sparse_smacof(
        pivot_distances(small, pivots, n_jobs=jobs),
        dim,
        arcs=ArcPairs.of(small, True),
        random_state=0,
        n_jobs=jobs,
    )

    began = time.perf_counter()
    graph = Digraph(make_city(nodes).graph)
    made = time.perf_counter() - began
    began, used = time.perf_counter(), time.process_time()
    data = pivot_distances(graph, pivots, n_jobs=jobs)
    distances, distances_cpu = time.perf_counter() - began, time.process_time() - used
    began, used = time.perf_counter(), time.process_time()
    solution = sparse_smacof(data, dim, arcs=ArcPairs.of(graph, True), random_state=0, n_jobs=jobs)
    layout, layout_cpu = time.perf_counter() - began, time.process_time() - used
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = sample_rows(graph, held_out, exclude=data.pivots, n_jobs=jobs)
    scores = sampled_scores(solution.coordinates, solution.drift, rows)
    return {
        "nodes": graph.n_nodes,
        "arcs": graph.n_arcs,
        "pivots": pivots,
        "dim": dim,
        "seconds_city": made,
        "seconds_pivots": distances,
        "seconds_layout": layout,
        "cpu_pivots": distances_cpu,
        "cpu_layout": layout_cpu,
        "ratio": layout / distances,
        "ratio_cpu": layout_cpu / distances_cpu,
        "iterations": solution.n_iter,
        "alpha": solution.alpha,
        "peak_gb": peak,
        "held_out_stress": scores.normalized_stress,
        "sign_accuracy": scores.sign_accuracy,
        "explained": scores.asymmetry_shown[:2],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, nargs="+", default=[10_000, 100_000, 1_190_000])
    parser.add_argument("--pivots", type=int, default=100)
    parser.add_argument("--dim", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--held-out", type=int, default=10)
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=3, type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(*options.one, options.held_out, options.jobs)))
        return
    results = []
    for dim in options.dim:
        for nodes in options.nodes:
            command = [sys.executable, __file__, "--one", str(nodes), str(options.pivots), str(dim)]
            command += ["--held-out", str(options.held_out)]
            command += [] if options.jobs is None else ["--jobs", str(options.jobs)]
            done = subprocess.run(command, capture_output=True, text=True, env=os.environ, check=False)
            if done.returncode:
                sys.exit(done.stderr)
            results.append(json.loads(done.stdout))
            r = results[-1]
            print(
                f"m = {dim}, {r['nodes']:>10,} nodes, {r['arcs']:>10,} arcs: pivots {r['seconds_pivots']:.2f} s, layout "
                f"{r['seconds_layout']:.2f} s ({r['iterations']} iterations), ratio {r['ratio']:.2f} (CPU "
                f"{r['ratio_cpu']:.2f}), peak {r['peak_gb']:.2f} GB, held-out stress {r['held_out_stress'][0]:.4f}",
                flush=True,
            )
        some = [r for r in results if r["dim"] == dim]
        if len(some) > 1:
            for what in ("cpu_layout", "cpu_pivots"):
                slope = np.polyfit(np.log([r["nodes"] for r in some]), np.log([r[what] for r in some]), 1)[0]
                print(f"m = {dim}: growth exponent of {what} {slope:.2f}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
