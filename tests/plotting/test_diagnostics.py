"""Pictures of how well a map shows its data equal what is computed independently, for incomplete data too."""

from dataclasses import replace

import numpy as np
import pytest
from matplotlib import pyplot as plt

from finsler import Embedding, embed_matrix
from finsler.data.matrix import Dissimilarities
from finsler.geometry.heights import gradient_heights
from finsler.plotting import (
    canvas,
    diagnostics,
    plot_asymmetry,
    plot_heatmaps,
    plot_shepard,
)

from helpers import ODD_LABELS, incomplete_map, noisy_map, note_of, offsets, settled, sorted_rows, spiral


def test_shepard_shows_every_pair_both_ways():
    embedding = noisy_map(noise=0.2)
    ax = settled(plot_shepard(embedding))
    D, d = embedding.data.matrix, embedding.distances()
    costlier, cheaper = (offsets(c) for c in ax.collections[1:3])
    upper = [(i, j) if D[i, j] > D[j, i] else (j, i) for i in range(12) for j in range(i)]
    np.testing.assert_allclose(sorted_rows(costlier), sorted_rows([(D[i, j], d[i, j]) for i, j in upper]))
    np.testing.assert_allclose(sorted_rows(cheaper), sorted_rows([(D[j, i], d[j, i]) for i, j in upper]))
    lines = np.array(ax.collections[0].get_segments())
    ends = sorted_rows(lines.reshape(-1, 4))
    both = [[(D[i, j], d[i, j]), (D[j, i], d[j, i])] for j in range(12) for i in range(j)]
    np.testing.assert_allclose(ends, sorted_rows(np.reshape(both, (-1, 4))))
    assert ax.get_xlim() == ax.get_ylim()
    (diagonal,) = ax.lines
    np.testing.assert_array_equal(diagonal.get_xdata(), diagonal.get_ydata())


def test_shepard_with_missing_pairs_bounds_and_equal_directions():
    embedding = incomplete_map()
    ax = settled(plot_shepard(embedding))
    D, d = embedding.data.matrix, embedding.distances()
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    shown = dict(zip(names, ax.collections[1:], strict=False))
    np.testing.assert_allclose(
        sorted_rows(offsets(shown["known one way only"])),
        sorted_rows([(D[3, 2], d[3, 2]), (D[5, 4], d[5, 4])]),
    )
    far = -D[4, 5]
    assert far > 0
    bounds = [(far, d[i, j]) for i, j in ((4, 5), (6, 7), (7, 6))]
    np.testing.assert_allclose(
        sorted_rows(offsets(shown["at least this far: fits above the line"])), sorted_rows(bounds)
    )
    assert len(ax.collections[0].get_segments()) == 14 * 13 // 2 - 4
    equal = settled(plot_shepard(embed_matrix([[0, 2, 3], [2, 0, 2], [3, 2, 0]], alpha=0.0)))
    assert "equal both ways" in [text.get_text() for text in equal.get_legend().get_texts()]


@pytest.mark.parametrize(
    "options", [{"scaling": "ordinal"}, {"scaling": "ordinal", "ties": "secondary"}, {"scaling": "interval"}]
)
def test_shepard_with_the_fitted_function(options):
    D = np.where(np.eye(20), 0, np.round(spiral()) - 2)  # ties, and negative values
    embedding = embed_matrix(D, **options)
    ax = settled(plot_shepard(embedding))
    (line,) = ax.lines
    function = embedding.transformation()
    np.testing.assert_allclose(line.get_xdata(), function.x - embedding.provenance.shift)
    np.testing.assert_allclose(line.get_ydata(), function.y)
    assert line.get_drawstyle() == ("steps-post" if options["scaling"] == "ordinal" else "default")
    values = np.concatenate([offsets(c)[:, 0] for c in ax.collections[1:]])
    away = ~np.eye(20, dtype=bool)
    np.testing.assert_allclose(np.sort(values), np.sort(D[away]), atol=1e-12)  # data as they were given
    if options.get("ties") != "secondary" and options["scaling"] == "ordinal":
        assert (np.diff(line.get_xdata()) == 0).any()
    assert "stress-1 (Kruskal)" in ax.get_title()


def test_shepard_of_rows_and_of_parts():
    rows = embed_matrix(spiral(), scaling="ordinal", conditional="row", alpha=0.4)
    ax = settled(plot_shepard(rows))
    values = np.concatenate([offsets(c) for c in ax.collections[1:]])
    T, away = rows.disparities(), ~np.eye(20, dtype=bool)
    np.testing.assert_allclose(np.sort(values[:, 0]), np.sort(T[away]))
    assert "row" in ax.get_xlabel()
    parts = embed_matrix(spiral(), scaling="ordinal", conditional="parts", alpha=0.4)
    ax = settled(plot_shepard(parts))
    S, e = (spiral() + spiral().T) / 2, (parts.distances() + parts.distances().T) / 2
    values = np.concatenate([offsets(c) for c in ax.collections[1:]])
    np.testing.assert_allclose(
        sorted_rows(values), sorted_rows(np.column_stack([S[away], e[away]])), atol=1e-9
    )
    assert len(ax.lines[0].get_xdata()) == 190


def test_heatmaps_compare_the_map_with_disparities():
    embedding = embed_matrix(spiral() ** 2, scaling="ordinal")
    residual = plot_heatmaps(embedding)[2].images[0].get_array()
    order = np.argsort(embedding.height, kind="stable")
    expected = (embedding.distances() - embedding.disparities())[np.ix_(order, order)]
    np.testing.assert_allclose(residual, expected, atol=1e-9)


def test_shepard_takes_a_sample_of_many_pairs():
    embedding = noisy_map(n=40)
    D, d = embedding.data.matrix, embedding.distances()
    valid = {(round(D[i, j], 9), round(d[i, j], 9)) for i in range(40) for j in range(40)}
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


@pytest.mark.parametrize("make", [noisy_map, incomplete_map])
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
    np.testing.assert_allclose(sorted_rows(offsets(ax.collections[0])), sorted_rows(expected))
    c = np.array([2 * W[i, j] * W[j, i] / (W[i, j] + W[j, i]) for i, j in pairs])
    x, y = np.array(expected).T
    share = 1 - c @ (y - x) ** 2 / (c @ y**2)
    title = ax.get_title().replace("\n", " ")
    assert f"{100 * share:.3g} %" in title
    best = gradient_heights(np.where(D < 0, np.nan, D), W)
    most = 1 - c @ (y - [best[j] - best[i] for i, j in pairs]) ** 2 / (c @ y**2)
    assert f"up to {100 * most:.3g} % can be shown" in title
    assert share <= most


def test_asymmetry_of_data_that_have_none():
    symmetric = embed_matrix([[0, 2, 3], [2, 0, 2], [3, 2, 0]], alpha=0.0)
    assert "the data are symmetric" in settled(plot_asymmetry(symmetric)).get_title()
    exact = noisy_map(noise=0)
    assert "shows: 100 %" in settled(plot_asymmetry(exact)).get_title()
    flat = replace(noisy_map(), drift=np.zeros(2))
    assert "shows: 0 %" in settled(plot_asymmetry(flat)).get_title()
    one_way = np.where(np.tri(5, dtype=bool), 1.0, np.nan)
    np.fill_diagonal(one_way, 0)
    with pytest.warns(UserWarning, match="hardly determine|one way"):
        lonely = embed_matrix(one_way, missing="mask")
    with pytest.raises(ValueError, match="known both ways, and these data have none"):
        plot_asymmetry(lonely)


def test_heatmaps_are_ordered_by_height_and_share_their_colors():
    embedding = noisy_map(labels=[*ODD_LABELS, "y", "z"])
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
    assert "Gray: missing. 3 entries are bounds" in note_of(axes[0])
    monkeypatch.setattr(diagnostics, "MOST_CELLS", 5)
    few = settled(plot_heatmaps(embedding))
    assert few[0].images[0].get_array().shape == (5, 5)
    with pytest.raises(ValueError, match="ax must hold 3 Axes"):
        plot_heatmaps(embedding, ax=plt.subplot())


@pytest.mark.parametrize("draw", [plot_shepard, plot_asymmetry, plot_heatmaps])
def test_a_map_without_data_says_what_to_do(draw, tmp_path):
    lost = Embedding.load(noisy_map().save(tmp_path / "map.npz", with_data=False))
    with pytest.raises(ValueError, match=rf"{draw.__name__} compares.*with_data=True.*dataclasses.replace"):
        draw(lost)
    assert not plt.get_fignums()


def test_single_precision_data():
    embedding = noisy_map()
    data = Dissimilarities(embedding.data.matrix.astype(np.float32))
    single = replace(embedding, data=data)
    for draw in (plot_shepard, plot_asymmetry, plot_heatmaps):
        settled(draw(single))
