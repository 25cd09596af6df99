"""How much memory is left, before any is taken: bytes that can be allocated, and words for them."""

from __future__ import annotations

import mmap
import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from finsler.errors import InputError, shown

BUFFERS = (
    2**27
)  # bytes of address space that BLAS, of numpy and of SciPy, takes when first used; twice what was seen
LEAST = 2**30  # bytes of address space in which numpy, SciPy and numba can be loaded and used
NEGLIGIBLE = 2**24  # bytes: finding out how much memory is free takes longer than small maps do

_buffers_taken = False


def available_memory(root: str | os.PathLike[str] = "/") -> int | None:
    """Bytes that can still be allocated, or None where the system does not say.

    The least of what is free, of what the limits of a container or job (control groups) leave, and of what the limit of
    the address space (``ulimit -v``) leaves. ``root`` is where ``/proc`` and ``/sys`` are.
    """
    root = Path(root)
    found = [_free_memory(root), *_left_in_groups(root), left_in_address_space(root)]
    return min((n for n in found if n is not None), default=None)


def _free_memory(root: Path) -> int | None:
    free = _numbers(root / "proc/meminfo").get("MemAvailable:")
    if free is not None:
        return free * 1024
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _left_in_groups(root: Path) -> Iterator[int]:
    """What each control group of this process leaves, versions 1 and 2, up to the outermost group that can be seen."""
    for line in _text(root / "proc/self/cgroup").splitlines():
        kinds, group = line.split(":", 2)[1:]
        if kinds == "":
            base, limit, used = "", "memory.max", "memory.current"
        elif "memory" in kinds.split(","):
            base, limit, used = "memory", "memory.limit_in_bytes", "memory.usage_in_bytes"
        else:
            continue
        # A container that does not see the whole tree has its own group at the top.
        place = PurePosixPath(group.lstrip("/"))
        for folder in {root / "sys/fs/cgroup" / base / part for part in (place, *place.parents)}:
            most, now = _text(folder / limit).strip(), _text(folder / used).strip()
            if most.isdecimal() and now.isdecimal():
                stat = _numbers(folder / "memory.stat")  # pages of files are given back when memory is short
                cached = stat.get("total_inactive_file", stat.get("inactive_file", 0))
                yield max(0, int(most) - int(now) + cached)


def left_in_address_space(root: Path) -> int | None:
    """What the limit of the address space leaves, or None without one; BLAS has taken its buffers then."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return None

    def left() -> int:
        return max(0, most - _numbers(root / "proc/self/status").get("VmSize:", 0) * 1024)

    if not _buffers_taken and left() < BUFFERS:
        return 0
    _take_buffers()
    return left()


def _take_buffers() -> None:
    """Have BLAS take its buffers now: where it gets none later it ends the process, or tries again forever."""
    global _buffers_taken
    if not _buffers_taken:
        import numpy as np
        from scipy.linalg.blas import dgemm

        square = np.ones((512, 512))
        dgemm(1.0, square, square @ square)
        _buffers_taken = True


def prepare_for_little_address_space() -> None:
    """Keep BLAS, which is not loaded yet, to one thread where the address space is limited; too low limits are refused.

    SciPy or numba cannot be loaded in these, and some versions of BLAS try it forever.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    most = resource.getrlimit(resource.RLIMIT_AS)[0]
    if most == resource.RLIM_INFINITY:
        return
    if most < LEAST:
        raise MemoryError(
            f"The address space is limited to {format_bytes(most)}, and numpy, SciPy and numba take up to "
            f"{format_bytes(LEAST)}; raise the limit (ulimit -v)."
        )
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # each thread takes address space for itself


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _numbers(path: Path) -> dict[str, int]:
    """Whole numbers of a file in which each line is a name and a number."""
    rows = (line.split() for line in _text(path).splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) > 1 and row[1].isdecimal()}


def format_bytes(n: float) -> str:
    """Bytes in a unit that a person reads.

    Examples
    --------
    >>> format_bytes(3_200_000_000)
    '3.2 GB'
    """
    for unit in ("B", "kB", "MB", "GB"):
        if n < 1000:
            return f"{n:.3g} {unit}"
        n /= 1000
    return f"{n:.3g} TB"


def parse_bytes(size: float | str, name: str = "size") -> float:
    """Bytes meant by a number, or by text such as "2GB" or "500 MiB".

    Examples
    --------
    >>> parse_bytes("2GB"), parse_bytes("1.5 KiB")
    (2000000000.0, 1536.0)
    """
    units = {
        "": 1,
        "k": 1e3,
        "m": 1e6,
        "g": 1e9,
        "t": 1e12,
        "ki": 2**10,
        "mi": 2**20,
        "gi": 2**30,
        "ti": 2**40,
    }
    wide = isinstance(size, int) and size.bit_length() > 64
    text = "" if wide else str(size).lower()
    found = re.fullmatch(r"([0-9.]{1,30}(?:e\+?[0-9]{1,3})?)\s?([kmgt]?i?)b?", text.strip())
    try:
        n_bytes = float(found[1]) * units[found[2]] if found else 0.0
    except (KeyError, ValueError):
        n_bytes = 0.0
    if not 0 < n_bytes < float("inf"):
        raise InputError(
            f"{name} must be a positive number of bytes, or text such as '2GB'; got {shown(size)}.",
            argument=name,
        )
    return n_bytes


def require_memory(n_bytes: float, what: str, cure: str) -> None:
    """Refuse, before anything is allocated, what does not fit in memory."""
    if n_bytes <= NEGLIGIBLE:
        return
    available = available_memory()
    if available is not None and n_bytes > available:
        raise MemoryError(
            f"{what} needs about {format_bytes(n_bytes)} and {format_bytes(available)} is available. {cure}"
        )


def drop_pages(matrix: Any) -> None:
    """Take the pages of a read-only memory map out of the resident memory; the system keeps them while it has room."""
    pages = getattr(matrix, "_mmap", None)
    if pages is not None and getattr(matrix, "mode", "") == "r" and hasattr(mmap, "MADV_DONTNEED"):
        pages.madvise(mmap.MADV_DONTNEED)
