"""Sparse matrices that scipy saved, put together only if their parts go together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from finsler._memory import require_memory
from finsler.errors import InputError

_PARTS = {
    **dict.fromkeys(("csr", "csc", "bsr"), ("indices", "indptr")),
    "coo": ("row", "col"),
    "dia": ("offsets",) * 2,
}
_DIMENSIONS = {"bsr": 3, "dia": 2}  # of the data, otherwise 1


def sparse_of(arrays: Mapping[str, NDArray[Any]]) -> Any:
    """Sparse array from the arrays of a file of `scipy.sparse.save_npz`.

    Compiled code believes its indices, so they are checked.

    Examples
    --------
    >>> parts = {"format": np.array(b"coo"), "shape": np.array([2, 2]), "data": np.array([3.0])}
    >>> sparse_of({**parts, "row": np.array([0]), "col": np.array([1])}).toarray()
    array([[0., 3.],
           [0., 0.]])
    """
    found = arrays["format"].ravel().tolist()
    layout = found[0] if len(found) == 1 else None
    layout = layout.decode("ascii", "replace") if isinstance(layout, bytes) else layout
    if layout not in _PARTS:
        raise InputError(f"a sparse matrix of the format {str(layout)[:20]!r} is not read; save it as csr.")
    lost = [name for name in _PARTS[layout] if name not in arrays]
    if lost:
        raise InputError(f"a sparse matrix in the format {layout} needs an array {lost[0]!r}.")
    shape, data = arrays["shape"], arrays["data"]
    first, second = (arrays[name] for name in _PARTS[layout])
    parts = (shape, first, second)
    if shape.shape != (2,) or any(part.dtype.kind not in "iu" for part in parts):
        raise InputError("the shape and indices of a sparse matrix must be whole numbers.")
    if (
        data.dtype.kind not in "biuf"
        or data.ndim != _DIMENSIONS.get(layout, 1)
        or first.ndim + second.ndim != 2
    ):
        raise InputError(
            f"the data of a sparse matrix must be numbers; found {data.dtype} of shape {data.shape}."
        )
    n, m = (int(size) for size in shape)
    if n < 0 or m < 0:
        raise InputError(f"the shape of a sparse matrix must not be negative; found {(n, m)}.")
    first, second = first.astype(np.int64), second.astype(np.int64)
    if layout == "dia":
        if (
            len(first) != len(data)
            or len({*first.tolist()}) != len(first)
            or (np.abs(first) > max(n, m)).any()
        ):
            raise InputError("the diagonals of a sparse matrix do not fit its shape.")
        return sparse.dia_array((data, first), shape=(n, m))
    if layout == "coo":
        _require_within(first, n, "row")
        _require_within(second, m, "col")
        if not len(first) == len(second) == len(data):
            raise InputError("the arrays of a sparse matrix differ in length.")
        return sparse.coo_array((data, (first, second)), shape=(n, m))
    lines, others = (m, n) if layout == "csc" else (n, m)
    if layout == "bsr":
        tall, wide = data.shape[1:]
        if not tall or not wide or n % tall or m % wide:
            raise InputError("the blocks of a sparse matrix do not fit its shape.")
        lines, others = n // tall, m // wide
    require_memory(8.0 * lines, "A sparse matrix of that shape", "Write it again.")
    if len(second) != lines + 1 or second[0] != 0 or second[-1] != len(first) or len(first) != len(data):
        raise InputError("the arrays of a sparse matrix do not go together.")
    if (np.diff(second) < 0).any():
        raise InputError("indptr of a sparse matrix must not fall.")
    _require_within(first, others, "indices")
    kinds: dict[str, Any] = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}
    return kinds[layout]((data, first, second), shape=(n, m))


def _require_within(index: NDArray[Any], n: int, name: str) -> None:
    if index.size and not (index.min() >= 0 and index.max() < n):
        raise InputError(
            f"{name} of a sparse matrix must be within 0 and {n - 1}; it goes from {index.min()} to {index.max()}."
        )
