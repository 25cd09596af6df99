"""Write results.md from the JSON files that run.sh made."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent


def text(estimate: dict) -> str:
    """Give an estimate with its error."""
    value, error = estimate["value"], estimate["error"]
    return "-" if value is None else f"{value:.3f} ± {error:.3f}" if error is not None else f"{value:.3f}"


def main() -> None:
    """Read the results, write the table."""
    columns = [
        "graph", "nodes mapped", "alpha", "held-out stress", "sign of asymmetry", "explained", "asymmetry",
        "of it, gradient", "pairs one way",
    ]  # fmt: skip
    lines = [
        "# Five large digraphs from the command line",
        "",
        "`sh experiments/large_graphs/run.sh FOLDER`: hops, 100 pivots, two dimensions, alpha fitted, the largest weakly",
        "connected part; scores on 20 rows (both ways) of nodes that were not pivots, with standard errors. The report",
        "looks at 50 rows of the whole graph.",
        "",
        f"| {' | '.join(columns)} |",
        "|---" * len(columns) + "|",
    ]
    verdicts = []
    for path in sorted(HERE.glob("results/*.json")):
        if path.name.endswith(".report.json"):
            continue
        found = json.loads(path.read_text())
        report = json.loads(path.with_suffix(".report.json").read_text())
        held = found["held_out"]
        cells = [
            path.stem,
            f"{found['points']:,}",
            f"{found['alpha']:.3f}",
            *(text(held[name]) for name in ("normalized_stress", "sign_accuracy", "explained")),
            *(text(report[name]) for name in ("asymmetry", "gradient_share", "one_way")),
        ]
        lines.append("| " + " | ".join(cells) + " |")
        verdicts += ["", f"**{path.stem}** {report['verdict']} {found['message']}"]
    (HERE / "results.md").write_text("\n".join(lines + verdicts) + "\n")


if __name__ == "__main__":
    main()
