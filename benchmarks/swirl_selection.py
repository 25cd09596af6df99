"""How often swirl="auto" is right: false alarms on data without a swirl, and swirls found, by simulation.

Points are normal in the plane; distances are multiplied by noise of 5 or 15 %. Without a swirl the truth is symmetric or has
a constant drift, also with a third dimension that the map lacks. With one, kappa R is about .12.

    python benchmarks/swirl_selection.py [--runs 200]
"""

from __future__ import annotations

import argparse

import numpy as np

from finsler.data.matrix import as_dissimilarities
from finsler.geometry.randers import randers_distances
from finsler.solvers.smacof import smacof

N = 40
KAPPA_R = 0.12


def data(rng: np.random.Generator, alpha: float, swirl: bool, noise: float, hidden: bool) -> np.ndarray:
    """One table of the kind."""
    X = rng.normal(size=(N, 2))
    kappa = KAPPA_R / np.linalg.norm(X - X.mean(axis=0), axis=1).max() if swirl else 0.0
    D = randers_distances(X, drift=alpha, swirl=kappa)
    if hidden:  # a third dimension, half as wide, makes ways longer both ways
        z = 0.5 * rng.normal(size=N)
        S = (D + D.T) / 2
        D += np.sqrt(S**2 + (z[:, None] - z[None, :]) ** 2) - S
    D = D * np.maximum(rng.normal(1, noise, D.shape), 0.05)
    np.fill_diagonal(D, 0)
    return D


def share_with_swirl(runs: int, seed: int, **kind: float) -> tuple[float, dict[str, int]]:
    """Share of the tables for which "auto" takes a swirl, and its reasons."""
    rng = np.random.default_rng(seed)
    reasons: dict[str, int] = {}
    found = 0
    for _ in range(runs):
        choice = smacof(as_dissimilarities(data(rng, **kind)), 2, swirl="auto", verbose=False).swirl_choice
        assert choice is not None
        found += choice.chosen
        reasons[choice.reason] = reasons.get(choice.reason, 0) + 1
    return found / runs, reasons


def main() -> None:
    """Print a line for each kind of data."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=200)
    runs = parser.parse_args().runs
    for swirl in (False, True):
        for alpha in (0.0, 0.1):
            for noise in (0.05, 0.15):
                for hidden in (False, True):
                    kind = {"alpha": alpha, "swirl": swirl, "noise": noise, "hidden": hidden}
                    share, reasons = share_with_swirl(runs, 0, **kind)
                    told = ", ".join(f"{name} {value}" for name, value in reasons.items())
                    truth = "a swirl" if swirl else "no swirl"
                    more = ", a third dimension" if hidden else ""
                    print(
                        f"{truth}, alpha {alpha:g}, noise {noise:.0%}{more}: swirl in {share:.1%} ({told})",
                        flush=True,
                    )


if __name__ == "__main__":
    main()
