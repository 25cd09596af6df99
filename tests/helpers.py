"""Shared oracles: slow, obvious versions of what the library computes fast; and where test data are."""

from __future__ import annotations

import functools
import itertools
import os
import subprocess
import sys
import threading
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from finsler import Embedding, embed_matrix, randers_distances
from finsler.datasets import make_city
from finsler.geometry.swirl import swirl_matrix
from finsler.graphs.paths import shortest_paths

# Real data are not shipped: some are under the GPL, some for research only, some without a license. Every test on them
# is an extra beside one on generated data. They are looked for where FINSLER_TEST_DATA says, or beside the checkout.
REAL_DATA = Path(
    os.environ.get("FINSLER_TEST_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
)


def real_file(name):
    """Path of a file of real data, such as ``graphs/cora.npz``; the test is skipped without it."""
    path = REAL_DATA / name
    if not path.is_file():
        pytest.skip(
            f"extra check on real data: {name} is not shipped, for its license; see FINSLER_TEST_DATA"
        )
    return path


def confusions(n=36, seed=0):
    """Dissimilarities of signals that are not always taken for themselves: shares of "different", not 0 on the diagonal."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    far = randers_distances(X, drift=0.2)
    shares = 1 - np.exp(-far) * rng.uniform(0.9, 1, (n, n))
    return np.where(np.eye(n), rng.uniform(0.03, 0.17, n), shares).round(2)


def flows(n=33, zeros=0, seed=0):
    """Counts by a gravity model, larger towards higher places, some of them 0; and the places."""
    rng = np.random.default_rng(seed)
    X, mass = rng.uniform(size=(n, 2)), rng.uniform(30, 90, n)
    counts = np.ceil(np.outer(mass, mass) * np.exp(-4 * randers_distances(X, drift=-0.3)))
    np.fill_diagonal(counts, 0)
    far = np.argsort(counts.ravel(), kind="stable")[n : n + zeros]  # after the diagonal the smallest
    counts.ravel()[far] = 0
    return counts, X


def tour(n=171, seed=0):
    """Costs of a vehicle between stops of a city with one-way streets: whole numbers that obey the triangle inequality."""
    streets = make_city(2 * n, slope=0.1, random_state=seed)
    costs = shortest_paths(streets.graph, sources=np.arange(n))[:, :n]
    return np.round(10 * costs)  # lengths are 0.9, 1 and 1.1


def spiral(n=20, alpha=0.4, points=False):
    """Randers distances between points on a spiral, times what looks like noise; its square is the table Q20 of references.

    Or the points themselves.
    """
    i = np.arange(n)
    X = np.sqrt(i + 0.5)[:, None] * np.column_stack(
        [np.cos(2.399963229728653 * i), np.sin(2.399963229728653 * i)]
    )
    D = randers_distances(X, drift=alpha) * (1 + 0.2 * np.sin(7 * i[:, None] + 13 * i))
    return X if points else np.where(np.eye(n), 0.0, D)


def slow_distance(x, y, omega):
    return float(np.sqrt(sum((b - a) ** 2 for a, b in zip(x, y, strict=True)))) + sum(
        w * (b - a) for w, a, b in zip(omega, x, y, strict=True)
    )


def slow_stress(X, D, W, omega):
    total = 0.0
    for i in range(len(X)):
        for j in range(len(X)):
            w = 1.0 if W is None else W[i, j]
            if i != j and w > 0:
                d = slow_distance(X[i], X[j], omega)
                if D[i, j] >= 0:
                    total += w * (d - D[i, j]) ** 2
                elif d < -D[i, j]:  # a bound that the map falls short of
                    total += w * (d + D[i, j]) ** 2
    return total


def slow_gradient(X, D, W, omega):
    """Gradient of the stress by the coordinates; coincident points do not pull."""
    gradient = np.zeros_like(X)
    for i in range(len(X)):
        for j in range(len(X)):
            w = 1.0 if W is None else W[i, j]
            if i != j and w > 0:
                u, d = X[j] - X[i], slow_distance(X[i], X[j], omega)
                misfit = d - D[i, j] if D[i, j] >= 0 else min(d + D[i, j], 0.0)
                e = np.linalg.norm(u)
                pull = 2 * w * misfit * (u / (e if e > 0 else 1.0) + omega)
                gradient[j] += pull
                gradient[i] -= pull
    return gradient


def random_problem(seed, n=12, m=3, kind="uniform"):
    """Points, a drift, and data that no map fits, with weights of the given kind."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, m))
    D = rng.uniform(0.2, 3.0, size=(n, n))
    np.fill_diagonal(D, 0)
    W = {
        "uniform": None,
        "symmetric": (lambda w: w + w.T)(rng.uniform(0, 1, size=(n, n))),
        "asymmetric": rng.uniform(0.01, 1, size=(n, n)),
        "hinge": rng.uniform(0.5, 1, size=(n, n)),
        "missing": (rng.random((n, n)) < 0.6) * rng.uniform(0.5, 2, size=(n, n)),
    }[kind]
    if kind == "missing":  # a ring of known pairs keeps it in one piece
        W[np.arange(n), (np.arange(n) + 1) % n] = 1.0
        D = np.where(W > 0, D, np.nan)
        np.fill_diagonal(D, 0)
    if kind == "hinge":  # a third of the ordered pairs are only "at least this far"
        D = np.where(rng.random((n, n)) < 0.33, -D, D)
    if W is not None:
        np.fill_diagonal(W, 0)
    return X, D, W


def random_dissimilarities(n, seed, unknown=0.0, weighted=False):
    """Positive dissimilarities, some NaN, inf or of weight 0, and weights (or None)."""
    rng = np.random.default_rng(seed)
    D = rng.uniform(0.5, 2.0, (n, n))
    W = rng.uniform(0.1, 3.0, (n, n)) if weighted else None
    D[rng.random((n, n)) < unknown / 2] = np.nan
    D[rng.random((n, n)) < unknown / 4] = np.inf
    if W is not None:
        W[rng.random((n, n)) < unknown / 4] = 0.0
    np.fill_diagonal(D, 0.0)
    return D, W


def known_pairs(D, W):
    """Ordered pairs that are known, as a set, and their weights."""
    n = len(D)
    W = np.ones((n, n)) if W is None else W
    pairs = {p for p in itertools.permutations(range(n), 2) if np.isfinite(D[p]) and W[p] > 0}
    return pairs, W


def skew_equations(D, W):
    """Explicit weighted least squares for the heights: one row sqrt(c) (h_j - h_i) = sqrt(c) A_ij a pair.

    The weight comes from eliminating S numerically, not from the formula under test.
    """
    pairs, W = known_pairs(D, W)
    rows, values = [], []
    for i, j in sorted(pairs):
        if i < j and (j, i) in pairs:
            # Residual of min over S, at a = A + 1: (S + a - D_ij, S - a - D_ji) = (s + 1, s - 1).
            s = (W[j, i] - W[i, j]) / (W[i, j] + W[j, i])
            c = (W[i, j] * (s + 1) ** 2 + W[j, i] * (s - 1) ** 2) / 2
            row = np.zeros(len(D))
            row[j], row[i] = 1.0, -1.0
            rows.append(np.sqrt(c) * row)
            values.append(np.sqrt(c) * (D[i, j] - D[j, i]) / 2)
    return np.array(rows), np.array(values)


# A matrix with labels, as people write it.
SMALL = ",A,B,C,D\nA,0,3,4,5\nB,2,0,2,4\nC,4,3,0,2\nD,5,4,3,0\n"


@functools.cache
def runner():
    """A runner of commands that builds them once: typer would do so for each call, which took most of its time."""
    from typer import testing

    testing._get_command = functools.cache(testing._get_command)
    return testing.CliRunner()


def run(*args, input=None):
    from finsler.cli.app import app

    return runner().invoke(app, [str(arg) for arg in args], input=input)


def done(*args, input=None):
    """Run what must go well."""
    result = run(*args, input=input)
    assert result.exit_code == 0, (result.stderr, result.exception)
    return result


def mistake(*args, input=None):
    """Run what must end in one line about a mistake of the user, and give the line."""
    result = run(*args, input=input)
    assert result.exit_code == 2, (result.exit_code, result.stderr, result.exception)
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[-1].startswith("finsler: ")
    assert [line for line in lines if line.startswith("finsler: ")] == [lines[-1]]
    assert "Traceback" not in result.stderr
    return lines[-1].removeprefix("finsler: ")


def calls(function, *args, **options):
    """Run a function and count the calls of functions of the library, by module and name, in all threads."""
    counts = Counter()

    def count(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("finsler."):
            counts[f"{module}.{frame.f_code.co_qualname}"] += 1

    threading.setprofile(count)
    sys.setprofile(count)
    try:
        function(*args, **options)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return counts


def python(code, **options):
    """Run a program in a process of its own."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


def shell(*args, **options):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "finsler.cli.app", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600, **options)


# Maps and pictures to look at.

ODD_LABELS = ["$x_1$", "a_b", "<i>", "$", "_hidden", "50 % \\$", "", "two\nlines", "ü", "x" * 90]


def noisy_map(n=12, m=2, alpha=0.3, labels=None, noise=0.1, seed=0, **options):
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, m)), drift=alpha) * rng.uniform(1 - noise, 1 + noise, (n, n))
    return embed_matrix(D, n_components=m, alpha=alpha, labels=labels, **options)


def incomplete_map():
    """Pairs missing one way, missing both ways, and bounds."""
    rng = np.random.default_rng(1)
    D = randers_distances(rng.normal(size=(14, 2)), drift=0.3) * rng.uniform(0.9, 1.1, (14, 14))
    D[0, 1] = D[1, 0] = np.nan
    D[2, 3] = np.nan
    D[4, 5] = D[6, 7] = D[7, 6] = np.inf
    return embed_matrix(D, alpha=0.3, missing="hinge", weights=rng.uniform(0.5, 2, (14, 14)))


def settled(ax):
    np.ravel(ax)[0].figure.canvas.draw()
    return ax


def note_of(ax):
    return " ".join(text.get_text().replace("\n", " ") for text in ax.texts if text.get_gid() == "note")


def offsets(collection):
    return np.asarray(collection.get_offsets())


def sorted_rows(array):
    array = np.asarray(array, dtype=float)
    return array[np.lexsort(array.T)]


def made_map(X, alpha=0.3, labels=None, data=None, share=None):
    """A map with these coordinates, without a solver."""
    X = np.asarray(X, dtype=float)
    drift = np.zeros(X.shape[1])
    drift[-1] = alpha
    share = np.full(len(X), 1 / len(X)) if share is None else share
    return Embedding(X, drift, labels, 1.5, 0.1, share, 7, "converged", "It converged.", data)


def turning_map(m=2, kappa=0.2, center=0.0, beta=0.0, n=40, geodesic=False):
    """A map of points in a ball of radius 1 whose drift turns round a center on the first axis."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m))
    X *= rng.uniform(size=(n, 1)) ** (1 / m) / np.linalg.norm(X, axis=1, keepdims=True)
    K = swirl_matrix(kappa, 2)
    if m == 3:
        K = np.zeros((3, 3))
        K[:2, :2] = swirl_matrix(kappa, 2)
    at = np.zeros(m)
    at[0] = center
    drift = -K @ at
    drift[-1] += beta
    labels = [f"p{i}" for i in range(n)]
    return replace(made_map(X, 0.0, labels=labels), drift=drift, swirl=K, geodesic=geodesic)
