"""What each scaling recovers of a map from distorted data: the positions and alpha.

    python benchmarks/recovery_scalings.py --json benchmarks/recovery_scalings.json

Points are Gaussian, N = 40 in two dimensions with alpha 0.4; their distances get log-normal noise and are then distorted.
Shown are medians of 10 runs: squared Procrustes correlation, the drift axis kept, and alpha, that of least stress -> the
corrected one.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from finsler import randers_distances
from finsler.data.matrix import as_dissimilarities
from finsler.geometry.scaling import Scaling
from finsler.solvers.nonmetric import scaled_smacof
from finsler.solvers.smacof import smacof

N, ALPHA = 40, 0.4
Distort = Callable[[np.ndarray, np.random.Generator], np.ndarray]

# Name, noise, and what becomes of the noisy distances.
LINES: list[tuple[str, float, Distort]] = [
    ("d", 0.1, lambda d, rng: d),
    ("d", 0.3, lambda d, rng: d),
    ("2 + d", 0.1, lambda d, rng: 2 + d),
    ("log(1 + 5 d)", 0.1, lambda d, rng: np.log(1 + 5 * d)),
    ("d^2", 0.1, lambda d, rng: d**2),
    ("d^2", 0.3, lambda d, rng: d**2),
    ("logistic", 0.1, lambda d, rng: 1 / (1 + np.exp(-4 * (d / np.median(d) - 1)))),
    ("1 - Binomial(200, exp(-.8 d))/200", 0.0, lambda d, rng: 1 - rng.binomial(200, np.exp(-0.8 * d)) / 200),
    (
        "c_i d^p_i by row",
        0.1,
        lambda d, rng: rng.uniform(0.5, 2, (len(d), 1)) * d ** rng.uniform(0.4, 2.5, (len(d), 1)),
    ),
]
METHODS: dict[str, Scaling | None] = {
    "metric": None,
    "interval": Scaling("interval"),
    "spline": Scaling("spline"),
    "ordinal": Scaling("ordinal"),
    "ordinal, row": Scaling("ordinal", conditional="row"),
}


def sample(noise: float, distort: Distort, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """True points, and data made from them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    d = randers_distances(X, drift=ALPHA) * np.exp(noise * rng.normal(size=(N, N)))
    D = distort(d, rng)
    np.fill_diagonal(D, 0)
    return X, D


def similarity(A: np.ndarray, B: np.ndarray) -> float:
    """Squared correlation of two maps after the best mirror of the other axis, the drift axis kept."""
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    s = np.linalg.svd(B[:, :-1].T @ A[:, :-1], compute_uv=False)
    c = s.sum() + A[:, -1] @ B[:, -1]
    return float(max(c, 0) ** 2 / ((A**2).sum() * (B**2).sum()))


def recover(X: np.ndarray, D: np.ndarray, scaling: Scaling | None) -> tuple[float, float, float]:
    """Similarity to the true map, alpha of least stress, and alpha."""
    data = as_dissimilarities(D)
    found = smacof(data, 2) if scaling is None else scaled_smacof(data, scaling, 2)
    least = None if found.scaled is None else found.scaled.alpha_least_stress
    return similarity(X, found.coordinates), found.alpha if least is None else least, found.alpha


def medians(line: int, name: str, runs: int = 10) -> tuple[float, float, float]:
    """Medians over several data sets of a line."""
    _, noise, distort = LINES[line]
    found = [recover(*sample(noise, distort, seed), METHODS[name]) for seed in range(runs)]
    return tuple(float(v) for v in np.median(found, axis=0))  # type: ignore[return-value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=10)
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    table = []
    print("| data | noise | " + " | ".join(METHODS) + " |\n|---|---|" + "---|" * len(METHODS))
    for k, (words, noise, _) in enumerate(LINES):
        row: dict[str, object] = {"data": words, "noise": noise}
        for name in METHODS:
            row[name] = medians(k, name, args.runs)
        table.append(row)
        cells = [
            f"{r:.3f} / {a:.2f}" + (f" -> {b:.2f}" if a != b else "")
            for r, a, b in (row[name] for name in METHODS)
        ]  # type: ignore[misc]
        print(f"| {words} | {noise} | " + " | ".join(cells) + " |", flush=True)
    if args.json:
        args.json.write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
