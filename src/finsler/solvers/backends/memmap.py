"""Which backend solves which data; and out of core: a matrix in a file, read panel by panel within a budget of memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._memory import NEGLIGIBLE, available_memory, drop_pages, format_bytes, parse_bytes
from finsler._read import read_npy
from finsler._runtime import Progress, map_blocks
from finsler.data.memmap import MemmapDissimilarities, as_memmap_dissimilarities
from finsler.errors import InputError, InputTypeError
from finsler.kernels import panels as kernels
from finsler.solvers.backends.memory import Backend, working_bytes
from finsler.solvers.backends.panels import LANDMARKS, PanelBackend
from finsler.solvers.backends.passes import BLOCKS, ITERATED, PanelFunction, Panels

Array = NDArray[np.floating[Any]]

# Numbers a point that stand beside the panels: coordinates and steps that the acceleration keeps, forces of each
# block of rows, the vectors of the closed form.
BESIDE = 200
# Bytes an ordered pair that it takes to start from all pairs with weights, or to factorize the weights.
GATHERED = 160


class MemmapPanels(Panels):
    """Panels cut out of a matrix when they are needed, into one buffer."""

    def __init__(
        self,
        data: MemmapDissimilarities,
        budget: float,
        n_jobs: int | None = None,
        verbose: bool | int | str = "auto",
    ):
        self.data, self.n_jobs = data, n_jobs
        self._progress: Progress | None = Progress("Reading the matrix", verbose)
        self.n_points = n = len(data.matrix)
        self.weighted, self.unit = data.weighted, data.unit
        self.dtype = np.dtype(
            np.float32 if data.matrix.dtype.itemsize <= 4 and data.matrix.dtype.kind == "f" else float
        )
        self.copies = 4 if data.weighted else 2
        self.gather = self.factorize = data.weighted and 2.0 * GATHERED * n * n <= budget
        beside = 8.0 * BESIDE * n
        if self.gather:
            beside += GATHERED * float(n) * n
        elif data.weighted and n > LANDMARKS:
            beside += 8.0 * self.dtype.itemsize * LANDMARKS * n
        self.edges = _edges(n, budget - beside, self.copies * self.dtype.itemsize, budget)
        self._buffer = np.empty(0, dtype=self.dtype)

    def each(self, function: PanelFunction, *args: Any, skew: bool = False) -> list[tuple[int, Any]]:
        """First point and ``function(first, arrays, n_jobs, *args)`` of every panel, in order."""
        return [
            (first, function(first, panel, self.n_jobs, *args))
            for first, panel in self._panels(function, skew)
        ]

    def sum(self, function: PanelFunction, *args: Any, skew: bool = False) -> Array:
        """Sum of the results over all panels, each put where its first point is."""
        total = np.empty((0, 0))
        for first, panel in self._panels(function, skew):
            values = function(first, panel, self.n_jobs, *args)
            if first == 0:
                total = np.array(values)
            else:
                total[:, first:] += values
        return total

    def _panels(self, function: PanelFunction, skew: bool) -> Iterator[tuple[int, tuple[Array, ...]]]:
        D, W = np.asarray(self.data.matrix), self.data.weights
        weights = D[:0] if W is None else np.asarray(W)
        for first, last in zip(self.edges[:-1].tolist(), self.edges[1:].tolist(), strict=True):
            rows = last - first
            panel = self._arrays(rows, self.n_points - first, self.copies if self.weighted or skew else 1)

            def fill(
                _: int, start: int, stop: int, first: int = first, panel: tuple[Array, ...] = panel
            ) -> None:
                if self.weighted:
                    kernels.fold_weighted(
                        D, D, weights, weights, W is not None, self.unit, self.data.far, first, start, stop, *panel
                    )  # fmt: skip
                else:
                    skew_panel = panel[1] if len(panel) > 1 else panel[0][:0]
                    kernels.fold(D, D, first, start, stop, panel[0], skew_panel)

            map_blocks(fill, np.linspace(0, rows, min(rows, 4 * BLOCKS) + 1).astype(int), self.n_jobs)
            self._report(function, last)
            yield first, panel
            for matrix in (self.data.matrix, W):
                drop_pages(matrix)

    def _report(self, function: PanelFunction, last: int) -> None:
        """Show how far a pass is that prepares the iterations."""
        if self._progress is not None and function in ITERATED:
            self._progress.close("ready to iterate")
            self._progress = None
        elif self._progress is not None:
            what = function.__name__.replace("_", " ")
            self._progress.update(f"{what}, row {last} of {self.n_points}")

    def _arrays(self, rows: int, width: int, count: int) -> tuple[Array, ...]:
        """Arrays for a panel, in one buffer: fresh memory at each pass would cost more than filling it."""
        size = rows * width
        if not len(self._buffer):  # pages that no pass writes to take no memory
            largest = int((np.diff(self.edges) * (self.n_points - self.edges[:-1])).max())
            self._buffer = np.empty(self.copies * largest, dtype=self.dtype)
        return tuple(self._buffer[k * size : (k + 1) * size].reshape(rows, width) for k in range(count))


def _edges(n: int, room: float, bytes_per_pair: int, budget: float) -> NDArray[np.intp]:
    """Edges of as few panels as fit in ``room``, each."""
    if room < bytes_per_pair * n:
        least = bytes_per_pair * n + budget - room
        raise MemoryError(
            f"memory_budget={format_bytes(budget)} is too small for {n} points: it takes {format_bytes(least)} at least."
        )
    edges = [0]
    while edges[-1] < n:
        rows = int(room / bytes_per_pair / (n - edges[-1]))
        edges.append(min(n, edges[-1] + rows))
    return np.array(edges)


def memmap_backend(
    data: MemmapDissimilarities, budget: float, n_jobs: int | None = None, verbose: bool | int | str = "auto"
) -> PanelBackend:
    """Backend of checked dissimilarities that are read within a budget of bytes at every pass."""
    panels = MemmapPanels(data, budget, n_jobs, verbose)
    return PanelBackend(
        panels, data.provenance.having(kind="matrix", backend="memmap", n_panels=len(panels.edges) - 1)
    )


# Which data are solved where: in memory, panel by panel from a file, or on the workers of a Dask cluster.

SHARE_OF_FREE = 0.8  # of the free memory, where the user sets no budget


def opened(values: Any, name: str) -> Any:
    """Memory map of the matrix in a ``.npy`` file if ``values``, the argument ``name``, is a path; else as it is."""
    if not isinstance(values, str | os.PathLike):
        return values
    path = Path(values)
    if path.suffix != ".npy":
        raise InputError(
            f"{os.fspath(path)!r} is not the path of a .npy file. Write one with numpy.save, or read the file first; "
            "finsler.embed_matrix takes the path of a CSV file.",
            argument=name,
        )
    return read_npy(path, mapped=True, kinds="biuf")


def is_dask_array(values: Any) -> bool:
    """Whether this is a Dask array, without importing Dask."""
    return type(values).__module__.startswith("dask.array")


def choose_backend(
    X: Any,
    weights: Any,
    missing: str,
    memory_budget: float | str | None,
    n_jobs: int | None,
    verbose: bool | int | str,
) -> Backend | None:
    """Backend of a Dask array, or of a matrix whose working copies exceed the budget; None to solve in memory."""
    budget = None if memory_budget is None else parse_bytes(memory_budget, "memory_budget")
    if is_dask_array(X):
        from finsler.solvers.backends.dask import dask_backend

        return dask_backend(X, weights, missing=missing, name="X")
    if is_dask_array(weights):
        raise InputTypeError("weights are a Dask array and X is not. Make both Dask arrays, or neither.")
    numbers = [isinstance(a, np.ndarray) and a.dtype.kind in "biuf" for a in (X, weights) if a is not None]
    if not numbers or not all(numbers) or X is None or X.ndim != 2:
        return None
    itemsize = 4 if X.dtype.kind == "f" and X.dtype.itemsize <= 4 else 8
    needed = working_bytes(X.shape[0], itemsize, weights is not None or missing != "raise")
    if budget is None and needed > NEGLIGIBLE:
        free = available_memory()
        budget = np.inf if free is None else SHARE_OF_FREE * free
    if budget is None or needed <= budget:
        return None
    data = as_memmap_dissimilarities(X, weights, missing=missing, name="X", verbose=verbose)
    return memmap_backend(data, budget, n_jobs, verbose)
