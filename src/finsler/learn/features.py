"""What is known about a node before any training: height, place in the graph, and its features.

Every function takes the arcs that it may see and nothing else of the graph: given the observed arcs of a split, what it
returns knows nothing of the pairs held out. They take arcs that have been checked.

References
----------
De Bacco, Larremore, Moore: A physical model for efficient ranking in networks, Science Advances 4 (2018): SpringRank.
Qiu et al.: Network embedding as matrix factorization, WSDM 2018; Tsitsulin et al.: VERSE, WWW 2018: log walk probabilities.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.extmath import randomized_svd

from finsler._arguments import as_generator, named
from finsler._memory import require_memory
from finsler._runtime import map_blocks
from finsler.data.frames import labeled
from finsler.data.labels import LabelIndex, plain_label, point_labels
from finsler.errors import InputError, InputTypeError, shown
from finsler.geometry.heights import heights_of_pairs
from finsler.graphs.arc_set import Integers, neighbor_pairs
from finsler.learn.tasks import roc_auc

Array = NDArray[Any]

# Multiplications that `log_ppr_factors` spends (seconds), and the landmarks that it takes at least and at most.
WALK_BUDGET, FEWEST_LANDMARKS, MOST_LANDMARKS = 6e9, 256, 1024
# Landmarks that walk together: their block of an array stays near the processor.
BLOCK = 32
RIDGES = (1.0, 0.1, 0.01, 1e-4)  # of SpringRank, to choose from
FEATURE_RANK = 128  # numbers to which features are reduced


def spring_heights(arcs: Integers, n: int, ridge: float, tol: float = 1e-8) -> Array:
    """Heights of the nodes such that arcs lead one step **down**: SpringRank.

    Minimizes ``sum over arcs u -> v of (h_u - h_v - 1)^2 + ridge * sum h_u^2``. In a Randers map whose drift points up
    the way down costs less, so that with these heights as last coordinate d(u, v) is small where there is an arc u -> v.
    The ridge, the pull of each node to height 0, keeps nodes of few arcs from extremes (1 is as strong as one arc), but
    levels a long chain of arcs whose ends no short way joins.
    """
    ones = np.ones(len(arcs))
    return heights_of_pairs(arcs[:, 0], arcs[:, 1], -ones, ones, n, ridge=ridge, tol=tol)


def choose_ridge(arcs: Integers, n: int) -> float:
    """Choose the ridge of `spring_heights` that best tells the direction of arcs which it does not see.

    A tenth of the pairs is set aside and their directions are predicted. The first of `RIDGES` is taken unless another
    one gains half a point of AUC on it. A graph with fewer than 100 pairs is too small to ask and gets the first.
    """
    pairs, pair = neighbor_pairs(arcs, n)
    if len(pairs) < 100:
        return RIDGES[0]
    aside = (np.random.default_rng(0).permutation(len(pairs)) < len(pairs) // 10)[pair]
    asked, rest = arcs[aside], arcs[~aside]
    scores = []
    for ridge in RIDGES:
        heights = spring_heights(rest, n, ridge, 1e-3)
        drop = heights[asked[:, 0]] - heights[asked[:, 1]]
        # AUC of the drops against those of the same pairs reversed; arcs both ways cancel
        scores.append(roc_auc(np.arange(2 * len(drop)) < len(drop), np.concatenate([drop, -drop])))
    best = int(np.argmax(scores))
    return RIDGES[best if scores[best] > scores[0] + 0.005 else 0]


def log_ppr_factors(
    arcs: Integers,
    n: int,
    rank: int,
    *,
    damping: float = 0.97,
    steps: int = 24,
    floor: float | None = None,
    n_landmarks: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> tuple[Array, Array]:
    """Factorize the logarithm of personalized PageRank: where the nodes are in the graph.

    With P the transition matrix of a random walk along arcs both ways, ``PPR = (1 - damping) sum_k (damping P)^k`` over
    k = 0..steps and ``M = log(max(PPR / floor, 1))``, source and target factors, of at most ``rank`` columns, are found
    such that ``source @ target.T`` is near M. By default the floor, the probability that counts as none, is ``1e-5 / n``.

    With landmarks L, only the rows ``M[L, :]`` and columns ``M[:, L]`` are computed, and ``M[L, L] = U S V'`` is extended
    to all nodes by Nyström's formula, ``source = M[:, L] V S^-1/2`` and ``target = M[L, :]' U S^-1/2``: memory grows with
    the nodes times the landmarks. If all nodes are landmarks this is the truncated singular value decomposition of M. By
    default all are, or as many as a budget of work allows, 256 at least and 1,024 at most.

    To compare places, scale the rows to unit length with `unit_rows`: their length says mostly how central a node is.
    """
    graph = adjacency(arcs, n, "both")
    degree = np.maximum(graph.sum(axis=1), 1)  # a node without arcs stays where it is
    # Column l of a walk back along the arcs holds the probabilities of walks from l.
    walk = sparse.csr_array((sparse.diags_array(1 / degree) @ graph).T).astype(np.float32)
    affordable = WALK_BUDGET / (max(graph.nnz, 1) * steps)
    count = int(np.clip(affordable, FEWEST_LANDMARKS, MOST_LANDMARKS))
    count = min(n, count if n_landmarks is None else n_landmarks)
    landmarks = np.sort(as_generator(random_state).permutation(n)[:count])
    require_memory(12.0 * n * count, f"log-PPR from {count:,} landmarks", "Use a graph of fewer nodes.")
    arriving = _walk_sums(walk, landmarks, damping, steps, n_jobs)  # [v, l]: l to v
    # An undirected walk is reversible: d_v PPR(v, l) = d_l PPR(l, v).
    leaving = arriving * (degree[landmarks] / degree[:, None]).astype(np.float32)
    for block in (arriving, leaving):
        np.divide(block, 1e-5 / n if floor is None else floor, out=block)
        np.maximum(block, 1, out=block)
        np.log(block, out=block)
    left, values, right = randomized_svd(
        leaving[landmarks], min(rank, count), n_iter=4, random_state=random_state
    )
    kept = values > values[0] * 1e-6
    scale = 1 / np.sqrt(values[kept])
    source = leaving @ (right[kept].T * scale).astype(np.float32)
    target = arriving @ (left[:, kept] * scale).astype(np.float32)
    return source.astype(np.float64), target.astype(np.float64)


def _walk_sums(
    step: sparse.csr_array, landmarks: Integers, damping: float, steps: int, n_jobs: int | None
) -> NDArray[np.float32]:
    """Columns ``(1 - damping) sum_k (damping step)^k e_l`` for each landmark l, a block of landmarks at a time."""
    n = step.shape[0]
    sums = np.empty((n, len(landmarks)), np.float32)
    damped = step * np.float32(damping)

    def task(_: int, start: int, stop: int) -> None:
        state = np.zeros((n, stop - start), np.float32)
        state[landmarks[start:stop], np.arange(stop - start)] = 1 - damping
        total = state.copy()
        for _ in range(steps):
            state = damped @ state
            total += state
        sums[:, start:stop] = total

    map_blocks(task, np.append(np.arange(0, len(landmarks), BLOCK), len(landmarks)), n_jobs)
    return sums


def adjacency(arcs: Integers, n: int, direction: Literal["out", "in", "both"]) -> sparse.csr_array:
    """Ones from each node to its neighbors in the direction, a neighbor both ways counted once."""
    ends = {"out": arcs, "in": arcs[:, ::-1], "both": np.concatenate([arcs, arcs[:, ::-1]])}[direction]
    graph = sparse.coo_array((np.ones(len(ends)), tuple(ends.T)), shape=(n, n)).tocsr()
    graph.data[:] = 1.0
    return graph


def neighbor_average(arcs: Integers, n: int) -> sparse.csr_array:
    """The symmetric average of graph convolutions, ``K^-1/2 (A + A' + I) K^-1/2``; K are row sums, pairs count once."""
    graph = sparse.csr_array(adjacency(arcs, n, "both") + sparse.eye_array(n))
    root = sparse.diags_array(1 / np.sqrt(graph.sum(axis=1)))
    return sparse.csr_array(root @ graph @ root)


def node_features(features: Any, nodes: LabelIndex) -> Any:
    """Features as a finite float matrix, dense or CSR, with a row per node in the order of the nodes.

    A table whose index holds the labels of the nodes is put in their order.
    """
    if features is None:
        return None
    features = labeled(features)
    if point_labels(features) is not None:
        features = _in_order(features, nodes)
    is_sparse = sparse.issparse(features)
    try:
        values: Any = features if is_sparse else np.asarray(features)
    except ValueError as error:  # rows of different lengths
        raise named(error, "features") from error
    if values.dtype.kind not in "biuf":
        raise InputTypeError(
            f"features must be numbers; found dtype {values.dtype}. Encode categories as 0 and 1 first."
        )
    if values.ndim != 2 or values.shape[0] != len(nodes) or not values.shape[1]:
        raise InputError(
            f"features must have shape ({len(nodes)}, features), a row for each node; found {values.shape}."
        )
    values = (values.tocsr() if is_sparse else values).astype(np.float64)
    if not np.isfinite(values.data if is_sparse else values).all():
        row = np.flatnonzero(~np.isfinite(np.asarray(abs(values).sum(axis=1))))[0]
        node = shown(nodes.label(int(row)))
        raise InputError(
            f"features must be finite; those of node {node} are not. Fill in or drop what is missing."
        )
    return values


def _in_order(table: Any, nodes: LabelIndex) -> Array:
    """Rows of a table in the order of the nodes, if its index holds their labels."""
    index = [plain_label(label) for label in table.index]
    values = np.asarray(table)
    if nodes.labels is None or index == list(range(len(index))) or len(index) != len(nodes):
        return values
    if len(set(index)) < len(index):
        raise InputError("The index of features names some nodes twice.")
    return values[np.argsort([nodes.position(label, "features, index", exact=True) for label in index])]


def feature_factors(values: Any, rank: int = FEATURE_RANK, *, random_state: int = 0) -> Array:
    """Reduce node features to at most ``rank`` numbers, by a truncated singular value decomposition.

    If none is negative they are taken for words and counts: TF-IDF, rows of unit length; else columns are standardized.
    """
    is_sparse = sparse.issparse(values)
    if (values.data if is_sparse else values).min(initial=0.0) >= 0:
        matrix = TfidfTransformer().fit_transform(sparse.csr_matrix(values))
    else:
        n, d = values.shape
        require_memory(
            24 * n * d,
            f"features of shape ({n}, {d}), some of them below 0",
            "Give fewer columns, or counts, which may be sparse.",
        )
        dense = values.toarray() if is_sparse else values
        spread = dense.std(axis=0)
        matrix = (dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    left, sizes, _ = randomized_svd(matrix, min(rank, *matrix.shape), n_iter=4, random_state=random_state)
    return np.asarray(left * sizes)


def unit_rows(rows: Array) -> Array:
    """Scale each row to length one; a row of zeros stays."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)
