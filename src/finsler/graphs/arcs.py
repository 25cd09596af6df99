"""Lists of arcs from objects in memory: graphs of networkx and igraph, matrices, tables, columns and rows.

No package is imported but narwhals: the objects are only asked for what they hold.
`finsler.graphs.digraph.as_digraph` chooses the function and makes a `Digraph` of what it returns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from finsler.data.attributes import as_column
from finsler.data.columns import FLOWS, LENGTHS, canonical, choose_columns
from finsler.data.frames import labeled, long_columns
from finsler.data.labels import LabelIndex, point_labels
from finsler.data.places import is_degrees
from finsler.errors import InputError, InputTypeError, shown


class Arcs(NamedTuple):
    """What every reader gives: arcs between positions, before anything is cleaned."""

    rows: np.ndarray
    columns: np.ndarray
    lengths: Any  # None: one each
    n_nodes: int
    labels: list[Any] | None
    directed: bool = True
    names: dict[str, str] | None = None  # of the columns or attributes, by their roles: source, target, value
    source: str = ""  # name of the file, or kind of the object
    n_comments: int = 0  # rows of a text that look like comments, skipped
    n_graphs_skipped: int = 0  # further and nested graphs of a file
    about: dict[str, np.ndarray] | None = None  # attributes of the nodes, in their order
    left_out: tuple[Any, ...] = ()  # labels of what could not be a node
    remarks: tuple[str, ...] = ()  # what else to say


def networkx_arcs(graph: Any, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs from a networkx graph."""
    edges = [*iter(graph.edges(data=True))]  # list() would count them first
    arcs = attribute_arcs(list(graph), edges, graph.is_directed(), weight, labels)
    about = [data for _, data in graph.nodes(data=True)]
    titles = dict.fromkeys(title for data in about for title in data)
    columns = {title: [data.get(title) for data in about] for title in titles}
    return arcs._replace(about=node_columns(columns, getattr(graph, "graph", {}).get("crs")))


def attribute_arcs(
    nodes: list[Any],
    edges: list[tuple[Any, Any, Any]],
    directed: bool,
    weight: Any,
    labels: Iterable[Hashable] | None,
) -> Arcs:
    """Arcs from edges (source, target, attributes) between nodes."""
    position = {node: i for i, node in enumerate(nodes)}
    wanted = weight
    if weight == "auto":
        wanted = choose_attribute(Counter(chain.from_iterable(data for _, _, data in edges)), len(edges))
    lengths = None
    if wanted is not None:
        missing = [edge for edge in edges if wanted not in edge[2]]
        if missing:
            u, v, data = missing[0]
            raise InputError(
                f"weight={wanted!r}: the edge from {u!r} to {v!r} has no such attribute (it has "
                f"{sorted(map(str, data))}; {len(missing)} of {len(edges)} edges lack it). Use weight=None to count arcs.",
                argument="weight",
            )
        lengths = [data[wanted] for _, _, data in edges]
    rows = np.array([position[u] for u, _, _ in edges], dtype=np.int64)
    columns = np.array([position[v] for _, v, _ in edges], dtype=np.int64)
    names = nodes if labels is None else check_names(labels, len(nodes))
    return Arcs(rows, columns, lengths, len(nodes), names, directed, _value(wanted))


def igraph_arcs(graph: Any, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs from an igraph graph."""
    if labels is None and "name" in graph.vs.attributes():
        labels = graph.vs["name"]
    found, wanted = graph.es.attributes(), weight
    if weight == "auto":
        there = {name: sum(value is not None for value in graph.es[name]) for name in found}
        wanted = choose_attribute({name: n for name, n in there.items() if n}, graph.ecount())
    elif weight is not None and weight not in found:
        raise InputError(f"weight={weight!r} is no edge attribute; the graph has {found}.", argument="weight")
    lengths = None if wanted is None else graph.es[wanted]
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    names = check_names(labels, graph.vcount())
    about = {name: graph.vs[name] for name in graph.vs.attributes() if name != "name"}
    return Arcs(
        ends[:, 0], ends[:, 1], lengths, graph.vcount(), names, graph.is_directed(), _value(wanted),
        about=node_columns(about, graph["crs"] if "crs" in graph.attributes() else None),
    )  # fmt: skip


def node_columns(columns: Mapping[Any, list[Any]], crs: Any = None) -> dict[str, np.ndarray]:
    """What is known of the nodes, as numbers or words: values of mixed types are words.

    OSMnx calls places x and y whatever they are; if the graph's `crs` says that they are degrees, they are lon and lat, too.
    """
    found = {str(name): as_column(values) for name, values in columns.items()}
    if is_degrees(crs) and {"x", "y"} <= {*found} and not {"lon", "lat"} & {*found}:
        found |= {"lon": found["x"], "lat": found["y"]}
    return found


def choose_attribute(found: Mapping[Any, int], n_arcs: int) -> Any:
    """Choose the attribute that is the length of the arcs, None if there is none; `found` counts the arcs with each."""
    spelled = {name: canonical(name) for name in found}
    known = [name for name in found if spelled[name] in LENGTHS]
    lengths = [name for name in known if spelled[name] == "weight"]
    lengths = lengths or [name for name in known if found[name] == n_arcs] or known
    if len(lengths) > 1:
        raise InputError(
            f"weight: several attributes of the arcs may be their lengths: {', '.join(map(repr, lengths))}. Set weight to "
            f"one of them, as {lengths[-1]!r}; with hops every arc counts as one.",
            argument="weight",
        )
    flows = [name for name in found if spelled[name] in FLOWS]
    if flows and not lengths:
        raise InputError(
            f"weight: the arcs carry {flows[0]!r}, which looks like a flow or a similarity, where more means nearer, and "
            "not like a length. embed_pairs maps flows, with similarity='gravity' or another; otherwise say what to take: "
            f"weight=None counts arcs, weight={flows[0]!r} takes it for a length.",
            argument="weight",
        )
    return lengths[0] if lengths else None


def _value(name: Any) -> dict[str, str] | None:
    return None if name is None else {"value": str(name)}


def matrix_arcs(matrix: Any, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs from a square matrix, sparse or dense."""
    refuse_name(weight, "a matrix")
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"A matrix of arcs must be square; found shape {matrix.shape}.")
    if getattr(matrix, "format", "") == "bsr":
        raise InputError(
            "A matrix in BSR format fills up with zeros that are no arcs; convert it: .tocsr(), then .eliminate_zeros()."
        )
    if hasattr(matrix, "tocoo"):
        entries = matrix.tocoo()
        rows, columns, lengths = entries.row, entries.col, entries.data
        if lengths.dtype == bool:
            rows, columns, lengths = rows[lengths], columns[lengths], lengths[lengths]
    else:
        rows, columns = np.nonzero(matrix)  # NaN is not zero: it stays, to be refused by name
        lengths = matrix[rows, columns]
    names = check_names(labels, matrix.shape[0])
    return Arcs(rows, columns, None if weight is None else lengths, matrix.shape[0], names)


def frame_arcs(frame: Any, weight: Any, labels: Any, kind: str, source: Any, target: Any) -> Arcs:
    """Arcs from a data frame of any package, or from a DataArray, where NaN is no arc."""
    if kind == "adjacency":
        table = labeled(frame)
        index, names = point_labels(table), [] if table.columns is None else list(table.columns)
        if index != names and (index is not None or not names):
            raise InputError("kind='adjacency': the labels of the rows of the table must equal its columns.")
        return matrix_arcs(np.asarray(table), weight, names if labels is None else labels)
    found = long_columns(frame)
    assert found is not None
    columns, values = found
    i, j, k = choose_columns(columns, source, target, weight, word="weight")
    lengths = None if k is None else np.asarray(values[k])
    places = {"source": i, "target": j, "value": k}
    roles = {role: str(columns[place]) for role, place in places.items() if place is not None}
    return arcs_between(values[i], values[j], lengths, labels)._replace(names=roles)


def array_arcs(array: np.ndarray, weight: Any, labels: Any, kind: str) -> Arcs:
    """Arcs from an array: one row per arc, or an adjacency matrix."""
    if isinstance(array, np.ma.MaskedArray):
        raise InputTypeError("graph is a masked array; pass graph.filled(0), where 0 is no arc.")
    if kind == "auto" and array.shape in ((2, 2), (3, 3)):
        raise InputError(f"a {array.shape} array may be either; give kind='adjacency' or kind='arcs'.")
    if kind == "adjacency" or (kind == "auto" and array.ndim == 2 and array.shape[0] == array.shape[1]):
        return matrix_arcs(np.asarray(array), weight, labels)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(
            f"an array of arcs has shape (E, 2) or (E, 3), an adjacency matrix (N, N); found {array.shape}. "
            "Columns that lie in rows are given as a tuple (source, target[, length])."
        )
    return column_arcs(list(array.T), weight, labels)


def row_arcs(rows: list[Any], weight: Any, labels: Any) -> Arcs:
    """Arcs from a list of tuples, one per arc."""
    if {type(row) for row in rows} - {tuple} or {len(row) for row in rows} not in (set(), {2}, {3}):
        raise InputError(
            "a list of arcs holds tuples, all (source, target) or all (source, target, length); rows that are lists become "
            "tuples by [tuple(row) for row in rows]."
        )
    return column_arcs(list(zip(*rows, strict=True)) or [(), ()], weight, labels)


def column_arcs(columns: Any, weight: Any, labels: Any) -> Arcs:
    """Arcs from two or three columns: source, target and possibly length."""
    refuse_name(weight, "a list of arcs")
    return arcs_between(columns[0], columns[1], None if weight is None else [*columns, None][2], labels)


def arcs_between(source: Any, target: Any, lengths: Any, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs from columns of node names."""
    source, target = node_array(source, "source"), node_array(target, "target")
    dimensions = getattr(lengths, "ndim", 1)  # entries of a list that are no numbers are named later
    if dimensions != 1:
        raise InputError(
            f"the lengths of arcs are one number for each, not an array of {dimensions} dimensions."
        )
    sizes = [source.size, target.size] + ([] if lengths is None else [len(lengths)])
    if len(set(sizes)) > 1:
        raise InputError(f"the columns (source, target[, length]) differ in size: {sizes}.")
    codes, nodes = node_codes(np.stack([source, target], axis=1).ravel(), labels)  # row by row
    return Arcs(codes[::2], codes[1::2], lengths, len(nodes), nodes)


def node_codes(ends: np.ndarray, labels: Iterable[Hashable] | None) -> tuple[np.ndarray, list[Any]]:
    """Position of each end among the nodes, and the nodes in order."""
    integers = ends.dtype.kind == "i"
    if labels is None and integers:
        nodes, codes = np.unique(ends, return_inverse=True)
        return codes, nodes.tolist()
    if labels is None:
        position: dict[Any, int] = {}
        try:
            codes = np.array([position.setdefault(end, len(position)) for end in ends], dtype=np.int64)
        except TypeError as error:
            raise InputTypeError(f"names of nodes must be hashable: {error}.") from error
        return codes, list(position)
    names = check_names(labels) or []
    by_position = integers and not any(isinstance(name, int) for name in names)
    index = LabelIndex(None if by_position else names, len(names), "node")
    codes = np.array([index.position(end, "labels", exact=True) for end in ends.tolist()], dtype=np.int64)
    return codes, names


def node_array(values: Any, what: str) -> np.ndarray:
    """One column of node names: int64, or objects."""
    if isinstance(values, str | bytes) or not hasattr(values, "__iter__"):
        raise InputTypeError(f"{what} must be a sequence of nodes; found {values!r}.")
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    if not isinstance(array, np.ndarray):
        array = np.fromiter(array, dtype=object)  # tuples left whole
    if array.ndim != 1:
        raise InputError(f"{what} must have one dimension; found shape {array.shape}.")
    if array.dtype == object and all(isinstance(x, Real) and not isinstance(x, bool) for x in array):
        array = np.array(array.tolist())
    if array.dtype.kind == "f":
        bad = np.flatnonzero(~(np.isfinite(array) & (array == np.floor(array))))
        if bad.size:
            raise InputError(f"{what}[{bad[0]}] is {array[bad[0]]}: a node is an integer or a name.")
        array = array.astype(np.int64)
    if array.dtype.kind in "iu" and array.max(initial=0) <= np.iinfo(np.int64).max:
        return array.astype(np.int64)
    array = array.astype(object)
    for i, name in enumerate(array):
        if name is None or (isinstance(name, float) and name != name) or type(name).__name__ == "NAType":
            raise InputError(f"{what}[{i}] is missing ({name}).")
    return array


def check_names(labels: Iterable[Hashable] | None, n_nodes: int | None = None) -> list[Any] | None:
    """Check that labels are as many as the nodes, and distinct."""
    if labels is None:
        return None
    if isinstance(labels, str | bytes):
        raise InputTypeError(f"labels must be a list of names; found {labels!r}.")
    names = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    if n_nodes is not None and len(names) != n_nodes:
        raise InputError(f"labels has {len(names)} names for {n_nodes} nodes.")
    try:
        repeated = [name for name, n in Counter(names).items() if n > 1]
    except TypeError as error:
        raise InputTypeError(f"labels must be names that can be compared: {error}.") from error
    if repeated:
        raise InputError(f"labels must be distinct; {repeated[0]!r} is repeated.")
    return names


def refuse_name(weight: Any, what: str) -> None:
    """Refuse the name of an attribute or column where there are none."""
    if weight is not None and (not isinstance(weight, str) or weight != "auto"):
        raise InputError(
            f"weight={shown(weight)} names an attribute or a column, and {what} has none.", argument="weight"
        )
