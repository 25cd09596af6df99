"""The paper's Table 2: link prediction on six digraphs, ten splits each, with trivial baselines on the same splits.

A *cell* is one split of one graph: the default `LinkPredictor`, trained on the observed arcs and chosen on the validation
pairs, scored on the test pairs. Each cell is a JSON file in the results folder; cells that are there are not run again, so a
run can be stopped and continued. The table is written anew from all cells after each one.

    python paper/table2.py --graphs cora citeseer --splits 0 1 2

The graphs are downloaded once, or read from the folder that the environment variable FINSLER_DATA names.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array

from finsler._runtime import Progress
from finsler.datasets.remote import fetch_graph
from finsler.graphs.digraph import Digraph, as_digraph

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
from table1 import KNOWN, table_graph

SPLITS = tuple(range(10))
TASKS = ("existence_mixed", "existence_random", "direction")
NAMES = {
    "cora": "Cora",
    "citeseer": "Citeseer",
    "grqc": "Gr-QC (synthetic)",
    "chameleon": "Chameleon",
    "squirrel": "Squirrel",
    "arxiv-year": "Arxiv-Year",
}
BASELINES = {
    "springrank": "SpringRank",
    "degree_product": "degree product",
    "common_neighbors": "common neighbors",
    "adamic_adar": "Adamic-Adar",
    "closed_form": "closed form, no training",
    "closed_form_features": "closed form with features",
}

# (existence, direction) of the paper's own method, area under the ROC curve in percent.
PAPER = {
    "cora": (95.2, 95.1),
    "citeseer": (94.6, 97.2),
    "grqc": (84.9, 92.6),
    "chameleon": (89.3, 93.2),
    "squirrel": (82.3, 89.0),
    "arxiv-year": (68.6, 74.4),
}

PROTOCOL = """\
**Protocol.** Self-loops dropped; unordered pairs are held out, so both arcs of a reciprocal pair leave together, and never
pairs of a spanning forest (`random`: another one for each split; `index`: Kruskal in the order of the nodes, as in a
published pipeline, which depends on how nodes are numbered). 15 % of all pairs are held out for the test, then 5 % of the
rest for validation. Direction: one-way pairs only, half of them shown reversed, score logit(i, j) - logit(j, i), of a logit
for this question where a model has one. Existence, mixed: pairs in their true order against reversed ones and uniform
non-edges, balanced; random: against non-edges only. Non-edges are drawn against the full graph; training sees observed arcs
only. Models are chosen on the validation pairs. All graphs are fitted with the same default options. ROC AUC in percent,
mean ± standard deviation over the splits. Seconds are those of the processor, on one thread."""

FACTS = """\
**Data.** Gr-QC is undirected; its arcs run from the lower to the higher node number, so its direction is synthetic. On
Chameleon, Squirrel and Arxiv-Year trivial scores are very strong, see the rows below the model: the paper's protocol, which
its text does not settle, must have differed there, and being above its figures means little."""


@dataclass(frozen=True)
class Cell:
    """One split of the table.

    Examples
    --------
    >>> Cell("cora", "random", 3).name
    'cora-random-split3'
    """

    graph: str
    forest: Literal["random", "index"]
    split: int

    def __post_init__(self) -> None:
        if self.graph not in KNOWN:
            raise ValueError(f"graph={self.graph!r} is not a known graph; choose from {', '.join(KNOWN)}.")

    @property
    def name(self) -> str:
        """Name of the file with the result, without its ending."""
        return f"{self.graph}-{self.forest}-split{self.split}"


def run_cell(
    cell: Cell,
    folder: str | os.PathLike[str],
    *,
    graph: Digraph | None = None,
    features: Any = None,
    n_jobs: int | None = None,
    device: str = "auto",
    verbose: bool | str = "auto",
    **options: Any,
) -> dict[str, Any]:
    """Result of a cell: read from the folder, or computed and written there.

    Parameters
    ----------
    cell : Cell
        What to run.
    folder : path-like
        Where the results are; it must exist.
    graph, features : optional
        As `link_data` gives them, if they are at hand.
    n_jobs, device, verbose, **options
        Of :class:`~finsler.learn.links.LinkPredictor`; the table is made without options.
    """
    path = Path(folder) / f"{cell.name}.json"
    kept = kept_result(path, "options", options)
    if kept is not None:
        return kept
    from finsler.learn.baselines import run_baselines
    from finsler.learn.links import LinkPredictor
    from finsler.learn.tasks import split_links

    if graph is None:
        graph, features = link_data(cell.graph)
    split = split_links(graph, random_state=cell.split, forest=cell.forest)
    arcs = coo_array(
        (np.ones(len(split.observed), dtype=bool), tuple(split.observed.T)),
        shape=(split.n_nodes, split.n_nodes),
    )
    reset_peak_memory()
    began, worked = time.perf_counter(), time.process_time()
    model = LinkPredictor(random_state=cell.split, n_jobs=n_jobs, device=device, verbose=verbose, **options)
    model.fit(as_digraph(arcs), features=features, validation=split.validation)
    if model.status_ == "interrupted":
        raise KeyboardInterrupt
    scores = model.scores(split.test)
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    result = {
        "cell": asdict(cell),
        "options": options,
        "test": scores,
        "validation": model.scores(split.validation),
        "candidates": model.validation_scores_,
        "encoder": model.encoder_,
        "members": model.members_,
        "correction": model.scores_.get("correction"),
        "calibration": model.scores_["calibration"],
        "alpha": model.alpha_,
        "seconds": round(seconds, 1),
        "processor_seconds": round(processor, 1),
        "peak_memory_mb": peak_memory(),
        "baselines": run_baselines(split, features=features, random_state=cell.split, n_jobs=n_jobs),
        "graph": {
            "n_nodes": split.n_nodes,
            "n_arcs": graph.n_arcs,
            "observed": len(split.observed),
            "test_pairs": len(split.test_pairs),
        },
    }
    write_result(path, result)
    return result


def run_table2(
    graphs: Sequence[str] = tuple(NAMES),
    splits: Sequence[int] = SPLITS,
    forests: Sequence[Literal["random", "index"]] = ("random",),
    out: str | os.PathLike[str] = "table2",
    *,
    n_jobs: int | None = None,
    device: str = "auto",
    verbose: bool | str = "auto",
) -> Path:
    """Run the cells that are missing and write the table.

    Parameters
    ----------
    graphs, splits, forests
        The cells: each combination.
    out : path-like
        Folder; results go to ``results/`` in it, the table to ``table2.md``.
    n_jobs, device, verbose
        As in :class:`~finsler.learn.links.LinkPredictor`.

    Returns
    -------
    pathlib.Path
        The Markdown table.
    """
    folder = Path(out) / "results"
    folder.mkdir(parents=True, exist_ok=True)
    table = Path(out) / "table2.md"
    described = Path(out).parent / "as_described" / "results"  # rows of as_described.py, if it was run
    cells = [Cell(graph, forest, int(split)) for graph in graphs for forest in forests for split in splits]
    progress = Progress("table 2", verbose)
    loaded: tuple[str, Digraph, Any] | None = None
    for k, cell in enumerate(cells):
        progress.update(f"{cell.name}, {k + 1} of {len(cells)}")
        if not (folder / f"{cell.name}.json").is_file() and (loaded is None or loaded[0] != cell.graph):
            loaded = (cell.graph, *link_data(cell.graph))
        graph, features = (None, None) if loaded is None else loaded[1:]
        run_cell(cell, folder, graph=graph, features=features, n_jobs=n_jobs, device=device, verbose=verbose)
        write_text(table, table_markdown(read_results(folder), read_results(described)))
    write_text(table, table_markdown(read_results(folder), read_results(described)))
    progress.close(f"{len(cells)} cells")
    return table


def link_data(name: str) -> tuple[Digraph, Any]:
    """Graph of the table and its node features, or None."""
    return table_graph(name), fetch_graph(name).features


def table_markdown(results: Iterable[dict[str, Any]], described: Iterable[dict[str, Any]] = ()) -> str:
    """The table in Markdown, with the paper's numbers and the baselines beside, the protocol and the facts.

    ``described`` are the results of `as_described.py`.
    """
    described = list(described)
    groups: dict[tuple[int, str], list[dict[str, Any]]] = {}
    for result in results:
        cell = result["cell"]
        groups.setdefault((tuple(NAMES).index(cell["graph"]), cell["forest"]), []).append(result)
    lines = [
        "# Table 2: link prediction",
        "",
        "| graph, forest | splits | method | existence, mixed | existence, random | direction | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for (at, forest), group in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1] != "random")):
        name = tuple(NAMES)[at]
        seconds = f"{np.mean([result.get('processor_seconds', result['seconds']) for result in group]):.0f}"
        lines.append(
            f"| **{NAMES[name]}**, {forest} | {len(group)} | **finsler** | "
            + " | ".join(f"**{mean_text([result['test'][task] for result in group])}**" for task in TASKS)
            + f" | {seconds} |"
        )
        existence, direction = PAPER[name]
        lines.append(f"| | | the paper's method | {existence} | | {direction} | |")
        if forest == "random":
            lines += described_lines(name, described)
        for key, label in BASELINES.items():
            having = [result["baselines"][key] for result in group if key in result["baselines"]]
            if having:
                means = [mean_text([scores[task] for scores in having]) for task in TASKS]
                lines.append(f"| | | {label} | " + " | ".join(means) + " | |")
    return "\n".join([*lines, "", PROTOCOL, "", FACTS, "", *_sizes(groups), ""])


def described_lines(graph: str, described: Iterable[dict[str, Any]]) -> list[str]:
    """A row for each dimension of the paper's own procedure (`as_described.py`)."""
    groups: dict[int, list[dict[str, Any]]] = {}
    for result in described:
        if result["graph"] == graph and result["split"] is not None:
            groups.setdefault(result["n_components"], []).append(result)
    lines = []
    for m, group in sorted(groups.items()):
        means = [mean_text([result["test"][task] for result in group]) for task in TASKS]
        seconds = f"{np.mean([result['seconds'] for result in group]):.0f}"
        label = f"as described in the paper, m = {m}, {len(group)} splits"
        lines.append(f"| | | {label} | " + " | ".join(means) + f" | {seconds} |")
    return lines


def _sizes(groups: dict[tuple[int, str], list[dict[str, Any]]]) -> list[str]:
    """One line for each graph: nodes, arcs, pairs held out."""
    lines: dict[int, str] = {}
    for (at, _), group in sorted(groups.items()):
        facts = group[0]["graph"]
        lines[at] = (
            f"* {tuple(NAMES.values())[at]}: {facts['n_nodes']:,} nodes, {facts['n_arcs']:,} arcs, of which "
            f"{facts['observed']:,} observed; {facts['test_pairs']:,} pairs held out for the test"
        )
    return list(lines.values())


def mean_text(values: list[float]) -> str:
    """Mean and standard deviation as they stand in a table."""
    spread = f" ± {np.std(values, ddof=1):.1f}" if len(values) > 1 else ""
    return f"{np.mean(values):.1f}{spread}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells that the arguments ask for."""
    parser = command(__doc__, "output/table2")
    parser.add_argument("--graphs", nargs="+", choices=NAMES, default=tuple(NAMES), help="all six by default")
    parser.add_argument("--splits", nargs="+", type=int, default=SPLITS, help="0 to 9 by default")
    parser.add_argument("--forests", nargs="+", choices=("random", "index"), default=("random",))
    given = parser.parse_args(arguments)
    verbose = False if given.quiet else "auto"
    table = run_table2(
        given.graphs, given.splits, given.forests, given.out, n_jobs=given.n_jobs, verbose=verbose
    )
    show(table, given.quiet)


if __name__ == "__main__":
    main()
