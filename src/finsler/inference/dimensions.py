"""How many dimensions, and a drift or none? Pairs that are held out, and the stress beside that of exchanged pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from finsler._arguments import check_arguments
from finsler.data.matrix import Dissimilarities
from finsler.data.provenance import count
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.components import matrix_components
from finsler.geometry.randers import randers_distances
from finsler.inference.fit import RefitOptions, exchanged, fitted_stress, map_of
from finsler.inference.results import MOST_DRAWS, Result, checked, many_small_fits, seed_of
from finsler.solvers.options import check_names

Array = NDArray[Any]
# Alpha of each model, and whether its drift turns; the simpler ones first.
MODELS: dict[str, tuple[float | str, bool]] = {
    "symmetric": (0.0, False), "randers": ("auto", False), "swirl": ("auto", True)
}  # fmt: skip
SCALINGS = ("ratio", "interval", "spline", "ordinal")  # the simpler ones first
FOLDS = 10
RANDOM_TABLES = 20
FEWEST_TO_RANK = 5  # pairs held out at a time where their order is judged: of two or three, most orders are right by chance


class Candidate(NamedTuple):
    """A model of a dimension, and how far off it is where it was not fitted."""

    n_components: int
    model: str
    scaling: str
    error: float  #: Root of the share of held-out squares that it misses; with another scaling, of 1 - Spearman's rho^2.
    folds: Array  #: Squared errors of each fold; they sum to ``error ** 2``.
    excess: float  #: Of the squared error over the best candidate.
    excess_se: float  #: Standard error of that, from the differences in each fold.


@dataclass(frozen=True, eq=False)
class CrossValidation(Result):
    """Candidates, the best and the chosen one."""

    table: list[Candidate]  #: The simpler ones first.
    best: int  #: Place of the least error.
    chosen: int  #: Place of the simplest whose excess is within its standard error.
    n_folds: int
    random_state: int

    @property
    def enough(self) -> int:
        """Place of the simplest candidate whose error is at most a tenth above the least one."""
        least = self.table[self.best].error
        return next(k for k, one in enumerate(self.table) if one.error <= 1.1 * least)

    def summary(self) -> str:
        """Say in a few lines what was chosen."""
        lines = [f"Error on held-out pairs ({self.n_folds} folds)"]
        for k, one in enumerate(self.table):
            mark = " <- chosen" * (k == self.chosen) + ", best" * (k == self.best != self.chosen)
            scaling = f"{one.scaling:<9}" if any(row.scaling != "ratio" for row in self.table) else ""
            lines.append(f"  {one.n_components} dim.  {one.model:<10} {scaling}{one.error:.4f}{mark}")
        if self.enough < self.chosen:
            simple = self.table[self.enough]
            lines.append(
                f"  {simple.n_components} dim. {simple.model} comes within a tenth of the least error"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python data."""
        rows = [{**one._asdict(), "folds": one.folds.tolist()} for one in self.table]
        return {**super().to_dict(), "table": rows}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the error on held-out pairs over the dimensions."""
        from finsler.plotting.inference import plot_cross_validation

        return plot_cross_validation(self, ax=ax)


@dataclass(frozen=True, eq=False)
class Scree(Result):
    """Stress-1 over the dimensions, beside that of the same values in random places."""

    dims: list[int]
    alpha: float | str
    stress: Array  #: Of each dimension.
    random: Array  #: Of each random table (row) and dimension (column).
    cross_validation: CrossValidation | None
    random_state: int

    def summary(self) -> str:
        """Say it in a few lines."""
        lines = ["dimensions  stress-1  in random places"]
        for k, m in enumerate(self.dims):
            chance = (
                ""
                if not len(self.random)
                else f"{self.random[:, k].mean():.4f} (sd {self.random[:, k].std():.4f})"
            )
            lines.append(f"{m:>10}  {self.stress[k]:8.4f}  {chance}")
        if self.cross_validation is not None:
            lines.append(str(self.cross_validation))
        return "\n".join(lines)

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the stress over the dimensions, and the band of random tables."""
        from finsler.plotting.inference import plot_dimensions

        return plot_dimensions(self, ax=ax)


def cross_validate(
    D: Any,
    weights: Any = None,
    *,
    dims: Sequence[int] = (1, 2, 3, 4),
    models: Sequence[str] = ("symmetric", "randers"),
    scalings: Sequence[str] = ("ratio",),
    n_folds: int = FOLDS,
    random_state: int | None = 0,
) -> CrossValidation:
    """Choose the dimension of a map, and whether it has a drift, by pairs that are held out.

    Pairs are held out with both their directions, so that every point loses about as many in each fold. Chosen is the
    simplest candidate whose error exceeds the least one by no more than its standard error.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities
        Dissimilarities from row to column; NaN and inf are left out. Lengths of paths are refused: what is held out could be
        told from the others.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    dims : sequence of int
        Dimensions to try.
    models : sequence of {"symmetric", "randers", "swirl"}
        Without a drift, with one that is fitted, or with one that may turn (not on a line).
    scalings : sequence of {"ratio", "interval", "spline", "ordinal"}
        How dissimilarities become disparities. Unless "ratio" is the only one, the error is that of the order: 1 minus
        the square of Spearman's correlation on the pairs held out.
    n_folds : int
        Parts of the pairs, fewer if there are not enough pairs; each costs a fit of every candidate.
    random_state : int, optional
        Seed of the parts. None draws one and tells it.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> import finsler
    >>> rng = np.random.default_rng(0)
    >>> D = finsler.randers_distances(rng.normal(size=(15, 2)), drift=0.3) * rng.lognormal(sigma=0.05, size=(15, 15))
    >>> found = cross_validate(D, dims=(1, 2))
    >>> found.table[found.chosen][:2]
    (2, 'randers')
    """
    check_arguments(cross_validate, locals())
    data = checked(D, weights, what="cross_validate")
    seed = seed_of(random_state)
    sizes = sorted({check_count("dims", m) for m in dims})
    for name, values, known in (("models", models, MODELS), ("scalings", scalings, SCALINGS)):
        for value in values:
            check_choice(name, value, known)
    for name, n in (("dims", len(dims)), ("models", len(models)), ("scalings", len(scalings))):
        if not n:
            raise InputError("must not be empty.", argument=name)
    w = ~np.eye(data.n_points, dtype=bool) if data.weights is None else data.weights > 0
    least = np.count_nonzero(w | w.T, axis=1).min()
    if least < 3:
        few = (
            f"{data.n_points} points"
            if least == data.n_points - 1
            else f"a point with {count(int(least), 'known pair')}"
        )
        raise InputError(
            f"has {few}: pairs can be held out if each point has at least 3, for a map in one dimension.",
            argument="D",
        )
    if least <= max(sizes) + 1:
        raise InputError(
            f"must be at most {least - 2} (--max-dim): some point of D has {count(int(least), 'known pair')}, one of which "
            "is held out at a time, and its place takes more of them than there are dimensions.",
            argument="dims",
        )
    by_order = set(scalings) != {"ratio"}
    n_folds = _fewer_folds(check_count("n_folds", n_folds, 2, max(2, data.n_points**2)), w, by_order)
    fold = _folds(w, n_folds, max(sizes), np.random.default_rng(seed))
    tried = [
        (m, model, scaling)
        for m in sizes
        for model in MODELS
        for scaling in SCALINGS
        if model in models and scaling in scalings and (m > 1 or not MODELS[model][1])
    ]
    errors = np.zeros((len(tried), n_folds))
    with many_small_fits():
        for k in range(n_folds):
            for c, (m, model, scaling) in enumerate(tried):
                alpha, swirl = MODELS[model]
                options = {"scaling": scaling, "swirl": swirl}
                errors[c, k] = _held_out_error(data, fold == k, m, alpha, options, by_order)
    errors /= n_folds if by_order else 1
    total = errors.sum(axis=1)
    best = int(total.argmin())
    apart = errors - errors[best]
    spread = apart.std(axis=1, ddof=1) * np.sqrt(n_folds)
    table = [
        Candidate(*one, float(np.sqrt(total[c])), errors[c], float(total[c] - total[best]), float(spread[c]))
        for c, one in enumerate(tried)
    ]
    chosen = next(c for c, one in enumerate(table) if one.excess <= one.excess_se)
    return CrossValidation(table, best, chosen, n_folds, seed)


def _fewer_folds(n_folds: int, known: Array, by_order: bool) -> int:
    """Parts of the pairs, no more than there are pairs for: one each, or enough to judge their order."""
    pairs = int(np.count_nonzero(np.triu(known | known.T, 1)))
    most = pairs // (FEWEST_TO_RANK if by_order else 1)
    if most < 2:
        raise InputError(
            f"has {pairs} known pairs: scalings are compared by the order of pairs held out, which takes at least "
            f"{2 * FEWEST_TO_RANK}.",
            argument="D",
        )
    return min(n_folds, most)


def _folds(known: Array, n_folds: int, m: int, rng: np.random.Generator) -> Array:
    """Fold of each pair, -1 where nothing is known: as many in each at every point, as far as can be."""
    either = known | known.T
    i, j = np.nonzero(np.triu(either, 1))
    fold = np.full(known.shape, -1)
    load = np.zeros((len(known), n_folds))
    for k in rng.permutation(len(i)):
        a, b = i[k], j[k]
        both = load[a] + load[b]
        f = rng.choice(np.flatnonzero(both == both.min()))
        fold[a, b] = fold[b, a] = f
        load[[a, b], f] += 1
    for f in range(n_folds):
        kept = either & (fold != f)
        if kept.sum(axis=1).min() <= m or matrix_components(kept).any():
            raise InputError(
                f"must be larger, or dims lower: without a part of {n_folds} some point of D has too few known pairs for "
                f"{m} dimensions.", argument="n_folds",
            )  # fmt: skip
    return fold


def _held_out_error(
    data: Dissimilarities,
    out: Array,
    m: int,
    alpha: float | str,
    options: Mapping[str, Any],
    by_order: bool = False,
) -> float:
    """Squared error on pairs that are held out, as a share of all squares; or 1 - Spearman's rho^2 there.

    A map that turns the order round, or tells none, is as wrong as can be.
    """
    D = data.matrix.astype(float)
    w = (~np.eye(len(D), dtype=bool)).astype(float) if data.weights is None else data.weights.astype(float)
    known = np.where(w > 0, D, 0.0)
    part = replace(data, matrix=known, weights=np.where(out, 0.0, w))
    solution = map_of(part, m, alpha, options)
    d = randers_distances(
        solution.coordinates, drift=solution.drift, swirl=solution.swirl, geodesic=solution.geodesic
    )
    if by_order:
        pairs = out & (w > 0)
        if np.ptp(d[pairs]) == 0 or np.ptp(known[pairs]) == 0:
            return 1.0
        return 1 - max(float(spearmanr(d[pairs], known[pairs]).statistic), 0.0) ** 2
    apart = d - known
    return float((w * apart**2)[out].sum() / (w * known**2).sum())


def scree(
    D: Any,
    weights: Any = None,
    *,
    dims: Sequence[int] = (1, 2, 3, 4),
    alpha: float | str = "auto",
    n_permutations: int = RANDOM_TABLES,
    cross_validated: bool | CrossValidation = False,
    random_state: int | None = 0,
    **options: Unpack[RefitOptions],
) -> Scree:
    """Stress-1 of maps of several dimensions, beside that of the same values in random places.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities
        Dissimilarities from row to column; NaN and inf are left out. Lengths of paths are refused.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    dims : sequence of int
        Dimensions to try.
    alpha : float in [0, 1) or "auto"
        Strength of the drift.
    n_permutations : int
        Random tables, each of which costs a fit of every dimension; 0 for none.
    cross_validated : bool or CrossValidation
        Also choose the dimension by :func:`cross_validate`; or one that was made before, to be shown beside.
    random_state : int, optional
        Seed. None draws one and tells it.
    **options
        As of :func:`~finsler.inference.fit_test`.

    Returns
    -------
    Scree

    Examples
    --------
    >>> import finsler
    >>> X = np.random.default_rng(0).normal(size=(12, 2))
    >>> found = scree(finsler.randers_distances(X, drift=0.3), dims=(1, 2), n_permutations=2)
    >>> bool(found.stress[1] < 1e-3 < found.random[:, 1].min())
    True
    """
    check_arguments(scree, locals())
    check_names("scree", options, RefitOptions)
    data = checked(D, weights, what="scree")
    check_count("n_permutations", n_permutations, 0, MOST_DRAWS)
    sizes, seed = sorted({check_count("dims", m) for m in dims}), seed_of(random_state)
    if not sizes or sizes[-1] >= data.n_points:
        raise InputError(
            f"must lie between 1 and {data.n_points - 1} for D of {data.n_points} points, got {sizes}.",
            argument="dims",
        )
    tables = exchanged(data, np.random.default_rng(seed))
    with many_small_fits():
        stress = np.array([fitted_stress(data, m, alpha, options) for m in sizes])
        drawn = [next(tables) for _ in range(n_permutations)]
        random = [[fitted_stress(table, m, alpha, options) for m in sizes] for table in drawn]
    chosen = cross_validated if isinstance(cross_validated, CrossValidation) else None
    if cross_validated is True:
        scaling = options.get("scaling", "ratio")
        chosen = cross_validate(data, dims=sizes, scalings=[scaling], random_state=seed)
    return Scree(sizes, alpha, stress, np.array(random).reshape(-1, len(sizes)), chosen, seed)
