"""Put the layers and the first line of every module into docs/architecture.md: python docs/module_list.py."""

from __future__ import annotations

import ast
import tomllib
from pathlib import Path

from finsler._io import write_atomically

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "finsler"
PAGE = ROOT / "docs" / "architecture.md"
COLUMN = 26  # where the words begin


def summary(module: Path) -> str:
    """First paragraph of a module's documentation, on one line."""
    text = ast.get_docstring(ast.parse(module.read_text(encoding="utf-8"))) or ""
    words = " ".join(text.split("\n\n")[0].split())
    return words.replace("``", "").replace("`", "").rstrip(".")


def order() -> list[str]:
    """Packages and modules from the top layer to the bottom one."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (contract,) = project["tool"]["importlinter"]["contracts"]
    return [layer.removeprefix("finsler.") for layer in contract["layers"]]


def layers() -> str:
    """The layers in one line, the upper ones first."""
    return " > ".join(f"`{name}`" for name in order())


def modules() -> str:
    """The tree of modules, a line each."""
    top = order()
    entries = [p for p in SOURCE.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()]

    def place(path: Path) -> tuple[int, str]:
        return (top.index(path.stem) if path.stem in top else len(top), path.name)

    lines = ["```text", "src/finsler/"]
    for entry in sorted(entries, key=place):
        lines += tree(entry, "  ")
    return "\n".join([*lines, "```"])


def tree(path: Path, indent: str) -> list[str]:
    """Lines of a module, or of a package and what it holds."""
    if path.is_file():
        return [f"{indent}{path.name}".ljust(COLUMN) + f" {summary(path)}"]
    lines = [f"{indent}{path.name}/".ljust(COLUMN) + f" {summary(path / '__init__.py')}"]
    parts = [p for p in path.iterdir() if p.suffix == ".py" or (p / "__init__.py").is_file()]
    for part in sorted(parts, key=lambda p: (p.is_dir(), p.name)):
        if part.name not in ("__init__.py", "__main__.py"):
            lines += tree(part, f"{indent}  ")
    return lines


def renewed(text: str) -> str:
    """The page with its lists made anew."""
    for make in (layers, modules):
        begin, end = f"<!-- begin: {make.__name__} -->", f"<!-- end: {make.__name__} -->"
        before, rest = text.split(begin)
        text = f"{before}{begin}\n{make()}\n{end}{rest.split(end)[1]}"
    return text


if __name__ == "__main__":
    page = renewed(PAGE.read_text(encoding="utf-8"))
    write_atomically(PAGE, lambda file: file.write(page.encode()))
