"""Pictures of `finsler.inference`: ellipses, null distributions, two maps overlaid, the choice of dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from finsler._arguments import check_argument, check_arguments
from finsler.errors import InputError
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY, QUIET
from finsler.plotting.maps import plot_map
from finsler.plotting.points import arrange

MOST_LABELS = 100  # points that an overlay names, those that move farthest
FEW_LABELS = 8  # the same of each map of a series
SMALL = 9.0  # area of points with ellipses, which would lie beneath larger ones
STYLES = {"symmetric": (QUIET, "s", "--"), "randers": (CHEAP, "o", "-")}  # of models over the dimensions


def plot_null(test: Any, *, ax: Any = None) -> Any:
    """Draw what a statistic is by chance, and the observed value.

    Parameters
    ----------
    test : TestResult
        A test by random draws.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import finsler
    >>> from finsler.inference import asymmetry_test
    >>> ax = plot_null(asymmetry_test(finsler.load_flight_hours().hours).heights)
    >>> ax.get_ylabel()
    'draws'
    """
    check_arguments(plot_null, locals())
    check_argument("test", test, "TestResult")
    if not len(test.null):
        raise InputError(f"The test of {test.name} has a formula, and no draws to show.")
    ax = canvas.axes_for(ax, (6.4, 3.8))
    scale, unit = (100, " (%)") if test.unit == "share" else (1, "")
    ax.hist(scale * test.null, bins=_bins(scale * test.null, scale * test.statistic), color="#999999")
    if np.isfinite(test.statistic):
        ax.axvline(scale * test.statistic, color=COSTLY, lw=2)
        ax.annotate(
            f"observed {scale * test.statistic:.3g}{unit.strip(' ()') and ' %'}", (scale * test.statistic, 0.94),
            xycoords=("data", "axes fraction"), xytext=(_side(ax, scale * test.statistic) * 5, 0),
            textcoords="offset points", color=COSTLY, fontsize=8, va="top",
            ha="left" if _side(ax, scale * test.statistic) > 0 else "right",
        )  # fmt: skip
        title = f"{test.name[0].upper()}{test.name[1:]}: p = {test.p_value:.2g}"
    else:
        title = f"{test.name[0].upper()}{test.name[1:]}: mean {test.noise:.3g}"
    ax.set(xlabel=f"{test.name}{unit}", ylabel="draws" if test.n_draws else "cases")
    ax.spines[["top", "right"]].set_visible(False)
    canvas.set_title(
        ax, f"{title}\ngray: by chance ({len(test.null):,} {'draws' if test.n_draws else 'cases'})"
    )
    return ax


def _bins(null: NDArray[Any], observed: float) -> NDArray[Any]:
    """Edges of bars that are wide enough to be seen beside a value far away."""
    low, high = float(null.min()), float(null.max())
    whole = max(high, observed) - min(low, observed) if np.isfinite(observed) else high - low
    width = max((high - low) / min(40, max(8, len(null) // 12)), whole / 80) or 1.0
    return low + width * np.arange(-0.5, np.ceil((high - low) / width) + 1)


def _side(ax: Any, value: float) -> int:
    """Which side of a line there is room for words on: 1 for the right."""
    low, high = ax.get_xlim()
    return 1 if value < (low + high) / 2 else -1


def plot_nulls(tests: Sequence[Any], *, ax: Any = None) -> Any:
    """Draw several tests side by side; see :func:`plot_null`.

    Parameters
    ----------
    tests : sequence of TestResult
        Tests by random draws.
    ax : sequence of matplotlib Axes, optional
        Where to draw, one each; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes
    """
    if not tests:
        raise InputError("None of these tests has draws to show: they have formulas.")
    axes = canvas.panels_for(ax, len(tests), (4.6 * len(tests), 3.6))
    for one, test in zip(axes, tests, strict=True):
        plot_null(test, ax=one)
    return axes


def plot_confidence(confidence: Any, *, ax: Any = None, **options: Any) -> Any:
    """Draw a map with the ellipses of its points; in one dimension, with intervals.

    Parameters
    ----------
    confidence : Confidence
        Of a map in one or two dimensions.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    **options
        Further options of :func:`~finsler.plotting.maps.plot_map`.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import finsler
    >>> from finsler.inference import confidence
    >>> ax = plot_confidence(confidence(finsler.embed_matrix(finsler.load_flight_hours().hours)))
    >>> len(ax.collections) > 1
    True
    """
    check_arguments(plot_confidence, locals())
    check_argument("confidence", confidence, "Confidence")
    embedding = confidence.embedding
    if embedding.n_components > 2:
        raise InputError("Ellipses are drawn in one and two dimensions; ask the result for its half_axes.")
    ax = canvas.axes_for(ax, (8.0, 6.6))
    said = f"{100 * confidence.level:g} % {'ellipses' if embedding.n_components == 2 else 'intervals'}"
    alpha = (
        "" if confidence.alpha_se is None else f", alpha = {embedding.alpha:.3g} ± {confidence.alpha_se:.1g}"
    )
    title = f"{embedding.n_points} points with {said} ({confidence.method}){alpha}"
    options = {"size": SMALL, "title": title, **options}
    X = embedding.coordinates
    half = confidence.radius * np.sqrt(np.diagonal(confidence.covariance, axis1=1, axis2=2))
    if embedding.n_components == 1:
        plot_map(embedding, ax=ax, **options)
        # Side by side: on the line of the points they would cover each other.
        beside = -0.004 * np.ptp(ax.get_xlim()) * (1 + np.argsort(np.argsort(X[:, 0])) % 8)
        ax.errorbar(beside, X[:, 0], yerr=half[:, 0], fmt="none", ecolor=CHEAP, elinewidth=1.2, zorder=2)
        return ax
    ax.update_datalim(np.vstack([X - half, X + half]))  # room for the ellipses at the rim
    plot_map(embedding, ax=ax, **options)
    from matplotlib.collections import EllipseCollection

    values, vectors = np.linalg.eigh(confidence.covariance)
    axes = 2 * confidence.radius * np.sqrt(np.maximum(values, 0.0))
    turns = np.degrees(np.arctan2(vectors[:, 1, 1], vectors[:, 0, 1]))
    ax.add_collection(
        EllipseCollection(
            axes[:, 1], axes[:, 0], turns, units="xy", offsets=embedding.coordinates, transOffset=ax.transData,
            facecolor="#0072b222", edgecolor=CHEAP, linewidth=0.7, zorder=1.5, gid="ellipses",
        ),
        autolim=False,
    )  # fmt: skip
    beneath = np.count_nonzero(axes[:, 1] / 2 < _radius_of_a_point(ax, options["size"]))
    if beneath and options["title"] == title:
        canvas.set_title(ax, f"{title}\n{beneath} ellipses are smaller than their points")
    return ax


def _radius_of_a_point(ax: Any, size: float) -> float:
    """Radius that points of an area in square points have on the map."""
    pixels = np.sqrt(size / np.pi) * ax.figure.dpi / 72
    return float(pixels / np.diff(ax.transData.transform([(0, 0), (1, 0)])[:, 0])[0])


def plot_alignment(alignment: Any, *, ax: Any = None) -> Any:
    """Draw two maps over each other, with an arrow from the place of each point on the first to that on the second.

    Parameters
    ----------
    alignment : Alignment
        Of maps in one or more dimensions; beyond two, the first axis and the height are drawn.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import finsler
    >>> from finsler.inference import compare_maps
    >>> hours = finsler.load_flight_hours().hours
    >>> ax = plot_alignment(compare_maps(*(finsler.embed_matrix(h) for h in (hours, hours**1.1)), n_permutations=0))
    >>> ax.get_ylabel()
    'height (up costs more)'
    """
    check_arguments(plot_alignment, locals())
    check_argument("alignment", alignment, "Alignment")
    ax = canvas.axes_for(ax, (8.0, 6.6))
    A, B = (_flat(X) for X in (alignment.target, alignment.image))
    first = ax.scatter(*A.T, s=22, color=CHEAP, zorder=3)
    second = ax.scatter(*B.T, s=22, facecolors="white", edgecolors=COSTLY, linewidths=1.2, zorder=3)
    step = B - A
    ax.quiver(
        *A.T, *step.T, angles="xy", scale_units="xy", scale=1, units="inches", width=0.009, headwidth=6, headlength=7,
        headaxislength=6, minlength=0.5, color=QUIET, zorder=2, gid="moves",
    )  # fmt: skip
    names = [canvas.short(label) for label in alignment.labels]
    canvas.equal_scale(ax)
    ax.set(
        xlabel="x1" if A.shape[1] > 1 and alignment.target.shape[1] > 1 else "",
        ylabel="height (up costs more)",
    )
    legend = canvas.named_legend(ax, [first, second], ["first map", "second map"], loc="best")
    p = "" if alignment.p_value is None else f", p = {alignment.p_value:.2g}"
    alphas = "" if alignment.alphas is None else "\nalpha {:.3g} and {:.3g}".format(*alignment.alphas)
    title = f"{len(names)} points on both maps: r = {alignment.r:.4g} (1 is the same map){p}{alphas}"
    canvas.set_title(ax, title)
    farthest = np.argsort(-alignment.moves, kind="stable")[:MOST_LABELS].tolist()
    arrange(ax, np.vstack([A, B]), {i: names[i] for i in farthest}, "", marks=[legend])
    return ax


def plot_series(series: Any, *, ax: Any = None) -> Any:
    """Draw the maps of a series side by side, in one frame, with arrows from the places on the map before.

    Parameters
    ----------
    series : Series
        Of maps in one or more dimensions; beyond two, the first axis and the height are drawn.
    ax : sequence of matplotlib Axes, optional
        Where to draw, one each; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes

    Examples
    --------
    >>> import finsler
    >>> hours = finsler.load_flight_hours().hours[:8, :8]
    >>> len(plot_series(finsler.embed_series({"then": hours, "now": hours**1.1})))
    2
    """
    check_arguments(plot_series, locals())
    check_argument("series", series, "Series")
    n = len(series.maps)
    axes = canvas.panels_for(ax, n, (4.2 * n, 4.4))
    places = [_flat(one.coordinates) for one in series.maps]
    low, high = (edge([edge(X, axis=0) for X in places], axis=0) for edge in (np.min, np.max))
    room = 0.06 * float((high - low).max()) or 1.0
    for k, (one, X, panel) in enumerate(zip(series.maps, places, axes, strict=True)):
        panel.scatter(*X.T, s=16, color=CHEAP, zorder=3)
        names, moves = canvas.names_of(one), np.linalg.norm(X - X.mean(axis=0), axis=1)
        title = f"{series.names[k]}: alpha = {one.alpha:.3g}, normalized stress {one.normalized_stress:.3g}"
        if k:
            before, now = series.matched[k - 1]
            start, step = places[k - 1][before], X[now] - places[k - 1][before]
            panel.quiver(
                *start.T, *step.T, angles="xy", scale_units="xy", scale=1, units="inches", width=0.01, headwidth=6,
                headlength=7, headaxislength=6, minlength=0.5, color=COSTLY, alpha=0.8, zorder=2, gid="moves",
            )  # fmt: skip
            moves = np.zeros(len(X))
            moves[now] = np.linalg.norm(step, axis=1)
            title += f"\nr with the one before = {series.agreement[k - 1]:.4g}"
        panel.set(xlim=(low[0] - room, high[0] + room), ylim=(low[1] - room, high[1] + room))
        panel.set_aspect("equal", adjustable="box")
        panel.set_ylabel("height (up costs more)" if k == 0 else "")
        canvas.set_title(panel, title)
        farthest = np.argsort(-moves, kind="stable")[:FEW_LABELS].tolist()
        arrange(panel, X, {i: names[i] for i in farthest}, "")
    return axes


def _flat(X: NDArray[Any]) -> NDArray[Any]:
    """Two columns of a map: the first axis and the height."""
    return np.column_stack([X[:, 0] if X.shape[1] > 1 else np.zeros(len(X)), X[:, -1]])


def plot_dimensions(scree: Any, *, ax: Any = None) -> Any:
    """Draw stress-1 over the dimensions, beside that of the same values in random places.

    Parameters
    ----------
    scree : Scree
        With its cross-validation, if any, in a second panel.
    ax : sequence of matplotlib Axes, optional
        Where to draw, one per panel; a new figure by default.

    Returns
    -------
    ndarray of matplotlib Axes

    Examples
    --------
    >>> import finsler
    >>> from finsler.inference import scree
    >>> X = np.random.default_rng(0).normal(size=(10, 2))
    >>> found = scree(finsler.randers_distances(X, drift=0.3), dims=(1, 2), n_permutations=2)
    >>> plot_dimensions(found)[0].get_xlabel()
    'dimensions of the map'
    """
    check_arguments(plot_dimensions, locals())
    check_argument("scree", scree, "Scree")
    panels = 1 if scree.cross_validation is None else 2
    axes = canvas.panels_for(ax, panels, (5.6 * panels, 4.2))
    one = axes[0]
    handles = one.plot(scree.dims, scree.stress, color=CHEAP, marker="o", ms=5, lw=1.5)
    names = ["data"]
    if len(scree.random):
        mean = scree.random.mean(axis=0)
        one.fill_between(
            scree.dims, scree.random.min(axis=0), scree.random.max(axis=0), color="#dddddd", lw=0
        )
        handles += one.plot(scree.dims, mean, color=QUIET, marker="s", ms=4, lw=1.2, ls="--")
        names.append(f"same values in random places ({len(scree.random)} tables)")
    one.set(xlabel="dimensions of the map", ylabel="stress-1 (0 is a perfect map)", xticks=scree.dims)
    one.set_ylim(0, None)
    one.spines[["top", "right"]].set_visible(False)
    canvas.named_legend(one, handles, names, loc="best")
    canvas.set_title(one, f"Stress over the dimensions (alpha {scree.alpha})")
    if scree.cross_validation is not None:
        plot_cross_validation(scree.cross_validation, ax=axes[1])
    return axes


def plot_cross_validation(found: Any, *, ax: Any = None) -> Any:
    """Draw the error on held-out pairs over the dimensions, a line per model, with the chosen one marked.

    Parameters
    ----------
    found : CrossValidation
        Candidates and the chosen one.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes
    """
    check_arguments(plot_cross_validation, locals())
    check_argument("found", found, "CrossValidation")
    ax = canvas.axes_for(ax, (5.6, 4.2))
    handles, names = [], []
    for model in dict.fromkeys(one.model for one in found.table):
        rows = [one for one in found.table if one.model == model]
        color, mark, style = STYLES.get(model, (COSTLY, "^", ":"))
        dims = [one.n_components for one in rows]
        handles += ax.plot(
            dims, [one.error for one in rows], color=color, marker=mark, ms=5, lw=1.4, ls=style
        )
        names.append(model)
    chosen = found.table[found.chosen]
    handles += ax.plot(
        [chosen.n_components], [chosen.error], marker="o", ms=13, mfc="none", mec=COSTLY, mew=1.8, ls="none"
    )
    names.append("chosen")
    ax.set(xlabel="dimensions of the map", ylabel="error on held-out pairs")
    ax.set_xticks(sorted({one.n_components for one in found.table}))
    ax.set_ylim(0, None)
    ax.spines[["top", "right"]].set_visible(False)
    canvas.named_legend(ax, handles, names, loc="best")
    canvas.set_title(ax, f"Chosen: {chosen.n_components} dimensions, {chosen.model} ({found.n_folds} folds)")
    return ax
