"""Maps with a swirl beside canonical ones: normalized stress, fitted and on held-out pairs.

    FINSLER_DATA=folder python benchmarks/swirl_numbers.py [--held-out] [NAME ...]

Flights in real winds are downloaded, or read from FINSLER_DATA. Tables of dissimilarities can be given as CSV files by name.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.similarities import dissimilarities_from
from finsler.data.tables import read_table
from finsler.datasets import fetch_flight_hours, load_flight_hours, make_gyre, make_ring_road
from finsler.geometry.randers import randers_distances
from finsler.solvers.smacof import smacof

MADE = {
    "flights": lambda: load_flight_hours().hours,
    "january": lambda: fetch_flight_hours("january", region="world").hours,
    "july": lambda: fetch_flight_hours("july", region="world").hours,
    "gyre": lambda: make_gyre().times,
    "ring": lambda: make_ring_road().costs,
}
FOLDS, TRIED = 10, 4


def data_of(name: str) -> Any:
    """Table by its name, or from a file; counts by the gravity transform."""
    if name in MADE:
        return as_dissimilarities(MADE[name]())
    table = read_table(name, kind="matrix")
    if "erasmus" in name:
        return as_dissimilarities(dissimilarities_from(table.values, transform="gravity"), missing="mask")
    return as_dissimilarities(table.values, missing="mask", diagonal="ignore")


def held_out(data: Dissimilarities, m: int, swirl: bool | str) -> float:
    """Normalized stress on pairs, both ways, that the map was not fitted to."""
    n, rng = data.n_points, np.random.default_rng(0)
    fold = np.triu(rng.integers(FOLDS, size=(n, n)), 1)
    fold = fold + fold.T
    missed = total = 0.0
    known = ~np.eye(n, dtype=bool) if data.weights is None else data.weights > 0
    for k in range(TRIED):
        out = (fold == k) & known
        W = np.where(out, 0.0, known.astype(float))
        found = smacof(Dissimilarities(data.matrix, W), m, swirl=swirl, verbose=False)
        d = randers_distances(
            found.coordinates, drift=found.drift, swirl=found.swirl, geodesic=found.geodesic
        )
        missed += float(((d - data.matrix)[out] ** 2).sum())
        total += float((data.matrix[out] ** 2).sum())
    return float(np.sqrt(missed / total))


def main() -> None:
    """Print a line for each table and dimension."""
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", default=list(MADE))
    parser.add_argument("--held-out", action="store_true")
    options = parser.parse_args()
    for name in options.names:
        data = data_of(name)
        for m in (2, 3):
            texts = []
            for swirl in (False, True, "geodesic") if m == 2 else (False, True):
                if options.held_out:
                    texts.append(f"{held_out(data, m, swirl):.4f}")
                else:
                    found = smacof(data, m, swirl=swirl, verbose=False)
                    texts.append(f"{found.normalized_stress:.4f}")
            auto = (
                ""
                if options.held_out
                else f"; auto: {smacof(data, m, swirl='auto', verbose=False).swirl_choice}"
            )
            print(f"{name} ({data.n_points}), m = {m}: {' '.join(texts)}{auto}", flush=True)


if __name__ == "__main__":
    main()
