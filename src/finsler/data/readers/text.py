"""Tables in text files: encodings, delimiters, decimal commas, and where a cell stands in the file.

:class:`Text` finds out how a table is written and reads its columns. Large bodies that are nothing but cells are
parsed by pandas, polars or pyarrow (see `finsler.data.readers.fast_text`), all others here, with the same result.
"""

from __future__ import annotations

import csv
import io
import os
import re
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from finsler._read import read_bytes
from finsler._runtime import cached_property
from finsler.data.readers import fast_text
from finsler.data.readers.fast_text import EMPTY_WORDS
from finsler.errors import InputError

LONGEST = 100  # characters of a number
# No part of these can match what another one matches, so that they never go back and forth over a long cell.
_POINT = re.compile(r"[+-]?((\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?|inf|infinity|∞)", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
_BOTH_MARKS = re.compile(r"[-+]?[0-9]{1,30}(?:[.,' ][0-9]{3}){1,9}[.,][0-9]{0,30}")
_THREE_BEHIND = re.compile(r"-?[1-9][0-9]{0,2}[.,][0-9]{3}")
# Of all bytes of a file, quickly: is there anything like 1.200, and nothing like 1.2, 0.125 or 1.2345?
_GROUPED = re.compile(rb"(?<![0-9.,])[1-9][0-9]{0,2}[.,][0-9]{3}(?![0-9.,])")
_DECIMAL = re.compile(rb"[0-9][.,][0-9]{1,2}(?![0-9])|[0-9][.,][0-9]{4}|(?<![0-9.,])0[.,][0-9]")
_HEAD_ROWS, _HEAD_CHARACTERS = 101, 30_000  # that are looked at to find out how a table is written

Array = NDArray[Any]


class Text:
    """Rows of a text file: what cuts them into cells, how many there are, and what is in them.

    The file comes as bytes, unpacked; `name` is what messages call it. `head` holds the first rows, with the numbers of
    their lines, and `width` is the number of cells in most of them.
    """

    named = False  # whether the first row is known to hold names

    def __init__(self, data: bytes, name: str, encoding: str | None = None, delimiter: str | None = None):
        self.name, self.data = name, _as_utf8(data, name, encoding)
        self.said: tuple[str, ...] = ()  # what was decided on the way here
        self.width = len(self.data) + 1  # until it is known
        self._marks: dict[str, str] = {}  # where a decimal point and a decimal comma were first seen
        lines = list(_first(filter(_holds_data, self._lines()), len))
        address = bool(lines) and _is_address(lines[0], delimiter)
        self._begin = (
            1 + next(n for n, line in enumerate(self._lines(), 1) if _holds_data(line)) if address else 1
        )
        self.delimiter = delimiter or _sniff(lines[address:])
        if len(self.delimiter) != 1:
            raise InputError(f"delimiter must be one character, got {delimiter!r}.")
        self.head = list(_first(self.rows(), lambda row: sum(map(len, row[1]))))
        if not self.head:
            raise InputError(f"{name} holds no rows.")
        if n_titles := _titles([cells for _, cells in self.head]):
            title = " / ".join("".join(cells) for _, cells in self.head[:n_titles])
            self.said = (f"Above the table stands {title[:60]!r}.",)
            self.head = self.head[n_titles:]
            self._begin = self.head[0][0]
        rows = [cells for _, cells in self.head]
        spare = min(len(cells) - max(i for i, cell in enumerate(cells, 1) if cell) for cells in rows)
        self.width = table_width(rows) - spare
        self.head = [(row, cells[: len(cells) - spare]) for row, cells in self.head]

    @cached_property
    def n_rows(self) -> int:
        """Number of rows that hold anything."""
        if self._grid is not None:
            return self._grid.n_lines
        if b'"' in self.data:
            return sum(1 for _ in self.rows())
        lines = filter(_holds_data, islice(self._lines(), self._begin - 1, None))
        return sum(any(map(str.strip, line.split(self.delimiter))) for line in lines)

    @cached_property
    def n_comments(self) -> int:
        """Number of lines below the first row that were skipped as comments: some may have been meant as rows."""
        if self._grid is not None or not (b"#" in self.data or b"%" in self.data):
            return 0
        for _ in self.rows():
            pass
        return self._n_skipped

    @cached_property
    def _grid(self) -> fast_text.Grid | None:
        return fast_text.find_grid(self.data, self.delimiter, self.width, self.head[0][0], LONGEST)

    def _lines(self) -> IO[str]:
        return io.TextIOWrapper(io.BytesIO(self.data), encoding="utf-8", newline="")

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Cells of each row that has any, without blanks around them, and the number of its (first) line."""
        start, at_start = 0, True
        self._n_skipped = 0

        def content() -> Iterator[str]:
            nonlocal start, at_start
            for number, line in enumerate(self._lines(), 1):
                if number < self._begin:
                    continue
                if at_start:  # inside a quoted cell nothing is a comment
                    if not _holds_data(line):
                        self._n_skipped += start > 0 and line.lstrip()[:1] in ("#", "%")
                        continue
                    start, at_start = number, False
                yield _by_tabs(line) if self.delimiter == " " else line

        delimiter = "\t" if self.delimiter == " " else self.delimiter
        reader = csv.reader(content(), delimiter=delimiter, strict=True)
        while True:
            at_start = True
            try:
                cells = [cell.strip() for cell in next(reader)]
            except StopIteration:
                return
            except csv.Error as error:
                raise InputError(f"{self.name}: row {start}: {error}.") from error
            while len(cells) > self.width and not cells[-1]:
                cells.pop()
            if any(cells):
                yield start, cells

    def body(self, header: bool, short: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Rows below the header, all as wide as most are; only a ``short`` header may be one cell narrower."""
        for i, (row, cells) in enumerate(self.rows()):
            n = len(cells)
            if n != self.width - (short and i == 0):
                raise InputError(f"{self.name}: row {row} has {n} columns, where most have {self.width}.")
            if i >= header:
                yield row, cells

    def read(
        self,
        texts: Sequence[int],
        numbers: Sequence[int],
        header: bool,
        names: Sequence[str] | None = None,
        short: bool = False,
    ) -> tuple[list[list[str]], Array]:
        """Read columns below the header: some as text, each a list; some as numbers, an array with NaN where missing.

        `names` is what messages call the columns, their numbers by default; a `short` header lacks a cell above the first.
        """
        grid = self._grid
        if grid is not None and grid.first_width == self.width - short:
            found = grid.numbers(list(numbers), self._decimal(numbers, header), header)
            if found is not None:
                self._refuse_thousands(numbers, header, short)
                return [grid.texts(k, header) for k in texts], found
        columns: list[list[str]] = [[] for _ in texts]
        values = array("d")
        for row, cells in self.body(header, short):
            for column, k in zip(columns, texts, strict=True):
                column.append(cells[k])
            values.extend(self._numbers([cells[k] for k in numbers], row, numbers, names))
        self._refuse_thousands(numbers, header, short)
        return columns, np.array(values).reshape(-1 if len(numbers) else 0, len(numbers))

    def whole_numbers(self, columns: Sequence[int], header: bool) -> list[Array] | None:
        """Columns below the header as integers; None if any cell is not one as Python writes it, or the text is small."""
        grid = self._grid
        if grid is None or grid.first_width != self.width:
            return None
        found = []
        for k in columns:
            values = grid.whole_numbers(k, header)
            if values is None:
                return None
            found.append(values)
        return found

    def _refuse_thousands(self, numbers: Sequence[int], header: bool, short: bool) -> None:
        """Refuse 1.200 beside 950: the one would be read as 1.2, and is most likely meant as 1200.

        That is, marks with three digits behind them, always, among whole numbers that reach 100.
        """
        if self.delimiter == "," or not _GROUPED.search(self.data) or _DECIMAL.search(self.data):
            return
        grouped, whole = "", ""
        for _, cells in self.body(header, short):
            for cell in (cells[k] for k in numbers):
                if _matches(_THREE_BEHIND, cell):
                    grouped = grouped or cell
                elif len(cell) >= 3 and cell.isdecimal():
                    whole = whole or cell
            if grouped and whole:
                raise InputError(
                    f"{self.name}: {grouped!r} beside {whole!r}: if the mark groups thousands, write them without it; if it "
                    "is a decimal mark, write four decimals."
                )

    def _decimal(self, numbers: Sequence[int], header: bool) -> str:
        if self.delimiter == ",":
            return "."
        cells = (cells[k] for _, cells in self.head[header:] for k in numbers if k < len(cells))
        return "," if any(map(_COMMA.fullmatch, cells)) else "."

    def _numbers(self, cells: list[str], row: int, columns: Sequence[int], names: Any) -> list[float]:
        # Python's float() also takes 1_000 and the digits of all scripts.
        row_text = "".join(cells)
        if row_text.isascii() and "_" not in row_text and len(max(cells, key=len, default="")) <= LONGEST:
            commas = self.delimiter != "," and "," in row_text and "." not in row_text
            try:
                found = [float(cell.replace(",", ".")) for cell in cells] if commas else [*map(float, cells)]
            except ValueError:
                pass
            else:
                mark = "," if commas else "."
                if self.delimiter != "," and mark in row_text and mark not in self._marks:
                    k = next(k for k, cell in enumerate(cells) if mark in cell)
                    self.number(cells[k], row, columns[k], names)  # which takes note of it
                return found
        return [self.number(cell, row, k, names) for cell, k in zip(cells, columns, strict=True)]

    def number(self, cell: str, row: int, column: int, names: Sequence[str] | None = None) -> float:
        """Number in a cell; NaN if it is missing."""
        if cell.lower() in EMPTY_WORDS:
            return np.nan
        place = f"row {row}, column " + (f"{column + 1}" if names is None else f'"{names[column]}"')
        mark = "." if _matches(_POINT, cell) else ","
        if mark == "," and (self.delimiter == "," or not _matches(_COMMA, cell)):
            why = "write plain numbers without units, and leave a cell empty where none is known"
            if _matches(_BOTH_MARKS, cell):
                why = "write thousands without a mark"
            if _matches(_COMMA, cell):
                why = "commas separate the cells, so write decimals with a point, thousands without a mark"
            raise InputError(f"{self.name}: {place}: {cell[:LONGEST]!r} is not a number; {why}.")
        if mark in cell:
            self._marks.setdefault(mark, f"{cell!r} in {place}")
            if len(self._marks) > 1:
                both = " and ".join(self._marks.values())
                raise InputError(f"{self.name} mixes decimal points and commas: {both}.")
        return float(cell.replace(",", ".").replace("∞", "inf"))

    def line(self, i: int, header: bool, short: bool = False) -> int:
        """Number of the line of row ``i`` below the header, for messages."""
        return next(islice(self.body(header, short), i, None))[0]


def read_text(
    source: str | os.PathLike[str] | IO[bytes], encoding: str | None = None, delimiter: str | None = None
) -> Text:
    """Open a text file, packed by gzip or not, or what a binary file object holds."""
    name = Path(source).name if isinstance(source, str | os.PathLike) else "stdin"
    data = read_bytes(source)
    if not data[:4096].strip() and not data.strip():
        raise InputError(f"{name} is empty.")
    if b"\0" in data[:4096] and data[:2] not in (b"\xff\xfe", b"\xfe\xff") and encoding is None:
        raise InputError(f"{name} is not a text file. Export it as CSV.")
    return Text(data, name, encoding, delimiter)


def is_number(cell: str, *, blank: bool = True) -> bool:
    """Whether a cell holds a number, with a decimal point or comma, or (with ``blank``) says that it is missing."""
    if cell.lower() in EMPTY_WORDS:
        return blank
    return _matches(_POINT, cell) or _matches(_COMMA, cell)


def number_share(rows: Sequence[Sequence[str]]) -> float:
    """Share of numbers among the cells that are not empty."""
    cells = [cell.strip() for row in rows for cell in row if cell.strip()]
    return sum(map(is_number, cells)) / max(1, len(cells))


def table_width(rows: Sequence[Sequence[str]]) -> int:
    """Most common number of cells."""
    return Counter(map(len, rows)).most_common(1)[0][0]


def _as_utf8(data: bytes, name: str, encoding: str | None) -> bytes:
    """Check the encoding, and give the same text in UTF-8 without a byte order mark."""
    if encoding is None and data.isascii():
        return data
    if encoding is None:
        encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    try:
        text = data.decode(encoding)
    except (UnicodeError, LookupError) as error:
        raise InputError(
            f"{name} is not text in {encoding.upper()} ({error}). Save it as UTF-8, or give encoding=, perhaps 'cp1252'."
        ) from error
    if encoding != "utf-8":
        data = text.encode()
    return data.removeprefix(b"\xef\xbb\xbf")


def _first(items: Iterator[Any], size: Any) -> Iterator[Any]:
    """Some at the start: enough to find out how a table is written, and no more than that takes."""
    total = 0
    for i, item in enumerate(islice(items, _HEAD_ROWS)):
        yield item
        total += size(item)
        if i >= 4 and total > _HEAD_CHARACTERS:
            return


def _matches(pattern: re.Pattern[str], cell: str) -> bool:
    return len(cell) <= LONGEST and pattern.fullmatch(cell) is not None


def _holds_data(line: str) -> bool:
    """Whether a line is more than blanks or a comment."""
    return line.lstrip()[:1] not in ("", "#", "%")


def _titles(rows: list[list[str]]) -> int:
    """Number of rows that are titles above a table: each of one cell, and below them at least three names, and no number."""
    n = next((k for k, cells in enumerate(rows) if sum(map(bool, cells)) != 1), 0)
    names = [cell for cell in rows[n] if cell]
    numbers = (_matches(pattern, name) for name in names for pattern in (_POINT, _COMMA))
    return n if len(names) >= 3 and not any(numbers) else 0


def _is_address(line: str, delimiter: str | None) -> bool:
    """Whether a line holds the address of a web page and nothing else (as SNAP's first lines do), so that it is no row."""
    cell = line.strip()
    return bool(re.fullmatch(r"https?://[^\s,;]+", cell)) and (delimiter is None or delimiter not in cell)


def _by_tabs(line: str) -> str:
    """Put tabs for the blanks between cells; those within quotes stay."""
    if '"' not in line:
        return "\t".join(line.split())
    return re.sub(r'("(?:[^"]|"")*")|\s+', lambda match: match[1] or "\t", line.strip())


def _sniff(lines: list[str]) -> str:
    """Find the delimiter that cuts most lines into the same number of cells, and most of them into numbers."""
    cut: dict[str, list[list[str]]] = {}
    alike: dict[str, int] = {}  # lines
    for delimiter in "\t;,| ":
        pieces, mark = (map(_by_tabs, lines), "\t") if delimiter == " " else (iter(lines), delimiter)
        try:
            rows = [row for row in csv.reader(pieces, delimiter=mark) if row]
        except csv.Error:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        if width > 1 and 2 * count >= len(rows):
            cut[delimiter], alike[delimiter] = rows, count
    # a;b;1,5 is cut by the comma, too, but there it stands for a decimal point.
    if any(_decimal_commas(cut[mark], 3 if mark == " " else 2) for mark in cut if mark != ","):
        cut.pop(",", None)
    # One that cuts all lines alike, the header included, is right, and others stand in names or numbers: "p, q";r;1,5.
    alike_all = {mark for mark, rows in cut.items() if len({*map(len, rows)}) == 1}
    if any(len(cut[mark][0]) >= 3 for mark in alike_all - {" "}):
        cut = {mark: rows for mark, rows in cut.items() if mark in alike_all}
    # So do blanks if they cut into no more cells than another one: p<tab>q 1<tab>, without a value.
    widest = max((len(cut[mark][0]) for mark in alike_all - {" ", ","}), default=0)
    if " " in alike_all and 3 <= widest >= len(cut[" "][0]):
        del cut[" "]
    if len(cut) < 2:
        return next(iter(cut), ",")
    return max(cut, key=lambda delimiter: (number_share(cut[delimiter]), alike[delimiter]))


def _decimal_commas(rows: list[list[str]], width: int) -> bool:
    """Whether all rows have as many cells, at least `width`, and all commas below the first one stand in numbers."""
    cells = [cell.strip() for row in rows[1:] or rows for cell in row if "," in cell]
    in_numbers = bool(cells) and all(_matches(_COMMA, cell) and cell[-1] != "," for cell in cells)
    return in_numbers and {*map(len, rows)} == {len(rows[0])} and len(rows[0]) >= width
