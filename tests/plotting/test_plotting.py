"""Pictures: what they show equals what was computed independently, for odd labels and incomplete data too."""

import subprocess
import sys
import warnings
from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csr_array, random_array

from finsler import Embedding, FinslerMDS, embed_graph, embed_matrix, randers_distances
from finsler.data.matrix import Dissimilarities
from finsler.geometry.extrema import local_extrema
from finsler.geometry.heights import gradient_heights
from finsler.graphs.digraph import as_digraph
from finsler.plotting import (
    canvas,
    diagnostics,
    fields,
    plot_asymmetry,
    plot_field,
    plot_heatmaps,
    plot_height,
    plot_history,
    plot_map,
    plot_scree,
    plot_shepard,
    plot_stress_per_point,
    unit_ball,
)
from finsler.plotting.explorer import _fit

from helpers import slow_distance

matplotlib.use("agg")
plt = pytest.importorskip("matplotlib.pyplot")

ODD = ["$x_1$", "a_b", "<i>", "$", "_hidden", "50 % \\$", "", "two\nlines", "ü", "x" * 90]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def a_map(n=12, m=2, alpha=0.3, labels=None, noise=0.1, seed=0, **options):
    rng = np.random.default_rng(seed)
    D = randers_distances(rng.normal(size=(n, m)), drift=alpha) * rng.uniform(1 - noise, 1 + noise, (n, n))
    return embed_matrix(D, n_components=m, alpha=alpha, labels=labels, **options)


def incomplete_map():
    """Pairs missing one way, missing both ways, and bounds."""
    rng = np.random.default_rng(1)
    D = randers_distances(rng.normal(size=(14, 2)), drift=0.3) * rng.uniform(0.9, 1.1, (14, 14))
    D[0, 1] = D[1, 0] = np.nan
    D[2, 3] = np.nan
    D[4, 5] = D[6, 7] = D[7, 6] = np.inf
    return embed_matrix(D, alpha=0.3, missing="hinge", weights=rng.uniform(0.5, 2, (14, 14)))


def settled(ax):
    np.ravel(ax)[0].figure.canvas.draw()
    return ax


def labels_of(ax):
    return {text for text in ax.texts if text.get_gid() == "label"}


def note_of(ax):
    return " ".join(text.get_text().replace("\n", " ") for text in ax.texts if text.get_gid() == "note")


def offsets(collection):
    return np.asarray(collection.get_offsets())


def arcs_of(ax):
    return next(c for c in ax.collections if c.get_gid() == "arcs")


# Maps


@pytest.mark.parametrize("m", [1, 2, 3, 5])
@pytest.mark.parametrize("given", [False, True])
def test_a_map_shows_the_coordinates(m, given):
    embedding = a_map(m=m, labels=list("abcdefghijkl"))
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
    ax = settled(plot_map(a_map(m=m)))
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
        settled(plot_map(a_map(), ax=ax))
    with pytest.raises(ValueError, match=r"ax must be a 3-D Axes .*projection='3d'"):
        plot_map(a_map(m=3), ax=axes[0])
    with pytest.raises(ValueError, match="ax must be a 2-D Axes"):
        plot_map(a_map(), ax=plt.figure().add_subplot(projection="3d"))
    with pytest.raises(TypeError, match="ax must be a matplotlib Axes, got int"):
        plot_map(a_map(), ax=3)


@pytest.mark.parametrize("m", [1, 2, 3])
def test_labels_are_shown_as_they_are(m):
    embedding = a_map(n=10, m=m, labels=ODD)
    ax = settled(plot_map(embedding))
    written = {text.get_text() for text in labels_of(ax)}
    assert {"$x_1$", "a_b", "<i>", "$", "_hidden", "50 % \\$", "ü", "two lines"} <= written
    assert max(map(len, written)) == canvas.LONGEST_LABEL
    assert not any(text.get_parse_math() for text in labels_of(ax))


@pytest.mark.parametrize(("m", "n"), [(1, 60), (1, 200), (2, 60), (2, 400), (3, 200)])
def test_labels_do_not_collide_and_what_has_no_room_is_counted(m, n):
    names = [f"point {k}" for k in range(n)]
    ax = settled(plot_map(replace(a_map(n=40, m=m), **many(n, m), labels=names), labels=True))
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
    embedding = a_map(n=30, labels=[f"p{k}" for k in range(30)])
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
    embedding = a_map(labels=list("abcdefghijkl"))
    assert {t.get_text() for t in labels_of(plot_map(embedding, labels=["c", "a", 5, np.int64(6)]))} == set(
        "acfg"
    )
    assert not labels_of(plot_map(embedding, labels=False))
    assert not labels_of(plot_map(a_map()))
    assert {t.get_text() for t in labels_of(plot_map(a_map(n=3), labels=True))} == {"0", "1", "2"}
    before = plt.get_fignums()
    with pytest.raises(KeyError, match="No point is labeled 'z'"):
        plot_map(embedding, labels=["z"])
    with pytest.raises(TypeError, match=r"try \['a'\]"):
        plot_map(embedding, labels="a")
    assert plt.get_fignums() == before, "no empty figure is left behind"


def test_colors_by_value():
    embedding = a_map()
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
    embedding = a_map()
    groups = np.array(
        ["_b", "$a$", "_b", "10", "2", "2", "$a$", "$a$", "$a$", "$a$", None, "_b"], dtype=object
    )
    ax = settled(plot_map(embedding, color=groups, color_label="kind"))
    legend = ax.get_legend()
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["2", "10", "$a$", "_b", "no group"]
    assert legend.get_title().get_text() == "kind"
    for name, points in zip(names, ax.collections, strict=False):
        own = [k for k, g in enumerate(groups) if g == (None if name == "no group" else name)]
        np.testing.assert_allclose(offsets(points), embedding.coordinates[own])
    assert len(ax.figure.axes) == 1, "no colorbar"
    truth = settled(plot_map(embedding, color=np.arange(12) > 3)).get_legend()
    assert [text.get_text() for text in truth.get_texts()] == ["False", "True"]


def test_more_groups_than_a_legend_holds():
    embedding = a_map(n=40)
    groups = [f"group {k % 15}" if k < 30 else "group 0" for k in range(40)]
    ax = settled(plot_map(embedding, color=groups))
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == [*(f"group {k}" for k in range(11)), "others (4 groups)"]
    sizes = [len(offsets(points)) for points in ax.collections[:12]]
    assert sizes == [12, *[2] * 10, 8]
    twelve = settled(plot_map(embedding, color=[f"group {k % 12}" for k in range(40)]))
    assert len(twelve.get_legend().get_texts()) == 12


def test_a_wrong_number_of_colors():
    with pytest.raises(ValueError, match=r"one value or group per point, shape \(12,\), got \(3,\)"):
        plot_map(a_map(), color=[1, 2, 3])
    assert not plt.get_fignums()


@pytest.mark.parametrize("m", [1, 2, 3])
def test_arcs_lead_from_point_to_point(m):
    embedding = a_map(m=m, labels=list("abcdefghijkl"))
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
        plot_map(a_map(labels=list("abcdefghijkl")), arcs=arcs)
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
    ax = settled(plot_map(a_map(m=m), unit_ball=True))
    parts = ax.findobj(lambda artist: artist.get_gid() in ("unit ball", "drift"))
    ball = next(part for part in parts if part.get_gid() == "unit ball")
    np.testing.assert_allclose(ball.get_xy()[:361], unit_ball(0.3))
    words = {text.get_text() for text in ax.findobj(matplotlib.text.Text)}
    assert {"up 1/(1+α) = 0.769", "down 1/(1−α) = 1.43"} <= words
    plain = settled(plot_map(a_map(m=m)))
    words = {text.get_text() for text in plain.findobj(matplotlib.text.Text)}
    assert {"up costs 1.3 per unit", "down costs 0.7 per unit"} <= words
    none = settled(plot_map(a_map(m=m, alpha=0.0)))
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
    ax = settled(plot_map(a_map(), ax=axes[0, 0]))
    assert not next(c for c in ax.get_children() if type(c).__name__ == "AnchoredOffsetbox").get_visible()


def test_maps_of_few_points_and_without_data():
    two = embed_matrix([[0, 1], [2, 0]], alpha=0.3)
    for m in (1, 2):
        settled(plot_map(embed_matrix([[0, 1], [2, 0]], alpha=0.3, n_components=m), labels=True))
    settled(plot_map(replace(two, data=None), title="mine $x$"))
    flat = replace(two, coordinates=np.zeros((2, 3)), drift=np.array([0, 0, 0.3]))
    settled(plot_map(flat))
    assert plot_map(two, title="mine").get_title() == "mine"


@pytest.mark.parametrize("kind", ["pdf", "svg", "png"])
def test_every_kind_of_file_is_written(kind, tmp_path):
    ax = plot_map(a_map(labels=ODD + ["y", "z"]), unit_ball=True)
    for options in ({}, {"bbox_inches": "tight"}):
        ax.figure.savefig(tmp_path / f"map.{kind}", **options)
        assert (tmp_path / f"map.{kind}").stat().st_size > 1000


def test_notes_neither_widen_the_picture_nor_leave_it():
    figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
    embedding = a_map(n=80, labels=[f"point {k}" for k in range(80)])
    for ax, draw in zip(
        axes.flat, (plot_map, plot_shepard, plot_asymmetry, plot_stress_per_point), strict=True
    ):
        draw(embedding, ax=ax)
    settled(axes)
    for ax in axes.flat:
        assert ax.bbox.width > 0.25 * figure.bbox.width
        for text in ax.texts:
            if text.get_gid() == "note" and text.get_text():
                assert text.get_window_extent().y0 > -2


# Fields and heights


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("what", ["drift", "current"])
def test_a_field_is_drawn_at_its_points(d, what):
    rng = np.random.default_rng(0)
    X, V = rng.normal(size=(50, d)), rng.normal(size=(50, d))
    V[7] = np.nan
    ax = settled(plot_field(X, **{what: V}))
    kept = np.delete(np.arange(50), 7)
    if d == 2:
        arrows = ax.collections[1]
        np.testing.assert_allclose(offsets(arrows), X[kept])
        vectors = np.column_stack([arrows.U, arrows.V])
        np.testing.assert_allclose(arrows.get_array(), np.linalg.norm(V[kept], axis=1))
    else:
        shafts = np.asarray(ax.collections[1]._segments3d[: len(kept)])
        np.testing.assert_allclose(shafts.mean(axis=1), X[kept], atol=1e-12)
        vectors = shafts[:, 0] - shafts[:, 1]  # matplotlib begins with the head
    scale = vectors / V[kept]
    np.testing.assert_allclose(scale, scale[0, 0], rtol=1e-9)
    assert scale[0, 0] > 0
    assert ax.get_title() == f"{what.capitalize()} at 50 points"
    assert ("with an arrow is cheap" if what == "current" else "with an arrow is dear") in note_of(ax)
    assert f"1 points have no arrow: the {what} is not finite" in note_of(ax)


def test_many_arrows_are_thinned_evenly():
    X = np.random.default_rng(0).uniform(size=(3000, 2))
    ax = settled(plot_field(X, drift=lambda points: 0.3 * np.asarray(points), max_arrows=100))
    kept = offsets(ax.collections[1])
    assert 60 <= len(kept) <= 100
    assert f"Arrows at {len(kept)} of 3,000 points" in note_of(ax)
    quarters = np.bincount((kept > 0.5) @ [1, 2], minlength=4)
    assert quarters.min() > 0.7 * quarters.max()
    assert {tuple(x) for x in kept} <= {tuple(x) for x in X}


def test_fields_that_are_constant_or_zero_or_lie_in_one_place():
    X = np.random.default_rng(0).normal(size=(9, 2))
    settled(plot_field(X, current=[0.3, 0.0], ax=plt.subplot()))
    settled(plot_field(X, drift=np.zeros((9, 2))))
    settled(plot_field(np.ones((5, 2)), drift=[0.1, 0.2]))
    settled(plot_field(np.ones((5, 3)), drift=np.zeros((5, 3))))
    settled(plot_field(X, drift=np.full((9, 2), np.nan)))


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "Give either drift"),
        ({"drift": [0, 1], "current": [0, 1]}, "Give either drift"),
        ({"drift": [1, 2, 3]}, r"drift must have a vector per point, shape \(4, 2\).*got \(3,\)"),
        ({"drift": [0, 1], "max_arrows": 0}, "max_arrows must be at least 1"),
    ],
)
def test_wrong_fields(options, match):
    with pytest.raises(ValueError, match=match):
        plot_field(np.zeros((4, 2)), **options)


@pytest.mark.parametrize(
    ("X", "match"), [(np.zeros((4, 5)), "2 or 3 coordinates"), ([[0, np.nan]], "row 0 is not")]
)
def test_points_that_cannot_be_drawn(X, match):
    with pytest.raises(ValueError, match=match):
        plot_field(X, drift=np.zeros(np.shape(X)))


def test_heights_with_sources_and_sinks():
    side = np.linspace(0, 2 * np.pi, 25)
    X = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
    h = np.sin(X[:, 0]) * np.sin(X[:, 1])
    h[3] = np.nan
    ax = settled(plot_height(X, h, hops=2, height_label="height in $"))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["source (local maximum)", "sink (local minimum)"]
    sources, sinks = (offsets(c) for c in ax.collections[-2:])
    inner = {(round(a / np.pi * 2), round(b / np.pi * 2)) for a, b in sources}
    assert {(1, 1), (3, 3)} <= inner
    assert {(1, 3), (3, 1)} <= {(round(a / np.pi * 2), round(b / np.pi * 2)) for a, b in sinks}
    dots = next(c for c in ax.collections if len(offsets(c)) == 624)
    np.testing.assert_allclose(dots.get_array(), np.delete(h, 3))
    assert "1 points without a height are left out" in note_of(ax)
    assert ax.figure.axes[1].get_ylabel() == r"height in \$"


def test_heights_use_the_graph_given():
    X = np.random.default_rng(0).uniform(size=(60, 2))
    h = X[:, 0]
    order = np.argsort(h)
    line = coo_array((np.ones(59), (order[:-1], order[1:])), shape=(60, 60))
    ax = settled(plot_height(X, h, graph=line, ax=plt.subplot()))
    assert ax.get_title() == "Height of 60 points: 1 source, 1 sink"
    np.testing.assert_allclose(offsets(ax.collections[-2]), X[[order[-1]]])


def test_heights_are_not_drawn_over_a_hole():
    X = np.random.default_rng(0).uniform(size=(900, 2))
    X = X[np.linalg.norm(X - 0.5, axis=1) > 0.25]
    mesh = fields._triangles(X)
    corners = X[mesh.triangles[~mesh.mask]]
    assert (np.linalg.norm(corners.mean(axis=1) - 0.5, axis=1) > 0.15).all()
    settled(plot_height(X, X[:, 0]))


def test_heights_on_a_line_and_constant_heights():
    line = np.column_stack([np.arange(9.0), np.zeros(9)])
    ax = settled(plot_height(line, np.arange(9.0)))
    assert "no contours" in note_of(ax)
    settled(plot_height(np.random.default_rng(0).uniform(size=(20, 2)), np.ones(20)))
    settled(plot_height([[0.0, 0.0]], [1.0]))
    with pytest.raises(ValueError, match="holds no finite number"):
        plot_height(line, np.full(9, np.nan))
    with pytest.raises(ValueError, match=r"shape \(9,\), got \(3,\)"):
        plot_height(line, [1, 2, 3])
    with pytest.raises(ValueError, match="2 coordinates"):
        plot_height(np.zeros((4, 3)), np.zeros(4))


def slow_extrema(h, graph, hops):
    """Plateaus by flooding, each compared with all that lies within reach of its points."""
    n = len(h)
    near = [set() for _ in range(n)]
    for i, j in zip(*graph.nonzero(), strict=True):
        near[i].add(int(j))
        near[j].add(int(i))
    reach = []
    for i in range(n):
        ball = {i}
        for _ in range(hops):
            ball |= {k for j in ball for k in near[j]}
        reach.append({j for j in ball - {i} if not np.isnan(h[j])})
    maxima, minima, seen = [], [], set()
    for i in range(n):
        if i in seen or np.isnan(h[i]):
            continue
        plateau, queue = {i}, [i]
        while queue:
            for j in reach[queue.pop()]:
                if h[j] == h[i] and j not in plateau:
                    plateau.add(j)
                    queue.append(j)
        seen |= plateau
        around = [h[j] for k in plateau for j in reach[k] if j not in plateau]
        if around and max(around) < h[i]:
            maxima.append(i)
        if around and min(around) > h[i]:
            minima.append(i)
    return sorted(maxima, key=lambda k: (-h[k], k)), sorted(minima, key=lambda k: (h[k], k))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("hops", [1, 2, 3])
def test_local_extrema_by_brute_force(seed, hops):
    rng = np.random.default_rng(seed)
    graph = random_array((40, 40), density=0.04, rng=rng)
    h = rng.integers(0, 6, 40).astype(float) if seed % 2 else rng.normal(size=40)
    h[rng.random(40) < 0.1] = np.nan
    found = local_extrema(h, graph, hops=hops)
    maxima, minima = slow_extrema(h, graph, hops)
    assert found.maxima.tolist() == maxima
    assert found.minima.tolist() == minima


def test_local_extrema_of_odd_graphs():
    loop = coo_array(([1.0, 0.0], ([0, 1], [0, 2])), shape=(3, 3))
    maxima, minima = local_extrema([5.0, 1.0, 2.0], loop)
    assert (maxima.tolist(), minima.tolist()) == ([2], [1]), "a stored zero joins, a loop does not"
    for h, graph, error, match in (
        (np.zeros((2, 2)), csr_array((2, 2)), ValueError, "one number per point"),
        (np.zeros(3), csr_array((2, 2)), ValueError, "each of the 3 points"),
        (np.zeros(2), np.zeros((2, 2)), TypeError, "scipy sparse array, got ndarray"),
    ):
        with pytest.raises(error, match=match):
            local_extrema(h, graph)
    with pytest.raises(ValueError, match="hops must be at least 1"):
        local_extrema(np.zeros(2), csr_array((2, 2)), hops=0)


# The map and its data


def test_shepard_shows_every_pair_both_ways():
    embedding = a_map(noise=0.2)
    ax = settled(plot_shepard(embedding))
    D, d = embedding.data.matrix, embedding.distances()
    dearer, cheaper = (offsets(c) for c in ax.collections[1:3])
    upper = [(i, j) if D[i, j] > D[j, i] else (j, i) for i in range(12) for j in range(i)]
    np.testing.assert_allclose(rows(dearer), rows([(D[i, j], d[i, j]) for i, j in upper]))
    np.testing.assert_allclose(rows(cheaper), rows([(D[j, i], d[j, i]) for i, j in upper]))
    lines = np.array(ax.collections[0].get_segments())
    ends = rows(lines.reshape(-1, 4))
    both = [[(D[i, j], d[i, j]), (D[j, i], d[j, i])] for j in range(12) for i in range(j)]
    np.testing.assert_allclose(ends, rows(np.reshape(both, (-1, 4))))
    assert ax.get_xlim() == ax.get_ylim()
    (diagonal,) = ax.lines
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())


def rows(array):
    array = np.asarray(array, dtype=float)
    return array[np.lexsort(array.T)]


def test_shepard_with_missing_pairs_bounds_and_equal_directions():
    embedding = incomplete_map()
    ax = settled(plot_shepard(embedding))
    D, d = embedding.data.matrix, embedding.distances()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    shown = dict(zip(names, ax.collections[1:], strict=False))
    np.testing.assert_allclose(
        rows(offsets(shown["known one way only"])), rows([(D[3, 2], d[3, 2]), (D[5, 4], d[5, 4])])
    )
    far = -D[4, 5]
    assert far > 0
    bounds = [(far, d[i, j]) for i, j in ((4, 5), (6, 7), (7, 6))]
    np.testing.assert_allclose(rows(offsets(shown["at least this far: fits above the line"])), rows(bounds))
    assert len(ax.collections[0].get_segments()) == 14 * 13 // 2 - 4
    equal = settled(plot_shepard(embed_matrix([[0, 2, 3], [2, 0, 2], [3, 2, 0]], alpha=0.0)))
    assert "equal both ways" in [text.get_text() for text in equal.get_legend().get_texts()]


def test_shepard_takes_a_sample_of_many_pairs(monkeypatch):
    embedding = a_map(n=40)
    D, d = embedding.data.matrix, embedding.distances()
    valid = {(round(D[i, j], 9), round(d[i, j], 9)) for i in range(40) for j in range(40)}
    for all_pairs in (diagnostics.ALL_PAIRS, 10):
        monkeypatch.setattr(diagnostics, "ALL_PAIRS", all_pairs)
        ax = settled(plot_shepard(embedding, max_pairs=100, ax=plt.figure().add_subplot()))
        points = np.concatenate([offsets(c) for c in ax.collections[1:3]])
        assert len(points) == 200
        assert {tuple(point) for point in points.round(9)} <= valid
        assert len(np.unique(points[:, 0])) > 190
        assert "Shown are 100 of 780 pairs, drawn at random." in note_of(ax)
        again = plot_shepard(embedding, max_pairs=100, ax=plt.figure().add_subplot())
        np.testing.assert_array_equal(offsets(again.collections[1]), offsets(ax.collections[1]))
    with pytest.raises(ValueError, match="max_pairs must be at least 1"):
        plot_shepard(embedding, max_pairs=0)


@pytest.mark.parametrize("make", [a_map, incomplete_map])
def test_asymmetry_shows_the_climb_against_the_half_difference(make):
    embedding = make()
    ax = settled(plot_asymmetry(embedding, ax=plt.subplot()))
    D, W, h = embedding.data.matrix, embedding.data.weights, embedding.height
    n = len(h)
    W = np.ones((n, n)) if W is None else W
    pairs = [
        (i, j)
        for i in range(n)
        for j in range(n)
        if h[i] < h[j] and W[i, j] * W[j, i] > 0 and D[i, j] >= 0 and D[j, i] >= 0
    ]
    expected = [(embedding.alpha * (h[j] - h[i]), (D[i, j] - D[j, i]) / 2) for i, j in pairs]
    np.testing.assert_allclose(rows(offsets(ax.collections[0])), rows(expected))
    c = np.array([2 * W[i, j] * W[j, i] / (W[i, j] + W[j, i]) for i, j in pairs])
    x, y = np.array(expected).T
    share = 1 - c @ (y - x) ** 2 / (c @ y**2)
    assert f"The map explains {share:.1%} of the asymmetry" in ax.get_title().replace("\n", " ")
    best = gradient_heights(np.where(D < 0, np.nan, D), W)
    most = 1 - c @ (y - [best[j] - best[i] for i, j in pairs]) ** 2 / (c @ y**2)
    assert f"{most:.1%}" in ax.get_title()
    assert share <= most


def test_asymmetry_of_data_that_have_none():
    symmetric = embed_matrix([[0, 2, 3], [2, 0, 2], [3, 2, 0]], alpha=0.0)
    assert "The data are symmetric" in settled(plot_asymmetry(symmetric)).get_title()
    exact = a_map(noise=0)
    assert "explains 100.0%" in settled(plot_asymmetry(exact)).get_title()
    flat = replace(a_map(), drift=np.zeros(2))
    assert "explains 0.0%" in settled(plot_asymmetry(flat)).get_title()
    one_way = np.where(np.tri(5, dtype=bool), 1.0, np.nan)
    np.fill_diagonal(one_way, 0)
    with pytest.warns(UserWarning, match="hardly determine|one way"):
        lonely = embed_matrix(one_way, missing="mask")
    with pytest.raises(ValueError, match="known both ways, and these data have none"):
        plot_asymmetry(lonely)


def test_heatmaps_are_ordered_by_height_and_share_their_colors():
    embedding = a_map(labels=[*ODD, "y", "z"])
    axes = settled(plot_heatmaps(embedding))
    order = np.argsort(embedding.height)
    D, d = (M[np.ix_(order, order)] for M in (embedding.data.matrix, embedding.distances()))
    pictures = [ax.images[0] for ax in axes]
    for picture, expected in zip(pictures, (D, d, d - D), strict=True):
        np.testing.assert_allclose(picture.get_array(), expected)
    assert pictures[0].get_clim() == pictures[1].get_clim() == (0, max(D.max(), d.max()))
    low, high = pictures[2].get_clim()
    assert low == -high == -np.abs(d - D).max()
    names = [canvas.plain(canvas.short(embedding.labels[i])) for i in order]
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == names
    assert f"{embedding.normalized_stress:.3g}" in axes[0].figure.get_suptitle()
    assert "above the diagonal ways go up" in axes[0].figure.get_supxlabel()


def test_heatmaps_of_incomplete_data(monkeypatch):
    embedding = incomplete_map()
    _, given = plt.subplots(1, 3)
    axes = settled(plot_heatmaps(embedding, ax=given))
    assert all(a is b for a, b in zip(axes, given, strict=True))
    order = np.argsort(embedding.height).tolist()
    at = {k: order.index(k) for k in range(14)}
    D, residual = axes[0].images[0].get_array(), axes[2].images[0].get_array()
    assert D.mask[at[0], at[1]]
    assert D.mask[at[2], at[3]]
    assert residual.mask[at[2], at[3]]
    assert D.mask.sum() == 3
    matrix, d = embedding.data.matrix, embedding.distances()
    for i, j in ((4, 5), (6, 7), (7, 6)):
        assert D[at[i], at[j]] == -matrix[i, j]
        assert residual[at[i], at[j]] == pytest.approx(min(d[i, j] + matrix[i, j], 0))
    assert "Grey: missing. 3 entries are bounds" in note_of(axes[0])
    monkeypatch.setattr(diagnostics, "MOST_CELLS", 5)
    few = settled(plot_heatmaps(embedding, title="mine"))
    assert few[0].images[0].get_array().shape == (5, 5)
    assert few[0].figure.get_suptitle() == "mine"
    with pytest.raises(ValueError, match="ax must hold 3 Axes"):
        plot_heatmaps(embedding, ax=plt.subplot())


def test_stress_per_point_is_sorted():
    embedding = a_map(labels=[*ODD, "y", "z"])
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


@pytest.mark.parametrize("draw", [plot_shepard, plot_asymmetry, plot_heatmaps])
def test_a_map_without_data_says_what_to_do(draw, tmp_path):
    lost = Embedding.load(a_map().save(tmp_path / "map.npz", with_data=False))
    with pytest.raises(ValueError, match=rf"{draw.__name__} compares.*with_data=True.*dataclasses.replace"):
        draw(lost)
    assert not plt.get_fignums()


def test_saved_maps_have_pictures_too(tmp_path):
    embedding = incomplete_map()
    back = Embedding.load(embedding.save(tmp_path / "map.npz"))
    for draw in (plot_map, plot_shepard, plot_asymmetry, plot_heatmaps, plot_stress_per_point):
        settled(draw(back))


def test_single_precision_data():
    embedding = a_map()
    data = Dissimilarities(embedding.data.matrix.astype(np.float32))
    single = replace(embedding, data=data)
    for draw in (plot_shepard, plot_asymmetry, plot_heatmaps):
        settled(draw(single))


# Fits


def test_history_is_drawn_from_whatever_holds_it():
    embedding = a_map()
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
    embedding = a_map(n=15, noise=0.15)
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
        assert (star.get_xdata()[0], star.get_ydata()[0]) == (mds.alpha_, mds.normalized_stress_)


def test_scree_for_one_drift_incomplete_data_and_too_few_iterations():
    embedding = incomplete_map()
    (ax,) = plot_scree(embedding.data, dimensions=[2], alpha=0.3, ax=plt.subplot())
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [embedding.normalized_stress], rtol=1e-6)
    D = a_map(noise=0.2).data.matrix
    D[0, 1] = np.nan
    (ax,) = settled(plot_scree(D, dimensions=(1, 2), alpha="auto", missing="mask", max_iter=1))
    assert "2 fits of 2 stopped at the limit" in note_of(ax)
    with pytest.raises(ValueError, match="between 1 and the number of points, 12, got"):
        plot_scree(D, dimensions=(0, 1), missing="mask")
    with pytest.raises(ValueError, match="ax must hold 2 Axes"):
        plot_scree(D, missing="mask", ax=plt.figure().add_subplot())


# Words, imports, the door of the room


def test_titles_break_at_the_width_of_the_picture():
    figure = plt.figure(figsize=(3, 3))
    ax = figure.add_subplot()
    canvas.set_title(ax, None, "a rather long title that no small picture holds (alpha = 0.3)")
    lines = ax.get_title().split("\n")
    assert len(lines) > 1
    assert any("(alpha = 0.3)" in line for line in lines), "what stands in brackets stays together"
    canvas.set_title(ax, "as given " * 20, "default")
    assert ax.get_title() == "as given " * 20


def test_a_map_without_stress_does_not_title_it():
    fitted = embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]])
    learned = replace(fitted, stress=np.nan, normalized_stress=np.nan)
    titles = [plot_map(found).get_title() for found in (fitted, learned)]
    assert ["stress" in title for title in titles] == [True, False]
    assert titles[1].startswith("3 points\n")
    rows = [dict(_fit(found)) for found in (fitted, learned)]
    assert "normalized stress" in rows[0]
    assert not any("nan" in text for text in rows[1].values())
    plt.close("all")


def test_every_name_is_there():
    import finsler.plotting as room

    for name in room.__all__:
        assert callable(getattr(room, name))
    assert set(room.__all__) <= set(dir(room))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        room.nothing  # noqa: B018


def test_matplotlib_is_imported_only_to_draw():
    code = (
        "import sys\n"
        "sys.modules['matplotlib'] = sys.modules['matplotlib.pyplot'] = None\n"
        "import finsler\n"
        "from finsler.plotting import *\n"
        "print(unit_ball(0.5).shape)\n"
        "embedding = finsler.embed_matrix([[0, 1], [2, 0]], alpha=0.3)\n"
        "for draw in (plot_map, plot_shepard, plot_heatmaps, plot_asymmetry, plot_stress_per_point):\n"
        "    try:\n"
        "        draw(embedding)\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
        "for draw in (lambda: plot_field([[0, 0]], drift=[0, 1]), lambda: plot_height([[0, 0]], [1.0]),\n"
        "             lambda: plot_history([1.0]), lambda: plot_scree([[0, 1], [2, 0]])):\n"
        "    try:\n"
        "        draw()\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.splitlines() == ["(361, 2)"] + ["Plots need matplotlib: pip install 'finsler[plot]'."] * 9
