"""Ways to look at a map: a picture, a page, and what a notebook shows. The methods import their functions when called."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from numpy.typing import ArrayLike

from finsler._html import card

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ViewedMap:
    """Methods of an Embedding that show it."""

    def plot(
        self,
        *,
        ax: Any = None,
        labels: bool | Sequence[Any] | None = None,
        color: str | Sequence[Any] | ArrayLike | None = None,
        color_label: str | None = None,
        cmap: Any = None,
        arcs: Any = "auto",
        unit_ball: Any = False,
        size: float | None = None,
        title: str | None = None,
    ) -> Axes:
        """Draw the map with matplotlib, as :func:`finsler.plotting.maps.plot_map` does.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure by default.
        labels : bool or sequence of points, optional
            Beside which points labels are written; by default beside all, if there are at most 150.
        color : str or array-like of shape (n,), optional
            Name of an attribute, or values; the height by default.
        color_label : str, optional
            What the colors mean.
        cmap : str or matplotlib Colormap, optional
            Colors of numbers; viridis by default.
        arcs : bool, "auto", sequence of pairs, sparse array, Digraph or graph
            Arrows to draw: those of the graph behind the map, by default if there are at most 3,000.
        unit_ball : bool or a point
            Explain the metric by its unit ball.
        size : float, optional
            Area of the points, in square points.
        title : str, optional
            By default the size and the fit of the map.

        Examples
        --------
        >>> import finsler
        >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
        >>> towns.plot(color=[120, 80, 45], color_label="people").get_ylabel()
        'height (up costs more)'
        """
        from finsler.plotting.maps import plot_map

        return plot_map(
            cast(Any, self), ax=ax, labels=labels, color=color, color_label=color_label, cmap=cmap, arcs=arcs,
            unit_ball=unit_ball, size=size, title=title,
        )  # fmt: skip

    def explore(
        self,
        path: str | os.PathLike[str],
        *,
        attributes: Any = None,
        color: Any = None,
        title: str | None = None,
        unit: str | None = None,
        confidence: Any = None,
    ) -> Path:
        """Write a page to explore the map in a browser, as :func:`finsler.plotting.explorer.explore` does.

        Parameters
        ----------
        path : path-like
            Where to, a name that ends in .html.
        attributes : dict of sequences or data frame, optional
            More about the points than the map's own attributes, to show and to color by.
        color : str or array-like of shape (n,), optional
            What the page is colored by when it opens; the height by default.
        title : str, optional
            Heading of the page.
        unit : str, optional
            What the data count, such as "hours"; by default the unit of the map.
        confidence : Confidence, optional
            Ellipses to draw around the points, as :func:`finsler.inference.confidence` finds them.
        """
        from finsler.plotting.explorer import explore

        return explore(
            cast(Any, self),
            path,
            attributes=attributes,
            color=color,
            title=title,
            unit=unit,
            confidence=confidence,
        )

    def widget(
        self,
        *,
        attributes: Any = None,
        color: Any = None,
        title: str | None = None,
        unit: str | None = None,
        confidence: Any = None,
        height: int = 640,
    ) -> Any:
        """The page as a widget of a notebook; ``widget.selection`` holds the labels of the points that are chosen on it.

        It needs ``pip install 'finsler[notebook]'``. The page is in a frame of its own, works offline, and says what it
        leaves out; a widget holds all of it, about 5 MB.

        Parameters
        ----------
        attributes, color, title, unit, confidence
            As in :meth:`explore`.
        height : int
            Of the frame, in pixels.

        Returns
        -------
        anywidget.AnyWidget
            Its ``selection`` is a list of none, one or two labels, which can be observed.

        Examples
        --------
        >>> import finsler
        >>> towns = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])
        >>> towns.widget().selection
        []
        """
        from finsler.plotting.widget import explorer_widget

        return explorer_widget(
            cast(Any, self), attributes=attributes, color=color, title=title, unit=unit, confidence=confidence,
            height=height,
        )  # fmt: skip

    def _repr_html_(self) -> str:
        """What a notebook shows of a map: a small picture, and what :meth:`summary` says."""
        from finsler.plotting.thumbnail import thumbnail

        here = cast(Any, self)
        picture, left_out = thumbnail(here)
        title, *lines = here.summary().splitlines()
        notes = [text for text in (*map(str.strip, lines), left_out) if text]
        return card(title, notes=notes, picture=picture)
