"""What all models share: the pairs they are fitted to, how they start, and what they return.

Every model says what it takes for the dissimilarity from i to j, a number ``d_ij`` of some parameters, and is fitted to
the same ordered pairs with the same weights: least ``sum w_ij (d_ij - D_ij)^2``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from finsler._runtime import require_memory
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError
from finsler.solvers.start import random_points

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Settings:
    """What all fits of a comparison have in common."""

    n_components: int = 2
    n_init: int = 1
    max_iter: int = 1000
    tol: float = 1e-9
    random_state: Any = 0
    n_jobs: int | None = None

    def of_solver(self) -> dict[str, Any]:
        """What our solver takes, by name."""
        return {**vars(self), "verbose": False}


@dataclass(frozen=True, eq=False)
class Fit:
    """A fitted model."""

    model: str  #: Its name.
    distances: Array  #: What it takes for the dissimilarity from row to column.
    parameters: dict[str, Array]  #: What it is drawn from: coordinates, and vectors or numbers beside them.
    n_parameters: int  #: Numbers that are free, once the shifts and turns that change nothing are taken off.
    status: str  #: "converged", "max_iter" or "closed_form".
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
        rng = check_random_state(settings.random_state)
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
