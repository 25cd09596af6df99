"""A Dask array of dissimilarities as a backend of the dense solver.

The blocks are checked where they are, and cut into panels (`finsler.solvers.backends.panels`), which stay on the workers.
That is the only time that dissimilarities travel: a panel needs both directions of its pairs. Every pass then sends the
coordinates out once and brings forces back, added up on the way in a fixed order, so that results do not depend on who
is first.

All that a pass needs is in the graph that the scheduler has: when a worker dies, its panels are made again elsewhere.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._runtime import active_client, fresh_name, import_dask
from finsler.data.matrix import MISSING_POLICIES, RowsFound, check_rows, check_weight_rows, gaps_found
from finsler.errors import InputError, InputTypeError, check_choice
from finsler.geometry.stress import triangle_edges
from finsler.kernels import panels as kernels
from finsler.solvers.backends.panels import PanelBackend
from finsler.solvers.backends.passes import PanelFunction, Panels, add_up

Array = NDArray[np.floating[Any]]

MOST_PANELS = 512
GATHERED = 2000  # points up to which a start with weights or gaps is made from all pairs, here
FAN_IN = 8  # results that are added up at a time


class DaskPanels(Panels):
    """Panels on the workers."""

    def __init__(
        self, firsts: list[int], panels: list[tuple[Any, ...]], n_points: int, weighted: bool, unit: float
    ):
        self.firsts, self.panels = firsts, panels
        self.n_points, self.weighted, self.unit = n_points, weighted, unit
        self.factorize, self.gather = True, n_points <= GATHERED

    def each(self, function: PanelFunction, *args: Any, skew: bool = False) -> list[tuple[int, Any]]:
        """First point and ``function(first, arrays, n_jobs, *args)`` of every panel, in order."""
        return list(import_dask().compute(*self._tasks(function, args, skew), optimize_graph=False))

    def sum(self, function: PanelFunction, *args: Any, skew: bool = False) -> Array:
        """Sum of the results over all panels, added up on the workers."""
        dask = import_dask()
        add, tasks = dask.delayed(add_up, pure=False), self._tasks(function, args, skew)
        while len(tasks) > 1:
            name = fresh_name("add_up")
            groups = [tasks[k : k + FAN_IN] for k in range(0, len(tasks), FAN_IN)]
            tasks = [add(group, self.n_points, dask_key_name=(name, k)) for k, group in enumerate(groups)]
        return np.asarray(dask.compute(tasks[0], optimize_graph=False)[0][1])

    def _tasks(self, function: PanelFunction, args: tuple[Any, ...], skew: bool) -> list[Any]:
        dask = import_dask()
        # One task holds the coordinates: workers take them from each other, and it can be run again.
        shared = dask.delayed(_keep, pure=False)(args, dask_key_name=fresh_name("coordinates"))
        run, name = dask.delayed(_run, pure=False), fresh_name(function.__name__)
        count = len(self.panels[0]) if self.weighted or skew else 1
        return [
            run(function, first, list(panel[:count]), shared, dask_key_name=(name, k))
            for k, (first, panel) in enumerate(zip(self.firsts, self.panels, strict=True))
        ]


def _keep(args: tuple[Any, ...]) -> tuple[Any, ...]:
    return args


def _run(function: PanelFunction, first: int, panel: list[Array], args: tuple[Any, ...]) -> tuple[int, Any]:
    # One thread each: the worker runs as many of these at a time as it has threads.
    return first, function(first, tuple(panel), 1, *args)


def _cut(there: Array, back: Array) -> tuple[Array, ...]:
    """Panel of complete data without weights."""
    symmetric, skew = np.zeros(there.shape, there.dtype), np.zeros(there.shape, there.dtype)
    kernels.fold(there, back, 0, 0, len(there), symmetric, skew)
    return symmetric, skew


def _cut_weighted(there: Array, back: Array, weights: Any, unit: float, far: float) -> tuple[Array, ...]:
    """Panel of data with weights, or with gaps."""
    panel = tuple(np.zeros(there.shape, there.dtype) for _ in range(4))
    w_there, w_back = (there[:0], back[:0]) if weights is None else weights
    kernels.fold_weighted(
        there, back, w_there, w_back, weights is not None, unit, far, 0, 0, len(there), *panel
    )  # fmt: skip
    return panel


def dask_backend(D: Any, weights: Any = None, *, missing: str = "raise", name: str = "D") -> PanelBackend:
    """Check a Dask array of dissimilarities and cut it into panels on the workers.

    As many panels are made as ``D`` has blocks of rows: give it a few for each thread of the workers. The arguments are
    those of :func:`~finsler.data.matrix.as_dissimilarities`; the weights may be a Dask array as well.
    """
    dask = import_dask()
    check_choice("missing", missing, MISSING_POLICIES)
    rows = _in_rows(D, name)
    n = rows.shape[0]
    weight_rows = None
    if weights is not None:
        if not hasattr(weights, "shape"):
            weights = np.asarray(weights)
        if tuple(weights.shape) != rows.shape:
            raise InputError(f"weights must have the shape of D, {rows.shape}, got {tuple(weights.shape)}.")
        weights = dask.array.asarray(weights)
        weight_rows = _in_rows(weights.rechunk((rows.chunks[0], n)), "weights")
        rows, weight_rows = dask.persist(rows, weight_rows)
    else:
        (rows,) = dask.persist(rows)
    unit, found = _checked(rows, weight_rows, missing, name)
    far, facts = gaps_found(found, missing, name)
    weighted = weights is not None or bool(facts.policy)

    edges = triangle_edges(n, min(rows.numblocks[0], MOST_PANELS))
    cut = dask.delayed(_cut_weighted if weighted else _cut, pure=False, nout=4 if weighted else 2)
    panel_name = fresh_name("panel")
    panels = []
    for k, (first, last) in enumerate(pairwise(edges.tolist())):
        args: list[Any] = list(_both_ways(rows, first, last))
        if weighted:
            args += [None if weight_rows is None else _both_ways(weight_rows, first, last), unit, far]
        panels.append(tuple(cut(*args, dask_key_name=(panel_name, k))))
    panels = list(dask.persist(*panels))
    backend = PanelBackend(
        DaskPanels(edges[:-1].tolist(), panels, n, weighted, unit if weighted else 1.0),
        facts.having(kind="matrix", backend="dask", n_panels=len(panels)),
    )
    backend.runs_in_parallel = active_client() is not None
    return backend


def _in_rows(D: Any, name: str) -> Any:
    """Dask array of float32 or float64 in blocks of whole rows."""
    if D.ndim != 2 or not np.isfinite(D.shape).all() or D.shape[0] != D.shape[1] or D.shape[0] == 0:
        raise InputError(
            f"{name} must be a square matrix of dissimilarities from row to column, got shape {D.shape}. "
            "If its blocks have unknown sizes, call its compute_chunk_sizes() first."
        )
    if D.dtype.kind not in "biuf":
        raise InputTypeError(f"{name} must hold numbers, got dtype {D.dtype}.")
    if D.dtype not in (np.float32, np.float64):
        D = D.astype(np.float32 if D.dtype == np.float16 else np.float64)
    return D.rechunk({1: -1})


def _checked(rows: Any, weight_rows: Any, missing: str, name: str) -> tuple[float, list[RowsFound]]:
    """Check every block on its worker; an error of the data is raised here."""
    dask = import_dask()
    check, check_weights = dask.delayed(check_rows, pure=False), dask.delayed(check_weight_rows, pure=False)
    starts = np.cumsum((0, *rows.chunks[0][:-1])).tolist()
    blocks = rows.to_delayed()[:, 0]
    weight_blocks = [None] * len(blocks) if weight_rows is None else weight_rows.to_delayed()[:, 0]
    key = fresh_name("check")
    unit = 1.0
    if weight_rows is not None:
        units = [
            check_weights(block, first, dask_key_name=(key + "-weights", k))
            for k, (block, first) in enumerate(zip(weight_blocks, starts, strict=True))
        ]
        unit = max(dask.compute(*units)) or 1.0
    found = [
        check(block, w, first, missing, name, dask_key_name=(key, k))
        for k, (block, w, first) in enumerate(zip(blocks, weight_blocks, starts, strict=True))
    ]
    return unit, list(dask.compute(*found))


def _both_ways(rows: Any, first: int, last: int) -> tuple[Any, Any]:
    """Cut-outs of a panel, each as one block: its rows, and its columns, from the first point on."""
    there, back = rows[first:last, first:], rows[first:, first:last]
    return there.rechunk(-1).to_delayed()[0, 0], back.rechunk(-1).to_delayed()[0, 0]
