"""The paper's tables for the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from finsler.cli.errors import Mistake, say


def write_table(
    name: str,
    folder: Path | None,
    *,
    graphs: str | None,
    dims: str | None,
    splits: str | None,
    forests: str | None,
    jobs: int | None,
    quiet: bool,
) -> None:
    """Run the cells of a table that are missing in a folder, and write the table there."""
    options: dict[str, Any] = {"n_jobs": jobs, "verbose": False if quiet else "auto"}
    if name == "table1":
        _refuse(splits, "--splits", name)
        _refuse(forests, "--forests", name)
        from finsler.reproduce.table1 import DIMENSIONS, GRAPHS, run_table1

        chosen = _names(graphs, GRAPHS)
        path = run_table1(chosen, _numbers(dims, DIMENSIONS), folder or Path("table1"), **options)
    else:
        _refuse(dims, "--dims", name)
        from finsler.reproduce.table2 import NAMES, SPLITS, run_table2

        chosen = _names(graphs, tuple(NAMES))
        kinds: Any = _names(forests, ("random",))
        if unknown := set(kinds) - {"random", "index"}:
            raise Mistake(f"--forests: {min(unknown)!r} is neither random nor index.")
        path = run_table2(chosen, _range(splits, SPLITS), kinds, folder or Path("table2"), **options)
    if not quiet:
        print(path.read_text(encoding="utf-8"))
        say(f"Written: {path}; a JSON file per cell in {path.parent / 'results'}.")


def _names(given: str | None, default: tuple[str, ...]) -> list[str]:
    return list(default) if given is None else [part.strip() for part in given.split(",") if part.strip()]


def _numbers(given: str | None, default: tuple[int, ...]) -> list[int]:
    try:
        return [int(part) for part in _names(given, tuple(map(str, default)))]
    except ValueError:
        raise Mistake(f"--dims {given}: give whole numbers with commas between, such as 2,5,10.") from None


def _range(given: str | None, default: tuple[int, ...]) -> list[int]:
    if given is None:
        return list(default)
    first, dash, last = given.partition("-")
    if not first.isdecimal() or (dash and not last.isdecimal()):
        raise Mistake(f"--splits {given}: give a number, such as 3, or a range, such as 10-19.")
    found = list(range(int(first), int(last) + 1)) if dash else list(range(int(first)))
    if not found:
        raise Mistake(f"--splits {given} holds no split.")
    return found


def _refuse(given: Any, option: str, name: str) -> None:
    if given is not None:
        raise Mistake(f"{option} has no meaning for {name}.")
