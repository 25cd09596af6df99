"""Dissimilarities larger than memory, left where they are: checked row by row, never copied."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import Progress, drop_pages
from finsler.data.matrix import (
    MISSING,
    RowsFound,
    as_float_array,
    check_rows,
    check_square,
    check_weight_rows,
    check_whole,
    require_bound,
)
from finsler.errors import InputError, InputTypeError, check_choice

Array = NDArray[Any]

ROWS = 256  # rows checked between two looks at the clock


@dataclass(frozen=True, eq=False)
class MemmapDissimilarities:
    """A checked matrix as its owner keeps it. Make one with :func:`as_memmap_dissimilarities`.

    Attributes
    ----------
    matrix : array of shape (n, n)
        From row to column; NaN is missing and inf unreachable.
    weights : array of shape (n, n) or None
        Weight of each ordered pair; None means 1 for every pair that is known.
    weighted : bool
        Whether there are weights, or pairs that are not known.
    unit : float
        Largest weight.
    far : float
        How far unreachable pairs are at least; 0 if they do not count.
    """

    matrix: Any
    weights: Any
    weighted: bool
    unit: float
    far: float


def as_memmap_dissimilarities(
    D: Any,
    weights: Any = None,
    *,
    missing: str = "raise",
    name: str = "D",
    verbose: bool | int | str = "auto",
) -> MemmapDissimilarities:
    """Check a matrix, in memory or mapped into it, without making another one of its size.

    The arguments are those of :func:`~finsler.data.matrix.as_dissimilarities`.

    Examples
    --------
    >>> data = as_memmap_dissimilarities(np.array([[0, 2], [np.nan, 0]]), missing="mask")
    >>> data.weighted, data.weights is None
    (True, True)
    """
    check_choice("missing", missing, MISSING)
    for matrix, what in ((D, name), (weights, "weights")):
        if matrix is not None and np.asarray(matrix).dtype.kind not in "biuf":
            as_float_array(matrix[:1], what)  # says what is wrong with it
            raise InputTypeError(f"{what} must hold numbers, got dtype {matrix.dtype}.")
        if matrix is not None and (not matrix.dtype.isnative or matrix.dtype.itemsize > 8):
            raise InputTypeError(
                f"{what} has dtype {matrix.dtype.str}, which this machine's kernels cannot read where it is. Write it "
                "again as float32 or float64, or raise memory_budget so that it is copied."
            )
    check_square(np.asarray(D), name)
    if weights is not None and weights.shape != D.shape:
        raise InputError(f"weights must have the shape of D, {D.shape}, got {weights.shape}.")
    progress = Progress("Checking the matrix", verbose)
    rows, weight_rows = np.asarray(D), None if weights is None else np.asarray(weights)
    n, unit, found = len(rows), 1.0, []
    if weight_rows is not None:
        unit = 0.0
    for k in range(0, n, ROWS):
        w = None
        if weight_rows is not None:
            w = weight_rows[k : k + ROWS]
            unit = max(unit, check_weight_rows(w, k))
        found.append(check_rows(rows[k : k + ROWS], w, k, missing, name))
        progress.update(f"{k} of {n} rows")
        drop_pages(D)
        drop_pages(weights)
    progress.close(f"{n} rows")
    weighted, far = gaps_found(found, weights is not None, missing, name)
    return MemmapDissimilarities(D, weights, weighted, unit or 1.0, far)


def gaps_found(found: list[RowsFound], has_weights: bool, missing: str, name: str) -> tuple[bool, float]:
    """Whether there are weights or gaps, and how far unreachable pairs are at least, from the checks of all rows."""
    check_whole(found, name)
    n_unknown = sum(part.n_unknown for part in found)
    far = 0.0
    if missing == "hinge" and n_unknown:
        far = max(part.farthest for part in found)
        require_bound(far, name)
    return has_weights or n_unknown > 0, far
