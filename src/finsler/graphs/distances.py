"""From a digraph to dissimilarities: lengths of shortest paths, and what to do where there is none.

Of a graph too large for all pairs: some rows (`sample_rows`), and the scores of a map on them (`sampled_scores`). The
nodes drawn are not pivots of the map, so that what is measured is what the map was not shown. Each score is a ratio of
sums over the rows drawn, with the standard error of such a ratio. With all nodes drawn the numbers are those of
`finsler.geometry.stress` and `finsler.geometry.asymmetry`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from finsler._arguments import as_random_state, check_arguments
from finsler._memory import require_memory
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.provenance import Provenance
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.asymmetry import shown_by
from finsler.geometry.components import graph_components
from finsler.geometry.pairs import Estimate, Rows, SampledScores, ratio_of_rows
from finsler.geometry.swirl import arc_cost, skew_shown
from finsler.graphs.bow_tie import bow_tie
from finsler.graphs.digraph import Digraph, as_digraph, largest_component
from finsler.graphs.paths import shortest_paths

Array = NDArray[Any]

POLICIES = ("mask", "largest", "hinge", "raise")
METHODS = ("auto", "dense", "sparse")
DENSE_NODES = 5000  # up to which all pairs of a graph are looked at, unless asked otherwise
WEIGHTINGS = {"uniform": 0.0, "inverse": 1.0, "inverse-square": 2.0}


def choose_method(
    method: str, n_nodes: int, dense_only: Mapping[str, bool], sparse_only: Mapping[str, bool]
) -> str:
    """Dense or sparse; arguments that go with one of them only are refused by method, whatever the size of the data.

    Examples
    --------
    >>> choose_method("auto", 6000, {"nodes": False}, {}), choose_method("auto", 6000, {"nodes": True}, {})
    ('sparse', 'dense')
    """
    check_choice("method", method, METHODS)
    asked = [name for name, is_asked in dense_only.items() if is_asked]
    if method == "sparse" and asked:
        raise InputError(
            f"{asked[0]} goes with method='dense': a sparse map is of some pairs of all points.",
            argument=None if "=" in asked[0] else asked[0],
        )
    for name, is_asked in sparse_only.items():
        if is_asked and method != "sparse" and (name != "n_pivots" or method == "dense"):
            raise InputError(
                f"{name} goes with method='sparse': otherwise all pairs count, and are solved in one go.",
                argument=name,
            )
    if method == "auto":
        return "sparse" if n_nodes > DENSE_NODES and not asked else "dense"
    return method


def graph_distances(
    graph: Any,
    *,
    weight: Any = "auto",
    hops: bool = False,
    nodes: Sequence[Any] | None = None,
    unreachable: str = "mask",
    connection: str | None = None,
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
    connection : {"strong", "weak"}, optional
        Keep only the largest part that is connected so, and name what was left out: "strong", each node reaches each other
        one; "weak", whatever the directions. `unreachable` says what to do with pairs in it that have no path: "hinge" with
        "weak" shows a bow-tie. None keeps all nodes; with "largest" it is "strong", and "weak" leaves such pairs out.
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
    check_arguments(graph_distances, locals())
    check_choice("unreachable", unreachable, POLICIES)
    check_choice("weighting", weighting, tuple(WEIGHTINGS))
    digraph = as_digraph(graph, weight=weight, **reading)
    digraph = part_to_map(digraph, unreachable, connection)
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
    if rows is None:
        facts = facts.having(bow_tie=bow_tie_hidden(digraph, facts))
    return Dissimilarities(data.matrix, weigh(data, WEIGHTINGS[weighting]), data.labels, facts)


def part_to_map(digraph: Digraph, unreachable: str, connection: str | None) -> Digraph:
    """The part of a graph that is to be mapped: the largest one connected as asked, or all of it."""
    if connection is not None:
        check_choice("connection", connection, ("strong", "weak"))
    elif unreachable == "largest":
        connection = "strong"
    return digraph if connection is None else largest_component(digraph, connection)


def bow_tie_hidden(digraph: Digraph, facts: Provenance) -> tuple[int, ...]:
    """Parts of the bow-tie that a map does not show because pairs without a path are left out; none if there is none."""
    if not facts.n_unreachable or facts.policy == "hinge":
        return ()
    found = bow_tie(digraph.matrix)
    return tuple(found) if found.is_one else ()


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
    if not len(found):
        raise InputError("nodes is empty; None maps all of them.", argument="nodes")
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
            f"connection='weak' to map the largest part, 'strong' for its largest core.{_about_bow_tie(digraph)}"
        )


def _about_bow_tie(digraph: Digraph) -> str:
    found = bow_tie(largest_component(digraph, "weak").matrix)
    if not found.is_one:
        return ""
    return f" That part is a bow-tie, {found.words()}, which appears with unreachable='hinge', connection='weak'."


def sample_rows(
    graph: Digraph,
    n_sources: int = 50,
    *,
    hops: bool = False,
    exclude: Sequence[int] | Array = (),
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> Rows:
    """Distances from and to randomly drawn nodes: all, if there are no more, but those to `exclude`, such as pivots."""
    n = graph.n_nodes
    candidates = np.setdiff1d(np.arange(n), np.asarray(exclude, dtype=int))
    if not len(candidates):
        raise InputError("exclude leaves no node to draw: every node is excluded.", argument="exclude")
    k = min(check_count("n_sources", n_sources), len(candidates))
    require_memory(12.0 * k * n, f"{k} rows of {n:,} nodes", "Use fewer n_sources.")
    sources = np.sort(as_random_state(random_state).choice(candidates, k, replace=False))
    options: dict[str, Any] = {"method": "bfs" if hops else "auto", "dtype": np.float32}
    options.update(n_jobs=n_jobs, verbose=verbose)
    ahead = shortest_paths(graph, sources, **options)
    back = shortest_paths(graph, sources, reverse=True, **options)
    return Rows(sources, ahead, back)


def sampled_scores(
    X: Array, drift: Array, rows: Rows, *, swirl: Array | None = None, geodesic: bool = False, weighting: str = "uniform"
) -> SampledScores:  # fmt: skip
    """Scores of a map on some rows, of nodes that were not its pivots; weights of the stress as in `graph_distances`."""
    X, omega = np.asarray(X, dtype=float), np.asarray(drift, dtype=float)
    n, k = rows.n_points, len(rows.sources)
    if X.shape != (n, len(omega)):
        raise InputError(f"X must have shape ({n}, {len(omega)}), as rows and drift have it; got {X.shape}.")
    check_choice("weighting", weighting, WEIGHTINGS)
    power = WEIGHTINGS[weighting]
    sums = np.zeros((4, k))  # misfit, squares, signs told, signs
    for there, (ahead, back, known_ahead, known_back) in rows.blocks():
        u = X[there] - X[rows.sources, None]
        e, a = np.sqrt((u**2).sum(axis=2)), u @ omega
        if swirl is not None:
            a += np.einsum("ijk,ik->ij", u, X[rows.sources] @ swirl.T)
            e = arc_cost(e, swirl[1, 0]) if geodesic else e
        for d, D, known in ((e + a, ahead, known_ahead > 0), (e - a, back, known_back > 0)):
            known = known & ((D > 0) | (power == 0))
            w, D = np.where(known, np.where(known, D, 1.0) ** -power, 0.0), np.where(known, D, 0.0)
            sums[:2] += (w * (d - D) ** 2).sum(axis=1), (w * D**2).sum(axis=1)
        both = (known_ahead > 0) & (known_back > 0)
        A = np.subtract(ahead, back, out=np.zeros_like(a), where=both)
        unequal = both & (np.abs(A) > 2e-6 * ahead)
        sums[2:] += (unequal & (np.sign(A) == np.sign(a))).sum(axis=1), unequal.sum(axis=1)
    squared = ratio_of_rows(sums[0], sums[1], n)
    root = None if squared.value is None else float(np.sqrt(squared.value))
    error = squared.error if not root or squared.error is None else squared.error / (2 * root)
    return SampledScores(
        k,
        Estimate(root, error),
        ratio_of_rows(sums[2], sums[3], n),
        shown_by(rows, skew_shown(X, omega, swirl)),
    )
