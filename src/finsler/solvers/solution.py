"""What every solver returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Solution:
    """Result of a solver.

    Attributes
    ----------
    coordinates : ndarray of shape (n, m)
        The map, centered; its last axis is the one along which going up costs more.
    drift : ndarray of shape (m,)
        ``(0, ..., 0, alpha)``.
    stress : float
        Weighted sum of squared errors over ordered pairs, computed anew from ``coordinates``.
    history : ndarray
        Stress at the start and after each iteration; it never rises.
    n_iter : int
        Iterations of the run that was kept.
    n_passes : int
        Passes over the pairs, over all runs: what the computation cost.
    status : {"converged", "max_iter", "time_limit", "stopped", "interrupted", "closed_form"}
        How it ended; "stopped" by a callback, "interrupted" by Ctrl-C.
    message : str
        The same in words.
    seconds : float
        Wall-clock time.
    alpha_identifiable : bool or None
        Whether the data determine alpha; None if alpha was given.
    note : str
        What else the user should know, in words.
    total : float or None
        Weighted sum of squared dissimilarities, where the solver saw only some of the pairs.
    per_point : ndarray of shape (n,) or None
        Share of each point in the stress, likewise.
    """

    coordinates: Array
    drift: Array
    stress: float
    history: Array
    n_iter: int
    n_passes: int
    status: str
    message: str
    seconds: float
    alpha_identifiable: bool | None = None
    note: str = ""
    total: float | None = None
    per_point: Array | None = None

    @property
    def alpha(self) -> float:
        """Norm of the drift."""
        return float(np.linalg.norm(self.drift))


@dataclass(frozen=True, eq=False)
class Iteration:
    """What a callback is given after each iteration; a callback that returns True stops the solver.

    Attributes
    ----------
    n_iter : int
        Iterations so far.
    stress : float
        Stress of the map.
    coordinates : ndarray of shape (n, m)
        The map so far, a copy.
    drift : ndarray of shape (m,)
        Its drift, which need not point along the last axis before the end.
    seconds : float
        Wall-clock time so far.
    """

    n_iter: int
    stress: float
    coordinates: Array
    drift: Array
    seconds: float
