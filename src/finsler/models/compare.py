"""All models on the same data, in one table."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from finsler._arguments import check_arguments, check_number
from finsler._html import card
from finsler._runtime import Progress
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
    randers_map,
    symmetric_isomap,
    symmetric_mds,
)
from finsler.report import asymmetry_report
from finsler.solvers.smacof import smacof

# By the names that `models` takes. All but those of `ALONE` start from, or rest on, the map of the symmetrized data. A new
# model is a function in `symmetric` (in two steps) or `joint` (fitted as a whole), a line here and a row in docs/models.md.
MODELS: dict[str, Callable[[Observations, Settings, Fit], Fit]] = {
    "symmetric": lambda observed, settings, base: base,
    "isomap": lambda observed, settings, base: symmetric_isomap(observed, settings),
    "randers": randers_map,
    "swirl": partial(randers_map, swirl=True),
    "geodesic": partial(randers_map, swirl="geodesic"),
    "slide": slide_vector,
    "hill": partial(fit_jointly, HillClimbing()),
    "radius": radius_distance,
    "gower": gower,
    "drift": drift_vectors,
    "drift-fitted": partial(drift_vectors, fitted=True),
}
ALONE = {"isomap"}
UNFINISHED = ("max_iter", "time_limit")
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
    not_run: list[str] = field(default_factory=list)  #: Models for which `time_limit` left no time.

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

    def _footnotes(self) -> list[str]:
        notes = ["* not converged"] * any(record.status in UNFINISHED for record in self.records)
        return [*notes, *([f"not run, for time: {', '.join(self.not_run)}"] if self.not_run else [])]

    def __str__(self) -> str:
        rows = self.rows()
        lines = [list(rows[0]), *(list(row.values()) for row in rows)]
        first, *widths = (max(map(len, column)) for column in zip(*lines, strict=True))
        texts = ["  ".join([name.ljust(first), *map(str.rjust, cells, widths)]) for name, *cells in lines]
        texts.insert(1, "-" * len(texts[0]))
        return "\n".join([self._heading(), *texts, *self._footnotes(), fill(self.verdict, 84)])

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
        Seconds. What is being fitted then ends with what it has found; models that were not begun are in ``not_run``.
    random_state : int, RandomState instance or None
        Seed of the random starts, which are the same for all models.
    n_jobs : int, optional
        Threads of our solver, and starts that run side by side; all cores by default.
    callback : callable, optional
        Called with the record of each model when it is there.
    verbose : bool, int or "auto"
        Progress line: "auto" shows one on a terminal after two seconds.

    Returns
    -------
    Comparison
        Records, best fit first. It prints as a table; ``to_dict()`` is ready for JSON.

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
    records = _fit_all(names, observed, settings, callback, verbose)
    done = {record.name for record in records}
    return Comparison(
        records=sorted(records, key=lambda record: record.normalized_stress),
        n_points=data.n_points,
        n_components=n_components,
        n_pairs=int(np.count_nonzero(observed.W)),
        n_asymmetric=int(np.count_nonzero(observed.both_ways & (observed.D != observed.D.T))) // 2,
        n_init=n_init,
        verdict=asymmetry_report(data, n_jobs=n_jobs).verdict,
        labels=data.labels,
        not_run=[name for name in names if name not in done],
    )


def _fit_all(
    names: list[str],
    observed: Observations,
    settings: Settings,
    callback: Callable[[ModelRecord], Any] | None,
    verbose: bool | int | str,
) -> list[ModelRecord]:
    """Records of the models for which there is time; of the first one in any case."""
    progress = Progress("Comparing", verbose)
    progress.update("symmetrized MDS")
    # Compiles what all use, before the clock starts.
    smacof(observed.data, settings.n_components, "auto", max_iter=1, n_jobs=settings.n_jobs, verbose=False)
    began = time.perf_counter()
    base = symmetric_mds(observed, settings)
    first = time.perf_counter() - began
    records: list[ModelRecord] = []
    for name in names:
        if records and settings.seconds_left() <= 0:
            break
        progress.update(name)
        began = time.perf_counter()
        fit = MODELS[name](observed, settings, base)
        seconds = time.perf_counter() - began + (0.0 if name in ALONE else first)
        records.append(_record(name, fit, observed, seconds))
        if callback is not None:
            callback(records[-1])
    progress.close(f"{len(records)} models")
    return records


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


def _record(name: str, fit: Fit, observed: Observations, seconds: float) -> ModelRecord:
    plain, weighted = (None, None) if fit.symmetric else sign_accuracy(observed, fit.distances)
    return ModelRecord(
        name=name,
        model=fit.model,
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
