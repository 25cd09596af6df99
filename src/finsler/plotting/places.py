"""A map drawn where its points really are: heights as colors on the globe or the plane, with the current if it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments, check_number
from finsler.data.places import Places, places
from finsler.data.provenance import count
from finsler.errors import InputError, printable
from finsler.plotting import canvas
from finsler.plotting.arcs import arcs_of, draw_arcs
from finsler.plotting.colors import known_colormap
from finsler.plotting.fields import spread, triangles
from finsler.plotting.points import arrange, draw_points, named_points, painted

if TYPE_CHECKING:
    from finsler.embedding import Embedding

Array = NDArray[np.floating[Any]]

CONTOURS = 200  # points from which heights are drawn between them, too
MAX_ARROWS = 200
# Names of the two parts of a current or a drift, as they may stand among attributes.
VECTORS = {
    "current": (("u", "v"), ("uo", "vo"), ("u10", "v10"), ("ugos", "vgos"), ("current_x", "current_y")),
    "drift": (("drift_x", "drift_y"), ("dx", "dy")),
}


def plot_places(
    embedding: Embedding,
    *,
    ax: Any = None,
    labels: bool | Sequence[Any] | None = None,
    color: str | Sequence[Any] | ArrayLike | None = None,
    color_label: str | None = None,
    cmap: Any = None,
    arcs: Any = "auto",
    size: float | None = None,
    title: str | None = None,
) -> Any:
    """Draw the points of a map where they really are, colored by their heights: ways from high to low are the cheap ones.

    Places are the attributes ``lon`` and ``lat`` in degrees, or ``x`` and ``y``. From 200 points on the heights between them
    are drawn, too, as contours. A current or a drift, if its parts are attributes (``u`` and ``v``,
    say), is drawn as arrows.
    ``to_geopandas().explore("height")`` shows the same on a street map.

    Parameters
    ----------
    embedding : Embedding
        A map whose attributes say where its points are.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    labels, color, color_label, cmap, arcs, size
        As of :func:`~finsler.plotting.maps.plot_map`.
    title : str, optional
        Title; by default what is shown.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import finsler
    >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"], alpha=0.2)
    >>> ax = plot_places(towns.with_attributes({"lon": [13.4, 2.35, 0.1], "lat": [52.5, 48.9, 51.5]}))
    >>> ax.get_title()
    'Height on the map of 3 points, where they are'
    """
    check_arguments(plot_places, locals(), besides=("labels",))
    check_number("size", size, 0.0, open_ends=True, optional=True)
    found = known_places(embedding.attributes)
    colors, cmap = painted(embedding, color, color_label), known_colormap(cmap)
    drawn, names = arcs_of(embedding, arcs), named_points(embedding, labels)
    X, known = on_paper(found), found.known
    ax = canvas.axes_for(ax, _paper_size(X[known], found))
    by_height = color is None and embedding.has_height
    if size is None:
        size = (
            4.0
            if by_height and known.sum() >= CONTOURS
            else float(np.clip(9000 / max(known.sum(), 1), 6, 40))
        )
    remarks = [draw_points(ax, X[known], colors.colors.of(known), colors.label, cmap, size)]
    if by_height and known.sum() >= CONTOURS and draw_contours(ax, X[known], embedding.height[known], cmap):
        remarks.append("Between the points heights are interpolated.")
    set_paper(ax, X[known], found)
    remarks.append(draw_vectors(ax, X, embedding.attributes))
    if not known.all():
        remarks.append(f"{count(int((~known).sum()), 'point')} of unknown place not drawn.")
    what = colors.label[:1].upper() + colors.label[1:] or "Colors"
    what = f"{what} on the map" if by_height else what
    canvas.set_title(ax, f"{what} of {count(int(known.sum()), 'point')}, where they are")
    if title is not None:
        ax.set_title(printable(str(title)), fontsize=10)
    place = np.cumsum(known) - 1
    names = {int(place[i]): name for i, name in names.items() if known[i]}
    arrange(ax, X[known], names, "\n".join(filter(None, [*remarks, drawn.remark])))
    pairs = drawn.pairs[known[drawn.pairs].all(axis=1)]
    if len(pairs):
        draw_arcs(ax, X[known], place[pairs], size, flat=False, bend=None)
    return ax


def known_places(attributes: Mapping[str, Any]) -> Places:
    """Where points are, or an error that says how to tell."""
    found = places(attributes)
    if found is None:
        there = f"; its attributes are {', '.join(map(str, attributes))}" if attributes else ""
        raise InputError(
            f"this map does not know where its points are: it needs attributes lon and lat in degrees, or x and y{there}. "
            "Give them with --attributes FILE, or with_attributes({'lon': ..., 'lat': ...})."
        )
    return found


def on_paper(found: Places) -> Array:
    """Places as they are drawn; longitudes are cut where there are no points, so that no ocean is torn."""
    x = found.x.copy()
    if found.geographic and found.known.any():
        around = np.sort(np.unique(x[found.known] % 360))
        gaps = np.diff(np.append(around, around[0] + 360))
        first = around[(np.argmax(gaps) + 1) % len(around)]  # the first one east of the widest gap
        x = first + (x - first) % 360
        x -= 360 * np.floor((np.nanmean(x) + 180) / 360)
    return np.column_stack([x, found.y])


def draw_contours(ax: Any, X: Array, height: Array, cmap: Any) -> bool:
    """Draw heights between points; nothing, and False, where they lie on a line or are all the same."""
    mesh = triangles(X)
    if mesh is None or not np.ptp(height) > 0:
        return False
    ends = {"vmin": float(height.min()), "vmax": float(height.max()), "cmap": cmap}
    ax.use_sticky_edges = False  # or points at the rim are cut in halves
    ax.tricontourf(mesh, height, levels=12, zorder=0, alpha=0.45, **ends)
    ax.tricontour(mesh, height, levels=12, zorder=1, colors="white", linewidths=0.6, linestyles="solid")
    return True


def draw_vectors(ax: Any, X: Array, attributes: Mapping[str, Any]) -> str:
    """Draw the current or the drift, if attributes hold it, and return what to say of it."""
    columns = {name.lower(): np.asarray(values) for name, values in attributes.items()}
    known = [(kind, pair) for kind, pairs in VECTORS.items() for pair in pairs if {*pair} <= {*columns}]
    if not known or any(columns[name].dtype.kind not in "iuf" for name in known[0][1]):
        return ""
    kind, pair = known[0]
    V = np.column_stack([columns[name] for name in pair]).astype(float)
    there = np.flatnonzero(np.isfinite(V).all(axis=1) & np.isfinite(X).all(axis=1))
    speed = np.linalg.norm(V[there], axis=1)
    if not speed.max(initial=0.0) > 0:
        return ""
    chosen, step = spread(X[there], MAX_ARROWS)
    chosen, way = there[chosen], V * (step / speed.max())
    ax.quiver(
        *X[chosen].T, *way[chosen].T, angles="xy", scale_units="xy", scale=1, pivot="mid", color="#222222", alpha=0.6,
        units="xy", width=0.06 * step, minlength=0.1, zorder=4, gid=kind,
    )  # fmt: skip
    some = f" at {len(chosen)} of {len(there):,} points" if len(chosen) < len(there) else ""
    cost = "cheap" if kind == "current" else "costly"
    return f"Arrows: the {kind} ({', '.join(pair)}){some}; going with it is {cost}."


def _paper_size(X: Array, found: Places) -> tuple[float, float]:
    wide, high = np.maximum(np.ptp(X, axis=0), 1e-9)
    wide *= narrowing(X) if found.geographic else 1.0
    scale = 7.4 / max(wide, high)
    return float(max(scale * wide, 4.4) + 1.8), float(max(scale * high, 3.2) + 1.2)


def narrowing(X: Array) -> float:
    """Length of a degree of longitude at the middle latitude, in degrees of latitude."""
    return float(np.cos(np.radians(np.clip((X[:, 1].min() + X[:, 1].max()) / 2, -80, 80))))


def set_paper(ax: Any, X: Array, found: Places) -> None:
    """Name the axes and make a step as long whichever way it goes."""
    if not found.geographic:
        ax.set(xlabel=canvas.plain(found.names[0]), ylabel=canvas.plain(found.names[1]))
        canvas.equal_scale(ax)
        return
    from matplotlib.ticker import FuncFormatter

    def degrees(value: float, names: str) -> str:
        value = (value + 180) % 360 - 180 if names == "EW" else value
        return f"{abs(value):.6g}°{'' if value in (0, -180) else names[int(value < 0)]}"

    ax.set(xlabel="longitude", ylabel="latitude")
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: degrees(value, "EW")))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: degrees(value, "NS")))
    ax.set_aspect(1 / narrowing(X), adjustable="box" if canvas.both_shared(ax) else "datalim")
    ax.grid(color="#eeeeee", lw=0.6, zorder=-1)
    ax.set_axisbelow(True)
