"""How long a comparison of all models takes: python benchmarks/bench_compare.py [--json PATH] [--points 300 1500].

Five starts of every model in the plane, on noisy Randers data. Times of the models are by the clock, and include the map of
the symmetrized data that they start from.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

from finsler.geometry.randers import randers_distances
from finsler.models import compare_models


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path, default=Path(__file__).with_suffix(".json"))
    parser.add_argument("--points", type=int, nargs="+", default=[300, 1500])
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    compare_models(rng.random((12, 12)) * (1 - np.eye(12)), n_init=2, verbose=False)  # compiles
    result = []
    for n in options.points:
        D = randers_distances(rng.normal(size=(n, 2)), drift=0.3) * np.exp(0.2 * rng.normal(size=(n, n)))
        np.fill_diagonal(D, 0)
        began, used = time.perf_counter(), time.process_time()
        table = compare_models(D, n_init=5, verbose=False)
        seconds, cpu = time.perf_counter() - began, time.process_time() - used
        models = {record.name: round(record.seconds, 2) for record in table}
        result.append({"n": n, "n_init": 5, "seconds": seconds, "cpu": cpu, "models": models})
        longest = max(models, key=models.get)
        print(
            f"{n:,} points, five starts: {seconds:.1f} s, {cpu:.1f} s of the processors; longest: {longest}"
        )
    options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
