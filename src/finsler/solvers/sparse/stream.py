"""Pairs that come in chunks: from a file, a generator, a data base; never all at once in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler.errors import InputError, InputTypeError

Array = NDArray[Any]
Chunk = tuple[Array, Array, Array, Array]


class PairStream:
    """Ordered pairs in chunks ``(i, j, D_ij, w_ij)`` of equally long arrays, read anew at every pass.

    Parameters
    ----------
    n_points : int
        Number of points; i and j are positions from 0 to ``n_points - 1``.
    chunks : callable or iterable
        A function that gives an iterator over the chunks each time it is called, or something that can be iterated over
        again and again, such as a list. D is the dissimilarity **from i to j**; a negative one, ``-b``, is a bound, "at
        least b". Pairs of weight 0, and those whose D is NaN or inf, are left out.

    Examples
    --------
    >>> stream = PairStream(3, [([0, 1], [1, 2], [2.0, 1.0], [1.0, 1.0]), ([2], [0], [np.inf], [1.0])])
    >>> [len(i) for i, j, D, w in stream]
    [2, 0]
    """

    def __init__(self, n_points: int, chunks: Callable[[], Iterable[Any]] | Iterable[Any]):
        count: Any = n_points
        if not isinstance(count, Integral) or count < 1:
            raise InputError(f"n_points must be a whole number of at least 1, got {n_points!r}.")
        if isinstance(chunks, Iterator):
            raise InputTypeError(
                "chunks is used up after one pass; give a function that returns a new iterator at each call, or a list."
            )
        self.n_points = int(n_points)
        self._chunks = chunks

    @classmethod
    def from_files(cls, n_points: int, paths: Sequence[str | os.PathLike[str]]) -> PairStream:
        """Chunks from npz files with the arrays ``i``, ``j``, ``D`` and, if they do not all weigh 1, ``w``."""
        if isinstance(paths, str | os.PathLike):
            raise InputTypeError(f"paths must be a list of files, got the single path {os.fspath(paths)!r}.")
        files = [Path(path) for path in paths]
        for file in files:
            if not file.is_file():
                raise FileNotFoundError(f"paths: there is no file {str(file)!r}.")

        def read() -> Iterator[Any]:
            for file in files:
                arrays = _arrays_of(file)
                lost = [name for name in ("i", "j", "D") if name not in arrays]
                if lost:
                    raise InputError(f"{str(file)!r} has no array {lost[0]!r}; it needs i, j and D.")
                i, j, D = arrays["i"], arrays["j"], arrays["D"]
                yield i, j, D, arrays.get("w", np.ones(D.shape))

        return cls(n_points, read)

    def __iter__(self) -> Iterator[Chunk]:
        chunks = self._chunks() if callable(self._chunks) else self._chunks
        if not isinstance(chunks, Iterable):
            raise InputTypeError(
                f"chunks must be a list of chunks, or a function that returns an iterator over them; got {chunks!r}."
            )
        for number, chunk in enumerate(chunks):
            yield self._checked(number, chunk)

    def _checked(self, number: int, chunk: Any) -> Chunk:
        if not isinstance(chunk, tuple | list) or len(chunk) != 4:
            raise InputError(f"Chunk {number} must be four arrays (i, j, D, w), got {type(chunk).__name__}.")
        i, j = np.asarray(chunk[0]), np.asarray(chunk[1])
        D, w = np.asarray(chunk[2], dtype=float), np.asarray(chunk[3], dtype=float)
        if not i.shape == j.shape == D.shape == w.shape or i.ndim != 1:
            shapes = ", ".join(str(a.shape) for a in (i, j, D, w))
            raise InputError(f"Chunk {number} must hold four arrays of one length, got shapes {shapes}.")
        for name, index in (("i", i), ("j", j)):
            if index.size and index.dtype.kind not in "iu":
                raise InputTypeError(f"{name} in chunk {number} must be whole numbers, got {index.dtype}.")
            if index.size and not (index.min() >= 0 and index.max() < self.n_points):
                raise InputError(
                    f"{name} in chunk {number} must be within 0..{self.n_points - 1}; it goes from {index.min()} to "
                    f"{index.max()}."
                )
        if not (w >= 0).all() or np.isinf(w).any():
            where = int(np.argmax(~(w >= 0) | np.isinf(w)))
            raise InputError(
                f"w in chunk {number} must be finite and not negative: w[{where}] is {w[where]}."
            )
        use = np.isfinite(D) & (w > 0) & (i != j)
        if not use.all():
            i, j, D, w = i[use], j[use], D[use], w[use]
        return i.astype(np.int64), j.astype(np.int64), D, w


def _arrays_of(file: Path) -> dict[str, Array]:
    """Arrays of an npz file that may hold pairs."""
    try:
        with open(file, "rb") as handle, np.load(handle, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in ("i", "j", "D", "w") if name in arrays.files}
    except FileNotFoundError:
        raise
    except Exception as error:
        raise InputError(
            f"{str(file)!r} is not an npz file of numbers; write one with numpy.savez(file, i=..., j=..., D=..., w=...)."
        ) from error
