"""Which color a point gets: one rule for pictures and pages."""

from decimal import Decimal
from fractions import Fraction

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt

from finsler.errors import InputError
from finsler.plotting import (
    colors,
    plot_map,
)

from helpers import noisy_map, note_of, offsets, settled


def test_colors_by_value():
    embedding = noisy_map()
    values = np.arange(12.0) ** 2
    ax = settled(plot_map(embedding, color=values, color_label="cost in $_x$"))
    np.testing.assert_allclose(ax.collections[0].get_array(), values)
    bar = ax.figure.axes[1]
    assert bar.get_ylabel() == r"cost in \$_x\$"
    assert ax.get_legend() is None
    values[[2, 5]] = np.nan
    for holes in (values, [None if np.isnan(v) else v for v in values], pd.Series(values)):
        ax = settled(plot_map(embedding, color=holes))
        np.testing.assert_allclose(ax.collections[0].get_array(), np.delete(values, [2, 5]))
        np.testing.assert_allclose(offsets(ax.collections[1]), embedding.coordinates[[2, 5]])
        assert "2 points are hollow" in note_of(ax)
    settled(plot_map(embedding, color=np.full(12, np.nan)))


def test_colors_by_group():
    embedding = noisy_map()
    groups = np.array(
        ["_b", "$a$", "_b", "10", "2", "2", "$a$", "$a$", "$a$", "$a$", None, "_b"], dtype=object
    )
    ax = settled(plot_map(embedding, color=groups, color_label="kind"))
    legend = ax.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["2", "10", "$a$", "_b", "unknown"]
    assert legend.get_title().get_text() == "kind"
    for name, points in zip(names, ax.collections, strict=False):
        own = [k for k, g in enumerate(groups) if g == (None if name == "unknown" else name)]
        np.testing.assert_allclose(offsets(points), embedding.coordinates[own])
    assert len(ax.figure.axes) == 1, "no colorbar"
    truth = settled(plot_map(embedding, color=np.arange(12) > 3)).get_legend()
    assert [text.get_text() for text in truth.get_texts()] == ["False", "True"]


def test_more_groups_than_a_legend_holds():
    embedding = noisy_map(n=40)
    groups = [f"group {k % 15}" if k < 30 else "group 0" for k in range(40)]
    ax = settled(plot_map(embedding, color=groups))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [*(f"group {k}" for k in range(11)), "others (4 groups)"]
    sizes = [len(offsets(points)) for points in ax.collections[:12]]
    assert sizes == [12, *[2] * 10, 8]
    twelve = settled(plot_map(embedding, color=[f"group {k % 12}" for k in range(40)]))
    assert len(twelve.get_legend().get_texts()) == 12


def test_a_wrong_number_of_colors():
    with pytest.raises(ValueError, match="color must hold"):
        plot_map(noisy_map(), color=[1, 2, 3])
    assert not plt.get_fignums()


def colors_of(values):
    """Color of each point, as a word, and its mark; None where there is none."""
    found = colors.coloring(values, len(values))
    return [None if code < 0 else found.groups[code][1:] for code in found.codes]


def test_the_rule():
    assert colors.coloring([1, 2.5, None, np.nan], 4).groups == ()
    assert colors.coloring([Decimal(1), Fraction(1, 2)], 2).numbers.tolist() == [1, 0.5]
    assert colors.coloring([True, False], 2).groups[0].name == "False"
    assert colors.coloring(["1", "2"], 2).numbers is None, "words are groups, whatever they say"
    assert [g.name for g in colors.coloring([1, "a", None], 3).groups] == ["1", "a"]
    names = [g.name for g in colors.coloring(["b 10", "b 2", "a", "01", "1"], 5).groups]
    assert names == ["01", "1", "a", "b 2", "b 10"]
    numbers = colors.coloring(pd.array([1, None, 3], dtype="Int64"), 3).numbers
    np.testing.assert_array_equal(numbers, [1, np.nan, 3])
    dates = colors.coloring(pd.Series(pd.to_datetime(["2001-02-03", None])), 2)
    assert [g.name for g in dates.groups] == ["2001-02-03 00:00:00"]
    assert dates.missing.tolist() == [False, True]
    assert colors.coloring([0.5, np.inf], 2).missing.tolist() == [False, True]


def test_groups_keep_their_colors_whatever_the_order_of_the_points():
    words = [f"group {k}" for k in range(11)]
    first, second = colors_of(words), colors_of(words[::-1])
    assert first == second[::-1]
    assert len(set(first)) == 11
    assert first[0] == ("#0072b2", "circle")
    assert first[7] == ("#0072b2", "square")


def luminance(color):
    share = np.array([int(color[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


@pytest.mark.parametrize("back", ["#ffffff", "#14181d"])
def test_groups_stand_out_from_light_and_dark(back):
    for color in (*colors.GROUP_COLORS, colors.OTHERS, colors.MISSING):
        low, high = sorted([luminance(color), luminance(back)])
        assert (high + 0.05) / (low + 0.05) > 2.2, color


def test_the_scale_is_viridis():
    shares = np.linspace(0, 1, 50)
    np.testing.assert_allclose(colors.colormap()(shares), matplotlib.colormaps["viridis"](shares), atol=0.06)


def test_a_series_is_found_by_the_labels_of_the_map():
    embedding = noisy_map(n=3, labels=["x", "y", "z"])
    values = pd.Series([3.0, 1.0, 2.0], index=["z", "x", "y"], name="size")
    ax = plot_map(embedding, color=values)
    np.testing.assert_array_equal(ax.collections[0].get_array(), [1, 2, 3])
    assert ax.figure.axes[1].get_ylabel() == "size"
    plain = plot_map(embedding, color=values.reset_index(drop=True))
    np.testing.assert_array_equal(plain.collections[0].get_array(), [3, 1, 2])
    with pytest.raises(InputError, match="'y'") as caught:
        plot_map(embedding, color=values.rename({"y": "w"}))
    assert caught.value.argument == "color"
