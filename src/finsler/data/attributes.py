"""What else is known of points: columns of numbers or words, in the order of the points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_words
from finsler.data.columns import label_column
from finsler.data.frames import narwhals_frame
from finsler.data.labels import LabelIndex
from finsler.errors import InputError, InputTypeError

Columns = dict[str, NDArray[Any]]


def columns_of(
    attributes: Any, labels: Sequence[Any] | None, n: int, argument: str = "attributes"
) -> Columns:
    """Columns about ``n`` points of a dict of sequences or a data frame, whose rows are found by the labels.

    Examples
    --------
    >>> columns_of({"people": [3, None], "kind": ["hill", "lake"]}, None, 2)
    {'people': array([ 3., nan]), 'kind': array(['hill', 'lake'], dtype='<U4')}
    """
    kind = type(attributes).__name__
    found = in_order(attributes, labels, argument)
    if not hasattr(found, "items"):
        raise InputTypeError(f"{argument} must be a dict of sequences or a data frame, got {kind}.")
    columns: Columns = {}
    for name, column in found.items():
        values = check_words(f"{argument}[{name!r}]", column)
        if len(values) != n:
            raise InputError(f"{argument}[{name!r}] has {len(values)} values for {n} points; give one each.")
        given = column if isinstance(column, np.ndarray) else values
        if isinstance(given, np.ndarray) and given.ndim > 1:
            raise InputError(
                f"{argument}[{name!r}] is an array of the shape {given.shape}; give each of its columns a name.",
                argument=argument,
            )
        columns[str(name)] = as_column(given)
    return columns


def as_column(values: Any) -> NDArray[Any]:
    """Values as numbers or truth values if all that are there are, else as words; NaN or "" where there is none."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "biuf":
        return (
            values.astype(np.float64) if values.dtype.itemsize > 8 else values
        )  # longer ones no file can say
    kept = [None if is_missing(value) else value for value in values]
    if kept and all(isinstance(value, bool | np.bool_) for value in kept):
        return np.array(kept, dtype=bool)
    if all(_is_number(value) for value in kept):
        return np.array([np.nan if value is None else float(value) for value in kept])
    return np.array(["" if value is None else _word(value) for value in kept])


def _is_number(value: Any) -> bool:
    """Whether it is None or a number that a float can hold; numpy takes spans of time for whole numbers."""
    if not isinstance(value, Real | Decimal | None) or isinstance(value, bool | np.timedelta64):
        return False
    try:
        return value is None or math.isfinite(float(value)) or not isinstance(value, int)
    except OverflowError:
        return False


def _word(value: Any) -> str:
    """Value as text; numbers of thousands of digits Python does not write."""
    try:
        return str(value)
    except ValueError:
        return f"a number of {value.bit_length()} bits"


def kept_columns(columns: Columns, labels: Sequence[Any] | None, kept: Sequence[Any] | None) -> Columns:
    """Columns of those points that were kept, by their labels."""
    if not columns or labels is None or kept is None or len(kept) == len(labels):
        return columns
    places = LabelIndex(list(labels), len(labels)).positions(kept)
    return {name: values[places] for name, values in columns.items()}


def lengthened(values: NDArray[Any], k: int) -> NDArray[Any]:
    """Column of ``k`` more points of which nothing is known."""
    if values.dtype.kind == "f":
        return np.concatenate([values, np.full(k, np.nan)])
    return as_column([*values.tolist(), *([None] * k)])


def is_missing(value: Any) -> bool:
    """Tell None, "", NaN, NaT, and pandas' NA, which is the one that cannot even say that it differs from itself."""
    try:
        return value is None or (isinstance(value, str) and not value) or bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def in_order(values: Any, labels: Sequence[Any] | None, argument: str) -> Any:
    """Give the rows of a table in the order of the labels, if it holds them; anything else as it comes.

    A pandas object holds them in its index, other frames in a column label, name or id, else in the first one.
    """
    if not hasattr(values, "iloc") and (frame := narwhals_frame(values)) is not None:
        return _columns_in_order(frame, labels, argument)
    if not hasattr(values, "index") or not hasattr(values, "iloc") or labels is None:
        return values
    index = list(values.index)
    rows = LabelIndex(index, len(index), "row")
    found = [rows.find(label) for label in labels]
    if None in found and index == list(range(len(labels))):
        return values
    if None in found or len(index) != len(labels):
        absent = next((repr(label) for label, row in zip(labels, found, strict=True) if row is None), None)
        raise InputError(
            f"{argument} has {f'no row for {absent}' if absent else f'{len(index)} rows for {len(labels)} points'}: its "
            "index must hold the labels of the map once each. Use reset_index(drop=True) if the rows are in its order.",
            argument=argument,
        )
    return values.iloc[found]


def _columns_in_order(frame: Any, labels: Sequence[Any] | None, argument: str) -> dict[str, list[Any]]:
    key = label_column(frame.columns)
    columns = {name: frame[name].to_list() for name in frame.columns}
    names = columns[key]
    rows = LabelIndex(names, len(names), "row")
    found = [None if labels is None else rows.find(label) for label in labels or ()]
    if labels is None or all(row is None for row in found):  # no column of labels: as they come
        return columns
    if None in found:
        absent = next(label for label, row in zip(labels, found, strict=True) if row is None)
        raise InputError(f"{argument} has no row for {absent!r} in its column {key!r}.", argument=argument)
    return {
        name: [column[row] for row in found if row is not None]
        for name, column in columns.items()
        if name != key
    }
