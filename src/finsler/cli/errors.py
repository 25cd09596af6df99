"""What the command line says when something is wrong: one line for the user's mistakes, a traceback for ours."""

from __future__ import annotations

import dis
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

# The library names arguments; on the command line these are options.
_WORDS = [
    (r"\b(missing|unreachable|connection|zeros|kind|diagonal)='([\w-]+)'", r"--\1 \2"),
    (r"\bweighting='([\w-]+)'", r"--weights \1"),
    (r"\bGive weight= one of", "Give --columns SOURCE,TARGET,LENGTH with a LENGTH among"),
    (r", or None to count arcs", ""),
    (r"; embed_matrix reads it", ": --kind matrix"),
    (r"\bweight=None\b", "--hops"),
    (r"\bn_components=(\d+)", r"--dim \1"),
    (r"\bn_neighbors=(\d+)", r"--neighbors \1"),
    (r"\bcolumns=", "--columns"),
    (r"\bencoding=", "--encoding"),
    (r"^Finsler(MDS|Isomap): ", ""),
]
# Errors by which the library, and the checks of scikit-learn and pooch, tell what is wrong with what they were given.
_TOLD = (ValueError, TypeError, KeyError, IndexError, ImportError)


class Mistake(Exception):
    """A mistake of the user, told in one line."""


def explain(error: BaseException) -> str | None:
    """One line for an error that the user can do something about; None for a bug.

    Errors of the operating system and a lack of memory are always such. Others are if our code, or a check of
    scikit-learn or pooch, raised them by a ``raise`` of its own: what numpy throws in the midst of a computation, or a
    failed look-up, is a bug.
    """
    if isinstance(error, Mistake):
        return one_line(str(error))
    if isinstance(error, MemoryError):
        return one_line(str(error) or "There is not enough memory.")
    if isinstance(error, OSError):
        if error.errno is None or error.strerror is None:
            return one_line(str(error))
        if isinstance(error, FileNotFoundError) and error.filename:
            return f"There is no file {error.filename}."
        return one_line(f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}.")
    if isinstance(error, _TOLD) and _raised_on_purpose(error):
        return one_line(str(error.args[0]) if error.args else str(error))
    return None


def _raised_on_purpose(error: BaseException) -> bool:
    trace = error.__traceback__
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    package = str(trace.tb_frame.f_globals.get("__name__", "")).partition(".")[0]
    instruction = trace.tb_frame.f_code.co_code[trace.tb_lasti]
    return package in ("finsler", "sklearn", "pooch") and dis.opname[instruction] == "RAISE_VARARGS"


def one_line(text: str) -> str:
    """Put a message of the library in the words of the command line, on one line."""
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
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
