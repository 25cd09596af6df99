"""Pictures of the stress: by iteration, by point, over dimensions and drifts."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from finsler import FinslerMDS
from finsler.plotting import (
    canvas,
    plot_history,
    plot_scree,
    plot_stress_per_point,
)

from helpers import ODD_LABELS, incomplete_map, noisy_map, note_of, settled


def test_stress_per_point_is_sorted():
    embedding = noisy_map(labels=[*ODD_LABELS, "y", "z"])
    ax = settled(plot_stress_per_point(embedding, top=4))
    order = np.argsort(-embedding.stress_per_point)[:4]
    widths = [bar.get_width() for bar in ax.patches]
    np.testing.assert_allclose(widths, 100 * embedding.stress_per_point[order])
    names = [canvas.plain(canvas.short(embedding.labels[i])) for i in order]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == names
    assert f"together {embedding.stress_per_point[order].sum():.0%}" in ax.get_title()
    assert len(settled(plot_stress_per_point(embedding, ax=plt.figure().add_subplot())).patches) == 12
    exact = replace(embedding, stress_per_point=np.zeros(12))
    assert "exact" in settled(plot_stress_per_point(exact)).get_title()
    with pytest.raises(ValueError, match="top must be at least 1"):
        plot_stress_per_point(embedding, top=0)


def test_history_is_drawn_from_whatever_holds_it():
    embedding = noisy_map()
    mds = FinslerMDS(alpha=0.3, init="random", random_state=0).fit(embedding.data.matrix)
    for history in (mds, mds.history_, list(mds.history_)):
        ax = settled(plot_history(history))
        (line,) = ax.lines
        np.testing.assert_allclose(line.get_ydata(), mds.history_)
        np.testing.assert_array_equal(line.get_xdata(), np.arange(len(mds.history_)))
        assert ax.get_yscale() == "log"
    assert f"to {mds.stress_:.4g} in {mds.n_iter_} iteration" in ax.get_title()
    for values in ([4.0, 1.0, 0.0], [3.0], [2.0, 1.99], [0.0, 0.0], 10.0 ** -np.arange(20.0)):
        ax = settled(plot_history(values, ax=plt.figure().add_subplot()))
    assert "0 has no place" in note_of(settled(plot_history([4.0, 1.0, 0.0])))
    with pytest.raises(TypeError, match="pass the fitted FinslerMDS"):
        plot_history(embedding)
    for wrong in ([], [[1.0]], [1.0, np.nan], [-1.0]):
        with pytest.raises(ValueError, match="history must be the stress"):
            plot_history(wrong)


def test_scree_shows_the_stress_of_each_fit(capsys):
    embedding = noisy_map(n=15, noise=0.15)
    D = embedding.data.matrix
    axes = settled(plot_scree(D, dimensions=(3, 1, 2), alpha=(0.5, 0.0, 0.2), random_state=0, verbose=True))
    assert "Scree: 12 fits" in capsys.readouterr().err
    left, right = axes

    def fit(m, alpha):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about an alpha that the data hardly determine
            return FinslerMDS(m, alpha=alpha, random_state=0).fit(D)

    auto = [fit(m, "auto") for m in (1, 2, 3)]
    np.testing.assert_array_equal(left.lines[0].get_xdata(), [1, 2, 3])
    np.testing.assert_allclose(left.lines[0].get_ydata(), [mds.normalized_stress_ for mds in auto])
    np.testing.assert_allclose(left.lines[1].get_ydata(), [fit(m, 0.0).normalized_stress_ for m in (1, 2, 3)])
    curves, stars = right.lines[::2], right.lines[1::2]
    for m, curve, star, mds in zip((1, 2, 3), curves, stars, auto, strict=True):
        np.testing.assert_array_equal(curve.get_xdata(), [0.0, 0.2, 0.5])
        np.testing.assert_allclose(
            curve.get_ydata(), [fit(m, alpha).normalized_stress_ for alpha in (0.0, 0.2, 0.5)]
        )
        assert (star.get_xdata()[0], star.get_ydata()[0]) == pytest.approx(
            (mds.alpha_, mds.normalized_stress_)
        )


def test_scree_for_one_drift_incomplete_data_and_too_few_iterations():
    embedding = incomplete_map()
    (ax,) = plot_scree(embedding.data, dimensions=[2], alpha=0.3, ax=plt.subplot())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [embedding.normalized_stress], rtol=1e-6)
    D = noisy_map(noise=0.2).data.matrix
    D[0, 1] = np.nan
    (ax,) = settled(plot_scree(D, dimensions=(2, 3), alpha="auto", missing="mask", max_iter=1))
    assert "2 fits of 2 stopped at the limit" in note_of(ax)
    with pytest.raises(ValueError, match="between 1 and the number of points of D, 12, got"):
        plot_scree(D, dimensions=(0, 1), missing="mask")
    with pytest.raises(ValueError, match="ax must hold 2 Axes"):
        plot_scree(D, missing="mask", ax=plt.figure().add_subplot())
