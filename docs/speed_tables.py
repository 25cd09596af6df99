"""Put the figures of the last benchmarks into docs/speed.md: python docs/speed_tables.py."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

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
    table = markdown(["points", "threads", "scikit-learn", "finsler", "ratio"], rows)
    return f"{table}\n\n{_growth(read('benchmarks/bench.json')['per_iteration'], 'An iteration')}"


def _growth(runs: list[dict], what: str) -> str:
    """How times grow with the number of points, by a line through their logarithms from 1,000 points on."""
    runs = [run for run in runs if run["n"] >= 1000 and run["threads"] == max(r["threads"] for r in runs)]
    theirs, ours = (
        float(np.polyfit(np.log([run["n"] for run in runs]), np.log([run[key] for run in runs]), 1)[0])
        for key in ("sklearn_seconds", "finsler_seconds")
    )
    powers = f"to the power {theirs:.1f} there and {ours:.1f} here"
    return f"{what} grows with N {powers}, from 1,000 points on, with all threads."


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
    usual = [run for run in read("benchmarks/bench.json")["to_equal_stress"] if run["eps"] == 1e-6]
    return f"{markdown(head, rows)}\n\n{_growth(usual, 'The time to equal stress')}"


def passes() -> str:
    """One pass over the pairs, and how near it is to the speed of the memory."""
    found = read("benchmarks/bench.json")
    rows = [
        [run["pass"], f"{run['n']:,}", str(run["threads"]), f"{1e3 * run['seconds']:.2f} ms",
         f"{run['ns_per_pair']:.2f}", f"{100 * run['share_of_bandwidth']:.0f} %",
         _share(run.get("share_of_arithmetic")), f"{run['speed_up']:.2f}"]
        for run in found["pass"]
    ]  # fmt: skip
    head = [
        "pass",
        "points",
        "threads",
        "time",
        "ns a pair",
        "of the bandwidth",
        "of the arithmetic",
        "speed-up",
    ]
    table = markdown(head, rows)
    words = f"A pass grows with N to the power {found['growth_exponent']:.2f}; pairs do to the power 2."
    limit = found["machine"].get("limits", {}).get(str(found["machine"]["cores"]))
    if limit is not None:
        words = (
            f"All cores together read {limit['bandwidth'] / 1e9:.1f} GB/s, do {limit['single_operations'] / 1e9:.0f} "
            f"operations a nanosecond in single and {limit['double_operations'] / 1e9:.0f} in double precision, and "
            f"{limit['single_roots'] / 1e9:.1f} and {limit['double_roots'] / 1e9:.1f} roots with their divisions. {words}"
        )
    return f"{table}\n\n{words}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.0f} %"


def precision() -> str:
    """Whether single precision on the way changes the ends."""
    found = read("benchmarks/precision.json")
    counts, words = found["summary"], []
    near = counts["problems"] - counts["above_1e-6"]
    rising, others = counts["not_monotone"] or "no", counts["other_bits_with_threads"] or "none"
    words.append(
        f"Of {counts['problems']} problems, solved from the same start both ways, {near} end within 1e-6 of the stress of "
        f"double precision; {rising} history rises, {others} has other bits with two or three threads."
    )
    for one in found["differences"]:
        least, most = one["double_precision_with_last_bits_changed"]
        apart = next(iter(one["tol"].values()))
        words.append(
            f"{one['problem'].capitalize()}, {one['start']} start, ends {abs(apart):.1e} "
            f"{'lower' if apart < 0 else 'higher'}; with data changed by 1e-15, double precision alone ends between "
            f"{least:+.1e} and {most:+.1e} of itself{', so that rounding decides' if most - least > abs(apart) else ''}."
        )
    return " ".join(words)


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


def starts() -> str:
    """A start from coarse to fine beside the closed form, and what a start could save at most."""
    rows = []
    for run in read("benchmarks/bench_multiresolution.json"):
        for way, found in run["ways"].items():
            start = "" if found["start"] is None else f"{found['start']:.2f} s"
            rows.append(
                [run["data"], f"{run['points']:,}", way, f"{found['seconds']:.2f} s", start,
                 str(found["iterations"]), f"{found['stress']:.6f}"]
            )  # fmt: skip
    head = ["data", "points", "begins at", "time", "of which start", "iterations", "normalized stress"]
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


def sparse() -> str:
    """Where the time of a sparse map goes."""
    found = read("benchmarks/profile_sparse.json")
    stages = [stage for stage in found[0]["seconds"] if any(run["seconds"][stage] > 0.005 for run in found)]
    rows = []
    for run in found:
        seconds = [run["seconds"][stage] for stage in stages]
        shares = [f"{100 * value / sum(seconds):.0f} %" for value in seconds]
        rows.append([f"{run['graph']}, {run['nodes']:,} nodes", f"{sum(seconds):.1f} s", *shares])
    passes = [run["pass"] for run in found]
    words = " and ".join(f"{run['ns_per_pair']:.1f}" for run in passes)
    shares = " and ".join(f"{100 * run['share_of_arithmetic']:.0f} %" for run in passes)
    return (
        f"{markdown(['graph', 'in all', *stages], rows)}\n\nA pair of a node and a pivot takes {words} ns, both ways, "
        f"{shares} of what the arithmetic in single precision allows."
    )


def reading() -> str:
    """Tables read from files: time over that of pandas, and memory."""
    found = read("benchmarks/bench_reading.json")
    rows = []
    for case, seconds in found["seconds"].items():
        usual = seconds["pandas"]
        times = [
            f"{seconds[name] / usual:.2f}" if name in seconds else ""
            for name in ("polars", "finsler", "ours")
        ]
        peaks = [f"{found['bytes'][case][name] / 2**20:.0f}" for name in ("pandas", "polars", "finsler")]
        rows.append([case, f"{usual:.3f} s", *times, " / ".join(peaks)])
    head = ["file", "pandas", "polars", "finsler", "finsler alone", "peak MB, pandas / polars / finsler"]
    return markdown(head, rows)


def swirl() -> str:
    """Passes of maps whose drift turns, beside the canonical one."""
    rows = []
    for words, found in read("benchmarks/bench_swirl.json").items():
        case = words.split(";")[0].removesuffix(", milliseconds").removeprefix("pass, ")
        usual = found["canonical"]
        rows.append(
            [case, f"{usual:.2f} ms", f"{found['swirl'] / usual:.1f}",
             f"{found['arcs'] / usual:.1f}" if "arcs" in found else ""]
        )  # fmt: skip
        if "run" in found:
            rows.append(
                [
                    f"{case}, whole map",
                    f"{found['run']:.2f} s",
                    f"{found['run with swirl'] / found['run']:.1f}",
                    "",
                ]
            )
    return markdown(["data", "canonical", "times as long with a swirl", "with arcs"], rows)


def lattices() -> str:
    """Travel times along the edges of a lattice, in percent above the exact ones; and maps of many points."""
    found = read("benchmarks/bench_lattices.json")
    currents = [key for key in found["lattice"][0] if key.startswith("current")]
    rows = [
        [run["scheme"], str(run["neighbors"])]
        + [f"{100 * run[key]['median']:.2f} ({100 * run[key]['most']:.2f})" for key in currents]
        for run in found["lattice"]
    ]
    exact = markdown(["scheme", "neighbors", *currents], rows)
    rows = [
        [f"{run['points']:,}", run["method"], f"{run['seconds']['pivots']:.2f} s" if "pivots" in run["seconds"] else "",
         f"{run['seconds']['map']:.2f} s", f"{run['peak GB']:.2f} GB", f"{run['held out']:.4f}"]
        for run in found["points"]
    ]  # fmt: skip
    head = ["points", "method", "distances of the pivots", "whole map", "peak", "normalized stress"]
    return f"{exact}\n\n{markdown(head, rows)}"


def _cell(seconds: float | None, stress: float | None) -> str:
    return "" if seconds is None else f"{stress:.4f} in {seconds:.2f} s"


SECTIONS = (
    solver,
    equal,
    passes,
    precision,
    memory,
    old,
    starts,
    comparison,
    ordinal,
    paths,
    layouts,
    sparse,
    reading,
    swirl,
    lattices,
)


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
