"""Labels: the one place where a point or node is found by its name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_words
from finsler._runtime import cached_property
from finsler.data.columns import find_ends
from finsler.data.frames import long_columns, rows_of
from finsler.errors import InputError, InputTypeError, UnknownLabelError

LONGEST = 100  # characters of labels that are compared: that takes as long as the product of both lengths
MANY = 20_000  # labels, beyond which only those with the same first letter are looked through for a likeness


def plain_label(label: Any) -> Any:
    """Label as a plain Python object, so that 3 and numpy's 3 name the same point."""
    return label.item() if isinstance(label, np.generic) else label


def saved_label(label: Any) -> Any:
    """Label as JSON can keep it; others are refused."""
    label = plain_label(label)
    if isinstance(label, str | int | float | bool | None):
        return label
    raise InputTypeError(
        f"Label {label!r} of type {type(label).__name__} cannot be saved; use strings or numbers as labels."
    )


def suggestion(name: Any, known: Iterable[Any]) -> str:
    """Up to three labels like this one, or that hold it, as a question; nothing if there is none."""
    names = [text for text in map(str, known) if len(text) <= LONGEST]
    part = str(name).casefold()
    if len(part) > LONGEST:
        return ""
    alike = names if len(names) <= MANY else [label for label in names if label[:1] == str(name)[:1]]
    close = difflib.get_close_matches(str(name), alike, n=3)
    close += [label for label in names if part and part in label.casefold() and label not in close]
    return f" Did you mean {' or '.join(map(repr, close[:3]))}?" if close else ""


class LabelIndex:
    """Positions of points by their labels; without labels, the positions are the labels.

    Numpy's scalars are their Python equals, and ``True`` is not 1. A label that several points bear is an error only
    when it is asked for. `what` is what messages call a point.

    Examples
    --------
    >>> towns = LabelIndex(["Ulm", "Bonn"], 2, "town")
    >>> towns.position("Bonn"), towns.positions(["Bonn", "Ulm"]).tolist()
    (1, [1, 0])
    >>> towns.position("Bon")
    Traceback (most recent call last):
        ...
    finsler.errors.UnknownLabelError: No town is labeled 'Bon'. Did you mean 'Bonn'?
    """

    def __init__(self, labels: Sequence[Any] | None, n: int, what: str = "point"):
        if labels is not None and len(labels) != n:
            raise InputError(f"must have one entry per {what}: {n}, got {len(labels)}.", argument="labels")
        self.labels, self.n, self.what = labels, n, what

    def __len__(self) -> int:
        return self.n

    def label(self, i: int) -> Any:
        """Label of the point at a position."""
        return int(i) if self.labels is None else self.labels[i]

    def name(self, i: int) -> str:
        """Name of the point at a position, as a message shows it."""
        return f"{i}" if self.labels is None else f"{i} ({self.labels[i]!r})"

    def find(self, label: Any) -> int | None:
        """Position of the point with this very label, None if there is none; several are an error."""
        label = plain_label(label)
        if self.labels is None:
            return label if _is_integer(label) and 0 <= label < self.n else None
        try:
            found = self._places.get((isinstance(label, bool), label))
        except TypeError:  # what cannot be hashed is no label
            return None
        if found is None or isinstance(found, int):
            return found
        raise UnknownLabelError(
            f"{len(found)} {self.what}s are labeled {label!r}: positions {found[0]}, {found[1]}"
            f"{', ...' if len(found) > 2 else ''}; give the position."
        )

    def position(self, label: Any, where: str = "", *, exact: bool = False) -> int:
        """Position of a point given by its label; or, unless `exact`, by its number (-1 is the last) if no label is one.

        ``where`` it stood goes into the message if it is unknown.
        """
        found = self.find(label)
        if found is not None:
            return found
        label, where = plain_label(label), f"{where}: " if where else ""
        if _is_integer(label) and not self._numbered and not (exact and self.labels):
            if -self.n <= label < self.n and not exact:
                return int(label) % self.n
            raise UnknownLabelError(
                f"{where}There is no {self.what} {label}: there are {self.what}s 0 to {self.n - 1}."
            )
        raise self._unknown(label, where)

    def positions(self, labels: Iterable[Any], where: str = "") -> NDArray[np.int64]:
        """Positions of several points."""
        return np.array([self.position(label, where) for label in labels], dtype=np.int64)

    def find_text(self, text: str) -> int | None:
        """Position of the point whose label is written so: "3" finds the integer 3. None if there is none."""
        found = self.find(text)
        if found is None and text in self._written:
            found = self.find(self.label(self._written[text]))
        return found

    def from_text(self, text: str, where: str = "") -> int:
        """Position of the point whose label is written so in a shell or a file; an unknown one is an error."""
        found = self.find_text(text)
        if found is None:
            raise self._unknown(text, f"{where}: " if where else "")
        return found

    def pairs(self, pairs: Any) -> NDArray[np.int64]:
        """Positions of ordered pairs given by label: shape (P, 2), a list of tuples, or a table of two columns.

        The columns of a table are from and to, unless their names are known and say otherwise: to and from.
        """
        frame = long_columns(pairs)
        rows = pairs
        if frame is not None:
            names, columns = frame
            rows = rows_of([columns[k] for k in find_ends(names) or range(len(columns))])
        if isinstance(rows, np.ndarray):
            if rows.ndim != 2 or rows.shape[1] != 2:
                raise InputError(f"pairs must have shape (P, 2), from and to; found shape {rows.shape}.")
            if rows.dtype.kind in "iu" and self.labels is None:
                bad = np.flatnonzero(((rows < 0) | (rows >= self.n)).any(axis=1))
                if bad.size:
                    raise UnknownLabelError(
                        f"pairs, row {bad[0]}: {rows[bad[0]].tolist()} names a {self.what} that does not exist; there "
                        f"are {self.what}s 0 to {self.n - 1} ({bad.size} such rows)."
                    )
                return rows.astype(np.int64)
            rows = rows.tolist()
        rows = check_words("pairs", rows)
        found = np.empty((len(rows), 2), dtype=np.int64)
        for k, row in enumerate(rows):
            if isinstance(row, str) or not hasattr(row, "__len__") or len(row) != 2:
                raise InputError(f"pairs, row {k}: expected two {self.what}s, from and to; found {row!r}.")
            found[k] = [self.position(label, f"pairs, row {k}", exact=True) for label in row]
        return found

    @cached_property
    def _places(self) -> dict[tuple[bool, Any], int | list[int]]:
        """Position of each label, or the positions of one that several points bear."""
        places: dict[tuple[bool, Any], int | list[int]] = {}
        for i, label in enumerate(map(plain_label, self.labels or ())):
            found = places.setdefault(key := (isinstance(label, bool), label), i)
            if isinstance(found, list):
                found.append(i)
            elif found != i:
                places[key] = [found, i]
        return places

    @cached_property
    def _written(self) -> dict[str, int]:
        """A position by the text of its label."""
        return {
            str(label): i for i, label in enumerate(range(self.n) if self.labels is None else self.labels)
        }

    @cached_property
    def _numbered(self) -> bool:
        """Whether some label is an integer, so that a number means a label and never a position."""
        return any(_is_integer(plain_label(label)) for label in self.labels or ())

    def _unknown(self, label: Any, where: str) -> UnknownLabelError:
        labels = range(self.n) if self.labels is None else self.labels
        return UnknownLabelError(f"{where}No {self.what} is labeled {label!r}.{suggestion(label, labels)}")


def _is_integer(label: Any) -> bool:
    return isinstance(label, int) and not isinstance(label, bool)


def point_labels(points: Any) -> list[Any] | None:
    """Labels of the rows of a table that has some, see `finsler.data.frames.labeled`; None for anything else."""
    if not hasattr(points, "index") or not hasattr(points, "columns") or points.index is None:
        return None
    return list(points.index)


def frame_labels(D: Any, name: str) -> list[Any] | None:
    """Labels of a table, whose rows and columns must carry the same if both have any; None for anything else."""
    index = point_labels(D)
    if index is None or D.columns is None:
        return getattr(D, "columns", None) if index is None else index
    columns = list(D.columns)
    if len(index) == len(columns) and index != columns:
        if set(index) == set(columns):
            raise InputError(
                f"The rows and columns of {name} carry the same labels in different orders (first difference: row "
                f"{_first_difference(index, columns)}). Reorder with {name}.loc[:, {name}.index]."
            )
        if list(map(str, index)) == list(map(str, columns)):
            return index  # numbers in the index, their text in the header of a CSV file
        if index == list(range(len(index))):
            return columns  # a frame read without an index column
        if columns == list(range(len(columns))):
            return index
        raise InputError(
            f"The rows and columns of {name} carry different labels (first difference: row "
            f"{_first_difference(index, columns)}). If the first column holds the labels, read it as the index."
        )
    return index


def check_columns(values: Any, labels: list[Any] | None, name: str) -> None:
    """Raise ``ValueError`` if a DataFrame's columns carry other labels than the points they stand for."""
    if labels is None or getattr(values, "columns", None) is None:
        return
    columns = list(values.columns)
    if len(columns) == len(labels) and list(map(str, columns)) != list(map(str, labels)):
        raise InputError(
            f"The columns of {name} are not the labels of the map in its order (first difference: "
            f"{_first_difference(labels, columns)}). Reorder them."
        )


def _first_difference(index: list[Any], columns: list[Any]) -> str:
    k = next(k for k in range(len(index)) if index[k] != columns[k])
    return f"{k} is {index[k]!r}, column {k} is {columns[k]!r}"
