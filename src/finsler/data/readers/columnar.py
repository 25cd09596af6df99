"""Tables that are kept column by column: Parquet and Feather files, and data frames; asked for cells as text files are."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler.data.frames import narwhals_frame
from finsler.data.readers.fast_text import EMPTY_WORDS
from finsler.errors import InputError, MissingExtraError

HEAD, CELLS = 101, 10_000  # rows, and about how many cells, that are looked at to find out what a table is

Array = NDArray[Any]


class Columns:
    """A table by its columns, with the interface of `finsler.data.readers.text.Text`; its names are the first row."""

    named = True
    n_comments = 0

    def __init__(self, names: Sequence[Any], columns: Sequence[Any], name: str):
        if not names or not len(columns[0]):
            raise InputError(f"{name} holds no rows.")
        self.names, self.columns, self.name = [str(word) for word in names], list(columns), name
        self.width, self.n_rows = len(names), len(columns[0]) + 1
        self.said: tuple[str, ...] = ()
        self.head = [(1, self.names), *self._rows(0, min(HEAD, max(5, CELLS // self.width), self.n_rows - 1))]

    @classmethod
    def of(cls, frame: Any, name: str) -> Columns:
        """Columns of a data frame of any package."""
        found = narwhals_frame(frame)
        return cls(list(found.columns), list(found.iter_columns()), name)

    def _rows(self, start: int, stop: int) -> Iterator[tuple[int, list[str]]]:
        parts = [list(column[start:stop]) for column in self.columns]
        for k, cells in enumerate(zip(*parts, strict=True)):
            yield start + k + 2, [_text(cell) for cell in cells]

    def body(self, header: bool, short: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Rows below the header as text, with their numbers; the header is row 1."""
        for start in range(0, self.n_rows - 1, 1000):
            yield from self._rows(start, start + 1000)

    def read(
        self,
        texts: Sequence[int],
        numbers: Sequence[int],
        header: bool,
        names: Sequence[str] | None = None,
        short: bool = False,
    ) -> tuple[list[list[str]], Array]:
        """Columns: some as text, each a list; some as numbers, an array with NaN where missing."""
        require_memory(8.0 * len(numbers) * self.n_rows, self.name, "Take a part of it.")
        values = np.empty((self.n_rows - 1, len(numbers)))
        for place, k in enumerate(numbers):
            values[:, place] = self._numbers(k)
        return [self._texts(k) for k in texts], values if len(numbers) else values.reshape(0, 0)

    def whole_numbers(self, columns: Sequence[int], header: bool) -> list[Array] | None:
        """Columns as integers; None if any is kept otherwise, or holds one of more than 18 digits, which stays text."""
        found = []
        for k in columns:
            column = self.columns[k]
            values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column, dtype=object)
            if (
                values.dtype.kind not in "iu"
                or not len(values)
                or not _MOST > values.max() >= values.min() > -_MOST
            ):
                return None
            found.append(values.astype(np.int64))
        return found

    def _numbers(self, k: int) -> Array:
        column = self.columns[k]
        array = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column, dtype=object)
        if array.dtype.kind in "biuf":
            return np.asarray(array, dtype=float)
        return np.array([self.number(_text(cell), row, k) for row, cell in enumerate(list(column), 2)])

    def _texts(self, k: int) -> list[str]:
        cells = list(self.columns[k])
        floats = [cell for cell in cells if isinstance(cell, float) and math.isfinite(cell)]
        if floats and all(cell.is_integer() for cell in floats):  # integers, some of which are missing
            cells = [int(cell) if isinstance(cell, float) and math.isfinite(cell) else cell for cell in cells]
        return [_text(cell) for cell in cells]

    def number(self, cell: str, row: int, column: int, names: Sequence[str] | None = None) -> float:
        """Number in a cell; NaN if it is missing."""
        if cell.lower() in EMPTY_WORDS:
            return np.nan
        try:
            return float(cell)
        except ValueError:
            raise InputError(
                f'{self.name}: row {row}, column "{self.names[column]}": {cell[:100]!r} is not a number.'
            ) from None

    def line(self, i: int, header: bool, short: bool = False) -> int:
        """Number of row ``i`` below the header."""
        return i + 2


_MOST = 10**18


def _text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    return str(cell.item() if isinstance(cell, np.generic) else cell).strip()


def parse_parquet(data: bytes, name: str) -> Columns:
    """Table of a Parquet file."""
    pyarrow = _arrow(name)
    from pyarrow import parquet

    file = parquet.ParquetFile(pyarrow.BufferReader(data))
    about = file.metadata
    size = sum(about.row_group(k).total_byte_size for k in range(about.num_row_groups))
    require_memory(2.0 * size, f"{name}, unpacked,", "Take some of its columns.")
    return _with_index(file.read(), name)


def parse_feather(data: bytes, name: str) -> Columns:
    """Table of a Feather (Arrow IPC) file."""
    _arrow(name)
    from pyarrow import feather

    require_memory(4.0 * len(data), f"{name}, unpacked,", "Take some of its columns.")
    return _with_index(feather.read_table(io.BytesIO(data)), name)


def _arrow(name: str) -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError(
            f"{name}: Parquet and Feather need pyarrow: pip install 'finsler[files]'."
        ) from error
    return pyarrow


def _with_index(table: Any, name: str) -> Columns:
    """Columns of a table of pyarrow; what was the index of a pandas frame comes first."""
    table.validate(full=True)  # offsets beyond its buffers would end the process
    kept = (table.schema.pandas_metadata or {}).get("index_columns", [])
    index = [column for column in kept if isinstance(column, str) and column in table.column_names]
    order = [*index, *(column for column in table.column_names if column not in index)]
    found = Columns.of(table.select(order), name)
    found.names[: len(index)] = ["" if column.startswith("__index_level_") else column for column in index]
    found.head[0] = (1, found.names)
    return found
