"""Names of columns that people use, and which column plays which role: the one place to add a name.

Names are compared in lower case, with ``_`` for anything but letters and digits, and without a unit at the end:
``Travel Time (min)`` is ``travel_time``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from finsler.errors import InputError

# Both ends of an arc or of a measured pair: from, to.
ENDS = (
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
    pairs = [pair for pair in ENDS if {*pair} <= {*known} and (letters or len(pair[0]) > 1)]
    words = [pair for pair in ENDS if min(map(len, pair)) > 1]
    sources = [source for source, _ in words if source in known]  # origin beside dest
    targets = [target for _, target in words if target in known]
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
    if value != "auto":
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
            f"{word}: the column {name!r} looks like a flow or a similarity, where more means nearer. Give similarity= one "
            "of gravity, transition, rank, linear to make dissimilarities of pairs; if it is a length, where more means "
            f"farther, say so: {word}={name!r}.",
        )
    return found[0] if found else None


def find_column(names: Sequence[Any], wanted: Any, argument: str) -> int:
    """Position of a column by its name, in any case if that is clear, or by its position."""
    if wanted in names:
        return list(names).index(wanted)
    if isinstance(wanted, int) and 0 <= wanted < len(names):
        return wanted
    close = [k for k, name in enumerate(names) if str(name).lower() == str(wanted).lower()]
    if len(close) != 1:
        raise InputError(f"{argument}={wanted!r} is not a column; the columns are {list(names)[:20]}.")
    return close[0]


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
    usual = [name for name in names if re.fullmatch(r"[xyz]|x\d{1,9}", name)]
    axes = [name for name in names if name in vectors] if kind else usual
    if lost := [name for name in vectors if name not in names]:
        raise InputError(f"there is a {kind} along {lost[0]!r}, but no column {lost[0]!r}.")
    if set(axes) & set(usual) and (bare := [name for name in usual if name not in axes]):
        raise InputError(f"the column {bare[0]!r} has no {kind}_{bare[0]}; write 0 where there is none.")
    if not axes:
        raise InputError("points need columns x, y, ... with drift_x, ... or current_x, ... beside them.")
    label = next((names.index(name) for name in LABELS if name in names), 0 if not names[0] else None)
    return PointColumns([names.index(a) for a in axes], [vectors[a] for a in axes if kind], kind, label)


def find_vectors(names: list[str]) -> dict[str, dict[str, int]]:
    """Position of the vector of each coordinate, for a drift and a current; short names only if there is no long one."""
    found: dict[str, dict[str, int]] = {}
    short = [SHORT_VECTORS.get(name, "") for name in names]
    if "u" not in names:  # then v and w mean something else
        short = [name.removeprefix("current") for name in short]
    for spelled in (names, [name if name[-1:] in names else "" for name in short]):
        for i, name in enumerate(spelled):
            kind, _, of = name.partition("_")
            if kind in ("drift", "current") and of:
                found.setdefault(kind, {})[of] = i
        if found:
            break
    return found
