"""All models on the same data, in one table."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from textwrap import fill
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from finsler._arguments import check_arguments, check_number
from finsler._html import card
from finsler._runtime import Progress, blas_libraries
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.errors import InputError, InputTypeError, shown
from finsler.geometry.asymmetry import asymmetry_shown
from finsler.geometry.pairs import harmonic
from finsler.models.joint import HillClimbing, fit_jointly, radius_distance, slide_vector
from finsler.models.symmetric import (
    Array,
    Fit,
    Observations,
    Settings,
    drift_vectors,
    gower,
    planes_of,
    randers_map,
    symmetric_isomap,
    symmetric_mds,
    unless_interrupted,
)
from finsler.report import asymmetry_report
from finsler.solvers.smacof import smacof


class Model(NamedTuple):
    """A model to compare with."""

    title: str  #: As people read it.
    fit: Callable[[Observations, Settings, Fit], Fit]  #: Beside a map of the symmetrized data.


# By the names that `models` takes. All but those of `ALONE` start from, or rest on, the map of the symmetrized data. A new
# model is a function in `symmetric` (in two steps) or `joint` (fitted as a whole), a line here and a row in docs/models.md.
MODELS = {
    "symmetric": Model("symmetrized MDS", lambda observed, settings, base: base),
    "isomap": Model(
        "symmetrized Isomap", lambda observed, settings, base: symmetric_isomap(observed, settings)
    ),
    "randers": Model("Randers map (ours)", randers_map),
    "swirl": Model("Randers map with swirl (ours)", partial(randers_map, swirl=True)),
    "geodesic": Model("Randers map with swirl, arcs (ours)", partial(randers_map, swirl="geodesic")),
    "slide": Model("slide vector", slide_vector),
    "hill": Model("hill-climbing", partial(fit_jointly, HillClimbing())),
    "radius": Model("radius-distance", radius_distance),
    "gower": Model("Gower bimension", gower),
    "drift": Model("drift vectors", drift_vectors),
    "drift-fitted": Model("drift vectors, fitted", partial(drift_vectors, fitted=True)),
}
ALONE = {"isomap"}
UNFINISHED = ("max_iter", "time_limit")
ENDINGS = {"time_limit": "the time limit was reached", "interrupted": "it was interrupted"}
# A difference of the two ways below this share of the largest distance is rounding.
ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class ModelRecord:
    """A line of the table; of signs a symmetric model has none."""

    name: str  #: As `models` takes it.
    model: str  #: As people read it.
    normalized_stress: float  #: ``sqrt(sum w (d - D)^2 / sum w D^2)`` over ordered pairs.
    sign_accuracy: float | None  #: Share of asymmetric pairs whose costlier way is the model's.
    weighted_sign_accuracy: float | None  #: The same, each pair counting by ``w |D_ij - D_ji|``.
    asymmetry_shown: float | None  #: ``1 - sum w (a - A)^2 / sum w A^2`` of the skew parts.
    n_parameters: int  #: Free numbers.
    seconds: float  #: The map that it starts from included.
    status: str  #: "converged", "max_iter", "time_limit" or "closed_form".
    fit: Fit = field(repr=False)  #: The fitted model itself.

    def to_dict(self) -> dict[str, Any]:
        """Give the record as plain numbers and strings, without the fit."""
        return {f.name: getattr(self, f.name) for f in fields(self) if f.name != "fit"}


@dataclass(frozen=True, eq=False)
class Comparison:
    """What `compare_models` found, best fit first; print it to read it."""

    records: list[ModelRecord]
    n_points: int
    n_components: int
    n_pairs: int  #: Ordered pairs that count.
    n_asymmetric: int  #: Unordered pairs known both ways whose values differ.
    n_init: int
    verdict: str  #: Of `asymmetry_report`: what a Randers map can show.
    labels: list[Any] | None = field(default=None, repr=False)  #: Of the points, as pictures show them.
    not_run: list[str] = field(default_factory=list)  #: As `models` takes them: left out for `status`.
    status: str = "finished"  #: Or "time_limit", or "interrupted" (Ctrl-C).

    def __iter__(self) -> Iterator[ModelRecord]:
        return iter(self.records)

    def __len__(self) -> int:
        return len(self.records)

    def __getitem__(self, name: str) -> ModelRecord:
        for record in self.records:
            if record.name == name:
                return record
        names = ", ".join(record.name for record in self.records)
        raise KeyError(f"There is no model {name!r} here; there are {names}.")

    def to_dict(self) -> dict[str, Any]:
        """Give the comparison as plain Python values, ready for JSON."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("records", "labels")}
        return {**plain, "models": [record.to_dict() for record in self.records]}

    def rows(self) -> list[dict[str, str]]:
        """Lines of the table, as texts by the titles of their columns."""
        return [
            {
                "model": record.model + ("*" if record.status in UNFINISHED else ""),
                "stress": f"{record.normalized_stress:.4f}",
                "sign": _percent(record.sign_accuracy),
                "by size": _percent(record.weighted_sign_accuracy),
                "shown": _percent(record.asymmetry_shown),
                "parameters": f"{record.n_parameters:,}",
                "seconds": f"{record.seconds:.2f}",
            }
            for record in self.records
        ]

    def _heading(self) -> str:
        return (
            f"{self.n_points:,} points in {self.n_components} dimensions, {self.n_pairs:,} ordered pairs, "
            f"{self.n_asymmetric:,} pairs asymmetric, starts: {self.n_init}"
        )

    def _missing(self) -> str:
        """Models that were left out, as the table would name them; some of these names have a comma."""
        return "; ".join(title_of(name, self.n_components, self.n_points) for name in self.not_run)

    def _footnotes(self) -> list[str]:
        notes = ["* not converged"] * any(record.status in UNFINISHED for record in self.records)
        if self.status == "interrupted":
            notes.append("stopped by Ctrl-C" + (f", not run: {self._missing()}" if self.not_run else ""))
        elif self.not_run:
            notes.append(f"not run, for time: {self._missing()}")
        return notes

    def __str__(self) -> str:
        rows = self.rows()
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
        texts = ["  ".join([name.ljust(first), *map(str.rjust, cells, widths)]) for name, *cells in lines]
        texts.insert(1, "-" * len(texts[0]))
        notes = (fill(note, 84, break_on_hyphens=False) for note in self._footnotes())
        return "\n".join([self._heading(), *texts, *notes, fill(self.verdict, 84)])

    def _repr_html_(self) -> str:
        rows = self.rows()
        table = [list(rows[0]), *(list(row.values()) for row in rows)]
        return card(self._heading(), table=table, notes=[*self._footnotes(), self.verdict])

    def to_markdown(self) -> str:
        """Give the table as Markdown, the least stress in bold."""
        rows = self.rows()
        rows[0]["stress"] = f"**{rows[0]['stress']}**"
        ruler = ["---", *(["---:"] * (len(rows[0]) - 1))]
        lines = [list(rows[0]), ruler, *(list(row.values()) for row in rows)]
        table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
        return "\n\n".join([f"{self._heading()}.", table, *self._footnotes(), self.verdict])


def compare_models(
    D: ArrayLike | Dissimilarities,
    n_components: int = 2,
    *,
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    missing: str = "raise",
    models: Sequence[str] | None = None,
    n_init: int = 4,
    max_iter: int = 2000,
    tol: float = 1e-9,
    time_limit: float | None = None,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[ModelRecord], Any] | None = None,
    verbose: bool | int | str = "auto",
) -> Comparison:
    """Fit the older models of asymmetric data and ours to the same pairs, at the same dimension, and judge them alike.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities
        Dissimilarities from row to column.
    n_components : int
        Dimension of every map.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    labels : sequence, optional
        Names of the points.
    missing : {"raise", "mask"}
        NaN and inf are refused, or left out.
    models : sequence of str, optional
        Some of "symmetric", "isomap", "randers", "swirl", "geodesic" (the Randers map with a drift that turns, straight
        ways, or arcs in the plane), "slide", "hill", "radius", "gower", "drift" and "drift-fitted"; by default all
        that the dimension allows.
    n_init : int
        Starts: for each model that is fitted as a whole the map of the symmetrized data, itself the best of so many, and
        ``n_init - 1`` random ones.
    max_iter, tol
        Of the iterations from each start.
    time_limit : float, optional
        Seconds. What is being fitted then ends with what it has found, once the step that it is at is done (an
        eigendecomposition, shortest paths); models that were not begun are in ``not_run``.
    random_state : int, RandomState instance or None
        Seed of the random starts, which are the same for all models.
    n_jobs : int, optional
        Threads of our solver, and starts that run side by side; all cores by default. BLAS takes one thread, so that no
        number depends on it.
    callback : callable, optional
        Called with the record of each model when it is there.
    verbose : bool, int or "auto"
        Progress line: "auto" shows one on a terminal after two seconds.

    Returns
    -------
    Comparison
        Records, best fit first. It prints as a table; ``to_dict()`` is ready for JSON. After the time limit or Ctrl-C it
        has the models that are there, ``status`` says so, and a warning.

    Raises
    ------
    KeyboardInterrupt
        At Ctrl-C while no model is there.

    Examples
    --------
    >>> from finsler.models import compare_models
    >>> from finsler.geometry.randers import randers_distances
    >>> D = randers_distances(np.random.default_rng(1).normal(size=(12, 2)), drift=0.4)
    >>> table = compare_models(D, models=["symmetric", "slide", "randers"], n_init=1)
    >>> [record.name for record in table]
    ['randers', 'slide', 'symmetric']
    >>> table["randers"].sign_accuracy
    1.0
    """
    check_arguments(compare_models, locals(), besides=("D", "weights"))
    data = as_dissimilarities(D, weights, labels=labels, missing=missing)
    if data.n_points < 3:
        raise InputError(f"D has {data.n_points} points; models can be compared on 3 or more.", argument="D")
    names = _checked_names(models, n_components)
    observed = Observations.of(data)
    if not (observed.D > 0).any():
        raise InputError("D has only zeros; there is nothing to fit.", argument="D")
    check_number("time_limit", time_limit, 0.0, open_ends=True, optional=True)
    deadline = math.inf if time_limit is None else time.perf_counter() + time_limit
    settings = Settings(n_components, n_init, max_iter, tol, _fixed(random_state), n_jobs, deadline)
    # On a busy machine the threads of BLAS mostly wait for each other; and sums would depend on how many there are.
    with blas_libraries().limit(limits=1, user_api="blas"):
        # First, so that the time limit counts it, and Ctrl-C in it throws no model away.
        verdict = asymmetry_report(data, n_jobs=n_jobs).verdict
        records, status = _fit_all(names, observed, settings, callback, verbose)
    done = {record.name for record in records}
    found = Comparison(
        records=sorted(records, key=lambda record: record.normalized_stress),
        n_points=data.n_points,
        n_components=n_components,
        n_pairs=int(np.count_nonzero(observed.W)),
        n_asymmetric=int(np.count_nonzero(observed.both_ways & (observed.D != observed.D.T))) // 2,
        n_init=n_init,
        verdict=verdict,
        labels=data.labels,
        not_run=[name for name in names if name not in done],
        status=status,
    )
    _warn_if_cut_short(found)
    return found


def _warn_if_cut_short(found: Comparison) -> None:
    """Warn the caller of `compare_models` of a comparison that has not ended as it should."""
    if found.status in ENDINGS:
        from sklearn.exceptions import ConvergenceWarning  # here: it takes long to import

        left_out = f" Not run: {found._missing()}." if found.not_run else ""
        said = f"The comparison stopped early: {ENDINGS[found.status]}.{left_out}"
        warnings.warn(said, ConvergenceWarning, stacklevel=3)


def title_of(name: str, n_components: int, n_points: int) -> str:
    """Name of a model as people read it.

    Examples
    --------
    >>> title_of("gower", 2, 30), title_of("gower", 4, 30)
    ('Gower bimension', 'Gower, 2 bimensions')
    """
    if name == "gower" and (n_planes := planes_of(n_components, n_points)) > 1:
        return f"Gower, {n_planes} bimensions"
    return MODELS[name].title


def _fit_all(
    names: list[str],
    observed: Observations,
    settings: Settings,
    callback: Callable[[ModelRecord], Any] | None,
    verbose: bool | int | str,
) -> tuple[list[ModelRecord], str]:
    """Records of the models that are there when time is up or Ctrl-C comes, and how it ended; one record at least."""
    progress = Progress("Comparing", verbose)
    records: list[ModelRecord] = []
    status = "finished"
    try:
        for record in _fits_in_turn(names, observed, settings, progress):
            records.append(record)
            if callback is not None:
                callback(record)
    except KeyboardInterrupt:
        if not records:
            raise
        status = "interrupted"
    else:
        if len(records) < len(names) or any(record.status == "time_limit" for record in records):
            status = "time_limit"
    progress.close(f"{len(records)} models")
    return records, status


def _fits_in_turn(
    names: list[str], observed: Observations, settings: Settings, progress: Progress
) -> Iterator[ModelRecord]:
    """Records of the models for which there is time; of the first one in any case."""
    progress.update("symmetrized MDS")
    # Compiles what all use, before the clock starts.
    once = smacof(
        observed.data, settings.n_components, "auto", max_iter=1, n_jobs=settings.n_jobs, verbose=False
    )
    unless_interrupted(once.status)
    began = time.perf_counter()
    base = symmetric_mds(observed, settings)
    first = time.perf_counter() - began
    for name in names:
        if name != names[0] and settings.seconds_left() <= 0:
            return
        title = title_of(name, settings.n_components, observed.n_points)
        progress.update(title)
        began = time.perf_counter()
        fit = MODELS[name].fit(observed, settings, base)
        seconds = time.perf_counter() - began + (0.0 if name in ALONE else first)
        yield _record(name, title, fit, observed, seconds)


def _checked_names(models: Sequence[str] | None, n_components: int) -> list[str]:
    impossible = {"swirl": n_components == 1, "geodesic": n_components != 2}
    if models is None:
        return [name for name in MODELS if not impossible.get(name)]
    if isinstance(models, str):
        raise InputTypeError(f"must be a sequence of names, got the string {models!r}.", argument="models")
    names = list(dict.fromkeys(map(_text, models)))
    for name in names:
        if impossible.get(name):
            raise InputError(f"{name!r} does not go with n_components={n_components}.", argument="models")
        if name not in MODELS:
            raise InputError(
                f"models: there is no {shown(name)}; there are {', '.join(MODELS)}.", argument="models"
            )
    return names


def _text(name: Any) -> str:
    return name if isinstance(name, str) else shown(name)


def _fixed(random_state: Any) -> int:
    """Give an integer for a random state: every model must draw the same starts."""
    if random_state is None:
        return int(np.random.SeedSequence().generate_state(1)[0])
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return int(random_state)


def _record(name: str, title: str, fit: Fit, observed: Observations, seconds: float) -> ModelRecord:
    plain, weighted = (None, None) if fit.symmetric else sign_accuracy(observed, fit.distances)
    return ModelRecord(
        name=name,
        model=title,
        normalized_stress=observed.normalized_stress(fit.distances),
        sign_accuracy=plain,
        weighted_sign_accuracy=weighted,
        asymmetry_shown=asymmetry_shown(observed.D, observed.W, fit.distances).share,
        n_parameters=fit.n_parameters,
        seconds=seconds,
        status=fit.status,
        fit=fit,
    )


def sign_accuracy(observed: Observations, distances: Array) -> tuple[float | None, float | None]:
    """Share of the pairs with ``D_ij != D_ji`` whose costlier way is the model's; and weighted by the difference.

    A pair that the model takes for symmetric counts as missed. None if no pair is asymmetric.
    """
    asked = observed.D - observed.D.T
    told = distances - distances.T
    told = np.where(np.abs(told) > ROUNDING * np.abs(distances).max(), told, 0.0)
    upper = np.triu(observed.both_ways & (asked != 0), 1)
    if not upper.any():
        return None, None
    right = (asked * told > 0)[upper]
    size = (harmonic(observed.W, observed.W.T) * np.abs(asked))[upper]
    return float(right.mean()), float(size[right].sum() / size.sum())


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
