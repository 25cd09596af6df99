"""Pictures of routes."""

import numpy as np
import pytest
from matplotlib import colors as mpl_colors
from matplotlib import pyplot as plt

from finsler.errors import InputError
from finsler.graphs import as_digraph
from finsler.plotting import plot_field, plot_route
from finsler.plotting.colors import CHEAP, COSTLY

from helpers import settled

PLACES = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [1.0, -1.0]])


def river():
    """Down by the middle, 0 1 2, up by the bank, 2 3 0."""
    return as_digraph([("top", "mid", 1.0), ("mid", "end", 1.0), ("end", "bank", 2.0), ("bank", "top", 2.0)])


def drawn(ax):
    return {line.get_gid(): line for line in ax.lines if line.get_gid() in ("there", "back")}


def test_both_ways_are_drawn_the_costlier_one_in_its_color():
    ax = settled(plot_route(river().route("top", "end"), PLACES))
    lines = drawn(ax)
    np.testing.assert_array_equal(lines["there"].get_xydata(), PLACES[[0, 1, 2]])
    np.testing.assert_array_equal(lines["back"].get_xydata(), PLACES[[2, 3, 0]])
    assert mpl_colors.same_color(lines["there"].get_color(), CHEAP)
    assert mpl_colors.same_color(lines["back"].get_color(), COSTLY)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["top → end: 2", "end → top: 4"]
    swapped = drawn(settled(plot_route(river().route("end", "top"), PLACES)))
    assert mpl_colors.same_color(swapped["there"].get_color(), COSTLY)


def test_they_are_drawn_over_a_field():
    ax = plot_field(PLACES, current=[0.2, 0.0])
    before = ax.get_title()
    assert settled(plot_route(river().route("top", "end"), PLACES, ax=ax)) is ax
    assert ax.get_title() == before
    assert len(drawn(ax)) == 2


@pytest.mark.parametrize("ends", [("top", "top"), ("top", "mid")])
def test_one_place_and_one_arc_are_drawn_too(ends):
    assert len(drawn(settled(plot_route(river().route(*ends), PLACES)))) == 2


def test_a_street_of_one_way_has_one_line():
    ax = settled(plot_route(as_digraph([("a", "b", 1.0)]).route("a", "b"), PLACES[:2]))
    assert list(drawn(ax)) == ["there"]


def test_places_must_fit_the_nodes():
    with pytest.raises(InputError, match="points"):
        plot_route(river().route("top", "end"), PLACES[:3])
    plt.close("all")
