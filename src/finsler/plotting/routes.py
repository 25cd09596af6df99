"""Pictures of routes: the way there and the way back, over a field, where places really are, and beside the map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments
from finsler.data.labels import LabelIndex
from finsler.data.places import places
from finsler.errors import InputError, check_choice, printable
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY
from finsler.plotting.places import known_places, on_paper, plot_places, set_paper

if TYPE_CHECKING:
    from finsler.embedding import Embedding
    from finsler.graphs.routes import Route

ARROWS = 6  # heads on a way at most, at even lengths
APART = 45  # points at least between two heads


def plot_route(
    route: Route,
    points: ArrayLike | None = None,
    *,
    on: str = "auto",
    ax: Any = None,
    title: str | None = None,
) -> Any:
    """Draw the way there and the way back; the costlier one is red, the cheaper one blue.

    Parameters
    ----------
    route : Route
        Of :meth:`Embedding.route <finsler.Embedding.route>` or
        :meth:`Digraph.route <finsler.graphs.digraph.Digraph.route>`.
    points : array-like of shape (n, 2), optional
        Place of each node of its graph; by default `on` tells.
    on : {"auto", "places", "map", "both"}
        Where nodes are drawn: where they really are, by the attributes ``lon`` and ``lat``, or ``x`` and ``y``, of the
        graph, over the heights and the current if the map knows them; on the map; or on both, side by side. "auto" draws
        places if they are known, else the map.
    ax : matplotlib Axes, optional
        Where to draw, such as what :func:`~finsler.plotting.fields.plot_field` drew the current on; a new figure by
        default. Two of them for "both".
    title : str, optional
        Title of a new figure; by default both lengths.

    Returns
    -------
    matplotlib Axes
        An array of two for "both".

    Examples
    --------
    >>> from finsler.graphs import as_digraph
    >>> square = as_digraph([(0, 1), (1, 2), (2, 3), (3, 0)])
    >>> ax = plot_route(square.route(0, 2), [[0, 0], [0, 1], [1, 1], [1, 0]])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['0 → 2: 2', '2 → 0: 2']
    """
    check_arguments(plot_route, locals())
    check_choice("on", on, ("auto", "places", "map", "both"))
    headline = " · ".join(_names(route)) if title is None else printable(title)
    if points is not None:
        return _on_points(route, np.asarray(points, dtype=float), ax, headline)
    if on == "both":
        _known_map(route)
        known_places(route.graph.attributes)
        if route.embedding.n_components != 2:
            raise InputError(
                "= 'both' goes with maps of two dimensions; take 'places' or 'map'.", argument="on"
            )
        axes = _panels(route) if ax is None else canvas.panels_for(ax, 2, (16.4, 7.4))
        _on_places(route, axes[0], "Where the points are")
        _on_map(route, axes[1], "On the map: up costs more")
        if ax is None:
            axes[0].figure.suptitle(headline, fontsize=11)
        return axes
    if on == "auto":
        on = "places" if places(route.graph.attributes) is not None else "map"
    return (_on_places if on == "places" else _on_map)(route, ax, headline)


def _panels(route: Route) -> NDArray[Any]:
    """Two new Axes, side by side; or one above the other for what is far wider than high."""
    X = on_paper(known_places(route.graph.attributes))
    wide, high = np.nanmax(X, axis=0) - np.nanmin(X, axis=0)
    shape, size = ((2, 1), (11.4, 9.4)) if wide > 1.8 * high else ((1, 2), (16.4, 7.4))
    return canvas.pyplot().subplots(*shape, figsize=size, layout="constrained")[1]


def _on_points(route: Route, X: NDArray[Any], ax: Any, title: str) -> Any:
    n = route.graph.n_nodes
    if X.shape != (n, 2) or not np.isfinite(X[route.nodes]).all():
        raise InputError(
            f"must hold two finite numbers for each of the {n} nodes, got shape {X.shape}.", argument="points"
        )
    fresh, ax = ax is None, canvas.axes_for(ax, (8.4, 6.4))
    if fresh:
        ax.scatter(*X.T, s=3, color="#bbbbbb", zorder=1)
        canvas.equal_scale(ax)
        ax.set_title(title, fontsize=10)
    draw_ways(ax, route, X)
    return ax


def _known_map(route: Route) -> Embedding:
    if route.embedding is None:
        raise InputError(
            "plot_route needs to know where nodes are: give points, a graph with attributes lon and lat, or x and y, or "
            "ask the map for the route (embedding.route).",
            argument="points",
        )
    return route.embedding


def _on_map(route: Route, ax: Any, title: str) -> Any:
    """Draw both ways on the map; nodes that are not on it are passed by."""
    embedding = _known_map(route)
    from finsler.plotting.maps import places_on_map, plot_map

    ends = [label for label in (route.labels[0], route.labels[-1]) if _is_point(embedding, label)]
    named = False if embedding.n_components == 2 else ends  # draw_ways names the ends of a plane
    ax = plot_map(embedding, ax=ax, title=title, labels=named, arcs=False)
    X = np.full((route.graph.n_nodes, places_on_map(embedding).shape[1]), np.nan)
    X[_nodes(embedding)] = places_on_map(embedding)
    draw_ways(ax, route, X)
    return ax


def _nodes(embedding: Embedding) -> NDArray[np.intp]:
    """Node of each point; whoever was asked for a route has them."""
    assert embedding.network is not None
    return embedding.network.nodes


def _is_point(embedding: Embedding, label: Any) -> bool:
    return LabelIndex(embedding.labels, embedding.n_points).find(label) is not None


def _on_places(route: Route, ax: Any, title: str) -> Any:
    """Draw both ways where nodes are, over the heights if the map is known and its points are placed."""
    found = known_places(route.graph.attributes)
    X = on_paper(found)
    embedding = route.embedding
    if embedding is not None and places(embedding.attributes) is not None:
        ax = plot_places(embedding, ax=ax, title=title, labels=False, arcs=False)
        shift = on_paper(known_places(embedding.attributes))[:, 0] - X[_nodes(embedding), 0]
        if found.geographic:  # both may be cut at another meridian
            X[:, 0] += 360 * np.round(np.nanmedian(shift) / 360)
    else:
        known = X[found.known]
        ax = canvas.axes_for(ax, (8.4, 6.4))
        ax.scatter(*known.T, s=3, color="#bbbbbb", zorder=1)
        set_paper(ax, known, found)
        ax.set_title(title, fontsize=10)
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
        handles.append(_draw_way(ax, places, COSTLY if costly else CHEAP, thin=k == 1))
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
    return [f"{way.labels[0]} → {way.labels[-1]}: {way.length:.4g}{route.unit}" for way in route.ways]


def _draw_way(ax: Any, places: NDArray[Any], color: str, *, thin: bool) -> Any:
    """A line, and heads that say which way it runs. A thin one shows upon a thick one where both ways are the same."""
    from matplotlib import patheffects

    width = 1.6 if thin else 4.0
    rim = [patheffects.Stroke(linewidth=width + 1.6, foreground="white"), patheffects.Normal()]
    style = {"color": color, "lw": width, "zorder": 6, "solid_capstyle": "round"}
    style |= {} if thin else {"path_effects": rim}
    (line,) = ax.plot(*places.T, gid="back" if thin else "there", **style)
    if places.shape[1] == 2 and len(places) > 1:
        _draw_heads(ax, places, color)
    return line


def _draw_heads(ax: Any, places: NDArray[Any], color: str) -> None:
    """Arrow heads along a way, each in the direction of the way around it."""
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    far = np.concatenate([[0.0], np.cumsum(steps)])
    if far[-1] == 0:
        return
    pixels = np.linalg.norm(np.diff(ax.transData.transform(places), axis=0), axis=1).sum()
    heads = int(np.clip(pixels * 72 / ax.figure.dpi / APART, 1, ARROWS))
    at = far[-1] * (np.arange(heads) + 0.6) / heads
    reach = 0.02 * far[-1]
    ends = [
        np.column_stack([np.interp(at + shift, far, column) for column in places.T])
        for shift in (-reach, reach)
    ]
    for start, end in zip(*ends, strict=True):
        arrow = {"arrowstyle": "-|>", "color": color, "lw": 0, "mutation_scale": 24}
        ax.annotate("", end, start, arrowprops=arrow, zorder=7, gid="head")
