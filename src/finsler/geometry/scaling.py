"""Scalings, and what they act on: pairs with a value, and values that are tied or put into a bin."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import cached_property
from finsler.errors import InputError, check_choice, check_count

Array = NDArray[np.floating[Any]]
Indices = NDArray[np.intp]

KINDS = ("ratio", "interval", "ordinal", "spline")
TIES = ("primary", "secondary")
CONDITIONS = ("matrix", "row", "column", "parts")

# Values of which one is within this share of the largest above the other are tied: means of whole numbers and the like
# differ by rounding.
TIED = 1e-9
MANY = 200_000  # known pairs beyond which values without ties are put into bins
BINS = 1 << 13  # quantiles, and as many steps of equal width: neither dense nor far values are put together


@dataclass(frozen=True)
class Scaling:
    """How data become disparities.

    Parameters
    ----------
    kind : {"ratio", "interval", "ordinal", "spline"}
        Disparities are proportional to the data; a straight line of them; any rising function; or a smooth one.
    ties : {"primary", "secondary"}
        Whether equal data may have different disparities (ordinal only).
    conditional : {"matrix", "row", "column", "parts"}
        One function for all pairs, one for each row or column, or one for the symmetric part while the skew part is left as
        it is.
    degree, knots : int
        Degree of the spline, and its interior knots, at quantiles of the distinct values.

    Examples
    --------
    >>> print(Scaling("ordinal", conditional="row"))
    ordinal (ties broken), by row
    """

    kind: str = "ratio"
    ties: str = "primary"
    conditional: str = "matrix"
    degree: int = 2
    knots: int = 2

    def __post_init__(self) -> None:
        check_choice("scaling", self.kind, KINDS)
        check_choice("ties", self.ties, TIES)
        check_choice("conditional", self.conditional, CONDITIONS)
        check_count("spline_degree", self.degree)
        check_count("spline_knots", self.knots, 0)

    @property
    def metric(self) -> bool:
        """Whether the disparities are the data themselves."""
        return self.kind == "ratio" and self.conditional in ("matrix", "parts")

    @property
    def negative(self) -> str:
        """What to do with negative data: "shift" them where that changes nothing, else "raise"."""
        return "raise" if self.kind == "ratio" else "shift"

    @property
    def by_group(self) -> bool:
        """Whether each row or column has a function of its own."""
        return self.conditional in ("row", "column")

    def __str__(self) -> str:
        ties = {"primary": " (ties broken)", "secondary": " (ties kept)"}[self.ties]
        where = {"row": ", by row", "column": ", by column", "parts": ", of the symmetric part"}
        return self.kind + (ties if self.kind == "ordinal" else "") + where.get(self.conditional, "")


def shift_of(values: Array) -> float:
    """What to add to values, some of them negative, to make all positive; 0 if none is negative.

    Examples
    --------
    >>> shift_of(np.array([-2.0, 3.0]))
    2.05
    """
    least = float(values.min(initial=0.0))
    # A little more than needed: a dissimilarity of 0 would say that two points are one.
    return 0.01 * (float(values.max()) - least) - least if least < 0 else 0.0


def sum_by(code: Indices, values: Array, n_codes: int = 0) -> Array:
    """Sum of the values with each code."""
    return np.asarray(np.bincount(code, values, minlength=n_codes), dtype=float)


@dataclass(frozen=True, eq=False)
class DataPairs:
    """Ordered pairs with a value, as flat arrays; for ``conditional="parts"`` unordered pairs and their mean value."""

    n_points: int
    at: Indices  #: Where they are in the flattened matrix.
    values: Array
    weights: Array | None  #: None means 1 for all.
    group: Indices | None  #: Row or column, if each has its own function.
    unreachable: NDArray[np.bool_] | None  #: Pairs farther than any with a value.
    tolerance: float = TIED  #: Share of the largest value within which values are tied.

    @property
    def n_groups(self) -> int:
        """Number of functions."""
        return 1 if self.group is None else self.n_points

    @cached_property
    def w(self) -> Array:
        """Weights, 1 for all if there are none."""
        return np.ones(len(self.at)) if self.weights is None else self.weights

    def by_group(self, values: Array) -> Array:
        """Sum over each group."""
        if self.group is None:
            return np.array([values.sum()])
        return sum_by(self.group, values, self.n_groups)

    def spread(self, per_group: NDArray[Any]) -> NDArray[Any]:
        """Value of its group for every pair."""
        return per_group if self.group is None else per_group[self.group]

    @cached_property
    def size(self) -> float:
        """``sum w D^2``, pairs without a value left out."""
        squares = self.w * self.values**2
        return float(squares.sum() if self.unreachable is None else squares[~self.unreachable].sum())


def data_pairs(D: Array, weights: Array | None, scaling: Scaling) -> DataPairs:
    """Pairs that count. A negative value is a bound, as in `finsler.geometry.stress`: an unreachable pair."""
    D = np.asarray(D)
    n = len(D)
    # Values of single precision differ by more where they are equal in truth.
    tolerance = max(TIED, 4 * float(np.finfo(np.float32).eps)) if D.dtype == np.float32 else TIED
    if scaling.conditional == "parts":
        if weights is not None:
            raise InputError(
                "= 'parts' needs all pairs and equal weights: the symmetric part is made of both directions.",
                argument="conditional",
            )
        i, j = np.triu_indices(n, 1)
        return DataPairs(n, i * n + j, (D[i, j].astype(float) + D[j, i]) / 2, None, None, None, tolerance)
    known = np.ones((n, n), dtype=bool) if weights is None else np.asarray(weights) > 0
    known = known & ~np.eye(n, dtype=bool)
    at = np.flatnonzero(known)
    values = D.ravel()[at].astype(float)
    bound = values < 0 if weights is not None else np.zeros(0, dtype=bool)
    if bound.any() and scaling.kind != "ordinal":
        raise InputError(
            f"= {scaling.kind!r} cannot take pairs that are only known to be far: use scaling='ordinal', which puts them "
            "above all others, or missing='mask'.",
            argument="scaling",
        )
    w = None if weights is None else np.asarray(weights).ravel()[at].astype(float)
    group = {"row": at // n, "column": at % n}.get(scaling.conditional)
    return DataPairs(
        n, at, np.abs(values) if bound.any() else values, w, group, bound if bound.any() else None, tolerance
    )


class Blocks(NamedTuple):
    """Values put together: equal ones, or those of a bin. Numbered by group, then by value."""

    codes: Indices  # block of each pair
    values: Array  # of each block
    counts: Indices  # pairs in each block
    group: Indices | None  # of each block
    n_bins: int  # 0 if blocks are distinct values


def tied_blocks(pairs: DataPairs) -> Blocks:
    """Blocks of equal values: within the tolerance of the first of a block; unreachable pairs form the last."""
    values, group = pairs.values, pairs.group
    top = np.array([np.abs(values).max(initial=0.0)])
    if group is not None:
        top = np.zeros(pairs.n_groups)
        np.maximum.at(top, group, np.abs(values))
    unit = values / pairs.spread(np.where(top > 0, top, 1.0))
    if pairs.unreachable is not None:
        unit = np.where(pairs.unreachable, 2.0, unit)
    order = np.argsort(unit, kind="stable") if group is None else np.lexsort((unit, group))
    unit = unit[order]
    breaks = np.diff(unit) > pairs.tolerance
    if group is not None:
        breaks |= np.diff(group[order]) > 0
    starts = _block_starts(unit, breaks, pairs.tolerance)
    counts = np.diff(np.append(starts, len(unit)))
    codes = np.empty(len(values), dtype=np.intp)
    codes[order] = np.repeat(np.arange(len(starts)), counts)
    first = order[starts]
    return Blocks(codes, values[first], counts, None if group is None else group[first], 0)


def _block_starts(ascending: Array, breaks: NDArray[np.bool_], tolerance: float) -> Indices:
    """Where blocks begin; a chain of small steps is cut where it has gone farther than the tolerance."""
    if not len(ascending):
        return np.empty(0, dtype=np.intp)
    starts = np.concatenate([[0], np.flatnonzero(breaks) + 1])
    ends = np.append(starts[1:], len(ascending))
    more = []
    for k in np.flatnonzero(ascending[ends - 1] - ascending[starts] > tolerance):
        start, end = starts[k], ends[k]
        while True:
            start += int(np.searchsorted(ascending[start:end], ascending[start] + tolerance, side="right"))
            if start >= end:
                break
            more.append(start)
    return np.sort(np.concatenate([starts, np.array(more, dtype=np.intp)])) if more else starts


def _binned_blocks(order: Indices, ascending: Array) -> Blocks:
    """Blocks of near values, for many pairs without ties: quantiles, cut further into steps of equal width."""
    quantiles = ascending[np.linspace(0, len(ascending) - 1, BINS + 1).astype(np.intp)]
    edges = np.concatenate([quantiles, np.linspace(ascending[0], ascending[-1], BINS + 1)])
    starts = np.unique(np.searchsorted(ascending, edges[edges < ascending[-1]]))
    counts = np.diff(np.append(starts, len(ascending)))
    codes = np.empty(len(order), dtype=np.intp)
    codes[order] = np.repeat(np.arange(len(starts)), counts)
    return Blocks(codes, np.add.reduceat(ascending, starts) / counts, counts, None, len(counts))


def blocks_of(pairs: DataPairs, scaling: Scaling) -> Blocks:
    """Bins where there are many pairs and hardly any ties among them, else ties."""
    if len(pairs.at) > MANY and not scaling.by_group and pairs.unreachable is None:
        order = np.argsort(pairs.values)
        ascending = pairs.values[order]
        distinct = 1 + int(np.count_nonzero(np.diff(ascending)))
        if distinct > max(2 * BINS, len(ascending) / 4):  # symmetric data have every value twice at least
            return _binned_blocks(order, ascending)
    return tied_blocks(pairs)


def midranks(blocks: Blocks) -> Array:
    """Rank of each pair in its group, from 1 on; the middle one for ties."""
    last = np.cumsum(blocks.counts)
    rank = last - (blocks.counts - 1) / 2
    if blocks.group is not None:
        starts = np.flatnonzero(np.diff(blocks.group, prepend=-1))
        before = np.concatenate([[0], last])[starts]
        rank = rank - np.repeat(before, np.diff(np.append(starts, len(rank))))
    return rank[blocks.codes]


@dataclass(frozen=True)
class ScaledFacts:
    """What is known of a map whose distances agree with disparities instead of the data."""

    scaling: Scaling
    stress1: float  #: Kruskal's stress-1.
    alpha_least_stress: float | None = (
        None  #: Alpha of least stress, where alpha was fitted and then corrected.
    )
    stress1_least_stress: float | None = None  #: Stress-1 there.
    degenerate: bool = False  #: Whether the points have fallen into heaps.
    levels: int = 0  #: Number of different disparities.
    n_bins: int = 0  #: Bins that the data were put into for their number; 0 if they were not.
    few_rows: bool = False  #: Whether alpha was fitted to rows too few to tell it.

    def warnings(self) -> list[str]:
        """Say what should not be overlooked."""
        said = []
        if self.degenerate:
            said.append(
                f"Ordinal scaling has collapsed to {self.levels} levels: the order only says which group a point is in. Use "
                "scaling='spline' or 'interval'."
            )
        if self.few_rows:
            said.append("The order within so few rows hardly determines alpha: give it.")
        return said

    def sentences(self) -> list[str]:
        """Say in words what a reader of the map should know."""
        binned = f"The data were put into {self.n_bins:,} bins before their disparities were fitted."
        units = "Alpha is in units of the skew part over those of the scaled symmetric part: a convention."
        parts = self.scaling.conditional == "parts"
        return [*self.warnings(), *([binned] if self.n_bins else []), *([units] if parts else [])]

    def words(self, alpha: float) -> str:
        """Scaling, stress and alphas in one line.

        Examples
        --------
        >>> ScaledFacts(Scaling("ordinal"), 0.2171, 0.048, 0.215).words(0.094)
        'ordinal (ties broken), stress-1 (Kruskal) 0.2171, alpha 0.094 (least stress, 0.215, at 0.048)'
        """
        least = ""
        if self.alpha_least_stress is not None:
            least = f" (least stress, {self.stress1_least_stress:.4g}, at {self.alpha_least_stress:.3g})"
        return f"{self.scaling}, stress-1 (Kruskal) {self.stress1:.4g}, alpha {alpha:.3g}{least}"

    def to_dict(self) -> dict[str, Any]:
        """Give the facts as plain Python."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: dict[str, Any] | None) -> ScaledFacts | None:
        """Make the facts again from what :meth:`to_dict` gave, checked; None from None."""
        if record is None:
            return None
        found = cls(**{**record, "scaling": Scaling(**record["scaling"])})
        numbers = (found.stress1, found.alpha_least_stress or 0.0, found.stress1_least_stress or 0.0)
        if not all(isinstance(x, (int, float)) and 0 <= x < np.inf for x in numbers):
            raise TypeError(f"stress-1 and alpha are {numbers}")
        return found
