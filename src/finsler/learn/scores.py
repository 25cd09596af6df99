"""Scores for predicted links."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from finsler.errors import InputError


def roc_auc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Area under the ROC curve: the chance that a random positive scores above a random negative, ties counting half.

    Parameters
    ----------
    labels : array-like of P booleans
        Which examples are positive.
    scores : array-like of P numbers
        The higher, the more likely positive; infinite values are allowed, NaN is not.

    Returns
    -------
    float
        Between 0 and 1; NaN if all labels are the same.

    Examples
    --------
    >>> roc_auc([True, True, False, False], [3.0, 1.0, 1.0, 0.0])
    0.875
    """
    positive = np.asarray(labels, dtype=bool)
    values = np.asarray(scores, dtype=float)
    if positive.ndim != 1 or positive.shape != values.shape:
        raise InputError(
            f"labels and scores must be two lists of one length; found shapes {positive.shape}, {values.shape}."
        )
    undefined = np.flatnonzero(np.isnan(values))
    if undefined.size:
        raise InputError(
            f"scores must be numbers; entry {undefined[0]} is NaN ({undefined.size} of {values.size})."
        )
    n_positive = int(positive.sum())
    n_negative = positive.size - n_positive
    if n_positive == 0 or n_negative == 0:
        return float("nan")
    # The rank sum of the positives counts, up to a constant, the pairs that are in order (Mann-Whitney). Equal scores
    # share the mean of their ranks.
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    rank = (np.cumsum(count) - (count - 1) / 2)[place.reshape(-1)]
    above = rank[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * n_negative))
