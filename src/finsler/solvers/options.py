"""The options of the solvers: each with its type, its default and its check, declared here and nowhere else.

A new option of the solver goes

1. here: into `SolverOptions`, `DEFAULTS` and, if some values have no meaning, `_check`;
2. into the signatures of `FinslerMDS` (whose docstring tells what it means) and
3. `FinslerIsomap`, which scikit-learn reads;
4. to the command line, if it should be there: its words in `cli/options`, its line in the signature of `cli/embed`;
5. into docs/parameters.md, a word about it.

`smacof` and `solve` in `solvers/sparse/solver` read it from what `checked` returns, and hand it to the loop; recipes,
estimators and commands pass it on by its name. A test compares all these places with this one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from numbers import Real
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, cast

from finsler._runtime import thread_count
from finsler.errors import InputError, InputTypeError, check_count

if TYPE_CHECKING:  # the command line shows the defaults before numpy is needed
    from numpy.typing import ArrayLike

    from finsler.geometry.scaling import Scaling

MOST_STARTS = 1_000_000
STARTS = ("classical", "isomap", "random")
SWIRLS = (False, True, "geodesic", "auto")


class SolverOptions(TypedDict, total=False):
    """Options of every solver that iterates, and of whatever calls one."""

    swirl: bool | str
    init: str | ArrayLike
    n_init: int | str
    max_iter: int
    tol: float
    accelerate: bool
    time_limit: float | None
    callback: Callable[[Any], Any] | None
    random_state: Any
    n_jobs: int | None
    verbose: bool | int | str


class MapOptions(SolverOptions, total=False):
    """Options of every estimator and recipe."""

    solver: str


class ScalingOptions(TypedDict, total=False):
    """How data become disparities; checked by `finsler.geometry.scaling.Scaling`."""

    scaling: str
    ties: str
    conditional: str
    spline_degree: int
    spline_knots: int


class MatrixOptions(MapOptions, ScalingOptions, total=False):
    """Options of maps of dissimilarities."""

    memory_budget: float | str | None


class SparseOptions(SolverOptions, total=False):
    """Options of maps of some of the pairs."""

    checkpoint: str | os.PathLike[str] | None
    checkpoint_seconds: float


class EveryOption(MatrixOptions, SparseOptions, total=False):
    """All options there are."""


DEFAULTS: EveryOption = {
    "solver": "smacof",
    "swirl": False,
    "init": "classical",
    "n_init": "auto",
    "max_iter": 500,
    "tol": 1e-7,
    "accelerate": True,
    "time_limit": None,
    "callback": None,
    "random_state": None,
    "n_jobs": None,
    "verbose": "auto",
    "scaling": "ratio",
    "ties": "primary",
    "conditional": "matrix",
    "spline_degree": 2,
    "spline_knots": 2,
    "memory_budget": None,
    "checkpoint": None,
    "checkpoint_seconds": 30.0,
}
# Pivots stand for the other pairs so roughly that no finer minimum is a better map.
PIVOT_DEFAULTS: EveryOption = {**DEFAULTS, "max_iter": 200, "tol": 3e-4}
STREAM_DEFAULTS: EveryOption = {**PIVOT_DEFAULTS, "tol": 1e-5}

Options = TypeVar("Options", bound=SolverOptions)


def checked(
    function: str, options: Options, known: type[Options], defaults: EveryOption = DEFAULTS
) -> Options:
    """All `known` options: those given to a function, checked, and the defaults of the others.

    Examples
    --------
    >>> checked("smacof", {"n_init": 3}, SolverOptions)["max_iter"]
    500
    """
    check_names(function, options, known)
    found = {name: options.get(name, defaults.get(name)) for name in known.__annotations__}
    from finsler._arguments import (  # here: it needs numpy, which --help does without
        check_argument,
        declared_types,
    )

    for name, annotation in declared_types(known).items():
        check_argument(name, found[name], annotation)
    _check(cast(SolverOptions, found))
    return cast(Options, found)


def _check(options: SolverOptions) -> None:
    """Refuse values that have no meaning."""
    init, tol, seconds = options["init"], options["tol"], options["time_limit"]
    if isinstance(init, str) and init not in STARTS:
        raise InputError(f"init must be one of {STARTS} or an array, got {init!r}.", argument="init")
    check_swirl(options["swirl"])
    if options["n_init"] != "auto":
        check_count("n_init", options["n_init"], most=MOST_STARTS)
    check_count("max_iter", options["max_iter"], 0)
    if "n_jobs" in options:
        thread_count(options["n_jobs"])  # refuses what is no number of threads
    if not isinstance(tol, Real) or not float(tol) >= 0:
        raise InputError(f"tol must be a number that is not negative, got {tol!r}.", argument="tol")
    if seconds is not None and not (isinstance(seconds, Real) and float(seconds) > 0):
        raise InputError(f"must be a positive number of seconds, got {seconds!r}.", argument="time_limit")


def check_swirl(swirl: Any, n_components: int | None = None) -> bool | str:
    """Refuse a swirl that has no meaning, or that a map has no dimensions for."""
    if not any(swirl is known or (isinstance(swirl, str) and swirl == known) for known in SWIRLS):
        raise InputError(f"must be False, True, 'geodesic' or 'auto', got {swirl!r}.", argument="swirl")
    if n_components is not None and swirl is True and n_components < 2:
        raise InputError("needs n_components of 2 or more: nothing turns on a line.", argument="swirl")
    if n_components is not None and swirl == "geodesic" and n_components != 2:
        raise InputError(
            f"'geodesic' goes with n_components=2, got {n_components}; use True for other maps.",
            argument="swirl",
        )
    return swirl if isinstance(swirl, str) else bool(swirl)


def check_names(function: str, options: Mapping[str, Any], known: Any) -> None:
    """Refuse options that a function does not have; `known` is the dictionary type of those it has."""
    from finsler.data.labels import suggestion

    names = sorted(known.__optional_keys__)
    for name in options:
        if name not in names:
            raise InputTypeError(f"{function} has no option {name!r}.{suggestion(name, names)}")


def scaling_of(options: Mapping[str, Any]) -> Scaling:
    """Scaling that some options ask for, checked."""
    from finsler.geometry.scaling import Scaling

    given = {name: options.get(name, DEFAULTS.get(name)) for name in ScalingOptions.__annotations__}
    return Scaling(*given.values())


BY_METHOD = ("max_iter", "tol")  # where an estimator has both methods, None is the default of the method


def options_of(estimator: Any, defaults: EveryOption = DEFAULTS) -> SolverOptions:
    """Options of the solver as an estimator keeps them: attributes of the same names."""
    found = {name: getattr(estimator, name) for name in SolverOptions.__annotations__}
    for name in BY_METHOD:
        found[name] = defaults.get(name) if found[name] is None else found[name]
    return cast(SolverOptions, found)
