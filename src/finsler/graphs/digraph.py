"""Digraphs from whatever holds one: networkx, igraph, scipy sparse, data frames, numpy, lists of arcs, files.

An arc goes **from its row to its column** and carries a length: bigger is farther. No package is imported
unless the object comes from it.

Order of the nodes
    Graph objects and matrices keep their own. In a list of arcs the nodes are those that appear: sorted if
    all are integers, otherwise by first appearance.
Length zero
    Zero is a length. A sparse matrix may store it and a list may say it; in a dense matrix zero is "no arc".
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from finsler._arguments import check_arguments
from finsler._memory import require_memory
from finsler._runtime import cached_property
from finsler.data.frames import is_data_array, narwhals_frame
from finsler.data.labels import LabelIndex
from finsler.data.provenance import Provenance, count
from finsler.errors import InputError, InputTypeError, check_choice, shown
from finsler.geometry import components
from finsler.graphs import arcs as arc_lists
from finsler.graphs.arcs import Arcs

if TYPE_CHECKING:
    from finsler.graphs.routes import Route

_MERGE = {"min": np.minimum, "max": np.maximum, "sum": np.add, "raise": np.minimum}


class ArcArrays(NamedTuple):
    """Arcs as kernels take them: those that leave node u are at ``indptr[u]:indptr[u + 1]`` of the other two."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.uint32]
    lengths: NDArray[np.float64]

    @classmethod
    def of(cls, matrix: Any) -> ArcArrays:
        """Arcs of a CSR matrix."""
        return cls(matrix.indptr.astype(np.int64), matrix.indices.astype(np.uint32), matrix.data)

    def turned(self) -> ArcArrays:
        """Every arc turned round."""
        n = len(self.indptr) - 1
        return self.of(csr_array((self.lengths, self.indices, self.indptr), shape=(n, n)).T.tocsr())


@dataclass(frozen=True, eq=False, repr=False)
class Digraph:
    """A directed graph with lengths; made by `as_digraph` and `finsler.graphs.readers.read_graph`.

    It is checked when it is made, and trusted by everything that takes one.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array of shape (N, N)
        Every stored entry, zero too, is an arc from its row to its column; its value is the length.
    labels : list or None
        Name of each node; None when the names are 0..N-1.
    provenance : Provenance
        Where the arcs and their lengths come from; self-loops that were dropped, repeated arcs that were merged, and
        the nodes that `subgraph` and `largest_component` left out.
    attributes : dict of ndarray of shape (N,)
        What else is known of the nodes, by name: numbers or words.

    Examples
    --------
    >>> as_digraph([("a", "b", 2.0), ("b", "a", 3.0), ("b", "c", 0.5)])
    Digraph: 3 nodes, 3 arcs, lengths 0.5 to 3
    """

    matrix: Any
    labels: list[Any] | None = None
    provenance: Provenance = field(default_factory=lambda: Provenance(kind="edges"))
    attributes: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_matrix(self.matrix, self.labels)

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return int(self.matrix.shape[0])

    @property
    def n_arcs(self) -> int:
        """Number of arcs, those of length zero included."""
        return int(self.matrix.nnz)

    @property
    def nodes(self) -> list[Any]:
        """The names of the nodes: `labels`, or 0..N-1."""
        return list(range(self.n_nodes)) if self.labels is None else list(self.labels)

    @cached_property
    def weighted(self) -> bool:
        """Whether any length is not one; else lengths of paths count arcs."""
        return bool(np.any(self.matrix.data != 1))

    @cached_property
    def index(self) -> LabelIndex:
        """Positions of the nodes by their names."""
        return LabelIndex(self.labels, self.n_nodes, "node")

    @cached_property
    def arcs(self) -> ArcArrays:
        """The arcs by the nodes that they leave."""
        return ArcArrays.of(self.matrix)

    @cached_property
    def reversed_arcs(self) -> ArcArrays:
        """The arcs by the nodes that they enter, turned round."""
        return self.arcs.turned()

    def describe(self) -> str:
        """Say in one line what the graph is."""
        facts = self.provenance
        parts = [count(self.n_nodes, "node"), count(self.n_arcs, "arc")]
        if not self.weighted:
            parts.append("unweighted")
        elif self.n_arcs:
            name = f" ({facts.columns['value']})" if "value" in facts.columns else ""
            parts.append(f"lengths {self.matrix.data.min():.4g} to {self.matrix.data.max():.4g}{name}")
        if facts.n_self_loops:
            parts.append(count(facts.n_self_loops, "self-loop") + " dropped")
        if facts.n_duplicates:
            parts.append(count(facts.n_duplicates, "duplicate") + " merged")
        if facts.left_out:
            parts.append(count(len(facts.left_out), "node") + " left out")
        return "Digraph: " + ", ".join(parts)

    __repr__ = describe

    def scaled(self, factor: float) -> Digraph:
        """Give the graph with all lengths multiplied by a positive number."""
        check_arguments(Digraph.scaled, locals())
        old = self.matrix
        return replace(self, matrix=csr_array((old.data * factor, old.indices, old.indptr), shape=old.shape))

    def route(self, a: Any, b: Any) -> Route:
        """Find the fastest way from node a to node b and the way back, see :class:`finsler.graphs.routes.Route`."""
        from finsler.graphs.routes import route

        return route(self, self.index.position(a), self.index.position(b), named=(a, b))

    def subgraph(self, indices: Sequence[int] | np.ndarray) -> Digraph:
        """Keep the nodes at some positions, in the order given (or where N booleans are true), and the arcs between them.

        Its labels are those of the nodes kept: their positions in this graph, if it has no labels.

        Examples
        --------
        >>> as_digraph([("a", "b"), ("b", "c"), ("c", "a")]).subgraph([2, 0]).labels
        ['c', 'a']
        """
        check_arguments(Digraph.subgraph, locals())
        kept = np.asarray(indices)
        if kept.dtype == bool and kept.shape == (self.n_nodes,):
            kept = np.flatnonzero(kept)
        absent = np.ones(self.n_nodes, bool)
        if kept.ndim == 1 and kept.dtype.kind in "iu" and (absent.size > kept).all() and (kept >= 0).all():
            absent[kept] = False
        if not kept.size or absent.sum() + kept.size != absent.size:
            raise InputError(
                f"indices must be positions of nodes, 0 to {self.n_nodes - 1}, some and each once, or {self.n_nodes} "
                f"booleans; found shape {kept.shape} and dtype {kept.dtype}."
            )
        matrix = csr_array(self.matrix[kept][:, kept])
        matrix.sort_indices()
        names = self.nodes
        facts = self.provenance.having(left_out=[names[i] for i in np.flatnonzero(absent).tolist()])
        about = {name: values[kept] for name, values in self.attributes.items()}
        return Digraph(matrix, _unless_range([names[i] for i in kept.tolist()]), facts, about)


def largest_component(graph: Digraph, connection: str = "strong") -> Digraph:
    """Keep the largest set of nodes that are connected with each other.

    Parameters
    ----------
    graph : Digraph
    connection : {"strong", "weak"}
        "strong": each node can be reached from each other one; "weak": the same, whatever the directions.

    Returns
    -------
    Digraph
        With the labels of its nodes; ``provenance.left_out`` names the others. Among components of one size, the one
        with the first node is kept. The graph itself, if that is all of it.

    Examples
    --------
    >>> largest_component(as_digraph([("a", "b"), ("b", "a"), ("b", "c")]))
    Digraph: 2 nodes, 2 arcs, unweighted, 1 node left out
    """
    check_arguments(largest_component, locals())
    check_choice("connection", connection, ("strong", "weak"))
    kept = components.largest_component(components.graph_components(graph.matrix, connection))
    return graph if len(kept) == graph.n_nodes else graph.subgraph(kept)


def as_digraph(
    graph: Any,
    *,
    weight: Any = "auto",
    directed: bool | None = None,
    labels: Iterable[Hashable] | None = None,
    duplicates: str = "min",
    kind: str = "auto",
    source: Any = None,
    target: Any = None,
) -> Digraph:
    """Convert to a `Digraph`; what is dropped or merged is counted, and a warning says it.

    Parameters
    ----------
    graph : object
        * networkx or igraph graph of any kind; an undirected edge becomes two arcs;
        * scipy sparse matrix: each stored entry is a length; of booleans: each True is an arc;
        * square numpy array: 0 (or False) is "no arc";
        * tuple ``(source, target)`` or ``(source, target, length)`` of *columns*;
        * list of tuples, or array of shape (E, 2) or (E, 3): one *row* per arc;
        * data frame of arcs (pandas, polars, pyarrow ...), or a DataArray of xarray, where NaN is "no arc";
        * path of a file, see `finsler.graphs.readers.read_graph`;
        * `Digraph`, which is returned as is when no option asks for a change.
    weight : "auto", None or name
        Attribute or column that holds the lengths; None gives every arc the length one. "auto" takes the values of a
        matrix and the third column of a list. Of a graph it takes the attribute, and of a table the column, called
        weight, else the only one with the name of a length (length, travel_time, distance, cost, time, duration,
        minutes ...), else the third of three columns. Several such names, or that of a flow (trips, volume ...), which
        is no length, are refused; where there is none, every arc counts as one. ``provenance`` says which it was.
    directed : bool, optional
        None follows the input; lists and matrices are directed. False reads each arc both ways. True
        refuses an undirected input.
    labels : iterable, optional
        Names of the nodes in order, for a graph or matrix. For a list of arcs, the nodes and their order:
        every end must be among them, and nodes without arcs may be. Integer ends with labels that are not
        integers are positions in ``labels``.
    duplicates : {"min", "max", "sum", "raise"}
        Length of an arc that is given several times (with ``directed=False``, in any direction).
    kind : {"auto", "arcs", "adjacency"}
        What an array is: "auto" decides by its shape and refuses where both are possible. A data frame
        is a list of arcs unless this says "adjacency"; the labels of its rows must then be those of its columns.
    source, target : name or position, optional
        Columns of a table; otherwise recognized by name (source, src, from ...), else the first two.

    Returns
    -------
    Digraph

    Examples
    --------
    >>> graph = as_digraph((["home", "work"], ["work", "home"], [25.0, 40.0]))
    >>> graph.labels
    ['home', 'work']
    >>> graph.matrix.toarray()
    array([[ 0., 25.],
           [40.,  0.]])
    """
    check_arguments(as_digraph, locals())
    check_choice("kind", kind, ("auto", "arcs", "adjacency"))
    as_it_is = isinstance(weight, str) and weight == "auto" and directed is not False
    if isinstance(graph, Digraph) and as_it_is and labels is source is target is None:
        return graph
    digraph = assemble(_arcs_of(graph, weight, labels, kind, source, target), directed, duplicates)
    if isinstance(graph, Digraph):
        facts = _facts_of_both(graph.provenance, digraph.provenance)
        return replace(digraph, provenance=facts, attributes=graph.attributes)
    return digraph


def _arcs_of(graph: Any, weight: Any, labels: Any, kind: str, source: Any, target: Any) -> Arcs:
    """Arcs of whatever `as_digraph` takes, before anything is cleaned."""
    if isinstance(graph, str | os.PathLike):
        from finsler.graphs import readers as graph_files  # here, because that module builds on this one

        columns = {"source": source, "target": target}
        return graph_files.read_arcs(graph, None if kind == "auto" else kind, weight, labels, columns)
    kind_of = type(graph).__name__
    if is_data_array(graph) or narwhals_frame(graph) is not None:
        return arc_lists.frame_arcs(graph, weight, labels, kind, source, target)._replace(source=kind_of)
    if source is not None or target is not None:
        raise InputError(f"source and target name columns of a table; {kind_of} has none.")
    if isinstance(graph, Digraph):
        arcs = arc_lists.matrix_arcs(graph.matrix, weight, graph.nodes if labels is None else labels)
    elif _comes_from("networkx", graph) and hasattr(graph, "is_directed"):
        arcs = arc_lists.networkx_arcs(graph, weight, labels)
    elif _comes_from("igraph", graph) and hasattr(graph, "is_directed"):
        arcs = arc_lists.igraph_arcs(graph, weight, labels)
    elif issparse(graph):
        arcs = arc_lists.matrix_arcs(graph, weight, labels)
    elif isinstance(graph, np.ndarray):
        arcs = arc_lists.array_arcs(graph, weight, labels, kind)
    elif isinstance(graph, tuple) and len(graph) in (2, 3):
        arcs = arc_lists.column_arcs(graph, weight, labels)
    elif isinstance(graph, list):
        arcs = arc_lists.row_arcs(graph, weight, labels)
    else:
        raise InputTypeError(
            f"graph is a {kind_of}; expected a networkx or igraph graph, a scipy sparse matrix, a numpy array, a data "
            "frame, a tuple (source, target[, length]), a list of arcs or a path."
        )
    return arcs._replace(source=kind_of)


def assemble(arcs: Arcs, directed: bool | None, duplicates: str) -> Digraph:
    """Drop self-loops, refuse bad lengths, merge duplicates, mirror if undirected; warn of what was changed."""
    check_choice("duplicates", duplicates, _MERGE)
    if directed not in (None, True, False):
        raise InputError(f"directed must be True, False or None; found {directed!r}.")
    if directed and not arcs.directed:
        raise InputError("directed=True, but the graph is undirected; directed=None gives arcs both ways.")
    if arcs.n_nodes == 0:
        raise InputError("The graph has no nodes.")
    require_nodes(arcs.n_nodes)
    labels = _unless_range(arcs.labels)

    def name(position: int) -> str:
        row, column = int(arcs.rows[position]), int(arcs.columns[position])
        row, column = (row, column) if labels is None else (labels[row], labels[column])
        return f"the arc from {row!r} to {column!r}"

    proper = np.flatnonzero(arcs.rows != arcs.columns)
    rows, columns = arcs.rows[proper].astype(np.int64), arcs.columns[proper].astype(np.int64)
    self_loops = arcs.rows.size - proper.size
    if not rows.size and arcs.n_nodes > 1:
        dropped = f" between different nodes ({count(self_loops, 'self-loop')})" if self_loops else ""
        raise InputError(f"The graph has {arcs.n_nodes} nodes and no arcs{dropped}.")
    lengths = np.ones(rows.size) if arcs.lengths is None else _lengths(arcs.lengths, proper, name)
    bad = np.flatnonzero(~((lengths >= 0) & np.isfinite(lengths)))
    if bad.size:
        raise InputError(
            f"Lengths must be finite and not negative; {name(proper[bad[0]])} has {lengths[bad[0]]} "
            f"({bad.size} of {lengths.size} arcs are bad). Leave out what is no arc; turn similarities into "
            "lengths first, or use weight=None to count arcs."
        )

    both_ways = not arcs.directed or directed is False
    if both_ways:
        rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    key = rows * arcs.n_nodes + columns
    order = np.argsort(key, kind="stable")
    key = key[order]
    again = np.flatnonzero(key[1:] == key[:-1])
    if again.size and duplicates == "raise":
        repeated = name(proper[order[again[0] + 1]])
        raise InputError(f"duplicates='raise': {repeated} was given before ({again.size} such arcs).")
    starts = np.delete(np.arange(key.size), again + 1)
    lengths = _MERGE[duplicates].reduceat(lengths[order], starts) if key.size else lengths
    rows, columns = rows[order[starts]], columns[order[starts]]
    if both_ways:
        rows, columns = np.concatenate([rows, columns]), np.concatenate([columns, rows])
        lengths = np.concatenate([lengths, lengths])
    matrix = coo_array((lengths, (rows, columns)), shape=(arcs.n_nodes,) * 2).tocsr()
    matrix.sort_indices()
    repairs = [f"dropped {count(self_loops, 'self-loop')}"] if self_loops else []
    repairs += [f"merged {count(again.size, 'repeated arc')} ({duplicates=})"] if again.size else []
    if repairs:  # said where the caller's caller is
        warnings.warn(f"The graph was simplified: {', '.join(repairs)}.", UserWarning, stacklevel=3)
    facts = Provenance(
        arcs.source,
        "edges",
        dict(arcs.names or {}),
        counts_arcs="value" not in (arcs.names or {}) and not np.any(lengths != 1),
        n_duplicates=int(again.size),
        aggregate=duplicates if again.size else "",
        n_self_loops=int(self_loops),
        n_comments=arcs.n_comments,
        n_graphs_skipped=arcs.n_graphs_skipped,
        left_out=arcs.left_out,
        remarks=arcs.remarks,
    )
    return Digraph(matrix, labels, facts, arcs.about or {})


def require_nodes(n_nodes: int) -> None:
    """Refuse so many nodes that an array of them does not fit, as a damaged file may claim."""
    require_memory(64.0 * n_nodes, f"A graph of {n_nodes:,} nodes", "Number the nodes from 0, without gaps.")


def check_matrix(matrix: Any, labels: Sequence[Any] | None) -> None:
    """Refuse what is not a CSR array of lengths, float64, sorted, without self-loops; `as_digraph` makes one."""
    cure = "as_digraph makes a Digraph from any matrix."
    if not issparse(matrix) or matrix.format != "csr" or len(set(matrix.shape)) != 1:
        raise InputTypeError(f"matrix must be a square CSR array, found {type(matrix).__name__}; {cure}")
    if matrix.dtype != np.float64 or not matrix.has_canonical_format:
        raise InputError(f"matrix must hold float64, sorted and no entry twice, found {matrix.dtype}; {cure}")
    if matrix.nnz and not (matrix.data.min() >= 0 and matrix.data.max() < np.inf):
        raise InputError(f"matrix must hold lengths that are finite and not negative; {cure}")
    if matrix.diagonal().any():
        raise InputError(f"matrix must not hold arcs from a node to itself; {cure}")
    if labels is not None and len(labels) != matrix.shape[0]:
        raise InputError(f"labels must be as many as the {matrix.shape[0]} nodes, found {len(labels)}.")


def _facts_of_both(before: Provenance, after: Provenance) -> Provenance:
    columns = {} if after.counts_arcs else before.columns
    return before.having(
        columns=columns,
        counts_arcs=after.counts_arcs and "value" not in columns,
        n_duplicates=before.n_duplicates + after.n_duplicates,
        aggregate=after.aggregate or before.aggregate,
    )


def _lengths(values: Any, kept: np.ndarray, name: Callable[[int], str]) -> np.ndarray:
    """Lengths as numbers; those that a file keeps as text are numbers, too."""
    array = values if isinstance(values, np.ndarray) else np.fromiter(values, dtype=object)
    if array.dtype.kind in "biuf" or set(map(type, array)) <= {float, int}:
        with suppress(OverflowError):  # an integer of hundreds of digits: it is named below
            return array[kept].astype(np.float64)
    result = np.empty(kept.size)
    for i, position in enumerate(kept):
        value = array[position]
        try:
            if np.iscomplexobj(value) or "_" in str(value):  # both of which Python would allow
                raise TypeError
            result[i] = float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"The length of {name(position)} is {shown(value)}, not a number that can be used. "
                "Say with weight= where the lengths are, or weight=None to count arcs."
            ) from None
    return result


def _unless_range(names: list[Any] | None) -> list[Any] | None:
    return None if names is None or names == list(range(len(names))) else names


def _comes_from(package: str, thing: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == package for kind in type(thing).__mro__)
