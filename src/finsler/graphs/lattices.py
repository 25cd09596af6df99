"""Points on a lattice, joined in many directions: ways are hardly longer than straight ones, and none leads over land.

A lattice has rows and columns, of which some nodes may be missing: land. An edge leads straight to a node some rows and
columns away (`finsler.geometry.stencils`) if no cell that it touches is land, not even at a corner. It is measured along
itself, wherever it crosses a row or column, by the metrics of the nodes there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from finsler._memory import require_memory
from finsler._runtime import cached_property
from finsler.data.fields import RandersField
from finsler.data.located import on_sphere
from finsler.errors import check_choice
from finsler.geometry.stencils import MOST_TURN, Offset, detours, passed, sharpness, stencil, turns_for

Array = NDArray[Any]

RULES = ("average", "start")
FILLED = 0.5  # share of its rows and columns that the points of a lattice fill at least
TOLERANCE = 1e-3  # of coordinates, in units of the spacing
STEPS_OF_ASPECT = 4  # aspects of cells are rounded to so many steps per factor of two: rows share stencils
LOOKED_AT = 200  # nodes at which detours are looked at, besides that of the sharpest metric


class Detour(NamedTuple):
    """How much longer ways along the edges of a lattice are than straight ones, over nodes and directions, relative."""

    median: float
    most: float


@dataclass(frozen=True, eq=False)
class Lattice:
    """Nodes in rows and columns, some of them missing.

    The nodes may be every `stride`-th row and column of a finer grid of cells, whose land no edge crosses.
    """

    sea: Array  #: Booleans, (rows, columns) of the grid: cells that are not land.
    widths: (
        Array  #: (rows of the lattice, columns): width of the cell of each node, or what broadcasts to that.
    )
    heights: Array  #: The same: its height.
    stride: int = 1
    wraps: bool = False  #: Whether the last column is a neighbor of the first one.
    turns: Array | float = MOST_TURN  #: Of each row: angle between neighboring directions of edges, at most.

    def suited(self, field: RandersField) -> Lattice:
        """Lattice whose rows have as many directions as the sharpest metric of each asks for."""
        sharp = np.zeros(self.present.shape)
        sharp[self.present] = sharpness(field.M, field.omega)
        return replace(self, turns=turns_for(sharp.max(axis=1)))

    @cached_property
    def present(self) -> Array:
        """Which nodes of the lattice there are: (rows, columns)."""
        first = self.stride // 2
        return self.sea[first :: self.stride, first :: self.stride]

    @cached_property
    def number(self) -> Array:
        """Number of each node, row by row; -1 where there is none."""
        found = np.full(self.present.shape, -1, np.int32)
        found[self.present] = np.arange(np.count_nonzero(self.present), dtype=np.int32)
        return found

    @cached_property
    def _aspects(self) -> Array:
        """Height of the cells of each row over their width, rounded."""
        high, wide = (np.broadcast_to(part, self.present.shape) for part in (self.heights, self.widths))
        high, wide = np.median(high, axis=1), np.median(wide, axis=1)
        wide = np.maximum(wide, high / 2.0**6)  # a pole has no width
        steps = np.round(STEPS_OF_ASPECT * np.log2(np.maximum(high / wide, 2.0**-6)))
        return np.asarray(2.0 ** (steps / STEPS_OF_ASPECT))

    @cached_property
    def stencils(self) -> list[tuple[Offset, ...]]:
        """Stencil of each row."""
        turns = np.broadcast_to(self.turns, self._aspects.shape)
        return [
            stencil(aspect, turn) for aspect, turn in zip(self._aspects.tolist(), turns.tolist(), strict=True)
        ]

    @cached_property
    def offsets(self) -> dict[Offset, Array]:
        """Offsets of edges, and of which rows each is in the stencil."""
        found: dict[Offset, Array] = {}
        for row, offsets in enumerate(self.stencils):
            for offset in offsets:
                found.setdefault(offset, np.zeros(len(self.stencils), bool))[row] = True
        return dict(sorted(found.items(), key=lambda item: (item[0][1], item[0][0])))

    def edges_along(self, offset: Offset) -> tuple[Array, Array, Array]:
        """Rows and columns of the nodes from which an edge leads along an offset, and the numbers of its other ends.

        It is there if either end has it in its stencil and it touches no land.
        """
        a, b = offset
        rows, columns = self.present.shape
        if (
            abs(b) >= rows or (2 if self.wraps else 1) * abs(a) >= columns
        ):  # no edge leads round more than half of it
            return (np.empty(0, np.intp),) * 3
        r = np.arange(max(0, -b), rows - max(0, b))
        r = r[self.offsets[offset][r] | self.offsets[offset][r + b]]
        c = np.arange(columns) if self.wraps else np.arange(max(0, -a), columns - max(0, a))
        free = np.ones((len(r), len(c)), bool)
        first, k = self.stride // 2, self.stride
        for i, j in passed(offset, k).touched:
            free &= self.sea[np.ix_(first + r * k + j, (first + c * k + i) % self.sea.shape[1])]
        at = np.nonzero(free)
        r, c = r[at[0]], c[at[1]]
        return r, c, self.number[r + b, (c + a) % columns]

    def lengths_along(self, offset: Offset, field: RandersField, rule: str = "average") -> Array:
        """Length of the edge along an offset from each place of the lattice, (rows, columns); NaN if it passes none."""
        a, b = offset
        here = np.zeros(self.present.shape)
        here[self.present] = _norms(field, a * self._at_nodes(self.widths), b * self._at_nodes(self.heights))
        if rule == "start":
            return here
        sums, shares = np.zeros_like(here), np.zeros_like(here)
        weight_of = self.present.astype(float)
        for cell, weight in passed(offset).weights:
            for total, part in ((sums, here), (shares, weight_of)):
                for to, of in _overlaps(cell, self.present.shape, self.wraps):
                    total[to] += weight * part[of]
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(sums / shares)

    def _at_nodes(self, values: Array) -> Array:
        return np.asarray(np.broadcast_to(values, self.present.shape)[self.present], dtype=float)

    def detour(self, field: RandersField) -> Detour:
        """Estimate by how much ways along the edges are too long, from the stencils and metrics of some nodes."""
        nodes = np.flatnonzero(self.present.ravel())
        sharpest = np.argmax(sharpness(field.M, field.omega))
        some = np.unique([*np.linspace(0, len(nodes) - 1, LOOKED_AT).astype(int), sharpest])
        rows = nodes[some] // self.present.shape[1]
        wide, high = self._at_nodes(self.widths)[some], self._at_nodes(self.heights)[some]
        here, found = field.take(some), []
        for offsets in {self.stencils[row] for row in rows}:
            own = np.array([self.stencils[row] == offsets for row in rows])
            at = np.flatnonzero(own & (wide > 0) & (high > 0))
            part = here.take(at)
            if len(at):
                found.append(detours(wide[at], high[at], part.M, part.omega, offsets).ravel())
        every = np.concatenate(found) if found else np.zeros(1)
        return Detour(float(np.median(every)), float(every.max()))


def lattice_edges(lattice: Lattice, field: RandersField, rule: str = "average") -> csr_array:
    """Directed lengths of the edges between the nodes of a lattice, under a field of metrics at its nodes.

    Examples
    --------
    >>> square = Lattice(np.ones((3, 3), bool), np.ones((3, 3)), np.ones((3, 3)))
    >>> lattice_edges(square, RandersField()).toarray()[0].round(3)
    array([0.   , 1.   , 0.   , 1.   , 1.414, 2.236, 0.   , 2.236, 0.   ])
    """
    check_choice("rule", rule, RULES)
    n = int(np.count_nonzero(lattice.present))
    require_memory(
        14.0 * sum(map(len, lattice.stencils)) * n / len(lattice.stencils) + 80.0 * lattice.present.size,
        f"The edges of {n:,} nodes",
        "Take fewer of them, say every second row and column.",
    )
    degree = np.zeros(n + 1, np.int64)
    for _, r, c, _ in _each(lattice):
        degree[lattice.number[r, c] + 1] += 1
    pointer = np.cumsum(degree)
    kind = np.int32 if pointer[-1] < 2**31 else np.int64
    indices, lengths, free = np.empty(pointer[-1], kind), np.empty(pointer[-1]), pointer[:-1].copy()
    for offset, r, c, ends in _each(lattice):
        starts = lattice.number[r, c]
        at = free[starts]
        indices[at] = ends
        lengths[at] = lattice.lengths_along(offset, field, rule)[r, c]
        free[starts] += 1
    edges = csr_array((np.maximum(lengths, 0.0), indices, pointer.astype(kind)), shape=(n, n))
    edges.sort_indices()
    return edges


def _each(lattice: Lattice) -> Iterator[tuple[Offset, Array, Array, Array]]:
    for offset in lattice.offsets:
        r, c, ends = lattice.edges_along(offset)
        if len(r):
            yield offset, r, c, ends


def _norms(field: RandersField, x: Array, y: Array) -> Array:
    """Length of the step (x, y) from each node; as `randers_norm`, for many steps in the plane several times faster."""
    if field.M is None:
        squares = x * x + y * y
    else:
        M = field.M
        squares = M[:, 0, 0] * x * x + (M[:, 0, 1] + M[:, 1, 0]) * x * y + M[:, 1, 1] * y * y
    length = np.sqrt(squares)
    return length if field.omega is None else length + field.omega[:, 0] * x + field.omega[:, 1] * y


def _overlaps(cell: Offset, shape: tuple[int, int], wraps: bool) -> Iterator[tuple[Any, Any]]:
    """Slices of two grids such that the second is the first, moved by an offset; two pairs if the columns wrap around."""
    (i, j), (rows, columns) = cell, shape
    here, there = slice(max(0, -j), rows - max(0, j)), slice(max(0, j), rows - max(0, -j))
    if here.start >= here.stop:
        return
    if not wraps:
        if abs(i) < columns:
            yield (
                (here, slice(max(0, -i), columns - max(0, i))),
                (there, slice(max(0, i), columns - max(0, -i))),
            )
        return
    i %= columns
    yield (here, slice(0, columns - i)), (there, slice(i, columns))
    if i:
        yield (here, slice(columns - i, columns)), (there, slice(0, i))


class PointLattice(NamedTuple):
    """A lattice on which given points lie, and the order in which it numbers them."""

    lattice: Lattice
    order: Array  #: Row of the point that each node is.
    sides: Array | None = (
        None  #: On the sphere: unit vectors to the east and north at each node, of shape (n, 3, 2).
    )

    def in_order_of_points(self, edges: csr_array) -> csr_array:
        """Edges between nodes as edges between the points."""
        if (np.diff(self.order) > 0).all():
            return edges
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place))
        turned = csr_array(edges[place][:, place])
        turned.sort_indices()
        return turned

    def field_of(self, field: RandersField) -> RandersField:
        """A field at the points as one at the nodes, along rows and columns."""
        field = field.take(self.order)
        if self.sides is None:
            return field
        turned = np.swapaxes(self.sides, 1, 2)
        M = None if field.M is None else turned @ field.M @ self.sides
        return RandersField(M, None if field.omega is None else (turned @ field.omega[:, :, None])[..., 0])


def find_lattice(X: Array) -> PointLattice | None:
    """Lattice on which points lie, evenly spaced: in the plane along the axes, or on a sphere about the origin.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [0.5, 0.0], [0.5, 1.0], [1.0, 1.0], [1.0, 0.0]])
    >>> find_lattice(points) is None
    True
    >>> grid = np.stack(np.meshgrid(np.arange(4) / 2, np.arange(3.0)), axis=-1).reshape(-1, 2)
    >>> found = find_lattice(grid[::-1])
    >>> found.lattice.present.shape, found.order[:3].tolist()
    ((3, 4), [11, 10, 9])
    """
    if X.shape[1] == 3:
        return _on_sphere(X)
    if X.shape[1] != 2 or (found := _rows_and_columns(X)) is None:
        return None
    sea, order, (width, height) = found
    return PointLattice(Lattice(sea, np.full((1, 1), width), np.full((1, 1), height)), order)


def _on_sphere(X: Array) -> PointLattice | None:
    """Lattice of longitudes and latitudes, from places in space."""
    far = np.linalg.norm(X, axis=1)
    radius = float(far.mean())
    if radius == 0 or np.abs(far - radius).max() > 1e-9 * radius:
        return None
    lon = np.degrees(np.arctan2(X[:, 1], X[:, 0]))
    lat = np.degrees(np.arctan2(X[:, 2], np.hypot(X[:, 0], X[:, 1])))
    if np.abs(lat).max() > 90 - 1e-6:  # at a pole all longitudes are one
        return None
    ordered = np.sort(lon)
    gaps = np.diff(ordered, append=ordered[0] + 360)
    at = int(np.argmax(gaps))
    first = ordered[(at + 1) % len(lon)]  # east of the widest gap, in which the date line may not lie
    turned = (lon - first + 1e-9) % 360  # rounding must not send the first ones round the globe
    found = _rows_and_columns(np.column_stack([turned, lat]))
    if found is None:
        return None
    sea, order, (width, height) = found
    wraps = bool(abs(gaps[at] - width) < TOLERANCE * width)
    degree = radius * np.pi / 180
    rows = lat.min() + height * np.arange(len(sea))
    places = np.column_stack([lon, lat])[order]
    east, north = (np.broadcast_to(way, places.shape) for way in ((1.0, 0.0), (0.0, 1.0)))
    sides = [np.asarray(on_sphere(places, ways)[1]) for ways in (east, north)]
    widths = (degree * width * np.cos(np.radians(rows)))[:, None]
    lattice = Lattice(sea, widths, np.full((1, 1), degree * height), wraps=wraps)
    return PointLattice(lattice, order, np.stack(sides, axis=-1))


def _rows_and_columns(X: Array) -> tuple[Array, Array, tuple[float, float]] | None:
    """Which places of rows and columns the points fill, in which order, and the spacing; None if they are not even."""
    n = len(X)
    axes = [_axis(X[:, k], n) for k in range(2)]
    if axes[0] is None or axes[1] is None:
        return None
    (column, width), (row, height) = axes[0], axes[1]
    shape = int(row.max()) + 1, int(column.max()) + 1
    if min(shape) < 3 or n < FILLED * shape[0] * shape[1]:
        return None
    order = np.lexsort([column, row])
    places = row[order] * shape[1] + column[order]
    if (np.diff(places) == 0).any():
        return None
    sea = np.zeros(shape, bool)
    sea.ravel()[places] = True
    return sea, order, (width, height)


def _axis(values: Array, n: int) -> tuple[Array, float] | None:
    """Position of each value on an even axis, and its spacing."""
    steps = np.diff(np.sort(values))
    span = float(steps.sum())
    steps = steps[steps > TOLERANCE * span / n]  # others are rounding: there are at most n lines
    if not len(steps):
        return None
    spacing = float(steps.min())
    if span / spacing > n:  # more lines than points
        return None
    spacing = span / round(span / spacing)
    position = (values - values.min()) / spacing
    whole = np.round(position)
    return (whole.astype(np.int64), spacing) if np.abs(position - whole).max() < TOLERANCE else None
