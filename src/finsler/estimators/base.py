"""What the estimators share: run a solver with an estimator's parameters and keep what it found as attributes."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from finsler.data.matrix import Dissimilarities
from finsler.embedding import Embedding
from finsler.errors import InputError, InputTypeError, check_choice
from finsler.solvers.alpha import about_alpha
from finsler.solvers.backends.memory import Backend, MemoryBackend
from finsler.solvers.classical import classical
from finsler.solvers.smacof import smacof
from finsler.solvers.solution import Solution

SOLVERS = ("smacof", "classical")


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
            return validate_data(self, X, **options)
        except InputError:
            raise
        except TypeError as error:
            raise InputTypeError(str(error)) from error
        except ValueError as error:
            raise InputError(str(error)) from error

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
        name = type(self).__name__
        if solution.status == "max_iter":
            warnings.warn(f"{name}: {solution.message}", ConvergenceWarning, stacklevel=3)
        elif solution.alpha_identifiable is False:
            text = about_alpha(solution.alpha_source, solution.alpha, len(solution.drift))
            warnings.warn(f"{name}: {text}", UserWarning, stacklevel=3)
        self.result_ = Embedding.from_solution(
            solution, labels=backend.labels, provenance=backend.provenance, data=backend.data,
            shown=backend.asymmetry_shown(solution.coordinates @ solution.drift),
        )  # fmt: skip
        self.embedding_, self.omega_, self.alpha_ = solution.coordinates, solution.drift, solution.alpha
        self.stress_, self.normalized_stress_ = solution.stress, solution.normalized_stress
        self.stress_per_point_, self.history_ = solution.per_point, solution.history
        self.n_iter_, self.status_, self.message_ = solution.n_iter, solution.status, solution.message

    def _solution(self, backend: Backend) -> Solution:
        if self.solver == "classical":
            return classical(backend, self.n_components, self.alpha)
        return smacof(
            backend,
            self.n_components,
            self.alpha,
            init=self.init,
            n_init=self.n_init,
            max_iter=self.max_iter,
            tol=self.tol,
            accelerate=self.accelerate,
            random_state=self.random_state,
            callback=self.callback,
            time_limit=self.time_limit,
            verbose=self.verbose,
        )
