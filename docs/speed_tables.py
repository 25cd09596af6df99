"""Put the figures of the last benchmarks into docs/speed.md: python docs/speed_tables.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from readme_tables import ROOT, markdown, read

from finsler._io import write_atomically

PAGE = ROOT / "docs" / "speed.md"


def solver() -> str:
    """An iteration, beside scikit-learn's."""
    rows = [
        [f"{run['n']:,}", str(run["threads"]), f"{1e3 * run['sklearn_seconds']:.2f} ms",
         f"{1e3 * run['finsler_seconds']:.3f} ms", f"{run['ratio']:.1f}"]
        for run in read("benchmarks/bench.json")["per_iteration"]
    ]  # fmt: skip
    return markdown(["points", "threads", "scikit-learn", "finsler", "ratio"], rows)


def equal() -> str:
    """Until the stress at which scikit-learn stops."""
    rows = [
        [f"{run['n']:,}", f"{run['eps']:.0e}", f"{run['sklearn_seconds']:.3f} s", f"{run['finsler_seconds']:.4f} s",
         f"{run['ratio']:.0f}", ", ".join(f"{ratio:.0f}" for ratio in run["ratios"]),
         f"{run['sklearn_iterations']} / {run['finsler_passes']}"]
        for run in read("benchmarks/bench.json")["to_equal_stress"]
    ]  # fmt: skip
    head = [
        "points",
        "its `eps`",
        "scikit-learn",
        "finsler",
        "ratio",
        "rounds",
        "its iterations / our passes",
    ]
    return markdown(head, rows)


def passes() -> str:
    """One pass over the pairs, and how near it is to the speed of the memory."""
    found = read("benchmarks/bench.json")
    rows = [
        [run["pass"], f"{run['n']:,}", str(run["threads"]), f"{1e3 * run['seconds']:.2f} ms",
         f"{run['ns_per_pair']:.2f}", f"{100 * run['share_of_bandwidth']:.0f} %", f"{run['speed_up']:.2f}"]
        for run in found["pass"]
    ]  # fmt: skip
    head = ["pass", "points", "threads", "time", "ns a pair", "of the bandwidth", "speed-up"]
    table = markdown(head, rows)
    bandwidth, exponent = found["machine"]["bandwidth"] / 1e9, found["growth_exponent"]
    words = f"The cores read {bandwidth:.1f} GB/s. A pass grows with N to the power {exponent:.2f}; pairs do to the power 2."
    return f"{table}\n\n{words}"


def memory() -> str:
    """Memory beyond the data."""
    rows = [
        [f"{run['n']:,}", run["dtype"], f"{run['input_bytes'] / 1e9:.2f} GB",
         f"{run['peak_beyond_input_bytes'] / 1e9:.2f} GB", str(run["iterations"]), f"{run['seconds']:.1f} s"]
        for run in read("benchmarks/bench.json")["memory"]
    ]  # fmt: skip
    return markdown(["points", "data", "input", "peak beyond it", "iterations", "time"], rows)


def old() -> str:
    """Beside an older state of the code, in the same run."""
    found = read("benchmarks/beside_old.json")
    rows = [
        [row["case"], f"{row['old']['seconds']:.2f} s", f"{row['new']['seconds']:.2f} s", f"{row['ratio']:.2f}",
         f"{row['cpu_ratio']:.2f}", f"{row['old']['peak_mb']:,.0f} / {row['new']['peak_mb']:,.0f}", str(row["rounds"])]
        for row in found["cases"].values()
    ]  # fmt: skip
    head = [
        "whole fit",
        f"commit {found['old']}",
        "now",
        "ratio",
        "by processor time",
        "peak MB, then / now",
        "rounds",
    ]
    return markdown(head, rows)


def comparison() -> str:
    """All models on one table."""
    rows = [
        [f"{run['n']:,}", str(run["n_init"]), f"{run['seconds']:.1f} s", f"{run['cpu']:.1f} s",
         max(run["models"], key=run["models"].get)]
        for run in read("benchmarks/bench_compare.json")
    ]  # fmt: skip
    return markdown(["points", "starts", "by the clock", "of the processors", "longest"], rows)


def ordinal() -> str:
    """Non-metric scaling of symmetric data by several programs."""
    rows, ours = [], 1.0
    for run in read("benchmarks/bench_ordinal.json")["peers"]:
        ours = run["seconds"] if run["program"] == "finsler, one start" else ours
        rows.append([f"{run['n']:,}", run["program"], f"{run['seconds']:.3f} s", f"{run['stress1']:.6f}",
                     f"{run['seconds'] / ours:.1f}"])  # fmt: skip
    return markdown(["points", "program", "time", "stress-1", "times ours"], rows)


def paths() -> str:
    """Directed shortest paths, beside SciPy's."""
    rows = [
        [run["case"], f"{run['scipy_seconds']:.3f} s", f"{run['ratio_one_thread']:.1f}", f"{run['ratio_two_threads']:.1f}"]
        for run in read("benchmarks/bench_paths.json")["paths"]
    ]  # fmt: skip
    return markdown(["paths", "SciPy", "ratio, one thread", "two"], rows)


def layouts() -> str:
    """Layouts of undirected graphs, beside s_gd2 and pymde."""
    rows = []
    for run in read("benchmarks/bench_sparse.json"):
        seconds, stress = run["seconds"], run["stress"]
        rows.append(
            [
                run["graph"],
                run["mode"],
                *(_cell(seconds.get(p), stress.get(p)) for p in ("finsler", "s_gd2", "pymde")),
            ]
        )
    return markdown(["graph", "pairs", "finsler", "s_gd2", "pymde"], rows)


def _cell(seconds: float | None, stress: float | None) -> str:
    return "" if seconds is None else f"{stress:.4f} in {seconds:.2f} s"


SECTIONS = (solver, equal, passes, memory, old, comparison, ordinal, paths, layouts)


def renewed(text: str) -> str:
    """The page with its tables made anew."""
    for make in SECTIONS:
        begin, end = f"<!-- begin: {make.__name__} -->", f"<!-- end: {make.__name__} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.split(end)[1]}"
    return text


def main() -> None:
    """Write the page."""
    text = renewed(PAGE.read_text(encoding="utf-8"))
    write_atomically(PAGE, lambda file: file.write(text.encode()))


if __name__ == "__main__":
    main()
