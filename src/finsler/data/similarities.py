"""Dissimilarities from counts (flows, confusions, citations): much from i to j means that j is near i.

:func:`dissimilarities_from` chooses among them; one pure function for each transform does the arithmetic, with s the
off-diagonal counts:

    gravity     D_ij = (out_i in_j / (total s_ij)) ^ (1 / exponent)      sizes divided out; the default
    transition  D_ij = -log(s_ij / out_i)                                cost of a step of a random walk
    rank        D_ij = place of j among i's partners, largest first      nothing but the order counts
    linear      D_ij = max(s) + min(s > 0) - s_ij                        s is a similarity already

The pure functions take every count at its word: where it is zero, gravity and transition are inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from finsler.data.labels import LabelIndex
from finsler.data.matrix import Array, Dissimilarities, as_dissimilarities, as_float_array, frame_labels
from finsler.data.provenance import Provenance
from finsler.errors import InputError, InputTypeError, check_choice

ZEROS = ("missing", "pseudocount", "keep")


def dissimilarities_from(
    counts: Any,
    *,
    transform: str = "gravity",
    zeros: str = "missing",
    pseudocount: float = 0.5,
    labels: Sequence[Any] | None = None,
    **options: Any,
) -> Any:
    """Turn counts (flows, confusions, citations, trade) into dissimilarities.

    Parameters
    ----------
    counts : array-like or DataFrame of shape (n, n)
        ``counts[i, j] >= 0`` goes from i to j: the more, the nearer is j to i. The diagonal (flows within
        i) is ignored, unless ``diagonal="use"``. A sparse matrix counts zero where it stores nothing.
    transform : {"gravity", "transition", "rank", "linear"}
        See :func:`gravity`, :func:`transition`, :func:`rank` and :func:`linear`.
    zeros : {"missing", "pseudocount", "keep"}
        What a count of zero says. "missing": nothing, the dissimilarity is NaN. "pseudocount": the flow is
        small, `pseudocount` is added to every count. "keep": it was measured; the pair is the least similar
        there is (rank, linear) or unreachable, inf (gravity, transition).
    pseudocount : float, default=0.5
        Added to every count, the diagonal too, with ``zeros="pseudocount"``.
    labels : sequence, optional
        What messages call the points; those of a DataFrame by default.
    **options
        Of the transform: `exponent` (gravity), `diagonal` (transition, linear), `scaled` (rank).

    Returns
    -------
    ndarray of shape (n, n), or DataFrame with the labels of `counts`
        Non-negative, zero diagonal, NaN where missing, inf where unreachable. Pass it to a solver with
        ``missing="mask"`` if either occurs.

    Examples
    --------
    >>> moves = [[90, 40, 10], [20, 70, 0], [5, 15, 80]]
    >>> dissimilarities_from(moves).round(2)
    array([[0.  , 0.87, 0.75],
           [0.53, 0.  ,  nan],
           [1.05, 0.9 , 0.  ]])
    >>> dissimilarities_from(moves, transform="rank", zeros="keep")
    array([[0., 1., 2.],
           [1., 0., 2.],
           [2., 1., 0.]])
    """
    check_choice("transform", transform, TRANSFORMS)
    check_choice("zeros", zeros, ZEROS)
    for option in options:
        if option not in signature(TRANSFORMS[transform]).parameters:
            raise InputTypeError(f"{option} is not an option of {transform}.")
    if hasattr(counts, "toarray"):
        counts = counts.toarray()
    labels = frame_labels(counts, "counts") if labels is None else labels
    values = _check_counts(counts, labels)
    zero = values == 0
    if zeros == "pseudocount":
        if not (np.isfinite(pseudocount) and pseudocount > 0):
            raise InputError(f"pseudocount must be positive, got {pseudocount!r}.")
        values = values + pseudocount
    D = TRANSFORMS[transform](values, labels=labels, **options)
    if zeros == "missing":
        D[zero] = np.nan
        np.fill_diagonal(D, 0)
    if hasattr(counts, "index") and hasattr(counts, "columns"):
        return type(counts)(D, index=counts.index, columns=counts.columns)
    return D


def from_similarities(
    counts: Array,
    similarity: str,
    *,
    weights: ArrayLike | None = None,
    labels: Sequence[Any] | None = None,
    zeros: str = "missing",
    diagonal: str = "ignore",
    missing: str = "mask",
    facts: Provenance | None = None,
) -> Dissimilarities:
    """Turn a matrix of counts or similarities into dissimilarities that are checked and know how they were made.

    Parameters
    ----------
    counts, labels, zeros
        As in :func:`dissimilarities_from`; NaN on the diagonal is nothing.
    similarity : {"gravity", "transition", "rank", "linear"}
        The transform.
    weights, missing
        As in :func:`~finsler.data.matrix.as_dissimilarities`.
    diagonal : {"ignore", "check", "use"}
        It only counts with "use", which goes with "transition" and "linear".
    facts : Provenance, optional
        Where the counts come from.

    Examples
    --------
    >>> import numpy as np
    >>> data = from_similarities(np.array([[0, 4, 2], [1, 0, 3], [5, 0, 0]]), "rank")
    >>> data.provenance.n_missing
    1
    """
    check_choice("similarity", similarity, TRANSFORMS)
    check_choice("diagonal", diagonal, ("ignore", "check", "use"))
    if diagonal == "use" and similarity not in ("transition", "linear"):
        raise InputError("use goes with similarity transition or linear.", argument="diagonal")
    counts = np.array(counts, dtype=float)
    np.fill_diagonal(counts, np.nan_to_num(np.diagonal(counts), nan=0.0))
    options: dict[str, Any] = {"diagonal": "use"} if diagonal == "use" else {}
    D = dissimilarities_from(counts, transform=similarity, zeros=zeros, labels=labels, **options)
    data = as_dissimilarities(D, weights, labels=labels, missing=missing)
    return with_facts(data, (facts or Provenance()).having(similarity=similarity))


def with_facts(data: Dissimilarities, facts: Provenance) -> Dissimilarities:
    """Add where data come from to what their check found."""
    found = data.provenance
    unknown = {name: getattr(found, name) for name in ("n_missing", "n_unreachable", "policy")}
    return replace(data, provenance=facts.having(**unknown))


def gravity(counts: ArrayLike, *, exponent: float = 2.0, labels: Sequence[Any] | None = None) -> Array:
    """Distances at which a gravity model gives the counts.

    A gravity model lets the flow from i to j grow with the sizes of both and fall with a power of their
    distance, ``counts_ij = out_i in_j / (total D_ij ^ exponent)``, where ``out_i`` and ``in_j`` are the sums
    of the row and of the column, and ``total`` of all counts, without the diagonal. Solved for D,

        D_ij = (out_i in_j / (total counts_ij)) ^ (1 / exponent) ,

    it divides the sizes out: ``D_ij = 1`` where the flow is what the sizes alone would give. Scaling the
    counts changes nothing.

    Parameters
    ----------
    counts : array-like of shape (n, n)
        From row to column. Zero gives inf.
    exponent : float, default=2.0
        How fast flow falls with distance; 2 is Newton's. A smaller one spreads the distances.

    References
    ----------
    Tobler, Wineburg: A Cappadocian speculation, Nature 231 (1971), solves the gravity model for distances.
    Mair, Rusch, Hornik: The Grand Old Party - a party of values?, SpringerPlus 3 (2014): exponent 2, with MDS
    (``gravity`` in the R package smacof, which leaves out the constant ``total``).

    Examples
    --------
    >>> gravity([[0, 2, 2], [2, 0, 2], [2, 2, 0]], exponent=1)[0].round(3)
    array([0.   , 0.667, 0.667])
    """
    if not (np.isfinite(exponent) and exponent > 0):
        raise InputError(f"exponent must be positive, got {exponent!r}.")
    flows = _off_diagonal(counts, labels)
    sizes = np.outer(flows.sum(axis=1), flows.sum(axis=0) / flows.sum())
    return _finish(
        np.divide(sizes, flows, out=np.full_like(flows, np.inf), where=flows > 0) ** (1 / exponent)
    )


def transition(counts: ArrayLike, *, diagonal: str = "ignore", labels: Sequence[Any] | None = None) -> Array:
    """Cost ``-log p_ij`` of a step of a random walk, ``p_ij = counts_ij / out_i``; costs of steps add up.

    Parameters
    ----------
    counts : array-like of shape (n, n)
        From row to column. Zero gives inf. Scaling a row changes nothing.
    diagonal : {"ignore", "use"}
        "ignore": ``out_i`` is the sum of the row without the diagonal. "use", for confusions:
        ``p_ij = counts_ij / counts_ii``, how often i is taken for j for each time that it is recognized.

    References
    ----------
    Shepard: Stimulus and response generalization, Psychometrika 22 (1957), has the symmetric form of "use",
    ``-log sqrt(p_ij p_ji / (p_ii p_jj))``: the mean of both ways here.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(-transition([[7, 1, 3], [2, 9, 2], [4, 1, 5]])).round(2)
    array([[1.  , 0.25, 0.75],
           [0.5 , 1.  , 0.5 ],
           [0.8 , 0.2 , 1.  ]])
    """
    flows = _off_diagonal(counts, labels)
    if _uses(diagonal):
        share = _relative_to_diagonal(counts, labels)
    else:
        share = flows / flows.sum(axis=1, keepdims=True)
        alone = np.flatnonzero((flows > 0).sum(axis=1) == 1)
        if alone.size:
            raise InputError(
                f"Row {_name(counts, labels, alone[0])} of counts has a single partner: it goes there with "
                "certainty, at a cost of 0. Use zeros='pseudocount', diagonal='use', or another transform."
            )
    with np.errstate(divide="ignore"):
        return _finish(-np.log(share))


def rank(counts: ArrayLike, *, scaled: bool = False, labels: Sequence[Any] | None = None) -> Array:
    """Place of j among the partners of i: 1 for the largest count of the row, n - 1 for the smallest.

    Ties share the mean of their places. Any growing function of a row's counts has the same ranks.

    Parameters
    ----------
    counts : array-like of shape (n, n)
        From row to column; the diagonal takes no place.
    scaled : bool, default=False
        Divide by n - 1, so that 1 is the last place.

    Examples
    --------
    >>> rank([[0, 8, 3, 3], [1, 0, 2, 3], [5, 5, 0, 5], [9, 1, 4, 0]])
    array([[0. , 1. , 2.5, 2.5],
           [3. , 0. , 2. , 1. ],
           [2. , 2. , 0. , 2. ],
           [1. , 3. , 2. , 0. ]])
    """
    flows = _off_diagonal(counts, labels)
    np.fill_diagonal(flows, -1)  # after all others
    places = rankdata(-flows, axis=1)
    return _finish(places / (len(flows) - 1) if scaled else places)


def linear(counts: ArrayLike, *, diagonal: str = "ignore", labels: Sequence[Any] | None = None) -> Array:
    """Turn similarities round: ``max + min - counts_ij``, of the largest and the least positive one.

    The diagonal does not count for these. The most similar pair gets the least positive similarity and vice
    versa. Scaling the counts scales D.

    Parameters
    ----------
    counts : array-like of shape (n, n)
        Similarities, from row to column.
    diagonal : {"ignore", "use"}
        "use": ``1 - counts_ij / counts_ii``, from 0 (as similar as i to itself) to 1 (not at all).

    Examples
    --------
    >>> linear([[9, 5, 1], [2, 9, 0], [4, 3, 9]])
    array([[0., 1., 5.],
           [4., 0., 6.],
           [2., 3., 0.]])
    """
    flows = _off_diagonal(counts, labels)
    if _uses(diagonal):
        return _finish(1 - _relative_to_diagonal(counts, labels))
    return _finish(flows.max() + flows[flows > 0].min() - flows)


TRANSFORMS: dict[str, Callable[..., Array]] = {
    "gravity": gravity,
    "transition": transition,
    "rank": rank,
    "linear": linear,
}


def _name(counts: Any, labels: Sequence[Any] | None, i: int) -> str:
    """Row ``i`` as an error message shows it."""
    names = frame_labels(counts, "counts") if labels is None else list(labels)
    return LabelIndex(names, len(counts)).name(int(i))


def _check_counts(counts: Any, labels: Sequence[Any] | None) -> Array:
    """Copy of the counts as float64."""
    values = as_float_array(counts, "counts").astype(np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"counts must be a square matrix, from row to column; got shape {values.shape}.")
    frame_labels(counts, "counts")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        i, j = divmod(int(np.argmax(bad)), len(bad))
        raise InputError(
            f"counts must be finite and non-negative; from {_name(counts, labels, i)} to {_name(counts, labels, j)} it is "
            f"{values[i, j]}. Use 0 where nothing was counted; `zeros` says what that means."
        )
    return values


def _off_diagonal(counts: ArrayLike, labels: Sequence[Any] | None) -> Array:
    """Copy of the counts with a zero diagonal; each row must have something left."""
    flows = _check_counts(counts, labels)
    np.fill_diagonal(flows, 0)
    empty = np.flatnonzero(~flows.any(axis=1))
    if empty.size:
        names = ", ".join(_name(counts, labels, i) for i in empty[:8]) + (", ..." if empty.size > 8 else "")
        raise InputError(
            f"Nothing goes from {names} to another point ({empty.size} of {len(flows)} rows of counts). "
            "Leave these points out, or use zeros='pseudocount'."
        )
    return flows


def _uses(diagonal: str) -> bool:
    if diagonal not in ("ignore", "use"):
        raise InputError(f"diagonal must be 'ignore' or 'use', got {diagonal!r}.")
    return diagonal == "use"


def _relative_to_diagonal(counts: ArrayLike, labels: Sequence[Any] | None) -> Array:
    values = _check_counts(counts, labels)
    own = np.diagonal(values)[:, None]
    over = (values > own) | (own == 0)
    if over.any():
        i, j = divmod(int(np.argmax(over)), len(over))
        raise InputError(
            f"diagonal='use' needs counts that are positive on the diagonal and largest there: from "
            f"{_name(counts, labels, i)} to {_name(counts, labels, j)} it is {values[i, j]:g}, to itself {own[i, 0]:g}. Use "
            "diagonal='ignore'."
        )
    return np.asarray(values / own)


def _finish(D: Array) -> Array:
    """Set the diagonal to zero; -0.0 becomes 0.0."""
    np.fill_diagonal(D, 0)
    return D + 0.0
