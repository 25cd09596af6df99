"""What all pictures share: Axes, words, notes, colors of points. Matplotlib is imported when a picture is drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler.errors import InputError, InputTypeError, MissingExtraError

if TYPE_CHECKING:
    from finsler.data.matrix import Dissimilarities
    from finsler.embedding import Embedding

# Vermilion and blue, which color-blind people tell apart: the dear and the cheap way, on every picture.
DEAR, CHEAP = "#d55e00", "#0072b2"
QUIET = "#777777"
GROUP_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#222222")
GROUP_MARKERS = "os"
MOST_GROUPS = 12
LONGEST_LABEL = 40


def pyplot() -> Any:
    """Import ``matplotlib.pyplot``, or say how to get it."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise MissingExtraError("Plots need matplotlib: pip install 'finsler[plot]'.") from error
    return plt


def axes_for(ax: Any, figsize: tuple[float, float], *, solid: bool = False) -> Any:
    """Axes to draw on: those given, if they are of the right kind, or those of a new figure."""
    plt = pyplot()
    if ax is None:
        options = {"subplot_kw": {"projection": "3d"}} if solid else {}
        return plt.subplots(figsize=figsize, layout="constrained", **options)[1]
    if not hasattr(ax, "get_figure") or not hasattr(ax, "scatter"):
        raise InputTypeError(f"ax must be a matplotlib Axes, got {type(ax).__name__}.")
    if (getattr(ax, "name", "") == "3d") != solid:
        wanted = "plt.subplot(projection='3d')" if solid else "plt.subplot()"
        raise InputError(f"ax must be a {3 if solid else 2}-D Axes for this picture; make one with {wanted}.")
    return ax


def panels_for(ax: Any, n: int, figsize: tuple[float, float]) -> NDArray[Any]:
    """Give ``n`` Axes side by side, or those given."""
    if ax is None:
        return np.atleast_1d(pyplot().subplots(1, n, figsize=figsize, layout="constrained")[1])
    panels = np.empty(np.size(ax), dtype=object)
    panels[:] = np.ravel(ax)
    if len(panels) != n:
        raise InputError(f"ax must hold {n} Axes for this picture, one per panel, got {len(panels)}.")
    for panel in panels:
        axes_for(panel, figsize)
    return panels


def draw_quietly(ax: Any) -> None:
    """Settle the layout, so that sizes in pixels are known."""
    ax.figure.canvas.figure.draw_without_rendering()


def plain(text: Any) -> str:
    r"""Text that matplotlib shows as it is: a dollar sign does not start a formula.

    Examples
    --------
    >>> print(plain("$5 < $6"))
    \$5 < \$6
    """
    return str(text).replace("$", r"\$")


def short(label: Any) -> str:
    """Label on one line, cut if it is very long."""
    text = " ".join(str(label).split())
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def names_of(embedding: Embedding) -> list[str]:
    """Labels of the points as they are shown, or their numbers."""
    labels = range(embedding.n_points) if embedding.labels is None else embedding.labels
    return [short(label) for label in labels]


def data_of(embedding: Embedding, picture: str) -> Dissimilarities:
    """Data that a map was made from, or an error that says what to do."""
    if embedding.data is None:
        raise InputError(
            f"{picture} compares the map with its data, and this map carries none (embedding.data is None). Maps of more "
            "than 1,000 points are saved without; use embedding.save(path, with_data=True), or put the data back with "
            "dataclasses.replace(embedding, data=finsler.data.matrix.as_dissimilarities(D))."
        )
    return embedding.data


def note(ax: Any, text: str) -> Any:
    """Small grey words below the picture."""
    from finsler.plotting.labels import Note

    return Note(ax, text)


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of the Axes in points, as far as the layout knows them yet."""
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def fit_words(normalized_stress: float) -> str:
    """Normalized stress as a title states it.

    Examples
    --------
    >>> fit_words(0.01834), fit_words(3e-16)
    ('0.0183 (0 is a perfect map)', 'below 1e-9: the map is exact')
    """
    if normalized_stress < 1e-9:
        return "below 1e-9: the map is exact"
    return f"{normalized_stress:.3g} (0 is a perfect map)"


def set_title(ax: Any, title: str | None, default: str, **style: Any) -> None:
    """Write the title given, as it is, or the default, broken into lines that are about as wide as the Axes."""
    if title is None:
        columns = max(30, int(1.15 * size_in_points(ax)[0] / 5.5))
        whole = re.sub(r"\([^()]{,25}\)", lambda found: found[0].replace(" ", "\xa0"), default)
        title = "\n".join(fill(line, columns) for line in whole.splitlines()).replace("\xa0", " ")
    ax.set_title(title, fontsize=10, **style)


def list_names(axis: Any, places: ArrayLike, names: Sequence[str], **style: Any) -> None:
    """Put names at the ticks of an axis, as they are."""
    axis.set_ticks(np.asarray(places), labels=[plain(name) for name in names], **style)


def both_shared(ax: Any) -> bool:
    """Whether both axes are shared with another picture, so that their limits are not ours alone."""
    return all(len(group.get_siblings(ax)) > 1 for group in (ax.get_shared_x_axes(), ax.get_shared_y_axes()))


def equal_scale(ax: Any) -> None:
    """Make a unit as long along each axis of a 2-D picture."""
    ax.set_aspect("equal", adjustable="box" if both_shared(ax) else "datalim")


def equal_box(ax: Any, points: NDArray[Any]) -> None:
    """Make a unit as long along each axis of a 3-D picture, and flat directions thick enough to see."""
    from matplotlib.ticker import MaxNLocator

    low, high = points.min(axis=0), points.max(axis=0)
    widest = float((high - low).max()) or 1.0
    half = np.maximum(1.08 * (high - low), 0.15 * widest) / 2
    middle = (low + high) / 2
    for name, center, reach in zip("xyz", middle, half, strict=True):
        getattr(ax, f"set_{name}lim")(center - reach, center + reach)
        axis = getattr(ax, f"{name}axis")
        axis.set_major_locator(MaxNLocator(max(1, round(7 * reach / half.max()))))
        axis.labelpad = 10
    ax.set_box_aspect(half, zoom=0.88)


def color_values(color: ArrayLike, n: int) -> tuple[NDArray[Any], list[str] | None]:
    """Numbers to color by (NaN for none); or numbers of groups (-1 for none) and the names of the groups.

    Examples
    --------
    >>> color_values(["b", "a", None], 3)
    (array([ 1,  0, -1]), ['a', 'b'])
    >>> color_values([1, None, 2.5], 3)
    (array([1. , nan, 2.5]), None)
    """
    values = np.asarray(color)
    if values.shape != (n,):
        raise InputError(f"color must hold one value or group per point, shape ({n},), got {values.shape}.")
    if values.dtype.kind in "iuf":
        return values.astype(float), None
    absent = np.array([v is None or v != v or str(v) in ("<NA>", "NaT") for v in values.tolist()])
    if values.dtype.kind == "O" and not any(isinstance(v, str | bool) for v in values[~absent]):
        try:
            numbers = np.full(n, np.nan)
            numbers[~absent] = values[~absent].astype(float)
            return numbers, None
        except (TypeError, ValueError):
            pass
    words = [str(v) for v in values[~absent].tolist()]
    names = sorted(set(words), key=_natural)
    code = {name: k for k, name in enumerate(names)}
    codes = np.full(n, -1)
    codes[~absent] = [code[word] for word in words]
    return codes, names


def _natural(word: str) -> list[tuple[int, float, str]]:
    """Order in which "group 2" comes before "group 10"."""
    parts = re.split(r"(\d+(?:\.\d+)?)", word)
    return [(0, float(part), "") if k % 2 else (1, 0.0, part) for k, part in enumerate(parts)]


def draw_points(
    ax: Any,
    columns: tuple[NDArray[Any], ...],
    colors: tuple[NDArray[Any], list[str] | None],
    color_label: str,
    cmap: Any,
    size: float,
) -> str:
    """Scatter the points, colored by value with a colorbar, or by group with a legend; hollow where there is none.

    ``colors`` come from :func:`color_values`. Returns what else to say about them.
    """
    values, names = colors
    solid = ax.name == "3d"
    style = {"s": size, "zorder": 3, **({"depthshade": False} if solid else {})}
    absent = np.isnan(values) if names is None else values < 0
    handles: list[Any] = []
    entries: list[str] = []
    if names is not None:
        values, entries = _few_groups(values, names)
        handles = [_draw_group(ax, columns, values, k, entries[k], style) for k in range(len(entries))]
    elif not absent.all():
        points = ax.scatter(*(c[~absent] for c in columns), c=values[~absent], cmap=cmap, **style)
        room = {"pad": 0.1} if solid else {}
        ax.figure.colorbar(points, ax=ax, shrink=0.7, label=plain(color_label), **room)
    if absent.any():
        hollow = {"facecolors": "none", "edgecolors": "#999999"}
        handles.append(ax.scatter(*(c[absent] for c in columns), **hollow, **style))
        entries.append("no group")
    if names is not None:
        named_legend(ax, handles, entries, color_label)
    return (
        f"{int(absent.sum())} points are hollow: they have no color."
        if absent.any() and names is None
        else ""
    )


def _few_groups(codes: NDArray[Any], names: list[str]) -> tuple[NDArray[Any], list[str]]:
    """Keep the largest groups and join the others into one, when there are more than a legend can hold."""
    if len(names) <= MOST_GROUPS:
        return codes, names
    sizes = np.bincount(codes[codes >= 0], minlength=len(names))
    kept = np.sort(np.argsort(-sizes, kind="stable")[: MOST_GROUPS - 1])
    place = np.full(len(names) + 1, len(kept))
    place[kept] = np.arange(len(kept))
    place[-1] = -1  # where no group is known
    return place[codes], [*(names[k] for k in kept), f"others ({len(names) - len(kept)} groups)"]


def _draw_group(
    ax: Any, columns: tuple[NDArray[Any], ...], codes: NDArray[Any], k: int, name: str, style: dict[str, Any]
) -> Any:
    joined = k == MOST_GROUPS - 1 and name.startswith("others (")
    color = "#aaaaaa" if joined else GROUP_COLORS[k % len(GROUP_COLORS)]
    marker = GROUP_MARKERS[k // len(GROUP_COLORS)]
    return ax.scatter(*(c[codes == k] for c in columns), color=color, marker=marker, **style)


def named_legend(ax: Any, handles: list[Any], names: list[str], title: str = "", **place: Any) -> Any:
    """Legend that shows each name as it is, those that begin with an underscore too."""
    place = place or {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    legend = ax.legend(handles, ["?"] * len(names), fontsize=8, title_fontsize=8, **place)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=short(name), parse_math=False)
    if title:
        legend.set_title(plain(title), prop={"size": 8})
    return legend
