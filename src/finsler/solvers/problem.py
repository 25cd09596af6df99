"""The dense Finsler stress as the majorization loop sees it: one pass gives stress, descent step and drift.

Half of the stress at ``X + step`` lies below ``stress/2 - 2 <force, step> + <step, V step>``, where the force is minus half
the gradient and the curvature ``V`` is constant: ``V = L(p + 2 alpha |q|)`` on the axes across the drift, and
``L(p + 2 alpha |q|) + alpha^2 L(p)`` along it, with ``L(a)`` the graph Laplacian of pair weights a. The minimizer of
that bound is ``step = V^-1 force``; it lowers half of the stress by at least ``<force, step>``. For uniform weights ``V`` is
N on centered data, and a step costs nothing beyond the pass.

(The bound: Cauchy-Schwarz for the terms ``-2 t e``; and ``2 q e a`` has a Hessian between ``-4 alpha |q|`` and
``4 alpha |q|``, so it lies below its linearization plus ``2 alpha |q| ||u - v||^2``.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy import einsum  # and not BLAS, whose threads, once awake, would spin on the cores of the passes
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from finsler._memory import require_memory
from finsler._runtime import cached_property, map_blocks, single_blas_thread
from finsler.geometry.stress import axes_first, triangle_edges
from finsler.kernels.steps import uniform_step
from finsler.kernels.tiles import symmetrize
from finsler.solvers.backends import passes
from finsler.solvers.backends.passes import MemoryPanels, Panels
from finsler.solvers.drift import best_drift, frame_of

Array = NDArray[np.floating[Any]]

# Up to DIRECT points the curvature is factorized at once; up to FACTORIZE, when conjugate gradients have taken as long as
# that would: so many products with the curvature a point.
DIRECT, FACTORIZE, PATIENCE = 500, 4000, 0.05
SOLVED = 1e-4  # relative residual of a step that conjugate gradients stop at: an inexact one lowers the stress as well

ROWS = 64  # of a matrix that are handled at a time

# Passes in single precision: from this many points on, below which vectors of their length cost as much as the pairs.
SINGLE_FROM = 256
# Rounding of a stress in single precision in epsilons of float32, several times what is measured: see `single_rounding`.
SINGLE_ROUNDING, SINGLE_EPSILON = 64.0, float(np.finfo(np.float32).eps)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Outcome of a pass at some coordinates."""

    stress: float
    step: Array
    decrease: float
    """What the step takes off the stress at least."""
    omega: Array
    rounding: float = 0.0
    """What rounding may have changed of the stress, where the arithmetic was single precision; else 0."""


class Problem(ABC):
    """A stress to be minimized. ``fixed_drift`` is the drift vector, or None to fit it to the data at each pass."""

    n_points: int
    fixed_drift: Array | None
    bounded: bool = True
    """Whether a relaxed step is proved not to rise; else the loop shortens one that does."""

    @abstractmethod
    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Stress and step at ``X``; ``omega`` is the drift so far, where the drift is fitted."""

    def estimate(self, X: Array, omega: Array) -> Evaluation:
        """The same in single precision, where that is quicker: the evaluation then has a ``rounding``."""
        return self.evaluate(X, omega)


@dataclass(frozen=True, eq=False)
class Parts:
    """What is known of complete ``D`` with uniform weights beside its symmetric part ``S = (D + D')/2``."""

    h: Array  #: Centered heights that fit the skew part ``A = (D - D')/2`` best, ``A.mean(axis=0)``.
    skew_residual: float  #: What they leave of it, ``sum over i < j of (A_ij - h_j + h_i)^2``.
    total: float  #: Sum of squares of D.

    @property
    def skew_square(self) -> float:
        """Sum of squares of the skew part, over ordered pairs: of what the heights explain, and of what they leave."""
        return 2 * self.skew_residual + 2 * len(self.h) * float(self.h @ self.h)

    @property
    def symmetric_square(self) -> float:
        """Sum of squares of the symmetric part, over ordered pairs: half of the total at least, as nothing is negative."""
        return self.total - self.skew_square

    @cached_property
    def unit(self) -> float:
        """Power of two near the data, in whose units squares of data and distances are far from the limits of float32."""
        n = len(self.h)
        return float(2.0 ** np.frexp(np.sqrt(self.total / n / max(n - 1, 1)))[1])


def split(
    D: Array, n_jobs: int | None = None, into: MemoryPanels | None = None
) -> tuple[MemoryPanels, Parts]:
    """Symmetric part of complete dissimilarities, in panels, and what else is known of them, in one reading.

    Heights are guessed from the first point, ``g_j = A_0j``: exactly, where the skew part comes from heights. What they
    leave of it, B, has heights ``b = B.mean(axis=0)`` of its own. So ``h = g + b``, and the residual is
    ``sum B^2 - n |b|^2``, in which no more than B cancels.
    """
    n = len(D)
    if into is None:
        need = D.itemsize * passes.numbers_held(n)
        require_memory(need, f"A symmetrized copy of D for {n} points", "Use float32 or fewer points.")
        into = MemoryPanels.empty(n, D.dtype, n_jobs)
    guess = (D[0].astype(float) - D[:, 0]) / 2
    panels = [(first, panel[0]) for first, panel in into.panels]
    edges = triangle_edges(n, passes.BLOCKS) if len(panels) == 1 else passes.panel_edges(n)
    pull = np.zeros((len(edges) - 1, n))

    def task(block: int, start: int, stop: int) -> tuple[float, float]:
        first, S = panels[block if len(panels) > 1 else 0]
        return symmetrize(D, guess, first, start, stop, S, pull[block])

    residual, total = np.array(map_blocks(task, edges, n_jobs)).sum(axis=0)
    more = pull.sum(axis=0) / n
    h = guess + more
    residual = max(0.0, float(residual) - n * float(more @ more))
    return into, Parts(h - h.mean(), residual, float(total))


def single_rounding(rows: Array, stress: float, total: float) -> float:
    """What rounding in single precision may change of a ``stress`` that is the sum of ``rows``, in some unit.

    A residual r is wrong by about epsilon times its distance. The errors of the pairs are as good as independent, so that of
    ``2 r`` times an error each there remains ``epsilon sqrt(stress total)`` over the root of the number of pairs that count,
    n if all do; and so of float32 sums, in units of the stress. Squares of errors add ``epsilon^2 total``.
    """
    whole = float(rows.sum())
    # The sum of squares of their shares: 1/n if all rows count.
    counting = float(einsum("n,n->", rows, rows)) / whole / whole if whole > 0 else 0.0
    cross = float(np.sqrt(stress) * np.sqrt(total))
    return SINGLE_EPSILON * (SINGLE_ROUNDING * counting * (stress + cross) + SINGLE_EPSILON * total)


class UniformProblem(Problem):
    """All weights 1.

    The skew part needs no pass: with ``h = A.mean(axis=0)`` the heights that fit the skew part best,
    ``sum (A - omega.u)^2`` is a constant plus ``N ||h - X omega||^2`` on centered data.

    ``rounded``, if given, makes or finds a float32 copy of the symmetric part in the unit of the parts, for passes in
    single precision; without it they round what they read.
    """

    def __init__(
        self,
        panels: Panels,
        parts: Parts,
        fixed_drift: Array | None,
        rounded: Callable[[], Panels] | None = None,
    ):
        self.panels, self.parts, self.fixed_drift, self.rounded = panels, parts, fixed_drift, rounded
        self.n_points = panels.n_points

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs."""
        return self._evaluate(X, omega, False)

    def estimate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs in single precision, of many points in two or three dimensions.

        On a line no point can pass another one, and any rounding chooses between the many orders.
        """
        return self._evaluate(X, omega, self.n_points >= SINGLE_FROM and X.shape[1] in (2, 3))

    def _evaluate(self, X: Array, omega: Array, single: bool) -> Evaluation:
        n, m = X.shape
        axes = np.ascontiguousarray(X.T)  # which it is in the loop: vector operations run along the points
        centered = axes - axes.mean(axis=1, keepdims=True)
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        else:
            omega = best_drift(
                einsum("in,jn->ij", centered, centered), einsum("in,n->i", centered, self.parts.h)
            )
        unit = self.parts.unit if single else 1.0
        found = self._single_pass(centered) if single else self.panels.sum(passes.uniform_pass, axes_first(X))
        rows, step = found[-1], np.empty((m, n))
        square, promised = uniform_step(found, unit, centered, self.parts.h, omega, step)
        misfit = unit * unit * float(rows.sum())
        rounding = single_rounding(rows, misfit, self.parts.total) if single else 0.0
        stress = 2 * (misfit + self.parts.skew_residual + n * square)
        return Evaluation(stress, step.T, 2 * promised, omega, rounding)

    def _single_pass(self, centered: Array) -> Array:
        """Force and stress of the symmetric part from a pass in single precision, in the unit of the parts."""
        panels, scale = (self.panels, 1 / self.parts.unit) if self.rounded is None else (self.rounded(), 1.0)
        local = np.zeros((3, self.n_points), dtype=np.float32)
        np.multiply(centered, 1 / self.parts.unit, out=local[: len(centered)], casting="same_kind")
        return panels.sum(passes.single_pass, local, None if scale == 1 else scale)


class WeightedProblem(Problem):
    """Any non-negative weights, the two directions of a pair weighing differently or one of them missing."""

    drift_on_all_axes = False
    """Whether the drift may point along any axis, as where it turns, or lies on the last one of the frame of the solver."""

    def __init__(self, panels: Panels, fixed_drift: Array | None, degrees: Array | None = None):
        self.panels, self.fixed_drift, self._degrees = panels, fixed_drift, degrees
        self.n_points = panels.n_points
        self._factors: tuple[float, Callable[[Array], Array]] | None = (
            None  # alpha that they are for, and their solver
        )
        self._unfit = (
            False  # weights of many magnitudes are not positive definite to rounding; or memory is short
        )
        self._n_products = 0

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs, and another one before it where the drift is fitted."""
        m, XT = X.shape[1], axes_first(X)
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        else:
            found = self.panels.sum(passes.drift_pass, XT, X @ omega)  # L(p) X, and the pull along the drift
            omega = best_drift(X.T @ found[:m].T, X.T @ found[-1])
        found = self.panels.sum(passes.weighted_pass, XT, X @ omega)  # pull, lift along the drift, misfit
        force = found[:m].T + np.outer(found[-2], omega)
        Q = frame_of(omega)
        step = self._curvature_solver(float(np.linalg.norm(omega)))(force @ Q) @ Q.T
        unit = self.panels.unit
        return Evaluation(unit * float(found[-1].sum()), step, unit * 2 * float(np.vdot(step, force)), omega)

    def _curvature_solver(self, alpha: float) -> Callable[[Array], Array]:
        """Solver of ``V step = force`` in a frame whose last axis is the drift, unless it may point anywhere.

        Where the drift is fitted, alpha is rounded up to a grid: a larger alpha gives a larger curvature, which
        still majorizes, and the factors are kept while the grid value stays. Factors for another alpha still precondition.
        """
        if self.fixed_drift is None or self.drift_on_all_axes:
            alpha = float(np.ceil(alpha * 20) / 20)
        n = self.n_points
        if self._factors is None or (n <= DIRECT and self._factors[0] != alpha):
            late = n <= DIRECT or self._n_products >= PATIENCE * n
            if late and self.panels.factorize and n <= FACTORIZE and not self._unfit:
                try:
                    self._factors = alpha, self._factorized(alpha)
                except (LinAlgError, MemoryError):
                    self._unfit = True
        if self._factors is not None and self._factors[0] == alpha:
            return self._factors[1]
        return self._conjugate_gradients(alpha)

    def _factorized(self, alpha: float) -> Callable[[Array], Array]:
        n = self.n_points
        W, WT = self.panels.weights()
        same = W is WT or (W == WT).all()
        one = same or self.drift_on_all_axes
        require_memory(
            8.0 * n * n * (1 if one else 2), f"Factors of the weights of {n} points", "Use fewer points."
        )
        if self.drift_on_all_axes:
            everywhere = _grounded_cholesky(W, WT, alpha, alpha**2)
            return lambda force: np.asarray(cho_solve(everywhere, force))
        factor = _grounded_cholesky(W, WT, alpha, 0.0)
        if same:
            last = 1 + alpha**2
            return lambda force: cho_solve(factor, force) / np.append(np.ones(force.shape[1] - 1), last)
        factor_last = _grounded_cholesky(W, WT, alpha, alpha**2)

        def solve(force: Array) -> Array:
            step = np.empty_like(force)
            step[:, :-1] = cho_solve(factor, force[:, :-1])
            step[:, -1] = cho_solve(factor_last, force[:, -1])
            return step

        return solve

    def _conjugate_gradients(self, alpha: float) -> Callable[[Array], Array]:
        """Matrix-free solves. Their steps are the best in a subspace, so that even a step which is not quite solved for
        lowers the stress by what it promises.
        """
        if self._degrees is None:
            self._degrees = self.panels.sum(passes.weights_pass)[0]
        diagonal = np.where(self._degrees > 0, self._degrees, 1.0)[:, None]  # a single point has no pairs
        factors = self._factors

        def precondition(residual: Array) -> Array:
            return residual / diagonal if factors is None else factors[1](residual)

        def apply(step: Array) -> Array:
            self._n_products += 1
            across = 0 if self.drift_on_all_axes else step.shape[1] - 1
            return self.panels.sum(passes.curvature_pass, np.ascontiguousarray(step.T), alpha, across).T

        def solve(force: Array) -> Array:
            step = conjugate_gradients(apply, force, precondition)
            return np.asarray(
                step - step.mean(axis=0)
            )  # a shift costs nothing, and the factorized step has none

        return solve


def _grounded_cholesky(W: Array, WT: Array, alpha: float, more: float) -> Any:
    """Cholesky factor of ``L((1 + more) p + 2 alpha |q|)``; its null space is lifted to the size of its diagonal."""
    n = len(W)
    L = np.empty((n, n))
    for start in range(0, n, ROWS):  # by blocks, without temporaries of the size of L
        there, back = W[start : start + ROWS].astype(float), WT[start : start + ROWS].astype(float)
        L[start : start + ROWS] = -(0.5 * (1 + more)) * (there + back) - alpha * np.abs(there - back)
    np.fill_diagonal(L, 0)
    degree = -L.sum(axis=1)
    np.fill_diagonal(L, degree)
    L += degree.mean() / n
    # One thread: on a busy machine the threads of BLAS wait for each other far longer than the work takes.
    with single_blas_thread():
        return cho_factor(L.T, overwrite_a=True, check_finite=False)  # symmetric, and in the order of LAPACK


def conjugate_gradients(
    apply: Callable[[Array], Array],
    rhs: Array,
    precondition: Callable[[Array], Array],
    *,
    tol: float = SOLVED,
    max_iter: int = 200,
) -> Array:
    """Solve ``apply(x) = rhs``, column by column at once, from 0.

    Rounding of ``apply`` apart, each column is the best of its length, ``<x, apply(x)> = <x, rhs>``, and is scaled so that
    this holds.
    """
    x, image_of_x = np.zeros_like(rhs), np.zeros_like(rhs)
    residual = rhs.copy()
    z = precondition(residual)
    direction = z.copy()
    rho = (residual * z).sum(axis=0)
    goal = tol**2 * rho
    for _ in range(max_iter):
        active = rho > goal
        if not active.any():
            break
        image = apply(direction)
        curvature = (direction * image).sum(axis=0)
        length = np.where(active & (curvature > 0), rho / np.where(curvature > 0, curvature, 1), 0)
        x += length * direction
        image_of_x += length * image
        residual -= length * image
        z = precondition(residual)
        rho_next = (residual * z).sum(axis=0)
        direction = z + np.where(rho > 0, rho_next / np.where(rho > 0, rho, 1), 0) * direction
        rho = rho_next
    square = (x * image_of_x).sum(axis=0)
    return np.asarray(x * np.where(square > 0, (x * rhs).sum(axis=0) / np.where(square > 0, square, 1), 1))
