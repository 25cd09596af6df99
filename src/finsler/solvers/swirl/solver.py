"""From a canonical map to one whose drift turns: starts, runs, the limit, and whether the swirl is worth its numbers.

The canonical map is always a start, and a map with K = 0 is a map with a swirl: the stress never ends above that of the
canonical map. Classical scaling of the symmetric part is another, which is exact if the data are exactly of this kind.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.swirl import largest_drift
from finsler.solvers.majorize import EARLY, Run
from finsler.solvers.problem import Problem
from finsler.solvers.swirl.choice import SwirlChoice, SwirlReason
from finsler.solvers.swirl.field import MARGIN, Field, map_radius

Array = NDArray[np.floating[Any]]
RunFrom = Callable[[Problem, Array, Array], Run]  # of a problem, a start and its field

TIGHTER = 3  # times at most that the limit is set anew because points went beyond it
# "auto" takes a swirl that BIC prefers, if it shows this share of the asymmetry or lowers the stress by this share.
SHARE_OF_ASYMMETRY, SHARE_OF_STRESS = 0.02, 0.01
ROUNDING = 1e-24  # of the sum of squares of the data: stress that counts as 0


class Judged(Protocol):
    """What a swirl is judged by."""

    @property
    def total(self) -> float:
        """Sum of squares of the data."""

    @property
    def n_pairs(self) -> float:
        """Number of ordered pairs."""

    @property
    def skew_square(self) -> float | None:
        """Sum of squares of the skew part, where it is known."""


class SwirlData(Judged, Protocol):
    """Data that a map with a swirl can be fitted to."""

    def swirl_problem(self, radius: float, fixed_drift: Array | None, geodesic: bool) -> Problem:
        """Stress of maps whose drift turns."""


class ClosedFormData(SwirlData, Protocol):
    """Data that have a closed form, too."""

    def problem(self, fixed_drift: Array | None) -> Problem:
        """Stress with a given drift."""

    def isomap(self, n_components: int) -> Array:
        """Classical scaling of the symmetric part."""


def fit_swirl(
    data: SwirlData,
    canonical: Run,
    swirl: bool | str,
    *,
    fixed_drift: Array | None,
    starts: Iterable[Array],
    run_from: RunFrom,
) -> tuple[Run, Field, SwirlChoice, list[Run]]:
    """Fit a swirl, from the canonical map and from further starts.

    Returns the run that is kept, with the history of the canonical one if it goes on from there; its field; what was
    found; and all further runs.
    """
    m = canonical.coordinates.shape[1]
    without = Field(canonical.omega)
    if m < 2 or canonical.status in EARLY:
        reason: SwirlReason = "one_dimension" if m < 2 else "ended"
        return canonical, without, SwirlChoice(False, reason), []
    radius = MARGIN * map_radius(canonical.coordinates)
    if fixed_drift is None and np.linalg.norm(canonical.omega) == 0:
        canonical = replace(canonical, omega=np.zeros(m))
    problem = data.swirl_problem(radius, fixed_drift, False)
    runs: list[Run] = []
    for k, X0 in enumerate((canonical.coordinates, *starts)):
        runs.append(_limited(problem, X0, canonical.omega if k == 0 else np.zeros(m), run_from))
        if runs[-1].status in EARLY:
            break
    first_gain = canonical.stress - runs[0].history[0] if runs[0].history else 0.0
    runs[0] = _after(canonical, runs[0])
    kept = min(runs, key=lambda run: run.stress)
    geodesic = swirl == "geodesic"
    if geodesic and runs[-1].status not in EARLY:
        arcs, straight = data.swirl_problem(radius, fixed_drift, True), kept
        of_arcs = [_limited(arcs, straight.coordinates, straight.omega, run_from)]
        if of_arcs[0].stress > canonical.stress:
            of_arcs.append(
                _after(canonical, _limited(arcs, canonical.coordinates, canonical.omega, run_from))
            )
        runs += of_arcs
        kept = min(of_arcs, key=lambda run: run.stress)
    if kept.stress > canonical.stress:  # the limit was set anew
        kept = replace(canonical, omega=np.vstack([canonical.omega, np.zeros((m, m))]))
    choice = judged(data, canonical, kept, first_gain, m, swirl == "auto")
    if isinstance(kept_error := _error(problem, kept), float):
        choice = replace(choice, kappa_error=kept_error)
    ended = next((run for run in runs if run.status in EARLY), None)
    if ended is not None:
        kept = replace(kept, status=ended.status, message=ended.message)
    if not choice.chosen:
        return canonical, without, choice, runs
    return kept, Field.unpacked(kept.omega, geodesic), choice, runs


def closed_form_with_swirl(
    data: ClosedFormData, X: Array, omega: Array, swirl: bool | str, fixed_drift: Array | None
) -> tuple[Array, Array, SwirlChoice]:
    """Map in closed form and its packed field: classical scaling of the symmetric part, or the canonical one if better.

    ``X`` and ``omega`` are the canonical closed form.
    """
    m = X.shape[1]
    if m < 2:
        return X, omega, SwirlChoice(False, "one_dimension")
    found, before = [], data.problem(omega).evaluate(X, omega).stress
    for Y in (X, data.isomap(m)):
        problem = data.swirl_problem(MARGIN * map_radius(Y), fixed_drift, swirl == "geodesic")
        now = problem.evaluate(Y, np.vstack([omega if Y is X else np.zeros(m), np.zeros((m, m))]))
        found.append(Run(Y, now.omega, now.stress, [], 0, 1, "closed_form", ""))
    kept = min(found, key=lambda run: run.stress)
    without = replace(found[0], omega=omega, stress=before)
    choice = judged(data, without, kept, before - found[0].stress, m, swirl == "auto")
    return (kept.coordinates, kept.omega, choice) if choice.chosen else (X, omega, choice)


def _limited(problem: Any, X0: Array, omega: Array, run_from: RunFrom) -> Run:
    """Run, and run on with a tighter limit while the drift at some point reaches 1."""
    run = run_from(problem, X0, omega)
    for _ in range(TIGHTER):
        X = run.coordinates - run.coordinates.mean(axis=0)
        if run.omega.ndim < 2 or run.status in EARLY or largest_drift(X, run.omega[0], run.omega[1:]) < 1:
            break
        tighter = copy.copy(problem)
        tighter.radius = MARGIN * map_radius(X)
        again = run_from(tighter, run.coordinates, run.omega)
        run = replace(again, n_passes=run.n_passes + again.n_passes)
    return run


def _after(first: Run, second: Run) -> Run:
    """Both runs as one; the second goes on where the first ended."""
    lower = [stress for stress in second.history if stress <= first.stress]  # a tighter limit may begin above
    return replace(second, history=first.history + lower, n_iter=first.n_iter + second.n_iter)


def judged(data: Judged, without: Run, kept: Run, gain: float, m: int, auto: bool) -> SwirlChoice:
    """Compare by ``BIC = n log(stress/n) + k log n`` over n ordered pairs, and by how much the swirl shows."""
    floor = ROUNDING * data.total + np.finfo(float).tiny
    before, after = max(without.stress, floor), max(kept.stress, floor)
    n, numbers = data.n_pairs, m * (m - 1) / 2
    bic = n * np.log(before / after) - numbers * np.log(max(n, 2.0))
    share = max(gain, 0.0) / data.skew_square if data.skew_square else None
    reason: SwirlReason = "given"
    if auto:
        lower = np.sqrt(after / before) <= 1 - SHARE_OF_STRESS
        shows = share is not None and share >= SHARE_OF_ASYMMETRY
        reason = "not_better" if not bic > 0 else "better" if lower or shows else "small"
    with_, out = (
        float(np.sqrt(x / data.total)) if data.total > 0 else 0.0 for x in (kept.stress, without.stress)
    )
    return SwirlChoice(reason in ("given", "better"), reason, out, with_, float(bic), share)


def _error(problem: Any, kept: Run) -> float | None:
    """Standard error of kappa: of the norm of the swirl, from the errors of its entries."""
    if not hasattr(problem, "swirl_error") or not np.any(kept.omega[1:]):
        return None
    m = kept.coordinates.shape[1]
    entries = kept.omega[1:].T[np.triu_indices(m, 1)]
    errors = problem.swirl_error(kept.coordinates, kept.omega)
    return float(np.linalg.norm(entries * errors) / np.linalg.norm(entries))
