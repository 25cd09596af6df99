"""Digraphs from files: lists of arcs, Matrix Market, GraphML, npz.

Text files are parsed by the csv module: quoting is right, rows keep their number for the error messages, and
a million arcs take a few seconds without pandas.
"""

from __future__ import annotations

import csv
import gzip
import os
import zipfile
import zlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from re import fullmatch, sub
from typing import Any, NamedTuple
from xml.etree.ElementTree import ParseError

import numpy as np
from scipy.io import mmread
from scipy.sparse import load_npz

from finsler.errors import InputError, MissingExtraError
from finsler.graphs.arcs import (
    SOURCE,
    TARGET,
    Arcs,
    arcs_between,
    check_names,
    choose_columns,
    matrix_arcs,
    networkx_arcs,
    node_array,
    node_codes,
    objects,
)
from finsler.graphs.digraph import Digraph, assemble, warn_of_repairs

_KINDS = dict.fromkeys([".csv", ".tsv", ".txt", ".edges", ".edgelist"], "arcs")
_KINDS |= {".mtx": "mtx", ".graphml": "graphml", ".npz": "npz"}


def read_graph(
    path: str | os.PathLike[str],
    *,
    kind: str | None = None,
    source: str | int | None = None,
    target: str | int | None = None,
    weight: str | int | None = "auto",
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8-sig",
    directed: bool | None = None,
    labels: Iterable[Hashable] | None = None,
    duplicates: str = "min",
) -> Digraph:
    r"""Read a digraph from a file; ``.gz`` may follow any suffix but that of npz.

    * ``.csv .tsv .txt .edges .edgelist``: one arc per row: source, target and possibly length. Lines that
      start with ``#`` or ``%``, empty lines, and a web address alone on the first line (as SNAP has it) are
      skipped; blanks around a cell do not count. Nodes are integers if all are written as integers (so
      ``007`` makes all of them text).
    * ``.mtx``: Matrix Market, general or symmetric, with values or pattern.
    * ``.graphml``: needs networkx; nodes are named by their id.
    * ``.npz``: a matrix of `scipy.sparse.save_npz`, or the arrays ``src``, ``dst`` (positions), ``n_nodes``
      and possibly ``weight`` and ``node_labels``. Nothing pickled is read.

    Parameters
    ----------
    path : str or Path
    kind : {"arcs", "mtx", "graphml", "npz"}, optional
        What the file holds; by default its suffix says.
    source, target : str or int, optional
        Columns of a text file, by name or by position from 0; otherwise recognized by name (source, src,
        from, origin; target, dst, to, destination), else the first two.
    weight : str, int or None
        Column, GraphML attribute or npz array of the lengths; None gives every arc the length one. "auto"
        takes "weight" (in a text file also length, distance, cost, else the third of three columns).
    delimiter : str, optional
        Between the columns of a text file: a character, or " " for any blanks. Otherwise found among tab,
        comma, semicolon, and blanks.
    header : bool, optional
        Whether the first row of a text file holds names. Otherwise it does if it names a source and a
        target, or if no cell of it is a number, below it some column is all numbers, and no node of the
        first hundred rows occurs in it.
    encoding : str
        Of a text file.
    directed, labels, duplicates
        As in `finsler.graphs.digraph.as_digraph`.

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
    Digraph: 2 nodes, 2 arcs, lengths 25 to 40
    >>> graph.labels
    ['home', 'work']
    """
    layout = TextLayout(source, target, delimiter, header, encoding)
    arcs = read_arcs(path, kind, weight, labels, layout)
    graph = assemble(arcs, directed, duplicates)
    warn_of_repairs(graph)
    return graph


class TextLayout(NamedTuple):
    """How a text file is written; see `read_graph`."""

    source: Any = None
    target: Any = None
    delimiter: str | None = None
    header: bool | None = None
    encoding: str = "utf-8-sig"


def read_arcs(path: Any, kind: str | None, weight: Any, labels: Any, layout: TextLayout) -> Arcs:
    """Arcs of a file, before anything is cleaned."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty.")
    suffixes = [suffix.lower() for suffix in path.suffixes]
    suffix = "".join([s for s in suffixes if s != ".gz"][-1:])
    kind = kind or _KINDS.get(suffix, "unknown")
    if kind not in _KINDS.values():
        raise InputError(
            f"What {path.name} holds is not known (kind={kind!r}). Known suffixes: {' '.join(_KINDS)}, also "
            f"followed by .gz. Otherwise give kind: {', '.join(map(repr, dict.fromkeys(_KINDS.values())))}."
        )
    if kind != "arcs" and any(option is not None for option in layout[:4]):
        raise InputError(f"source, target, delimiter and header are for text files; {path.name} is {kind}.")
    with _readable(path, kind):
        if kind == "npz":
            return _npz_arcs(path, weight, labels)
        unpack: Any = gzip.open if suffixes[-1:] == [".gz"] else open
        if kind == "arcs":
            with unpack(path, "rt", encoding=layout.encoding, newline="") as lines:
                return _text_arcs(lines, weight, labels, layout)
        with unpack(path, "rb") as file:
            if kind == "mtx":
                return matrix_arcs(mmread(file), weight, labels)
            return _graphml_arcs(file, weight, labels)


@contextmanager
def _readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what broken files raise into an error that names the file."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path} is not text in this encoding ({error}). Save it as UTF-8, or give encoding=, perhaps 'cp1252', "
            "to finsler.graphs.readers.read_graph; embed_graph takes what it returns."
        ) from error
    except (EOFError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, ParseError) as error:
        raise InputError(f"{path} cannot be read as {kind}: {error}.") from error
    except ValueError as error:
        raise InputError(f"{path}: {error}") from error


def _npz_arcs(path: Path, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    with open(path, "rb") as file:
        arrays = np.load(file, allow_pickle=False)
        if not hasattr(arrays, "files"):
            raise InputError("it holds a single array.")
        if {"format", "shape", "data"} <= set(arrays.files):
            return matrix_arcs(load_npz(path), weight, labels)  # scipy too reads without pickle
        if not {"src", "dst", "n_nodes"} <= set(arrays.files):
            raise InputError(
                f"expected a scipy sparse matrix, or src, dst and n_nodes; found {arrays.files}."
            )
        n_nodes = int(arrays["n_nodes"])
        if labels is None and "node_labels" in arrays:
            labels = arrays["node_labels"]
        if weight not in ("auto", None) and weight not in arrays:
            raise InputError(f"weight={weight!r} is not among its arrays {arrays.files}.")
        wanted = "weight" if weight == "auto" else weight
        lengths = arrays[wanted] if wanted in arrays.files else None
        arcs = arcs_between(arrays["src"], arrays["dst"], lengths, range(n_nodes))
        return arcs._replace(labels=check_names(labels, n_nodes))


def _graphml_arcs(file: Any, weight: Any, labels: Iterable[Hashable] | None) -> Arcs:
    try:
        import networkx
    except ImportError as error:
        raise MissingExtraError("GraphML files need networkx: pip install 'finsler[graph]'.") from error
    try:
        graph = networkx.read_graphml(file)
    except networkx.NetworkXError as error:
        raise InputError(str(error)) from error
    return networkx_arcs(graph, weight, labels)


def _text_arcs(lines: Iterator[str], weight: Any, labels: Any, layout: TextLayout) -> Arcs:
    source, target, delimiter, header, _ = layout
    head: list[str] = []
    while sum(map(_holds_data, head)) < 20 and (more := list(islice(lines, 20))):
        head += more
    if head and _is_address(head[0], delimiter):
        head[0] = "#" + head[0]
    rows = _rows(chain(head, lines), delimiter or _sniff([line for line in head if _holds_data(line)]))
    first = list(islice(rows, 101))
    if not first:
        raise InputError("it holds no arcs.")
    top = first[0][1]
    if header is None:
        by_name = [c for c in (source, target, weight) if isinstance(c, str) and c != "auto"]
        header = bool(by_name) or _is_header(top, [cells for _, cells in first[1:]])
    i, j, k = choose_columns(top if header else list(range(len(top))), source, target, weight)

    seen: dict[str, int] = {}
    ends: list[int] = []
    lengths: list[float] = []
    for number, cells in chain(first[1:] if header else first, rows):
        if len(cells) != len(top):
            raise InputError(
                f"row {number} has {len(cells)} columns, where row {first[0][0]} has {len(top)}."
            )
        tail, tip = cells[i], cells[j]
        if not tail or not tip:
            raise InputError(f"row {number}, column {(j if tail else i) + 1}: a node is missing.")
        ends.append(seen.setdefault(tail, len(seen)))
        ends.append(seen.setdefault(tip, len(seen)))
        if k is not None:
            lengths.append(_number(cells[k], number, k))
    if not ends:
        raise InputError("it holds no arcs.")
    labels = check_names(labels)
    names = objects(seen)
    if not (labels and set(labels).issuperset(seen)) and all(map(_is_integer, seen)):
        names = node_array([int(name) for name in seen], "nodes")
    codes, nodes = node_codes(names, labels)
    codes = codes[np.array(ends)]
    return Arcs(codes[::2], codes[1::2], None if k is None else np.array(lengths), len(nodes), nodes)


def _number(cell: str, row: int, column: int) -> float:
    try:
        if "_" not in cell:  # which Python would allow
            return float(cell)
    except ValueError:
        pass
    raise InputError(
        f"row {row}, column {column + 1}: {cell!r} is not a number; decimals need a point. Say with weight= which column "
        "holds the lengths, or weight=None to count arcs."
    )


def _rows(lines: Iterable[str], delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Cells of each row, with the number of the line on which it starts."""
    start, at_start = 0, True

    def content() -> Iterator[str]:
        nonlocal start, at_start
        for number, line in enumerate(lines, 1):
            if at_start:  # inside a quoted cell nothing is a comment
                if not _holds_data(line):
                    continue
                start, at_start = number, False
            if delimiter == " " and '"' not in line:
                line = "\t".join(line.split())
            elif delimiter == " ":
                line = sub(r'("(?:[^"]|"")*")|\s+', lambda m: m[1] or "\t", line.strip())
            yield line

    reader = csv.reader(content(), delimiter="\t" if delimiter == " " else delimiter, strict=True)
    while True:
        at_start = True
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"row {start}: {error}.") from error
        yield start, [cell.strip() for cell in cells]


def _holds_data(line: str) -> bool:
    return line.lstrip()[:1] not in ("", "#", "%")


def _is_address(line: str, delimiter: str | None) -> bool:
    """Whether a line holds a web address and nothing else, so that it is no arc."""
    cell = line.strip()
    return bool(fullmatch(r"https?://[^\s,;]+", cell)) and (delimiter is None or delimiter not in cell)


def _sniff(lines: list[str]) -> str:
    """The delimiter that cuts most lines into the same number of cells, and into most cells."""
    best, found = (len(lines) // 2 + 1, 1), " "  # blanks, unless another one cuts more than half
    for delimiter in "\t,;":
        try:
            widths = Counter(len(cells) for cells in csv.reader(lines, delimiter=delimiter))
        except csv.Error:
            continue
        del widths[0], widths[1]
        if widths:
            width, count = widths.most_common(1)[0]
            if (count, width) > best:
                best, found = (count, width), delimiter
    return found


def _is_header(top: list[str], rows: list[list[str]]) -> bool:
    lower = {cell.lower() for cell in top}
    if lower & SOURCE and lower & TARGET:
        return True
    if not rows or any(map(_is_number, top)) or set(top) & {cell for cells in rows for cell in cells}:
        return False
    return any(all(map(_is_number, column)) for column in zip(*rows, strict=False))


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _is_integer(cell: str) -> bool:
    """Whether the integer is written as Python would: not 007, +7 or 7_000."""
    try:
        return str(int(cell)) == cell
    except ValueError:
        return False
