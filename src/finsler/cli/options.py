"""Options and arguments that several commands share: named as in Python, and with the same defaults.

An option that goes to the library is None if it is not given, and then not passed on: its default is the library's, and
the help only shows it (tests compare). `finsler.solvers.options` declares those of the solver.
"""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from finsler.solvers.options import DEFAULTS, PIVOT_DEFAULTS

# Headings under which the help shows the options.
DATA, MAP, OUTPUT = "What FILE holds", "The map", "Output"


def examples(*lines: str) -> str:
    """Lines that stand below the help of a command."""
    return "\n\n".join(["Examples:", *(f"  {line}" for line in lines)]).replace("[", "\\[")


def option(panel: str, text: str, default: str | bool = False, *names: str, **settings: Any) -> Any:
    """Make an option that the help shows under a heading; ``default`` tells what leaving it out means.

    Without ``names`` it is called like its parameter, with hyphens.
    """
    return typer.Option(*names, rich_help_panel=panel, help=text, show_default=default, **settings)


def choice(panel: str, choices: str, text: str, default: str | bool = False) -> Any:
    """Make an option that takes one of some words, written ``a|b|c``."""
    words = choices.split("|")

    def check(value: str | None) -> str | None:
        if value is not None and value not in words:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(words)}.")
        return value

    return option(panel, text, default, metavar=choices, callback=check)


def number(panel: str, text: str, default: str | bool = False, *names: str, **settings: Any) -> Any:
    """Make an option that takes a number, of at least 1 unless ``min`` says otherwise."""
    return option(panel, text, default, *names, **{"min": 1, "metavar": "N", **settings})


def auto_or_number(value: str | None) -> Any:
    """Read what is "auto" or a number from 0 to less than 1."""
    try:
        if value is None or value == "auto" or 0 <= float(value) < 1:
            return value if value in (None, "auto") else float(value)
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r} is neither auto nor a number from 0 to less than 1.")


def yes_or_no(value: str | None) -> Any:
    """Read a swirl: whether there is one, or a word for how it is found."""
    words: dict[str | None, Any] = {
        None: None,
        "no": False,
        "yes": True,
        "geodesic": "geodesic",
        "auto": "auto",
    }
    if value not in words:
        raise typer.BadParameter(f"{value!r} is not one of no, yes, geodesic, auto.")
    return words[value]


def usual(name: str) -> str:
    """Default of an option of the solver, and that of sparse maps where it is another, as the help shows it."""
    dense, sparse = (str(options.get(name)).replace("e-0", "e-") for options in (DEFAULTS, PIVOT_DEFAULTS))
    return dense if dense == sparse else f"{dense}; sparse: {sparse}"


def auto_or_count(value: str | None) -> Any:
    """Read what is "auto" or a whole number of at least 1."""
    try:
        if value is None or value == "auto" or int(value) >= 1:
            return value if value in (None, "auto") else int(value)
    except ValueError:
        pass
    raise typer.BadParameter(f"{value!r} is neither auto nor a whole number of at least 1.")


def given(context: typer.Context, *names: str) -> dict[str, Any]:
    """Options of a command that were given or have a default here, all or those of these names; flags that are set.

    ``--quiet`` is also what the library calls ``verbose=False``.
    """
    found = {name: value for name, value in context.params.items() if not (value is None or value is False)}
    found = {name: value for name, value in found.items() if value not in ([], ())}  # of repeatable ones
    if "quiet" in found:
        found["verbose"] = False
    return {name: value for name, value in found.items() if not names or name in names}


def stdin_or(file: str | None) -> Any:
    """Give what ``-`` stands for, or the path as it is."""
    return sys.stdin.buffer if file == "-" else file


_FILE = "The data; - reads CSV from stdin."
_OUT = "Where to: .html .png .svg .pdf .csv .npz, .gexf .graphml .json (networks), .geojson, or - (CSV). Repeatable."
_KIND = "What it is; auto finds out, and says it on stderr."
_SOURCE = "Column with the start of each pair or edge."
_VALUE = "Column with the values of pairs; found by its name if not given."
_WEIGHT = "Column or attribute with the lengths of edges; found by its name if not given."
_WHERE = "Only rows of pairs or edges with this value in this column, as in year=2020. Repeatable."
_AGGREGATE = "How several values of one pair become one; refused if not given."
_ENCODING = "Encoding of text files, if not UTF-8: cp1252, latin-1, ..."
_VARIABLE = "Of a MATLAB file; or durations or distances of a routing service's JSON."
_SIMILARITY = (
    "It holds counts or similarities; how to make dissimilarities of them. gravity: sizes divided out (moves, trade); "
    "transition: cost of a step, -log of the share of the row (confusions, clicks); rank: place among the partners, "
    "only the order counts (preferences); linear: turned round (ratings of similarity, correlations)."
)
_ZEROS = "What a count of zero says: nothing, little, or zero."
_DIAGONAL = "If the diagonal is not zero: refuse, ignore it, or use it."
_MISSING = "Empty or infinite cells: refuse, leave out, or keep infinite ones far."
_ORIENTATION = "Whether the rows of a matrix are where ways begin, or its columns."
_SPEED = "Of the boat in a current; auto: the fastest vector has 60 % of it."
_COORDINATES = (
    "Lengths; or sphere, for lon and lat in degrees. auto: sphere for fields; asks, if columns are called so."
)
_FIELD_EAST = "Variable of a field: the current to the east, along x; found by its name if not given."
_AT = "Step of a field along a dimension, as in depth=0 or time=2020-01: a value, first, last or mean. Repeatable."
_SAMPLE = "Take every N-th row and column of a field; auto leaves at most 5,000 nodes, and says so."
_UNREACHABLE = "Pairs without a path: leave out, keep only the largest part, keep far apart, or refuse."
_CONNECTION = "Map only the largest part of a graph that is connected so; goes with any --unreachable."
_ALPHA = "Drift, from 0 to less than 1; auto fits it to the data."
_SWIRL = (
    "A drift that turns, for asymmetry in circles: none, straight ways, arcs (in the plane), or found out."
)
_METHOD = "All pairs of nodes or points, or edges and some pivots; auto is dense up to 5,000."
_NEIGHBORS = "Neighbors to join each point to; auto is 10, and more directions on a lattice."
_SCALING = "Distances agree with the data, a line, any rising function (ordinal) or a smooth one of them."
_TIES = "Ordinal: equal data may have different distances, or not."
_CONDITIONAL = "One such function for all, for each row or column, or for the symmetric part."
_STARTS = "Starts, of which the best is kept; auto takes many for few points, one or two for many."
_ATTRIBUTES = "Table with more about the points, one row each, by label."
_ARCS = "Draw the arcs of a graph in pictures."
_KEEP = "Keep the data in .npz, to compare the map with."

Word = str | None
Count = int | None
Input = Annotated[str, typer.Argument(metavar="FILE", help=_FILE, show_default=False)]
MapFile = Annotated[str, typer.Argument(metavar="MAP.npz", help="A saved map.", show_default=False)]

Kind = Annotated[str, choice(DATA, "auto|matrix|pairs|edges|points|field", _KIND, "auto")]
Source = Annotated[Word, option(DATA, _SOURCE, metavar="NAME")]
Target = Annotated[Word, option(DATA, "Column with its end.", metavar="NAME")]
Value = Annotated[Word, option(DATA, _VALUE, metavar="NAME")]
Weight = Annotated[Word, option(DATA, _WEIGHT, metavar="NAME")]
Where = Annotated[list[str] | None, option(DATA, _WHERE, metavar="NAME=VALUE")]
Aggregate = Annotated[Word, choice(DATA, "mean|sum|min|max|median|first|last", _AGGREGATE)]
Similarity = Annotated[Word, choice(DATA, "gravity|transition|rank|linear", _SIMILARITY)]
Zeros = Annotated[Word, choice(DATA, "missing|pseudocount|keep", _ZEROS, "missing")]
Diagonal = Annotated[Word, choice(DATA, "check|ignore|use", _DIAGONAL, "check")]
Missing = Annotated[Word, choice(DATA, "raise|mask|hinge", _MISSING, "raise; mask for pairs, similarities")]
Unreachable = Annotated[
    Word, choice(DATA, "mask|largest|hinge|raise", _UNREACHABLE, "mask; largest for fields, raise for tables")
]
Orientation = Annotated[Word, choice(DATA, "from-to|to-from", _ORIENTATION, "from-to")]
Connection = Annotated[Word, choice(DATA, "strong|weak", _CONNECTION, "all; strong for largest")]
Hops = Annotated[bool, option(DATA, "Count edges instead of adding their lengths.", False, "--hops")]
Neighbors = Annotated[Word, option(DATA, _NEIGHBORS, "auto", metavar="auto|N", callback=auto_or_count)]
Speed = Annotated[Word, option(DATA, _SPEED, "1", metavar="auto|NUMBER")]
Coordinates = Annotated[Word, choice(DATA, "auto|plane|sphere", _COORDINATES, "auto")]
FieldEast = Annotated[Word, option(DATA, _FIELD_EAST, metavar="NAME")]
FieldNorth = Annotated[Word, option(DATA, "The same to the north, along y.", metavar="NAME")]
At = Annotated[list[str] | None, option(DATA, _AT, metavar="NAME=VALUE")]
Sample = Annotated[Word, option(DATA, _SAMPLE, "auto", metavar="auto|N", callback=auto_or_count)]
Encoding = Annotated[Word, option(DATA, _ENCODING, metavar="NAME")]
Sheet = Annotated[Word, option(DATA, "Of an Excel file: its name, or its position from 0.", metavar="NAME")]
Variable = Annotated[Word, option(DATA, _VARIABLE, metavar="NAME")]

Components = Annotated[
    Count,
    number(MAP, "Its dimension, the height included.", "2; 3 for points, fields", "--n-components", "--dim"),
]
Alpha = Annotated[
    Word, option(MAP, _ALPHA, "auto; 0.5 for points, fields", metavar="auto|NUMBER", callback=auto_or_number)
]
Swirl = Annotated[Word, option(MAP, _SWIRL, "no", metavar="no|yes|geodesic|auto", callback=yes_or_no)]
Weighting = Annotated[
    Word,
    choice(MAP, "uniform|inverse|inverse-square", "Weight of each pair by its dissimilarity.", "uniform"),
]
Weights = Annotated[Word, option(MAP, "Matrix with the weight of each pair.", metavar="FILE")]
Method = Annotated[Word, choice(MAP, "auto|dense|sparse", _METHOD, "auto")]
Pivots = Annotated[Count, number(MAP, "Pivots of --method sparse.", "100")]
Solver = Annotated[
    Word, choice(MAP, "smacof|classical", "Least stress, or the closed form.", usual("solver"))
]
Scaling = Annotated[Word, choice(MAP, "ratio|interval|ordinal|spline", _SCALING, usual("scaling"))]
Ties = Annotated[Word, choice(MAP, "primary|secondary", _TIES, usual("ties"))]
Conditional = Annotated[Word, choice(MAP, "matrix|row|column|parts", _CONDITIONAL, usual("conditional"))]
SplineDegree = Annotated[Count, number(MAP, "Degree of --scaling spline.", usual("spline_degree"))]
SplineKnots = Annotated[Count, number(MAP, "Its interior knots.", usual("spline_knots"), min=0)]
Init = Annotated[Word, choice(MAP, "classical|isomap|random", "Where smacof starts.", usual("init"))]
Starts = Annotated[Word, option(MAP, _STARTS, usual("n_init"), metavar="auto|N", callback=auto_or_count)]
RandomState = Annotated[int, number(MAP, "Seed of random numbers.", "0", min=0, max=2**32 - 1)]
MaxIter = Annotated[Count, number(MAP, "Iterations at most.", usual("max_iter"), min=0)]
Tol = Annotated[
    float | None,
    number(MAP, "Relative tolerance on the stress.", usual("tol"), min=0, metavar="NUMBER"),
]
TimeLimit = Annotated[
    float | None, number(MAP, "Take the best found after so long.", min=0, metavar="SECONDS")
]
Like = Annotated[Word, option(MAP, "Turn the map to lie over this saved one.", metavar="MAP.npz")]
Jobs = Annotated[Count, number(MAP, "Threads.", "all cores")]

Outs = Annotated[list[str] | None, option(OUTPUT, _OUT, False, "--out", "-o", metavar="PATH")]
Force = Annotated[bool, option(OUTPUT, "Replace existing files.", False, "--force")]
Quiet = Annotated[bool, option(OUTPUT, "Only errors and warnings on stderr.", False, "--quiet", "-q")]
Json = Annotated[bool, option(OUTPUT, "Print the result as JSON on stdout.", False, "--json")]
KeepData = Annotated[bool | None, option(OUTPUT, _KEEP, "up to 1,000 points", "--keep-data/--no-keep-data")]
Attributes = Annotated[Word, option(OUTPUT, _ATTRIBUTES, metavar="FILE")]
Color = Annotated[Word, option(OUTPUT, "Attribute to color points by.", "height", metavar="COLUMN")]
Arcs = Annotated[bool | None, option(OUTPUT, _ARCS, "up to 3,000", "--arcs/--no-arcs")]
Worst = Annotated[Word, option(OUTPUT, "Write the 100 pairs that the map shows worst.", metavar="WORST.csv")]
Unit = Annotated[
    Word,
    option(
        OUTPUT, "What the data count, such as hours: kept with the map, shown with distances.", metavar="TEXT"
    ),
]
Title = Annotated[Word, option(OUTPUT, "Title of pictures and pages.", metavar="TEXT")]
