"""The page to explore a map, as a widget of a notebook: what is chosen on it can be read in Python."""

from __future__ import annotations

import tempfile
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from finsler._arguments import check_arguments
from finsler.errors import MissingExtraError, check_count
from finsler.plotting.explorer import explore, points_on_page

try:
    import anywidget
    import traitlets
except ImportError as error:
    raise MissingExtraError("The widget needs anywidget: pip install 'finsler[notebook]'.") from error

if TYPE_CHECKING:
    from finsler.embedding import Embedding

ASSETS = files("finsler.plotting") / "explorer_assets"


class ExplorerWidget(anywidget.AnyWidget):
    """The page of a map in a frame of its own, which can reach neither the notebook nor the network.

    Attributes
    ----------
    selection : list
        Labels of the points that are chosen on the page, none, one or two, in their order; numbers if points have no
        labels. It can be observed: ``widget.observe(print, names="selection")``.
    height : int
        Of the frame, in pixels.
    """

    _esm = (ASSETS / "widget.js").read_text(encoding="utf-8")
    _page = traitlets.Unicode().tag(sync=True)
    _chosen = traitlets.List(traitlets.Int()).tag(sync=True)
    height = traitlets.Int(640).tag(sync=True)
    selection = traitlets.List(traitlets.Any(), read_only=True)

    def __init__(self, page: str, names: list[Any], height: int) -> None:
        self._names = names
        super().__init__(_page=page, height=height)

    @traitlets.validate("_chosen")
    def _known(self, proposal: Any) -> list[int]:
        """Numbers of points: what comes from a browser is not believed."""
        chosen: list[int] = proposal["value"]
        if len(chosen) > 2 or not all(0 <= i < len(self._names) for i in chosen):
            raise traitlets.TraitError(f"no points of this map: {chosen[:3]}")
        return chosen

    @traitlets.observe("_chosen")
    def _select(self, change: Any) -> None:
        self.set_trait("selection", [self._names[i] for i in change["new"]])


def explorer_widget(
    embedding: Embedding,
    *,
    attributes: Any = None,
    color: Any = None,
    title: str | None = None,
    unit: str | None = None,
    confidence: Any = None,
    height: int = 640,
) -> ExplorerWidget:
    """Make a widget that shows the page of a map; see :meth:`finsler.Embedding.widget`."""
    check_arguments(explorer_widget, locals())
    tall = check_count("height", height, 100, 10_000)
    with tempfile.TemporaryDirectory(prefix="finsler-") as folder:
        path = Path(folder) / "map.html"
        explore(
            embedding, path, attributes=attributes, color=color, title=title, unit=unit, confidence=confidence
        )
        page = path.read_text(encoding="utf-8")
    end = page.rindex("</body>")
    bridge = (ASSETS / "bridge.js").read_text(encoding="utf-8")
    shown = points_on_page(embedding.n_points).tolist()
    names = shown if embedding.labels is None else [embedding.labels[i] for i in shown]
    return ExplorerWidget(f"{page[:end]}<script>\n{bridge}</script>\n{page[end:]}", names, tall)
