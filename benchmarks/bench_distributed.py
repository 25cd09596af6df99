"""What Dask costs beside the solver in memory, on the same data and machine, and what each worker holds.

    python benchmarks/bench_distributed.py --json benchmarks/bench_distributed.json

Two worker processes with a thread each, against two threads in memory; float32. The matrix is made by the workers from
points, so that it never passes through this process. "pass" is the least time of an evaluation (stress and step);
"received" is what the workers take from each other at a pass; "peak" is the most memory that any worker held (VmHWM),
beside what it held when it had imported and compiled everything. Next to it stands the model of docs/scaling.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from finsler import FinslerMDS
from finsler.data.matrix import as_dissimilarities
from finsler.solvers.backends.dask import dask_backend
from finsler.solvers.backends.memory import MemoryBackend

DRIFT = np.array([0.0, 0.0, 0.4])


def rows(block_info: Any = None, n: int = 0, missing: float = 0.0) -> np.ndarray:
    """Some rows of the matrix: distances of random points, with noise that depends on the row alone."""
    (start, stop), _ = block_info[None]["array-location"]
    points = np.random.default_rng(0).normal(size=(n, 3)) * [3.0, 2.0, 1.0]
    out = np.empty((stop - start, n), np.float32)
    for i in range(start, stop):
        rng = np.random.default_rng([1, i])
        u = points - points[i]
        out[i - start] = (np.sqrt((u * u).sum(axis=1)) + u @ DRIFT) * rng.uniform(0.9, 1.1, n)
        if missing:
            out[i - start, rng.random(n) < missing] = np.nan
        out[i - start, i] = 0.0
    return out


def matrix(n: int, blocks: int, missing: float) -> Any:
    sizes = tuple(int(k) for k in np.diff(np.linspace(0, n, blocks + 1).astype(int)))
    return da.map_blocks(
        rows, chunks=(sizes, (n,)), dtype=np.float32, meta=np.empty((0, 0), np.float32), n=n, missing=missing
    )


def held(dask_worker: Any) -> tuple[float, float, float]:
    """Megabytes of a worker, now and at most, and bytes it has received from others."""
    with open("/proc/self/status", encoding="ascii") as lines:
        sizes = {
            line.split(":")[0]: float(line.split()[1]) / 1000
            for line in lines
            if line.startswith(("VmRSS", "VmHWM"))
        }
    return sizes["VmRSS"], sizes["VmHWM"], float(sum(x["total"] for x in dask_worker.transfer_incoming_log))


def model_received(n: int, panels: int, workers: int = 2, m: int = 3) -> float:
    """Bytes between workers at a pass, if a result is added up where it was made no more often than by chance."""
    coordinates = m * n * (workers - 1)
    results = (m + 1) * n * np.sqrt(1 - np.arange(panels) / panels).sum()
    return 8.0 * (coordinates + results * (1 - 1 / workers))


def passes(problem: Any, X: np.ndarray, repeat: int) -> float:
    problem.evaluate(X, DRIFT)
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        problem.evaluate(X, DRIFT)
        times.append(time.perf_counter() - began)
    return min(times)


def measure(client: Client, n: int, blocks: int, missing: float, repeat: int) -> dict[str, Any]:
    warm = dask_backend(matrix(400, 2, missing), missing="mask")
    passes(warm.problem(DRIFT), warm.classical(3, 0.4), 1)
    warm.point_stress(np.zeros((400, 3)), DRIFT)
    del warm
    before = max(now for now, _, _ in client.run(held).values())
    D = matrix(n, blocks, missing)
    X = np.random.default_rng(2).normal(size=(n, 3))

    began = time.perf_counter()
    backend = dask_backend(D, missing="mask")
    setup = time.perf_counter() - began
    problem = backend.problem(DRIFT)
    problem.evaluate(X, DRIFT)
    received = sum(got for _, _, got in client.run(held).values())
    on_dask = passes(problem, X, repeat)
    received = (sum(got for _, _, got in client.run(held).values()) - received) / (repeat + 1)
    peak = max(most for _, most, _ in client.run(held).values())
    del backend, problem

    began = time.perf_counter()
    dask_map = FinslerMDS(3, alpha=0.4, missing="mask").fit(D)
    dask_fit = time.perf_counter() - began
    here = D.compute()
    in_memory = passes(MemoryBackend(as_dissimilarities(here, missing="mask")).problem(DRIFT), X, repeat)
    began = time.perf_counter()
    memory_map = FinslerMDS(3, alpha=0.4, missing="mask").fit(here)
    memory_fit = time.perf_counter() - began
    found = {
        "points": n, "blocks": blocks, "missing": missing, "matrix_MB": here.nbytes / 1e6,
        "memory_pass_ms": 1e3 * in_memory, "dask_pass_ms": 1e3 * on_dask, "overhead_ms": 1e3 * (on_dask - in_memory),
        "memory_fit_s": memory_fit, "dask_fit_s": dask_fit, "dask_setup_s": setup, "iterations": dask_map.n_iter_,
        "largest_difference": float(np.abs(dask_map.embedding_ - memory_map.embedding_).max()),
        "received_per_pass_kB": received / 1e3, "model_received_kB": model_received(n, blocks) / 1e3,
        "worker_before_MB": before, "worker_peak_MB": peak, "worker_peak_beside_MB": peak - before,
        "matrix_per_worker_MB": here.nbytes / 2e6,
    }  # fmt: skip
    print(json.dumps(found), flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, nargs="+", default=[1000, 2000, 4000, 8000])
    parser.add_argument("--blocks", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--json", type=Path, default=None)
    options = parser.parse_args()
    cases = []
    for n, missing in [*((n, 0.0) for n in options.points), *((n, 0.2) for n in options.points[1:2])]:
        # A new cluster each time: the most that a process ever held does not go down again.
        with (
            LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
            Client(cluster) as client,
        ):
            cases.append(measure(client, n, options.blocks, missing, options.repeat))
    record = {"machine": platform.machine(), "cores": os.cpu_count(), "load": os.getloadavg(), "cases": cases}
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
