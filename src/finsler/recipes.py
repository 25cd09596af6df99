"""One-line doors to a map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from finsler.embedding import Embedding
from finsler.estimators.mds import FinslerMDS
from finsler.inputs.dissimilarities import as_dissimilarities


def embed_matrix(
    D: ArrayLike,
    *,
    n_components: int = 2,
    alpha: float | str = "auto",
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    missing: str = "raise",
    **options: Any,
) -> Embedding:
    """Map a matrix of asymmetric dissimilarities: travel times, costs, confusions.

    Parameters
    ----------
    D : array-like of shape (n, n) or DataFrame
        Dissimilarities **from row to column**. A DataFrame's index gives the labels.
    n_components : int
        Dimension of the map, the height included.
    alpha : float in [0, 1) or "auto"
        Strength of the drift; "auto" fits it to the data.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    labels : sequence, optional
        Names of the points.
    missing : {"raise", "mask", "hinge"}
        NaN and inf are refused, or left out; or inf means "at least as far as the largest finite dissimilarity".
    **options
        Further parameters of :class:`~finsler.estimators.mds.FinslerMDS`.

    Returns
    -------
    Embedding

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> hours = [[0.0, 5.3, 2.6], [4.2, 0.0, 3.7], [2.4, 4.5, 0.0]]
    >>> flights = embed_matrix(hours, labels=["JFK", "LAX", "MIA"])
    >>> round(flights.distance("JFK", "LAX"), 1), round(flights.distance("LAX", "JFK"), 1)
    (5.3, 4.2)
    """
    data = as_dissimilarities(D, weights, labels=labels, missing=missing)
    mds = FinslerMDS(n_components, alpha=alpha, missing=missing, **options)
    return mds.fit(data).result_
