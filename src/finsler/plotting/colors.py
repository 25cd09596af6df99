"""Which color a point gets, in pictures and on pages alike.

Numbers lie on a scale. Words and truth values are groups: each has its color and mark, in natural order of the names
("group 2" before "group 10"), and of more than twelve the eleven largest, the others being one gray group. What is missing
or not finite is drawn hollow and gray. All colors stand out from white and from the dark background of a page.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.data.attributes import is_missing
from finsler.errors import InputError, shown

# Vermilion and blue, which color-blind people tell apart: the costly and the cheap way, on every picture.
COSTLY, CHEAP = "#d55e00", "#0072b2"
QUIET = "#777777"  # words and lines that are not to catch the eye

# The colors of Okabe and Ito, with brown for black; once all are taken, again with squares.
GROUP_COLORS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#8a5a3c")
GROUP_MARKS = ("circle", "square")
MOST_GROUPS = 12
OTHERS, MISSING = "#aaaaaa", "#999999"

# The scale of numbers, from low to high: viridis. Its dark end is cut off on a dark page.
SCALE = [
    "#440154",
    "#482878",
    "#3e4989",
    "#31688e",
    "#26828e",
    "#1f9e89",
    "#35b779",
    "#6ece58",
    "#b5de2b",
    "#fde725",
]
SCALE_ON_DARK = SCALE[2:]


class Group(NamedTuple):
    """An entry of the legend."""

    name: str
    color: str
    mark: str  #: "circle" or "square"


@dataclass(frozen=True, eq=False)
class Coloring:
    """What points are colored by: numbers, or else groups."""

    numbers: NDArray[np.float64] | None = None  #: Not finite where there is none.
    codes: NDArray[np.intp] | None = None  #: Place of each point's group in `groups`, -1 for none.
    groups: tuple[Group, ...] = ()

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which points have no color."""
        return ~np.isfinite(self.numbers) if self.numbers is not None else np.asarray(self.codes) < 0

    def of(self, which: NDArray[Any]) -> Coloring:
        """Colors of some of the points."""
        return Coloring(
            None if self.numbers is None else self.numbers[which],
            None if self.codes is None else self.codes[which],
            self.groups,
        )


def coloring(values: Any, n: int, argument: str = "color") -> Coloring:
    """Decide what color each of ``n`` points gets; ``argument`` is what a message names."""
    try:
        shape = np.shape(values)
    except ValueError:  # lists of different lengths
        shape = ()
    if shape != (n,):
        found = f"got shape {shape}"
        raise InputError(f"must hold one value or group per point, shape ({n},), {found}.", argument=argument)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        return Coloring(numbers=values.astype(float))
    kept = [None if is_missing(value) else value for value in values]
    if all(isinstance(value, Real | Decimal | None) and not isinstance(value, bool) for value in kept):
        return Coloring(numbers=np.array([np.nan if value is None else float(value) for value in kept]))
    words = [None if value is None else str(value) for value in kept]
    names = sorted({word for word in words if word is not None}, key=_natural)
    place = {name: k for k, name in enumerate(names)}
    return _few_groups(np.array([-1 if word is None else place[word] for word in words]), names)


def colormap() -> Any:
    """Scale of the numbers, for matplotlib."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("finsler", SCALE)


def column_of(embedding: Any, name: str) -> Any:
    """What points of a map are colored by, given by name: height, share of the stress, or an attribute."""
    known = {"height": embedding.height} if embedding.has_height else {}
    known |= {"share of the stress": embedding.stress_per_point, **embedding.attributes}
    if name not in known:
        raise InputError(
            f"{name!r} is not an attribute of the points; there are {', '.join(map(str, known))}.",
            argument="color",
        )
    return known[name]


def known_colormap(cmap: Any) -> Any:
    """Colormap of matplotlib by its name, or as it is; the library's own by default."""
    if cmap is None:
        return colormap()
    from matplotlib import colormaps
    from matplotlib.colors import Colormap

    if isinstance(cmap, Colormap):
        return cmap
    if not isinstance(cmap, str) or cmap not in colormaps:
        raise InputError(
            f"cmap must be the name of a colormap of matplotlib, got {shown(cmap)}.", argument="cmap"
        )
    return colormaps[cmap]


def _natural(word: str) -> list[tuple[int, float, str]]:
    """Order in which "group 2" comes before "group 10"; the word itself decides between "1" and "01"."""
    parts = re.split(r"(\d+(?:\.\d+)?)", word)
    order = [(0, float(part), "") if k % 2 else (1, 0.0, part) for k, part in enumerate(parts)]
    return [*order, (2, 0.0, word)]


def _few_groups(codes: NDArray[np.intp], names: Sequence[str]) -> Coloring:
    """Give colors to the groups, the smaller ones joined into one if there are more than a legend can hold."""
    kept = np.arange(len(names))
    if len(names) > MOST_GROUPS:
        sizes = np.bincount(codes[codes >= 0], minlength=len(names))
        kept = np.sort(np.argsort(-sizes, kind="stable")[: MOST_GROUPS - 1])
    place = np.full(len(names) + 1, len(kept))
    place[kept] = np.arange(len(kept))
    place[-1] = -1  # where no group is known
    looks = [(color, mark) for mark in GROUP_MARKS for color in GROUP_COLORS]
    groups = [Group(names[int(i)], *look) for i, look in zip(kept, looks, strict=False)]
    if len(kept) < len(names):
        groups.append(Group(f"others ({len(names) - len(kept)} groups)", OTHERS, GROUP_MARKS[0]))
    return Coloring(codes=place[codes], groups=tuple(groups))
