"""Tests of counts (confusions, moves): do the directions differ by more than chance, by heights, and in circles?

Given ``n_ij + n_ji``, n_ij is binomial. Symmetry: probability 1/2 (Bowker). Heights: ``logit p_ij = h_i - h_j``, so that
fewer come up to what is high (Bradley and Terry). The likelihood gained over symmetry tests heights, Pearson's X^2 of what
is left tests circles; its deviance would reject far too often where counts are small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, xlogy
from scipy.stats import chi2

from finsler._arguments import check_argument
from finsler.errors import InputError
from finsler.geometry.components import matrix_components
from finsler.inference.results import Result, TestResult

Array = NDArray[Any]
MOST_STEPS, SOLVED, STEEPEST = 100, 1e-10, 30.0
MOST_COUNTED = 2**53  # whole numbers that floats hold exactly


@dataclass(frozen=True, eq=False)
class CountTests(Result):
    """Tests of a table of counts."""

    n_points: int
    symmetry: TestResult  #: Bowker: are the two directions of every pair equal but for chance?
    heights: TestResult  #: Does Bradley-Terry explain more than symmetry?
    circles: TestResult | None  #: Does it leave more than chance? None if it leaves no degree of freedom.
    degrees_of_freedom: dict[str, int]
    scores: Array  #: Heights of the points: fewer come to the high ones than leave them.

    @property
    def tests(self) -> list[TestResult]:
        """All tests that were made."""
        return [test for test in (self.symmetry, self.heights, self.circles) if test is not None]

    def summary(self) -> str:
        """Say in a few lines what was found."""
        return "\n".join(f"  {test}" for test in self.tests)


def count_tests(counts: Any) -> CountTests:
    """Test counts from row to column; the diagonal does not matter."""
    n = checked_counts(counts)
    i, j = np.triu_indices(len(n), 1)
    there, back = n[i, j], n[j, i]
    used = there + back > 0
    if used.sum() < 2:
        raise InputError("must have counts in at least two pairs of different points.", argument="counts")
    i, j, there, back = i[used], j[used], there[used], back[used]
    total = there + back
    groups = matrix_components((n + n.T) * ~np.eye(len(n), dtype=bool))
    free = len(n) - len(np.bincount(groups))
    h = _bradley_terry(i, j, there, total, len(n))
    p = expit(h[i] - h[j])
    bowker = float(((there - back) ** 2 / total).sum())
    gain = 2 * float((xlogy(there, 2 * p) + xlogy(back, 2 * (1 - p))).sum())
    pearson = float(((there - total * p) ** 2 / (total * p * (1 - p))).sum())
    rest = len(i) - free
    df = {"symmetry": len(i), "heights": free, "circles": rest}
    return CountTests(
        n_points=len(n),
        symmetry=_chi2(
            "symmetry (Bowker)", bowker, len(i), "directions differ", "any difference may be chance"
        ),
        heights=_chi2("heights (Bradley-Terry)", gain, free, "more than chance gives", "it may be chance"),
        circles=None
        if rest < 1
        else _chi2(
            "circles (rest of Bradley-Terry)", pearson, rest, "more than chance gives", "it may be chance"
        ),
        degrees_of_freedom=df,
        scores=h,
    )


def _chi2(name: str, statistic: float, df: int, *answer: str) -> TestResult:
    p = max(float(chi2.sf(statistic, df)), np.finfo(float).tiny)
    return TestResult(name, statistic, p, np.empty(0), float(df), 0, None, (answer[0], answer[1]), "number")


def checked_counts(counts: Any) -> Array:
    """Counts as an array; what was not counted is refused."""
    check_argument("counts", counts, "ArrayLike")
    n = np.asarray(counts, dtype=float)
    if n.ndim != 2 or n.shape[0] != n.shape[1] or len(n) < 3:
        raise InputError(f"must be a square table of at least 3 points, got {n.shape}.", argument="counts")
    if not np.isfinite(n).all() or (n < 0).any() or (n != np.round(n)).any():
        raise InputError(
            "must be whole numbers that are not negative: a test needs what was counted, not shares.",
            argument="counts",
        )
    if n.sum() > MOST_COUNTED:
        raise InputError(f"must add up to at most 2^53, got {n.sum():.3g}.", argument="counts")
    return n


def _bradley_terry(i: Array, j: Array, there: Array, total: Array, n: int) -> Array:
    """Heights of greatest likelihood, by Newton's method; kept finite where points always win or lose."""
    h = np.zeros(n)
    for _ in range(MOST_STEPS):
        p = expit(h[i] - h[j])
        pull = there - total * p
        gradient = np.bincount(i, pull, n) - np.bincount(j, pull, n)
        w = np.maximum(total * p * (1 - p), 1e-12)
        L = np.zeros((n, n))
        np.add.at(L, (i, j), -w)
        L += L.T
        L -= np.diag(L.sum(axis=1))
        step = np.linalg.lstsq(L, gradient, rcond=1e-13)[0]
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        h = np.clip(h + step - (h + step).mean(), -STEEPEST, STEEPEST)
        if np.abs(step).max() < SOLVED:
            break
    return h
