"""Table 2 with its rivals: published methods and controls on the same splits, one file for each method, graph and split.

Settings are chosen from a small grid by the validation pairs of split 0 of each graph, written to ``settings/`` and then
frozen for all splits. Cells that are there are not run again, so that a run can be stopped and continued. The table is
written anew from all cells, beside those of `table2.py`.

    python paper/rivals.py --graphs cora citeseer --methods nerd digae --splits 0 1 2

MagNet and DiGCN need torch-geometric-signed-directed. Graphs are downloaded once, or read from the folder that the
environment variable FINSLER_DATA names.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from finsler._runtime import Progress
from finsler.learn.tasks import LinkSplit, split_links

from cells import command, kept_result, read_results, show, write_result, write_text
from published import METHODS, Method
from published.sight import Sight
from table2 import NAMES, SPLITS, TASKS, link_data, mean_text, peak_memory

# (existence, direction) of the paper's Table 2, in percent: Cora, Citeseer, Gr-QC, Chameleon, Squirrel, Arxiv-Year.
PAPER = {
    "nerd": ((82.7, 79.2, 73.9, 81.5, 72.5, 54.2), (90.6, 81.3, 79.2, 84.2, 78.2, 59.4)),
    "digcn": ((81.5, 81.9, 76.2, 78.2, 73.4, 59.6), (90.2, 87.2, 82.5, 85.0, 80.1, 64.5)),
    "magnet": ((84.2, 87.5, 79.4, 83.2, 82.6, 65.8), (93.2, 94.9, 87.3, 89.7, 85.2, 70.2)),
    "digae": ((81.8, 85.3, 74.8, 75.4, 71.9, 60.2), (87.6, 80.6, 83.2, 83.6, 81.3, 62.5)),
    "odin": ((89.1, 85.0, 82.5, 84.6, 78.7, 63.5), (95.3, 93.2, 87.0, 90.3, 83.7, 68.9)),
    "duplex": ((95.0, 97.2, 83.1, 87.2, 82.5, 64.7), (95.3, 97.9, 90.7, 92.0, 85.0, 69.6)),
}
# Not run, and why.
NOT_RUN = {
    ("digcn_ib", "arxiv-year"): "its second-order operator is formed densely, 169,343 x 169,343",
    ("digcn_ib", "squirrel"): "its second-order operator is dense here",
}
NOTES = """\
Rows in italics see test arcs and do not count. "+" marks additive methods, whose logit(i, j) = a(i) + b(j) has no term in
the pair. Settings come from a grid of the size given, chosen by the validation pairs of split 0. The paper's figures stand
beside those rows that bear a method's name; it does not say which inputs and readouts it used. Seconds and memory are those
of one split, in a process that runs one cell after the other."""


def run_rival(
    name: str, graph: str, k: int, split: LinkSplit, features: Any, settings: dict[str, Any], folder: Path
) -> dict[str, Any]:
    """Result of a cell: read from the folder, or computed and written there."""
    path = folder / f"{name}-{graph}-split{k}.json"
    kept = kept_result(path, "settings", settings)
    if kept is not None:
        return kept
    method = METHODS[name]
    sight = Sight.of(split, features, leak=method.leaks)
    began = time.perf_counter()
    logits = method(sight, seed=k, **settings)
    result = {
        "method": name, "graph": graph, "split": k, "settings": settings, "test": logits.scores(split.test),
        "validation": logits.scores(split.validation), "seconds": round(time.perf_counter() - began, 1),
        "peak_memory_mb": peak_memory(),
    }  # fmt: skip
    write_result(path, result)
    return result


def choose_settings(name: str, graph: str, split: LinkSplit, features: Any, folder: Path) -> dict[str, Any]:
    """The best of a method's grid by the mean of the validation scores of a split; kept in a file."""
    path = folder / f"{name}-{graph}.json"
    method = METHODS[name]
    kept = kept_result(path, "grid", method.grid)
    if kept is not None:
        return dict(kept["chosen"])
    tried = []
    sight = Sight.of(split, features, leak=method.leaks)
    for settings in grid(method):
        if settings.get("inputs") == "features" and features is None:
            continue
        scores = method(sight, seed=0, **settings).scores(split.validation)
        tried.append({"settings": settings, "validation": scores})
    best = max(
        tried, key=lambda found: found["validation"]["direction"] + found["validation"]["existence_mixed"]
    )
    write_result(path, {"grid": method.grid, "chosen": best["settings"], "tried": tried})
    return dict(best["settings"])


def grid(method: Method) -> list[dict[str, Any]]:
    """All combinations of the settings of a method."""
    names = list(method.grid)
    return [dict(zip(names, values, strict=True)) for values in itertools.product(*method.grid.values())]


def run_rivals(
    graphs: Sequence[str], methods: Sequence[str], splits: Sequence[int], out: Path, verbose: bool | str = "auto"
) -> Path:  # fmt: skip
    """Run the cells that are missing and write the table."""
    cells, chosen = out / "results", out / "settings"
    for folder in (cells, chosen):
        folder.mkdir(parents=True, exist_ok=True)
    progress = Progress("rivals", verbose)
    for graph in graphs:
        arcs, features = link_data(graph)
        first = split_links(arcs, random_state=0)
        for name in methods:
            if (METHODS[name].needs_features and features is None) or (
                name.removesuffix("_features"),
                graph,
            ) in NOT_RUN:
                continue
            progress.update(f"{graph}: {name}, settings")
            settings = choose_settings(name, graph, first, features, chosen)
            for k in splits:
                progress.update(f"{graph}: {name}, split {k}")
                split = first if k == 0 else split_links(arcs, random_state=k)
                run_rival(name, graph, k, split, features, settings, cells)
            write_text(out / "rivals.md", table_markdown(read_results(cells)))
    progress.close("done")
    return write_text(out / "rivals.md", table_markdown(read_results(cells)))


def table_markdown(results: list[dict[str, Any]]) -> str:
    """The table in Markdown."""
    lines = [
        "# Table 2: rivals on the same splits",
        "",
        "| graph | splits | method | existence, mixed | existence, random | direction | paper | grid | seconds | MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for at, (graph, title) in enumerate(NAMES.items()):
        shown = f"**{title}**"
        for name, method in METHODS.items():
            cells = [r for r in results if (r["method"], r["graph"]) == (name, graph)]
            if not cells:
                continue
            mark = "*" if method.leaks else ""
            means = [mean_text([cell["test"][task] for cell in cells]) for task in TASKS]
            paper = " / ".join(str(column[at]) for column in PAPER[name]) if name in PAPER else ""
            label = f"{mark}{method.label}{' +' if method.additive else ''}{mark}"
            facts = [f"{np.mean([cell[key] for cell in cells]):.0f}" for key in ("seconds", "peak_memory_mb")]
            row = [
                shown,
                len(cells),
                label,
                *(f"{mark}{m}{mark}" for m in means),
                paper,
                len(grid(method)),
                *facts,
            ]
            lines.append(f"| {' | '.join(map(str, row))} |")
            shown = ""
    missing = [
        f"* {METHODS[name].label} on {NAMES[graph]}: not run, {why}."
        for (name, graph), why in NOT_RUN.items()
    ]
    return "\n".join([*lines, "", NOTES, "", *missing, ""])


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells that the arguments ask for."""
    parser = command(__doc__, "output/rivals")
    parser.add_argument("--graphs", nargs="+", choices=NAMES, default=tuple(NAMES), help="all six by default")
    parser.add_argument(
        "--methods", nargs="+", choices=METHODS, default=tuple(METHODS), help="all by default"
    )
    parser.add_argument("--splits", nargs="+", type=int, default=SPLITS, help="0 to 9 by default")
    given = parser.parse_args(arguments)
    table = run_rivals(given.graphs, given.methods, given.splits, given.out, False if given.quiet else "auto")
    show(table, given.quiet)


if __name__ == "__main__":
    main()
