"""Directed shortest paths as Dask arrays: the graph goes to each worker once, rows stay where they are computed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from finsler._runtime import active_client, fresh_name, import_dask
from finsler.errors import check_count
from finsler.graphs import paths
from finsler.graphs.digraph import ArcArrays

BLOCK_BYTES = 64e6  # of a block of rows, where the user does not say how many rows it has


def shortest_paths(
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
    >>> shortest_paths(arcs, chunks=2).compute()
    array([[0. , 1.5, 3.5],
           [inf, 0. , 2. ],
           [inf, inf, 0. ]])
    >>> shortest_paths(arcs, [1], reverse=True).compute()
    array([[1.5, 0. , inf]])
    """
    dask = import_dask()
    arcs = paths.arcs_of(graph, reverse=reverse, check_lengths=method != "bfs")
    # No path is followed from no source: this only checks the other arguments, here and not on a worker.
    none = paths.shortest_paths(arcs, [], method=method, limit=limit, dtype=dtype)
    n = none.shape[1]
    starts = paths.check_sources(sources, n)
    if chunks is None:
        chunks = int(np.clip(BLOCK_BYTES // (none.itemsize * max(n, 1)), 1, max(len(starts), 1)))
    chunks = check_count("chunks", chunks)
    client = active_client()
    if client is not None:
        (sent,) = client.scatter([arcs], broadcast=True, hash=False)
    else:
        sent = dask.delayed(arcs, pure=False, traverse=False)
    find, name = dask.delayed(_rows, pure=False), fresh_name("shortest_paths")
    blocks = []
    for k, first in enumerate(range(0, len(starts), chunks)):
        some = starts[first : first + chunks]
        task = find(sent, some, method, limit, none.dtype, dask_key_name=(name, k))
        blocks.append(dask.array.from_delayed(task, (len(some), n), dtype=none.dtype, meta=none))
    return dask.array.concatenate(blocks) if blocks else dask.array.from_array(none)


def _rows(arcs: ArcArrays, some: NDArray[Any], method: str, limit: float, dtype: Any) -> NDArray[Any]:
    # One thread each: the worker runs as many of these at a time as it has threads.
    return paths.shortest_paths(arcs, some, method=method, limit=limit, dtype=dtype, n_jobs=1, verbose=False)
