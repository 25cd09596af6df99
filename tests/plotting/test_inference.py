"""Pictures of inference: what they draw, on which Axes, and what they refuse."""

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("matplotlib")
import matplotlib.pyplot as plt

from finsler import embed_matrix
from finsler.errors import InputError
from finsler.inference import (
    asymmetry_test,
    compare_maps,
    confidence,
    cross_validate,
    jackknife,
    random_stress,
    scree,
)
from finsler.plotting import plot_confidence, plot_null

from helpers import spiral


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def test_null_distribution_with_the_observed_value():
    test = asymmetry_test(spiral(10), n_flips=99).heights
    ax = test.plot()
    assert sum(bar.get_height() for bar in ax.patches) == 99
    (line,) = ax.lines
    assert line.get_xdata()[0] == pytest.approx(100 * test.statistic)
    assert f"p = {test.p_value:.2g}" in ax.get_title()
    given = plt.subplots()[1]
    assert plot_null(test, ax=given) is given
    noise = random_stress(6, n_draws=20).plot()
    assert not noise.lines
    counts = asymmetry_test(counts=np.random.default_rng(0).poisson(9, (5, 5)))
    with pytest.raises(InputError, match="formula"):
        counts.counts.symmetry.plot()
    with pytest.raises(InputError, match="formulas"):
        counts.plot()
    assert len(asymmetry_test(spiral(10), n_components=2, n_flips=99).plot()) == 3


def test_ellipses_are_those_of_the_result():
    found = confidence(embed_matrix(spiral()))
    ax = found.plot()
    (drawn,) = [c for c in ax.collections if c.get_gid() == "ellipses"]
    np.testing.assert_allclose(drawn._heights * 2, found.half_axes[:, 1] * 2, rtol=1e-6)
    np.testing.assert_allclose(drawn._widths * 2, found.half_axes[:, 0] * 2, rtol=1e-6)
    # The long axis points where the covariance does.
    angle = drawn._angles[19]
    direction = np.array([np.cos(angle), np.sin(angle)])
    longest = direction @ found.covariance[19] @ direction
    assert np.sqrt(longest) * found.radius == pytest.approx(found.half_axes[19, 0])
    X = found.embedding.coordinates
    half = found.radius * np.sqrt(np.diagonal(found.covariance, axis1=1, axis2=2))
    assert ax.get_ylim()[1] >= (X + half)[:, 1].max()
    line = confidence(embed_matrix(spiral(), n_components=1, alpha=0.3)).plot()
    assert len(line.collections) > 1
    with pytest.raises(InputError, match="one and two dimensions"):
        plot_confidence(confidence(embed_matrix(spiral(), n_components=3, alpha=0.3)))


def test_ellipses_beneath_their_points_are_counted():
    found = confidence(embed_matrix(spiral(12)))
    assert "smaller" not in found.plot().get_title()
    tiny = replace(found, covariance=1e-12 * found.covariance)
    assert tiny.plot().get_title().endswith("\n12 ellipses are smaller than their points")
    assert tiny.plot(title="mine").get_title() == "mine"


def test_labels_of_two_maps_do_not_cover_each_other():
    D, names = spiral(20), [f"place {i}" for i in range(20)]
    ax = compare_maps(*(embed_matrix(d, labels=names) for d in (D, D**1.05)), n_permutations=0).plot()
    ax.figure.canvas.draw()
    labels = [text for text in ax.texts if text.get_gid() == "label" and text.get_visible()]
    boxes = [text.get_window_extent() for text in labels]
    assert len(boxes) > 10
    assert not any(a.overlaps(b) for k, a in enumerate(boxes) for b in boxes[:k])


@pytest.mark.parametrize("m", [1, 2, 3])
def test_two_maps_over_each_other(m):
    D = spiral(12)
    found = compare_maps(
        *(embed_matrix(d, n_components=m, alpha=0.3) for d in (D, D**1.1)), n_permutations=19
    )
    ax = found.plot()
    moves = [c for c in ax.collections if c.get_gid() == "moves"]
    assert len(moves) == 1
    assert len(moves[0].U) == 12
    assert "p = 0.05" in ax.get_title()
    assert ax.get_ylabel() == "height (up costs more)"


def test_dimensions():
    found = scree(spiral(10), dims=(1, 2), n_permutations=2, cross_validated=True)
    stress, error = found.plot()
    assert [len(line.get_xdata()) for line in stress.lines] == [2, 2]
    chosen = found.cross_validation.table[found.cross_validation.chosen]
    assert f"Chosen: {chosen.n_components} dimension" in error.get_title()
    assert len(scree(spiral(10), dims=(1, 2), n_permutations=0).plot()) == 1
    assert cross_validate(spiral(10), dims=(1, 2)).plot().get_ylabel() == "error on held-out pairs"


def test_influence():
    assert jackknife(embed_matrix(spiral(8))).plot().get_ylabel() == "height (up costs more)"
