"""How well a Randers map shows a digraph: distortion of its distances, ranking of its neighbors.

With D the distances in the graph (hops, for one without lengths), inf where there is no path, and d those of the map:

    B = mean (d_ij - D_ij)^2 / D_ij        C = mean |d_ij - D_ij| / D_ij        over reachable ordered pairs i != j

and MAP, the mean average precision of Nickel and Kiela (NeurIPS 2017): for each node with out-neighbors all other nodes
are ranked by their distance *from* it; the average precision of its out-neighbors in that list is averaged over the
nodes. Among equal distances neighbors come last, so a map of one point scores no better than it deserves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from finsler._runtime import Progress, map_blocks
from finsler.errors import InputError
from finsler.geometry.randers import drift_vector
from finsler.graphs.arc_keys import simple_arcs
from finsler.graphs.paths import shortest_paths
from finsler.kernels import ranking as kernels

# Numbers in a block of distances: 32 MB, whatever the number of nodes.
BLOCK_SIZE = 4_000_000


@dataclass(frozen=True)
class Distortion:
    """Distortion of a map.

    Attributes
    ----------
    B, C : float
        Mean weighted square and mean relative error, see `finsler.graphs.scores`.
    n_pairs : int
        Reachable ordered pairs that they average over.
    """

    B: float
    C: float
    n_pairs: int


@dataclass(frozen=True)
class DigraphScores:
    """Distortion and ranking of a map of a digraph, with standard errors where sources were sampled.

    Attributes
    ----------
    B, C, MAP : float
        See `finsler.graphs.scores`.
    B_error, C_error, MAP_error : float
        Standard errors from the sampling of sources; 0 if all were used.
    n_sources : int
        Nodes from which distances were computed.
    n_pairs : int
        Reachable ordered pairs among those looked at.
    """

    B: float
    C: float
    MAP: float
    B_error: float
    C_error: float
    MAP_error: float
    n_sources: int
    n_pairs: int


def distortion(
    X: ArrayLike,
    drift: float | ArrayLike,
    D: ArrayLike,
    *,
    sources: ArrayLike | None = None,
    n_jobs: int | None = None,
) -> Distortion:
    """Distortion of the distances of a map, over reachable ordered pairs.

    Parameters
    ----------
    X : array-like of shape (N, m)
        The map.
    drift : float or array-like of shape (m,)
        ``alpha`` on the last axis, or the whole vector.
    D : array-like of shape (N, N), or (S, N) with ``sources``
        Distances in the graph from row to column; inf (unreachable) and NaN (unknown) do not count.
    sources : array-like of S integers, optional
        Nodes that the rows of ``D`` belong to.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Returns
    -------
    Distortion

    Examples
    --------
    From 0 to 1 the map says 1.5 where the graph says 1; the way back does not exist.

    >>> distortion([[0.0, 0.0], [0.0, 1.0]], 0.5, [[0, 1], [np.inf, 0]])
    Distortion(B=0.25, C=0.5, n_pairs=1)
    """
    points, height = _map(X, drift)
    wanted = np.asarray(D)
    rows = np.arange(len(points)) if sources is None else np.asarray(sources)
    if (
        rows.ndim != 1
        or rows.dtype.kind not in "iu"
        or (rows.size and not 0 <= rows.min() <= rows.max() < len(points))
    ):
        raise InputError(
            f"sources must be a list of node numbers within 0..{len(points) - 1}; found {sources!r}."
        )
    if wanted.shape != (len(rows), len(points)):
        raise InputError(
            f"D must have shape ({len(rows)}, {len(points)}), a row for each source and a column for each of the points "
            f"of X; found {wanted.shape}."
        )
    squared, relative, counted = _distortions(points, height, rows, wanted, n_jobs)
    n_pairs = int(counted.sum())
    if n_pairs == 0:
        raise InputError("D has no reachable pair of different nodes: there is nothing to average over.")
    return Distortion(float(squared.sum() / n_pairs), float(relative.sum() / n_pairs), n_pairs)


def mean_average_precision(
    X: ArrayLike, drift: float | ArrayLike, arcs: Any, *, n_jobs: int | None = None
) -> float:
    """Mean average precision of out-neighbors in lists by distance (Nickel and Kiela), ties pessimistic.

    Parameters
    ----------
    X : array-like of shape (N, m)
        The map.
    drift : float or array-like of shape (m,)
        ``alpha`` on the last axis, or the whole vector.
    arcs : integer array of shape (E, 2), Digraph, or another graph
        Arcs from the first to the second node.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.

    Examples
    --------
    Node 0 finds its neighbor 1 second, after node 2: precision 1/2.

    >>> mean_average_precision([[0.0], [3.0], [1.0]], 0.0, np.array([[0, 1]]))
    0.5
    """
    points, height = _map(X, drift)
    graph = _adjacency(arcs, len(points))
    sources = np.flatnonzero(np.diff(graph.indptr))
    return float(_average_precisions(points, height, graph, sources, n_jobs).mean())


def digraph_scores(
    X: ArrayLike,
    drift: float | ArrayLike,
    arcs: Any,
    *,
    n_sources: int | None = None,
    seed: int = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> DigraphScores:
    """Distortion of hop distances and ranking of neighbors, from all nodes or, on a large graph, from a sample of them.

    Memory does not grow with the square of the number of nodes: hop distances are computed for a few sources at a time.

    Parameters
    ----------
    X : array-like of shape (N, m)
        The map.
    drift : float or array-like of shape (m,)
        ``alpha`` on the last axis, or the whole vector.
    arcs : integer array of shape (E, 2), Digraph, or another graph
        Arcs from the first to the second node; lengths are not used.
    n_sources : int, optional
        Nodes to draw, without replacement, among those with out-neighbors (the others reach nothing). All by default.
    seed : int
        Decides the sample.
    n_jobs : int, optional
        Threads, all cores by default. The result does not depend on it.
    verbose : bool, int or "auto"
        Progress line.

    Returns
    -------
    DigraphScores

    Notes
    -----
    Sources do not reach equally many nodes, so B and C are ratios of two sums over sources. Their errors are those of a
    ratio estimator; all are corrected for the share of sources that was drawn.

    Examples
    --------
    >>> scores = digraph_scores([[0.0], [-1.0], [-2.0]], 0.5, np.array([[0, 1], [1, 2]]))
    >>> scores.B, scores.C, scores.MAP, scores.n_pairs
    (0.3333333333333333, 0.5, 1.0, 3)
    """
    points, height = _map(X, drift)
    graph = _adjacency(arcs, len(points))
    sources = np.flatnonzero(np.diff(graph.indptr))
    population = len(sources)
    if n_sources is not None:
        if n_sources < 1:
            raise InputError(f"n_sources must be at least 1; found {n_sources}.")
        if n_sources < population:
            sources = np.sort(np.random.default_rng(seed).choice(sources, n_sources, replace=False))
    progress = Progress("scores of the map", verbose)
    step = max(1, BLOCK_SIZE // len(points))
    parts = []
    for start in range(0, len(sources), step):
        few = sources[start : start + step]
        hops = shortest_paths(graph, few, method="bfs", n_jobs=n_jobs, verbose=False)
        parts.append(
            np.stack(
                [
                    *_distortions(points, height, few, hops, n_jobs),
                    _average_precisions(points, height, graph, few, n_jobs),
                ]
            )
        )
        progress.update(f"{start + len(few)} of {len(sources)} sources")
    progress.close(f"{len(sources)} sources")
    squared, relative, counted, precision = np.concatenate(parts, axis=1)
    B, B_error = _ratio(squared, counted, population)
    C, C_error = _ratio(relative, counted, population)
    MAP, MAP_error = _ratio(precision, np.ones(len(sources)), population)
    return DigraphScores(B, C, MAP, B_error, C_error, MAP_error, len(sources), int(counted.sum()))


def symmetric_floor(D: ArrayLike) -> float:
    """Least distortion B that any symmetric distance can have: no Euclidean map is below it.

    A pair that is reachable both ways, D there and D' back, costs at least ``(D - D')^2 / (D + D')`` in the sum that B
    averages over all reachable ordered pairs; a pair that is reachable one way may cost nothing.

    Parameters
    ----------
    D : array-like of shape (N, N)
        Distances in the graph from row to column; inf and NaN do not count.

    Examples
    --------
    >>> symmetric_floor([[0, 1], [3, 0]])
    0.5
    """
    distances = np.asarray(D)
    n = len(distances)
    if distances.shape != (n, n):
        raise InputError(f"D must be square, from row to column; found shape {distances.shape}.")
    total, reachable = 0.0, 0
    step = max(1, BLOCK_SIZE // max(n, 1))
    for start in range(0, n, step):
        there = np.array(distances[start : start + step], dtype=float)
        back = np.array(distances[:, start : start + step], dtype=float).T
        there[np.arange(len(there)), np.arange(start, start + len(there))] = np.inf
        _refuse_zeros(there, start)
        reachable += int(np.isfinite(there).sum())
        mutual = np.isfinite(there) & np.isfinite(back)
        a, b = there[mutual], back[mutual]
        total += float(((a - b) ** 2 / (a + b)).sum()) / 2  # each pair is met twice
    if reachable == 0:
        raise InputError("D has no reachable pair of different nodes: there is nothing to average over.")
    return total / reachable


def _map(X: ArrayLike, drift: float | ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    """Points, and the height omega . x of each."""
    points = np.ascontiguousarray(X, dtype=np.float64)
    if points.ndim != 2 or not len(points):
        raise InputError(f"X must be a non-empty 2-D array, one point per row; found shape {points.shape}.")
    bad = np.flatnonzero(~np.isfinite(points).all(axis=1))
    if bad.size:
        raise InputError(f"X must be finite; row {bad[0]} is not ({bad.size} of {len(points)} rows).")
    return points, points @ drift_vector(drift, points.shape[1])


def _adjacency(arcs: Any, n: int) -> csr_array:
    found, n_nodes = simple_arcs(arcs, n if isinstance(arcs, np.ndarray) else None)
    if n_nodes != n:
        raise InputError(f"X has {n} rows and the graph has {n_nodes} nodes; each node needs its point.")
    return csr_array((np.ones(len(found)), (found[:, 0], found[:, 1])), shape=(n, n))


def _blocks(count: int) -> NDArray[Any]:
    return np.linspace(0, count, min(count, 64) + 1).astype(int)


def _distortions(
    points: NDArray[Any], height: NDArray[Any], sources: NDArray[Any], D: NDArray[Any], n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """For each source the sums of (d - D)^2 / D and |d - D| / D, and the number of pairs."""
    squared, relative, counted = np.empty((3, len(sources)))

    def task(_: int, start: int, stop: int) -> None:
        # float64 whatever the input, block by block: a memory map or a matrix of small integers stays as it is
        block = np.array(D[start:stop], dtype=np.float64)
        block[np.arange(stop - start), sources[start:stop]] = np.inf
        _refuse_zeros(block, start)
        kernels.distortions(
            points,
            height,
            sources[start:stop],
            block,
            squared[start:stop],
            relative[start:stop],
            counted[start:stop],
        )

    map_blocks(task, _blocks(len(sources)), n_jobs)
    return squared, relative, counted


def _average_precisions(
    points: NDArray[Any], height: NDArray[Any], graph: csr_array, sources: NDArray[Any], n_jobs: int | None
) -> NDArray[Any]:
    precision = np.empty(len(sources))

    def task(_: int, start: int, stop: int) -> None:
        kernels.average_precisions(
            points, height, graph.indptr, graph.indices, sources[start:stop], precision[start:stop]
        )

    map_blocks(task, _blocks(len(sources)), n_jobs)
    return precision


def _refuse_zeros(block: NDArray[Any], first_row: int) -> None:
    if (block <= 0).any():
        i, j = np.argwhere(block <= 0)[0]
        raise InputError(
            f"D must be above 0 between different nodes, as errors are divided by it; row {first_row + i}, "
            f"column {j} is {block[i, j]:g}. Merge nodes that are at distance 0."
        )


def _ratio(above: NDArray[Any], below: NDArray[Any], population: int) -> tuple[float, float]:
    """Ratio of two sums over sources drawn without replacement, and its standard error."""
    ratio = float(above.sum() / below.sum())
    k = len(above)
    if k == population:
        return ratio, 0.0
    if k == 1:
        return ratio, float("nan")
    residual = above - ratio * below
    spread = np.sqrt((residual**2).sum() / (k - 1) / k * (1 - k / population))
    return ratio, float(spread / below.mean())
