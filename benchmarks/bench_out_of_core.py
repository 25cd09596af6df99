"""Map a matrix in a file within a budget of memory, and measure what stays resident.

    python benchmarks/bench_out_of_core.py --points 30000 --budget 2GB --json benchmarks/bench_out_of_core.json

The file is written row by row: Randers distances of random points with noise that depends on the row alone. The map is
fitted in a fresh process, whose anonymous memory (RssAnon) and mapped pages (RssFile) a thread reads every 20 ms.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np


def write_rows(path: Path, n: int, dtype: str, missing: float = 0.0, alpha: float = 0.4) -> None:
    """Write the matrix of n points, a row at a time."""
    points = np.random.default_rng(0).normal(size=(n, 3)) * [3.0, 2.0, 1.0]
    rows = np.lib.format.open_memmap(path, mode="w+", dtype=dtype, shape=(n, n))
    for i in range(n):
        rng = np.random.default_rng([1, i])
        u = points - points[i]
        row = (np.sqrt((u * u).sum(axis=1)) + alpha * u[:, -1]) * rng.uniform(0.9, 1.1, n)
        if missing:
            row[rng.random(n) < missing] = np.nan
        row[i] = 0.0
        rows[i] = row
        if i % 1000 == 999:
            rows.flush()
            print(f"\rwriting: {i + 1} of {n} rows", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def resident() -> dict[str, float]:
    """Megabytes of this process in memory: anonymous, and mapped from files."""
    found = {}
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(("RssAnon", "RssFile")):
                name, value = line.split(":")
                found[name] = float(value.split()[0]) / 1000
    return found


def solve(path: Path, budget: str, threads: int | None, missing: bool) -> dict[str, object]:
    """Fit the map here, and watch this process meanwhile."""
    from finsler import FinslerMDS

    before, peak, over = resident(), {"RssAnon": 0.0, "RssFile": 0.0}, threading.Event()

    def watch() -> None:
        while not over.wait(0.02):
            for name, value in resident().items():
                peak[name] = max(peak[name], value)

    watcher = threading.Thread(target=watch)
    watcher.start()
    passes: list[float] = []
    began = time.perf_counter()
    try:
        mds = FinslerMDS(
            3, alpha=0.4, missing="mask" if missing else "raise", memory_budget=budget, n_jobs=threads,
            callback=lambda iteration: passes.append(time.perf_counter()), verbose=True,
        ).fit(path)  # fmt: skip
    finally:
        over.set()
        watcher.join()
    seconds = time.perf_counter() - began
    each = float(np.median(np.diff(passes))) if len(passes) > 1 else float("nan")
    return {
        "seconds": seconds,
        "seconds_before_iterations": passes[0] - began if passes else None,
        "iterations": mds.n_iter_,
        "seconds_per_iteration": each,
        "gigabytes_read_per_second": os.path.getsize(path) / 1e9 / each,
        "normalized_stress": mds.normalized_stress_,
        "message": mds.message_,
        "RssAnon_before_MB": before["RssAnon"],
        "RssAnon_peak_MB": peak["RssAnon"],
        "RssFile_peak_MB": peak["RssFile"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--points", type=int, default=30000)
    parser.add_argument("--dtype", default="float32", choices=["float32", "float64"])
    parser.add_argument("--budget", default="2GB")
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--missing", type=float, default=0.0, help="share of entries that are NaN")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where to keep the matrix; a temporary folder by default"
    )
    parser.add_argument("--json", type=Path, default=None)
    parser.add_argument("--solve", type=Path, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.solve is not None:
        print(json.dumps(solve(options.solve, options.budget, options.threads, options.missing > 0)))
        return
    with tempfile.TemporaryDirectory() as temporary:
        path = (
            options.folder or Path(temporary)
        ) / f"rows_{options.points}_{options.dtype}_{options.missing:g}.npy"
        if not path.exists():
            write_rows(path, options.points, options.dtype, options.missing)
        command = [sys.executable, __file__, "--solve", str(path), "--budget", options.budget]
        command += ["--missing", str(options.missing)]
        command += [] if options.threads is None else ["--threads", str(options.threads)]
        out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    record = {
        "points": options.points, "dtype": options.dtype, "missing": options.missing, "budget": options.budget,
        "threads": options.threads or os.cpu_count(), "machine": platform.machine(), **json.loads(out.stdout),
    }  # fmt: skip
    print(json.dumps(record, indent=2))
    if options.json:
        options.json.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
