"""Directed shortest paths: ratios to scipy.sparse.csgraph.dijkstra, measured in one run.

    python benchmarks/bench_paths.py [--json PATH] [--repeat N]

"x1" and "x2" are times faster than SciPy, which has one thread, on one and on two threads. Each time is the
least of several repetitions, taken in turns so that a busy machine hits all of them. The distances are compared,
too: they are equal to the last bit.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from pathlib import Path

import numpy as np
import scipy
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import kneighbors_graph

from finsler import embed_points
from finsler._runtime import cpu_count
from finsler.data.fields import randers_field
from finsler.datasets import synthetic
from finsler.graphs.neighbors import neighborhood_graph, randers_edges
from finsler.graphs.paths import shortest_paths


def neighbors(points, k=10, alpha=0.4):
    """Symmetric k-nearest-neighbor graph with Randers lengths: going up the last axis costs more."""
    graph = kneighbors_graph(points, k)
    graph = coo_array((graph + graph.T) > 0)
    row, col = graph.coords
    step = points[col] - points[row]
    return csr_array((np.linalg.norm(step, axis=1) + alpha * step[:, -1], (row, col)), shape=graph.shape)


def scale_free(n, m=8, seed=0):
    """Preferential attachment; each arc points either way, with an exponential length."""
    rng = np.random.default_rng(seed)
    ends = np.empty(2 * m * n, dtype=np.int64)  # a node as often as it has arcs
    ends[:m] = range(m)
    size, rows, cols = m, [], []
    for node in range(m, n):
        others = np.unique(ends[rng.integers(0, size, m)])
        back = rng.random(len(others)) < 0.5
        rows.append(np.where(back, others, node))
        cols.append(np.where(back, node, others))
        ends[size : size + 2 * len(others)] = np.concatenate([others, np.full(len(others), node)])
        size += 2 * len(others)
    row, col = np.concatenate(rows), np.concatenate(cols)
    return csr_array((rng.exponential(size=len(row)), (row, col)), shape=(n, n))


def grid(side, seed=0):
    """Streets of a town: four arcs a node, each way with its own length."""
    node = np.arange(side * side).reshape(side, side)
    a = np.concatenate([node[:, :-1].ravel(), node[:-1].ravel()])
    b = np.concatenate([node[:, 1:].ravel(), node[1:].ravel()])
    lengths = np.random.default_rng(seed).uniform(0.5, 1.5, 2 * len(a))
    return csr_array((lengths, (np.concatenate([a, b]), np.concatenate([b, a]))), shape=(side**2, side**2))


def cases():
    """Name, graph, sources, method."""
    rng = np.random.default_rng(0)
    cloud = neighbors(rng.random((20_000, 3)))
    roll = neighbors(make_swiss_roll(3000, random_state=0)[0])
    web, town = scale_free(20_000), grid(140)
    some = [rng.choice(graph.shape[0], 500, replace=False) for graph in (cloud, web, town)]
    yield "10-nn of 20,000 points, 500 sources", cloud, some[0], "dijkstra"
    yield "10-nn of 20,000 points, 2,000 sources", cloud, np.arange(2000), "dijkstra"
    yield "10-nn of 20,000 points, 1 source", cloud, np.arange(1), "dijkstra"
    yield "Swiss roll 3,000, all pairs", roll, np.arange(3000), "dijkstra"
    yield "scale-free 20,000, 500 sources", web, some[1], "dijkstra"
    yield "grid 140 x 140, 500 sources", town, some[2], "dijkstra"
    yield "grid 60 x 60, all pairs", grid(60), np.arange(3600), "dijkstra"
    yield "10-nn of 20,000 points, 500 sources, hops", cloud, some[0], "bfs"


def compare(graph, sources, method, repeat):
    """Least seconds: SciPy, ours on one thread, ours on two."""
    runs = [
        lambda: dijkstra(graph, indices=sources, unweighted=method == "bfs"),
        lambda: shortest_paths(graph, sources, method=method, n_jobs=1),
        lambda: shortest_paths(graph, sources, method=method, n_jobs=2),
    ]
    expected, *found = [run() for run in runs]  # also compiles
    if not all(np.array_equal(expected, distances) for distances in found):
        raise AssertionError("not SciPy's distances")
    del expected, found
    best = [np.inf] * len(runs)
    for _ in range(repeat):
        for i, run in enumerate(runs):
            began = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def points_recipe(repeat):
    """The whole of embed_points on the Swiss roll, against shortest paths alone: ours, and scipy's on one thread."""
    roll = synthetic.make_swiss_roll(3000, alpha=0.3, random_state=1)
    graph = randers_edges(
        roll.points, neighborhood_graph(roll.points), randers_field(roll.points, drift=roll.drift)
    )

    def best(task):
        times = []
        for _ in range(repeat):
            began = time.perf_counter()
            task()
            times.append(time.perf_counter() - began)
        return min(times)

    whole = best(lambda: embed_points(roll.points, drift=roll.drift, verbose=False))
    ours, theirs = best(lambda: shortest_paths(graph, verbose=False)), best(lambda: dijkstra(graph))
    return {
        "embed_points_seconds": whole, "paths_seconds": ours, "scipy_paths_seconds": theirs,
        "to_its_own_paths": whole / ours, "to_scipys_paths": whole / theirs,
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="also write the numbers here")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    results = []
    print(f"{'shortest paths':45s} {'scipy s':>9s} {'x1':>6s} {'x2':>6s}")
    for name, graph, sources, method in cases():
        theirs, one, two = compare(graph, sources, method, options.repeat)
        print(f"{name:45s} {theirs:9.4f} {theirs / one:6.1f} {theirs / two:6.1f}", flush=True)
        results.append(
            {
                "case": name,
                "nodes": graph.shape[0],
                "arcs": int(graph.nnz),
                "scipy_seconds": theirs,
                "ratio_one_thread": theirs / one,
                "ratio_two_threads": theirs / two,
            }
        )
    points = points_recipe(options.repeat)
    print(f"\nembed_points, Swiss roll of 3,000 points: {points['embed_points_seconds']:.3f} s, all told")
    print(
        f"  {points['to_its_own_paths']:.2f} times its own shortest paths, {points['to_scipys_paths']:.2f} times scipy's"
    )
    if options.json:
        machine = {"cpu": platform.machine(), "cores": cpu_count(), "scipy": scipy.__version__}
        options.json.write_text(
            json.dumps({"machine": machine, "paths": results, "embed_points": points}, indent=1) + "\n"
        )


if __name__ == "__main__":
    main()
