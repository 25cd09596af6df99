"""What simple scores reach on the same splits: print them beside a model's figures.

On graphs with strong hubs or a clear order the trivial scores are hard to beat. Each is made from observed arcs only, and
is a function of ordered pairs, ``logit(pairs)``, that is higher where an arc from the first to the second node is more
likely; `finsler.learn.tasks.score_links` scores it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from finsler._arguments import check_arguments
from finsler.data.labels import LabelIndex
from finsler.errors import check_choice
from finsler.graphs.arc_set import ArcSet, Integers, check_arcs
from finsler.learn.features import (
    adjacency,
    choose_ridge,
    feature_factors,
    log_ppr_factors,
    neighbor_average,
    node_features,
    spring_heights,
    unit_rows,
)
from finsler.learn.neighbors import rarity, shared
from finsler.learn.tasks import LinkSplit, score_links

Array = NDArray[Any]
Logit = Callable[[np.ndarray], np.ndarray]

# Drift of the closed form, and standard deviation of its heights where locations are unit vectors: one choice for all
# graphs, made on the validation sets of split 0 of Cora, Citeseer, Gr-QC, Chameleon and Squirrel together.
CLOSED_FORM_ALPHA, CLOSED_FORM_SPREAD = 0.99, 0.25
CLOSED_FORM_RANK = 32  # dimensions of its location


def run_baselines(
    split: LinkSplit,
    *,
    features: Any = None,
    on: Literal["test", "validation"] = "test",
    random_state: int = 0,
    n_jobs: int | None = None,
) -> dict[str, dict[str, float]]:
    """Score the baselines on a split.

    Parameters
    ----------
    split : LinkSplit
        Made by `split_links`; only its observed arcs are used to make scores.
    features : array-like or scipy sparse matrix, optional
        Node features, for the closed form.
    on : {"test", "validation"}
        Tasks to score.
    random_state : int
        Of the closed form.
    n_jobs : int, optional
        Threads, all cores by default.

    Returns
    -------
    dict
        Name of the baseline, as in `baseline_logits`, to its three scores, areas under ROC curves times 100.

    Examples
    --------
    >>> from finsler.learn import split_links
    >>> arcs = np.array([(i, j) for i in range(12) for j in range(i + 1, min(i + 5, 12))])
    >>> run_baselines(split_links(arcs))["springrank"]["direction"]
    100.0
    """
    check_arguments(run_baselines, locals())
    check_choice("on", on, ("test", "validation"))
    how: Any = {"random_state": random_state, "n_jobs": n_jobs}
    logits = baseline_logits(split.observed, split.n_nodes, features, **how)
    return {name: score_links(getattr(split, on), logit) for name, logit in logits.items()}


def baseline_logits(
    arcs: ArrayLike,
    n_nodes: int,
    features: Any = None,
    *,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> dict[str, Logit]:
    """Scores of pairs that need no training, from the arcs that may be seen: functions of ordered pairs, shape (P, 2).

    "springrank": how far a pair leads down the heights of SpringRank; "degree_product": (1 + out-degree of the first) x
    (1 + in-degree of the second), in logarithms; "common_neighbors" and "adamic_adar": of both ends or, with "_path", on
    the way from the first to the second; "adamic_adar_reverse": the last one, and 5 if the reverse arc is there;
    "closed_form" and, with features, "closed_form_features": minus the distance in a Randers map that needs no training, of
    log-PPR factors, features and SpringRank heights.

    Examples
    --------
    >>> logits = baseline_logits([[0, 1], [1, 2]], 3)
    >>> logits["springrank"](np.array([[0, 2], [2, 0]])).round(6)
    array([ 1., -1.])
    """
    check_arguments(baseline_logits, locals())
    known, n = check_arcs(arcs, n_nodes), n_nodes
    values = node_features(features, LabelIndex(None, n, "node"))
    heights = spring_heights(known, n, choose_ridge(known, n))
    logits = trivial_logits(known, n, heights)
    maps = closed_form_maps(known, n, values, heights, random_state=random_state, n_jobs=n_jobs)
    return logits | {name: _minus_distance(X) for name, X in maps.items()}


def trivial_logits(known: Integers, n: int, heights: Array) -> dict[str, Logit]:
    """The scores of `baseline_logits` that are no maps, from checked arcs and the heights of SpringRank."""
    leaving, arriving = (np.log1p(np.bincount(known[:, k], minlength=n)) for k in (0, 1))
    observed, on_the_way = ArcSet(known, n), neighbor_logit(known, n, along="path", adamic_adar=True)
    return {
        "springrank": lambda pairs: heights[pairs[:, 0]] - heights[pairs[:, 1]],
        "degree_product": lambda pairs: leaving[pairs[:, 0]] + arriving[pairs[:, 1]],
        "common_neighbors": neighbor_logit(known, n),
        "common_neighbors_path": neighbor_logit(known, n, along="path"),
        "adamic_adar": neighbor_logit(known, n, adamic_adar=True),
        "adamic_adar_path": on_the_way,
        "adamic_adar_reverse": lambda pairs: on_the_way(pairs) + 5.0 * observed.contains(pairs[:, ::-1]),
    }


def neighbor_logit(
    arcs: Integers, n: int, *, along: Literal["any", "path"] = "any", adamic_adar: bool = False
) -> Logit:
    """Score a pair (i, j) by the nodes k between them.

    "any": k is a neighbor of both, whichever way the arcs run, so the score is the same for (j, i); "path": there are
    arcs i -> k -> j. With ``adamic_adar`` each k counts with ``1 / log(its number of neighbors)`` instead of 1.
    """
    both = adjacency(arcs, n, "both")
    onward = both if along == "any" else adjacency(arcs, n, "out")
    arrive = both if along == "any" else adjacency(arcs, n, "in")
    weight = rarity(arcs, n) if adamic_adar else np.ones(n)
    onward = sparse.csr_array(onward @ sparse.diags_array(weight))
    return lambda pairs: shared(onward, arrive, pairs)


def closed_form_maps(
    arcs: Integers, n: int, values: Any, heights: Array, *, random_state: int = 0, n_jobs: int | None = None
) -> dict[str, Array]:
    """Canonical Randers maps of a digraph without any training, in which arcs are short: location and height.

    Location: log-PPR factors, rows of unit length; with features (``values``) there is a second map that has these beside
    them, spread over two hops, at equal weight. Height, the last axis: SpringRank, with standard deviation
    ``CLOSED_FORM_SPREAD``. Distances are meant with drift ``CLOSED_FORM_ALPHA``.
    """
    _, factors = log_ppr_factors(arcs, n, CLOSED_FORM_RANK, random_state=random_state, n_jobs=n_jobs)
    words = None if values is None else feature_factors(values, random_state=random_state)
    return maps_of_factors(arcs, n, factors, words, heights)


def maps_of_factors(
    arcs: Integers, n: int, factors: Array, words: Array | None, heights: Array
) -> dict[str, Array]:
    """The maps of `closed_form_maps` from log-PPR factors and factors of the features that were computed before."""
    height = heights * (CLOSED_FORM_SPREAD / max(heights.std(), 1e-9))  # all 0 where every pair is reciprocal
    location = unit_rows(factors[:, :CLOSED_FORM_RANK])
    maps = {"closed_form": np.column_stack([location, height])}
    if words is not None:
        average = neighbor_average(arcs, n)
        words = unit_rows(average @ (average @ words))
        parts = (part / np.sqrt(2) for part in (location, words))
        maps["closed_form_features"] = np.column_stack([*parts, height])
    return maps


def _minus_distance(X: Array) -> Logit:
    def logit(pairs: np.ndarray) -> np.ndarray:
        step = X[pairs[:, 1]] - X[pairs[:, 0]]
        return np.asarray(-np.sqrt((step**2).sum(axis=1)) - CLOSED_FORM_ALPHA * step[:, -1])

    return logit
