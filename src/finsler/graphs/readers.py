"""Digraphs from files: lists of arcs, Matrix Market, GraphML, npz; and :func:`open_file`, which opens any table.

Text is read by `finsler.data.tables`, the one reader of text tables.
"""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import IO, Any
from xml.etree.ElementTree import ParseError

import numpy as np
from scipy.io import mmread
from scipy.sparse import load_npz

from finsler.data.readers.text import TEXT, require_file, suffix_of
from finsler.data.tables import GRAPHS, Table, holds_graph, read_table, require_kind
from finsler.errors import InputError, MissingExtraError
from finsler.graphs.arcs import Arcs, arcs_between, check_names, matrix_arcs, networkx_arcs
from finsler.graphs.digraph import Digraph, assemble

_KINDS = dict.fromkeys(TEXT, "arcs") | {".mtx": "mtx", ".graphml": "graphml", ".npz": "npz"}


def open_file(
    file: str | os.PathLike[str] | IO[bytes], kind: str = "auto", *, value: Any = "auto", **options: Any
) -> Table:
    """Open whatever file this is: a matrix, measured pairs, points, or a graph in any format. A file object holds text.

    `value` is the column of the pairs, or column or attribute of the lengths of edges; None counts every edge as one.
    Further options are those of :func:`~finsler.data.tables.read_table`. Edges have their Digraph in `graph`.
    """
    if isinstance(file, str | os.PathLike):
        path = Path(file)
        suffix = suffix_of(path)
        if suffix in GRAPHS or (suffix == ".npz" and holds_graph(path)):
            require_kind(path.name, kind, "edges")
            require_file(path)
            return Table("edges", path.name, graph=read_graph(path, weight=value, **options))
    table = read_table(file, kind, value=value, **options)
    if table.kind != "edges":
        return table
    try:
        graph = assemble(table_arcs(table, None), None, "min")
    except InputError as error:
        raise InputError(f"{table.name}: {error}") from error
    facts = graph.provenance.having(remarks=table.provenance.remarks)
    return replace(table, graph=replace(graph, provenance=facts))


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
    r"""Read a digraph from a file; ``.gz`` may follow any suffix but that of npz.

    * ``.csv .tsv .txt .dat .edges .edgelist``: one arc per row: source, target and possibly length; see
      `finsler.data.tables`. Nodes are integers if all are written as integers (so ``007`` makes all of them text).
    * ``.mtx``: Matrix Market, general or symmetric, with values or pattern.
    * ``.graphml``: needs networkx; nodes are named by their id.
    * ``.npz``: a matrix of `scipy.sparse.save_npz`, or the arrays ``src``, ``dst`` (positions), ``n_nodes``
      and possibly ``weight`` and ``node_labels``. Nothing pickled is read.

    Parameters
    ----------
    path : str or Path
    kind : {"arcs", "mtx", "graphml", "npz"}, optional
        What the file holds; by default its suffix says.
    weight : str, int or None
        Column, GraphML attribute or npz array of the lengths; None gives every arc the length one. "auto" takes the one
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
    return assemble(read_arcs(path, kind, weight, labels, reading), directed, duplicates)


def read_arcs(path: Any, kind: str | None, weight: Any, labels: Any, reading: dict[str, Any]) -> Arcs:
    """Arcs of a file, before anything is cleaned."""
    path = Path(path)
    require_file(path)
    kind = kind or _KINDS.get(suffix_of(path), "unknown")
    if kind not in _KINDS.values():
        raise InputError(
            f"What {path.name} holds is not known (kind={kind!r}). Known suffixes: {' '.join(_KINDS)}, also "
            f"followed by .gz. Otherwise give kind: {', '.join(map(repr, dict.fromkeys(_KINDS.values())))}."
        )
    for option, given in reading.items():
        if kind != "arcs" and given is not None and option != "encoding":
            raise InputError(f"{option} is for text files; {path.name} is {kind}.")
    if kind == "arcs":
        table = read_table(path, "edges", value=weight, **reading)
        with _readable(path, kind):
            return table_arcs(table, labels)
    with _readable(path, kind):
        if kind == "npz":
            return _npz_arcs(path, weight, labels)._replace(source=path.name)
        unpack: Any = gzip.open if path.suffix.lower() == ".gz" else open
        with unpack(path, "rb") as file:
            graph = mmread(file) if kind == "mtx" else _read_graphml(file)
            arcs_of = matrix_arcs if kind == "mtx" else networkx_arcs
            return arcs_of(graph, weight, labels)._replace(source=path.name)


@contextmanager
def _readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what broken files raise into an error that names the file."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, ParseError) as error:
        raise InputError(f"{path} cannot be read as {kind}: {error}.") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def table_arcs(table: Table, labels: Iterable[Hashable] | None) -> Arcs:
    """Arcs of a table of edges."""
    source, target, names = np.asarray(table.source), np.asarray(table.target), check_names(labels)
    if names and source.dtype != object and {*map(str, source), *map(str, target)} <= {*names}:
        source, target = source.astype(str), target.astype(str)
    arcs = arcs_between(source, target, table.values, names)
    return arcs._replace(names=table.provenance.columns, source=table.name)


def _npz_arcs(path: Path, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    with open(path, "rb") as file:
        arrays = np.load(file, allow_pickle=False)
        if not hasattr(arrays, "files"):
            raise InputError("it holds a single array.")
        if {"format", "shape", "data"} <= set(arrays.files):
            return matrix_arcs(load_npz(path), weight, labels)  # scipy too reads without pickle
        if not {"src", "dst", "n_nodes"} <= set(arrays.files):
            raise InputError(f"expected a sparse matrix, or src, dst and n_nodes; found {arrays.files}.")
        n_nodes = int(arrays["n_nodes"])
        if labels is None and "node_labels" in arrays:
            labels = arrays["node_labels"]
        if weight not in ("auto", None) and weight not in arrays:
            raise InputError(f"weight={weight!r} is not among its arrays {arrays.files}.")
        wanted = "weight" if weight == "auto" else weight
        lengths = arrays[wanted] if wanted in arrays.files else None
        arcs = arcs_between(arrays["src"], arrays["dst"], lengths, range(n_nodes))
        return arcs._replace(labels=check_names(labels, n_nodes))


def _read_graphml(file: Any) -> Any:
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("GraphML files need networkx: pip install 'finsler[graph]'.") from error
    content = file.read()
    if b"<!ENTITY" in content.replace(b"\0", b""):  # in UTF-16, too
        raise InputError("it declares XML entities, which are not read; a few can fill the memory.")
    try:
        return networkx.read_graphml(BytesIO(content))
    except networkx.NetworkXError as error:
        raise InputError(str(error)) from error
