"""What a drift that turns looks like: its center or axis, rings labeled with what they cost, arrows along the cheap way.

What is drawn follows from a `Turn`, which pictures and pages share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler.geometry.swirl import arc_cost
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY, QUIET
from finsler.solvers.swirl.choice import NEAR

if TYPE_CHECKING:
    from finsler.embedding import Embedding

Array = NDArray[np.floating[Any]]

STEPS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)  # between the values of rings
INSIDE = 1.5  # map radii within which the center is drawn though no point is near
ARROWS = 4  # on a ring
DIRECTIONS = 72  # looked at for the labels of the rings


class Turn(NamedTuple):
    """Where a drift turns, and the rings to draw. Going round from `p` to `q` is the costly way."""

    center: Array  #: Of an axis, the point nearest to the middle of the map.
    p: Array  #: Unit vectors of the plane that turns, at right angles.
    q: Array
    kappa: float  #: Above 0.
    values: Array  #: What a way along each ring costs more or less, as a share: kappa times its radius.
    rim: float  #: The same at the point that is farthest out.
    axis: Array | None  #: Direction of the axis in space, None in the plane.
    beta: float  #: Drift along the axis.
    reach: tuple[float, float]  #: How far the points lie along the axis from the center.
    sector: tuple[
        float, float
    ]  #: Angles between which the points lie, from `p` towards `q`; all around if they do.
    label_angle: float  #: Where on the rings points are few.
    seen: bool  #: Whether the center is near enough to be drawn.

    @property
    def radii(self) -> Array:
        """Of the rings."""
        return np.asarray(self.values) / self.kappa

    @property
    def ends(self) -> Array:
        """Of the line along the axis, a little longer than the map; of a center, that itself."""
        low, high = self.reach
        more = 0.12 * (high - low)
        return np.asarray(
            self.center + np.outer([low - more, high + more], 0.0 if self.axis is None else self.axis)
        )

    def on_ring(self, radius: float, angles: ArrayLike) -> Array:
        """Points of a ring at some angles, one a row."""
        angle = np.asarray(angles, dtype=float)[..., None]
        return np.asarray(self.center + radius * (np.cos(angle) * self.p + np.sin(angle) * self.q))


def turn_of(embedding: Embedding) -> Turn | None:
    """What to draw of a drift that turns; None if it does not, or so far from the map that an arrow tells as much.

    Rings are at round values: as few as make at least three up to the farthest point; of a center outside the map, from the
    nearest one on.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from finsler import embed_matrix
    >>> from finsler.geometry.swirl import swirl_matrix
    >>> flat = embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], alpha=0)
    >>> turn = turn_of(replace(flat, swirl=swirl_matrix(0.1, 2)))
    >>> turn.values, turn.radii
    (array([0.05, 0.1 , 0.15, 0.2 ]), array([0.5, 1. , 1.5, 2. ]))
    """
    screw, X = embedding.screw, embedding.coordinates
    if screw is None or embedding.n_components not in (2, 3) or len(X) < 2:
        return None
    middle = X.mean(axis=0)
    radius = float(np.linalg.norm(X - middle, axis=1).max())
    away_of_middle = float(screw.radii(middle[None])[0])
    if not radius > 0 or away_of_middle > NEAR * radius:
        return None
    kappa, (p, q), axis, center = float(screw.kappas[0]), screw.planes[0], screw.axis, screw.center
    reach, beta = (0.0, 0.0), 0.0
    if axis is not None:
        center = center + axis * float((middle - center) @ axis)
        along = (X - center) @ axis
        reach, beta = (float(along.min()), float(along.max())), float(screw.beta @ axis)
    flat = (X - center) @ np.column_stack([p, q])
    away, sector = np.linalg.norm(flat, axis=1), _sector(flat)
    nearest = 0.0 if sector[1] - sector[0] > np.pi else float(away.min())
    values = round_values(kappa * nearest, kappa * float(away.max()))
    angle = _free_direction(flat, values / kappa, sector)
    seen = away_of_middle <= INSIDE * radius
    return Turn(
        center, p, q, kappa, values, kappa * float(away.max()), axis, beta, reach, sector, angle, seen
    )


def round_values(low: float, high: float) -> Array:
    """Round numbers from `low` to `high`, 0 left out: the multiples of the largest step that gives three or more.

    Examples
    --------
    >>> round_values(0.0, 0.19)
    array([0.05, 0.1 , 0.15])
    """
    for step in STEPS:
        first, last = max(int(np.ceil(low / step)), 1), int(np.floor(high / step))
        if last - first >= 2:
            return np.round(step * np.arange(first, last + 1), 3)
    return np.array([high])


def _sector(flat: Array) -> tuple[float, float]:
    """Angles between which points lie, seen from the origin: all but the widest gap, if that is a half turn or more."""
    angles = np.sort(np.arctan2(flat[:, 1], flat[:, 0]))
    gaps = np.diff(angles, append=angles[0] + 2 * np.pi)
    widest = int(np.argmax(gaps))
    if gaps[widest] < np.pi:
        return 0.0, 2 * np.pi
    low = angles[(widest + 1) % len(angles)]
    return float(low), float(low + 2 * np.pi - gaps[widest])


def _free_direction(flat: Array, radii: Array, sector: tuple[float, float]) -> float:
    """Angle at which points of the rings are far from the points of the map, and not outside of it."""
    angles = np.linspace(*sector, DIRECTIONS, endpoint=False)
    spots = radii[None, :, None] * np.column_stack([np.cos(angles), np.sin(angles)])[:, None, :]
    size = float(np.ptp(flat, axis=0).max())
    free = np.array([[np.linalg.norm(flat - spot, axis=1).min() for spot in row] for row in spots])
    outside = np.maximum(spots - flat.max(axis=0), flat.min(axis=0) - spots).max(axis=2) > 0
    return float(angles[np.argmax(np.where(outside, 0.0, np.minimum(free, 0.06 * size)).sum(axis=1))])


def way(start: ArrayLike, end: ArrayLike, kappa: float, n_points: int = 33) -> Array:
    """Cheapest way in a plane whose drift turns by kappa: an arc of radius ``1/(2 kappa)``, on the left for kappa > 0.

    Examples
    --------
    >>> way([0.0, 0.0], [1.0, 0.0], 0.5, 3).round(3)
    array([[0.   , 0.   ],
           [0.5  , 0.134],
           [1.   , 0.   ]])
    """
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    e = float(np.linalg.norm(b - a))
    half = float(
        np.arcsin(np.clip(kappa * e, -1.0, 1.0))
    )  # half of the angle by which the way turns, to the right
    if abs(half) < 1e-9:
        return np.linspace(a, b, n_points)
    ahead = (b - a) / e
    left = np.array([-ahead[1], ahead[0]])
    radius, turns = e / (2 * np.sin(half)), np.linspace(-half, half, n_points)
    x, y = radius * np.sin(turns), radius * (np.cos(turns) - np.cos(half))
    return np.asarray((a + b) / 2 + x[:, None] * ahead + y[:, None] * left)


def ball_at(embedding: Embedding, turn: Turn, i: int, effort: float, n_points: int = 181) -> Array:
    """How far an effort leads from a point in the plane that turns: the curve ``f(r) + r omega . u = effort``.

    Of straight ways an ellipse with the point in a focus.
    """
    angles = np.linspace(0, 2 * np.pi, n_points)
    u = np.cos(angles)[:, None] * turn.p + np.sin(angles)[:, None] * turn.q
    x = embedding.coordinates[i]
    climb = u @ embedding.drift_at(x[None])[0]
    r = effort / (1 + climb)
    if embedding.geodesic:
        for _ in range(6):  # Newton; f is concave and close to r
            slope = np.sqrt(np.maximum(1 - (turn.kappa * r) ** 2, 0.0)) + climb
            r = r - (arc_cost(r, turn.kappa) + r * climb - effort) / np.maximum(slope, 0.05)
    return np.asarray(x + r[:, None] * u)


def rule(turn: Turn) -> str:
    """How to read what is drawn, in words."""
    share = f"{100 * turn.rim:.3g} %"
    where = "center (the cross)" if turn.seen else "center, which lies outside of the picture,"
    triangle = "the triangle with the center"
    if turn.axis is not None:
        where, triangle = "axis", "the triangle with the axis, seen along it"
    return (
        f"Going round with the arrows is cheap: at the rim it costs {share} less, against them {share} more. "
        f"Straight towards the {where} both ways cost the same; else the difference is 4 kappa times the area of {triangle} "
        f"(kappa = {turn.kappa:.3g})."
    )


def record(turn: Turn) -> dict[str, Any]:
    """What the script of a page needs, ready for JSON."""
    rings = [
        {"radius": float(radius), "label": _percent(value), "arrows": arrow_angles(turn, radius).tolist()}
        for value, radius in zip(turn.values, turn.radii, strict=True)
    ]
    vectors = {name: getattr(turn, name) for name in ("center", "p", "q", "axis")}
    plain = {name: None if vector is None else vector.tolist() for name, vector in vectors.items()}
    numbers = {name: getattr(turn, name) for name in ("kappa", "beta", "seen")}
    return {**plain, **numbers, "ends": turn.ends.tolist(), "label_angle": turn.label_angle, "rings": rings}


def draw_turn(ax: Any, turn: Turn) -> list[Any]:
    """Draw cross or axis, rings, and arrows along the cheap way; return the labels of the rings."""
    if turn.axis is None:
        return _draw_in_plane(ax, turn)
    _draw_in_space(ax, turn)
    return []


def _percent(value: float) -> str:
    return f"±{100 * value:.3g} %"


def arrow_angles(turn: Turn, radius: float) -> Array:
    """Angles of the tails and the heads of the arrows on a ring, which avoid its label."""
    low, high = turn.sector
    if high - low >= 2 * np.pi:
        middles = turn.label_angle + 2 * np.pi * (np.arange(ARROWS) + 0.5) / ARROWS
    else:
        middles = low + (high - low) * np.array([0.2, 0.8])
    half = min(0.17 * float(turn.radii[-1]) / radius, 0.5, 0.15 * (high - low))
    return np.column_stack([middles + half, middles - half])  # the cheap way: from q to p


def _draw_in_plane(ax: Any, turn: Turn) -> list[Any]:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Circle, FancyArrowPatch
    from matplotlib.path import Path

    cross = Line2D(*turn.center[:, None], marker="+", ms=13, mew=2, color="#222222", zorder=4, gid="center")
    ax.add_artist(cross)  # unlike ax.plot, an artist leaves the limits of the map as they are
    labels = []
    for k, (value, radius) in enumerate(zip(turn.values, turn.radii, strict=True)):
        ring = Circle(
            tuple(turn.center), radius, fill=False, ec=QUIET, lw=0.8, ls=(0, (5, 4)), zorder=1.5, gid="ring"
        )
        ax.add_artist(ring)
        wide = 1.2 + 1.3 * (k + 1) / len(turn.values)
        for tail, head in arrow_angles(turn, radius):
            path = Path(turn.on_ring(radius, np.linspace(tail, head, 12)))
            ax.add_artist(FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=5 + 4 * wide, lw=wide,
                                          color=CHEAP, zorder=2.5, gid="cheap way"))  # fmt: skip
        spot = turn.on_ring(radius, turn.label_angle)
        box = {"fc": "#ffffffd0", "ec": "none", "pad": 1.0}
        labels.append(ax.text(*spot, _percent(value), fontsize=8, color="#333333", ha="center", va="center",
                              bbox=box, clip_on=True, zorder=4, in_layout=False, gid="ring label"))  # fmt: skip
    return labels


def _draw_in_space(ax: Any, turn: Turn) -> None:
    ends = turn.ends
    ax.plot(*ends.T, color="#222222", lw=1.4, zorder=4, gid="axis")
    around = np.linspace(0, 2 * np.pi, 121)
    for k, (value, radius) in enumerate(zip(turn.values, turn.radii, strict=True)):
        ax.plot(*turn.on_ring(radius, around).T, color=QUIET, lw=0.9, ls=(0, (5, 4)), gid="ring")
        wide = 1.2 + 1.3 * (k + 1) / len(turn.values)
        for tail, head in arrow_angles(turn, radius):
            for line in arrow_lines(turn, radius, tail, head):
                ax.plot(*line.T, color=CHEAP, lw=wide, solid_capstyle="round", gid="cheap way")
        box = {"fc": "#ffffffb0", "ec": "none", "pad": 0.8}
        ax.text(*turn.on_ring(radius, turn.label_angle), _percent(value), fontsize=8, color="#333333", ha="center",
                va="center", bbox=box, zorder=20, gid="ring label")  # fmt: skip
    if abs(turn.beta) > 0.005:
        # Along the axis one way costs more: the arrow shows the cheap one, as those on the rings do.
        tip, other = ends if turn.beta > 0 else ends[::-1]
        step = 0.2 * (tip - other)
        ax.quiver(*(tip - step), *step, color=CHEAP, lw=2, arrow_length_ratio=0.4, gid="beta")


def arrow_lines(turn: Turn, radius: float, tail: float, head: float) -> list[Array]:
    """Lines of an arrow on a ring: its shaft, and its head."""
    shaft = turn.on_ring(radius, np.linspace(tail, head, 9))
    size = 0.07 * float(turn.radii[-1])
    behind = head + np.sign(tail - head) * 1.6 * size / radius
    wings = [turn.on_ring(radius + side * size, behind) for side in (1, -1)]
    return [shaft, np.array([wings[0], shaft[-1], wings[1]])]


def draw_ball(ax: Any, embedding: Embedding, turn: Turn, i: int) -> str:
    """Draw how far an effort leads from a point, beside what it would be without a drift; return the words for it."""
    X = embedding.coordinates
    reach = 0.3 * float(np.linalg.norm(X - X.mean(axis=0), axis=1).max())
    effort = float(f"{reach:.0e}")
    curve = ball_at(embedding, turn, i, effort)
    angles = np.linspace(0, 2 * np.pi, 181)[:, None]
    circle = X[i] + effort * (np.cos(angles) * turn.p + np.sin(angles) * turn.q)
    ax.plot(*curve.T, color=COSTLY, lw=1.4, zorder=4, gid="unit ball")
    ax.plot(*circle.T, color=COSTLY, lw=0.9, ls=":", zorder=4)
    ax.plot(*X[i][:, None], marker="o", ms=5, mfc="none", mec=COSTLY, mew=1.4, zorder=5)
    return f"Round {canvas.names_of(embedding)[i]}: how far an effort of {effort:g} leads (dotted: without a drift)."


def turn_key(ax: Any, turn: Turn) -> Any:
    """Box that says which way round is cheap, with arrows that turn as they do on the map."""
    from matplotlib.offsetbox import AnchoredOffsetbox, DrawingArea
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path
    from matplotlib.text import Text

    share = f"{100 * turn.rim:.3g} %"
    area = DrawingArea(132, 42)
    area.add_artist(Text(4, 37, "at the rim", fontsize=7.5, color="#333333", va="center"))
    solid = (
        turn.axis is not None
    )  # which way arrows turn there depends on the view, so those of the box are straight
    costly_is_left = not solid and float(turn.p[0] * turn.q[1] - turn.p[1] * turn.q[0]) > 0
    bow = np.radians(np.linspace(160, 20, 14))  # over the top to the right is clockwise
    bent = np.column_stack([12 + 9 * np.cos(bow), 9 * np.sin(bow) - 5])
    rows = (("against them", "more", COSTLY), ("with the arrows", "less", CHEAP))
    for row, (name, more, color) in enumerate(rows):
        y, left = 7 + 15 * row, (solid or costly_is_left) == (color == COSTLY)
        lines = np.array([[3.0, 0.0], [21.0, 0.0]]) if solid else bent
        path = Path((lines[::-1] if left else lines) + [0, y])
        area.add_artist(FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=8, lw=1.6, color=color,
                                        transform=area.get_transform()))  # fmt: skip
        text = f"{name}: {share} {more}"
        area.add_artist(Text(27, y, text, fontsize=7.5, color=color, va="center"))
    box = AnchoredOffsetbox("lower left", child=area, pad=0.4, borderpad=0.4, frameon=True)
    box.patch.set(fc="#ffffffc0", ec="#dddddd", lw=0.6)
    box.set(zorder=95, in_layout=False, gid="turn key")
    ax.add_artist(box)
    return box
