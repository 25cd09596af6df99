"""Lengths of shortest paths in a digraph, from some nodes or all of them, to memory, to a file or to the workers of Dask."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from threading import Lock
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array, issparse

from finsler._arguments import check_arguments
from finsler._io import write_atomically
from finsler._memory import format_bytes, require_memory
from finsler._runtime import Progress, active_client, fresh_name, import_dask, map_blocks, thread_count
from finsler.errors import InputError, InputTypeError, check_choice, check_count
from finsler.graphs.digraph import ArcArrays, Digraph
from finsler.kernels import paths as kernels

MANY = 32  # sources from which on it pays to renumber the nodes
MOST_BUCKETS = 1 << 18
DASK_BLOCK_BYTES = 64e6  # of a block of rows, where the user does not say how many rows it has


def shortest_paths(
    graph: Any,
    sources: ArrayLike | None = None,
    *,
    reverse: bool = False,
    method: str = "auto",
    limit: float = np.inf,
    dtype: DTypeLike | None = None,
    out: NDArray[Any] | str | os.PathLike[str] | None = None,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> NDArray[Any]:
    """Lengths of the shortest directed paths from each source to every node.

    Parameters
    ----------
    graph : Digraph, or scipy sparse matrix of shape (N, N)
        Each stored entry is an arc **from its row to its column** and its value the length, zero too; inf is no arc.
        Among parallel arcs (repeated entries) the shortest counts.
    sources : int or sequence of int, optional
        Where paths start, in any order, repeated or not. All nodes by default.
    reverse : bool, default=False
        Follow the arcs backwards: lengths of the paths from every node to each source.
    method : {"auto", "dijkstra", "bfs"}, default="auto"
        "dijkstra" adds lengths; "bfs" counts arcs, whatever their lengths. "auto" is "bfs" if all lengths are 1,
        where both give the same numbers, and "dijkstra" otherwise.
    limit : float, default=inf
        Longer paths are not followed: what is farther is inf, as if it were unreachable.
    dtype : {float64, float32}, optional
        Type of the result: that of the array `out`, or else float64. Sums are always in float64.
    out : array of shape (n_sources, N), or path of a ``.npy`` file, optional
        Where to put the result. A file may be larger than memory; it is written whole or not at all, while an array is
        left partly filled by an error or Ctrl-C.
    n_jobs, verbose
        Threads (the result does not depend on them), and the progress line.

    Returns
    -------
    ndarray of shape (n_sources, N)
        Row i holds the distances from ``sources[i]``; inf where there is no path. It is `out` if that is an
        array, and a read-only memory map if it is a file.

    Notes
    -----
    The numbers are those of Dijkstra's algorithm to the last bit, from buckets in place of a heap where the lengths suit
    them, and for eight nearby sources at a time: `finsler.kernels.paths` says how.

    Examples
    --------
    A one-way street, and a road back from its end that costs nothing:

    >>> import numpy as np
    >>> from scipy.sparse import coo_array
    >>> arcs = coo_array(([1.5, 2.0, 0.0], ([0, 1, 2], [1, 2, 1])), shape=(4, 4))
    >>> shortest_paths(arcs)
    array([[0. , 1.5, 3.5, inf],
           [inf, 0. , 2. , inf],
           [inf, 0. , 0. , inf],
           [inf, inf, inf, 0. ]])
    >>> shortest_paths(arcs, sources=[0], method="bfs")
    array([[ 0.,  1.,  2., inf]])
    """
    check_arguments(shortest_paths, locals())
    check_choice("method", method, ("auto", "dijkstra", "bfs"))
    if not limit >= 0:
        raise InputError(f"limit must be zero or more, got {limit!r}.", argument="limit")
    arcs = arcs_of(graph, reverse=reverse, check_lengths=method != "bfs")
    n = len(arcs.indptr) - 1
    starts = check_sources(sources, n)
    shape = (len(starts), n)
    kind = _result_type(dtype, out, shape)
    _check_memory(shape, len(arcs.indices), 0 if out is not None else kind.itemsize, n_jobs)
    all_one = len(arcs.lengths) > 0 and bool(np.all(arcs.lengths == 1))
    hops = method == "bfs" or (method == "auto" and all_one)
    fill = partial(_fill, arcs, starts, hops, float(min(limit, np.finfo(float).max)), n_jobs, verbose)
    if out is None:
        out = np.empty(shape, kind)
    elif not isinstance(out, np.ndarray):
        return _fill_file(Path(out), shape, kind, fill)
    fill(out)
    return out


def _fill(
    arcs: ArcArrays, starts: NDArray[np.uint32], hops: bool, limit: float, n_jobs: int | None, verbose: bool | int | str,
    out: NDArray[Any],
) -> None:  # fmt: skip
    """Compute the rows, block by block."""
    n, count = out.shape[1], len(starts)
    if not out.size:
        return
    place = np.arange(n, dtype=np.uint32)
    order = np.arange(count)
    many = count >= MANY
    if many:
        arcs, place = _renumber(arcs)
        starts = place[starts]
        order = np.argsort(starts, kind="stable")
        if not hops:
            order = order[kernels.gather(arcs.indptr, arcs.indices, starts[order], 16 * n // count)]
    methods = _methods(arcs, place, limit, hops, many)
    unsuited: set[int] = set()  # methods that gave up a row: spares the other blocks the attempt
    # Blocks of 2 to 100 ms: long enough for a thread, and short enough for Ctrl-C and an even end.
    work = n + len(arcs.indices) // 4
    rows = int(np.clip(count // 16, 100_000 // work + 1, 4_000_000 // work + 1))
    rows = -(-rows // kernels.LANES) * kernels.LANES if many else rows
    progress = Progress("shortest paths", verbose)
    lock, finished = Lock(), 0
    target = np.asarray(out)  # a memory map is an array to the kernels

    def task(block: int, start: int, stop: int) -> None:
        nonlocal finished
        left = order[start:stop]
        for which, run in enumerate(methods):
            if len(left) and which not in unsuited:
                done = run(starts[left], left, target)
                if done == 0:
                    unsuited.add(which)
                left = left[done:]
        with lock:
            finished += stop - start
            progress.update(f"{finished} of {count} rows")

    try:
        map_blocks(task, [*range(0, count, rows), count], n_jobs)
    finally:
        progress.close(f"{finished} of {count} rows")


def _methods(
    arcs: ArcArrays, place: NDArray[np.uint32], limit: float, hops: bool, many: bool
) -> Sequence[Callable[[NDArray[Any], NDArray[Any], NDArray[Any]], int]]:
    """Kernels to try in turn on ``(starts, rows, out)``; each says how many rows it did, the last does all."""
    n, weights = len(place), arcs.lengths
    if hops:
        return [partial(kernels.hops, arcs.indptr, arcs.indices, place, limit)]
    heap = partial(kernels.heap, *arcs, place, limit)
    # Narrow buckets serve few nodes twice, wide ones leave few buckets empty. Nodes with many arcs are left by
    # their shortest ones, so the width goes down with the degree.
    longest = weights[weights < np.inf].max(initial=0)
    usual = weights[:: 1 + len(weights) // 10_000]
    usual = usual[(usual > 0) & (usual < np.inf)]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        per_length = max(2.0, len(weights) / n / 2) / np.median(usual if len(usual) else [longest or 1.0])
        turn = longest * per_length + 3
    if not turn <= MOST_BUCKETS:
        return [heap]
    n_buckets = 1 << int(np.ceil(np.log2(turn)))

    def wheel(shape: tuple[int, ...], starts: NDArray[Any], rows: NDArray[Any], out: NDArray[Any]) -> int:
        return kernels.wheel(*arcs, place, limit, starts, rows, out, np.empty(shape), per_length, n_buckets)

    return [partial(wheel, (n, kernels.LANES)), partial(wheel, (n,)), heap][0 if many else 1 :]


def _renumber(arcs: ArcArrays) -> tuple[ArcArrays, NDArray[np.uint32]]:
    """Number the nodes so that neighbors are near in memory; node i becomes ``place[i]``."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    indptr, indices, weights = arcs
    n = len(indptr) - 1
    pattern = csr_array((np.ones(len(indices), bool), indices.astype(np.int32), indptr), shape=(n, n))
    node = reverse_cuthill_mckee(pattern)
    place = np.empty(n, np.uint32)
    place[node] = np.arange(n)
    counts = np.diff(indptr)[node]
    pointer = np.concatenate([[0], np.cumsum(counts)])
    arc = np.repeat(indptr[node] - pointer[:-1], counts) + np.arange(len(indices))
    return ArcArrays(pointer, place[indices[arc]], weights[arc]), place


def arcs_of(graph: Any, *, reverse: bool = False, check_lengths: bool = True) -> ArcArrays:
    """Arcs of a Digraph, or of a sparse matrix, which is checked here; `ArcArrays` were, and have their direction."""
    if isinstance(graph, ArcArrays):
        return graph
    if isinstance(graph, Digraph):
        return graph.reversed_arcs if reverse else graph.arcs
    arcs = _checked_arcs(graph, check_lengths)
    return arcs.turned() if reverse else arcs


def _checked_arcs(graph: Any, check_lengths: bool) -> ArcArrays:
    """Arcs of a sparse matrix, checked; nothing is summed, sorted or changed in place."""
    if not issparse(graph):
        raise InputTypeError(
            f"graph must be a Digraph or a scipy sparse matrix, found {type(graph).__name__}. Make one with "
            "scipy.sparse.csr_array; it takes zeros of a dense matrix for no arc."
        )
    matrix: Any = graph
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(f"graph must be square, one row and one column for each node; found {matrix.shape}.")
    if matrix.format in ("bsr", "dia"):
        raise InputError(
            f"graph is in {matrix.format.upper()} format, which fills up with zeros that are no arcs. Convert it "
            "with .tocsr(), and .eliminate_zeros() unless zero is a length."
        )
    if matrix.dtype.kind not in "biuf":
        raise InputTypeError(f"graph must hold real numbers, found {matrix.dtype}.")
    n = matrix.shape[0]
    if matrix.format == "csr":
        indptr, indices, data = matrix.indptr, matrix.indices, matrix.data
    else:
        entries = matrix.tocoo()  # whose own tocsr() would add parallel arcs up
        order = np.argsort(entries.row, kind="stable")
        indptr = np.concatenate([[0], np.cumsum(np.bincount(entries.row, minlength=n))])
        indices, data = entries.col[order], entries.data[order]
    try:
        checked = csr_array((data, indices, indptr), shape=matrix.shape)  # shares the arrays
        checked.check_format()
    except ValueError as error:
        raise InputError(f"graph is not a valid CSR matrix: {error}.") from error
    indptr, indices, data = checked.indptr, checked.indices, checked.data
    weights = np.ascontiguousarray(data, np.float64)
    if check_lengths and not weights.min(initial=0) >= 0:  # the least of some NaN is NaN
        arc = int(np.flatnonzero(~(weights >= 0))[0])
        row = int(np.searchsorted(indptr, arc, side="right")) - 1
        raise InputError(
            f"graph has the length {weights[arc]} from node {row} to node {indices[arc]}. Lengths must be zero or more; "
            "leave out what is no arc, and turn similarities into dissimilarities first."
        )
    absent = weights == np.inf
    if absent.any():
        rows = np.repeat(np.arange(n), np.diff(indptr))[~absent]
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        indices, weights = indices[~absent], weights[~absent]
    return ArcArrays(indptr.astype(np.int64), indices.astype(np.uint32), weights)


def check_sources(sources: ArrayLike | None, n: int) -> NDArray[np.uint32]:
    """Nodes where paths start, all of them by default, or an error that shows the first that is none."""
    if sources is None:
        return np.arange(n, dtype=np.uint32)
    nodes = np.atleast_1d(np.asarray(sources))
    if nodes.ndim != 1 or (nodes.size and nodes.dtype.kind not in "iu"):
        raise InputTypeError(
            f"sources must be a list of integers, found shape {nodes.shape} and dtype {nodes.dtype}. "
            "Turn a mask into integers with numpy.flatnonzero."
        )
    outside = np.flatnonzero((nodes < 0) | (nodes >= n))
    if outside.size:
        raise InputError(f"sources must be in 0..{n - 1}: sources[{outside[0]}] is {nodes[outside[0]]}.")
    return nodes.astype(np.uint32)


def _result_type(dtype: DTypeLike | None, out: Any, shape: tuple[int, int]) -> np.dtype[Any]:
    if isinstance(out, np.ndarray):
        fits = out.shape == shape and out.flags.c_contiguous and out.flags.writeable
        if not fits or (dtype is not None and out.dtype != dtype):
            wanted = f"{np.dtype(dtype).name} " if dtype is not None else ""
            raise InputError(
                f"out must be a writeable C-contiguous {wanted}array of shape {shape}, found {out.dtype} "
                f"of shape {out.shape}."
            )
        dtype = out.dtype
    elif out is not None and (not isinstance(out, str | os.PathLike) or Path(out).suffix != ".npy"):
        raise InputError(f"out must be None, an array or the path of a .npy file, got {out!r}.")
    kind = np.dtype(np.float64 if dtype is None else dtype)
    if kind not in (np.float64, np.float32):
        raise InputTypeError(f"dtype must be float64 or float32, found {kind}.")
    return kind


def _check_memory(shape: tuple[int, int], arcs: int, itemsize: int, n_jobs: int | None) -> None:
    rows, n = shape
    threads = min(thread_count(n_jobs), rows)
    working = 60.0 * arcs + 40.0 * n + threads * n * (8.0 * kernels.LANES + 12)
    require_memory(
        working + float(rows) * n * itemsize,
        f"Shortest paths between {rows} and {n} nodes",
        'Use dtype="float32", fewer sources, or out="distances.npy", which writes to a file.',
    )


def _fill_file(
    path: Path, shape: tuple[int, int], kind: np.dtype[Any], fill: Callable[[NDArray[Any]], None]
) -> NDArray[Any]:
    """Fill a memory map under a temporary name, rename it when complete, and open it for reading."""
    size = shape[0] * shape[1] * kind.itemsize

    def write(file: IO[bytes]) -> None:
        free = shutil.disk_usage(path.parent).free
        if size > free:
            raise OSError(f"{path} needs {format_bytes(size)} and its disk has {format_bytes(free)} free.")
        header = {"descr": np.lib.format.dtype_to_descr(kind), "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.flush()
        if hasattr(os, "posix_fallocate"):  # a disk that fills up under a memory map would kill the process
            os.posix_fallocate(file.fileno(), 0, file.tell() + size)
        rows = np.memmap(file, kind, "r+", offset=file.tell(), shape=shape)
        fill(rows)
        rows.flush()

    return np.load(write_atomically(path, write), mmap_mode="r")


def dask_shortest_paths(
    graph: Any,
    sources: ArrayLike | None = None,
    *,
    reverse: bool = False,
    chunks: int | None = None,
    method: str = "auto",
    limit: float = np.inf,
    dtype: DTypeLike = np.float64,
) -> Any:
    """Lengths of the shortest directed paths from each source to every node, as a Dask array.

    Parameters
    ----------
    graph : Digraph, or scipy sparse matrix of shape (N, N)
        Each stored entry is an arc **from its row to its column** and its value the length. A client that is active sends
        it to every worker, once.
    sources : int or sequence of int, optional
        Where paths start; all nodes by default.
    reverse : bool, default=False
        Follow the arcs backwards: lengths of the paths from every node to each source.
    chunks : int, optional
        Rows in a block; about 64 MB by default.
    method, limit, dtype
        See :func:`finsler.graphs.paths.shortest_paths`.

    Returns
    -------
    dask.array.Array of shape (n_sources, N)
        In blocks of whole rows, nothing computed yet. Call its ``persist()`` to compute it and leave the rows where they
        are; ``FinslerMDS(missing="mask").fit`` takes it as it is.

    Examples
    --------
    >>> from scipy.sparse import coo_array
    >>> arcs = coo_array(([1.5, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    >>> dask_shortest_paths(arcs, chunks=2).compute()
    array([[0. , 1.5, 3.5],
           [inf, 0. , 2. ],
           [inf, inf, 0. ]])
    >>> dask_shortest_paths(arcs, [1], reverse=True).compute()
    array([[1.5, 0. , inf]])
    """
    check_arguments(dask_shortest_paths, locals())
    dask = import_dask()
    arcs = arcs_of(graph, reverse=reverse, check_lengths=method != "bfs")
    # No path is followed from no source: this only checks the other arguments, here and not on a worker.
    none = shortest_paths(arcs, [], method=method, limit=limit, dtype=dtype)
    n = none.shape[1]
    starts = check_sources(sources, n)
    if chunks is None:
        chunks = int(np.clip(DASK_BLOCK_BYTES // (none.itemsize * max(n, 1)), 1, max(len(starts), 1)))
    chunks = check_count("chunks", chunks)
    client = active_client()
    if client is not None:
        (sent,) = client.scatter([arcs], broadcast=True, hash=False)
    else:
        sent = dask.delayed(arcs, pure=False, traverse=False)
    find, name = dask.delayed(_rows_of_worker, pure=False), fresh_name("shortest_paths")
    blocks = []
    for k, first in enumerate(range(0, len(starts), chunks)):
        some = starts[first : first + chunks]
        task = find(sent, some, method, limit, none.dtype, dask_key_name=(name, k))
        blocks.append(dask.array.from_delayed(task, (len(some), n), dtype=none.dtype, meta=none))
    return dask.array.concatenate(blocks) if blocks else dask.array.from_array(none)


def _rows_of_worker(
    arcs: ArcArrays, some: NDArray[Any], method: str, limit: float, dtype: Any
) -> NDArray[Any]:
    # One thread each: the worker runs as many of these at a time as it has threads.
    return shortest_paths(arcs, some, method=method, limit=limit, dtype=dtype, n_jobs=1, verbose=False)
