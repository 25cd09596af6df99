"""Tables of any data frame package, with the labels of their rows and columns: pandas, polars, pyarrow, xarray ...

Frames are read through narwhals. pandas has an index, and a DataArray has coordinates; of all others the first column
holds the labels of the rows if it holds no numbers, or the very names of the other columns.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import cached_property
from finsler.errors import InputError, MissingExtraError

# What to do with a table that is not square.
RECTANGULAR = (
    "If its rows and columns are different things, embed_rectangular maps both; if they are the same, add those that lack, "
    "with empty cells, or write it as a long table, one row for each pair."
)
_BACKENDS = ("pandas", "polars", "pyarrow")  # of which frames are made, too


@dataclass(frozen=True, eq=False)
class Labeled:
    """Numbers in rows and columns with the labels of both, as far as there are any; made by :func:`labeled`."""

    body: Any  #: What holds the numbers alone: a frame, or an array.
    index: list[Any] | None  #: Labels of the rows.
    columns: list[Any] | None  #: Labels of the columns.
    native: Any  #: What it was made of.

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self.values, dtype=dtype)

    @cached_property
    def values(self) -> NDArray[Any]:
        """The numbers; NaN where there is none."""
        if is_data_array(self.native):
            return np.asarray(self.body)
        columns = [column.to_numpy() for column in self.body.iter_columns()]
        if any(column.dtype.kind not in "biuf" for column in columns):
            columns = [column.astype(object) for column in columns]  # so that text stays as it is
        return np.column_stack(columns)

    @property
    def checkable(self) -> Any:
        """The numbers as scikit-learn takes them, which reads the names of the columns from a frame."""
        return self.body if is_data_array(self.native) else self.body.to_native()

    def rebuilt(self, values: NDArray[Any]) -> Any:
        """Other numbers with the same labels, as the same kind of table."""
        if is_data_array(self.native):
            return self.native.copy(data=values)
        import narwhals

        frame = narwhals_frame(self.native)
        first = {} if self.index is None else {frame.columns[0]: frame[:, 0].to_list()}
        columns = {name: values[:, k] for k, name in enumerate(self.columns or self.body.columns)}
        return narwhals.from_dict({**first, **columns}, backend=frame.implementation).to_native()


def labeled(table: Any) -> Any:
    """Give a table of any package with its labels; what is none (arrays, lists), and a pandas frame, is given as it is.

    A pandas frame that was read without an index, whose first column holds the names of the others, is understood, too.

    Examples
    --------
    >>> import pyarrow
    >>> minutes = labeled(pyarrow.table({"from": ["a", "b"], "a": [0, 3], "b": [2, 0]}))
    >>> minutes.index, minutes.columns, minutes.values.tolist()
    (['a', 'b'], ['a', 'b'], [[0, 2], [3, 0]])
    """
    if is_data_array(table):
        return _labeled_array(table)
    if _is_pandas(table) and not _names_itself(table):
        return table
    frame = narwhals_frame(table)
    if frame is None:
        return table
    names = list(frame.columns)
    if not names:
        raise InputError("a table without columns holds nothing.")
    first = frame[:, 0]
    written = first.to_list()
    same = list(map(str, written)) == list(map(str, names[1:]))
    if not same and (_is_numeric(first.dtype) or len(names) == 1):
        unnamed = all(re.fullmatch(r"column_\d+", str(name)) for name in names)
        return Labeled(frame, None, None if unnamed else names, table)
    return Labeled(frame.select(names[1:]), written, names[1:], table)


def _names_itself(frame: Any) -> bool:
    """Whether a pandas frame has no index of its own, and its first column holds the names of the others."""
    n = len(frame)
    return (
        len(frame.columns) == n + 1 > 1
        and list(frame.index) == list(range(n))
        and list(map(str, frame.iloc[:, 0])) == list(map(str, frame.columns[1:]))
    )


def _is_numeric(dtype: Any) -> bool:
    import narwhals

    return bool(dtype.is_numeric()) or dtype in (narwhals.Boolean, narwhals.Unknown)


def _labeled_array(array: Any) -> Any:
    if array.ndim != 2:
        return np.asarray(array)  # whoever takes it says what is wrong with its shape
    index, columns = (list(array.indexes[dim]) if dim in array.indexes else None for dim in array.dims)
    return Labeled(np.asarray(array.values), index, columns, array)


def narwhals_frame(table: Any) -> Any:
    """Frame of narwhals for a data frame of any package, also one that is yet to be computed; None for anything else."""
    package = type(table).__module__.partition(".")[0]
    if package in ("builtins", "numpy", "scipy", "networkx", "igraph", "dask", "finsler") or isinstance(
        table, Mapping
    ):
        return None
    if not any(hasattr(type(table), name) for name in ("columns", "schema", "__narwhals_dataframe__")):
        return None
    import narwhals  # here, because few tables need it

    found = narwhals.from_native(table, pass_through=True)
    if isinstance(found, narwhals.LazyFrame):
        return found.collect()
    return found if isinstance(found, narwhals.DataFrame) else None


def long_columns(table: Any) -> tuple[list[Any], list[Any]] | None:
    """Names and columns of a frame of any package, or of a DataArray, a row per cell; None for anything else."""
    if is_data_array(table):
        if table.ndim != 2:
            raise InputError(f"a DataArray of pairs has two dimensions, from and to; found {table.dims}.")
        ends = [table.indexes.get(dim, range(n)) for dim, n in zip(table.dims, table.shape, strict=True)]
        values = np.asarray(table.values, dtype=float)
        i, j = np.nonzero(~np.isnan(values))
        sides = [[ends[0][k] for k in i], [ends[1][k] for k in j]]
        return [*table.dims, table.name or "weight"], [*sides, values[i, j]]
    frame = narwhals_frame(table)
    if frame is None:
        return None
    return list(frame.columns), list(frame.iter_columns())


def rows_of(columns: list[Any]) -> Any:
    """Rows of some columns: an array if all are of one kind of number, else a list of tuples."""
    arrays = [np.asarray(column) for column in columns]
    if {array.dtype.kind for array in arrays} == {"i"}:
        return np.column_stack(arrays)
    return [*zip(*(list(column) for column in columns), strict=True)]


def is_data_array(table: Any) -> bool:
    """Whether it is a DataArray of xarray."""
    return (
        any(kind.__module__.partition(".")[0] == "xarray" for kind in type(table).__mro__)
        and hasattr(table, "dims")
        and hasattr(table, "ndim")
    )


def _is_pandas(table: Any) -> bool:
    return hasattr(type(table), "index") and hasattr(type(table), "iloc")


def place_in(values: Any, place: tuple[int, ...]) -> str:
    """Row and column of an entry in words, with the labels of a table that has them."""
    index, columns = getattr(values, "index", None), getattr(values, "columns", None)
    if len(place) == 2 and index is not None and columns is not None:
        i, j = place
        return f"row {i} ({index[i]!r}), column {j} ({columns[j]!r})"
    return f"row {place[0]}, column {place[1]}" if len(place) == 2 else f"position {place}"


def made_frame(columns: dict[str, Any], backend: str, index: list[Any] | None) -> Any:
    """Frame of some package; the labels are its index (pandas) or its first column, ``label``."""
    if backend not in _BACKENDS:
        *most, last = map(repr, _BACKENDS)
        raise InputError(f"must be {', '.join(most)} or {last}, got {backend!r}.", argument="backend")
    try:
        if backend == "pandas":
            import pandas

            return pandas.DataFrame(
                _sayable(columns), index=None if index is None else _sayable_values(index)
            )
        import narwhals

        first = {} if index is None else {"label": _sayable_values(_of_one_kind(index))}
        package: Any = backend
        return narwhals.from_dict({**first, **_sayable(columns)}, backend=package).to_native()
    except ImportError as error:
        extra = "files" if backend == "pyarrow" else "graph"
        cure = "pip install polars" if backend == "polars" else f"pip install 'finsler[{extra}]'"
        raise MissingExtraError(f"a frame of {backend} needs {backend}: {cure}.") from error


def _sayable(columns: dict[str, Any]) -> dict[str, Any]:
    return {_sayable_values([name])[0]: _sayable_values(values) for name, values in columns.items()}


def _sayable_values(values: Any) -> Any:
    """Values whose words UTF-8 can say, as frames keep them: half of a surrogate pair is written with a backslash."""
    if getattr(values, "dtype", np.dtype(object)).kind not in "UO":
        return values
    words = [
        value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value
        for value in values
    ]
    return np.array(words) if isinstance(values, np.ndarray) else words


def _of_one_kind(labels: list[Any]) -> list[Any]:
    """Labels as columns of most packages hold them: all text, all floats, or all whole numbers of 64 bits; else as text."""
    kinds = {type(label) for label in labels}
    if kinds <= {str} or kinds <= {float} or (kinds <= {int} and all(-(2**63) <= n < 2**63 for n in labels)):
        return labels
    return [str(label) for label in labels]
