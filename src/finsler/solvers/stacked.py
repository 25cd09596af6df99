"""Points on one spot, which is no minimum if the data hold them apart: the stress falls when they part, whichever way.

At ``x_i = x_j`` the terms of the pair have no gradient, so that descents stop there. But moving i by a small ``v`` adds
``-2 (w_ij D_ij + w_ji D_ji) ||v||`` to the stress, and at a stationary point all other terms add only squares of ``v``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from finsler.solvers.backends import passes
from finsler.solvers.problem import UniformProblem, WeightedProblem

Array = NDArray[np.floating[Any]]

CLOSE = 1e-6  # points nearer than this share of the size of the map are on one spot
SHARE = 0.1  # of what the data say two points are apart, by which they are parted first
MOST = 1000  # points parted at a time
HALVINGS = 12


def parted(
    problem: UniformProblem | WeightedProblem, X: Array, omega: Array, stress: float
) -> tuple[Array | None, int]:
    """A map of less stress in which no points are on one spot that the data hold apart; None if there are no such points.

    The second value is the number of passes.
    """
    stacked, size = _stacked(problem, X)
    if not len(stacked):
        return None, 0
    # Any directions will do; fixed ones, so that the result is always the same.
    way = np.random.default_rng(0).standard_normal((len(stacked), X.shape[1]))
    way *= size[:, None] / np.linalg.norm(way, axis=1, keepdims=True)
    way *= np.linspace(1.0, 0.5, len(way))[:, None]  # on a line there are only two directions
    for k in range(HALVINGS):
        trial = X.copy()
        trial[stacked] += way / 2**k
        if problem.evaluate(trial, omega).stress < stress:
            return trial, k + 1
    return None, HALVINGS


def _stacked(problem: UniformProblem | WeightedProblem, X: Array) -> tuple[NDArray[np.intp], Array]:
    """Points on one spot with others from which the data hold them apart, and by how much to part them."""
    none = np.empty(0, dtype=np.intp), np.empty(0)
    size = float(np.sqrt(((X - X.mean(axis=0)) ** 2).sum(axis=1).mean()))
    if len(X) < 2:
        return none
    radius = CLOSE * size
    near = np.flatnonzero(
        KDTree(X / size if size > 0 else X).query(X / size if size > 0 else X, k=2)[0][:, 1] <= CLOSE
    )
    near = near[:MOST]
    if len(near) < 2:
        return none
    there, back, w_there, w_back = _between(problem, near)
    weight = w_there + w_back
    apart = (w_there * there + w_back * back) / np.where(weight > 0, weight, 1.0)
    gaps = np.sqrt(((X[near, None] - X[None, near]) ** 2).sum(axis=2))
    # Points at no distance in the data belong on one spot.
    held = (gaps <= radius) & (apart > 2 * radius)
    np.fill_diagonal(held, False)
    some = held.any(axis=1)
    mean = (apart * held).sum(axis=1) / np.maximum(held.sum(axis=1), 1)
    return near[some], SHARE * mean[some]


def _between(
    problem: UniformProblem | WeightedProblem, points: NDArray[np.intp]
) -> tuple[Array, Array, Array, Array]:
    """Dissimilarities between some points, there and back, a bound taken for what it says, and their weights."""
    found = problem.panels.each(passes.among, points)
    parts = np.abs(np.concatenate([part for _, part in found], axis=1).astype(float))
    if isinstance(problem, UniformProblem):
        S, ones = parts[0] + parts[0].T, np.ones((len(points), len(points)))
        return S, S, ones, ones
    D, W = parts[0] + parts[1].T, parts[2] + parts[3].T
    return D, D.T, W, W.T
