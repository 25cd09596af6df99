"""Points on a manifold, with a Randers metric at each, to the lengths of shortest paths between them.

The way of Isomap, for ways that cost more in one direction: join each point to its neighbors, measure each edge both
ways with the metric there, and add lengths along the shortest directed paths.

A field of metrics is given in one of three ways.

* A **drift** w makes going along it costly: a step u costs ``||u|| + w.u``. Needs ``||w|| < 1``.
* A **current** v makes going along it cheap: a step u takes the time of a boat of speed 1 in it, which is
  again a Randers metric (:func:`~finsler.geometry.randers.zermelo_metric`). Needs ``||v|| < 1``.
* A **metric** ``(M, omega)``: a step costs ``sqrt(u' M u) + omega.u``.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from finsler._arguments import check_arguments
from finsler.data.fields import RandersField, as_points, randers_field
from finsler.data.frames import labeled
from finsler.data.labels import point_labels
from finsler.data.matrix import Array, Dissimilarities, as_dissimilarities
from finsler.data.provenance import Provenance
from finsler.errors import InputError, InputTypeError, check_choice, check_count
from finsler.geometry.components import graph_components, largest_component
from finsler.graphs.lattices import Detour, PointLattice, find_lattice, lattice_edges
from finsler.graphs.paths import shortest_paths

N_NEIGHBORS = 10  # that n_neighbors="auto" takes away from lattices
BLOCK = 1 << 20  # numbers in a block of metrics, when edges are measured


def neighborhood_graph(
    points: ArrayLike, *, n_neighbors: int | str = "auto", radius: float | None = None, graph: Any = None
) -> csr_array:
    """Join each point to its neighbors; an edge goes both ways if either end is a neighbor of the other.

    Parameters
    ----------
    points : array-like of shape (n, d)
    n_neighbors : int or "auto", default="auto"
        Nearest points that count as neighbors, the point itself not among them. "auto" is 10, unless the points lie on a
        lattice, in the plane or of longitudes and latitudes on a sphere about the origin: then those in 40 directions (in a
        strong current up to 128), as far as no gap lies between, if that joins all of them (`finsler.graphs.lattices`).
        Without effect with `radius` or `graph`.
    radius : float, optional
        Take all points within this distance in place of the nearest ones.
    graph : sparse matrix of shape (n, n), or transformer, optional
        Neighbors found elsewhere: each stored entry (zero too, but not a stored False) joins its row and its column.
        Or what finds them: any transformer with ``fit_transform(points)`` that gives such a matrix, such as
        :class:`sklearn.neighbors.KNeighborsTransformer`. Only who is joined matters, lengths are measured anew.

    Returns
    -------
    scipy.sparse.csr_array of shape (n, n)
        Euclidean lengths, symmetric. Points that coincide are joined by a stored zero; no point is joined to itself.

    Examples
    --------
    >>> neighborhood_graph([[0.0], [1.0], [3.0], [3.0]], n_neighbors=1).toarray()
    array([[0., 1., 0., 0.],
           [1., 0., 0., 0.],
           [0., 0., 0., 0.],
           [0., 0., 0., 0.]])
    >>> neighborhood_graph([[0.0], [1.0], [3.0], [3.0]], n_neighbors=1).nnz
    4
    """
    check_arguments(neighborhood_graph, locals(), besides=("points",))
    X = as_points(points)
    n = len(X)
    if (found := _lattice(X, n_neighbors, radius, graph)) is not None:
        return found[1]
    if graph is None:
        rows, columns = _search(X, None, n_neighbors, radius)
    elif radius is not None:
        raise InputError("Give radius or graph, not both.")
    else:
        entries = clone(graph, safe=False).fit_transform(X) if hasattr(graph, "fit_transform") else graph
        rows, columns = _stored(entries, (n, n))
    rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
    pairs = np.unique(rows.astype(np.int64)[rows != columns] * n + columns[rows != columns])
    rows, columns = np.divmod(pairs, n)
    lengths = _measure(X, X, rows, columns, [(RandersField(), rows)])
    ends = np.concatenate([rows, columns]), np.concatenate([columns, rows])
    return csr_array((np.concatenate([lengths, lengths]), ends), shape=(n, n))


def _lattice(
    X: Array, n_neighbors: int | str, radius: Any, graph: Any
) -> tuple[PointLattice, csr_array] | None:
    """Lattice on which the points lie, and their Euclidean edges, if neighbors are left open and these join all points."""
    if n_neighbors != "auto" or radius is not None or graph is not None:
        return None
    found = find_lattice(X)
    if found is None:
        return None
    edges = found.in_order_of_points(lattice_edges(found.lattice, RandersField()))
    return None if graph_components(edges).any() else (found, edges)


def randers_edges(X: Array, neighbors: csr_array, field: RandersField, rule: str = "average") -> csr_array:
    """Directed lengths of the edges of a neighborhood graph, its stored entries, under a field at its points."""
    rows, columns = _stored(neighbors, (len(X), len(X)))
    lengths = _measure(X, X, rows, columns, _by_rule(rule, (field, rows), (field, columns)))
    return csr_array((lengths, (rows, columns)), shape=(len(X), len(X)))


class JoinedPoints(NamedTuple):
    """Points joined to their neighbors, and what :class:`~finsler.estimators.isomap.FinslerIsomap` keeps beside them."""

    edges: csr_array  # directed lengths among the points kept
    field: RandersField  # at the points kept
    kept: NDArray[np.intp]
    left_out: NDArray[np.intp]
    warning: str  # about the points left out, "" if there are none
    detour: Detour  # how much too long ways on a lattice are; zeros elsewhere, where it is not known

    def labels_of(self, labels: list[Any] | None) -> list[Any] | None:
        """Labels of the points kept; their row numbers if there are none and points were left out."""
        if not len(self.left_out):
            return labels
        return self.kept.tolist() if labels is None else [labels[i] for i in self.kept.tolist()]

    def provenance(self, labels: list[Any] | None) -> Provenance:
        """Facts about the points, of which `labels` are all labels."""
        names: Any = range(len(self.kept) + len(self.left_out)) if labels is None else labels
        left_out = tuple(names[i] for i in self.left_out.tolist())
        median, most = self.detour
        return Provenance(kind="points", left_out=left_out, detour=median, most_detour=most)

    def dissimilarities(
        self,
        labels: list[Any] | None,
        weights: ArrayLike | None = None,
        missing: str = "raise",
        **options: Any,
    ) -> Dissimilarities:
        """Lengths of all shortest paths; options are those of `shortest_paths`."""
        if weights is not None:
            weights = np.asarray(weights)[np.ix_(self.kept, self.kept)]
        D = shortest_paths(self.edges, **options)
        data = as_dissimilarities(
            D, weights, labels=self.labels_of(labels), missing=missing, name="distances"
        )
        own, found = self.provenance(labels), data.provenance
        facts = own.having(
            n_missing=found.n_missing,
            n_unreachable=found.n_unreachable,
            policy=found.policy,
            shift=found.shift,
        )
        return replace(data, provenance=facts)


def join_points(
    points: Array, field: RandersField, *, n_neighbors: int | str, radius: float | None, graph: Any, rule: str,
    unreachable: str,
) -> JoinedPoints:  # fmt: skip
    """Join points to their neighbors and measure the edges; the parameters are those of :func:`geodesic_distances`."""
    check_choice("unreachable", unreachable, ("raise", "mask", "largest"))
    n, detour = len(points), Detour(0.0, 0.0)
    if (found := _lattice(points, n_neighbors, radius, graph)) is not None:
        on_lattice, neighbors = found
        ordered = on_lattice.field_of(field)
        lattice = on_lattice.lattice.suited(ordered)
        edges = on_lattice.in_order_of_points(lattice_edges(lattice, ordered, rule))
        detour = lattice.detour(ordered)
    else:
        nearest = min(N_NEIGHBORS, n - 1) if n_neighbors == "auto" else n_neighbors
        neighbors = neighborhood_graph(points, n_neighbors=nearest, radius=radius, graph=graph)
        edges = randers_edges(points, neighbors, field, rule)
    kept, warning = np.arange(n), ""
    piece = graph_components(neighbors)
    sizes = np.bincount(piece)
    if len(sizes) > 1 and unreachable != "mask":
        shown = ", ".join(map(str, np.sort(sizes)[::-1][:8].tolist())) + (", ..." if len(sizes) > 8 else "")
        broken = f"The neighborhood graph of the {n} points is in {len(sizes)} pieces (of {shown} points)"
        if unreachable == "raise":
            how = "the given graph" if graph is not None else f"n_neighbors={n_neighbors}"
            how = how if radius is None else f"radius={radius:g}"
            raise InputError(
                f"{broken}, which have no common frame. Join more neighbors (now: {how}) or set a larger radius, or keep "
                "the largest piece only with unreachable='largest'."
            )
        kept = largest_component(piece)
        edges, field = edges[kept][:, kept], field.take(kept)
        warning = f"{broken}: {n - len(kept)} points outside the largest are left out."
    left_out = np.setdiff1d(np.arange(n), kept)
    return JoinedPoints(edges, field, kept, left_out, warning, detour)


def geodesic_distances(
    points: ArrayLike,
    *,
    drift: Any = None,
    current: Any = None,
    metric: Any = None,
    zermelo: str = "exact",
    n_neighbors: int | str = "auto",
    radius: float | None = None,
    graph: Any = None,
    rule: str = "average",
    unreachable: str = "raise",
    dtype: DTypeLike | None = None,
    out: Any = None,
    n_jobs: int | None = None,
    verbose: bool | int | str = "auto",
) -> Dissimilarities:
    """Lengths of shortest paths between sampled points of a manifold with a field of Randers metrics.

    Parameters
    ----------
    points : array-like of shape (n, d) or DataFrame
        A DataFrame's index gives the labels.
    drift : array-like of shape (n, d) or (d,), or callable, optional
        A step u costs ``||u|| + drift.u``. One vector per point, one for all points, or a function that is given
        points, one per row, and gives their vectors. Without a field, lengths are Euclidean and the result is Isomap's.
    current : array-like of shape (n, d) or (d,), or callable, optional
        A step u takes the time that a boat of speed 1 needs in this current.
    metric : pair (M, omega) or callable that gives one, optional
        A step u costs ``sqrt(u' M u) + omega.u``: M of shape (n, d, d) or (d, d), a callable, or None for the identity;
        omega as `drift`, or None for zero.
    zermelo : {"exact", "first-order"}, default="exact"
        With `current`: travel times, or their approximation ``||u|| - current.u`` for weak currents (the paper's).
    n_neighbors, radius, graph
        Who is joined to whom, see :func:`neighborhood_graph`.
    rule : {"average", "start"}, default="average"
        Length of an edge: the mean of those by the metrics of both ends, or that by the metric of the start (the paper's).
        The edges of a lattice, which may pass other points, are averaged over these, too, by the trapezoidal rule.
    unreachable : {"raise", "mask", "largest"}, default="raise"
        What to do if the graph is in several pieces, which have no common frame: refuse; give pairs between pieces weight
        0, for a solver of each; or keep the largest piece, with a warning that says how many points were left out.
    dtype : {float64, float32}, optional
        Type of the matrix.
    out : array or path of a ``.npy`` file, optional
        Where to put the matrix, see :func:`~finsler.graphs.paths.shortest_paths`.
    n_jobs, verbose
        Threads (the result does not depend on them), and the progress line.

    Returns
    -------
    Dissimilarities
        From row to column. If points were left out, its ``provenance`` names them, and its labels are those of the others:
        their row numbers, if `points` has no labels.

    Notes
    -----
    Why the average: with the drift ``grad phi`` straight lines are shortest and distances known. On 1000 points in a
    square, 15 neighbors, in a bowl, a dome and a wave phi, the average adds a relative error of 0.000 to 0.006 (root mean
    square) to that of paths over edges of the true length, the start 0.036 to 0.050. In a constant field both agree; with
    the average, the opposite drift gives the transposed distances.

    Examples
    --------
    A lane of length 3 in a wind of half the boat's speed: 2 units of time down the wind, 6 against it.

    >>> data = geodesic_distances([[0.0], [1.0], [2.0], [3.0]], current=[0.5], n_neighbors=1)
    >>> data.matrix[[0, 3], [3, 0]].round(12)
    array([2., 6.])
    """
    check_arguments(geodesic_distances, locals(), besides=("points",))
    points = labeled(points)
    X = as_points(points)
    field = randers_field(points, drift=drift, current=current, metric=metric, zermelo=zermelo)
    found = join_points(
        X, field, n_neighbors=n_neighbors, radius=radius, graph=graph, rule=rule, unreachable=unreachable
    )
    if found.warning:
        warnings.warn(found.warning, UserWarning, stacklevel=2)
    return found.dissimilarities(
        point_labels(points), missing="mask" if unreachable == "mask" else "raise", dtype=dtype, out=out, n_jobs=n_jobs,
        verbose=verbose,
    )  # fmt: skip


def extend_geodesics(
    new_points: ArrayLike, points: Array, ahead: Array, back: Array, field: RandersField,
    new_field: RandersField | None = None,
    *, n_neighbors: int | str = "auto", radius: float | None = None, near: Any = None, rule: str = "average",
) -> tuple[Array, Array]:  # fmt: skip
    """Distances from new points to fitted ones, and back, over the fitted neighbors of the new points: each (k, h).

    `ahead` and `back`, (n, h), are those from the fitted `points` to h of them and back, and `field` is there. Without
    `new_field` a new point has the metric of the fitted point nearest to it. `near`, a sparse matrix (k, n), says who is
    joined to whom if that is known.
    """
    new = as_points(new_points, "X")
    shape = len(new), len(points)
    if near is not None:
        rows, columns = _stored(near, shape)
    else:
        nearest = N_NEIGHBORS if isinstance(n_neighbors, str) else n_neighbors
        rows, columns = _search(points, new, min(nearest, len(points)), radius)
    count = np.bincount(rows, minlength=len(new))
    if not count.all():
        raise InputError(
            f"Point {int(np.argmin(count))} of X has no fitted point near it ({np.count_nonzero(count == 0)} of "
            f"{len(new)} points have none), so it cannot be joined. Fit with a larger radius or more neighbors."
        )
    order = np.lexsort([_measure(new, points, rows, columns, [(RandersField(), rows)]), rows])
    rows, columns = rows[order], columns[order]
    last = np.cumsum(count)
    if new_field is None:
        new_field = field.take(columns[last - count])
    leaving = _measure(new, points, rows, columns, _by_rule(rule, (new_field, rows), (field, columns)))
    coming = _measure(points, new, columns, rows, _by_rule(rule, (field, columns), (new_field, rows)))
    to_fitted, from_fitted = (np.empty((len(new), ahead.shape[1])) for _ in range(2))
    for i, edges in enumerate(map(slice, last - count, last)):
        stops = columns[edges]
        to_fitted[i] = (leaving[edges, None] + ahead[stops]).min(axis=0)
        from_fitted[i] = (back[stops] + coming[edges, None]).min(axis=0)
    return to_fitted, from_fitted


Place = tuple[RandersField, NDArray[Any]]  # a field, and at which of its points to take it for each edge


def _by_rule(rule: str, start: Place, end: Place) -> list[Place]:
    check_choice("rule", rule, ("average", "start"))
    return [start, end] if rule == "average" else [start]


def _measure(
    start: Array, end: Array, rows: NDArray[Any], columns: NDArray[Any], places: list[Place]
) -> Array:
    """Mean over the places of the lengths of the steps from ``start[rows]`` to ``end[columns]``."""
    lengths = np.zeros(len(rows))
    d = start.shape[1]
    size = max(1, BLOCK // (d if all(field.M is None for field, _ in places) else d * d))
    for first in range(0, len(rows), size):
        block = slice(first, first + size)
        steps = end[columns[block]] - start[rows[block]]
        for field, at in places:
            lengths[block] += field.lengths(at[block], steps) / len(places)
    return np.maximum(lengths, 0.0)  # with a drift of norm nearly 1, rounding may go below zero


def _search(
    X: Array, new: Array | None, n_neighbors: int | str, radius: float | None
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows of ``new`` and the rows of X near them; without ``new``, of X and the others near them."""
    if radius is not None:
        if not radius > 0:
            raise InputError(f"radius must be positive, got {radius!r}.", argument="radius")
        near = NearestNeighbors(radius=radius).fit(X).radius_neighbors(new, return_distance=False)
        count = np.array([len(row) for row in near], dtype=np.intp)
        columns = np.concatenate([*near, np.empty(0, np.intp)]).astype(np.intp)
        return np.repeat(np.arange(len(near)), count), columns
    if n_neighbors == "auto":
        n_neighbors = min(N_NEIGHBORS, len(X) - 1)
    n_neighbors = check_count("n_neighbors", n_neighbors)
    if new is None and n_neighbors >= len(X):
        raise InputError(
            f"n_neighbors={n_neighbors} needs more points than that: n_samples = {len(X)}. Use at most {len(X) - 1}.",
            argument="n_neighbors",
        )
    near = NearestNeighbors(n_neighbors=n_neighbors).fit(X).kneighbors(new, return_distance=False)
    return np.repeat(np.arange(len(near)), n_neighbors), near.ravel()


def _stored(graph: Any, shape: tuple[int, int]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Rows and columns of the stored entries of a sparse matrix; a stored zero counts, a stored False does not."""
    entries: Any = graph
    if not issparse(entries):
        raise InputTypeError(
            f"The graph must be a scipy sparse matrix, or come as one from a transformer; found {type(graph).__name__}."
        )
    if graph.shape != shape:
        raise InputError(f"The graph must have shape {shape}, as the points have it; got {graph.shape}.")
    entries = graph.tocoo()
    counts = entries.data if entries.dtype == bool else slice(None)
    return entries.row[counts].astype(np.intp), entries.col[counts].astype(np.intp)
