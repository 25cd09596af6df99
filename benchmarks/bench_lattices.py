"""Travel times on lattices, and maps of many points: python benchmarks/bench_lattices.py [--json FILE] [--points N ...]

1. By how much times on a 30 x 30 lattice are above the exact ones of Zermelo, by the number of neighbors, without a current
   and in constant ones, and with as many as the library takes in each; and the same of a semi-Lagrangian scheme of first
   order (that of fast marching).
2. Maps of many points in a current: peak memory, and processor time beside that of the pivot distances alone; held-out
   stress beside that of all pairs. Each in a process of its own. ``--points`` without a number leaves them out and keeps
   what FILE has of them.
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_array

from finsler import embed_points
from finsler.datasets import make_sea
from finsler.geometry.randers import randers_norm, zermelo_metric
from finsler.geometry.stencils import sharpness, stencil, turns_for
from finsler.graphs import pivots
from finsler.graphs.distances import sample_rows, sampled_scores
from finsler.graphs.paths import shortest_paths

SIDE = 30
CURRENTS = ((0.0, 0.0), (0.3, 0.1), (0.6, 0.0), (0.42, 0.42), (0.8, 0.0), (0.74, 0.3), (0.9, 0.0))
TURNS = (45, 30, 20, 15, 12, 9, 6)  # degrees at most between neighboring directions
SOURCES = 20  # of the semi-Lagrangian scheme
PARTS = 33  # points that it looks at on each side of a triangle


def lattice() -> np.ndarray:
    return np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE)), axis=-1).reshape(-1, 2).astype(float)


def exact(points: np.ndarray, current: tuple[float, float], sources: np.ndarray) -> np.ndarray:
    M, omega = zermelo_metric(current)
    return randers_norm(points[None] - points[sources][:, None], M, omega)


def excess(found: np.ndarray, truth: np.ndarray) -> dict[str, float]:
    ratio = found[truth > 0] / truth[truth > 0] - 1
    return {"median": float(np.median(ratio)), "most": float(ratio.max())}


def graph_times(degrees: float, current: tuple[float, float]) -> np.ndarray:
    """Shortest paths over the edges of a stencil, measured exactly."""
    M, omega = zermelo_metric(current)
    number = np.arange(SIDE * SIDE).reshape(SIDE, SIDE)
    rows, columns, lengths = [], [], []
    for a, b in stencil(1.0, math.radians(degrees)):
        starts = number[max(0, -b) : SIDE - max(0, b), max(0, -a) : SIDE - max(0, a)].ravel()
        rows.append(starts)
        columns.append(starts + a + b * SIDE)
        lengths.append(np.full(len(starts), float(randers_norm([a, b], M, omega))))
    entries = np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))
    return shortest_paths(csr_array(entries, shape=(SIDE**2, SIDE**2)), verbose=False)


def marched_times(current: tuple[float, float], sources: np.ndarray) -> np.ndarray:
    """Semi-Lagrangian scheme of first order: from each node straight to a side of one of 8 triangles around it.

    On a side, times are linear between its ends. Values are iterated until they stand still, to which fast marching
    would come in one pass. Times are from the sources.
    """
    M, omega = zermelo_metric(current)
    ring = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
    share = np.linspace(0, 1, PARTS)[:, None]
    found = np.full((len(sources), SIDE * SIDE), np.inf)
    found[np.arange(len(sources)), sources] = 0.0
    found = found.reshape(-1, SIDE, SIDE)
    while True:
        wide = np.pad(found, [(0, 0), (1, 1), (1, 1)], constant_values=np.inf)
        best = found.copy()
        for one, two in zip(ring, [*ring[1:], ring[0]], strict=True):
            first, last = (wide[:, 1 + b : 1 + b + SIDE, 1 + a : 1 + a + SIDE] for a, b in (one, two))
            costs = randers_norm((share - 1) * one - share * two, M, omega)
            np.minimum(best, first + costs[0], out=best)
            for t, cost in zip(share[1:-1, 0], costs[1:-1], strict=True):
                np.minimum(best, (1 - t) * first + t * last + cost, out=best)
        if (best >= found).all():
            return found.reshape(len(sources), -1)
        found = best


def directions() -> list[dict]:
    points = lattice()
    every = np.arange(len(points))
    rows = []
    for degrees in TURNS:
        row: dict = {
            "scheme": "edges",
            "degrees": degrees,
            "neighbors": len(stencil(1.0, math.radians(degrees))),
        }
        began = time.process_time()
        for current in CURRENTS:
            row[f"current {current}"] = excess(graph_times(degrees, current), exact(points, current, every))
        row["seconds"] = time.process_time() - began
        rows.append(row)
    row = {"scheme": "edges, by the current", "degrees": "15 to 6", "neighbors": "40 to 128"}
    for current in CURRENTS:
        degrees = round(math.degrees(turns_for(sharpness(*zermelo_metric([current])))[0]))
        row[f"current {current}"] = next(one for one in rows if one["degrees"] == degrees)[
            f"current {current}"
        ]
    rows.append(row)
    sources = np.random.default_rng(0).choice(every, SOURCES, replace=False)
    row = {"scheme": "semi-Lagrangian, first order", "neighbors": 8}
    for current in CURRENTS:
        row[f"current {current}"] = excess(marched_times(current, sources), exact(points, current, sources))
    return [*rows, row]


def one_map(n: int, method: str) -> dict:
    """A map of points in a current, in this process."""
    sea = make_sea(n, random_state=0)
    seconds = {}
    measure = pivots.pivot_distances

    def timed(*args, **options):
        began = time.process_time()
        found = measure(*args, **options)
        seconds["pivots"] = time.process_time() - began
        return found

    pivots.pivot_distances = timed
    began = time.process_time()
    found = embed_points(sea.points, current=sea.current, method=method, random_state=0, verbose=False)
    seconds["map"] = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    rows = sample_rows(found.network.graph, 100, random_state=7, verbose=False)
    score = sampled_scores(found.coordinates, found.drift, rows).normalized_stress
    return {"points": n, "method": method, "seconds": seconds, "peak GB": peak, "held out": score.value}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, help="where to write the figures")
    parser.add_argument("--points", type=int, nargs="*", default=[120_000], help="sizes of sparse maps")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one:
        print(json.dumps(one_map(int(given.one[0]), given.one[1])))
        return
    found: dict = {"lattice": directions(), "points": []}
    for row in found["lattice"]:
        parts = [value for value in row.values() if isinstance(value, dict)]
        biases = [f"{100 * part['median']:.2f} ({100 * part['most']:.2f})" for part in parts]
        print(f"{row['scheme']:30} {row['neighbors']:>9}  " + "  ".join(biases), flush=True)
    if not given.points and given.json and given.json.exists():
        found["points"] = json.loads(given.json.read_text(encoding="utf-8"))["points"]
    maps = [(5000, "dense"), (5000, "sparse"), *((n, "sparse") for n in given.points)]
    for n, method in maps if given.points else []:
        command = [sys.executable, __file__, "--one", str(n), method]
        if n == min(maps)[0]:
            subprocess.run(command, capture_output=True, check=True)  # compiles what was not compiled before
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        found["points"].append(json.loads(done.stdout))
        print(found["points"][-1], flush=True)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
