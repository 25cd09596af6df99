"""The stress of a map: by iteration, by point, and over dimensions and drifts."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from finsler._arguments import MOST, check_argument, check_arguments, check_number, check_words
from finsler._runtime import Progress
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.data.provenance import count
from finsler.errors import InputError, InputTypeError, check_count
from finsler.geometry.stress import total_square
from finsler.plotting import canvas
from finsler.plotting.colors import CHEAP, COSTLY, GROUP_COLORS, QUIET
from finsler.solvers.smacof import smacof

if TYPE_CHECKING:
    from finsler.embedding import Embedding


def plot_history(history: Any, *, ax: Any = None) -> Any:
    """Draw the stress by iteration, on a logarithmic scale.

    Parameters
    ----------
    history : fitted FinslerMDS, Solution or array-like of shape (n_iter + 1,)
        The stress at the start and after each iteration, or what holds it.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler import FinslerMDS
    >>> ax = plot_history(FinslerMDS(alpha=0.2).fit([[0, 3, 4, 1], [2, 0, 2, 1], [4, 3, 0, 3], [2, 2, 2, 0]]))
    >>> ax.get_xlabel(), ax.get_yscale()
    ('iteration', 'log')
    """
    check_arguments(plot_history, locals())
    values = history
    for name in ("history_", "history"):
        values = getattr(values, name, values)
    if hasattr(values, "coordinates"):
        raise InputTypeError(
            "An Embedding does not keep the history of its fit; pass the fitted FinslerMDS, whose history_ it is."
        )
    check_argument("history", values, "ArrayLike")
    values = np.asarray(values, dtype=float)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(
            "history must be the stress at the start and after each iteration: a list of numbers, none negative; "
            f"got shape {values.shape}."
        )
    ax = canvas.axes_for(ax, (7.0, 4.4))
    iterations = np.arange(len(values))
    positive = values > 0
    ax.plot(iterations, np.where(positive, values, np.nan), color=CHEAP, lw=1.4, marker="o", ms=2.5)
    ax.set_yscale("log")
    ratio = values[positive].max() / values[positive].min() if positive.any() else 1.0
    if ratio < 20:  # ordinary numbers, where the axis spans little
        from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

        ax.yaxis.set_major_locator(LogLocator(subs=(1, 1.5, 2, 3, 5, 7)) if ratio > 4 else MaxNLocator(6))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.4g}"))
    ax.set(xlabel="iteration", ylabel="stress (logarithmic scale)")
    if len(values) < 12:
        ax.set_xticks(iterations)
    ax.grid(axis="y", color="#eeeeee")
    times = count(len(values) - 1, "iteration")
    canvas.set_title(ax, f"The stress fell from {values[0]:.4g} to {values[-1]:.4g} in {times}")
    if not positive.all():
        canvas.note(ax, "A stress of 0 has no place on a logarithmic scale and is not drawn.")
    return ax


def plot_stress_per_point(embedding: Embedding, *, ax: Any = None, top: int = 30) -> Any:
    """Draw which points the map fits worst: the share of each in the stress, largest first.

    Parameters
    ----------
    embedding : Embedding
        The map.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    top : int
        Points to show.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from finsler import embed_matrix
    >>> ax = plot_stress_per_point(embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=list("abc"), alpha=0.2))
    >>> ax.get_xlabel()
    'share in the stress (%)'
    """
    check_arguments(plot_stress_per_point, locals())
    check_count("top", top)
    share = np.asarray(embedding.stress_per_point, dtype=float)
    n = len(share)
    order = np.argsort(-share, kind="stable")[:top]
    names = canvas.names_of(embedding)
    ax = canvas.axes_for(ax, (6.4, 1.4 + 0.19 * len(order)))
    mean, places = 100.0 / n, np.arange(len(order))
    ax.barh(places, 100.0 * share[order], color=np.where(share[order] > 1 / n, COSTLY, CHEAP), height=0.75)
    canvas.list_names(ax.yaxis, places, [names[i] for i in order], fontsize=8)
    ax.set(ylim=(len(order) - 0.4, -0.6), xlabel="share in the stress (%)")
    ax.axvline(mean, color="black", lw=0.9)
    ax.annotate(
        f" if all were equal: {mean:.3g} %", (mean, 0.02), xycoords=("data", "axes fraction"), fontsize=8, va="bottom",
        bbox={"fc": "white", "ec": "none", "alpha": 0.8, "pad": 0.5},
    )  # fmt: skip
    which = "each of the" if len(order) == n else f"the worst {len(order)} of"
    default = f"Share of {which} {n} points in the stress"
    if share.sum() == 0:
        default = "The map is exact: no point has a share in the stress"
    elif len(order) < n:
        default += f": together {share[order].sum():.0%}"
    canvas.set_title(ax, default)
    return ax


def plot_scree(
    D: ArrayLike | Dissimilarities,
    weights: ArrayLike | None = None,
    *,
    dimensions: Iterable[int] = (1, 2, 3, 4),
    alpha: Iterable[float] | float | str = (0.0, 0.1, 0.2, 0.3, 0.4, 0.6, 0.8),
    missing: str = "raise",
    ax: Any = None,
    verbose: bool | str = "auto",
    **options: Any,
) -> Any:
    """Fit maps of several dimensions and drifts, and draw their normalized stress.

    Where the curve over the dimensions stops falling steeply, a further dimension adds little. The curve over alpha shows
    how well the data determine the drift.

    Parameters
    ----------
    D : array-like of shape (n, n), DataFrame or Dissimilarities
        Dissimilarities from row to column.
    weights : array-like of shape (n, n), optional
        Weight of each ordered pair.
    dimensions : iterable of int
        Dimensions to try.
    alpha : iterable of float, or float or "auto"
        Drifts to try. Of several, the left panel shows the fitted drift ("auto") against none (0), the right one all of
        them, a line per dimension. A single one gives the left panel only, for that drift.
    missing : {"raise", "mask", "hinge"}
        See :func:`~finsler.data.matrix.as_dissimilarities`.
    ax : sequence of matplotlib Axes, optional
        Where to draw, one per panel; a new figure by default.
    verbose : bool or "auto"
        Progress line on stderr: "auto" shows one on a terminal once two seconds have passed.
    **options
        Further parameters of :func:`~finsler.solvers.smacof.smacof`, such as `n_init` and `random_state`.

    Returns
    -------
    ndarray of matplotlib Axes
        One panel, or two if there are several drifts.

    Examples
    --------
    >>> from finsler.datasets import make_exact_randers
    >>> exact = make_exact_randers(12, n_components=2, alpha=0.3, random_state=0)
    >>> axes = plot_scree(exact.distances, dimensions=(1, 2), alpha=(0.0, 0.3))
    >>> [ax.get_xlabel() for ax in axes]
    ['dimensions of the map', 'alpha (strength of the drift)']
    """
    check_arguments(plot_scree, locals(), besides=("D", "weights"))
    single = isinstance(alpha, str | Real)
    data = as_dissimilarities(D, weights, missing=missing)
    # Before the fits, so that Axes that do not fit, or an absent matplotlib, are noticed at once.
    axes = canvas.panels_for(ax, 1 if single else 2, (6.4 if single else 11.0, 4.6))
    found = _fit_scree(data, dimensions, alpha, verbose, options)
    _draw_dimensions(axes[0], found, f"alpha = {alpha:.3g}" if isinstance(alpha, Real) else "fitted drift")
    canvas.set_title(axes[0], f"How many dimensions do {data.n_points} points need?")
    if not single:
        _draw_drifts(axes[1], found)
        canvas.set_title(axes[1], "Which drift? (star: the one fitted to the data)")
    if found.unfinished:
        fits = f"{count(found.unfinished, 'fit')} of {found.stress.size}"
        canvas.note(axes[0], f"{fits} stopped at the limit of iterations; raise max_iter.")
    return axes


class Scree(NamedTuple):
    """Normalized stress of maps of several dimensions (rows) with several drifts (columns)."""

    dimensions: list[int]
    drifts: list[
        float
    ]  #: Those that were given, if several; the last column of `stress` is that of `fitted`.
    stress: NDArray[Any]
    fitted: NDArray[Any]  #: By dimension, the drift that was fitted, or the only one that was given.
    unfinished: int  #: Fits that stopped at the limit of iterations.


def _fit_scree(
    data: Dissimilarities, dimensions: Iterable[int], alpha: Any, verbose: bool | str, options: Any
) -> Scree:
    """Fit a map for each dimension and drift, as :func:`plot_scree` describes."""
    sizes = sorted({check_count("dimensions", m, -MOST) for m in check_words("dimensions", dimensions)})
    if not sizes or sizes[0] < 1 or sizes[-1] > data.n_points:
        raise InputError(
            f"dimensions must lie between 1 and the number of points of D, {data.n_points}, got {sizes}.",
            argument="dimensions",
        )
    single = isinstance(alpha, str | Real)
    drifts = (
        []
        if single
        else sorted({check_number("alpha", a, 0.0, 1.0) or 0.0 for a in check_words("alpha", alpha)})
    )
    tried: list[Any] = [alpha] if single else [*drifts, "auto"]
    total = total_square(data.matrix, data.weights)
    stress, fitted = np.zeros((len(sizes), len(tried))), np.zeros(len(sizes))
    unfinished = 0
    progress = Progress("Scree", verbose)
    for k, m in enumerate(sizes):
        for c, drift in enumerate(tried):
            progress.update(f"fit {k * len(tried) + c + 1} of {stress.size}, {m} dimension(s), alpha {drift}")
            solution = smacof(data, m, drift, verbose=False, **options)
            stress[k, c] = np.sqrt(solution.stress / total) if total > 0 else 0.0
            fitted[k] = solution.alpha
            unfinished += solution.status == "max_iter"
    progress.close(f"{stress.size} fits")
    return Scree(sizes, drifts, stress, fitted, unfinished)


def _draw_dimensions(ax: Any, found: Scree, name: str) -> None:
    """Draw the stress over the dimensions, of the fitted drift and of none."""
    handles = ax.plot(found.dimensions, found.stress[:, -1], color=CHEAP, marker="o", ms=4, lw=1.4)
    names = [name]
    if 0.0 in found.drifts:
        symmetric = found.stress[:, found.drifts.index(0.0)]
        handles += ax.plot(found.dimensions, symmetric, color=QUIET, marker="s", ms=4, lw=1.2, ls="--")
        names.append("no drift (alpha = 0)")
    for m, stress, strength in zip(found.dimensions, found.stress[:, -1], found.fitted, strict=True):
        style = {"textcoords": "offset points", "fontsize": 7.5, "color": CHEAP}
        ax.annotate(f"α = {strength:.2g}", (m, stress), (3, 4), **style)
    ax.set(
        xlabel="dimensions of the map",
        ylabel="normalized stress (0 is a perfect map)",
        xticks=found.dimensions,
    )
    ax.set_ylim(0, 1.12 * max(float(line.get_ydata().max()) for line in handles) or 1.0)
    ax.margins(x=0.15)
    canvas.named_legend(ax, handles, names, loc="upper right")


def _draw_drifts(ax: Any, found: Scree) -> None:
    """Draw the stress over the drifts, a line per dimension; the first ones thick, so that they show under later ones."""
    handles = []
    for k, stress in enumerate(found.stress):
        color = GROUP_COLORS[k % len(GROUP_COLORS)]
        width = 1.2 + 0.8 * (len(found.dimensions) - 1 - k)
        handles += ax.plot(found.drifts, stress[:-1], color=color, marker="o", ms=3, lw=width)
        ax.plot(found.fitted[k], stress[-1], color=color, marker="*", ms=11, mec="white", mew=0.6, zorder=4)
    ax.set(xlabel="alpha (strength of the drift)", ylabel="normalized stress")
    ax.set_ylim(0, 1.05 * float(found.stress.max()) or 1.0)
    canvas.named_legend(ax, handles, [count(m, "dimension") for m in found.dimensions], loc="best")
