"""Maps fitted again: to resampled replicates or counts (bootstrap), and without each point (jackknife).

A refit starts from the map of all data and is laid over it by any rotation and scale, see `finsler.inference.alignment`;
its drift is turned along. Of K replicates the covariance is multiplied by K / (K - 1), and the radius of an ellipse is that
of Hotelling's T^2, ``m (K - 1) / (K - m) F(m, K - m)``: with a few replicates the quantile of chi^2 is far too small.

A single table of counts is noisier than a mean of replicates. Its best map may lie in another valley of the stress than that
of the true shares, and logarithms of small counts are off on average. So a refit of counts does what the map did, it
searches for the best valley, and an ellipse has the mean square of the moves about the map, not about their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import f as f_distribution

from finsler._arguments import check_arguments
from finsler.data.matrix import Dissimilarities
from finsler.data.similarities import from_similarities
from finsler.embedding import Embedding
from finsler.errors import InputError, check_choice, check_count
from finsler.estimators.mds import FinslerMDS
from finsler.inference.alignment import best_motion
from finsler.inference.counts import checked_counts
from finsler.inference.ellipses import Confidence, check_level, chi2_radius
from finsler.inference.fit import map_of
from finsler.inference.results import MOST_DRAWS, Result, many_small_fits, replicated, seed_of
from finsler.solvers.nonmetric import scaled_smacof
from finsler.solvers.options import SolverOptions
from finsler.solvers.smacof import refitted

Array = NDArray[Any]
DRAWS = 200
FEWEST_REPLICATES = 5
SHOWN = 5  # points that a summary names


def bootstrap(
    replicates: Sequence[Any],
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    labels: Sequence[Any] | None = None,
    level: float = 0.95,
    n_draws: int = DRAWS,
    random_state: int | None = 0,
) -> Confidence:
    """Ellipses around the points of the map of a mean, from replicates: several tables of the same points.

    Parameters
    ----------
    replicates : sequence of array-like of shape (n, n)
        At least five tables, from row to column, complete. They may be lengths of paths: replicates show their errors as
        they are.
    n_components : int
        Dimension of the map.
    alpha : float in [0, 1) or "auto"
        Strength of its drift.
    labels : sequence, optional
        Names of the points.
    level : float
        Coverage of each ellipse.
    n_draws : int
        Resampled means, each of which costs a fit.
    random_state : int, optional
        Seed. None draws one and tells it.

    Returns
    -------
    Confidence

    Examples
    --------
    >>> import finsler
    >>> rng = np.random.default_rng(0)
    >>> D = finsler.randers_distances(rng.normal(size=(8, 2)), drift=0.3)
    >>> found = bootstrap([D * rng.lognormal(sigma=0.1, size=D.shape) for _ in range(8)], n_draws=20)
    >>> found.covariance.shape
    (8, 2, 2)
    """
    check_arguments(bootstrap, locals())
    tables = replicated(replicates, labels=labels)
    k = len(tables)
    needed = max(FEWEST_REPLICATES, check_count("n_components", n_components) + 1)
    if k < needed:
        raise InputError(
            f"must be at least {needed} tables for n_components = {n_components}, got {k}.",
            argument="replicates",
        )
    check_level(level)
    check_count("n_draws", n_draws, 2, MOST_DRAWS)
    seed = seed_of(random_state)
    rng, stack = np.random.default_rng(seed), np.array([table.matrix for table in tables], dtype=float)
    mean = replace(tables[0], matrix=stack.mean(axis=0), weights=None)
    draws = (replace(mean, matrix=stack[rng.integers(k, size=k)].mean(axis=0)) for _ in range(n_draws))
    radius = np.sqrt(
        n_components
        * (k - 1)
        / (k - n_components)
        * f_distribution.ppf(level, n_components, k - n_components)
    )
    whole = FinslerMDS(n_components, alpha=alpha, random_state=0, verbose=False).fit(mean).result_
    return _ellipses(whole, draws, alpha, float(radius), level, "replicates", seed, k / (k - 1))


def bootstrap_counts(
    counts: ArrayLike,
    *,
    similarity: str = "transition",
    zeros: str = "pseudocount",
    by: str = "row",
    n_components: int = 2,
    alpha: float | str = "auto",
    labels: Sequence[Any] | None = None,
    level: float = 0.95,
    n_draws: int = DRAWS,
    random_state: int | None = 0,
    **options: Any,
) -> Confidence:
    """Ellipses around the points of a map of counts, by counting again: multinomial draws with the observed shares.

    They tell what the counting alone makes uncertain, not whether the shares would be the same elsewhere.

    Parameters
    ----------
    counts : array-like of shape (n, n)
        Whole numbers from row to column: confusions, moves.
    similarity, zeros
        How they become dissimilarities, see :func:`~finsler.data.similarities.dissimilarities_from`.
    by : {"row", "table"}
        What is fixed: the sum of each row, as of signals that were each played so often; or that of the table, as of moves.
    n_components, alpha, labels, level, n_draws, random_state
        As in :func:`bootstrap`.
    **options
        ``diagonal`` of the transform.

    Returns
    -------
    Confidence

    Examples
    --------
    >>> moves = np.random.default_rng(0).poisson(50, size=(6, 6))
    >>> bootstrap_counts(moves, n_draws=10).covariance.shape
    (6, 2, 2)
    """
    check_arguments(bootstrap_counts, locals())
    n = checked_counts(counts)
    if not (n * ~np.eye(len(n), dtype=bool)).any():
        raise InputError("must have counts between different points.", argument="counts")
    check_choice("by", by, ("row", "table"))
    check_level(level)
    check_count("n_draws", n_draws, 2, MOST_DRAWS)
    seed = seed_of(random_state)
    rng = np.random.default_rng(seed)

    def measured(table: Array) -> Dissimilarities:
        return from_similarities(table, similarity, zeros=zeros, labels=labels, **options)

    used = n if options.get("diagonal") == "use" else n * ~np.eye(len(n), dtype=bool)
    blocks = used if by == "row" else used.reshape(1, -1)

    def drawn() -> Array:
        rows = [rng.multinomial(round(row.sum()), row / row.sum()) if row.sum() else row for row in blocks]
        return np.array(rows, dtype=float).reshape(n.shape)

    whole = (
        FinslerMDS(n_components, alpha=alpha, random_state=0, verbose=False, missing="mask")
        .fit(measured(n))
        .result_
    )
    draws = (measured(drawn()) for _ in range(n_draws))
    return _ellipses(
        whole, draws, alpha, chi2_radius(level, n_components), level, "counts", seed, search=True
    )


def _ellipses(
    whole: Embedding, draws: Iterable[Dissimilarities], alpha: float | str, radius: float, level: float, method: str,
    seed: int, factor: float = 1.0, search: bool = False,
) -> Confidence:  # fmt: skip
    """Ellipses from maps that are fitted again, from that of all data, and by its search if ``search``."""
    X, m = whole.coordinates, whole.n_components
    points, drifts, unclear = [], [], whole.alpha_source in ("one_way", "unclear")
    with many_small_fits():
        for data in draws:
            Y, omega, stress = refitted(data, X, whole.drift, fitted=alpha == "auto", unclear=unclear)
            if search and (best := map_of(data, m, alpha, {})).stress < stress:
                Y, omega = best.coordinates, best.drift
            motion = best_motion(X, Y, free=True)
            points.append(motion(Y))
            drifts.append(omega @ motion.rotation)
    moved, turned = np.array(points), np.array(drifts)
    apart, free = (moved - X, len(moved)) if search else (moved - moved.mean(axis=0), len(moved) - 1)
    covariance = factor * np.einsum("bik,bil->ikl", apart, apart) / free
    strength = np.linalg.norm(turned, axis=1)
    tilt = None
    if whole.alpha > 0 and m > 1:
        across = turned[:, :-1] - turned[:, :-1].mean(axis=0)
        tilt = float(
            np.degrees(np.sqrt(factor * (across**2).sum() / ((len(points) - 1) * (m - 1))) / whole.alpha)
        )
    return Confidence(
        covariance=covariance, radius=radius, level=level, method=method, n_draws=len(points), random_state=seed,
        alpha_se=float(np.sqrt(factor) * strength.std(ddof=1)) if alpha == "auto" else None, tilt_se=tilt, embedding=whole,
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Jackknife(Result):
    """How much a map changes if a point is left out."""

    stability: (
        float  #: 1 if nothing moves: 1 minus the squared moves over the squared distances from the center.
    )
    influence: Array  #: Of each point: root mean square of the moves of the others without it, over the radius of the map.
    alphas: Array  #: Strength of the drift without each point.
    embedding: Embedding = field(repr=False)

    def summary(self) -> str:
        """Say it in a few lines."""
        names = self.embedding.labels or list(range(len(self.influence)))
        order = np.argsort(-self.influence, kind="stable")[:SHOWN]
        most = ", ".join(f"{names[i]} ({100 * self.influence[i]:.2g} %)" for i in order)
        return (
            f"Stability when each point is left out: {self.stability:.5f} (1 is no change)\n"
            f"  alpha {self.embedding.alpha:.4g}, without a point {self.alphas.min():.4g} to {self.alphas.max():.4g}\n"
            f"  largest influence, as moves of the others over the radius of the map: {most}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python data."""
        return {**super().to_dict(), "embedding": repr(self.embedding), "labels": self.embedding.labels}

    def plot(self, *, ax: Any = None, **options: Any) -> Any:
        """Draw the map, colored by the influence of each point."""
        from finsler.plotting.maps import plot_map

        return plot_map(self.embedding, ax=ax, color=self.influence, color_label="influence", **options)


def jackknife(embedding: Embedding) -> Jackknife:
    """Leave each point out in turn and fit again: how stable is the map, and which points does it hang on?

    A description, no confidence.

    Parameters
    ----------
    embedding : Embedding
        A map with its data, of at least five points.

    Returns
    -------
    Jackknife

    Examples
    --------
    >>> import finsler
    >>> found = jackknife(finsler.embed_matrix(finsler.load_flight_hours().hours))
    >>> found.stability > 0.99
    True
    """
    check_arguments(jackknife, locals())
    embedding.require_one_drift("jackknife()")
    data, X = embedding.data, embedding.coordinates
    if data is None:
        raise InputError(
            "jackknife() needs the data of the map, and this map carries none (embedding.data is None)."
        )
    n, m = X.shape
    if n < max(5, m + 3):
        raise InputError(f"{n} points are too few to leave one out of a map in {m} dimensions.")
    if embedding.swirl is not None:
        raise InputError("jackknife() is for maps without a swirl.")
    fitted, unclear = embedding.alpha_source != "given", embedding.alpha_source in ("one_way", "unclear")
    scaling = None if embedding.scaled is None else embedding.scaled.scaling
    moved, size, influence, alphas = 0.0, 0.0, np.zeros(n), np.zeros(n)
    with many_small_fits():
        for k in range(n):
            rest = np.arange(n) != k
            part = _without(data, rest)
            if scaling is None:
                Y, omega, _ = refitted(
                    part, X[rest], embedding.drift, fitted=fitted, unclear=unclear, tol=1e-7
                )
            else:
                given: SolverOptions = {"init": X[rest], "verbose": False, "n_jobs": 1, "random_state": 0}
                solution = scaled_smacof(part, scaling, m, "auto" if fitted else embedding.alpha, **given)
                if solution.status == "interrupted":
                    raise KeyboardInterrupt
                Y, omega = solution.coordinates, solution.drift
            target = X[rest] - X[rest].mean(axis=0)
            apart = float(((best_motion(target, Y, free=True)(Y) - target) ** 2).sum())
            moved, size = moved + apart, size + float((target**2).sum())
            influence[k], alphas[k] = np.sqrt(apart / (target**2).sum()), np.linalg.norm(omega)
    return Jackknife(1 - moved / size, influence, alphas, embedding)


def _without(data: Dissimilarities, rest: Array) -> Dissimilarities:
    inside = np.ix_(rest, rest)
    labels = (
        None
        if data.labels is None
        else [label for label, kept in zip(data.labels, rest, strict=True) if kept]
    )
    weights = None if data.weights is None else data.weights[inside]
    return replace(data, matrix=data.matrix[inside], weights=weights, labels=labels)
