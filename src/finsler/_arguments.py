"""Arguments of public functions, checked against their annotations: one line at the top of each function.

What the annotations say is the rule: ``int`` is a whole number that fits into 64 bits, ``float`` a number that is not NaN,
``bool`` is True or False, ``ArrayLike`` whatever numpy makes an array of numbers from, and so on; ``Any`` is left to the
function. Which numbers have a meaning is for the function to say, too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from finsler.errors import InputError, InputTypeError, one_line, shown

Rule = Callable[[Any], bool]
MOST = 2**63  # whole numbers that compiled code can hold


def _whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and -MOST <= int(value) < MOST


def _number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        return not np.isnan(float(value))
    except OverflowError:  # a whole number of hundreds of digits
        return False


def _several(value: Any) -> bool:
    """Whether this is a collection whose members come in an order and can be counted."""
    return (
        not isinstance(value, str | bytes | Mapping | set | frozenset)
        and (hasattr(value, "__len__") or hasattr(value, "__iter__"))
        and getattr(value, "ndim", 1) > 0
    )


def _numbers(value: Any) -> bool:
    """Whether numpy can make an array of real numbers from it; what is not in memory is looked at by its type."""
    if value is None or isinstance(value, str | bytes | os.PathLike | Mapping | set) or callable(value):
        return False
    if hasattr(value, "toarray") or type(value).__name__ == "Dissimilarities":
        return True  # a sparse matrix: the function says what to do with it
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    try:
        array = value if kind is not None else np.asarray(value)
        if array.dtype.kind in "biuf":
            return True
        if array.dtype.kind not in "OSU":
            return False
        np.asarray(array).astype(float)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return not hasattr(value, "__next__")


def _dtype(value: Any) -> bool:
    try:
        return value is not None and np.dtype(value) in (np.float32, np.float64)
    except TypeError:
        return False


# How each annotation is checked, and in which words.
KINDS: dict[str, tuple[Rule, str]] = {
    "int": (_whole, "a whole number"),
    "float": (_number, "a number"),
    "bool": (lambda value: isinstance(value, bool | np.bool_), "True or False"),
    "str": (lambda value: isinstance(value, str), "text"),
    "None": (lambda value: value is None, "None"),
    "Callable": (callable, "a function"),
    "dict": (lambda value: isinstance(value, dict), "a dict"),
    "Mapping": (lambda value: isinstance(value, Mapping), "a dict"),
    "Literal": (lambda value: isinstance(value, str), "text"),
    "Sequence": (lambda value: _several(value) and hasattr(value, "__len__"), "a list"),
    "Iterable": (_several, "a list"),
    "ArrayLike": (_numbers, "an array of numbers"),
    "NDArray": (lambda value: isinstance(value, np.ndarray), "an array"),
    "Hashable": (_hashable, "a name"),
    "DTypeLike": (_dtype, "float32 or float64"),
    "PathLike": (lambda value: isinstance(value, os.PathLike), "a path"),
    "IO": (lambda value: hasattr(value, "read"), "an open file"),
}


@cache
def _alternatives(annotation: str) -> tuple[str, ...]:
    """Names of the types that an annotation allows, without what stands in brackets.

    Examples
    --------
    >>> _alternatives("str | os.PathLike[str] | None")
    ('str', 'PathLike', 'None')
    """
    while re.search(r"\[[^\[\]]*\]", annotation):
        annotation = re.sub(r"\[[^\[\]]*\]", "", annotation)
    return tuple(part.strip().rpartition(".")[2] for part in annotation.split("|"))


def _fits(value: Any, kind: str) -> bool:
    if kind in KINDS:
        return bool(KINDS[kind][0](value))
    return any(base.__name__ == kind for base in type(value).__mro__)  # a class of ours, not imported here


@cache
def _declared(function: Any) -> dict[str, str]:
    """Annotations of the parameters; of ``**options``, those of the dictionary type that declares them."""
    found: dict[str, str] = {}
    for name, annotation in function.__annotations__.items():
        unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(annotation))
        if unpacked is None:
            kinds = _alternatives(str(annotation))
            inside = [function.__globals__.get(kind) for kind in kinds if kind not in KINDS]
            other = any(thing is not None and not isinstance(thing, type) for thing in inside)
            found[name] = (
                "Any" if other else str(annotation)
            )  # a name for several types, which the function knows
            continue
        found |= declared_types(function.__globals__[unpacked[1]])
    return found


def declared_types(dictionary: Any) -> dict[str, str]:
    """Annotations of a dictionary type, as text."""
    return {
        key: getattr(note, "__forward_arg__", str(note)) for key, note in dictionary.__annotations__.items()
    }


def check_arguments(
    function: Callable[..., Any], values: Mapping[str, Any], *, besides: tuple[str, ...] = ()
) -> None:
    """Refuse arguments that are not what the annotations of a function say; ``values`` are its ``locals()``.

    Those named in `besides` are checked elsewhere, where more can be said about them.

    Examples
    --------
    >>> def walk(steps: int, *, back: bool = False) -> None:
    ...     check_arguments(walk, locals())
    >>> walk(3, back="x")
    Traceback (most recent call last):
    finsler.errors.InputTypeError: back must be True or False, got 'x'.
    """
    given = dict(values)
    for name, annotation in _declared(function).items():
        if name not in given:
            given |= {key: value for key, value in given.get("options", {}).items() if key == name}
        if name in given and name not in ("return", *besides):
            check_argument(name, given[name], annotation)


def check_argument(name: str, value: Any, annotation: str) -> None:
    """Refuse a value that is not what an annotation says, in words that a reader who never saw it understands."""
    if name == "random_state":
        as_random_state(value)
        return
    kinds = _alternatives(annotation)
    if "Any" in kinds or any(_fits(value, kind) for kind in kinds):
        return
    words = [KINDS[kind][1] if kind in KINDS else f"of type {kind}" for kind in dict.fromkeys(kinds)]
    *most, last = dict.fromkeys(words)
    listed = f"{', '.join(most)} or {last}" if most else last
    raise InputTypeError(f"{name} must be {listed}, got {shown(value)}.", argument=name)


def check_number(
    name: str,
    value: Any,
    least: float = -np.inf,
    most: float = np.inf,
    *,
    open_ends: bool = False,
    optional: bool = False,
) -> float | None:
    """Number in ``[least, most]``, or in ``(least, most)`` with `open_ends`; infinite only where an end is, and closed.

    Examples
    --------
    >>> check_number("far", 0, 0, open_ends=True)
    Traceback (most recent call last):
    finsler.errors.InputError: far must be a number above 0, got 0.
    """
    if value is None and optional:
        return None
    if _number(value):
        number = float(value)
        if (least < number < most) if open_ends else (least <= number <= most):
            return number
    low = (f"above {least:g}" if open_ends else f"of at least {least:g}") if least > -np.inf else ""
    high = (f"below {most:g}" if open_ends else f"of at most {most:g}") if most < np.inf else ""
    limits = f" {' and '.join(filter(None, (low, high)))}" if low or high else ""
    error = InputError if _number(value) else InputTypeError
    also = " or None" if optional else ""
    raise error(f"{name} must be a number{limits}{also}, got {shown(value)}.", argument=name)


def check_flag(name: str, value: Any) -> bool:
    """Refuse what is neither True nor False."""
    check_argument(name, value, "bool")
    return bool(value)


def check_words(name: str, values: Any) -> list[Any]:
    """Members of a collection of labels or names; text is one label, not a collection of letters."""
    if isinstance(values, str | bytes) or not _several(values):
        raise InputTypeError(f"{name} must be a list, got {shown(values)}.", argument=name)
    return list(values)


def as_random_state(seed: Any) -> np.random.RandomState:
    """Source of random numbers, from a seed, an instance or None as in scikit-learn.

    Examples
    --------
    >>> as_random_state(-1)
    Traceback (most recent call last):
    finsler.errors.InputError: random_state must be None, a whole number from 0 to 2^32 - 1 or a RandomState, got -1.
    """
    from sklearn.utils import check_random_state

    if not isinstance(seed, bool | np.bool_):
        try:
            return check_random_state(seed)
        except (TypeError, ValueError, OverflowError):
            pass
    raise InputError(
        f"random_state must be None, a whole number from 0 to 2^32 - 1 or a RandomState, got {shown(seed)}.",
        argument="random_state",
    )


def as_generator(seed: Any) -> np.random.Generator:
    """Generator of random numbers from a seed that is a whole number, or None."""
    if isinstance(seed, np.random.Generator):
        return seed
    as_random_state(seed)
    if isinstance(seed, np.random.RandomState):
        seed = int(seed.randint(2**31 - 1))
    return np.random.default_rng(seed)


def named(error: Exception, argument: str) -> InputError:
    """Say of which argument another library speaks when it refuses something."""
    kind = InputTypeError if isinstance(error, TypeError) else InputError
    return kind(f"{argument} cannot be used: {one_line(str(error))}", argument=argument)


def unique(values: Iterable[Any]) -> list[Any]:
    """Values without repetition, in order."""
    return list(dict.fromkeys(values))
