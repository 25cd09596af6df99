"""Shared oracles: slow, obvious versions of what the library computes fast."""

from __future__ import annotations

import signal
from pathlib import Path

import numpy as np
import pytest

# A shell starts background jobs with Ctrl-C ignored, and so would be the processes that the tests of Ctrl-C start.
signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


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


@pytest.fixture
def proximities():
    """Folder of real matrices, where the checkout has it."""
    folder = SHARED / "data" / "proximities"
    if not folder.is_dir():
        pytest.skip("the real matrices are not beside this checkout")
    return folder
