"""Classical Finsler scaling: the map in closed form, exact when the data are exactly Randers."""

from __future__ import annotations

import time

from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, check_count
from finsler.geometry.randers import drift_vector
from finsler.solvers.backends.memory import Backend, MemoryBackend
from finsler.solvers.options import check_swirl
from finsler.solvers.solution import Solution, solution_of
from finsler.solvers.start import AlphaGuess, check_alpha, guess_alpha
from finsler.solvers.swirl.solver import closed_form_with_swirl


def classical(
    data: Dissimilarities | Backend,
    n_components: int = 2,
    alpha: float | str = "auto",
    *,
    swirl: bool | str = False,
    n_jobs: int | None = None,
) -> Solution:
    """Closed form for complete data with uniform weights; see `finsler.solvers.start` for the formulas.

    Parameters
    ----------
    data : Dissimilarities or Backend
        Complete, without weights.
    n_components : int
        Dimension of the map.
    alpha : float in [0, 1) or "auto"
        Drift; at 0 this is ordinary classical scaling of the symmetrized data. "auto" takes the alpha at which the closed
        form itself fits best.
    swirl : {False, True, "geodesic"}
        With a drift that turns: ordinary classical scaling of the symmetrized data, and the field that fits it best; exact
        where ways are straight and the data are exactly so. "auto" takes it if that fits better.
    n_jobs : int, optional
        Threads; None means all.

    Examples
    --------
    >>> from finsler.geometry.randers import randers_distances
    >>> from finsler.data.matrix import as_dissimilarities
    >>> D = randers_distances([[0, 0], [3, 1], [1, 4], [2, 2]], drift=0.4)
    >>> solution = classical(as_dissimilarities(D), n_components=2, alpha=0.4)
    >>> bool(solution.stress < 1e-20)
    True
    """
    began = time.perf_counter()
    check_count("n_components", n_components)
    given = check_alpha(alpha)
    backend = data if isinstance(data, Backend) else MemoryBackend(data, n_jobs)
    if backend.weighted:
        raise InputError("'classical' needs all pairs and equal weights; use 'smacof'.", argument="solver")
    guess = AlphaGuess(given, "given") if given is not None else guess_alpha(backend.evidence(), n_components)
    X, omega = backend.classical(n_components, guess.alpha), drift_vector(guess.alpha, n_components)
    swirl, choice = check_swirl(swirl, n_components), None
    if swirl:
        fixed = None if given is None else omega
        X, omega, choice = closed_form_with_swirl(backend, X, omega, swirl, fixed)
    return solution_of(
        backend, X, omega, history=[], n_iter=0, n_passes=0, status="closed_form", geodesic=swirl == "geodesic",
        message="Closed form.", seconds=time.perf_counter() - began, alpha_source=guess.source, swirl_choice=choice,
    )  # fmt: skip
