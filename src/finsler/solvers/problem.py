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
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from finsler._runtime import map_blocks, require_memory, single_blas_thread
from finsler.data.matrix import Dissimilarities
from finsler.geometry.stress import axes_first
from finsler.kernels import dense
from finsler.solvers.drift import best_drift, frame_of
from finsler.solvers.symmetric_and_skew import BLOCKS, Parts, triangle_edges

Array = NDArray[np.floating[Any]]

# Below this many points a pass is too short to be worth handing to threads.
SMALL = 700
# Up to this many points the curvature is factorized once; beyond, conjugate gradients are cheaper.
FACTORIZE = 4000


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Outcome of a pass at some coordinates."""

    stress: float
    step: Array
    decrease: float
    """What the step takes off the stress at least."""
    omega: Array


class Problem(ABC):
    """A stress to be minimized. ``fixed_drift`` is the drift vector, or None to fit it to the data at each pass."""

    n_points: int
    fixed_drift: Array | None

    @abstractmethod
    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Stress and step at ``X``; ``omega`` is the drift so far, where the drift is fitted."""


class UniformProblem(Problem):
    """All weights 1. Beyond the data it keeps one symmetrized matrix and vectors.

    The skew part needs no pass: with ``h = A.mean(axis=0)`` the heights that fit the skew part best,
    ``sum (A - omega.u)^2`` is a constant plus ``N ||h - X omega||^2`` on centered data.
    """

    def __init__(self, parts: Parts, fixed_drift: Array | None, n_jobs: int | None = None):
        self.parts = parts
        self.n_points = n = len(parts.S)
        self.fixed_drift = fixed_drift
        self.n_jobs = n_jobs if n > SMALL else 1
        self.edges = triangle_edges(n, BLOCKS)
        # Forces of the blocks, kept: fresh memory for each pass would cost a tenth of it.
        self._forces = np.empty((0, 0, 0))

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs."""
        n, m = X.shape
        axes = (
            X.T
        )  # contiguous where X is in Fortran order, as in the loop: vector operations run along the points
        centered = axes - axes.mean(axis=1, keepdims=True)
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        else:
            omega = best_drift(centered @ centered.T, centered @ self.parts.h)
        pull, misfit = self._symmetric_pass(axes_first(X))
        skew = self.parts.h - omega @ centered
        stress = 2 * (misfit + self.parts.skew_residual + n * (skew @ skew))
        upwards = omega[:, None]
        force = pull[:m] + (n * upwards) * skew
        # (I + omega omega')^-1 = I - omega omega' / (1 + alpha^2)
        step = (force - upwards * (omega @ force / (1 + omega @ omega))) / n
        return Evaluation(float(stress), step.T, 2 * float(np.vdot(step, force)), omega)

    def _symmetric_pass(self, XT: Array) -> tuple[Array, float]:
        """Force of the symmetric part on each axis, and the sum of ``(e - S)^2`` over ``i < j``."""
        rows = np.zeros(self.n_points)
        if self._forces.shape != (len(self.edges) - 1, *XT.shape):
            self._forces = np.empty((len(self.edges) - 1, *XT.shape))
        forces = self._forces
        kernel = dense.uniform_three if len(XT) == 3 else dense.uniform_any

        def task(block: int, start: int, stop: int) -> None:
            forces[block] = 0.0
            kernel(self.parts.S, XT, start, stop, forces[block], rows)

        map_blocks(task, self.edges, self.n_jobs)
        return forces.sum(axis=0), float(rows.sum())


class WeightedProblem(Problem):
    """Any non-negative weights, the two directions of a pair weighing differently or one of them missing."""

    def __init__(self, data: Dissimilarities, fixed_drift: Array | None, n_jobs: int | None = None):
        D, weights = data.matrix, data.weights
        assert weights is not None, "without weights there is UniformProblem"
        self.n_points = n = len(D)
        self.fixed_drift = fixed_drift
        self.n_jobs = n_jobs if n > SMALL else 1
        require_memory(
            4.0 * D.itemsize * n * n, f"Working copies of D and the weights for {n} points", "Use float32, or fewer points."
        )  # fmt: skip
        # Contiguous transposes: the kernel reads both directions of a pair side by side.
        # In units of the largest: weights of any magnitude give the same map.
        self.unit = float(np.max(weights, initial=0.0)) or 1.0
        self.W = np.divide(weights, self.unit, dtype=float).astype(D.dtype)
        self.symmetric_weights = bool((self.W == self.W.T).all())
        self.WT = self.W if self.symmetric_weights else np.ascontiguousarray(self.W.T)
        self.D = np.where(self.W > 0, D, 0)
        self.DT = np.ascontiguousarray(self.D.T)
        self.edges = triangle_edges(n, BLOCKS)
        self.factorize = n <= FACTORIZE
        self._solve: Callable[[Array], Array] | None = None
        self._solve_alpha = -1.0

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs, and another one before it where the drift is fitted."""
        m = X.shape[1]
        XT = axes_first(X)
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        else:
            omega = self._fit_drift(XT, X, omega)
        pull, lift, misfit = self._pass(XT, X @ omega)
        force = pull[:m].T + np.outer(lift, omega)
        Q = frame_of(omega)
        step = self._curvature_solver(float(np.linalg.norm(omega)))(force @ Q) @ Q.T
        stress, decrease = self.unit * misfit, self.unit * 2 * float(np.vdot(step, force))
        return Evaluation(stress, step, decrease, omega)

    def _fit_drift(self, XT: Array, X: Array, omega: Array) -> Array:
        laplacian, pull = self._drift_pass(XT, X @ omega)
        return best_drift(X.T @ laplacian[: X.shape[1]].T, X.T @ pull)

    def _pass(self, XT: Array, height: Array) -> tuple[Array, Array, float]:
        """Force on each axis, force along the drift, and the stress."""
        rows = np.zeros(self.n_points)
        forces = np.zeros((len(self.edges) - 1, *XT.shape))
        lifts = np.zeros((len(self.edges) - 1, self.n_points))

        def task(block: int, start: int, stop: int) -> None:
            dense.weighted(
                self.D, self.DT, self.W, self.WT, XT, height, start, stop, forces[block], lifts[block], rows
            )  # fmt: skip

        map_blocks(task, self.edges, self.n_jobs)
        return forces.sum(axis=0), lifts.sum(axis=0), float(rows.sum())

    def _drift_pass(self, XT: Array, height: Array) -> tuple[Array, Array]:
        """``L(p) X`` on each axis, and the pull of the data along the drift."""
        laplacians = np.zeros((len(self.edges) - 1, *XT.shape))
        pulls = np.zeros((len(self.edges) - 1, self.n_points))

        def task(block: int, start: int, stop: int) -> None:
            dense.weighted_drift(
                self.D, self.DT, self.W, self.WT, XT, height, start, stop, laplacians[block], pulls[block]
            )  # fmt: skip

        map_blocks(task, self.edges, self.n_jobs)
        return laplacians.sum(axis=0), pulls.sum(axis=0)

    def _curvature_pass(self, XT: Array, alpha: float) -> Array:
        """Curvature times a step, an axis in each row."""
        out = np.zeros((len(self.edges) - 1, *XT.shape))

        def task(block: int, start: int, stop: int) -> None:
            dense.curvature(self.W, self.WT, XT, alpha, start, stop, out[block])

        map_blocks(task, self.edges, self.n_jobs)
        return np.asarray(out.sum(axis=0))

    def _degrees(self) -> Array:
        """Sum of ``(w_ij + w_ji)/2`` at each point."""
        ones = np.ones(self.n_points)
        return np.asarray(self.W.astype(float) @ ones / 2 + self.WT.astype(float) @ ones / 2)

    def _curvature_solver(self, alpha: float) -> Callable[[Array], Array]:
        """Solver of ``V step = force`` in a frame whose last axis is the drift.

        Where the drift is fitted, alpha is rounded up to a grid: a larger alpha gives a larger curvature, which
        still majorizes, and the factors are kept while the grid value stays.
        """
        if self.fixed_drift is None:
            alpha = float(np.ceil(alpha * 20) / 20)
        if self._solve is None or alpha != self._solve_alpha:
            self._solve_alpha = alpha
            try:
                self._solve = self._factorized(alpha) if self.factorize else None
            except LinAlgError:  # weights of many magnitudes are not positive definite to rounding
                self._solve = None
            if self._solve is None:
                self._solve = self._conjugate_gradients(alpha)
        return self._solve

    def _factorized(self, alpha: float) -> Callable[[Array], Array]:
        n = self.n_points
        require_memory(4 * 8.0 * n * n, f"Factors of the weights of {n} points", "Use fewer points.")
        p = (self.W.astype(float) + self.WT) / 2
        across = p + alpha * np.abs(self.W - self.WT, dtype=float)
        factor = _grounded_cholesky(across)
        if self.symmetric_weights:
            scale = np.array([1.0, 1 / (1 + alpha**2)])
            return lambda force: cho_solve(factor, force) * scale[_is_last(force)]
        factor_last = _grounded_cholesky(across + alpha**2 * p)

        def solve(force: Array) -> Array:
            step = np.empty_like(force)
            step[:, :-1] = cho_solve(factor, force[:, :-1])
            step[:, -1] = cho_solve(factor_last, force[:, -1])
            return step

        return solve

    def _conjugate_gradients(self, alpha: float) -> Callable[[Array], Array]:
        """Matrix-free solves. From a start at 0 every iteration lowers the majorizer, so that even a step which is
        not quite solved for lowers the stress.
        """
        diagonal = self._degrees()

        def apply(step: Array) -> Array:
            return self._curvature_pass(np.ascontiguousarray(step.T), alpha).T

        def solve(force: Array) -> Array:
            step = conjugate_gradients(apply, force, diagonal[:, None])
            return np.asarray(
                step - step.mean(axis=0)
            )  # a shift costs nothing, and the factorized step has none

        return solve


def _is_last(force: Array) -> NDArray[np.intp]:
    is_last = np.zeros(force.shape[1], dtype=np.intp)
    is_last[-1] = 1
    return is_last


def _grounded_cholesky(pair_weights: Array) -> Any:
    """Cholesky factor of a Laplacian whose null space, the constants, is lifted to the size of its diagonal."""
    L = -pair_weights
    np.fill_diagonal(L, 0)
    degree = -L.sum(axis=1)
    np.fill_diagonal(L, degree)
    L += degree.mean() / len(L)
    # One thread: on a busy machine the threads of BLAS wait for each other far longer than the work takes.
    with single_blas_thread():
        return cho_factor(L, overwrite_a=True, check_finite=False)


def conjugate_gradients(
    apply: Callable[[Array], Array], rhs: Array, diagonal: Array, *, tol: float = 1e-6, max_iter: int = 200
) -> Array:
    """Solve ``apply(x) = rhs``, column by column at once, with the preconditioner ``1/diagonal``.

    Examples
    --------
    >>> conjugate_gradients(lambda x: 4 * x, np.array([[8.0]]), np.array([[4.0]]))
    array([[2.]])
    """
    x = np.zeros_like(rhs)
    residual = rhs.copy()
    z = residual / diagonal
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
        residual -= length * image
        z = residual / diagonal
        rho_next = (residual * z).sum(axis=0)
        direction = z + np.where(rho > 0, rho_next / np.where(rho > 0, rho, 1), 0) * direction
        rho = rho_next
    return x
