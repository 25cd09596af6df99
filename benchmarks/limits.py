"""What this machine can do at most: multiply-adds, roots and bytes per second, measured by small loops.

    python benchmarks/limits.py

The loops of arithmetic work on numbers that stay in the first-level cache; one thread, and all threads side by side.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

from finsler._runtime import cpu_count, map_blocks
from finsler.kernels import OPTIONS

FAST = {**OPTIONS, "cache": False}
LANES, ROUNDS = 1024, 2000
# Of a pair in three dimensions, as the kernels compute it: floating-point operations (a multiply-add is two), in double
# precision without root and division.
OPERATIONS = {"single": 28, "double": 24, "weights": 40}


@njit(**{**FAST, "fastmath": {"contract"}})
def multiply_add(values, rounds):
    """Sixteen multiply-adds in a row for each number, 32 operations a round; many numbers are on their way at a time."""
    factor, more = values[0], values[1]
    for _ in range(rounds):
        for j in range(len(values)):
            a = values[j]
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            a = a * factor + more
            values[j] = a * factor + more


@njit(**FAST)
def reciprocal_roots(values, rounds):
    """``1/sqrt`` of each number, as the pass in single precision needs it."""
    one = values[0] / values[0]
    for _ in range(rounds):
        for j in range(len(values)):
            values[j] = one / np.sqrt(values[j])


@njit(**FAST)
def roots_and_half_a_division(values, others, rounds):
    """A root of each of two numbers, and one division for both, as the pass in double precision needs it."""
    for _ in range(rounds):
        for j in range(len(values)):
            a, b = np.sqrt(values[j]), np.sqrt(others[j])
            c = 1.0 / (a * b)
            values[j], others[j] = b * c + 1.0, a * c + 1.0


@njit(**{**FAST, "fastmath": True})
def sum_of_four(a, b, c, d):
    """Sum of four arrays that are read side by side, as the pass with weights reads its four."""
    total = 0.0
    for j in range(len(a)):
        total += (a[j] + b[j]) + (c[j] + d[j])
    return total


def _seconds(task: Callable[[], Any], threads: int, repeat: int = 3) -> float:
    """Least time in which each of some threads does a task."""
    task()
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        map_blocks(lambda *_: task(), range(threads + 1), threads)
        times.append(time.perf_counter() - began)
    return min(times)


def limits(threads: int) -> dict[str, float]:
    """Of all threads together: operations and roots per second in both precisions, and bytes read per second."""
    found = {}
    for name, dtype in (("single", np.float32), ("double", np.float64)):

        def ones(dtype: Any = dtype) -> np.ndarray:
            return np.linspace(0.5, 0.9, LANES).astype(dtype)

        seconds = _seconds(lambda ones=ones: multiply_add(ones(), ROUNDS), threads)
        found[f"{name}_operations"] = threads * 32.0 * LANES * ROUNDS / seconds
    seconds = _seconds(
        lambda: reciprocal_roots(np.linspace(0.5, 2, LANES, dtype=np.float32), ROUNDS), threads
    )
    found["single_roots"] = threads * LANES * ROUNDS / seconds
    seconds = _seconds(
        lambda: roots_and_half_a_division(np.linspace(0.5, 2, LANES), np.linspace(0.5, 2, LANES), ROUNDS),
        threads,
    )
    found["double_roots"] = threads * 2.0 * LANES * ROUNDS / seconds
    found["bandwidth"] = bandwidth(threads)
    return found


def bandwidth(threads: int) -> float:
    """Bytes per second that the cores can read, from sums over 400 MB: of one array at a time or of four, as is quicker."""
    parts = np.array_split(np.ones(50_000_000), threads * 4)
    quarters = [part[: len(part) // 4 * 4].reshape(4, -1) for part in parts]
    sum_of_four(*quarters[0])  # compiles
    times = []
    for task in (lambda b, *_: parts[b].sum(), lambda b, *_: sum_of_four(*quarters[b])):
        for _ in range(8):
            began = time.perf_counter()
            map_blocks(task, range(len(parts) + 1), threads)
            times.append(time.perf_counter() - began)
    return 4e8 / min(times)


def seconds_a_pair(limit: dict[str, float], kind: str) -> float:
    """Least time of a pair of a pass: its operations, or its root, whichever takes longer."""
    precision = "single" if kind == "single" else "double"
    return max(OPERATIONS[kind] / limit[f"{precision}_operations"], 1 / limit[f"{precision}_roots"])


if __name__ == "__main__":
    print(json.dumps({threads: limits(threads) for threads in sorted({1, cpu_count()})}, indent=1))
