"""Names that a package offers and imports when they are first used, so that importing the package stays fast.

An ``__init__.pyi`` beside each such package says the same to editors and type checkers; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def exports(
    package: str, names: Mapping[str, Sequence[str]], subpackages: Sequence[str] = ()
) -> tuple[list[str], Callable[[str], Any], Callable[[], list[str]]]:
    """Make ``__all__``, ``__getattr__`` and ``__dir__`` of a package.

    Parameters
    ----------
    package : str
        Its ``__name__``.
    names : mapping of str to sequence of str
        What to export, by the module inside the package that holds it.
    subpackages : sequence of str
        Packages inside it that can be reached as attributes.

    Examples
    --------
    >>> offered, get, _ = exports("finsler", {"geometry.randers": ["randers_distances"]})
    >>> offered, get("randers_distances").__module__
    (['randers_distances'], 'finsler.geometry.randers')
    """
    modules = {name: f"{package}.{module}" for module, offered in names.items() for name in offered}

    def get(name: str) -> Any:
        if name in modules:
            return getattr(import_module(modules[name]), name)
        if name in subpackages:
            return import_module(f"{package}.{name}")
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    everything = [*modules, *subpackages]
    return everything, get, lambda: sorted(everything)
