"""The paper's figures for the command line."""

from __future__ import annotations

from pathlib import Path

from finsler.cli import output as cli_output
from finsler.cli.errors import Mistake, say


def write_figures(name: str, folder: Path, *, force: bool, quiet: bool) -> None:
    """Draw one figure, or all, into a folder, which is made if need be."""
    if not cli_output.available(".png"):
        raise Mistake("figures need matplotlib: pip install 'finsler[plot]'.")
    import matplotlib

    matplotlib.use("agg")
    from finsler.reproduce.figures import FIGURES, reproduce

    names = list(FIGURES) if name == "all" else [name]
    if names[0] not in FIGURES:
        raise Mistake(f"there is no figure {name!r}; there are {', '.join(FIGURES)}.")
    if folder.exists() and not folder.is_dir():
        raise Mistake(f"{folder} is a file; name a folder.")
    existing = [path for n in names for path in (folder / f"{n}.png", folder / f"{n}.json") if path.exists()]
    if existing and not force:
        raise Mistake(f"{existing[0]} exists already; --force replaces it.")
    for n in names:
        picture, numbers = reproduce(n, folder)
        if not quiet:
            say(f"{n}: {(FIGURES[n].__doc__ or '').splitlines()[0]} -> {picture}, {numbers}")
