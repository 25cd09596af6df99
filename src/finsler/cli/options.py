"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated, Any

import typer

# Headings under which the help shows the options.
DATA, MAP, OUTPUT = "What FILE holds", "The map", "Output"


def examples(*lines: str) -> str:
    """Lines that stand below the help of a command."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)]).replace("[", "\\[")


def option(panel: str, *names: str, **settings: Any) -> Any:
    """Make an option that the help shows under a heading."""
    return typer.Option(*names, rich_help_panel=panel, **settings)


def choice(panel: str, name: str, choices: str, text: str, default: str | bool = True) -> Any:
    """Make an option that takes one of some words, written ``a|b|c``; ``default`` tells what leaving it out means."""
    words = choices.split("|")

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return option(panel, name, metavar=choices, callback=check, help=text, show_default=default)


def check_alpha(value: str | None) -> str | None:
    """Refuse what is neither "auto" nor a number from 0 up to 1."""
    try:
        if value is None or value == "auto" or 0 <= float(value) < 1:
            return value
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r} is neither auto nor a number from 0 to less than 1.")


def _words(name: str, choices: str, text: str, default: str | bool = True) -> Any:
    return choice(DATA, name, choices, text, default)


_FILE = "The data; - reads CSV from stdin."
_OUT = "Where to: .html .png .svg .pdf .csv .npz, or - (CSV to stdout). Repeatable."
_KIND = "What it is; auto finds out, and says it on stderr."
_COLUMNS = "Columns of edges; without LENGTH every edge counts one."
_ENCODING = "Encoding of text files, if not UTF-8: cp1252, latin-1, ..."
_SIMILARITY = "It holds counts or similarities; how to turn them round."
_ZEROS = "What a count of zero says: nothing, little, or zero."
_DIAGONAL = "If the diagonal is not zero: refuse, ignore it, or use it."
_MISSING = "Empty or infinite cells: refuse, leave out, or keep infinite ones far."
_UNREACHABLE = "Pairs without a path: leave out, keep only the largest part, keep far apart, or refuse."
_ATTRIBUTES = "Table with more about the points, one row each, by label."

Input = Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)]
MapFile = Annotated[str, typer.Argument(metavar="MAP.npz", help="A saved map.", show_default=False)]
Kind = Annotated[str, _words("--kind", "auto|matrix|edges|points", _KIND)]
Columns = Annotated[str | None, option(DATA, metavar="SOURCE,TARGET,LENGTH", help=_COLUMNS)]
Encoding = Annotated[str | None, option(DATA, metavar="NAME", help=_ENCODING)]
Similarity = Annotated[str | None, _words("--similarity", "gravity|transition|rank|linear", _SIMILARITY)]
Zeros = Annotated[str | None, _words("--zeros", "missing|pseudocount|keep", _ZEROS, "missing")]
Diagonal = Annotated[str | None, _words("--diagonal", "check|ignore|use", _DIAGONAL, "check")]
Missing = Annotated[str | None, _words("--missing", "raise|mask|hinge", _MISSING, "raise")]
Unreachable = Annotated[
    str | None, _words("--unreachable", "mask|largest|hinge|raise", _UNREACHABLE, "mask; raise for points")
]
Connection = Annotated[
    str | None, _words("--connection", "strong|weak", "What the largest part of a graph is.", "strong")
]
Hops = Annotated[bool, option(DATA, "--hops", help="Count edges instead of adding their lengths.")]
Neighbors = Annotated[
    int | None, option(DATA, min=1, metavar="N", help="Neighbors to join each point to.", show_default="10")
]
Jobs = Annotated[int | None, option(MAP, min=1, metavar="N", help="Threads.", show_default="all cores")]
Outs = Annotated[list[str] | None, option(OUTPUT, "--out", "-o", metavar="PATH", help=_OUT)]
Force = Annotated[bool, option(OUTPUT, "--force", help="Replace existing files.")]
Quiet = Annotated[bool, option(OUTPUT, "--quiet", "-q", help="Only errors and warnings on stderr.")]
Json = Annotated[bool, option(OUTPUT, "--json", help="Print the result as JSON on stdout.")]
Attributes = Annotated[str | None, option(OUTPUT, metavar="FILE", help=_ATTRIBUTES)]
Color = Annotated[
    str | None,
    option(OUTPUT, metavar="COLUMN", help="Attribute to color pictures by.", show_default="height"),
]
Title = Annotated[str | None, option(OUTPUT, metavar="TEXT", help="Title of pictures and pages.")]
