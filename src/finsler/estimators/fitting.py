"""What the estimators share: run the solver with an estimator's parameters and keep what it found as attributes."""

from __future__ import annotations

import warnings
from numbers import Integral
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from finsler.data.matrix import Dissimilarities
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.solvers.backends.memory import Backend
from finsler.solvers.smacof import smacof


def solve(estimator: Any, data: Dissimilarities | Backend) -> None:
    """Embed ``data`` and set ``result_``, ``embedding_`` and the other fitted attributes of the estimator."""
    if isinstance(estimator.n_components, Integral) and int(estimator.n_components) > data.n_points:
        raise InputError(
            f"n_components={estimator.n_components} needs at least as many points; X has n_samples = {data.n_points}."
        )
    solution = smacof(
        data,
        estimator.n_components,
        estimator.alpha,
        init=estimator.init,
        n_init=estimator.n_init,
        max_iter=estimator.max_iter,
        tol=estimator.tol,
        accelerate=estimator.accelerate,
        random_state=estimator.random_state,
        n_jobs=estimator.n_jobs,
        callback=estimator.callback,
        time_limit=estimator.time_limit,
        verbose=estimator.verbose,
    )
    name = type(estimator).__name__
    if solution.status == "max_iter":
        warnings.warn(f"{name}: {solution.message}", ConvergenceWarning, stacklevel=3)
    elif solution.alpha_identifiable is False:
        warnings.warn(f"{name}: {solution.note}", UserWarning, stacklevel=3)
    if isinstance(data, Backend):
        estimator.result_ = Embedding.from_backend(solution, data)
    else:
        estimator.result_ = Embedding.from_solution(solution, data)
    estimator.embedding_ = solution.coordinates
    estimator.drift_ = solution.drift
    estimator.alpha_ = solution.alpha
    estimator.stress_ = solution.stress
    estimator.normalized_stress_ = estimator.result_.normalized_stress
    estimator.stress_per_point_ = estimator.result_.stress_per_point
    estimator.history_ = solution.history
    estimator.n_iter_ = solution.n_iter
    estimator.status_ = solution.status
    estimator.message_ = estimator.result_.message
