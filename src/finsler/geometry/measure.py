"""What a map is measured by: its points and its drift, the same everywhere or turning, and all that follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_argument, check_arguments
from finsler._runtime import cached_property
from finsler.errors import InputError
from finsler.geometry.randers import randers_distances
from finsler.geometry.swirl import Screw, arc_cost, canonical_form, drift_at

Array = NDArray[np.floating[Any]]


class Measured:
    """Points with a drift; base of :class:`finsler.Embedding`."""

    coordinates: Array
    drift: Array
    swirl: Array | None
    geodesic: bool

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
        """Strength of the drift: the way straight up costs ``(1 + alpha)/(1 - alpha)`` times the way down.

        On a map with a swirl, that of the drift at the origin.
        """
        return float(self.drift[-1]) if self.swirl is None else float(np.linalg.norm(self.drift))

    @property
    def has_height(self) -> bool:
        """Whether the drift points up the last axis, at the middle of a map with a swirl; else no axis is a height."""
        return self.swirl is None or (not np.any(np.abs(self.drift[:-1]) > 1e-9) and self.alpha > 1e-9)

    @property
    def height(self) -> Array:
        """Last coordinate: how far up a point is. A map on which the drift mostly turns has none."""
        if not self.has_height:
            raise InputError(
                "This map has no heights: its drift turns round a center. Use its coordinates, center and kappa, or fit it "
                "with swirl=False."
            )
        return self.coordinates[:, -1]

    def require_one_drift(self, what: str) -> None:
        """Refuse to do what is known only of maps whose drift is the same everywhere."""
        check_arguments(Measured.require_one_drift, locals())
        if self.swirl is not None:
            raise InputError(
                f"{what} goes with maps without a swirl; fit this one with swirl=False.", argument="swirl"
            )

    @cached_property
    def screw(self) -> Screw | None:
        """Center or axis, speed of turning and the drift left at the center of a map with a swirl; None without one."""
        return None if self.swirl is None else canonical_form(self.drift, self.swirl)

    @property
    def kappa(self) -> float | None:
        """How fast the drift turns: at distance r from the center, going round it costs ``1 + kappa r`` and ``1 - kappa r``.

        Counterclockwise costs more (seen from the tip of the axis); where coordinates were given, kappa may be negative
        in the plane. None without a swirl.
        """
        if self.swirl is None:
            return None
        if self.n_components == 2:
            return float(self.swirl[1, 0])
        return 0.0 if self.screw is None else float(self.screw.kappas[0])

    @property
    def center(self) -> Array | None:
        """Point round which the drift turns, or of its axis the point nearest to the origin; None if it does not turn."""
        return None if self.screw is None else self.screw.center

    @property
    def axis(self) -> Array | None:
        """Direction of the axis round which the drift of a map in space turns, by the right-hand rule; None elsewhere."""
        return None if self.screw is None else self.screw.axis

    @property
    def metric(self) -> dict[str, Any]:
        """What distances are measured by: the keywords of :func:`~finsler.geometry.randers.randers_distances`."""
        return {"drift": self.drift, "swirl": self.swirl, "geodesic": self.geodesic}

    def drift_at(self, places: Any = None) -> Array:
        """Drift at the points, or at other `places` on the map, one a row; without a swirl it is the same everywhere."""
        if places is None:
            return drift_at(self.coordinates, self.drift, self.swirl)
        check_argument("places", places, "ArrayLike")
        X = np.asarray(places, dtype=float)
        if X.ndim == 0 or X.shape[-1] != self.n_components:
            raise InputError(
                f"must have {self.n_components} columns, as the map has, got shape {X.shape}.",
                argument="places",
            )
        return drift_at(X, self.drift, self.swirl)

    def distances(self) -> Array:
        """All distances on the map, from row to column."""
        return randers_distances(self.coordinates, **self.metric)

    def both_ways(self, i: Any, j: Any) -> Array:
        """Distances from points i to points j, given by their numbers, and back: two columns, a pair a row."""
        x, y = self.coordinates[self._rows("i", i)], self.coordinates[self._rows("j", j)]
        if x.shape != y.shape:
            raise InputError(f"must be as many as i, {len(x)}, got {len(y)}.", argument="j")
        e = np.linalg.norm(y - x, axis=1)
        cost = arc_cost(e, self.swirl[1, 0]) if self.geodesic and self.swirl is not None else e
        skew = ((y - x) * self.drift_at(x)).sum(axis=1)
        return np.column_stack([cost + skew, cost - skew])

    def _rows(self, name: str, given: Any) -> NDArray[np.intp]:
        """Numbers of points, checked."""
        check_argument(name, given, "ArrayLike")
        rows = np.asarray(given)
        if rows.ndim != 1 or rows.dtype.kind not in "iu" or (rows < 0).any() or (rows >= self.n_points).any():
            raise InputError(f"must be a list of whole numbers from 0 to {self.n_points - 1}.", argument=name)
        return rows.astype(np.intp)
