"""Files: written whole or not at all, and never executing what they hold."""

from __future__ import annotations

import json
import math
import os
import platform
import secrets
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from finsler._read import read_npz
from finsler.errors import InputError, one_line

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
        raise FileNotFoundError(f"There is no folder {folder!r} to write {path.name!r} into.")
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


def utf8(text: str) -> bytes:
    """Text as bytes; what UTF-8 cannot say, half of a surrogate pair, is written by its code."""
    return text.encode("utf-8", "backslashreplace")


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


def load_archive(path: str | os.PathLike[str], kind: str) -> Saved:
    """Read back what :func:`save_archive` wrote."""
    try:
        arrays = read_npz(path)
        record = json.loads(arrays.pop("json").tobytes().decode())
        found, version = record.pop("kind"), record.pop("format")
    except (OSError, MemoryError):
        raise
    except Exception as error:
        raise InputError(
            f"{str(path)!r} is not a file that finsler saved; maps are saved as .npz, with Embedding.save or "
            "finsler embed --out map.npz."
        ) from error
    saved = Saved(path, kind, arrays, record)
    if found != kind:
        raise InputError(f"{str(path)!r} holds a saved {str(found)[:40]}, not a saved {kind}.")
    if not isinstance(version, int) or version > FORMAT:
        raise InputError(f"{str(path)!r} was saved by a newer finsler (format {version!r}); please upgrade.")
    return saved


class Saved:
    """What a file that finsler saved holds, asked for by name and checked as an input is: files get damaged or edited."""

    def __init__(self, path: Any, kind: str, arrays: dict[str, NDArray[Any]], record: dict[str, Any]):
        self.path, self.kind, self.arrays, self.record = path, kind, arrays, record

    def wrong(self, name: str, why: str) -> InputError:
        """Error about a part of the file."""
        return InputError(f"{str(self.path)!r} is not a sound saved {self.kind}: {name} {why}.")

    def array(
        self, name: str, *shape: int | None, kinds: str = "f", least: float | None = None, nan: bool = False
    ) -> NDArray[Any]:
        """Array of numbers of this shape, in which None is any length; finite, or NaN where ``nan`` allows."""
        import numpy as np

        found = self.arrays.get(name)
        if found is None:
            raise self.wrong(name, "is not there")
        if found.dtype.kind not in kinds:
            raise self.wrong(name, f"is of type {found.dtype}")
        if found.ndim != len(shape) or any(
            n not in (None, m) for n, m in zip(shape, found.shape, strict=True)
        ):
            raise self.wrong(name, f"has the shape {found.shape}")
        if not (np.isnan(found) | np.isfinite(found) if nan else np.isfinite(found)).all():
            raise self.wrong(name, "is not finite")
        if least is not None and (found < least).any():
            raise self.wrong(name, f"is less than {least:g}")
        return found.astype(found.dtype.newbyteorder("="), copy=False)

    def value(self, name: str, *kinds: type, record: Any = None) -> Any:
        """Entry of the record, which must be of one of these types; a float also of int, and finite."""
        found = (self.record if record is None else record).get(name)
        if type(found) is int and float in kinds and int not in kinds:
            found = float(found) if abs(found) < 2**1000 else found
        if type(found) not in kinds:
            raise self.wrong(name, f"is {one_line(repr(found))[:40]}")
        if isinstance(found, float) and not math.isfinite(found):
            raise self.wrong(name, f"is {found}")
        return found

    def labels(self, n: int) -> list[Any] | None:
        """Labels of ``n`` points, or None."""
        return self.names("labels", self.value("labels", list, type(None)), n)

    def names(self, what: str, found: Any, n: int) -> list[Any] | None:
        """Names of ``n`` points or nodes that are among what was saved, or None; anything else is refused."""
        if found is None:
            return None
        if not isinstance(found, list) or len(found) != n:
            raise self.wrong(what, f"is no list of {n} names")
        if not all(isinstance(label, str | int | float | bool | None) for label in found):
            raise self.wrong(what, "holds what is no label")
        return found

    def pairs(self, n: int) -> tuple[NDArray[Any], NDArray[Any] | None] | None:
        """Dissimilarities of ``n`` points and their weights, if they were kept; without a weight they may be anything."""
        import numpy as np

        if "data_matrix" not in self.arrays:
            return None
        weights = self.array("data_weights", n, n, least=0) if "data_weights" in self.arrays else None
        matrix = self.arrays["data_matrix"]
        if matrix.shape != (n, n) or matrix.dtype.kind != "f":
            raise self.wrong("data_matrix", f"has the shape {matrix.shape} and the type {matrix.dtype}")
        counts = ~np.eye(n, dtype=bool)
        values = matrix[counts if weights is None else counts & (weights > 0)]
        if not np.isfinite(values).all() or (weights is None and (values < 0).any()):
            raise self.wrong("data_matrix", "holds what is no dissimilarity")
        return matrix.astype(matrix.dtype.newbyteorder("="), copy=False), weights
