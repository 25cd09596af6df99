"""What all models share; models that are one map; and models in two steps: a symmetric map, and the skew part beside it.

Every model says what it takes for the dissimilarity from i to j, a number ``d_ij`` of some parameters, and is fitted to
the same ordered pairs with the same weights: least ``sum w_ij (d_ij - D_ij)^2``. `Observations` are the pairs, `Settings`
what the fits have in common, and `Fit` what they return.

With ``e_ij = ||x_j - x_i||`` of the map from :func:`~finsler.models.symmetric.symmetric_mds` the models in two steps take
``d_ij = e_ij + a_ij`` with a skew term ``a_ij = -a_ji``. For pairs of equal weight both ways the two steps do not disturb
each other: the stress is that of the map plus ``sum w (a_ij - A_ij)^2`` with ``A = (D - D') / 2``. In general ``a`` is
fitted to what the map leaves over, see :meth:`~finsler.models.symmetric.Observations.skew_targets`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse import coo_array
from scipy.sparse.linalg import eigsh

from finsler._arguments import as_random_state
from finsler._memory import require_memory
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError
from finsler.geometry.components import matrix_components
from finsler.geometry.randers import randers_distances
from finsler.graphs.paths import shortest_paths
from finsler.solvers.smacof import smacof
from finsler.solvers.start import DoublyCentered, random_points

Array = NDArray[np.floating[Any]]

ITERATED_FROM = 300  # points from which planes are found by iteration
BIMENSION_ITERATIONS = 1000  # where pairs weigh differently
BIMENSION_TOLERANCE = 1e-10  # of the total square


@dataclass(frozen=True)
class Settings:
    """What all fits of a comparison have in common."""

    n_components: int = 2
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-9
    random_state: Any = 0
    n_jobs: int | None = None
    deadline: float = math.inf  #: Of the clock `time.perf_counter`.

    def seconds_left(self) -> float:
        """Time until the deadline."""
        return self.deadline - time.perf_counter()

    def of_solver(self) -> dict[str, Any]:
        """What our solver takes, by name."""
        options = {**vars(self), "verbose": False}
        if math.isfinite(options.pop("deadline")):
            options["time_limit"] = max(self.seconds_left(), 1e-3)  # the solver wants a positive number
        return options


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model."""

    distances: Array  #: What it takes for the dissimilarity from row to column.
    parameters: dict[str, Array]  #: What it is drawn from: coordinates, and vectors or numbers beside them.
    n_parameters: int  #: Numbers that are free, once the shifts and turns that change nothing are taken off.
    status: str  #: "converged", "max_iter", "time_limit" or "closed_form".
    symmetric: bool = False  #: Whether the model is symmetric by its form.


@dataclass(frozen=True, eq=False)
class Observations:
    """Dissimilarities and weights of ordered pairs as full matrices; unknown pairs are 0 in both."""

    D: Array
    W: Array
    data: Dissimilarities = field(repr=False)

    @classmethod
    def of(cls, data: Dissimilarities) -> Observations:
        """Read checked data; bounds ("at least so far") are refused, for the older models know none."""
        n = data.n_points
        require_memory(
            12 * 8.0 * n * n, f"Comparing models of {n} points", "Compare them on a part of the points."
        )
        W = np.ones((n, n)) if data.weights is None else data.weights.astype(float)
        np.fill_diagonal(W, 0.0)
        W /= W.max(initial=0.0) or 1.0  # weights of any magnitude give the same models
        D = np.where(W > 0, data.matrix, 0.0)
        if (D < 0).any():
            i, j = (int(k) for k in np.argwhere(D < 0)[0])
            raise InputError(
                f"From {data.name(i)} to {data.name(j)} there is only a bound, at least {-D[i, j]:g} (missing='hinge'), "
                "which the older models do not know. Use missing='mask' to leave such pairs out."
            )
        return cls(D, W, data)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return len(self.D)

    @property
    def both_ways(self) -> NDArray[np.bool_]:
        """Which pairs are known both ways."""
        return (self.W > 0) & (self.W.T > 0)

    def stress(self, distances: Array) -> float:
        """``sum w (d - D)^2`` over ordered pairs."""
        return float(np.sum(self.W * (distances - self.D) ** 2))

    def normalized_stress(self, distances: Array) -> float:
        """``sqrt(sum w (d - D)^2 / sum w D^2)``."""
        total = float(np.sum(self.W * self.D**2))
        return float(np.sqrt(self.stress(distances) / total)) if total > 0 else 0.0

    def skew_targets(self, E: Array) -> tuple[Array, Array]:
        """What is left for a skew term ``a_ij = -a_ji`` beside symmetric distances ``E``.

        The terms of a pair are ``w_ij (E + a - D_ij)^2 + w_ji (E - a - D_ji)^2``: up to a constant ``k (a - t)^2`` with
        ``k = w_ij + w_ji`` and ``t = (w_ij (D_ij - E) - w_ji (D_ji - E)) / k``. With equal weights t is the skew part of D.
        Returned are t, which is 0 where k is, and k.
        """
        pull = self.W * (self.D - E)
        k = self.W + self.W.T
        return np.divide(pull - pull.T, k, out=np.zeros_like(k), where=k > 0), k

    def random_maps(self, settings: Settings) -> Iterator[Array]:
        """Further starts beside the first one, the same for every model."""
        rng = as_random_state(settings.random_state)
        for _ in range(settings.n_init - 1):
            yield random_points(self.data, settings.n_components, rng)


def unless_interrupted(status: str) -> str:
    """Let Ctrl-C end the whole comparison: our solver would only end its own run."""
    if status == "interrupted":
        raise KeyboardInterrupt
    return status


def differences(X: Array) -> tuple[Array, Array]:
    """Vectors ``x_j - x_i`` of shape (m, n, n), and their lengths."""
    U = X.T[:, None, :] - X.T[:, :, None]
    return U, np.sqrt(np.einsum("kij,kij->ij", U, U))


def directions(X: Array) -> tuple[Array, Array]:
    """Unit vectors from i to j of shape (m, n, n), 0 where points coincide, and the distances."""
    U, E = differences(X)
    return U / np.where(E > 0, E, 1.0), E


def free_coordinates(n: int, m: int) -> int:
    """Numbers in a map of n points whose shifts and turns do not count: ``n m - m (m + 1) / 2``.

    Fewer than m + 1 points do not fill the space; they have as many as there are pairs.
    """
    m = min(m, n - 1)
    return n * m - m * (m + 1) // 2


# Models in two steps.


def drift_vectors(observed: Observations, settings: Settings, base: Fit, *, fitted: bool = False) -> Fit:
    """Arrows at the points of the map (Borg and Groenen 2005, chapter 23; ``driftVectors`` in R's smacof).

    With ``b_ij`` the unit vector from point i to point j, each pair pulls at both of its ends with ``A_ij b_ij``, and the
    arrow of a point is the mean of its pulls: ``v_i = mean over j of A_ij b_ij``. It points where the ways out are costly
    (R's arrows point the other way). The book draws the arrows and stops there. As both ends of a pair speak of the same
    ``A_ij``, we read them back as ::

        d_ij = e_ij + s (v_i + v_j) . b_ij / 2

    with one number s by least squares. With ``fitted=True`` the arrows themselves are those of least squares (s = 1),
    which is the most that such a picture can tell.

    A field of arrows can turn round, so this model shows asymmetry that runs in circles.
    """
    X = base.parameters["coordinates"]
    B, E = directions(X)
    t, k = observed.skew_targets(E)
    if fitted:
        V = _arrows_of_least_squares(B, t, k)
        a = _along(V, B)
    else:
        degree = k.sum(axis=1)
        V = np.einsum("kij,ij->ik", B, k * t) / np.where(degree > 0, degree, 1.0)[:, None]
        a = _along(V, B)
        square = float(np.sum(k * a * a))
        s = float(np.sum(k * a * t)) / square if square > 0 else 0.0
        V, a = s * V, s * a
    return Fit(E + a, {"coordinates": X, "arrows": V}, base.n_parameters + V.size, base.status)


def _along(V: Array, B: Array) -> Array:
    """``(v_i + v_j) . b_ij / 2``."""
    out = np.einsum("ik,kij->ij", V, B)
    return (out - out.T) / 2  # b_ji = -b_ij


def _arrows_of_least_squares(B: Array, t: Array, k: Array) -> Array:
    """Arrows with the least ``sum k (a - t)^2``; of several such, the shortest."""
    m, n = B.shape[:2]
    require_memory(
        3 * 8.0 * (n * m) ** 2, f"Equations for {n} arrows", "Compare them on a part of the points."
    )
    # a_ij = (v_i + v_j) . b_ij / 2 over unordered pairs; off the diagonal each block comes from one pair.
    blocks = np.einsum("aij,ij,bij->iajb", B, k / 4, B, optimize=True)
    own = np.einsum("iajb->iab", blocks)
    blocks[np.arange(n), :, np.arange(n), :] += own
    pulls = np.einsum("aij,ij->ia", B, k * t / 2)
    values, vectors = eigh(blocks.reshape(n * m, n * m))
    large = values > 1e-10 * max(values[-1], np.finfo(float).tiny)
    Q = vectors[:, large]
    return np.asarray(Q @ ((Q.T @ pulls.ravel()) / values[large])).reshape(n, m)


def gower(observed: Observations, settings: Settings, base: Fit) -> Fit:
    """Gower's decomposition of the skew part into bimensions, beside a map of the symmetric part.

    A skew matrix is a sum of planes, ``A_ij = sum over r of (p_ir q_jr - q_ir p_jr)``, whose shares are its pairs of equal
    singular values (Gower 1977; Constantine and Gower 1978). The largest are kept, m // 2 of them but at least one, so
    that the diagram of the skew part has about as many axes as the map::

        d_ij = e_ij + sum over r of (p_ir q_jr - q_ir p_jr)

    In such a plane ``a_ij`` is twice the area of the triangle of i, j and the origin. The plane shares no axis with the
    map: it is a second diagram, drawn beside it.

    Where pairs weigh differently or are missing, the nearest matrix of that rank is found by filling in from the last
    one (majorization, Kiers 1997).
    """
    X = base.parameters["coordinates"]
    n = len(X)
    E = base.distances
    n_planes = planes_of(settings.n_components, n)
    P, Q, status = bimensions(*observed.skew_targets(E), n_planes, settings.deadline)
    rank = 2 * n_planes
    return Fit(
        E + (P @ Q.T - Q @ P.T),
        {"coordinates": X, "p": P, "q": Q},
        # A skew matrix of that rank is a subspace and a skew form on it.
        base.n_parameters + rank * (n - rank) + rank * (rank - 1) // 2,
        base.status if status == "converged" else status,
    )


def planes_of(n_components: int, n_points: int) -> int:
    """Planes that Gower's decomposition keeps beside a map."""
    return min(max(n_components // 2, 1), n_points // 2)


def bimensions(t: Array, k: Array, n_planes: int = 1, deadline: float = math.inf) -> tuple[Array, Array, str]:
    """Skew matrix of rank ``2 n_planes`` with the least ``sum k (a - t)^2``, as ``a = P Q' - Q P'``.

    ``t`` are skew targets, ``k`` symmetric weights; returned are P and Q, of shape (n, n_planes), and the status.
    Filling in ends at the ``deadline``, of `time.perf_counter`, with what it has found.
    """
    off = ~np.eye(len(t), dtype=bool)
    most = float(k.max(initial=0.0)) or 1.0
    share = np.where(off, k / most, 1.0)  # the diagonal of a skew matrix is 0 anyway
    P, Q = _planes(t * (share > 0), n_planes)
    if (share == 1).all():
        return P, Q, "converged"
    total = float(np.sum(share * t * t))
    a = P @ Q.T - Q @ P.T
    loss = float(np.sum(share * (a - t) ** 2))
    for _ in range(BIMENSION_ITERATIONS):
        P, Q = _planes(a + share * (t - a), n_planes)
        a = P @ Q.T - Q @ P.T
        before, loss = loss, float(np.sum(share * (a - t) ** 2))
        if before - loss <= BIMENSION_TOLERANCE * total:
            return P, Q, "converged"
        if time.perf_counter() >= deadline:
            return P, Q, "time_limit"
    return P, Q, "max_iter"


def _planes(T: Array, n_planes: int) -> tuple[Array, Array]:
    """Largest planes of a skew matrix.

    ``i T`` is Hermitian with eigenvalues in pairs s, -s and vectors a + i b, a - i b: ``T = sum 2 s (b a' - a b')``. Unlike
    a singular value decomposition cut off between equal values, this stays skew.
    """
    n = len(T)
    if n > ITERATED_FROM:  # a few planes of many by Lanczos steps, from a start that is always the same
        start = np.random.default_rng(0).normal(size=n) + 0j
        values, vectors = eigsh(1j * T, k=n_planes, which="LA", v0=start)
        order = np.argsort(values)
        values, vectors = values[order], vectors[:, order]
    else:
        values, vectors = eigh(1j * T, subset_by_index=(n - n_planes, n - 1))
    scale = np.sqrt(2 * np.maximum(values[::-1], 0.0))
    vectors = vectors[:, ::-1]
    return vectors.imag * scale, vectors.real * scale


# Models that are one map: scaling of the symmetrized data, Isomap on it, and our own, with a drift.


def symmetric_mds(observed: Observations, settings: Settings) -> Fit:
    """Ordinary metric scaling: ``d_ij = ||x_j - x_i||``.

    With equal weights both ways this is scaling of ``(D_ij + D_ji) / 2``. Fitted by majorization (de Leeuw 1977), with our
    solver at alpha = 0.
    """
    solution = smacof(observed.data, alpha=0.0, **settings.of_solver())
    return _symmetric(solution.coordinates, unless_interrupted(solution.status))


def symmetric_isomap(observed: Observations, settings: Settings, n_neighbors: int = 10) -> Fit:
    """Isomap on the symmetrized data: classical scaling of shortest paths through near neighbors.

    Each point is joined to its ``n_neighbors`` nearest ones in the mean of the two directions (the one that is known, if
    only one is); more of them, if that leaves the points in several pieces. Isomap (Tenenbaum, de Silva and Langford
    2000) fits inner products, not the stress, and is there because it is what users often reach for.
    """
    n = observed.n_points
    # Weighted mean of the two directions; inf where neither is known, 0 on the diagonal.
    pull, k = observed.W * observed.D, observed.W + observed.W.T
    S = np.divide(pull + pull.T, k, out=np.full((n, n), np.inf), where=k > 0)
    np.fill_diagonal(S, 0.0)
    order = np.argsort(S, axis=1, kind="stable")
    for many in range(min(n_neighbors, n - 1), n):
        joined = np.zeros((n, n), dtype=bool)
        np.put_along_axis(joined, order[:, : many + 1], True, axis=1)
        joined |= joined.T
        joined &= np.isfinite(S)
        np.fill_diagonal(joined, False)
        if not matrix_components(joined).any():
            break
    arcs = coo_array((S[joined], np.nonzero(joined)), shape=(n, n))  # a stored zero is an arc
    G = shortest_paths(arcs, n_jobs=settings.n_jobs, verbose=False)
    X = DoublyCentered.of(G, settings.n_jobs).leading(settings.n_components)
    return _symmetric(X, "closed_form")


def _symmetric(X: Array, status: str) -> Fit:
    return Fit(differences(X)[1], {"coordinates": X}, free_coordinates(*X.shape), status, symmetric=True)


def randers_map(observed: Observations, settings: Settings, base: Fit, swirl: bool | str = False) -> Fit:
    """``d_ij = ||x_j - x_i|| + alpha (x_j - x_i)[last]``, with alpha fitted; or with a drift that turns.

    From the same starts as the other models: the map of the symmetric part, and random ones. (`FinslerMDS` starts from
    its closed form instead.)
    """
    start = base.parameters["coordinates"]
    solution = smacof(observed.data, alpha="auto", swirl=swirl, init=start, **settings.of_solver())
    X, drift, K = solution.coordinates, solution.drift, solution.swirl
    m = X.shape[1]
    # alpha, and turns that move the drift count; and the numbers of a swirl
    n_parameters = free_coordinates(*X.shape) + m + (m * (m - 1) // 2 if swirl else 0)
    parts = {"coordinates": X, "drift": drift, **({} if K is None else {"swirl": K})}
    status = unless_interrupted(solution.status)
    d = randers_distances(X, drift=drift, swirl=K, geodesic=solution.geodesic)
    return Fit(d, parts, n_parameters, status)
