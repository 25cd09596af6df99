"""Ordered pairs of points: read by tiles or by rows, summed up in one pass, and followed from point to point.

All of it works on checked arrays, see :mod:`finsler.data.matrix`: from row to column, weight 0 for unknown. Whatever is
NaN, infinite or a bound (negative) counts as unknown, too, and the diagonal is never looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import frexp
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from finsler import _runtime as runtime
from finsler.errors import InputError
from finsler.geometry.components import Linked, linked_components, reached
from finsler.kernels import asymmetry as kernels

T = TypeVar("T")
Array = NDArray[Any]

# Points on the side of a tile. It fits in a core's cache; a power of 2 would transpose slowly.
BLOCK = 248
CELLS = 1 << 20  # pairs of some rows looked at in one go, which bounds the memory


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of checked data, read by tiles. `unit`, a power of 2, brings their weights to about 1."""

    D: Array
    W: Array | None
    unit: float
    n_jobs: int | None

    @classmethod
    def of(cls, D: Any, weights: Any = None, n_jobs: int | None = None) -> Pairs:
        """Read arrays."""
        D, W = np.asarray(D), None if weights is None else np.asarray(weights)
        if D.ndim != 2 or D.shape[0] != D.shape[1] or (W is not None and W.shape != D.shape):
            raise InputError(
                f"D must be square and weights of its shape; got {D.shape}, {np.shape(weights)}."
            )
        largest = 0.0
        for i, row in enumerate(() if W is None else W):
            largest = max(largest, float(row[:i].max(initial=0)), float(row[i + 1 :].max(initial=0)))
        return cls(D, W, 2.0 ** min(frexp(largest)[1], 1023), n_jobs)

    @property
    def n(self) -> int:
        """Number of points."""
        return len(self.D)

    @property
    def rounding(self) -> float:
        """Relative rounding error of the values."""
        return float(np.finfo(self.D.dtype if self.D.dtype.kind == "f" else float).eps)

    def at(self, i: Any, j: Any) -> tuple[Array, Array]:
        """Values and weights from i to j, for whatever indexes an array; weight 0 is unknown."""
        d = np.asarray(self.D[i, j], dtype=np.float64)
        with np.errstate(invalid="ignore"):  # The diagonal may hold anything.
            w = (np.isfinite(d) & (d >= 0)).astype(np.float64)
            return d, w if self.W is None else w * (self.W[i, j] / self.unit)

    def tiles(self, start: int, stop: int, first: int = 0) -> Iterator[tuple[slice, list[Array]]]:
        """Columns, and [values there, back, weights there, back], of a block of rows; the diagonal is 0."""
        rows = slice(start, stop)
        for left in range(first, self.n, BLOCK):
            columns = slice(left, min(left + BLOCK, self.n))
            (d_there, w_there), (d_back, w_back) = self.at(rows, columns), self.at(columns, rows)
            tile = [np.array(a, order="C") for a in (d_there, d_back.T, w_there, w_back.T)]
            if left == start:
                for a in tile:
                    np.fill_diagonal(a, 0.0)
            yield columns, tile

    def rows(self, points: Any) -> Rows:
        """All pairs of some points, both ways; a slice of them, or their numbers."""
        everyone = slice(None)
        (ahead, w), (back, v) = self.at(points, everyone), self.at(everyone, points)
        return Rows(np.arange(self.n)[points], ahead, back.T, (w, v.T), self.rounding)

    def map(self, task: Callable[[int, int], T]) -> list[T]:
        """Run ``task(start, stop)`` on the blocks of rows, with threads."""
        return runtime.map_blocks(
            lambda _, *block: task(*block), [*range(0, self.n, BLOCK), self.n], self.n_jobs
        )


@dataclass(frozen=True, eq=False)
class Rows:
    """Dissimilarities from and to some points.

    Attributes
    ----------
    sources : ndarray of int of shape (k,)
        The points.
    ahead : ndarray of shape (k, n)
        From the source to each point; NaN, inf or negative where that is not known.
    back : ndarray of shape (k, n)
        From each point to the source.
    weights : pair of ndarrays of shape (k, n), optional
        Weights ahead and back; 1 by default.
    rounding : float
        Relative rounding error of the values.
    """

    sources: Array
    ahead: Array
    back: Array
    weights: tuple[Array, Array] | None = None
    rounding: float = float(np.finfo(float).eps)

    @property
    def n_points(self) -> int:
        """Number of points that the rows speak of."""
        return int(self.ahead.shape[1])

    @property
    def complete(self) -> bool:
        """Whether these are all rows."""
        return len(self.sources) == self.n_points

    def only(self, which: NDArray[np.bool_]) -> Rows:
        """Keep some of the rows."""
        weights = None if self.weights is None else (self.weights[0][which], self.weights[1][which])
        return Rows(self.sources[which], self.ahead[which], self.back[which], weights, self.rounding)

    def blocks(self) -> Iterator[tuple[slice, list[Array]]]:
        """Points, and values [ahead, back] and weights [ahead, back] of the rows there; 0 for unknown."""
        step = max(1, CELLS // max(len(self.sources), 1))
        for start in range(0, self.n_points, step):
            there = slice(start, min(start + step, self.n_points))
            own = np.flatnonzero((self.sources >= there.start) & (self.sources < there.stop))
            values, weights = [], []
            for k, side in enumerate((self.ahead, self.back)):
                d = np.array(side[:, there], dtype=float)
                known = np.isfinite(d) & (d >= 0)
                known[own, self.sources[own] - start] = False
                w = known.astype(float)
                if self.weights is not None:
                    w = np.where(known, self.weights[k][:, there], 0.0)
                d[w == 0] = 0.0
                values.append(d)
                weights.append(w)
            yield there, values + weights

    def skew(self) -> Iterator[tuple[slice, Array, Array]]:
        """Points, and the skew part ``(ahead - back) / 2`` and its weights c there; 0 unless both ways are known."""
        for there, (ahead, back, w, v) in self.blocks():
            c = harmonic(w, v)
            yield there, np.where(c > 0, (ahead - back) / 2, 0.0), c


def harmonic(w: Array, v: Array) -> Array:
    """Weight of a pair's skew part: the harmonic mean of its two weights, 0 unless both are above 0."""
    both = w + v
    return 2 * w * np.divide(v, both, out=np.zeros_like(both), where=both > 0)


@dataclass(frozen=True, eq=False)
class Survey:
    """Counts and sums over ordered pairs, weights in units of `Pairs`; c is the harmonic mean of a pair's two weights."""

    known: int
    unreachable: int
    one_way: int  #: Known, but not the way back.
    both: int  #: Known both ways, as are all the pairs below.
    positive: int  #: Both values are positive.
    skew: float  #: Sum of c A^2.
    total: float  #: Sum of w D^2.
    least: float  #: The least c.
    most: float  #: The largest c.
    ratio: float  #: The largest ratio of the two directions.
    gap: float  #: The largest D_ij - D_ji.
    widest: tuple[int, int]  #: The points i and j of that gap.
    flow: Array  #: Sum over i of c_ij A_ij, what runs into each point.
    degree: Array  #: Sum over i of c_ij.

    @property
    def uniform(self) -> bool:
        """Whether all pairs are known both ways and weigh the same."""
        n = len(self.flow)
        return self.both == n * (n - 1) and (self.least == self.most or n < 2)


def survey(pairs: Pairs) -> Survey:
    """Take every sum over pairs in one pass."""
    flow, degree = np.zeros(pairs.n), np.zeros(pairs.n)

    def task(start: int, stop: int) -> list[list[float]]:
        rows = []
        for columns, tile in pairs.tiles(start, stop):
            *sums, i, j = kernels.survey(*tile, flow[start:stop], degree[start:stop])
            rows.append([*sums, start + i, columns.start + j])
        return rows

    tiles = np.concatenate(pairs.map(task))
    known, unreachable, one_way, both, positive = tiles[:, :5].sum(axis=0).astype(int).tolist()
    skew, total = tiles[:, 5:7].sum(axis=0).tolist()
    most, ratio = tiles[:, 8:10].max(axis=0).tolist()
    gap, i, j = tiles[tiles[:, 10].argmax(), 10:].tolist()
    return Survey(
        known=known,
        unreachable=unreachable,
        one_way=one_way,
        both=both,
        positive=positive,
        skew=skew,
        total=total,
        least=float(tiles[:, 7].min()),
        most=most,
        ratio=ratio,
        gap=gap,
        widest=(int(i), int(j)),
        flow=flow,
        degree=degree,
    )


def strongly_connected(pairs: Pairs) -> bool:
    """Whether every point reaches every other one along known ordered pairs."""
    others = np.arange(1, pairs.n)
    return all(len(reached(0, others, _linked(pairs, way))) == pairs.n for way in ("out", "in"))


def components(pairs: Pairs, way: str) -> Array:
    """Number of each point's component, where pairs known in "either" direction, or in "both", connect."""
    return linked_components(pairs.n, _linked(pairs, way))


def _linked(pairs: Pairs, way: str) -> Linked:
    """Which of some points known pairs lead to from a point: "out", "in", "either" or "both" ways."""

    def linked(i: int, others: Array) -> Array:
        there = pairs.at(i, others)[1] > 0 if way != "in" else np.ones(len(others), bool)
        back = pairs.at(others, i)[1] > 0 if way != "out" else np.ones(len(others), bool)
        return there | back if way == "either" else there & back

    return linked
