"""The checker of links that ends `make docs`."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[1] / "docs" / "check_links.py"


@pytest.fixture
def dead_links():
    spec = importlib.util.spec_from_file_location("check_links", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.dead_links


def test_finds_missing_files_and_anchors_only(tmp_path, dead_links):
    (tmp_path / "sub").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top"></h1><a href="sub/page.html#there">a</a><a href="#top">b</a><a href="https://a.b/c">c</a>'
        '<a href="sub/page.html#gone">d</a><img src="no%20picture.png">',
        encoding="utf-8",
    )
    (tmp_path / "sub" / "page.html").write_text(
        '<p id="there"></p><a href="../index.html">up</a>', encoding="utf-8"
    )
    assert dead_links(tmp_path) == [
        "index.html: no anchor sub/page.html#gone",
        "index.html: no file no%20picture.png",
    ]
