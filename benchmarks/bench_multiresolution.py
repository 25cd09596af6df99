"""Whether a start from coarse to fine pays: solve a sample, place the other points by it, and go on with all.

    python benchmarks/bench_multiresolution.py [--json PATH] [--rounds 3]

Against the closed form, which is the default start, on points with noise, and on the shortest paths of a scale-free graph,
where a map of few dimensions fits badly and more is left to the loop. In a round both do the whole job by turns, reading the
matrix included; the stress tells whether both ended in the same map. What any start could save at most is told by a fit that
begins at the end of the first one.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from scipy.sparse import coo_array
from sklearn.exceptions import ConvergenceWarning

from finsler import FinslerMDS
from finsler.geometry.randers import randers_distances
from finsler.graphs.distances import shortest_paths
from finsler.solvers.placement import place

ALPHA, DIMENSIONS = 0.4, 3
SAMPLE = 300
PLACED = {"tol": 1e-3, "max_iter": 10}  # the passes that follow do the rest


def noisy_points(n: int) -> np.ndarray:
    """Distances between points of a normal distribution, 10 % off."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, DIMENSIONS))
    D = np.empty((n, n), dtype=np.float32)
    for start in range(0, n, 1000):
        rows = randers_distances(X[start : start + 1000], X, drift=ALPHA)
        D[start : start + 1000] = rows * rng.uniform(0.9, 1.1, size=rows.shape)
    np.fill_diagonal(D, 0)
    return D


def scale_free_graph(n: int) -> np.ndarray:
    """Shortest paths of a graph in which new nodes prefer nodes with many links; ways back are up to twice as long."""
    rng = np.random.default_rng(0)
    ends = list(range(4))
    rows, columns = [], []
    for i in range(4, n):
        for j in {ends[k] for k in rng.integers(len(ends), size=3)}:
            rows.append(i)
            columns.append(j)
            ends += [i, j]
    lengths = rng.uniform(1, 2, size=(2, len(rows)))
    arcs = coo_array((lengths.ravel(), (rows + columns, columns + rows)), shape=(n, n))
    return shortest_paths(arcs.tocsr()).astype(np.float32)


def fitted(D: np.ndarray, **options: object) -> FinslerMDS:
    return FinslerMDS(DIMENSIONS, alpha=ALPHA, n_init=1, verbose=False, **options).fit(D)


def from_closed_form(D: np.ndarray, _: np.ndarray | None) -> tuple[FinslerMDS, float | None]:
    """The default; how much of it is the start is not told apart."""
    return fitted(D), None


def from_a_sample(D: np.ndarray, _: np.ndarray | None) -> tuple[FinslerMDS, float | None]:
    """Coarse to fine, and the seconds of the start: the map of the sample, and the places of the others."""
    began, n = time.perf_counter(), len(D)
    sample = np.sort(np.random.default_rng(1).permutation(n)[:SAMPLE])
    rest = np.setdiff1d(np.arange(n), sample)
    X = np.empty((n, DIMENSIONS))
    X[sample] = fitted(D[np.ix_(sample, sample)]).embedding_
    there, back = D[np.ix_(rest, sample)], D[np.ix_(sample, rest)].T
    X[rest] = place(X[sample], ALPHA, to_fitted=there, from_fitted=back, **PLACED).coordinates
    start = time.perf_counter() - began
    return fitted(D, init=X), start


def from_the_end(D: np.ndarray, end: np.ndarray | None) -> tuple[FinslerMDS, float | None]:
    """As if a start were free and perfect."""
    return fitted(D, init=end), 0.0


# By turns, in this order: the last one begins where the first one ended.
WAYS = {"closed form": from_closed_form, "coarse to fine": from_a_sample, "its end": from_the_end}
CASES = (
    ("points, 10 % noise", noisy_points, 5_000),
    ("points, 10 % noise", noisy_points, 20_000),
    ("scale-free graph", scale_free_graph, 5_000),
)


def timed(
    way: Callable[..., tuple[FinslerMDS, float | None]], D: np.ndarray, end: np.ndarray | None
) -> tuple:
    """What a way found, with its time."""
    began = time.perf_counter()
    mds, start = way(D, end)
    return mds.embedding_, {
        "seconds": time.perf_counter() - began,
        "start": start,
        "iterations": int(mds.n_iter_),
        "stress": float(mds.normalized_stress_),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore", ConvergenceWarning)
    small = noisy_points(1_500)
    for way in WAYS.values():
        way(small, np.zeros((1_500, DIMENSIONS)) + small[:, :DIMENSIONS])  # compiles
    rows = []
    for words, make, n in CASES:
        D, found = make(n), {name: [] for name in WAYS}
        for _ in range(options.rounds):
            end = None
            for name, way in WAYS.items():
                X, told = timed(way, D, end)
                end = X if end is None else end
                found[name].append(told)
        row = {"data": words, "points": n, "rounds": options.rounds, "sample": SAMPLE, "ways": {}}
        for name, runs in found.items():
            row["ways"][name] = {
                **runs[0],
                "seconds": median(run["seconds"] for run in runs),
                "start": None if runs[0]["start"] is None else median(run["start"] for run in runs),
            }
        rows.append(row)
        print(row, flush=True)
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
