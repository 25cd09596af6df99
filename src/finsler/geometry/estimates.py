"""Ratios of sums over rows drawn at random, with their standard errors; and how much of the asymmetry a map shows.

Without the means to find the latter, so that saved maps load fast.
"""

from __future__ import annotations

from dataclasses import dataclass
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
    """Ratio of two sums over rows drawn without replacement from n, with its standard error."""
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


class AsymmetryShown(NamedTuple):
    """How much of the asymmetry a map shows."""

    share: float | None  #: 1 is all of it, below 0 worse than nothing; None for symmetric data.
    error: float | None = 0.0  #: Standard error, if it comes from some rows.
    n_rows: int | None = None  #: Rows looked at; None for all.
    available: float | None = None  #: The share that the best heights would show.

    def __str__(self) -> str:
        if self.share is None:
            return "nothing to show: the data are symmetric where they are known both ways"
        error = f" ± {100 * self.error:.2g}" if self.error else ""
        most = "" if self.available is None else f"; up to {100 * self.available:.3g} % can be shown"
        rows = "" if self.n_rows is None else f" (from {self.n_rows} rows)"
        return f"{100 * max(self.share, 0.0):.3g}{error} %{most}{rows}"


@dataclass(frozen=True)
class SampledScores:
    """How well a map shows a graph, from rows that it was not made from."""

    n_sources: int
    normalized_stress: Estimate  #: sqrt(sum w (d - D)^2 / sum w D^2), as of the dense solver.
    sign_accuracy: Estimate  #: Share of pairs with unequal ways for which the map tells the costlier one.
    asymmetry_shown: AsymmetryShown  #: Share of the asymmetry that the map shows, beside what heights could.

    def to_dict(self) -> dict[str, Any]:
        """Give the scores as plain Python numbers."""
        scores = ("normalized_stress", "sign_accuracy", "asymmetry_shown")
        return {"n_sources": self.n_sources, **{name: getattr(self, name)._asdict() for name in scores}}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> SampledScores:
        """Make the scores again from what :meth:`to_dict` gave."""
        stress, sign = (Estimate(**record[name]) for name in ("normalized_stress", "sign_accuracy"))
        return cls(record["n_sources"], stress, sign, AsymmetryShown(**record["asymmetry_shown"]))

    def __str__(self) -> str:
        return (
            f"Held-out rows: {self.n_sources}\n  normalized stress     {self.normalized_stress}\n"
            f"  sign of asymmetry     {self.sign_accuracy}\n  asymmetry shown       {self.asymmetry_shown}"
        )
