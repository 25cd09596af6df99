"""Put the figures of the last runs into the tables of the README: python docs/readme_tables.py."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean

from finsler._io import write_atomically

ROOT = Path(__file__).resolve().parents[1]
# Columns of experiments/compare, and what a model has beyond the coordinates of plain MDS.
TABLES = {
    "flight_hours": "flight hours",
    "english_towns": "English towns",
    "atsp_ftv170": "delivery tour",
    "erasmus_2012": "Erasmus",
    "morse": "Morse code",
}
MODELS = {
    "symmetrized MDS": "plain MDS of the average [0]",
    "Randers map (ours)": "**Randers map, ours** [2]",
    "slide vector": "slide vector [2]",
    "hill-climbing": "hill-climbing [2]",
    "radius-distance": "radius-distance [n - 1]",
    "Gower bimension": "Gower's bimension [2n - 3]",
    "drift vectors, fitted": "drift vectors, fitted [2n]",
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
    for model, words in MODELS.items():
        cells = [
            f"**{found[model]:.4f}**" if found[model] == min(found.values()) else f"{found[model]:.4f}"
            for found in stress.values()
        ]
        rows.append([words, *cells])
    return markdown(["model", *TABLES.values()], rows)


def speed() -> str:
    """Ratios of the times to equal stress, at scikit-learn's default tolerance."""
    runs = [run for run in read("benchmarks/bench.json")["to_equal_stress"] if run["eps"] == 1e-6]
    seconds = [["scikit-learn", *(f"{run['sklearn_seconds']:.2g} s" for run in runs)]]
    seconds += [["finsler", *(f"{run['finsler_seconds']:.2g} s" for run in runs)]]
    ratios = ["ratio", *(f"{run['ratio']:.0f}" for run in runs)]
    return markdown(["points", *(f"{run['n']:,}" for run in runs)], [*seconds, ratios])


def links() -> str:
    """Link prediction on the graphs whose trivial scores leave something to learn."""
    cells = {}
    for graph in GRAPHS:
        paths = sorted((ROOT / "paper/results/table2/results").glob(f"{graph}-random-split*.json"))
        cells[graph] = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
        assert len(cells[graph]) == 10, f"{graph}: ten splits are promised, {len(cells[graph])} are there"
    rows = []
    for words, key in {
        "**LinkPredictor**": None,
        "closed form, no training": "closed_form",
        "SpringRank": "springrank",
        "degree product": "degree_product",
        "Adamic-Adar": "adamic_adar",
    }.items():
        row = [words]
        for runs in cells.values():
            scores = [run["test"] if key is None else run["baselines"][key] for run in runs]
            row.append(
                " / ".join(
                    f"{mean(s[task] for s in scores):.1f}" for task in ("existence_mixed", "direction")
                )
            )
        rows.append(row)
    return markdown(["model", *GRAPHS.values()], rows)


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
