"""Tables from files: a matrix, measured pairs, arcs of a graph, or points with a drift or a current.

Text (``.csv .tsv .txt .dat .edges .edgelist``, also ``.gz``)
    The delimiter is found among tab, semicolon, comma, bar and blanks. Lines that start with ``#`` or ``%``, empty
    lines, and a web address alone on the first line are skipped. Empty cells, NA, N/A, NaN, null and None are missing.
    Unless the delimiter is a comma, numbers may have decimal commas (``1,5``), but then all of them.
Matrix
    From row to column; labels in the first row, in the first column, in both or in neither.
Pairs, edges
    One row per measured pair, or per arc of a graph: source, target and value or length, by the names of the columns or
    in this order. Ways lead along arcs; a pair that is not there is missing. `finsler.data.detection` tells how the two
    are told apart, `finsler.data.columns` which names are known.
Points
    One row per point under a header. A coordinate is a column ``NAME`` beside which there is ``drift_NAME`` or
    ``current_NAME``: ``x, y, current_x, current_y``. Short for x, y, z: ``dx, dy, dz`` are the drift, ``u, v, w`` the
    current. A column ``label``, ``name`` or ``id``, or a first one without a name, holds labels; all others are
    attributes. (A drift makes going along it costly, a current cheap: see `finsler.graphs.neighbors`.)
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.columns import choose_columns, find_column, point_columns
from finsler.data.detection import MatrixLayout, arcs_or_pairs, detect, long_header, matrix_layout
from finsler.data.provenance import Provenance, count
from finsler.data.readers.arrays import read_arrays
from finsler.data.readers.text import TEXT, Text, is_number, number_share, read_text, suffix_of
from finsler.errors import InputError, check_choice

KINDS = ("auto", "matrix", "pairs", "edges", "points")
ARRAYS = (".npy", ".npz")
GRAPHS = (".mtx", ".graphml")
SUFFIXES = (*TEXT, *ARRAYS, *GRAPHS)

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds. Made by :func:`read_table`.

    Attributes
    ----------
    kind : {"matrix", "pairs", "edges", "points"}
    name : str
        Name of the file, for messages.
    values : ndarray or None
        The matrix of shape (n, n), the coordinates of the points (n, d), or the values of pairs or edges (m,); None
        where every edge counts as one.
    labels : list or None
        Names of the points; those of pairs and edges are in `source` and `target`.
    source, target : ndarray of shape (m,) or None
        Ends of pairs and edges: integers if all are written as integers, otherwise text.
    columns : list of str
        Names of the coordinates.
    vectors : ndarray of shape (n, d) or None
        A drift or a current at each point.
    vector_kind : {"drift", "current"} or None
        Which of the two.
    attributes : dict of str to ndarray
        Further columns of points: numbers, or text.
    graph : Digraph or None
        The graph that edges make; `finsler.graphs.readers.open_file` fills it in.
    provenance : Provenance
        Columns that were read, and what was decided on the way.
    """

    kind: str
    name: str
    values: Array | None = None
    labels: list[Any] | None = None
    source: Array | None = None
    target: Array | None = None
    columns: list[str] = field(default_factory=list)
    vectors: Array | None = None
    vector_kind: str | None = None
    attributes: dict[str, Array] = field(default_factory=dict)
    graph: Any = None
    provenance: Provenance = field(default_factory=Provenance)

    def describe(self) -> str:
        """Say in one line what was read."""
        if self.graph is not None:
            what = f"edges of a digraph with {self.graph.describe().removeprefix('Digraph: ')}"
        elif self.kind in ("pairs", "edges"):
            what = self._describe_pairs()
        else:
            what = self._describe_matrix() if self.kind == "matrix" else self._describe_points()
        return ". ".join([f"{self.name}: {what}", *self.provenance.remarks])

    def _describe_pairs(self) -> str:
        pairs = [*zip(np.asarray(self.source).tolist(), np.asarray(self.target).tolist(), strict=True)]
        distinct = {(i, j) for i, j in pairs if i != j}
        n = len({place for pair in pairs for place in pair})
        others = ", the others missing" if self.kind == "pairs" and len(distinct) < n * (n - 1) else ""
        return f"{count(len(distinct), self.kind[:-1])} of {count(n, 'place')}{others}"

    def _describe_matrix(self) -> str:
        assert self.values is not None
        n, width = self.values.shape
        unknown = np.isnan(self.values)
        np.fill_diagonal(unknown, False)
        n_gaps = int(np.count_nonzero(unknown))
        gaps = f", {count(n_gaps, 'value')} missing" if n_gaps else ""
        return f"a {n} x {width} matrix {'without' if self.labels is None else 'with'} labels{gaps}"

    def _describe_points(self) -> str:
        assert self.values is not None
        n, width = self.values.shape
        parts = [f"{n:,} points in {count(width, 'dimension')} ({', '.join(self.columns)})"]
        parts.append(
            f"with a {self.vector_kind} at each" if self.vector_kind else "without a drift or current"
        )
        if self.attributes:
            parts.append(f"attributes {', '.join(self.attributes)}")
        return ", ".join(parts)


def read_table(
    file: str | os.PathLike[str] | IO[bytes],
    kind: str = "auto",
    *,
    source: Any = None,
    target: Any = None,
    value: Any = "auto",
    similarity: str | None = None,
    where: str | Sequence[str] | Mapping[str, Any] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
) -> Table:
    r"""Read a table and find out what it is. How tables are written is told at the top of this module.

    Parameters
    ----------
    file : path-like or binary file
        Text; or ``.npy`` or ``.npz`` with a matrix. A file object holds text. (`finsler.graphs.readers.open_file` reads
        graphs of all formats, too.)
    kind : {"auto", "matrix", "pairs", "edges", "points"}
        What the table is; by default it finds out.
    source, target : str or int, optional
        Columns of pairs or edges, by name or by position from 0.
    value : str, int, None or "auto"
        Column of their values or lengths; None counts every edge as one.
    similarity : str, optional
        Says that values are flows or similarities, which a later step turns into dissimilarities.
    where : dict, or text such as "year=2020", optional
        Rows of pairs or edges that count, by the values of some columns.
    encoding : str, optional
        Of text; by default UTF-8, or UTF-16 if the file starts with its byte order mark.
    delimiter : str, optional
        Between the cells of text: a character, or " " for any blanks.
    header : bool, optional
        Whether the first row of pairs or edges holds names.

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
    check_choice("kind", kind, KINDS)
    if isinstance(file, str | os.PathLike):
        path = Path(file)
        suffix = suffix_of(path)
        if suffix not in SUFFIXES and kind == "auto":
            raise InputError(
                f"{path.name}: the suffix {suffix or '(none)'} is not known; known are {' '.join(SUFFIXES)}, text also "
                "with .gz. Export other files as CSV, or say what this one holds: kind='matrix', 'pairs', 'edges', 'points'."
            )
        if suffix in ARRAYS:
            require_kind(path.name, kind, "matrix")
            values, labels = read_arrays(path)
            return Table("matrix", path.name, values, labels, provenance=Provenance(path.name, "matrix"))
        if suffix in GRAPHS:
            raise InputError(f"{path.name} holds a graph; finsler.graphs.readers.read_graph reads it.")
    text = read_text(file, encoding, delimiter)
    long = source is not None or where is not None or value != "auto"
    if kind == "auto":
        found = "long" if long else detect([cells for _, cells in text.head], text.n_rows, text.name)
    else:
        found = "long" if kind in ("pairs", "edges") else kind
    if found == "long":
        return _long(text, kind, (source, target, value), similarity, parse_where(where), header)
    if long:
        raise InputError(
            f"source, target, value and where are for pairs and edges; {text.name} is read as {found}."
        )
    return _matrix(text) if found == "matrix" else _points(text)


def require_kind(name: str, asked: str, found: str) -> None:
    """Refuse to take a file for what it is not."""
    if asked not in ("auto", found):
        raise InputError(f"{name} holds {found}, not {asked} as kind={asked!r} says.")


def check_labels(labels: Sequence[str], name: str) -> None:
    """Refuse labels that are given twice."""
    label, times = Counter(labels).most_common(1)[0]
    if times > 1:
        raise InputError(f"{name}: the label {label!r} is given {times} times; labels must be distinct.")


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
    names = [""] * layout.short + rows[0] if layout.header else None
    texts, values = text.read(
        [0] * layout.side, range(layout.side, text.width), layout.header, names, layout.short
    )
    labels = texts[0] if layout.side else []
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
    return Table("matrix", text.name, values, columns or None, provenance=Provenance(text.name, "matrix"))


def _long(
    text: Text,
    kind: str,
    chosen: tuple[Any, Any, Any],
    similarity: str | None,
    where: dict[str, list[Any]],
    header: bool | None,
) -> Table:
    """Read pairs or edges."""
    top, *rows = [cells for _, cells in text.head]
    if header is None:
        named = any(isinstance(column, str) and column != "auto" for column in chosen)
        header = named or bool(where) or long_header(top, rows)
    names: list[Any] = top if header else list(range(text.width))
    try:
        word = "weight" if kind == "edges" else "value"
        i, j, k = choose_columns(names, *chosen, similarity=similarity is not None, word=word)
        filters = {find_column(names, name, "where"): wanted for name, wanted in where.items()}
    except InputError as error:
        raise InputError(f"{text.name}: {error}") from error
    texts, numbers = text.read([i, j, *filters], [] if k is None else [k], header, top if header else None)
    for column, cells in zip((i, j), texts, strict=False):
        if "" in cells:
            raise InputError(
                f"{text.name}: row {text.line(cells.index(''), header)}, column {column + 1}: a node is missing."
            )
    source, target = nodes_from_text(texts[0], texts[1])
    values = None if k is None else numbers[:, 0]
    roles = {"source": i, "target": j, **({} if k is None else {"value": k})}
    facts = Provenance(
        text.name, columns={role: str(names[c]) for role, c in roles.items()} if header else {}
    )
    if filters:
        kept, said = rows_where(dict(zip(where, texts[2:], strict=True)), where)
        source, target, values = source[kept], target[kept], None if values is None else values[kept]
        facts = facts.having(remarks=[said])
    if not len(source):
        raise InputError(f"{text.name} holds no arcs or pairs{' with ' + said if filters else ''}.")
    return long_table(text.name, kind, source, target, values, similarity, facts)


def long_table(
    name: str,
    kind: str,
    source: Array,
    target: Array,
    values: Array | None,
    similarity: str | None,
    facts: Provenance,
) -> Table:
    """Make a table of pairs or edges; if `kind` is "auto", find out which, and say so."""
    if kind == "auto" and (values is None or similarity is not None):
        kind = "edges" if values is None else "pairs"
    elif kind == "auto":
        assert values is not None
        places = np.unique(np.concatenate([source, target]), return_inverse=True)
        i, j = np.split(places[1], 2)
        found = arcs_or_pairs(i, j, values, len(places[0]))
        kind, facts = found.kind, facts.having(remarks=[found.sentence()])
    if kind == "pairs" and values is None:
        raise InputError(f"{name}: pairs need values; there are only two columns.")
    facts = facts.having(kind=kind, counts_arcs=values is None)
    return Table(kind, name, values, source=source, target=target, provenance=facts)


def nodes_from_text(source: list[str], target: list[str]) -> tuple[Array, Array]:
    """Names of nodes: integers if all are written as Python writes them (not 007, +7 or 7_000), otherwise text."""
    distinct = {*source, *target}
    if all(re.fullmatch(r"0|-?[1-9]\d{0,17}", name, re.ASCII) for name in distinct):
        number = {name: int(name) for name in distinct}
        return (np.array([number[name] for name in side], dtype=np.int64) for side in (source, target))  # type: ignore[return-value]
    return np.array(source, dtype=object), np.array(target, dtype=object)


def parse_where(where: Any) -> dict[str, list[Any]]:
    """Values that count by column, from a dict or from text.

    Examples
    --------
    >>> parse_where("year=2020"), parse_where({"year": [2019, 2020]})
    ({'year': ['2020']}, {'year': [2019, 2020]})
    """
    if where is None:
        return {}
    if not isinstance(where, Mapping):
        parts = [text.partition("=") for text in ([where] if isinstance(where, str) else where)]
        if not all(name.strip() and mark for name, mark, _ in parts):
            raise InputError(f"where must be like 'year=2020', got {where!r}.")
        where = {name.strip(): value.strip() for name, _, value in parts}
    return {
        name: list(wanted) if isinstance(wanted, list | tuple | set) else [wanted]
        for name, wanted in where.items()
    }


def rows_where(columns: Mapping[str, Sequence[Any]], where: Mapping[str, list[Any]]) -> tuple[Array, str]:
    """Rows whose columns hold one of the values wanted, and how many these are in words.

    Examples
    --------
    >>> rows_where({"year": ["2019", "2020"]}, {"year": [2020]})
    (array([1]), 'year=2020 keeps 1 of 2 rows.')
    """
    kept = np.ones(len(next(iter(columns.values()))), dtype=bool)
    for name, wanted in where.items():
        texts = {_plain(value) for value in wanted}
        kept &= np.array([_plain(value) in texts for value in columns[name]], dtype=bool)
    said = ", ".join(f"{name}={'|'.join(map(str, wanted))}" for name, wanted in where.items())
    return np.flatnonzero(kept), f"{said} keeps {int(kept.sum()):,} of {len(kept):,} rows."


def _plain(value: Any) -> Any:
    """Spell numbers in one way, so that 2020, "2020" and 2020.0 are the same."""
    text = str(value).strip()
    return float(text) if is_number(text, blank=False) and "," not in text else text


def _points(text: Text) -> Table:
    header = text.head[0][1]
    try:
        found = point_columns(header)
    except InputError as error:
        raise InputError(f"{text.name}: {error}") from error
    numbers = [*found.coordinates, *found.vectors]
    others = [k for k in range(text.width) if k not in {*numbers, found.label}]
    texts, values = text.read(
        [*others, *([] if found.label is None else [found.label])], numbers, True, header
    )
    if not len(values):
        raise InputError(f"{text.name} has a header, but no points below it.")
    if not np.isfinite(values).all():
        i, k = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f'{text.name}: row {text.line(i, True)}, column "{header[numbers[k]]}": {values[i, k]}, but points need finite '
            "numbers there."
        )
    labels = None if found.label is None else texts[-1]
    if labels is not None:
        check_labels(labels, text.name)
    d = len(found.coordinates)
    return Table(
        "points",
        text.name,
        values[:, :d],
        labels,
        columns=[header[k] for k in found.coordinates],
        vectors=values[:, d:] if found.vector_kind else None,
        vector_kind=found.vector_kind,
        attributes={
            header[k] or f"column {k + 1}": attribute(text, [*enumerate(cells)], k)
            for k, cells in zip(others, texts, strict=False)
        },
        provenance=Provenance(text.name, "points"),
    )


def attribute(text: Text, cells: list[tuple[int, str]], column: int) -> Array:
    """Values of a column that describes points: numbers if all are, else text."""
    if all(is_number(cell) for _, cell in cells):
        return np.array([text.number(cell, row, column) for row, cell in cells])
    return np.array([cell for _, cell in cells])
