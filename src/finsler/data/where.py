"""Which rows of a long table count: those with some values in some columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from finsler.data.readers.text import is_number
from finsler.errors import InputError, shown

Where = dict[str, list[Any]]  # values that count by column


def parse_where(where: Any) -> Where:
    """Values that count by column, from a dict (``{"year": [2019, 2020]}``) or from text (``"year=2020"``)."""
    if where is not None and not isinstance(where, Mapping):
        texts = (
            [where]
            if isinstance(where, str)
            else list(where)
            if isinstance(where, list | tuple | set)
            else [None]
        )
        parts = [text.partition("=") for text in texts if isinstance(text, str)]
        if len(parts) < len(texts) or not all(name.strip() and mark for name, mark, _ in parts):
            raise InputError(f"where must be like 'year=2020', got {shown(where)}.", argument="where")
        where = {name.strip(): value.strip() for name, _, value in parts}
    several = (list, tuple, set)
    return {name: list(v) if isinstance(v, several) else [v] for name, v in (where or {}).items()}


def rows_where(columns: Mapping[str, Sequence[Any]], where: Where) -> tuple[Any, list[str]]:
    """Rows whose columns hold one of the values wanted (``...`` if all do), and how many these are in words."""
    if not where:
        return ..., []
    allowed = {name: {_plain(value) for value in wanted} for name, wanted in where.items()}
    held = [[_plain(value) in allowed[name] for value in columns[name]] for name in where]
    kept = np.flatnonzero(np.all(held, axis=0))
    said = ", ".join(f"{name}={'|'.join(map(str, wanted))}" for name, wanted in where.items())
    return kept, [f"{said} keeps {len(kept):,} of {len(held[0]):,} rows."]


def _plain(value: Any) -> Any:
    """Spell numbers in one way, so that 2020, "2020" and 2020.0 are the same."""
    text = str(value).strip()
    return float(text) if is_number(text, blank=False) and "," not in text and "∞" not in text else text
