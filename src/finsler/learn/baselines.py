"""What simple scores reach on the same splits, and published networks: print them beside a model's figures.

On graphs with strong hubs or a clear order the trivial scores are hard to beat. Each function here takes observed arcs only
and returns a function of ordered pairs, ``logit(pairs)``, that is higher where an arc from the first to the second node is
more likely; `finsler.learn.tasks.score_links` scores it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from finsler.errors import InputError
from finsler.graphs.arc_keys import check_arcs
from finsler.learn.heights import springrank
from finsler.learn.structure import (
    adjacency,
    feature_factors,
    log_ppr_factors,
    propagate,
    unit_rows,
)
from finsler.learn.tasks import LinkSplit, LinkTasks, score_links

Array = NDArray[Any]
Logit = Callable[[np.ndarray], np.ndarray]

# Drift of the closed form, and standard deviation of its heights where locations are unit vectors: one choice for all
# graphs, made on the validation sets of split 0 of Cora, Citeseer, Gr-QC, Chameleon and Squirrel together.
CLOSED_FORM_ALPHA, CLOSED_FORM_SPREAD = 0.99, 0.25
# Pairs whose neighborhoods are compared at a time.
PAIRS_AT_A_TIME = 8192


def springrank_logit(arcs: ArrayLike, n_nodes: int, *, ridge: float | Literal["auto"] = "auto") -> Logit:
    """Score a pair by how far it leads down the heights of SpringRank.

    Examples
    --------
    >>> logit = springrank_logit([[0, 1], [1, 2]], 3)
    >>> logit(np.array([[0, 2], [2, 0]])).round(6)
    array([ 1., -1.])
    """
    heights = springrank(arcs, n_nodes, ridge=ridge)
    return lambda pairs: heights[pairs[:, 0]] - heights[pairs[:, 1]]


def degree_logit(arcs: ArrayLike, n_nodes: int) -> Logit:
    """Score a pair by (1 + out-degree of the first) x (1 + in-degree of the second), in logarithms.

    Examples
    --------
    >>> np.exp(degree_logit([[0, 1], [0, 2]], 3)(np.array([[0, 1], [1, 0]]))).round(6)
    array([6., 1.])
    """
    known = check_arcs(arcs, n_nodes)
    leaving, arriving = (np.log1p(np.bincount(known[:, k], minlength=n_nodes)) for k in (0, 1))
    return lambda pairs: leaving[pairs[:, 0]] + arriving[pairs[:, 1]]


def neighbor_logit(
    arcs: ArrayLike, n_nodes: int, *, along: Literal["any", "path"] = "any", adamic_adar: bool = False
) -> Logit:
    """Score a pair (i, j) by the nodes k between them.

    Parameters
    ----------
    arcs : integer array-like of shape (E, 2)
    n_nodes : int
    along : {"any", "path"}
        "any": k is a neighbor of both, whichever way the arcs run, so the score is the same for (j, i).
        "path": there are arcs i -> k -> j.
    adamic_adar : bool
        Count each k with ``1 / log(its number of neighbors)`` instead of 1.

    Examples
    --------
    >>> pairs = np.array([[0, 2], [2, 0]])
    >>> neighbor_logit([[0, 1], [1, 2]], 3)(pairs), neighbor_logit([[0, 1], [1, 2]], 3, along="path")(pairs)
    (array([1., 1.]), array([1., 0.]))
    """
    if along not in ("any", "path"):
        raise InputError(f"along must be 'any' or 'path'; found {along!r}.")
    known = check_arcs(arcs, n_nodes)
    both = adjacency(known, n_nodes, "both")
    # Who lies between two nodes has two neighbors, or the same one twice: the logarithm of 1 is never wanted.
    weight = 1 / np.log(np.maximum(both.sum(axis=1), 2)) if adamic_adar else np.ones(n_nodes)
    onward = both if along == "any" else adjacency(known, n_nodes, "out")
    arrive = both if along == "any" else adjacency(known, n_nodes, "in")
    onward = sparse.csr_array(onward @ sparse.diags_array(weight))

    def logit(pairs: np.ndarray) -> np.ndarray:
        scores = np.empty(len(pairs))
        for start in range(0, len(pairs), PAIRS_AT_A_TIME):
            part = pairs[start : start + PAIRS_AT_A_TIME]
            between = onward[part[:, 0]].multiply(arrive[part[:, 1]])
            scores[start : start + len(part)] = between.sum(axis=1)
        return scores

    return logit


def closed_form_map(
    arcs: ArrayLike,
    n_nodes: int,
    features: Any = None,
    *,
    rank: int = 32,
    seed: int = 0,
    n_jobs: int | None = None,
) -> Array:
    """Canonical Randers map of a digraph without any training, in which arcs are short: location and height.

    Location: log-PPR factors (`finsler.learn.structure.log_ppr_factors`), rows of unit length; with features beside
    them these, spread over two hops, at equal weight. Height, the last axis: SpringRank, with standard deviation
    ``CLOSED_FORM_SPREAD``. Distances are meant with drift ``CLOSED_FORM_ALPHA``.

    Parameters
    ----------
    arcs : integer array-like of shape (E, 2)
    n_nodes : int
    features : array-like or scipy sparse matrix of shape (n_nodes, F), optional
    rank : int
        Dimensions of the location, and again of the features, at most.
    seed : int
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_nodes, m)

    Examples
    --------
    >>> closed_form_map([[0, 1], [1, 2], [2, 3]], 4)[:, -1].round(2)
    array([ 0.34,  0.09, -0.09, -0.34])
    """
    _, location = log_ppr_factors(arcs, n_nodes, rank, seed=seed, n_jobs=n_jobs)
    parts = [unit_rows(location)]
    if features is not None:
        words = feature_factors(features, 128, seed=seed)
        parts.append(unit_rows(propagate(words, arcs, n_nodes, 2)))
    height = springrank(arcs, n_nodes)
    height *= CLOSED_FORM_SPREAD / max(height.std(), 1e-9)  # all 0 where every pair is reciprocal
    return np.column_stack([*(part / np.sqrt(len(parts)) for part in parts), height])


def closed_form_logit(
    arcs: ArrayLike, n_nodes: int, features: Any = None, *, seed: int = 0, n_jobs: int | None = None
) -> Logit:
    """Score a pair by minus its distance in the `closed_form_map`.

    Examples
    --------
    >>> logit = closed_form_logit([[0, 1], [1, 2], [2, 3], [3, 4]], 5)
    >>> bool(logit(np.array([[0, 1]]))[0] > logit(np.array([[1, 0]]))[0])
    True
    """
    X = closed_form_map(arcs, n_nodes, features, seed=seed, n_jobs=n_jobs)

    def logit(pairs: np.ndarray) -> np.ndarray:
        step = X[pairs[:, 1]] - X[pairs[:, 0]]
        return np.asarray(-np.sqrt((step**2).sum(axis=1)) - CLOSED_FORM_ALPHA * step[:, -1])

    return logit


def run_baselines(
    split: LinkSplit,
    *,
    features: Any = None,
    on: Literal["test", "validation"] = "test",
    published: bool = False,
    seed: int = 0,
    n_jobs: int | None = None,
) -> dict[str, dict[str, float]]:
    """Score the baselines on a split.

    Parameters
    ----------
    split : LinkSplit
        Made by `finsler.learn.tasks.split_links`; only its observed arcs are used to make scores.
    features : array-like or scipy sparse matrix, optional
        Node features, for the closed form.
    on : {"test", "validation"}
        Tasks to score.
    published : bool
        Train MagNet and DiGCN as well, which needs the package torch-geometric-signed-directed.
    seed : int
    n_jobs : int, optional
        Threads, all cores by default.

    Returns
    -------
    dict
        Name of the baseline to its three scores, areas under ROC curves times 100.

    Examples
    --------
    >>> from finsler.learn.tasks import split_links
    >>> arcs = np.array([(i, j) for i in range(12) for j in range(i + 1, min(i + 5, 12))])
    >>> run_baselines(split_links(arcs))["springrank"]["direction"]
    100.0
    """
    if on not in ("test", "validation"):
        raise InputError(f"on must be 'test' or 'validation'; found {on!r}.")
    arcs, n = split.observed, split.n_nodes
    tasks: LinkTasks = getattr(split, on)
    logits = {
        "springrank": springrank_logit(arcs, n),
        "degree_product": degree_logit(arcs, n),
        "common_neighbors": neighbor_logit(arcs, n),
        "common_neighbors_path": neighbor_logit(arcs, n, along="path"),
        "adamic_adar": neighbor_logit(arcs, n, adamic_adar=True),
        "adamic_adar_path": neighbor_logit(arcs, n, along="path", adamic_adar=True),
        "closed_form": closed_form_logit(arcs, n, seed=seed, n_jobs=n_jobs),
    }
    if features is not None:
        logits["closed_form_features"] = closed_form_logit(arcs, n, features, seed=seed, n_jobs=n_jobs)
    scores = {name: score_links(tasks, logit) for name, logit in logits.items()}
    return scores
