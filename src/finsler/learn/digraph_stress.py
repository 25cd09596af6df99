"""The objective of digraph maps without ranking, where most pairs can be reached: whole rows of distances at a time.

Without ranking the objective of `finsler.learn.digraph_objective` is the stress alone, and only pairs that can be reached
count. Where these are few, `finsler.learn.digraph_sampled` keeps a list of them. Where they are one in ten or more, a row
with all nodes is faster than the list, though the others are computed in vain: its numbers lie side by side, so that
vector instructions take eight pairs at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import map_blocks
from finsler.kernels import digraphs as kernels
from finsler.learn.digraph_objective import GROUPS, Evaluation
from finsler.learn.model import torch

PRECISE = 1_000_000  # pairs up to which double precision, which takes twice as long, is not noticed


class DenseStress:
    """Mean of (d - D)^2 / D over all reachable pairs, with the interface of `finsler.learn.digraph_objective.RankedStress`.

    ``counts`` are the `hop_counts` of the sources. Single precision, on graphs of more than a thousand nodes, leaves errors
    of 1e-8 in the value and 1e-6 in the gradient. The result does not depend on the threads.
    """

    def __init__(
        self,
        counts: NDArray[Any],
        sources: NDArray[Any],
        *,
        n_jobs: int | None = None,
        dtype: type | None = None,
    ):
        self.n_nodes = counts.shape[1]
        self.device, self.n_jobs = torch.device("cpu"), n_jobs
        self.dtype = dtype or (np.float64 if counts.size <= PRECISE else np.float32)
        self._counts, self._sources = counts, sources
        far = np.iinfo(counts.dtype).max
        of_each = np.zeros(far + 1, dtype=np.int64)  # pairs that are so many arcs apart
        for row in counts:
            of_each += np.bincount(row, minlength=far + 1)
        self._shares = np.zeros(
            far + 1
        )  # weight of a pair by its hop count: none at distance 0, or if there is no way
        self._shares[1:far] = 1 / (np.arange(1, far) * max(1, int(of_each[1:far].sum())))

    def renew(self, X: torch.Tensor, alpha: float) -> bool:
        """Nothing is sampled, hence nothing renewed."""
        return False

    def node_curvature(self) -> torch.Tensor:
        """Curvature of the objective that each node contributes, roughly: how many terms hold it, and how tightly."""
        curvature = np.zeros(self.n_nodes)
        for source, row in zip(self._sources, self._counts, strict=True):
            weights = self._shares[row]
            curvature += weights
            curvature[source] += weights.sum()
        return torch.from_numpy(2 * curvature)

    def __call__(self, X: torch.Tensor, alpha: float) -> Evaluation:
        """Evaluate at a map of shape (N, m)."""
        points: NDArray[Any] = np.ascontiguousarray((X - X.mean(0)).numpy().T, dtype=self.dtype)
        shares: NDArray[Any] = self._shares.astype(self.dtype)
        edges = np.linspace(0, len(self._sources), GROUPS + 1).astype(int)

        def task(_: int, start: int, stop: int) -> tuple[NDArray[Any], NDArray[Any]]:
            gradient, parts = np.zeros_like(points), np.zeros(2)
            kernels.stress_of_rows(
                points, alpha, self._sources, self._counts, shares, start, stop, gradient, parts
            )
            return gradient, parts

        gradient, parts = np.zeros(points.shape), np.zeros(2)
        for of_group, parts_of_group in map_blocks(task, edges, self.n_jobs):
            gradient += of_group
            parts += parts_of_group
        value, by_alpha = map(float, parts)
        outer = torch.from_numpy(np.ascontiguousarray(gradient.T))
        return Evaluation(value, outer, by_alpha, value, 0.0)
