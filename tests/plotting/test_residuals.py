"""Residuals as arrows on the map, and pictures of the older models."""

import numpy as np
import pytest
from matplotlib import colors as mpl_colors
from matplotlib import pyplot as plt

from finsler import compare_models, randers_distances
from finsler.errors import InputError
from finsler.plotting import plot_model, plot_residuals
from finsler.plotting.colors import CHEAP, COSTLY

from helpers import noisy_map, note_of, offsets, settled


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


@pytest.mark.parametrize("m", [1, 2])
def test_arrows_lead_along_the_worst_pairs_in_the_color_of_their_sign(m):
    found = noisy_map(m=m, noise=0.3)
    ax = settled(plot_residuals(found, top=5))
    arrows = [patch for patch in ax.patches if patch.get_gid() == "residual"]
    worst = found.worst_pairs(5)
    assert len(arrows) == 5
    for arrow, pair in zip(reversed(arrows), worst, strict=True):
        start, end = (np.append(np.zeros(2 - m), found.coordinates[p]) for p in (pair.source, pair.target))
        np.testing.assert_allclose(arrow._posA_posB, [start, end])
        assert mpl_colors.same_color(
            arrow.get_edgecolor(), (*mpl_colors.to_rgb(COSTLY if pair.residual > 0 else CHEAP), 0.75)
        )
    widths = [arrow.get_linewidth() for arrow in arrows]
    assert np.argmax(widths) == 4 - np.argmax([abs(pair.residual) for pair in worst])
    share = sum(pair.share for pair in worst)
    assert ax.get_title().startswith("The 5 worst of 132 ordered pairs")
    assert f"{share:.0%}".replace("%", " %") in ax.get_title()


def test_residuals_in_space_and_of_an_exact_map():
    assert settled(plot_residuals(noisy_map(m=3), top=3)).name == "3d"
    exact = settled(plot_residuals(noisy_map(noise=0.0)))
    assert "exact" in exact.get_title()


X = 3 * np.random.default_rng(1).normal(size=(12, 2))


@pytest.fixture(scope="module")
def compared():
    D = randers_distances(X, drift=0.4)
    return compare_models(D, labels=[f"p{i}" for i in range(12)], n_init=1, verbose=False)


def named(ax, gid):
    return [artist for artist in (*ax.collections, *ax.patches) if artist.get_gid() == gid]


def test_gowers_plane_has_areas_that_are_the_asymmetry(compared):
    ax = settled(plot_model(compared, "gower"))
    P = offsets(named(ax, "points")[0])
    areas = P[:, None, 0] * P[None, :, 1] - P[:, None, 1] * P[None, :, 0]  # twice, counterclockwise
    d = compared["gower"].fit.distances
    np.testing.assert_allclose(areas, (d - d.T) / 2, atol=1e-9)
    assert "counterclockwise (red) is the costly way" in note_of(ax)
    assert {text.get_text() for text in ax.texts if text.get_gid() == "label"} == {f"p{i}" for i in range(12)}


ARROWS = [("drift", "arrows"), ("slide", "slide"), ("hill", "slope"), ("randers", "drift")]


@pytest.mark.parametrize(("model", "gid"), ARROWS)
def test_arrows_point_where_the_model_says_that_ways_are_costly(compared, model, gid):
    ax = settled(plot_model(compared, model))
    (arrows,) = named(ax, gid)
    fit = compared[model].fit
    U = np.column_stack([arrows.U, arrows.V]).mean(axis=0)
    Y = fit.parameters["coordinates"]
    along = (Y[None] - Y[:, None]) @ (U / np.linalg.norm(U))
    skew = (fit.distances - fit.distances.T) / 2
    sign = np.sign((along * skew).sum())
    assert sign == (-1 if model == "slide" else 1)
    assert ("is cheap" in note_of(ax)) == (model == "slide")


def test_radii_are_circles_and_what_was_not_compared_is_refused(compared):
    ax = settled(plot_model(compared, "radius"))
    radii = compared["radius"].fit.parameters["radii"]
    np.testing.assert_allclose([circle.radius for circle in named(ax, "radius")], radii)
    assert not note_of(settled(plot_model(compared, "symmetric")))
    with pytest.raises(InputError, match="'glower' was not compared"):
        plot_model(compared, "glower")
    with pytest.raises(InputError, match="comparison"):
        plot_model(3, "gower")
