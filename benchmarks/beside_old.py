"""What an older state of the code takes, beside this one, in one run.

    git worktree add OLD COMMIT
    python benchmarks/beside_old.py OLD [--json PATH] [--cases missing large] [--rounds 3]

Each case runs in a process of its own, old and new by turns, so that both meet the same machine. A ratio is that of the
medians of the rounds, by the clock and by processor time; the stress tells whether both did the same job.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve().parents[1]
# Each prints a JSON object; `timed(task)` gives seconds by the clock, seconds of the processor and what the task returned.
COMMON = """
import json, resource, sys, time
import numpy as np
from finsler import FinslerMDS
from finsler.geometry.randers import randers_distances

def timed(task):
    began, used = time.perf_counter(), time.process_time()
    found = task()
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - used}, found

def noisy(n, m=3, alpha=0.4, noise=0.1, dtype=float):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m)).astype(dtype)
    D = np.empty((n, n), dtype=dtype)
    for start in range(0, n, 1000):
        D[start : start + 1000] = randers_distances(X[start : start + 1000], X, drift=alpha)
        D[start : start + 1000] *= rng.uniform(1 - noise, 1 + noise, size=(len(D[start : start + 1000]), n))
    np.fill_diagonal(D, 0)
    return D

def told(times, fitted):
    times["normalized_stress"] = fitted.normalized_stress_
    times["iterations"] = int(fitted.n_iter_)
    times["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(json.dumps(times))
"""
CASES = {
    "uniform": (
        "N = 2000, all pairs, from the closed form",
        """
D = noisy(2000)
mds = lambda: FinslerMDS(3, alpha=0.4, n_init=1, verbose=False)
mds().fit(D)  # so short that loading compiled code would count
told(*timed(lambda: mds().fit(D)))
""",
    ),
    "missing": (
        "N = 2000, a fifth of the pairs missing",
        """
D = noisy(2000)
D[np.random.default_rng(1).random(D.shape) < 0.2] = np.nan
np.fill_diagonal(D, 0)
FinslerMDS(3, alpha=0.4, n_init=1, max_iter=2, missing="mask", verbose=False).fit(D[:200, :200])
told(*timed(lambda: FinslerMDS(3, alpha=0.4, n_init=1, missing="mask", verbose=False).fit(D)))
""",
    ),
    "weights": (
        "N = 2000, weights that differ both ways",
        """
D = noisy(2000)
W = np.random.default_rng(1).uniform(0.5, 2.0, size=D.shape)
mds = lambda **more: FinslerMDS(3, alpha=0.4, n_init=1, verbose=False, **more)
mds(max_iter=2).fit(D[:200, :200], weights=W[:200, :200])
told(*timed(lambda: mds().fit(D, weights=W)))
""",
    ),
    "large": (
        "N = 20,000, float32, from the closed form",
        """
D = noisy(20_000, dtype=np.float32)
FinslerMDS(3, alpha=0.4, n_init=1, max_iter=2, verbose=False).fit(D[:200, :200])
told(*timed(lambda: FinslerMDS(3, alpha=0.4, n_init=1, verbose=False).fit(D)))
""",
    ),
}


def run(folder: Path, code: str) -> dict:
    """Seconds and stress of a case, with the code of a folder."""
    environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", COMMON + code], env=environment, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(f"{folder}: {done.stderr.strip().splitlines()[-1]}")
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("old", type=Path, help="a checkout of the older state")
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    commit = ["git", "-C", str(options.old), "rev-parse", "--short", "HEAD"]
    old = subprocess.run(commit, capture_output=True, text=True, check=True).stdout.strip()
    result: dict = {"old": old, "cases": {}}
    if options.json.is_file():  # cases that are not run again are kept, if they are beside the same commit
        kept = json.loads(options.json.read_text(encoding="utf-8"))
        result["cases"] = kept["cases"] if kept["old"] == old else {}
    print(f"{'':44s} old s    new s   ratio   by processor time   peak MB   stress")
    for name in options.cases:
        words, code = CASES[name]
        rounds = [(run(options.old, code), run(HERE, code)) for _ in range(options.rounds)]
        sides = [{key: median(r[side][key] for r in rounds) for key in rounds[0][side]} for side in (0, 1)]
        before, after = sides
        row = {"case": words, "old": before, "new": after, "ratio": before["seconds"] / after["seconds"],
               "cpu_ratio": before["cpu"] / after["cpu"],
            "rounds": options.rounds}  # fmt: skip
        result["cases"][name] = row
        print(
            f"{words:44s}{before['seconds']:6.2f} {after['seconds']:8.2f} {row['ratio']:7.2f} {row['cpu_ratio']:16.2f}"
            f"   {before['peak_mb']:.0f} -> {after['peak_mb']:.0f}"
            f"   {before['normalized_stress']:.8f} -> {after['normalized_stress']:.8f}",
            flush=True,
        )
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
