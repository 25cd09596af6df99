"""Pictures of the older models of asymmetric data: arrows at points, Gower's planes, a slide vector, radii, hills."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_arguments
from finsler.errors import InputError
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY
from finsler.plotting.points import MOST_LABELS, arrange

Array = NDArray[Any]

# One vector for all points, by the name of the parameter: its color, and what going along it is.
SINGLE = {"slide": (CHEAP, "cheap"), "drift": (COSTLY, "costly"), "slope": (COSTLY, "costly")}


def plot_model(comparison: Any, model: str, *, ax: Any = None) -> Any:
    """Draw a model that :func:`~finsler.compare_models` fitted: its map, and what it shows the asymmetry by.

    * Drift vectors: an arrow at each point, towards where the ways out are costly.
    * Gower: the first plane of the skew part, which shares no axis with the map. Twice the area of the triangle of the
      origin and two points is half the difference of their two ways; going counterclockwise is the costly one.
    * Slide vector and hill climbing: one arrow for all points. Radius-distance: a circle round each point.

    Parameters
    ----------
    comparison : Comparison
        What :func:`~finsler.compare_models` gave.
    model : str
        One of its models, as `models` calls it: "gower", "drift", ...
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default. The first two dimensions are drawn.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from finsler import compare_models, randers_distances
    >>> D = randers_distances(np.random.default_rng(1).normal(size=(12, 2)), drift=0.4)
    >>> ax = plot_model(compare_models(D, models=["gower", "drift"], n_init=1), "gower")
    >>> ax.get_xlabel()
    'p'
    """
    check_arguments(plot_model, locals())
    record = _record_of(comparison, model)
    parts = record.fit.parameters
    labels = comparison.labels
    names = (
        [str(i) for i in range(comparison.n_points)] if labels is None else [canvas.short(v) for v in labels]
    )
    ax = canvas.axes_for(ax, (7.6, 7.0))
    if "p" in parts:
        X, remarks = np.column_stack([parts["p"][:, 0], parts["q"][:, 0]]), _draw_plane(ax, parts)
    else:
        X = parts["coordinates"]
        X = np.column_stack([np.zeros(len(X)), X]) if X.shape[1] == 1 else X[:, :2]
        remarks = _draw_map(ax, X, parts)
    ax.scatter(*X.T, s=float(np.clip(3000 / len(X), 6, 22)), color="#333333", zorder=4, gid="points")
    canvas.equal_scale(ax)
    shown = "" if record.asymmetry_shown is None else f", {record.asymmetry_shown:.1%} of the asymmetry shown"
    canvas.set_title(
        ax, f"{record.model}: normalized stress {record.normalized_stress:.3g}{shown.replace('%', ' %')}"
    )
    named = dict(enumerate(names)) if labels is not None and len(X) <= MOST_LABELS else {}
    arrange(ax, X, named, " ".join(remarks))
    return ax


def plot_models(comparison: Any) -> NDArray[Any]:
    """Draw the symmetric map with its drift vectors and, beside it, Gower's plane: the two pictures of the skew part."""
    axes = canvas.panels_for(None, 2, (15.0, 7.2))
    for ax, model in zip(axes, ("drift", "gower"), strict=True):
        plot_model(comparison, model, ax=ax)
    return axes


def _record_of(comparison: Any, model: str) -> Any:
    names = [record.name for record in getattr(comparison, "records", ())]
    if not names:
        raise InputError("must be what compare_models gave.", argument="comparison")
    if model not in names:
        raise InputError(f"{model!r} was not compared; there are {', '.join(names)}.", argument="model")
    return comparison[model]


def _draw_plane(ax: Any, parts: dict[str, Array]) -> list[str]:
    """Axes of Gower's first plane, with its origin and the sense in which going is costly."""
    from matplotlib.patches import FancyArrowPatch

    P, Q = parts["p"][:, 0], parts["q"][:, 0]
    ax.axhline(0, color="#dddddd", lw=0.8, zorder=0)
    ax.axvline(0, color="#dddddd", lw=0.8, zorder=0)
    ax.scatter([0], [0], marker="+", s=90, color="black", zorder=5, gid="origin")
    for x, y in zip(P, Q, strict=True):
        ax.plot([0, x], [0, y], color="#cccccc", lw=0.6, zorder=1)
    radius = 0.22 * float(np.hypot(P, Q).max() or 1.0)
    angles = np.radians(np.array([20.0, 110.0]))
    turn = FancyArrowPatch(
        *(radius * np.column_stack([np.cos(angles), np.sin(angles)])), arrowstyle="-|>", mutation_scale=14, lw=1.8,
        color=COSTLY, connectionstyle="arc3,rad=0.38", zorder=6, gid="costly",
    )  # fmt: skip
    ax.add_patch(turn)
    ax.set(xlabel="p", ylabel="q")
    more = parts["p"].shape[1] - 1
    said = [
        "Twice the area of the triangle of the origin and two points is half the difference of their two ways; going "
        "counterclockwise (red) is the costly way."
    ]
    return said + [f"The first of {more + 1} planes."] * bool(more)


def _draw_map(ax: Any, X: Array, parts: dict[str, Array]) -> list[str]:
    """Whatever a model has beside its coordinates."""
    from matplotlib.patches import Circle

    ax.set(xlabel="x1", ylabel="x2")
    center, reach = X.mean(axis=0), float(np.ptp(X, axis=0).max() or 1.0)
    if "arrows" in parts:
        V = parts["arrows"]
        V = np.column_stack([np.zeros(len(V)), V]) if V.shape[1] == 1 else V[:, :2]
        longest = float(np.linalg.norm(V, axis=1).max() or 1.0)
        scale = 0.12 * reach / longest
        _arrows(ax, X, scale * V, "arrows")
        return [
            "Arrows point where the ways out are costly; where they turn round, the asymmetry runs in circles. "
            f"The longest stands for {longest:.3g}."
        ]
    for name, (color, cost) in SINGLE.items():
        if name in parts:
            v = np.append(0.0, parts[name]) if len(parts[name]) == 1 else parts[name][:2]
            size = float(np.linalg.norm(v)) or 1.0
            _arrows(ax, center[None], (0.25 * reach / size * v)[None], name, width=0.008, color=color)
            return [f"One arrow for all points, of length {size:.3g}; going along it is {cost}."]
    if "radii" in parts:
        for x, r in zip(X, parts["radii"], strict=True):
            ax.add_patch(Circle(x, r, fill=False, color=CHEAP, lw=0.7, gid="radius"))
        return ["Circles: the radius of each point; ways into a larger one are costly."]
    return []


def _arrows(
    ax: Any, starts: Array, ways: Array, name: str, width: float = 0.004, color: str = COSTLY
) -> None:
    ax.quiver(
        *starts.T, *ways.T, angles="xy", scale_units="xy", scale=1, width=width, color=color, zorder=3, gid=name,
        headwidth=5, headlength=6, headaxislength=5,
    )  # fmt: skip
    ax.update_datalim(starts + ways)
