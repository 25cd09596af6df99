"""Data made from formulas: the paper's Swiss roll, sea, river and binary tree; a city; exact Randers data.

Random numbers come from ``numpy.random.RandomState`` (scikit-learn's ``check_random_state``), one uniform
pair per point, so that an integer ``random_state`` gives the very points of the paper's published code with
that seed: 1 for its whole roll, 3 for its roll with a hole, 0 for its sea and river (2000 points).

Two kinds of arrows occur. A *drift* w makes going along it costly, ``F(u) = ||u|| + w.u``; a *current* v
makes it cheap, ``F(u) = ||u|| - v.u``. The roll has a drift, the sea and the river have a current.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.utils import Bunch

from finsler._arguments import as_random_state, check_arguments, check_number
from finsler._memory import require_memory
from finsler.errors import InputError, check_count
from finsler.geometry.components import graph_components, largest_component

ROLL_START, ROLL_END = 1.5 * np.pi, 4.5 * np.pi  # the angle t, which is also the radius
ROLL_HEIGHT = 20.0
HOLE_LENGTH, HOLE_HEIGHT = (0.1, 0.9), (0.4, 0.6)  # in units of the range of t and of the height
BOUNDARY_NEIGHBORS = 7

SEA_SIDE = 10.0
RIVER_LENGTH, RIVER_WIDTH = 10.0, 1.0

# Costs in the tree: from parent to child, from child to parent, between nodes of the same depth.
DOWN, UP, LEVEL = 0.5, 1.5, 0.1

Floats = NDArray[np.float64]


def make_swiss_roll(
    n_samples: int = 3000, *, alpha: float = 0.3, hole: bool = False, random_state: Any = 0
) -> Bunch:
    """Swiss roll with a drift along its length, whole or with a hole.

    Points are ``(t cos t, y, t sin t)`` with t uniform on [1.5 pi, 4.5 pi], as in scikit-learn's
    ``make_swiss_roll``, and y uniform on [0, 20] (scikit-learn's height is 21).

    Parameters
    ----------
    n_samples : int, default=3000
        Number of points, counted before the hole is cut.
    alpha : float in [0, 1), default=0.3
        Norm of the drift: rolling outwards costs ``1 + alpha`` per unit of length, inwards ``1 - alpha``.
        The paper takes 0.3 for the whole roll, and 0.5 with ``n_samples=2000`` for the one with the hole.
    hole : bool, default=False
        Cut the rectangle that spans 10 % to 90 % of the range of t and 40 % to 60 % of the height.
    random_state : int, RandomState instance or None, default=0
        An int gives the same points each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        points : ndarray of shape (n, 3)
            The roll.
        drift : ndarray of shape (n, 3)
            `alpha` times the unit tangent in the direction of growing t.
        coordinates : ndarray of shape (n, 2)
            What a faithful map shows: height y and arc length ``(t sqrt(1 + t^2) + asinh t) / 2`` of the
            spiral, counted from t = 0.
        t : ndarray of shape (n,)
            Angle along the spiral.
        alpha, DESCR : float, str
            As given, and what the data are.

        With ``hole=True`` the fields above hold the n points that are left, and there are also

        full_points, full_drift, full_coordinates : ndarray with `n_samples` rows
            The roll before the cut, for the distances that the hole hides.
        kept : ndarray of bool of shape (n_samples,)
            Which points are left: ``points`` is ``full_points[kept]``.
        boundary : ndarray of bool of shape (n,)
            Points at the rim of the hole: those with a removed point among their 7 nearest neighbors (in
            space) of the full roll.

    Notes
    -----
    The hole is a rectangle in t and not in arc length. With ``n_samples=2000, random_state=3`` (the
    published seed) 1675 points are left, 174 of them at the rim; a rectangle in arc length would leave
    1682, and the paper's code, which looks at 6 neighbors, finds 156 at the rim.

    Examples
    --------
    >>> from finsler.datasets import make_swiss_roll
    >>> roll = make_swiss_roll(2000, alpha=0.5, hole=True, random_state=3)
    >>> roll.points.shape, roll.full_points.shape, int(roll.boundary.sum())
    ((1675, 3), (2000, 3), 174)
    """
    check_arguments(make_swiss_roll, locals())
    n, alpha = _size("n_samples", n_samples), _check_alpha(alpha)
    u = as_random_state(random_state).uniform(size=(n, 2))
    roll = _roll(u, alpha)
    about = f"Swiss roll with a drift of norm {alpha:g} along its length, {n} points"
    if not hole:
        return Bunch(**roll, alpha=alpha, DESCR=f"{about}.\n")
    kept, boundary = _cut_hole(u, roll["points"])
    return Bunch(
        **{name: values[kept] for name, values in roll.items()},
        **{f"full_{name}": roll[name] for name in ("points", "drift", "coordinates")},
        alpha=alpha,
        kept=kept,
        boundary=boundary,
        DESCR=f"{about}, of which a rectangular hole leaves {kept.sum()}, {boundary.sum()} at its rim.\n",
    )


def _roll(u: Floats, alpha: float) -> dict[str, Floats]:
    """The roll at places ``u`` of the unit square: points, drift, coordinates and the angle t."""
    t = ROLL_START + (ROLL_END - ROLL_START) * u[:, 0]
    y = ROLL_HEIGHT * u[:, 1]
    cos, sin = np.cos(t), np.sin(t)
    # d/dt (t cos t, y, t sin t), whose norm is sqrt(1 + t^2).
    speed = np.sqrt(1 + t**2)
    return {
        "points": np.column_stack([t * cos, y, t * sin]),
        "drift": alpha * np.column_stack([cos - t * sin, np.zeros(len(t)), sin + t * cos]) / speed[:, None],
        "coordinates": np.column_stack([y, 0.5 * (t * speed + np.arcsinh(t))]),
        "t": t,
    }


def _cut_hole(u: Floats, points: Floats) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Which points the hole leaves; and which of those stand at its rim."""
    low, high = np.array([HOLE_LENGTH, HOLE_HEIGHT]).T
    inside = ((u > low) & (u < high)).all(axis=1)
    kept, n = ~inside, len(u)
    if not kept.any():
        raise InputError(f"n_samples={n}: every point fell into the hole. Use more points, or hole=False.")
    # The nearest of all is the point itself, which is kept.
    nearest = KDTree(points).query(points[kept], k=range(1, min(BOUNDARY_NEIGHBORS + 1, n) + 1))[1]
    return kept, np.any(inside[nearest], axis=1)


def make_sea(n_samples: int = 2000, *, nu: float = 2.0, alpha: float = 0.5, random_state: Any = 0) -> Bunch:
    """Square sea whose current gathers in some places and spreads from others.

    The current is ``(sin(nu x1) + cos(nu x2), cos(nu x1) - sin(nu x2))``, scaled so that the fastest
    sampled point has speed `alpha`; points are uniform on [0, 10] x [0, 10].

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points.
    nu : float, default=2.0
        Frequency: the pattern repeats every ``2 pi / nu``.
    alpha : float in [0, 1), default=0.5
        Largest speed of the current, in units of the boat's own speed.
    random_state : int, RandomState instance or None, default=0
        An int gives the same points each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        points : ndarray of shape (n_samples, 2)
            Places.
        current : ndarray of shape (n_samples, 2)
            Traveling costs ``||u|| - current.u``: the drift is minus the current. (The paper's published
            code takes the formula for the drift; this follows the paper.)
        divergence : ndarray of shape (n_samples,)
            Of the scaled current, from the formula: positive where water spreads, negative where it gathers.
        nu, alpha, DESCR : float, float, str
            As given, and what the data are.

    Examples
    --------
    >>> import numpy as np
    >>> from finsler.datasets import make_sea
    >>> sea = make_sea(400)
    >>> sea.points.shape, round(float(np.linalg.norm(sea.current, axis=1).max()), 12)
    ((400, 2), 0.5)
    """
    check_arguments(make_sea, locals())
    n, alpha = _size("n_samples", n_samples), _check_alpha(alpha)
    nu = check_number("nu", nu, -1e9, 1e9) or 0.0
    points = SEA_SIDE * as_random_state(random_state).uniform(size=(n, 2))
    a, b = nu * points.T
    free = np.column_stack([np.sin(a) + np.cos(b), np.cos(a) - np.sin(b)])
    scale = _scale_to(alpha, free)
    current, divergence = scale * free, scale * nu * (np.cos(a) - np.cos(b))
    about = f"Sea of side {SEA_SIDE:g} with a current of frequency {nu:g}, up to {alpha:g}; {n} points.\n"
    return Bunch(
        points=points, current=current, divergence=divergence, nu=float(nu), alpha=alpha, DESCR=about
    )


def make_river(n_samples: int = 1000, *, alpha: float = 0.2, random_state: Any = 0) -> Bunch:
    """River that flows towards growing x1, fastest in the middle and still at its banks.

    The current is ``(1 - |2 x2 - 1|, 0)``, scaled so that the fastest sampled point has speed `alpha`;
    points are uniform on [0, 10] x [0, 1].

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    alpha : float in [0, 1), default=0.2
        Largest speed of the current, in units of the boat's own speed.
    random_state : int, RandomState instance or None, default=0
        An int gives the same points each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        points : ndarray of shape (n_samples, 2)
            Places.
        current : ndarray of shape (n_samples, 2)
            Traveling costs ``||u|| - current.u``: downstream is cheap.
        alpha, DESCR : float, str
            As given, and what the data are.

    Examples
    --------
    >>> from finsler.datasets import make_river
    >>> river = make_river(100)
    >>> bool((river.current[:, 0] >= 0).all()), bool((river.current[:, 1] == 0).all())
    (True, True)
    """
    check_arguments(make_river, locals())
    n, alpha = _size("n_samples", n_samples), _check_alpha(alpha)
    points = as_random_state(random_state).uniform(size=(n, 2)) * (RIVER_LENGTH, RIVER_WIDTH)
    free = np.column_stack([1 - np.abs(2 * points[:, 1] / RIVER_WIDTH - 1), np.zeros(n)])
    about = f"River {RIVER_LENGTH:g} x {RIVER_WIDTH:g} with a current up to {alpha:g}, {n} points.\n"
    return Bunch(points=points, current=_scale_to(alpha, free) * free, alpha=alpha, DESCR=about)


def make_binary_tree(depth: int = 7) -> Bunch:
    """Complete binary tree where climbing is costly, going down cheap, and moving on a level nearly free.

    Parameters
    ----------
    depth : int, default=7
        Depth of the leaves; the tree has ``2**(depth + 1) - 1`` nodes. All pairs of a level are joined, so
        the graph has about ``4**(depth + 1) / 3`` arcs: 22 thousand at depth 7, 90 million (1 GB) at depth
        13.

    Returns
    -------
    data : sklearn.utils.Bunch
        graph : scipy.sparse.csr_array of shape (n, n)
            Costs of the arcs, row = from: 0.5 from parent to child, 1.5 from child to parent, 0.1 between
            any two nodes of the same depth. Shortest paths on it are the paper's dissimilarities.
        depth : ndarray of int of shape (n,)
            0 for the root, node 0; the children of node i are 2 i + 1 and 2 i + 2.
        parent : ndarray of int of shape (n,)
            -1 for the root.
        DESCR : str
            What the data are.

    Examples
    --------
    >>> from scipy.sparse.csgraph import shortest_path
    >>> from finsler.datasets import make_binary_tree
    >>> tree = make_binary_tree(2)
    >>> shortest_path(tree.graph)[0]
    array([0. , 0.5, 0.5, 1. , 1. , 1. , 1. ])
    >>> shortest_path(tree.graph)[:, 0]
    array([0. , 1.5, 1.5, 3. , 3. , 3. , 3. ])
    """
    check_arguments(make_binary_tree, locals())
    height = check_count("depth", depth, 0, 30)
    require_memory(
        60.0 * 4.0**height, f"A tree of depth {height}", "All pairs of a level are joined; take a lower one."
    )
    n = 2 ** (height + 1) - 1
    node = np.arange(n, dtype=np.int32)
    level = np.repeat(np.arange(height + 1), 2 ** np.arange(height + 1))
    parent = (node - 1) // 2  # the root's is -1 // 2 = -1
    child, above = node[1:], parent[1:]
    rows, columns, costs = [above, child], [child, above], [np.full(n - 1, DOWN), np.full(n - 1, UP)]
    for d in range(1, height + 1):
        first, width = 2**d - 1, 2**d
        # Each node of the level with the width - 1 others: shifts by 1 ... width - 1 around the level.
        start = np.repeat(np.arange(width, dtype=np.int32), width - 1)
        shift = np.tile(np.arange(1, width, dtype=np.int32), width)
        rows.append(first + start)
        columns.append(first + (start + shift) % width)
        costs.append(np.full(start.size, LEVEL))
    graph = csr_array((np.concatenate(costs), (np.concatenate(rows), np.concatenate(columns))), shape=(n, n))
    about = f"Binary tree of depth {height}, {n} nodes; arcs: {DOWN} down, {UP} up, {LEVEL} on a level.\n"
    return Bunch(graph=graph, depth=level, parent=parent, DESCR=about)


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
    check_arguments(make_city, locals())
    _size("n", n, 4, 40.0)
    shares = {"one_way": one_way, "closed": closed, "closed_uphill": closed_uphill, "slope": slope}
    for name, value in shares.items():
        if not 0 <= value <= 1 or (name != "one_way" and value == 1):
            most = "1" if name == "one_way" else "less than 1"
            raise InputError(f"must be a number from 0 to {most}, got {value!r}.", argument=name)
    rng = as_random_state(random_state)
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
    about = (
        f"City of {len(kept)} crossings and {graph.nnz} arcs on a {side} x {side} grid; {one_way:.0%} of the "
        f"streets are one-way, {closed:.0%} of the blocks closed, uphill {closed_uphill:.0%}.\n"
    )
    return Bunch(graph=graph, points=points, DESCR=about)


def make_exact_randers(
    n_samples: int = 200, n_components: int = 3, alpha: float = 0.5, random_state: Any = 0
) -> Bunch:
    """Random points and their exact Randers distances: data that a map can show without any stress.

    Parameters
    ----------
    n_samples : int, default=200
        Number of points, drawn from a standard normal distribution.
    n_components : int, default=3
        Dimension of the points, the drift's axis (the last one) included.
    alpha : float in [0, 1), default=0.5
        Norm of the drift.
    random_state : int, RandomState instance or None, default=0
        An int gives the same points each time.

    Returns
    -------
    data : sklearn.utils.Bunch
        points : ndarray of shape (n_samples, n_components)
            The map.
        distances : ndarray of shape (n_samples, n_samples)
            ``||u|| + alpha u_last`` with ``u = points[j] - points[i]``, from i to j: going up costs more.
        alpha, DESCR : float, str
            As given, and what the data are.

    Examples
    --------
    >>> from finsler.datasets import make_exact_randers
    >>> data = make_exact_randers(2, 1, alpha=0.5, random_state=0)
    >>> data.points.round(2).tolist(), data.distances.round(2).tolist()
    ([[1.76], [0.4]], [[0.0, 0.68], [2.05, 0.0]])
    """
    check_arguments(make_exact_randers, locals())
    n, m = _size("n_samples", n_samples), check_count("n_components", n_components)
    alpha = _check_alpha(alpha)
    points = as_random_state(random_state).normal(size=(n, m))
    up = points[:, -1]
    distances = cdist(points, points) + alpha * (up[None, :] - up[:, None])
    about = f"Exact Randers distances, alpha = {alpha:g}, of {n} normal points in dimension {m}.\n"
    return Bunch(points=points, distances=distances, alpha=alpha, DESCR=about)


def _scale_to(alpha: float, field: Floats) -> float:
    """Factor that gives the longest vector of the field the norm alpha; 0 if the field vanishes."""
    longest = float(np.linalg.norm(field, axis=1).max())
    return alpha / longest if longest > 0 else 0.0


def _check_alpha(alpha: Any) -> float:
    if not 0 <= alpha < 1:  # catches NaN too
        raise InputError(
            f"alpha must be in [0, 1), or some paths would have a negative length; got {alpha!r}. "
            "0 is the symmetric case.",
            argument="alpha",
        )
    return float(alpha)


def _size(name: str, value: Any, least: int = 1, numbers: float = 20.0) -> int:
    """Number of points that was asked for, if that many fit in memory; `numbers` are kept for each."""
    n = check_count(name, value, least)
    require_memory(8 * numbers * n, f"Data of {name}={n:,}", "Ask for fewer.")
    return n
