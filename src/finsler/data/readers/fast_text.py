"""Large bodies of text tables: numbers parsed by pandas, polars or pyarrow, several times faster than cell by cell.

Only text that is nothing but cells is given to them: no quotes, no comments or empty lines below the header, as many
cells in every line. Whatever they refuse is read again cell by cell, which gives the numbers or says where it is wrong.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import cached_property

Array = NDArray[Any]

# Cells that say that a number is missing, in any case.
EMPTY_WORDS = {"", "na", "n/a", "nan", "-nan", "+nan", "null", "none"}
LOADED, NOT_LOADED = 100_000, 8_000_000  # bytes from which it pays, with the package loaded already and not
FEW_COLUMNS = 8  # up to which all cells of a line are cut at once
MOST_DIGITS = 18  # of integers that are sure to fit
_BLANKS = " \t\r\v\f\x1c\x1d\x1e\x1f"  # what str.strip takes off ASCII text, without line ends
_OTHER_BLANKS = (b"\t", b"\v", b"\f", b"\x1c", b"\x1d", b"\x1e", b"\x1f", b" \r", b" \n")


@dataclass(frozen=True, eq=False)
class Grid:
    """Text that is nothing but cells. Made by :func:`find_grid`."""

    data: bytes
    delimiter: str
    skip: int  # lines before the first one that counts, which may be a header
    starts: Array  # of lines
    cuts: Array  # where delimiters stand
    width: int  # cells of a line
    first_width: int  # of the first one

    @property
    def n_lines(self) -> int:
        """Number of lines, the header included."""
        return len(self.starts)

    def texts(self, column: int, header: bool) -> list[str]:
        """Cells of a column, without blanks around them."""
        if self.width <= FEW_COLUMNS:
            return self._cells[header * self.first_width + column :: self.width]
        begins, ends = self._bounds(column, header)
        return [
            self.data[begin:end].decode().strip()
            for begin, end in zip(begins.tolist(), ends.tolist(), strict=True)
        ]

    @cached_property
    def _cells(self) -> list[str]:
        """All cells, line by line, without blanks around them."""
        body = self.data[self.starts[0] :].rstrip(b"\r\n")
        line_end = b"\r\n" if b"\r" in body else b"\n"
        cells = body.replace(line_end, self.delimiter.encode()).decode().split(self.delimiter)
        return cells if body.isascii() and not self._blanks else [cell.strip() for cell in cells]

    @property
    def _blanks(self) -> bool:
        """Whether there are blanks at the ends of cells."""
        blank = np.zeros(256, bool)
        blank[[ord(mark) for mark in _BLANKS if mark != self.delimiter]] = True
        characters = np.frombuffer(self.data, np.uint8)
        last = np.append(self.starts[1:] - 1, len(self.data.rstrip(b"\r\n")))  # where line ends stand
        last -= (characters[last - 1] == ord("\r")) & (last < len(self.data))
        edges = (self.starts, last - 1, self.cuts - 1, np.minimum(self.cuts + 1, len(self.data) - 1))
        cut = ord(self.delimiter)
        return any((blank[marks] & (marks != cut)).any() for marks in (characters[edge] for edge in edges))

    def _bounds(self, column: int, header: bool) -> tuple[Array, Array]:
        """Where the cells of a column begin and end."""
        starts = self.starts[int(header) :]
        cut = np.searchsorted(self.cuts, starts[:1]) + (self.width - 1) * np.arange(len(starts)) + column
        if not header and self.first_width != self.width:
            cut = np.searchsorted(self.cuts, starts) + column
        begins = starts if column == 0 else self.cuts[cut - 1] + 1
        ends = np.append(starts[1:], len(self.data)) if column == self.width - 1 else self.cuts[cut]
        return begins, ends

    def whole_numbers(self, column: int, header: bool) -> Array | None:
        """Cells of a column as integers; None if any is not one as Python writes it: not 007, +7, -0 or 7_000."""
        begins, ends = self._bounds(column, header)
        characters = np.frombuffer(self.data, np.uint8)
        if not len(begins) or (ends <= begins).any():
            return None
        if column == self.width - 1:  # up to the line end, which may be of two characters or lack
            for mark in b"\n\r":
                ends = ends - (characters[ends - 1] == mark)
        length = ends - begins
        if length.min() < 1 or length.max() > MOST_DIGITS + 1:
            return None
        minus = characters[begins] == ord("-")
        values = np.zeros(len(begins), np.int64)
        for place in range(int(length.max())):
            inside = place < length
            digit = characters[np.where(inside, begins + place, begins)] - np.uint8(
                ord("0")
            )  # others wrap above 9
            counts = inside & ~minus if place == 0 else inside
            if (digit[counts] > 9).any():
                return None
            values = np.where(counts, 10 * values + digit, values)
        n_digits = length - minus
        zero_first = characters[np.where(n_digits > 0, begins + minus, begins)] == ord("0")
        if n_digits.min() < 1 or n_digits.max() > MOST_DIGITS or (zero_first & (length > 1)).any():
            return None
        return np.where(minus, -values, values)

    def numbers(self, columns: list[int], decimal: str, header: bool) -> Array | None:
        """Numbers of some columns, NaN where missing; None if any is not a number, or mixes decimal marks."""
        n, parse = self.n_lines - header, _parser(len(self.data))
        if parse is None or n == 0 or not columns:
            return None if parse is None else np.empty((n, len(columns)))
        try:
            values = parse(self, decimal, self.skip + header, columns)
        except Exception:  # what it refuses; or it is broken, or too old
            return None
        if values is None or len(values) != n or (b"(" in self.data and np.isnan(values).any()):
            return None  # nan(1) is a number to some
        return values


def find_grid(data: bytes, delimiter: str, width: int, first_line: int, longest: int) -> Grid | None:
    """Find out whether text is nothing but cells, up to `longest`, and large enough for that to matter.

    `width` is that of most lines, and `first_line` the number, from 1, of the first one that counts.
    """
    cut = ord(delimiter)
    if _parser(len(data)) is None or b'"' in data or cut > 127:
        return None
    if delimiter == " " and not (data.isascii() and not any(blank in data for blank in _OTHER_BLANKS)):
        return None
    characters = np.frombuffer(data, np.uint8)
    ends = _positions(characters, ord("\n"))
    starts = np.append(0, ends + 1)[first_line - 1 :]
    starts = starts[: len(starts) - (starts[-1] == len(data))]
    if b"\r" in data and not data.count(b"\r") == data.count(b"\r\n") == len(ends):
        return None
    no_cell = np.frombuffer(b"#% \t\r\n\v\f\x1c\x1d\x1e\x1f" + delimiter.encode(), np.uint8)
    if np.isin(characters[starts[1:]], no_cell).any():
        return None
    cuts = _positions(characters, cut)
    gaps = np.diff(cuts)  # a cell, or the last cell of a line and the first one of the next
    if gaps.max(initial=0) > longest or len(data) - cuts[-1:].sum() > longest:
        return None
    if delimiter == " " and gaps.min(initial=2) == 1:
        return None
    cells = np.diff(np.searchsorted(cuts, np.append(starts, len(data)))) + 1
    if (cells[1:] != width).any():
        return None
    return Grid(data, delimiter, first_line - 1, starts, cuts, width, int(cells[0]))


def _positions(characters: Array, code: int, block: int = 1 << 20) -> Array:
    """Where a character stands; block by block, which stay in the cache."""
    found = [np.flatnonzero(characters[k : k + block] == code) + k for k in range(0, len(characters), block)]
    return np.concatenate(found) if found else np.empty(0, int)


def _missing_words() -> list[str]:
    """Spell what stands for a missing number in all cases."""
    cases = (product(*({c, c.upper()} for c in word)) for word in sorted(EMPTY_WORDS))
    return ["".join(letters) for case in cases for letters in case]


Parser = Callable[[Grid, str, int, list[int]], Array | None]


def _pandas(grid: Grid, decimal: str, skip: int, columns: list[int]) -> Array | None:
    import pandas

    options: dict[str, Any] = {"names": range(grid.width), "usecols": columns, "skiprows": skip}
    if tuple(map(int, pandas.__version__.split(".")[:2])) < (3, 1):  # from then on numbers are exact anyway
        options["float_precision"] = "round_trip"
    options |= {"na_values": _missing_words(), "keep_default_na": False, "low_memory": False}
    options |= {"sep": grid.delimiter, "decimal": decimal, "header": None, "index_col": False, "quoting": 3}
    frame = pandas.read_csv(io.BytesIO(grid.data), **options)
    if any(kind.kind not in "iuf" for kind in frame.dtypes):  # asking for float64 takes a third longer
        return None
    return np.asarray((frame if columns == sorted(columns) else frame[columns]).to_numpy(), dtype=float)


def _polars(grid: Grid, decimal: str, skip: int, columns: list[int]) -> Array | None:
    import polars

    if decimal == "," and b"." in grid.data:  # it takes both
        return None
    names = [f"column_{k + 1}" for k in range(grid.width)]
    wanted = [names[k] for k in columns]
    options: dict[str, Any] = {
        "separator": grid.delimiter,
        "decimal_comma": decimal == ",",
        "quote_char": None,
    }
    options["schema"] = {name: polars.Float64 if name in wanted else polars.String for name in names}
    options["null_values"] = [word for word in _missing_words() if word]
    frame = polars.read_csv(grid.data, has_header=False, skip_lines=skip, columns=wanted, **options)
    return np.asarray(frame.select(wanted).to_numpy(), dtype=float)


def _pyarrow(grid: Grid, decimal: str, skip: int, columns: list[int]) -> Array | None:
    import pyarrow
    from pyarrow import csv

    names = [f"{k}" for k in range(grid.width)]
    wanted = [names[k] for k in columns]
    options: dict[str, Any] = {"decimal_point": decimal, "null_values": _missing_words()}
    options["column_types"] = dict.fromkeys(wanted, pyarrow.float64())
    table = csv.read_csv(
        io.BytesIO(grid.data),
        csv.ReadOptions(column_names=names, skip_rows=skip),
        csv.ParseOptions(delimiter=grid.delimiter, quote_char=False),
        csv.ConvertOptions(include_columns=wanted, **options),
    )
    return np.column_stack([table[name].to_numpy() for name in wanted])


PARSERS: dict[str, Parser] = {"pandas": _pandas, "polars": _polars, "pyarrow": _pyarrow}


def _parser(n_bytes: int) -> Parser | None:
    """Choose the parser that pays for so much text: one that is loaded, else one that is installed."""
    loaded = [parse for name, parse in PARSERS.items() if name in sys.modules and n_bytes >= LOADED]
    if loaded or n_bytes < NOT_LOADED:
        return loaded[0] if loaded else None
    return next((parse for name, parse in PARSERS.items() if find_spec(name) is not None), None)
