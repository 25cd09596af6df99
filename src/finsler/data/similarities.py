"""Dissimilarities from counts (flows, confusions, citations): much from i to j means that j is near i.

:func:`dissimilarities_from` chooses among four transforms, with s the off-diagonal counts:

    gravity     D_ij = (out_i in_j / (total s_ij)) ^ (1 / exponent)      sizes divided out; the default
    transition  D_ij = -log(s_ij / out_i)                                cost of a step of a random walk
    rank        D_ij = place of j among i's partners, largest first      nothing but the order counts
    linear      D_ij = max(s) + min(s > 0) - s_ij                        s is a similarity already

They take every count at its word: where it is zero, gravity and transition are inf.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import rankdata

from finsler.data.frames import Labeled, labeled
from finsler.data.labels import LabelIndex, frame_labels
from finsler.data.matrix import LARGEST, Array, Dissimilarities, as_dissimilarities, as_float_array
from finsler.data.pieces import placeable, sources
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
        "gravity" gives the distances at which a gravity model, ``counts_ij = out_i in_j / (total D_ij ^ exponent)``,
        gives the counts: sizes are divided out. "transition" is the cost ``-log(counts_ij / out_i)`` of a step of a
        random walk, "rank" the place of j among the partners of i, and "linear" turns similarities round,
        ``max + min - counts_ij``.
    zeros : {"missing", "pseudocount", "keep"}
        What a count of zero says. "missing": nothing, the dissimilarity is NaN. "pseudocount": the flow is
        small, `pseudocount` is added to every count. "keep": it was measured; the pair is the least similar
        there is (rank, linear) or unreachable, inf (gravity, transition).
    pseudocount : float, default=0.5
        Added to every count, the diagonal too, with ``zeros="pseudocount"``.
    labels : sequence, optional
        What messages call the points; those of a DataFrame by default.
    **options
        Of the transform: `exponent` (gravity; 2 by default), `diagonal` (transition, linear; "ignore" or "use").

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
    counts = labeled(counts)
    own = frame_labels(counts, "counts")
    checked = _check_counts(counts, own if labels is None else labels)
    zero = checked.values == 0
    if zeros == "pseudocount":
        if not (np.isfinite(pseudocount) and pseudocount > 0):
            raise InputError(f"pseudocount must be positive, got {pseudocount!r}.")
        checked = checked._replace(values=checked.values + pseudocount)
    D = TRANSFORMS[transform](checked, **options)
    np.fill_diagonal(D, 0)
    D += 0.0  # -0.0 becomes 0.0
    if zeros == "missing":
        D[zero] = np.nan
        np.fill_diagonal(D, 0)
    if isinstance(counts, Labeled):
        return counts.rebuilt(D)
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
    unreachable: str = "raise",
) -> Dissimilarities:
    """Turn a matrix of counts or similarities into dissimilarities that are checked and know how they were made.

    `weights` and `missing` are those of :func:`~finsler.data.matrix.as_dissimilarities`. NaN on the diagonal is nothing,
    and other values there count only with ``diagonal="use"``. `facts` tell where the counts come from. With `unreachable`
    "largest", points from which nothing goes to others, and those outside the largest group, are left out by name.
    """
    check_choice("similarity", similarity, TRANSFORMS)
    check_choice("diagonal", diagonal, ("ignore", "check", "use"))
    if diagonal == "use" and similarity not in ("transition", "linear"):
        raise InputError("use goes with similarity transition or linear.", argument="diagonal")
    counts = np.array(counts, dtype=float)
    np.fill_diagonal(counts, np.nan_to_num(np.diagonal(counts), nan=0.0))
    facts = facts or Provenance()
    if unreachable == "largest" and len(kept := sources(counts)) < len(counts):
        names = list(range(len(counts))) if labels is None else list(labels)
        facts = facts.having(left_out=[name for i, name in enumerate(names) if i not in {*kept.tolist()}])
        counts, labels = counts[np.ix_(kept, kept)], [names[i] for i in kept]
        weights = None if weights is None else np.asarray(weights)[np.ix_(kept, kept)]
    options: dict[str, Any] = {"diagonal": "use"} if diagonal == "use" else {}
    D = dissimilarities_from(counts, transform=similarity, zeros=zeros, labels=labels, **options)
    data = as_dissimilarities(D, weights, labels=labels, missing=missing)
    return placeable(with_facts(data, facts.having(similarity=similarity)), unreachable)


def with_facts(data: Dissimilarities, facts: Provenance) -> Dissimilarities:
    """Add where data come from to what their check found."""
    found = data.provenance
    unknown = {name: getattr(found, name) for name in ("n_missing", "n_unreachable", "policy", "shift")}
    return replace(data, provenance=facts.having(**unknown))


class _Counts(NamedTuple):
    """Counts that are finite and non-negative, and what messages call a point."""

    values: Array
    name: Callable[[int], str]

    def off_diagonal(self) -> Array:
        """Copy of the counts with a zero diagonal; each row must have something left."""
        flows = self.values.copy()
        np.fill_diagonal(flows, 0)
        empty = np.flatnonzero(~flows.any(axis=1))
        if empty.size:
            names = ", ".join(map(self.name, empty[:8])) + (", ..." if empty.size > 8 else "")
            raise InputError(
                f"Nothing goes from {names} to another point ({empty.size} of {len(flows)} rows of counts). "
                "Leave these points out, or use zeros='pseudocount'."
            )
        return flows

    def relative_to_diagonal(self) -> Array:
        """Counts over those of their rows on the diagonal, which must be the largest."""
        self.off_diagonal()  # refuses rows with nothing else
        values, own = self.values, np.diagonal(self.values)[:, None]
        over = (values > own) | (own == 0)
        if over.any():
            i, j = divmod(int(np.argmax(over)), len(over))
            raise InputError(
                f"diagonal='use' needs counts that are positive on the diagonal and largest there: from {self.name(i)} to "
                f"{self.name(j)} it is {values[i, j]:g}, to itself {own[i, 0]:g}. Use diagonal='ignore'."
            )
        return np.asarray(values / own)


def _check_counts(counts: Any, labels: Sequence[Any] | None) -> _Counts:
    values = as_float_array(counts, "counts").astype(np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1]:
        raise InputError(f"counts must be a square matrix, from row to column; got shape {values.shape}.")
    name = LabelIndex(labels, len(values)).name
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        i, j = divmod(int(np.argmax(bad)), len(bad))
        raise InputError(
            f"counts must be finite and non-negative; from {name(i)} to {name(j)} it is {values[i, j]}. Use 0 where "
            "nothing was counted; `zeros` says what that means."
        )
    largest, least = values.max(initial=0.0), np.min(values, where=values > 0, initial=np.inf)
    if largest > LARGEST or least < 1 / LARGEST:
        extreme = largest if largest > LARGEST else least
        raise InputError(f"counts reach {extreme:g}; rescale to ordinary magnitudes.", argument="counts")
    return _Counts(values, name)


def _gravity(counts: _Counts, exponent: float = 2.0) -> Array:
    """Distances at which a gravity model gives the counts.

    A gravity model lets the flow from i to j grow with the sizes of both and fall with a power of their distance,
    ``counts_ij = out_i in_j / (total D_ij ^ exponent)``, where ``out_i`` and ``in_j`` are the sums of the row and of the
    column, and ``total`` of all counts, without the diagonal. Solved for D, it divides the sizes out: ``D_ij = 1`` where
    the flow is what the sizes alone would give. Scaling the counts changes nothing. An exponent of 2 is Newton's; a
    smaller one spreads the distances.

    References
    ----------
    Tobler, Wineburg: A Cappadocian speculation, Nature 231 (1971), solves the gravity model for distances.
    Mair, Rusch, Hornik: The Grand Old Party - a party of values?, SpringerPlus 3 (2014): exponent 2, with MDS
    (``gravity`` in the R package smacof, which leaves out the constant ``total``).
    """
    if not (np.isfinite(exponent) and exponent > 0):
        raise InputError(f"exponent must be positive, got {exponent!r}.")
    flows = counts.off_diagonal()
    sizes = np.outer(flows.sum(axis=1), flows.sum(axis=0) / flows.sum())
    ratio = np.divide(sizes, flows, out=np.full_like(flows, np.inf), where=flows > 0)
    return np.asarray(ratio ** (1 / exponent))


def _transition(counts: _Counts, diagonal: str = "ignore") -> Array:
    """Cost ``-log p_ij`` of a step of a random walk, ``p_ij = counts_ij / out_i``; costs of steps add up.

    Scaling a row changes nothing. ``diagonal="use"``, for confusions: ``p_ij = counts_ij / counts_ii``, how often i is
    taken for j for each time that it is recognized. Shepard: Stimulus and response generalization, Psychometrika 22
    (1957), has the symmetric form of it, ``-log sqrt(p_ij p_ji / (p_ii p_jj))``: the mean of both ways here.
    """
    if _uses(diagonal):
        share = counts.relative_to_diagonal()
    else:
        flows = counts.off_diagonal()
        share = flows / flows.sum(axis=1, keepdims=True)
        alone = np.flatnonzero((flows > 0).sum(axis=1) == 1)
        if alone.size:
            raise InputError(
                f"Row {counts.name(int(alone[0]))} of counts has a single partner: it goes there with "
                "certainty, at a cost of 0. Use zeros='pseudocount', diagonal='use', or another transform."
            )
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(share))


def _rank(counts: _Counts) -> Array:
    """Place of j among the partners of i: 1 for the largest count of the row, n - 1 for the smallest.

    Ties share the mean of their places. Any growing function of a row's counts has the same ranks.
    """
    flows = counts.off_diagonal()
    np.fill_diagonal(flows, -1)  # after all others
    return np.asarray(rankdata(-flows, axis=1))


def _linear(counts: _Counts, diagonal: str = "ignore") -> Array:
    """Turn similarities round: ``max + min - counts_ij``, of the largest and the least positive one off the diagonal.

    The most similar pair gets the least positive similarity and vice versa. Scaling the counts scales D.
    ``diagonal="use"``: ``1 - counts_ij / counts_ii``, from 0 (as similar as i to itself) to 1 (not at all).
    """
    if _uses(diagonal):
        return 1 - counts.relative_to_diagonal()
    flows = counts.off_diagonal()
    return np.asarray(flows.max() + flows[flows > 0].min() - flows)


def _uses(diagonal: str) -> bool:
    check_choice("diagonal", diagonal, ("ignore", "use"))
    return diagonal == "use"


TRANSFORMS: dict[str, Callable[..., Array]] = {
    "gravity": _gravity,
    "transition": _transition,
    "rank": _rank,
    "linear": _linear,
}
