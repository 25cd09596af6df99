"""Text as XML takes it."""

from __future__ import annotations

import re
from typing import Any
from xml.sax.saxutils import escape, quoteattr

_UNSPEAKABLE = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def speakable(text: Any) -> str:
    """Text without the characters that XML 1.0 cannot hold, for each of which there is a replacement character."""
    return _UNSPEAKABLE.sub("\ufffd", str(text))


def quoted(text: Any) -> str:
    """Value of an attribute, in quotes."""
    return quoteattr(speakable(text))


def content(text: Any) -> str:
    """Content of an element."""
    return escape(speakable(text))


def written(value: Any) -> str:
    """Number, truth value or word as the formats write it."""
    return (
        str(value).lower()
        if isinstance(value, bool)
        else repr(value)
        if isinstance(value, float)
        else str(value)
    )


def kinds(columns: dict[str, Any]) -> dict[str, str]:
    """Kind of each column by its name: double, long, boolean or string."""
    words = {"f": "double", "i": "long", "u": "long", "b": "boolean"}
    return {name: words.get(values.dtype.kind, "string") for name, values in columns.items()}
