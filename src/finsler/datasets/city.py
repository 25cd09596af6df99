"""A city of any size: a grid of streets, some of them one-way, some blocks closed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array
from sklearn.utils import Bunch, check_random_state

from finsler.errors import InputError, check_count
from finsler.geometry.components import graph_components, largest_component


def make_city(
    n: int = 10_000,
    *,
    one_way: float = 0.2,
    closed: float = 0.02,
    closed_uphill: float = 0.2,
    slope: float = 0.0,
    random_state: Any = 0,
) -> Bunch:
    """Square grid of streets with one-way streets and random closures; its strongly connected part.

    Every row and every column of the grid is a street. More blocks are closed in the direction that leads uphill, so
    that climbing takes longer than coming down, even counted in blocks.

    Parameters
    ----------
    n : int, default=10000
        Crossings, about: the nearest square, less those that closures cut off. A million take about a second.
    one_way : float in [0, 1], default=0.2
        Share of streets that are one-way, half of them in either direction.
    closed : float in [0, 1), default=0.02
        Share of arcs, a block of a street in one direction, that are closed.
    closed_uphill : float in [0, 1), default=0.2
        The same for the arcs that lead uphill.
    slope : float in [0, 1), default=0
        Arcs uphill are ``1 + slope`` long and arcs downhill ``1 - slope``; the others are 1 long.
    random_state : int, RandomState instance or None, default=0
        An int gives the same city each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        graph : scipy.sparse.csr_array of shape (n, n)
            Lengths of the arcs, row = from; all 1 if ``slope`` is 0. Each crossing can be reached from each other one.
        points : ndarray of shape (n, 2)
            Where the crossings are; the second coordinate points uphill.
        DESCR : str
            What the data are.

    Examples
    --------
    >>> from finsler.datasets import make_city
    >>> city = make_city(400)
    >>> city.graph.shape[0] == len(city.points), bool(len(city.points) > 380)
    (True, True)
    """
    check_count("n", n, least=4)
    shares = {"one_way": one_way, "closed": closed, "closed_uphill": closed_uphill, "slope": slope}
    for name, value in shares.items():
        if not 0 <= value <= 1 or (name != "one_way" and value == 1):
            raise InputError(f"{name} must be a number from 0 to less than 1; got {value!r}.")
    rng = check_random_state(random_state)
    side = max(2, round(float(n) ** 0.5))
    node = np.arange(side * side, dtype=np.int32).reshape(side, side)  # [column, row]: row counts uphill
    tails, heads, lengths = [], [], []
    # Streets along the slope (one a column), then across it (one a row); each forwards and backwards.
    for first, second, climb in ((node[:, :-1], node[:, 1:], slope), (node[:-1].T, node[1:].T, None)):
        single = rng.uniform(size=side) < one_way
        onward = rng.uniform(size=side) < 0.5
        for tail, head, leads, sign in ((first, second, onward, 1), (second, first, ~onward, -1)):
            shut = closed_uphill if climb is not None and sign > 0 else closed
            there = (~single | leads)[:, None] & (rng.uniform(size=tail.shape) >= shut)
            tails.append(tail[there])
            heads.append(head[there])
            lengths.append(np.full(len(tails[-1]), 1 + sign * (climb or 0.0)))
    arcs = np.concatenate(lengths), (np.concatenate(tails), np.concatenate(heads))
    graph = csr_array(coo_array(arcs, shape=(side * side,) * 2))
    kept = largest_component(graph_components(graph, "strong"))
    graph = csr_array(graph[kept][:, kept])
    graph.sort_indices()
    points = np.column_stack(np.divmod(kept, side)).astype(float)
    return Bunch(
        graph=graph,
        points=points,
        DESCR=f"City of {len(kept)} crossings and {graph.nnz} arcs on a {side} x {side} grid; {one_way:.0%} of the "
        f"streets are one-way, {closed:.0%} of the blocks closed, uphill {closed_uphill:.0%}.\n",
    )
