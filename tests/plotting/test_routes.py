"""Pictures of routes."""

import numpy as np
import pytest
from matplotlib import colors as mpl_colors
from matplotlib import pyplot as plt

from finsler import embed_graph
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


def town(**columns):
    found = embed_graph(
        [("top", "mid", 1.0), ("mid", "end", 1.0), ("end", "bank", 2.0), ("bank", "top", 2.0)]
    )
    return found.with_attributes(columns)


def test_a_route_of_a_map_is_drawn_on_it_and_where_its_points_are():
    found = town()
    on_map = drawn(settled(plot_route(found.route("top", "end"))))
    rows = [found.index(name) for name in ("top", "mid", "end")]
    np.testing.assert_array_equal(on_map["there"].get_xydata(), found.coordinates[rows])
    order = [["top", "mid", "end", "bank"].index(name) for name in found.labels]
    X = PLACES[order]
    found = town(lon=X[:, 0], lat=X[:, 1])
    axes = settled(plot_route(found.route("top", "end"), on="both"))
    assert len(axes) == 2
    np.testing.assert_array_equal(drawn(axes[0])["back"].get_xydata(), PLACES[[2, 3, 0]])
    np.testing.assert_array_equal(drawn(axes[1])["there"].get_xydata(), found.coordinates[rows])
    (line,) = [axes[0].figure.get_suptitle()]
    assert line == "top → end: 2 · end → top: 4"
    alone = settled(plot_route(found.route("top", "end")))  # places come first
    np.testing.assert_array_equal(drawn(alone)["there"].get_xydata(), PLACES[[0, 1, 2]])


def test_a_route_over_the_date_line_is_drawn_on_one_side():
    found = town()
    lon = np.array(
        [{"top": 170.0, "mid": 179.0, "end": -175.0, "bank": 178.0}[name] for name in found.labels]
    )
    found = found.with_attributes({"lon": lon, "lat": np.arange(4.0)})
    line = drawn(settled(plot_route(found.route("top", "end"))))["there"].get_xdata()
    assert np.ptp(line) == pytest.approx(15.0)


def test_a_map_in_space_and_a_graph_that_knows_its_places():
    solid = embed_graph([(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0)], n_components=3, alpha=0.2)
    ax = settled(plot_route(solid.route(0, 2)))
    assert ax.name == "3d"
    with pytest.raises(InputError, match="both"):
        plot_route(solid.with_attributes({"x": [1.0, 2, 3, 4], "y": [0.0, 0, 1, 1]}).route(0, 2), on="both")
    with pytest.raises(InputError, match="points"):
        plot_route(river().route("top", "end"))
    plt.close("all")
