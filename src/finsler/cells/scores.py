"""Does a picture of cells show which way they go? Scores of velocities on it, against what is known of the clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse

from finsler._arguments import check_arguments, check_number, check_words
from finsler.data.fields import as_points
from finsler.errors import InputError, InputTypeError
from finsler.graphs.neighbors import neighborhood_graph

Array = NDArray[np.float64]


class FlowScores(NamedTuple):
    """A score by group, its mean over the groups, and how many cells it rests on."""

    mean: float
    by_group: dict[Any, float]
    n_cells: int


def transition_probabilities(
    points: ArrayLike, velocities: ArrayLike, *, n_neighbors: int = 30, scale: float = 10.0
) -> csr_array:
    """Probability that a cell becomes each of its neighbors: the softmax of ``scale`` times the cosine with its velocity.

    Parameters
    ----------
    points, velocities : array-like of shape (n, d)
        Where cells are, and where they go.
    n_neighbors : int
        Cells to which each one is joined; joints go both ways.
    scale : float
        How sharply the direction decides.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        Each row sums to one.

    Examples
    --------
    >>> P = transition_probabilities([[0.0], [1.0], [2.0]], [[1.0], [1.0], [1.0]], n_neighbors=1, scale=1.0)
    >>> P.toarray().round(2)
    array([[0.  , 1.  , 0.  ],
           [0.12, 0.  , 0.88],
           [0.  , 1.  , 0.  ]])
    """
    check_arguments(transition_probabilities, locals())
    X, V = as_points(points), as_points(velocities, "velocities")
    if X.shape != V.shape:
        raise InputError(f"velocities must have the shape of points, {X.shape}, got {V.shape}.")
    check_number("scale", scale, 0.0)
    near = neighborhood_graph(X, n_neighbors=n_neighbors).tocoo()
    i, j = near.row, near.col
    share = np.exp(scale * (_cosines(X[j] - X[i], V[i]) - 1.0))
    total = np.bincount(i, share, minlength=len(X))
    return csr_array(coo_array((share / total[i], (i, j)), shape=near.shape))


def velocities_on_map(places: ArrayLike, transitions: Any) -> Array:
    """Velocities as arrows on a picture: the mean direction to what a cell may become, less that to all its neighbors.

    ``v_i = sum_j (p_ij - 1/k_i) (x_j - x_i) / ||x_j - x_i||`` over the k_i cells with ``p_ij > 0``, as scVelo draws arrows.

    Parameters
    ----------
    places : array-like of shape (n, m)
        Where cells are on the picture.
    transitions : sparse matrix of shape (n, n)
        Probabilities, from row to column.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> P = csr_array([[0.0, 0.9, 0.1], [1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    >>> velocities_on_map([[0.0, 0.0], [2.0, 0.0], [0.0, 5.0]], P)[0]
    array([ 0.4, -0.4])
    """
    check_arguments(velocities_on_map, locals())
    X = as_points(places, "places")
    i, j, p = _pairs(transitions, len(X), "transitions")
    number = np.bincount(i, minlength=len(X))
    step = X[j] - X[i]
    length = np.linalg.norm(step, axis=1)
    part = ((p - 1 / number[i]) / np.where(length > 0, length, 1.0))[:, None] * step
    return np.column_stack([np.bincount(i, column, minlength=len(X)) for column in part.T])


def cross_boundary_correctness(
    places: ArrayLike,
    velocities: ArrayLike,
    clusters: Sequence[Hashable],
    transitions: Sequence[Any],
    neighbors: Any,
) -> FlowScores:
    """Do velocities of cells at the boundary of a cluster point into the cluster that it turns into?

    For each known transition from a cluster A to B, the cosine of the velocity of a cell of A with the step to each of its
    neighbors in B, averaged over these neighbors, then over the cells that have any: cross-boundary direction correctness,
    from -1 to 1.

    Parameters
    ----------
    places, velocities : array-like of shape (n, m)
        Where cells are, in a picture or among the genes, and where they go.
    clusters : sequence of n names
        Which cluster each cell belongs to.
    transitions : sequence of pairs of names
        Which cluster turns into which.
    neighbors : sparse matrix of shape (n, n)
        Its stored entries say which cells are neighbors of which; the same for all pictures that are compared.

    Returns
    -------
    FlowScores
        By transition. A transition without cells at its boundary has no score.

    Examples
    --------
    >>> from finsler.graphs import neighborhood_graph
    >>> X = [[0.0], [1.0], [2.0]]
    >>> cross_boundary_correctness(X, [[1.0], [1.0], [-1.0]], "AAB", [("A", "B")], neighborhood_graph(X, n_neighbors=1))
    FlowScores(mean=1.0, by_group={('A', 'B'): 1.0}, n_cells=1)
    """
    check_arguments(cross_boundary_correctness, locals(), besides=("clusters",))
    X, V, names = _checked(places, velocities, clusters)
    i, j, _ = _pairs(neighbors, len(X), "neighbors")
    found, cells = {}, 0
    for pair in check_words("transitions", transitions):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputTypeError(
                f"transitions must hold pairs of names, got {pair!r}.", argument="transitions"
            )
        across = (names[i] == _code(names, clusters, pair[0])) & (names[j] == _code(names, clusters, pair[1]))
        score = _by_cell(i[across], _cosines(X[j[across]] - X[i[across]], V[i[across]]), len(X))
        if len(score):
            found[tuple(pair)], cells = float(score.mean()), cells + len(score)
    return _scores(found, cells)


def in_cluster_coherence(velocities: ArrayLike, clusters: Sequence[Hashable], neighbors: Any) -> FlowScores:
    """Do neighbors in one cluster go the same way?

    The cosine of the velocity of a cell with those of its neighbors in the same cluster, averaged over these neighbors, then
    over the cells of the cluster: in-cluster coherence, from -1 to 1.

    Parameters
    ----------
    velocities : array-like of shape (n, m)
    clusters : sequence of n names
    neighbors : sparse matrix of shape (n, n)
        As in :func:`cross_boundary_correctness`.

    Returns
    -------
    FlowScores
        By cluster.

    Examples
    --------
    >>> from finsler.graphs import neighborhood_graph
    >>> near = neighborhood_graph([[0.0], [1.0], [2.0]], n_neighbors=1)
    >>> in_cluster_coherence([[1.0], [1.0], [-1.0]], "AAB", near).by_group
    {'A': 1.0}
    """
    check_arguments(in_cluster_coherence, locals(), besides=("clusters",))
    V, _, names = _checked(velocities, velocities, clusters, "velocities")
    i, j, _ = _pairs(neighbors, len(V), "neighbors", "velocities")
    found, cells = {}, 0
    for name in dict.fromkeys(clusters):
        inside = (names[i] == _code(names, clusters, name)) & (names[i] == names[j])
        score = _by_cell(i[inside], _cosines(V[j[inside]], V[i[inside]]), len(V))
        if len(score):
            found[name], cells = float(score.mean()), cells + len(score)
    return _scores(found, cells)


def _scores(found: dict[Any, float], cells: int) -> FlowScores:
    return FlowScores(float(np.mean([*found.values()])) if found else float("nan"), found, cells)


def _checked(
    places: Any, velocities: Any, clusters: Any, name: str = "places"
) -> tuple[Array, Array, NDArray[Any]]:
    X, V = as_points(places, name), as_points(velocities, "velocities")
    if X.shape != V.shape:
        raise InputError(f"velocities must have the shape of places, {X.shape}, got {V.shape}.")
    several = hasattr(clusters, "__len__") and getattr(clusters, "ndim", 1) > 0
    words = list(clusters) if several else []
    if len(words) != len(X):
        raise InputError(
            f"must name the cluster of each of {len(X)} cells, as {name} has rows; got {len(words)}.",
            argument="clusters",
        )
    try:
        place = {name: k for k, name in enumerate(dict.fromkeys(words))}
    except TypeError:
        raise InputTypeError("must hold names, one a cell.", argument="clusters") from None
    return X, V, np.array([place[word] for word in words])


def _code(names: NDArray[Any], clusters: Any, name: Any) -> int:
    """Number of a cluster, -1 if no cell is in it."""
    return next((int(code) for code, word in zip(names, clusters, strict=True) if word == name), -1)


def _pairs(
    matrix: Any, n: int, argument: str, of: str = "places"
) -> tuple[NDArray[Any], NDArray[Any], Array]:
    """Rows, columns and values of the stored entries, without those of a cell with itself."""
    if not issparse(matrix) or matrix.shape != (n, n):
        found = getattr(matrix, "shape", type(matrix).__name__)
        raise InputTypeError(
            f"must be a sparse matrix of shape {(n, n)}, as {of} has rows; got {found}.", argument=argument
        )
    entries = matrix.tocoo()
    i, j = entries.row, entries.col
    other = i != j
    return i[other], j[other], entries.data[other].astype(float)


def _by_cell(i: NDArray[Any], values: Array, n: int) -> Array:
    """Mean over the pairs of each cell that has any."""
    number = np.bincount(i, minlength=n)
    return np.bincount(i, values, minlength=n)[number > 0] / number[number > 0]


def _cosines(a: Array, b: Array) -> Array:
    """Cosine of each row of a with that of b; 0 where one of them is zero."""
    size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    return (a * b).sum(axis=1) / np.where(size > 0, size, 1.0)
