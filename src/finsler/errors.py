"""Errors that are the caller's to mend: each says what was found, where, and what to do."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any


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
        super().__init__(
            message if argument is None or message.startswith(argument) else f"{argument} {message}"
        )


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
        raise InputError(f"{name} must be {listed}, got {value!r}.", argument=name)


def check_count(name: str, value: Any, least: int = 1) -> int:
    """Refuse what is not a whole number of at least ``least``.

    Examples
    --------
    >>> check_count("n_init", 0)
    Traceback (most recent call last):
    finsler.errors.InputError: n_init must be at least 1, got 0.
    """
    if not isinstance(value, Integral) or isinstance(value, bool):
        raise InputTypeError(f"{name} must be a whole number, got {value!r}.", argument=name)
    if value < least:
        raise InputError(f"{name} must be at least {least}, got {value}.", argument=name)
    return int(value)
