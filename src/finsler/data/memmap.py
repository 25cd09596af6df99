"""Matrices of dissimilarities that stay where they are, larger than memory: checked row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from finsler._memory import drop_pages
from finsler._runtime import Progress
from finsler.data.matrix import (
    MISSING_POLICIES,
    as_float_array,
    check_rows,
    check_square,
    check_weight_rows,
    gaps_found,
    needs_double,
)
from finsler.data.provenance import Provenance
from finsler.errors import InputError, InputTypeError, check_choice

ROWS = 256  # checked between two looks at the clock


@dataclass(frozen=True, eq=False)
class MemmapDissimilarities:
    """A checked matrix as its owner keeps it, larger than memory. Make one with :func:`as_memmap_dissimilarities`."""

    matrix: Any  #: From row to column; NaN is missing and inf unreachable.
    weights: Any  #: Weight of each ordered pair; None means 1 for every pair that is known.
    weighted: bool  #: Whether there are weights, or pairs that are not known.
    unit: float  #: Largest weight.
    far: float  #: How far unreachable pairs are at least; 0 if they do not count.
    provenance: Provenance  #: What is missing.


def as_memmap_dissimilarities(
    D: Any,
    weights: Any = None,
    *,
    missing: str = "raise",
    name: str = "D",
    verbose: bool | int | str = "auto",
) -> MemmapDissimilarities:
    """Check a matrix row by row, in memory or mapped into it, without making another one of its size.

    The arguments are those of :func:`~finsler.data.matrix.as_dissimilarities`.
    """
    check_choice("missing", missing, MISSING_POLICIES)
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
    n, unit, found = len(rows), 0.0, []
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
    if np.asarray(D).dtype == np.float32 and needs_double(max(part.farthest for part in found)):
        raise InputError(
            f"Entries of {name} are so large or small that their squares leave the range of float32. Rescale, or "
            "write it again as float64.",
            argument=name,
        )
    far, facts = gaps_found(found, missing, name)
    weighted = weights is not None or bool(facts.policy)
    return MemmapDissimilarities(D, weights, weighted, unit or 1.0, far, facts)
