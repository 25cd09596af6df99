"""Where the labels and the key of a map go: decided each time it is drawn, so that turning and zooming keep it legible.

The only module that needs matplotlib when imported; :mod:`finsler.plotting.maps` imports it when it draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.collections import LineCollection
from matplotlib.text import Annotation
from matplotlib.transforms import Bbox, IdentityTransform
from numpy.typing import NDArray
from sklearn.isotonic import isotonic_regression

Array = NDArray[Any]

FONT_SIZE = 7.0
NOTE_SIZE = 7.5
# Sides of a point to try, best first: direction of the label as seen from the point.
SIDES = np.array([(1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (-1, 1), (1, -1), (-1, -1)])
GAPS = np.where(np.all(SIDES, axis=1), 2.5, 4.0)  # between the center of a point and its label, in points
COLUMN = 28.0  # between a line of points and the labels in a column beside it, in points
POINT_RADIUS = 1.5  # what a point needs around its center, in points
LARGEST_KEY = 0.25  # share of the picture
CORNERS = {"lower left": (0, 0), "lower right": (1, 0), "upper left": (0, 1), "upper right": (1, 1)}


class Note(Annotation):
    """Small gray words below the picture, broken into lines of its width; inside it where no layout makes room below."""

    def __init__(self, ax: Any, words: str):
        self.words = words
        style: dict[str, Any] = {
            "fontsize": NOTE_SIZE, "color": "#777777", "gid": "note", "annotation_clip": False,
            "parse_math": False, "textcoords": "offset points", "transform": IdentityTransform(),
        }  # fmt: skip
        if ax.name != "3d" and ax.figure.canvas.figure.get_layout_engine() is None:
            style |= {"va": "bottom", "ha": "right", "bbox": {"fc": "#ffffffb0", "ec": "none", "pad": 1}}
            super().__init__("", (1.0, 0.0), (-4, 4), xycoords="axes fraction", **style)
        else:
            below = "axes fraction" if ax.name == "3d" else ax.xaxis.label
            style |= {"va": "top", "ha": "left", "xycoords": ("axes fraction", below)}
            super().__init__("", (0.0, 0.0), (0, -3), **style)
        ax.add_artist(self)
        self.set_clip_on(False)
        self.wrap_words()

    def wrap_words(self) -> None:
        """Break the words into lines that are about as wide as the picture."""
        ax: Any = self.axes
        width = ax.bbox.width * 72 / ax.figure.dpi
        columns = max(30, int(width / (0.53 * NOTE_SIZE)))
        self.set_text("\n".join(fill(line, columns) for line in self.words.splitlines()))

    def get_tightbbox(self, renderer: Any = None) -> Any:
        """Space that the layout makes: of the height of the words, but never wider than the picture."""
        self.wrap_words()
        box = super().get_tightbbox(renderer)
        if box is None or not self.words:
            return None
        ax: Any = self.axes
        left, right = ax.bbox.x0, ax.bbox.x1
        return Bbox.from_extents(max(box.x0, left), box.y0, max(min(box.x1, right), left + 1), box.y1)

    def draw(self, renderer: Any) -> None:
        """Break the words for the width that the picture has now, and draw them."""
        self.wrap_words()
        super().draw(renderer)


class Arranger(Artist):
    """Invisible artist that, just before labels (by number of point) and key are drawn, chooses their places.

    ``note`` says how many labels found none. ``columns``, for a map in one dimension: sides (1, -1) of the line on which
    labels stand in a column. ``n_extensions``: how many times, when first drawn, the limits of the data may be extended
    so that the key covers no point. ``marks``: texts on the map that no label may cover.
    """

    def __init__(
        self, places: Array, labels: dict[int, Any], key: Any, note: Any, columns: tuple[int, ...], n_extensions: int,
        marks: Sequence[Any] = (),
    ):  # fmt: skip
        super().__init__()
        self.marks = marks
        self.places, self.labels, self.key, self.note = places, labels, key, note
        self.columns, self.n_extensions = columns, n_extensions
        self.words = "" if note is None else note.words
        self.leaders: list[Array] = []  # lines from points to labels that stand in a column
        self.set(zorder=90, in_layout=False)

    def draw(self, renderer: Any) -> None:
        """Arrange everything."""
        if self.n_extensions and self.key.get_visible():
            self.n_extensions -= 1
            self._extend_view(renderer)
        ax: Any = self.axes
        flat = self._flat_places()
        pixels = ax.transData.transform(flat)
        box = np.array(ax.bbox.extents)
        taken = np.empty((0, 4)) if self.key is None else self._put_key(renderer, pixels, box)
        if self.marks:
            taken = np.vstack([taken, *(mark.get_window_extent(renderer).extents for mark in self.marks)])
        if self.labels:
            arrange = self._in_columns if self.columns else self._beside_points
            inside = np.all((pixels >= box[:2]) & (pixels <= box[2:]), axis=1)
            for i, label in self.labels.items():
                label.xy = tuple(flat[i])
                label.set_visible(False)
            arrange(renderer, pixels, inside, box, taken)
            hidden = sum(bool(inside[i]) and not label.get_visible() for i, label in self.labels.items())
            if self.note is not None:
                left_out = f"{hidden} of {len(self.labels)} labels are left out: no room beside the point."
                self.note.words = "\n".join(filter(None, [self.words, left_out if hidden else ""]))
        if self.leaders:
            leaders = LineCollection(self.leaders, colors="#bbbbbb", linewidths=0.5)
            leaders.set_figure(ax.figure)
            leaders.draw(renderer)
        self.stale = False

    def _flat_places(self) -> Array:
        """Points in the data coordinates of the picture's plane; those of 3-D points as they are now seen."""
        if self.places.shape[1] == 2:
            return self.places
        from mpl_toolkits.mplot3d import proj3d

        ax: Any = self.axes
        x, y, _ = proj3d.proj_transform(*self.places.T, ax.get_proj())
        return np.column_stack([x, y])

    def _extend_view(self, renderer: Any) -> None:
        """Let the view grow away from a corner until the key there covers no point; of the corners, the cheapest one.

        All points then move towards the opposite corner.
        """
        ax: Any = self.axes
        pixels = ax.transData.transform(self._flat_places())
        box = np.array(ax.bbox.extents)
        size = self.key.get_window_extent(renderer).size * 1.1
        for growth in np.linspace(0, 0.6, 31):
            for side in CORNERS.values():
                opposite = np.where(side, box[:2], box[2:])
                moved = opposite + (pixels - opposite) / (1 + growth)
                if not _inside(_corner_box(side, size, box), moved).any():
                    if growth > 0:
                        own = np.where(side, box[2:], box[:2])
                        farther = own + growth * (own - opposite)
                        ax.update_datalim([ax.transData.inverted().transform(farther)])
                        ax.autoscale_view()
                    return

    def _put_key(self, renderer: Any, pixels: Array, box: Array) -> Array:
        """Put the key into the corner where it covers fewest points; return the box it takes, none if it is too large."""
        size = self.key.get_window_extent(renderer).size
        fits = np.prod(size) < LARGEST_KEY * np.prod(box[2:] - box[:2])
        self.key.set_visible(bool(fits))
        if not fits:
            return np.empty((0, 4))
        boxes = {corner: _corner_box(side, size * 1.06, box) for corner, side in CORNERS.items()}
        best = min(boxes, key=lambda corner: int(_inside(boxes[corner], pixels).sum()))
        self.key.loc = self.key.codes[best]
        return boxes[best][None]

    def _beside_points(self, renderer: Any, pixels: Array, inside: Array, box: Array, taken: Array) -> None:
        """Put each label on the first side of its point where it covers nothing; hide it if there is none."""
        unit = renderer.points_to_pixels(1.0)
        sizes = self._sizes(renderer)
        shown = [i for i in self.labels if inside[i]]
        boxes = np.concatenate([taken, np.empty((len(shown), 4))])
        n_boxes = len(taken)
        # Those with few others nearby first: they take no place from anybody.
        crowd = [int((np.abs(pixels - pixels[i]) < 30 * unit).all(axis=1).sum()) for i in shown]
        for i in (shown[k] for k in np.argsort(crowd, kind="stable")):
            size = sizes[i] + (1.5 * unit, 0.0)  # a little air to the left and right
            centers = pixels[i] + SIDES * (GAPS[:, None] * unit + size / 2)
            trial = np.hstack([centers - size / 2, centers + size / 2])
            free = ((trial[:, :2] >= box[:2]) & (trial[:, 2:] <= box[2:])).all(axis=1)
            low, high, others = trial[:, None, :2], trial[:, None, 2:], boxes[:n_boxes]
            free &= ~np.any(np.all((low < others[:, 2:]) & (high > others[:, :2]), axis=2), axis=1)
            away = _gaps(trial, pixels)
            own = away[:, i].copy()
            away[:, i] = np.inf
            nearest = away.min(axis=1)
            free &= (nearest > POINT_RADIUS * unit) & (nearest > own - unit)  # no doubt whose label it is
            if free.any():
                side = int(np.argmax(free))
                self._write(i, centers[side] - pixels[i], unit)
                boxes[n_boxes] = trial[side]
                n_boxes += 1

    def _in_columns(self, renderer: Any, pixels: Array, inside: Array, box: Array, taken: Array) -> None:
        """Put the labels of a line of points into columns beside it, as near as can be without overlap."""
        self.leaders = []
        unit = renderer.points_to_pixels(1.0)
        sizes = self._sizes(renderer)
        line = 1.15 * max(size[1] for size in sizes.values())
        shown = sorted((i for i in self.labels if inside[i]), key=lambda i: (pixels[i, 1], i))
        most = max(0, int((box[3] - box[1]) // line) * len(self.columns))
        if len(shown) > most:
            shown = [shown[k] for k in np.linspace(0, len(shown) - 1, most).round().astype(int)]
        for c, side in enumerate(self.columns):
            column = shown[c :: len(self.columns)]
            if not column:
                continue
            rank = np.arange(len(column)) * line
            lowest, highest = box[1] + line / 2, box[3] - line / 2 - rank[-1]
            wanted = pixels[column, 1] - rank
            heights = isotonic_regression(wanted, y_min=lowest, y_max=max(lowest, highest)) + rank
            for i, height in zip(column, heights, strict=True):
                across = side * (COLUMN * unit + sizes[i][0] / 2)
                self._write(i, np.array([across, height - pixels[i, 1]]), unit)
                near, far = pixels[i, 0] + side * unit * np.array([4.0, COLUMN - 2.0])
                self.leaders.append(np.array([[near, pixels[i, 1]], [far, height]]))

    def _sizes(self, renderer: Any) -> dict[int, Array]:
        """Width and height of each label in pixels, as matplotlib lays out a line of text."""
        font = next(iter(self.labels.values())).get_fontproperties()
        _, least, _ = renderer.get_text_width_height_descent("lp", font, ismath=False)
        sizes = {}
        for i, label in self.labels.items():
            text = label.get_text() or " "
            width, height, _ = renderer.get_text_width_height_descent(text, font, ismath=False)
            sizes[i] = np.array([width, max(height, least)])
        return sizes

    def _write(self, i: int, offset: Array, unit: float) -> None:
        """Show a label with its center at some offset, in pixels, from its point."""
        label = self.labels[i]
        label.xyann = tuple(offset / unit)
        label.set_visible(True)


def _corner_box(side: tuple[int, int], size: Array, box: Array) -> Array:
    """Pixels that a key of some size covers in a corner: left, bottom, right, top."""
    low = np.where(side, box[2:] - size, box[:2])
    return np.concatenate([low, low + size])


def _inside(box: Array, pixels: Array) -> Array:
    """Which points a box holds."""
    return np.asarray(np.all((pixels > box[:2]) & (pixels < box[2:]), axis=1))


def _gaps(boxes: Array, pixels: Array) -> Array:
    """Distance of each box (row) from each point (column)."""
    outside = np.maximum(boxes[:, None, :2] - pixels, pixels - boxes[:, None, 2:])
    return np.asarray(np.linalg.norm(np.maximum(outside, 0.0), axis=2))
