"""Files by their suffix: `FORMATS` is the one table of file formats, of tables and of graphs alike.

To add a format, write a function and add a line to `FORMATS`; recipes, commands and messages follow. The function (in a
module of its own here unless it is a few lines) takes the open file, unpacked if it ends in ``.gz``, and returns

* a `Matrix`, from row to column;
* a `GraphFile`: a networkx graph, a matrix of arcs, or arrays ``src``, ``dst``, ``n_nodes`` ... by name;
* or a `Text`: rows of cells, which `finsler.data.tables` takes for a matrix, pairs, edges or points.

A ValueError that it raises becomes one that names the file. A package it needs is imported when it is called.
"""

from __future__ import annotations

import gzip
import os
import zipfile
import zlib
from collections.abc import Callable
from inspect import signature
from io import BytesIO
from pathlib import Path
from typing import IO, Any, NamedTuple
from xml.etree.ElementTree import ParseError

import numpy as np
from numpy.typing import NDArray

from finsler.data.readers.text import Text, read_text, require_file
from finsler.errors import InputError, MissingExtraError


class Matrix(NamedTuple):
    """A square matrix in a file, and its labels if it has any."""

    values: NDArray[Any]
    labels: list[str] | None = None


class GraphFile(NamedTuple):
    """A graph in a file: a networkx graph, a matrix of arcs, or arrays by name; `finsler.graphs.readers` makes arcs."""

    graph: Any


Content = Matrix | GraphFile | Text


def read_arrays(file: IO[bytes]) -> Matrix | GraphFile:
    """What numpy or scipy saved: a matrix, alone or with an array ``labels``, or the arrays of a graph; nothing pickled."""
    found = np.load(file, allow_pickle=False)
    labels: list[str] | None = None
    if hasattr(found, "files"):
        names = set(found.files)
        if {"format", "shape", "data"} <= names:
            from scipy.sparse import load_npz

            file.seek(0)
            return GraphFile(load_npz(file))  # scipy too reads without pickle
        if {"src", "dst", "n_nodes"} <= names:
            return GraphFile({name: found[name] for name in found.files})
        if "json" in names:
            raise InputError("it is a saved map, which is plotted and measured, not embedded again")
        if "labels" in names and len(names) == 2:
            labels = [str(label) for label in found["labels"].tolist()]
            names.remove("labels")
        if len(names) != 1:
            raise InputError(
                "one matrix was expected, possibly with an array 'labels'; or a sparse matrix; or src, dst and n_nodes; "
                f"found {found.files}"
            )
        found = found[names.pop()]
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf":
        raise InputError(
            f"a square matrix of numbers was expected; found shape {found.shape} of {found.dtype}"
        )
    if labels is not None and len(labels) != len(found):
        raise InputError(f"there are {len(labels)} labels for {len(found)} rows")
    return Matrix(found.astype(np.float32 if found.dtype == np.float32 else float), labels)


def read_matrix_market(file: IO[bytes]) -> GraphFile:
    """A sparse matrix, general or symmetric, with values or pattern."""
    from scipy.io import mmread

    # Older SciPy has no such word, and from 1.18 on it warns without it.
    arrays = {"spmatrix": False} if "spmatrix" in signature(mmread).parameters else {}
    return GraphFile(mmread(file, **arrays))


def read_graphml(file: IO[bytes]) -> GraphFile:
    """A graph as networkx reads it, without XML entities."""
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("GraphML files need networkx: pip install 'finsler[graph]'.") from error
    content = file.read()
    if b"<!ENTITY" in content.replace(b"\0", b""):  # in UTF-16, too
        raise InputError("it declares XML entities, which are not read; a few can fill the memory")
    try:
        return GraphFile(networkx.read_graphml(BytesIO(content)))
    except networkx.NetworkXError as error:
        raise InputError(str(error)) from error


# Suffix of a file -> its reader.
FORMATS: dict[str, Callable[..., Content]] = {
    **dict.fromkeys((".csv", ".tsv", ".txt", ".dat", ".edges", ".edgelist"), read_text),
    ".npy": read_arrays,
    ".npz": read_arrays,
    ".mtx": read_matrix_market,
    ".graphml": read_graphml,
}


def suffix_of(path: Path) -> str:
    """Suffix in lower case, that of a packed file without its ``.gz``."""
    return "".join([suffix for suffix in map(str.lower, path.suffixes) if suffix != ".gz"][-1:])


def require_known(path: Path) -> None:
    """Refuse a file whose suffix tells nothing."""
    if (suffix := suffix_of(path)) not in FORMATS:
        raise InputError(
            f"{path.name}: the suffix {suffix or '(none)'} is not known; known are {' '.join(FORMATS)}, also with .gz. "
            "Export other files as CSV, or say what this one holds: kind='matrix', 'pairs', 'edges', 'points'."
        )


def read_file(
    source: str | os.PathLike[str] | IO[bytes], encoding: str | None = None, delimiter: str | None = None
) -> Content:
    """What a file holds, by its suffix. A file object, and a file whose suffix tells nothing, is text."""
    path = Path(source) if isinstance(source, str | os.PathLike) else None
    read = read_text if path is None else FORMATS.get(suffix_of(path), read_text)
    if path is None or read is read_text:
        return read_text(source, encoding, delimiter)
    require_file(path)
    unpack: Any = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with unpack(path, "rb") as file:
            return read(file)
    except (ValueError, EOFError, KeyError, OSError, zlib.error, zipfile.BadZipFile, ParseError) as error:
        if isinstance(error, OSError) and error.errno is not None:  # not to be opened
            raise
        why = str(error).rstrip(".")
        raise InputError(f"{path.name} cannot be read as {suffix_of(path)}: {why}.") from error
