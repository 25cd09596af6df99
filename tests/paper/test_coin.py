"""Directions that a coin decided: the table beside its cells, and what they show."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch")
import coin

from finsler.learn.tasks import roc_auc, split_links

OUT = Path(coin.__file__).parent / "results" / "coin"


def test_a_coin_turns_about_half_of_the_arcs_and_links_stay():
    arcs = np.column_stack([np.arange(1000), np.arange(1, 1001)])
    found = coin.turned(arcs, 0)
    assert np.array_equal(np.sort(found, axis=1), arcs)
    assert 450 < (found[:, 0] > found[:, 1]).sum() < 550
    assert not np.array_equal(found, coin.turned(arcs, 1))


def test_the_standard_error_is_that_of_chance():
    rng = np.random.default_rng(0)
    labels = np.arange(400) < 200
    scores = [100 * roc_auc(labels, rng.normal(size=400)) for _ in range(1000)]
    assert np.std(scores) == pytest.approx(np.sqrt(coin.chance_variance(400)), rel=0.08)


@pytest.mark.parametrize("name", ["degree_regression", coin.DEFAULT])
def test_a_direction_that_is_there_is_told(name):
    """What is asked is the direction: of a strict order it is known."""
    rng = np.random.default_rng(0)
    arcs = np.sort(rng.integers(150, size=(900, 2)), axis=1)[:, ::-1]
    split = split_links(np.unique(arcs[arcs[:, 0] != arcs[:, 1]], axis=0))
    assert coin.direction_score(name, split, 0, {}) > 85


def test_the_table_is_that_of_its_cells():
    cells = coin.read_results(OUT / "results")
    assert {cell["method"] for cell in cells} == {*coin.NAMES}
    assert coin.table_markdown(cells) == (OUT / "coin.md").read_text(encoding="utf-8")


def test_nobody_tells_what_a_coin_decided():
    cells = coin.read_results(OUT / "results")
    for name in coin.NAMES:
        scores = [cell["direction"] for cell in cells if cell["method"] == name]
        assert len(scores) == len(coin.ORIENTATIONS), name
        assert np.mean(scores) == pytest.approx(50, abs=2), name
