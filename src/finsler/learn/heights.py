"""Heights of the nodes of a digraph, from the directions of its arcs.

References
----------
De Bacco, Larremore, Moore: A physical model for efficient ranking in networks, Science Advances 4 (2018): SpringRank.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import cg

from finsler.errors import InputError
from finsler.graphs.arc_keys import arc_keys, check_arcs
from finsler.learn.scores import roc_auc

Array = NDArray[Any]


def springrank(
    arcs: ArrayLike,
    n_nodes: int,
    *,
    weights: ArrayLike | None = None,
    ridge: float | Literal["auto"] = "auto",
) -> Array:
    """Heights of the nodes such that arcs lead one step **down**: SpringRank.

    Minimizes ``sum over arcs u -> v of w (h_u - h_v - 1)^2 + ridge * sum h_u^2``. In a Randers map whose drift points up
    the way down is cheap, so that with these heights as last coordinate d(u, v) is small where there is an arc u -> v.

    Parameters
    ----------
    arcs : integer array-like of shape (E, 2)
        From the first to the second node.
    n_nodes : int
    weights : array-like of shape (E,), optional
        Weight of each arc, not negative; 1 by default.
    ridge : float or "auto"
        Pull of each node to height 0, above 0; 1 is as strong as one arc. It keeps nodes of few arcs from extremes, but
        levels a long chain of arcs whose ends no short way joins. "auto" asks `choose_ridge`.

    Returns
    -------
    ndarray of shape (n_nodes,)

    Examples
    --------
    >>> springrank([[0, 1], [1, 2]], 3, ridge=1e-9).round(6) + 0.0
    array([ 1.,  0., -1.])
    """
    pairs = check_arcs(arcs, n_nodes)
    strength = _check_weights(weights, len(pairs))
    if isinstance(ridge, str):
        if ridge != "auto":
            raise InputError(f"ridge must be a number above 0 or 'auto'; found {ridge!r}.")
        ridge = choose_ridge(pairs, n_nodes, weights=strength)
    if not ridge > 0:
        raise InputError(f"ridge must be above 0, as heights have no zero of their own; found {ridge}.")
    heights, unfinished = _relax(pairs, n_nodes, strength, ridge, 1e-10)
    if unfinished:
        warnings.warn(
            f"SpringRank heights are not exact after {unfinished} steps of conjugate gradients; a larger ridge than "
            f"{ridge:g} is easier to solve.",
            RuntimeWarning,
            stacklevel=2,
        )
    return heights


def choose_ridge(
    arcs: ArrayLike,
    n_nodes: int,
    *,
    weights: ArrayLike | None = None,
    candidates: Sequence[float] = (1.0, 0.1, 0.01, 1e-4),
    seed: int = 0,
) -> float:
    """Choose the ridge of `springrank` that best tells the direction of arcs which it does not see.

    A tenth of the pairs is set aside and their directions are predicted. The first candidate is taken unless another
    one gains half a point of AUC on it. A graph with fewer than 100 pairs is too small to ask and gets the first.

    Parameters
    ----------
    arcs : integer array-like of shape (E, 2)
    n_nodes : int
    weights : array-like of shape (E,), optional
    candidates : sequence of float
    seed : int
        Decides what is set aside.

    Examples
    --------
    >>> chain = [[i, i + step] for i in range(300) for step in (1, 2)]
    >>> choose_ridge(chain, 302)
    0.0001
    """
    pairs = check_arcs(arcs, n_nodes)
    strength = _check_weights(weights, len(pairs))
    _, pair = np.unique(arc_keys(np.sort(pairs, axis=1), n_nodes), return_inverse=True)
    n_pairs = int(pair.max()) + 1
    if n_pairs < 100:
        return float(candidates[0])
    aside = (np.random.default_rng(seed).permutation(n_pairs) < n_pairs // 10)[pair.reshape(-1)]
    asked, rest = pairs[aside], pairs[~aside]
    scores = []
    for ridge in candidates:
        heights, _ = _relax(rest, n_nodes, strength[~aside], ridge, 1e-6)
        drop = heights[asked[:, 0]] - heights[asked[:, 1]]
        # AUC of the drops against those of the same pairs reversed; arcs both ways cancel
        scores.append(roc_auc(np.arange(2 * len(drop)) < len(drop), np.concatenate([drop, -drop])))
    best = int(np.argmax(scores))
    return float(candidates[best if scores[best] > scores[0] + 0.005 else 0])


def _check_weights(weights: ArrayLike | None, count: int) -> Array:
    strength = np.ones(count) if weights is None else np.asarray(weights, dtype=float)
    if strength.shape != (count,) or not (np.isfinite(strength) & (strength >= 0)).all():
        raise InputError(f"weights must be {count} finite numbers, none negative; one for each arc.")
    return strength


def _relax(
    pairs: NDArray[np.int64], n: int, strength: Array, ridge: float, tolerance: float
) -> tuple[Array, int]:
    """Heights at rest, and the steps made if they are not exact."""
    there = sparse.csr_array((strength, (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    springs = sparse.csr_array(there + there.T)
    stiffness = springs.sum(axis=1) + ridge
    pull: Array = there.sum(axis=1) - there.sum(axis=0)
    matrix = sparse.diags_array(stiffness, format="csr") - springs
    scaling = sparse.diags_array(1 / stiffness, format="csr")
    heights, unfinished = cg(matrix, pull, rtol=tolerance, atol=0.0, maxiter=20_000, M=scaling)
    return np.asarray(heights), int(unfinished)
