"""Disparities: what a scaling makes of the data, so that only their order, or their shape, has to agree with a map.

Ratio scaling compares distances d on a map with the data D. The other scalings compare them with disparities dhat that come
from D by a rising function, fitted along with the map: of all vectors in a convex cone K(D), dhat is the nearest to d.

| scaling | cone | nearest element |
|---|---|---|
| ratio | ``b D``, b >= 0 | closed form |
| interval | ``a + b (D - min D)``, a and b >= 0 | closed form |
| spline | constant and I-splines of D, coefficients >= 0 | non-negative least squares |
| ordinal | rises with D; ties broken ("primary") or kept ("secondary") | isotonic regression |

With one function for all, ``dhat = P sqrt(size / sum w P^2)``, P the projection of d on the cone, ``size = sum w D^2``;
without a norm all disparities would be 0. With one function for each row (or column), each group g has a stress of its own:
with ``M = sum w``, ``A = sum w d^2``, ``B = sum w P^2`` over the group, the loss is ``sum_g M (1 - B/A)``. It equals
``sum W (d - T)^2`` with ``T = P A/B`` and ``W = w M B/A^2`` at these d, and lies below it elsewhere.

Kruskal's stress-1 at the best scale is ``sqrt(1 - (sum w d dhat)^2 / (sum w d^2 sum w dhat^2))``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression, nnls

from finsler._runtime import cached_property
from finsler.geometry.scaling import Blocks, DataPairs, Scaling, blocks_of, sum_by
from finsler.kernels.codes import sort_within

Array = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]

# A projection whose sum of squares is below this share of that of the distances counts as 0.
VOID = 1e-30


class Cone:
    """Vectors that a scaling allows, and the projection on them.

    ``table`` does it for sums over blocks, where all pairs of a block have the same disparity; ``project`` for the pairs.
    """

    def __init__(self, pairs: DataPairs, scaling: Scaling, blocks: Blocks | None = None):
        self.pairs, self.scaling = pairs, scaling
        self.blocks = blocks_of(pairs, scaling) if blocks is None else blocks
        group = self.blocks.group
        self.weights = sum_by(self.blocks.codes, pairs.weights) if pairs.weights is not None else (
            self.blocks.counts.astype(float)
        )  # fmt: skip
        self._group = np.zeros(len(self.weights), dtype=np.intp) if group is None else group
        ordinal = scaling.kind == "ordinal"
        free = (
            ordinal
            and scaling.ties == "primary"
            and not self.blocks.n_bins
            and bool((self.blocks.counts > 1).any())
        )
        self.tied = (
            not free and pairs.unreachable is None
        )  #: Whether pairs of a block have the same disparity.
        if not self.tied:
            self._base = np.argsort(self.blocks.codes, kind="stable")
            self._edges = np.concatenate([[0], np.cumsum(self.blocks.counts)])
        self._fit: Callable[[Array], Array] = {
            "ordinal": self._isotonic,
            "interval": self._straight,
            "ratio": self._proportional,
            "spline": self._smooth,
        }[scaling.kind]
        if scaling.kind == "spline":
            self._splines = self._design()

    @cached_property
    def members(self) -> Indices:
        """A pair of each block where the pairs of a block have the same disparity, else all pairs with a value."""
        if not self.tied:
            unreachable = self.pairs.unreachable
            return np.arange(len(self.pairs.at)) if unreachable is None else np.flatnonzero(~unreachable)
        found = np.empty(len(self.weights), dtype=np.intp)
        found[self.blocks.codes] = np.arange(len(self.blocks.codes))
        return found

    def table(self, sums: Array) -> Array:
        """Projection of each block, from the weighted sums of the distances in it."""
        return self._fit(sums)

    def project(self, d: Array) -> Array:
        """Projection of distances, a value for each pair."""
        codes, pairs = self.blocks.codes, self.pairs
        if self.tied:
            return self.table(sum_by(codes, d if pairs.weights is None else pairs.weights * d))[codes]
        if self.scaling.ties == "secondary":  # ties are kept, but for pairs without a value
            assert pairs.unreachable is not None
            means = sum_by(codes, pairs.w * d) / self.weights
            d = np.where(pairs.unreachable, d, means[codes])
        order = self._base.copy()
        sort_within(d, self._edges, order)
        w = None if pairs.weights is None else pairs.weights[order]
        group = None if pairs.group is None else pairs.group[order]
        P = np.empty(len(d))
        P[order] = _rising(d[order], w, group)
        return P

    def _isotonic(self, sums: Array) -> Array:
        return _rising(sums / self.weights, self.weights, self.blocks.group)

    def _proportional(self, sums: Array) -> Array:
        v = self.blocks.values
        square, product = self._sum(self.weights * v * v), self._sum(sums * v)
        return (product / np.where(square > 0, square, 1.0))[self._group] * v

    def _straight(self, sums: Array) -> Array:
        """Least squares with the columns 1 and v >= 0; if a coefficient is negative, with the better of the two alone."""
        v, w = self._from_least(), self.weights
        n, x, xx, y, xy = (self._sum(s) for s in (w, w * v, w * v * v, sums, sums * v))
        n, xx = np.where(n > 0, n, 1.0), np.where(xx > 0, xx, np.inf)
        spread = n * np.where(np.isfinite(xx), xx, 0.0) - x * x
        both = spread > 1e-14 * x * x
        slope = np.where(both, (n * xy - x * y) / np.where(both, spread, 1.0), -1.0)
        level = (y - slope * x) / n
        flat = y**2 / n >= xy**2 / xx
        inside = both & (slope >= 0) & (level >= 0)
        slope = np.where(inside, slope, np.where(flat, 0.0, xy / xx))
        level = np.where(inside, level, np.where(flat, y / n, 0.0))
        return level[self._group] + slope[self._group] * v

    def _smooth(self, sums: Array) -> Array:
        P = np.empty(len(sums))
        for blocks, B, root, inverse in self._splines:
            P[blocks] = B @ nnls(root, inverse @ (B.T @ sums[blocks]))[0]
        return P

    def _design(self) -> list[tuple[slice, Array, Array, Array]]:
        """For each group: its blocks, its splines B, and R and its inverse with ``R'R = B'WB``, for least squares."""
        edges = np.searchsorted(self._group, np.arange(self.pairs.n_groups + 1))
        found = []
        for low, high in pairwise(edges):
            if high > low:
                B = rising_splines(self.blocks.values[low:high], self.scaling.degree, self.scaling.knots)
                values, vectors = np.linalg.eigh(B.T @ (self.weights[low:high, None] * B))
                used = values > 1e-13 * values[-1]
                root = np.sqrt(values[used])[:, None] * vectors[:, used].T
                inverse = vectors[:, used].T / np.sqrt(values[used])[:, None]
                found.append((slice(low, high), B, root, inverse))
        return found

    def _from_least(self) -> Array:
        least = np.full(self.pairs.n_groups, np.inf)
        np.minimum.at(least, self._group, self.blocks.values)
        return self.blocks.values - least[self._group]

    def _sum(self, per_block: Array) -> Array:
        return sum_by(self._group, per_block, self.pairs.n_groups)


def _rising(y: Array, w: Array | None, group: Indices | None) -> Array:
    """Isotonic regression, inside each group by itself: shifted apart, groups do not touch each other."""
    if group is None:
        return isotonic_regression(y, weights=w).x
    shift = group * (1.01 * float(y.max(initial=0.0)))
    return np.maximum(isotonic_regression(y + shift, weights=w).x - shift, 0.0)


def rising_splines(values: Array, degree: int, knots: int) -> Array:
    """Constant and I-splines at distinct ``values``, a column each: sums of B-splines from each one on.

    Examples
    --------
    >>> rising_splines(np.array([0.0, 1.0, 2.0]), 1, 0)
    array([[1. , 0. ],
           [1. , 0.5],
           [1. , 1. ]])
    """
    from scipy.interpolate import BSpline  # only here: it takes long to import

    low, high = float(values.min()), float(values.max())
    if not high > low:
        return np.ones((len(values), 1))
    inner = np.quantile(np.unique(values), np.arange(1, knots + 1) / (knots + 1))
    t = np.concatenate([np.full(degree + 1, low), inner, np.full(degree + 1, high)])
    B = BSpline.design_matrix(values, t, degree).toarray()
    B = np.cumsum(B[:, ::-1], axis=1)[:, ::-1]
    B[:, 0] = 1.0
    return B


class Targets(NamedTuple):
    """Disparities of some distances."""

    values: Array  # of each pair
    weights: Array  # of each pair: those of the data, or those that make the loss of the groups
    loss: float  # sum of weights (d - values)^2


def targets(cone: Cone, d: Array, size: float) -> Targets:
    """Disparities nearest to distances ``d``, in the norm that the module tells of; ``size`` is ``sum w D^2``."""
    pairs, P = cone.pairs, cone.project(d)
    w = pairs.w
    square = pairs.by_group(w * P * P)
    if not cone.scaling.by_group:
        T = P * np.sqrt(size / square[0]) if square[0] > 0 else P
        return Targets(T, w, float(w @ (d - T) ** 2))
    own = pairs.by_group(w * d * d)
    share = pairs.by_group(w) * (size / (w.sum() or 1.0))
    sound = (own > 0) & (square > VOID * own)
    A, B = np.where(sound, own, 1.0), np.where(sound, square, 1.0)
    T = np.where(pairs.spread(sound), P * pairs.spread(A / B), d)
    W = w * pairs.spread(share * B / A**2)
    return Targets(T, W, float((share * np.where(sound, 1 - B / A, 0.0)).sum()))


def kruskal(d: Array, disparities: Array, weights: Array | None = None) -> float:
    """Kruskal's stress-1 of distances beside disparities, at the scale that is best.

    Examples
    --------
    >>> kruskal(np.array([1.0, 2.0, 2.0]), np.array([2.0, 4.0, 4.0]))
    0.0
    """
    w = np.ones(len(d)) if weights is None else weights
    square = float(w @ d**2) * float(w @ disparities**2)
    if not square > 0:
        return 0.0
    slope = float(w @ (d * disparities)) / float(w @ disparities**2)
    rest = float(w @ (d - slope * disparities) ** 2)  # the same as in the formula, without its cancellation
    return float(np.sqrt(rest / float(w @ d**2)))


@dataclass(frozen=True, eq=False)
class Transformation:
    """Function from data to disparities: ``transformation(values)``, linear between the data and constant beyond them.

    Examples
    --------
    >>> double = Transformation(np.array([1.0, 2.0, 2.0]), np.array([2.0, 3.0, 5.0]))
    >>> double([1.5, 2.0, 9.0])
    array([3., 4., 4.])
    """

    x: Array  #: Data, rising; repeated where ties are broken.
    y: Array  #: Their disparities.

    def __call__(self, values: ArrayLike) -> Array:
        """Disparities of values; what is not finite stays."""
        values = np.asarray(values, dtype=float)
        x, first, counts = np.unique(self.x, return_index=True, return_counts=True)
        y = np.add.reduceat(self.y, first) / counts
        return np.where(np.isfinite(values), np.interp(values, x, y), values)


def transformations(cone: Cone, disparities: Array) -> list[Transformation]:
    """Functions behind disparities, one for each group; pairs without a value left out."""
    blocks, pairs = cone.blocks, cone.pairs
    x, kept = blocks.values[blocks.codes], cone.members
    order = kept[np.lexsort((disparities[kept], blocks.codes[kept]))]
    if pairs.group is None:
        return [Transformation(x[order], disparities[order])]
    edges = np.searchsorted(pairs.group[order], np.arange(pairs.n_groups + 1))
    return [Transformation(x[order[a:b]], disparities[order[a:b]]) for a, b in pairwise(edges)]
