"""DigraphEmbedding: a map that keeps the distances of a directed graph and the order of its neighbors."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from finsler._arguments import as_random_state, check_arguments, check_number
from finsler.embedding import Embedding
from finsler.errors import InputError, check_choice, check_count
from finsler.geometry.randers import drift_vector, randers_distance_blocks
from finsler.graphs.digraph import Digraph, as_digraph
from finsler.graphs.scores import DigraphScores, digraph_scores
from finsler.learn.digraph_fit import DigraphFit, Objective, fit_digraph
from finsler.learn.digraph_objective import SPARSE, RankedStress, hop_counts
from finsler.learn.digraph_sampled import PAIRS_PER_NODE, SampledRankedStress
from finsler.learn.digraph_stress import DenseStress
from finsler.learn.model import LARGEST_ALPHA, check_device
from finsler.solvers.drift import upright

Array = NDArray[np.floating[Any]]

MOST = 1e12  # of numbers whose multiples torch computes in single precision
ALL_PAIRS = 20_000  # nodes up to which "auto" works with all pairs: 400 MB of hop counts


class DigraphEmbedding(BaseEstimator):
    """Map of a digraph: distances on it are numbers of arcs, and the nearest nodes are the out-neighbors.

    Minimizes ``mean (d - D)^2 / D`` over reachable ordered pairs, D the number of arcs on the shortest path, plus
    `ranking_weight` times a cross-entropy that wants the out-neighbors of each node nearer than all other nodes;
    `finsler.learn.digraph_objective` has the formulas.

    Parameters
    ----------
    n_components : int, default=10
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto", default="auto"
        Strength of the drift. 0 is a Euclidean map; "auto" fits it.
    ranking_weight : float, default=0.04
        Lambda: more of it ranks neighbors better and keeps distances less well. 0.01 to 0.3 are sensible.
    temperature : float, default=0.1
        Tau: how much nearer than others a neighbor should be, in arcs.
    max_iter : int, default=400
        Iterations over all stages.
    tol : float, default=1e-6
        Relative decrease per iteration below which a stage ends.
    n_pairs : int, "all" or "auto", default="auto"
        Pairs of nodes whose distances count. "all" needs memory for N^2 bytes; a number is how many farther nodes are
        sampled for each node, beside its out-neighbors, in the mean, for graphs of any size. "auto" is "all" up to
        20,000 nodes and 128 beyond.
    time_limit : float, optional
        Seconds after which the best map so far is taken.
    random_state : int, RandomState instance or None, default=None
        Decides the start and the samples; the same number gives the same map, for any `n_jobs`.
    n_jobs : int, optional
        Threads; all cores by default.
    device : str, default="cpu"
        Where torch computes, for example "cuda"; maps from a sample of pairs are computed on the CPU.
    verbose : bool, int or "auto", default="auto"
        Progress line on stderr: "auto" shows one on a terminal once two seconds have passed.

    Attributes
    ----------
    embedding_ : ndarray of shape (N, n_components)
        Coordinates; the last column is the height.
    omega_, alpha_ : ndarray of shape (n_components,), float
        Drift of the map, and its norm.
    labels_ : list
        Names of the nodes, in the order of the rows.
    graph_ : Digraph
        The graph as it was read.
    result_ : Embedding
        The map with its labels: measure, save, plot, explore.
    objective_ : float
        What was minimized, at the end.
    history_ : ndarray
        Objective after each iteration; it may rise where a stage begins.
    n_iter_, n_evaluations_ : int
        Iterations, and evaluations of the objective.
    status_, message_ : str
        How it ended, as a word and in a sentence.
    n_features_in_ : int
        Number of nodes.

    Examples
    --------
    A one-way ring of eight nodes; against the traffic the way is long.

    >>> ring = [(k, (k + 1) % 8) for k in range(8)]
    >>> fitted = DigraphEmbedding(3, random_state=0, max_iter=200, tol=1e-4).fit(ring)
    >>> fitted.embedding_.shape
    (8, 3)
    >>> fitted.scores().MAP > 0.5
    True
    """

    def __init__(
        self,
        n_components: int = 10,
        *,
        alpha: float | str = "auto",
        ranking_weight: float = 0.04,
        temperature: float = 0.1,
        max_iter: int = 400,
        tol: float = 1e-6,
        n_pairs: int | str = "auto",
        time_limit: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str = "cpu",
        verbose: bool | int | str = "auto",
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.ranking_weight = ranking_weight
        self.temperature = temperature
        self.max_iter = max_iter
        self.tol = tol
        self.n_pairs = n_pairs
        self.time_limit = time_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True  # a matrix of arcs, from row to column
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None) -> DigraphEmbedding:
        """Find the map.

        Parameters
        ----------
        X : Digraph, networkx or igraph graph, scipy sparse matrix, pandas edge list, arrays of arcs, or a file
            Whatever :func:`~finsler.graphs.digraph.as_digraph` reads. Lengths of arcs are not used.
        y : ignored
        """
        self._check_parameters()
        graph = X if isinstance(X, Digraph) else as_digraph(X, weight=None)
        sources = _active_nodes(graph, int(self.n_components))
        seed = int(as_random_state(self.random_state).randint(2**31 - 1))
        n_pairs: Any = self.n_pairs
        if n_pairs == "auto":
            n_pairs = "all" if graph.n_nodes <= ALL_PAIRS else PAIRS_PER_NODE
        counts = hop_counts(graph, sources, self.n_jobs) if n_pairs == "all" else None
        found = fit_digraph(
            self._objective(graph, sources, counts, n_pairs, seed),
            int(self.n_components),
            alpha=None if self.alpha == "auto" else float(self.alpha),
            max_iter=int(self.max_iter),
            tol=float(self.tol),
            seed=seed,
            time_limit=self.time_limit,
            verbose=self.verbose,
        )
        self._keep(graph, found, sources, counts)
        return self

    def _objective(
        self, graph: Digraph, sources: NDArray[Any], counts: NDArray[Any] | None, n_pairs: Any, seed: int
    ) -> Objective:
        """What to minimize, in the form that is fastest for this graph: ``counts`` are all hop counts, or None."""
        weights = float(self.ranking_weight), float(self.temperature)
        every = counts is not None
        if counts is not None and (self.ranking_weight > 0 or self.device != "cpu"):
            return RankedStress(counts, sources, *weights, device=self.device, n_jobs=self.n_jobs)
        if (
            counts is not None
            and np.count_nonzero(counts < np.iinfo(counts.dtype).max) > SPARSE * counts.size
        ):
            return DenseStress(counts, sources, n_jobs=self.n_jobs)
        return SampledRankedStress(
            graph,
            sources,
            *weights,
            n_pairs=graph.n_nodes if every else n_pairs,
            dtype=np.float64 if every else np.float32,
            seed=seed,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def fit_transform(self, X: Any, y: Any = None) -> Array:
        """Find the map and return its coordinates; the arguments are those of ``fit``."""
        return self.fit(X).embedding_

    def scores(
        self, graph: Any = None, *, n_sources: int | None = None, random_state: int = 0
    ) -> DigraphScores:
        """Distortion B and C, and mean average precision of out-neighbors (`finsler.graphs.scores`).

        Parameters
        ----------
        graph : any graph with the same nodes, optional
            What to compare with; the graph that was fitted by default.
        n_sources : int, optional
            Nodes to draw for an estimate on a large graph; all by default.
        random_state : int, default=0
            Decides the draw.
        """
        check_is_fitted(self)
        return digraph_scores(
            self.embedding_,
            self.omega_,
            self.graph_ if graph is None else graph,
            n_sources=n_sources,
            random_state=random_state,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def score(self, X: Any = None, y: Any = None) -> float:
        """Minus the distortion B, so that more is better."""
        return -self.scores(X).B

    def _check_parameters(self) -> None:
        check_arguments(type(self).__init__, self.get_params(deep=False))
        for name in ("n_components", "max_iter"):
            check_count(name, getattr(self, name))
        if isinstance(self.n_pairs, str):
            check_choice("n_pairs", self.n_pairs, ("auto", "all"))
        else:
            check_count("n_pairs", self.n_pairs)
        for name, least in (("ranking_weight", 0.0), ("tol", 0.0), ("temperature", 1e-6)):
            check_number(name, getattr(self, name), least, MOST)
        check_number("time_limit", self.time_limit, 0.0, open_ends=True, optional=True)
        if not isinstance(self.alpha, str):
            check_number("alpha", self.alpha, 0.0, LARGEST_ALPHA)
        elif self.alpha != "auto":
            raise InputError(
                f"must be 'auto' or in [0, {LARGEST_ALPHA}], got {self.alpha!r}.", argument="alpha"
            )
        check_device(self.device)

    def _keep(
        self, graph: Digraph, found: DigraphFit, sources: NDArray[Any], counts: NDArray[Any] | None
    ) -> None:
        self.graph_, self.labels_, self.n_features_in_ = graph, graph.nodes, graph.n_nodes
        X = found.coordinates.cpu().numpy()
        self.embedding_, self.omega_ = upright(X, drift_vector(found.alpha, X.shape[1]))
        self.alpha_, self.objective_, self.history_ = found.alpha, found.value, np.array(found.history)
        self.n_iter_, self.n_evaluations_ = len(found.history), found.n_evaluations
        self.status_, self.message_ = found.status, found.message
        stress, normalized, per_point = _fit_of_points(self.embedding_, self.omega_, sources, counts)
        columns = {role: name for role, name in graph.provenance.columns.items() if role != "value"}
        self.result_ = Embedding(
            coordinates=self.embedding_,
            drift=self.omega_,
            labels=graph.labels,
            stress=stress,
            normalized_stress=normalized,
            stress_per_point=per_point,
            n_iter=self.n_iter_,
            status=found.status,
            message=found.message,
            provenance=graph.provenance.having(counts_arcs=True, columns=columns),
            alpha_source="fitted" if self.alpha == "auto" else "given",
        )
        if found.status == "max_iter" and counts is not None:
            warnings.warn(f"DigraphEmbedding: {found.message}", ConvergenceWarning, stacklevel=3)


def _active_nodes(graph: Digraph, n_components: int) -> NDArray[Any]:
    """Nodes with out-neighbors, after a look at whether there is anything to fit."""
    if graph.n_nodes < 2 or graph.n_arcs == 0:
        raise InputError(
            f"The graph has {graph.n_nodes} node(s) and {graph.n_arcs} arc(s) between different nodes; a map needs at "
            "least two nodes and one arc."
        )
    if n_components > graph.n_nodes:
        raise InputError(
            f"n_components={n_components} is more than the graph has nodes ({graph.n_nodes}); use fewer dimensions.",
            argument="n_components",
        )
    return np.flatnonzero(np.diff(graph.matrix.indptr))


def _fit_of_points(
    X: Array, omega: Array, sources: NDArray[Any], counts: NDArray[Any] | None
) -> tuple[float | None, float | None, Array]:
    """Sum of (d - D)^2 / D, root of its share in the sum of D, and shares of the nodes; none if pairs were sampled."""
    share, total, row = np.zeros(len(X)), 0.0, 0
    if counts is None:
        return None, None, np.full(len(X), math.nan)
    far = np.iinfo(counts.dtype).max
    for start, stop, block in randers_distance_blocks(X, drift=omega):
        end = int(np.searchsorted(sources, stop))
        D = counts[row:end].astype(float)
        counted = (D > 0) & (far > D)
        errors = np.zeros_like(D)
        errors[counted] = ((block[sources[row:end] - start] - D) ** 2)[counted] / D[counted]
        share += errors.sum(axis=0)
        share[sources[row:end]] += errors.sum(axis=1)
        total += float(D[counted].sum())
        row = end
    stress = float(share.sum() / 2)
    return stress, math.sqrt(stress / total), share / share.sum() if stress > 0 else share
