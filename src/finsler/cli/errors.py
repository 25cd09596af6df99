"""What the command line says when something is wrong: one line for what the user can mend, a traceback for bugs."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from finsler.errors import InputError, MissingExtraError

MENDABLE = (InputError, MissingExtraError, OSError, MemoryError)


def explain(error: BaseException, options: Mapping[str, str] | None = None) -> str:
    """Put an error that the user can mend on one line, which starts with the option to blame.

    ``options`` are those of the command by argument: ``{"n_components": "--n-components"}``.
    """
    text = str(error)
    argument = error.argument if isinstance(error, InputError) else None
    if argument is not None and argument in (options or {}):
        rest = text.removeprefix(argument)
        for mark in (" = ", "=", ": ", " "):  # "n_init = 0 is too small", "n_init must be ..."
            if rest != text and rest.startswith(mark):
                text = rest.removeprefix(mark)
                break
        text = f"{(options or {})[argument]}: {text}"
    elif isinstance(error, MemoryError) and not text:
        text = "There is not enough memory."
    elif isinstance(error, FileNotFoundError) and error.filename:
        text = f"There is no file {error.filename}."
    elif isinstance(error, OSError) and error.strerror:
        text = f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return one_line(text)


def one_line(text: str) -> str:
    """Put a text on one line."""
    return " ".join(text.split())


def say(text: str) -> None:
    """Write a line to stderr."""
    print(text, file=sys.stderr, flush=True)


@contextmanager
def warnings_in_lines() -> Iterator[None]:
    """Show the library's warnings as lines on stderr, and no others."""

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        say(f"finsler: warning: {one_line(str(message))}")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("default", RuntimeWarning)
        warnings.showwarning = show
        yield
