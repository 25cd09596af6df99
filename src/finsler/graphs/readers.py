"""Digraphs from files; and :func:`open_file`, which opens any file, of a table or of a graph.

The formats are in the table `FORMATS` of `finsler.data.readers`, where a new one is added.
"""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

import numpy as np

from finsler._arguments import check_arguments
from finsler._read import guarded, require_file
from finsler.data.provenance import listed
from finsler.data.readers import require_known
from finsler.data.readers.attributed import AttributedGraph
from finsler.data.readers.h5ad import CellFile
from finsler.data.tables import Table, read_table
from finsler.errors import InputError
from finsler.graphs.arcs import Arcs, arcs_between, attribute_arcs, check_names, matrix_arcs
from finsler.graphs.cells import cell_arcs
from finsler.graphs.digraph import Digraph, assemble, require_nodes


def open_file(
    file: str | os.PathLike[str] | IO[bytes], kind: str = "auto", *, value: Any = "auto", **options: Any
) -> Table:
    """Open whatever file this is: a matrix, measured pairs, points, or a graph in any format. A file object holds text.

    `value` is the column of the pairs, or column or attribute of the lengths of edges; None counts every edge as one.
    Further options are those of :func:`~finsler.data.tables.read_table`. Edges have their Digraph in `graph`.
    """
    check_arguments(open_file, locals())
    table = read_table(file, kind, value=value, **options)
    if table.kind != "edges":
        return table
    try:
        graph = assemble(table_arcs(table, value, None), None, "min")
    except InputError as error:
        raise InputError(f"{table.name}: {error}") from error
    facts = graph.provenance.having(remarks=table.provenance.remarks)
    about = graph.attributes if isinstance(table.content, CellFile) else table.attributes
    return replace(table, graph=replace(graph, provenance=facts), attributes=about)


def read_graph(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    weight: str | int | None = "auto",
    directed: bool | None = None,
    labels: Iterable[Hashable] | None = None,
    duplicates: str = "min",
    **reading: Any,
) -> Digraph:
    r"""Read a digraph from a file; ``.gz`` may follow any suffix.

    * ``.csv .tsv .txt .dat .edges .edgelist``: one arc per row: source, target and possibly length; see
      `finsler.data.tables`. Nodes are integers if all are written as integers (so ``007`` makes all of them text).
    * ``.mtx``: Matrix Market, general or symmetric, with values or pattern.
    * ``.graphml``: nodes are named by their id. Of several graphs the first is read, and ``provenance`` counts the others.
    * ``.gexf .gml .net`` (Pajek): nodes are named by their labels, if each has its own, else by their ids.
    * ``.json``: ``nodes`` and ``links`` or ``edges``, as networkx and D3 write a graph.
    * ``.h5ad``: cells, joined to those near them; see :func:`finsler.cells.find_map`.
    * ``.xlsx .parquet .feather``: as CSV, a row per arc. ``.mat``: a sparse matrix.
    * ``.npz``: a matrix of `scipy.sparse.save_npz`, or the arrays ``src``, ``dst`` (positions), ``n_nodes``
      and possibly ``weight`` and ``node_labels``. Nothing pickled is read.

    Parameters
    ----------
    path : str or Path
    kind : "arcs", optional
        Says that a file whose suffix tells nothing is a list of arcs.
    weight : str, int or None
        Column, attribute of the edges or npz array of the lengths; None gives every arc the length one. "auto" takes the one
        with the name of a length, see `finsler.graphs.digraph.as_digraph`.
    directed, labels, duplicates
        As in `finsler.graphs.digraph.as_digraph`.
    **reading
        Of text: source, target, where, encoding, delimiter and header, as in `finsler.data.tables.read_table`.

    Returns
    -------
    Digraph

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "minutes.csv"
    >>> _ = path.write_text("from,to,minutes\nhome,work,25\nwork,home,40\n")
    >>> graph = read_graph(path)
    >>> graph
    Digraph: 2 nodes, 2 arcs, lengths 25 to 40 (minutes)
    >>> graph.labels
    ['home', 'work']
    """
    check_arguments(read_graph, locals())
    return assemble(read_arcs(path, kind, weight, labels, reading), directed, duplicates)


def read_arcs(path: Any, kind: str | None, weight: Any, labels: Any, reading: dict[str, Any]) -> Arcs:
    """Arcs of a file, before anything is cleaned."""
    path = Path(path)
    if kind not in (None, "arcs"):
        raise InputError(f"kind='arcs' or none goes with a file, got kind={kind!r}.", argument="kind")
    require_file(path)
    if kind is None:
        require_known(path)
    table = read_table(path, "edges", value=weight, **reading)
    with guarded(path, "a graph"):
        return table_arcs(table, weight, labels)


def table_arcs(table: Table, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs of a table of edges, or of a file that holds a graph, whose attribute `weight` holds the lengths."""
    if isinstance(content := table.content, AttributedGraph):
        arcs = attribute_arcs(content.nodes, content.edges, content.directed, weight, labels)
        return arcs._replace(source=table.name, n_graphs_skipped=content.n_skipped, about=table.attributes)
    if isinstance(content, CellFile):
        if weight != "auto" or labels is not None:
            raise InputError(
                "goes with other files: cells have names, and steps between them take time.",
                argument="weight",
            )
        return cell_arcs(content, source=content.source)._replace(source=table.name)
    if content is not None:
        arcs_of: Any = _array_arcs if isinstance(content, dict) else matrix_arcs
        return arcs_of(content, weight, labels)._replace(source=table.name)
    source, target, names = np.asarray(table.source), np.asarray(table.target), check_names(labels)
    if names and source.dtype != object and {*map(str, source), *map(str, target)} <= {*names}:
        source, target = source.astype(str), target.astype(str)
    arcs = arcs_between(source, target, table.values, names)
    facts = table.provenance
    return arcs._replace(names=facts.columns, source=table.name, n_comments=facts.n_comments)


def _array_arcs(arrays: dict[str, Any], weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs of arrays ``src`` and ``dst``, positions among ``n_nodes`` nodes, that may be named by ``node_labels``."""
    count = np.asarray(arrays["n_nodes"])
    if count.size != 1 or count.dtype.kind not in "iu" or count.item() < 0:
        raise InputError(f"n_nodes must be a whole number; found {count.dtype} of shape {count.shape}.")
    n_nodes = int(count.item())
    require_nodes(n_nodes)
    if labels is None and "node_labels" in arrays:
        labels = arrays["node_labels"].ravel()
    if weight not in ("auto", None) and weight not in arrays:
        raise InputError(f"weight={weight!r} is not among its arrays {listed([*arrays])}.", argument="weight")
    lengths = arrays.get("weight" if weight == "auto" else weight)
    arcs = arcs_between(arrays["src"], arrays["dst"], lengths, range(n_nodes))
    return arcs._replace(labels=check_names(labels, n_nodes))
