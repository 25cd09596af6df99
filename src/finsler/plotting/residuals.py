"""Residuals on the map: arrows between points whose distance is too far or too near."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from finsler._arguments import check_arguments
from finsler.data.provenance import count
from finsler.errors import check_count
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY
from finsler.plotting.maps import places_on_map, plot_map

if TYPE_CHECKING:
    from finsler.embedding import Embedding

BEND = 0.12  # of arrows in the plane, so that the two ways of a pair lie beside each other
WIDEST = 3.0  # width of the arrow with the largest residual, in points


def plot_residuals(embedding: Embedding, *, ax: Any = None, top: int = 30) -> Any:
    """Draw the ordered pairs that the map shows worst as arrows on it: red where it is too far, blue where too near.

    Arrows are as wide as the residual is large. At a map of least stress what pulls at a point and what pushes it cancel;
    single pairs still disagree, and these are the ones with the largest part in the stress.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    top : int
        Pairs to draw.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> minutes = [[0, 3, 9, 4], [2, 0, 2, 5], [4, 3, 0, 1], [6, 2, 7, 0]]
    >>> ax = plot_residuals(embed_matrix(minutes), top=2)
    >>> ax.get_title().splitlines()[0]
    'The 2 worst of 12 ordered pairs: 48 % of the stress'
    """
    check_arguments(plot_residuals, locals())
    check_count("top", top)
    worst = embedding.worst_pairs(top)
    share = sum(pair.share for pair in worst)
    m = embedding.n_components
    ends = {point for pair in worst for point in (pair.source, pair.target)}
    named = list(ends) if embedding.n_points > 150 else None
    ax = plot_map(embedding, ax=ax, labels=named, arcs=False)
    handles = _draw_arrows(ax, embedding, worst, solid=m >= 3, bend=0.45 if m == 1 else BEND)
    names = {"red": "too far on the map", "blue": "too near on the map"}
    shown = [key for key in names if key in handles]
    if shown:
        canvas.named_legend(ax, [handles[key] for key in shown], [names[key] for key in shown], loc="best")
    data = embedding.data_for("plot_residuals")
    n = data.n_points
    known = (
        int(np.isfinite(data.matrix).sum() - n)
        if data.weights is None
        else int(np.count_nonzero(data.weights))
    )
    title = f"The {len(worst)} worst of {count(known, 'ordered pair')}: {share:.0%} of the stress"
    canvas.set_title(
        ax, title.replace("%", " %") if worst else "The map is exact: no pair is too far or too near"
    )
    return ax


def _draw_arrows(
    ax: Any, embedding: Embedding, worst: list[Any], *, solid: bool, bend: float
) -> dict[str, Any]:
    """Draw an arrow per pair, the smallest first; and return a handle for each color that is there."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import FancyArrowPatch

    places = places_on_map(embedding)
    largest = max((abs(pair.residual) for pair in worst), default=1.0)
    handles: dict[str, Any] = {}
    for pair in reversed(worst):
        key, color = ("red", COSTLY) if pair.residual > 0 else ("blue", CHEAP)
        start, end = places[embedding.index(pair.source)], places[embedding.index(pair.target)]
        width = 0.5 + (WIDEST - 0.5) * abs(pair.residual) / largest
        if solid:
            ax.quiver(*start, *(end - start), color=color, lw=width, arrow_length_ratio=0.08, gid="residual")
        else:
            arrow = FancyArrowPatch(
                start, end, arrowstyle="-|>", mutation_scale=6 + 2 * width, lw=width, color=color, alpha=0.75,
                shrinkA=3, shrinkB=3, connectionstyle=f"arc3,rad={bend}", zorder=4, gid="residual",
            )  # fmt: skip
            ax.add_patch(arrow)
        handles.setdefault(key, Line2D([], [], color=color, lw=2))
    return handles
