"""Results as notebooks show them (a heading, lines, a table, a picture; every text escaped) and as JSON knows them."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from finsler.errors import printable

STYLE = "max-width:60em;line-height:1.35"
TABLE = "margin:.3em 0;font-size:inherit"
CELL = "text-align:left;padding:.1em .9em .1em 0;vertical-align:top"
NUMBER = "text-align:right;padding:.1em .9em .1em 0"


def escaped(text: object) -> str:
    """Text that stands for nothing but itself in HTML and SVG, whatever it holds.

    Examples
    --------
    >>> escaped("<script>alert('x')</script>")
    '&lt;script&gt;alert(&#x27;x&#x27;)&lt;/script&gt;'
    """
    return html.escape(printable(str(text)))


def card(
    title: str,
    *,
    facts: Iterable[tuple[str, str]] = (),
    table: Sequence[Sequence[str]] = (),
    notes: Iterable[str] = (),
    picture: str = "",
) -> str:
    """HTML of a result; `picture` is the only part that is taken as it is.

    Parameters
    ----------
    title : str
    facts : iterable of pairs
        Name and text of each line.
    table : sequence of rows
        The first is its header; numbers, all columns but the first, are aligned to the right.
    notes : iterable of str
        Paragraphs below.
    picture : str
        SVG, which stands beside the facts.

    Examples
    --------
    >>> "<b>A &amp; B</b>" in card("A & B", facts=[("points", "3")])
    True
    """
    lines = "".join(
        f'<tr><th scope="row" style="{CELL};font-weight:normal;opacity:.75">{escaped(name.strip())}</th>'
        f'<td style="{CELL}">{escaped(text)}</td></tr>'
        for name, text in facts
    )
    body = f'<table style="{TABLE}">{lines}</table>' if lines else ""
    if table:
        head, *rows = [[escaped(text) for text in row] for row in table]
        cells = "".join(
            f'<th scope="col" style="{NUMBER if k else CELL}">{t}</th>' for k, t in enumerate(head)
        )
        body += f'<table style="{TABLE}"><thead><tr>{cells}</tr></thead><tbody>'
        for row in rows:
            cells = "".join(f'<td style="{NUMBER if k else CELL}">{text}</td>' for k, text in enumerate(row))
            body += f"<tr>{cells}</tr>"
        body += "</tbody></table>"
    body += "".join(f'<p style="margin:.3em 0;white-space:pre-wrap">{escaped(note)}</p>' for note in notes)
    heading = f'<p style="margin:.2em 0"><b>{escaped(title)}</b></p>'
    if picture:
        body = f'<div>{picture}</div><div style="flex:1 1 20em">{body}</div>'
        body = f'<div style="display:flex;flex-wrap:wrap;gap:1em">{body}</div>'
    return f'<div style="{STYLE}">{heading}{body}</div>'


def plain(value: Any) -> Any:
    """Turn a value into what JSON knows."""
    value = value.item() if isinstance(value, np.generic) else value
    value = value._asdict() if hasattr(value, "_asdict") else value
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    return value if isinstance(value, str | int | float | None) else str(value)
