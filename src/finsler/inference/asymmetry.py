"""Which asymmetry is there? Heights, circles, a drift in this map: each beside what noise alone gives.

The test of heights, and that of circles in what they leave, are those of `finsler.geometry.noise`. The *drift in a map* asks
whether heights that are linear on the symmetric map X explain more than noise: with g = X'f, the share is
``g' (X' L X)^-1 g / sum c A^2``; X comes from the symmetric part alone, so it stays the same when signs are flipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_arguments
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, check_count
from finsler.geometry.asymmetry import gradient_share, is_symmetric
from finsler.geometry.noise import (
    CIRCLE_FLIPS,
    FLIPS,
    SkewPairs,
    circles_null,
    flip_signs,
    heights_null,
    laplacian,
    without_heights,
)
from finsler.geometry.pairs import Pairs, survey
from finsler.inference.counts import CountTests, count_tests
from finsler.inference.results import (
    MOST_DRAWS,
    Result,
    TestResult,
    checked,
    refuse_paths,
    replicated,
    seed_of,
    test_of,
)
from finsler.solvers.smacof import smacof

Array = NDArray[Any]
FEWEST_REPLICATES = 6  # with fewer, no pattern of signs is rare enough
ROUNDING = 1e-9  # share of the asymmetry below which nothing is left to run in circles


@dataclass(frozen=True, eq=False)
class AsymmetryTest(Result):
    """What `asymmetry_test` found; tests that were not asked for, or that the data do not allow, are None."""

    n_points: int
    heights: TestResult | None = None  #: Is more than noise a matter of heights?
    circles: TestResult | None = None  #: Does one circle stand out in what heights leave?
    drift: TestResult | None = None  #: Does the drift of a map of so many dimensions explain more than noise?
    n_components: int | None = None  #: Those dimensions.
    counts: CountTests | None = None
    replicates: TestResult | None = None  #: Is the asymmetry the same in all replicates?
    replicated_circles: TestResult | None = None  #: The same of what heights leave.

    @property
    def tests(self) -> list[TestResult]:
        """All tests that were made."""
        own = [self.heights, self.circles, self.drift, self.replicates, self.replicated_circles]
        return [test for test in own if test is not None] + ([] if self.counts is None else self.counts.tests)

    @property
    def verdict(self) -> str:
        """The answer in a sentence or two."""
        up = next((t for t in (self.drift, self.heights) if t is not None), None)
        round_ = self.replicated_circles or self.circles
        if self.counts is not None:
            up, round_ = self.counts.heights, self.counts.circles
        said = []
        if up is not None:
            what = f"the drift of a map in {self.n_components} dimensions" if up is self.drift else "heights"
            said.append(
                f"There is a direction that {what} can show: use a Randers map."
                if up.significant
                else f"What {what} would show may be noise: nothing here speaks against a symmetric map (alpha = 0)."
            )
        if round_ is not None and round_.significant:
            said.append(
                "Some of the rest runs in circles, which only a drift that turns can show: swirl='auto' (--swirl auto)."
            )
        elif round_ is self.circles is not None:
            said.append("One table cannot tell circles without structure from noise; replicates can.")
        return " ".join(said)

    def summary(self) -> str:
        """Say in a few lines what was found."""
        lines = [f"Asymmetry of {self.n_points} points", *(f"  {test}" for test in self.tests), self.verdict]
        return "\n".join(line for line in lines if line)

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python data."""
        return {**super().to_dict(), "verdict": self.verdict}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw each test: its distribution by chance, and the observed value."""
        from finsler.plotting.inference import plot_nulls

        return plot_nulls([test for test in self.tests if len(test.null)], ax=ax)


def asymmetry_test(
    D: Any = None,
    weights: Any = None,
    *,
    n_components: int | None = None,
    counts: Any = None,
    replicates: Sequence[Any] | None = None,
    n_flips: int = FLIPS,
    random_state: int | None = 0,
) -> AsymmetryTest:
    """Test which asymmetry there is: heights, circles, a drift in a map; from a table, from counts, or from replicates.

    Under the null each ``D_ij`` may as well change places with ``D_ji``, independently of other pairs: signs of the skew
    part are flipped at random. This is exact whatever the distribution of the errors, and needs no map.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities, optional
        Dissimilarities from row to column; NaN and inf are left out. Lengths of paths are refused: they are not
        independent.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    n_components : int, optional
        Ask also whether the drift of a map of so many dimensions explains more than noise: a Randers map, or plain MDS?
    counts : array-like of shape (n, n), optional
        Counts from row to column (confusions, moves) in the place of D: tests of symmetry (Bowker), of heights
        (Bradley-Terry over symmetry) and of circles (what Bradley-Terry leaves).
    replicates : sequence of array-like of shape (n, n), optional
        At least six tables of the same points, in the place of D. Signs of whole tables are flipped: the only test that
        separates circles from noise. Heights and circles are those of the mean.
    n_flips : int
        Random draws; those of circles are 199 at most. Up to twelve pairs, or twelve replicates, all signs are tried.
    random_state : int, optional
        Seed of the draws. None draws one and tells it.

    Returns
    -------
    AsymmetryTest

    Examples
    --------
    >>> import finsler
    >>> found = asymmetry_test(finsler.load_flight_hours().hours, n_components=2)
    >>> found.heights.p_value, found.drift.significant
    (0.001, True)
    """
    check_arguments(asymmetry_test, locals())
    if sum(given is not None for given in (D, counts, replicates)) != 1:
        raise InputError("Give one of D, counts and replicates.")
    check_count("n_flips", n_flips, 1, MOST_DRAWS)
    seed = seed_of(random_state)
    if counts is not None:
        found = count_tests(counts)
        return AsymmetryTest(n_points=found.n_points, counts=found)
    if replicates is not None:
        return _test_replicates(replicates, weights, n_components, n_flips, seed)
    data = checked(D, weights, what="asymmetry_test")
    return AsymmetryTest(
        data.n_points, **_test_table(data, n_components, n_flips, seed), n_components=n_components
    )


def _test_table(data: Dissimilarities, n_components: int | None, n_flips: int, seed: int) -> dict[str, Any]:
    """Tests of one table by name: heights, circles, and the drift of a map."""
    pairs = Pairs.of(data.matrix, data.weights)
    found = survey(pairs)
    if not found.both:
        raise InputError(
            "must hold pairs that are known both ways: else nothing tells how asymmetric it is.", argument="D"
        )
    if is_symmetric(found, pairs):
        raise InputError("is symmetric where it is known both ways: there is nothing to test.", argument="D")
    known = SkewPairs.of(pairs)
    null = heights_null(pairs, found, gradient_share(pairs, found).value or 0.0, n_flips=n_flips, seed=seed)
    if not null.possible:
        raise InputError(
            f"has too few pairs with two unequal ways, {np.count_nonzero(known.A)}, or n_flips = {n_flips} are too few: "
            f"even the rarest signs have p = {null.least_p:.2g}.",
            argument="D",
        )
    tests = {"heights": test_of("heights", null, n_flips, seed, "more than noise gives", "it may be noise")}
    if null.observed < 1 - ROUNDING:
        few = min(n_flips, CIRCLE_FLIPS)
        tests["circles"] = test_of(
            "largest circle in the rest", circles_null(known, n_flips=few, seed=seed), few, seed,
            "it stands out", "it does not stand out",
        )  # fmt: skip
    if n_components is not None:
        X = symmetric_map(data, check_count("n_components", n_components, 1, data.n_points))
        tests["drift"] = test_of(
            f"drift of a map in {n_components} dimension{'s' * (n_components > 1)}",
            drift_null(known, X, n_flips, seed), n_flips, seed, "more than noise gives", "it may be noise",
        )  # fmt: skip
    return tests


def symmetric_map(data: Dissimilarities, n_components: int) -> Array:
    """Map of the symmetric part: it is the same whatever the signs of the skew part are."""
    D, W = data.matrix.astype(float), data.weights
    w = np.ones_like(D) if W is None else np.asarray(W, dtype=float)
    both = (w > 0) & (w.T > 0)
    mean = np.where(both, (D + D.T) / 2, np.where(w > 0, D, D.T))
    np.fill_diagonal(mean, 0.0)
    total = w + w.T
    weight = np.where(both, 2 * w * w.T / np.where(total > 0, total, 1.0), total)
    symmetric = replace(data, matrix=mean, weights=None if W is None else weight)
    return smacof(symmetric, n_components, 0.0, verbose=False, random_state=0).coordinates


def drift_null(known: SkewPairs, X: Array, n_flips: int, seed: int) -> Any:
    """Share of the skew part that heights linear on X explain, beside that of random signs."""
    X = X - X.mean(axis=0)
    U = np.linalg.svd(X, full_matrices=False)[0]
    inner = np.linalg.pinv(U.T @ laplacian(known.matrix(known.c)) @ U, hermitian=True)
    onto = (known.incidence(known.c) @ U).T  # of A on U'f

    def share(A: Array) -> Array:
        G = onto @ A.T
        return np.einsum("kb,kl,lb->b", G, inner, G) / (A**2 @ known.c)

    null = flip_signs(known.A, share, n_flips, seed)
    leverage = np.einsum("kp,kl,lp->p", onto, inner, onto)
    return null._replace(noise=float(leverage @ known.A**2 / (known.c @ known.A**2)))


def _test_replicates(
    replicates: Sequence[Any], weights: Any, n_components: int | None, n_flips: int, seed: int
) -> AsymmetryTest:
    """Tests of several tables of the same points."""
    tables = replicated(replicates, weights=weights)
    for table in tables:
        refuse_paths(table.provenance.paths, "asymmetry_test")
    if len(tables) < FEWEST_REPLICATES:
        raise InputError(
            f"must be at least {FEWEST_REPLICATES} tables, got {len(tables)}: fewer signs are never rare.",
            argument="replicates",
        )
    mean = replace(tables[0], matrix=np.mean([table.matrix for table in tables], axis=0))
    if is_symmetric(survey(pairs := Pairs.of(mean.matrix, mean.weights)), pairs):
        raise InputError("must be asymmetric: the mean of these tables is symmetric.", argument="replicates")
    skew = np.array([SkewPairs.of(Pairs.of(t.matrix, t.weights)).A for t in tables])
    known = SkewPairs.of(pairs)
    # Heights are linear in the table: what they leave of the mean is the mean of what they leave.
    gram = skew * np.sqrt(known.c) @ (skew * np.sqrt(known.c)).T
    rest = without_heights(known, skew) * np.sqrt(known.c)
    words = ("the same in all replicates", "it may be noise")
    return AsymmetryTest(
        mean.n_points,
        **_test_table(mean, n_components, n_flips, seed),
        n_components=n_components,
        replicates=_mean_square("asymmetry of the mean of replicates", gram, n_flips, seed, words),
        replicated_circles=_mean_square("of it in circles", rest @ rest.T, n_flips, seed, words),
    )


def _mean_square(name: str, gram: Array, n_flips: int, seed: int, words: tuple[str, str]) -> TestResult:
    """Test of the squared norm of a mean, from the inner products of what it is the mean of, by flipping whole tables."""
    k = len(gram)

    def share(signs: Array) -> Array:
        """Squared norm of the mean over the mean squared norm: 1 if all tables agree, 1/K by chance."""
        return np.einsum("bk,kl,bl->b", signs, gram, signs) / (k * np.trace(gram))

    null = flip_signs(np.ones(k), share, n_flips, seed)._replace(noise=1 / k)
    return test_of(name, null, n_flips, seed, *words)
