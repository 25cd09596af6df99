"""The elements of MATLAB files of level 5 (.mat, saved by -v6 or -v7), read without compiled parsers.

Those of SciPy end the process at some malformed files. Read are full and sparse matrices of numbers, text and cells of text;
of everything else only name, kind and size. The format is that of "MAT-File Format", The MathWorks.
"""

from __future__ import annotations

import math
import struct
import zlib
from typing import Any, NamedTuple

import numpy as np

from finsler._memory import require_memory
from finsler.errors import InputError

HEADER = 128  # bytes before the first element
_CURE = "Take a part of it."
# Types of elements that hold numbers or text, and the classes of arrays.
TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
TYPES |= {16: "u1", 17: "u2", 18: "u4"}  # of text
MATRIX, PACKED = 14, 15
CELL, CHAR, SPARSE = 1, 4, 5
NUMBERS = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
COMPLEX = 0x08  # among the flags of an array
ENCODINGS = {16: "utf-8", 17: "utf-16", 18: "utf-32"}


class Element(NamedTuple):
    """One element: its type and where its content lies."""

    kind: int
    content: memoryview


class Variable(NamedTuple):
    """An array by its name; its parts are read when they are asked for."""

    name: str
    array_class: int
    shape: tuple[int, ...]
    is_complex: bool
    parts: list[Element]
    order: str

    @property
    def is_sparse(self) -> bool:
        """Whether it is kept by columns, without zeros."""
        return self.array_class == SPARSE

    @property
    def is_numeric(self) -> bool:
        """Whether it holds numbers."""
        return self.array_class in NUMBERS or self.is_sparse

    @property
    def is_text(self) -> bool:
        """Whether it holds text, or cells that may."""
        return self.array_class in (CELL, CHAR)

    def numbers(self) -> np.ndarray:
        """Full array; MATLAB keeps whole numbers in as few bytes as they take."""
        size = math.prod(self.shape)
        require_memory(16.0 * size, f"The matrix {self.name!r}", _CURE)
        found = [_values(part, self.order) for part in self.parts[: 1 + self.is_complex]]
        if len(found) != 1 + self.is_complex or any(values.size != size for values in found):
            raise InputError(f"the matrix {self.name!r} of {' x '.join(map(str, self.shape))} is cut short.")
        values = found[0].astype(NUMBERS[self.array_class])
        return (values + 1j * found[1] if self.is_complex else values).reshape(self.shape, order="F")

    def columns(self) -> dict[str, np.ndarray]:
        """Parts of a sparse matrix, as SciPy names them."""
        if len(self.parts) < 3 or self.is_complex:
            raise InputError(f"the sparse matrix {self.name!r} has no real entries with their places.")
        indices, indptr, data = (_values(part, self.order) for part in self.parts[:3])
        last = int(indptr[-1]) if indptr.size and indptr.dtype.kind in "iu" else -1
        if not 0 <= last <= min(indices.size, data.size):
            raise InputError(f"the sparse matrix {self.name!r} is cut short.")
        shape = np.array(self.shape)
        return {"format": np.array(b"csc"), "shape": shape, "indptr": indptr.astype(np.int64),
                "indices": indices[:last].astype(np.int64), "data": data[:last].astype(float)}  # fmt: skip

    def words(self) -> list[str]:
        """Texts of a cell array, or the rows of an array of characters."""
        if self.array_class == CELL:
            inner = [_array(part.content, self.order) for part in self.parts if part.kind == MATRIX]
            return [" ".join(cell.words()) if cell.array_class == CHAR else "" for cell in inner]
        if self.array_class != CHAR or len(self.shape) != 2 or not self.parts:
            return []
        part, (rows, width) = self.parts[0], self.shape
        if part.kind in ENCODINGS:
            ends = "-le" if self.order == "<" and part.kind != 16 else "-be" if part.kind != 16 else ""
            text = bytes(part.content).decode(ENCODINGS[part.kind] + ends, "replace")
        else:
            text = "".join(
                chr(code) if code < 0xD800 else "\ufffd" for code in _values(part, self.order).tolist()
            )
        if len(text) < rows * width or rows > len(text) + 1:
            return []
        return [text[row : rows * width : rows].strip() for row in range(rows)]


def variables(data: bytes) -> list[Variable]:
    """All arrays of a file that have a name."""
    if len(data) < HEADER or data[126:128] not in (b"IM", b"MI"):
        raise InputError("it is no MATLAB file: save it with -v7.")
    order = "<" if data[126:128] == b"IM" else ">"
    found = []
    for element in _elements(memoryview(data)[HEADER:], order):
        if element.kind == PACKED:
            unpacked = _unpacked(element.content, order)
            found += [
                _array(inner.content, order) for inner in _elements(unpacked, order) if inner.kind == MATRIX
            ]
        elif element.kind == MATRIX:
            found.append(_array(element.content, order))
    return [variable for variable in found if variable.name]


def _elements(content: memoryview, order: str) -> list[Element]:
    """Elements one after the other, each with a tag of its type and size, and filled up to eight bytes."""
    found, at = [], 0
    while at + 8 <= len(content):
        first, second = struct.unpack_from(f"{order}II", content, at)
        if first >> 16:  # of up to four bytes, which are in the tag itself
            kind, size, start, step = first & 0xFFFF, first >> 16, at + 4, 8
            if size > 4:
                raise InputError("an element is larger than its tag.")
        else:
            kind, size, start = first, second, at + 8
            step = 8 + size + (0 if kind == PACKED else -size % 8)
        if start + size > len(content):
            raise InputError("an element is cut short.")
        found.append(Element(kind, content[start : start + size]))
        at += step
    return found


def _unpacked(content: memoryview, order: str) -> memoryview:
    """What is in a packed element, if there is room for it."""
    unpack = zlib.decompressobj()
    try:
        head = unpack.decompress(content, 8)
        if len(head) < 8:
            raise InputError("a packed element is cut short.")
        size = struct.unpack(f"{order}I", head[4:])[0] + 8
        require_memory(size, "A packed element", _CURE)
        return memoryview(head + unpack.decompress(unpack.unconsumed_tail, size))
    except zlib.error as error:
        raise InputError(f"a packed element cannot be unpacked: {error}.") from error


def _array(content: memoryview, order: str) -> Variable:
    """An array: flags, shape and name, and then its parts."""
    parts = _elements(content, order)
    if len(parts) < 3 or len(parts[0].content) < 4:
        raise InputError("an array without flags, shape and name.")
    flags = struct.unpack_from(f"{order}I", parts[0].content)[0]
    shape = tuple(int(n) for n in _values(parts[1], order).tolist())
    if not 1 < len(shape) <= 32 or min(shape) < 0:
        raise InputError(f"an array of the shape {str(shape)[:60]}.")
    name = bytes(parts[2].content).split(b"\0")[0].decode("utf-8", "replace")
    return Variable(name, flags & 0xFF, shape, bool(flags >> 8 & COMPLEX), parts[3:], order)


def _values(part: Element, order: str) -> Any:
    if part.kind not in TYPES:
        raise InputError(f"an element of the type {part.kind} where numbers are expected.")
    dtype = np.dtype(order + TYPES[part.kind])
    if len(part.content) % dtype.itemsize:
        raise InputError("an element is cut short.")
    return np.frombuffer(part.content, dtype)
