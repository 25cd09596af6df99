"""A few pivots in place of all pairs: distances of every node from and to each of them.

After M. Ortmann, M. Klimenta and U. Brandes, "A sparse stress model" (2016): a pivot stands for the nodes of its
region, those that have no nearer pivot, and weighs as much as they do together.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import as_random_state, check_arguments
from finsler._memory import require_memory
from finsler._runtime import Progress, map_blocks
from finsler.data.matrix import LARGEST
from finsler.data.provenance import Provenance
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.components import graph_components, largest_component
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.distances import (
    POLICIES,
    bow_tie_hidden,
    part_to_map,
    path_provenance,
    require_one_piece,
)
from finsler.graphs.paths import shortest_paths
from finsler.kernels import pivots as kernels
from finsler.kernels.paths import count_arcs

Array = NDArray[Any]

N_PIVOTS = 100  # unless asked otherwise
BATCH = 8  # pivots chosen at a time, so that threads have something to share
BLOCK = 4096  # nodes handled at a time
FAR = np.finfo(np.float32).max  # a length that stands for "no path",
FAR_HOPS = np.uint16(65535)  # and so many hops
CORE = 0.01  # share of the nodes from which on the largest part connected both ways is a core


@dataclass(frozen=True, eq=False)
class PivotDistances:
    """Distances between N nodes and h pivots."""

    pivots: Array  #: Positions of the pivots.
    out_of: Array  #: (N, h): distance from the node to the pivot; small integers for hops, else float32.
    into: Array  #: (N, h): distance from the pivot to the node.
    region: Array  #: Number of the pivot in whose region a node is; -1 if no path joins it with any pivot.
    mass_ahead: Array  #: Nodes of the region that it can reach: what it stands for at the end of a path.
    mass_behind: Array  #: Nodes of the region that can reach it: what it stands for at the beginning of one.
    radius: Array  #: Root mean square distance of the nodes of the region from their pivot.
    far: float  #: Entries from here on stand for "no path".

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return len(self.out_of)

    @property
    def n_pivots(self) -> int:
        """Number of pivots."""
        return len(self.pivots)

    @property
    def n_unreachable(self) -> int:
        """Ordered pairs of a node and a pivot without a path."""
        return sum(int((block >= self.far).sum()) for block in _slices(self.out_of, self.into))

    @property
    def largest(self) -> float:
        """Largest distance of a node from or to a pivot."""
        parts = _slices(self.out_of, self.into)
        return max(float(part.max(initial=0, where=part < self.far)) for part in parts)

    def between(self) -> Array:
        """Distances from pivot to pivot, (h, h), inf where there is no path."""
        D = self.out_of[self.pivots].astype(float)
        return np.where(self.far <= D, np.inf, D)


def pivot_distances(
    graph: Any,
    n_pivots: int = N_PIVOTS,
    *,
    hops: bool = False,
    random_state: Any = 0,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> PivotDistances:
    """Choose pivots that lie far from each other and measure the paths from and to them.

    Each batch of eight takes the node farthest from all pivots so far, three drawn with a chance that grows with the square
    of that distance, and four drawn from the core, the largest part that is connected both ways (or, if there is none
    to speak of, the nodes with most arcs): far ones cover the whole graph, but alone they would be its dead ends; those of
    the core see most of the others, one way or the other.

    Parameters
    ----------
    graph : Digraph, or whatever :func:`~finsler.graphs.digraph.as_digraph` reads
    n_pivots : int
        Number of pivots; all nodes if there are fewer.
    hops : bool
        Count arcs instead of adding their lengths.
    random_state : int, RandomState instance or None
        Seed of the choice.
    n_jobs, verbose
        Threads (the numbers do not depend on them), and the progress line.

    Examples
    --------
    >>> data = pivot_distances([(0, 1), (1, 2), (2, 3), (3, 0)], 4)
    >>> data.between()[np.argsort(data.pivots)][:, np.argsort(data.pivots)]
    array([[0., 1., 2., 3.],
           [3., 0., 1., 2.],
           [2., 3., 0., 1.],
           [1., 2., 3., 0.]])
    """
    check_arguments(pivot_distances, locals())
    graph = as_digraph(graph)
    n = graph.n_nodes
    h = min(check_count("n_pivots", n_pivots), n)
    hops = hops or not graph.weighted
    require_memory(
        (2.0 * h + 4 * BATCH) * n * (2 if hops else 4) + 30.0 * graph.n_arcs,
        f"Distances between {n:,} nodes and {h} pivots",
        "Use fewer pivots.",
    )
    rng = as_random_state(random_state)
    measure, kind, far = (_hops, np.uint16, float(FAR_HOPS)) if hops else (_lengths, np.float32, float(FAR))
    progress = Progress("pivots", verbose)
    degree = np.diff(graph.matrix.indptr) + np.bincount(graph.matrix.indices, minlength=n)
    core = _core(graph, degree, h)
    pivots = rng.choice(np.flatnonzero(core), 1)
    apart = np.full(n, np.inf)  # of each node from the pivots so far
    out_of, into = (np.empty((n, h), kind) for _ in range(2))
    done = 0
    while True:
        progress.update(f"{done} of {h}")
        _take_in(measure(graph, pivots[done:], n_jobs), done, far, into, out_of, apart, n_jobs)
        done = len(pivots)
        if done == h:
            break
        pivots = np.concatenate([pivots, _choose(apart, pivots, core, degree, min(BATCH, h - done), rng)])
    progress.close(f"{h} of {h}")
    if hops and max(int(part[part < FAR_HOPS].max(initial=0)) for part in _slices(out_of, into)) < 255:
        out_of, into = (np.minimum(part, 255).astype(np.uint8) for part in (out_of, into))
        far = 255.0
    return _with_regions(pivots, out_of, into, far, n_jobs)


class PivotGraph(NamedTuple):
    """A graph with the distances from and to some pivots, in units of its mean arc: float32 serves any size."""

    graph: Digraph  #: The part of it that can be mapped, with its own lengths.
    scaled: Digraph  #: The same, in units.
    unit: float
    hops: bool
    pivots: PivotDistances
    bound: float  #: Pairs without a path are left out (0), or at least so far apart, in units.
    provenance: Provenance


def pivot_graph(
    graph: Digraph,
    n_pivots: int = N_PIVOTS,
    *,
    hops: bool = False,
    unreachable: str = "mask",
    connection: str | None = None,
    far: float | None = None,
    **running: Any,
) -> PivotGraph:
    """Measure a digraph by some pivots; the parameters are those of `embed_graph` and :func:`pivot_distances`.

    Examples
    --------
    >>> found = pivot_graph(as_digraph([(0, 1, 2.0), (1, 2, 4.0), (2, 0, 6.0)]), 3)
    >>> found.unit, found.pivots.largest
    (4.0, 2.5)
    """
    check_choice("unreachable", unreachable, POLICIES)
    check_count("n_pivots", n_pivots, 2)
    if far is not None and not (unreachable == "hinge" and 0 < far < float("inf")):
        raise InputError(f"far must be a positive number and goes with unreachable='hinge', got {far!r}.")
    graph = part_to_map(graph, unreachable, connection)
    facts = path_provenance(graph, hops)
    if graph.n_nodes < 2:
        raise InputError(" ".join(["There is only one node to map.", *facts.sentences()]))
    require_one_piece(graph)
    hops = hops or not graph.weighted
    with np.errstate(over="ignore"):  # refused below
        unit = 1.0 if hops else float(graph.matrix.data.mean())
    if not 1 / LARGEST < unit < LARGEST:
        raise InputError(f"The mean length of an arc is {unit:g}; rescale to ordinary magnitudes.")
    scaled = graph if unit == 1 else graph.scaled(1 / unit)
    pivots = pivot_distances(scaled, n_pivots, hops=hops, **running)
    n_lost = pivots.n_unreachable
    if n_lost and unreachable == "raise":
        raise InputError(
            f"{n_lost / (2 * pivots.out_of.size):.1%} of the pairs of nodes and pivots have no path. Pass "
            "unreachable='mask' to leave such pairs out, 'hinge' to keep them far apart, or 'largest' to keep the largest "
            "connected part."
        )
    bound = 0.0 if unreachable != "hinge" or not n_lost else pivots.largest if far is None else far / unit
    facts = facts.having(
        n_unreachable=n_lost, policy=unreachable if n_lost else "", method="sparse", n_pivots=pivots.n_pivots
    )
    facts = facts.having(bow_tie=bow_tie_hidden(graph, facts))
    return PivotGraph(graph, scaled, unit, hops, pivots, bound, facts)


def _hops(graph: Digraph, starts: Array, n_jobs: int | None) -> Array:
    """Hops from each start to all nodes, and from all nodes to each start: (2, k, N), two bytes each."""
    n, k = graph.n_nodes, len(starts)
    ways = [graph.arcs[:2], graph.reversed_arcs[:2]]
    out = np.empty((2, k, n), np.uint16)

    def task(block: int, first: int, stop: int) -> None:
        queue = np.empty(n, np.uint32)
        for row in range(first, stop):
            way, p = divmod(row, k)
            if not count_arcs(*ways[way], starts[p], FAR_HOPS, FAR_HOPS - 1, out[way, p], queue):
                raise InputError("hops: a path has more than 65,534 arcs; use hops=False.", argument="hops")

    map_blocks(task, np.arange(2 * k + 1), n_jobs)
    return out


def _lengths(graph: Digraph, starts: Array, n_jobs: int | None) -> Array:
    """Lengths of the paths from each start to all nodes, and from all nodes to each start: (2, k, N), four bytes each."""
    out = np.empty((2, len(starts), graph.n_nodes), np.float32)
    for back, way in zip((False, True), out, strict=True):
        shortest_paths(graph, starts, reverse=back, method="dijkstra", out=way, n_jobs=n_jobs, verbose=False)
    return np.minimum(out, FAR, out=out)


def _take_in(
    rows: Array, first: int, far: float, into: Array, out_of: Array, apart: Array, n_jobs: Any
) -> None:
    """Put the rows of some more pivots into their columns, and lower the distances from the nearest pivot."""

    def task(_: int, start: int, stop: int) -> None:
        for part, target in zip(rows, (into, out_of), strict=True):
            kernels.into_columns(part, start, stop, first, target)
        for ahead, back in zip(*rows, strict=True):
            kernels.closer(ahead, back, far, start, stop, apart)

    map_blocks(task, blocks(len(apart)), n_jobs)


@dataclass(frozen=True, eq=False)
class Relayed:
    """Random pairs of nodes with distances guessed from the pivots that lie between and around them."""

    partner: Array  #: (N, k): in each round every node has one partner, whose partner it is; one left over has itself.
    there: Array  #: (N, k): guessed distance from the node to its partner, -1 where no pivot lies between.
    error: float  #: Root mean square error of such guesses, relative, on pairs of pivots.


def relayed_pairs(
    data: PivotDistances, rounds: int, rng: np.random.RandomState, n_jobs: int | None = None
) -> Relayed:
    """Pair the nodes at random and guess how far they are apart.

    The triangle inequality gives two bounds through the pivots. Where between them the distance lies, pairs of pivots
    tell, whose own distance is known: a linear rule is fitted to them.
    """
    n, h = data.out_of.shape
    rows = np.empty((h * h, 3))
    count = kernels.calibrate(data.out_of, data.into, data.far, data.pivots, rows)
    low, high, D = rows[:count].T
    terms = np.column_stack([np.ones(count), low, high])
    rule = np.linalg.lstsq(terms, D, rcond=None)[0] if count > 3 else np.array([0.0, 0.5, 0.5])
    guess = np.clip(terms @ rule, low, high)
    error = float(np.sqrt(((guess - D) ** 2).sum() / (D @ D))) if count and D.any() else np.inf
    partner = np.empty((n, rounds), np.int32)
    for k in range(rounds):
        order = rng.permutation(n).astype(np.int32)
        half = n // 2
        first, second = order[:half], order[half : 2 * half]
        partner[first, k], partner[second, k] = second, first
        partner[order[2 * half :], k] = order[2 * half :]
    there = np.empty((n, rounds), np.float32)

    def task(_: int, start: int, stop: int) -> None:
        kernels.relay_block(data.out_of, data.into, data.far, rule, partner, start, stop, there)

    map_blocks(task, blocks(n), n_jobs)
    return Relayed(partner, there, error)


def blocks(n: int) -> Array:
    """Edges of blocks of nodes, the same whatever the number of threads."""
    return np.unique(np.append(np.arange(0, n, BLOCK), n))


def _core(graph: Digraph, degree: Array, h: int) -> Array:
    """Which nodes are in the largest part that is connected both ways; if that is small, the nodes with most arcs."""
    part = largest_component(graph_components(graph.matrix, "strong"))
    if len(part) >= CORE * graph.n_nodes:
        return np.isin(np.arange(graph.n_nodes), part, kind="table")
    return np.asarray(degree >= np.partition(degree, -min(4 * h, len(degree)))[-min(4 * h, len(degree))])


def _choose(
    apart: Array, pivots: Array, core: Array, degree: Array, count: int, rng: np.random.RandomState
) -> Array:
    """Half far from all pivots: the farthest node, then some drawn by the square of their distance; half of the core."""
    finite = np.isfinite(apart)
    chance = np.where(finite, apart, 0.0) ** 2
    # Nodes that no pivot sees want a pivot of their own; one with many arcs is likely to see many of them.
    if not finite.all():
        unseen = degree[~finite]
        chance[~finite] = max(float(chance.max()), 1.0) * unseen / max(int(unseen.max()), 1)
    if not chance.any():  # all nodes are at no distance from a pivot
        chance[np.setdiff1d(np.arange(len(apart)), pivots)[:1]] = 1.0
    found = [int(np.argmax(chance))]
    running = np.cumsum(chance)
    while len(found) < max(1, count // 2):
        node = int(np.searchsorted(running, rng.uniform() * running[-1], side="right"))
        node = min(node, len(apart) - 1)
        if node in found:
            break  # hardly any other is left
        found.append(node)
    free = core.copy()
    free[pivots] = free[found] = False
    if np.count_nonzero(free) < count - len(found):
        free[:] = True
        free[pivots] = free[found] = False
    return np.array(found + rng.choice(np.flatnonzero(free), count - len(found), replace=False).tolist())


def _slices(*parts: Array) -> Any:
    for part in parts:
        for start in range(0, len(part), 1 << 16):
            yield part[start : start + (1 << 16)]


def _with_regions(
    pivots: Array, out_of: Array, into: Array, far: float, n_jobs: int | None
) -> PivotDistances:
    n, h = out_of.shape
    region = np.empty(n, np.int32)
    edges = blocks(n)
    sums = np.zeros((3, len(edges) - 1, h))

    def task(block: int, start: int, stop: int) -> None:
        kernels.share(out_of, into, far, start, stop, *sums[:, block], region)

    map_blocks(task, edges, n_jobs)
    ahead, behind, spread = sums.sum(axis=1)
    radius = np.sqrt(spread / np.maximum(np.maximum(ahead, behind), np.finfo(float).tiny))
    return PivotDistances(pivots, out_of, into, region, ahead, behind, radius, far)
