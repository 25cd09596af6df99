"""Files: written whole or not at all, and never executing what they hold."""

from __future__ import annotations

import json
import os
import platform
import secrets
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from finsler.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = 1  # version of the archive layout; a reader refuses newer ones


def write_atomically(path: str | os.PathLike[str], write: Callable[[IO[bytes]], object]) -> Path:
    """Call ``write`` with a temporary file beside ``path``, then rename it; on any error ``path`` is left as it was.

    The file is on disk before it gets its name, so that a power cut leaves the old file or the new one. A link is followed:
    what it points to is replaced. Temporary files that a killed process left in the folder are removed.
    """
    path = Path(path)
    folder, name = os.path.split(os.path.realpath(path))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"There is no folder {str(path.parent)!r} to write {path.name!r} into.")
    _sweep(folder)
    temporary = os.path.join(folder, f"{_prefix()}{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        # The mode of an ordinary new file: the system takes the umask off it.
        handle = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
        with os.fdopen(handle, "w+b") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, os.path.join(folder, name))
    except OSError as error:
        Path(temporary).unlink(missing_ok=True)
        if error.errno is None or error.filename not in (None, temporary):
            raise
        raise type(error)(
            error.errno, error.strerror, str(path)
        ) from error  # a full disk, say: name the file
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    return path


def _prefix() -> str:
    """Start of the names of temporary files of this machine; short, so that any name the system allows can be written."""
    return f".finsler-{zlib.crc32(platform.node().encode()):08x}-"


def _sweep(folder: str) -> None:
    """Remove temporary files of processes that are gone; those of other machines on a shared disk stay."""
    prefix = _prefix()
    try:
        with os.scandir(folder) as entries:
            stale = [e.path for e in entries if e.name.startswith(prefix) and e.name.endswith(".tmp")]
    except OSError:
        return
    for left in stale:
        owner = os.path.basename(left).removeprefix(prefix).partition("-")[0]
        if owner.isdecimal() and not _alive(int(owner)):
            Path(left).unlink(missing_ok=True)


def _alive(process: int) -> bool:
    if os.name != "posix":  # there is no harmless way to ask; leave the file
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _sync_folder(folder: str) -> None:
    """Put the new name itself on disk, where the system can."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    except OSError:
        pass
    finally:
        os.close(handle)


def save_archive(
    path: str | os.PathLike[str], kind: str, arrays: dict[str, NDArray[Any]], record: dict[str, Any],
    *, compress: bool = True,
) -> Path:  # fmt: skip
    """Write arrays and a JSON record as one npz file without pickles."""
    import numpy as np  # here and below, so that the help of the command line need not wait for it

    header = json.dumps({"kind": kind, "format": FORMAT, **record}, allow_nan=True)
    named: dict[str, Any] = {"json": np.frombuffer(header.encode(), dtype=np.uint8), **arrays}
    return write_atomically(path, lambda file: (np.savez_compressed if compress else np.savez)(file, **named))


def load_archive(path: str | os.PathLike[str], kind: str) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Read back what :func:`save_archive` wrote."""
    import numpy as np

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
