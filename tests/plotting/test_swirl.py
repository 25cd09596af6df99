"""Pictures of maps whose drift turns: center or axis, rings, arrows along the cheap way round, arcs."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from finsler import randers_distances
from finsler.data.matrix import as_dissimilarities
from finsler.geometry.swirl import swirl_matrix
from finsler.plotting import plot_asymmetry, plot_map
from finsler.plotting.explorer import page_record
from finsler.plotting.swirl import ball_at, round_values, turn_of, way

from helpers import made_map, note_of, settled, turning_map


def by_gid(ax, gid):
    return [artist for artist in ax.findobj() if artist.get_gid() == gid]


@pytest.mark.parametrize(("low", "high"), [(0.0, 0.19), (0.0, 0.47), (0.0, 0.9), (0.08, 0.12), (0.0, 0.004)])
def test_rings_are_at_few_round_values(low, high):
    values = round_values(low, high)
    assert 3 <= len(values) <= 7
    assert low <= values[0] <= values[-1] <= high
    assert all(len(f"{value:.10f}".rstrip("0").lstrip("0.")) <= 2 for value in values)


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("kappa", [0.2, -0.2])
def test_a_way_along_a_ring_costs_what_its_label_says(m, kappa):
    embedding = turning_map(m, kappa, center=0.3, beta=0.1 if m == 3 else 0.0)
    turn = turn_of(embedding)
    np.testing.assert_allclose(turn.center[:2], [0.3, 0.0], atol=1e-12)
    for value, radius in zip(turn.values, turn.radii, strict=True):
        spots = turn.on_ring(radius, [1.0, 1.0 + 1e-6])
        there, back = randers_distances(spots, **embedding.metric)[[0, 1], [1, 0]]
        assert (there - back) / (there + back) == pytest.approx(value, rel=1e-3)
    if m == 3:
        assert turn.beta == pytest.approx(0.1 * np.sign(kappa))
        np.testing.assert_allclose(
            np.sort(turn.ends @ [0, 0, 1])[0], 1.12 * embedding.coordinates[:, 2].min(), rtol=0.2
        )


def test_nothing_turns_without_a_swirl_or_round_a_center_far_away():
    assert turn_of(made_map([[0.0, 0.0], [1.0, 0.0]])) is None
    assert turn_of(turning_map(center=2.5)) is not None
    far = turning_map(kappa=0.01, center=20.0)
    assert turn_of(far) is None
    turned = replace(far, drift=np.array([0.0, 0.2]), swirl=swirl_matrix(0.01, 2))
    ax = settled(plot_map(turned))
    assert ax.get_ylabel() == "height (up costs more)"
    assert by_gid(ax, "drift")
    assert not by_gid(ax, "ring")


@pytest.mark.parametrize("kappa", [0.2, -0.2])
def test_arrows_in_the_plane_run_the_cheap_way(kappa):
    embedding = turning_map(kappa=kappa, center=0.3)
    ax = settled(plot_map(embedding))
    assert len(by_gid(ax, "ring")) == len(turn_of(embedding).values)
    assert [text.get_text() for text in by_gid(ax, "ring label")] == [
        "±5 %",
        "±10 %",
        "±15 %",
        "±20 %",
        "±25 %",
    ]
    np.testing.assert_allclose(np.ravel(by_gid(ax, "center")[0].get_data()), [0.3, 0.0], atol=1e-12)
    arrows = by_gid(ax, "cheap way")
    assert arrows
    for arrow in arrows:
        path = arrow._path_original.vertices
        assert randers_distances(path[:1], path[-1:], **embedding.metric) < np.linalg.norm(path[-1] - path[0])
    assert "4 kappa times the area of the triangle with the center" in " ".join(note_of(ax).split())
    assert "at the rim it costs 25.6 % less" in " ".join(note_of(ax).split())


@pytest.mark.parametrize("beta", [0.0, 0.1, -0.1])
def test_in_space_the_axis_is_drawn_with_rings_round_it(beta):
    embedding = turning_map(3, beta=beta)
    ax = settled(plot_map(embedding))
    line = np.array(by_gid(ax, "axis")[0].get_data_3d()).T
    np.testing.assert_allclose(line[:, :2], 0, atol=1e-12)
    rings = by_gid(ax, "ring")
    assert len(rings) == len(turn_of(embedding).values)
    shafts = [np.array(artist.get_data_3d()).T for artist in by_gid(ax, "cheap way")][::2]
    for shaft in shafts:
        there = randers_distances(shaft[:1], shaft[-1:], **embedding.metric)
        assert there < np.linalg.norm(shaft[-1] - shaft[0])
    arrows = by_gid(ax, "beta")
    assert len(arrows) == bool(beta)
    if beta:
        shaft, wing, _ = (np.array(line)[:, 2] for line in arrows[0]._segments3d)
        tip = next(z for z in shaft if np.isclose(z, wing).any())
        assert np.sign(tip - shaft.mean()) == -np.sign(beta)
    assert "height" not in ax.get_zlabel()


def test_a_center_outside_leaves_the_limits_alone():
    embedding = turning_map(center=2.5)
    ax = settled(plot_map(embedding))
    assert ax.get_xlim()[1] < 2
    assert "outside of the picture" in note_of(ax)
    near = settled(plot_map(turning_map(center=1.4)))
    assert near.get_xlim()[1] > 1.4


@pytest.mark.parametrize("kappa", [0.4, -0.4])
def test_a_bent_way_costs_the_geodesic_distance(kappa):
    embedding = turning_map(kappa=kappa, center=0.2, geodesic=True)
    a, b = embedding.coordinates[:2]
    points = way(a, b, embedding.kappa, 4001)
    np.testing.assert_allclose(points[[0, -1]], [a, b], atol=1e-12)
    step, middle = np.diff(points, axis=0), (points[1:] + points[:-1]) / 2
    cost = np.linalg.norm(step, axis=1).sum() + (embedding.drift_at(middle) * step).sum()
    assert cost == pytest.approx(embedding.distance("p0", "p1"), rel=1e-6)
    assert cost < randers_distances(a[None], b[None], drift=embedding.drift, swirl=embedding.swirl)[0, 0]


def test_arcs_of_a_geodesic_map_are_bent():
    embedding = turning_map(kappa=0.4, geodesic=True)
    drawn = by_gid(plot_map(embedding, arcs=[("p0", "p1"), ("p1", "p0")]), "arcs")
    there, back = (arrow._path_original.vertices for arrow in drawn)
    np.testing.assert_allclose(there[[0, -1]], embedding.coordinates[:2])
    assert np.linalg.norm(there[16] - back[16]) > 0.02
    straight = plot_map(replace(embedding, geodesic=False), arcs=[("p0", "p1")])
    assert not any(hasattr(artist, "_path_original") for artist in by_gid(straight, "arcs"))


@pytest.mark.parametrize("geodesic", [False, True])
def test_the_ball_is_what_an_effort_reaches_from_the_point(geodesic):
    embedding = turning_map(kappa=0.4, geodesic=geodesic)
    curve = ball_at(embedding, turn_of(embedding), 3, 0.5)
    reached = randers_distances(embedding.coordinates[[3]], curve, **embedding.metric)
    np.testing.assert_allclose(reached, 0.5, rtol=1e-9)


def test_the_ball_is_drawn_round_the_chosen_point():
    embedding = turning_map(kappa=0.4)
    ax = plot_map(embedding, unit_ball="p3")
    curve = np.transpose(by_gid(ax, "unit ball")[0].get_data())
    reached = randers_distances(embedding.coordinates[[3]], curve, **embedding.metric)
    np.testing.assert_allclose(reached, reached[0, 0])
    assert "Round p3" in note_of(ax)
    farthest = np.argmax(np.linalg.norm(embedding.coordinates, axis=1))
    assert f"Round p{farthest}" in note_of(plot_map(embedding, unit_ball=True))
    assert by_gid(plot_map(turning_map(3), unit_ball="p3"), "unit ball")
    with pytest.raises(KeyError, match="nowhere"):
        plot_map(embedding, unit_ball="nowhere")
    plt.close("all")


def test_labels_keep_off_those_of_the_rings():
    embedding = turning_map(n=120)
    ax = settled(plot_map(embedding))
    boxes = [text.get_window_extent() for text in ax.texts if text.get_gid() == "ring label"]
    labels = [text for text in ax.texts if text.get_gid() == "label" and text.get_visible()]
    assert labels
    assert not any(label.get_window_extent().overlaps(box) for label in labels for box in boxes)


def test_a_page_is_told_where_the_drift_turns():
    turn = page_record(turning_map(center=0.3))["turn"]
    assert turn["center"] == pytest.approx([0.3, 0.0])
    assert [ring["label"] for ring in turn["rings"]] == ["±5 %", "±10 %", "±15 %", "±20 %", "±25 %"]
    assert page_record(made_map([[0.0, 0.0], [1.0, 0.0]]))["turn"] is None


def test_the_picture_of_the_asymmetry_speaks_of_no_climb():
    embedding = turning_map(n=8)
    data = as_dissimilarities(embedding.distances())
    ax = settled(plot_asymmetry(replace(embedding, data=data)))
    assert "climb" not in ax.get_xlabel()
    assert "100" in ax.get_title()
    x, y = np.asarray(ax.collections[0].get_offsets()).T
    np.testing.assert_allclose(x, y, atol=1e-12)
