"""Two kinds of points on one map, from a table of rows and columns: metric unfolding."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from finsler._arguments import check_arguments
from finsler.data.frames import labeled
from finsler.data.matrix import as_dissimilarities, as_float_array
from finsler.data.provenance import Provenance
from finsler.embedding import Embedding
from finsler.errors import InputError
from finsler.estimators.mds import FinslerMDS
from finsler.solvers.options import MatrixOptions, check_names

STARTS = 8


def embed_rectangular(
    D: Any,
    *,
    row_labels: Sequence[Any] | None = None,
    column_labels: Sequence[Any] | None = None,
    weights: ArrayLike | None = None,
    n_components: int = 2,
    alpha: float | str = 0.0,
    **options: Unpack[MatrixOptions],
) -> Embedding:
    """Map two kinds of points by the dissimilarities from those of the rows to those of the columns (metric unfolding).

    People and what they would choose, hospitals and places, words and documents. Among the rows, and among the columns,
    nothing is known.

    Parameters
    ----------
    D : array-like of shape (n_rows, n_columns), or DataFrame
        Dissimilarities **from row to column**, not negative; NaN and inf are left out. A DataFrame brings its labels.
    row_labels, column_labels : sequence, optional
        Names of the points; by default "row 1", "row 2", ..., "column 1", ...
    weights : array-like of the same shape, optional
        Weight of each value.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift. Values of one direction only hardly tell it, so it is 0 unless it is given.
    **options
        As of :func:`~finsler.embed_matrix`, but ``n_init`` is 8 and ``random_state`` 0 by default: from a single start,
        maps of two kinds of points often end badly.

    Returns
    -------
    Embedding
        First the points of the rows, then those of the columns.

    Examples
    --------
    >>> from finsler import embed_rectangular
    >>> tastes = embed_rectangular([[1.0, 3.0], [2.0, 2.0], [3.0, 1.0]], column_labels=["toast", "muffin"])
    >>> tastes.labels
    ['row 1', 'row 2', 'row 3', 'toast', 'muffin']
    """
    check_arguments(embed_rectangular, locals())
    check_names("embed_rectangular", options, MatrixOptions)
    D = labeled(D)
    values = as_float_array(D, "D")
    if values.ndim != 2 or min(values.shape) < 1:
        raise InputError(f"must be a table with rows and columns, got shape {values.shape}.", argument="D")
    names = _rectangular_labels(D, values.shape, row_labels, column_labels)
    (n, m), size = values.shape, sum(values.shape)
    matrix = np.full((size, size), np.nan)
    np.fill_diagonal(matrix, 0.0)
    matrix[:n, n:] = values
    W = None
    if weights is not None:
        given = as_float_array(labeled(weights), "weights")
        if given.shape != values.shape:
            raise InputError(
                f"must have the shape of D, {values.shape}, got {given.shape}.", argument="weights"
            )
        W = np.zeros((size, size))
        W[:n, n:] = given
    data = as_dissimilarities(matrix, W, labels=names, missing="mask")
    remark = f"{n} rows and {m} columns: distances run from rows to columns."
    missing = int(np.isnan(values).sum())
    data = replace(data, provenance=Provenance(kind="rectangular", n_missing=missing, remarks=(remark,)))
    chosen: MatrixOptions = {"n_init": STARTS, "random_state": 0, **options}
    return FinslerMDS(n_components, alpha=alpha, **chosen).fit(data).result_


def _rectangular_labels(D: Any, shape: tuple[int, ...], rows: Any, columns: Any) -> list[Any]:
    """Labels of rows and columns, all different."""
    names: list[Any] = []
    for given, word, own, n in (
        (rows, "row", getattr(D, "index", None), shape[0]),
        (columns, "column", getattr(D, "columns", None), shape[1]),
    ):
        found = own if given is None and hasattr(D, "columns") else given
        found = [f"{word} {k + 1}" for k in range(n)] if found is None else list(found)
        if len(found) != n:
            raise InputError(f"must have {n} entries, got {len(found)}.", argument=f"{word}_labels")
        names += found
    again = sorted({str(name) for name in names[: shape[0]]} & {str(name) for name in names[shape[0] :]})
    if again:
        raise InputError(
            f"{again[0]!r} is also a label of a row; give row_labels and column_labels that differ.",
            argument="column_labels",
        )
    return names
