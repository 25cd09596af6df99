"""Matrix Market files, read without compiled parsers: those of SciPy end the process at some malformed files."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from finsler._memory import require_memory
from finsler.errors import InputError

_BANNER = re.compile(
    rb"%%MatrixMarket +matrix +(coordinate|array) +(real|double|integer|unsigned-integer|pattern|complex) +"
    rb"(general|symmetric|skew-symmetric|hermitian) *",
    re.IGNORECASE,
)
_SIZES = re.compile(rb"\d{1,15}(?: \d{1,15}){1,2}")


def parse_matrix_market(data: bytes) -> Any:
    r"""Matrix that a file holds: sparse if it lists entries, else an array.

    Examples
    --------
    >>> text = b"%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 3.5\n"
    >>> parse_matrix_market(text).toarray()
    array([[0. , 3.5],
           [3.5, 0. ]])
    """
    file = io.BytesIO(data)
    first = file.readline(1000).rstrip(b"\r\n").replace(b"\t", b" ")
    banner = _BANNER.fullmatch(first)
    if banner is None:
        raise InputError("the first line is not that of a Matrix Market file: %%MatrixMarket matrix ...")
    layout, field, symmetry = (word.lower().decode() for word in banner.groups())
    if field == "complex" or symmetry == "hermitian":
        raise InputError("complex values were found, where a length is a number that is not negative.")
    line = b"%"
    while line and (not line.strip() or line.lstrip()[:1] == b"%"):
        line = file.readline()
    found = _SIZES.fullmatch(b" ".join(line[:100].split()))
    sizes = [int(size) for size in found[0].split()] if found else []
    if len(sizes) != (3 if layout == "coordinate" else 2):
        raise InputError("the line of sizes below the banner is not one.")
    if sizes[0] != sizes[1]:
        raise InputError(f"A matrix of arcs must be square; found shape {(sizes[0], sizes[1])}.")
    if layout == "coordinate":
        width = 2 if field == "pattern" else 3
        return _entries(_numbers(data[file.tell() :], width, sizes[2]), sizes[0], symmetry)
    if field == "pattern":
        raise InputError("the banner speaks of an array of patterns, which there is not.")
    n, mirrored = sizes[0], symmetry != "general"
    own = 0 if symmetry == "skew-symmetric" else 1
    count = (n * (n - 1) // 2 + own * n) if mirrored else n * n
    values = _numbers(data[file.tell() :], 1, count)[:, 0]
    if not mirrored:
        return values.reshape(n, n, order="F")
    require_memory(16.0 * n * n, f"A matrix of {n:,} points", "Write only the arcs: coordinate.")
    matrix, below = (
        np.zeros((n, n)),
        np.triu_indices(n, 1 - own),
    )  # columns of the lower triangle, one after the other
    matrix[below] = -values if own == 0 else values
    matrix[below[::-1]] = values
    return matrix


def _numbers(body: bytes, width: int, count: int) -> np.ndarray:
    """All numbers of the lines below the sizes, so many in each."""
    if count > len(body):
        raise InputError(f"{count:,} lines were announced, for which the file is too short.")
    if not body.strip():
        return np.empty((0, width)) if count == 0 else _wrong_count(count, 0)
    require_memory(8.0 * width * count, "The entries of the matrix", "Take a part of the graph.")
    values = np.loadtxt(io.BytesIO(body), dtype=float, comments=None, ndmin=2)
    if width == 1:
        values = values.reshape(-1, 1)
    if values.shape[1] != width:
        raise InputError(f"a line below the sizes has {values.shape[1]} numbers instead of {width}.")
    return values if len(values) == count else _wrong_count(count, len(values))


def _wrong_count(announced: int, found: int) -> Any:
    raise InputError(f"{announced:,} lines were announced, and there are {found:,}.")


def _entries(values: np.ndarray, n: int, symmetry: str) -> Any:
    ends = values[:, :2]
    if not ((ends >= 1) & (ends <= n) & (ends == np.floor(ends))).all():
        k = int(np.argmax(~((ends >= 1) & (ends <= n) & (ends == np.floor(ends))).all(axis=1)))
        raise InputError(
            f"entry {k + 1} is at row {ends[k, 0]:g}, column {ends[k, 1]:g} of a matrix of size {n:,}."
        )
    rows, columns = ends.astype(np.int64).T - 1
    lengths = values[:, 2] if values.shape[1] == 3 else np.ones(len(values))
    if symmetry != "general":
        off = rows != columns
        sign = -1.0 if symmetry == "skew-symmetric" else 1.0
        rows, columns = np.append(rows, columns[off]), np.append(columns, rows[off])
        lengths = np.append(lengths, sign * lengths[off])
    return coo_array((lengths, (rows, columns)), shape=(n, n))
