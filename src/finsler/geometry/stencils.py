"""Stencils: to which nodes of a lattice a node is joined, so that ways in all directions are nearly straight.

Ways on a lattice run along the directions of its edges. If neighboring directions are an angle t apart, a way between them
is longer than the straight one by up to ``1/cos(t/2) - 1``: 8 % with 8 neighbors, .8 % where t is at most 15 degrees. In a
current it is more, by up to the factor `sharpness`: there directions are closer (`turns_for`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.geometry.randers import randers_norm

Array = NDArray[Any]
Offset = tuple[int, int]  # columns and rows from a node to its neighbor

TURNS = tuple(map(math.radians, (15, 12, 9, 6)))  # between neighboring directions of a stencil, at most
MOST_TURN = TURNS[0]
MOST_DETOUR = (
    0.02  # of ways along the edges of a stencil; in a current of more than .95 of the boat it may be more
)
ROUND = 72  # directions in which the sharpness is looked at
LONG = 2.0  # times as long as wide: cells of which directions that crowd are left out
DIRECTIONS = 180  # in which detours are looked at
MOST_ASPECT = 64.0  # cells that are longer than this have the stencil of such cells


class Pass(NamedTuple):
    """Cells that an edge passes, as offsets from its first end."""

    touched: tuple[Offset, ...]  #: All whose closed square meets the straight edge, both ends included.
    weights: tuple[tuple[Offset, float], ...]  #: Those at which it is measured, and with which weight.


@lru_cache(maxsize=256)
def stencil(aspect: float = 1.0, most_turn: float = MOST_TURN) -> tuple[Offset, ...]:
    """Offsets of the neighbors of a node whose cell is `aspect` times as high as it is wide.

    Between two neighboring directions (at first along the two axes) their sum is put in, as in the tree of Stern and
    Brocot, until none are farther apart than `most_turn`. Where cells are long, directions that crowd are left out;
    elsewhere none is, so that a way to any node is one of edges in the two directions next to it.

    Examples
    --------
    >>> len(stencil()), len(stencil(most_turn=math.radians(45)))
    (40, 8)
    >>> [offset for offset in stencil() if offset[0] >= offset[1] >= 0 < offset[0]]
    [(1, 0), (4, 1), (3, 1), (2, 1), (3, 2), (1, 1)]
    """
    high = min(max(aspect, 1 / MOST_ASPECT), MOST_ASPECT)

    def angle(offset: Offset) -> float:
        return math.atan2(high * offset[1], offset[0])

    quadrant: list[Offset] = [(1, 0)]
    ahead: list[Offset] = [(0, 1)]
    while ahead:
        a, b = quadrant[-1], ahead[-1]
        if angle(b) - angle(a) > most_turn * (1 + 1e-9):
            ahead.append((a[0] + b[0], a[1] + b[1]))
        else:
            quadrant.append(ahead.pop())
    kept = [quadrant[0]]
    long = max(high, 1 / high) > LONG
    for between, after in zip(quadrant[1:], [*quadrant[2:], None], strict=True):
        crowded = long and after is not None and angle(after) - angle(kept[-1]) < most_turn / 2
        if not crowded or between == (1, 1):
            kept.append(between)
    half = [*kept[:-1], *((-a, b) for a, b in reversed(kept[1:]))]
    return (*half, *((-a, -b) for a, b in half))


def sharpness(M: Array | None, omega: Array | None) -> Array | float:
    """How sharply the circle of costs 1 bends, at most: that of the plain metric has 1, that of Zermelo's more.

    If neighboring directions are a small angle t apart, ways between them are too long by up to ``t^2 / 8`` times this,
    since a cost F(t) of a direction t is above its chord by ``(F + F'') t^2 / 8``; and ``F + F'' = det M / (u' M u)^(3/2)``.

    Parameters
    ----------
    M, omega : ndarray of shape (n, 2, 2) and (n, 2), or None
        Randers metric at some places.

    Returns
    -------
    ndarray of shape (n,), or 1 if there is neither of both

    Examples
    --------
    >>> from finsler.geometry.randers import zermelo_metric
    >>> sharpness(*zermelo_metric([[0.0, 0.0], [0.6, 0.0], [0.8, 0.0]])).round(2)
    array([1.  , 1.85, 3.29])
    """
    if M is None and omega is None:
        return 1.0
    (a, b), (_, d) = np.eye(2) if M is None else np.moveaxis(M, 0, -1)
    u, v = (0.0, 0.0) if omega is None else omega.T
    most: Any = 0.0
    for turn in np.linspace(0, 2 * np.pi, ROUND, endpoint=False):
        x, y = math.cos(turn), math.sin(turn)
        square = a * x * x + 2 * b * x * y + d * y * y
        root = np.sqrt(square)
        with np.errstate(divide="ignore"):
            most = np.maximum(most, (a * d - b * b) / (square * root * np.maximum(root + u * x + v * y, 0.0)))
    return np.asarray(most)


def turns_for(sharp: Array) -> Array:
    """For each sharpness the largest of `TURNS` with which no way is more than `MOST_DETOUR` too long, or the least of all.

    Examples
    --------
    >>> np.degrees(turns_for(np.array([1.0, 3.29, 1000.0]))).round()
    array([15., 12.,  6.])
    """
    fits = sharp[:, None] * np.square(TURNS) / 8 <= MOST_DETOUR
    return np.where(fits.any(axis=1), np.array(TURNS)[fits.argmax(axis=1)], TURNS[-1])


@lru_cache(maxsize=4096)
def passed(offset: Offset, stride: int = 1) -> Pass:
    """Cells that an edge passes.

    Parameters
    ----------
    offset : (int, int)
        Columns and rows from its first end to its last.
    stride : int
        Cells of the grid to a step of the lattice: `touched` counts cells of the grid, the weights those of the lattice.

    Examples
    --------
    >>> passed((2, 1)).touched
    ((0, 0), (1, 0), (1, 1), (2, 1))
    >>> passed((2, 1)).weights
    (((0, 0), 0.25), ((1, 0), 0.25), ((1, 1), 0.25), ((2, 1), 0.25))
    """
    return Pass(tuple(_touched(offset[0] * stride, offset[1] * stride)), tuple(_weights(offset)))


def _touched(a: int, b: int) -> list[Offset]:
    """Cells, as closed squares round their nodes, that the edge from (0, 0) to (a, b) meets; in whole numbers, exactly."""
    found = []
    for i in range(min(a, 0), max(a, 0) + 1):
        for j in range(min(b, 0), max(b, 0) + 1):
            # The line meets the square iff its corners are not all strictly on one side.
            if abs(2 * (a * j - b * i)) <= abs(a) + abs(b):
                found.append((i, j))
    return found


def _weights(offset: Offset) -> list[tuple[Offset, float]]:
    """Where an edge is measured: wherever it crosses a row or column, whichever it crosses more of, by the trapezoidal rule.

    There it lies between two nodes, each of which counts by its nearness, unless the edge does not touch its cell.
    """
    a, b = offset
    n = max(abs(a), abs(b))
    touched = set(_touched(a, b))
    sums: dict[Offset, float] = {}
    for k in range(n + 1):
        x, y = a * k / n, b * k / n
        near: dict[Offset, float] = {}
        for i in {math.floor(x), math.ceil(x)}:
            for j in {math.floor(y), math.ceil(y)}:
                share = (1 - abs(x - i)) * (1 - abs(y - j))
                if share > 1e-12 and (i, j) in touched:
                    near[i, j] = share
        total = sum(near.values())
        for cell, share in near.items():
            sums[cell] = sums.get(cell, 0.0) + share / total * (0.5 if k in (0, n) else 1.0) / n
    return sorted(sums.items())


def detours(
    widths: Array, heights: Array, M: Array | None, omega: Array | None, offsets: Sequence[Offset]
) -> Array:
    """By how much ways along the edges of a stencil cost more than straight ones, relative, by place and direction.

    Parameters
    ----------
    widths, heights : ndarray of shape (n,)
        Of the cells at some places.
    M, omega : ndarray of shape (n, 2, 2) and (n, 2), or None
        Randers metric there.
    offsets : sequence of (int, int)
        The stencil, by angle.

    Returns
    -------
    ndarray of shape (n, DIRECTIONS)

    Examples
    --------
    With 8 neighbors the worst way is halfway between two of them.

    >>> worst = detours(np.ones(1), np.ones(1), None, None, stencil(most_turn=math.radians(45))).max()
    >>> bool(np.isclose(worst, 1 / math.cos(math.radians(22.5)) - 1, rtol=1e-2))
    True
    """
    n = len(widths)
    edges = np.array(offsets, float)[None] * np.stack([widths, heights], axis=1)[:, None]
    angles = np.arctan2(edges[..., 1], edges[..., 0])
    order = np.argsort(angles, axis=1)
    edges = np.take_along_axis(edges, order[..., None], axis=1)
    angles = np.take_along_axis(angles, order, axis=1)
    turns = np.linspace(-np.pi, np.pi, DIRECTIONS, endpoint=False) + np.pi / (2 * DIRECTIONS)
    ways = np.broadcast_to(np.column_stack([np.cos(turns), np.sin(turns)]), (n, DIRECTIONS, 2))
    after = (angles[:, None, :] < turns[None, :, None]).sum(axis=2) % len(offsets)
    one, two = (np.take_along_axis(edges, at[..., None], axis=1) for at in (after - 1, after))
    across = one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0]
    first = (ways[..., 0] * two[..., 1] - ways[..., 1] * two[..., 0]) / across
    second = (one[..., 0] * ways[..., 1] - one[..., 1] * ways[..., 0]) / across
    metric = None if M is None else M[:, None]
    drift = None if omega is None else omega[:, None]
    along, straight = (
        first * randers_norm(one, metric, drift) + second * randers_norm(two, metric, drift),
        randers_norm(ways, metric, drift),
    )
    return np.asarray(along / straight - 1)
