"""The pages name modules, files, options and make targets that exist; and the checker of links that ends `make docs`."""

import importlib.util
import re
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*.rst")]
    + [
        page
        for folder in ("benchmarks", "examples", "experiments", "paper")
        for page in (ROOT / folder).rglob("*.md")
    ]
)
SCRIPTS = [*(ROOT / "tutorials").glob("*.py"), *(ROOT / "examples").glob("*.py")]


@pytest.mark.slow
def test_the_guide_to_links_runs(tmp_path, monkeypatch):
    """And its probabilities add up, as it says."""
    for package in ("torch", "pandas", "plotly"):
        pytest.importorskip(package)
    page = ROOT / "docs" / "link_prediction.md"
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, page.name, "exec"), names)  # our own file
    assert names["chances"].sum() == pytest.approx(names["calibration"]["missing_arcs"], rel=1e-3)
    assert (tmp_path / "picture.html").is_file()


def by_name(path):
    return str(path.relative_to(ROOT))


def resolves(dotted):
    """Whether ``finsler.a.b`` is a module, or something in one."""
    parts = dotted.split(".")
    for k in range(len(parts), 0, -1):
        try:
            thing = import_module(".".join(parts[:k]))
        except ModuleNotFoundError:
            continue
        for name in parts[k:]:
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True
    return False


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_names_are_there(page):
    text = page.read_text(encoding="utf-8")
    names = set(re.findall(r"\bfinsler(?:\.[A-Za-z_]\w*)+", text))
    for module, imported in re.findall(
        r"^\s*from (finsler[\w.]*) import ([\w, ]+)", text, flags=re.MULTILINE
    ):
        names |= {f"{module}.{name.strip()}" for name in imported.split(",")}
    assert sorted(name for name in names if not resolves(name)) == []


def test_the_reference_lists_names_as_packages_export_them():
    text = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    names = re.findall(r"^   (finsler\.[\w.]+)$", text, flags=re.MULTILINE)
    assert 50 < len(names) == len(set(names)) < 130
    for name in names:
        module, _, last = name.rpartition(".")
        package = import_module(module.rpartition(".")[0] or module)
        thing = getattr(import_module(module), last)
        longer = not hasattr(import_module(module), "__path__") and last in getattr(package, "__all__", ())
        assert not (longer and getattr(package, last) is thing), f"{package.__name__}.{last} is the name"


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_files_are_there(page):
    text = page.read_text(encoding="utf-8")
    files = set(re.findall(r"(?<![\w/.*])(?:[\w.]+/)+\w+\.(?:py|pyi|md|json|sh)\b", text))
    places = (ROOT, ROOT / "src" / "finsler", page.parent, ROOT / "docs")
    lost = [name for name in files if not any((place / name).exists() for place in places)]
    assert sorted(lost) == []


@pytest.mark.parametrize("page", PAGES, ids=by_name)
def test_options_and_targets_are_there(page):
    typer = pytest.importorskip("typer")
    from finsler.cli.app import app

    commands = typer.main.get_command(app).commands
    text = page.read_text(encoding="utf-8")
    for name, words in re.findall(
        r"\bfinsler (embed|report|compare|learn|predict|place|distance|plot)\b([^`#\n]*)", text
    ):
        known = {option for param in commands[name].params for option in param.opts}
        asked = set(re.findall(r"--[a-z][a-z-]*", words))
        assert asked <= known | {"--help"}, (name, words)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for target in re.findall(r"(?:^ *|`)make ([a-z-]+)(?=`| *#| *$)", text, flags=re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target


@pytest.mark.parametrize("page", [*PAGES, *SCRIPTS], ids=by_name)
def test_plain_words(page):
    text = page.read_text(encoding="utf-8")
    private = re.compile(
        r"\b(houses?|rooms?|doors?|homes?|dear|dearer|dearest|let go)\b", flags=re.IGNORECASE
    )
    assert private.findall(text) == []


@pytest.fixture
def dead_links():
    spec = importlib.util.spec_from_file_location("check_links", ROOT / "docs" / "check_links.py")
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
