"""Put the figures of the last runs into the README: python docs/readme_tables.py."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

from finsler._io import write_atomically

ROOT = Path(__file__).resolve().parents[1]
# Columns of experiments/compare, and what a model has beyond the coordinates of plain MDS.
TABLES = {
    "flight_hours": "flight hours",
    "world_flights": "world flights",
    "english_towns": "English towns",
    "atsp_ftv170": "delivery tour",
    "erasmus_2012": "Erasmus",
    "morse": "Morse code",
}
MODELS = {
    "symmetrized MDS": ("plain MDS of the average", "0"),
    "Randers map (ours)": ("**Randers map, ours**", "2"),
    "Randers map with swirl (ours)": ("**with swirl, ours**", "3"),
    "Randers map with swirl, arcs (ours)": ("**with swirl, arcs, ours**", "3"),
    "slide vector": ("slide vector", "2"),
    "hill-climbing": ("hill-climbing", "2"),
    "radius-distance": ("radius-distance", "n - 1"),
    "Gower bimension": ("Gower's bimension", "2n - 3"),
    "drift vectors, fitted": ("drift vectors, fitted", "2n"),
}
GRAPHS = {"cora": "Cora", "citeseer": "Citeseer", "grqc": "Gr-QC (directions synthetic)"}


def read(path: str) -> dict:
    """A JSON file of the repository."""
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


def markdown(head: list[str], rows: list[list[str]]) -> str:
    """Rows of cells as a table, numbers on the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def fit() -> str:
    """Stress of the models in the plane, the least of each column in bold."""
    results = read("experiments/compare/results.json")["results"]
    stress = {
        name: {m["model"]: m["normalized_stress"] for m in results[name]["2"]["models"]} for name in TABLES
    }
    rows = []
    for model, (words, extra) in MODELS.items():
        cells = [
            f"**{found[model]:.4f}**" if found[model] == min(found.values()) else f"{found[model]:.4f}"
            for found in stress.values()
        ]
        rows.append([words, extra, *cells])
    return markdown(["model", "extra", *TABLES.values()], rows)


def speed() -> str:
    """How many times sooner than scikit-learn's SMACOF at the same stress, at its default tolerance."""
    runs = [run for run in read("benchmarks/bench.json")["to_equal_stress"] if run["eps"] == 1e-6]
    first, *others = [f"{run['ratio']:.0f}{{}} at {run['n']:,}{{}}" for run in runs]
    ratios = ", ".join(
        [first.format(" times as fast", " points"), *(other.format("", "") for other in others)]
    )
    return (
        f"**Speed.** To the stress of scikit-learn's SMACOF on symmetric data: {ratios}\n"
        "(`make bench`, two cores; [the last run](docs/speed.md), and what limits us)."
    )


def links() -> str:
    """Existence and direction of links, on the graphs whose trivial scores leave something to learn."""
    parts = []
    for graph, name in GRAPHS.items():
        paths = sorted((ROOT / "paper/results/table2/results").glob(f"{graph}-random-split*.json"))
        runs = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        assert len(runs) == 10, f"{graph}: ten splits are promised, {len(runs)} are there"
        existence, direction = (
            [f"{mean(scores[task] for scores in method):.1f}" for method in methods(runs)]
            for task in ("existence_mixed", "direction")
        )
        parts.append(
            f"* {name}: existence {existence[0]} (closed form without training {existence[1]}, degrees {existence[2]}), "
            f"direction {direction[0]} (SpringRank {direction[3]})"
        )
    words = (
        "**Links.** Area under the ROC curve in percent, mean of ten splits; direction alone needs\n"
        "little learning ([the whole table](paper/results/table2/table2.md)).\n"
    )
    return "\n".join([words, *parts])


def methods(runs: list[dict]) -> list[list[dict]]:
    """Scores of the model and of three baselines, each over the runs."""
    found = [[run["test"] for run in runs]]
    for baseline in ("closed_form", "degree_product", "springrank"):
        found.append([run["baselines"][baseline] for run in runs])
    return found


def renewed(text: str) -> str:
    """The README with its tables made anew."""
    for make in (fit, speed, links):
        begin, end = f"<!-- begin: {make.__name__} -->", f"<!-- end: {make.__name__} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    page = ROOT / "README.md"
    text = renewed(page.read_text(encoding="utf-8"))
    write_atomically(page, lambda file: file.write(text.encode()))
