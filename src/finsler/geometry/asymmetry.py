"""How asymmetric is the data, and how much of that can a map show?

A Randers map shows `A_ij = (D_ij - D_ji) / 2` as a difference of heights `h_j - h_i`: a gradient, which never
runs in circles. HodgeRank (Jiang, Lim, Yao and Ye, Math. Program. 127, 2011) splits A into its best gradient
and a cyclic rest. The weight of a pair in that split: the stress leaves the symmetric part S_ij free, and

    min over S of  w_ij (S + a - D_ij)^2 + w_ji (S - a - D_ji)^2  =  4 w_ij w_ji / (w_ij + w_ji) (a - A_ij)^2

so c_ij = 2 w_ij w_ji / (w_ij + w_ji), the harmonic mean of the two weights: 1 if both are 1, 0 if one is
unknown. At a = 0 it also tells that `asymmetry`, the sum of c A^2 over the sum of w D^2 (ordered pairs
known both ways), is the least share of the squared dissimilarities that a symmetric map must miss.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, fields
from math import frexp
from numbers import Real
from textwrap import fill
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from finsler import runtime
from finsler.kernels import asymmetry as kernels

T = TypeVar("T")

BLOCK = 248  # Points on the side of a tile. It fits in a core's cache; a power of 2 would transpose slowly.
SPARSE_PAIRS = 512  # Pairs a point up to which the Laplacian is kept in memory.
SOLVED, GOOD_ENOUGH = 1e-14, 1e-11  # Relative residuals of the heights: to stop at, and to stay silent at.
QUANTILES = (0.5, 0.9, 0.99, 1.0)
RATIO_SAMPLE = 2_000_000  # Pairs that enter the quantiles.
TRIANGLE_TOLERANCE = 1e-9  # A detour must be shorter by more than this, relatively, and than rounding.
SYMMETRIC = 1e-6  # Asymmetry, a share of squares, below which data is called symmetric: 0.1 % of the values.
MOSTLY_GRADIENT = 0.5  # Share of the asymmetry that must follow heights for a map to be recommended.
DOUBTFUL = 0.1  # Share of triangles with a shorter detour from which D looks like similarities or flows.


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


def gradient_heights(D: Any, weights: Any = None, *, n_jobs: int | None = None) -> np.ndarray:
    """Heights whose differences h_j - h_i come nearest to the skew part (D_ij - D_ji) / 2 (HodgeRank).

    Parameters
    ----------
    D : array-like of shape (n_points, n_points)
        ``D[i, j]`` is the dissimilarity from i to j; NaN is missing, inf unreachable, the diagonal ignored.
    weights : array-like of the same shape, optional
        Weight of each ordered pair, 0 for unknown. A pair counts if it is known both ways, with the harmonic
        mean of its two weights.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_points,)
        Heights, of mean 0 on each connected component of the pairs known both ways.

    Examples
    --------
    >>> gradient_heights([[0, 3, 5], [1, 0, 3], [1, 1, 0]])
    array([-1.,  0.,  1.])
    """
    pairs = _check(D, weights, None, n_jobs)
    return _heights(pairs, _survey(pairs))


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
    The asymmetry is 26.1 % of the squared dissimilarities, and a Randers map can show up to 100 % of it.
    """
    fresh = np.random.SeedSequence().generate_state(1)[0]
    seed = _whole("random_state", fresh if random_state is None else random_state)
    max_triangles = _whole("max_triangles", max_triangles)
    pairs = _check(D, weights, labels, n_jobs)
    n, names = pairs.n, pairs.labels
    found = _survey(pairs)
    heights = _heights(pairs, found)
    sizes = np.sort(np.bincount(_components(pairs, "either")))[::-1].tolist()
    asymmetry = gradient = pair = None
    if found.both:
        asymmetry = found.skew / found.total if found.total > 0 else 0.0
        # Below this A is the rounding of D, and its shares are noise.
        if asymmetry > (16 * pairs.rounding) ** 2:
            # L h = flow, so the sum of c (h_j - h_i)^2 over ordered pairs is 2 h . flow.
            gradient = min(1.0, max(0.0, 2 * float(heights / pairs.unit @ found.flow) / found.skew))
    if found.gap > 0:
        i, j = found.widest
        pair = {"from": names[i], "to": names[j], "there": float(pairs.D[i, j]), "back": float(pairs.D[j, i])}
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
        strongly_connected=all(len(_reached(pairs, way, 0, np.arange(1, n))) == n for way in ("out", "in")),
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
        most_asymmetric=pair,
        heights=heights,
        labels=names,
        verdict=_verdict(len(sizes), found.one_way, asymmetry, gradient),
    )


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
        return f"{amount}, and a Randers map can show up to {_percent(gradient)} of it."
    rest = "the rest runs in circles, which no such map can show"
    return f"{amount}, but only {_percent(gradient)} of it follows heights; {rest}."


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Checked input, read by tiles. `unit` and `w_unit`, powers of 2, bring values and weights to about 1."""

    D: np.ndarray
    W: np.ndarray | None
    labels: list[Any]
    unit: float
    w_unit: float
    n_jobs: int | None

    @property
    def n(self) -> int:
        return len(self.D)

    @property
    def rounding(self) -> float:
        return float(np.finfo(self.D.dtype if self.D.dtype.kind == "f" else float).eps)

    def at(self, i: Any, j: Any) -> tuple[np.ndarray, np.ndarray]:
        """Values and weights from i to j, for whatever indexes an array; weight 0 is unknown."""
        with np.errstate(over="ignore", invalid="ignore"):  # The diagonal may hold anything.
            d = np.asarray(self.D[i, j], dtype=np.float64) / self.unit
            w = np.isfinite(d).astype(np.float64)
            return d, w if self.W is None else w * (self.W[i, j] / self.w_unit)

    def tiles(self, start: int, stop: int, first: int = 0) -> Iterator[tuple[slice, list[np.ndarray]]]:
        """Columns, and [values there, back, weights there, back], of a block of rows; the diagonal is 0."""
        rows = slice(start, stop)
        for left in range(first, self.n, BLOCK):
            columns = slice(left, min(left + BLOCK, self.n))
            (d_there, w_there), (d_back, w_back) = self.at(rows, columns), self.at(columns, rows)
            tile = [np.ascontiguousarray(a) for a in (d_there, d_back.T, w_there, w_back.T)]
            if left == start:
                for a in tile:
                    np.fill_diagonal(a, 0.0)
            yield columns, tile

    def map(self, task: Callable[[int, int], T]) -> list[T]:
        """Run ``task(start, stop)`` on the blocks of rows, with threads."""
        return runtime.map_blocks(lambda _, *block: task(*block), _edges(self.n), self.n_jobs)


def _survey(pairs: _Pairs) -> SimpleNamespace:
    """Take every sum over pairs in one pass: what `kernels.survey` counts, and the two vectors it fills."""
    flow, degree = np.zeros(pairs.n), np.zeros(pairs.n)

    def task(start: int, stop: int) -> list[list[float]]:
        rows = []
        for columns, tile in pairs.tiles(start, stop):
            *sums, i, j = kernels.survey(*tile, flow[start:stop], degree[start:stop])
            rows.append([*sums, start + i, columns.start + j])
        return rows

    tiles = np.concatenate(pairs.map(task))
    counts = tiles[:, :5].sum(axis=0).astype(int).tolist()
    found = SimpleNamespace(flow=flow, degree=degree)
    found.known, found.unreachable, found.one_way, found.both, found.positive = counts
    found.skew, found.total = tiles[:, 5:7].sum(axis=0).tolist()
    found.least, found.most, found.ratio = (
        float(x) for x in (tiles[:, 7].min(), *tiles[:, 8:10].max(axis=0))
    )
    found.gap, *place = tiles[tiles[:, 10].argmax(), 10:].tolist()
    found.widest = tuple(map(int, place))
    return found


def _heights(pairs: _Pairs, found: SimpleNamespace) -> np.ndarray:
    """Solve L(c) h = flow, with mean 0 on each component of the pairs known both ways."""
    n = pairs.n
    if found.both == n * (n - 1) and found.least == found.most:  # The closed form A.mean(axis=0).
        return found.flow * (pairs.unit / (n * found.most))

    def weight_rows(start: int, stop: int) -> sparse.csr_array:
        tiles = (kernels.pair_weights(*tile[2:]) for _, tile in pairs.tiles(start, stop))
        return sparse.hstack([sparse.csr_array(c) for c in tiles], format="csr")

    def multiply(x: np.ndarray) -> np.ndarray:
        x = np.ascontiguousarray(x.ravel())

        def task(start: int, stop: int) -> np.ndarray:
            part = np.zeros(n)
            for columns, tile in pairs.tiles(start, stop, first=start):
                if columns.start == start:  # Here each pair comes twice.
                    tile[2] = np.triu(tile[2])
                kernels.laplacian(*tile[2:], x[start:stop], x[columns], part[start:stop], part[columns])
            return part

        return np.sum(pairs.map(task), axis=0)

    if found.both <= 2 * SPARSE_PAIRS * n:
        weights = sparse.vstack(pairs.map(weight_rows), format="csr")
        matrix, patience = sparse.diags_array(found.degree, format="csr") - weights, 10 * n
    else:
        matrix, patience = LinearOperator((n, n), matvec=multiply, dtype=np.float64), 1000
    degree = np.where(found.degree > 0, found.degree, 1.0)
    return pairs.unit * _solve(matrix, found.flow, degree, _components(pairs, "both"), patience)


def _solve(
    matrix: Any, flow: np.ndarray, degree: np.ndarray, component: np.ndarray, patience: int
) -> np.ndarray:
    """Solve a Laplacian by conjugate gradients, scaled so that points of small weight are served as well.

    They run to scipy's own tolerance (whose name depends on the version), and again on what is left. That must
    sum to 0 on each component, beyond rounding: nothing else can be solved for.
    """
    n, scale, norm = len(flow), 1 / np.sqrt(degree), np.inf
    scaled = LinearOperator((n, n), lambda x: scale * (matrix @ (scale * x.ravel())), dtype=np.float64)

    def without_mean(x: np.ndarray, mass: np.ndarray) -> np.ndarray:
        return x - (np.bincount(component, x * mass) / np.bincount(component, mass))[component]

    h, left = np.zeros(n), without_mean(flow / degree, degree)  # What is left is kept in units of heights.
    first = size = float(np.abs(left).max())
    while size > SOLVED * first:
        step = scale * cg(scaled, left / scale, atol=0.0, maxiter=patience)[0]
        better = without_mean(h + step, np.ones(n))
        still = without_mean((flow - matrix @ better) / degree, degree)
        sizes = float(np.abs(still).max()), float(np.linalg.norm(still / scale))
        if not (sizes[0] < 0.5 * size or sizes[1] < 0.5 * norm):
            break
        h, left, (size, norm) = better, still, sizes
    if size > GOOD_ENOUGH * first:
        text = f"The heights solve their equations to {size / first:.1e} only: weights span too wide a range."
        warnings.warn(text, RuntimeWarning, stacklevel=4)
    return h


def _reached(pairs: _Pairs, way: str, start: int, others: np.ndarray) -> list[int]:
    """Start, and the points among `others` that known pairs lead to: "out", "in", "either" or "both" ways."""
    queue = [start]
    for i in queue:
        if not others.size:
            break
        steps = [pairs.at(i, others)[1] > 0] if way != "in" else []
        steps += [pairs.at(others, i)[1] > 0] if way != "out" else []
        step = np.logical_or.reduce(steps) if way == "either" else np.logical_and.reduce(steps)
        queue.extend(others[step].tolist())
        others = others[~step]
    return queue


def _components(pairs: _Pairs, way: str) -> np.ndarray:
    """Number the connected components, by point."""
    component = np.full(pairs.n, -1)
    for i in range(pairs.n):
        if component[i] < 0:
            component[_reached(pairs, way, i, np.flatnonzero(component < 0)[1:])] = component.max() + 1
    return component


def _ratio_quantiles(pairs: _Pairs, found: SimpleNamespace, seed: int) -> dict[float, float]:
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


def _triangles(pairs: _Pairs, seed: int, most: int) -> tuple[float | None, int, dict[str, Any] | None]:
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


def _check(D: Any, weights: Any, labels: Sequence[Any] | None, n_jobs: int | None) -> _Pairs:
    """Refuse what is no matrix of dissimilarities, or of weights, and say where."""
    matrix, index = _matrix("D", D)
    names = list(range(len(matrix)) if index is None else index) if labels is None else list(labels)
    if len(names) != len(matrix):
        raise ValueError(f"labels has {len(names)} names for {len(matrix)} points; give one to each.")
    unit = _unit("D", matrix, names, n_jobs)
    if weights is None:
        return _Pairs(matrix, None, names, unit, 1.0, n_jobs)
    W, w_index = _matrix("weights", weights)
    if W.shape != matrix.shape:
        raise ValueError(f"weights has shape {W.shape} and D {matrix.shape}; give a weight to each pair.")
    if index is not None and w_index is not None and index != w_index:
        raise ValueError("weights and D have different row labels; use weights.loc[D.index, D.columns].")
    return _Pairs(matrix, W, names, unit, _unit("weights", W, names, n_jobs), n_jobs)


def _matrix(name: str, value: Any) -> tuple[np.ndarray, list[Any] | None]:
    """Read a square matrix of numbers, and the row labels of a DataFrame."""
    index = None
    if hasattr(value, "columns") and hasattr(value, "index"):
        index, columns = list(value.index), list(value.columns)
        if index != columns and len(index) == len(columns) and set(index) == set(columns):
            raise ValueError(f"{name} has columns in another order than rows; use {name}[{name}.index].")
    if isinstance(value, np.ma.MaskedArray):
        value = np.ma.filled(value.astype(np.float64), np.nan)
    try:
        matrix = value.to_numpy() if hasattr(value, "to_numpy") else np.asarray(value)
    except ValueError as error:
        raise ValueError(
            f"{name} cannot be read as a matrix ({error}); give rows of equal length."
        ) from error
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            f"{name} must be a square matrix, from each point (row) to each point (column), and has shape "
            f"{matrix.shape}; a sparse matrix needs .toarray(), a CSV with names read_csv(…, index_col=0)."
        )
    if len(matrix) < 2:
        raise ValueError(f"{name} has {len(matrix)} points; give at least 2.")
    if matrix.dtype.kind == "O":
        for (i, j), entry in np.ndenumerate(matrix):
            if not isinstance(entry, Real | None):
                where = f"from {index[i]} to {index[j]}" if index else f"at [{i}, {j}]"
                raise TypeError(f"{name} has {entry!r} {where}, which is no number; use NaN for unknown.")
        matrix = matrix.astype(np.float64)
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers, not {matrix.dtype}; convert it to float.")
    return matrix, index


def _unit(name: str, matrix: np.ndarray, labels: list[Any], n_jobs: int | None) -> float:
    """Power of 2 just above the largest finite entry, once every entry off the diagonal is fit."""

    def task(_: int, start: int, stop: int) -> tuple[float, list[int]]:
        block = np.array(matrix[start:stop], dtype=np.float64)
        block[np.arange(stop - start), np.arange(start, stop)] = 0.0
        finite = np.isfinite(block)
        bad = (block < 0) | ~finite if name == "weights" else block < 0
        place = np.argwhere(bad)[0] + (start, 0) if bad.any() else np.empty(0, int)
        return float(block.max(where=finite, initial=0.0)), place.tolist()

    blocks = runtime.map_blocks(task, _edges(len(matrix)), n_jobs)
    for i, j in (place for _, place in blocks if place):
        cure = "0 is unknown" if name == "weights" else "NaN is missing; convert similarities first"
        where = f"{name}[{i}, {j}] = {matrix[i, j]}, from {labels[i]} to {labels[j]},"
        raise ValueError(f"{where} must be 0 or a positive number ({cure}).")
    largest = max(peak for peak, _ in blocks)
    return 2.0 ** min(frexp(largest)[1], 1023) if largest > 0 else 1.0


def _edges(n: int) -> list[int]:
    return [*range(0, n, BLOCK), n]


def _whole(name: str, value: Any) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name} must be a whole number, not {value!r}.") from None
    if number < 0:
        raise ValueError(f"{name} = {number} must be 0 or more.")
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
