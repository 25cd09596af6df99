"""What noise alone would give: shares of the asymmetry under random signs of the skew part.

Without a direction in the data each `A_ij = (D_ij - D_ji) / 2` is as likely as `-A_ij`, independently of the others,
whatever its distribution. So signs are flipped at random and the share is computed again; the p-value is exact. Heights:
with `a = c A`, the share is `Q / sum c A^2` over pairs i < j, `Q = f' G f`, where G is the pseudo-inverse of the Laplacian
L(c) and `f_j = sum_i s_ij a_ij` for signs s. With K = L(a^2) and `R_ij = G_ii + G_jj - 2 G_ij`, its first two moments are

    mean Q = sum a^2 R = tr(K G),    var Q = 2 (tr(K G K G) - sum a^4 R^2),

where sums run over i < j. For equal weights the mean of the share is 2/N and no Laplacian is needed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import csr_array
from scipy.sparse.linalg import eigsh
from scipy.special import gammaincc

from finsler._runtime import single_blas_thread
from finsler.geometry.components import matrix_components
from finsler.geometry.pairs import Array, Pairs, Rows, Survey

FLIPS = 999  # of heights; those of circles are fewer, for each needs a singular value
CIRCLE_FLIPS = 199
CIRCLES = 100  # points up to which a report looks for a circle that stands out
ALL_FLIPS = 12  # pairs up to which every pattern of signs is tried
DRAWN = 500  # points up to which signs are drawn; beyond, a gamma distribution with the first two moments
LEVEL = 0.05  # p-value above which a share is called noise
CELLS = 1 << 22  # signs drawn at a time
EXACT_EIGEN = 200  # points beyond which the largest singular value is found by iterations
ROUNDING = 1e-9  # relative: what is nearer than this to the observed value is equal to it


class Null(NamedTuple):
    """A statistic beside what noise alone gives."""

    observed: float
    p: float  #: Share of the signs with a statistic at least as large; never 0.
    noise: float  #: Mean of the statistic under noise: its noise level.
    spread: float  #: Standard deviation there.
    values: (
        Array  #: The statistic for all or for the drawn signs, these data not among them; empty for moments.
    )
    least_p: float  #: The least p that so many pairs can give.

    @property
    def possible(self) -> bool:
        """Whether there are enough pairs for any value to be told from noise."""
        return self.least_p <= LEVEL


class SkewPairs(NamedTuple):
    """Skew part of the pairs i < j known both ways, with their weights c."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    A: Array
    c: Array
    n: int  #: Number of points.

    @classmethod
    def of(cls, pairs: Pairs) -> SkewPairs:
        """Collect the pairs."""
        parts: list[tuple[Array, ...]] = []
        for block in pairs.map(lambda rows: [(rows.sources, *part) for part in rows.skew()]):
            for sources, there, A, c in block:
                s, t = np.nonzero((c > 0) & (sources[:, None] < np.arange(there.start, there.stop)))
                parts.append((sources[s], there.start + t, A[s, t], c[s, t]))
        i, j, A, c = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return cls(i.astype(np.intp), j.astype(np.intp), A, c, pairs.n_points)

    @property
    def uniform(self) -> bool:
        """Whether all pairs are known and weigh the same."""
        return len(self.c) == self.n * (self.n - 1) // 2 and bool(np.ptp(self.c) == 0)

    def matrix(self, values: Array) -> Array:
        """Symmetric matrix of a value for each pair."""
        out = np.zeros((self.n, self.n))
        out[self.i, self.j] = out[self.j, self.i] = values
        return out

    def resolvent(self) -> Array | float:
        """Pseudo-inverse G of the Laplacian L(c), or the number that it is on flows if all weights are equal."""
        if self.uniform:
            return 1 / (self.n * float(self.c[0]))
        return np.linalg.pinv(laplacian(self.matrix(self.c)), hermitian=True)

    def incidence(self, values: Array) -> csr_array:
        """Matrix with a row for each pair: minus the value at i, plus the value at j."""
        k = np.arange(len(values))
        entries = (np.concatenate([-values, values]), (np.tile(k, 2), np.concatenate([self.i, self.j])))
        return csr_array(entries, shape=(len(values), self.n))


def laplacian(weights: Array) -> Array:
    """Laplacian of symmetric weights."""
    return np.diag(weights.sum(axis=1)) - weights


def noise_level(pairs: Pairs, found: Survey) -> float | None:
    """Share of the skew part that follows heights by chance: 2/N for equal weights.

    Beyond 500 points with weights or gaps it is approximate, see `_moments`.
    """
    if not found.skew > 0:
        return None
    if found.uniform:
        return 2 / pairs.n_points
    if pairs.n_points > DRAWN:
        return _moments(pairs, found)[0]
    return exact_level(SkewPairs.of(pairs))


def exact_level(known: SkewPairs) -> float:
    """Mean over all signs of the share that follows heights."""
    return float(_resistances(known) @ (known.c * known.A) ** 2 / (known.c @ known.A**2))


def heights_null(pairs: Pairs, found: Survey, share: float, *, n_flips: int = FLIPS, seed: int = 0) -> Null:
    """Share that follows heights beside that of random signs."""
    if pairs.n_points > DRAWN:
        return _gamma_null(share, *_moments(pairs, found))
    known = SkewPairs.of(pairs)
    drawn = flip_signs(known.A, lambda A: height_shares(known, A), n_flips, seed)
    return drawn._replace(noise=exact_level(known))


def noise_of(
    pairs: Pairs | Rows, found: Survey, share: float, seed: int = 0
) -> tuple[dict[str, float], dict[str, float]]:
    """What noise alone gives of the shares of a report, and how likely it gives as much, by name.

    The share of some rows is found on other rows than its heights, so that noise gives 0.
    """
    if isinstance(pairs, Rows):
        return {"gradient_share": 0.0, "cyclic_share": 1.0}, {}
    tests = {"gradient_share": heights_null(pairs, found, share, seed=seed)}
    level = tests["gradient_share"].noise
    if pairs.n_points <= CIRCLES and share < 1 - ROUNDING:
        tests["circle"] = circles_null(SkewPairs.of(pairs), seed=seed)
    p_values = {name: test.p for name, test in tests.items() if test.possible}
    return {"gradient_share": level, "cyclic_share": 1 - level}, p_values


def height_shares(known: SkewPairs, A: Array) -> Array:
    """Share of each row of A, a value for each pair, that follows heights."""
    G, F = known.resolvent(), known.incidence(known.c).T @ A.T
    explained = (F * (G * F if isinstance(G, float) else G @ F)).sum(axis=0)
    return explained / (A**2 @ known.c)


def circles_null(known: SkewPairs, *, n_flips: int = CIRCLE_FLIPS, seed: int = 0) -> Null:
    """Share of the largest circle in what does not follow heights, beside that of random signs.

    The circle is the first pair of singular vectors (a bimension) of sqrt(c) R, where R is what heights leave. Heights are
    taken out again after each flip (Freedman and Lane).
    """
    rest = without_heights(known, known.A[None])[0]
    return flip_signs(rest, lambda R: _circle_shares(known, without_heights(known, R)), n_flips, seed)


def without_heights(known: SkewPairs, A: Array) -> Array:
    """What heights leave of each row of A."""
    G, F = known.resolvent(), known.incidence(known.c).T @ A.T
    h = G * F if isinstance(G, float) else G @ F
    return A - (h[known.j] - h[known.i]).T


def _circle_shares(known: SkewPairs, R: Array) -> Array:
    """``(s1^2 + s2^2) / sum s^2`` of the singular values of each row of R as a skew matrix."""
    found = []
    for values in R * np.sqrt(known.c):
        B = np.zeros((known.n, known.n))
        B[known.i, known.j], B[known.j, known.i] = values, -values
        size = float(2 * values @ values)
        found.append(2 * _largest_square(B) / size if size > 0 else 0.0)
    return np.array(found)


def _largest_square(B: Array) -> float:
    """Square of the largest singular value of a skew matrix; each comes twice."""
    n = len(B)
    if n <= EXACT_EIGEN:
        return float(eigh(B @ B.T, eigvals_only=True, subset_by_index=[n - 1, n - 1])[0])
    start = np.random.default_rng(0).standard_normal(n)
    return float(eigsh(B @ B.T, k=1, which="LA", v0=start, tol=1e-6, return_eigenvectors=False)[0])


def flip_signs(values: Array, statistic: Any, n_flips: int, seed: int) -> Null:
    """Statistic of values under flipped signs: all of them if the pairs are few, else so many drawn at random.

    ``statistic`` takes rows of values, and gives a number for each.
    """
    live = np.flatnonzero(np.abs(values) > ROUNDING * np.abs(values).max(initial=0.0))
    drawn = len(live) > ALL_FLIPS
    with single_blas_thread():
        observed = float(statistic(values[None])[0])
        parts = [
            statistic(np.where(flipped, -values, values))
            for flipped in _signs(len(values), live, n_flips if drawn else None, seed)
        ]
    null = np.concatenate(parts)
    n_extreme = int((null >= observed - ROUNDING * abs(observed)).sum())
    if drawn:
        p, least = (1 + n_extreme) / (n_flips + 1), 1 / (n_flips + 1)
    else:  # the first of all patterns is that of the data; with all signs flipped the statistic is the same
        p, least, null = n_extreme / len(null), min(1.0, 2 / len(null)), null[1:]
    pool = null if len(null) else np.array([observed])
    return Null(observed, p, float(pool.mean()), float(pool.std()), null, least)


def _signs(n: int, live: NDArray[np.intp], n_flips: int | None, seed: int) -> Iterator[NDArray[np.bool_]]:
    """Which of n values are flipped, rows at a time: every pattern of the live ones, or so many at random."""
    rng = np.random.default_rng(seed)
    if n_flips is None:
        patterns = np.arange(2 ** len(live))[:, None] >> np.arange(len(live)) & 1
        rows = np.zeros((len(patterns), n), dtype=bool)
        rows[:, live] = patterns
        yield rows
        return
    step = max(1, CELLS // max(n, 1))
    for start in range(0, n_flips, step):
        size = min(step, n_flips - start)
        bits = np.frombuffer(rng.bytes(size * (-(-n // 8))), dtype=np.uint8).reshape(size, -1)
        yield np.unpackbits(bits, axis=1)[:, :n].astype(bool)


def _resistances(known: SkewPairs) -> Array:
    """Resistance R of each pair."""
    G = known.resolvent()
    if isinstance(G, float):
        return np.full(len(known.c), 2 * G)
    own = np.diagonal(G)
    return own[known.i] + own[known.j] - 2 * G[known.i, known.j]


def exact_moments(known: SkewPairs) -> tuple[float, float]:
    """Mean and variance of the share that follows heights under random signs, for any weights: O(N^3)."""
    a2, R, G = (known.c * known.A) ** 2, _resistances(known), known.resolvent()
    KG = laplacian(known.matrix(a2)) * G if isinstance(G, float) else laplacian(known.matrix(a2)) @ G
    size = float(known.c @ known.A**2)
    twice = float((KG * KG.T).sum() - (a2 * R) @ (a2 * R))
    return float(a2 @ R) / size, 2 * max(twice, 0.0) / size**2


def _moments(pairs: Pairs, found: Survey) -> tuple[float, float]:
    """Mean and standard deviation of the share that follows heights under random signs: a pass over the pairs, O(N^2).

    Exact for equal weights. Otherwise R_ij is taken for ``1 / L_ii + 1 / L_jj``, times a number that makes the sum of c R
    what it is, the number of free heights.
    """

    def sums(rows: Any) -> Array:
        """For each row the degree, ``sum a^2`` and ``sum a^4``."""
        out = np.zeros((3, len(rows.sources)))
        for _, A, c in rows.skew():
            a2 = (c * A / size) ** 2
            out += [c.sum(axis=1), a2.sum(axis=1), (a2**2).sum(axis=1)]
        return out

    size = np.sqrt(found.skew / found.both)  # so that fourth powers stay within the range of floating point
    degree, squares, fourths = np.concatenate(pairs.map(sums), axis=1)
    linked, degree = degree > 0, np.where(degree > 0, degree, 1.0)
    groups = 1 if found.uniform else len(set(matrix_components(np.vstack(pairs.map(_both_ways)))[linked]))
    free = float((linked.sum() - groups) / linked.sum())
    mean = free * float((squares / degree).sum()) / (found.both / 2)
    # Two pairs that meet in i contribute (a_ij a_il / L_ii)^2; a pair by itself does not vary.
    spread = np.sqrt(2 * max(float(((squares**2 - fourths) / degree**2).sum()), 0.0))
    return float(mean), free * float(spread) / (found.both / 2)


def _both_ways(rows: Any) -> NDArray[np.bool_]:
    """Which pairs of some rows are known both ways."""
    return np.hstack([c > 0 for _, _, c in rows.skew()])


def _gamma_null(share: float, mean: float, spread: float) -> Null:
    """Null by a gamma distribution of these moments."""
    shape = (mean / max(spread, np.finfo(float).tiny)) ** 2
    tail = float(gammaincc(shape, shape * share / mean)) if np.isfinite(shape) else float(share <= mean)
    return Null(share, max(tail, np.finfo(float).tiny), mean, spread, np.empty(0), 0.0)
