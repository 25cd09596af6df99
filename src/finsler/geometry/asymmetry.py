"""How asymmetric are the pairs, how much of that is shown, and do they obey the triangle inequality?

A map shows the part of the skew part A_ij = (D_ij - D_ji) / 2 that follows heights, see `finsler.geometry.heights`,
where c_ij is the weight of a pair. At a = 0 the formula there also tells that the asymmetry, the sum of c A^2 over the
sum of w D^2 (ordered pairs known both ways), is the least share of the squared dissimilarities that a symmetric map
must miss.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from finsler._arguments import as_generator, check_argument, check_arguments
from finsler.errors import InputError
from finsler.geometry.heights import heights_of_rows, solve_heights
from finsler.geometry.noise import noise_level
from finsler.geometry.pairs import (
    Array,
    AsymmetryShown,
    Estimate,
    Pairs,
    Rows,
    Survey,
    one_minus,
    ratio_of_rows,
    survey,
)

# A detour must be shorter by more than this, relatively, and than rounding.
TRIANGLE_TOLERANCE = 1e-9
FEWEST_ROWS = 4  # so that heights can be fitted to half of the rows and tried on the others


# What a map or model shows of the skew part: heights of which it shows the differences; distances, whose skew part it shows;
# or a function of numbers of points i and of points j (a slice) that gives the block itself.
Shown = Array | Callable[[Any, slice], Array]


def asymmetry_shown(
    D: ArrayLike, weights: ArrayLike | None, shown: Shown, *, rows: ArrayLike | None = None
) -> AsymmetryShown:
    """Share of the skew part that a map shows, ``1 - sum c (A - a)^2 / sum c A^2``, with c as in `finsler.geometry.heights`.

    `shown` are heights ``X @ omega`` of the map, which shows ``a_ij = h_j - h_i``; or the distances of any model, whose
    skew part it shows; or a function that gives blocks of it, as of a map whose drift turns. With `rows`, drawn at random,
    only the pairs from and to these points are looked at; `available` is then found by heights of half of them tried on
    the other half.
    """
    check_arguments(asymmetry_shown, locals())
    pairs = Pairs.of(D, weights)
    n = pairs.n_points
    if not callable(shown):
        check_argument("shown", shown, "ArrayLike")
        shown = np.asarray(shown, dtype=float)
        if shown.shape not in ((n,), (n, n)):
            raise InputError(
                f"shown must hold a height per point, or a distance per pair, of {n} points; got shape {shown.shape}.",
                argument="shown",
            )
    if rows is None:
        return shown_by(pairs, shown)
    points = np.asarray(rows)
    if points.ndim != 1 or points.dtype.kind not in "iu" or not ((points >= 0) & (points < n)).all():
        raise InputError(f"rows must be a list of numbers of points, from 0 to {n - 1}.", argument="rows")
    if not len(points):
        raise InputError("rows is empty; None looks at all points.", argument="rows")
    return shown_by(pairs.rows(points), shown)


def shown_by(data: Pairs | Rows, shown: Shown) -> AsymmetryShown:
    """`asymmetry_shown`, of all pairs or of those of some rows."""
    found = survey(data)
    some = isinstance(data, Rows) and not data.complete
    n_rows = len(found.flow) if some else None
    if is_symmetric(found, data):
        return AsymmetryShown(None, None if some else 0.0, n_rows)
    missed, squares = np.concatenate(data.map(partial(missed_by_rows, shown=shown)), axis=1)
    share = one_minus(ratio_of_rows(missed, squares, data.n_points))
    best = None if callable(shown) or shown.ndim > 1 else gradient_share(data, found).value
    if best is None:
        return AsymmetryShown(*share, n_rows)
    noise = noise_level(data, found) if isinstance(data, Pairs) else None
    # Heights of half of few rows fall short of the best ones; those of the map itself are heights, too.
    best = max(0.0, best, share.value or 0.0)
    return AsymmetryShown(*share, n_rows, min(1.0, best), noise)


def missed_by_rows(rows: Rows, shown: Shown, group: Array | None = None) -> tuple[Array, Array]:
    """For each row ``sum c (A - a)^2`` and ``sum c A^2``, where A is the skew part and a what is shown of it.

    With groups of points only the pairs within them count: between them heights tell nothing.
    """
    missed, squares = np.zeros(len(rows.sources)), np.zeros(len(rows.sources))
    i = rows.sources
    for j, A, c in rows.skew():
        if callable(shown):
            a = shown(i, j)
        else:
            a = shown[j] - shown[i, None] if shown.ndim == 1 else (shown[i, j] - shown[j, i].T) / 2
        c = c if group is None else np.where(group[j] == group[i, None], c, 0.0)
        missed += (c * (A - a) ** 2).sum(axis=1)
        squares += (c * A**2).sum(axis=1)
    return missed, squares


def is_symmetric(found: Survey, data: Pairs | Rows) -> bool:
    """Whether the skew part is nothing but the rounding of the data, so that its shares are noise."""
    asymmetry = found.asymmetry.value
    return asymmetry is None or asymmetry <= (16 * rounding(data)) ** 2


def rounding(data: Pairs | Rows) -> float:
    """Relative rounding error of the values."""
    values = data.D if isinstance(data, Pairs) else data.ahead
    return float(np.finfo(values.dtype if values.dtype.kind == "f" else float).eps)


def gradient_share(data: Pairs | Rows, found: Survey, heights: Array | None = None) -> Estimate:
    """Share of the skew part that the best heights show: what a map can show.

    Of some rows: heights fitted to every other row are tried on the rows between, and the other way round, so that a
    share that is due to chance comes out about 0, on either side of it.
    """
    if isinstance(data, Pairs):  # L h = flow, so sum c (h_j - h_i)^2 is 2 h . flow
        heights = solve_heights(data, found) if heights is None else heights
        return Estimate(min(1.0, max(0.0, 2 * float(heights @ found.flow) / found.skew)))
    k = len(data.sources)
    if data.complete:
        return one_minus(ratio_of_rows(*missed_by_rows(data, heights_of_rows(data)[0]), k))
    if k < FEWEST_ROWS:
        return Estimate(None, None)
    missed, squares = np.zeros(k), np.zeros(k)
    for fold in (np.arange(k) % 2 == 0, np.arange(k) % 2 == 1):
        missed[fold], squares[fold] = missed_by_rows(data.only(fold), *heights_of_rows(data.only(~fold)))
    return one_minus(ratio_of_rows(missed, squares, data.n_points))


class Triangles(NamedTuple):
    """Ordered triples i, j, k of points, and in how many of them the detour by j is shorter than the way from i to k."""

    violated: float | None = None  #: Share of them; None if there is none whose three values are known.
    checked: int = 0
    sampled: bool = False  #: If not, all were looked at.
    worst: tuple[int, int, int] | None = None  #: Where the detour saves most.
    direct: float = 0.0
    detour: float = 0.0


def triangles(pairs: Pairs, most: int, random_state: int) -> Triangles:
    """Look for shorter detours in all ordered triples if there are no more than ``most``, else in so many of them."""
    n, rng, chunk = pairs.n_points, as_generator(random_state), 1_000_000
    triples = n * (n - 1) * (n - 2)
    tolerance = 1 + max(TRIANGLE_TOLERANCE, 4 * rounding(pairs))
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
        known = pairs.known(i, k) & pairs.known(i, j) & pairs.known(j, k)
        direct, detour = pairs.D[i, k].astype(float), pairs.D[i, j].astype(float) + pairs.D[j, k]
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
