"""Reading text tables: ratios to pandas.read_csv, measured in one run.

    python benchmarks/bench_reading.py [--json PATH] [--repeat N]

Each time is the processor time of the fastest of several repetitions, taken in turns on a busy machine.
"ours" is without any package that parses numbers. What is read is compared, too.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas

from finsler.data.readers import fast_text
from finsler.data.tables import read_table


def write_matrix(path, n, digits, delimiter=","):
    D = np.random.default_rng(0).gamma(2, 50, (n, n)).round(digits)
    np.fill_diagonal(D, 0)
    names = [f"place {i}" for i in range(n)]
    text = pandas.DataFrame(D, names, names).to_csv(sep=delimiter, decimal="." if delimiter == "," else ",")
    path.write_text(text)


def write_edges(path, n):
    i, j = np.random.default_rng(0).integers(0, n // 5, (2, n))
    pandas.DataFrame({"from": i, "to": j, "seconds": np.round(1 + np.hypot(i, j), 1)}).to_csv(
        path, index=False
    )


def without_packages(read):
    parsers, fast_text.PARSERS = fast_text.PARSERS, {}
    try:
        return read()
    finally:
        fast_text.PARSERS = parsers


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    found = {"pandas": pandas.__version__, "python": platform.python_version(), "seconds": {}}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        for title, write, kind, usual in (
            ("1,500 x 1,500, 2 decimals", lambda: write_matrix(path, 1500, 2), "matrix", {}),
            ("1,500 x 1,500, all digits", lambda: write_matrix(path, 1500, 17), "matrix", {}),
            ("the same with semicolons", lambda: write_matrix(path, 1500, 2, ";"), "matrix", {"sep": ";", "decimal": ","}),
            ("500,000 edges", lambda: write_edges(path, 500_000), "edges", {}),
        ):  # fmt: skip
            write()
            ways = {
                "pandas": lambda usual=usual: pandas.read_csv(path, **usual),
                "finsler": lambda kind=kind: read_table(path, kind),
                "ours": lambda kind=kind: without_packages(lambda: read_table(path, kind)),
            }
            times = {way: [] for way in ways}
            for _ in range(options.repeat):
                for way, read in ways.items():
                    start = time.process_time()
                    result = read()
                    times[way].append(time.process_time() - start)
                    if way == "finsler":
                        values = result.values
                    elif way == "ours":
                        np.testing.assert_array_equal(values, result.values)
            best = {way: min(seconds) for way, seconds in times.items()}
            found["seconds"][title] = best
            ratios = ", ".join(f"{way} {best[way] / best['pandas']:.2f} x" for way in ("finsler", "ours"))
            print(f"{title:28} pandas {best['pandas']:.3f} s; {ratios}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
