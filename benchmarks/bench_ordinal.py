"""Ordinal scaling: time of whole fits, beside scikit-learn's non-metric MDS and, where R is installed, vegan's monoMDS
and MASS's isoMDS.

    python benchmarks/bench_ordinal.py --json benchmarks/bench_ordinal.json

One thread. Gaussian points in two dimensions, log-normal noise of 0.3. The first table is the whole job that only we do:
asymmetric data, alpha fitted and corrected, two starts. The second is one that all can do: symmetric data, no drift.
Stress-1 is computed by the same function for all maps; scikit-learn and vegan start from classical scaling, as we do.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("NUMBA_NUM_THREADS", "1")

import numpy as np
import sklearn
from sklearn.manifold import smacof as sklearn_smacof

from finsler import FinslerMDS, randers_distances
from finsler.data.matrix import as_dissimilarities
from finsler.geometry.scaling import Scaling
from finsler.solvers.classical import classical
from finsler.solvers.nonmetric import ScaledData

MONO_MDS = """
suppressMessages(library(vegan))
D <- as.matrix(read.csv("D.csv", header = FALSE)); Y <- as.matrix(read.csv("start.csv", header = FALSE))
t <- system.time(fit <- monoMDS(as.dist(D), y = Y, k = 2, model = "global", maxit = 500))["user.self"]
write.table(fit$points, "X.csv", sep = ",", row.names = FALSE, col.names = FALSE); cat(t)
"""
ISO_MDS = """
suppressMessages(library(MASS))
D <- as.matrix(read.csv("D.csv", header = FALSE)); Y <- as.matrix(read.csv("start.csv", header = FALSE))
t <- system.time(fit <- isoMDS(as.dist(D), y = Y, k = 2, maxit = 500, trace = FALSE))["user.self"]
write.table(fit$points, "X.csv", sep = ",", row.names = FALSE, col.names = FALSE); cat(t)
"""
IN_R = {"vegan monoMDS": MONO_MDS, "MASS isoMDS": ISO_MDS}


def noisy(n: int, alpha: float, seed: int = 0) -> np.ndarray:
    """Distances with noise; symmetric without a drift."""
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=(n, n))
    if alpha == 0:
        noise = np.triu(noise, 1) + np.triu(noise, 1).T
    D = randers_distances(rng.normal(size=(n, 2)), drift=alpha) * np.exp(0.3 * noise)
    np.fill_diagonal(D, 0)
    return D


def timed(task: Callable[[], Any], repeat: int = 1) -> tuple[float, Any]:
    """Least processor time of several runs, and the result."""
    times = []
    for _ in range(repeat):
        began = time.process_time()
        result = task()
        times.append(time.process_time() - began)
    return min(times), result


def stress1(D: np.ndarray, X: np.ndarray) -> float:
    """Stress-1 of a symmetric map, whoever made it."""
    return ScaledData(as_dissimilarities(D), Scaling("ordinal")).measure(X, np.zeros(X.shape[1])).stress1()


def whole_job(n: int, scaling: str) -> dict[str, Any]:
    """Asymmetric data, everything fitted."""
    D = noisy(n, 0.4)
    seconds, mds = timed(lambda: FinslerMDS(scaling=scaling, n_jobs=1).fit(D), 2)
    return {
        "n": n, "scaling": scaling, "seconds": seconds, "stress1": mds.stress1_, "alpha": mds.alpha_,
        "alpha_least_stress": mds.alpha_least_stress_,
    }  # fmt: skip


def beside_others(n: int) -> list[dict[str, Any]]:
    """Symmetric data, from the same start where a start can be given."""
    D = noisy(n, 0.0)
    start = classical(as_dissimilarities(D), 2, 0.0).coordinates
    found = []

    def add(name: str, seconds: float, X: np.ndarray) -> None:
        found.append({"n": n, "program": name, "seconds": seconds, "stress1": stress1(D, X)})

    seconds, mds = timed(lambda: FinslerMDS(alpha=0, scaling="ordinal", init=start, n_jobs=1).fit(D))
    add("finsler, one start", seconds, mds.embedding_)
    seconds, mds = timed(lambda: FinslerMDS(alpha=0, scaling="ordinal", n_jobs=1).fit(D))
    add("finsler, default", seconds, mds.embedding_)
    for eps in (1e-6, 1e-8):
        options = {
            "n_components": 2,
            "metric": False,
            "init": start,
            "n_init": 1,
            "eps": eps,
            "max_iter": 1000,
        }
        seconds, result = timed(lambda options=options: sklearn_smacof(D, normalized_stress=True, **options))
        add(f"scikit-learn {sklearn.__version__}, eps {eps:g}", seconds, result[0])
    if shutil.which("Rscript"):
        with tempfile.TemporaryDirectory() as folder:
            np.savetxt(Path(folder, "D.csv"), D, delimiter=",")
            np.savetxt(Path(folder, "start.csv"), start, delimiter=",")
            for name, code in IN_R.items():
                run = subprocess.run(["Rscript", "-e", code], cwd=folder, capture_output=True, text=True)
                if run.returncode == 0:
                    add(name, float(run.stdout), np.loadtxt(Path(folder, "X.csv"), delimiter=","))
                else:
                    print(f"{name} is left out: {run.stderr.strip().splitlines()[-1:]}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[500, 1000, 2000])
    parser.add_argument("--peers", type=int, nargs="+", default=[200, 500, 1000])
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    FinslerMDS(scaling="ordinal", n_jobs=1).fit(noisy(500, 0.4))  # compiles
    beside_others(args.peers[0])  # compiles what data without a drift take
    if not shutil.which("Rscript"):
        print("R is not installed: vegan's monoMDS and MASS's isoMDS are left out.")
    whole, peers = [], []
    print("Asymmetric data, alpha fitted and corrected, one thread")
    print("     N  scaling    seconds  stress-1  alpha (least stress)")
    for n in args.sizes:
        for scaling in ("ordinal", "interval", "spline"):
            row = whole_job(n, scaling)
            whole.append(row)
            print(
                f"{n:6}  {scaling:9} {row['seconds']:8.2f}  {row['stress1']:8.6f}  {row['alpha']:.3f} "
                f"({row['alpha_least_stress']:.3f})", flush=True,
            )  # fmt: skip
    print("\nSymmetric data, no drift, one thread")
    print("     N  program                            seconds  stress-1   times ours")
    for n in args.peers:
        rows = beside_others(n)
        peers += rows
        for row in rows:
            ratio = row["seconds"] / rows[0]["seconds"]
            print(
                f"{n:6}  {row['program']:32} {row['seconds']:9.3f}  {row['stress1']:8.6f}  {ratio:8.1f}",
                flush=True,
            )
    if args.json:
        record = {"machine": platform.machine(), "cores": os.cpu_count(), "whole": whole, "peers": peers}
        args.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
