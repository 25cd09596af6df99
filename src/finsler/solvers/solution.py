"""What every solver returns."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.pairs import AlphaSource
from finsler.geometry.scaling import Scaling
from finsler.solvers.start import identifiable
from finsler.solvers.swirl.choice import SwirlChoice
from finsler.solvers.swirl.field import Field, turned_upright

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class ScaledFacts:
    """What is known of a map whose distances agree with disparities instead of the data."""

    scaling: Scaling
    stress1: float  #: Kruskal's stress-1.
    alpha_least_stress: float | None = (
        None  #: Alpha of least stress, where alpha was fitted and then corrected.
    )
    stress1_least_stress: float | None = None  #: Stress-1 there.
    degenerate: bool = False  #: Whether the points have fallen into heaps.
    levels: int = 0  #: Number of different disparities.
    n_bins: int = 0  #: Bins that the data were put into for their number; 0 if they were not.
    few_rows: bool = False  #: Whether alpha was fitted to rows too few to tell it.

    def warnings(self) -> list[str]:
        """Say what should not be overlooked."""
        said = []
        if self.degenerate:
            said.append(
                f"Ordinal scaling has collapsed to {self.levels} levels: the order only says which group a point is in. Use "
                "scaling='spline' or 'interval'."
            )
        if self.few_rows:
            said.append("The order within so few rows hardly determines alpha: give it.")
        return said

    def sentences(self) -> list[str]:
        """Say in words what a reader of the map should know."""
        binned = f"The data were put into {self.n_bins:,} bins before their disparities were fitted."
        units = "Alpha is in units of the skew part over those of the scaled symmetric part: a convention."
        parts = self.scaling.conditional == "parts"
        return [*self.warnings(), *([binned] if self.n_bins else []), *([units] if parts else [])]

    def words(self, alpha: float) -> str:
        """Scaling, stress and alphas in one line.

        Examples
        --------
        >>> ScaledFacts(Scaling("ordinal"), 0.2171, 0.048, 0.215).words(0.094)
        'ordinal (ties broken), stress-1 (Kruskal) 0.2171, alpha 0.094 (least stress, 0.215, at 0.048)'
        """
        least = ""
        if self.alpha_least_stress is not None:
            least = f" (least stress, {self.stress1_least_stress:.4g}, at {self.alpha_least_stress:.3g})"
        return f"{self.scaling}, stress-1 (Kruskal) {self.stress1:.4g}, alpha {alpha:.3g}{least}"

    def to_dict(self) -> dict[str, Any]:
        """Give the facts as plain Python."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any] | None) -> ScaledFacts | None:
        """Make the facts again from what :meth:`to_dict` gave, checked; None from None."""
        if record is None:
            return None
        found = cls(**{**record, "scaling": Scaling(**record["scaling"])})
        numbers = (found.stress1, found.alpha_least_stress or 0.0, found.stress1_least_stress or 0.0)
        if not all(isinstance(x, (int, float)) and 0 <= x < np.inf for x in numbers):
            raise TypeError(f"stress-1 and alpha are {numbers}")
        return found


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver."""

    coordinates: Array  #: The map, in the frame of :func:`~finsler.solvers.drift.upright`.
    drift: Array  #: ``(0, ..., 0, alpha)``; beside a swirl the drift at the middle, which may point anywhere.
    stress: float  #: Weighted sum of squared errors over ordered pairs, computed anew from the coordinates.
    total: float  #: Weighted sum of squared dissimilarities over the same pairs.
    per_point: Array  #: Share of each point in the stress.
    history: Array  #: Stress at the start and after each iteration; it never rises.
    n_iter: int  #: Iterations of the run that was kept.
    n_passes: int  #: Passes over the pairs, over all runs: what the computation cost.
    status: str
    """How it ended: converged, max_iter, time_limit, stopped (by a callback), interrupted (Ctrl-C) or closed_form."""
    message: str  #: The same in words.
    seconds: float  #: Wall-clock time.
    alpha_source: AlphaSource = "given"
    swirl: Array | None = None  #: Skew matrix K of a drift that turns; None if it does not.
    geodesic: bool = False  #: Whether ways are arcs, the cheapest ones, beside a swirl.
    swirl_choice: SwirlChoice | None = None  #: What was found about a swirl, if one was asked for.
    scaled: ScaledFacts | None = None  #: Of a map of disparities; None if it is one of the data.
    n_starts: int = 1  #: Starts it took.
    n_same: int = 1  #: Starts that ended at this map: at its stress, to a thousandth.

    @property
    def alpha(self) -> float:
        """Norm of the drift."""
        return float(np.linalg.norm(self.drift))

    @property
    def alpha_identifiable(self) -> bool | None:
        """Whether the data determine alpha; None if alpha was given."""
        return identifiable(self.alpha_source)

    @property
    def normalized_stress(self) -> float:
        """Root of the share of the stress in ``total``: 0 is a perfect map."""
        return float(np.sqrt(self.stress / self.total)) if self.total > 0 else 0.0


class Scored(Protocol):
    """Data that a map can be measured by."""

    total: float

    def point_stress(
        self, X: Array, drift: Array, swirl: Array | None = None, geodesic: bool = False
    ) -> Array:
        """Stress of the pairs of each point."""


def solution_of(
    data: Scored, X: Array, omega: Array, *, history: list[float], geodesic: bool = False, **facts: Any
) -> Solution:
    """Put a map into the frame that all maps are given in, and measure it there.

    ``omega`` is the drift, or with a swirl the packed field.
    """
    X, field = turned_upright(X, Field.unpacked(omega, geodesic))
    shares = data.point_stress(X, *field)
    stress = float(shares.sum())
    return Solution(
        coordinates=X,
        drift=field.drift,
        stress=stress,
        total=data.total,
        per_point=shares / stress if stress > 0 else shares,
        history=np.array(history or [stress]),
        swirl=field.swirl,
        geodesic=field.geodesic,
        **facts,
    )


@dataclass(frozen=True, eq=False)
class Iteration:
    """What a callback is given after each iteration; a callback that returns True stops the solver."""

    n_iter: int  #: Iterations so far.
    stress: float  #: Stress of the map.
    coordinates: Array  #: The map so far, a copy.
    drift: Array  #: Its drift, which need not point along the last axis before the end; with a swirl, at its middle.
    seconds: float  #: Wall-clock time so far.
    swirl: Array | None = None  #: Its swirl, where one is fitted.

    @classmethod
    def of(cls, n_iter: int, stress: float, X: Array, omega: Array, seconds: float) -> Iteration:
        """What is known after an iteration; ``omega`` is a drift, or a drift and the rows of a swirl below it."""
        drift, swirl = (omega, None) if omega.ndim == 1 else (omega[0], omega[1:])
        return cls(n_iter, stress, X, drift, seconds, swirl)
