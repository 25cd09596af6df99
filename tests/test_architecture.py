"""The page "Architecture" is true: its list of modules, and the walks through the code, which are traced."""

import importlib.util
import re
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_layers_and_modules_are_those_of_the_code():
    spec = importlib.util.spec_from_file_location("module_list", ROOT / "docs" / "module_list.py")
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.renewed(PAGE) == PAGE, "modules have changed: python docs/module_list.py"


def test_the_places_to_add_things_exist():
    table = PAGE.split("## Where do I add")[1].split("\n## ")[0]
    rows = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 8
    for row in rows:
        files = re.findall(r"`([\w/.]+\.\w+)`", row.split("|")[2])
        assert files, row
        for file in files:
            path = next(p for p in (ROOT / "src/finsler" / file, ROOT / file) if p.is_file())
            text = path.read_text(encoding="utf-8")
            for name in re.findall(r"`(\w+)(?:\(\))?`", row.split("|")[3]):
                assert re.search(rf"\b{name}\b", text), (file, name)


def calls_of(action):
    """Every call of a function of ours while an action runs, in any thread, as ``package.module.function``."""
    calls = []

    def note(frame, event, _):
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith("finsler."):
            calls.append(f"{module.removeprefix('finsler.')}.{frame.f_code.co_qualname}")

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
    return calls


def walk(title):
    """The functions that the page lists under a title."""
    chapter = PAGE.split(f"### {title}\n")[1].split("\n## ")[0].split("\n### ")[0]
    return re.findall(r"^\d+\. `([\w.]+)`", chapter, flags=re.MULTILINE)


def follow(title, calls, once):
    """See that the listed functions were called in this order, and that nothing of `once` ran twice."""
    listed = walk(title)
    assert len(listed) >= 5
    missing = [name for name in listed if name not in calls]
    assert missing == []
    first = [calls.index(name) for name in listed]
    assert first == sorted(first), sorted(zip(first, listed, strict=True))
    packages = [name.split(".")[0] for name in listed]
    changes = [b for a, b in zip([None, *packages], packages, strict=False) if a != b]
    assert len(changes) == len(set(changes)), f"a package is crossed twice: {changes}"
    counts = Counter(calls)
    assert {name: counts[name] for name in once} == dict.fromkeys(once, 1)
