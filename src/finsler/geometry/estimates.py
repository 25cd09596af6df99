"""Ratios of sums over rows drawn at random, with their standard errors."""

from __future__ import annotations

from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class Estimate(NamedTuple):
    """A number and its standard error; None where the rows do not define it."""

    value: float | None
    error: float | None = 0.0

    def __str__(self) -> str:
        if self.value is None:
            return "not defined"
        return f"{self.value:.4g}" + ("" if self.error is None else f" ± {self.error:.1g}")


def ratio_of_rows(top: Array, bottom: Array, n: int) -> Estimate:
    """Ratio of two sums over rows drawn without replacement from n, with its standard error.

    Examples
    --------
    >>> ratio_of_rows(np.array([1.0, 3.0]), np.array([2.0, 2.0]), 2)
    Estimate(value=1.0, error=0.0)
    """
    total, k = float(np.sum(bottom)), len(top)
    if not total > 0:
        return Estimate(None, None)
    value = float(np.sum(top)) / total
    if k == n or k < 2:
        return Estimate(value, 0.0 if k == n else None)
    spread = float(((top - value * bottom) ** 2).sum()) * k / (k - 1)
    return Estimate(value, sqrt((1 - k / n) * spread) / total)


def one_minus(rest: Estimate) -> Estimate:
    """Estimate of what is left of 1."""
    return rest if rest.value is None else Estimate(1 - rest.value, rest.error)
