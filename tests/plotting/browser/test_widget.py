"""The widget of a notebook in a real browser: a small page plays the notebook, and fakes the model behind it."""

from __future__ import annotations

import json
import shutil
import time

import pytest

import finsler

pytestmark = pytest.mark.browser
HOST = """<!doctype html><meta charset="utf-8"><body><div id="cell"></div><script type="module">
const [esm, state] = JSON.parse(document.getElementById("given").textContent);
window.sent = [];
window.heard = {};
const model = {
  get: (name) => state[name], set: (name, value) => { state[name] = value; },
  save_changes: () => window.sent.push(JSON.parse(JSON.stringify(state._chosen))),
  on: (name, act) => { window.heard[name] = act; }, off: (name) => { delete window.heard[name]; },
};
window.model = model;
const { default: widget } = await import(URL.createObjectURL(new Blob([esm], { type: "text/javascript" })));
window.stop = widget.render({ model, el: document.getElementById("cell") });
</script>"""
LABELS = ["</script><img src=x onerror=\"parent.document.title='bad'\">", "B", "C", "D"]


@pytest.fixture(scope="module")
def widget():
    pytest.importorskip("anywidget")
    pytest.importorskip("plotly")
    D = [[0, 3, 4, 5], [2, 0, 2, 4], [4, 3, 0, 2], [5, 4, 3, 0]]
    return finsler.embed_matrix(D, labels=LABELS).widget(height=500)


@pytest.fixture(scope="module")
def notebook(widget, tmp_path_factory):
    """A browser that shows the widget."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="pip install selenium")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        pytest.skip("the browser tests need Debian's chromium and chromium-driver")
    folder = tmp_path_factory.mktemp("notebook")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    flags = ("--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}")
    for flag in (*flags, "--window-size=1100,700"):
        options.add_argument(flag)
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
    state = {"_page": widget._page, "_chosen": [], "height": widget.height}
    given = json.dumps([widget._esm, state]).replace("<", "\\u003c")
    page = folder / "host.html"
    page.write_text(f'<script type="application/json" id="given">{given}</script>{HOST}', encoding="utf-8")
    browser.get(page.as_uri())
    yield browser
    browser.quit()


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "the page did not get there"
        time.sleep(0.05)
    return found


def test_what_is_chosen_on_the_page_reaches_python(notebook, widget):
    frame = until(lambda: notebook.find_elements("tag name", "iframe"))[0]
    assert frame.size["height"] == 500
    notebook.switch_to.frame(frame)
    ready = "return document.documentElement.dataset.ready"
    until(lambda: notebook.execute_script(ready) == "yes")
    for label in ("C", "B"):
        field = notebook.find_element("id", "search")
        field.send_keys(label, "\ue007")
    notebook.switch_to.default_content()
    sent = until(
        lambda: (lambda all_: all_ if len(all_) >= 2 else None)(notebook.execute_script("return window.sent"))
    )
    assert sent == [[2], [2, 1]]
    seen = []
    widget.observe(lambda change: seen.append(change["new"]), names="selection")
    for chosen in sent:
        widget._chosen = chosen
    assert seen == [["C"], ["C", "B"]]
    assert widget.selection == ["C", "B"]
    notebook.switch_to.frame(frame)
    notebook.find_element("id", "clear").click()
    notebook.switch_to.default_content()
    until(lambda: notebook.execute_script("return window.sent.length") == 3)
    assert notebook.execute_script("return window.sent[2]") == []
    assert notebook.title != "bad"


def test_strangers_and_nonsense_are_not_heard(notebook):
    before = notebook.execute_script("return window.sent.length")
    notebook.execute_script("window.postMessage({ finslerChosen: [1] }, '*')")  # not from the frame
    notebook.execute_script("model.set('height', 300); window.heard['change:height']()")
    until(lambda: notebook.find_element("tag name", "iframe").size["height"] == 300)
    assert notebook.execute_script("return window.sent.length") == before
    assert (
        notebook.find_element("tag name", "iframe").get_attribute("sandbox")
        == "allow-scripts allow-downloads"
    )
    notebook.execute_script("window.stop()")
    assert notebook.execute_script("return Object.keys(window.heard)") == []
