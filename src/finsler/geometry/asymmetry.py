"""How asymmetric are the pairs, how much of that is shown, and do they obey the triangle inequality?

A map shows the part of the skew part A_ij = (D_ij - D_ji) / 2 that follows heights, see `finsler.geometry.heights`,
where c_ij is the weight of a pair. At a = 0 the formula there also tells that the asymmetry, the sum of c A^2 over the
sum of w D^2 (ordered pairs known both ways), is the least share of the squared dissimilarities that a symmetric map
must miss.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from finsler.geometry.estimates import gradient_share_of_rows, missed_by_rows, one_minus, ratio_of_rows
from finsler.geometry.heights import solve_heights, times_laplacian
from finsler.geometry.pairs import Array, Pairs, Rows, Survey, survey
from finsler.geometry.shown import AsymmetryShown

# A detour must be shorter by more than this, relatively, and than rounding.
TRIANGLE_TOLERANCE = 1e-9
QUANTILES = (0.5, 0.9, 0.99, 1.0)
# Pairs that enter the quantiles.
RATIO_SAMPLE = 2_000_000


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
    if shown.ndim == 1:  # sum c (A - a)^2 = sum c A^2 - 4 h . flow + 2 h . L h
        share = 2 * float(shown @ (2 * found.flow - times_laplacian(pairs, found, shown))) / found.skew
        return AsymmetryShown(share, available=gradient_share(found, solve_heights(pairs, found)))
    parts = pairs.map(lambda start, stop: missed_by_rows(pairs.rows(slice(start, stop)), shown))
    missed, squares = np.concatenate(parts, axis=1).sum(axis=1).tolist()
    return AsymmetryShown(1 - missed / squares)


def shown_by_rows(rows: Rows, heights: Array) -> AsymmetryShown:
    """`asymmetry_shown`, from some rows."""
    share = one_minus(ratio_of_rows(*missed_by_rows(rows, heights), rows.n_points))
    best = gradient_share_of_rows(rows).value
    n_rows = None if rows.complete else len(rows.sources)
    if share.value is None:
        return AsymmetryShown(None, None, n_rows)
    return AsymmetryShown(*share, n_rows, None if best is None else min(1.0, max(0.0, best)))


def symmetric_below(rounding: float) -> float:
    """Asymmetry up to which the skew part is the rounding of D, and its shares are noise."""
    return (16 * rounding) ** 2


def gradient_share(found: Survey, heights: Array) -> float:
    """Share of the skew part that its heights show. ``L h = flow``, so ``sum c (h_j - h_i)^2`` is ``2 h . flow``."""
    return min(1.0, max(0.0, 2 * float(heights @ found.flow) / found.skew))


def ratio_quantiles(pairs: Pairs, found: Survey, random_state: int) -> dict[float, float]:
    """Quantiles of the ratio of the two directions; the largest is exact even where pairs are sampled."""
    if found.positive == 0:
        return {}
    chance = RATIO_SAMPLE / (found.positive / 2)

    def task(start: int, stop: int) -> Array:
        ratios = []
        for columns, tile in pairs.tiles(start, stop, first=start):
            keep = np.logical_and.reduce([a > 0 for a in tile])
            if columns.start == start:
                keep = np.triu(keep)
            if chance < 1:
                keep &= (
                    np.random.default_rng([random_state, start, columns.start]).random(keep.shape) < chance
                )
            a, b = tile[0][keep], tile[1][keep]
            ratios.append(np.maximum(a, b) / np.minimum(a, b))
        return np.concatenate(ratios)

    quantiles = np.quantile(np.concatenate(pairs.map(task)), QUANTILES[:-1]).tolist()
    return dict(zip(QUANTILES, [*quantiles, found.ratio], strict=True))


class Triangles(NamedTuple):
    """Ordered triples i, j, k of points, and in how many of them the detour by j is shorter than the way from i to k."""

    violated: float | None  #: Share of them; None if there is none whose three values are known.
    checked: int
    sampled: bool  #: If not, all were looked at.
    worst: tuple[int, int, int] | None  #: Where the detour saves most.
    direct: float = 0.0
    detour: float = 0.0


def triangles(pairs: Pairs, most: int, random_state: int) -> Triangles:
    """Look for shorter detours in all ordered triples if there are no more than ``most``, else in so many of them."""
    n, rng, chunk = pairs.n, np.random.default_rng(random_state), 1_000_000
    triples = n * (n - 1) * (n - 2)
    tolerance = 1 + max(TRIANGLE_TOLERANCE, 4 * pairs.rounding)
    checked = violated = 0
    largest, worst, direct_and_detour = 0.0, None, (0.0, 0.0)
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
        if excess[best] > largest:
            largest, worst = float(excess[best]), (int(i[best]), int(j[best]), int(k[best]))
            direct_and_detour = float(direct[best]), float(detour[best])
    share = violated / checked if checked else None
    return Triangles(share, checked, triples > most, worst, *direct_and_detour)
