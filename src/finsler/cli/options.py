"""Options and arguments that several commands share: named as in Python, and with the same defaults.

An option that goes to the library is None if it is not given, and then not passed on: its default is the library's, and
the help only shows it (tests compare).
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

# Headings under which the help shows the options.
DATA, MAP, OUTPUT = "What FILE holds", "The map", "Output"


def examples(*lines: str) -> str:
    """Lines that stand below the help of a command."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)]).replace("[", "\\[")


def option(panel: str, *names: str, default: str | bool = False, **settings: Any) -> Any:
    """Make an option that the help shows under a heading; ``default`` tells what leaving it out means."""
    return typer.Option(*names, rich_help_panel=panel, show_default=default, **settings)


def choice(panel: str, name: str, choices: str, text: str, default: str | bool = False) -> Any:
    """Make an option that takes one of some words, written ``a|b|c``."""
    words = choices.split("|")

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return option(panel, name, metavar=choices, callback=check, help=text, default=default)


def number(panel: str, *names: str, text: str, default: str | bool = False, **settings: Any) -> Any:
    """Make an option that takes a whole number, of at least 1 unless ``min`` says otherwise."""
    return option(panel, *names, help=text, default=default, **{"min": 1, "metavar": "N", **settings})


def auto_or_number(value: str | None) -> Any:
    """Read what is "auto" or a number from 0 to less than 1."""
    try:
        if value is None or value == "auto" or 0 <= float(value) < 1:
            return value if value in (None, "auto") else float(value)
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r} is neither auto nor a number from 0 to less than 1.")


def given(context: typer.Context, *names: str) -> dict[str, Any]:
    """Those of the named options that the user gave, or that have a default here."""
    return {name: context.params[name] for name in names if context.params.get(name) is not None}


def stdin_or(file: str) -> Any:
    """Give what ``-`` stands for, or the path as it is."""
    return sys.stdin.buffer if file == "-" else file


_FILE = "The data; - reads CSV from stdin."
_OUT = "Where to: .html .png .svg .pdf .csv .npz, or - (CSV to stdout). Repeatable."
_KIND = "What it is; auto finds out, and says it on stderr."
_WEIGHT = "Column or attribute with the lengths of edges; found by its name if not given."
_ENCODING = "Encoding of text files, if not UTF-8: cp1252, latin-1, ..."
_SIMILARITY = "It holds counts or similarities; how to turn them round."
_ZEROS = "What a count of zero says: nothing, little, or zero."
_DIAGONAL = "If the diagonal is not zero: refuse, ignore it, or use it."
_MISSING = "Empty or infinite cells: refuse, leave out, or keep infinite ones far."
_UNREACHABLE = "Pairs without a path: leave out, keep only the largest part, keep far apart, or refuse."
_WEIGHTING = "Weight of each pair by its dissimilarity."
_METHOD = "All pairs of a graph, or its edges and some pivots; auto is dense up to 5,000 nodes."
_SOLVER = "Least stress, or the closed form."
_ATTRIBUTES = "Table with more about the points, one row each, by label."

Input = Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)]
MapFile = Annotated[str, typer.Argument(metavar="MAP.npz", help="A saved map.", show_default=False)]

Kind = Annotated[str, choice(DATA, "--kind", "auto|matrix|pairs|edges|points", _KIND, "auto")]
Source = Annotated[str | None, option(DATA, metavar="NAME", help="Column with the start of each edge.")]
Target = Annotated[str | None, option(DATA, metavar="NAME", help="Column with the end of each edge.")]
Weight = Annotated[str | None, option(DATA, metavar="NAME", help=_WEIGHT)]
Encoding = Annotated[str | None, option(DATA, metavar="NAME", help=_ENCODING)]
Similarity = Annotated[
    str | None, choice(DATA, "--similarity", "gravity|transition|rank|linear", _SIMILARITY)
]
Zeros = Annotated[str | None, choice(DATA, "--zeros", "missing|pseudocount|keep", _ZEROS, "missing")]
Diagonal = Annotated[str | None, choice(DATA, "--diagonal", "check|ignore|use", _DIAGONAL, "check")]
Missing = Annotated[str | None, choice(DATA, "--missing", "raise|mask|hinge", _MISSING, "raise")]
Unreachable = Annotated[
    str | None,
    choice(DATA, "--unreachable", "mask|largest|hinge|raise", _UNREACHABLE, "mask; raise for points"),
]
Connection = Annotated[
    str | None, choice(DATA, "--connection", "strong|weak", "What the largest part of a graph is.", "strong")
]
Hops = Annotated[bool, option(DATA, "--hops", help="Count edges instead of adding their lengths.")]
Neighbors = Annotated[
    int | None, number(DATA, "--n-neighbors", text="Neighbors to join each point to.", default="10")
]

Components = Annotated[
    int | None,
    number(
        MAP,
        "--n-components",
        "--dim",
        text="Its dimension, the height included.",
        default="2; 3 for points",
    ),
]
Alpha = Annotated[
    str | None,
    option(
        MAP,
        metavar="auto|NUMBER",
        callback=auto_or_number,
        help="Drift, from 0 to less than 1; auto fits it to the data.",
        default="auto; 0.5 for points",
    ),
]
Weighting = Annotated[
    str | None, choice(MAP, "--weighting", "uniform|inverse|inverse-square", _WEIGHTING, "uniform")
]
Weights = Annotated[str | None, option(MAP, metavar="FILE", help="Matrix with the weight of each pair.")]
Method = Annotated[str | None, choice(MAP, "--method", "auto|dense|sparse", _METHOD, "auto")]
Pivots = Annotated[int | None, number(MAP, "--n-pivots", text="Pivots of --method sparse.", default="100")]
Solver = Annotated[str | None, choice(MAP, "--solver", "smacof|classical", _SOLVER, "smacof")]
Init = Annotated[
    str | None, choice(MAP, "--init", "classical|isomap|random", "Where smacof starts.", "classical")
]
Starts = Annotated[
    int | None, number(MAP, "--n-init", text="Starts; those after the first are random.", default="1")
]
RandomState = Annotated[
    int, number(MAP, "--random-state", min=0, max=2**32 - 1, text="Seed of random starts.", default="0")
]
MaxIter = Annotated[
    int | None, number(MAP, "--max-iter", min=0, text="Iterations at most.", default="500; sparse: 200")
]
Tol = Annotated[
    float | None,
    number(
        MAP,
        "--tol",
        min=0,
        metavar="NUMBER",
        text="Relative tolerance on the stress.",
        default="1e-7; sparse: 3e-4",
    ),
]
TimeLimit = Annotated[
    float | None,
    number(MAP, "--time-limit", min=0, metavar="SECONDS", text="Take the best map after so long."),
]
Jobs = Annotated[int | None, number(MAP, "--n-jobs", text="Threads.", default="all cores")]

Outs = Annotated[list[str] | None, option(OUTPUT, "--out", "-o", metavar="PATH", help=_OUT)]
Force = Annotated[bool, option(OUTPUT, "--force", help="Replace existing files.")]
Quiet = Annotated[bool, option(OUTPUT, "--quiet", "-q", help="Only errors and warnings on stderr.")]
Json = Annotated[bool, option(OUTPUT, "--json", help="Print the result as JSON on stdout.")]
Attributes = Annotated[str | None, option(OUTPUT, metavar="FILE", help=_ATTRIBUTES)]
Color = Annotated[
    str | None, option(OUTPUT, metavar="COLUMN", help="Attribute to color points by.", default="height")
]
Title = Annotated[str | None, option(OUTPUT, metavar="TEXT", help="Title of pictures and pages.")]
