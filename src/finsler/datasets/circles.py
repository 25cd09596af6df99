"""Data whose asymmetry runs in circles, made from formulas: a sea with a gyre, and a ring road."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.utils import Bunch

from finsler._arguments import as_random_state, check_arguments
from finsler.errors import InputError, check_count
from finsler.graphs.neighbors import geodesic_distances
from finsler.graphs.paths import shortest_paths

HELPERS = 10  # further points of the sea for each one, over which paths may lead
NEIGHBORS = 14
SPOKE_PIECES = 4
SPOKE_LENGTH = 1.3  # of a spoke, in radii of the ring


def make_gyre(n_samples: int = 150, *, speed: float = 0.5, random_state: Any = 0) -> Bunch:
    """Travel times of a boat between places of a round sea whose water turns like a wheel, counterclockwise.

    Parameters
    ----------
    n_samples : int, default=150
        Number of places, uniform in the unit disc; paths lead over ten times as many further ones.
    speed : float in [0, 1), default=0.5
        Speed of the water at the rim, in units of the boat's.
    random_state : int, RandomState instance or None, default=0
        An int gives the same places each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        times : ndarray of shape (n_samples, n_samples)
            From row to column: with the water it is faster than against it.
        points, current : ndarray of shape (n_samples, 2)
            The places, and the current there.
        DESCR : str
            What the data are.

    Examples
    --------
    >>> from finsler.datasets import make_gyre
    >>> sea = make_gyre(20)
    >>> sea.times.shape, bool(sea.times.min() >= 0)
    ((20, 20), True)
    """
    check_arguments(make_gyre, locals())
    n = check_count("n_samples", n_samples, 2)
    if not 0 <= speed < 1:
        raise InputError(
            f"must be in [0, 1), or boats could not go against the water; got {speed!r}.", argument="speed"
        )
    u = as_random_state(random_state).uniform(size=(n * (1 + HELPERS), 2))
    radius, angle = np.sqrt(u[:, 0]), 2 * np.pi * u[:, 1]
    points = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    current = speed * np.column_stack([-points[:, 1], points[:, 0]])
    times = geodesic_distances(points, current=current, n_neighbors=NEIGHBORS, verbose=False).matrix[:n, :n]
    about = f"Travel times between {n} places of a round sea that turns, {speed:g} of the boat's speed at the rim.\n"
    return Bunch(times=np.ascontiguousarray(times), points=points[:n], current=current[:n], DESCR=about)


def make_ring_road(n_sections: int = 72, *, n_spokes: int = 12, against: float = 2.5) -> Bunch:
    """Shortest ways in a town with a ring road that is quick one way round, and spokes to the middle.

    Parameters
    ----------
    n_sections : int, default=72
        Sections of the ring, each of which costs 1 counterclockwise.
    n_spokes : int, default=12
        Two-way streets from the ring to the middle, in four pieces; together they cost 1.3 radii.
    against : float, default=2.5
        What a section costs clockwise.

    Returns
    -------
    data : sklearn.utils.Bunch
        costs : ndarray of shape (n, n)
            Of the shortest way, from row to column.
        graph : scipy.sparse.csr_array of shape (n, n)
            Costs of the sections, row = from.
        points : ndarray of shape (n, 2)
            Where the crossings are: the ring, the spokes, the middle.
        DESCR : str
            What the data are.

    Examples
    --------
    >>> from finsler.datasets import make_ring_road
    >>> town = make_ring_road()
    >>> town.costs.shape, float(town.costs[0, 6]), float(town.costs[6, 0])
    ((109, 109), 6.0, 15.0)
    """
    check_arguments(make_ring_road, locals())
    n, spokes = check_count("n_sections", n_sections, 3), check_count("n_spokes", n_spokes, 1)
    if n % spokes:
        raise InputError(f"must divide n_sections = {n}, got {spokes}.", argument="n_spokes")
    if not 0 < against < np.inf:
        raise InputError(f"must be a positive number, got {against!r}.", argument="against")
    radius = n / (2 * np.pi)
    angle = 2 * np.pi * np.arange(n) / n
    ring = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    feet = np.arange(0, n, n // spokes)
    inner = [ring[foot] * (1 - k / SPOKE_PIECES) for foot in feet for k in range(1, SPOKE_PIECES)]
    points = np.vstack([ring, *inner, np.zeros((1, 2))])
    arcs = [(i, (i + 1) % n, 1.0) for i in range(n)] + [((i + 1) % n, i, float(against)) for i in range(n)]
    piece, middle = SPOKE_LENGTH * radius / SPOKE_PIECES, len(points) - 1
    for s, foot in enumerate(feet):
        own = n + (SPOKE_PIECES - 1) * s + np.arange(SPOKE_PIECES - 1)
        way = [int(foot), *own.tolist(), middle]
        for a, b in pairwise(way):
            arcs += [(a, b, piece), (b, a, piece)]
    tails, heads, costs = zip(*arcs, strict=True)
    graph = csr_array(coo_array((np.array(costs), (tails, heads)), shape=(len(points),) * 2))
    about = f"Town with a ring of {n} sections that cost 1 one way round and {against:g} the other, and {spokes} spokes.\n"
    return Bunch(costs=shortest_paths(graph, verbose=False), graph=graph, points=points, DESCR=about)
