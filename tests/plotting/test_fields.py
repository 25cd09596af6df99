"""Pictures of fields and of heights over the original points."""

import numpy as np
import pytest
from matplotlib import pyplot as plt
from scipy.sparse import coo_array

from finsler.plotting import (
    fields,
    plot_field,
    plot_height,
)

from helpers import note_of, offsets, settled


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
    assert ("with an arrow is cheap" if what == "current" else "with an arrow is costly") in note_of(ax)
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
        ({"drift": [1, 2, 3]}, r"drift must .*\(4, 2\), got \(3,\)"),
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
    ax = settled(plot_height(X, h, hops=2))
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["source (local maximum)", "sink (local minimum)"]
    sources, sinks = (offsets(c) for c in ax.collections[-2:])
    inner = {(round(a / np.pi * 2), round(b / np.pi * 2)) for a, b in sources}
    assert {(1, 1), (3, 3)} <= inner
    assert {(1, 3), (3, 1)} <= {(round(a / np.pi * 2), round(b / np.pi * 2)) for a, b in sinks}
    dots = next(c for c in ax.collections if len(offsets(c)) == 624)
    np.testing.assert_allclose(dots.get_array(), np.delete(h, 3))
    assert "1 points without a height are left out" in note_of(ax)
    assert ax.figure.axes[1].get_ylabel() == "height on the map"


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
    mesh = fields.triangles(X)
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
