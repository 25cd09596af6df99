"""Some rows of the distances of a graph too large for all pairs, and the scores of a map on them.

The nodes drawn are not pivots of the map, so that what is measured is what the map was not shown. Each score is a ratio
of sums over the rows drawn, with the standard error of such a ratio. With all nodes drawn the numbers are those of
`finsler.geometry.stress` and `finsler.geometry.asymmetry`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from finsler._runtime import require_memory
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.asymmetry import shown_by
from finsler.geometry.estimates import Estimate, ratio_of_rows
from finsler.geometry.pairs import Rows
from finsler.geometry.shown import SampledScores
from finsler.graphs.digraph import Digraph
from finsler.graphs.distances import WEIGHTINGS
from finsler.graphs.paths import shortest_paths

Array = NDArray[Any]


def sample_rows(
    graph: Digraph,
    n_sources: int = 50,
    *,
    hops: bool = False,
    exclude: Sequence[int] | Array = (),
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> Rows:
    """Distances from and to randomly drawn nodes: all, if there are no more, but those to `exclude`, such as pivots."""
    n = graph.n_nodes
    candidates = np.setdiff1d(np.arange(n), np.asarray(exclude, dtype=int))
    if not len(candidates):
        raise InputError("exclude leaves no node to draw: every node is excluded.", argument="exclude")
    k = min(check_count("n_sources", n_sources), len(candidates))
    require_memory(12.0 * k * n, f"{k} rows of {n:,} nodes", "Use fewer n_sources.")
    sources = np.sort(check_random_state(random_state).choice(candidates, k, replace=False))
    options: dict[str, Any] = {"method": "bfs" if hops else "auto", "dtype": np.float32}
    options.update(n_jobs=n_jobs, verbose=verbose)
    ahead = shortest_paths(graph, sources, **options)
    back = shortest_paths(graph, sources, reverse=True, **options)
    return Rows(sources, ahead, back)


def sampled_scores(X: Array, drift: Array, rows: Rows, *, weighting: str = "uniform") -> SampledScores:
    """Scores of a map on some rows, of nodes that were not its pivots; weights of the stress as in `graph_distances`."""
    X, omega = np.asarray(X, dtype=float), np.asarray(drift, dtype=float)
    n, k = rows.n_points, len(rows.sources)
    if X.shape != (n, len(omega)):
        raise InputError(
            f"X must have the shape ({n}, {len(omega)}), as rows and drift have it; got {X.shape}."
        )
    check_choice("weighting", weighting, WEIGHTINGS)
    power = WEIGHTINGS[weighting]
    sums = np.zeros((4, k))  # misfit, squares, signs told, signs
    for there, (ahead, back, known_ahead, known_back) in rows.blocks():
        u = X[there] - X[rows.sources, None]
        e, a = np.sqrt((u**2).sum(axis=2)), u @ omega
        for d, D, known in ((e + a, ahead, known_ahead > 0), (e - a, back, known_back > 0)):
            known = known & ((D > 0) | (power == 0))
            w, D = np.where(known, np.where(known, D, 1.0) ** -power, 0.0), np.where(known, D, 0.0)
            sums[:2] += (w * (d - D) ** 2).sum(axis=1), (w * D**2).sum(axis=1)
        both = (known_ahead > 0) & (known_back > 0)
        A = np.subtract(ahead, back, out=np.zeros_like(a), where=both)
        unequal = both & (np.abs(A) > 2e-6 * ahead)
        sums[2:] += (unequal & (np.sign(A) == np.sign(a))).sum(axis=1), unequal.sum(axis=1)
    squared = ratio_of_rows(sums[0], sums[1], n)
    root = None if squared.value is None else float(np.sqrt(squared.value))
    error = squared.error if not root or squared.error is None else squared.error / (2 * root)
    return SampledScores(
        k, Estimate(root, error), ratio_of_rows(sums[2], sums[3], n), shown_by(rows, X @ omega)
    )
