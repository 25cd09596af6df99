"""How much worse a sparse map is than one of all pairs, on graphs where both are possible.

    python benchmarks/quality_sparse.py [--data FOLDER] [--pivots 50] [--seeds 3] [--dim 2] [--weighting uniform]

"ratio" is the stress over all reachable ordered pairs of the sparse map over that of the dense solver (alpha = "auto",
the same weights for both), for each seed. FOLDER holds road_berlin.npz and openflights.npz (arrays src, dst, n_nodes);
without it only the made-up graphs are run. Arcs count one each, except those of the tree.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np

from finsler.datasets import make_binary_tree, make_city
from finsler.geometry.stress import raw_stress
from finsler.graphs.digraph import as_digraph, largest_component
from finsler.graphs.distances import graph_distances
from finsler.graphs.readers import read_graph
from finsler.recipes import embed_graph
from finsler.solvers.smacof import smacof


def graphs(folder: Path | None):
    yield "city 3,000", as_digraph(make_city(3000).graph)
    yield "binary tree, depth 7", as_digraph(make_binary_tree(7).graph)
    if folder is not None:
        for name in ("road_berlin", "openflights"):
            yield f"{name}, strong part", largest_component(read_graph(folder / f"{name}.npz", weight=None))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--pivots", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--dim", type=int, nargs="+", default=[2])
    parser.add_argument("--weighting", nargs="+", default=["uniform"])
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    warnings.simplefilter("ignore", UserWarning)
    results = []
    for name, graph in graphs(options.data):
        for weighting in options.weighting:
            data = graph_distances(graph, weighting=weighting)
            for dim in options.dim:
                began = time.process_time()
                dense = smacof(data, dim, "auto")
                dense_seconds = time.process_time() - began
                ratios, seconds = [], []
                for seed in range(options.seeds):
                    began = time.process_time()
                    found = embed_graph(
                        graph,
                        n_components=dim,
                        weighting=weighting,
                        method="sparse",
                        n_pivots=options.pivots,
                        random_state=seed,
                    )
                    seconds.append(time.process_time() - began)
                    value = raw_stress(found.coordinates, data.matrix, data.weights, drift=found.drift)
                    ratios.append(value / dense.stress)
                results.append(
                    {
                        "graph": name,
                        "nodes": graph.n_nodes,
                        "weighting": weighting,
                        "dim": dim,
                        "pivots": options.pivots,
                        "ratios": ratios,
                        "cpu_seconds": {"dense": dense_seconds, "sparse": min(seconds)},
                    }
                )
                print(
                    f"{name:26} {weighting:15} m = {dim}: ratio {np.round(ratios, 3)}, CPU {dense_seconds:.1f} s dense, "
                    f"{min(seconds):.2f} s sparse",
                    flush=True,
                )
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
