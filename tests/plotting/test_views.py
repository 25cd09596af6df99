"""What a notebook shows, and the methods of a map that show it."""

import inspect
import subprocess
import sys
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import finsler
from finsler._html import card, escaped
from finsler.plotting.colors import SCALE_ON_DARK
from finsler.plotting.thumbnail import MOST_POINTS, WIDTH, thumbnail

NASTY = ["<script>document.title='bad'</script>", '"><img src=x onerror=alert(1)>', "A & B\x1b[31m"]
ALLOWED = {
    "div",
    "p",
    "b",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "svg",
    "circle",
    "title",
    "text",
    "path",
}
TRIANGLE = [[0, 3, 4], [2, 0, 2], [4, 3, 0]]


class Tags(HTMLParser):
    """Tags, attributes and text of some HTML."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def nasty():
    return finsler.embed_matrix(TRIANGLE, labels=NASTY)


def shown(result):
    """HTML of a result, seen to hold nothing that could run."""
    found = Tags(result._repr_html_())
    assert {*found.tags} <= ALLOWED
    assert not [name for name in found.attributes if name.startswith("on")]
    return found


@pytest.mark.parametrize(("method", "function"), [("plot", "plot_map"), ("explore", "explore")])
def test_methods_have_the_options_of_their_functions(method, function):
    own = inspect.signature(getattr(finsler.Embedding, method)).parameters
    theirs = inspect.signature(getattr(finsler.plotting, function)).parameters
    assert list(own)[1:] == list(theirs)[1:]
    for name in list(own)[1:]:
        assert (own[name].default, own[name].kind, own[name].annotation) == (
            theirs[name].default,
            theirs[name].kind,
            theirs[name].annotation,
        ), name


def test_every_option_reaches_its_function(monkeypatch, nasty, tmp_path):
    for method, module, name in (("plot", "maps", "plot_map"), ("explore", "explorer", "explore")):
        seen = {}
        target = f"finsler.plotting.{module}.{name}"
        monkeypatch.setattr(target, lambda *given, seen=seen, **options: seen.update(options, given=given))
        bound = getattr(nasty, method)
        names = [key for key in inspect.signature(bound).parameters if key != "path"]
        values = {key: object() for key in names}
        bound(*([tmp_path / "x.html"] if method == "explore" else []), **values)
        assert seen.pop("given")[0] is nasty
        assert seen == values


def test_map_shows_its_points_and_its_summary(nasty):
    found = shown(nasty)
    assert found.tags.count("circle") == 3
    for line in nasty.summary().splitlines():
        assert line.strip() in found.text
    assert "<script>document.title='bad'</script>" in found.text  # as text: of a point, not of the page
    assert "A & B\\x1b[31m" in found.text


def test_picture_keeps_the_shape_of_the_map_and_colors_by_height():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * (3, 1)
    D = finsler.randers_distances(X, drift=np.array([0.0, 0.3]))
    chart = finsler.embed_matrix(D, alpha=0.3)
    root = ElementTree.fromstring(thumbnail(chart)[0])
    circles = [node for node in root if node.tag.endswith("circle")]
    places = np.array([[float(node.get("cx")), -float(node.get("cy"))] for node in circles])
    ratio = np.ptp(places, axis=0) / np.ptp(chart.coordinates, axis=0)
    assert np.isclose(*ratio, rtol=0.01)  # the same scale along both axes
    assert 0 < places[:, 0].min() < places[:, 0].max() < WIDTH
    assert np.allclose(places - places.mean(axis=0), ratio[0] * chart.coordinates, atol=0.2)
    order = np.argsort(chart.height)
    ranks = [SCALE_ON_DARK.index(circles[i].get("fill")) for i in order]
    assert ranks == sorted(ranks)
    assert len({*ranks}) > 4
    assert [node.find("{*}title").text for node in circles] == [str(i) for i in range(30)]


@pytest.mark.parametrize("m", [1, 2, 3])
def test_picture_of_any_dimension(m):
    D = finsler.randers_distances(np.random.default_rng(m).normal(size=(8, m)), drift=np.eye(m)[-1] * 0.2)
    chart = finsler.embed_matrix(D, n_components=m)
    svg, left_out = thumbnail(chart)
    assert svg.count("<circle") == 8
    assert "up costs more" in svg
    assert ("3 axes" in left_out) == (m == 3)
    assert left_out in shown(chart).text


def test_no_arrow_without_a_height():
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    assert "up costs more" not in thumbnail(finsler.embed_matrix(D, alpha=0.0))[0]


def test_large_maps_show_some_of_their_points():
    n = MOST_POINTS + 200
    ring = [(i, (i + 1) % n, 1.0) for i in range(n)] + [((i + 1) % n, i, 2.0) for i in range(n)]
    with pytest.warns(UserWarning, match="max_iter"):
        chart = finsler.embed_graph(ring, max_iter=1, n_init=1, random_state=0)
    svg, left_out = thumbnail(chart)
    assert svg.count("<circle") == MOST_POINTS
    assert left_out == "The picture shows a random 1,000 of the 1,200 points."


def test_report_comparison_and_tests_show_what_they_print():
    D = np.random.default_rng(0).uniform(1, 2, (6, 6))
    np.fill_diagonal(D, 0)
    labels = [*NASTY, "d", "e", "f"]
    report = finsler.asymmetry_report(D, labels=labels)
    text = shown(report).text
    for row in report.rows():
        assert row.name.strip() in text
        assert escaped(row.text) in report._repr_html_()
    assert report.verdict in text
    comparison = finsler.compare_models(D, labels=labels, models=["symmetric", "randers"], n_init=1)
    found = shown(comparison)
    assert found.tags.count("tr") == 3
    for row in comparison.rows():
        for value in row.values():
            assert value in found.text
    test = finsler.asymmetry_test(D)
    assert "".join(test.summary().split()) in "".join(shown(test).text.split())


def test_card_escapes_every_part():
    evil = "<img src=x onerror=alert(1)>"
    found = Tags(card(evil, facts=[(evil, evil)], table=[[evil, evil], [evil, evil]], notes=[evil]))
    assert "img" not in found.tags
    assert found.text.count(evil) == 8


def test_notebooks_need_no_matplotlib():
    code = (
        "import sys, finsler; chart = finsler.embed_matrix([[0, 3, 4], [2, 0, 2], [4, 3, 0]]); "
        "assert '<svg' in chart._repr_html_(); assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
