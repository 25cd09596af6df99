"""How often does the default end at the best map? 800 small problems against 50 starts of an independent optimizer.

    python benchmarks/global_minimum.py                  # the default against what is known, a minute
    python benchmarks/global_minimum.py --oracle 300     # go on with the 50 starts for 300 seconds; repeat until done
    python benchmarks/global_minimum.py --tables         # whole tables, too
    python benchmarks/global_minimum.py --times          # seconds of the default at 20, 100 and 500 points, nothing else

A problem is drawn by its number: 6 to 15 points, one to three dimensions, a drift of 0.2 or a fitted one, weights of every
kind, and data that are a noisy Randers map, random numbers, or a subset of a real table: the shipped flight hours, streets
of a made-up city and, where FINSLER_TEST_DATA names a folder with ``proximities/*.csv``, those. The best known map is the
least of 50 random starts of SciPy's L-BFGS on the stress itself, written here anew, and of our own. What the starts found is
kept in ``global_minimum_oracle.json``, what came out in ``global_minimum.json``.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

import numpy as np
from numba import njit
from scipy.optimize import minimize
from scipy.sparse.csgraph import connected_components

from finsler import randers_distances
from finsler.data.matrix import Dissimilarities
from finsler.data.similarities import dissimilarities_from
from finsler.data.tables import read_table
from finsler.datasets import load_flight_hours, make_city
from finsler.graphs.digraph import as_digraph
from finsler.graphs.distances import graph_distances
from finsler.solvers.smacof import smacof

HERE = Path(__file__).parent
KINDS = ("noisy Randers", "random", "real")
WEIGHTS = ("uniform", "symmetric", "asymmetric", "missing", "hinge")
DISSIMILARITIES = (
    "morse",
    "atsp_ftv170",
    "road_friedrichshain",
    "english_towns",
)  # the other tables hold counts
STARTS = 50


def tables() -> dict[str, np.ndarray]:
    """Real tables, NaN where nothing is known: the shipped one, one from a made-up city, and those of a folder."""
    found = {"flight hours": np.array(load_flight_hours().hours, dtype=float)}
    found["city"] = np.array(graph_distances(as_digraph(make_city(60).graph)).matrix, dtype=float)
    folder = Path(os.environ.get("FINSLER_TEST_DATA", "none")) / "proximities"
    for path in sorted(folder.glob("*.csv")):
        D = np.array(read_table(path, kind="matrix").values, dtype=float)
        if path.stem not in DISSIMILARITIES:
            lonely = (
                D.sum(axis=0) * D.sum(axis=1) == 0
            ).any()  # nothing goes there, or nothing comes from there
            D = dissimilarities_from(D, zeros="pseudocount" if lonely else "missing")
        np.fill_diagonal(D, 0)
        found[path.stem] = D
    return found


def problem(number: int, real: dict[str, np.ndarray]) -> dict:
    """Draw a problem by its number."""
    rng = np.random.default_rng(number)
    n, m = int(rng.integers(6, 16)), int(rng.integers(1, 4))
    kind, weights = KINDS[number % 3], WEIGHTS[number // 3 % 5]
    alpha = ("auto", 0.2)[number // 15 % 2]
    table = ""
    if kind == "real":
        table = sorted(real)[int(rng.integers(len(real)))]
        D = subset(real[table], n, rng)
        n = len(D)
    elif kind == "random":
        D = rng.uniform(0.2, 3.0, (n, n))
    else:
        D = randers_distances(rng.normal(size=(n, m)), drift=float(rng.uniform(0, 0.7)))
        D = D * rng.uniform(0.8, 1.2, D.shape)
    np.fill_diagonal(D, 0)
    W = np.ones((n, n))
    if weights == "symmetric":
        W = rng.uniform(0.1, 1, (n, n))
        W = W + W.T
    elif weights == "asymmetric":
        W = rng.uniform(0.01, 1, (n, n))
    elif weights == "missing":
        W = (rng.random((n, n)) < 0.7).astype(float)
    elif weights == "hinge":  # a fifth of the pairs are only "at least so far"
        D = np.where(rng.random((n, n)) < 0.2, -D, D)
    W[~np.isfinite(D)] = 0.0
    if not connected(W):
        W = np.isfinite(D).astype(float)
    np.fill_diagonal(W, 0)
    D = np.where(W > 0, D, 0.0)
    facts = {"kind": kind, "weights": weights, "m": m, "n": n, "alpha": alpha, "table": table}
    return {**facts, "D": D, "W": W}


def subset(D: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """Some points of a table whose known pairs hold together."""
    for _ in range(200):
        chosen = rng.choice(len(D), min(n, len(D)), replace=False)
        part = D[np.ix_(chosen, chosen)].copy()
        if connected(np.isfinite(part)):
            return part
    raise ValueError("no part of the table holds together")


def connected(known: np.ndarray) -> bool:
    """Whether the pairs that are known join all points."""
    return connected_components(known > 0, directed=False, return_labels=False) == 1


@njit(cache=True)
def stress_and_gradient(X, omega, D, W):
    """Stress from its definition, and its gradients with respect to points and drift."""
    n, m = X.shape
    value, by_X, by_omega = 0.0, np.zeros((n, m)), np.zeros(m)
    u = np.empty(m)
    for i in range(n):
        for j in range(n):
            if W[i, j] > 0.0:
                square, along = 1e-200, 0.0
                for a in range(m):
                    u[a] = X[j, a] - X[i, a]
                    square += u[a] * u[a]
                    along += omega[a] * u[a]
                e = np.sqrt(square)
                r = e + along - abs(D[i, j])
                if D[i, j] < 0.0 and r > 0.0:
                    continue
                value += W[i, j] * r * r
                c = 2.0 * W[i, j] * r
                for a in range(m):
                    g = c * (u[a] / e + omega[a])
                    by_X[j, a] += g
                    by_X[i, a] -= g
                    by_omega[a] += c * u[a]
    return value, by_X, by_omega


def objective(z: np.ndarray, D: np.ndarray, W: np.ndarray, m: int, alpha: float | str):
    """Stress as L-BFGS sees it; a fitted drift is kept below 1 by ``omega = v / sqrt(1 + v.v)``."""
    n = len(D)
    X, v = z[: n * m].reshape(n, m), z[n * m :]
    if alpha != "auto":
        value, by_X, _ = stress_and_gradient(X, np.eye(m)[-1] * alpha, D, W)
        return value, by_X.ravel()
    root = np.sqrt(1 + v @ v)
    omega = v / root
    value, by_X, by_omega = stress_and_gradient(X, omega, D, W)
    return value, np.concatenate([by_X.ravel(), by_omega / root - omega * (omega @ by_omega) / root])


def independent(case: dict, seed: int) -> float:
    """Least stress of random starts of L-BFGS."""
    rng = np.random.default_rng([seed, 1])
    n, m = case["n"], case["m"]
    unit = np.abs(case["D"]).max()
    D, W = case["D"] / unit, case["W"] / case["W"].max()
    size = np.sqrt((W * D**2).sum() / W.sum() / (2 * m))
    best = np.inf
    for _ in range(STARTS):
        z = rng.normal(size=n * m) * size
        if case["alpha"] == "auto":
            z = np.concatenate([z, rng.normal(size=m) * 0.3])
        options = {"maxiter": 1500, "maxfun": 3000, "ftol": 1e-11, "gtol": 1e-7}
        found = minimize(
            objective, z, args=(D, W, m, case["alpha"]), jac=True, method="L-BFGS-B", options=options
        )
        best = min(best, float(found.fun))
    return best * unit**2 * float(case["W"].max())


def known(path: Path) -> dict[str, float]:
    """What the starts of the independent optimizer found so far, by problem."""
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def consult(count: int, real: dict[str, np.ndarray], path: Path, seconds: float) -> None:
    """Go on with the starts of the independent optimizer for a while; what was found before is not done again."""
    found, end = known(path), time.perf_counter() + seconds
    for number in range(count):
        if str(number) not in found and time.perf_counter() < end:
            found[str(number)] = independent(problem(number, real), number)
            if number % 10 == 9:
                path.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    path.write_text(json.dumps(found, indent=0) + "\n", encoding="utf-8")
    print(f"{len(found)} of {count} problems have their {STARTS} starts.")


def study(count: int, real: dict[str, np.ndarray], path: Path, options: dict) -> list[dict]:
    """Default against the best known, for each problem whose starts are done."""
    rows = []
    for number, best in sorted((int(k), v) for k, v in known(path).items()):
        if number >= count:
            continue
        case = problem(number, real)
        data = Dissimilarities(case["D"], None if (case["W"] + np.eye(case["n"]) == 1).all() and
                               (case["D"] >= 0).all() else case["W"])  # fmt: skip
        began = time.perf_counter()
        ours = smacof(data, case["m"], case["alpha"], **options)
        seconds = time.perf_counter() - began
        nothing = 1e-9 * ours.total
        above = max(ours.stress, nothing) / max(min(best, ours.stress), nothing) - 1
        facts = {k: case[k] for k in ("kind", "weights", "m", "n", "alpha", "table")}
        rows.append({"number": number, **facts, "above": above, "source": ours.alpha_source, "seconds": seconds,
                     "starts": getattr(ours, "n_starts", 1), "below": ours.stress / max(best, nothing) - 1})  # fmt: skip
    return rows


def shares(rows: list[dict]) -> dict:
    """Share within 1 % of the best known, and more than 5 % above it."""
    above = np.array([row["above"] for row in rows])
    return {
        "problems": len(rows),
        "within 1 %": round(float((above <= 0.01).mean()), 4),
        "over 5 %": round(float((above > 0.05).mean()), 4),
    }


def whole_tables(real: dict[str, np.ndarray]) -> list[dict]:
    """Default on whole tables of up to 200 points against 50 random starts of our own solver."""
    rows = []
    for name, D in real.items():
        W = np.isfinite(D).astype(float)
        np.fill_diagonal(W, 0)
        if not connected(W):
            continue
        complete = np.isfinite(D).all()
        data = Dissimilarities(np.where(np.isfinite(D), D, 0.0), None if complete else W)
        for m in (2, 3):
            for alpha in ("auto", 0.2):
                ours = smacof(data, m, alpha)
                best = smacof(data, m, alpha, init="random", n_init=STARTS, random_state=1).stress
                above = max(ours.stress / min(best, ours.stress) - 1, 0.0)
                rows.append({"table": name, "n": len(D), "m": m, "alpha": alpha, "above": round(above, 5),
                             "below": round(1 - ours.stress / best, 5)})  # fmt: skip
                print(rows[-1], flush=True)
    return rows


def times() -> dict[str, dict[str, float]]:
    """Seconds of the default, median of seven, at three sizes: noisy Randers data, and random numbers."""
    found: dict[str, dict[str, float]] = {}
    for n in (20, 100, 500):
        rng = np.random.default_rng(n)
        noisy = randers_distances(rng.normal(size=(n, 3)), drift=0.3) * rng.uniform(0.8, 1.2, (n, n))
        chance = rng.uniform(0.2, 3.0, (n, n))
        for name, D in (("noisy", noisy), ("random", chance)):
            np.fill_diagonal(D, 0)
            for alpha in ("auto", 0.2):
                spent = []
                for _ in range(8):
                    began = time.perf_counter()
                    smacof(Dissimilarities(D), 2, alpha)
                    spent.append(time.perf_counter() - began)
                found.setdefault(str(n), {})[f"{name}, alpha {alpha}"] = round(float(np.median(spent[1:])), 4)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--problems", type=int, default=800)
    parser.add_argument("--oracle", type=float, metavar="SECONDS")
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--n-init", type=int, help="instead of the default")
    parser.add_argument("--cache", type=Path, default=HERE / "global_minimum_oracle.json")
    parser.add_argument("--json", type=Path, default=HERE / "global_minimum.json")
    parser.add_argument("--rows", type=Path, help="where to write each problem")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.times:
        print(json.dumps(times(), indent=1))
        return
    real = tables()
    if given.oracle is not None:
        consult(given.problems, real, given.cache, given.oracle)
        return
    options = {} if given.n_init is None else {"n_init": given.n_init}
    rows = study(given.problems, real, given.cache, options)
    record: dict = {
        "tables": sorted(real),
        "all": shares(rows),
        "m >= 2": shares([r for r in rows if r["m"] >= 2]),
    }
    for name in ("kind", "weights", "m", "alpha"):
        for value in sorted({r[name] for r in rows}, key=str):
            record[f"{name} = {value}"] = shares([r for r in rows if r[name] == value])
    record["median seconds"] = round(float(np.median([row["seconds"] for row in rows])), 4)
    if given.tables:
        record["seconds of the default"] = times()
        record["whole tables"] = whole_tables(real)
    print(json.dumps(record, indent=1))
    if given.rows:
        given.rows.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    if given.n_init is None:
        given.json.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
