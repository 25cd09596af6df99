"""The explorer's page in a real browser: headless Chromium, driven by Selenium, without a network."""

from __future__ import annotations

import time

import numpy as np
import pytest

import finsler
from chromium import Page, rgb, start_browser
from finsler.data.matrix import Dissimilarities, as_dissimilarities
from finsler.plotting import explore, plot_map
from finsler.plotting import swirl as swirl_picture

from helpers import made_map, turning_map

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def flights():
    example = finsler.load_flight_hours()
    return finsler.embed_matrix(example.hours, labels=list(example.codes), random_state=0)


@pytest.fixture(scope="module")
def flights_path(flights, tmp_path_factory):
    example = finsler.load_flight_hours()
    side = ["west" if longitude < -100 else "east" for longitude in example.longitude]
    attributes = {"city": example.cities, "longitude": example.longitude, "side": side}
    path = tmp_path_factory.mktemp("flights") / "flights.html"
    return explore(flights, path, attributes=attributes, title="Flight hours")


@pytest.fixture
def page(browser, flights_path):
    return Page(browser, flights_path)


def test_opens_offline_without_errors(page, flights, flights_path):
    assert page.severe() == []
    assert page.requests() == [flights_path.as_uri()]
    assert page.js("return performance.getEntriesByType('resource').length") == 0
    assert page.driver.title == "Flight hours"
    assert page.js("return document.getElementById('plot').data[0].type") == "scattergl"
    ratio = (1 + flights.alpha) / (1 - flights.alpha)
    assert f"straight up costs {ratio:.3g} times as much as straight down" in page.text("caption")
    assert page.text("notes") == ""


def test_nothing_can_be_fetched(page):
    """The page forbids it to itself, whatever its script might try."""
    blocked = page.driver.execute_async_script(
        "const done = arguments[0]; fetch('http://127.0.0.1:9/').then(() => done(false), () => done(true))"
    )
    assert blocked
    assert any("Content Security Policy" in message for message in page.severe())


def test_clicks_measure_both_ways(page, flights):
    a, b = flights.index("JFK"), flights.index("LAX")
    page.click_point(a)
    page.wait(lambda: page.chosen() == (a, None))
    assert not page["distances"].is_displayed()
    page.click_point(b)
    page.wait(lambda: page.chosen() == (a, b))
    for way, i, j in ("ab", a, b), ("ba", b, a):
        on_map, known = flights.distance(i, j), flights.data.matrix[i, j]
        assert page.value(f"map-{way}") == pytest.approx(on_map, rel=1e-9)
        assert float(page.text(f"map-{way}")) == pytest.approx(on_map, rel=1e-4)
        assert page.value(f"data-{way}") == pytest.approx(known, rel=1e-6)
        assert page.value(f"error-{way}") == pytest.approx(on_map - known, abs=1e-6 * known)
        assert page.text(f"error-{way}").startswith(f"{on_map - known:+.2g}"[:5])
    assert "from JFK to LAX goes up and costs 1.21 times" in page.text("sentence")
    way = page.trace("way")
    np.testing.assert_array_equal(np.transpose([way["x"], way["y"]]), flights.coordinates[[a, b]])
    page.click(*page.pixel(5))  # a third click begins anew
    page.wait(lambda: page.chosen() == (5, None))
    assert page.severe() == []


def test_quick_clicks_count(page):
    """Two clicks within a double click's time are two points, and do not reset the view."""
    for i in 3, 30:
        x, y = page.pixel(i)
        page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.06)
        for kind in "mousePressed", "mouseReleased":
            page.command("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
    page.wait(lambda: page.chosen() == (3, 30))


def test_every_distance_equals_the_librarys(page, flights):
    found = page.js(
        "return [...Array(64).keys()].map((i) => [...Array(64).keys()].map((j) => explorer.distance(i, j)))"
    )
    np.testing.assert_allclose(found, flights.distances(), rtol=0, atol=1e-12)


def test_swap_and_clear(page, flights):
    page.find("JFK", "LAX")
    a, b = flights.index("JFK"), flights.index("LAX")
    there, back = page.value("map-ab"), page.value("map-ba")
    page["swap"].click()
    assert page.chosen() == (b, a)
    assert (page.value("map-ab"), page.value("map-ba")) == (back, there)
    page["clear"].click()
    assert page.chosen() == (None, None)
    assert not page["measured"].is_displayed()
    assert not page["swap"].is_enabled()
    assert page.trace("way")["x"] == []


def test_search_lists_what_matches(page, flights):
    page["search"].send_keys("y")
    names = [item.text for item in page["matches"].find_elements("css selector", "[role=option]")]
    first = [code for code in flights.labels if code.startswith("Y")]
    assert names == first[:8]
    assert page["search"].get_attribute("aria-expanded") == "true"
    page.press("\ue015", "\ue015", "\ue013", "\ue007")  # down, down, up, Enter
    assert page.chosen() == (flights.index(first[1]), None)
    assert page["search"].get_attribute("value") == ""
    assert not page["matches"].is_displayed()
    page["search"].send_keys("no such place")
    assert page.text("matches").startswith("no point is called that")
    page.press("\ue007")
    assert page.chosen()[1] is None
    page["search"].clear()
    page["search"].send_keys("lax")
    page["matches"].find_element("css selector", "[role=option]").click()
    assert page.chosen()[1] == flights.index("LAX")


@pytest.mark.parametrize("k", [5, 9])
def test_nearest_points_from_and_to(page, flights, k):
    a = flights.index("DEN")
    page.find("DEN")
    if k != 5:
        page["k"].clear()
        page["k"].send_keys(str(k))
    D = flights.distances()
    orders = {"nearest-from": D[a], "nearest-to": D[:, a]}
    expected = {name: [i for i in np.argsort(far) if i != a][:k] for name, far in orders.items()}
    assert expected["nearest-from"] != expected["nearest-to"]
    for name, order in expected.items():
        rows = page.rows(name)
        assert [int(index) for index, _ in rows] == order
        for i, (_, text) in zip(order, rows, strict=True):
            label, far = text.split()
            assert label == flights.labels[i]
            assert float(far) == pytest.approx(orders[name][i], rel=1e-3)
    page["nearest-to"].find_elements("tag name", "button")[2].click()
    assert page.chosen() == (a, expected["nearest-to"][2])


def slow_worst(embedding, count):
    """Ordered pairs by their part in the stress, the largest first, by a loop over the definition."""
    D, W = embedding.data.matrix, embedding.data.weights
    parts = []
    for i in range(len(D)):
        for j in range(len(D)):
            w = 1.0 if W is None else W[i, j]
            if i != j and w > 0 and np.isfinite(D[i, j]):
                error = embedding.distance(i, j) - abs(D[i, j])
                parts.append((-w * (error if D[i, j] >= 0 else min(0, error)) ** 2, i, j))
    return [f"{i} {j}" for _, i, j in sorted(parts)[:count]]


def test_worst_fitted_pairs(page, flights):
    rows = page.rows("worst")
    assert [index for index, _ in rows] == slow_worst(flights, 30)
    index, text = rows[3]
    i, j = map(int, index.split())
    assert text.startswith(f"{flights.labels[i]} → {flights.labels[j]}")
    assert float(text.split()[-1]) == pytest.approx(
        flights.distance(i, j) - flights.data.matrix[i, j], rel=1e-2
    )
    page["worst"].find_elements("tag name", "button")[3].click()
    assert page.chosen() == (i, j)


def test_colors_follow_a_column(page, flights):
    by_height = page.drawn()
    assert by_height[np.argmax(flights.height)] != by_height[np.argmin(flights.height)]
    assert page.text("legend").split()[0] == "height"
    page.pick_color("longitude")
    by_longitude = page.drawn()
    assert by_longitude != by_height
    legend = page.text("legend").split()
    longitude = finsler.load_flight_hours().longitude
    assert [float(legend[1]), float(legend[2])] == pytest.approx([longitude.min(), longitude.max()], rel=1e-3)
    page.pick_color("side")
    groups = page.drawn()
    west = longitude < -100
    assert (
        len({groups[i] for i in np.flatnonzero(west)}) == len({groups[i] for i in np.flatnonzero(~west)}) == 1
    )
    assert len(set(groups)) == 2
    assert set(page.text("legend").split()) == {"side", "west", "east"}


@pytest.mark.parametrize("name", ["kind", "side", "longitude"])
def test_page_and_picture_have_the_same_colors(browser, flights, tmp_path, name):
    example = finsler.load_flight_hours()
    kind = np.array([f"group {k % 15}" for k in range(64)], dtype=object)
    kind[[3, 9]] = None
    longitude = example.longitude.copy()
    longitude[5] = np.nan
    attributes = {"kind": kind, "side": example.longitude > -100, "longitude": longitude}
    page = Page(browser, explore(flights, tmp_path / "c.html", attributes=attributes, color=name))
    assert page.js("return document.getElementById('color').selectedOptions[0].text") == name
    drawn = [rgb(color) for color in page.drawn()]
    marks = page.js("return document.getElementById('plot').data[0].marker.symbol")
    ax = plot_map(flights, color=attributes[name])
    ax.figure.canvas.draw()
    entries = 0
    for points in ax.collections:
        fill, rim = points.get_facecolors(), points.get_edgecolors()
        for k, place in enumerate(points.get_offsets()):
            i = int(np.argmin(np.linalg.norm(flights.coordinates - place, axis=1)))
            shown = rim if not len(fill) else fill
            expected = 255 * shown[k % len(shown)][:3]
            np.testing.assert_allclose(drawn[i], expected, atol=2, err_msg=f"{name} {flights.labels[i]}")
            assert (marks[i] == "circle-open") == (not len(fill))
            entries += 1
    assert entries == 64
    legend = [entry.text for entry in page["legend"].find_elements("tag name", "button")]
    if ax.get_legend() is not None:
        assert legend == [text.get_text() for text in ax.get_legend().get_texts()]


def test_the_page_opens_with_the_colors_asked_for(browser, flights, tmp_path):
    side = ["west" if longitude < -100 else "east" for longitude in finsler.load_flight_hours().longitude]
    page = Page(browser, explore(flights, tmp_path / "array.html", color=side))
    assert page.text("legend").split() == ["color", "east", "west"]
    page.pick_color("height")
    assert page.text("legend").split()[0] == "height"
    page = Page(browser, explore(flights, tmp_path / "named.html", color="share of the stress"))
    assert page.text("legend").startswith("share of the stress")


def test_keyboard_alone(page, flights):
    focused = "return document.activeElement.id || document.activeElement.closest('ol')?.id"
    order = []
    for _ in range(8):
        page.press("\ue004")  # Tab
        order.append(page.js(focused))
        assert page.js("return getComputedStyle(document.activeElement).outlineStyle") == "solid"
    assert order == ["search", "color", "labels", "zoom-in", "zoom-out", "zoom-home", "save", "k"]
    page.js("document.activeElement.blur()")
    page.press("/")
    assert page.js(focused) == "search"
    page.press("jfk", "\ue007", "/", "s", "ea", "\ue007")  # an s in the field is a letter
    a, b = flights.index("JFK"), flights.index("SEA")
    assert page.chosen() == (a, b)
    page.press("/", "s", "\ue00c")  # Escape: first it leaves the field, then it clears the points
    assert page["search"].get_attribute("value") == ""
    assert page.chosen() == (a, b)
    page.press("s")
    assert page.chosen() == (b, a)
    page.js("document.querySelector('#nearest-from button').focus()")
    near = [int(index) for index, _ in page.rows("nearest-from")]
    page.press("\ue015", "\ue015", "\ue013", "\ue007")
    assert page.chosen() == (b, near[1])
    assert page.js(focused) == "nearest-from"  # the focus stays where it was
    page.press("\ue004", "\ue004", "\ue015", "\ue007")  # each list is one stop
    assert page.js(focused) == "worst"
    assert page.chosen() == tuple(map(int, page.rows("worst")[1][0].split()))
    page.press("\ue00c")
    assert page.chosen() == (None, None)


def test_parts_have_names(page):
    unnamed = page.js(
        """return [...document.querySelectorAll("input, select, button, section, aside, [role]")].filter((part) =>
        !part.getAttribute("aria-label") && !part.getAttribute("aria-labelledby") && !part.labels?.length
        && !part.textContent.trim()).map((part) => part.outerHTML)"""
    )
    assert unnamed == []


def test_fit_and_asymmetry_are_told(page, flights):
    report = finsler.asymmetry_report(flights.data.matrix, labels=flights.labels)
    assert page.text("verdict") == report.verdict
    assert f"{flights.normalized_stress:.4g} (0 is perfect)" in page.text("fit")
    assert flights.message in page.text("fit")
    assert f"asymmetry shown\n{flights.asymmetry_shown()}" in page.text("fit")
    facts = page["facts"].find_elements("css selector", "dt, dd")
    told = {name.text: text.text for name, text in zip(facts[::2], facts[1::2], strict=True)}
    assert told["of it follows heights"].startswith(f"{100 * report.gradient_share:.3g} %; noise alone: ")
    pair = report.most_asymmetric
    assert told["most asymmetric"].startswith(f"{pair['from']} to {pair['to']}:")


def test_zoom_and_reset(page):
    span = "const [low, high] = document.getElementById('plot')._fullLayout.xaxis.range; return high - low"
    home = page.js(span)
    page["zoom-in"].click()
    page.wait(lambda: page.js(span) == pytest.approx(home / 1.4, rel=1e-6))
    page.find("DEN", "OMA")  # drawing keeps the view
    assert page.js(span) == pytest.approx(home / 1.4, rel=1e-6)
    page["zoom-home"].click()
    page.wait(lambda: page.js(span) == pytest.approx(home, rel=1e-6))


def test_hovering_tells_label_and_attributes(page, flights):
    a = flights.index("JFK")
    x, y = page.pixel(a)
    page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
    page.wait(lambda: page.driver.find_elements("css selector", ".hoverlayer text"))
    told = page.driver.find_element("css selector", ".hoverlayer").text
    assert "JFK" in told
    assert "city: New York" in told
    assert "side: east" in told


HOSTILE = [
    "<script>window.bad = 1</script>",
    "</script><script>window.bad = 1</script>",
    "<img src=x onerror='window.bad = 1'>",
    "<!--<script>",
    "a & b < c > d \"e\" 'f' {{title}}",
    "&lt;b&gt;\u2028",
]


def test_names_stay_text(browser, tmp_path):
    D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0) + 0.2)) * (1 - np.eye(6))
    rng = np.random.default_rng(0)
    embedding = made_map(rng.normal(size=(6, 2)), labels=HOSTILE, data=as_dissimilarities(D, labels=HOSTILE))
    attributes = {HOSTILE[0]: HOSTILE, "<b>number</b>": range(6)}
    page = Page(browser, explore(embedding, tmp_path / "x.html", attributes=attributes, title=HOSTILE[1]))
    assert page.driver.title == HOSTILE[1]
    assert page.driver.find_element("tag name", "h1").text == HOSTILE[1]
    page["search"].send_keys("<img")
    assert page["matches"].text == HOSTILE[2]
    page.press("\ue007")
    page.find(HOSTILE[0])
    assert page["point-a"].text.startswith(HOSTILE[2])
    assert page["point-b"].text.startswith(HOSTILE[0])
    page.pick_color(HOSTILE[0])
    for code in HOSTILE[:4]:
        assert code in page.text("legend")
    hover = "return document.querySelector('#plot .hoverlayer').textContent"
    for i in range(6):  # plotly's own texts: beside the points, and on hovering
        x, y = page.pixel(i)
        page.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        page.wait(lambda code=HOSTILE[i]: f"{HOSTILE[0]}: {code}"[:40].strip() in page.js(hover))
    drawn = page.js(
        "return [...document.querySelectorAll('#plot .annotation-text')].map((text) => text.textContent)"
    )
    assert any(text.startswith("A <img src=x onerror") for text in drawn)
    assert page.js("return document.querySelectorAll('img, #plot script').length") == 0
    assert page.js("return window.bad") is None
    assert page.severe() == []


def test_phone(browser, flights, flights_path):
    page = Page(browser, flights_path, size=(390, 844), phone=True)
    assert page.js("return document.documentElement.scrollWidth") == 390
    plot, panel = page["plot"].rect, page.driver.find_element("css selector", ".panel").rect
    assert panel["y"] >= plot["y"] + plot["height"]
    assert panel["width"] == 390
    a, b = flights.index("ANC"), flights.index("YYT")
    page.tap(*page.pixel(a))
    page.wait(lambda: page.chosen() == (a, None))
    page.tap(*page.pixel(b))
    page.wait(lambda: page.chosen() == (a, b))
    assert page.value("map-ab") == pytest.approx(flights.distance("ANC", "YYT"), rel=1e-9)
    assert page["readout"].text.startswith("ANC → YYT")
    assert page.js("return document.documentElement.scrollWidth") == 390
    small = page.js(
        """return [...document.querySelectorAll("button, select, input[type=search]")].filter((part) =>
        part.offsetParent && part.getBoundingClientRect().height < 40).map((part) => part.outerHTML)"""
    )
    assert small == []  # big enough for a thumb


def luminance(color):
    share = np.array(rgb(color)) / 255
    return np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4) @ [
        0.2126,
        0.7152,
        0.0722,
    ]


@pytest.mark.parametrize("dark", [False, True])
def test_contrast_in_light_and_dark(page, dark):
    colors = """const [text, back] = [arguments[0], document.body].map((part) => getComputedStyle(part));
        return [text.color, back.backgroundColor]"""
    page.darken(dark)
    for part in page["caption"], page["near-hint"], page["worst-note"]:
        text, back = map(luminance, page.js(colors, part))
        assert (back < 0.1) == dark
        assert (max(text, back) + 0.05) / (min(text, back) + 0.05) > 4.5
    page.wait(lambda: page.js("return document.getElementById('plot').layout.font.color") is not None)
    assert page.severe() == []


def test_unknown_pairs_and_bounds(browser, tmp_path):
    rng = np.random.default_rng(3)
    X, far = rng.normal(size=(8, 2)), 1e30  # far from float32's range
    D = far * finsler.randers_distances(X, drift=0.3) * rng.uniform(0.8, 1.2, (8, 8))
    D[0, 1], D[2, 3] = np.nan, np.inf
    D[4, 5], D[5, 4] = -1e-3 * D[4, 5], -10 * D[5, 4]  # bounds: one kept, one not
    W = np.isfinite(D) * rng.uniform(0.5, 2, (8, 8))
    W[6, 7] = 0
    np.fill_diagonal(W, 0)
    embedding = made_map(far * X, data=Dissimilarities(D, W), labels=list("abcdefgh"))
    page = Page(browser, explore(embedding, tmp_path / "missing.html"))
    page.find("a", "b")
    assert (page.text("data-ab"), page.text("error-ab")) == ("unknown", "–")
    assert page.value("data-ba") == pytest.approx(D[1, 0], rel=1e-6)
    page.find("c", "d")
    assert page.text("data-ab") == "unreachable"
    page.find("g", "h")
    assert page.text("data-ab") == "unknown"
    page.find("e", "f")
    assert page.text("data-ab").startswith("at least ")
    assert page.value("data-ab") == pytest.approx(-D[4, 5], rel=1e-6)
    assert page.text("error-ab") == "none: far enough"
    assert page.value("error-ba") == pytest.approx(embedding.distance("f", "e") + D[5, 4], rel=1e-6)
    assert [index for index, _ in page.rows("worst")] == slow_worst(embedding, 30)
    assert "weighted" in page.text("worst-note")
    assert "missing\n2\nunreachable\n3" in page.text("facts")  # NaN and weight 0; inf and the two bounds
    assert page.severe() == []


def test_map_without_data(browser, tmp_path):
    page = Page(browser, explore(made_map(np.eye(3)[:, :2], alpha=0.0), tmp_path / "bare.html"))
    page.find("0", "2")
    assert page.text("data-ab") == "not kept with this map"
    assert page.text("worst-note") == "The data was not kept with this map."
    assert not page["report"].is_displayed()
    assert "symmetric" in page.text("caption")
    assert page.severe() == []


def test_exact_map_has_no_worst_pairs(browser, tmp_path):
    X = np.random.default_rng(0).normal(size=(9, 2))
    data = as_dissimilarities(finsler.randers_distances(X, drift=0.3) * (1 - np.eye(9)))
    page = Page(browser, explore(made_map(X + 5, data=data), tmp_path / "exact.html"))
    assert page.rows("worst") == []
    assert page.text("worst-note") == "The map shows every known pair as it is."


@pytest.mark.parametrize("m", [3, 5])
def test_solid_map(browser, tmp_path, m):
    rng = np.random.default_rng(m)
    X = rng.normal(size=(30, m))
    embedding = made_map(X, alpha=0.5, labels=[f"p{i}" for i in range(30)])
    page = Page(browser, explore(embedding, tmp_path / "solid.html"))
    assert page.js("return document.getElementById('plot').data[0].type") == "scatter3d"
    np.testing.assert_array_equal(page.js("return [...document.getElementById('plot').data[0].z]"), X[:, -1])
    assert ("two of the 5 axes" in page.text("notes")) == (m == 5)
    found = page.js(
        "return [...Array(30).keys()].map((i) => [...Array(30).keys()].map((j) => explorer.distance(i, j)))"
    )
    np.testing.assert_allclose(found, embedding.distances(), rtol=0, atol=1e-12)

    def lonely():
        """Two points that no other one comes near on the screen."""
        spots = np.array([page.pixel(i) for i in range(30)])
        gaps = np.linalg.norm(spots[:, None] - spots, axis=2) + 1e9 * np.eye(30)
        inside = (spots[:, 0] < 800) & (spots[:, 1] < 750) & (spots[:, 1] > 220)
        return np.argsort(np.where(inside, -gaps.min(axis=1), 0))[:2].tolist()

    a, b = lonely()
    page.click_point(a)
    page.click_point(b)
    page.wait(lambda: page.chosen() == (a, b))
    assert page.value("map-ab") == pytest.approx(embedding.distance(a, b), rel=1e-9)
    before = page.pixel(a)
    page.drag((200, 600), (320, 560))  # turning the map chooses nothing
    page.wait(lambda: np.hypot(*np.subtract(page.pixel(a), before)) > 20)
    assert page.chosen() == (a, b)
    page.command("Input.dispatchMouseEvent", type="mouseWheel", x=450, y=450, deltaX=0, deltaY=80)
    time.sleep(0.3)
    a, b = lonely()
    page["clear"].click()
    page.click_point(a)
    page.wait(lambda: page.chosen() == (a, None))
    assert page.severe() == []


def test_solid_map_by_touch(browser, tmp_path):
    X = [[0, 0, 0], [1, 0, 0.2], [0, 1, 0.8], [1, 1, 0.3]]
    page = Page(browser, explore(made_map(X), tmp_path / "touch.html"), size=(390, 844), phone=True)
    page.tap(*page.pixel(2))
    page.wait(lambda: page.chosen() == (2, None))
    page.tap(*page.pixel(1))
    page.wait(lambda: page.chosen() == (2, 1))


def test_one_axis_and_one_point(browser, tmp_path):
    line = made_map([[0.0], [1.0], [3.0]], alpha=0.5)
    page = Page(browser, explore(line, tmp_path / "line.html"))
    page.click_point(0)
    page.click_point(2)
    page.wait(lambda: page.chosen() == (0, 2))
    assert (page.value("map-ab"), page.value("map-ba")) == (4.5, 1.5)
    point = made_map([[0.0, 0.0]], data=as_dissimilarities([[0.0]]))
    page = Page(browser, explore(point, tmp_path / "point.html"))
    page.find("0")
    assert page.chosen() == (0, None)
    assert page.severe() == []


def test_without_webgl(tmp_path, tmp_path_factory):
    """The map is drawn flat, and works."""
    driver = start_browser(tmp_path_factory.mktemp("profile"), "--disable-3d-apis")
    try:
        embedding = made_map(np.random.default_rng(0).normal(size=(12, 3)))
        page = Page(driver, explore(embedding, tmp_path / "flat.html"))
        assert "no WebGL" in page.text("notes")
        page.click_point(4)
        page.wait(lambda: page.chosen() == (4, None))
    finally:
        driver.quit()


def test_five_thousand_points(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 2))
    embedding = made_map(X, labels=[f"point {i}" for i in range(5000)])
    words = rng.choice(["a", "b", "c"], 5000)
    page = Page(browser, explore(embedding, tmp_path / "big.html", attributes={"group": words}))
    far = int(np.argmax(X[:, 0]))
    page.click_point(far)
    page.wait(lambda: page.chosen() == (far, None))
    page.find("point 4321")
    assert page.value("map-ab") == pytest.approx(embedding.distance(far, 4321), rel=1e-9)
    order = [i for i in np.argsort(embedding.distances()[far]) if i != far][:5]
    assert [int(index) for index, _ in page.rows("nearest-from")] == order
    page.pick_color("group")
    assert len(set(page.drawn())) == 3
    assert page.severe() == []


def test_data_too_heavy_for_the_page(browser, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1501, 2))
    D = finsler.randers_distances(X, drift=0.3) * rng.uniform(0.9, 1.1, (1501, 1501))
    np.fill_diagonal(D, 0)
    embedding = made_map(X, data=as_dissimilarities(D.astype(np.float32)))
    page = Page(browser, explore(embedding, tmp_path / "thin.html"))
    assert "only the worst-fitted pairs are compared with the data" in page.text("notes")
    error = np.abs(finsler.randers_distances(X, drift=0.3) - embedding.data.matrix)
    assert page.rows("worst")[0][0] == "{} {}".format(*np.unravel_index(error.argmax(), error.shape))
    page["worst"].find_element("tag name", "button").click()
    i, j = page.chosen()
    assert page.value("data-ab") == pytest.approx(embedding.data.matrix[i, j], rel=1e-9)
    assert page.text("data-ba") == "not on this page"
    assert page["report"].is_displayed()


def test_more_points_than_a_page_shows(browser, tmp_path):
    rng = np.random.default_rng(0)
    embedding = made_map(rng.normal(size=(20_001, 2)))
    first, second = (explore(embedding, tmp_path / name).read_bytes() for name in ("a.html", "b.html"))
    assert first == second  # the sample depends on the seed alone
    page = Page(browser, tmp_path / "a.html")
    assert "A random 20,000 of the 20,001 points are shown." in page.text("notes")
    names = page.js("return JSON.parse(document.getElementById('record').textContent).labels")
    assert len(set(names)) == 20_000
    page.find(names[-1], names[7])
    there = embedding.distance(int(names[-1]), int(names[7]))
    assert page.value("map-ab") == pytest.approx(there, rel=1e-9)


def test_attributes_of_all_kinds(browser, tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {
            "people": pd.array([8_336_817, None, 3], dtype="Int64"),
            "open": [True, False, True],
            "since": pd.to_datetime(["2001-02-03", None, "2020-01-01"]),
            "mixed": [1, "two", None],
            "share": [0.5, np.inf, np.nan],
        },
        index=["z", "x", "y"],
    )
    embedding = made_map([[0, 0], [1, 2], [2, 1]], labels=["x", "y", "z"])
    page = Page(browser, explore(embedding, tmp_path / "frame.html", attributes=frame))
    page.find("z", "x")  # rows are found by label
    for fact in "people 8336817", "open true", "since 2001-02-03 00:00:00", "mixed 1", "share 0.5":
        assert fact in page.text("point-a").replace("True", "true")
    assert "people unknown" in page.text("point-b")
    assert "share ∞" in page.text("point-b")
    page.pick_color("people")
    assert "unknown" in page.text("legend")
    assert page.drawn()[2] != page.drawn()[0]
    assert page.severe() == []


@pytest.mark.parametrize("m", [2, 3])
@pytest.mark.parametrize("geodesic", [False, True])
def test_distances_with_a_drift_that_turns_are_those_of_python(browser, tmp_path, m, geodesic):
    embedding = turning_map(m, 0.4, center=0.3, beta=0.1 if m == 3 else 0.0, geodesic=geodesic and m == 2)
    page = Page(browser, explore(embedding, tmp_path / "turn.html"))
    n = embedding.n_points
    code = "const out = []; for (let i = 0; i < arguments[0]; i++) for (let j = 0; j < arguments[0]; j++) "
    found = page.js(code + "out.push(explorer.distance(i, j)); return out", n)
    np.testing.assert_allclose(np.reshape(found, (n, n)), embedding.distances(), rtol=1e-12, atol=1e-12)
    assert page.severe() == []


@pytest.mark.parametrize("kappa", [0.4, -0.4])
def test_a_flat_page_shows_which_way_round_is_cheap(browser, tmp_path, kappa):
    embedding = turning_map(kappa=kappa, center=0.3)
    page = Page(browser, explore(embedding, tmp_path / "turn.html"))
    shapes = page.js("return document.getElementById('plot').layout.shapes.map((shape) => shape.path)")
    places = [np.array([p.split(",") for p in path[1:].split("L")], dtype=float) for path in shapes]
    arrows = [place for place in places if len(place) == 13]
    assert len(arrows) == 4 * (len(places) - len(arrows))
    for shaft in arrows:
        cost = finsler.randers_distances(shaft[:1], shaft[-1:], **embedding.metric)[0, 0]
        assert cost < np.linalg.norm(shaft[-1] - shaft[0])
    words = page.js("return document.getElementById('plot').layout.annotations.map((note) => note.text)")
    assert {"±10 %", "±20 %", "±30 %", "<b>+</b>"} <= set(words)
    assert "with the arrows is cheap" in page.text("caption")


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_arrows_on_rings_have_heads_at_any_size(browser, tmp_path, size):
    """Plotly draws no head on an arrow that is short in pixels, and then nobody sees which way it points."""
    page = Page(browser, explore(turning_map(kappa=0.4, center=0.3), tmp_path / "turn.html"), size=size)
    drawn = page.js(
        "return [...document.querySelectorAll('.annotation-arrow-g')].map((g) => g.children.length)"
    )
    assert len(drawn) >= 12
    assert set(drawn) == {2}  # a shaft and a head


def test_on_click_the_triangle_whose_area_is_the_difference(browser, tmp_path):
    embedding = turning_map(kappa=0.4, center=0.3)
    sizes = [f"size {i}" for i in range(embedding.n_points)]
    page = Page(browser, explore(embedding, tmp_path / "turn.html", attributes={"size": sizes}))
    page.find("p3", "p7")
    assert "size 3" in page.text("point-a")
    assert "stress" not in page.text("point-a")
    there, back = embedding.distance("p3", "p7"), embedding.distance("p7", "p3")
    assert page.value("map-ab") == pytest.approx(there, rel=1e-12)
    assert page.value("map-ba") == pytest.approx(back, rel=1e-12)
    shape = page.js("return document.getElementById('plot').layout.shapes[0].path")
    center, a, b = np.array([p.split(",") for p in shape[1:-1].split("L")], dtype=float)
    (x, y), (z, w) = a - center, b - center
    assert 4 * 0.4 * abs(x * w - y * z) / 2 == pytest.approx(abs(there - back), rel=1e-9)
    assert f"{abs(there - back):.3g}" in page.text("sentence")
    assert "against the arrows" in page.text("sentence")
    assert "from p3" in page.text("compass")
    page.press("\ue00c")  # Escape
    page.wait(lambda: page.chosen() == (None, None))
    assert not page.js("return document.getElementById('plot').layout.shapes[0].path.endsWith('Z')")


def test_the_ways_of_a_geodesic_map_are_arcs(browser, tmp_path):
    embedding = turning_map(kappa=0.4, geodesic=True)
    page = Page(browser, explore(embedding, tmp_path / "turn.html"))
    page.find("p3", "p7")
    a, b = embedding.coordinates[[3, 7]]
    for name, ends in ("way there", (a, b)), ("way back", (b, a)):
        trace = page.trace(name)
        drawn = np.transpose([trace["x"][:-1], trace["y"][:-1]])  # the last one ends the line
        np.testing.assert_allclose(drawn, swirl_picture.way(*ends, 0.4), atol=1e-12)


def test_a_page_in_space_has_the_axis_and_the_triangle_across_it(browser, tmp_path):
    embedding = turning_map(3, 0.4, beta=0.1)
    page = Page(browser, explore(embedding, tmp_path / "turn.html"))
    page.find("p3", "p7")
    kinds = page.js("return document.getElementById('plot').data.map((trace) => trace.type)")
    mesh = page.js(
        "const t = document.getElementById('plot').data[arguments[0]]; return [t.x, t.y, t.z]",
        kinds.index("mesh3d"),
    )
    center, a, b = np.transpose(mesh)
    np.testing.assert_allclose([a[:2], b[:2]], embedding.coordinates[[3, 7], :2], atol=1e-12)
    np.testing.assert_allclose(center[:2], 0, atol=1e-12)
    assert "the rest is made by the drift along the axis" in page.text("sentence")
    assert page.severe() == []
