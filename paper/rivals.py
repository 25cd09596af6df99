"""Table 2 with its rivals: published methods and controls on the same splits, one file for each method, graph and split.

Settings are chosen from a small grid by the validation pairs of split 0 of each graph, written to ``settings/`` and then
frozen for all splits. A large graph takes those of a smaller one of its kind (`rivals_table.TAKEN`). Cells that are there
are not run again, so that a run can be stopped and continued. The table is written anew from all cells, with our own of
`table2.py` beside them, if they lie in the folder ``table2`` beside `--out`.

    python paper/rivals.py --graphs cora citeseer --methods nerd digae --splits 0 1 2

MagNet and DiGCN need torch-geometric-signed-directed. Graphs are downloaded once, or read from the folder that the
environment variable FINSLER_DATA names.
"""

from __future__ import annotations

import itertools
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from finsler._runtime import Progress
from finsler.learn.tasks import LinkSplit, split_links

from cells import (
    command,
    kept_result,
    peak_memory,
    read_results,
    reset_peak_memory,
    show,
    write_result,
    write_text,
)
from published import METHODS, Method
from published.sight import Sight
from rivals_table import FEW, NOT_RUN, TAKEN, table_markdown
from table2 import NAMES, SPLITS, link_data


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
    reset_peak_memory()
    began = time.process_time()
    with threadpool_limits(1):  # small products, which several threads only slow down
        logits = method(sight, seed=k, **settings)
    result = {
        "method": name, "graph": graph, "split": k, "settings": settings, "test": logits.scores(split.test),
        "validation": logits.scores(split.validation), "seconds": round(time.process_time() - began, 1),
        "peak_memory_mb": peak_memory(),
    }  # fmt: skip
    write_result(path, result)
    return result


def choose_settings(name: str, graph: str, split: LinkSplit, features: Any, folder: Path) -> dict[str, Any]:
    """The best of a method's grid by the mean of the validation scores of a split, or those taken; kept in a file."""
    name = METHODS[name].like or name
    path = folder / f"{name}-{graph}.json"
    method = METHODS[name]
    kept = kept_result(path, "grid", method.grid)
    if kept is not None and graph not in TAKEN:
        return dict(kept["chosen"])
    if graph in TAKEN:
        smaller = folder / f"{name}-{TAKEN[graph]}.json"
        if not smaller.is_file():
            raise SystemExit(
                f"{NAMES[graph]} takes its settings from {NAMES[TAKEN[graph]]}: run {name} there first."
            )
        found = json.loads(smaller.read_text(encoding="utf-8"))["tried"]
        chosen = best(
            [trial for trial in found if features is not None or not wants_features(trial["settings"])]
        )
        taken = {"grid": method.grid, "chosen": chosen, "taken_from": TAKEN[graph]}
        if taken != kept:  # the smaller graph may have been searched anew
            write_result(path, taken)
        return dict(chosen)
    tried = []
    sight = Sight.of(split, features, leak=method.leaks)
    for settings in grid(method):
        if wants_features(settings) and features is None:
            continue
        with threadpool_limits(1):
            scores = method(sight, seed=0, **settings).scores(split.validation)
        tried.append({"settings": settings, "validation": scores})
    chosen = best(tried)
    write_result(path, {"grid": method.grid, "chosen": chosen, "tried": tried})
    return chosen


def best(tried: list[dict[str, Any]]) -> dict[str, Any]:
    """The settings with the highest mean of the validation scores."""
    found = max(tried, key=lambda one: one["validation"]["direction"] + one["validation"]["existence_mixed"])
    return dict(found["settings"])


def wants_features(settings: dict[str, Any]) -> bool:
    """Whether the nodes must have features."""
    return settings.get("inputs") == "features"


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
            for k in splits if (name, graph) not in FEW else splits[: FEW[name, graph]]:
                progress.update(f"{graph}: {name}, split {k}")
                split = first if k == 0 else split_links(arcs, random_state=k)
                run_rival(name, graph, k, split, features, settings, cells)
            write_table(out)
    progress.close("done")
    return write_table(out)


def write_table(out: Path) -> Path:
    """The table of all cells that are there, with those of `table2.py` in the folder beside, if it has any."""
    ours = read_results(out.parent / "table2" / "results")
    return write_text(out / "rivals.md", table_markdown(read_results(out / "results"), ours))


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
