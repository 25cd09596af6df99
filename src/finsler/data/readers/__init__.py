"""Files by their suffix: `FORMATS` is the one table of file formats, of tables and of graphs alike.

To add a format, write a function and add a line to `FORMATS`; recipes, commands and messages follow. The function (in a
module of its own here unless it is a few lines) takes the path, and ``sheet`` or ``variable`` if it has several; it opens
the file by a function of `finsler._read`, which unpack what is packed and refuse what does not fit in memory, and returns

* a `Matrix`, from row to column;
* a `Grid`: a field on rows and columns, which `finsler.data.readers.gridded` reads;
* a `GraphFile`: an `AttributedGraph`, a matrix of arcs, or arrays ``src``, ``dst``, ``n_nodes`` ... by name;
* or `Cells`, a `Text` or `Columns`: rows of cells, which `finsler.data.tables` takes for a matrix, pairs, edges or points.

Whatever it raises becomes an error that names the file. A package it needs is imported when it is called; if an extra
brings it, `EXTRAS` tells which.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler._read import guarded, read_bytes, read_npy, read_npz
from finsler.data.provenance import listed
from finsler.data.readers.columnar import Columns, parse_feather, parse_parquet
from finsler.data.readers.text import Text, read_text
from finsler.errors import InputError


class Matrix(NamedTuple):
    """A square matrix in a file, and its labels and attributes of its points if it has any."""

    values: NDArray[Any]
    labels: list[str] | None = None
    attributes: Mapping[str, list[Any]] = {}
    variable: str = ""  #: What the file calls its values, if it says so.
    remarks: tuple[str, ...] = ()


class GraphFile(NamedTuple):
    """A graph in a file: an `AttributedGraph`, a matrix of arcs, or arrays by name; `finsler.graphs.readers` makes arcs."""

    graph: Any


class Grid(NamedTuple):
    """A gridded field in a file, of which nothing is loaded yet."""

    path: Path
    variables: list[str]


Cells = Text | Columns
Content = Matrix | GraphFile | Grid | Cells


def read_array(path: Path) -> Matrix:
    """A matrix that numpy saved; it stays in its file until it is needed."""
    return _matrix(read_npy(path, mapped=True, kinds="biuf"), None)


def read_arrays(path: Path) -> Matrix | GraphFile:
    """What numpy or scipy saved: a matrix, alone or with an array ``labels``, or the arrays of a graph; nothing pickled."""
    arrays = read_npz(path)
    if {"format", "shape", "data"} <= set(arrays):
        from finsler.data.readers.sparse import sparse_of

        return GraphFile(sparse_of(arrays))
    if {"src", "dst", "n_nodes"} <= set(arrays):
        return GraphFile(arrays)
    if "json" in arrays:
        raise InputError("it is a saved map, which is plotted and measured, not embedded again.")
    labels = arrays.pop("labels") if "labels" in arrays and len(arrays) == 2 else None
    if len(arrays) != 1:
        raise InputError(
            "one matrix was expected, possibly with an array 'labels'; or a sparse matrix; or src, dst and n_nodes; found "
            f"{listed([*arrays])}."
        )
    (found,) = arrays.values()
    return _matrix(found, labels)


def _matrix(found: NDArray[Any], labels: NDArray[Any] | list[str] | None) -> Matrix:
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf":
        raise InputError(
            f"a square matrix of numbers was expected; found shape {found.shape} of {found.dtype}."
        )
    names = None if labels is None else [str(label) for label in np.ravel(labels).tolist()]
    if names is not None and len(names) != len(found):
        raise InputError(f"there are {len(names)} labels for {len(found)} rows.")
    if found.dtype not in (np.float32, np.float64):
        require_memory(
            8.0 * found.size, "The matrix, in numbers of 8 bytes,", "Save it as float32 or float64."
        )
        found = found.astype(float)
    return Matrix(found, names)


def read_matrix_market(path: Path) -> GraphFile:
    """A matrix of arcs, general or symmetric, with values or pattern."""
    from finsler.data.readers.matrix_market import parse_matrix_market

    return GraphFile(parse_matrix_market(read_bytes(path)))


def read_graphml(path: Path) -> GraphFile:
    """The first graph of a file, without XML entities."""
    from finsler.data.readers.graphml import parse_graphml

    return GraphFile(parse_graphml(read_bytes(path)))


def read_gexf(path: Path) -> GraphFile:
    """The graph of a file, without XML entities."""
    from finsler.data.readers.gexf import parse_gexf

    return GraphFile(parse_gexf(read_bytes(path)))


def read_gml(path: Path) -> GraphFile:
    """The first graph of a file."""
    from finsler.data.readers.gml import parse_gml

    return GraphFile(parse_gml(read_bytes(path)))


def read_pajek(path: Path) -> GraphFile:
    """The network of a file."""
    from finsler.data.readers.pajek import parse_pajek

    return GraphFile(parse_pajek(read_bytes(path)))


def read_json(path: Path, variable: str | None = None) -> Matrix | GraphFile:
    """A table of a routing service, or a graph of nodes and links."""
    from finsler.data.readers import json_files

    found = json_files.parsed_json(read_bytes(path))
    if not json_files.is_node_link(found):
        return Matrix(*json_files.routing_table(found, variable))
    if variable is not None:
        raise InputError("is for tables; it holds a graph.", argument="variable")
    return GraphFile(json_files.node_link(found))


def read_h5ad(path: Path, variable: str | None = None) -> GraphFile:
    """Cells with what says which way they go, under the key `variable` or where it is usually kept."""
    from finsler.data.readers.h5ad import parse_h5ad

    return GraphFile(parse_h5ad(path, variable))


def read_tsplib(path: Path) -> Matrix:
    """The full matrix of an asymmetric problem."""
    from finsler.data.readers.tsplib import parse_tsplib

    return Matrix(*parse_tsplib(read_bytes(path)))


def read_matlab(path: Path, variable: str | None = None) -> Matrix | GraphFile:
    """A matrix that MATLAB saved; a sparse one holds arcs."""
    from finsler.data.readers.matlab import parse_mat

    found, labels = parse_mat(read_bytes(path), variable)
    return GraphFile(found) if hasattr(found, "tocoo") else _matrix(found, labels)


def read_excel(path: Path, sheet: str | int | None = None) -> Text:
    """A sheet of an Excel file."""
    from finsler.data.readers.excel import parse_excel

    return parse_excel(read_bytes(path), path.name, sheet)


def read_parquet(path: Path) -> Columns:
    """A table of a Parquet file."""
    return parse_parquet(read_bytes(path), path.name)


def read_feather(path: Path) -> Columns:
    """A table of a Feather file."""
    return parse_feather(read_bytes(path), path.name)


def read_netcdf(path: Path) -> Grid:
    """A gridded field: what it holds is read once it is known which of its variables are wanted."""
    from finsler.data.readers.gridded import opened

    with opened(path) as dataset:
        return Grid(path, [str(name) for name in dataset.data_vars])


# Suffix of a file -> its reader.
FORMATS: dict[str, Callable[..., Content]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ".edges", ".edgelist"), read_text),
    ".npy": read_array,
    ".npz": read_arrays,
    ".mtx": read_matrix_market,
    ".graphml": read_graphml,
    ".gexf": read_gexf,
    ".gml": read_gml,
    ".net": read_pajek,
    ".json": read_json,
    ".atsp": read_tsplib,
    ".mat": read_matlab,
    ".xlsx": read_excel,
    ".parquet": read_parquet,
    ".feather": read_feather,
    ".nc": read_netcdf,
    ".nc4": read_netcdf,
    ".h5ad": read_h5ad,
}
EXTRAS = {  # that bring what a reader needs
    **dict.fromkeys((".xlsx", ".parquet", ".feather"), "files"),
    **dict.fromkeys((".nc", ".nc4"), "field"),
    ".h5ad": "cells",
}


def suffix_of(path: Path) -> str:
    """Suffix in lower case, that of a packed file without its ``.gz``."""
    return "".join([suffix for suffix in map(str.lower, path.suffixes) if suffix != ".gz"][-1:])


def require_known(path: Path) -> None:
    """Refuse a file whose suffix tells nothing."""
    if (suffix := suffix_of(path)) not in FORMATS:
        extras = [
            f"{' '.join(end for end in EXTRAS if EXTRAS[end] == extra)} with pip install 'finsler[{extra}]'"
            for extra in dict.fromkeys(EXTRAS.values())
        ]
        raise InputError(
            f"{path.name}: the suffix {suffix or '(none)'} is not known; known are {' '.join(FORMATS)}, also with .gz "
            f"({'; '.join(extras)}). "
            "Export other files as CSV, or say what this one holds: kind='matrix', 'pairs', 'edges', 'points'."
        )


def read_file(
    source: str | os.PathLike[str] | IO[bytes],
    encoding: str | None = None,
    delimiter: str | None = None,
    *,
    sheet: str | int | None = None,
    variable: str | None = None,
) -> Content:
    """What a file holds, by its suffix. A file object, and a file whose suffix tells nothing, is text.

    `sheet` of an Excel file, by name or position from 0; `variable` of a MATLAB file, or table of a routing service.
    """
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    read = read_text if path is None else FORMATS.get(suffix_of(path), read_text)
    chosen: dict[str, Any] = {
        name: value for name, value in (("sheet", sheet), ("variable", variable)) if value is not None
    }
    for name in chosen:
        if name not in signature(read).parameters:
            fit = [suffix for suffix, other in FORMATS.items() if name in signature(other).parameters]
            raise InputError(f"is for {' and '.join(fit)} files.", argument=name)
    if path is None or read is read_text:
        return read_text(source, encoding, delimiter)
    with guarded(path, suffix_of(path)):
        return read(path, **chosen)


def read_cells(source: str | os.PathLike[str] | IO[bytes], encoding: str | None = None) -> Cells:
    """Rows of cells of a file, in any format of tables."""
    found = read_file(source, encoding)
    if isinstance(found, Text | Columns):
        return found
    what = {GraphFile: "a graph", Grid: "a gridded field"}.get(type(found), "a matrix")
    raise InputError(f"{Path(str(source)).name} holds {what}; a table was expected.")
