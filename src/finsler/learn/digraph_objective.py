"""What a map of a digraph should be: true to its distances, and near to its neighbors.

With ``D_ij`` the number of arcs on the shortest path and ``d_ij = ||x_j - x_i|| + alpha (x_j - x_i)[last]``,

    F = mean over reachable pairs of (d_ij - D_ij)^2 / D_ij + ranking_weight * mean over u of CE_u

    CE_u = mean over the out-neighbors v of u of -log( e^(-d_uv / tau) / (e^(-d_uv / tau) + Z_u) )
    Z_u = sum over the nodes w that are neither u nor its out-neighbors of e^(-d_uw / tau)

The first term is the distortion B of `finsler.graphs.scores`; the second wants neighbors in front of all other
nodes. A term of CE_u equals ``softplus(d_uv / tau + log Z_u)``, which neither overflows nor cancels.

Only blocks of rows exist at a time. With ``G = dF/dd`` and ``W = G / ||x_j - x_i||`` the gradient of a block needs two
products of W with coordinates:

    dF/dx_i = sum_j W_ij (x_i - x_j) - alpha G_ij e_last        dF/dx_j = sum_i W_ij (x_j - x_i) + alpha G_ij e_last

Nodes without out-neighbors reach nothing and have no term: their rows are left out.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler._runtime import map_blocks
from finsler.graphs.digraph import Digraph
from finsler.graphs.paths import shortest_paths
from finsler.learn.model import torch

# Rows in a block: large enough for fast matrix products, small enough to stay in the cache of a core.
CPU_PAIRS, GPU_PAIRS = 400_000, 20_000_000
COUNTS_AT_ONCE = 50_000_000  # hop counts that are computed in one go
# e^(this) is lost beside the nearest negative, whose term is 1; smaller results are denormal: up to thirty times slower.
NEGLIGIBLE = -40.0
GROUPS = 8  # sums are split like this whatever the number of threads, so that results do not depend on it
SPARSE = 0.1  # share of reachable pairs below which they are kept as a list


class Evaluation(NamedTuple):
    """Value of the objective, gradients by the map and by alpha, and its two parts before weighting."""

    value: float
    gradient: torch.Tensor
    alpha_gradient: float
    distortion: float
    ranking: float


class Rows(NamedTuple):
    """What is known of the pairs of a block of sources; positions count along the flattened block."""

    sources: torch.Tensor
    arcs: torch.Tensor  # positions of the out-neighbors
    arc_rows: torch.Tensor  # and the row of each
    arc_weights: torch.Tensor  # share of each in the mean over nodes of means over neighbors
    excluded: torch.Tensor  # positions that are not negatives: arcs and the diagonal
    hops: torch.Tensor  # whole block of hop counts, or those at `reachable`
    reachable: torch.Tensor | None  # positions of reachable pairs; None if the whole block is kept
    unreachable: torch.Tensor | None  # mask of the pairs that do not count, if the whole block is kept


def hop_counts(graph: Digraph, sources: NDArray[Any], n_jobs: int | None = None) -> NDArray[Any]:
    """Arcs on the shortest paths from each source to every node: uint8, or int16 if a path has more than 254 arcs.

    The largest number of the type stands for "unreachable".
    """
    n = graph.n_nodes
    require_memory(
        1.2 * len(sources) * n,
        f"The hop counts of {len(sources):,} x {n:,} pairs",
        "Pass n_pairs to DigraphEmbedding to work with a sample of them.",
    )
    counts = np.empty((len(sources), n), dtype=np.uint8)
    step = max(1, COUNTS_AT_ONCE // n)
    for start in range(0, len(sources), step):
        paths = shortest_paths(
            graph.matrix, sources[start : start + step], method="bfs", dtype=np.float32, n_jobs=n_jobs
        )
        finite = np.isfinite(paths)
        if counts.dtype == np.uint8 and paths[finite].max(initial=0) > 254:
            earlier = counts[:start].astype(np.int16)
            earlier[earlier == 255] = np.iinfo(np.int16).max
            counts = np.empty((len(sources), n), dtype=np.int16)
            counts[:start] = earlier
        paths[~finite] = np.iinfo(counts.dtype).max
        counts[start : start + step] = paths
    return counts


class RankedStress:
    """The objective over all pairs, evaluated block by block.

    ``counts`` are the `hop_counts` of the sources, each of which has at least one out-neighbor. In float32 the product
    form of distances leaves errors of about 1e-6 of the extent of the map. The result does not depend on the threads.
    """

    def __init__(
        self,
        counts: NDArray[Any],
        sources: NDArray[Any],
        ranking_weight: float,
        temperature: float,
        *,
        device: str = "cpu",
        dtype: torch.dtype = torch.float32,
        n_jobs: int | None = None,
    ):
        self.n_nodes, self.n_sources = counts.shape[1], len(sources)
        self.ranking_weight, self.temperature = ranking_weight, temperature
        self.device = torch.device(device)
        self.dtype = dtype
        self.n_jobs = n_jobs if self.device.type == "cpu" else 1
        self._workspace = threading.local()
        far = np.iinfo(counts.dtype).max
        self.n_reachable = max(1, int(np.count_nonzero((counts > 0) & (counts < far))))
        self.dense = self.n_reachable > SPARSE * counts.size
        pairs = CPU_PAIRS if self.device.type == "cpu" else GPU_PAIRS
        step = min(max(1, pairs // self.n_nodes), self.n_sources)
        self._block_shape = (step, self.n_nodes)
        self.blocks = [
            self._rows(counts[s : s + step], sources[s : s + step], far)
            for s in range(0, self.n_sources, step)
        ]

    def _rows(self, hops: NDArray[Any], nodes: NDArray[Any], far: int) -> Rows:
        n, rows = self.n_nodes, len(nodes)
        counts = torch.from_numpy(hops).to(self.device)
        sources = torch.from_numpy(nodes).long().to(self.device)
        arcs = (counts == 1).view(-1).nonzero().view(-1)
        arc_rows = arcs // n
        degrees = torch.bincount(arc_rows, minlength=rows).to(self.dtype)
        diagonal = torch.arange(rows, device=self.device) * n + sources
        share = 1 / (degrees[arc_rows] * self.n_sources)
        common = (sources, arcs, arc_rows, share, torch.cat([arcs, diagonal]))
        left_out = (counts == far) | (counts == 0)
        if self.dense:
            return Rows(*common, counts, None, left_out)
        reachable = left_out.logical_not().view(-1).nonzero().view(-1)
        return Rows(*common, counts.view(-1)[reachable].to(self.dtype), reachable, None)

    def node_curvature(self) -> torch.Tensor:
        """Curvature of the objective that each node contributes, roughly: how many terms hold it, and how tightly."""
        stress = torch.zeros(self.n_nodes, dtype=torch.float64, device=self.device)
        ranked = torch.zeros_like(stress)
        for rows in self.blocks:
            if rows.reachable is None:
                inverse = rows.hops.double().reciprocal_().masked_fill_(rows.unreachable, 0)
                stress += inverse.sum(0)
                stress.index_add_(0, rows.sources, inverse.sum(1))
            else:
                inverse = rows.hops.double().reciprocal()
                stress.index_add_(0, rows.reachable % self.n_nodes, inverse)
                stress.index_add_(0, rows.sources[rows.reachable // self.n_nodes], inverse)
            ranked.index_add_(0, rows.arcs % self.n_nodes, rows.arc_weights.double())
            ranked.index_add_(0, rows.sources[rows.arc_rows], rows.arc_weights.double())
        return 2 / self.n_reachable * stress + self.ranking_weight / self.temperature * ranked

    def renew(self, X: torch.Tensor, alpha: float) -> bool:
        """Say that nothing has changed: all pairs are there, wherever the map moves."""
        return False

    def __call__(self, X: torch.Tensor, alpha: float) -> Evaluation:
        """Evaluate at a map of shape (N, m)."""
        X = X.to(self.device, torch.float64)
        centered = X - X.mean(0)
        points = centered.to(self.dtype)
        squares = (points * points).sum(1, keepdim=True)
        ones = torch.ones_like(squares)
        shared = _Shared(
            points=points,
            squares=squares,
            right=torch.cat([points, ones, squares], 1).T.contiguous(),
            with_ones=torch.cat([points, ones], 1),
            heights=alpha * points[:, -1],
            # Below this the product form of squared distances is noise; it also keeps coincident points apart.
            least=4 * torch.finfo(self.dtype).eps * float(squares.max()) + 1e-30,
        )
        edges = np.unique(np.linspace(0, len(self.blocks), GROUPS + 1).astype(int))

        def task(_: int, start: int, stop: int) -> tuple[torch.Tensor, ...]:
            if threading.current_thread() is not threading.main_thread():
                torch.set_num_threads(1)  # each thread has its own number
            return self._sum(self.blocks[start:stop], shared)

        sums = map_blocks(task, edges, self.n_jobs)
        pull, balance, parts = (torch.stack(part).sum(0) for part in zip(*sums, strict=True))
        gradient = centered * pull[:, -1:] - pull[:, :-1]
        gradient[:, -1] += alpha * balance
        distortion, ranking = (float(part) for part in parts)
        by_alpha = float((centered.T @ balance)[-1])
        return Evaluation(distortion + self.ranking_weight * ranking, gradient, by_alpha, distortion, ranking)

    def _sum(
        self, blocks: Sequence[Rows], shared: _Shared
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """For some blocks: sums of ``W_ij [x, 1]`` over both ends, of G over columns less rows, and the two parts."""
        pull = torch.zeros_like(shared.with_ones)
        balance = torch.zeros(self.n_nodes, dtype=self.dtype, device=self.device)
        parts = torch.zeros(2, dtype=torch.float64, device=self.device)
        for rows in blocks:
            lengths, slopes = self._slopes(rows, shared, parts)
            balance += slopes.sum(0)
            balance.index_add_(0, rows.sources, slopes.sum(1), alpha=-1)
            tension = slopes.div_(lengths)
            pull.index_add_(0, rows.sources, tension @ shared.with_ones)
            pull.addmm_(tension.T, shared.with_ones[rows.sources])
        return pull.double(), balance.double(), parts

    def _buffers(self, rows: int) -> list[torch.Tensor]:
        """Arrays for blocks, kept from one to the next by each thread: fresh memory costs more than the arithmetic."""
        if not hasattr(self._workspace, "buffers"):
            self._workspace.buffers = [
                torch.empty(self._block_shape, dtype=self.dtype, device=self.device)
                for _ in range(4 if self.dense else 2)
            ]
        return [buffer[:rows] for buffer in self._workspace.buffers]

    def _slopes(self, rows: Rows, shared: _Shared, parts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Euclidean lengths of the block's pairs, and dF/dd of each; adds to the two parts of the objective."""
        squares = shared.squares[rows.sources]
        left = torch.cat([shared.points[rows.sources] * -2, squares, torch.ones_like(squares)], 1)
        lengths, distances, *more = self._buffers(len(rows.sources))
        torch.mm(left, shared.right, out=lengths).clamp_(min=shared.least).sqrt_()
        torch.add(lengths, shared.heights, out=distances).sub_(shared.heights[rows.sources, None])
        flat = distances.view(-1)
        if rows.reachable is None:
            hops, pushes = more
            hops.copy_(rows.hops)
            torch.reciprocal(hops, out=pushes).masked_fill_(rows.unreachable, 0)
            error = torch.sub(distances, hops, out=hops)
            pushes.mul_(error)
        else:
            error = flat[rows.reachable].sub_(rows.hops)
            pushes = error / rows.hops
        parts[0] += torch.dot(error.view(-1), pushes.view(-1)).double() / self.n_reachable

        to_neighbors = flat[rows.arcs]
        flat[rows.excluded] = float("inf")
        nearest = distances.amin(1, keepdim=True)
        nearest.masked_fill_(nearest.isinf(), 0)  # a node that is linked to all others has nothing to rank
        likeness = torch.sub(nearest, distances, out=distances).mul_(1 / self.temperature)
        likeness.clamp_(min=NEGLIGIBLE).exp_()
        likeness.view(-1)[rows.excluded] = 0
        total = likeness.sum(1)
        log_total = total.log() - nearest[:, 0] / self.temperature
        score = to_neighbors / self.temperature + log_total[rows.arc_rows]
        parts[1] += torch.dot(torch.nn.functional.softplus(score), rows.arc_weights).double()

        attraction = torch.sigmoid(score) * rows.arc_weights * (self.ranking_weight / self.temperature)
        repulsion = torch.zeros_like(total).index_add_(0, rows.arc_rows, attraction) / total.clamp(min=1)
        slopes = likeness.mul_(-repulsion[:, None])
        if rows.reachable is None:
            slopes.add_(pushes, alpha=2 / self.n_reachable)
            slopes.view(-1)[rows.arcs] += attraction
        else:
            slopes.view(-1)[rows.arcs] = attraction
            slopes.view(-1)[rows.reachable] += pushes * (2 / self.n_reachable)
        return lengths, slopes


class _Shared(NamedTuple):
    """What all blocks need of the map."""

    points: torch.Tensor
    squares: torch.Tensor
    right: torch.Tensor  # such that [-2 x, |x|^2, 1] times it is |x - y|^2
    with_ones: torch.Tensor
    heights: torch.Tensor
    least: float
