"""Pictures of the original points: the drift or the current at each, and the height that a map gave them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array

from finsler._arguments import check_arguments
from finsler.data.matrix import as_float_array
from finsler.data.provenance import count
from finsler.errors import InputError, check_count
from finsler.geometry.heights import local_extrema
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY, colormap

Array = NDArray[np.floating[Any]]

FIELDS = {
    "drift": ("strength of the drift", "Going with an arrow is costly, against it cheap."),
    "current": ("speed of the current", "Going with an arrow is cheap, against it costly; speed 1 would be the boat's own."),
}  # fmt: skip
STRENGTHS = "plasma_r"  # colors
FAR_EDGE = 3.0  # triangles with an edge longer than this many median edges are taken for holes


def plot_field(
    points: ArrayLike,
    *,
    drift: Any = None,
    current: Any = None,
    ax: Any = None,
    max_arrows: int = 400,
) -> Any:
    """Draw a drift or a current as arrows at points in the plane or in space.

    Parameters
    ----------
    points : array-like of shape (n, 2) or (n, 3)
        Where the field is known.
    drift, current : array-like of shape (n, d) or (d,), or callable
        One of them. Going along a drift is costly, going along a current is cheap. A function is given the points and
        gives their vectors. Points whose vector is not finite have no arrow.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. Points in space need ``projection="3d"``.
    max_arrows : int
        At most so many arrows are drawn, spread evenly over the points.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler.datasets import make_river
    >>> river = make_river(300)
    >>> ax = plot_field(river.points, current=river.current)
    >>> ax.get_title()
    'Current at 300 points'
    """
    check_arguments(plot_field, locals())
    X = _finite_points(points, (2, 3), "plot_field")
    what, V = _vectors(points, X, drift, current)
    check_count("max_arrows", max_arrows)
    known = np.flatnonzero(np.isfinite(V).all(axis=1))
    chosen, step = spread(X[known], max_arrows)
    chosen = known[chosen]
    solid = X.shape[1] == 3
    ax = canvas.axes_for(ax, _figure_size(X), solid=solid)
    arrows = _draw_arrows(ax, X, X[chosen], V[chosen], step)
    label, *remarks = FIELDS[what]
    ax.figure.colorbar(arrows, ax=ax, shrink=0.7, label=label, **({"pad": 0.1} if solid else {}))
    canvas.set_title(ax, f"{what.capitalize()} at {len(X):,} points")
    if len(chosen) < len(known):
        remarks.append(f"Arrows at {len(chosen)} of {len(known):,} points.")
    if len(known) < len(X):
        remarks.append(f"{len(X) - len(known)} points have no arrow: the {what} is not finite there.")
    canvas.note(ax, " ".join(remarks))
    canvas.draw_quietly(ax)  # the layout settles only once the limits are equal
    return ax


def _draw_arrows(ax: Any, X: Array, starts: Array, V: Array, step: float) -> Any:
    """Draw all points and arrows at some, the strongest as long as the step between them; return what has the colors."""
    strength = np.linalg.norm(V, axis=1)
    top = float(strength.max(initial=0.0))
    V = V * (step / top if top > 0 else 1.0)
    if X.shape[1] == 2:
        ax.scatter(*X.T, s=2, color="#cccccc", zorder=1)
        ax.set(xlabel="first coordinate", ylabel="second coordinate")
        canvas.equal_scale(ax)
        ax.margins(0.05)
        return ax.quiver(
            *starts.T, *(1.1 * V).T, strength, cmap=STRENGTHS, clim=(0, top or 1), angles="xy", scale_units="xy",
            scale=1, pivot="mid", units="xy", width=0.1 * step, minlength=0.1, zorder=2,
        )  # fmt: skip
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    scale = ScalarMappable(Normalize(0, top or 1), STRENGTHS)
    ax.scatter(*X.T, s=2, color="#cccccc", depthshade=False)
    # Each arrow of the 3-D quiver has a shaft and two lines for its head; arrows of length 0 have none.
    moving = strength > 0
    shafts = scale.to_rgba(strength[moving])
    colors = np.concatenate([shafts, np.repeat(shafts, 2, axis=0)])
    way = 1.32 * V[moving]
    ax.quiver(*(starts[moving] - way / 2).T, *way.T, colors=colors, lw=0.9, arrow_length_ratio=0.35)
    ax.set(xlabel="first coordinate", ylabel="second coordinate", zlabel="third coordinate")
    canvas.equal_box(ax, X)
    return scale


def plot_height(
    points: ArrayLike,
    height: ArrayLike,
    *,
    graph: Any = None,
    hops: int = 1,
    ax: Any = None,
) -> Any:
    """Draw the height that a map gave to points of the plane, with contour lines, sources and sinks.

    Between the points the height is interpolated over triangles; where these are long, as over a hole, it is not drawn.

    Parameters
    ----------
    points : array-like of shape (n, 2)
        The original points.
    height : array-like of shape (n,)
        Height of each, such as ``embedding.height``; points where it is NaN are left out.
    graph : scipy sparse array of shape (n, n), optional
        Neighborhoods in which a source is highest and a sink lowest; by default corners of a triangle are neighbors.
    hops : int
        Look this many steps around; more leave fewer, more prominent sources and sinks.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).uniform(size=(200, 2))
    >>> ax = plot_height(points, -((points - 0.5) ** 2).sum(axis=1), hops=3)
    >>> ax.get_title()
    'Height of 200 points: 1 source, 4 sinks'
    """
    check_arguments(plot_height, locals())
    X = _finite_points(points, (2,), "plot_height")
    values, n = np.array(height, dtype=float), len(X)
    if values.shape != (n,):
        raise InputError(f"height must hold one number per point, shape ({n},), got {values.shape}.")
    known = np.flatnonzero(np.isfinite(values))
    if not known.size:
        raise InputError("height holds no finite number.")
    canvas.pyplot()  # say how to get matplotlib before it is needed
    mesh = triangles(X[known])
    if graph is None:  # neighbors are the corners of a triangle
        ends = np.empty((2, 0), dtype=int) if mesh is None else known[mesh.edges.T]
        graph = coo_array((np.ones(ends.shape[1]), ends), shape=(n, n))
    values[~np.isfinite(values)] = np.nan
    extrema = local_extrema(values, graph, hops=hops)
    ax = canvas.axes_for(ax, _figure_size(X))
    dots = _draw_heights(ax, mesh, X[known], values[known])
    ax.figure.colorbar(dots, ax=ax, shrink=0.7, label="height on the map")
    style = {"s": 75, "edgecolors": "white", "linewidths": 0.9, "zorder": 3}
    kinds = (extrema.maxima, "^", COSTLY), (extrema.minima, "v", CHEAP)
    marks = [ax.scatter(*X[which].T, marker=marker, color=color, **style) for which, marker, color in kinds]
    canvas.named_legend(
        ax, marks, ["source (local maximum)", "sink (local minimum)"], loc="lower left", bbox_to_anchor=(0.0, 1.0),
        ncols=2, borderaxespad=0.0, frameon=False,
    )  # fmt: skip
    found = f"{count(len(extrema.maxima), 'source')}, {count(len(extrema.minima), 'sink')}"
    canvas.set_title(ax, f"Height of {len(known):,} points: {found}", pad=24)  # above the legend
    remarks = ["Downhill is cheap: currents run from sources to sinks."]
    if mesh is None:
        remarks.append("The points lie on a line, so there are no contours.")
    if len(known) < n:
        remarks.append(f"{n - len(known)} points without a height are left out.")
    canvas.note(ax, "\n".join(remarks))
    canvas.draw_quietly(ax)
    return ax


def _draw_heights(ax: Any, mesh: Any, X: Array, height: Array) -> Any:
    """Draw contours where there are triangles, and the points, which are returned."""
    scale = colormap()
    if mesh is not None and np.ptp(height) > 0:
        ax.tricontourf(mesh, height, levels=12, vmin=height.min(), vmax=height.max(), cmap=scale, zorder=0)
        ax.tricontour(mesh, height, levels=12, zorder=1, colors="white", linewidths=0.5, linestyles="solid")
    dots = ax.scatter(*X.T, c=height, cmap=scale, s=7, linewidths=0.2, edgecolors="white", zorder=2)
    ax.set(xlabel="first coordinate", ylabel="second coordinate")
    canvas.equal_scale(ax)
    ax.use_sticky_edges = False
    ax.margins(0.03)
    return dots


def _figure_size(X: Array) -> tuple[float, float]:
    """Width and height of a new figure, for points that may be spread more one way than the other."""
    if X.shape[1] == 3:
        return 8.4, 7.2
    wide, high = np.maximum(np.ptp(X, axis=0), 1e-300)
    scale = 6.4 / max(wide, high)
    return float(max(scale * wide, 3.0) + 2.0), float(max(scale * high, 1.8) + 1.2)


def _finite_points(points: ArrayLike, dimensions: tuple[int, ...], picture: str) -> Array:
    X = np.asarray(points, dtype=float)
    if X.ndim != 2 or X.shape[1] not in dimensions or not len(X):
        columns = " or ".join(map(str, dimensions))
        raise InputError(
            f"{picture} draws points with {columns} coordinates, one row each, got shape {X.shape}. Choose columns, or "
            "reduce the dimension first."
        )
    bad = ~np.isfinite(X).all(axis=1)
    if bad.any():
        raise InputError(f"points must be finite; row {np.argmax(bad)} is not ({bad.sum()} rows in all).")
    return X


def _vectors(points: Any, X: Array, drift: Any, current: Any) -> tuple[str, Array]:
    """Name of the field that is given, and its vector at each point."""
    if (drift is None) == (current is None):
        raise InputError("Give either drift, costly to follow, or current, cheap to follow.")
    what, given = ("drift", drift) if current is None else ("current", current)
    V = np.asarray(as_float_array(given(points) if callable(given) else given, what), dtype=float)
    if V.shape not in (X.shape, X.shape[1:]):
        raise InputError(f"{what} must hold one vector, or one per point, shape {X.shape}, got {V.shape}.")
    return what, np.broadcast_to(V, X.shape)


def spread(X: Array, most: int) -> tuple[NDArray[np.intp], float]:
    """At most some of the points, one in each cell of a grid, and the side of a cell.

    The grid is the finest that leaves few enough; in each cell the point nearest to its middle stays.
    """
    n, d = X.shape
    extent = float(np.ptp(X, axis=0).max()) if n else 0.0
    if extent == 0:
        return np.arange(min(n, 1)), 1.0
    if n <= most:
        return np.arange(n), extent / n ** (1 / d)
    low, side = X.min(axis=0), extent
    cells = np.zeros((n, d), dtype=int)
    while True:
        finer = np.floor((X - low) / (0.93 * side)).astype(int)
        if len(np.unique(finer, axis=0)) > most:
            break
        cells, side = finer, 0.93 * side
    off_center = np.abs((X - low) / side - cells - 0.5).max(axis=1)
    order = np.argsort(off_center, kind="stable")
    first = np.unique(cells[order], axis=0, return_index=True)[1]
    return np.sort(order[first]), side


def triangles(X: Array) -> Any:
    """Triangulation of the points, its long triangles masked; None if they lie on a line."""
    from matplotlib.tri import Triangulation

    try:
        mesh = Triangulation(*X.T)
    except (RuntimeError, ValueError):  # all on a line, or too few
        return None
    corners = X[mesh.triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2)
    far = edges.max(axis=1) > FAR_EDGE * np.median(edges)
    if far.all():
        return None
    mesh.set_mask(far)
    return mesh
