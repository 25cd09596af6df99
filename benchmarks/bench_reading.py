"""Reading tables: time and memory beside pandas and polars, measured in one run.

    python benchmarks/bench_reading.py [--json PATH] [--repeat N]

Times are processor times, the least of several repetitions taken in turns on a busy machine. "ours" is without any
package that parses numbers. What is read is compared, too. Memory is what a process of its own takes at most beyond
what it has after its imports; it is measured on Linux.
"""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas

from finsler.data.readers import fast_text
from finsler.data.tables import read_table

# A process that reads a file in one way and prints the memory that this took, in bytes.
ALONE = """
import re
{imports}


def most():  # not ru_maxrss, which a process takes over from the one that started it
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", open("/proc/self/status").read())[1])


before = most()
{read}
print(most() - before)
"""
IMPORTS = {
    "pandas": "import pandas, pyarrow.parquet",
    "polars": "import polars",
    "finsler": "import pandas, pyarrow.parquet\nfrom finsler.data.tables import read_table\n"
    "from finsler.data.readers import columnar",
}


def matrix(n, digits):
    D = np.random.default_rng(0).gamma(2, 50, (n, n)).round(digits)
    np.fill_diagonal(D, 0)
    names = [f"place {i}" for i in range(n)]
    return pandas.DataFrame(D, names, names)


def write_matrix(path, n, digits, delimiter=","):
    path.write_text(matrix(n, digits).to_csv(sep=delimiter, decimal="." if delimiter == "," else ","))


def write_columns(path, n):
    matrix(n, 17).reset_index(names="from").to_parquet(path, index=False)


def write_edges(path, n, named=False):
    i, j = np.random.default_rng(0).integers(0, n // 5, (2, n))
    ends = [np.char.add("place ", k.astype(str)) if named else k for k in (i, j)]
    pandas.DataFrame({"from": ends[0], "to": ends[1], "seconds": np.round(1 + np.hypot(i, j), 1)}).to_csv(
        path, index=False
    )


def without_packages(read):
    parsers, fast_text.PARSERS = fast_text.PARSERS, {}
    try:
        return read()
    finally:
        fast_text.PARSERS = parsers


# Title, file, how it is written, what it is, options of pandas, options of polars.
CASES = (
    ("1,500 x 1,500, 2 decimals", "a.csv", lambda path: write_matrix(path, 1500, 2), "matrix", {}, {}),
    ("1,500 x 1,500, all digits", "b.csv", lambda path: write_matrix(path, 1500, 17), "matrix", {}, {}),
    (
        "the same with semicolons", "c.csv", lambda path: write_matrix(path, 1500, 2, ";"), "matrix",
        {"sep": ";", "decimal": ","}, {"separator": ";", "decimal_comma": True},
    ),
    ("300,000 arcs, numbers", "d.csv", lambda path: write_edges(path, 300_000), "edges", {}, {}),
    ("300,000 arcs, names", "e.csv", lambda path: write_edges(path, 300_000, True), "edges", {}, {}),
    ("5,000 x 5,000 Parquet", "f.parquet", lambda path: write_columns(path, 5000), "matrix", {}, {}),
)  # fmt: skip


def readers(path, kind, usual, other):
    """How a file is read, by name: a function here, and the same as text for a process of its own."""
    import polars

    what = "parquet" if path.suffix == ".parquet" else "csv"
    ways = {
        "pandas": (
            lambda: getattr(pandas, f"read_{what}")(path, **usual),
            f"pandas.read_{what}({str(path)!r}, **{usual!r})",
        ),
        "polars": (
            lambda: getattr(polars, f"read_{what}")(path, **other),
            f"polars.read_{what}({str(path)!r}, **{other!r})",
        ),
        "finsler": (lambda: read_table(path, kind), f"read_table({str(path)!r}, {kind!r})"),
    }
    if what == "csv":
        ways["ours"] = (lambda: without_packages(lambda: read_table(path, kind)), "")
    return ways


def memory(way, read):
    code = ALONE.format(imports=IMPORTS[way], read=read)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout)


def measure(path, kind, usual, other, repeat):
    """Least processor time of each way, and the memory that it takes."""
    ways = readers(path, kind, usual, other)
    times = {way: [] for way in ways}
    for _ in range(repeat):
        found = {}
        for way, (read, _) in ways.items():
            start = time.process_time()
            found[way] = read()
            times[way].append(time.process_time() - start)
        if "ours" in found:
            np.testing.assert_array_equal(found["finsler"].values, found["ours"].values)
    seconds = {way: min(taken) for way, taken in times.items()}
    peaks = {way: memory(way, read) for way, (_, read) in ways.items() if read}
    return seconds, peaks


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", type=Path)
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    found = {"pandas": pandas.__version__, "python": platform.python_version(), "seconds": {}, "bytes": {}}
    with tempfile.TemporaryDirectory() as folder:
        for title, name, write, kind, usual, other in CASES:
            path = Path(folder) / name
            write(path)
            seconds, peaks = measure(path, kind, usual, other, options.repeat)
            path.unlink()
            found["seconds"][title], found["bytes"][title] = seconds, peaks
            ratios = ", ".join(
                f"{way} {seconds[way] / seconds['pandas']:.2f} x" for way in seconds if way != "pandas"
            )
            sizes = ", ".join(f"{way} {peak / 2**20:.0f}" for way, peak in peaks.items())
            print(f"{title:26} pandas {seconds['pandas']:.3f} s; {ratios}; MB: {sizes}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
