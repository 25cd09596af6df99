"""MATLAB files: one matrix, full or sparse, and its labels if a cell array ``labels`` or ``names`` goes with it."""

from __future__ import annotations

import io
import math
from typing import Any

from finsler._memory import require_memory
from finsler.data.provenance import listed
from finsler.data.readers import matlab4, matlab5
from finsler.data.readers.sparse import sparse_of
from finsler.errors import InputError, MissingExtraError

_LABELS = ("labels", "names")


def parse_mat(data: bytes, variable: str | None) -> tuple[Any, list[str] | None]:
    """Matrix `variable` of a file, or the only one that is square, and its labels."""
    if data[512:516] == b"\x89HDF" or data[:4] == b"\x89HDF":
        return _from_hdf(data, variable), None
    level: Any = matlab4 if matlab4.is_level_4(data) else matlab5
    there = {found.name: found for found in level.variables(data)}
    shapes = {name: found.shape for name, found in there.items() if found.is_numeric}
    name = chosen_variable(shapes, variable)
    labels = [key for key in _LABELS if key in there and there[key].is_text]
    if there[name].is_sparse:
        return sparse_of(there[name].columns()), None
    return there[name].numbers(), _words(there[labels[0]], shapes[name][0]) if labels else None


def chosen_variable(shapes: dict[str, Any], variable: str | None) -> str:
    """Name of the matrix to read, from the shapes of those that are there."""
    if variable is not None:
        if variable not in shapes:
            there = listed(list(shapes)) or "none"
            raise InputError(
                f"{variable!r} is no matrix of numbers in it; there is {there}.", argument="variable"
            )
        return variable
    square = [name for name, shape in shapes.items() if len(shape) == 2 and shape[0] == shape[1] > 1]
    if len(square) != 1:
        there = listed([f"{name} {' x '.join(map(str, shape))}" for name, shape in shapes.items()]) or "none"
        raise InputError(f"which matrix? Give variable=, of {there}.", argument="variable")
    return square[0]


def _words(found: matlab4.Matrix | matlab5.Variable, n: int) -> list[str] | None:
    """Texts of a cell array, or of rows of characters; None if they are not one for each row."""
    words = found.words()
    return words if len(words) == n else None


def _from_hdf(data: bytes, variable: str | None) -> Any:
    try:
        import h5py
    except ImportError as error:
        raise MissingExtraError(
            "a MATLAB file of version 7.3 needs h5py: pip install 'finsler[field]', or save it with -v7."
        ) from error
    with h5py.File(io.BytesIO(data), "r") as file:
        shapes = {
            str(name): item.shape
            for name, item in file.items()
            if isinstance(item, h5py.Dataset) and item.dtype.kind in "biuf"
        }
        name = chosen_variable(shapes, variable)
        require_memory(16.0 * math.prod(shapes[name]), f"The matrix {name!r}", "Take a part of it.")
        return file[name][()].T  # which is kept column by column
