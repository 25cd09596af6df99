"""Matrices that numpy saved: ``.npy``, and ``.npz`` with one matrix and possibly an array ``labels``. Nothing pickled."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.data.readers.text import require_file
from finsler.errors import InputError


def read_arrays(path: Path) -> tuple[NDArray[Any], list[str] | None]:
    """Read a square matrix, and the labels that are with it."""
    require_file(path)
    labels: list[str] | None = None
    try:
        with open(path, "rb") as file:
            found = np.load(file, allow_pickle=False)
            if hasattr(found, "files"):
                names = set(found.files)
                if "json" in names:
                    raise InputError("it is a saved map, which is plotted and measured, not embedded again")
                if "labels" in names and len(names) == 2:
                    labels = [str(label) for label in found["labels"].tolist()]
                    names.remove("labels")
                if len(names) != 1:
                    raise InputError(
                        f"one matrix was expected, possibly with an array 'labels'; found {found.files}"
                    )
                found = found[names.pop()]
    except (ValueError, OSError, EOFError, KeyError, zlib.error, zipfile.BadZipFile) as error:
        raise InputError(f"{path.name} cannot be read as {path.suffix}: {str(error).rstrip('.')}.") from error
    if found.ndim != 2 or found.shape[0] != found.shape[1] or found.dtype.kind not in "biuf":
        raise InputError(
            f"{path.name}: a square matrix of numbers was expected; found shape {found.shape} of {found.dtype}."
        )
    if labels is not None and len(labels) != len(found):
        raise InputError(f"{path.name}: there are {len(labels)} labels for {len(found)} rows.")
    return found.astype(np.float32 if found.dtype == np.float32 else float), labels


def holds_graph(path: Path) -> bool:
    """Whether an ``.npz`` file has the arrays of a graph: scipy's of a sparse matrix, or src, dst and n_nodes."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = {name.removesuffix(".npy") for name in archive.namelist()}
    except (OSError, zipfile.BadZipFile):
        return False
    return {"format", "shape", "data"} <= names or {"src", "dst", "n_nodes"} <= names
