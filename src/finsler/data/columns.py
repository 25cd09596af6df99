"""Names of columns that people use, which column plays which role, and what a table is: the one place to add a name.

Names are compared in lower case, with ``_`` for anything but letters and digits, and without a unit at the end:
``Travel Time (min)`` is ``travel_time``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_argument
from finsler.data.readers.fast_text import EMPTY_WORDS
from finsler.data.readers.text import is_number, number_share, table_width
from finsler.errors import InputError, shown

# Both ends of an arc or of a measured pair: from, to. Earlier pairs win; an end goes with the other end of any pair, so that
# a single new name is added with a partner that is here already.
END_COLUMNS = (
    ("source", "target"),
    ("from", "to"),
    ("origin", "destination"),
    ("src", "dst"),
    ("tail", "head"),
    ("from_id", "to_id"),
    ("source_id", "target_id"),
    ("origin_id", "destination_id"),
    ("orig", "dest"),
    ("exporter", "importer"),
    ("reporter", "partner"),
    ("sender", "receiver"),
    ("citing", "cited"),
    ("follower", "followee"),
    ("from_node", "to_node"),
    ("from_node_id", "to_node_id"),
    ("fromnodeid", "tonodeid"),
    ("von", "nach"),
    ("iso_o", "iso_d"),
    ("iso3_o", "iso3_d"),
    ("o", "d"),
    ("i", "j"),
    ("u", "v"),
)
# More is farther.
LENGTHS = {
    *("weight", "length", "distance", "dist", "cost", "time", "travel_time", "traveltime", "duration", "seconds"),
    *("minutes", "min", "mins", "sec", "hours", "days", "km", "miles", "meters", "metres", "dissimilarity", "latency"),
}  # fmt: skip
# More is nearer: never taken for a length unless the caller names the column.
FLOWS = {
    *("flow", "flows", "count", "counts", "n", "trips", "volume", "trade", "value", "strength", "probability", "prob"),
    *("frequency", "freq", "similarity", "affinity", "passengers", "people", "commuters", "workers", "jobs"),
    *("migrants", "migration", "moves", "exports", "imports", "tradeflow", "citations", "interactions", "amount"),
}  # fmt: skip
# Names of points.
LABELS = ("label", "name", "id")
# Vectors at points: short for drift_x, ..., current_x, ...
SHORT_VECTORS = {
    **{"dx": "drift_x", "dy": "drift_y", "dz": "drift_z"},
    **{"u": "current_x", "v": "current_y", "w": "current_z"},
}
# Degrees, east and north: never taken for lengths unless the caller says so.
LONGITUDES, LATITUDES = ("lon", "longitude", "lng", "long"), ("lat", "latitude")
# Coordinates that are numbered, as x1, PC1, UMAP_1, beside which v1 or velocity_1 is a current.
_NUMBERED = re.compile(r"(x|pc|dim|umap|tsne|component|v|velocity)_?(\d{1,4})")
_VELOCITIES = ("v", "velocity")
_NOT_LONG = "(A square table is a matrix, not a list of arcs; embed_matrix reads it.)"
_UNIT = re.compile(r"_(s|sec|secs|seconds|min|mins|minutes|h|hours|m|meters|metres|km|mi|miles|p\d{1,3})$")


def canonical(name: Any) -> str:
    """Spell the name of a column in the one way in which names are compared."""
    plain = re.sub(r"[^\w]+|_+", "_", str(name).lower()).strip("_")
    return _UNIT.sub("", plain)


class LongColumns(NamedTuple):
    """Positions of the columns of a long table; `value` is None if every row counts as one."""

    source: int
    target: int
    value: int | None


def find_ends(names: Iterable[Any], *, letters: bool = True) -> tuple[int, int] | None:
    """Find the columns of both ends by their names; single letters (i and j) only with `letters`."""
    known = [canonical(name) for name in names]
    there = {*known}
    pairs = [pair for pair in END_COLUMNS if {*pair} <= there and (letters or len(pair[0]) > 1)]
    words = [pair for pair in END_COLUMNS if min(map(len, pair)) > 1]
    sources = [source for source, _ in words if source in there]  # origin beside dest
    targets = [target for _, target in words if target in there]
    if not pairs and sources and targets:
        pairs = [(sources[0], targets[0])]
    return (known.index(pairs[0][0]), known.index(pairs[0][1])) if pairs else None


def choose_columns(
    names: Sequence[Any],
    source: Any = None,
    target: Any = None,
    value: Any = "auto",
    *,
    similarity: bool = False,
    word: str = "value",
) -> LongColumns:
    """Choose the columns of a long table by name or position; names that are known, else the first three, by default.

    `value` of None counts every row as one; "auto" takes the column called weight, else the one with a name that is
    known, else the third of three. Unless values are a `similarity`, a column with the name of a flow is only taken where
    `value` names it. `word` is what the caller calls `value`, for messages.

    Examples
    --------
    >>> choose_columns(["from", "to", "minutes", "note"])
    LongColumns(source=0, target=1, value=2)
    """
    names = list(names)
    if len(names) < 2:
        raise InputError(f"a list of arcs or pairs needs two columns, source and target; found {names}.")
    if (source is None) != (target is None):
        raise InputError("give both source and target, or neither.")
    if source is not None:
        i, j = find_column(names, source, "source"), find_column(names, target, "target")
    else:
        i, j = find_ends(names) or _first_two(names)
    if i == j:
        raise InputError(f"source and target are the same column, {names[i]!r}.")
    if value is None:
        return LongColumns(i, j, None)
    if not isinstance(value, str) or value != "auto":
        return LongColumns(i, j, find_column(names, value, word))
    return LongColumns(i, j, _choose_value(names, {i, j}, similarity, word))


def _first_two(names: list[Any]) -> tuple[int, int]:
    named = [name for name in names if isinstance(name, str) and name]
    if len(named) > 3:
        raise InputError(
            f"source, target: which columns hold the two ends? Give both, of {names[:20]}. {_NOT_LONG}"
        )
    return 0, 1


def _choose_value(names: list[Any], ends: set[int], similarity: bool, word: str) -> int | None:
    known = {k: canonical(name) for k, name in enumerate(names) if k not in ends and name != ""}
    lengths = [k for k, name in known.items() if name in LENGTHS]
    flows = [k for k, name in known.items() if name in FLOWS]
    weight = [k for k in lengths if known[k] == "weight"]
    first, second = (flows, lengths) if similarity else (weight or lengths, flows)
    found = first or second or list(known if len(known) == 1 else ())
    if len(found) > 1 or (known and not found):
        raise InputError(
            f"{word}: which column holds the values? Give {word}= one of {[names[k] for k in found or known][:20]}, or None "
            f"to count arcs. {_NOT_LONG}"
        )
    if found and found[0] in flows and not similarity:
        name = names[found[0]]
        raise InputError(
            f"{word}: the column {name!r} looks like a flow or a similarity, where more means nearer. Set similarity to "
            "gravity, transition, rank or linear to make dissimilarities of pairs; if it is a length, where more means "
            f"farther, say so: set {word} to {name!r}.",
        )
    return found[0] if found else None


def find_column(names: Sequence[Any], wanted: Any, argument: str) -> int:
    """Position of a column by its name, in any case if that is clear, or by its position."""
    check_argument(argument, wanted, "Hashable")
    if wanted in names:
        return list(names).index(wanted)
    if isinstance(wanted, int) and 0 <= wanted < len(names):
        return wanted
    close = [k for k, name in enumerate(names) if str(name).lower() == str(wanted).lower()]
    if len(close) != 1:
        raise InputError(
            f"{argument}={shown(wanted)} is not a column; the columns are {list(names)[:20]}.",
            argument=argument,
        )
    return close[0]


def label_column(names: Sequence[str]) -> str:
    """Name of the column that holds the labels of points: label, name or id, else the first."""
    plain = [str(name).lower() for name in names]
    return next((names[plain.index(word)] for word in LABELS if word in plain), names[0])


class PointColumns(NamedTuple):
    """Positions of the columns of points; those of attributes are the others."""

    coordinates: list[int]
    vectors: list[int]
    vector_kind: str | None
    label: int | None


def point_columns(header: Sequence[str]) -> PointColumns:
    """Find coordinates, vectors and labels of points by the names of the columns.

    Examples
    --------
    >>> point_columns(["name", "x", "y", "u", "v", "depth"])
    PointColumns(coordinates=[1, 2], vectors=[3, 4], vector_kind='current', label=0)
    """
    names = [cell.lower() for cell in header]
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        raise InputError(f"the column {repeated[0]!r} is repeated.")
    found = find_vectors(names)
    if len(found) > 1:
        raise InputError("it has columns of a drift and of a current; points have one of the two.")
    kind, vectors = next(iter(found.items())) if found else (None, {})
    usual = _usual_axes(names)
    axes = [name for name in names if name in vectors] if kind else usual
    place = {name: k for k, name in reversed([*enumerate(names)])}
    if lost := [name for name in vectors if name not in place]:
        raise InputError(f"there is a {kind} along {lost[0]!r}, but no column {lost[0]!r}.")
    known = set(axes)
    if known & set(usual) and (bare := [name for name in usual if name not in known]):
        raise InputError(f"the column {bare[0]!r} has no {kind}_{bare[0]}; write 0 where there is none.")
    if not axes:
        raise InputError(
            "points need columns x, y, ... with drift_x, ... or current_x, ... beside them; or u, v; or PC1, ... "
            "with V1, ...; or lon, lat with u, v."
        )
    label = next((place[name] for name in LABELS if name in place), 0 if not names[0] else None)
    return PointColumns([place[a] for a in axes], [vectors[a] for a in axes if kind], kind, label)


def find_vectors(names: list[str]) -> dict[str, dict[str, int]]:
    """Position of the vector of each coordinate, for a drift and a current; short names only if there is no long one."""
    found: dict[str, dict[str, int]] = {}
    there = {*names}
    short = [SHORT_VECTORS.get(name, "") for name in names]
    if "u" not in there:  # then v and w mean something else
        short = [name.removeprefix("current") for name in short]
    for spelled in (names, [name if name[-1:] in there else "" for name in short]):
        for i, name in enumerate(spelled):
            kind, _, of = name.partition("_")
            if kind in ("drift", "current") and of:
                found.setdefault(kind, {})[of] = i
        if found:
            break
    return found or _found_elsewhere(names)


def _found_elsewhere(names: list[str]) -> dict[str, dict[str, int]]:
    """Currents of other coordinates: u, v at lon, lat; V1, V2, ... at PC1, PC2, ... or x1, x2, ..."""
    degrees = degree_columns(names)
    if degrees is not None and {"u", "v"} <= {*names}:
        ends = zip(degrees, ("u", "v"), strict=True)
        return {"current": {names[k]: names.index(vector) for k, vector in ends}}
    families = _families(names)
    for vectors in _VELOCITIES:
        for family, places in families.items():
            if family not in _VELOCITIES and {*families.get(vectors, ())} == {*places}:
                return {"current": {names[k]: families[vectors][n] for n, k in places.items()}}
    return {}


def _families(names: list[str]) -> dict[str, dict[int, int]]:
    """Positions of numbered columns by what stands before the number, and by it."""
    families: dict[str, dict[int, int]] = {}
    for k, name in enumerate(names):
        if found := _NUMBERED.fullmatch(name):
            families.setdefault(found[1], {})[int(found[2])] = k
    return families


def degree_columns(names: Sequence[str]) -> tuple[int, int] | None:
    """Positions of the columns of longitude and latitude, None if there are none."""
    plain = [str(name).lower() for name in names]
    found = [
        next((plain.index(word) for word in words if word in plain), None)
        for words in (LONGITUDES, LATITUDES)
    ]
    return None if None in found else (found[0], found[1])  # type: ignore[return-value]


def _usual_axes(names: list[str]) -> list[str]:
    """Names of coordinates by themselves: x, y, z or x1, x2, ..., else PC1, PC2, ..., else lon, lat."""
    plain = [name for name in names if re.fullmatch(r"[xyz]|x\d{1,9}", name)]
    numbered = [places for family, places in _families(names).items() if family not in _VELOCITIES]
    degrees = degree_columns(names)
    return (
        plain
        or [names[k] for places in numbered[:1] for k in places.values()]
        or ([] if degrees is None else [names[k] for k in degrees])
    )


# What a table is: a matrix, measured pairs, arcs of a graph, or points. The rules by which it is decided.

Array = NDArray[Any]

FEW_PLACES = 10  # among which short steps and long ways cannot be told apart
STEPS = 2.0  # a median way of at least so many median values means edges of a network
# What is said when it was decided, and how to decide otherwise.
TAKEN_FOR = {
    "pairs": "Taken for measured pairs; if these are roads between neighbors, take kind='edges' (--kind edges).",
    "edges": "Taken for edges of a network, along which ways lead; if these are measured pairs, take kind='pairs' "
    "(--kind pairs).",
}
_SOURCES, _WORK = 16, 4_000_000  # places that ways are followed from, and pairs that are looked at in all


def detect(rows: Sequence[Sequence[str]], n_rows: int | None = None, name: str = "the table") -> str:
    """Tell what a table is from its first rows and the number of all: "matrix", "points" or "long", one row per arc or pair.

    :func:`arcs_or_pairs` tells which. `name` is what messages call it.

    Examples
    --------
    >>> detect([["from", "to", "km"], ["a", "b", "3"]]), detect([["x", "y", "u", "v"], ["0", "0", "1", "0"]])
    ('long', 'points')
    """
    total = len(rows) if n_rows is None else n_rows
    top, width = list(rows[0]), table_width(rows)
    matrix = matrix_layout(rows, total)
    square = False
    if matrix is not None:
        body = [row[matrix.side :] for row in rows[matrix.header :]]
        square = number_share(body) > 0.5
        across, down = top[1 - matrix.short :], [row[0] for row in rows[1:]]
        if square and matrix.header and matrix.side and across[: len(down)] == down:
            return "matrix"  # whatever its labels are
    if find_ends(top, letters=False) is not None:
        return "long"
    if find_vectors([cell.lower() for cell in top]):
        return "points"
    # Up to 3 x 3 it could be a long table, but for the diagonal.
    if square and (len(body) > 3 or all(_is_zero(row[i : i + 1]) for i, row in enumerate(body))):
        return "matrix"
    if width in (2, 3) or find_ends(top) is not None:
        return "long"
    if width > 3 and number_share([row[1:] for row in rows[1:] or rows]) > 0.5:
        return "matrix"  # not square; its reader tells
    raise InputError(
        f"{name}: {total:,} rows and {width} columns are neither a square matrix of numbers, nor edges or pairs (2 or 3 "
        "columns, or columns called source and target), nor points (columns x, y, ... with drift_x, ... or current_x, ...). "
        "If it is one of these, say which: kind='matrix', 'pairs', 'edges' or 'points'."
    )


class MatrixLayout(NamedTuple):
    """Where the labels of a matrix are; `short` is a header without a cell above the labels of the rows."""

    header: bool
    side: bool
    short: bool = False


def matrix_layout(rows: Sequence[Sequence[str]], n_rows: int) -> MatrixLayout | None:
    """Find the labels of a square matrix from its first rows and the number of all; None if it is not square."""
    top, body, width = list(rows[0]), rows[1:], table_width(rows)
    if body and len(top) == width - 1 == n_rows - 1:
        return MatrixLayout(True, True, short=True)
    if n_rows == width:
        labels = [*top[1:], *(row[0] for row in body)]
        if top[0].lower() not in EMPTY_WORDS:
            labeled = not is_number(top[0])
        else:  # above the labels, or a diagonal that is left empty
            labeled = body[:1] != [] and body[0][1:2] != top[:1]
            labeled |= _numbered(top[1:]) and top[1 : len(rows)] == labels[len(top) - 1 :]
        labeled |= 2 * sum(not is_number(cell) for cell in labels) > len(labels)
        return MatrixLayout(labeled, labeled)
    if n_rows == width + 1 and (_numbered(top) or not all(map(is_number, top))):
        return MatrixLayout(True, False) if number_share([row[:1] for row in body]) > 0.5 else None
    if n_rows == width - 1 and not all(is_number(row[0]) for row in rows):
        return MatrixLayout(False, True) if number_share([top[1:]]) > 0.5 else None
    return None


def long_header(top: list[str], rows: list[list[str]]) -> bool:
    """Whether the first row of a long table holds names.

    It does if it names both ends by words; or if no cell of it is a number or occurs below it, and some column below
    is all numbers.
    """
    if find_ends(top, letters=False) is not None:
        return True
    below = {cell for row in rows for cell in row}
    if not rows or any(is_number(cell, blank=False) for cell in top) or {*top} & below:
        return False
    return any(all(is_number(cell, blank=False) for cell in column) for column in zip(*rows, strict=False))


def numbered_ends(source: Array, target: Array) -> tuple[Array, int]:
    """Number of the place at each source, then at each target, in the order of their names; and how many there are."""
    if source.dtype != object:
        places, codes = np.unique(np.concatenate([source, target]), return_inverse=True)
        return codes, len(places)
    names = [
        *source.tolist(),
        *target.tolist(),
    ]  # to sort the distinct ones is several times faster than numpy's way
    position = {name: k for k, name in enumerate(sorted({*names}))}
    return np.fromiter(map(position.__getitem__, names), np.int64, len(names)), len(position)


def arcs_or_pairs(source: Array, target: Array, values: Array, n_places: int) -> str:
    """Tell arcs of a graph ("edges"), along which ways lead, from measured "pairs", of which the others are missing.

    They are pairs if more than half of all ordered pairs are there. Otherwise the lengths of shortest ways along them
    tell. Measured pairs reach across the map: by the triangle inequality no way through other pairs is much shorter,
    and few are much longer than a typical value. Arcs lead to neighbors, so that typical ways take many of them: they
    are arcs if the median way is at least twice as long as the median value, and if there are fewer than ten places.
    Places are numbered from 0; values are NaN where missing.
    """
    proper = (source != target) & (values >= 0) & np.isfinite(values)
    key, first = np.unique(source[proper] * n_places + target[proper], return_index=True)
    share = len(key) / max(1, n_places * (n_places - 1))
    if share > 0.5:
        return "pairs"
    if n_places < FEW_PLACES or not len(key):
        return "edges"
    lengths = values[proper][first]
    lengths = np.maximum(lengths / (np.median(lengths) or 1.0), 1e-6)  # a graph of scipy's takes 0 for no arc
    from scipy.sparse import csr_array  # saved maps are measured without SciPy
    from scipy.sparse.csgraph import dijkstra

    graph = csr_array((lengths, (key // n_places, key % n_places)), shape=(n_places, n_places))
    starts = np.unique(key // n_places)
    n_starts = min(len(starts), _SOURCES, max(2, _WORK // len(key)))
    ways = dijkstra(graph, indices=starts[np.linspace(0, len(starts) - 1, n_starts).astype(int)])
    typical = np.median(ways[(ways > 0) & np.isfinite(ways)])
    return "edges" if typical >= STEPS else "pairs"


def _numbered(labels: Sequence[str]) -> bool:
    return list(labels) in ([str(i + start) for i in range(len(labels))] for start in (0, 1))


def _is_zero(cells: Sequence[str]) -> bool:
    """Whether the one cell that is there is zero or missing."""
    return all(
        cell.lower() in EMPTY_WORDS or re.fullmatch(r"[+-]?(0+([.,]0*)?|[.,]0+)", cell) for cell in cells
    )
