"""Routes: the fastest way from one node of a digraph to another, and the way back."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments
from finsler.data.frames import made_frame
from finsler.data.provenance import count
from finsler.errors import InputError, one_line
from finsler.graphs.digraph import ArcArrays, Digraph
from finsler.graphs.paths import shortest_paths

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMED = 12  # nodes that a summary names, half of them from each end


@dataclass(frozen=True, eq=False, repr=False)
class Route:
    """The fastest way from one node to another, and the way back.

    Attributes
    ----------
    nodes : ndarray of shape (k,)
        Positions in `graph` of the nodes on the way, both ends included.
    along : ndarray of shape (k,)
        Length of the way up to each of them: 0 first, the whole `length` last.
    graph : Digraph
        Where the way leads.
    back : Route or None
        The way back; None if there is none, and on the way back itself.
    embedding : Embedding or None
        The map that it was asked from.

    Examples
    --------
    >>> from finsler.graphs import as_digraph
    >>> lanes = as_digraph([("dam", "mill", 1.0), ("mill", "port", 1.0), ("port", "bank", 1.5), ("bank", "dam", 1.5)])
    >>> route = lanes.route("dam", "port")
    >>> route.labels, route.length
    (['dam', 'mill', 'port'], 2.0)
    >>> route.back.labels, route.back.length
    (['port', 'bank', 'dam'], 3.0)
    """

    nodes: NDArray[np.intp]
    along: NDArray[np.float64]
    graph: Digraph = field(repr=False)
    back: Route | None = None
    embedding: Any = None

    @property
    def labels(self) -> list[Any]:
        """Names of the nodes on the way."""
        names = self.graph.labels
        return self.nodes.tolist() if names is None else [names[i] for i in self.nodes]

    @property
    def length(self) -> float:
        """Length of the whole way."""
        return float(self.along[-1])

    @property
    def ways(self) -> list[Route]:
        """The way there, and the way back if there is one."""
        return [self] if self.back is None else [self, self.back]

    @property
    def unit(self) -> str:
        """What lengths are measured in, with a blank before it; empty if the map does not know."""
        return (
            f" {one_line(self.embedding.unit)}" if self.embedding is not None and self.embedding.unit else ""
        )

    def summary(self) -> str:
        """Describe both ways in a few lines: their ends, lengths and nodes, and what they have in common."""
        lines = [way._line(self.unit) for way in self.ways]
        first, last = self.labels[0], self.labels[-1]
        if len(self.nodes) == 1:
            return lines[0]
        if self.back is None:
            lines.append(f"No way leads back from {last!r} to {first!r}.")
        else:
            shared = len(np.intersect1d(self.nodes[1:-1], self.back.nodes[1:-1]))
            between = len(self.nodes) - 2
            said = _compared(self.length, self.back.length)
            lines.append(f"{said}; it passes {shared} of the {count(between, 'node')} between the ends.")
        return "\n".join(lines)

    def _line(self, unit: str) -> str:
        names = [one_line(str(label)) for label in self.labels]
        if len(names) > MOST_NAMED:
            half = MOST_NAMED // 2
            names = [*names[:half], f"... {len(names) - 2 * half} more ...", *names[-half:]]
        arcs = count(len(self.nodes) - 1, "arc")
        ends = f"{one_line(str(self.labels[0]))} -> {one_line(str(self.labels[-1]))}"
        return f"{ends}  {self.length:.6g}{unit}, {arcs}: {', '.join(names)}"

    def __repr__(self) -> str:
        back = "no way back" if self.back is None else f"{self.back.length:.4g} back"
        return f"Route({self.labels[0]!r} to {self.labels[-1]!r}: {self.length:.4g} there, {back})"

    def to_frame(self, backend: str = "pandas") -> Any:
        """Both ways as a data frame: ``way`` ("there", "back"), ``step``, ``node``, ``length`` so far, and their attributes.

        Parameters
        ----------
        backend : {"pandas", "polars", "pyarrow"}
            Package of the frame.
        """
        check_arguments(Route.to_frame, locals())
        return made_frame(self.columns(), backend, None)

    def columns(self) -> dict[str, list[Any]]:
        """Columns of :meth:`to_frame`, one row per node of each way."""
        names = ("there", "back")[: len(self.ways)]
        own: dict[str, list[Any]] = {
            "way": [name for name, way in zip(names, self.ways, strict=True) for _ in way.nodes],
            "step": [k for way in self.ways for k in range(len(way.nodes))],
            "node": [label for way in self.ways for label in way.labels],
            "length": [float(value) for way in self.ways for value in way.along],
        }
        return own | self._about()

    def _about(self) -> dict[str, list[Any]]:
        """What is known of the nodes; a column that is called like one of the route's gets a ``_given``."""
        columns: dict[str, list[Any]] = {}
        every = np.concatenate([way.nodes for way in self.ways])
        for name, values in self.graph.attributes.items():
            while name in ("way", "step", "node", "length", *columns):
                name += "_given"
            columns[name] = values[every].tolist()
        return columns

    def plot(
        self, points: ArrayLike | None = None, *, on: str = "auto", ax: Any = None, title: str | None = None
    ) -> Axes:
        """Draw both ways; see :func:`finsler.plotting.routes.plot_route`."""
        from finsler.plotting.routes import plot_route

        return plot_route(self, points, on=on, ax=ax, title=title)


def route(graph: Digraph, start: int, end: int, *, named: tuple[Any, Any]) -> Route:
    """Find the fastest way from one node to another and the way back, given by position; messages call them `named`."""
    a, b = named
    there, back = _way(graph, start, end), _way(graph, end, start)
    if there is None:
        also = "nor back" if back is None else f"only one back, of length {back.length:.6g}"
        raise InputError(f"No way leads from {a!r} to {b!r}, {also}.", argument="b")
    return replace(there, back=back)


def _way(graph: Digraph, start: int, end: int) -> Route | None:
    """Shortest way; among those of one length the one with the fewest arcs, and then with the first nodes.

    An arc from u to v is on a shortest way iff d(u) + length = d(v), to the last bit, as that is how d(v) was found.
    Arcs of length zero may be so both ways, hence arcs are counted among these: each step goes back by one.
    """
    if start == end:
        return Route(np.array([start], dtype=np.intp), np.zeros(1), graph)
    arcs = graph.arcs
    lengths = shortest_paths(arcs, [start], n_jobs=1, verbose=False)[0]
    if not np.isfinite(lengths[end]):
        return None
    n = graph.n_nodes
    leaves = np.repeat(np.arange(n), np.diff(arcs.indptr))
    used = (lengths[leaves] + arcs.lengths == lengths[arcs.indices]) & np.isfinite(lengths[leaves])
    pointer = np.concatenate([[0], np.cumsum(used)])[arcs.indptr]
    tight = ArcArrays(pointer, arcs.indices[used], arcs.lengths[used])
    steps = shortest_paths(tight, [start], method="bfs", n_jobs=1, verbose=False)[0]
    enters = tight.turned()
    nodes = [end]
    while nodes[-1] != start:
        v = nodes[-1]
        before = enters.indices[enters.indptr[v] : enters.indptr[v + 1]]
        nodes.append(int(before[steps[before] == steps[v] - 1].min()))
    way = np.array(nodes[::-1], dtype=np.intp)
    return Route(way, lengths[way], graph)


def _compared(there: float, back: float) -> str:
    """Length of the way back beside that of the way there, in words."""
    if there == back:
        return "The way back is as long"
    if not there or not back:
        return "The way back costs something" if back else "The way back is free"
    return f"The way back is {back / there:.3g} times as long"
