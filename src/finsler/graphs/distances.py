"""From a digraph to dissimilarities: lengths of shortest paths, and what to do where there is none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.provenance import Provenance
from finsler.errors import InputError, check_choice
from finsler.geometry.components import graph_components
from finsler.graphs.digraph import Digraph, as_digraph, largest_component
from finsler.graphs.paths import shortest_paths

POLICIES = ("mask", "largest", "hinge", "raise")
DENSE_NODES = 5000  # up to which all pairs of a graph are looked at, unless asked otherwise
WEIGHTINGS = {"uniform": 0.0, "inverse": 1.0, "inverse-square": 2.0}


def graph_distances(
    graph: Any,
    *,
    weight: Any = "auto",
    hops: bool = False,
    nodes: Sequence[Any] | None = None,
    unreachable: str = "mask",
    connection: str = "strong",
    far: float | None = None,
    weighting: str = "uniform",
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
    **reading: Any,
) -> Dissimilarities:
    """Lengths of the shortest directed paths between the nodes of a graph.

    Parameters
    ----------
    graph : Digraph, networkx or igraph graph, scipy sparse matrix, pandas edge list, arrays of arcs, or a file
        Whatever :func:`~finsler.graphs.digraph.as_digraph` reads.
    weight : "auto", None or name
        Attribute or column that holds the lengths; None counts arcs. "auto" takes the only one that has the name of a
        length, see :func:`~finsler.graphs.digraph.as_digraph`; ``provenance`` says which it was.
    hops : bool, default=False
        Count arcs instead of adding their lengths.
    nodes : sequence of labels, optional
        Map only these nodes; paths still run through the whole graph.
    unreachable : {"mask", "largest", "hinge", "raise"}, default="mask"
        For ordered pairs without a path: leave them out, each direction by itself (a pair that is reachable one way
        counts one way); keep only the largest connected part; keep them as bounds "at least ``far``"; or refuse.
    connection : {"strong", "weak"}, default="strong"
        Which connected part "largest" keeps. In a weak one, pairs without a path are left out as with "mask".
    far : float, optional
        Bound for "hinge"; the largest finite distance by default.
    weighting : {"uniform", "inverse", "inverse-square"}, default="uniform"
        Weight of a pair at distance d: 1, 1/d or 1/d^2. The last two care more for short distances.
    dtype : {float64, float32}
        Type of the matrix.
    n_jobs, verbose
        Threads, and the progress line.
    **reading
        Further options of :func:`~finsler.graphs.digraph.as_digraph`.

    Returns
    -------
    Dissimilarities
        Its ``provenance`` tells where the lengths come from and what was left out.

    Examples
    --------
    >>> data = graph_distances([("a", "b", 2.0), ("b", "c", 1.0), ("c", "a", 4.0)])
    >>> data.labels, data.matrix[0].tolist()
    (['a', 'b', 'c'], [0.0, 2.0, 3.0])
    """
    check_choice("unreachable", unreachable, POLICIES)
    check_choice("connection", connection, ("strong", "weak"))
    check_choice("weighting", weighting, tuple(WEIGHTINGS))
    digraph = as_digraph(graph, weight=weight, **reading)
    if unreachable == "largest":
        digraph = largest_component(digraph, connection)
    rows = None if nodes is None else _positions(digraph, nodes)
    method = "bfs" if hops else "dijkstra"
    D = shortest_paths(digraph, rows, method=method, dtype=dtype, n_jobs=n_jobs, verbose=verbose)
    if rows is not None:
        D = np.ascontiguousarray(D[:, rows])
    labels = digraph.nodes if rows is None else [digraph.nodes[i] for i in rows]
    if unreachable == "raise":
        _require_paths(D, labels)
    missing = "hinge" if unreachable == "hinge" else "mask"
    names = digraph.labels if rows is None else labels
    data = as_dissimilarities(D, labels=names, missing=missing, far=far, name="the distances of the graph")
    if digraph.n_nodes > 1 and rows is None:
        require_one_piece(digraph)
    found = data.provenance
    facts = path_provenance(digraph, hops).having(n_unreachable=found.n_unreachable, policy=found.policy)
    return Dissimilarities(data.matrix, weigh(data, WEIGHTINGS[weighting]), data.labels, facts)


def _require_paths(D: NDArray[Any], labels: Sequence[Any]) -> None:
    absent = np.isinf(D)
    if absent.any():
        i, j = np.argwhere(absent)[0]
        raise InputError(
            f"{absent.sum():,} of {len(D) * (len(D) - 1):,} ordered pairs have no path, for example from {labels[i]!r} to "
            f"{labels[j]!r}. Pass unreachable='mask' to leave such pairs out, 'hinge' to keep them far apart, or 'largest' "
            "to keep the largest connected part."
        )


def path_provenance(digraph: Digraph, hops: bool) -> Provenance:
    """Facts about a graph whose paths are measured; with ``hops`` its lengths do not matter."""
    facts = digraph.provenance
    return facts.having(columns={}, counts_arcs=True) if hops else facts


def weigh(data: Dissimilarities, power: float) -> NDArray[Any] | None:
    """Weights ``1/d^power`` of the known pairs; those of the data if ``power`` is 0."""
    if power == 0:
        return data.weights
    D = np.abs(data.matrix)
    known = ~np.eye(len(D), dtype=bool) if data.weights is None else data.weights > 0
    if (D[known] == 0).any():
        i, j = np.argwhere(known & (D == 0))[0]
        raise InputError(
            f"weighting by inverse distance needs distances above 0; from {data.name(i)} to {data.name(j)} it is 0. "
            "Use weighting='uniform'."
        )
    return np.where(known, np.where(known, D, 1.0) ** -power, 0.0).astype(D.dtype)


def _positions(digraph: Digraph, nodes: Sequence[Any]) -> NDArray[np.int64]:
    found = digraph.index.positions(nodes, "nodes")
    if len(np.unique(found)) < len(found):
        raise InputError("must name each node once; some are repeated.", argument="nodes")
    return found


def require_one_piece(digraph: Digraph) -> None:
    """Raise ``ValueError`` if the graph falls into parts with no arc between them."""
    part = graph_components(digraph.matrix)
    if part.any():
        sizes = np.bincount(part)
        outside = [digraph.nodes[i] for i in np.flatnonzero(part != np.argmax(sizes))[:5]]
        raise InputError(
            f"The graph falls into {len(sizes):,} parts with no arc between them (the largest has {sizes.max():,} of "
            f"{digraph.n_nodes:,} nodes), which have no common map. Outside the largest: "
            f"{', '.join(map(repr, outside))}{', ...' if digraph.n_nodes - sizes.max() > 5 else ''}. Pass "
            "unreachable='largest', with connection='weak' to keep all of the largest part."
        )
