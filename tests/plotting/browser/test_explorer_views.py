"""What a reader of the page sees first, in a real browser: keys, legend, camera, labels, search, units, pictures.

Each is tried on a screen and on a phone, by day and by night.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import finsler
from chromium import Page, rgb
from finsler.data.matrix import as_dissimilarities
from finsler.plotting import explore

from helpers import made_map

pytestmark = pytest.mark.browser
ESCAPE, ENTER = "\ue00c", "\ue007"


@pytest.fixture(scope="module")
def flights():
    example = finsler.load_flight_hours()
    return finsler.embed_matrix(example.hours, labels=list(example.codes), random_state=0)


@pytest.fixture(scope="module")
def flights_path(flights, folder):
    example = finsler.load_flight_hours()
    places = zip(example.longitude, example.latitude, strict=True)
    quarter = [f"{'north' if y > 40 else 'south'} {x // 7:.0f}" for x, y in places]
    attributes = {"city": example.cities, "quarter": quarter, "number": np.arange(64) + 100}
    return explore(flights, folder / "flights.html", attributes=attributes, title="Flight hours", unit="hours")  # fmt: skip


@pytest.fixture(scope="module")
def many_path(folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 2))
    labels = [f"point {i}" for i in range(1500)]
    return explore(made_map(X, labels=labels), folder / "many.html")


def test_after_a_choice_keys_are_keys_again(seen, flights, flights_path):
    page = seen(flights_path)
    a, b = flights.index("JFK"), flights.index("SEA")
    page.press("/", "jfk", ENTER, "/", "sea", ENTER)
    assert page.chosen() == (a, b)
    page.press("s")
    assert page.chosen() == (b, a)
    page.press("/", "x")
    assert page["search"].get_attribute("value") == "x"
    page.press(ESCAPE)
    assert page.js("return document.activeElement.id") != "search"
    assert page.chosen() == (b, a)
    page.press(ESCAPE)
    assert page.chosen() == (None, None)


def boxes(page, *selectors):
    """Top and bottom of each."""
    return [page.box(selector)[1::2] for selector in selectors]


def test_a_legend_of_two_rows_leaves_the_axis_its_title(seen, flights_path):
    page = seen(flights_path)
    assert boxes(page, "#legend")[0][1] - boxes(page, "#legend")[0][0] < 50
    page.pick_color("quarter")
    page.wait(lambda: boxes(page, "#legend")[0][1] - boxes(page, "#legend")[0][0] > 50)  # more than a row
    page.wait(lambda: boxes(page, "#plot .xtitle")[0][1] <= boxes(page, "#legend")[0][0] + 1)
    svg, plot = boxes(page, "#plot .main-svg", "#plot")
    assert svg == pytest.approx(plot, abs=1)


def test_entries_of_the_legend_show_their_group(seen, flights_path):
    page = seen(flights_path)
    page.pick_color("quarter")
    before = page.drawn()
    words = page.js("return JSON.parse(document.getElementById('record').textContent).columns.at(-2).words")
    entry = page["legend"].find_element("tag name", "button")
    name, paint = entry.text, before[words.index(entry.text)]
    members = [i for i, word in enumerate(words) if word == name]
    assert entry.get_attribute("aria-pressed") == "false"
    entry.click()
    assert page["legend"].find_element("tag name", "button").get_attribute("aria-pressed") == "true"
    assert page.trace("lit")["marker"]["color"] == [before[i] for i in members]
    after = page.drawn()
    assert [i for i in range(64) if after[i] == before[i]] == members
    back = rgb(page.js("return getComputedStyle(document.body).backgroundColor"))
    other = next(i for i in range(64) if i not in members)
    far = [np.linalg.norm(np.subtract(rgb(color), back)) for color in (after[other], before[other])]
    assert far[0] < 0.3 * far[1]
    page["legend"].find_element("tag name", "button").click()
    assert page.trace("lit") is None
    assert page.drawn() == before
    assert paint in before
    assert page.severe() == []


@pytest.mark.parametrize("flat", [False, True])
def test_a_map_in_space_fills_the_view_and_keeps_its_titles(seen, folder, flat):
    X = np.random.default_rng(0).normal(size=(40, 3)) * ([1, 1, 0.2] if flat else [1, 1, 1])
    page = seen(explore(made_map(X), folder / f"solid{flat}.html", unit="hours"))
    corners = page.js(
        """
        const plot = document.getElementById("plot"), scene = plot._fullLayout.scene._scene;
        const { model, view, projection } = scene.glplot.cameraParams;
        const ends = ["xaxis", "yaxis", "zaxis"].map((axis) => plot._fullLayout.scene[axis].range);
        return [0, 1, 2, 3, 4, 5, 6, 7].map((c) => {
            let place = [...ends.map((range, k) => range[(c >> k) & 1] * scene.dataScale[k]), 1];
            for (const matrix of [model, view, projection]) {
                place = [0, 1, 2, 3].map((row) => place.reduce((sum, x, k) => sum + matrix[4 * k + row] * x, 0));
            }
            return [(1 + place[0] / place[3]) / 2 * plot.clientWidth, (1 - place[1] / place[3]) / 2 * plot.clientHeight];
        })
        """
    )
    width, height = page.plot_size()
    (left, top), (right, bottom) = np.min(corners, axis=0), np.max(corners, axis=0)
    assert left >= 60  # numbers and title of the height take about so much
    assert width - right >= 45
    assert top >= 10
    assert height - bottom >= 40
    room = [width - 66 - 50, height - 16 - 44] if width < 500 else [width - 84 - 56, height - 16 - 48]
    assert max((right - left) / room[0], (bottom - top) / room[1]) > 0.95  # as near as that
    page["zoom-in"].click()
    page["zoom-home"].click()
    eye = "return Object.values(document.getElementById('plot')._fullLayout.scene._scene.getCamera().eye)"
    home = page.js("return Object.values(document.getElementById('plot').layout.scene.camera.eye)")
    page.wait(lambda: np.allclose(page.js(eye), home, atol=1e-6))


def test_the_key_of_nearest_points_looks_like_their_rings(seen, flights_path):
    page = seen(flights_path)
    page.find("DEN")
    style = """const found = getComputedStyle(document.querySelector(arguments[0]));
        return [found.borderTopStyle, found.borderTopColor, found.width]"""
    widths = []
    for side in "from", "to":
        shape, color, width = page.js(style, f"#{side}-heading .ring")
        assert shape == "solid"
        assert rgb(color) == rgb(page.trace(side)["marker"]["color"])
        widths.append((float(width.removesuffix("px")), page.trace(side)["marker"]["size"]))
    assert widths[0][0] < widths[1][0]  # the same ring is the outer one
    assert widths[0][1] < widths[1][1]


@pytest.mark.parametrize("alpha", [0.05, 0.5])
def test_the_key_of_the_metric_tells_numbers(seen, folder, alpha):
    page = seen(explore(made_map(np.eye(3)[:, :2], alpha=alpha), folder / f"{alpha}.html"))
    told = page.text("compass")
    assert f"{1 / (1 + alpha):.3g} up" in told
    assert f"{1 / (1 - alpha):.3g} down" in told
    dotted, ellipse = (page["compass"].find_element("tag name", tag) for tag in ("circle", "ellipse"))
    shift = abs(float(dotted.get_attribute("cy")))
    unit = float(dotted.get_attribute("r"))
    assert shift / unit == pytest.approx(alpha / (1 - alpha**2))  # of the center, in units of the circle
    assert float(ellipse.get_attribute("ry")) / unit == pytest.approx(1 / (1 - alpha**2))
    assert float(ellipse.get_attribute("rx")) / unit == pytest.approx(1 / np.sqrt(1 - alpha**2))
    left, top, right, bottom = page.box("#compass svg")
    assert min(right - left, bottom - top) > 40
    assert 0 <= left < right <= page.js("return document.documentElement.clientWidth")
    back = rgb(page.js("return getComputedStyle(document.body).backgroundColor"))
    line = rgb(page.js("return getComputedStyle(document.querySelector('#compass ellipse')).stroke"))
    assert np.abs(np.subtract(line, back)).max() > 90  # it can be seen


def test_the_page_tells_what_this_map_shows(seen, flights, flights_path):
    page = seen(flights_path)
    assert page.text("shown") == f"This map shows {flights.asymmetry_shown()}."


def test_units_stand_with_distances(seen, flights, flights_path, tmp_path):
    page = seen(flights_path)
    page.find("JFK", "LAX")
    assert page.text("unit") == "hours"
    assert f"{flights.distance('JFK', 'LAX'):.4g}\u00a0hours".replace("\u00a0", " ") in page.js(
        "return document.getElementById('readout').textContent"
    ).replace("\u00a0", " ")
    assert page.text("from-heading") == "from JFK, hours"
    assert "Map minus data, hours" in page.text("worst-note")
    titles = page.js(
        "return ['xaxis', 'yaxis'].map((axis) => document.getElementById('plot').layout[axis].title.text)"
    )
    assert titles == ["x1, hours", "height (up costs more), hours"]
    assert page.text("legend").startswith("height, hours")


def test_a_unit_that_was_kept_is_shown(browser, flights, tmp_path):
    kept = replace(flights, unit="hours")
    kept.save(tmp_path / "map.npz")
    page = Page(browser, explore(finsler.Embedding.load(tmp_path / "map.npz"), tmp_path / "kept.html"))
    page.find("JFK", "LAX")
    assert page.text("unit") == "hours"


def test_search_finds_attributes(seen, flights, flights_path):
    page = seen(flights_path)
    page["search"].send_keys("los ang")
    options = [item.text for item in page["matches"].find_elements("css selector", "[role=option]")]
    assert options == ["LAX city: Los Angeles"]
    page.press(ENTER)
    assert page.chosen() == (flights.index("LAX"), None)
    page["search"].send_keys("107")
    assert [item.text for item in page["matches"].find_elements("css selector", "[role=option]")] == [
        f"{flights.labels[7]} number: 107"
    ]
    page["search"].clear()
    page["search"].send_keys("den")  # labels come first
    assert page["matches"].find_element("css selector", "[role=option]").text == "DEN"


def in_view(page, i):
    x, y = page.pixel(i)
    left, top, right, bottom = page.box("#plot")
    return left < x < right and max(top, 0) < y < min(bottom, page.js("return innerHeight"))


def test_a_worst_pair_comes_into_sight(seen, flights_path):
    page = seen(flights_path)
    for _ in range(5):
        page["zoom-in"].click()
        time.sleep(0.05)
    i, j = map(int, page.rows("worst")[0][0].split())
    page.wait(lambda: not in_view(page, i))
    page.js("document.querySelector('#worst button').click()")
    page.wait(lambda: in_view(page, i) and in_view(page, j))
    assert page.chosen() == (i, j)


def test_worst_pairs_labels_and_marks_in_space(seen, folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    D = finsler.randers_distances(X, drift=0.3) * rng.uniform(0.8, 1.2, (60, 60)) * (1 - np.eye(60))
    embedding = made_map(X, data=as_dissimilarities(D), labels=[f"point {i}" for i in range(60)])
    kinds = [f"kind {i % 10}" for i in range(60)]
    page = seen(explore(embedding, folder / "space.html", color=kinds))
    count = len(page.annotations())
    assert 5 <= count < 60  # labels keep off each other
    assert page.text("labels-told") == f"{count} of 60"
    sizes, marks = (
        page.js(f"return document.getElementById('plot').data[0].marker.{name}")
        for name in ("size", "symbol")
    )
    assert {size > min(sizes) for size, mark in zip(sizes, marks, strict=True) if mark == "square"} == {True}
    for _ in range(7):
        page["zoom-in"].click()
    i, j = map(int, page.rows("worst")[0][0].split())
    page.wait(lambda: not (in_view(page, i) and in_view(page, j)))
    page.js("document.querySelector('#worst button').click()")
    page.wait(lambda: in_view(page, i) and in_view(page, j))
    assert page.severe() == []


def test_the_page_says_when_map_and_data_disagree(seen, folder):
    X = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 0.5], [0.5, 2.0]])
    D = finsler.randers_distances(X, drift=0.3)
    D[0, 1], D[1, 0] = D[1, 0], D[0, 1] + 0.1  # in the data, down costs more
    np.fill_diagonal(D, 0)
    page = seen(explore(made_map(X, labels=list("abcd"), data=as_dissimilarities(D)), folder / "flag.html"))
    page.find("a", "c")
    assert not page["disagree"].is_displayed()
    page.find("a", "b")
    assert page["disagree"].is_displayed()
    ratio = f"{D[1, 0] / D[0, 1]:.3g}"
    assert f"in the data, from b to a costs {ratio} times the way back" in page.text("disagree")
    worst = page["worst"].find_elements("tag name", "li")
    assert ["⇄" in item.text for item in worst] == [True, True]
    assert "⇄: map and data disagree" in page.text("worst-note")


def test_labels_that_are_ticked_are_seen_at_1500_points(seen, many_path):
    page = seen(many_path)
    assert page["labels"].is_selected()
    count = len(page.annotations())
    assert count >= 15
    assert page.text("labels-told") == f"{count} of 1,500"
    spots = page.boxes("#plot .annotation-text")
    for k, (left, top, right, bottom) in enumerate(spots):  # none lies upon another
        for other in spots[:k]:
            assert (
                right <= other[0] + 3 or other[2] <= left + 3 or bottom <= other[1] + 3 or other[3] <= top + 3
            )
    page["labels"].click()
    page.wait(lambda: page.annotations() == [])
    assert page.text("labels-told") == ""


@pytest.mark.parametrize("m", [2, 3])
def test_the_picture_can_be_saved(seen, folder, tmp_path, m):
    X = np.random.default_rng(0).normal(size=(30, m))
    kinds = ["x", "y"] * 15
    page = seen(explore(made_map(X), folder / f"save{m}.html", title="A/map: 1", color=kinds))
    page.command("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page["save"].click()
    page.wait(lambda: [file.name for file in tmp_path.iterdir()] == ["A_map_1.png"])
    from PIL import Image

    picture = np.asarray(Image.open(tmp_path / "A_map_1.png").convert("RGB"))
    width, height = page.plot_size()
    assert picture.shape[0] == 2 * (round(height) + 40)  # a title above,
    assert picture.shape[1] > 2 * width + 100  # and a legend beside it
    back = rgb(page.js("return getComputedStyle(document.body).backgroundColor"))
    np.testing.assert_array_equal(picture[0, 0], back)
    for color in set(page.drawn()):  # both groups, and not from a blank page
        close = np.abs(picture - np.array(rgb(color))).max(axis=2) < 12
        assert close.sum() > 200
    assert page.severe() == []
