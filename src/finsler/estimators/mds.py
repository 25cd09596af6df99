"""FinslerMDS: asymmetric multidimensional scaling with scikit-learn's manners."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import pairwise_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from finsler._arguments import check_arguments, named
from finsler.data.frames import Labeled, labeled
from finsler.data.labels import check_columns, point_labels
from finsler.data.matrix import Dissimilarities, as_dissimilarities, as_float_array
from finsler.embedding import Embedding
from finsler.errors import InputError, InputTypeError, check_choice
from finsler.geometry.disparities import Transformation
from finsler.geometry.swirl import skew_shown
from finsler.solvers.backends.memmap import choose_backend, opened
from finsler.solvers.backends.memory import Backend, MemoryBackend
from finsler.solvers.classical import classical
from finsler.solvers.nonmetric import scaled_smacof
from finsler.solvers.options import options_of, scaling_of
from finsler.solvers.placement import place
from finsler.solvers.smacof import smacof
from finsler.solvers.solution import Solution
from finsler.solvers.start import about_alpha

Array = NDArray[np.floating[Any]]


class MapEstimator(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """An estimator whose ``fit`` ends in a map."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def _checked(self, X: Any, **options: Any) -> Any:
        """Validate ``X`` as scikit-learn does; what it refuses is an error of the input."""
        try:
            with np.errstate(
                invalid="ignore"
            ):  # scikit-learn sums all entries to find those that are not finite
                return validate_data(self, X.checkable if isinstance(X, Labeled) else X, **options)
        except InputError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise named(error, "X") from error

    def _check_parameters(self) -> None:
        """Refuse parameters of kinds that have no meaning, before anything is looked at."""
        check_arguments(type(self).__init__, self.get_params(deep=False))

    def _solve(self, data: Dissimilarities | Backend) -> None:
        """Embed ``data`` and set ``result_``, ``embedding_`` and the other fitted attributes."""
        check_choice("solver", self.solver, SOLVERS)
        if isinstance(self.n_components, Integral) and int(self.n_components) > data.n_points:
            raise InputError(
                f"= {self.n_components} needs at least as many points; X has n_samples = {data.n_points}.",
                argument="n_components",
            )
        backend = data if isinstance(data, Backend) else MemoryBackend(data, self.n_jobs)
        solution = self._solution(backend)
        self.result_ = Embedding.from_solution(
            solution, labels=backend.labels, provenance=backend.provenance, data=backend.data,
            shown=backend.asymmetry_shown(skew_shown(solution.coordinates, solution.drift, solution.swirl)),
        )  # fmt: skip
        self._keep(solution)

    def _keep(self, solution: Solution) -> None:
        """Set the fitted attributes that say what a solver found, and warn of what is doubtful about it."""
        name = type(self).__name__
        if solution.status == "max_iter":
            warnings.warn(f"{name}: {solution.message}", ConvergenceWarning, stacklevel=4)
        elif solution.alpha_identifiable is False and solution.swirl is None:
            text = about_alpha(solution.alpha_source, solution.alpha, len(solution.drift))
            warnings.warn(f"{name}: {text}", UserWarning, stacklevel=4)
        for text in [] if solution.scaled is None else solution.scaled.warnings():
            warnings.warn(f"{name}: {text}", UserWarning, stacklevel=4)
        self.embedding_, self.omega_, self.alpha_ = solution.coordinates, solution.drift, solution.alpha
        self.swirl_ = solution.swirl
        self.stress_, self.normalized_stress_ = solution.stress, solution.normalized_stress
        self.stress_per_point_, self.history_ = solution.per_point, solution.history
        self.n_iter_, self.status_, self.message_ = solution.n_iter, solution.status, solution.message
        self.n_starts_, self.n_same_ = solution.n_starts, solution.n_same

    def _solution(self, backend: Backend) -> Solution:
        if self.solver == "classical":
            return classical(backend, self.n_components, self.alpha, swirl=self.swirl)
        return smacof(backend, self.n_components, self.alpha, **options_of(self))


class FinslerMDS(MapEstimator):
    """Map of asymmetric dissimilarities in which going up the last axis costs more than coming down.

    Finds points whose Randers distances ``d(x, y) = ||y - x|| + alpha (y - x)[last]`` are close to the dissimilarities
    from row to column, by minimizing ``sum w_ij (d_ij - D_ij)^2``.

    Parameters
    ----------
    n_components : int, default=2
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto", default="auto"
        Strength of the drift: straight up costs (1 + alpha)/(1 - alpha) times straight down. 0 is ordinary MDS of the
        symmetrized data; "auto" fits it to the data.
    swirl : {False, True, "geodesic", "auto"}, default=False
        Whether the drift may turn, ``omega(x) = w + K x``, so that the map shows asymmetry that runs in circles, see
        `finsler.geometry.swirl`: straight ways (True), or in the plane the cheapest ones, which are arcs ("geodesic").
        "auto" takes straight ways with a swirl if they fit better than by chance and by more than a trifle, and says so.
        The drift at the middle is fitted with it, or is `alpha` if that is a number.
    metric : "precomputed", str or callable, default="precomputed"
        "precomputed": ``fit`` takes the matrix of dissimilarities. Otherwise it takes points, and the dissimilarity of
        each ordered pair is computed: a name known to :func:`sklearn.metrics.pairwise_distances`, or a callable
        ``metric(a, b)``, which is called both ways.
    metric_params : dict, optional
        Further arguments of the metric.
    missing : {"raise", "mask", "hinge"}, default="raise"
        NaN (missing) and inf (unreachable) are refused; or their ordered pairs get weight 0; or, with "hinge", inf
        means "at least as far as the largest finite dissimilarity" and costs only where the map is closer.
    scaling : {"ratio", "interval", "ordinal", "spline"}, default="ratio"
        What distances on the map are to agree with: the data themselves ("ratio"); or disparities, fitted along with the
        map: a straight line of the data with any start ("interval"), any function that rises with them ("ordinal"), or a
        smooth one ("spline"). Then only the order or the shape of the data counts; negative data are allowed; alpha
        "auto" is corrected for the flattening by noise; and maps of the data and of their ranks are two starts, to which
        a number `n_init` adds random ones.
    ties : {"primary", "secondary"}, default="primary"
        With "ordinal": whether equal data may have different disparities, or must have the same.
    conditional : {"matrix", "row", "column", "parts"}, default="matrix"
        One function for all pairs; one for each row or column, whose values then need not be comparable with those of the
        others; or one for the symmetric part, the skew part being left as it is.
    spline_degree, spline_knots : int, default=2
        Degree of the spline and number of its interior knots.
    solver : {"smacof", "classical"}, default="smacof"
        Iterate to a minimum of the stress ("smacof"), or take the closed form ("classical"), which is exact if the data are
        exactly Randers and needs all pairs and equal weights; the options of the iterations then do nothing.
    init : {"classical", "isomap", "random"} or array-like of shape (n, n_components), default="classical"
        Start: the closed form, classical scaling of the symmetric part, random points, or given ones.
    n_init : int or "auto", default="auto"
        Starts, of which the best map is kept. "auto" takes both "classical" and "isomap" up to 500 points and, as far as
        20 million evaluations of pairs go, random ones: a hundred for 20 points, some 25 for 100, none beyond 300; given
        coordinates are the only start. A number is that of starts, random ones after the first; a drift that is fitted to
        at most 500 points is tried from both "classical" and "isomap" where the first is asked for.
    max_iter : int, default=500
        Iterations per start.
    tol : float, default=1e-7
        A run has converged when the next step is sure to lower the stress by less than this share of it.
    accelerate : bool, default=True
        Anderson acceleration (the stress still never rises), or plain majorization.
    time_limit : float, optional
        Seconds after which the best map so far is taken.
    callback : callable, optional
        Called after each iteration with an :class:`~finsler.solvers.solution.Iteration`; returning True stops. The quick
        descents by which ``n_init="auto"`` chooses among random starts call it only where they end.
    n_jobs : int, optional
        Threads; None means all. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of random starts. With None those of ``n_init="auto"`` are the same at every fit unless ``init="random"``,
        others are not.
    verbose : bool or "auto", default="auto"
        Progress line on stderr: "auto" shows one on a terminal once two seconds have passed.
    memory_budget : int or str, optional
        Bytes, as a number or as in "2GB", that the solver may allocate beside the data; by default most of what is free. A
        matrix whose working copies need more is read in panels, one pass an iteration; memory-mapped files so need not fit
        in memory. The result is then not the same to the last digit: sums run in another order, and data with weights or
        gaps may start from landmarks; the stress that is reached is within about 2 % of that in memory.

    Attributes
    ----------
    embedding_ : ndarray of shape (n, n_components)
        Coordinates of the map; the last column is the height.
    result_ : Embedding
        The map with its labels: measure, save, plot.
    alpha_, omega_ : float, ndarray of shape (n_components,)
        Strength of the drift, and the drift itself; with a swirl, at the middle of the map.
    swirl_ : ndarray of shape (n_components, n_components) or None
        Skew matrix K of a drift that turns; None if it does not.
    stress_, normalized_stress_ : float
        Computed from ``embedding_``.
    stress1_ : float or None
        Kruskal's stress-1, at the best scale; None if the data are not in memory.
    disparities_ : ndarray of shape (n, n)
        What distances were compared with: the data, or with another `scaling` what became of them; NaN where unknown.
    transformation_ : Transformation or list of them
        Function from data to disparities, with its points ``x`` and ``y``; a list if there is one for each row or column.
    alpha_least_stress_ : float
        Alpha of least stress, before the correction that other scalings than "ratio" make.
    degenerate_ : bool
        Whether an ordinal map has fallen into heaps of points, which have whatever order they are asked for.
    stress_per_point_ : ndarray of shape (n,)
        Share of each point.
    history_ : ndarray
        Stress at the start and after each iteration.
    n_iter_ : int
        Iterations of the run that was kept.
    n_starts_, n_same_ : int
        Starts it took, and those of them that ended at this map.
    status_, message_ : str
        How it ended, as a word and in a sentence.
    n_features_in_ : int
        Columns seen by ``fit``.

    Examples
    --------
    >>> from finsler import FinslerMDS
    >>> hours = [[0.0, 5.3, 3.1], [4.2, 0.0, 1.4], [2.6, 1.7, 0.0]]
    >>> mds = FinslerMDS(n_components=2, alpha=0.2).fit(hours)
    >>> mds.embedding_.shape
    (3, 2)
    >>> mds.result_.distance(0, 1) > mds.result_.distance(1, 0)
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        alpha: float | str = "auto",
        metric: str | Callable[..., float] = "precomputed",
        metric_params: dict[str, Any] | None = None,
        missing: str = "raise",
        scaling: str = "ratio",
        ties: str = "primary",
        conditional: str = "matrix",
        spline_degree: int = 2,
        spline_knots: int = 2,
        solver: str = "smacof",
        swirl: bool | str = False,
        init: str | ArrayLike = "classical",
        n_init: int | str = "auto",
        max_iter: int = 500,
        tol: float = 1e-7,
        accelerate: bool = True,
        time_limit: float | None = None,
        callback: Callable[[Any], Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool | int | str = "auto",
        memory_budget: float | str | None = None,
    ):
        self.n_components = n_components
        self.alpha = alpha
        self.metric = metric
        self.metric_params = metric_params
        self.missing = missing
        self.scaling = scaling
        self.ties = ties
        self.conditional = conditional
        self.spline_degree = spline_degree
        self.spline_knots = spline_knots
        self.solver = solver
        self.swirl = swirl
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.accelerate = accelerate
        self.time_limit = time_limit
        self.callback = callback
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.memory_budget = memory_budget

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.metric == "precomputed"
        tags.input_tags.allow_nan = self.metric == "precomputed" and self.missing != "raise"
        tags.input_tags.positive_only = self.metric == "precomputed"
        return tags

    @property
    def stress1_(self) -> float | None:
        """Kruskal's stress-1."""
        return self.result_.stress1

    @property
    def disparities_(self) -> Array:
        """What distances on the map were compared with."""
        return self.result_.disparities()

    @property
    def transformation_(self) -> Transformation | list[Transformation]:
        """Function from data to disparities."""
        return self.result_.transformation()

    @property
    def alpha_least_stress_(self) -> float:
        """Alpha of least stress."""
        scaled = self.result_.scaled
        found = None if scaled is None else scaled.alpha_least_stress
        return self.alpha_ if found is None else found

    @property
    def degenerate_(self) -> bool:
        """Whether the points have fallen into heaps."""
        scaled = self.result_.scaled
        return scaled is not None and scaled.degenerate

    def _solution(self, backend: Backend) -> Solution:
        scaling = scaling_of(vars(self))
        if scaling.metric:
            return super()._solution(backend)
        if self.solver == "classical":
            raise InputError(f"= {scaling.kind!r} needs solver='smacof'.", argument="scaling")
        return scaled_smacof(backend, scaling, self.n_components, self.alpha, **options_of(self))

    def fit(self, X: Any, y: Any = None, weights: ArrayLike | None = None) -> FinslerMDS:
        """Find the map.

        Parameters
        ----------
        X : array-like of shape (n, n), or (n, n_features) with another metric
            Dissimilarities from row to column, or points. Dissimilarities may also be the path of a ``.npy`` file, or a
            Dask array, which is solved where its blocks are (see `finsler.solvers.backends`).
        y : ignored
        weights : array-like of shape (n, n), optional
            Weight of each ordered pair; all 1 by default. A path or a Dask array as well.
        """
        self._check_parameters()
        X, weights = labeled(opened(X, "X")), opened(weights, "weights")
        backend = self._backend(X, weights)
        self._solve(self._dissimilarities(X, weights) if backend is None else backend)
        return self

    def fit_transform(self, X: Any, y: Any = None, weights: ArrayLike | None = None) -> Array:
        """Find the map and return its coordinates; the arguments are those of ``fit``."""
        return self.fit(X, weights=weights).embedding_

    def transform(self, X: Any, from_fitted: ArrayLike | None = None) -> Array:
        """Place new points into the fitted map, each independently of the others.

        Parameters
        ----------
        X : array-like of shape (k, n), or (k, n_features) with another metric
            Dissimilarities from each new point *to* each fitted one (NaN where unknown, with
            ``missing="mask"``), or the new points.
        from_fitted : array-like of shape (k, n), optional
            Dissimilarities *from* each fitted point to each new one, one row per new point; only with
            ``metric="precomputed"``. Without it the ways back do not count.

        Returns
        -------
        ndarray of shape (k, n_components)
        """
        check_is_fitted(self)
        X = labeled(X)
        if self.metric == "precomputed":
            to_fitted = self._new_rows(X, "X")
            if to_fitted.ndim == 2:  # else place() says what is wrong with the shape
                self._checked(X, reset=False, skip_check_array=True)
            if from_fitted is not None:
                from_fitted = self._new_rows(from_fitted, "from_fitted")
        else:
            if from_fitted is not None:
                raise InputError("from_fitted goes with metric='precomputed'; else both ways are computed.")
            X = self._checked(X, reset=False)
            to_fitted = self._both_ways(X, self._fit_X)
            from_fitted = self._both_ways(self._fit_X, X).T
        to_fitted, from_fitted = (
            self.result_.as_disparities(to_fitted),
            self.result_.as_disparities(from_fitted),
        )
        solution = place(
            self.embedding_,
            **self.result_.metric,
            to_fitted=to_fitted,
            from_fitted=from_fitted,
            n_jobs=self.n_jobs,
        )
        return solution.coordinates

    def _backend(self, X: Any, weights: Any) -> Backend | None:
        """Backend of dissimilarities that do not fit in memory, or are elsewhere; None for all others."""
        if self.metric != "precomputed":
            return None
        backend = choose_backend(X, weights, self.missing, self.memory_budget, self.n_jobs, self.verbose)
        if backend is not None:
            self._checked(X, skip_check_array=True)
        return backend

    def _dissimilarities(self, X: Any, weights: ArrayLike | None) -> Dissimilarities:
        if self.metric == "precomputed":
            negative = scaling_of(vars(self)).negative
            data = as_dissimilarities(X, weights, missing=self.missing, negative=negative, name="X")
            if data is X:
                self.n_features_in_ = data.n_points
            else:
                self._checked(X, skip_check_array=True)  # after the checks, so that bad input changes nothing
            return data
        if isinstance(X, Dissimilarities):
            raise InputTypeError(f"metric={self.metric!r} needs points, not dissimilarities.")
        labels = point_labels(X)
        self._fit_X = self._checked(X)
        D = self._both_ways(self._fit_X, self._fit_X)
        np.fill_diagonal(D, 0)
        return as_dissimilarities(D, weights, labels=labels, missing=self.missing)

    def _new_rows(self, values: Any, name: str) -> Array:
        values = labeled(values)
        check_columns(values, self.result_.labels, name)
        rows = as_float_array(values, name)
        if self.missing == "raise" and not np.isfinite(rows).all():
            place = tuple(int(k) for k in np.argwhere(~np.isfinite(rows))[0])
            raise InputError(
                f"{name} contains NaN or infinity at {place}. Set missing='mask' to leave such values out, or fill them in."
            )
        return rows

    def _both_ways(self, X: Array, Y: Array) -> Array:
        params = self.metric_params or {}
        if callable(self.metric):
            # pairwise_distances would take a callable for symmetric and call it one way only.
            return np.array([[float(self.metric(a, b, **params)) for b in Y] for a in X]).reshape(
                len(X), len(Y)
            )
        if self.metric in ("euclidean", "l2") and not params:
            # From differences: scikit-learn's product form does not give 0 for equal points.
            return cdist(X, Y)
        try:
            return np.array(pairwise_distances(X, Y, metric=self.metric, **params), dtype=float)
        except ValueError as error:
            raise InputError(f"metric={self.metric!r}: {error}", argument="metric") from error


SOLVERS = ("smacof", "classical")
