"""Which data are solved where: in memory, panel by panel from a file, or on the workers of a Dask cluster."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from finsler._runtime import available_memory, parse_bytes
from finsler.data.matrix import as_memmap_dissimilarities
from finsler.errors import InputError, InputTypeError
from finsler.solvers.backends.memmap import memmap_backend
from finsler.solvers.backends.memory import Backend

# Matrices of the size of D that the in-memory solver makes: without weights, and with weights or gaps.
UNIFORM_COPIES, WEIGHTED_COPIES = 1, 5
SHARE_OF_FREE = 0.8  # of the free memory, where the user sets no budget


def opened(values: Any) -> Any:
    """Memory map of the matrix in a ``.npy`` file if ``values`` is a path; anything else as it is."""
    if not isinstance(values, str | os.PathLike):
        return values
    path = Path(values)
    if path.suffix != ".npy":
        raise InputError(
            f"{os.fspath(path)!r} is not the path of a .npy file. Write one with numpy.save, or read the file first; "
            "finsler.embed_matrix takes the path of a CSV file."
        )
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise InputError(
            f"{os.fspath(path)!r} is not a whole .npy file of numbers. Write it again with numpy.save."
        ) from error


def is_dask_array(values: Any) -> bool:
    """Whether this is a Dask array, without importing Dask."""
    return type(values).__module__.startswith("dask.array")


def choose_backend(
    X: Any,
    weights: Any,
    missing: str,
    memory_budget: float | str | None,
    n_jobs: int | None,
    verbose: bool | str,
) -> Backend | None:
    """Backend of a Dask array, or of a matrix whose working copies exceed the budget; None to solve in memory."""
    budget = None if memory_budget is None else parse_bytes(memory_budget)
    if is_dask_array(X):
        from finsler.solvers.backends.dask import dask_backend

        return dask_backend(X, weights, missing=missing, name="X")
    if is_dask_array(weights):
        raise InputTypeError("weights are a Dask array and X is not. Make both Dask arrays, or neither.")
    numbers = [isinstance(a, np.ndarray) and a.dtype.kind in "biuf" for a in (X, weights) if a is not None]
    if not all(numbers) or X.ndim != 2:
        return None
    if budget is None:
        free = available_memory()
        budget = np.inf if free is None else SHARE_OF_FREE * free
    itemsize = 4 if X.dtype.kind == "f" and X.dtype.itemsize <= 4 else 8
    copies = UNIFORM_COPIES if weights is None and missing == "raise" else WEIGHTED_COPIES
    if copies * itemsize * float(X.shape[0]) * X.shape[1] <= budget:
        return None
    data = as_memmap_dissimilarities(X, weights, missing=missing, name="X", verbose=verbose)
    return memmap_backend(data, budget, n_jobs, verbose)
