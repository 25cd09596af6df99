"""How well a map shows its data: Shepard diagram, heatmaps, and the asymmetry it shows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_arguments
from finsler.errors import InputError, check_count
from finsler.geometry.randers import randers_distances
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY, GROUP_COLORS, QUIET, colormap

if TYPE_CHECKING:
    from finsler.data.matrix import Dissimilarities
    from finsler.embedding import Embedding

Array = NDArray[Any]

UNKNOWN = "#e4e4e4"  # cells of a heatmap
MOST_NAMES = 50  # labels on the side of a heatmap
MOST_CELLS = 1000  # rows of a heatmap


class PairTable(NamedTuple):
    """What the data say of pairs there and back, and what the map says; NaN for unknown."""

    data: Array  # of shape (k, 2): there and back; a negative entry is a bound, "at least"
    fit: Array  # of shape (k, 2)
    total: int  # pairs of which these are drawn


def plot_shepard(embedding: Embedding, *, ax: Any = None, max_pairs: int = 2000) -> Any:
    """Draw the Shepard diagram: dissimilarities in the data against distances on the map.

    The two directions of a pair are joined by a thin line; a perfect map has all points on the diagonal. With a scaling
    other than "ratio", it has them on the fitted function: a line, a curve, or steps (vertical where ties are broken); with
    a function for each row or column, disparities stand in the place of the data.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    max_pairs : int
        Of more pairs than this, so many are drawn at random, the same each time.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> ax = plot_shepard(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0.2))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('dissimilarity in the data', 'distance on the map')
    """
    check_arguments(plot_shepard, locals())
    compared, data, function, words = _compared(embedding, embedding.data_for("plot_shepard"))
    pairs = _pairs(compared, data, max_pairs)
    ax = canvas.axes_for(ax, (7.0, 7.0))
    from matplotlib.collections import LineCollection

    shift = embedding.provenance.shift if function is not None else 0.0
    value, known, bound = np.abs(pairs.data) - shift, ~np.isnan(pairs.data), pairs.data < 0
    both = np.all(known & ~bound, axis=1)
    ends = np.stack([value, pairs.fit], axis=2)  # pair, direction, (data, map)
    ax.add_collection(
        LineCollection(list(ends[both]), colors="#bbbbbb", linewidths=0.4, zorder=1, gid="pairs")
    )
    costlier, cheaper = both[:, None] & (value > value[:, ::-1]), both[:, None] & (value < value[:, ::-1])
    equal = both[:, None] & ~costlier & ~cheaper
    kinds = [
        (costlier, "the costlier direction of a pair", {"color": COSTLY, "marker": "^"}),
        (cheaper, "the cheaper direction", {"color": CHEAP, "marker": "v"}),
        (equal, "equal both ways", {"color": QUIET, "marker": "o"}),
        (known & ~bound & ~both[:, None], "known one way only", {"color": GROUP_COLORS[2], "marker": "s"}),
        (known & bound, "at least this far: fits above the line",
         {"facecolors": "none", "edgecolors": GROUP_COLORS[3], "marker": ">"}),
    ]  # fmt: skip
    size = float(np.clip(9000 / max(len(value), 1), 5, 22))
    handles, names = [], []
    for which, name, style in kinds:
        if which.any():
            handles.append(ax.scatter(*ends[which].T, s=size, linewidths=0.4, alpha=0.7, zorder=2, **style))
            names.append(name)
    ax.set(xlabel=words[0], ylabel=words[1])
    if function is None:
        top = 1.04 * float(ends[known].max(initial=0.0)) or 1.0
        handles += ax.plot([0, top], [0, top], color="black", lw=0.9, zorder=3)
        ax.set(xlim=(0, top), ylim=(0, top))
        ax.set_aspect("equal", adjustable="box")
    else:
        steps = "steps-post" if embedding.scaling.kind == "ordinal" else "default"
        handles += ax.plot(function.x - shift, function.y, color="black", lw=1.1, drawstyle=steps, zorder=3)
        ax.set_ylim(0, 1.04 * float(max(pairs.fit[known].max(initial=0.0), function.y.max())))
    names.append("a perfect map")
    canvas.named_legend(ax, handles, names, loc="upper left")
    fit = f"normalized stress {canvas.fit_words(embedding.normalized_stress)}"
    if embedding.scaled is not None:
        fit = f"{embedding.scaling}: stress-1 (Kruskal) {canvas.fit_words(embedding.stress1)}"
    canvas.set_title(ax, f"Shepard diagram, {fit}")
    canvas.note(ax, "Lines join the two directions of a pair." + _sampled(pairs))
    return ax


def _compared(
    embedding: Embedding, fitted_to: Dissimilarities
) -> tuple[Embedding, Dissimilarities, Any, tuple[str, str]]:
    """What a Shepard diagram shows: map, data, the function between them if it is one for all, the words of its axes."""
    data, condition = embedding.data, embedding.scaling.conditional
    words = "dissimilarity in the data", "distance on the map"
    if embedding.scaled is None or data is None:
        return embedding, fitted_to, None, words
    if embedding.scaling.by_group:
        return embedding, fitted_to, None, (f"disparity: each {condition} scaled by itself", words[1])
    if condition == "parts":
        data = replace(data, matrix=(data.matrix + data.matrix.T) / 2)
        embedding = replace(embedding, drift=np.zeros_like(embedding.drift))
        words = "dissimilarity in the data, mean of both ways", "distance on the map, without the drift"
    return embedding, data, embedding.transformation(), words


def plot_asymmetry(embedding: Embedding, *, ax: Any = None, max_pairs: int = 2000) -> Any:
    """Draw how much costlier ways are in the data than their ways back, against the climb on the map.

    Each pair known both ways is taken in the direction that goes up on the map. Its half difference
    ``(there - back) / 2`` should equal ``alpha`` times the climb: a map shows so much of the asymmetry as the points lie on
    the line of slope 1. Points below zero are pairs whose costlier way goes down on the map. Where the drift turns, the
    half difference on the map takes the place of the climb.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    max_pairs : int
        Of more pairs than this, so many are drawn at random. The shares in the title are those of all pairs.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> ax = plot_asymmetry(embed_matrix([[0, 3, 5], [1, 0, 3], [1, 1, 0]], alpha=0.6))
    >>> ax.get_xlabel()
    'alpha × climb on the map, from lower to higher point'
    """
    check_arguments(plot_asymmetry, locals())
    data = embedding.data_for("plot_asymmetry")
    pairs = _pairs(embedding, data, max_pairs, both_ways=True)
    if not pairs.total:
        raise InputError("plot_asymmetry needs pairs that are known both ways, and these data have none.")
    turns = embedding.swirl is not None
    climb = (pairs.fit[:, 0] - pairs.fit[:, 1]) / 2
    half = (pairs.data[:, 0] - pairs.data[:, 1]) / 2
    sign = np.where(climb < 0, -1.0, 1.0)
    climb, half = climb * sign, half * sign
    ax = canvas.axes_for(ax, (7.4, 6.2))
    size = float(np.clip(15000 / len(climb), 8, 22))
    dots = ax.scatter(climb, half, s=size, color=CHEAP, alpha=0.5, linewidths=0, zorder=2)
    ax.axhline(0.0, color="#bbbbbb", lw=0.8, zorder=1)
    reach = max(float(climb.max()), float(np.abs(half).max())) or 1.0
    (line,) = ax.plot([0, 1.05 * reach], [0, 1.05 * reach], color="black", lw=0.9, zorder=3)
    right = 1.05 * max(float(climb.max()), 0.15 * reach)
    bottom, top = min(float(half.min()), 0.0), max(float(half.max()), float(climb.max()))
    ax.set(
        xlim=(-0.02 * right, right), ylim=(bottom - 0.05 * reach, top + 0.08 * reach),
        xlabel="(there − back) / 2 on the map" if turns else "alpha × climb on the map, from lower to higher point",
        ylabel="(there − back) / 2 in the data",
    )  # fmt: skip
    pair = "a pair, taken the way that is costlier on the map" if turns else "a pair, taken uphill"
    canvas.named_legend(ax, [dots, line], [pair, "a map that shows it all"], loc="upper left")
    canvas.set_title(ax, f"Asymmetry that the map shows: {embedding.asymmetry_shown()}")
    wrong = "is the cheaper one" if turns else "goes down"
    canvas.note(ax, f"Below zero: the costlier way {wrong} on the map." + _sampled(pairs))
    return ax


def plot_heatmaps(embedding: Embedding, *, ax: Any = None) -> Any:
    """Draw the data, the distances on the map and the residuals side by side, ordered by height.

    Rows are "from", columns "to", lowest first: above the diagonal ways go up. What is missing in the data is gray. Of
    more than 1,000 points, so many, evenly spread over the order, are drawn. Data and map share their colors; residuals are
    red where the map is too far, blue where too near.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : sequence of 3 matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    ndarray of 3 matplotlib Axes

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> axes = plot_heatmaps(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0.2))
    >>> [ax.get_title() for ax in axes]
    ['data', 'map', 'map minus data']
    """
    check_arguments(plot_heatmaps, locals())
    names, D, fit, residual, remarks = _cells(embedding, embedding.data_for("plot_heatmaps"))
    axes = canvas.panels_for(ax, 3, (15.0, 5.3))
    top = float(max(np.nanmax(D, initial=0.0), fit.max())) or 1.0
    limit = float(np.nanmax(np.abs(residual), initial=0.0)) or 1.0
    both = list(axes[:2]) if axes[1].figure is axes[0].figure else axes[1]
    words = "dissimilarity in the data, distance on the map"
    _draw_cells(axes[0], "data", D, names, (0.0, top))
    picture = _draw_cells(axes[1], "map", fit, names, (0.0, top))
    axes[1].figure.colorbar(picture, ax=both, shrink=0.8, label=words)
    picture = _draw_cells(axes[2], "map minus data", residual, names, (-limit, limit))
    axes[2].figure.colorbar(picture, ax=axes[2], shrink=0.8, label="residual (red: too far on the map)")
    axes[0].set_ylabel("from (lowest first)")
    if ax is None:
        axes[0].figure.supxlabel(remarks, x=0.01, ha="left", fontsize=7.5, color=QUIET)
        words = canvas.fit_words(embedding.normalized_stress)
        axes[0].figure.suptitle(f"{embedding.n_points} points, normalized stress {words}", fontsize=10)
    else:
        canvas.note(axes[0], remarks)
    return axes


def _cells(embedding: Embedding, data: Dissimilarities) -> tuple[list[str], Array, Array, Array, str]:
    """Names, data, map, residuals of points in the order of their height, NaN for unknown; and what to say of them."""
    n = embedding.n_points
    order = np.argsort(embedding.coordinates[:, -1], kind="stable")
    if n > MOST_CELLS:
        order = order[np.linspace(0, n - 1, MOST_CELLS).round().astype(int)]
    D = np.where(_known(data, order[:, None], order), data.matrix[np.ix_(order, order)].astype(float), np.nan)
    np.fill_diagonal(D, 0.0)
    fit = randers_distances(embedding.coordinates[order], **embedding.metric)
    bound = D < 0
    D = np.abs(D)
    up = "Ordered by height: above the diagonal ways go up."
    remarks = [up if embedding.has_height else f"Ordered by x{embedding.n_components}."]
    if np.isnan(D).any():
        remarks.append("Gray: missing.")
    if bound.any():
        remarks.append(f"{bound.sum()} entries are bounds (at least so far); their residual is 0 where kept.")
    if len(order) < n:
        remarks.append(f"Shown are {len(order):,} of {n:,} points.")
    names = canvas.names_of(embedding)
    residual = np.where(bound, np.minimum(fit - D, 0.0), fit - D)
    return [names[i] for i in order], D, fit, residual, " ".join(remarks)


def _draw_cells(ax: Any, title: str, values: Array, names: list[str], limits: tuple[float, float]) -> Any:
    """Draw a matrix, with as many names at its sides as there is space for."""
    from matplotlib import colormaps

    colors = (colormaps["RdBu_r"] if limits[0] < 0 else colormap()).with_extremes(bad=UNKNOWN)
    picture = ax.imshow(values, cmap=colors, vmin=limits[0], vmax=limits[1])
    ax.set_title(title, fontsize=10)
    ax.set_xlabel("to (lowest first)")
    most = int(np.clip(canvas.size_in_points(ax)[1] / 6.2, 2, MOST_NAMES))
    shown = np.arange(0, len(names), -(-len(names) // most))
    style = {"fontsize": float(np.clip(230 / max(len(shown), 1), 4.5, 8))}
    canvas.list_names(ax.xaxis, shown, [names[k] for k in shown], rotation=90, **style)
    canvas.list_names(ax.yaxis, shown, [names[k] for k in shown], **style)
    return picture


def _known(data: Dissimilarities, rows: Any, columns: Any) -> Array:
    """Which ordered pairs have a value that counts, for whatever indexes the matrix; the diagonal has none."""
    known = np.isfinite(data.matrix[rows, columns])
    if data.weights is not None:
        known &= np.asarray(data.weights[rows, columns]) > 0
    return known & (np.asarray(rows) != np.asarray(columns))


def _pairs(embedding: Embedding, data: Dissimilarities, most: int, *, both_ways: bool = False) -> PairTable:
    """Pairs with a known value, or only those with one each way and no bound; of many, some drawn at random."""
    check_count("max_pairs", most)
    D, n = data.matrix, embedding.n_points

    def partners(i: int) -> Array:
        j = np.arange(i + 1, n)
        there, back = _known(data, i, j), _known(data, j, i)
        return j[there & back & (D[i, j] >= 0) & (D[j, i] >= 0) if both_ways else there | back]

    ends = np.cumsum([len(partners(i)) for i in range(n)])  # counted first: all pairs may not fit into memory
    total = int(ends[-1])
    chosen = np.arange(total)
    if total > most:
        chosen = np.sort(np.random.default_rng(0).choice(total, most, replace=False))
    i = np.searchsorted(ends, chosen, side="right")
    parts = [
        partners(k)[chosen[i == k] - ends[k]] for k in np.unique(i)
    ]  # from the end of a row, as it is negative
    j = np.concatenate([np.empty(0, dtype=np.intp), *parts])
    there, back = _known(data, i, j), _known(data, j, i)
    values = np.column_stack([np.where(there, D[i, j], np.nan), np.where(back, D[j, i], np.nan)])
    return PairTable(values.astype(float), embedding.both_ways(i, j), total)


def _sampled(pairs: PairTable) -> str:
    drawn = len(pairs.fit)
    return f" Shown are {drawn:,} of {pairs.total:,} pairs, drawn at random." if drawn < pairs.total else ""
