"""Measured pairs in a long table: origin, destination, seconds. A pair that is not there is missing; no paths."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._memory import require_memory
from finsler.data.columns import choose_columns, find_column
from finsler.data.frames import long_columns
from finsler.data.labels import plain_label
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.pieces import placeable
from finsler.data.provenance import Provenance, count
from finsler.data.similarities import from_similarities, with_facts
from finsler.data.tables import Table, read_table
from finsler.data.where import parse_where, rows_where
from finsler.errors import InputError, InputTypeError, check_choice, shown

Array = NDArray[Any]

# How values of one pair become one; "first" and "last" take the rows in their order.
AGGREGATES: dict[str, Callable[[Array, Array], Array]] = {
    "mean": lambda values, starts: np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values))),
    "sum": np.add.reduceat,
    "min": np.minimum.reduceat,
    "max": np.maximum.reduceat,
    "median": lambda values, starts: np.array([np.median(part) for part in np.split(values, starts[1:])]),
    "first": lambda values, starts: values[starts],
    "last": lambda values, starts: values[np.append(starts[1:], len(values)) - 1],
}


def as_pairs(
    table: Any,
    *,
    source: Any = None,
    target: Any = None,
    value: Any = "auto",
    similarity: str | None = None,
    where: Any = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> Table:
    """Take the three columns of a long table: a frame of a package that narwhals knows, a dict of columns, a file, ...

    Tuples are (source, target, value). The other arguments are those of :func:`~finsler.data.tables.read_table`.

    Examples
    --------
    >>> trips = {"year": [2019, 2020, 2020], "o": ["a", "a", "b"], "d": ["b", "b", "a"], "minutes": [9, 7, 8]}
    >>> as_pairs(trips, where={"year": 2020}).values
    array([7., 8.])
    """
    if isinstance(table, Table):
        if table.kind != "pairs":
            raise InputError(f"{table.name} holds {table.kind}, not pairs.")
        return table
    chosen = {"source": source, "target": target, "value": value}
    if isinstance(table, str | os.PathLike):
        return read_table(
            table, "pairs", **chosen, similarity=similarity, where=where, encoding=encoding, sheet=sheet
        )
    names, column = _columns_of(table)
    i, j, k = choose_columns(names, **chosen, similarity=similarity is not None)
    if k is None:
        raise InputError("pairs need values, a third column.", argument="value")
    wanted = parse_where(where)
    kept, remarks = rows_where({name: column(find_column(names, name, "where")) for name in wanted}, wanted)
    ends = [_objects(column(c))[kept] for c in (i, j)]
    for c, side in zip((i, j), ends, strict=True):
        if any(map(_absent, side)):
            raise InputError(f"the column {names[c]!r} lacks the name of a place.")
    if not len(ends[0]):
        raise InputError(" ".join(["there are no pairs.", *remarks]))
    roles = {role: str(names[c]) for role, c in (("source", i), ("target", j), ("value", k))}
    facts = Provenance(type(table).__name__, "pairs", roles, remarks=tuple(remarks))
    values = _numbers(column(k), names[k])[kept]
    return Table("pairs", facts.source, values, source=ends[0], target=ends[1], provenance=facts)


def _columns_of(table: Any) -> tuple[list[Any], Callable[[int], Any]]:
    """Names of the columns of anything that holds a long table, and what gives one by its position."""
    if isinstance(table, Mapping):
        single = [name for name, column in table.items() if not hasattr(column, "__len__")]
        if single:
            raise InputTypeError(
                f"table must hold columns; {single[0]!r} holds {shown(table[single[0]])}.", argument="table"
            )
        sizes = {str(name): len(column) for name, column in table.items()}
        if len(set(sizes.values())) > 1:
            raise InputError(f"the columns of table differ in size: {sizes}.")
        return list(table), list(table.values()).__getitem__
    if isinstance(table, list | tuple):
        if not table or {isinstance(row, tuple | list) and len(row) for row in table} != {3}:
            raise InputError("table must be a list of tuples (source, target, value), all three.")
        return [0, 1, 2], list(zip(*table, strict=True)).__getitem__
    found = long_columns(table)
    if found is None:
        raise InputTypeError(
            f"table is a {type(table).__name__}; expected a data frame, a dict of columns, a list of tuples (source, "
            "target, value) or the path of a file."
        )
    return found[0], lambda k: list(found[1][k])


def _objects(column: Any) -> Array:
    items = [plain_label(item) for item in column]
    return np.fromiter(items, dtype=object, count=len(items))


def _absent(item: Any) -> bool:
    return item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and item != item)


def _numbers(column: Any, name: Any) -> Array:
    """Numbers of a column, NaN where there is none."""
    values = np.full(len(column), np.nan)
    for k, item in enumerate(column):
        try:
            values[k] = np.nan if _absent(item) else float(item)
        except (TypeError, ValueError, OverflowError):
            raise InputTypeError(
                f"value: the column {shown(name)} must hold numbers; row {k} holds {shown(item)}."
            ) from None
    return values


def pairs_to_dissimilarities(
    table: Any,
    *,
    similarity: str | None = None,
    zeros: str = "missing",
    diagonal: str = "ignore",
    missing: str = "mask",
    aggregate: str | None = None,
    negative: str = "raise",
    unreachable: str = "raise",
    **reading: Any,
) -> Dissimilarities:
    """Make a matrix of a long table of measured pairs. No paths: pairs that are not there are missing.

    Places are sorted if all are integers, otherwise in the order in which they appear, row by row. With `similarity`, a
    transform of `finsler.data.similarities`, values are flows or similarities, and a pair that is not there has the value
    zero; `zeros` and `diagonal` are those of :func:`~finsler.data.similarities.from_similarities`. Without it, values of a
    place to itself are left out, which is said, or refused if they are not 0 and `diagonal` is "check". `aggregate` tells
    how several values of one pair become one; by default they are refused. `unreachable` is that of
    :func:`~finsler.data.pieces.placeable`. `negative` is that of
    :func:`~finsler.data.matrix.as_dissimilarities`; `reading` goes to :func:`as_pairs`.

    Examples
    --------
    >>> data = pairs_to_dissimilarities([("a", "b", 3.0), ("b", "a", 4.0), ("b", "c", 1.0)])
    >>> data.matrix
    array([[ 0.,  3., nan],
           [ 4.,  0.,  1.],
           [nan, nan,  0.]])
    """
    if aggregate is not None:
        check_choice("aggregate", aggregate, AGGREGATES)
    pairs = as_pairs(table, similarity=similarity, **reading)
    values, facts = np.asarray(pairs.values), pairs.provenance
    codes, labels = place_codes(np.asarray(pairs.source), np.asarray(pairs.target))
    n = len(labels)
    require_memory(16.0 * n * n, f"A matrix of {n:,} places", "Leave places out, or take kind='edges'.")
    known = ~np.isnan(values)
    key, values, n_repeated = _merge(
        (codes[0] * n + codes[1])[known], values[known], aggregate, labels, pairs.name
    )
    if n_repeated:
        facts = facts.having(n_duplicates=n_repeated, aggregate=aggregate)
    matrix = np.full((n, n), np.nan if similarity is None else 0.0)
    matrix.flat[key] = values
    if similarity is not None:
        return from_similarities(
            matrix,
            similarity,
            labels=labels,
            zeros=zeros,
            diagonal=diagonal,
            missing=missing,
            facts=facts,
            unreachable=unreachable,
        )
    if diagonal == "use" or zeros != "missing":
        raise InputError("zeros and diagonal='use' go with similarity=.")
    n_own = int(np.count_nonzero(np.nan_to_num(np.diagonal(matrix), nan=0.0)))
    if n_own and diagonal == "ignore":
        said = f"{count(n_own, 'place')} with a value to itself other than 0, which is left out."
        facts = facts.having(remarks=[said])
    data = as_dissimilarities(
        matrix, labels=labels, missing=missing, diagonal=diagonal, negative=negative, name=pairs.name
    )
    return placeable(with_facts(data, facts), unreachable)


def _merge(
    key: Array, values: Array, aggregate: str | None, labels: list[Any], name: str
) -> tuple[Array, Array, int]:
    """Make one value of several of a pair; the third is how many were too many."""
    order = np.argsort(key, kind="stable")
    again = np.flatnonzero(key[order][1:] == key[order][:-1]) + 1
    if not len(again):
        return key, values, 0
    if aggregate is None:
        i, j = divmod(int(key[order[again].min()]), len(labels))
        raise InputError(
            f"{name}: the pair from {labels[i]!r} to {labels[j]!r} is given more than once (such rows: {len(again):,}). "
            "Set aggregate to what to take (mean, sum, min, max, median, first, last), or say with where which rows count."
        )
    starts = np.delete(np.arange(len(key)), again)
    with np.errstate(over="ignore", invalid="ignore"):
        merged = AGGREGATES[aggregate](values[order], starts)
    # Numbers that were there must not turn into what stands for "missing" or "unreachable".
    lost = ~np.isfinite(merged) & np.logical_and.reduceat(values[order] > -np.inf, starts)
    lost &= np.logical_and.reduceat(np.isfinite(values[order]), starts)
    lost |= np.logical_or.reduceat(values[order] == -np.inf, starts)
    if lost.any():
        i, j = divmod(int(key[order][starts][np.argmax(lost)]), len(labels))
        raise InputError(
            f"{name}: the {aggregate} of the values from {labels[i]!r} to {labels[j]!r} is no number; rescale to ordinary "
            "magnitudes.",
            argument="value",
        )
    return key[order][starts], merged, len(again)


def place_codes(source: Array, target: Array) -> tuple[Array, list[Any]]:
    """Position of both ends of each pair among the places, and the places."""
    ends = np.stack([source, target], axis=1).ravel()  # row by row
    items = [plain_label(end) for end in ends]
    try:
        if all(type(item) is int for item in items):
            position: dict[Any, int] = {item: k for k, item in enumerate(sorted(set(items)))}
        else:
            position = {}
            for item in items:
                position.setdefault(item, len(position))
    except TypeError as error:
        raise InputTypeError(f"names of places must be hashable: {error}.") from error
    codes = np.array([position[item] for item in items], dtype=np.int64)
    return codes.reshape(-1, 2).T, list(position)
