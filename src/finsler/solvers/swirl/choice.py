"""Whether a map has a swirl and why: the facts, and the sentence that is made from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.pairs import from_saved
from finsler.geometry.swirl import canonical_form, drift_at

Array = NDArray[np.floating[Any]]

NEAR = 3.0  # map radii within which a center is worth telling: beyond, the drift hardly turns on the map

# Why there is a swirl, or none: asked for; "auto" found it to fit better; it did not (by BIC); it fits better, but hardly
# anything turns; a map in one dimension cannot turn; the run was ended before it was tried.
SwirlReason = Literal["given", "better", "not_better", "small", "one_dimension", "ended"]


@dataclass(frozen=True)
class SwirlChoice:
    """What was found about a swirl: whether the map has one and why, and the numbers it was judged by."""

    chosen: bool
    reason: SwirlReason
    stress_without: float | None = None  #: Normalized stress of the canonical map.
    stress_with: float | None = None  #: Normalized stress of the map with a swirl.
    bic_gain: float | None = (
        None  #: BIC of the former less that of the latter: above 0 the swirl is worth its numbers.
    )
    share: float | None = (
        None  #: Share of the asymmetry that the swirl shows on the canonical map, for uniform weights.
    )
    kappa_error: float | None = None  #: Standard error of kappa, for uniform weights.

    @classmethod
    def from_dict(cls, record: dict[str, Any] | None) -> SwirlChoice | None:
        """Choice that was saved as plain values, if any; a TypeError if they are not what they were."""
        if record is None:
            return None
        numbers = {name: value for name, value in record.items() if name not in ("chosen", "reason")}
        if type(record.get("chosen")) is not bool or record.get("reason") not in get_args(SwirlReason):
            raise TypeError(f"found {record.get('reason')!r}")
        return cls(record["chosen"], record["reason"], **from_saved(dict, numbers))


def about_swirl(choice: SwirlChoice | None) -> str:
    """Say what a reader should know about why a map has a swirl or none.

    Examples
    --------
    >>> about_swirl(SwirlChoice(False, "not_better", 0.1, 0.0999, -5.0))
    'No swirl: with one the map would fit hardly better (normalized stress 0.0999 instead of 0.1), no more than by chance.'
    """
    if choice is None or choice.reason == "given":
        return ""
    if choice.reason == "one_dimension":
        return "No swirl: nothing turns on a line."
    if choice.reason == "ended":
        return "No swirl: the run was ended before one was tried."
    stresses = f"normalized stress {choice.stress_with:.4g} instead of {choice.stress_without:.4g}"
    if choice.reason == "not_better":
        return f"No swirl: with one the map would fit hardly better ({stresses}), no more than by chance."
    if choice.reason == "small":
        return f"No swirl: hardly anything turns ({stresses})."
    return f"The drift turns, which fits better than one that does not ({stresses})."


def turning(X: Array, drift: Array, swirl: Array | None = None, geodesic: bool = False) -> list[str]:
    """Say in plain words what a drift does to ways on a map, one that turns or one that is the same everywhere.

    Examples
    --------
    >>> points = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
    >>> turning(points, np.zeros(2), np.array([[0.0, -0.2], [0.2, 0.0]]))
    ['at the rim, going round the center counterclockwise costs 1.5 times as much as clockwise']
    """
    alpha = float(np.linalg.norm(drift))
    straight = f"straight up costs {(1 + alpha) / (1 - alpha):.4g} times straight down" if alpha < 1 else ""
    if swirl is None:
        return [straight]
    screw, ways = canonical_form(drift, swirl), ["ways are arcs, the cheapest ones"] if geodesic else []
    if screw is None:
        return [f"{straight}: the drift does not turn"]
    middle, m = X.mean(axis=0), X.shape[1]
    radius = float(np.linalg.norm(X - middle, axis=1).max())
    kappa, rim = float(screw.kappas[0]), float(screw.radii(X).max())
    away = float(screw.radii(middle[None])[0])
    if away > NEAR * radius:
        sizes = np.linalg.norm(drift_at(X, drift, swirl), axis=1)
        told = f"the drift turns by up to {np.degrees(2 * kappa * radius / max(sizes.mean(), kappa * radius)):.2g} degrees"
        return [
            f"{told} across the map, round a center far outside it; its strength is {sizes.mean():.3g}",
            *ways,
        ]
    strength = min(kappa * rim, 0.999)
    ratio = (1 + strength) / (1 - strength)
    if m == 2:
        costly, cheap = (
            ("counterclockwise", "clockwise") if swirl[1, 0] > 0 else ("clockwise", "counterclockwise")
        )
        return [
            f"at the rim, going round the center {costly} costs {ratio:.3g} times as much as {cheap}",
            *ways,
        ]
    place = "its axis" if screw.axis is not None else "the middle of its fastest plane"
    lines = [
        f"the drift turns round {place}: at the rim, going round counterclockwise (seen from its tip) costs {ratio:.3g} "
        "times as much as clockwise"
    ]
    beta = float(np.linalg.norm(screw.beta))
    if m == 3 and beta > 0.005:
        lines.append(f"along the axis, up costs {(1 + beta) / (1 - beta):.3g} times down" if beta < 1 else "")
    return [*lines, *ways]
