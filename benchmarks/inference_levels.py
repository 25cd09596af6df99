"""Do the tests of `finsler.inference` keep their level, and do the ellipses cover what they claim? By simulation.

    python benchmarks/inference_levels.py                      run what is missing, for five minutes
    python benchmarks/inference_levels.py --minutes 60         longer
    python benchmarks/inference_levels.py --only ellipses      some of the cases
    python benchmarks/inference_levels.py --table              print the table only

Results are in `inference_levels.json` beside this file, counted as data sets are done, so that a run goes on where the last
one stopped; each data set has its own seed. The table goes into `docs/inference.md`. A test at 5 % should reject 3 to 7 % of
data sets without what it looks for; a 95 % ellipse should hold 90 to 98 % of the true places; the choice of a model should
be right in 90 %.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from finsler import __version__, embed_matrix, randers_distances
from finsler._io import write_atomically
from finsler.data.matrix import as_dissimilarities
from finsler.geometry.noise import SkewPairs, heights_null
from finsler.geometry.pairs import Pairs, survey
from finsler.inference import (
    asymmetry_test,
    bootstrap,
    bootstrap_counts,
    confidence,
    cross_validate,
)
from finsler.inference.alignment import best_motion, protest
from finsler.inference.asymmetry import drift_null, symmetric_map
from finsler.inference.fit import exchanged, fitted_stress, starts_of_a_test
from finsler.inference.results import checked

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "inference_levels.json"
PAGE = HERE.parent / "docs" / "inference.md"
BEGIN, END = "<!-- begin: made by benchmarks/inference_levels.py -->", "<!-- end -->"

Outcome = dict[str, list[float]]  # by name: [hits, trials]


WORDS = {
    "additive": "additive errors of 0.2",
    "0.1": "errors of 10 %",
    "0.3": "errors of 30 %",
    "correlated": "errors of 10 %, alike both ways",
}


def noisy(d: np.ndarray, kind: str, rng: np.random.Generator) -> np.ndarray:
    """Distances with errors: t3 (heavy tails, growing with distance), additive, multiplicative, or alike both ways."""
    if kind == "t3":
        out = d * (1 + 0.15 * rng.standard_t(3, size=d.shape))
    elif kind == "additive":
        out = d + 0.2 * rng.normal(size=d.shape)
    elif kind == "correlated":
        one = rng.normal(size=d.shape)
        both = np.triu(one, 1) + np.triu(one, 1).T
        out = d * np.exp(0.1 * (np.sqrt(0.7) * both + np.sqrt(0.3) * rng.normal(size=d.shape)))
    else:
        out = d * rng.lognormal(mean=-(float(kind) ** 2) / 2, sigma=float(kind), size=d.shape)  # of mean 1
    return np.where(np.eye(len(d)), 0.0, np.abs(out))


def rejected(p: float) -> list[float]:
    """Whether a test at 5 % rejects, as hits and trials."""
    return [float(p <= 0.05), 1.0]


def heights(n: int, rng: np.random.Generator) -> Outcome:
    D = noisy(randers_distances(rng.normal(size=(n, 2)), drift=0.0), "t3", rng)
    pairs = Pairs.of(D)  # the pieces of asymmetry_test, without that of circles, which takes most of its time
    up = heights_null(pairs, survey(pairs), 0.0, n_flips=99)
    drift = drift_null(SkewPairs.of(pairs), symmetric_map(as_dissimilarities(D), 2), 99, 0)
    return {"heights": rejected(up.p), "drift": rejected(drift.p)}


def circles(n: int, rng: np.random.Generator) -> Outcome:
    D = noisy(randers_distances(rng.normal(size=(n, 2)), drift=0.4), "0.2", rng)
    return {"circles": rejected(asymmetry_test(D, n_flips=99).circles.p_value)}


def counts(n: int, rng: np.random.Generator) -> Outcome:
    mean = np.exp(rng.normal(scale=0.3, size=(n, n)))
    rate = rng.uniform(3, 10) * (mean + mean.T) / 2
    even = asymmetry_test(counts=rng.poisson(rate)).counts
    h = rng.normal(scale=0.3, size=n)
    sloped = asymmetry_test(counts=rng.poisson(rate * np.exp(h[:, None] - h))).counts
    return {
        "symmetry": rejected(even.symmetry.p_value),
        "heights": rejected(even.heights.p_value),
        "circles": rejected(sloped.circles.p_value),
    }


def replicates(k: int, rng: np.random.Generator) -> Outcome:
    d = randers_distances(rng.normal(size=(10, 2)), drift=0.0)
    found = asymmetry_test(replicates=[noisy(d, "0.2", rng) for _ in range(k)], n_flips=99)
    slope = randers_distances(rng.normal(size=(10, 2)), drift=0.3)
    rest = asymmetry_test(replicates=[noisy(slope, "additive", rng) for _ in range(k)], n_flips=99)
    return {"any": rejected(found.replicates.p_value), "circles": rejected(rest.replicated_circles.p_value)}


def better_than_chance(D: np.ndarray, seed: int) -> bool:
    """Whether `fit_test` with 19 exchanges rejects at 5 %: the same maps, up to the first that fits as well."""
    data = checked(D, None, what="fit_test")
    tables = exchanged(data, np.random.default_rng(seed))
    given = {"n_init": starts_of_a_test(2)}
    observed = fitted_stress(data, 2, 0.3, given)
    return all(fitted_stress(next(tables), 2, 0.3, given) > observed + 1e-12 for _ in range(19))


def fit(n: int, rng: np.random.Generator) -> Outcome:
    one = rng.uniform(1, 2, size=(n, n))
    D = np.where(np.eye(n), 0.0, np.triu(one, 1) + np.triu(one, 1).T + 0.3 * rng.uniform(size=(n, n)))
    true = noisy(randers_distances(rng.normal(size=(n, 2)), drift=0.3), "0.5", rng)
    seeds = rng.integers(2**31, size=2).tolist()
    found = {"level": [float(better_than_chance(D, seeds[0])), 1.0]}
    if seeds[1] % 5 == 0:  # power has no bar: a few data sets tell it
        found["power"] = [float(better_than_chance(true, seeds[1])), 1.0]
    return found


def maps(n: int, rng: np.random.Generator) -> Outcome:
    found = {}
    for m in (1, 2, 3):
        A, B = rng.normal(size=(2, n, m))
        for drift in ("kept", "free"):
            p = protest(A, B, drift, 199, int(rng.integers(2**31))).p_value
            found[f"{drift}, {m} dimension{'s' * (m > 1)}"] = rejected(p)
    return found


def ellipses(n: int, rng: np.random.Generator) -> Outcome:
    found: Outcome = {}
    for alpha in (0.1, 0.4):
        X = rng.normal(size=(n, 2))
        for kind in ("additive", "0.1", "0.3", "correlated"):
            result = embed_matrix(noisy(randers_distances(X, drift=alpha), kind, rng), verbose=False)
            held = confidence(result)
            covered = held.covers(best_motion(result.coordinates, X, free=True, scaled=False)(X))
            found[f"{WORDS[kind]}, alpha {alpha}"] = [float(covered.sum()), float(n)]
            if held.alpha_se is not None:
                close = abs(result.alpha - alpha) <= 1.96 * held.alpha_se
                pooled = found.setdefault(f"alpha {alpha} ± 1.96 se", [0.0, 0.0])
                pooled[0], pooled[1] = pooled[0] + close, pooled[1] + 1.0
    return found


def resampled(k: int, rng: np.random.Generator) -> Outcome:
    X = rng.normal(size=(10, 2))
    d = randers_distances(X, drift=0.3)
    held = bootstrap([noisy(d, "0.3", rng) for _ in range(k)], n_draws=100)
    covered = held.covers(best_motion(held.embedding.coordinates, X, free=True)(X))
    return {"ellipses": [float(covered.sum()), 10.0]}


def counted(total: int, rng: np.random.Generator) -> Outcome:
    X = rng.normal(size=(10, 2))
    shares = np.exp(-randers_distances(X, drift=0.2))
    np.fill_diagonal(shares, 0.0)
    shares /= shares.sum(axis=1, keepdims=True)
    table = np.array([rng.multinomial(total, row) for row in shares])
    held = bootstrap_counts(table, n_draws=100)
    exact = embed_matrix(np.where(np.eye(10), 0.0, -np.log(np.where(np.eye(10), 1.0, shares))), verbose=False)
    place = best_motion(held.embedding.coordinates, exact.coordinates, free=True)(exact.coordinates)
    return {"ellipses": [float(held.covers(place).sum()), 10.0]}


def choice(n: int, rng: np.random.Generator) -> Outcome:
    found = {}
    for m, alpha in ((1, 0.3), (2, 0.0), (2, 0.3)):
        D = noisy(randers_distances(rng.normal(size=(n, m)), drift=alpha), "0.2", rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chosen = cross_validate(D, dims=(1, 2, 3))
        right = (m, "randers" if alpha else "symmetric") == chosen.table[chosen.chosen][:2]
        found[f"{m} dimension{'s' * (m > 1)}, alpha {alpha}"] = [float(right), 1.0]
    return found


# Name: what one data set does, the sizes, how many data sets of each, what is shown, and the bar.
CASES: dict[str, tuple[Callable[[int, np.random.Generator], Outcome], tuple[int, ...], int, str, tuple[float, float]]] = {
    "heights": (heights, (8, 20, 50), 1000, "`asymmetry_test`: noise only, heavy tails; N", (0.03, 0.07)),
    "circles": (circles, (8, 20, 50), 1000, "`asymmetry_test`: heights and noise, no circles; N", (0.01, 0.07)),
    "counts": (counts, (6, 12), 1000, "`asymmetry_test(counts=)`: Poisson counts of about 3 to 10; N", (0.03, 0.07)),
    "replicates": (replicates, (8, 20), 1000, "`asymmetry_test(replicates=)`: 10 points; K", (0.03, 0.07)),
    "maps": (maps, (8, 20, 50), 1000, "`compare_maps`: unrelated maps; N", (0.03, 0.07)),
    "fit": (fit, (8, 10), 1000, "`fit_test`: directions alike, no map; N", (0.03, 0.07)),
    "ellipses": (ellipses, (8, 12, 25, 50), 400, "`confidence`: 95 % ellipses; N", (0.9, 0.98)),
    "resampled": (resampled, (5, 8, 20), 200, "`bootstrap`: 95 % ellipses; K", (0.9, 0.98)),
    "counted": (counted, (200, 1000), 200, "`bootstrap_counts`: 95 % ellipses; counts in a row", (0.9, 0.98)),
    "choice": (choice, (25,), 200, "`cross_validate`: truth chosen; N", (0.9, 1.0)),
}  # fmt: skip


def load() -> dict[str, dict[str, Any]]:
    return json.loads(RESULTS.read_text())["results"] if RESULTS.exists() else {}


def save(results: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({"finsler": __version__, "results": results}, indent=1) + "\n"
    write_atomically(RESULTS, lambda file: file.write(text.encode()) and None)


def run(minutes: float, only: list[str]) -> None:
    """Run data sets that are missing until the time is over, all cases in turn."""
    results, deadline = load(), time.monotonic() + 60 * minutes
    tasks = [(name, size) for name in only or CASES for size in CASES[name][1]]
    saved = time.monotonic()
    while tasks:
        for name, size in list(tasks):
            one, _, wanted, *_ = CASES[name]
            case = results.setdefault(name, {}).setdefault(str(size), {"datasets": 0, "found": {}})
            turn = time.monotonic() + 5  # so that the fast ones are done first
            while case["datasets"] < wanted and time.monotonic() < turn:
                seed = [list(CASES).index(name), size, case["datasets"]]
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    outcome = one(size, np.random.default_rng(seed))
                for what, (hits, trials) in outcome.items():
                    total = case["found"].setdefault(what, [0.0, 0.0])
                    total[0], total[1] = total[0] + hits, total[1] + trials
                case["datasets"] += 1
            if case["datasets"] >= wanted:
                tasks.remove((name, size))
            if time.monotonic() - saved > 20:
                save(results)
                saved = time.monotonic()
            if time.monotonic() > deadline:
                save(results)
                return
    save(results)


def table(results: dict[str, dict[str, Any]]) -> str:
    """Results as Markdown, a line per question; what misses its bar by more than two standard errors is marked."""
    lines = ["| what | question | found | bar | data sets |", "|---|---|---|---|---:|"]
    for name, (_, sizes, _, text, bar) in CASES.items():
        cases = {size: results.get(name, {}).get(str(size)) for size in sizes}
        done = {size: case for size, case in cases.items() if case is not None}
        for what in dict.fromkeys(what for case in done.values() for what in case["found"]):
            low, high = (0.0, 1.0) if what == "power" else (0.9, 1.0) if what.startswith("alpha") else bar
            cells = []
            for size, case in done.items():
                hits, trials = case["found"][what]
                share = hits / trials
                error = 2 * np.sqrt(max(share * (1 - share), 0.01) / case["datasets"])
                fine = low - error <= share <= high + error
                cells.append(
                    f"{size}: {100 * share:.1f} %" + "" if fine else f"{size}: **{100 * share:.1f} %**"
                )
            shown = "" if what == "power" else f"{100 * low:g} to {100 * high:g} %"
            tried = {
                size: case["found"][what][1] if what == "power" else case["datasets"]
                for size, case in done.items()
            }
            sets = ", ".join(f"{size}: {number:,.0f}" for size, number in tried.items())
            if len(set(tried.values())) == 1:
                sets = f"{next(iter(tried.values())):,.0f}"
            lines.append(f"| {text} | {what} | {', '.join(cells)} | {shown} | {sets} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--only", nargs="*", default=[], choices=list(CASES), metavar="CASE")
    parser.add_argument("--table", action="store_true", help="do not run anything")
    given = parser.parse_args()
    if not given.table:
        with threadpool_limits(1):
            run(given.minutes, given.only)
    made = table(load())
    print(made)
    if PAGE.exists() and BEGIN in PAGE.read_text():
        before, rest = PAGE.read_text().split(BEGIN)
        page = f"{before}{BEGIN}\n\n{made}\n\n{END}{rest.split(END)[1]}"
        write_atomically(PAGE, lambda file: file.write(page.encode()) and None)
