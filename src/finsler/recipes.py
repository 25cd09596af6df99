"""One-line doors to a map."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from math import inf
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from finsler.data.matrix import LARGEST, as_dissimilarities
from finsler.data.pairs import pairs_to_dissimilarities
from finsler.data.tables import read_table
from finsler.embedding import Embedding
from finsler.errors import InputError, InputTypeError, check_choice
from finsler.estimators.isomap import FinslerIsomap
from finsler.estimators.mds import FinslerMDS
from finsler.graphs.digraph import Digraph, as_digraph, largest_component
from finsler.graphs.distances import (
    DENSE_NODES,
    POLICIES,
    WEIGHTINGS,
    graph_distances,
    path_provenance,
    require_one_piece,
)
from finsler.graphs.pivots import PivotDistances, pivot_distances
from finsler.solvers.backends.choose import is_dask_array
from finsler.solvers.sparse.problem import ArcPairs
from finsler.solvers.sparse.solver import sparse_smacof


def embed_matrix(
    D: ArrayLike | str | os.PathLike[str],
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    missing: str = "raise",
    encoding: str | None = None,
    **options: Any,
) -> Embedding:
    """Map a matrix of asymmetric dissimilarities: travel times, costs, confusions.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame, path of a file, or Dask array
        Dissimilarities **from row to column**. A DataFrame's index gives the labels, and so does the first column or
        row of a CSV file; .npy and .npz are read, too. A .npy file may be larger than memory.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift; "auto" fits it to the data.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    labels : sequence, optional
        Names of the points.
    missing : {"raise", "mask", "hinge"}
        NaN and inf are refused, or left out; or inf means "at least as far as the largest finite dissimilarity".
    encoding : str, optional
        Encoding of a text file, if not UTF-8: "cp1252" for what Excel saves as plain CSV in western Europe.
    **options
        Further parameters of :class:`~finsler.estimators.mds.FinslerMDS`.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> hours = [[0.0, 5.3, 2.6], [4.2, 0.0, 3.7], [2.4, 4.5, 0.0]]
    >>> flights = embed_matrix(hours, labels=["JFK", "LAX", "MIA"])
    >>> round(flights.distance("JFK", "LAX"), 1), round(flights.distance("LAX", "JFK"), 1)
    (5.3, 4.2)
    """
    mds = FinslerMDS(n_components, alpha=alpha, missing=missing, **options)
    path = os.fspath(D) if isinstance(D, str | os.PathLike) else None
    if (path or "").endswith(".npy") or isinstance(D, np.memmap) or is_dask_array(D):
        # These may be larger than memory: the estimator finds out, and solves them where they are.
        found = mds.fit(D, weights=weights).result_
        if labels is None:
            return found
        if len(labels) != found.n_points:
            raise InputError(
                f"labels must have one entry per point: D has {found.n_points} rows, labels {len(labels)}."
            )
        return replace(found, labels=list(labels))
    values: Any = D
    if path is not None:
        table = read_table(path, kind="matrix", encoding=encoding)
        values, labels = table.values, table.labels if labels is None else labels
    data = as_dissimilarities(values, weights, labels=labels, missing=missing)
    return mds.fit(data).result_


def embed_pairs(
    table: Any,
    *,
    source: Any = None,
    target: Any = None,
    value: Any = None,
    similarity: str | None = None,
    zeros: str = "missing",
    missing: str = "mask",
    aggregate: str | None = None,
    where: Any = None,
    n_components: int = 2,
    alpha: float | str = "auto",
    encoding: str | None = None,
    **options: Any,
) -> Embedding:
    """Map measured pairs in a long table: origin, destination, seconds. No paths: a pair that is not there is missing.

    Parameters
    ----------
    table : DataFrame, dict of columns, list of tuples, or path of a file
        A frame of pandas, polars or pyarrow; tuples are (source, target, value).
    source, target, value : names or positions of columns, optional
        Otherwise recognized by their names (from and to, origin and destination, i and j ...; seconds, minutes,
        distance, cost ...). A column that is called like a flow (trips, count, trade ...) is refused unless
        `similarity` says that it is one, or `value` names it.
    similarity : {"gravity", "transition", "rank", "linear"}, optional
        How values that are flows or similarities, where more means nearer, become dissimilarities; see
        :func:`~finsler.data.similarities.dissimilarities_from`.
    zeros : {"missing", "pseudocount", "keep"}
        What a flow of zero says; goes with `similarity`.
    missing : {"mask", "raise", "hinge"}
        Absent pairs are left out, or refused; with "hinge", infinite values mean "at least as far as the largest".
    aggregate : {"mean", "sum", "min", "max", "median", "first", "last"}, optional
        How several values of one pair become one; otherwise they are refused.
    where : dict, or text such as "year=2020", optional
        Rows that count.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift; "auto" fits it to the data.
    encoding : str, optional
        Encoding of a text file, if not UTF-8.
    **options
        Further parameters of :class:`~finsler.estimators.mds.FinslerMDS`.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> from finsler import embed_pairs
    >>> minutes = [("a", "b", 5.0), ("b", "a", 7.0), ("b", "c", 4.0), ("c", "a", 6.0)]
    >>> trips = embed_pairs(minutes)
    >>> trips.labels
    ['a', 'b', 'c']
    """
    data = pairs_to_dissimilarities(
        table,
        similarity=similarity,
        zeros=zeros,
        missing=missing,
        aggregate=aggregate,
        source=source,
        target=target,
        value="auto" if value is None else value,
        where=where,
        encoding=encoding,
    )
    return FinslerMDS(n_components, alpha=alpha, **options).fit(data).result_


def embed_graph(
    graph: Any,
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    hops: bool = False,
    nodes: Sequence[Any] | None = None,
    unreachable: str = "mask",
    connection: str = "strong",
    far: float | None = None,
    weighting: str = "uniform",
    reading: dict[str, Any] | None = None,
    method: str = "auto",
    pivots: int = 100,
    **options: Any,
) -> Embedding:
    """Map a digraph by the lengths of its shortest paths.

    Parameters
    ----------
    graph : networkx or igraph graph, scipy sparse matrix, pandas edge list, arrays of arcs, Digraph, or a file
        Arcs carry lengths: bigger is farther. See :func:`~finsler.graphs.digraph.as_digraph`.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift; "auto" fits it to the data.
    hops : bool
        Count arcs instead of adding their lengths.
    nodes : sequence of labels, optional
        Map only these nodes; paths still run through the whole graph.
    unreachable : {"mask", "largest", "hinge", "raise"}
        What to do with ordered pairs that have no path: leave them out, keep the largest connected part, keep them far
        apart, or refuse. What was left out stands in the ``message`` of the result.
    connection, far, weighting
        See :func:`~finsler.graphs.distances.graph_distances`.
    reading : dict, optional
        Options of :func:`~finsler.graphs.digraph.as_digraph`, such as ``{"weight": "minutes"}``.
    method : {"auto", "dense", "sparse"}
        All pairs of nodes ("dense"), or the arcs and the pairs with some pivots ("sparse"). "auto" is dense up to 5,000
        nodes; what it chose beyond them stands in the ``message`` of the result.
    pivots : int
        Number of pivots of "sparse".
    **options
        Further parameters of :class:`~finsler.estimators.mds.FinslerMDS`, or of
        :func:`~finsler.solvers.sparse.solver.sparse_smacof` where the method is "sparse".

    Returns
    -------
    Embedding
        The stress of a sparse map is over its pairs; see :mod:`finsler.graphs.sampled` for its stress on others.

    Examples
    --------
    >>> from finsler import embed_graph
    >>> streets = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "a", 3), ("a", "c", 2), ("c", "a", 2)]
    >>> town = embed_graph(streets, alpha=0.3)
    >>> town.labels
    ['a', 'b', 'c', 'd']
    """
    check_choice("method", method, ("auto", "dense", "sparse"))
    graph = as_digraph(graph, **(reading or {}))
    if method == "sparse" or (method == "auto" and nodes is None and graph.n_nodes > DENSE_NODES):
        if nodes is not None:
            raise InputError("nodes goes with method='dense': a sparse map is of the whole graph.")
        why = (
            f"{graph.n_nodes:,} nodes are more than {DENSE_NODES:,}, so it is a sparse map"
            if method == "auto"
            else ""
        )
        return sparse_map(
            graph, n_components, alpha, hops=hops, unreachable=unreachable, connection=connection, far=far,
            weighting=weighting, pivots=pivots, why=why, **options,
        ).embedding  # fmt: skip
    data = graph_distances(
        graph,
        hops=hops,
        nodes=nodes,
        unreachable=unreachable,
        connection=connection,
        far=far,
        weighting=weighting,
        n_jobs=options.get("n_jobs"),
        verbose=options.get("verbose", "auto"),
    )
    return FinslerMDS(n_components, alpha=alpha, **options).fit(data).result_


class SparseMap(NamedTuple):
    """A sparse map with what it was made from, so that it can be scored on other pairs."""

    embedding: Embedding
    graph: Digraph
    pivots: PivotDistances


def sparse_map(
    graph: Any,
    n_components: int = 2,
    alpha: float | str = "auto",
    *,
    hops: bool = False,
    unreachable: str = "mask",
    connection: str = "strong",
    far: float | None = None,
    weighting: str = "uniform",
    pivots: int = 100,
    why: str = "",
    **options: Any,
) -> SparseMap:
    """Map a digraph by its arcs and the distances from and to some pivots; see :func:`embed_graph` for the parameters.

    Returns
    -------
    SparseMap
        The embedding, the part of the graph that it shows, and the distances from and to its pivots.

    Examples
    --------
    >>> from finsler.datasets.city import make_city
    >>> from finsler.recipes import sparse_map
    >>> embedding, graph, pivots = sparse_map(make_city(400).graph, pivots=20)
    >>> embedding.n_points == graph.n_nodes, pivots.n_pivots
    (True, 20)
    """
    # Before the distances, which may take long.
    check_choice("unreachable", unreachable, POLICIES)
    check_choice("connection", connection, ("strong", "weak"))
    check_choice("weighting", weighting, tuple(WEIGHTINGS))
    known = signature(sparse_smacof).parameters
    for name in options:
        if name not in known or name in ("pairs", "arcs", "bound"):
            raise InputTypeError(f"{name} is not an option of a sparse map, which this is (see method).")
    if far is not None and not (unreachable == "hinge" and 0 < far < inf):
        raise InputError(f"far must be a positive number and goes with unreachable='hinge', got {far!r}.")
    digraph, notes = as_digraph(graph), [] if not why else [f"{why}, with {pivots} pivots (see method)."]
    if unreachable == "largest":
        digraph = largest_component(digraph, connection)
    notes = path_provenance(digraph, hops).sentences() + notes
    if digraph.n_nodes < 2:
        raise InputError(" ".join(["There is only one node to map.", *notes]))
    require_one_piece(digraph)
    count: Any = pivots
    if not isinstance(count, Integral) or count < 2:
        raise InputError(f"pivots must be a whole number of at least 2, got {pivots!r}.")
    hops = hops or not digraph.weighted
    # In units of the mean arc: single precision serves lengths of any size.
    unit = 1.0 if hops else _mean_length(digraph)
    scaled = digraph if unit == 1 else digraph.scaled(1 / unit)
    shared = {name: options[name] for name in ("random_state", "n_jobs", "verbose") if name in options}
    data = pivot_distances(scaled, pivots, hops=hops, **shared)
    bound = 0.0
    n_unreachable = data.n_unreachable
    if n_unreachable:
        share = f"{n_unreachable / (2 * data.out_of.size):.1%} of the pairs of nodes and pivots have no path"
        if unreachable == "raise":
            raise InputError(
                f"{share}. Pass unreachable='mask' to leave such pairs out, 'hinge' to keep them far apart, or 'largest' to "
                "keep the largest connected part."
            )
        if unreachable == "hinge":
            bound = data.largest if far is None else far / unit
        notes.append(f"{share}; they are {'kept far apart' if bound else 'left out'}.")
    arcs = ArcPairs.of(scaled, hops)
    solution = sparse_smacof(
        data, n_components, alpha, arcs=arcs, weighting=weighting, bound=bound, **options
    )
    power = WEIGHTINGS[weighting]
    solution = replace(
        solution,
        coordinates=solution.coordinates * unit,
        stress=solution.stress * unit ** (2 - power),
        history=solution.history * unit ** (2 - power),
        total=(solution.total or 0.0) * unit ** (2 - power),
    )
    return SparseMap(Embedding.from_pairs(solution, digraph.labels, " ".join(notes)), digraph, data)


def _mean_length(graph: Digraph) -> float:
    mean = float(graph.matrix.data.mean())
    if not 1 / LARGEST < mean < LARGEST:
        raise InputError(f"The mean length of an arc is {mean:g}; rescale to ordinary magnitudes.")
    return mean


def embed_points(
    points: Any,
    *,
    drift: Any = None,
    current: Any = None,
    metric: Any = None,
    n_components: int = 3,
    alpha: float | str = 0.5,
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    **options: Any,
) -> Embedding:
    """Map points with a drift or a current at each: a sea, a wind, velocities of cells.

    Parameters
    ----------
    points : array-like of shape (n, d) or DataFrame
        One row per point. A DataFrame's index gives the labels.
    drift : array-like of shape (n, d) or (d,), or callable, optional
        Vectors that make going along them dear: a step u costs ``||u|| + drift.u``. A function is given points and
        gives their vectors.
    current : array-like of shape (n, d) or (d,), or callable, optional
        Vectors that make going along them cheap: a step takes the time of a boat of speed 1 in this current.
    metric : pair (M, omega) or callable, optional
        The general case: a step u costs ``sqrt(u' M u) + omega.u``.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift of the map; "auto" fits it to the data.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    labels : sequence, optional
        Names of the points.
    **options
        Further parameters of :class:`~finsler.estimators.isomap.FinslerIsomap`, such as `n_neighbors`.

    Returns
    -------
    Embedding

    Examples
    --------
    A lane in a wind of a third of the boat's speed: 3/4 of a unit of time down the wind, 3/2 against it.

    >>> from finsler import embed_points
    >>> lane = embed_points([[0.0], [0.5], [1.0]], current=[1 / 3], n_neighbors=1, n_components=2)
    >>> round(lane.distance(0, 2), 3), round(lane.distance(2, 0), 3)
    (0.75, 1.5)
    """
    names = None if labels is None else list(labels)
    if names is not None and len(names) != len(points):
        raise InputError(f"labels must have one entry per point: {len(points)} points, {len(names)} labels.")
    isomap = FinslerIsomap(n_components, alpha=alpha, **options)
    isomap.fit(points, drift=drift, current=current, metric=metric, weights=weights)
    if names is None:
        return isomap.result_
    return replace(isomap.result_, labels=[names[i] for i in isomap.kept_.tolist()])
