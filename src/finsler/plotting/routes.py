"""Pictures of routes: the way there and the way back, over a field, where places really are, and beside the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments
from finsler.errors import InputError, printable
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY

if TYPE_CHECKING:
    from finsler.graphs.routes import Route

ARROWS = 6  # heads on a way, at even lengths


def plot_route(
    route: Route, points: ArrayLike | None = None, *, ax: Any = None, title: str | None = None
) -> Any:
    """Draw the way there and the way back; the costlier one is red, the cheaper one blue.

    Parameters
    ----------
    route : Route
        Of :meth:`Digraph.route <finsler.graphs.digraph.Digraph.route>`.
    points : array-like of shape (n, 2)
        Place of each node of its graph.
    ax : matplotlib Axes, optional
        Where to draw, such as what :func:`~finsler.plotting.fields.plot_field` drew the current on; a new figure with all
        nodes by default.
    title : str, optional
        Title of a new figure; by default both lengths.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler.graphs import as_digraph
    >>> square = as_digraph([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> ax = plot_route(square.route(0, 2), [[0, 0], [0, 1], [1, 1], [1, 0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0 → 2: 2', '2 → 0: 2']
    """
    check_arguments(plot_route, locals())
    X = np.asarray(points, dtype=float)
    n = route.graph.n_nodes
    if X.shape != (n, 2) or not np.isfinite(X[route.nodes]).all():
        raise InputError(
            f"must hold two finite numbers for each of the {n} nodes, got shape {X.shape}.", argument="points"
        )
    fresh, ax = ax is None, canvas.axes_for(ax, (8.4, 6.4))
    if fresh:
        ax.scatter(*X.T, s=3, color="#bbbbbb", zorder=1)
        canvas.equal_scale(ax)
        ax.set_title(" · ".join(_names(route)) if title is None else printable(title), fontsize=10)
    draw_ways(ax, route, X)
    return ax


def draw_ways(ax: Any, route: Route, X: NDArray[Any]) -> None:
    """Draw both ways over a picture in which node i is at ``X[i]``, NaN if it is not there; with their legend."""
    handles = []
    ways = route.ways
    longest = max(way.length for way in ways)
    for k, way in enumerate(ways):
        costly = way.length == longest and (k == 0 or route.length < longest)
        places = X[way.nodes]
        places = places[np.isfinite(places).all(axis=1)]
        handles.append(_draw_way(ax, places, COSTLY if costly else CHEAP, dashed=k == 1))
    for name, node in zip(("first", "last"), (route.nodes[0], route.nodes[-1]), strict=True):
        if np.isfinite(X[node]).all():
            ax.scatter(*X[node][:, None], s=42, color="black", edgecolors="white", zorder=8, gid=name)
            label = route.labels[0 if name == "first" else -1]
            if X.shape[1] == 2:
                ax.annotate(
                    canvas.short(label), X[node], (5, 5), textcoords="offset points", fontsize=9, weight="bold", zorder=9,
                    parse_math=False, bbox={"fc": "#ffffffb0", "ec": "none", "pad": 0.6},
                )  # fmt: skip
    canvas.named_legend(ax, handles, _names(route), loc="best")


def _names(route: Route) -> list[str]:
    return [f"{way.labels[0]} → {way.labels[-1]}: {way.length:.4g}" for way in route.ways]


def _draw_way(ax: Any, places: NDArray[Any], color: str, *, dashed: bool) -> Any:
    """A line with a light rim, so that it shows on any ground, and heads that say which way it runs."""
    from matplotlib import patheffects

    rim = [patheffects.Stroke(linewidth=4.2, foreground="white"), patheffects.Normal()]
    style = {"color": color, "lw": 2.2, "zorder": 6, "solid_capstyle": "round"}
    (line,) = ax.plot(*places.T, path_effects=rim, gid="back" if dashed else "there", **style)
    if places.shape[1] == 2 and len(places) > 1:
        _draw_heads(ax, places, color)
    return line


def _draw_heads(ax: Any, places: NDArray[Any], color: str) -> None:
    """Arrow heads along a way, each in the direction of the way around it."""
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    far = np.concatenate([[0.0], np.cumsum(steps)])
    if far[-1] == 0:
        return
    at = far[-1] * (np.arange(ARROWS) + 0.6) / ARROWS
    reach = 0.02 * far[-1]
    ends = [
        np.column_stack([np.interp(at + shift, far, column) for column in places.T])
        for shift in (-reach, reach)
    ]
    for start, end in zip(*ends, strict=True):
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 0, "mutation_scale": 24}
        ax.annotate("", end, start, arrowprops=arrow, zorder=7, gid="head")
