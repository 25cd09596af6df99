"""The dense stress of maps whose drift turns, as the majorization loop sees it: one pass gives stress, step and field.

*Uniform weights.* With X centered, S and A the symmetric and skew part of D, ``h = A.mean(axis=0)``, ``C = J A J``,
``G = X'X`` and ``T = X' C X`` the stress falls into three parts, since the column means of ``X B X'`` vanish (``B = K'``):

    stress = 2 sum_{i<j} (e - S)^2 + 2 N |h - X w|^2 + |C - X B X'|^2 ,       C X = A X - its mean

The force (minus half the gradient of half the stress) is ``F = pull + N (h - X w) w' - (C X) B + X B G B``. Along
``Z = F M^-1``, ``M = N (I + w w') + B G B'``, half of the stress at ``X + t Z`` lies below a quartic in t (see
:func:`quartic_bound`) whose first minimum is a proved decrease.

*Any weights.* Force at j: ``sum_i c_ij (x_j - x_i) + g_ij omega_i``. The curvature of the canonical problem with
``alpha = max_i |omega_i|`` on all axes is not a proved bound, for a_ij is bilinear in the points; the loop shortens a step
that goes uphill.

*Arcs* (in the plane): f(e) stands for e, so that the swirl enters the symmetric part as well. It is fitted by a step of
Gauss and Newton, kept only if the stress falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.stress import axes_first
from finsler.geometry.swirl import drift_at
from finsler.solvers.backends import passes
from finsler.solvers.backends.passes import Panels
from finsler.solvers.majorize import RELAX
from finsler.solvers.problem import Evaluation, Parts, Problem, WeightedProblem
from finsler.solvers.swirl.field import LIMIT, Field, best_field, field_of, in_ball, unknowns

Array = NDArray[np.floating[Any]]

KEPT = 0.19  # of the least value of the quartic, which the relaxed step must reach at least
SETTLED = 1e-9  # a swirl that changes by less than this share needs no second pass over arcs
HALVINGS = 4  # of a change of the swirl of arcs


def _as_field(omega: Array, fixed_drift: Array | None) -> Array:
    """Packed field, of a drift that does not turn as well; with the drift that is held, if any."""
    m = omega.shape[-1]
    drift, swirl = (omega, np.zeros((m, m))) if omega.ndim == 1 else (omega[0], omega[1:])
    return np.vstack([drift if fixed_drift is None else fixed_drift, swirl])


class UniformSwirlProblem(Problem):
    """All weights 1. ``fixed_drift`` is the drift at the middle, or None to fit it with the swirl."""

    bounded = False

    def __init__(
        self, panels: Panels, parts: Parts, radius: float, fixed_drift: Array | None = None, geodesic: bool = False
    ):  # fmt: skip
        self.panels, self.parts, self.radius = panels, parts, radius
        self.fixed_drift, self.geodesic = fixed_drift, geodesic
        self.n_points = panels.n_points

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs; arcs take two while the swirl changes."""
        m = X.shape[1]
        axes = X.T - X.T.mean(axis=1, keepdims=True)
        field, skew = _as_field(omega, self.fixed_drift), Skew(axes, self.parts.h)
        XT = axes_first(axes.T)
        if not self.geodesic:
            found = self.panels.sum(passes.swirl_pass, XT, m, skew=True)
            skew.times(found[:m])
            field = self._fit(*skew.normal_equations(), m, field)
            return self._evaluation(found[m : 2 * m], 2 * float(found[-1].sum()), skew, field)
        found = self.panels.sum(passes.swirl_arc_pass, XT, m, abs(float(field[2, 0])), skew=True)
        skew.times(found[:m])
        pull, sums = found[m : 2 * m], found[-3:].sum(axis=1)
        H, b = skew.normal_equations()
        now = 2 * sums[0] + self._skew_stress(skew, field)
        # f is even in B_12, and linear in it to first order: (S - f)^2 adds to the least squares.
        B, tilt = field[2, 0], np.sign(field[2, 0])
        H[-1, -1] += sums[2]
        b[-1] += tilt * sums[1] + sums[2] * B
        wanted = self._fit(H, b, m, None)
        for _ in range(HALVINGS):
            if abs(wanted[2, 0] - B) <= SETTLED * abs(B):
                break
            again = self.panels.sum(passes.arc_pass, XT, abs(float(wanted[2, 0])))
            misfit = 2 * float(again[-3].sum())
            if misfit + self._skew_stress(skew, wanted) <= now:
                return self._evaluation(again[:m], misfit, skew, wanted)
            wanted = (wanted + field) / 2
        # The swirl stays, and the drift is the best beside it.
        kept = field
        if self.fixed_drift is None:
            H, b = skew.normal_equations()
            fixed = unknowns(field)[m:]
            kept = _drift_beside(H, b, fixed, m, self.radius, field)
        return self._evaluation(pull, 2 * float(sums[0]), skew, kept)

    def swirl_error(self, X: Array, field: Array) -> Array:
        """Standard error of each ``B_ab``, a < b: the residuals of A over the least squares for them."""
        m, XT = X.shape[1], axes_first(X - X.mean(axis=0))
        skew = Skew(XT[:m], self.parts.h)
        skew.times(self.panels.sum(passes.skew_times_pass, XT[:m], skew=True))
        H, b = skew.normal_equations()
        pairs, k = self.n_points * (self.n_points - 1) / 2, len(b)
        variance = self._skew_stress(skew, field) / 2 / max(pairs - k, 1.0)
        return np.sqrt(variance * np.diagonal(np.linalg.pinv(H))[m:])

    def _fit(self, H: Array, b: Array, m: int, so_far: Array | None) -> Array:
        return best_field(
            H, b, m, self.radius, drift=self.fixed_drift, so_far=so_far, arcs=self.geodesic
        )  # fmt: skip

    def _skew_stress(self, skew: Skew, field: Array) -> float:
        return skew.stress(field, 2 * self.parts.skew_residual)

    def _evaluation(self, pull: Array, misfit: float, skew: Skew, field: Array) -> Evaluation:
        rest = 2 * self.parts.skew_residual
        force = pull + skew.force(field)
        step, decrease = skew.bounded_step(force, field, rest)
        return Evaluation(misfit + skew.stress(field, rest), step.T, decrease, field)


def _drift_beside(H: Array, b: Array, swirl: Array, m: int, radius: float, so_far: Array) -> Array:
    """Best drift beside a swirl that stays, if it is better than the one so far."""
    rest = b[:m] - H[:m, m:] @ swirl
    w = in_ball(H[:m, :m], rest, LIMIT - radius * float(np.linalg.norm(swirl)))
    before = so_far[0]

    def cost(v: Array) -> float:
        return float(v @ H[:m, :m] @ v - 2 * rest @ v)

    return so_far if cost(before) <= cost(w) else field_of(np.append(w, swirl), m)


class Skew:
    """The skew part of complete data with uniform weights, and a map: all in sums of (N, m) arrays."""

    def __init__(self, axes: Array, h: Array):
        self.axes, self.h = axes, h
        self.n = axes.shape[1]
        self.G = axes @ axes.T
        self.CX = self.T = np.empty((0, 0))

    def times(self, AX: Array) -> None:
        """Take in the product of A with the map, an axis in each row."""
        self.CX = AX - AX.mean(axis=1, keepdims=True)
        T = self.axes @ self.CX.T
        self.T = (T - T.T) / 2

    def normal_equations(self) -> tuple[Array, Array]:
        """H and b of the least squares for ``(w, B_ab)``, in half of the stress."""
        m, (a, b) = len(self.G), np.triu_indices(len(self.G), 1)
        G = self.G
        H = np.zeros((m + len(a), m + len(a)))
        H[:m, :m] = self.n * G
        H[m:, m:] = G[np.ix_(a, a)] * G[np.ix_(b, b)] - G[np.ix_(a, b)] * G[np.ix_(b, a)]
        return H, np.concatenate([self.n * (self.axes @ self.h), self.T[a, b]])

    def stress(self, field: Array, rest: float) -> float:
        """Second and third part of the stress; ``rest`` is ``|C|^2``.

        The third is a difference of sums of the size of ``|C|^2``: on exact data it is rounding, of either sign.
        """
        w, B = field[0], field[1:].T
        missed = self.h - w @ self.axes
        turned = rest - 2 * float(np.vdot(self.T, B)) - float(np.trace(B @ self.G @ B @ self.G))
        return 2 * self.n * float(missed @ missed) + max(turned, 0.0)

    def force(self, field: Array) -> Array:
        """Force of the second and third part, an axis in each row."""
        w, B = field[0], field[1:].T
        missed = self.h - w @ self.axes
        return np.asarray(self.n * np.outer(w, missed) + B @ self.CX + B @ self.G @ B @ self.axes)

    def bounded_step(self, force: Array, field: Array, rest: float) -> tuple[Array, float]:
        """Step whose relaxed form cannot rise, and what it takes off the stress at least."""
        w, B = field[0], field[1:].T
        M = self.n * (np.eye(len(w)) + np.outer(w, w)) + B @ self.G @ B.T
        Z = np.linalg.solve(M, force)
        q = quartic_bound(self.axes, Z, force, field, rest)
        t = first_minimum(q)
        if not t > 0:
            return Z / RELAX, 0.0
        least, longest = np.polyval(q, t), RELAX * t
        while np.polyval(q, longest) > KEPT * least and longest > t:
            longest *= 0.9
        return Z * (max(longest, t) / RELAX), -2 * float(least)


def quartic_bound(axes: Array, Z: Array, force: Array, field: Array, rest: float) -> Array:
    """Coefficients, the fourth power first, of a bound of half of the stress along ``X + t Z``, less its value at 0.

    All terms are exact but two: Cauchy-Schwarz for ``-2 S e``, and ``-<C, Z B Z'>`` by norms, ``|C|_2 <= |C|_F / sqrt 2``.
    """
    n, w, B = axes.shape[1], field[0], field[1:].T
    G, Y, P = axes @ axes.T, Z @ Z.T, axes @ Z.T
    size, along = float(np.vdot(Z, Z)), w @ Z
    c2 = n * (size + float(along @ along)) + np.trace(B @ G @ B.T @ Y)
    c2 += np.trace(B.T @ P.T @ B @ P.T) + np.trace(B.T @ P @ B @ P.T)
    c2 += float(np.linalg.norm(B, 2)) * np.sqrt(rest / 2) * size
    c3, c4 = 2 * np.trace(B.T @ Y @ B @ P.T), np.trace(B @ Y @ B.T @ Y) / 2
    return np.array([c4, c3, c2, -2 * float(np.vdot(force, Z)), 0.0])


def first_minimum(quartic: Array) -> float:
    """Smallest t > 0 at which a quartic that falls at 0 has a minimum; 0 if it does not fall."""
    slope = quartic[:4] * np.array([4, 3, 2, 1])
    if not slope[3] < 0:
        return 0.0
    t0 = -slope[3] / slope[2] if slope[2] > 0 else 1.0  # where it would be without the higher powers
    scaled = slope * np.array([t0**3, t0**2, t0, 1.0]) / -slope[3]
    leading = int(np.argmax(np.abs(scaled) > 1e-13))
    roots = np.roots(scaled[leading:])
    positive = roots.real[(np.abs(roots.imag) <= 1e-9 * np.abs(roots)) & (roots.real > 0)]
    return float(t0 * positive.min()) if len(positive) else 0.0


class WeightedSwirlProblem(WeightedProblem):
    """Any non-negative weights, pairs known one way only, and bounds."""

    bounded = False
    drift_on_all_axes = True

    def __init__(
        self, panels: Panels, radius: float, fixed_drift: Array | None = None, degrees: Array | None = None,
        geodesic: bool = False,
    ):  # fmt: skip
        super().__init__(panels, fixed_drift, degrees)
        self.radius, self.geodesic = radius, geodesic

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs, and another one before it to fit the field."""
        m = X.shape[1]
        X = X - X.mean(axis=0)
        field = _as_field(omega, self.fixed_drift)
        XT = axes_first(X)
        sign = np.sign(field[2, 0]) if self.geodesic else 0.0
        sums = self.panels.sum(passes.field_pass, XT, *self._at(X, field), sign, m).sum(axis=1)
        H, b = normal_equations(sums[1:], m)
        so_far = None if self.geodesic else field
        wanted = best_field(
            H, b, m, self.radius, drift=self.fixed_drift, so_far=so_far, arcs=self.geodesic
        )  # fmt: skip
        found = self.panels.sum(passes.weighted_swirl_pass, XT, *self._at(X, wanted))
        for halving in range(HALVINGS + 1 if self.geodesic else 0):
            if found[-1].sum() <= sums[0]:
                break
            wanted = field if halving == HALVINGS else (wanted + field) / 2
            found = self.panels.sum(passes.weighted_swirl_pass, XT, *self._at(X, wanted))
        force = found[:m].T - found[:m].T.mean(axis=0)  # a common shift changes nothing
        alpha = float(np.linalg.norm(drift_at(X, wanted[0], wanted[1:]), axis=1).max())
        step = self._curvature_solver(alpha)(force)
        unit = self.panels.unit
        return Evaluation(unit * float(found[-1].sum()), step, unit * 2 * float(np.vdot(step, force)), wanted)

    def _at(self, X: Array, field: Array) -> tuple[Array, Array, float]:
        """Drift at the points, their heights, and the curvature of the arcs, as the kernels take them."""
        return at_points(X, Field.unpacked(field, self.geodesic))


def at_points(X: Array, field: Field) -> tuple[Array, Array, float]:
    """Drift at the points (an axis in each row), ``w . x``, and the curvature of the arcs, as the kernels take them."""
    return axes_first(drift_at(X, field.drift, field.swirl)), X @ field.drift, field.kappa


def normal_equations(sums: Array, m: int) -> tuple[Array, Array]:
    """H and b of the least squares for the field, from the lower triangle of H and b as the kernels add them up."""
    k = m + m * (m - 1) // 2
    H = np.zeros((k, k))
    H[np.tril_indices(k)] = sums[: k * (k + 1) // 2]
    return H + np.tril(H, -1).T, sums[k * (k + 1) // 2 :]
