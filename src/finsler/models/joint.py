"""Models whose map and asymmetry are fitted together: slide vector, radius-distance and hill-climbing.

The slide-vector model (Zielman and Heiser 1993) is fitted by majorization::

    d_ij = ||x_i - x_j + z||

Everything slides by the same vector z on the way: distances are measured from the slid points to the points, which is
unfolding whose second set of points is the first one, shifted. The distance is larger the way in which the
difference ``x_i - x_j`` agrees with z: from points that lie along z to those that lie against it.

All ``u_ij = x_i - x_j + z`` are linear in the parameters, the rows of theta = (X, z). By Cauchy-Schwarz
``||u|| >= u . v / ||v||``, so the stress lies below a quadratic with the constant curvature
``V = sum w_ij a_ij a_ij'``, ``a_ij = (e_i - e_j, 1)``, which touches it at the current parameters; as everywhere in this
library the step is ``V^+ force`` with the force minus half the gradient, and the loop is ours, never uphill.

The two others are fitted by quasi-Newton steps; radius-distance in closed form where pairs weigh the same both ways.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Protocol, TypeVar

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import OptimizeResult, minimize

from finsler._runtime import map_blocks, single_blas_thread
from finsler.geometry.heights import solve_laplacian
from finsler.kernels import models as kernels
from finsler.models.symmetric import (
    Array,
    Fit,
    Observations,
    Settings,
    differences,
    directions,
    free_coordinates,
    unless_interrupted,
)
from finsler.solvers.majorize import StopRule, majorize
from finsler.solvers.problem import Evaluation, Problem

T = TypeVar("T")

# L-BFGS stops when an iteration lowers the normalized stress, squared, by less than this.
FLAT = 1e-13


def slide_distances(X: Array, z: Array) -> Array:
    """``||x_i - x_j + z||``, from row to column."""
    U = X.T[:, :, None] - X.T[:, None, :] + z[:, None, None]
    return np.sqrt(np.einsum("kij,kij->ij", U, U))


def axes(X: Array) -> Array:
    """The coordinates axis by axis, as kernels take them."""
    return np.ascontiguousarray(X.T)


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
        columns = np.zeros((X.shape[1], self.n_points + 1))
        stress = kernels.slide_pass(axes(X[:-1]), X[-1], self.D, self.W, columns)
        force = columns.T
        step = cho_solve(self._factor, force)
        return Evaluation(stress, step, float(np.vdot(step, force)), omega)


def minimize_slide(
    problem: SlideVectorProblem, start: Array, settings: Settings, ended: Callable[[], bool] = lambda: False
) -> tuple[Array, Array, float, str]:
    """Run the loop from a map with z = 0, or until it is ``ended``; return map, z, stress and status."""
    theta = np.vstack([start - start.mean(axis=0), np.zeros((1, start.shape[1]))])
    total = float(np.sum(problem.W * problem.D**2))
    exact = total * (4 * np.finfo(float).eps) ** 2
    stop = StopRule(settings.max_iter, settings.tol, exact, settings.deadline)
    run = majorize(problem, theta, np.zeros(0), stop, callback=lambda _: ended())
    return run.coordinates[:-1], run.coordinates[-1], run.stress, unless_interrupted(run.status)


def slide_vector(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """Fit the slide-vector model from the map of the symmetric part and from random ones, and keep the best."""
    problem = SlideVectorProblem(observed.D, observed.W)
    runs = from_all_starts(
        lambda start, ended: minimize_slide(problem, start, settings, ended), observed, settings, base
    )
    X, z, _, status = min(runs, key=lambda run: run[2])
    distances = slide_distances(X, z)
    np.fill_diagonal(distances, 0.0)
    n_parameters = free_coordinates(*X.shape) + len(z)
    return Fit(distances, {"coordinates": X, "slide": z}, n_parameters, status)


def from_all_starts(
    run: Callable[[Array, Callable[[], bool]], T], observed: Observations, settings: Settings, base: Fit
) -> list[T]:
    """Run a fit from the map of the symmetric part and from random ones, side by side: each takes one thread.

    ``run`` takes a start, and a function that says whether Ctrl-C has ended them all: the main thread alone hears it.
    """
    starts = [base.parameters["coordinates"], *observed.random_maps(settings)]
    ended = Event()

    def run_from(_: int, k: int, __: int) -> T:
        with _telling(ended):
            return run(starts[k], ended.is_set)

    # Also out here: it may come while the main thread, whose starts are done, waits for the others.
    with single_blas_thread(), _telling(ended):
        return map_blocks(run_from, range(len(starts) + 1), settings.n_jobs)


@contextmanager
def _telling(ended: Event) -> Iterator[None]:
    """Tell other threads of Ctrl-C."""
    try:
        yield
    except KeyboardInterrupt:
        ended.set()
        raise


class JointModel(Protocol):
    """A model ``d_ij`` of a map and a few numbers more, with its derivatives."""

    extra: str  #: What the other numbers are.
    only_differences: bool  #: Whether adding the same to all of them changes nothing.

    def distances(self, U: Array, E: Array, extra: Array) -> Array:
        """What the model takes for the dissimilarity from row to column, from the steps and their lengths."""

    #: A kernel: stress from the axes of the map, the other numbers, D and W; adds its derivatives to two arrays.
    evaluate: Callable[[Array, Array, Array, Array, Array, Array], float]

    def start(self, X: Array, observed: Observations) -> Array:
        """Other numbers that suit a map best, by least squares."""


class RadiusDistance(JointModel):
    """``d_ij = ||x_j - x_i|| - r_i + r_j``: the radius-distance model (Okada and Imaizumi 1987).

    A point with a large radius is costly to reach and cheap to leave. Only differences of radii count, so the smallest is
    set to 0, as in the paper. (There the fit is nonmetric; here it is metric, as for all others.)

    With equal weights both ways the map is that of the symmetric part, and the radii are the heights of HodgeRank,
    `finsler.geometry.heights`. A Randers map is the case in which the radii are a coordinate times alpha, so this model
    never fits worse; it pays with n - 1 numbers for what the Randers map has one.
    """

    extra, only_differences = "radii", True
    evaluate = staticmethod(kernels.radius_pass)

    def distances(self, U: Array, E: Array, extra: Array) -> Array:
        """``e_ij - r_i + r_j``."""
        return E + extra[None, :] - extra[:, None]

    def start(self, X: Array, observed: Observations) -> Array:
        """Solve for the radii: a Laplacian."""
        t, k = observed.skew_targets(differences(X)[1])
        return solve_laplacian(k, (k * t).sum(axis=0))


class HillClimbing(JointModel):
    """``d_ij = ||x_j - x_i|| + z . (x_j - x_i) / ||x_j - x_i||``: hill-climbing (Borg and Groenen 2005, chapter 23).

    The plane of the map is a hillside with the slope z: a way costs more the more steeply it climbs, by the cosine of
    its angle with z, however long it is. (The book writes the model for its own orientation, with ``x_i - x_j``; we keep
    the one of all our maps, in which going along z is costly.)

    Compare the Randers map, where the surcharge ``omega . (x_j - x_i)`` grows with the length of the way.
    """

    extra, only_differences = "slope", False
    evaluate = staticmethod(kernels.hill_pass)

    def distances(self, U: Array, E: Array, extra: Array) -> Array:
        """``e + z . u / e``."""
        return E + np.einsum("k,kij->ij", extra, U) / np.where(E > 0, E, 1.0)

    def start(self, X: Array, observed: Observations) -> Array:
        """Solve for the slope."""
        B, E = directions(X)
        t, k = observed.skew_targets(E)
        gram = np.einsum("aij,ij,bij->ab", B, k, B, optimize=True)
        return np.asarray(np.linalg.lstsq(gram, np.einsum("aij,ij->a", B, k * t), rcond=None)[0])


def stress_and_gradient(
    model: JointModel, observed: Observations, X: Array, extra: Array
) -> tuple[float, Array, Array]:
    """Stress of a model, and its derivatives by the coordinates and by the other numbers."""
    by_axes, by_extra = np.zeros(X.T.shape), np.zeros(len(extra))
    stress = model.evaluate(axes(X), extra, observed.D, observed.W, by_axes, by_extra)
    return stress, by_axes.T, by_extra


def radius_distance(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """Fit the radius-distance model: in closed form beside the symmetric map if pairs weigh the same both ways."""
    model = RadiusDistance()
    if not np.array_equal(observed.W, observed.W.T):
        return fit_jointly(model, observed, settings, base)
    X = base.parameters["coordinates"]
    return _fit_of(model, X, model.start(X, observed), base.status)


def fit_jointly(model: JointModel, observed: Observations, settings: Settings, base: Fit) -> Fit:
    """Fit a model from the map of the symmetric part and from random ones, and keep the best.

    The stress is a smooth function but where points coincide; L-BFGS only ever takes steps that lower it.
    """
    n, m = base.parameters["coordinates"].shape
    total = float(np.sum(observed.W * observed.D**2)) or 1.0
    # In units of the data, so that tolerances are relative.
    unit = np.sqrt(total / max(float(observed.W.sum()), np.finfo(float).tiny))

    def split(theta: Array) -> tuple[Array, Array]:
        return theta[: n * m].reshape(n, m) * unit, theta[n * m :] * unit

    def loss(theta: Array) -> tuple[float, Array]:
        value, by_points, by_extra = stress_and_gradient(model, observed, *split(theta))
        return value / total, np.concatenate([by_points.ravel(), by_extra]) * (unit / total)

    def run(start: Array, ended: Callable[[], bool]) -> OptimizeResult:
        def in_time(_: Array) -> None:
            if settings.seconds_left() <= 0 or ended():
                raise StopIteration

        theta = np.concatenate([start.ravel(), model.start(start, observed)]) / unit
        return minimize(loss, theta, jac=True, method="L-BFGS-B", callback=in_time, options=limits)

    limits = {"maxiter": settings.max_iter, "maxfun": 4 * settings.max_iter + 100, "ftol": FLAT, "gtol": 1e-9}
    best = min(from_all_starts(run, observed, settings, base), key=lambda run: run.fun)
    status = "max_iter" if best.status == 1 else "converged"
    return _fit_of(model, *split(best.x), "time_limit" if settings.seconds_left() <= 0 else status)


def _fit_of(model: JointModel, X: Array, extra: Array, status: str) -> Fit:
    X = X - X.mean(axis=0)
    n_parameters = free_coordinates(*X.shape) + len(extra) - model.only_differences
    parts = {"coordinates": X, model.extra: extra - extra.min() if model.only_differences else extra}
    return Fit(model.distances(*differences(X), extra), parts, n_parameters, status)
