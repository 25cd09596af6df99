"""The drift field from the data, within its limit; and the frame that it gives a map.

Once the points are given, the stress is a least squares in ``w`` and in the entries ``B_ab``, a < b, of ``B = K'``. Free, it
would give ``|omega|`` far above 1 on maps with a thin axis, and negative distances. So the field is limited to

    |w| + R |K| <= LIMIT ,      |K|^2 = sum over a < b of K_ab^2 ,

with R a little more than the radius of the map from which the fit starts, about its middle: then ``|omega| < 1`` at all
points. The limit does not depend on the points and holds every constant drift, so that fitting the field again and again
never raises the stress, which never ends above that of the canonical map.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize_scalar

from finsler.geometry.swirl import canonical_form
from finsler.solvers.drift import ALPHA_MAX, frame_of, principal_axes, upright

Array = NDArray[np.floating[Any]]

LIMIT = ALPHA_MAX
MARGIN = 1.05  # R over the radius of the map that the fit starts from
ARC_LIMIT = 0.5  # of kappa R for arcs: the disc then holds its cheapest ways
RANK = 1e-12  # share of the largest eigenvalue below which the data say nothing about a direction


class Field(NamedTuple):
    """Drift at the middle of the map, and its swirl (None: it does not turn); ``geodesic``: ways are arcs."""

    drift: Array
    swirl: Array | None = None
    geodesic: bool = False

    @property
    def packed(self) -> Array:
        """Both in one array (m + 1, m), as the majorization loop carries them; without a swirl, only the drift."""
        return self.drift if self.swirl is None else np.vstack([self.drift, self.swirl])

    @classmethod
    def unpacked(cls, values: Array, geodesic: bool = False) -> Field:
        """Field from what the loop carries."""
        return cls(values) if values.ndim == 1 else cls(values[0], values[1:], geodesic)

    @property
    def kappa(self) -> float:
        """Curvature of the arcs, 0 where ways are straight."""
        return abs(float(self.swirl[1, 0])) if self.geodesic and self.swirl is not None else 0.0


def unknowns(field: Array) -> Array:
    """``(w, B_ab for a < b)`` of a packed field."""
    m = field.shape[1]
    return np.concatenate([field[0], field[1:].T[np.triu_indices(m, 1)]])


def field_of(theta: Array, m: int) -> Array:
    """Packed field of its unknowns."""
    B = np.zeros((m, m))
    B[np.triu_indices(m, 1)] = theta[m:]
    return np.vstack([theta[:m], B.T - B])


def map_radius(X: Array) -> float:
    """Largest distance of a point from the middle."""
    return float(np.linalg.norm(X - X.mean(axis=0), axis=1).max(initial=0.0))


def best_field(
    H: Array, b: Array, m: int, radius: float, *, drift: Array | None = None, so_far: Array | None = None,
    arcs: bool = False,
) -> Array:  # fmt: skip
    """Minimize ``theta' H theta - 2 b . theta`` over fields within the limit; packed.

    ``drift`` holds w there, so that only the swirl is fitted in what the limit leaves. ``so_far``, the field before, is kept
    if rounding makes the new one no better. For ``arcs`` the swirl is limited to ``kappa R <= 1/2`` as well.

    Examples
    --------
    >>> best_field(np.eye(3), np.array([0.1, 0.0, 0.2]), 2, 1.0)
    array([[ 0.1,  0. ],
           [ 0. , -0.2],
           [ 0.2,  0. ]])
    """
    # In units of R the unknowns are dimensionless; in units of H so are the tolerances.
    scale = np.concatenate([np.ones(m), np.full(len(b) - m, 1 / radius if radius > 0 else 0.0)])
    A, c = scale[:, None] * H * scale, scale * b
    size = float(np.abs(A).max(initial=0.0))
    if not size > 0:
        return np.zeros((m + 1, m)) if drift is None else field_of(np.append(drift, np.zeros(len(b) - m)), m)
    A, c = A / size, c / size
    most = ARC_LIMIT if arcs else LIMIT

    def cost(theta: Array) -> float:
        return float(theta @ A @ theta - 2 * c @ theta)

    if drift is None:
        theta = _within_limit(A, c, m)
        if np.linalg.norm(theta[m:]) > most:  # it then lies on that limit, too
            theta[m:] *= most / np.linalg.norm(theta[m:])
            theta[:m] = in_ball(A[:m, :m], c[:m] - A[:m, m:] @ theta[m:], LIMIT - most)
    else:
        rest = c[m:] - A[m:, :m] @ drift
        theta = np.append(
            drift, in_ball(A[m:, m:], rest, min(most, max(LIMIT - float(np.linalg.norm(drift)), 0.0)))
        )
    if so_far is not None:
        before = unknowns(so_far) / np.where(scale > 0, scale, 1.0)
        inside = np.linalg.norm(before[:m]) + np.linalg.norm(before[m:]) <= LIMIT * (1 + 1e-12)
        if inside and np.linalg.norm(before[m:]) <= most and cost(before) <= cost(theta):
            return so_far
    return field_of(scale * theta, m)


def _within_limit(A: Array, c: Array, m: int) -> Array:
    """Minimize over ``|v| + |l| <= LIMIT``, v the first m unknowns.

    That set is the union over rho in (0, 1) of ``|v|^2 / rho + |l|^2 / (1 - rho) <= LIMIT^2``, and the least value for given
    rho is convex in it.
    """
    theta = in_ball(A, c, np.inf)
    if np.linalg.norm(theta[:m]) + np.linalg.norm(theta[m:]) <= LIMIT:
        return theta

    def solve(rho: float) -> Array:
        stretch = np.sqrt(np.where(np.arange(len(c)) < m, rho, 1 - rho))
        return np.asarray(stretch * in_ball(stretch[:, None] * A * stretch, stretch * c, LIMIT))

    def least(rho: float) -> float:
        theta = solve(rho)
        return float(theta @ A @ theta - 2 * c @ theta)

    found = minimize_scalar(least, bounds=(0, 1), method="bounded", options={"xatol": 1e-10})
    best = min((0.0, float(found.x), 1.0), key=least)
    theta = solve(best)
    norm = float(np.linalg.norm(theta[:m]) + np.linalg.norm(theta[m:]))
    return theta * min(1.0, LIMIT / norm) if norm > 0 else theta


def in_ball(A: Array, c: Array, radius: float) -> Array:
    """Minimize ``x' A x - 2 c . x`` over ``|x| <= radius``."""
    if radius <= 0 or not len(c):
        return np.zeros(len(c))
    values, vectors = np.linalg.eigh(A)
    used = values > RANK * max(values[-1], 0.0)
    if not used.any():
        return np.zeros(len(c))
    parts, values = np.where(used, vectors.T @ c, 0.0), np.where(used, values, 1.0)
    x = parts / values
    if np.linalg.norm(x) > radius:
        # On the boundary, x = (A + shift)^-1 c with the shift that gives it the right norm.
        upper = 1.001 * float(np.linalg.norm(parts)) / radius
        shift = brentq(lambda s: np.linalg.norm(parts / (values + s)) - radius, 0.0, upper, xtol=1e-15)
        x = parts / (values + shift)
        x *= radius / np.linalg.norm(x)
    return np.asarray(vectors @ x)


def heights_lead(X: Array, drift: Array, swirl: Array) -> bool:
    """Whether the differences of heights on a map make up more of its asymmetry than its swirl does."""
    X = X - X.mean(axis=0)
    G, heights = X.T @ X, X @ drift
    return bool(2 * len(X) * (heights @ heights) >= np.trace(swirl @ G @ swirl.T @ G))


def turned_upright(X: Array, field: Field) -> tuple[Array, Field]:
    """The same map and field in the one frame that all maps are given in; without a swirl, that of ``upright``.

    Where the heights show more than the swirl, the drift lies on the last axis and points up, as on every map. Else the axis
    of a map in space is upright, and the drift along it points up; in the plane there are only the principal axes. The
    other axes are principal and signed as in :func:`~finsler.solvers.drift.upright`, but for the last of them, which is
    mirrored so that **counterclockwise costs more**.

    Examples
    --------
    >>> X = np.array([[2.0, 0.0], [-2.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    >>> turned_upright(X, Field(np.zeros(2), np.array([[0.0, 0.1], [-0.1, 0.0]])))[1].swirl
    array([[ 0. , -0.1],
           [ 0.1,  0. ]])
    """
    if field.swirl is None:
        X, drift = upright(X, field.drift)
        return X, Field(drift)
    w, K, m = field.drift, field.swirl, X.shape[1]
    X = X - X.mean(axis=0)
    screw = canonical_form(w, K)
    Q: Array = np.eye(m)
    if heights_lead(X, w, K):
        Q, free = frame_of(w), m - 1 if np.any(w) else m
    elif m == 3 and screw is not None and screw.axis is not None:
        Q, free = frame_of(screw.axis), 2
        if screw.beta @ Q[:, 2] < 0:
            Q[:, 2] *= -1
    else:
        free = m
    Q[:, :free] = Q[:, :free] @ principal_axes((X @ Q)[:, :free])[1]
    K = Q.T @ K @ Q
    if m >= 2 and K[1, 0] < 0:
        mirror = min(free, 2) - 1 if free else 0
        Q[:, mirror] *= -1
        K[mirror] *= -1
        K[:, mirror] *= -1
    return X @ Q, Field(w @ Q + 0.0, (K - K.T) / 2 + 0.0, field.geodesic)
