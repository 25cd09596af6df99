"""Sparse and full stress beside s_gd2 (SGD of Zheng, Pawar and Goodman, 2018), on undirected graphs, in one run.

    python benchmarks/bench_sparse.py [--json PATH] [--repeat N]

Both lay out the same graph in the plane with weights 1/d^2, alpha = 0, one thread, shortest paths included. "full" uses
all pairs, "sparse" 100 pivots. "stress" is ours over theirs, over all pairs up to 4,000 nodes and else over the rows
of 50 nodes; "time" is ours over theirs. Below 1 is better. Each time is the least of several, taken in turns; the
stress is the mean over the seeds. pymde is measured beside them where it is installed.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import s_gd2
from scipy.sparse import csr_array
from scipy.spatial import KDTree
from threadpoolctl import threadpool_limits

from finsler.datasets import make_city
from finsler.graphs.digraph import Digraph, as_digraph, largest_component
from finsler.graphs.distances import graph_distances
from finsler.graphs.paths import shortest_paths
from finsler.graphs.pivots import pivot_distances
from finsler.solvers.smacof import smacof
from finsler.solvers.sparse.problem import ArcPairs
from finsler.solvers.sparse.solver import sparse_smacof

PIVOTS = 100


def both_ways(matrix) -> Digraph:
    matrix = csr_array(((matrix + matrix.T) > 0).astype(float))
    return largest_component(as_digraph(matrix))


def neighbors(n: int, k: int = 6) -> Digraph:
    """Points in a square, joined with their nearest."""
    points = np.random.default_rng(0).random((n, 2))
    near = KDTree(points).query(points, k + 1)[1][:, 1:]
    rows = np.repeat(np.arange(n), k)
    return both_ways(csr_array((np.ones(n * k), (rows, near.ravel())), shape=(n, n)))


def scale_free(n: int, m: int = 3) -> Digraph:
    """Preferential attachment."""
    rng = np.random.default_rng(0)
    ends = list(range(m))
    rows, columns = [], []
    for node in range(m, n):
        others = {ends[k] for k in rng.integers(len(ends), size=m)}
        rows += [node] * len(others)
        columns += others
        ends += [*others, *[node] * len(others)]
    return both_ways(csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)))


def cases():
    """Name, graph, modes."""
    yield "city 3,000", both_ways(make_city(3000, one_way=0).graph), ("full", "sparse")
    yield "neighbors 3,000", neighbors(3000), ("full", "sparse")
    yield "scale-free 2,000", scale_free(2000), ("full", "sparse")
    yield "city 30,000", both_ways(make_city(30_000, one_way=0).graph), ("sparse",)


def stress_of(X: np.ndarray, graph: Digraph) -> float:
    """Weighted stress per pair, at the best scale of the map: layouts need not agree on it."""
    n = graph.n_nodes
    rows = np.arange(n) if n <= 4000 else np.random.default_rng(1).choice(n, 50, replace=False)
    D = shortest_paths(graph.matrix, rows, n_jobs=1, dtype=np.float32)
    top = bottom = count = total = 0.0
    for row, d in zip(rows, D, strict=True):
        r = np.sqrt(((X - X[row]) ** 2).sum(axis=1)) / np.where(d > 0, d, np.inf)
        top, bottom, count, total = top + r.sum(), bottom + (r * r).sum(), count + n - 1, total + n - 1
    return float(total - top * top / bottom) / count


def ours(graph: Digraph, mode: str, seed: int) -> np.ndarray:
    """What `embed_graph` does for small graphs (full) and for large ones (sparse), with alpha = 0."""
    options = {"random_state": seed, "n_jobs": 1, "verbose": False}
    if mode == "full":
        every = graph_distances(graph, weighting="inverse-square", n_jobs=1)
        return smacof(every, 2, 0.0, tol=1e-5, **options).coordinates
    data = pivot_distances(graph, PIVOTS, random_state=seed, n_jobs=1)
    arcs = ArcPairs.of(graph, True)
    return sparse_smacof(data, 2, 0.0, arcs=arcs, weighting="inverse-square", **options).coordinates


def theirs(graph: Digraph, mode: str, seed: int) -> np.ndarray:
    rows, columns = graph.matrix.nonzero()
    once = rows < columns
    tail, head = rows[once].astype(np.int32), columns[once].astype(np.int32)
    if mode == "full":
        return s_gd2.layout(tail, head, random_seed=seed)
    return s_gd2.layout_sparse(tail, head, PIVOTS, random_seed=seed)


def with_pymde(graph: Digraph, seed: int) -> np.ndarray | None:
    """The same stress by pymde, whose own recipe for graphs takes distances of all pairs."""
    if "torchvision" not in sys.modules and find_spec("torchvision") is None:
        sys.modules["torchvision"] = ModuleType(
            "torchvision"
        )  # which it imports for data sets, not needed here
    try:
        import pymde
        import torch
    except ImportError:
        return None
    torch.set_num_threads(1)
    pymde.seed(seed)
    D = shortest_paths(graph.matrix, n_jobs=1, dtype=np.float32)
    i, j = np.triu_indices(graph.n_nodes, 1)
    d = torch.tensor(D[i, j])
    edges = torch.tensor(np.column_stack([i, j]))
    problem = pymde.MDE(
        graph.n_nodes, 2, edges, distortion_function=pymde.losses.WeightedQuadratic(d, 1 / d**2)
    )
    return problem.embed(max_iter=300).numpy()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--case", help="only cases whose name contains this")
    options = parser.parse_args()
    threadpool_limits(1)
    warm = neighbors(3000)
    ours(warm, "full", 0)
    ours(neighbors(12_000), "sparse", 0)
    results = []
    for name, graph, modes in cases():
        if options.case and options.case not in name:
            continue
        for mode in modes:
            contenders = {"finsler": ours, "s_gd2": theirs}
            seconds = {key: [] for key in contenders}
            quality = {key: [] for key in contenders}
            for seed in range(options.repeat):
                for key, run in contenders.items():
                    began = time.process_time()
                    X = run(graph, mode, seed)
                    seconds[key].append(time.process_time() - began)
                    quality[key].append(stress_of(X, graph))
            record = {
                "graph": name,
                "nodes": graph.n_nodes,
                "edges": graph.n_arcs // 2,
                "mode": mode,
                "stress": {key: float(np.mean(q)) for key, q in quality.items()},
                "seconds": {key: min(s) for key, s in seconds.items()},
            }
            for what in ("stress", "seconds"):
                record[f"{what}_ratio"] = record[what]["finsler"] / record[what]["s_gd2"]
            if mode == "full":
                began = time.process_time()
                X = with_pymde(graph, 0)
                if X is not None:
                    record["seconds"]["pymde"] = time.process_time() - began
                    record["stress"]["pymde"] = stress_of(X, graph)
            results.append(record)
            print(
                f"{name:18} {mode:7} stress {record['stress_ratio']:.3f}   time {record['seconds_ratio']:.2f}   ("
                + ", ".join(
                    f"{k} {record['stress'][k]:.4f} in {record['seconds'][k]:.2f} s"
                    for k in record["seconds"]
                )
                + ")",
                flush=True,
            )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
