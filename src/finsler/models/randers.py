"""Our own model, fitted like the others."""

from __future__ import annotations

from finsler.geometry.randers import randers_distances
from finsler.models.fits import Fit, Observations, Settings, free_coordinates, unless_interrupted
from finsler.solvers.smacof import smacof


def randers_map(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """``d_ij = ||x_j - x_i|| + alpha (x_j - x_i)[last]``, with alpha fitted.

    From the same starts as the other models: the map of the symmetric part, and random ones. (`FinslerMDS` starts from
    its closed form instead.)
    """
    n, m = observed.n_points, settings.n_components
    solution = smacof(
        observed.data, m, "auto", init=base.parameters["coordinates"], n_init=settings.n_init,
        max_iter=settings.max_iter, tol=settings.tol, random_state=settings.random_state, n_jobs=settings.n_jobs,
        verbose=settings.verbose,
    )  # fmt: skip
    return Fit(
        "Randers map (ours)",
        randers_distances(solution.coordinates, drift=solution.drift),
        {"coordinates": solution.coordinates, "drift": solution.drift},
        free_coordinates(n, m) + m,  # alpha, and turns that move the drift count
        base.seconds + solution.seconds,
        unless_interrupted(solution.status),
    )
