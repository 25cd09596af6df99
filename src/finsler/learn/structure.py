"""What the arcs themselves say about the nodes: locations, and features spread along the arcs; for heights see `heights`.

Every function takes the arcs that it may see and nothing else of the graph: given the observed arcs of a split, what it
returns knows nothing of the pairs held out.

References
----------
Qiu et al.: Network embedding as matrix factorization, WSDM 2018; Tsitsulin et al.: VERSE, WWW 2018: log walk probabilities.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.utils.extmath import randomized_svd

from finsler._runtime import Progress, map_blocks, require_memory
from finsler.errors import InputError
from finsler.graphs.arc_keys import check_arcs
from finsler.learn.heights import choose_ridge, springrank

__all__ = [
    "adjacency",
    "check_features",
    "choose_ridge",
    "feature_factors",
    "log_ppr_factors",
    "propagate",
    "springrank",
    "text_factors",
    "unit_rows",
]

Array = NDArray[Any]
Direction = Literal["out", "in", "both"]

# Multiplications that `log_ppr_factors` spends by default (seconds), and the landmarks that it takes at least.
WALK_BUDGET, FEWEST_LANDMARKS = 6e9, 256
# Landmarks that walk together: their block of an array stays near the processor.
BLOCK = 32


def log_ppr_factors(
    arcs: ArrayLike,
    n_nodes: int,
    rank: int = 32,
    *,
    damping: float = 0.97,
    steps: int = 24,
    direction: Literal["both", "out"] = "both",
    floor: float | None = None,
    n_landmarks: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> tuple[Array, Array]:
    """Factorize the logarithm of personalised PageRank: where the nodes are in the graph.

    With P the transition matrix of a random walk, ``PPR = (1 - damping) sum_k (damping P)^k`` over k = 0..steps and
    ``M = log(max(PPR / floor, 1))``, source and target factors are found such that ``source @ target.T`` is near M.

    Parameters
    ----------
    arcs : integer array-like of shape (E, 2)
        From the first to the second node; repetitions count once.
    n_nodes : int
    rank : int
        Columns of the factors, at most; a tiny graph gives fewer.
    damping : float
        Chance that the walk goes on at each step.
    steps : int
        Steps after which the sum is cut off.
    direction : {"both", "out"}
        Walk along arcs both ways, which says where a node is, or forward only.
    floor : float, optional
        Probability that counts as none; ``1e-5 / n_nodes`` by default.
    n_landmarks : int, optional
        Nodes whose walks are computed. By default all of them, or as many as a budget of work allows, and 256 at least.
    seed : int
        Decides the landmarks and the start of the factorization.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.
    verbose : bool, int or "auto"
        Progress line.

    Returns
    -------
    source, target : ndarrays of shape (n_nodes, rank), float64
        To compare places, scale the rows to unit length with `unit_rows`: their length says mostly how central a node is.

    Notes
    -----
    With landmarks L, only the rows ``M[L, :]`` and columns ``M[:, L]`` are computed, and ``M[L, L] = U S V'`` is extended
    to all nodes by Nyström's formula, ``source = M[:, L] V S^-1/2`` and ``target = M[L, :]' U S^-1/2``: memory grows with
    the nodes times the landmarks. If all nodes are landmarks this is the truncated singular value decomposition of M.

    Examples
    --------
    >>> source, target = log_ppr_factors([[0, 1], [1, 2], [2, 0], [2, 3]], 4, rank=4, floor=1e-3)
    >>> (source @ target.T).round(2)[3]
    array([4.78, 4.78, 5.3 , 4.54])
    """
    pairs = check_arcs(arcs, n_nodes)
    if direction not in ("both", "out"):
        raise InputError(f"direction must be 'both' or 'out'; found {direction!r}.")
    if not 0 < damping < 1:
        raise InputError(f"damping must be between 0 and 1; found {damping}.")
    if rank < 1 or steps < 1:
        raise InputError(f"rank and steps must be at least 1; found {rank} and {steps}.")
    least = 1e-5 / n_nodes if floor is None else float(floor)
    if not least > 0:
        raise InputError(f"floor must be above 0; found {floor}.")
    graph = adjacency(pairs, n_nodes, direction)
    degree = graph.sum(axis=1)
    walk = sparse.csr_array(sparse.diags_array(_inverse(degree)) @ graph).astype(np.float32)
    count = int(max(WALK_BUDGET / (max(graph.nnz, 1) * steps), FEWEST_LANDMARKS))
    count = min(n_nodes, count if n_landmarks is None else max(1, int(n_landmarks)))
    landmarks = np.sort(np.random.default_rng(seed).permutation(n_nodes)[:count])
    copies = 3 if direction == "both" else 2
    require_memory(4.0 * copies * n_nodes * count, f"log-PPR from {count:,} landmarks", "Lower n_landmarks.")

    progress = Progress("log-PPR", verbose)
    arriving = _walk_sums(
        sparse.csr_array(walk.T), landmarks, damping, steps, n_jobs, progress
    )  # [v, l]: l to v
    if direction == "both":
        # An undirected walk is reversible: d_v PPR(v, l) = d_l PPR(l, v). A node without arcs stays where it is.
        leaving = arriving * (np.maximum(degree, 1)[landmarks] / np.maximum(degree, 1)[:, None]).astype(
            np.float32
        )
    else:
        leaving = _walk_sums(walk, landmarks, damping, steps, n_jobs, progress)
    for block in (arriving, leaving):
        np.divide(block, least, out=block)
        np.maximum(block, 1, out=block)
        np.log(block, out=block)
    progress.close(f"{count} landmarks")
    left, values, right = randomized_svd(leaving[landmarks], min(rank, count), n_iter=4, random_state=seed)
    kept = values > values[0] * 1e-6 if values.size else np.zeros(0, bool)
    scale = 1 / np.sqrt(values[kept])
    source = leaving @ (right[kept].T * scale).astype(np.float32)
    target = arriving @ (left[:, kept] * scale).astype(np.float32)
    return source.astype(np.float64), target.astype(np.float64)


def propagate(
    features: Any, arcs: ArrayLike, n_nodes: int, hops: int = 1, *, direction: Direction = "both"
) -> Any:
    """Average the features of the nodes over their neighbors, ``hops`` times.

    Parameters
    ----------
    features : array-like or scipy sparse matrix of shape (n_nodes, F)
    arcs : integer array-like of shape (E, 2)
        From the first to the second node; repetitions count once.
    n_nodes : int
    hops : int
        How often; 0 gives the features back.
    direction : {"both", "out", "in"}
        "out": mean over the targets of a node's arcs; "in": over the sources of the arcs to it; zero where there are
        none. "both": the symmetric average of graph convolutions, ``K^-1/2 (A + A' + I) K^-1/2`` with K its row sums
        and A + A' counting a pair once.

    Returns
    -------
    ndarray or scipy.sparse.csr_array of shape (n_nodes, F)
        Sparse if the features are.

    Examples
    --------
    >>> propagate([[2.0], [4.0], [8.0]], [[0, 1], [0, 2]], 3, direction="out").ravel()
    array([6., 0., 0.])
    """
    pairs = check_arcs(arcs, n_nodes)
    values = check_features(features, n_nodes)
    if hops < 0:
        raise InputError(f"hops must not be negative; found {hops}.")
    if direction == "both":
        graph = sparse.csr_array(adjacency(pairs, n_nodes, "both") + sparse.eye_array(n_nodes))
        root = sparse.diags_array(1 / np.sqrt(graph.sum(axis=1)))
        average = sparse.csr_array(root @ graph @ root)
    else:
        graph = adjacency(pairs, n_nodes, direction)
        average = sparse.csr_array(sparse.diags_array(_inverse(graph.sum(axis=1))) @ graph)
    for _ in range(hops):
        values = average @ values
    return values


def text_factors(features: Any, rank: int = 128, *, seed: int = 0) -> Array:
    """Reduce bags of words to ``rank`` numbers: TF-IDF, rows of unit length, truncated singular value decomposition.

    Parameters
    ----------
    features : array-like or scipy sparse matrix of shape (N, F)
        Counts, or 0 and 1; nothing negative. Rows without words give zeros.
    rank : int
        Columns of the result, at most.
    seed : int
        Start of the decomposition.

    Examples
    --------
    >>> text_factors([[1, 0, 1], [1, 1, 0], [0, 0, 0]], rank=2).round(2) + 0.0
    array([[ 0.83,  0.56],
           [ 0.83, -0.56],
           [ 0.  ,  0.  ]])
    """
    counts = check_features(features)
    if _stored(counts).min(initial=0.0) < 0:
        raise InputError(
            "features must be counts of words, not negative; use feature_factors for other numbers."
        )
    return _factors(TfidfTransformer().fit_transform(sparse.csr_matrix(counts)), rank, seed)


def feature_factors(features: Any, rank: int = 128, *, seed: int = 0) -> Array:
    """Reduce any node features to ``rank`` numbers: as text if none is negative, else standardized columns.

    Parameters
    ----------
    features : array-like or scipy sparse matrix of shape (N, F)
    rank : int
        Columns of the result, at most.
    seed : int
        Start of the decomposition.

    Examples
    --------
    >>> feature_factors([[1.0, -1.0], [3.0, -1.0]], rank=1).round(6)
    array([[-1.],
           [ 1.]])
    """
    values = check_features(features)
    if _stored(values).min(initial=0.0) >= 0:
        return text_factors(values, rank, seed=seed)
    dense = values if isinstance(values, np.ndarray) else values.toarray()
    spread = dense.std(axis=0)
    return _factors((dense - dense.mean(axis=0)) / np.where(spread > 0, spread, 1.0), rank, seed)


def unit_rows(X: ArrayLike) -> Array:
    """Scale each row to length one; a row of zeros stays.

    Examples
    --------
    >>> unit_rows([[3.0, 4.0], [0.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 0. ]])
    """
    rows = np.asarray(X, dtype=float)
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1.0)


def check_features(features: Any, n_nodes: int | None = None) -> Any:
    """Features as a float array or sparse array, refused unless 2-D, finite, and with a row for each node.

    Examples
    --------
    >>> check_features([[1, 2]], 1)
    array([[1., 2.]])
    """
    values: Any
    is_sparse: bool = sparse.issparse(features)
    values = features.tocsr().astype(np.float64) if is_sparse else np.asarray(features, dtype=np.float64)
    if values.ndim != 2 or (n_nodes is not None and values.shape[0] != n_nodes):
        wanted = "(nodes, features)" if n_nodes is None else f"({n_nodes}, features), a row for each node"
        raise InputError(f"features must have shape {wanted}; found {values.shape}.")
    if not np.isfinite(_stored(values)).all():
        row = np.flatnonzero(~np.isfinite(np.asarray(abs(values).sum(axis=1))))[0]
        raise InputError(f"features must be finite; row {row} is not. Fill in or drop what is missing.")
    return values


def _stored(values: Any) -> Array:
    """The numbers in an array, or those that a sparse one stores."""
    return values if isinstance(values, np.ndarray) else np.asarray(values.data)


def _factors(matrix: Any, rank: int, seed: int) -> Array:
    if rank < 1:
        raise InputError(f"rank must be at least 1; found {rank}.")
    left, values, _ = randomized_svd(matrix, min(rank, *matrix.shape), n_iter=4, random_state=seed)
    return np.asarray(left * values)


def adjacency(pairs: NDArray[np.int64], n: int, direction: Direction) -> sparse.csr_array:
    """Ones from each node to its neighbors in the direction, a neighbor both ways counted once.

    Examples
    --------
    >>> adjacency(np.array([[0, 1], [1, 0], [0, 2]]), 3, "both").toarray()
    array([[0., 1., 1.],
           [1., 0., 0.],
           [1., 0., 0.]])
    """
    rows, columns = {
        "out": (pairs[:, 0], pairs[:, 1]),
        "in": (pairs[:, 1], pairs[:, 0]),
        "both": (np.concatenate([pairs[:, 0], pairs[:, 1]]), np.concatenate([pairs[:, 1], pairs[:, 0]])),
    }[direction]
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(n, n)).tocsr()
    graph.data[:] = 1.0
    return graph


def _inverse(numbers: Array) -> Array:
    """One over each number; 0 for 0."""
    return np.divide(1.0, numbers, out=np.zeros(len(numbers)), where=numbers > 0)


def _walk_sums(
    step: sparse.csr_array,
    landmarks: Array,
    damping: float,
    steps: int,
    n_jobs: int | None,
    progress: Progress,
) -> NDArray[np.float32]:
    """Columns ``(1 - damping) sum_k (damping step)^k e_l`` for each landmark l, a block of landmarks at a time."""
    n = step.shape[0]
    sums = np.empty((n, len(landmarks)), np.float32)
    damped = step * np.float32(damping)

    def task(block: int, start: int, stop: int) -> None:
        state = np.zeros((n, stop - start), np.float32)
        state[landmarks[start:stop], np.arange(stop - start)] = 1 - damping
        total = state.copy()
        for _ in range(steps):
            state = damped @ state
            total += state
        sums[:, start:stop] = total
        progress.update(f"{stop} of {len(landmarks)} landmarks")

    edges = np.append(np.arange(0, len(landmarks), BLOCK), len(landmarks))
    map_blocks(task, edges, n_jobs)
    return sums
