"""Two maps laid over each other, with the drift kept; and whether they agree by more than chance (PROTEST).

Motions that keep canonical Randers distances up to scale are ``x -> s x diag(R, 1) + t`` with R in O(m - 1) and s > 0: up
stays up. With both maps centered, M the cross product ``B'A`` without the last axis, ``M = U S V'``, the best ones are

    R = U V',   c = tr S + z_B.z_A,   s = max(c, 0) / |B|^2,   r = c / (|A| |B|),   residual |A|^2 (1 - r^2)

for r > 0. With a free drift R is in O(m). The test permutes the points of B (Jackson, Ecoscience 2, 1995).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments
from finsler.data.labels import LabelIndex
from finsler.embedding import Embedding
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.swirl import moved_field
from finsler.inference.results import MOST_DRAWS, Result, TestResult, seed_of

Array = NDArray[Any]
PERMUTATIONS = 999
FEWEST = 4  # points: of three, six orders are never rare
SHOWN = 5  # points that a summary names


class Motion(NamedTuple):
    """Where points go: ``scale * x @ rotation + shift``."""

    rotation: Array
    scale: float
    shift: Array
    r: float  #: Correlation of the two maps after it: 1 if they are the same.

    def __call__(self, X: Array) -> Array:
        """Move points."""
        return self.scale * X @ self.rotation + self.shift


@dataclass(frozen=True, eq=False)
class Alignment(Result):
    """A map laid over another one."""

    r: float  #: Correlation of the two: 1 if they are the same map, up to scale.
    rotation: Array  #: Of the second map, ``x -> scale * x @ rotation + shift``.
    scale: float
    shift: Array
    image: Array  #: The second map, moved onto the first.
    target: Array  #: The first map.
    drift: str  #: "kept" or "free".
    angle: float  #: Between the two drifts after the motion, in degrees.
    alphas: tuple[float, float] | None  #: Of the two maps, which a motion does not change.
    labels: list[Any]  #: Points on both maps, whose rows the arrays hold.
    n_only: tuple[int, int]  #: Points on one of the maps only.
    test: TestResult | None = field(default=None, repr=False)

    @property
    def p_value(self) -> float | None:
        """How likely a map with its points exchanged agrees as well."""
        return None if self.test is None else self.test.p_value

    @property
    def moves(self) -> Array:
        """How far each point is from its place on the first map."""
        return np.linalg.norm(self.image - self.target, axis=1)

    def summary(self) -> str:
        """Say in a few lines how well the maps agree."""
        only = sum(self.n_only)
        left = f" ({only} on one map only)" if only else ""
        lines = [
            f"{len(self.labels)} points on both maps{left}, drift {self.drift}: r = {self.r:.4g} (1 is the same map)"
        ]
        if self.test is not None:
            lines.append(f"  {self.test}")
        lines.append(f"  second map times {self.scale:.4g}")
        if self.alphas is not None:
            lines.append(f"  alpha {self.alphas[0]:.4g} and {self.alphas[1]:.4g}")
        if self.drift == "free" and len(self.rotation) > 1 and min(self.alphas or (1.0, 1.0)) > 0:
            lines.append(f"  the drifts are {self.angle:.3g} degrees apart")
        order = np.argsort(-self.moves, kind="stable")[:SHOWN]
        lines.append(
            "  farthest apart: " + ", ".join(f"{self.labels[i]} ({self.moves[i]:.3g})" for i in order)
        )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Give the result as plain Python data."""
        return {**super().to_dict(), "p_value": self.p_value, "moves": self.moves.tolist()}

    def plot(self, *, ax: Any = None) -> Any:
        """Draw both maps, with an arrow from the first place of each point to the second."""
        from finsler.plotting.inference import plot_alignment

        return plot_alignment(self, ax=ax)


def best_motion(A: Array, B: Array, *, free: bool = False, scaled: bool = True) -> Motion:
    """Motion that brings B nearest to A: of the last axis only along itself, unless it is free."""
    mean_a, mean_b = A.mean(axis=0), B.mean(axis=0)
    a, b, m = A - mean_a, B - mean_b, A.shape[1]
    rotation, turned = np.eye(m), m if free else m - 1
    U, S, V = np.linalg.svd(b[:, :turned].T @ a[:, :turned])
    rotation[:turned, :turned] = U @ V
    c = float(S.sum() + (b[:, turned:] * a[:, turned:]).sum())
    sizes = float(np.linalg.norm(a) * np.linalg.norm(b))
    scale = max(c, 0.0) / float((b**2).sum()) if scaled and sizes > 0 else 1.0
    return Motion(rotation, scale, mean_a - scale * mean_b @ rotation, c / sizes if sizes > 0 else 0.0)


def procrustes(A: ArrayLike, B: ArrayLike, *, drift: str = "kept") -> Alignment:
    """Lay the points B over the points A, row by row.

    Parameters
    ----------
    A, B : array-like of shape (n, m)
        Coordinates of the same points, the last column being the height.
    drift : {"kept", "free"}
        Turn B about the height only, which keeps Randers distances, or any way, which tells how the drifts differ.

    Returns
    -------
    Alignment
        Its ``image`` are the points B on the map A.

    Examples
    --------
    >>> A = np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.0]])
    >>> found = procrustes(A, 2 * A * [-1, 1] + 5)
    >>> round(found.r, 6), round(found.scale, 6)
    (1.0, 0.5)
    """
    check_arguments(procrustes, locals())
    first, second = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    if first.ndim != 2 or first.shape != second.shape or len(first) < 2:
        raise InputError(
            f"A and B must hold the same points, at least two, a row each; got {first.shape}, {second.shape}."
        )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise InputError("A and B must be finite.")
    check_choice("drift", drift, ("kept", "free"))
    return _aligned(first, second, drift, list(range(len(first))), None, (0, 0))


def _aligned(
    A: Array,
    B: Array,
    drift: str,
    labels: list[Any],
    alphas: tuple[float, float] | None,
    only: tuple[int, int],
) -> Alignment:
    motion = best_motion(A, B, free=drift == "free")
    angle = float(np.degrees(np.arccos(np.clip(motion.rotation[-1, -1], -1.0, 1.0))))
    return Alignment(
        r=motion.r, rotation=motion.rotation, scale=motion.scale, shift=motion.shift, image=motion(B), target=A,
        drift=drift, angle=angle, alphas=alphas, labels=labels, n_only=only,
    )  # fmt: skip


def compare_maps(
    a: Embedding,
    b: Embedding,
    *,
    drift: str = "auto",
    n_permutations: int = PERMUTATIONS,
    random_state: int | None = 0,
) -> Alignment:
    """Compare two maps of the same points, matched by their labels: lay one over the other, and test the agreement.

    Parameters
    ----------
    a, b : Embedding
        Maps of the same dimension. Points that are on one of them only are left out, and counted.
    drift : {"auto", "kept", "free"}
        Turn about the height only ("kept"), so that up stays up, or any way ("free"). "auto" keeps it if both have one.
    n_permutations : int
        Random exchanges of points of the test; 0 leaves the test out.
    random_state : int, optional
        Seed of these. None draws one and tells it.

    Returns
    -------
    Alignment

    Examples
    --------
    >>> import finsler
    >>> hours = finsler.load_flight_hours().hours
    >>> first, second, back = (finsler.embed_matrix(D) for D in (hours, hours**1.1, hours.T))
    >>> compare_maps(first, second).p_value
    0.001
    >>> compare_maps(first, back).r < 0.1  # upside down is another map, if up costs more
    True
    """
    check_arguments(compare_maps, locals())
    check_choice("drift", drift, ("auto", "kept", "free"))
    check_count("n_permutations", n_permutations, 0, MOST_DRAWS)
    seed = seed_of(random_state)
    first, second, labels = common_points(a, b)
    only = (a.n_points - len(first), b.n_points - len(first))
    upright = all(each.alpha > 0 and each.has_height for each in (a, b))
    how = ("kept" if upright else "free") if drift == "auto" else drift
    A, B = a.coordinates[first], b.coordinates[second]
    found = _aligned(A, B, how, labels, (a.alpha, b.alpha), only)
    if not n_permutations:
        return found
    if len(A) < FEWEST:
        raise InputError(
            f"A test needs at least {FEWEST} points on both maps, got {len(A)}; n_permutations=0 leaves it."
        )
    return replace(found, test=protest(A, B, how, n_permutations, seed))


def protest(A: Array, B: Array, drift: str, n_permutations: int, seed: int) -> TestResult:
    """Test whether two maps agree by more than maps with exchanged points (PROTEST)."""
    a, b = A - A.mean(axis=0), B - B.mean(axis=0)
    size = float(np.linalg.norm(a) * np.linalg.norm(b))
    if size == 0:
        raise InputError("All points of one of the maps are on one spot: there is no agreement to test.")
    turned = a.shape[1] - (drift == "kept")
    rng = np.random.default_rng(seed)
    orders = np.array([np.arange(len(a)), *(rng.permutation(len(a)) for _ in range(n_permutations))])
    M = np.einsum("bik,il->bkl", b[orders], a)  # of the data itself first, by the same code
    c = np.linalg.svd(M[:, :turned, :turned], compute_uv=False).sum(axis=1) if turned else np.zeros(len(M))
    c = c + (M[:, -1, -1] if drift == "kept" else 0.0)
    r = c / size
    p = (1 + int((r[1:] >= r[0] - 1e-12).sum())) / (n_permutations + 1)
    words = ("more than maps with exchanged points", "no more than maps with exchanged points")
    return TestResult(
        "agreement r", float(r[0]), p, r[1:], float(r[1:].mean()), n_permutations, seed, words, "number"
    )


def common_points(a: Embedding, b: Embedding) -> tuple[NDArray[np.intp], NDArray[np.intp], list[Any]]:
    """Rows of the points that two maps share, in the order of the first, and their labels."""
    if a.n_components != b.n_components:
        raise InputError(
            f"Maps in {a.n_components} and {b.n_components} dimensions cannot be laid over each other: give both the same."
        )
    if (a.labels is None or b.labels is None) and a.n_points != b.n_points:
        raise InputError(
            f"Maps of {a.n_points} and {b.n_points} points need labels, so that points can be matched."
        )
    if a.labels is None or b.labels is None:
        rows = np.arange(a.n_points)
        return rows, rows, a.labels or b.labels or rows.tolist()
    there = LabelIndex(b.labels, b.n_points)
    found = [(i, k, label) for i, label in enumerate(a.labels) if (k := there.find(label)) is not None]
    if len(found) < 2:
        raise InputError(
            f"The maps share {len(found)} of their points; labels such as {a.labels[0]!r} must be on both."
        )
    first, second, labels = zip(*found, strict=True)
    return np.array(first), np.array(second), list(labels)


def aligned_to(embedding: Embedding, like: Embedding) -> Embedding:
    """The map, moved to lie over another one as well as can be without changing any of its distances.

    It is turned about its height, or any way if it has no drift or one that turns, mirrored and shifted, but not scaled.
    """
    first, second, _ = common_points(like, embedding)
    free = embedding.alpha == 0 or embedding.swirl is not None
    motion = best_motion(like.coordinates[first], embedding.coordinates[second], free=free, scaled=False)
    moved = replace(embedding, coordinates=motion(embedding.coordinates))
    if embedding.swirl is None:
        return moved
    drift, swirl = moved_field(embedding.drift, embedding.swirl, motion.rotation, motion.shift)
    return replace(moved, drift=drift, swirl=swirl)


def aligned_series(maps: Sequence[Embedding]) -> list[Embedding]:
    """Each map moved to lie over the one before."""
    found = list(maps[:1])
    for following in maps[1:]:
        found.append(aligned_to(following, found[-1]))
    return found
