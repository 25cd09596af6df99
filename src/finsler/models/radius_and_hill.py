"""Models whose map and asymmetry are fitted together by quasi-Newton steps: radius-distance and hill-climbing."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import minimize

from finsler._runtime import Progress, single_blas_thread
from finsler.geometry.heights import solve_laplacian
from finsler.models.common import (
    Array,
    Fit,
    Observations,
    Settings,
    differences,
    directions,
    free_coordinates,
)

# L-BFGS stops when an iteration lowers the normalized stress, squared, by less than this.
FLAT = 1e-13


class JointModel(ABC):
    """A model ``d_ij`` of a map and a few numbers more, with its derivatives."""

    name: str

    @abstractmethod
    def n_free(self, n: int, m: int) -> int:
        """How many numbers are free in all."""

    @abstractmethod
    def distances(self, U: Array, E: Array, extra: Array) -> Array:
        """What the model takes for the dissimilarity from row to column, from the steps and their lengths."""

    @abstractmethod
    def derivatives(self, U: Array, E: Array, extra: Array, G: Array) -> tuple[Array, Array]:
        """Derivatives of ``sum G_ij d_ij`` by the steps, (m, n, n), and by the other numbers."""

    @abstractmethod
    def start(self, X: Array, observed: Observations) -> Array:
        """Other numbers that suit a map best."""

    @abstractmethod
    def parameters(self, X: Array, extra: Array) -> dict[str, Array]:
        """Name the parts."""


class RadiusDistance(JointModel):
    """``d_ij = ||x_j - x_i|| - r_i + r_j``: the radius-distance model (Okada and Imaizumi 1987).

    A point with a large radius is costly to reach and cheap to leave. Only differences of radii count, so the smallest is
    set to 0, as in the paper. (There the fit is nonmetric; here it is metric, as for all others.)

    With equal weights both ways the map is that of the symmetric part, and the radii are the heights of HodgeRank,
    `finsler.geometry.heights`. A Randers map is the case in which the radii are a coordinate times alpha, so this model
    never fits worse; it pays with n - 1 numbers for what the Randers map has one.
    """

    name = "radius-distance"

    def n_free(self, n: int, m: int) -> int:
        """Of the radii one is free of meaning."""
        return free_coordinates(n, m) + n - 1

    def distances(self, U: Array, E: Array, extra: Array) -> Array:
        """``e_ij - r_i + r_j``."""
        return E + extra[None, :] - extra[:, None]

    def derivatives(self, U: Array, E: Array, extra: Array, G: Array) -> tuple[Array, Array]:
        """Derivatives of ``sum G_ij d_ij``."""
        return U * (G / np.where(E > 0, E, 1.0)), G.sum(axis=0) - G.sum(axis=1)

    def start(self, X: Array, observed: Observations) -> Array:
        """Solve for the radii by least squares: a Laplacian."""
        t, k = observed.skew_targets(differences(X)[1])
        return solve_laplacian(k, (k * t).sum(axis=0))

    def parameters(self, X: Array, extra: Array) -> dict[str, Array]:
        """Coordinates and radii."""
        return {"coordinates": X, "radii": extra - extra.min()}


class HillClimbing(JointModel):
    """``d_ij = ||x_j - x_i|| + z . (x_j - x_i) / ||x_j - x_i||``: hill-climbing (Borg and Groenen 2005, chapter 23).

    The plane of the map is a hillside with the slope z: a way costs more the more steeply it climbs, by the cosine of
    its angle with z, however long it is. (The book writes the model for its own orientation, with ``x_i - x_j``; we keep
    the one of all our maps, in which going along z is costly.)

    Compare the Randers map, where the surcharge ``omega . (x_j - x_i)`` grows with the length of the way.
    """

    name = "hill-climbing"

    def n_free(self, n: int, m: int) -> int:
        """The map with its slope, up to shifts and common turns."""
        return free_coordinates(n, m) + m

    def distances(self, U: Array, E: Array, extra: Array) -> Array:
        """``e + z . u / e``."""
        return E + np.einsum("k,kij->ij", extra, U) / np.where(E > 0, E, 1.0)

    def derivatives(self, U: Array, E: Array, extra: Array, G: Array) -> tuple[Array, Array]:
        """Derivatives of ``sum G_ij d_ij``; the climb z . b turns with b = u / e as ``(z - (z . b) b) / e``."""
        over = np.where(E > 0, 1 / np.where(E > 0, E, 1.0), 0.0)
        B = U * over
        climb = np.einsum("k,kij->ij", extra, B)
        by_step = B * (G * (1 - climb * over)) + extra[:, None, None] * (G * over)
        return by_step, np.einsum("kij,ij->k", B, G)

    def start(self, X: Array, observed: Observations) -> Array:
        """Solve for the slope by least squares."""
        B, E = directions(X)
        t, k = observed.skew_targets(E)
        gram = np.einsum("aij,ij,bij->ab", B, k, B, optimize=True)
        return np.asarray(np.linalg.lstsq(gram, np.einsum("aij,ij->a", B, k * t), rcond=None)[0])

    def parameters(self, X: Array, extra: Array) -> dict[str, Array]:
        """Coordinates and slope."""
        return {"coordinates": X, "slope": extra}


def stress_and_gradient(
    model: JointModel, observed: Observations, X: Array, extra: Array
) -> tuple[float, Array, Array]:
    """Stress of a model, and its derivatives by the coordinates and by the other numbers."""
    U, E = differences(X)
    misfit = model.distances(U, E, extra) - observed.D
    weighted = observed.W * misfit
    by_step, by_extra = model.derivatives(U, E, extra, 2 * weighted)
    by_points = (by_step.sum(axis=1) - by_step.sum(axis=2)).T  # a step is x_j - x_i
    return float(np.sum(weighted * misfit)), by_points, by_extra


def fit_jointly(model: JointModel, observed: Observations, settings: Settings, base: Fit) -> Fit:
    """Fit a model from the map of the symmetric part and from random ones, and keep the best.

    The stress is a smooth function but where points coincide; L-BFGS only ever takes steps that lower it.
    """
    began = time.perf_counter()
    X = base.parameters["coordinates"]
    n, m = X.shape
    total = float(np.sum(observed.W * observed.D**2)) or 1.0
    # In units of the data, so that tolerances are relative.
    unit = np.sqrt(total / max(float(observed.W.sum()), np.finfo(float).tiny))
    progress = Progress(f"Fitting {model.name}", settings.verbose)

    def split(theta: Array) -> tuple[Array, Array]:
        return theta[: n * m].reshape(n, m) * unit, theta[n * m :] * unit

    def loss(theta: Array) -> tuple[float, Array]:
        value, by_points, by_extra = stress_and_gradient(model, observed, *split(theta))
        progress.update(f"stress {value:.6g}")
        return value / total, np.concatenate([by_points.ravel(), by_extra]) * (unit / total)

    best, status = None, ""
    with single_blas_thread():
        for start in [X, *observed.random_maps(settings)]:
            theta = np.concatenate([start.ravel(), model.start(start, observed)]) / unit
            found = minimize(
                loss, theta, jac=True, method="L-BFGS-B",
                options={"maxiter": settings.max_iter, "maxfun": 4 * settings.max_iter + 100, "ftol": FLAT, "gtol": 1e-9},
            )  # fmt: skip
            if best is None or found.fun < best.fun:
                best, status = found, "max_iter" if found.status == 1 else "converged"
    assert best is not None
    points, extra = split(best.x)
    points = points - points.mean(axis=0)
    progress.close(status)
    return Fit(
        model.name, model.distances(*differences(points), extra), model.parameters(points, extra), model.n_free(n, m),
        base.seconds + time.perf_counter() - began, status,
    )  # fmt: skip
