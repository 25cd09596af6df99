"""Browser, pages of a screen and of a phone, and a folder for them."""

from __future__ import annotations

import pytest

from chromium import Page, start_browser

WIDE, PHONE = {"size": (1280, 800)}, {"size": (390, 844), "phone": True}
SHAPES = {"1280": (WIDE, False), "1280-dark": (WIDE, True), "390": (PHONE, False), "390-dark": (PHONE, True)}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    driver = start_browser(tmp_path_factory.mktemp("profile"))
    yield driver
    driver.quit()


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def seen(request, browser):
    """Open a page on a screen or a phone, light or dark."""
    shape, dark = request.param
    return lambda path: Page(browser, path, **shape, dark=dark)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("pages")
