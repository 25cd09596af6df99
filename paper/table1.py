"""The paper's Table 1: distortion and ranking of embeddings of six digraphs, Euclidean and Finsler with the same effort.

A *cell* is one embedding: graph, dimension, geometry, ranking weight (lambda), temperature (tau), seed. Each cell is a
JSON file in the results folder; cells that are there are not run again, so a run can be stopped and continued. The table
is written anew from all cells after each one.

    python paper/table1.py --graphs cora --dims 2 10
    python paper/table1.py --config paper/results/table1/config.json --out paper/results/table1

The graphs are downloaded once, or read from the folder that the environment variable FINSLER_DATA names.
"""

from __future__ import annotations

import json
import os
import time
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array, triu
from sklearn.exceptions import ConvergenceWarning

from finsler._runtime import Progress
from finsler.datasets.remote import GRAPHS as KNOWN
from finsler.datasets.remote import fetch_graph
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.paths import shortest_paths
from finsler.graphs.scores import symmetric_floor

from cells import command, kept_result, read_results, show, write_result, write_text

GRAPHS = ("cora", "citeseer", "chameleon", "grqc", "squirrel")
DIMENSIONS = (2, 5, 10, 50)
GEOMETRIES = ("euclidean", "finsler")
SAMPLED = ("arxiv-year",)  # too large for all pairs
NAMES = {
    "cora": "Cora",
    "citeseer": "Citeseer",
    "grqc": "Gr-QC (synthetic)",
    "chameleon": "Chameleon",
    "squirrel": "Squirrel",
    "arxiv-year": "Arxiv-Year (sampled)",
}
SCORED_SOURCES = 2000  # nodes from which a sampled graph is scored

# (distortion, MAP) as printed in the paper, Euclidean and Finsler.
PAPER: dict[str, dict[int, tuple[tuple[float, float], tuple[float, float]]]] = {
    "cora": {
        2: ((0.426, 0.574), (0.127, 0.894)),
        5: ((0.414, 0.612), (0.106, 0.922)),
        10: ((0.322, 0.677), (0.093, 0.931)),
        50: ((0.218, 0.831), (0.091, 0.949)),
    },
    "citeseer": {
        2: ((0.386, 0.394), (0.194, 0.691)),
        5: ((0.320, 0.495), (0.172, 0.835)),
        10: ((0.305, 0.681), (0.083, 0.958)),
        50: ((0.277, 0.740), (0.051, 0.976)),
    },
    "grqc": {
        2: ((0.247, 0.289), (0.012, 0.986)),
        5: ((0.213, 0.384), (0.011, 0.994)),
        10: ((0.209, 0.424), (0.010, 0.999)),
        50: ((0.192, 0.487), (0.010, 0.999)),
    },
    "chameleon": {
        2: ((0.483, 0.488), (0.261, 0.798)),
        5: ((0.450, 0.502), (0.129, 0.849)),
        10: ((0.397, 0.594), (0.116, 0.903)),
        50: ((0.376, 0.628), (0.102, 0.924)),
    },
    "squirrel": {
        2: ((0.592, 0.395), (0.226, 0.812)),
        5: ((0.514, 0.465), (0.201, 0.837)),
        10: ((0.423, 0.541), (0.139, 0.994)),
        50: ((0.388, 0.607), (0.130, 0.996)),
    },
    "arxiv-year": {
        2: ((0.489, 0.321), (0.242, 0.742)),
        5: ((0.408, 0.392), (0.195, 0.853)),
        10: ((0.346, 0.415), (0.136, 0.927)),
        50: ((0.329, 0.431), (0.115, 0.954)),
    },
}

PROTOCOL = """\
**Protocol.** Self-loops and repeated arcs dropped; D = number of arcs on the shortest path. B = mean of (d - D)^2 / D
and C = mean of |d - D| / D over reachable ordered pairs; MAP = mean over nodes with out-neighbors of the average
precision of these by d(u, .), ties against us: "all" ranks them among all other nodes, "reach" among those that can be
reached from u. The paper does not say which it means. One embedding gives all numbers of a cell. Both geometries minimize
the same objective, B + lambda x cross-entropy of neighbors against non-neighbors at temperature tau, with the same lambda,
tau, stages, iterations and starts; the Euclidean one has alpha = 0. Where there are several starts, the one with the least
objective is shown. The floor is the least B of any symmetric distance. The paper's distortion is normalized in another
way, which its text does not settle, so the comparison with its column is of kind, not of digits."""

FACTS = """\
**Data.** The paper's edge counts for Citeseer, Chameleon and Squirrel are those of unordered pairs; here the arcs of the
sources are used. Gr-QC is a co-authorship graph without directions: its arcs run from the lower to the higher node, as
the paper's count suggests, which makes its asymmetry synthetic. Arxiv-Year: fitted to a sample of pairs, scored from a
sample of nodes, with the standard error of the sample."""


@dataclass(frozen=True)
class Cell:
    """One embedding of the table.

    Examples
    --------
    >>> Cell("cora", 10, "finsler", 0.06, 0.1).name
    'cora-m10-finsler-lambda0.06-tau0.1-seed0'
    """

    graph: str
    n_components: int
    geometry: str
    ranking_weight: float
    temperature: float
    seed: int = 0
    max_iter: int = 400

    def __post_init__(self) -> None:
        if self.graph not in KNOWN:
            raise ValueError(f"graph={self.graph!r} is not a known graph; choose from {', '.join(KNOWN)}.")
        if self.geometry not in GEOMETRIES:
            raise ValueError(f"geometry={self.geometry!r} must be one of {', '.join(GEOMETRIES)}.")

    @property
    def name(self) -> str:
        """Name of the file with the result, without its ending."""
        return (
            f"{self.graph}-m{self.n_components}-{self.geometry}-lambda{self.ranking_weight:g}"
            f"-tau{self.temperature:g}-seed{self.seed}"
        )


def table_graph(name: str) -> Digraph:
    """A graph of the table as it is embedded: without self-loops, and Gr-QC with arcs from the lower to the higher node."""
    matrix = fetch_graph(name).graph
    if name == "grqc":
        matrix = csr_array(triu(matrix, k=1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*self-loop")  # dropped by the protocol
        return as_digraph(matrix)


def graph_facts(name: str, graph: Digraph, n_jobs: int | None = None) -> dict[str, Any]:
    """Numbers of the graph that do not depend on an embedding: size, reachable pairs, symmetric floor."""
    facts: dict[str, Any] = {"n_nodes": graph.n_nodes, "n_arcs": graph.n_arcs}
    if name in SAMPLED:
        return facts
    D = shortest_paths(graph.matrix, method="bfs", dtype=np.float32, n_jobs=n_jobs)
    reachable = int(np.isfinite(D).sum()) - graph.n_nodes
    pairs = graph.n_nodes * (graph.n_nodes - 1)
    return facts | {
        "reachable_pairs": reachable,
        "reachable_share": reachable / pairs,
        "symmetric_floor": symmetric_floor(D),
    }


def run_cell(
    cell: Cell,
    folder: str | os.PathLike[str],
    *,
    graph: Digraph | None = None,
    facts: dict[str, Any] | None = None,
    n_jobs: int | None = None,
    device: str = "cpu",
    verbose: bool | int | str = "auto",
) -> dict[str, Any]:
    """Result of a cell: read from the folder, or computed and written there.

    Parameters
    ----------
    cell : Cell
        What to run.
    folder : path-like
        Where the results are; it must exist.
    graph, facts : optional
        From `table_graph` and `graph_facts`, if they are at hand.
    n_jobs, device, verbose
        As in :class:`~finsler.learn.digraph.DigraphEmbedding`.
    """
    path = Path(folder) / f"{cell.name}.json"
    kept = kept_result(path, "cell", asdict(cell))
    if kept is not None:
        return kept
    from finsler.learn.digraph import DigraphEmbedding

    graph = table_graph(cell.graph) if graph is None else graph
    facts = graph_facts(cell.graph, graph, n_jobs) if facts is None else facts
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the status is in the result
        fitted = DigraphEmbedding(
            cell.n_components,
            alpha=0.0 if cell.geometry == "euclidean" else "auto",
            ranking_weight=cell.ranking_weight,
            temperature=cell.temperature,
            max_iter=cell.max_iter,
            random_state=cell.seed,
            n_jobs=n_jobs,
            device=device,
            verbose=verbose,
        ).fit(graph)
    if fitted.status_ == "interrupted":
        raise KeyboardInterrupt
    seconds = time.perf_counter() - began
    scores = fitted.scores(n_sources=SCORED_SOURCES if cell.graph in SAMPLED else None)
    result = {
        "cell": asdict(cell),
        "scores": asdict(scores),
        "alpha": fitted.alpha_,
        "objective": fitted.objective_,
        "n_iter": fitted.n_iter_,
        "n_evaluations": fitted.n_evaluations_,
        "status": fitted.status_,
        "seconds": round(seconds, 1),
        "graph": facts,
    }
    write_result(path, result)
    return result


def run_table1(
    graphs: Sequence[str] = GRAPHS,
    dims: Sequence[int] = DIMENSIONS,
    out: str | os.PathLike[str] = "table1",
    *,
    geometries: Sequence[str] = GEOMETRIES,
    ranking_weights: Sequence[float] = (0.04,),
    temperature: float = 0.1,
    seeds: Sequence[int] = (0,),
    max_iter: int = 400,
    n_jobs: int | None = None,
    device: str = "cpu",
    verbose: bool | int | str = "auto",
) -> Path:
    """Run the cells that are missing and write the table.

    Parameters
    ----------
    graphs, dims, geometries, ranking_weights, seeds
        The cells: each combination.
    out : path-like
        Folder; results go to ``results/`` in it, the table to ``table1.md``.
    temperature, max_iter
        The same for all cells.
    n_jobs, device, verbose
        As in :class:`~finsler.learn.digraph.DigraphEmbedding`.

    Returns
    -------
    pathlib.Path
        The Markdown table.
    """
    cells = [
        Cell(graph, int(m), geometry, float(weight), float(temperature), int(seed), int(max_iter))
        for graph in graphs
        for m in dims
        for weight in ranking_weights
        for geometry in geometries
        for seed in seeds
    ]
    folder = Path(out) / "results"
    folder.mkdir(parents=True, exist_ok=True)
    table = Path(out) / "table1.md"
    described = Path(out).parent / "as_described" / "results"  # rows of as_described.py, if it was run
    progress = Progress("table 1", verbose)
    loaded: tuple[str, Digraph, dict[str, Any]] | None = None
    for k, cell in enumerate(cells):
        progress.update(f"{cell.name}, {k + 1} of {len(cells)}")
        if (folder / f"{cell.name}.json").is_file():
            run_cell(cell, folder)  # only to see that its settings are these
            continue
        if loaded is None or loaded[0] != cell.graph:
            graph = table_graph(cell.graph)
            loaded = (cell.graph, graph, graph_facts(cell.graph, graph, n_jobs))
        run_cell(
            cell, folder, graph=loaded[1], facts=loaded[2], n_jobs=n_jobs, device=device, verbose=verbose
        )
        write_text(table, table_markdown(read_results(folder), read_results(described)))
    write_text(table, table_markdown(read_results(folder), read_results(described)))
    progress.close(f"{len(cells)} cells")
    return table


def table_markdown(results: Iterable[dict[str, Any]], described: Iterable[dict[str, Any]] = ()) -> str:
    """The table in Markdown, with the paper's numbers beside, the protocol and the facts about the data.

    ``described`` are the results of `as_described.py`.
    """
    rows: dict[tuple[Any, ...], dict[str, list[dict[str, Any]]]] = {}
    for result in results:
        cell = result["cell"]
        order = (
            tuple(KNOWN).index(cell["graph"]),
            cell["n_components"],
            cell["ranking_weight"],
            cell["temperature"],
        )
        rows.setdefault(order, {}).setdefault(cell["geometry"], []).append(result)
    best = {
        order: {geometry: min(starts, key=lambda r: r["objective"]) for geometry, starts in pair.items()}
        for order, pair in rows.items()
    }
    lines = [
        "# Table 1: embeddings of digraphs",
        "",
        "B / MAP among all / MAP among reachable nodes (C); lower / higher / higher (lower) is better. Cells without the",
        "third number are of an earlier run. In brackets the paper's distortion / MAP.",
        "",
        "| graph | m | lambda, tau | starts | Euclidean | paper's | Finsler | paper's | alpha | floor |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for order, pair in sorted(best.items()):
        lines.append(_line(pair, max(map(len, rows[order].values()))))
    wholes = [result for result in described if result["split"] is None]
    wholes.sort(key=lambda result: (tuple(KNOWN).index(result["graph"]), result["n_components"]))
    lines += [_described_line(result) for result in wholes]
    return "\n".join([*lines, "", *_met(best), "", PROTOCOL, "", FACTS, "", *_sizes(best), ""])


def _met(rows: dict[tuple[Any, ...], dict[str, dict[str, Any]]]) -> list[str]:
    """How many Finsler cells have the paper's distortion or less and its MAP or more, for each lambda and definition."""
    lines = [
        "**Beside the paper's Finsler column**: cells with its distortion or less *and* its MAP or more.",
        "",
    ]
    found = [(order[2], pair["finsler"]) for order, pair in sorted(rows.items()) if "finsler" in pair]
    weights = sorted({weight for weight, _ in found})
    for some, title in (*(([weight], f"lambda {weight:g}") for weight in weights), (weights, "any lambda")):
        for key, words in (("MAP", "all"), ("MAP_reachable", "reachable")):
            tried = [result for weight, result in found if weight in some]
            met = list(dict.fromkeys(_place(result["cell"]) for result in tried if _reaches(result, key)))
            places = len({_place(result["cell"]) for result in tried})
            # Cells of earlier runs lack the second MAP, which is never below the first.
            least = "" if all(key in result["scores"] for result in tried) else "at least "
            which = f": {', '.join(met)}" if met else ""
            lines.append(f"* {title}, MAP among {words} nodes: {least}{len(met)} of {places}{which}")
    return lines


def _place(cell: dict[str, Any]) -> str:
    return f"{NAMES[cell['graph']].split(' (')[0]} {cell['n_components']}"


def _reaches(result: dict[str, Any], key: str) -> bool:
    cell, scores = result["cell"], result["scores"]
    paper = PAPER[cell["graph"]].get(cell["n_components"])
    return paper is not None and scores["B"] <= paper[1][0] and scores.get(key, scores["MAP"]) >= paper[1][1]


def _line(pair: dict[str, dict[str, Any]], n_starts: int) -> str:
    some = next(iter(pair.values()))
    cell = some["cell"]
    paper = PAPER[cell["graph"]].get(cell["n_components"])
    printed = [f"({b:.3f} / {p:.3f})" for b, p in paper] if paper else ["", ""]
    shown = [_scores(pair[g]["scores"]) if g in pair else "" for g in GEOMETRIES]
    floor = some["graph"].get("symmetric_floor")
    alpha = f"{pair['finsler']['alpha']:.3f}" if "finsler" in pair else ""
    entries = [
        NAMES[cell["graph"]],
        str(cell["n_components"]),
        f"{cell['ranking_weight']:g}, {cell['temperature']:g}",
        str(n_starts),
        shown[0],
        printed[0],
        shown[1],
        printed[1],
        alpha,
        "" if floor is None else f"{floor:.4f}",
    ]
    return "| " + " | ".join(entries) + " |"


def _described_line(result: dict[str, Any]) -> str:
    """A map made by the paper's own procedure (`as_described.py`)."""
    from as_described import ALPHA, whole_text

    (_, paper) = PAPER[result["graph"]].get(result["n_components"], (None, None))
    entries = [
        NAMES[result["graph"]], result["n_components"], "as described in the paper", 1, "", "", whole_text(result),
        "" if paper is None else f"({paper[0]:.3f} / {paper[1]:.3f})", f"{ALPHA:.3f}", "",
    ]  # fmt: skip
    return "| " + " | ".join(map(str, entries)) + " |"


def _scores(scores: dict[str, Any]) -> str:
    sampled = scores["MAP_error"] > 0
    numbers = [
        f"{scores[key]:.3f} ± {scores[f'{key}_error']:.3f}" if sampled else f"{scores[key]:.4f}"
        for key in ("B", "MAP", "MAP_reachable")
        if key in scores  # cells of earlier runs have the MAP among all nodes only
    ]
    return f"{' / '.join(numbers)} ({scores['C']:.3f})"


def _sizes(rows: dict[tuple[Any, ...], dict[str, dict[str, Any]]]) -> list[str]:
    """One line for each graph: nodes, arcs, reachable pairs."""
    lines: dict[str, str] = {}
    for _, pair in sorted(rows.items()):
        result = next(iter(pair.values()))
        facts, name = result["graph"], result["cell"]["graph"]
        reach = facts.get("reachable_share")
        lines[name] = f"* {NAMES[name]}: {facts['n_nodes']:,} nodes, {facts['n_arcs']:,} arcs" + (
            "" if reach is None else f", {100 * reach:.2f} % of ordered pairs reachable"
        )
    return list(lines.values())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the cells that the arguments ask for, or those of a configuration."""
    parser = command(__doc__, "output/table1")
    parser.add_argument(
        "--graphs", nargs="+", choices=NAMES, default=GRAPHS, help="all but arxiv-year by default"
    )
    parser.add_argument("--dims", nargs="+", type=int, default=DIMENSIONS, help="2 5 10 50 by default")
    parser.add_argument("--max-iter", type=int, default=400)
    parser.add_argument(
        "--config",
        type=Path,
        help='JSON file of arguments of run_table1 instead; under "more", further groups',
    )
    given = parser.parse_args(arguments)
    groups = [{"graphs": given.graphs, "dims": given.dims, "max_iter": given.max_iter}]
    if given.config is not None:
        first = json.loads(given.config.read_text(encoding="utf-8"))
        more = first.pop("more", [])  # what a group does not set is as in the first one
        groups = [first, *({**first, **changes} for changes in more)]
    verbose = False if given.quiet else "auto"
    for group in groups:
        table = run_table1(out=given.out, n_jobs=given.n_jobs, verbose=verbose, **group)
    show(table, given.quiet)


if __name__ == "__main__":
    main()
