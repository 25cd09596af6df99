"""What all pictures share: titles, notes, and matplotlib only where it is needed."""

import subprocess
import sys

import pytest
from matplotlib import pyplot as plt

from finsler import Embedding
from finsler.plotting import (
    canvas,
    plot_asymmetry,
    plot_heatmaps,
    plot_map,
    plot_shepard,
    plot_stress_per_point,
)

from helpers import (
    incomplete_map,
    noisy_map,
    settled,
)


@pytest.mark.slow
def test_notes_neither_widen_the_picture_nor_leave_it():
    figure, axes = plt.subplots(2, 2, figsize=(9, 8), layout="constrained")
    embedding = noisy_map(n=80, labels=[f"point {k}" for k in range(80)])
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


@pytest.mark.slow
def test_saved_maps_have_pictures_too(tmp_path):
    embedding = incomplete_map()
    back = Embedding.load(embedding.save(tmp_path / "map.npz"))
    for draw in (plot_map, plot_shepard, plot_asymmetry, plot_heatmaps, plot_stress_per_point):
        settled(draw(back))


def test_titles_break_at_the_width_of_the_picture():
    figure = plt.figure(figsize=(3, 3))
    ax = figure.add_subplot()
    canvas.set_title(ax, "a rather long title that no small picture holds (alpha = 0.3)")
    lines = ax.get_title().split("\n")
    assert len(lines) > 1
    assert any("(alpha = 0.3)" in line for line in lines), "what stands in brackets stays together"


@pytest.mark.slow
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
