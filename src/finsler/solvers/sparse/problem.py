"""The sparse Finsler stress as the majorization loop sees it: pairs of nodes and pivots, and the arcs.

A pass gives the stress and a step. All nodes move at once, each by its force over a curvature of its own; with
``||s - t||^2 <= (1 + theta) ||s||^2 + (1 + 1/theta) ||t||^2`` for the two ends of a pair, such a step lies below the
majorizer of `finsler.solvers.problem` and so cannot go uphill. A small theta lets the many nodes go nearly as
far as if the pivots stood still, and the few pivots, which a coarse map has put in place before, go slowly.
"""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._read import read_npz
from finsler._runtime import map_blocks
from finsler.errors import InputError, InputTypeError
from finsler.graphs.digraph import ArcArrays, Digraph
from finsler.graphs.pivots import PivotDistances, Relayed, blocks
from finsler.kernels import sparse as kernels
from finsler.solvers.drift import best_drift
from finsler.solvers.problem import Evaluation, Problem

Array = NDArray[Any]

THETA = 0.25
# Weight of the pairs of pivots with each other, beside 1 for those of the nodes with the pivots. The nodes see only the
# pivots: where the data hardly tell them apart, as in a network of hubs, they would all gather in the middle and
# push the pivots out to a ring around them. What pivots know of each other is what any two nodes know of each other.
AMONG = 64.0
# Weight, of 1 for a node's pairs, that guessed distances to random partners get, if the guesses are as good as ERROR.
TRUST = 0.3
ERROR = 0.05
FINE = 10_000  # maps of up to this many nodes are computed in double precision


@dataclass(frozen=True, eq=False)
class ArcPairs:
    """Arcs by the node they leave and by the node they enter, as CSR triples ``indptr, indices, lengths``."""

    leaving: tuple[Array, Array, Array]
    entering: tuple[Array, Array, Array]

    @classmethod
    def of(cls, graph: Digraph, hops: bool) -> ArcPairs:
        """Arcs of a graph; with ``hops`` each is one long."""

        def triple(arcs: ArcArrays) -> tuple[Array, Array, Array]:
            lengths = np.ones(1, np.float32) if hops else arcs.lengths.astype(np.float32)
            if hops:  # one number for all arcs, whatever their number
                lengths = np.broadcast_to(lengths, len(arcs.indices))
            return arcs.indptr, arcs.indices, lengths

        return cls(triple(graph.arcs), triple(graph.reversed_arcs))


class PairProblem(Problem):
    """A stress over some of the pairs, with the drift that a pass is given; what it knows after a pass."""

    fixed_drift = None
    square: float = np.nan  #: Weighted sum of squares of the data.
    per_point: Array = np.empty(0)  #: Stress of each node.
    unit: float = 1.0  #: Share of the stress that tolerances are meant for.

    @abstractmethod
    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Drift that fits the pairs best, the points staying where they are; ``omega`` is the one so far."""


class SparseProblem(PairProblem):
    """Pairs of every node with the pivots, each standing for its region, and the arcs."""

    def __init__(
        self,
        data: PivotDistances,
        arcs: ArcPairs | None = None,
        *,
        power: int = 0,  # a pair at distance d weighs 1/d^power
        bound: float = 0.0,  # pairs without a path are left out (0), or kept at least so far apart
        theta: float = THETA,  # how the two ends of a pair share its curvature, see above
        among: float = AMONG,  # weight of the pairs of pivots with each other
        hold: bool = False,  # leave the pivots where they are: all other nodes find their places among them
        fine: bool | None = None,  # compute in double precision; by default up to 10,000 nodes
        relayed: Relayed | None = None,  # random pairs of nodes with guessed distances
        trust: float = TRUST,  # their weight, of 1 for all pairs of a node
        n_jobs: int | None = None,
    ):
        self.data, self.n_points, self.n_jobs = data, data.n_nodes, n_jobs
        # Where a good part of all pairs are arcs, the pairs with the pivots tell of them already.
        density = 0.0 if arcs is None else len(arcs.leaving[1]) / max(1.0, float(data.n_nodes) ** 2)
        self.arc_weight = max(0.0, 1 - density * data.n_pivots) / (1 + among)
        self.given_arcs, self.arcs = arcs, arcs if self.arc_weight > 0 else None
        self.power, self.bound, self.hold, self.relayed = power, bound, hold, relayed
        self.theta = 0.0 if hold else theta
        if hold or data.n_pivots == data.n_nodes:  # if all nodes are pivots, all pairs are there
            among = 0.0
        fine = data.n_nodes <= FINE if fine is None else fine
        self.kind: Any = np.float64 if fine else np.float32
        trust = 0.0 if relayed is None else trust
        # The pairs of pivots with each other make up most of the stress; tolerances are meant for the rest.
        self.unit = unit = 1 / (1 + among)
        # Rows that the partners stand for, shared out among the rounds.
        rounds = 1 if relayed is None else relayed.partner.shape[1]
        self.partner_weight = unit * trust * data.n_nodes / rounds
        # Half: the pairs of a node with all pivots stand for those with all nodes, and each has two ends.
        share = 0.5 * (1 - trust) * unit
        self.ahead, self.behind = (
            (mass * share).astype(self.kind) for mass in (data.mass_ahead, data.mass_behind)
        )
        mass = np.maximum(data.mass_ahead, data.mass_behind)
        self.times = (among / (1 - trust) * mass * (data.n_nodes / max(mass.sum(), 1.0))).astype(self.kind)
        self.rows = tuple(np.ascontiguousarray(part[data.pivots]) for part in (data.out_of, data.into))
        # A node does not tell apart what lies within a pivot's region: weights 1/d^2 level off at its diameter.
        self.soft = (4 * data.radius**2).astype(self.kind)
        self.rule = (
            data.far,
            bound,
            self.ahead,
            self.behind,
            self.soft,
            power,
        )  # what a pair weighs, as the kernels take it
        self.edges = blocks(data.n_nodes)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs."""
        n, m = X.shape
        data = self.data
        P = np.ascontiguousarray(X[data.pivots].T.astype(self.kind))
        lift = (X[data.pivots] @ omega).astype(self.kind)
        n_blocks = len(self.edges) - 1
        force, curve = np.empty((n, m)), np.empty((3, n))
        pull = np.zeros((n_blocks, m + 1, data.n_pivots), self.kind)
        press = np.zeros((n_blocks, 2, data.n_pivots), self.kind)
        arcs = self.arcs

        def task(block: int, start: int, stop: int) -> Array:
            at = X, omega, start, stop, force, curve
            sums = np.array(
                kernels.pivot_block(
                    data.out_of, data.into, *self.rule, P, lift, *at, pull[block], press[block]
                )
            )
            curve[:2, start:stop] *= 1 + self.theta
            if self.relayed is not None:
                partner, there = self.relayed.partner, self.relayed.there
                sums += kernels.partner_block(partner, there, self.partner_weight, self.power, *at)
            if arcs is not None:
                sums += kernels.arc_block(*arcs.leaving, self.power, self.arc_weight, True, *at)
                kernels.arc_block(*arcs.entering, self.power, self.arc_weight, False, *at)
            return sums

        sums = np.sum(map_blocks(task, self.edges, self.n_jobs), axis=0)
        if self.hold:
            force[data.pivots] = 0.0
        else:
            pulled, pressed = pull.sum(axis=0, dtype=float), press.sum(axis=0, dtype=float)
            force[data.pivots] += pulled[:m].T + np.outer(pulled[m], omega)
            curve[:2, data.pivots] += (1 + 1 / self.theta) * pressed
            sums += self._among(X, omega, P, lift, force, curve)
        self.square, self.per_point = float(sums[1]), curve[2]
        step = _divide(force, curve, omega)
        return Evaluation(float(sums[0]), step, 2 * float(np.vdot(step, force)), omega)

    def _among(self, X: Array, omega: Array, P: Array, lift: Array, force: Array, curve: Array) -> Array:
        """Add the pairs of pivots with each other; return their stress and sum of squares."""
        data = self.data
        m, h = P.shape
        own, bend = np.empty((h, m)), np.empty((3, h))
        pull, press = np.zeros((m + 1, h), self.kind), np.zeros((2, h), self.kind)
        at = P, lift, X[data.pivots], omega
        sums = kernels.pivot_rows(*self.rows, *self.rule, *at, self.times, own, bend, pull, press)
        force[data.pivots] += own + pull[:m].T + np.outer(pull[m], omega)
        curve[:2, data.pivots] += 2 * (bend[:2] + press)
        return np.array(sums)

    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Drift that fits the pairs with the pivots best, the points staying where they are."""
        m = X.shape[1]
        data = self.data
        P = np.ascontiguousarray(X[data.pivots].T)
        n_blocks = len(self.edges) - 1
        second, moment = np.zeros((n_blocks, m, m)), np.zeros((n_blocks, m))

        def task(block: int, start: int, stop: int) -> None:
            sums = second[block], moment[block]
            kernels.drift_block(data.out_of, data.into, *self.rule, P, X, omega, start, stop, *sums)

        map_blocks(task, self.edges, self.n_jobs)
        return best_drift(second.sum(axis=0), moment.sum(axis=0))


class StreamedProblem(PairProblem):
    """Any ordered pairs, read chunk by chunk at every pass; only arrays of (N, m) are kept."""

    def __init__(self, stream: PairStream):
        self.stream, self.n_points = stream, stream.n_points
        self._second, self._moment = np.zeros((0, 0)), np.zeros(0)
        self._n_pairs: int | None = None  # of the first pass

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the chunks."""
        n, m = X.shape
        force, curve = np.zeros((n, m)), np.zeros((3, n))
        second, moment = np.zeros((m, m)), np.zeros(m)
        sums, n_pairs = np.zeros(2), 0
        for rows, columns, D, W in self.stream:
            sums += kernels.chunk(rows, columns, D, W, X, omega, force, curve, second, moment)
            n_pairs += len(rows)
        self._require_the_same(n_pairs)
        self.square, self.per_point = float(sums[1]), curve[2]
        self._second, self._moment = second, moment
        step = _divide(force, curve, omega)
        return Evaluation(float(sums[0]), step, 2 * float(np.vdot(step, force)), omega)

    def _require_the_same(self, n_pairs: int) -> None:
        """Refuse a stream without pairs, and one that is not the same at every pass."""
        if self._n_pairs is None:
            self._n_pairs = n_pairs
        if n_pairs == 0 and self._n_pairs == 0:
            raise InputError("pairs has no pair of two points with a finite D and a weight above 0.")
        if n_pairs != self._n_pairs:
            raise InputError(
                f"pairs must give the same chunks at every pass: the first had {self._n_pairs} pairs, this one {n_pairs}. "
                "A function given as chunks must return a new iterator at each call."
            )

    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Drift that fits the pairs best."""
        self.evaluate(X, omega)
        return best_drift(self._second, self._moment)


def _divide(force: Array, curve: Array, omega: Array) -> Array:
    """``(across I + along omega omega')^-1 force`` for each node."""
    across = np.maximum(curve[0], np.finfo(float).tiny)
    step = force / across[:, None]
    ratio = curve[1] / across
    step -= np.outer((step @ omega) * ratio / (1 + ratio * (omega @ omega)), omega)
    return step


# Pairs that come in chunks: from a file, a generator, a data base; never all at once in memory.

Chunk = tuple[Array, Array, Array, Array]


class PairStream:
    """Ordered pairs in chunks ``(i, j, D_ij, w_ij)`` of equally long arrays, read anew at every pass.

    Parameters
    ----------
    n_points : int
        Number of points; i and j are positions from 0 to ``n_points - 1``.
    chunks : callable or iterable
        A function that gives an iterator over the chunks each time it is called, or something that can be iterated over
        again and again, such as a list. D is the dissimilarity **from i to j**; a negative one, ``-b``, is a bound, "at
        least b". Pairs of weight 0, and those whose D is NaN or inf, are left out.

    Examples
    --------
    >>> stream = PairStream(3, [([0, 1], [1, 2], [2.0, 1.0], [1.0, 1.0]), ([2], [0], [np.inf], [1.0])])
    >>> [len(i) for i, j, D, w in stream]
    [2, 0]
    """

    def __init__(self, n_points: int, chunks: Callable[[], Iterable[Any]] | Iterable[Any]):
        count: Any = n_points
        if not isinstance(count, Integral) or count < 1:
            raise InputError(f"n_points must be a whole number of at least 1, got {n_points!r}.")
        if isinstance(chunks, Iterator):
            raise InputTypeError(
                "chunks is used up after one pass; give a function that returns a new iterator at each call, or a list."
            )
        self.n_points = int(n_points)
        self._chunks = chunks

    @classmethod
    def from_files(cls, n_points: int, paths: Sequence[str | os.PathLike[str]]) -> PairStream:
        """Chunks from npz files with the arrays ``i``, ``j``, ``D`` and, if they do not all weigh 1, ``w``."""
        if isinstance(paths, str | os.PathLike):
            raise InputTypeError(f"paths must be a list of files, got the single path {os.fspath(paths)!r}.")
        files = [Path(path) for path in paths]
        for file in files:
            if not file.is_file():
                raise FileNotFoundError(f"paths: there is no file {str(file)!r}.")

        def read() -> Iterator[Any]:
            for file in files:
                arrays = read_npz(file, ("i", "j", "D", "w"), kinds="biuf")
                lost = [name for name in ("i", "j", "D") if name not in arrays]
                if lost:
                    raise InputError(f"{str(file)!r} has no array {lost[0]!r}; it needs i, j and D.")
                i, j, D = arrays["i"], arrays["j"], arrays["D"]
                yield i, j, D, arrays.get("w", np.ones(D.shape))

        return cls(n_points, read)

    def __iter__(self) -> Iterator[Chunk]:
        chunks = self._chunks() if callable(self._chunks) else self._chunks
        if not isinstance(chunks, Iterable):
            raise InputTypeError(
                f"chunks must be a list of chunks, or a function that returns an iterator over them; got {chunks!r}."
            )
        for number, chunk in enumerate(chunks):
            yield self._checked(number, chunk)

    def _checked(self, number: int, chunk: Any) -> Chunk:
        if not isinstance(chunk, tuple | list) or len(chunk) != 4:
            raise InputError(f"Chunk {number} must be four arrays (i, j, D, w), got {type(chunk).__name__}.")
        i, j = np.asarray(chunk[0]), np.asarray(chunk[1])
        D, w = np.asarray(chunk[2], dtype=float), np.asarray(chunk[3], dtype=float)
        if not i.shape == j.shape == D.shape == w.shape or i.ndim != 1:
            shapes = ", ".join(str(a.shape) for a in (i, j, D, w))
            raise InputError(f"Chunk {number} must hold four arrays of one length, got shapes {shapes}.")
        for name, index in (("i", i), ("j", j)):
            if index.size and index.dtype.kind not in "iu":
                raise InputTypeError(f"{name} in chunk {number} must be whole numbers, got {index.dtype}.")
            if index.size and not (index.min() >= 0 and index.max() < self.n_points):
                raise InputError(
                    f"{name} in chunk {number} must be within 0..{self.n_points - 1}; it goes from {index.min()} to "
                    f"{index.max()}."
                )
        if not (w >= 0).all() or np.isinf(w).any():
            where = int(np.argmax(~(w >= 0) | np.isinf(w)))
            raise InputError(
                f"w in chunk {number} must be finite and not negative: w[{where}] is {w[where]}."
            )
        use = np.isfinite(D) & (w > 0) & (i != j)
        if not use.all():
            i, j, D, w = i[use], j[use], D[use], w[use]
        return i.astype(np.int64), j.astype(np.int64), D, w
