"""Maps of digraphs that are too large for all pairs: stochastic steps on sampled sources.

Each step draws some sources without replacement from the nodes that have out-neighbours, and as columns a uniform sample
of nodes, the sources and their out-neighbours. All sources have a ranking term; for one in `SOURCES_PER_SEARCH` of them
hop distances to the sampled nodes are computed, by a search of the whole graph. Memory is a few rows of N numbers besides
the map. Among the negatives a sampled node stands for N / K nodes, so that the sums Z_u are estimated without bias.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from finsler.inputs.graph import Digraph
from finsler.inputs.paths import shortest_paths
from finsler.learn.digraph_fit import ENDINGS, LARGEST_ALPHA, DigraphFit, drift_schedule
from finsler.learn.digraph_objective import RankedStress, one_torch_thread
from finsler.runtime import Progress

COLUMNS = 8192  # nodes in the uniform sample of a step
SOURCES_PER_SEARCH = 16
FAR = np.iinfo(np.int16).max
RAMP = 0.5  # share of the steps in which the drift is raised; it is free after them
LEARNING_RATE, ALPHA_RATE = 0.3, 0.003
LAST_RATE = 0.01  # of the learning rate, at the end
DECAY, SQUARE_DECAY = 0.9, 0.99


@dataclass
class Sample:
    """What one step looks at: nodes, the counts of ranking terms and of distances among them, and what columns stand for."""

    nodes: NDArray[Any]
    sources: NDArray[Any]  # positions in `nodes`
    neighbours: NDArray[Any]  # 1 for an arc, FAR otherwise: (n_sources, n_nodes)
    hops: NDArray[Any]  # of the first sources, FAR where unreachable or not sampled
    weights: NDArray[Any]  # nodes that each column stands for


def draw_sample(
    graph: Digraph, sources: NDArray[Any], n_columns: int, rng: np.random.Generator, n_jobs: int | None = None
) -> Sample:
    """Columns for the sources of a step, with hop distances for one in `SOURCES_PER_SEARCH` of them.

    Examples
    --------
    >>> from finsler.inputs.graph import as_digraph
    >>> path = as_digraph(([0, 1, 2], [1, 2, 3]))
    >>> sample = draw_sample(path, np.array([1]), 4, np.random.default_rng(0))
    >>> dict(zip(sample.nodes.tolist(), sample.hops[0].tolist()))  # 32767 is unreachable
    {0: 32767, 1: 0, 2: 1, 3: 2}
    """
    n = graph.n_nodes
    n_columns = min(n_columns, n)
    uniform = np.sort(rng.choice(n, n_columns, replace=False))
    block = graph.matrix[sources]
    nodes = np.concatenate(
        [uniform, np.setdiff1d(np.concatenate([sources, block.indices]), uniform, assume_unique=False)]
    )
    position = np.full(n, -1)
    position[nodes] = np.arange(len(nodes))
    neighbours = np.full((len(sources), len(nodes)), FAR, dtype=np.int16)
    rows = np.repeat(np.arange(len(sources)), np.diff(block.indptr))
    neighbours[rows, position[block.indices]] = 1
    searched = sources[: -(-len(sources) // SOURCES_PER_SEARCH)]
    paths = shortest_paths(
        graph.matrix, searched, method="bfs", dtype=np.float32, n_jobs=n_jobs, verbose=False
    )
    hops = np.full((len(searched), len(nodes)), FAR, dtype=np.int16)
    hops[:, :n_columns] = np.where(np.isfinite(paths), np.minimum(paths, FAR - 1), FAR)[:, uniform]
    weights = np.ones(len(nodes))
    weights[:n_columns] = n / n_columns
    return Sample(nodes, position[sources], neighbours, hops, weights)


def fit_sampled(
    graph: Digraph,
    n_components: int,
    *,
    alpha: float | None = None,
    ranking_weight: float = 0.04,
    temperature: float = 0.1,
    n_sources: int = 256,
    epochs: int = 10,
    seed: int = 0,
    device: str = "cpu",
    n_jobs: int | None = None,
    time_limit: float | None = None,
    verbose: bool | int | str = "auto",
    n_columns: int = COLUMNS,
) -> DigraphFit:
    """Minimise the objective of `finsler.learn.digraph_objective` by Adam on samples.

    Parameters
    ----------
    graph : Digraph
        The graph.
    n_components, alpha, seed, time_limit, verbose
        As in `finsler.learn.digraph_fit.fit_digraph`. A time limit also shapes the schedule: rates fall to their last
        values when the time is up.
    ranking_weight, temperature : float
        Lambda and tau.
    n_sources : int
        Sources in a step.
    epochs : int
        Times that each node with out-neighbours is a source.
    device : str
        Where to compute.
    n_jobs : int, optional
        Threads.
    n_columns : int
        Nodes in the uniform sample of a step.

    Returns
    -------
    DigraphFit
        Its value and history are means over the steps of an epoch.
    """
    rng = np.random.default_rng(seed)
    active = np.flatnonzero(np.diff(graph.matrix.indptr))
    steps_per_epoch = -(-len(active) // n_sources)
    steps = epochs * steps_per_epoch
    schedule = drift_schedule(n_components, alpha)
    progress = Progress("digraph embedding", verbose)
    began = time.perf_counter()
    with one_torch_thread():
        state = _Adam(_start(graph, active, n_components, rng, n_jobs, device), schedule[0])
        history: list[float] = []
        means = np.zeros(3)
        step, status = 0, "epochs"
        try:
            for epoch in range(epochs):
                order, values = rng.permutation(active), []
                for start in range(0, len(order), n_sources):
                    seconds = time.perf_counter() - began
                    done = max(step / steps, 0.0 if time_limit is None else seconds / time_limit)
                    if done >= 1:
                        status = "time_limit"
                        break
                    sample = draw_sample(graph, order[start : start + n_sources], n_columns, rng, n_jobs)
                    values.append(
                        _step(state, sample, done, schedule, alpha, ranking_weight, temperature, n_jobs)
                    )
                    step += 1
                    means = np.mean(values, axis=0)
                    progress.update(
                        f"epoch {epoch + 1} of {epochs}, step {step} of {steps}, objective {means[0]:.4f}, "
                        f"alpha {state.alpha:.3f}"
                    )
                history.append(float(means[0]))
                if status != "epochs":
                    break
        except KeyboardInterrupt:
            status = "interrupted"
    progress.close(f"{status} after {step} steps, objective {means[0]:.4f}")
    return DigraphFit(
        coordinates=state.X - state.X.mean(0),
        alpha=state.alpha,
        value=float(means[0]),
        distortion=float(means[1]),
        ranking=float(means[2]),
        history=history,
        n_iter=step,
        n_evaluations=step,
        status=status,
        message=ENDINGS[status],
        seconds=time.perf_counter() - began,
    )


class _Adam:
    """Adam (Kingma and Ba, 2015) that touches only the rows of a step; the drift is one more unknown."""

    def __init__(self, X: Tensor, alpha: float):
        self.X = X
        self.alpha = alpha
        self.mean, self.square = torch.zeros_like(X), torch.zeros_like(X)
        self.times = X.new_zeros(len(X), 1)
        self.alpha_mean = self.alpha_square = 0.0
        self.alpha_times = 0

    def move(self, nodes: Tensor, gradient: Tensor, rate: float) -> None:
        times = self.times[nodes] + 1
        mean = DECAY * self.mean[nodes] + (1 - DECAY) * gradient
        square = SQUARE_DECAY * self.square[nodes] + (1 - SQUARE_DECAY) * gradient.square()
        self.times[nodes], self.mean[nodes], self.square[nodes] = times, mean, square
        spread = (square / (1 - SQUARE_DECAY**times)).sqrt().clamp_(min=1e-30)
        self.X[nodes] -= rate * (mean / (1 - DECAY**times)) / spread

    def move_alpha(self, slope: float, rate: float) -> None:
        """One step of ``t`` in ``alpha = LARGEST_ALPHA tanh(t)``."""
        slope *= LARGEST_ALPHA - self.alpha**2 / LARGEST_ALPHA
        self.alpha_times += 1
        self.alpha_mean = DECAY * self.alpha_mean + (1 - DECAY) * slope
        self.alpha_square = SQUARE_DECAY * self.alpha_square + (1 - SQUARE_DECAY) * slope**2
        spread = math.sqrt(self.alpha_square / (1 - SQUARE_DECAY**self.alpha_times)) + 1e-30
        change = rate * (self.alpha_mean / (1 - DECAY**self.alpha_times)) / spread
        t = math.atanh(min(self.alpha / LARGEST_ALPHA, 1 - 1e-6)) - change
        self.alpha = LARGEST_ALPHA * math.tanh(max(t, 0.0))


def _start(
    graph: Digraph,
    active: NDArray[Any],
    n_components: int,
    rng: np.random.Generator,
    n_jobs: int | None,
    device: str,
) -> Tensor:
    """Random points whose distances have about the mean of the graph's."""
    few = rng.choice(active, min(8, len(active)), replace=False)
    paths = shortest_paths(graph.matrix, few, method="bfs", dtype=np.float32, n_jobs=n_jobs, verbose=False)
    mean = float(paths[np.isfinite(paths)].mean())
    X = rng.standard_normal((graph.n_nodes, n_components)) * (mean / math.sqrt(2 * n_components))
    return torch.from_numpy(X).to(device)


def _step(
    state: _Adam,
    sample: Sample,
    done: float,
    schedule: tuple[float, ...],
    alpha: float | None,
    ranking_weight: float,
    temperature: float,
    n_jobs: int | None,
) -> tuple[float, float, float]:
    """Move the nodes of a sample; returns the objective and its parts before."""
    if done < RAMP or alpha is not None:
        first, last = (math.atanh(schedule[k]) for k in (0, -1))
        state.alpha = math.tanh(first + (last - first) * min(1.0, done / RAMP))
    device = str(state.X.device)
    nodes = torch.from_numpy(sample.nodes).to(device)
    points = state.X[nodes]
    ranking = RankedStress(
        sample.neighbours,
        sample.sources,
        ranking_weight,
        temperature,
        device=device,
        n_jobs=n_jobs,
        distortion_weight=0.0,
        column_weights=sample.weights,
    )(points, state.alpha)
    stress = RankedStress(
        sample.hops, sample.sources[: len(sample.hops)], 0.0, temperature, device=device, n_jobs=n_jobs
    )(points, state.alpha)
    rate = LEARNING_RATE * (LAST_RATE + (1 - LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done)))
    state.move(nodes, ranking.gradient + stress.gradient, rate)
    if alpha is None and done >= RAMP:
        state.move_alpha(ranking.alpha_gradient + stress.alpha_gradient, ALPHA_RATE)
    return ranking.value + stress.value, stress.distortion, ranking.ranking
