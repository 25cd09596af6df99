"""Fields of Randers metrics on sampled points: given as a drift, a current, or a general metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._memory import require_memory
from finsler.data.frames import labeled
from finsler.data.labels import point_labels
from finsler.data.matrix import LARGEST, Array, as_float_array
from finsler.errors import InputError
from finsler.geometry.randers import check_randers, randers_norm, zermelo_metric


@dataclass(frozen=True, eq=False)
class RandersField:
    """Randers metric ``sqrt(u' M u) + omega.u`` at each of some points. Made by :func:`randers_field`."""

    M: Array | None = None  #: Riemannian part, of shape (n, d, d); None is the identity.
    omega: Array | None = None  #: Drift, of shape (n, d); None is zero.
    everywhere: Callable[[Any], RandersField] | None = None  #: Gives it at other points, if it is known.

    def take(self, rows: NDArray[Any]) -> RandersField:
        """Field at some of the points."""
        M, omega = (None if part is None else part[rows] for part in (self.M, self.omega))
        return RandersField(M, omega, self.everywhere)

    def lengths(self, rows: NDArray[Any], steps: Array) -> Array:
        """Length of each step, by the metric of the point that `rows` says."""
        here = self.take(rows)
        return randers_norm(steps, here.M, here.omega)


def randers_field(
    points: ArrayLike, *, drift: Any = None, current: Any = None, metric: Any = None, zermelo: str = "exact"
) -> RandersField:
    """Check a field of metrics, given as a drift, a current or a metric, and evaluate it at the points.

    The parameters are those of :func:`~finsler.graphs.neighbors.geodesic_distances`; without any of the three, lengths
    are Euclidean.
    """
    points, drift, current = map(labeled, (points, drift, current))
    X = as_points(points)
    fields = {"drift": drift, "current": current, "metric": metric}
    given = [name for name, values in fields.items() if values is not None]
    if len(given) > 1:
        raise InputError(
            f"Give one of drift, current and metric; found {' and '.join(given)}. A drift makes going along it costly, "
            "a current makes it cheap, and metric=(M, omega) is the general case."
        )
    if zermelo not in ("exact", "first-order"):
        raise InputError(f"zermelo must be 'exact' or 'first-order', got {zermelo!r}.")
    everywhere = None
    if not _is_per_point(drift, current, metric):
        everywhere = partial(randers_field, drift=drift, current=current, metric=metric, zermelo=zermelo)
    n, d = X.shape
    M: Array | None = None
    omega: Array | None = None
    if current is not None:
        v = _at_points(current, points, X, (d,), "current")
        require_memory(
            24.0 * n * d * d, f"Metrics in {d} dimensions", "Reduce the dimension first, say by PCA."
        )
        M, omega = zermelo_metric(v)  # explains a current as strong as the boat
        if zermelo == "first-order":
            M, omega = None, -v
    elif drift is not None:
        omega = _at_points(drift, points, X, (d,), "drift")
    elif metric is not None:
        pair = metric(X) if callable(metric) else metric
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"metric must be a pair (M, omega) or give one, got {type(pair).__name__}.")
        M = None if pair[0] is None else _at_points(pair[0], points, X, (d, d), "M of metric")
        omega = np.zeros(X.shape)
        if pair[1] is not None:
            omega = _at_points(pair[1], points, X, (d,), "omega of metric")
    if omega is not None and current is None:
        try:
            check_randers(M, omega)
        except ValueError as error:
            name = "metric" if drift is None else "drift"
            raise InputError(
                f"The {name} is no Randers metric: {error} Every step must cost something: scale "
                f"{'it down' if name == 'drift' else 'omega down, or correct M'}."
            ) from None
    return RandersField(M, omega, everywhere)


def as_points(points: ArrayLike, name: str = "points") -> Array:
    """Check points, one per row: numbers, finite."""
    X = as_float_array(labeled(points), name).astype(np.float64, copy=False)
    if X.ndim != 2 or X.shape[1] == 0 or len(X) == 0:
        raise InputError(
            f"{name} must be a 2-D array with one row per point, got shape {X.shape}.", argument=name
        )
    bad = np.flatnonzero(~np.isfinite(X).all(axis=1))
    if bad.size:
        raise InputError(
            f"{name} contains NaN or infinity at point {bad[0]} ({bad.size} of {len(X)} points).",
            argument=name,
        )
    largest = float(np.abs(X).max())
    if largest > 0 and not 1 / LARGEST < largest < LARGEST:
        raise InputError(
            f"The largest entry of {name} is {largest:g}; rescale to ordinary magnitudes.", argument=name
        )
    return X


def _is_per_point(drift: Any, current: Any, metric: Any) -> bool:
    """Whether the field is known at the given points only."""
    M, omega = metric if isinstance(metric, tuple | list) and len(metric) == 2 else (None, None)
    parts: list[tuple[Any, int]] = [(drift, 2), (current, 2), (omega, 2), (M, 3)]
    return any(not callable(values) and _ndim(values) == ndim for values, ndim in parts)


def _ndim(values: Any) -> int:
    try:
        return np.ndim(values)
    except ValueError:  # rows of different lengths, of which a message speaks later
        return -1


def _at_points(values: Any, points: Any, X: Array, shape: tuple[int, ...], name: str) -> Array:
    """One vector or matrix per point, from an array, a constant or a function."""
    values = labeled(values)
    labels, own = point_labels(points), point_labels(values)
    if labels is not None and own is not None and labels != own:
        raise InputError(
            f"{name} and points carry different labels, or in a different order. Reorder one of them."
        )
    array = as_float_array(values(X) if callable(values) else values, name).astype(np.float64, copy=False)
    n = len(X)
    if array.shape == shape:
        array = np.broadcast_to(array, (n, *shape))
    if array.shape != (n, *shape):
        raise InputError(
            f"{name} must have shape {(n, *shape)}, one entry per point, or {shape}, the same for all; got shape "
            f"{array.shape}{' from the function' if callable(values) else ''}."
        )
    bad = np.flatnonzero(~np.isfinite(array.reshape(n, -1)).all(axis=1))
    if bad.size:
        raise InputError(f"{name} is not finite at point {bad[0]} ({bad.size} of {n} points).")
    return array
