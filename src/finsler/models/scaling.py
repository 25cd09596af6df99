"""Models that are one map: scaling of the symmetrized data, Isomap on it, and our own, with a drift."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from finsler.geometry.components import matrix_components
from finsler.geometry.randers import randers_distances
from finsler.graphs.paths import shortest_paths
from finsler.models.common import (
    Array,
    Fit,
    Observations,
    Settings,
    differences,
    free_coordinates,
    unless_interrupted,
)
from finsler.solvers.smacof import smacof
from finsler.solvers.start import DoublyCentered


def symmetric_mds(observed: Observations, settings: Settings) -> Fit:
    """Ordinary metric scaling: ``d_ij = ||x_j - x_i||``.

    With equal weights both ways this is scaling of ``(D_ij + D_ji) / 2``. Fitted by majorization (de Leeuw 1977), with our
    solver at alpha = 0.
    """
    solution = smacof(observed.data, alpha=0.0, **settings.of_solver())
    return _symmetric("symmetrized MDS", solution.coordinates, unless_interrupted(solution.status))


def symmetric_isomap(observed: Observations, settings: Settings, n_neighbors: int = 10) -> Fit:
    """Isomap on the symmetrized data: classical scaling of shortest paths through near neighbors.

    Each point is joined to its ``n_neighbors`` nearest ones in the mean of the two directions (the one that is known, if
    only one is); more of them, if that leaves the points in several pieces. Isomap (Tenenbaum, de Silva and Langford
    2000) fits inner products, not the stress, and is there because it is what users often reach for.
    """
    n = observed.n_points
    # Weighted mean of the two directions; inf where neither is known, 0 on the diagonal.
    pull, k = observed.W * observed.D, observed.W + observed.W.T
    S = np.divide(pull + pull.T, k, out=np.full((n, n), np.inf), where=k > 0)
    np.fill_diagonal(S, 0.0)
    order = np.argsort(S, axis=1, kind="stable")
    for many in range(min(n_neighbors, n - 1), n):
        joined = np.zeros((n, n), dtype=bool)
        np.put_along_axis(joined, order[:, : many + 1], True, axis=1)
        joined |= joined.T
        joined &= np.isfinite(S)
        np.fill_diagonal(joined, False)
        if not matrix_components(joined).any():
            break
    arcs = coo_array((S[joined], np.nonzero(joined)), shape=(n, n))  # a stored zero is an arc
    G = shortest_paths(arcs, n_jobs=settings.n_jobs, verbose=False)
    X = DoublyCentered(G, settings.n_jobs).leading(settings.n_components)
    return _symmetric("symmetrized Isomap", X, "closed_form")


def _symmetric(name: str, X: Array, status: str) -> Fit:
    return Fit(
        name, differences(X)[1], {"coordinates": X}, free_coordinates(*X.shape), status, symmetric=True
    )


def randers_map(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """``d_ij = ||x_j - x_i|| + alpha (x_j - x_i)[last]``, with alpha fitted.

    From the same starts as the other models: the map of the symmetric part, and random ones. (`FinslerMDS` starts from
    its closed form instead.)
    """
    start = base.parameters["coordinates"]
    solution = smacof(observed.data, alpha="auto", init=start, **settings.of_solver())
    X, drift = solution.coordinates, solution.drift
    n_parameters = free_coordinates(*X.shape) + X.shape[1]  # alpha, and turns that move the drift count
    parts = {"coordinates": X, "drift": drift}
    status = unless_interrupted(solution.status)
    return Fit("Randers map (ours)", randers_distances(X, drift=drift), parts, n_parameters, status)
