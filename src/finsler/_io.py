"""Files: written whole or not at all, and never executing what they hold."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from finsler.errors import InputError

FORMAT = 1  # version of the archive layout; a reader refuses newer ones


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> Path:
    """Call ``write`` with a temporary file beside ``path``, then rename it; on any error ``path`` is left as it was."""
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to write {path.name!r} into.")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        # mkstemp makes files private; give this one the permissions of an ordinary new file.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    return path


def save_archive(
    path: str | os.PathLike[str], kind: str, arrays: dict[str, NDArray[Any]], record: dict[str, Any],
    *, compress: bool = True,
) -> Path:  # fmt: skip
    """Write arrays and a JSON record as one npz file without pickles."""
    header = json.dumps({"kind": kind, "format": FORMAT, **record}, allow_nan=True)
    named: dict[str, Any] = {"json": np.frombuffer(header.encode(), dtype=np.uint8), **arrays}
    return write_atomically(path, lambda file: (np.savez_compressed if compress else np.savez)(file, **named))


def load_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read back what :func:`save_archive` wrote."""
    path = Path(path)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        record = json.loads(arrays.pop("json").tobytes().decode())
        found, version = record.pop("kind"), record.pop("format")
    except FileNotFoundError:
        raise
    except Exception as error:
        raise InputError(
            f"{str(path)!r} is not a file that finsler saved; maps are saved as .npz, with Embedding.save or "
            "finsler embed --out map.npz."
        ) from error
    if found != kind:
        raise InputError(f"{str(path)!r} holds a saved {found}, not a saved {kind}.")
    if version > FORMAT:
        raise InputError(f"{str(path)!r} was saved by a newer finsler (format {version}); please upgrade.")
    return arrays, record
