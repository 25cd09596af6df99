"""FinslerIsomap: maps of points on a manifold with a drift or a current, with scikit-learn's manners."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from finsler._arguments import check_arguments
from finsler.data.fields import randers_field
from finsler.data.frames import labeled
from finsler.data.labels import point_labels
from finsler.embedding import Embedding
from finsler.errors import InputError, check_choice
from finsler.estimators.mds import SOLVERS, MapEstimator
from finsler.graphs.digraph import Digraph
from finsler.graphs.distances import choose_method
from finsler.graphs.neighbors import JoinedPoints, extend_geodesics, join_points
from finsler.graphs.pivots import N_PIVOTS, pivot_graph
from finsler.solvers.options import PIVOT_DEFAULTS, SparseOptions, options_of
from finsler.solvers.placement import place
from finsler.solvers.sparse.solver import Plan, map_graph

Array = NDArray[np.floating[Any]]


class FinslerIsomap(MapEstimator):
    """Map of points on a manifold where a drift or a current makes the way there differ from the way back.

    Joins each point to its neighbors, measures the edges both ways with the Randers metric there, takes the lengths
    of the shortest paths for dissimilarities, and finds points whose Randers distances
    ``d(x, y) = ||y - x|| + alpha (y - x)[last]`` are close to them. Without a field this is Isomap with metric scaling.

    Parameters
    ----------
    n_components : int, default=3
        Dimension of the map, the height included: a sheet and the axis in which it is tilted.
    alpha : float in [0, 1) or "auto", default=0.5
        Strength of the drift of the map: straight up costs (1 + alpha)/(1 - alpha) times straight down. The map of a
        sheet with a constant drift of norm a is tilted by an angle whose sine is a/alpha, so a smaller alpha shows
        the asymmetry better, as long as it is above a. "auto" fits it to the data, which sheets hardly determine. With a
        `swirl` rather take "auto": a number stays the drift at the middle of the map.
    n_neighbors : int or "auto", default="auto"
        Nearest points to which each point is joined. "auto" is 10, and on a lattice in the plane more directions, so that
        ways are hardly too long, see :func:`~finsler.graphs.neighbors.neighborhood_graph`.
    radius : float, optional
        Join all points within this distance instead.
    graph : sparse matrix or transformer, optional
        Neighbors from elsewhere instead, see :func:`~finsler.graphs.neighbors.neighborhood_graph`. New points are
        joined by the ``transform`` of a transformer, and by `n_neighbors` if the graph is a matrix.
    drift, current, metric : array-like, callable or None
        The field, see :func:`~finsler.graphs.neighbors.geodesic_distances`: a step u costs ``||u|| + drift.u``; or takes the
        time of a boat of speed 1 in the current; or costs ``sqrt(u' M u) + omega.u`` with ``metric=(M, omega)``.
        Functions, which give the vectors at the points they are given, belong here; arrays with one vector per sample
        rather belong to ``fit``, whose arguments come before these.
    zermelo : {"exact", "first-order"}, default="exact"
        What a current means: travel times, or their approximation ``||u|| - current.u`` (the paper's).
    rule : {"average", "start"}, default="average"
        Measure an edge by the metrics of both its ends or of its start (the paper's).
    unreachable : {"raise", "largest"}, default="raise"
        If the neighborhood graph is in several pieces: refuse, or map the largest and warn.
    method : {"auto", "dense", "sparse"}, default="auto"
        All pairs of points ("dense"), or the edges and the pairs with some pivots ("sparse"), for points too many for all
        pairs. "auto" is dense up to 5,000 points, and with ``solver="classical"`` or `weights`.
    n_pivots : int, optional
        Pivots of a sparse map, 100 by default.
    solver, swirl, init, n_init, accelerate, time_limit, callback
        Of the solver, as in :class:`~finsler.estimators.mds.FinslerMDS`.
    max_iter, tol : int and float, optional
        Of the solver, too: 500 and 1e-7, and 200 and 3e-4 for a sparse map.
    dtype : {float64, float32}, default=float64
        Type of ``dist_matrix_``.
    n_jobs : int, optional
        Threads; None means all. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of random starts.
    verbose : bool or "auto", default="auto"
        Progress line on stderr: "auto" shows one on a terminal once two seconds have passed.

    Attributes
    ----------
    embedding_ : ndarray of shape (n_kept, n_components)
        Coordinates of the map; the last column is the height.
    kept_ : ndarray of shape (n_kept,)
        Rows of ``X`` that are on the map: all, unless ``unreachable="largest"`` left some out.
    result_ : Embedding
        The map with its labels: measure, save, plot.
    dist_matrix_ : ndarray of shape (n_kept, n_kept)
        Lengths of the shortest paths, from row to column. Not of sparse maps.
    pivot_distances_ : PivotDistances
        Of sparse maps: lengths of the shortest paths to and from the pivots, in units of the mean edge.
    neighbors_graph_ : scipy.sparse.csr_array of shape (n_kept, n_kept)
        Lengths of the edges, from row to column.
    alpha_, omega_ : float, ndarray of shape (n_components,)
        Strength of the drift of the map, and that drift itself; with a swirl, at the middle of the map.
    swirl_, stress_, normalized_stress_, stress_per_point_, history_, n_iter_, status_, message_
        As in :class:`~finsler.estimators.mds.FinslerMDS`.
    n_features_in_ : int
        Columns seen by ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from finsler.estimators.isomap import FinslerIsomap
    >>> points = np.random.default_rng(0).uniform(size=(60, 2))
    >>> isomap = FinslerIsomap(2, alpha=0.3).fit(points, drift=np.tile([0.3, 0.0], (60, 1)))
    >>> west, east = np.argmin(points[:, 0]), np.argmax(points[:, 0])
    >>> isomap.result_.distance(west, east) > isomap.result_.distance(east, west)
    True
    >>> isomap.transform([[0.5, 0.5]]).shape
    (1, 2)
    """

    def __init__(
        self,
        n_components: int = 3,
        *,
        alpha: float | str = 0.5,
        n_neighbors: int | str = "auto",
        radius: float | None = None,
        graph: Any = None,
        drift: Any = None,
        current: Any = None,
        metric: Any = None,
        zermelo: str = "exact",
        rule: str = "average",
        unreachable: str = "raise",
        method: str = "auto",
        n_pivots: int | None = None,
        solver: str = "smacof",
        swirl: bool | str = False,
        init: str | ArrayLike = "classical",
        n_init: int | str = "auto",
        max_iter: int | None = None,
        tol: float | None = None,
        accelerate: bool = True,
        time_limit: float | None = None,
        callback: Callable[[Any], Any] | None = None,
        dtype: DTypeLike = np.float64,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool | int | str = "auto",
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.n_neighbors = n_neighbors
        self.radius = radius
        self.graph = graph
        self.drift = drift
        self.current = current
        self.metric = metric
        self.zermelo = zermelo
        self.rule = rule
        self.unreachable = unreachable
        self.method = method
        self.n_pivots = n_pivots
        self.solver = solver
        self.swirl = swirl
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.time_limit = time_limit
        self.callback = callback
        self.dtype = dtype
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        drift: Any = None,
        current: Any = None,
        metric: Any = None,
        weights: ArrayLike | None = None,
    ) -> FinslerIsomap:
        """Find the map.

        Parameters
        ----------
        X : array-like of shape (n, d) or DataFrame
            Points, at least two; a DataFrame's index gives the labels.
        y : ignored
        drift, current, metric : array-like or callable, optional
            The field, at most one of the three, in place of that of the constructor.
        weights : array-like of shape (n, n), optional
            Weight of each ordered pair; all 1 by default. Of dense maps only.
        """
        self._check_parameters()
        check_arguments(FinslerIsomap.fit, locals())
        if self.unreachable not in ("raise", "largest"):
            raise InputError(
                f"unreachable must be 'raise' or 'largest' here, got {self.unreachable!r}: pieces without a way between "
                "them have no common frame.",
                argument="unreachable",
            )
        X = labeled(X)
        points = self._checked(X, dtype=np.float64, ensure_min_samples=2)
        n = len(points)
        if weights is not None and np.shape(weights) != (n, n):
            raise InputError(
                f"weights must have shape ({n}, {n}), one for each ordered pair; got {np.shape(weights)}."
            )
        method = choose_method(
            self.method, n, {"weights": weights is not None, "solver='classical'": self.solver == "classical"},
            {"n_pivots": self.n_pivots is not None},
        )  # fmt: skip
        plan = self._plan() if method == "sparse" else None
        field = randers_field(X, **self._field(drift, current, metric), zermelo=self.zermelo)
        graph = self.graph
        self._transformer = clone(graph, safe=False) if hasattr(graph, "fit_transform") else None
        if self._transformer is not None:
            graph = self._transformer.fit_transform(points)
        found = join_points(
            points, field, n_neighbors=self.n_neighbors, radius=self.radius, graph=graph, rule=self.rule,
            unreachable=self.unreachable,
        )  # fmt: skip
        if found.warning:
            warnings.warn(f"FinslerIsomap: {found.warning}", UserWarning, stacklevel=2)
        for name in ("dist_matrix_", "pivot_distances_"):  # of an earlier fit
            if hasattr(self, name):
                delattr(self, name)
        if plan is not None:
            self._solve_sparse(found, point_labels(X), plan)
        else:
            running = {name: getattr(self, name) for name in ("dtype", "n_jobs", "verbose")}
            data = found.dissimilarities(point_labels(X), weights, **running)
            facts = data.provenance.having(method="dense")
            self._solve(replace(data, provenance=facts))
            self.dist_matrix_ = data.matrix
        self._n_samples = n
        self._fit_points = points[found.kept]
        self._fit_field = found.field
        self.kept_ = found.kept
        self.neighbors_graph_: csr_array = found.edges
        return self

    def _plan(self) -> Plan:
        """What a sparse map is asked to be, checked before anything is measured."""
        check_choice("solver", self.solver, SOLVERS)
        options = cast(SparseOptions, options_of(self, PIVOT_DEFAULTS))
        return Plan.of("FinslerIsomap", self.n_components, self.alpha, "uniform", options)

    def _solve_sparse(self, found: JoinedPoints, labels: list[Any] | None, plan: Plan) -> None:
        """Map the points by their edges and some pivots."""
        graph = Digraph(found.edges, found.labels_of(labels), found.provenance(labels))
        measured = pivot_graph(graph, N_PIVOTS if self.n_pivots is None else self.n_pivots, **plan.running)
        solution, scores = map_graph(measured, plan)
        facts = measured.provenance.having(chosen=self.method == "auto")
        self.result_ = Embedding.from_solution(
            solution, labels=graph.labels, provenance=facts, held_out=scores
        )
        self.pivot_distances_ = measured.pivots
        self._unit = measured.unit
        self._keep(solution)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Array:
        """Find the map and return its coordinates, one row per sample; NaN where a point was left out.

        The arguments are those of ``fit``.
        """
        self.fit(X, **fit_params)
        if len(self.kept_) == self._n_samples:
            return self.embedding_
        rows = np.full((self._n_samples, self._n_features_out), np.nan)
        rows[self.kept_] = self.embedding_
        return rows

    def transform(self, X: Any, *, drift: Any = None, current: Any = None, metric: Any = None) -> Array:
        """Place new points into the fitted map, each independently of the others.

        A new point is joined to its fitted neighbors, and from there the fitted paths go on.

        Parameters
        ----------
        X : array-like of shape (k, d)
            New points.
        drift, current, metric : array-like or callable, optional
            The field at the new points, at most one of the three. By default what the function gives there that gave
            it at the fitted points; or if that was an array, the metric of the nearest fitted point.

        Returns
        -------
        ndarray of shape (k, n_components)
        """
        check_is_fitted(self)
        X = labeled(X)
        points = self._checked(X, dtype=np.float64, reset=False)
        given = {"drift": drift, "current": current, "metric": metric}
        new_field = None
        if any(values is not None for values in given.values()):
            new_field = randers_field(X, **given, zermelo=self.zermelo)
        elif self._fit_field.everywhere is not None:
            new_field = self._fit_field.everywhere(points)
        near = None if self._transformer is None else self._transformer.transform(points)[:, self.kept_]
        fitted, ahead, back = self._measured()
        to_fitted, from_fitted = extend_geodesics(
            points, self._fit_points, ahead, back, self._fit_field, new_field,
            n_neighbors=self.n_neighbors, radius=self.radius, near=near, rule=self.rule,
        )  # fmt: skip
        placed = place(
            fitted,
            **self.result_.metric,
            to_fitted=to_fitted,
            from_fitted=from_fitted,
            n_jobs=self.n_jobs,
        )
        return placed.coordinates

    def _measured(self) -> tuple[Array, Array, Array]:
        """Coordinates of all points, or of the pivots; and distances of every point to these, and back."""
        if hasattr(self, "dist_matrix_"):
            return self.embedding_, self.dist_matrix_, self.dist_matrix_.T
        found = self.pivot_distances_
        ahead, back = (self._unit * part for part in (found.out_of, found.into))
        return self.embedding_[found.pivots], ahead, back

    def _field(self, drift: Any, current: Any, metric: Any) -> dict[str, Any]:
        """Field given to a method, or else to the constructor."""
        if drift is None and current is None and metric is None:
            drift, current, metric = self.drift, self.current, self.metric
        return {"drift": drift, "current": current, "metric": metric}
