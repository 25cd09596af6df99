"""Where a solver starts: from which coordinates (closed form, Isomap-like, random, given) and from which alpha.

The closed form (classical Finsler scaling) is exact when the data are exactly Randers. With ``S`` and ``A`` the symmetric
and skew part of ``D``: heights ``h = A.mean(axis=0)`` and ``z = h / alpha`` on the last axis, and the other axes by
classical scaling of what the heights leave, ``G = -1/2 J (S^2 - (z_i - z_j)^2) J`` with ``J = I - 11'/n``. Since
``-1/2 J (z_i - z_j)^2 J = z z'`` for centered z, ``G`` is that of ordinary classical scaling minus ``z z'``.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.optimize import minimize_scalar
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from finsler._memory import require_memory
from finsler._runtime import cached_property, map_blocks, single_blas_thread, whole_blas
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError
from finsler.geometry.heights import gradient_heights
from finsler.geometry.pairs import AlphaSource
from finsler.geometry.stress import raw_stress, triangle_edges
from finsler.kernels.panels import complete
from finsler.kernels.paths import dense_dijkstra, fill_from_landmarks
from finsler.solvers.backends import passes
from finsler.solvers.backends.passes import BLOCKS, MemoryPanels
from finsler.solvers.drift import ALPHA_MAX, axis_signs, frame_of
from finsler.solvers.krylov import krylov_eigenpairs

Array = NDArray[np.floating[Any]]

LANDMARKS = 64
DENSE_EIGEN = 600  # up to this many points a full eigendecomposition is quickest
# From this many points on products with several vectors at a time are quicker than more of them with one: at first in single
# precision, as accurate as this, and from there on in double.
MANY, ROUGH, FINE = 3000, 1e-5, 1e-10
SPARE = 2  # vectors beyond those wanted, where a further one costs more than a further pass


def isomap_of(gram: Gram, h: Array, n_components: int) -> Array:
    """Classical scaling, turned so that the heights ``h`` climb the last axis."""
    X = gram.leading(n_components)
    direction = np.linalg.lstsq(X, h, rcond=1e-6)[0]
    return X @ frame_of(direction)


def random_points(data: Dissimilarities, n_components: int, rng: np.random.RandomState) -> Array:
    """Gaussian points as far apart on average as the data."""
    return gaussian_points(data.n_points, n_components, typical_length(data), rng)


def typical_length(data: Dissimilarities) -> float:
    """Quadratic mean of the dissimilarities that are known, whatever their weights: the length that a map has."""
    known = ~np.eye(data.n_points, dtype=bool) if data.weights is None else data.weights > 0
    count = int(np.count_nonzero(known)) - int(np.count_nonzero(np.diagonal(known)))
    rows = (row[w].astype(float) for row, w in zip(data.matrix, known, strict=True))
    return float(np.sqrt(sum(float(row @ row) for row in rows) / max(count, 1)))


def gaussian_points(n: int, n_components: int, scale: float, rng: np.random.RandomState) -> Array:
    """Random points whose distances are ``scale`` in the quadratic mean."""
    return rng.standard_normal((n, n_components)) * scale / np.sqrt(2 * n_components)


def complete_parts(data: Dissimilarities, n_jobs: int | None = None) -> tuple[Array, Array]:
    """Symmetric part ``S`` and heights ``h``, so that ``D_ij`` is about ``S_ij + h_j - h_i``; guessed where unknown.

    A pair known one way only gives ``S_ij = D_ij - (h_j - h_i)``. Pairs not known at all get the middle of the bounds that
    the triangle inequality sets through landmarks.
    """
    D, W = data.matrix, data.weights
    assert W is not None, "complete data with uniform weights have nothing to fill in"
    n = len(D)
    require_memory(16.0 * n * n, f"Completed data of {n} points", "Use init='random', or fewer points.")
    # A bound "at least b" is taken for b.
    h = gradient_heights(np.abs(D) if (D < 0).any() else D, W, n_jobs=n_jobs)
    S = np.empty((n, n))

    def task(_: int, start: int, stop: int) -> bool:
        return complete(D, W, h, start, stop, S)

    if not all(map_blocks(task, triangle_edges(n, BLOCKS), n_jobs)):
        _fill(S, n_jobs)
    return S, h


def _fill(S: Array, n_jobs: int | None) -> None:
    n = len(S)
    landmarks = np.empty((min(n, LANDMARKS), n))
    nearest = np.full(n, np.inf)
    source = 0
    for row in landmarks:
        dense_dijkstra(S, source, row)
        nearest = np.minimum(nearest, row)
        source = int(np.argmax(nearest))  # the point farthest from all landmarks so far comes next

    def task(_: int, start: int, stop: int) -> None:
        fill_from_landmarks(S, landmarks, start, stop)

    map_blocks(task, np.linspace(0, n, min(n, 16) + 1).astype(int), n_jobs)


class Gram(Protocol):
    """``G0 = -1/2 J S^2 J``, wherever S is."""

    trace: float

    def leading(self, k: int, minus: Array | None = None) -> Array:
        """Coordinates from the k leading eigenvectors of ``G0 - minus minus'``; negative eigenvalues give zeros."""


def closed_form_of(gram: Gram, h: Array, n_components: int, alpha: float) -> Array:
    """Coordinates from the doubly centered symmetric part and the heights ``h`` of the skew part."""
    n = len(h)
    X = np.zeros((n, n_components))
    if n == 1:
        return X
    if alpha == 0:
        return gram.leading(n_components)
    z = h / alpha
    # In exact data |z_i - z_j| <= S_ij. An alpha too small for the data breaks that; keep z within it on average.
    widest = np.sqrt(gram.trace / (z @ z)) if z @ z > gram.trace else 1.0
    z = z * widest
    X[:, -1] = z
    if n_components > 1:
        X[:, :-1] = gram.leading(n_components - 1, minus=z)
    return X


def scaled_eigenvectors(values: Array, vectors: Array, k: int) -> Array:
    """Coordinates from the k largest eigenvalues, the largest first; negative and absent ones give zeros."""
    order = np.argsort(values)[::-1][:k]
    values, vectors = values[order], vectors[:, order]
    vectors = vectors * axis_signs(vectors)  # which an eigensolver leaves open
    X = np.zeros((len(vectors), k))
    X[:, : len(order)] = vectors * np.sqrt(np.maximum(values, 0))
    return X


class DoublyCentered:
    """``G0 = -1/2 J S^2 J``, formed only for a few hundred points; ``square`` is the sum of ``S^2`` over ordered pairs."""

    def __init__(self, panels: MemoryPanels, square: float):
        self._panels, self.n = panels, panels.n_points
        self.trace = square / self.n / 2

    @classmethod
    def of(cls, S: Array, n_jobs: int | None = None) -> DoublyCentered:
        """That of a matrix."""
        return cls(MemoryPanels((S,), 1.0, n_jobs), float(np.einsum("ij,ij->", S, S, dtype=float)))

    def leading(self, k: int, minus: Array | None = None) -> Array:
        """Coordinates from the k leading eigenvectors of ``G0 - minus minus'``; negative eigenvalues give zeros."""
        n, possible = self.n, min(k, self.n)
        if n <= DENSE_EIGEN or possible >= n - 1:
            values, vectors = self._eigenpairs(minus, possible)
        else:
            close = False
            if n >= MANY:
                values, vectors, close = self._from_passes(minus, possible)
            if not close:  # few points, or no gap in the spectrum
                values, vectors = self._by_arpack(minus, possible)
        return scaled_eigenvectors(values, vectors, k)

    def _from_passes(self, minus: Array | None, k: int) -> tuple[Array, Array, bool]:
        """Eigenpairs from passes over the pairs: the first ones in single precision, those that refine them in double."""
        unit = float(2.0 ** np.frexp(np.sqrt(2 * self.trace / self.n))[1])

        z = np.zeros(self.n) if minus is None else minus / unit

        def apply(V: Array, single: bool) -> Array:
            centered = np.ascontiguousarray((V - V.mean(axis=0)).T)
            if single:
                image = self._panels.sum(passes.single_squares_pass, centered, 1 / unit).T
            else:
                image = self._squares_times(centered).T / unit**2
            return np.asarray(-0.5 * (image - image.mean(axis=0)) - np.outer(z, z @ V))

        _, rough, _ = krylov_eigenpairs(lambda V: apply(V, True), self.n, k, tol=ROUGH, spare=SPARE)
        fine = max(FINE, float(np.finfo(self._panels.panel[0].dtype).eps))  # no finer than the data
        values, vectors, close = krylov_eigenpairs(
            lambda V: apply(V, False), self.n, k, tol=fine, start=rough
        )
        return values * unit**2, vectors, close

    def _by_arpack(self, minus: Array | None, k: int) -> tuple[Array, Array]:
        """Eigenpairs from products with one vector at a time, as many as it takes."""
        rank_one = np.zeros(self.n) if minus is None else minus

        def matvec(v: Array) -> Array:
            v = np.ravel(v)
            image = self._squares_times((v - v.mean())[None])[0]
            return -0.5 * (image - image.mean()) - rank_one * (rank_one @ v)

        # A fixed, generic start vector: the result must not depend on a global random state.
        v0 = np.random.default_rng(0).standard_normal(self.n)
        try:
            operator = LinearOperator((self.n, self.n), matvec=matvec, dtype=float)
            values, vectors = eigsh(operator, k=k, which="LA", v0=v0)
        except ArpackNoConvergence:
            values, vectors = self._eigenpairs(minus, k)
        return values, vectors

    def _eigenpairs(self, minus: Array | None, k: int) -> tuple[Array, Array]:
        """Largest eigenvalues and their vectors. LAPACK has absolute tolerances, so in units of about the largest entry."""
        G = self._formed.copy() if minus is None else self._formed - np.outer(minus, minus)
        unit = 2.0 ** np.frexp(np.abs(G).max(initial=0.0))[1]
        G /= unit
        # One thread is as quick on few points, and on a busy machine far quicker.
        with single_blas_thread() if self.n <= DENSE_EIGEN else whole_blas():
            values, vectors = eigh(G, subset_by_index=(self.n - k, self.n - 1))
            if len(values) < k:  # LAPACK's subset drivers lose equal eigenvalues, as of equidistant points
                values, vectors = eigh(G)
        return values * unit, vectors

    def _squares_times(self, VT: Array) -> Array:
        """``S^2 v`` of the rows v."""
        return self._panels.sum(passes.squares_pass, VT)

    @cached_property
    def _formed(self) -> Array:
        G = np.zeros((self.n, self.n))
        for first, upper in self._panels.each(passes.upper_rows):
            G[first : first + len(upper), first:] = upper
        G *= G
        G += G.T
        means = G.mean(axis=1)
        G -= means[:, None]
        G -= means[None, :]
        G += means.mean()
        G *= -0.5
        return G


# Which alpha to start from when none is given, and whether the data determine it.

# alpha counts as determined by the data if the stress of the closed form is more than this share above its least
# value at an alpha halfway to 1.
CLEAR_RISE = 0.1
ONE_WAY_ALPHA = 0.3  # where the fit starts when no pair is known both ways
SAMPLE = 250  # points on which alpha is judged


class AlphaGuess(NamedTuple):
    """Alpha to start from, and where it comes from."""

    alpha: float
    source: AlphaSource

    @property
    def fitted(self) -> bool:
        """Whether the iterations go on to fit it."""
        return self.source != "given" and self.alpha > 0


@dataclass(frozen=True, eq=False)
class Evidence:
    """What tells the drift from the data before there is a map."""

    h: Array  #: Heights that fit the skew part best.
    square: float  #: Sum of squares of the symmetric part.
    symmetric: bool  #: Whether nothing is left of the skew part beside the heights, to rounding.
    one_way: bool  #: Whether some pairs are known one way only.
    sample_S: Array  #: Symmetric part, heights and data of some points.
    sample_h: Array
    sample_D: Array


def sampled_points(n: int) -> NDArray[np.intp]:
    """Points on which alpha is judged, in their order."""
    return np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE])


def identifiable(source: AlphaSource) -> bool | None:
    """Whether the data determine alpha; None if it was given."""
    return None if source == "given" else source not in ("one_way", "unclear")


def about_alpha(source: AlphaSource, alpha: float, n_components: int) -> str:
    """Say what a reader should know about alpha, if anything.

    Examples
    --------
    >>> about_alpha("symmetric", 0.0, 2)
    'The data are symmetric, so alpha is 0.'
    """
    if source == "unclear" and alpha > 0.95:
        return "Alpha ran to its upper limit: nothing in the data holds it back. Give alpha, or take fewer dimensions."
    return {
        "symmetric": "The data are symmetric, so alpha is 0.",
        "cyclic": "The asymmetry runs in circles, which no heights show, so alpha is 0. A drift that turns may: "
        "swirl='auto' (--swirl auto).",
        "one_way": "The drift rests on pairs known one way only.",
        "unclear": f"The data hardly determine alpha: values from about {alpha:.2g} up to 1 fit about equally well, as is "
        f"so when the points hardly use all {n_components} dimensions. Give alpha to choose another.",
    }.get(source, "")


def about_starts(n_starts: int, n_same: int) -> str:
    """Say of how many starts a map is the best, if of several.

    Examples
    --------
    >>> about_starts(102, 38)
    'Best of 102 starts; 38 of them ended at this map.'
    """
    if n_starts == 1:
        return ""
    others = "no other" if n_same == 1 else f"{n_same:,} of them"
    return f"Best of {n_starts:,} starts; {others} ended at this map."


def check_alpha(alpha: Any) -> float | None:
    """Drift that was given as a number, checked; None for "auto"."""
    if isinstance(alpha, str) and alpha == "auto":
        return None
    if not isinstance(alpha, Real) or not 0 <= float(alpha) < 1:
        raise InputError(f"alpha must be a number in [0, 1) or 'auto', got {alpha!r}.", argument="alpha")
    return float(alpha)


def guess_alpha(evidence: Evidence, n_components: int) -> AlphaGuess:
    """Alpha to start from, by the stress of the closed form as a function of alpha, which costs little.

    Where it does not rise towards 1, as for a sheet that lies in a hyperplane and may be tilted at will, the smallest
    value that fits about as well as the best is taken.
    """
    if evidence.h @ evidence.h <= 1e-24 * evidence.square / len(evidence.h):
        if (
            evidence.one_way
        ):  # no pair known both ways tells of asymmetry, but the others still pull at the drift
            return AlphaGuess(ONE_WAY_ALPHA, "one_way")
        return AlphaGuess(0.0, "symmetric" if evidence.symmetric else "cyclic")
    gram, h, D = DoublyCentered.of(evidence.sample_S, 1), evidence.sample_h, evidence.sample_D

    def profile(alpha: float) -> float:
        return raw_stress(closed_form_of(gram, h, n_components, alpha), D, drift=alpha, n_jobs=1)

    grid = np.concatenate([[1e-4], np.linspace(0.02, 0.98, 13), [ALPHA_MAX]])
    with single_blas_thread():  # threads only get in the way of matrices this small
        values = [profile(a) for a in grid]
        k = int(np.argmin(values))
        bounds = grid[max(k - 1, 0)], grid[min(k + 1, len(grid) - 1)]
        found = minimize_scalar(profile, bounds=bounds, method="bounded", options={"xatol": 1e-8})
        alpha, least = min((float(found.fun), float(found.x)), (values[k], float(grid[k])))[::-1]
        enough = (1 + CLEAR_RISE) * least + 1e-20 * float(np.vdot(D, D))
        if profile((1 + alpha) / 2) > enough:
            return AlphaGuess(alpha, "fitted")
        low, smallest = 0.0, alpha
        while smallest - low > 1e-3:
            middle = (low + smallest) / 2
            low, smallest = (low, middle) if profile(middle) <= enough else (middle, smallest)
    return AlphaGuess(smallest, "unclear")
