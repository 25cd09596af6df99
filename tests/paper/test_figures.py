"""The paper's figures show what their captions say; the pictures themselves are looked at by people."""

import json

import matplotlib
import numpy as np
import pytest

import figures

matplotlib.use("agg")


@pytest.fixture
def record(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "_umap", lambda S: S[:, :2])  # compiling UMAP would take most of the time

    def make(name):
        picture, numbers = figures.reproduce(name, tmp_path)
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size > 20_000
        return json.loads(numbers.read_text())

    return make


def test_fig1_the_way_down_keeps_to_the_middle_and_the_way_up_to_a_bank(record):
    found = record("fig1")
    assert found["time_there"] < found["straight_line"] < found["time_back"]
    far = found["median_distance_from_the_middle"]
    assert far["there"] < 0.45 < 0.95 < far["back"]
    assert found["nodes_shared"] == 0


def test_fig2_the_roll_is_flat_and_tilted(record):
    found = record("fig2")
    assert found["thickness_over_width"] < 0.01
    assert found["sine_of_inclination"] == pytest.approx(0.3 / 0.5, abs=0.03)
    assert found["normalized_stress"]["Finsler MDS"] < 0.006 < found["normalized_stress"]["Isomap, 3-D"]


def test_fig3_wormhole_weights_see_through_the_hole(record):
    maps = record("fig3")["maps"]
    assert maps["Finsler MDS, wormhole weights"]["procrustes_correlation"] > 0.9998
    assert maps["Finsler MDS, uniform weights"]["procrustes_correlation"] < 0.85
    assert maps["Isomap of the symmetric roll"]["procrustes_correlation"] < 0.85


def test_fig4_peaks_are_sources_and_pits_are_sinks(record):
    found = record("fig4")
    divergence = found["divergence"]
    assert len(divergence["at_peaks"]) >= 4
    assert len(divergence["at_pits"]) >= 4
    low, high = divergence["quantile_0.1_and_0.9_of_all"]
    assert divergence["median_at_peaks"] > high
    assert divergence["median_at_pits"] < low
    stress = found["normalized_stress"]
    assert stress["Finsler MDS"] < stress["Isomap, 3-D"]


def test_fig5_levels_are_ordered_by_height(record):
    found = record("fig5")
    for depth in range(3, 8):
        tree = found[f"depth {depth}"]
        assert tree["nodes"] == 2 ** (depth + 1) - 1
        assert tree["Finsler MDS"]["each_level_wholly_below_its_parents"]
        assert tree["Finsler MDS"]["rank_correlation_of_depth_and_y"] < -0.9
        for other in ("t-SNE", "Fruchterman-Reingold", "Isomap"):
            assert tree["Finsler MDS"]["normalized_stress"] < 0.2 * tree[other]["normalized_stress"]


def test_fig6_the_more_asymmetric_the_steeper(record):
    sheets = record("fig6")["sheets"]
    sines = [sheet["sine_of_inclination"] for sheet in sheets.values()]
    assert (np.diff(sines) > 0).all()
    assert sines[0] < 1e-4
    for sheet in sheets.values():
        assert sheet["sine_of_inclination"] == pytest.approx(sheet["expected"], abs=0.03)
        assert sheet["thickness_over_width"] < 0.01


def test_fig7_symmetric_data_stay_level(record):
    found = record("fig7")
    assert found["Finsler MDS in three dimensions"]["thickness_over_width"] < 1e-4
    assert found["Isomap in three dimensions"]["thickness_over_width"] > 0.02


def test_fig8_the_river_falls(record):
    found = record("fig8")
    assert found["rank_correlation_of_height_and_distance_downstream"] < -0.99
    assert found["normalized_stress"]["Finsler MDS"] < 0.2 * found["normalized_stress"]["Isomap, 3-D"]


def test_a_level_sheet_has_no_inclination():
    """Rounding may take the upright axis beyond 1: the legend of figure 6 read "sine nan"."""
    X = np.random.default_rng(0).normal(size=(50, 3)) * [3, 1, 0]
    for level in (X, X + 1e-9 * np.sin(X)):
        assert figures._inclination(level)[0] == pytest.approx(0, abs=1e-7)


def test_unknown_figures_are_named(tmp_path):
    with pytest.raises(ValueError, match="There is no figure 'fig9'; there are fig1"):
        figures.reproduce("fig9", tmp_path)
