"""The widget of a notebook, without a browser."""

import inspect
import sys

import numpy as np
import pytest

import finsler
from finsler.errors import InputError, MissingExtraError
from finsler.plotting import explore
from finsler.plotting.explorer import MAX_POINTS, points_on_page

traitlets = pytest.importorskip("traitlets")
pytest.importorskip("anywidget")
pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def towns():
    return finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]], labels=["A", "B", "C"])


def test_the_page_is_that_of_explore_with_a_bridge(towns, tmp_path):
    widget = towns.widget(color=[3, 1, 2], title="Towns", unit="hours")
    path = explore(towns, tmp_path / "map.html", color=[3, 1, 2], title="Towns", unit="hours")
    page = path.read_text(encoding="utf-8")
    end = page.rindex("</body>")
    assert widget._page.startswith(page[:end])
    assert widget._page.endswith(page[end:])
    assert "finslerChosen" in widget._page[end:]


def test_the_selection_holds_labels_and_can_be_observed(towns):
    widget, seen = towns.widget(), []
    widget.observe(lambda change: seen.append(change["new"]), names="selection")
    assert widget.selection == []
    widget.set_state({"_chosen": [2, 0]})  # as a browser sends it
    assert widget.selection == ["C", "A"]
    assert seen == [["C", "A"]]
    with pytest.raises(traitlets.TraitError):
        widget.selection = ["B"]
    for nonsense in ([7], [-1], [0, 1, 2], ["x"]):
        with pytest.raises(traitlets.TraitError):
            widget._chosen = nonsense
    assert widget.selection == ["C", "A"]


def test_points_without_labels_are_numbers():
    widget = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]]).widget()
    widget._chosen = [1]
    assert widget.selection == [1]


def test_points_on_a_page():
    assert points_on_page(5).tolist() == [0, 1, 2, 3, 4]
    some = points_on_page(MAX_POINTS + 10)
    assert len(some) == MAX_POINTS == len({*some.tolist()})
    assert np.array_equal(some, points_on_page(MAX_POINTS + 10))


def test_its_options_are_those_of_the_function(towns):
    from finsler.plotting.widget import explorer_widget

    own = inspect.signature(finsler.Embedding.widget).parameters
    theirs = inspect.signature(explorer_widget).parameters
    assert [*own.values()][1:] == [*theirs.values()][1:]
    assert [*own][1:-1] == [*inspect.signature(explore).parameters][2:]  # all options of a page
    with pytest.raises(InputError, match="height must be at least 100, got 5"):
        towns.widget(height=5)


def test_a_missing_package_is_named_with_its_extra(towns, monkeypatch):
    monkeypatch.delitem(sys.modules, "finsler.plotting.widget", raising=False)
    monkeypatch.setitem(sys.modules, "anywidget", None)
    with pytest.raises(MissingExtraError, match=r"anywidget.*finsler\[notebook\]"):
        towns.widget()
