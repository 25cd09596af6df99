"""Map five large digraphs with the command line and score the maps on rows that they were not made from.

    python experiments/large_graphs/run.py FOLDER

FOLDER holds NAME.npz with the arrays src, dst and n_nodes. What ``finsler embed --json`` and ``finsler report --json`` say
goes to results/NAME.json, without what has an entry for each node; the table goes to results.md. The maps are not kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from finsler._io import write_atomically

HERE = Path(__file__).resolve().parent
GRAPHS = ("arxiv2023", "arxiv_year", "cit_hepth", "npm_deps_2016", "soc_epinions1")
EMBED = "--kind edges --hops --method sparse --n-pivots 100 --unreachable largest --connection weak"
REPORT = "--kind edges --hops"
COLUMNS = (
    "graph", "nodes mapped", "alpha", "held-out stress", "sign of asymmetry", "shown", "asymmetry",
    "of it, heights", "pairs one way",
)  # fmt: skip


def finsler(command: str, file: Path, words: str, *more: str) -> dict:
    """What a command prints as JSON, without the labels and heights of all nodes."""
    call = [
        sys.executable,
        "-m",
        "finsler.cli.app",
        command,
        str(file),
        *words.split(),
        "--json",
        "--quiet",
        *more,
    ]
    found = json.loads(subprocess.run(call, check=True, stdout=subprocess.PIPE, text=True).stdout)
    return without_long_lists(found)


def without_long_lists(found: dict, longest: int = 20) -> dict:
    """Facts of the whole, not of each node."""
    kept = {}
    for name, value in found.items():
        if isinstance(value, dict):
            kept[name] = without_long_lists(value)
        elif not isinstance(value, list) or len(value) <= longest:
            kept[name] = value
    return kept


def text(value: float | None, error: float | None) -> str:
    """Give an estimate with its error."""
    return "-" if value is None else f"{value:.3f} ± {error:.3f}" if error is not None else f"{value:.3f}"


def row(name: str, found: dict) -> list[str]:
    """Cells of a graph."""
    embedded, report = found["embed"], found["report"]
    held = embedded["held_out"]
    shown, errors = held["asymmetry_shown"], report["errors"] or {}
    return [
        name,
        f"{embedded['points']:,}",
        f"{embedded['alpha']:.3f}",
        *(text(held[key]["value"], held[key]["error"]) for key in ("normalized_stress", "sign_accuracy")),
        text(shown["share"], shown["error"]),
        *(text(report[key], errors.get(key)) for key in ("asymmetry", "gradient_share")),
        f"{2 * report['one_way'] / report['n_looked_at']:.3f}",
    ]


def page(results: dict[str, dict]) -> str:
    """The table, and what report and map say in words."""
    lines = [
        "# Five large digraphs from the command line",
        "",
        "`python experiments/large_graphs/run.py FOLDER`: hops, 100 pivots, two dimensions, alpha fitted, the largest",
        "weakly connected part; scores on 20 rows (both ways) of nodes that were not pivots, with standard errors.",
        "The report looks at 50 rows of the whole graph.",
        "",
        f"| {' | '.join(COLUMNS)} |",
        "|---" * len(COLUMNS) + "|",
    ]
    lines += [f"| {' | '.join(row(name, found))} |" for name, found in results.items()]
    for name, found in results.items():
        lines += ["", f"**{name}** {found['report']['verdict']} {found['embed']['message']}"]
    return "\n".join(lines) + "\n"


def write(path: Path, content: str) -> None:
    """Write a file whole or not at all."""
    write_atomically(path, lambda file: file.write(content.encode()))


def main() -> None:
    """Run both commands on every graph, and write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the graphs are")
    folder = parser.parse_args().folder
    (HERE / "results").mkdir(exist_ok=True)
    results = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name in GRAPHS:
            file = folder / f"{name}.npz"
            target = str(Path(scratch) / f"{name}.npz")
            found = {
                "embed": finsler("embed", file, EMBED, "--out", target),
                "report": finsler("report", file, REPORT),
            }
            found["embed"]["outputs"] = []
            results[name] = found
            write(HERE / "results" / f"{name}.json", json.dumps(found, indent=1) + "\n")
    write(HERE / "results.md", page(results))


if __name__ == "__main__":
    main()
