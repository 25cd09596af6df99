"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.pairs import AlphaSource
from finsler.geometry.scaling import ScaledFacts
from finsler.solvers.start import identifiable
from finsler.solvers.swirl.choice import SwirlChoice
from finsler.solvers.swirl.field import Field, turned_upright

Array = NDArray[np.floating[Any]]

ROUNDING = 1e-12  # a fitted drift below this is none


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver."""

    coordinates: Array  #: The map, in the frame of :func:`~finsler.solvers.drift.upright`.
    drift: Array  #: ``(0, ..., 0, alpha)``; beside a swirl the drift at the middle, which may point anywhere.
    stress: float  #: Weighted sum of squared errors over ordered pairs, computed anew from the coordinates.
    total: float  #: Weighted sum of squared dissimilarities over the same pairs.
    per_point: Array  #: Share of each point in the stress.
    history: Array
    """Stress at the start and after each iteration; it never rises. Of passes in single precision, to their rounding."""
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
    if field.swirl is None and np.linalg.norm(field.drift) < ROUNDING:
        field = field._replace(drift=np.zeros_like(field.drift))
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
