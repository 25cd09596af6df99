"""Ordinal scaling without a drift beside vegan's monoMDS and MASS's isoMDS: the least stress-1 that each finds.

    python benchmarks/ordinal_beside_r.py --json benchmarks/ordinal_beside_r.json

Needs R with the packages vegan and MASS. Two tables from a formula: 20 points on a spiral, Randers distances with alpha 0.4,
a wave of 20 % on them, squared and averaged over both ways (S20); and their roots in whole halves, which ties most (T20).
The R programs start from classical scaling and from 50 random maps, we from our two starts. Stress-1 is what each says.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from finsler import FinslerMDS, randers_distances

PROGRAM = """
suppressMessages({library(vegan); library(MASS)})
D <- as.dist(as.matrix(read.csv("D.csv", header = FALSE))); k <- K; n <- attr(D, "Size"); set.seed(0)
starts <- c(list(cmdscale(D, k)), lapply(1:50, function(i) matrix(rnorm(n * k), n)))
mono <- function(y, weak) monoMDS(
  D, y, k, weakties = weak, maxit = 2000, smin = 1e-9, sfgrmin = 1e-9, sratmax = 0.9999999
)$stress
iso <- function(y) isoMDS(D, y, k, maxit = 1000, trace = FALSE, tol = 1e-9)$stress / 100
cat(sprintf("%.9f %.9f %.9f ", min(sapply(starts, mono, TRUE)), min(sapply(starts, mono, FALSE)), min(sapply(starts, iso))))
cat(as.character(packageVersion("vegan")), as.character(packageVersion("MASS")))
"""


def tables() -> dict[str, np.ndarray]:
    """Tables from a formula."""
    i = np.arange(20)
    X = np.sqrt(i + 0.5)[:, None] * np.column_stack(
        [np.cos(2.399963229728653 * i), np.sin(2.399963229728653 * i)]
    )
    Q = (randers_distances(X, drift=0.4) * (1 + 0.2 * np.sin(7 * i[:, None] + 13 * i))) ** 2
    S = (Q + Q.T) / 2
    return {"S20": S, "T20": np.round(2 * np.sqrt(S))}


def in_r(D: np.ndarray, m: int) -> tuple[list[float], list[str]]:
    """Least stress-1 of monoMDS with ties broken and kept, and of isoMDS; and the versions."""
    with tempfile.TemporaryDirectory() as folder:
        np.savetxt(Path(folder, "D.csv"), D, delimiter=",", fmt="%.17g")
        command = ["Rscript", "-e", PROGRAM.replace("K;", f"{m};")]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    *found, vegan, mass = run.stdout.split()
    return [float(value) for value in found], [vegan, mass]


def compare() -> dict[str, Any]:
    """Stress-1 of all programs."""
    rows = []
    for name, D in tables().items():
        for m in (2, 3):
            (weak, strong, iso), versions = in_r(D, m)
            options = {"n_components": m, "alpha": 0, "scaling": "ordinal", "tol": 1e-9, "max_iter": 3000}
            ours = [FinslerMDS(**options, ties=ties).fit(D).stress1_ for ties in ("primary", "secondary")]
            rows.append({
                "table": name, "dimensions": m, "finsler primary": ours[0], "monoMDS primary": weak,
                "finsler secondary": ours[1], "monoMDS secondary": strong, "isoMDS": iso,
            })  # fmt: skip
    return {"vegan": versions[0], "MASS": versions[1], "rows": rows}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    if not shutil.which("Rscript"):
        sys.exit("R is not installed.")
    found = compare()
    print("table  m  " + "  ".join(f"{name:>17}" for name in list(found["rows"][0])[2:]))
    for row in found["rows"]:
        name, m, *values = row.values()
        print(f"{name:5}  {m}  " + "  ".join(f"{value:17.6f}" for value in values))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")
