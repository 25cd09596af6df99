"""Splits and tasks of link prediction: what a model may see of a digraph, and what it is then asked.

Held out are *unordered pairs* of neighbors, so both arcs of a reciprocal pair leave together, and only pairs outside a
spanning forest, so no node loses its last link. Three tasks are made of the pairs held out:

direction
    Which way does the arc run? Reciprocal pairs are left out; every other pair is shown once, half of them reversed.
existence_mixed
    Is there an arc from i to j? The pairs that `direction` shows in their true order, against the ones that it
    shows reversed and pairs with no arc at all, as many negatives as positives (about a third are reversed arcs).
existence_random
    The same positives against pairs with no arc at all.

Scores are areas under ROC curves. Several definitions circulate; `existence_mixed` follows the code published with
MagNet (Zhang et al., NeurIPS 2021), `existence_random` that of PyTorch Geometric Signed Directed (He et al., 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.stats import rankdata

from finsler._arguments import as_generator, check_arguments
from finsler.errors import InputError, check_choice
from finsler.graphs.arc_set import ArcSet, Integers, arc_keys, arcs_of_keys, neighbor_pairs, simple_arcs


@dataclass(frozen=True, eq=False)
class PairTask:
    """Ordered pairs of nodes, shape (P, 2), and which of them are positive."""

    pairs: Integers
    labels: NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class LinkTasks:
    """The three questions asked about one set of held-out pairs; see the module for their definition."""

    direction: PairTask
    existence_mixed: PairTask
    existence_random: PairTask


@dataclass(frozen=True, eq=False)
class LinkSplit:
    """What training sees, and what is asked for model selection and for the score; made by `split_links`.

    ``observed`` are the arcs for training, sorted. The same ones serve for the validation and for the test: held-out
    validation arcs do **not** join them before the test.
    """

    n_nodes: int
    observed: Integers
    validation: LinkTasks
    test: LinkTasks
    validation_pairs: Integers  # the smaller node first; no arc of theirs, in either direction, is observed
    test_pairs: Integers


def split_links(
    graph: Any,
    *,
    random_state: int = 0,
    forest: Literal["random", "index"] = "random",
    test_fraction: float = 0.15,
    validation_fraction: float = 0.05,
    n_nodes: int | None = None,
) -> LinkSplit:
    """Hold out pairs of neighbors for validation and test, and make the tasks.

    Parameters
    ----------
    graph : Digraph, integer array of shape (E, 2), or anything that `finsler.graphs.digraph.as_digraph` takes
        An integer array lists arcs between nodes 0..n_nodes-1; its self-loops and repetitions are ignored.
        Lengths of arcs do not matter.
    random_state : int
        Number of the split: it decides the random forest, what is held out, and the pairs without arcs.
    forest : {"random", "index"}
        Spanning forest whose pairs are never held out: a random one, or the one that Kruskal's algorithm finds in
        the order of the nodes, (0, 1), (0, 2), ... The latter depends on how nodes are numbered.
    test_fraction : float
        Share of *all* pairs that is held out for the test, taken from outside the forest.
    validation_fraction : float
        Share of the remaining pairs held out for validation, outside a forest of what remains.
    n_nodes : int, optional
        Number of nodes, for an array of arcs; the largest number and one by default.

    Returns
    -------
    LinkSplit

    Examples
    --------
    >>> arcs = [(i, (i + step) % 30) for i in range(30) for step in (1, 2, 5)]
    >>> split = split_links(np.array(arcs), random_state=1)
    >>> len(split.observed), len(split.validation_pairs), len(split.test_pairs)
    (72, 4, 14)
    >>> score_links(split.test, lambda pairs: -np.abs(pairs[:, 1] - pairs[:, 0] - 2.0))["direction"]
    100.0
    """
    check_arguments(split_links, locals())
    return split_arcs(
        *simple_arcs(graph, n_nodes),
        random_state=random_state,
        forest=forest,
        test_fraction=test_fraction,
        validation_fraction=validation_fraction,
    )


def split_arcs(
    arcs: Integers,
    n: int,
    *,
    random_state: int,
    validation_fraction: float,
    test_fraction: float = 0.0,
    forest: str = "random",
) -> LinkSplit:
    """Do the work of `split_links`, for arcs that are sorted, distinct and no loops."""
    check_choice("forest", forest, ("random", "index"))
    pairs, of_arc = neighbor_pairs(arcs, n)
    there = ArcSet(arcs, n)
    forward, backward = there.contains(pairs), there.contains(pairs[:, ::-1])
    rng = as_generator(random_state)

    everything = np.arange(len(pairs))
    test = _hold_out(pairs, everything, n, test_fraction, forest, rng, "test_fraction")
    remaining = np.setdiff1d(everything, test, assume_unique=True)
    validation = _hold_out(pairs, remaining, n, validation_fraction, forest, rng, "validation_fraction")

    held_out = np.zeros(len(pairs), dtype=bool)
    held_out[test] = held_out[validation] = True
    empty = _non_edges(pairs, n, len(test) + len(validation), rng)

    def tasks(chosen: Integers, without_arc: Integers) -> LinkTasks:
        one_way = chosen[~(forward[chosen] & backward[chosen])]
        true_order = np.where(forward[one_way, None], pairs[one_way], pairs[one_way, ::-1])
        return _tasks(true_order, without_arc, rng)

    return LinkSplit(
        n_nodes=n,
        observed=arcs[~held_out[of_arc]],
        test=tasks(test, empty[: len(test)]),
        validation=tasks(validation, empty[len(test) :]),
        validation_pairs=pairs[validation],
        test_pairs=pairs[test],
    )


def hide_single_arcs(
    arcs: Integers, n: int, share: float, rng: np.random.Generator
) -> tuple[Integers, Integers]:
    """Hide one arc of a share of the reciprocal pairs: the arcs that remain, and those that are hidden."""
    both = np.flatnonzero((arcs[:, 0] < arcs[:, 1]) & ArcSet(arcs, n).contains(arcs[:, ::-1]))
    chosen = arcs[rng.permutation(both)[: round(share * len(both))]]
    hidden = np.where(rng.random(len(chosen))[:, None] < 0.5, chosen, chosen[:, ::-1])
    return arcs[~ArcSet(hidden, n).contains(arcs)], hidden


def check_tasks(tasks: LinkTasks, n: int, name: str = "validation") -> None:
    """Refuse tasks whose pairs are not positions of nodes, 0..n-1, or that have not one answer for each."""
    for question in ("direction", "existence_mixed", "existence_random"):
        task, argument = getattr(tasks, question), f"{name}.{question}"
        pairs, labels = np.asarray(task.pairs), np.asarray(task.labels)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InputError(
                f"pairs must be integers of shape (P, 2); found shape {pairs.shape}, dtype {pairs.dtype}.",
                argument=argument,
            )
        if labels.shape != (len(pairs),) or labels.dtype != bool:
            raise InputError(
                f"labels must be True or False for each of the {len(pairs)} pairs; found shape {labels.shape}, dtype "
                f"{labels.dtype}.",
                argument=argument,
            )
        outside = np.flatnonzero(((pairs < 0) | (pairs >= n)).any(axis=1))
        if outside.size:
            raise InputError(
                f"pairs must join nodes 0..{n - 1}, by their position in the graph; pair {outside[0]} joins "
                f"{pairs[outside[0]].tolist()}.",
                argument=argument,
            )


def held_out_arcs(tasks: LinkTasks) -> Integers:
    """Arcs that the tasks ask about, each once."""
    way, mixed, random = tasks.direction, tasks.existence_mixed, tasks.existence_random
    true_order = np.where(way.labels[:, None], way.pairs, way.pairs[:, ::-1])
    arcs = np.concatenate([true_order, mixed.pairs[mixed.labels], random.pairs[random.labels]])
    return np.unique(arcs, axis=0).astype(np.int64)


def score_links(
    tasks: LinkTasks,
    logit: Callable[[np.ndarray], np.ndarray],
    direction: Callable[[np.ndarray], np.ndarray] | None = None,
) -> dict[str, float]:
    """Score a model on the three tasks: areas under ROC curves, times 100.

    Parameters
    ----------
    tasks : LinkTasks
    logit : callable
        Takes ordered pairs of nodes, shape (P, 2), and returns P numbers: higher where an arc from the first to the
        second is more likely.
    direction : callable, optional
        The same for the direction, which is decided by ``direction(i, j) - direction(j, i)``, of a model that answers this
        question by itself; by default the ``logit``.

    Returns
    -------
    dict
        Keys "direction", "existence_mixed", "existence_random"; NaN where a task has no pairs of both kinds.

    Examples
    --------
    >>> task = PairTask(np.array([[0, 1], [2, 1]]), np.array([True, False]))
    >>> score_links(LinkTasks(task, task, task), lambda pairs: pairs[:, 1] - pairs[:, 0])
    {'direction': 100.0, 'existence_mixed': 100.0, 'existence_random': 100.0}
    """
    check_arguments(score_links, locals())

    callables = {"logit": logit, "direction": direction or logit}

    def scores(pairs: np.ndarray, name: str = "logit") -> np.ndarray:
        values = np.asarray(callables[name](pairs), dtype=float)
        if values.shape != (len(pairs),):
            raise InputError(
                f"{name} must return one number per pair, ({len(pairs)},); found shape {values.shape}."
            )
        return values

    way, mixed, random = tasks.direction, tasks.existence_mixed, tasks.existence_random
    asked = "logit" if direction is None else "direction"
    there, back = (scores(pairs, asked) for pairs in (way.pairs, way.pairs[:, ::-1]))
    return {
        "direction": 100 * roc_auc(way.labels, there - back),
        "existence_mixed": 100 * roc_auc(mixed.labels, scores(mixed.pairs)),
        "existence_random": 100 * roc_auc(random.labels, scores(random.pairs)),
    }


def roc_auc(labels: NDArray[np.bool_], scores: NDArray[Any]) -> float:
    """Area under the ROC curve, ties half; NaN unless there are positives and negatives; scores may be infinite."""
    undefined = np.flatnonzero(np.isnan(scores))
    if undefined.size:
        raise InputError(
            f"scores must be numbers; entry {undefined[0]} is NaN ({undefined.size} of {scores.size})."
        )
    if labels.all() or not labels.any():
        return float("nan")
    # Mann and Whitney's statistic: scikit-learn's curve takes ten times as long, and there are hundreds of evaluations.
    positives = int(labels.sum())
    above = rankdata(scores)[labels].sum() - positives * (positives + 1) / 2
    return float(above / (positives * (labels.size - positives)))


def mean_score(scores: dict[str, float]) -> float:
    """Mean of the scores of the tasks that have any pairs; NaN if none has."""
    known = [value for value in scores.values() if np.isfinite(value)]
    return float(np.mean(known)) if known else float("nan")


def spanning_forest(pairs: Integers, n_nodes: int, order: Integers) -> NDArray[np.bool_]:
    """Which pairs Kruskal's algorithm keeps when it takes them by increasing, distinct ``order``."""
    # Distinct weights have one minimum spanning forest, so any algorithm gives Kruskal's. Weight 0 would mean no edge.
    weights = np.asarray(order, dtype=float) + 1
    ends = np.asarray(pairs, dtype=np.int32)  # SciPy up to 1.15 refuses longer numbers here
    graph = coo_array((weights, (ends[:, 0], ends[:, 1])), shape=(n_nodes, n_nodes)).tocsr()
    kept = minimum_spanning_tree(graph).data
    return np.isin(weights, kept)


def _hold_out(
    pairs: Integers, among: Integers, n: int, share: float, forest: str, rng: np.random.Generator, name: str
) -> Integers:
    """Positions of pairs to hold out: a share of ``among``, all outside a spanning forest of it, in random order."""
    if not 0 <= share < 1:
        raise InputError(f"must be in [0, 1), got {share}.", argument=name)
    wanted = round(share * len(among))
    order = np.arange(len(among)) if forest == "index" else rng.permutation(len(among))
    outside = among[~spanning_forest(pairs[among], n, order)]
    if share > 0 and not 2 <= wanted <= len(outside):
        raise InputError(
            f"The graph is too small or too sparse to split: {name}={share} asks for {wanted} of {len(among)} pairs, "
            f"and {len(outside)} lie outside a spanning forest (at least 2 must be held out). Lower or raise it, "
            "or use a graph with more cycles."
        )
    return rng.permutation(outside)[:wanted]


def _non_edges(pairs: Integers, n: int, count: int, rng: np.random.Generator) -> Integers:
    """Distinct ordered pairs of different nodes, uniform among those without an arc in either direction."""
    possible, neighbors = n * (n - 1) - 2 * len(pairs), ArcSet(pairs, n)
    if count > possible:
        raise InputError(
            f"The graph is too dense to split: {count} ordered pairs without an arc are needed and it has {possible}."
        )
    if 2 * count > possible:
        # Rejection would take long. Such a graph is small or nearly complete: list what is left.
        every = arcs_of_keys(np.arange(n * n), n)
        every = every[every[:, 0] != every[:, 1]]
        free = every[~neighbors.contains(np.sort(every, axis=1))]
        return np.asarray(free[rng.permutation(len(free))[:count]])
    found = np.empty(0, dtype=np.int64)
    acceptance = possible / n**2
    while len(found) < count:
        drawn = rng.integers(0, n, size=(int(1.1 * (count - len(found)) / acceptance) + 16, 2))
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        drawn = drawn[~neighbors.contains(np.sort(drawn, axis=1))]
        found = np.concatenate([found, arc_keys(drawn, n)])
        found = found[np.sort(np.unique(found, return_index=True)[1])]  # first occurrences, as drawn
    return arcs_of_keys(found[:count], n)


def _tasks(true_order: Integers, without_arc: Integers, rng: np.random.Generator) -> LinkTasks:
    """Tasks about one-way arcs in random order, given in their true order, and pairs without an arc."""
    shown_true = np.arange(len(true_order)) % 2 == 0
    shown = np.where(shown_true[:, None], true_order, true_order[:, ::-1])
    positives = shown[shown_true]
    pool = np.concatenate([shown[~shown_true], without_arc])
    mixed = pool[rng.permutation(len(pool))[: len(positives)]]
    return LinkTasks(
        direction=PairTask(shown, shown_true),
        existence_mixed=_against(positives, mixed),
        existence_random=_against(positives, without_arc[: len(positives)]),
    )


def _against(positives: Integers, negatives: Integers) -> PairTask:
    pairs = np.concatenate([positives, negatives])
    return PairTask(pairs, np.arange(len(pairs)) < len(positives))
