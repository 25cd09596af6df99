"""Arcs between cells: from velocities, transition probabilities or cosines, as AnnData objects and their files hold them.

Cells are joined to cells near them. A step from one to the other has a length, along the principal components, and takes
the time of a boat in a current, so that going where cells go is cheap:

* velocities along the components (``obsm``) are the current itself, in units of a boat that is faster than all of them;
* the cosines of scVelo's velocity graph (``uns``) say how far a step goes along the current, which has 60 % of the boat's
  speed everywhere;
* of a transition matrix (``obsp``), ``(p_ij - p_ji) / (p_ij + p_ji)``, the net share of what passes between two cells,
  takes the place of the cosine. Sharpness and scale of the matrix hardly matter then, and steps without a way back stay
  possible, which ``-log p`` as a length would not allow. A pair with a transition one way only counts as one-way, so the
  matrix must rest on neighbors that are joined both ways, as those of CellRank are.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, issparse

from finsler.data.attributes import as_column
from finsler.data.fields import as_points, randers_field
from finsler.data.located import FASTEST, located
from finsler.data.matrix import LARGEST, as_float_array
from finsler.data.provenance import count, listed
from finsler.errors import InputError, InputTypeError, check_count
from finsler.graphs.arcs import Arcs
from finsler.graphs.neighbors import neighborhood_graph, randers_edges

N_NEIGHBORS = 30
TRANSITIONS = "T_fwd"  # where CellRank keeps them
SLOTS = ("obsm", "obsp", "uns")

Array = NDArray[Any]


class Source(NamedTuple):
    """Where it is written which way cells go."""

    slot: str  #: "obsm" (velocities), "obsp" (transition probabilities) or "uns" (cosines).
    key: str

    def __str__(self) -> str:
        return f"{self.slot}[{self.key!r}]"


def cell_arcs(
    cells: Any,
    basis: str = "pca",
    vkey: str = "velocity",
    source: str = "auto",
    *,
    n_neighbors: int = N_NEIGHBORS,
    speed: float | str = "auto",
) -> Arcs:
    """Arcs between cells; `cells` has ``obs``, ``obs_names``, ``obsm``, ``obsp`` and ``uns``, as AnnData has them.

    The parameters are those of :func:`finsler.cells.find_map`. Cells without a position or velocity are left out.
    """
    absent = [name for name in ("obs", "obs_names", "obsm", "obsp", "uns") if not hasattr(cells, name)]
    if absent:
        raise InputTypeError(
            f"must be an AnnData object, got {type(cells).__name__} without {absent[0]}.", argument="adata"
        )
    taken, others = find_source(cells, basis, vkey, source)
    names = [str(name) for name in cells.obs_names]
    twice = [name for name, times in Counter(names).items() if times > 1]
    if twice:
        raise InputError(f"Several cells are called {twice[0]!r}; call adata.obs_names_make_unique() first.")
    X = _positions(cells, basis, len(names))
    good = np.atleast_1d(np.isfinite(X).all(axis=1))
    remarks = [_taken(taken, basis, others)]
    if taken.slot == "obsm":
        V = _vectors(cells, taken, X.shape)
        good &= np.isfinite(V).all(axis=1)
        kept = _kept(good)
        place = located(as_points(X[kept]), V[kept], speed=speed)
        if not np.abs(place.points).max() > 1 / LARGEST:
            raise InputError(
                f"{speed!r} leaves no distances between cells; give it in the units of the velocities.",
                argument="speed",
            )
        most = min(check_count("n_neighbors", n_neighbors), len(kept) - 1)
        near = neighborhood_graph(place.points, n_neighbors=most)
        edges = randers_edges(place.points, near, randers_field(place.points, current=place.vectors)).tocoo()
        remarks += [f"Each cell is joined to its {most} nearest along X_{basis}.", *place.remarks]
    else:
        if speed != "auto":
            raise InputError(
                f"goes with velocities in obsm; this map is made from {taken}.", argument="speed"
            )
        kept = _kept(good)
        along = _cosines(cells, taken) if taken.slot == "uns" else _net_shares(cells, taken)
        edges = times_of(as_points(X[kept]), along[kept][:, kept])
        remarks.append(f"The current has {100 * FASTEST:.0f} % of the speed of the boat.")
        if taken.slot == "obsp" and (one_way := int((along.data == 1).sum())):
            pairs = count(edges.nnz // 2, "pair")
            remarks.append(f"{one_way:,} of {pairs} have a transition one way only, and count as one-way.")
    lost = np.flatnonzero(~good).tolist()
    about = {str(name): as_column(list(column))[kept] for name, column in cells.obs.items()}
    return Arcs(
        edges.row, edges.col, edges.data, len(kept), [names[i] for i in kept], source="AnnData", about=about,
        left_out=tuple(names[i] for i in lost), remarks=tuple(remarks),
    )  # fmt: skip


def find_source(cells: Any, basis: str, vkey: str, source: str) -> tuple[Source, list[Source]]:
    """Where it is written which way cells go, and where else it is."""
    usual = [Source("obsm", f"{vkey}_{basis}"), Source("obsp", TRANSITIONS), Source("uns", f"{vkey}_graph")]
    there = [place for place in usual if place.key in getattr(cells, place.slot)]
    if source == "auto":
        if not there:
            raise InputError(
                f"adata has none of {', '.join(map(str, usual))} (basis and vkey make these names). Compute "
                "one: scv.tl.velocity_graph(adata), "
                f"scv.tl.velocity_embedding(adata, basis={basis!r}), or the transition matrix of a kernel of CellRank "
                "and its write_to_adata(); or name the key of another with source.",
                argument="adata",
            )
        return there[0], there[1:]
    named = [Source(slot, source) for slot in SLOTS if source in getattr(cells, slot)]
    if not named:
        held = [str(key) for slot in SLOTS for key in getattr(cells, slot)]
        raise InputError(
            f"{source!r} is no key of obsm, obsp or uns; there are {listed(held, 12)}.", argument="source"
        )
    return named[0], [place for place in there if place != named[0]]


def _taken(taken: Source, basis: str, others: list[Source]) -> str:
    what = {"obsm": f"the velocities {taken} along", "obsp": f"the transition probabilities {taken} and"}
    said = f"Which way cells go is told by {what.get(taken.slot, f'the cosines {taken} and')} the positions X_{basis}"
    there = ", ".join(map(str, others))
    return f"{said}; there {'are' if len(others) > 1 else 'is'} also {there}." if others else f"{said}."


def _positions(cells: Any, basis: str, n: int) -> Array:
    key = f"X_{basis}"
    if key not in cells.obsm:
        raise InputError(
            f"{basis!r}: there is no obsm[{key!r}]; obsm holds {listed(list(cells.obsm)) or 'nothing'}.",
            argument="basis",
        )
    X = as_float_array(np.asarray(cells.obsm[key]), f"obsm[{key!r}]")
    if X.ndim != 2 or len(X) != n or n < 2:
        raise InputError(
            f"obsm[{key!r}] must hold a row for each of at least two cells, got shape {X.shape}."
        )
    return X


def _vectors(cells: Any, taken: Source, shape: tuple[int, ...]) -> Array:
    V = as_float_array(np.asarray(cells.obsm[taken.key]), str(taken))
    if V.shape != shape:
        raise InputError(
            f"{taken} has shape {V.shape}, the positions have {shape}: name the basis of the velocities.",
            argument="basis",
        )
    return V


def _kept(good: Array) -> Array:
    if good.sum() < 2:
        raise InputError("Fewer than two cells have a position and a velocity.", argument="adata")
    return np.flatnonzero(good)


def _matrix(cells: Any, place: Source) -> csr_array:
    """A square matrix about pairs of cells."""
    values, n = getattr(cells, place.slot)[place.key], len(cells.obs_names)
    if not issparse(values):
        values = np.asarray(values)
    if values.ndim != 2 or values.shape != (n, n) or values.dtype.kind not in "biuf":
        raise InputError(
            f"{place} has shape {values.shape} and type {values.dtype}, for {count(n, 'cell')}. If cells were taken out "
            "since, compute it again."
        )
    matrix = csr_array(values, dtype=float)
    if not np.isfinite(matrix.data).all():
        raise InputError(f"{place} holds NaN or infinity.")
    return matrix


def _cosines(cells: Any, taken: Source) -> csr_array:
    """Cosines of steps with the velocity at their start; scVelo keeps those below zero in a matrix of their own."""
    cosines = _matrix(cells, taken)
    negative = Source(taken.slot, f"{taken.key}_neg")
    if negative.key in cells.uns:
        cosines = csr_array(cosines + _matrix(cells, negative))
    if abs(cosines).max() > 1 + 1e-6:
        raise InputError(f"{taken} must hold cosines, from -1 to 1; the largest is {abs(cosines).max():.4g}.")
    return cosines


def _net_shares(cells: Any, taken: Source) -> csr_array:
    """Net share of what passes between two cells, from -1 to 1, for each pair with a transition either way."""
    P = _matrix(cells, taken)
    if P.nnz and P.data.min() < 0:
        raise InputError(f"{taken} must hold probabilities; the least is {P.data.min():.4g}.")
    P.eliminate_zeros()
    stored, n = P.tocoo(), P.shape[0]
    i, j = stored.row.astype(np.int64), stored.col.astype(np.int64)
    i, j = np.divmod(np.unique(np.concatenate([i * n + j, j * n + i])), n)
    there, back = _entries(P, i, j), _entries(P, j, i)
    return csr_array(coo_array(((there - back) / (there + back), (i, j)), shape=P.shape))


def _entries(matrix: csr_array, i: Array, j: Array) -> Array:
    """Entries of a sparse matrix, 0 where there is none."""
    keys = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) * matrix.shape[1] + matrix.indices
    order = np.argsort(keys, kind="stable")
    asked = i * matrix.shape[1] + j
    at = np.minimum(np.searchsorted(keys, asked, sorter=order), max(len(keys) - 1, 0))
    found = order[at] if len(keys) else at
    return np.where(keys[found] == asked, matrix.data[found], 0.0) if len(keys) else np.zeros(len(asked))


def times_of(X: Array, along: csr_array) -> coo_array:
    """Time of a step both ways between each pair of cells that has a stored entry either way.

    ``along[i, j]`` says how far a step from i to j goes along the current at i. As elsewhere a step is measured by both of
    its ends: the current at j says of the same step ``-along[j, i]``. Where one of them says nothing, the other counts.
    """
    n = len(X)
    known = csr_array((np.ones(along.nnz), along.indices, along.indptr), shape=along.shape)
    either = csr_array(known + known.T).tocoo()
    i, j = (ends.astype(np.int64)[either.row != either.col] for ends in (either.row, either.col))
    length = np.linalg.norm(X[j] - X[i], axis=1)
    there, back = _entries(known, i, j) > 0, _entries(known, j, i) > 0
    by_start = boat_time(length, _entries(along, i, j))
    by_end = boat_time(length, -_entries(along, j, i))
    times = np.where(there & back, (by_start + by_end) / 2, np.where(there, by_start, by_end))
    return coo_array((times, (i, j)), shape=(n, n))


def boat_time(length: Array, cosine: Array, current: float = FASTEST) -> Array:
    """Time that a boat of speed 1 takes for a step, in a current whose direction has some cosine with the step.

    It is the t with ``||u - c t|| = t`` for the step u and the current c.

    Examples
    --------
    >>> boat_time(np.array([3.0, 3.0]), np.array([1.0, -1.0]), current=0.5)
    array([2., 6.])
    """
    with_it = current * cosine
    return length * (np.sqrt(with_it**2 + 1 - current**2) - with_it) / (1 - current**2)
