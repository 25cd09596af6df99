"""How asymmetric is the data, and how much of that can a map show?

A map shows the part of the skew part A_ij = (D_ij - D_ji) / 2 that follows heights, see `finsler.geometry.heights`,
where c_ij is the weight of a pair. At a = 0 the formula there also tells that `asymmetry`, the sum of c A^2 over the
sum of w D^2 (ordered pairs known both ways), is the least share of the squared dissimilarities that a symmetric map
must miss.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, fields
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from finsler.errors import InputError, InputTypeError
from finsler.geometry.estimates import gradient_share_of_rows, missed_by_rows, one_minus, ratio_of_rows
from finsler.geometry.heights import solve_heights
from finsler.geometry.pairs import (
    Array,
    Pairs,
    Rows,
    Survey,
    check_pairs,
    components,
    strongly_connected,
    survey,
)

# Asymmetry, a share of squares, below which data is called symmetric: 0.1 % of the values.
SYMMETRIC = 1e-6
# Share of the asymmetry that must follow heights for a map to be recommended.
MOSTLY_GRADIENT = 0.5
# Share of triangles with a shorter detour from which D looks like similarities or flows.
DOUBTFUL = 0.1
# A detour must be shorter by more than this, relatively, and than rounding.
TRIANGLE_TOLERANCE = 1e-9
QUANTILES = (0.5, 0.9, 0.99, 1.0)
# Pairs that enter the quantiles.
RATIO_SAMPLE = 2_000_000


class AsymmetryShown(NamedTuple):
    """How much of the asymmetry a map shows."""

    share: float | None  #: 1 is all of it, below 0 worse than nothing; None for symmetric data.
    error: float | None = 0.0  #: Standard error, if it comes from some rows.
    n_rows: int | None = None  #: Rows looked at; None for all.
    available: float | None = None  #: The share that the best heights would show.


def asymmetry_shown(
    D: Any, weights: Any, shown: Any, *, rows: Any = None, n_jobs: int | None = None
) -> AsymmetryShown:
    """Share of the skew part that a map shows, ``1 - sum c (A - a)^2 / sum c A^2``, with c as in `finsler.geometry.heights`.

    Parameters
    ----------
    D, weights : array of shape (n, n), and the same or None
        Checked data. NaN, inf and bounds (negative) count as unknown.
    shown : array of shape (n,) or (n, n)
        Heights ``X @ omega`` of the map, which shows ``a_ij = h_j - h_i``; or the distances of any model, whose skew part
        it shows.
    rows : array of int, optional
        Look at the pairs from and to these points only, drawn at random; `available` is then found by heights of half of
        them tried on the other half.
    n_jobs : int, optional
        Threads, all cores by default.

    Examples
    --------
    >>> asymmetry_shown([[0, 3, 5], [1, 0, 3], [1, 1, 0]], None, [0, 0.5, 1])
    AsymmetryShown(share=0.75, error=0.0, n_rows=None, available=1.0)
    """
    pairs, shown = Pairs.of(D, weights, n_jobs), np.asarray(shown, dtype=float)
    if rows is not None:
        return shown_by_rows(pairs.rows(np.asarray(rows)), shown)
    found = survey(pairs)
    if found.skew <= symmetric_below(pairs.rounding) * found.total:
        return AsymmetryShown(None)
    parts = pairs.map(lambda start, stop: missed_by_rows(pairs.rows(slice(start, stop)), shown))
    missed, squares = np.concatenate(parts, axis=1)
    available = None if shown.ndim > 1 else gradient_share(pairs, found, solve_heights(pairs, found))
    return AsymmetryShown(1 - float(missed.sum()) / float(squares.sum()), 0.0, None, available)


def shown_by_rows(rows: Rows, heights: Array) -> AsymmetryShown:
    """`asymmetry_shown`, from some rows."""
    share = one_minus(ratio_of_rows(*missed_by_rows(rows, heights), rows.n_points))
    best = gradient_share_of_rows(rows).value
    if share.value is None:
        return AsymmetryShown(None, None, len(rows.sources))
    return AsymmetryShown(*share, len(rows.sources), None if best is None else min(1.0, max(0.0, best)))


def symmetric_below(rounding: float) -> float:
    """Asymmetry up to which the skew part is the rounding of D, and its shares are noise."""
    return (16 * rounding) ** 2


def gradient_share(pairs: Pairs, found: Survey, heights: Array) -> float:
    """Share of the skew part that its heights show. ``L h = flow``, so ``sum c (h_j - h_i)^2`` is ``2 h . flow``."""
    return min(1.0, max(0.0, 2 * float(heights / pairs.unit @ found.flow) / found.skew))


@dataclass(frozen=True, eq=False)
class AsymmetryReport:
    """What `asymmetry_report` found; print it to read it. What the data does not define is None, or empty."""

    n_points: int
    n_pairs: int  #: Ordered pairs that are known.
    missing: int  #: Ordered pairs that are NaN or have weight 0.
    unreachable: int  #: Ordered pairs that are infinite, whatever their weight.
    one_way: int  #: Unordered pairs known in one direction only.
    components: int  #: Groups of points with no known pair between them.
    component_sizes: tuple[int, ...]  #: Largest first.
    strongly_connected: bool  #: Every point reaches every other one along known ordered pairs.
    asymmetry: float | None  #: From 0, symmetric, to 1; over the pairs known both ways.
    gradient_share: float | None  #: Part of the asymmetry that follows heights.
    cyclic_share: float | None  #: The other part, which runs in circles.
    ratio_quantiles: dict[float, float]  #: Of rho, the dearer over the cheaper way, where both are positive.
    alpha_asked: dict[float, float]  #: The alpha that a map needs to show each: (rho - 1) / (rho + 1).
    triangle_violations: float | None  #: Share of known triples i, j, k with D_ik > D_ij + D_jk.
    triangles_checked: int  #: Ordered triples whose three values are known, among those looked at.
    triangles_sampled: bool  #: If not, all were looked at.
    seed: int
    worst_triangle: dict[str, Any] | None  #: from, via, to; direct, detour and their difference excess.
    most_asymmetric: dict[str, Any] | None  #: from, to; there and back, of largest difference.
    heights: np.ndarray  #: One a point: the high ones cost more to reach than to leave.
    labels: list[Any]
    verdict: str  #: The answer in one sentence.

    def to_dict(self) -> dict[str, Any]:
        """Give the report as plain Python numbers, strings, lists and dicts, ready for JSON.

        Examples
        --------
        >>> asymmetry_report([[0, 2], [1, 0]]).to_dict()["heights"]
        [-0.25, 0.25]
        """
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}

    def __str__(self) -> str:
        ordered = self.n_points * (self.n_points - 1)
        lines = {
            "pairs known": f"{self.n_pairs:,} of {ordered:,} ({_percent(self.n_pairs / ordered)})",
            "missing, unreachable": f"{self.missing:,}, {self.unreachable:,}",
            "known one way only": f"{self.one_way:,} of {ordered // 2:,} pairs",
            "connected": "yes, both ways" if self.strongly_connected else "yes, but not both ways",
            "asymmetry": "no pair is known both ways" if self.asymmetry is None else "none",
        }
        if self.components > 1:
            sizes = ", ".join(map(str, self.component_sizes[:5])) + (", …" if self.components > 5 else "")
            lines["connected"] = f"no: {self.components:,} groups, of {sizes} points"
        if self.asymmetry is not None and self.gradient_share is not None and self.cyclic_share is not None:
            lines["asymmetry"] = f"{_percent(self.asymmetry)} of the squared dissimilarities, of which"
            lines["  follows heights"] = _percent(self.gradient_share)
            lines["  runs in circles"] = _percent(self.cyclic_share)
        if self.ratio_quantiles:
            names = "median {}, 90 % up to {}, 99 % up to {}, largest {}"
            lines["dearer : cheaper way"] = names.format(*(f"{x:.3g}" for x in self.ratio_quantiles.values()))
            lines["  alpha they ask for"] = ", ".join(f"{x:.2f}" for x in self.alpha_asked.values())
        if (pair := self.most_asymmetric) is not None:
            values = f"{pair['there']:.6g} there, {pair['back']:.6g} back"
            lines["most asymmetric"] = f"{pair['from']} to {pair['to']}: {values}"
        if self.gradient_share is not None and self.gradient_share > SYMMETRIC:
            for name, i in ("hardest", np.argmax(self.heights)), ("easiest", np.argmin(self.heights)):
                lines[f"{name} to reach"] = f"{self.labels[i]} (height {self.heights[i]:+.4g})"
        lines["shorter by a detour"] = "no triangle is known"
        if (share := self.triangle_violations) is not None:
            which = f"sampled triangles (seed {self.seed})" if self.triangles_sampled else "triangles"
            doubt = "; are these similarities, or flows?" if share > DOUBTFUL else ""
            lines["shorter by a detour"] = f"{_percent(share)} of {self.triangles_checked:,} {which}{doubt}"
        if (worst := self.worst_triangle) is not None:
            detour = f"{worst['direct']:.6g}, by way of {worst['via']} {worst['detour']:.6g}"
            lines["  the worst"] = f"{worst['from']} to {worst['to']}: {detour}"
        body = "\n".join(f"  {name:<22}{text}" for name, text in lines.items())
        return f"Asymmetry of {self.n_points:,} points\n{body}\n{fill(self.verdict, 84)}"


def asymmetry_report(
    D: Any,
    weights: Any = None,
    *,
    labels: Sequence[Any] | None = None,
    random_state: int | None = 0,
    max_triangles: int = 200_000,
    n_jobs: int | None = None,
) -> AsymmetryReport:
    """Tell whether the data is asymmetric, and whether in a way that a map can show.

    Parameters
    ----------
    D : array-like or DataFrame of shape (n_points, n_points)
        ``D[i, j]`` is the dissimilarity from i to j; NaN is missing, inf unreachable, the diagonal ignored.
    weights : array-like of the same shape, optional
        Weight of each ordered pair, 0 for unknown.
    labels : sequence, optional
        Names of the points; by default the index of a DataFrame, or 0, 1, 2, …
    random_state : int, optional
        Seed of what is sampled: triangles, and ratios beyond two million pairs. None draws one and tells it.
    max_triangles : int
        Check all ordered triples if there are no more than this, else sample so many.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    AsymmetryReport
        Prints as a short text; ``to_dict()`` is ready for JSON.

    Examples
    --------
    >>> report = asymmetry_report([[0, 3, 5], [1, 0, 3], [1, 1, 0]], labels=["sea", "hill", "top"])
    >>> report.heights
    array([-1.,  0.,  1.])
    >>> print(report.verdict)
    The asymmetry is 26.1 % of the squared dissimilarities, and a Randers map of enough dimensions can show up to
    100 % of it.
    """
    fresh = np.random.SeedSequence().generate_state(1)[0]
    seed = _whole("random_state", fresh if random_state is None else random_state)
    max_triangles = _whole("max_triangles", max_triangles)
    pairs = check_pairs(D, weights, labels, n_jobs)
    n, found = pairs.n, survey(pairs)
    heights = solve_heights(pairs, found)
    sizes = np.sort(np.bincount(components(pairs, "either")))[::-1].tolist()
    asymmetry, gradient = _shares(pairs, found, heights)
    ratios = _ratio_quantiles(pairs, found, seed)
    violations, checked, worst = _triangles(pairs, seed, max_triangles)
    return AsymmetryReport(
        n_points=n,
        n_pairs=found.known,
        missing=n * (n - 1) - found.known - found.unreachable,
        unreachable=found.unreachable,
        one_way=found.one_way,
        components=len(sizes),
        component_sizes=tuple(sizes),
        strongly_connected=strongly_connected(pairs),
        asymmetry=asymmetry,
        gradient_share=gradient,
        cyclic_share=None if gradient is None else 1.0 - gradient,
        ratio_quantiles=ratios,
        alpha_asked={q: (rho - 1) / (rho + 1) for q, rho in ratios.items()},
        triangle_violations=violations,
        triangles_checked=checked,
        triangles_sampled=n * (n - 1) * (n - 2) > max_triangles,
        seed=seed,
        worst_triangle=worst,
        most_asymmetric=_most_asymmetric(pairs, found),
        heights=heights,
        labels=pairs.labels,
        verdict=_verdict(len(sizes), found.one_way, asymmetry, gradient),
    )


def _shares(pairs: Pairs, found: Survey, heights: np.ndarray) -> tuple[float | None, float | None]:
    """Asymmetry as a share of the squares, and the share of it that follows heights; None if undefined."""
    if not found.both:
        return None, None
    asymmetry = found.skew / found.total if found.total > 0 else 0.0
    if asymmetry <= symmetric_below(pairs.rounding):
        return asymmetry, None
    return asymmetry, gradient_share(pairs, found, heights)


def _most_asymmetric(pairs: Pairs, found: Survey) -> dict[str, Any] | None:
    if found.gap <= 0:
        return None
    (i, j), names = found.widest, pairs.labels
    return {"from": names[i], "to": names[j], "there": float(pairs.D[i, j]), "back": float(pairs.D[j, i])}


def _verdict(groups: int, one_way: int, asymmetry: float | None, gradient: float | None) -> str:
    if groups > 1:
        split = f"The points fall into {groups:,} groups with no known pair between them"
        return f"{split}: there is no common map, embed each group by itself."
    if asymmetry is None:
        return "No pair is known both ways, so nothing tells how asymmetric the data is."
    if asymmetry < SYMMETRIC or gradient is None:
        aside = f"; pairs known one way only ({one_way:,}) say nothing about it" if one_way else ""
        return f"The data is symmetric: use ordinary MDS, or alpha = 0{aside}."
    amount = f"The asymmetry is {_percent(asymmetry)} of the squared dissimilarities"
    if gradient >= MOSTLY_GRADIENT:
        return f"{amount}, and a Randers map of enough dimensions can show up to {_percent(gradient)} of it."
    rest = "the rest runs in circles, which no such map can show"
    return f"{amount}, but only {_percent(gradient)} of it follows heights; {rest}."


def _ratio_quantiles(pairs: Pairs, found: Survey, seed: int) -> dict[float, float]:
    """Quantiles of the ratio of the two directions; the largest is exact even where pairs are sampled."""
    if found.positive == 0:
        return {}
    chance = RATIO_SAMPLE / (found.positive / 2)

    def task(start: int, stop: int) -> np.ndarray:
        ratios = []
        for columns, tile in pairs.tiles(start, stop, first=start):
            keep = np.logical_and.reduce([a > 0 for a in tile])
            if columns.start == start:
                keep = np.triu(keep)
            if chance < 1:
                keep &= np.random.default_rng([seed, start, columns.start]).random(keep.shape) < chance
            a, b = tile[0][keep], tile[1][keep]
            ratios.append(np.maximum(a, b) / np.minimum(a, b))
        return np.concatenate(ratios)

    quantiles = np.quantile(np.concatenate(pairs.map(task)), QUANTILES[:-1]).tolist()
    return dict(zip(QUANTILES, [*quantiles, found.ratio], strict=True))


def _triangles(pairs: Pairs, seed: int, most: int) -> tuple[float | None, int, dict[str, Any] | None]:
    """Share of ordered triples where a detour is shorter, the number checked, and the worst one."""
    n, rng, chunk = pairs.n, np.random.default_rng(seed), 1_000_000
    triples = n * (n - 1) * (n - 2)
    tolerance = 1 + max(TRIANGLE_TOLERANCE, 4 * pairs.rounding)
    checked = violated = 0
    worst = None
    for start in range(0, min(triples, most), chunk):
        size = min(chunk, min(triples, most) - start)
        t = np.arange(start, start + size) if triples <= most else rng.integers(triples, size=size)
        i, t = np.divmod(t, (n - 1) * (n - 2))
        j, k = np.divmod(t, n - 2)
        j += j >= i
        k += k >= np.minimum(i, j)
        k += k >= np.maximum(i, j)
        (direct, p), (first, q), (second, r) = pairs.at(i, k), pairs.at(i, j), pairs.at(j, k)
        known, detour = (p > 0) & (q > 0) & (r > 0), first + second
        excess = np.zeros(size)
        np.subtract(direct, detour, out=excess, where=known & (direct > tolerance * detour))
        checked += int(known.sum())
        violated += int((excess > 0).sum())
        best = int(excess.argmax())
        if excess[best] * pairs.unit > (worst["excess"] if worst else 0.0):
            worst = {name: pairs.labels[a[best]] for name, a in (("from", i), ("via", j), ("to", k))}
            for name, value in ("direct", direct), ("detour", detour), ("excess", excess):
                worst[name] = float(value[best]) * pairs.unit
    return (violated / checked if checked else None), checked, worst


def _whole(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name} must be a whole number, not {value!r}.") from None
    if number < 0:
        raise InputError(f"{name} = {number} must be 0 or more.")
    return number


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %" if share == 0 or share >= 1e-3 else "less than 0.1 %"


def _plain(value: Any) -> Any:
    """Turn a value into what JSON knows."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)
