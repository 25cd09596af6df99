"""Randers metrics, and the canonical Randers space in which maps live.

Conventions of the whole library, stated here once:

* ``D[i, j]`` is the dissimilarity **from i to j**: row = from, column = to.
* The drift ``omega`` of a map lies on the **last axis and points up**, ``omega = (0, ..., 0, alpha)`` with
  ``0 <= alpha < 1``. Going up costs more than coming down:

      d(x, y) = ||y - x|| + omega . (y - x)        canonical Randers distance, from x to y

* A map with a *swirl* has a drift that is linear in the place, see `finsler.geometry.swirl`; its ``omega`` is then the
  drift at the middle of the map, and need not point up.

A general Randers metric measures a step ``u`` at a point by ``F(u) = sqrt(u' M u) + omega . u``, with ``M`` symmetric
positive definite. It is a metric (every step costs something) if and only if ``omega' M^-1 omega < 1``.

References
----------
Dagès, Weber, Lin, Talmon, Cremers, Lindenbaum, Bruckstein, Kimmel: Finsler Multi-Dimensional Scaling, CVPR 2025.
Bao, Robles, Shen: Zermelo navigation on Riemannian manifolds, J. Differential Geometry 66 (2004).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments
from finsler._memory import require_memory
from finsler.errors import InputError, check_count
from finsler.geometry.swirl import arc_cost, skew_part, swirl_matrix

Array = NDArray[np.floating[Any]]
CELLS = 1 << 20  # distances in a block of rows


def drift_vector(drift: float | ArrayLike, n_components: int, *, below_one: bool = True) -> Array:
    """Drift as a vector: a number ``alpha`` means ``(0, ..., 0, alpha)``.

    Raises ``ValueError`` unless its norm is below 1, without which going down could cost nothing. (Beside a swirl it is the
    drift at one place, the origin, and may be anything: pass ``below_one=False``.)
    """
    check_arguments(drift_vector, locals())
    check_count("n_components", n_components)
    require_memory(
        24.0 * n_components, f"a drift of n_components = {n_components:,}", "Use fewer dimensions."
    )
    omega = np.array(drift, dtype=float)
    if omega.ndim == 0:
        omega = np.append(np.zeros(n_components - 1), omega)
    if omega.shape != (n_components,):
        raise InputError(f"drift must be a number or have shape ({n_components},), got shape {omega.shape}.")
    norm = np.linalg.norm(omega)
    if below_one and not norm < 1:
        raise InputError(f"The drift must have a norm in [0, 1), got {norm:.6g}: at 1 the way down is free.")
    return omega


def randers_distances(
    X: ArrayLike,
    Y: ArrayLike | None = None,
    *,
    drift: float | ArrayLike,
    swirl: float | ArrayLike | None = None,
    geodesic: bool = False,
) -> Array:
    """Randers distances from each row of ``X`` to each row of ``Y``: canonical ones, or with a swirl.

    Parameters
    ----------
    X : array-like of shape (n, m)
        Points to start from.
    Y : array-like of shape (k, m), optional
        Points to go to; ``X`` itself by default.
    drift : float or array-like of shape (m,)
        ``alpha`` on the last axis, or the whole vector; with a swirl, the drift at the origin.
    swirl : float or array-like of shape (m, m), optional
        Skew matrix K of a drift ``drift + K x``, or its kappa in the plane; see `finsler.geometry.swirl`.
    geodesic : bool, default=False
        Cost of the cheapest way (an arc; only in the plane) instead of the straight one.

    Returns
    -------
    ndarray of shape (n, k)
        ``d[i, j]`` is the distance from ``X[i]`` to ``Y[j]``.

    Examples
    --------
    >>> randers_distances([[0.0, 0.0], [3.0, 4.0]], drift=0.5)
    array([[0., 7.],
           [3., 0.]])

    Round the origin counterclockwise costs more:

    >>> randers_distances([[1.0, 0.0], [0.0, 1.0]], drift=0.0, swirl=0.2).round(4)
    array([[0.    , 1.6142],
           [1.2142, 0.    ]])
    """
    check_arguments(randers_distances, locals())
    X = _points(X, "X")
    Y = X if Y is None else _points(Y, "Y")
    m = X.shape[1]
    if m != Y.shape[1]:
        raise InputError(f"X has {m} columns, Y {Y.shape[1]}; they must live in the same space.")
    K = None if swirl is None else swirl_matrix(swirl, m)
    omega = drift_vector(drift, m, below_one=K is None)
    if geodesic and m != 2:
        raise InputError(f"goes with maps in the plane, got {m} dimensions.", argument="geodesic")
    out = np.empty((len(X), len(Y)))
    height_x, height_y = X @ omega, Y @ omega
    for start, stop in _row_blocks(len(X), len(Y)):
        block = out[start:stop]
        block[:] = 0.0
        # Differences axis by axis: exact zeros for equal points, which the Gram-matrix trick does not give.
        for axis in range(m):
            block += (Y[None, :, axis] - X[start:stop, None, axis]) ** 2
        np.sqrt(block, out=block)
        if K is None:
            block += height_y[None, :] - height_x[start:stop, None]
        else:
            if geodesic:
                block[:] = arc_cost(block, K[1, 0])
            skew = skew_part(X[start:stop], Y, omega, K)
            block += np.where(block > 0, skew, 0.0)  # rounding must not part a point from itself
    return out


def randers_distance_blocks(
    X: ArrayLike,
    *,
    drift: float | ArrayLike,
    swirl: float | ArrayLike | None = None,
    geodesic: bool = False,
) -> Iterator[tuple[int, int, Array]]:
    """Distances among the rows of ``X`` in blocks ``(start, stop, from these rows to all)``, for maps too large for all."""
    X = _points(X, "X")
    for start, stop in _row_blocks(len(X), len(X)):
        yield start, stop, randers_distances(X[start:stop], X, drift=drift, swirl=swirl, geodesic=geodesic)


def randers_norm(u: ArrayLike, M: ArrayLike | None = None, omega: ArrayLike | None = None) -> Array:
    """Length ``sqrt(u' M u) + omega.u`` of steps under Randers metrics; arguments broadcast over leading axes.

    Parameters
    ----------
    u : array-like of shape (..., m)
        Steps.
    M : array-like of shape (..., m, m), optional
        Riemannian part; the identity by default.
    omega : array-like of shape (..., m), optional
        Drift; zero by default.

    Examples
    --------
    >>> randers_norm([3.0, 4.0], omega=[0.0, 0.5])
    array(7.)
    """
    check_arguments(randers_norm, locals())
    u = _vectors(u, "u")
    m = u.shape[-1]
    if M is None:
        length = np.sqrt(np.einsum("...i,...i->...", u, u))
    else:
        metric = np.asarray(M, dtype=float)
        if metric.shape[-2:] != (m, m):
            raise InputError(f"M must end in shape ({m}, {m}) to match u, got {metric.shape}.", argument="M")
        _require_broadcast("M", metric.shape[:-2], u.shape[:-1])
        length = np.sqrt(np.einsum("...i,...ij,...j->...", u, metric, u))
    if omega is not None:
        drift = _vectors(omega, "omega")
        if drift.shape[-1] != m:
            raise InputError(
                f"omega must end in shape ({m},) to match u, got {drift.shape}.", argument="omega"
            )
        _require_broadcast("omega", drift.shape[:-1], np.shape(length))
        length = length + np.einsum("...i,...i->...", drift, u)
    return np.asarray(length)


def _vectors(values: ArrayLike, name: str) -> Array:
    """Vectors along the last axis, at least one number each."""
    array = np.asarray(values, dtype=float)
    if array.ndim == 0 or array.shape[-1] == 0:
        raise InputError(
            f"{name} must hold vectors along its last axis, got shape {array.shape}.", argument=name
        )
    return array


def _require_broadcast(name: str, shape: tuple[int, ...], others: tuple[int, ...]) -> None:
    try:
        np.broadcast_shapes(shape, others)
    except ValueError:
        raise InputError(
            f"{name} must have the leading shape {others} or one that broadcasts to it, got {shape}.",
            argument=name,
        ) from None


def check_randers(M: ArrayLike | None, omega: ArrayLike) -> None:
    """Raise ``ValueError`` unless every ``(M, omega)`` is a metric: M positive definite, ``omega' M^-1 omega < 1``."""
    check_arguments(check_randers, locals())
    omega = np.atleast_2d(_vectors(omega, "omega"))
    omega = omega.reshape(-1, omega.shape[-1])
    if not np.isfinite(omega).all():
        point = np.flatnonzero(~np.isfinite(omega).all(1))[0]
        raise InputError(f"omega is not finite at point {point}.", argument="omega")
    if M is None:
        squared = np.einsum("ij,ij->i", omega, omega)
    else:
        metric = _metrics(M, omega.shape[-1])
        _require_broadcast("M", metric.shape[:-2], omega.shape[:1])
        dual = np.linalg.solve(metric, omega[..., None])[..., 0]
        squared = np.einsum("...j,...j->...", omega, dual).reshape(-1)
    bad = np.flatnonzero(~(squared < 1))
    if bad.size:
        worst = bad[np.argmax(squared[bad])]
        raise InputError(
            f"omega must have a norm below 1 in the dual metric; it is {np.sqrt(squared[worst]):.4g} at point "
            f"{worst} ({bad.size} of {squared.size} points)."
        )


def length_bound(M: ArrayLike | None = None, omega: ArrayLike | None = None) -> float:
    """Least cost ``F(u) / ||u||`` of a step of a field of Randers metrics, over all points and directions.

    Without `M` this is ``1 - max ||omega||``, without `omega` the root of the least eigenvalue. In general,
    for unit u and ``c >= 0``, ``F(u) >= c`` if and only if ``u' M u >= (c - omega . u)^2``. That asks for the
    least value of a quadratic function on a sphere, for which Lagrange duality is exact, and gives

        c^2 = max over 0 <= mu <= lambda_min(M) of  mu (1 - omega' (M - mu I)^-1 omega) ,

    a concave function of one variable; with (lambda_k, omega_k) in the axes of M, its slope vanishes where
    ``sum_k lambda_k omega_k^2 / (lambda_k - mu)^2 = 1``, which bisection finds.
    """
    if M is None and omega is None:
        return 1.0
    if omega is None:
        omega = np.zeros(np.asarray(M).shape[-1:])
    drift = np.atleast_2d(np.asarray(omega, dtype=float))
    if drift.size == 0 or (M is not None and np.size(M) == 0):
        raise InputError("The field of metrics is empty: M and omega must have at least one point.")
    check_randers(M, drift)
    if M is None:
        return float(1 - np.linalg.norm(drift, axis=-1).max())
    eigenvalues, axes = np.linalg.eigh(np.asarray(M, dtype=float))
    squared = np.einsum("...ji,...j->...i", axes, drift) ** 2
    eigenvalues, squared = np.broadcast_arrays(np.maximum(eigenvalues, 0), squared)
    low, high = np.zeros(len(squared)), eigenvalues[:, 0]
    for _ in range(60):
        mu = (low + high) / 2
        rising = _quotients(eigenvalues * squared, (eigenvalues - mu[:, None]) ** 2) < 1
        low, high = np.where(rising, mu, low), np.where(rising, high, mu)
    squares = low * (1 - _quotients(squared, eigenvalues - low[:, None]))
    return float(np.sqrt(max(np.min(squares), 0.0)))


def zermelo_metric(v: ArrayLike, M: ArrayLike | None = None) -> tuple[Array, Array]:
    """Randers metric ``(M_v, omega_v)`` of travel times at unit speed in a current ``v`` (Zermelo navigation).

    With ``lambda = 1 - v' M v``: ``M_v = (M v v' M + lambda M) / lambda^2`` and ``omega_v = -M v / lambda``.

    Parameters
    ----------
    v : array-like of shape (..., m)
        Current, in units of the speed through still water. It must be weaker than the boat: ``v' M v < 1``.
    M : array-like of shape (m, m) or (..., m, m), optional
        Metric of still water; the identity by default.

    Examples
    --------
    With a current of half the boat's speed, going along takes 1/1.5 and going against 1/0.5 of a unit.

    >>> M_v, omega_v = zermelo_metric([0.5, 0.0])
    >>> randers_norm([[1.0, 0.0], [-1.0, 0.0]], M_v, omega_v).round(12)
    array([0.66666667, 2.        ])
    """
    check_arguments(zermelo_metric, locals())
    v = _vectors(v, "v")
    m = v.shape[-1]
    if not np.isfinite(v).all():
        raise InputError("The current v is not finite.", argument="v")
    metric = np.broadcast_to(np.eye(m), (*v.shape[:-1], m, m)) if M is None else _metrics(M, m, v.shape[:-1])
    covector = np.einsum("...ij,...j->...i", metric, v)
    squared = np.einsum("...i,...i->...", covector, v)
    if not np.all(squared < 1):
        flat = np.atleast_1d(squared).ravel()
        bad = np.flatnonzero(~(flat < 1))
        worst = bad[np.argmax(flat[bad])]
        raise InputError(
            f"The current is as strong as the boat or stronger at {bad.size} of {flat.size} points (speed "
            f"{np.sqrt(flat[worst]):.4g} at point {worst}; it must stay below 1): from there no way leads upstream. "
            "Give the current in units of the boat's speed, or scale it down.",
            argument="current",
        )
    slack = (1 - squared)[..., None, None]
    outer = covector[..., :, None] * covector[..., None, :]
    return (outer + slack * metric) / slack**2, -covector / slack[..., 0]


def _points(X: ArrayLike, name: str) -> Array:
    X = np.asarray(X, dtype=float)
    if X.ndim != 2 or X.shape[1] == 0:
        raise InputError(
            f"{name} must be a 2-D array of points, one per row, got {X.ndim} dimension(s), shape {X.shape}.",
            argument=name,
        )
    return X


def _metrics(M: ArrayLike, m: int, leading: tuple[int, ...] | None = None) -> Array:
    metric = np.asarray(M, dtype=float)
    if metric.shape[-2:] != (m, m):
        raise InputError(
            f"M must end in shape ({m}, {m}) to match the vectors of omega or v, got {metric.shape}.",
            argument="M",
        )
    if not np.isfinite(metric).all():
        raise InputError("M is not finite at every point.", argument="M")
    # In units of the largest entry, so that the tolerance below is relative.
    unit = np.abs(metric).max(initial=0.0)
    scaled = metric / unit if unit > 0 else metric
    if not np.allclose(scaled, np.swapaxes(scaled, -1, -2)) or not (np.linalg.eigvalsh(scaled) > 0).all():
        raise InputError("M must be symmetric and positive definite at every point.", argument="M")
    if leading is None:
        return metric
    if metric.shape[:-2] not in ((), leading):
        raise InputError(
            f"M must have shape ({m}, {m}), or one per vector; got {metric.shape}.", argument="M"
        )
    return np.broadcast_to(metric, (*leading, m, m))


def _quotients(numerator: Array, denominator: Array) -> Array:
    """Sum of quotients over the last axis, with 0 / 0 = 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerator == 0, 0.0, numerator / denominator).sum(axis=-1)


def _row_blocks(n_rows: int, n_columns: int) -> list[tuple[int, int]]:
    block = max(1, CELLS // max(n_columns, 1))
    return [(start, min(start + block, n_rows)) for start in range(0, n_rows, block)]
