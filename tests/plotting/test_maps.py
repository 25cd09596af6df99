"""Pictures of maps: coordinates, labels, arcs and the key, for odd labels too."""

from dataclasses import replace

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.sparse import coo_array, csr_array

from finsler import embed_graph, embed_matrix, randers_distances
from finsler.graphs.digraph import as_digraph
from finsler.plotting import (
    canvas,
    plot_map,
    unit_ball,
)
from finsler.plotting.explorer import _fit

from helpers import ODD_LABELS, noisy_map, note_of, offsets, settled, slow_distance


def labels_of(ax):
    return {text for text in ax.texts if text.get_gid() == "label"}


def arcs_of(ax):
    return next(c for c in ax.collections if c.get_gid() == "arcs")


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("given", [False, True])
def test_a_map_shows_the_coordinates(m, given):
    embedding = noisy_map(m=m, labels=list("abcdefghijkl"))
    axes = plt.subplot(projection="3d" if m >= 3 else None) if given else None
    ax = settled(plot_map(embedding, ax=axes))
    assert ax is axes or not given
    X = embedding.coordinates
    if m >= 3:
        shown = np.column_stack(ax.collections[0]._offsets3d)
        np.testing.assert_allclose(shown, X[:, [0, 1, m - 1]])
        assert ax.get_zlabel() == "height (up costs more)"
    else:
        np.testing.assert_allclose(offsets(ax.collections[0])[:, 1], X[:, -1])
        np.testing.assert_allclose(offsets(ax.collections[0])[:, 0], X[:, 0] if m == 2 else 0)
        assert ax.get_ylabel() == "height (up costs more)"
    np.testing.assert_allclose(ax.collections[0].get_array(), X[:, -1], err_msg="colored by height")
    assert f"{embedding.normalized_stress:.3g}" in ax.get_title()
    assert "straight up costs 1.86 times straight down (alpha = 0.3)" in ax.get_title()
    assert ("map in 5 dimensions" in note_of(ax)) == (m == 5)


@pytest.mark.parametrize("m", [2, 3])
def test_a_unit_is_as_long_along_each_axis(m):
    ax = settled(plot_map(noisy_map(m=m)))
    if m == 2:
        steps = ax.transData.transform([[0, 0], [1, 0], [0, 1]])
        assert steps[1, 0] - steps[0, 0] == pytest.approx(steps[2, 1] - steps[0, 1], rel=1e-9)
    else:
        ranges = [np.ptp(limits) for limits in (ax.get_xlim(), ax.get_ylim(), ax.get_zlim())]
        ratio = np.asarray(ax._box_aspect) / ranges
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
        up = next(c for c in ax.collections if c.get_gid() == "drift")
        shaft = np.asarray(up._segments3d[0])
        np.testing.assert_allclose(np.ptp(shaft, axis=0)[:2], 0, err_msg="the drift points straight up")


def test_shared_axes_and_axes_of_another_kind():
    _, axes = plt.subplots(1, 2, sharex=True, sharey=True)
    for ax in axes:
        settled(plot_map(noisy_map(), ax=ax))
    with pytest.raises(ValueError, match=r"ax must be a 3-D Axes .*projection='3d'"):
        plot_map(noisy_map(m=3), ax=axes[0])
    with pytest.raises(ValueError, match="ax must be a 2-D Axes"):
        plot_map(noisy_map(), ax=plt.figure().add_subplot(projection="3d"))
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, got int"):
        plot_map(noisy_map(), ax=3)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_labels_are_shown_as_they_are(m):
    embedding = noisy_map(n=10, m=m, labels=ODD_LABELS)
    ax = settled(plot_map(embedding))
    written = {text.get_text() for text in labels_of(ax)}
    assert {"$x_1$", "a_b", "<i>", "$", "_hidden", "50 % \\$", "ü", "two lines"} <= written
    assert max(map(len, written)) == canvas.LONGEST_LABEL
    assert not any(text.get_parse_math() for text in labels_of(ax))


@pytest.mark.slow
@pytest.mark.parametrize(("m", "n"), [(1, 60), (1, 200), (2, 60), (2, 400), (3, 200)])
def test_labels_do_not_collide_and_what_has_no_room_is_counted(m, n):
    names = [f"point {k}" for k in range(n)]
    ax = settled(plot_map(replace(noisy_map(n=40, m=m), **many(n, m), labels=names), labels=True))
    renderer = ax.figure.canvas.get_renderer()
    shown = [text for text in labels_of(ax) if text.get_visible()]
    boxes = np.array([text.get_window_extent(renderer).extents for text in shown])
    for k, box in enumerate(boxes):
        others = np.delete(boxes, k, axis=0)
        overlap = (box[:2] < others[:, 2:] - 0.5) & (box[2:] > others[:, :2] + 0.5)
        assert not overlap.all(axis=1).any(), shown[k].get_text()
    assert (boxes[:, :2] > np.array(ax.bbox.extents[:2]) - 1).all()
    assert (boxes[:, 2:] < np.array(ax.bbox.extents[2:]) + 1).all()
    left_out = n - len(shown)
    assert len(shown) >= 20
    assert (f"{left_out} of {n} labels are left out" in note_of(ax)) == (left_out > 0)
    if m == 2:  # and they cover no point
        pixels = ax.transData.transform(offsets(ax.collections[0]))
        inside = (pixels > boxes[:, None, :2]) & (pixels < boxes[:, None, 2:])
        assert not inside.all(axis=2).any()


def many(n, m):
    X = np.random.default_rng(3).normal(size=(n, m))
    return {"coordinates": X, "stress_per_point": np.full(n, 1 / n), "data": None}


def test_each_label_stands_beside_its_own_point():
    embedding = noisy_map(n=30, labels=[f"p{k}" for k in range(30)])
    ax = plot_map(embedding)
    ax.invert_xaxis()  # labels move along when the picture changes
    settled(ax)
    pixels = ax.transData.transform(embedding.coordinates)
    shown = [text for text in labels_of(ax) if text.get_visible()]
    assert len(shown) > 25
    for text in shown:
        box = text.get_window_extent(ax.figure.canvas.get_renderer())
        gap = np.hypot(*np.maximum(np.maximum(box.p0 - pixels, pixels - box.p1), 0).T)
        own = gap[int(text.get_text()[1:])]
        assert own < 10
        assert own < gap.min() + 2.5, "no other point is clearly nearer"


def test_which_labels():
    embedding = noisy_map(labels=list("abcdefghijkl"))
    assert {t.get_text() for t in labels_of(plot_map(embedding, labels=["c", "a", 5, np.int64(6)]))} == set(
        "acfg"
    )
    assert not labels_of(plot_map(embedding, labels=False))
    assert not labels_of(plot_map(noisy_map()))
    assert {t.get_text() for t in labels_of(plot_map(noisy_map(n=3), labels=True))} == {"0", "1", "2"}
    before = plt.get_fignums()
    with pytest.raises(KeyError, match="No point is labeled 'z'"):
        plot_map(embedding, labels=["z"])
    with pytest.raises(TypeError, match=r"try \['a'\]"):
        plot_map(embedding, labels="a")
    assert plt.get_fignums() == before, "no empty figure is left behind"


@pytest.mark.slow
@pytest.mark.parametrize("m", [1, 2, 3])
def test_arcs_lead_from_point_to_point(m):
    embedding = noisy_map(m=m, labels=list("abcdefghijkl"))
    matrix = coo_array(([1.0, 2.0, 0.0], ([0, 3, 7], [5, 1, 2])), shape=(12, 12))
    pairs = [(0, 5), (3, 1), (7, 2)]
    labels = [("a", "f"), ("d", "b"), ("h", "c")]
    graphs = [
        pairs,
        labels,
        np.array(pairs),
        matrix,
        csr_array(matrix),
        as_digraph([(*arc, 1.0) for arc in labels]),
    ]
    X = embedding.coordinates
    for arcs in graphs:
        ax = settled(plot_map(embedding, arcs=arcs))
        if m == 1:
            arrows = [patch for patch in ax.patches if patch.get_gid() == "arcs"]
            ends = {tuple(np.ravel(arrow._posA_posB)[[1, 3]]) for arrow in arrows}
            assert ends == {(X[i, 0], X[j, 0]) for i, j in pairs}
        elif m == 2:
            arrows = arcs_of(ax)
            start, step = offsets(arrows), np.column_stack([arrows.U, arrows.V])
            found = {}
            for s, u in zip(start, step, strict=True):
                i = int(np.argmin(np.linalg.norm(X - s, axis=1)))
                unit = (X - s) @ u / np.linalg.norm(u) / np.maximum(np.linalg.norm(X - s, axis=1), 1e-12)
                j = int(np.argmax(unit))
                found[i] = j
                share = np.linalg.norm(u) / np.linalg.norm(X[j] - X[i])
                assert unit[j] == pytest.approx(1), "it points to the other end"
                assert 0.7 < share < 1, "and stops at its rim"
            assert found == dict(pairs)
        else:
            shafts = np.asarray(arcs_of(ax)._segments3d[:3])[:, ::-1]  # matplotlib begins with the head
            np.testing.assert_allclose(
                np.sort(shafts, axis=0), np.sort([[X[i], X[j]] for i, j in sorted(pairs)], axis=0), atol=1e-9
            )


def test_arcs_of_a_graph_that_is_larger_than_the_map():
    arcs = [("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("d", "a", 1), ("a", "c", 2), ("c", "a", 2)]
    town = embed_graph(arcs, alpha=0.3, nodes=["a", "b", "c"])
    ax = settled(plot_map(town, arcs=as_digraph(arcs)))
    assert len(offsets(arcs_of(ax))) == 4
    assert "2 arcs are not drawn" in note_of(ax)


@pytest.mark.parametrize(
    ("arcs", "error", "match"),
    [
        ([(0, 1), 7], ValueError, r"pairs \(from, to\).*arcs\[1\] is 7"),
        ([(0, 99)], KeyError, "points 0 to 11"),
        ([("a", "nobody")], KeyError, "No point is labeled 'nobody'"),
        (csr_array((3, 3)), ValueError, r"needs \(12, 12\) for 12 points"),
        (as_digraph([("x", "y", 1.0)]), ValueError, "none of its 1 arcs joins two labels"),
    ],
)
def test_wrong_arcs(arcs, error, match):
    with pytest.raises(error, match=match):
        plot_map(noisy_map(labels=list("abcdefghijkl")), arcs=arcs)
    assert not plt.get_fignums()


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.95])
def test_the_unit_ball_is_what_a_unit_of_effort_reaches(alpha):
    ball = unit_ball(alpha)
    effort = [slow_distance((0, 0), u, (0, alpha)) for u in ball]
    np.testing.assert_allclose(effort, 1, rtol=0, atol=1e-9)
    np.testing.assert_allclose(ball[0], ball[-1], atol=1e-12)
    assert ball[:, 1].max() == pytest.approx(1 / (1 + alpha), rel=1e-9)
    assert ball[:, 1].min() == pytest.approx(-1 / (1 - alpha), rel=1e-9)


def test_alpha_of_the_unit_ball_is_checked():
    with pytest.raises(ValueError, match=r"alpha must lie in \[0, 1\), got 1"):
        unit_ball(1)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_key_explains_the_metric(m):
    ax = settled(plot_map(noisy_map(m=m), unit_ball=True))
    parts = ax.findobj(lambda artist: artist.get_gid() in ("unit ball", "drift"))
    ball = next(part for part in parts if part.get_gid() == "unit ball")
    np.testing.assert_allclose(ball.get_xy()[:361], unit_ball(0.3))
    words = {text.get_text() for text in ax.findobj(matplotlib.text.Text)}
    assert {"up 1/(1+α) = 0.769", "down 1/(1−α) = 1.43"} <= words
    plain = settled(plot_map(noisy_map(m=m)))
    words = {text.get_text() for text in plain.findobj(matplotlib.text.Text)}
    assert {"up costs 1.3 per unit", "down costs 0.7 per unit"} <= words
    none = settled(plot_map(noisy_map(m=m, alpha=0.0)))
    assert "both ways cost the same" in none.get_title()
    assert not none.findobj(lambda artist: artist.get_gid() == "drift")


def test_the_key_covers_no_point():
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    embedding = embed_matrix(randers_distances(grid, drift=0.3), alpha=0.3)
    ax = settled(plot_map(embedding))
    key = next(c for c in ax.get_children() if type(c).__name__ == "AnchoredOffsetbox")
    box = key.get_window_extent(ax.figure.canvas.get_renderer())
    pixels = ax.transData.transform(embedding.coordinates)
    assert not ((pixels > box.p0) & (pixels < box.p1)).all(axis=1).any()
    assert key.get_visible()


def test_a_small_picture_goes_without_the_key():
    _, axes = plt.subplots(3, 3, figsize=(5, 5))
    ax = settled(plot_map(noisy_map(), ax=axes[0, 0]))
    assert not next(c for c in ax.get_children() if type(c).__name__ == "AnchoredOffsetbox").get_visible()


def test_maps_of_few_points_and_without_data():
    two = embed_matrix([[0, 1], [2, 0]], alpha=0.3)
    for m in (1, 2):
        settled(plot_map(embed_matrix([[0, 1], [2, 0]], alpha=0.3, n_components=m), labels=True))
    settled(plot_map(replace(two, data=None), title="mine $x$"))
    flat = replace(two, coordinates=np.zeros((2, 3)), drift=np.array([0, 0, 0.3]))
    settled(plot_map(flat))
    assert plot_map(two, title="mine").get_title() == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_every_kind_of_file_is_written(kind, tmp_path):
    ax = plot_map(noisy_map(labels=ODD_LABELS + ["y", "z"]), unit_ball=True)
    for options in ({}, {"bbox_inches": "tight"}):
        ax.figure.savefig(tmp_path / f"map.{kind}", **options)
        assert (tmp_path / f"map.{kind}").stat().st_size > 1000


def test_a_map_without_stress_does_not_title_it():
    fitted = embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]])
    learned = replace(fitted, stress=None, normalized_stress=None)
    titles = [plot_map(found).get_title() for found in (fitted, learned)]
    assert ["stress" in title for title in titles] == [True, False]
    assert titles[1].startswith("3 points\n")
    rows = [dict(_fit(found)) for found in (fitted, learned)]
    assert "normalized stress" in rows[0]
    assert "normalized stress" not in rows[1]
    plt.close("all")
