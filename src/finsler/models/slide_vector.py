"""The slide-vector model (Zielman and Heiser 1993), fitted by majorization.

    d_ij = ||x_i - x_j + z||

Everything slides by the same vector z on the way: distances are measured from the slid points to the points, which is
unfolding whose second set of points is the first one, shifted. The distance is larger the way in which the
difference ``x_i - x_j`` agrees with z: from points that lie along z to those that lie against it.

All ``u_ij = x_i - x_j + z`` are linear in the parameters, the rows of theta = (X, z). By Cauchy-Schwarz
``||u|| >= u . v / ||v||``, so the stress lies below a quadratic with the constant curvature
``V = sum w_ij a_ij a_ij'``, ``a_ij = (e_i - e_j, 1)``, which touches it at the current parameters; as everywhere in this
library the step is ``V^+ force`` with the force minus half the gradient, and the loop is ours, never uphill.
"""

from __future__ import annotations

import time

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from finsler._runtime import Progress, single_blas_thread
from finsler.models.common import Array, Fit, Observations, Settings, free_coordinates, unless_interrupted
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.problem import Evaluation, Problem


def slide_distances(X: Array, z: Array) -> Array:
    """``||x_i - x_j + z||``, from row to column.

    Examples
    --------
    >>> slide_distances(np.array([[0.0], [3.0]]), np.array([1.0]))
    array([[1., 2.],
           [4., 1.]])
    """
    return np.sqrt(np.sum(_slid(X, z) ** 2, axis=0))


def _slid(X: Array, z: Array) -> Array:
    return X.T[:, :, None] - X.T[:, None, :] + z[:, None, None]


class SlideVectorProblem(Problem):
    """The stress of the slide-vector model; the last row of the coordinates is z.

    ``W`` may weigh the diagonal, too, where the model says ``||z||``: R's ``asymmetry::slidevector`` does.
    """

    def __init__(self, D: Array, W: Array):
        self.D, self.W = D, W
        self.n_points = n = len(D)
        self.fixed_drift = np.zeros(0)  # there is no drift
        rows, columns = W.sum(axis=1), W.sum(axis=0)
        V = np.zeros((n + 1, n + 1))
        V[:n, :n] = np.diag(rows + columns) - W - W.T
        V[:n, n] = V[n, :n] = rows - columns
        V[n, n] = W.sum()
        V[:n, :n] += V[:n, :n].trace() / n**2  # a common shift of the points costs nothing; keep it at 0
        # With only one direction known z may hide in the map; a touch of ridge, which still majorizes.
        V[np.diag_indices(n + 1)] += 1e-12 * V.trace() / n
        self._factor = cho_factor(V)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """Stress and step at ``X``, whose last row is z."""
        n = self.n_points
        U = _slid(X[:n], X[n])
        d = np.sqrt(np.sum(U**2, axis=0))
        misfit = d - self.D
        pull = U * (-self.W * misfit / np.where(d > 0, d, 1.0))
        by_rows, by_columns = pull.sum(axis=2).T, pull.sum(axis=1).T
        force = np.vstack([by_rows - by_columns, by_rows.sum(axis=0)])
        step = cho_solve(self._factor, force)
        return Evaluation(float(np.sum(self.W * misfit**2)), step, float(np.vdot(step, force)), omega)


def minimize_slide(
    problem: SlideVectorProblem, start: Array, settings: Settings
) -> tuple[Array, Array, float, str]:
    """Run the loop from a map with z = 0; return map, z, stress and status."""
    n, m = start.shape
    theta = np.vstack([start - start.mean(axis=0), np.zeros((1, m))])
    total = float(np.sum(problem.W * problem.D**2))
    with single_blas_thread():
        stop = StopRule(settings.max_iter, settings.tol, exact=total * (4 * np.finfo(float).eps) ** 2)
        progress = Progress("Fitting slide vector", settings.verbose)
        run = majorize(problem, theta, np.zeros(0), stop, progress=progress)
    return run.coordinates[:n], run.coordinates[n], run.stress, unless_interrupted(run.status)


def slide_vector(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """Fit the slide-vector model from the map of the symmetric part and from random ones, and keep the best.

    Examples
    --------
    >>> from finsler.models.scaling import symmetric_mds
    >>> from finsler.data.matrix import as_dissimilarities
    >>> X = np.random.default_rng(0).normal(size=(9, 2))
    >>> D = slide_distances(X, np.array([0.3, 0.1]))
    >>> np.fill_diagonal(D, 0)
    >>> observed = Observations.of(as_dissimilarities(D))
    >>> settings = Settings(tol=1e-12)
    >>> fit = slide_vector(observed, settings, symmetric_mds(observed, settings))
    >>> observed.normalized_stress(fit.distances) < 1e-4
    True
    """
    began = time.perf_counter()
    n, m = observed.n_points, settings.n_components
    problem = SlideVectorProblem(observed.D, observed.W)
    runs = [
        minimize_slide(problem, start, settings)
        for start in [base.parameters["coordinates"], *observed.random_maps(settings)]
    ]
    X, z, _, status = min(runs, key=lambda run: run[2])
    distances = slide_distances(X, z)
    np.fill_diagonal(distances, 0.0)
    return Fit(
        "slide vector",
        distances,
        {"coordinates": X, "slide": z},
        free_coordinates(n, m) + m,
        base.seconds + time.perf_counter() - began,
        status,
    )
