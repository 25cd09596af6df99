"""Files opened in one guarded way: whatever is wrong with one, the error names it, and nothing is unpacked beyond memory.

Arrays of numpy are read here and not by ``numpy.load``: their headers are believed only where the file bears them out, and
nothing pickled is read.
"""

from __future__ import annotations

import errno
import gzip
import io
import math
import os
import warnings
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from finsler._memory import require_memory
from finsler.errors import InputError, MissingExtraError, one_line

if TYPE_CHECKING:
    from numpy.typing import NDArray

BLOCK = 1 << 20  # bytes that are read at a time
MOST_PACKED = 1032  # times that deflate can shorten anything
KINDS = "biufUS"  # of numpy's types: booleans, numbers, text
_CURE = "Take a part of it, or a machine with more memory."


@contextmanager
def guarded(path: str | os.PathLike[str], what: str) -> Iterator[None]:
    """Turn whatever goes wrong while a file is taken apart into an error that names it; `what` it should be is said."""
    name = Path(path).name
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages, about odd headers
            yield
    except (FileNotFoundError, IsADirectoryError, PermissionError, MissingExtraError):
        raise
    except (MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENOMEM:
            raise InputError(f"{name} cannot be read as {what}: {_why(error)}.") from error
        if str(error).startswith(name):  # said already
            raise
        raise MemoryError(f"{name} does not fit in memory: {_why(error)}.") from error
    except InputError as error:
        if str(error).startswith(name):
            raise
        named = type(error)(f"{name}: {error}")
        named.argument = error.argument
        raise named from error
    except Exception as error:  # a damaged file makes other packages raise anything
        raise InputError(f"{name} cannot be read as {what}: {_why(error)}.") from error


def _why(error: Exception) -> str:
    return one_line(str(error))[:200].rstrip(".") or type(error).__name__


def require_file(path: str | os.PathLike[str]) -> None:
    """Raise unless ``path`` is a file with something in it."""
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    if path.is_file() and not path.stat().st_size:
        raise InputError(f"{path.name} is empty.")


def read_bytes(source: str | os.PathLike[str] | IO[bytes], what: str = "text") -> bytes:
    """All that a file or a binary file object holds, unpacked if it was packed by gzip, and never more than fits."""
    if not isinstance(source, str | os.PathLike):
        return _unpacked(_whole(source, "stdin"), "stdin", what)
    require_file(source)
    with guarded(source, what), open(source, "rb") as file:
        return _unpacked(_whole(file, Path(source).name), Path(source).name, what)


def _whole(file: Any, name: str) -> bytes:
    blocks: list[bytes] = []
    size, checked = 0, 0
    while block := file.read(BLOCK):
        size += len(block)
        if size - checked > 16 * BLOCK:  # joining them takes as much again, taking them apart even more
            require_memory(2.0 * size, f"{name}, read as a whole,", _CURE)
            checked = size
        blocks.append(block)
    return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def _unpacked(data: bytes, name: str, what: str) -> bytes:
    if data[:2] != b"\x1f\x8b":
        return data
    with guarded(name, f"{what} packed by gzip"), gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        return _whole(file, f"{name}, unpacked,")


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[tuple[Any, int]]:
    """A file to be read in parts, unpacked if it was packed by gzip, and its size."""
    require_file(path)
    with open(path, "rb") as file:
        if file.read(2) == b"\x1f\x8b":
            data = read_bytes(path)
            yield io.BytesIO(data), len(data)
        else:
            file.seek(0)
            yield file, os.fstat(file.fileno()).st_size


def read_npy(path: str | os.PathLike[str], *, mapped: bool = False, kinds: str = KINDS) -> NDArray[Any]:
    """Array of a ``.npy`` file, in memory or mapped into it for reading."""
    import numpy as np

    with guarded(path, ".npy"), _opened(path) as (file, size):
        shape, fortran, dtype = _header(file, kinds)
        n_bytes = math.prod(shape) * dtype.itemsize
        _require_size(n_bytes, size - file.tell())
        if mapped and n_bytes and dtype.kind in "iuf" and not isinstance(file, io.BytesIO):
            order: Any = "F" if fortran else "C"
            return np.memmap(file, dtype, "r", file.tell(), shape, order)
        return _filled(file, shape, fortran, dtype, Path(path).name)


def read_npz(
    path: str | os.PathLike[str], names: Collection[str] | None = None, *, kinds: str = KINDS
) -> dict[str, NDArray[Any]]:
    """Arrays of an ``.npz`` file by their names: all, or those of ``names`` that are there."""
    arrays: dict[str, NDArray[Any]] = {}
    with guarded(path, ".npz"), _opened(path) as (file, size), zipfile.ZipFile(file) as archive:
        members = {info: info.filename.removesuffix(".npy") for info in archive.infolist()}
        members = {info: name for info, name in members.items() if names is None or name in names}
        for info, name in members.items():
            if info.flag_bits & 1:
                raise InputError(f"its array {name!r} is encrypted.")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise InputError(f"its array {name!r} is packed in a way that numpy does not use.")
            if info.compress_size > size or info.file_size > MOST_PACKED * info.compress_size:
                raise InputError(f"the size of its array {name!r} is not true.")
        require_memory(sum(info.file_size for info in members), f"{Path(path).name}, unpacked,", _CURE)
        for info, name in members.items():
            if name in arrays:
                raise InputError(f"it holds two arrays {name!r}.")
            with archive.open(info) as member:
                shape, fortran, dtype = _header(member, kinds)
                n_bytes = math.prod(shape) * dtype.itemsize
                _require_size(n_bytes, info.file_size - member.tell())
                arrays[name] = _filled(member, shape, fortran, dtype, Path(path).name)
                member.read(1)  # at the end the checksum is compared
    return arrays


def _header(file: Any, kinds: str) -> tuple[tuple[int, ...], bool, Any]:
    """Shape, order and type that the header of an array tells."""
    from numpy.lib import format as layout

    readers = {(1, 0): layout.read_array_header_1_0, (2, 0): layout.read_array_header_2_0}
    version = layout.read_magic(file)
    if version not in readers:
        raise InputError(f"version {version[0]}.{version[1]} of its header is not known.")
    try:
        shape, fortran, dtype = readers[version](file)
    except MemoryError as error:  # Python's parser, of deep nesting
        raise InputError("its header is damaged.") from error
    if dtype.kind not in kinds:
        also = " or text" if "U" in kinds else ""
        raise InputError(f"it holds {dtype}, where numbers{also} were expected; nothing pickled is read.")
    if len(shape) > 32 or not all(type(n) is int and n >= 0 for n in shape):
        raise InputError(f"its header tells of the shape {one_line(str(shape))[:60]}.")
    return shape, fortran, dtype


def _require_size(n_bytes: int, there: int) -> None:
    if n_bytes != there:
        what = "is cut short" if there < n_bytes else "holds more than it should"
        raise InputError(f"an array {what}: its header tells of {n_bytes:,} bytes, and there are {there:,}.")


def _filled(file: Any, shape: tuple[int, ...], fortran: bool, dtype: Any, name: str) -> NDArray[Any]:
    """Array whose bytes come next in a file, which has as many as it should."""
    import numpy as np

    n_bytes = math.prod(shape) * dtype.itemsize
    require_memory(n_bytes, name, _CURE)
    buffer = np.empty(n_bytes, np.uint8)
    view, done = buffer.data, 0
    while done < n_bytes:
        got = file.readinto(view[done : done + BLOCK])
        if not got:
            raise InputError("an array is cut short.")
        done += got
    if not n_bytes:  # nothing to look at, and types without a size
        return np.empty(shape, dtype)
    if dtype.kind == "b" and buffer.max() > 1:
        raise InputError("it holds booleans that are neither True nor False.")
    if dtype.kind == "U" and buffer.view(f"{dtype.byteorder}u4".replace("|", "=")).max() > 0x10FFFF:
        raise InputError("it holds text that is none.")
    return buffer.view(dtype).reshape(shape, order="F" if fortran else "C")
