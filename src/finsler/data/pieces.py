"""The largest part of some data whose points can be placed together; the others are left out by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.labels import LabelIndex
from finsler.data.matrix import Dissimilarities
from finsler.errors import InputError, check_choice
from finsler.geometry.components import largest_component, matrix_components

UNREACHABLE = ("raise", "largest")


def placeable(data: Dissimilarities, unreachable: str) -> Dissimilarities:
    """Keep the largest group of points that known pairs connect, in either direction, if "largest" is asked for.

    Otherwise the data are given as they are; a solver refuses them if there are several groups.

    Examples
    --------
    >>> from finsler.data.matrix import as_dissimilarities
    >>> D = [[0, 2, np.nan], [3, 0, np.nan], [np.nan, np.nan, 0]]
    >>> data = as_dissimilarities(D, labels=["a", "b", "c"], missing="mask")
    >>> placeable(data, "largest").provenance.left_out
    ('c',)
    """
    check_choice("unreachable", unreachable, UNREACHABLE)
    if unreachable == "raise" or data.weights is None:
        return data
    kept = largest_component(matrix_components(data.weights))
    return data if len(kept) == data.n_points else taken(data, kept)


def taken(data: Dissimilarities, kept: NDArray[Any]) -> Dissimilarities:
    """Keep some points of the data; the provenance names the others, and counts what is unknown among those kept."""
    if len(kept) < 2:
        raise InputError("largest: no two points have a value between them.", argument="unreachable")
    points = LabelIndex(data.labels, data.n_points)
    left = np.setdiff1d(np.arange(data.n_points), kept)
    matrix = data.matrix[np.ix_(kept, kept)]
    facts = data.provenance.having(left_out=[points.label(int(i)) for i in left])
    if facts.policy:
        bounds = matrix < 0 if facts.policy == "hinge" else np.isinf(matrix)
        n_missing, n_unreachable = int(np.isnan(matrix).sum()), int(bounds.sum())
        policy = facts.policy if n_missing + n_unreachable else ""
        facts = facts.having(n_missing=n_missing, n_unreachable=n_unreachable, policy=policy)
    return replace(
        data,
        matrix=matrix,
        weights=None if data.weights is None else data.weights[np.ix_(kept, kept)],
        labels=[points.label(int(i)) for i in kept],
        provenance=facts,
    )


def sources(counts: NDArray[Any]) -> NDArray[Any]:
    """Positions of the points from which something goes to another one of them."""
    kept = np.arange(len(counts))
    while True:
        flows = np.nan_to_num(counts[np.ix_(kept, kept)])
        np.fill_diagonal(flows, 0)
        going = (flows > 0).any(axis=1)
        if going.all():
            return kept
        kept = kept[going]
