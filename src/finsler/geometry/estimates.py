"""What some rows of the dissimilarities tell of all: ratios of sums over rows, with their standard errors."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from finsler.geometry.heights import heights_of_rows
from finsler.geometry.pairs import Array, Rows, harmonic

FEWEST_ROWS = 4  # so that heights can be fitted to half of the rows and tried on the others


class Estimate(NamedTuple):
    """A number and its standard error; None where the rows do not define it."""

    value: float | None
    error: float | None = 0.0

    def __str__(self) -> str:
        if self.value is None:
            return "not defined"
        return f"{self.value:.4g}" + ("" if self.error is None else f" ± {self.error:.1g}")


def ratio_of_rows(top: Array, bottom: Array, n: int) -> Estimate:
    """Ratio of two sums over rows drawn without replacement from n, with its standard error.

    Examples
    --------
    >>> ratio_of_rows(np.array([1.0, 3.0]), np.array([2.0, 2.0]), 2)
    Estimate(value=1.0, error=0.0)
    """
    total, k = float(np.sum(bottom)), len(top)
    if not total > 0:
        return Estimate(None, None)
    value = float(np.sum(top)) / total
    if k == n or k < 2:
        return Estimate(value, 0.0 if k == n else None)
    spread = float(((top - value * bottom) ** 2).sum()) * k / (k - 1)
    return Estimate(value, sqrt((1 - k / n) * spread) / total)


class RowSurvey(NamedTuple):
    """What the pairs of some rows tell. Counts are of the pairs looked at, each counted once."""

    looked_at: int  #: Ordered pairs.
    known: int
    unreachable: int
    one_way: int  #: Unordered pairs known one way only.
    both: int  #: Ordered pairs known both ways.
    known_share: Estimate
    asymmetry: Estimate  #: Sum of c A^2 over that of w D^2, pairs known both ways.
    ratios: Array  #: The larger over the smaller of the two directions, of as many pairs as were asked for.
    widest: tuple[int, int, float, float]  #: Pair of the largest difference: from, to, there and back.


def survey_rows(rows: Rows, most_ratios: int, random_state: int = 0) -> RowSurvey:
    """Count and sum the pairs of some rows in one pass."""
    n, k, rng = rows.n_points, len(rows.sources), np.random.default_rng(random_state)
    once = np.ones(n)
    once[rows.sources] = 0.5  # Pairs among the sources come twice.
    counts, sums = np.zeros(4), np.zeros((3, k))  # sums: known, skew, total
    ratios: list[Array] = []
    widest = (0, 0, 0.0, 0.0)
    for there, (ahead, back, w, v) in rows.blocks():
        own = np.arange(there.start, there.stop) == rows.sources[:, None]
        sides = rows.ahead[:, there], rows.back[:, there]
        endless = sum((~own & (np.isinf(side) | (side < 0))).astype(int) for side in sides)
        both = (w > 0) & (v > 0)
        known = (w > 0).astype(int) + (v > 0)
        counts += [float((part * once[there]).sum()) for part in (known, endless, known == 1, 2 * both)]
        skew = np.where(both, ahead - back, 0.0) / 2
        squares = np.where(both, w * ahead**2 + v * back**2, 0.0) / 2
        sums += [part.sum(axis=1) for part in (known / 2, harmonic(w, v) * skew**2, squares)]
        s, t = np.unravel_index(np.argmax(np.abs(skew)), skew.shape)
        if 2 * abs(skew[s, t]) > widest[2] - widest[3]:
            i, j, d, e = int(rows.sources[s]), there.start + int(t), float(ahead[s, t]), float(back[s, t])
            widest = (i, j, d, e) if d > e else (j, i, e, d)
        keep = both & (ahead > 0) & (back > 0)
        if k * n > most_ratios:
            keep &= rng.random(keep.shape) < most_ratios / (k * n)
        a, b = ahead[keep], back[keep]
        ratios.append(np.maximum(a, b) / np.minimum(a, b))
    n_known, n_endless, n_one_way, n_both = (round(count) for count in counts.tolist())
    return RowSurvey(
        looked_at=k * (n - 1) + k * (n - k),
        known=n_known,
        unreachable=n_endless,
        one_way=n_one_way,
        both=n_both,
        known_share=ratio_of_rows(sums[0], np.full(k, max(n - 1, 1)), n),
        asymmetry=ratio_of_rows(sums[1], sums[2], n),
        ratios=np.concatenate(ratios),
        widest=widest,
    )


def missed_by_rows(rows: Rows, shown: Array) -> tuple[Array, Array]:
    """For each row ``sum c (A - a)^2`` and ``sum c A^2``, where A is the skew part and a what is shown of it.

    ``shown`` holds a height a point, and ``a_ij = h_j - h_i``; or distances from row to column, and a is their skew part.
    """
    missed, squares = np.zeros(len(rows.sources)), np.zeros(len(rows.sources))
    i = rows.sources
    for j, A, c in rows.skew():
        a = shown[j] - shown[i, None] if shown.ndim == 1 else (shown[i, j] - shown[j, i].T) / 2
        missed += (c * (A - a) ** 2).sum(axis=1)
        squares += (c * A**2).sum(axis=1)
    return missed, squares


def gradient_share_of_rows(rows: Rows) -> Estimate:
    """Share of the skew part that the best heights show: what a map can show.

    Heights fitted to every other row are tried on the rows between, and the other way round, so that a share that is
    due to chance comes out about 0, on either side of it. If these are all rows there is nothing else to try them on,
    and the share is that of the fit.
    """
    k = len(rows.sources)
    if rows.complete:
        return one_minus(ratio_of_rows(*missed_by_rows(rows, heights_of_rows(rows)[0]), k))
    if k < FEWEST_ROWS:
        return Estimate(None, None)
    missed, squares = np.zeros(k), np.zeros(k)
    for fold in (np.arange(k) % 2 == 0, np.arange(k) % 2 == 1):
        h, group = heights_of_rows(rows.only(~fold))
        tried = rows.only(fold)
        i = tried.sources[:, None]
        for j, A, c in tried.skew():
            c = np.where(group[j] == group[i], c, 0.0)  # between groups the heights tell nothing
            missed[fold] += (c * (A - (h[j] - h[i])) ** 2).sum(axis=1)
            squares[fold] += (c * A**2).sum(axis=1)
    return one_minus(ratio_of_rows(missed, squares, rows.n_points))


def one_minus(rest: Estimate) -> Estimate:
    """Estimate of what is left of 1."""
    return rest if rest.value is None else Estimate(1 - rest.value, rest.error)
