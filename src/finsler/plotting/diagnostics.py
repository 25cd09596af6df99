"""How well a map shows its data: Shepard diagram, heatmaps, and the asymmetry it explains."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from finsler.errors import InputError
from finsler.geometry.asymmetry import asymmetry_shown
from finsler.geometry.randers import randers_distances, randers_norm
from finsler.plotting.canvas import (
    CHEAP,
    DEAR,
    QUIET,
    axes_for,
    data_of,
    fit_words,
    list_names,
    named_legend,
    names_of,
    note,
    panels_for,
    set_title,
    size_in_points,
)

if TYPE_CHECKING:
    from finsler.data.matrix import Dissimilarities
    from finsler.embedding import Embedding

Array = NDArray[Any]

MISSING = "#e4e4e4"
MOST_NAMES = 50  # labels on the side of a heatmap
MOST_CELLS = 1000  # rows of a heatmap
ALL_PAIRS = 5_000_000  # unordered pairs up to which those to draw are chosen among all


class PairTable(NamedTuple):
    """Unordered pairs i < j, what the data say there (i to j) and back, and what the map says; NaN for unknown."""

    i: NDArray[np.intp]
    j: NDArray[np.intp]
    data: Array  # of shape (k, 2): there and back; a negative entry is a bound, "at least"
    weights: Array  # of shape (k, 2); 0 for unknown
    fit: Array  # of shape (k, 2)
    left_out: int  # pairs not drawn


def plot_shepard(
    embedding: Embedding, *, ax: Any = None, max_pairs: int = 2000, random_state: int = 0, title: str | None = None
) -> Any:  # fmt: skip
    """Draw the Shepard diagram: dissimilarities in the data against distances on the map.

    The two directions of a pair are joined by a thin line; a perfect map has all points on the diagonal.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    max_pairs : int
        Of more pairs than this, so many are drawn at random.
    random_state : int
        Seed of that choice.
    title : str, optional
        Title; by default the fit of the map.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from finsler import embed_matrix
    >>> ax = plot_shepard(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0.2))
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('dissimilarity in the data', 'distance on the map')
    >>> matplotlib.pyplot.close(ax.figure)
    """
    pairs = _pairs(embedding, data_of(embedding, "plot_shepard"), max_pairs, random_state)
    ax = axes_for(ax, (7.0, 7.0))
    from matplotlib.collections import LineCollection

    known, bound = pairs.weights > 0, pairs.data < 0
    value = np.abs(pairs.data)
    both = np.all(known & ~bound, axis=1)
    ends = np.stack([value, pairs.fit], axis=2)  # pair, direction, (data, map)
    ax.add_collection(
        LineCollection(list(ends[both]), colors="#bbbbbb", linewidths=0.4, zorder=1, gid="pairs")
    )
    dearer = np.zeros(value.shape, dtype=bool)
    dearer[both] = value[both] > value[both][:, ::-1]
    cheaper = np.zeros(value.shape, dtype=bool)
    cheaper[both] = value[both] < value[both][:, ::-1]
    equal = both[:, None] & ~dearer & ~cheaper
    kinds = [
        (dearer, "the dearer direction of a pair", {"color": DEAR, "marker": "^"}),
        (cheaper, "the cheaper direction", {"color": CHEAP, "marker": "v"}),
        (equal, "equal both ways", {"color": QUIET, "marker": "o"}),
        (known & ~bound & ~both[:, None], "known one way only", {"color": "#009e73", "marker": "s"}),
        (known & bound, "at least this far: fits above the line",
         {"facecolors": "none", "edgecolors": "#cc79a7", "marker": ">"}),
    ]  # fmt: skip
    size = float(np.clip(9000 / max(len(value), 1), 5, 22))
    handles, names = [], []
    for which, name, style in kinds:
        if which.any():
            handles.append(ax.scatter(*ends[which].T, s=size, linewidths=0.4, alpha=0.7, zorder=2, **style))
            names.append(name)
    top = 1.04 * float(ends[known].max(initial=0.0)) or 1.0
    handles += ax.plot([0, top], [0, top], color="black", lw=0.9, zorder=3)
    names.append("a perfect map")
    ax.set(xlim=(0, top), ylim=(0, top), xlabel="dissimilarity in the data", ylabel="distance on the map")
    ax.set_aspect("equal", adjustable="box")
    named_legend(ax, handles, names, loc="upper left")
    set_title(ax, title, f"Shepard diagram, normalized stress {fit_words(embedding.normalized_stress)}")
    note(ax, "Lines join the two directions of a pair." + _sampled(pairs))
    return ax


def plot_asymmetry(
    embedding: Embedding, *, ax: Any = None, max_pairs: int = 2000, random_state: int = 0, title: str | None = None
) -> Any:  # fmt: skip
    """Draw how much dearer ways are in the data than their ways back, against the climb on the map.

    Each pair known both ways is taken in the direction that goes up on the map. Its half difference
    ``(there - back) / 2`` should equal ``alpha`` times the climb: a map explains so much of the asymmetry as the points
    lie on the line of slope 1. Points below zero are pairs whose dearer way goes down on the map.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    max_pairs : int
        Of more pairs than this, so many are drawn at random. The shares in the title are those of all pairs.
    random_state : int
        Seed of that choice.
    title : str, optional
        Title; by default which share of the asymmetry the map explains, and which share any heights could.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from finsler import embed_matrix
    >>> ax = plot_asymmetry(embed_matrix([[0, 3, 5], [1, 0, 3], [1, 1, 0]], alpha=0.6))
    >>> ax.get_xlabel()
    'alpha × climb on the map, from lower to higher point'
    >>> matplotlib.pyplot.close(ax.figure)
    """
    data = data_of(embedding, "plot_asymmetry")
    pairs = _pairs(embedding, data, max_pairs, random_state, both_ways=True)
    if not len(pairs.i):
        raise InputError("plot_asymmetry needs pairs that are known both ways, and these data have none.")
    heights = embedding.coordinates @ embedding.drift
    explained, *_, possible = asymmetry_shown(data.matrix, data.weights, heights)
    climb = (pairs.fit[:, 0] - pairs.fit[:, 1]) / 2
    half = (pairs.data[:, 0] - pairs.data[:, 1]) / 2
    sign = np.where(climb < 0, -1.0, 1.0)
    climb, half = climb * sign, half * sign
    ax = axes_for(ax, (7.4, 6.2))
    size = float(np.clip(15000 / len(climb), 8, 22))
    dots = ax.scatter(climb, half, s=size, color=CHEAP, alpha=0.5, linewidths=0, zorder=2)
    ax.axhline(0.0, color="#bbbbbb", lw=0.8, zorder=1)
    reach = max(float(climb.max()), float(np.abs(half).max())) or 1.0
    (line,) = ax.plot([0, 1.05 * reach], [0, 1.05 * reach], color="black", lw=0.9, zorder=3)
    right = 1.05 * max(float(climb.max()), 0.15 * reach)
    bottom, top = min(float(half.min()), 0.0), max(float(half.max()), float(climb.max()))
    ax.set(
        xlim=(-0.02 * right, right), ylim=(bottom - 0.05 * reach, top + 0.08 * reach),
        xlabel="alpha × climb on the map, from lower to higher point",
        ylabel="(there − back) / 2 in the data",
    )  # fmt: skip
    named_legend(ax, [dots, line], ["a pair, taken uphill", "a map that explains it all"], loc="upper left")
    if explained is None:
        default = "The data are symmetric: there is no asymmetry to explain"
    else:
        default = f"The map explains {explained:.1%} of the asymmetry"
        if possible is not None:
            default += (
                f"\n(the best heights for these data would explain {possible:.1%}; the rest runs in circles)"
            )
    set_title(ax, title, default)
    note(ax, "Below zero: the dearer way goes down on the map." + _sampled(pairs))
    return ax


def plot_heatmaps(
    embedding: Embedding, *, ax: Any = None, cmap: Any = "viridis", title: str | None = None
) -> Any:
    """Draw the data, the distances on the map and the residuals side by side, ordered by height.

    Rows are "from", columns "to", lowest first: above the diagonal ways go up. What is missing in the data is grey. Of
    more than 1,000 points, so many, evenly spread over the order, are drawn.

    Parameters
    ----------
    embedding : Embedding
        The map, with its data.
    ax : sequence of 3 matplotlib Axes, optional
        Where to draw; a new figure by default.
    cmap : str or matplotlib Colormap
        Colors that data and map share; those of the residuals are red where the map is too far, blue where too near.
    title : str, optional
        Title of the figure; by default the fit of the map.

    Returns
    -------
    ndarray of 3 matplotlib Axes

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from finsler import embed_matrix
    >>> axes = plot_heatmaps(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0.2))
    >>> [ax.get_title() for ax in axes]
    ['data', 'map', 'map minus data']
    >>> matplotlib.pyplot.close(axes[0].figure)
    """
    data = data_of(embedding, "plot_heatmaps")
    n = embedding.n_points
    order = np.argsort(embedding.height, kind="stable")
    if n > MOST_CELLS:
        order = order[np.linspace(0, n - 1, MOST_CELLS).round().astype(int)]
    square = np.ix_(order, order)
    D = np.where(_known(data, order[:, None], order), data.matrix[square].astype(float), np.nan)
    fit = randers_distances(embedding.coordinates[order], drift=embedding.drift)
    np.fill_diagonal(D, 0.0)
    bound = D < 0
    D = np.abs(D)
    residual = np.where(bound, np.minimum(fit - D, 0.0), fit - D)
    new = ax is None
    axes = panels_for(ax, 3, (15.0, 5.3))
    from matplotlib import colormaps

    top = float(max(np.nanmax(D, initial=0.0), fit.max())) or 1.0
    limit = float(np.nanmax(np.abs(residual), initial=0.0)) or 1.0
    names = names_of(embedding)
    most = int(np.clip(size_in_points(axes[0])[1] / 6.2, 2, MOST_NAMES))
    shown = np.arange(0, len(order), -(-len(order) // most))
    panels = (
        ("data", D, cmap, 0.0, top, "dissimilarity"),
        ("map", fit, cmap, 0.0, top, "dissimilarity in the data, distance on the map"),
        ("map minus data", residual, "RdBu_r", -limit, limit, "residual (red: too far on the map)"),
    )
    for panel, (name, values, colors, low, high, label) in zip(axes, panels, strict=True):
        colors = (colormaps[colors] if isinstance(colors, str) else colors).with_extremes(bad=MISSING)
        picture = panel.imshow(values, cmap=colors, vmin=low, vmax=high)
        if name != "data":
            beside = panel if name != "map" or panel.figure is not axes[0].figure else list(axes[:2])
            panel.figure.colorbar(picture, ax=beside, shrink=0.8, label=label)
        panel.set_title(name, fontsize=10)
        panel.set_xlabel("to (lowest first)")
        size = float(np.clip(230 / max(len(shown), 1), 4.5, 8))
        list_names(panel.xaxis, shown, [names[order[k]] for k in shown], rotation=90, fontsize=size)
        list_names(panel.yaxis, shown, [names[order[k]] for k in shown], fontsize=size)
    axes[0].set_ylabel("from (lowest first)")
    remarks = ["Ordered by height: above the diagonal ways go up."]
    if np.isnan(D).any():
        remarks.append("Grey: missing.")
    if bound.any():
        remarks.append(
            f"{int(bound.sum())} entries are bounds (at least so far); their residual is 0 where kept."
        )
    if len(order) < n:
        remarks.append(f"Shown are {len(order):,} of {n:,} points.")
    if new:
        axes[0].figure.supxlabel(" ".join(remarks), x=0.01, ha="left", fontsize=7.5, color=QUIET)
    else:
        note(axes[0], " ".join(remarks))
    if new or title is not None:
        words = f"{n} points, normalized stress {fit_words(embedding.normalized_stress)}"
        axes[0].figure.suptitle(words if title is None else title, fontsize=10)
    return axes


def _known(data: Dissimilarities, rows: Any, columns: Any) -> Array:
    """Which ordered pairs have a value that counts, for whatever indexes the matrix; the diagonal has none."""
    known = np.isfinite(data.matrix[rows, columns])
    if data.weights is not None:
        known &= np.asarray(data.weights[rows, columns]) > 0
    return known & (np.asarray(rows) != np.asarray(columns))


def _pairs(
    embedding: Embedding, data: Dissimilarities, most: int, seed: int, *, both_ways: bool = False
) -> PairTable:
    """Pairs with a known value, or only those with one each way and no bound; of many, some drawn at random."""
    if most < 1:
        raise InputError(f"max_pairs must be at least 1, got {most}.")
    D, n = data.matrix, embedding.n_points

    def wanted(i: Array, j: Array) -> Array:
        there, back = _known(data, i, j), _known(data, j, i)
        if both_ways:
            return there & back & (D[i, j] >= 0) & (D[j, i] >= 0)
        return there | back

    rng = np.random.default_rng(seed)
    total, i, j = n * (n - 1) // 2, np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    if total > ALL_PAIRS:  # look at some only; if too few of them are known, at all
        codes = np.unique(rng.integers(0, n * n, 40 * most))
        i, j = np.divmod(rng.permutation(codes), n)
        i, j = i[i < j], j[i < j]
        chosen = wanted(i, j)
        i, j = i[chosen], j[chosen]
    if len(i) < most:
        rows = [np.arange(k + 1, n) for k in range(n)]
        rows = [later[wanted(np.full(len(later), k), later)] for k, later in enumerate(rows)]
        i, j = np.repeat(np.arange(n), [len(row) for row in rows]), np.concatenate(rows)
        total = len(i)
        if total > most:
            part = rng.choice(total, most, replace=False)
            i, j = i[part], j[part]
    order = np.lexsort([j[:most], i[:most]])
    i, j = i[order], j[order]
    there, back = _known(data, i, j), _known(data, j, i)
    values = np.column_stack([np.where(there, D[i, j], np.nan), np.where(back, D[j, i], np.nan)])
    W = data.weights
    weights = [there, back] if W is None else [there * W[i, j], back * W[j, i]]
    step = embedding.coordinates[j] - embedding.coordinates[i]
    fit = [randers_norm(step, omega=embedding.drift), randers_norm(-step, omega=embedding.drift)]
    return PairTable(
        i,
        j,
        values.astype(float),
        np.column_stack(weights).astype(float),
        np.column_stack(fit),
        total - len(i),
    )


def _sampled(pairs: PairTable) -> str:
    total = len(pairs.i) + pairs.left_out
    return f" Shown are {len(pairs.i):,} of {total:,} pairs, drawn at random." if pairs.left_out else ""
