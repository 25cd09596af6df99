"""Digraphs from whatever holds one: networkx, igraph, scipy sparse, pandas, numpy, lists of arcs, files.

An arc goes **from its row to its column** and carries a length: bigger is farther. No package is imported
unless the object comes from it.

Order of the nodes
    Graph objects and matrices keep their own. In a list of arcs the nodes are those that appear: sorted if
    all are integers, otherwise by first appearance, row by row, source before target.
Length zero
    Zero is a length. A sparse matrix may store it and a list may say it; in a dense matrix zero is "no arc".
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy.sparse import coo_array, csr_array, issparse

from finsler.data.labels import LabelIndex
from finsler.errors import InputError, InputTypeError
from finsler.geometry import components
from finsler.graphs import arcs as arc_lists
from finsler.graphs.arcs import Arcs

_MERGE = {"min": np.minimum, "max": np.maximum, "sum": np.add, "raise": np.minimum}


@dataclass(frozen=True, eq=False, repr=False)
class Digraph:
    """A directed graph with lengths; made by `as_digraph` and `finsler.graphs.readers.read_graph`.

    Attributes
    ----------
    matrix : scipy.sparse.csr_array of shape (N, N)
        Every stored entry, zero too, is an arc from its row to its column; its value is the length.
    labels : list or None
        Name of each node; None when the names are 0..N-1.
    weighted : bool
        False when every length is one: lengths of paths count arcs.
    self_loops, duplicates : int
        Arcs from a node to itself that were dropped, and repeated arcs that were merged into another.
    left_out : int
        Nodes that `subgraph` and `largest_component` left out.

    Examples
    --------
    >>> as_digraph([("a", "b", 2.0), ("b", "a", 3.0), ("b", "c", 0.5)])
    Digraph: 3 nodes, 3 arcs, lengths 0.5 to 3
    """

    matrix: Any
    labels: list[Any] | None = None
    weighted: bool = True
    self_loops: int = 0
    duplicates: int = 0
    left_out: int = 0

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
    def index(self) -> LabelIndex:
        """Positions of the nodes by their names."""
        return LabelIndex(self.labels, self.n_nodes, "node")

    def describe(self) -> str:
        """Say in one line what the graph is.

        Examples
        --------
        >>> as_digraph(([0, 1, 2], [1, 2, 0])).describe()
        'Digraph: 3 nodes, 3 arcs, unweighted'
        """
        parts = [_count(self.n_nodes, "node"), _count(self.n_arcs, "arc")]
        if not self.weighted:
            parts.append("unweighted")
        elif self.n_arcs:
            parts.append(f"lengths {self.matrix.data.min():.4g} to {self.matrix.data.max():.4g}")
        if self.self_loops:
            parts.append(_count(self.self_loops, "self-loop") + " dropped")
        if self.duplicates:
            parts.append(_count(self.duplicates, "duplicate") + " merged")
        if self.left_out:
            parts.append(_count(self.left_out, "node") + " left out")
        return "Digraph: " + ", ".join(parts)

    def __repr__(self) -> str:
        return self.describe()

    def subgraph(self, indices: Sequence[int] | np.ndarray) -> Digraph:
        """Keep some nodes, in the order given, and the arcs between them.

        Parameters
        ----------
        indices : array of integers, or of N booleans
            Positions of the nodes to keep.

        Returns
        -------
        Digraph
            Its labels are those of the nodes kept (their positions in this graph, if it has no labels).

        Examples
        --------
        >>> as_digraph([("a", "b"), ("b", "c"), ("c", "a")]).subgraph([2, 0]).labels
        ['c', 'a']
        """
        kept = np.asarray(indices)
        if kept.dtype == bool and kept.shape == (self.n_nodes,):
            kept = np.flatnonzero(kept)
        if kept.ndim != 1 or kept.size == 0 or kept.dtype.kind not in "iu":
            raise InputError(
                f"indices must be a non-empty list of node positions or {self.n_nodes} booleans; "
                f"found shape {kept.shape}, dtype {kept.dtype}."
            )
        outside = kept[(kept < 0) | (kept >= self.n_nodes)]
        if outside.size:
            raise IndexError(f"indices must be within 0..{self.n_nodes - 1}; found {outside[0]}.")
        if np.unique(kept).size < kept.size:
            raise InputError("indices must name each node once; some are repeated.")
        matrix = csr_array(self.matrix[kept][:, kept])
        matrix.sort_indices()
        names = self.nodes
        return replace(
            self,
            matrix=matrix,
            labels=_unless_range([names[i] for i in kept.tolist()]),
            weighted=bool(np.any(matrix.data != 1)),
            left_out=self.left_out + self.n_nodes - kept.size,
        )


def largest_component(graph: Digraph, connection: Literal["strong", "weak"] = "strong") -> Digraph:
    """Keep the largest set of nodes that are connected with each other.

    Parameters
    ----------
    graph : Digraph
    connection : {"strong", "weak"}
        "strong": each node can be reached from each other one; "weak": the same, whatever the directions.

    Returns
    -------
    Digraph
        With the labels of its nodes; ``left_out`` says how many nodes were left out. Among components of
        one size, the one with the first node is kept.

    Examples
    --------
    >>> graph = as_digraph([("a", "b"), ("b", "a"), ("b", "c")])
    >>> largest_component(graph)
    Digraph: 2 nodes, 2 arcs, unweighted, 1 node left out
    """
    if connection not in ("strong", "weak"):
        raise InputError(f"connection must be 'strong' or 'weak'; found {connection!r}.")
    return graph.subgraph(components.largest_component(components.graph_components(graph.matrix, connection)))


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
        * pandas table of arcs;
        * path of a file, see `finsler.graphs.readers.read_graph`;
        * `Digraph`, which is returned as is when no option asks for a change.
    weight : "auto", None or name
        Attribute or column that holds the lengths; None gives every arc the length one. "auto" takes the
        values of a matrix, the third column of a list, the attribute "weight" if an edge has it, and of a
        table the column called weight, length, distance or cost, else the third of three.
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
        What an array is: "auto" decides by its shape and refuses where both are possible. A pandas table
        is a list of arcs unless this says "adjacency"; its index must then equal its columns.
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
    if kind not in ("auto", "arcs", "adjacency"):
        raise InputError(f"kind must be 'auto', 'arcs' or 'adjacency'; found {kind!r}.")
    as_it_is = weight == "auto" and directed is not False and labels is source is target is None
    if isinstance(graph, Digraph) and as_it_is:
        return graph
    arcs = _arcs_of(graph, weight, labels, kind, source, target)
    digraph = assemble(arcs, directed, duplicates)
    warn_of_repairs(digraph, duplicates)
    return digraph


def _arcs_of(graph: Any, weight: Any, labels: Any, kind: str, source: Any, target: Any) -> Arcs:
    """Arcs of whatever `as_digraph` takes, before anything is cleaned."""
    if isinstance(graph, str | os.PathLike):
        from finsler.graphs import readers as graph_files  # here, because that module builds on this one

        layout = graph_files.TextLayout(source, target)
        return graph_files.read_arcs(graph, None if kind == "auto" else kind, weight, labels, layout)
    if _comes_from("pandas", graph) and hasattr(graph, "columns"):
        return arc_lists.frame_arcs(graph, weight, labels, kind, source, target)
    if source is not None or target is not None:
        raise InputError(f"source and target name columns of a table; {type(graph).__name__} has none.")
    if isinstance(graph, Digraph):
        return arc_lists.matrix_arcs(graph.matrix, weight, graph.nodes if labels is None else labels)
    if _comes_from("networkx", graph) and hasattr(graph, "is_directed"):
        return arc_lists.networkx_arcs(graph, weight, labels)
    if _comes_from("igraph", graph) and hasattr(graph, "is_directed"):
        return arc_lists.igraph_arcs(graph, weight, labels)
    if issparse(graph):
        return arc_lists.matrix_arcs(graph, weight, labels)
    if isinstance(graph, np.ndarray):
        return arc_lists.array_arcs(graph, weight, labels, kind)
    if isinstance(graph, tuple) and len(graph) in (2, 3):
        return arc_lists.column_arcs(graph, weight, labels)
    if isinstance(graph, list):
        return arc_lists.row_arcs(graph, weight, labels)
    raise InputTypeError(
        f"graph is a {type(graph).__name__}; expected a networkx or igraph graph, a scipy sparse matrix, "
        "a numpy array, a pandas table, a tuple (source, target[, length]), a list of arcs or a path."
    )


def assemble(arcs: Arcs, directed: bool | None, duplicates: str) -> Digraph:
    """Drop self-loops, refuse bad lengths, merge duplicates, mirror if undirected."""
    if duplicates not in _MERGE:
        raise InputError(f"duplicates must be one of {', '.join(map(repr, _MERGE))}; found {duplicates!r}.")
    if directed not in (None, True, False):
        raise InputError(f"directed must be True, False or None; found {directed!r}.")
    if directed and not arcs.directed:
        raise InputError(
            "directed=True, but the graph is undirected; leave directed=None for arcs both ways."
        )
    if arcs.n_nodes == 0:
        raise InputError("The graph has no nodes.")
    labels = _unless_range(arcs.labels)

    def name(position: int) -> str:
        row, column = int(arcs.rows[position]), int(arcs.columns[position])
        row, column = (row, column) if labels is None else (labels[row], labels[column])
        return f"the arc from {row!r} to {column!r}"

    proper = np.flatnonzero(arcs.rows != arcs.columns)
    rows, columns = arcs.rows[proper].astype(np.int64), arcs.columns[proper].astype(np.int64)
    self_loops = arcs.rows.size - proper.size
    if not rows.size and arcs.n_nodes > 1:
        dropped = f" between different nodes ({_count(self_loops, 'self-loop')})" if self_loops else ""
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
    return Digraph(matrix, labels, bool(np.any(lengths != 1)), self_loops, int(again.size))


def warn_of_repairs(graph: Digraph, duplicates: str) -> None:
    """Warn, where the caller's caller is, of what `assemble` changed."""
    repairs = []
    if graph.self_loops:
        repairs.append(f"dropped {_count(graph.self_loops, 'self-loop')}")
    if graph.duplicates:
        repairs.append(f"merged {_count(graph.duplicates, 'repeated arc')} (duplicates={duplicates!r})")
    if repairs:
        warnings.warn(f"The graph was simplified: {', '.join(repairs)}.", UserWarning, stacklevel=3)


def _lengths(values: Any, kept: np.ndarray, name: Callable[[int], str]) -> np.ndarray:
    array = values if isinstance(values, np.ndarray) else arc_lists.objects(values)
    if array.dtype.kind in "biuf":
        return array[kept].astype(np.float64)
    result = np.empty(kept.size)
    for i, position in enumerate(kept):
        value = array[position]
        try:
            if isinstance(value, str | bytes) or np.iscomplexobj(value):
                raise TypeError
            result[i] = float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"The length of {name(position)} is {value!r}, not a number. "
                "Say with weight= where the lengths are, or weight=None to count arcs."
            ) from None
    return result


def _unless_range(names: list[Any] | None) -> list[Any] | None:
    return None if names is None or names == list(range(len(names))) else names


def _comes_from(package: str, thing: Any) -> bool:
    return any(kind.__module__.partition(".")[0] == package for kind in type(thing).__mro__)


def _count(n: int, what: str) -> str:
    return f"{n} {what}" if n == 1 else f"{n} {what}s"
