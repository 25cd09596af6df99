"""The table of link prediction with everybody in it: rivals, trivial scores and our own default, and who is ahead."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from published import METHODS
from table2 import BASELINES, NAMES, TASKS, mean_text
from table2 import PAPER as PAPER_OURS

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
    ("strap", "arxiv-year"): "its matrix of personalized PageRanks fills up before it is cut",
}
# Large graphs take the settings that were chosen on a smaller one of their kind.
TAKEN = {"squirrel": "chameleon", "arxiv-year": "citeseer"}
SLOW = (
    "nerd_raw",
    "nerd_readout",
    "sdgae",
    "odin",
    "odin_readout",
    "duplex",
    "duplex_leak",
    "magnet",
    "digcn",
    "iqe",
    "randers",
    "euclidean",
)
# Splits of those that take minutes on a graph: the first three.
FEW = {(name, "squirrel"): 3 for name in SLOW} | {(name, "arxiv-year"): 3 for name in METHODS}
# Minutes after which a first split was given up.
TRIED = {("nerd", "arxiv-year"): 20, ("duplex", "arxiv-year"): 28}
ARCS_BESIDE_SQUIRREL = 1_166_243 / 216_933  # of Arxiv-Year
FEATURED = ("cora", "citeseer")  # graphs whose nodes have features
OURS = "**finsler, nothing set**"
# What is subtracted from what, to see what the distance alone is worth and what the rest of our default adds.
COMPARED = {
    "Randers less IQE": ("randers", "iqe"),
    "Randers less Euclidean": ("randers", "euclidean"),
    "our default less Randers": ("", "randers"),
    "our default less IQE": ("", "iqe"),
}
HEAD = (
    "| graph | splits | method | existence, mixed | existence, random | direction | paper | grid | seconds | MB |",
    "|---|---|---|---|---|---|---|---|---|---|",
)
COMPARED_HEAD = (
    "| graph | difference | splits | existence, mixed | existence, random | direction |",
    "|---|---|---|---|---|---|",
)
LEVEL = 0.05  # points within which two rows are level, whatever the standard error
WORDS = {
    "existence_mixed": "existence, mixed",
    "existence_random": "existence, random",
    "direction": "direction",
}
NOTES = f"""\
Area under the ROC curve in percent, mean ± standard deviation over the splits that were run. Rows in italics see arcs
that are held out and do not count. "+" marks additive methods, whose logit(i, j) = a(i) + b(j) has no term in the pair.
*Grid* is the number of settings of which the validation pairs of split 0 chose one; our default has none, it compares its
candidates on the validation pairs of each split. *Paper* is existence / direction in the paper's Table 2; it does not say
which inputs and readouts it used. "as Chameleon": the settings chosen there, since the grid would take too long on the
larger graph. "as DUPLEX": those of the row of this name, from which the one in italics differs by the arcs along which
messages pass, and by nothing else. DUPLEX has 64 numbers for amplitudes and phases each and 400 epochs at most, where its
authors have 128 and 3,000.

Methods that take minutes on Squirrel, and all on Arxiv-Year, have the first three splits only. Gaps are means over the
splits that both rows have, with their standard errors; a gap of at most two standard errors or {LEVEL} points, whichever
is more, is called level. A method may choose one epoch for existence and another for direction, but for IQE, Randers and
Euclidean, which are trained as the encoders of our default are and choose one for both.

Seconds are those of the processor for one split, on one thread. Memory is the most that the process held meanwhile, about
400 MB of it PyTorch and SciPy, and an upper bound: a process runs several methods one after another and does not give
everything back in between."""


@dataclass
class Row:
    """A method on a graph: its scores by split."""

    label: str
    scores: dict[int, dict[str, float]] = field(default_factory=dict)
    seconds: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)
    paper: str = ""
    grid: str = ""
    leaks: bool = False
    key: str = ""  #: Name of the method; "" is our default.

    def mean(self, task: str) -> float:
        """Mean over the splits."""
        return float(np.mean([scores[task] for scores in self.scores.values()]))

    def cells(self) -> list[str]:
        """What stands in the table, after the graph."""
        mark = "*" if self.leaks else ""
        means = [mean_text([scores[task] for scores in self.scores.values()]) for task in TASKS]
        facts = [f"{np.mean(values):.0f}" if values else "" for values in (self.seconds, self.memory)]
        shown = [f"{mark}{self.label}{mark}", *(f"{mark}{mean}{mark}" for mean in means)]
        return [str(len(self.scores)), *shown, self.paper, self.grid, *facts]


def rows_of(graph: str, results: Iterable[dict[str, Any]], ours: Iterable[dict[str, Any]]) -> list[Row]:
    """Our default and the trivial scores, then the rivals in the order of `METHODS`."""
    at = tuple(NAMES).index(graph)
    cells = [r for r in ours if (r["cell"]["graph"], r["cell"]["forest"]) == (graph, "random")]
    rows: dict[str, Row] = {}
    for cell in cells:
        split = cell["cell"]["split"]
        row = rows.setdefault("", Row(OURS, paper=" / ".join(map(str, PAPER_OURS[graph]))))
        row.scores[split] = cell["test"]
        row.seconds.append(cell.get("processor_seconds", cell["seconds"]))
        row.memory.append(cell.get("peak_memory_mb") or np.nan)
        for key, label in BASELINES.items():
            if key in cell["baselines"]:
                rows.setdefault(key, Row(label)).scores[split] = cell["baselines"][key]
    known = [r for r in results if r["graph"] == graph]
    for name, method in METHODS.items():
        for cell in (r for r in known if r["method"] == name):
            paper = " / ".join(str(column[at]) for column in PAPER[name]) if name in PAPER else ""
            tried = int(np.prod([len(values) for values in method.grid.values()]))
            label = method.label + (" +" if method.additive else "")
            searched = f"as {NAMES[TAKEN[graph]]}" if graph in TAKEN and tried > 1 else str(tried)
            if method.like:
                searched = f"as {METHODS[method.like].label.split(',')[0]}"
            row = rows.setdefault(name, Row(label, paper=paper, grid=searched, leaks=method.leaks))
            row.scores[cell["split"]] = cell["test"]
            row.seconds.append(cell["seconds"])
            row.memory.append(cell["peak_memory_mb"] or np.nan)
    for key, row in rows.items():
        row.key = key
    return list(rows.values())


def verdict(task: str, rows: list[Row]) -> str:
    """Who is ahead of the others in a task, and by how much on the splits that both have; "" without a row of ours."""
    ours = next((row for row in rows if row.label == OURS), None)
    others = [row for row in rows if row.label != OURS and not row.leaks]
    if ours is None or not others:
        return ""
    gaps = {row.label: paired_gap(ours, row, task) for row in others if set(ours.scores) & set(row.scores)}
    if not gaps:
        return ""
    label, (gap, error, count) = min(gaps.items(), key=lambda item: item[1][0])
    name = f"{WORDS[task]} {ours.mean(task):.1f}: the best of the others ({label.removesuffix(' +').split(':')[0]})"
    splits = f"{count} split{'s' * (count > 1)}"
    if abs(gap) <= max(2 * error, LEVEL):
        return f"{name} is level ({abs(gap):.2f} ± {error:.2f} {'above' if gap < 0 else 'below'} on {splits})"
    return f"{name} is {abs(gap):.2f} ± {error:.2f} {'below' if gap > 0 else '**above**'} on {splits}"


def paired_gap(ours: Row, other: Row, task: str) -> tuple[float, float, int]:
    """Mean of our score minus theirs on common splits, its standard error (0 for a single split), and their number."""
    common = sorted(set(ours.scores) & set(other.scores))
    if not common:
        return np.inf, 0.0, 0
    gaps = [ours.scores[k][task] - other.scores[k][task] for k in common]
    error = float(np.std(gaps, ddof=1) / np.sqrt(len(gaps))) if len(gaps) > 1 else 0.0
    return float(np.mean(gaps)), error, len(gaps)


def comparisons(graph: str, rows: list[Row]) -> list[str]:
    """Lines of the table of `COMPARED`, where both rows are there."""
    known = {row.key: row for row in rows}
    lines = []
    for words, (one, other) in COMPARED.items():
        if one not in known or other not in known:
            continue
        gaps = [paired_gap(known[one], known[other], task) for task in TASKS]
        shown = [f"{round(gap, 2) + 0.0:+.2f} ± {error:.2f}" for gap, error, _ in gaps]
        lines.append(f"| {' | '.join([NAMES[graph], words, str(gaps[0][2]), *shown])} |")
    return lines


def absences(graph: str, results: list[dict[str, Any]]) -> list[str]:
    """A line for methods that were not run on a graph for want of time, with that of Squirrel times the ratio of arcs."""
    run = {r["method"] for r in results if r["graph"] == graph}
    tried = {METHODS[name].function: name for name, where in TRIED if where == graph}
    told = []
    for name, method in METHODS.items():
        if name in run or (name, graph) in NOT_RUN or (method.needs_features and graph not in FEATURED):
            continue
        seconds = [r["seconds"] for r in results if (r["method"], r["graph"]) == (name, "squirrel")]
        facts = []
        if seconds and graph == "arxiv-year":
            facts = [f"{np.mean(seconds) * ARCS_BESIDE_SQUIRREL / 60:.0f}"]
        if (name, graph) in TRIED:
            facts = [*facts, f"given up after {TRIED[name, graph]}"]
        elif method.function in tried:
            facts = ["the same training"]
        told.append(f"{method.label} ({', '.join(facts)})" if facts else method.label)
    if not told:
        return []
    why = ", in brackets the minutes a split that arcs and its time on Squirrel, with the settings there, let expect"
    why += ", which were several times too few where it was tried" * bool(tried)
    why *= graph == "arxiv-year"
    return [f"* {NAMES[graph]}, not run for want of time{why}: {'; '.join(told)}."]


def table_markdown(results: list[dict[str, Any]], ours: Iterable[dict[str, Any]] = ()) -> str:
    """The table in Markdown: who is ahead on each graph, all rows, and what the distance alone is worth."""
    cells = list(ours)
    found = {graph: rows_of(graph, results, cells) for graph in NAMES}
    words, lines, compared = [], [], []
    for graph, rows in found.items():
        if not any(row.grid for row in rows):
            continue
        told = [
            text
            for task in ("existence_mixed", "direction", "existence_random")
            if (text := verdict(task, rows))
        ]
        words += [f"* **{NAMES[graph]}**, our default beside all others: {'; '.join(told)}."] if told else []
        for k, row in enumerate(rows):
            lines.append(f"| {' | '.join([f'**{NAMES[graph]}**' if k == 0 else '', *row.cells()])} |")
        compared += comparisons(graph, rows)
    missing = [
        f"* {METHODS[name].label} on {NAMES[graph]}: not run, {why}."
        for (name, graph), why in NOT_RUN.items()
    ]
    absent = [line for graph in NAMES for line in absences(graph, results)]
    parts = [
        "# Table 2: rivals on the same splits",
        "",
        *words,
        "",
        *HEAD,
        *lines,
        "",
        NOTES,
        "",
        *missing,
        *absent,
        "",
    ]
    if compared:
        parts += [
            "**What the distance alone is worth**: points on the splits that both have.",
            "",
            *COMPARED_HEAD,
            *compared,
            "",
        ]
    return "\n".join(parts)
