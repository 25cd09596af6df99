"""Ordered pairs of points, all or those of some rows: counted and summed in one pass, and followed from point to point.

What rows drawn at random tell of all comes with its standard error (`Estimate`). SciPy is not needed here, so that saved
maps, which carry such estimates, load fast.

All of it works on checked arrays, see :mod:`finsler.data.matrix`: from row to column, weight 0 for unknown. Whatever is
NaN, infinite or a bound (negative) counts as unknown, too, and the diagonal is never looked at.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import frexp, isfinite, sqrt
from typing import Any, Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from finsler import _runtime as runtime
from finsler.errors import InputError
from finsler.geometry.components import Linked, linked_components, reached

Array = NDArray[Any]
T = TypeVar("T")
# Where alpha comes from: given by the user; fitted to the data; 0 because the data are symmetric, or because their
# asymmetry runs in circles; fitted, but to pairs known one way only; fitted, but hardly determined.
AlphaSource = Literal["given", "fitted", "symmetric", "cyclic", "one_way", "unclear"]
Part = tuple[Array, Array, Array, Array, tuple[int, int, float, float]]

BLOCK = 64  # rows that a thread takes at a time
CELLS = 1 << 16  # pairs of some rows looked at in one go: they stay in a core's cache
RATIOS = 2_000_000  # pairs at most that enter the quantiles of ratios


class Estimate(NamedTuple):
    """A number and its standard error; None where the rows do not define it."""

    value: float | None
    error: float | None = 0.0

    def __str__(self) -> str:
        if self.value is None:
            return "not defined"
        return f"{self.value:.4g}" + ("" if self.error is None else f" ± {self.error:.1g}")


def ratio_of_rows(top: Array, bottom: Array, n: int) -> Estimate:
    """Ratio of two sums over rows drawn without replacement from n, with its standard error."""
    total, k = float(np.sum(bottom)), len(top)
    if not total > 0:
        return Estimate(None, None)
    value = float(np.sum(top)) / total
    if k == n or k < 2:
        return Estimate(value, 0.0 if k == n else None)
    spread = float(((top - value * bottom) ** 2).sum()) * k / (k - 1)
    return Estimate(value, sqrt((1 - k / n) * spread) / total)


def one_minus(rest: Estimate) -> Estimate:
    """Estimate of what is left of 1."""
    return rest if rest.value is None else Estimate(1 - rest.value, rest.error)


def from_saved(kind: Callable[..., T], record: Any) -> T:
    """Estimate of this kind from what was saved of it: finite numbers, or None."""
    for value in record.values():
        if value is not None and (type(value) not in (int, float) or not isfinite(value)):
            raise TypeError(f"found {value!r}")
    return kind(**record)


class AsymmetryShown(NamedTuple):
    """How much of the asymmetry a map shows."""

    share: float | None  #: 1 is all of it, below 0 worse than nothing; None for symmetric data.
    error: float | None = 0.0  #: Standard error, if it comes from some rows.
    n_rows: int | None = None  #: Rows looked at; None for all.
    available: float | None = None  #: The share that the best heights would show.
    noise: float | None = None  #: The share that they would show of noise alone; None if that is not known.

    def __str__(self) -> str:
        if self.share is None:
            return "nothing to show: the data are symmetric where they are known both ways"
        error = f" ± {100 * self.error:.2g}" if self.error else ""
        most = "" if self.available is None else f"; up to {100 * self.available:.3g} % can be shown"
        most += "" if self.noise is None else f" (noise alone: {100 * self.noise:.3g} %)"
        rows = "" if self.n_rows is None else f" (from {self.n_rows} rows)"
        return f"{100 * max(self.share, 0.0):.3g}{error} %{most}{rows}"

    def advice(self, n_components: int, may_turn: bool, n_points: int) -> str:
        """What may show more: another dimension if heights could, a drift that turns (if it `may`) if they cannot.

        Not more dimensions than half of the other points: with as many coordinates as pairs a map fits whatever there
        is, and nothing holds alpha.

        Examples
        --------
        >>> AsymmetryShown(0.3, available=0.9).advice(2, may_turn=True, n_points=20)
        ': try 3 dimensions'
        >>> AsymmetryShown(0.3, available=0.9).advice(2, may_turn=True, n_points=6)
        ''
        >>> AsymmetryShown(0.01, available=0.02).advice(2, may_turn=True, n_points=20)
        "; if the rest runs in circles, swirl='auto' (--swirl auto) shows it"
        """
        if self.share is None or self.available is None:
            return ""
        if self.available - max(self.share, self.noise or 0.0) > 0.2:
            more = n_components + 1
            return f": try {more} dimensions" if 2 * more < n_points else ""
        if may_turn and n_components > 1 and self.available < 0.3:
            return "; if the rest runs in circles, swirl='auto' (--swirl auto) shows it"
        return ""


@dataclass(frozen=True)
class SampledScores:
    """How well a map shows a graph, from rows that it was not made from."""

    n_sources: int
    normalized_stress: Estimate  #: sqrt(sum w (d - D)^2 / sum w D^2), as of the dense solver.
    sign_accuracy: Estimate  #: Share of pairs with unequal ways for which the map tells the costlier one.
    asymmetry_shown: AsymmetryShown  #: Share of the asymmetry that the map shows, beside what heights could.

    def to_dict(self) -> dict[str, Any]:
        """Give the scores as plain Python numbers."""
        scores = ("normalized_stress", "sign_accuracy", "asymmetry_shown")
        return {"n_sources": self.n_sources, **{name: getattr(self, name)._asdict() for name in scores}}

    @classmethod
    def from_dict(cls, record: dict[str, Any]) -> SampledScores:
        """Make the scores again from what :meth:`to_dict` gave."""
        stress, sign = (from_saved(Estimate, record[name]) for name in ("normalized_stress", "sign_accuracy"))
        shown = from_saved(AsymmetryShown, record["asymmetry_shown"])
        return cls(operator.index(record["n_sources"]), stress, sign, shown)

    def __str__(self) -> str:
        return (
            f"Held-out rows: {self.n_sources}\n  normalized stress     {self.normalized_stress}\n"
            f"  sign of asymmetry     {self.sign_accuracy}\n  asymmetry shown       {self.asymmetry_shown}"
        )


def _numbers(values: Any) -> Array:
    """Array of numbers, as it is if it holds any; text such as "1.5" is read."""
    array = np.asarray(values)
    return array if array.dtype.kind in "biuf" else array.astype(float)


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs of checked data. `unit`, a power of 2, brings their weights to about 1."""

    D: Array
    W: Array | None
    unit: float
    n_jobs: int | None

    @classmethod
    def of(cls, D: Any, weights: Any = None, n_jobs: int | None = None) -> Pairs:
        """Read arrays."""
        D, W = _numbers(D), None if weights is None else _numbers(weights)
        if D.ndim != 2 or D.shape[0] != D.shape[1] or (W is not None and W.shape != D.shape):
            raise InputError(
                f"D must be square and weights of its shape; got {D.shape}, {np.shape(weights)}."
            )
        largest = 0.0
        for i, row in enumerate(() if W is None else W):
            largest = max(largest, float(row[:i].max(initial=0)), float(row[i + 1 :].max(initial=0)))
        return cls(D, W, 2.0 ** min(frexp(largest)[1], 1023), n_jobs)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.D)

    def known(self, i: Any, j: Any) -> NDArray[np.bool_]:
        """Whether the way from i to j is known, for whatever indexes an array."""
        d = self.D[i, j]
        finite = np.isfinite(d) & (d >= 0)
        return finite if self.W is None else finite & (self.W[i, j] > 0)

    def rows(self, points: Any) -> Rows:
        """All pairs of some points, both ways; a slice of them, or their numbers."""
        weights = None if self.W is None else (self.W[points] / self.unit, self.W[:, points].T / self.unit)
        return Rows(np.arange(self.n_points)[points], self.D[points], self.D[:, points].T, weights)

    def map(self, task: Callable[[Rows], T]) -> list[T]:
        """Run ``task(rows)`` on blocks of rows, with threads."""
        edges = [*range(0, self.n_points, BLOCK), self.n_points]
        return runtime.map_blocks(lambda _, *block: task(self.rows(slice(*block))), edges, self.n_jobs)


@dataclass(frozen=True, eq=False)
class Rows:
    """Dissimilarities from and to some points."""

    sources: Array  #: The points, k of n.
    ahead: (
        Array  #: From the source to each point, shape (k, n); NaN, inf or negative where that is not known.
    )
    back: Array  #: From each point to the source.
    weights: tuple[Array, Array] | None = None  #: Weights ahead and back; 1 by default.

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
        return Rows(self.sources[which], self.ahead[which], self.back[which], weights)

    def map(self, task: Callable[[Rows], T]) -> list[T]:
        """Run ``task(rows)`` on these rows: as `Pairs.map`, for what does not care which of the two it looks at."""
        return [task(self)]

    def blocks(self) -> Iterator[tuple[slice, list[Array]]]:
        """Points, and values [ahead, back] and weights [ahead, back] of the rows there.

        Where the weight is 0 the value is 0, too, or inf if there is no way.
        """
        step = max(1, CELLS // max(len(self.sources), 1))
        for start in range(0, self.n_points, step):
            there = slice(start, min(start + step, self.n_points))
            own = np.flatnonzero((self.sources >= there.start) & (self.sources < there.stop))
            values, weights = [], []
            for k, side in enumerate((self.ahead, self.back)):
                d = np.array(side[:, there], dtype=float)
                d[own, self.sources[own] - start] = np.nan
                d[d < 0] = np.inf
                w = np.isfinite(d).astype(float)
                if self.weights is not None:
                    w = np.where(w > 0, self.weights[k][:, there], 0.0)
                d[(w == 0) & (d != np.inf)] = 0.0
                values.append(d)
                weights.append(w)
            yield there, values + weights

    def skew(self) -> Iterator[tuple[slice, Array, Array]]:
        """Points, and the skew part ``(ahead - back) / 2`` and its weights c there; 0 unless both ways are known."""
        for there, (ahead, back, w, v) in self.blocks():
            c = harmonic(w, v)
            yield there, np.subtract(ahead, back, out=np.zeros_like(c), where=c > 0) / 2, c


def harmonic(w: Array, v: Array) -> Array:
    """Weight of a pair's skew part: the harmonic mean of its two weights, 0 unless both are above 0."""
    both = w + v
    return 2 * w * np.divide(v, both, out=np.zeros_like(both), where=both > 0)


class Survey(NamedTuple):
    """What pairs tell. Counts are of the pairs looked at, each counted once; c is the harmonic mean of two weights."""

    looked_at: int  #: Ordered pairs.
    known: int
    unreachable: int
    one_way: int  #: Unordered pairs known one way only.
    both: int  #: Ordered pairs known both ways, as are all those below.
    known_share: Estimate
    asymmetry: Estimate  #: Sum of c A^2 over that of w D^2.
    skew: float  #: Sum of c A^2 over all rows looked at.
    flow: Array  #: For each row, the sum of c A that runs into its point.
    c_range: tuple[float, float]  #: The least and the largest c.
    ratios: Array  #: The larger over the smaller of the two directions; of `RATIOS` pairs at most, the largest among them.
    widest: tuple[int, int, float, float]  #: Pair of the largest difference: from, to, there and back.

    @property
    def uniform(self) -> bool:
        """Whether all pairs are known both ways and weigh the same."""
        n = len(self.flow)
        return self.both == n * (n - 1) and (self.c_range[0] == self.c_range[1] or n < 2)


def survey(data: Pairs | Rows, random_state: int = 0) -> Survey:
    """Count and sum pairs in one pass, all or those of some rows."""
    n = data.n_points
    k = n if isinstance(data, Pairs) else len(data.sources)
    inner = np.full(n, isinstance(data, Pairs))
    if isinstance(data, Rows):
        inner[data.sources] = True
    chance = RATIOS / (k * n)

    def look(rows: Rows) -> Part:
        return _look_at(rows, inner, chance, np.random.default_rng([random_state, int(rows.sources[0])]))

    counts, sums, extremes, ratios, widest = zip(*data.map(look), strict=True)
    known, skew, total, flow = np.concatenate(sums, axis=1)
    n_known, n_endless, n_both = (round(count) for count in np.sum(counts, axis=0).tolist())
    least, most, ratio = np.min(extremes, axis=0).tolist()
    return Survey(
        looked_at=k * (n - 1) + k * (n - k),
        known=n_known,
        unreachable=n_endless,
        one_way=n_known - n_both,
        both=n_both,
        known_share=ratio_of_rows(known, np.full(k, max(n - 1, 1)), n),
        asymmetry=ratio_of_rows(skew, total, n),
        skew=float(skew.sum()),
        flow=0.0 - flow,
        c_range=(least, -most),
        ratios=np.concatenate([*ratios, [-ratio] * (ratio < 0 and chance < 1)]),
        widest=max(widest, key=lambda pair: pair[2] - pair[3]),
    )


def _look_at(rows: Rows, inner: NDArray[np.bool_], chance: float, rng: np.random.Generator) -> Part:
    """Counts; sums of each row; least c, and the largest c and ratio, negative; ratios; and the widest pair."""
    counts, sums = np.zeros(3), np.zeros((4, len(rows.sources)))
    extremes, ratios, widest = np.array([np.inf, 0.0, 0.0]), [], (0, 0, 0.0, 0.0)
    for there, (ahead, back, w, v) in rows.blocks():
        forth, to, both = w > 0, v > 0, (w > 0) & (v > 0)
        twice = slice(None) if inner[there].all() else inner[there]  # Pairs among the sources come twice.
        for k, mask in (0, forth), (0, to), (1, np.isinf(ahead)), (1, np.isinf(back)), (2, both), (2, both):
            counts[k] += np.count_nonzero(mask) - np.count_nonzero(mask[:, twice]) / 2
        c, skew = harmonic(w, v), np.subtract(ahead, back, out=np.zeros_like(w), where=both) / 2
        ahead, back, pull = np.where(both, ahead, 0.0), np.where(both, back, 0.0), c * skew
        sums[0] += (np.count_nonzero(forth, axis=1) + np.count_nonzero(to, axis=1)) / 2
        sums[1] += np.einsum("ij,ij->i", pull, skew)
        sums[2] += (np.einsum("ij,ij->i", w * ahead, ahead) + np.einsum("ij,ij->i", v * back, back)) / 2
        sums[3] += pull.sum(axis=1)
        s, t = np.unravel_index(np.argmax(np.abs(skew)), skew.shape)
        if 2 * abs(skew[s, t]) > widest[2] - widest[3]:
            i, j, d, e = int(rows.sources[s]), there.start + int(t), float(ahead[s, t]), float(back[s, t])
            widest = (i, j, d, e) if d > e else (j, i, e, d)
        keep = (ahead > 0) & (back > 0)
        larger, smaller = np.maximum(ahead, back), np.minimum(ahead, back)
        with np.errstate(over="ignore"):  # beside subnormal numbers
            ratio = np.divide(larger, smaller, out=np.ones_like(c), where=keep)
        ratio = np.minimum(ratio, np.finfo(float).max)
        top = float(ratio.max()) if keep.any() else 0.0
        least = 1.0 if rows.weights is None else c.min(where=both, initial=np.inf)
        extremes = np.minimum(extremes, [least, -c.max(), -top])
        keep &= ~inner[there] | (np.arange(there.start, there.stop) > rows.sources[:, None])
        if chance < 1:
            keep &= rng.random(keep.shape, dtype=np.float32) < chance
        ratios.append(ratio[keep])
    return counts, sums, extremes, np.concatenate(ratios), widest


def strongly_connected(pairs: Pairs) -> bool:
    """Whether every point reaches every other one along known ordered pairs."""
    ways: tuple[Linked, Linked] = (pairs.known, lambda i, others: pairs.known(others, i))
    others = np.arange(1, pairs.n_points)
    return all(len(reached(0, others, linked)) == pairs.n_points for linked in ways)


def components(pairs: Pairs) -> Array:
    """Number of each point's component, where pairs known in either direction connect."""
    known = pairs.known
    return linked_components(pairs.n_points, lambda i, others: known(i, others) | known(others, i))
