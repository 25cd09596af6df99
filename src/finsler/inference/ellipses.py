"""How sure are the places of points, alpha and the direction of the drift? In closed form, without refits.

J is the Jacobian of the distances ``d_ij = |u| + omega.u``, ``u = x_j - x_i``, by the coordinates (``u/|u| + omega`` at j,
minus that at i) and by the drift (u). With ``H = sum w J'J`` over ordered pairs, residuals ``r = D - d``, leverages
``l = w J H+ J'`` and scores ``s = w J' r / (1 - l)`` summed over the two directions of a pair, the covariance is

    C = H+ (sum over pairs s s') H+

(HC3, clustered: errors may grow with distance, and those of the two directions may be alike). The pseudo-inverse leaves
out translations and rotations. Of the points, rotations of the map are taken out: at a small alpha the axis is uncertain,
and in a fixed frame that would make every point look uncertain. The drift is given in the frame that this leaves.

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
SHOWN = 5  # points that a summary names


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
            f"{np.median(longest):.3g}, {100 * share:.2g} % of the radius of the map"
        ]
        if self.alpha_se is not None:
            lines.append(f"  alpha = {self.embedding.alpha:.4g} ± {self.alpha_se:.2g} (standard error)")
        if self.tilt_se is not None:
            lines.append(f"  direction of the drift: ± {self.tilt_se:.3g} degrees")
        order = np.argsort(-longest, kind="stable")[:SHOWN]
        lines.append("  least sure: " + ", ".join(f"{names[i]} ({longest[i]:.3g})" for i in order))
        return "\n".join(lines)

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
        C = _covariance(residuals, embedding.drift, fitted)
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
            f"confidence() is for scaling='ratio': disparities ({embedding.scaling}) are fitted along with the map, and "
            "ellipses that do not know it would be too small. Give bootstrap() replicates."
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


def _covariance(of: Residuals, omega: Array, fitted: bool) -> Array:
    """Covariance of coordinates, point by point, and of the drift if it is fitted."""
    n, m = of.u.shape[:2][0], len(omega)
    gg = np.einsum("ij,ijk,ijl->ijkl", of.w, of.g, of.g)
    H = _from_blocks(gg + gg.transpose(1, 0, 2, 3))
    if fitted:
        gu = np.einsum("ij,ijk,ijl->ijkl", of.w, of.g, of.u)
        cross = gu.sum(axis=0) - gu.sum(axis=1)  # at j, minus at i
        corner = np.einsum("ij,ijk,ijl->kl", of.w, of.u, of.u)
        H = np.block([[H, cross.reshape(n * m, m)], [cross.reshape(n * m, m).T, corner]])
    G = _pseudo_inverse(H)
    r = of.r / np.maximum(1 - of.w * _forms(G, of.g, of.u, fitted), LEAST_FREE)
    s = (of.w * r)[:, :, None] * of.g
    s = s - s.transpose(1, 0, 2)  # at j, of both directions; at i it is minus that
    ss = np.einsum("ijk,ijl->ijkl", s, s)
    meat = _from_blocks(ss)
    if fitted:
        t = (of.w * r)[:, :, None] * of.u
        t = t + t.transpose(1, 0, 2)
        cross = np.einsum("ijk,ijl->jkl", s, t)
        corner = np.einsum("ijk,ijl->kl", t, t) / 2
        meat = np.block([[meat, cross.reshape(n * m, m)], [cross.reshape(n * m, m).T, corner]])
    return G @ meat @ G


def _from_blocks(blocks: Array) -> Array:
    """Matrix of ``sum over i < j of B_ij (e_j - e_i)(e_j - e_i)'``, where B_ij = B_ji are m x m."""
    n, m = blocks.shape[0], blocks.shape[2]
    out = -blocks
    out[np.arange(n), np.arange(n)] = 0.0
    out[np.arange(n), np.arange(n)] = -out.sum(axis=1)
    return out.transpose(0, 2, 1, 3).reshape(n * m, n * m)


def _pseudo_inverse(H: Array) -> Array:
    values, vectors = np.linalg.eigh(H)
    kept = values > NULL * values[-1]
    return (vectors[:, kept] / values[kept]) @ vectors[:, kept].T


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
