"""Maps drawn where their points really are."""

import numpy as np
import pytest
from matplotlib import pyplot as plt

from finsler import embed_graph, embed_points
from finsler.data.places import places
from finsler.errors import InputError
from finsler.plotting import plot_map, plot_places
from finsler.plotting.places import draw_contours, on_paper

from helpers import noisy_map, note_of, offsets, settled, sorted_rows

LON = np.linspace(5.0, 15.0, 12)
LAT = 50 + np.cos(np.arange(12.0))


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


def placed(**columns):
    return noisy_map(labels=[f"p{i}" for i in range(12)]).with_attributes({"lon": LON, "lat": LAT, **columns})


def test_points_are_at_their_places_in_the_colors_of_their_heights():
    found = placed()
    ax = settled(plot_places(found))
    dots = ax.collections[0]
    np.testing.assert_array_equal(offsets(dots), np.column_stack([LON, LAT]))
    np.testing.assert_array_equal(dots.get_array(), found.height)
    assert ax.get_aspect() == pytest.approx(1 / np.cos(np.radians((LAT.min() + LAT.max()) / 2)))
    assert {text.get_text() for text in ax.texts if text.get_gid() == "label"} == set(found.labels)
    assert ax.get_xticklabels()[0].get_text().endswith("E")
    colored = settled(plot_places(found, color="lat", labels=False))
    np.testing.assert_array_equal(colored.collections[0].get_array(), LAT)
    assert colored.get_title() == "Lat of 12 points, where they are"


def test_unknown_places_are_counted_and_a_plane_keeps_its_names():
    x = LON.copy()
    x[3] = np.nan
    ax = settled(plot_places(noisy_map().with_attributes({"x": x, "y": LAT})))
    assert "1 point of unknown place not drawn" in note_of(ax)
    assert len(offsets(ax.collections[0])) == 11
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    with pytest.raises(InputError, match="lon and lat"):
        plot_places(noisy_map())


def test_longitudes_are_cut_where_there_are_no_points():
    found = places({"lon": np.array([170.0, -175.0, 178.0]), "lat": np.zeros(3)})
    x = on_paper(found)[:, 0]
    assert np.ptp(x) == pytest.approx(15.0)
    np.testing.assert_allclose((x - found.x) % 360, 0)
    europe = places({"lon": np.array([359.0, 2.0, -1.5]), "lat": np.zeros(3)})
    np.testing.assert_allclose(on_paper(europe)[:, 0], [-1.0, 2.0, -1.5])


def test_many_points_get_contours_and_a_current_its_arrows():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(220, 2))
    found = embed_points(X, current=[0.2, 0.1], n_components=2, n_neighbors=8, tol=1e-2)
    assert {"x", "y", "u", "v"} <= {*found.attributes}
    ax = settled(plot_places(found))
    words = note_of(ax)
    assert "interpolated" in words
    assert "going with it is cheap" in words
    (arrows,) = [artist for artist in ax.collections if artist.get_gid() == "current"]
    np.testing.assert_allclose(arrows.U / arrows.V, 2.0)
    assert len(arrows.U) <= 200
    costly = settled(plot_places(placed(drift_x=np.ones(12), drift_y=np.zeros(12))))
    assert "going with it is costly" in note_of(costly)


STREETS = [("a", "b", 1.0), ("b", "c", 1.0), ("c", "d", 2.0), ("d", "a", 1.0), ("c", "b", 1.5)]


def arrows_of(ax):
    """Where drawn arcs begin."""
    (drawn,) = [artist for artist in ax.collections if artist.get_gid() == "arcs"]
    return offsets(drawn)


def test_arcs_of_the_graph_are_drawn_by_default():
    found = embed_graph(STREETS, alpha=0.2)
    starts = found.coordinates[[found.index(a) for a, *_ in STREETS]]
    np.testing.assert_allclose(sorted_rows(arrows_of(settled(plot_map(found)))), sorted_rows(starts))
    for silent in (False, None):
        ax = settled(plot_map(found, arcs=silent))
        assert not [artist for artist in ax.collections if artist.get_gid() == "arcs"]
    towns = found.with_attributes({"lon": [1.0, 2.0, 3.0, 4.0], "lat": [5.0, 7.0, 6.0, 5.0]})
    at = towns.attributes["lon"][[found.index(a) for a, *_ in STREETS]]
    np.testing.assert_allclose(np.sort(arrows_of(settled(plot_places(towns)))[:, 0]), np.sort(at))


def test_many_arcs_are_left_out_unless_asked_for_and_this_is_said(monkeypatch):
    from finsler.plotting import arcs

    monkeypatch.setattr(arcs, "MOST_ARCS", 4)
    found = embed_graph(STREETS, alpha=0.2)
    ax = settled(plot_map(found))
    assert "5 arcs are not drawn" in note_of(ax)
    assert not [artist for artist in ax.collections if artist.get_gid() == "arcs"]
    assert len(arrows_of(settled(plot_map(found, arcs=True)))) == 5


def test_arcs_off_the_map_are_counted_and_neighborhoods_are_no_arcs():
    found = embed_graph(STREETS, nodes=["a", "b", "c"], alpha=0.2)
    assert "2 arcs are not drawn" in note_of(settled(plot_map(found)))
    field = embed_points(
        [[0.0, 0], [1, 0], [0, 1], [1, 1.2]], current=[0.1, 0], n_neighbors=2, n_components=2
    )
    assert not [a for a in settled(plot_map(field)).collections if a.get_gid() == "arcs"]
    with pytest.raises(InputError, match="arcs"):
        plot_map(noisy_map(), arcs=True)


def test_contours_leave_room_for_points_at_the_rim():
    X = np.stack(np.meshgrid(np.arange(20.0), np.arange(11.0)), axis=-1).reshape(-1, 2)
    ax = plt.figure().add_subplot()
    ax.scatter(*X.T)
    assert draw_contours(ax, X, X[:, 0], "viridis")
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
    assert ([left, bottom] < X.min(axis=0)).all()
    assert ([right, top] > X.max(axis=0)).all()
