"""Tables about the points of a map: their attributes, values between them and new points, pairs of them.

Rows and columns are found by the labels of the points, and only without labels by their order.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._read import guarded, read_npy, read_npz
from finsler.data.columns import LABELS, find_ends, find_vectors
from finsler.data.frames import narwhals_frame
from finsler.data.labels import LabelIndex
from finsler.data.matrix import check_weight_rows
from finsler.data.provenance import Provenance, listed
from finsler.data.readers import Cells, read_cells
from finsler.data.readers.columnar import Columns
from finsler.data.readers.text import is_number
from finsler.data.tables import Table, attribute, check_labels, points_of, read_table
from finsler.errors import InputError, UnknownLabelError, shown

Array = NDArray[Any]
Source = str | os.PathLike[str] | IO[bytes]


def read_attributes(
    source: Source, labels: Sequence[Any] | None, n: int, *, encoding: str | None = None
) -> dict[str, Array]:
    r"""Read a table with a header and one row per point: numbers if all cells of a column are, else text.

    A column label, name or id, else the first one, holds the labels: values are given in the order of `labels`, rows of
    other points are not used, which is warned of. Without labels there must be ``n`` rows, in the order of the points.

    Examples
    --------
    >>> import io
    >>> table = io.BytesIO(b"name,area,kind\nB,2.5,hill\nA,4,lake\n")
    >>> read_attributes(table, ["A", "B"], 2)["area"].tolist()
    [4.0, 2.5]
    """
    text = read_cells(source, encoding)
    header = text.head[0][1]
    rows = _rows(text, header=True)
    names = [name.lower() for name in header]
    key = next((names.index(name) for name in LABELS if name in names), 0)
    if labels is not None:
        index = LabelIndex([cells[key] for _, cells in rows], len(rows), "row")
        where = f'{text.name}, column "{header[key]}"'
        lacking = [label for label in labels if index.find_text(str(label)) is None]
        if len(lacking) > 1:  # a single one may be misspelled
            raise UnknownLabelError(
                f"{where}: {len(lacking)} of {len(labels)} points have no row: {listed(lacking, 8)}."
            )
        if len(rows) > len(labels):
            said = f"{len(rows) - len(labels)} of {len(rows)} rows are of other points, and not used."
            warnings.warn(f"{where}: {said}", UserWarning, stacklevel=3)
        rows = [rows[index.from_text(str(label), where)] for label in labels]
    elif len(rows) != n:
        raise InputError(f"{text.name}: {len(rows)} rows for {n} points.")
    return {
        header[k] or f"column {k + 1}": attribute(text, [(row, cells[k]) for row, cells in rows], k)
        for k in range(text.width)
        if labels is None or k != key
    }


def _rows(text: Cells, header: bool) -> list[tuple[int, list[str]]]:
    """Rows below the header, with their lines; a warning counts those that were skipped."""
    for said in Provenance(n_comments=text.n_comments).skipped():
        warnings.warn(f"{text.name}: {said}", UserWarning, stacklevel=4)
    return list(text.body(header))


def read_features(
    source: str | os.PathLike[str], labels: Sequence[Any] | None, n: int, *, encoding: str | None = None
) -> Any:
    """Read numbers about the points, a row each: a table, see :func:`read_attributes`; or an array in their order.

    Arrays are ``.npy``, or ``.npz`` with a sparse matrix that scipy saved.
    """
    path = Path(source)
    suffix = path.suffix.lower()
    if suffix in (".npy", ".npz"):
        if suffix == ".npy":
            return read_npy(path, kinds="biuf")
        from finsler.data.readers.sparse import sparse_of

        with guarded(path, suffix):
            arrays = read_npz(path)
            if not {"format", "shape", "data"} <= set(arrays):
                raise InputError(f"a sparse matrix that scipy saved was expected; found {listed([*arrays])}.")
            return sparse_of(arrays)
    table = read_attributes(path, labels, n, encoding=encoding)
    for name, column in table.items():
        if column.dtype.kind not in "fiub":
            raise InputError(f"{path.name}: the column {name!r} holds text; features must be numbers.")
    if not table:
        raise InputError(f"{path.name} holds no column of numbers.")
    return np.column_stack(list(table.values())).astype(float)


def read_weights(
    source: Source, labels: Sequence[Any] | None, n: int, *, encoding: str | None = None
) -> Array:
    """Read a matrix with the weight of each ordered pair, in the order of `labels`; its diagonal means nothing, and is 0."""
    table = read_table(source, "matrix", encoding=encoding)
    assert table.values is not None
    weights = table.values.copy()
    np.fill_diagonal(weights, 0)
    points = LabelIndex(table.labels, len(weights), "row")
    if table.labels is not None and labels is not None:
        order = [points.from_text(str(label), table.name) for label in labels]
        weights, points = weights[np.ix_(order, order)], LabelIndex(labels, len(labels))
    if len(weights) != n:
        raise InputError(f"{table.name}: weights for {len(weights)} points, where there are {n}.")
    check_weight_rows(weights, 0, points.name)
    return weights


class NewRows(NamedTuple):
    """Values from new points to those of a map and back, one row per new point; NaN where they are not given."""

    labels: list[str] | None
    to_fitted: Array | None
    from_fitted: Array | None


def read_new_rows(
    to_fitted: Source | None,
    from_fitted: Source | None,
    labels: Sequence[Any] | None,
    n: int,
    *,
    encoding: str | None = None,
) -> NewRows:
    r"""Read values from new points to those of a map, and back: a column per point of the map, by its label.

    A first column with other names than those of points holds the labels of the rows. Columns without a header are all
    the points, in their order.

    Examples
    --------
    >>> import io
    >>> rows = read_new_rows(io.BytesIO(b"new,C,A\nQ,2,1\n"), None, ["A", "B", "C"], 3)
    >>> rows.labels, rows.to_fitted
    (['Q'], array([[ 1., nan,  2.]]))
    """
    points = LabelIndex(labels, n)
    found = [
        None if source is None else _new_rows(source, points, encoding) for source in (to_fitted, from_fitted)
    ]
    names = [rows[0] for rows in found if rows is not None and rows[0] is not None]
    if len(names) == 2 and names[0] != names[1]:
        raise InputError(
            "to_fitted and from_fitted must hold the same new points in the same order; their labels differ."
        )
    there, back = (None if rows is None else rows[1] for rows in found)
    if there is not None and back is not None and len(there) != len(back):
        raise InputError(f"to_fitted has {len(there)} new points, from_fitted {len(back)}.")
    return NewRows(names[0] if names else None, there, back)


def _new_rows(source: Source, points: LabelIndex, encoding: str | None) -> tuple[list[str] | None, Array]:
    n = len(points)
    text = read_cells(source, encoding)
    names = [str(points.label(i)) for i in range(n)]
    top = text.head[0][1]
    header = text.named or top == names or not all(map(is_number, top[1:] or top))
    header |= set(top[1:]) <= set(names) and not is_number(top[0], blank=False)
    side = (header and top[0] not in names) or (not header and text.width == n + 1)
    columns = np.arange(n)
    if header:
        check_labels(top, text.name)
        columns = np.array([points.from_text(name, f"{text.name}, header") for name in top[side:]], dtype=int)
    elif text.width - side != n:
        raise InputError(
            f"{text.name}: {text.width} columns without names, where the map has {n} points; name the columns by "
            "the labels of the map."
        )
    rows = _rows(text, header)
    if not rows or not columns.size:
        raise InputError(f"{text.name} holds no points.")
    values = np.full((len(rows), n), np.nan)
    for line, (row, cells) in zip(values, rows, strict=True):
        line[columns] = [
            text.number(cells[k], row, k, top if header else None) for k in range(side, len(cells))
        ]
    new = [cells[0] for _, cells in rows] if side else None
    if new is not None:
        check_labels(new, text.name)
    return new, values


def read_label_pairs(
    source: Source, points: LabelIndex, *, encoding: str | None = None
) -> list[tuple[Any, Any]]:
    """Read pairs of labels, from and to: from the columns whose names are known, else from the first two.

    A first row that names no points is a header; one whose names are unknown is warned of, as they may be misspelled.
    """
    text = read_cells(source, encoding)
    if text.width < 2:
        raise InputError(f"{text.name}: pairs need two columns, from and to.")
    top = text.head[0][1]
    header = not any(points.find_text(cell) is not None for cell in top[:2])
    known = find_ends(top) if header else None
    if header and known is None:
        said = f"the first row, {shown(top[0])} and {shown(top[1])}, names no {points.what}: it is taken for a header."
        warnings.warn(f"{text.name}: {said}", UserWarning, stacklevel=2)
    i, j = known or (0, 1)

    def label(cell: str) -> Any:
        return points.label(points.from_text(cell, text.name))

    found = [(label(cells[i]), label(cells[j])) for _, cells in _rows(text, header)]
    if not found:
        raise InputError(f"{text.name} holds no pairs.")
    return found


def point_table(points: Any) -> Table | None:
    """Points with their vectors from a file, or from a data frame whose columns name the vectors; None for others."""
    if isinstance(points, Table):
        return points
    if isinstance(points, str | os.PathLike):
        return read_table(points, "points")
    frame = narwhals_frame(points)
    if frame is None or not find_vectors([str(name).lower() for name in frame.columns]):
        return None
    table = points_of(Columns.of(points, type(points).__name__))
    index = getattr(points, "index", None)
    if table.labels is None and index is not None and list(index) != list(range(len(points))):
        if table.provenance.left_out:
            raise InputError(
                "points with NaN are left out by a column label, name or id; reset_index() makes one."
            )
        table = replace(table, labels=list(index))
    return table
