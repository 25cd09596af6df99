"""Is the fit of a map better than chance? Random exchanges of pairs, and maps of noise.

Under the null the unordered pairs are exchangeable: ``(D_ij, D_ji)`` move together, with their weights, and change places
with probability 1/2. Moving all ordered entries on their own would reject far too often once the two directions are alike.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_arguments
from finsler._memory import require_memory
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.errors import InputError, check_count
from finsler.geometry.components import matrix_components
from finsler.geometry.stress import stress1
from finsler.inference.results import MOST_DRAWS, Result, TestResult, checked, many_small_fits, seed_of
from finsler.solvers.backends.memory import MemoryBackend
from finsler.solvers.nonmetric import scaled_smacof
from finsler.solvers.options import ScalingOptions, check_names, scaling_of
from finsler.solvers.smacof import smacof
from finsler.solvers.solution import Solution

Array = NDArray[Any]
PERMUTATIONS = 199
# A permuted table has no fine valley to end in: these serve data and permutations alike.
COARSE: dict[str, Any] = {"tol": 1e-5, "max_iter": 100, "verbose": False, "n_jobs": 1, "random_state": 0}
TRIES = 100  # draws of exchanges that leave the points connected, before giving up
FEWEST = 5  # points


class RefitOptions(ScalingOptions, total=False):
    """Options of maps that are fitted many times."""

    swirl: bool | str


def map_of(
    data: Dissimilarities, n_components: int, alpha: float | str, options: Mapping[str, Any]
) -> Solution:
    """Coarse map of data; with options of the scaling, ``swirl`` and ``n_init``. Ctrl-C is raised."""
    scaling = scaling_of(options)
    given = {**COARSE, **{name: options[name] for name in ("swirl", "n_init") if name in options}}
    if scaling.metric:
        solution = smacof(data, n_components, alpha, **given)
    else:
        solution = scaled_smacof(MemoryBackend(data, 1), scaling, n_components, alpha, **given)
    if solution.status == "interrupted":  # who presses Ctrl-C wants to end it all, not one of many maps
        raise KeyboardInterrupt
    return solution


def stress_of(data: Dissimilarities, solution: Solution) -> float:
    """Stress-1 of a map, of disparities if it has them: the least one, before alpha is corrected.

    The correction makes alpha unbiased, but the stress of noise about three times as variable: fit is not judged by it.
    """
    if (scaled := solution.scaled) is not None:
        return scaled.stress1 if scaled.stress1_least_stress is None else scaled.stress1_least_stress
    return stress1(
        solution.coordinates, data.matrix, data.weights, drift=solution.drift, swirl=solution.swirl,
        geodesic=solution.geodesic,
    )  # fmt: skip


def fitted_stress(
    data: Dissimilarities, n_components: int, alpha: float | str, options: Mapping[str, Any]
) -> float:
    """Stress-1 of a coarse map of data."""
    return stress_of(data, map_of(data, n_components, alpha, options))


def fit_test(
    D: Any,
    weights: Any = None,
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    n_permutations: int = PERMUTATIONS,
    random_state: int | None = 0,
    **options: Unpack[RefitOptions],
) -> TestResult:
    """Test whether a map fits the data better than chance, by maps of exchanged pairs.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities
        Dissimilarities from row to column; NaN and inf are left out. Lengths of paths are refused.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    n_components : int
        Dimension of the maps.
    alpha : float in [0, 1) or "auto"
        Strength of the drift of the maps.
    n_permutations : int
        Random exchanges, each of which costs a fit.
    random_state : int, optional
        Seed. None draws one and tells it.
    **options
        ``scaling``, ``ties``, ``conditional``, ``spline_degree``, ``spline_knots``, ``swirl``: see
        :class:`~finsler.FinslerMDS`.

    Returns
    -------
    TestResult
        The statistic is stress-1, ``noise`` its mean for these values in random places, ``null`` all of them. Maps of
        more than one dimension are fitted from the usual starts only, those of the data like the others.

    Examples
    --------
    >>> import finsler
    >>> X = np.random.default_rng(0).normal(size=(12, 2))
    >>> found = fit_test(finsler.randers_distances(X, drift=0.3), n_permutations=19)
    >>> found.p_value
    0.05
    """
    check_arguments(fit_test, locals())
    check_names("fit_test", options, RefitOptions)
    data = checked(D, weights, what="fit_test")
    check_count("n_permutations", n_permutations, 1, MOST_DRAWS)
    check_count("n_components", n_components)
    if data.n_points < FEWEST:
        raise InputError(
            f"must have at least {FEWEST} points to test a fit, got {data.n_points}.", argument="D"
        )
    if data.n_points < n_components + 3:
        raise InputError(
            f"must be lower: {data.n_points} points are too few to test a map in {n_components} dimensions, for any table "
            "fits.",
            argument="n_components",
        )
    seed = seed_of(random_state)
    tables = exchanged(data, np.random.default_rng(seed))
    given = {**options, "n_init": starts_of_a_test(n_components)}
    with many_small_fits():
        observed = fitted_stress(data, n_components, alpha, given)
        null = []
        for _ in range(n_permutations):
            null.append(fitted_stress(next(tables), n_components, alpha, given))
    p = (1 + sum(value <= observed + 1e-12 for value in null)) / (n_permutations + 1)
    words = (
        "better than the same values in random places",
        "no better than the same values in random places",
    )
    name = f"stress-1 in {n_components} dimension{'s' * (n_components > 1)}"
    return TestResult(
        name, observed, p, np.array(null), float(np.mean(null)), n_permutations, seed, words, "number"
    )


def starts_of_a_test(n_components: int) -> int | str:
    """Starts of the maps of a test, of data and exchanged pairs alike, which keeps the level whatever it is.

    A search for the best of many valleys doubles the time and rejects no more; but on a line most single starts end badly.
    """
    return 1 if n_components > 1 else "auto"


def exchanged(data: Dissimilarities, rng: np.random.Generator) -> Iterator[Dissimilarities]:
    """Tables with the pairs of these data in random places, without end."""
    D, W = data.matrix.astype(float), data.weights
    i, j = np.triu_indices(len(D), 1)
    while True:
        for _ in range(TRIES):
            order, flip = rng.permutation(len(i)), rng.random(len(i)) < 0.5
            a, b = np.where(flip, j, i)[order], np.where(flip, i, j)[order]
            values, weights = _moved(D, i, j, a, b), None if W is None else _moved(W, i, j, a, b)
            if weights is None or not matrix_components(weights).any():
                break
        else:
            raise InputError(
                "So few pairs are known that in random places they leave the points unconnected."
            )
        yield replace(data, matrix=values, weights=weights)


def _moved(values: Array, i: Array, j: Array, a: Array, b: Array) -> Array:
    """Table with the pairs a, b in the places i, j."""
    out = np.zeros_like(values)
    out[i, j], out[j, i] = values[a, b], values[b, a]
    return out


@dataclass(frozen=True, eq=False)
class RandomStress(Result):
    """Stress-1 of maps of noise: what a map of real data must be well below."""

    n_points: int
    n_components: int
    alpha: float | str
    symmetric: bool
    values: Array  #: Of each draw.
    random_state: int

    @property
    def mean(self) -> float:
        """Mean of the draws."""
        return float(self.values.mean())

    @property
    def sd(self) -> float:
        """Standard deviation of the draws."""
        return float(self.values.std(ddof=1))

    def summary(self) -> str:
        """Say it in a line."""
        kind = "symmetric noise" if self.symmetric else "noise"
        return (
            f"stress-1 of {kind}, {self.n_points} points in {self.n_components} dimensions, alpha {self.alpha}: "
            f"{self.mean:.3f} (sd {self.sd:.3f}, {len(self.values)} draws)"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python data."""
        return {**super().to_dict(), "mean": self.mean, "sd": self.sd}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the distribution."""
        from finsler.plotting.inference import plot_null

        draws = TestResult(
            "stress-1 of noise", np.nan, 1.0, self.values, self.mean, len(self.values), self.random_state, unit="number"
        )  # fmt: skip
        return plot_null(draws, ax=ax)


def random_stress(
    n_points: int,
    n_components: int = 2,
    *,
    alpha: float | str = "auto",
    symmetric: bool = False,
    n_draws: int = 100,
    random_state: int | None = 0,
    **options: Unpack[RefitOptions],
) -> RandomStress:
    """Stress-1 of maps of uniform noise.

    Parameters
    ----------
    n_points, n_components : int
        Size of the maps.
    alpha : float in [0, 1) or "auto"
        Strength of their drift.
    symmetric : bool
        Whether both directions of a pair are the same.
    n_draws : int
        Tables of noise, each of which costs a fit.
    random_state : int, optional
        Seed. None draws one and tells it.
    **options
        As of :func:`fit_test`.

    Returns
    -------
    RandomStress

    Examples
    --------
    >>> found = random_stress(12, 2, n_draws=20)
    >>> 0.40 < found.mean < 0.48
    True
    """
    check_arguments(random_stress, locals())
    check_names("random_stress", options, RefitOptions)
    check_count("n_components", n_components, 1, check_count("n_points", n_points, 3))
    check_count("n_draws", n_draws, 2, MOST_DRAWS)
    require_memory(32.0 * n_points**2, f"a table of n_points = {n_points:,}", "Use fewer points.")
    seed = seed_of(random_state)
    rng, values = np.random.default_rng(seed), []
    with many_small_fits():
        for _ in range(n_draws):
            D = rng.uniform(size=(n_points, n_points))
            D = np.triu(D, 1) + (np.triu(D, 1) if symmetric else np.tril(D, -1).T).T
            data = as_dissimilarities(D)
            values.append(fitted_stress(data, n_components, alpha, options))
    return RandomStress(n_points, n_components, alpha, symmetric, np.array(values), seed)
