"""What all pictures share: Axes, words, notes, legends. Matplotlib is imported when a picture is drawn."""

from __future__ import annotations

import re
from collections.abc import Sequence
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler.errors import InputError, InputTypeError, MissingExtraError, one_line, printable

if TYPE_CHECKING:
    from finsler.embedding import Embedding

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
    given = (
        list(ax.ravel()) if isinstance(ax, np.ndarray) else list(ax) if isinstance(ax, list | tuple) else [ax]
    )
    if len(given) != n:
        raise InputError(
            f"ax must hold {n} Axes for this picture, one per panel, got {len(given)}.", argument="ax"
        )
    panels = np.empty(n, dtype=object)
    panels[:] = given
    for panel in panels:
        axes_for(panel, figsize)
    return panels


def draw_quietly(ax: Any) -> None:
    """Settle the layout, so that sizes in pixels are known."""
    ax.figure.canvas.figure.draw_without_rendering()


def plain(text: Any) -> str:
    """Text that matplotlib shows as it is: a dollar sign does not start a formula."""
    return printable(str(text)).replace("$", r"\$")


def short(label: Any) -> str:
    """Label on one line, cut if it is very long."""
    text = one_line(str(label))
    return text if len(text) <= LONGEST_LABEL else text[: LONGEST_LABEL - 1] + "…"


def names_of(embedding: Embedding) -> list[str]:
    """Labels of the points as they are shown, or their numbers."""
    labels = range(embedding.n_points) if embedding.labels is None else embedding.labels
    return [short(label) for label in labels]


def note(ax: Any, text: str) -> Any:
    """Small gray words below the picture."""
    from finsler.plotting.labels import Note

    return Note(ax, text)


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of the Axes in points, as far as the layout knows them yet."""
    return tuple(ax.get_window_extent().size * 72 / ax.figure.dpi)


def fit_words(normalized_stress: float | None) -> str:
    """Normalized stress as a title states it."""
    if normalized_stress is None:
        return "not defined"
    if normalized_stress < 1e-9:
        return "below 1e-9: the map is exact"
    return f"{normalized_stress:.3g} (0 is a perfect map)"


def set_title(ax: Any, title: str, **style: Any) -> None:
    """Write a title, broken into lines that are about as wide as the Axes."""
    columns = max(30, int(1.15 * size_in_points(ax)[0] / 5.5))
    whole = re.sub(r"\([^()]{,25}\)", lambda found: found[0].replace(" ", "\xa0"), title)
    lines = "\n".join(fill(line, columns) for line in whole.splitlines()).replace("\xa0", " ")
    ax.set_title(lines, fontsize=10, **style)


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
    for name, center, reach in zip("xyz", (low + high) / 2, half, strict=True):
        getattr(ax, f"set_{name}lim")(center - reach, center + reach)
        axis = getattr(ax, f"{name}axis")
        axis.set_major_locator(MaxNLocator(max(1, round(7 * reach / half.max()))))
        axis.labelpad = 10
    ax.set_box_aspect(half, zoom=0.88)


def named_legend(ax: Any, handles: list[Any], names: list[str], title: str = "", **place: Any) -> Any:
    """Legend that shows each name as it is, those that begin with an underscore too."""
    place = place or {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    legend = ax.legend(handles, ["?"] * len(names), fontsize=8, title_fontsize=8, **place)
    for text, name in zip(legend.get_texts(), names, strict=True):
        text.set(text=short(name), parse_math=False)
    if title:
        legend.set_title(plain(title), prop={"size": 8})
    return legend
