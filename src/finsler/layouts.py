"""Layouts of digraphs in the manner of networkx: a dict from node to position, up costs more."""

from __future__ import annotations

import warnings
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments, check_number
from finsler.errors import InputError, check_count
from finsler.geometry.components import graph_components
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.recipes import GraphOptions, embed_graph

Positions = NDArray[np.float64]
ALPHA = 0.5  # where not every node can be reached from every other one
GAP = 0.15  # between parts, as a share of the larger one's size


def layout(
    G: Any,
    weight: Any = "auto",
    scale: float | None = 1,
    center: ArrayLike | None = None,
    dim: int = 2,
    store_pos_as: str | None = None,
    *,
    alpha: float | str | None = None,
    unreachable: str = "hinge",
    **options: Unpack[GraphOptions],
) -> dict[Any, Positions]:
    """Position nodes by the lengths of shortest paths, so that going up costs more than coming down.

    Takes and gives what layouts of networkx do: ``nx.draw(G, finsler.layout(G))``. The last coordinate is the height. Arcs
    that lead one way only point down; what leads into the core of a graph is on top, what it leads to at the bottom.

    Parameters
    ----------
    G : networkx graph
        Or whatever else :func:`~finsler.graphs.digraph.as_digraph` takes.
    weight : "auto", None or name
        Attribute that holds the lengths of the edges; None counts edges. "auto" takes ``weight``, else the only one that has
        the name of a length.
    scale : float or None
        Positions are centered and scaled so that the largest coordinate is this; None keeps the units of the lengths.
    center : array-like of `dim` numbers, optional
        Where the center of the layout is to be.
    dim : int
        Dimension of the layout, the height included.
    store_pos_as : str, optional
        Store the positions as this attribute of the nodes of G, too.
    alpha : float in [0, 1) or "auto", optional
        Strength of the drift; "auto" fits it. By default it is fitted where every node can be reached from every other one,
        and 0.5 elsewhere: bounds alone would let the fit stretch the height until nothing else is seen.
    unreachable : {"hinge", "mask"}
        Pairs without a path are kept far apart, which shows what is above what; or they are left out.
    **options
        Of :func:`~finsler.embed_graph`, such as ``n_init`` or ``max_iter``; ``random_state`` is 0 if not given.

    Returns
    -------
    dict
        Position of each node. Parts of a graph with no edge between them are laid out each by itself, side by side.

    Examples
    --------
    >>> import networkx as nx
    >>> import finsler
    >>> G = nx.DiGraph([("spring", "brook"), ("brook", "river"), ("river", "sea")])
    >>> positions = finsler.layout(G)
    >>> [name for name, (_, height) in sorted(positions.items(), key=lambda item: -item[1][1])]
    ['spring', 'brook', 'river', 'sea']
    """
    check_arguments(layout, locals())
    check_count("dim", dim)
    check_number("scale", scale, 0.0, open_ends=True, optional=True)
    if unreachable not in ("hinge", "mask"):
        raise InputError(f"must be 'hinge' or 'mask' here, got {unreachable!r}.", argument="unreachable")
    middle = np.zeros(dim) if center is None else np.asarray(center, dtype=float)
    if middle.shape != (dim,):
        raise InputError(
            f"must hold {dim} numbers, one per dimension, got shape {middle.shape}.", argument="center"
        )
    if store_pos_as is not None and not hasattr(G, "nodes"):
        raise InputError("goes with a graph of networkx.", argument="store_pos_as")
    if hasattr(G, "nodes") and hasattr(G, "is_directed") and not G.number_of_edges():
        nodes, found = list(G), _in_parts([np.zeros((1, dim)) for _ in G]) if len(G) else np.zeros((0, dim))
    else:
        graph = as_digraph(G, weight=weight)
        chosen: Any = {"unreachable": unreachable, "random_state": 0, **options}
        nodes, found = graph.nodes, _positions(graph, dim, {"alpha": alpha, **chosen})
    if len(found) and scale is not None:
        found = found - found.mean(axis=0)
        widest = np.abs(found).max()
        found = found * (scale / widest) if widest > 0 else found
    positions = dict(zip(nodes, found + middle, strict=True))
    if store_pos_as is not None:
        for node, position in positions.items():
            G.nodes[node][store_pos_as] = position
    return positions


def _positions(graph: Digraph, dim: int, options: dict[str, Any]) -> Positions:
    """Positions of the nodes; parts with no arc between them side by side, the largest first."""
    part = graph_components(graph.matrix)
    sizes = np.bincount(part)
    members = [np.flatnonzero(part == k) for k in np.argsort(-sizes, kind="stable")]
    laid = [_part(graph if len(sizes) == 1 else graph.subgraph(own), dim, options) for own in members]
    found = np.empty((graph.n_nodes, dim))
    found[np.concatenate(members)] = _in_parts(laid)
    return found


def _part(graph: Digraph, dim: int, options: dict[str, Any]) -> Positions:
    """Positions in a part; of few nodes in as many dimensions as they have, the rest zero."""
    n = graph.n_nodes
    if n == 1:
        return np.zeros((1, dim))
    m = min(dim, n)
    one_way = bool(graph_components(graph.matrix, "strong").any())
    m = 1 if n == 2 and one_way else m  # nothing but up and down
    if options["alpha"] is None:
        bounds = options["unreachable"] == "hinge" and one_way
        options = {**options, "alpha": ALPHA if bounds else "auto"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # how well it fits is no matter of a layout
        X = embed_graph(graph, n_components=m, **options).coordinates
    return np.column_stack([X[:, : m - 1], np.zeros((n, dim - m)), X[:, m - 1 :]])


def _in_parts(parts: list[Positions]) -> Positions:
    """Parts on shelves, as a page of pictures: each beside the one before, on a new shelf below if there is no room."""
    if len(parts) == 1:
        return parts[0]
    dim = parts[0].shape[1]
    sizes = np.array([np.ptp(X, axis=0)[[0, -1]] for X in parts])
    gap = GAP * max(float(sizes.max()), 1.0)
    wide = np.sqrt(((sizes[:, 0] + gap) * (sizes[:, 1] + gap)).sum()) * 1.3 if dim > 1 else np.inf
    x, y, shelf, moved = 0.0, 0.0, 0.0, []
    for X, (width, height) in zip(parts, sizes, strict=True):
        if x > 0 and x + width > wide:
            x, y, shelf = 0.0, y - shelf - gap, 0.0
        place = np.zeros(dim)
        place[0] = x - X[:, 0].min()
        if dim > 1:
            place[-1] = y - X[:, -1].max()
        moved.append(X + place)
        x, shelf = x + width + gap, max(shelf, height)
    return np.vstack(moved)
