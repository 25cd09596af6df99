"""The picture of a map, in one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import check_arguments, check_number
from finsler.errors import InputError, check_count, printable
from finsler.plotting import canvas
from finsler.plotting.arcs import arcs_of, draw_arcs
from finsler.plotting.colors import CHEAP, COSTLY, known_colormap
from finsler.plotting.points import arrange, draw_points, named_points, painted
from finsler.plotting.swirl import Turn, draw_ball, draw_turn, rule, turn_key, turn_of
from finsler.solvers.swirl.choice import turning

if TYPE_CHECKING:
    from finsler.embedding import Embedding


def plot_map(
    embedding: Embedding,
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
) -> Any:
    """Draw a map in one, two or three dimensions, with the arrows of the drift.

    Where the drift turns, the map has a cross at its center, or a line along its axis, and rings labeled with what a way
    along them costs more or less; arrows on them show which way round is cheap.

    Parameters
    ----------
    embedding : Embedding
        The map. Beyond three dimensions the first two and the height are drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. A map in three dimensions needs ``projection="3d"``.
    labels : bool or sequence of points, optional
        Write labels beside all points, or beside those that are named (by label or number); by default beside all if
        there are labels and at most 150 points. A label for which there is no room is left out, and a note says so;
        in a window, zooming in brings it back.
    color : str or array-like of shape (n,), optional
        What to color by: the name of an attribute of the map, or values; the height by default. Numbers are values and get
        a colorbar. Words and booleans are groups and get a legend, of the eleven largest and "others" if there are more
        than twelve. Where it is None or not finite, points are hollow. To color by groups that carry numbers, make them
        words: ``clusters.astype(str)``. Values of a pandas Series whose index holds the map's labels are found by them. A
        page has the same colors.
    color_label : str, optional
        What the colors mean; by default the name of a Series.
    cmap : str or matplotlib Colormap, optional
        Colors of values; viridis by default.
    arcs : bool, "auto", sequence of pairs, sparse array, Digraph or graph
        Arrows to draw: those of the graph behind the map, by default ("auto") if there are at most 3,000; pairs
        ``(from, to)`` of labels or numbers, the entries of a sparse array of shape (n, n), or whatever
        :func:`~finsler.graphs.digraph.as_digraph` takes, whose nodes are then found by their labels. On a map whose ways
        are arcs of circles they are drawn so.
    unit_ball : bool or a point
        Explain the metric by its unit ball: how far one unit of effort leads in each direction, see :func:`unit_ball`.
        Otherwise the key shows this for straight up and straight down only. Where the drift turns, the ball differs from
        place to place: it is drawn round the point that is named (by label or number), or the one farthest from the center.
    size : float, optional
        Area of the points, in square points.
    title : str, optional
        Title; by default the size and the fit of the map.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> ax = plot_map(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0.2), unit_ball=True, arcs=[(0, 1)])
    >>> ax.get_ylabel()
    'height (up costs more)'
    """
    check_arguments(plot_map, locals(), besides=("labels",))
    size = check_number("size", size, 0.0, open_ends=True, optional=True)
    colors = painted(embedding, color, color_label)
    drawn = arcs_of(embedding, arcs)
    named = named_points(embedding, labels)
    n, m = embedding.n_points, embedding.n_components
    ax = canvas.axes_for(ax, (8.4, 7.2) if m > 1 else (6.4, 7.2), solid=m >= 3)
    cmap = known_colormap(cmap)
    places = places_on_map(embedding)
    size = float(np.clip(6000 / n, 5, 24)) if size is None else size
    remarks = [draw_points(ax, places, *colors, cmap, size), _left_out(embedding)]
    turn = turn_of(embedding)
    ball_at = _ball_point(embedding, turn, unit_ball)
    _set_axes(ax, places, embedding, turn)
    marks = []
    if turn is not None:
        marks = draw_turn(ax, turn)
        below = (
            m == 3 or ax.figure.canvas.figure.get_layout_engine() is not None
        )  # else such a long note covers the map
        remarks += [rule(turn) * below, "" if ball_at is None else draw_ball(ax, embedding, turn, ball_at)]
    canvas.set_title(ax, _describe(embedding))
    if title is not None:
        ax.set_title(printable(str(title)), fontsize=10)
    key = _key_of(ax, embedding, turn, unit_ball is not False)
    columns = () if m > 1 else (1,) if len(drawn.pairs) else (1, -1)
    words = "\n".join(filter(None, [*remarks, drawn.remark]))
    arrange(ax, places, named, words, key=key, marks=marks, columns=columns)
    if len(drawn.pairs):
        bend = embedding.kappa if embedding.geodesic else None
        draw_arcs(ax, places, drawn.pairs, size, flat=m == 1, bend=bend)
    return ax


def unit_ball(alpha: float, n_points: int = 361) -> NDArray[np.float64]:
    """Points that one unit of effort reaches from the origin, in a plane through the axis of the drift.

    The curve ``||u|| + alpha u_y = 1``, in polar coordinates ``r = 1 / (1 + alpha sin(theta))``: an ellipse with the
    origin in a focus, which reaches ``1 / (1 + alpha)`` up and ``1 / (1 - alpha)`` down.

    Parameters
    ----------
    alpha : float in [0, 1)
        Strength of the drift.
    n_points : int
        Points on the closed curve; the last equals the first.

    Returns
    -------
    ndarray of shape (n_points, 2)

    Examples
    --------
    >>> unit_ball(0.5, 5).round(3) + 0.0
    array([[ 1.   ,  0.   ],
           [ 0.   ,  0.667],
           [-1.   ,  0.   ],
           [ 0.   , -2.   ],
           [ 1.   ,  0.   ]])
    """
    check_arguments(unit_ball, locals())
    if not 0 <= alpha < 1:
        raise InputError(f"alpha must lie in [0, 1), got {alpha}.", argument="alpha")
    check_count("n_points", n_points, most=10_000_000)
    theta = np.linspace(0, 2 * np.pi, n_points)
    radius = 1 / (1 + alpha * np.sin(theta))
    return np.column_stack([radius * np.cos(theta), radius * np.sin(theta)])


def places_on_map(embedding: Embedding) -> NDArray[Any]:
    """Coordinates that are drawn: two or three of them; those of a map on a line stand above each other."""
    X, m = embedding.coordinates, embedding.n_components
    if m == 1:
        return np.column_stack([np.zeros(len(X)), X[:, 0]])
    return X if m == 2 else X[:, [0, 1, m - 1]]


def _ball_point(embedding: Embedding, turn: Turn | None, asked: Any) -> int | None:
    """Number of the point round which a ball is drawn, where it differs from place to place."""
    named = not isinstance(asked, bool | np.bool_)
    point = embedding.index(asked) if named else None
    if turn is None or asked is False:
        return None
    away = np.linalg.norm((embedding.coordinates - turn.center) @ np.column_stack([turn.p, turn.q]), axis=1)
    return int(np.argmax(away)) if point is None else point


def _set_axes(ax: Any, places: NDArray[Any], embedding: Embedding, turn: Turn | None) -> None:
    turns = turn is not None or not embedding.has_height
    level = turns or embedding.alpha == 0  # no way is up
    up = f"x{embedding.n_components}" if level else "height (up costs more)"
    if places.shape[1] == 3:
        ax.set(xlabel="x1", ylabel="x2", zlabel=up)
        canvas.equal_box(ax, places)
        if not turns:
            _draw_drift_in_space(ax, embedding.alpha)
    elif embedding.n_components == 2:
        ax.set(xlabel="x1" if turns else "x1 (both directions cost the same)", ylabel=up)
        canvas.equal_scale(ax)
        if turn is not None and turn.seen:
            ax.update_datalim([turn.center])
    else:
        ax.set(ylabel=up, xlim=(-1.6, 1), xticks=[])
        ax.axvline(0.0, color="#bbbbbb", lw=0.8, zorder=1)


def _left_out(embedding: Embedding) -> str:
    """Say what a picture in space leaves out of a map in more dimensions."""
    m = embedding.n_components
    if m <= 3:
        return ""
    across = embedding.coordinates[:, : m - 1].var(axis=0)
    share = float(across[2:].sum() / across.sum()) if across.sum() > 0 else 0.0
    return f"Shown are x1, x2 and the height of a map in {m} dimensions; the others hold {share:.0%} of the variance across."


def _describe(embedding: Embedding) -> str:
    """Size and fit of a map, as a title."""
    alpha = embedding.alpha
    fit = f"{embedding.n_points} points"
    if embedding.normalized_stress is not None:  # a learned map has none
        fit += f", normalized stress {canvas.fit_words(embedding.normalized_stress)}"
    if embedding.swirl is not None:
        return f"{fit}\n{turning(embedding.coordinates, embedding.drift, embedding.swirl, embedding.geodesic)[0]}"
    if alpha == 0:
        return f"{fit}\nboth ways cost the same (alpha = 0)"
    ratio = (1 + alpha) / (1 - alpha)
    return f"{fit}\nstraight up costs {ratio:.3g} times straight down (alpha = {alpha:.3g})"


def _key_of(ax: Any, embedding: Embedding, turn: Turn | None, ball: bool) -> Any:
    """What the arrows mean; nothing where both ways cost the same, or where a drift differs from place to place."""
    if turn is not None:
        return turn_key(ax, turn)
    return _key(ax, embedding.alpha, ball) if embedding.has_height and (ball or embedding.alpha > 0) else None


def _key(ax: Any, alpha: float, ball: bool) -> Any:
    """Box with arrows as long as what a unit of effort reaches, short up and long down; with the ball around them."""
    from matplotlib.lines import Line2D
    from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea
    from matplotlib.patches import FancyArrowPatch, Polygon
    from matplotlib.text import Text
    from matplotlib.transforms import Affine2D

    up, down = 1 / (1 + alpha), 1 / (1 - alpha)
    tall = float(np.clip(0.15 * canvas.size_in_points(ax)[1], 44, 74))  # of the arrows, in points
    scale = tall / (up + down)
    curve = unit_ball(alpha)
    left = scale * float(np.abs(curve[:, 0]).max()) if ball else 5.0
    area = DrawingArea(left + (max(left, 34) + 86 if ball else 112), tall + (18 if ball else 0))
    frame = Affine2D().scale(scale).translate(left, scale * down) + area.get_transform()
    if ball:
        area.add_artist(Polygon(curve, fc="#0072b218", ec="#555555", lw=1, transform=frame, gid="unit ball"))
        area.add_artist(Line2D(*unit_ball(0.0).T, color="#999999", lw=0.7, ls=":", transform=frame))
        area.add_artist(Text(0, tall + 11, "one unit of effort leads this far", fontsize=7, color="#333333"))
    words = (f"up costs {round(1 + alpha, 3):g} per unit", f"down costs {round(1 - alpha, 3):g} per unit")
    if ball:
        words = (f"up 1/(1+α) = {up:.3g}", f"down 1/(1−α) = {down:.3g}")
    for sign, reach, color, text in ((1, up, COSTLY, words[0]), (-1, down, CHEAP, words[1])):
        arrow = FancyArrowPatch((0, 0), (0, sign * reach), arrowstyle="-|>", lw=1.6, color=color,
                                mutation_scale=float(np.clip(0.7 * scale * reach, 3, 9)),
                                shrinkA=0, shrinkB=0, transform=frame, gid="drift")  # fmt: skip
        area.add_artist(arrow)
        at = left + (max(left, 34) + 4 if ball else 8)
        middle = scale * (down + sign * reach * (0.6 if ball else 0.5))
        area.add_artist(Text(at, middle, text, fontsize=7.5, color=color, va="center"))
    area.add_artist(Line2D([0], [0], marker="o", ms=2.5, color="#333333", transform=frame))
    box = AnchoredOffsetbox("lower left", child=area, pad=0.4, borderpad=0.4, frameon=True)
    box.patch.set(fc="#ffffff60", ec="#dddddd", lw=0.6)  # see-through: a point may end up behind it
    box.set(zorder=95, in_layout=False)
    ax.add_artist(box)
    return box


def _draw_drift_in_space(ax: Any, alpha: float) -> None:
    """Arrow beside the nearest upright edge of the box of a 3-D map; the key says what it means."""
    if alpha == 0:
        return
    (left, right), (front, back), (low, high) = ax.get_xlim(), ax.get_ylim(), ax.get_zlim()
    x, y = left - 0.04 * (right - left), front - 0.04 * (back - front)
    length = max(0.5 * (high - low), 0.2 * max(right - left, back - front))
    ax.quiver(x, y, low, 0, 0, length, color=COSTLY, lw=2, arrow_length_ratio=0.25, gid="drift")
    ax.text(x, y, low + 1.05 * length, "up", color=COSTLY, fontsize=8, ha="center", va="bottom")
