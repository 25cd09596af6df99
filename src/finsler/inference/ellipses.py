"""How sure are the places of points, alpha and the direction of the drift? In closed form, without refits.

J is the Jacobian of the distances ``d_ij = |u| + omega.u``, ``u = x_j - x_i``, by the coordinates (``u/|u| + omega`` at j,
minus that at i) and by the drift (u). With residuals ``r = D - d`` and ``H = sum w (J'J - r d'')`` over ordered pairs, half
the Hessian of the stress, a change of D moves the map by ``H+ w J'``. With leverages ``l = w J H+ J'`` and scores
``s = w J' r / (1 - l)`` summed over the two directions of a pair, the covariance is

    C = H+ (sum over pairs s s') H+

(HC3, clustered: errors may grow with distance, and those of the two directions may be alike). Without the curvature d'' of
the distances, ellipses of few points with large errors are too small. The inverse is taken among what changes some
distance, so without translations and rotations. Of the points, rotations of the map are taken out: at a small alpha the
axis is uncertain, and in a fixed frame that would make every point look uncertain. The drift is given in the frame that
this leaves.

All is assembled from m x m blocks; J, with its N^2 rows, is never made.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2
from scipy.stats import f as f_distribution

from finsler._arguments import check_arguments
from finsler._runtime import single_blas_thread
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.inference.results import Result, refuse_paths

Array = NDArray[Any]
LARGEST = 3000  # unknowns: N m; beyond, the pseudo-inverse takes minutes
LEAST_FREE = 0.05  # of 1 - leverage
NULL = 1e-9  # eigenvalues below this share of the largest are directions that do not change any distance
LEAST_CURVED = 1e-3  # of the curvature that the distances alone would give: below it there is no minimum
SHOWN = 5  # points that a summary names
ANY_WAY = 60.0  # degrees of error beyond which a direction is none: one drawn blindly has about 100
RESTS_ON = {
    "closed form": "all this holds if the errors of different pairs are independent",
    "replicates": "all this holds if the replicates are independent",
    "counts": "all this is what counting alone makes uncertain",
}


@dataclass(frozen=True, eq=False)
class Confidence(Result):
    """Ellipses around the points of a map, and standard errors of its drift."""

    covariance: Array  #: Of each point, shape (n, m, m).
    radius: float  #: An ellipse is where ``(x - x_i)' C_i^-1 (x - x_i) <= radius^2``.
    level: float
    alpha_se: float | None  #: Standard error of alpha; None if alpha was given.
    tilt_se: (
        float | None
    )  #: Of the direction of the drift against the points, in degrees; None without a drift.
    method: str  #: "closed form", "replicates" or "counts".
    n_draws: int = 0  #: Refits of a bootstrap.
    random_state: int | None = None
    embedding: Embedding = field(default=None, repr=False)  # type: ignore[assignment]

    @property
    def half_axes(self) -> Array:
        """Half the length of the axes of each ellipse, longest first, shape (n, m)."""
        values = np.linalg.eigvalsh(self.covariance)[:, ::-1]
        return self.radius * np.sqrt(np.maximum(values, 0.0))

    @property
    def ellipses(self) -> list[dict[str, list[Any]]]:
        """The ellipse of each point, for JSON: center, half axes (longest first), the direction of each (unit vectors).

        A point of its rim in two dimensions is ``center + cos t * half_axes[0] * axes[0] + sin t * half_axes[1] * axes[1]``.
        """
        values, vectors = np.linalg.eigh(self.covariance)  # directions are columns, the shortest first
        half = self.radius * np.sqrt(np.maximum(values[:, ::-1], 0.0))
        axes = vectors[:, :, ::-1].transpose(0, 2, 1)
        return [
            {"center": x.tolist(), "half_axes": h.tolist(), "axes": a.tolist()}
            for x, h, a in zip(self.embedding.coordinates, half, axes, strict=True)
        ]

    def covers(self, X: Any) -> NDArray[np.bool_]:
        """Whether the ellipse of each point holds the point of ``X``."""
        apart = np.asarray(X, dtype=float) - self.embedding.coordinates
        inverse = np.linalg.pinv(self.covariance, hermitian=True)
        return np.einsum("ik,ikl,il->i", apart, inverse, apart) <= self.radius**2

    def summary(self) -> str:
        """Say in a few lines how sure the map is."""
        size = np.linalg.norm(self.embedding.coordinates, axis=1)
        longest = self.half_axes[:, 0]
        names = self.embedding.labels or list(range(len(longest)))
        share = float(np.median(longest) / np.sqrt((size**2).mean()))
        lines = [
            f"{100 * self.level:g} % ellipses of {len(longest)} points ({self.method}): median half axis "
            f"{np.median(longest):.3g}, {100 * share:.{2 if share < 1 else 3}g} % of the radius of the map"
        ]
        if self.alpha_se is not None:
            lines.append(f"  alpha = {self.embedding.alpha:.4g} ± {self.alpha_se:.2g} (standard error)")
        if self.tilt_se is not None:
            sure = f"± {self.tilt_se:.3g} degrees" if self.tilt_se < ANY_WAY else "not determined"
            lines.append(f"  direction of the drift: {sure}")
        order = np.argsort(-longest, kind="stable")[:SHOWN]
        lines.append("  least sure: " + ", ".join(f"{names[i]} ({longest[i]:.3g})" for i in order))
        return "\n".join([*lines, f"  {RESTS_ON[self.method]}"])

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python data."""
        record = super().to_dict()
        record["embedding"] = repr(self.embedding)
        record["labels"] = self.embedding.labels
        return {**record, "half_axes": self.half_axes.tolist(), "ellipses": self.ellipses}

    def plot(self, *, ax: Any = None, **options: Any) -> Any:
        """Draw the map with its ellipses; further options are those of `plot_map`."""
        from finsler.plotting.inference import plot_confidence

        return plot_confidence(self, ax=ax, **options)


def confidence(embedding: Embedding, *, level: float = 0.95) -> Confidence:
    """Ellipses around the points of a map, the standard error of alpha and of the direction of the drift.

    In closed form: nothing is fitted again. Errors of different pairs must be independent; they may grow with distance, and
    those of the two directions of a pair may be alike. Simulated coverage of 95 % is in the documentation.

    Parameters
    ----------
    embedding : Embedding
        A map with its data, of least stress. Maps of lengths of paths are refused, their errors not being independent;
        give :func:`bootstrap` replicates instead.
    level : float
        Coverage of each ellipse.

    Returns
    -------
    Confidence

    Examples
    --------
    >>> import finsler
    >>> found = confidence(finsler.embed_matrix(finsler.load_flight_hours().hours))
    >>> bool(found.alpha_se < 0.01), found.covariance.shape
    (True, (64, 2, 2))
    """
    check_arguments(confidence, locals())
    check_level(level)
    embedding.require_one_drift("confidence()")
    residuals = _residuals(embedding)
    n, m = embedding.coordinates.shape
    fitted = embedding.alpha_source != "given" and embedding.alpha > 0
    free = n * m - m * (m - 1) // 2
    known = int(np.count_nonzero(residuals.w))
    if n - 1 - m < 1 or known <= free:
        raise InputError(
            f"{n} points with {known} known pairs are too few for ellipses in {m} dimensions: there are {free} unknowns."
        )
    with single_blas_thread():
        C = _covariance(residuals, fitted)
    points, drift = _in_the_frame_of_the_points(C, embedding, fitted)
    alpha, tilt = embedding.alpha, None
    if alpha > 0 and m > 1:
        tilt = float(np.degrees(np.sqrt(np.trace(drift[:-1, :-1]) / (m - 1)) / alpha))
    return Confidence(
        covariance=points, radius=float(np.sqrt(m * f_distribution.ppf(level, m, n - 1 - m))), level=level,
        alpha_se=float(np.sqrt(drift[-1, -1])) if fitted else None, tilt_se=tilt, method="closed form", embedding=embedding,
    )  # fmt: skip


def check_level(level: float) -> None:
    """Refuse what is no coverage."""
    if not 0 < level < 1:
        raise InputError(f"must lie between 0 and 1, got {level!r}.", argument="level")


def _size(embedding: Embedding) -> float:
    """Radius of a map, in units of which all is computed: coordinates and drift are then of one order."""
    return float(np.sqrt(embedding.coordinates.var(axis=0).sum())) or 1.0


class Residuals(NamedTuple):
    """Of all ordered pairs, as n x n arrays: weight, 0 if unknown; D - d; step u; gradient u/|u| + omega."""

    w: Array
    r: Array
    u: Array
    g: Array


def _residuals(embedding: Embedding) -> Residuals:
    data = embedding.data
    if data is None:
        raise InputError(
            "confidence() needs the data of the map, and this map carries none (embedding.data is None)."
        )
    refuse_paths(embedding.provenance.paths, "confidence")
    if embedding.scaled is not None:
        raise InputError(
            f"Ellipses are for ratio scaling: disparities, {embedding.scaling}, are fitted along with the map, and ellipses "
            "that do not know it would be too small. Give bootstrap() replicates."
        )
    if embedding.swirl is not None:
        raise InputError("confidence() is for maps without a swirl; give bootstrap() replicates.")
    if embedding.status == "closed_form":
        raise InputError("Ellipses are of maps of least stress; fit the map with solver='smacof'.")
    n, m = embedding.coordinates.shape
    if n * m > LARGEST:
        raise InputError(
            f"{n:,} points in {m} dimensions are too many for ellipses in closed form ({LARGEST:,} unknowns)."
        )
    w = np.ones((n, n)) if data.weights is None else data.weights.astype(float)
    np.fill_diagonal(w := w.copy(), 0.0)
    D = np.where(w > 0, data.matrix, 0.0).astype(float)
    if (D < 0).any():
        raise InputError(
            "Bounds (missing='hinge') have no residuals; ellipses need a map with missing='mask'."
        )
    size = _size(embedding)
    D, X = D / size, embedding.coordinates / size
    u = X[None] - X[:, None]
    e = np.linalg.norm(u, axis=2)
    g = np.divide(u, e[:, :, None], out=np.zeros_like(u), where=e[:, :, None] > 0) + embedding.drift
    return Residuals(w, np.where(w > 0, D - e - u @ embedding.drift, 0.0), u, g)


def _covariance(of: Residuals, fitted: bool) -> Array:
    """Covariance of coordinates, point by point, and of the drift if it is fitted."""
    G = _inverse(*_curvatures(of, fitted))
    r = of.r / np.maximum(1 - of.w * _forms(G, of.g, of.u, fitted), LEAST_FREE)
    s = (of.w * r)[:, :, None] * of.g
    s = s - s.transpose(1, 0, 2)  # at j, of both directions; at i it is minus that
    meat = _from_blocks(np.einsum("ijk,ijl->ijkl", s, s))
    if fitted:
        t = (of.w * r)[:, :, None] * of.u
        t = t + t.transpose(1, 0, 2)
        cross = np.einsum("ijk,ijl->jkl", s, t)
        meat = _with_drift(meat, cross, np.einsum("ijk,ijl->kl", t, t) / 2)
    return G @ meat @ G


def _curvatures(of: Residuals, fitted: bool) -> tuple[Array, Array]:
    """``sum w J'J``, and ``sum w r d''``, which the Hessian of the stress has less."""
    m = of.u.shape[2]
    wr, e = of.w * of.r, np.linalg.norm(of.u, axis=2)
    unit = np.divide(of.u, e[:, :, None], out=np.zeros_like(of.u), where=e[:, :, None] > 0)
    per = np.divide(wr, e, out=np.zeros_like(e), where=e > 0)[:, :, None, None]
    gg = np.einsum("ij,ijk,ijl->ijkl", of.w, of.g, of.g)
    bent = per * (np.eye(m) - np.einsum("ijk,ijl->ijkl", unit, unit))
    found = [_from_blocks(blocks + blocks.transpose(1, 0, 2, 3)) for blocks in (gg, bent)]
    if fitted:
        gu = np.einsum("ij,ijk,ijl->ijkl", of.w, of.g, of.u)
        pull = wr.sum(axis=0) - wr.sum(axis=1)  # at j, minus at i
        found[0] = _with_drift(
            found[0], gu.sum(axis=0) - gu.sum(axis=1), np.einsum("ij,ijk,ijl->kl", of.w, of.u, of.u)
        )
        found[1] = _with_drift(found[1], pull[:, None, None] * np.eye(m), np.zeros((m, m)))
    return found[0], found[1]


def _with_drift(points: Array, cross: Array, corner: Array) -> Array:
    """Matrix of coordinates and drift, from that of coordinates and the m x m blocks that the drift has with each point."""
    cross = cross.reshape(len(points), len(corner))
    return np.block([[points, cross], [cross.T, corner]])


def _from_blocks(blocks: Array) -> Array:
    """Matrix of ``sum over i < j of B_ij (e_j - e_i)(e_j - e_i)'``, where B_ij = B_ji are m x m."""
    n, m = blocks.shape[0], blocks.shape[2]
    out = -blocks
    out[np.arange(n), np.arange(n)] = 0.0
    out[np.arange(n), np.arange(n)] = -out.sum(axis=1)
    return out.transpose(0, 2, 1, 3).reshape(n * m, n * m)


def _inverse(changes: Array, bent: Array) -> Array:
    """Inverse of ``changes - bent`` among the directions that change some distance."""
    values, vectors = np.linalg.eigh(changes)
    kept = values > NULL * values[-1]
    Q = vectors[:, kept] / np.sqrt(values[kept])  # so that Q' changes Q is the identity
    curved, turn = np.linalg.eigh(np.eye(Q.shape[1]) - Q.T @ bent @ Q)
    if curved.min(initial=1.0) < LEAST_CURVED:
        raise InputError(
            "confidence() needs a map at a minimum of its stress, and the stress of this one falls to some side: fit it "
            "again with a smaller tol and a larger max_iter."
        )
    Q = Q @ turn
    return (Q / curved) @ Q.T


def _forms(G: Array, g: Array, u: Array, fitted: bool) -> Array:
    """``J G J'`` of each ordered pair."""
    n, m = g.shape[0], g.shape[2]
    blocks = G[: n * m, : n * m].reshape(n, m, n, m).transpose(0, 2, 1, 3)
    own = blocks[np.arange(n), np.arange(n)]
    apart = own[:, None] + own[None] - blocks - blocks.transpose(1, 0, 2, 3)
    found = np.einsum("ijk,ijkl,ijl->ij", g, apart, g)
    if fitted:
        cross = G[: n * m, n * m :].reshape(n, m, m)
        found = found + 2 * np.einsum("ijk,ijkl,ijl->ij", g, cross[None] - cross[:, None], u)
        found = found + np.einsum("ijk,kl,ijl->ij", u, G[n * m :, n * m :], u)
    return found


def _in_the_frame_of_the_points(C: Array, embedding: Embedding, fitted: bool) -> tuple[Array, Array]:
    """Covariance of each point with rotations taken out, and that of the drift in the frame which this leaves."""
    size = _size(embedding)
    X = (embedding.coordinates - embedding.coordinates.mean(axis=0)) / size
    n, m = X.shape
    generators = []
    for a, b in combinations(range(m), 2):
        S = np.zeros((m, m))
        S[a, b], S[b, a] = 1.0, -1.0
        generators.append((X @ S, embedding.drift @ S))
    top, below = np.eye(n * m), np.zeros((m, n * m))
    if generators:
        R = np.array([turned.ravel() for turned, _ in generators])
        angles = np.linalg.pinv(R @ R.T) @ R  # of the rotation in a change of the coordinates
        top, below = top - R.T @ angles, -np.array([drift for _, drift in generators]).T @ angles
    left = np.vstack([top, below])
    T = np.hstack([left, np.vstack([np.zeros((n * m, m)), np.eye(m)])]) if fitted else left
    whole = T @ C @ T.T
    blocks = whole[: n * m, : n * m].reshape(n, m, n, m)
    return size**2 * blocks[np.arange(n), :, np.arange(n)], whole[n * m :, n * m :]


def chi2_radius(level: float, m: int) -> float:
    """Radius of an ellipse whose covariance is known."""
    return float(np.sqrt(chi2.ppf(level, m)))
