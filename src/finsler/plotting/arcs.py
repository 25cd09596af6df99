"""Arcs of a graph as thin arrows between the points of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from finsler.data.labels import LabelIndex
from finsler.data.provenance import count
from finsler.errors import InputError, shown
from finsler.plotting.colors import CHEAP, COSTLY, QUIET
from finsler.plotting.swirl import way

if TYPE_CHECKING:
    from finsler.embedding import Embedding

MOST_ARCS = 3000  # arcs of a graph up to which they are drawn unless asked for


class Arcs(NamedTuple):
    """Arcs between points of a map, and what to say of those that are not drawn."""

    pairs: NDArray[np.intp]  #: Numbers of the points where each begins and ends.
    remark: str = ""


def arcs_of(embedding: Embedding, arcs: Any) -> Arcs:
    """Arcs that a picture is asked for: those given, or those of the graph behind the map.

    "auto" draws these if there are few. Neighborhoods of points in a field are no arcs of the user's, and are drawn only if
    asked for.
    """
    none = Arcs(np.empty((0, 2), dtype=np.intp))
    automatic = isinstance(arcs, str) and arcs == "auto"
    network = embedding.network
    if arcs is None or (isinstance(arcs, bool | np.bool_) and not arcs):
        return none
    if not automatic and not isinstance(arcs, bool | np.bool_):
        pairs, outside = _arc_ends(embedding, arcs)
        return Arcs(pairs, _not_on_map(outside))
    if network is None or (automatic and embedding.provenance.kind in ("points", "field")):
        if automatic:
            return none
        raise InputError("=True draws those of the graph behind the map, and there is none.", argument="arcs")
    if automatic and network.graph.n_arcs > MOST_ARCS:
        return none._replace(remark=f"{network.graph.n_arcs:,} arcs are not drawn; ask for arcs to see them.")
    stored = network.graph.matrix.tocoo()
    point = np.full(network.graph.n_nodes, -1, dtype=np.intp)
    point[network.nodes] = np.arange(len(network.nodes))
    pairs = np.column_stack([point[stored.row], point[stored.col]])
    on_map = (pairs >= 0).all(axis=1)
    return Arcs(pairs[on_map], _not_on_map(int((~on_map).sum())))


def _not_on_map(n: int) -> str:
    if not n:
        return ""
    verb, begin = ("is", "it begins or ends") if n == 1 else ("are", "they begin or end")
    return f"{count(n, 'arc')} {verb} not drawn: {begin} at points that are not on the map."


def _arc_ends(embedding: Embedding, arcs: Any) -> tuple[NDArray[np.intp], int]:
    """Numbers of the points where arcs begin and end, and how many arcs do so off the map."""
    n = embedding.n_points
    if issparse(arcs):
        sparse: Any = arcs
        if sparse.shape != (n, n):
            raise InputError(
                f"arcs has shape {sparse.shape}; a sparse array needs ({n}, {n}) for {n} points."
            )
        stored = sparse.tocoo()
        return np.column_stack([stored.row, stored.col]).astype(np.intp), 0
    if isinstance(arcs, list | tuple | np.ndarray):
        members = list(arcs) if isinstance(arcs, list | tuple) or arcs.ndim else [arcs]
        rows = [
            tuple(arc) if isinstance(arc, list | tuple) or bool(getattr(arc, "ndim", None)) else (arc,)
            for arc in members
        ]
        wrong = next((k for k, row in enumerate(rows) if len(row) not in (2, 3)), None)
        if wrong is not None:
            raise InputError(
                f"arcs must be pairs (from, to) of points; arcs[{wrong}] is {shown(members[wrong])}."
            )
        found = [(embedding.index(a), embedding.index(b)) for a, b, *_ in rows]
        return np.array(found, dtype=np.intp).reshape(-1, 2), 0
    from finsler.graphs.digraph import as_digraph

    graph, points = as_digraph(arcs, weight=None), LabelIndex(embedding.labels, n)
    numbers = np.array([-1 if (i := points.find(node)) is None else i for node in graph.nodes])
    stored = graph.matrix.tocoo()
    ends = np.column_stack([numbers[stored.row], numbers[stored.col]]).astype(np.intp)
    on_map = (ends >= 0).all(axis=1)
    if len(ends) and not on_map.any():
        raise InputError(
            f"arcs has nodes such as {graph.nodes[0]!r}, and none of its {len(ends)} arcs joins two labels of the map. "
            "Give the map the graph's labels, or arcs as pairs of numbers."
        )
    return ends[on_map], int((~on_map).sum())


def draw_arcs(
    ax: Any, places: NDArray[Any], pairs: NDArray[np.intp], size: float, *, flat: bool, bend: float | None
) -> None:
    """Thin arrows from point to point; with `bend`, the kappa of a plane whose cheapest ways are arcs, along these."""
    pairs = pairs[(places[pairs[:, 0]] != places[pairs[:, 1]]).any(axis=1)]
    start, end = places[pairs[:, 0]], places[pairs[:, 1]]
    fade = float(np.clip(8 / np.sqrt(max(len(pairs), 1)), 0.15, 0.7))
    if places.shape[1] == 3:
        style = {"color": "#444444", "alpha": fade, "lw": 0.9, "arrow_length_ratio": 0.06}
        ax.quiver(*start.T, *(end - start).T, gid="arcs", **style)
    elif flat:
        from matplotlib.patches import FancyArrowPatch

        # Beside the line of points, wide for long ways; those that go up on the outside of those that come down.
        for (_, low), (_, high) in zip(start, end, strict=True):
            color = COSTLY if high > low else CHEAP
            arrow = FancyArrowPatch(
                (0, low), (0, high), arrowstyle="-|>", mutation_scale=6, lw=0.7, color=color, alpha=fade, zorder=2,
                shrinkA=2, shrinkB=2, connectionstyle=f"arc3,rad={-0.5 if high > low else 0.35}", gid="arcs",
            )  # fmt: skip
            ax.add_patch(arrow)
    elif bend is not None:
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        for one, other in zip(start, end, strict=True):
            arrow = FancyArrowPatch(
                path=Path(way(one, other, bend)), arrowstyle="-|>", mutation_scale=8, lw=1.0, color=QUIET, alpha=fade,
                zorder=2, gid="arcs",
            )  # fmt: skip
            ax.add_artist(arrow)
    else:
        step = end - start
        pixels = ax.transData.transform(end) - ax.transData.transform(start)
        length = np.maximum(np.linalg.norm(pixels, axis=1), 1e-9)
        gap = (np.sqrt(size) / 2 + 1) * ax.figure.dpi / 72  # the heads stop at the rim of the points
        step = step * np.maximum(1 - gap / length, 0.1)[:, None]
        ax.quiver(
            *start.T, *step.T, angles="xy", scale_units="xy", scale=1, units="inches", width=0.007, headwidth=7,
            headlength=9, headaxislength=8, color=QUIET, alpha=fade, zorder=2, gid="arcs",
        )  # fmt: skip
