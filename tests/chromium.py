"""Pages in a real browser: headless Chromium, driven by Selenium, without a network."""

from __future__ import annotations

import itertools
import json
import shutil
import time

import numpy as np
import pytest

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
QUIET = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--window-size=1280,800",
)  # fmt: skip


def start_browser(profile, *flags):
    webdriver = pytest.importorskip(
        "selenium.webdriver", reason="the browser tests need: pip install selenium"
    )
    if not (CHROMIUM and DRIVER):
        pytest.skip("the browser tests need Debian's chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*QUIET, f"--user-data-dir={profile}", *flags):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    service = webdriver.ChromeService(executable_path=DRIVER)
    return webdriver.Chrome(options=options, service=service)


class Page:
    """A page as its reader sees it."""

    def __init__(self, driver, path, *, size=(1280, 800), phone=False, dark=False):
        self.driver = driver
        driver.get_log("browser"), driver.get_log("performance")
        metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": phone}
        self.command("Emulation.setDeviceMetricsOverride", **metrics)
        self.command("Emulation.setTouchEmulationEnabled", enabled=phone)
        self.darken(dark)
        driver.get(path.as_uri())
        self.wait(lambda: self.js("return document.documentElement.dataset.ready") == "yes")

    def js(self, code, *arguments):
        return self.driver.execute_script(code, *arguments)

    def command(self, name, **arguments):
        return self.driver.execute_cdp_cmd(name, arguments)

    def darken(self, dark):
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.command("Emulation.setEmulatedMedia", features=[scheme])

    def wait(self, condition, seconds=120):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "the page did not get there"
            time.sleep(0.03)

    def __getitem__(self, name):
        return self.driver.find_element("id", name)

    def text(self, name):
        return self[name].text.replace("\N{MINUS SIGN}", "-")

    def value(self, name):
        return float(self[name].get_attribute("data-value"))

    def chosen(self):
        """Rows of A and B, or None."""
        return tuple(
            int(self[name].get_attribute("data-index")) if self[name].is_displayed() else None
            for name in ("point-a", "point-b")
        )

    def pixel(self, i):
        """Where plotly draws a point."""
        return self.js(
            """
            const plot = document.getElementById("plot"), full = plot._fullLayout, points = plot._fullData[0];
            const box = plot.getBoundingClientRect(), i = arguments[0];
            if (points.type !== "scatter3d") return [
                box.left + full.xaxis._offset + full.xaxis.l2p(points.x[i]),
                box.top + full.yaxis._offset + full.yaxis.l2p(points.y[i])];
            const scene = full.scene._scene, { model, view, projection } = scene.glplot.cameraParams;
            let place = [...["x", "y", "z"].map((axis, k) => points[axis][i] * scene.dataScale[k]), 1];
            for (const matrix of [model, view, projection]) {
                place = [0, 1, 2, 3].map((row) => place.reduce((sum, x, k) => sum + matrix[4 * k + row] * x, 0));
            }
            return [box.left + box.width * (1 + place[0] / place[3]) / 2,
                    box.top + box.height * (1 - place[1] / place[3]) / 2];
            """,
            i,
        )

    def click(self, x, y):
        place = {"x": x, "y": y, "button": "left", "clickCount": 1}
        self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        time.sleep(0.15)
        self.command("Input.dispatchMouseEvent", type="mousePressed", **place)
        self.command("Input.dispatchMouseEvent", type="mouseReleased", **place)

    def click_point(self, i):
        """Click a point once plotly has seen the pointer over it, which takes its time on a busy machine."""
        x, y = self.pixel(i)
        if self.js("return document.getElementById('plot')._fullData[0].type") == "scatter3d":
            return self.click(x, y)  # which plotly finds in the picture, without looking before
        seen = "return (document.getElementById('plot')._hoverdata ?? []).some((p) => p.pointNumber === arguments[0])"
        end = time.monotonic() + 10
        for shift in itertools.cycle((0, 0.5)):
            self.command("Input.dispatchMouseEvent", type="mouseMoved", x=x + shift, y=y)
            time.sleep(0.1)
            if self.js(seen, i) or time.monotonic() > end:
                break
        return self.click(x, y)

    def drag(self, start, end):
        place = {"button": "left", "buttons": 1}
        self.command(
            "Input.dispatchMouseEvent", type="mousePressed", x=start[0], y=start[1], clickCount=1, **place
        )
        for share in np.linspace(0.1, 1, 10):
            x, y = (1 - share) * np.array(start) + share * np.array(end)
            self.command("Input.dispatchMouseEvent", type="mouseMoved", x=float(x), y=float(y), **place)
            time.sleep(0.02)
        self.command(
            "Input.dispatchMouseEvent", type="mouseReleased", x=end[0], y=end[1], clickCount=1, button="left"
        )

    def tap(self, x, y):
        self.command("Input.dispatchTouchEvent", type="touchStart", touchPoints=[{"x": x, "y": y}])
        self.command("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])

    def press(self, *keys):
        from selenium.webdriver.common.action_chains import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def find(self, *labels):
        for label in labels:
            self["search"].send_keys(label, "\ue007")  # Enter

    def rows(self, name):
        """Items of a list, as (data-index, text)."""
        items = self[name].find_elements("tag name", "button")
        return [
            (item.get_attribute("data-index"), item.text.replace("\N{MINUS SIGN}", "-")) for item in items
        ]

    def pick_color(self, name):
        from selenium.webdriver.support.ui import Select

        Select(self["color"]).select_by_visible_text(name)

    def drawn(self):
        return self.js("return document.getElementById('plot').data[0].marker.color")

    def trace(self, name):
        """What plotly draws under a name: places, marker and line, or None."""
        return self.js(
            """
            const found = document.getElementById("plot").data.find((trace) => trace.name === arguments[0]);
            if (!found) return null;
            const { x, y, z, marker, line, mode } = found;
            return { x: [...x], y: [...y], z: z && [...z], marker, line, mode };
            """,
            name,
        )

    def boxes(self, selector):
        """Left, top, right and bottom of what a selector finds, in pixels of the window."""
        code = """return [...document.querySelectorAll(arguments[0])].map((part) => {
            const { left, top, right, bottom } = part.getBoundingClientRect();
            return [left, top, right, bottom];
        })"""
        return self.js(code, selector)

    def box(self, selector):
        return self.boxes(selector)[0]

    def plot_size(self):
        """Width and height of the picture."""
        left, top, right, bottom = self.box("#plot")
        return right - left, bottom - top

    def annotations(self):
        """Texts beside points."""
        return self.js(
            """const { layout } = document.getElementById("plot");
            return (layout.scene || layout).annotations.map((note) => note.text)"""
        )

    def severe(self):
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]

    def requests(self):
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        sent = [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]
        # chrome: is the browser itself at its start
        return [url for url in sent if not url.startswith(("data:", "blob:", "chrome:"))]


def rgb(color):
    """Numbers of a color that CSS writes as #rrggbb, rgb() or rgba()."""
    if color.startswith("#"):
        return [int(color[k : k + 2], 16) for k in (1, 3, 5)]
    return [float(part) for part in color[color.index("(") + 1 : -1].split(",")[:3]]
