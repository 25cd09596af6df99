"""MATLAB files of level 4 (.mat, saved by -v4 and by many other programs): matrices one after another.

Each has a header of five whole numbers (type, rows, columns, whether it is complex, length of the name), its name and its
values, column by column. The format is that of "MAT-File Format", The MathWorks.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np

from finsler._memory import require_memory
from finsler.errors import InputError

HEADER = 20  # bytes
FULL, TEXT, SPARSE = range(3)
KINDS = ("f8", "f4", "i4", "i2", "u2", "u1")
ORDERS = "<>"
MOST_NAME = 1000  # bytes; MATLAB's own are of 63 at most


class Matrix(NamedTuple):
    """A matrix by its name, with what :class:`~finsler.data.readers.matlab5.Variable` tells of arrays."""

    name: str
    kind: int
    size: tuple[int, int]  #: As it is in the file: a sparse one has a row for each entry.
    is_complex: bool
    values: np.ndarray

    @property
    def is_sparse(self) -> bool:
        """Whether it is kept as a list of entries."""
        return self.kind == SPARSE

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.kind != TEXT

    @property
    def is_text(self) -> bool:
        """Whether it holds text."""
        return self.kind == TEXT

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        if not self.is_sparse:
            return self.size
        last = self._entries()[-1]
        return int(last[0]), int(last[1])

    def numbers(self) -> np.ndarray:
        """Full matrix."""
        require_memory(16.0 * self.values.size, f"The matrix {self.name!r}", "Take a part of it.")
        real, *imaginary = self.values.reshape(1 + self.is_complex, -1)
        values = real + 1j * imaginary[0] if imaginary else real
        return values.reshape(self.size, order="F")

    def columns(self) -> dict[str, np.ndarray]:
        """Parts of a sparse matrix, as SciPy names them."""
        from scipy.sparse import coo_array

        entries, (rows, columns) = self._entries()[:-1], self.shape
        require_memory(
            16.0 * columns + 64.0 * len(entries), f"The matrix {self.name!r}", "Take a part of it."
        )
        places = entries[:, :2] - 1
        inside = (places >= 0) & (places < (rows, columns)) & (places == np.floor(places))
        if not inside.all():
            raise InputError(f"the sparse matrix {self.name!r} has an entry outside of itself.")
        where = tuple(places.T.astype(np.int64))
        found = coo_array((entries[:, 2], where), shape=(rows, columns)).tocsc()
        return {"format": np.array(b"csc"), "shape": np.array(self.shape), "indptr": found.indptr,
                "indices": found.indices, "data": found.data}  # fmt: skip

    def words(self) -> list[str]:
        """Rows of characters."""
        codes = self.values.reshape(self.size, order="F")
        return ["".join(chr(int(c)) if 0 <= c < 0xD800 else "\ufffd" for c in row).strip() for row in codes]

    def _entries(self) -> np.ndarray:
        """Row, column and value of each entry, and at last the numbers of rows and columns."""
        rows, width = self.size
        entries = (
            self.values.reshape(self.size, order="F").astype(float)
            if width == 3 and rows
            else np.empty((0, 3))
        )
        if (
            not len(entries)
            or not (np.isfinite(entries[-1, :2]) & (entries[-1, :2] >= 0) & (entries[-1, :2] < 2**31)).all()
        ):
            raise InputError(f"the sparse matrix {self.name!r} has no real entries with their places.")
        return entries


def is_level_4(data: bytes) -> bool:
    """Whether a file begins with a header of level 4: those of level 5 begin with text."""
    return len(data) >= HEADER and any(_type_of(data, 0, order) is not None for order in ORDERS)


def _type_of(data: bytes, at: int, order: str) -> tuple[str, int] | None:
    """Type of the numbers and kind of the matrix whose header is here, if it is one of this order of bytes."""
    (code,) = struct.unpack_from(f"{order}I", data, at)
    machine, kind = divmod(code - 1000 * ORDERS.index(order), 10)
    return (order + KINDS[machine], kind) if 0 <= machine < len(KINDS) and kind <= SPARSE else None


def variables(data: bytes) -> list[Matrix]:
    """All matrices of a file."""
    found, at = [], 0
    while at + HEADER <= len(data):
        order = next((order for order in ORDERS if _type_of(data, at, order)), None)
        if order is None:
            raise InputError(f"at byte {at:,} there is no header of a matrix of level 4.")
        dtype, kind = _type_of(data, at, order) or ("", 0)
        rows, columns, parts, length = struct.unpack_from(f"{order}4i", data, at + 4)
        start = at + HEADER + length
        n = rows * columns * (2 if parts else 1)
        end = start + n * np.dtype(dtype).itemsize
        if min(rows, columns) < 0 or not 0 < length <= MOST_NAME or parts not in (0, 1) or end > len(data):
            raise InputError(f"the matrix at byte {at:,} is cut short, or its header is wrong.")
        name = data[at + HEADER : start].split(b"\0")[0].decode("latin-1")
        found.append(Matrix(name, kind, (rows, columns), bool(parts), np.frombuffer(data, dtype, n, start)))
        at = end
    if at != len(data):
        raise InputError("the last matrix is cut short.")
    return found
