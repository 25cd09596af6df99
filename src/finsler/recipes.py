"""One line from data to a map."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from finsler._arguments import check_arguments
from finsler.data.attributes import Columns, kept_columns
from finsler.data.frames import labeled
from finsler.data.labels import frame_labels
from finsler.data.located import given_points
from finsler.data.matrix import as_dissimilarities, as_float_array
from finsler.data.pairs import pairs_to_dissimilarities
from finsler.data.pieces import UNREACHABLE, placeable
from finsler.data.provenance import Provenance
from finsler.data.similarities import with_facts
from finsler.data.tables import ORIENTATIONS, TURNED, read_table
from finsler.embedding import Embedding
from finsler.errors import InputError, check_choice
from finsler.estimators.isomap import FinslerIsomap
from finsler.estimators.mds import FinslerMDS
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.distances import choose_method, graph_distances
from finsler.graphs.network import Network
from finsler.graphs.pivots import N_PIVOTS, pivot_graph
from finsler.solvers.backends.memmap import is_dask_array
from finsler.solvers.options import MapOptions, MatrixOptions, SparseOptions, check_names, scaling_of
from finsler.solvers.sparse.solver import Plan, map_graph

CHECKPOINTS = ("checkpoint", "checkpoint_seconds")  # of sparse maps only


class GraphOptions(MapOptions, SparseOptions, total=False):
    """Options of `embed_graph`; some go with sparse maps only."""


class PointOptions(MapOptions, total=False):
    """Further options of `embed_points`, with the defaults of `FinslerIsomap`."""

    n_neighbors: int | str
    radius: float | None
    graph: Any
    zermelo: str
    rule: str
    unreachable: str
    method: str
    n_pivots: int | None
    dtype: DTypeLike


def embed_matrix(
    D: ArrayLike | str | os.PathLike[str],
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    missing: str = "raise",
    unreachable: str = "raise",
    orientation: str = "from-to",
    encoding: str | None = None,
    sheet: str | int | None = None,
    variable: str | None = None,
    **options: Unpack[MatrixOptions],
) -> Embedding:
    """Map a matrix of asymmetric dissimilarities: travel times, costs, confusions.

    Parameters
    ----------
    D : array-like of shape (n, n), data frame, DataArray, path of a file, or Dask array
        Dissimilarities **from row to column**. Labels are the index of a pandas frame, the coordinates of a DataArray, and
        the first column of other frames (polars, pyarrow) if it holds text or the names of the others; and the first
        column or row of a CSV file; :func:`~finsler.data.tables.read_table` tells of all formats that are read. A .npy
        file may be larger than memory.
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
    unreachable : {"raise", "largest"}
        If known pairs leave the points in several groups: refuse, or map the largest one and name the points left out in
        the ``provenance``; NaN and inf are left out then, unless `missing` says otherwise.
    orientation : {"from-to", "to-from"}
        Whether rows are where ways begin, or columns; `weights` are turned with `D`.
    encoding : str, optional
        Encoding of a text file, if not UTF-8: "cp1252" for what Excel saves as plain CSV in western Europe.
    sheet, variable : str, optional
        Sheet of an Excel file, variable of a MATLAB file, table of a routing service's JSON ("durations", "distances").
    **options
        Of the solver, from ``solver`` to ``memory_budget``, with the meanings and defaults that
        :class:`~finsler.estimators.mds.FinslerMDS` gives them: ``n_init``, ``max_iter``, ``random_state`` ...; and how
        data become disparities: ``scaling``, ``ties``, ``conditional``.

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
    check_names("embed_matrix", options, MatrixOptions)
    check_arguments(embed_matrix, locals(), besides=("D", "weights"))
    check_choice("unreachable", unreachable, UNREACHABLE)
    check_choice("orientation", orientation, ORIENTATIONS)
    missing = "mask" if missing == "raise" and unreachable == "largest" else missing
    mds = FinslerMDS(n_components, alpha=alpha, missing=missing, **options)
    path = os.fspath(D) if isinstance(D, str | os.PathLike) else None
    turned, plain = orientation == "to-from", unreachable == "raise" and orientation == "from-to"
    limited = isinstance(D, np.ndarray) and options.get("memory_budget") is not None
    if plain and ((path or "").endswith(".npy") or isinstance(D, np.memmap) or is_dask_array(D) or limited):
        # These may be larger than memory: the estimator finds out, and solves them where they are.
        return _relabeled(mds.fit(D, weights=weights).result_, labels)
    values: Any = D
    facts, about = Provenance(kind="matrix"), Columns()
    if path is not None:
        chosen: dict[str, Any] = {"sheet": sheet, "variable": variable, "orientation": orientation}
        table = read_table(path, kind="matrix", encoding=encoding, **chosen)
        values, labels, facts = table.values, table.labels if labels is None else labels, table.provenance
        about = table.attributes
    elif turned:
        labels = frame_labels(labeled(D), "D") if labels is None else labels
        values, facts = as_float_array(labeled(D), "D").T, facts.having(remarks=[TURNED])
    if turned and weights is not None:
        weights = as_float_array(labeled(weights), "weights").T
    data = as_dissimilarities(
        values, weights, labels=labels, missing=missing, negative=scaling_of(options).negative
    )
    if data is not values:  # else they say themselves where they come from
        data = with_facts(data, facts)
    kept = placeable(data, unreachable)
    return replace(mds.fit(kept).result_, attributes=kept_columns(about, data.labels, kept.labels))


def embed_pairs(
    table: Any,
    *,
    source: Any = None,
    target: Any = None,
    value: Any = None,
    similarity: str | None = None,
    zeros: str = "missing",
    missing: str = "mask",
    unreachable: str = "raise",
    aggregate: str | None = None,
    where: Any = None,
    n_components: int = 2,
    alpha: float | str = "auto",
    encoding: str | None = None,
    sheet: str | int | None = None,
    **options: Unpack[MatrixOptions],
) -> Embedding:
    """Map measured pairs in a long table: origin, destination, seconds. No paths: a pair that is not there is missing.

    Parameters
    ----------
    table : data frame, dict of columns, list of tuples, or path of a file
        A frame of pandas, polars or pyarrow, or a DataArray of two dimensions; tuples are (source, target, value).
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
    unreachable : {"raise", "largest"}
        As in :func:`embed_matrix`; with `similarity`, places from which nothing goes to others are left out, too.
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
    sheet : str or int, optional
        Sheet of an Excel file.
    **options
        As of :func:`embed_matrix`.

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
    check_names("embed_pairs", options, MatrixOptions)
    check_arguments(embed_pairs, locals())
    data = pairs_to_dissimilarities(
        table,
        similarity=similarity,
        zeros=zeros,
        missing=missing,
        unreachable=unreachable,
        aggregate=aggregate,
        negative=scaling_of(options).negative,
        source=source,
        target=target,
        value="auto" if value is None else value,
        where=where,
        encoding=encoding,
        sheet=sheet,
    )
    return FinslerMDS(n_components, alpha=alpha, **options).fit(data).result_


def embed_graph(
    graph: Any,
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    weight: Any = "auto",
    directed: bool | None = None,
    duplicates: str = "min",
    source: Any = None,
    target: Any = None,
    hops: bool = False,
    nodes: Sequence[Any] | None = None,
    unreachable: str = "mask",
    connection: str | None = None,
    far: float | None = None,
    weighting: str = "uniform",
    method: str = "auto",
    n_pivots: int | None = None,
    **options: Unpack[GraphOptions],
) -> Embedding:
    """Map a digraph by the lengths of its shortest paths.

    Parameters
    ----------
    graph : networkx or igraph graph, scipy sparse matrix, data frame of arcs, arrays of arcs, Digraph, or a file
        Arcs carry lengths: bigger is farther.
    n_components, alpha
        As in :func:`embed_matrix`.
    weight, directed, duplicates, source, target
        How to read it: attribute or column of the lengths, directions, repeated arcs, columns of the two ends; see
        :func:`~finsler.graphs.digraph.as_digraph`.
    hops : bool
        Count arcs instead of adding their lengths.
    nodes : sequence of labels, optional
        Map only these nodes; paths still run through the whole graph. Such a map is dense.
    unreachable : {"mask", "largest", "hinge", "raise"}
        What to do with ordered pairs that have no path: leave them out, keep the largest connected part, keep them far
        apart, or refuse. The ``provenance`` of the result tells what was left out.
    connection : {"strong", "weak"}, optional
        Map only the largest part that is connected so. ``unreachable="hinge", connection="weak"`` shows a bow-tie: what
        leads into the core of a digraph on top, what it leads to below.
    far, weighting
        See :func:`~finsler.graphs.distances.graph_distances`.
    method : {"auto", "dense", "sparse"}
        All pairs of nodes ("dense"), or the arcs and the pairs with some pivots ("sparse"). "auto" is dense up to 5,000
        nodes, and with `nodes` or ``solver="classical"``; the ``provenance`` of the result tells.
    n_pivots : int, optional
        Pivots of a sparse map, 100 by default.
    **options
        Those of :func:`embed_matrix` without ``memory_budget``. The defaults of ``max_iter`` and ``tol`` are coarser for
        a sparse map, which depends on ``random_state`` in any case. With ``method="sparse"``: ``checkpoint`` and
        ``checkpoint_seconds``, see :func:`~finsler.solvers.sparse.solver.sparse_smacof`.

    Returns
    -------
    Embedding
        The stress of a sparse map is over its pairs; its ``held_out`` holds scores on others.

    Examples
    --------
    >>> from finsler import embed_graph
    >>> streets = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "a", 3), ("a", "c", 2), ("c", "a", 2)]
    >>> town = embed_graph(streets, alpha=0.3)
    >>> town.labels
    ['a', 'b', 'c', 'd']
    """
    check_names("embed_graph", options, GraphOptions)
    check_arguments(embed_graph, locals())
    found = as_digraph(
        graph, weight=weight, directed=directed, duplicates=duplicates, source=source, target=target
    )
    measure: dict[str, Any] = {"hops": hops, "unreachable": unreachable, "connection": connection, "far": far}
    given: dict[str, Any] = dict(options)
    dense_only = {"nodes": nodes is not None, "solver='classical'": options.get("solver") == "classical"}
    sparse_only = {"n_pivots": n_pivots is not None, **dict.fromkeys({*options} & {*CHECKPOINTS}, True)}
    if choose_method(method, found.n_nodes, dense_only, sparse_only) == "sparse":
        given.pop("solver", None)
        plan = Plan.of("embed_graph", n_components, alpha, weighting, cast(SparseOptions, given))
        measured = pivot_graph(found, N_PIVOTS if n_pivots is None else n_pivots, **measure, **plan.running)
        solution, scores = map_graph(measured, plan)
        facts = measured.provenance.having(chosen=method == "auto")
        mapped = Embedding.from_solution(
            solution, labels=measured.graph.labels, provenance=facts, held_out=scores
        )
        return _with_network(mapped, Network.whole(measured.graph))
    shared = {name: given[name] for name in ("n_jobs", "verbose") if name in given}
    data = graph_distances(found, nodes=nodes, weighting=weighting, **measure, **shared)
    facts = data.provenance.having(method="dense")
    if n_pivots is not None:
        facts = facts.having(
            remarks=(*facts.remarks, "All pairs of nodes count; n_pivots is for sparse maps.")
        )
    mapped = FinslerMDS(n_components, alpha=alpha, **given).fit(replace(data, provenance=facts)).result_
    names = range(mapped.n_points) if mapped.labels is None else mapped.labels
    return _with_network(mapped, Network(found, found.index.positions(names)))


def _with_network(mapped: Embedding, network: Network) -> Embedding:
    """The map with the digraph behind it, and what that knows of its points."""
    return replace(mapped, network=network, attributes={**mapped.attributes, **network.attributes})


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
    speed: float | str | None = None,
    coordinates: str = "auto",
    **options: Unpack[PointOptions],
) -> Embedding:
    """Map points with a drift or a current at each: a sea, a wind, velocities of cells.

    Parameters
    ----------
    points : array-like of shape (n, d), data frame, or path of a file
        One row per point. Labels are found as in :func:`embed_matrix`. A file, or a frame without `drift`, `current` and
        `metric`, may hold the vectors in columns whose names tell (``x, y, u, v``; ``PC1, ..., V1, ...``; see
        `finsler.data.tables`); points that lack a number are left out then, and named in the ``provenance``.
    drift : array-like of shape (n, d) or (d,), or callable, optional
        Vectors that make going along them costly: a step u costs ``||u|| + drift.u``. A function is given points and
        gives their vectors.
    current : array-like of shape (n, d) or (d,), or callable, optional
        Vectors that make going along them cheap: a step takes the time of a boat in this current.
    speed : float or "auto", optional
        Speed of the boat, 1 by default. "auto" is the speed of which the fastest vector has 60 %, which is said.
    coordinates : {"auto", "plane", "sphere"}
        Lengths; or "sphere": longitude and latitude in degrees, with vectors to the east and north, which become places
        on the globe in meters. Columns that are called lon and lat must be told to be one or the other.
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
        ``n_neighbors``, ``radius``, ``graph``, ``zermelo``, ``rule``, ``unreachable``, ``dtype``, and ``method`` and
        ``n_pivots`` for points too many for all pairs: see :class:`~finsler.estimators.isomap.FinslerIsomap`; and those
        of :func:`embed_matrix` without ``memory_budget``.

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
    check_names("embed_points", options, PointOptions)
    check_arguments(embed_points, locals(), besides=("points", "drift", "current"))
    given = given_points(points, drift, current, metric, labels, speed, coordinates)
    labels = given.labels
    rows = hasattr(given.points, "__len__") and getattr(given.points, "ndim", 1) > 0
    n = (
        (getattr(given.points, "shape", None) or (len(given.points),))[0] if rows else 2
    )  # FinslerIsomap refuses these
    if n < 2:
        raise InputError(f"must hold at least two points, found {n}.", argument="points")
    if labels is not None and rows and len(labels) != n:
        raise InputError(f"labels must have one entry per point: {n} points, {len(labels)} labels.")
    isomap = FinslerIsomap(n_components, alpha=alpha, **options)
    isomap.fit(given.points, drift=given.drift, current=given.current, metric=metric, weights=weights)
    kept = isomap.kept_
    result = _relabeled(isomap.result_, None if labels is None else [labels[i] for i in kept])
    about = {name: values[kept] for name, values in given.attributes.items()}
    behind = Digraph(isomap.neighbors_graph_, result.labels, result.provenance, about)
    result = replace(result, provenance=result.provenance.having(**given.facts))
    return _with_network(result, Network.whole(behind))


def _relabeled(found: Embedding, labels: Sequence[Any] | None) -> Embedding:
    if labels is None:
        return found
    if len(labels) != found.n_points:
        raise InputError(f"labels must have one entry per point: {found.n_points}, got {len(labels)}.")
    return replace(found, labels=list(labels))
