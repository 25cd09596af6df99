"""Scripts beside the package (paper, examples, tutorials, benchmarks ...) use names that exist."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("benchmarks", "docs", "examples", "experiments", "paper", "tutorials", ".ci")
SCRIPTS = sorted(
    path
    for folder in FOLDERS
    for path in (ROOT / folder).rglob("*.py")
    if not {"_build", "gallery"} & set(path.parts) and path.parent != ROOT / "docs" / "tutorials"
)


def exists(module, name):
    if hasattr(import_module(module), name):
        return True
    try:
        return import_module(f"{module}.{name}") is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_names_taken_from_the_package_are_there(script):
    nodes = list(ast.walk(ast.parse(script.read_text(encoding="utf-8"))))
    used = [
        (node.module, alias.name)
        for node in nodes
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "finsler"
        for alias in node.names
    ]
    if any(isinstance(node, ast.Import) and node.names[0].name == "finsler" for node in nodes):
        attributes = [node for node in nodes if isinstance(node, ast.Attribute)]
        used += [("finsler", a.attr) for a in attributes if getattr(a.value, "id", None) == "finsler"]
    assert [f"{module}.{name}" for module, name in used if not exists(module, name)] == []
