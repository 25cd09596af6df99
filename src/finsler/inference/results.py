"""What all results of inference share: a summary, plain data for JSON, a picture; and the result of a test."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import named
from finsler._html import card, plain
from finsler._runtime import blas_libraries
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.errors import InputError
from finsler.geometry.noise import LEVEL, Null

Array = NDArray[Any]
MOST_DRAWS = 10**6  # of any test: each costs a fit, or memory


class Result:
    """A frozen record that can be read, kept and drawn."""

    def summary(self) -> str:
        """Say in a few lines what was found."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        title, *lines = self.summary().splitlines()
        return card(title, notes=["\n".join(lines)] if lines else [])

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python numbers, strings, lists and dicts, ready for JSON."""
        return {f.name: _record(getattr(self, f.name)) for f in fields(self)}  # type: ignore[arg-type]

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the result with matplotlib."""
        raise NotImplementedError


def _record(value: Any) -> Any:
    if isinstance(value, Result):
        return value.to_dict()
    if isinstance(value, dict):
        return {str(key): _record(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_record(item) for item in value]
    return value.summary() if hasattr(value, "summary") else plain(value)


@dataclass(frozen=True, eq=False)
class TestResult(Result):
    """A statistic beside what it would be by chance."""

    __test__ = False  # no test of pytest

    name: str  #: What was asked.
    statistic: float
    p_value: float  #: How likely chance alone gives as much; never 0.
    null: Array = field(
        repr=False
    )  #: Values of the statistic by chance; empty if its distribution has a formula.
    noise: float | None  #: Mean of the statistic by chance.
    n_draws: int  #: Random draws; 0 if all cases were tried, or for a formula.
    random_state: int | None  #: Seed of the draws.
    answer: tuple[str, str] = (
        "more than chance gives",
        "what chance gives",
    )  #: In words: significant, and not.
    unit: str = "share"  #: "share" is shown in percent, "number" as it is.

    @property
    def significant(self) -> bool:
        """Whether the p-value is at most 5 %."""
        return self.p_value <= LEVEL

    def said(self, value: float) -> str:
        """A value of the statistic in words."""
        return f"{100 * value:.3g} %" if self.unit == "share" else f"{value:.4g}"

    def summary(self) -> str:
        """Say in a line what was found."""
        chance = "" if self.noise is None else f" (by chance {self.said(self.noise)})"
        found = f"{self.name}: {self.said(self.statistic)}{chance}, p = {self.p_value:.2g}"
        if self.n_draws and 1 / (self.n_draws + 1) > LEVEL:
            return f"{found}: {self.n_draws} draws are too few to tell"
        return f"{found}: {self.answer[not self.significant]}"

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the distribution by chance, and the observed value."""
        from finsler.plotting.inference import plot_null

        return plot_null(self, ax=ax)


def test_of(name: str, null: Null, n_draws: int, seed: int, *answer: str) -> TestResult:
    """Result of random signs."""
    drawn = n_draws if len(null.values) == n_draws else 0
    return TestResult(
        name, null.observed, null.p, null.values, null.noise, drawn, seed, (answer[0], answer[1])
    )


def checked(
    D: Any, weights: Any = None, *, labels: Sequence[Any] | None = None, missing: str = "mask", what: str
) -> Dissimilarities:
    """Dissimilarities, checked; lengths of paths are refused, for their errors are not independent."""
    data = as_dissimilarities(D, weights, labels=labels, missing=missing)
    refuse_paths(data.provenance.paths, what)
    return data


def checked_tables(tables: Iterable[Any], argument: str, **options: Any) -> list[Dissimilarities]:
    """Several tables of dissimilarities, checked; what is wrong with one of them is said of the argument that holds them."""
    found = []
    for table in tables:
        try:
            found.append(as_dissimilarities(table, **options))
        except InputError as error:
            if error.argument in (None, "D"):
                raise named(error, argument) from error
            raise
    return found


def replicated(tables: Iterable[Any], **options: Any) -> list[Dissimilarities]:
    """Complete tables of the same points in the same order, checked."""
    found = checked_tables(tables, "replicates", missing="mask", **options)
    for k, table in enumerate(found):
        if table.provenance.n_missing or table.provenance.n_unreachable:
            raise InputError(
                f"must be complete tables: number {k} of them has pairs that are NaN or infinite.",
                argument="replicates",
            )
        if table.n_points != found[0].n_points or table.labels != found[0].labels:
            raise InputError("must be tables of the same points, in the same order.", argument="replicates")
    return found


def refuse_paths(paths: bool, what: str) -> None:
    """Refuse lengths of shortest paths."""
    if paths:
        raise InputError(
            f"{what} does not apply to lengths of shortest paths: they share arcs, so their errors are not independent."
        )


def seed_of(random_state: Any) -> int:
    """Seed as a number, drawn if there is none, so that a result can tell it."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, bool) or not isinstance(random_state, int | np.integer) or random_state < 0:
        raise InputError(
            f"must be a whole number that is not negative, or None, got {random_state!r}.",
            argument="random_state",
        )
    return int(random_state)


@contextmanager
def many_small_fits() -> Iterator[None]:
    """Keep BLAS to one thread while many small maps are fitted: its threads mostly wait for each other."""
    with blas_libraries().limit(limits=1, user_api="blas"):
        yield
