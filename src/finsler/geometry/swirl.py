"""A drift that turns: ``omega(x) = w + K x`` with K skew, so that a map can show asymmetry that runs in circles.

With ``u = y - x``, the way from x to y costs

    d(x, y) = ||u|| + a(x, y) ,     a(x, y) = omega(x) . u = omega(y) . u

a is the line integral of the drift along the straight way, on which ``omega . u`` does not change, as K is skew. ``w`` is
the drift at the origin and ``K``, the *swirl*, has units 1/length. In the plane ``K = kappa [[0, -1], [1, 0]]`` and,
measured from the center (where the drift vanishes), a is ``2 kappa`` times the area of the triangle (center, x, y): with
kappa > 0 going round the center **counterclockwise costs more**. In space ``K x = k x x`` turns round the axis k, and a
drift beta along the axis may be left (Poinsot's central axis of the screw (w, K)).

*When it is a distance.* ``|omega|`` is convex, so if it is below 1 at the points every way between them costs something.
The straight way is not the cheapest where there is a swirl, so the triangle inequality may fail, by at most about
``kappa^2 e^3 / 6``. In the plane the cheapest ways are arcs of radius ``1/(2 kappa)``, which cost

    f(e) + a ,      f(e) = (asin t + t sqrt(1 - t^2)) / (2 kappa) ,   t = kappa e <= 1 ,     f'(e) = sqrt(1 - t^2)

(*geodesic* distances). They obey the triangle inequality in any disc with ``kappa R <= 1/2`` and ``|omega| < 1``.

References
----------
Crampin, Mestdag: A class of Finsler surfaces whose geodesics are circles, Publ. Math. Debrecen 84 (2014).
Gower: The analysis of asymmetry and orthogonality, 1977 (skew-symmetry as areas of triangles).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler.errors import InputError

Array = NDArray[np.floating[Any]]


def swirl_matrix(swirl: float | ArrayLike, n_components: int) -> Array:
    """Swirl as a skew matrix K: in the plane a number kappa means ``kappa [[0, -1], [1, 0]]``.

    Examples
    --------
    >>> swirl_matrix(0.5, 2)
    array([[ 0. , -0.5],
           [ 0.5,  0. ]])
    """
    K = np.array(swirl, dtype=float)
    if K.ndim == 0 and n_components == 2:
        K = float(K) * np.array([[0.0, -1.0], [1.0, 0.0]])
    if K.shape != (n_components, n_components):
        shape = f"({n_components}, {n_components})"
        raise InputError(
            f"must be a number (in the plane) or have shape {shape}, got shape {K.shape}.", argument="swirl"
        )
    if not np.isfinite(K).all() or np.abs(K + K.T).max(initial=0.0) > 1e-9 * np.abs(K).max(initial=0.0):
        raise InputError("must be finite and skew: K[a, b] = -K[b, a].", argument="swirl")
    return (K - K.T) / 2 + 0.0


def drift_at(places: ArrayLike, drift: ArrayLike, swirl: ArrayLike | None = None) -> Array:
    """Drift ``w + K x`` at each of the `places`, one a row.

    Examples
    --------
    >>> drift_at([[0.0, 0.0], [1.0, 0.0]], [0.1, 0.0], swirl_matrix(0.5, 2))
    array([[0.1, 0. ],
           [0.1, 0.5]])
    """
    X, w = np.asarray(places, dtype=float), np.asarray(drift, dtype=float)
    return np.broadcast_to(w, X.shape).copy() if swirl is None else w + X @ np.asarray(swirl, dtype=float).T


def moved_field(drift: Array, swirl: Array, rotation: Array, shift: Array) -> tuple[Array, Array]:
    """Drift at the origin and swirl after all points have moved to ``x @ rotation + shift``; no distance changes."""
    K = rotation.T @ swirl @ rotation
    K = (K - K.T) / 2
    return drift @ rotation - K @ shift, K


def skew_part(X: Array, Y: Array, drift: Array, swirl: Array | None) -> Array:
    """``a(x, y) = omega(x) . (y - x)`` from each row of X to each row of Y: half of there minus back."""
    if swirl is None:
        return np.asarray((Y @ drift)[None, :] - (X @ drift)[:, None])
    # From one of the points: far from the origin the products would cancel.
    X, Y, w = X - X[:1], Y - X[:1], drift_at(X[:1], drift, swirl)[0] if len(X) else drift
    return np.asarray(drift_at(X, w, swirl) @ Y.T - (X @ w)[:, None])


def skew_shown(X: Array, drift: Array, swirl: Array | None) -> Any:
    """What a map shows of the skew part, as :func:`~finsler.geometry.asymmetry.asymmetry_shown` takes it.

    Without a swirl the heights, with one a function that gives blocks.
    """
    if swirl is None:
        return X @ drift
    return lambda i, j: skew_part(X[i], X[j], drift, swirl)


def arc_cost(e: ArrayLike, kappa: float) -> Array:
    """Cost ``f(e)`` of the cheapest way over a chord e in the plane, without its skew part; see the top of the module.

    Beyond ``e = 1/kappa`` no arc is left; f stays at its value there, where its slope is 0.

    Examples
    --------
    >>> arc_cost([0.0, 1.0], 0.5).round(4)
    array([0.    , 0.9566])
    """
    chord, kappa = np.asarray(e, dtype=float), abs(float(kappa))
    t = np.minimum(kappa * chord, 1.0)
    if kappa == 0:
        return chord.copy()
    # Near 0 the two terms agree to 2 t - t^3/3 - t^5/20, which the series gives to rounding.
    exact = (np.arcsin(t) + t * np.sqrt(1 - t * t)) / (2 * kappa)
    return np.where(t < 1e-3, chord * (1 - t * t / 6 - t**4 / 40), exact)


class Screw(NamedTuple):
    """Canonical form of a drift field: where it turns, how fast, and what is left there."""

    center: Array  #: Point where the drift is `beta`; of an axis, the point nearest to the origin.
    beta: Array  #: Drift at the center: along the axis, 0 in the plane.
    kappas: Array  #: Speeds of turning of its planes, the fastest first, all above 0.
    planes: Array  #: Orthonormal (p, q) of each plane, shape (r, 2, m), with ``K p = kappa q`` and ``K q = -kappa p``.

    @property
    def axis(self) -> Array | None:
        """Unit vector round which the drift turns by the right-hand rule; in space only."""
        return np.cross(*self.planes[0]) if len(self.kappas) == 1 and self.center.size == 3 else None

    def radii(self, X: Array) -> Array:
        """Distance of each point from the center, or from the axis, in the plane that turns fastest."""
        return np.asarray(np.linalg.norm((X - self.center) @ self.planes[0].T, axis=1))


def canonical_form(drift: ArrayLike, swirl: ArrayLike) -> Screw | None:
    """Center (or axis), speeds of turning, and the drift that is left at the center; None if nothing turns.

    ``i K`` is Hermitian with eigenvalues in pairs +-kappa; an eigenvector ``(p + i q)/sqrt 2`` spans a plane. The center is
    ``-K^+ w``. As kappa goes to 0 it goes to infinity across the drift, which is then constant.

    Examples
    --------
    >>> screw = canonical_form([0.0, 0.1], swirl_matrix(0.5, 2))
    >>> screw.center.round(6), screw.kappas, screw.beta.round(6)
    (array([-0.2,  0. ]), array([0.5]), array([0., 0.]))
    """
    w, K = np.asarray(drift, dtype=float), np.asarray(swirl, dtype=float)
    values, vectors = np.linalg.eigh(1j * K)
    # i K (p + i q) = i kappa q + kappa p = kappa (p + i q)
    order = [k for k in np.argsort(-values) if values[k] > 1e-12 * np.abs(values).max()]
    if not order:
        return None
    kappas = values[order]
    planes = np.sqrt(2) * np.stack([vectors[:, order].real.T, vectors[:, order].imag.T], axis=1)
    along = planes @ w  # (r, 2): parts of w in the planes
    inside = np.einsum("rk,rkm->m", along, planes)
    # K^+ q = p / kappa and K^+ p = -q / kappa.
    center = -np.einsum("r,rm->m", along[:, 1] / kappas, planes[:, 0])
    center += np.einsum("r,rm->m", along[:, 0] / kappas, planes[:, 1])
    return Screw(center, w - inside, kappas, planes)


def largest_drift(X: ArrayLike, drift: ArrayLike, swirl: ArrayLike | None = None) -> float:
    """Largest ``|omega|`` at the points: below 1, every way within their hull costs something."""
    return float(np.linalg.norm(drift_at(X, drift, swirl), axis=1).max(initial=0.0))


def obeys_triangles(
    X: ArrayLike, drift: ArrayLike, swirl: ArrayLike | None = None, *, geodesic: bool = False
) -> bool:
    """Whether distances on the map are sure to obey the triangle inequality.

    Without a swirl they do. With one, geodesic distances do if the disc round the points holds all its cheapest ways,
    ``kappa R <= 1/2``, and ``|omega| < 1`` on it; straight ones do not.
    """
    if largest_drift(X, drift, swirl) >= 1:
        return False
    if swirl is None or not np.any(swirl):
        return True
    points = np.asarray(X, dtype=float)
    middle = points.mean(axis=0)
    radius = float(np.linalg.norm(points - middle, axis=1).max(initial=0.0))
    kappa = abs(float(np.asarray(swirl)[1, 0]))
    rim = float(np.linalg.norm(drift_at(middle, np.asarray(drift), swirl))) + kappa * radius
    return bool(geodesic and kappa * radius <= 0.5 and rim < 1)
