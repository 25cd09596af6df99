"""Tables from files: a matrix, measured pairs, arcs of a graph, or points with a drift or a current.

`FORMATS` in `finsler.data.readers` is the table of file formats:

* tables of cells: text (``.csv .tsv .txt .dat .edges .edgelist``), ``.xlsx``, ``.parquet``, ``.feather``;
* matrices: ``.npy``, ``.npz``, ``.mat``, ``.atsp`` (TSPLIB, full matrices; their diagonal means nothing), and ``.json`` of
  OSRM, openrouteservice and Valhalla, where null is no route, and names and positions are labels and attributes;
* gridded fields: netCDF (``.nc .nc4``), see `finsler.data.readers.gridded`;
* graphs: ``.graphml .gexf .gml .net .json .mtx .npz .mat``, and cells, ``.h5ad``: see `finsler.graphs.readers.read_graph`.

Tables of cells are

Text
    The delimiter is found among tab, semicolon, comma, bar and blanks. Lines that start with ``#`` or ``%``, empty
    lines, and a web address alone on the first line are skipped. Empty cells, NA, N/A, NaN, null and None are missing.
    Unless the delimiter is a comma, numbers may have decimal commas (``1,5``), but then all of them.
Matrix
    From row to column; labels in the first row, in the first column, in both or in neither.
Pairs, edges
    One row per measured pair, or per arc of a graph: source, target and value or length, by the names of the columns or
    in this order. Ways lead along arcs; a pair that is not there is missing. `finsler.data.columns` tells how the two
    are told apart, and which names are known.
Points
    One row per point under a header. A coordinate is a column ``NAME`` beside which there is ``drift_NAME`` or
    ``current_NAME``: ``x, y, current_x, current_y``. Short for x, y, z: ``dx, dy, dz`` are the drift, ``u, v, w`` the
    current; ``u, v`` also that of ``lon, lat``, and ``V1, V2, ...`` that of ``PC1, PC2, ...`` or ``x1, x2, ...``. Points
    with an empty cell among these are left out, and named. A column ``label``, ``name`` or ``id``, or a first one without
    a name, holds labels; all others are attributes. (A drift makes going along it costly, a current cheap: see
    `finsler.graphs.neighbors`.)
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from finsler._memory import drop_pages, require_memory
from finsler.data.columns import (
    TAKEN_FOR,
    MatrixLayout,
    arcs_or_pairs,
    choose_columns,
    detect,
    find_column,
    long_header,
    matrix_layout,
    numbered_ends,
    point_columns,
)
from finsler.data.frames import RECTANGULAR
from finsler.data.provenance import Provenance, count
from finsler.data.readers import Cells, GraphFile, Grid, Matrix, read_file, require_known
from finsler.data.readers.attributed import AttributedGraph
from finsler.data.readers.columnar import Columns
from finsler.data.readers.fast_text import EMPTY_WORDS
from finsler.data.readers.text import Text, is_number, number_share
from finsler.data.where import Where, parse_where, rows_where
from finsler.errors import InputError, check_choice

KINDS = ("auto", "matrix", "pairs", "edges", "points", "field")
ORIENTATIONS = ("from-to", "to-from")
TURNED = "Columns are where ways begin: the matrix was turned."

ROWS = 256  # of a matrix that are looked at in one go

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Table:
    """What a file holds: `kind` is "matrix", "pairs", "edges", "points" or "field". Made by :func:`read_table`."""

    kind: str
    name: str  #: Of the file, for messages.
    values: Array | None = None  #: Matrix; coordinates of points; values of arcs, None: each counts as one.
    labels: list[Any] | None = None  #: Of points; those of pairs and edges are in `source` and `target`.
    source: Array | None = None  #: Ends of pairs and edges: integers if all are written so, otherwise text.
    target: Array | None = None
    columns: list[str] = field(default_factory=list)  #: Names of the coordinates.
    vectors: Array | None = None  #: A drift or a current at each point, as `vector_kind` says.
    vector_kind: str | None = None
    attributes: dict[str, Array] = field(
        default_factory=dict
    )  #: Further columns of points, and what a file tells of the points of a matrix or graph: numbers, or text.
    content: Any = None  #: The graph or grid of a file that holds one, as its reader gives it.
    graph: Any = (
        None  #: The digraph that edges, or a field, make; `finsler.graphs.readers.open_file` fills it in.
    )
    provenance: Provenance = field(
        default_factory=Provenance
    )  #: Columns that were read, and what was decided.

    def describe(self) -> str:
        """Say in one line what was read."""
        ways = {"matrix": self._describe_matrix, "points": self._describe_points}
        if self.kind == "field":
            what = f"a gridded field of {', '.join(self.columns)}"
            what += "" if self.graph is None else f", {self.graph.describe().removeprefix('Digraph: ')}"
        elif self.graph is not None:
            what = f"edges of a digraph with {self.graph.describe().removeprefix('Digraph: ')}"
        else:
            what = ways.get(self.kind, self._describe_pairs)() if self.content is None else "a graph"
        facts = self.provenance if self.graph is None else self.graph.provenance
        remarks = [*facts.skipped(), *facts.remarks]
        return " ".join([f"{self.name}: {what}{'.' * bool(remarks)}", *remarks])

    def _describe_pairs(self) -> str:
        assert self.source is not None
        assert self.target is not None
        known = [True] * len(self.source) if self.values is None else ~np.isnan(self.values)
        pairs = {
            (i, j) for i, j, there in zip(self.source, self.target, known, strict=True) if i != j and there
        }
        n = len({*self.source, *self.target})
        n_missing = n * (n - 1) - len(pairs)
        others = f", {count(n_missing, 'ordered pair')} missing" if self.kind == "pairs" and n_missing else ""
        return f"{count(len(pairs), self.kind[:-1])} of {count(n, 'place')}{others}"

    def _describe_matrix(self) -> str:
        assert self.values is not None
        n, width = self.values.shape
        n_gaps = -int(np.isnan(np.diagonal(self.values)).sum())
        for k in range(0, n, ROWS):  # it may be larger than memory
            n_gaps += int(np.isnan(self.values[k : k + ROWS]).sum())
            drop_pages(self.values)
        gaps = f", {count(n_gaps, 'value')} missing" if n_gaps else ""
        return f"a {n} x {width} matrix {'without' if self.labels is None else 'with'} labels{gaps}"

    def _describe_points(self) -> str:
        assert self.values is not None
        n, width = self.values.shape
        vectors = f"with a {self.vector_kind} at each" if self.vector_kind else "without a drift or current"
        more = f", attributes {', '.join(self.attributes)}" if self.attributes else ""
        return f"{n:,} points in {count(width, 'dimension')} ({', '.join(self.columns)}), {vectors}{more}"


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
    sheet: str | int | None = None,
    variable: str | None = None,
    orientation: str = "from-to",
) -> Table:
    r"""Read a table and find out what it is. How tables are written is told at the top of this module.

    Parameters
    ----------
    file : path-like or binary file
        In any format of `finsler.data.readers`. A file object holds text. Of a graph only the `content` is read;
        `finsler.graphs.readers.open_file` makes a digraph of it.
    kind : {"auto", "matrix", "pairs", "edges", "points", "field"}
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
    sheet : str or int, optional
        Of an Excel file, by name or by position from 0.
    variable : str, optional
        Of a MATLAB file, or table of a routing service: durations (as by default) or distances.
    orientation : {"from-to", "to-from"}
        Whether the rows of a matrix are where ways begin, or its columns; then it is turned, which is said.

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
    check_choice("orientation", orientation, ORIENTATIONS)
    if isinstance(file, str | os.PathLike) and kind == "auto":
        require_known(Path(file))
    text = read_file(file, encoding, delimiter, sheet=sheet, variable=variable)
    if not isinstance(text, Text | Columns):
        only_text = {
            "source": source, "target": target, "similarity": similarity, "where": where, "delimiter": delimiter,
            "header": header,
        }  # fmt: skip
        return oriented(_ready(text, Path(str(file)).name, kind, only_text), orientation)
    long = kind in ("pairs", "edges") or source is not None or where is not None
    long = long or not isinstance(value, str) or value != "auto"
    found = "long" if long else kind
    if found == "auto":
        found = detect([cells for _, cells in text.head], text.n_rows, text.name)
    if found == "long" and kind in ("auto", "pairs", "edges"):
        table = _long(text, kind, (source, target, value), similarity, parse_where(where), header)
    elif long:
        raise InputError(f"source, target, value and where are for pairs and edges, not for kind={kind!r}.")
    else:
        if found == "field":
            raise InputError(f"{text.name} holds a table of text; a gridded field is a netCDF file (.nc).")
        table = _matrix(text) if found == "matrix" else points_of(text)
    if text.said:
        table = replace(table, provenance=table.provenance.having(remarks=text.said))
    return oriented(table, orientation)


def oriented(table: Table, orientation: str) -> Table:
    """Give a table whose rows are where ways begin."""
    if orientation == "from-to":
        return table
    if table.kind != "matrix" or table.values is None:
        raise InputError(f"to-from is for a matrix; {table.name} holds {table.kind}.", argument="orientation")
    require_memory(8.0 * table.values.size, f"{table.name}, turned,", "Write it from row to column.")
    facts = table.provenance.having(remarks=[TURNED])
    return replace(table, values=np.array(table.values.T, order="C"), provenance=facts)


def _ready(content: Matrix | GraphFile | Grid, name: str, kind: str, only_text: Mapping[str, Any]) -> Table:
    """Table of a file that says itself what it is."""
    found = {GraphFile: "edges", Grid: "field"}.get(type(content), "matrix")
    _require_kind(name, kind, found)
    for option, given in only_text.items():
        if given is not None and (found != "matrix" or option != "similarity"):
            what = {"edges": "graph", "field": "gridded field"}.get(found, found)
            raise InputError(f"{option} is for text files; {name} holds a {what}.")
    if isinstance(content, Grid):
        return Table(
            "field", name, columns=content.variables, content=content, provenance=Provenance(name, "field")
        )
    if isinstance(content, GraphFile):
        own = content.graph.attributes if isinstance(content.graph, AttributedGraph) else {}
        about = {title: plain_array(values) for title, values in own.items()}
        return Table(
            "edges", name, content=content.graph, attributes=about, provenance=Provenance(name, "edges")
        )
    about = {title: plain_array(values) for title, values in content.attributes.items()}
    roles = {"value": content.variable} if content.variable else {}
    facts = Provenance(name, "matrix", roles, remarks=content.remarks)
    return Table("matrix", name, content.values, content.labels, attributes=about, provenance=facts)


def plain_array(values: Sequence[Any]) -> Array:
    """Values of an attribute of points: numbers if all that are there are, else text; NaN or "" where there is none."""
    if all(value is None or (is_number(str(value)) and not isinstance(value, bool)) for value in values):
        words = [str(value).lower() for value in values]
        if all("," not in word for word in words):
            return np.array(
                [np.nan if word in EMPTY_WORDS else float(word.replace("∞", "inf")) for word in words]
            )
    return np.array(["" if value is None else str(value) for value in values])


def _require_kind(name: str, asked: str, found: str) -> None:
    """Refuse to take a file for what it is not."""
    if asked == "pairs" and found == "edges":
        raise InputError(f"{name} holds a graph: name the attribute of its lengths by weight, not by value.")
    if asked not in ("auto", found):
        raise InputError(f"{name} holds {found}, not {asked} as kind={asked!r} says.")


def check_labels(labels: Sequence[str], name: str) -> None:
    """Refuse labels that are given twice."""
    label, times = Counter(labels).most_common(1)[0]
    if times > 1:
        raise InputError(f"{name}: the label {label!r} is given {times} times; labels must be distinct.")


def _matrix(text: Cells) -> Table:
    rows = [cells for _, cells in text.head]
    layout = matrix_layout(rows, text.n_rows)
    if layout is None:  # guess, to count
        header = number_share([rows[0][1:]]) <= 0.5
        layout = MatrixLayout(header, number_share([row[:1] for row in rows[1:]]) <= 0.5)
    n, width = text.n_rows - layout.header, text.width - layout.side
    if n != width:
        raise InputError(
            f"{text.name}: a matrix must be square, from row to column; this one has {n} rows and {width} columns "
            f"of numbers{' besides its labels' if layout.header or layout.side else ''}. {RECTANGULAR}"
        )
    names = [""] * layout.short + rows[0] if layout.header else None
    numbers = range(layout.side, text.width)
    texts, values = text.read([0] * layout.side, numbers, layout.header, names, layout.short)
    labels = texts[0] if layout.side else []
    columns = labels if names is None else names[layout.side :]
    if layout.side and labels != columns:
        k = next(k for k in range(n) if labels[k] != columns[k])
        same = sorted(labels) == sorted(columns)
        raise InputError(
            f"{text.name}: rows and columns carry {'the same labels in different orders' if same else 'different labels'}: "
            f"number {k + 1} is {labels[k]!r} among the rows and {columns[k]!r} among the columns."
        )
    if columns:
        check_labels(columns, text.name)
    facts = Provenance(text.name, "matrix", n_comments=text.n_comments)
    return Table("matrix", text.name, values, columns or None, provenance=facts)


def _long(
    text: Cells,
    kind: str,
    chosen: tuple[Any, Any, Any],
    similarity: str | None,
    where: Where,
    header: bool | None,
) -> Table:
    """Read pairs or edges; if `kind` is "auto", find out which, and say so."""
    if similarity is not None and kind == "edges":
        raise InputError("similarity goes with kind='pairs': edges have lengths.")
    top, *rows = [cells for _, cells in text.head]
    if header is None:
        named = any(isinstance(column, str) and column != "auto" for column in chosen)
        header = text.named or named or bool(where) or long_header(top, rows)
    names: list[Any] = top if header else list(range(text.width))
    try:
        word = "weight" if kind == "edges" else "value"
        i, j, k = choose_columns(names, *chosen, similarity=similarity is not None, word=word)
        filters = [find_column(names, name, "where") for name in where]
    except InputError as error:
        raise InputError(f"{text.name}: {error}") from error
    ends = text.whole_numbers([i, j], header)
    words = [i, j] if ends is None else []
    texts, numbers = text.read([*words, *filters], [] if k is None else [k], header, top if header else None)
    for column, cells in zip(words, texts, strict=False):
        if "" in cells:
            line = text.line(cells.index(""), header)
            raise InputError(f"{text.name}: row {line}, column {column + 1}: a node is missing.")
    kept, remarks = rows_where(dict(zip(where, texts[len(words) :], strict=True)), where)
    source, target = nodes_from_text(texts[0], texts[1]) if ends is None else ends
    if not len(source) or not (kept is ... or len(kept)):
        raise InputError(" ".join([f"{text.name} holds no arcs or pairs.", *remarks]))
    source, target = source[kept], target[kept]
    values = None if k is None else numbers[kept, 0]
    if not header and ends is None:
        remarks = [*remarks, *about_first_row(source, target)]
    if kind == "auto" and values is not None and similarity is None:
        codes, n_places = numbered_ends(source, target)
        kind = arcs_or_pairs(codes[: len(source)], codes[len(source) :], values, n_places)
        remarks = [*remarks, TAKEN_FOR[kind]]
    elif kind == "auto":
        kind = "edges" if values is None else "pairs"
        if values is None and len(source) == 1 and ends is None and not header:
            raise InputError(
                f"{text.name} holds two words and no number, {texts[0][0]!r} and {texts[1][0]!r}; if that is a graph of one "
                "arc, say so by kind='edges' (--kind edges)."
            )
    if kind == "pairs" and values is None:
        raise InputError(f"{text.name}: pairs need values; there are only two columns.")
    roles = {"source": i, "target": j, **({} if k is None else {"value": k})} if header else {}
    columns = {role: str(names[column]) for role, column in roles.items()}
    facts = Provenance(text.name, kind, columns, counts_arcs=values is None, remarks=tuple(remarks))
    facts = facts.having(n_comments=text.n_comments)
    return Table(kind, text.name, values, source=source, target=target, provenance=facts)


def about_first_row(source: Array, target: Array) -> list[str]:
    """What to say where the first row was read as an arc, and may be a header: its names stand in no other row."""
    names = (source[0], target[0])
    if len(source) < 3 or any(
        np.count_nonzero(column == name) > (column[0] == name)
        for name in names
        for column in (source, target)
    ):
        return []
    return [
        f"The first row, {names[0]!r} and {names[1]!r}, is read as an arc, though no other row has these names. If it is a "
        f"header, name its columns: source={names[0]!r}, target={names[1]!r} (--source, --target)."
    ]


def nodes_from_text(source: list[str], target: list[str]) -> tuple[Array, Array]:
    """Names of nodes: integers if all are written as Python writes them (not 007, +7 or 7_000), otherwise text."""
    whole = re.compile(r"0|-?[1-9]\d{0,17}", re.ASCII).fullmatch
    if source and whole(source[0]) and all(map(whole, {*source, *target})):
        return np.array(source).astype(np.int64), np.array(target).astype(np.int64)
    return np.array(source, dtype=object), np.array(target, dtype=object)


def points_of(text: Cells) -> Table:
    """Points, and what is known about each, from a table with a header."""
    header = text.head[0][1]
    try:
        found = point_columns(header)
    except InputError as error:
        raise InputError(f"{text.name}: {error}") from error
    numbers = [*found.coordinates, *found.vectors]
    taken = {*numbers, found.label}
    others = [k for k in range(text.width) if k not in taken]
    texts, values = text.read(
        [*others, *([] if found.label is None else [found.label])], numbers, True, header
    )
    if not len(values):
        raise InputError(f"{text.name} has a header, but no points below it.")
    if np.isinf(values).any():
        i, k = np.argwhere(np.isinf(values))[0]
        raise InputError(
            f'{text.name}: row {text.line(i, True)}, column "{header[numbers[k]]}": {values[i, k]}, but points need finite '
            "numbers there."
        )
    labels = None if found.label is None else texts[-1]
    if labels is not None:
        check_labels(labels, text.name)
    gaps = np.isnan(values).any(axis=1)
    left = [
        f"row {text.line(i, True)}" if labels is None else labels[i] for i in np.flatnonzero(gaps).tolist()
    ]
    if gaps.any():
        kept = np.flatnonzero(~gaps)
        if not len(kept):
            raise InputError(
                f"{text.name}: no point has all its coordinates{' and vectors' * bool(found.vectors)}."
            )
        values, texts = values[kept], [[cells[i] for i in kept] for cells in texts]
        labels = None if labels is None else texts[-1]
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
        provenance=Provenance(text.name, "points", n_comments=text.n_comments, left_out=tuple(left)),
    )


def attribute(text: Cells, cells: list[tuple[int, str]], column: int) -> Array:
    """Values of a column that describes points: numbers if all are, else text."""
    if all(is_number(cell) for _, cell in cells):
        return np.array([text.number(cell, row, column) for row, cell in cells])
    return np.array([cell for _, cell in cells])
