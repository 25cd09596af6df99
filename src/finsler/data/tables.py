"""Tables from files, without pandas: a matrix, a list of arcs, or points with a drift or a current.

Text (``.csv .tsv .txt .dat .edges .edgelist``, also ``.gz``)
    The delimiter is found among tab, semicolon, comma, bar and blanks. Lines that start with ``#`` or ``%`` and empty
    lines are skipped. Empty cells, NA, N/A, NaN, null and None are missing. Unless the delimiter is a comma, numbers
    may have decimal commas (``1,5``), but then all of them.
Matrix
    From row to column; labels in the first row, in the first column, in both or in neither.
Edges
    One arc per row: source, target and possibly its length, by the names of the columns or in this order.
Points
    One row per point under a header. A coordinate is a column ``NAME`` beside which there is ``drift_NAME`` or
    ``current_NAME``: ``x, y, current_x, current_y``. Short for x, y, z: ``dx, dy, dz`` are the drift, ``u, v, w`` the
    current. A column ``label``, ``name`` or ``id``, or a first one without a name, holds labels; all others are
    attributes. (A drift makes going along it dear, a current cheap: see `finsler.graphs.neighbors`.)
"""

from __future__ import annotations

import os
import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.data.readers.text import (
    GRAPHS,
    MISSING,
    TEXT,
    Text,
    is_number,
    number_share,
    read_text,
    require_file,
    suffix_of,
    table_width,
)
from finsler.errors import InputError
from finsler.graphs.arcs import SOURCE, TARGET, choose_columns
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.readers import read_graph

KINDS = ("auto", "matrix", "edges", "points")
SUFFIXES = (*TEXT, ".npy", ".npz", *GRAPHS)

LABELS = ("label", "name", "id")
_SHORT = {
    "dx": "drift_x",
    "dy": "drift_y",
    "dz": "drift_z",
    "u": "current_x",
    "v": "current_y",
    "w": "current_z",
}

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds. Made by :func:`read_table`.

    Attributes
    ----------
    kind : {"matrix", "edges", "points"}
    name : str
        Name of the file, for messages.
    values : ndarray of shape (n, n) or (n, d), or None
        The matrix, or the coordinates of the points.
    labels : list of str or None
        Names of the points; those of edges are in `graph`.
    graph : Digraph or None
        The edges.
    columns : list of str
        Names of the coordinates.
    vectors : ndarray of shape (n, d) or None
        A drift or a current at each point.
    vector_kind : {"drift", "current"} or None
        Which of the two.
    attributes : dict of str to ndarray
        Further columns of points: numbers, or text.
    """

    kind: str
    name: str
    values: Array | None = None
    labels: list[str] | None = None
    graph: Digraph | None = None
    columns: list[str] = field(default_factory=list)
    vectors: Array | None = None
    vector_kind: str | None = None
    attributes: dict[str, Array] = field(default_factory=dict)

    def describe(self) -> str:
        """Say in one line what was read."""
        if self.graph is not None:
            return f"{self.name}: edges of a digraph with {self.graph.describe().removeprefix('Digraph: ')}"
        assert self.values is not None
        n, width = self.values.shape
        if self.kind == "matrix":
            unknown = np.isnan(self.values)
            np.fill_diagonal(unknown, False)
            n_gaps = int(np.count_nonzero(unknown))
            gaps = f", {n_gaps:,} value{'s' * (n_gaps > 1)} missing" if n_gaps else ""
            return f"{self.name}: a {n} x {width} matrix {'without' if self.labels is None else 'with'} labels{gaps}"
        parts = [
            f"{self.name}: {n:,} points in {width} dimension{'s' * (width > 1)} ({', '.join(self.columns)})"
        ]
        parts.append(
            f"with a {self.vector_kind} at each" if self.vector_kind else "without a drift or current"
        )
        if self.attributes:
            parts.append(f"attributes {', '.join(self.attributes)}")
        return ", ".join(parts)


def read_table(
    source: str | os.PathLike[str] | IO[bytes],
    kind: str = "auto",
    *,
    columns: Sequence[str] | None = None,
    encoding: str | None = None,
) -> Table:
    r"""Read a table and find out what it is. How tables are written is told at the top of this module.

    Parameters
    ----------
    source : path-like or binary file
        Text; ``.npy`` or ``.npz`` with a matrix; or any file that `finsler.graphs.readers.read_graph` reads. A file
        object holds text.
    kind : {"auto", "matrix", "edges", "points"}
        What the table is; by default :func:`detect` finds out.
    columns : sequence of 2 or 3 names, optional
        Columns of edges that hold source, target and length; two names count every arc as one.
    encoding : str, optional
        Of text; by default UTF-8, or UTF-16 if the file starts with its byte order mark.

    Returns
    -------
    Table

    Examples
    --------
    >>> import io
    >>> table = read_table(io.BytesIO(b"to;A;B\nA;0;1,5\nB;2,0;0\n"))
    >>> print(table.describe())
    stdin: a 2 x 2 matrix with labels
    >>> table.values
    array([[0. , 1.5],
           [2. , 0. ]])
    """
    if kind not in KINDS:
        raise InputError(f"kind must be one of {', '.join(KINDS)}; got {kind!r}.")
    if columns is not None and len(columns) not in (2, 3):
        raise InputError(f"columns must name source, target and possibly length; got {', '.join(columns)}.")
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        suffix = suffix_of(path)
        if suffix not in SUFFIXES and kind == "auto":
            raise InputError(
                f"{path.name}: the suffix {suffix or '(none)'} is not known; known are {' '.join(SUFFIXES)}, text also "
                "with .gz. Export other files as CSV, or say what this one holds: kind='matrix', 'edges' or 'points'."
            )
        if suffix in (".npy", ".npz"):
            return _read_arrays(path, suffix, kind)
        if suffix in GRAPHS:
            _require_kind(path.name, kind, "edges")
            require_file(path)
            return Table("edges", path.name, graph=read_graph(path))
    text = read_text(source, encoding)
    if kind == "auto" and columns is not None:
        kind = "edges"
    elif kind == "auto":
        kind = detect([cells for _, cells in text.head], text.n_rows, text.name)
    if kind == "edges":
        return _edges(text, columns)
    if columns is not None:
        raise InputError(f"columns are those of edges; {text.name} is read as {kind}.")
    return _matrix(text) if kind == "matrix" else _points(text)


def detect(rows: Sequence[Sequence[str]], n_rows: int | None = None, name: str = "the table") -> str:
    """Tell what a table is from its first rows and the number of all.

    Parameters
    ----------
    rows : sequence of rows of cells
        The first rows.
    n_rows : int, optional
        How many there are; as many as given by default.
    name : str
        What to call it if it is nothing known.

    Returns
    -------
    {"matrix", "edges", "points"}

    Examples
    --------
    >>> detect([["from", "to", "km"], ["a", "b", "3"]])
    'edges'
    >>> detect([["x", "y", "u", "v"], ["0", "0", "1", "0"]])
    'points'
    >>> detect([["", "a", "b"], ["a", "0", "1"], ["b", "2", "0"]])
    'matrix'
    """
    count = len(rows) if n_rows is None else n_rows
    top, width = list(rows[0]), table_width(rows)
    names = {cell.lower() for cell in top}
    matrix = matrix_layout(rows, count)
    square = False
    if matrix is not None:
        body = [row[matrix.side :] for row in rows[matrix.header :]]
        square = number_share(body) > 0.5
        across, down = top[1 - matrix.short :], [row[0] for row in rows[1:]]
        if square and matrix.header and matrix.side and across[: len(down)] == down:
            return "matrix"  # whatever its labels are
    if names & SOURCE and names & TARGET:
        return "edges"
    if _vectors([cell.lower() for cell in top]):
        return "points"
    # Up to 3 x 3 it could be edges, but for the diagonal.
    if square and (len(body) > 3 or all(_is_zero(row[i : i + 1]) for i, row in enumerate(body))):
        return "matrix"
    if width in (2, 3):
        return "edges"
    if width > 3 and number_share([row[1:] for row in rows[1:] or rows]) > 0.5:
        return "matrix"  # not square; its reader tells
    raise InputError(
        f"{name}: {count:,} rows and {width} columns are neither a square matrix of numbers, nor edges (2 or 3 columns, or "
        "columns called source and target), nor points (columns x, y, ... with drift_x, ... or current_x, ...). If it is "
        "one of these, say which: kind='matrix', 'edges' or 'points'."
    )


class MatrixLayout(NamedTuple):
    """Where the labels of a matrix are; `short` is a header without a cell above the labels of the rows."""

    header: bool
    side: bool
    short: bool = False


def matrix_layout(rows: Sequence[Sequence[str]], n_rows: int) -> MatrixLayout | None:
    """Find the labels of a square matrix from its first rows and the number of all; None if it is not square."""
    top, body, width = list(rows[0]), rows[1:], table_width(rows)
    if body and len(top) == width - 1 == n_rows - 1:
        return MatrixLayout(True, True, short=True)
    if n_rows == width:
        labels = [*top[1:], *(row[0] for row in body)]
        if top[0].lower() not in MISSING:
            labeled = not is_number(top[0])
        else:  # above the labels, or a diagonal that is left empty
            labeled = body[:1] != [] and body[0][1:2] != top[:1]
            labeled |= _numbered(top[1:]) and top[1 : len(rows)] == labels[len(top) - 1 :]
        labeled |= 2 * sum(not is_number(cell) for cell in labels) > len(labels)
        return MatrixLayout(labeled, labeled)
    if n_rows == width + 1 and (_numbered(top) or not all(map(is_number, top))):
        return MatrixLayout(True, False) if number_share([row[:1] for row in body]) > 0.5 else None
    if n_rows == width - 1 and not all(is_number(row[0]) for row in rows):
        return MatrixLayout(False, True) if number_share([top[1:]]) > 0.5 else None
    return None


class PointColumns(NamedTuple):
    """Positions of the columns of points; those of attributes are the others."""

    coordinates: list[int]
    vectors: list[int]
    vector_kind: str | None
    label: int | None


def point_columns(header: Sequence[str]) -> PointColumns:
    """Find coordinates, vectors and labels of points by the names of the columns.

    Examples
    --------
    >>> point_columns(["name", "x", "y", "u", "v", "depth"])
    PointColumns(coordinates=[1, 2], vectors=[3, 4], vector_kind='current', label=0)
    """
    names = [cell.lower() for cell in header]
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        raise InputError(f"the column {repeated[0]!r} is repeated.")
    found = _vectors(names)
    if len(found) > 1:
        raise InputError("it has columns of a drift and of a current; points have one of the two.")
    kind, vectors = next(iter(found.items())) if found else (None, {})
    usual = [name for name in names if re.fullmatch(r"[xyz]|x\d+", name)]
    axes = [name for name in names if name in vectors] if kind else usual
    if lost := [name for name in vectors if name not in names]:
        raise InputError(f"there is a {kind} along {lost[0]!r}, but no column {lost[0]!r}.")
    if set(axes) & set(usual) and (bare := [name for name in usual if name not in axes]):
        raise InputError(f"the column {bare[0]!r} has no {kind}_{bare[0]}; write 0 where there is none.")
    if not axes:
        raise InputError("points need columns x, y, ... with drift_x, ... or current_x, ... beside them.")
    label = next((names.index(name) for name in LABELS if name in names), 0 if not names[0] else None)
    return PointColumns([names.index(a) for a in axes], [vectors[a] for a in axes if kind], kind, label)


def _vectors(names: list[str]) -> dict[str, dict[str, int]]:
    """Position of the vector of each coordinate, for a drift and a current; short names only if there is no long one."""
    found: dict[str, dict[str, int]] = {}
    short = [_SHORT.get(name, "") for name in names]
    if "u" not in names:  # then v and w mean something else
        short = [name.removeprefix("current") for name in short]
    for spelled in (names, [name if name[-1:] in names else "" for name in short]):
        for i, name in enumerate(spelled):
            kind, _, of = name.partition("_")
            if kind in ("drift", "current") and of:
                found.setdefault(kind, {})[of] = i
        if found:
            break
    return found


def check_labels(labels: Sequence[str], name: str) -> None:
    """Refuse labels that are given twice."""
    label, count = Counter(labels).most_common(1)[0]
    if count > 1:
        raise InputError(f"{name}: the label {label!r} is given {count} times; labels must be distinct.")


def _matrix(text: Text) -> Table:
    rows = [cells for _, cells in text.head]
    layout = matrix_layout(rows, text.n_rows)
    if layout is None:  # guess, to count
        header = number_share([rows[0][1:]]) <= 0.5
        layout = MatrixLayout(header, number_share([row[:1] for row in rows[1:]]) <= 0.5)
    n, width = text.n_rows - layout.header, text.width - layout.side
    if n != width:
        raise InputError(
            f"{text.name}: a matrix must be square, from row to column; this one has {n} rows and {width} columns "
            f"of numbers{' besides its labels' if layout.header or layout.side else ''}."
        )
    names = rows[0] if layout.header else None
    if names is not None and layout.short:
        names = ["", *names]
    values, labels = np.empty((n, n)), []
    for i, (row, cells) in enumerate(text.body(layout.header, layout.short)):
        if layout.side:
            labels.append(cells[0])
        values[i] = text.numbers(cells[layout.side :], row, int(layout.side), names)
    columns = labels if names is None else names[layout.side :]
    if layout.side and labels != columns:
        k = next(k for k in range(n) if labels[k] != columns[k])
        orders = (
            "the same labels in different orders" if sorted(labels) == sorted(columns) else "different labels"
        )
        raise InputError(
            f"{text.name}: rows and columns carry {orders}: number {k + 1} is {labels[k]!r} among the rows and "
            f"{columns[k]!r} among the columns."
        )
    if columns:
        check_labels(columns, text.name)
    return Table("matrix", text.name, values, columns or None)


def _edges(text: Text, columns: Sequence[str] | None) -> Table:
    top, *rows = [cells for _, cells in text.head]
    header = columns is not None or _edges_header(top, rows)
    names: list[Any] = top if header else list(range(text.width))
    source, target, *lengths = columns if columns is not None else (None, None, "auto")
    try:
        i, j, k = choose_columns(names, source, target, lengths[0] if lengths else None)
    except ValueError as error:
        raise InputError(f"{text.name}: {error}") from error
    ends: list[list[str]] = [[], []]
    values: list[float] = []
    for row, cells in text.body(header):
        for list_of, column in zip(ends, (i, j), strict=True):
            if not cells[column]:
                raise InputError(f"{text.name}: row {row}, column {column + 1}: a node is missing.")
            list_of.append(cells[column])
        if k is not None:
            values.append(text.number(cells[k], row, k, top if header else None))
    integers = all(map(_is_integer, {*ends[0], *ends[1]}))
    nodes: list[list[Any]] = [[int(end) for end in side] for side in ends] if integers else [*ends]
    try:
        graph = as_digraph((*nodes, np.array(values)) if k is not None else (nodes[0], nodes[1]))
    except ValueError as error:
        raise InputError(f"{text.name}: {error}") from error
    return Table("edges", text.name, graph=graph)


def _points(text: Text) -> Table:
    header = text.head[0][1]
    try:
        found = point_columns(header)
    except ValueError as error:
        raise InputError(f"{text.name}: {error}") from error
    rows = list(text.body(header=True))
    if not rows:
        raise InputError(f"{text.name} has a header, but no points below it.")

    def read(columns: list[int]) -> Array:
        values = np.array([[text.number(cells[k], row, k, header) for k in columns] for row, cells in rows])
        if not np.isfinite(values).all():
            i, k = np.argwhere(~np.isfinite(values))[0]
            cell = f'row {rows[i][0]}, column "{header[columns[k]]}"'
            raise InputError(
                f"{text.name}: {cell}: {rows[i][1][columns[k]]!r}, but points need finite numbers there."
            )
        return values

    labels = None if found.label is None else [cells[found.label] for _, cells in rows]
    if labels is not None:
        check_labels(labels, text.name)
    used = {*found.coordinates, *found.vectors, found.label}
    return Table(
        "points",
        text.name,
        read(found.coordinates),
        labels,
        columns=[header[k] for k in found.coordinates],
        vectors=read(found.vectors) if found.vector_kind else None,
        vector_kind=found.vector_kind,
        attributes={
            header[k] or f"column {k + 1}": attribute(text, [(row, cells[k]) for row, cells in rows], k)
            for k in range(text.width)
            if k not in used
        },
    )


def attribute(text: Text, cells: list[tuple[int, str]], column: int) -> Array:
    """Values of a column that describes points: numbers if all are, else text."""
    if all(is_number(cell) for _, cell in cells):
        return np.array([text.number(cell, row, column) for row, cell in cells])
    return np.array([cell for _, cell in cells])


def _read_arrays(path: Path, suffix: str, kind: str) -> Table:
    """Read a matrix, or edges, that numpy or scipy saved."""
    require_file(path)
    labels: list[str] | None = None
    try:
        found = np.load(path, allow_pickle=False)
        if suffix == ".npz":
            names = set(found.files)
            if "json" in names:
                raise InputError("it is a saved map, which is plotted and measured, not embedded again")
            if {"format", "shape", "data"} <= names or {"src", "dst", "n_nodes"} <= names:
                _require_kind(path.name, kind, "edges")
                return Table("edges", path.name, graph=read_graph(path))
            if "labels" in names and len(names) == 2:
                labels = [str(label) for label in found["labels"].tolist()]
                names.remove("labels")
            if len(names) != 1:
                raise InputError(
                    f"one matrix was expected, possibly with an array 'labels'; found {found.files}"
                )
            found = found[names.pop()]
    except (ValueError, OSError, EOFError, KeyError, zlib.error) as error:
        raise InputError(f"{path.name} cannot be read as {suffix}: {str(error).rstrip('.')}.") from error
    _require_kind(path.name, kind, "matrix")
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf":
        raise InputError(
            f"{path.name}: a square matrix of numbers was expected; found shape {found.shape} of {found.dtype}."
        )
    if labels is not None and len(labels) != len(found):
        raise InputError(f"{path.name}: there are {len(labels)} labels for {len(found)} rows.")
    return Table(
        "matrix", path.name, found.astype(np.float32 if found.dtype == np.float32 else float), labels
    )


def _require_kind(name: str, asked: str, found: str) -> None:
    if asked not in ("auto", found):
        raise InputError(f"{name} holds {found}, not {asked} as kind={asked!r} says.")


def _numbered(labels: Sequence[str]) -> bool:
    return list(labels) in ([str(i + start) for i in range(len(labels))] for start in (0, 1))


def _is_zero(cells: Sequence[str]) -> bool:
    """Whether the one cell that is there is zero or missing."""
    return all(cell.lower() in MISSING or re.fullmatch(r"[+-]?(0+[.,]?0*|[.,]0+)", cell) for cell in cells)


def _edges_header(top: list[str], rows: list[list[str]]) -> bool:
    """Whether the first row of edges holds names; the rule is that of `finsler.graphs.readers.read_graph`."""
    names = {cell.lower() for cell in top}
    if names & SOURCE and names & TARGET:
        return True
    if (
        not rows
        or any(is_number(cell, blank=False) for cell in top)
        or {*top} & {c for row in rows for c in row}
    ):
        return False
    return any(all(is_number(cell, blank=False) for cell in column) for column in zip(*rows, strict=False))


def _is_integer(cell: str) -> bool:
    return bool(re.fullmatch(r"0|-?[1-9]\d*", cell, re.ASCII))
