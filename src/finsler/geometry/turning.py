"""How much of the asymmetry turns round a center, before there is a map: at least, at most, and by chance.

Of the skew part A that heights leave, a drift that turns on a map X shows the best fit of ``x_ia x_jb - x_ib x_ja``, a < b
(see `finsler.geometry.swirl`). X is classical scaling of the symmetric part, or of its shortest paths where it has gaps: a
fitted map shows *at least* about as much. *At most*, on any map of m dimensions, it is what the first ``floor(m/2)`` pairs
of singular vectors of the rest show (Gower's bimensions). Noise and p-value are those of random signs, as in
`finsler.geometry.noise`; they leave X as it is.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh
from scipy.sparse.csgraph import shortest_path

from finsler._runtime import single_blas_thread
from finsler.geometry.noise import DRAWN, FLIPS, LEVEL, ROUNDING, SkewPairs, flip_signs, without_heights
from finsler.geometry.pairs import Array, Pairs, Rows

DIMENSIONS = (2, 3)  # of maps that are told of
WORTH_TELLING = 0.05  # share of the squares of the asymmetry


class Turning(NamedTuple):
    """Shares of the squares of the asymmetry that turn."""

    n_components: int  #: Dimension of the map: 2, round a center, or 3, round an axis.
    share: float  #: On the map of the symmetric part: a fitted one shows at least about as much.
    most: float  #: On any map of this dimension: no more than this.
    noise: float | None = None  #: What noise alone would give of the share.
    p: float | None = None  #: How likely noise alone gives as much.

    @property
    def where(self) -> str:
        """Round what it turns."""
        return "a center" if self.n_components == 2 else "an axis"

    @property
    def stands_out(self) -> bool:
        """Whether it is more than noise gives, and no trifle."""
        above = self.noise is None or (self.p is not None and self.p <= LEVEL)
        return self.share >= WORTH_TELLING and above

    def __str__(self) -> str:
        most = f"{100 * self.share:.3g} % or more, {100 * self.most:.3g} % at most"
        noise = "" if self.noise is None else f"; noise alone: {100 * self.noise:.2g} %"
        return most + noise + ("" if self.p is None else f", p = {self.p:.2g}")


def turning_shares(pairs: Pairs | Rows, *, test: bool = True, seed: int = 0) -> tuple[Turning, ...]:
    """Shares for maps in the plane and in space; none for more than 500 points, or where nothing is left to turn.

    Parameters
    ----------
    pairs : Pairs
        All pairs, whose points hang together; some rows tell nothing here.
    test : bool
        Whether noise and p-values apply; not to lengths of paths, which share arcs.
    seed : int
        Seed of the signs.

    Examples
    --------
    >>> from finsler.geometry.randers import randers_distances
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> X -= X.mean(axis=0)
    >>> plane, _ = turning_shares(Pairs.of(randers_distances(X, drift=0.0, swirl=0.1)))
    >>> plane.n_components, round(plane.share, 6), round(plane.most, 6), plane.p
    (2, 1.0, 1.0, 0.001)
    """
    if isinstance(pairs, Rows) or pairs.n_points > DRAWN or pairs.n_points < 5:
        return ()
    known = SkewPairs.of(pairs)
    rest, size = without_heights(known, known.A[None])[0], float(known.c @ known.A**2)
    if not size > 0 or known.c @ rest**2 <= ROUNDING * size:
        return ()
    with single_blas_thread():
        X = _symmetric_map(pairs, max(DIMENSIONS))
        squares = _singular_squares(known, rest)
    return tuple(
        _turning(known, X[:, :m], m, float(squares[: 2 * (m // 2)].sum() / (2 * size)), test, seed)
        for m in DIMENSIONS
        if np.any(X[:, m - 1])
    )


def _turning(known: SkewPairs, X: Array, m: int, most: float, test: bool, seed: int) -> Turning:
    """Share of what turns on X, beside that of random signs."""
    a, b = np.triu_indices(m, 1)
    wedge = X[known.i][:, a] * X[known.j][:, b] - X[known.i][:, b] * X[known.j][:, a]
    root = np.sqrt(known.c)
    _, spread, basis = np.linalg.svd(without_heights(known, wedge.T) * root, full_matrices=False)
    basis = basis[spread > 1e-9 * spread.max(initial=0.0)]

    def share(A: Array) -> Array:
        return np.asarray(((A * root @ basis.T) ** 2).sum(axis=1) / (A**2 @ known.c))

    found = float(share(known.A[None])[0])
    if not test:
        return Turning(m, found, max(most, found))
    null = flip_signs(known.A, share, FLIPS, seed)
    level = float((basis**2).sum(axis=0) @ (known.c * known.A**2) / (known.c @ known.A**2))
    return Turning(m, found, max(most, found), level, null.p if null.possible else None)


def _singular_squares(known: SkewPairs, rest: Array) -> Array:
    """Squares of the singular values of what heights leave, the largest first; each comes twice."""
    B = np.zeros((known.n, known.n))
    B[known.i, known.j] = rest * np.sqrt(known.c)
    B -= B.T
    most = min(known.n, 2 * (max(DIMENSIONS) // 2))
    values = eigh(B @ B.T, eigvals_only=True, subset_by_index=[known.n - most, known.n - 1])
    return np.asarray(np.maximum(values[::-1], 0.0))


def _symmetric_map(pairs: Pairs, m: int) -> Array:
    """Classical scaling of the symmetric part; where it has gaps, of its shortest paths."""
    n = pairs.n_points
    points = np.arange(n)
    D = np.where(pairs.known(points[:, None], points[None, :]), np.asarray(pairs.D, dtype=float), np.nan)
    S = np.where(np.isnan(D), D.T, np.where(np.isnan(D.T), D, (D + D.T) / 2))
    np.fill_diagonal(S, 0.0)
    S = S / (np.nanmax(S) or 1.0)  # squares of squares must neither vanish nor overflow
    if np.isnan(S).any():
        S = shortest_path(np.where(np.isnan(S), np.inf, np.maximum(S, np.finfo(float).tiny)), directed=False)
        S = np.where(np.isfinite(S), S, S[np.isfinite(S)].max(initial=0.0))
    G = -0.5 * S**2
    G -= G.mean(axis=0)
    G -= G.mean(axis=1, keepdims=True)
    m = min(m, n)
    values, vectors = eigh(G, subset_by_index=[n - m, n - 1])
    X = np.zeros((n, max(DIMENSIONS)))
    X[:, :m] = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1]
    return X
