"""Shared oracles: slow, obvious versions of what the library computes fast; and where test data are."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

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


# A matrix with labels, as people write it.
SMALL = ",A,B,C,D\nA,0,3,4,5\nB,2,0,2,4\nC,4,3,0,2\nD,5,4,3,0\n"


def run(*args, input=None):
    from typer.testing import CliRunner

    from finsler.cli.app import app

    return CliRunner().invoke(app, [str(arg) for arg in args], input=input)


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


def shell(*args, **options):
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "finsler.cli", *map(str, args)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
