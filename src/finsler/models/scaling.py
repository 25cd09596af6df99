"""Models that are one map: scaling of the symmetrized data, Isomap on it, and our own, with a drift."""

from __future__ import annotations

import time

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

    Examples
    --------
    >>> from finsler.data.matrix import as_dissimilarities
    >>> corner = Observations.of(as_dissimilarities([[0, 3, 5], [3, 0, 4], [5, 4, 0]]))
    >>> symmetric_mds(corner, Settings()).distances.round(4)
    array([[0., 3., 5.],
           [3., 0., 4.],
           [5., 4., 0.]])
    """
    n, m = observed.n_points, settings.n_components
    solution = smacof(observed.data, m, 0.0, **settings.of_solver())
    return Fit(
        "symmetrized MDS",
        differences(solution.coordinates)[1],
        {"coordinates": solution.coordinates},
        free_coordinates(n, m),
        solution.seconds,
        unless_interrupted(solution.status),
        symmetric=True,
    )


def symmetric_isomap(observed: Observations, settings: Settings, n_neighbors: int = 10) -> Fit:
    """Isomap on the symmetrized data: classical scaling of shortest paths through near neighbors.

    Each point is joined to its ``n_neighbors`` nearest ones in the mean of the two directions (the one that is known, if
    only one is); more of them, if that leaves the points in several pieces. Isomap (Tenenbaum, de Silva and Langford
    2000) fits inner products, not the stress, and is there because it is what users often reach for.
    """
    began = time.perf_counter()
    n, m = observed.n_points, settings.n_components
    S = _mean_of_both_ways(observed)
    order = np.argsort(S, axis=1, kind="stable")
    for k in range(min(n_neighbors, n - 1), n):
        joined = np.zeros((n, n), dtype=bool)
        np.put_along_axis(joined, order[:, : k + 1], True, axis=1)
        joined |= joined.T
        joined &= np.isfinite(S)
        np.fill_diagonal(joined, False)
        if not matrix_components(joined).any():
            break
    arcs = coo_array((S[joined], np.nonzero(joined)), shape=(n, n))  # a stored zero is an arc
    G = shortest_paths(arcs, n_jobs=settings.n_jobs, verbose=settings.verbose)
    X = DoublyCentered(G, settings.n_jobs).leading(m)
    seconds = time.perf_counter() - began
    return Fit(
        "symmetrized Isomap", differences(X)[1], {"coordinates": X}, free_coordinates(n, m), seconds,
        "closed_form", symmetric=True,
    )  # fmt: skip


def randers_map(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """``d_ij = ||x_j - x_i|| + alpha (x_j - x_i)[last]``, with alpha fitted.

    From the same starts as the other models: the map of the symmetric part, and random ones. (`FinslerMDS` starts from
    its closed form instead.)
    """
    n, m = observed.n_points, settings.n_components
    solution = smacof(observed.data, m, "auto", init=base.parameters["coordinates"], **settings.of_solver())
    return Fit(
        "Randers map (ours)",
        randers_distances(solution.coordinates, drift=solution.drift),
        {"coordinates": solution.coordinates, "drift": solution.drift},
        free_coordinates(n, m) + m,  # alpha, and turns that move the drift count
        base.seconds + solution.seconds,
        unless_interrupted(solution.status),
    )


def _mean_of_both_ways(observed: Observations) -> Array:
    """Weighted mean of the two directions; inf where neither is known, 0 on the diagonal."""
    W, D = observed.W, observed.D
    k = W + W.T
    S = np.divide(W * D + (W * D).T, k, out=np.full_like(D, np.inf), where=k > 0)
    np.fill_diagonal(S, 0.0)
    return S
