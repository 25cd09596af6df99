"""Pictures of maps with matplotlib. Functions take ``ax`` and return the Axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from finsler.embedding import Embedding


def _pyplot() -> Any:
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Plots need matplotlib: pip install 'finsler[plot]'.") from error
    return plt


def plot_map(
    embedding: Embedding,
    *,
    ax: Any = None,
    labels: bool | None = None,
    color: ArrayLike | None = None,
    color_label: str | None = None,
    title: str | None = None,
) -> Any:
    """Draw a map in one, two or three dimensions, with the arrow of the drift.

    Parameters
    ----------
    embedding : Embedding
        The map. Beyond three dimensions the first two and the height are drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    labels : bool, optional
        Write labels beside the points; by default up to 150 points.
    color : array-like of shape (n,), optional
        Values or groups to colour by; the height by default.
    color_label : str, optional
        What the colours mean.
    title : str, optional
        Title; by default the size and the fit of the map.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from finsler import embed_matrix
    >>> ax = plot_map(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0.2))
    >>> ax.get_ylabel()
    'height (up costs more)'
    """
    plt = _pyplot()
    X = embedding.coordinates
    m = X.shape[1]
    solid = m >= 3
    if ax is None:
        _, ax = plt.subplots(
            figsize=(8, 7), subplot_kw={"projection": "3d"} if solid else {}, layout="constrained"
        )
    across = np.zeros(len(X)) if m == 1 else X[:, 0]
    columns = (X[:, 0], X[:, 1], X[:, -1]) if solid else (across, X[:, -1])
    values, ticks = _colour_values(embedding.height if color is None else color)
    points = ax.scatter(*columns, c=values, cmap="viridis" if ticks is None else "tab10", s=22, zorder=3)
    bar = ax.figure.colorbar(
        points, ax=ax, shrink=0.7, label=color_label or ("height" if color is None else "")
    )
    if ticks is not None:
        bar.set_ticks(range(len(ticks)), labels=ticks)
    if labels is None:
        labels = embedding.labels is not None and len(X) <= 150
    if labels:
        names = embedding.labels if embedding.labels is not None else range(len(X))
        if solid:
            for place, name in zip(zip(*columns, strict=True), names, strict=True):
                ax.text(*place, f" {name}", fontsize=7)
        else:
            _write_labels(ax, np.column_stack(columns), [str(name) for name in names])
    if solid:
        ax.set(xlabel="x1", ylabel="x2", zlabel="height (up costs more)")
        ax.set_box_aspect([max(float(np.ptp(c)), 1e-12) for c in columns])
    else:
        ax.set(xlabel="x1" if m > 1 else "", ylabel="height (up costs more)")
        ax.set_aspect("equal", adjustable="datalim")
        _draw_drift(ax, embedding.alpha)
    ratio = (1 + embedding.alpha) / (1 - embedding.alpha)
    ax.set_title(
        title
        or f"{len(X)} points, normalised stress {embedding.normalised_stress:.3g}\n"
        f"straight up costs {ratio:.3g} times straight down (alpha = {embedding.alpha:.3g})",
        fontsize=10,
    )
    return ax


def _colour_values(color: ArrayLike) -> tuple[Any, list[str] | None]:
    """Numbers to colour by, and the names of groups if ``color`` holds words."""
    values = np.asarray(color)
    if values.dtype.kind in "OUSb":
        names, codes = np.unique(values.astype(str), return_inverse=True)
        return codes, names.tolist()
    return values, None


def _draw_drift(ax: Any, alpha: float) -> None:
    """Two arrows in the margin, as long as what a unit of effort reaches: short up, long down."""
    if alpha == 0:
        return
    scale = 0.16 * (1 - alpha)  # keeps the longer one within the corner
    style = {"arrowstyle": "-|>", "lw": 2}
    up, down = scale / (1 + alpha), scale / (1 - alpha)
    for length, sign, colour, text in (
        (up, 1, "tab:red", "up: costs more"),
        (down, -1, "tab:green", "down: less"),
    ):
        ax.annotate(
            "", xy=(0.035, 0.2 + sign * length), xytext=(0.035, 0.2), xycoords="axes fraction",
            arrowprops={**style, "color": colour}, zorder=4,
        )  # fmt: skip
        ax.text(
            0.05,
            0.2 + sign * length * 0.7,
            text,
            transform=ax.transAxes,
            color=colour,
            fontsize=8,
            va="center",
        )


def _write_labels(ax: Any, places: Any, names: list[str]) -> None:
    """Write each label on the first of eight sides of its point where it covers no point and no other label."""
    figure = ax.figure
    figure.draw_without_rendering()
    pixels = ax.transData.transform(places)
    renderer = figure.canvas.get_renderer()
    taken: list[Any] = []
    sides = [(5, 0, "left", "center"), (-5, 0, "right", "center"),
             (0, 5, "center", "bottom"), (0, -5, "center", "top"),
             (4, 4, "left", "bottom"), (-4, 4, "right", "bottom"),
             (4, -4, "left", "top"), (-4, -4, "right", "top")]  # fmt: skip
    for place, name in zip(places, names, strict=True):
        best, best_cost, best_box = sides[0], np.inf, None
        text = ax.annotate(name, place, (5, 0), textcoords="offset points", fontsize=7, annotation_clip=False)
        for side in sides:
            dx, dy, horizontal, vertical = side
            text.set(ha=horizontal, va=vertical)
            text.xyann = (dx, dy)
            box = text.get_window_extent(renderer)
            cost = sum(box.overlaps(other) for other in taken) * 2
            cost += int(((pixels > box.p0) & (pixels < box.p1)).all(axis=1).sum())
            if cost < best_cost:
                best, best_cost, best_box = side, cost, box
            if cost == 0:
                break
        text.set(ha=best[2], va=best[3])
        text.xyann = best[:2]
        if best_box is not None:
            taken.append(best_box)
