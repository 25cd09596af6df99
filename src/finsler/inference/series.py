"""A series of tables of the same points (years, groups): a map each, in one frame."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from finsler._arguments import check_arguments
from finsler.data.matrix import Dissimilarities
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.estimators.mds import FinslerMDS
from finsler.inference.alignment import aligned_series, best_motion, common_points
from finsler.inference.results import Result, checked_tables
from finsler.solvers.options import MapOptions, check_names
from finsler.solvers.smacof import smacof

Array = NDArray[Any]
STEEPEST = 0.98  # of a common alpha
CLOSE = 1e-3  # to which it is found


@dataclass(frozen=True, eq=False)
class Series(Result):
    """Maps of a series, each moved to lie over the one before; no distance on any of them is changed by that."""

    names: list[Any]
    maps: list[Embedding]
    common_alpha: float | None  #: The one alpha of all, if it was asked for.

    @property
    def matched(self) -> list[tuple[Array, Array]]:
        """For each map but the first, rows of the points on the one before, and of the same points on it."""
        return [common_points(a, b)[:2] for a, b in zip(self.maps, self.maps[1:], strict=False)]

    @property
    def agreement(self) -> list[float]:
        """For each map but the first, r with the one before: 1 is the same map up to scale."""
        rows = zip(self.maps, self.maps[1:], self.matched, strict=False)
        return [
            best_motion(a.coordinates[i], b.coordinates[k], free=not (a.alpha and b.alpha)).r
            for a, b, (i, k) in rows
        ]

    def summary(self) -> str:
        """Say in a table how the maps differ."""
        lines = [f"{'':<16} points   alpha  norm. stress  r with the one before"]
        for name, one, r in zip(self.names, self.maps, [None, *self.agreement], strict=True):
            last = "" if r is None else f"{r:.4f}"
            lines.append(
                f"{name!s:<16} {one.n_points:>6}  {one.alpha:6.4f}  {one.normalized_stress:12.4f}  {last}"
            )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Give the maps as plain Python data."""
        maps = [
            {
                "name": str(name), "alpha": one.alpha, "normalized_stress": one.normalized_stress,
                "labels": one.labels, "coordinates": one.coordinates.tolist(),
            }
            for name, one in zip(self.names, self.maps, strict=True)
        ]  # fmt: skip
        return {"maps": maps, "common_alpha": self.common_alpha, "agreement": self.agreement}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw the maps side by side, with arrows from the places on the map before."""
        from finsler.plotting.inference import plot_series

        return plot_series(self, ax=ax)


def embed_series(
    tables: Mapping[Any, Any] | Sequence[Any],
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    labels: Sequence[Any] | None = None,
    missing: str = "raise",
    **options: Unpack[MapOptions],
) -> Series:
    """Map several tables of the same points, years or groups, in one frame: each map lies over the one before.

    Parameters
    ----------
    tables : mapping of names to matrices, or sequence of matrices
        Dissimilarities from row to column, as :func:`~finsler.embed_matrix` takes them. Points are matched by their
        labels, and may come and go.
    n_components : int
        Dimension of the maps, the height included.
    alpha : float in [0, 1), "auto" or "common"
        Strength of the drift: given, fitted to each table, or one for all that is fitted to all of them.
    labels : sequence, optional
        Names of the points, if the tables bring none.
    missing : {"raise", "mask", "hinge"}
        What to do with NaN and inf.
    **options
        As of :func:`~finsler.embed_matrix`, without ``memory_budget``.

    Returns
    -------
    Series

    Examples
    --------
    >>> import finsler
    >>> hours = finsler.load_flight_hours().hours
    >>> years = finsler.embed_series({2020: hours, 2021: 1.1 * hours}, alpha="common")
    >>> [round(one.alpha, 3) for one in years.maps]
    [0.097, 0.097]
    """
    check_arguments(embed_series, locals())
    check_names("embed_series", options, MapOptions)
    items = list(tables.items()) if isinstance(tables, Mapping) else list(enumerate(tables, start=1))
    if len(items) < 2:
        raise InputError(f"must be at least two, got {len(items)}.", argument="tables")
    data = checked_tables([D for _, D in items], "tables", labels=labels, missing=missing)
    shared = None
    strength = alpha
    if alpha == "common":
        strength = shared = _common_alpha(data, n_components, options)
    mds = FinslerMDS(n_components, alpha=strength, missing=missing, **options)
    maps = [mds.fit(one).result_ for one in data]
    if shared is not None:
        maps = [replace(one, alpha_source="fitted") for one in maps]
    return Series([name for name, _ in items], aligned_series(maps), shared)


def _common_alpha(data: list[Dissimilarities], n_components: int, options: MapOptions) -> float:
    """Alpha of the least sum of squared normalized stress; each search starts from the maps of the one before."""
    given: dict[str, Any] = {name: value for name, value in options.items() if name != "solver"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = [smacof(one, n_components, "auto", **given) for one in data]
    starts = [one.coordinates for one in first]
    given = {**given, "n_init": 1, "verbose": False}

    def loss(alpha: float) -> float:
        found = [
            smacof(one, n_components, alpha, **{**given, "init": X})
            for one, X in zip(data, starts, strict=True)
        ]
        return float(sum(one.normalized_stress**2 for one in found))

    found = minimize_scalar(loss, bounds=(0.0, STEEPEST), method="bounded", options={"xatol": CLOSE})
    near = float(np.median([one.alpha for one in first]))
    return float(found.x) if found.fun <= loss(near) else near
