"""Scores of a map too large for all pairs: some nodes are drawn, and all their pairs, both ways, are looked at.

The nodes drawn are not pivots of the map, so that what is measured is what the map was not shown. Each score is a ratio
of sums over the rows drawn, and its error is the standard error of such a ratio. With all nodes drawn the numbers are
those of `finsler.geometry.stress` and `finsler.geometry.asymmetry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from finsler._runtime import require_memory
from finsler.errors import InputError
from finsler.graphs.digraph import Digraph
from finsler.graphs.distances import WEIGHTINGS
from finsler.graphs.paths import shortest_paths

Array = NDArray[Any]


class Estimate(NamedTuple):
    """A number and its standard error; NaN where the rows do not define it."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4g} ± {self.error:.1g}"


@dataclass(frozen=True, eq=False)
class Rows:
    """Distances from and to some nodes.

    Attributes
    ----------
    sources : ndarray of int of shape (k,)
    ahead : ndarray of shape (k, N)
        From the source to each node, inf where there is no path.
    back : ndarray of shape (k, N)
        From each node to the source.
    """

    sources: Array
    ahead: Array
    back: Array

    @property
    def skew(self) -> Array:
        """Half of the difference of the two ways, NaN unless both are known; 0 at the source itself."""
        with np.errstate(invalid="ignore"):
            skew = (self.ahead - self.back) / 2
        skew[~np.isfinite(skew)] = np.nan
        skew[np.arange(len(self.sources)), self.sources] = np.nan
        return skew


@dataclass(frozen=True)
class SampledAsymmetry:
    """How asymmetric a graph is, from some of its rows; print it to read it."""

    n_nodes: int
    n_sources: int
    reachable: Estimate  #: Share of ordered pairs that a path joins.
    one_way: Estimate  #: Share of unordered pairs that a path joins one way only.
    asymmetry: Estimate  #: Sum of squares of the skew part over that of the distances, pairs known both ways.
    gradient_share: Estimate  #: Share of the asymmetry that follows heights: what a map can show.
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """Give the report as plain Python numbers and strings; each estimate is a value and its error."""
        return _plain(asdict(self))

    def __str__(self) -> str:
        lines = {
            "rows looked at": f"{self.n_sources:,} of {self.n_nodes:,}, both ways",
            "pairs with a path": str(self.reachable),
            "one way only": str(self.one_way),
            "asymmetry": str(self.asymmetry),
            "of it, gradient": str(self.gradient_share),
        }
        body = "\n".join(f"  {name:<22}{text}" for name, text in lines.items())
        return f"Asymmetry of {self.n_nodes:,} nodes, sampled\n{body}\n{self.verdict}"


@dataclass(frozen=True)
class SampledScores:
    """How well a map shows a graph, from rows that it was not made from."""

    n_sources: int
    normalized_stress: Estimate  #: sqrt(sum w (d - D)^2 / sum w D^2), as of the dense solver.
    sign_accuracy: Estimate  #: Share of pairs with unequal ways for which the map tells the dearer one.
    explained: Estimate  #: Share of the asymmetry that the map shows; negative if it shows a wrong one.
    asymmetry: SampledAsymmetry

    def to_dict(self) -> dict[str, Any]:
        """Give the scores as plain Python numbers and strings."""
        return _plain(asdict(self))

    def __str__(self) -> str:
        return (
            f"Held-out rows: {self.n_sources}\n  normalized stress     {self.normalized_stress}\n"
            f"  sign of asymmetry     {self.sign_accuracy}\n  asymmetry explained   {self.explained}\n{self.asymmetry}"
        )


def sample_rows(
    graph: Digraph,
    n_sources: int = 50,
    *,
    hops: bool = False,
    exclude: Sequence[int] | Array = (),
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> Rows:
    """Distances from and to randomly drawn nodes.

    Parameters
    ----------
    graph : Digraph
    n_sources : int
        Nodes to draw; all that are not excluded if there are fewer.
    hops : bool
        Count arcs instead of adding their lengths.
    exclude : sequence of int
        Nodes not to draw, such as the pivots of a map.
    random_state : int, RandomState instance or None
        Seed of the draw.
    n_jobs, verbose
        Threads, and the progress line.

    Examples
    --------
    >>> from finsler.graphs.digraph import as_digraph
    >>> rows = sample_rows(as_digraph([(0, 1), (1, 2), (2, 0)]), 1, exclude=[1, 2])
    >>> rows.ahead, rows.back
    (array([[0., 1., 2.]], dtype=float32), array([[0., 2., 1.]], dtype=float32))
    """
    n = graph.n_nodes
    if n_sources < 1:
        raise InputError(f"n_sources must be at least 1, got {n_sources}.")
    free = np.ones(n, dtype=bool)
    free[np.asarray(exclude, dtype=int)] = False
    candidates = np.flatnonzero(free)
    if not len(candidates):
        raise InputError("exclude leaves no node to draw: every node is excluded.")
    k = min(n_sources, len(candidates))
    require_memory(24.0 * k * n, f"{k} rows of {n:,} nodes", "Use fewer n_sources.")
    sources = np.sort(check_random_state(random_state).choice(candidates, k, replace=False))
    options: dict[str, Any] = {
        "method": "bfs" if hops else "auto",
        "dtype": np.float32,
        "n_jobs": n_jobs,
        "verbose": verbose,
    }
    ahead = shortest_paths(graph, sources, **options)
    back = shortest_paths(graph, sources, reverse=True, **options)
    return Rows(sources, ahead, back)


def sampled_asymmetry(rows: Rows) -> SampledAsymmetry:
    """Tell from some rows of a graph how asymmetric it is, and how much of that a map can show.

    The share that follows heights is cross-checked: heights fitted to half of the rows are tried on the other half. If
    all nodes were drawn there is nothing else to try them on, and the share is that of the fit.

    Examples
    --------
    >>> from finsler.graphs.digraph import as_digraph
    >>> hill = as_digraph([(0, 1, 2.0), (1, 0, 1.0), (1, 2, 2.0), (2, 1, 1.0)])
    >>> print(sampled_asymmetry(sample_rows(hill, 3)).verdict)
    The asymmetry is 10 % of the squared distances, and a map of enough dimensions can show up to 100 % of it.
    """
    k, n = rows.ahead.shape
    skew = rows.skew
    there, here = np.isfinite(rows.ahead), np.isfinite(rows.back)
    others = max(n - 1, 1)
    reachable = _ratio((there.sum(1) + here.sum(1) - 2) / 2, np.full(k, others), n)
    one_way = _ratio((there != here).sum(1), np.full(k, others), n)
    both = np.isfinite(skew)
    squares = _row_sums((rows.ahead.astype(float) ** 2 + rows.back.astype(float) ** 2) / 2, both)
    skews = _row_sums(skew.astype(float) ** 2, both)
    asymmetry = _ratio(skews, squares, n)
    gradient = _gradient_share(rows.sources, skew, both, skews, n)
    return SampledAsymmetry(
        n,
        k,
        reachable,
        one_way,
        asymmetry,
        gradient,
        _verdict(bool(both.any()), asymmetry.value, gradient.value),
    )


def sampled_scores(X: Array, drift: Array, rows: Rows, *, weighting: str = "uniform") -> SampledScores:
    """Scores of a map on some rows, of nodes that were not its pivots.

    Parameters
    ----------
    X : ndarray of shape (N, m)
        The map.
    drift : ndarray of shape (m,)
        Its drift.
    rows : Rows
        See :func:`sample_rows`.
    weighting : {"uniform", "inverse", "inverse-square"}
        Weights of the stress: 1, 1/d or 1/d^2.

    Examples
    --------
    >>> from finsler.graphs.digraph import as_digraph
    >>> hill = as_digraph([(0, 1, 1.5), (1, 0, 0.5), (1, 2, 1.5), (2, 1, 0.5)])
    >>> scores = sampled_scores(np.array([[0.0], [1.0], [2.0]]), np.array([0.5]), sample_rows(hill, 3))
    >>> scores.normalized_stress.value, scores.sign_accuracy.value, scores.explained.value
    (0.0, 1.0, 1.0)
    """
    X, omega = np.asarray(X, dtype=float), np.asarray(drift, dtype=float)
    k, n = rows.ahead.shape
    if X.shape != (n, len(omega)):
        raise InputError(
            f"X must have the shape ({n}, {len(omega)}), as rows and drift have it; got {X.shape}."
        )
    if weighting not in WEIGHTINGS:
        raise InputError(f"weighting must be one of {', '.join(map(repr, WEIGHTINGS))}, got {weighting!r}.")
    power = WEIGHTINGS[weighting]
    sums = np.zeros((5, k))  # misfit, squares, signs told, signs, misfit of the skew part
    skew = rows.skew
    for row, source in enumerate(rows.sources):
        u = X - X[source]
        e, a = np.sqrt((u**2).sum(axis=1)), u @ omega
        for d, D in ((e + a, rows.ahead[row]), (e - a, rows.back[row])):
            known = np.isfinite(D) & (np.arange(n) != source)
            known &= (D > 0) | (power == 0)
            data = D[known].astype(float)
            w = data**-power if power else np.ones(len(data))
            sums[0, row] += w @ (d[known] - data) ** 2
            sums[1, row] += w @ data**2
        A = skew[row]
        known = np.isfinite(A)
        unequal = known & (np.abs(np.nan_to_num(A)) > 1e-6 * np.nan_to_num(rows.ahead[row], posinf=0))
        sums[2, row] = np.count_nonzero(np.sign(A[unequal]) == np.sign(a[unequal]))
        sums[3, row] = np.count_nonzero(unequal)
        sums[4, row] = ((A[known] - a[known]) ** 2).sum()
    squared = _ratio(sums[0], sums[1], n)
    root = float(np.sqrt(squared.value))
    stress = Estimate(root, squared.error / (2 * root) if root > 0 else 0.0)
    skews = np.nansum(skew.astype(float) ** 2, axis=1)
    missed = _ratio(sums[4], skews, n)
    return SampledScores(
        k,
        stress,
        _ratio(sums[2], sums[3], n),
        Estimate(1 - missed.value, missed.error),
        sampled_asymmetry(rows),
    )


def fitted_heights(skew: Array) -> tuple[Array, Array]:
    """Heights of all nodes, and of the sources, that fit ``skew[s, j] = height[j] - source_height[s]`` best.

    Least squares over the entries that are not NaN. The heights of the nodes follow from those of the sources, which
    leaves as many equations as there are sources. Nodes that no source tells of get NaN.
    """
    known = np.isfinite(skew)
    C = known.astype(np.float32)
    A = np.where(known, skew, 0.0).astype(np.float32)
    per_node = C.sum(axis=0, dtype=float)
    scaled = C / np.maximum(per_node, 1.0).astype(np.float32)
    matrix = np.diag(C.sum(axis=1, dtype=float)) - (scaled @ C.T).astype(float)
    flow = A.sum(axis=0, dtype=float)
    rhs = (scaled @ flow.astype(np.float32)).astype(float) - A.sum(axis=1, dtype=float)
    g = np.linalg.lstsq(matrix, rhs, rcond=1e-6)[0]
    with np.errstate(invalid="ignore", divide="ignore"):
        h = (flow + g @ C) / np.where(per_node > 0, per_node, np.nan)
    return h, g


def _gradient_share(sources: Array, skew: Array, both: Array, skews: Array, n: int) -> Estimate:
    k = len(sources)
    if not skews.sum() > 0:
        return Estimate(float("nan"), float("nan"))
    missed = np.zeros(k)
    if k == n or k < 4:
        h, g = fitted_heights(skew)
        missed = _row_sums((skew - (h - g[:, None])) ** 2, both)
        rest = _ratio(missed, skews, n)
        return Estimate(1 - rest.value, rest.error)
    scored = np.zeros(k)
    for fold in (np.arange(k) % 2 == 0, np.arange(k) % 2 == 1):
        h, _ = fitted_heights(skew[~fold])
        with np.errstate(invalid="ignore"):
            rest_of = (skew[fold] - (h - h[sources[fold]][:, None])) ** 2
        seen = both[fold] & np.isfinite(rest_of)
        missed[fold] = _row_sums(rest_of, seen)
        scored[fold] = _row_sums(skew[fold].astype(float) ** 2, seen)
    rest = _ratio(missed, scored, n)
    return Estimate(1 - rest.value, rest.error)


def _row_sums(values: Array, use: Array) -> Array:
    return np.asarray(np.where(use, values, 0.0).sum(axis=1, dtype=float))


def _ratio(top: Array, bottom: Array, n: int) -> Estimate:
    """Ratio of two sums over rows drawn without replacement from n, with its standard error."""
    total = float(np.sum(bottom))
    if not total > 0:
        return Estimate(float("nan"), float("nan"))
    k = len(top)
    value = float(np.sum(top)) / total
    if k < 2:
        return Estimate(value, float("nan"))
    spread = float(((top - value * bottom) ** 2).sum()) * k / (k - 1)
    return Estimate(value, float(np.sqrt(max(0.0, 1 - k / n) * spread)) / total)


def _verdict(known: bool, asymmetry: float, gradient: float) -> str:
    if not known:
        return "No pair of these rows has a path both ways, so nothing tells how asymmetric the graph is."
    if not asymmetry > 1e-6:
        return "The graph is symmetric: use alpha = 0."
    amount = f"The asymmetry is {100 * asymmetry:.2g} % of the squared distances"
    if gradient >= 0.5:
        return f"{amount}, and a map of enough dimensions can show up to {100 * gradient:.3g} % of it."
    return f"{amount}, but only {100 * max(gradient, 0.0):.3g} % of it follows heights; no map can show the rest."


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {"value": value.value, "error": value.error}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
