"""Errors that are the caller's to mend: each says what was found, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any

LONGEST_WORD, LONGEST_MESSAGE = 300, 1500  # characters that a message shows


class InputError(ValueError):
    """Something given to the library cannot be used.

    Parameters
    ----------
    message : str
        What was found, where, and what to do, in words that serve Python and the command line alike.
    argument : str, optional
        Name of the argument that is to blame; the command line names its option by it.

    Examples
    --------
    >>> error = InputError("must be at least 1, got 0.", argument="n_components")
    >>> print(error)
    n_components must be at least 1, got 0.
    """

    def __init__(self, message: str, *, argument: str | None = None):
        self.argument = argument
        message = one_line(message)  # labels and cells may hold anything
        named = argument is None or re.search(rf"(?<!\w){re.escape(argument)}(?!\w)", message)
        text = message if named else f"{argument} {message}"
        super().__init__(shortened(text))


class InputTypeError(InputError, TypeError):
    """Something of a kind that cannot be used was given."""


class MissingExtraError(ImportError):
    """A package is needed that the base install does not bring."""


class UnknownLabelError(InputError, KeyError):
    """A label names no point, or several."""

    def __str__(self) -> str:  # KeyError would show the message in quotes
        return str(self.args[0])


# What neither UTF-8 nor XML can say, and what would steer a terminal: control characters, and halves of pairs.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]")


def printable(text: str) -> str:
    r"""Show what cannot be written anywhere (control characters, halves of surrogate pairs) by its code.

    Examples
    --------
    >>> print(printable("red: \x1b[31m, half a letter: \ud800"))
    red: \x1b[31m, half a letter: \ud800
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def one_line(text: str) -> str:
    """Put a text on one line, fit to be printed."""
    return printable(" ".join(text.split()))


def shortened(text: str, word: int = LONGEST_WORD, whole: int = LONGEST_MESSAGE) -> str:
    """Text whose words, and which as a whole, are cut in the middle where they are too long to be read.

    Labels, paths and numbers can have any length.

    Examples
    --------
    >>> shortened("No point is labeled " + 300 * "x", word=20)
    'No point is labeled xxxxxxx...xxxxxxx'
    """

    def cut(part: str, most: int) -> str:
        end = (most - 6) // 2
        return part if len(part) <= most else f"{part[:end]}...{part[-end:]}"

    if len(text) > word:
        text = re.sub(rf"\S{{{word + 1},}}", lambda found: cut(found[0], word), text)
    return cut(text, whole)


def shown(value: Any, most: int = 100) -> str:
    """Show a value on a line of a message, whatever it is and however long.

    Examples
    --------
    >>> shown([1, 2, 3]), shown(10**400)
    ('[1, 2, 3]', 'an integer of 1329 bits')
    """
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 300:
        return f"an integer of {value.bit_length()} bits"
    if not isinstance(value, type) and hasattr(value, "dtype") and bool(getattr(value, "shape", None)):
        return f"an array of shape {tuple(value.shape)} and type {value.dtype}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # what cannot even be shown must not hide the message
        text = f"an object of type {type(value).__name__}"
    return shortened(text, most, most)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> None:
    """Refuse a word that is not one of those that have a meaning.

    Examples
    --------
    >>> check_choice("missing", "skip", ("raise", "mask"))
    Traceback (most recent call last):
    finsler.errors.InputError: missing must be 'raise' or 'mask', got 'skip'.
    """
    words = list(choices)
    if not isinstance(value, str) or value not in words:
        *most, last = map(repr, words)
        listed = f"{', '.join(most)} or {last}" if most else last
        raise InputError(f"{name} must be {listed}, got {shown(value)}.", argument=name)


def check_count(name: str, value: Any, least: int = 1, most: int = 2**62) -> int:
    """Refuse what is not a whole number from ``least`` to ``most``.

    Examples
    --------
    >>> check_count("n_init", 0)
    Traceback (most recent call last):
    finsler.errors.InputError: n_init must be at least 1, got 0.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputTypeError(f"{name} must be a whole number, got {shown(value)}.", argument=name)
    if int(value) < least:
        raise InputError(f"{name} must be at least {least}, got {shown(value)}.", argument=name)
    if int(value) > most:
        raise InputError(f"{name} must be at most {most:,}, got {shown(value)}.", argument=name)
    return int(value)
