"""Points of a map in a picture, wherever they are drawn: their colors, and their labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_words
from finsler.data.attributes import in_order
from finsler.errors import InputTypeError
from finsler.plotting import canvas
from finsler.plotting.colors import MISSING, Coloring, coloring, column_of

if TYPE_CHECKING:
    from finsler.embedding import Embedding

MOST_LABELS = 150  # points up to which labels are written unless asked for
MARKS = {"circle": "o", "square": "s"}


class Painted(NamedTuple):
    """Colors of points, and what they mean."""

    colors: Coloring
    label: str


def painted(embedding: Embedding, color: Any, label: str | None) -> Painted:
    """Colors by values or by the name of an attribute; by default by height, or by the share of the stress without one."""
    if color is None:
        own = "height" if embedding.has_height else "share of the stress"
        return Painted(
            coloring(column_of(embedding, own), embedding.n_points), own if label is None else label
        )
    name = color if isinstance(color, str) else getattr(color, "name", None)
    values: Any = column_of(embedding, color) if isinstance(color, str) else color
    values = in_order(values, embedding.labels, "color")
    return Painted(coloring(values, embedding.n_points), str(name or "") if label is None else label)


def draw_points(
    ax: Any, places: NDArray[Any], painted: Coloring, color_label: str, cmap: Any, size: float
) -> str:
    """Scatter the points with a colorbar or a legend, hollow where they have no color; return what to say of those."""
    solid = places.shape[1] == 3
    style = {"s": size, "zorder": 3, **({"depthshade": False} if solid else {})}
    absent = painted.missing
    handles: list[Any] = []
    if painted.numbers is None:
        for k, group in enumerate(painted.groups):
            own = places[painted.codes == k]
            handles.append(ax.scatter(*own.T, color=group.color, marker=MARKS[group.mark], **style))
    elif not absent.all():
        points = ax.scatter(*places[~absent].T, c=painted.numbers[~absent], cmap=cmap, **style)
        apart = {"pad": 0.1} if solid else {}
        ax.figure.colorbar(points, ax=ax, shrink=0.7, label=canvas.plain(color_label), **apart)
    if absent.any():
        handles.append(ax.scatter(*places[absent].T, facecolors="none", edgecolors=MISSING, **style))
    if painted.numbers is None:
        names = [group.name for group in painted.groups]
        canvas.named_legend(ax, handles, names + ["unknown"] * bool(absent.any()), color_label)
    elif absent.any():
        return f"{int(absent.sum())} points are hollow: they have no color."
    return ""


def named_points(embedding: Embedding, labels: bool | Sequence[Any] | None) -> dict[int, str]:
    """Labels of the points that get one, by their numbers."""
    if labels is None:
        labels = embedding.labels is not None and embedding.n_points <= MOST_LABELS
    names = canvas.names_of(embedding)
    if isinstance(labels, bool | np.bool_):
        return dict(enumerate(names)) if labels else {}
    if isinstance(labels, str):
        raise InputTypeError(f"must be True, False or a list of points; try [{labels!r}].", argument="labels")
    return {i: names[i] for i in sorted({embedding.index(point) for point in check_words("labels", labels)})}


def arrange(
    ax: Any, places: NDArray[Any], names: dict[int, str], remarks: str, *, key: Any = None, marks: Sequence[Any] = (),
    columns: tuple[int, ...] = (),
) -> None:  # fmt: skip
    """Write the labels, the key and the note, and leave their places to an Arranger."""
    from finsler.plotting.labels import FONT_SIZE, Arranger

    written = {
        i: ax.annotate(
            name, places[i, :2], (0, 0), textcoords="offset points", fontsize=FONT_SIZE, ha="center", va="center",
            zorder=100, annotation_clip=False, parse_math=False, in_layout=False, gid="label",
        )
        for i, name in names.items()
    }  # fmt: skip
    words = canvas.note(ax, remarks) if written or remarks else None
    plane = places.shape[1] == 2 and not columns
    n_extensions = 2 if plane and key is not None and not canvas.both_shared(ax) else 0
    ax.add_artist(Arranger(places, written, key, words, columns, n_extensions, marks))
    canvas.draw_quietly(ax)
    if written or n_extensions:
        canvas.draw_quietly(ax)  # with the limits and the note that the arranger chose
