"""What lies over the points of the page, in a real browser: ellipses, arcs, ways along arcs, real places."""

from __future__ import annotations

import numpy as np
import pytest

import finsler
from chromium import Page
from finsler.inference import confidence
from finsler.plotting import explore

from helpers import confusions, made_map

pytestmark = pytest.mark.browser
EVIL = "<img src=x onerror='window.bad = 1'>"


def noisy(n, m, seed=0):
    """A map of noisy Randers data, of least stress."""
    rng = np.random.default_rng(seed)
    D = finsler.randers_distances(rng.normal(size=(n, m)), drift=0.3) * rng.uniform(0.8, 1.2, (n, n))
    np.fill_diagonal(D, 0)
    return finsler.embed_matrix(
        D, n_components=m, random_state=0, verbose=False, labels=[f"p{i}" for i in range(n)]
    )


@pytest.fixture(scope="module")
def town():
    """Streets on a slope, with the places of the stops: a map, and the digraph behind it."""
    networkx = pytest.importorskip("networkx")
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(60, 2))
    G = networkx.DiGraph()
    for i, (x, y) in enumerate(X):
        G.add_node(f"stop {i}", x=10 * float(x), y=7 * float(y), kind=EVIL if i == 7 else "stop")
    for i in range(60):
        for j in np.argsort(np.linalg.norm(X - X[i], axis=1))[1:5]:
            far, up = float(np.linalg.norm(X[j] - X[i])), float(X[j, 1] - X[i, 1])
            G.add_edge(f"stop {i}", f"stop {j}", weight=far + 0.35 * up)
            G.add_edge(f"stop {j}", f"stop {i}", weight=far - 0.35 * up)
    return finsler.embed_graph(G, weight="weight", random_state=0, verbose=False)


@pytest.fixture(scope="module")
def town_path(town, folder):
    return explore(town, folder / "town.html", unit="minutes")


def pieces(trace):
    """Lines of a trace, each an array of points."""
    found, piece = [], []
    for point in zip(*(trace[axis] for axis in "xyz" if trace[axis] is not None), strict=True):
        if point[0] is None:
            found.append(np.array(piece))
            piece = []
        else:
            piece.append(point)
    return found


@pytest.mark.parametrize("m", [1, 2, 3])
def test_ellipses_lie_where_confidence_says(browser, folder, m):
    embedding = noisy(14, m)
    found = confidence(embedding, level=0.9999)
    page = Page(browser, explore(embedding, folder / f"ellipses{m}.html", confidence=found))
    rims = pieces(page.trace("ellipses"))
    each = {1: 1, 2: 1, 3: 3}[m]
    assert len(rims) == 14 * each
    for k, rim in enumerate(rims):
        i = k // each
        step = (rim if m > 1 else rim[:, 1:]) - embedding.coordinates[i]
        far = np.einsum("tk,kl,tl->t", step, np.linalg.inv(found.covariance[i]), step)
        assert far.max() == pytest.approx(found.radius**2, rel=1e-6)
        if m > 1:
            assert far.min() == pytest.approx(found.radius**2, rel=1e-6)
    if m == 2:  # none is cut where the page opens
        ranges = page.js("const at = plot._fullLayout; return [at.xaxis.range, at.yaxis.range]")
        for k, (low, high) in enumerate(ranges):
            assert low < min(rim[:, k].min() for rim in rims) < max(rim[:, k].max() for rim in rims) < high
    page["ellipses"].click()
    page.wait(lambda: page.trace("ellipses") is None)
    assert page.severe() == []


def test_in_five_dimensions_the_shadow_of_the_ellipsoid_is_drawn(browser, folder):
    embedding = noisy(25, 5)
    found = confidence(embedding)
    page = Page(browser, explore(embedding, folder / "shadow.html", confidence=found))
    drawn = np.ix_([0, 1, 4], [0, 1, 4])
    for k, rim in enumerate(pieces(page.trace("ellipses"))):
        C = found.covariance[k // 3][drawn]
        step = rim - embedding.coordinates[k // 3][[0, 1, 4]]
        far = np.einsum("tk,kl,tl->t", step, np.linalg.inv(C), step)
        np.testing.assert_allclose(far, found.radius**2, rtol=1e-6)


def test_hovering_tells_how_sure_a_point_is(seen, folder):
    embedding = noisy(14, 2)
    found = confidence(embedding)
    page = seen(explore(embedding, folder / "hover.html", confidence=found, unit="km"))
    long, short = found.half_axes[3]
    said = f"within ±{long:.2g} km by ±{short:.2g} km (95 %)"
    hover = page.js("return document.getElementById('plot').data[0].hovertext[3]").replace("\u00a0", " ")
    assert said in hover
    page.find("p3")
    assert said in page.text("point-a").replace("\u00a0", " ")
    assert "ellipses\n95 % (closed form), median half axis" in page.text("fit")
    assert f"standard error of alpha\n{found.alpha_se:.2g}" in page.text("fit")


def test_ellipses_that_points_hide_are_told(browser, folder):
    example = finsler.load_flight_hours()
    flights = finsler.embed_matrix(example.hours, random_state=0)
    page = Page(browser, explore(flights, folder / "small.html", confidence=confidence(flights)))
    assert page.text("ellipses-told") == "smaller than the points"
    for _ in range(12):
        page["zoom-in"].click()
    page.wait(lambda: page.text("ellipses-told") == "")


def test_ellipses_of_another_map_are_refused(tmp_path):
    with pytest.raises(ValueError, match="another map") as caught:
        explore(noisy(14, 2), tmp_path / "a.html", confidence=confidence(noisy(14, 2, seed=1)))
    assert caught.value.argument == "confidence"
    with pytest.raises(TypeError, match=r"confidence must be what .*got 0\.95"):
        explore(noisy(14, 2), tmp_path / "a.html", confidence=0.95)
    assert list(tmp_path.iterdir()) == []


def arcs_of(town, name):
    graph, i = town.network.graph, town.index(name)
    return set(np.flatnonzero(graph.matrix.toarray()[i])), set(np.flatnonzero(graph.matrix.toarray()[:, i]))


def test_a_chosen_point_shows_its_arcs(seen, town, town_path):
    page = seen(town_path)
    assert page.trace("arcs out") is None
    page.find("stop 5")
    a = town.index("stop 5")
    out, back = arcs_of(town, "stop 5")
    X = town.coordinates
    for name, expected, end in ("arcs out", out, -1), ("arcs in", back, 0):
        lines = pieces(page.trace(name))
        np.testing.assert_allclose([line[-1 - end] for line in lines], [X[a]] * len(expected), atol=1e-12)
        found = {int(np.argmin(np.linalg.norm(X - line[end], axis=1))) for line in lines}
        assert found == expected
    assert page.text("arcs-told") == f"{len(out)} arcs out {len(back)} arcs in"
    page["arcs"].click()
    page.wait(lambda: page.trace("arcs out") is None)
    page["arcs"].click()
    page.find("stop 40")  # of two points, the ways between them are drawn
    assert page.trace("arcs out") is None
    assert page.severe() == []


def test_ways_along_arcs_are_those_of_python(seen, town, town_path):
    page = seen(town_path)
    rng = np.random.default_rng(0)
    for a, b in rng.permutation(60)[:16].reshape(-1, 2).tolist():
        found, back = (page.js("return explorer.route(...arguments)", *ends) for ends in ((a, b), (b, a)))
        known = town.route(f"stop {a}", f"stop {b}")
        assert found["points"] == known.nodes.tolist()
        assert found["length"] == pytest.approx(known.length, rel=1e-12)
        assert back["points"] == known.back.nodes.tolist()
    page.find("stop 5", "stop 40")
    known = town.route("stop 5", "stop 40")
    for name, way in ("way there", known), ("way back", known.back):
        drawn = pieces(page.trace(name))
        ends = [drawn[0][0], *(line[-1] for line in drawn)]
        np.testing.assert_allclose(ends, town.coordinates[way.nodes], atol=1e-12)
    there, back = (
        entry.text.replace("\u00a0", " ") for entry in page["routes"].find_elements("tag name", "p")
    )
    assert there.startswith(f"Along the arcs: {known.length:.5g} minutes")
    assert there.endswith("→ stop 40")
    assert back.startswith("Back: ")
    assert page.severe() == []


def test_where_there_is_no_way_the_page_says_so(browser, folder):
    arcs = [("a", "b", 1.0), ("b", "c", 1.0), ("a", "c", 2.5), ("c", "d", 1.0), ("b", "d", 3.0)]
    embedding = finsler.embed_graph(arcs, unreachable="hinge", verbose=False)
    page = Page(browser, explore(embedding, folder / "one_way.html"))
    page.find("a", "d")
    there, back = (entry.text for entry in page["routes"].find_elements("tag name", "p"))
    assert there == "Along the arcs: 3, 3 arcs: a → b → c → d"
    assert back == "No way back along the arcs."


def test_arcs_to_nodes_that_are_not_on_the_map_are_told(browser, folder):
    arcs = [
        ("a", "b", 1.0),
        ("b", "c", 1.0),
        ("c", "a", 1.0),
        ("c", "d", 1.0),
        ("d", "a", 1.5),
        ("b", "a", 2.0),
    ]
    embedding = finsler.embed_graph(arcs, nodes=["a", "b", "c"], verbose=False)
    page = Page(browser, explore(embedding, folder / "some.html"))
    assert "2 arcs from or to nodes that are not on the map are not shown." in page.text("notes")
    page.find("a", "c")
    assert not page["routes"].is_displayed()


def choose_view(page, value):
    code = """const view = document.getElementById("view");
        view.value = arguments[0];
        view.dispatchEvent(new Event("change"))"""
    page.js(code, value)


def test_points_can_be_seen_where_they_really_are(seen, folder):
    example = finsler.load_flight_hours()
    flights = finsler.embed_matrix(example.hours, labels=list(example.codes), random_state=0)
    attributes = {"lon": example.longitude, "lat": example.latitude}
    page = seen(explore(flights, folder / "globe.html", attributes=attributes))
    by_height = page.drawn()
    choose_view(page, "places")
    points = page.trace("points")
    np.testing.assert_allclose(points["x"], example.longitude)
    np.testing.assert_allclose(points["y"], example.latitude)
    assert page.drawn() == by_height  # the height is the color
    assert page.text("caption").endswith(
        "Here points are at their real places; up is told by the color, height."
    )
    page.pick_color("share of the stress")
    assert page.text("caption").endswith(
        "Here points are at their real places; color them by height to see up."
    )
    x, y = np.transpose([page.pixel(i) for i in (flights.index("JFK"), flights.index("LAX"))])
    across = np.diff(x)[0] / np.diff(example.longitude[[flights.index("JFK"), flights.index("LAX")]])[0]
    up = -np.diff(y)[0] / np.diff(example.latitude[[flights.index("JFK"), flights.index("LAX")]])[0]
    middle = np.radians((example.latitude.min() + example.latitude.max()) / 2)
    assert across / up == pytest.approx(np.cos(middle), rel=1e-3)  # a degree of longitude is shorter
    ticks = page.js("return document.querySelector('#plot .xtick text').textContent")
    assert ticks.endswith("°")
    page.find("JFK", "LAX")
    way = page.trace("way")
    np.testing.assert_allclose(way["x"], example.longitude[[flights.index("JFK"), flights.index("LAX")]])
    spots = np.array([page.pixel(i) for i in range(64)])
    plot = page.box("#plot")
    assert (spots > plot[:2]).all()
    assert (spots < plot[2:]).all()
    choose_view(page, "map")
    assert "real places" not in page.text("caption")
    np.testing.assert_array_equal(page.trace("points")["x"], flights.coordinates[:, 0])
    assert page.severe() == []


def test_a_map_in_space_has_real_places_too(browser, folder):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    x, y = rng.uniform(size=(2, 20))
    x[4] = np.nan
    page = Page(browser, explore(made_map(X), folder / "both.html", attributes={"x": x, "y": y}))
    assert "Real places are not known of 1 point." in page.text("notes")
    choose_view(page, "places")
    assert page.js("return document.getElementById('plot').data[0].type") == "scattergl"
    far = int(np.nanargmax(x))
    page.click_point(far)
    page.wait(lambda: page.chosen() == (far, None))
    page.find("4")  # no place, no harm
    assert page.chosen() == (far, 4)
    choose_view(page, "map")
    page.wait(lambda: page.js("return document.getElementById('plot').data[0].type") == "scatter3d")
    page.click_point(far)
    page.wait(lambda: page.chosen() == (far, None))
    assert page.severe() == []


def test_points_across_the_date_line_stay_together(browser, folder):
    lon, lat = [178.0, -179.0, -177.0, 179.5], [-17.0, -16.0, -18.0, -17.5]
    page = Page(
        browser,
        explore(made_map(np.eye(4)[:, :2]), folder / "fiji.html", attributes={"lon": lon, "lat": lat}),
    )
    choose_view(page, "places")
    x = page.trace("points")["x"]
    assert max(x) - min(x) == pytest.approx(5)


def test_stress_1_of_scaled_maps_is_told(seen, folder):
    C = confusions()
    np.fill_diagonal(C, 0)
    embedding = finsler.embed_matrix(C, scaling="ordinal", random_state=0, verbose=False)
    page = seen(explore(embedding, folder / "ordinal.html", unit="shares"))
    assert f"stress-1 (Kruskal)\n{embedding.stress1:.4g}" in page.text("fit")
    assert page.js("return document.getElementById('unit').textContent") == ""  # disparities have none


def test_names_in_all_layers_stay_text(browser, folder, town):
    page = Page(browser, explore(town, folder / "evil.html", unit=EVIL, title=EVIL, color="kind"))
    page["search"].send_keys("onerror")
    assert page["matches"].text.startswith("stop 7 kind: <img")
    page.press("\ue007")
    page.find("stop 20")
    assert EVIL in page.text("unit")
    assert EVIL in page.text("routes").replace("\u00a0", " ")
    choose_view(page, "places")
    titles = page.js("return document.getElementById('plot').layout.xaxis.title.text")
    assert titles == "x"
    choose_view(page, "map")
    assert "<img" not in page.js("return document.getElementById('plot').layout.xaxis.title.text")
    page["legend"].find_element("tag name", "button").click()
    page["save"].click()
    assert page.js("return document.querySelectorAll('img, #plot script').length") == 0
    assert page.js("return window.bad") is None
    assert page.severe() == []


def test_another_element_can_hold_the_page(browser, folder, town):
    """What a widget of a notebook needs: the body in a shadow root, the record, and plotly."""
    from finsler.plotting.explorer import asset, body, page_record, script

    page = Page(browser, explore(made_map(np.eye(3)[:, :2]), folder / "host.html"))
    record = page_record(town, title="Hosted", unit="minutes")
    chosen = page.driver.execute_async_script(
        """
        const [html, style, script, record, done] = arguments;
        const host = document.createElement("div");
        document.body.append(host);
        const root = host.attachShadow({ mode: "open" });
        root.innerHTML = `<style>${style}</style><div class="explorer">${html}</div>`;
        const made = new Function(`${script}; return explorer`)()(root, record, Plotly);
        made.ready.then(() => made.choose(3, 5)).then(() => done([
          root.querySelector("#point-a").dataset.index, root.querySelector("#point-b").dataset.index,
          document.querySelector("#point-a").dataset.index ?? null, made.state.a, made.state.b,
        ]));
        """,
        body("Hosted"), asset("page.css"), script(), record,
    )  # fmt: skip
    assert chosen == ["3", "5", None, 3, 5]
    assert page.severe() == []
