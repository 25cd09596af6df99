"""Lines and cells of text tables: encodings, delimiters, decimal commas, and where a cell stands in the file."""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import IO

import numpy as np

from finsler.errors import InputError

TEXT = (".csv", ".tsv", ".txt", ".dat", ".edges", ".edgelist")
GRAPHS = (".mtx", ".graphml")
MISSING = {"", "na", "n/a", "nan", "null", "none"}
_POINT = re.compile(r"[+-]?((\d+\.?\d*|\.\d+)(e[+-]?\d+)?|inf|infinity|∞)", re.ASCII | re.IGNORECASE)
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


class Text:
    """Rows of a text file: what cuts them into cells, how many there are, and the numbers in them.

    Parameters
    ----------
    data : bytes
        The file, unpacked.
    name : str
        What messages call it.
    encoding : str, optional
        UTF-8 by default, or UTF-16 if there is a byte order mark of it.
    """

    def __init__(self, data: bytes, name: str, encoding: str | None = None):
        self.name, self.data = name, data
        self.encoding = encoding or ("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
        self._marks: dict[str, str] = {}  # where a decimal point and a decimal comma were first seen
        self._spare = 0  # empty columns at the end
        try:
            self.delimiter = _sniff(list(islice(filter(_holds_data, self._lines()), 100)))
            # Python's float() takes 1_000 for a number, and does not know decimal commas.
            self._careful = b"_" in data or (self.delimiter != "," and b"," in data)
            self.n_rows, spare, widths = 0, len(data), Counter[int]()
            for _, cells in self.rows():
                self.n_rows += 1
                widths[len(cells)] += 1
                spare = min(spare, len(cells) - max(i for i, cell in enumerate(cells, 1) if cell))
        except (UnicodeError, LookupError) as error:
            known = self.encoding.removesuffix("-sig").upper()
            raise InputError(
                f"{name} is not text in {known} ({error}). Save it as UTF-8, or give encoding=, perhaps 'cp1252'."
            ) from error
        if not self.n_rows:
            raise InputError(f"{name} holds no rows.")
        self._spare = spare
        self.width = widths.most_common(1)[0][0] - spare
        self.head = list(islice(self.rows(), 101))

    def _lines(self) -> IO[str]:
        return io.TextIOWrapper(io.BytesIO(self.data), encoding=self.encoding, newline="")

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Cells of each row that has any, without blanks around them, and the number of its (first) line."""
        start, at_start = 0, True

        def content() -> Iterator[str]:
            nonlocal start, at_start
            for number, line in enumerate(self._lines(), 1):
                if at_start:  # inside a quoted cell nothing is a comment
                    if not _holds_data(line):
                        continue
                    start, at_start = number, False
                yield _by_tabs(line) if self.delimiter == " " else line

        reader = csv.reader(
            content(), delimiter="\t" if self.delimiter == " " else self.delimiter, strict=True
        )
        while True:
            at_start = True
            try:
                cells = [cell.strip() for cell in next(reader)]
            except StopIteration:
                return
            except csv.Error as error:
                raise InputError(f"{self.name}: row {start}: {error}.") from error
            if any(cells):
                yield start, cells[: len(cells) - self._spare]

    def body(self, header: bool, short: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Rows below the header, all as wide as most are; only a ``short`` header may be one cell narrower."""
        for i, (row, cells) in enumerate(self.rows()):
            if len(cells) != self.width - (short and i == 0):
                raise InputError(
                    f"{self.name}: row {row} has {len(cells)} columns, where most have {self.width}."
                )
            if i >= header:
                yield row, cells

    def numbers(self, cells: list[str], row: int, first: int, names: Sequence[str] | None) -> list[float]:
        """Numbers of consecutive cells, of which the first is in column ``first`` (from 0)."""
        if not self._careful:
            try:
                return list(map(float, cells))
            except ValueError:
                pass
        return [self.number(cell, row, first + k, names) for k, cell in enumerate(cells)]

    def number(self, cell: str, row: int, column: int, names: Sequence[str] | None = None) -> float:
        """Number in a cell; NaN if it is missing."""
        if cell.lower() in MISSING:
            return np.nan
        place = f"row {row}, column " + (f"{column + 1}" if names is None else f'"{names[column]}"')
        mark = "." if _POINT.fullmatch(cell) else ","
        if mark == "," and (self.delimiter == "," or not _COMMA.fullmatch(cell)):
            why = (
                "commas separate the cells of this file, so write decimals with a point, thousands without a mark"
                if _COMMA.fullmatch(cell)
                else "write plain numbers without units, and leave a cell empty where none is known"
            )
            raise InputError(f"{self.name}: {place}: {cell!r} is not a number; {why}.")
        if mark in cell:
            self._marks.setdefault(mark, f"{cell!r} in {place}")
            if len(self._marks) > 1:
                raise InputError(
                    f"{self.name} mixes decimal points and commas: {' and '.join(self._marks.values())}."
                )
        return float(cell.replace(",", ".").replace("∞", "inf"))


def read_text(source: str | os.PathLike[str] | IO[bytes], encoding: str | None = None) -> Text:
    """Open a text file, packed by gzip or not, or what a binary file object holds."""
    if isinstance(source, str | os.PathLike):
        require_file(Path(source))
        data, name = Path(source).read_bytes(), Path(source).name
    else:
        data, name = source.read(), "stdin"
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise InputError(f"{name} is not a whole gzip file: {error}.") from error
    if not data[:4096].strip() and not data.strip():
        raise InputError(f"{name} is empty.")
    if b"\0" in data[:4096] and data[:2] not in (b"\xff\xfe", b"\xfe\xff") and encoding is None:
        raise InputError(f"{name} is not a text file. Export it as CSV.")
    return Text(data, name, encoding)


def is_number(cell: str, *, blank: bool = True) -> bool:
    """Whether a cell holds a number, with a decimal point or comma, or (with ``blank``) says that it is missing."""
    if cell.lower() in MISSING:
        return blank
    return bool(_POINT.fullmatch(cell) or _COMMA.fullmatch(cell))


def require_file(path: Path) -> None:
    """Raise unless ``path`` is a file with something in it."""
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path.name} is empty.")


def suffix_of(path: Path) -> str:
    """Suffix in lower case, that of a packed file without its ``.gz``."""
    return "".join([suffix for suffix in map(str.lower, path.suffixes) if suffix != ".gz"][-1:])


def _holds_data(line: str) -> bool:
    """Whether a line is more than blanks, a comment, or the address of a web page (as SNAP has it)."""
    start = line.lstrip()
    return start[:1] not in ("", "#", "%") and not re.fullmatch(r"https?://[^\s,;]+", start.rstrip())


def _by_tabs(line: str) -> str:
    """Put tabs for the blanks between cells; those within quotes stay."""
    return re.sub(r'("(?:[^"]|"")*")|\s+', lambda match: match[1] or "\t", line.strip())


def _sniff(lines: list[str]) -> str:
    """Find the delimiter that cuts most lines into the same number of cells, and most of them into numbers."""
    best, found = (-1.0, 0), ","
    for rank, delimiter in enumerate("\t;,| "):
        cut = list(map(_by_tabs, lines)) if delimiter == " " else lines
        try:
            rows = [row for row in csv.reader(cut, delimiter="\t" if delimiter == " " else delimiter) if row]
        except csv.Error:
            continue
        width, count = Counter(map(len, rows)).most_common(1)[0] if rows else (1, 0)
        score = (number_share(rows), -rank)
        if width > 1 and 2 * count >= len(rows) and score > best:
            best, found = score, delimiter
    return found


def number_share(rows: Sequence[Sequence[str]]) -> float:
    """Share of numbers among the cells that are not empty."""
    cells = [cell.strip() for row in rows for cell in row if cell.strip()]
    return sum(map(is_number, cells)) / max(1, len(cells))


def table_width(rows: Sequence[Sequence[str]]) -> int:
    """Most common number of cells."""
    return Counter(map(len, rows)).most_common(1)[0][0]
