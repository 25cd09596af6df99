"""The sparse Finsler stress as the majorisation loop sees it: pairs of nodes and pivots, and the arcs.

A pass gives the stress and a step. All nodes move at once, each by its force over a curvature of its own; with
``||s - t||^2 <= (1 + theta) ||s||^2 + (1 + 1/theta) ||t||^2`` for the two ends of a pair, such a step lies below the
majoriser of `finsler.solvers.problem` and so cannot go uphill. A small theta lets the many nodes go nearly as
far as if the pivots stood still, and the few pivots, which a coarse map has put in place before, go slowly.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.inputs.pair_stream import PairStream
from finsler.inputs.pivots import PivotDistances, blocks
from finsler.kernels import sparse as kernels
from finsler.runtime import map_blocks
from finsler.solvers.drift import best_drift
from finsler.solvers.problem import Evaluation, Problem

Array = NDArray[Any]

THETA = 0.25
AMONG = 1.0
FINE = 2000  # maps of up to this many nodes are computed in double precision


@dataclass(frozen=True, eq=False)
class ArcPairs:
    """Arcs by the node they leave and by the node they enter, as CSR triples ``indptr, indices, lengths``."""

    leaving: tuple[Array, Array, Array]
    entering: tuple[Array, Array, Array]

    @classmethod
    def of(cls, matrix: Any, hops: bool) -> ArcPairs:
        """Arcs of a CSR matrix; with ``hops`` each is one long."""

        def triple(m: Any) -> tuple[Array, Array, Array]:
            lengths = np.ones(1, np.float32) if hops else m.data.astype(np.float32)
            if hops:  # one number for all arcs, whatever their number
                lengths = np.broadcast_to(lengths, m.nnz)
            return m.indptr.astype(np.int64), m.indices.astype(np.uint32), lengths

        return cls(triple(matrix), triple(matrix.T.tocsr()))


class PairProblem(Problem):
    """A stress over some of the pairs; what it knows beyond the stress after a pass."""

    square: float = np.nan
    """Weighted sum of squares of the data."""
    per_point: Array | None = None
    """Stress of each node."""

    @abstractmethod
    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Drift that fits the pairs best, the points staying where they are; ``omega`` is the one so far."""


class SparseProblem(PairProblem):
    """Pairs of every node with the pivots, each standing for its region, and the arcs.

    Parameters
    ----------
    data : PivotDistances
    fixed_drift : ndarray of shape (m,) or None
        The drift, or None to keep whatever drift the pass is given.
    arcs : ArcPairs, optional
    power : {0, 1, 2}
        A pair at distance d weighs ``1/d^power``.
    bound : float
        Pairs without a path are left out (0), or kept at least so far apart.
    """

    def __init__(
        self,
        data: PivotDistances,
        fixed_drift: Array | None,
        arcs: ArcPairs | None = None,
        *,
        power: int = 0,
        bound: float = 0.0,
        theta: float = THETA,
        among: float = AMONG,
        n_jobs: int | None = None,
    ):
        self.data = data
        self.n_points = data.n_nodes
        self.fixed_drift = fixed_drift
        self.arcs = arcs
        self.power = power
        self.bound = bound
        self.theta = theta
        self.n_jobs = n_jobs
        self.kind = np.float64 if data.n_nodes <= FINE else np.float32
        # Half: the pairs of a node with all pivots stand for those with all nodes, and each has two ends.
        share = 0.5 / (1 + among)
        self.ahead, self.behind = (
            (mass * share).astype(self.kind) for mass in (data.mass_ahead, data.mass_behind)
        )
        self.times = (among * np.maximum(data.mass_ahead, data.mass_behind) * (data.n_nodes / data.mass_of_all)).astype(
            self.kind
        )
        self.rows = tuple(np.ascontiguousarray(part[data.pivots]) for part in (data.out_of, data.into))
        self.soft = (data.radius**2).astype(self.kind)
        self.edges = blocks(data.n_nodes)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the pairs."""
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        n, m = X.shape
        data = self.data
        P = np.ascontiguousarray(X[data.pivots].T.astype(self.kind))
        lift = (X[data.pivots] @ omega).astype(self.kind)
        n_blocks = len(self.edges) - 1
        force, curve = np.empty((n, m)), np.empty((3, n))
        pull = np.zeros((n_blocks, m + 1, data.n_pivots), self.kind)
        press = np.zeros((n_blocks, 2, data.n_pivots), self.kind)
        arcs = self.arcs

        def task(block: int, start: int, stop: int) -> tuple[float, float]:
            sums = kernels.pivot_block(
                data.out_of, data.into, data.far, self.bound, self.ahead, self.behind, self.soft, self.power, P, lift, X,
                omega, start, stop, force, curve, pull[block], press[block],
            )  # fmt: skip
            curve[:2, start:stop] *= 1 + self.theta
            if arcs is not None:
                more = kernels.arc_block(
                    *arcs.leaving, self.power, True, X, omega, start, stop, force, curve
                )
                kernels.arc_block(*arcs.entering, self.power, False, X, omega, start, stop, force, curve)
                sums = sums[0] + more[0], sums[1] + more[1]
            return sums

        sums = np.array(map_blocks(task, self.edges, self.n_jobs)).sum(axis=0)
        Y = X[data.pivots]
        own = np.empty((data.n_pivots, m)), np.empty((3, data.n_pivots))
        more, less = np.zeros((m + 1, data.n_pivots), self.kind), np.zeros((2, data.n_pivots), self.kind)
        sums += kernels.pivot_rows(
            *self.rows, data.far, self.bound, self.ahead, self.behind, self.soft, self.power, P, lift, Y, omega, self.times,
            *own, more, less,
        )  # fmt: skip
        force[data.pivots] += own[0] + more[:m].T + np.outer(more[m], omega)
        curve[:2, data.pivots] += 2 * (own[1][:2] + less)
        pulled, pressed = pull.sum(axis=0, dtype=float), press.sum(axis=0, dtype=float)
        force[data.pivots] += pulled[:m].T + np.outer(pulled[m], omega)
        curve[:2, data.pivots] += (1 + 1 / self.theta) * pressed
        self.square, self.per_point = float(sums[1]), curve[2]
        step = _divide(force, curve, omega)
        return Evaluation(float(sums[0]), step, 2 * float(np.vdot(step, force)), omega)

    def fit_drift(self, X: Array, omega: Array) -> Array:
        """Drift that fits the pairs with the pivots best, the points staying where they are."""
        m = X.shape[1]
        data = self.data
        P = np.ascontiguousarray(X[data.pivots].T)
        n_blocks = len(self.edges) - 1
        second, moment = np.zeros((n_blocks, m, m)), np.zeros((n_blocks, m))

        def task(block: int, start: int, stop: int) -> None:
            kernels.drift_block(
                data.out_of, data.into, data.far, self.bound, self.ahead, self.behind, self.soft, self.power, P, X, omega,
                start, stop, second[block], moment[block],
            )  # fmt: skip

        map_blocks(task, self.edges, self.n_jobs)
        return best_drift(second.sum(axis=0), moment.sum(axis=0))


class StreamedProblem(PairProblem):
    """Any ordered pairs, read chunk by chunk at every pass; only arrays of (N, m) are kept."""

    def __init__(self, stream: PairStream, fixed_drift: Array | None):
        self.stream = stream
        self.n_points = stream.n_points
        self.fixed_drift = fixed_drift
        self._second, self._moment = np.zeros((0, 0)), np.zeros(0)

    def evaluate(self, X: Array, omega: Array) -> Evaluation:
        """One pass over the chunks."""
        if self.fixed_drift is not None:
            omega = self.fixed_drift
        n, m = X.shape
        force, curve = np.zeros((n, m)), np.zeros((3, n))
        second, moment = np.zeros((m, m)), np.zeros(m)
        sums = np.zeros(2)
        for rows, columns, D, W in self.stream:
            sums += kernels.chunk(rows, columns, D, W, X, omega, force, curve, second, moment)
        self.square, self.per_point = float(sums[1]), curve[2]
        self._second, self._moment = second, moment
        step = _divide(force, curve, omega)
        return Evaluation(float(sums[0]), step, 2 * float(np.vdot(step, force)), omega)

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
