"""What a table is: a matrix, measured pairs, arcs of a graph, or points. The rules by which it is decided."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from finsler.data.columns import find_ends, find_vectors
from finsler.data.readers.fast_text import MISSING
from finsler.data.readers.text import is_number, number_share, table_width
from finsler.errors import InputError

Array = NDArray[Any]

FEW_PLACES = 10  # among which short steps and long ways cannot be told apart
STEPS = 2.0  # values that ways along arcs are longer than arcs
# What is said when it was decided, and how to decide otherwise.
TAKEN_FOR = {
    "pairs": "Taken for measured pairs; if these are roads between neighbors, kind='edges'.",
    "edges": "Taken for arcs that ways follow; if these are measured pairs, kind='pairs'.",
}
_SOURCES, _WORK = 16, 4_000_000  # places that ways are followed from, and pairs that are looked at in all


def detect(rows: Sequence[Sequence[str]], n_rows: int | None = None, name: str = "the table") -> str:
    """Tell what a table is from its first rows and the number of all: "matrix", "points" or "long", one row per arc or pair.

    :func:`arcs_or_pairs` tells which. `name` is what messages call it.

    Examples
    --------
    >>> detect([["from", "to", "km"], ["a", "b", "3"]]), detect([["x", "y", "u", "v"], ["0", "0", "1", "0"]])
    ('long', 'points')
    """
    total = len(rows) if n_rows is None else n_rows
    top, width = list(rows[0]), table_width(rows)
    matrix = matrix_layout(rows, total)
    square = False
    if matrix is not None:
        body = [row[matrix.side :] for row in rows[matrix.header :]]
        square = number_share(body) > 0.5
        across, down = top[1 - matrix.short :], [row[0] for row in rows[1:]]
        if square and matrix.header and matrix.side and across[: len(down)] == down:
            return "matrix"  # whatever its labels are
    if find_ends(top, letters=False) is not None:
        return "long"
    if find_vectors([cell.lower() for cell in top]):
        return "points"
    # Up to 3 x 3 it could be a long table, but for the diagonal.
    if square and (len(body) > 3 or all(_is_zero(row[i : i + 1]) for i, row in enumerate(body))):
        return "matrix"
    if width in (2, 3) or find_ends(top) is not None:
        return "long"
    if width > 3 and number_share([row[1:] for row in rows[1:] or rows]) > 0.5:
        return "matrix"  # not square; its reader tells
    raise InputError(
        f"{name}: {total:,} rows and {width} columns are neither a square matrix of numbers, nor edges or pairs (2 or 3 "
        "columns, or columns called source and target), nor points (columns x, y, ... with drift_x, ... or current_x, ...). "
        "If it is one of these, say which: kind='matrix', 'pairs', 'edges' or 'points'."
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


def long_header(top: list[str], rows: list[list[str]]) -> bool:
    """Whether the first row of a long table holds names.

    It does if it names both ends by words; or if no cell of it is a number or occurs below it, and some column below
    is all numbers.
    """
    if find_ends(top, letters=False) is not None:
        return True
    below = {cell for row in rows for cell in row}
    if not rows or any(is_number(cell, blank=False) for cell in top) or {*top} & below:
        return False
    return any(all(is_number(cell, blank=False) for cell in column) for column in zip(*rows, strict=False))


def arcs_or_pairs(source: Array, target: Array, values: Array, n_places: int) -> str:
    """Tell arcs of a graph ("edges"), along which ways lead, from measured "pairs", of which the others are missing.

    They are pairs if more than half of all ordered pairs are there. Otherwise the lengths of shortest ways along them
    tell. Measured pairs reach across the map: by the triangle inequality no way through other pairs is much shorter,
    and few are much longer than a typical value. Arcs lead to neighbors, so that typical ways take many of them: they
    are arcs if the median way is at least twice as long as the median value, and if there are fewer than ten places.
    Places are numbered from 0; values are NaN where missing.
    """
    proper = (source != target) & (values >= 0) & np.isfinite(values)
    key, first = np.unique(source[proper] * n_places + target[proper], return_index=True)
    share = len(key) / max(1, n_places * (n_places - 1))
    if share > 0.5:
        return "pairs"
    if n_places < FEW_PLACES or not len(key):
        return "edges"
    lengths = values[proper][first]
    lengths = np.maximum(lengths / (np.median(lengths) or 1.0), 1e-6)  # a graph of scipy's takes 0 for no arc
    graph = csr_array((lengths, (key // n_places, key % n_places)), shape=(n_places, n_places))
    starts = np.unique(key // n_places)
    n_starts = min(len(starts), _SOURCES, max(2, _WORK // len(key)))
    ways = dijkstra(graph, indices=starts[np.linspace(0, len(starts) - 1, n_starts).astype(int)])
    typical = np.median(ways[(ways > 0) & np.isfinite(ways)])
    return "edges" if typical >= STEPS else "pairs"


def _numbered(labels: Sequence[str]) -> bool:
    return list(labels) in ([str(i + start) for i in range(len(labels))] for start in (0, 1))


def _is_zero(cells: Sequence[str]) -> bool:
    """Whether the one cell that is there is zero or missing."""
    return all(cell.lower() in MISSING or re.fullmatch(r"[+-]?(0+([.,]0*)?|[.,]0+)", cell) for cell in cells)
