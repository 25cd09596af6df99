"""Leading eigenvectors of a symmetric operator that serves several vectors at a time, as a pass over the pairs does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, qr

from finsler._runtime import single_blas_thread

Array = NDArray[np.floating[Any]]

# Vectors beyond those wanted, passes at most, accuracy.
SPARE_VECTORS, KRYLOV_PASSES, KRYLOV_TOL = 6, 12, 1e-8


def krylov_eigenpairs(
    apply: Callable[[Array], Array],
    n: int,
    k: int,
    *,
    tol: float = KRYLOV_TOL,
    spare: int = SPARE_VECTORS,
    start: Array | None = None,
) -> tuple[Array, Array, bool]:
    """Largest eigenvalues of a symmetric operator on (n, b) arrays, and their vectors, from few applications.

    A block Krylov space from ``start``, or from fixed random vectors, ``spare`` more than those wanted. Where the spectrum
    has no gap the vectors are not exact after ``KRYLOV_PASSES``, which a start for the solver need not be; the last value
    says if they are, to ``tol``.
    """
    if start is None:
        start = np.random.default_rng(0).standard_normal((n, min(k + spare, n)))
    basis, images = np.empty((n, 0)), np.empty((n, 0))
    with single_blas_thread():  # on a busy machine its threads mostly wait for each other
        fresh = qr(start, mode="economic")[0]
        block = fresh.shape[1]
        while True:
            basis, images = np.hstack([basis, fresh]), np.hstack([images, apply(fresh)])
            values, mix = eigh(basis.T @ images)
            values, mix = values[::-1][:k], mix[:, ::-1][:, :k]
            vectors = basis @ mix
            misses = np.linalg.norm(images @ mix - vectors * values, axis=0)
            close = bool(misses.max() <= tol * np.abs(values).max())
            if close or basis.shape[1] >= KRYLOV_PASSES * block or basis.shape[1] + block > n:
                return values, vectors, close
            fresh = images[:, -block:]
            for _ in range(2):  # twice is enough to be orthogonal to rounding
                fresh = qr(fresh - basis @ (basis.T @ fresh), mode="economic")[0]
