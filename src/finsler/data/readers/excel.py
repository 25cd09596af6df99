"""Sheets of Excel files (``.xlsx``), as text: the numbers of rows in messages are those of the sheet."""

from __future__ import annotations

import csv
import io
import zipfile
from typing import Any

from finsler._memory import require_memory
from finsler._read import MOST_PACKED
from finsler.data.provenance import listed
from finsler.data.readers.text import Text
from finsler.errors import InputError, MissingExtraError


def parse_excel(data: bytes, name: str, sheet: str | int | None) -> Text:
    """Sheet of a file, by its name or its position from 0; the first one by default, which is said if there are others."""
    try:
        import openpyxl
    except ImportError as error:
        raise MissingExtraError(
            f"{name}: Excel files need openpyxl: pip install 'finsler[files]'."
        ) from error
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = archive.infolist()
        if any(part.file_size > MOST_PACKED * max(1, part.compress_size) for part in parts):
            raise InputError("the sizes of its parts are not true.")
        require_memory(20.0 * sum(part.file_size for part in parts), f"{name}, unpacked,", "Save it as CSV.")
    book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    pages = {page.title: page for page in book.worksheets}
    titles = list(pages)
    if not titles:
        raise InputError("it holds no sheet with cells.")
    title = _chosen(titles, sheet)
    page = pages[title]
    page.reset_dimensions()  # what the file says of them need not be true
    lines = io.StringIO()
    writer = csv.writer(lines, delimiter="\t", quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    rows = [[_plain(cell) for cell in row] for row in page.iter_rows(values_only=True)]
    width = max(map(len, rows), default=0)
    writer.writerows([*row, *[""] * (width - len(row))] for row in rows)
    text = lines.getvalue().encode()
    if not text.replace(b'"', b"").strip():
        raise InputError(f"the sheet {title!r} is empty.")
    found = Text(text, name, "utf-8", "\t")
    if sheet is None and len(titles) > 1:
        found.said += (f"The sheet {title!r} was read; others: {listed(titles[1:])}.",)
    return found


def _chosen(titles: list[str], sheet: str | int | None) -> str:
    if sheet in titles:
        return str(sheet)
    position = 0 if sheet is None else int(sheet) if str(sheet).isdigit() else -1
    if not 0 <= position < len(titles):
        raise InputError(f"{sheet!r} is not there; the sheets are {listed(titles)}.", argument="sheet")
    return titles[position]


def _plain(cell: Any) -> Any:
    """Cell as the text reader takes it: numbers as they are, everything else in one line of text."""
    if isinstance(cell, int | float) and not isinstance(cell, bool):
        return cell
    return "" if cell is None else " ".join(str(cell).split())
