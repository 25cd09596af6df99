"""Embedding: the map that people keep."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from finsler._io import load_archive, save_archive
from finsler.data.labels import LabelIndex, plain_label
from finsler.data.matrix import Dissimilarities, check_columns
from finsler.data.provenance import Provenance
from finsler.errors import InputError, InputTypeError, MissingExtraError
from finsler.geometry.randers import randers_distances
from finsler.geometry.stress import stress_per_point, total_square
from finsler.solvers.backends.memory import Backend
from finsler.solvers.placement import place
from finsler.solvers.solution import Solution

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Array = NDArray[np.floating[Any]]

WITH_DATA = 1000  # maps of up to this many points are saved with their data


@dataclass(frozen=True, eq=False, repr=False)
class Embedding:
    """A map on which the way there and the way back can be measured.

    Attributes
    ----------
    coordinates : ndarray of shape (n, m)
        Centered; the last axis is the one along which going up costs more.
    drift : ndarray of shape (m,)
        ``(0, ..., 0, alpha)``.
    labels : list or None
        Names of the points.
    stress, normalized_stress : float
        Weighted sum of squared errors, and the square root of its share in the weighted sum of squares of the data.
    stress_per_point : ndarray of shape (n,)
        Share of each point in the stress.
    n_iter : int
        Iterations it took.
    status, message : str
        How the solver ended, as a word and as a sentence.
    data : Dissimilarities or None
        What was embedded, to compare the map with; None if it was not in memory.

    Examples
    --------
    >>> import finsler
    >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
    >>> there, back = towns.distance("A", "B"), towns.distance("B", "A")
    >>> bool(there > back)
    True
    """

    coordinates: Array
    drift: Array
    labels: list[Any] | None
    stress: float
    normalized_stress: float
    stress_per_point: Array
    n_iter: int
    status: str
    message: str
    data: Dissimilarities | None = None

    @classmethod
    def from_solution(cls, solution: Solution, data: Dissimilarities) -> Embedding:
        """Embedding of ``data`` as a solver found it."""
        total = total_square(data.matrix, data.weights)
        shares = stress_per_point(solution.coordinates, data.matrix, data.weights, drift=solution.drift)
        return cls._made(solution, total, shares, data.labels, data.provenance, data)

    @classmethod
    def from_backend(cls, solution: Solution, backend: Backend) -> Embedding:
        """Embedding of data that a solver found in a backend of theirs, in memory or not."""
        shares = backend.stress_per_point(solution.coordinates, solution.drift)
        return cls._made(solution, backend.total, shares, backend.labels, backend.provenance, backend.data)

    @classmethod
    def _made(
        cls,
        solution: Solution,
        total: float,
        shares: Array,
        labels: list[Any] | None,
        provenance: Provenance,
        data: Dissimilarities | None,
    ) -> Embedding:
        return cls(
            coordinates=solution.coordinates,
            drift=solution.drift,
            labels=labels,
            stress=solution.stress,
            normalized_stress=float(np.sqrt(solution.stress / total)) if total > 0 else 0.0,
            stress_per_point=shares,
            n_iter=solution.n_iter,
            status=solution.status,
            message=" ".join(filter(None, (solution.message, solution.note, *provenance.sentences()))),
            data=data,
        )

    @classmethod
    def from_pairs(cls, solution: Solution, labels: list[Any] | None, note: str = "") -> Embedding:
        """Embedding that a solver found from some of the pairs; its stress is over those."""
        if solution.total is None or solution.per_point is None:
            raise InputError("solution says nothing of its pairs; use Embedding.from_solution with the data.")
        share = solution.stress / solution.total if solution.total > 0 else 0.0
        return cls(
            coordinates=solution.coordinates,
            drift=solution.drift,
            labels=labels,
            stress=solution.stress,
            normalized_stress=float(np.sqrt(share)),
            stress_per_point=solution.per_point,
            n_iter=solution.n_iter,
            status=solution.status,
            message=" ".join(filter(None, (solution.message, solution.note, note))),
        )

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.coordinates)

    @property
    def n_components(self) -> int:
        """Dimension of the map."""
        return int(self.coordinates.shape[1])

    @property
    def alpha(self) -> float:
        """Strength of the drift: the way straight up costs ``(1 + alpha)/(1 - alpha)`` times the way down."""
        return float(self.drift[-1])

    @property
    def height(self) -> Array:
        """Last coordinate: how far up a point is."""
        return self.coordinates[:, -1]

    def index(self, point: Any) -> int:
        """Row of a point given by its label, or by its number if no label is a number."""
        return self._points.position(point)

    @cached_property
    def _points(self) -> LabelIndex:
        return LabelIndex(self.labels, self.n_points)

    def distance(self, a: Any, b: Any) -> float:
        """Distance on the map **from a to b**, points given by label or by number."""
        ends = self.coordinates[[self.index(a), self.index(b)]]
        return float(randers_distances(ends[:1], ends[1:], drift=self.drift)[0, 0])

    def distances(self) -> Array:
        """All distances on the map, from row to column."""
        return randers_distances(self.coordinates, drift=self.drift)

    def place(self, *, to_fitted: Any = None, from_fitted: Any = None, n_jobs: int | None = None) -> Array:
        """Coordinates of new points, from their dissimilarities to and/or from the points of this map.

        See :func:`finsler.solvers.placement.place`. The columns of DataFrames must be the labels of the map.
        """
        check_columns(to_fitted, self.labels, "to_fitted")
        check_columns(from_fitted, self.labels, "from_fitted")
        return place(
            self.coordinates, self.drift, to_fitted=to_fitted, from_fitted=from_fitted, n_jobs=n_jobs
        ).coordinates

    def to_frame(self) -> pd.DataFrame:
        """Coordinates as a DataFrame: columns ``x1``, ..., ``height``, and ``stress_share``; the labels are the index."""
        try:
            import pandas as pd
        except ImportError as error:
            raise MissingExtraError(
                "to_frame() needs pandas: pip install 'finsler[graph]', or pandas itself."
            ) from error
        columns = {f"x{k + 1}": self.coordinates[:, k] for k in range(self.n_components - 1)}
        columns["height"] = self.height
        columns["stress_share"] = self.stress_per_point
        return pd.DataFrame(columns, index=self.labels)

    def summary(self) -> str:
        """Describe the map in a few lines."""
        ratio = (1 + self.alpha) / (1 - self.alpha)
        plural = "s" if self.n_components > 1 else ""
        lines = [
            f"{self.n_points} points in {self.n_components} dimension{plural}, alpha = {self.alpha:.4g}",
            f"  straight up costs {ratio:.4g} times straight down",
            f"  normalized stress {self.normalized_stress:.4g} (0 is perfect), stress {self.stress:.6g}",
            f"  {self.status}: {self.message}",
        ]
        if np.isnan(self.normalized_stress):  # fitted to something else than distances
            del lines[2]
        return "\n".join(lines)

    def __repr__(self) -> str:
        fit = "" if np.isnan(self.normalized_stress) else f"normalized stress {self.normalized_stress:.4g}, "
        return f"Embedding({self.n_points} points in {self.n_components}-D, alpha={self.alpha:.4g}, {fit}{self.status})"

    def plot(self, **options: Any) -> Axes:
        """Draw the map with matplotlib; see :func:`finsler.plotting.maps.plot_map`."""
        from finsler.plotting.maps import plot_map

        return plot_map(self, **options)

    def explore(self, path: str | os.PathLike[str], **options: Any) -> Path:
        """Write a page to explore the map in a browser; see :func:`finsler.plotting.explorer.explore`."""
        from finsler.plotting.explorer import explore

        return explore(self, path, **options)

    def save(self, path: str | os.PathLike[str], *, with_data: bool | None = None) -> Path:
        """Write the map to an npz file (arrays and JSON, no pickle).

        Parameters
        ----------
        path : path-like
            Where to; an existing file is replaced once the new one is complete.
        with_data : bool, optional
            Whether to keep the dissimilarities in the file; by default up to 1,000 points. Labels must be strings,
            numbers, booleans or None.
        """
        arrays = {
            "coordinates": self.coordinates,
            "drift": self.drift,
            "stress_per_point": self.stress_per_point,
        }
        if with_data is None:
            with_data = self.n_points <= WITH_DATA
        if with_data and self.data is not None:
            arrays["data_matrix"] = self.data.matrix
            if self.data.weights is not None:
                arrays["data_weights"] = self.data.weights
        record = {
            name: getattr(self, name)
            for name in ("stress", "normalized_stress", "n_iter", "status", "message")
        }
        labels = None if self.labels is None else [_plain_label(label) for label in self.labels]
        return save_archive(path, "embedding", arrays, {**record, "labels": labels})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Embedding:
        """Read a map that :meth:`save` wrote."""
        arrays, record = load_archive(path, "embedding")
        matrix, weights = arrays.pop("data_matrix", None), arrays.pop("data_weights", None)
        data = None if matrix is None else Dissimilarities(matrix, weights, record.get("labels"))
        fields: dict[str, Any] = {**arrays, **record, "data": data}
        try:
            return cls(**fields)
        except TypeError as error:
            raise InputError(f"{str(path)!r} is not a complete saved map ({error}).") from error


def _plain_label(label: Any) -> Any:
    label = plain_label(label)
    if label is None or isinstance(label, (str, int, float, bool)):
        return label
    raise InputTypeError(
        f"Label {label!r} of type {type(label).__name__} cannot be saved; use strings or numbers as labels."
    )
