"""The objective of digraph maps from a sample of pairs, for graphs that are too large for all pairs.

Of `finsler.learn.digraph_objective` all sums over arcs are kept whole; two are estimated:

* **Distances.** One search from each node finds what it reaches. Of the nodes that are two arcs or more away a sample is
  kept, stratified by distance, whose pairs stand for the rest. It is drawn once.
* **Negatives.** Z_u is a sum of e^(-d/tau) and comes from the few nodes that are nearest on the map. These are looked for
  in the cells around u of a random partition of the map, and kept as a list, which is renewed every `RENEW_EVERY`
  iterations because the map moves. A few random nodes stand for all that are not in the list.

Between two renewals this is an ordinary function, and `finsler.learn.digraph_fit` minimizes it as it does with all pairs.
Without ranking (a weight of 0) there are no negatives and nothing to renew. A list of pairs then serves small graphs as
well, with as many `n_pairs` as there are nodes, which are all pairs that can be reached: one in a hundred of citations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from finsler._memory import require_memory
from finsler._runtime import Progress, map_blocks
from finsler.graphs.digraph import Digraph
from finsler.kernels import digraphs as kernels
from finsler.learn.digraph_objective import GROUPS, Evaluation
from finsler.learn.model import torch

# With these, B of the sample ended 8 % below B of all pairs (cit-HepTh, m = 10); with 64, 17 % below.
PAIRS_PER_NODE = 128
LEAST_PAIRS = 32  # of a node that reaches few others
PILOTS = 256  # searches that show how much of the graph a node reaches
NEAR, OTHERS = 96, 8  # negatives of a node: the nearest ones, and random ones for the rest
CELLS = 2.0  # cells of nodes in which the nearest are looked for, times the root of N
LOOKS, LEAST_LOOKS = 0.04, 4096  # nodes to look at: share of all, and not fewer than this
BLOCK = 4096  # sources of one search task
TILE = 8192  # nodes along a side of a tile of pairs


class SampledRankedStress:
    """The objective over a sample of pairs, with the interface of `finsler.learn.digraph_objective.RankedStress`.

    ``n_pairs`` are the sampled pairs of a node in the mean; ``near`` and ``others`` its negatives, the nearest and random
    ones. The result does not depend on the threads.
    """

    def __init__(
        self,
        graph: Digraph,
        sources: NDArray[Any],
        ranking_weight: float,
        temperature: float,
        *,
        n_pairs: int = PAIRS_PER_NODE,
        seed: int = 0,
        n_jobs: int | None = None,
        near: int = NEAR,
        others: int = OTHERS,
        dtype: type = np.float32,
        verbose: bool | int | str = False,
    ):
        self.n_nodes = graph.n_nodes
        self.ranking_weight, self.temperature = ranking_weight, temperature
        self.device, self.dtype, self.n_jobs = torch.device("cpu"), dtype, n_jobs
        self._random = np.random.default_rng(seed)
        self._order_nodes(graph, sources)
        self._draw_pairs(n_pairs, verbose)
        if ranking_weight == 0:
            near = others = 0
        self._near = np.full((len(self.sources), min(near, self.n_nodes)), -1, dtype=np.int32)
        self._others = np.empty((len(self.sources), others), dtype=np.int32)
        self._draw_others()

    def _seed(self) -> int:
        return int(self._random.integers(1, 2**15))

    def _order_nodes(self, graph: Digraph, sources: NDArray[Any]) -> None:
        """Number the nodes by how often searches meet them, so that memory that is used together lies together."""
        some = self._random.permutation(sources)[:PILOTS].astype(np.int32)
        counts = np.zeros(self.n_nodes, dtype=np.int64)
        kernels.visits(graph.matrix.indptr, graph.matrix.indices, some, counts)
        self.order = np.argsort(-counts, kind="stable")
        matrix = csr_array(graph.matrix)[self.order][:, self.order]
        self._arcs = matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32)
        self.sources = np.flatnonzero(np.diff(matrix.indptr)).astype(np.int32)
        self._row_of = np.full(self.n_nodes, -1)
        self._row_of[self.sources] = np.arange(len(self.sources))
        self._mean_reach = float(counts.sum() / len(some))

    def _draw_pairs(self, n_pairs: int, verbose: bool | int | str) -> None:
        """Search from each source and keep a share of what is met."""
        n_arcs = len(self._arcs[1])
        share = min(1.0, n_pairs / max(1.0, self._mean_reach - n_arcs / len(self.sources)))
        require_memory(
            50 * share * self._mean_reach * len(self.sources),
            f"The sample of pairs, {n_pairs:,} of each of {len(self.sources):,} nodes,",
            "Pass fewer n_pairs.",
        )
        seed, least = self._seed(), min(LEAST_PAIRS, n_pairs)
        progress = Progress("sampling pairs", verbose)
        done = 0

        def search(_: int, start: int, stop: int) -> tuple[NDArray[Any], ...]:
            nonlocal done
            found = kernels.far_pairs(*self._arcs, self.sources, start, stop, share, least, seed)
            done += stop - start
            progress.update(f"{done:,} of {len(self.sources):,} nodes")
            return found

        edges = [*range(0, len(self.sources), BLOCK), len(self.sources)]
        counts, weights, heads, hops = (
            np.concatenate(part) for part in zip(*map_blocks(search, edges, self.n_jobs), strict=True)
        )
        # Tiles of pairs whose ends fit into the cache of a core: a random order takes ten times as long.
        tails = np.repeat(self.sources, counts)
        width = max(TILE, -(-self.n_nodes // 250))
        tiles = (tails // width) * (self.n_nodes // width + 1) + heads // width
        order = np.argsort(tiles.astype(np.uint16), kind="stable")
        self._pairs = tails[order], heads[order], hops[order]
        total = n_arcs + float((counts * weights).sum())  # pairs that there are
        self._pair_weights = np.zeros(self.n_nodes)
        self._pair_weights[self.sources] = weights / total
        self._arc_weight = 1 / total
        progress.close(f"{len(order):,} of {total:,.0f}")

    def _draw_others(self) -> None:
        seed = self._seed()

        def draw(_: int, start: int, stop: int) -> None:
            kernels.random_strangers(*self._arcs, self.sources, self._near, seed, start, stop, self._others)

        map_blocks(draw, _groups(len(self.sources)), self.n_jobs)

    def _points(self, X: torch.Tensor) -> NDArray[Any]:
        """The map in the inner order, in rows that fill whole vectors of the processor."""
        rows = X.detach().cpu().numpy()
        m = rows.shape[1]
        points = _aligned(self.n_nodes, -(-m // 8) * 8, self.dtype)
        points[:, :m] = (rows - rows.mean(axis=0))[self.order]
        return points

    def renew(self, X: torch.Tensor, alpha: float) -> bool:
        """Look for the nearest negatives on the map as it is, and draw the others anew; tells whether that changes it."""
        if self.ranking_weight == 0:
            return False
        points, last = self._points(X), X.shape[1] - 1
        n_cells = int(CELLS * math.sqrt(self.n_nodes))
        centers = points[self._random.choice(self.n_nodes, n_cells, replace=False)]
        cells = np.empty(self.n_nodes, dtype=np.int32)

        def assign(_: int, start: int, stop: int) -> None:
            kernels.assign(points, centers, start, stop, cells)

        map_blocks(assign, _groups(self.n_nodes), self.n_jobs)
        members = np.argsort(cells, kind="stable").astype(np.int32)
        cells = cells[members]
        points[:] = points[members]
        there = centers[cells] - points  # from the members to the center
        lengths = np.linalg.norm(there, axis=1) + alpha * there[:, last]
        sizes = np.bincount(cells, minlength=n_cells)
        reach = np.bincount(cells, lengths, n_cells) / np.maximum(sizes, 1)
        rows = self._row_of[members]
        places = np.flatnonzero(rows >= 0)
        rows = rows[places]
        cell_start = np.concatenate([[0], np.cumsum(sizes)])
        looks = max(LEAST_LOOKS, int(LOOKS * self.n_nodes))

        def look(_: int, start: int, stop: int) -> None:
            kernels.nearest_strangers(
                points, alpha, last, *self._arcs, centers, reach, members, cell_start, places, looks, rows,
                start, stop, self._near,
            )  # fmt: skip

        map_blocks(look, _groups(len(places)), self.n_jobs)
        self._draw_others()
        return True

    def node_curvature(self) -> torch.Tensor:
        """Curvature of the objective that each node contributes, roughly: how many terms hold it, and how tightly."""
        n = self.n_nodes
        tails, heads, hops = self._pairs
        inverse = self._pair_weights[tails] / hops
        stress: NDArray[Any] = np.zeros(n)  # numpy counts no pairs at all in integers
        for ends in (tails, heads):
            stress += np.bincount(ends, inverse, n)
        degrees = np.diff(self._arcs[0])
        owners = np.repeat(np.arange(n), degrees)
        share = 1 / (degrees[owners] * len(self.sources))
        ranking: NDArray[Any] = np.zeros(n)
        for ends in (owners, self._arcs[1]):
            stress += self._arc_weight * np.bincount(ends, minlength=n)
            ranking += np.bincount(ends, share, n)
        curvature = np.empty(n)
        curvature[self.order] = 2 * stress + self.ranking_weight / self.temperature * ranking
        return torch.from_numpy(curvature)

    def __call__(self, X: torch.Tensor, alpha: float) -> Evaluation:
        """Evaluate at a map of shape (N, m)."""
        m = X.shape[1]
        points = self._points(X)
        pairs, rows = (_groups(size) for size in (len(self._pairs[0]), len(self.sources)))
        other_weight = self.n_nodes / max(1, self._others.shape[1])

        def task(group: int, _: int, __: int) -> tuple[NDArray[Any], NDArray[Any]]:
            gradient, parts = _aligned(self.n_nodes, points.shape[1], self.dtype), np.zeros(3)
            kernels.stress_of_pairs(
                points, alpha, m - 1, *self._pairs, self._pair_weights, pairs[group], pairs[group + 1],
                gradient, parts,
            )  # fmt: skip
            kernels.ranking_of_rows(
                points, alpha, m - 1, *self._arcs, self.sources, self._near, self._others, other_weight,
                self._arc_weight, self.ranking_weight, self.temperature, rows[group], rows[group + 1],
                gradient, parts,
            )  # fmt: skip
            return gradient, parts

        gradient, parts = np.zeros((self.n_nodes, m)), np.zeros(3)
        for of_group, parts_of_group in map_blocks(task, np.arange(GROUPS + 1), self.n_jobs):
            gradient += of_group[:, :m]
            parts += parts_of_group
        outer = np.empty_like(gradient)
        outer[self.order] = gradient
        distortion, ranking, by_alpha = map(float, parts)
        value = distortion + self.ranking_weight * ranking
        return Evaluation(value, torch.from_numpy(outer), by_alpha, distortion, ranking)


def _groups(size: int) -> NDArray[Any]:
    return np.linspace(0, size, GROUPS + 1).astype(int)


def _aligned(rows: int, columns: int, dtype: type) -> NDArray[Any]:
    """Zeros whose first entry lies at the start of a cache line."""
    size = np.dtype(dtype).itemsize
    memory: NDArray[Any] = np.zeros(rows * columns + 64 // size, dtype=dtype)
    skip = -memory.ctypes.data % 64 // size
    return memory[skip : skip + rows * columns].reshape(rows, columns)
