"""How well a Randers map shows a digraph: distortion of its distances, ranking of its neighbors.

With D the distances in the graph (hops, for one without lengths), inf where there is no path, and d those of the map:

    B = mean (d_ij - D_ij)^2 / D_ij        C = mean |d_ij - D_ij| / D_ij        over reachable ordered pairs i != j

and MAP, the mean average precision of Nickel and Kiela (NeurIPS 2017): for each node with out-neighbors all other nodes
are ranked by their distance *from* it; the average precision of its out-neighbors in that list is averaged over the
nodes. Among equal distances neighbors come last, so a map of one point scores no better than it deserves. Nodes that
cannot be reached have no distance that a map should keep; ``MAP_reachable`` ranks those only that can be reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from finsler._arguments import as_generator, check_arguments
from finsler._runtime import Progress, map_blocks
from finsler.errors import InputError, check_count
from finsler.geometry.randers import drift_vector
from finsler.graphs.arc_set import simple_arcs
from finsler.graphs.paths import shortest_paths
from finsler.kernels import digraphs as kernels

# Numbers in a block of distances: 32 MB, whatever the number of nodes.
BLOCK_SIZE = 4_000_000


@dataclass(frozen=True)
class DigraphScores:
    """Distortion and ranking of a map of a digraph, with standard errors from sampling the sources, 0 if all were used."""

    B: float
    C: float
    MAP: float  # neighbors ranked among all nodes
    MAP_reachable: float  # neighbors ranked among the nodes that can be reached
    B_error: float
    C_error: float
    MAP_error: float
    MAP_reachable_error: float
    n_sources: int  # nodes from which distances were computed
    n_pairs: int  # reachable ordered pairs among those looked at


def digraph_scores(
    X: ArrayLike,
    drift: float | ArrayLike,
    arcs: Any,
    *,
    n_sources: int | None = None,
    random_state: int = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> DigraphScores:
    """Distortion of hop distances and ranking of neighbors, from all nodes or, on a large graph, from a sample of them.

    Memory does not grow with the square of the number of nodes: hop distances are computed for a few sources at a time.

    ``arcs`` is a graph or an integer array of shape (E, 2); lengths are not used. ``n_sources`` nodes are drawn, without
    replacement, among those with out-neighbors (the others reach nothing). Sources do not reach equally many nodes, so B
    and C are ratios of two sums over sources. Their errors are those of a ratio estimator; all are corrected for the
    share of sources that was drawn. The result does not depend on the threads.

    Examples
    --------
    >>> scores = digraph_scores([[0.0], [-1.0], [-2.0]], 0.5, np.array([[0, 1], [1, 2]]))
    >>> scores.B, scores.C, scores.MAP, scores.MAP_reachable, scores.n_pairs
    (0.3333333333333333, 0.5, 1.0, 1.0, 3)
    """
    check_arguments(digraph_scores, locals())
    points, height = _map(X, drift)
    graph = _adjacency(arcs, len(points))
    sources = np.flatnonzero(np.diff(graph.indptr))
    population = len(sources)
    if n_sources is not None and check_count("n_sources", n_sources) < population:
        sources = np.sort(as_generator(random_state).choice(sources, n_sources, replace=False))
    progress = Progress("scores of the map", verbose)
    step = max(1, BLOCK_SIZE // len(points))
    parts = []
    for start in range(0, len(sources), step):
        few = sources[start : start + step]
        hops = shortest_paths(graph, few, method="bfs", n_jobs=n_jobs, verbose=False)
        parts.append(_scores_of_sources(points, height, graph, few, hops, n_jobs))
        progress.update(f"{start + len(few)} of {len(sources)} sources")
    progress.close(f"{len(sources)} sources")
    squared, relative, counted, precision, reachable = np.concatenate(parts, axis=1)
    ones = np.ones(len(sources))
    sums = ((squared, counted), (relative, counted), (precision, ones), (reachable, ones))
    (B, dB), (C, dC), (MAP, dMAP), (near, d_near) = (
        _ratio(above, below, population) for above, below in sums
    )
    return DigraphScores(B, C, MAP, near, dB, dC, dMAP, d_near, len(sources), int(counted.sum()))


def symmetric_floor(D: ArrayLike) -> float:
    """Least distortion B that any symmetric distance can have: no Euclidean map is below it.

    A pair that is reachable both ways, D there and D' back, costs at least ``(D - D')^2 / (D + D')`` in the sum that B
    averages over all reachable ordered pairs; a pair that is reachable one way may cost nothing. ``D[i, j]`` is the
    distance from i to j; inf and NaN do not count.

    Examples
    --------
    >>> symmetric_floor([[0, 1], [3, 0]])
    0.5
    """
    check_arguments(symmetric_floor, locals())
    distances = np.asarray(D)
    n = len(distances) if distances.ndim else 0
    if distances.shape != (n, n):
        raise InputError(
            f"D must be square, from row to column; found shape {distances.shape}.", argument="D"
        )
    total, reachable = 0.0, 0
    step = max(1, BLOCK_SIZE // max(n, 1))
    for start in range(0, n, step):
        there = np.array(distances[start : start + step], dtype=float)
        back = np.array(distances[:, start : start + step], dtype=float).T
        there[np.arange(len(there)), np.arange(start, start + len(there))] = np.inf
        if (there <= 0).any():
            i, j = np.argwhere(there <= 0)[0]
            raise InputError(
                f"D must be above 0 between different nodes, as errors are divided by it; row {start + i}, "
                f"column {j} is {there[i, j]:g}. Merge nodes that are at distance 0."
            )
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


def _scores_of_sources(
    points: NDArray[Any],
    height: NDArray[Any],
    graph: csr_array,
    sources: NDArray[Any],
    D: NDArray[Any],
    n_jobs: int | None,
) -> NDArray[Any]:
    """For each source the sums of (d - D)^2 / D and |d - D| / D, the number of pairs, and both average precisions."""
    squared, relative, counted, precision, reachable = found = np.empty((5, len(sources)))

    def task(_: int, start: int, stop: int) -> None:
        some = slice(start, stop)
        few = sources[some]
        kernels.distortions(points, height, few, D[some], squared[some], relative[some], counted[some])
        arcs = graph.indptr, graph.indices
        kernels.average_precisions(points, height, *arcs, few, D[some], precision[some], reachable[some])

    map_blocks(task, np.linspace(0, len(sources), min(len(sources), 64) + 1).astype(int), n_jobs)
    return found


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
