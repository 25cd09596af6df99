"""A table made of cells, one JSON file each: a run can be stopped and continued."""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from finsler._io import write_atomically


def kept_result(path: Path, key: str, wanted: Any) -> dict[str, Any] | None:
    """The result in a file, None if there is no file; refused if it was made with other settings.

    Parameters
    ----------
    path : Path
        File of the cell.
    key : str
        Where the result keeps its settings.
    wanted : object
        What they must be.
    """
    if not path.is_file():
        return None
    result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if result.get(key) != wanted:
        raise ValueError(
            f"{path.name} holds a run with other settings ({result.get(key)}); remove it or use another folder."
        )
    return result


def write_text(path: Path, text: str) -> Path:
    """Write a file whole or not at all."""
    return write_atomically(path, lambda file: file.write(text.encode()))


def write_result(path: Path, result: dict[str, Any]) -> Path:
    """Write the result of a cell."""
    return write_text(path, json.dumps(result, indent=1) + "\n")


def read_results(folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """All results in a folder, in the order of their names."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("*.json"))]


def reset_peak_memory() -> None:
    """Let `peak_memory` count anew from here, where the system can; elsewhere it goes on since the process began."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # Linux: the peak of the resident memory


def peak_memory() -> int | None:
    """Most memory that this process held since it began or since `reset_peak_memory`, in MB; None if none is told."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak / (2**20 if sys.platform == "darwin" else 2**10))


def command(about: str | None, out: str) -> argparse.ArgumentParser:
    """The arguments that both tables take: where to write, on how many threads, and whether to say what is going on."""
    parser = argparse.ArgumentParser(
        description=about, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    parser.add_argument("--out", type=Path, default=Path(out), help=f"folder of cells and table ({out})")
    parser.add_argument("--n-jobs", type=int, help="threads; all by default")
    parser.add_argument("--quiet", action="store_true", help="no progress line, no table printed")
    return parser


def show(table: Path, quiet: bool) -> None:
    """Print a table and where it is."""
    if not quiet:
        print(table.read_text(encoding="utf-8"))
        print(f"Written: {table}; a JSON file for each cell in {table.parent / 'results'}.")
