"""Errors that are the caller's to mend: each says what was found, where, and what to do."""

from __future__ import annotations


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
