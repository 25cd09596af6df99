"""Which alpha to start from when none is given, and whether the data determine it."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from finsler._runtime import single_blas_thread
from finsler.errors import InputError
from finsler.geometry.stress import raw_stress
from finsler.solvers.drift import ALPHA_MAX
from finsler.solvers.start import closed_form

Array = NDArray[np.floating[Any]]

# Where alpha comes from: given by the user; fitted to the data; 0 because the data are symmetric, or because their
# asymmetry runs in circles; fitted, but to pairs known one way only; fitted, but hardly determined.
AlphaSource = Literal["given", "fitted", "symmetric", "cyclic", "one_way", "unclear"]

# alpha counts as determined by the data if the stress of the closed form is more than this share above its least
# value at an alpha halfway to 1.
CLEAR_RISE = 0.1
ONE_WAY_ALPHA = 0.3  # where the fit starts when no pair is known both ways
SAMPLE = 250  # points on which alpha is judged


class AlphaGuess(NamedTuple):
    """Alpha to start from, and where it comes from."""

    alpha: float
    source: AlphaSource

    @property
    def fitted(self) -> bool:
        """Whether the iterations go on to fit it."""
        return self.source != "given" and self.alpha > 0


@dataclass(frozen=True, eq=False)
class Evidence:
    """What tells the drift from the data before there is a map."""

    h: Array  #: Heights that fit the skew part best.
    square: float  #: Sum of squares of the symmetric part.
    symmetric: bool  #: Whether nothing is left of the skew part beside the heights, to rounding.
    one_way: bool  #: Whether some pairs are known one way only.
    sample_S: Array  #: Symmetric part, heights and data of some points.
    sample_h: Array
    sample_D: Array


def sampled_points(n: int) -> NDArray[np.intp]:
    """Points on which alpha is judged, in their order."""
    return np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])


def identifiable(source: AlphaSource) -> bool | None:
    """Whether the data determine alpha; None if it was given."""
    return None if source == "given" else source not in ("one_way", "unclear")


def about_alpha(source: AlphaSource, alpha: float, n_components: int) -> str:
    """Say what a reader should know about alpha, if anything.

    Examples
    --------
    >>> about_alpha("symmetric", 0.0, 2)
    'The data are symmetric, so alpha is 0.'
    """
    return {
        "symmetric": "The data are symmetric, so alpha is 0.",
        "cyclic": "The asymmetry runs in circles, which no heights show, so alpha is 0.",
        "one_way": "The drift rests on pairs known one way only.",
        "unclear": f"The data hardly determine alpha: values from about {alpha:.2g} up to 1 fit about equally well, as is "
        f"so when the points hardly use all {n_components} dimensions. Give alpha to choose another.",
    }.get(source, "")


def check_alpha(alpha: Any) -> float | None:
    """Drift that was given as a number, checked; None for "auto"."""
    if isinstance(alpha, str) and alpha == "auto":
        return None
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < 1:
        raise InputError(f"alpha must be a number in [0, 1) or 'auto', got {alpha!r}.", argument="alpha")
    return float(alpha)


def guess_alpha(evidence: Evidence, n_components: int) -> AlphaGuess:
    """Alpha to start from, by the stress of the closed form as a function of alpha, which costs little.

    Where it does not rise towards 1, as for a sheet that lies in a hyperplane and may be tilted at will, the smallest
    value that fits about as well as the best is taken.
    """
    if evidence.h @ evidence.h <= 1e-24 * evidence.square / len(evidence.h):
        if (
            evidence.one_way
        ):  # no pair known both ways tells of asymmetry, but the others still pull at the drift
            return AlphaGuess(ONE_WAY_ALPHA, "one_way")
        return AlphaGuess(0.0, "symmetric" if evidence.symmetric else "cyclic")
    S, h, D = evidence.sample_S, evidence.sample_h, evidence.sample_D

    def profile(alpha: float) -> float:
        return raw_stress(closed_form(S, h, n_components, alpha, 1), D, drift=alpha, n_jobs=1)

    grid = np.concatenate([[1e-4], np.linspace(0.02, 0.98, 13), [ALPHA_MAX]])
    with single_blas_thread():  # threads only get in the way of matrices this small
        values = [profile(a) for a in grid]
        k = int(np.argmin(values))
        bounds = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
        found = minimize_scalar(profile, bounds=bounds, method="bounded", options={"xatol": 1e-8})
        alpha, least = min((float(found.fun), float(found.x)), (values[k], float(grid[k])))[::-1]
        enough = (1 + CLEAR_RISE) * least + 1e-20 * float(np.vdot(D, D))
        if profile((1 + alpha) / 2) > enough:
            return AlphaGuess(alpha, "fitted")
        low, smallest = 0.0, alpha
        while smallest - low > 1e-3:
            middle = (low + smallest) / 2
            low, smallest = (low, middle) if profile(middle) <= enough else (middle, smallest)
    return AlphaGuess(smallest, "unclear")
