"""Directions that a coin decided, which nobody can tell: a method that seems to sees more than it should.

Gr-QC is a network of collaborations. Each of its links is given a direction by a coin, anew for each orientation, and the
methods of `rivals.py`, with the settings that they have on Gr-QC, and our default are asked for the directions that were
held out. 50 is chance. Cells that are there are not run again.

    python paper/coin.py --methods nerd digae --orientations 0 1

The graph is downloaded once, or read from the folder that the environment variable FINSLER_DATA names.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from threadpoolctl import threadpool_limits

from finsler._runtime import Progress
from finsler.graphs.arc_set import Integers, simple_arcs
from finsler.graphs.digraph import as_digraph
from finsler.learn.tasks import LinkSplit, split_links

from cells import command, kept_result, read_results, show, write_result, write_text
from published import METHODS
from published.sight import Sight
from rivals_table import OURS
from table2 import link_data

GRAPH = "grqc"
SETTINGS = Path(__file__).parent / "results" / "rivals" / "settings"  # that `rivals.py` found
ORIENTATIONS = (0, 1, 2, 3)
DEFAULT = "finsler"
NAMES = [DEFAULT, *(name for name, method in METHODS.items() if not (method.needs_features or method.leaks))]


def turned(arcs: Integers, seed: int) -> Integers:
    """Arcs of which each runs the other way if a coin says so."""
    heads = np.random.default_rng(seed).random(len(arcs)) < 0.5
    return np.where(heads[:, None], arcs, arcs[:, ::-1])


def settings_of(name: str) -> dict[str, Any]:
    """Settings of a method on the graph whose directions were not decided by a coin."""
    if name == DEFAULT:
        return {}
    path = SETTINGS / f"{METHODS[name].like or name}-{GRAPH}.json"
    return dict(json.loads(path.read_text(encoding="utf-8"))["chosen"])


def direction_score(name: str, split: LinkSplit, seed: int, settings: dict[str, Any]) -> float:
    """Area under the ROC curve of the directions that were held out, in percent."""
    if name != DEFAULT:
        with threadpool_limits(1):
            logits = METHODS[name](Sight.of(split), seed=seed, **settings)
        return float(logits.scores(split.test)["direction"])
    from finsler.learn.links import LinkPredictor

    n = split.n_nodes
    arcs = coo_array((np.ones(len(split.observed), dtype=bool), tuple(split.observed.T)), shape=(n, n))
    model = LinkPredictor(random_state=seed, n_jobs=1, verbose=False)
    return model.fit(as_digraph(arcs), validation=split.validation).scores(split.test)["direction"]


def run_coin(
    methods: Sequence[str], orientations: Sequence[int], out: Path, verbose: bool | str = "auto"
) -> Path:
    """Run the cells that are missing and write the table."""
    folder = out / "results"
    folder.mkdir(parents=True, exist_ok=True)
    arcs, n = simple_arcs(link_data(GRAPH)[0])
    progress = Progress("coin", verbose)
    for k in orientations:
        split = split_links(turned(arcs, k), n_nodes=n, random_state=k)
        for name in methods:
            path, settings = folder / f"{name}-coin{k}.json", settings_of(name)
            if kept_result(path, "settings", settings) is not None:
                continue
            progress.update(f"{name}, orientation {k}")
            began = time.process_time()
            found = direction_score(name, split, k, settings)
            cell = {"method": name, "orientation": k, "settings": settings, "direction": found}
            cell |= {
                "pairs": len(split.test.direction.pairs),
                "seconds": round(time.process_time() - began, 1),
            }
            write_result(path, cell)
    progress.close("done")
    return write_table(out)


def write_table(out: Path) -> Path:
    """The table of all cells that are there."""
    return write_text(out / "coin.md", table_markdown(read_results(out / "results")))


def table_markdown(results: Iterable[dict[str, Any]]) -> str:
    """A row for each method, in the order of `rivals.py`: mean of the orientations, with its standard error by chance."""
    cells = list(results)
    lines = [
        "# Directions that a coin decided",
        "",
        "Gr-QC, each link turned by a coin, anew for each orientation; area under the ROC curve of held-out directions",
        "in percent. Nobody can tell them: 50 is right; ± is the standard error of the mean that chance has.",
        "",
        "| method | orientations | direction | ± |",
        "|---|---|---|---|",
    ]
    for name in NAMES:
        found = [cell for cell in cells if cell["method"] == name]
        if found:
            scores = [cell["direction"] for cell in found]
            error = np.sqrt(np.mean([chance_variance(cell["pairs"]) for cell in found]) / len(found))
            label = OURS if name == DEFAULT else METHODS[name].label
            lines.append(f"| {label} | {len(found)} | {np.mean(scores):.1f} | {error:.1f} |")
    return "\n".join([*lines, ""])


def chance_variance(n_pairs: int) -> float:
    """Of the area, in percent, where scores say nothing and half of the pairs are shown in their true order."""
    return 100**2 * (n_pairs + 1) / (3 * n_pairs**2)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells that the arguments ask for."""
    parser = command(__doc__, "output/coin")
    parser.add_argument("--methods", nargs="+", choices=NAMES, default=tuple(NAMES), help="all by default")
    parser.add_argument("--orientations", nargs="+", type=int, default=ORIENTATIONS, help="0 to 3 by default")
    given = parser.parse_args(arguments)
    table = run_coin(given.methods, given.orientations, given.out, False if given.quiet else "auto")
    show(table, given.quiet)


if __name__ == "__main__":
    main()
